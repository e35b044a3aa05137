#include "plan_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/search.h"
#include "base/status.h"
#include "order/permute.h"
#include "plan.h"
#include "plan_order.h"

/* Finds the first document start at or after floor(T * units / 10^18), in tokens of the part. */
static enum leat_status boundary(const struct leat_dataset *d, const struct leat_part *part, uint64_t units,
                                 uint64_t *at, struct leat_error *err)
{
    uint64_t target = decimal_share(part->tokens, units), document, count, first;
    enum leat_status s;

    *at = target;
    if (target == 0 || target == part->tokens)
        return LEAT_OK;
    s = leat_dataset_documents_in(d, part->first_token + target, 1, &document, &count, err);
    if (s == LEAT_OK)
        s = leat_dataset_document(d, document, &first, &count, err);
    if (s == LEAT_OK && first != part->first_token + target)
        *at = first + count - part->first_token;
    return s;
}

/* ---- Documents ---- */

struct from_token {
    const struct leat_dataset *dataset;
    uint64_t token;
};

static enum leat_status starts_before(void *context, uint64_t document, bool *is_before, struct leat_error *err)
{
    const struct from_token *from = context;
    uint64_t start;
    enum leat_status s = leat_dataset_starts(from->dataset, document, 1, &start, err);

    *is_before = s == LEAT_OK && start < from->token;
    return s;
}

enum leat_status plan_source_used(const struct plan_source *s, uint32_t number, uint64_t *first, uint64_t *end,
                                  struct leat_error *err)
{
    const struct plan_part *p = &s->parts[number];
    struct from_token from = { s->dataset, p->list_token + p->begin };
    struct leat_part part = LEAT_PART_INIT;
    enum leat_status status = LEAT_OK;

    leat_dataset_part(s->dataset, number, &part, NULL); /* cannot fail: the number exists */
    *first = part.first_document;
    *end = part.first_document + part.documents;
    if (s->split) {
        status = search_first_read(first, *first, *end, starts_before, &from, err);
        from.token = p->list_token + p->end;
        if (status == LEAT_OK)
            status = search_first_read(end, *first, *end, starts_before, &from, err);
    }
    return status == LEAT_OK ? plan_source_own(s, *first, *end, first, end, err) : status;
}

enum leat_status plan_source_own(const struct plan_source *s, uint64_t first, uint64_t end, uint64_t *low,
                                 uint64_t *high, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    uint64_t token;

    *low = first;
    *high = end;
    if (s->choice)
        status = choice_before(s->choice, first, low, &token, err);
    return s->choice && status == LEAT_OK ? choice_before(s->choice, end, high, &token, err) : status;
}

enum leat_status plan_source_starts(const struct plan_source *s, uint64_t number, uint64_t count, uint64_t *starts,
                                    struct leat_error *err)
{
    return s->choice ? choice_starts(s->choice, number, count, starts, err)
                     : leat_dataset_starts(s->dataset, number, count, starts, err);
}

/* ---- Opening ---- */

/* Finds the tokens of a part's used documents that are chosen. */
static enum leat_status find_chosen(struct plan_source *s, uint32_t number, struct leat_error *err)
{
    struct plan_part *p = &s->parts[number];
    uint64_t first, end, starts[2];
    enum leat_status status = plan_source_used(s, number, &first, &end, err);

    if (status == LEAT_OK)
        status = choice_starts(s->choice, first, 1, &starts[0], err);
    if (status == LEAT_OK)
        status = choice_starts(s->choice, end, 1, &starts[1], err);
    if (status != LEAT_OK)
        return status;
    p->first = starts[0];
    p->used = starts[1] - starts[0];
    return LEAT_OK;
}

static enum leat_status add_part(struct plan_source *s, const struct plan_rules *rules, uint32_t number,
                                 struct leat_error *err)
{
    struct plan_part *p = &s->parts[number];
    struct leat_part part = LEAT_PART_INIT;
    uint64_t begin, end;
    enum leat_status status;

    leat_dataset_part(s->dataset, number, &part, NULL); /* cannot fail: the number exists */
    plan_rules_part(rules, &begin, &end);
    *p = (struct plan_part) { .first_block = s->blocks, .list_token = part.first_token };
    memcpy(p->identity, part.identity, sizeof p->identity);
    status = boundary(s->dataset, &part, begin, &p->begin, err);
    if (status == LEAT_OK)
        status = boundary(s->dataset, &part, end, &p->end, err);
    p->first = p->list_token + p->begin;
    p->used = p->end - p->begin;
    if (status == LEAT_OK && s->choice)
        status = find_chosen(s, number, err);
    s->tokens += p->used;
    if (!plan_order_of(rules->order)->blocks)
        return status;
    p->blocks = p->used > 0 ? (p->used - 1) / rules->base_len : 0;
    s->blocks += p->blocks;
    s->dropped += p->used - p->blocks * rules->base_len;
    return status;
}

