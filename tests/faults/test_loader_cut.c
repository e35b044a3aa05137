/*
 * test_loader_cut.c: a file that is cut under a loader is an error that names file and documents, or rows that are
 * masked, flagged and counted; every row that is given without a flag is right, whatever happened; a file that is
 * removed goes on. The loader's thread runs here.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "loader_faulty.h"

static pthread_t cutter;
static atomic_bool cut_done;
static off_t cut_to;
static struct file_map *leased; /* the token file, if it is */
static bool cut_early;          /* while there were many batches to come */

static void *cut_file(void *unused)
{
    (void)unused;
    T_CHECK(truncate(with(name, ".tokens"), cut_to) == 0); /* waits until the lease is given back */
    atomic_store(&cut_done, true);
    return NULL;
}

/* Begins to cut, and waits until it is done, or waits for us to give the lease back; and once that is given back, until
 * it is done. */
static void cut_after_three(uint64_t batches)
{
    if (batches == 3)
        T_CHECK(pthread_create(&cutter, NULL, cut_file, NULL) == 0);
    while (batches >= 3 && !atomic_load(&cut_done) &&
           (!leased || (fcntl(leased->fd, F_GETLEASE) == F_RDLCK || atomic_load(&leased->unmapped))))
        usleep(100);
    if (batches <= 20)
        cut_early = atomic_load(&cut_done);
}

static void remove_after_three(uint64_t batches)
{
    if (batches == 3) {
        unlink(with(name, ".tokens"));
        unlink(with(name, ".leat"));
    }
}

static struct file_map *leased_file(const struct leat_plan *plan)
{
    struct file_map *f = dataset_part(plan->sources[0].dataset, 0)->data.file;

    return f->leased ? f : NULL;
}

static void cut(enum leat_access access, enum leat_engine engine, enum leat_on_damage on_damage, uint32_t threads)
{
    struct leat_loader_options o = options(engine, on_damage);
    struct loading w;
    struct run r;

    copy_original();
    cut_to = 5 * 4096 + 11;
    atomic_store(&cut_done, false);
    w = open_plan(access);
    leased = leased_file(w.plan);
    cut_early = false;
    o.io.threads = threads;
    r = take_all(&w, &o, cut_after_three);
    leat_plan_close(w.plan); /* a lease that nobody asked about any more is given back now */
    if (r.batches >= 3)
        pthread_join(cutter, NULL);
    T_CHECK(atomic_load(&cut_done));
    /* engines that do not touch the map ask for the lease once a second only */
    if (access == LEAT_ACCESS_READ || engine <= LEAT_ENGINE_MAP)
        T_CHECK(cut_early || r.status != LEAT_E_END);
    if (on_damage == LEAT_ON_DAMAGE_MASK) {
        T_EQ(r.status, LEAT_E_END);
        T_CHECK(r.damaged > 0 || !cut_early);
    } else if (r.status == LEAT_E_END) {
        T_CHECK(!cut_early);
    } else {
        T_CHECK(r.status == LEAT_E_TRUNCATED || r.status == LEAT_E_CHECKSUM);
        T_CONTAINS(t_err.message, "d.tokens");
        T_CONTAINS(t_err.message, "documents ");
    }
}

static void removed(enum leat_access access, enum leat_engine engine)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    struct loading w;
    struct run r;

    copy_original();
    w = open_plan(access);
    r = take_all(&w, &o, remove_after_three);
    T_EQ(r.status, LEAT_E_END);
    leat_plan_close(w.plan);
}

static void change(enum leat_engine e)
{
    for (enum leat_access a = LEAT_ACCESS_LEASED; a <= LEAT_ACCESS_READ; a += 2) {
        for (size_t t = 0; t < LOADING_THREADS; t++) {
            cut(a, e, LEAT_ON_DAMAGE_ERROR, loading_threads[t]);
            cut(a, e, LEAT_ON_DAMAGE_MASK, loading_threads[t]);
        }
        removed(a, e);
    }
}

int main(void)
{
    begin_faulty();
    each_engine(change);
    return t_end();
}
