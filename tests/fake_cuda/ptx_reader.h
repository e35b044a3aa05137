/* ptx_reader.h: a reader of PTX on its way through a text, for ptx_read.c, which reads lines, and ptx_operand.c, which
 * reads what stands in them. */
#ifndef LEAT_TESTS_FAKE_CUDA_PTX_READER_H
#define LEAT_TESTS_FAKE_CUDA_PTX_READER_H

#include <stdarg.h>
#include <stdio.h>

#include "ptx.h"

#define MAX_LABELS 1024

/* How wide an operand is: the instruction's type, or always 32 bits, or a predicate, or twice the type; of memory: at
 * least the type. */
enum width { TYPE, WORD, PREDICATE, DOUBLE, AT_LEAST, FROM_AT_LEAST, ADDRESS, NONE };

struct reader {
    struct ptx_kernel *kernel; /* NULL: between kernels */
    char parameter_names[PTX_PARAMETERS][80];
    struct {
        char name[40];
        uint32_t at;
    } labels[MAX_LABELS];
    unsigned label_count;
    struct {
        char label[40];
        size_t at;
    } jumps[MAX_LABELS];
    unsigned jump_count;
    size_t room;
    unsigned line;
    bool inside; /* of a kernel's braces */
    char *why;
    size_t why_room;
};

/* Both say why not, and return false. */
static inline bool __attribute__((format(printf, 2, 3))) wrong(struct reader *r, const char *format, ...)
{
    int used = snprintf(r->why, r->why_room, "PTX, line %u: ", r->line);
    va_list list;

    va_start(list, format);
    vsnprintf(r->why + used, r->why_room - (size_t)used, format, list);
    va_end(list);
    return false;
}

static inline bool lacks(struct reader *r, const char *what)
{
    return wrong(r, "the machine of the tests lacks %s", what);
}

bool ptx_read_type(const char *text, struct ptx_type *type);

/* A register by its name: %rd12 is number 12 of those with the prefix %rd. */
bool ptx_read_register(struct reader *r, const char *text, uint32_t *number, unsigned *bits);

/* `bits` is 0 for what fits any width. */
bool ptx_read_operand(struct reader *r, const char *text, struct ptx_operand *o, unsigned *bits);

/* "[%rd5+-80]", whose offset goes to the instruction */
bool ptx_read_address(struct reader *r, char *text, struct ptx_instruction *x, struct ptx_operand *o);

/* Whether so many bits are what an operand of this width has. */
bool ptx_fits(const struct ptx_instruction *x, enum width width, unsigned bits);

#endif
