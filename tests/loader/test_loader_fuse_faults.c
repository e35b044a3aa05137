/*
 * test_loader_fuse_faults.c: a file system of another machine (tests/support/fuse_file.h) whose reads fail: an error
 * that names file, page and documents, or a masked row; a read that comes back short does not show, or is an error:
 * never a row that is wrong, by io_uring also with rows that are read to where they stay. Runs the loader's thread;
 * needs root and /dev/fuse.
 */

#define TOKENS ((uint64_t)2 << 20) /* 4 MiB: the bad page is one of the last */
#include "fuse_loading.h"

#define BAD_PAGE 1003u

/* How many of the first rows of the plan have a token of the bad page; *first: of which batch the first one is. */
static uint64_t bad_rows(const struct loading *w, uint64_t rows, uint64_t *first)
{
    uint64_t bad = 0, got;

    *first = LEAT_NONE;
    for (uint64_t p = 0; p < rows; p++) {
        struct leat_sample x;

        T_OK(leat_plan_samples(w->plan, p, 1, &x, &got, &t_err));
        if (2 * x.offset / 4096 > BAD_PAGE || 2 * (x.offset + x.length) / 4096 < BAD_PAGE)
            continue;
        if (*first == LEAT_NONE)
            *first = p / BATCH;
        bad++;
    }
    return bad;
}

static void fails(enum leat_engine engine, enum leat_on_damage on_damage, bool direct)
{
    struct leat_loader_options o = options(engine);
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t first, rows, k = 0, damaged = 0;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s;
    struct fuse_file f;
    struct loading w;
    char words[64];

    T_CHECK(mount_fuse(&f));
    atomic_store(&f.board->direct, direct);
    w = open_plan(LEAT_ACCESS_LEASED, "epochs 1\n");
    leat_plan_info(w.plan, &info);
    rows = bad_rows(&w, info.positions, &first);
    atomic_store(&f.board->fail_begin, (uint64_t)BAD_PAGE * 4096);
    atomic_store(&f.board->fail_end, (uint64_t)BAD_PAGE * 4096 + 4096);
    o.on_damage = on_damage;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        loading_check(&w, b, BATCH * k++);
        damaged += b->damaged_rows;
        leat_batch_release(b, NULL);
    }
    T_CHECK(atomic_load(&f.board->failed) > 0);
    if (on_damage == LEAT_ON_DAMAGE_MASK) {
        T_STATUS(s, LEAT_E_END);
        T_EQ(damaged, rows);
    } else {
        T_STATUS(s, LEAT_E_IO);
        T_EQ(t_err.os_error, EIO);
        T_EQ(k, first);
        T_CONTAINS(t_err.message, "/mounted/d.tokens");
        T_CONTAINS(t_err.message, "documents ");
        snprintf(words, sizeof words, "page %u", BAD_PAGE);
        if (!strstr(t_err.message, words)) /* the row begins in the page before */
            snprintf(words, sizeof words, "page %u", BAD_PAGE - 1);
        T_CONTAINS(t_err.message, words);
    }
    end_fuse(&f, &w, l);
}

#define TWICE (3 * TOKENS / 2 / LENGTH / BATCH) /* so many batches read half of the pages a second time */

/* Without the page cache a short read is one that is gone on with. With it, the kernel takes it for the file's end: an
 * error, unless the bytes that lack were asked for by nobody. With `in_turn`, io_uring goes on
 * itself, and reports all bytes. */
static void short_reads(enum leat_engine engine, bool direct, bool in_turn)
{
    struct leat_loader_options o = options(engine);
    enum leat_status s = LEAT_OK;
    const struct leat_batch *b;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;
    uint64_t k = 0;

    T_CHECK(in_turn ? fuse_file_mount_in_turn(&f, plain, mounted) : mount_fuse(&f));
    atomic_store(&f.board->direct, direct);
    w = open_plan(LEAT_ACCESS_LEASED, "");
    atomic_store(&f.board->short_every, 3);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (; k < (in_turn ? TWICE : 200) && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
        loading_check(&w, b, BATCH * k);
        leat_batch_release(b, NULL);
    }
    T_CHECK(atomic_load(&f.board->shortened) > 0);
    if (s != LEAT_OK) {
        T_CHECK(!direct && (s == LEAT_E_TRUNCATED || s == LEAT_E_CHECKSUM));
        T_CONTAINS(t_err.message, "/mounted/d.tokens");
        T_CONTAINS(t_err.message, "documents ");
    }
    end_fuse(&f, &w, l);
}

