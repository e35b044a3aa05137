/*
 * assemble_added.c: the added tokens that transformers 5.23.0 makes of tokenizer_config.json, special_tokens_map.json
 * and added_tokens.json (tokenization_utils_base.py, tokenization_utils_tokenizers.py):
 *
 * First those that files list: "added_tokens_decoder" of the configuration, by their ids; without it,
 * added_tokens.json. Then the tokens with a name (bos_token, ...), then "extra_special_tokens". Each gets the id that
 * its text has in the vocabulary, else the next free one, whatever id a file gives it. special_tokens_map.json counts
 * before the configuration, but only without "added_tokens_decoder".
 */
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"
#include "load_hf.h"

static const char *const names[NAMED_COUNT] = { "bos_token", "eos_token", "unk_token", "sep_token",
                                                "pad_token", "cls_token", "mask_token" };

static void flag(struct assembling *a, const struct jsontree *j, uint32_t object, const char *name, bool *value)
{
    uint32_t node = jsontree_member(j, object, name);
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_NULL : j->nodes[node].kind;

    if (kind == JSONTREE_TRUE || kind == JSONTREE_FALSE)
        *value = kind == JSONTREE_TRUE;
    else if (kind != JSONTREE_NULL)
        assemble_wrong(a, LEAT_E_VOCABULARY, j, node, "a flag of a token is neither true nor false");
}

/* A token as text or as an object; `special`: what it is if it does not say. */
static struct assemble_token token_of(struct assembling *a, const struct jsontree *j, uint32_t node, bool special)
{
    struct assemble_token t = { .special = special, .given = true };
    uint32_t content = j->nodes[node].kind == JSONTREE_OBJECT ? jsontree_member(j, node, "content") : node;

    if (content == JSONTREE_NONE || j->nodes[content].kind != JSONTREE_STRING) {
        assemble_wrong(a, LEAT_E_VOCABULARY, j, node, "a token is neither a string nor an object with \"content\"");
        return t;
    }
    t.text = jsontree_string(j, content);
    if (content == node) {
        t.special = true;
        return t;
    }
    flag(a, j, node, "special", &t.special);
    t.undecided = jsontree_member(j, node, "normalized") == JSONTREE_NONE;
    flag(a, j, node, "single_word", &t.single_word);
    flag(a, j, node, "lstrip", &t.lstrip);
    flag(a, j, node, "rstrip", &t.rstrip);
    flag(a, j, node, "normalized", &t.normalized);
    return t;
}

/* `a` was added, `b` not yet. */
static bool same_flags(const struct assemble_token *a, const struct assemble_token *b)
{
    return a->single_word == b->single_word && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
           a->normalized == (b->undecided ? !b->special : b->normalized) && a->special == b->special;
}

/* Adds a token of a list; one that was given twice is there twice, and the later flags count. */
static void add(struct assembling *a, struct assemble_token t)
{
    uint32_t entry, known;
    bool found;

    if (a->status != LEAT_OK || t.text.length == 0)
        return;
    t.normalized = t.undecided ? !t.special : t.normalized;
    entry =
        string_map_find(&a->ids, string_map_hash(&a->ids, t.text.bytes, t.text.length), t.text.bytes, t.text.length);
    known = string_map_add(&a->texts, string_map_hash(&a->texts, t.text.bytes, t.text.length), t.text.bytes,
                           t.text.length, &found);
    t.before = found ? a->texts.entries[known].value : JSONTREE_NONE;
    if (found)
        t.id = a->tokens[t.before].id;
    else
        t.id = entry != STRING_MAP_NONE ? a->ids.entries[entry].value : a->next_id++;
    a->texts.entries[known].value = a->token_count;
    a->tokens[a->token_count++] = t;
}

/* Adds a special token, unless a list has its text, or the same token had another name already. */
static void add_new(struct assembling *a, struct assemble_token t)
{
    uint32_t known = string_map_find(&a->texts, string_map_hash(&a->texts, t.text.bytes, t.text.length), t.text.bytes,
                                     t.text.length);
    uint32_t i = known == STRING_MAP_NONE ? JSONTREE_NONE : a->texts.entries[known].value;

    if (a->again) {
        add(a, (struct assemble_token) { .text = t.text, .special = true });
        return;
    }
    for (; i != JSONTREE_NONE; i = a->tokens[i].before)
        if (i < a->listed || same_flags(&a->tokens[i], &t))
            return;
    add(a, t);
}

/* ---- Tokens with a name ---- */

static const struct jsontree *map_of(const struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    bool listed = config && jsontree_member(config, 0, "added_tokens_decoder") != JSONTREE_NONE;

    return listed ? NULL : a->source->map;
}

