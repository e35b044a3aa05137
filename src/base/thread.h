/* thread.h: how the library starts threads of its own inside other people's programs. */
#ifndef LEAT_BASE_THREAD_H
#define LEAT_BASE_THREAD_H

#include <pthread.h>

/* With a stack of `stack` bytes, and no signals: those are the program's. 0, or an errno. */
int thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context);

#endif
