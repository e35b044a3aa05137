/* hostile_texts.c: see hostile_texts.h. */
#include "hostile_texts.h"

#include <string.h>

#include "bench/measure/contest.h"

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
