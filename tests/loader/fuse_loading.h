/*
 * fuse_loading.h: what test_loader_fuse.c and test_loader_fuse_faults.c share: a dataset on a file system of another
 * machine (tests/support/fuse_file.h), and loaders of it. Needs root and /dev/fuse.
 */
#ifndef LEAT_TESTS_LOADER_FUSE_LOADING_H
#define LEAT_TESTS_LOADER_FUSE_LOADING_H

#include "faults/own_mounts.h"
#include "loading.h"
#include "support/fuse_file.h"

#ifndef TOKENS
#define TOKENS ((uint64_t)8 << 20) /* 16 MiB */
#endif
#define LENGTH 700 /* rows lie across pages */
#define BATCH  16u

typedef unsigned long long ull;

static char folder[512], plain[600], mounted[600];
static enum leat_apart apart; /* rows may be read to where they stay, too */

/* ---- A dataset on it ---- */

static inline bool mount_fuse(struct fuse_file *f)
{
    if (fuse_file_mount(f, plain, mounted))
        return true;
    fprintf(stderr, "cannot mount: %s\n", strerror(errno));
    return false;
}

/* What fails is not tried again: test_mount_retries.c does that. */
static inline struct loading open_plan_of(enum leat_access access, unsigned length, const char *more)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[900];

    open.access = access;
    open.retry_seconds = LEAT_RETRY_NEVER;
    snprintf(text, sizeof text, "source %s/d\nseq-len %u\n%s", mounted, length, more);
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

static inline struct loading open_plan(enum leat_access access, const char *more)
{
    return open_plan_of(access, LENGTH, more);
}

static inline struct leat_loader_options options(enum leat_engine engine)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = BATCH;
    o.io.engine = engine;
    o.io.apart = apart;
    return o;
}

/* What a test ends with. */
static inline void end_fuse(struct fuse_file *f, struct loading *w, struct leat_loader *l)
{
    leat_loader_close(l);
    leat_plan_close(w->plan);
    fuse_file_unmount(f);
}

/* So many batches, checked by what the tokens of the dataset are; what the statistics say then. */
static inline struct leat_loader_stats take(const struct loading *w, struct leat_loader *l, uint64_t count)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;

    while (count-- > 0) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, b->position);
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    return stats;
}

/* Writes the dataset; false: a file system cannot be mounted here. */
static inline bool begin_fuse(void)
{
    struct fuse_file f;

    snprintf(folder, sizeof folder, "%s", t_disk_folder());
    snprintf(plain, sizeof plain, "%s/plain", folder);
    snprintf(mounted, sizeof mounted, "%s/mounted", folder);
    if (mkdir(plain, 0700) != 0 || mkdir(mounted, 0700) != 0 || !own_mounts() || !mount_fuse(&f))
        return false;
    fuse_file_unmount(&f);
    loading_write(t_text("%s/d", plain), TOKENS, 2, 60);
    return true;
}

#endif
