/*
 * load_hf.c: see load_hf.h.
 *
 * load_parts() reads a tokenizer.json in the order in which its members depend on each other: first the lists of the
 * pipeline (load_hf_pipeline.c), because they decide whether tokens are written in mapped bytes; then the model
 * (load_hf_model.c), and last the added tokens (load_hf_added.c), whose ids depend on the model's vocabulary. The
 * readers of typed members are here too. They know the place in the file for sentences, and report a missing member or
 * a wrong type in the same words everywhere.
 */
#include "load_hf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/show.h"
#include "base/utf8.h"
#include "load.h"

/* ---- Sentences ---- */

STATUS_PRINTF(4, 0)
static enum leat_status report(struct load_hf *h, enum leat_status status, uint32_t node, const char *format,
                               va_list args)
{
    uint64_t at = jsontree_at(h->j, node);
    char sentence[512];

    vsnprintf(sentence, sizeof sentence, format, args);
    return status_set_at(h->err, status, at, "%s: %s: %s (byte %llu)", h->j->path, h->place, sentence,
                         (unsigned long long)at);
}

enum leat_status load_hf_wrong(struct load_hf *h, uint32_t node, const char *format, ...)
{
    enum leat_status s;
    va_list args;

    va_start(args, format);
    s = report(h, LEAT_E_VOCABULARY, node, format, args);
    va_end(args);
    return s;
}

enum leat_status load_hf_refuse(struct load_hf *h, uint32_t node, const char *format, ...)
{
    enum leat_status s;
    va_list args;

    va_start(args, format);
    s = report(h, LEAT_E_UNSUPPORTED, node, format, args);
    va_end(args);
    return s;
}

const char *load_hf_show(const struct jsontree *j, uint32_t node, char room[80])
{
    struct jsontree_text t;
    uint32_t length;

    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_STRING) {
        snprintf(room, 80, "%s", jsontree_kind_name(j, node));
        return room;
    }
    t = jsontree_string(j, node);
    length = t.length < 76 ? t.length : 76;
    while (length < t.length && length > 0 && (t.bytes[length] & 0xc0) == 0x80) /* not inside a character */
        length--;
    show_text(room, 77, (const char *)t.bytes, length); /* a zero byte too */
    if (length < t.length)
        memcpy(room + strlen(room), "...", 4);
    return room;
}

/* ---- Typed members ---- */

uint32_t load_hf_member(const struct load_hf *h, uint32_t component, const char *name)
{
    size_t length = strlen(name);
    const char *f = h->fields;
    uint32_t k = component + 1;

    if (h->j->nodes[component].kind != JSONTREE_ARRAY)
        return jsontree_member(h->j, component, name);
    while (f && !(strncmp(f, name, length) == 0 && (f[length] == ' ' || f[length] == '\0'))) {
        f = strchr(f, ' ');
        f = f ? f + 1 : NULL;
        k = jsontree_next(h->j, k);
    }
    return f ? k : JSONTREE_NONE;
}

bool load_hf_twice(const struct jsontree *j, uint32_t object, const char *name)
{
    unsigned count = 0;

    for (uint32_t k = object + 1; k < jsontree_next(j, object); k = jsontree_next(j, k + 1))
        count += jsontree_is(j, k, name);
    return count > 1;
}

bool load_hf_names(const struct jsontree *j, uint32_t node, const char *name)
{
    const struct jsontree_node *n = &j->nodes[node];

    return jsontree_is(j, node, name) || (n->kind == JSONTREE_OBJECT && n->length == 1 &&
                                          jsontree_is(j, node + 1, name) && n[2].kind == JSONTREE_NULL);
}

/* Finds a member; JSONTREE_NONE if it is missing (or null) and may be. */
static enum leat_status member(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                               uint32_t *node)
{
    *node = load_hf_member(h, object, name);
    if (*node == JSONTREE_NONE)
        return need == LOAD_HF_REQUIRED ? load_hf_wrong(h, object, "it lacks \"%s\"", name) : LEAT_OK;
    if (need == LOAD_HF_OPTION && h->j->nodes[*node].kind == JSONTREE_NULL)
        *node = JSONTREE_NONE;
    return LEAT_OK;
}

enum leat_status load_hf_bool(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need, bool *value)
{
    uint32_t node;
    enum leat_status s = member(h, object, name, need, &node);

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    if (h->j->nodes[node].kind != JSONTREE_TRUE && h->j->nodes[node].kind != JSONTREE_FALSE)
        return load_hf_wrong(h, node, "\"%s\" must be true or false, not %s", name, jsontree_kind_name(h->j, node));
    *value = h->j->nodes[node].kind == JSONTREE_TRUE;
    return LEAT_OK;
}

