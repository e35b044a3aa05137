/*
 * test_read_failing.c: datasets on disks whose 1st, 2nd, 3rd, ... read fails, once or from then on: a file server
 * (FUSE), and ext4 on a device whose reads fail. With every engine, plain reads, views and verifying each row is right,
 * or the call returns an error; no signal ends the process. Needs root, /dev/fuse, and for the disk loop devices and
 * mkfs.ext4.
 */
#include <sys/wait.h>

#include "faults/own_mounts.h"
#include "faults/small.h"
#include "loader/loading.h"
#include "support/fuse_disk.h"
#include "support/loop_disk.h"

#define TOKENS 200000u
#define LENGTH 700 /* rows lie across pages */
#define MEAN   60
#define TRIED  5

static char behind[560], shown[560], mounted[560];

/* ---- Places ---- */

struct place {
    const char *what;
    bool device, direct;
};

static const struct place places[] = {
    { "a file server", false, false },
    { "a file server, past the page cache", false, true },
    { "a disk", true, true },
};

struct mounted {
    struct fuse_disk fuse;
    struct loop_disk loop;
    const struct place *place;
    char name[600];
};

/* Nothing of the dataset is in memory then. */
static bool mount_place(struct mounted *m, const struct place *place)
{
    m->place = place;
    if (!fuse_disk_mount(&m->fuse, behind, shown, false))
        return false;
    atomic_store(&m->fuse.board->direct, place->direct);
    snprintf(m->name, sizeof m->name, "%s/d", place->device ? mounted : shown);
    if (!place->device || loop_disk_mount(&m->loop, with(shown, "/image"), "ext4", mounted))
        return true;
    fuse_disk_unmount(&m->fuse);
    return false;
}

static void unmount_place(struct mounted *m)
{
    fuse_disk_disarm(&m->fuse);
    if (m->place->device)
        loop_disk_unmount(&m->loop);
    fuse_disk_unmount(&m->fuse);
}

/* ---- Uses ---- */

static void check_error(enum leat_status s, const struct leat_error *err)
{
    T_EQ(err->status, s);
    T_EQ(s, LEAT_E_IO);
    T_EQ(err->os_error, EIO);
    T_CONTAINS(err->message, "/d.");
}

static void load(const char *name, unsigned engine)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct loading w = { .width = 2, .mean = MEAN };
    struct leat_loader *l = NULL;
    const struct leat_batch *b;
    struct leat_error err;
    enum leat_status s;
    uint64_t at = 0;
    const char *text = t_text("source %s\nseq-len %d\nepochs 1\n", name, LENGTH);

    o.batch = 4;
    o.io.engine = engine;
    open.retry_seconds = LEAT_RETRY_NEVER; /* test_mount_retries.c tries again */
    s = leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &err);
    if (s == LEAT_OK)
        s = leat_loader_open(&l, w.plan, &o, &err);
    while (s == LEAT_OK && (s = leat_loader_next(l, &b, &err)) == LEAT_OK) {
        loading_check(&w, b, at);
        at += b->rows;
        leat_batch_release(b, NULL);
    }
    if (s != LEAT_E_END)
        check_error(s, &err);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* Views of all tokens; those that cannot be had are read, which says why. */
static enum leat_status view_all(const struct leat_dataset *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint16_t ids[1000];
    uint64_t wrong = 0;

    for (uint64_t at = 0; s == LEAT_OK && at < TOKENS; at += 1000) {
        struct leat_view view;

        s = leat_dataset_view(d, at, 1000, &view, err);
        for (uint64_t i = 0; s == LEAT_OK && i < 1000; i++)
            wrong += ((const uint16_t *)view.tokens)[i] != counting_token(at + i, 2);
        if (s == LEAT_OK)
            leat_view_release(&view);
        else if (s == LEAT_E_NOT_MAPPED)
            s = leat_dataset_read(d, at, 1000, ids, err);
    }
    T_EQ(wrong, 0);
    return s;
}

