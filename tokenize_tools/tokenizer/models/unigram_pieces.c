/*
 * unigram_pieces.c: encodes with a Unigram model by pieces that a cache can hold, exactly.
 *
 * A text is cut between characters that stand side by side in no token (class_cuts.h, char_cuts.h): all ways meet
 * there. The best way through a piece then depends on the text before it by rounding only: sums begin at the sum so
 * far, and the references' additions lose bits. search() finds how much better the best way through a piece is than any
 * other. If that is more than all its additions can lose, for any sum, the ids of the piece do not depend on the text
 * around it, and go into the cache. A few pieces in a hundred are "apart": unigram_path.c encodes them from the sum so
 * far as the reference does. Pieces with unknown characters are apart, too, since a run of these may go on in the next
 * piece.
 *
 * The sum must be exact to the last bit, so the scores of ids that were written are added one by one. unigram_path.c
 * also takes over when a sum comes near the limit at which sentencepiece subtracts it from all sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "unigram.h"

/* Greatest absolute value of scores for encoding by pieces. */
#define SCORE_MAX 500.0

/* Greatest absolute value of sums of doubles at the beginning of a piece. */
#define WIDE_SUM_MAX 8e9

/* Number of cuts that are looked for at a time. */
#define CUTS ((size_t)TINY_OR(5, 4000))

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static enum leat_status make_cuts(struct unigram *m, struct leat_error *err)
{
    struct class_cuts_pairs *pairs = calloc(1, sizeof *pairs);

    if (!pairs)
        return status_no_memory(err, sizeof *pairs);
    for (uint32_t i = 0; i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];
        const uint8_t *text = spec_token_bytes(m->spec, t);

        for (size_t at = 1; !t->foreign && at < t->length; at++)
            class_cuts_pairs_add(pairs, text[at - 1], text[at]);
    }
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
    m->by_pieces = m->highest <= SCORE_MAX; /* false, too, if a score is not a number */
    if (!m->by_pieces)
        return LEAT_OK;
    m->floats = m->narrow ? malloc(bytes) : NULL; /* one more score, of stand_in */
    if (m->narrow && !m->floats)
        return status_no_memory(err, bytes);
    for (uint32_t i = 0; m->narrow && i < m->spec->token_count; i++)
        m->floats[i] = (float)m->scores[i];
    if (m->narrow)
        m->floats[m->spec->token_count] = (float)m->unknown_score;
    return make_cuts(m, err);
}

/* ---- Many pieces at once ----------------------------------------------------------------------------------------- */

/*
 * Finds the best ways through pieces, and how much better they are. Most of the time for new words and pieces was
 * that of the trie's cache misses. So all characters of all of them walk the trie side by side: find_tokens() goes
 * one byte deeper for each at a time, without a branch on what it finds, and fetches the unit that the next round
 * will ask for. The tokens it finds come into a list for each place where one ends, those that begin first in front,
 * which is the order in which the reference offers them. take_best() then goes from place to place of each text.
 * Many together take half the time.
 */

/* Most that one addition loses: half of the last bit of a sum below 2 to the power of 17, or 33. Sums are nearer to
 * 0 at the beginnings of pieces (take_known()). */
#define NARROW_LOSS (1.0 / 256)
#define WIDE_LOSS   (1.0 / (1 << 20))

/* Places: the texts lie one after another, each with a place before its first byte and one after each byte. */
#define PLACES (LOOKUP_BYTES + LOOKUP_PIECES)
/* Number of all stretches of texts of at most PRETOKEN_MAX bytes, each of which may be a token. */
#define STRETCHES (LOOKUP_BYTES * (PRETOKEN_MAX + 1) / 2)

struct found {
    uint32_t token;
    uint16_t start; /* place */
    uint16_t next;  /* next in the list of tokens that end at this place; 0 if there is none */
};

/* The best way to a place. */
struct place {
    double score;
    uint64_t gap;  /* how much better it is than any other way: the bits of a double */
    uint64_t last; /* last token of the way, TOKEN_NONE for an unknown character, and above it the place where it
                      begins */
};

struct unigram_search {
    uint8_t bytes[PLACES + 1]; /* the byte after each place */
    uint16_t ends[PLACES];     /* end of each text */
    uint16_t ending[PLACES];
    struct found found[STRETCHES + 1];
    struct place places[PLACES];

    /* The walks under way: where each began, and the base of its present node. */
    uint32_t bases[LOOKUP_BYTES];
    uint16_t starts[LOOKUP_BYTES];
    unsigned active;
};

enum leat_status unigram_search_make(struct unigram_search **out, struct leat_error *err)
{
    *out = malloc(sizeof **out);
    return *out ? LEAT_OK : status_no_memory(err, sizeof **out);
}

