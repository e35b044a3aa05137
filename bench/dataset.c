/*
 * dataset.c: `leat-bench dataset NAME`: how long opening takes, and how fast verifying is compared with the fastest
 * bare loop that hashes the same bytes, in the same rounds.
 *
 * There are two bare loops, one that reads the files and one that maps them; the better one counts. Each case runs
 * on one thread and on all, and the cases take turns (measure/contest.h), so that a machine that slows down slows all
 * of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/thread.h"
#include "bench/measure/bare_loops.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "subcommands.h"

#define READ_BYTES  ((uint64_t)256 << 10) /* hashed while it is still in the level 2 cache */
#define CHUNK_BYTES ((uint64_t)4 << 20)   /* what a thread takes at once */
#define MAX_CASES   8u

struct dataset_values {
    uint64_t runs, opens;
    bool opening, json;
};

const struct option_row bench_dataset_options[] = {
    BENCH_RUNS(dataset_values, "7", "runs of each measurement, after one to warm up"),
    { BENCH_OPTION(dataset_values, "opens", OPTION_COUNT, opens, "N",
                   "how many times a run opens and closes the dataset"),
      .standard = "1000", .min = 1, .max = 1000000 },
    { BENCH_OPTION(dataset_values, "opening", OPTION_FLAG, opening, NULL, "measure opening only") },
    BENCH_JSON(dataset_values),
    OPTIONS_END,
};

/* The files of the dataset, opened for the bare loops. */
struct subject {
    const char *name;
    struct leat_dataset *dataset;
    struct leat_info info;
    uint64_t opens;
    size_t files; /* two for each dataset of the list */
    char **paths;
    int *fds;
    uint64_t *sizes;
};

struct trial {
    struct subject *subject;
    unsigned threads;
    bool map;              /* the bare loop maps instead of reading */
    _Atomic uint64_t next; /* the next chunk to take, counted over all files */
    _Atomic uint64_t sum;  /* of all hashes: so that the compiler keeps the work */
    _Atomic int failed;    /* errno */
};

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static long page_faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static bool run_open(void *context, struct contest_work *work)
{
    struct subject *subject = ((struct trial *)context)->subject;
    long faults = page_faults();

    for (uint64_t i = 0; i < subject->opens; i++) {
        struct leat_dataset *d;
        struct leat_error err;

        if (leat_dataset_open(&d, subject->name, NULL, &err) != LEAT_OK)
            return contest_refuse(work, "%s", err.message);
        leat_dataset_close(d);
    }
    work->items = subject->opens;
    snprintf(work->note, sizeof work->note, "%.1f page faults per open",
             (double)(page_faults() - faults) / (double)subject->opens);
    return true;
}

/* What every way of opening has to do: open both files, ask for their size, read one page of each, close them. */
static bool run_bare_open(void *context, struct contest_work *work)
{
    struct subject *subject = ((struct trial *)context)->subject;
    char page[4096];

    for (uint64_t i = 0; i < subject->opens; i++)
        for (size_t f = 0; f < subject->files; f++) {
            int fd = open(subject->paths[f], O_RDONLY | O_CLOEXEC);
            struct stat st;

            if (fd < 0 || fstat(fd, &st) != 0 || pread(fd, page, sizeof page, 0) < 0) {
                contest_refuse(work, "%s", strerror(errno));
                file_close(&fd);
                return false;
            }
            close(fd);
        }
    work->items = subject->opens;
    return true;
}

/* ---- Verifying -------------------------------------------------------------------------------------------------- */

static bool run_verify(void *context, struct contest_work *work)
{
    struct trial *t = context;
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_error err;

    options.threads = t->threads;
    if (leat_dataset_verify(t->subject->dataset, &options, &report, &err) != LEAT_OK)
        return contest_refuse(work, "%s", err.message);
    work->bytes = t->subject->info.token_bytes + t->subject->info.index_bytes;
    return true;
}

/* Finds chunk `number` of all files; false past the last. */
static bool find_chunk(const struct subject *s, uint64_t number, size_t *file, uint64_t *offset, uint64_t *bytes)
{
    for (*file = 0; *file < s->files; (*file)++) {
        uint64_t chunks = (s->sizes[*file] + CHUNK_BYTES - 1) / CHUNK_BYTES;

        if (number < chunks) {
            *offset = number * CHUNK_BYTES;
            *bytes = s->sizes[*file] - *offset < CHUNK_BYTES ? s->sizes[*file] - *offset : CHUNK_BYTES;
            return true;
        }
        number -= chunks;
    }
    return false;
}

