/* list_file.c: see list_file.h. */
#include "list_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"

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
        enum leat_status s = status_set_os(err, errno, "cannot open the list %s", name);

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
    return status_set(err, LEAT_E_ARGUMENT, "%s: a line %s; this is not a list of names", list->name, what);
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
    s = input_wait_read(list->fd, NULL, list->stop, list->name, list->text + list->held, LIST_FILE_LINE - list->held,
                        &got, err);
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
