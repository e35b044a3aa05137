/*
 * options.h: the one way to read a caller's struct that begins with its size, and to fill one. The caller may have been
 * compiled with an older header, where the struct is smaller, or with a newer one, where it is larger.
 *
 * Fields that the caller's version lacks keep their defaults. A struct inside another one keeps its size: what a later
 * version adds to it takes the place of reserved numbers. Bytes that this library does not know must be 0, the default
 * of every field that a later version adds; other values ask for what this library cannot do.
 */
#ifndef LEAT_BASE_OPTIONS_H
#define LEAT_BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "fields.h"
#include "leat.h"

/* A stretch of a struct whose bytes must be 0. */
struct options_reserved {
    size_t at, bytes;
};
#define OPTIONS_RESERVED(type, member)                                                                                 \
    {                                                                                                                  \
        offsetof(struct type, member), sizeof((struct type *)NULL)->member                                             \
    }

/*
 * Copies the caller's options to `all`, a struct of `size` bytes that holds the defaults; its own size stays. `given`
 * may be NULL: the defaults. `reserved` (or NULL) lists what must be 0, and ends with an element of 0 bytes. `what`
 * names the struct, without "struct". Returns LEAT_E_ARGUMENT for a size that no _INIT macro sets, and
 * LEAT_E_UNSUPPORTED for bytes that are not 0 in a reserved field or beyond what this library knows.
 */
enum leat_status options_read(void *all, size_t size, const struct options_reserved *reserved, const void *given,
                              const char *what, struct leat_error *err);

/* Checks each FIELD_CHOICE: returns LEAT_E_ARGUMENT if a value has no word. */
enum leat_status options_check(const struct field *fields, size_t count, const void *options, struct leat_error *err);

/* Sets texts and arrays to NULL, since the caller may free its own after the call that read them. */
void options_forget(const struct field *fields, size_t count, void *options);

/* Element `i` of a caller's array of such structs, whose first one gives the size of all. */
static inline const void *options_element(const void *items, uint64_t i)
{
    size_t size;

    memcpy(&size, items, sizeof size);
    return (const char *)items + i * size;
}

/* Fills the fields of a caller's struct that both versions know, except its size. */
static inline void options_fill(void *out, const void *full, size_t full_size)
{
    size_t size;

    memcpy(&size, out, sizeof size);
    if (size > full_size)
        size = full_size;
    if (size > sizeof size)
        memcpy((char *)out + sizeof size, (const char *)full + sizeof size, size - sizeof size);
}

#endif
