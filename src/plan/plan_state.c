/*
 * plan_state.c: writes the state of a run as text, and checks whether a plan has the same past as a state.
 *
 * The past is all samples up to the last one that was shown. Everything that it depends on goes into a chain of hashes:
 * rules, seed and base length, then the sources one by one, then the phases that had begun. 64 bits of the chain are
 * kept after each source and phase, so that an error can name the first difference; if there are more than STEPS, a
 * kept hash covers several. Later sources and phases are not in the chain, and may change.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "checksum/checksum.h"
#include "order/stretches.h"
#include "plan.h"

#define FIRST_LINE     "leat state 1"
#define TOKENS_LINE    "by-tokens " /* version, then plan_tokens_names */
#define STRETCHES_LINE "stretches " /* version, then plan_stretches_names */
#define STEPS          64u

/* ---- The chain ---- */

struct chain {
    const struct checksum_kernels *kernels;
    struct hash128 hash;
};

#define CHAIN_WORDS 8u

static void chain_words(struct chain *c, const uint64_t *words, unsigned count)
{
    uint8_t bytes[16 + 8 * CHAIN_WORDS];

    checksum_store(bytes, c->hash);
    for (unsigned i = 0; i < count; i++)
        bytes_store64(bytes + 16 + 8 * i, words[i]);
    c->hash = c->kernels->hash(bytes, 16 + 8 * (size_t)count);
}

static void chain_source(struct chain *c, const struct leat_plan *plan, size_t number, bool rules_of_sources)
{
    const struct plan_source *s = &plan->sources[number];

    for (uint32_t i = 0; i < s->part_count; i++) {
        const struct plan_part *p = &s->parts[i];
        uint64_t words[] = { bytes_load64(p->identity), bytes_load64(p->identity + 8), p->begin, p->end };

        chain_words(c, words, 4);
    }
    chain_words(c, (uint64_t[]) { s->part_count, plan->limits[number] }, 2);
    if (s->choice)
        chain_words(c, (uint64_t[]) { CHOOSE_VERSION, s->choice->sum }, 2);
    if (plan->order->settings) {
        uint64_t numbers[PLAN_ORDER_SETTINGS];
        unsigned count = plan->order->settings(plan, number, numbers);

        chain_words(c, numbers, count);
    }
    if (rules_of_sources) {
        uint64_t rules[CHAIN_WORDS];
        unsigned count = 0;

        for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++)
            if (i < PLAN_FIT_ALIGN || i == PLAN_FIT_WHOLE)
                rules[count++] = plan_rules_fit(&plan->rules, number, (enum plan_fit_option)i);
        chain_words(c, rules, count);
    }
}

static void chain_phase(struct chain *c, const struct leat_plan *plan, size_t number)
{
    size_t count = plan->order->weights ? plan->rules.source_count : 0;
    const uint64_t *weights = plan->weights + number * plan->rules.source_count;

    while (count > 0 && weights[count - 1] == 0) /* weights of 0 at the end are left out, so that sources may be
                                                    appended later */
        count--;
    chain_words(c, (uint64_t[]) { plan_phase_begin(plan, number), plan->lengths[number], count }, 3);
    for (size_t i = 0; i < count; i++)
        chain_words(c, weights + i, 1);
}

/* The past of a plan, as a state keeps it. */
struct past {
    uint64_t position, skipped;
    uint64_t rule_version;                            /* version of the order's own rule; 0: it has none */
    uint64_t sources, phases;                         /* of the past */
    uint64_t source_steps[STEPS], phase_steps[STEPS]; /* of the chain */
    uint64_t skips;                                   /* a hash of the skips before the end of the past */
    uint64_t bans;                                    /* a hash of the bans before the end of the past; 0: there are
                                                         none */
    struct hash128 fingerprint;
};

static uint64_t steps_of(uint64_t count)
{
    return count < STEPS ? count : STEPS;
}

/* Returns the first source or phase that step `step` covers. */
static uint64_t step_begin(uint64_t step, uint64_t count)
{
    return count <= STEPS ? step : step * count / STEPS;
}

