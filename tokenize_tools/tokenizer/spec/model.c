/* model.c: the table of models, and the default of each function that a kind lacks. */
#include "model.h"

extern const struct model_kind model_bytes, model_ranks, model_merges, model_scores, model_unigram, model_sums,
    model_wordpiece, model_wordlevel, model_words, model_characters;

static const struct model_row rows[] = {
    { SPEC_BYTES, &model_bytes },           { SPEC_RANKS, &model_ranks },         { SPEC_MERGES, &model_merges },
    { SPEC_SCORES, &model_scores },         { SPEC_UNIGRAM, &model_unigram },     { SPEC_SUMS, &model_sums },
    { SPEC_WORDPIECE, &model_wordpiece },   { SPEC_WORDLEVEL, &model_wordlevel }, { SPEC_WORDS, &model_words },
    { SPEC_CHARACTERS, &model_characters },
};

#define ROWS (sizeof rows / sizeof rows[0])

struct model_row model_row(size_t i)
{
    return i < ROWS ? rows[i] : (struct model_row) { 0 };
}

const struct model_kind *model_kind_of(const struct tokenizer_spec *spec)
{
    size_t i = 0;

    while (i < ROWS && rows[i].number != spec->model)
        i++;
    return model_row(i).kind;
}

enum leat_status model_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    const struct model_kind *kind = model_kind_of(spec);
    enum leat_status s = kind->make(out, spec, err);

    if (s == LEAT_OK)
        (*out)->kind = kind;
    return s;
}

void model_free(struct model *m)
{
    if (m)
        m->kind->free(m);
}

enum leat_status model_scratch_make(void **out, const struct model *m, struct bound *bound, size_t cache_bytes,
                                    struct leat_error *err)
{
    *out = NULL;
    return m->kind->scratch_make ? m->kind->scratch_make(out, bound, cache_bytes, err) : LEAT_OK;
}

void model_scratch_free(const struct model *m, void *scratch)
{
    if (m->kind->scratch_free)
        m->kind->scratch_free(scratch);
}

size_t model_cache_bytes(const struct model *m, size_t max_bytes)
{
    return m->kind->cache_bytes ? m->kind->cache_bytes(max_bytes) : 0;
}

bool model_takes_spans(const struct model *m)
{
    return m->kind->takes_spans && m->kind->takes_spans(m);
}

bool model_takes_texts(const struct model *m)
{
    return m->kind->takes_texts && m->kind->takes_texts(m);
}

enum leat_status model_encode_batch(const struct model *m, void *scratch, const struct model_pretokens *p,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint32_t begin = p->begin;

    if (m->kind->encode_batch)
        return m->kind->encode_batch(m, scratch, p, out, err);
    for (size_t i = 0; s == LEAT_OK && i < p->count; begin = p->ends[i++])
        s = m->kind->encode(m, scratch, p->text + begin, p->ends[i] - begin, out, err);
    return s;
}

enum leat_status model_encode_chunk(const struct model *m, void *scratch, const struct model_chunk *c,
                                    struct id_list *out, size_t *used, struct leat_error *err)
{
    if (m->kind->encode_chunk)
        return m->kind->encode_chunk(m, scratch, c, out, used, err);
    *used = c->last ? c->bytes : 0;
    return c->last && c->bytes > 0 ? m->kind->encode(m, scratch, c->text, c->bytes, out, err) : LEAT_OK;
}
