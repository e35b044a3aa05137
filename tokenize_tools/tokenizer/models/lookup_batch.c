/* lookup_batch.c: asks the cache, then the model, and keeps the results. */
#include "lookup_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"

/* Number of pieces that a shared cache begins with room for: with less, texts in many languages took a tenth longer. */
#define MANY_NEW ((size_t)1 << 20)

enum leat_status lookup_batch_make(struct lookup_batch **out, const struct bound *bound, size_t cache_bytes,
                                   struct leat_error *err)
{
    /* calloc() takes untouched memory from the system, which costs nothing; so the struct is aligned here */
    void *memory = calloc(1, sizeof(struct lookup_batch) + _Alignof(struct lookup_batch));
    struct lookup_batch *l = memory ? big_align(memory, _Alignof(struct lookup_batch)) : NULL;

    *out = NULL;
    if (!l || !word_cache_make(&l->words, bound, cache_bytes)) {
        free(memory);
        return status_no_memory(err, sizeof *l);
    }
    l->memory = memory;
    l->kernels = pretoken_kernels();
    l->cutter = class_cuts_kernels();
    *out = l;
    return LEAT_OK;
}

void lookup_batch_free(struct lookup_batch *l)
{
    if (!l)
        return;
    id_list_free(&l->many);
    word_cache_free(&l->words);
    free(l->memory);
}

void lookup_batch_note(struct lookup_batch *l, const struct model *m, size_t bytes)
{
    if (word_cache_grow(&l->words, m->words, bytes, MANY_NEW)) /* no pieces are known beforehand */
        word_store_publish(m->words);
    word_cache_take(&l->words, m->words);
}

/* Gives a piece of the batch its ids, which are the last of `many`. */
static void set_value(struct lookup_batch *l, uint32_t at, size_t begin)
{
    const uint32_t *ids = l->many.ids + begin;
    size_t count = l->many.count - begin;

    l->batch.values[at] = pretoken_value(ids, count, begin);
    if (pretoken_fits(ids, count))
        l->many.count = begin;
}

/* Looks a piece up alone; `key` is NULL if it is too long for the cache. */
static enum leat_status take_one(struct lookup_batch *l, uint32_t at, const struct pretoken_key *key,
                                 const struct lookup_way *way, struct leat_error *err)
{
    const struct pretoken_batch *b = &l->batch;
    size_t begin = l->many.count;
    bool apart = false;
    enum leat_status s = way->one(way->context, way->scratch, b->text + b->begins[at],
                                  b->begins[at + 1] - b->begins[at], &l->many, &apart, err);

    if (s != LEAT_OK)
        return s;
    if (apart)
        l->apart[at / 64] |= (uint64_t)1 << at % 64;
    else if (key)
        pretoken_cache_add(&l->words.own, key, l->many.ids + begin, l->many.count - begin);
    set_value(l, at, begin);
    return LEAT_OK;
}

/* Looks up the pieces that have been collected. */
static enum leat_status take_some(struct lookup_batch *l, const struct lookup_way *way, struct leat_error *err)
{
    unsigned count = l->new_count;
    enum leat_status s = LEAT_OK;

    l->new_count = l->new_bytes = 0;
    if (way->some)
        way->some(way->context, way->scratch, l->new_pieces, count);
    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        const struct lookup_piece *p = &l->new_pieces[i];
        size_t begin = l->many.count;

        if (!way->some || !p->known) {
            s = take_one(l, l->new_at[i], &l->new_keys[i], way, err);
            continue;
        }
        s = id_list_reserve(&l->many, p->count, err);
        if (s != LEAT_OK)
            break;
        memcpy(l->many.ids + begin, p->ids, p->count * sizeof *p->ids);
        l->many.count += p->count;
        pretoken_cache_add(&l->words.own, &l->new_keys[i], p->ids, p->count);
        set_value(l, l->new_at[i], begin);
    }
    return s;
}

/* Takes a piece that the cache did not have. By now it may be there; otherwise it is collected. */
static enum leat_status take_missed(struct lookup_batch *l, uint32_t at, const struct lookup_way *way,
                                    struct leat_error *err)
{
    struct pretoken_batch *b = &l->batch;
    const uint8_t *piece = b->text + b->begins[at];
    size_t bytes = b->begins[at + 1] - b->begins[at], begin = l->many.count;
    enum leat_status s = id_list_reserve(&l->many, PRETOKEN_IDS, err);
    struct pretoken_key *key;