/* Returns how many phases begin before sample `end`, at least the first. */
static uint64_t past_phases(const struct leat_plan *plan, uint64_t end)
{
    uint64_t count = 1;

    while (count <= plan->rules.phase_count && plan_phase_begin(plan, (size_t)count) < end)
        count++;
    return count;
}

/* Returns how many sources there are up to the last with a weight in one of the first `phases` phases. */
static uint64_t past_sources(const struct leat_plan *plan, uint64_t phases)
{
    uint64_t count = plan->rules.source_count;

    for (; plan->order->weights && count > 1; count--)
        for (uint64_t i = 0; i < phases; i++)
            if (plan->weights[i * plan->rules.source_count + count - 1] > 0)
                return count;
    return count;
}

/* The options of rows of whole documents, in groups. If one of a group is not 0, all of it are in the text and the
 * chain. */
static const struct {
    unsigned first, end;
} option_groups[] = { { 0, PLAN_FIT_ALIGN },
                      { PLAN_FIT_ALIGN, PLAN_FIT_BEGIN },
                      { PLAN_FIT_BEGIN, PLAN_FIT_WHOLE },
                      { PLAN_FIT_WHOLE, PLAN_FIT_OPTIONS } };
#define OPTION_GROUPS (sizeof option_groups / sizeof option_groups[0])

static unsigned options_in(size_t group, const uint64_t *fit)
{
    unsigned first = option_groups[group].first, count = option_groups[group].end - first;

    return bytes_all_zero(fit + first, count * sizeof *fit) ? 0 : count;
}

/* Returns how many samples the pool has that the past ends in, for batches by tokens; 0 if the past ends where a
 * pool does. The plan's end may cut this pool, and then decides the order of all of it. */
static uint64_t samples_of_pool(const struct leat_plan *plan, uint64_t end)
{
    uint64_t pool = plan->rules.by_tokens[PLAN_POOL], first = end / pool * pool;

    if (end == first)
        return 0;
    return plan->end - first < pool ? plan->end - first : pool;
}

/* Returns the version of the order's own rule: another one if a source of the past has rules of its own. */
static uint32_t version_of(const struct leat_plan *plan, uint64_t sources)
{
    bool own = plan->rules.fit[PLAN_FIT_WHOLE] > 0;

    for (uint64_t i = 0; i < sources && !own; i++)
        own = !bytes_all_zero(plan->rules.sources[i].fit, sizeof plan->rules.sources[i].fit);
    return own ? plan->order->sources_version : plan->order->rule_version;
}

static void tell_past(const struct leat_plan *plan, uint64_t position, struct past *past)
{
    static const uint8_t name[16] = "leat plan state";
    uint64_t end = position > 0 ? skips_number(&plan->skips, position - 1) + 1 : 0;
    const struct plan_fim *fim = &plan->rules.fim;
    struct chain c = { checksum_kernels(), checksum_load(name) }, skips = c, bans = c;

    *past = (struct past) { .position = position, .skipped = end - position };
    past->phases = past_phases(plan, end);
    past->sources = past_sources(plan, past->phases);
    past->rule_version = version_of(plan, past->sources);
    chain_words(&c,
                (uint64_t[]) { PERMUTE_VERSION, BLEND_VERSION, PLAN_SPLIT_VERSION, plan->rules.base_len,
                               plan->rules.seed, plan->rules.order, past->rule_version },
                plan->order->rule ? 7 : 6);
    for (size_t g = 0; g < OPTION_GROUPS; g++)
        if (options_in(g, plan->rules.fit) > 0)
            chain_words(&c, plan->rules.fit + option_groups[g].first, options_in(g, plan->rules.fit));
    if (plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0)
        chain_words(&c,
                    (uint64_t[]) { PLAN_TOKENS_VERSION, plan->rules.by_tokens[0], plan->rules.by_tokens[1],
                                   plan->rules.by_tokens[2], samples_of_pool(plan, end) },
                    5);
    if (plan->rules.stretches[PLAN_STRETCH] > 0)
        chain_words(&c,
                    (uint64_t[]) { STRETCHES_VERSION, plan->rules.stretches[PLAN_STRETCH],
                                   plan->rules.stretches[PLAN_MIX], plan->rules.stretches[PLAN_LANES] },
                    4);
    if (fim->given)
        chain_words(&c,
                    (uint64_t[]) { FIM_VERSION, fim->rule.rate, fim->rule.spm, fim->ids[PLAN_FIM_PREFIX],
                                   fim->ids[PLAN_FIM_MIDDLE], fim->ids[PLAN_FIM_SUFFIX] },
                    6);
    for (uint64_t step = 0, i = 0; step < steps_of(past->sources); step++) {
        for (; i < step_begin(step + 1, past->sources); i++)
            chain_source(&c, plan, (size_t)i, past->rule_version != plan->order->rule_version);
        past->source_steps[step] = c.hash.low;
    }
    for (uint64_t step = 0, i = 0; step < steps_of(past->phases); step++) {
        for (; i < step_begin(step + 1, past->phases); i++)
            chain_phase(&c, plan, (size_t)i);
        past->phase_steps[step] = c.hash.low;
    }
    for (uint64_t i = 0; i < plan->skips.count && plan->skips.items[i].first < end; i++)
        chain_words(&skips, (uint64_t[]) { plan->skips.items[i].first, plan->skips.items[i].end }, 2);
    past->skips = skips.hash.low;
    chain_words(&c, &past->skips, 1);
    for (size_t i = 0; i < plan->rules.ban_count; i++) {
        const struct plan_ban_rule *b = &plan->rules.bans[i];

        if (b->start >= end || b->source >= past->sources)
            continue;
        chain_words(&bans, (uint64_t[]) { b->source, b->start, b->first, b->end }, 4);
        past->bans = bans.hash.low;
    }
    if (past->bans > 0)
        chain_words(&c, &past->bans, 1);
    past->fingerprint = c.hash;
}

