/*
 * duplicates.c: finds candidates, and compares their tokens.
 *
 * Different texts with one XXH3-128 can be made on purpose, so an equal hash alone is no reason to drop a document.
 * Documents whose hash occurs several times are candidates. Their tokens are read, in the order of the files, and
 * hashed with a key that is new in each run: documents are duplicates if these hashes are equal too. Only with
 * probability 2^-128 does the result depend on the key.
 */
#include "duplicates.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/random_words.h"
#include "base/status.h"
#include "base/tiny.h"
#include "sorting/keyed_hash.h"

#define HASHES_AT_ONCE TINY_OR((uint64_t)3, (uint64_t)16384)
#define TOKENS_AT_ONCE TINY_OR((uint64_t)4, (uint64_t)16384) /* an even number */
#define GROUP_SIZE     TINY_OR(3u, 128u)
#define GROUPS         8u

struct candidates;

struct finder {
    const char *path;
    uint64_t memory;
    struct helpers *helpers;
    struct pace *pace;
    uint64_t mean; /* mean size of a document's tokens, which each candidate adds to the progress */
    uint64_t key[2];
    uint8_t (*hashes)[16];
    struct candidates *groups; /* GROUPS groups, used in turn */
    unsigned next_group;
    struct external_sort by_text, candidates, by_tokens;
    struct triple next; /* the next candidate */
    bool more;          /* false if there is no next candidate */
};

/* ---- Candidates ---- */

/* Adds the hashes of a part's documents to the sort. The part's first document has the number `number`. */
static enum leat_status put_part(struct finder *f, const struct merge_part *s, uint64_t number, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (uint64_t at = 0; status == LEAT_OK && at < s->documents; at += HASHES_AT_ONCE) {
        uint64_t here = s->documents - at < HASHES_AT_ONCE ? s->documents - at : HASHES_AT_ONCE;

        status = leat_dataset_text_hashes(s->dataset, s->first_document + at, here, f->hashes, err);
        for (uint64_t i = 0; status == LEAT_OK && i < here; i++) {
            struct triple t = { bytes_load64(f->hashes[i] + 8), bytes_load64(f->hashes[i]), number + at + i };

            if (t.a || t.b) /* a hash of zeros means "unknown", and equals no other hash */
                status = external_sort_put(&f->by_text, t, err);
        }
        if (status == LEAT_OK)
            status = pace_call(f->pace, err);
    }
    return status;
}

static enum leat_status next_candidate(struct finder *f, struct leat_error *err)
{
    return external_sort_next(&f->candidates, &f->next, &f->more, err);
}

/* Goes through triples, which are sorted by (a, b), then by number. Puts the numbers of those with equal (a, b) into
 * `numbers`; leaves out the first of each group unless `first`. */
