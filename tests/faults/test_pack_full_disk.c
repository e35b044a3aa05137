/*
 * test_pack_full_disk.c: a disk that fills up at any point of packing gives LEAT_E_NO_SPACE with a sentence and no
 * dataset; and, once there is room, the run goes on to the bytes of one that never was disturbed. Nor is a
 * list of rejects promised that could not be written. The disk is a file system in memory of the test's own; where none
 * can be mounted, a limit on the size of files does.
 */
#include "leat_pack.h"
#include "small_disk.h"
#include "support/fault.h"

#define DISK_BYTES ((unsigned long)8 << 20)
#define STEPS      60

static char input[600];
static struct leat_tokenizer *tokenizer;

static enum leat_status pack_to(const char *output, bool resume, struct leat_pack_report *report)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *inputs[] = { input };

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 2;
    o.memory = UINT64_C(4) << 30; /* a sanitizer takes much of it */
    o.resume = resume;
    return leat_pack(output, inputs, 1, &o, report, &t_err);
}

static void make_input(void)
{
    static char text[700000];
    uint64_t random = t_seed();
    size_t used = 0;

    for (unsigned i = 0; used + 31000 < sizeof text; i++) {
        uint64_t letters = i == 30 ? 30000 : t_below(&random, 3000); /* one that goes through a temporary file */

        used += (size_t)snprintf(text + used, 40, i % 17 == 3 ? "not a record %u " : "{\"text\": \"%u ", i);
        for (uint64_t k = 0; k < letters; k++)
            text[used++] = (char)('a' + t_below(&random, 26));
        memcpy(text + used, "\"}\n", 3);
        used += 3;
    }
    t_write(input, text, used);
}

static void check_full(enum leat_status s, const char *remedy)
{
    T_EQ(s, LEAT_E_NO_SPACE);
    T_EQ(t_err.status, s);
    T_CONTAINS(t_err.message, remedy);
    T_CHECK(access(with(name, ".leat"), F_OK) != 0);
}

static void check_end(void)
{
    T_CHECK(same_dataset(name, reference));
    T_CHECK(same_file(with(name, ".rejects.jsonl"), with(reference, ".rejects.jsonl")));
    T_STR(listing(disk), "d.leat d.rejects.jsonl d.tokens");
}

/* One run with little room, and what follows. Whether it was too little, and whether there was something to resume. */
static void try_with(bool *full, bool *resumable, const char *remedy, void (*more_room)(void))
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    enum leat_status s = pack_to(name, false, &report);

    *full = s != LEAT_OK;
    *resumable = report.resumable != 0;
    if (*full)
        check_full(s, remedy);
    T_CHECK(*resumable == (access(with(name, ".partial.checkpoint"), F_OK) == 0));
    more_room();
    if (*full)
        T_OK(pack_to(name, true, NULL));
    check_end();
}

static void small_disk(void)
{
    unsigned fulls = 0, resumables = 0;

    for (unsigned step = 0; step < STEPS; step++) {
        bool full, resumable;

        clear_folder(disk);
        fill_disk(DISK_BYTES, (uint64_t)step * (2 << 20) / STEPS);
        try_with(&full, &resumable, "free some space", remove_filler);
        fulls += full;
        resumables += resumable;
    }
    fprintf(stderr, "%u of %d disks were too small, %u runs had a checkpoint\n", fulls, STEPS, resumables);
    T_CHECK(fulls > STEPS / 4 && fulls < STEPS);
    T_CHECK(resumables > STEPS / 8 && resumables < fulls);
}

static void limited_files(void)
{
    for (unsigned step = 0; step < 20; step++) {
        bool full, resumable;

        clear_folder(disk);
        set_limit((rlim_t)step * 60000 + 100);
        try_with(&full, &resumable, "file size limit", no_limit);
        T_CHECK(full);
    }
}

/* With too many rejects, no list of which could be written: the sentence says so, and once named a file that was not
 * there. */
static void no_room_for_rejects(void)
{
    static const char *const calls[] = { "pwrite", "rename" };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    char bad[600];
    const char *inputs[] = { bad };

    snprintf(bad, sizeof bad, "%s/bad.jsonl", folder);
    t_write(bad, "no record\nnor this\n", 19);
    o.tokenizer = tokenizer;
    o.max_rejects = 1;
    for (size_t i = 0; i < 2; i++) {
        clear_folder(disk);
        fault_arm_call(calls[i], FAULT_FROM_THEN_ON, 1, ENOSPC);
        T_EQ(leat_pack(name, inputs, 1, &o, NULL, &t_err), LEAT_E_REJECTS);
        fault_disarm();
        T_CHECK(access(with(name, ".rejects.jsonl"), F_OK) != 0);
        T_CONTAINS(t_err.message, "2 of 2 records were rejected, more than allowed, and they are not listed: cannot ");
        T_CONTAINS(t_err.message, i == 0 ? "d.partial.rejects" : "d.rejects.jsonl");
        T_CONTAINS(t_err.message, "No space left on device");
        T_CONTAINS(t_err.message, "for example: ");
    }
    clear_folder(disk);
    T_EQ(leat_pack(name, inputs, 1, &o, NULL, &t_err), LEAT_E_REJECTS);
    T_CHECK(access(with(name, ".rejects.jsonl"), F_OK) == 0);
    T_CONTAINS(t_err.message, "d.rejects.jsonl lists them");
    clear_folder(disk);
}

int main(void)
{
    name_disk();
    snprintf(input, sizeof input, "%s/in.jsonl", folder);
    make_input();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    T_OK(pack_to(reference, false, NULL));
    if (mount_disk(DISK_BYTES))
        small_disk();
    limited_files();
    no_room_for_rejects();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
