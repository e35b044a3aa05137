/*
 * test_far_requests.c: what datasets ask of a file server (tests/support/fuse_disk.h counts it): opening a list asks at
 * most twice for each file, in each process, and children nothing again; announced rows take at most 1.1 reads each,
 * and no byte is read twice; what the page cache has is not asked for; where documents begin is announced with the rows
 * that need it. Needs root and /dev/fuse.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/own_mounts.h"
#include "faults/small.h"
#include "loader/loading.h"
#include "support/fuse_disk.h"

#define DATASETS  40u
#define PROCESSES 8u
#define LENGTH    2048
#define BATCH     16u

static char behind[560], shown[560], list[600];
static struct fuse_disk disk;

/* How often a server is asked what its file system is, for each dataset or list: the kernel says it by statmount()
 * since Linux 6.8. */
static unsigned system_asked(void)
{
    return syscall(457, NULL, NULL, 0, 0) != 0 && (errno == ENOSYS || errno == EPERM);
}

static bool mount_it(void)
{
    if (!fuse_disk_mount(&disk, behind, shown, false))
        return false;
    atomic_store(&disk.board->remember, true);
    atomic_store(&disk.board->valid_ms, 3600000);
    return true;
}

static void open_plan(struct loading *w, const char *name)
{
    char text[900];

    *w = (struct loading) { .width = 2, .mean = 20 };
    snprintf(text, sizeof text, "source %s\nseq-len %d\n", name, LENGTH);
    T_OK(leat_plan_parse(&w->plan, text, strlen(text), NULL, NULL, &t_err));
}

/* Batches of a plan, by announced reads, checked; returns how many rows. */
static uint64_t load_with(struct loading *w, uint64_t batches, uint32_t wanted)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t rows = 0;

    o.batch = BATCH;
    o.io.engine = LEAT_ENGINE_ADVISE;
    o.io.slots = 2;
    o.outputs.wanted = wanted;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (uint64_t i = 0; i < batches; i++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, rows);
        rows += b->rows;
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    return rows;
}

static uint64_t load_plan(struct loading *w, uint64_t batches)
{
    return load_with(w, batches, 0);
}

static uint64_t load(const char *name, uint64_t batches)
{
    struct loading w;
    uint64_t rows;

    open_plan(&w, name);
    rows = load_plan(&w, batches);
    leat_plan_close(w.plan);
    return rows;
}

/* The loader may have begun what its slots hold besides. */
static void rows(const char *name)
{
    unsigned long opened, reads;
    uint64_t given;

    T_CHECK(mount_it());
    given = load(name, 1);
    opened = fuse_disk_asked(&disk, FUSE_DISK_READ);
    T_EQ(fuse_disk_asked(&disk, FUSE_DISK_ATTRIBUTES), 0);
    fprintf(stderr, "%lu lookups, %lu opens\n", fuse_disk_asked(&disk, FUSE_DISK_FIND),
            fuse_disk_asked(&disk, FUSE_DISK_OPEN));
    T_EQ(fuse_disk_asked(&disk, FUSE_DISK_OPEN), 2);
    T_EQ(fuse_disk_asked(&disk, FUSE_DISK_SYSTEM), system_asked());
    T_EQ(fuse_disk_asked(&disk, FUSE_DISK_FIND), 2);
    given = load(name, 60);
    reads = fuse_disk_asked(&disk, FUSE_DISK_READ);
    fprintf(stderr, "%lu reads to open and take a batch, %lu for %lu rows\n", opened, reads, (unsigned long)given);
    T_CHECK(10 * reads <= 11 * (given + 2 * BATCH));
    T_EQ(atomic_load(&disk.board->read_twice), 0);
    load(name, 60);
    T_CHECK(fuse_disk_asked(&disk, FUSE_DISK_READ) <= reads + 2 * BATCH);
    fuse_disk_unmount(&disk);
}

