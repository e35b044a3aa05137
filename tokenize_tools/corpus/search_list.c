/* search_list.c: the inputs that a list names: a file with one per line, which may be a pipe. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "list_file.h"
#include "search.h"

/* Looks up a line of a list. Relative names, even of other lists, count from the list's folder. */
static enum leat_status find_listed(struct search *s, const char *list, const char *line, struct leat_error *err)
{
    const char *slash = strrchr(list, '/');
    bool is_list = line[0] == '@';
    enum leat_status status;
    char *path;

    if (line[is_list] == '/' || strcmp(line, "-") == 0 || !slash || strstr(line, "://"))
        return search_word(s, line, err);
    path = search_join(list, (size_t)(slash - list) + 1, line + is_list);
    if (!path)
        return status_no_memory(err, strlen(list));
    status = is_list ? search_list(s, path, err) : search_word(s, path, err);
    free(path);
    return status;
}

static enum leat_status find_lines(struct search *s, struct list_file *file, struct leat_error *err)
{
    enum leat_status status;
    char *line;

    for (uint64_t number = 1;; number++) {
        status = list_file_next(file, &line, err);
        if (status != LEAT_OK || !line)
            return status;
        if (++s->lines > SEARCH_IN_LIST)
            return status_set(err, LEAT_E_ARGUMENT,
                              "%s: lists have more than %u lines, each counted as often as it is read; does a list "
                              "end, and not name others again and again?",
                              file->name, SEARCH_IN_LIST);
        status = search_check_stop(s, err);
        if (status == LEAT_OK && line[strspn(line, " \t")] != '\0' && line[0] != '#')
            status = find_listed(s, file->name, line, err);
        if ((status == LEAT_E_NO_FILE || status == LEAT_E_NOT_FOUND) && !s->line_said) {
            s->line_said = true; /* of lists within each other, the innermost */
            return status_before(err, status, "%.480s, line %" PRIu64, file->name, number);
        }
        if (status != LEAT_OK)
            return status;
    }
}

static enum leat_status read_list(struct search *s, const char *list, struct leat_error *err)
{
    size_t before = s->list->count;
    struct list_file *file;
    enum leat_status status = list_file_open(&file, list, &s->stop, err);

    if (status != LEAT_OK)
        return status;
    status = find_lines(s, file, err);
    list_file_close(file);
    if (status == LEAT_OK && s->list->count == before)
        return status_set(err, LEAT_E_NOT_FOUND, "the list %s names no input", list);
    return status;
}

enum leat_status search_list(struct search *s, const char *list, struct leat_error *err)
{
    enum leat_status status;

    if (fetch_is_url(list))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "a list is a file of this machine, and may name URLs: download the one that @ stands before");
    if (++s->visits > SEARCH_VISITS)
        return status_set(err, LEAT_E_ARGUMENT,
                          "%s: more than %u lists are read; do they name each other again and again?", list,
                          SEARCH_VISITS);
    if (s->depth == SEARCH_DEPTH)
        return status_set(err, LEAT_E_ARGUMENT, "%s: lists are nested more than %d deep; do they form a cycle?", list,
                          SEARCH_DEPTH);
    s->depth++;
    s->lists++;
    status = read_list(s, list, err);
    s->lists--;
    s->depth--;
    return status;
}
