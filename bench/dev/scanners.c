/*
 * scanners.c: `leat-bench-dev scanners`: how fast texts are cut into pretokens, by each family of scanners and each of
 * its rows that this CPU can run; whether all rows of a family cut alike; and how fast UTF-8 is checked.
 *
 * Each document is a window of its own, and pretokens are only counted, and their ends mixed into a number, which must
 * be equal for all rows of a family.
 */
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "bench/data/texts.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/units.h"
#include "tokenizer/scan/scan.h"

#define ROOM 1024u

struct scanners_values {
    const char *field, *family, *row;
    uint64_t runs;
    bool json;
};

const struct option_row bench_scanners_options[] = {
    { BENCH_OPTION(scanners_values, "family", OPTION_TEXT, family, "NAME",
                   "only this family: gpt2, cl100k, llama3, qwen2, qwen3.5, o200k, tekken, kimi, deepseek; or utf8: "
                   "whether text is well-formed") },
    { BENCH_OPTION(scanners_values, "row", OPTION_TEXT, row, "NAME",
                   "only this row: avx512vbmi, avx512, avx2, neon, words or plain") },
    BENCH_FIELD(scanners_values),
    BENCH_RUNS(scanners_values, "5", "runs over all texts, of which the best counts"),
    BENCH_JSON(scanners_values),
    OPTIONS_END
};

/* What a run of one scanner found. */
struct cut {
    uint64_t pretokens, mix; /* `mix` depends on every end and on their order */
    double seconds;          /* CPU seconds of this thread */
};

/* Cuts every document as a window of its own. */
static struct cut cut_texts(const struct scanner *s, const struct texts *t, bool mixes)
{
    struct cut c = { .seconds = machine_thread_seconds() };
    uint32_t ends[ROOM];

    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t begin = texts_begin(t, i);
        struct scan_window window = { (const uint8_t *)t->bytes + begin, (size_t)(t->ends[i] - begin), true };
        size_t at = 0, n;

        do {
            n = scan_next(s, &window, &at, ends, ROOM);
            c.pretokens += n;
            for (size_t k = 0; mixes && k < n; k++)
                c.mix = (c.mix ^ ends[k]) * UINT64_C(0x9e3779b97f4a7c15);
        } while (n == ROOM);
    }
    c.seconds = machine_thread_seconds() - c.seconds;
    return c;
}

/* Checks whether each document is well-formed UTF-8; counts each of them as one pretoken. */
static struct cut check_texts(const struct utf8_row *row, const struct texts *t)
{
    struct cut c = { .seconds = machine_thread_seconds() };

    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t begin = texts_begin(t, i), bytes = t->ends[i] - begin;

        c.pretokens += row->valid_prefix((const uint8_t *)t->bytes + begin, (size_t)bytes) == bytes;
    }
    c.seconds = machine_thread_seconds() - c.seconds;
    return c;
}

static void print_row(const char *family, const char *row, const struct texts *t, const struct cut *best,
                      struct json *j)
{
    double rate = machine_per((double)t->used, best->seconds);

    if (!j) {
        printf("%-10s%-14s%12s  ", family, row, units_rate(rate, "B").text);
        printf("%s\n", units_count(best->pretokens).text);
        return;
    }
    json_open_object(j, NULL);
    json_string(j, "family", family);
    json_string(j, "row", row);
    json_double(j, "mb_per_s", rate / 1e6);
    json_u64(j, "pretokens", best->pretokens);
    json_close_object(j);
}

/* Returns true if the user selected the row and the CPU can run it. */
static bool wanted_row(const char *name, enum cpu_level needs, const struct scanners_values *v)
{
    return needs <= cpu_level() && (!v->row || strcmp(v->row, name) == 0);
}

static void measure_utf8(const struct texts *t, const struct scanners_values *v, struct json *j)
{
    const struct utf8_row *row;

    for (size_t i = 0; (row = utf8_row(i)) != NULL; i++) {
        struct cut found, best = { .seconds = 1e9 };

        for (uint64_t run = 0; run < v->runs && wanted_row(row->name, row->needs, v); run++) {
            found = check_texts(row, t);
            best = found.seconds < best.seconds ? found : best;
        }
        if (best.seconds < 1e9)
            print_row("utf8", row->name, t, &best, j);
    }
}

