/*
 * limits_uring.c: random reads with many in flight, by io_uring with registered buffers. Without liburing, or if the
 * kernel refuses a ring (as in most containers), the row says so.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench/measure/parallel.h"
#include "cli/cli.h"
#include "limits.h"

#if defined(LEAT_HAVE_URING) && LEAT_HAVE_URING

#include <liburing.h>

/* A ring with its buffers, one for each read in flight. */
struct deep {
    const struct limits_case *c;
    struct contest_work *work;
    struct io_uring ring;
    uint8_t *buffers;
    bool registered;
    unsigned in_flight;
};

static void put_read(struct deep *d, unsigned slot)
{
    struct limits *l = d->c->limits;
    uint64_t places = (l->file_bytes - d->c->block) / LIMITS_ALIGN + 1;
    uint64_t at = parallel_random(&l->seed) % places * LIMITS_ALIGN;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&d->ring);
    uint8_t *buffer = d->buffers + (size_t)slot * d->c->block;

    if (!sqe)
        return; /* cannot happen: the ring has a place for each slot */
    if (d->registered)
        io_uring_prep_read_fixed(sqe, l->direct, buffer, (unsigned)d->c->block, at, 0);
    else
        io_uring_prep_read(sqe, l->direct, buffer, (unsigned)d->c->block, at);
    io_uring_sqe_set_data(sqe, (void *)(uintptr_t)slot);
    d->in_flight++;
}

/* Takes what has finished; until that is enough, a new read follows each. */
static bool reap(struct deep *d, bool again)
{
    struct io_uring_cqe *cqe;
    unsigned head, taken = 0;
    int failed = 0;

    io_uring_for_each_cqe(&d->ring, head, cqe)
    {
        taken++;
        d->in_flight--;
        if (cqe->res != (int)d->c->block) {
            failed = cqe->res < 0 ? -cqe->res : EIO;
            continue;
        }
        d->work->items++;
        d->work->bytes += d->c->block;
        if (again)
            put_read(d, (unsigned)(uintptr_t)io_uring_cqe_get_data(cqe));
    }
    io_uring_cq_advance(&d->ring, taken);
    return failed == 0 || limits_refuse(d->work, "a read of the ring failed", failed);
}

static bool read_deep(struct deep *d)
{
    double began = cli_now(), until = began + LIMITS_RUN_SECONDS;
    bool ok = true;

    for (unsigned slot = 0; slot < d->c->depth; slot++)
        put_read(d, slot);
    while (d->in_flight > 0) {
        int r = io_uring_submit_and_wait(&d->ring, 1);

        if (r < 0 && r != -EINTR)
            return limits_refuse(d->work, "io_uring_enter", -r);
        ok = reap(d, ok && cli_now() < until && d->work->bytes < d->c->limits->file_bytes) && ok;
    }
    d->work->seconds = cli_now() - began;
    return ok;
}

bool limits_uring_reads(const struct limits_case *c, struct contest_work *work)
{
    struct deep d = { .c = c, .work = work };
    struct iovec whole;
    int r = io_uring_queue_init(c->depth, &d.ring, 0);
    bool ok;

    if (r < 0)
        return limits_refuse(work, "this system refuses io_uring", -r);
    whole.iov_len = (size_t)c->depth * c->block;
    whole.iov_base = d.buffers = limits_map(whole.iov_len);
    if (!d.buffers) {
        io_uring_queue_exit(&d.ring);
        return limits_refuse(work, "no memory for the buffers", 0);
    }
    d.registered = io_uring_register_buffers(&d.ring, &whole, 1) == 0;
    if (!d.registered)
        snprintf(work->note, sizeof work->note, "buffers not registered: raise the limit of locked memory (ulimit -l)");
    ok = read_deep(&d);
    io_uring_queue_exit(&d.ring);
    limits_unmap(d.buffers, whole.iov_len);
    return ok;
}

#else

bool limits_uring_reads(const struct limits_case *c, struct contest_work *work)
{
    (void)c;
    return limits_refuse(work, "this leat-bench was not built with liburing", 0);
}

#endif
