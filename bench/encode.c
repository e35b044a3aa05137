/*
 * encode.c: `leat-bench encode`: measures how fast texts become ids, and nothing else: the documents are in memory
 * before, and the ids stay in memory. The first pass, with cold caches, is the one that counts, as in a run that
 * packs a corpus once. A run over a terabyte has met most words before: --warm encodes another text first, and
 * --passes encodes the same text several times with the same encoders. With --paced, each pass waits for a line on
 * standard input, so that a script can run several programs in turns.
 *
 * Each thread has documents of about as many bytes, an encoder, and memory for its ids that was touched before the
 * clock starts. The checksum of the ids shows whether two measurements did the same work, whatever the number of
 * threads.
 *
 * A rate over all texts hides how uneven the work is, as when a cache grows: so the first pass also has the rates over
 * slices of 5 MB, each of one thread, and the longest gap: by how much a call of an encoder took longer than its bytes
 * take in the median slice.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "corpus/document_input.h"
#include "subcommands.h"

#define HASHED_IDS 4096u
#define MAX_PASSES 1000
#define SLICE      ((uint64_t)5000000) /* bytes */

struct encode_values {
    const char *tokenizer, *pattern, *field, *warm;
    uint64_t threads, passes;
    bool special, paced, json;
};

const struct option_row bench_encode_options[] = {
    COMMANDS_TOKENIZER(struct encode_values, "the tokenizer, as leat encode takes it", .required = true),
    COMMANDS_PATTERN(struct encode_values),
    BENCH_FIELD(encode_values),
    { BENCH_OPTION(encode_values, "special", OPTION_FLAG, special, NULL,
                   "encode strings of special tokens in the text as these tokens") },
    { BENCH_OPTION(encode_values, "threads", OPTION_COUNT, threads, "N",
                   "threads, each with an encoder of its own and a contiguous share of the documents"),
      .standard = "1", .min = 1, .max = 1024 },
    { BENCH_OPTION(encode_values, "warm", OPTION_TEXT, warm, "FILE",
                   "encode this file's documents first, with the same encoders, and do not count them") },
    { BENCH_OPTION(encode_values, "passes", OPTION_COUNT, passes, "N",
                   "encode the texts N times with the same encoders, and print the rate of each pass"),
      .standard = "1", .min = 1, .max = MAX_PASSES },
    { BENCH_OPTION(encode_values, "paced", OPTION_FLAG, paced, NULL,
                   "before each pass, print an empty line and wait for a line on standard input, so that programs can "
                   "take turns") },
    BENCH_JSON(encode_values),
    OPTIONS_END
};

/* ---- Texts ---- */

/* The documents of files in memory, end to end. */
struct texts {
    char *bytes;
    uint64_t used;
    size_t room;
    uint64_t *ends;
    uint64_t count;
    size_t count_room;
};

static uint64_t texts_begin(const struct texts *t, uint64_t document)
{
    return document > 0 ? t->ends[document - 1] : 0;
}

static enum leat_status add_text(struct texts *t, const char *text, size_t bytes, struct leat_error *err)
{
    enum leat_status s = GROW(t->bytes, t->used + bytes + 1, t->room, err);

    if (s == LEAT_OK)
        s = GROW(t->ends, t->count + 1, t->count_room, err);
    if (s != LEAT_OK)
        return s;
    memcpy(t->bytes + t->used, text, bytes);
    t->used += bytes;
    t->ends[t->count++] = t->used;
    return LEAT_OK;
}

static enum leat_status read_file(struct texts *t, const char *path, const char *field, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status s = document_input_open(&in, path, DOCUMENT_BY_NAME, field, err);
    const char *text;
    size_t bytes;
    bool found;

    while (s == LEAT_OK) {
        s = document_input_next(in, &text, &bytes, &found, err);
        if (s != LEAT_OK || !found)
            break;
        s = add_text(t, text, bytes, err);
    }
    document_input_close(in);
    return s;
}

/* Reads the documents of `count` files; `field` holds the text of a JSON record. Call texts_free() afterwards, also
 * if this fails. */
static enum leat_status texts_read(struct texts *t, const char *const *paths, size_t count, const char *field,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *t = (struct texts) { .bytes = NULL };
    for (size_t i = 0; i < count && s == LEAT_OK; i++)
        s = read_file(t, paths[i], field, err);
    return s;
}

static void texts_free(struct texts *t)
{
    free(t->bytes);
    free(t->ends);
}

/* ---- Shares ---- */

/* A call of an encoder. */
struct call {
    uint64_t bytes; /* of the texts */
    double seconds; /* since the call before it */
};

