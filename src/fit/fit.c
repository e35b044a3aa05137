/*
 * fit.c: makes the table of patterns, and goes from a row to its pieces and back; see fit.h.
 *
 * A row's number leads to its pattern, and so to a stretch of numbers of pieces of each length. Permutations, one for
 * each length, make the pieces that meet in a row others in each epoch. The inverse takes the same steps backwards.
 */
#include "fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/search.h"
#include "base/status.h"

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/*
 * Makes the table of patterns: best fit decreasing, on counts.
 *
 * Rows that hold the same pieces are a group. A step takes the group with the least room that a piece fits into, and
 * fills as many of its rows at once as there are pieces for. A group remembers the group that it came from, so what its
 * rows hold is the path to the empty row. Lengths fall, so a group is a candidate from the step on whose length is its
 * room: the candidates are a list, least room first, that new ones are put in front of, and no search is needed. Rooms
 * are multiples of the alignment, so a piece fits into a room if its length does.
 */

#define NO_GROUP UINT32_MAX /* an empty row */

struct group {
    uint64_t rows;          /* those that have got no further piece yet */
    uint32_t parent, next;  /* next: in its list */
    uint32_t length, count; /* the pieces that the parent's rows do not have */
    uint32_t room, pieces;
};

/* Groups with the same room, oldest first. */
struct list {
    uint32_t first, last;
};

struct maker {
    struct fit *f;
    const uint64_t *counts;
    struct group *groups;
    size_t group_room;
    uint32_t group_count;
    struct list *waiting; /* of each room: groups that a piece of the current length does not fit into */
    uint32_t candidates;  /* the first; least room first, then oldest */
    uint32_t max_pieces;  /* of a row */
    struct leat_error *err;
};

/* ---- Groups ---- */

static enum leat_status add_group(struct maker *m, const struct group *g)
{
    enum leat_status s;

    if (m->group_count + 1 >= NO_GROUP)
        return status_no_memory(m->err, (uint64_t)NO_GROUP * sizeof *g);
    s = GROW(m->groups, (uint64_t)m->group_count + 1, m->group_room, m->err);
    if (s != LEAT_OK)
        return s;
    m->groups[m->group_count++] = *g;
    return LEAT_OK;
}

static void append(struct maker *m, uint32_t group)
{
    struct list *l = &m->waiting[m->groups[group].room];

    if (l->first == NO_GROUP)
        l->first = group;
    else
        m->groups[l->last].next = group;
    l->last = group;
}

/* Puts `pieces` pieces into the rows of the first candidate, or into empty rows; *pieces becomes what is left. */
static enum leat_status fill_rows(struct maker *m, uint32_t length, uint64_t *pieces)
{
    uint32_t from = m->candidates;
    uint32_t room = from == NO_GROUP ? (uint32_t)m->f->length : m->groups[from].room;
    uint32_t places = fit_places(m->f, length);
    uint32_t held = from == NO_GROUP ? 0 : m->groups[from].pieces;
    uint32_t count = room / places < m->max_pieces - held ? room / places : m->max_pieces - held;
    uint64_t all = from == NO_GROUP ? UINT64_MAX : m->groups[from].rows, rows = *pieces / count;
    enum leat_status s = LEAT_OK;

    if (rows > all)
        rows = all;
    if (rows > 0) {
        s = add_group(m, &(struct group) { rows, from, NO_GROUP, length, count, room - count * places, held + count });
        if (s == LEAT_OK && held + count < m->max_pieces)
            append(m, m->group_count - 1);
        *pieces -= rows * count;
        all -= rows;
    }
    if (s == LEAT_OK && all == 0)
        m->candidates = m->groups[from].next;
    if (s == LEAT_OK && all > 0 && *pieces > 0) { /* fewer than fill a row: it is a candidate with less room than all */
        count = (uint32_t)*pieces;
        *pieces = 0;
        if (--all == 0)
            m->candidates = m->groups[from].next;
        s = add_group(m,
                      &(struct group) { 1, from, m->candidates, length, count, room - count * places, held + count });
        m->candidates = m->group_count - 1;
    }
    if (s == LEAT_OK && from != NO_GROUP)
        m->groups[from].rows = all;
    return s;
}

static enum leat_status make_groups(struct maker *m)
{
    enum leat_status s = LEAT_OK;

