/*
 * fuzz_npy.c: hostile files of NumPy. What is opened has the size that its header says, and each of its rows is read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "corpus/npy.h"
#include "files.h"

FUZZ_TARGET(npy)
{
    struct leat_error err;
    struct npy f;

    files_begin();
    files_write("a.npy", data, size);
    if (npy_open(&f, files_path("a.npy"), &err) == LEAT_OK) {
        uint64_t row_bytes = f.width * f.bytes, all = f.rows * row_bytes;
        uint8_t *out = malloc(all + 1);

        FUZZ_CHECK(out && f.begin + all == size && f.bytes >= 1 && f.bytes <= 8);
        FUZZ_CHECK(all == 0 || npy_read(&f, 0, f.rows, out, &err) == LEAT_OK);
        if (f.swapped)
            bytes_swap_each(out, f.rows * f.width, f.bytes);
        FUZZ_CHECK(all == 0 || memcmp(out, data + f.begin, all) == 0);
        if (f.rows > 0 && row_bytes > 0)
            FUZZ_CHECK(npy_read(&f, f.rows - 1, 1, out, &err) == LEAT_OK);
        free(out);
    }
    npy_close(&f);
    return 0;
}