/* Adds the places of a text, from `first` on. */
static void add_text(struct unigram_search *s, const struct unigram *m, const struct lookup_piece *piece,
                     unsigned first)
{
    for (unsigned i = 0; i <= piece->bytes; i++) {
        s->bytes[first + i] = i < piece->bytes ? piece->text[i] : 0;
        s->ends[first + i] = (uint16_t)(first + piece->bytes);
        s->ending[first + i] = 0;
    }
    for (unsigned i = 0; i < piece->bytes; i += m->spec->byte_level ? 1 : char_cuts_length(piece->text[i])) {
        s->bases[s->active] = m->trie.root;
        s->starts[s->active++] = (uint16_t)(first + i);
    }
}

static void find_tokens(struct unigram_search *s, const struct unigram *m)
{
    const struct token_unit *units = m->trie.units;
    unsigned found = 1;

    for (unsigned depth = 0; s->active > 0; depth++) {
        unsigned kept = 0;

        for (unsigned i = 0; i < s->active; i++) {
            unsigned start = s->starts[i], at = start + depth, end = at + 1;
            struct token_unit unit = units[s->bases[i] ^ s->bytes[at]];
            unsigned child = (uint8_t)unit.info == s->bytes[at], token = child & (unit.info >> 8 != 0);

            s->found[found] = (struct found) { (unit.info >> 8) - 1, (uint16_t)start, s->ending[end] };
            s->ending[end] ^= (uint16_t)((s->ending[end] ^ found) & (0 - token));
            found += token;
            __builtin_prefetch(&units[unit.base ^ s->bytes[end]]);
            __builtin_prefetch(&m->scores[unit.info >> 8]);
            s->bases[kept] = unit.base;
            s->starts[kept] = (uint16_t)start;
            kept += child & (unit.base != TOKEN_NO_CHILD) & (end < s->ends[start]);
        }
        s->active = kept;
    }
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Offers one more way to a place. Which of two is better is hard to guess, so there is no branch on it: gaps, which
 * are not negative, are compared by their bits. */
static inline void offer(struct place *p, uint64_t gap, double score, uint64_t last)
{
    double more = score - p->score;
    uint64_t better = 0 - (uint64_t)(more > 0), away = bits_of(more) & INT64_MAX;

    gap = (gap & better) | (p->gap & ~better);
    p->gap = gap < away ? gap : away;
    p->last = (last & better) | (p->last & ~better);
    p->score = score > p->score ? score : p->score;
}

static inline uint64_t last_of(unsigned start, uint32_t token)
{
    return (uint64_t)start << 32 | token;
}

/* Finds the best way to the end of each character. Returns the number of characters, or 0 if one has no token of its
 * own and the file names none for unknown ones. */
static unsigned take_best(struct unigram_search *s, const struct unigram *m, unsigned first)
{
    struct place *places = s->places;
    unsigned count = 0, end;

    places[first] = (struct place) { .gap = bits_of(HUGE_VAL) };
    for (unsigned at = first; at < s->ends[first]; at = end, count++) {
        struct place best = { .score = -HUGE_VAL };
        unsigned last = 0;

        end = at + (m->spec->byte_level ? 1 : char_cuts_length(s->bytes[at]));
        for (unsigned i = s->ending[end]; i > 0; last = i, i = s->found[i].next) {
            const struct found *f = &s->found[i];

            offer(&best, places[f->start].gap, places[f->start].score + m->scores[f->token],
                  last_of(f->start, f->token));
        }
        if (last == 0 || s->found[last].start != at) {
            if (m->spec->unknown == SPEC_NONE)
                return 0;
            offer(&best, places[at].gap, places[at].score + m->unknown_score, last_of(at, TOKEN_NONE));
        }
        places[end] = best;
    }
    return count;
}

/* Writes the ids of the best way. Returns false if the way has an unknown character for which nothing can stand.
 * tokenizers looks for runs of these among the tokens, and there may be one in a piece, but none across a cut. */
static bool put_ids(const struct unigram_search *s, const struct unigram *m, unsigned first, struct lookup_piece *piece)
{
    bool unknown = false;
    unsigned count = 0;

    for (unsigned at = s->ends[first]; at > first; at = (unsigned)(s->places[at].last >> 32), count++) {
        uint32_t token = (uint32_t)s->places[at].last;

        if (token == TOKEN_NONE ? m->stand_in == TOKEN_NONE || (unknown && !m->narrow) : token == m->spec->unknown)
            return false;
        unknown = token == TOKEN_NONE;
    }
    piece->count = count;
    for (unsigned at = s->ends[first]; at > first; at = (unsigned)(s->places[at].last >> 32)) {
        uint32_t token = (uint32_t)s->places[at].last;

        piece->ids[--count] = token == TOKEN_NONE ? m->stand_in : token;
    }
    return true;
}

/*
 * Finds the best ways through short texts, for lookup_batch.h, each from a sum of 0, in doubles. A piece becomes
 * `known` if no unknown character is on its best way for which nothing can stand (`stand_in`), and if this way is
 * the best whatever the sum before it, by more than the reference's additions can lose.
 */
static void search(const void *context, void *scratch, struct lookup_piece *pieces, unsigned count)
{
    const struct unigram *m = context;
    struct unigram_search *s = scratch;
    double loss = m->narrow ? NARROW_LOSS : WIDE_LOSS;
    unsigned first = 0;

    s->active = 0;
    for (unsigned i = 0; i < count; first += pieces[i++].bytes + 1)
        add_text(s, m, &pieces[i], first);
    if (m->trie.root == TOKEN_NO_CHILD)
        s->active = 0;
    find_tokens(s, m);
    first = 0;
    for (unsigned i = 0; i < count; first += pieces[i++].bytes + 1) {
        unsigned characters = take_best(s, m, first);

        pieces[i].known = characters > 0 && put_ids(s, m, first, &pieces[i]);
        if (pieces[i].known)
            pieces[i].known = s->places[s->ends[first]].gap > bits_of((characters + pieces[i].count + 1) * loss);
    }
}

/* ---- A piece ----------------------------------------------------------------------------------------------------- */

/* Sets a piece apart, for lookup_batch_find(), because its ids depend on the text around it. */
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

/* Returns the functions that look pieces up. They keep pieces apart whose ids depend on the text around them. */
static struct lookup_way unigram_probing(const struct unigram *m, struct unigram_scratch *s)
{
    return (struct lookup_way) { .one = set_apart, .some = search, .context = m, .scratch = s->search };
}

/* ---- Pieces in a row --------------------------------------------------------------------------------------------- */

/* Returns true if the run of unknown characters may go on in the next piece, which then must not be taken from the
 * cache. If `narrow`, no run waits for its end, and fuse() knows whether one has been written. */
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

/* Encodes the text from `cut` to another cut by the reference's way. */
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

/* Adds floats in their order, since the sum depends on it. */
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

/* Adds the scores of the ids from out->ids[from] on. Returns false if a sum is too far from 0 for pieces. *greatest
 * gets the greatest absolute value of these scores. */
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

/* Encodes a range of pieces, none of which is apart. Returns false, and does nothing, if sums are too far from 0. */
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

/* Takes pieces one by one, because sums are far from 0. */
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
            memset(l->batch.parts, w->m->narrow, l->batch.count); /* a piece may have other ids as a pretoken */
            s = take_batch(w, base);
            continue;
        }
        s = walk_to(w, *r.ends);
        r.begin = *r.ends++;
        r.inside = false;
    }
    return s;
}

