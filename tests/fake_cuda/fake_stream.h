/* fake_stream.h: the stand-in's streams and events, for fake_stream.c, which does their work, and fake_timed.c, which
 * only times it. */
#ifndef LEAT_TESTS_FAKE_STREAM_H
#define LEAT_TESTS_FAKE_STREAM_H

#include "fake.h"

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

/* When nothing knows a destroyed event any more. */
void fake_event_free(cuda_event event);

/* In virtual time (fake_timed.c), with the lock: */
void fake_timed_put(cuda_stream stream, const struct fake_work *work);
bool fake_timed_is_done(cuda_stream stream);
bool fake_timed_has_happened(cuda_event event);
/* Sleeps until all work of a stream is done (NULL: until an event's record is); lets go of the lock meanwhile. */
void fake_timed_await(cuda_stream stream, cuda_event event);

#endif
