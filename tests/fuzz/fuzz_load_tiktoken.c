/*
 * fuzz_load_tiktoken.c: any bytes as a *.tiktoken file, whose pattern its name tells or the caller (fuzz_load.h).
 */
#include "fuzz_load.h"

FUZZ_TARGET(load_tiktoken)
{
    struct load_source source = { .path = "gpt2.tiktoken", .bytes = data, .size = size, .pattern = "qwen" };
    struct tokenizer_spec *spec = spec_new();
    struct leat_error err = { 0 };

    FUZZ_CHECK(spec);
    if (fuzz_load_ok(load_tiktoken(spec, &source, &err), &err))
        fuzz_load_check(spec);
    spec_free(spec);
    return fuzz_load(data, size, "any.tiktoken", "cl100k_base");
}
