/*
 * fuzz_load_json.c: any bytes through the JSON reader and the loaders of tokenizer.json and tekken.json; what loads is
 * then fingerprinted, so that every field is read.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -I. \
 *       tests/fuzz/fuzz_load_json.c tokenize_tools/tokenizer/?*.c src/base/?*.c -lzstd -o build/fuzz_load_json
 */
#include <stdlib.h>

#include "tests/fuzz/fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct leat_error err;
    struct jsontree j;

    if (jsontree_parse(&j, bytes, size, "fuzz.json", &err) == LEAT_OK) {
        struct end_token end;
        struct tokenizer_spec *spec = spec_new();
        uint8_t print[FINGERPRINT_BYTES] = { 0 };

        if (load_hf(spec, &j, &err) == LEAT_OK)
            end_token_find(&end, spec, print, &j);
        spec_free(spec);
        spec = spec_new();
        if (load_tekken(spec, &j, &err) == LEAT_OK)
            fingerprint(print, spec);
        spec_free(spec);
        jsontree_free(&j);
    }
    return fuzz_load(bytes, size, NULL);
}
