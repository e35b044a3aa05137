/*
 * pack.c: `leat-bench pack`: measures runs of `leat pack`, one for each number of threads. It shows the CPU time of
 * each step, the rate that these times allow on the given threads, and how much of it the run reached. It also shows
 * the *serial* work, which only one thread at a time can do, in this program or in the kernel: it decides how many
 * cores can be of use.
 */
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "commands/packing/pack_options.h"
#include "commands/packing/pack_report.h"
#include "corpus/streams/byte_stream.h"
#include "subcommands.h"

#define STEPS       4
#define SERIALS     5
#define LITTLE_TEXT (16u << 20)       /* a text so small that starting and finishing take as long as the rest */
#define STORE_BYTES ((size_t)1 << 20) /* bytes that the writer writes at once */
#define STORE_MOST  ((uint64_t)1 << 30)
#define SPAN_MOST   ((uint64_t)64 << 20) /* larger frames are rarely decompressed ahead */

struct step_row {
    const char *name, *what;
    double cpu_s;
};

struct figures {
    struct step_row steps[STEPS];
    struct step_row serial[SERIALS];
    double text;     /* bytes of text that this run packed itself, to which the times belong */
    double cpu_s;    /* of all steps */
    double serial_s; /* CPU seconds of the serial work, and their share of all CPU time */
    double serial_share;
    double cores; /* so many cores are of use: on more, some serial work takes longer than all else */
    double wall_s;
    double allowed_s; /* seconds that the steps need at least: their CPU time divided by the threads */
    unsigned threads;
    const char *bound; /* name of the step that takes the most */
    uint64_t documents, tokens, text_bytes, peak_memory;
    uint64_t units;
    double lock_wait_ns;            /* time of waiting for a lock, per unit */
    struct leat_pack_stream stream; /* the report's */
    double wait_share, divisible;   /* share of the stream's time that was waiting, and of its bytes that several
                                       threads can decompress */
};

/* ---- Figures ---- */

/* Writes a file. Returns the CPU time, which is negative if that fails. */
static double write_seconds(int fd, const uint8_t *block, uint64_t bytes)
{
    double began = machine_thread_seconds();

    for (uint64_t done = 0; done < bytes; done += STORE_BYTES)
        if (pwrite(fd, block, STORE_BYTES, (off_t)done) != (ssize_t)STORE_BYTES)
            return -1;
    return machine_thread_seconds() - began;
}

/*
 * Measures the CPU time of giving a file its blocks and marking them as written, for which direct writes wait for
 * each other. It is the time to reserve the blocks, and the time by which writing them first takes longer than
 * writing them again. A negative result means that it failed.
 */
static double direct_seconds(int fd, const uint8_t *block, uint64_t bytes)
{
    double began = machine_thread_seconds(), reserving, first, second;
    bool reserved = file_reserve(fd, 0, bytes);

    reserving = machine_thread_seconds() - began;
    if (!reserved || fcntl(fd, F_SETFL, O_DIRECT) != 0)
        return -1;
    first = write_seconds(fd, block, bytes);
    second = write_seconds(fd, block, bytes);
    return first < 0 || second < 0 ? -1 : reserving + (first > second ? first - second : 0);
}

/*
 * Measures the CPU time of what the kernel lets only one thread at a time do while the token file is written. A file
 * beside it is written for that, of at most 1 GiB. Part of the tokens may have bypassed the page cache. A negative
 * result means that this is not possible.
 */