/* Does the work of unigram_walk(), many times faster, by pieces. */
static enum leat_status unigram_walk_pieces(struct unigram_walk *w)
{
    const struct class_cuts_kernels *cutter = w->s->batch->cutter;
    uint32_t ends[CUTS + CUT_SLACK + 1];
    enum leat_status s = LEAT_OK;

    if (w->bytes >= MODEL_FIXED)
        return unigram_walk(w);
    lookup_batch_note(w->s->batch, &w->m->model, w->bytes);
    for (size_t from = w->cut + 1, to; s == LEAT_OK && from < w->bytes; from = to) {
        size_t count = cutter->find(&w->m->classes, w->text, w->bytes, from, w->bytes, ends, CUTS, &to);

        s = take_run(w, ends, count);
    }
    /* the piece after the last cut may go on with later text */
    if (s != LEAT_OK || !w->last)
        return s == LEAT_OK ? unigram_walk(w) : s;
    ends[0] = (uint32_t)w->bytes;
    return w->cut < w->bytes ? take_run(w, ends, 1) : s;
}

/* ---- Groups of pretokens ----------------------------------------------------------------------------------------- */

/*
 * Encodes many pretokens of a tokenizer.json at once. Each begins with a sum of 0, so it could go into the cache as
 * it is. But its pieces, cut where all ways meet, come again more often than words do, and pretokens that are too
 * long for the cache need no special treatment. So a group of pretokens is cut at their ends and inside them, and
 * its pieces are looked up together. If one is apart, because another way is nearly as good or a character is
 * unknown, the whole pretoken around it is encoded without pieces, and goes into the cache as a pretoken of the
 * other kind.
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
    uint32_t base;         /* place in the text that ends count from */
    const uint32_t *ends;  /* ends of the pretokens that are left */
    uint32_t begin;        /* start in the group of the first pretoken that is left */
    uint32_t done;         /* pieces that have been written */
    const uint32_t *fused; /* ends of pretokens whose unknown characters may still have to be joined */
    struct id_list *out;
    struct leat_error *err;
};

