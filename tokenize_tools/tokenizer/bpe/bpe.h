/*
 * bpe.h: turns a pretoken of text into ids, for all kinds of byte pair encoding. Other rooms cut text into pretokens;
 * here a pretoken is cut further only where that cannot change anything.
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

struct bpe;

/* The kinds: `variant` of their struct model_kind. */
extern const struct bpe_kind bpe_bytes, bpe_ranks, bpe_merges, bpe_scores;

/* A thread's memory. What grows with a pretoken is counted in `bound`, if that is not NULL; `cache_bytes` is the most
 * that its cache may take once much text has come. */
struct bpe_scratch;
enum leat_status bpe_scratch_make(struct bpe_scratch **out, struct bound *bound, size_t cache_bytes,
                                  struct leat_error *err);
void bpe_scratch_free(struct bpe_scratch *s);

/* `spec` must outlive the model. */
enum leat_status bpe_make(struct bpe **out, const struct tokenizer_spec *spec, struct leat_error *err);
void bpe_free(struct bpe *m);

/* The merges of a spec that can happen, as its model has them: for the tests and for making spec->splits. The caller
 * frees *list. */
enum leat_status bpe_list_merges(struct merge **list, size_t *count, const struct tokenizer_spec *spec,
                                 struct leat_error *err);

/*
 * Appends the ids of a pretoken. For byte-level specs the pretoken is bytes, else UTF-8 as normalized. LEAT_E_PRETOKEN:
 * a stretch that cannot be cut needs more than the scratch's bound.
 */
enum leat_status bpe_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *pretoken, size_t bytes,
                            struct id_list *out, struct leat_error *err);

/* The same for many pretokens: much faster than one at a time. */
enum leat_status bpe_encode_pretokens(const struct bpe *m, struct bpe_scratch *s, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err);

/* Whether a model is good at the following. */
bool bpe_takes_spans(const struct bpe *m);

/* The same for spans. If tokens are close together, for example if each newline is one, this is what makes batches of
 * the pretokens between them. */
enum leat_status bpe_encode_spans(const struct bpe *m, struct bpe_scratch *s, const struct model_spans *spans,
                                  struct id_list *out, struct leat_error *err);

/* The same for a pretoken that comes in chunks. *used is how much is done with: the next chunk must begin there.
 * Nothing, where a pretoken cannot be cut. */
enum leat_status bpe_encode_chunk(const struct bpe *m, struct bpe_scratch *s, const struct model_chunk *c,
                                  struct id_list *out, size_t *used, struct leat_error *err);

#endif
