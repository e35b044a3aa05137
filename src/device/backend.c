/* backend.c: the table of backends, and the memory that rings are made of. */
#include "backend.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct backend_ops *const table[] = { &backend_host, &backend_cuda };

const struct backend_ops *backend_find(const char *device)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->serves(device))
            return table[i];
    return NULL;
}

#define HUGE_PAGE ((size_t)2 << 20)
#define MAX_NODE  1023

/* Prefers one node; if the kernel refuses, only speed changes. By system call number, so that no library
 * is needed. */
static void place(void *memory, size_t bytes, int node)
{
#if defined(__linux__) && defined(SYS_mbind)
    unsigned long mask[(MAX_NODE + 1) / (8 * sizeof(unsigned long))] = { 0 };

    if (node < 0 || node > MAX_NODE)
        return;
    mask[(size_t)node / (8 * sizeof mask[0])] = 1ul << (size_t)node % (8 * sizeof mask[0]);
    syscall(SYS_mbind, memory, bytes, 1 /* MPOL_PREFERRED */, mask, (unsigned long)MAX_NODE + 1, 0);
#else
    (void)memory;
    (void)bytes;
    (void)node;
#endif
}

uint8_t *backend_map(size_t bytes, int node, bool *huge_pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile uint8_t *touch;
    void *memory;

    *huge_pages = false;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    place(memory, bytes, node);
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
