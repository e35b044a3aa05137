/* byte_pairs.c: the models of byte pairs, four rows of the table, and the section "model" of type BPE in a
 * tokenizer.json. The rows differ only in where their merges come from (bpe/bpe_make.c). bpe/ does the work. */
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/buffer.h"
#include "tokenizer/bpe/bpe.h"
#include "tokenizer/bpe/word_store.h"
#include "tokenizer/load/load_hf.h"
#include "tokenizer/notation/json_number.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/model.h"

/* ---- The section in a tokenizer.json ----------------------------------------------------------------------------- */

/*
 * Merges name their parts by text. Each needs three look-ups in the vocabulary (left, right, both joined), each of
 * which is two or three cache misses; there are up to 600,000 merges. So they are looked up in batches: first all
 * hashes, which fetches the memory, then the comparisons. A third of the look-ups is saved by guessing the result
 * (guess_result()). A pair given twice counts once (keep_merge()).
 */

#define BATCH 32u

struct merging {
    struct load_hf *h;
    uint32_t list;
    bool pairs;      /* true for ["a","b"], false for "a b" */
    uint32_t number; /* number of merges so far, for sentences */
    uint32_t prefix; /* bytes of continuing_subword_prefix, which the right part loses when joined */

    struct spec_merge *merges; /* merges, as entries of the vocabulary at first, not ids */
    uint32_t count;

    /* The last merge that makes each token, and the merge before each merge that makes its token. A pair that is given
     * twice makes one token both times, so it is found in this chain. */
    uint32_t *last, *before;

    uint32_t guess;       /* the entry that the last merge made */
    struct buffer joined; /* joined texts of the batch */
    uint32_t pending;
    struct {
        uint32_t node;
        struct jsontree_text part[3]; /* left, right, joined */
        uint64_t hash[3];
        size_t joined_at;
        uint32_t result; /* entry of the joined text if it was guessed, else STRING_MAP_NONE */
    } batch[BATCH];
};

static enum leat_status missing(struct merging *m, uint32_t node, struct jsontree_text t)
{
    uint32_t shown = t.length < 60 ? t.length : 60;

    while (shown > 0 && shown < t.length && (t.bytes[shown] & 0xc0) == 0x80)
        shown--;
    return load_hf_wrong(m->h, node, "merge %u needs the token \"%.*s\", which is not in the vocabulary",
                         (unsigned)m->number + 1, (int)shown, (const char *)t.bytes);
}

/* Adds a merge. It replaces an earlier merge of its pair, whose result becomes SPEC_NONE. */
static void keep_merge(struct merging *m, struct spec_merge merge)
{
    uint32_t *link = &m->last[merge.result];

    while (*link != SPEC_NONE) {
        struct spec_merge *old = &m->merges[*link];

        if (old->left == merge.left && old->right == merge.right) {
            old->result = SPEC_NONE;
            *link = m->before[*link];
            break;
        }
        link = &m->before[*link];
    }
    m->merges[m->count] = merge;
    m->before[m->count] = m->last[merge.result];
    m->last[merge.result] = m->count++;
}

/* Hashes texts and fetches memory, one step after the other. */
static void prepare(struct merging *m)
{
    const struct string_map *vocab = &m->h->vocab;

    for (uint32_t i = 0; i < m->pending; i++) {
        if (m->batch[i].result == STRING_MAP_NONE)
            m->batch[i].part[2].bytes = m->joined.bytes + m->batch[i].joined_at;
        for (unsigned k = 0; k < (m->batch[i].result == STRING_MAP_NONE ? 3u : 2u); k++) {
            m->batch[i].hash[k] = string_map_hash(vocab, m->batch[i].part[k].bytes, m->batch[i].part[k].length);
            string_map_prefetch(vocab, m->batch[i].hash[k]);
        }
    }
    for (uint32_t i = 0; i < m->pending; i++)
        for (unsigned k = 0; k < 2; k++)
            string_map_prefetch_entry(vocab, m->batch[i].hash[k]);
    for (uint32_t i = 0; i < m->pending; i++)
        for (unsigned k = 0; k < 2; k++)
            string_map_prefetch_string(vocab, m->batch[i].hash[k]);
}

