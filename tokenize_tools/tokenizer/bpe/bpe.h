/*
 * bpe.h: turns a pretoken of text into ids, for all kinds of byte pair encoding. Other rooms cut text into pretokens;
 * this one cuts a pretoken further only at places where that cannot change its ids.
 *
 * Thread rules: a model never changes after it is made; each thread encodes with a scratch of its own.
 *
 * The room bpe/ encodes pretokens by byte pairs: merges, caches, kernels. It knows neither files nor whole texts.
 */
#ifndef LEAT_TOKENIZER_BPE_H
#define LEAT_TOKENIZER_BPE_H

#include <stdbool.h>

#include "merge_table.h"
#include "tokenizer/containers/id_list.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/spec/spec.h"

/* The kinds of byte-pair models: `variant` of their struct model_kind. */
extern const struct bpe_kind bpe_bytes, bpe_ranks, bpe_merges, bpe_scores;

/* Functions of struct model_kind. */
enum leat_status bpe_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
void bpe_free(struct model *model);
enum leat_status bpe_scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err);
void bpe_scratch_free(void *scratch);
enum leat_status bpe_encode(const struct model *model, void *scratch, const uint8_t *pretoken, size_t bytes,
                            struct id_list *out, struct leat_error *err);
enum leat_status bpe_encode_pretokens(const struct model *model, void *scratch, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err);
bool bpe_takes_spans(const struct model *model);
enum leat_status bpe_encode_spans(const struct model *model, void *scratch, const struct model_spans *spans,
                                  struct id_list *out, struct leat_error *err);
bool bpe_takes_texts(const struct model *model);
enum leat_status bpe_encode_texts(const struct model *model, void *scratch, const struct model_pretokens *p,
                                  struct id_list *counts, struct id_list *out, struct leat_error *err);
enum leat_status bpe_encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                  struct id_list *out, size_t *used, struct leat_error *err);

/* Lists the merges of a spec that can happen, as its model has them, for tests and to make spec->splits. The caller
 * frees *list. */
enum leat_status bpe_list_merges(struct merge **list, size_t *count, const struct tokenizer_spec *spec,
                                 struct leat_error *err);

#endif
