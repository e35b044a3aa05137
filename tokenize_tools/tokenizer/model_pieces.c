/*
 * model_pieces.c: many pieces at once, by way of the cache (piece_batch.h); what it does not know is merged and goes into
 * it. Here are the borders: between batches, at the end of the text, where kernels must not read on, and around pieces
 * so long that they are better off alone.
 */
#include <string.h>

#include "base/tiny.h"
#include "model_parts.h"

/* After so much text a larger cache is worth its making. */
#define MUCH_TEXT ((size_t)TINY_OR(64, 1 << 18))

/* Lines of the cache that are on their way at the same time. */
#define SEEDS 16

struct seeds {
    struct piece_key keys[SEEDS];
    uint32_t ids[SEEDS];
    unsigned count;
};

static void sow(struct piece_cache *c, struct seeds *seeds)
{
    for (unsigned i = 0; i < seeds->count; i++)
        piece_cache_add(c, &seeds->keys[i], &seeds->ids[i], 1);
    seeds->count = 0;
}

/* The vocabulary itself: tokens that their own text becomes, and the others where a piece that is a token is that token;
 * but not where such a piece is cut. The last first: where a line is too small for all, the common ones push the rare
 * ones out. */
static void seed(const struct model *m, struct model_scratch *s)
{
    bool all = m->whole && !m->cuts;
    struct seeds seeds = { .count = 0 };

    for (uint32_t i = m->spec->token_count; i-- > 0;) {
        const struct spec_token *t = &m->spec->tokens[i];

        if (!t->foreign && t->length > 0 && t->length <= PIECE_MOST && (all || !orphan_is(m->orphans, i))) {
            struct piece_key *key = &seeds.keys[seeds.count];

            *key = piece_key_make(spec_token_bytes(m->spec, t), t->length, 0);
            seeds.ids[seeds.count++] = t->id;
            piece_cache_fetch(&s->cache, key);
            if (seeds.count == SEEDS)
                sow(&s->cache, &seeds);
        }
    }
    sow(&s->cache, &seeds);
}

static void count_text(const struct model *m, struct model_scratch *s, size_t bytes)
{
    s->seen_bytes += bytes;
    if (s->seen_bytes >= MUCH_TEXT && !s->cache.large && s->cache_bytes > 0) {
        if (piece_cache_enlarge(&s->cache, s->cache_bytes))
            seed(m, s);
        else
            s->cache_bytes = 0; /* once is enough */
    }
}

/* A piece that the batch did not find: it may be there by now, or lie in a wider table. */
static enum leat_status encode_missed(const struct model *m, struct model_scratch *s, uint32_t at,
                                      struct leat_error *err)
{
    struct piece_batch *b = &s->batch;
    const uint8_t *piece = b->text + b->begins[at];
    size_t bytes = b->begins[at + 1] - b->begins[at], begin = s->many.count, count = 0;
    enum leat_status status = id_list_reserve(&s->many, PIECE_IDS, err);
    struct piece_key key;

    if (status == LEAT_OK && bytes <= PIECE_MOST) {
        key = piece_key_make(piece, bytes, b->parts[at]);
        count = piece_cache_find(&s->cache, &key, s->many.ids + begin);
        s->many.count += count;
    }
    if (status == LEAT_OK && count == 0) {
        status = b->parts[at] ? model_encode_merges(m, s, piece, bytes, &s->many, err)
                              : model_encode_whole(m, s, piece, bytes, &s->many, err);
        if (status == LEAT_OK && bytes <= PIECE_MOST)
            piece_cache_add(&s->cache, &key, s->many.ids + begin, s->many.count - begin);
    }
    if (status != LEAT_OK)
        return status;
    count = s->many.count - begin;
    b->values[at] = piece_value(s->many.ids + begin, count, begin);
    if (piece_fits(s->many.ids + begin, count))
        s->many.count = begin;
    return status;
}

