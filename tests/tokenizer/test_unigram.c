/*
 * test_unigram.c: Unigram models of random vocabularies against the two references' rules (models/unigram.h), read
 * literally: over few characters, with equal sums, positive scores, tokens given twice, user-defined and unused, bytes
 * to fall back to, an unknown token or none. Texts are encoded whole, cut everywhere, with a cache, and in batches.
 * Also that no bound is passed, and that stretches without a cut are refused when it is small.
 */
#include <float.h>
#include <math.h>

#include "t.h"

#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

#define MAX_TOKENS 500u
#define LONGEST    18u
#define MAX_TEXT   10000u
#define LONG_TEXT  30000u

static uint64_t state;

static uint32_t below(size_t n)
{
    return (uint32_t)t_below(&state, n);
}

static const char *const letters[] = { "a", "b", "c", "\xc3\xa9", "\xe2\x96\x81", "\xe4\xb8\xad", "\xf0\x9f\x99\x82",
                                       "<" };

/* ---- Vocabularies ---- */

struct vocabulary {
    struct tokenizer_spec *spec;
    double score[MAX_TOKENS];
    uint8_t text[MAX_TOKENS * LONGEST];
    uint32_t letter_count;
};

static void add(struct vocabulary *v, const void *text, size_t bytes, uint8_t type, double score)
{
    struct tokenizer_spec *spec = v->spec;

    spec->tokens[spec->token_count] = (struct spec_token) {
        .id = spec->token_count, .offset = (uint32_t)spec->text_bytes, .length = (uint32_t)bytes, .type = type
    };
    memcpy(v->text + spec->text_bytes, text, bytes);
    spec->text_bytes += bytes;
    v->score[spec->token_count++] = score;
}

static size_t random_text(const struct vocabulary *v, uint8_t *out, unsigned count)
{
    size_t bytes = 0;

    for (; count > 0; count--) {
        const char *letter = letters[below(v->letter_count)];

        memcpy(out + bytes, letter, strlen(letter));
        bytes += strlen(letter);
    }
    return bytes;
}

static double random_score(unsigned kind, size_t bytes)
{
    double fine = -(double)below(1 << 20) / 70000;

    switch (kind) {
    case 0:
        return -(double)below(4);
    case 1:
        return (float)fine;
    case 2:
        return 25 + fine;
    case 3:
        return fine * 4000;
    case 4: /* all ways are as good but for the last bits, which floats lose, up to the limit of sums */
        return -25 * (double)bytes - (double)below(8) / 512;
    case 5: /* two unknown characters are better than the token that they are together */
        return 100 + fine;
    default:
        return fine;
    }
}

static void add_bytes(struct vocabulary *v, unsigned every)
{
    v->spec->byte_fallback = true;
    for (unsigned b = 0; b < 256; b++)
        if (every == 1 || b % every) {
            add(v, t_text("<0x%02X>", b), 6, v->spec->reference == SPEC_SENTENCEPIECE ? SPEC_BYTE : SPEC_NORMAL, -20);
        }
}

/* `few`: so few tokens that texts fall into pieces. */
static void make_vocabulary(struct vocabulary *v, bool few, bool narrow)
{
    static struct spec_unigram data;
    struct tokenizer_spec *spec = spec_new();
    unsigned kind = few && below(2) ? 4 : below(7), count = 1 + below(few ? 20 : 60), longest = 1 + below(4);
    uint8_t text[LONGEST];

    T_CHECK(spec != NULL);
    memset(v, 0, sizeof *v);
    v->spec = spec;
    v->letter_count = 2 + below(sizeof letters / sizeof letters[0] - 1);
    spec->model = narrow ? SPEC_SUMS : SPEC_UNIGRAM;
    spec->reference = narrow ? SPEC_SENTENCEPIECE : SPEC_TOKENIZERS;
    spec->tokens = calloc(MAX_TOKENS, sizeof *spec->tokens);
    add(v, "<unk>", 5, narrow ? SPEC_UNKNOWN : SPEC_NORMAL, kind == 5 ? 100 : 0);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes = random_text(v, text, 1 + below(longest));
        unsigned type = narrow ? below(12) : 0;
        bool twice = false;

        for (uint32_t k = 0; narrow && k < spec->token_count; k++)
            twice =
                twice || (spec->tokens[k].length == bytes && !memcmp(v->text + spec->tokens[k].offset, text, bytes));
        if (!twice)
            add(v, text, bytes,
                type == 1   ? SPEC_USER_DEFINED
                : type == 2 ? SPEC_UNUSED
                            : SPEC_NORMAL,
                random_score(kind, bytes));
    }
    if (narrow ? below(3) == 0 : below(2))
        add_bytes(v, narrow || below(2) ? 1 : 5);
    spec->unknown = narrow || below(8) ? 0 : SPEC_NONE;
    if (!narrow && below(8) == 0)
        spec->unknown = below(spec->token_count);
    spec->text = malloc(spec->text_bytes);
    spec->scores = narrow ? calloc(spec->token_count, sizeof *spec->scores) : NULL;
    T_CHECK(spec->text && spec->tokens && (!narrow || spec->scores));
    memcpy((void *)(uintptr_t)spec->text, v->text, spec->text_bytes);
    for (uint32_t i = 0; narrow && i < spec->token_count; i++)
        v->score[i] = spec->scores[i] = (float)v->score[i];
    data.scores = v->score;
    spec->model_data = &data;
}

