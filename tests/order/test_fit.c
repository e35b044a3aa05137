/*
 * test_fit.c: best fit on counts makes the rows that best fit makes piece by piece: the same free room in each, for
 * every histogram of up to 6 pieces in rows of up to 12 places, and for random ones, also with pieces that begin at
 * multiples of any divisor of the row. In each epoch, each piece is in exactly one row, where fit_find() finds it; in
 * another epoch, other pieces meet.
 */
#include "t.h"
#include "fit/fit.h"

#define MAX_PIECES 4000

/* Piece by piece: the row with the least room that it fits into, else a new row. Returns the number of rows. */
static unsigned fit_plainly(const uint64_t *counts, unsigned length, unsigned align, uint32_t *rooms)
{
    unsigned rows = 0;

    for (unsigned piece = length - 1; piece > 0; piece--)
        for (uint64_t i = 0; i < counts[piece]; i++) {
            unsigned places = (piece + align - 1) / align * align, best = rows;

            for (unsigned row = 0; row < rows; row++)
                if (rooms[row] >= places && (best == rows || rooms[row] < rooms[best]))
                    best = row;
            if (best == rows)
                rooms[rows++] = length;
            rooms[best] -= places;
        }
    return rows;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uint32_t));
}

/* The pieces of a row, with their numbers; the first of them alone is the same. */
static void show_row(const struct fit *f, uint64_t row, uint64_t epoch, uint64_t n, struct fit_piece *pieces)
{
    static struct permute_draw draws[MAX_PIECES], draw;
    static uint64_t numbers[MAX_PIECES];
    struct fit_piece first;
    const struct fit_shown shown = { fit_pattern_of(f, row), row, epoch, n };
    uint32_t count = shown.pattern->pieces;

    fit_row(f, &shown, pieces, draws, numbers);
    fit_row_first(f, &shown, &first, &draw, numbers);
    T_CHECK(draw.permute == draws[0].permute && draw.at == draws[0].at && first.number == pieces[0].number);
    permute_forward_many(draws, count);
    for (uint32_t i = 0; i < count; i++)
        pieces[i].number += draws[i].at;
}

/* The class of pieces of this length; NULL: no piece has it. */
static const struct fit_class *class_of(const struct fit *f, uint64_t length)
{
    for (uint64_t i = 0; i < f->class_count; i++)
        if (f->classes[i].length == length)
            return &f->classes[i];
    return NULL;
}

/* All rows of an epoch: no place twice, each piece once, found back. */
static void check_epoch(const struct fit *f, const uint64_t *counts, uint64_t epoch)
{
    static struct fit_piece pieces[MAX_PIECES];
    static uint8_t seen[MAX_PIECES];
    uint64_t shown = 0;

    memset(seen, 0, sizeof seen);
    for (uint64_t row = 0; row < f->rows; row++) {
        const struct fit_pattern *p = fit_pattern_of(f, row);
        uint64_t places = p->room;

        T_CHECK(p->pieces > 0 && p->pieces <= f->max_pieces && row - p->first_row < p->rows);
        show_row(f, row, epoch, epoch * f->rows + row, pieces);
        for (uint32_t i = 0; i < p->pieces; i++) {
            const struct fit_class *c = class_of(f, pieces[i].length);

            T_CHECK(c && pieces[i].number - c->first < counts[pieces[i].length]);
            T_CHECK(!seen[pieces[i].number]++);
            T_EQ(fit_find(f, pieces[i].number, epoch), row);
            T_EQ(fit_places(f, pieces[i].length) % f->align, 0);
            places += fit_places(f, pieces[i].length);
            shown++;
        }
        T_EQ(places, f->length);
    }
    T_EQ(shown, f->pieces);
}

static uint64_t total(const uint64_t *counts, unsigned length)
{
    uint64_t places = 0;

    for (unsigned i = 1; i < length; i++)
        places += i * counts[i];
    return places;
}

static void check(const uint64_t *counts, unsigned length, unsigned align)
{
    static uint32_t plain[MAX_PIECES], rooms[MAX_PIECES];
    struct fit f;
    unsigned rows = fit_plainly(counts, length, align, plain);
    uint64_t pieces = 0;

    T_OK(fit_make(&f, counts, &(struct fit_rules) { length, 0, align, 7, 3 }, &t_err));
    for (unsigned i = 1; i < length; i++)
        pieces += counts[i];
    T_EQ(f.pieces, pieces);
    T_EQ(f.rows, rows);
    T_EQ(f.rows * length, total(counts, length) + f.room + f.gaps);
    for (unsigned row = 0; row < rows && f.rows == rows; row++)
        rooms[row] = fit_pattern_of(&f, row)->room;
    qsort(plain, rows, sizeof plain[0], compare);
    qsort(rooms, rows, sizeof rooms[0], compare);
    T_CHECK(memcmp(plain, rooms, rows * sizeof rooms[0]) == 0);
    check_epoch(&f, counts, 0);
    check_epoch(&f, counts, 5);
    fit_free(&f);
}

