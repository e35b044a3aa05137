/*
 * load_hf.c: see load_hf.h.
 *
 * load_parts() reads a tokenizer.json in the order in which its members depend on each other: first the lists of the
 * pipeline (load_hf_stations.c), because they decide whether tokens are written in mapped bytes; then the model, and
 * last the added tokens, whose ids depend on the model's vocabulary (load_hf_tokens.c). The readers of typed members
 * are here too. They know the place in the file for sentences, and report a missing member or a wrong type in the same
 * words everywhere. Last comes what leat does not use, but the reference must be able to read.
 */
#include "load_hf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/show.h"
#include "base/utf8.h"
#include "load.h"

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

STATUS_PRINTF(4, 0)
static enum leat_status report(struct load_hf *h, enum leat_status status, uint32_t node, const char *format,
                               va_list args)
{
    uint64_t at = jsontree_at(h->j, node);
    char sentence[512];

    vsnprintf(sentence, sizeof sentence, format, args);
    return status_set_at(h->err, status, at, "%s: %s: %s (byte %" PRIu64 ")", h->j->path, h->place, sentence, at);
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

/* ---- Typed members ----------------------------------------------------------------------------------------------- */

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

/* ---- What leat does not use -------------------------------------------------------------------------------------- */

/*
 * Truncation, padding and the post-processor do not decide how documents are encoded. But the reference opens no file
 * in which it cannot read them.
 *
 * There they are Rust's structs and enums, and serde reads them: a struct from an object, or from an array of all its
 * fields in order; a member given twice, or lacking, is an error; members that the struct lacks are not looked at. A
 * variant without a value is its name, or {name: null}; one with a value is {name: value}. Here each such type is a
 * table (struct shape), and fits() compares a value with it; how deep shapes lie in each other is up to the tables, not
 * to the file. Of the post-processor, put_processor() then finds what it puts around texts.
 */

enum shape_kind {
    SHAPE_BOOL,
    SHAPE_STRING,
    SHAPE_ID,      /* of 32 bits */
    SHAPE_NUMBER,  /* of 64 bits */
    SHAPE_STRUCT,  /* `fields` */
    SHAPE_MEMBERS, /* a struct that is never an array */
    SHAPE_TUPLE,   /* one that is always an array */
    SHAPE_ENUM,    /* `fields`: its variants, `shape` NULL for one without a value */
    SHAPE_LIST,    /* `of` each; NULL: anything */
    SHAPE_MAP      /* likewise, from strings */
};

struct shape {
    enum shape_kind kind;
    const char *is; /* for sentences: "a string" */
    const struct field *fields;
    uint32_t count;
    const struct shape *of;
};

struct field {
    const char *name;
    const struct shape *shape;
    enum load_hf_need need;
};

#define FIELDS(array) .fields = (array), .count = sizeof(array) / sizeof(array)[0]

/* What is wrong. */
struct misfit {
    uint32_t node;
    const char *name, *is; /* the member, NULL: none; what it must be; NULL: it is missing or given twice */
    bool twice;
};

static bool fits(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m);

static const struct shape a_bool = { .kind = SHAPE_BOOL, .is = "true or false" };
static const struct shape a_string = { .kind = SHAPE_STRING, .is = "a string" };
static const struct shape an_id = { .kind = SHAPE_ID, .is = "a whole number below 2^32" };
static const struct shape a_number = { .kind = SHAPE_NUMBER, .is = "a whole number, not negative" };
/* Of anything. */
static const struct shape a_list = { .kind = SHAPE_LIST, .is = "an array" };

static bool fits_number(const struct jsontree *j, uint32_t node, uint64_t max)
{
    uint64_t number;

    return jsontree_u64(j, node, &number) && number <= max;
}

/* The elements of an array or the values of an object. */
static bool fits_each(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m)
{
    bool map = shape->kind == SHAPE_MAP;
    struct misfit whole = *m;

    if (j->nodes[node].kind != (map ? JSONTREE_OBJECT : JSONTREE_ARRAY))
        return false;
    for (uint32_t k = node + 1 + map; shape->of && k < jsontree_next(j, node); k = jsontree_next(j, k) + map)
        if (!fits(j, k, shape->of, m)) {
            if (m->node == k && m->is)
                *m = whole; /* "an array of ids" says more */
            return false;
        }
    return true;
}

static bool fits_variant(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct field *variant = &shape->fields[i];

        if (!variant->shape && load_hf_names(j, node, variant->name))
            return true;
        if (variant->shape && j->nodes[node].kind == JSONTREE_OBJECT && j->nodes[node].length == 1 &&
            jsontree_is(j, node + 1, variant->name))
            return fits(j, node + 2, variant->shape, m);
    }
    return false;
}

