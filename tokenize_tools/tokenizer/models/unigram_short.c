/*
 * unigram_short.c: the best ways through many short texts; see unigram.h.
 *
 * New words and pieces come here, and most of their time was that of the trie's cache misses. So all characters of all
 * of them walk the trie side by side: find_tokens() goes one byte deeper for each at a time, without a branch on what
 * it finds, and fetches the unit that the next round will ask for. The tokens it finds come into a list for each place
 * where one ends, those that begin first in front, which is the order in which the reference offers them. take_best()
 * then goes from place to place of each text.
 */
#include "unigram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* What one addition loses at most: half of the last bit of a sum below 2 to the power of 17, or 33. Sums are nearer to
 * 0 where pieces begin (unigram_pieces.c). */
#define NARROW_LOSS (1.0 / 256)
#define WIDE_LOSS   (1.0 / (1 << 20))

/* The texts lie one after another, each with a place before its first byte and one after each. */
#define PLACES (LOOKUP_BYTES + LOOKUP_PIECES)
/* All stretches of texts of at most PRETOKEN_MAX bytes: each may be a token. */
#define STRETCHES (LOOKUP_BYTES * (PRETOKEN_MAX + 1) / 2)

struct found {
    uint32_t token;
    uint16_t start; /* place */
    uint16_t next;  /* in the list of those that end at the same place; 0: none */
};

/* The best way to a place. */
struct place {
    double score;
    uint64_t gap;  /* how much better than any other: the bits of a double */
    uint64_t last; /* its last token, TOKEN_NONE for an unknown character, and above it the place where that begins */
};

struct unigram_search {
    uint8_t bytes[PLACES + 1]; /* by place; the byte after it */
    uint16_t ends[PLACES];     /* of the text */
    uint16_t ending[PLACES];
    struct found found[STRETCHES + 1];
    struct place places[PLACES];

    /* On their way: where they began, and the base of the node where they are. */
    uint32_t bases[LOOKUP_BYTES];
    uint16_t starts[LOOKUP_BYTES];
    unsigned active;
};

enum leat_status unigram_search_make(struct unigram_search **out, struct leat_error *err)
{
    *out = malloc(sizeof **out);
    return *out ? LEAT_OK : status_no_memory(err, sizeof **out);
}

/* Places of a text from `first` on. */
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

/* One more way to a place. Which of two is better is hard to guess, so there is no branch on it: gaps, which are not
 * negative, are compared by their bits. */
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

/* The best way to the end of each character; returns the number of characters, or 0 if one has no token of its own and
 * the file names none for unknown ones. */
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

/* Writes the ids of the best way; false if it has an unknown character for which nothing can stand. tokenizers looks
 * for runs of these among the tokens, and there may be one in a piece, but none across a cut. */
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

void unigram_search_run(const struct unigram *m, struct unigram_search *s, struct lookup_piece *pieces, unsigned count)
{
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
