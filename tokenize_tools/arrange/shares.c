/*
 * shares.c: datasets that are shares of one run. Their metadata "leat.part" says so: "I/N", or "I-J/N" for several that
 * were merged. They are put in the order of their shares, whatever the order in which they were named. Merged without
 * gaps they become the dataset of the whole run; anything else is refused, because it is probably a mistake.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "merge_parts.h"

/* Reads decimal digits without leading zeros; returns false if there are none, or too many. */
static bool take_number(const char **text, uint64_t *value)
{
    const char *at = *text;

    *value = 0;
    for (; *at >= '0' && *at <= '9' && at - *text < 18; at++)
        *value = 10 * *value + (uint64_t)(*at - '0');
    if (at == *text || **text == '0')
        return false;
    *text = at;
    return true;
}

static bool take(const char **text, char c)
{
    return **text == c && (*text)++;
}

/* A value of another form is metadata like any other. */
void shares_parse(struct shares *s, const struct leat_metadata *pairs)
{
    struct shares parsed = { 0 };

    for (uint64_t i = 0; i < pairs->count; i++) {
        const char *text = pairs->pairs[i].value;
        bool good;

        if (strcmp(pairs->pairs[i].key, SHARES_KEY) != 0 || strlen(text) != pairs->pairs[i].value_bytes)
            continue;
        good = take_number(&text, &parsed.first);
        parsed.last = parsed.first;
        if (good && take(&text, '-'))
            good = take_number(&text, &parsed.last);
        good = good && take(&text, '/') && take_number(&text, &parsed.of) && !*text;
        if (good && parsed.first <= parsed.last && parsed.last <= parsed.of)
            *s = parsed;
    }
}

void shares_print(char text[SHARES_TEXT], const struct shares *s)
{
    if (s->first == s->last)
        snprintf(text, SHARES_TEXT, "%llu/%llu", (unsigned long long)s->first, (unsigned long long)s->of);
    else
        snprintf(text, SHARES_TEXT, "%llu-%llu/%llu", (unsigned long long)s->first, (unsigned long long)s->last,
                 (unsigned long long)s->of);
}

static enum leat_status wrong(const struct merge_part *a, const struct merge_part *b, struct leat_error *err)
{
    char text_a[SHARES_TEXT], text_b[SHARES_TEXT];

    shares_print(text_a, &a->shares);
    shares_print(text_b, &b->shares);
    if (a->shares.of != b->shares.of)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "%.300s is share %s of a run, and %.300s is share %s of another run; merge the shares of "
                          "each run first",
                          a->name, text_a, b->name, text_b);
    if (b->shares.first > a->shares.last)
        return status_set(
            err, LEAT_E_INCOMPATIBLE, "share %llu/%llu is missing between %.300s (share %s) and %.300s (share %s)",
            (unsigned long long)a->shares.last + 1, (unsigned long long)a->shares.of, a->name, text_a, b->name, text_b);
    if (strcmp(a->name, b->name) == 0)
        return status_set(err, LEAT_E_INCOMPATIBLE, "%.300s (share %s of a run) is named twice: give each share once",
                          a->name, text_a);
    return status_set(err, LEAT_E_INCOMPATIBLE,
                      "%.300s (share %s of a run) and %.300s (share %s) overlap: give each share once, and merge the "
                      "shares of each run first",
                      a->name, text_a, b->name, text_b);
}

/* As the parts of a run follow each other. */
static int compare(const void *x, const void *y)
{
    const struct merge_part *a = x, *b = y;

    if (a->shares.of != b->shares.of)
        return a->shares.of < b->shares.of ? -1 : 1;
    if (a->shares.first != b->shares.first)
        return a->shares.first < b->shares.first ? -1 : 1;
    if (a->shares.last != b->shares.last)
        return a->shares.last < b->shares.last ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Earlier versions had parts that were shuffled together, each with the inputs of all. */
static enum leat_status check_cut(const struct merge_part *s, struct leat_error *err)
{
    const char *cut = merge_parts_metadata(s, SHARES_CUT_KEY);

    if (!cut || strcmp(cut, "0") == 0 || strcmp(cut, "1") == 0)
        return LEAT_OK;
    return status_set(err, LEAT_E_INCOMPATIBLE,
                      "%.300s was shuffled together with the other parts of its run, by an earlier version of leat: "
                      "they open as one dataset, but are not merged; pack the run anew for that",
                      s->name);
}

enum leat_status shares_check(struct merge_parts *all, struct leat_error *err)
{
    const struct merge_part *share = NULL, *other = NULL;

    for (size_t i = 0; i < all->count; i++) {
        struct merge_part *s = &all->items[i];

        shares_parse(&s->shares, s->pairs);
        if (s->shares.of)
            share = s;
        else
            other = s;
    }
    if (!share)
        return LEAT_OK;
    for (size_t i = 0; i < all->count; i++) {
        enum leat_status s = all->items[i].shares.of ? check_cut(&all->items[i], err) : LEAT_OK;

        if (s != LEAT_OK)
            return s;
    }
    if (other)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "%.300s is a share of a run, and %.300s is not; merge the shares of the run first",
                          share->name, other->name);
    qsort(all->items, all->count, sizeof *all->items, compare);
    for (size_t i = 1; i < all->count; i++) {
        const struct merge_part *a = &all->items[i - 1], *b = &all->items[i];

        if (a->shares.of != b->shares.of || b->shares.first != a->shares.last + 1)
            return wrong(a, b, err);
    }
    all->shares =
        (struct shares) { all->items[0].shares.first, all->items[all->count - 1].shares.last, all->items[0].shares.of };
    all->whole_run = all->shares.first == 1 && all->shares.last == all->shares.of;
    if (all->whole_run)
        all->shares.of = 0; /* not a share any more */
    return LEAT_OK;
}

bool shares_begin_inside(const struct merge_part *s)
{
    const char *cut = s->shares.of && s->shares.first > 1 ? merge_parts_metadata(s, SHARES_CUT_KEY) : NULL;

    return cut && strcmp(cut, "1") == 0;
}