static int hash_read(int fd, uint64_t offset, uint64_t bytes, uint8_t *buffer, uint64_t *sum)
{
    const struct bare_loops *k = bare_loops();

    for (uint64_t done = 0; done < bytes;) {
        uint64_t want = bytes - done < READ_BYTES ? bytes - done : READ_BYTES;
        ssize_t got = pread(fd, buffer, want, (off_t)(offset + done));

        if (got <= 0)
            return got < 0 ? errno : EIO;
        *sum += k->xxh128(buffer, (size_t)got);
        done += (uint64_t)got;
    }
    return 0;
}

static int hash_mapped(int fd, uint64_t offset, uint64_t bytes, uint64_t *sum)
{
    const struct bare_loops *k = bare_loops();
    uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);

    if (map == MAP_FAILED)
        return errno;
    for (uint64_t done = 0; done < bytes; done += READ_BYTES)
        *sum += k->xxh128(map + done, bytes - done < READ_BYTES ? bytes - done : READ_BYTES);
    munmap(map, bytes);
    return 0;
}

/* One thread of a bare loop: takes chunks until none is left. */
static void bare_thread(void *context, unsigned index)
{
    struct trial *t = context;
    uint8_t *buffer = aligned_alloc(4096, READ_BYTES);
    uint64_t sum = 0, offset, bytes;
    size_t file;
    int failed = buffer ? 0 : ENOMEM;

    (void)index;
    while (failed == 0 && find_chunk(t->subject, atomic_fetch_add(&t->next, 1), &file, &offset, &bytes)) {
        int fd = t->subject->fds[file];

        failed = t->map ? hash_mapped(fd, offset, bytes, &sum) : hash_read(fd, offset, bytes, buffer, &sum);
    }
    atomic_fetch_add(&t->sum, sum);
    if (failed != 0)
        atomic_store(&t->failed, failed);
    free(buffer);
}

