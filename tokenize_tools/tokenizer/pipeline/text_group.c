/* text_group.c: copies texts, cuts them, and lets the model encode them at once. */
#include "text_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Room for texts with the byte after each: for a group that is not full, and the longest text. */
#define TEXT_ROOM (TEXT_GROUP_BYTES + TEXT_GROUP_MAX + 1)

/* Bytes that a model may read after the last text. */
#define READ_ON ((size_t)256)

/* Returns true if a normalizer has a regular expression, which may take long, and be stopped. */
static bool has_expression(const struct tokenizer_spec *spec)
{
    for (uint32_t i = 0; i < spec->normalizer_count; i++)
        if (spec->normalizers[i].kind == SPEC_NORM_REPLACE && spec->normalizers[i].pattern.regex)
            return true;
    return false;
}

enum leat_status text_group_make(struct text_group *g, const struct pipeline *p, struct leat_error *err)
{
    size_t size = TEXT_ROOM * sizeof *g->ends + TEXT_ROOM + READ_ON;

    *g = (struct text_group) { .model = p->model };
    if (p->sentencepiece || p->prefix != SPACED_NOT || has_expression(p->spec) || !model_takes_texts(p->model) ||
        !pretokenizer_only_scans(p->pretokenizer))
        return LEAT_OK;
    g->pretokenizer = p->pretokenizer;
    g->ends = calloc(1, size);
    if (!g->ends)
        return status_no_memory(err, size);
    g->text = (uint8_t *)(g->ends + TEXT_ROOM);
    return LEAT_OK;
}

void text_group_free(struct text_group *g)
{
    free(g->ends);
    id_list_free(&g->ids);
    id_list_free(&g->counts);
}

void text_group_add(struct text_group *g, const uint8_t *text, size_t bytes)
{
    uint8_t *copy = g->text + g->bytes;

    if (bytes > 0)
        memcpy(copy, text, bytes);
    g->count += pretokenizer_scan(g->pretokenizer, copy, bytes, (uint32_t)g->bytes, g->ends + g->count);
    g->bytes += bytes;
    g->text[g->bytes++] = '\n'; /* a token of every such vocabulary, so it is looked up, and is no new word */
    g->ends[g->count++] = (uint32_t)g->bytes | MODEL_FIXED;
}

enum leat_status text_group_encode(struct text_group *g, void *model_scratch, struct leat_error *err)
{
    const struct model_pretokens all = { g->text, g->bytes + READ_ON, 0, g->ends, g->count };

    g->ids.count = g->counts.count = 0;
    return g->model->kind->encode_texts(g->model, model_scratch, &all, &g->counts, &g->ids, err);
}
