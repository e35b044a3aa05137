/*
 * hostile_texts.h: texts that are made to be slow to encode, or to take much memory: one string repeated, and letters
 * and bytes in no order. For the test that they do no harm, and for the command that measures them.
 */
#ifndef LEAT_BENCH_HOSTILE_TEXTS_H
#define LEAT_BENCH_HOSTILE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* `unit` again and again, whole, in text[0..bytes). Returns the length, which is at most `bytes`. */
size_t hostile_repeat(char *text, size_t bytes, const char *unit);

size_t hostile_letters(char *text, size_t bytes, uint64_t *random);
size_t hostile_bytes(char *text, size_t bytes, uint64_t *random);

/* A line of a list that measures many kinds. */
struct hostile_kind {
    const char *name, *unit; /* NULL: `make` */
    size_t (*make)(char *text, size_t bytes, uint64_t *random);
};
extern const struct hostile_kind hostile_kinds[]; /* ends with a row whose name is NULL */

#endif