void assemble_names(struct assembling *a)
{
    const struct jsontree *trees[] = { map_of(a), a->source->config };

    for (unsigned n = 0; n < NAMED_COUNT; n++) {
        if (a->kind->named[n])
            a->named[n] = (struct assemble_token) { .text = assemble_text_of(a->kind->named[n]),
                                                    .special = true,
                                                    .lstrip = n == NAMED_MASK && a->kind->strips_before_mask,
                                                    .normalized = n == NAMED_MASK && a->kind->normalized_mask };
        for (unsigned k = 0; k < 2; k++) {
            uint32_t node = trees[k] ? jsontree_member(trees[k], 0, names[n]) : JSONTREE_NONE;

            if (node == JSONTREE_NONE)
                continue;
            a->named[n] = (struct assemble_token) { 0 };
            if (trees[k]->nodes[node].kind != JSONTREE_NULL)
                a->named[n] = token_of(a, trees[k], node, trees[k] == a->source->map);
            if (n == NAMED_MASK && trees[k]->nodes[node].kind == JSONTREE_STRING) {
                a->named[n].lstrip = a->kind->strips_before_mask;
                a->named[n].normalized = a->kind->normalized_mask;
            }
            break;
        }
    }
}

static bool is_named(const struct assembling *a, struct jsontree_text text, bool given)
{
    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (a->named[n].text.bytes && (a->named[n].given || !given) && assemble_same(a->named[n].text, text))
            return true;
    return false;
}

/* A member that names a token which most classes do not have, such as "image_token". */
static bool is_own_name(const struct jsontree *j, uint32_t key)
{
    struct jsontree_text t = jsontree_string(j, key);

    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (jsontree_is(j, key, names[n]))
            return false;
    return t.length > 6 && memcmp(t.bytes + t.length - 6, "_token", 6) == 0;
}

static void add_own_names(struct assembling *a, const struct jsontree *j)
{
    bool object = j && j->nodes[0].kind == JSONTREE_OBJECT;

    for (uint32_t k = 1; object && k < jsontree_next(j, 0); k = jsontree_next(j, k + 1)) {
        unsigned kind = j->nodes[k + 1].kind;
        struct assemble_token t;

        if (!is_own_name(j, k) || (kind != JSONTREE_STRING && kind != JSONTREE_OBJECT))
            continue;
        if (kind == JSONTREE_OBJECT && j == a->source->config)
            assemble_wrong(a, LEAT_E_UNSUPPORTED, j, k, "a token of another name, as an object, is not supported");
        t = token_of(a, j, k + 1, true);
        add_new(a, t);
    }
}

/* ---- Lists ---- */

/* A list of extra special tokens, or JSONTREE_NONE. */
static uint32_t find_list(struct assembling *a, const struct jsontree *j, const char *key)
{
    uint32_t node = j ? jsontree_member(j, 0, key) : JSONTREE_NONE;

    if (node == JSONTREE_NONE || j->nodes[node].kind == JSONTREE_NULL || j->nodes[node].length == 0)
        return JSONTREE_NONE;
    if (j->nodes[node].kind != JSONTREE_ARRAY)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, j, node, "extra special tokens that are not a list are not supported");
    return node;
}

/* Reads the list with such a name; false: there is none. `noted`: is_extra() knows its tokens. */
static bool read_extra(struct assembling *a, const struct jsontree *j, const char *key, bool noted)
{
    uint32_t list = find_list(a, j, key);
    bool found;

    for (uint32_t k = list + 1; list != JSONTREE_NONE && a->status == LEAT_OK && k < jsontree_next(j, list);
         k = jsontree_next(j, k)) {
        struct assemble_token t = token_of(a, j, k, j == a->source->map);

        a->extra[a->extra_count++] = t;
        if (noted && a->status == LEAT_OK)
            string_map_add(&a->extra_texts, string_map_hash(&a->extra_texts, t.text.bytes, t.text.length), t.text.bytes,
                           t.text.length, &found);
    }
    return list != JSONTREE_NONE;
}

/* "extra_special_tokens", which the configuration and the map may have both, or its old name: in the configuration
 * where it has no new one, in the map where there is no other list, and the class makes none itself. */
static void read_extras(struct assembling *a)
{
    static const char new_name[] = "extra_special_tokens", old_name[] = "additional_special_tokens";
    bool found = read_extra(a, a->source->config, new_name, true) || read_extra(a, a->source->config, old_name, true);

    found |= read_extra(a, map_of(a), new_name, true);
    if (!found && !a->kind->extra)
        read_extra(a, map_of(a), old_name, false);
}

/* Whether the configuration says anything of extra tokens, be it that there are none. */
static bool lists_extra(const struct assembling *a)
{
    const struct jsontree *config = a->source->config;

    return config && (jsontree_member(config, 0, "extra_special_tokens") != JSONTREE_NONE ||
                      jsontree_member(config, 0, "additional_special_tokens") != JSONTREE_NONE);
}

void assemble_add_extra(struct assembling *a, struct jsontree_text text, bool special)
{
    a->extra[a->extra_count++] = (struct assemble_token) { .text = text, .special = special };
}

