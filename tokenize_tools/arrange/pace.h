/*
 * pace.h: progress: calls the caller's function from time to time with how much is done; it may stop the work.
 */
#ifndef LEAT_ARRANGE_PACE_H
#define LEAT_ARRANGE_PACE_H

#include "base/status.h"
#include "base/tiny.h"
#include "leat_pack.h"

#define PACE_BYTES TINY_OR((uint64_t)64, (uint64_t)1 << 20) /* between two calls */
#define PACE_STEPS 4096u

struct pace {
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done, total, bytes; /* bytes of tokens; `bytes`: since the last call */
    unsigned steps;              /* likewise */
};

static inline enum leat_status pace_call(struct pace *p, struct leat_error *err)
{
    p->done += p->bytes;
    p->bytes = 0;
    p->steps = 0;
    if (p->progress && p->progress(p->context, p->done, p->total) != 0)
        return status_set(err, LEAT_E_STOPPED, "merging was stopped");
    return LEAT_OK;
}

/* After some work: `bytes` of tokens, which may be none. */
static inline enum leat_status pace_step(struct pace *p, uint64_t bytes, struct leat_error *err)
{
    p->bytes += bytes;
    p->steps++;
    return p->bytes >= PACE_BYTES || p->steps >= PACE_STEPS ? pace_call(p, err) : LEAT_OK;
}

#endif
