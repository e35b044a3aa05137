/*
 * test_run_object.c: struct leat_run. Each kind of damage of a run's folder is an error that names its row of the
 * table, with what makes it right, and that does; every row comes up here. Any byte of the plan, or of what the parts
 * share, that is changed is found. Of two processes that step one part the second is refused while the first lives.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <zlib.h>

#include "leat_pack.h"
#include "run/run_advice.h"
#include "support/files.h"

static const char *folder;
static char input[600], run_folder[600];
static bool seen[RUN_DAMAGES - RUN_DAMAGE];

static size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *f = fopen(path, "r");
    size_t count = f ? fread(bytes, 1, room, f) : 0;

    T_CHECK(f && count < room && fclose(f) == 0);
    return count;
}

static void write_input(unsigned lines)
{
    FILE *f = fopen(input, "w");

    for (unsigned i = 0; f && i < lines; i++)
        fprintf(f, "{\"text\": \"text %u of some words\"}\n", i);
    T_CHECK(f && fclose(f) == 0);
}

static const char *file(const char *name)
{
    return t_path(run_folder, name);
}

static struct leat_run_options options(void)
{
    static const char *inputs[] = { input };
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;

    o.parts = 1;
    o.tokenizer = "bytes";
    o.inputs = inputs;
    o.input_count = 1;
    return o;
}

static enum leat_status plan(const struct leat_run_options *o)
{
    struct leat_run *run;
    enum leat_status s = leat_run_create(&run, run_folder, o, &t_err);

    T_CHECK((s == LEAT_OK) == (run != NULL));
    leat_run_close(run);
    return s;
}

static void remove_run(void)
{
    DIR *d = opendir(run_folder);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        (void)unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

static void plan_new(void)
{
    struct leat_run_options o = options();

    remove_run();
    write_input(50);
    T_OK(plan(&o));
}

static enum leat_status step(const struct leat_pack_options *o, struct leat_pack_report *report)
{
    struct leat_run *run;
    enum leat_status s = leat_run_open(&run, run_folder, &t_err);

    if (s == LEAT_OK)
        s = leat_run_step(run, 1, o, report, &t_err);
    leat_run_close(run);
    return s;
}

static enum leat_status join(const char *output)
{
    struct leat_run *run;
    enum leat_status s = leat_run_open(&run, run_folder, &t_err);

    if (s == LEAT_OK)
        s = leat_run_join(run, output, NULL, NULL, &t_err);
    leat_run_close(run);
    return s;
}

/* The last error is of this row. */
static void check(enum run_damage row, enum leat_run_file about, enum leat_run_mend mend, enum leat_run_waits waits)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    leat_run_advice(&t_err, &advice);
    T_EQ(t_err.hint, row);
    T_EQ(advice.file, about);
    T_EQ(advice.mend, mend);
    T_EQ(advice.waits, waits);
    seen[row - RUN_DAMAGE] = true;
    if (t_failures > 0)
        fprintf(stderr, "row %d: %s\n", (int)row, t_err.message);
}
#define CHECK(row, about, mend, waits)                                                                                 \
    check(RUN_##row, LEAT_RUN_FILE_##about, LEAT_RUN_MEND_##mend, LEAT_RUN_WAITS_##waits)

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static void test_plan(void)
{
    struct leat_run_options o = options();
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    char kept[4096];
    size_t bytes;

    T_EQ(mkdir(run_folder, 0777), 0);
    T_STATUS(step(NULL, NULL), LEAT_E_NO_FILE);
    CHECK(NO_PLAN, PLAN, CREATE, ALL);
    t_write_text(file("part-1.leat"), "");
    T_STATUS(plan(&o), LEAT_E_EXISTS);
    CHECK(PARTS_OTHER, PART, PLAN, ALL);
    plan_new();
    pack.threads = 3;
    o.pack = &pack;
    T_STATUS(plan(&o), LEAT_E_EXISTS);
    CHECK(PLAN_OTHER, PLAN, PLAN, ALL);
    bytes = read_bytes(file("leat-run"), kept, sizeof kept);
    for (size_t i = 0; i < bytes && t_failures == 0; i++) {
        kept[i] ^= 1;
        t_write(file("leat-run"), kept, bytes);
        T_REFUSED(step(NULL, NULL), i < 11 ? LEAT_E_UNSUPPORTED : LEAT_E_CHECKSUM, "leat-run");
        kept[i] ^= 1;
        t_write(file("leat-run"), kept, i); /* cut */
        T_REFUSED(step(NULL, NULL), i < 10 ? LEAT_E_UNSUPPORTED : LEAT_E_CHECKSUM, "leat-run");
    }
    CHECK(PLAN_DAMAGED, PLAN, RESTORE, ALL);
    t_write_text(file("leat-run"), "leat run 1\nparts 1\n");
    T_REFUSED(step(NULL, NULL), LEAT_E_UNSUPPORTED, "is not the plan of a run that this version can read");
    CHECK(PLAN_VERSION, PLAN, PLAN, ALL);
    unlink(file("leat-run")); /* lost: the same call writes it again */
    o.pack = NULL;
    T_OK(plan(&o));
    T_EQ(read_bytes(file("leat-run"), kept, sizeof kept), bytes);
    T_OK(step(NULL, NULL));
}

static void test_shared(void)
{
    struct leat_run_options o = options();
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    char kept[4096];
    size_t bytes;

    plan_new();
    bytes = read_bytes(file("leat-run.inputs"), kept, sizeof kept);
    for (size_t i = 0; i < bytes && t_failures == 0; i++) {
        kept[i] ^= 1;
        t_write(file("leat-run.inputs"), kept, bytes);
        T_REFUSED(step(NULL, NULL), LEAT_E_CHECKSUM, "leat-run.inputs is damaged: remove it and plan the run again");
        kept[i] ^= 1;
    }
    CHECK(SHARED_DAMAGED, SHARED, CREATE, ALL);
    unlink(file("leat-run.inputs"));
    T_STATUS(step(NULL, NULL), LEAT_E_NO_FILE);
    CHECK(SHARED_MISSING, SHARED, CREATE, ALL);
    T_OK(plan(&o));
    write_input(49);
    T_STATUS(step(NULL, NULL), LEAT_E_CHECKPOINT);
    CHECK(SHARED_DIFFERS, INPUT, RESTORE, PART);
    plan_new();
    unlink(file("leat-run"));
    pack.end_token = 256;
    o.pack = &pack;
    T_STATUS(plan(&o), LEAT_E_CHECKPOINT); /* with other options */
    CHECK(PLAN_OTHER, PLAN, PLAN, ALL);
    pack = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    o.parts = 2;
    T_STATUS(plan(&o), LEAT_E_CHECKPOINT);
    CHECK(PLAN_OTHER, PLAN, PLAN, ALL);
}

/* ---- A part ------------------------------------------------------------------------------------------------------ */

static uint32_t stop(void *context, const struct leat_pack_progress *p)
{
    (void)context;
    return p->text_bytes > 0;
}

static void test_part(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    FILE *f;

    plan_new();
    T_STATUS(join(t_path(folder, "all")), LEAT_E_NO_FILE);
    CHECK(LEFT, PART, STEPS, ALL);
    T_OK(step(NULL, NULL));
    T_EQ(truncate(file("part-1.leat"), 100), 0);
    T_STATUS(step(NULL, NULL), LEAT_E_EXISTS);
    CHECK(PART_DAMAGED, PART, FORCE, PART);
    o.force = 1;
    T_OK(step(&o, NULL));
    T_OK(step(NULL, &report));
    T_EQ(report.was_finished, 1);
    T_EQ(report.documents, 50);

    plan_new();
    f = fopen(input, "a");
    T_CHECK(f && fputs("{\"text\":\n", f) >= 0 && fclose(f) == 0);
    unlink(file("leat-run"));
    unlink(file("leat-run.inputs"));
    T_OK(plan(&(struct leat_run_options) { .size = sizeof(struct leat_run_options),
                                           .parts = 1,
                                           .tokenizer = "bytes",
                                           .inputs = options().inputs,
                                           .input_count = 1 }));
    o = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    o.max_rejects = 0;
    T_STATUS(step(&o, NULL), LEAT_E_REJECTS);
    CHECK(REJECTS, REJECTS, LIMIT, PART);
    T_OK(step(NULL, NULL));
}

/* Of bytes, each a token, in a file. */
static const char *write_tokenizer(void)
{
    static char path[640];
    char json[8192] = "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
                      "\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"merges\":[],"
                      "\"vocab\":{";

    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    for (unsigned b = 0; b < 256; b++)
        snprintf(json + strlen(json), sizeof json - strlen(json), "\"<0x%02X>\":%u%s", b, b, b < 255 ? "," : "}}}");
    t_write(path, json, strlen(json));
    return path;
}

/* A step that fails before it has begun says what is kept, and not what its caller's report had. */
static void check_kept(const char *tokenizer)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_run_status status = LEAT_RUN_STATUS_INIT;
    uint64_t tokens;
    struct leat_run *run;
    char moved[640];

    T_OK(leat_run_open(&run, run_folder, &t_err));
    T_OK(leat_run_status(run, &status, &t_err));
    tokens = status.tokens;
    T_CHECK(tokens > 0);
    snprintf(moved, sizeof moved, "%s.moved", tokenizer);
    T_EQ(rename(tokenizer, moved), 0);
    T_CHECK(step(NULL, &report) != LEAT_OK);
    T_EQ(rename(moved, tokenizer), 0);
    T_OK(leat_run_status(run, &status, &t_err));
    T_EQ(status.tokens, tokens);
    leat_run_close(run);
}

