/*
 * test_mount_retries.c: datasets on a file server (tests/support/fuse_disk.h) whose lookups, opens and reads fail some
 * times and then work: each row is right, with every engine; once the time is over the error names the file; a replaced
 * file is never read in place of the one that was opened; closing a loader, and the caller's function, end a wait.
 * Needs root and /dev/fuse.
 */
#include <errno.h>

#include "faults/own_mounts.h"
#include "faults/small.h"
#include "loader/loading.h"
#include "support/fuse_disk.h"

#define TOKENS  60000u
#define LENGTH  700
#define MEAN    60
#define FOREVER 1000000u

static char behind[560], shown[560], name[600], original[600];
static struct fuse_disk disk;
static uint64_t retries; /* of all that passed */

static const int errors[] = { EIO, ESTALE, ETIMEDOUT, ESHUTDOWN, ENOTCONN };
#define ERRORS (sizeof errors / sizeof errors[0])

/* Nothing of the dataset is in memory then. */
static bool mount_it(void)
{
    return fuse_disk_mount(&disk, behind, shown, false);
}

static void fail(unsigned calls, unsigned long n, unsigned long times, int error)
{
    fuse_disk_arm(&disk, calls, FUSE_DISK_FAILS, n, false, error);
    atomic_store(&disk.board->times, times);
}

static struct leat_open_options opening(uint32_t seconds)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;

    open.retry_seconds = seconds;
    return open;
}

static enum leat_status plan_it(struct loading *w, const struct leat_open_options *open, struct leat_error *err)
{
    char text[900];

    *w = (struct loading) { .width = 2, .mean = MEAN };
    snprintf(text, sizeof text, "source %s\nseq-len %d\nepochs 1\n", name, LENGTH);
    return leat_plan_parse(&w->plan, text, strlen(text), NULL, open, err);
}

struct result {
    enum leat_status status;
    uint64_t rows;
    uint32_t retries;
    struct leat_error err;
    char notice[1200];
};

static struct result load(const struct leat_open_options *open, unsigned engine, uint32_t threads)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct result r = { .rows = 0 };
    struct leat_loader *l = NULL;
    const struct leat_batch *b;
    struct loading w;

    o.batch = 4;
    o.io.engine = engine;
    o.io.threads = threads;
    r.status = plan_it(&w, open, &r.err);
    if (r.status == LEAT_OK)
        r.status = leat_loader_open(&l, w.plan, &o, &r.err);
    while (r.status == LEAT_OK && (r.status = leat_loader_next(l, &b, &r.err)) == LEAT_OK) {
        loading_check(&w, b, r.rows);
        r.rows += b->rows;
        T_EQ(b->damaged_rows, 0);
        leat_batch_release(b, NULL);
    }
    if (l) {
        leat_loader_stats(l, &stats);
        leat_loader_notice(l, r.notice, sizeof r.notice);
    }
    r.retries = stats.io.retries;
    leat_loader_close(l);
    leat_plan_close(w.plan);
    return r;
}

#define ROWS ((TOKENS - 1) / LENGTH)

/* ---- Failures that pass ---- */

static void pass(unsigned calls, unsigned long n, int error, unsigned engine, uint32_t threads)
{
    struct leat_open_options open = opening(0);
    struct result r;
    unsigned long counted;

    T_CHECK(mount_it());
    fail(calls, n, 5, error); /* the kernel reads what it read ahead in vain once more */
    r = load(&open, engine, threads);
    counted = fuse_disk_disarm(&disk);
    T_STATUS(r.status, LEAT_E_END);
    T_EQ(r.rows, ROWS);
    retries += r.retries;
    if (r.status != LEAT_E_END || r.rows != ROWS)
        fprintf(stderr, "  %s, call %lu of %lu (%s), engine %u, threads %u: %s\n", strerror(error), n, counted,
                fuse_disk_hit(&disk) ? fuse_disk_hit(&disk) : "none", engine, threads, r.err.message);
    fuse_disk_unmount(&disk);
}

static void all_pass(void)
{
    for (unsigned i = 0; i < ERRORS; i++)
        for (unsigned engine = LEAT_ENGINE_AUTO; engine <= LEAT_ENGINE_URING; engine++)
            for (uint32_t threads = 0; threads < 3; threads++)
                pass(FUSE_DISK_READ, 4 + 3 * engine + threads, errors[i], engine, threads);
}

/* Whatever is asked while a dataset is opened. */
static void opening_passes(void)
{
    for (unsigned i = 0; i < ERRORS; i++)
        for (unsigned long n = 1; n < 14; n++)
            pass(FUSE_DISK_READING, n, errors[i], LEAT_ENGINE_AUTO, 1);
}

/* ---- Failures that stay ---- */

