/*
 * load_hf.c: load_parts() reads a tokenizer.json in the order in which its members depend on each other: first the
 * lists of the pipeline (load_hf_stations.c), because they decide whether tokens are written in mapped bytes; then the
 * model, and last the added tokens, whose ids depend on the model's vocabulary. Each kind of model reads its own
 * section (struct model_kind), with the functions here for members that several kinds have. Single members
 * are read by load_hf_members.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/utf8.h"
#include "load.h"
#include "load_hf.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

/* Number of places in the map that are fetched together. */
#define BATCH 32u

/* ---- Vocabulary -------------------------------------------------------------------------------------------------- */

static enum leat_status add_token(struct load_hf *h, uint32_t key, uint64_t hash)
{
    struct jsontree_text t = jsontree_string(h->j, key);
    char shown[80];
    uint64_t id;
    bool found;

    if (!jsontree_u64(h->j, key + 1, &id) || id > UINT32_MAX)
        return load_hf_wrong(h, key, "the id of the token \"%s\" must be a whole number below 2^32",
                             load_hf_show(h->j, key, shown));
    if (id > SPEC_MAX_ID)
        return load_hf_refuse(h, key, "the token \"%s\" has the id %" PRIu64 "; ids above %u are not supported",
                              load_hf_show(h->j, key, shown), id, (unsigned)SPEC_MAX_ID);
    h->vocab.entries[string_map_add(&h->vocab, hash, t.bytes, t.length, &found)].value = (uint32_t)id;
    return LEAT_OK;
}

enum leat_status load_hf_vocabulary(struct load_hf *h, uint32_t model)
{
    const struct jsontree_node *nodes = h->j->nodes;
    uint32_t vocab = jsontree_member(h->j, model, "vocab"), keys[BATCH], count;
    uint64_t hashes[BATCH];
    enum leat_status s;

