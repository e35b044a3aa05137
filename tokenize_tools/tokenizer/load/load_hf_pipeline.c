/*
 * load_hf_pipeline.c: normalizers, pre-tokenizers and decoders of a tokenizer.json: tables of the types that leat
 * has, each with a reader of its members. Sequences are flattened. Any other type is refused by its name.
 */
#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "load_hf.h"

/* One of the three lists. */
struct family {
    const char *name, *sequence; /* "normalizer"; the member that holds the parts of a Sequence */
    const struct row *rows;
    size_t row_count;
};

struct row {
    const char *type;
    unsigned kind;
    enum leat_status (*read)(struct load_hf *h, uint32_t node, unsigned kind);
};

/* "normalizer Strip", for sentences; lives in the caller's frame. */
struct place {
    char text[128];
};

static const struct row *find_row(const struct family *f, const struct load_hf *h, uint32_t type)
{
    for (size_t i = 0; i < f->row_count; i++)
        if (jsontree_is(h->j, type, f->rows[i].type))
            return &f->rows[i];
    return NULL;
}

static enum leat_status refuse_type(struct load_hf *h, const struct family *f, uint32_t node, const char *type)
{
    char known[400];
    size_t used = 0;

    for (size_t i = 0; i < f->row_count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", f->rows[i].type);
    h->place = "the pipeline";
    return load_hf_refuse(h, node, "the %s \"%s\" is not supported; supported: %sSequence", f->name, type, known);
}

/* A component, or each part of a Sequence. Recursion is as deep as brackets can be: the parser bounds it. */
static enum leat_status component(struct load_hf *h, const struct family *f, uint32_t node)
{
    const struct jsontree_node *nodes = h->j->nodes;
    const struct row *row;
    struct place place;
    enum leat_status s;
    uint32_t type, list;
    char shown[80];

    h->place = f->name;
    if (nodes[node].kind != JSONTREE_OBJECT)
        return load_hf_wrong(h, node, "it must be an object, not %s", jsontree_kind_name(h->j, node));
    s = load_hf_string(h, node, "type", LOAD_HF_REQUIRED, &type);
    if (s != LEAT_OK)
        return s;
    load_hf_show(h->j, type, shown);
    snprintf(place.text, sizeof place.text, "%s %s", f->name, shown);
    h->place = place.text;
    if (!jsontree_is(h->j, type, "Sequence")) {
        row = find_row(f, h, type);
        s = row ? row->read(h, node, row->kind) : refuse_type(h, f, type, shown);
        h->place = f->name;
        return s;
    }
    list = jsontree_member(h->j, node, f->sequence);
    if (list == JSONTREE_NONE || nodes[list].kind != JSONTREE_ARRAY)
        s = load_hf_wrong(h, node, "it lacks the array \"%s\"", f->sequence);
    for (uint32_t k = list + 1; s == LEAT_OK && k < jsontree_next(h->j, list); k = jsontree_next(h->j, k))
        s = component(h, f, k);
    h->place = f->name;
    return s;
}

/* The most components that can be in a value: each is an object of at least one member, three nodes. */
static uint32_t max_components(const struct load_hf *h, uint32_t node)
{
    return (jsontree_next(h->j, node) - node) / 3 + 1;
}

/* ---- Members that several have ---- */

/* {"String": "..."} or {"Regex": "..."} */
static enum leat_status pattern(struct load_hf *h, uint32_t object, struct spec_pattern *out)
{
    uint32_t node = jsontree_member(h->j, object, "pattern");
    const struct jsontree_node *nodes = h->j->nodes;
    struct jsontree_text t;

