/*
 * pretokenizer.h: the pre-tokenizers of a spec: they cut a segment (normalized text between added tokens) into the
 * pretokens that the model encodes, each inside the pretokens of the one before. Pretokens are passed on as they come;
 * only text that a step changes is copied, and only the end of a chunk that cannot be cut yet is kept.
 */
#ifndef LEAT_TOKENIZER_PRETOKENIZER_H
#define LEAT_TOKENIZER_PRETOKENIZER_H

#include <stdbool.h>

#include "held.h"
#include "split.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/spec/spec.h"

struct pretokenizer;
struct pretokenizer_scratch;

/* Makes a pretokenizer. `spec` must outlive it. */
enum leat_status pretokenizer_make(struct pretokenizer **out, const struct tokenizer_spec *spec,
                                   struct leat_error *err);
void pretokenizer_free(struct pretokenizer *p);

/* Returns true if pretokenizer_run() may give pretokens that begin with spaces in place of marks, because the spec's
 * pre-tokenizers only do the work of split_words.h for Metaspace. */
bool pretokenizer_only_spaces(const struct tokenizer_spec *spec);

/* Makes the pretokenizer give such pretokens from now on, for a model whose tokens have spaces. Only for scratches
 * that take batches. */
void pretokenizer_write_spaces(struct pretokenizer *p);

/* Returns true if one scanner does all of the work. */
bool pretokenizer_only_scans(const struct pretokenizer *p);

/* Writes the ends of a whole text's pretokens, which have no gaps, each plus `base`, if one scanner does all of the
 * work. `ends` has room for as many as bytes. Returns their number. */
size_t pretokenizer_scan(const struct pretokenizer *p, const uint8_t *text, size_t bytes, uint32_t base,
                         uint32_t *ends);

/* Makes a thread's memory, for this pretokenizer only, which `bound` counts unless it is NULL. */
enum leat_status pretokenizer_scratch_make(struct pretokenizer_scratch **out, const struct pretokenizer *p,
                                           struct bound *bound, struct leat_error *err);

/* Sets the steps of its expressions. */
void pretokenizer_scratch_steps(struct pretokenizer_scratch *s, struct pattern_steps *steps);
void pretokenizer_scratch_free(struct pretokenizer_scratch *s);

/* Drops a segment that has not come to its end. */
void pretokenizer_scratch_clear(struct pretokenizer_scratch *s);

/* Frees large memory that holds nothing. */
void pretokenizer_scratch_trim(struct pretokenizer_scratch *s);

/* Sets the size of windows of long segments, at least 4 bytes, for tests. It never changes a pretoken. */
void pretokenizer_scratch_window(struct pretokenizer_scratch *s, size_t bytes);

/* Takes one pretoken: bytes of a byte-level spec, else UTF-8. Unless `last`, the next call continues the pretoken. */
typedef enum leat_status pretokenizer_take(void *context, const uint8_t *pretoken, size_t bytes, bool last,
                                           struct leat_error *err);

/* Takes many whole pretokens. */
typedef enum leat_status pretokenizer_take_pretokens(void *context, const struct model_pretokens *p,
                                                     struct leat_error *err);

/* Sets the function that takes many whole pretokens if they come together; its context is that of
 * pretokenizer_run(). */
void pretokenizer_scratch_batches(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take);

/* Sets the function that takes all pretokens if the pretokenizer only removes white space, and perhaps isolates
 * punctuation: each may begin with white space that is no part of it, and the last one may be only white space. */
void pretokenizer_scratch_words(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take);

/*
 * Takes a segment, or a chunk of it. Returns a failure of `take`, LEAT_E_TEXT (an expression takes too many steps),
 * LEAT_E_STOPPED or LEAT_E_NO_MEMORY.
 */
enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s,
                                  const struct text_chunk *chunk, pretokenizer_take *take, void *context,
                                  struct leat_error *err);

#endif
