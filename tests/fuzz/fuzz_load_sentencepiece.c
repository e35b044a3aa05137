/* fuzz_load_sentencepiece.c: any bytes as a sentencepiece model. Built as fuzz_load_json.c is. */
#include "tests/fuzz/fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct load_source source = { .path = "tokenizer.model", .bytes = bytes, .size = size };
    struct tokenizer_spec *spec = spec_new();
    struct leat_error err;

    load_sentencepiece(spec, &source, &err);
    spec_free(spec);
    return fuzz_load(bytes, size, NULL);
}
