/*
 * test_made_models.c: models of random vocabularies against their definitions (spec.h), read literally: at each step
 * all pairs of neighbours are looked at. Over few characters of one to four bytes, so that tokens overlap in every way;
 * with tokens that no merge makes, several merges for a token, equal scores, parts of characters, ids with holes and
 * beyond 20 bits. Pretokens have lengths around those at which something changes. By batches, spans and parts of texts,
 * at every CPU level. test_made_models_tiny.c is the same with small caches.
 */
#include "tokenizer/bpe/bpe_internal.h"

#include "made_models.h"
#include "support/cpu_limit.h"
#include "t.h"
#include "tokenizer/valid_text.h"

#define MODELS   40
#define MAX_TEXT ((size_t)48 << 10)

/* ---- The definitions ---- */

/* What is merged: a symbol begins at each byte whose length is not 0. */
struct plainly {
    const struct made *v;
    const uint8_t *text;
    uint8_t *length;  /* of symbols; 0: none begins there */
    uint32_t *symbol; /* SPEC_NONE: a character or byte of one that is no token */
    double *rank;     /* of the pair that begins there */
};

#define NO_RANK 1e300

static size_t next_of(const struct plainly *p, size_t at)
{
    return at + p->length[at];
}

static double rank_of(const struct plainly *p, size_t at, size_t bytes, uint32_t *result)
{
    size_t next = next_of(p, at);
    const struct made *v = p->v;
    size_t both;

    if (next >= bytes)
        return NO_RANK;
    if (v->spec->model == SPEC_MERGES) {
        for (uint32_t i = 0; i < v->merges; i++)
            if (v->left[i] == p->symbol[at] && v->right[i] == p->symbol[next]) {
                *result = v->result[i];
                return i;
            }
        return NO_RANK;
    }
    both = next + p->length[next] - at;
    *result = both <= LONGEST ? find(v, p->text + at, both) : SPEC_NONE;
    if (*result == SPEC_NONE)
        return NO_RANK;
    return v->spec->model == SPEC_SCORES ? -(double)v->score[*result] : *result;
}

static void begin_plainly(struct plainly *p, size_t bytes)
{
    const struct made *v = p->v;
    size_t length;

    for (size_t at = 0; at < bytes; at += length) {
        length = v->spec->byte_level ? 1 : char_cuts_length(p->text[at]);
        p->length[at] = (uint8_t)length;
        p->symbol[at] = find(v, p->text + at, length);
        if (p->symbol[at] == SPEC_NONE && v->spec->model == SPEC_MERGES)
            for (size_t i = 0; i < length; i++) {
                p->length[at + i] = 1;
                p->symbol[at + i] = p->text[at + i];
            }
    }
}

static void append(struct id_list *out, const struct made *v, uint32_t token)
{
    T_OK(id_list_append(out, v->spec->tokens[token].id, &t_err));
}

static void encode_plainly(const struct made *v, const uint8_t *text, size_t bytes, struct id_list *out)
{
    struct plainly p = { v, text, malloc(bytes), malloc(4 * bytes), malloc(8 * bytes) };
    uint32_t whole = bytes <= LONGEST ? find(v, text, bytes) : SPEC_NONE, result = 0;
    bool takes_whole = v->spec->model == SPEC_RANKS || v->spec->ignore_merges;

    begin_plainly(&p, bytes);
    for (size_t at = 0; at < bytes; at = next_of(&p, at))
        p.rank[at] = rank_of(&p, at, bytes, &result);
    for (;;) {
        size_t best = bytes, before = bytes, before_best = bytes;

        for (size_t at = 0; at < bytes; before = at, at = next_of(&p, at))
            if (p.rank[at] < (best < bytes ? p.rank[best] : NO_RANK)) {
                best = at;
                before_best = before;
            }
        if (best == bytes)
            break;
        rank_of(&p, best, bytes, &result);
        p.length[best] = (uint8_t)(p.length[best] + p.length[next_of(&p, best)]);
        p.symbol[best] = result;
        p.rank[best] = rank_of(&p, best, bytes, &result);
        if (before_best < bytes)
            p.rank[before_best] = rank_of(&p, before_best, bytes, &result);
    }
    if (takes_whole && whole != SPEC_NONE)
        append(out, v, whole);
    else
        for (size_t at = 0; at < bytes; at = next_of(&p, at))
            for (size_t i = 0; i < (p.symbol[at] == SPEC_NONE ? p.length[at] : 1u); i++)
                append(out, v, p.symbol[at] == SPEC_NONE ? v->first - 256 + text[at + i] : p.symbol[at]);
    free(p.length);
    free(p.symbol);
    free(p.rank);
}

