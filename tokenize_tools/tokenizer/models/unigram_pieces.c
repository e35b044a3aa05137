/*
 * unigram_pieces.c: encodes with a Unigram model by pieces that a cache can hold, exactly.
 *
 * A text is cut between characters that stand side by side in no token (class_cuts.h, char_cuts.h): all ways meet
 * there. The best way through a piece then depends on what is before it by rounding only: sums begin at the sum so far,
 * and the references' additions lose bits. probe() finds how much better the best way through a piece is than any
 * other. If that is more than all its additions can lose, for any sum that comes, the piece's ids are always the same
 * and go into the cache. All other pieces are "apart", some in a hundred: unigram_path.c takes them from the sum so far
 * as the reference does. So do pieces with unknown characters, runs of which may go on in the next piece.
 *
 * For this the sum must be known, to the last bit: the scores of ids that were written are added one by one. Where a
 * sum comes near the limit at which sentencepiece subtracts it from all sums, unigram_path.c goes on, too.
 */
#include "unigram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"

/* Scores further from 0 are not for this way. */
#define SCORE_MAX 500.0

/* How far from 0 sums of doubles may be at the beginning of a piece. */
#define WIDE_SUM_MAX 8e9

/* Cuts that are looked for at a time. */
#define CUTS ((size_t)TINY_OR(5, 4000))

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void mark_pairs(struct class_cuts_pairs *pairs, const uint8_t *text, size_t bytes)
{
    for (size_t i = 1; i < bytes; i++)
        class_cuts_pairs_add(pairs, text[i - 1], text[i]);
}

static enum leat_status make_cuts(struct unigram *m, struct leat_error *err)
{
    struct class_cuts_pairs *pairs = calloc(1, sizeof *pairs);

    if (!pairs)
        return status_no_memory(err, sizeof *pairs);
    for (uint32_t i = 0; i < m->spec->token_count; i++)
        if (!m->spec->tokens[i].foreign)
            mark_pairs(pairs, spec_token_bytes(m->spec, &m->spec->tokens[i]), m->spec->tokens[i].length);
    class_cuts_make(&m->classes, pairs);
    free(pairs);
    return char_cuts_make(&m->char_cuts, m->spec, err);
}

enum leat_status unigram_make_pieces(struct unigram *m, struct leat_error *err)
{
    size_t bytes = ((size_t)m->spec->token_count + 1) * sizeof *m->floats;

    m->highest = fabs(m->unknown_score);
    for (uint32_t i = 0; i < m->spec->token_count; i++)
        if (!(fabs(m->scores[i]) <= m->highest))
            m->highest = fabs(m->scores[i]);
    m->by_pieces = m->highest <= SCORE_MAX; /* not if one is not a number */
    if (!m->by_pieces)
        return LEAT_OK;
    m->floats = m->narrow ? malloc(bytes) : NULL; /* one more: of stand_in */
    if (m->narrow && !m->floats)
        return status_no_memory(err, bytes);
    for (uint32_t i = 0; m->narrow && i < m->spec->token_count; i++)
        m->floats[i] = (float)m->scores[i];
    if (m->narrow)
        m->floats[m->spec->token_count] = (float)m->unknown_score;
    return make_cuts(m, err);
}

/* ---- A piece ----------------------------------------------------------------------------------------------------- */

/* For lookup_batch_find(): what is not the same wherever it stands is apart. */
static enum leat_status set_apart(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                  struct id_list *out, bool *apart, struct leat_error *err)
{
    (void)context;
    (void)scratch;
    (void)text;
    (void)bytes;
    (void)out;
    (void)err;
    *apart = true;
    return LEAT_OK;
}

static void probe(const void *context, void *scratch, struct lookup_piece *pieces, unsigned count)
{
    unigram_search_run(context, scratch, pieces, count);
}

/* How pieces are looked up: those whose ids are not the same wherever they stand are apart. */
static struct lookup_way unigram_probing(const struct unigram *m, struct unigram_scratch *s)
{
    return (struct lookup_way) { .one = set_apart, .some = probe, .context = m, .scratch = s->search };
}