enum leat_status load_hf_string(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                uint32_t *node)
{
    enum leat_status s = member(h, object, name, need, node);

    if (s != LEAT_OK || *node == JSONTREE_NONE)
        return s;
    if (h->j->nodes[*node].kind != JSONTREE_STRING)
        return load_hf_wrong(h, *node, "\"%s\" must be a string, not %s", name, jsontree_kind_name(h->j, *node));
    return LEAT_OK;
}

enum leat_status load_hf_text(struct load_hf *h, uint32_t object, const char *name, bool one_character,
                              struct spec_string *out)
{
    uint32_t node;
    enum leat_status s = load_hf_string(h, object, name, LOAD_HF_REQUIRED, &node);
    struct jsontree_text t;

    if (s != LEAT_OK)
        return s;
    t = jsontree_string(h->j, node);
    if (one_character && utf8_characters(t.bytes, t.length) != 1)
        return load_hf_wrong(h, node, "\"%s\" must be exactly one character", name);
    return spec_copy(h->spec, out, t.bytes, t.length) ? LEAT_OK : status_no_memory(h->err, t.length);
}

enum leat_status load_hf_number(struct load_hf *h, uint32_t object, const char *name, uint32_t *value)
{
    uint32_t node;
    uint64_t number;
    enum leat_status s = member(h, object, name, LOAD_HF_REQUIRED, &node);

    if (s != LEAT_OK)
        return s;
    if (!jsontree_u64(h->j, node, &number))
        return load_hf_wrong(h, node, "\"%s\" must be a whole number, not negative", name);
    *value = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return LEAT_OK;
}

enum leat_status load_hf_choice(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                const char *const *names, unsigned *choice)
{
    uint32_t node;
    enum leat_status s = member(h, object, name, need, &node);
    char all[160] = "";
    size_t used = 0;

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    for (unsigned i = 0; names[i]; i++) {
        if (load_hf_names(h->j, node, names[i])) {
            *choice = i;
            return LEAT_OK;
        }
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", names[i],
                                 !names[i + 1]   ? ""
                                 : !names[i + 2] ? " or "
                                                 : ", ");
    }
    return load_hf_wrong(h, node, "\"%s\" must be %s", name, all);
}

/* ---- The file ---- */

static enum leat_status check_version(struct load_hf *h)
{
    uint32_t node = jsontree_member(h->j, 0, "version");
    char shown[80];

    h->place = "version";
    if (node == JSONTREE_NONE || jsontree_is(h->j, node, "1.0"))
        return LEAT_OK;
    if (h->j->nodes[node].kind != JSONTREE_STRING)
        return load_hf_wrong(h, node, "it must be the string \"1.0\", not %s", jsontree_kind_name(h->j, node));
    return load_hf_refuse(h, node, "unknown version \"%s\"; the only version of tokenizer.json is \"1.0\"",
                          load_hf_show(h->j, node, shown));
}

/* The reference reads these names and no other. */
static enum leat_status check_names(struct load_hf *h)
{
    static const char *const known[] = { "version",       "truncation",     "padding", "added_tokens", "normalizer",
                                         "pre_tokenizer", "post_processor", "decoder", "model" };
    char shown[80];

    h->place = "the file";
    for (uint32_t k = 1; k < jsontree_next(h->j, 0); k = jsontree_next(h->j, k + 1)) {
        size_t i = 0;

        while (i < sizeof known / sizeof known[0] && !jsontree_is(h->j, k, known[i]))
            i++;
        if (i == sizeof known / sizeof known[0])
            return load_hf_refuse(h, k, "unknown member \"%s\" of a tokenizer.json", load_hf_show(h->j, k, shown));
    }
    return LEAT_OK;
}

/* A part that is there and not null, or JSONTREE_NONE. */
static uint32_t part(const struct load_hf *h, const char *name)
{
    uint32_t node = jsontree_member(h->j, 0, name);

    return node != JSONTREE_NONE && h->j->nodes[node].kind == JSONTREE_NULL ? JSONTREE_NONE : node;
}

static void take_notes(struct load_hf *h)
{
    if (part(h, "truncation") != JSONTREE_NONE)
        h->spec->notes |= SPEC_NOTE_TRUNCATION;
    if (part(h, "padding") != JSONTREE_NONE)
        h->spec->notes |= SPEC_NOTE_PADDING;
    if (part(h, "post_processor") != JSONTREE_NONE)
        h->spec->notes |= SPEC_NOTE_POST_PROCESSOR;
}

/* Where tokenizers fails. */
static enum leat_status check_prepend(struct load_hf *h)
{
    const struct tokenizer_spec *spec = h->spec;