    if (s == LEAT_OK && bytes <= PRETOKEN_MAX &&
        (l->new_count == LOOKUP_PIECES || l->new_bytes + bytes > LOOKUP_BYTES)) {
        s = take_some(l, way, err);
        begin = l->many.count;
        if (s == LEAT_OK)
            s = id_list_reserve(&l->many, PRETOKEN_IDS, err);
    }
    if (s != LEAT_OK)
        return s;
    if (bytes > PRETOKEN_MAX)
        return take_one(l, at, NULL, way, err);
    key = &l->new_keys[l->new_count];
    *key = pretoken_key_ahead(piece, bytes, b->parts[at]);
    l->many.count += pretoken_cache_find(&l->words.own, key, l->many.ids + begin);
    if (l->many.count > begin) {
        set_value(l, at, begin);
        return LEAT_OK;
    }
    l->new_at[l->new_count] = at;
    l->new_pieces[l->new_count].text = piece;
    l->new_pieces[l->new_count++].bytes = (unsigned)bytes;
    l->new_bytes += (unsigned)bytes;
    return LEAT_OK;
}

enum leat_status lookup_batch_find(struct lookup_batch *l, const struct lookup_way *way, struct leat_error *err)
{
    struct pretoken_batch *b = &l->batch;
    enum leat_status s;

    memset(l->apart, 0, (b->count / 64 + 1) * sizeof *l->apart);
    l->many.count = l->new_count = l->new_bytes = 0;
    s = id_list_reserve(&l->many, (size_t)b->count * PRETOKEN_IDS, err);
    if (s != LEAT_OK)
        return s;
    b->many = l->many.ids;
    b->many_count = 0;
    l->kernels->find(&l->words.own, b);
    l->many.count = b->many_count;
    for (uint32_t i = 0; s == LEAT_OK && i < b->missed_count; i++)
        s = take_missed(l, b->missed[i], way, err);
    if (s == LEAT_OK)
        s = take_some(l, way, err);
    if (s == LEAT_OK)
        s = id_list_reserve(&l->many, BATCH_OVER, err); /* the ids are read in vectors, which reach past the last id */
    b->many = l->many.ids;
    return s;
}

enum leat_status lookup_batch_write(struct lookup_batch *l, uint32_t from, uint32_t to, struct id_list *out,
                                    struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, 3 * (size_t)(to - from) + l->many.count + BATCH_OVER, err);

    if (s == LEAT_OK)
        out->count += l->kernels->write(&l->batch, from, to, out->ids + out->count);
    return s;
}

/* Encodes pretokens none of which is too long for the cache. */
static enum leat_status encode_short(struct lookup_batch *l, const struct lookup_way *way, struct pretoken_rest *r,
                                     struct id_list *out, struct leat_error *err)
{
    static const struct char_cuts none = { .pairs = NULL };
    enum leat_status s = LEAT_OK;
    struct pretoken_place place;

    while (s == LEAT_OK && r->ends < r->last) {
        pretoken_place_text(&place, &l->batch, r);
        pretoken_fill(&l->batch, l->kernels, &none, NULL, r, &place);
        s = lookup_batch_find(l, way, err);
        if (s == LEAT_OK)
            s = lookup_batch_write(l, 0, l->batch.count, out, err);
    }
    return s;
}

/* Encodes a pretoken that is too long for the cache; the store may have it. */
static enum leat_status encode_long(struct lookup_batch *l, const struct lookup_way *way, const uint8_t *text,
                                    size_t bytes, struct id_list *out, struct leat_error *err)
{
    bool stored = bytes <= WORD_BYTES && l->words.own.common, apart = false;
    struct word_key key = word_key_make(text, stored ? bytes : 0, 0);
    const struct word *w = stored ? word_store_find(l->words.own.common, &key) : NULL;
    size_t before = out->count;
    enum leat_status s =
        w ? id_list_reserve(out, w->count, err) : way->one(way->context, way->scratch, text, bytes, out, &apart, err);

    if (s == LEAT_OK && w) {
        memcpy(out->ids + before, w->data, w->count * sizeof *w->data);
        out->count += w->count;
    } else if (s == LEAT_OK && stored) {
        word_store_add(&l->words.own, &key, out->ids + before, out->count - before);
    }
    return s;
}

enum leat_status lookup_batch_encode(struct lookup_batch *l, const struct model *m, const struct lookup_way *way,
                                     const struct model_pretokens *p, struct id_list *out, struct leat_error *err)
{
    const uint32_t *ends = p->ends, *last = ends + p->count;
    uint32_t begin = p->begin;
    enum leat_status s = LEAT_OK;

    if (p->count > 0)
        lookup_batch_note(l, m, last[-1] - begin);
    while (s == LEAT_OK && ends < last) {
        struct pretoken_rest r = { .text = p->text, .bytes = p->bytes, .begin = begin, .ends = ends, .last = ends };

        for (; r.last < last && *r.last - begin <= PRETOKEN_MAX; begin = *r.last++)
            ;
        ends = r.last;
        s = encode_short(l, way, &r, out, err);
        if (s == LEAT_OK && ends < last) {
            s = encode_long(l, way, p->text + begin, *ends - begin, out, err);
            begin = *ends++;
        }
    }
    return s;
}
