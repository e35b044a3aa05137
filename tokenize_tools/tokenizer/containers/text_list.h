/* text_list.h: a list of texts, in one buffer with the place where each ends. All zero is an empty one; the buffer's
 * bound, if it has one, counts all of it. */
#ifndef LEAT_TOKENIZER_TEXT_LIST_H
#define LEAT_TOKENIZER_TEXT_LIST_H

#include "base/buffer.h"

struct text_list {
    struct buffer bytes;
    size_t *ends;
    size_t count, room;
};

struct text_view {
    const uint8_t *bytes;
    size_t size;
};

void text_list_free(struct text_list *t);

/* Ends the text whose bytes were appended last. */
enum leat_status text_list_end(struct text_list *t, struct leat_error *err);

enum leat_status text_list_add(struct text_list *t, const void *bytes, size_t count, struct leat_error *err);

/* Valid until the list changes. */
struct text_view text_list_at(const struct text_list *t, size_t i);

#endif
