/*
 * merge.c: `leat-bench merge DIR`: how fast finished datasets are joined, deduplicated, split and shuffled, beside a
 * bare copy of the same files. Everything happens on the disk of DIR, in turns (measure/contest.h), and each output is
 * on disk (fsync) when its time ends, as a merge's is; on a tmpfs it is in memory then.
 *
 * The datasets are made: documents of counting tokens, with random lengths and text hashes; every tenth one
 * repeats the document before it, so that deduplication has documents to drop.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "bench/data/counting.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "leat_pack.h"
#include "subcommands.h"

#define PARTS      4u
#define MAX_LENGTH 1400u /* tokens of a document, at most; half of it on average */
#define TWIN_EVERY 10u
#define COPY_BYTES ((size_t)1 << 20)
#define CASES      5u

struct merge_values {
    uint64_t runs, size, memory, threads;
    bool json;
};

const struct option_row bench_merge_options[] = {
    BENCH_RUNS(merge_values, "3", "runs of each measurement, after one to warm up"),
    { BENCH_OPTION(merge_values, "size", OPTION_SIZE, size, "SIZE", "bytes of tokens that are merged"),
      .standard = "2GiB", .min = (uint64_t)1 << 20, .max = (uint64_t)1 << 50 },
    { BENCH_OPTION(merge_values, "memory", OPTION_SIZE, memory, "SIZE", "as for leat merge"),
      .standard = "leat merge's", .min = 1, .max = (uint64_t)1 << 50 },
    { BENCH_OPTION(merge_values, "threads", OPTION_COUNT, threads, "N", "as for leat merge"), .standard = "all cores",
      .min = 1, .max = 4096 },
    BENCH_JSON(merge_values),
    OPTIONS_END,
};

struct subject {
    const char *folder;
    char parts[PARTS][512];
    const char *names[PARTS];
    char output[512];
    uint64_t token_bytes, memory, threads;
    uint8_t *buffer; /* of the bare copy */
};

/* One way to arrange the datasets. */
struct trial {
    struct subject *subject;
    bool shuffle, dedup, split;
};

static const struct leat_split splits[] = { { "valid", "0.01" }, { "test", "0.1" } };
#define SPLITS (sizeof splits / sizeof splits[0])

static void remove_outputs(const struct subject *s)
{
    char name[640];

    bench_remove(s->output);
    for (size_t i = 0; i < SPLITS; i++) {
        snprintf(name, sizeof name, "%s.%s", s->output, splits[i].name);
        bench_remove(name);
    }
}

/* ---- What is merged ---- */

/* Documents from number `first` on, until the dataset has `tokens`; returns the number after them. */
static enum leat_status write_documents(struct leat_writer *w, uint64_t *number, uint64_t tokens,
                                        struct leat_error *err)
{
    uint16_t ids[MAX_LENGTH];
    enum leat_status s = LEAT_OK;

    for (uint64_t offset = 0; s == LEAT_OK && leat_writer_tokens(w) < tokens; offset++, ++*number) {
        uint64_t text = *number % TWIN_EVERY == TWIN_EVERY - 1 ? *number - 1 : *number;
        uint64_t length = counting_length(text, MAX_LENGTH / 2) % MAX_LENGTH;
        struct leat_origin origin = { .input = 0, .offset = offset, .line = LEAT_NONE };
        struct leat_documents one = LEAT_DOCUMENTS_INIT;
        uint8_t hash[16];

        for (uint64_t i = 0; i < length; i++)
            ids[i] = (uint16_t)counting_token(text * MAX_LENGTH + i, 2);
        bytes_store64(hash, counting_mix(2 * text + 1));
        bytes_store64(hash + 8, counting_mix(2 * text + 2));
        origin.text_hash = hash;
        one.ids = ids;
        one.id_width = 2;
        one.lengths = &length;
        one.origins = &origin;
        one.count = 1;
        s = leat_writer_add(w, &one, err);
    }
    return s;
}

static enum leat_status write_part(const char *name, uint64_t *number, uint64_t tokens, struct leat_error *err)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w = NULL;
    uint64_t input;
    enum leat_status s;

    o.vocabulary = counting_vocabulary(2);
    o.store_hashes = 1;
    o.force = 1;
    s = leat_writer_open(&w, name, &o, err);
    if (s == LEAT_OK)
        s = leat_writer_add_input(w, name, &input, err);
    if (s == LEAT_OK)
        s = write_documents(w, number, tokens, err);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, NULL, err);
    if (s != LEAT_OK)
        leat_writer_abandon(w);
    return s;
}

static enum leat_status make_subject(struct subject *s, const char *folder, uint64_t size, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    uint64_t number = 0;

    s->folder = folder;
    s->token_bytes = size;
    if (strlen(folder) > sizeof s->output - 40)
        return status_set(err, LEAT_E_ARGUMENT, "the name of the folder is too long: %.100s...", folder);
    s->buffer = malloc(COPY_BYTES);
    if (!s->buffer)
        return status_no_memory(err, COPY_BYTES);
    snprintf(s->output, sizeof s->output, "%s/leat-bench-merged", folder);
    for (size_t i = 0; i < PARTS; i++) {
        snprintf(s->parts[i], sizeof s->parts[i], "%s/leat-bench-merge.%zu", folder, i);
        s->names[i] = s->parts[i];
        if (status == LEAT_OK)
            status = write_part(s->parts[i], &number, size / 2 / PARTS, err);
    }
    return status;
}