/* The work of a thread: documents [first, last). */
struct share {
    const struct texts *texts;
    struct leat_encoder *encoder;
    uint64_t first, last;
    uint32_t *ids;
    uint64_t count;
    size_t room;
    struct call *calls; /* of the last pass */
    uint64_t call_count;
    size_t call_room;
    uint64_t document; /* the document that failed */
    enum leat_status status;
    struct leat_error err;
};

struct pass {
    double seconds, cpu_seconds;
};

struct result {
    uint64_t tokens;
    double load_seconds;
    double min_slice, median_slice; /* bytes per second; 0 if no thread has a slice */
    double longest_gap;             /* seconds */
    struct pass passes[MAX_PASSES];
    uint64_t checksum;
};

/* ---- Encoding --------------------------------------------------------------------------------------------------- */

/* Limits of one call of the encoder. One long document may exceed the bytes. */
#define TOGETHER       256u
#define TOGETHER_BYTES ((uint64_t)64 << 10)

/* Encodes the share of thread `index` and keeps its ids. */
static void encode_share(void *context, unsigned index)
{
    struct share *s = (struct share *)context + index;
    double before = cli_now(), now;

    s->document = s->first;
    while (s->document < s->last && s->status == LEAT_OK) {
        struct leat_text texts[TOGETHER];
        uint64_t counts[TOGETHER], n = 0, done, count = 0, first = texts_begin(s->texts, s->document), begin = first;
        const uint32_t *ids;

        for (; n < TOGETHER && s->document + n < s->last && begin - first < TOGETHER_BYTES; n++) {
            uint64_t end = s->texts->ends[s->document + n];

            texts[n] = (struct leat_text) { s->texts->bytes + begin, end - begin };
            begin = end;
        }
        s->status = leat_encoder_encode_texts(s->encoder, texts, n, &done, &ids, counts, &s->err);
        for (uint64_t i = 0; s->status == LEAT_OK && i < done; i++)
            count += counts[i];
        if (s->status == LEAT_OK)
            s->status = GROW(s->ids, s->count + count, s->room, &s->err);
        if (s->status == LEAT_OK)
            s->status = GROW(s->calls, s->call_count + 1, s->call_room, &s->err);
        if (s->status != LEAT_OK)
            break;
        memcpy(s->ids + s->count, ids, (size_t)count * sizeof *ids);
        s->count += count;
        s->document += done;
        now = cli_now();
        s->calls[s->call_count++] = (struct call) { texts_begin(s->texts, s->document) - first, now - before };
        before = now;
    }
}

/* Gives each thread a share of the documents; all shares have about as many bytes. */
static void share_out(struct share *shares, unsigned threads, const struct texts *t)
{
    uint64_t document = 0;

    for (unsigned i = 0; i < threads; i++) {
        struct share *share = &shares[i];
        uint64_t target = (uint64_t)((double)t->used * (i + 1) / threads);

        share->texts = t;
        share->first = document;
        while (document < t->count && (t->ends[document] <= target || i + 1 == threads))
            document++;
        share->last = document;
    }
}

static enum leat_status open_encoders(struct share *shares, unsigned threads, const struct leat_tokenizer *tokenizer,
                                      bool special, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status s = LEAT_OK;

    options.special = special;
    for (unsigned i = 0; i < threads && s == LEAT_OK; i++)
        s = leat_encoder_open(&shares[i].encoder, tokenizer, &options, err);
    return s;
}

/* Allocates and touches memory for more ids than the texts usually have, since that is not part of encoding. */
static enum leat_status make_room(struct share *shares, unsigned threads, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; i < threads && s == LEAT_OK; i++) {
        struct share *share = &shares[i];
        uint64_t bytes = texts_begin(share->texts, share->last) - texts_begin(share->texts, share->first);

        s = GROW(share->ids, bytes - bytes / 3 + 1, share->room, err);
        if (s == LEAT_OK)
            memset(share->ids, 1, (size_t)share->room * sizeof *share->ids);
    }
    return s;
}

/* Returns the XXH3-64 of the ids of all shares, in order, as little-endian 32-bit words. */
static uint64_t hash_ids(const struct share *shares, unsigned threads)
{
    XXH3_state_t state;
    uint32_t words[HASHED_IDS];

    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    for (unsigned i = 0; i < threads; i++)
        for (uint64_t done = 0, part; done < shares[i].count; done += part) {
            part = shares[i].count - done < HASHED_IDS ? shares[i].count - done : HASHED_IDS;
            for (uint64_t k = 0; k < part; k++)
                words[k] = bytes_le32(shares[i].ids[done + k]);
            XXH3_64bits_update(&state, words, (size_t)part * sizeof *words);
        }
    return XXH3_64bits_digest(&state);
}

static enum leat_status encode_texts(struct share *shares, unsigned threads, struct pass *pass, struct leat_error *err)
{
    double began, cpu_began;
    bool ok;

