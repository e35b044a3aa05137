/*
 * load_hf_normalizer.c: the normalizers of a tokenizer.json.
 */
#include <string.h>

#include "load_hf_pipeline.h"
#include "tokenizer/notation/base64.h"

static enum leat_status charsmap(struct load_hf *h, uint32_t object, struct spec_string *out)
{
    uint32_t node;
    enum leat_status s = load_hf_string(h, object, "precompiled_charsmap", LOAD_HF_REQUIRED, &node);
    struct jsontree_text t;
    uint8_t *bytes;
    size_t count;

    if (s != LEAT_OK)
        return s;
    t = jsontree_string(h->j, node);
    bytes = spec_alloc(h->spec, BASE64_ROOM(t.length));
    if (!bytes)
        return status_no_memory(h->err, BASE64_ROOM(t.length));
    if (!base64_decode(bytes, &count, t.bytes, t.length))
        return load_hf_wrong(h, node, "\"precompiled_charsmap\" is not base64");
    *out = (struct spec_string) { bytes, (uint32_t)count };
    if (!charsmap_check(out))
        return load_hf_wrong(h, node, "\"precompiled_charsmap\" does not have the form of a compiled map");
    return LEAT_OK;
}

static enum leat_status read_normalizer(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_normalizer *n = &h->spec->normalizers[h->spec->normalizer_count++];
    enum leat_status s = LEAT_OK;

    *n = (struct spec_normalizer) { .kind = (enum spec_normalizer_kind)kind };
    switch (n->kind) {
    case SPEC_NORM_STRIP:
        s = load_hf_bool(h, node, "strip_left", LOAD_HF_REQUIRED, &n->strip_left);
        if (s == LEAT_OK)
            s = load_hf_bool(h, node, "strip_right", LOAD_HF_REQUIRED, &n->strip_right);
        break;
    case SPEC_NORM_REPLACE:
        s = load_hf_replaced(h, node, &n->pattern);
        if (s == LEAT_OK)
            s = load_hf_text(h, node, "content", false, &n->content);
        break;
    case SPEC_NORM_PREPEND:
        s = load_hf_text(h, node, "prepend", false, &n->content);
        break;
    case SPEC_NORM_PRECOMPILED:
        s = charsmap(h, node, &n->content);
        break;
    default:
        break;
    }
    return s;
}

static void add_normalizer(struct load_hf *h, enum spec_normalizer_kind kind)
{
    h->spec->normalizers[h->spec->normalizer_count++] = (struct spec_normalizer) { .kind = kind };
}

/* Its parts, one by one. Accents are stripped with lower case, if the file does not say. */
static enum leat_status read_bert_normalizer(struct load_hf *h, uint32_t node, unsigned kind)
{
    bool clean, chinese, lowercase, accents;
    enum leat_status s = load_hf_bool(h, node, "clean_text", LOAD_HF_REQUIRED, &clean);

    (void)kind;
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "handle_chinese_chars", LOAD_HF_REQUIRED, &chinese);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "lowercase", LOAD_HF_REQUIRED, &lowercase);
    if (s != LEAT_OK)
        return s;
    accents = lowercase;
    s = load_hf_bool(h, node, "strip_accents", LOAD_HF_OPTION, &accents);
    if (clean)
        add_normalizer(h, SPEC_NORM_CLEAN);
    if (chinese)
        add_normalizer(h, SPEC_NORM_SPACE_HAN);
    if (accents) {
        add_normalizer(h, SPEC_NORM_NFD);
        add_normalizer(h, SPEC_NORM_NONSPACING);
    }
    if (lowercase)
        add_normalizer(h, SPEC_NORM_LOWERCASE);
    return s;
}

static enum leat_status add_replace(struct load_hf *h, const char *expression, const char *content)
{
    struct spec_normalizer *n = &h->spec->normalizers[h->spec->normalizer_count++];

    *n = (struct spec_normalizer) { .kind = SPEC_NORM_REPLACE, .pattern.regex = true };
    return spec_copy(h->spec, &n->pattern.text, expression, strlen(expression)) &&
                   spec_copy(h->spec, &n->content, content, strlen(content))
               ? LEAT_OK
               : status_no_memory(h->err, strlen(expression));
}

/* Its two tables, as expressions: characters that it drops, and those that become a space. */
static enum leat_status read_nmt(struct load_hf *h, uint32_t node, unsigned kind)
{
    enum leat_status s = add_replace(h, "[\\x01-\\x08\\x0b\\x0e-\\x1f\\x7f\\x{8f}\\x{9f}]", "");

    (void)node;
    (void)kind;
    if (s != LEAT_OK)
        return s;
    return add_replace(h, "[\\t\\n\\x0c\\r\\x{1680}\\x{200b}-\\x{200f}\\x{2028}\\x{2029}\\x{2581}\\x{feff}\\x{fffd}]",
                       " ");
}

static const struct load_hf_row normalizer_rows[] = {
    { "BertNormalizer", 0, read_bert_normalizer, "clean_text handle_chinese_chars strip_accents lowercase", "Bert" },
    { "Strip", SPEC_NORM_STRIP, read_normalizer, "strip_left strip_right", NULL },
    { "StripAccents", SPEC_NORM_STRIP_ACCENTS, read_normalizer, "type", NULL },
    { "NFC", SPEC_NORM_NFC, read_normalizer, "type", NULL },
    { "NFD", SPEC_NORM_NFD, read_normalizer, "type", NULL },
    { "NFKC", SPEC_NORM_NFKC, read_normalizer, "type", NULL },
    { "NFKD", SPEC_NORM_NFKD, read_normalizer, "type", NULL },
    { .type = "Sequence", .fields = "normalizers" },
    { "Lowercase", SPEC_NORM_LOWERCASE, read_normalizer, "type", NULL },
    { "Nmt", 0, read_nmt, "type", NULL },
    { "Precompiled", SPEC_NORM_PRECOMPILED, read_normalizer, NULL, NULL },
    { "Replace", SPEC_NORM_REPLACE, read_normalizer, "pattern content", NULL },
    { "Prepend", SPEC_NORM_PREPEND, read_normalizer, "prepend", NULL },
    { "ByteLevel", SPEC_NORM_BYTE_LEVEL, read_normalizer, "type", NULL },
};

enum leat_status load_hf_normalizer(struct load_hf *h, uint32_t node)
{
    static const struct load_hf_family family = { "normalizer", "normalizers", normalizer_rows,
                                                  sizeof normalizer_rows / sizeof normalizer_rows[0] };
    enum leat_status s;

    h->spec->normalizers = load_hf_component_room(h, node, sizeof *h->spec->normalizers, &s);
    return s == LEAT_OK ? load_hf_components(h, &family, node, &h->spec->normalizer_count) : s;
}
