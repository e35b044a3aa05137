/*
 * pretokenizer.h: the pre-tokenizers of a spec: they cut a segment (normalized text between added tokens) into the
 * pretokens that the model encodes, each inside the pretokens of the one before. Pretokens are handed on as they come;
 * nothing is kept of a segment but a copy of what a step changes, and of a segment that comes in chunks what may not be
 * cut yet.
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

/* `spec` must outlive it. */
enum leat_status pretokenizer_make(struct pretokenizer **out, const struct tokenizer_spec *spec,
                                   struct leat_error *err);
void pretokenizer_free(struct pretokenizer *p);

/* Whether pretokenizer_run() may give pretokens that begin with spaces where the file has marks: all that the spec's
 * pre-tokenizers do is what split_words.h does for Metaspace. */
bool pretokenizer_only_spaces(const struct tokenizer_spec *spec);

/* From then on it does, for a model whose tokens are written so. Only for scratches that take batches. */
void pretokenizer_write_spaces(struct pretokenizer *p);

/* Whether one scanner does all of the work. */
bool pretokenizer_only_scans(const struct pretokenizer *p);

/* Of such a pretokenizer: the ends of a whole text's pretokens, which have no gaps, each with `base` added. There is
 * room for as many as bytes. Returns their number. */
size_t pretokenizer_scan(const struct pretokenizer *p, const uint8_t *text, size_t bytes, uint32_t base,
                         uint32_t *ends);

/* A thread's memory, for this pretokenizer only; counted in `bound`, if that is not NULL. */
enum leat_status pretokenizer_scratch_make(struct pretokenizer_scratch **out, const struct pretokenizer *p,
                                           struct bound *bound, struct leat_error *err);

/* Where the steps of its expressions are counted. */
void pretokenizer_scratch_steps(struct pretokenizer_scratch *s, struct pattern_steps *steps);
void pretokenizer_scratch_free(struct pretokenizer_scratch *s);

/* Forgets a segment that has not come to its end. */
void pretokenizer_scratch_clear(struct pretokenizer_scratch *s);

/* Gives much memory that holds nothing back. */
void pretokenizer_scratch_trim(struct pretokenizer_scratch *s);

/* For tests: long segments go through in windows of this many bytes, at least 4. The size never changes a pretoken. */
void pretokenizer_scratch_window(struct pretokenizer_scratch *s, size_t bytes);

/* Takes one pretoken: bytes of a byte-level spec, else UTF-8. `last` false: the pretoken goes on with what is given
 * next. */
typedef enum leat_status pretokenizer_take(void *context, const uint8_t *pretoken, size_t bytes, bool last,
                                           struct leat_error *err);

/* Takes many whole pretokens. */
typedef enum leat_status pretokenizer_take_pretokens(void *context, const struct model_pretokens *p,
                                                     struct leat_error *err);

/* Where many whole pretokens come together, this function takes them, with the same context. */
void pretokenizer_scratch_batches(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take);

/* If the pretokenizer only removes white space, and isolates punctuation or not, this function takes all pretokens:
 * each may begin with white space that is not part of it, and the last one may be nothing else. */
void pretokenizer_scratch_words(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take);

/*
 * Takes a segment, or a chunk of it.
 * Returns what `take` returns when that is not LEAT_OK, or LEAT_E_TEXT (an expression takes too many steps),
 * LEAT_E_STOPPED, LEAT_E_NO_MEMORY.
 */
enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s,
                                  const struct text_chunk *chunk, pretokenizer_take *take, void *context,
                                  struct leat_error *err);

#endif
