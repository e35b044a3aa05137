/*
 * plan_text.c: reads and prints a plan as text: a line per option, KEY VALUE, with the words of the command line.
 *
 * The keys are a table, whose rows read a value and add it to the rules. Only the line is checked here, and an error
 * names it; plan_rules_finish() checks the whole. Names may hold colons, so a source is read from the right; printing
 * adds ":none" to a name that would be read in another way. Options are printed in a fixed order and decimals in one
 * form, so that equal rules have equal texts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "plan_order.h"
#include "plan_rules.h"

#define FIRST_LINE            "leat plan 1"
#define FIRST_LINE_OF_CHANGES "leat changes 1"

/* ---- Reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct key;

#define MAX_KEYS 40u /* of a table, with its end */

struct reader {
    struct plan_rules *rules;
    const struct key *keys; /* table of the keys, whose last row has no name */
    const char *first_line, *what, *unknown;
    size_t added;      /* number of the first source that the change adds; each added source needs an `at` */
    const char *label; /* NULL: none */
    uint64_t line, at; /* number of the line, and its place in the text */
    const char *key, *value;
    size_t key_length, value_length;
    const char *field;   /* name in struct leat_plan_options; NULL: the key is unknown */
    bool seen[MAX_KEYS]; /* keys of the table that were given already */
    bool seeded;
    struct leat_error *err;
};

/* Fails with the line's place before the sentence. */
STATUS_PRINTF(2, 3)
static enum leat_status wrong(const struct reader *r, const char *format, ...)
{
    char sentence[900];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (!r->label)
        status_set_at(r->err, LEAT_E_ARGUMENT, NULL, r->at, "%.*s: %.800s", plan_rules_shown(r->key_length), r->key,
                      sentence);
    else
        status_set_at(r->err, LEAT_E_ARGUMENT, r->label, r->at, "%.100s, line %" PRIu64 ": %.800s", r->label, r->line,
                      sentence);
    return status_field(r->err, LEAT_E_ARGUMENT, r->field);
}

/* Adds the line's place to the error of a failed call. */
static enum leat_status placed(const struct reader *r, enum leat_status s)
{
    struct leat_error err;

    if (s != LEAT_E_ARGUMENT || !r->err)
        return s;
    err = *r->err;
    return wrong(r, "%s", err.message);
}

static enum leat_status read_number(struct reader *r, uint64_t *value)
{
    if (plan_rules_number(r->value, r->value_length, value))
        return LEAT_OK;
    return wrong(r, "\"%.*s\" is not a whole number below 2^64, in digits", plan_rules_shown(r->value_length),
                 r->value);
}

static enum leat_status read_seed(struct reader *r)
{
    r->seeded = true;
    return read_number(r, &r->rules->seed);
}

static enum leat_status read_seq_len(struct reader *r)
{
    return read_number(r, &r->rules->seq_len);
}

static enum leat_status read_base_len(struct reader *r)
{
    return read_number(r, &r->rules->base_len);
}

static enum leat_status read_epochs(struct reader *r)
{
    return read_number(r, &r->rules->epochs);
}

/* Returns the number of the option of rows of whole documents with this name; PLAN_FIT_OPTIONS: unknown name. */
static unsigned find_fit(const char *name, size_t length)
{
    unsigned i = 0;

    while (i < PLAN_FIT_OPTIONS &&
           (strlen(plan_fit_names[i]) != length || memcmp(plan_fit_names[i], name, length) != 0))
        i++;
    return i;
}

static enum leat_status read_fit(struct reader *r)
{
    return read_number(r, &r->rules->fit[find_fit(r->key, r->key_length)]);
}

