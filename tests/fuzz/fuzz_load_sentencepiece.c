/*
 * fuzz_load_sentencepiece.c: any bytes as a sentencepiece model (fuzz_load.h).
 */
#include "fuzz_load.h"

FUZZ_TARGET(load_sentencepiece)
{
    struct load_source source = { .path = "tokenizer.model", .bytes = data, .size = size };
    struct tokenizer_spec *spec = spec_new();
    struct leat_error err = { 0 };

    FUZZ_CHECK(spec);
    if (fuzz_load_ok(load_sentencepiece(spec, &source, &err), &err))
        fuzz_load_check(spec);
    spec_free(spec);
    return fuzz_load(data, size, "tokenizer.model", NULL);
}