/* ---- Pieces in a row --------------------------------------------------------------------------------------------- */

/* Whether the run of unknown characters may go on in the next piece, which then must not be taken from the cache. If
 * `narrow`, no run waits for its end, and fuse() knows whether one has been written. */
static bool in_run(const struct unigram_walk *w)
{
    return (w->m->stand_in == TOKEN_NONE || !w->m->narrow) && (w->run_begin != w->run_end || w->s->written);
}

/* Writes one unknown token for each run of stand-ins; the first may go on with a run that has been written. */
static void fuse(struct unigram_walk *w, size_t from)
{
    uint32_t *ids = w->out->ids;
    size_t to = from;

    for (size_t i = from; i < w->out->count; i++) {
        bool unknown = ids[i] == w->m->stand_in;

        ids[to] = unknown ? w->m->spec->unknown : ids[i];
        to += !unknown || !w->s->written;
        w->s->written = unknown;
    }
    w->out->count = to;
}

/* Encodes the text from `cut` to another cut as the reference does. */
static enum leat_status walk_to(struct unigram_walk *w, size_t end)
{
    size_t bytes = w->bytes;
    bool last = w->last;
    enum leat_status s;

    w->bytes = end;
    w->last = true;
    s = unigram_walk(w);
    w->bytes = bytes;
    w->last = last;
    return s;
}

/* More than one addition of floats can lose. */
#define NARROW_ERROR 1.0

/* In their order: sums depend on it. */
static float add_floats(float sum, const float *floats, const uint32_t *ids, size_t count, uint32_t *greatest)
{
    uint32_t most = 0;

    for (size_t i = 0; i < count; i++) {
        most = ids[i] > most ? ids[i] : most;
        sum += floats[ids[i]];
    }
    *greatest = most;
    return sum;
}

/* Adds the scores of ids that begin with out->ids[from]; false if a sum is too far from 0 for pieces. *greatest: of
 * these ids. */
static bool add_scores(struct unigram_walk *w, size_t from, double margin, uint32_t *greatest)
{
    const uint32_t *ids = w->out->ids;
    float sum = (float)w->s->sum, low = sum, high = sum;
    double wide = w->s->sum, max = WIDE_SUM_MAX - margin;

    if (!w->m->narrow) {
        for (size_t i = from; i < w->out->count; i++) {
            *greatest = ids[i] > *greatest ? ids[i] : *greatest;
            wide += w->m->scores[ids[i]];
        }
        w->s->sum = wide;
        return fabs(wide) + (double)(w->out->count - from) * w->m->highest < max;
    }
    if (fabs(sum) + (double)(w->out->count - from) * (w->m->highest + NARROW_ERROR) < UNIGRAM_SUM_MAX - margin) {
        w->s->sum = add_floats(sum, w->m->floats, ids + from, w->out->count - from, greatest);
        return true;
    }
    for (size_t i = from; i < w->out->count; i++) {
        *greatest = ids[i] > *greatest ? ids[i] : *greatest;
        sum += w->m->floats[ids[i]];
        low = sum < low ? sum : low;
        high = sum > high ? sum : high;
    }
    w->s->sum = sum;
    return -low < UNIGRAM_SUM_MAX - margin && high < UNIGRAM_SUM_MAX - margin;
}

/* Encodes pieces from one to another, none of which is apart; false, and nothing done, if sums are too far from 0. */
static enum leat_status take_known(struct unigram_walk *w, uint32_t from, uint32_t to, size_t base, size_t longest,
                                   bool *done)
{
    const uint32_t *begins = w->s->batch->batch.begins;
    size_t before = w->out->count;
    double sum = w->s->sum;
    uint32_t greatest = 0;
    enum leat_status s = lookup_batch_write(w->s->batch, from, to, w->out, w->err);

    *done = s != LEAT_OK || add_scores(w, before, (double)longest * w->m->highest, &greatest);
    if (*done) {
        if (greatest == w->m->stand_in || w->s->written)
            fuse(w, before);
        w->cut = base + begins[to];
    } else {
        w->s->sum = sum;
        w->out->count = before;
    }
    return s;
}

