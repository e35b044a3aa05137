/*
 * damage_list.h: the list of a dataset's metadata of inputs that were cut off or broken: "leat.damaged", a line of
 * JSON for each of them (FORMAT.md). The packer writes it, leat_merge() joins the lists of its parts, leat info
 * shows it.
 *
 * The room tokenize_tools/damage/ is this list. What may enter: nothing but how it is kept, written and read.
 */
#ifndef LEAT_DAMAGE_LIST_H
#define LEAT_DAMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

#define DAMAGE_KEY "leat.damaged"

/* One input. */
struct damage {
    char *input, *reason; /* the list's; UTF-8 */
    uint64_t offset;      /* place up to which the input was read; LEAT_NONE: not known */
    uint64_t unread;      /* number of bytes that were not read; LEAT_NONE: not known */
};

struct damage_list {
    struct damage *items;
    size_t count, room;
};

/* Adds an input. Bytes of the path that are not UTF-8 become U+FFFD. */
enum leat_status damage_list_add(struct damage_list *l, const char *input, uint64_t offset, const char *reason,
                                 size_t reason_bytes, uint64_t unread, struct leat_error *err);

/* Adds bytes of the last input that were not read. */
void damage_list_add_unread(struct damage_list *l, uint64_t unread);

/* Adds the list that a dataset has as its value of DAMAGE_KEY. Returns LEAT_E_RECORD for a line that is no such
 * object. */
enum leat_status damage_list_read(struct damage_list *l, const char *dataset, const char *value,
                                  struct leat_error *err);

/* Joins entry `at` to the one before it if both are about the same input, of which two shares of a run had a part. */
void damage_list_join(struct damage_list *l, size_t at);

/* Appends the value of DAMAGE_KEY for a list, with its NUL. */
enum leat_status damage_list_write(const struct damage_list *l, struct buffer *out, struct leat_error *err);

void damage_list_free(struct damage_list *l);

#endif
