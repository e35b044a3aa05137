/* duplicates.c: see duplicates.h. */
#include "duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"

#define HASHES_AT_ONCE TINY_OR((uint64_t)3, (uint64_t)16384)

struct finder {
    struct external_sort hashes;
    struct pace *pace;
    uint8_t (*block)[16];
};

/* All hashes of a source; its first document is number `number`. */
static enum leat_status put_source(struct finder *f, const struct source *s, uint64_t number, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (uint64_t at = 0; status == LEAT_OK && at < s->documents; at += HASHES_AT_ONCE) {
        uint64_t here = s->documents - at < HASHES_AT_ONCE ? s->documents - at : HASHES_AT_ONCE;

        status = leat_dataset_text_hashes(s->dataset, s->first_document + at, here, f->block, err);
        for (uint64_t i = 0; status == LEAT_OK && i < here; i++) {
            struct triple t = { bytes_load64(f->block[i] + 8), bytes_load64(f->block[i]), number + at + i };

            if (t.a || t.b) /* all zero: unknown, and equal to none */
                status = external_sort_put(&f->hashes, t, err);
        }
        if (status == LEAT_OK)
            status = pace_call(f->pace, err);
    }
    return status;
}

/* In the order of the hashes, then of the numbers: of equal ones, all but the first. */
static enum leat_status drop_equal(struct finder *f, struct external_sort *numbers, struct leat_error *err)
{
    struct triple t, kept = { 0, 0, 0 };
    enum leat_status s = LEAT_OK;
    bool more = true;

    while (s == LEAT_OK) {
        s = external_sort_next(&f->hashes, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        if (t.a == kept.a && t.b == kept.b)
            s = external_sort_put(numbers, (struct triple) { t.c, 0, 0 }, err);
        else
            kept = t;
        if (s == LEAT_OK)
            s = pace_step(f->pace, 0, err);
    }
    return s;
}

enum leat_status duplicates_find(struct duplicates *d, const struct sources *sources, const char *path,
                                 uint64_t memory_bytes, struct pace *pace, struct leat_error *err)
{
    struct finder f = { .pace = pace };
    enum leat_status s = LEAT_OK;
    uint64_t number = 0;

    *d = (struct duplicates) { .more = false };
    /* what is kept while documents are copied is the smaller share */
    external_sort_begin(&d->numbers, path, memory_bytes / 4);
    external_sort_begin(&f.hashes, path, memory_bytes - memory_bytes / 4);
    f.block = malloc(HASHES_AT_ONCE * sizeof *f.block);
    if (!f.block)
        s = status_no_memory(err, HASHES_AT_ONCE * sizeof *f.block);
    for (size_t i = 0; s == LEAT_OK && i < sources->count; i++) {
        s = put_source(&f, &sources->items[i], number, err);
        number += sources->items[i].documents;
    }
    if (s == LEAT_OK)
        s = external_sort_turn(&f.hashes, err);
    if (s == LEAT_OK)
        s = drop_equal(&f, &d->numbers, err);
    external_sort_end(&f.hashes);
    free(f.block);
    if (s == LEAT_OK)
        s = external_sort_turn(&d->numbers, err);
    if (s == LEAT_OK)
        s = external_sort_next(&d->numbers, &d->next, &d->more, err);
    return s;
}

enum leat_status duplicates_has(struct duplicates *d, uint64_t number, bool *has, struct leat_error *err)
{
    *has = d->more && d->next.a == number;
    return *has ? external_sort_next(&d->numbers, &d->next, &d->more, err) : LEAT_OK;
}

void duplicates_end(struct duplicates *d)
{
    external_sort_end(&d->numbers);
}
