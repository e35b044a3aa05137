/*
 * load_hf_added.c: the added tokens of a tokenizer.json, and those that its post-processor puts around texts.
 *
 * The ids written beside them do not count in the reference: a token whose content is in the model's vocabulary has
 * that id, any other gets the next one, from the size of the vocabulary on. Content given twice keeps its id, with the
 * later flags; of two contents that come to one id (a vocabulary with holes) only the later is looked for.
 */
#include <string.h>

#include "load_hf.h"

struct adding {
    struct load_hf *h;
    struct string_map contents; /* value: the id */
    bool *special;              /* by content: whether it was ever given as special */
    struct string_map ids;      /* by the four bytes of an id; value: place in spec->added */
    uint32_t next;
};

static enum leat_status read_flags(struct load_hf *h, uint32_t node, struct spec_added *a)
{
    uint32_t declared;
    enum leat_status s = load_hf_number(h, node, "id", &declared);

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

    if (node == JSONTREE_NONE || !jsontree_u64(h->j, node, &id) || id >= h->spec->vocabulary_size || *side != SPEC_NONE)
        return false;
    *side = (uint32_t)id;
    return true;
}

/* "cls" and "sep": a token and its id. */
static bool put_pair(struct load_hf *h, uint32_t *side, uint32_t node)
{
    const struct jsontree_node *nodes = h->j->nodes;

    return node != JSONTREE_NONE && nodes[node].kind == JSONTREE_ARRAY && nodes[node].length == 2 &&
           put_around(h, side, jsontree_next(h->j, node + 1));
}

/* The ids of a special token in a template. */
static bool put_special(struct load_hf *h, uint32_t processor, uint32_t *side, uint32_t piece)
{
    const struct jsontree *j = h->j;
    uint32_t name = jsontree_member(j, piece, "id"), all = jsontree_member(j, processor, "special_tokens");
    uint32_t ids = JSONTREE_NONE;
    bool good = true;

    if (name == JSONTREE_NONE || j->nodes[name].kind != JSONTREE_STRING || all == JSONTREE_NONE ||
        j->nodes[all].kind != JSONTREE_OBJECT)
        return false;
    for (uint32_t k = all + 1; k < jsontree_next(j, all); k = jsontree_next(j, k + 1)) {
        struct jsontree_text a = jsontree_string(j, k), b = jsontree_string(j, name);

        if (a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0)
            ids = jsontree_member(j, k + 1, "ids");
    }
    if (ids == JSONTREE_NONE || j->nodes[ids].kind != JSONTREE_ARRAY)
        return false;
    for (uint32_t k = ids + 1; good && k < jsontree_next(j, ids); k = jsontree_next(j, k))
        good = put_around(h, side, k);
    return good;
}

static bool put_template(struct load_hf *h, uint32_t processor, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    uint32_t single = jsontree_member(j, processor, "single"), texts = 0;
    bool good = single != JSONTREE_NONE && j->nodes[single].kind == JSONTREE_ARRAY;

    for (uint32_t k = single + 1; good && k < jsontree_next(j, single); k = jsontree_next(j, k)) {
        uint32_t special = jsontree_member(j, k, "SpecialToken"), text = jsontree_member(j, k, "Sequence");

        if (text != JSONTREE_NONE && jsontree_member(j, text, "id") != JSONTREE_NONE)
            good = texts++ == 0 && jsontree_is(j, jsontree_member(j, text, "id"), "A");
        else
            good = special != JSONTREE_NONE &&
                   put_special(h, processor, texts == 0 ? &around->before : &around->after, special);
    }
    return good && texts == 1;
}

static bool is_alone(const struct spec_around *around)
{
    return around->before == SPEC_NONE && around->after == SPEC_NONE;
}

/* One processor, or a Sequence of them; false: more than one token on a side, or not understood. */
static bool put_processor(struct load_hf *h, uint32_t node, struct spec_around *around)
{
    const struct jsontree *j = h->j;
    uint32_t type = jsontree_member(j, node, "type"), list = jsontree_member(j, node, "processors");
    bool good = true;

    if (type == JSONTREE_NONE)
        return false;
    if (jsontree_is(j, type, "ByteLevel"))
        return true;
    if (jsontree_is(j, type, "TemplateProcessing"))
        return is_alone(around) && put_template(h, node, around);
    if (jsontree_is(j, type, "BertProcessing") || jsontree_is(j, type, "RobertaProcessing"))
        return is_alone(around) && put_pair(h, &around->before, jsontree_member(j, node, "cls")) &&
               put_pair(h, &around->after, jsontree_member(j, node, "sep"));
    if (!jsontree_is(j, type, "Sequence") || list == JSONTREE_NONE || j->nodes[list].kind != JSONTREE_ARRAY)
        return false;
    for (uint32_t k = list + 1; good && k < jsontree_next(j, list); k = jsontree_next(j, k))
        good = put_processor(h, k, around);
    return good;
}

void load_hf_around(struct load_hf *h, uint32_t node)
{
    struct spec_around around = { SPEC_NONE, SPEC_NONE, false };

    if (!put_processor(h, node, &around))
        around = (struct spec_around) { SPEC_NONE, SPEC_NONE, true };
    h->spec->around = around;
}