/* The same, one by one where sums are far from 0. */
static enum leat_status take_pieces(struct unigram_walk *w, uint32_t from, uint32_t to, size_t base)
{
    const uint32_t *begins = w->s->batch->batch.begins;
    enum leat_status s;
    bool done;

    if (from == to)
        return LEAT_OK;
    s = take_known(w, from, to, base, PRETOKEN_MAX, &done);
    for (uint32_t i = from; s == LEAT_OK && !done && i < to; i++) {
        bool known = false;

        if (!in_run(w))
            s = take_known(w, i, i + 1, base, begins[i + 1] - begins[i], &known);
        if (s == LEAT_OK && !known)
            s = walk_to(w, base + begins[i + 1]);
    }
    return s;
}

static enum leat_status take_batch(struct unigram_walk *w, size_t base)
{
    struct lookup_batch *l = w->s->batch;
    const struct pretoken_batch *b = &l->batch;
    const struct lookup_way way = unigram_probing(w->m, w->s);
    enum leat_status s = lookup_batch_find(l, &way, w->err);

    for (uint32_t at = 0; s == LEAT_OK && at < b->count;) {
        uint32_t end = b->count - at < 64 - at % 64 ? b->count : at - at % 64 + 64;
        uint64_t apart = l->apart[at / 64] >> at % 64;
        uint32_t next = apart ? at + (uint32_t)__builtin_ctzll(apart) : end;

        if (in_run(w))
            next = at;
        s = take_pieces(w, at, next, base);
        if (s == LEAT_OK && next < end)
            s = walk_to(w, base + b->begins[++next]);
        at = next;
    }
    unigram_walk_note(w);
    return s;
}

/* Encodes pieces that end at ends[0] to ends[count - 1]; the first begins at `cut`. */
static enum leat_status take_run(struct unigram_walk *w, const uint32_t *ends, size_t count)
{
    struct lookup_batch *l = w->s->batch;
    struct pretoken_rest r = {
        .text = w->text, .bytes = w->bytes, .begin = (uint32_t)w->cut, .ends = ends, .last = ends + count
    };
    enum leat_status s = LEAT_OK;
    struct pretoken_place place;

    while (s == LEAT_OK && r.ends < r.last) {
        size_t base = r.begin;

        pretoken_place_text(&place, &l->batch, &r);
        pretoken_fill(&l->batch, l->kernels, &w->m->char_cuts, NULL, &r, &place);
        if (l->batch.count > 0) {
            memset(l->batch.parts, w->m->narrow, l->batch.count); /* as a pretoken, a piece may have other ids */
            s = take_batch(w, base);
            continue;
        }
        s = walk_to(w, *r.ends);
        r.begin = *r.ends++;
        r.inside = false;
    }
    return s;
}

enum leat_status unigram_walk_pieces(struct unigram_walk *w)
{
    const struct class_cuts_kernels *cutter = w->s->batch->cutter;
    uint32_t ends[CUTS + CUT_SLACK + 1];
    enum leat_status s = LEAT_OK;

    if (w->bytes >= BATCH_FIXED)
        return unigram_walk(w);
    lookup_batch_note(w->s->batch, w->bytes);
    for (size_t from = w->cut + 1, to; s == LEAT_OK && from < w->bytes; from = to) {
        size_t count = cutter->find(&w->m->classes, w->text, from, w->bytes, ends, CUTS, &to);

        s = take_run(w, ends, count);
    }
    /* what is after the last cut may go on */
    if (s != LEAT_OK || !w->last)
        return s == LEAT_OK ? unigram_walk(w) : s;
    ends[0] = (uint32_t)w->bytes;
    return w->cut < w->bytes ? take_run(w, ends, 1) : s;
}

/* ---- Groups of pretokens ----------------------------------------------------------------------------------------- */