/* ---- The rules ---- */

struct way {
    double sum;
    uint32_t token, start;
    bool reached;
};

static bool counts(const struct vocabulary *v, uint32_t i, const uint8_t *text, size_t bytes)
{
    const struct spec_token *t = &v->spec->tokens[i];

    return t->length <= bytes && (t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED) &&
           memcmp(v->text + t->offset, text, t->length) == 0;
}

/* The token of exactly this text, the last of several. */
static uint32_t find(const struct vocabulary *v, const void *text, size_t bytes, bool any)
{
    for (uint32_t i = v->spec->token_count; i-- > 0;)
        if (v->spec->tokens[i].length == bytes &&
            (any ? memcmp(v->text + v->spec->tokens[i].offset, text, bytes) == 0 : counts(v, i, text, bytes)))
            return i;
    return SPEC_NONE;
}

static double score_of(const struct vocabulary *v, uint32_t i)
{
    return v->spec->tokens[i].type == SPEC_USER_DEFINED ? (float)(0.1 * (v->spec->tokens[i].length - 1.0))
                                                        : v->score[i];
}

static double unknown_score(const struct vocabulary *v, bool narrow)
{
    double lowest = narrow ? (double)FLT_MAX : (double)INFINITY;

    for (uint32_t i = 0; i < v->spec->token_count; i++)
        if (v->spec->tokens[i].type == SPEC_NORMAL && v->score[i] < lowest)
            lowest = v->score[i];
    return narrow ? (double)((float)lowest - 10.0f) : lowest - 10;
}

static bool better(struct way *w, double sum, uint32_t token, size_t start, bool narrow)
{
    if (narrow)
        sum = (float)sum;
    if (w->reached && !(sum > w->sum))
        return false;
    *w = (struct way) { sum, token, (uint32_t)start, true };
    return true;
}

static void stay_near_0(struct way *ways, size_t at, size_t bytes)
{
    double offset = ways[at].sum;

    for (size_t i = at; (offset < -100000 || offset > 100000) && i <= bytes; i++)
        if (i == at || ways[i].reached)
            ways[i].sum = (float)(ways[i].sum - offset);
}

/* false: an error. */
static bool find_ways(const struct vocabulary *v, const uint8_t *text, size_t bytes, struct way *ways, bool narrow)
{
    double unknown = unknown_score(v, narrow);
    size_t length;

    memset(ways, 0, (bytes + 1) * sizeof *ways);
    for (size_t at = 0; at < bytes; at += length) {
        bool single = false;

        unicode_decode(text + at, &length);
        if (narrow)
            stay_near_0(ways, at, bytes);
        for (size_t size = 1; size <= bytes - at && size <= LONGEST; size++) {
            uint32_t i = find(v, text + at, size, false);

            if (i != SPEC_NONE) {
                better(&ways[at + size], ways[at].sum + score_of(v, i), i, at, narrow);
                single = single || size == length;
            }
        }
        if (!single && better(&ways[at + length], ways[at].sum + unknown, SPEC_NONE, at, narrow) &&
            v->spec->unknown == SPEC_NONE)
            return false;
    }
    return true;
}

