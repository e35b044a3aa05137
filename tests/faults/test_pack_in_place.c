/*
 * test_pack_in_place.c: the parts of a run that are joined in place become what leat_merge() makes of them, and their
 * folder is no run's any more. So they do when the process is killed before or after any call, the power fails before
 * it, or it fails, and the same is called again; and nothing that opens meanwhile is wrong: neither a part whose tokens
 * are being freed, nor the output. Nobody else writes the output meanwhile. With small pieces (base/tiny.h), so that a
 * token file is appended in many steps. make check-every kills at each call, else at some. The run's folder once stayed
 * one for ever if the process was killed at the end. A plan or a token file that is not as the joining left it is
 * refused, and nothing is lost by that: with what was there put back, the joining goes on.
 */
#include <signal.h>
#include <sys/wait.h>

#include "leat_pack.h"
#include "support/fault.h"
#include "support/files.h"
#include "support/power.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PARTS 4u

static const char *folder;
static char work[500]; /* with the parts and the output alone */
static char parts[PARTS][600], kept[PARTS][600], output[600], reference[600];

/* The second part has more than a page of tokens, so that its front is freed; the last has a stretch of zeros, as freed
 * bytes are read. */
static void pack_parts(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, "in.jsonl"), *names[PARTS];
    struct leat_tokenizer *t;
    FILE *f = fopen(input, "w");

    snprintf(work, sizeof work, "%s/work", folder);
    for (unsigned i = 0; f && i < 500; i++) {
        fprintf(f, "{\"text\": \"text %u of these", i);
        for (unsigned zero = 0; i == 490 && zero < 230; zero++)
            fputs("\\u0000", f);
        fprintf(f, "\", \"id\": \"%u\"}\n", i);
    }
    T_CHECK(f && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, "bytes", NULL, &t_err));
    o.tokenizer = t;
    o.threads = 1;
    o.parts = PARTS;
    for (o.part = 1; o.part <= PARTS; o.part++) {
        snprintf(kept[o.part - 1], sizeof kept[0], "%s/kept-%u", folder, o.part);
        snprintf(parts[o.part - 1], sizeof parts[0], "%s/part-%u", work, o.part);
        names[o.part - 1] = kept[o.part - 1];
        T_OK(leat_pack(kept[o.part - 1], &input, 1, &o, NULL, &t_err));
    }
    leat_tokenizer_close(t);
    T_EQ(mkdir(work, 0777), 0);
    snprintf(output, sizeof output, "%s/out", work);
    snprintf(reference, sizeof reference, "%s/reference", folder);
    T_OK(leat_merge(reference, names, PARTS, NULL, NULL, &t_err));
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    T_CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void put_parts(void)
{
    write_file(t_path(work, "leat-run"), "leat run 1\nparts 4\nfrom /\n");
    for (unsigned i = 0; i < PARTS; i++) {
        T_CHECK(copy_file(with(kept[i], ".leat"), with(parts[i], ".leat")));
        T_CHECK(copy_file(with(kept[i], ".tokens"), with(parts[i], ".tokens")));
    }
}

static enum leat_status join(struct leat_error *err)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    const char *names[PARTS];
    enum leat_status s;

    for (unsigned i = 0; i < PARTS; i++)
        names[i] = parts[i];
    o.in_place = 1;
    o.threads = 1;
    report.info = &info;
    s = leat_merge(output, names, PARTS, &o, &report, err);
    if (s == LEAT_OK)
        T_EQ(info.documents, 500);
    return s;
}

/* What opens is what it was, or the whole. */
static void check_what_opens(void)
{
    struct leat_dataset *d;

    for (unsigned i = 0; i < PARTS; i++)
        if (leat_dataset_open(&d, parts[i], NULL, NULL) == LEAT_OK) {
            leat_dataset_close(d);
            T_CHECK(same_file(with(parts[i], ".tokens"), with(kept[i], ".tokens")));
        }
    if (leat_dataset_open(&d, output, NULL, NULL) == LEAT_OK) {
        leat_dataset_close(d);
        T_CHECK(same_file(with(output, ".tokens"), with(reference, ".tokens")));
    }
}

static unsigned files_in(const char *path)
{
    DIR *d = opendir(path);
    unsigned count = 0;

    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count - 2; /* . and .. */
}

