/*
 * test_part_steps.c: parts of a run that are deduplicated, split and shuffled in steps, each with a process of its own,
 * become what leat_merge() makes of them all at once. So they do when a process is killed at any call, or a call fails,
 * and the step is done again. Files that the parts leave for each other are refused if a byte of them is wrong, or they
 * are shorter; so are steps that cannot be.
 */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leat_pack.h"
#include "support/fault.h"
#include "t.h"

#define PARTS  3u
#define SPLITS 2u

static const char *folder;
static const struct leat_split splits[SPLITS] = { { "a", "0.2" }, { "b", "0.1" } };
static char packed[PARTS][600], hashes[PARTS][600], same[PARTS][600], made[SPLITS + 1][PARTS][600];
static char counts[PARTS][600], scattered[PARTS][600];
static bool shuffled, dedup = true, split = true;

static void name_files(void)
{
    for (unsigned p = 0; p < PARTS; p++) {
        snprintf(packed[p], sizeof packed[p], "%s/packed-%u", folder, p + 1);
        snprintf(hashes[p], sizeof hashes[p], "%s/hashes-%u", folder, p + 1);
        snprintf(same[p], sizeof same[p], "%s/same-%u", folder, p + 1);
        snprintf(counts[p], sizeof counts[p], "%s/counts-%u", folder, p + 1);
        snprintf(scattered[p], sizeof scattered[p], "%s/scattered-%u", folder, p + 1);
        for (unsigned i = 0; i <= SPLITS; i++)
            snprintf(made[i][p], sizeof made[i][p], "%s/made-%u-%u", folder, i, p + 1);
    }
}

static const char *with(const char *name, const char *suffix)
{
    static char path[4][700];
    static unsigned next;
    char *to = path[next++ % 4];

    snprintf(to, sizeof path[0], "%s%s", name, suffix);
    return to;
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- The run ---- */

/* Texts of which some come again, in their own part and in others. */
static void pack_parts(uint64_t seed)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, "in.jsonl");
    struct leat_tokenizer *t;
    FILE *f = fopen(input, "w");

    for (unsigned i = 0; f && i < 300; i++)
        fprintf(f, "{\"text\": \"%llu\", \"id\": \"%u\"}\n", (unsigned long long)t_below(&seed, 200), i);
    T_CHECK(f && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, "bytes", NULL, &t_err));
    o.tokenizer = t;
    o.threads = 1;
    o.parts = PARTS;
    for (o.part = 1; o.part <= PARTS; o.part++)
        T_OK(leat_pack(packed[o.part - 1], &input, 1, &o, NULL, &t_err));
    leat_tokenizer_close(t);
}

static struct leat_merge_options options(void)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.dedup = dedup;
    o.splits = splits;
    o.split_count = split ? SPLITS : 0;
    o.shuffle = shuffled;
    o.seed = 77;
    o.force = 1;
    o.memory = 1; /* as little as there is */
    return o;
}

enum step { HASHES, DUPLICATES, COUNTS, SCATTER, WRITE, STEPS };

static bool is_needed(enum step step)
{
    return step == WRITE || (step <= DUPLICATES ? dedup : shuffled);
}

/* A step of a part, unless it is done. */
static enum leat_status do_step(enum step step, unsigned part, struct leat_error *err)
{
    const char *const results[] = { hashes[part], same[part], counts[part], scattered[part],
                                    with(made[SPLITS][part], ".leat") };
    const char *all_packed[PARTS], *all_hashes[PARTS], *all_same[PARTS], *all_counts[PARTS], *all_scattered[PARTS];
    const char *outputs[SPLITS + 1], *const *duplicates = dedup ? all_same : NULL;
    struct leat_merge_options o = options();

    for (unsigned p = 0; p < PARTS; p++) {
        all_packed[p] = packed[p];
        all_hashes[p] = hashes[p];
        all_same[p] = same[p];
        all_counts[p] = counts[p];
        all_scattered[p] = scattered[p];
    }
    for (unsigned i = 0; i <= o.split_count; i++)
        outputs[i] = made[i + SPLITS - o.split_count][part];
    if (!is_needed(step) || there(results[step]))
        return LEAT_OK;
    switch (step) {
    case HASHES:
        return leat_part_hashes(hashes[part], packed[part], PARTS, &o, err);
    case DUPLICATES:
        return leat_part_duplicates(same[part], all_packed, all_hashes, PARTS, part + 1, &o, err);
    case COUNTS:
        return leat_part_counts(counts[part], packed[part], duplicates, PARTS, part + 1, &o, err);
    case SCATTER:
        return leat_part_scatter(scattered[part], packed[part], all_counts, duplicates, PARTS, part + 1, &o, err);
    default:
        return shuffled ? leat_part_shuffle(outputs, all_scattered, PARTS, part + 1, &o, NULL, err)
                        : leat_part_arrange(outputs, packed[part], duplicates, PARTS, part + 1, &o, NULL, err);
    }
}