    if (vocab == JSONTREE_NONE || nodes[vocab].kind != JSONTREE_OBJECT)
        return load_hf_wrong(h, vocab == JSONTREE_NONE ? model : vocab, "\"vocab\" must be an object, but is %s",
                             jsontree_kind_name(h->j, vocab));
    if (!string_map_init(&h->vocab, nodes[vocab].length))
        return status_no_memory(h->err, (uint64_t)nodes[vocab].length * 32);
    for (uint32_t k = vocab + 1; k < jsontree_next(h->j, vocab);) {
        for (count = 0; count < BATCH && k < jsontree_next(h->j, vocab); k = jsontree_next(h->j, k + 1)) {
            struct jsontree_text t = jsontree_string(h->j, k);

            keys[count] = k;
            hashes[count] = string_map_hash(&h->vocab, t.bytes, t.length);
            string_map_prefetch(&h->vocab, hashes[count++]);
        }
        for (uint32_t i = 0; i < count; i++) {
            s = add_token(h, keys[i], hashes[i]);
            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

enum leat_status load_hf_token_room(struct load_hf *h, size_t count, uint64_t bytes)
{
    struct tokenizer_spec *spec = h->spec;

    byte_alphabet_init(&h->alphabet);
    spec->tokens = big_alloc((count + 1) * sizeof *spec->tokens);
    spec->text = big_alloc(bytes + 1);
    return spec->tokens && spec->text ? LEAT_OK : status_no_memory(h->err, count * sizeof *spec->tokens + bytes);
}

void load_hf_put_token(struct load_hf *h, struct jsontree_text text, uint32_t id)
{
    struct tokenizer_spec *spec = h->spec;
    struct spec_token t = {
        .id = id, .offset = (uint32_t)spec->text_bytes, .length = text.length, .type = SPEC_NORMAL
    };
    uint8_t *to = (uint8_t *)(uintptr_t)spec->text + spec->text_bytes;

    t.foreign = spec->byte_level && !byte_alphabet_decode(&h->alphabet, to, &t.length, text.bytes, text.length);
    if (!spec->byte_level || t.foreign)
        memcpy(to, text.bytes, text.length);
    spec->text_bytes += t.length;
    spec->tokens[spec->token_count++] = t;
}

enum leat_status load_hf_tokens(struct load_hf *h)
{
    const struct string_map_entry *entries = h->vocab.entries;
    uint64_t bytes = 0;
    enum leat_status s;

    for (uint32_t i = 0; i < h->vocab.count; i++)
        bytes += entries[i].length;
    s = load_hf_token_room(h, h->vocab.count, bytes);
    for (uint32_t i = 0; s == LEAT_OK && i < h->vocab.count; i++)
        load_hf_put_token(h, (struct jsontree_text) { entries[i].bytes, entries[i].length }, entries[i].value);
    return s;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

enum leat_status load_hf_unknown(struct load_hf *h, uint32_t model)
{
    struct jsontree_text t;
    uint32_t node, entry;
    enum leat_status s = load_hf_string(h, model, "unk_token", LOAD_HF_OPTION, &node);

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    t = jsontree_string(h->j, node);
    entry = string_map_find(&h->vocab, string_map_hash(&h->vocab, t.bytes, t.length), t.bytes, t.length);
    if (entry != STRING_MAP_NONE)
        h->spec->unknown = h->vocab.entries[entry].value;
    return spec_copy(h->spec, &h->spec->unknown_text, t.bytes, t.length) ? LEAT_OK : status_no_memory(h->err, t.length);
}

enum leat_status load_hf_affix(struct load_hf *h, uint32_t model, const char *name, enum load_hf_need need,
                               struct spec_string *out)
{
    struct byte_alphabet alphabet;
    struct jsontree_text t;
    uint32_t node, length;
    uint8_t *bytes;
    enum leat_status s = load_hf_string(h, model, name, need, &node);

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    t = jsontree_string(h->j, node);
    length = t.length;
    if (length > SPEC_MAX_AFFIX)
        return load_hf_refuse(h, node, "\"%s\" is longer than %d bytes, which is not supported", name, SPEC_MAX_AFFIX);
    bytes = spec_alloc(h->spec, (size_t)length + 1);
    if (!bytes)
        return status_no_memory(h->err, length);
    byte_alphabet_init(&alphabet);
    if (!h->spec->byte_level)
        memcpy(bytes, t.bytes, length);
    else /* cannot fail: find_byte_level() has decoded it */
        byte_alphabet_decode(&alphabet, bytes, &length, t.bytes, t.length);
    *out = (struct spec_string) { bytes, length };
    return LEAT_OK;
}

/* ---- The kind of model ------------------------------------------------------------------------------------------- */

static struct model_row row_of_type(const struct load_hf *h, uint32_t type)
{
    struct model_row row;

    for (size_t i = 0; (row = model_row(i)).kind; i++)
        if (row.kind->type && load_hf_names(h->j, type, row.kind->type))
            break;
    return row;
}

/* Returns the row to which the members of a model without a type belong, for the sentence about a model that cannot
 * be read. */
static struct model_row row_of_members(const struct load_hf *h, uint32_t model)
{
    struct model_row row;

    for (size_t i = 0; (row = model_row(i)).kind; i++)
        if (row.kind->member && jsontree_member(h->j, model, row.kind->member) != JSONTREE_NONE)
            break;
    return row;
}

/* Returns the types of the table, for sentences. */
static const char *known_types(char *room, size_t size)
{
    size_t used = 0;

    room[0] = '\0';
    for (size_t i = 0; model_row(i).kind && used < size; i++)
        if (model_row(i).kind->type)
            used += (size_t)snprintf(room + used, size - used, "%s%s", used ? ", " : "", model_row(i).kind->type);
    return room;
}

static enum leat_status refuse_type(struct load_hf *h, uint32_t model, uint32_t type)
{
    char shown[80], known[200];

    known_types(known, sizeof known);
    if (type == JSONTREE_NONE)
        return load_hf_refuse(h, model, "missing \"type\", and no member implies it; supported: %s", known);
    return load_hf_refuse(h, type, "unknown type \"%s\"; supported: %s", load_hf_show(h->j, type, shown), known);
}

static enum leat_status read_row(struct load_hf *h, struct model_row row, uint32_t node)
{
    snprintf(h->model_place, sizeof h->model_place, "model %s", row.kind->type);
    h->place = h->model_place;
    h->spec->model = row.number;
    return row.kind->read(h, node);
}

/* Drops what a reader left behind when it failed. */
static void forget(struct load_hf *h)
{
    struct tokenizer_spec *spec = h->spec;

    string_map_free(&h->vocab);
    free(spec->tokens);
    free((void *)(uintptr_t)spec->text);
    free(spec->merges);
    spec->tokens = NULL;
    spec->text = NULL;
    spec->merges = NULL;
    spec->token_count = spec->merge_count = 0;
    spec->text_bytes = 0;
    spec->unknown = SPEC_NONE;
    spec->byte_fallback = spec->fuse_unknown = spec->ignore_merges = false;
    spec->unknown_text = spec->continuing_prefix = spec->word_suffix = (struct spec_string) { 0 };
    spec->model_data = NULL;
}

/* Reads a section without a type as the first kind that can read it, as the reference does. */
static enum leat_status guess(struct load_hf *h, uint32_t node)
{
    struct model_row row;
    enum leat_status s;

    for (size_t i = 0; (row = model_row(i)).kind; i++) {
        if (!row.kind->type)
            continue;
        s = read_row(h, row, node);
        if (s != LEAT_E_VOCABULARY)
            return s;
        forget(h);
    }
    row = row_of_members(h, node);
    if (row.kind)
        return read_row(h, row, node);
    h->place = "model";
    return refuse_type(h, node, JSONTREE_NONE);
}

static enum leat_status read_model(struct load_hf *h, uint32_t node)
{
    uint32_t type;
    struct model_row row;

    h->place = "model";
    if (h->j->nodes[node].kind != JSONTREE_OBJECT)
        return load_hf_wrong(h, node, "it must be an object, not %s", jsontree_kind_name(h->j, node));
    type = jsontree_member(h->j, node, "type");
    if (type == JSONTREE_NONE)
        return guess(h, node);
    row = row_of_type(h, type);
    if (!row.kind)
        return refuse_type(h, node, type);
    if (load_hf_twice(h->j, node, "type"))
        return load_hf_wrong(h, node, "it has \"type\" twice");
    return read_row(h, row, node);
}

/* ---- Added tokens ------------------------------------------------------------------------------------------------ */

/*
 * Added tokens. The ids written beside them do not count in the reference: a token whose content is in the model's
 * vocabulary has that id, any other gets the next one, from the size of the vocabulary on. Content given twice keeps
 * its id, with the later flags; of two contents that come to one id (a vocabulary with holes) only the later is
 * looked for.
 */

struct adding {
    struct load_hf *h;
    struct string_map contents; /* value: the id */
    bool *special;              /* by content: true if the token was given as special at least once */
    struct string_map ids;      /* places in spec->added by the four bytes of an id */
    uint32_t next;
};

/* Reads an id, which does not count but must be one. */
static enum leat_status read_declared(struct load_hf *h, uint32_t node)
{
    uint32_t id = jsontree_member(h->j, node, "id");
    uint64_t number;

    if (id == JSONTREE_NONE)
        return load_hf_wrong(h, node, "it lacks \"id\"");
    if (!jsontree_u64(h->j, id, &number) || number > UINT32_MAX)
        return load_hf_wrong(h, id, "\"id\" must be a whole number below 2^32");
    return LEAT_OK;
}

static enum leat_status read_flags(struct load_hf *h, uint32_t node, struct spec_added *a)
{
    static const char *const names[] = { "id", "content", "single_word", "lstrip", "rstrip", "normalized", "special" };
    enum leat_status s = read_declared(h, node);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (load_hf_twice(h->j, node, names[i]))
            return load_hf_wrong(h, node, "it has \"%s\" twice", names[i]);
    if (s == LEAT_OK)
        s = load_hf_text(h, node, "content", false, &a->content);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "single_word", LOAD_HF_REQUIRED, &a->single_word);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "lstrip", LOAD_HF_REQUIRED, &a->lstrip);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "rstrip", LOAD_HF_REQUIRED, &a->rstrip);
    if (s == LEAT_OK)
        s = load_hf_bool(h, node, "normalized", LOAD_HF_REQUIRED, &a->normalized);
    return s == LEAT_OK ? load_hf_bool(h, node, "special", LOAD_HF_REQUIRED, &a->special) : s;
}

static uint32_t id_of(struct adding *x, const struct spec_added *a)
{
    const struct string_map *vocab = &x->h->vocab;
    uint32_t entry = string_map_find(vocab, string_map_hash(vocab, a->content.bytes, a->content.length),
                                     a->content.bytes, a->content.length);

    return entry != STRING_MAP_NONE ? vocab->entries[entry].value : x->next++;
}

static enum leat_status add_listed(struct adding *x, uint32_t node)
{
    struct tokenizer_spec *spec = x->h->spec;
    struct spec_added a = { 0 };
    uint32_t content, place, *key;
    enum leat_status s;
    bool known, taken;

