/* search_list.c: The inputs that a list names: a file with one per line, which may be a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "search.h"

/* ---- The lines of a list ----------------------------------------------------------------------------------------- */

enum leat_status list_file_open(struct list_file **out, const char *name, const struct input_stop *stop,
                                struct leat_error *err)
{
    struct list_file *list = malloc(sizeof *list);

    *out = NULL;
    if (!list)
        return status_no_memory(err, sizeof *list);
    list->name = name;
    list->stop = stop;
    list->begun = list->ended = false;
    list->at = list->held = 0;
    do /* for the writer of a pipe, open() would wait where nobody could stop it */
        list->fd = open(name, O_RDONLY | O_CLOEXEC | (stop ? O_NONBLOCK : 0));
    while (list->fd < 0 && errno == EINTR);
    if (list->fd < 0) {
        enum leat_status s = status_set_os(err, errno, name, "cannot open the list %s", name);

        free(list);
        return s;
    }
    *out = list;
    return LEAT_OK;
}

void list_file_close(struct list_file *list)
{
    if (!list)
        return;
    file_close(&list->fd);
    free(list);
}

static enum leat_status refuse(const struct list_file *list, const char *what, struct leat_error *err)
{
    return status_in_file(
        err, status_argument(err, "inputs", "%s: a line %s; this is not a list of names", list->name, what),
        list->name);
}

/* More text after that which is there, or list->ended. */
static enum leat_status fill(struct list_file *list, struct leat_error *err)
{
    enum leat_status s;
    size_t got;

    memmove(list->text, list->text + list->at, list->held - list->at);
    list->held -= list->at;
    list->at = 0;
    if (list->held == LIST_FILE_LINE)
        return refuse(list, memchr(list->text, 0, list->held) ? "holds a zero byte" : "has more than 65,535 bytes",
                      err);
    s = input_wait_read(&(struct input_source) { .fd = list->fd, .stop = list->stop, .name = list->name },
                        list->text + list->held, LIST_FILE_LINE - list->held, &got, err);
    list->held += got;
    list->ended = s == LEAT_OK && got == 0;
    return s;
}

enum leat_status list_file_next(struct list_file *list, char **line, struct leat_error *err)
{
    char *newline;
    size_t length;

    *line = NULL;
    while (!(newline = memchr(list->text + list->at, '\n', list->held - list->at)) && !list->ended) {
        enum leat_status s = fill(list, err);

        if (s != LEAT_OK)
            return s;
    }
    if (list->at == list->held)
        return LEAT_OK;
    *line = list->text + list->at;
    length = newline ? (size_t)(newline - *line) : list->held - list->at;
    list->at += length + (newline != NULL);
    while (length > 0 && (*line)[length - 1] == '\r')
        length--;
    if (!list->begun && length >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
        *line += 3;
        length -= 3;
    }
    list->begun = true;
    (*line)[length] = '\0'; /* there is room for it after a last line too */
    if (strlen(*line) < length)
        return refuse(list, "holds a zero byte", err);
    return LEAT_OK;
}

/* ---- What they name ---------------------------------------------------------------------------------------------- */

/* Looks up a line of a list. Relative names, even of other lists, count from the list's folder. */
static enum leat_status find_listed(struct search *s, const char *list, const char *line, struct leat_error *err)
{
    const char *slash = strrchr(list, '/');
    bool is_list = line[0] == '@';
    enum leat_status status;
    char *path;

    if (line[is_list] == '/' || strcmp(line, "-") == 0 || !slash || strstr(line, "://")) {
        size_t before = s->before;

        s->before = 0; /* it is named as it is */
        status = search_word(s, line, err);
        s->before = before;
        return status;
    }
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
            return status_in_file(
                err,
                status_argument(err, "inputs",
                                "%s: lists have more than %u lines, each counted as often as it is read; does a list "
                                "end, and not name others again and again?",
                                file->name, SEARCH_IN_LIST),
                file->name);
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
        return status_set_in(err, LEAT_E_NOT_FOUND, list, "the list %s names no input", list);
    return status;
}

enum leat_status search_list(struct search *s, const char *list, struct leat_error *err)
{
    enum leat_status status;

    if (fetch_is_url(list))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "a list is a file of this machine, and may name URLs: download the one that @ stands before");
    if (++s->visits > SEARCH_VISITS)
        return status_in_file(
            err,
            status_argument(err, "inputs", "%s: more than %u lists are read; do they name each other again and again?",
                            list, SEARCH_VISITS),
            list);
    if (s->depth == SEARCH_DEPTH)
        return status_in_file(err,
                              status_argument(err, "inputs",
                                              "%s: lists are nested more than %d deep; do they form a cycle?", list,
                                              SEARCH_DEPTH),
                              list);
    s->depth++;
    s->lists++;
    status = read_list(s, list, err);
    s->lists--;
    s->depth--;
    return status;
}
