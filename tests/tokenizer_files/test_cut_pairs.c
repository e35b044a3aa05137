/*
 * test_cut_pairs.c: where published vocabularies may be cut (char_cuts.h), beside a plain list of all pairs of
 * characters that stand side by side in their tokens. All pairs of a character that a token has before another one,
 * and of one that it has after another one, are asked for: none of the list may be cut, and few others are not. And no
 * token is cut, at any CPU level.
 */
#include "t.h"
#include "tokenizer/bpe/pretoken_batch.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/vocabularies.h"

/* Of the pairs that may be cut, one in so many at most is taken for one of the list. */
#define RARE 16

static struct char_cuts cuts;
static uint64_t *pairs; /* before << 32 | after, ascending from sort_pairs() on */
static size_t pair_count;
static bool partial[256][256];
static struct pretoken_batch batch;

static unsigned length_of(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The character at a place; 0: not all of it is there. */
static uint32_t char_at(const uint8_t *text, size_t bytes, size_t at)
{
    uint32_t c = 0;

    if ((text[at] & 0xc0) == 0x80 || length_of(text[at]) > bytes - at)
        return 0;
    for (unsigned i = 0; i < length_of(text[at]); i++)
        c |= (uint32_t)text[at + i] << 8 * i;
    return c;
}

static void list_token(const uint8_t *text, size_t bytes)
{
    for (size_t at = 1, begin; at < bytes; at++) {
        if (text[at] < 0xc0)
            continue;
        for (begin = at - 1; begin > 0 && (text[begin] & 0xc0) == 0x80;)
            begin--;
        if (char_at(text, bytes, begin) && char_at(text, bytes, at))
            pairs[pair_count++] = (uint64_t)char_at(text, bytes, begin) << 32 | char_at(text, bytes, at);
        else
            partial[text[at - 1]][text[at]] = true;
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Ascending, each once; returns their number. */
static size_t sort(uint64_t *list, size_t count)
{
    size_t kept = 0;

    qsort(list, count, sizeof *list, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[i - 1])
            list[kept++] = list[i];
    return kept;
}

static uint8_t last_byte(uint32_t c)
{
    while (c > 0xff)
        c >>= 8;
    return (uint8_t)c;
}

static void compare_pairs(const char *name)
{
    uint64_t *before = malloc((pair_count + 1) * sizeof *before), *after = malloc((pair_count + 1) * sizeof *after);
    size_t before_count, after_count, at = 0, wrong = 0, rare = 0;

    pair_count = sort(pairs, pair_count);
    for (size_t i = 0; i < pair_count; i++) {
        before[i] = pairs[i] >> 32;
        after[i] = (uint32_t)pairs[i];
    }
    before_count = sort(before, pair_count);
    after_count = sort(after, pair_count);
    for (size_t i = 0; i < before_count; i++)
        for (size_t k = 0; k < after_count; k++) {
            uint32_t one = (uint32_t)before[i], other = (uint32_t)after[k];
            bool listed = at < pair_count && pairs[at] == ((uint64_t)one << 32 | other);
            bool together = listed || partial[last_byte(one)][other & 0xff];
            bool safe = char_cuts_safe(&cuts, one, last_byte(one), other);

            at += listed;
            wrong += together && safe;
            rare += !together && !safe;
        }
    T_EQ(at, pair_count);
    T_EQ(wrong, 0);
    if (rare > before_count * after_count / RARE)
        T_FAIL("%s: %zu of %zu pairs are not cut for no reason", name, rare, before_count * after_count);
    free(before);
    free(after);
}

/* A token of whole characters, as a pretoken. */
static void cut_token(const char *name, const uint8_t *token, size_t bytes)
{
    uint8_t text[600];
    uint32_t end = (uint32_t)bytes;
    const struct pretoken_kernels *k;
    int usable;

    if (bytes > sizeof text - 100 || (token[0] & 0xc0) == 0x80)
        return;
    memset(text, ' ', sizeof text);
    memcpy(text, token, bytes);
    for (unsigned number = 0; (k = pretoken_kernels_row(number, &usable)) != NULL; number++) {
        struct pretoken_cut w = { .cuts = &cuts, .text = text, .bytes = end, .room = sizeof text };

        w.ends = &end;
        w.last = &end + 1;
        if (usable)
            k->cut(&w, &batch);
        if (usable && (batch.count != 1 || batch.begins[1] != bytes))
            T_FAIL("%s, %s: a token of %zu bytes is cut", name, k->name, bytes);
    }
}

static void vocabulary(const char *name)
{
    struct opened_spec o = { .spec = NULL };
    const struct tokenizer_spec *spec;
    size_t bytes = 0;

    T_OK(spec_open(&o, name, NULL, &t_err));
    spec = o.spec;
    for (uint32_t i = 0; i < spec->token_count; i++)
        bytes += spec->tokens[i].length;
    pairs = malloc((bytes + 1) * sizeof *pairs);
    pair_count = 0;
    memset(partial, 0, sizeof partial);
    T_OK(char_cuts_make(&cuts, spec, &t_err));
    for (uint32_t i = 0; i < spec->token_count && t_failures == 0; i++)
        if (!spec->tokens[i].foreign) {
            list_token(spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length);
            if (spec->tokens[i].length > 0)
                cut_token(name, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length);
        }
    compare_pairs(name);
    free(pairs);
    char_cuts_free(&cuts);
    spec_close(&o);
}

int main(void)
{
    static const char *const files[] = { "llama3_1.tokenizer.json.zst", "qwen2_5.tokenizer.json.zst",
                                         "deepseek_v3.tokenizer.json.zst" };

    vocabulary("gpt2");
    vocabulary("o200k_base");
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
        if (vocabulary_path(files[i]))
            vocabulary(vocabulary_path(files[i]));
    return t_end();
}
