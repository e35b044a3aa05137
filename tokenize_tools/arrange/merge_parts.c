/* merge_parts.c: sorts the names of parts, so that the files of one part lie together; opens each part and compares
 * it with the first one; and puts the shares of a run in their order. */
#include "merge_parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "merge_columns.h"
#include "private.h"

/* ---- Names ---- */

/*
 * A name is cut into that of a part and what comes after it. Both files of a part name it once. Files that leat writes
 * beside a dataset are no parts, and are skipped; so is an earlier result of the whole run, if the parts are its
 * shares. Skipped datasets are reported. Anything else stays: the library says what it is when it does not open.
 */

enum kind { NAME_PLAIN, NAME_INDEX, NAME_TOKENS, NAME_BESIDE };

struct merge_name {
    const char *name;
    size_t length; /* length of the part's name, which `name` begins with */
    enum kind kind;
};

/* ---- One name ---- */

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns the length of the name of the dataset that this file or folder lies beside, or 0. */
static size_t length_beside(const char *name)
{
    static const char *const suffixes[] = { ".rejects.jsonl", ".fit", ".fit.partial", ".beat" };
    const char *last = last_of(name), *partial = strstr(last + (*last != '\0'), ".partial.");
    size_t length = strlen(name), before = (size_t)(last - name), whole = file_dataset_length(name, length);

    if (partial && (whole == length || file_ends_with(name, whole, ".partial")))
        return (size_t)(partial - name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (length > before + strlen(suffixes[i]) && file_ends_with(name, length, suffixes[i]))
            return length - strlen(suffixes[i]);
    return 0;
}

/* Cuts one name. A name without a file, a list (@FILE) and a URL are a dataset's name, without a suffix. */
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
    return status_set_in(err, LEAT_E_INCOMPATIBLE, name,
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

static int compare_names(const void *a, const void *b)
{
    const struct merge_name *x = a, *y = b;
    int order = compare_text(x, y->name, y->length, false);

    return order != 0 ? order : (int)x->kind - (int)y->kind;
}

/* Returns the number of the first name that does not sort before the text. */
static size_t find_name(const struct merge_names *n, const char *text, size_t length, bool dot)
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

/* Returns true if one of the names is of this kind and belongs to the part of `of`. */
static bool part_has(const struct merge_names *n, const struct merge_name *of, enum kind kind)
{
    for (size_t i = find_name(n, of->name, of->length, false); i < n->given; i++) {
        if (compare_text(&n->sorted[i], of->name, of->length, false) != 0)
            return false;
        if (n->sorted[i].kind == kind)
            return true;
    }
    return false;
}

/* Returns a dataset whose name begins with the name of `of` and a dot, such as c.1 for c; or NULL. */
static const char *below(const struct merge_names *n, const struct merge_name *of)
{
    for (size_t i = find_name(n, of->name, of->length, true); i < n->given; i++) {
        const struct merge_name *x = &n->sorted[i];

        if (x->length <= of->length || x->name[of->length] != '.' || memcmp(x->name, of->name, of->length) != 0)
            return NULL;
        if (x->kind != NAME_BESIDE)
            return x->name;
    }
    return NULL;
}

/* ---- Skipped datasets ---- */

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

/* Reports parts of which only files beside them exist, as a run leaves them that has not ended. The output is not
 * reported, nor is a dataset that was divided into other parts. */
static enum leat_status report_unfinished(const struct merge_names *n, const char *output,
                                          const struct leat_merge_options *o, struct leat_error *err)
{
    size_t length = file_dataset_length(output, strlen(output));
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < n->given; i++) {
        const struct merge_name *x = &n->sorted[i];

        if (x->kind != NAME_BESIDE || (i > 0 && compare_names(x - 1, x) == 0) ||
            compare_text(x, output, length, false) == 0)
            continue;
        if (!part_has(n, x, NAME_INDEX) && !part_has(n, x, NAME_TOKENS) && !part_has(n, x, NAME_PLAIN) && !below(n, x))
            s = report(o, x, LEAT_SKIP_UNFINISHED, err);
    }
    return s;
}

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

static bool skip_character(const char **text, char c)
{
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

/* Ignores a value of another form, which says nothing about shares. */
static void shares_parse(struct shares *s, const struct leat_metadata *pairs)
{
    struct shares parsed = { 0 };

    for (uint64_t i = 0; i < pairs->count; i++) {
        const char *text = pairs->pairs[i].value;
        bool good;

        if (strcmp(pairs->pairs[i].key, SHARES_KEY) != 0 || strlen(text) != pairs->pairs[i].value_bytes)
            continue;
        good = take_number(&text, &parsed.first);
        parsed.last = parsed.first;
        if (good && skip_character(&text, '-'))
            good = take_number(&text, &parsed.last);
        good = good && skip_character(&text, '/') && take_number(&text, &parsed.of) && !*text;
        if (good && parsed.first <= parsed.last && parsed.last <= parsed.of)
            *s = parsed;
    }
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

/* Returns true if `x` is a dataset c beside c.1, c.2, ..., which are shares of a run, while c is not. */
static bool is_earlier_result(const struct merge_names *n, const struct merge_name *x)
{
    const char *other = part_has(n, x, NAME_INDEX) && part_has(n, x, NAME_TOKENS) ? below(n, x) : NULL;

    return other && is_share(other) && !is_share(x->name);
}

/* Identifies the file NAME.leat of a dataset. */
static enum leat_status identify(const char *name, size_t length, struct file_identity *index, struct leat_error *err)
{
    char *path = path_append(name, length, ".leat", NULL);
    enum leat_status s = path ? file_identify(path, index, err) : status_no_memory(err, length);

    free(path);
    return s;
}

/* Refuses a file of the output among the parts. A pattern can match it by mistake; its plain name is meant. */
static enum leat_status check_output(const struct merge_name *x, const char *output, const struct file_identity *index,
                                     struct leat_error *err)
{
    struct file_identity own;
    enum leat_status s = identify(x->name, x->length, &own, err);

    if (s != LEAT_OK || !file_same(own, *index))
        return s;
    return status_set_in(
        err, LEAT_E_EXISTS, x->name,
        "%.300s is among the parts, and a file of %.300s, the dataset to write: choose another name for "
        "that, or a narrower pattern for the parts",
        x->name, output);
}

/* ---- The names that stay ---- */

static enum leat_status keep_part(struct merge_names *n, const struct merge_name *x, const char *output,
                                  const struct file_identity *index, const struct leat_merge_options *o,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (x->kind == NAME_BESIDE || (x->kind == NAME_TOKENS && part_has(n, x, NAME_INDEX)))
        return LEAT_OK;
    if (x->kind == NAME_INDEX && is_earlier_result(n, x))
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
        s = given[i] ? check_run(given[i], err) : status_argument(err, "parts", "part %zu is NULL", i);
        if (s == LEAT_OK)
            n->sorted[n->given++] = cut(given[i]);
    }
    qsort(n->sorted, n->given, sizeof *n->sorted, compare_names);
    if (s == LEAT_OK)
        s = report_unfinished(n, output, options, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct merge_name x = cut(given[i]);

        s = keep_part(n, &x, output, &index, options, err);
    }
    if (s == LEAT_OK && n->count == 0)
        s = status_set_in(err, LEAT_E_NO_FILE, given[0], "no part is a finished dataset: %.300s only lies beside one",
                          given[0]);
    return s;
}

void merge_names_free(struct merge_names *n)
{
    free(n->items);
    free(n->sorted);
    *n = (struct merge_names) { 0 };
}

/* ---- Parts ---- */

static enum leat_status check_agreement(const struct leat_info *a, const struct leat_info *b, const char *name_a,
                                        const char *name_b, struct leat_error *err)
{
    const char *what = NULL;

    if (a->vocabulary != b->vocabulary)
        what = "vocabulary size; pack both with one tokenizer";
    else if (a->token_width != b->token_width) /* tokens that were adopted may have any size */
        what = "size of a token";
    else if (a->end_token != b->end_token)
        what = "end-of-document token";
    else if (a->begin_token != b->begin_token)
        what = "begin token";
    else if (memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) != 0)
        what = STATUS_FINGERPRINT;
    if (!what)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_INCOMPATIBLE, name_a,
                         "%.300s and %.300s cannot be merged: they differ in their %s", name_a, name_b, what);
}