/* ---- Texts ---- */

/* Valid UTF-8 of letters and tokens, in memory that ends with it. */
static uint8_t *make_text(const struct made *v, size_t max, size_t *bytes)
{
    struct buffer some = { 0 };
    bool plain = below(4) == 0;

    while (some.size < max) {
        uint32_t token = v->first + (uint32_t)below(v->count - v->first);
        uint8_t letters[LONGEST];

        if (plain && below(50))
            T_OK(buffer_append(&some, &"ab c"[below(4)], 1, &t_err));
        else if (below(3))
            T_OK(buffer_append(&some, letters, some_letters(v, letters, LONGEST), &t_err));
        else if (v->length[token] > 1)
            T_OK(buffer_append(&some, v->text[token], v->length[token], &t_err));
    }
    return valid_text(&some, bytes);
}

/* Where pretokens end; most of them short, some as long as what is kept, merged at a time, or put into a batch. */
static size_t make_pretokens(const uint8_t *text, size_t bytes, uint32_t *ends)
{
    static const size_t borders[] = { 1, 7, 8, 9, 15, 16, 24, 30, 31, 32, 48, 62, 63, 64, 128, 16384 };
    size_t count = 0, at = 0;

    while (at < bytes) {
        size_t border = borders[below(below(300) ? 15 : 16)];

        at += below(3) ? 1 + below(12) : border + below(3);
        at = at < bytes ? at : bytes;
        while (at < bytes && (text[at] & 0xc0) == 0x80)
            at++;
        ends[count++] = (uint32_t)at;
    }
    return count;
}

/* ---- Ways ---- */

static void expect(const char *way, const struct made *v, const struct bpe_scratch *s, const struct id_list *got,
                   const struct id_list *want)
{
    size_t at = 0;

    while (at < got->count && at < want->count && got->ids[at] == want->ids[at])
        at++;
    if (at < got->count || at < want->count)
        T_FAIL("model %d of %u tokens, %s, %s: of %zu ids number %zu is not as it should be", (int)v->spec->model,
               v->count, s->kernels->name, way, want->count, at);
}

static void by_pretokens(const struct made *v, const struct bpe *m, struct bpe_scratch *s, const uint8_t *text,
                         size_t bytes, const uint32_t *ends, size_t count, const struct id_list *want)
{
    struct id_list out = { 0 };

    for (size_t at = 0, run; at < count; at += run) {
        struct model_pretokens p = { text, bytes, at > 0 ? ends[at - 1] : 0, ends + at, 0 };

        run = 1 + below(below(4) ? 9000 : 40);
        p.count = run = run < count - at ? run : count - at;
        T_OK(bpe_encode_pretokens(&m->model, s, &p, &out, &t_err));
    }
    expect("pretokens", v, s, &out, want);
    id_list_free(&out);
}

