/* npy.h: reads arrays of numbers, of one or two dimensions, from NumPy's .npy files of versions 1 to 3. */
#ifndef LEAT_CORPUS_NPY_H
#define LEAT_CORPUS_NPY_H

#include <stdbool.h>

#include "leat.h"

struct npy {
    const char *path; /* the caller's */
    int fd;
    uint64_t size, begin; /* bytes of the file; where its numbers begin */
    uint32_t type;        /* enum leat_column_type */
    uint32_t bytes;       /* bytes per number */
    bool swapped;         /* the numbers have the other order of bytes than this machine's */
    uint64_t rows, width; /* width: numbers per row; it may be 0 */
};

/* Opens a file and reads its header. npy_close() must follow, on failure too. */
enum leat_status npy_open(struct npy *f, const char *path, struct leat_error *err);
void npy_close(struct npy *f);

/* Reads rows [row, row + count), which the file must have, in this machine's order of bytes. */
enum leat_status npy_read(const struct npy *f, uint64_t row, uint64_t count, uint8_t *out, struct leat_error *err);

#endif
