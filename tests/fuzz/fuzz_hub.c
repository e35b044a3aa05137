/*
 * fuzz_hub.c: any bytes as the README.md of a folder from the Hugging Face Hub, and as the names of its files. Whatever
 * these are, the calls return. A card that is read has configurations with names, and no split without one; splits that
 * are found have files, each once, in order, and no two have one name; a second time all is the same. A pattern matches
 * what it matches by trying everything.
 *
 * The input is the names, a line each, up to a zero byte, and then README.md.
 */
#include <stdbool.h>

#include "corpus/hub/hub_glob.h"
#include "corpus/hub/hub_splits.h"
#include "fuzz.h"

#define NAMES 64u

/* What a pattern without ? and sets means, of one part and of all. */
static bool part_matches(const char *p, const char *p_end, const char *n, const char *n_end)
{
    if (p == p_end)
        return n == n_end;
    if (*p == '*')
        return part_matches(p + 1, p_end, n, n_end) || (n < n_end && part_matches(p, p_end, n + 1, n_end));
    return n < n_end && *p == *n && part_matches(p + 1, p_end, n + 1, n_end);
}

static bool matches(const char *p, const char *n)
{
    const char *p_end = strchrnul(p, '/'), *n_end = strchrnul(n, '/');

    if (p_end - p == 2 && strncmp(p, "**", 2) == 0)
        return !*p_end || matches(p_end + 1, n) || (*n_end && matches(p, n_end + 1));
    if (!part_matches(p, p_end, n, n_end) || !*p_end != !*n_end)
        return false;
    return !*p_end || matches(p_end + 1, n_end + 1);
}

/* Patterns that it would not take ages for. */
static bool is_simple(const char *pattern)
{
    size_t stars = 0;

    for (const char *c = pattern; *c; c++)
        stars += *c == '*';
    return !strpbrk(pattern, "?[") && stars <= 4 && strlen(pattern) < 60;
}

static void check_card(const struct hub_card *card, const char *const *names, size_t count)
{
    for (size_t i = 0; i < card->count; i++) {
        const struct hub_card_config *c = &card->configs[i];

        FUZZ_CHECK(c->name && c->by_names == (c->count == 0));
        for (size_t k = 0; k < c->count; k++) {
            FUZZ_CHECK(c->splits[k].name);
            for (size_t p = 0; p < c->splits[k].count; p++)
                for (size_t n = 0; n < count && is_simple(c->splits[k].patterns[p]); n++)
                    FUZZ_CHECK(hub_glob(c->splits[k].patterns[p], names[n]) ==
                               matches(c->splits[k].patterns[p], names[n]));
        }
    }
}

static void check_splits(const struct hub_splits *splits, size_t names)
{
    for (size_t i = 0; i < splits->count; i++) {
        const struct hub_split *split = &splits->items[i];

        FUZZ_CHECK(split->count > 0 && split->name);
        for (size_t k = 0; k < split->count; k++)
            FUZZ_CHECK(split->files[k] < names && (k == 0 || split->files[k - 1] < split->files[k]));
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(strcmp(splits->items[k].name, split->name) != 0);
    }
}

static bool same_splits(const struct hub_splits *a, const struct hub_splits *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i].name, b->items[i].name) == 0 && a->items[i].count == b->items[i].count &&
               memcmp(a->items[i].files, b->items[i].files, a->items[i].count * sizeof *a->items[i].files) == 0;
    return same;
}

static void find_twice(const char *const *names, size_t count, const struct hub_card *card)
{
    size_t *configs, *again;
    struct hub_splits a, b;

    FUZZ_CHECK(hub_splits_find(&a, names, count, card, &configs, NULL, NULL) == LEAT_OK);
    FUZZ_CHECK(hub_splits_find(&b, names, count, card, &again, NULL, NULL) == LEAT_OK);
    FUZZ_CHECK(!configs == !again && (!configs || (a.count == 0 && card->count > 1)));
    check_splits(&a, count);
    FUZZ_CHECK(same_splits(&a, &b));
    hub_splits_free(&a);
    hub_splits_free(&b);
    free(configs);
    free(again);
}

FUZZ_TARGET(hub)
{
    size_t before = size > 0 ? strnlen((const char *)data, size) : 0, count = 0;
    char *text = malloc(size + 1), *rest = text;
    const char *names[NAMES];
    struct leat_error err;
    struct hub_card card;
    enum leat_status s;

    FUZZ_CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (char *name; count < NAMES && (name = strsep(&rest, "\n"));)
        names[count++] = name;
    before += before < size;
    s = hub_card_read(&card, "README.md", (const char *)data + before, size - before, &err);
    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED);
    FUZZ_CHECK(s == LEAT_OK ? card.count == 0 || card.configs : card.count == 0 && err.message[0]);
    check_card(&card, names, count);
    find_twice(names, count, &card);
    hub_card_free(&card);
    free(text);
    return 0;
}
