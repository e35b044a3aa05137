/* cpu_limit.c: see cpu_limit.h. */
#include "support/cpu_limit.h"

#include <stdatomic.h>

/* the library's function under another name */
static enum cpu_level library_level(void);
#define cpu_level(none) library_level(none)
#include "base/cpu.c"
#undef cpu_level

static atomic_int limit = CPU_MAX;

void cpu_limit(enum cpu_level max)
{
    atomic_store(&limit, (int)max);
}

enum cpu_level cpu_level(void)
{
    enum cpu_level level = library_level(), max = (enum cpu_level)atomic_load(&limit);

    return level < max ? level : max;
}
