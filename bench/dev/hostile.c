/*
 * hostile.c: `leat-bench-dev hostile`: how fast texts become ids that were made to be slow. Each is one document,
 * encoded by a new encoder, so that no cache of an earlier run helps.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "bench/data/hostile_texts.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "leat_pack.h"

struct hostile_values {
    const char *tokenizer;
    uint64_t size, runs;
    bool json;
};

const struct option_row bench_hostile_options[] = {
    COMMANDS_TOKENIZER(struct hostile_values, "the tokenizer, as leat encode takes it", .required = true),
    { BENCH_OPTION(hostile_values, "size", OPTION_SIZE, size, "SIZE", "size of each text"), .standard = "16MiB",
      .min = 64, .max = (uint64_t)1 << 32 },
    BENCH_RUNS(hostile_values, "3", "runs of each, of which the best counts"),
    BENCH_JSON(hostile_values),
    OPTIONS_END
};

/* Seconds that it takes to encode the text once, and its tokens. */
static enum leat_status encode_once(const struct leat_tokenizer *t, const char *text, size_t bytes, double *seconds,
                                    uint64_t *tokens, struct leat_error *err)
{
    struct leat_encoder *e;
    const uint32_t *ids;
    double began;
    enum leat_status s = leat_encoder_open(&e, t, NULL, err);

    if (s != LEAT_OK)
        return s;
    began = cli_now();
    s = leat_encoder_encode(e, text, bytes, &ids, tokens, err);
    *seconds = cli_now() - began;
    leat_encoder_close(e);
    return s;
}

static enum leat_status measure_kind(const struct leat_tokenizer *t, const struct hostile_kind *kind,
                                     const struct hostile_values *v, char *text, struct json *j, struct leat_error *err)
{
    uint64_t random = 1, tokens = 0;
    size_t bytes = kind->unit ? hostile_repeat(text, v->size, kind->unit) : kind->make(text, v->size, &random);
    double best = 1e9, seconds = 0;
    enum leat_status s = LEAT_OK;

    for (uint64_t run = 0; run < v->runs && s == LEAT_OK; run++) {
        s = encode_once(t, text, bytes, &seconds, &tokens, err);
        best = seconds < best ? seconds : best;
    }
    if (s != LEAT_OK)
        return status_before(err, s, "%s", kind->name);
    if (!j) {
        printf("%-20s%12s%16s\n", kind->name, units_rate((double)bytes / best, "B").text, units_count(tokens).text);
        return s;
    }
    json_open_object(j, NULL);
    json_string(j, "text", kind->name);
    json_u64(j, "bytes", bytes);
    json_u64(j, "tokens", tokens);
    json_double(j, "mb_per_s", (double)bytes / best / 1e6);
    json_close_object(j);
    return s;
}

static enum leat_status measure(const struct leat_tokenizer *t, const struct hostile_values *v, char *text,
                                struct json *j, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (const struct hostile_kind *k = hostile_kinds; k->name && s == LEAT_OK; k++)
        s = measure_kind(t, k, v, text, j, err);
    return s;
}

static enum leat_status print_rates(const struct leat_tokenizer *t, const struct hostile_values *v, char *text,
                                    struct leat_error *err)
{
    enum leat_status s;
    struct json j;

    if (!v->json) {
        machine_print();
        printf("%s, one thread, texts of %s, best of %" PRIu64 "\n", v->tokenizer, units_bytes(v->size).text, v->runs);
        printf("%-20s%12s%16s\n", "text", "rate", "tokens");
        return measure(t, v, text, NULL, err);
    }
    machine_json_begin(&j);
    json_string(&j, "tokenizer", v->tokenizer);
    json_open_array(&j, "rows");
    s = measure(t, v, text, &j, err);
    json_close_array(&j);
    machine_json_end(&j);
    return s;
}

int bench_hostile(const struct command *self, int argc, char **argv)
{
    struct hostile_values v = { .size = (uint64_t)16 << 20, .runs = 3 };
    struct leat_tokenizer *t = NULL;
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    char *text;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    text = malloc(v.size);
    s = text ? leat_tokenizer_open(&t, v.tokenizer, NULL, &err) : status_no_memory(&err, v.size);
    if (s == LEAT_OK)
        s = print_rates(t, &v, text, &err);
    leat_tokenizer_close(t);
    free(text);
    return bench_end(&parsed, s, &err);
}