    if (x->h->j->nodes[node].kind != JSONTREE_OBJECT)
        return load_hf_wrong(x->h, node, "an added token must be an object, not %s", jsontree_kind_name(x->h->j, node));
    s = read_flags(x->h, node, &a);
    if (s != LEAT_OK)
        return s;
    if (a.content.length == 0) /* an empty token is never found in a text, and the reference drops it, too */
        return LEAT_OK;
    content = string_map_add(&x->contents, string_map_hash(&x->contents, a.content.bytes, a.content.length),
                             a.content.bytes, a.content.length, &known);
    a.id = known ? x->contents.entries[content].value : id_of(x, &a);
    if (a.id > SPEC_MAX_ID)
        return load_hf_refuse(x->h, node, "an added token has the id %u; ids above %u are not supported",
                              (unsigned)a.id, (unsigned)SPEC_MAX_ID);
    x->contents.entries[content].value = a.id;
    x->special[content] |= a.special;
    a.special = x->special[content];
    key = spec_alloc(spec, sizeof *key);
    if (!key)
        return status_no_memory(x->h->err, sizeof *key);
    *key = a.id;
    place =
        string_map_add(&x->ids, string_map_hash(&x->ids, key, sizeof *key), (const uint8_t *)key, sizeof *key, &taken);
    spec->added[place] = a;
    spec->added_count = x->ids.count;
    return LEAT_OK;
}

static enum leat_status read_added(struct load_hf *h, uint32_t node)
{
    const struct jsontree_node *nodes = h->j->nodes;
    struct adding x = { .h = h, .next = h->spec->token_count };
    size_t count = nodes[node].length;
    enum leat_status s = LEAT_OK;

