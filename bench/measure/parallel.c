/* parallel.c: see parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>

struct member {
    void (*work)(void *context, unsigned index);
    void *context;
    unsigned index;
    pthread_t thread;
    bool started;
};

static void *member_main(void *argument)
{
    struct member *m = argument;

    m->work(m->context, m->index);
    return NULL;
}

bool parallel_run(unsigned threads, void (*work)(void *context, unsigned index), void *context)
{
    struct member *members = calloc(threads, sizeof *members);
    bool ok = members != NULL;

    if (!ok)
        return false;
    for (unsigned i = 1; i < threads; i++) {
        members[i] = (struct member) { .work = work, .context = context, .index = i };
        members[i].started = pthread_create(&members[i].thread, NULL, member_main, &members[i]) == 0;
        ok = ok && members[i].started;
    }
    work(context, 0);
    for (unsigned i = 1; i < threads; i++)
        if (members[i].started)
            pthread_join(members[i].thread, NULL);
    free(members);
    return ok;
}
