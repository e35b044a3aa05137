/*
 * datasets.c: the commands of leat-bench-dev that write datasets to measure and test with.
 *
 * `counting` writes counting tokens (data/counting.h). `sparse` writes a dataset of any size that takes hardly any
 * disk, to measure what opening costs at sizes that no available disk would hold: all documents but the last are
 * empty, all tokens are 0, and the files are mostly holes. It is still a valid dataset, with every checksum right. The
 * page sum of the zeros is computed from one page, since all are equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "bench/data/counting.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "format/format.h"

#define NAME(values, text)                                                                                             \
    {                                                                                                                  \
        BENCH_OPTION(values, "output", OPTION_TEXT, output, "NAME", text), .letter = 'o', .path = true,                \
                                                                           .required = true                            \
    }

/* ---- Counting tokens ---- */

struct counting_values {
    const char *output;
    uint64_t tokens, length;
    unsigned width; /* the width's position in `widths` */
    bool force, json;
};

static const char *const widths[] = { "2", "4", NULL };

const struct option_row bench_counting_options[] = {
    NAME(counting_values, "the dataset to write"),
    { BENCH_OPTION(counting_values, "tokens", OPTION_COUNT, tokens, "N", "how many tokens"), .required = true },
    { BENCH_OPTION(counting_values, "width", OPTION_CHOICE, width, "2|4", "bytes per token"), .standard = "2",
      .choices = widths },
    { BENCH_OPTION(counting_values, "document-length", OPTION_COUNT, length, "MEAN",
                   "mean length of the documents, in tokens"),
      .standard = "500", .min = 1, .max = (uint64_t)1 << 40 },
    { BENCH_OPTION(counting_values, "force", OPTION_FLAG, force, NULL, "replace an existing NAME") },
    OPTIONS_JSON(struct counting_values, "print the summary as one JSON object"),
    OPTIONS_END,
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total, NULL);
    return cli_interrupted();
}

