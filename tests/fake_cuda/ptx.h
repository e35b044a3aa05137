/*
 * ptx.h: a machine for PTX, the text of src/device/cuda_kernels.ptx: it runs a grid on the CPU, thread after thread,
 * and stops at what a GPU would let pass, as a register that is read before it is written, memory outside what the
 * kernel was given, or a thread that does not end. An instruction that is unknown here is a row in ptx_read.c and its
 * work in ptx_run.c; scripts/gen_ptx.sh makes the PTX. LEAT_TEST_PTX=all runs every kernel of a test; by default each
 * process runs the first of them.
 */
#ifndef LEAT_TESTS_PTX_H
#define LEAT_TESTS_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_PARAMETERS 4
#define PTX_REGISTERS  5 /* kinds of them */
#define PTX_OPERANDS   5

enum ptx_code {
    PTX_ADD,
    PTX_AND,
    PTX_BFI,
    PTX_BRA,
    PTX_CLZ,
    PTX_CVT,
    PTX_CVTA,
    PTX_DIV,
    PTX_LD_GLOBAL,
    PTX_LD_PARAM,
    PTX_MAD,
    PTX_MIN,
    PTX_MOV,
    PTX_MUL,
    PTX_MUL_WIDE,
    PTX_MUL_FLOAT,
    PTX_NOT,
    PTX_OR,
    PTX_POPC,
    PTX_RET,
    PTX_SELP,
    PTX_SETP,
    PTX_SHL,
    PTX_SHR,
    PTX_ST_GLOBAL,
    PTX_SUB,
    PTX_XOR
};

enum ptx_compare { PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE };
enum ptx_special { PTX_TID_X, PTX_NTID_X, PTX_CTAID_X, PTX_NCTAID_X, PTX_SPECIALS };

struct ptx_type {
    unsigned bits; /* 1: a predicate */
    char letter;   /* b, u, s; p: a predicate */
    bool is_signed;
};

struct ptx_operand {
    enum { PTX_REGISTER, PTX_CONSTANT, PTX_SPECIAL } kind;
    uint32_t number; /* of the register, or enum ptx_special */
    uint64_t constant;
};

struct ptx_instruction {
    enum ptx_code code;
    unsigned line;
    struct ptx_type type, from; /* from: of PTX_CVT */
    enum ptx_compare compare;
    unsigned vector; /* numbers of a load or store */
    struct ptx_operand operands[PTX_OPERANDS];
    int64_t offset; /* of a load's or store's address, which is the last operand of one and the first of the other */
    int guard;      /* the predicate that it depends on; -1: none */
    bool guard_not;
    uint32_t target; /* of PTX_BRA: the number of an instruction */
};

struct ptx_kernel {
    char name[64];
    size_t parameters[PTX_PARAMETERS]; /* their bytes */
    unsigned parameter_count, most_threads;
    struct {
        char prefix[8];
        unsigned bits, count, first;
    } registers[PTX_REGISTERS];
    unsigned register_kinds, register_count;
    struct ptx_instruction *code;
    size_t count;
    struct ptx_kernel *next;
};

/* The kernels of a text, which ptx_free() frees; NULL, and why not in `why`. */
struct ptx_kernel *ptx_read(const char *text, char *why, size_t room);
void ptx_free(struct ptx_kernel *kernels);
const struct ptx_kernel *ptx_find(const struct ptx_kernel *kernels, const char *name);

/* Memory that a kernel may touch: `address` is what it knows it by. A GPU runs threads in any order, so no byte may be
 * written twice: `written` has a byte for each, which is 0 before the launch. NULL: that is not looked at. */
struct ptx_range {
    uint64_t address;
    size_t bytes;
    uint8_t *memory;
    bool writable;
    uint8_t *written;
};

struct ptx_launch {
    const uint8_t *parameters[PTX_PARAMETERS]; /* as many bytes each as the kernel says */
    const struct ptx_range *ranges;
    unsigned range_count, blocks, threads;
    const uint32_t *some; /* only these blocks of the grid, `some_count` of them; NULL: all */
    unsigned some_count;
    uint64_t *stored; /* counts the bytes that are written; NULL: not wanted */
};

/* Runs the threads; `steps` counts instructions. False, and what was wrong in `why`. */
bool ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch, uint64_t *steps, char *why, size_t room);

#endif
