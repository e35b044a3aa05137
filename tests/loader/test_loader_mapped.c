/*
 * test_loader_mapped.c: rows that stay in their files' maps (LEAT_APART_MAPPED): all that is made of such batches is
 * what it is with copied rows, byte by byte, and the CPU has copied only rows of several pieces: for lengths that
 * change, files that end inside of a page, rows that are padded or empty, documents as rows, rows of whole documents.
 * Of maps that are not on trust, and of files that are read, everything is copied. A damaged row lies in the slot. On
 * the host, and as tests/device/test_loader_mapped on a device, which reads the maps itself. The loader's thread runs
 * here.
 */
#include "apart_files.h"
#include "support/on_device.h"

#define LONGEST 5001u /* tokens of a row */

/* ---- The same as copied ---- */

/* The bytes of a plan's rows of several pieces, or, with `align`, of a piece that has a gap. */
static uint64_t joined_bytes(const struct loading *w, uint64_t positions, uint64_t align)
{
    uint64_t bytes = 0, got;

    for (uint64_t n = 0; n < positions; n++) {
        struct leat_piece pieces[80];
        struct leat_sample x;

        T_OK(leat_plan_samples(w->plan, n, 1, &x, &got, &t_err));
        T_OK(leat_plan_pieces(w->plan, &x, 1, pieces, &t_err));
        for (uint32_t k = 0; k < x.pieces; k++)
            if (x.pieces > 1 || (align > 0 && (pieces[k].count - 1) % align != 0))
                bytes += (uint64_t)pieces[k].count * w->width;
    }
    return bytes;
}

/* Whether all bytes were copied; a thread may have counted a piece that it has not copied yet. */
static bool all_copied(const struct taken *t, const struct leat_loader_options *o, unsigned width)
{
    return t->stats.io.copied_bytes + (o->io.threads ? LONGEST * width : 0) >= t->stats.io.bytes;
}

/* `all`: to the plan's end, which is near. */
static void same(unsigned width, const char *rules, uint32_t threads, uint32_t borrow, bool all)
{
    static const struct {
        enum leat_access access;
        enum leat_engine engine;
        bool stays;
    } ways[] = { { LEAT_ACCESS_TRUSTED, LEAT_ENGINE_MAP, true },
                 { LEAT_ACCESS_TRUSTED, LEAT_ENGINE_PREAD, false },
                 { LEAT_ACCESS_LEASED, LEAT_ENGINE_MAP, false },
                 { LEAT_ACCESS_READ, LEAT_ENGINE_MAP, false } };
    struct leat_loader_options o = options(LEAT_ENGINE_MAP, LEAT_APART_NEVER);
    struct loading w = open_plan(width, LEAT_ACCESS_TRUSTED, rules);
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t batches = all ? UINT64_MAX : ROWS / 7 + 1;
    static unsigned turn;
    struct taken copied, mapped;

    o.outputs.borrow = borrow;
    o.io.threads = threads;
    o.io.verify = !borrow;
    leat_plan_info(w.plan, &info);
    if (info.positions == LEAT_NONE)
        o.position = 9600 - ROWS / 2; /* where the length changes */
    else if (!all)
        o.position = info.positions - ROWS;
    copied = taken_run(&w, o, batches);
    T_CHECK(all_copied(&copied, &o, width));
    leat_plan_close(w.plan);
    turn++;
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        /* of the ways to copy, one for each plan, in turn */
        if (!ways[i].stays && !t_every() && i != 1 + turn % 3)
            continue;
        w = open_plan(width, ways[i].access, rules);
        o.io.engine = ways[i].engine;
        o.io.apart = LEAT_APART_MAPPED;
        mapped = taken_run(&w, o, batches);
        T_EQ(mapped.batches, copied.batches);
        T_EQ(mapped.apart, mapped.batches);
        if (!taken_equal(&mapped, &copied))
            T_FAIL("way %u of %s differs", i, rules);
        if (!ways[i].stays)
            T_CHECK(all_copied(&mapped, &o, width));
        else
            T_EQ(mapped.stats.io.copied_bytes, all ? joined_bytes(&w, info.positions, info.align) : 0);
        leat_plan_close(w.plan);
    }
}

static void all_same(unsigned width)
{
    make_files(width, 700001, 1000003, 1000001);
    /* both lengths in one batch */
    same(width, "seq-len 30\nbase-len 90\nat 9600:1:len=90\n", 1, 0, false);
    same(width, "seq-len 40\nepochs 1\norder sequential\n", 1, 0, false);
    same(width, "seq-len 2048\nepochs 3\n", 1, 0, false);
    same(width, "seq-len 2047\nepochs 3\n", 0, 1, false);
    same(width, "seq-len 5000\nepochs 3\norder sequential\n", 1, 1, false);
    same(width, "seq-len 40\nepochs 1\norder documents\n", 0, 0, false);
    make_files(width, 9001, 7003, 6007);
    same(width, "seq-len 70\nepochs 1\norder fit\n", 1, 1, true);
    same(width, "seq-len 72\nepochs 1\norder fit\nalign 8\noverlap 4\n", 0, 0, true);
}

/* ---- Where they lie ---- */

/* On the host a row is a place in a map of the file, whose bytes a leat_dataset_view() has, too. */
static void lies_in_map(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_MAP, LEAT_APART_MAPPED);
    struct loading w = open_plan(2, LEAT_ACCESS_TRUSTED, "seq-len 100\nepochs 1\n");
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uintptr_t ring;

    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    leat_loader_stats(l, &stats);
    ring = (uintptr_t)b->lengths; /* of the first slot, at its beginning */
    for (uint32_t row = 0; row < b->rows; row++) {
        uintptr_t at = (uintptr_t)leat_batch_row(b, row);

        T_CHECK(at < ring || at >= ring + stats.ring.bytes);
        T_EQ(at % 4096, b->samples[row].offset * 2 % 4096);
    }
    leat_batch_release(b, NULL);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* ---- Damage ---- */

static void damaged(uint32_t threads, uint64_t length, uint64_t rows_of_file)
{
    struct leat_loader_options o = options(LEAT_ENGINE_MAP, LEAT_APART_MAPPED);
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t hurt = 0, rows = 0;
    struct loading w;
    char text[700];

    make_files(2, rows_of_file * length + 1, 7 * length, 50);
    damage_page();
    snprintf(text, sizeof text, "seq-len %llu\nepochs 2\n", (unsigned long long)length);
    w = open_plan(2, LEAT_ACCESS_TRUSTED, text);
    o.io.threads = threads;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        loading_check(&w, b, rows);
        for (uint32_t row = 0; row < b->rows; row++)
            for (uint32_t i = 0; b->flags[row] & LEAT_ROW_DAMAGED && i <= b->samples[row].length; i++)
                T_EQ(loading_stored(b, row, i), 0);
        hurt += b->damaged_rows;
        rows += b->rows;
        leat_batch_release(b, NULL);
    }
    T_EQ(t_err.status, LEAT_E_END);
    T_CHECK(hurt >= 2);
    leat_loader_close(l);
    check_ends_with_damage(&w, o);
}

int main(void)
{
    if (on_device_of_loaders && !on_device_of_loaders()->reads_maps)
        return t_skip("this GPU cannot read the memory of programs by itself");
    snprintf(folder, sizeof folder, "%s", t_folder());
    all_same(2);
    all_same(4);
    make_files(2, 50001, 40001, 30001);
    lies_in_map();
    for (size_t t = 0; t < LOADING_THREADS; t++) {
        damaged(loading_threads[t], 7000, 9);
        damaged(loading_threads[t], 60, 800);
    }
    return t_end();
}
