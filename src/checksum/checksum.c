/* checksum.c: has the table of checksum kernels, and stores hashes as files hold them. */
#include "checksum.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

extern const struct checksum_kernels checksum_row_plain;
#if defined(__x86_64__)
extern const struct checksum_kernels checksum_row_avx2, checksum_row_avx512;
#endif

/* The kernels, fastest first; the last one needs nothing, so it ends every search. */
static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &checksum_row_avx512 },
    { CPU_AVX2, &checksum_row_avx2 },
#endif
    { CPU_PLAIN, &checksum_row_plain },
};

const struct checksum_kernels *checksum_kernels(void)
{
    return cpu_choose(rows);
}

const struct checksum_kernels *checksum_row(unsigned number, int *usable)
{
    return cpu_row(rows, sizeof rows / sizeof rows[0], number, usable);
}

void checksum_store(uint8_t out[16], struct hash128 h)
{
    bytes_store64(out, h.low);
    bytes_store64(out + 8, h.high);
}

struct hash128 checksum_load(const uint8_t in[16])
{
    return (struct hash128) { bytes_load64(in), bytes_load64(in + 8) };
}

/* ---- Sums of pages ----------------------------------------------------------------------------------------------- */

#define READ_BYTES TINY_OR((size_t)8 << 10, (size_t)256 << 10)

void page_sum_begin(struct page_sum *sum, uint64_t pages, struct hash128 whole)
{
    sum->kernels = checksum_kernels();
    sum->whole = whole;
    sum->bytes = pages * CHECKSUM_PAGE;
}

void page_sum_add(struct page_sum *sum, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t held = (size_t)(sum->bytes % CHECKSUM_PAGE), part;
        uint64_t page = sum->bytes / CHECKSUM_PAGE;

        if (held == 0 && count >= CHECKSUM_PAGE) {
            part = count - count % CHECKSUM_PAGE;
            sum->kernels->pages(&sum->whole, from, part, page, NULL);
        } else {
            part = CHECKSUM_PAGE - held < count ? CHECKSUM_PAGE - held : count;
            memcpy(sum->page + held, from, part);
            if (held + part == CHECKSUM_PAGE)
                sum->kernels->pages(&sum->whole, sum->page, CHECKSUM_PAGE, page, NULL);
        }
        sum->bytes += part;
        from += part;
        count -= part;
    }
}

enum leat_status page_sum_add_file(struct page_sum *sum, int fd, uint64_t offset, uint64_t count, const char *path,
                                   struct leat_error *err)
{
    uint8_t *buffer = file_buffer(READ_BYTES);
    enum leat_status s = buffer ? LEAT_OK : status_no_memory(err, READ_BYTES);

    while (s == LEAT_OK && count > 0) {
        size_t here = count < READ_BYTES ? (size_t)count : READ_BYTES;

        s = file_read_at(fd, offset, buffer, here, path, err);
        if (s == LEAT_OK)
            page_sum_add(sum, buffer, here);
        offset += here;
        count -= here;
    }
    free(buffer);
    return s;
}

struct hash128 page_sum_now(const struct page_sum *sum)
{
    struct hash128 all = sum->whole;

    sum->kernels->pages(&all, sum->page, (size_t)(sum->bytes % CHECKSUM_PAGE), sum->bytes / CHECKSUM_PAGE, NULL);
    return all;
}
