/*
 * bpe_pretokens.c: many pretokens at once, by way of the cache (pretoken_batch.h); what it does not know is merged and
 * goes into it. Here are the borders: between batches, at the end of the text, where kernels must not read on, and
 * around pretokens so long that they are better off alone.
 */
#include <string.h>

#include "base/tiny.h"
#include "bpe_internal.h"

/* After so much text a larger cache is worth its making. */
#define MUCH_TEXT ((size_t)TINY_OR(64, 1 << 18))

/* Lines of the cache that are on their way at the same time. */
#define SEEDS 16

struct seeds {
    struct pretoken_key keys[SEEDS];
    uint32_t ids[SEEDS];
    unsigned count;
};

static void sow(struct pretoken_cache *c, struct seeds *seeds)
{
    for (unsigned i = 0; i < seeds->count; i++)
        pretoken_cache_add(c, &seeds->keys[i], &seeds->ids[i], 1);
    seeds->count = 0;
}

/* The vocabulary itself: tokens that their own text becomes, and the others where a pretoken that is a token is that
 * token; but not where such a pretoken is cut. The last first: where a line is too small for all, the common ones push
 * the rare ones out. */
static void seed(const struct bpe *m, struct bpe_scratch *s)
{
    bool all = m->whole && !m->cuts;
    struct seeds seeds = { .count = 0 };

    for (uint32_t i = m->spec->token_count; i-- > 0;) {
        const struct spec_token *t = &m->spec->tokens[i];

        if (!t->foreign && t->length > 0 && t->length <= PRETOKEN_MAX && (all || !orphan_is(m->orphans, i))) {
            struct pretoken_key *key = &seeds.keys[seeds.count];

            *key = pretoken_key_make(spec_token_bytes(m->spec, t), t->length, 0);
            seeds.ids[seeds.count++] = t->id;
            pretoken_cache_fetch(&s->cache, key);
            if (seeds.count == SEEDS)
                sow(&s->cache, &seeds);
        }
    }
    sow(&s->cache, &seeds);
}

static void count_text(const struct bpe *m, struct bpe_scratch *s, size_t bytes)
{
    s->seen_bytes += bytes;
    if (s->seen_bytes >= MUCH_TEXT && !s->cache.large && s->cache_bytes > 0) {
        if (pretoken_cache_enlarge(&s->cache, s->cache_bytes))
            seed(m, s);
        else
            s->cache_bytes = 0; /* once is enough */
    }
}

/* A pretoken that the batch did not find: it may be there by now, or lie in a wider table. */
static enum leat_status encode_missed(const struct bpe *m, struct bpe_scratch *s, uint32_t at, struct leat_error *err)
{
    struct pretoken_batch *b = &s->batch;
    const uint8_t *pretoken = b->text + b->begins[at];
    size_t bytes = b->begins[at + 1] - b->begins[at], begin = s->many.count, count = 0;
    enum leat_status status = id_list_reserve(&s->many, PRETOKEN_IDS, err);
    struct pretoken_key key;

    if (status == LEAT_OK && bytes <= PRETOKEN_MAX) {
        key = pretoken_key_make(pretoken, bytes, b->parts[at]);
        count = pretoken_cache_find(&s->cache, &key, s->many.ids + begin);
        s->many.count += count;
    }
    if (status == LEAT_OK && count == 0) {
        status = b->parts[at] ? bpe_encode_merges(m, s, pretoken, bytes, &s->many, err)
                              : bpe_encode_whole(m, s, pretoken, bytes, &s->many, err);
        if (status == LEAT_OK && bytes <= PRETOKEN_MAX)
            pretoken_cache_add(&s->cache, &key, s->many.ids + begin, s->many.count - begin);
    }
    if (status != LEAT_OK)
        return status;
    count = s->many.count - begin;
    b->values[at] = pretoken_value(s->many.ids + begin, count, begin);
    if (pretoken_fits(s->many.ids + begin, count))
        s->many.count = begin;
    return status;
}

/* A part that is a token already has been looked up as the others; its id stands firm. */
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

