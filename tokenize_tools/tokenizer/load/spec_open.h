/* spec_open.h: the whole way from -t SPEC to a spec: finds the file, decompresses and loads it, and adds the
 * fingerprint and the end-of-document token. */
#ifndef LEAT_TOKENIZER_SPEC_OPEN_H
#define LEAT_TOKENIZER_SPEC_OPEN_H

#include "end_token.h"
#include "leat.h"
#include "load.h"
#include "locate.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/spec.h"

struct opened_spec {
    struct tokenizer_spec *spec;
    enum load_format format; /* format of the file; 0 for a built-in */
    struct located at;       /* the built-in or file; a dataset keeps at.stored */
    uint8_t print[FINGERPRINT_BYTES];
    struct end_token end;
};

/*
 * Opens the vocabulary `name`; `pattern` is --pattern, or NULL. Returns the statuses of locate(), load_spec() and
 * builtin_load(). On failure *out holds nothing.
 */
enum leat_status spec_open(struct opened_spec *out, const char *name, const char *pattern, struct leat_error *err);
enum leat_status spec_open_stoppable(struct opened_spec *out, const char *name, const char *pattern,
                                     const struct locate_stop *stop, struct leat_error *err);

/* Opens the vocabulary in bytes that a dataset holds, which are not kept. Messages call it `path`, which also gives the
 * pattern of a *.tiktoken. No tokenizer_config.json is read. */
enum leat_status spec_open_stored(struct opened_spec *out, const uint8_t *bytes, uint64_t size, const char *path,
                                  const char *pattern, struct leat_error *err);

/* Frees its contents; a zeroed or freed struct is fine. */
void spec_close(struct opened_spec *o);

#endif