static enum leat_status flush(struct merging *m)
{
    prepare(m);
    for (uint32_t i = 0; i < m->pending; i++) {
        uint32_t entry[3] = { 0, 0, m->batch[i].result };

        for (unsigned k = 0; k < (entry[2] == STRING_MAP_NONE ? 3u : 2u); k++) {
            struct jsontree_text t = m->batch[i].part[k];

            entry[k] = string_map_find(&m->h->vocab, m->batch[i].hash[k], t.bytes, t.length);
            if (entry[k] == STRING_MAP_NONE)
                return missing(m, m->batch[i].node, t);
        }
        keep_merge(m, (struct spec_merge) { entry[0], entry[1], entry[2] });
        m->guess = entry[2];
        m->number++;
    }
    m->pending = 0;
    m->joined.size = 0;
    return LEAT_OK;
}

/* Returns true if the entry's text is the two texts joined. Most are short enough to compare as numbers. */
static bool is_joined(const struct string_map_entry *e, struct jsontree_text left, struct jsontree_text right)
{
    if (e->length != left.length + right.length)
        return false;
    if (e->length <= TEXT_KEY_SHORT)
        return text_word(e->bytes, e->length) ==
               (text_word(left.bytes, left.length) | text_word(right.bytes, right.length) << 8 * left.length);
    return memcmp(e->bytes, left.bytes, left.length) == 0 &&
           memcmp(e->bytes + left.length, right.bytes, right.length) == 0;
}

/*
 * Guesses the entry of a merge's result: merges are mostly in the order of the tokens that they make, so it is that
 * of the last merge, or the entry after it. This saves a third of the look-ups. Returns STRING_MAP_NONE if it is
 * neither.
 */
static uint32_t guess_result(const struct merging *m, struct jsontree_text left, struct jsontree_text right)
{
    const struct string_map *vocab = &m->h->vocab;

    for (uint32_t entry = m->guess; entry < vocab->count && entry < m->guess + 2; entry++)
        if (is_joined(&vocab->entries[entry], left, right))
            return entry;
    return STRING_MAP_NONE;
}

/* Joins two texts. `right` comes without the prefix, which it loses when joined. */
static enum leat_status join(struct merging *m, struct jsontree_text left, struct jsontree_text right)
{
    uint32_t i = m->pending;
    enum leat_status s;

    m->batch[i].part[2] = (struct jsontree_text) { NULL, left.length + right.length };
    m->batch[i].joined_at = m->joined.size;
    s = buffer_append(&m->joined, left.bytes, left.length, m->h->err);
    return s == LEAT_OK ? buffer_append(&m->joined, right.bytes, right.length, m->h->err) : s;
}

static enum leat_status add_merge(struct merging *m, uint32_t node, struct jsontree_text left,
                                  struct jsontree_text right)
{
    uint32_t i = m->pending;
    enum leat_status s = LEAT_OK;

    m->batch[i].node = node;
    m->batch[i].part[0] = left;
    m->batch[i].part[1] = right;
    m->batch[i].joined_at = 0;
    if (right.length < m->prefix || (right.length > m->prefix && (right.bytes[m->prefix] & 0xc0) == 0x80))
        return load_hf_refuse(m->h, node,
                              "the right part of a merge is shorter than \"continuing_subword_prefix\", or ends it "
                              "inside a character: tokenizers fails there");
    right.bytes += m->prefix;
    right.length -= m->prefix;
    m->batch[i].result = guess_result(m, left, right);
    if (m->batch[i].result != STRING_MAP_NONE)
        m->guess = m->batch[i].result;
    else
        s = join(m, left, right);
    if (s != LEAT_OK)
        return s;
    return ++m->pending == BATCH ? flush(m) : LEAT_OK;
}

/* Adds a line "left right". Lines of a merges.txt that begin with "#version" are skipped, as in the reference. */
static enum leat_status add_line(struct merging *m, uint32_t node)
{
    struct jsontree_text t = jsontree_string(m->h->j, node);
    const uint8_t *space = memchr(t.bytes, ' ', t.length);
    uint32_t left;
    char shown[80];