static bool run_bare(void *context, struct contest_work *work)
{
    struct trial *t = context;

    atomic_store(&t->next, 0);
    atomic_store(&t->failed, 0);
    if (!contest_threads(t->threads, bare_thread, t))
        atomic_store(&t->failed, EAGAIN);
    if (atomic_load(&t->failed) != 0)
        return contest_refuse(work, "%s", strerror(atomic_load(&t->failed)));
    work->bytes = t->subject->info.token_bytes + t->subject->info.index_bytes;
    snprintf(work->note, sizeof work->note, "%s", bare_loops()->name);
    return true;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

static enum leat_status open_file(struct subject *s, const char *part, const char *ending, struct leat_error *err)
{
    char *path = path_append(part, strlen(part), ending, NULL);
    enum leat_status status;

    if (!path)
        return status_no_memory(err, strlen(part));
    s->paths[s->files] = path;
    s->fds[s->files] = -1;
    status = file_open_read(&s->fds[s->files], &s->sizes[s->files], path, err);
    s->files++;
    return status;
}

static enum leat_status open_subject(struct subject *s, struct leat_error *err)
{
    enum leat_status status = leat_dataset_open(&s->dataset, s->name, NULL, err);

    if (status != LEAT_OK)
        return status;
    s->info.size = sizeof s->info;
    leat_dataset_info(s->dataset, &s->info);
    s->paths = calloc(s->info.parts * 2, sizeof *s->paths);
    s->fds = calloc(s->info.parts * 2, sizeof *s->fds);
    s->sizes = calloc(s->info.parts * 2, sizeof *s->sizes);
    if (!s->paths || !s->fds || !s->sizes)
        return status_no_memory(err, s->info.parts * 2 * sizeof *s->paths);
    for (uint64_t i = 0; i < s->info.parts && status == LEAT_OK; i++) {
        struct leat_part part = LEAT_PART_INIT;

        status = leat_dataset_part(s->dataset, i, &part, err);
        if (status == LEAT_OK)
            status = open_file(s, part.name, ".tokens", err);
        if (status == LEAT_OK)
            status = open_file(s, part.name, ".leat", err);
    }
    return status;
}

static void close_subject(struct subject *s)
{
    for (size_t i = 0; i < s->files; i++) {
        file_close(&s->fds[i]);
        free(s->paths[i]);
    }
    free(s->paths);
    free(s->fds);
    free(s->sizes);
    leat_dataset_close(s->dataset);
}

/* The cases: 0 and 1 open; then three each for one thread and for all: verify, bare by reading, bare by mapping. */
static size_t make_cases(struct subject *s, bool opening, struct trial *trials, struct contest_case *cases)
{
    static const char *const names[2][3] = {
        { "verify, 1 thread", "bare XXH3-128 by pread, 1 thread", "bare XXH3-128 by map, 1 thread" },
        { "verify, all threads", "bare XXH3-128 by pread, all threads", "bare XXH3-128 by map, all threads" },
    };
    unsigned cores = thread_cpus();
    size_t count = 2;

    cases[0] =
        (struct contest_case) { .name = "open and close", .item = "open", .context = &trials[0], .run = run_open };
    cases[1] = (struct contest_case) {
        .name = "bare open, read a page, close", .item = "open", .context = &trials[1], .run = run_bare_open
    };
    trials[0].subject = trials[1].subject = s;
    for (unsigned all = 0; !opening && all < (cores > 1 ? 2u : 1u); all++)
        for (unsigned k = 0; k < 3; k++, count++) {
            struct trial *t = &trials[count];

            t->subject = s;
            t->threads = all ? cores : 1;
            t->map = k == 2;
            cases[count] =
                (struct contest_case) { .name = names[all][k], .context = t, .run = k == 0 ? run_verify : run_bare };
        }
    return count;
}

/* Verify's rate over the better bare loop's, of the three results from `first` on. */
static double verify_share(const struct contest_result *first)
{
    double read = contest_spread(&first[1], CONTEST_BYTES_PER_S).median;
    double mapped = contest_spread(&first[2], CONTEST_BYTES_PER_S).median;

    return contest_ratio(&first[0], mapped > read ? &first[2] : &first[1], CONTEST_BYTES_PER_S);
}

static void print_results(const struct subject *s, const struct dataset_values *v, const struct contest_case *cases,
                          const struct contest_result *results, size_t count)
{
    uint64_t bytes = s->info.token_bytes + s->info.index_bytes;
    struct json j;
    bool all = count > 5;

    if (!v->json) {
        machine_print();
        cli_say("dataset: %s, %s in %s documents, hot; medians of %" PRIu64 " runs", s->name, units_bytes(bytes).text,
                units_count(s->info.documents).text, v->runs);
        contest_print("opening", cases, results, 2);
        if (v->opening)
            return;
        contest_print("verifying", cases + 2, results + 2, count - 2);
        printf("\nverify reaches %.0f %% of the better bare loop with 1 thread", 100 * verify_share(results + 2));
        if (all)
            printf(", %.0f %% with %u", 100 * verify_share(results + 5), thread_cpus());
        printf("\n");
        return;
    }
    machine_json_begin(&j);
    json_string(&j, "name", s->name);
    json_u64(&j, "bytes", bytes);
    contest_json(&j, "opening", cases, results, 2);
    if (!v->opening) {
        contest_json(&j, "verifying", cases + 2, results + 2, count - 2);
        json_double(&j, "verify_share_1_thread", verify_share(results + 2));
        json_double(&j, "verify_share_all_threads", verify_share(results + (all ? 5 : 2)));
    }
    machine_json_end(&j);
}

static enum leat_status measure(struct subject *s, const struct dataset_values *v, struct leat_error *err)
{
    struct trial trials[MAX_CASES] = { { .subject = NULL } };
    struct contest_case cases[MAX_CASES];
    struct contest_result results[MAX_CASES];
    size_t count = make_cases(s, v->opening, trials, cases);
    enum leat_status status = contest_run("dataset", cases, count, v->runs, results, err);

    if (status == LEAT_OK)
        print_results(s, v, cases, results, count);
    contest_free_results(results, count);
    return status;
}

int bench_dataset(const struct command *self, int argc, char **argv)
{
    struct dataset_values values = { .runs = 7, .opens = 1000 };
    struct subject subject = { .name = NULL };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    subject.name = parsed.words[0];
    subject.opens = values.opens;
    s = open_subject(&subject, &err);
    if (s == LEAT_OK)
        s = measure(&subject, &values, &err);
    close_subject(&subject);
    return bench_end(&parsed, s, &err);
}