/* Reads one rule of a source, text[0..length): RULE=VALUE. */
static enum leat_status read_rule(struct reader *r, const char *text, size_t length, uint64_t *fit)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    unsigned option = find_fit(text, name);

    if (option == PLAN_FIT_OPTIONS)
        return wrong(r,
                     "unknown rule \"%.*s\"; the rules of a source are max-per-row, min-length, max-length, cut-length "
                     "and whole",
                     plan_rules_shown(name), text);
    if (fit[option] > 0)
        return wrong(r, "%s is given twice", plan_fit_names[option]);
    if (!equals && option == PLAN_FIT_WHOLE) {
        fit[option] = 1;
        return LEAT_OK;
    }
    if (equals && plan_rules_number(equals + 1, length - name - 1, &fit[option]) && fit[option] > 0)
        return LEAT_OK;
    return wrong(r, "\"%.*s\" is not RULE=VALUE with a whole number of at least 1", plan_rules_shown(length), text);
}

/* Reads N: before what a line gives to source N. Sets *text to what follows, which reaches to the value's end. */
static enum leat_status read_source_number(struct reader *r, const char *form, uint64_t *source, const char **text)
{
    const char *colon = memchr(r->value, ':', r->value_length);

    if (!colon || !plan_rules_number(r->value, (size_t)(colon - r->value), source))
        return wrong(r, "\"%.*s\" is not N:%s, where N is the number of a source", plan_rules_shown(r->value_length),
                     r->value, form);
    if (*source >= r->rules->source_count)
        return wrong(r, "no source %" PRIu64 ": the plan has %zu up to here, numbered from 0", *source,
                     r->rules->source_count);
    if (*source < r->added)
        return wrong(r, "source %" PRIu64 " has its rules from the start: a change gives them to sources that it adds",
                     *source);
    for (*text = colon + 1; *text < r->value + r->value_length && is_blank(**text);)
        ++*text;
    return LEAT_OK;
}

/* N:CONDITION */
static enum leat_status read_where(struct reader *r)
{
    const char *text;
    uint64_t source;
    enum leat_status s = read_source_number(r, "CONDITION", &source, &text);

    if (s == LEAT_OK && r->rules->sources[source].where)
        return wrong(r, "the condition of source %" PRIu64 " is given twice", source);
    return s == LEAT_OK ? placed(r, plan_rules_set_where(r->rules, (size_t)source, text,
                                                         (size_t)(r->value + r->value_length - text), r->err))
                        : s;
}

/* N:CALCULATION */
static enum leat_status read_repeat(struct reader *r)
{
    const char *text;
    uint64_t source;
    enum leat_status s = read_source_number(r, "CALCULATION", &source, &text);

    if (s == LEAT_OK && r->rules->sources[source].repeat)
        return wrong(r, "how often source %" PRIu64 " repeats documents is given twice", source);
    return s == LEAT_OK ? placed(r, plan_rules_set_repeat(r->rules, (size_t)source, text,
                                                          (size_t)(r->value + r->value_length - text), r->err))
                        : s;
}

/* N:SUM */
static enum leat_status read_chosen(struct reader *r)
{
    static const char digits[] = "0123456789abcdef";
    const char *text, *end = r->value + r->value_length;
    struct plan_source_rule *rule;
    uint64_t source;
    enum leat_status s = read_source_number(r, "SUM", &source, &text);

    if (s != LEAT_OK)
        return s;
    rule = &r->rules->sources[source];
    if (rule->has_sum)
        return wrong(r, "the sum of the choice of source %" PRIu64 " is given twice", source);
    rule->has_sum = end - text == 16;
    for (; text < end; text++) {
        const char *digit = *text ? strchr(digits, *text) : NULL;

        rule->has_sum = rule->has_sum && digit;
        rule->sum = rule->sum << 4 | (uint64_t)(digit ? digit - digits : 0);
    }
    return rule->has_sum ? LEAT_OK
                         : wrong(r, "\"%.*s\" is not N:SUM with 16 hexadecimal digits",
                                 plan_rules_shown(r->value_length), r->value);
}

/* N:RULE=VALUE,... */
static enum leat_status read_source_fit(struct reader *r)
{
    const char *text, *end = r->value + r->value_length;
    uint64_t fit[PLAN_FIT_OPTIONS] = { 0 }, source;
    enum leat_status s = read_source_number(r, "RULE=VALUE,...", &source, &text);

