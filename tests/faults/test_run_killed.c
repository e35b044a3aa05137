/*
 * test_run_killed.c: the parts of a run, merged with deduplicating, splitting and shuffling in as little memory as
 * there is, have the bytes of one run, also when the process that merges is killed at any call, or a call fails, and
 * merges again. So has a part that is split, packed by a process that is killed or fails at any call: packed again, it
 * has the same bytes, and no file is left beside its datasets.
 */
#include <signal.h>
#include <sys/wait.h>

#include "leat_pack.h"
#include "support/fault.h"
#include "support/files.h"

#define PARTS  3u
#define SPLITS 2u

static const char *folder;
static const struct leat_split splits[SPLITS] = { { "a", "0.2" }, { "b", "0.1" } };
static char input[600], run_file[600], parts[PARTS][600], one[600], merged[600], part[600];
static struct leat_tokenizer *tokenizer;
static bool shuffled, dedup;

/* The datasets of an output: the splits', then the rest's. */
static const char *dataset(const char *output, unsigned i, bool folders, const char *suffix)
{
    static char path[4][700];
    static unsigned next;
    char *to = path[next++ % 4];

    if (i == SPLITS)
        snprintf(to, sizeof path[0], "%s%s", output, suffix);
    else if (folders)
        snprintf(to, sizeof path[0], "%s/%s/%s%s", folder, splits[i].name, output + strlen(folder) + 1, suffix);
    else
        snprintf(to, sizeof path[0], "%s.%s%s", output, splits[i].name, suffix);
    return to;
}

/* Texts of which some come again, in their own part and in others. */
static void write_input(uint64_t seed)
{
    FILE *f = fopen(input, "w");

    for (unsigned i = 0; f && i < 300; i++)
        fprintf(f, "{\"text\": \"%llu\", \"id\": \"%u\"}\n", (unsigned long long)t_below(&seed, 200), i);
    T_CHECK(f && fclose(f) == 0);
}

static struct leat_pack_options pack_options(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.threads = 1;
    o.splits = splits;
    o.split_count = SPLITS;
    o.force = 1;
    return o;
}

static void pack_all(void)
{
    struct leat_pack_options o = pack_options();
    const char *inputs[] = { input };

    o.dedup = dedup;
    o.shuffle = shuffled;
    o.seed = 77;
    T_OK(leat_pack(one, inputs, 1, &o, NULL, &t_err));
    o = pack_options();
    o.split_count = 0;
    o.parts = PARTS;
    for (o.part = 1; o.part <= PARTS; o.part++)
        T_OK(leat_pack(parts[o.part - 1], inputs, 1, &o, NULL, &t_err));
}

/* ---- What is disturbed ---- */

static enum leat_status merge(bool force, struct leat_error *err)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *names[] = { parts[0], parts[1], parts[2] };

    o.dedup = dedup;
    o.splits = splits;
    o.split_count = SPLITS;
    o.shuffle = shuffled;
    o.seed = 77;
    o.force = force;
    o.threads = 1;
    o.memory = 1; /* as little as there is */
    return leat_merge(merged, names, PARTS, &o, NULL, err);
}

/* The second part, as leat pack --run has it packed: going on where it was. */
static enum leat_status pack_part(bool again, struct leat_error *err)
{
    struct leat_pack_options o = pack_options();
    const char *inputs[] = { input };

    (void)again;
    o.force = 0;
    o.resume = 1;
    o.run_file = run_file;
    o.part = 2;
    o.parts = PARTS;
    return leat_pack(part, inputs, 1, &o, NULL, err);
}

struct disturbed {
    enum leat_status (*run)(bool again, struct leat_error *err);
    const char *output;
    const char *reference; /* has the bytes */
    bool folders;
};

static void remove_made(const struct disturbed *d)
{
    for (unsigned i = 0; i <= SPLITS; i++) {
        unlink(dataset(d->output, i, d->folders, ".leat"));
        unlink(dataset(d->output, i, d->folders, ".tokens"));
    }
}