static void stays(void)
{
    struct leat_open_options open = opening(1), never = opening(LEAT_RETRY_NEVER);
    struct result r;

    T_CHECK(mount_it());
    fail(FUSE_DISK_READ, 12, FOREVER, ETIMEDOUT);
    r = load(&open, LEAT_ENGINE_PREAD, 1);
    T_STATUS(r.status, LEAT_E_IO);
    T_EQ(r.err.os_error, ETIMEDOUT);
    T_STR(r.err.file, with(name, ".tokens"));
    T_CONTAINS(r.err.message, "tried");
    T_CHECK(r.retries > 2);
    T_CONTAINS(r.notice, "leat tries again, for 1 s");
    fuse_disk_disarm(&disk);
    fuse_disk_unmount(&disk);
    T_CHECK(mount_it());
    fail(FUSE_DISK_OPEN, 1, FOREVER, EIO);
    r = load(&open, LEAT_ENGINE_PREAD, 1);
    T_STATUS(r.status, LEAT_E_IO);
    T_STR(r.err.file, with(name, ".leat"));
    fail(FUSE_DISK_OPEN, 1, FOREVER, EIO);
    r = load(&never, LEAT_ENGINE_PREAD, 1);
    T_STATUS(r.status, LEAT_E_IO);
    T_EQ(fuse_disk_disarm(&disk), 1);
    T_EQ(r.retries, 0);
    fuse_disk_unmount(&disk);
}

/* On a disk of this machine a read is tried once more: nothing waits there. */
static void elsewhere(void)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why = { .os_error = EIO };
    enum leat_status s = LEAT_E_IO;
    struct leat_open_options open = opening(0);
    struct mounts m;

    mounts_open(&m, &open);
    T_CHECK(mounts_again(&m, &tries, false, &s, &why));
    T_CHECK(!mounts_again(&m, &tries, false, &s, &why));
    why.os_error = ENOENT;
    tries = (struct mounts_tries) { 0 };
    T_CHECK(!mounts_again(&m, &tries, true, &s, &why));
    mounts_close(&m);
}

static unsigned tried(struct mounts *m)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why = { .os_error = EIO };
    enum leat_status s = LEAT_E_IO;

    while (mounts_again(m, &tries, true, &s, &why))
        ;
    return tries.count;
}

/* The time is that of all calls together: each of several damaged rows waited for all of it. */
static void together(void)
{
    struct leat_open_options open = opening(1);
    struct mounts_tries one = { .count = 1 };
    struct mounts m;

    mounts_open(&m, &open);
    T_CHECK(tried(&m) > 3);
    T_EQ(tried(&m), 2); /* the call, and once more */
    T_EQ(tried(&m), 2);
    mounts_worked(&m, &one);
    T_CHECK(tried(&m) > 3);
    mounts_close(&m);
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0);
    open = opening(0);
    mounts_open(&m, &open);
    T_EQ(tried(&m), 0);
    mounts_close(&m);
    T_CHECK(unsetenv("LEAT_RETRY_SECONDS") == 0);
}

/* ---- Another file under the name ---- */

static void replaced(void)
{
    struct leat_open_options open = opening(0);
    struct leat_dataset *d;
    uint16_t ids[1000];
    char other[600];

    snprintf(other, sizeof other, "%s/other", behind);
    T_CHECK(mount_it());
    T_OK(leat_dataset_open(&d, name, &open, &t_err));
    T_OK(leat_dataset_read(d, 30000, 1000, ids, &t_err));
    copy_dataset(original, other);
    T_CHECK(rename(with(other, ".tokens"), with(original, ".tokens")) == 0);
    fail(FUSE_DISK_READ, 1, 5, ESTALE); /* the kernel reads ahead, and once more */
    T_STATUS(leat_dataset_read(d, 10000, 1000, ids, &t_err), LEAT_E_MISMATCH);
    T_STR(t_err.file, with(name, ".tokens"));
    T_CONTAINS(t_err.message, "replaced");
    leat_dataset_close(d);
    fuse_disk_disarm(&disk);
    fuse_disk_unmount(&disk);
}

/* ---- Waits that are ended ---- */

#define A_DAY 86400u /* a wait that is not ended outlasts the test */

/* The loader's thread waits, and so does what the crew has left; the consumer does not. */
static void closed(uint32_t threads)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_open_options open = opening(A_DAY);
    const struct leat_batch *b;
    struct leat_loader *l;
    char notice[1200] = "";
    struct loading w;
    enum leat_status s;

    T_CHECK(mount_it());
    T_OK(plan_it(&w, &open, &t_err));
    o.batch = 4;
    o.io.engine = LEAT_ENGINE_PREAD;
    o.io.threads = threads;
    fail(FUSE_DISK_READ, 1, FOREVER, EIO);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    do
        s = leat_loader_next_within(l, 1000000, &b, &t_err);
    while (s == LEAT_E_AGAIN && !leat_loader_notice(l, notice, sizeof notice));
    T_STATUS(s, LEAT_E_AGAIN);
    T_CONTAINS(notice, "Input/output error");
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_disk_disarm(&disk);
    fuse_disk_unmount(&disk);
}