/* Appends the names of two datasets' tokenizers to a sentence, if both are stored and differ. */
static void name_tokenizers(const struct leat_dataset *a, const struct leat_dataset *b, const char *name_a,
                            const char *name_b, struct leat_error *err)
{
    struct leat_stored_tokenizer *of_a = NULL, *of_b = NULL;

    (void)leat_dataset_tokenizer(a, &of_a, NULL);
    (void)leat_dataset_tokenizer(b, &of_b, NULL);
    if (err && of_a && of_b && strcmp(of_a->name, of_b->name) != 0)
        status_after(err, ": %.300s has %.100s, %.300s has %.100s", name_a, of_a->name, name_b, of_b->name);
    leat_stored_tokenizer_free(of_a);
    leat_stored_tokenizer_free(of_b);
}

/* Sets s->hashes if the dataset has a hash for each document, which is true if it has no documents. */
static enum leat_status look_for_hashes(struct merge_part *s, struct leat_error *err)
{
    uint8_t hash[16];
    enum leat_status status = LEAT_OK;

    if (s->documents > 0)
        status = leat_dataset_text_hashes(s->dataset, s->first_document, 1, &hash, err);
    s->hashes = status == LEAT_OK;
    return status == LEAT_E_NOT_FOUND ? LEAT_OK : status;
}