    if (s != LEAT_OK)
        return s;
    if (!bytes_all_zero(r->rules->sources[source].fit, sizeof fit))
        return wrong(r, "the rules of source %" PRIu64 " are given twice", source);
    for (const char *at = text, *comma; s == LEAT_OK && at <= end; at = comma + 1) {
        comma = memchr(at, ',', (size_t)(end - at));
        comma = comma ? comma : end;
        s = read_rule(r, at, (size_t)(comma - at), fit);
    }
    return s == LEAT_OK ? placed(r, plan_rules_set_fit(r->rules, (size_t)source, fit, r->err)) : s;
}

static enum leat_status read_by_tokens(struct reader *r)
{
    unsigned i = 0;

    while (strlen(plan_tokens_names[i]) != r->key_length || memcmp(plan_tokens_names[i], r->key, r->key_length) != 0)
        i++;
    return read_number(r, &r->rules->by_tokens[i]);
}

static enum leat_status read_stretches(struct reader *r)
{
    enum leat_status s;
    unsigned i = 0;

    while (strlen(plan_stretches_names[i]) != r->key_length ||
           memcmp(plan_stretches_names[i], r->key, r->key_length) != 0)
        i++;
    s = read_number(r, &r->rules->stretches[i]);
    return s == LEAT_OK && r->rules->stretches[i] == 0 ? wrong(r, "%s must be at least 1", plan_stretches_names[i]) : s;
}

static enum leat_status read_order(struct reader *r)
{
    struct leat_error sentence;

    if (plan_order_find(r->value, r->value_length, &r->rules->order))
        return LEAT_OK;
    status_set(&sentence, LEAT_E_ARGUMENT, "unknown order \"%.*s\"; the orders are %s",
               plan_rules_shown(r->value_length), r->value, leat_order_name((enum leat_order)0));
    for (unsigned i = 1; leat_order_name((enum leat_order)i); i++)
        status_after(&sentence, ", %s", leat_order_name((enum leat_order)i));
    return wrong(r, "%s", sentence.message);
}

static enum leat_status read_stop(struct reader *r)
{
    bool first = r->value_length == 5 && memcmp(r->value, "first", 5) == 0;

    r->rules->stop = first ? LEAT_STOP_FIRST : LEAT_STOP_ALL;
    if (first || (r->value_length == 3 && memcmp(r->value, "all", 3) == 0))
        return LEAT_OK;
    return wrong(r, "\"%.*s\" is not all or first: which spent sources end the plan", plan_rules_shown(r->value_length),
                 r->value);
}

static enum leat_status read_samples(struct reader *r)
{
    enum leat_status s = read_number(r, &r->rules->megatron.samples);

    if (s == LEAT_OK && r->rules->megatron.samples == 0)
        return wrong(r, "the number of samples is 0: give at least 1");
    return s;
}

static enum leat_status read_surplus(struct reader *r)
{
    return placed(r, plan_megatron_set_surplus(r->rules, r->value, r->value_length, r->err));
}

/* RATE,SPM,PREFIX,MIDDLE,SUFFIX */
static enum leat_status read_fim(struct reader *r)
{
    const char *fields[2 + PLAN_FIM_IDS], *at = r->value, *end = r->value + r->value_length;
    size_t lengths[2 + PLAN_FIM_IDS], count = 0;
    struct plan_fim_text text;
    bool more = true, ok = true;

    for (; more && count < 2 + PLAN_FIM_IDS; count++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));

        fields[count] = at;
        lengths[count] = (size_t)((comma ? comma : end) - at);
        more = comma != NULL;
        at = comma ? comma + 1 : end;
    }
    ok = count == 2 + PLAN_FIM_IDS && !more;
    for (unsigned i = 0; ok && i < PLAN_FIM_IDS; i++) {
        uint64_t id;

        ok = plan_rules_number(fields[2 + i], lengths[2 + i], &id) && id <= UINT32_MAX;
        text.ids[i] = (uint32_t)id;
    }
    if (!ok)
        return wrong(r, "\"%.*s\" is not RATE,SPM,PREFIX,MIDDLE,SUFFIX, of which the last three are token ids",
                     plan_rules_shown(r->value_length), r->value);
    text.rate = fields[0];
    text.rate_length = lengths[0];
    text.spm = fields[1];
    text.spm_length = lengths[1];
    return placed(r, plan_rules_set_fim(r->rules, &text, r->err));
}

