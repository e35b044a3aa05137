/*
 * load_hf_stations.c: the normalizers, pre-tokenizers and decoders of a tokenizer.json.
 *
 * Each of the three lists has a table of the types that leat supports: the type's name, its number in spec.h, and the
 * function that reads its members. component() finds the row of a component by its type, or guess() by its members, as
 * the reference does; load_hf_components() goes through the components of a Sequence. A type that the reference does
 * not know, with members that are of no row, is refused by its name.
 */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "load_hf.h"

/* One of the three lists. */
struct load_hf_family {
    const char *name, *sequence;    /* name of the list, such as "normalizer"; name of the member that holds the
                                       parts of a Sequence */
    const struct load_hf_row *rows; /* rows in the order in which the reference tries them */
    size_t row_count;
};

/*
 * A type that leat supports. A component without a type, or with one that the reference does not know, takes the
 * first row that can be read. `fields` are the members in order, with which the component may also be written as an
 * array. If "type" is the first of them, the type must be that of the row. If `fields` is NULL, the type must be
 * that of the row, too, and the component is no array.
 */
struct load_hf_row {
    const char *type;
    unsigned kind;
    enum leat_status (*read)(struct load_hf *h, uint32_t node, unsigned kind); /* NULL: a Sequence */
    const char *fields;
    const char *tag; /* type under which the reference knows it, if that is another one */
};

/* The name of a component for sentences, "normalizer Strip"; it lives in the caller's frame. */
struct place {
    char text[128];
};

static enum leat_status refuse_type(struct load_hf *h, const struct load_hf_family *f, uint32_t node, uint32_t type)
{
    char known[400], shown[80];
    size_t used = 0;

