/*
 * plan_sources.c: opens the sources of a plan, and checks that they were encoded alike.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "plan.h"

/* Whether all of a source are other tools' files, which do not say how they were encoded. */
static bool is_foreign(const struct leat_info *info)
{
    return info->foreign_parts == info->parts;
}

/* Whether two sources differ in a token; what foreign files do not say agrees with everything. */
static bool differ(const struct leat_info *a, const struct leat_info *b, uint64_t in_a, uint64_t in_b)
{
    return in_a != in_b && !(is_foreign(a) && in_a == LEAT_NONE) && !(is_foreign(b) && in_b == LEAT_NONE);
}

/* Checks that two sources were encoded with the same vocabulary. */
static enum leat_status check_agreement(const struct leat_plan *plan, size_t one, size_t other, struct leat_error *err)
{
    struct leat_info a = LEAT_INFO_INIT, b = LEAT_INFO_INIT;
    const char *what = NULL;
    bool known;

    leat_dataset_info(plan->sources[one].dataset, &a);
    leat_dataset_info(plan->sources[other].dataset, &b);
    known = !is_foreign(&a) && !is_foreign(&b);
    if (known && a.vocabulary != b.vocabulary)
        what = "vocabulary size";
    else if (differ(&a, &b, a.end_token, b.end_token))
        what = "end-of-document token";
    else if (differ(&a, &b, a.begin_token, b.begin_token))
        what = "begin token";
    else if (a.token_width != b.token_width)
        what = "bytes per token";
    else if (known && memcmp(a.fingerprint, b.fingerprint, sizeof a.fingerprint) != 0)
        what = STATUS_FINGERPRINT;
    if (!what)
        return LEAT_OK;
    return status_set(err, LEAT_E_INCOMPATIBLE, "%.300s and %.300s cannot be in one plan: they differ in their %s",
                      plan->rules.sources[one].name, plan->rules.sources[other].name, what);
}

/* 2: leat's own files record everything; 1: their end token at least is known. */
static int known_facts(const struct plan_source *source)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(source->dataset, &info);
    return !is_foreign(&info) ? 2 : info.end_token != LEAT_NONE;
}

/* The first source with a begin token: a file of another tool may have one without an end token, or the reverse. */
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

/*
 * Checks source `number` against those before it. Source *facts, of which most is known, stands for them, unless of the
 * new one more is known; and the first one that knows what it may not.
 */
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
