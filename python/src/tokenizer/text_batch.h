/* text_batch.h: many texts encoded at once, by several threads. */
#ifndef LEAT_PYTHON_TEXT_BATCH_H
#define LEAT_PYTHON_TEXT_BATCH_H

#include "text/text.h"
#include "text_tokenizer.h"

struct text_batch_result {
    struct text_ids *stretches; /* the ids of all texts, in stretches */
    size_t stretch_count;
    uint64_t *counts;   /* ids of each text */
    uint64_t *specials; /* strings of special tokens in each text */
    uint64_t total;     /* ids */
};

/* Encodes with at most that many threads, without the GIL. -1 with an exception, KeyboardInterrupt too. */
int text_batch_run(struct text_tokenizer *t, const struct text_view *texts, size_t count, bool special,
                   unsigned threads, struct text_batch_result *result);
void text_batch_free(struct text_batch_result *result);

#endif