/* What a writer could not remove when its index was finished: that is no failure. */
static void remove_rubbish(void)
{
    static const char begin[] = "out.joining.partial.", lock[] = "out.partial.lock";
    DIR *d = opendir(work);
    struct dirent *e;

    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, begin, sizeof begin - 1) == 0 || strcmp(e->d_name, lock) == 0)
            T_EQ(unlink(t_path(work, e->d_name)), 0);
    if (d)
        closedir(d);
}

/* Joined, and nothing else is left. */
static void check_joined(void)
{
    T_CHECK(same_dataset(output, reference));
    T_EQ(files_in(work), 2);
    unlink(with(output, ".tokens"));
    unlink(with(output, ".leat"));
}

static const char *only; /* calls of this name are counted, or all of the kind */

/* Whether call n was reached. */
static bool disturbed(enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        struct leat_error err = { 0 };
        enum leat_status s;

        if (mode == FAULT_POWER_CUT)
            power_watch(work, n);
        if (only)
            fault_arm_call(only, mode, n, EIO);
        else
            fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
        s = join(&err);
        n = fault_disarm() >= n; /* a call that may fail, as freeing what is not needed, fails nothing else */
        _exit(s == LEAT_OK ? !n : 2 * (err.message[0] == '\0'));
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Whether the output is there already; joining it again is refused then. */
static bool is_joined(void)
{
    return access(with(output, ".leat"), F_OK) == 0 && access(with(output, ".joining"), F_OK) != 0;
}

static void disturb(enum fault_kind kind, enum fault_mode mode, unsigned lacks, uint64_t stride, uint64_t seed)
{
    unsigned tries = 0;

    fault_file_system(lacks);
    put_parts();
    for (uint64_t n = 1 + t_below(&seed, stride); disturbed(kind, mode, n);
         n += stride > 1 ? 1 + t_below(&seed, 2 * stride) : 1) {
        tries++;
        check_what_opens();
        if (is_joined())
            unlink(with(output, ".partial.lock")); /* as of a writer that is killed */
        else
            T_OK(join(&t_err));
        if (kind == FAULT_SYSTEM && mode == FAULT_ONCE)
            remove_rubbish();
        check_joined();
        put_parts();
        if (t_failures > 0) {
            fprintf(stderr, "kind %d, mode %d, lacks %u, call %llu\n", kind, mode, lacks, (unsigned long long)n);
            return;
        }
    }
    T_CHECK(tries > 2);
    check_joined();
    fault_file_system(0);
}

/* ---- In the way ---- */

/* Two writers of one dataset are one too many. */
static uint32_t write_meanwhile(void *context, uint64_t done, uint64_t total)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *writer = NULL;
    struct leat_error err;
    bool *tried = context;

    (void)done;
    (void)total;
    w.vocabulary = 257;
    T_STATUS(leat_writer_open(&writer, output, &w, &err), LEAT_E_BUSY);
    *tried = true;
    return 0;
}

static void write_both(void)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *names[PARTS] = { parts[0], parts[1], parts[2], parts[3] };
    bool tried = false;

    put_parts();
    o.in_place = 1;
    o.progress = write_meanwhile;
    o.context = &tried;
    T_OK(leat_merge(output, names, PARTS, &o, NULL, &t_err));
    T_CHECK(tried);
    check_joined();
}

/* ---- Stopped ---- */

