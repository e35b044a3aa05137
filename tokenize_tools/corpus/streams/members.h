/*
 * members.h: finds the end of the next frame or member of a compressed file from its headers, without decompressing it.
 * The end is only a guess, since the file may be damaged: spans.h says why that does no harm.
 */
#ifndef LEAT_TOKENIZE_TOOLS_MEMBERS_H
#define LEAT_TOKENIZE_TOOLS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member {
    uint64_t end;      /* place in the file */
    uint64_t max_text; /* most bytes of text that it has */
    uint64_t window;   /* bytes of memory that decompressing it takes in addition to the text */
};

/* A file whose headers are read in their order. */
struct member_file {
    int fd;
    uint64_t size;
    uint64_t announced; /* the place up to which the kernel was asked to read ahead */
};

/* Finds the member that begins at `at`. Returns false if its headers are wrong or do not say where it ends, or if it
 * has more than `most` bytes, compressed or as text. */
typedef bool member_finder(struct member_file *f, uint64_t at, uint64_t most, struct member *m);

member_finder zstd_member_find, gzip_member_find;

#endif
