/*
 * arrow_flat.h: reading flatbuffers, in which Arrow keeps its metadata. A table is the place of an i32, how far before
 * it its vtable is: u16 sizes of vtable and table, then for each field a u16, where in the table it is (0: it has its
 * default). Strings, vectors and tables in a field are u32 offsets from there. Places are those in the buffer; 0 is no
 * place. Whatever leads out of the buffer sets `bad` and gives 0: callers go on, and look at it in the end.
 */
#ifndef LEAT_ARROW_FLAT_H
#define LEAT_ARROW_FLAT_H

#include <stdbool.h>

#include "base/bytes.h"

struct flat {
    const uint8_t *bytes;
    uint64_t size;
    bool bad;
};

static inline bool flat_has(struct flat *f, uint64_t at, uint64_t count)
{
    if (!bytes_inside(at, count, f->size))
        f->bad = true;
    return !f->bad;
}

/* What an offset at `at` leads to. */
static inline uint64_t flat_follow(struct flat *f, uint64_t at)
{
    uint64_t to = flat_has(f, at, 4) ? at + bytes_load32(f->bytes + at) : 0;

    return flat_has(f, to, 4) ? to : 0;
}

static inline uint64_t flat_root(struct flat *f)
{
    return flat_follow(f, 0);
}

/* Where field `field` of a table is, of which `count` bytes are read; 0: it has its default. */
static inline uint64_t flat_field(struct flat *f, uint64_t table, unsigned field, uint64_t count)
{
    uint64_t vtable, in_table;

    if (table == 0 || !flat_has(f, table, 4))
        return 0;
    vtable = table - (uint64_t)(int64_t)(int32_t)bytes_load32(f->bytes + table);
    if (!flat_has(f, vtable, 4) || (uint64_t)bytes_load16(f->bytes + vtable) < 6 + 2 * (uint64_t)field ||
        !flat_has(f, vtable + 4 + 2 * (uint64_t)field, 2))
        return 0;
    in_table = bytes_load16(f->bytes + vtable + 4 + 2 * (uint64_t)field);
    return in_table > 0 && flat_has(f, table + in_table, count) ? table + in_table : 0;
}

/* A number of 1, 2, 4 or 8 bytes; 0 by default. */
static inline uint64_t flat_number(struct flat *f, uint64_t table, unsigned field, unsigned bytes)
{
    uint64_t at = flat_field(f, table, field, bytes), number = 0;

    for (unsigned i = 0; at > 0 && i < bytes; i++)
        number |= (uint64_t)f->bytes[at + i] << 8 * i;
    return number;
}

/* A table in a field; 0: none. */
static inline uint64_t flat_table(struct flat *f, uint64_t table, unsigned field)
{
    uint64_t at = flat_field(f, table, field, 4);

    return at > 0 ? flat_follow(f, at) : 0;
}

/* The first of *count elements of `bytes` bytes; a string has elements of one. */
static inline uint64_t flat_vector(struct flat *f, uint64_t table, unsigned field, uint64_t bytes, uint64_t *count)
{
    uint64_t at = flat_table(f, table, field);

    *count = at > 0 ? bytes_load32(f->bytes + at) : 0;
    if (at == 0 || !flat_has(f, at + 4, *count * bytes)) {
        *count = 0;
        return 0;
    }
    return at + 4;
}

#endif