static enum leat_status read_split(struct reader *r)
{
    return placed(r, plan_rules_set_split(r->rules, r->value, r->value_length, r->err));
}

static enum leat_status read_use(struct reader *r)
{
    return placed(r, plan_rules_set_use(r->rules, r->value, r->value_length, r->err));
}

/* Returns where the last field of text[0..length) begins, after a colon; 0: no colon. */
static size_t last_field(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != ':')
        length--;
    return length;
}

/* Reads NAME, NAME:WEIGHT or NAME:WEIGHT:EPOCHS, from the right, since names may hold colons. */
static enum leat_status read_source(struct reader *r)
{
    size_t length = r->value_length, last = last_field(r->value, length);
    size_t weight = last > 0 ? decimal_after_name(r->value, last - 1) : 0;
    bool none = last > 0 && length - last == 4 && memcmp(r->value + last, "none", 4) == 0;
    struct plan_source_text text = { .name = r->value };

    if (weight > 0 && (none || decimal_after_name(r->value, length) > 0)) {
        if (!none && (!plan_rules_number(r->value + last, length - last, &text.epochs) || text.epochs == 0))
            return wrong(r,
                         "in \"%.*s\", read from the right as NAME:WEIGHT:EPOCHS, the limit of epochs is not a whole "
                         "number above 0; if the name ends in \":%.*s\", write :none after the weight",
                         plan_rules_shown(length), r->value, plan_rules_shown(last - 1 - weight), r->value + weight);
        length = last - 1;
    } else {
        weight = decimal_after_name(r->value, length);
    }
    if (weight > 0) {
        text.weight = r->value + weight;
        text.weight_length = length - weight;
        length = weight - 1;
    }
    text.name_length = length;
    return placed(r, plan_rules_add_source(r->rules, &text, r->err));
}

/* N:WEIGHTS[:len=L] */
static enum leat_status read_at(struct reader *r)
{
    const char *colon = memchr(r->value, ':', r->value_length), *weights, *end = r->value + r->value_length;
    uint64_t begin, seq_len = 0;
    const char *second;

    if (!colon || !plan_rules_number(r->value, (size_t)(colon - r->value), &begin))
        return wrong(r, "\"%.*s\" is not N:WEIGHTS or N:WEIGHTS:len=L, where N is the first sample of the change",
                     plan_rules_shown(r->value_length), r->value);
    weights = colon + 1;
    second = memchr(weights, ':', (size_t)(end - weights));
    if (second && (end - second < 5 || memcmp(second, ":len=", 5) != 0 ||
                   !plan_rules_number(second + 5, (size_t)(end - second - 5), &seq_len) || seq_len == 0))
        return wrong(r, "\"%.*s\" has no length, such as len=2048, after its weights",
                     plan_rules_shown(r->value_length), r->value);
    return placed(r, plan_rules_add_phase(r->rules, begin, weights, (size_t)((second ? second : end) - weights),
                                          seq_len, r->err));
}

/* Reads N, N:WEIGHTS, or either with :len=L, of a change */
static enum leat_status read_change(struct reader *r)
{
    const char *end = r->value + r->value_length, *colon = memchr(r->value, ':', r->value_length);
    const char *weights = colon ? colon + 1 : end, *second = memchr(weights, ':', (size_t)(end - weights)),
               *length = NULL;
    struct plan_change change = { .weights = weights, .added = r->added };
    enum leat_status s;

