/*
 * limits.c: `leat-bench limits DIR`: measures this machine's ceilings: memory, page cache, disk, hashes and
 * decompression.
 *
 * The cases come in groups, which the files limits_*.c fill. measure/contest.h measures a group, which is printed
 * when it is done. The test files in DIR have no name, so nothing remains, however the command ends.
 */
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/thread.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/progress.h"
#include "cli/units.h"

#define MIB           ((uint64_t)1 << 20)
#define STANDARD_SIZE (4096 * MIB)
#define MIN_SIZE      (16 * MIB)
#define MAX_WRITTEN   (1024 * MIB) /* bytes that one run of the writing row writes */
#define MAX_BUFFER    (256 * MIB)

struct limits_values {
    uint64_t bytes, runs;
    bool json;
};

const struct option_row bench_limits_options[] = {
    { BENCH_OPTION(
          limits_values, "size", OPTION_SIZE, bytes, "SIZE",
          "size of the test file; larger than memory shows the disk alone. Below 256 MiB, the rows of memory use "
          "the same size"),
      .standard = "4GiB, or less if memory or disk are small", .min = MIN_SIZE },
    BENCH_RUNS(limits_values, "5", "runs of each measurement, after one to warm up"),
    BENCH_JSON(limits_values),
    OPTIONS_END
};

/* ---- The test files --------------------------------------------------------------------------------------------- */

/* Creates a file in the folder and removes its name at once. *direct (may be NULL) becomes the same file opened with
 * O_DIRECT. */
static enum leat_status create_nameless(struct limits *l, int *fd, int *direct, struct leat_error *err)
{
    char *path = path_join(l->folder, "leat-bench-XXXXXX", NULL);
    enum leat_status s = LEAT_OK;

    if (!path)
        return status_no_memory(err, strlen(l->folder));
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0) {
        s = status_set_os(err, errno, l->folder, "cannot create a test file in %s", l->folder);
    } else {
        if (direct) {
            *direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
            l->direct_errno = *direct < 0 ? errno : 0;
        }
        unlink(path);
    }
    free(path);
    return s;
}

static void fill_random(struct limits *l, uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t r = contest_random(&l->seed);

        memcpy(to + i, &r, 8);
    }
}

/* Fills the file with random bytes, so that no file system can store less. */
static enum leat_status fill_file(struct limits *l, struct progress *p, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; at < l->file_bytes && s == LEAT_OK; at += MIB) {
        fill_random(l, l->to, MIB);
        s = file_write_at(l->file, at, l->to, MIB, "the test file", err);
        progress_update(p, at, l->file_bytes, NULL);
    }
    return s == LEAT_OK ? file_sync(l->file, "the test file", err) : s;
}

/* Chooses the size of the files in whole MiB: what was asked for, or what fits. Fails if the disk has no room. */
static enum leat_status choose_sizes(struct limits *l, uint64_t asked, struct leat_error *err)
{
    struct statvfs fs;
    uint64_t room, memory = machine_memory();

    if (statvfs(l->folder, &fs) != 0)
        return status_set_os(err, errno, l->folder, "cannot read the folder %s", l->folder);
    room = (uint64_t)fs.f_bavail * fs.f_frsize / 10 * 9;
    l->file_bytes = asked;
    if (asked == 0) {
        l->file_bytes = STANDARD_SIZE < memory / 4 ? STANDARD_SIZE : memory / 4;
        if (l->file_bytes > room / 2)
            l->file_bytes = room / 2;
    }
    l->file_bytes -= l->file_bytes % MIB;
    l->hot_bytes = l->file_bytes < memory / 4 ? l->file_bytes : memory / 4 / MIB * MIB;
    l->write_bytes = l->file_bytes < MAX_WRITTEN ? l->file_bytes : MAX_WRITTEN;
    l->buffer_bytes = l->file_bytes < MAX_BUFFER ? l->file_bytes : MAX_BUFFER;
    if (l->file_bytes < MIN_SIZE || l->file_bytes > room || l->write_bytes > room - l->file_bytes)
        return status_set(err, LEAT_E_NO_SPACE, "%s has room for %s, too little for test files of %s and %s; %s",
                          l->folder, units_bytes(room).text, units_bytes(l->file_bytes).text,
                          units_bytes(l->write_bytes).text, "choose another folder or a smaller --size");
    return LEAT_OK;
}

