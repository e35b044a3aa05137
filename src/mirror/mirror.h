/*
 * mirror.h: the room of whole datasets that go from a server to a disk and back: leat_pull() and leat_push(). What
 * copies, compares and resumes leat's own two files belongs here; requests belong to remote/, opening to dataset/.
 */
#ifndef LEAT_MIRROR_H
#define LEAT_MIRROR_H

#include <stdbool.h>

#include "base/tiny.h"
#include "format/format.h"
#include "leat.h"
#include "remote/remote.h"
#include "writer/writer.h"

#define MIRROR_PIECE           TINY_OR((uint64_t)8192, (uint64_t)64 << 20) /* bytes of a section in memory */
#define MIRROR_CONNECTIONS     8u
#define MIRROR_MAX_CONNECTIONS 64u /* most connections, each with a range in memory */

/* A file on this machine, and a function that says whether its reader is to stop. */
struct mirror_file {
    int fd;
    const char *path;
    bool (*stop)(void *context);
    void *context;
};

enum leat_status mirror_stopped(struct leat_error *err);

/* Checks that a section has the sum that the header says. */
enum leat_status mirror_section_is_right(const struct mirror_file *f, const struct format_place *place, bool *right,
                                         struct leat_error *err);

#endif
