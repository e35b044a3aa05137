/* load.c: see load.h. Recognises a format by its first bytes. */
#include "load.h"

#include <string.h>

#include "base/status.h"

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

const uint8_t *load_after_mark(const struct load_source *source)
{
    bool marked = source->size >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0;

    return source->bytes + (marked ? 3 : 0);
}

/* A line of base64, white space and a digit. */
static bool looks_like_tiktoken(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *begin = p;

    while (p < end && ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '+' ||
                       *p == '/' || *p == '='))
        p++;
    if (p == begin || p == end || (*p != ' ' && *p != '\t'))
        return false;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    p += p < end && *p == '+';
    return p < end && *p >= '0' && *p <= '9';
}

static enum leat_status load_json(struct tokenizer_spec *spec, enum load_format *format,
                                  const struct load_source *source, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = jsontree_parse(&j, source->bytes, source->size, source->path, err);

    if (s == LEAT_E_VOCABULARY)
        status_after(err, "; it was read as a tokenizer");
    if (s != LEAT_OK)
        return s;
    if (jsontree_member(&j, 0, "config") != JSONTREE_NONE && jsontree_member(&j, 0, "vocab") != JSONTREE_NONE) {
        *format = LOAD_TEKKEN;
        s = load_tekken(spec, &j, err);
    } else if (jsontree_member(&j, 0, "mergeable_ranks") != JSONTREE_NONE) {
        *format = LOAD_ENCODING;
        s = load_encoding(spec, &j, err);
    } else if (jsontree_member(&j, 0, "model") != JSONTREE_NONE) {
        *format = LOAD_TOKENIZER_JSON;
        s = load_hf(spec, &j, err);
    } else {
        s = status_set(
            err, LEAT_E_VOCABULARY,
            "%s is JSON, but neither a tokenizer.json (it has no \"model\") nor a tekken.json (no \"config\" "
            "and \"vocab\")",
            source->path);
    }
    jsontree_free(&j);
    return s;
}

static enum leat_status load_into(struct tokenizer_spec *spec, enum load_format *format,
                                  const struct load_source *source, struct leat_error *err)
{
    const uint8_t *p = load_after_mark(source), *end = source->bytes + source->size;

    while (p < end && is_space(*p))
        p++;
    if (p < end && looks_like_tiktoken(p, end)) {
        *format = LOAD_TIKTOKEN;
        return load_tiktoken(spec, source, err);
    }
    if (source->pattern)
        return status_set_hint(
            err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN,
            "a pattern applies only to *.tiktoken files, and %s is not one; leave out the pattern %s", source->path,
            source->pattern);
    for (p = source->bytes; p < end && is_space(*p);)
        p++;
    if (p < end && (*p == '{' || *p == '['))
        return load_json(spec, format, source, err);
    if (source->size > 0 && source->bytes[0] == 0x0a) { /* field 1 of ModelProto: a vocabulary entry */
        *format = LOAD_SENTENCEPIECE;
        return load_sentencepiece(spec, source, err);
    }
    return status_set(err, LEAT_E_VOCABULARY,
                      "%s has an unknown format: expected tokenizer.json, tekken.json, *.tiktoken or a sentencepiece "
                      "model%s",
                      source->path, source->size == 0 ? "; the file is empty" : "");
}

enum leat_status load_spec(struct tokenizer_spec **out, enum load_format *format, const struct load_source *source,
                           struct leat_error *err)
{
    struct tokenizer_spec *spec = spec_new();
    enum leat_status s;

    *out = NULL;
    if (!spec)
        return status_no_memory(err, sizeof *spec);
    s = load_into(spec, format, source, err);
    if (s == LEAT_OK)
        *out = spec;
    else
        spec_free(spec);
    return s;
}