/* What stands for a run of unknown characters. */
static size_t put_run(const struct vocabulary *v, const uint8_t *text, size_t bytes, uint32_t *out, bool narrow)
{
    uint32_t whole = narrow ? SPEC_NONE : find(v, text, bytes, false);
    bool all = v->spec->byte_fallback;

    *out = whole != SPEC_NONE ? whole : v->spec->unknown;
    for (size_t i = 0; whole == SPEC_NONE && all && i < bytes; i++) {
        all = find(v, t_text("<0x%02X>", text[i]), 6, true) != SPEC_NONE;
    }
    for (size_t i = 0; whole == SPEC_NONE && all && i < bytes; i++) {
        out[i] = find(v, t_text("<0x%02X>", text[i]), 6, true);
    }
    return whole == SPEC_NONE && all ? bytes : 1;
}

/* How many ids; SIZE_MAX: an error. */
static size_t encode_plainly(const struct vocabulary *v, const uint8_t *text, size_t bytes, uint32_t *out, bool narrow)
{
    static struct way ways[MAX_TEXT + 1];
    static uint32_t ends[MAX_TEXT + 1];
    size_t count = 0, n = 0, run = 0;

    if (!find_ways(v, text, bytes, ways, narrow))
        return SIZE_MAX;
    for (size_t at = bytes; at > 0; at = ways[at].start)
        ends[n++] = (uint32_t)at;
    while (n-- > 0) {
        const struct way *w = &ways[ends[n]];
        bool unknown = w->token == SPEC_NONE || w->token == v->spec->unknown;

        if (!unknown)
            run = (out[count++] = w->token, ends[n]);
        else if (n == 0 || (ways[ends[n - 1]].token != SPEC_NONE && ways[ends[n - 1]].token != v->spec->unknown))
            count += put_run(v, text + run, ends[n] - run, out + count, narrow);
    }
    return count;
}

/* ---- leat ---- */

/* In chunks that end at `first`, and every `step` characters from there on (0: not again). */
static enum leat_status encode_chunks(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                      size_t first, size_t step, struct id_list *out)
{
    size_t from = 0, end = first, used, length;
    enum leat_status s;
    bool begins = true;

    out->count = 0;
    for (;;) {
        bool last = end == bytes;
        const struct model_chunk chunk = { text + from, end - from, begins, last };

        s = model_encode_chunk(m, scratch, &chunk, out, &used, &t_err);
        begins = begins && used == 0;
        from += used;
        if (s != LEAT_OK || last)
            return s;
        for (size_t k = 0; end < bytes && (step == 0 || k < step); k++) {
            unicode_decode(text + end, &length);
            end += length;
        }
    }
}

static void check_text(const struct vocabulary *v, const struct model *m, void *scratch, const uint8_t *text,
                       size_t bytes, bool narrow)
{
    static uint32_t want[MAX_TEXT + 1];
    size_t count = encode_plainly(v, text, bytes, want, narrow), length;
    struct id_list out = { 0 };

    for (size_t cut = 0; cut <= bytes; cut += length) {
        enum leat_status s = encode_chunks(m, scratch, text, bytes, cut, cut % 3, &out);

        T_EQ(s, count == SIZE_MAX ? LEAT_E_TEXT : LEAT_OK);
        if (s == LEAT_OK && (out.count != count || memcmp(out.ids, want, count * sizeof *want) != 0))
            T_FAIL("%zu bytes, cut at %zu: %zu ids instead of %zu", bytes, cut, out.count, count);
        length = 1;
        if (cut < bytes)
            unicode_decode(text + cut, &length);
    }
    id_list_free(&out);
}

static void test_random(unsigned number, bool narrow)
{
    static struct vocabulary v;
    uint8_t text[MAX_TEXT];
    struct model *m;
    void *scratch;

    for (unsigned i = 0; i < number; i++) {
        make_vocabulary(&v, false, narrow);
        T_OK(model_make(&m, v.spec, &t_err));
        T_OK(model_scratch_make(&scratch, m, NULL, 1 << 20, &t_err));
        v.letter_count = sizeof letters / sizeof letters[0];
        for (unsigned k = 0; k < 8; k++)
            check_text(&v, m, scratch, text, random_text(&v, text, below(k == 0 ? 120 : 25)), narrow);
        model_scratch_free(m, scratch);
        model_free(m);
        v.spec->model_data = NULL;
        spec_free(v.spec);
    }
}