/* ---- As text ---- */

struct writer {
    char *text;
    size_t length;
};

STATUS_PRINTF(2, 3)
static void print_state(struct writer *w, const char *format, ...)
{
    size_t room = LEAT_PLAN_STATE_BYTES - w->length;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->length, room, format, args);
    va_end(args);
    if (n > 0)
        w->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void put_steps(struct writer *w, const char *key, uint64_t count, const uint64_t *steps)
{
    print_state(w, "%s %" PRIu64, key, count);
    for (uint64_t i = 0; i < steps_of(count); i++)
        print_state(w, " %016" PRIx64, steps[i]);
    print_state(w, "\n");
}

/* Returns the hash of a text for its last line, which shows if a state was cut or changed. */
static uint64_t text_hash(const char *text, size_t length)
{
    return checksum_kernels()->hash(text, length).low;
}

enum leat_status leat_plan_state_save(const struct leat_plan *plan, const struct leat_plan_state *state,
                                      char text[LEAT_PLAN_STATE_BYTES], struct leat_error *err)
{
    struct leat_plan_state full = LEAT_PLAN_STATE_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct writer w = { text, 0 };
    char fim[PLAN_FIM_TEXT];
    enum leat_status s = options_read(&full, sizeof full, NULL, state, "leat_plan_state", err);
    struct past past;

    if (s != LEAT_OK)
        return s;
    leat_plan_info(plan, &info);
    if (full.position > (info.positions == LEAT_NONE ? LEAT_MAX_SAMPLES / 2 : info.positions))
        return status_set(err, LEAT_E_RANGE, "no position %" PRIu64 ": the plan ends before it", full.position);
    tell_past(plan, full.position, &past);
    print_state(&w, FIRST_LINE "\nposition %" PRIu64 "\nskipped %" PRIu64 "\ndamaged %" PRIu64 "\n", past.position,
                past.skipped, full.damaged);
    print_state(&w, "rules permutation=%u,blend=%u,split=%u", PERMUTE_VERSION, BLEND_VERSION, PLAN_SPLIT_VERSION);
    if (plan->order->rule)
        print_state(&w, ",%s=%" PRIu64, plan->order->rule, past.rule_version);
    if (plan->rules.fim.given)
        print_state(&w, ",fim=%u", FIM_VERSION);
    print_state(&w, "\nbase-len %" PRIu64 "\nseed %" PRIu64 "\norder %s\n", plan->rules.base_len, plan->rules.seed,
                leat_order_name((enum leat_order)plan->rules.order));
    for (size_t g = 0; g < OPTION_GROUPS; g++)
        for (unsigned i = 0; i < options_in(g, plan->rules.fit); i++)
            print_state(&w, "%s %" PRIu64 "\n", plan_fit_names[option_groups[g].first + i],
                        plan->rules.fit[option_groups[g].first + i]);
    if (plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0)
        print_state(&w, TOKENS_LINE "%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", PLAN_TOKENS_VERSION,
                    plan->rules.by_tokens[0], plan->rules.by_tokens[1], plan->rules.by_tokens[2]);
    if (plan->rules.stretches[PLAN_STRETCH] > 0)
        print_state(&w, STRETCHES_LINE "%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", STRETCHES_VERSION,
                    plan->rules.stretches[0], plan->rules.stretches[1], plan->rules.stretches[2]);
    if (plan->rules.fim.given)
        print_state(&w, "fim %s\n", plan_rules_fim_text(&plan->rules, fim));
    put_steps(&w, "sources", past.sources, past.source_steps);
    put_steps(&w, "phases", past.phases, past.phase_steps);
    print_state(&w, "skips %016" PRIx64 "\n", past.skips);
    if (past.bans > 0)
        print_state(&w, "bans %016" PRIx64 "\n", past.bans);
    print_state(&w, "fingerprint %016" PRIx64 "%016" PRIx64 "\n", past.fingerprint.high, past.fingerprint.low);
    print_state(&w, "check %016" PRIx64 "\n", text_hash(text, w.length));
    return LEAT_OK;
}