static enum leat_status all_steps(struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < STEPS * PARTS; i++)
        s = do_step((enum step)(i / PARTS), i % PARTS, err);
    return s;
}

static void remove_made(void)
{
    for (unsigned p = 0; p < PARTS; p++) {
        unlink(hashes[p]);
        unlink(same[p]);
        unlink(counts[p]);
        unlink(scattered[p]);
        unlink(with(scattered[p], ".leat"));
        unlink(with(scattered[p], ".tokens"));
        for (unsigned i = 0; i <= SPLITS; i++) {
            unlink(with(made[i][p], ".leat"));
            unlink(with(made[i][p], ".tokens"));
        }
    }
}

/* ---- What comes of it ---- */

static void check_same_file(const char *a, const char *b)
{
    static uint8_t x[1 << 16], y[1 << 16];
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    size_t count = f ? fread(x, 1, sizeof x, f) : 0;

    T_CHECK(f && g && count > 0 && count < sizeof x);
    T_EQ(g ? fread(y, 1, sizeof y, g) : 0, count);
    T_CHECK(memcmp(x, y, count) == 0);
    if (f)
        fclose(f);
    if (g)
        fclose(g);
}

static void check_result(void)
{
    static const char *const references[] = { "one.a", "one.b", "one" };
    struct leat_merge_options join = LEAT_MERGE_OPTIONS_INIT;

    join.force = 1;
    for (unsigned i = split ? 0 : SPLITS; i <= SPLITS; i++) {
        const char *parts[PARTS], *joined = t_path(folder, "joined");
        char name[640], reference[640];

        snprintf(name, sizeof name, "%s", joined);
        snprintf(reference, sizeof reference, "%s/%s", folder, references[i]);
        for (unsigned p = 0; p < PARTS; p++)
            parts[p] = made[i][p];
        T_OK(leat_merge(name, parts, PARTS, &join, NULL, &t_err));
        check_same_file(with(name, ".tokens"), with(reference, ".tokens"));
        check_same_file(with(name, ".leat"), with(reference, ".leat"));
    }
}

static void make_reference(void)
{
    const char *parts[PARTS];
    struct leat_merge_options o = options();
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    char name[640];

    for (unsigned p = 0; p < PARTS; p++)
        parts[p] = packed[p];
    snprintf(name, sizeof name, "%s/one", folder);
    T_OK(leat_merge(name, parts, PARTS, &o, &report, &t_err));
    T_CHECK(dedup ? report.deduplicated > 50 && report.deduplicated < 250 : report.deduplicated == 0);
}

/* ---- Faults ---- */

/* Whether call n was reached. */
static bool disturbed(enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        struct leat_error err;
        enum leat_status s;

        fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
        s = all_steps(&err);
        n = fault_disarm() >= n; /* a call that may fail, as removing a file, fails nothing else */
        _exit(s == LEAT_OK ? !n : 2 * (err.message[0] == '\0'));
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void disturb(enum fault_kind kind, enum fault_mode mode, uint64_t stride, uint64_t seed)
{
    unsigned tries = 0;

    for (uint64_t n = 1 + t_below(&seed, stride); disturbed(kind, mode, n); n += 1 + t_below(&seed, 2 * stride)) {
        tries++;
        T_OK(all_steps(&t_err)); /* what the process had not finished is done again */
        check_result();
        remove_made();
        if (t_failures > 0) {
            fprintf(stderr, "kind %d, mode %d, call %llu\n", kind, mode, (unsigned long long)n);
            return;
        }
    }
    T_CHECK(tries > 2);
    remove_made();
}

/* ---- What is refused ---- */

static void put_byte(const char *path, long at, int change)
{
    FILE *f = fopen(path, "r+b");
    int byte;

    T_CHECK(f != NULL);
    fseek(f, at, SEEK_SET);
    byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ change, f);
    fclose(f);
}