    if (t.length >= 8 && memcmp(t.bytes, "#version", 8) == 0)
        return LEAT_OK;
    left = space ? (uint32_t)(space - t.bytes) : t.length;
    if (!space || memchr(space + 1, ' ', t.length - left - 1))
        return load_hf_wrong(m->h, node, "merge %u, \"%s\", must be two tokens separated by one space",
                             (unsigned)(m->number + m->pending + 1), load_hf_show(m->h->j, node, shown));
    return add_merge(m, node, (struct jsontree_text) { t.bytes, left },
                     (struct jsontree_text) { space + 1, t.length - left - 1 });
}

static enum leat_status add_pair(struct merging *m, uint32_t node)
{
    const struct jsontree_node *nodes = m->h->j->nodes;

    if (nodes[node].kind != JSONTREE_ARRAY || nodes[node].length != 2 || nodes[node + 1].kind != JSONTREE_STRING ||
        nodes[node + 2].kind != JSONTREE_STRING)
        return load_hf_wrong(m->h, node, "merge %u must be two strings, like the merges before it",
                             (unsigned)(m->number + m->pending + 1));
    return add_merge(m, node, jsontree_string(m->h->j, node + 1), jsontree_string(m->h->j, node + 2));
}

static enum leat_status read_list(struct merging *m)
{
    const struct jsontree_node *nodes = m->h->j->nodes;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = m->list + 1; s == LEAT_OK && k < jsontree_next(m->h->j, m->list); k = jsontree_next(m->h->j, k)) {
        if (m->pairs)
            s = add_pair(m, k);
        else if (nodes[k].kind == JSONTREE_STRING)
            s = add_line(m, k);
        else
            s = load_hf_wrong(m->h, k, "merge %u must be a string, like the merges before it",
                              (unsigned)(m->number + m->pending + 1));
    }
    return s == LEAT_OK ? flush(m) : s;
}

/* Stores the merges that still count, with ids. */
static void store_merges(struct merging *m)
{
    const struct string_map_entry *entries = m->h->vocab.entries;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->count; i++)
        if (m->merges[i].result != SPEC_NONE)
            m->merges[kept++] =
                (struct spec_merge) { entries[m->merges[i].left].value, entries[m->merges[i].right].value,
                                      entries[m->merges[i].result].value };
    m->h->spec->merges = m->merges;
    m->h->spec->merge_count = kept;
    m->merges = NULL;
}

static enum leat_status read_merges(struct load_hf *h, uint32_t model)
{
    const struct jsontree_node *nodes = h->j->nodes;
    uint32_t list = jsontree_member(h->j, model, "merges");
    uint32_t prefix = jsontree_member(h->j, model, "continuing_subword_prefix");
    struct merging m = { .h = h, .list = list };
    enum leat_status s;
    size_t count;

    if (list == JSONTREE_NONE || nodes[list].kind != JSONTREE_ARRAY)
        return load_hf_wrong(h, list == JSONTREE_NONE ? model : list, "\"merges\" must be an array, but is %s",
                             jsontree_kind_name(h->j, list));
    count = nodes[list].length;
    m.pairs = count > 0 && nodes[list + 1].kind == JSONTREE_ARRAY;
    if (prefix != JSONTREE_NONE && nodes[prefix].kind == JSONTREE_STRING)
        m.prefix = nodes[prefix].length;
    m.merges = big_alloc((count + 1) * sizeof *m.merges);
    m.before = big_alloc((count + 1) * sizeof *m.before);
    m.last = big_alloc(((size_t)h->vocab.count + 1) * sizeof *m.last);
    if (m.merges && m.before && m.last) {
        memset(m.last, 0xff, ((size_t)h->vocab.count + 1) * sizeof *m.last);
        s = read_list(&m);
    } else {
        s = status_no_memory(h->err, count * 16 + h->vocab.count * 4u);
    }
    if (s == LEAT_OK)
        store_merges(&m);
    free(m.merges);
    free(m.before);
    free(m.last);
    buffer_free(&m.joined);
    return s;
}