/* ---- Reading it ---- */

struct reader {
    const char *at, *end;
};

/* Returns true if `text` comes next; if so, skips it. */
static bool take_word(struct reader *r, const char *text)
{
    size_t length = strlen(text);

    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_number(struct reader *r, uint64_t *value)
{
    const char *begin = r->at;

    for (*value = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!bytes_multiply(*value, 10, value) || !bytes_add(*value, (uint64_t)(*r->at - '0'), value))
            return false;
    return r->at > begin;
}

static bool take_hash(struct reader *r, uint64_t *value)
{
    static const char digits[] = "0123456789abcdef";

    *value = 0;
    for (unsigned i = 0; i < 16; i++, r->at++) {
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;

        if (!digit)
            return false;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static bool take_steps(struct reader *r, const char *key, uint64_t *count, uint64_t *steps)
{
    if (!take_word(r, key) || !take_number(r, count) || *count == 0)
        return false;
    for (uint64_t i = 0; i < steps_of(*count); i++)
        if (!take_word(r, " ") || !take_hash(r, &steps[i]))
            return false;
    return take_word(r, "\n");
}

/* A parsed state. */
struct state_text {
    struct past past;
    uint64_t damaged, permutation, blend, split, base_len, seed;
    uint64_t options[PLAN_FIT_OPTIONS]; /* options of rows of whole documents */
    uint64_t tokens_version, by_tokens[PLAN_BY_TOKENS];
    uint64_t stretches_version, stretches[PLAN_STRETCHES];
    uint64_t fim_version;    /* 0: none */
    char fim[PLAN_FIM_TEXT]; /* text of fill-in-the-middle, as plan_rules_fim_text() writes it */
    uint32_t order;
};

/* Takes a line with each option of a group, or nothing if there is no such line. */
static bool take_group(struct reader *r, size_t group, uint64_t *options)
{
    for (unsigned i = option_groups[group].first; i < option_groups[group].end; i++) {
        if (!take_word(r, plan_fit_names[i]))
            return i == option_groups[group].first;
        if (!take_word(r, " ") || !take_number(r, &options[i]) || !take_word(r, "\n"))
            return false;
    }
    return true;
}

static bool take_options(struct reader *r, uint64_t *options)
{
    size_t group = 0;

    while (group < OPTION_GROUPS && take_group(r, group, options))
        group++;
    return group == OPTION_GROUPS;
}

/* Takes a line that begins with `key`, of a version and numbers, if there is one. */
static bool take_numbers(struct reader *r, const char *key, uint64_t *version, uint64_t *numbers, unsigned count)
{
    if (!take_word(r, key))
        return true;
    if (!take_number(r, version) || *version == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!take_word(r, " ") || !take_number(r, &numbers[i]))
            return false;
    return take_word(r, "\n");
}

/* Takes the line of the bans, if there is one. */
static bool take_bans(struct reader *r, uint64_t *bans)
{
    return !take_word(r, "bans ") || (take_hash(r, bans) && take_word(r, "\n"));
}

/* Takes the name of an order, and the end of its line. */
static bool take_order(struct reader *r, uint32_t *order)
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));

    if (!newline || !plan_order_find(r->at, (size_t)(newline - r->at), order))
        return false;
    r->at = newline + 1;
    return true;
}

