/*
 * encode.c: `leat-bench encode`: how fast texts become ids, and nothing else: the documents are in memory before, the
 * ids stay in memory, and the first pass counts, with cold caches, as in a run that packs a corpus once.
 *
 * Each thread has a share of about as many bytes, an encoder, and memory for its ids that was touched before the clock
 * starts. The checksum of the ids shows whether two measurements did the same work, whatever the number of threads.
 */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/status.h"
#include "bench/data/texts.h"
#include "bench/measure/clocks.h"
#include "bench/measure/machine.h"
#include "bench/measure/parallel.h"
#include "cli/json.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "subcommands.h"

#define HASHED_IDS 4096u

struct encode_values {
    const char *tokenizer, *pattern, *field;
    uint64_t threads;
    bool special, json;
};

const struct option_row encode_options[] = {
    COMMANDS_TOKENIZER(struct encode_values, "the tokenizer, as leat encode takes it", .required = true),
    COMMANDS_PATTERN(struct encode_values),
    { .name = "text",
      .type = OPTION_TEXT,
      .field = offsetof(struct encode_values, field),
      .value = "FIELD",
      .standard = "text",
      .help = "the member of a JSON record that holds the text" },
    { .name = "special",
      .type = OPTION_FLAG,
      .field = offsetof(struct encode_values, special),
      .help = "encode strings of special tokens in the text as these tokens" },
    { .name = "threads",
      .type = OPTION_COUNT,
      .field = offsetof(struct encode_values, threads),
      .value = "N",
      .standard = "1",
      .help = "threads, each with an encoder of its own and a contiguous share of the documents",
      .min = 1,
      .max = 1024 },
    OPTIONS_JSON(struct encode_values, "print one JSON object"),
    OPTIONS_END
};

/* What a thread does: documents [first, last). */
struct share {
    const struct texts *texts;
    struct leat_encoder *encoder;
    uint64_t first, last;
    uint32_t *ids;
    uint64_t count, room;
    uint64_t document; /* the one that failed */
    enum leat_status status;
    struct leat_error err;
};

struct result {
    uint64_t tokens;
    double load_seconds, seconds, cpu_seconds;
    uint64_t checksum;
};

/* ---- Encoding --------------------------------------------------------------------------------------------------- */

/* One thread: encodes its share and keeps the ids. */
static void encode_share(void *context, unsigned index)
{
    struct share *s = (struct share *)context + index;
    const uint32_t *ids;
    uint64_t count;

    for (uint64_t i = s->first; i < s->last && s->status == LEAT_OK; i++) {
        uint64_t begin = texts_begin(s->texts, i);
        void *array = s->ids;

        s->document = i;
        s->status =
            leat_encoder_encode(s->encoder, s->texts->bytes + begin, s->texts->ends[i] - begin, &ids, &count, &s->err);
        if (s->status == LEAT_OK)
            s->status = texts_room(&array, s->count, count, &s->room, sizeof *ids, &s->err);
        s->ids = array;
        if (s->status != LEAT_OK)
            break;
        memcpy(s->ids + s->count, ids, (size_t)count * sizeof *ids);
        s->count += count;
    }
}

/* Cuts the documents into shares of about equally many bytes, opens the encoders, and touches memory for more ids than
 * texts usually have: making it is not part of encoding. */
static enum leat_status prepare(struct share *shares, unsigned threads, const struct texts *t,
                                const struct leat_tokenizer *tokenizer, bool special, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status s = LEAT_OK;
    uint64_t document = 0;

    options.special = special;
    for (unsigned i = 0; i < threads && s == LEAT_OK; i++) {
        struct share *share = &shares[i];
        uint64_t target = (uint64_t)((double)t->used * (i + 1) / threads), bytes;
        void *array = NULL;

        share->texts = t;
        share->first = document;
        while (document < t->count && (t->ends[document] <= target || i + 1 == threads))
            document++;
        share->last = document;
        bytes = texts_begin(t, share->last) - texts_begin(t, share->first);
        s = leat_encoder_open(&share->encoder, tokenizer, &options, err);
        if (s == LEAT_OK)
            s = texts_room(&array, 0, bytes - bytes / 3, &share->room, sizeof *share->ids, err);
        share->ids = array;
        if (s == LEAT_OK)
            memset(share->ids, 1, (size_t)share->room * sizeof *share->ids);
    }
    return s;
}