    for (unsigned i = 0; i < threads; i++)
        shares[i].count = shares[i].call_count = 0;
    began = cli_now(), cpu_began = machine_cpu_seconds();
    ok = contest_threads(threads, encode_share, shares);
    pass->seconds = cli_now() - began;
    pass->cpu_seconds = machine_cpu_seconds() - cpu_began;
    if (!ok)
        return status_set(err, LEAT_E_NO_MEMORY, "cannot start %u threads", threads);
    for (unsigned i = 0; i < threads; i++)
        if (shares[i].status != LEAT_OK)
            return status_set(err, shares[i].status, "document %" PRIu64 " (from 0, over all inputs): %.800s",
                              shares[i].document, shares[i].err.message);
    return LEAT_OK;
}

/* Prints an empty line, which says that the next pass can begin, and waits for a line. Returns false if the input
 * ends first. */
static bool wait_for_line(void)
{
    int c;

    puts("");
    fflush(stdout);
    do
        c = getchar();
    while (c != '\n' && c != EOF);
    return c == '\n';
}

/* Cuts the calls of each thread into slices, and finds the longest gap. */
static enum leat_status measure_slices(const struct share *shares, unsigned threads, struct result *r,
                                       struct leat_error *err)
{
    uint64_t most = shares[threads - 1].texts->used / SLICE, n = 0;
    double *rates = malloc((size_t)(most + 1) * sizeof *rates);

    if (!rates)
        return status_no_memory(err, (most + 1) * sizeof *rates);
    for (unsigned i = 0; i < threads; i++) {
        struct call slice = { 0, 0 };

        for (uint64_t k = 0; k < shares[i].call_count; k++) {
            slice.bytes += shares[i].calls[k].bytes;
            slice.seconds += shares[i].calls[k].seconds;
            if (slice.bytes < SLICE)
                continue;
            rates[n++] = machine_per((double)slice.bytes, slice.seconds);
            slice = (struct call) { 0, 0 };
        }
    }
    if (n > 0) {
        r->median_slice = contest_median(rates, n);
        r->min_slice = rates[0];
    }
    free(rates);
    for (unsigned i = 0; n > 0 && i < threads; i++)
        for (uint64_t k = 0; k < shares[i].call_count; k++) {
            const struct call *c = &shares[i].calls[k];
            double gap = c->seconds - machine_per((double)c->bytes, r->median_slice);

            r->longest_gap = gap > r->longest_gap ? gap : r->longest_gap;
        }
    return LEAT_OK;
}

/* Runs all passes. Each must give the ids of the first pass. */
static enum leat_status encode_passes(struct share *shares, const struct encode_values *v, struct result *result,
                                      struct leat_error *err)
{
    unsigned threads = (unsigned)v->threads;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < v->passes && s == LEAT_OK; i++) {
        uint64_t checksum;

        if (v->paced && !wait_for_line())
            return status_set(err, LEAT_E_ARGUMENT,
                              "standard input ended before pass %" PRIu64 "; --paced needs a line for each", i + 1);
        s = encode_texts(shares, threads, &result->passes[i], err);
        checksum = s == LEAT_OK ? hash_ids(shares, threads) : 0;
        if (i == 0 && s == LEAT_OK)
            s = measure_slices(shares, threads, result, err);
        if (i == 0)
            result->checksum = checksum;
        else if (s == LEAT_OK && checksum != result->checksum)
            s = status_set(err, LEAT_E_MISMATCH, "pass %" PRIu64 " gave other ids than the first one", i + 1);
    }
    for (unsigned i = 0; i < threads; i++)
        result->tokens += shares[i].count;
    return s;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

/* Encodes the texts of --warm. */
static enum leat_status warm_up(struct share *shares, unsigned threads, const struct encode_values *v,
                                struct leat_error *err)
{
    struct texts texts;
    struct pass pass;
    enum leat_status s = texts_read(&texts, &v->warm, 1, v->field, err);

    if (s == LEAT_OK) {
        share_out(shares, threads, &texts);
        s = encode_texts(shares, threads, &pass, err);
    }
    texts_free(&texts);
    return s;
}