    if (node == JSONTREE_NONE)
        return load_hf_wrong(h, object, "it lacks \"pattern\"");
    if (nodes[node].kind != JSONTREE_OBJECT || nodes[node].length != 1 || nodes[node + 2].kind != JSONTREE_STRING ||
        !(jsontree_is(h->j, node + 1, "String") || jsontree_is(h->j, node + 1, "Regex")))
        return load_hf_wrong(h, node, "\"pattern\" must be {\"String\": text} or {\"Regex\": expression}");
    out->regex = jsontree_is(h->j, node + 1, "Regex");
    t = jsontree_string(h->j, node + 2);
    return spec_copy(h->spec, &out->text, t.bytes, t.length) ? LEAT_OK : status_no_memory(h->err, t.length);
}

/* That of a Replace. An empty string is found between any two characters there, unlike in a Split: as an expression. */
static enum leat_status replaced(struct load_hf *h, uint32_t object, struct spec_pattern *out)
{
    enum leat_status s = pattern(h, object, out);

    out->regex = out->regex || out->text.length == 0;
    return s;
}

static enum leat_status behavior(struct load_hf *h, uint32_t object, enum load_hf_need need, enum spec_behavior *out)
{
    static const struct {
        const char *name;
        enum spec_behavior behavior;
    } names[] = {
        { "Removed", SPEC_REMOVED },
        { "Isolated", SPEC_ISOLATED },
        { "MergedWithPrevious", SPEC_MERGED_WITH_PREVIOUS },
        { "MergedWithNext", SPEC_MERGED_WITH_NEXT },
        { "Contiguous", SPEC_CONTIGUOUS },
    };
    uint32_t node;
    enum leat_status s = load_hf_string(h, object, "behavior", need, &node);

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (jsontree_is(h->j, node, names[i].name)) {
            *out = names[i].behavior;
            return LEAT_OK;
        }
    return load_hf_wrong(h, node,
                         "\"behavior\" must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

/* What Metaspace has, as pre-tokenizer and as decoder. */
static enum leat_status metaspace(struct load_hf *h, uint32_t object, struct spec_string *replacement,
                                  enum spec_prepend *prepend, bool *split)
{
    enum leat_status s = load_hf_text(h, object, "replacement", true, replacement);
    bool add_prefix_space = true;
    uint32_t node;

    *prepend = SPEC_PREPEND_ALWAYS;
    *split = true;
    if (s == LEAT_OK)
        s = load_hf_bool(h, object, "add_prefix_space", LOAD_HF_OPTION, &add_prefix_space);
    if (s == LEAT_OK)
        s = load_hf_bool(h, object, "split", LOAD_HF_OPTION, split);
    if (s == LEAT_OK)
        s = load_hf_string(h, object, "prepend_scheme", LOAD_HF_DEFAULT, &node);
    if (s != LEAT_OK)
        return s;
    if (node != JSONTREE_NONE) {
        if (jsontree_is(h->j, node, "first"))
            *prepend = SPEC_PREPEND_FIRST;
        else if (jsontree_is(h->j, node, "never"))
            *prepend = SPEC_PREPEND_NEVER;
        else if (!jsontree_is(h->j, node, "always"))
            return load_hf_wrong(h, node, "\"prepend_scheme\" must be first, never or always");
    }
    if (!add_prefix_space && *prepend != SPEC_PREPEND_NEVER)
        return load_hf_wrong(h, object, "\"add_prefix_space\" is false, but \"prepend_scheme\" is not \"never\"");
    return LEAT_OK;
}

/* What ByteLevel has apart from add_prefix_space and use_regex: trimming moves offsets, not tokens. */
static enum leat_status byte_level(struct load_hf *h, uint32_t node, bool *add_prefix_space, bool *use_regex)
{
    enum leat_status s;
    bool trim_offsets;

    *use_regex = true;
    s = load_hf_bool(h, node, "add_prefix_space", LOAD_HF_REQUIRED, add_prefix_space);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "trim_offsets", LOAD_HF_REQUIRED, &trim_offsets);
    if (s != LEAT_OK)
        return s;
    return load_hf_bool(h, node, "use_regex", LOAD_HF_DEFAULT, use_regex);
}

/* ---- Normalizers ---- */

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

