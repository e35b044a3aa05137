/*
 * encode.c: `leat-bench encode`: how fast texts become ids, and nothing else: the documents are in memory before, the
 * ids stay in memory, and the first pass counts, with cold caches, as in a run that packs a corpus once.
 *
 * Each thread has a share of about as many bytes, an encoder, and memory for its ids that was touched before the clock
 * starts. The checksum of the ids shows whether two measurements did the same work, whatever the number of threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "bench/data/texts.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "subcommands.h"

#define HASHED_IDS 4096u

struct encode_values {
    const char *tokenizer, *pattern, *field;
    uint64_t threads;
    bool special, json;
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
    BENCH_JSON(encode_values),
    OPTIONS_END
};

/* What a thread does: documents [first, last). */
struct share {
    const struct texts *texts;
    struct leat_encoder *encoder;
    uint64_t first, last;
    uint32_t *ids;
    uint64_t count;
    size_t room;
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

        s->document = i;
        s->status =
            leat_encoder_encode(s->encoder, s->texts->bytes + begin, s->texts->ends[i] - begin, &ids, &count, &s->err);
        if (s->status == LEAT_OK)
            s->status = GROW(s->ids, s->count + count, s->room, &s->err);
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

        share->texts = t;
        share->first = document;
        while (document < t->count && (t->ends[document] <= target || i + 1 == threads))
            document++;
        share->last = document;
        bytes = texts_begin(t, share->last) - texts_begin(t, share->first);
        s = leat_encoder_open(&share->encoder, tokenizer, &options, err);
        if (s == LEAT_OK)
            s = GROW(share->ids, bytes - bytes / 3 + 1, share->room, err);
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
    double began = cli_now(), cpu_began = machine_cpu_seconds();
    bool ok = contest_threads(threads, encode_share, shares);

    result->seconds = cli_now() - began;
    result->cpu_seconds = machine_cpu_seconds() - cpu_began;
    if (!ok)
        return status_set(err, LEAT_E_NO_MEMORY, "cannot start %u threads", threads);
    for (unsigned i = 0; i < threads; i++) {
        if (shares[i].status != LEAT_OK)
            return status_set(err, shares[i].status, "document %" PRIu64 " (from 0, over all inputs): %.800s",
                              shares[i].document, shares[i].err.message);
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
    double rate = machine_per((double)t->used, r->seconds);
    struct json j;
    char checksum[17];

    snprintf(checksum, sizeof checksum, "%016" PRIx64, r->checksum);
    if (!v->json) {
        machine_print();
        printf("%s, %" PRIu64 " thread%s, first pass\n", v->tokenizer, v->threads, v->threads > 1 ? "s" : "");
        printf("vocabulary  loaded in %s\n", units_duration(r->load_seconds).text);
        printf("documents   %s\n", units_count(t->count).text);
        printf("text        %s (%s bytes)\n", units_bytes(t->used).text, units_count(t->used).text);
        printf("tokens      %s\n", units_count(r->tokens).text);
        printf("encoding    %s, %s, %s\n", units_duration(r->seconds).text, units_rate(rate, "B").text,
               units_rate(machine_per((double)r->tokens, r->seconds), "tokens").text);
        printf("CPU time    %s, %s\n", units_duration(r->cpu_seconds).text,
               units_rate(machine_per((double)t->used, r->cpu_seconds), "B").text);
        printf("checksum    %s\n", checksum);
        return;
    }
    machine_json_begin(&j);
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
    machine_json_end(&j);
}

int bench_encode(const struct command *self, int argc, char **argv)
{
    struct encode_values v = { .field = "text", .threads = 1 };
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
        print_result(&texts, &v, &result);
    texts_free(&texts);
    return bench_end(&parsed, s, &err);
}