static void read_all(const char *name, unsigned access)
{
    static uint16_t ids[TOKENS];
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    uint64_t first, count, wrong = 0;
    struct leat_dataset *d = NULL;
    struct leat_error err;
    enum leat_status s;

    open.access = access;
    open.retry_seconds = LEAT_RETRY_NEVER;
    s = leat_dataset_open(&d, name, &open, &err);
    if (s == LEAT_OK)
        s = leat_dataset_document(d, 1000, &first, &count, &err);
    if (s == LEAT_OK)
        s = leat_dataset_read(d, 0, TOKENS, ids, &err);
    for (uint64_t i = 0; s == LEAT_OK && i < TOKENS; i++)
        wrong += ids[i] != counting_token(i, 2);
    T_EQ(wrong, 0);
    if (s == LEAT_OK)
        s = view_all(d, &err);
    if (s == LEAT_OK)
        s = leat_dataset_verify(d, NULL, NULL, &err);
    if (s != LEAT_OK)
        check_error(s, &err);
    leat_dataset_close(d);
}

struct use {
    const char *what;
    void (*run)(const char *name, unsigned how);
    unsigned how;
};

static const struct use uses[] = {
    { "engine auto", load, LEAT_ENGINE_AUTO },    { "engine map", load, LEAT_ENGINE_MAP },
    { "engine pread", load, LEAT_ENGINE_PREAD },  { "engine advise", load, LEAT_ENGINE_ADVISE },
    { "engine uring", load, LEAT_ENGINE_URING },  { "leased", read_all, LEAT_ACCESS_LEASED },
    { "read calls", read_all, LEAT_ACCESS_READ },
};

/* In a process of its own, so that a signal is seen. How many reads there were. */
static unsigned long try_one(const struct place *place, const struct use *use, unsigned long n, bool and_after)
{
    struct mounted m;
    unsigned long reads;
    int status = 0;
    pid_t child;

    T_CHECK(mount_place(&m, place));
    fuse_disk_arm(&m.fuse, FUSE_DISK_READ, FUSE_DISK_FAILS, n, and_after, EIO);
    child = fork();
    if (child == 0) {
        t_failures = 0; /* of the program before it */
        use->run(m.name, use->how);
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    reads = fuse_disk_disarm(&m.fuse);
    if (status != 0)
        T_FAIL("%s, %s: read %lu of %lu fails%s: %s %d", place->what, use->what, n, reads,
               and_after ? ", and all after it" : "", WIFSIGNALED(status) ? "ended by signal" : "exit code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    unmount_place(&m);
    return reads;
}

static void try_each(const struct place *place, const struct use *use)
{
    unsigned long reads = try_one(place, use, 0, false), step = reads < TRIED ? 1 : reads / TRIED;

    fprintf(stderr, "%s, %s: %lu reads\n", place->what, use->what, reads);
    for (unsigned long n = 1; n <= reads; n += step) {
        try_one(place, use, n, false);
        try_one(place, use, n, true);
    }
}

/* Puts the dataset onto the disk. */
static bool make_disk(void)
{
    char image[600], name[600], original[600];
    struct loop_disk loop;

    snprintf(image, sizeof image, "%s/image", behind);
    snprintf(name, sizeof name, "%s/d", mounted);
    snprintf(original, sizeof original, "%s/d", behind);
    if (!loop_disk_format(image, "ext4") || !loop_disk_mount(&loop, image, "ext4", mounted))
        return false;
    copy_dataset(original, name);
    loop_disk_unmount(&loop);
    return true;
}

int main(void)
{
    const char *folder = memory_folder();
    struct mounted m;
    bool disk;

    snprintf(behind, sizeof behind, "%.500s/behind", folder);
    snprintf(shown, sizeof shown, "%.500s/shown", folder);
    snprintf(mounted, sizeof mounted, "%.500s/mounted", folder);
    make_folder(behind);
    make_folder(shown);
    make_folder(mounted);
    if (!mount_place(&m, &places[0]))
        return t_skip("mounting /dev/fuse is not allowed here");
    unmount_place(&m);
    loading_write(with(behind, "/d"), TOKENS, 2, MEAN);
    disk = make_disk();
    if (!disk)
        fprintf(stderr, "no loop device with ext4 here: a disk was not tried\n");
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
        for (unsigned k = 0; k < sizeof uses / sizeof uses[0] && (disk || !places[i].device); k++)
            try_each(&places[i], &uses[k]);
    return t_end();
}