/* Each byte of a file is needed, or looked at by nobody who does not need it. */
static void refuse_damage(const char *path, enum step step, unsigned part, const char *made_name)
{
    char result[700], kept[700];
    struct stat st;
    unsigned refused = 0;

    snprintf(result, sizeof result, "%s", made_name);
    snprintf(kept, sizeof kept, "%s.kept", path);
    T_EQ(stat(path, &st), 0);
    for (long at = 0; at < st.st_size; at += 1 + at / 10) {
        struct leat_error err;
        enum leat_status s;

        put_byte(path, at, 0x41);
        s = do_step(step, part, &err);
        put_byte(path, at, 0x41);
        if (s == LEAT_OK) /* it was of another slice */
            T_EQ(unlink(result), 0);
        else
            T_CHECK(s == LEAT_E_CHECKSUM || s == LEAT_E_MISMATCH || s == LEAT_E_TRUNCATED);
        refused += s != LEAT_OK;
    }
    T_CHECK(refused > 10);
    for (long size = 0; size < st.st_size; size += 1 + size / 3) {
        T_EQ(link(path, kept), 0);
        T_EQ(unlink(path), 0);
        {
            FILE *from = fopen(kept, "rb"), *to = fopen(path, "wb");

            for (long i = 0; from && to && i < size; i++)
                fputc(fgetc(from), to);
            if (from)
                fclose(from);
            if (to)
                fclose(to);
        }
        if (do_step(step, part, &t_err) == LEAT_OK)
            T_EQ(unlink(result), 0);
        T_EQ(rename(kept, path), 0);
    }
}

static void refuse_arguments(void)
{
    const char *none[] = { NULL }, *outputs[] = { made[0][0], made[1][0], made[2][0] }, *files[] = { same[0] };
    struct leat_merge_options o = options();

    T_STATUS(leat_part_hashes(NULL, packed[0], PARTS, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_hashes(hashes[0], packed[0], 0, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_hashes(hashes[0], t_path(folder, "nothing"), PARTS, &o, &t_err), LEAT_E_NO_FILE);
    T_STATUS(leat_part_duplicates(same[0], outputs, outputs, 1, 2, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_duplicates(same[0], outputs, NULL, 1, 1, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_arrange(none, packed[0], files, 1, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_arrange(outputs, packed[0], NULL, 1, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_counts(NULL, packed[0], files, 1, 1, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_counts(counts[0], packed[0], NULL, 1, 1, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_scatter(scattered[0], packed[0], NULL, files, 1, 1, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_scatter(scattered[0], packed[0], files, files, 1, 2, &o, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_shuffle(none, files, 1, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_part_shuffle(outputs, files, 1, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.shuffle = 1;
    T_STATUS(leat_part_arrange(outputs, packed[0], files, 1, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
}

/* Each of the first allocations of a step. */
static void refuse_memory(enum step step)
{
    for (uint64_t n = 1; n <= 20; n++) {
        uint64_t files = t_files(folder);

        fault_arm(FAULT_MEMORY, FAULT_ONCE, n, ENOMEM);
        T_STATUS(do_step(step, 0, &t_err), LEAT_E_NO_MEMORY);
        T_CHECK(fault_disarm() >= n);
        T_EQ(t_files(folder), files);
    }
}

/* The steps once, from the start, and with calls that end or fail. */
static void try_all(uint64_t stride, uint64_t seed)
{
    make_reference();
    T_OK(all_steps(&t_err));
    check_result();
    remove_made();
    if (stride == 0)
        return;
    disturb(FAULT_SYSTEM, FAULT_KILL_BEFORE, stride, seed);
    disturb(FAULT_SYSTEM, FAULT_KILL_AFTER, stride, seed + 1);
    disturb(FAULT_SYSTEM, FAULT_ONCE, stride, seed + 2);
    disturb(FAULT_MEMORY, FAULT_ONCE, stride / 3, seed + 3);
}

static void do_steps_before(enum step step)
{
    for (unsigned i = 0; i < step * PARTS; i++)
        T_OK(do_step((enum step)(i / PARTS), i % PARTS, &t_err));
}

int main(void)
{
    uint64_t seed = t_seed();

    folder = t_folder();
    name_files();
    pack_parts(seed);
    refuse_arguments();
    try_all(300, seed);
    refuse_memory(HASHES);
    do_steps_before(DUPLICATES);
    refuse_memory(DUPLICATES);
    refuse_damage(hashes[1], DUPLICATES, 0, same[0]);
    do_steps_before(COUNTS);
    refuse_damage(same[1], WRITE, 0, with(made[SPLITS][0], ".leat"));
    remove_made();
    shuffled = true;
    try_all(600, seed);
    do_steps_before(SCATTER);
    refuse_damage(counts[0], SCATTER, 1, scattered[1]);
    do_steps_before(WRITE);
    refuse_memory(WRITE);
    refuse_damage(scattered[1], WRITE, 0, with(made[SPLITS][0], ".leat"));
    remove_made();
    dedup = false;
    try_all(0, seed);
    split = false;
    try_all(0, seed);
    return t_end();
}