/* A part that is a token already has been looked up as the others; its id stands firm. */
static enum leat_status fix(struct model_scratch *s, uint32_t at, struct leat_error *err)
{
    enum leat_status status = id_list_reserve(&s->many, 1, err);

    if (status != LEAT_OK)
        return status;
    s->many.ids[s->many.count] = s->fixed.ids[s->fixed_used++];
    s->batch.values[at] = piece_value(s->many.ids + s->many.count, 1, s->many.count);
    s->many.count++;
    return LEAT_OK;
}

static enum leat_status encode_batch(const struct model *m, struct model_scratch *s, struct id_list *out,
                                     struct leat_error *err)
{
    struct piece_batch *b = &s->batch;
    enum leat_status status;

    s->many.count = 0;
    status = id_list_reserve(&s->many, BATCH_BYTES + 2 * PIECE_IDS, err); /* no piece has more ids than bytes */
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
    for (uint32_t i = 0; status == LEAT_OK && i < s->fixed_count; i++)
        status = fix(s, s->fixed_at[i], err);
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

/* What is left of a run of pieces: the next one begins at `begin`, or the rest of a cut one does. */
struct rest {
    const uint8_t *text;
    size_t bytes; /* that can be read */
    uint32_t begin;
    const uint32_t *ends, *last;
    bool inside; /* of a cut piece */
};

/* Where the batch's text lies, and the last place at which a piece may begin: kernels read on behind it. The last pieces
 * of a text go from a copy. */
struct place {
    uint8_t copy[3 * PIECE_AHEAD];
    size_t room; /* bytes that can be read */
    uint32_t most;
};

static void place_text(struct place *p, struct piece_batch *b, const struct rest *r)
{
    size_t left = r->bytes - r->begin;

    b->text = r->text + r->begin;
    p->room = left;
    p->most = left - PIECE_AHEAD < BATCH_BYTES ? (uint32_t)(left - PIECE_AHEAD) : BATCH_BYTES;
    if (left < PIECE_AHEAD) {
        memset(p->copy, 0, sizeof p->copy);
        memcpy(p->copy, b->text, left);
        b->text = p->copy;
        p->room = sizeof p->copy;
        p->most = PIECE_AHEAD;
    }
}

/* How many of the pieces fit into a batch. */
static size_t count_fitting(const struct rest *r, size_t most)
{
    size_t count = (size_t)(r->last - r->ends) < BATCH_PIECES ? (size_t)(r->last - r->ends) : BATCH_PIECES;

    while (count > 0 && r->ends[count - 1] - r->begin > most)
        count = count > 1 && r->ends[count / 2] - r->begin > most ? count / 2 : count - 1;
    return count;
}

/* Pieces as they are. Not inside of a cut one: its rest begins with a character beyond ASCII. */
static void fill_whole(struct piece_batch *b, struct rest *r, const struct place *p)
{
    size_t count = count_fitting(r, BATCH_BYTES);
    uint32_t base = r->begin;

    while (count > 1 && r->ends[count - 2] - base > p->most)
        count--;
    b->begins[0] = 0;
    for (size_t i = 0; i < count; i++)
        b->begins[i + 1] = r->ends[i] - base;
    memset(b->parts, 0, count);
    b->count = (uint32_t)count;
    r->ends += count;
    r->begin = base + b->begins[count];
}

/* Moves on to a place, which may be inside of a piece. */
static void move_on(struct rest *r, uint32_t to)
{
    while (r->ends < r->last && *r->ends < to)
        r->ends++;
    r->inside = r->ends == r->last || *r->ends != to;
    r->ends += !r->inside;
    r->begin = to;
}

/* Pieces cut wherever they may be. The last part remains, if its end is not there. */
static void fill_cut(const struct model *m, struct model_scratch *s, struct rest *r, const struct place *p)
{
    struct piece_batch *b = &s->batch;
    uint32_t base = r->begin, bytes = r->last[-1] - base;
    const struct rest before = *r;

    if (bytes > BATCH_BYTES)
        for (bytes = BATCH_BYTES; (b->text[bytes] & 0xc0) == 0x80;)
            bytes--;
    s->kernels->cut(&m->byte_cuts, m->has_orphans ? m->orphans : NULL, b->text, bytes, p->room, r->ends, r->last, base,
                    b);
    if (r->inside)
        b->parts[0] = m->has_orphans;
    move_on(r, base + bytes);
    b->count -= r->inside;
    while (b->count > 0 && b->begins[b->count - 1] > p->most)
        b->count--;
    if (b->begins[b->count] == bytes)
        return;
    *r = before;
    if (b->count > 0)
        move_on(r, base + b->begins[b->count]);
}

/* The end of the part of a piece that begins at text[begin]. */
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

/* A piece, or a part of one, that is longer than a batch. */
static enum leat_status encode_long(const struct model *m, struct model_scratch *s, struct rest *r, struct id_list *out,
                                    struct leat_error *err)
{
    const uint8_t *text = r->text + r->begin;
    uint32_t end = m->rules.pairs ? part_end(&m->byte_cuts, r->text, r->bytes, r->begin, *r->ends) : *r->ends;
    enum leat_status status = r->inside || end < *r->ends ? model_encode_merges(m, s, text, end - r->begin, out, err)
                                                          : model_encode(m, s, text, end - r->begin, out, err);

