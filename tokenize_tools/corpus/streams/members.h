/*
 * members.h: where the next frame or member of a compressed file ends, told from its headers without decompressing it.
 * What is found so is only a guess about a file that may be damaged: spans.h says why that does no harm.
 */
#ifndef LEAT_TOKENIZE_TOOLS_MEMBERS_H
#define LEAT_TOKENIZE_TOOLS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member {
    uint64_t end;      /* in the file */
    uint64_t max_text; /* it has no more text than this */
    uint64_t window;   /* memory that decompressing it takes besides */
};

/* A file whose headers are looked at, in their order. */
struct member_file {
    int fd;
    uint64_t size;
    uint64_t announced; /* the kernel was asked to read up to here */
};

/* A row's way to find the member that begins at `at`. False: something is wrong there, or the headers do not say where
 * the member ends, or it has more than `most` bytes, compressed or as text. */
typedef bool member_finder(struct member_file *f, uint64_t at, uint64_t most, struct member *m);

member_finder zstd_member_find, gzip_member_find;

#endif
