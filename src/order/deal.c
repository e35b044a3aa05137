/*
 * deal.c: deals rows to ranks. The costliest row goes first, to the rank with the least so far; that alone leaves
 * ranks some percent apart. Then rows are exchanged between a rank at one end and another one, one for one, or two
 * for two if single ones do not help, as long as that brings the two nearer to each other. With 8 rows per rank or
 * more, this nearly always ends within 2 %; with fewer, it nearly always finds what a search through all ways of
 * dealing finds (tests/order/test_deal.c).
 */
#include "deal.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/status.h"

#define APART 50u /* done when the ends are at most 1/APART apart */
#define PAIRS                                                                                                          \
    16u                 /* most rows per rank with which two are exchanged for two: there are k^2/2 ways to take two
                           of k */
#define MAX_CHANGES 16u /* exchanges per rank */
#define NONE        UINT32_MAX

/* A row, two rows or a rank, with its cost. */
struct item {
    uint64_t cost;
    uint32_t first, second; /* second: NONE, except for two rows */
};

struct deal {
    const uint64_t *costs;
    uint32_t world, each; /* each: rows per rank */
    uint64_t *sums;
    uint32_t *rows;      /* rows of all ranks, rank after rank, by rising number */
    uint32_t *taken;     /* number of each rank's rows so far, while rows are given out */
    struct item *ranks;  /* a heap while rows are given out; then an order of ranks */
    struct item *others; /* items that a rank can give */
};