    for (size_t i = 0; i < f->row_count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", f->rows[i].type);
    h->place = "the pipeline";
    if (type == JSONTREE_NONE)
        return load_hf_wrong(h, node, "a %s without \"type\", and its members are of none; known: %s", f->name, known);
    return load_hf_refuse(h, type, "the %s \"%s\" is not supported; supported: %s", f->name,
                          load_hf_show(h->j, type, shown), known);
}

/* Reads a component as this row. For a Sequence, sets *parts to the array of its parts. */
static enum leat_status read_row(struct load_hf *h, const struct load_hf_family *f, const struct load_hf_row *row,
                                 uint32_t node, uint32_t *parts)
{
    enum leat_status s = LEAT_OK;
    struct place place;
    uint32_t list;

    snprintf(place.text, sizeof place.text, "%s %s", f->name, row->type);
    h->place = place.text;
    h->fields = row->fields;
    if (row->read) {
        s = row->read(h, node, row->kind);
    } else {
        list = load_hf_member(h, node, f->sequence);
        if (list == JSONTREE_NONE || h->j->nodes[list].kind != JSONTREE_ARRAY)
            s = load_hf_wrong(h, node, "it lacks the array \"%s\"", f->sequence);
        else
            *parts = list;
    }
    h->place = f->name;
    return s;
}

/* Returns true if a component without a type that the reference knows may be of this row. */
static bool may_be(struct load_hf *h, const struct load_hf_row *row, uint32_t node)
{
    bool array = h->j->nodes[node].kind == JSONTREE_ARRAY;
    uint32_t type, count = 1;

    if (array && !row->fields)
        return false;
    for (const char *f = array ? row->fields : ""; *f; f++)
        count += *f == ' ';
    if (array && h->j->nodes[node].length != count)
        return false;
    if (row->fields && strncmp(row->fields, "type", 4) != 0)
        return true;
    h->fields = row->fields;
    type = load_hf_member(h, node, "type");
    return type != JSONTREE_NONE && load_hf_names(h->j, type, row->type);
}

/* Reads the component as the first row that it fits. If it fits none, the error is that of the row with its type. */
static enum leat_status guess(struct load_hf *h, const struct load_hf_family *f, uint32_t node, uint32_t *count,
                              uint32_t *parts)
{
    uint32_t type = jsontree_member(h->j, node, "type"), before = *count;
    const struct load_hf_row *named = NULL;

    for (size_t i = 0; i < f->row_count; i++) {
        enum leat_status s = LEAT_E_VOCABULARY;

        if (may_be(h, &f->rows[i], node))
            s = read_row(h, f, &f->rows[i], node, parts);
        if (s != LEAT_E_VOCABULARY)
            return s;
        *count = before;
        if (type != JSONTREE_NONE && jsontree_is(h->j, type, f->rows[i].type))
            named = &f->rows[i];
    }
    return named ? read_row(h, f, named, node, parts) : refuse_type(h, f, node, type);
}

/* One component. */
static enum leat_status component(struct load_hf *h, const struct load_hf_family *f, uint32_t node, bool outermost,
                                  uint32_t *count, uint32_t *parts)
{
    uint32_t type = jsontree_member(h->j, node, "type");

    if (h->j->nodes[node].kind < JSONTREE_ARRAY)
        return load_hf_wrong(h, node, "it must be an object, not %s", jsontree_kind_name(h->j, node));
    /* The reference ignores a type that is given twice, but not in Sequences. */
    if (type != JSONTREE_NONE && !(outermost && load_hf_twice(h->j, node, "type")))
        for (size_t i = 0; i < f->row_count; i++)
            if (load_hf_names(h->j, type, f->rows[i].tag ? f->rows[i].tag : f->rows[i].type))
                return read_row(h, f, &f->rows[i], node, parts);
    return guess(h, f, node, count, parts);
}

/* Deepest nesting of Sequences: each takes two brackets, its object and its array. */
#define MAX_SEQUENCES (JSONTREE_MAX_DEPTH / 2)

/* Reads a component by its row, or each part of a Sequence, and of the Sequences in it. `count` is what the rows'
 * readers count. The file decides how deep Sequences lie in each other, so nothing recurses. */
static enum leat_status load_hf_components(struct load_hf *h, const struct load_hf_family *f, uint32_t node,
                                           uint32_t *count)
{
    struct {
        uint32_t next, end; /* nodes of the parts to read */
    } open[MAX_SEQUENCES + 1] = { { node, node + 1 } };
    unsigned depth = 1;
    enum leat_status s = LEAT_OK;

    h->place = f->name;
    while (s == LEAT_OK && depth > 0) {
        uint32_t part = open[depth - 1].next, parts = JSONTREE_NONE;

        if (part >= open[depth - 1].end) {
            depth--;
            continue;
        }
        open[depth - 1].next = jsontree_next(h->j, part);
        if (*count >= LOAD_HF_COMPONENTS)
            return load_hf_refuse(h, part, "more than %u of them are not supported", (unsigned)LOAD_HF_COMPONENTS);
        s = component(h, f, part, part == node, count, &parts);
        if (s == LEAT_OK && parts != JSONTREE_NONE) {
            open[depth].next = parts + 1;
            open[depth++].end = jsontree_next(h->j, parts);
        }
    }
    return s;
}

/* Most entries of a spec that a component becomes: those of a BertNormalizer. */
#define MAX_PARTS 5u

/*
 * Makes room in the spec for the entries, of `bytes` each, that all components in a value become, and for one more,
 * which is written before it is refused. Returns NULL on failure, with the reason in *s. No component becomes more
 * entries than it has nodes.
 */
static void *load_hf_component_room(struct load_hf *h, uint32_t node, size_t bytes, enum leat_status *s)
{
    uint32_t max = jsontree_next(h->j, node) - node + 1;
    void *room;

    bytes *= max < LOAD_HF_COMPONENTS + MAX_PARTS ? max : LOAD_HF_COMPONENTS + MAX_PARTS;
    room = spec_alloc(h->spec, bytes);
    *s = room ? LEAT_OK : status_no_memory(h->err, bytes);
    return room;
}

/* ---- Members that several have ----------------------------------------------------------------------------------- */

static enum leat_status load_hf_pattern(struct load_hf *h, uint32_t object, struct spec_pattern *out)
{
    uint32_t node = load_hf_member(h, object, "pattern");
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

/* Reads the pattern of a Replace. Unlike in a Split, an empty string matches between any two characters, so it is
 * read as an expression. */
static enum leat_status load_hf_replaced(struct load_hf *h, uint32_t object, struct spec_pattern *out)
{
    enum leat_status s = load_hf_pattern(h, object, out);

    out->regex = out->regex || out->text.length == 0;
    return s;
}

static enum leat_status behavior(struct load_hf *h, uint32_t object, enum load_hf_need need, enum spec_behavior *out)
{
    static const char *const names[] = { "Removed",        "Isolated",   "MergedWithPrevious",
                                         "MergedWithNext", "Contiguous", NULL };
    static const enum spec_behavior behaviors[] = { SPEC_REMOVED, SPEC_ISOLATED, SPEC_MERGED_WITH_PREVIOUS,
                                                    SPEC_MERGED_WITH_NEXT, SPEC_CONTIGUOUS };
    unsigned choice = 1; /* the default of Punctuation */
    enum leat_status s = load_hf_choice(h, object, "behavior", need, names, &choice);

    *out = behaviors[choice];
    return s;
}

#define METASPACE_FIELDS "type replacement add_prefix_space prepend_scheme split str_rep"

/* Reads the members of Metaspace, as pre-tokenizer or as decoder. */
static enum leat_status metaspace(struct load_hf *h, uint32_t object, struct spec_string *replacement,
                                  enum spec_prepend *prepend, bool *split)
{
    enum leat_status s = load_hf_text(h, object, "replacement", true, replacement);
    static const char *const schemes[] = { "first", "never", "always", NULL };
    static const enum spec_prepend prepends[] = { SPEC_PREPEND_FIRST, SPEC_PREPEND_NEVER, SPEC_PREPEND_ALWAYS };
    bool add_prefix_space = true;
    unsigned scheme = 2;
    uint32_t unused;

