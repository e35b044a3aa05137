/* list_file.h: the lines of a list of names, which may come through a pipe that is silent for long. */
#ifndef LEAT_TOKENIZE_TOOLS_LIST_FILE_H
#define LEAT_TOKENIZE_TOOLS_LIST_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/streams/input_wait.h"

#define LIST_FILE_LINE ((size_t)64 << 10) /* of a longer line no name can be made */

struct list_file {
    const char *name;
    const struct input_stop *stop;
    int fd;
    bool begun, ended;
    size_t at, held; /* text[at..held) is not given out yet */
    char text[LIST_FILE_LINE + 1];
};

/* `name` and `stop` (NULL: nothing stops it) must outlive the list. On success *out is the caller's until
 * list_file_close(); NULL on failure. */
enum leat_status list_file_open(struct list_file **out, const char *name, const struct input_stop *stop,
                                struct leat_error *err);
void list_file_close(struct list_file *list); /* NULL is fine */

/* The next line without its end, and without a byte-order mark at the start of the list; the list's until the next
 * call; *line NULL after the last one. LEAT_E_ARGUMENT for a line that is too long or has a zero byte, LEAT_E_STOPPED
 * as `stop` says. */
enum leat_status list_file_next(struct list_file *list, char **line, struct leat_error *err);

#endif