/* Makes about one hint per part, so that the search from it takes a step or two. */
static enum leat_status make_hints(struct plan_source *s, struct leat_error *err)
{
    uint64_t count;
    uint32_t part = 0;

    while (s->blocks >> s->hint_shift > 2 * (uint64_t)s->part_count)
        s->hint_shift++;
    count = (s->blocks >> s->hint_shift) + 1;
    s->hints = malloc((size_t)count * sizeof *s->hints);
    if (!s->hints)
        return status_no_memory(err, count * sizeof *s->hints);
    for (uint64_t i = 0; i < count; i++) {
        while (part + 1 < s->part_count && (i << s->hint_shift) >= s->parts[part].first_block + s->parts[part].blocks)
            part++;
        s->hints[i] = part;
    }
    return LEAT_OK;
}

/* Returns true if the source has a weight in any phase. */
static bool is_used(const struct plan_rules *rules, size_t number)
{
    bool used = rules->sources[number].weight.digits > 0;

    for (size_t i = 0; i < rules->phase_count && !used; i++)
        used = number < rules->phases[i].weight_count && rules->phases[i].weights[number].digits > 0;
    return used;
}

/* Returns true if a dataset of the source would have a block if the split gave it all of its tokens. */
static bool split_too_small(const struct plan_source *s, const struct plan_rules *rules)
{
    struct leat_part part = LEAT_PART_INIT;
    bool enough = false;

    for (uint32_t i = 0; rules->use && i < s->part_count && !enough; i++) {
        leat_dataset_part(s->dataset, i, &part, NULL); /* cannot fail: the number exists */
        enough = part.tokens > rules->base_len;
    }
    return enough;
}

static enum leat_status no_block(const struct plan_source *s, const struct plan_rules *rules, const char *name,
                                 struct leat_error *err)
{
    bool one = s->part_count == 1;
    char fraction[DECIMAL_TEXT];

    if (split_too_small(s, rules))
        return status_field(
            err,
            status_set_hint(
                err, LEAT_E_ARGUMENT, one ? LEAT_HINT_NONE : LEAT_HINT_MERGE, name,
                "%.300s has a weight, but its range \"%.*s\" of the split has no block of %" PRIu64
                " tokens and one more: it has %" PRIu64
                " tokens in %lu dataset%s; give the range a larger fraction than %s,%s use a shorter length%s",
                name, PLAN_SHOWN, rules->use, rules->base_len, s->tokens, (unsigned long)s->part_count, one ? "" : "s",
                decimal_print(plan_rules_used(rules)->fraction, fraction), one ? " or" : "",
                one ? "" : ", or merge its datasets"),
            "sources");
    return status_field(
        err,
        status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_MERGE, name,
                        "%.300s has a weight, but no block of %" PRIu64 " tokens and one more: %s has %" PRIu64
                        " tokens in %lu dataset%s; use a shorter length, leave it out, or merge its datasets",
                        name, rules->base_len, rules->use ? "the range of it that is used" : "it", s->tokens,
                        (unsigned long)s->part_count, one ? "" : "s"),
        "sources");
}

static enum leat_status check_blocks(const struct plan_source *s, const struct plan_rules *rules, size_t number,
                                     struct leat_error *err)
{
    const char *name = rules->sources[number].name;

    if (s->blocks > PERMUTE_MAX)
        return status_in_file(err,
                              status_argument(err, "sources",
                                              "%.300s has %" PRIu64 " blocks of %" PRIu64
                                              " tokens; more than 2^48 is too many",
                                              name, s->blocks, rules->base_len),
                              name);
    if (s->blocks == 0 && is_used(rules, number) && plan_order_of(rules->order)->blocks)
        return no_block(s, rules, name, err);
    return LEAT_OK;
}

/* Says why WEIGHT of NAME:WEIGHT is not a number. All of the text then counts as the name, which does not exist. */
static void say_weight(const char *name, enum leat_status status, struct leat_error *err)
{
    const char *colon = strrchr(name, ':');

    /* The error names the whole text, unless a scheme was taken from it: raw:FILE?dtype=u16 has its colon there. A
     * text after the colon that has a slash, such as a server's port and path, was not meant as a weight. */
    if (status == LEAT_E_NO_FILE && err && colon && !strchr(colon, '/') && strcmp(err->file, name) == 0)
        status_after(err, "; \"%.100s\" after its last colon is not a weight, which is a decimal number such as 0.25",
                     colon + 1);
}

/* Says that a text which was read as NAME:WEIGHT may be the name of a dataset. What exists cannot decide which it
 * is, because the text of a plan must mean the same everywhere. */
