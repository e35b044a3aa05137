/* fuzz_load.h: what the fuzzers of the loaders share. */
#ifndef LEAT_TESTS_FUZZ_LOAD_H
#define LEAT_TESTS_FUZZ_LOAD_H

#include "tokenize_tools/tokenizer/end_token.h"
#include "tokenize_tools/tokenizer/fingerprint.h"
#include "tokenize_tools/tokenizer/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline int fuzz_load(const uint8_t *bytes, size_t size, const char *pattern)
{
    struct load_source source = { .path = "fuzz", .bytes = bytes, .size = size, .pattern = pattern };
    uint8_t print[FINGERPRINT_BYTES];
    struct tokenizer_spec *spec;
    enum load_format format;
    struct end_token end;
    struct leat_error err;

    if (load_spec(&spec, &format, &source, &err) == LEAT_OK) {
        fingerprint(print, spec);
        end_token_find(&end, spec, print, NULL);
        if (spec->token_count > 0 && spec_find_id(spec, spec->tokens[0].id) != &spec->tokens[0])
            __builtin_trap();
        for (uint32_t i = 0; i < spec->token_count; i++)
            if (spec->tokens[i].id >= spec->vocabulary_size ||
                (uint64_t)spec->tokens[i].offset + spec->tokens[i].length > spec->text_bytes)
                __builtin_trap();
        for (uint32_t i = 0; i < spec->merge_count; i++)
            if (!spec_find_id(spec, spec->merges[i].left) || !spec_find_id(spec, spec->merges[i].result))
                __builtin_trap();
        spec_free(spec);
    }
    return 0;
}

#endif