/* Where documents begin was read when a row had come, page by page: each waited for it alone. */
static void starts(const char *name)
{
    struct loading w;
    unsigned long reads;
    uint64_t given;

    T_CHECK(mount_it());
    open_plan(&w, name);
    given = load_with(&w, 60, LEAT_OUTPUT_POSITION_IDS);
    leat_plan_close(w.plan);
    reads = fuse_disk_asked(&disk, FUSE_DISK_READ);
    fprintf(stderr, "%lu reads for %lu rows with positions\n", reads, (unsigned long)given);
    T_CHECK(10 * reads <= 11 * (given + 2 * BATCH));
    fuse_disk_unmount(&disk);
}

/* Rows that are documents in random order: each start was a read of its own, before the row could be asked for. Batches
 * by tokens read the starts of a whole pool. Slots have room for at most `most` rows more. */
static void documents(const char *name, const char *rules, uint64_t most)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    unsigned long opened, reads, rows = 0;
    const struct leat_batch *b;
    struct leat_loader *l;
    struct leat_plan *plan;
    char text[900];

    T_CHECK(mount_it());
    snprintf(text, sizeof text, "source %s\norder documents\n%s", name, rules);
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    opened = fuse_disk_asked(&disk, FUSE_DISK_READ);
    o.batch = strstr(rules, "max-tokens") ? 0 : BATCH;
    o.io.engine = LEAT_ENGINE_ADVISE;
    o.io.slots = 2;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    for (unsigned i = 0; i < 20; i++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        rows += b->rows;
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
    reads = fuse_disk_asked(&disk, FUSE_DISK_READ) - opened;
    fprintf(stderr, "%lu reads for %lu rows that are documents\n", reads, rows);
    T_CHECK(10 * reads <= 11 * (rows + most));
    T_EQ(atomic_load(&disk.board->read_twice), 0);
    fuse_disk_unmount(&disk);
}

/* Nothing is answered: the starts of all batches that slots have room for are asked for before the first one comes. */
static void documents_at_once(const char *name)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;
    struct leat_plan *plan;
    unsigned long before;
    char text[900];

    T_CHECK(mount_it());
    atomic_store(&disk.board->delay_us, 1);
    snprintf(text, sizeof text, "source %s\nseq-len %d\norder documents\n", name, LENGTH);
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    before = fuse_disk_asked(&disk, FUSE_DISK_READ);
    atomic_store(&disk.board->held, true);
    o.batch = 1;
    o.io.engine = LEAT_ENGINE_ADVISE;
    o.io.slots = 8;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (fuse_disk_asked(&disk, FUSE_DISK_READ) < before + 4) /* one after another, one would be asked for */
        usleep(1000);
    atomic_store(&disk.board->held, false);
    leat_loader_close(l);
    leat_plan_close(plan);
    fuse_disk_unmount(&disk);
}

/* Two slots of a row each come back; the server answers neither row, but is asked for both. The thread waited in a read
 * of the first, and a third of the rows that slots had room for were not under way. */
static void slots_that_come_back(const char *name)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *held[2], *b;
    struct leat_loader *l;
    struct leat_plan *plan;
    unsigned long before;
    char text[900];

    T_CHECK(mount_it());
    atomic_store(&disk.board->delay_us, 1);
    snprintf(text, sizeof text, "source %s\nseq-len %d\n", name, LENGTH);
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    o.batch = 1;
    o.io.engine = LEAT_ENGINE_ADVISE;
    o.io.slots = 2;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    for (unsigned i = 0; i < 2; i++)
        T_OK(leat_loader_next(l, &held[i], &t_err));
    before = fuse_disk_asked(&disk, FUSE_DISK_READ);
    atomic_store(&disk.board->held, true);
    for (unsigned i = 0; i < 2; i++) {
        leat_batch_release(held[i], NULL);
        while (fuse_disk_asked(&disk, FUSE_DISK_READ) < before + i + 1)
            usleep(1000);
    }
    T_EQ(leat_loader_next_within(l, 0, &b, &t_err), LEAT_E_AGAIN);
    atomic_store(&disk.board->held, false);
    for (unsigned i = 0; i < 2; i++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
    fuse_disk_unmount(&disk);
}

