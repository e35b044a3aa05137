/*
 * test_pack_faults.c: leat_pack(), leat_packer_*() and leat_merge() with their 1st, 2nd, 3rd, ... allocation or system
 * call failing, or killed there, or the power cut: an error with a sentence, no allocation and no open file left, no
 * dataset that is not whole; and, resumed (or merged again), the bytes of an undisturbed run, rejects included, with
 * nothing left beside them. One thread, and two. Once only leat_pack() was tried.
 *
 * What is read is cut or grows, too, before the 1st, 2nd, 3rd, ... read of it: never a dataset that is not the same
 * without a word.
 * Once a text that became shorter before it was read was packed as what was left of it.
 *
 * One input is in Parquet, of many row groups; another one has conversations, which a chat template renders, and a
 * third long texts: their pages are too large for memory, so that they lie in files.
 *
 * The library is built with small pieces, so that a small corpus crosses units, long records and checkpoints. Of the
 * calls some are tried, most of them at the end, which the seed draws; all of them by make check-every.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <zstd.h>

#include "leat_pack.h"
#include "own_mounts.h"
#include "small.h"
#include "support/fault.h"
#include "support/power.h"

#define LAST         12 /* calls at the end: finishing and removing; about a quarter of them is tried */
#define MIDDLE_TRIED 2  /* of the calls before */
#define REMOVING     16 /* at most so many calls are between the first of these to be removed, and the last */
#define GIVEN        40 /* texts of a program */
#define GIVEN_STEP   16
#define INPUTS       6
#define KEPT         (INPUTS + 6) /* with the files of two parts, conversations and long texts */

static const char *folder;
static char work[560], name[600], reference[600], arranged[600], given[600], merged[600], parts[2][600], old[600],
    divided[600], talked[600], lengthy[600];
static char *conversations, *chat_template, *long_rows;
static char from_list[600], list_word[700];
static char *inputs[INPUTS], given_text[97 * GIVEN];
static struct leat_tokenizer *tokenizer;
static struct leat_pack_report report; /* of the last run over files */
static uint64_t seed, drawn;           /* and the state of what draws calls */

static const char *const values[] = { "x", "y" };

/* ---- The corpus ---- */

static size_t put_record(char *to, uint64_t *random, uint64_t number, size_t bytes)
{
    static const char end[] = "\\u00e9\"}\n";
    size_t used;

    if (number % 11 == 5)
        return (size_t)snprintf(to, 64, "{\"text\": \"no end %llu\n", (unsigned long long)number);
    used = (size_t)snprintf(to, 64, "{\"v\": \"%s\", \"id\": \"d%llu\", \"text\": \"", values[number % 3 == 0],
                            (unsigned long long)number);
    for (size_t i = 0; i < bytes; i++)
        to[used++] = (char)('a' + t_below(random, 4));
    memcpy(to + used, end, sizeof end - 1);
    return used + sizeof end - 1;
}

static size_t make_lines(char *to, size_t room, uint64_t *random)
{
    size_t used = 0;

    for (uint64_t i = 0; used + 25000 < room; i++)
        used += put_record(to + used, random, i, i == 9 || i == 20 ? 20000 : t_below(random, 900));
    return used;
}

static char *put_input(const char *file, const void *bytes, size_t size)
{
    char *path = strdup(t_path(folder, file));

    put_file(path, bytes, size);
    return path;
}

static size_t read_file(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(to, 1, room, f) : 0;

    T_CHECK(f && size > 0 && size < room);
    if (f)
        fclose(f);
    return size;
}

