/*
 * token_trace.c: spells tokens one after another, and compares them with the text. Byte-level and added tokens are
 * spelled as they stand; those of sentencepiece with U+2581 for a space, and <0xNN> for a byte. Only the space that
 * may come before a text leaves a choice, where a stretch (the text, or what follows an added token) begins with a
 * space of its own: the stretch is first tried without a mark for this space, then with one that stands for nothing.
 * The whole text must come out, so a wrong choice is noticed.
 */
#include "token_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

#define MARK       "\xe2\x96\x81" /* U+2581 */
#define MARK_BYTES 3u

struct trace {
    const char *text;
    uint64_t bytes;
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the byte that <0xNN> stands for, or -1. */
static int byte_of(const struct token_text *token)
{
    const char *t = token->text;

    if (token->bytes != 6 || memcmp(t, "<0x", 3) != 0 || t[5] != '>' || hex(t[3]) < 0 || hex(t[4]) < 0)
        return -1;
    return 16 * hex(t[3]) + hex(t[4]);
}

static bool stands_at(const struct trace *t, uint64_t at, const char *bytes, uint64_t count)
{
    return count <= t->bytes - at && memcmp(t->text + at, bytes, (size_t)count) == 0;
}

/* Spells a token of sentencepiece from its byte `from` on. */
static bool spell_marks(const struct trace *t, uint64_t *at, const struct token_text *token, uint64_t from)
{
    uint64_t to = *at;

    while (from < token->bytes) {
        bool mark = token->bytes - from >= MARK_BYTES && memcmp(token->text + from, MARK, MARK_BYTES) == 0;

        if (mark && stands_at(t, to, " ", 1)) {
            to++;
            from += MARK_BYTES;
            continue;
        }
        if (to == t->bytes || t->text[to] != token->text[from])
            return false;
        to++;
        from++;
    }
    *at = to;
    return true;
}

/* Spells an added token. White space before it, and after it, may belong to it. */
static bool spell_added(const struct trace *t, uint64_t *at, const struct token_text *token)
{
    uint64_t to = *at;

    if (spell_marks(t, at, token, 0))
        return true;
    while (!stands_at(t, to, token->text, token->bytes)) {
        if (to == t->bytes || !is_space(t->text[to]))
            return false;
        to++;
    }
    *at = to + token->bytes;
    return true;
}

static bool spell_plain(const struct trace *t, uint64_t *at, const struct token_text *token)
{
    char byte = (char)byte_of(token);

    if (token->bytewise) {
        if (!stands_at(t, *at, token->text, token->bytes))
            return false;
        *at += token->bytes;
        return true;
    }
    if (byte_of(token) >= 0 && stands_at(t, *at, &byte, 1)) {
        ++*at;
        return true;
    }
    return spell_marks(t, at, token, 0);
}

/* Spells a token. If `mark` is true, its first character stands for nothing. */
static bool spell(const struct trace *t, uint64_t *at, const struct token_text *token, bool mark)
{
    if (token->added)
        return spell_added(t, at, token);
    if (!mark)
        return spell_plain(t, at, token);
    if (!token->bytewise)
        return spell_marks(t, at, token, MARK_BYTES);
    if (!stands_at(t, *at, token->text + 1, token->bytes - 1))
        return false;
    *at += token->bytes - 1;
    return true;
}

/* Spells the first token after an added one, which may have swallowed white space: then its end moves. */
static bool spell_after(const struct trace *t, uint64_t *at, const struct token_text *token, bool mark, uint64_t *end)
{
    uint64_t from = *at;
    bool found = spell(t, at, token, mark);

    while (!found && from < t->bytes && is_space(t->text[from])) {
        *at = ++from;
        found = spell(t, at, token, mark);
        if (found)
            *end = from;
    }
    return found;
}

/* Returns true if a token begins with a space, which may stand for nothing. */
static bool has_mark(const struct token_text *token)
{
    if (token->added || token->bytes == 0)
        return false;
    return token->bytewise ? token->text[0] == ' '
                           : token->bytes >= MARK_BYTES && memcmp(token->text, MARK, MARK_BYTES) == 0;
}

static enum leat_status refuse(uint64_t at, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT,
                      "its tokens cannot be traced to its characters from byte %llu on, as a mask needs: the tokenizer "
                      "normalizes the text, or has no token for a character",
                      (unsigned long long)at);
}

