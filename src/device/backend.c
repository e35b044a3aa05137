/* backend.c: the table of backends, and the memory that rings are made of. */
#include "backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/numa.h"

static const struct backend_ops *const table[] = { &backend_host, &backend_cuda };

const struct backend_ops *backend_find(const char *device)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->serves(device))
            return table[i];
    return NULL;
}

enum leat_status backend_copy_values(struct backend *b, unsigned slot, const struct backend_values *v,
                                     backend_copy *copy, void *stream, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (v->rows == v->to_rows && v->row_bytes == v->to_row_bytes)
        return copy(b, slot, v->at, v->to, v->rows * v->row_bytes, stream, err);
    for (uint64_t row = 0; s == LEAT_OK && row < v->to_rows; row++) {
        uint64_t at = row < v->rows ? v->row_bytes : 0;
        uint8_t *to = v->to + row * v->to_row_bytes;

        if (at > 0)
            s = copy(b, slot, v->at + (size_t)(row * v->row_bytes), to, at, stream, err);
        for (uint64_t here; s == LEAT_OK && at < v->to_row_bytes; at += here) {
            here = v->to_row_bytes - at < v->padding_bytes ? v->to_row_bytes - at : v->padding_bytes;
            s = copy(b, slot, v->padding_at, to + at, here, stream, err);
        }
    }
    return s;
}

#define HUGE_PAGE ((size_t)2 << 20)

uint8_t *backend_map(size_t bytes, int node, bool *huge_pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile uint8_t *touch;
    void *memory;

    *huge_pages = false;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    numa_place_memory(memory, bytes, node);
#if defined(MADV_HUGEPAGE)
    *huge_pages = bytes >= HUGE_PAGE && madvise(memory, bytes, MADV_HUGEPAGE) == 0;
#endif
    touch = memory;
    for (size_t at = 0; at < bytes; at += page)
        touch[at] = 0;
    return memory;
}

void backend_unmap(uint8_t *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