enum leat_status unigram_group_make(struct unigram_group **out, struct leat_error *err)
{
    *out = malloc(sizeof **out);
    return *out ? LEAT_OK : status_no_memory(err, sizeof **out);
}

/* Joins both lists, with each place once, up to the last of `cuts`, which is one of `ends`. Returns how many places
 * there are. */
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
    size_t reached, count = l->cutter->find(&g->m->classes, g->text, bytes, 1, bytes, u->cuts, GROUP, &reached);

    u->cuts[count] = (uint32_t)bytes;
    r.last = u->ends + join(u->ends, u->cuts, g->ends, g->base, (uint32_t)bytes);
    pretoken_place_text(&place, &l->batch, &r);
    pretoken_fill(&l->batch, l->kernels, &g->m->char_cuts, NULL, &r, &place);
}

/* Writes one unknown token for each run of stand-ins in a pretoken, from the ids of its written pieces. */
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

/* Writes the pieces up to one that begins a pretoken; the first unwritten piece begins one, too. */
static enum leat_status write_to(struct group *g, uint32_t piece)
{
    uint32_t from = g->done, any = 0;
    size_t before = g->out->count;
    enum leat_status s;

    g->done = piece;
    if (from >= piece)
        return LEAT_OK;
    s = lookup_batch_write(g->s->batch, from, piece, g->out, g->err);
    if (g->m->stand_in != TOKEN_NONE) /* compilers make vectors of this loop */
        for (size_t i = before; i < g->out->count; i++)
            any |= g->out->ids[i] == g->m->stand_in;
    if (s == LEAT_OK && any)
        fuse_group(g, from, piece, g->out->ids + before);
    return s;
}

/* Encodes a pretoken, which the cache may know as a whole. */
static enum leat_status take_whole(struct group *g, const uint8_t *text, size_t bytes)
{
    struct pretoken_cache *cache = &g->s->batch->words.own;
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

enum leat_status unigram_encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                      struct id_list *out, size_t *used, struct leat_error *err)
{
    const struct unigram *m = unigram_of(model);
    struct unigram_scratch *s = scratch;
    struct unigram_walk w = {
        .m = m, .s = s, .text = c->text, .bytes = c->bytes, .last = c->last, .out = out, .err = err
    };
    enum leat_status status;

    if (c->begins) {
        s->sum = 0;
        s->written = false;
    }
    unigram_walk_note(&w);
    status = m->by_pieces && c->bytes > PRETOKEN_MAX ? unigram_walk_pieces(&w) : unigram_walk(&w);
    if (status == LEAT_OK && c->last)
        status = unigram_end_run(&w);
    *used = c->last ? c->bytes : w.safe;
    if (!c->last) {
        out->count = w.safe_count;
        s->sum = w.safe_sum;
        s->written = w.safe_written;
    }
    unigram_trim(s);
    return status;
}

enum leat_status unigram_encode(const struct model *model, void *scratch, const uint8_t *text, size_t bytes,
                                struct id_list *out, struct leat_error *err)
{
    const struct model_chunk all = { .text = text, .bytes = bytes, .begins = true, .last = true };
    size_t used;

    return unigram_encode_chunk(model, scratch, &all, out, &used, err);
}

/* Encodes pretokens, as unigram_encode_batch() does, if encoding by pieces is exact and sums begin at 0 in each. */
static enum leat_status unigram_encode_groups(const struct unigram *m, struct unigram_scratch *s,
                                              const struct model_pretokens *p, struct id_list *out,
                                              struct leat_error *err)
{
    const uint32_t *ends = p->ends, *last = ends + p->count;
    enum leat_status status = LEAT_OK;
    uint32_t begin = p->begin;

    if (p->count > 0)
        lookup_batch_note(s->batch, &m->model, last[-1] - begin);
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

/* Encodes a pretoken for lookup_batch_encode(). Its sum begins at 0, so its ids do not depend on the text around it. */
static enum leat_status encode_one(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                   struct id_list *out, bool *apart, struct leat_error *err)
{
    (void)apart;
    return unigram_encode(context, scratch, text, bytes, out, err);
}

enum leat_status unigram_encode_batch(const struct model *model, void *scratch, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err)
{
    const struct unigram *m = unigram_of(model);
    struct unigram_scratch *s = scratch;
    const struct lookup_way way = { .one = encode_one, .context = model, .scratch = s };

    if (m->by_pieces && !m->narrow)
        return unigram_encode_groups(m, s, p, out, err);
    return lookup_batch_encode(s->batch, model, &way, p, out, err);
}
