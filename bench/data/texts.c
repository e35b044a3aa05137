/* texts.c: see texts.h. */
#include "texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bench/measure/contest.h"
#include "corpus/document_input.h"

static enum leat_status add_text(struct texts *t, const char *text, size_t bytes, struct leat_error *err)
{
    enum leat_status s = GROW(t->bytes, t->used + bytes + 1, t->room, err);

    if (s == LEAT_OK)
        s = GROW(t->ends, t->count + 1, t->count_room, err);
    if (s != LEAT_OK)
        return s;
    memcpy(t->bytes + t->used, text, bytes);
    t->used += bytes;
    t->ends[t->count++] = t->used;
    return LEAT_OK;
}

static enum leat_status read_file(struct texts *t, const char *path, const char *field, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status s = document_input_open(&in, path, DOCUMENT_BY_NAME, field, err);
    const char *text;
    size_t bytes;
    bool found;

    while (s == LEAT_OK) {
        s = document_input_next(in, &text, &bytes, &found, err);
        if (s != LEAT_OK || !found)
            break;
        s = add_text(t, text, bytes, err);
    }
    document_input_close(in);
    return s;
}

enum leat_status texts_read(struct texts *t, const char *const *paths, size_t count, const char *field,
                            struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *t = (struct texts) { .bytes = NULL };
    for (size_t i = 0; i < count && s == LEAT_OK; i++)
        s = read_file(t, paths[i], field, err);
    return s;
}

void texts_free(struct texts *t)
{
    free(t->bytes);
    free(t->ends);
}

/* ---- Texts that are slow to encode ---- */

size_t hostile_repeat(char *text, size_t bytes, const char *unit)
{
    size_t length = strlen(unit), size = bytes / length * length;

    for (size_t at = 0; at < size; at += length)
        memcpy(text + at, unit, length);
    return size;
}

size_t hostile_letters(char *text, size_t bytes, uint64_t *random)
{
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + contest_random(random) % 26);
    return bytes;
}

size_t hostile_bytes(char *text, size_t bytes, uint64_t *random)
{
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)contest_random(random);
    return bytes;
}

const struct hostile_kind hostile_kinds[] = {
    { "a letter", "x", NULL },
    { "two letters", "aB", NULL },
    { "spaces", " ", NULL },
    { "newlines", "\n", NULL },
    { "spaces and newlines", " \n", NULL },
    { "digits", "7", NULL },
    { "signs", "=", NULL },
    { "combining marks", "\xcc\x81\xcc\xa3", NULL }, /* U+0301 U+0323: a normalization exchanges them */
    { "one ideograph", "\xe4\xb8\xad", NULL },
    { "special tokens", "<|endoftext|>", NULL },
    { "random letters", NULL, hostile_letters },
    { "random bytes", NULL, hostile_bytes },
    { NULL, NULL, NULL },
};
