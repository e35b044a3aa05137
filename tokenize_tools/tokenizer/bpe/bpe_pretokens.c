/*
 * bpe_pretokens.c: many pretokens at once, by way of the cache (pretoken_batch.h).
 *
 * pretoken_fill() takes as many pretokens as fit a batch. encode_batch() makes their keys, looks all of them up while
 * the lines of the cache are on their way, and merges those that the cache does not know, which then go into it. The
 * rest of the file is about borders: between batches, at the end of the text, where kernels must not read on, and
 * around pretokens that are so long that they are better encoded alone.
 */
#include <string.h>

#include "bpe_internal.h"
#include "pretoken_batch.h"

/* The lines of the cache that are fetched at a time. */
#define SEEDS 16

struct seeds {
    struct pretoken_key keys[SEEDS];
    uint32_t ids[SEEDS];
    unsigned count;
};

/* ---- A pretoken, or a part ---- */

bool bpe_encode_token(const struct bpe *m, const uint8_t *pretoken, size_t bytes, struct id_list *out,
                      enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? bpe_find_symbol(m, pretoken, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = bpe_append(m, &symbol, 1, out, err);
    return true;
}

/* Appends the ids of a part by merging alone, even if it is a token. */
static enum leat_status encode_merges(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    enum leat_status status = bpe_symbols_reserve(m, s, bytes, err);

    if (status != LEAT_OK)
        return status;
    status = m->kind->scored ? bpe_scores_encode(m, s, text, bytes, out, err)
                             : bpe_symbols_encode(m, s, text, bytes, out, err);
    bpe_symbols_trim(s);
    return status;
}

enum leat_status bpe_encode_whole(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && bpe_encode_token(m, text, bytes, out, &status, err))
        return status;
    return encode_merges(m, s, text, bytes, out, err);
}

static void put_seeds(struct pretoken_cache *c, struct seeds *seeds)
{
    for (unsigned i = 0; i < seeds->count; i++)
        pretoken_cache_add(c, &seeds->keys[i], &seeds->ids[i], 1);
    seeds->count = 0;
}

/*
 * Puts tokens of the vocabulary into a cache: those that their own text encodes to, and, if a pretoken that is a
 * token is not merged, all others, too, unless such a pretoken is cut. Goes from the last to the first: if a line is
 * too small for all, common tokens push out rare ones.
 */
static void seed(const struct bpe *m, struct pretoken_cache *c)
{
    bool all = m->whole && !m->cuts;
    struct seeds seeds = { .count = 0 };

    for (uint32_t i = m->spec->token_count; i-- > 0;) {
        const struct spec_token *t = &m->spec->tokens[i];

        if (!t->foreign && t->length > 0 && t->length <= PRETOKEN_MAX && (all || !orphan_is(m->orphans, i))) {
            struct pretoken_key *key = &seeds.keys[seeds.count];

            *key = pretoken_key_make(spec_token_bytes(m->spec, t), t->length, 0);
            seeds.ids[seeds.count++] = t->id;
            pretoken_cache_fetch(c, key);
            if (seeds.count == SEEDS)
                put_seeds(c, &seeds);
        }
    }
    put_seeds(c, &seeds);
}

/* Looks after the caches before `bytes` of text. */
static void note_text(const struct bpe *m, struct bpe_scratch *s, size_t bytes)
{
    struct pretoken_cache *empty = word_cache_grow(&s->words, m->model.words, bytes, m->spec->token_count);

    if (empty) {
        seed(m, empty);
        word_store_publish(m->model.words);
    }
    word_cache_take(&s->words, m->model.words);
}

/* Encodes a pretoken that the batch did not find: it may be in the cache by now, or in a wider table. */
static enum leat_status encode_missed(const struct bpe *m, struct bpe_scratch *s, uint32_t at, struct leat_error *err)
{
    struct pretoken_batch *b = &s->batch;
    const uint8_t *pretoken = b->text + b->begins[at];
    size_t bytes = b->begins[at + 1] - b->begins[at], begin = s->many.count, count = 0;
    enum leat_status status = id_list_reserve(&s->many, PRETOKEN_IDS, err);
    struct pretoken_key key;

    if (status == LEAT_OK && bytes <= PRETOKEN_MAX) {
        key = pretoken_key_make(pretoken, bytes, b->parts[at]);
        count = pretoken_cache_find(&s->words.own, &key, s->many.ids + begin);
        s->many.count += count;
    }
    if (status == LEAT_OK && count == 0) {
        status = b->parts[at] ? encode_merges(m, s, pretoken, bytes, &s->many, err)
                              : bpe_encode_whole(m, s, pretoken, bytes, &s->many, err);
        if (status == LEAT_OK && bytes <= PRETOKEN_MAX)
            pretoken_cache_add(&s->words.own, &key, s->many.ids + begin, s->many.count - begin);
    }
    if (status != LEAT_OK)
        return status;
    count = s->many.count - begin;
    b->values[at] = pretoken_value(s->many.ids + begin, count, begin);
    if (pretoken_fits(s->many.ids + begin, count))
        s->many.count = begin;
    return status;
}

