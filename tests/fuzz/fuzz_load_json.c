/*
 * fuzz_load_json.c: any bytes through the JSON reader and the loaders of tokenizer.json and tekken.json (fuzz_load.h).
 */
#include "fuzz_load.h"

/* Both loaders see any JSON, also such as no format is recognised in. */
static void load_both(const struct jsontree *j)
{
    uint8_t print[FINGERPRINT_BYTES] = { 0 };
    struct leat_error err = { 0 };
    struct end_token end;

    for (unsigned i = 0; i < 2; i++) {
        struct tokenizer_spec *spec = spec_new();

        FUZZ_CHECK(spec);
        if (fuzz_load_ok(i == 0 ? load_hf(spec, j, &err) : load_tekken(spec, j, &err), &err)) {
            fuzz_load_check(spec);
            end_token_find(&end, spec, print, j);
        }
        spec_free(spec);
    }
}

FUZZ_TARGET(load_json)
{
    struct leat_error err = { 0 };
    struct jsontree j;

    if (fuzz_load_ok(jsontree_parse(&j, data, size, "fuzz.json", &err), &err)) {
        load_both(&j);
        jsontree_free(&j);
    }
    return fuzz_load(data, size, "fuzz.json", NULL);
}