static enum leat_status read_dropout(struct load_hf *h, uint32_t model)
{
    uint32_t node = jsontree_member(h->j, model, "dropout");
    const struct jsontree_node *n = &h->j->nodes[node == JSONTREE_NONE ? 0 : node];
    double dropout;

    if (node == JSONTREE_NONE || n->kind == JSONTREE_NULL)
        return LEAT_OK;
    if (n->kind != JSONTREE_NUMBER || !json_number(h->j->text + n->at, n->length, &dropout))
        return load_hf_wrong(h, node, "\"dropout\" must be a number or null");
    if (!((float)dropout >= 0 && (float)dropout <= 1))
        return load_hf_wrong(h, node, "\"dropout\" must be 0 to 1");
    if ((float)dropout > 0)
        return load_hf_refuse(h, node, "\"dropout\" is not supported: it makes encoding random; set it to null");
    return LEAT_OK;
}

static enum leat_status read_options(struct load_hf *h, uint32_t model)
{
    struct tokenizer_spec *spec = h->spec;
    enum leat_status s = load_hf_unknown(h, model);

    if (s == LEAT_OK)
        s = load_hf_affix(h, model, "continuing_subword_prefix", LOAD_HF_OPTION, &spec->continuing_prefix);
    if (s == LEAT_OK)
        s = load_hf_affix(h, model, "end_of_word_suffix", LOAD_HF_OPTION, &spec->word_suffix);
    if (s == LEAT_OK)
        s = load_hf_bool(h, model, "fuse_unk", LOAD_HF_OPTION, &spec->fuse_unknown);
    if (s == LEAT_OK)
        s = load_hf_bool(h, model, "byte_fallback", LOAD_HF_OPTION, &spec->byte_fallback);
    if (s != LEAT_OK)
        return s;
    return load_hf_bool(h, model, "ignore_merges", LOAD_HF_OPTION, &spec->ignore_merges);
}

static enum leat_status read_byte_pairs(struct load_hf *h, uint32_t node)
{
    enum leat_status s = load_hf_vocabulary(h, node);

    if (s == LEAT_OK)
        s = read_options(h, node);
    if (s == LEAT_OK)
        s = read_merges(h, node);
    if (s == LEAT_OK)
        s = read_dropout(h, node); /* read last: a model without a type may be of another kind by all else */
    if (s != LEAT_OK)
        return s;
    return load_hf_tokens(h);
}

/* ---- Models ------------------------------------------------------------------------------------------------------ */

static void hash(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    if (spec->scores)
        fingerprint_floats(h, spec->scores, spec->token_count);
    fingerprint_number(h, spec->merge_count);
    for (uint32_t i = 0; i < spec->merge_count; i++) {
        const struct spec_merge *m = &spec->merges[i];
        const uint32_t numbers[] = { m->left, m->right, m->result };

        fingerprint_numbers(h, numbers, 3);
    }
}

#define BYTE_PAIRS(kind)                                                                                               \
    .variant = &(kind), .hash = hash, .make = bpe_make, .free = bpe_free, .scratch_make = bpe_scratch_make,            \
    .scratch_free = bpe_scratch_free, .cache_bytes = pretoken_cache_large, .share = word_store_share,                  \
    .encode = bpe_encode, .encode_batch = bpe_encode_pretokens, .encode_chunk = bpe_encode_chunk,                      \
    .takes_spans = bpe_takes_spans, .encode_spans = bpe_encode_spans, .takes_texts = bpe_takes_texts,                  \
    .encode_texts = bpe_encode_texts

const struct model_kind model_bytes = { BYTE_PAIRS(bpe_bytes) };
const struct model_kind model_ranks = { BYTE_PAIRS(bpe_ranks) };
const struct model_kind model_merges = {
    .type = "BPE", .member = "merges", .read = read_byte_pairs, .spaced = true, BYTE_PAIRS(bpe_merges)
};
const struct model_kind model_scores = { .sentencepiece = 2, .spaced = true, BYTE_PAIRS(bpe_scores) };
