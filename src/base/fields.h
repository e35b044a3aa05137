/*
 * fields.h: tables of the members of public structs, so that whoever reads or sets a struct by names walks one table.
 * A row names a member; an option's row is the only place besides the public header that has to know it.
 */
#ifndef LEAT_BASE_FIELDS_H
#define LEAT_BASE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_NUMBER,  /* an integer of 32 or 64 bits; a Python argument None for 64 bits is LEAT_NONE */
    FIELD_MAYBE,   /* a uint64_t; LEAT_NONE is None in Python's results, too */
    FIELD_CHOICE,  /* an enum, whose values are positions in `choices` */
    FIELD_FLAG,    /* a uint32_t, 0 or 1 */
    FIELD_TEXT,    /* a const char * that the caller owns; NULL: none */
    FIELD_DOUBLES, /* a const double * that the caller owns, and their number in the uint64_t after it */
    /* Results only: nobody sets them by their names. */
    FIELD_BYTES,   /* a uint8_t[] */
    FIELD_CHARS,   /* a char[] that ends with a NUL */
    FIELD_NODE,    /* an int32_t, the number of a NUMA node; negative: none, shown as -1 */
    FIELD_SECONDS, /* a uint64_t in nanoseconds, shown in seconds */
    FIELD_SHARE,   /* a double from 0 to 1 */
    FIELD_TIMES    /* a struct leat_times, shown in seconds */
};

struct field {
    const char *name; /* name of the member in Python, in logs and in errors */
    size_t offset, bytes;
    enum field_kind kind;
    const char *const *choices; /* words for the values of a FIELD_CHOICE, in their order; NULL ends them */
};
#define FIELD_NAMED(kind, name, type, member)                                                                          \
    {                                                                                                                  \
        name, offsetof(struct type, member), sizeof(((struct type *)0)->member), kind, NULL                            \
    }
#define FIELD_ROW(kind, type, member) FIELD_NAMED(kind, #member, type, member)
#define FIELD_INSIDE(kind, type, inside, member)                                                                       \
    FIELD_NAMED(kind, #member, type, inside.member) /* row for a member of a struct
                                                                                                    inside the struct */

/* Arguments for a table and its length. */
#define FIELDS(table) (table), sizeof(table) / sizeof *(table)

#endif