static enum leat_status encode_batch(const struct bpe *m, struct bpe_scratch *s, struct id_list *out,
                                     struct leat_error *err)
{
    struct pretoken_batch *b = &s->batch;
    size_t max = bpe_symbols_max(m, BATCH_BYTES), known = (size_t)b->count * PRETOKEN_IDS;
    enum leat_status status;

    s->many.count = 0;
    if (!m->rules.pairs && known < max) /* only what is known is put there without asking for room */
        max = known;
    status = id_list_reserve(&s->many, max + 2 * PRETOKEN_IDS, err);
    if (status != LEAT_OK)
        return status;
    b->many = s->many.ids;
    b->many_count = 0;
    s->kernels->find(&s->cache, b);
    if (m->rules.pairs)
        s->kernels->merge(&m->rules, &s->cache, b);
    s->many.count = b->many_count;
    for (uint32_t i = 0; status == LEAT_OK && i < b->missed_count; i++)
        status = encode_missed(m, s, b->missed[i], err);
    for (uint32_t i = 0; status == LEAT_OK && i < b->fixed_count; i++)
        status = fix(s, b->fixed[i], err);
    if (status == LEAT_OK)
        status = id_list_reserve(&s->many, BATCH_OVER, err); /* ids are read many at a time, past the last */
    b->many = s->many.ids;
    if (status == LEAT_OK)
        status = id_list_reserve(out, 3 * (size_t)b->count + s->many.count + BATCH_OVER, err);
    if (status == LEAT_OK)
        out->count += s->kernels->write(b, out->ids + out->count);
    return status;
}

/* ---- Filling a batch ---- */

/* What is left of a run of pretokens: the next one begins at `begin`, or the rest of a cut one does. */
struct rest {
    const uint8_t *text;
    size_t bytes; /* that can be read */
    uint32_t begin;
    const uint32_t *ends, *last;
    bool inside; /* of a cut pretoken */
};

/* Where the batch's text lies, and the last place at which a pretoken may begin: kernels read on after it. The last
 * pretokens of a text go from a copy. */
struct place {
    uint8_t copy[3 * PRETOKEN_AHEAD];
    size_t room; /* bytes that can be read */
    uint32_t max;
};

static void place_text(struct place *p, struct pretoken_batch *b, const struct rest *r)
{
    size_t left = r->bytes - r->begin;

    b->text = r->text + r->begin;
    p->room = left;
    p->max = left - PRETOKEN_AHEAD < BATCH_BYTES ? (uint32_t)(left - PRETOKEN_AHEAD) : BATCH_BYTES;
    if (left < PRETOKEN_AHEAD) {
        memset(p->copy, 0, sizeof p->copy);
        memcpy(p->copy, b->text, left);
        b->text = p->copy;
        p->room = sizeof p->copy;
        p->max = PRETOKEN_AHEAD;
    }
}

static uint32_t end_of(const uint32_t *end)
{
    return *end & ~BPE_FIXED;
}

/* Moves on to a place, which may be inside of a pretoken; `next`: the first end that is not before. */
static void move_on(struct rest *r, const uint32_t *next, uint32_t to)
{
    r->inside = next == r->last || end_of(next) != to;
    r->ends = next + !r->inside;
    r->begin = to;
}

/* Takes as many pretokens as fit a batch, cut where there are characters beyond ASCII. What is not known to be whole,
 * since the batch ends within, and pretokens that begin where kernels could not read, remain for the next batch. */
