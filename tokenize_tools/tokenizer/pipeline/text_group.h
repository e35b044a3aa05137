/*
 * text_group.h: texts of some KiB or less, which go to the model together. Each call of a model has a cost of its own,
 * looks few words up at a time, and merges few new words: one by one, texts of 200 bytes took twice as long. They are
 * copied one after the other, each followed by one byte, so that kernels may read on past their ends.
 *
 * This serves only pipelines whose pre-tokenizer is one scanner, and texts that need nothing but the scanner and the
 * model: valid UTF-8 without strings of added tokens. encoder.c checks the texts.
 */
#ifndef LEAT_TOKENIZER_TEXT_GROUP_H
#define LEAT_TOKENIZER_TEXT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"
#include "leat.h"
#include "pipeline.h"
#include "tokenizer/containers/id_list.h"

/* Length of the longest text that is grouped. A longer one gains nothing. */
#define TEXT_GROUP_MAX ((size_t)TINY_OR(40, 16 << 10))

/* Bytes of a full group, as many as those of a batch of the model. */
#define TEXT_GROUP_BYTES ((size_t)TINY_OR(100, 32 << 10))

struct text_group {
    const struct pretokenizer *pretokenizer; /* NULL if texts are not grouped */
    const struct model *model;
    uint8_t *text;       /* texts; they lie behind `ends` in its memory */
    uint32_t *ends;      /* ends of pretokens */
    size_t bytes, count; /* bytes of texts, number of ends */
    struct id_list ids, counts;
};

enum leat_status text_group_make(struct text_group *g, const struct pipeline *p, struct leat_error *err);
void text_group_free(struct text_group *g);

static inline void text_group_clear(struct text_group *g)
{
    g->bytes = g->count = 0;
}

/* Returns true if a text of this size can be added. */
static inline bool text_group_has_room(const struct text_group *g, uint64_t bytes)
{
    return g->pretokenizer && bytes <= TEXT_GROUP_MAX && g->bytes < TEXT_GROUP_BYTES;
}

/* Adds a text, which is copied. There must be room. */
void text_group_add(struct text_group *g, const uint8_t *text, size_t bytes);

/* Encodes all texts: puts their ids into g->ids, and the number of ids of each text into g->counts. */
enum leat_status text_group_encode(struct text_group *g, void *model_scratch, struct leat_error *err);

#endif
