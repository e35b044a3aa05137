/*
 * fit.c: from a row to its pieces and back; see fit.h. fit_make.c makes the table.
 *
 * A row's number leads to its pattern, and so to a stretch of numbers of pieces of each length. Permutations, one for
 * each length, make the pieces that meet in a row others in each epoch. The inverse takes the same steps backwards.
 */
#include "fit.h"

#include "base/search.h"

struct wanted {
    const struct fit *f;
    uint64_t number;
};

SEARCH_INLINE bool pattern_begins_by(const void *context, uint64_t pattern)
{
    const struct wanted *w = context;

    return w->f->patterns[pattern].first_row <= w->number;
}

const struct fit_pattern *fit_pattern_of(const struct fit *f, uint64_t row)
{
    return &f->patterns[search_first(1, f->pattern_count, pattern_begins_by, &(struct wanted) { f, row }) - 1];
}

/* Shuffles the pieces of a row: the longest would always come first. */
static void shuffle(const struct fit *f, uint64_t n, struct fit_piece *pieces, uint32_t count)
{
    for (uint32_t k = count; k-- > 1;) {
        uint64_t other = wide_high(permute_number(&f->places, n, k), (uint64_t)k + 1);
        struct fit_piece piece = pieces[k];

        pieces[k] = pieces[other];
        pieces[other] = piece;
    }
}

#define AT_ONCE 64u

/* Numbers from ranks among the pieces of the same length. */
static void draw(const struct fit *f, uint64_t epoch, struct fit_piece *pieces, uint32_t count)
{
    struct permute_draw draws[AT_ONCE];

    for (uint32_t here; count > 0; count -= here, pieces += here) {
        here = count < AT_ONCE ? count : AT_ONCE;
        for (uint32_t i = 0; i < here; i++)
            draws[i] = (struct permute_draw) { &f->classes[pieces[i].class].permute, epoch, pieces[i].number };
        permute_forward_many(draws, here);
        for (uint32_t i = 0; i < here; i++)
            pieces[i].number = f->classes[pieces[i].class].first + draws[i].at;
    }
}

void fit_row(const struct fit *f, uint64_t row, uint64_t epoch, uint64_t n, struct fit_piece *pieces, uint32_t wanted)
{
    const struct fit_pattern *p = fit_pattern_of(f, row);
    uint32_t made = 0;

    for (uint32_t i = 0; i < p->entries; i++) {
        const struct fit_entry *e = &f->entries[p->first_entry + i];
        uint64_t rank = e->base + (row - p->first_row) * e->count;

        for (uint32_t k = 0; k < e->count; k++)
            pieces[made++] = (struct fit_piece) { rank + k, f->classes[e->class].length, e->class };
    }
    shuffle(f, n, pieces, made);
    draw(f, epoch, pieces, wanted < made ? wanted : made);
}

/* ---- Back ---- */

SEARCH_INLINE bool class_is_shorter(const void *context, uint64_t class)
{
    const struct wanted *w = context;

    return w->f->classes[class].length < w->number;
}

const struct fit_class *fit_class_of(const struct fit *f, uint64_t length)
{
    uint64_t class = search_first(0, f->class_count, class_is_shorter, &(struct wanted) { f, length });

    return class < f->class_count && f->classes[class].length == length ? &f->classes[class] : NULL;
}

SEARCH_INLINE bool class_begins_by(const void *context, uint64_t class)
{
    const struct wanted *w = context;

    return w->f->classes[class].first <= w->number;
}

SEARCH_INLINE bool entry_begins_by(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->f->entries[w->f->by_class[i]].base <= w->number;
}

uint64_t fit_find(const struct fit *f, uint64_t number, uint64_t epoch)
{
    const struct fit_class *c =
        &f->classes[search_first(1, f->class_count, class_begins_by, &(struct wanted) { f, number }) - 1];
    uint64_t at = permute_inverse(&c->permute, epoch, number - c->first);
    const struct fit_entry *e = &f->entries[f->by_class[search_first(c->first_entry + 1, c[1].first_entry,
                                                                     entry_begins_by, &(struct wanted) { f, at }) -
                                                        1]];

    return f->patterns[e->pattern].first_row + (at - e->base) / e->count;
}