static void fill(const struct bpe *m, struct bpe_scratch *s, struct rest *r, const struct place *p)
{
    struct pretoken_batch *b = &s->batch;
    uint32_t base = r->begin, bytes = end_of(r->last - 1) - base;
    const uint32_t *ends = r->ends, *next;
    bool cuts, inside = r->inside;

    if (bytes > BATCH_BYTES)
        for (bytes = BATCH_BYTES; (b->text[bytes] & 0xc0) == 0x80;)
            bytes--;
    cuts = m->byte_cuts.pairs && bytes_any_high(b->text, bytes);
    next = s->kernels->cut(cuts ? &m->byte_cuts : NULL, m->has_orphans ? m->orphans : NULL, b->text, bytes, p->room,
                           ends, r->last, base, b);
    if (inside)
        b->parts[0] = m->has_orphans;
    move_on(r, next, base + bytes);
    b->count -= r->inside;
    while (b->count > 0 && b->begins[b->count - 1] > p->max)
        b->count--;
    while (b->fixed_count > 0 && b->fixed[b->fixed_count - 1] >= b->count)
        b->fixed_count--;
    bytes = b->begins[b->count];
    while (next > ends && end_of(next - 1) >= base + bytes)
        next--;
    move_on(r, next, base + bytes);
    if (b->count == 0)
        r->inside = inside;
}

/* The end of the part of a pretoken that begins at text[begin]. */
static uint32_t part_end(const struct byte_cuts *c, const uint8_t *text, size_t bytes, uint32_t begin, uint32_t end)
{
    unsigned length = byte_cuts_length(text[begin]);
    uint32_t before = byte_cuts_load(text + begin, length, bytes - begin), at = begin + length;

    while (at < end) {
        uint32_t after;

        length = byte_cuts_length(text[at]);
        after = byte_cuts_load(text + at, length, bytes - at);
        if (length > 1 && byte_cuts_safe(c, before, text[at - 1], after))
            return at;
        before = after;
        at += length;
    }
    return end;
}

/* A pretoken, or a part of one, that is longer than a batch; `parts`: no pretoken is one of its own. */
static enum leat_status encode_long(const struct bpe *m, struct bpe_scratch *s, struct rest *r, bool parts,
                                    struct id_list *out, struct leat_error *err)
{
    const uint8_t *text = r->text + r->begin;
    uint32_t pretoken_end = end_of(r->ends), end = pretoken_end;
    bool fixed = pretoken_end != *r->ends;
    enum leat_status status;

    if (m->byte_cuts.pairs && !fixed)
        end = part_end(&m->byte_cuts, r->text, r->bytes, r->begin, pretoken_end);
    if (fixed)
        status = id_list_append(out, s->fixed.ids[s->fixed_used++], err);
    else if (parts || r->inside || end < pretoken_end)
        status = bpe_encode_merges(m, s, text, end - r->begin, out, err);
    else
        status = bpe_encode(m, s, text, end - r->begin, out, err);
    r->begin = end;
    r->inside = end < pretoken_end;
    r->ends += !r->inside;
    return status;
}

static enum leat_status encode_rest(const struct bpe *m, struct bpe_scratch *s, struct rest *r, bool parts,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    struct place place;

    if (r->ends < r->last)
        count_text(m, s, end_of(r->last - 1) - r->begin);
    while (status == LEAT_OK && r->ends < r->last) {
        place_text(&place, &s->batch, r);
        fill(m, s, r, &place);
        status = s->batch.count > 0 ? encode_batch(m, s, out, err) : encode_long(m, s, r, parts, out, err);
    }
    return status;
}

enum leat_status bpe_encode_parts(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                  struct leat_error *err)
{
    struct rest r = { .text = text, .bytes = bytes, .begin = begin, .ends = ends, .last = ends + count };

    return encode_rest(m, s, &r, true, out, err);
}

/* Models whose pretokens fall into parts of another kind: those keep to themselves. */
static enum leat_status encode_each(const struct bpe *m, struct bpe_scratch *s, struct rest *r, struct id_list *out,
                                    struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (; status == LEAT_OK && r->ends < r->last; r->begin = *r->ends++)
        status = bpe_encode(m, s, r->text + r->begin, *r->ends - r->begin, out, err);
    return status;
}

enum leat_status bpe_encode_pretokens(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                      uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                      struct leat_error *err)
{
    struct rest r = { .text = text, .bytes = bytes, .begin = begin, .ends = ends, .last = ends + count };

    return m->cuts || m->apart ? encode_each(m, s, &r, out, err) : encode_rest(m, s, &r, false, out, err);
}
