/* input_wait.c: see input_wait.h. */
#include "input_wait.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"

#define WAIT_MS   100
#define SELDOM_NS ((uint64_t)100000000)

enum leat_status input_wait_read(int fd, const uint64_t *at, const struct input_stop *stop, const char *name, void *out,
                                 size_t room, size_t *got, struct leat_error *err)
{
    bool wait = !at && stop; /* a read that nobody stops may wait by itself */

    *got = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t count;

        if (stop && stop->asked(stop->context))
            return status_set(err, LEAT_E_STOPPED, "reading %s was stopped", name);
        if (wait && poll(&p, 1, WAIT_MS) == 0)
            continue;
        count = at ? pread(fd, out, room, (off_t)*at) : read(fd, out, room);
        if (count >= 0) {
            *got = (size_t)count;
            return LEAT_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return status_set_os(err, errno, "cannot read %s", name);
        wait = wait || errno == EAGAIN; /* it is set not to wait */
    }
}

static bool ask_seldom(void *context)
{
    struct seldom_stop *s = context;
    uint64_t now = clock_ns();

    if (!s->of->asked || now - s->asked_ns < SELDOM_NS)
        return false;
    s->asked_ns = now;
    return s->of->asked(s->of->context);
}

struct input_stop seldom_stop(struct seldom_stop *s, const struct input_stop *of)
{
    *s = (struct seldom_stop) { of, clock_ns() };
    return (struct input_stop) { ask_seldom, s };
}