static bool fits_array(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m)
{
    struct misfit whole = *m;
    uint32_t k = node + 1;

    if (j->nodes[node].length != shape->count)
        return false;
    for (uint32_t i = 0; i < shape->count; i++, k = jsontree_next(j, k)) {
        bool null = shape->fields[i].need == LOAD_HF_OPTION && j->nodes[k].kind == JSONTREE_NULL;

        if (!null && !fits(j, k, shape->fields[i].shape, m)) {
            *m = whole;
            return false;
        }
    }
    return true;
}

static bool fits_object(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct field *f = &shape->fields[i];
        uint32_t member = jsontree_member(j, node, f->name);
        bool twice = load_hf_twice(j, node, f->name);

        if (twice || (member == JSONTREE_NONE && f->need == LOAD_HF_REQUIRED)) {
            *m = (struct misfit) { node, f->name, NULL, twice };
            return false;
        }
        if (member == JSONTREE_NONE || (f->need == LOAD_HF_OPTION && j->nodes[member].kind == JSONTREE_NULL))
            continue;
        m->name = f->name;
        if (!fits(j, member, f->shape, m))
            return false;
    }
    return true;
}

static bool fits(const struct jsontree *j, uint32_t node, const struct shape *shape, struct misfit *m)
{
    enum jsontree_kind kind = j->nodes[node].kind;

    m->node = node;
    m->is = shape->is;
    switch (shape->kind) {
    case SHAPE_BOOL:
        return kind == JSONTREE_FALSE || kind == JSONTREE_TRUE;
    case SHAPE_STRING:
        return kind == JSONTREE_STRING;
    case SHAPE_ID:
        return fits_number(j, node, UINT32_MAX);
    case SHAPE_NUMBER:
        return fits_number(j, node, UINT64_MAX);
    case SHAPE_ENUM:
        return fits_variant(j, node, shape, m);
    case SHAPE_LIST:
    case SHAPE_MAP:
        return fits_each(j, node, shape, m);
    default:
        if (kind == JSONTREE_ARRAY)
            return shape->kind != SHAPE_MEMBERS && fits_array(j, node, shape, m);
        return kind == JSONTREE_OBJECT && shape->kind != SHAPE_TUPLE && fits_object(j, node, shape, m);
    }
}

static enum leat_status wrong(struct load_hf *h, const struct misfit *m)
{
    if (!m->is)
        return load_hf_wrong(h, m->node, m->twice ? "it has \"%s\" twice" : "it lacks \"%s\"", m->name);
    if (!m->name)
        return load_hf_wrong(h, m->node, "it must be %s, not %s", m->is, jsontree_kind_name(h->j, m->node));
    return load_hf_wrong(h, m->node, "\"%s\" must be %s", m->name, m->is);
}

/* A field of a struct that fits. */
static uint32_t field(const struct jsontree *j, uint32_t node, const struct shape *shape, const char *name)
{
    uint32_t k = node + 1;

    if (j->nodes[node].kind == JSONTREE_OBJECT)
        return jsontree_member(j, node, name);
    for (uint32_t i = 0; strcmp(shape->fields[i].name, name) != 0; i++)
        k = jsontree_next(j, k);
    return k;
}

/* ---- Truncation and padding -------------------------------------------------------------------------------------- */

