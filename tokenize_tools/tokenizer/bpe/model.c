/*
 * model.c: see model.h; model_parts.h says what lies where. Here a piece is looked up in the cache, and merged.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "merge_blocks.h"
#include "model_parts.h"

/* ---- A thread's memory ---- */

#define MANY_SYMBOLS ((size_t)1 << 18) /* more are not kept: a piece so long is rare */

static void *align_up(void *p, size_t alignment)
{
    return (uint8_t *)p + (alignment - (uintptr_t)p % alignment) % alignment;
}

enum leat_status model_scratch_make(struct model_scratch **out, struct bound *bound, size_t cache_bytes,
                                    struct leat_error *err)
{
    /* from the system, so that what is never touched costs nothing: aligned by hand therefore */
    void *memory = calloc(1, sizeof(struct model_scratch) + _Alignof(struct model_scratch));
    struct model_scratch *s = memory ? align_up(memory, _Alignof(struct model_scratch)) : NULL;

    *out = NULL;
    if (!s || !piece_cache_make(&s->cache)) {
        free(memory);
        return status_no_memory(err, sizeof *s);
    }
    s->memory = memory;
    s->bound = s->merge.bound = bound;
    s->cache_bytes = cache_bytes;
    s->kernels = piece_kernels();
    s->cutter = cut_kernels();
    *out = s;
    return LEAT_OK;
}

static void free_symbols(struct model_scratch *s)
{
    bound_give(s->bound, s->room * sizeof *s->symbols);
    free(s->symbols);
    s->symbols = NULL;
    s->room = 0;
}

void model_scratch_free(struct model_scratch *s)
{
    if (!s)
        return;
    merge_scratch_free(&s->merge);
    free_symbols(s);
    id_list_free(&s->many);
    id_list_free(&s->fixed);
    piece_cache_free(&s->cache);
    free(s->memory);
}

/* What is there is not kept. */
static enum leat_status reserve_symbols(struct model_scratch *s, size_t count, size_t piece_bytes,
                                        struct leat_error *err)
{
    size_t room = count < MANY_SYMBOLS ? 2 * count : count;

    if (count <= s->room)
        return LEAT_OK;
    free_symbols(s);
    if (count > SIZE_MAX / 8)
        return status_no_memory(err, count);
    if (!bound_take(s->bound, room * sizeof *s->symbols))
        return bound_refuse(s->bound, piece_bytes, err);
    s->symbols = malloc(room * sizeof *s->symbols);
    if (!s->symbols) {
        bound_give(s->bound, room * sizeof *s->symbols);
        return status_no_memory(err, room * sizeof *s->symbols);
    }
    s->room = room;
    return LEAT_OK;
}

/* ---- A part ---- */

enum leat_status model_append(const struct model *m, const uint32_t *symbols, size_t count, struct id_list *out,
                              struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->ids[out->count++] = m->spec->tokens[symbols[i]].id;
    return s;
}

enum leat_status model_merge_text(const struct model *m, struct model_scratch *s, model_make_symbols *make,
                                  const uint8_t *text, size_t bytes, size_t *count, struct leat_error *err)
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

static enum leat_status encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    size_t count;
    enum leat_status status = model_merge_text(m, s, model_symbols_of_text, text, bytes, &count, err);

    return status == LEAT_OK ? model_append(m, s->symbols, count, out, err) : status;
}

/* The piece's own token, where pieces are taken whole; false if it has none. */
static bool encode_whole(const struct model *m, const uint8_t *piece, size_t bytes, struct id_list *out,
                         enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? model_find_symbol(m, piece, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = model_append(m, &symbol, 1, out, err);
    return true;
}

enum leat_status model_encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err)
{
    enum leat_status status = reserve_symbols(s, model_symbols_most(m, bytes), bytes, err);

    if (status != LEAT_OK)
        return status;
    status = m->spec->model == SPEC_SCORES ? model_scores_encode(m, s, text, bytes, out, err)
                                           : encode_merges(m, s, text, bytes, out, err);
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
    return status;
}

enum leat_status model_encode_whole(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && encode_whole(m, text, bytes, out, &status, err))
        return status;
    return model_encode_merges(m, s, text, bytes, out, err);
}

enum leat_status model_encode_cached(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    struct piece_key key;
    uint32_t ids[PIECE_IDS];
    size_t count, before;

    if (bytes > PIECE_MOST)
        return model_encode_whole(m, s, text, bytes, out, err);
    key = piece_key_make(text, bytes, 0);
    count = piece_cache_find(&s->cache, &key, ids);
    if (count > 0) {
        status = id_list_reserve(out, count, err);
        for (size_t i = 0; status == LEAT_OK && i < count; i++)
            out->ids[out->count++] = ids[i];
        return status;
    }
    before = out->count;
    status = model_encode_whole(m, s, text, bytes, out, err);
    if (status == LEAT_OK)
        piece_cache_add(&s->cache, &key, out->ids + before, out->count - before);
    return status;
}

/* ---- A piece ---- */

static enum leat_status encode_bytes(const struct model *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = id_list_reserve(out, bytes, err);

    for (size_t i = 0; status == LEAT_OK && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->bytes[text[i]]].id;
    return status;
}

enum leat_status model_encode(const struct model *m, struct model_scratch *s, const uint8_t *piece, size_t bytes,
                              struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    size_t used;

    if (m->apart)
        return encode_bytes(m, piece, bytes, out, err);
    if (!m->cuts)
        return model_encode_cached(m, s, piece, bytes, out, err);
    if (encode_whole(m, piece, bytes, out, &status, err))
        return status;
    return model_encode_cut(m, s, piece, bytes, true, out, &used, err);
}

enum leat_status model_encode_part(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                   bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    *used = last ? bytes : 0;
    if (begins && last)
        return model_encode(m, s, text, bytes, out, err);
    if (m->apart) {
        *used = bytes;
        return encode_bytes(m, text, bytes, out, err);
    }
    /* the piece may yet turn out to be a token */
    if (!m->cuts || (begins && m->whole && bytes <= m->longest))
        return LEAT_OK;
    return model_encode_cut(m, s, text, bytes, last, out, used, err);
}