    m->waiting = malloc((size_t)m->f->length * sizeof *m->waiting);
    if (!m->waiting)
        return status_no_memory(m->err, m->f->length * sizeof *m->waiting);
    for (uint64_t i = 0; i < m->f->length; i++)
        m->waiting[i] = (struct list) { NO_GROUP, NO_GROUP };
    for (uint32_t length = (uint32_t)m->f->length - 1; s == LEAT_OK && length > 0; length--) {
        struct list *l = &m->waiting[length];
        uint64_t pieces = m->counts[length];

        if (l->first != NO_GROUP) {
            m->groups[l->last].next = m->candidates;
            m->candidates = l->first;
        }
        while (s == LEAT_OK && pieces > 0)
            s = fill_rows(m, length, &pieces);
    }
    return s;
}

/* ---- Patterns: the groups that have rows left ---- */

static void count_patterns(struct maker *m)
{
    struct fit *f = m->f;

    for (uint32_t i = 0; i < m->group_count; i++) {
        if (m->groups[i].rows == 0)
            continue;
        f->pattern_count++;
        for (uint32_t g = i; g != NO_GROUP; g = m->groups[g].parent)
            f->entry_count++;
    }
    for (uint64_t length = 1; length < f->length; length++)
        f->class_count += m->counts[length] > 0;
}

/* The classes, and of each length the number of its class, in m->waiting, which is no longer needed. */
static void make_classes(struct maker *m, const struct fit_rules *rules)
{
    struct fit *f = m->f;
    uint32_t class = 0;

    for (uint32_t length = 1; length < f->length; length++) {
        if (m->counts[length] == 0)
            continue;
        f->classes[class].permute =
            permute_make(m->counts[length], rules->seed, rules->source + ((uint64_t)length << 32));
        f->classes[class].first = f->pieces;
        f->classes[class].length = length;
        f->pieces += m->counts[length];
        f->gaps += m->counts[length] * (fit_places(f, length) - length);
        m->waiting[length].first = class ++;
    }
    f->classes[class].first = f->pieces;
}

static void make_patterns(struct maker *m)
{
    struct fit *f = m->f;
    uint64_t entry = 0;
    uint32_t number = 0;

    for (uint32_t i = 0; i < m->group_count; i++) {
        struct fit_pattern *p = &f->patterns[number];

        if (m->groups[i].rows == 0)
            continue;
        *p = (struct fit_pattern) {
            .first_row = f->rows, .rows = m->groups[i].rows, .first_entry = entry, .room = m->groups[i].room
        };
        for (uint32_t g = i; g != NO_GROUP; g = m->groups[g].parent)
            p->entries++;
        entry += p->entries;
        p->squares = (uint64_t)p->room * p->room;
        for (uint32_t g = i, k = p->entries; g != NO_GROUP; g = m->groups[g].parent) {
            uint64_t places = fit_places(f, m->groups[g].length);

            f->entries[p->first_entry + --k] = (struct fit_entry) { .class = m->waiting[m->groups[g].length].first,
                                                                    .count = m->groups[g].count,
                                                                    .pattern = number };
            p->pieces += m->groups[g].count;
            p->squares += m->groups[g].count * places * places;
        }
        f->rows += p->rows;
        f->room += p->rows * p->room;
        if (p->pieces > f->max_pieces)
            f->max_pieces = p->pieces;
        number++;
    }
}

/* About a stretch of rows per pattern: most rows belong to few patterns, so most searches end where they begin. */
static enum leat_status make_near(struct maker *m)
{
    struct fit *f = m->f;
    uint64_t stretches;

    while (f->rows >> f->near_shift > f->pattern_count)
        f->near_shift++;
    stretches = (f->rows >> f->near_shift) + 1;
    f->near = malloc((size_t)(stretches + 1) * sizeof *f->near);
    if (!f->near)
        return status_no_memory(m->err, stretches * sizeof *f->near);
    for (uint64_t i = 0, pattern = 0; i <= stretches; i++) {
        while (pattern + 1 < f->pattern_count && f->patterns[pattern + 1].first_row <= i << f->near_shift)
            pattern++;
        f->near[i] = (uint32_t)pattern;
    }
    return LEAT_OK;
}

/* Gives the entries of each class their numbers of pieces, in the order of patterns, and sorts them by class. */
static enum leat_status make_bases(struct maker *m)
{
    struct fit *f = m->f;
    struct {
        uint64_t pieces, entries;
    } *next = calloc((size_t)f->class_count + 1, sizeof *next);