static const struct field direction_fields[] = { { .name = "Left" }, { .name = "Right" } };
static const struct shape direction = { SHAPE_ENUM, "Left or Right", FIELDS(direction_fields) };

static enum leat_status check(struct load_hf *h, uint32_t node, const char *place, const struct shape *shape)
{
    struct misfit m = { 0 };

    h->place = place;
    return fits(h->j, node, shape, &m) ? LEAT_OK : wrong(h, &m);
}

/* Of these, leat uses nothing. */
static enum leat_status load_hf_truncation(struct load_hf *h, uint32_t node)
{
    static const struct field strategies[] = { { .name = "LongestFirst" },
                                               { .name = "OnlyFirst" },
                                               { .name = "OnlySecond" } };
    static const struct shape strategy = { SHAPE_ENUM, "LongestFirst, OnlyFirst or OnlySecond", FIELDS(strategies) };
    static const struct field fields[] = {
        { "direction", &direction, LOAD_HF_DEFAULT },
        { "max_length", &a_number, LOAD_HF_REQUIRED },
        { "strategy", &strategy, LOAD_HF_REQUIRED },
        { "stride", &a_number, LOAD_HF_REQUIRED },
    };
    static const struct shape shape = { SHAPE_STRUCT, "an object or null", FIELDS(fields) };

    return check(h, node, "truncation", &shape);
}

static enum leat_status load_hf_padding(struct load_hf *h, uint32_t node)
{
    static const struct field strategies[] = { { .name = "BatchLongest" }, { "Fixed", &a_number, LOAD_HF_REQUIRED } };
    static const struct shape strategy = { SHAPE_ENUM, "BatchLongest or {\"Fixed\": length}", FIELDS(strategies) };
    static const struct field fields[] = {
        { "strategy", &strategy, LOAD_HF_REQUIRED },         { "direction", &direction, LOAD_HF_REQUIRED },
        { "pad_to_multiple_of", &a_number, LOAD_HF_OPTION }, { "pad_id", &an_id, LOAD_HF_REQUIRED },
        { "pad_type_id", &an_id, LOAD_HF_REQUIRED },         { "pad_token", &a_string, LOAD_HF_REQUIRED },
    };
    static const struct shape shape = { SHAPE_STRUCT, "an object or null", FIELDS(fields) };

    return check(h, node, "padding", &shape);
}

/* ---- Post-processors --------------------------------------------------------------------------------------------- */

static const struct field token_fields[] = { { "0", &a_string, LOAD_HF_REQUIRED }, { "1", &an_id, LOAD_HF_REQUIRED } };
static const struct shape token = { SHAPE_TUPLE, "an array of a token and its id", FIELDS(token_fields) };

static const struct field bert_fields[] = { { "sep", &token, LOAD_HF_REQUIRED }, { "cls", &token, LOAD_HF_REQUIRED } };
static const struct shape bert = { SHAPE_STRUCT, "an object", FIELDS(bert_fields) };

static const struct field roberta_fields[] = { { "sep", &token, LOAD_HF_REQUIRED },
                                               { "cls", &token, LOAD_HF_REQUIRED },
                                               { "trim_offsets", &a_bool, LOAD_HF_REQUIRED },
                                               { "add_prefix_space", &a_bool, LOAD_HF_REQUIRED } };
static const struct shape roberta = { SHAPE_STRUCT, "an object", FIELDS(roberta_fields) };

static const struct field byte_level_types[] = { { .name = "ByteLevel" } };
static const struct shape byte_level_type = { SHAPE_ENUM, "ByteLevel", FIELDS(byte_level_types) };
static const struct field byte_level_fields[] = {
    { "type", &byte_level_type, LOAD_HF_REQUIRED },
    { "add_prefix_space", &a_bool, LOAD_HF_REQUIRED },
    { "trim_offsets", &a_bool, LOAD_HF_REQUIRED },
    { "use_regex", &a_bool, LOAD_HF_DEFAULT },
};
static const struct shape byte_level = { SHAPE_MEMBERS, "an object", FIELDS(byte_level_fields) };