/* XXH3-64 of the ids of all shares, in order, as little-endian 32-bit words. */
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

static enum leat_status encode_texts(struct share *shares, unsigned threads, struct result *result,
                                     struct leat_error *err)
{
    double began = cli_now(), cpu_began = clocks_process();
    bool ok = parallel_run(threads, encode_share, shares);

    result->seconds = cli_now() - began;
    result->cpu_seconds = clocks_process() - cpu_began;
    if (!ok)
        return status_set(err, LEAT_E_NO_MEMORY, "%u threads could not be started", threads);
    for (unsigned i = 0; i < threads; i++) {
        if (shares[i].status != LEAT_OK)
            return status_set(err, shares[i].status, "document %llu (from 0, over all inputs): %.800s",
                              (unsigned long long)shares[i].document, shares[i].err.message);
        result->tokens += shares[i].count;
    }
    result->checksum = hash_ids(shares, threads);
    return LEAT_OK;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

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
        s = prepare(shares, threads, t, tokenizer, v->special, err);
    if (s == LEAT_OK)
        s = encode_texts(shares, threads, result, err);
    for (unsigned i = 0; i < threads; i++) {
        leat_encoder_close(shares[i].encoder);
        free(shares[i].ids);
    }
    free(shares);
    leat_tokenizer_close(tokenizer);
    return s;
}

static void print_result(const struct texts *t, const struct encode_values *v, const struct result *r)
{
    double rate = r->seconds > 0 ? (double)t->used / r->seconds : 0;
    struct machine m;
    struct json j;
    char checksum[17];

    machine_describe(&m);
    snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)r->checksum);
    if (!v->json) {
        machine_print(stdout, &m);
        printf("%s, %llu thread%s, first pass\n", v->tokenizer, (unsigned long long)v->threads,
               v->threads > 1 ? "s" : "");
        printf("vocabulary  loaded in %s\n", units_duration(r->load_seconds).text);
        printf("documents   %s\n", units_count(t->count).text);
        printf("text        %s (%s bytes)\n", units_bytes(t->used).text, units_count(t->used).text);
        printf("tokens      %s\n", units_count(r->tokens).text);
        printf("encoding    %s, %s", units_duration(r->seconds).text, units_rate(rate, "B").text);
        printf(", %s\n", units_rate(r->seconds > 0 ? (double)r->tokens / r->seconds : 0, "tokens").text);
        printf("of CPU      %s, %s\n", units_duration(r->cpu_seconds).text,
               units_rate(r->cpu_seconds > 0 ? (double)t->used / r->cpu_seconds : 0, "B").text);
        printf("checksum    %s\n", checksum);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "tokenizer", v->tokenizer);
    json_u64(&j, "threads", v->threads);
    json_u64(&j, "documents", t->count);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "tokens", r->tokens);
    json_double(&j, "seconds", r->seconds);
    json_double(&j, "mb_per_s", rate / 1e6);
    json_double(&j, "cpu_seconds", r->cpu_seconds);
    json_double(&j, "load_ms", 1e3 * r->load_seconds);
    json_string(&j, "checksum", checksum);
    machine_json(&j, "machine", &m);
    json_close_object(&j);
    json_end(&j);
}

int bench_encode(const struct command *self, int argc, char **argv)
{
    struct encode_values v = { .field = "text", .threads = 1 };
    struct texts texts = { .bytes = NULL };
    struct result result = { .tokens = 0 };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    for (size_t i = 0; i < parsed.count && s == LEAT_OK; i++)
        s = texts_read(&texts, parsed.words[i], v.field, &err);
    if (s == LEAT_OK)
        s = measure(&texts, &v, &result, &err);
    if (s == LEAT_OK)
        print_result(&texts, &v, &result);
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    texts_free(&texts);
    options_free(&parsed);
    return code;
}
