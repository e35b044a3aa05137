/*
 * load_hf_added.c: the added tokens of a tokenizer.json.
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
