/* fuzz_load_tiktoken.c: any bytes as a *.tiktoken file. Built as fuzz_load_json.c is. */
#include "tests/fuzz/fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct load_source source = { .path = "gpt2.tiktoken", .bytes = bytes, .size = size, .pattern = "qwen" };
    struct tokenizer_spec *spec = spec_new();
    struct leat_error err;

    load_tiktoken(spec, &source, &err);
    spec_free(spec);
    return fuzz_load(bytes, size, "cl100k_base");
}