/* Measures each row of a family. All of them must cut as the plain row does, which is the last one. */
static enum leat_status measure_family(const struct scan_family *family, const struct texts *t,
                                       const struct scanners_values *v, struct json *j, struct leat_error *err)
{
    struct cut wanted;
    struct scanner s;

    if (!scanner_named(&s, family->name, SCAN_ONIGURUMA))
        return status_set(err, LEAT_E_ARGUMENT, "no family %s", family->name);
    for (s.row = family->rows; s.row[1].name; s.row++)
        ;
    wanted = cut_texts(&s, t, true);
    for (s.row = family->rows; s.row->name; s.row++) {
        struct cut found, best = { .seconds = 1e9 };

        if (!wanted_row(s.row->name, s.row->needs, v))
            continue;
        found = cut_texts(&s, t, true);
        if (found.pretokens != wanted.pretokens || found.mix != wanted.mix)
            return status_set(err, LEAT_E_MISMATCH, "%s, %s: its pretokens differ from those of the plain row",
                              family->name, s.row->name);
        for (uint64_t run = 0; run < v->runs; run++) {
            found = cut_texts(&s, t, false);
            best = found.seconds < best.seconds ? found : best;
        }
        print_row(family->name, s.row->name, t, &best, j);
    }
    return LEAT_OK;
}

static bool wanted_family(const char *name, const struct scanners_values *v)
{
    return !v->family || strcmp(v->family, name) == 0;
}

/* Returns true if anything can be measured. An unknown family is reported later. */
static bool has_row(const struct scanners_values *v)
{
    const struct scan_family *family;
    const struct utf8_row *row;
    bool known = wanted_family("utf8", v);

    for (size_t i = 0; known && (row = utf8_row(i)) != NULL; i++)
        if (wanted_row(row->name, row->needs, v))
            return true;
    for (size_t i = 0; (family = scan_family_number(i)) != NULL; i++) {
        if (!wanted_family(family->name, v))
            continue;
        known = true;
        for (size_t k = 0; family->rows[k].name; k++)
            if (wanted_row(family->rows[k].name, family->rows[k].needs, v))
                return true;
    }
    return !known;
}

static enum leat_status measure(const struct texts *t, const struct scanners_values *v, struct json *j,
                                struct leat_error *err)
{
    const struct scan_family *family;
    enum leat_status s = LEAT_OK;
    bool found = false;

    for (size_t i = 0; s == LEAT_OK && (family = scan_family_number(i)) != NULL; i++)
        if (wanted_family(family->name, v)) {
            found = true;
            s = measure_family(family, t, v, j, err);
        }
    if (s == LEAT_OK && wanted_family("utf8", v)) {
        found = true;
        measure_utf8(t, v, j);
    }
    return found ? s : status_set(err, LEAT_E_ARGUMENT, "unknown family of scanners \"%s\"", v->family);
}

static enum leat_status print_rates(const struct texts *t, const struct scanners_values *v, struct leat_error *err)
{
    enum leat_status s;
    struct json j;

    if (!has_row(v))
        return status_set(err, LEAT_E_ARGUMENT, "no row \"%s\" that this CPU can run", v->row);
    if (!v->json) {
        machine_print();
        printf("text      %s in %s documents\n", units_bytes(t->used).text, units_count(t->count).text);
        printf("%-10s%-14s%12s  %s\n", "family", "row", "rate", "pretokens");
        return measure(t, v, NULL, err);
    }
    machine_json_begin(&j);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "documents", t->count);
    json_open_array(&j, "rows");
    s = measure(t, v, &j, err);
    json_close_array(&j);
    machine_json_end(&j);
    return s;
}

int bench_scanners(const struct command *self, int argc, char **argv)
{
    struct scanners_values v = { .field = "text", .runs = 5 };
    struct texts texts;
    struct options_parsed parsed;
    enum leat_status s;
    struct leat_error err;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    s = texts_read(&texts, parsed.words, parsed.count, v.field, &err);
    if (s == LEAT_OK)
        s = print_rates(&texts, &v, &err);
    texts_free(&texts);
    return bench_end(&parsed, s, &err);
}