    if (!next)
        return status_no_memory(m->err, (f->class_count + 1) * sizeof *next);
    for (uint64_t i = 0; i < f->entry_count; i++)
        f->classes[f->entries[i].class + 1].first_entry++;
    for (uint32_t c = 0; c < f->class_count; c++) {
        f->classes[c + 1].first_entry += f->classes[c].first_entry;
        next[c].entries = f->classes[c].first_entry;
    }
    for (uint64_t i = 0; i < f->entry_count; i++) {
        struct fit_entry *e = &f->entries[i];

        e->base = next[e->class].pieces;
        next[e->class].pieces += e->count * f->patterns[e->pattern].rows;
        f->by_class[next[e->class].entries++] = (uint32_t)i;
    }
    free(next);
    return LEAT_OK;
}

enum leat_status fit_make(struct fit *f, const uint64_t *counts, const struct fit_rules *rules, struct leat_error *err)
{
    struct maker m = { .f = f, .counts = counts, .candidates = NO_GROUP, .err = err };
    enum leat_status s;

    *f = (struct fit) { .length = rules->length,
                        .align = (uint32_t)rules->align,
                        .places = permute_make(1, rules->seed, rules->source | (uint64_t)1 << 63) };
    m.max_pieces = rules->max_pieces > 0 && rules->max_pieces < rules->length ? (uint32_t)rules->max_pieces
                                                                              : (uint32_t)rules->length;
    s = make_groups(&m);
    if (s == LEAT_OK) {
        count_patterns(&m);
        f->patterns = calloc((size_t)f->pattern_count + 1, sizeof *f->patterns);
        f->entries = calloc((size_t)f->entry_count + 1, sizeof *f->entries);
        f->by_class = calloc((size_t)f->entry_count + 1, sizeof *f->by_class);
        f->classes = aligned_alloc(sizeof *f->classes, ((size_t)f->class_count + 1) * sizeof *f->classes);
        if (f->classes)
            memset(f->classes, 0, ((size_t)f->class_count + 1) * sizeof *f->classes);
        s = f->patterns && f->entries && f->by_class && f->classes
                ? LEAT_OK
                : status_no_memory(err, f->entry_count * sizeof *f->entries);
    }
    if (s == LEAT_OK) {
        make_classes(&m, rules);
        make_patterns(&m);
        s = make_bases(&m);
    }
    if (s == LEAT_OK)
        s = make_near(&m);
    free(m.groups);
    free(m.waiting);
    return s;
}

void fit_free(struct fit *f)
{
    free(f->patterns);
    free(f->entries);
    free(f->by_class);
    free(f->near);
    free(f->classes);
    *f = (struct fit) { .length = 0 };
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

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

/* Piece i of an entry, in this row. */
static inline void take_piece(const struct fit *f, const struct fit_shown *x, const struct fit_entry *e, uint32_t i,
                              struct fit_piece *piece, struct permute_draw *draw)
{
    const struct fit_class *c = &f->classes[e->class];

    *piece = (struct fit_piece) { c->first, c->length, e->class };
    *draw = (struct permute_draw) { &c->permute, x->epoch, e->base + (x->row - x->pattern->first_row) * e->count + i };
}

/* The pieces of a row are shuffled: the longest would always come first. */
void fit_row(const struct fit *f, const struct fit_shown *x, struct fit_piece *pieces, struct permute_draw *draws,
             uint64_t *numbers)
{
    const struct fit_entry *e = &f->entries[x->pattern->first_entry];
    uint32_t made = 0;

    for (const struct fit_entry *end = e + x->pattern->entries; e < end; e++)
        for (uint32_t i = 0; i < e->count; i++, made++)
            take_piece(f, x, e, i, &pieces[made], &draws[made]);
    permute_numbers(&f->places, x->sample, numbers, made);
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
void fit_row_first(const struct fit *f, const struct fit_shown *x, struct fit_piece *piece, struct permute_draw *draw,
                   uint64_t *numbers)
{
    const struct fit_entry *e = &f->entries[x->pattern->first_entry];
    uint32_t place = 0;

    permute_numbers(&f->places, x->sample, numbers, x->pattern->pieces);
    for (uint32_t k = 1; k < x->pattern->pieces; k++)
        if (wide_high(numbers[k], (uint64_t)k + 1) == place)
            place = k;
    for (; place >= e->count; e++)
        place -= e->count;
    take_piece(f, x, e, place, piece, draw);
}

/* ---- Back ---- */

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