/*
 * Many pretokens of a tokenizer.json at once. Each begins with a sum of 0, so it could go into the cache as it is. But
 * its pieces, cut where all ways meet, come again more often than words do, and pretokens that are too long for the
 * cache need no way of their own. So a group of pretokens is cut at their ends and inside of them, and its pieces are
 * looked up together. If one is apart, because another way is nearly as good or a character is unknown, the whole
 * pretoken around it goes through the lattice, and into the cache as one of the other kind.
 */

/* Bytes of pretokens that are looked up together; a longer one is encoded alone. */
#define GROUP ((size_t)TINY_OR(40, 8192))

struct unigram_group {
    uint32_t cuts[GROUP + CUT_SLACK];
    uint32_t ends[GROUP + CUT_SLACK];
    uint8_t copy[GROUP + PRETOKEN_AHEAD];
};

/* Pretokens whose pieces have been looked up. */
struct group {
    const struct unigram *m;
    struct unigram_scratch *s;
    const uint8_t *text;
    uint32_t base;         /* of the ends in the text */
    const uint32_t *ends;  /* of pretokens that have not been passed yet */
    uint32_t begin;        /* of the first of these, in the group */
    uint32_t done;         /* pieces that have been written */
    const uint32_t *fused; /* of pretokens whose unknown characters may still have to be fused */
    struct id_list *out;
    struct leat_error *err;
};

enum leat_status unigram_group_make(struct unigram_group **out, struct leat_error *err)
{
    *out = malloc(sizeof **out);
    return *out ? LEAT_OK : status_no_memory(err, sizeof **out);
}

/* Both lists as one, each place once, up to the last of `cuts`, which is one of `ends`; returns their number. */
static size_t join(uint32_t *to, const uint32_t *cuts, const uint32_t *ends, uint32_t base, uint32_t last)
{
    size_t count = 0;

    do {
        uint32_t cut = *cuts, end = *ends - base;

        to[count] = cut < end ? cut : end;
        cuts += cut <= end;
        ends += end <= cut;
    } while (to[count++] != last);
    return count;
}

/* Fills the batch with the pieces of pretokens of `bytes` bytes. */
static void cut(const struct group *g, size_t bytes, size_t room)
{
    struct unigram_group *u = g->s->group;
    struct lookup_batch *l = g->s->batch;
    struct pretoken_rest r = { .text = g->text, .bytes = room, .ends = u->ends };
    struct pretoken_place place;
    size_t reached, count = l->cutter->find(&g->m->classes, g->text, 1, bytes, u->cuts, GROUP, &reached);

    u->cuts[count] = (uint32_t)bytes;
    r.last = u->ends + join(u->ends, u->cuts, g->ends, g->base, (uint32_t)bytes);
    pretoken_place_text(&place, &l->batch, &r);
    pretoken_fill(&l->batch, l->kernels, &g->m->char_cuts, NULL, &r, &place);
}

/* Writes one unknown token for each run of stand-ins in a pretoken, of pieces from one on that have been written. */
static void fuse_group(struct group *g, uint32_t from, uint32_t to, uint32_t *ids)
{
    const struct pretoken_batch *b = &g->s->batch->batch;
    uint32_t *next = ids;
    bool unknown = false;

    for (uint32_t piece = from; piece < to; piece++) {
        while (*g->fused - g->base < b->begins[piece])
            g->fused++;
        unknown = unknown && *g->fused - g->base != b->begins[piece];
        for (size_t count = pretoken_value_count(b->values[piece]); count > 0; count--, next++) {
            bool is = *next == g->m->stand_in;

            *ids = is ? g->m->spec->unknown : *next;
            ids += !is || !unknown;
            unknown = is;
        }
    }
    g->out->count = (size_t)(ids - g->out->ids);
}

/* Writes the pieces up to one of them, which begins a pretoken, as does the first that has not been written. */
static enum leat_status write_to(struct group *g, uint32_t piece)
{
    uint32_t from = g->done, any = 0;
    size_t before = g->out->count;
    enum leat_status s;