    n->kind = (enum spec_normalizer_kind)kind;
    switch (n->kind) {
    case SPEC_NORM_STRIP:
        s = load_hf_bool(h, node, "strip_left", LOAD_HF_REQUIRED, &n->strip_left);
        if (s == LEAT_OK)
            s = load_hf_bool(h, node, "strip_right", LOAD_HF_REQUIRED, &n->strip_right);
        break;
    case SPEC_NORM_REPLACE:
        s = replaced(h, node, &n->pattern);
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

static const struct row normalizer_rows[] = {
    { "NFC", SPEC_NORM_NFC, read_normalizer },
    { "NFD", SPEC_NORM_NFD, read_normalizer },
    { "NFKC", SPEC_NORM_NFKC, read_normalizer },
    { "NFKD", SPEC_NORM_NFKD, read_normalizer },
    { "Lowercase", SPEC_NORM_LOWERCASE, read_normalizer },
    { "Strip", SPEC_NORM_STRIP, read_normalizer },
    { "Replace", SPEC_NORM_REPLACE, read_normalizer },
    { "Prepend", SPEC_NORM_PREPEND, read_normalizer },
    { "Precompiled", SPEC_NORM_PRECOMPILED, read_normalizer },
    { "ByteLevel", SPEC_NORM_BYTE_LEVEL, read_normalizer },
};

enum leat_status load_hf_normalizer(struct load_hf *h, uint32_t node)
{
    static const struct family family = { "normalizer", "normalizers", normalizer_rows,
                                          sizeof normalizer_rows / sizeof normalizer_rows[0] };
    size_t bytes = (size_t)max_components(h, node) * sizeof *h->spec->normalizers;

    h->spec->normalizers = spec_alloc(h->spec, bytes);
    return h->spec->normalizers ? component(h, &family, node) : status_no_memory(h->err, bytes);
}

/* ---- Pre-tokenizers ---- */

static enum leat_status read_pre_tokenizer(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_pre_tokenizer *p = &h->spec->pre_tokenizers[h->spec->pre_tokenizer_count++];
    enum leat_status s = LEAT_OK;

    p->kind = (enum spec_pre_kind)kind;
    switch (p->kind) {
    case SPEC_PRE_BYTE_LEVEL:
        s = byte_level(h, node, &p->add_prefix_space, &p->use_regex);
        break;
    case SPEC_PRE_SPLIT:
        s = pattern(h, node, &p->pattern);
        if (s == LEAT_OK)
            s = behavior(h, node, LOAD_HF_REQUIRED, &p->behavior);
        if (s == LEAT_OK)
            s = load_hf_bool(h, node, "invert", LOAD_HF_REQUIRED, &p->invert);
        break;
    case SPEC_PRE_DIGITS:
        s = load_hf_bool(h, node, "individual_digits", LOAD_HF_REQUIRED, &p->individual_digits);
        break;
    case SPEC_PRE_PUNCTUATION:
        p->behavior = SPEC_ISOLATED;
        s = behavior(h, node, LOAD_HF_DEFAULT, &p->behavior);
        break;
    case SPEC_PRE_METASPACE:
        s = metaspace(h, node, &p->replacement, &p->prepend, &p->split);
        break;
    default:
        break;
    }
    return s;
}

static const struct row pre_tokenizer_rows[] = {
    { "ByteLevel", SPEC_PRE_BYTE_LEVEL, read_pre_tokenizer },
    { "Split", SPEC_PRE_SPLIT, read_pre_tokenizer },
    { "Digits", SPEC_PRE_DIGITS, read_pre_tokenizer },
    { "Punctuation", SPEC_PRE_PUNCTUATION, read_pre_tokenizer },
    { "Whitespace", SPEC_PRE_WHITESPACE, read_pre_tokenizer },
    { "WhitespaceSplit", SPEC_PRE_WHITESPACE_SPLIT, read_pre_tokenizer },
    { "Metaspace", SPEC_PRE_METASPACE, read_pre_tokenizer },
};

enum leat_status load_hf_pre_tokenizer(struct load_hf *h, uint32_t node)
{
    static const struct family family = { "pre_tokenizer", "pretokenizers", pre_tokenizer_rows,
                                          sizeof pre_tokenizer_rows / sizeof pre_tokenizer_rows[0] };
    size_t bytes = (size_t)max_components(h, node) * sizeof *h->spec->pre_tokenizers;

    h->spec->pre_tokenizers = spec_alloc(h->spec, bytes);
    return h->spec->pre_tokenizers ? component(h, &family, node) : status_no_memory(h->err, bytes);
}

/* ---- Decoders ---- */

static enum leat_status read_decoder(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_decoder *d = &h->spec->decoders[h->spec->decoder_count++];
    enum leat_status s = LEAT_OK;
    bool ignored;

    d->kind = (enum spec_decoder_kind)kind;
    switch (d->kind) {
    case SPEC_DECODE_BYTE_LEVEL:
        s = byte_level(h, node, &ignored, &ignored);
        break;
    case SPEC_DECODE_STRIP:
        s = load_hf_text(h, node, "content", true, &d->content);
        if (s == LEAT_OK)
            s = load_hf_number(h, node, "start", &d->start);
        if (s == LEAT_OK)
            s = load_hf_number(h, node, "stop", &d->stop);
        break;
    case SPEC_DECODE_REPLACE:
        s = replaced(h, node, &d->pattern);
        if (s == LEAT_OK)
            s = load_hf_text(h, node, "content", false, &d->content);
        break;
    case SPEC_DECODE_METASPACE:
        s = metaspace(h, node, &d->content, &d->prepend, &ignored);
        break;
    case SPEC_DECODE_WORDPIECE:
        s = load_hf_text(h, node, "prefix", false, &d->content);
        if (s == LEAT_OK)
            s = load_hf_bool(h, node, "cleanup", LOAD_HF_REQUIRED, &d->cleanup);
        break;
    case SPEC_DECODE_BPE:
        s = load_hf_text(h, node, "suffix", false, &d->content);
        d->pattern = (struct spec_pattern) { .regex = d->content.length == 0, .text = d->content };
        break;
    default:
        break;
    }
    return s;
}

static const struct row decoder_rows[] = {
    { "ByteLevel", SPEC_DECODE_BYTE_LEVEL, read_decoder },
    { "ByteFallback", SPEC_DECODE_BYTE_FALLBACK, read_decoder },
    { "Fuse", SPEC_DECODE_FUSE, read_decoder },
    { "Strip", SPEC_DECODE_STRIP, read_decoder },
    { "Replace", SPEC_DECODE_REPLACE, read_decoder },
    { "Metaspace", SPEC_DECODE_METASPACE, read_decoder },
    { "WordPiece", SPEC_DECODE_WORDPIECE, read_decoder },
    { "BPEDecoder", SPEC_DECODE_BPE, read_decoder },
};

enum leat_status load_hf_decoder(struct load_hf *h, uint32_t node)
{
    static const struct family family = { "decoder", "decoders", decoder_rows,
                                          sizeof decoder_rows / sizeof decoder_rows[0] };
    size_t bytes = (size_t)max_components(h, node) * sizeof *h->spec->decoders;
    enum leat_status s;

    h->spec->decoders = spec_alloc(h->spec, bytes);
    s = h->spec->decoders ? component(h, &family, node) : status_no_memory(h->err, bytes);
    /* An empty Sequence joins the tokens as they are; without any decoder spaces would come between them. */
    if (s == LEAT_OK && h->spec->decoder_count == 0)
        h->spec->decoders[h->spec->decoder_count++].kind = SPEC_DECODE_FUSE;
    return s;
}
