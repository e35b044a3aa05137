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
    const uint32_t *near = &f->near[row >> f->near_shift];

    return &f->patterns[search_first((uint64_t)near[0] + 1, (uint64_t)near[1] + 1, pattern_begins_by,
                                     &(struct wanted) { f, row }) -
                        1];
}

/* The first `count` pieces of an entry, of row k of its pattern. */
static void take_entry(const struct fit *f, const struct fit_entry *e, uint64_t k, uint64_t epoch, uint32_t from,
                       uint32_t count, struct fit_piece *pieces, struct permute_draw *draws)
{
    const struct fit_class *c = &f->classes[e->class];

    for (uint32_t i = 0; i < count; i++) {
        pieces[i] = (struct fit_piece) { c->first, c->length, e->class };
        draws[i] = (struct permute_draw) { &c->permute, epoch, e->base + k * e->count + from + i };
    }
}

/* The pieces of a row are shuffled: the longest would always come first. */
void fit_row(const struct fit *f, const struct fit_pattern *p, uint64_t row, uint64_t epoch, uint64_t n,
             struct fit_piece *pieces, struct permute_draw *draws, uint64_t *numbers)
{
    uint32_t made = 0;

    for (uint32_t i = 0; i < p->entries; i++) {
        const struct fit_entry *e = &f->entries[p->first_entry + i];

        take_entry(f, e, row - p->first_row, epoch, 0, e->count, pieces + made, draws + made);
        made += e->count;
    }
    permute_numbers(&f->places, n, numbers, made);
    for (uint32_t k = made; k-- > 1;) {
        uint64_t other = wide_high(numbers[k], (uint64_t)k + 1);
        struct fit_piece piece = pieces[k];
        struct permute_draw draw = draws[k];

        pieces[k] = pieces[other];
        pieces[other] = piece;
        draws[k] = draws[other];
        draws[other] = draw;
    }
}

/* The same shuffle, backwards: which piece comes to place 0, without moving the others. */
void fit_row_first(const struct fit *f, const struct fit_pattern *p, uint64_t row, uint64_t epoch, uint64_t n,
                   struct fit_piece *piece, struct permute_draw *draw, uint64_t *numbers)
{
    const struct fit_entry *e = &f->entries[p->first_entry];
    uint32_t place = 0;

    permute_numbers(&f->places, n, numbers, p->pieces);
    for (uint32_t k = 1; k < p->pieces; k++)
        if (wide_high(numbers[k], (uint64_t)k + 1) == place)
            place = k;
    for (; place >= e->count; e++)
        place -= e->count;
    take_entry(f, e, row - p->first_row, epoch, place, 1, piece, draw);
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