/* With at most `most` pieces in a row. */
static void check_limited(const uint64_t *counts, unsigned length, unsigned align, unsigned most)
{
    struct fit f;

    T_OK(fit_make(&f, counts, &(struct fit_rules) { length, most, align, 7, 3 }, &t_err));
    T_CHECK(f.max_pieces <= most);
    T_CHECK(most > 1 || f.rows == f.pieces);
    T_EQ(f.room + f.gaps, f.rows * length - total(counts, length));
    check_epoch(&f, counts, 3);
    fit_free(&f);
}

/* Every histogram of `left` further pieces, none longer than `longest`. */
static unsigned every(uint64_t *counts, unsigned length, unsigned longest, unsigned left)
{
    unsigned checked = 1;

    for (unsigned align = 1; align <= length; align++)
        if (length % align == 0) {
            check(counts, length, align);
            check_limited(counts, length, align, 1 + left % 3);
        }
    for (unsigned piece = 1; left > 0 && piece <= longest; piece++) {
        counts[piece]++;
        checked += every(counts, length, piece, left - 1);
        counts[piece]--;
    }
    return checked;
}

static void test_small(void)
{
    uint64_t counts[12] = { 0 };
    unsigned checked = 0;

    for (unsigned length = 1; length <= 12; length++)
        checked += every(counts, length, length - 1, 6);
    T_EQ(checked, 31824); /* C(6, 6) + C(7, 6) + ... + C(17, 6) */
}

static void test_random(void)
{
    uint64_t random = t_seed();

    for (unsigned i = 0; i < t_times(60); i++) {
        static uint64_t counts[3000];
        unsigned length = 2 + (unsigned)t_below(&random, i % 2 ? 40 : 2998);
        unsigned longest = 1 + (unsigned)t_below(&random, length - 1), left = (unsigned)t_below(&random, MAX_PIECES);
        unsigned align = 1 + (unsigned)t_below(&random, 40);

        memset(counts, 0, sizeof counts);
        while (left > 0) {
            uint64_t here = 1 + t_below(&random, left < 200 ? left : 200);

            counts[1 + t_below(&random, longest)] += here;
            left -= (unsigned)here;
        }
        check(counts, length, 1);
        check_limited(counts, length, 1, 1 + i % 5);
        while (length % align != 0)
            align--;
        check(counts, length, align);
    }
}

/* Of two pieces that share a row in one epoch, few do in the next; and the longest does not always come first. */
static void test_drawn(void)
{
    uint64_t counts[100] = { 0 }, met = 0, first = 0;
    struct fit_piece a[2], b[2];
    struct fit f;

    counts[60] = counts[40] = 1000;
    T_OK(fit_make(&f, counts, &(struct fit_rules) { 100, 0, 1, 1, 0 }, &t_err));
    T_EQ(f.rows, 1000);
    T_EQ(f.pattern_count, 1);
    for (uint64_t row = 0; row < f.rows; row++) {
        show_row(&f, row, 0, row, a);
        show_row(&f, fit_find(&f, a[0].number, 1), 1, f.rows + row, b);
        met += b[0].number == a[1].number || b[1].number == a[1].number;
        first += a[0].length == 60;
    }
    T_CHECK(met < 20);
    T_CHECK(first > 400 && first < 600);
    fit_free(&f);
}

/* As many documents as a large corpus has: counting does not depend on it. */
static void test_large(void)
{
    uint64_t counts[2048] = { 0 }, places = 0;
    struct fit f;

    for (unsigned i = 1; i < 2048; i++) {
        counts[i] = 4000000 / (i + 100);
        places += counts[i] * i;
    }
    T_OK(fit_make(&f, counts, &(struct fit_rules) { 2048, 0, 1, 1, 0 }, &t_err));
    T_EQ(f.rows * 2048 - f.room, places);
    T_CHECK(f.room * 1000 < places);
    T_CHECK(f.entry_count < 20000);
    for (uint64_t row = 0; row < f.rows; row += f.rows / 50) {
        struct fit_piece pieces[2048];

        show_row(&f, row, 3, row, pieces);
        for (uint32_t i = 0; i < fit_pattern_of(&f, row)->pieces; i++)
            T_EQ(fit_find(&f, pieces[i].number, 3), row);
    }
    fit_free(&f);
}

int main(void)
{
    test_small();
    test_random();
    test_drawn();
    test_large();
    return t_end();
}