static void check_made(const struct disturbed *d)
{
    for (unsigned i = 0; i <= SPLITS; i++) {
        T_CHECK(
            same_file(dataset(d->output, i, d->folders, ".tokens"), dataset(d->reference, i, d->folders, ".tokens")));
        T_CHECK(same_file(dataset(d->output, i, d->folders, ".leat"), dataset(d->reference, i, d->folders, ".leat")));
    }
}

/* Whether call n was reached. */
static bool disturb(const struct disturbed *d, enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        struct leat_error err;
        enum leat_status s;

        fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
        s = d->run(false, &err);
        n = fault_disarm() >= n; /* a call that may fail, as removing a file, fails nothing else */
        _exit(s == LEAT_OK ? !n : 2 * (err.message[0] == '\0'));
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In the folder, and those of splits. */
static uint64_t count_files(const struct disturbed *d)
{
    uint64_t files = t_files(folder);

    for (unsigned i = 0; d->folders && i < SPLITS; i++)
        files += t_files(t_path(folder, splits[i].name));
    return files;
}

static void disturb_often(const struct disturbed *d, enum fault_kind kind, enum fault_mode mode, uint64_t stride,
                          uint64_t seed)
{
    uint64_t files = count_files(d);
    unsigned tries = 0;

    for (uint64_t n = 1 + t_below(&seed, stride); disturb(d, kind, mode, n); n += 1 + t_below(&seed, 2 * stride)) {
        tries++;
        T_OK(d->run(true, &t_err));
        check_made(d);
        remove_made(d);
        T_EQ(count_files(d), files);
        if (t_failures > 0) {
            fprintf(stderr, "kind %d, mode %d, call %llu of %s\n", kind, mode, (unsigned long long)n, d->output);
            return;
        }
    }
    T_CHECK(tries > 2);
    remove_made(d);
}

static void try_all(const struct disturbed *d, uint64_t stride, uint64_t seed)
{
    T_OK(d->run(false, &t_err));
    check_made(d);
    remove_made(d);
    disturb_often(d, FAULT_SYSTEM, FAULT_KILL_BEFORE, stride, seed);
    disturb_often(d, FAULT_SYSTEM, FAULT_KILL_AFTER, stride, seed + 1);
    disturb_often(d, FAULT_SYSTEM, FAULT_ONCE, stride, seed + 2);
    disturb_often(d, FAULT_MEMORY, FAULT_ONCE, stride, seed + 3);
}

static void try_part(uint64_t seed)
{
    const struct disturbed d = { .run = pack_part, .output = part, .reference = one, .folders = true };
    struct leat_pack_options o = pack_options();
    const char *inputs[] = { input };

    o.run_file = run_file;
    o.parts = PARTS;
    T_OK(leat_pack(run_file, inputs, 1, &o, NULL, &t_err)); /* the plan */
    for (unsigned i = 0; i < SPLITS; i++)
        T_EQ(mkdir(t_path(folder, splits[i].name), 0777), 0);
    o.part = 2;
    T_OK(leat_pack(one, inputs, 1, &o, NULL, &t_err));
    try_all(&d, 12, seed);
    o.dedup = 1;
    T_STATUS(leat_pack(part, inputs, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.dedup = 0;
    o.shuffle = 1;
    T_STATUS(leat_pack(part, inputs, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.run_file = NULL;
    o.shuffle = 0;
    T_STATUS(leat_pack(part, inputs, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
}

int main(void)
{
    const struct disturbed d = { .run = merge, .output = merged, .reference = one };
    uint64_t seed = t_seed();

    folder = t_folder();
    snprintf(input, sizeof input, "%s/in.jsonl", folder);
    snprintf(run_file, sizeof run_file, "%s/inputs", folder);
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(merged, sizeof merged, "%s/merged", folder);
    snprintf(part, sizeof part, "%s/part", folder);
    for (unsigned p = 0; p < PARTS; p++)
        snprintf(parts[p], sizeof parts[p], "%s/part-%u", folder, p + 1);
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    write_input(seed);
    for (unsigned i = 1; i < 4; i++) {
        dedup = i & 1;
        shuffled = i & 2;
        pack_all();
        try_all(&d, 100, seed);
    }
    try_part(seed);
    leat_tokenizer_close(tokenizer);
    return t_end();
}
