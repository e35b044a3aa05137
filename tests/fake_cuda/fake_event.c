/* fake_event.c: the stand-in's events. What waits for one stands in fake_stream.c, as other work of streams does. */
#include <stdlib.h>

#include "fake_stream.h"

static cuda_event events;

bool fake_is_event(cuda_event event, const char *what)
{
    cuda_event e = events;

    while (e && e != event)
        e = e->next;
    if (e && !e->destroyed)
        return true;
    fake_offence("%s: there is no such event, or it was destroyed", what);
    return false;
}

void fake_event_free(cuda_event event)
{
    cuda_event *at = &events;

    if (!event->destroyed || event->pending > 0)
        return;
    while (*at != event)
        at = &(*at)->next;
    *at = event->next;
    free(event);
}

unsigned fake_events_live(void)
{
    unsigned n = 0;

    for (cuda_event e = events; e; e = e->next)
        n += !e->destroyed;
    return n;
}

unsigned fake_events_drop(cuda_context context)
{
    unsigned n = 0;

    for (cuda_event e = events, next; e; e = next) {
        next = e->next;
        if (e->context != context || e->destroyed)
            continue;
        n++;
        e->destroyed = true;
        fake_event_free(e);
    }
    return n;
}

/* ---- Calls ---- */

cuda_result fake_event_create(cuda_event *event, unsigned flags)
{
    cuda_result r = fake_enter("cuEventCreate", FAKE_CONTEXT);
    cuda_event e;

    (void)flags;
    if (r != CUDA_OK)
        return r;
    e = calloc(1, sizeof *e);
    if (!e)
        return CUDA_OUT_OF_MEMORY;
    pthread_mutex_lock(&fake_lock);
    e->context = fake_current();
    e->next = events;
    events = e;
    pthread_mutex_unlock(&fake_lock);
    *event = e;
    return CUDA_OK;
}

static bool has_happened(cuda_event e)
{
    return e->done >= e->turn;
}

cuda_result fake_event_query(cuda_event event)
{
    cuda_result r = fake_enter("cuEventQuery", FAKE_CONTEXT | FAKE_UNSAFE);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    if (!fake_is_event(event, "cuEventQuery"))
        r = CUDA_INVALID_HANDLE;
    else if (event->captured)
        r = CUDA_CAPTURED_EVENT;
    else if (event->context->broken != CUDA_OK)
        r = event->context->broken;
    else if (!has_happened(event))
        r = CUDA_NOT_READY;
    else
        fake_clock_join(&fake_host_clock, &event->clock);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_event_synchronize(cuda_event event)
{
    cuda_result r = fake_enter("cuEventSynchronize", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    if (!fake_is_event(event, "cuEventSynchronize")) {
        r = CUDA_INVALID_HANDLE;
    } else {
        while (!has_happened(event))
            pthread_cond_wait(&fake_changed, &fake_lock);
        fake_clock_join(&fake_host_clock, &event->clock);
        r = event->context->broken;
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_event_destroy(cuda_event event)
{
    cuda_result r = fake_enter("cuEventDestroy", FAKE_CONTEXT | FAKE_ENDS);

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    if (fake_is_event(event, "cuEventDestroy")) {
        event->destroyed = true;
        fake_event_free(event);
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_event_elapsed(float *ms, cuda_event first, cuda_event last)
{
    cuda_result r = fake_enter("cuEventElapsedTime", FAKE_CONTEXT);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    if (first->done < first->turn || last->done < last->turn)
        r = CUDA_NOT_READY;
    else
        *ms = (float)((double)(last->done_ns - first->done_ns) / 1e6);
    pthread_mutex_unlock(&fake_lock);
    return r;
}