/* Puts the id of a part that is a token already in place; the part was looked up like the others. */
static enum leat_status fix(struct bpe_scratch *s, uint32_t at, struct leat_error *err)
{
    enum leat_status status = id_list_reserve(&s->many, 1, err);

    if (status != LEAT_OK)
        return status;
    s->many.ids[s->many.count] = s->fixed.ids[s->fixed_used++];
    s->batch.values[at] = pretoken_value(s->many.ids + s->many.count, 1, s->many.count);
    s->many.count++;
    return LEAT_OK;
}

/* Writes ids of the batch. */
static void write_ids(const struct bpe_scratch *s, uint32_t from, uint32_t to, struct id_list *out)
{
    out->count += s->kernels->write(&s->batch, from, to, out->ids + out->count);
}

/* Writes the ids of a batch whose fixed pretokens end texts, and counts the ids of each text that ends in it. */
static enum leat_status write_texts(struct bpe_scratch *s, struct id_list *out, struct leat_error *err)
{
    const struct pretoken_batch *b = &s->batch;
    enum leat_status status = id_list_reserve(s->counts, b->fixed_count, err);
    uint32_t from = 0;

    for (uint32_t i = 0; status == LEAT_OK && i < b->fixed_count; from = b->fixed[i++] + 1) {
        write_ids(s, from, b->fixed[i], out);
        s->counts->ids[s->counts->count++] = (uint32_t)(out->count - s->text_begin);
        s->text_begin = out->count;
    }
    if (status == LEAT_OK)
        write_ids(s, from, b->count, out);
    return status;
}

/* ---- Long pretokens, which only the store keeps ---- */

/* Number of long pretokens that are looked for side by side. */
#define SIDE_BY_SIDE 64

static bool is_stored(const struct pretoken_batch *b, uint32_t at)
{
    uint32_t bytes = b->begins[at + 1] - b->begins[at];

    return bytes > PRETOKEN_MAX && bytes <= WORD_BYTES;
}

static struct word_key word_of(const struct pretoken_batch *b, uint32_t at)
{
    return word_key_make(b->text + b->begins[at], b->begins[at + 1] - b->begins[at], b->parts[at]);
}

static void take_stored(struct pretoken_batch *b, uint32_t at, const struct word *w)
{
    uint32_t *ids = b->many + b->many_count;

    memcpy(ids, w->data, w->count * sizeof *ids);
    b->values[at] = pretoken_value(ids, w->count, b->many_count);
    b->many_count += pretoken_fits(ids, w->count) ? 0 : w->count;
}

