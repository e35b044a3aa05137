/*
 * test_pack_cut.c: what leat_pack(), leat_packer_*() and leat_merge() read is cut or grows before the 1st, 2nd, 3rd,
 * ... read of it: never a dataset that is not the same without a word. One thread, and two.
 */
#include <stdatomic.h>

#include "pack_scenarios.h"

#define KEPT (INPUTS + 7) /* with the files of two parts, a table, conversations and long texts */

/* Inputs and parts as they were. */
static struct {
    char path[700];
    uint8_t *bytes;
    size_t size;
    struct stat st;
} kept[KEPT];
static atomic_uint_fast64_t reads;
static uint64_t cut_at;

static void keep_files(void)
{
    for (unsigned i = 0; i < KEPT; i++) {
        snprintf(kept[i].path, sizeof kept[i].path, "%s",
                 i < INPUTS      ? inputs[i]
                 : i == KEPT - 3 ? table
                 : i == KEPT - 2 ? conversations
                 : i == KEPT - 1 ? long_rows
                                 : with(parts[(i - INPUTS) / 2], i % 2 ? ".leat" : ".tokens"));
        kept[i].bytes = file_bytes(kept[i].path, &kept[i].size);
        T_CHECK(stat(kept[i].path, &kept[i].st) == 0);
    }
}

/* With their times, by which a run knows that it goes on with the same. */
static void restore_files(void)
{
    for (unsigned i = 0; i < KEPT; i++) {
        t_write(kept[i].path, kept[i].bytes, kept[i].size);
        T_CHECK(utimensat(AT_FDCWD, kept[i].path, (struct timespec[]) { kept[i].st.st_atim, kept[i].st.st_mtim }, 0) ==
                0);
    }
}

static void on_read(int fd)
{
    uint64_t random = seed + cut_at;
    struct stat st;
    unsigned i = 0;

    if (fstat(fd, &st) != 0)
        return;
    while (i < KEPT && (kept[i].st.st_dev != st.st_dev || kept[i].st.st_ino != st.st_ino))
        i++;
    if (i == KEPT || kept[i].size == 0 || atomic_fetch_add(&reads, 1) + 1 != cut_at)
        return;
    if (t_below(&random, 3) == 0)
        T_CHECK(truncate(kept[i].path, st.st_size + 100) == 0);
    else
        T_CHECK(truncate(kept[i].path, (off_t)t_below(&random, kept[i].size)) == 0);
}

/* What is added is not read; behind what is compressed it is damage, which is no error: the report has to say so. */
static void cut_one(const struct scenario *s)
{
    struct leat_error err = { 0 };
    int failures = t_failures;
    long allocations;
    unsigned files;
    enum leat_status status;

    prepare(s);
    allocations = fault_allocations();
    files = fault_open_files();
    atomic_store(&reads, 0);
    fault_watch_reads(on_read);
    status = run(s, &err);
    fault_watch_reads(NULL);
    restore_files();
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    T_CHECK(status == LEAT_OK || (err.status == status && err.message[0] != '\0'));
    if (status != LEAT_OK || s->by == BY_PACKER || s->by == BY_MERGE || report.damaged_inputs == 0) {
        check_opens(s);
        T_CHECK(status != LEAT_OK || whole(s));
        if (t_failures == failures)
            go_on(s);
    }
    if (t_failures > failures)
        fprintf(stderr, "  in \"%s\", changed before read %" PRIu64 "; status %s: %s\n", s->what, cut_at,
                leat_status_name(status), status == LEAT_OK ? "" : err.message);
}

static void cut_each(const struct scenario *s)
{
    uint64_t count;

    cut_at = 0;
    cut_one(s);
    count = atomic_load(&reads);
    fprintf(stderr, "%s: %" PRIu64 " reads of what was given\n", s->what, count);
    for (cut_at = 1; cut_at <= count && t_failures <= 20; cut_at = next_call(cut_at, count))
        cut_one(s);
}

int main(int argc, char **argv)
{
    make_scenarios();
    keep_files();
    try_scenarios(argc > 1 ? argv[1] : NULL, cut_each);
    for (unsigned i = 0; i < KEPT; i++)
        free(kept[i].bytes);
    return t_end();
}
