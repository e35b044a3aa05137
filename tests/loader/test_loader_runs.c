/*
 * test_loader_runs.c: rows that are built from runs (loader_segments.h): tokens of a dataset that have moved, and
 * tokens that no dataset has, with loss or without. What finds a row's runs is wrapped here: each piece of a row loses
 * its last two tokens, its halves change places, and a token stands before each. Windows, and whole documents with
 * gaps; whole and in slices, with labels that are shifted and not.
 */
#include "loader/loader.h"
#include "loading.h"
#include "pieces_of.h"

#define LENGTH  48u
#define ROWS    6u
#define FIRST   7u           /* before the second half, with loss */
#define SECOND  9u           /* before the first half, without */
#define LONGEST (3 * LENGTH) /* with the last token of each piece among the inputs */

enum leat_status __real_loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                         struct leat_error *err);
enum leat_status __wrap_loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                         struct leat_error *err);

bool __wrap_loader_segments_needed(const struct leat_loader *l);

bool __wrap_loader_segments_needed(const struct leat_loader *l)
{
    (void)l;
    return true;
}

static uint32_t half_of(const struct leat_piece *p)
{
    return (p->count - 2) / 2;
}

enum leat_status __wrap_loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                         struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    size_t first = x->run_count;
    enum leat_status s = __real_loader_runs_find(l, slot, row, err);
    size_t count = x->run_count - first;
    struct loader_run *found = malloc((count + 1) * sizeof *found);

    memcpy(found, x->runs + first, count * sizeof *found);
    x->run_count = first;
    for (size_t k = 0; s == LEAT_OK && k < count; k++) {
        const struct loader_run *r = &found[k];
        uint32_t half = half_of(&r->piece);
        struct loader_run runs[4] = { *r, *r, *r, *r };

        if (r->beyond || r->count < 4) {
            s = loader_runs_add(x, r, err);
            continue;
        }
        for (unsigned i = 0; i < 4; i++) {
            runs[i].chain = i == 0 && r->chain;
            runs[i].document = i == 0;
            runs[i].search = false;
        }
        runs[0].id = FIRST;
        runs[2].id = SECOND;
        runs[0].count = runs[2].count = 1;
        runs[0].weight = 255;
        runs[1].first = half;
        runs[1].count = r->count - 2 - half;
        runs[3].count = half;
        for (unsigned i = 0; s == LEAT_OK && i < 4; i++)
            if (runs[i].count > 0)
                s = loader_runs_add(x, &runs[i], err);
    }
    free(found);
    return s;
}

/* Token `i` of a piece as the row shows it, and whether it counts. */
static int64_t token_of(const struct leat_piece *p, uint32_t i, bool *counts)
{
    uint32_t half = half_of(p), second = p->count - 2 - half;

    *counts = p->count < 4 || i != 1 + second;
    if (p->count < 4)
        return counting_token(p->offset + i, 2);
    if (i == 0 || i == 1 + second)
        return i == 0 ? FIRST : SECOND;
    return counting_token(p->offset + (i <= second ? half + i - 1 : i - 2 - second), 2);
}

struct expected {
    int64_t inputs[ROWS * LONGEST], labels[ROWS * LONGEST], ahead[ROWS * LONGEST], positions[ROWS * LONGEST];
};

/* `masks`: the loader has masks, and SECOND has no loss. */
static void expect_row(const struct leat_plan *plan, uint64_t number, bool masks, uint64_t align, uint32_t unshifted,
                       struct expected *e, uint64_t at, uint64_t end)
{
    struct leat_piece pieces[LENGTH];
    uint64_t count, after;
    bool counts;

