/*
 * pattern_symbols.c: sets tell few of the 4,352 blocks of 256 code points apart; those that are alike in all sets are
 * one kind. In a block of each kind all code points begin as one symbol; each set splits the symbols that it cuts
 * through. Kinds come first since a file may have a thousand expressions.
 */
#include "pattern_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define SYMBOLS_MAX 256
#define BLOCKS      (PATTERN_SET_POINTS / 256)
#define BLOCK_WORDS 4
#define PLACES      8192 /* more than blocks, a power of two */

/* ---- Kinds of blocks ---- */

struct kinds {
    uint16_t of[BLOCKS], before[BLOCKS]; /* by all sets so far, and by those before the last one */
    uint16_t first[BLOCKS];              /* a block of each kind */
    uint16_t places[PLACES];             /* 1 more than the first block of a kind, by what decides it; 0: free */
    unsigned count;
};

static size_t place_of(const uint64_t *words, unsigned kind)
{
    uint64_t h = kind + 1;

    for (unsigned i = 0; i < BLOCK_WORDS; i++)
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h % PLACES;
}

/* Splits kinds by one set. */
static void split_kinds(struct kinds *k, const struct pattern_set *set)
{
    memcpy(k->before, k->of, sizeof k->of);
    memset(k->places, 0, sizeof k->places);
    k->count = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        const uint64_t *words = set->words + b * BLOCK_WORDS;
        size_t place = place_of(words, k->before[b]), same;

        for (; k->places[place] > 0; place = (place + 1) % PLACES) {
            same = k->places[place] - 1u;
            if (k->before[same] == k->before[b] &&
                memcmp(set->words + same * BLOCK_WORDS, words, BLOCK_WORDS * sizeof *words) == 0)
                break;
        }
        if (k->places[place] == 0) {
            k->places[place] = (uint16_t)(b + 1);
            k->first[k->count] = (uint16_t)b;
            k->of[b] = (uint16_t)k->count++;
        } else {
            k->of[b] = k->of[k->places[place] - 1u];
        }
    }
}

/* ---- Symbols ---- */

/* Splits symbols by one set. Members of a symbol that lies partly outside get a new one. */
static bool split(const struct pattern_symbols *s, const struct kinds *k, uint32_t *sizes, unsigned *count,
                  const struct pattern_set *set)
{
    uint32_t inside[SYMBOLS_MAX] = { 0 };
    uint8_t becomes[SYMBOLS_MAX];

    for (unsigned i = 0; i < k->count; i++)
        for (uint32_t c = 0; c < 256; c++)
            inside[s->blocks[i][c]] += pattern_set_has(set, k->first[i] * 256u + c);
    for (unsigned i = 0, old = *count; i < old; i++) {
        becomes[i] = (uint8_t)i;
        if (inside[i] == 0 || inside[i] == sizes[i])
            continue;
        if (*count == SYMBOLS_MAX)
            return false;
        becomes[i] = (uint8_t)*count;
        sizes[*count] = inside[i];
        sizes[i] -= inside[i];
        (*count)++;
    }
    for (unsigned i = 0; i < k->count; i++)
        for (uint32_t c = 0; c < 256; c++)
            if (pattern_set_has(set, k->first[i] * 256u + c))
                s->blocks[i][c] = becomes[s->blocks[i][c]];
    return true;
}

enum leat_status pattern_symbols_make(struct pattern_symbols *out, const struct pattern_text *text,
                                      struct leat_error *err)
{
    uint32_t sizes[SYMBOLS_MAX];
    struct kinds *k = calloc(1, sizeof *k);
    enum leat_status status = LEAT_OK;

    *out = (struct pattern_symbols) { .count = 1 };
    if (!k)
        return status_no_memory(err, sizeof *k);
    k->count = 1;
    for (size_t i = 0; i < text->set_count; i++)
        split_kinds(k, text->sets[i]);
    memcpy(out->index, k->of, sizeof out->index);
    out->blocks = calloc(k->count, sizeof *out->blocks);
    if (!out->blocks)
        status = status_no_memory(err, k->count * sizeof *out->blocks);
    sizes[0] = k->count * 256;
    for (size_t i = 0; i < text->set_count && status == LEAT_OK; i++)
        if (!split(out, k, sizes, &out->count, text->sets[i]))
            status = status_set(err, LEAT_E_UNSUPPORTED,
                                "the tokenizer's pattern cannot be used: its classes distinguish more than %d kinds of "
                                "characters",
                                SYMBOLS_MAX);
    free(k);
    return status;
}

void pattern_symbols_free(struct pattern_symbols *s)
{
    free(s->blocks);
    s->blocks = NULL;
}

/* "\xNN" */
static size_t write_symbol(char *to, unsigned symbol)
{
    static const char digits[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = 'x';
    to[2] = digits[symbol >> 4];
    to[3] = digits[symbol & 15];
    return 4;
}

/* A class of the symbols in `has`, as ranges; an empty one matches nothing. */
static size_t write_class(char *to, const bool has[SYMBOLS_MAX])
{
    static const char nothing[] = "[^\\x00-\\xff]";
    size_t n = 0;

    to[n++] = '[';
    for (unsigned first = 0, last; first < SYMBOLS_MAX; first = last + 1) {
        last = first;
        if (!has[first])
            continue;
        while (last + 1 < SYMBOLS_MAX && has[last + 1])
            last++;
        n += write_symbol(to + n, first);
        if (last > first) {
            to[n++] = '-';
            n += write_symbol(to + n, last);
        }
    }
    if (n == 1) {
        memcpy(to, nothing, sizeof nothing - 1);
        return sizeof nothing - 1;
    }
    to[n++] = ']';
    return n;
}

/* Which symbols each set has, and after the last set, which have been seen: one code point of a symbol decides, and it
 * lies in the first of equal blocks. */
static void find_symbols(bool *has, const struct pattern_symbols *s, const struct pattern_text *text)
{
    bool *seen = has + text->set_count * SYMBOLS_MAX;
    size_t blocks = 0;

    for (uint32_t b = 0; b < PATTERN_SET_POINTS / 256; b++) {
        if (s->index[b] < blocks)
            continue;
        blocks++;
        for (uint32_t c = b * 256; c < (b + 1) * 256; c++) {
            uint8_t symbol = pattern_symbol(s, c);

            for (size_t i = 0; !seen[symbol] && i < text->set_count; i++)
                has[i * SYMBOLS_MAX + symbol] = pattern_set_has(text->sets[i], c);
            seen[symbol] = true;
        }
    }
}

char *pattern_symbols_write(const struct pattern_symbols *s, const struct pattern_text *text, size_t *length)
{
    const uint8_t *bytes = text->text.bytes;
    size_t size = text->text.size, markers = 0, n = 0, room;
    bool *has = calloc(text->set_count + 1, SYMBOLS_MAX * sizeof *has);
    char *out;

    if (has)
        find_symbols(has, s, text);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == PATTERN_MARKER)
            markers++, i += 2;
    room = size + markers * (SYMBOLS_MAX * 5 + 16) + 1;
    out = has ? malloc(room) : NULL;
    for (size_t i = 0; out && i < size; i++)
        if (bytes[i] == PATTERN_MARKER) {
            n += write_class(out + n, has + (size_t)(bytes[i + 1] << 8 | bytes[i + 2]) * SYMBOLS_MAX);
            i += 2;
        } else {
            out[n++] = (char)bytes[i];
        }
    if (out)
        out[n] = 0;
    *length = n;
    free(has);
    return out;
}
