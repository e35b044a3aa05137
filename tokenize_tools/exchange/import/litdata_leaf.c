/* litdata_leaf.c: see litdata_leaf.h. */
#include "litdata_leaf.h"

#include <string.h>

const struct import_dtype *litdata_torch_dtype(uint64_t number)
{
    static const char *const names[21] = {
        [11] = "uint8", [12] = "int8",  [13] = "int16", [14] = "int16", [15] = "int32",
        [16] = "int32", [17] = "int64", [18] = "int64", [20] = "uint16"
    };

    return number < 21 && names[number] ? import_dtype(names[number], strlen(names[number])) : NULL;
}

const struct import_dtype *litdata_numpy_dtype(uint64_t number)
{
    static const char *const names[8] = { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64" };

    return number < 8 ? import_dtype(names[number], strlen(names[number])) : NULL;
}

bool litdata_parse_leaf(const void *format, size_t size, enum leaf *leaf, const struct import_dtype **dtype)
{
    const char *text = format, *colon = memchr(text, ':', size);
    size_t length = colon ? (size_t)(colon - text) : size;
    uint64_t number = 0;

    for (size_t i = length + 1; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || size - length > 4)
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    *leaf = LEAF_IDS;
    if (colon && length == 16 && memcmp(text, "no_header_tensor", 16) == 0)
        *dtype = litdata_torch_dtype(number);
    else if (colon && length == 15 && memcmp(text, "no_header_numpy", 15) == 0)
        *dtype = litdata_numpy_dtype(number);
    else if (!colon && length == 6 && memcmp(text, "tensor", 6) == 0)
        *leaf = LEAF_TENSOR;
    else if (!colon && length == 5 && memcmp(text, "numpy", 5) == 0)
        *leaf = LEAF_ARRAY;
    else
        *leaf = LEAF_LIST;
    return *leaf == LEAF_TENSOR || *leaf == LEAF_ARRAY || *dtype;
}
