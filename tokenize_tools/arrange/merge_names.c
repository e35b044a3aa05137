/*
 * merge_names.c: see merge_names.h. A name is cut into that of a part and what comes after it. Both files of a part
 * name it once. What leat writes beside a dataset is no part, and is passed over; so is an older result of the whole
 * run, if the parts are shares of one. What is left out, and may be missed, is reported. Anything else stays: the
 * library says what it is when it does not open.
 */
#include "merge_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "merge_parts.h"

enum kind { NAME_PLAIN, NAME_INDEX, NAME_TOKENS, NAME_BESIDE };

struct merge_name {
    const char *name;
    size_t length; /* of the part's name in it */
    enum kind kind;
};

/* ---- One name ---- */

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* How long the name of the dataset is that this file or folder lies beside; 0: beside none. */
static size_t length_beside(const char *name)
{
    static const char *const suffixes[] = { ".rejects.jsonl",  ".fit",     ".fit.partial",  ".beat",
                                            ".tokens.joining", ".joining", ".joining.leat", ".joining.tokens" };
    const char *last = last_of(name), *partial = strstr(last + (*last != '\0'), ".partial.");
    size_t length = strlen(name), before = (size_t)(last - name), whole = file_dataset_length(name, length);

    if (partial && (whole == length || file_ends_with(name, whole, ".partial")))
        return (size_t)(partial - name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (length > before + strlen(suffixes[i]) && file_ends_with(name, length, suffixes[i]))
            return length - strlen(suffixes[i]);
    return 0;
}

/* A name that is no file's is a dataset's, without a suffix; as is what stands for another thing. */
static struct merge_name cut(const char *name)
{
    size_t length = strlen(name), whole = file_dataset_length(name, length), beside = length_beside(name);
    struct stat st;

    if (name[0] == '@' || own_file_is_url(name) || lstat(name, &st) != 0)
        return (struct merge_name) { name, length, NAME_PLAIN };
    if (beside > 0)
        return (struct merge_name) { name, beside, NAME_BESIDE };
    return (struct merge_name) { name, whole,
                                 whole == length                         ? NAME_PLAIN
                                 : file_ends_with(name, length, ".leat") ? NAME_INDEX
                                                                         : NAME_TOKENS };
}

static enum leat_status check_run(const char *name, struct leat_error *err)
{
    const char *last = last_of(name);
    struct stat st;

    if ((strcmp(last, "leat-run") != 0 && strncmp(last, "leat-run.", 9) != 0) || lstat(name, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return LEAT_OK;
    return status_set(err, LEAT_E_INCOMPATIBLE,
                      "%.300s is a file of a run in parts: give the folder of the run, %.*s, as the part", name,
                      last > name ? (int)(last - name) : 1, last > name ? name : ".");
}

/* ---- All names, sorted ---- */

/* Compares the name of a part with a text of this length, and a dot after it if `dot`. */
static int compare_text(const struct merge_name *x, const char *text, size_t length, bool dot)
{
    int order = memcmp(x->name, text, x->length < length ? x->length : length);

    if (order != 0)
        return order;
    if (x->length <= length)
        return x->length < length || dot ? -1 : 0;
    return !dot ? 1 : x->name[length] != '.' ? (unsigned char)x->name[length] - '.' : x->length > length + 1;
}

static int compare(const void *a, const void *b)
{
    const struct merge_name *x = a, *y = b;
    int order = compare_text(x, y->name, y->length, false);

    return order != 0 ? order : (int)x->kind - (int)y->kind;
}

/* The first name that does not sort before that text. */
static size_t find(const struct merge_names *n, const char *text, size_t length, bool dot)
{
    size_t low = 0, high = n->given;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_text(&n->sorted[middle], text, length, dot) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a name of this kind is of the same part. */
static bool has(const struct merge_names *n, const struct merge_name *of, enum kind kind)
{
    for (size_t i = find(n, of->name, of->length, false); i < n->given; i++) {
        if (compare_text(&n->sorted[i], of->name, of->length, false) != 0)
            return false;
        if (n->sorted[i].kind == kind)
            return true;
    }
    return false;
}

/* A dataset whose name begins with that of this one and a dot: c.1 of c; or NULL. */
static const char *below(const struct merge_names *n, const struct merge_name *of)
{
    for (size_t i = find(n, of->name, of->length, true); i < n->given; i++) {
        const struct merge_name *x = &n->sorted[i];

        if (x->length <= of->length || x->name[of->length] != '.' || memcmp(x->name, of->name, of->length) != 0)
            return NULL;
        if (x->kind != NAME_BESIDE)
            return x->name;
    }
    return NULL;
}

/* ---- What is left out ---- */

static enum leat_status report(const struct leat_merge_options *o, const struct merge_name *x,
                               enum leat_skip_reason reason, struct leat_error *err)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_SKIPPED, .reason = reason };
    char *name;

    if (!o->notice)
        return LEAT_OK;
    name = strndup(x->name, x->length);
    if (!name)
        return status_no_memory(err, x->length);
    notice.path = name;
    o->notice(o->context, &notice);
    free(name);
    return LEAT_OK;
}

/* A part of which only other files are there, as of a run that has not ended; unless it is no part, but what was
 * divided into the others, or the output. */
static enum leat_status report_unfinished(const struct merge_names *n, const char *output,
                                          const struct leat_merge_options *o, struct leat_error *err)
{
    size_t length = file_dataset_length(output, strlen(output));
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < n->given; i++) {
        const struct merge_name *x = &n->sorted[i];

        if (x->kind != NAME_BESIDE || (i > 0 && compare(x - 1, x) == 0) || compare_text(x, output, length, false) == 0)
            continue;
        if (!has(n, x, NAME_INDEX) && !has(n, x, NAME_TOKENS) && !has(n, x, NAME_PLAIN) && !below(n, x))
            s = report(o, x, LEAT_SKIP_UNFINISHED, err);
    }
    return s;
}

static bool is_share(const char *name)
{
    struct leat_metadata *pairs = NULL;
    struct shares shares = { 0 };
    struct leat_dataset *d;

    if (leat_dataset_open(&d, name, NULL, NULL) != LEAT_OK)
        return false;
    if (leat_dataset_metadata(d, 0, &pairs, NULL) == LEAT_OK)
        shares_parse(&shares, pairs);
    leat_metadata_free(pairs);
    leat_dataset_close(d);
    return shares.of > 0;
}

/* Whether it is c, beside c.1, c.2, ..., which are shares of a run, while c is not. */
static bool is_older(const struct merge_names *n, const struct merge_name *x)
{
    const char *other = has(n, x, NAME_INDEX) && has(n, x, NAME_TOKENS) ? below(n, x) : NULL;

    return other && is_share(other) && !is_share(x->name);
}

/* The file NAME.leat of a dataset. */
static enum leat_status identify(const char *name, size_t length, struct file_identity *index, struct leat_error *err)
{
    char *path = malloc(length + sizeof ".leat");
    enum leat_status s;

    if (!path)
        return status_no_memory(err, length);
    snprintf(path, length + sizeof ".leat", "%.*s.leat", (int)length, name);
    s = file_identify(path, index, err);
    free(path);
    return s;
}

/* The output is a part only if it is named as such, not by its files, as a pattern that matches it gives them. */
static enum leat_status check_output(const struct merge_name *x, const char *output, const struct file_identity *index,
                                     struct leat_error *err)
{
    struct file_identity own;
    enum leat_status s = identify(x->name, x->length, &own, err);

    if (s != LEAT_OK || !file_same(own, *index))
        return s;
    return status_set(err, LEAT_E_EXISTS,
                      "%.300s is among the parts, and a file of %.300s, the dataset to write: choose another name for "
                      "that, or a narrower pattern for the parts",
                      x->name, output);
}

/* ---- All ---- */

static enum leat_status keep(struct merge_names *n, const struct merge_name *x, const char *output,
                             const struct file_identity *index, const struct leat_merge_options *o,
                             struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (x->kind == NAME_BESIDE || (x->kind == NAME_TOKENS && has(n, x, NAME_INDEX)))
        return LEAT_OK;
    if (x->kind == NAME_INDEX && is_older(n, x))
        return report(o, x, LEAT_SKIP_OLDER, err);
    if (x->kind != NAME_PLAIN && index->exists)
        s = check_output(x, output, index, err);
    n->items[n->count++] = x->name;
    return s;
}

enum leat_status merge_names_take(struct merge_names *n, const char *output, const char *const *given, size_t count,
                                  const struct leat_merge_options *options, struct leat_error *err)
{
    struct file_identity index = { .exists = false };
    enum leat_status s = identify(output, file_dataset_length(output, strlen(output)), &index, err);

    *n = (struct merge_names) { .items = calloc(count, sizeof *n->items), .sorted = calloc(count, sizeof *n->sorted) };
    if (!n->items || !n->sorted)
        return status_no_memory(err, count * sizeof *n->sorted);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = given[i] ? check_run(given[i], err)
                     : status_set(err, LEAT_E_ARGUMENT, "part %llu is NULL", (unsigned long long)i);
        if (s == LEAT_OK)
            n->sorted[n->given++] = cut(given[i]);
    }
    qsort(n->sorted, n->given, sizeof *n->sorted, compare);
    if (s == LEAT_OK)
        s = report_unfinished(n, output, options, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct merge_name x = cut(given[i]);

        s = keep(n, &x, output, &index, options, err);
    }
    if (s == LEAT_OK && n->count == 0)
        s = status_set(err, LEAT_E_NO_FILE, "no part is a finished dataset: %.300s only lies beside one", given[0]);
    return s;
}

void merge_names_free(struct merge_names *n)
{
    free(n->items);
    free(n->sorted);
    *n = (struct merge_names) { 0 };
}
