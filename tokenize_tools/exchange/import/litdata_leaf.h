/* litdata_leaf.h: how litdata stores a leaf of its items, by its entry in data_format. */
#ifndef LEAT_LITDATA_LEAF_H
#define LEAT_LITDATA_LEAF_H

#include "import.h"

/* How the leaf that holds ids is stored. */
enum leaf {
    LEAF_IDS,    /* nothing but ids of one type */
    LEAF_TENSOR, /* its type and shape first, big-endian */
    LEAF_ARRAY,  /* the same, little-endian */
    LEAF_LIST    /* in the Arrow file */
};

/* By litdata's numbers for types: of torch, and of NumPy. NULL: not integers. */
const struct import_dtype *litdata_torch_dtype(uint64_t number);
const struct import_dtype *litdata_numpy_dtype(uint64_t number);

/* NAME or NAME:NUMBER. False: no leaf of ids. Sets *dtype for LEAF_IDS; the others say it in each item. */
bool litdata_parse_leaf(const void *format, size_t size, enum leaf *leaf, const struct import_dtype **dtype);

#endif