static void make_corpus(void)
{
    static const char rendering[] = "{% for m in messages %}{{ m.role + '\n' + m['content'] }}{% endfor %}";
    static char text[160000], packed[200000];
    uint64_t random = seed;
    size_t size = make_lines(text, sizeof text, &random), packed_size;

    inputs[0] = put_input("a.jsonl", text, size);
    inputs[1] = put_input("b.txt", text, 300);
    size = make_lines(text, 70000, &random);
    packed_size = ZSTD_compress(packed, sizeof packed, text, size / 2, 1);
    packed_size +=
        ZSTD_compress(packed + packed_size, sizeof packed - packed_size, text + size / 2, size - size / 2, 1);
    inputs[2] = put_input("c.jsonl.zst", packed, packed_size);
    inputs[3] = put_input("d.txt", text, 30000);
    inputs[4] = put_input("e.txt", text, 0);
    packed_size = read_file("tests/parquet/files/many.parquet", packed, sizeof packed);
    inputs[5] = put_input("f.parquet", packed, packed_size);
    packed_size = read_file("tests/parquet/files/chat.parquet", packed, sizeof packed);
    conversations = put_input("chat.parquet", packed, packed_size);
    packed_size = read_file("tests/parquet/files/long.parquet", packed, sizeof packed);
    long_rows = put_input("long.parquet", packed, packed_size);
    chat_template = put_input("chat.jinja", rendering, sizeof rendering - 1);
}

/* A list that names a folder: with a link in it, one that leads out of it, and a folder behind a link. */
static void make_list(void)
{
    static const char line[] = "{\"text\": \"found\"}\n";
    const char *in = t_path(folder, "in");

    make_folder(in);
    make_folder(t_path(folder, "in/sub"));
    put_file(t_path(folder, "in/a.jsonl"), line, sizeof line - 1);
    put_file(t_path(folder, "in/sub/b.jsonl"), line, sizeof line - 1);
    T_EQ(symlink("a.jsonl", t_path(folder, "in/link.jsonl")), 0);
    T_EQ(symlink("../b.txt", t_path(folder, "in/out.txt")), 0);
    T_EQ(symlink("sub", t_path(folder, "in/too")), 0);
    put_file(t_path(folder, "list"), "# of folders\nin\n", 16);
    snprintf(list_word, sizeof list_word, "@%s", t_path(folder, "list"));
}

/* ---- Runs ---- */

enum by { BY_FILES, BY_LIST, BY_PACKER, BY_MERGE, BY_VALUES, BY_CHAT, BY_LONG };

struct scenario {
    const char *what;
    bool replaces;
    bool arranges; /* shuffles, deduplicates and splits: a second pass */
    bool stops;    /* for too many rejects, and goes on */
    unsigned threads;
    enum by by;
};

static const struct scenario scenarios[] = {
    { "pack", false, false, false, 1, BY_FILES },
    { "replace", true, false, false, 1, BY_FILES },
    { "stop for rejects, resume", false, false, true, 1, BY_FILES },
    { "pack by two threads", false, false, false, 2, BY_FILES },
    { "arrange", false, true, false, 1, BY_FILES },
    { "a list, a folder and links", false, false, false, 1, BY_LIST },
    { "a program's texts", false, false, false, 1, BY_PACKER },
    { "merge", true, false, false, 1, BY_MERGE },
    { "divide by values", false, false, false, 1, BY_VALUES },
    { "conversations", false, false, false, 1, BY_CHAT },
    { "long texts in Parquet", false, false, false, 1, BY_LONG },
};

static const struct leat_split splits[] = { { "v", "0.25" }, { "w", "0.25" } };

static enum leat_status pack_to(const char *output, const struct scenario *s, bool resume, uint64_t max_rejects,
                                struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = s->threads;
    o.memory = UINT64_C(4) << 30; /* a sanitizer takes much of it */
    o.max_rejects = max_rejects;
    o.force = s->replaces;
    o.resume = resume;
    o.shuffle = o.dedup = s->arranges;
    o.splits = splits;
    o.split_count = s->arranges ? 2 : 0;
    report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    o.by = s->by == BY_VALUES ? "v" : NULL;
    o.chat = s->by == BY_CHAT ? chat_template : NULL;
    if (s->by == BY_CHAT)
        return leat_pack(output, (const char *const[]) { conversations }, 1, &o, &report, err);
    if (s->by == BY_LONG)
        return leat_pack(output, (const char *const[]) { long_rows }, 1, &o, &report, err);
    if (s->by == BY_VALUES)
        return leat_pack(output, (const char *const[]) { inputs[2] }, 1, &o, &report, err);
    if (s->by == BY_LIST)
        return leat_pack(output, (const char *const[]) { list_word }, 1, &o, &report, err);
    return leat_pack(output, (const char *const *)inputs, INPUTS, &o, &report, err);
}

