/* ptx_run.c: see ptx.h. A register is 64 bits and whether it was written; what is wider than its type is 0. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

#define MOST_STEPS 10000000u /* of a thread */

struct thread {
    const struct ptx_kernel *kernel;
    const struct ptx_launch *launch;
    uint32_t specials[PTX_SPECIALS];
    uint64_t *registers;
    bool *written;
    const struct ptx_instruction *at; /* NULL: it has returned */
    bool failed;
    char *why;
    size_t room;
};

static void __attribute__((format(printf, 2, 3))) fail(struct thread *t, const char *format, ...)
{
    va_list list;
    int used;

    if (t->failed)
        return;
    t->failed = true;
    used = snprintf(t->why, t->room, "%s, line %u of the PTX, block %u, thread %u: ", t->kernel->name, t->at->line,
                    t->specials[PTX_CTAID_X], t->specials[PTX_TID_X]);
    va_start(list, format);
    vsnprintf(t->why + used, t->room - (size_t)used, format, list);
    va_end(list);
}

static uint64_t low_bits(uint64_t x, unsigned bits)
{
    return bits < 64 ? x & (((uint64_t)1 << bits) - 1) : x;
}

static int64_t as_signed(uint64_t x, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);

    return (int64_t)((low_bits(x, bits) ^ sign) - sign);
}

/* Operand `i`, cut to `bits`. */
static uint64_t get(struct thread *t, unsigned i, unsigned bits)
{
    const struct ptx_operand *o = &t->at->operands[i];

    if (o->kind == PTX_CONSTANT)
        return bits == 1 ? o->constant != 0 : low_bits(o->constant, bits);
    if (o->kind == PTX_SPECIAL)
        return t->specials[o->number];
    if (!t->written[o->number])
        fail(t, "operand %u is a register that nothing was written to", i + 1);
    return low_bits(t->registers[o->number], bits);
}

static void set(struct thread *t, unsigned i, uint64_t value)
{
    uint32_t number = t->at->operands[i].number;

    t->registers[number] = value;
    t->written[number] = true;
}

/* ---- Memory ---- */

static void note_written(struct thread *t, uint8_t *written, uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (written[i])
            fail(t, "the byte at 0x%llx is written twice", (unsigned long long)address + i);
        written[i] = 1;
    }
}

/* `bytes` of memory in which the kernel has something to do; NULL after fail(). */
static uint8_t *memory_at(struct thread *t, uint64_t address, size_t bytes, bool write)
{
    if (address % bytes != 0) {
        fail(t, "%zu bytes at 0x%llx are not aligned", bytes, (unsigned long long)address);
        return NULL;
    }
    for (unsigned i = 0; i < t->launch->range_count; i++) {
        const struct ptx_range *x = &t->launch->ranges[i];
        uint64_t from = address - x->address;

        if (address >= x->address && from <= x->bytes && bytes <= x->bytes - from && (x->writable || !write)) {
            if (write && x->written)
                note_written(t, x->written + from, address, bytes);
            return x->memory + from;
        }
    }
    fail(t, "%zu bytes at 0x%llx are not what it may %s", bytes, (unsigned long long)address, write ? "write" : "read");
    return NULL;
}

/* Where a parameter lies: ptx_read.c gives each an address with its number in the highest bits. */
static const uint8_t *parameter_at(struct thread *t, uint64_t address, size_t bytes)
{
    uint64_t number = (address >> 48) - 0x7a00, from = low_bits(address, 48);

    if (address % bytes != 0)
        fail(t, "%zu bytes of a parameter are not aligned", bytes);
    else if (number < t->kernel->parameter_count && from <= t->kernel->parameters[number] &&
             bytes <= t->kernel->parameters[number] - from)
        return t->launch->parameters[number] + from;
    else
        fail(t, "%zu bytes at 0x%llx are in no parameter", bytes, (unsigned long long)address);
    return NULL;
}

static uint64_t address_of(struct thread *t, unsigned operand)
{
    return get(t, operand, 64) + (uint64_t)t->at->offset;
}

static void load(struct thread *t)
{
    const struct ptx_instruction *x = t->at;
    size_t bytes = x->type.bits / 8;
    uint64_t address = address_of(t, x->vector);
    const uint8_t *from = x->code == PTX_LD_PARAM ? parameter_at(t, address, bytes * x->vector)
                                                  : memory_at(t, address, bytes * x->vector, false);

    for (unsigned i = 0; from && i < x->vector; i++) {
        uint64_t value = 0;

        for (size_t k = 0; k < bytes; k++)
            value |= (uint64_t)from[i * bytes + k] << 8 * k;
        set(t, i, x->type.is_signed ? (uint64_t)as_signed(value, x->type.bits) : value);
    }
}

