/*
 * duplicates.c: see duplicates.h.
 *
 * Different texts with one XXH3-128 can be made on purpose, so that an equal hash alone is no reason to drop a
 * document. Documents whose hash comes again are candidates. Their tokens are read, in the order of the files, and
 * hashed with a key that is new in each run: documents are duplicates if these hashes are equal too. Whether two
 * documents are equal does not depend on the key (but with probability 2^-128), so neither does the result.
 */
#include "duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/random_words.h"
#include "base/status.h"
#include "base/tiny.h"
#include "sorting/keyed_hash.h"

#define HASHES_AT_ONCE TINY_OR((uint64_t)3, (uint64_t)16384)
#define TOKENS_AT_ONCE TINY_OR((uint64_t)4, (uint64_t)16384) /* an even number */

/* ---- Candidates ---- */

enum leat_status duplicates_put(struct duplicates_finder *f, struct triple t, struct leat_error *err)
{
    /* all zero: unknown, and equal to none */
    return t.a || t.b ? external_sort_put(&f->by_text, t, err) : LEAT_OK;
}

enum leat_status duplicates_put_part(struct duplicates_finder *f, const struct merge_part *s, uint64_t number,
                                     struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (uint64_t at = 0; status == LEAT_OK && at < s->documents; at += HASHES_AT_ONCE) {
        uint64_t here = s->documents - at < HASHES_AT_ONCE ? s->documents - at : HASHES_AT_ONCE;

        status = leat_dataset_text_hashes(s->dataset, s->first_document + at, here, f->hashes, err);
        for (uint64_t i = 0; status == LEAT_OK && i < here; i++)
            status = duplicates_put(
                f, (struct triple) { bytes_load64(f->hashes[i] + 8), bytes_load64(f->hashes[i]), number + at + i },
                err);
        if (status == LEAT_OK)
            status = pace_call(f->pace, err);
    }
    return status;
}

static enum leat_status next_candidate(struct duplicates_finder *f, struct leat_error *err)
{
    return external_sort_next(&f->candidates, &f->next, &f->more, err);
}

/* Goes through triples in the order of (a, b), then of the numbers, and puts the numbers of equal ones in `numbers`:
 * the first too if `first`. */
static enum leat_status put_equal(struct duplicates_finder *f, struct external_sort *sorted,
                                  struct external_sort *numbers, bool first, struct leat_error *err)
{
    struct triple t, before = { 0, 0, 0 };
    enum leat_status s = LEAT_OK;
    bool more = true, put = true; /* `put`: the one before is in, or not wanted */

    while (s == LEAT_OK) {
        s = external_sort_next(sorted, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        if (t.a == before.a && t.b == before.b) {
            if (!put)
                s = external_sort_put(numbers, (struct triple) { before.c, 0, 0 }, err);
            if (s == LEAT_OK)
                s = external_sort_put(numbers, (struct triple) { t.c, 0, 0 }, err);
            put = true;
        } else {
            before = t;
            put = !first;
        }
        if (s == LEAT_OK)
            s = pace_step(f->pace, 0, err);
    }
    return s == LEAT_OK ? external_sort_turn(numbers, err) : s;
}

enum leat_status duplicates_turn(struct duplicates_finder *f, struct leat_error *err)
{
    enum leat_status s = external_sort_turn(&f->by_text, err);

    if (s == LEAT_OK)
        s = put_equal(f, &f->by_text, &f->candidates, true, err);
    external_sort_end(&f->by_text);
    external_sort_begin(&f->by_tokens, f->path, f->memory - f->memory / 4);
    return s == LEAT_OK ? next_candidate(f, err) : s;
}

/* ---- Their tokens ---- */

static enum leat_status add_tokens(struct duplicates_finder *f, struct keyed_hash *h, const struct merge_part *s,
                                   uint64_t document, struct leat_error *err)
{
    uint64_t first, count;
    enum leat_status status = leat_dataset_document(s->dataset, document, &first, &count, err);

    if (status != LEAT_OK)
        return status;
    if (count > 0)
        status = merge_part_check(s, first, count, err);
    keyed_hash_add(h, count);
    for (uint64_t at = 0; status == LEAT_OK && at < count; at += TOKENS_AT_ONCE) {
        uint64_t here = count - at < TOKENS_AT_ONCE ? count - at : TOKENS_AT_ONCE;

        status = leat_dataset_read_u32(s->dataset, first + at, here, f->tokens, err);
        if (status == LEAT_OK && here % 2)
            f->tokens[here] = 0;
        for (uint64_t i = 0; status == LEAT_OK && i < here; i += 2)
            keyed_hash_add(h, f->tokens[i] | (uint64_t)f->tokens[i + 1] << 32);
        if (status == LEAT_OK)
            status = pace_step(f->pace, 0, err);
    }
    return status;
}

/* The candidate that is next, by its tokens and text. */
static enum leat_status put_candidate(struct duplicates_finder *f, const struct merge_part *part, uint64_t document,
                                      struct leat_error *err)
{
    struct keyed_hash h;
    uint64_t out[2];
    uint8_t text[16];
    enum leat_status s = leat_dataset_text_hash(part->dataset, document, text, err);