static double store_seconds(const char *output, uint64_t direct_bytes)
{
    uint8_t *block = aligned_alloc(FILE_DIRECT_ALIGN, STORE_BYTES);
    double cached = -1, direct = 0, share;
    char path[4096];
    uint64_t bytes;
    struct stat st;
    int fd;

    if (!block || snprintf(path, sizeof path, "%s.tokens", output) >= (int)sizeof path || stat(path, &st) != 0 ||
        st.st_size == 0) {
        free(block);
        return -1;
    }
    memset(block, 0x5a, STORE_BYTES);
    share = (double)direct_bytes / (double)st.st_size;
    bytes = (uint64_t)st.st_size < STORE_MOST ? (uint64_t)st.st_size : STORE_MOST;
    bytes = (bytes + STORE_BYTES - 1) / STORE_BYTES * STORE_BYTES;
    fd = open(dirname(path), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        cached = write_seconds(fd, block, bytes);
    if (cached >= 0 && direct_bytes > 0)
        direct = ftruncate(fd, 0) == 0 ? direct_seconds(fd, block, bytes) : -1;
    if (fd >= 0)
        close(fd);
    free(block);
    if (cached < 0 || direct < 0)
        return -1;
    return (cached * (1 - share) + direct * share) * (double)st.st_size / (double)bytes;
}

/* Returns the share of an input that lies in frames or members which threads decompress beside each other. */
static double divisible(const struct leat_pack_stream *stream)
{
    struct byte_stream *s;
    double share;

    if (!*stream->name || byte_stream_open(&s, stream->name, NULL) != LEAT_OK)
        return 0;
    share = byte_stream_divisible(s, SPAN_MOST);
    byte_stream_close(s);
    return share;
}

/* Sets the figures of serial work. Cutting, giving places and storing go on beside each other, and beside all other
 * work; the beginning and the end do not. */
static void figure_serial(struct figures *f, const struct leat_pack_serial *s, double store_s)
{
    double shared_ns = f->divisible * (double)f->stream.decompress_ns;
    const double ns[SERIALS] = { (double)s->begin_ns, (double)s->cut_ns - shared_ns, (double)s->place_ns,
                                 store_s > 0 ? store_s * 1e9 : 0, (double)s->finish_ns };
    static const struct step_row rows[SERIALS] = {
        { "begin", "finding inputs, opening the output", 0 },
        { "cut", "the slowest input: cutting units, and decompressing what is in one piece", 0 },
        { "place", "computing where documents go", 0 },
        { "store", "the kernel's part of writing tokens: copying, or with --write direct allocating; measured alone",
          0 },
        { "finish", "writing the index", 0 },
    };
    double longest = 0, ends = (ns[0] + ns[4]) / 1e9;

    for (unsigned i = 0; i < SERIALS; i++) {
        f->serial[i] = rows[i];
        f->serial[i].cpu_s = ns[i] / 1e9;
        f->serial_s += f->serial[i].cpu_s;
        if (i > 0 && i < SERIALS - 1 && f->serial[i].cpu_s > longest)
            longest = f->serial[i].cpu_s;
    }
    f->serial_share = machine_per(f->serial_s, f->cpu_s + ends);
    f->cores = machine_per(f->cpu_s + ends, longest + ends);
}

static struct figures figure(const struct leat_pack_report *r, uint64_t text, double wall_s, unsigned threads,
                             double store_s)
{
    struct figures f = { .steps = { { "read", "reading and decompressing", (double)r->times.read_ns / 1e9 },
                                    { "scan", "finding records and texts", (double)r->times.scan_ns / 1e9 },
                                    { "encode", "tokens of the texts", (double)r->times.encode_ns / 1e9 },
                                    { "write", "hashes, index, files", (double)r->times.write_ns / 1e9 } },
                         .text = (double)text,
                         .wall_s = wall_s,
                         .threads = threads,
                         .documents = r->documents,
                         .tokens = r->tokens,
                         .text_bytes = r->text_bytes,
                         .peak_memory = r->peak_memory,
                         .units = r->units,
                         .lock_wait_ns = machine_per((double)r->lock_wait_ns, (double)r->units) };
    double max = -1;

    for (unsigned i = 0; i < STEPS; i++) {
        f.cpu_s += f.steps[i].cpu_s;
        if (f.steps[i].cpu_s > max) {
            max = f.steps[i].cpu_s;
            f.bound = f.steps[i].name;
        }
    }
    f.allowed_s = f.cpu_s / threads;
    f.stream = r->stream;
    f.wait_share = pack_stream_share(r);
    f.divisible = divisible(&r->stream);
    figure_serial(&f, &r->serial, store_s);
    return f;
}

/* ---- For people ---- */

static void print_row(const struct step_row *row, const struct figures *f)
{
    printf("%-8s  %10s  %12s  %4.1f %%  %s\n", row->name, units_duration(row->cpu_s).text,
           units_rate(machine_per(f->text, row->cpu_s), "B").text, f->cpu_s > 0 ? 100 * row->cpu_s / f->cpu_s : 0.0,
           row->what);
}

static void print_serial(const struct figures *f)
{
    printf("Work for one thread at a time:\n");
    for (unsigned i = 0; i < SERIALS; i++)
        print_row(&f->serial[i], f);
    printf("%.2f %% of the CPU time is such work; more than %.0f core%s no help.\n", 100 * f->serial_share, f->cores,
           f->cores < 1.5 ? " is" : "s are");
    printf("%s; for each, threads waited %s for each other's lock.\n", units_counted(f->units, "unit").text,
           units_duration(f->lock_wait_ns / 1e9).text);
    if (*f->stream.name)
        cli_say("%s: several threads can decompress %.0f %% of it; threads waited for it %.0f %% of their time.",
                f->stream.name, 100 * f->divisible, 100 * f->wait_share);
}

static void print_table(const struct figures *f)
{
    printf("%-8s  %10s  %12s  %6s\n", "step", "CPU time", "text, alone", "share");
    for (unsigned i = 0; i < STEPS; i++)
        print_row(&f->steps[i], f);
    printf("%-8s  %10s  %12s\n", "all", units_duration(f->cpu_s).text,
           units_rate(machine_per(f->text, f->cpu_s), "B").text);
    print_serial(f);
    printf("%u thread%s %s; the run took %s: %s of text", f->threads, f->threads > 1 ? "s allow" : " allows",
           units_duration(f->allowed_s).text, units_duration(f->wall_s).text,
           units_rate(machine_per(f->text, f->wall_s), "B").text);
    if (f->text < LITTLE_TEXT)
        printf(". With so little text, most of that is start and end: vocabulary, threads, files.\n");
    else
        printf(", %.0f %% of what they allow. %s takes the most.\n", 100 * machine_per(f->allowed_s, f->wall_s),
               f->bound);
    printf("%s tokens in %s documents, memory at most %s.\n", units_count(f->tokens).text,
           units_count(f->documents).text, units_bytes(f->peak_memory).text);
}

/* Prints the runs as rows of one table. */
static void print_curve(const struct figures *runs, unsigned count)
{
    printf("\n%7s  %10s  %12s  %11s  %10s\n", "threads", "time", "text", "times run 1", "CPU time");
    for (unsigned i = 0; i < count; i++)
        printf("%7u  %10s  %12s  %11.2f  %10s\n", runs[i].threads, units_duration(runs[i].wall_s).text,
               units_rate(machine_per(runs[i].text, runs[i].wall_s), "B").text,
               machine_per(runs[0].wall_s, runs[i].wall_s), units_duration(runs[i].cpu_s).text);
}

/* ---- For programs ---- */

static void json_steps(struct json *j, const char *name, const struct step_row *rows, unsigned count)
{
    json_open_object(j, name);
    for (unsigned i = 0; i < count; i++)
        json_double(j, rows[i].name, rows[i].cpu_s);
}

static void json_run(struct json *j, const struct figures *f)
{
    json_u64(j, "documents", f->documents);
    json_u64(j, "tokens", f->tokens);
    json_u64(j, "text_bytes", f->text_bytes);
    json_double(j, "seconds", f->wall_s);
    json_double(j, "mb_per_s", machine_per(f->text, f->wall_s) / 1e6);
    json_u64(j, "threads", f->threads);
    json_steps(j, "cpu_seconds", f->steps, STEPS);
    json_close_object(j);
    json_string(j, "bound", f->bound);
    json_double(j, "share_of_bound", machine_per(f->allowed_s, f->wall_s));
    json_steps(j, "serial_seconds", f->serial, SERIALS);
    json_double(j, "all", f->serial_s);
    json_close_object(j);
    json_double(j, "cores_of_use", f->cores);
    json_u64(j, "units", f->units);
    json_double(j, "lock_wait_ns", f->lock_wait_ns);
    if (*f->stream.name) {
        json_open_object(j, "stream");
        json_string(j, "name", f->stream.name);
        json_double(j, "wait_share", f->wait_share);
        json_double(j, "divisible", f->divisible);
        json_close_object(j);
    }
    json_u64(j, "peak_memory", f->peak_memory);
}

/* Prints the figures of the last run; of several runs, also a list. */
static void print_json(const struct figures *runs, unsigned count)
{
    struct json j;

    machine_json_begin(&j);
    json_run(&j, &runs[count - 1]);
    if (count > 1) {
        json_open_array(&j, "runs");
        for (unsigned i = 0; i < count; i++) {
            json_open_object(&j, NULL);
            json_run(&j, &runs[i]);
            json_close_object(&j);
        }
        json_close_array(&j);
    }
    machine_json_end(&j);
}

/* ---- Running ---- */

static enum leat_status pack_once(struct pack_values *v, const struct options_parsed *parsed,
                                  struct leat_pack_report *report, struct figures *f, struct leat_error *err)
{
    struct leat_pack_options *options = &v->pack;
    struct pack_bar bar;
    double began;
    enum leat_status s;

    *report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    pack_bar_begin(&bar, v, options);
    began = cli_now();
    s = leat_pack(v->output, parsed->words, parsed->count, options, report, err);
    began = cli_now() - began;
    pack_bar_end(&bar);
    if (s == LEAT_OK)
        *f = figure(report, pack_bar_text(&bar, report), began, options->threads > 0 ? options->threads : thread_cpus(),
                    store_seconds(v->output, report->direct_bytes));
    pack_bar_free(&bar);
    return s;
}

/* Removes the files of dataset `name`. */
static void remove_dataset(const char *name)
{
    static const char *const ends[] = { ".leat", ".tokens" };
    char path[4096 + 8];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (snprintf(path, sizeof path, "%s%s", name, ends[i]) < (int)sizeof path)
            unlink(path);
}

static int pack(const struct command *self, struct pack_values *v, const struct options_parsed *parsed)
{
    static const struct pack_notices none;
    unsigned count = v->threads.runs > 0 ? v->threads.runs : 1;
    struct leat_pack_report report;
    struct figures runs[PACK_RUNS];
    struct leat_tokenizer *t;
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    int code;

    if (v->dry_run)
        return command_wrong(self, "--dry-run belongs to leat pack: this command measures a run");
    if (v->run || !v->output)
        return command_wrong(
            self, "--output NAME is required, and --run belongs to leat pack: this command measures one run");
    code = pack_options_take(self, parsed, v, &t);
    if (code != CLI_DONE)
        return code;
    if (!v->json)
        machine_print();
    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        v->pack.threads = v->threads.counts[i];
        if (i > 0) /* a run that replaces the dataset has to free its pages: a tenth of its time with two threads on a
                  tmpfs */
            remove_dataset(v->output);
        s = pack_once(v, parsed, &report, &runs[i], &err);
        if (s == LEAT_OK && !v->json)
            print_table(&runs[i]);
    }
    leat_tokenizer_close(t);
    if (s != LEAT_OK)
        return pack_bar_say_failed(v, &none, &report, &err);
    if (v->json)
        print_json(runs, count);
    else if (count > 1)
        print_curve(runs, count);
    return cli_finish_stdout(CLI_DONE);
}

int bench_pack(const struct command *self, int argc, char **argv)
{
    struct pack_values values = PACK_VALUES_INIT;
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = pack(self, &values, &parsed);
    pack_values_free(&values);
    options_free(&parsed);
    return code;
}