static void store(struct thread *t)
{
    const struct ptx_instruction *x = t->at;
    size_t bytes = x->type.bits / 8;
    uint8_t *to = memory_at(t, address_of(t, 0), bytes * x->vector, true);

    if (to && t->launch->stored)
        *t->launch->stored += bytes * x->vector;
    for (unsigned i = 0; to && i < x->vector; i++) {
        uint64_t value = get(t, 1 + i, x->type.bits);

        for (size_t k = 0; k < bytes; k++)
            to[i * bytes + k] = (uint8_t)(value >> 8 * k);
    }
}

/* ---- Arithmetic ---- */

static bool compare(struct thread *t)
{
    const struct ptx_type type = t->at->type;
    uint64_t a = get(t, 1, type.bits), b = get(t, 2, type.bits);
    bool less = type.is_signed ? as_signed(a, type.bits) < as_signed(b, type.bits) : a < b;

    switch (t->at->compare) {
    case PTX_EQ:
        return a == b;
    case PTX_NE:
        return a != b;
    case PTX_LT:
        return less;
    case PTX_LE:
        return less || a == b;
    case PTX_GT:
        return !less && a != b;
    default:
        return !less;
    }
}

static uint64_t divide(struct thread *t, struct ptx_type type)
{
    uint64_t a = get(t, 1, type.bits), b = get(t, 2, type.bits);

    if (b == 0) {
        fail(t, "it divides by zero");
        return 0;
    }
    if (type.is_signed)
        fail(t, "the machine of the tests divides numbers without sign only");
    return a / b;
}

static uint64_t multiply_wide(struct thread *t, struct ptx_type type)
{
    uint64_t a = get(t, 1, type.bits), b = get(t, 2, type.bits);

    return type.is_signed ? (uint64_t)as_signed(a, type.bits) * (uint64_t)as_signed(b, type.bits) : a * b;
}

static uint64_t multiply_floats(struct thread *t)
{
    uint32_t bits[] = { (uint32_t)get(t, 1, 32), (uint32_t)get(t, 2, 32) };
    float factors[2], product;

    memcpy(factors, bits, sizeof factors);
    product = (float)((double)factors[0] * (double)factors[1]); /* rounded once: it is exact in a double */
    memcpy(bits, &product, sizeof product);
    return bits[0];
}

/* Shifts by more than the width give what is left of the number: nothing, or its sign. */
static uint64_t shift(struct thread *t, struct ptx_type type)
{
    uint64_t a = get(t, 1, type.bits);
    unsigned by = (unsigned)get(t, 2, 32);
    bool over = by >= type.bits;

    if (t->at->code == PTX_SHL)
        return over ? 0 : a << by;
    if (type.is_signed)
        return (uint64_t)(as_signed(a, type.bits) >> (over ? type.bits - 1 : by));
    return over ? 0 : a >> by;
}

/* The lower bits of operand 1 into operand 2, from a place on. */
static uint64_t insert_bits(struct thread *t, struct ptx_type type)
{
    uint64_t into = get(t, 2, type.bits), bits = get(t, 1, type.bits), mask;
    unsigned place = get(t, 3, 32) & 255, length = get(t, 4, 32) & 255;

    if (place >= type.bits)
        return into;
    mask = (length >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1) << place;
    return (into & ~mask) | (bits << place & mask);
}

static uint64_t smaller(struct thread *t, struct ptx_type type)
{
    uint64_t a = get(t, 1, type.bits), b = get(t, 2, type.bits);

    return (type.is_signed ? as_signed(a, type.bits) < as_signed(b, type.bits) : a < b) ? a : b;
}

static uint64_t leading_zeros(uint64_t x, unsigned bits)
{
    uint64_t n = 0;

    while (n < bits && !(x >> (bits - 1 - n) & 1))
        n++;
    return n;
}