static void remove_subject(const struct subject *s)
{
    for (size_t i = 0; i < PARTS && *s->parts[i]; i++)
        bench_remove(s->parts[i]);
    remove_outputs(s);
    free(s->buffer);
}

/* ---- The cases ---- */

static bool prepare(void *context, struct contest_work *work)
{
    (void)work;
    remove_outputs(((struct trial *)context)->subject);
    return true;
}

static bool run_merge(void *context, struct contest_work *work)
{
    const struct trial *t = context;
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    struct leat_error err;

    options.shuffle = t->shuffle;
    options.dedup = t->dedup;
    options.splits = t->split ? splits : NULL;
    options.split_count = t->split ? SPLITS : 0;
    options.memory = t->subject->memory;
    options.threads = (uint32_t)t->subject->threads;
    if (leat_merge(t->subject->output, t->subject->names, PARTS, &options, NULL, &err) != LEAT_OK)
        return contest_refuse(work, "%s", err.message);
    work->bytes = t->subject->token_bytes;
    return true;
}

static enum leat_status copy_file(const struct subject *s, const char *name, const char *suffix, int out,
                                  uint64_t *offset, struct leat_error *err)
{
    char path[640];
    uint64_t size = 0;
    enum leat_status status;
    int in;

    snprintf(path, sizeof path, "%s.%s", name, suffix);
    status = file_open_read(&in, &size, path, err);
    for (uint64_t at = 0, here; status == LEAT_OK && at < size; at += here, *offset += here) {
        here = size - at < COPY_BYTES ? size - at : COPY_BYTES;
        status = file_read_at(in, at, s->buffer, here, path, err);
        if (status == LEAT_OK)
            status = file_write_at(out, *offset, s->buffer, here, s->output, err);
    }
    file_close(&in);
    return status;
}

/* Both files of all datasets, one after another: by read and write, one thread. */
static bool run_copy(void *context, struct contest_work *work)
{
    static const char *const suffixes[] = { "tokens", "leat" };
    const struct subject *s = ((struct trial *)context)->subject;
    struct leat_error err;
    enum leat_status status = LEAT_OK;

    for (size_t k = 0; status == LEAT_OK && k < 2; k++) {
        char path[640];
        uint64_t offset = 0;
        int out = -1;

        snprintf(path, sizeof path, "%s.%s", s->output, suffixes[k]);
        status = file_create(&out, path, &err);
        for (size_t i = 0; status == LEAT_OK && i < PARTS; i++)
            status = copy_file(s, s->names[i], suffixes[k], out, &offset, &err);
        if (status == LEAT_OK)
            status = file_sync(out, path, &err);
        file_close(&out);
    }
    work->bytes = s->token_bytes;
    return status == LEAT_OK || contest_refuse(work, "%s", err.message);
}

/* ---- The whole ---- */

static enum leat_status measure(struct subject *s, const struct merge_values *v, struct leat_error *err)
{
    struct trial trials[CASES] = { { .subject = s },
                                   { .subject = s },
                                   { .subject = s, .dedup = true },
                                   { .subject = s, .split = true },
                                   { .subject = s, .shuffle = true } };
    static const char *const names[CASES] = { "bare copy", "merge", "merge --dedup", "merge --split",
                                              "merge --shuffle" };
    struct contest_case cases[CASES];
    struct contest_result results[CASES];
    enum leat_status status;
    struct json j;

    for (size_t i = 0; i < CASES; i++)
        cases[i] = (struct contest_case) {
            .name = names[i], .context = &trials[i], .prepare = prepare, .run = i == 0 ? run_copy : run_merge
        };
    status = contest_run("merge", cases, CASES, v->runs, results, err);
    if (status == LEAT_OK && v->json) {
        machine_json_begin(&j);
        json_u64(&j, "bytes", s->token_bytes);
        contest_json(&j, "merging", cases, results, CASES);
        machine_json_end(&j);
    } else if (status == LEAT_OK) {
        machine_print();
        cli_say("%s of tokens in %u datasets, in %s", units_bytes(s->token_bytes).text, PARTS, s->folder);
        contest_print("merging", cases, results, CASES);
    }
    contest_free_results(results, CASES);
    return status;
}

int bench_merge(const struct command *self, int argc, char **argv)
{
    struct merge_values values = { .runs = 3, .size = (uint64_t)2 << 30 };
    struct subject subject = { .folder = NULL };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    subject.memory = values.memory;
    subject.threads = values.threads;
    s = make_subject(&subject, parsed.words[0], values.size, &err);
    if (s == LEAT_OK)
        s = measure(&subject, &values, &err);
    remove_subject(&subject);
    return bench_end(&parsed, s, &err);
}
