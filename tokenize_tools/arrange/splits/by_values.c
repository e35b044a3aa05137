/*
 * by_values.c: makes names that differ if their values do. %XX can be read back, so names that are equal but for
 * capitals come from values that are equal but for capitals, and all of these have their capitals as %XX. A name
 * that is too long ends in "%-" and a hash of the value; the name of the empty value is "%empty"; no other name has
 * such characters after a %. A name has no dot, so OUT.VALUE is neither a file of OUT nor OUT.OTHER.SPLIT.
 */
#include "by_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- Values ---- */

/* Returns the place of the first value that is not less. */
static size_t place_of(const struct by_values *v, const char *value)
{
    size_t first = 0, end = v->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (strcmp(v->items[middle], value) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

size_t by_values_find(const struct by_values *v, const char *value)
{
    size_t at = place_of(v, value);

    return at < v->count && strcmp(v->items[at], value) == 0 ? at : v->count;
}

enum leat_status by_values_add(struct by_values *v, const char *value, const char *field, uint64_t documents,
                               size_t *at, bool *is_new, struct leat_error *err)
{
    enum leat_status s;
    char *own;

    *at = place_of(v, value);
    *is_new = *at == v->count || strcmp(v->items[*at], value) != 0;
    if (!*is_new)
        return LEAT_OK;
    if (v->count == BY_MAX_VALUES)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "\"%.200s\" has %u different values in the first %" PRIu64
                          " documents, the last one \"%.100s\", and "
                          "a dataset is made for each: at most %u; choose another field",
                          field, BY_MAX_VALUES + 1, documents, value, BY_MAX_VALUES);
    s = GROW(v->items, v->count + 1, v->room, err);
    own = s == LEAT_OK ? strdup(value) : NULL;
    if (s == LEAT_OK && !own)
        s = status_no_memory(err, strlen(value) + 1);
    if (s != LEAT_OK)
        return s;
    memmove(v->items + *at + 1, v->items + *at, (v->count - *at) * sizeof *v->items);
    v->items[*at] = own;
    v->count++;
    return LEAT_OK;
}

void by_values_free(struct by_values *v)
{
    for (size_t i = 0; i < v->count; i++)
        free(v->items[i]);
    free(v->items);
    *v = (struct by_values) { 0 };
}

size_t by_values_before(const char *id, uint64_t id_bytes)
{
    const char *zero = id_bytes > 0 ? memchr(id, 0, (size_t)id_bytes) : NULL;

    return zero ? (size_t)(zero - id) : SIZE_MAX;
}

/* ---- Names ---- */

#define LONGEST_PLAIN 64u

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Returns true if two texts differ in capitals only, whatever the locale is. */
static bool equal_but_for_capitals(const char *a, const char *b)
{
    while (*a && (is_capital(*a) ? *a - 'A' + 'a' : *a) == (is_capital(*b) ? *b - 'A' + 'a' : *b)) {
        a++;
        b++;
    }
    return !*a && !*b;
}

static bool is_plain(char c, bool escape_capitals)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           (is_capital(c) && !escape_capitals);
}

/* Returns true if a file of OUT itself has this word after the dot. */
static bool is_reserved(const char *value)
{
    static const char *const reserved[] = { "leat", "tokens", "partial", "packed", "rejects" };

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (equal_but_for_capitals(value, reserved[i]))
            return true;
    return false;
}

void by_name_make(struct by_name *name, const char *value, bool escape_capitals)
{
    bool reserved = is_reserved(value);
    const char *from = value;
    size_t used = 0;

    for (; *from && used + 3 <= LONGEST_PLAIN; from++) {
        bool plain = is_plain(*from, escape_capitals) && !(reserved && from == value);

        used += (size_t)snprintf(name->text + used, BY_NAME_BYTES - used, plain ? "%c" : "%%%02X",
                                 plain ? *from : (unsigned char)*from);
    }
    name->text[used] = '\0';
    if (*from) {
        XXH128_hash_t hash = XXH3_128bits(value, strlen(value));

        snprintf(name->text + used, BY_NAME_BYTES - used, "%%-%016llx%016llx", (unsigned long long)hash.high64,
                 (unsigned long long)hash.low64);
    }
    if (used == 0)
        snprintf(name->text, BY_NAME_BYTES, "%%empty");
}

void by_values_name(const struct by_values *v, size_t at, struct by_name *name)
{
    bool ambiguous = false;

    for (size_t i = 0; i < v->count; i++)
        ambiguous |= i != at && equal_but_for_capitals(v->items[i], v->items[at]);
    by_name_make(name, v->items[at], ambiguous);
}