void assemble_put_extra(struct assembling *a)
{
    assemble_put(a, ",\"" LOAD_HF_EXTRA "\":[");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->extra_count; i++) {
        assemble_put(a, i ? "," : "");
        assemble_put_string(a, a->extra[i].text);
    }
    assemble_put(a, "]");
}

void assemble_add_reserved(struct assembling *a)
{
    const struct tokenizer_spec *m = a->model;

    for (uint32_t i = 0; i < m->token_count; i++)
        if (m->tokens[i].type == SPEC_CONTROL || m->tokens[i].type == SPEC_USER_DEFINED)
            assemble_add_extra(a, (struct jsontree_text) { spec_token_bytes(m, &m->tokens[i]), m->tokens[i].length },
                               m->tokens[i].type == SPEC_CONTROL);
}

static void add_extra(struct assembling *a)
{
    bool own = a->kind->extra && a->extra_count == 0 && !lists_extra(a);

    if (own)
        a->kind->extra(a);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->extra_count; i++)
        add_new(a, a->extra[i]);
    if (a->kind->also_extra && !own && a->status == LEAT_OK)
        a->kind->also_extra(a);
}

/* Whether a list has it, but for one of the old name in the map. */
static bool is_extra(const struct assembling *a, struct jsontree_text t)
{
    return string_map_find(&a->extra_texts, string_map_hash(&a->extra_texts, t.bytes, t.length), t.bytes, t.length) !=
           STRING_MAP_NONE;
}

struct listed {
    uint64_t id;
    struct assemble_token token;
};

static int by_id(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

/* The ids are keys ("163584": {...}) or values ("<x>": 163584); they decide on the order only. */
static bool read_listed(struct assembling *a, const struct jsontree *j, uint32_t key, bool decoder, struct listed *to)
{
    struct jsontree_text t = jsontree_string(j, key);
    uint32_t digits = 0;

    if (!decoder) {
        bool special = is_named(a, t, true) || is_extra(a, t);

        to->token = (struct assemble_token) { .text = t, .special = special, .normalized = !special };
        return jsontree_u64(j, key + 1, &to->id);
    }
    for (to->id = 0; digits < t.length && t.bytes[digits] >= '0' && t.bytes[digits] <= '9'; digits++)
        to->id = to->id * 10 + (t.bytes[digits] - '0');
    if (digits == 0 || digits > 9 || digits < t.length || j->nodes[key + 1].kind != JSONTREE_OBJECT)
        return false;
    to->token = token_of(a, j, key + 1, false);
    return true;
}

static void add_listed(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    uint32_t list = config ? jsontree_member(config, 0, "added_tokens_decoder") : JSONTREE_NONE;
    bool decoder = list != JSONTREE_NONE;
    const struct jsontree *j = decoder ? config : a->source->added;
    struct listed *all;
    uint32_t count = 0;

    if (!j)
        return;
    list = decoder ? list : 0;
    if (j->nodes[list].kind != JSONTREE_OBJECT) {
        assemble_wrong(a, LEAT_E_VOCABULARY, j, list, "the added tokens are not an object");
        return;
    }
    all = calloc((size_t)j->nodes[list].length + 1, sizeof *all);
    if (!all)
        a->status = status_no_memory(a->err, j->nodes[list].length * sizeof *all);
    for (uint32_t k = list + 1; a->status == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k + 1))
        if (!read_listed(a, j, k, decoder, &all[count++]))
            assemble_wrong(a, LEAT_E_VOCABULARY, j, k, "an added token is not a text with an id");
    if (count > 0)
        qsort(all, count, sizeof *all, by_id);
    for (uint32_t i = 0; i < count; i++) {
        all[i].token.special |= is_named(a, all[i].token.text, false);
        add(a, all[i].token);
    }
    free(all);
}

static void add_special(struct assembling *a)
{
    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (a->named[n].text.bytes) {
            a->named[n].special = true;
            add_new(a, a->named[n]);
        }
    add_own_names(a, map_of(a));
    add_own_names(a, a->source->config);
    add_extra(a);
}

/* Each node of a file is a token once, or twice if the class adds them again; so may be each piece. */
static size_t most_tokens(const struct assembling *a)
{
    const struct assemble_source *s = a->source;

    return 2 * ((size_t)NAMED_COUNT + (s->config ? s->config->count : 0) + (s->map ? s->map->count : 0) +
                (s->added ? s->added->count : 0)) +
           a->piece_room;
}

void assemble_added(struct assembling *a)
{
    size_t most = most_tokens(a);

    a->tokens = calloc(most, sizeof *a->tokens);
    a->extra = calloc(most, sizeof *a->extra);
    if (!a->tokens || !a->extra || most > UINT32_MAX / 2 || !string_map_init(&a->texts, (uint32_t)most) ||
        !string_map_init(&a->extra_texts, (uint32_t)most)) {
        a->status = status_no_memory(a->err, most * sizeof *a->tokens);
        return;
    }
    read_extras(a);
    add_listed(a);
    a->listed = a->token_count;
    add_special(a);
    a->again = a->kind->adds_again;
    if (a->again)
        add_special(a);
}
