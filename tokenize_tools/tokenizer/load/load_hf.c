/*
 * load_hf.c: see load_hf.h.
 *
 * load_parts() reads a tokenizer.json in the order in which its members depend on each other: first the lists of the
 * pipeline (load_hf_stations.c), because they decide whether tokens are written in mapped bytes; then the model, and
 * last the added tokens, whose ids depend on the model's vocabulary (load_hf_tokens.c). The readers of typed members
 * are here too. They know the place in the file for sentences, and report a missing member or a wrong type in the same
 * words everywhere.
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

/* ---- What stands around texts ------------------------------------------------------------------------------------ */

/*
 * Truncation and padding do not decide how documents are encoded, so nobody looks at them. Of the post-processor only
 * the tokens count that it puts around single texts.
 *
 * A processor may be an array of all its members in order, and so may each struct in it. The reference takes the first
 * kind whose members are there; only ByteLevel and Sequence look at their type. In a Sequence, a processor takes what
 * the one before made, where each token of a template is a text of its own: a second template takes two texts for a
 * pair, and fails on more. So after a processor that adds tokens, only ByteLevel, which adds nothing, is understood
 * here.
 */

static enum jsontree_kind kind_of(const struct jsontree *j, uint32_t node)
{
    return node == JSONTREE_NONE ? JSONTREE_NULL : (enum jsontree_kind)j->nodes[node].kind;
}

/* A member, which stands at place `at` if its struct is an array; JSONTREE_NONE if it is missing. */
static uint32_t field(const struct jsontree *j, uint32_t node, const char *name, uint32_t at)
{
    uint32_t k = node + 1;

    if (kind_of(j, node) == JSONTREE_OBJECT)
        return jsontree_member(j, node, name);
    if (kind_of(j, node) != JSONTREE_ARRAY || at >= j->nodes[node].length)
        return JSONTREE_NONE;
    while (at-- > 0)
        k = jsontree_next(j, k);
    return k;
}

/* A token of a side. */
static bool put_around(struct load_hf *h, uint32_t *side, uint32_t node)
{
    uint64_t id;

    if (!jsontree_u64(h->j, node, &id) || id >= h->spec->vocabulary_size || *side != SPEC_NONE)
        return false;
    *side = (uint32_t)id;
    return true;
}

/* [token, id] */
static bool is_token(const struct jsontree *j, uint32_t node)
{
    uint64_t id;

    return kind_of(j, node) == JSONTREE_ARRAY && j->nodes[node].length == 2 &&
           kind_of(j, node + 1) == JSONTREE_STRING && jsontree_u64(j, node + 2, &id);
}

/* The ids of a special token in a template, which the reference demands when it encodes. */
static bool put_special(struct load_hf *h, uint32_t all, uint32_t *side, uint32_t name)
{
    const struct jsontree *j = h->j;
    uint32_t ids = JSONTREE_NONE;
    struct jsontree_text t;
    bool good = true;

    if (kind_of(j, name) != JSONTREE_STRING)
        return false;
    t = jsontree_string(j, name);
    for (uint32_t k = all + 1; k < jsontree_next(j, all); k = jsontree_next(j, k + 1)) {
        struct jsontree_text other = jsontree_string(j, k);

        if (other.length == t.length && memcmp(other.bytes, t.bytes, t.length) == 0)
            ids = field(j, k + 1, "ids", 1);
    }
    if (kind_of(j, ids) != JSONTREE_ARRAY)
        return false;
    for (uint32_t k = ids + 1; good && k < jsontree_next(j, ids); k = jsontree_next(j, k))
        good = put_around(h, side, k);
    return good;
}

/* `single`: {"Sequence": {"id": "A"}} for the text, and {"SpecialToken": {"id": name}}. */
static bool put_template(struct load_hf *h, uint32_t single, uint32_t all, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    uint32_t texts = 0;
    bool good = true;

    for (uint32_t k = single + 1; good && k < jsontree_next(j, single); k = jsontree_next(j, k)) {
        uint32_t text = field(j, k, "Sequence", UINT32_MAX), name;

        name = field(j, text == JSONTREE_NONE ? field(j, k, "SpecialToken", UINT32_MAX) : text, "id", 0);
        if (name == JSONTREE_NONE)
            good = false;
        else if (text == JSONTREE_NONE)
            good = put_special(h, all, texts == 0 ? &around->before : &around->after, name);
        else
            good = texts++ == 0 && load_hf_names(j, name, "A");
    }
    return good && texts == 1;
}

static bool has_type(const struct jsontree *j, uint32_t node, const char *type)
{
    uint32_t found = jsontree_member(j, node, "type");

    return found != JSONTREE_NONE && load_hf_names(j, found, type);
}

/* One processor, or a Sequence of them, in each other as deep as brackets may be. Sets around->other if that is more
 * than one token on a side, or not understood. */
static enum leat_status put_processor(struct load_hf *h, uint32_t node, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    uint32_t sep = field(j, node, "sep", 0), cls = field(j, node, "cls", 1);
    uint32_t single = field(j, node, "single", 0), all = field(j, node, "special_tokens", 2);
    uint32_t list = jsontree_member(j, node, "processors");
    bool alone = around->before == SPEC_NONE && around->after == SPEC_NONE;
    enum leat_status s = LEAT_OK;

    if (is_token(j, sep) && is_token(j, cls)) {
        around->other |= !alone || !put_around(h, &around->before, cls + 2) || !put_around(h, &around->after, sep + 2);
    } else if (has_type(j, node, "ByteLevel")) {
        return LEAT_OK;
    } else if (kind_of(j, single) == JSONTREE_ARRAY && kind_of(j, all) == JSONTREE_OBJECT) {
        around->other |= !alone || !put_template(h, single, all, around);
    } else if (has_type(j, node, "Sequence") && kind_of(j, list) == JSONTREE_ARRAY) {
        for (uint32_t k = list + 1; s == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k))
            s = put_processor(h, k, around);
    } else {
        return load_hf_wrong(h, node, "it has the members of no post-processor");
    }
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

    if (j->nodes[0].kind != JSONTREE_OBJECT)
        return load_hf_wrong(&h, 0, "it holds %s, not an object", jsontree_kind_name(j, 0));
    spec->dialect = SPEC_ONIGURUMA;
    s = check_version(&h);
    if (s == LEAT_OK)
        s = check_names(&h);
    if (s == LEAT_OK)
        s = load_parts(&h);
    string_map_free(&h.vocab);
    return s;
}
