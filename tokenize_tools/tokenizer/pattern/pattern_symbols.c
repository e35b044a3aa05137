/*
 * pattern_symbols.c: all code points begin as one symbol; each set splits the symbols that it cuts through. Then the
 * map from code points is folded into a two-stage table.
 */
#include "pattern_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define SYMBOLS_MAX 256

/* Runs the statement with `c` being each of the members of the set, or of its complement if that is smaller: either
 * splits alike. */
#define FOR_MEMBERS(set, c, ...)                                                                                       \
    do {                                                                                                               \
        uint64_t flip_ = members(set) > PATTERN_SET_POINTS / 2 ? ~UINT64_C(0) : 0;                                     \
        for (size_t w_ = 0; w_ < PATTERN_SET_WORDS; w_++) {                                                            \
            uint64_t word_ = (set)->words[w_] ^ flip_;                                                                 \
            for (uint32_t c = (uint32_t)w_ * 64; word_; c++, word_ >>= 1)                                              \
                if (word_ & 1) {                                                                                       \
                    __VA_ARGS__                                                                                        \
                }                                                                                                      \
        }                                                                                                              \
    } while (0)

static unsigned members(const struct pattern_set *set)
{
    unsigned n = 0;

    for (size_t i = 0; i < PATTERN_SET_WORDS; i++)
        for (uint64_t word = set->words[i]; word; word &= word - 1)
            n++;
    return n;
}

/* Splits symbols by one set: members of a symbol that lies partly outside get a new one. */
static bool split(uint8_t *symbols, uint32_t *sizes, unsigned *count, const struct pattern_set *set)
{
    uint32_t inside[SYMBOLS_MAX] = { 0 };
    unsigned becomes[SYMBOLS_MAX];

    FOR_MEMBERS(set, c, inside[symbols[c]]++;);
    for (unsigned i = 0, old = *count; i < old; i++) {
        becomes[i] = i;
        if (inside[i] == 0 || inside[i] == sizes[i])
            continue;
        if (*count == SYMBOLS_MAX)
            return false;
        becomes[i] = *count;
        sizes[*count] = inside[i];
        sizes[i] -= inside[i];
        (*count)++;
    }
    FOR_MEMBERS(set, c, symbols[c] = (uint8_t)becomes[symbols[c]];);
    return true;
}

/* Folds equal blocks of 256 together. */
static bool fold(struct pattern_symbols *out, const uint8_t *symbols)
{
    size_t blocks = 0;

    if (!(out->blocks = malloc(PATTERN_SET_POINTS)))
        return false;
    for (size_t b = 0; b < PATTERN_SET_POINTS / 256; b++) {
        size_t same = 0;

        while (same < blocks && memcmp(out->blocks[same], symbols + b * 256, 256) != 0)
            same++;
        if (same == blocks)
            memcpy(out->blocks[blocks++], symbols + b * 256, 256);
        out->index[b] = (uint16_t)same;
    }
    return true;
}

enum leat_status pattern_symbols_make(struct pattern_symbols *out, const struct pattern_text *text,
                                      struct leat_error *err)
{
    uint32_t sizes[SYMBOLS_MAX] = { PATTERN_SET_POINTS };
    uint8_t *symbols = calloc(PATTERN_SET_POINTS, 1);
    enum leat_status status = LEAT_OK;

    *out = (struct pattern_symbols) { .count = 1 };
    if (!symbols)
        return status_no_memory(err, PATTERN_SET_POINTS);
    for (size_t i = 0; i < text->set_count && status == LEAT_OK; i++)
        if (!split(symbols, sizes, &out->count, text->sets[i]))
            status = status_set(err, LEAT_E_UNSUPPORTED,
                                "the tokenizer's pattern cannot be used: its classes distinguish more than %d kinds of "
                                "characters",
                                SYMBOLS_MAX);
    if (status == LEAT_OK && !fold(out, symbols))
        status = status_no_memory(err, PATTERN_SET_POINTS);
    free(symbols);
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

char *pattern_symbols_write(const struct pattern_symbols *s, const struct pattern_text *text, size_t *length)
{
    size_t markers = 0, n = 0, room;
    bool *has = calloc(text->set_count + 1, SYMBOLS_MAX * sizeof *has);
    char *out;

    /* which symbols each set has: one code point of a symbol decides */
    for (uint32_t c = 0; has && c < PATTERN_SET_POINTS; c++) {
        uint8_t symbol = pattern_symbol(s, c);

        if (!has[text->set_count * SYMBOLS_MAX + symbol]) {
            has[text->set_count * SYMBOLS_MAX + symbol] = true;
            for (size_t i = 0; i < text->set_count; i++)
                has[i * SYMBOLS_MAX + symbol] = pattern_set_has(text->sets[i], c);
        }
    }
    for (size_t i = 0; i < text->length; i++)
        if (text->text[i] == PATTERN_MARKER)
            markers++, i += 2;
    room = text->length + markers * (SYMBOLS_MAX * 5 + 16) + 1;
    out = has ? malloc(room) : NULL;
    for (size_t i = 0; out && i < text->length; i++)
        if (text->text[i] == PATTERN_MARKER) {
            n += write_class(out + n, has + (size_t)(text->text[i + 1] << 8 | text->text[i + 2]) * SYMBOLS_MAX);
            i += 2;
        } else {
            out[n++] = (char)text->text[i];
        }
    if (out)
        out[n] = 0;
    *length = n;
    free(has);
    return out;
}