    if (end - weights > 4 && memcmp(weights, "len=", 4) == 0)
        length = second = weights;
    else if (second)
        length = second + 1;
    change.weights_length = (size_t)((second ? second : end) - weights);
    if (!plan_rules_number(r->value, (size_t)((colon ? colon : end) - r->value), &change.at))
        return wrong(r, "\"%.*s\" is not N, N:WEIGHTS or N:WEIGHTS:len=L, where N is the first sample of the change",
                     plan_rules_shown(r->value_length), r->value);
    if (length && (end - length < 5 || memcmp(length, "len=", 4) != 0 ||
                   !plan_rules_number(length + 4, (size_t)(end - length - 4), &change.seq_len) || change.seq_len == 0))
        return wrong(r, "\"%.*s\" has no length, such as len=2048, after its weights",
                     plan_rules_shown(r->value_length), r->value);
    s = placed(r, plan_rules_change(r->rules, &change, r->err));
    r->added = r->rules->source_count;
    return s;
}

/* A:B */
static enum leat_status read_skip(struct reader *r)
{
    const char *colon = memchr(r->value, ':', r->value_length);
    uint64_t first, end;

    if (!colon || !plan_rules_number(r->value, (size_t)(colon - r->value), &first) ||
        !plan_rules_number(colon + 1, r->value_length - (size_t)(colon + 1 - r->value), &end))
        return wrong(r, "\"%.*s\" is not A:B, samples A to B - 1", plan_rules_shown(r->value_length), r->value);
    return placed(r, plan_rules_add_skip(r->rules, first, end, r->err));
}

/* START:NAME:DOCUMENTS */
static enum leat_status read_ban(struct reader *r)
{
    return placed(r, plan_bans_add(r->rules, r->value, r->value_length, r->err));
}

static const struct key {
    const char *name, *field;
    bool many; /* the key may come more than once */
    enum leat_status (*read)(struct reader *r);
} keys[] = {
    { "source", "sources", true, read_source },
    { "seq-len", "seq_len", false, read_seq_len },
    { "base-len", "base_len", false, read_base_len },
    { "seed", "seed", false, read_seed },
    { "order", "order", false, read_order },
    { "epochs", "epochs", false, read_epochs },
    { "stop", "stop", false, read_stop },
    { "split", "split", false, read_split },
    { "use", "use", false, read_use },
    { "at", "phases", true, read_at },
    { "skip", "skips", true, read_skip },
    { "ban", "bans", true, read_ban },
    { "samples", "samples", false, read_samples },
    { "mid-level-dataset-surplus", "mid_level_dataset_surplus", false, read_surplus },
    { "max-per-row", "max_per_row", false, read_fit },
    { "min-length", "min_length", false, read_fit },
    { "max-length", "max_length", false, read_fit },
    { "cut-length", "cut_length", false, read_fit },
    { "align", "align", false, read_fit },
    { "overlap", "overlap", false, read_fit },
    { "begin", "begin", false, read_fit },
    { "whole", "whole", false, read_fit },
    { "fit", "fit", true, read_source_fit },
    { "where", "where", true, read_where },
    { "repeat", "repeat", true, read_repeat },
    { "chosen", "where", true, read_chosen },
    { "max-tokens", "max_tokens", false, read_by_tokens },
    { "max-rows", "max_rows", false, read_by_tokens },
    { "pool", "pool", false, read_by_tokens },
    { "stretch", "stretch", false, read_stretches },
    { "mix", "mix", false, read_stretches },
    { "lanes", "lanes", false, read_stretches },
    { "fim", "fim", false, read_fim },
    { NULL, NULL, false, NULL },
};
_Static_assert(sizeof keys / sizeof *keys <= MAX_KEYS, "each key has its place in `seen`");
#define UNKNOWN                                                                                                        \
    "a line of a plan starts with source, seq-len, base-len, seed, order, epochs, stop, split, use, at, skip, ban, "   \
    "samples, mid-level-dataset-surplus, max-per-row, min-length, max-length, cut-length, align, overlap, begin, "     \
    "whole, fit, where, repeat, chosen, max-tokens, max-rows, pool, stretch, mix, lanes or fim"

