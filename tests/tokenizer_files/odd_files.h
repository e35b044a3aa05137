/* odd_files.h: small vocabulary files that a test writes and opens, and what they are to give. */
#ifndef LEAT_TESTS_ODD_FILES_H
#define LEAT_TESTS_ODD_FILES_H

#include "leat_pack.h"
#include "t.h"

#define IDS_MAX           16

#define REPLACE(from, to) "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"" from "\"},\"content\":\"" to "\"}"

struct opened {
    struct leat_tokenizer *tokenizer;
    struct leat_encoder *encoder;
};

static inline const char *file_with(const char *name, const char *text)
{
    static const char *folder;
    const char *path;
    FILE *f;

    if (!folder)
        folder = t_folder();
    path = t_path(folder, name);
    f = fopen(path, "wb");
    T_CHECK(f && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0);
    return path;
}

static inline struct opened opened(const char *path, const char *pattern)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct opened o;

    options.pattern = pattern;
    T_OK(leat_tokenizer_open(&o.tokenizer, path, &options, &t_err));
    T_OK(leat_encoder_open(&o.encoder, o.tokenizer, NULL, &t_err));
    return o;
}

static inline void closed(struct opened *o)
{
    leat_encoder_close(o->encoder);
    leat_tokenizer_close(o->tokenizer);
}

/* tokenizer.json: the tokens a, b and ab, and a merge. */
static inline struct opened with(const char *parts, const char *model)
{
    return opened(
        file_with("tokenizer.json",
                  t_text("{%s\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}",
                         parts, model)),
        NULL);
}

/* `wanted`: the ids with a space behind each. */
static inline void encodes(const struct opened *o, const char *text, const char *wanted)
{
    char got[256] = "";
    const uint32_t *ids;
    uint64_t count;

    T_OK(leat_encoder_encode(o->encoder, text, strlen(text), &ids, &count, &t_err));
    for (uint64_t i = 0; i < count && i < IDS_MAX; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%u ", (unsigned)ids[i]);
    T_STR(got, wanted);
}

static inline void refuses(const struct opened *o, const char *text, const char *sentence)
{
    const uint32_t *ids;
    uint64_t count;

    T_REFUSED(leat_encoder_encode(o->encoder, text, strlen(text), &ids, &count, &t_err), LEAT_E_TEXT, sentence);
}

static inline void decodes(const struct opened *o, const char *wanted)
{
    static const uint32_t ids[] = { 0, 2, 1 };
    const char *text;
    uint64_t bytes;

    T_OK(leat_encoder_decode(o->encoder, ids, 3, &text, &bytes, &t_err));
    T_EQ(bytes, strlen(wanted));
    T_STR(text, wanted);
}

/* A text of so many times `unit` gives so many times what `wanted` has. */
static inline void encodes_many(const struct opened *o, const char *unit, size_t times, const uint32_t *wanted,
                                size_t length)
{
    size_t bytes = strlen(unit);
    char *text = malloc(times * bytes);
    const uint32_t *ids;
    uint64_t count;

    for (size_t i = 0; i < times; i++)
        memcpy(text + i * bytes, unit, bytes);
    T_OK(leat_encoder_encode(o->encoder, text, times * bytes, &ids, &count, &t_err));
    T_EQ(count, times * length);
    for (uint64_t i = 0; i < count; i++)
        T_EQ(ids[i], wanted[i % length]);
    free(text);
}

#endif
