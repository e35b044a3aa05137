/*
 * test_run_killed.c: the parts of a run, merged with deduplicating, splitting and shuffling in little memory, have the
 * bytes of one run, also when the process that plans, packs a part or merges is killed at any call, or a call fails,
 * and does so again; nothing is left beside them. A part of an input that breaks off is never taken for done until a
 * step accepts that.
 */
#include <signal.h>
#include <sys/wait.h>
#include <zlib.h>

#include "leat_pack.h"
#include "support/fault.h"
#include "support/files.h"

#define PARTS  3u
#define SPLITS 2u

static const char *folder;
static const struct leat_split splits[SPLITS] = { { "a", "0.2" }, { "b", "0.1" } };
static const char *input, *whole, *broken, *parts[PARTS], *one, *merged, *cut_run;
static struct leat_tokenizer *tokenizer;
static bool shuffled, dedup;

/* The datasets of an output: the splits', then the rest's. */
static const char *dataset(const char *output, unsigned i, bool folders, const char *suffix)
{
    if (i == SPLITS)
        return t_text("%s%s", output, suffix);
    if (folders)
        return t_text("%.*s/%s%s%s", (int)(strrchr(output, '/') - output), output, splits[i].name, strrchr(output, '/'),
                      suffix);
    return t_text("%s.%s%s", output, splits[i].name, suffix);
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

    o.dedup = dedup;
    o.splits = splits;
    o.split_count = SPLITS;
    o.shuffle = shuffled;
    o.seed = 77;
    o.force = force;
    o.threads = 1;
    o.memory = 1; /* as little as there is */
    return leat_merge(merged, parts, PARTS, &o, NULL, err);
}

static enum leat_status plan_of(const char *name, const char *const *inputs, uint32_t count, uint32_t split_count,
                                struct leat_error *err)
{
    struct leat_pack_options pack = pack_options();
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct leat_run *run;
    enum leat_status s;

    pack.force = 0;
    pack.split_count = split_count;
    o.parts = count > 1 ? count : PARTS;
    o.tokenizer = "bytes";
    o.inputs = inputs;
    o.input_count = count;
    o.pack = &pack;
    s = leat_run_create(&run, name, &o, err);
    leat_run_close(run);
    return s;
}

static enum leat_status plan(const char *name, struct leat_error *err)
{
    return plan_of(name, &input, 1, SPLITS, err);
}

static enum leat_status plan_broken(bool again, struct leat_error *err)
{
    (void)again;
    return plan(broken, err);
}

static enum leat_status step(const char *name, uint64_t part, uint32_t allow_truncated, struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_run *run;
    enum leat_status s = leat_run_open(&run, name, err);

    o.threads = 1;
    o.allow_truncated = allow_truncated;
    if (s == LEAT_OK)
        s = leat_run_step(run, part, &o, NULL, err);
    leat_run_close(run);
    return s;
}

/* The second part: it goes on where it was. */
static enum leat_status step_broken(bool again, struct leat_error *err)
{
    (void)again;
    return step(broken, 2, 0, err);
}

struct disturbed {
    enum leat_status (*run)(bool again, struct leat_error *err);
    const char *output;
    const char *reference; /* has the bytes */
    bool folders;
    bool plans; /* a run, and no dataset */
};

static const char *const plans[] = { "leat-run", "leat-run.inputs", "a/leat-run", "b/leat-run" };

static void remove_made(const struct disturbed *d)
{
    for (unsigned i = 0; d->plans && i < 4; i++)
        T_EQ(unlink(t_path(broken, plans[i])), 0);
    for (unsigned i = 0; i <= SPLITS; i++) {
        unlink(dataset(d->output, i, d->folders, ".leat"));
        unlink(dataset(d->output, i, d->folders, ".tokens"));
    }
}

static void check_made(const struct disturbed *d)
{
    for (unsigned i = 0; d->plans && i < 4; i++)
        T_CHECK(same_file(t_path(broken, plans[i]), t_path(whole, plans[i])));
    if (d->plans)
        return;
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
        _exit(s != LEAT_OK && err.message[0] == '\0' ? 2 : !n);
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
    uint64_t files = t_files(d->folders ? broken : folder);

    for (unsigned i = 0; d->folders && i < SPLITS; i++)
        files += t_files(t_path(broken, splits[i].name));
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
    const struct disturbed planned = {
        .run = plan_broken, .output = broken, .reference = whole, .folders = true, .plans = true
    };
    const struct disturbed d = {
        .run = step_broken, .output = t_path(broken, "part-2"), .reference = t_path(whole, "part-2"), .folders = true
    };

    T_OK(plan(whole, &t_err));
    T_OK(step(whole, 2, 0, &t_err));
    T_EQ(mkdir(broken, 0777), 0);
    for (unsigned i = 0; i < SPLITS; i++)
        T_EQ(mkdir(t_path(broken, splits[i].name), 0777), 0);
    try_all(&planned, 6, seed);
    T_OK(plan(broken, &t_err));
    try_all(&d, 12, seed);
}

