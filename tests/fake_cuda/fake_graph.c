/* fake_graph.c: the stand-in's graphs: work that is captured from a stream, and put on one whenever it is launched. */
#include <stdatomic.h>
#include <stdlib.h>

#include "fake_stream.h"

#define CAPTURE_ISOLATION 905

struct cuda_graph_of_driver {
    struct fake_work *first, *last;
};
struct cuda_graph_exec_of_driver {
    struct cuda_graph_of_driver graph;
};

static atomic_int global_captures;
static _Thread_local int own_captures;

bool fake_capture_forbids(void)
{
    return atomic_load(&global_captures) > 0 || own_captures > 0;
}

cuda_result fake_graph_add(cuda_stream s, const struct fake_work *work)
{
    struct fake_work *w;

    if (work->kind == FAKE_WAIT && !work->event->captured)
        return CAPTURE_ISOLATION;
    if (work->kind == FAKE_RECORD)
        work->event->captured = true;
    if (work->kind == FAKE_RECORD || work->kind == FAKE_WAIT)
        return CUDA_OK; /* within one stream */
    w = malloc(sizeof *w);
    if (!w)
        return CUDA_OUT_OF_MEMORY;
    *w = *work;
    w->next = NULL;
    *(s->graph->first ? &s->graph->last->next : &s->graph->first) = w;
    s->graph->last = w;
    return CUDA_OK;
}

cuda_result fake_capture_begin(cuda_stream stream, cuda_capture_mode mode)
{
    cuda_result r = fake_enter("cuStreamBeginCapture", FAKE_CONTEXT);
    cuda_stream s;

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    s = fake_stream_find(stream, "cuStreamBeginCapture");
    if (s) {
        s->graph = calloc(1, sizeof *s->graph);
        s->capture = mode;
        atomic_fetch_add(&global_captures, mode == CUDA_CAPTURE_GLOBAL);
        own_captures += mode != CUDA_CAPTURE_RELAXED;
    }
    pthread_mutex_unlock(&fake_lock);
    return s ? CUDA_OK : CUDA_INVALID_HANDLE;
}

cuda_result fake_capture_end(cuda_stream stream, cuda_graph *graph)
{
    cuda_result r = fake_enter("cuStreamEndCapture", FAKE_CONTEXT);
    cuda_stream s;

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    s = fake_stream_find(stream, "cuStreamEndCapture");
    if (s) {
        atomic_fetch_sub(&global_captures, s->capture == CUDA_CAPTURE_GLOBAL);
        own_captures -= s->capture != CUDA_CAPTURE_RELAXED;
        s->capture = NOT_CAPTURED;
        *graph = s->graph;
        s->graph = NULL;
    }
    pthread_mutex_unlock(&fake_lock);
    return s ? CUDA_OK : CUDA_INVALID_HANDLE;
}

static void free_works(struct fake_work *w)
{
    while (w) {
        struct fake_work *next = w->next;

        free(w);
        w = next;
    }
}

cuda_result fake_graph_instantiate(cuda_graph_exec *exec, cuda_graph graph, unsigned long long flags)
{
    cuda_result r = fake_enter("cuGraphInstantiateWithFlags", FAKE_CONTEXT);

    (void)flags;
    if (r != CUDA_OK)
        return r;
    *exec = calloc(1, sizeof **exec);
    for (struct fake_work *w = graph->first; *exec && w; w = w->next) {
        struct fake_work *copy = malloc(sizeof *copy), **at = &(*exec)->graph.first;

        if (!copy)
            abort();
        *copy = *w;
        copy->next = NULL;
        while (*at)
            at = &(*at)->next;
        *at = copy;
    }
    return *exec ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

cuda_result fake_graph_launch(cuda_graph_exec exec, cuda_stream stream)
{
    cuda_result r = fake_enter("cuGraphLaunch", FAKE_CONTEXT);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    for (struct fake_work *w = exec->graph.first; r == CUDA_OK && w; w = w->next)
        r = fake_put(stream, w);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_graph_exec_destroy(cuda_graph_exec exec)
{
    free_works(exec->graph.first);
    free(exec);
    return CUDA_OK;
}

cuda_result fake_graph_destroy(cuda_graph graph)
{
    free_works(graph->first);
    free(graph);
    return CUDA_OK;
}
