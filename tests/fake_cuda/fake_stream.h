/* fake_stream.h: the stand-in's streams, events and graphs, for fake_stream.c, which does their work, fake_event.c and
 * fake_graph.c. */
#ifndef LEAT_TESTS_FAKE_STREAM_H
#define LEAT_TESTS_FAKE_STREAM_H

#include "fake.h"

#define NOT_CAPTURED (-1)

struct cuda_stream_of_driver {
    cuda_context context;
    unsigned index; /* of its clock */
    struct fake_clock clock;
    struct fake_work *first, *last;
    bool busy, stop;
    uint64_t random;
    int capture;   /* its mode, or NOT_CAPTURED */
    bool blocking; /* the default stream waits for it, so that nothing may happen there while it is captured */
    struct cuda_graph_of_driver *graph;
    pthread_t thread;
    pthread_cond_t wanted; /* work has come, or `stop`: its thread alone waits for that */
    struct cuda_stream_of_driver *next;
};

struct cuda_event_of_driver {
    cuda_context context;
    uint64_t turn, done; /* how often it was recorded, and the last one that has happened */
    uint64_t done_ns;
    struct fake_clock clock;
    unsigned pending; /* work that knows it */
    bool destroyed, captured;
    struct cuda_event_of_driver *next;
};

/* With the lock; NULL, and an offence, if no stream has this handle. */
cuda_stream fake_stream_find(cuda_stream stream, const char *what);

/* Events (fake_event.c), with the lock. Dropped with their context; says how many there were. */
bool fake_is_event(cuda_event event, const char *what);
unsigned fake_events_live(void);
unsigned fake_events_drop(cuda_context context);
/* When nothing knows a destroyed event any more. */
void fake_event_free(cuda_event event);

/* Puts a copy of `work` into the graph that is captured from a stream (fake_graph.c). */
cuda_result fake_graph_add(cuda_stream stream, const struct fake_work *work);

#endif