/* Texts, one of them refused, and ids; a checkpoint behind each GIVEN_STEP of them, whose note is how many there
 * were. */
static enum leat_status give_each(struct leat_packer *p, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    const void *note;
    uint64_t bytes, i = 0;

    leat_packer_note(p, &note, &bytes);
    if (bytes == sizeof i)
        memcpy(&i, note, sizeof i);
    else
        s = leat_packer_add_input(p, "somewhere", NULL, err);
    for (; s == LEAT_OK && i < GIVEN; i++) {
        struct leat_origin origin = { .input = 0, .offset = i, .line = LEAT_NONE, .id = "x", .id_bytes = 1 };
        uint32_t ids[3] = { (uint32_t)i, 7, 9 };

        if (i > 0 && i % GIVEN_STEP == 0)
            s = leat_packer_checkpoint(p, &i, sizeof i, err);
        if (s == LEAT_OK && i % 7 == 3)
            s = leat_packer_add_ids(p, ids, 3, &origin, err);
        else if (s == LEAT_OK)
            s = leat_packer_add_text(p, i == 20 ? "\xff" : given_text, i == 20 ? 1 : 97 * i, &origin, err);
    }
    return s;
}

static enum leat_status give_to(const char *output, bool resume, struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_packer *p;
    enum leat_status s;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 1;
    o.memory = UINT64_C(4) << 30;
    o.max_rejects = LEAT_NONE;
    o.reject_invalid = 1;
    o.resume = resume;
    s = leat_packer_open(&p, output, &o, err);
    if (s != LEAT_OK)
        return s;
    s = give_each(p, err);
    if (s == LEAT_OK)
        s = leat_packer_finish(p, NULL, err);
    if (s != LEAT_OK)
        leat_packer_suspend(p);
    return s;
}

/* Parts of one run, cut within an input. */
static void make_parts(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

        o.tokenizer = tokenizer;
        o.end_token = 256;
        o.threads = 1;
        o.part = i + 1;
        o.parts = 2;
        T_OK(leat_pack(parts[i], (const char *const *)inputs, INPUTS, &o, NULL, &t_err));
    }
}

static enum leat_status merge_to(const char *output, bool replaces, struct leat_error *err)
{
    const char *names[] = { parts[0], parts[1] };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.force = replaces;
    return leat_merge(output, names, 2, &o, NULL, err);
}

static enum leat_status run(const struct scenario *s, struct leat_error *err)
{
    enum leat_status status;

    if (s->by == BY_PACKER)
        return give_to(name, false, err);
    if (s->by == BY_MERGE)
        return merge_to(name, s->replaces, err);
    status = pack_to(name, s, false, s->stops ? 3 : LEAT_NONE, err);
    return s->stops && status == LEAT_E_REJECTS ? pack_to(name, s, true, LEAT_NONE, err) : status;
}

static void prepare(const struct scenario *s)
{
    clear_folder(work);
    if (s->replaces)
        copy_dataset(old, name);
}

/* What a run that is not disturbed writes. */
static const char *undisturbed(const struct scenario *s)
{
    switch (s->by) {
    case BY_LIST:
        return from_list;
    case BY_PACKER:
        return given;
    case BY_MERGE:
        return merged;
    case BY_CHAT:
        return talked;
    case BY_LONG:
        return lengthy;
    default:
        return s->arranges ? arranged : reference;
    }
}

/* The dataset of a value, and that of an undisturbed run. */
static bool same_value(const char *value)
{
    char made[640], right[640];

    snprintf(made, sizeof made, "%s.%s", name, value);
    snprintf(right, sizeof right, "%s.%s", divided, value);
    return same_dataset(made, right);
}

