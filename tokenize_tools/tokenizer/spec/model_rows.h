/*
 * model_rows.h: the kinds of models that a tokenizer can have. A row: the name of its number in spec.h, the number, and
 * the struct model_kind (model.h) that has its functions. A new kind is a file in models/ and a row here.
 *
 * Numbers go into fingerprints: one that was ever used keeps its meaning.
 */
#ifndef LEAT_TOKENIZER_MODEL_ROWS_H
#define LEAT_TOKENIZER_MODEL_ROWS_H

#define MODEL_ROWS(each)                                                                                               \
    each(BYTES, 1, model_bytes) each(RANKS, 2, model_ranks) each(MERGES, 3, model_merges)                              \
        each(SCORES, 4, model_scores) each(UNIGRAM, 5, model_unigram) each(SUMS, 6, model_sums)                        \
            each(WORDPIECE, 7, model_wordpiece) each(WORDLEVEL, 8, model_wordlevel) each(WORDS, 9, model_words)        \
                each(CHARACTERS, 10, model_characters)

#endif