/* ---- A part whose input breaks off ---- */

static void write_cut(const char *name)
{
    struct stat st;
    gzFile gz = gzopen(name, "w");

    for (unsigned i = 0; gz && i < 300; i++)
        gzprintf(gz, "{\"text\": \"text %u of words\", \"id\": \"%u\"}\n", i * 7919u, i);
    T_CHECK(gz && gzclose(gz) == Z_OK && stat(name, &st) == 0 && truncate(name, st.st_size - 50) == 0);
}

static void plan_cut(bool divided)
{
    const char *inputs[] = { t_path(folder, "cut-0.jsonl.gz"), t_path(folder, "cut-1.jsonl.gz") }; /* each a part */

    write_cut(inputs[0]);
    write_cut(inputs[1]);
    T_OK(plan_of(cut_run, inputs, 2, divided ? SPLITS : 0, &t_err));
}

static enum leat_status step_cut(bool again, struct leat_error *err)
{
    (void)again;
    return step(cut_run, 1, 0, err);
}

static bool is_done(void)
{
    struct leat_run_status status = LEAT_RUN_STATUS_INIT;
    struct leat_run *run;
    bool done;

    T_OK(leat_run_open(&run, cut_run, &t_err));
    T_OK(leat_run_status(run, &status, &t_err));
    done = status.items && status.items[0].state == LEAT_RUN_DONE;
    leat_run_close(run);
    return done;
}

/* Of the part, and of its splits, which have one of the same name. */
static void remove_cut(void)
{
    static const char *const places[] = { "", "/a", "/b" };

    for (unsigned i = 0; i < 3; i++) {
        DIR *dir = opendir(t_text("%s%s", cut_run, places[i]));
        struct dirent *e;

        while (dir && (e = readdir(dir)))
            if (strncmp(e->d_name, "part-", 5) == 0)
                T_EQ(unlinkat(dirfd(dir), e->d_name, 0), 0);
        if (dir)
            closedir(dir);
    }
}

static void try_cut(enum fault_kind kind, enum fault_mode mode, uint64_t stride, uint64_t seed)
{
    const struct disturbed cut = { .run = step_cut };
    unsigned tries = 0;

    remove_cut();
    for (uint64_t n = 1 + t_below(&seed, stride); disturb(&cut, kind, mode, n);
         n += 1 + t_below(&seed, stride), tries++) {
        T_CHECK(!is_done());
        T_STATUS(step_cut(false, &t_err), LEAT_E_TRUNCATED);
        T_CHECK(!is_done());
        remove_cut();
        if (t_failures > 0) {
            fprintf(stderr, "kind %d, mode %d, call %llu of a part that is cut\n", kind, mode, (unsigned long long)n);
            return;
        }
    }
    T_CHECK(tries > 2);
}

static void try_cuts(uint64_t seed)
{
    for (unsigned divided = 0; divided < 2; divided++) {
        uint64_t stride = t_step(divided ? 40 : 10);

        cut_run = t_text("%s/cut-%u", folder, divided);
        plan_cut(divided);
        T_STATUS(step_cut(false, &t_err), LEAT_E_TRUNCATED);
        try_cut(FAULT_SYSTEM, FAULT_KILL_BEFORE, stride, seed);
        try_cut(FAULT_SYSTEM, FAULT_KILL_AFTER, stride, seed + 1);
        try_cut(FAULT_SYSTEM, FAULT_ONCE, stride, seed + 2);
        try_cut(FAULT_MEMORY, FAULT_ONCE, stride, seed + 3);
        T_OK(step(cut_run, 1, 1, &t_err));
        T_CHECK(is_done());
        T_OK(step_cut(false, &t_err));
        T_CHECK(is_done());
    }
}

int main(void)
{
    struct disturbed d = { .run = merge };
    uint64_t seed = t_seed();

    folder = t_folder();
    input = t_path(folder, "in.jsonl");
    whole = t_path(folder, "whole");
    broken = t_path(folder, "broken");
    one = t_path(folder, "one");
    merged = t_path(folder, "merged");
    d.output = merged;
    d.reference = one;
    for (unsigned p = 0; p < PARTS; p++)
        parts[p] = t_text("%s/part-%u", folder, p + 1);
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    write_input(seed);
    for (unsigned i = 1; i < 4; i++) {
        dedup = i & 1;
        shuffled = i & 2;
        pack_all();
        try_all(&d, 100, seed);
    }
    try_part(seed);
    try_cuts(seed);
    leat_tokenizer_close(tokenizer);
    return t_end();
}