/* Takes the versions of the order's own rule and of fill-in-the-middle, if the state has them: ",NAME=N,fim=N". */
static bool take_rules(struct reader *r, uint64_t *version, uint64_t *fim)
{
    bool changes = take_word(r, ",fim=");

    if (!changes && take_word(r, ",")) {
        while (r->at < r->end && *r->at >= 'a' && *r->at <= 'z')
            r->at++;
        if (!take_word(r, "=") || !take_number(r, version))
            return false;
        changes = take_word(r, ",fim=");
    }
    return !changes || take_number(r, fim);
}

/* Takes the line of fill-in-the-middle, if the state has that rule. */
static bool take_fim(struct reader *r, uint64_t version, char text[PLAN_FIM_TEXT])
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));

    snprintf(text, PLAN_FIM_TEXT, "none");
    if (version == 0)
        return true;
    if (!newline || newline - r->at >= PLAN_FIM_TEXT || !take_word(r, "fim "))
        return false;
    snprintf(text, PLAN_FIM_TEXT, "%.*s", (int)(newline - r->at), r->at);
    r->at = newline + 1;
    return true;
}

static bool parse(struct reader *r, struct state_text *t)
{
    const char *begin = r->at;
    uint64_t check, said;

    if (!take_word(r, FIRST_LINE "\nposition ") || !take_number(r, &t->past.position) || !take_word(r, "\nskipped ") ||
        !take_number(r, &t->past.skipped) || !take_word(r, "\ndamaged ") || !take_number(r, &t->damaged) ||
        !take_word(r, "\nrules permutation=") || !take_number(r, &t->permutation) || !take_word(r, ",blend=") ||
        !take_number(r, &t->blend) || !take_word(r, ",split=") || !take_number(r, &t->split) ||
        !take_rules(r, &t->past.rule_version, &t->fim_version) || !take_word(r, "\nbase-len ") ||
        !take_number(r, &t->base_len) || !take_word(r, "\nseed ") || !take_number(r, &t->seed) ||
        !take_word(r, "\norder "))
        return false;
    if (!take_order(r, &t->order) || !take_options(r, t->options) ||
        !take_numbers(r, TOKENS_LINE, &t->tokens_version, t->by_tokens, PLAN_BY_TOKENS) ||
        !take_numbers(r, STRETCHES_LINE, &t->stretches_version, t->stretches, PLAN_STRETCHES) ||
        !take_fim(r, t->fim_version, t->fim) || !take_steps(r, "sources ", &t->past.sources, t->past.source_steps) ||
        !take_steps(r, "phases ", &t->past.phases, t->past.phase_steps) || !take_word(r, "skips ") ||
        !take_hash(r, &t->past.skips) || !take_word(r, "\n") || !take_bans(r, &t->past.bans) ||
        !take_word(r, "fingerprint ") || !take_hash(r, &t->past.fingerprint.high) ||
        !take_hash(r, &t->past.fingerprint.low) || !take_word(r, "\n"))
        return false;
    check = text_hash(begin, (size_t)(r->at - begin));
    return take_word(r, "check ") && take_hash(r, &said) && said == check && take_word(r, "\n") && r->at == r->end;
}

/* ---- Comparing ---- */

STATUS_PRINTF(2, 3)
static enum leat_status differs(struct leat_error *err, const char *format, ...)
{
    char sentence[800];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return status_set(err, LEAT_E_CHECKPOINT,
                      "the state belongs to another plan: %s; resume with the plan that it was saved from (only later "
                      "phases, skips and bans may be added)",
                      sentence);
}

