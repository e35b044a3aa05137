/*
 * test_order_pieces.c: rows of several pieces, by an order that stands here alone: sample n is the first third of
 * window 2n and what is left of window 2n + 1, so that a row's tokens come from two places far apart, of any sources
 * and datasets. All that goes through the table of orders must know such rows: pieces, trace, the loader with every
 * output that documents decide, rows that could lie apart, damage that is masked, and states.
 */
#include "bench/data/counting.h"
#include "loader/loading.h"
#include "pieces_of.h"
#include "plan/plan.h"

#define LENGTH 48u
#define FIRST  (LENGTH / 3)

/* ---- The order ---- */

static const struct plan_order *windows; /* those that it is made of */

static enum leat_status pairs_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                      struct leat_sample *samples, struct leat_error *err)
{
    struct leat_sample two[2];
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        s = windows->samples(plan, 2 * (n + i), 2, two, err);
        samples[i] = two[0];
        samples[i].number = n + i;
        samples[i].pieces = 2;
    }
    return s;
}

static enum leat_status pairs_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                     struct leat_piece *pieces, struct leat_error *err)
{
    struct leat_sample two[2];
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++, pieces += 2) {
        s = windows->samples(plan, 2 * samples[i].number, 2, two, err);
        pieces[0] = (struct leat_piece) { .token = two[0].token,
                                          .offset = two[0].offset,
                                          .document = LEAT_NONE,
                                          .source = two[0].source,
                                          .part = two[0].part,
                                          .count = FIRST };
        pieces[1] = (struct leat_piece) { .token = two[1].token + FIRST,
                                          .offset = two[1].offset + FIRST,
                                          .document = LEAT_NONE,
                                          .source = two[1].source,
                                          .part = two[1].part,
                                          .count = LENGTH + 1 - FIRST,
                                          .at = FIRST };
    }
    return s;
}

static enum leat_status pairs_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    return plan_search_try(plan, search, search->from, search->until - search->from, err);
}

static const struct plan_order *pairs(const struct leat_plan *plan)
{
    static struct plan_order order;

    windows = plan->order;
    order = *windows;
    order.samples = pairs_samples;
    order.pieces = pairs_pieces;
    order.trace = pairs_trace;
    return &order;
}

/* ---- What rows must be ---- */

static const char *folder;
static struct loading_starts starts[3];

/* Token `i` of a row, and whether a document or the second piece begins with it. */
static uint32_t token_of(const struct leat_piece *p, uint32_t i, bool *begins)
{
    const struct leat_piece *x = &p[i >= FIRST];
    uint64_t at = x->offset + (i - x->at);

    *begins = i == 0 || i == FIRST || starts[x->source == 0 ? 0 : 1 + x->part].bits[at];
    return counting_token(at, 2);
}

static void check_row(const struct leat_plan *plan, const struct leat_batch *b, uint32_t row,
                      const struct leat_outputs *o)
{
    const int64_t *inputs = o->inputs, *labels = o->labels, *positions = o->position_ids, *documents = o->document_ids;
    uint64_t at = (uint64_t)row * LENGTH, count, wrong = 0;
    int64_t position = 0, document = 0;
    struct leat_piece p[2];

    T_OK(pieces_of(plan, b->samples[row].number, p, 2, &count, &t_err));
    T_EQ(count, 2);
    T_EQ(p[0].count + p[1].count, LENGTH + 1);
    for (uint32_t i = 0; i < LENGTH; i++) {
        bool begins, next_begins;
        uint32_t token = token_of(p, i, &begins), label = token_of(p, i + 1, &next_begins);

        position = begins ? 0 : position + 1;
        document += i > 0 && begins;
        if (b->flags[row] & LEAT_ROW_DAMAGED) {
            wrong += labels[at + i] != -100;
            continue;
        }
        wrong += inputs[at + i] != token || labels[at + i] != (next_begins ? -100 : (int64_t)label);
        wrong += positions[at + i] != position || documents[at + i] != document;
        wrong += leat_batch_row(b, row) == NULL;
    }
    T_EQ(wrong, 0);
}