static enum leat_status put_equal(struct finder *f, struct external_sort *sorted, struct external_sort *numbers,
                                  bool first, struct leat_error *err)
{
    struct triple t, before = { 0, 0, 0 };
    enum leat_status s = LEAT_OK;
    bool more = true, put = true; /* `put` is true if the previous triple has been put, or is not wanted */

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

static enum leat_status sort_candidates(struct finder *f, struct leat_error *err)
{
    enum leat_status s = external_sort_turn(&f->by_text, err);

    if (s == LEAT_OK)
        s = put_equal(f, &f->by_text, &f->candidates, true, err);
    external_sort_end(&f->by_text);
    external_sort_begin(&f->by_tokens, f->path, f->memory - f->memory / 4);
    return s == LEAT_OK ? next_candidate(f, err) : s;
}

/* ---- Tokens of candidates ---- */

/* Candidates of one part, for a helper. */
struct candidates {
    struct job job;
    const struct finder *finder;
    const struct merge_part *part;
    uint64_t number; /* number of the part's first document */
    unsigned count;
    uint64_t numbers[GROUP_SIZE];
    struct triple found[GROUP_SIZE]; /* hashes of the text and the tokens, and the numbers */
    uint32_t *tokens;
    enum leat_status status;
    struct leat_error error;
};

static enum leat_status add_tokens(struct candidates *g, struct keyed_hash *h, uint64_t document,
                                   struct leat_error *err)
{
    const struct merge_part *s = g->part;
    uint64_t first, count;
    enum leat_status status = leat_dataset_document(s->dataset, document, &first, &count, err);

    if (status != LEAT_OK)
        return status;
    if (count > 0)
        status = merge_part_check(s, first, count, err);
    keyed_hash_add(h, count);
    for (uint64_t at = 0; status == LEAT_OK && at < count; at += TOKENS_AT_ONCE) {
        uint64_t here = count - at < TOKENS_AT_ONCE ? count - at : TOKENS_AT_ONCE;

        status = leat_dataset_read_u32(s->dataset, first + at, here, g->tokens, err);
        if (status == LEAT_OK && here % 2)
            g->tokens[here] = 0;
        for (uint64_t i = 0; status == LEAT_OK && i < here; i += 2)
            keyed_hash_add(h, g->tokens[i] | (uint64_t)g->tokens[i + 1] << 32);
    }
    return status;
}

/* Hashes the text hash and the tokens of a candidate. */
static enum leat_status hash_candidate(struct candidates *g, unsigned i, struct leat_error *err)
{
    uint64_t document = g->part->first_document + (g->numbers[i] - g->number), out[2];
    struct keyed_hash h;
    uint8_t text[16];
    enum leat_status s = leat_dataset_text_hashes(g->part->dataset, document, 1, &text, err);

    if (s != LEAT_OK)
        return s;
    keyed_hash_begin(&h, g->finder->key);
    keyed_hash_add(&h, bytes_load64(text));
    keyed_hash_add(&h, bytes_load64(text + 8));
    s = add_tokens(g, &h, document, err);
    if (s != LEAT_OK)
        return s;
    keyed_hash_end(&h, out);
    g->found[i] = (struct triple) { out[0], out[1], g->numbers[i] };
    return LEAT_OK;
}

static void hash_group(struct job *j)
{
    struct candidates *g = (void *)((char *)j - offsetof(struct candidates, job));

    g->status = LEAT_OK;
    for (unsigned i = 0; g->status == LEAT_OK && i < g->count; i++)
        g->status = hash_candidate(g, i, &g->error);
}

/* Takes the hashes of a group, and empties it. */
static enum leat_status take_group(struct finder *f, struct candidates *g, struct leat_error *err)
{
    enum leat_status s;

    helpers_wait(f->helpers, &g->job);
    s = g->status;
    if (s != LEAT_OK && err)
        *err = g->error;
    for (unsigned i = 0; s == LEAT_OK && i < g->count; i++)
        s = external_sort_put(&f->by_tokens, g->found[i], err);
    f->pace->bytes += g->count * f->mean;
    g->count = 0;
    return s;
}

static bool has_candidate(const struct finder *f, uint64_t number, uint64_t documents)
{
    return f->more && f->next.a - number < documents;
}

/* Fills a group with the part's next candidates. */
static enum leat_status fill_group(struct finder *f, struct candidates *g, const struct merge_part *part,
                                   uint64_t number, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *g = (struct candidates) {
        .job = { .run = hash_group }, .finder = f, .part = part, .number = number, .tokens = g->tokens
    };
    while (s == LEAT_OK && g->count < GROUP_SIZE && has_candidate(f, number, part->documents)) {
        g->numbers[g->count++] = f->next.a;
        s = next_candidate(f, err);
    }
    return s;
}

/* Hashes the candidates of a part. Parts come in their order. */
static enum leat_status hash_part(struct finder *f, const struct merge_part *part, uint64_t number,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && has_candidate(f, number, part->documents)) {
        struct candidates *g = &f->groups[f->next_group++ % GROUPS];

        s = take_group(f, g, err);
        if (s == LEAT_OK)
            s = fill_group(f, g, part, number, err);
        if (s == LEAT_OK)
            helpers_give(f->helpers, &g->job);
        if (s == LEAT_OK)
            s = pace_call(f->pace, err);
    }
    for (unsigned i = 0; s == LEAT_OK && i < GROUPS; i++)
        s = take_group(f, &f->groups[f->next_group++ % GROUPS], err);
    for (unsigned i = 0; s != LEAT_OK && i < GROUPS; i++)
        helpers_drop(f->helpers, &f->groups[i].job); /* helpers may still read the part */
    return s;
}

