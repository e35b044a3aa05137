/* column_unfinished.c: opens a dataset whose files have no names yet, so that columns can be attached to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/status.h"
#include "column.h"
#include "private.h"

enum leat_status leat_dataset_open_unfinished(struct leat_dataset **out, const char *name, struct leat_error *err)
{
    char *tokens = path_append(name, strlen(name), ".tokens", NULL);
    struct stat st = { .st_size = 0 };
    struct part part;
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (!tokens)
        return status_no_memory(err, strlen(name));
    if (stat(tokens, &st) != 0)
        s = status_set_os(err, errno, tokens, "cannot open %s", tokens);
    if (s == LEAT_OK)
        s = part_open_at(&part, name, tokens, 0, (uint64_t)st.st_size, LEAT_ACCESS_TRUSTED, err);
    free(tokens);
    return s == LEAT_OK ? dataset_of_part(out, &part, err) : s;
}