    T_OK(pieces_of(plan, number, pieces, LENGTH, &count, &t_err));
    for (uint64_t k = 0; k < count; k++) {
        const struct leat_piece *p = &pieces[k];
        uint64_t places = p->count - !unshifted;

        places += align ? (align - places % align) % align : 0;

        for (uint32_t i = 0; i < places; i++, at++) {
            int64_t *const to[] = { &e->labels[at], &e->ahead[at] };

            e->inputs[at] = i < p->count ? token_of(p, i, &counts) : 0;
            e->positions[at] = i;
            for (uint32_t j = 0, label = i + !unshifted; j < 2; j++, label++) {
                *to[j] = label < p->count ? token_of(p, label, &counts) : -100;
                if (label < p->count && ((masks && !counts) || (label == 0 && k > 0)))
                    *to[j] = -100;
            }
            if (i + 2 == p->count && !masks) /* of a window, the token that follows it */
                e->ahead[at] = counting_token(p->offset + p->count, 2);
        }
    }
    for (after = 0; at < end; at++, after++) {
        e->inputs[at] = 0;
        e->labels[at] = e->ahead[at] = -100;
        e->positions[at] = (int64_t)after;
    }
}

static void check_slice(const struct leat_batch *b, const struct expected *e, const struct leat_loader_slice *slice,
                        uint32_t unshifted)
{
    static struct expected got;
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    uint64_t wrong = 0, chunk = b->whole_length / (2 * slice->count);

    o.unshifted = unshifted;
    o.inputs = got.inputs;
    o.labels = got.labels;
    o.ahead_labels = unshifted ? NULL : got.ahead;
    o.position_ids = got.positions;
    T_OK(leat_batch_write(b, &o, NULL, &t_err));
    T_EQ(b->length, b->whole_length / slice->count);
    for (uint64_t row = 0; row < b->rows; row++)
        for (uint64_t i = 0; i < b->length; i++) {
            uint64_t last = (2 * slice->count - 1 - slice->rank) * chunk + i - chunk;
            uint64_t from = slice->count == 1 ? i : i < chunk ? slice->rank * chunk + i : last;
            uint64_t at = row * b->length + i, whole = row * b->whole_length + from;

            wrong += got.inputs[at] != e->inputs[whole];
            wrong += got.labels[at] != e->labels[whole];
            wrong += !unshifted && got.ahead[at] != e->ahead[whole];
            wrong += got.positions[at] != e->positions[whole];
        }
    T_EQ(wrong, 0);
}

static void run(const char *name, const char *more, bool masks, uint64_t align, uint32_t unshifted)
{
    static struct expected e;
    struct leat_plan *plan;
    char text[1000];

    snprintf(text, sizeof text, "source %s\nseq-len %u\nseed 3\nepochs 1\n%s", name, LENGTH, more);
    plan = loading_plan(text);
    for (uint64_t count = 1; count <= (unshifted ? 1 : 4); count *= 2)
        for (uint64_t rank = 0; rank < count; rank++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            const struct leat_batch *b;
            struct leat_loader *l;
            uint64_t batches = 0;

            o.batch = ROWS;
            o.outputs.ahead = !unshifted;
            o.outputs.unshifted = unshifted;
            o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
            o.slice = (struct leat_loader_slice) { rank, count, LEAT_SLICE_ZIGZAG, 0, { 0, 0 } };
            T_OK(leat_loader_open(&l, plan, &o, &t_err));
            for (; leat_loader_next(l, &b, &t_err) == LEAT_OK; batches++) {
                for (uint64_t row = 0; row < b->rows; row++)
                    expect_row(plan, b->samples[row].number, masks, align, unshifted, &e, row * b->whole_length,
                               (row + 1) * b->whole_length);
                check_slice(b, &e, &o.slice, unshifted);
                leat_batch_release(b, NULL);
            }
            T_CHECK(batches > 5);
            leat_loader_close(l);
        }
    leat_plan_close(plan);
}

int main(void)
{
    char name[700];

    snprintf(name, sizeof name, "%s/d", t_folder());
    loading_write(name, 48 * 6 * 9 + 7, 2, 15);
    for (uint32_t unshifted = 0; unshifted < 2; unshifted++) {
        run(name, "", false, 0, unshifted);
        run(name, "order fit\nalign 8\n", true, 8, unshifted);
    }
    return t_end();
}
