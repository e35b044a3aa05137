/* made_models.h: random vocabularies for test_made_models.c: over few letters of one to four bytes, with merges and
 * scores, as a spec and as tables that are read literally. */
#ifndef LEAT_TESTS_TOKENIZER_FILES_MADE_MODELS_H
#define LEAT_TESTS_TOKENIZER_FILES_MADE_MODELS_H

#include "tokenizer/bpe/bpe_internal.h"

#include "t.h"

#define MAX_TOKENS 1200u
#define LONGEST    14u

static uint64_t state;

static size_t below(size_t n)
{
    return (size_t)t_below(&state, n);
}

struct made {
    struct tokenizer_spec *spec;
    uint8_t text[MAX_TOKENS][LONGEST];
    uint32_t length[MAX_TOKENS];
    uint8_t type[MAX_TOKENS];
    float score[MAX_TOKENS];
    uint32_t count, first; /* tokens from `first` on are text */
    uint32_t base, step;   /* ids */
    uint32_t left[2 * MAX_TOKENS], right[2 * MAX_TOKENS], result[2 * MAX_TOKENS], merges;
    const char *letters[24];
    size_t letter_count;
    uint32_t slots[8192]; /* by hash of the text: number + 1 */
};

static uint32_t hash_of(const uint8_t *text, size_t bytes)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ text[i]) * 16777619u;
    return h ^ h >> 15;
}

/* Of those that are text. */
static uint32_t find(const struct made *v, const uint8_t *text, size_t bytes)
{
    for (uint32_t at = hash_of(text, bytes) % 8192; v->slots[at]; at = (at + 1) % 8192)
        if (v->length[v->slots[at] - 1] == bytes && memcmp(v->text[v->slots[at] - 1], text, bytes) == 0)
            return v->slots[at] - 1;
    return SPEC_NONE;
}

static void list(struct made *v, uint32_t token)
{
    uint32_t at = hash_of(v->text[token], v->length[token]) % 8192;

    while (v->slots[at])
        at = (at + 1) % 8192;
    v->slots[at] = token + 1;
}

static uint32_t add(struct made *v, const void *text, size_t bytes, unsigned type)
{
    memcpy(v->text[v->count], text, bytes);
    v->length[v->count] = (uint32_t)bytes;
    v->type[v->count] = (uint8_t)type;
    if (type == SPEC_NORMAL || type == SPEC_USER_DEFINED)
        list(v, v->count);
    return v->count++;
}

static void choose_letters(struct made *v)
{
    static const char *const all[] = { "a", "b", "c", " ", "é", "ж", "я", "世", "界", "丗", "ก", "า", "😀", "😁", "🀀" };
    size_t max = sizeof all / sizeof all[0];

    v->letter_count = 2 + below(8);
    for (size_t i = 0; i < v->letter_count; i++)
        v->letters[i] = all[below(4) ? below(max) : below(4)];
}

static size_t some_letters(const struct made *v, uint8_t *text, size_t max)
{
    size_t bytes = 0;

    for (size_t n = 1 + below(4); n > 0; n--) {
        const char *letter = v->letters[below(v->letter_count)];

        if (bytes + strlen(letter) > max)
            break;
        memcpy(text + bytes, letter, strlen(letter));
        bytes += strlen(letter);
    }
    return bytes;
}

/* Tokens that are joined of two others, perhaps with a merge for it, and some of nothing that is there. */
static void add_tokens(struct made *v, bool characters)
{
    static const size_t max[] = { 4, 12, 150, 600 };
    uint32_t tries = 1 + (uint32_t)below(max[below(4)]), orphans = (uint32_t)below(3) * (uint32_t)below(30);

    for (uint32_t i = 0; i < tries + orphans; i++) {
        uint32_t left = v->first + (uint32_t)below(v->count - v->first), right = 0, token;
        uint8_t text[2 * LONGEST];
        size_t bytes;

        if (i < tries && below(3)) /* bytes of letters, mostly */
            left = (uint32_t)below(v->count - v->first) % 40 + (v->count - v->first > 40 ? v->count - 40 : v->first);
        right = v->first + (uint32_t)below(v->count - v->first);
        memcpy(text, v->text[left], v->length[left]);
        memcpy(text + v->length[left], v->text[right], v->length[right]);
        bytes = v->length[left] + v->length[right];
        if (i >= tries || below(8) == 0) {
            bytes = some_letters(v, text, LONGEST);
            if (!characters && below(3) == 0 && bytes > 1)
                bytes -= 1;
            left = right = SPEC_NONE;
        }
        if (bytes > LONGEST || v->count == MAX_TOKENS)
            continue;
        token = find(v, text, bytes);
        if (token == SPEC_NONE)
            token = add(v, text, bytes, below(20) ? SPEC_NORMAL : SPEC_USER_DEFINED);
        for (uint32_t k = 0; left != SPEC_NONE && k < v->merges; k++)
            if (v->left[k] == left && v->right[k] == right)
                left = SPEC_NONE;
        if (left == SPEC_NONE || v->merges == 2 * MAX_TOKENS)
            continue;
        v->left[v->merges] = left;
        v->right[v->merges] = right;
        v->result[v->merges++] = token;
    }
}