static bool whole(const struct scenario *s)
{
    static char split[2][640];

    if (s->by == BY_VALUES)
        return same_value("x") && same_value("y");

    if (!s->arranges)
        return same_dataset(name, undisturbed(s));
    for (unsigned i = 0; i < 2; i++) {
        snprintf(split[0], sizeof split[0], "%s.%s", name, splits[i].name);
        snprintf(split[1], sizeof split[1], "%s.%s", arranged, splits[i].name);
        if (!same_dataset(split[0], split[1]))
            return false;
    }
    return same_dataset(name, arranged);
}

static bool opens(void)
{
    return access(with(name, ".leat"), F_OK) == 0;
}

/* Neither before nor after going on is there a dataset that is not the old or the new one. */
static void check_opens(const struct scenario *s)
{
    for (unsigned i = 0; s->by == BY_VALUES && i < 2; i++) {
        char index[640];

        snprintf(index, sizeof index, "%s.%s.leat", name, values[i]);
        T_CHECK(access(index, F_OK) != 0 || same_value(values[i]));
    }
    if (opens() && !s->arranges)
        T_CHECK(whole(s) || (s->replaces && same_dataset(name, old)));
}

/* What a run left that has failed or was killed, to its end. */
static void go_on(const struct scenario *s)
{
    enum leat_status status;

    if (s->by == BY_MERGE) {
        T_OK(merge_to(name, true, &t_err));
        T_CHECK(whole(s));
        T_STR(listing(work), "d.leat d.tokens");
        return;
    }
    if (s->by == BY_PACKER) {
        status = give_to(name, true, &t_err);
        T_CHECK(status == LEAT_OK || status == LEAT_E_EXISTS); /* there was nothing left to do */
        T_CHECK(whole(s));
        T_CHECK(same_file(with(name, ".rejects.jsonl"), with(given, ".rejects.jsonl")));
        T_STR(listing(work), "d.leat d.rejects.jsonl d.tokens");
        return;
    }
    T_OK(pack_to(name, s, true, LEAT_NONE, &t_err));
    T_CHECK(whole(s));
    if (s->by == BY_LIST) {
        T_EQ(report.skipped, 1);
        T_STR(listing(work), "d.leat d.tokens");
        return;
    }
    if (s->by == BY_VALUES) {
        T_STR(listing(work), "d.rejects.jsonl d.x.leat d.x.tokens d.y.leat d.y.tokens");
        return;
    }
    T_CHECK(same_file(with(name, ".rejects.jsonl"), with(s->arranges ? reference : undisturbed(s), ".rejects.jsonl")));
    T_STR(listing(work), s->arranges ? "d.leat d.rejects.jsonl d.tokens d.v.leat d.v.tokens d.w.leat d.w.tokens"
                                     : "d.leat d.rejects.jsonl d.tokens");
}

/* Which calls are tried. */
static uint64_t next_call(uint64_t n, uint64_t calls)
{
    uint64_t last = calls > LAST ? calls - LAST : 1;

    if (t_every())
        return n + 1;
    if (n >= last)
        return n + 1 + t_below(&drawn, 7);
    n += 1 + t_below(&drawn, 2 * last / MIDDLE_TRIED);
    return n < last ? n : last + t_below(&drawn, 3);
}

/* ---- Calls that fail ---- */

static void check_failure(enum leat_status s, const struct leat_error *err)
{
    T_EQ(err->status, s);
    T_CHECK(err->message[0] != '\0');
    T_CHECK(s == LEAT_E_NO_MEMORY || s == LEAT_E_IO || s == LEAT_E_NO_SPACE || s == LEAT_E_EXISTS || s == LEAT_E_BUSY ||
            err->os_error != 0);
}