static enum leat_status compare_numbers(const char *const *names, const uint64_t *said, const uint64_t *own,
                                        unsigned count, struct leat_error *err)
{
    for (unsigned i = 0; i < count; i++)
        if (said[i] != own[i])
            return differs(err, "its %s is %" PRIu64 ", but the plan's is %" PRIu64, names[i], said[i], own[i]);
    return LEAT_OK;
}

static enum leat_status compare_rules(const struct leat_plan *plan, const struct state_text *t, struct leat_error *err)
{
    const struct plan_rules *r = &plan->rules;
    char fim[PLAN_FIM_TEXT];
    enum leat_status s;

    if (t->permutation != PERMUTE_VERSION || t->blend != BLEND_VERSION || t->split != PLAN_SPLIT_VERSION)
        return differs(err,
                       "its rules are permutation %" PRIu64 ", blend %" PRIu64 ", split %" PRIu64
                       ", but this library's are %u, %u, %u",
                       t->permutation, t->blend, t->split, PERMUTE_VERSION, BLEND_VERSION, PLAN_SPLIT_VERSION);
    if (t->base_len != r->base_len)
        return differs(err, "its base length is %" PRIu64 ", but the plan's is %" PRIu64, t->base_len, r->base_len);
    if (t->seed != r->seed)
        return differs(err, "its seed is %" PRIu64 ", but the plan's is %" PRIu64, t->seed, r->seed);
    if (t->order != r->order)
        return differs(err, "its order is %s, but the plan's is %s", leat_order_name((enum leat_order)t->order),
                       leat_order_name((enum leat_order)r->order));
    s = compare_numbers(plan_fit_names, t->options, r->fit, PLAN_FIT_OPTIONS, err);
    if (s != LEAT_OK)
        return s;
    s = compare_numbers(plan_tokens_names, t->by_tokens, r->by_tokens, PLAN_BY_TOKENS, err);
    if (s == LEAT_OK)
        s = compare_numbers(plan_stretches_names, t->stretches, r->stretches, PLAN_STRETCHES, err);
    if (s != LEAT_OK)
        return s;
    if (t->tokens_version > 0 && t->tokens_version != PLAN_TOKENS_VERSION)
        return differs(err, "its batches by tokens have version %" PRIu64 ", but this library's have %u",
                       t->tokens_version, PLAN_TOKENS_VERSION);
    if (t->stretches_version > 0 && t->stretches_version != STRETCHES_VERSION)
        return differs(err, "its stretches have version %" PRIu64 ", but this library's have %u", t->stretches_version,
                       STRETCHES_VERSION);
    if (plan->order->rule && t->past.rule_version != plan->order->rule_version &&
        t->past.rule_version != plan->order->sources_version)
        return differs(err, "its rule is %s %" PRIu64 ", but this library's is %s %u", plan->order->rule,
                       t->past.rule_version, plan->order->rule, plan->order->rule_version);
    if (strcmp(t->fim, plan_rules_fim_text(r, fim)) != 0)
        return differs(err, "its fim is %s, but the plan's is %s", t->fim, fim);
    if (r->fim.given && t->fim_version != FIM_VERSION)
        return differs(err, "its rule is fim %" PRIu64 ", but this library's is fim %u", t->fim_version, FIM_VERSION);
    return LEAT_OK;
}

/* Returns the first step that differs; the number of steps if none does. */
static uint64_t first_difference(const uint64_t *a, const uint64_t *b, uint64_t steps)
{
    uint64_t i = 0;

    while (i < steps && a[i] == b[i])
        i++;
    return i;
}

static enum leat_status compare_sources(const struct leat_plan *plan, const struct past *was, const struct past *is,
                                        struct leat_error *err)
{
    uint64_t step, first, last;