/* Longer texts, which go by pieces: twice, since the second time the cache knows them, whole and cut in two. */
static void test_pieces(unsigned number, bool narrow)
{
    static struct vocabulary v;
    static uint8_t text[MAX_TEXT];
    static uint32_t want[MAX_TEXT + 1];
    struct id_list out = { 0 };
    struct model *m;
    void *scratch;

    for (unsigned i = 0; i < number; i++) {
        size_t bytes, count;

        make_vocabulary(&v, true, narrow);
        T_OK(model_make(&m, v.spec, &t_err));
        T_OK(model_scratch_make(&scratch, m, NULL, 1 << 20, &t_err));
        v.letter_count = sizeof letters / sizeof letters[0];
        bytes = random_text(&v, text, 300 + below(2100));
        count = encode_plainly(&v, text, bytes, want, narrow);
        for (unsigned k = 0; k < 2; k++) {
            size_t cut = bytes / (1 + k);
            enum leat_status s;

            while (cut < bytes && (text[cut] & 0xc0) == 0x80)
                cut++;
            s = encode_chunks(m, scratch, text, bytes, cut, 0, &out);
            T_EQ(s, count == SIZE_MAX ? LEAT_E_TEXT : LEAT_OK);
            if (s == LEAT_OK && (out.count != count || memcmp(out.ids, want, count * sizeof *want) != 0))
                T_FAIL("%zu bytes, cut at %zu: %zu ids instead of %zu", bytes, cut, out.count, count);
        }
        model_scratch_free(m, scratch);
        model_free(m);
        v.spec->model_data = NULL;
        spec_free(v.spec);
    }
    id_list_free(&out);
}

/* Ends of pretokens: mostly words, some of many bytes. Returns their number. */
static size_t cut_pretokens(const uint8_t *text, size_t bytes, uint32_t *ends)
{
    size_t count = 0;

    for (size_t at = 0; at < bytes; ends[count++] = (uint32_t)at) {
        at += 1 + below(below(20) ? 30 : MAX_TEXT - 4);
        at = at < bytes ? at : bytes;
        while (at < bytes && (text[at] & 0xc0) == 0x80)
            at++;
    }
    return count;
}

/* Pretokens in batches, twice: each has the ids that it has alone. */
static void check_pretokens(const struct vocabulary *v, const struct model *m, void *scratch, const uint8_t *text,
                            size_t bytes)
{
    static uint32_t want[LONG_TEXT + 1], ends[LONG_TEXT];
    size_t pretokens = cut_pretokens(text, bytes, ends), count = 0, more = 0;
    const struct model_pretokens all = { text, bytes, 0, ends, pretokens };
    struct id_list out = { 0 };

    for (size_t i = 0, at = 0; i < pretokens && more != SIZE_MAX; at = ends[i++]) {
        more = encode_plainly(v, text + at, ends[i] - at, want + count, false);
        count += more;
    }
    for (unsigned k = 0; k < 2; k++) {
        enum leat_status s;

        out.count = 0;
        s = model_encode_batch(m, scratch, &all, &out, &t_err);
        T_EQ(s, more == SIZE_MAX ? LEAT_E_TEXT : LEAT_OK);
        if (s == LEAT_OK && (out.count != count || memcmp(out.ids, want, count * sizeof *want) != 0))
            T_FAIL("%zu pretokens of %zu bytes: %zu ids instead of %zu", pretokens, bytes, out.count, count);
    }
    id_list_free(&out);
}

static void test_pretokens(unsigned number)
{
    static struct vocabulary v;
    struct model *m;
    void *scratch;

    for (unsigned i = 0; i < number; i++) {
        uint8_t *text = malloc(LONG_TEXT), *exact;
        size_t bytes = 0, wanted = 1 + below(below(3) ? 300 : LONG_TEXT - MAX_TEXT);

        make_vocabulary(&v, below(2), false);
        T_OK(model_make(&m, v.spec, &t_err));
        T_OK(model_scratch_make(&scratch, m, NULL, 1 << 20, &t_err));
        v.letter_count = sizeof letters / sizeof letters[0];
        while (bytes < wanted)
            bytes += random_text(&v, text + bytes, 1 + below(300));
        exact = malloc(bytes);
        memcpy(exact, text, bytes); /* so that reading beyond it is seen */
        check_pretokens(&v, m, scratch, exact, bytes);
        free(exact);
        free(text);
        model_scratch_free(m, scratch);
        model_free(m);
        v.spec->model_data = NULL;
        spec_free(v.spec);
    }
}

int main(void)
{
    state = t_seed();
    test_pretokens(t_times(300));
    test_pieces(t_times(50), false);
    test_pieces(t_times(t_every() ? 200 : 80), true);
    test_random(t_times(t_every() ? 150 : 60), false);
    test_random(t_times(t_every() ? 150 : 60), true);
    return t_end();
}
