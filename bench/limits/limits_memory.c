/* limits_memory.c: the ceilings of memory: copying, and widening 16-bit tokens to 64 bits. */
#include <string.h>

#include "bench/measure/kernels.h"
#include "bench/measure/parallel.h"
#include "limits.h"

/* Thread `index`'s share [*first, *first + *count) of `all`, in multiples of 64. */
static void share(size_t all, unsigned threads, unsigned index, size_t *first, size_t *count)
{
    size_t each = all / threads / 64 * 64;

    *first = each * index;
    *count = index + 1 == threads ? all - *first : each;
}

static void copy_share(void *context, unsigned index)
{
    struct limits_case *c = context;
    size_t first, count;

    share(c->limits->buffer_bytes, c->threads, index, &first, &count);
    memcpy(c->limits->to + first, c->limits->from + first, count);
}

static bool run_copy(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    work->bytes = c->limits->buffer_bytes;
    return parallel_run(c->threads, copy_share, c) || limits_refuse(work, "a thread could not be started", 0);
}

static void widen_share(void *context, unsigned index)
{
    struct limits_case *c = context;
    size_t first, count;

    share(c->limits->buffer_bytes / sizeof(int64_t), c->threads, index, &first, &count);
    bench_kernels()->widen((int64_t *)(void *)c->limits->to + first, (uint16_t *)(void *)c->limits->from + first,
                           count);
}

static bool run_widen(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    work->bytes = c->limits->buffer_bytes;
    work->items = c->limits->buffer_bytes / sizeof(int64_t);
    snprintf(work->note, sizeof work->note, "bytes written; %s", bench_kernels()->name);
    return parallel_run(c->threads, widen_share, c) || limits_refuse(work, "a thread could not be started", 0);
}

bool limits_memory(struct limits_group *g, struct limits *l)
{
    struct limits_case one = { .limits = l, .threads = 1 };
    struct limits_case all = { .limits = l, .threads = l->cores };

    g->title = "memory";
    g->key = "memory";
    limits_add(g, "memcpy, 1 thread", NULL, one, run_copy);
    if (l->cores > 1)
        limits_add(g, "memcpy, all threads", NULL, all, run_copy);
    limits_add(g, "widen u16 to i64, 1 thread", "token", one, run_widen);
    if (l->cores > 1)
        limits_add(g, "widen u16 to i64, all threads", "token", all, run_widen);
    return true;
}
