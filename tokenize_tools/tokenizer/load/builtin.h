/*
 * builtin.h: the vocabularies inside the library: they work on a machine that has nothing else. NOTICE says whose they
 * are. They lie compressed in the read-only part of the library and are decompressed when first asked for.
 */
#ifndef LEAT_TOKENIZER_BUILTIN_H
#define LEAT_TOKENIZER_BUILTIN_H

#include "leat.h"
#include "tokenizer/spec/spec.h"

/* The canonical name (constant memory; gpt2 for r50k_base), or NULL if `name` is not a built-in. */
const char *builtin_find(const char *name);

/* The names with commas between: "bytes, gpt2, ...". Constant memory. */
const char *builtin_list(void);

/* The built-in that a user who mistyped `name` probably meant, for sentences; NULL if none is near, or two are. A name
 * with another number in it is never suggested. Constant memory. */
const char *builtin_nearest(const char *name);

/*
 * Loads one. `bytes` has a token for each byte, which is its id, and the special token <|endoftext|>, 256. The others
 * are tiktoken's encodings of the same name, of which r50k_base is gpt2. On success *out is the caller's; on failure
 * NULL.
 */
enum leat_status builtin_load(struct tokenizer_spec **out, const char *name, struct leat_error *err);

#endif