    g->done = piece;
    if (from >= piece)
        return LEAT_OK;
    s = lookup_batch_write(g->s->batch, from, piece, g->out, g->err);
    if (g->m->stand_in != TOKEN_NONE) /* what compilers make vectors of */
        for (size_t i = before; i < g->out->count; i++)
            any |= g->out->ids[i] == g->m->stand_in;
    if (s == LEAT_OK && any)
        fuse_group(g, from, piece, g->out->ids + before);
    return s;
}

/* Encodes a pretoken, which the cache may know as a whole. */
static enum leat_status take_whole(struct group *g, const uint8_t *text, size_t bytes)
{
    struct pretoken_cache *cache = &g->s->batch->cache;
    enum leat_status s = id_list_reserve(g->out, PRETOKEN_IDS, g->err);
    size_t before = g->out->count;
    struct pretoken_key key;

    if (s != LEAT_OK)
        return s;
    if (bytes > PRETOKEN_MAX)
        return unigram_encode_whole(g->m, g->s, text, bytes, g->out, g->err);
    key = pretoken_key_make(text, bytes, 1);
    g->out->count += pretoken_cache_find(cache, &key, g->out->ids + before);
    if (g->out->count > before)
        return LEAT_OK;
    s = unigram_encode_whole(g->m, g->s, text, bytes, g->out, g->err);
    if (s == LEAT_OK)
        pretoken_cache_add(cache, &key, g->out->ids + before, g->out->count - before);
    return s;
}

/* Encodes the pretoken around a piece, after the pieces before it. */
static enum leat_status take_around(struct group *g, uint32_t piece)
{
    const uint32_t *begins = g->s->batch->batch.begins;
    uint32_t end, first = piece;
    enum leat_status s;

    for (; *g->ends - g->base <= begins[piece]; g->ends++)
        g->begin = *g->ends - g->base;
    while (begins[first] > g->begin)
        first--;
    s = write_to(g, first);
    end = *g->ends++ - g->base;
    if (s == LEAT_OK)
        s = take_whole(g, g->text + g->begin, end - g->begin);
    for (g->begin = end; begins[g->done] < end;)
        g->done++;
    return s;
}

/* Encodes pretokens of `bytes` bytes, of `room` that can be read. */
static enum leat_status take_group(struct group *g, size_t bytes, size_t room)
{
    const struct lookup_way way = unigram_probing(g->m, g->s);
    struct lookup_batch *l = g->s->batch;
    enum leat_status s;

    if (room < bytes + PRETOKEN_AHEAD) {
        memcpy(g->s->group->copy, g->text, bytes);
        memset(g->s->group->copy + bytes, 0, PRETOKEN_AHEAD);
        g->text = g->s->group->copy;
        room = bytes + PRETOKEN_AHEAD;
    }
    cut(g, bytes, room);
    s = lookup_batch_find(l, &way, g->err);
    for (uint32_t word = 0; s == LEAT_OK && word <= l->batch.count / 64; word++)
        for (uint64_t apart = l->apart[word]; s == LEAT_OK && apart; apart &= apart - 1) {
            uint32_t piece = 64 * word + (uint32_t)__builtin_ctzll(apart);

            if (piece >= g->done)
                s = take_around(g, piece);
        }
    return s == LEAT_OK ? write_to(g, l->batch.count) : s;
}

enum leat_status unigram_encode_groups(const struct unigram *m, struct unigram_scratch *s,
                                       const struct model_pretokens *p, struct id_list *out, struct leat_error *err)
{
    const uint32_t *ends = p->ends, *last = ends + p->count;
    enum leat_status status = LEAT_OK;
    uint32_t begin = p->begin;

    if (p->count > 0)
        lookup_batch_note(s->batch, last[-1] - begin);
    while (status == LEAT_OK && ends < last) {
        struct group g = { m, s, p->text + begin, begin, ends, 0, 0, ends, out, err };

        for (; ends < last && *ends - g.base <= GROUP; ends++)
            begin = *ends;
        if (begin > g.base) {
            status = take_group(&g, begin - g.base, p->bytes - g.base);
            continue;
        }
        status = unigram_encode(&m->model, s, p->text + begin, *ends - begin, out, err);
        begin = *ends++;
    }
    return status;
}