/* Looks for some long pretokens. Those that are not found stay missed, and are noted in s->unknown. */
static void find_some_stored(struct bpe_scratch *s, const uint32_t *longs, uint32_t count)
{
    struct pretoken_batch *b = &s->batch;
    struct word_key keys[SIDE_BY_SIDE];

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = word_of(b, longs[i]);
        word_store_fetch(s->words.own.common, &keys[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        word_store_fetch_entry(s->words.own.common, &keys[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct word *w = word_store_find(s->words.own.common, &keys[i]);

        if (w)
            take_stored(b, longs[i], w);
        else
            b->missed[b->missed_count++] = s->unknown[s->unknown_count++] = longs[i];
    }
}

/* Looks for the long pretokens among the missed ones. */
static void find_stored(struct bpe_scratch *s)
{
    struct pretoken_batch *b = &s->batch;
    uint32_t missed = 0, count = 0;

    for (uint32_t i = 0; i < b->missed_count; i++) {
        uint32_t at = b->missed[i];
        bool stored = is_stored(b, at);

        s->unknown[count] = b->missed[missed] = at;
        count += stored;
        missed += !stored;
    }
    b->missed_count = missed;
    s->unknown_count = 0;
    for (uint32_t from = 0, some; from < count; from += some) {
        some = count - from < SIDE_BY_SIDE ? count - from : SIDE_BY_SIDE;
        find_some_stored(s, s->unknown + from, some);
    }
}

/* Adds the long pretokens that were not found. */
static void add_stored(struct bpe_scratch *s)
{
    const struct pretoken_batch *b = &s->batch;

    for (uint32_t i = 0; i < s->unknown_count; i++) {
        struct word_key key = word_of(b, s->unknown[i]);
        uint64_t value = b->values[s->unknown[i]];
        uint32_t few[3];

        for (unsigned k = 0; k < 3; k++)
            few[k] = (uint32_t)(value >> PRETOKEN_ID_BITS * k & PRETOKEN_ID_MASK);
        word_store_add(&s->words.own, &key, value < PRETOKEN_MANY ? few : s->many.ids + (uint32_t)value,
                       pretoken_value_count(value));
    }
}

static enum leat_status encode_batch(const struct bpe *m, struct bpe_scratch *s, struct id_list *out,
                                     struct leat_error *err)
{
    struct pretoken_batch *b = &s->batch;
    size_t max = bpe_symbols_max(m, BATCH_BYTES);
    enum leat_status status;

    s->many.count = 0;
    status = id_list_reserve(&s->many, max + 2 * PRETOKEN_IDS, err);
    if (status != LEAT_OK)
        return status;
    b->many = s->many.ids;
    b->many_count = 0;
    s->kernels->find(&s->words.own, b);
    find_stored(s);
    if (m->rules.pairs)
        s->kernels->merge(&m->rules, &s->words.own, b);
    s->many.count = b->many_count;
    for (uint32_t i = 0; status == LEAT_OK && i < b->missed_count; i++)
        status = encode_missed(m, s, b->missed[i], err);
    if (status == LEAT_OK)
        add_stored(s);
    for (uint32_t i = 0; status == LEAT_OK && !s->counts && i < b->fixed_count; i++)
        status = fix(s, b->fixed[i], err);
    if (status == LEAT_OK)
        status = id_list_reserve(&s->many, BATCH_OVER, err); /* ids are read many at a time, past the last */
    b->many = s->many.ids;
    if (status == LEAT_OK)
        status = id_list_reserve(out, 3 * (size_t)b->count + s->many.count + BATCH_OVER, err);
    if (status == LEAT_OK && s->counts)
        status = write_texts(s, out, err);
    else if (status == LEAT_OK)
        write_ids(s, 0, b->count, out);
    return status;
}

/* ---- Runs of pretokens ---- */

/* Returns the end of the part of a pretoken that begins at text[begin]. */
static uint32_t part_end(const struct char_cuts *c, const uint8_t *text, size_t bytes, uint32_t begin, uint32_t end)
{
    unsigned length = char_cuts_length(text[begin]);
    uint32_t before = char_cuts_load(text + begin, length, bytes - begin), at = begin + length;

    while (at < end) {
        uint32_t after;

        length = char_cuts_length(text[at]);
        after = char_cuts_load(text + at, length, bytes - at);
        if (length > 1 && char_cuts_safe(c, before, text[at - 1], after))
            return at;
        before = after;
        at += length;
    }
    return end;
}

/* Encodes a pretoken that is longer than a batch, or a part of one (`parts`). */
static enum leat_status encode_long(const struct bpe *m, struct bpe_scratch *s, struct pretoken_rest *r, bool parts,
                                    struct id_list *out, struct leat_error *err)
{
    const uint8_t *text = r->text + r->begin;
    uint32_t whole = pretoken_end(r->ends), end = whole;
    bool fixed = whole != *r->ends;
    enum leat_status status;

    if (m->char_cuts.pairs && !fixed)
        end = part_end(&m->char_cuts, r->text, r->bytes, r->begin, whole);
    if (fixed)
        status = id_list_append(out, s->fixed.ids[s->fixed_used++], err);
    else if (parts || r->inside || end < whole)
        status = encode_merges(m, s, text, end - r->begin, out, err);
    else
        status = bpe_encode_whole(m, s, text, end - r->begin, out, err);
    r->begin = end;
    r->inside = end < whole;
    r->ends += !r->inside;
    return status;
}

static enum leat_status encode_rest(const struct bpe *m, struct bpe_scratch *s, struct pretoken_rest *r, bool parts,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    struct pretoken_place place;

    if (r->ends < r->last)
        note_text(m, s, pretoken_end(r->last - 1) - r->begin);
    while (status == LEAT_OK && r->ends < r->last) {
        pretoken_place_text(&place, &s->batch, r);
        pretoken_fill(&s->batch, s->kernels, &m->char_cuts, m->has_orphans ? m->orphans : NULL, r, &place);
        status = s->batch.count > 0 ? encode_batch(m, s, out, err) : encode_long(m, s, r, parts, out, err);
    }
    return status;
}

static struct pretoken_rest rest_of(const struct model_pretokens *p)
{
    return (struct pretoken_rest) {
        .text = p->text, .bytes = p->bytes, .begin = p->begin, .ends = p->ends, .last = p->ends + p->count
    };
}

enum leat_status bpe_encode_batches(const struct bpe *m, struct bpe_scratch *s, const struct model_pretokens *p,
                                    bool parts, struct id_list *out, struct leat_error *err)
{
    struct pretoken_rest r = rest_of(p);

    return encode_rest(m, s, &r, parts, out, err);
}

bool bpe_takes_texts(const struct model *model)
{
    const struct bpe *m = bpe_of(model);

    return !m->cuts && !m->apart && m->all_bytes; /* the bytes after texts are looked up, too, so each must have a
                                                     symbol */
}

enum leat_status bpe_encode_texts(const struct model *model, void *scratch, const struct model_pretokens *p,
                                  struct id_list *counts, struct id_list *out, struct leat_error *err)
{
    struct bpe_scratch *s = scratch;
    struct pretoken_rest r = rest_of(p);
    enum leat_status status;

    s->counts = counts;
    s->text_begin = out->count;
    status = encode_rest(bpe_of(model), s, &r, false, out, err);
    s->counts = NULL;
    return status;
}