static enum leat_status push_part(struct merge_parts *all, const struct leat_dataset *d, uint64_t number,
                                  struct leat_error *err)
{
    struct leat_part part = LEAT_PART_INIT;
    struct merge_part *s;
    enum leat_status status = leat_dataset_part(d, number, &part, err);

    if (status != LEAT_OK)
        return status;
    status = GROW(all->items, all->count + 1, all->room, err);
    if (status != LEAT_OK)
        return status;
    s = &all->items[all->count++];
    *s = (struct merge_part) {
        .dataset = d,
        .name = part.name,
        .number = number,
        .first_token = part.first_token,
        .tokens = part.tokens,
        .first_document = part.first_document,
        .documents = part.documents,
        .first_input = part.first_input,
        .inputs = part.inputs,
    };
    status = look_for_hashes(s, err);
    if (status != LEAT_OK)
        return status;
    return leat_dataset_metadata(d, number, &s->pairs, err);
}

static enum leat_status open_part(struct merge_parts *all, const char *name, const char *first_name,
                                  struct leat_error *err)
{
    /* The files are read, not mapped: everything is read once, and mapped pages would count as this process's
     * memory. */
    struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset **d = &all->opened[all->opened_count];
    uint64_t id_bytes = 0;
    enum leat_status s = leat_dataset_open(d, name, &how, err);

    if (s != LEAT_OK)
        return s;
    all->opened_count++;
    leat_dataset_info(*d, &info);
    if (all->opened_count == 1)
        all->first = info;
    s = check_agreement(&all->first, &info, first_name, name, err);
    if (s != LEAT_OK)
        name_tokenizers(all->opened[0], *d, first_name, name, err);
    if (s == LEAT_OK && info.foreign_parts > 0 && info.documents != LEAT_NONE)
        s = status_set_in(
            err, LEAT_E_UNSUPPORTED, name,
            "%s has files of another tool, which lack the hashes and records that merging reads: adopt them "
            "first",
            name);
    if (s != LEAT_OK)
        return s;
    /* These sums cannot overflow, since they are sizes of real files. */
    all->token_bytes += info.token_bytes;
    all->documents += info.documents;
    all->mask |= info.stores_mask != 0;
    all->lines |= info.stores_lines != 0;
    all->ids |= info.stores_ids != 0;
    all->hashes |= info.stores_hashes != 0;
    for (uint64_t i = 0; s == LEAT_OK && i < info.parts; i++)
        s = push_part(all, *d, i, err);
    if (s == LEAT_OK)
        s = merge_columns_take(all, *d, err);
    if (s == LEAT_OK)
        s = leat_dataset_ids(*d, 0, info.documents, NULL, 0, &id_bytes, err);
    all->id_bytes += id_bytes;
    return s;
}