static char said[1200];

static uint32_t stop_waiting(void *context, const char *why)
{
    snprintf(said, sizeof said, "%s", why);
    return ++*(unsigned *)context > 2;
}

static void stopped(void)
{
    struct leat_open_options open = opening(A_DAY);
    struct leat_dataset *d = NULL;
    unsigned calls = 0;
    struct result r;

    open.waiting = stop_waiting;
    open.waiting_context = &calls;
    T_CHECK(mount_it());
    fail(FUSE_DISK_OPEN, 1, FOREVER, ESTALE);
    T_STATUS(leat_dataset_open(&d, name, &open, &t_err), LEAT_E_STOPPED);
    T_EQ(t_err.status, LEAT_E_STOPPED);
    T_EQ(calls, 3);
    T_CONTAINS(said, "/d.leat");
    calls = 0;
    fail(FUSE_DISK_READ, 12, FOREVER, EIO);
    r = load(&open, LEAT_ENGINE_PREAD, 0);
    T_STATUS(r.status, LEAT_E_STOPPED);
    fuse_disk_disarm(&disk);
    fuse_disk_unmount(&disk);
}

/* ---- leat_adopt() ---- */

#define ADOPTED 3000001u /* bytes of tokens: three chunks */

static char adopted[700], index_name[600];

struct adopting {
    unsigned calls, stop_at;
};

static uint32_t on_adopt(void *context, uint64_t done, uint64_t total)
{
    struct adopting *a = context;

    T_CHECK(done <= total);
    return ++a->calls == a->stop_at;
}

static enum leat_status adopt(struct adopting *a)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;

    o.output = index_name;
    o.force = 1;
    o.created = 1;
    o.progress = on_adopt;
    o.context = a;
    return leat_adopt(adopted, &o, NULL, &t_err);
}

static void write_tokens(const char *file, int seed)
{
    FILE *f = fopen(file, "w");

    T_CHECK(f != NULL);
    for (unsigned i = 0; i < ADOPTED / 2; i++)
        T_EQ(fwrite((const uint16_t[]) { (uint16_t)(i * i + i / 7 + (unsigned)seed) }, 2, 1, f), 1);
    T_EQ(fclose(f), 0);
}

static void adopting(void)
{
    char first[700], file[700];
    struct adopting a = { 0, 0 };
    unsigned long count;

    snprintf(adopted, sizeof adopted, "raw:%s/t.u16?dtype=u16&end=7", shown);
    snprintf(file, sizeof file, "%s/t.u16", behind);
    snprintf(index_name, sizeof index_name, "%s-index", behind);
    snprintf(first, sizeof first, "%s.first", index_name);
    write_tokens(file, 0);
    T_CHECK(mount_it());
    fail(FUSE_DISK_READING, 0, 0, 0);
    T_OK(adopt(&a));
    count = fuse_disk_disarm(&disk);
    fuse_disk_unmount(&disk);
    T_CHECK(count > 8);
    T_CHECK(rename(with(index_name, ".leat"), first) == 0);
    for (unsigned i = 0; i < ERRORS; i++)
        for (unsigned long n = 1; n <= count; n += n < 8 ? 1 : 1 + count / 8) {
            T_CHECK(mount_it());
            fail(FUSE_DISK_READING, n, 5, errors[i]);
            T_OK(adopt(&a));
            fuse_disk_disarm(&disk);
            T_CHECK(same_file(with(index_name, ".leat"), first));
            fuse_disk_unmount(&disk);
        }
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "86400", 1) == 0);
    for (unsigned calls = FUSE_DISK_OPEN; calls; calls = calls == FUSE_DISK_OPEN ? FUSE_DISK_READ : 0) {
        T_CHECK(mount_it());
        a = (struct adopting) { 0, 4 };
        fail(calls, 1, FOREVER, EIO);
        T_STATUS(adopt(&a), LEAT_E_STOPPED);
        T_EQ(a.calls, 4);
        fuse_disk_disarm(&disk);
        fuse_disk_unmount(&disk);
    }
    T_CHECK(unsetenv("LEAT_RETRY_SECONDS") == 0);
}

int main(void)
{
    const char *folder = memory_folder();

    snprintf(behind, sizeof behind, "%.500s/behind", folder);
    snprintf(shown, sizeof shown, "%.500s/shown", folder);
    snprintf(name, sizeof name, "%s/d", shown);
    snprintf(original, sizeof original, "%s/d", behind);
    make_folder(behind);
    make_folder(shown);
    if (!mount_it())
        return t_skip("mounting /dev/fuse is not allowed here");
    fuse_disk_unmount(&disk);
    loading_write(original, TOKENS, 2, MEAN);
    elsewhere();
    together();
    all_pass();
    T_CHECK(retries > ERRORS);
    opening_passes();
    stays();
    for (uint32_t threads = 1; threads < 3; threads++)
        closed(threads);
    stopped();
    replaced();
    adopting();
    return t_end();
}
