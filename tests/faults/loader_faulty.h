/*
 * loader_faulty.h: what test_loader_faults.c and test_loader_cut.c share: a plan over a copy of a dataset, whose files
 * then fail, and a loader that takes batches and checks every row that is given without a flag.
 */
#ifndef LEAT_TESTS_FAULTS_LOADER_FAULTY_H
#define LEAT_TESTS_FAULTS_LOADER_FAULTY_H

#include "loader/loading.h"
#include "plan/plan.h"
#include "small.h"

#define TOKENS 40000
#define LENGTH 700 /* rows lie across pages */

static char folder[512], original[600], name[600];
static enum leat_apart apart; /* where the disk itself may write rows to their slots, too */

/* ---- A plan over a copy of the dataset ---- */

static inline void copy_original(void)
{
    unlink(with(name, ".tokens"));
    unlink(with(name, ".leat"));
    copy_dataset(original, name);
}

static inline struct loading open_part(enum leat_access access, const char *part)
{
    struct loading w = { .width = 2, .mean = 50 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[800];

    open.access = access;
    open.retry_seconds = LEAT_RETRY_NEVER; /* each failure counts */
    snprintf(text, sizeof text, "source %s\nseq-len %d\nepochs 3\n%s", name, LENGTH, part);
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

static inline struct loading open_plan(enum leat_access access)
{
    return open_part(access, "");
}

static inline struct leat_loader_options options(enum leat_engine engine, enum leat_on_damage on_damage)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 5;
    o.io.engine = engine;
    o.on_damage = on_damage;
    o.io.slots = 4;
    o.io.apart = apart;
    return o;
}

/* What a run gave. */
struct run {
    uint64_t batches, damaged;
    enum leat_status status;
};

/* Takes batches until there are no more, and checks each; `on_batch` is called after each. */
static inline struct run take_all(const struct loading *w, const struct leat_loader_options *o,
                                  void (*on_batch)(uint64_t))
{
    struct run r = { 0, 0, LEAT_OK };
    const struct leat_batch *b;
    struct leat_loader *l;

    r.status = leat_loader_open(&l, w->plan, o, &t_err);
    if (r.status != LEAT_OK)
        return r;
    while ((r.status = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        loading_check(w, b, r.batches * o->batch);
        r.damaged += b->damaged_rows;
        T_EQ(b->damaged, r.damaged);
        for (uint32_t row = 0; row < b->rows; row++)
            if (b->flags[row] & LEAT_ROW_DAMAGED)
                for (uint32_t i = 0; i <= LENGTH; i++)
                    T_EQ(loading_stored(b, row, i), 0); /* there is no end token */
        leat_batch_release(b, NULL);
        r.batches++;
        if (on_batch)
            on_batch(r.batches);
    }
    if (r.status != LEAT_E_END) { /* it stays */
        struct leat_error err;

        T_STATUS(leat_loader_next(l, &b, &err), r.status);
        T_STR(err.message, t_err.message);
    }
    leat_loader_close(l);
    return r;
}

static inline void begin_faulty(void)
{
    snprintf(folder, sizeof folder, "%s", t_disk_folder());
    snprintf(original, sizeof original, "%s/original", folder);
    snprintf(name, sizeof name, "%s/d", folder);
    loading_write(original, TOKENS, 2, 50);
}

/* Calls `each` with every engine, and with the one by which the disk itself writes rows to their slots. */
static inline void each_engine(void (*each)(enum leat_engine engine))
{
    for (int k = LEAT_ENGINE_AUTO; k <= GATHER_ENGINE_COUNT; k++) {
        apart = k < GATHER_ENGINE_COUNT ? LEAT_APART_AUTO : LEAT_APART_ALWAYS;
        each(k < GATHER_ENGINE_COUNT ? (enum leat_engine)k : LEAT_ENGINE_URING);
    }
}

#endif