static void fail_one(const struct scenario *scenario, enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { 0 };
    int failures = t_failures;
    long allocations;
    unsigned files;
    enum leat_status s;

    prepare(scenario);
    allocations = fault_allocations();
    files = fault_open_files();
    fault_arm(kind, mode, n, mode == FAULT_ONCE ? EIO : ENOSPC);
    s = run(scenario, &err);
    fault_disarm();
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    if (s == LEAT_OK)
        T_CHECK(whole(scenario));
    else
        check_failure(s, &err);
    check_opens(scenario);
    go_on(scenario);
    if (t_failures > failures)
        fprintf(stderr, "  in \"%s\", %s %" PRIu64 " failing %s (%s); status %s: %s\n", scenario->what,
                kind == FAULT_MEMORY ? "allocation" : "system call", n, mode == FAULT_ONCE ? "once" : "from then on",
                fault_failed() ? fault_failed() : "none", leat_status_name(s), s == LEAT_OK ? "" : err.message);
}

static uint64_t calls_of(const struct scenario *s, enum fault_kind kind)
{
    uint64_t calls;

    prepare(s);
    fault_arm(kind, FAULT_COUNT, 1, EIO);
    T_OK(run(s, &t_err));
    calls = fault_disarm();
    fprintf(stderr, "%s: %" PRIu64 " %s\n", s->what, calls, kind == FAULT_MEMORY ? "allocations" : "system calls");
    T_CHECK(whole(s));
    return calls;
}

static void fail_each(const struct scenario *s, enum fault_kind kind)
{
    uint64_t calls = calls_of(s, kind);

    for (uint64_t n = 1; n <= calls; n = next_call(n, calls)) {
        fail_one(s, kind, FAULT_ONCE, n);
        fail_one(s, kind, FAULT_FROM_THEN_ON, n);
        if (t_failures > 20)
            exit(1);
    }
}

/* Each thread that cannot be begun: without the first there is an error, without another the rest do the work. */
static void fail_threads(const struct scenario *s)
{
    unsigned found = 0;

    for (uint64_t n = 1; found < s->threads && n <= 3000; n++) {
        enum leat_status status;

        prepare(s);
        fault_arm(FAULT_SYSTEM, FAULT_ONCE, n, EAGAIN);
        status = run(s, &t_err);
        fault_disarm();
        if (!fault_failed() || strcmp(fault_failed(), "pthread_create") != 0)
            continue;
        found++;
        T_CHECK(found > 1 ? status == LEAT_OK && whole(s) : status != LEAT_OK);
    }
    T_EQ(found, s->threads);
}

/* ---- Files that change ---- */

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
        put_file(kept[i].path, kept[i].bytes, kept[i].size);
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

/* Half transfers and interrupted calls do not show at all. */
static void disturb(const struct scenario *s)
{
    for (enum fault_mode mode = FAULT_SHORT; mode <= FAULT_INTERRUPT; mode++) {
        prepare(s);
        fault_arm(FAULT_SYSTEM, mode, 1, EIO);
        T_OK(run(s, &t_err));
        fault_disarm();
        T_CHECK(whole(s));
    }
}

/* ---- Kills ---- */

/* True: it came to be killed. */
static bool killed(const struct scenario *s, enum fault_mode mode, uint64_t n, bool resume)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (mode == FAULT_POWER_CUT)
            power_watch(work, seed + n);
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        _exit((resume ? pack_to(name, s, true, LEAT_NONE, &t_err) : run(s, &t_err)) != LEAT_OK);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(1);
    }
    T_CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* A run by values that is killed before call n, and killed again before call `again` of the run that resumes it. True:
 * one of its datasets has its name then, beside what is to be divided. */
static bool named_after(const struct scenario *s, uint64_t n, uint64_t again)
{
    char first[640];

    snprintf(first, sizeof first, "%s.x.leat", name);
    prepare(s);
    killed(s, FAULT_KILL_BEFORE, n, false);
    if (again > 0)
        killed(s, FAULT_KILL_BEFORE, again, true);
    return access(first, F_OK) == 0 && access(with(name, ".partial.packed/all.leat"), F_OK) == 0;
}