static void say_name(const struct plan_source_rule *rule, enum leat_status status,
                     const struct leat_open_options *options, struct leat_error *err)
{
    char weight[DECIMAL_TEXT], *whole;
    struct leat_dataset *d;

    if (status != LEAT_E_NO_FILE || !err || !rule->weighted)
        return;
    whole = path_append(rule->name, strlen(rule->name), ":", decimal_print(rule->weight, weight), NULL);
    if (whole && leat_dataset_open(&d, whole, options, NULL) == LEAT_OK) {
        status_after(err,
                     "; \":%s\" was read as a weight: the dataset %.300s is written with a weight and a limit of "
                     "epochs, such as %.300s:1:none",
                     weight, whole, whole);
        leat_dataset_close(d);
    }
    free(whole);
}

/* Opens a source by its name, or shares it with the plan that has it open. */
static enum leat_status open_named(struct plan_source *s, const struct plan_source_rule *rule,
                                   const struct leat_open_options *options, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status status;

    if (rule->opened) {
        s->opened = rule->opened;
        atomic_fetch_add(&s->opened->plans, 1);
        s->dataset = s->opened->dataset;
        return LEAT_OK;
    }
    status = leat_dataset_open(&d, rule->name, options, err);
    say_weight(rule->name, status, err);
    say_name(rule, status, options, err);
    if (status != LEAT_OK)
        return status;
    s->opened = calloc(1, sizeof *s->opened);
    if (!s->opened) {
        leat_dataset_close(d);
        return status_no_memory(err, sizeof *s->opened);
    }
    atomic_init(&s->opened->plans, 1);
    s->dataset = s->opened->dataset = d;
    return LEAT_OK;
}

/* Makes the choice of a source, or shares it with the plan that has made it. */
static enum leat_status open_choice(struct plan_source *s, struct plan_source_rule *rule, struct leat_error *err)
{
    enum leat_status status;

    if (!rule->where && !rule->repeat)
        return LEAT_OK;
    if (rule->choice) {
        s->choice = choice_share(rule->choice);
    } else {
        status =
            choice_make(&s->choice, s->dataset, rule->name, &(struct choice_rule) { rule->where, rule->repeat }, err);
        if (status != LEAT_OK)
            return status_in_file(err, status, rule->name);
    }
    if (rule->has_sum && rule->sum != s->choice->sum)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, rule->name,
                             "other documents of %.300s are chosen than when the plan was written (their sum is "
                             "%016" PRIx64 ", not %016" PRIx64
                             "): its columns have changed; without the line chosen, the plan is another one",
                             rule->name, s->choice->sum, rule->sum);
    rule->has_sum = true;
    rule->sum = s->choice->sum;
    return LEAT_OK;
}

static enum leat_status plan_source_open(struct plan_source *s, struct plan_rules *rules, size_t number,
                                         const struct leat_open_options *options, struct leat_error *err)
{
    struct plan_source_rule *rule = &rules->sources[number];
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status status = LEAT_OK;

    s->dataset = rule->dataset;
    s->split = rules->split_count > 0;
    s->documents = s->left_out = s->cut = LEAT_NONE;
    if ((strncmp(rule->name, "http://", 7) == 0 || strncmp(rule->name, "https://", 8) == 0) &&
        strpbrk(rule->name, "?#"))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "a plan keeps the names of its sources, and what follows the ? of a URL may be a key: use a "
                          "name without it");
    if (!s->dataset)
        status = open_named(s, rule, options, err);
    if (status == LEAT_OK)
        status = open_choice(s, rule, err);
    if (status != LEAT_OK)
        return status;
    leat_dataset_info(s->dataset, &info);
    if (info.parts > UINT32_MAX)
        return status_in_file(err, status_argument(err, "sources", "%.300s has more than 2^32 datasets", rule->name),
                              rule->name);
    s->part_count = (uint32_t)info.parts;
    s->parts = calloc(s->part_count, sizeof *s->parts);
    if (!s->parts)
        return status_no_memory(err, info.parts * sizeof *s->parts);
    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++)
        status = add_part(s, rules, i, err);
    if (status == LEAT_OK)
        status = check_blocks(s, rules, number, err);
    return status == LEAT_OK ? make_hints(s, err) : status;
}

struct wanted_token {
    const struct plan_part *parts;
    uint64_t token;
};

SEARCH_INLINE bool begins_by(const void *context, uint64_t part)
{
    const struct wanted_token *w = context;

    return w->parts[part].list_token <= w->token;
}

uint32_t plan_source_part_of_token(const struct plan_source *s, uint64_t token)
{
    if (s->part_count == 1)
        return 0;
    return (uint32_t)search_first(1, s->part_count, begins_by, &(struct wanted_token) { s->parts, token }) - 1;
}