enum leat_status token_texts_make(struct token_texts *t, const struct leat_tokenizer *tokenizer, struct leat_error *err)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;

    leat_tokenizer_info(tokenizer, &info);
    t->items = calloc(info.vocabulary > 0 ? (size_t)info.vocabulary : 1, sizeof *t->items);
    if (!t->items)
        return status_no_memory(err, info.vocabulary * sizeof *t->items);
    t->count = info.vocabulary;
    for (uint64_t id = 0; id < t->count; id++) {
        struct leat_token token = LEAT_TOKEN_INIT;

        struct token_text *item = &t->items[id];

        if (leat_tokenizer_token(tokenizer, (uint32_t)id, &token, NULL) != LEAT_OK)
            continue;
        *item =
            (struct token_text) { 0, token.text, (uint32_t)token.bytes, token.bytewise != 0, token.added != 0, false };
        for (uint64_t i = 0; i < token.bytes && i < 8; i++)
            item->head |= (uint64_t)(uint8_t)token.text[i] << 8 * i;
        item->plain = !item->added &&
                      (item->bytewise || (byte_of(item) < 0 && !memmem(item->text, item->bytes, MARK, MARK_BYTES)));
    }
    return LEAT_OK;
}

void token_texts_free(struct token_texts *t)
{
    free(t->items);
    *t = (struct token_texts) { 0 };
}

/* Returns true if the text goes on with a plain token's bytes. Nearly all tokens have at most 8 bytes, which are
 * compared at once. */
static inline bool goes_on(const char *text, size_t left, const struct token_text *token)
{
    size_t bytes = token->bytes;

    if (bytes - 1 < 8 && left >= 8)
        return ((bytes_load64(text) ^ token->head) << (64 - 8 * bytes)) == 0;
    return bytes <= left && memcmp(text, token->text, bytes) == 0;
}

/* Spells tokens from ids[i] on as long as they are plain, as nearly all are. Returns the first that is not, or that
 * the text does not have. */
static uint64_t trace_plain(const struct token_texts *texts, const struct trace *t, const uint32_t *ids, uint64_t i,
                            uint64_t count, uint64_t *at, uint64_t *ends)
{
    uint64_t to = *at, bytes = t->bytes, known = texts->count;
    const struct token_text *items = texts->items;
    const char *text = t->text;

    while (i < count) {
        uint32_t id = ids[i];

        if (id >= known || !items[id].plain || !goes_on(text + to, bytes - to, &items[id]))
            break;
        ends[i++] = to += items[id].bytes;
    }
    *at = to;
    return i;
}

enum leat_status token_trace(const struct token_texts *texts, const char *text, uint64_t bytes, const uint32_t *ids,
                             uint64_t count, uint64_t *ends, struct leat_error *err)
{
    const struct trace t = { text, bytes };
    struct token_text token = { 0 };
    uint64_t at = 0, stretch = 0, furthest = 0; /* number of the first token of the stretch */
    bool mark = false, may_mark = false;

    for (uint64_t i = 0; i < count; i++) {
        if (i != stretch)
            i = trace_plain(texts, &t, ids, i, count - 1, &at, ends);
        if (ids[i] >= texts->count || !texts->items[ids[i]].text)
            return status_set(err, LEAT_E_RANGE, "no token has the id %" PRIu32, ids[i]);
        token = texts->items[ids[i]];
        if (i == stretch && !mark)
            may_mark = has_mark(&token);
        if (i == stretch && i > 0 ? spell_after(&t, &at, &token, mark, &ends[i - 1])
                                  : spell(&t, &at, &token, i == stretch && mark)) {
            ends[i] = at;
            if (token.added || i + 1 < count || at == bytes) {
                if (token.added) {
                    stretch = i + 1;
                    mark = may_mark = false;
                }
                continue;
            }
        }
        furthest = at > furthest ? at : furthest;
        if (!may_mark || mark)
            return refuse(furthest, err);
        mark = true; /* the stretch again */
        at = stretch > 0 ? ends[stretch - 1] : 0;
        i = stretch - 1;
    }
    while (at < bytes && count > 0 && token.added && is_space(text[at]))
        ends[count - 1] = ++at;
    return at < bytes ? refuse(at, err) : LEAT_OK;
}
