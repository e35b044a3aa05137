/*
 * part_megatron.h: a part that is Megatron's PREFIX.bin and PREFIX.idx (also of GPT-NeoX and NeMo). Megatron's own
 * order of samples counts *sequences*, not documents: whoever needs their lengths and the document index finds them
 * here.
 *
 * The index, little-endian, not aligned: "MMIDIDX\0\0"; u64 version, 1; u8 type of a token; u64 S; u64 D; at 34 i32
 * lengths[S] of sequences in tokens; i64 pointers[S], where each begins, in bytes; i64 documents[D], the first sequence
 * of each document, and S; perhaps i8 modes[S].
 */
#ifndef LEAT_PART_MEGATRON_H
#define LEAT_PART_MEGATRON_H

#include "part.h"

#define MEGATRON_HEADER_BYTES 34u

struct part_megatron {
    struct file_map index, tokens;
    uint64_t sequences;                             /* S; a part's documents are D - 1 */
    uint64_t lengths_at, pointers_at, documents_at; /* bytes of the index, inside of it */
};

/* Whether PREFIX.idx, of which the first `length` bytes count, begins as an index of Megatron. */
enum leat_status megatron_peek(const char *prefix, size_t length, bool *is, struct leat_error *err);

/* The kind's own data; NULL: the part is of another kind. */
static inline struct part_megatron *part_megatron_of(const struct part *p)
{
    return p->kind == &part_megatron ? p->own : NULL;
}

#endif
