/*
 * unigram_groups.c: encodes pretokens with a Unigram model of a tokenizer.json, many at once, by pieces.
 *
 * Each pretoken begins with a sum of 0, so it could go into the cache as it is. But its pieces, cut where all ways meet
 * (unigram_pieces.c), come again more often than words do, and pretokens that are too long for the cache need no way of
 * their own. So a group of pretokens is cut at their ends and inside of them, and its pieces are looked up together. If
 * one is apart, because another way is nearly as good or a character is unknown, the whole pretoken around it goes
 * through the lattice, and into the cache as one of the other kind.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "unigram_internal.h"

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
static void fuse(struct group *g, uint32_t from, uint32_t to, uint32_t *ids)
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
        fuse(g, from, piece, g->out->ids + before);
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

enum leat_status unigram_encode_groups(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                       size_t bytes, uint32_t begin, const uint32_t *ends, size_t count,
                                       struct id_list *out, struct leat_error *err)
{
    const uint32_t *last = ends + count;
    enum leat_status status = LEAT_OK;

    if (count > 0)
        lookup_batch_note(s->batch, last[-1] - begin);
    while (status == LEAT_OK && ends < last) {
        struct group g = { m, s, text + begin, begin, ends, 0, 0, ends, out, err };

        for (; ends < last && *ends - g.base <= GROUP; ends++)
            begin = *ends;
        if (begin > g.base) {
            status = take_group(&g, begin - g.base, bytes - g.base);
            continue;
        }
        status = unigram_encode(m, s, text + begin, *ends - begin, out, err);
        begin = *ends++;
    }
    return status;
}