/* ---- The whole ---- */

/* Makes a finder. close_finder() must follow, on failure too. */
static enum leat_status open_finder(struct finder *f, const char *path, uint64_t memory, struct helpers *helpers,
                                    struct pace *pace, struct leat_error *err)
{
    *f = (struct finder) { .path = path, .helpers = helpers, .pace = pace, .memory = memory };
    /* two sorts are in use at once; the first one takes three quarters of the memory */
    external_sort_begin(&f->by_text, path, memory - memory / 4);
    external_sort_begin(&f->candidates, path, memory / 4);
    external_sort_begin(&f->by_tokens, path, 0);
    random_words(f->key, 2);
    f->hashes = malloc(HASHES_AT_ONCE * sizeof *f->hashes);
    f->groups = calloc(GROUPS, sizeof *f->groups);
    for (unsigned i = 0; f->groups && i < GROUPS; i++)
        if (!(f->groups[i].tokens = malloc(TOKENS_AT_ONCE * sizeof *f->groups[i].tokens)))
            return status_no_memory(err, TOKENS_AT_ONCE * sizeof *f->groups[i].tokens);
    return f->hashes && f->groups ? LEAT_OK : status_no_memory(err, HASHES_AT_ONCE * sizeof *f->hashes);
}

static void close_finder(struct finder *f)
{
    external_sort_end(&f->by_text);
    external_sort_end(&f->candidates);
    external_sort_end(&f->by_tokens);
    for (unsigned i = 0; f->groups && i < GROUPS; i++) {
        helpers_drop(f->helpers, &f->groups[i].job);
        free(f->groups[i].tokens);
    }
    free(f->groups);
    free(f->hashes);
}

static enum leat_status find_duplicates(struct finder *f, const struct merge_parts *parts,
                                        struct external_sort *numbers, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t number = 0;

    for (size_t i = 0; s == LEAT_OK && i < parts->count; number += parts->items[i++].documents)
        s = put_part(f, &parts->items[i], number, err);
    if (s == LEAT_OK)
        s = sort_candidates(f, err);
    f->mean = parts->documents > 0 ? parts->token_bytes / parts->documents : 0;
    f->pace->total += f->candidates.total * f->mean;
    number = 0;
    for (size_t i = 0; s == LEAT_OK && i < parts->count; number += parts->items[i++].documents)
        s = hash_part(f, &parts->items[i], number, err);
    external_sort_end(&f->candidates);
    if (s == LEAT_OK)
        s = external_sort_turn(&f->by_tokens, err);
    return s == LEAT_OK ? put_equal(f, &f->by_tokens, numbers, false, err) : s;
}

static enum leat_status next_number(struct duplicates *d, struct leat_error *err)
{
    return external_sort_next(&d->numbers, &d->next, &d->more, err);
}

enum leat_status duplicates_find(struct duplicates *d, const struct merge_parts *parts, const char *path,
                                 uint64_t memory_bytes, struct helpers *helpers, struct pace *pace,
                                 struct leat_error *err)
{
    struct finder f;
    enum leat_status s;

    *d = (struct duplicates) { .more = false };
    /* this is the smaller share: the sort is kept while documents are copied */
    external_sort_begin(&d->numbers, path, memory_bytes / 4);
    s = open_finder(&f, path, memory_bytes, helpers, pace, err);
    if (s == LEAT_OK)
        s = find_duplicates(&f, parts, &d->numbers, err);
    close_finder(&f);
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