static uint64_t deliver(const struct leat_plan *plan, struct leat_loader_options o, uint64_t from, char *state)
{
    int64_t *numbers = calloc(4 * 8 * LENGTH, sizeof *numbers);
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    uint64_t damaged = 0, position = from;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 8;
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS | LEAT_OUTPUT_DOCUMENT_IDS;
    o.outputs.mask_first = 1;
    out.inputs = numbers;
    out.labels = numbers + 8 * LENGTH;
    out.position_ids = numbers + 16 * LENGTH;
    out.document_ids = numbers + 24 * LENGTH;
    out.mask_first = 1;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        T_EQ(b->position, position);
        T_CHECK(b->tokens != NULL); /* pages around two pieces make no row */
        T_OK(leat_batch_write(b, &out, NULL, &t_err));
        for (uint32_t row = 0; row < b->rows; row++) {
            T_EQ(b->samples[row].number, position + row);
            check_row(plan, b, row, &out);
        }
        damaged += b->damaged_rows;
        position += b->rows;
        if (state && b->number == 5)
            T_OK(leat_batch_state(b, state, &t_err));
        leat_batch_release(b, NULL);
    }
    T_STATUS(t_err.status, LEAT_E_END);
    T_EQ(position, plan->end);
    leat_loader_close(l);
    free(numbers);
    return damaged;
}

static uint32_t count_found(void *context, const struct leat_sample *x)
{
    ((uint8_t *)context)[x->number]++;
    return 0;
}

/* Samples that show these tokens as inputs, by all pieces. */
static void check_trace(const struct leat_plan *plan, uint32_t source, uint64_t first, uint64_t count)
{
    uint8_t *found = calloc(plan->end, 1);
    uint64_t wrong = 0, pieces;

    T_OK(leat_plan_trace(
        plan, &(struct leat_trace) { sizeof(struct leat_trace), source, first, count, LEAT_NONE, 0, LEAT_NONE },
        count_found, found, &t_err));
    for (uint64_t n = 0; n < plan->end; n++) {
        struct leat_piece p[2];
        bool shows = false;

        T_OK(pieces_of(plan, n, p, 2, &pieces, &t_err));
        for (unsigned i = 0; i < 2; i++) {
            uint64_t inputs = p[i].count - i; /* the last token is a label only */

            shows |= p[i].source == source && p[i].token < first + count && p[i].token + inputs > first;
        }
        wrong += found[n] != shows;
    }
    T_EQ(wrong, 0);
    free(found);
}

/* A byte of the tokens changes: rows that show its page are masked, whichever of their pieces does. */
static void damage(const char *name, long at)
{
    char path[700];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s.tokens", folder, name);
    f = fopen(path, "r+b");
    T_CHECK(f != NULL);
    fseek(f, at, SEEK_SET);
    fputc(0x5a, f);
    fclose(f);
}

static struct leat_plan *open_pairs(void)
{
    struct leat_plan *plan;
    char text[1500];

    snprintf(text, sizeof text, "source %s/a:3\nsource @%s/list\nseq-len %u\nseed 5\nepochs 1\n", folder, folder,
             LENGTH);
    plan = loading_plan(text);
    plan->order = pairs(plan);
    plan->end /= 2;
    return plan;
}

int main(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan_state loaded = LEAT_PLAN_STATE_INIT;
    char state[LEAT_PLAN_STATE_BYTES], name[700];
    uint64_t random = t_seed(), pieces;
    struct leat_piece one;
    struct leat_plan *plan;
    FILE *list;

    folder = t_folder();
    for (unsigned i = 0; i < 3; i++) {
        static const char *const names[] = { "a", "b", "c" };
        static const uint64_t tokens[] = { 30000, 9000, 12000 };

        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        loading_write(name, tokens[i], 2, 17);
        starts[i] = loading_starts(tokens[i], 17);
    }
    list = fopen(t_path(folder, "list"), "w");
    fprintf(list, "b\nc\n");
    fclose(list);

    plan = open_pairs();
    T_OK(pieces_of(plan, 7, &one, 1, &pieces, &t_err));
    T_EQ(pieces, 2);
    T_EQ(one.count, FIRST);
    T_EQ(deliver(plan, o, 0, state), 0);
    for (enum leat_engine e = LEAT_ENGINE_MAP; e <= LEAT_ENGINE_URING; e++) {
        o.io.engine = e;
        o.io.apart = LEAT_APART_ALWAYS;
        o.io.threads = loading_threads[e % LOADING_THREADS];
        T_EQ(deliver(plan, o, 0, NULL), 0);
    }
    T_OK(leat_plan_state_load(plan, state, strlen(state), &loaded, &t_err));
    T_EQ(loaded.position, 48);
    o.state = state;
    o.state_bytes = strlen(state);
    T_EQ(deliver(plan, o, 48, NULL), 0);
    for (unsigned i = 0; i < 40; i++)
        check_trace(plan, i % 2, t_below(&random, 20000), 1 + t_below(&random, 900));
    leat_plan_close(plan);

    damage("c", 9000);
    o = (struct leat_loader_options)LEAT_LOADER_OPTIONS_INIT;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    plan = open_pairs();
    T_CHECK(deliver(plan, o, 0, NULL) > 10);
    leat_plan_close(plan);
    for (unsigned i = 0; i < 3; i++)
        free(starts[i].bits);
    return t_end();
}