static void index_in_part(const char *name)
{
    struct stat index;

    T_CHECK(stat(with(behind, "/large.leat"), &index) == 0);
    T_CHECK(mount_it());
    load(name, 1);
    T_CHECK(atomic_load(&disk.board->read_bytes) < (unsigned long)index.st_size / 2);
    fuse_disk_unmount(&disk);
}

/* Processes that load at once; `w` NULL: each opens the list, else they have its plan from this one. */
static void load_at_once(struct loading *w)
{
    pid_t child[PROCESSES];
    int status;

    for (unsigned i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            t_failures = 0;
            if (w)
                load_plan(w, 2);
            else
                load(list, 2);
            _exit(t_failures != 0);
        }
    }
    for (unsigned i = 0; i < PROCESSES; i++)
        T_CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
}

/* One process opens all, and the others are its children. */
static void forked(void)
{
    unsigned long asked;
    struct loading w;

    T_CHECK(mount_it());
    open_plan(&w, list);
    asked = fuse_disk_asked(&disk, FUSE_DISK_METADATA);
    load_at_once(&w);
    fprintf(stderr, "%u children: %lu requests for metadata, after %lu\n", PROCESSES,
            fuse_disk_asked(&disk, FUSE_DISK_METADATA) - asked, asked);
    T_EQ(fuse_disk_asked(&disk, FUSE_DISK_METADATA), asked);
    leat_plan_close(w.plan);
    fuse_disk_unmount(&disk);
}

static void processes(void)
{
    unsigned long asked;

    T_CHECK(mount_it());
    load_at_once(NULL);
    asked = fuse_disk_asked(&disk, FUSE_DISK_METADATA);
    fprintf(stderr, "%u processes on %u datasets: %lu requests for metadata\n", PROCESSES, DATASETS, asked);
    T_CHECK(asked <= PROCESSES * (2 * (2 * DATASETS + 1) + system_asked())); /* the list is a file, too */
    fuse_disk_unmount(&disk);
}

/* Named one by one: each was asked for a folder of its name, and what its file system is. */
static void named(void)
{
    char text[DATASETS * 700];
    struct leat_plan *plan;
    unsigned long asked;
    size_t used = 0;

    T_CHECK(mount_it());
    for (unsigned i = 0; i < DATASETS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "source %s/d%u\n", shown, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "seq-len %d\n", LENGTH);
    T_OK(leat_plan_parse(&plan, text, used, NULL, NULL, &t_err));
    asked = fuse_disk_asked(&disk, FUSE_DISK_METADATA);
    fprintf(stderr, "%u datasets by name: %lu requests for metadata\n", DATASETS, asked);
    T_EQ(asked, (2 * 2 + system_asked()) * DATASETS);
    leat_plan_close(plan);
    fuse_disk_unmount(&disk);
}

int main(void)
{
    const char *folder = memory_folder();
    char name[700];
    FILE *out;

    snprintf(behind, sizeof behind, "%.500s/behind", folder);
    snprintf(shown, sizeof shown, "%.500s/shown", folder);
    snprintf(list, sizeof list, "@%s/list", shown);
    make_folder(behind);
    make_folder(shown);
    if (!mount_it())
        return t_skip("mounting /dev/fuse is not allowed here");
    fuse_disk_unmount(&disk);
    out = fopen(with(behind, "/list"), "w");
    T_CHECK(out);
    for (unsigned i = 0; i < DATASETS; i++) {
        snprintf(name, sizeof name, "%s/d%u", behind, i);
        loading_write(name, 20000, 2, 20);
        fprintf(out, "d%u\n", i);
    }
    T_CHECK(fclose(out) == 0);
    snprintf(name, sizeof name, "%s/large", behind);
    loading_write(name, (uint64_t)8 << 20, 2, 20);
    snprintf(name, sizeof name, "%s/large", shown);
    rows(name);
    starts(name);
    documents(name, "seq-len 2048\n", 2 * BATCH);
    documents(name, "seq-len 63\nmax-tokens 640\npool 256\n", 2 * 32);
    documents_at_once(name);
    snprintf(name, sizeof name, "%s/large", shown);
    slots_that_come_back(name);
    index_in_part(name);
    named();
    processes();
    forked();
    return t_end();
}