static const struct field texts[] = { { .name = "A" }, { .name = "B" } };
static const struct shape text = { SHAPE_ENUM, "A or B", FIELDS(texts) };
static const struct field text_fields[] = { { "id", &text, LOAD_HF_REQUIRED },
                                            { "type_id", &an_id, LOAD_HF_REQUIRED } };
static const struct shape text_piece = { SHAPE_STRUCT, "an object", FIELDS(text_fields) };
static const struct field special_fields[] = { { "id", &a_string, LOAD_HF_REQUIRED },
                                               { "type_id", &an_id, LOAD_HF_REQUIRED } };
static const struct shape special_piece = { SHAPE_STRUCT, "an object", FIELDS(special_fields) };
static const struct field pieces[] = { { "Sequence", &text_piece, LOAD_HF_REQUIRED },
                                       { "SpecialToken", &special_piece, LOAD_HF_REQUIRED } };
static const struct shape piece = { SHAPE_ENUM, "Sequence or SpecialToken", FIELDS(pieces) };
static const struct shape pieces_list = { SHAPE_LIST, "an array of Sequence and SpecialToken", .of = &piece };

static const struct shape ids = { SHAPE_LIST, "an array of ids", .of = &an_id };
static const struct shape strings = { SHAPE_LIST, "an array of strings", .of = &a_string };
static const struct field tokens_fields[] = { { "id", &a_string, LOAD_HF_REQUIRED },
                                              { "ids", &ids, LOAD_HF_REQUIRED },
                                              { "tokens", &strings, LOAD_HF_REQUIRED } };
static const struct shape tokens = { SHAPE_STRUCT, "an object", FIELDS(tokens_fields) };
static const struct shape tokens_map = { SHAPE_MAP, "an object", .of = &tokens };

static const struct field template_fields[] = { { "single", &pieces_list, LOAD_HF_REQUIRED },
                                                { "pair", &pieces_list, LOAD_HF_REQUIRED },
                                                { "special_tokens", &tokens_map, LOAD_HF_REQUIRED } };
static const struct shape template = { SHAPE_STRUCT, "an object", FIELDS(template_fields) };

static const struct field sequence_types[] = { { .name = "Sequence" } };
static const struct shape sequence_type = { SHAPE_ENUM, "Sequence", FIELDS(sequence_types) };
static const struct field sequence_fields[] = { { "type", &sequence_type, LOAD_HF_REQUIRED },
                                                { "processors", &a_list, LOAD_HF_REQUIRED } };
static const struct shape sequence = { SHAPE_MEMBERS, "an object", FIELDS(sequence_fields) };

/*
 * ---- What stands around texts ----
 *
 * In the reference, a processor of a Sequence takes what the one before made, where each token of a template is a text
 * of its own: a second template takes two texts for a pair, and fails on more. So after a processor that adds tokens,
 * only ByteLevel, which adds nothing, is understood here.
 */

/* A token of a side. */
static bool put_around(struct load_hf *h, uint32_t *side, uint32_t node)
{
    uint64_t id;

    if (!jsontree_u64(h->j, node, &id) || id >= h->spec->vocabulary_size || *side != SPEC_NONE)
        return false;
    *side = (uint32_t)id;
    return true;
}

/* "cls" and "sep", with which RobertaProcessing's fields begin, too. */
static bool put_pair(struct load_hf *h, uint32_t processor, struct spec_around *around)
{
    uint32_t cls = field(h->j, processor, &bert, "cls"), sep = field(h->j, processor, &bert, "sep");

    return put_around(h, &around->before, field(h->j, cls, &token, "1")) &&
           put_around(h, &around->after, field(h->j, sep, &token, "1"));
}

static bool same_text(const struct jsontree *j, uint32_t a, uint32_t b)
{
    struct jsontree_text x = jsontree_string(j, a), y = jsontree_string(j, b);

    return x.length == y.length && memcmp(x.bytes, y.bytes, x.length) == 0;
}