static enum leat_status open_limits(struct limits *l, uint64_t asked, struct leat_error *err)
{
    struct progress p;
    enum leat_status s = choose_sizes(l, asked, err);

    if (s != LEAT_OK)
        return s;
    l->from = limits_map(l->buffer_bytes);
    l->to = limits_map(l->buffer_bytes);
    if (!l->from || !l->to)
        return status_no_memory(err, 2 * (uint64_t)l->buffer_bytes);
    fill_random(l, l->from, l->buffer_bytes);
    s = create_nameless(l, &l->file, &l->direct, err);
    if (s == LEAT_OK)
        s = create_nameless(l, &l->scratch, NULL, err);
    if (s != LEAT_OK)
        return s;
    progress_begin(&p, PROGRESS_AUTO, "test file", PROGRESS_BYTES);
    s = fill_file(l, &p, err);
    progress_end(&p);
    return s;
}

static void close_limits(struct limits *l)
{
    file_close(&l->file);
    file_close(&l->direct);
    file_close(&l->scratch);
    limits_unmap(l->map, l->hot_bytes);
    limits_unmap(l->from, l->buffer_bytes);
    limits_unmap(l->to, l->buffer_bytes);
}

/* ---- Running ---------------------------------------------------------------------------------------------------- */

static bool (*const groups[])(struct limits_group *, struct limits *) = { limits_memory, limits_cache, limits_hash,
                                                                          limits_zstd, limits_disk };

/* Measures a group of cases and prints it into `j`, or as a table if `j` is NULL. */
static enum leat_status run_group(bool (*make)(struct limits_group *, struct limits *), struct limits *l, uint64_t runs,
                                  struct json *j, struct leat_error *err)
{
    struct limits_group *g = calloc(1, sizeof *g);
    struct contest_result results[LIMITS_MAX_CASES];
    enum leat_status s = LEAT_E_NO_MEMORY;

    if (g && make(g, l)) {
        s = contest_run(g->title, g->cases, g->count, runs, results, err);
        if (s == LEAT_OK && j)
            contest_json(j, g->key, g->cases, results, g->count);
        else if (s == LEAT_OK)
            contest_print(g->title, g->cases, results, g->count);
        contest_free_results(results, g->count);
        fflush(stdout);
    } else {
        status_set(err, s, "not enough memory to measure");
    }
    if (g && g->release)
        g->release(g->extra);
    free(g);
    return s;
}

static enum leat_status run_groups(struct limits *l, const struct limits_values *v, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct json j;

    if (v->json) {
        machine_json_begin(&j);
        json_string(&j, "folder", l->folder);
        json_u64(&j, "file_bytes", l->file_bytes);
        json_u64(&j, "runs", v->runs);
    } else {
        machine_print();
        cli_say("test file: %s in %s; page cache rows read its first %s; medians of %" PRIu64 " runs",
                units_bytes(l->file_bytes).text, l->folder, units_bytes(l->hot_bytes).text, v->runs);
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0] && s == LEAT_OK; i++)
        s = run_group(groups[i], l, v->runs, v->json ? &j : NULL, err);
    if (v->json && s == LEAT_OK)
        machine_json_end(&j);
    return s;
}

int bench_limits(const struct command *self, int argc, char **argv)
{
    struct limits_values values = { .runs = 5 };
    struct limits l = { .file = -1, .direct = -1, .scratch = -1, .seed = 1 };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    l.folder = parsed.words[0];
    l.cores = thread_cpus();
    s = open_limits(&l, values.bytes, &err);
    if (s == LEAT_OK)
        s = run_groups(&l, &values, &err);
    close_limits(&l);
    return bench_end(&parsed, s, &err);
}
