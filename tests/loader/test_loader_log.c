/*
 * test_loader_log.c: statistics in a file: a line of JSON each time that it is due and one at the end, appended, with
 * the numbers of leat_loader_stats() in any locale; none of a loader that gave nothing, nor of a child; a file that
 * cannot be opened is an error, one that cannot be written any more a notice, without half a line; a line that another
 * left unfinished ends. Lines went to what a link of somebody else led to. python/tests/test_diagnosis.py compares all
 * names and numbers.
 */
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "loading.h"

static char path[600], text[65536];
static struct loading w = { .width = 2, .mean = 60 };

static unsigned lines(void)
{
    FILE *f = fopen(path, "re");
    size_t bytes = f ? fread(text, 1, sizeof text - 1, f) : 0;
    unsigned count = 0;

    if (f)
        fclose(f);
    text[bytes] = '\0';
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\n';
    return count;
}

static struct leat_loader *open_loader(const char *file, uint64_t ms)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;

    o.batch = 6;
    o.ranks.rank = 1;
    o.ranks.world = 2;
    o.stats_file = file;
    o.stats_ms = ms;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    return l;
}

static void take(struct leat_loader *l)
{
    const struct leat_batch *b;

    T_OK(leat_loader_next(l, &b, &t_err));
    leat_batch_release(b, NULL);
}