enum leat_status merge_parts_open(struct merge_parts *s, const char *const *names, size_t count, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    memset(s, 0, sizeof *s);
    s->opened = calloc(count, sizeof *s->opened);
    if (!s->opened)
        return status_no_memory(err, count * sizeof *s->opened);
    s->first = (struct leat_info)LEAT_INFO_INIT;
    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = open_part(s, names[i], names[0], err);
    return status;
}

void merge_parts_close(struct merge_parts *s)
{
    for (size_t i = 0; i < s->count; i++)
        leat_metadata_free(s->items[i].pairs);
    for (size_t i = 0; i < s->opened_count; i++)
        leat_dataset_close(s->opened[i]);
    merge_columns_free(s);
    free(s->items);
    free(s->opened);
    memset(s, 0, sizeof *s);
}

enum leat_status merge_parts_need_hashes(const struct merge_parts *s, const char *what, struct leat_error *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].hashes)
            return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK, s->items[i].name,
                                   "%.300s has no text hashes, which %s needs; pack its inputs again", s->items[i].name,
                                   what);
    return LEAT_OK;
}

enum leat_status merge_part_check(const struct merge_part *s, uint64_t first, uint64_t count, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status status = leat_dataset_verify_range(s->dataset, first, count, &why);

    if (status == LEAT_OK || status == LEAT_E_NOT_FOUND)
        return LEAT_OK;
    if (err)
        *err = why;
    return status;
}

static uint32_t is_stopped(void *context, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return pace_call(context, NULL) != LEAT_OK;
}

enum leat_status merge_parts_check_indexes(const struct merge_parts *s, struct pace *pace, struct leat_error *err)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    enum leat_status status = LEAT_OK;

    o.threads = 1;
    o.progress = is_stopped;
    o.context = pace;
    for (size_t i = 0; status == LEAT_OK && i < s->opened_count; i++)
        status = leat_dataset_verify_index(s->opened[i], &o, err);
    return status;
}

const char *merge_parts_metadata(const struct merge_part *s, const char *key)
{
    for (uint64_t i = 0; i < s->pairs->count; i++)
        if (strcmp(s->pairs->pairs[i].key, key) == 0)
            return s->pairs->pairs[i].value;
    return NULL;
}

/* ---- Shares of a run ---- */

/*
 * The metadata "leat.part" of a share is "I/N", or "I-J/N" for several shares that were merged. Shares of one run are
 * put in their order, whatever the order of their names. Merged without gaps they become the dataset of the whole run;
 * anything else is refused, because it is probably a mistake.
 */

void shares_print(char text[SHARES_TEXT], const struct shares *s)
{
    if (s->first == s->last)
        snprintf(text, SHARES_TEXT, "%" PRIu64 "/%" PRIu64, s->first, s->of);
    else
        snprintf(text, SHARES_TEXT, "%" PRIu64 "-%" PRIu64 "/%" PRIu64, s->first, s->last, s->of);
}

static enum leat_status refuse_shares(const struct merge_part *a, const struct merge_part *b, struct leat_error *err)
{
    char text_a[SHARES_TEXT], text_b[SHARES_TEXT];

    shares_print(text_a, &a->shares);
    shares_print(text_b, &b->shares);
    if (a->shares.of != b->shares.of)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "%.300s is share %s of a run, and %.300s is share %s of another run; merge the shares of "
                             "each run first",
                             a->name, text_a, b->name, text_b);
    if (b->shares.first > a->shares.last)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "share %" PRIu64 "/%" PRIu64 " is missing between %.300s (share %s) and %.300s (share %s)",
                             a->shares.last + 1, a->shares.of, a->name, text_a, b->name, text_b);
    if (strcmp(a->name, b->name) == 0)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "%.300s (share %s of a run) is named twice: give each share once", a->name, text_a);
    return status_set_in(
        err, LEAT_E_INCOMPATIBLE, a->name,
        "%.300s (share %s of a run) and %.300s (share %s) overlap: give each share once, and merge the "
        "shares of each run first",
        a->name, text_a, b->name, text_b);
}