static enum leat_status measure(const struct texts *t, const struct encode_values *v, struct result *result,
                                struct leat_error *err)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    unsigned threads = (unsigned)v->threads;
    struct share *shares = calloc(threads, sizeof *shares);
    struct leat_tokenizer *tokenizer = NULL;
    double began = cli_now();
    enum leat_status s;

    if (!shares)
        return status_no_memory(err, threads * sizeof *shares);
    options.pattern = v->pattern;
    s = leat_tokenizer_open(&tokenizer, v->tokenizer, &options, err);
    result->load_seconds = cli_now() - began;
    if (s == LEAT_OK)
        s = open_encoders(shares, threads, tokenizer, v->special, err);
    if (s == LEAT_OK && v->warm)
        s = warm_up(shares, threads, v, err);
    if (s == LEAT_OK) {
        share_out(shares, threads, t);
        s = make_room(shares, threads, err);
    }
    if (s == LEAT_OK)
        s = encode_passes(shares, v, result, err);
    for (unsigned i = 0; i < threads; i++) {
        leat_encoder_close(shares[i].encoder);
        free(shares[i].ids);
        free(shares[i].calls);
    }
    free(shares);
    leat_tokenizer_close(tokenizer);
    return s;
}

static void print_passes(const struct texts *t, const struct encode_values *v, const struct result *r)
{
    for (uint64_t i = 0; i < v->passes; i++) {
        const struct pass *p = &r->passes[i];

        if (v->passes > 1)
            printf("pass %" PRIu64 "\n", i + 1);
        printf("encoding    %s, %s, %s\n", units_duration(p->seconds).text,
               units_rate(machine_per((double)t->used, p->seconds), "B").text,
               units_rate(machine_per((double)r->tokens, p->seconds), "tokens").text);
        printf("CPU time    %s, %s\n", units_duration(p->cpu_seconds).text,
               units_rate(machine_per((double)t->used, p->cpu_seconds), "B").text);
    }
}

static void json_slices(struct json *j, const struct result *r)
{
    if (r->median_slice > 0) {
        json_open_object(j, "slices");
        json_double(j, "min", r->min_slice / 1e6);
        json_double(j, "median", r->median_slice / 1e6);
        json_close_object(j);
        json_double(j, "longest_gap_ms", 1e3 * r->longest_gap);
    } else {
        json_null(j, "slices");
        json_null(j, "longest_gap_ms");
    }
}

static void print_json(const struct texts *t, const struct encode_values *v, const struct result *r)
{
    const struct pass *first = &r->passes[0];
    struct json j;
    char checksum[17];

    snprintf(checksum, sizeof checksum, "%016" PRIx64, r->checksum);
    machine_json_begin(&j);
    json_string(&j, "tokenizer", v->tokenizer);
    json_u64(&j, "threads", v->threads);
    json_u64(&j, "documents", t->count);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "tokens", r->tokens);
    json_double(&j, "seconds", first->seconds);
    json_double(&j, "mb_per_s", machine_per((double)t->used, first->seconds) / 1e6);
    json_double(&j, "cpu_seconds", first->cpu_seconds);
    json_open_array(&j, "passes");
    for (uint64_t i = 0; i < v->passes; i++)
        json_double(&j, NULL, machine_per((double)t->used, r->passes[i].seconds) / 1e6);
    json_close_array(&j);
    json_open_array(&j, "passes_cpu");
    for (uint64_t i = 0; i < v->passes; i++)
        json_double(&j, NULL, machine_per((double)t->used, r->passes[i].cpu_seconds) / 1e6);
    json_close_array(&j);
    json_slices(&j, r);
    json_double(&j, "load_ms", 1e3 * r->load_seconds);
    json_string(&j, "checksum", checksum);
    machine_json_end(&j);
}

static void print_result(const struct texts *t, const struct encode_values *v, const struct result *r)
{
    machine_print();
    printf("%s, %" PRIu64 " thread%s, %s\n", v->tokenizer, v->threads, v->threads > 1 ? "s" : "",
           v->warm ? "after another text" : "first pass");
    printf("vocabulary  loaded in %s\n", units_duration(r->load_seconds).text);
    printf("documents   %s\n", units_count(t->count).text);
    printf("text        %s (%s bytes)\n", units_bytes(t->used).text, units_count(t->used).text);
    printf("tokens      %s\n", units_count(r->tokens).text);
    print_passes(t, v, r);
    if (r->median_slice > 0)
        printf("slices      of 5 MB: least %s, median %s; longest gap %s\n", units_rate(r->min_slice, "B").text,
               units_rate(r->median_slice, "B").text, units_duration(r->longest_gap).text);
    printf("checksum    %016" PRIx64 "\n", r->checksum);
}

int bench_encode(const struct command *self, int argc, char **argv)
{
    struct encode_values v = { .field = "text", .threads = 1, .passes = 1 };
    struct texts texts;
    struct result result = { .tokens = 0 };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    s = texts_read(&texts, parsed.words, parsed.count, v.field, &err);
    if (s == LEAT_OK)
        s = measure(&texts, &v, &result, &err);
    if (s == LEAT_OK)
        (v.json ? print_json : print_result)(&texts, &v, &result);
    texts_free(&texts);
    return bench_end(&parsed, s, &err);
}