static void last_line(void)
{
    struct leat_loader *l = open_loader(path, 0);
    pid_t child;
    int status;

    take(l);
    take(l);
    T_EQ(lines(), 0);
    child = fork();
    if (child == 0) {
        leat_loader_close(l);
        _exit(0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    T_EQ(lines(), 0);
    leat_loader_close(l);
    T_EQ(lines(), 1);
    T_CONTAINS(text, "{\"time\": ");
    T_CONTAINS(text, ", \"rank\": 1, \"batches\": 2, \"rows\": 6, \"tokens\": 600, ");
    T_CONTAINS(text, "\"next\": {\"count\": 1, \"mean\": 0.");
    T_CONTAINS(text, ", \"waiting_share\": ");
    T_CONTAINS(text, "\"device\": \"");
    T_CONTAINS(text, "/d\", \"share\": 1.000000, \"rows\": 6, \"tokens\": 600, \"loss_tokens\": 600}]}\n");
    leat_loader_close(open_loader(path, 0)); /* it gave nothing */
    leat_loader_close(open_loader("", 0));
    T_EQ(lines(), 1);
}

static void now_and_then(void)
{
    struct leat_loader *l = open_loader(path, 1);

    while (lines() < 4)
        take(l);
    T_CONTAINS(text, "}\n{\"time\": ");
    leat_loader_close(l);
}

/* Of many sources, those 64 of which most was given, in the order of the plan, and the sums of the others. */
static void many_sources(const char *name)
{
    enum { SOURCES = 100, GIVEN = 50 };
    static char plan[SOURCES * 640], listed[80];
    struct leat_loader_source got[SOURCES];
    struct leat_plan *before = w.plan;
    uint64_t tokens = 0, all = 0;
    size_t used = 0;
    struct leat_loader *l;
    const char *at;
    unsigned shown = 0;

    for (unsigned i = 0; i < SOURCES; i++) /* the later ones are larger */
        used += (size_t)snprintf(plan + used, sizeof plan - used, "source %s:%u\n", name, i + 1);
    snprintf(plan + used, sizeof plan - used, "seq-len 100\n");
    w.plan = loading_plan(plan);
    T_CHECK(truncate(path, 0) == 0);
    l = open_loader(path, 0);
    for (unsigned i = 0; i < GIVEN; i++)
        take(l);
    T_EQ(leat_loader_sources(l, 0, SOURCES, got), SOURCES);
    leat_loader_close(l);
    T_EQ(lines(), 1);
    at = strstr(text, "\"sources\": [");
    for (unsigned i = 0; at && (at = strstr(at, "\"tokens\": ")); i++, at += 10) {
        shown += i < 64;
        tokens += strtoull(at + 10, NULL, 10);
    }
    for (unsigned i = 0; i < SOURCES; i++)
        all += got[i].tokens;
    T_EQ(shown, 64);
    T_EQ(all, GIVEN * 300);
    T_EQ(tokens, all); /* with those of the others */
    T_CONTAINS(text, "\"other_sources\": {\"sources\": 36, \"share\": 0.");
    snprintf(listed, sizeof listed, "0.019802, \"rows\": %u, \"tokens\": %u, \"loss", (unsigned)got[99].rows,
             (unsigned)got[99].tokens); /* 100 of 5050 */
    T_CHECK(got[99].tokens > got[0].tokens);
    T_CONTAINS(text, listed);
    leat_plan_close(w.plan);
    w.plan = before;
}

/* A line is torn: one that was there ends before the next, and one of this loader's is taken back. */
static void torn(void)
{
    const off_t most_bytes = (off_t)1 << 30;
    struct rlimit old, most;
    struct stat st;
    struct leat_loader *l;
    FILE *f = fopen(path, "we");
    char notice[512] = "";

    T_CHECK(f && fputs("{\"time\": 1", f) >= 0 && fclose(f) == 0);
    l = open_loader(path, UINT64_MAX); /* never due, but for the end */
    take(l);
    T_EQ(lines(), 1);
    leat_loader_close(l);
    T_EQ(lines(), 2);
    T_CONTAINS(text, "{\"time\": 1\n{\"time\": ");
    signal(SIGXFSZ, SIG_IGN);
    T_CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    most = old;
    most.rlim_cur = strlen(text) + 20;
    l = open_loader(path, 1);
    T_CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    while (!strstr(notice, "statistics are no longer written")) {
        take(l);
        leat_loader_notice(l, notice, sizeof notice);
    }
    leat_loader_close(l);
    T_CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    T_EQ(lines(), 2);
    T_CHECK(text[strlen(text) - 1] == '\n');
    /* not even the torn line can be ended; the file is so long that other files have room below the limit */
    f = fopen(path, "we");
    T_CHECK(f && fputs("{\"time\": 1", f) >= 0 && fclose(f) == 0 && truncate(path, most_bytes) == 0);
    most.rlim_cur = (rlim_t)most_bytes;
    T_CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    l = open_loader(path, 1);
    T_CHECK(leat_loader_notice(l, notice, sizeof notice));
    T_CONTAINS(notice, "statistics are no longer written");
    take(l);
    leat_loader_close(l);
    T_CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    T_CHECK(stat(path, &st) == 0 && st.st_size == most_bytes);
    /* and one without a byte is no other file */
    T_CHECK(truncate(path, 0) == 0);
    l = open_loader(path, 0);
    take(l);
    leat_loader_close(l);
    T_EQ(lines(), 1);
}

static void cannot_be_written(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;
    char notice[512] = "", link_name[700];
    int reader;

    o.batch = 1;
    o.stats_file = "/nowhere/run.jsonl";
    T_REFUSED(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_NO_FILE,
              "cannot write statistics to /nowhere/run.jsonl");
    snprintf(link_name, sizeof link_name, "%s.link", path);
    o.stats_file = link_name;
    for (unsigned i = 0; i < 2; i++) {
        T_EQ(i == 0 ? symlink(path, link_name) : link(path, link_name), 0);
        T_REFUSED(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_EXISTS,
                  i == 0 ? "is a symbolic link, where leat writes a file" : "has a second name (a hard link)");
        T_EQ(unlink(link_name), 0);
    }
    T_EQ(mkfifo(link_name, 0600), 0); /* opening it waited for ever */
    T_REFUSED(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_IO, "is a pipe that no process reads from");
    reader = open(link_name, O_RDONLY | O_NONBLOCK);
    l = open_loader(link_name, 0);
    take(l);
    leat_loader_close(l);
    T_CHECK(read(reader, notice, sizeof notice - 1) > 1 && notice[0] == '{');
    T_EQ(close(reader), 0);
    T_EQ(unlink(link_name), 0);
    memset(notice, 0, sizeof notice);
    if (access("/dev/full", W_OK) != 0)
        return;
    l = open_loader("/dev/full", 1);
    while (!strstr(notice, "statistics are no longer written")) {
        take(l);
        leat_loader_notice(l, notice, sizeof notice);
    }
    T_CONTAINS(notice, "No space left");
    take(l);
    leat_loader_close(l);
}

/* Lines were appended to the tokens that were loaded, and the dataset was refused from then on. */
static void file_of_dataset(const char *name)
{
    static const char *const suffixes[] = { ".tokens", ".leat", ".link" };
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;
    char file[700], link_name[700];
    FILE *f;

    snprintf(file, sizeof file, "%s.tokens", name);
    snprintf(link_name, sizeof link_name, "%s.link", name);
    T_CHECK(link(file, link_name) == 0);
    o.batch = 1;
    o.stats_file = file;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(file, sizeof file, "%s%s", name, suffixes[i]);
        T_REFUSED(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_ARGUMENT,
                  "which holds something else: choose another name");
    }
    T_CHECK(unlink(link_name) == 0);
    snprintf(file, sizeof file, "%s.idx", name); /* another tool's index */
    f = fopen(file, "w");
    T_CHECK(f && fputs("MMIDIDX", f) >= 0 && fclose(f) == 0);
    T_STATUS(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(unlink(file) == 0);
}

int main(void)
{
    char name[600];

    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed, numbers have commas */
    snprintf(name, sizeof name, "%s/d", t_folder());
    snprintf(path, sizeof path, "%s/run.jsonl", t_folder());
    loading_write(name, 100000, 2, 60);
    w.plan = loading_plan(t_text("source %s\nseq-len 100\n", name));
    last_line();
    now_and_then();
    torn();
    cannot_be_written();
    many_sources(name);
    file_of_dataset(name);
    leat_plan_close(w.plan);
    return t_end();
}