    r->begin = end;
    r->inside = end < *r->ends;
    r->ends += !r->inside;
    return status;
}

static enum leat_status encode_next(const struct model *m, struct model_scratch *s, struct rest *r, struct id_list *out,
                                    struct leat_error *err)
{
    uint32_t all = r->last[-1] - r->begin;
    struct place place;

    place_text(&place, &s->batch, r);
    if (m->rules.pairs && bytes_any_high(s->batch.text, all < BATCH_BYTES ? all : BATCH_BYTES))
        fill_cut(m, s, r, &place);
    else
        fill_whole(&s->batch, r, &place);
    return s->batch.count > 0 ? encode_batch(m, s, out, err) : encode_long(m, s, r, out, err);
}

/* ---- Parts that a model has cut itself ---- */

/* Parts that have been cut by their bytes already, and are not longer, are left as they are: nearly all of them are in
 * the cache. */
#define CUT_LEAST 15

static inline void add(struct piece_batch *b, uint32_t begin, unsigned part)
{
    b->begins[b->count] = begin;
    b->parts[b->count++] = (uint8_t)part;
}

/* So many parts at a time are added as they are, if none is fixed or may be cut. */
#define PLAIN_PARTS 16

static bool add_plain(struct piece_batch *b, struct rest *r, uint32_t base, uint32_t begin, uint32_t most, bool cuts)
{
    uint32_t flags = 0, longest = 0, before = begin;

    if (r->inside || r->last - r->ends < PLAIN_PARTS || b->count + PLAIN_PARTS > BATCH_PIECES ||
        (r->ends[PLAIN_PARTS - 1] & ~MODEL_FIXED) - base > most)
        return false;
    for (unsigned i = 0; i < PLAIN_PARTS; i++) {
        uint32_t end = r->ends[i] - base, bytes = end - before;

        flags |= r->ends[i];
        longest = bytes > longest ? bytes : longest;
        b->begins[b->count + i] = before;
        before = end;
    }
    if (flags & MODEL_FIXED || (cuts && longest > CUT_LEAST))
        return false;
    memset(b->parts + b->count, 0, PLAIN_PARTS);
    b->count += PLAIN_PARTS;
    r->ends += PLAIN_PARTS;
    return true;
}

/* Adds what fits of the pieces. Nothing, if the first is too long for a batch: *end is then where it ends. */
static void fill_parts(const struct model *m, struct model_scratch *s, struct rest *r, const struct place *p,
                       uint32_t *end)
{
    struct piece_batch *b = &s->batch;
    uint32_t base = r->begin, begin = 0, all = (r->last[-1] & ~MODEL_FIXED) - base, one_by_one = 0;
    uint32_t most = p->most < BATCH_BYTES ? p->most : BATCH_BYTES;
    bool cuts = m->byte_cuts.pairs && bytes_any_high(b->text, all < BATCH_BYTES ? all : BATCH_BYTES);

    b->count = s->fixed_count = 0;
    while (b->count < BATCH_PIECES && r->ends < r->last && begin <= p->most) {
        uint32_t piece_end = (*r->ends & ~MODEL_FIXED) - base;
        bool fixed = (*r->ends & MODEL_FIXED) != 0;

        if (one_by_one-- == 0) {
            one_by_one = PLAIN_PARTS;
            if (add_plain(b, r, base, begin, most, cuts)) {
                one_by_one = 0;
                begin = *end = r->ends[-1] - base;
                continue;
            }
        }
        *end = piece_end;
        if (cuts && !fixed &&
            (r->inside || (piece_end - begin > CUT_LEAST && bytes_any_high(b->text + begin, piece_end - begin))))
            *end = part_end(&m->byte_cuts, b->text, p->room, begin, piece_end);
        if (*end > BATCH_BYTES)
            break;
        s->fixed_at[s->fixed_count] = b->count;
        s->fixed_count += fixed;
        add(b, begin, m->has_orphans && (r->inside || *end < piece_end));
        r->inside = *end < piece_end;
        r->ends += !r->inside;
        begin = *end;
    }
    b->begins[b->count] = begin;
    r->begin = base + begin;
    *end += base;
}

/* The same of a part that is longer than a batch. */
static enum leat_status encode_long_part(const struct model *m, struct model_scratch *s, struct rest *r, uint32_t end,
                                         struct id_list *out, struct leat_error *err)
{
    uint32_t piece_end = *r->ends & ~MODEL_FIXED;
    bool fixed = piece_end != *r->ends;
    const uint8_t *text = r->text + r->begin;
    enum leat_status status = fixed ? id_list_append(out, s->fixed.ids[s->fixed_used++], err)
                                    : model_encode_merges(m, s, text, end - r->begin, out, err);

