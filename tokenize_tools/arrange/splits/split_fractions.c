/* split_fractions.c: reads fractions as whole numbers of 10^-18, and compares hashes with their sums. */
#include "split_fractions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"

#define DIGITS       18u
#define ONE          1000000000000000000u /* 10^DIGITS */
#define LONGEST_NAME 64u

/* Reads "0.25", ".5", "1", "1.0" as a number of units of 10^-DIGITS, above 0 and at most ONE. */
static bool parse_fraction(const char *text, uint64_t *value)
{
    uint64_t unit = ONE;
    bool any = false;

    *value = 0;
    for (; *text == '0'; text++)
        any = true;
    if (*text == '1') {
        *value = ONE;
        any = true;
        text++;
    }
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            unit /= 10;
            if (unit == 0 && *text != '0')
                return false;
            *value += (uint64_t)(*text - '0') * unit;
            any = true;
        }
    return any && !*text && *value > 0 && *value <= ONE;
}

/* Returns true if OUTPUT.NAME would be a file of OUTPUT itself. */
static bool is_reserved(const char *name)
{
    static const char *const reserved[] = { "leat", "tokens", "partial", "packed" };

    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return false;
}

static enum leat_status check_name(const struct leat_split *splits, size_t i, struct leat_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *name = splits[i].name;

    if (!name || !*name || strlen(name) > LONGEST_NAME || name[strspn(name, allowed)] || is_reserved(name))
        return status_argument(
            err, "splits",
            "invalid split name \"%.100s\": use letters, digits, '-' and '_', but not leat, tokens, partial or packed",
            name ? name : "");
    for (size_t k = 0; k < i; k++)
        if (strcmp(splits[k].name, name) == 0)
            return status_in_file(err, status_argument(err, "splits", "two splits are called %s", name), name);
    return LEAT_OK;
}

/* Returns the greatest u below 2^64 with u / 2^64 < value / ONE, by long division, since products would overflow. */
static uint64_t last_below(uint64_t value)
{
    uint64_t quotient = 0, left = value;

    if (value >= ONE)
        return UINT64_MAX;
    for (unsigned bit = 0; bit < 64; bit++) {
        left *= 2;
        quotient = quotient << 1 | (left >= ONE);
        left -= left >= ONE ? ONE : 0;
    }
    return left > 0 ? quotient : quotient - 1;
}

/* Appends NAME=FRACTION to f->text, which has room. */
static void print_split(struct split_fractions *f, const char *name, uint64_t value)
{
    size_t used = strlen(f->text), digits = DIGITS;

    used += (size_t)snprintf(f->text + used, LONGEST_NAME + 32, "%s%s=%llu.%018llu", used ? "," : "", name,
                             (unsigned long long)(value / ONE), (unsigned long long)(value % ONE));
    while (digits > 0 && f->text[used - 1] == '0') {
        used--;
        digits--;
    }
    f->text[digits == 0 ? used - 1 : used] = '\0'; /* leaves out a point at the end */
}

/* Reads the fraction of split i. Added to *sum, the fractions before it, it must be at most 1. */
static enum leat_status add_fraction(const struct leat_split *split, uint64_t *sum, uint64_t *value,
                                     struct leat_error *err)
{
    if (!split->fraction || !parse_fraction(split->fraction, value))
        return status_argument(
            err, "splits",
            "the fraction of split %s is \"%.100s\"; it must be a decimal number above 0 and up to 1, "
            "with at most %u digits after the point",
            split->name, split->fraction ? split->fraction : "", DIGITS);
    if (*value > ONE - *sum)
        return status_argument(err, "splits", "the fractions up to that of split %s add up to more than 1",
                               split->name);
    *sum += *value;
    return LEAT_OK;
}

enum leat_status split_fractions_make(struct split_fractions *f, const struct leat_split *splits, size_t count,
                                      struct leat_error *err)
{
    uint64_t sum = 0, value = 0;
    enum leat_status s = LEAT_OK;

    memset(f, 0, sizeof *f);
    if (count > SPLITS_MAX)
        return status_argument(err, "splits", "%zu splits are too many: at most %d", count, SPLITS_MAX);
    if (count > 0 && !splits)
        return status_argument(err, "splits", "splits is NULL, but split_count is not 0");
    f->text = calloc(count + 1, LONGEST_NAME + 32);
    if (!f->text)
        return status_no_memory(err, (count + 1) * (LONGEST_NAME + 32));
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = check_name(splits, i, err);
        if (s == LEAT_OK)
            s = add_fraction(&splits[i], &sum, &value, err);
        if (s != LEAT_OK)
            break;
        f->last[i] = last_below(sum);
        print_split(f, splits[i].name, value);
    }
    f->count = count;
    if (s != LEAT_OK)
        split_fractions_free(f);
    return s;
}

void split_fractions_free(struct split_fractions *f)
{
    free(f->text);
    f->text = NULL;
}

size_t split_fractions_choose(const struct split_fractions *f, const uint8_t hash[16])
{
    uint64_t high = bytes_load64(hash + 8);
    size_t i = 0;

    while (i < f->count && high > f->last[i])
        i++;
    return i;
}

char *split_fractions_output(const char *output, const char *split, bool folders, const char *suffix)
{
    const char *slash = folders ? strrchr(output, '/') : NULL;
    size_t folder = slash ? (size_t)(slash - output) + 1 : 0, length = file_dataset_length(output, strlen(output));
    char *file, *name;

    if (!split)
        return path_append(output, length, suffix, NULL);
    if (!folders)
        return path_append(output, length, ".", split, suffix, NULL);
    file = path_append(output + folder, length - folder, suffix, NULL);
    name = file ? path_append(output, folder, split, "/", file, NULL) : NULL;
    free(file);
    return name;
}