    h->place = "added_tokens";
    if (nodes[node].kind != JSONTREE_ARRAY)
        return load_hf_wrong(h, node, "it must be an array, not %s", jsontree_kind_name(h->j, node));
    h->spec->added = spec_alloc(h->spec, count * sizeof *h->spec->added);
    x.special = spec_alloc(h->spec, count * sizeof *x.special);
    if (!h->spec->added || !x.special || !string_map_init(&x.contents, nodes[node].length) ||
        !string_map_init(&x.ids, nodes[node].length))
        s = status_no_memory(h->err, count * (sizeof *h->spec->added + 64));
    for (uint32_t k = node + 1; s == LEAT_OK && k < jsontree_next(h->j, node); k = jsontree_next(h->j, k))
        s = add_listed(&x, k);
    string_map_free(&x.contents);
    string_map_free(&x.ids);
    return s;
}

/* ---- Tokens around texts ----------------------------------------------------------------------------------------- */

/*
 * Reads the post-processor. Truncation and padding do not decide how documents are encoded, so leat does not read
 * them, and of the post-processor it reads only the tokens that it puts around single texts.
 *
 * A processor may be an array of all its members in order, and so may each struct in it. The reference takes the
 * first kind whose members are there; only ByteLevel and Sequence look at their type. In a Sequence, a processor
 * takes the output of the one before, where each token of a template is a text of its own: a second template takes
 * two texts for a pair, and fails on more. So after a processor that adds tokens, only ByteLevel, which adds
 * nothing, is understood here.
 */

static enum jsontree_kind kind_of(const struct jsontree *j, uint32_t node)
{
    return node == JSONTREE_NONE ? JSONTREE_NULL : (enum jsontree_kind)j->nodes[node].kind;
}

/* Returns a member, which stands at place `at` if its struct is an array, or JSONTREE_NONE if it is missing. */
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

/* Takes the token of one side. Returns false if the side has one already, or the id is not a token. */
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

/* Takes the ids of a special token in a template, as the reference demands when it encodes. */
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

/* Takes the members of `single`: {"Sequence": {"id": "A"}} for the text, and {"SpecialToken": {"id": name}}. */
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

/* Takes one processor, or a Sequence of them, which may be nested as deep as brackets. Sets around->other if they
 * put more than one token on a side, or are not understood. */
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

/* Reads the post-processor into spec->around, after all tokens. */
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

/* Checks the names: the reference reads these and no other. */
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

/* Returns a part that exists and is not null, or JSONTREE_NONE. */
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

/* Refuses an empty Prepend before ByteLevel, on which tokenizers fails. */
static enum leat_status check_prepend(struct load_hf *h)
{
    const struct tokenizer_spec *spec = h->spec;

    h->place = "the pipeline";
    for (uint32_t i = 0; spec_maps_bytes(spec, i) && i < spec->normalizer_count; i++)
        if (spec->normalizers[i].kind == SPEC_NORM_PREPEND && spec->normalizers[i].content.length == 0)
            return load_hf_refuse(h, 0, "an empty Prepend before ByteLevel is not supported: tokenizers fails there");
    return LEAT_OK;
}

/* Returns true if a prefix or suffix of tokens has a character that ByteLevel never makes. */
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

/* Sets byte_level if text reaches the model as mapped bytes, each of them one letter. It does not if letters are mapped
 * again, or changed: then the tokens are letters, as in the file, and ByteLevel changes text like any other station. */
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
    s = read_model(h, node);
    if (s != LEAT_OK)
        return s;
    node = jsontree_member(h->j, 0, "added_tokens");
    if (node != JSONTREE_NONE)
        s = read_added(h, node);
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