void plan_source_close(struct plan_source *s)
{
    if (s->opened && atomic_fetch_sub(&s->opened->plans, 1) == 1) {
        leat_dataset_close(s->opened->dataset);
        free(s->opened);
    }
    choice_drop(s->choice);
    free(s->parts);
    free(s->hints);
    *s = (struct plan_source) { .dataset = NULL };
}

/* ---- All sources of a plan --------------------------------------------------------------------------------------- */

/* Opens the sources of a plan, and checks that they were encoded alike. */

/* Returns true if all datasets of a source are other tools' files, which do not say how they were encoded. */
static bool is_foreign(const struct leat_info *info)
{
    return info->foreign_parts == info->parts;
}

/* Returns true if two sources differ in a token. A fact that foreign files do not say agrees with everything. */
static bool differ(const struct leat_info *a, const struct leat_info *b, uint64_t in_a, uint64_t in_b)
{
    return in_a != in_b && !(is_foreign(a) && in_a == LEAT_NONE) && !(is_foreign(b) && in_b == LEAT_NONE);
}

/* Checks that two sources were encoded with the same vocabulary, and where rows cross documents, that these begin and
 * end alike. */
static enum leat_status check_agreement(const struct leat_plan *plan, size_t one, size_t other, struct leat_error *err)
{
    struct leat_info a = LEAT_INFO_INIT, b = LEAT_INFO_INIT;
    const char *what = NULL;
    bool known, indexed = plan->order->indexed;

    leat_dataset_info(plan->sources[one].dataset, &a);
    leat_dataset_info(plan->sources[other].dataset, &b);
    known = !is_foreign(&a) && !is_foreign(&b);
    if (known && a.vocabulary != b.vocabulary)
        what = "vocabulary size";
    else if (!indexed && differ(&a, &b, a.end_token, b.end_token))
        what = "end-of-document token";
    else if (!indexed && differ(&a, &b, a.begin_token, b.begin_token))
        what = "begin token";
    else if (a.token_width != b.token_width)
        what = "bytes per token";
    else if (known && memcmp(a.fingerprint, b.fingerprint, sizeof a.fingerprint) != 0)
        what = STATUS_FINGERPRINT;
    if (!what)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_INCOMPATIBLE, plan->rules.sources[one].name,
                         "%.300s and %.300s cannot be in one plan: they differ in their %s",
                         plan->rules.sources[one].name, plan->rules.sources[other].name, what);
}

/* Returns how much is known of a source: 2 for leat's own files, which record everything; 1 if at least the end
 * token is known. */
static int known_facts(const struct plan_source *source)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(source->dataset, &info);
    return !is_foreign(&info) ? 2 : info.end_token != LEAT_NONE;
}

/* Returns the first source with a begin token: a file of another tool may have one without an end token, or the
 * reverse. */
static size_t first_with_begin(const struct leat_plan *plan, size_t number)
{
    struct leat_info info = LEAT_INFO_INIT;

    for (size_t i = 0; i < number; i++) {
        leat_dataset_info(plan->sources[i].dataset, &info);
        if (info.begin_token != LEAT_NONE)
            return i;
    }
    return 0;
}

/* Checks source `number` against those before it. Source *facts, of which most is known, stands for them, unless
 * more is known of the new one. The first one with a begin token is compared, too, which *facts may not know. */
static enum leat_status check_source(const struct leat_plan *plan, size_t number, size_t *facts, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (known_facts(&plan->sources[number]) <= known_facts(&plan->sources[*facts])) {
        s = check_agreement(plan, *facts, number, err);
        return s == LEAT_OK && known_facts(&plan->sources[*facts]) < 2
                   ? check_agreement(plan, first_with_begin(plan, number), number, err)
                   : s;
    }
    for (size_t i = 0; s == LEAT_OK && i < number; i++)
        s = check_agreement(plan, i, number, err);
    *facts = number;
    return s;
}

enum leat_status plan_sources_open(struct leat_plan *plan, const struct leat_open_options *options,
                                   struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = LEAT_OK;
    size_t facts = 0;

    plan->sources = calloc(plan->rules.source_count, sizeof *plan->sources);
    if (!plan->sources)
        return status_no_memory(err, plan->rules.source_count * sizeof *plan->sources);
    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++) {
        s = plan_source_open(&plan->sources[i], &plan->rules, i, options, err);
        if (s == LEAT_OK && i > 0)
            s = check_source(plan, i, &facts, err);
    }
    if (s != LEAT_OK)
        return s;
    leat_dataset_info(plan->sources[0].dataset, &info);
    plan->token_width = info.token_width;
    return LEAT_OK;
}