    if (s != LEAT_OK)
        return s;
    keyed_hash_begin(&h, f->key);
    keyed_hash_add(&h, bytes_load64(text));
    keyed_hash_add(&h, bytes_load64(text + 8));
    s = add_tokens(f, &h, part, document, err);
    if (s != LEAT_OK)
        return s;
    keyed_hash_end(&h, out);
    return external_sort_put(&f->by_tokens, (struct triple) { out[0], out[1], f->next.a }, err);
}

bool duplicates_wants(const struct duplicates_finder *f, uint64_t number, uint64_t documents)
{
    return f->more && f->next.a - number < documents;
}

enum leat_status duplicates_compare(struct duplicates_finder *f, const struct merge_part *part, uint64_t number,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && duplicates_wants(f, number, part->documents)) {
        s = put_candidate(f, part, part->first_document + (f->next.a - number), err);
        if (s == LEAT_OK)
            s = next_candidate(f, err);
    }
    return s;
}

enum leat_status duplicates_numbers(struct duplicates_finder *f, struct external_sort *numbers, struct leat_error *err)
{
    enum leat_status s;

    external_sort_end(&f->candidates);
    s = external_sort_turn(&f->by_tokens, err);
    return s == LEAT_OK ? put_equal(f, &f->by_tokens, numbers, false, err) : s;
}

/* ---- The whole ---- */

enum leat_status duplicates_open(struct duplicates_finder *f, const char *path, uint64_t memory, struct pace *pace,
                                 struct leat_error *err)
{
    *f = (struct duplicates_finder) { .path = path, .pace = pace, .memory = memory };
    /* of two sorts that are in use at once, the first takes three quarters */
    external_sort_begin(&f->by_text, path, memory - memory / 4);
    external_sort_begin(&f->candidates, path, memory / 4);
    external_sort_begin(&f->by_tokens, path, 0);
    random_words(f->key, 2);
    f->hashes = malloc(HASHES_AT_ONCE * sizeof *f->hashes);
    f->tokens = malloc(TOKENS_AT_ONCE * sizeof *f->tokens);
    return f->hashes && f->tokens ? LEAT_OK : status_no_memory(err, HASHES_AT_ONCE * sizeof *f->hashes);
}

void duplicates_close(struct duplicates_finder *f)
{
    external_sort_end(&f->by_text);
    external_sort_end(&f->candidates);
    external_sort_end(&f->by_tokens);
    free(f->hashes);
    free(f->tokens);
}

static enum leat_status find(struct duplicates_finder *f, const struct merge_parts *parts,
                             struct external_sort *numbers, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t number = 0;

    for (size_t i = 0; s == LEAT_OK && i < parts->count; number += parts->items[i++].documents)
        s = duplicates_put_part(f, &parts->items[i], number, err);
    if (s == LEAT_OK)
        s = duplicates_turn(f, err);
    number = 0;
    for (size_t i = 0; s == LEAT_OK && i < parts->count; number += parts->items[i++].documents)
        s = duplicates_compare(f, &parts->items[i], number, err);
    return s == LEAT_OK ? duplicates_numbers(f, numbers, err) : s;
}

static enum leat_status next_number(struct duplicates *d, struct leat_error *err)
{
    return external_sort_next(&d->numbers, &d->next, &d->more, err);
}

enum leat_status duplicates_find(struct duplicates *d, const struct merge_parts *parts, const char *path,
                                 uint64_t memory_bytes, struct pace *pace, struct leat_error *err)
{
    struct duplicates_finder f;
    enum leat_status s;

    *d = (struct duplicates) { .more = false };
    /* the smaller share is for what is kept while documents are copied */
    external_sort_begin(&d->numbers, path, memory_bytes / 4);
    s = duplicates_open(&f, path, memory_bytes, pace, err);
    if (s == LEAT_OK)
        s = find(&f, parts, &d->numbers, err);
    duplicates_close(&f);
    return s == LEAT_OK ? next_number(d, err) : s;
}

/* The numbers in the slice of a file. */
static enum leat_status load_file(struct duplicates *d, const char *file, uint64_t slices, uint64_t slice,
                                  uint64_t documents, struct leat_error *err)
{
    struct slice_reader r;
    struct triple t;
    bool more = true;
    enum leat_status s = slice_open(&r, file, slices, slice, DUPLICATES_WORDS, err);

    while (s == LEAT_OK) {
        s = slice_next(&r, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        s = t.a < documents ? external_sort_put(&d->numbers, t, err)
                            : status_set(err, LEAT_E_MISMATCH, "%s is not of this run", file);
    }
    slice_close(&r);
    return s;
}

enum leat_status duplicates_load(struct duplicates *d, const char *const *files, uint64_t count, uint64_t slice,
                                 uint64_t documents, const char *path, uint64_t memory_bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *d = (struct duplicates) { .more = false };
    external_sort_begin(&d->numbers, path, memory_bytes / 4);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = load_file(d, files[i], count, slice, documents, err);
    if (s == LEAT_OK)
        s = external_sort_turn(&d->numbers, err);
    return s == LEAT_OK ? next_number(d, err) : s;
}

enum leat_status duplicates_has(struct duplicates *d, uint64_t number, bool *has, struct leat_error *err)
{
    *has = d->more && d->next.a == number;
    return *has ? next_number(d, err) : LEAT_OK;
}

void duplicates_end(struct duplicates *d)
{
    external_sort_end(&d->numbers);
}