    r->begin = end;
    r->inside = end < piece_end;
    r->ends += !r->inside;
    return status;
}

enum leat_status model_encode_parts(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err)
{
    struct rest r = { .text = text, .bytes = bytes, .begin = begin, .ends = ends, .last = ends + count };
    enum leat_status status = LEAT_OK;
    struct place place;
    uint32_t end = begin;

    if (count > 0)
        count_text(m, s, (ends[count - 1] & ~MODEL_FIXED) - begin);
    while (status == LEAT_OK && r.ends < r.last) {
        place_text(&place, &s->batch, &r);
        fill_parts(m, s, &r, &place, &end);
        status = s->batch.count > 0 ? encode_batch(m, s, out, err) : encode_long_part(m, s, &r, end, out, err);
    }
    return status;
}

/* ---- Pieces ---- */

/* Models whose pieces fall into parts of another kind: those keep to themselves. */
static enum leat_status encode_each(const struct model *m, struct model_scratch *s, struct rest *r, struct id_list *out,
                                    struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (; status == LEAT_OK && r->ends < r->last; r->begin = *r->ends++)
        status = model_encode(m, s, r->text + r->begin, *r->ends - r->begin, out, err);
    return status;
}

enum leat_status model_encode_pieces(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    struct rest r = { .text = text, .bytes = bytes, .begin = begin, .ends = ends, .last = ends + count };
    enum leat_status status = LEAT_OK;

    if (m->cuts || m->apart)
        return encode_each(m, s, &r, out, err);
    if (count > 0)
        count_text(m, s, ends[count - 1] - begin);
    s->fixed_count = 0;
    while (status == LEAT_OK && r.ends < r.last)
        status = encode_next(m, s, &r, out, err);
    return status;
}
