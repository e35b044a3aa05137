/* made_json.h: files tokenizer.json that tests write as text, and their reader: what test_load_hf.c and
 * test_load_hf_refused.c share. */
#ifndef LEAT_TESTS_TOKENIZER_FILES_MADE_JSON_H
#define LEAT_TESTS_TOKENIZER_FILES_MADE_JSON_H

#include "t.h"

#include "tokenizer/load/load.h"

#define VOCAB "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}"
#define MODEL "\"model\":{\"type\":\"BPE\"," VOCAB ",\"merges\":[\"a b\"]}"

static inline enum leat_status load(struct tokenizer_spec **spec, const char *json)
{
    struct load_source source = { .path = "made.json", .bytes = (const uint8_t *)json, .size = strlen(json) };
    enum load_format format = 0;
    enum leat_status s = load_spec(spec, &format, &source, &t_err);

    if (s == LEAT_OK)
        T_EQ(format, LOAD_TOKENIZER_JSON);
    return s;
}

/* A file of a good model and other parts. */
static inline const char *with(const char *parts)
{
    return t_text("{\"version\":\"1.0\",%s," MODEL "}", parts);
}

/* A file whose model has other members besides vocabulary and merges. */
static inline const char *with_model(const char *members)
{
    return t_text("{\"model\":{%s}}", members);
}

#endif