static const struct key change_keys[] = {
    { "source", "sources", true, read_source },
    { "fit", "fit", true, read_source_fit },
    { "where", "where", true, read_where },
    { "repeat", "repeat", true, read_repeat },
    { "chosen", "where", true, read_chosen },
    { "at", "at", true, read_change },
    { NULL, NULL, false, NULL },
};

static enum leat_status read_line(struct reader *r, const char *line, size_t length)
{
    for (; length > 0 && is_blank(line[0]); length--)
        line++;
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    if (length == 0 || line[0] == '#')
        return LEAT_OK;
    r->key = r->value = line;
    r->field = NULL;
    for (r->key_length = 0; r->key_length < length && !is_blank(line[r->key_length]);)
        r->key_length++;
    r->value = line + r->key_length;
    r->value_length = length - r->key_length;
    for (; r->value_length > 0 && is_blank(r->value[0]); r->value_length--)
        r->value++;
    for (size_t i = 0; r->keys[i].name; i++) {
        const struct key *key = &r->keys[i];

        if (strlen(key->name) != r->key_length || memcmp(key->name, r->key, r->key_length) != 0)
            continue;
        r->field = key->field;
        if (r->value_length == 0)
            return wrong(r, "%s has no value", key->name);
        if (r->seen[i] && !key->many)
            return wrong(r, "%s is given twice", key->name);
        r->seen[i] = true;
        return key->read(r);
    }
    return wrong(r, "unknown key \"%.*s\"; %s", plan_rules_shown(r->key_length), r->key, r->unknown);
}

/* Reads all lines; the first one must be the reader's, unless there is no label. */
static enum leat_status read_text(struct reader *r, const char *text, size_t bytes)
{
    size_t known = strlen(r->first_line), words = known - 1; /* length of the line without the version, which is one
                                                                digit */
    bool begun = !r->label;
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < bytes;) {
        const char *line = text + at, *newline = memchr(line, '\n', bytes - at);
        size_t length = newline ? (size_t)(newline - line) : bytes - at;

        r->at = at;
        r->line++;
        at += length + 1;
        if (begun) {
            s = read_line(r, line, length);
            continue;
        }
        while (length > 0 && is_blank(line[length - 1]))
            length--;
        begun = length == known && memcmp(line, r->first_line, length) == 0;
        if (!begun && length >= words && memcmp(line, r->first_line, words) == 0)
            return wrong(r, "unknown version of %s (this library is %s): \"%.*s\"", r->what, LEAT_VERSION,
                         plan_rules_shown(length), line);
        if (!begun)
            break;
    }
    if (s == LEAT_OK && !begun) {
        r->line = 1;
        r->at = 0;
        if (bytes == 0)
            return wrong(r, "not %s: it is empty; the program that wrote it may have failed", r->what);
        return wrong(r, "not %s: its first line is not \"%s\"", r->what, r->first_line);
    }
    return s;
}

enum leat_status plan_rules_read(struct plan_rules *rules, const char *text, size_t bytes, const char *label,
                                 struct leat_error *err)
{
    struct reader r = { .rules = rules,
                        .keys = keys,
                        .first_line = FIRST_LINE,
                        .what = "a plan",
                        .unknown = UNKNOWN,
                        .label = label,
                        .err = err };
    enum leat_status s = read_text(&r, text, bytes);

    if (s == LEAT_OK && !r.seeded && plan_order_of(rules->order)->megatron)
        rules->seed = PLAN_MEGATRON_SEED;
    return s;
}

enum leat_status plan_rules_read_changes(struct plan_rules *rules, const char *text, size_t bytes, const char *label,
                                         struct leat_error *err)
{
    struct reader r = { .rules = rules,
                        .keys = change_keys,
                        .first_line = FIRST_LINE_OF_CHANGES,
                        .what = "a text of changes",
                        .unknown = "a line of changes starts with source, fit, where, repeat, chosen or at",
                        .added = rules->source_count,
                        .label = label,
                        .err = err };
    enum leat_status s = read_text(&r, text, bytes);