/* The ids of a special token in a template, which the reference demands when it encodes. */
static bool put_special(struct load_hf *h, uint32_t all, uint32_t *side, uint32_t name)
{
    const struct jsontree *j = h->j;
    uint32_t found = JSONTREE_NONE;
    bool good = true;

    for (uint32_t k = all + 1; k < jsontree_next(j, all); k = jsontree_next(j, k + 1))
        if (same_text(j, k, name))
            found = field(j, k + 1, &tokens, "ids");
    if (found == JSONTREE_NONE)
        return false;
    for (uint32_t k = found + 1; good && k < jsontree_next(j, found); k = jsontree_next(j, k))
        good = put_around(h, side, k);
    return good;
}

static bool put_template(struct load_hf *h, uint32_t processor, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    uint32_t single = field(j, processor, &template, "single"), count = 0;
    uint32_t all = field(j, processor, &template, "special_tokens");
    bool good = true;

    for (uint32_t k = single + 1; good && k < jsontree_next(j, single); k = jsontree_next(j, k)) {
        uint32_t name = field(j, k + 2, &text_piece, "id");

        if (jsontree_is(j, k + 1, "Sequence"))
            good = count++ == 0 && load_hf_names(j, name, "A");
        else
            good = put_special(h, all, count == 0 ? &around->before : &around->after, name);
    }
    return good && count == 1;
}

static bool put_nothing(struct load_hf *h, uint32_t processor, struct spec_around *around)
{
    (void)h;
    (void)processor;
    (void)around;
    return true;
}

/* The reference takes the first whose members are there; only two of them look at their type. */
static const struct processor {
    const char *type;
    const struct shape *shape;
    bool (*put)(struct load_hf *h, uint32_t processor, struct spec_around *around);
} processors[] = {
    { "RobertaProcessing", &roberta, put_pair },
    { "BertProcessing", &bert, put_pair },
    { "ByteLevel", &byte_level, put_nothing },
    { "TemplateProcessing", &template, put_template },
    { "Sequence", &sequence, NULL }, /* of others */
};
#define PROCESSORS (sizeof processors / sizeof processors[0])

/* None fits: says what is wrong with the one that it is called. */
static enum leat_status refuse_processor(struct load_hf *h, uint32_t node)
{
    uint32_t type = jsontree_member(h->j, node, "type");
    struct misfit m = { 0 };

    for (size_t i = 0; type != JSONTREE_NONE && i < PROCESSORS; i++)
        if (load_hf_names(h->j, type, processors[i].type)) {
            h->place = processors[i].type;
            fits(h->j, node, processors[i].shape, &m);
            return wrong(h, &m);
        }
    return load_hf_wrong(h, node, "it has the members of no post-processor");
}

static bool is_alone(const struct spec_around *around)
{
    return around->before == SPEC_NONE && around->after == SPEC_NONE;
}

/* One processor, or a Sequence of them. Sets around->other if that is more than one token on a side, or not
 * understood. Sequences in each other are as deep as brackets may be. */
static enum leat_status put_processor(struct load_hf *h, uint32_t node, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    struct misfit m = { 0 };
    const struct processor *p = processors;
    enum leat_status s = LEAT_OK;
    uint32_t list;

    while (p < processors + PROCESSORS && !fits(j, node, p->shape, &m))
        p++;
    if (p == processors + PROCESSORS)
        return refuse_processor(h, node);
    if (p->put) {
        if ((p->put != put_nothing && !is_alone(around)) || !p->put(h, node, around))
            around->other = true;
        return LEAT_OK;
    }
    list = field(j, node, &sequence, "processors");
    for (uint32_t k = list + 1; s == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k))
        s = put_processor(h, k, around);
    return s;
}

/* The post-processor, after all tokens; fills in spec->around. */
static enum leat_status load_hf_around(struct load_hf *h, uint32_t node)
{
    struct spec_around around = { SPEC_NONE, SPEC_NONE, false };
    enum leat_status s;

    h->place = "post_processor";
    s = put_processor(h, node, &around);
    if (around.other)
        around = (struct spec_around) { SPEC_NONE, SPEC_NONE, true };
    h->spec->around = around;
    return s;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

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
