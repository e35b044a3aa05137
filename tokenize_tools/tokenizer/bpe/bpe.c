/*
 * bpe.c: see bpe.h; bpe_internal.h says what the other files have.
 *
 * bpe_encode() encodes a pretoken. If the model has safe cuts, a pretoken that is a token is taken whole, and any other
 * is cut (bpe_cuts.c). Each part, or the pretoken itself, then goes through bpe_encode_cached(): the cache may know it;
 * otherwise it becomes symbols (bpe_symbols.c), which are merged (merge_table.h), and the result is kept in the cache.
 * Batches of pretokens take a faster way (bpe_pretokens.c), which comes here for what it does not know. A thread's
 * scratch is made here, too.
 */
#include "bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "bpe_internal.h"
#include "merge_blocks.h"

/* ---- A thread's memory ---- */

#define MANY_SYMBOLS ((size_t)1 << 18) /* room for more is not kept: such long pretokens are rare */

enum leat_status bpe_scratch_make(struct bpe_scratch **out, struct bound *bound, size_t cache_bytes,
                                  struct leat_error *err)
{
    /* from the system, so that memory that is never touched costs nothing; hence aligned by hand */
    void *memory = calloc(1, sizeof(struct bpe_scratch) + _Alignof(struct bpe_scratch));
    struct bpe_scratch *s = memory ? big_align(memory, _Alignof(struct bpe_scratch)) : NULL;

    *out = NULL;
    if (!s || !pretoken_cache_make(&s->cache)) {
        free(memory);
        return status_no_memory(err, sizeof *s);
    }
    s->memory = memory;
    s->bound = s->merge.bound = bound;
    s->cache_bytes = cache_bytes;
    s->kernels = pretoken_kernels();
    s->cutter = cut_kernels();
    *out = s;
    return LEAT_OK;
}

static void free_symbols(struct bpe_scratch *s)
{
    bound_give(s->bound, s->room * sizeof *s->symbols);
    free(s->symbols);
    s->symbols = NULL;
    s->room = 0;
}

void bpe_scratch_free(struct bpe_scratch *s)
{
    if (!s)
        return;
    merge_scratch_free(&s->merge);
    free_symbols(s);
    id_list_free(&s->many);
    id_list_free(&s->fixed);
    pretoken_cache_free(&s->cache);
    free(s->memory);
}

/* The old contents are lost. */
static enum leat_status reserve_symbols(struct bpe_scratch *s, size_t count, size_t pretoken_bytes,
                                        struct leat_error *err)
{
    size_t room = count < MANY_SYMBOLS ? 2 * count : count;

    if (count <= s->room)
        return LEAT_OK;
    free_symbols(s);
    if (count > SIZE_MAX / 8)
        return status_no_memory(err, count);
    if (!bound_take(s->bound, room * sizeof *s->symbols))
        return bound_refuse(s->bound, pretoken_bytes, err);
    s->symbols = malloc(room * sizeof *s->symbols);
    if (!s->symbols) {
        bound_give(s->bound, room * sizeof *s->symbols);
        return status_no_memory(err, room * sizeof *s->symbols);
    }
    s->room = room;
    return LEAT_OK;
}

/* ---- A part ---- */

enum leat_status bpe_append(const struct bpe *m, const uint32_t *symbols, size_t count, struct id_list *out,
                            struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->ids[out->count++] = m->spec->tokens[symbols[i]].id;
    return s;
}

enum leat_status bpe_merge_text(const struct bpe *m, struct bpe_scratch *s, bpe_make_symbols *make, const uint8_t *text,
                                size_t bytes, size_t *count, struct leat_error *err)
{
    enum leat_status status = make(m, s->symbols, text, bytes, count, err);
    bool done = false;

    if (status == LEAT_OK && *count >= MERGE_LONG) {
        status = merge_blocks(m->merges, &s->merge, s->symbols, count, 0, &done, err);
        if (status == LEAT_OK && !done)
            status = make(m, s->symbols, text, bytes, count, err);
    }
    return status == LEAT_OK && !done ? merge_symbols(m->merges, &s->merge, s->symbols, count, err) : status;
}

static enum leat_status encode_merges(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    size_t count;
    enum leat_status status = bpe_merge_text(m, s, bpe_symbols_of_text, text, bytes, &count, err);

    return status == LEAT_OK ? bpe_append(m, s->symbols, count, out, err) : status;
}

/* The pretoken's own token, where pretokens are taken whole; false if it has none. */
static bool encode_whole(const struct bpe *m, const uint8_t *pretoken, size_t bytes, struct id_list *out,
                         enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? bpe_find_symbol(m, pretoken, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = bpe_append(m, &symbol, 1, out, err);
    return true;
}

enum leat_status bpe_encode_merges(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err)
{
    enum leat_status status = reserve_symbols(s, bpe_symbols_max(m, bytes), bytes, err);

    if (status != LEAT_OK)
        return status;
    status =
        m->kind->scored ? bpe_scores_encode(m, s, text, bytes, out, err) : encode_merges(m, s, text, bytes, out, err);
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
    return status;
}

enum leat_status bpe_encode_whole(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && encode_whole(m, text, bytes, out, &status, err))
        return status;
    return bpe_encode_merges(m, s, text, bytes, out, err);
}

enum leat_status bpe_encode_cached(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    struct pretoken_key key;
    uint32_t ids[PRETOKEN_IDS];
    size_t count, before;

    if (bytes > PRETOKEN_MAX)
        return bpe_encode_whole(m, s, text, bytes, out, err);
    key = pretoken_key_make(text, bytes, 0);
    count = pretoken_cache_find(&s->cache, &key, ids);
    if (count > 0) {
        status = id_list_reserve(out, count, err);
        for (size_t i = 0; status == LEAT_OK && i < count; i++)
            out->ids[out->count++] = ids[i];
        return status;
    }
    before = out->count;
    status = bpe_encode_whole(m, s, text, bytes, out, err);
    if (status == LEAT_OK)
        pretoken_cache_add(&s->cache, &key, out->ids + before, out->count - before);
    return status;
}

/* ---- A pretoken ---- */

static enum leat_status encode_bytes(const struct bpe *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = id_list_reserve(out, bytes, err);

    for (size_t i = 0; status == LEAT_OK && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->bytes[text[i]]].id;
    return status;
}

enum leat_status bpe_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *pretoken, size_t bytes,
                            struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    size_t used;

    if (m->apart)
        return encode_bytes(m, pretoken, bytes, out, err);
    if (!m->cuts)
        return bpe_encode_cached(m, s, pretoken, bytes, out, err);
    if (encode_whole(m, pretoken, bytes, out, &status, err))
        return status;
    return bpe_encode_cut(m, s, pretoken, bytes, true, out, &used, err);
}

enum leat_status bpe_encode_chunk(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    *used = last ? bytes : 0;
    if (begins && last)
        return bpe_encode(m, s, text, bytes, out, err);
    if (m->apart) {
        *used = bytes;
        return encode_bytes(m, text, bytes, out, err);
    }
    /* the pretoken may yet turn out to be a token */
    if (!m->cuts || (begins && m->whole && bytes <= m->longest))
        return LEAT_OK;
    return bpe_encode_cut(m, s, text, bytes, last, out, used, err);
}