    if (s == LEAT_OK && r.added < rules->source_count)
        return wrong(&r, "a source is added without a change: a line at N comes after the sources that it adds");
    return s;
}

enum leat_status plan_rules_read_bans(struct plan_rules *rules, const char *text, size_t bytes, struct leat_error *err)
{
    struct leat_error own;
    struct reader r = { .rules = rules, .keys = keys, .unknown = UNKNOWN, .err = err ? err : &own };
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < bytes;) {
        const char *line = text + at, *newline = memchr(line, '\n', bytes - at);
        size_t length = newline ? (size_t)(newline - line) : bytes - at;

        r.at = at;
        at += length + 1;
        while (length > 0 && is_blank(*line)) {
            line++;
            length--;
        }
        if (length > 0 && line[0] != '#' && (length < 4 || memcmp(line, "ban", 3) != 0 || !is_blank(line[3])))
            return status_argument(err, "bans", "\"%.*s\" is not a ban: each line is ban START:NAME:DOCUMENTS",
                                   plan_rules_shown(length), line);
        s = read_line(&r, line, length);
    }
    return s;
}

/* ---- Printing ---- */

struct printer {
    char *text;
    size_t capacity;
    uint64_t length;
};

static void print_text(struct printer *p, const char *text)
{
    for (; *text; text++, p->length++)
        if (p->length + 1 < p->capacity)
            p->text[p->length] = *text;
}

STATUS_PRINTF(2, 3)
static void print(struct printer *p, const char *format, ...)
{
    char text[PLAN_FIM_TEXT + 8];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_text(p, text);
}

static void print_source(struct printer *p, const struct plan_source_rule *s, bool weighted)
{
    char weight[DECIMAL_TEXT];

    print_text(p, "source ");
    print_text(p, s->name);
    if (weighted)
        print(p, ":%s", decimal_print(s->weight, weight));
    if (s->epochs > 0)
        print(p, ":%" PRIu64, s->epochs);
    else if (weighted && decimal_after_name(s->name, strlen(s->name)) > 0)
        print_text(p, ":none");
    print_text(p, "\n");
}

static void print_source_fit(struct printer *p, size_t source, const uint64_t *fit)
{
    const char *before = "";

    for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++) {
        if (fit[i] == 0)
            continue;
        if (!*before)
            print(p, "fit %zu:", source);
        print(p, "%s%s=%" PRIu64, before, plan_fit_names[i], fit[i]);
        before = ",";
    }
    if (*before)
        print_text(p, "\n");
}

static void print_choice(struct printer *p, size_t source, const struct plan_source_rule *s)
{
    if (s->where) {
        print(p, "where %zu:", source);
        print_text(p, s->where);
        print_text(p, "\n");
    }
    if (s->repeat) {
        print(p, "repeat %zu:", source);
        print_text(p, s->repeat);
        print_text(p, "\n");
    }
    if (s->has_sum)
        print(p, "chosen %zu:%016" PRIx64 "\n", source, s->sum);
}

static void print_phase(struct printer *p, const struct plan_phase_rule *phase)
{
    char weight[DECIMAL_TEXT];

    print(p, "at %" PRIu64 ":", phase->begin);
    for (size_t i = 0; i < phase->weight_count; i++)
        print(p, "%s%s", i > 0 ? "," : "", decimal_print(phase->weights[i], weight));
    if (phase->seq_len > 0)
        print(p, ":len=%" PRIu64, phase->seq_len);
    print_text(p, "\n");
}

#define BAN_LINE 100u /* a line of bans ends after this many bytes */