    *split = true;
    if (s == LEAT_OK)
        s = load_hf_bool(h, object, "add_prefix_space", LOAD_HF_OPTION, &add_prefix_space);
    if (s == LEAT_OK)
        s = load_hf_bool(h, object, "split", LOAD_HF_OPTION, split);
    if (s == LEAT_OK)
        s = load_hf_choice(h, object, "prepend_scheme", LOAD_HF_DEFAULT, schemes, &scheme);
    if (s == LEAT_OK)
        s = load_hf_string(h, object, "str_rep", LOAD_HF_OPTION, &unused);
    if (s != LEAT_OK)
        return s;
    *prepend = prepends[scheme];
    if (!add_prefix_space && *prepend != SPEC_PREPEND_NEVER)
        return load_hf_wrong(h, object, "\"add_prefix_space\" is false, but \"prepend_scheme\" is not \"never\"");
    return LEAT_OK;
}

/* Reads ByteLevel. trim_offsets must be there, but moves offsets, not tokens. */
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

/* ---- Normalizers ------------------------------------------------------------------------------------------------- */

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

/* Reads the parts of a BertNormalizer, one by one. If the file does not say so, accents are stripped with lower
 * case. */
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

/* Reads Nmt as two expressions: for characters that it drops, and for those that become a space. */
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

/* ---- Pre-tokenizers ---------------------------------------------------------------------------------------------- */

static enum leat_status read_pre_tokenizer(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_pre_tokenizer *p = &h->spec->pre_tokenizers[h->spec->pre_tokenizer_count++];
    enum leat_status s = LEAT_OK;

    *p = (struct spec_pre_tokenizer) { .kind = (enum spec_pre_kind)kind };
    switch (p->kind) {
    case SPEC_PRE_BYTE_LEVEL:
        s = byte_level(h, node, &p->add_prefix_space, &p->use_regex);
        break;
    case SPEC_PRE_SPLIT:
        s = load_hf_pattern(h, node, &p->pattern);
        if (s == LEAT_OK)
            s = behavior(h, node, LOAD_HF_REQUIRED, &p->behavior);
        if (s == LEAT_OK)
            s = load_hf_bool(h, node, "invert", LOAD_HF_REQUIRED, &p->invert);
        break;
    case SPEC_PRE_DIGITS:
        s = load_hf_bool(h, node, "individual_digits", LOAD_HF_REQUIRED, &p->individual_digits);
        break;
    case SPEC_PRE_PUNCTUATION:
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

/* Reads a BertPreTokenizer as two pre-tokenizers that exist already. */
static enum leat_status read_bert_pre_tokenizer(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_pre_tokenizer *p = &h->spec->pre_tokenizers[h->spec->pre_tokenizer_count];

    (void)node;
    (void)kind;
    p[0].kind = SPEC_PRE_WHITESPACE_SPLIT;
    p[1].kind = SPEC_PRE_PUNCTUATION;
    p[1].behavior = SPEC_ISOLATED;
    h->spec->pre_tokenizer_count += 2;
    return LEAT_OK;
}

/* Reads a CharDelimiterSplit as a Split at one character, which is removed. */
static enum leat_status read_char_delimiter(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_pre_tokenizer *p = &h->spec->pre_tokenizers[h->spec->pre_tokenizer_count++];

    p->kind = (enum spec_pre_kind)kind;
    p->behavior = SPEC_REMOVED;
    return load_hf_text(h, node, "delimiter", true, &p->pattern.text);
}

/* Reads a FixedLength as a Split, by an expression for this many characters. Expressions count no further than this
 * limit: */
#define MAX_FIXED_LENGTH 65535u

static enum leat_status read_fixed_length(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_pre_tokenizer *p = &h->spec->pre_tokenizers[h->spec->pre_tokenizer_count++];
    enum leat_status s = LEAT_OK;
    uint32_t length = 5;
    char text[32];

    if (jsontree_member(h->j, node, "length") != JSONTREE_NONE)
        s = load_hf_number(h, node, "length", &length);
    if (s != LEAT_OK)
        return s;
    if (length == 0 || length > MAX_FIXED_LENGTH)
        return load_hf_refuse(h, node, "\"length\" must be 1 to %u; others are not supported", MAX_FIXED_LENGTH);
    p->kind = (enum spec_pre_kind)kind;
    p->behavior = SPEC_ISOLATED;
    p->pattern.regex = true;
    snprintf(text, sizeof text, "[\\s\\S]{1,%u}", (unsigned)length);
    return spec_copy(h->spec, &p->pattern.text, text, strlen(text)) ? LEAT_OK : status_no_memory(h->err, sizeof text);
}

static const struct load_hf_row pre_tokenizer_rows[] = {
    { "BertPreTokenizer", 0, read_bert_pre_tokenizer, "type", NULL },
    { "ByteLevel", SPEC_PRE_BYTE_LEVEL, read_pre_tokenizer, NULL, NULL },
    { "CharDelimiterSplit", SPEC_PRE_SPLIT, read_char_delimiter, NULL, NULL },
    { "Metaspace", SPEC_PRE_METASPACE, read_pre_tokenizer, METASPACE_FIELDS, NULL },
    { "Whitespace", SPEC_PRE_WHITESPACE, read_pre_tokenizer, "type", NULL },
    { .type = "Sequence" },
    { "Split", SPEC_PRE_SPLIT, read_pre_tokenizer, "type pattern behavior invert", NULL },
    { "Punctuation", SPEC_PRE_PUNCTUATION, read_pre_tokenizer, NULL, NULL },
    { "WhitespaceSplit", SPEC_PRE_WHITESPACE_SPLIT, read_pre_tokenizer, "type", NULL },
    { "Digits", SPEC_PRE_DIGITS, read_pre_tokenizer, NULL, NULL },
    { "UnicodeScripts", SPEC_PRE_SCRIPTS, read_pre_tokenizer, "type", NULL },
    { "FixedLength", SPEC_PRE_SPLIT, read_fixed_length, NULL, NULL },
};

enum leat_status load_hf_pre_tokenizer(struct load_hf *h, uint32_t node)
{
    static const struct load_hf_family family = { "pre_tokenizer", "pretokenizers", pre_tokenizer_rows,
                                                  sizeof pre_tokenizer_rows / sizeof pre_tokenizer_rows[0] };
    enum leat_status s;

    h->spec->pre_tokenizers = load_hf_component_room(h, node, sizeof *h->spec->pre_tokenizers, &s);
    return s == LEAT_OK ? load_hf_components(h, &family, node, &h->spec->pre_tokenizer_count) : s;
}

/* ---- Decoders ---------------------------------------------------------------------------------------------------- */

static enum leat_status read_decoder(struct load_hf *h, uint32_t node, unsigned kind)
{
    struct spec_decoder *d = &h->spec->decoders[h->spec->decoder_count++];
    enum leat_status s = LEAT_OK;
    bool ignored;

    *d = (struct spec_decoder) { .kind = (enum spec_decoder_kind)kind };
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
        s = load_hf_replaced(h, node, &d->pattern);
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
    case SPEC_DECODE_CTC:
        s = load_hf_text(h, node, "pad_token", false, &d->content);
        if (s == LEAT_OK)
            s = load_hf_text(h, node, "word_delimiter_token", false, &d->delimiter);
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

static const struct load_hf_row decoder_rows[] = {
    { "BPEDecoder", SPEC_DECODE_BPE, read_decoder, "suffix", NULL },
    { "ByteLevel", SPEC_DECODE_BYTE_LEVEL, read_decoder, NULL, NULL },
    { "WordPiece", SPEC_DECODE_WORDPIECE, read_decoder, "prefix cleanup", NULL },
    { "Metaspace", SPEC_DECODE_METASPACE, read_decoder, METASPACE_FIELDS, NULL },
    { "CTC", SPEC_DECODE_CTC, read_decoder, "pad_token word_delimiter_token cleanup", NULL },
    { .type = "Sequence" },
    { "Replace", SPEC_DECODE_REPLACE, read_decoder, "pattern content", NULL },
    { "Fuse", SPEC_DECODE_FUSE, read_decoder, NULL, NULL },
    { "Strip", SPEC_DECODE_STRIP, read_decoder, "content start stop", NULL },
    { "ByteFallback", SPEC_DECODE_BYTE_FALLBACK, read_decoder, NULL, NULL },
};

enum leat_status load_hf_decoder(struct load_hf *h, uint32_t node)
{
    static const struct load_hf_family family = { "decoder", "decoders", decoder_rows,
                                                  sizeof decoder_rows / sizeof decoder_rows[0] };
    enum leat_status s;

    h->spec->decoders = load_hf_component_room(h, node, sizeof *h->spec->decoders, &s);
    if (s == LEAT_OK)
        s = load_hf_components(h, &family, node, &h->spec->decoder_count);
    /* An empty Sequence joins the tokens as they are; without any decoder spaces would come between them. */
    if (s == LEAT_OK && h->spec->decoder_count == 0)
        h->spec->decoders[h->spec->decoder_count++].kind = SPEC_DECODE_FUSE;
    return s;
}