/* What an earlier step has left is damaged: it is refused, and starts over only with force. */
static void test_unfinished(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_run_options r = options();

    remove_run();
    write_input(300000);
    r.tokenizer = write_tokenizer();
    T_OK(plan(&r));
    o.progress = stop;
    o.threads = 1;
    T_STATUS(step(&o, NULL), LEAT_E_STOPPED);
    check_kept(r.tokenizer);
    T_EQ(truncate(file("part-1.partial.tokens"), 1), 0);
    T_STATUS(step(NULL, NULL), LEAT_E_CHECKPOINT);
    CHECK(UNFINISHED, UNFINISHED, FORCE, PART);
    o = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    o.force = 1;
    T_OK(step(&o, NULL));
}

static void test_cut(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_run_options r = options();
    char name[640];
    const char *inputs[] = { name };
    struct stat st;
    gzFile gz;

    remove_run();
    snprintf(name, sizeof name, "%s/cut.jsonl.gz", folder);
    gz = gzopen(name, "w");
    for (unsigned i = 0; gz && i < 3000; i++)
        gzprintf(gz, "{\"text\": \"text %u of words\"}\n", i * 7919u);
    T_CHECK(gz && gzclose(gz) == Z_OK && stat(name, &st) == 0 && truncate(name, st.st_size - 50) == 0);
    r.inputs = inputs;
    T_OK(plan(&r));
    for (unsigned i = 0; i < 2; i++) { /* also when it has its dataset */
        T_REFUSED(step(NULL, NULL), LEAT_E_TRUNCATED, "1 input was cut off or broken: ");
        CHECK(PART_CUT, INPUT, ACCEPT, PART);
    }
    o.allow_truncated = 1;
    T_OK(step(&o, NULL));
    T_OK(step(NULL, NULL));
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

static uint32_t hold(void *context, const struct leat_pack_progress *p)
{
    (void)p;
    if (write(*(int *)context, "x", 1) != 1)
        _exit(1);
    pause();
    return 1;
}

static void test_two(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_run_status status = LEAT_RUN_STATUS_INIT;
    struct leat_run *run;
    int ready[2];
    char byte, words[80];
    pid_t child;

    plan_new();
    T_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        o.progress = hold;
        o.context = &ready[1];
        (void)step(&o, NULL);
        _exit(1);
    }
    T_EQ(read(ready[0], &byte, 1), 1);
    T_OK(leat_run_open(&run, run_folder, &t_err));
    snprintf(words, sizeof words, "another process is writing part 1 of the run in ");
    T_REFUSED(leat_run_step(run, 1, NULL, NULL, &t_err), LEAT_E_BUSY, words);
    CHECK(BUSY, BEAT, WAIT, PART);
    snprintf(words, sizeof words, ": process %ld on ", (long)child);
    T_CHECK(strstr(t_err.message, words));
    T_OK(leat_run_status(run, &status, &t_err));
    T_EQ(status.count[LEAT_RUN_RUNNING], 1);
    T_EQ(status.items[0].pid, child);
    T_CHECK(strcmp(status.left, "") == 0 && strcmp(status.unfinished, "1") == 0);
    kill(child, SIGKILL);
    T_EQ(waitpid(child, NULL, 0), child);
    T_OK(leat_run_step(run, 1, NULL, NULL, &t_err));
    T_OK(leat_run_status(run, &status, &t_err));
    T_EQ(status.complete, 1);
    T_STATUS(leat_run_step(run, 0, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_run_step(run, 2, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    leat_run_close(run);
}

int main(void)
{
    folder = t_folder();
    snprintf(input, sizeof input, "%s/in.jsonl", folder);
    snprintf(run_folder, sizeof run_folder, "%s/run", folder);
    write_input(50);
    test_plan();
    test_shared();
    test_part();
    test_unfinished();
    test_cut();
    test_two();
    for (unsigned i = 0; i < RUN_DAMAGES - RUN_DAMAGE; i++)
        if (!seen[i] && i != RUN_REJECTS_OF_ALL - RUN_DAMAGE) /* tests/run/test_run_pushed.c has that */
            T_EQ(i, RUN_DAMAGES);                             /* a row that no error has */
    return t_end();
}