/* The pretokens as spans, some of them tokens already. */
static void by_spans(const struct made *v, const struct bpe *m, struct bpe_scratch *s, const uint8_t *text,
                     size_t bytes, const uint32_t *ends, size_t count)
{
    struct id_list out = { 0 }, want = { 0 };
    struct model_span *spans = malloc(count * sizeof *spans);
    const struct model_spans all = { text, bytes, spans, count };
    size_t often = 1 + below(10);

    for (size_t i = 0; i < count; i++) {
        bool known = below(often) == 0;

        spans[i] = (struct model_span) { ends[i], known ? (uint32_t)below(1u << 21) : MODEL_PRETOKEN };
        if (known)
            T_OK(id_list_append(&want, spans[i].id, &t_err));
        else
            encode_plainly(v, text + (i > 0 ? ends[i - 1] : 0), ends[i] - (i > 0 ? ends[i - 1] : 0), &want);
    }
    T_OK(bpe_encode_spans(&m->model, s, &all, &out, &t_err));
    expect("spans", v, s, &out, &want);
    id_list_free(&out);
    id_list_free(&want);
    free(spans);
}

/* As one pretoken, that comes in parts. */
static void by_parts(const struct made *v, const struct bpe *m, struct bpe_scratch *s, const uint8_t *text,
                     size_t bytes, const struct id_list *want)
{
    struct id_list out = { 0 };
    size_t begin = 0, end = 0, used;

    do {
        struct model_chunk chunk;

        end += below(3) ? 1 + below(40) : 1 + below(3000);
        end = end < bytes ? end : bytes;
        while (end < bytes && (text[end] & 0xc0) == 0x80)
            end++;
        chunk = (struct model_chunk) { text + begin, end - begin, begin == 0, end == bytes };
        T_OK(bpe_encode_chunk(&m->model, s, &chunk, &out, &used, &t_err));
        begin += used;
    } while (end < bytes);
    expect("parts", v, s, &out, want);
    id_list_free(&out);
}

static void check_level(const struct made *v, const struct bpe *m, const uint8_t *text, size_t bytes,
                        const uint32_t *ends, size_t count, const struct id_list *want, const struct id_list *whole,
                        size_t whole_bytes)
{
    void *s;

    T_OK(bpe_scratch_make(&s, NULL, below(2) ? (size_t)64 << 20 : 0, &t_err));
    for (unsigned times = 0; times < 2; times++) {
        by_pretokens(v, m, s, text, bytes, ends, count, want);
        by_parts(v, m, s, text, whole_bytes, whole);
        if (bpe_takes_spans(&m->model))
            by_spans(v, m, s, text, bytes, ends, count);
    }
    bpe_scratch_free(s);
}

static void check_model(enum spec_model kind, bool byte_level)
{
    static const enum cpu_level levels[] = { CPU_PLAIN, CPU_AVX2, CPU_AVX512, CPU_AVX512_VBMI };
    static uint32_t ends[4 * MAX_TEXT];
    static struct made v;
    struct id_list want = { 0 }, whole = { 0 };
    struct model *model;
    uint8_t *text;
    size_t bytes, count, whole_bytes;

    make_vocabulary(&v, kind, byte_level);
    T_OK(bpe_make(&model, v.spec, &t_err));
    text = make_text(&v, 200 + below(below(8) ? 6000 : MAX_TEXT), &bytes);
    count = make_pretokens(text, bytes, ends);
    for (size_t i = 0; i < count; i++)
        encode_plainly(&v, text + (i > 0 ? ends[i - 1] : 0), ends[i] - (i > 0 ? ends[i - 1] : 0), &want);
    whole_bytes = ends[below(count < 60 ? count : 60)];
    encode_plainly(&v, text, whole_bytes, &whole);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        cpu_limit(levels[i]);
        check_level(&v, bpe_of(model), text, bytes, ends, count, &want, &whole, whole_bytes);
    }
    cpu_limit(CPU_AVX512_VBMI);
    id_list_free(&want);
    id_list_free(&whole);
    bpe_free(model);
    spec_free(v.spec);
    free(text);
}

int main(void)
{
    state = t_seed();
    for (int i = 0; i < MODELS && t_failures < 10; i++) {
        check_model(SPEC_RANKS, true);
        check_model(SPEC_MERGES, true);
        check_model(SPEC_MERGES, false);
        check_model(SPEC_SCORES, false);
        check_model(SPEC_SCORES, false);
    }
    return t_end();
}