/* Nobody sees that FUSE is below overlayfs; and without hashes nobody sees what a read brought. */
static void short_reads_unseen(enum leat_engine engine, bool overlay)
{
    struct leat_loader_options o = options(engine);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;
    char layers[1300];

    T_CHECK(fuse_file_mount_in_turn(&f, plain, mounted));
    atomic_store(&f.board->direct, true);
    snprintf(layers, sizeof layers, "lowerdir=%s:%s", mounted, folder);
    if (overlay && mount("overlay", mounted, "overlay", 0, layers) != 0) {
        fprintf(stderr, "no overlayfs here: %s\n", strerror(errno));
        fuse_file_unmount(&f);
        return;
    }
    w = open_plan(LEAT_ACCESS_READ, "");
    atomic_store(&f.board->short_every, 3);
    o.io.verify = overlay;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, TWICE);
    if (engine == LEAT_ENGINE_AUTO || !overlay)
        T_CHECK(strcmp(stats.io.engine, "uring") != 0);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    if (overlay)
        T_CHECK(umount2(mounted, MNT_DETACH) == 0);
    fuse_file_unmount(&f);
}

/* Reads of the token file past the page cache, so that their number is large; what it is then. */
static uint64_t many_reads(const struct fuse_file *f)
{
    static _Alignas(4096) uint8_t page[4096];
    int fd;

    fd = open(t_text("%s/d.tokens", mounted), O_RDONLY | O_DIRECT);
    for (unsigned i = 0; i < 300; i++)
        T_CHECK(pread(fd, page, sizeof page, 0) == sizeof page);
    close(fd);
    return atomic_load(&f->board->reads);
}

/* A row of several reads, the first of which fails at once, while another is held up: what that one brings must not
 * come to a row that was masked meanwhile. */
static void late_reads(void)
{
    const unsigned length = 500000;
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct loading w;
    const struct leat_batch *b;
    struct leat_loader *l;
    struct fuse_file f;
    uint64_t wrong = 0;

    T_CHECK(mount_fuse(&f));
    w = open_plan_of(LEAT_ACCESS_LEASED, length, "order sequential\n");
    atomic_store(&f.board->fail_begin, 60 * 4096); /* further than what was read ahead when the file was opened */
    atomic_store(&f.board->fail_end, 61 * 4096);
    atomic_store(&f.board->hold_for, 1000000);
    atomic_store(&f.board->hold_every, many_reads(&f) + 4);
    o.batch = 2;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (unsigned i = 0; i < 60000 && atomic_load(&f.board->held) == 0; i++)
        usleep(1000);
    T_EQ(atomic_load(&f.board->held), 1);
    atomic_store(&f.board->hold_every, 0);
    T_OK(leat_loader_next(l, &b, &t_err));
    T_CHECK(!b->tokens);
    loading_check(&w, b, 0);
    T_EQ(b->flags[0], LEAT_ROW_DAMAGED);
    T_EQ(b->flags[1], 0);
    for (uint64_t i = 0; i <= length; i++)
        wrong += loading_stored(b, 0, i) != 0;
    T_EQ(wrong, 0);
    end_fuse(&f, &w, l);
}

static void each_fault(enum leat_engine engine)
{
    for (unsigned direct = 0; direct < 2; direct++) {
        fails(engine, LEAT_ON_DAMAGE_ERROR, direct);
        fails(engine, LEAT_ON_DAMAGE_MASK, direct);
        short_reads(engine, direct, false);
    }
    short_reads(engine, true, true);
}

/* False: there is none here, and another engine is taken. */
static bool has_uring(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct loading w;
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;

    T_CHECK(mount_fuse(&f));
    w = open_plan(LEAT_ACCESS_LEASED, "");
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 1);
    end_fuse(&f, &w, l);
    return strcmp(stats.io.engine, "uring") == 0;
}

static void rows_apart(void)
{
    apart = LEAT_APART_ALWAYS;
    late_reads();
    each_fault(LEAT_ENGINE_URING);
    apart = LEAT_APART_AUTO;
}

int main(void)
{
    if (!begin_fuse())
        return t_skip("mounting /dev/fuse is not allowed here");
    if (has_uring())
        rows_apart();
    each_fault(LEAT_ENGINE_PREAD);
    each_fault(LEAT_ENGINE_URING);
    short_reads_unseen(LEAT_ENGINE_URING, false);
    short_reads_unseen(LEAT_ENGINE_URING, true);
    short_reads_unseen(LEAT_ENGINE_AUTO, true);
    return t_end();
}