    if (was->sources > plan->rules.source_count)
        return differs(err, "it has %" PRIu64 " sources, but the plan has %zu", was->sources, plan->rules.source_count);
    if (was->sources != is->sources)
        return differs(err, "%" PRIu64 " sources have a weight up to its position, but %" PRIu64 " in the plan",
                       was->sources, is->sources);
    if (was->rule_version != is->rule_version)
        return differs(err, "up to its position, sources %s rules of their own, but %s in the plan",
                       was->rule_version > is->rule_version ? "have" : "have no",
                       was->rule_version > is->rule_version ? "not" : "they do");
    step = first_difference(was->source_steps, is->source_steps, steps_of(was->sources));
    if (step == steps_of(was->sources))
        return LEAT_OK;
    first = step_begin(step, was->sources);
    last = step_begin(step + 1, was->sources) - 1;
    if (first == last)
        return differs(err,
                       "source %" PRIu64
                       " (here %.200s) has other datasets, another range of the split, another limit of epochs, "
                       "another choice of documents, or other rules of its own",
                       first, plan->rules.sources[first].name);
    return differs(
        err,
        "one of the sources %" PRIu64 " to %" PRIu64
        " (here %.100s to %.100s) has other datasets, another range of the split, another limit of epochs, another "
        "choice of documents, or other rules of its own",
        first, last, plan->rules.sources[first].name, plan->rules.sources[last].name);
}

static enum leat_status compare_phases(const struct leat_plan *plan, const struct past *was, const struct past *is,
                                       struct leat_error *err)
{
    uint64_t steps = steps_of(was->phases < is->phases ? was->phases : is->phases), step, first, last;

    if (was->phases != is->phases)
        return differs(err, "%" PRIu64 " phases start before its position, but %" PRIu64 " in the plan%s", was->phases,
                       is->phases,
                       is->phases > was->phases ? ", where a change must begin at its position or later" : "");
    step = first_difference(was->phase_steps, is->phase_steps, steps);
    if (step == steps)
        return LEAT_OK;
    first = step_begin(step, was->phases);
    last = step_begin(step + 1, was->phases) - 1;
    if (first == last)
        return differs(err,
                       "phase %" PRIu64 " (here from sample %" PRIu64
                       " on) has another start, other weights or another length",
                       first, plan_phase_begin(plan, (size_t)first));
    return differs(err,
                   "one of the phases %" PRIu64 " to %" PRIu64 " (here from sample %" PRIu64
                   " on) has another start, other weights or another length",
                   first, last, plan_phase_begin(plan, (size_t)first));
}

enum leat_status leat_plan_state_load(const struct leat_plan *plan, const char *text, uint64_t bytes,
                                      struct leat_plan_state *state, struct leat_error *err)
{
    struct leat_plan_state full = LEAT_PLAN_STATE_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct reader r = { text, text + bytes };
    struct state_text t = { .damaged = 0 };
    enum leat_status s;
    struct past is;

    if (bytes > LEAT_PLAN_STATE_BYTES || !parse(&r, &t))
        return status_set_at(err, LEAT_E_CHECKPOINT, NULL, (uint64_t)(r.at - text),
                             "not a state of a plan, or it is damaged, at byte %td; use another checkpoint",
                             r.at - text);
    leat_plan_info(plan, &info);
    s = compare_rules(plan, &t, err);
    if (s != LEAT_OK)
        return s;
    if (t.past.position > (info.positions == LEAT_NONE ? LEAT_MAX_SAMPLES / 2 : info.positions))
        return differs(err, "its position is %" PRIu64 ", but the plan ends at %" PRIu64, t.past.position,
                       info.positions);
    tell_past(plan, t.past.position, &is);
    s = compare_sources(plan, &t.past, &is, err);
    if (s == LEAT_OK && (t.past.skips != is.skips || t.past.skipped != is.skipped))
        s = differs(err,
                    "%" PRIu64 " samples before its position were skipped, but the plan skips %" PRIu64
                    ", or different ones",
                    t.past.skipped, is.skipped);
    if (s == LEAT_OK && t.past.bans != is.bans)
        s = differs(err,
                    "the documents that were banned before its position, which is sample %" PRIu64
                    ", are others in the plan",
                    t.past.position + t.past.skipped);
    if (s == LEAT_OK)
        s = compare_phases(plan, &t.past, &is, err);
    if (s == LEAT_OK && !checksum_equal(t.past.fingerprint, is.fingerprint))
        s = differs(err, "its fingerprint differs");
    if (s != LEAT_OK)
        return s;
    full.position = t.past.position;
    full.damaged = t.damaged;
    full.skipped = t.past.skipped;
    options_fill(state, &full, sizeof full);
    return LEAT_OK;
}