/* Orders datasets by their run, then by their shares, then by their names. */
static int compare_shares(const void *x, const void *y)
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

/* Returns true if one of the lines ends with this commit. */
static bool has_commit(const char *lines, const char *commit, size_t length)
{
    for (const char *at = lines; (at = strchr(at, ' ')); at++)
        if (strncmp(at + 1, commit, length) == 0 && (at[1 + length] == '\0' || at[1 + length] == '\n'))
            return true;
    return false;
}

/* Finds the first commit of `lines` that `others` lack. Returns its length, or 0 if they lack none. */
static size_t find_missing_commit(const char *lines, const char *others, const char **commit)
{
    for (const char *at = lines; (at = strchr(at, ' ')); at++) {
        size_t length = strcspn(at + 1, "\n");

        *commit = at + 1;
        if (!has_commit(others, at + 1, length))
            return length;
    }
    return 0;
}

/* Checks that two shares read the same commits. Each share looks up its inputs by itself, and a branch may have
 * moved on between them. */
static enum leat_status check_commits(const struct merge_part *a, const struct merge_part *b, struct leat_error *err)
{
    const char *of_a = merge_parts_metadata(a, SHARES_HUB_KEY), *of_b = merge_parts_metadata(b, SHARES_HUB_KEY);
    const char *in_a = "", *in_b = "";
    size_t a_length, b_length;

    if (!of_a || !of_b)
        return LEAT_OK;
    a_length = find_missing_commit(of_a, of_b, &in_a);
    b_length = find_missing_commit(of_b, of_a, &in_b);
    if (a_length == 0 && b_length == 0)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_INCOMPATIBLE, b->name,
                         "%.300s was packed from %.*s, and %.300s from %.*s: parts of one run must read one commit; "
                         "pack one of them again with the other's commit in the names of its inputs, or all in a "
                         "folder, which keeps the commit for its parts",
                         a->name, (int)strcspn(in_a, "\n"), in_a, b->name, (int)strcspn(in_b, "\n"), in_b);
}

enum leat_status shares_check(struct merge_parts *all, struct leat_error *err)
{
    const struct merge_part *share = NULL, *other = NULL;
    enum leat_status s;

    for (size_t i = 0; i < all->count; i++) {
        struct merge_part *part = &all->items[i];

        shares_parse(&part->shares, part->pairs);
        if (part->shares.of)
            share = part;
        else
            other = part;
    }
    if (!share)
        return LEAT_OK;
    if (other)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, share->name,
                             "%.300s is a share of a run, and %.300s is not; merge the shares of the run first",
                             share->name, other->name);
    qsort(all->items, all->count, sizeof *all->items, compare_shares);
    for (size_t i = 1; i < all->count; i++) {
        const struct merge_part *a = &all->items[i - 1], *b = &all->items[i];

        if (a->shares.of != b->shares.of || b->shares.first != a->shares.last + 1)
            return refuse_shares(a, b, err);
        s = check_commits(a, b, err);
        if (s != LEAT_OK)
            return s;
    }
    all->shares =
        (struct shares) { all->items[0].shares.first, all->items[all->count - 1].shares.last, all->items[0].shares.of };
    all->whole_run = all->shares.first == 1 && all->shares.last == all->shares.of;
    if (all->whole_run)
        all->shares.of = 0; /* the output is not a share */
    return LEAT_OK;
}

bool shares_begin_inside(const struct merge_part *s)
{
    const char *cut = s->shares.of && s->shares.first > 1 ? merge_parts_metadata(s, SHARES_CUT_KEY) : NULL;

    return cut && strcmp(cut, "1") == 0;
}