static void print_bans(struct printer *p, const struct plan_rules *r)
{
    const struct plan_ban_rule *before = NULL;
    uint64_t begin = 0;

    for (size_t i = 0; i < r->ban_count; i++) {
        const struct plan_ban_rule *b = &r->bans[i];
        bool joined = before && b->source == before->source && b->start == before->start;

        if (r->sources[b->source].has_namesake) /* the bans of the earlier source with this name are these, too */
            continue;
        if (joined && p->length - begin < BAN_LINE) {
            print_text(p, ",");
        } else {
            if (before)
                print_text(p, "\n");
            begin = p->length;
            print(p, "ban %" PRIu64 ":", b->start);
            print_text(p, r->sources[b->source].name);
            print_text(p, ":");
        }
        print(p, "%" PRIu64, b->first);
        if (b->end > b->first + 1)
            print(p, "-%" PRIu64, b->end - 1);
        before = b;
    }
    if (before)
        print_text(p, "\n");
}

uint64_t plan_rules_print(const struct plan_rules *r, char *text, size_t capacity)
{
    struct printer p = { text, capacity, 0 };
    char fraction[DECIMAL_TEXT], fim[PLAN_FIM_TEXT];

    print_text(&p, FIRST_LINE "\n");
    print(&p, "seed %" PRIu64 "\nseq-len %" PRIu64 "\nbase-len %" PRIu64 "\n", r->seed, r->seq_len, r->base_len);
    print(&p, "order %s\n", leat_order_name((enum leat_order)r->order));
    if (r->epochs > 0)
        print(&p, "epochs %" PRIu64 "\n", r->epochs);
    if (r->stop == LEAT_STOP_FIRST)
        print_text(&p, "stop first\n");
    for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++)
        if (r->fit[i] > 0)
            print(&p, "%s %" PRIu64 "\n", plan_fit_names[i], r->fit[i]);
    for (unsigned i = 0; i < PLAN_BY_TOKENS && r->by_tokens[PLAN_MAX_TOKENS] > 0; i++)
        print(&p, "%s %" PRIu64 "\n", plan_tokens_names[i], r->by_tokens[i]);
    for (unsigned i = 0; i < PLAN_STRETCHES && r->stretches[PLAN_STRETCH] > 0; i++)
        print(&p, "%s %" PRIu64 "\n", plan_stretches_names[i], r->stretches[i]);
    if (r->fim.given)
        print(&p, "fim %s\n", plan_rules_fim_text(r, fim));
    for (size_t i = 0; i < r->split_count; i++) {
        print_text(&p, i == 0 ? "split " : ",");
        print_text(&p, r->splits[i].name);
        print(&p, "=%s", decimal_print(r->splits[i].fraction, fraction));
    }
    for (unsigned i = 0; i < r->megatron.ratio_count; i++)
        print(&p, "%s%s", i == 0 ? "split " : ",", decimal_print(r->megatron.ratios[i], fraction));
    if (r->split_count > 0 || r->megatron.ratio_count > 0) {
        print_text(&p, "\nuse ");
        print_text(&p, r->use);
        print_text(&p, "\n");
    }
    if (r->megatron.samples > 0)
        print(&p, "samples %" PRIu64 "\n", r->megatron.samples);
    if (plan_order_of(r->order)->megatron)
        print(&p, "mid-level-dataset-surplus %s\n", decimal_print(r->megatron.surplus, fraction));
    for (size_t i = 0; i < r->source_count; i++)
        print_source(&p, &r->sources[i], r->sources[i].weighted || !plan_order_of(r->order)->megatron);
    for (size_t i = 0; i < r->source_count; i++)
        print_source_fit(&p, i, r->sources[i].fit);
    for (size_t i = 0; i < r->source_count; i++)
        print_choice(&p, i, &r->sources[i]);
    for (size_t i = 0; i < r->phase_count; i++)
        print_phase(&p, &r->phases[i]);
    for (size_t i = 0; i < r->skip_count; i++)
        print(&p, "skip %" PRIu64 ":%" PRIu64 "\n", r->skips[i].first, r->skips[i].end);
    print_bans(&p, r);
    if (capacity > 0)
        text[p.length < capacity ? p.length : capacity - 1] = '\0';
    return p.length;
}