static uint64_t size_of(const char *path)
{
    struct stat st;

    T_EQ(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

/* Only while tokens are appended: before that, there is nothing to go on with. */
static uint32_t stop_in_the_middle(void *context, uint64_t done, uint64_t total)
{
    const uint64_t *at = context;

    (void)total;
    return access(with(output, ".joining.tokens"), F_OK) == 0 && done > *at;
}

static enum leat_status join_watched(uint32_t (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                                     struct leat_error *err)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *names[PARTS] = { parts[0], parts[1], parts[2], parts[3] };

    o.in_place = 1;
    o.progress = progress;
    o.context = context;
    return leat_merge(output, names, PARTS, &o, NULL, err);
}

/* Each time within a step, which is begun again then: also among the zeros. */
static void stop(void)
{
    uint64_t whole = size_of(with(reference, ".tokens"));

    put_parts();
    for (uint64_t at = whole / 5; at < whole - 100; at += 171) {
        T_STATUS(join_watched(stop_in_the_middle, &at, &t_err), LEAT_E_STOPPED);
        check_what_opens();
    }
    T_OK(join(&t_err));
    check_joined();
}

/* ---- Changed meanwhile ---- */

static void check_refused(enum leat_status status, const char *what)
{
    T_REFUSED(join(&t_err), status, what);
}

/* Joining is stopped, and refused while a file has another size than it had. */
static void change_size(uint64_t at, const char *path, int64_t by, enum leat_status status, const char *what)
{
    uint64_t size;

    put_parts();
    T_STATUS(join_watched(stop_in_the_middle, &at, &t_err), LEAT_E_STOPPED);
    size = size_of(path);
    T_CHECK(copy_file(path, t_path(folder, "copied")));
    T_EQ(truncate(path, (off_t)size + by), 0);
    check_refused(status, what);
    T_EQ(size_of(path), size + (uint64_t)by);
    T_CHECK(copy_file(t_path(folder, "copied"), path));
    T_OK(join(&t_err));
    check_joined();
}

static void change_sizes(void)
{
    uint64_t whole = size_of(with(reference, ".tokens")), last = whole - size_of(with(kept[3], ".tokens")) % 160;
    char tokens[700], part[700];

    snprintf(tokens, sizeof tokens, "%s.joining.tokens", output);
    snprintf(part, sizeof part, "%s.tokens.joining", parts[1]);
    change_size(whole / 5 * 2, tokens, -300, LEAT_E_TRUNCATED, "were there when joining stopped: restore it");
    change_size(whole / 5 * 2, part, -1, LEAT_E_TRUNCATED, "when joining began");
    change_size(whole / 5 * 2, tokens, 200, LEAT_E_RECORD, "is damaged: keep "); /* more than a step */
    change_size(last, tokens, (int64_t)(whole - last) - 64 + 1, LEAT_E_RECORD, "is damaged: keep "); /* than all */
}

/* Keeps the plan as it is within the step whose end frees a page, and has the process killed after that. */
static uint32_t keep_plan(void *context, uint64_t done, uint64_t total)
{
    const uint64_t *freed = context;

    (void)total;
    if (done == *freed - 96 && access(with(output, ".joining.tokens"), F_OK) == 0) {
        T_CHECK(copy_file(with(output, ".joining"), t_path(folder, "older")));
        fault_arm_call("pwrite", FAULT_KILL_BEFORE, 4, 0); /* after 64 and 32 bytes, and the plan */
    }
    return 0;
}

/* The plan of a step before, when the bytes of that step are freed already: zeros must not replace them. */
static void put_older_plan(void)
{
    uint64_t freed = size_of(with(kept[0], ".tokens")) + 26 * 160; /* a page, and the rest of its last step */
    char plan[700], tokens[700], older[600], last[600], copied[600];
    int status = 0;
    pid_t child;

    snprintf(plan, sizeof plan, "%s.joining", output);
    snprintf(tokens, sizeof tokens, "%s.joining.tokens", output);
    snprintf(older, sizeof older, "%s/older", folder);
    snprintf(last, sizeof last, "%s/last", folder);
    snprintf(copied, sizeof copied, "%s/copied", folder);
    put_parts();
    child = fork();
    if (child == 0) {
        join_watched(keep_plan, &freed, NULL);
        _exit(1);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    T_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    T_CHECK(copy_file(plan, last));
    T_CHECK(copy_file(tokens, copied));
    T_CHECK(copy_file(older, plan));
    check_refused(LEAT_E_RECORD, "the plan of a joining, is damaged: keep ");
    T_CHECK(same_file(tokens, copied));
    T_CHECK(same_file(plan, older));
    T_CHECK(copy_file(last, plan));
    T_OK(join(&t_err));
    check_joined();
}

/* A plan whose sum is right, and a line of which has this number, or no path. */
static void put_malformed_plan(const char *number, bool has_path)
{
    uint64_t at = size_of(with(reference, ".tokens")) / 2;
    char plan[700], copied[600], done[26], text[8192];
    char *old, *files, *line;
    size_t size;
    FILE *f;

    snprintf(plan, sizeof plan, "%s.joining", output);
    snprintf(copied, sizeof copied, "%s/copied", folder);
    put_parts();
    T_STATUS(join_watched(stop_in_the_middle, &at, &t_err), LEAT_E_STOPPED);
    T_CHECK(copy_file(plan, copied));
    old = (char *)file_bytes(plan, &size);
    snprintf(done, sizeof done, "%s", strstr(old, "done "));
    files = strchr(strstr(old, "done "), '\n') + 1;
    line = strstr(files, "tokens ");
    snprintf(text, sizeof text, "%.*stokens %s%s", (int)(line - files), files, number,
             has_path ? strchr(strchr(line, ' ') + 1, ' ') : strchr(line, '\n'));
    free(old);
    f = fopen(plan, "w");
    T_CHECK(f && fprintf(f, "leat joining 1\n%s check %016llx\n%s", done,
                         (unsigned long long)XXH3_64bits_withSeed(done, strlen(done), XXH3_64bits(text, strlen(text))),
                         text) > 0);
    T_EQ(fclose(f), 0);
    check_refused(LEAT_E_RECORD, "the plan of a joining, is damaged: keep ");
    T_CHECK(copy_file(copied, plan));
    T_OK(join(&t_err));
    check_joined();
}

/* ---- What is refused ---- */

static void refuse(void)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *names[PARTS] = { parts[0], parts[1], parts[2], parts[3] };
    const char *others[] = { "/dev/shm", getenv("LEAT_TEST_DISK"), "/tmp", "/var/tmp" };
    char none[40];
    struct stat here, other;

    put_parts();
    o.in_place = 1;
    T_STATUS(leat_merge(output, names, 3, &o, NULL, &t_err), LEAT_E_UNSUPPORTED); /* not all */
    T_STATUS(leat_merge(parts[0], names, PARTS, &o, NULL, &t_err), LEAT_E_EXISTS);
    o.force = 1;
    T_STATUS(leat_merge(output, names, PARTS, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.force = 0;
    o.shuffle = 1;
    T_STATUS(leat_merge(output, names, PARTS, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.shuffle = 0;
    T_EQ(link(with(parts[1], ".tokens"), t_path(folder, "second")), 0);
    T_STATUS(leat_merge(output, names, PARTS, &o, NULL, &t_err), LEAT_E_UNSUPPORTED);
    T_EQ(unlink(t_path(folder, "second")), 0);
    T_EQ(stat(work, &here), 0);
    snprintf(none, sizeof none, "leat-no-output-%d", (int)getpid());
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] && access(others[i], W_OK) == 0 && stat(others[i], &other) == 0 && other.st_dev != here.st_dev) {
            T_REFUSED(leat_merge(t_path(others[i], none), names, PARTS, &o, NULL, &t_err), LEAT_E_UNSUPPORTED,
                      "/part-1 cannot be joined in place: it is on another disk than the output");
        }
    check_what_opens();
    for (unsigned i = 0; i < PARTS; i++)
        T_CHECK(same_file(with(parts[i], ".tokens"), with(kept[i], ".tokens")));
}

int main(void)
{
    uint64_t seed = t_draw(), stride = t_step(100);

    folder = t_folder();
    pack_parts();
    refuse();
    T_OK(join(&t_err));
    check_joined();
    stop();
    change_sizes();
    put_older_plan();
    put_malformed_plan("x", true);
    put_malformed_plan("5", false);
    write_both();
    disturb(FAULT_SYSTEM, FAULT_KILL_BEFORE, 0, stride, seed);
    disturb(FAULT_SYSTEM, FAULT_KILL_AFTER, 0, stride, seed + 1);
    disturb(FAULT_SYSTEM, FAULT_KILL_AFTER, FAULT_NO_RENAMEAT2, stride, seed + 2);
    disturb(FAULT_SYSTEM, FAULT_POWER_CUT, 0, stride, seed + 3);
    only = "fsync";
    disturb(FAULT_SYSTEM, FAULT_POWER_CUT, 0, 1, seed);
    only = NULL;
    disturb(FAULT_SYSTEM, FAULT_ONCE, 0, stride, seed + 4);
    disturb(FAULT_MEMORY, FAULT_ONCE, 0, t_step(40), seed + 5);
    return t_end();
}
