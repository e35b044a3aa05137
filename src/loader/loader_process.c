/*
 * loader_process.c: which process a loader works in. A child after fork() has the parent's memory, but not its threads
 * and reads. The kernel wipes a page of guard memory in a child, which costs nothing to look at; where it cannot, the
 * process's number is compared.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"
#include "loader.h"

void loader_process_open(struct leat_loader *l)
{
    l->process.owner = getpid();
#if defined(MADV_WIPEONFORK)
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return;
    if (madvise(memory, page, MADV_WIPEONFORK) != 0) {
        munmap(memory, page);
        return;
    }
    l->process.guard = memory;
    *l->process.guard = 1;
#endif
}

void loader_process_close(struct leat_loader *l)
{
    if (l->process.guard)
        munmap(l->process.guard, (size_t)sysconf(_SC_PAGESIZE));
}

bool loader_forked(const struct leat_loader *l)
{
    return l->process.guard ? *(volatile uint32_t *)l->process.guard == 0 : getpid() != l->process.owner;
}

enum leat_status loader_check_process(const struct leat_loader *l, struct leat_error *err)
{
    if (!loader_forked(l))
        return LEAT_OK;
    return status_set(err, LEAT_E_FORKED,
                      "this loader belongs to another process: it does not work after fork; open one in each process");
}
