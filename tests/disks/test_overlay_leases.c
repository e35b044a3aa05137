/*
 * test_overlay_leases.c: datasets that are open on overlayfs, in the layer below or above, while another process cuts
 * their token file by way of the overlay: it waits for the lease, the file is copied up if it lies below, and readers
 * get right tokens or an error that says that the file was truncated, never a signal. The layer below stays as it is.
 * Needs root.
 */
#include <sys/wait.h>

#include "faults/own_mounts.h"
#include "faults/small.h"
#include "loader/loading.h"

#define TOKENS 200000u
#define MEAN   60

static char lower[560], upper[560], mounted[560], original[600], name[600];

static bool mount_overlay(void)
{
    char options[2048];

    if (!mount_memory(upper, 16ul << 20))
        return false;
    make_folder(t_path(upper, "files"));
    make_folder(t_path(upper, "work"));
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s/files,workdir=%s/work", lower, upper, upper);
    if (mount("overlay", mounted, "overlay", 0, options) == 0)
        return true;
    umount(upper);
    return false;
}

static void unmount_overlay(void)
{
    T_CHECK(umount(mounted) == 0);
    T_CHECK(umount(upper) == 0);
}

/* A process that cuts the token file, which takes as long as the lease is held. */
static pid_t cut(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(truncate(with(name, ".tokens"), 4096) == 0 ? 0 : 1);
    return child;
}

static bool ended(pid_t child)
{
    int status;

    if (waitpid(child, &status, WNOHANG) != child)
        return false;
    T_EQ(status, 0);
    return true;
}

/*
 * To be called again and again, until what is read shows that the file is cut. It shows within a second; where it never
 * does, as what was mapped stays right when the file is copied up, the test ends here and does not read on for ever.
 * Between two reads there is a pause: without it, reading took most of a core for all of that second.
 */
static void await_cut(pid_t child, struct timespec *since)
{
    struct timespec now;

    usleep(1000);
    if (since->tv_sec == 0 && !ended(child))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (since->tv_sec == 0)
        *since = now;
    if (now.tv_sec - since->tv_sec < 60)
        return;
    T_FAIL("a minute after the file was cut, its tokens are still read without an error");
    exit(t_end());
}

/* Reads all tokens again and again, until the file is cut and that shows. */
static void read_on(void)
{
    static uint16_t ids[TOKENS];
    struct timespec cut_since = { 0, 0 };
    struct leat_dataset *d;
    enum leat_status s;
    pid_t child = -1;
    uint64_t wrong;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    do {
        wrong = 0;
        s = leat_dataset_read(d, 0, TOKENS, ids, &t_err);
        for (uint64_t i = 0; s == LEAT_OK && i < TOKENS; i++)
            wrong += ids[i] != counting_token(i, 2);
        T_EQ(wrong, 0);
        if (child < 0)
            child = cut();
        await_cut(child, &cut_since);
    } while (s == LEAT_OK && wrong == 0);
    T_STATUS(s, LEAT_E_TRUNCATED);
    while (cut_since.tv_sec == 0 && !ended(child))
        usleep(1000);
    leat_dataset_close(d);
}

/* Likewise by the loader. */
static void load_on(unsigned engine)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct loading w = { .width = 2, .mean = MEAN };
    const struct leat_batch *b;
    struct timespec cut_since = { 0, 0 };
    struct leat_loader *l;
    enum leat_status s;
    pid_t child;

    w.plan = loading_plan(t_text("source %s\nseq-len 700\n", name));
    o.batch = 4;
    o.io.engine = engine;
    o.io.verify = 0; /* so that each batch is read from the file as it is */
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    leat_batch_release(b, NULL);
    child = cut();
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        loading_check(&w, b, b->position);
        leat_batch_release(b, NULL);
        await_cut(child, &cut_since);
    }
    T_STATUS(s, LEAT_E_TRUNCATED);
    while (cut_since.tv_sec == 0 && !ended(child))
        usleep(1000);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

static void try_at(bool below)
{
    static const unsigned engines[] = { LEAT_ENGINE_AUTO, LEAT_ENGINE_MAP, LEAT_ENGINE_PREAD, LEAT_ENGINE_ADVISE,
                                        LEAT_ENGINE_URING };
    char kept[600];

    for (unsigned i = 0; i <= sizeof engines / sizeof engines[0]; i++) {
        clear_folder(lower);
        snprintf(kept, sizeof kept, "%s/d", lower);
        if (below)
            copy_dataset(original, kept);
        T_CHECK(mount_overlay());
        if (!below)
            copy_dataset(original, name);
        if (i == 0)
            read_on();
        else
            load_on(engines[i - 1]);
        unmount_overlay();
        T_CHECK(!below || same_dataset(kept, original));
    }
}

int main(void)
{
    const char *folder = memory_folder();

    snprintf(lower, sizeof lower, "%.500s/lower", folder);
    snprintf(upper, sizeof upper, "%.500s/upper", folder);
    snprintf(mounted, sizeof mounted, "%.500s/mounted", folder);
    snprintf(original, sizeof original, "%.500s/original", folder);
    snprintf(name, sizeof name, "%s/d", mounted);
    make_folder(lower);
    make_folder(upper);
    make_folder(mounted);
    if (!mount_overlay())
        return t_skip("overlayfs cannot be mounted here");
    unmount_overlay();
    loading_write(original, TOKENS, 2, MEAN);
    try_at(true);
    try_at(false);
    return t_end();
}