/* What is resumed first removes the datasets that had got their names; it is killed at each call of that. */
static void kill_twice(const struct scenario *s)
{
    uint64_t n = calls_of(s, FAULT_SYSTEM), again = 0;

    while (n > 1 && !named_after(s, n, 0))
        n--;
    while (n > 1 && named_after(s, n, again))
        again += REMOVING;
    T_CHECK(again > 0);
    for (uint64_t k = again - REMOVING; k <= again + REMOVING; k++) {
        named_after(s, n, k);
        check_opens(s);
        go_on(s);
        if (t_failures > 0)
            exit(1);
    }
}

static void kill_one(const struct scenario *s, enum fault_mode mode, uint64_t n)
{
    int failures = t_failures;

    prepare(s);
    killed(s, mode, n, false);
    check_opens(s);
    go_on(s);
    if (t_failures > failures)
        fprintf(stderr, "  in \"%s\", %s system call %" PRIu64 "\n", s->what,
                mode == FAULT_KILL_BEFORE ? "killed before" : "power cut before", n);
}

static void kill_at_each(const struct scenario *s)
{
    uint64_t calls = calls_of(s, FAULT_SYSTEM);

    for (uint64_t n = 1; n <= calls; n = next_call(n, calls)) {
        kill_one(s, FAULT_KILL_BEFORE, n);
        if (s->threads == 1) /* power.h sees one thread's calls */
            kill_one(s, FAULT_POWER_CUT, n);
        if (t_failures > 20)
            exit(1);
    }
}

int main(int argc, char **argv)
{
    char *first;

    seed = drawn = t_seed();
    folder = memory_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(name, sizeof name, "%s/d", work);
    snprintf(reference, sizeof reference, "%s/reference", folder);
    snprintf(arranged, sizeof arranged, "%s/arranged", folder);
    snprintf(given, sizeof given, "%s/given", folder);
    snprintf(merged, sizeof merged, "%s/merged", folder);
    snprintf(old, sizeof old, "%s/old", folder);
    snprintf(divided, sizeof divided, "%s/divided", folder);
    snprintf(talked, sizeof talked, "%s/talked", folder);
    snprintf(lengthy, sizeof lengthy, "%s/lengthy", folder);
    snprintf(from_list, sizeof from_list, "%s/from-list", folder);
    make_corpus();
    make_list();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    T_OK(pack_to(reference, &scenarios[0], false, LEAT_NONE, &t_err));
    T_OK(pack_to(arranged, &scenarios[4], false, LEAT_NONE, &t_err));
    T_OK(pack_to(from_list, &scenarios[5], false, LEAT_NONE, &t_err));
    T_EQ(report.inputs, 4);
    T_EQ(report.skipped, 1);
    T_OK(pack_to(divided, &scenarios[8], false, LEAT_NONE, &t_err));
    T_EQ(report.values, 2);
    T_OK(pack_to(talked, &scenarios[9], false, LEAT_NONE, &t_err));
    T_OK(pack_to(lengthy, &scenarios[10], false, LEAT_NONE, &t_err));
    T_EQ(report.documents, 4);
    memset(given_text, 'g', sizeof given_text);
    T_OK(give_to(given, false, &t_err));
    snprintf(parts[0], sizeof parts[0], "%s/part1", folder);
    snprintf(parts[1], sizeof parts[1], "%s/part2", folder);
    make_parts();
    keep_files();
    T_OK(merge_to(merged, false, &t_err));
    first = inputs[0];
    inputs[0] = inputs[1];
    T_OK(pack_to(old, &scenarios[0], false, LEAT_NONE, &t_err));
    inputs[0] = first;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];

        if (argc > 1 && strcmp(argv[1], s->what) != 0)
            continue;
        kill_at_each(s);
        if (s->by == BY_VALUES)
            kill_twice(s);
        fail_each(s, FAULT_MEMORY);
        fail_each(s, FAULT_SYSTEM);
        if (s->threads > 1)
            fail_threads(s);
        cut_each(s);
        disturb(s);
    }
    leat_tokenizer_close(tokenizer);
    free(conversations);
    free(long_rows);
    free(chat_template);
    for (unsigned i = 0; i < INPUTS; i++)
        free(inputs[i]);
    for (unsigned i = 0; i < KEPT; i++)
        free(kept[i].bytes);
    return t_end();
}