/* The number that an instruction makes. */
static uint64_t result(struct thread *t)
{
    const struct ptx_instruction *x = t->at;
    const struct ptx_type type = x->type;
    const unsigned bits = type.bits;

    switch (x->code) {
    case PTX_ADD:
        return get(t, 1, bits) + get(t, 2, bits);
    case PTX_SUB:
        return get(t, 1, bits) - get(t, 2, bits);
    case PTX_MUL:
        return get(t, 1, bits) * get(t, 2, bits);
    case PTX_MAD:
        return get(t, 1, bits) * get(t, 2, bits) + get(t, 3, bits);
    case PTX_MUL_WIDE:
        return multiply_wide(t, type);
    case PTX_MUL_FLOAT:
        return multiply_floats(t);
    case PTX_DIV:
        return divide(t, type);
    case PTX_MIN:
        return smaller(t, type);
    case PTX_AND:
        return get(t, 1, bits) & get(t, 2, bits);
    case PTX_OR:
        return get(t, 1, bits) | get(t, 2, bits);
    case PTX_XOR:
        return get(t, 1, bits) ^ get(t, 2, bits);
    case PTX_NOT:
        return ~get(t, 1, bits);
    case PTX_SHL:
    case PTX_SHR:
        return shift(t, type);
    case PTX_BFI:
        return insert_bits(t, type);
    case PTX_POPC:
        return (uint64_t)__builtin_popcountll(get(t, 1, bits));
    case PTX_CLZ:
        return leading_zeros(get(t, 1, bits), bits);
    case PTX_SELP:
        return get(t, 3, 1) ? get(t, 1, bits) : get(t, 2, bits);
    case PTX_SETP:
        return compare(t);
    case PTX_CVT:
        return x->from.is_signed ? (uint64_t)as_signed(get(t, 1, x->from.bits), x->from.bits) : get(t, 1, x->from.bits);
    default:
        return get(t, 1, bits); /* mov, cvta */
    }
}

/* How wide what result() makes is. */
static unsigned result_bits(const struct ptx_instruction *x)
{
    switch (x->code) {
    case PTX_MUL_WIDE:
        return 2 * x->type.bits;
    case PTX_POPC:
    case PTX_CLZ:
        return 32;
    case PTX_SETP:
        return 1;
    default:
        return x->type.bits;
    }
}

/* ---- Threads ---- */

static bool is_guarded_off(struct thread *t)
{
    const struct ptx_instruction *x = t->at;

    if (x->guard < 0)
        return false;
    if (!t->written[x->guard])
        fail(t, "its predicate was never set");
    return (t->registers[x->guard] != 0) == x->guard_not;
}

static void step(struct thread *t)
{
    const struct ptx_instruction *x = t->at, *next = x + 1;

    if (!is_guarded_off(t))
        switch (x->code) {
        case PTX_RET:
            next = NULL;
            break;
        case PTX_BRA:
            next = &t->kernel->code[x->target];
            break;
        case PTX_LD_GLOBAL:
        case PTX_LD_PARAM:
            load(t);
            break;
        case PTX_ST_GLOBAL:
            store(t);
            break;
        default:
            set(t, 0, low_bits(result(t), result_bits(x)));
        }
    if (next == t->kernel->code + t->kernel->count)
        fail(t, "its code ends without ret");
    else
        t->at = next;
}

bool ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch, uint64_t *steps, char *why, size_t room)
{
    struct thread t = { .kernel = kernel, .launch = launch, .why = why, .room = room };
    unsigned blocks = launch->some ? launch->some_count : launch->blocks;

    t.registers = calloc(kernel->register_count, sizeof *t.registers);
    t.written = calloc(kernel->register_count, sizeof *t.written);
    if (!t.registers || !t.written)
        abort();
    t.specials[PTX_NTID_X] = launch->threads;
    t.specials[PTX_NCTAID_X] = launch->blocks;
    t.at = kernel->code;
    if (launch->threads > kernel->most_threads)
        fail(&t, "it is started with %u threads, and takes %u", launch->threads, kernel->most_threads);
    for (uint64_t i = 0; i < (uint64_t)blocks * launch->threads && !t.failed; i++) {
        uint32_t block = (uint32_t)(i / launch->threads);

        t.specials[PTX_CTAID_X] = launch->some ? launch->some[block] : block;
        t.specials[PTX_TID_X] = (uint32_t)(i % launch->threads);
        memset(t.written, 0, kernel->register_count);
        t.at = kernel->code;
        for (unsigned n = 0; t.at && !t.failed; n++, ++*steps) {
            step(&t);
            if (n == MOST_STEPS)
                fail(&t, "it does not end");
        }
    }
    free(t.registers);
    free(t.written);
    return !t.failed;
}