static void print_summary(const struct counting_values *v, const struct leat_info *info, double seconds)
{
    struct json j;

    if (!v->json) {
        cli_say("%s: %s tokens of %u bytes in %s documents, %s (%s).", v->output, units_count(info->tokens).text,
                info->token_width, units_count(info->documents).text, units_duration(seconds).text,
                units_rate(machine_per((double)info->token_bytes, seconds), "B").text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", v->output);
    json_u64(&j, "tokens", info->tokens);
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "width", info->token_width);
    json_u64(&j, "token_bytes", info->token_bytes);
    json_u64(&j, "index_bytes", info->index_bytes);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

int bench_counting(const struct command *self, int argc, char **argv)
{
    struct counting_values v = { .length = 500 };
    struct counting_options options = COUNTING_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct options_parsed parsed;
    struct progress progress;
    struct leat_error err;
    enum leat_status s;
    double began;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    options.tokens = v.tokens;
    options.width = v.width == 0 ? 2 : 4;
    options.document_length = v.length;
    options.replace = v.force;
    options.progress = on_progress;
    options.context = &progress;
    cli_catch_interrupts();
    began = cli_now();
    progress_begin(&progress, PROGRESS_AUTO, "counting", PROGRESS_COUNT);
    s = counting_write(v.output, &options, &info, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(&v, &info, cli_now() - began);
    return bench_end(&parsed, s, &err);
}

/* ---- Mostly holes ---- */

#define VOCABULARY 65536u
#define INPUT_PATH "sparse"

struct sparse_values {
    const char *output;
    uint64_t documents, tokens;
};

const struct option_row bench_sparse_options[] = {
    NAME(sparse_values, "the dataset to write; nothing of that name may exist"),
    { BENCH_OPTION(sparse_values, "documents", OPTION_COUNT, documents, "N", "how many documents"), .standard = "1G",
      .min = 1, .max = (uint64_t)1 << 40 },
    { BENCH_OPTION(sparse_values, "tokens", OPTION_COUNT, tokens, "N", "how many tokens, of two bytes"),
      .standard = "8G", .min = 1, .max = (uint64_t)1 << 40 },
    OPTIONS_END,
};

/* The state of the index that is written. */
struct sparse {
    const struct checksum_kernels *kernels;
    struct format_header header;
    const char *path;
    int fd;
    uint64_t end;
};

/* Returns the page sum of zeros and of `count` bytes after them, at most a page. Only one page of zeros is hashed. */
static struct hash128 page_sum(const struct checksum_kernels *k, uint64_t zeros, const void *bytes, uint64_t count)
{
    uint8_t page[CHECKSUM_PAGE] = { 0 }, last[2 * CHECKSUM_PAGE] = { 0 }, tagged[24];
    uint64_t whole = zeros / CHECKSUM_PAGE, rest = zeros % CHECKSUM_PAGE;
    struct hash128 sum = { 0, 0 };

    checksum_store(tagged, k->hash(page, sizeof page));
    for (uint64_t i = 0; i < whole; i++) {
        bytes_store64(tagged + 16, i);
        checksum_add(&sum, k->hash(tagged, sizeof tagged));
    }
    if (count > 0)
        memcpy(last + rest, bytes, (size_t)count);
    k->pages(&sum, last, (size_t)(rest + count), whole, NULL);
    return sum;
}

/* Writes a section of zeros, which become a hole, and then `count` bytes, at most a page. */
static enum leat_status put_hole(struct sparse *s, unsigned kind, uint64_t zeros, const void *bytes, uint64_t count,
                                 uint64_t entries, struct leat_error *err)
{
    s->header.sections[kind] = (struct format_place) {
        .offset = format_align(s->end),
        .bytes = zeros + count,
        .entries = entries,
        .sum = page_sum(s->kernels, zeros, bytes, count),
        .flags = kind == FORMAT_ORIGINS ? FORMAT_ORDERED : 0,
        .present = 1,
    };
    s->end = s->header.sections[kind].offset + zeros + count;
    return file_write_at(s->fd, s->end - count, bytes, count, s->path, err);
}

static enum leat_status put_bytes(struct sparse *s, unsigned kind, const void *all, uint64_t bytes, uint64_t entries,
                                  struct leat_error *err)
{
    s->header.sections[kind] =
        (struct format_place) { .offset = format_align(s->end), .bytes = bytes, .entries = entries, .present = 1 };
    s->kernels->pages(&s->header.sections[kind].sum, all, (size_t)bytes, 0, NULL);
    s->end = s->header.sections[kind].offset + bytes;
    return file_write_at(s->fd, s->end - bytes, all, bytes, s->path, err);
}

static enum leat_status put_page_hashes(struct sparse *s, struct leat_error *err)
{
    uint8_t zero_page[CHECKSUM_PAGE] = { 0 };
    uint32_t hash = (uint32_t)s->kernels->hash(zero_page, sizeof zero_page).low;
    uint64_t entries = bytes_divide_up(s->header.token_file_bytes, FORMAT_PAGE_BYTES);
    uint8_t *all = malloc((size_t)(4 * entries));
    enum leat_status status = status_no_memory(err, 4 * entries);

    for (uint64_t i = 0; all && i < entries; i++)
        bytes_store32(all + 4 * i, hash);
    if (all)
        status = put_bytes(s, FORMAT_PAGES, all, 4 * entries, entries, err);
    free(all);
    return status;
}

static enum leat_status put_directory(struct sparse *s, struct leat_error *err)
{
    uint64_t entries = bytes_divide_up(s->header.token_file_bytes, FORMAT_CELL_BYTES);
    uint8_t *all = malloc((size_t)(8 * entries));
    enum leat_status status = status_no_memory(err, 8 * entries);

    for (uint64_t i = 0; all && i < entries; i++) {
        bytes_store64(all + 8 * i, i > 0 ? s->header.documents : 0);
    }
    if (all)
        status = put_bytes(s, FORMAT_DIRECTORY, all, 8 * entries, entries, err);
    free(all);
    return status;
}

static enum leat_status put_sections(struct sparse *s, struct leat_error *err)
{
    const struct format_header *h = &s->header;
    struct records_input input = { .path_bytes = strlen(INPUT_PATH), .documents = h->documents, .tokens = h->tokens };
    uint8_t tokens[8], record[FORMAT_INPUT_BYTES];
    enum leat_status status;

    bytes_store64(tokens, h->tokens);
    records_store_input(record, &input);
    status = put_hole(s, FORMAT_DOCUMENTS, 8 * h->documents, tokens, 8, h->documents + 1, err);
    if (status == LEAT_OK)
        status = put_directory(s, err);
    if (status == LEAT_OK)
        status = put_page_hashes(s, err);
    if (status == LEAT_OK)
        status = put_hole(s, FORMAT_INPUTS, 0, record, sizeof record, 1, err);
    if (status == LEAT_OK)
        status = put_hole(s, FORMAT_INPUT_PATHS, 0, INPUT_PATH, input.path_bytes, input.path_bytes, err);
    if (status != LEAT_OK)
        return status;
    return put_hole(s, FORMAT_ORIGINS, FORMAT_ORIGIN_BYTES * h->documents, NULL, 0, h->documents, err);
}

static enum leat_status write_index(struct sparse *s, struct leat_error *err)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    enum leat_status status = put_sections(s, err);

    if (status != LEAT_OK)
        return status;
    s->header.index_bytes = s->end;
    s->header.identity = format_identity(&s->header, s->kernels);
    format_encode(page, &s->header, s->kernels);
    status = file_write_at(s->fd, 0, page, sizeof page, s->path, err);
    return status == LEAT_OK ? file_truncate(s->fd, s->end, s->path, err) : status;
}

static enum leat_status write_files(struct sparse_values *v, const char *tokens_path, const char *index_path,
                                    struct leat_error *err)
{
    struct sparse s = { .kernels = checksum_kernels(), .path = index_path, .fd = -1, .end = FORMAT_HEADER_BYTES };
    enum leat_status status;
    int tokens = -1;

    s.header = (struct format_header) {
        .version = FORMAT_VERSION,
        .token_file_bytes = 2 * v->tokens,
        .tokens = v->tokens,
        .documents = v->documents,
        .vocabulary = VOCABULARY,
        .end_token = LEAT_NONE,
        .begin_token = LEAT_NONE,
        .token_width = 2,
        .token_sum = page_sum(s.kernels, 2 * v->tokens, NULL, 0),
    };
    status = file_create(&tokens, tokens_path, err);
    if (status == LEAT_OK)
        status = file_truncate(tokens, 2 * v->tokens, tokens_path, err);
    if (status == LEAT_OK)
        status = file_create(&s.fd, index_path, err);
    if (status == LEAT_OK)
        status = write_index(&s, err);
    if (status != LEAT_OK && s.fd >= 0)
        file_remove(index_path, NULL);
    if (status != LEAT_OK && tokens >= 0)
        file_remove(tokens_path, NULL);
    file_close(&tokens);
    file_close(&s.fd);
    return status;
}

int bench_sparse(const struct command *self, int argc, char **argv)
{
    struct sparse_values v = { .documents = 1000000000, .tokens = 8000000000 / 2048 * 2048 };
    struct options_parsed parsed;
    char *tokens, *index;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    v.tokens = v.tokens / 2048 * 2048;
    tokens = path_append(v.output, strlen(v.output), ".tokens", NULL);
    index = path_append(v.output, strlen(v.output), ".leat", NULL);
    s = tokens && index ? write_files(&v, tokens, index, &err) : status_no_memory(&err, strlen(v.output));
    if (s == LEAT_OK)
        cli_say("%s: %s tokens in %s documents", v.output, units_count(v.tokens).text, units_count(v.documents).text);
    free(tokens);
    free(index);
    return bench_end(&parsed, s, &err);
}
