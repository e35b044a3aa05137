/*
 * builtin.h: the vocabularies inside the library, which need no file. NOTICE says whose they are. They lie compressed
 * in the read-only part of the library, and are decompressed when they are loaded.
 */
#ifndef LEAT_TOKENIZER_BUILTIN_H
#define LEAT_TOKENIZER_BUILTIN_H

#include "leat.h"
#include "tokenizer/spec/spec.h"

/* Returns the canonical name (gpt2 for r50k_base), in constant memory, or NULL if `name` is not a built-in. */
const char *builtin_find(const char *name);

/* Returns the names, separated by commas, in constant memory: "bytes, gpt2, ...". */
const char *builtin_list(void);

/* Returns the built-in that a user who mistyped `name` probably meant, in constant memory; NULL if no name is near, or
 * two are. Never suggests a name with another number in it. */
const char *builtin_nearest(const char *name);

/*
 * Loads a built-in. `bytes` has a token for each byte, whose id is the byte, and the special token <|endoftext|>,
 * 256. The others are tiktoken's encodings of that name; gpt2 is also called r50k_base. On success *out is the
 * caller's; on failure NULL.
 */
enum leat_status builtin_load(struct tokenizer_spec **out, const char *name, struct leat_error *err);

#endif