static int compare_numbers(const struct item *x, const struct item *y)
{
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static int compare_rising(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return x->cost != y->cost ? (x->cost < y->cost ? -1 : 1) : compare_numbers(x, y);
}

static int compare_falling(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : compare_numbers(x, y);
}

/* ---- Giving out ---- */

/* Restores a heap whose first item has another cost now. */
static void sink(struct item *heap, uint32_t count)
{
    struct item x = heap[0];
    uint64_t at = 0, child;

    for (; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare_rising(&heap[child + 1], &heap[child]) < 0)
            child++;
        if (compare_rising(&heap[child], &x) > 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = x;
}

static void give_out(struct deal *d, uint32_t *ranks)
{
    uint32_t count = d->world * d->each, left = d->world;

    for (uint32_t r = 0; r < d->world; r++)
        d->ranks[r] = (struct item) { 0, r, NONE }; /* already a heap, since the numbers rise */
    for (uint32_t i = 0; i < count; i++)
        d->others[i] = (struct item) { d->costs[i], i, NONE };
    qsort(d->others, count, sizeof *d->others, compare_falling);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = d->ranks[0].first;

        ranks[d->others[i].first] = r;
        d->ranks[0].cost += d->others[i].cost;
        d->sums[r] = d->ranks[0].cost;
        if (++d->taken[r] == d->each)
            d->ranks[0] = d->ranks[--left];
        sink(d->ranks, left);
    }
    for (uint32_t r = 0; r < d->world; r++)
        d->taken[r] = 0;
    for (uint32_t i = 0; i < count; i++)
        d->rows[(size_t)ranks[i] * d->each + d->taken[ranks[i]]++] = i;
}

/* ---- Exchanging ---- */

/* Lists what a rank can give away: its single rows, or its pairs. */
struct giver {
    const struct deal *d;
    const uint32_t *rows;
    uint32_t size, a, b;
};

static struct giver giver_of(const struct deal *d, uint32_t rank, uint32_t size)
{
    return (struct giver) { d, d->rows + (size_t)rank * d->each, size, 0, 1 };
}

/* Sets *x to the next row or pair; returns false after the last one. */
static bool next_item(struct giver *g, struct item *x)
{
    if (g->a + g->size > g->d->each)
        return false;
    *x = (struct item) { g->d->costs[g->rows[g->a]], g->rows[g->a], NONE };
    if (g->size == 2) {
        x->second = g->rows[g->b];
        x->cost += g->d->costs[x->second];
    }
    g->b++;
    if (g->size == 1 || g->b == g->d->each) {
        g->a++;
        g->b = g->a + 1;
    }
    return true;
}

/* Returns how many of these items, sorted by rising cost, cost less than `cost`. */
static uint32_t count_below(const struct item *items, uint32_t count, uint64_t cost)
{
    uint32_t from = 0, to = count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (items[middle].cost < cost)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* An exchange: `a` of one rank against `b` of another; it leaves their sums `apart`. */
struct exchange {
    struct item a, b;
    uint64_t apart;
};

/* Takes an exchange of `a` against `b` if it is better than what was found so far. */
static void try_exchange(const struct item *a, const struct item *b, uint64_t apart, struct exchange *best)
{
    uint64_t change, after;

    if (a->cost <= b->cost || a->cost - b->cost >= apart)
        return;
    change = 2 * (a->cost - b->cost);
    after = change > apart ? change - apart : apart - change;
    if (after < best->apart ||
        (after == best->apart && compare_numbers(a, &best->a) == 0 && compare_numbers(b, &best->b) < 0))
        *best = (struct exchange) { *a, *b, after };
}

static void replace(struct deal *d, uint32_t rank, uint32_t row, uint32_t with)
{
    uint32_t *rows = d->rows + (size_t)rank * d->each, i = 0;

    while (rows[i] != row)
        i++;
    for (; i > 0 && rows[i - 1] > with; i--)
        rows[i] = rows[i - 1];
    for (; i + 1 < d->each && rows[i + 1] < with; i++)
        rows[i] = rows[i + 1];
    rows[i] = with;
}

/* Exchanges `size` rows of rank p for `size` rows of rank q, if this brings the sums of both ranks nearer to each
 * other. The sum of p is the larger one. */
static bool exchange(struct deal *d, uint32_t p, uint32_t q, uint32_t size)
{
    uint64_t apart = d->sums[p] - d->sums[q], cost, below;
    struct exchange best = { .apart = apart };
    struct giver g = giver_of(d, q, size);
    uint32_t count = 0, at;
    struct item a;

    while (next_item(&g, &d->others[count]))
        count++;
    qsort(d->others, count, sizeof *d->others, compare_rising);
    for (g = giver_of(d, p, size); next_item(&g, &a);) {
        /* the items whose exchange moves nearest to half of `apart`: on both sides of it, the first of equal ones */
        cost = a.cost > apart / 2 ? a.cost - apart / 2 : 0;
        at = count_below(d->others, count, cost);
        if (at < count)
            try_exchange(&a, &d->others[at], apart, &best);
        if (at > 0) {
            below = d->others[at - 1].cost;
            try_exchange(&a, &d->others[count_below(d->others, at, below)], apart, &best);
        }
    }
    if (best.apart == apart)
        return false;
    replace(d, p, best.a.first, best.b.first);
    replace(d, q, best.b.first, best.a.first);
    if (size == 2) {
        replace(d, p, best.a.second, best.b.second);
        replace(d, q, best.b.second, best.a.second);
    }
    d->sums[p] -= best.a.cost - best.b.cost;
    d->sums[q] += best.a.cost - best.b.cost;
    return true;
}

static void sort_ranks(struct deal *d, int (*compare)(const void *, const void *))
{
    for (uint32_t r = 0; r < d->world; r++)
        d->ranks[r] = (struct item) { d->sums[r], r, NONE };
    qsort(d->ranks, d->world, sizeof *d->ranks, compare);
}

/* Makes one exchange. Returns false if none helps, or none is needed. */
static bool improve(struct deal *d)
{
    uint32_t high = 0, low = 0;

    for (uint32_t r = 1; r < d->world; r++) {
        high = d->sums[r] > d->sums[high] ? r : high;
        low = d->sums[r] < d->sums[low] ? r : low;
    }
    if (d->sums[high] - d->sums[low] <= d->sums[high] / APART)
        return false;
    for (uint32_t size = 1; size <= (d->each <= PAIRS ? 2u : 1u); size++) {
        sort_ranks(d, compare_rising);
        for (uint32_t i = 0; i < d->world; i++)
            if (d->ranks[i].first != high && exchange(d, high, d->ranks[i].first, size))
                return true;
        sort_ranks(d, compare_falling);
        for (uint32_t i = 0; i < d->world; i++)
            if (d->ranks[i].first != high && d->ranks[i].first != low && exchange(d, d->ranks[i].first, low, size))
                return true;
    }
    return false;
}

enum leat_status deal_rows(const uint64_t *costs, uint32_t count, uint32_t world, uint32_t *ranks,
                           struct leat_error *err)
{
    uint32_t pairs = PAIRS * (PAIRS - 1) / 2, items = count > pairs ? count : pairs;
    struct deal d = { .costs = costs,
                      .world = world,
                      .each = count / world,
                      .sums = calloc(world, sizeof *d.sums),
                      .rows = calloc(count, sizeof *d.rows),
                      .taken = calloc(world, sizeof *d.taken),
                      .ranks = calloc(world, sizeof *d.ranks),
                      .others = calloc((size_t)items + 1, sizeof *d.others) };
    enum leat_status s = LEAT_OK;

    if (!d.sums || !d.rows || !d.taken || !d.ranks || !d.others)
        s = status_no_memory(err, ((uint64_t)items + world) * sizeof *d.others);
    if (s == LEAT_OK)
        give_out(&d, ranks);
    for (uint64_t i = 0; s == LEAT_OK && i < (uint64_t)MAX_CHANGES * world && improve(&d); i++)
        ;
    for (uint32_t i = 0; s == LEAT_OK && i < count; i++)
        ranks[d.rows[i]] = i / d.each;
    free(d.sums);
    free(d.rows);
    free(d.taken);
    free(d.ranks);
    free(d.others);
    return s;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

void deal_lanes(uint32_t *ranks, uint32_t got, uint32_t count, uint64_t lanes, uint32_t world, uint64_t *room)
{
    uint32_t left_over = world, rank = 0; /* no rank has the number `world` */

    for (uint32_t r = 0; r < world; r++)
        room[r] = count / world;
    for (uint32_t i = 0; i < count; i++) {
        rank = got < count ? i % world : (uint32_t)(ranks[i] / (lanes / world));
        ranks[i] = room[rank] > 0 ? rank : left_over;
        room[rank] -= ranks[i] == rank;
    }
    rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i] != left_over)
            continue;
        while (room[rank] == 0)
            rank++;
        ranks[i] = rank;
        room[rank]--;
    }
}
