/* limits_group.c: adds cases to a group, and gives them memory. */
#include <string.h>
#include <sys/mman.h>

#include "limits.h"

void limits_add(struct limits_group *g, const char *name, const char *item, struct limits_case context,
                bool (*run)(void *context, struct contest_work *work))
{
    struct limits_case *kept = &g->contexts[g->count];
    struct contest_case *c = &g->cases[g->count++];

    *kept = context;
    c->name = name;
    c->item = item;
    c->context = kept;
    c->run = run;
}

bool limits_refuse(struct contest_work *work, const char *what, int os_error)
{
    return os_error == 0 ? contest_refuse(work, "%s", what) : contest_refuse(work, "%s (%s)", what, strerror(os_error));
}

void *limits_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* A failure does no harm: without huge pages it is a little slower. */
    memset(memory, 1, bytes);
    return memory;
}

void limits_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
