/* search_list.c: the lines of a list, a file that may be a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "search.h"

/* Keeps the text of a list that is no regular file: it comes only once, and is needed by a search that begins anew. */
static enum leat_status keep_pipe(struct list_file *list, struct search_tries *t, struct leat_error *err)
{
    struct list_pipe **pipes = reallocarray(t->pipes, t->pipe_count + 1, sizeof *pipes);

    if (pipes)
        t->pipes = pipes;
    list->pipe = pipes ? calloc(1, sizeof *list->pipe) : NULL;
    if (list->pipe)
        list->pipe->name = strdup(list->name);
    if (!list->pipe || !list->pipe->name) {
        free(list->pipe);
        list->pipe = NULL;
        return status_no_memory(err, (t->pipe_count + 1) * sizeof *pipes);
    }
    list->pipe->fd = list->fd;
    t->pipes[t->pipe_count++] = list->pipe;
    t->pipes_read++;
    return LEAT_OK;
}

void list_pipes_free(struct search_tries *t)
{
    for (size_t i = 0; i < t->pipe_count; i++) {
        file_close(&t->pipes[i]->fd);
        buffer_free(&t->pipes[i]->text);
        free(t->pipes[i]->name);
        free(t->pipes[i]);
    }
    free(t->pipes);
}

static enum leat_status open_list(struct list_file *list, struct search_tries *t, struct leat_error *err)
{
    struct stat st;

    if (t->pipes_read < t->pipe_count && strcmp(t->pipes[t->pipes_read]->name, list->name) == 0) {
        list->pipe = t->pipes[t->pipes_read++];
        list->fd = list->pipe->fd;
        return LEAT_OK;
    }
    do /* open() would wait for the writer of a pipe, and nobody could stop it */
        list->fd = open(list->name, O_RDONLY | O_CLOEXEC | (list->stop ? O_NONBLOCK : 0));
    while (list->fd < 0 && errno == EINTR);
    if (list->fd < 0 || fstat(list->fd, &st) != 0)
        return status_set_os(err, errno, list->name, "cannot open the list %s", list->name);
    return S_ISREG(st.st_mode) ? LEAT_OK : keep_pipe(list, t, err);
}

void list_file_close(struct list_file *list)
{
    if (!list)
        return;
    if (!list->pipe)
        file_close(&list->fd);
    free(list);
}

enum leat_status list_file_open(struct list_file **out, const char *name, const struct input_stop *stop,
                                struct search_tries *tries, struct leat_error *err)
{
    enum leat_status s;
    struct list_file *list = malloc(sizeof *list);

    *out = NULL;
    if (!list)
        return status_no_memory(err, sizeof *list);
    list->name = name;
    list->stop = stop;
    list->fd = -1;
    list->pipe = NULL;
    list->begun = list->ended = false;
    list->pipe_at = list->at = list->held = 0;
    s = open_list(list, tries, err);
    if (s == LEAT_OK)
        *out = list;
    else
        list_file_close(list);
    return s;
}

static enum leat_status refuse(const struct list_file *list, const char *what, struct leat_error *err)
{
    return status_in_file(
        err, status_argument(err, "inputs", "%s: a line %s; this is not a list of names", list->name, what),
        list->name);
}

static enum leat_status read_some(struct list_file *list, char *to, size_t room, size_t *got, struct leat_error *err)
{
    const struct input_source from = { .fd = list->fd, .stop = list->stop, .name = list->name };
    struct list_pipe *p = list->pipe;
    enum leat_status s = LEAT_OK;

    *got = 0;
    if (!p)
        return input_wait_read(&from, to, room, got, err);
    if (list->pipe_at == p->text.size && !p->ended) {
        s = input_wait_read(&from, to, room, got, err);
        p->ended = s == LEAT_OK && *got == 0;
        if (s == LEAT_OK)
            s = buffer_append(&p->text, to, *got, err);
    } else {
        *got = p->text.size - list->pipe_at < room ? p->text.size - list->pipe_at : room;
        memcpy(to, p->text.bytes + list->pipe_at, *got);
    }
    list->pipe_at += *got;
    return s;
}

/* Reads more text after the text in memory, or sets list->ended. */
static enum leat_status read_more(struct list_file *list, struct leat_error *err)
{
    enum leat_status s;
    size_t got;

    memmove(list->text, list->text + list->at, list->held - list->at);
    list->held -= list->at;
    list->at = 0;
    if (list->held == LIST_FILE_LINE)
        return refuse(list, memchr(list->text, 0, list->held) ? "holds a zero byte" : "has more than 65,535 bytes",
                      err);
    s = read_some(list, list->text + list->held, LIST_FILE_LINE - list->held, &got, err);
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
        enum leat_status s = read_more(list, err);

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
    (*line)[length] = '\0'; /* there is room for this after a last line, too */
    if (strlen(*line) < length)
        return refuse(list, "holds a zero byte", err);
    return LEAT_OK;
}