    h->place = "the pipeline";
    for (uint32_t i = 0; spec_maps_bytes(spec, i) && i < spec->normalizer_count; i++)
        if (spec->normalizers[i].kind == SPEC_NORM_PREPEND && spec->normalizers[i].content.length == 0)
            return load_hf_refuse(h, 0, "an empty Prepend before ByteLevel is not supported: tokenizers fails there");
    return LEAT_OK;
}

/* Whether a prefix or suffix of tokens has a character that ByteLevel never makes. */
static bool has_foreign_affix(const struct load_hf *h)
{
    static const char *const names[] = { "continuing_subword_prefix", "end_of_word_suffix" };
    uint32_t model = part(h, "model");
    uint8_t decoded[SPEC_MAX_AFFIX];
    struct byte_alphabet alphabet;

    byte_alphabet_init(&alphabet);
    for (size_t i = 0; model != JSONTREE_NONE && i < sizeof names / sizeof names[0]; i++) {
        uint32_t node = jsontree_member(h->j, model, names[i]), length;
        struct jsontree_text t;

        if (node == JSONTREE_NONE || h->j->nodes[node].kind != JSONTREE_STRING)
            continue;
        t = jsontree_string(h->j, node);
        if (t.length <= SPEC_MAX_AFFIX && !byte_alphabet_decode(&alphabet, decoded, &length, t.bytes, t.length))
            return true;
    }
    return false;
}

/* Whether text reaches the model as mapped bytes, each of them one letter. It does not if letters are mapped again, or
 * changed: then the tokens are letters, as the file has them, and ByteLevel changes text as any other station does. */
static enum leat_status find_byte_level(struct load_hf *h)
{
    struct tokenizer_spec *spec = h->spec;
    bool mapped = false, only_bytes = true;

    for (uint32_t i = 0; i < spec->normalizer_count; i++) {
        only_bytes = only_bytes && !mapped;
        mapped = mapped || spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL;
    }
    for (uint32_t i = 0; i < spec->pre_tokenizer_count; i++) {
        bool maps = spec->pre_tokenizers[i].kind == SPEC_PRE_BYTE_LEVEL;

        only_bytes = only_bytes && !(mapped && (maps || spec->pre_tokenizers[i].kind == SPEC_PRE_METASPACE));
        mapped = mapped || maps;
    }
    spec->byte_level = mapped && only_bytes && !has_foreign_affix(h);
    return check_prepend(h);
}

static enum leat_status load_parts(struct load_hf *h)
{
    enum leat_status s = LEAT_OK;
    uint32_t node = part(h, "normalizer");

    if (node != JSONTREE_NONE)
        s = load_hf_normalizer(h, node);
    if (s == LEAT_OK && (node = part(h, "pre_tokenizer")) != JSONTREE_NONE)
        s = load_hf_pre_tokenizer(h, node);
    if (s == LEAT_OK && (node = part(h, "decoder")) != JSONTREE_NONE)
        s = load_hf_decoder(h, node);
    if (s == LEAT_OK)
        s = find_byte_level(h);
    if (s != LEAT_OK)
        return s;
    h->place = "the file";
    if ((node = part(h, "model")) == JSONTREE_NONE)
        return load_hf_wrong(h, 0, "it has no \"model\": is it a tokenizer.json?");
    s = load_hf_model(h, node);
    if (s != LEAT_OK)
        return s;
    node = jsontree_member(h->j, 0, "added_tokens");
    if (node != JSONTREE_NONE)
        s = load_hf_added(h, node);
    if (s != LEAT_OK)
        return s;
    take_notes(h);
    s = spec_finish(h->spec, h->j->path, h->err);
    if (s == LEAT_OK && (node = part(h, "post_processor")) != JSONTREE_NONE)
        s = load_hf_around(h, node);
    return s;
}

enum leat_status load_hf(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err)
{
    struct load_hf h = { .spec = spec, .j = j, .err = err, .place = "the file" };
    enum leat_status s;
    uint32_t node;

    if (j->nodes[0].kind != JSONTREE_OBJECT)
        return load_hf_wrong(&h, 0, "it holds %s, not an object", jsontree_kind_name(j, 0));
    spec->dialect = SPEC_ONIGURUMA;
    s = check_version(&h);
    if (s == LEAT_OK)
        s = check_names(&h);
    if (s == LEAT_OK && (node = part(&h, "truncation")) != JSONTREE_NONE)
        s = load_hf_truncation(&h, node);
    if (s == LEAT_OK && (node = part(&h, "padding")) != JSONTREE_NONE)
        s = load_hf_padding(&h, node);
    if (s == LEAT_OK)
        s = load_parts(&h);
    string_map_free(&h.vocab);
    return s;
}
