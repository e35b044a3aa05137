/*
 * scanners.c: `leat-bench scanners`: how fast texts are cut into pieces, by each family of scanners and each of its rows
 * that this CPU has; and that all rows of a family cut alike. Nothing is done with the pieces.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tokenize_tools/tokenizer/scan.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/units.h"
#include "machine.h"
#include "subcommands.h"
#include "texts.h"

#define ROOM 1024u

struct scanners_values {
    const char *field, *family, *row;
    uint64_t runs;
    bool json;
};

const struct option_row scanners_options[] = { { .name = "family",
                                                 .type = OPTION_TEXT,
                                                 .field = offsetof(struct scanners_values, family),
                                                 .value = "NAME",
                                                 .help = "only this family: gpt2, cl100k, llama3, qwen2, qwen3.5, "
                                                         "o200k, tekken, kimi or deepseek" },
                                               { .name = "row",
                                                 .type = OPTION_TEXT,
                                                 .field = offsetof(struct scanners_values, row),
                                                 .value = "NAME",
                                                 .help =
                                                     "only this row: avx512vbmi, avx512, avx2, neon, words or plain" },
                                               { .name = "text",
                                                 .type = OPTION_TEXT,
                                                 .field = offsetof(struct scanners_values, field),
                                                 .value = "FIELD",
                                                 .standard = "text",
                                                 .help = "the member of a JSON record that holds the text" },
                                               { .name = "runs",
                                                 .type = OPTION_COUNT,
                                                 .field = offsetof(struct scanners_values, runs),
                                                 .value = "N",
                                                 .standard = "5",
                                                 .help = "runs over all texts, of which the best counts",
                                                 .least = 1,
                                                 .most = 1000 },
                                               { .name = "json",
                                                 .type = OPTION_FLAG,
                                                 .field = offsetof(struct scanners_values, json),
                                                 .help = "print one JSON object" },
                                               OPTIONS_END };

/* What a run of one scanner found. */
struct cut {
    uint64_t pieces, mix; /* mix: depends on every end, in order */
    double seconds;       /* CPU time of this thread */
};

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every document is a window of its own. */
static struct cut cut_texts(const struct scanner *s, const struct texts *t, bool mixes)
{
    struct cut c = { .seconds = cpu_now() };
    uint32_t ends[ROOM];

    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t begin = texts_begin(t, i);
        struct scan_window window = { (const uint8_t *)t->bytes + begin, (size_t)(t->ends[i] - begin), true };
        size_t at = 0, n;

        do {
            n = scan_next(s, &window, &at, ends, ROOM);
            c.pieces += n;
            for (size_t k = 0; mixes && k < n; k++)
                c.mix = (c.mix ^ ends[k]) * UINT64_C(0x9e3779b97f4a7c15);
        } while (n == ROOM);
    }
    c.seconds = cpu_now() - c.seconds;
    return c;
}

/* Measures each row of a family; *plain is what the last of them found. */
static enum leat_status measure_family(const struct scan_family *family, const struct texts *t,
                                       const struct scanners_values *v, struct json *j, struct leat_error *err)
{
    struct cut wanted = { .pieces = 0 };
    struct scanner s;

    if (!scanner_named(&s, family->name, SCAN_ONIGURUMA))
        return status_set(err, LEAT_E_ARGUMENT, "no family %s", family->name);
    for (s.row = family->rows; s.row[1].name; s.row++)
        ;
    for (wanted = cut_texts(&s, t, true), s.row = family->rows; s.row->name; s.row++) {
        struct cut found, best = { .seconds = 1e9 };
        double rate;

        if (s.row->needs > cpu_level() || (v->row && strcmp(v->row, s.row->name) != 0))
            continue;
        found = cut_texts(&s, t, true);
        if (found.pieces != wanted.pieces || found.mix != wanted.mix)
            return status_set(err, LEAT_E_STATE, "%s, %s: not the pieces of the plain row", family->name, s.row->name);
        for (uint64_t run = 0; run < v->runs; run++) {
            found = cut_texts(&s, t, false);
            best = found.seconds < best.seconds ? found : best;
        }
        rate = best.seconds > 0 ? (double)t->used / best.seconds : 0;
        if (!j) {
            printf("%-10s%-14s%12s  ", family->name, s.row->name, units_rate(rate, "B").text);
            printf("%s\n", units_count(best.pieces).text);
            continue;
        }
        json_open_object(j, NULL);
        json_string(j, "family", family->name);
        json_string(j, "row", s.row->name);
        json_double(j, "mb_per_s", rate / 1e6);
        json_u64(j, "pieces", best.pieces);
        json_close_object(j);
    }
    return LEAT_OK;
}

static enum leat_status measure(const struct texts *t, const struct scanners_values *v, struct json *j,
                                struct leat_error *err)
{
    const struct scan_family *family;
    enum leat_status s = LEAT_OK;
    bool found = false;

    for (size_t i = 0; s == LEAT_OK && (family = scan_family_number(i)) != NULL; i++)
        if (!v->family || strcmp(v->family, family->name) == 0) {
            found = true;
            s = measure_family(family, t, v, j, err);
        }
    return found ? s : status_set(err, LEAT_E_ARGUMENT, "no family of scanners is called \"%s\"", v->family);
}

static enum leat_status print_rates(const struct texts *t, const struct scanners_values *v, struct leat_error *err)
{
    struct machine m;
    enum leat_status s;
    struct json j;

    machine_describe(&m);
    if (!v->json) {
        machine_print(stdout, &m);
        printf("text      %s in %s documents\n", units_bytes(t->used).text, units_count(t->count).text);
        printf("%-10s%-14s%12s  %s\n", "family", "row", "rate", "pieces");
        return measure(t, v, NULL, err);
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "documents", t->count);
    json_open_array(&j, "rows");
    s = measure(t, v, &j, err);
    json_close_array(&j);
    machine_json(&j, "machine", &m);
    json_close_object(&j);
    json_end(&j);
    return s;
}

int bench_scanners(const struct command *self, int argc, char **argv)
{
    struct scanners_values v = { .field = "text", .runs = 5 };
    struct texts texts = { .bytes = NULL };
    struct options_parsed parsed;
    enum leat_status s = LEAT_OK;
    struct leat_error err;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    for (size_t i = 0; i < parsed.count && s == LEAT_OK; i++)
        s = texts_read(&texts, parsed.words[i], v.field, &err);
    if (s == LEAT_OK)
        s = print_rates(&texts, &v, &err);
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    texts_free(&texts);
    options_free(&parsed);
    return code;
}
