/*
 * load_hf_tokens.c: the section "model" of a tokenizer.json, and its added tokens.
 *
 * load_hf_model() finds the kind of model; each kind reads its own section (struct model_kind), with what several kinds
 * have from here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "load_hf.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/byte_alphabet.h"

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
    else /* find_byte_level() has seen that it can be decoded */
        byte_alphabet_decode(&alphabet, bytes, &length, t.bytes, t.length);
    *out = (struct spec_string) { bytes, length };
    return LEAT_OK;
}

/* ---- Which model ------------------------------------------------------------------------------------------------- */

static struct model_row row_of_type(const struct load_hf *h, uint32_t type)
{
    struct model_row row;

    for (size_t i = 0; (row = model_row(i)).kind; i++)
        if (row.kind->type && load_hf_names(h->j, type, row.kind->type))
            break;
    return row;
}

/* Of a model without a type that cannot be read: the row whose members it has, for a sentence. */
static struct model_row row_of_members(const struct load_hf *h, uint32_t model)
{
    struct model_row row;

    for (size_t i = 0; (row = model_row(i)).kind; i++)
        if (row.kind->member && jsontree_member(h->j, model, row.kind->member) != JSONTREE_NONE)
            break;
    return row;
}

/* The types of the table, for sentences. */
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

/* What a reader left that found something wrong. */
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

/* Without a type, it is the first kind as which it can be read, as in the reference. */
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

enum leat_status load_hf_model(struct load_hf *h, uint32_t node)
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
 * The ids written beside added tokens do not count in the reference: a token whose content is in the model's vocabulary
 * has that id, any other gets the next one, from the size of the vocabulary on. Content given twice keeps its id, with
 * the later flags; of two contents that come to one id (a vocabulary with holes) only the later is looked for.
 */

struct adding {
    struct load_hf *h;
    struct string_map contents; /* value: the id */
    bool *special;              /* by content: whether it was ever given as special */
    struct string_map ids;      /* by the four bytes of an id; value: place in spec->added */
    uint32_t next;
};

/* The id does not count, but must be one. */
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

static enum leat_status add(struct adding *x, uint32_t node)
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
    if (a.content.length == 0) /* never found in a text; the reference drops it too */
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

enum leat_status load_hf_added(struct load_hf *h, uint32_t node)
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
        s = add(&x, k);
    string_map_free(&x.contents);
    string_map_free(&x.ids);
    return s;
}