static void swap_merges(struct made *v, size_t times)
{
    for (; times > 0 && v->merges > 0; times--) {
        size_t a = below(v->merges), b = below(v->merges);
        uint32_t left = v->left[a], right = v->right[a], result = v->result[a];

        v->left[a] = v->left[b], v->right[a] = v->right[b], v->result[a] = v->result[b];
        v->left[b] = left, v->right[b] = right, v->result[b] = result;
    }
}

static void swap_tokens(struct made *v, size_t times)
{
    uint8_t text[LONGEST];

    for (; times > 0; times--) {
        uint32_t a = (uint32_t)below(v->count), b = (uint32_t)below(v->count), length = v->length[a];

        memcpy(text, v->text[a], LONGEST);
        memcpy(v->text[a], v->text[b], LONGEST);
        memcpy(v->text[b], text, LONGEST);
        v->length[a] = v->length[b];
        v->length[b] = length;
    }
    memset(v->slots, 0, sizeof v->slots);
    for (uint32_t i = 0; i < v->count; i++)
        list(v, i);
}

static void make_spec(struct made *v)
{
    struct tokenizer_spec *spec = v->spec;
    size_t at = 0;
    uint8_t *text;

    spec->tokens = calloc(v->count, sizeof *spec->tokens);
    spec->text = text = malloc((size_t)v->count * LONGEST);
    spec->token_count = v->count;
    for (uint32_t i = 0; i < v->count; i++) {
        spec->tokens[i] = (struct spec_token) { .id = v->base + v->step * i,
                                                .offset = (uint32_t)at,
                                                .length = v->length[i],
                                                .type = spec->model == SPEC_SCORES ? v->type[i] : SPEC_NORMAL };
        memcpy(text + at, v->text[i], v->length[i]);
        at += v->length[i];
    }
    spec->text_bytes = at;
    spec->vocabulary_size = v->base + v->step * v->count;
    if (spec->model == SPEC_SCORES) {
        spec->scores = malloc(v->count * sizeof *spec->scores);
        memcpy(spec->scores, v->score, v->count * sizeof *spec->scores);
        spec->unknown = spec->tokens[0].id;
    }
    if (spec->model != SPEC_MERGES)
        return;
    spec->merges = malloc((v->merges + 1) * sizeof *spec->merges);
    spec->merge_count = v->merges;
    for (uint32_t i = 0; i < v->merges; i++)
        spec->merges[i] = (struct spec_merge) { spec->tokens[v->left[i]].id, spec->tokens[v->right[i]].id,
                                                spec->tokens[v->result[i]].id };
}

static void make_vocabulary(struct made *v, enum spec_model model, bool byte_level)
{
    memset(v, 0, sizeof *v);
    v->spec = spec_new();
    v->spec->model = model;
    v->spec->byte_level = byte_level;
    v->spec->byte_fallback = !byte_level;
    v->spec->ignore_merges = model == SPEC_MERGES && below(2);
    v->step = below(3) ? 1 : 1 + (uint32_t)below(3);
    v->base = below(3) ? 0 : below(2) ? (1u << 20) - (uint32_t)below(600) : (uint32_t)below(50);
    choose_letters(v);
    if (model == SPEC_SCORES)
        add(v, "<unk>", 5, SPEC_UNKNOWN);
    for (unsigned b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        char name[8];

        snprintf(name, sizeof name, "<0x%02X>", b);
        if (byte_level)
            add(v, &byte, 1, SPEC_NORMAL);
        else
            add(v, name, 6, SPEC_BYTE);
    }
    v->first = byte_level ? 0 : v->count;
    for (size_t i = 0; i < v->letter_count; i++) /* some letters are no tokens */
        if (find(v, (const uint8_t *)v->letters[i], strlen(v->letters[i])) == SPEC_NONE &&
            (i == 0 || byte_level ? strlen(v->letters[i]) == 1 || !byte_level : below(6) > 0))
            add(v, v->letters[i], strlen(v->letters[i]), SPEC_NORMAL);
    add_tokens(v, !byte_level);
    if (model == SPEC_RANKS && below(2))
        swap_tokens(v, below(200));
    if (below(2))
        swap_merges(v, below(v->merges + 1));
    for (uint32_t i = 0, some = 1 + (uint32_t)below(4), order = (uint32_t)below(4); i < v->count; i++)
        v->score[i] = order == 0 ? -(float)i : order == 1 ? -(float)below(100000) : -(float)below(some);
    make_spec(v);
}

#endif
