/*
 * memory.h: how much memory the library has taken, counted at each allocation, so that an input gives the same numbers
 * each time. Included by one file of a program.
 *
 * Under libFuzzer the sanitizer, if there is one, tells of all allocations; else the linker sends those of the library
 * here (MEMORY_WRAP of tests/fuzz.mk), without those of zstd and PCRE2.
 */
#ifndef LEAT_TESTS_FUZZ_MEMORY_H
#define LEAT_TESTS_FUZZ_MEMORY_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What libc allocates may be freed by others, and is not counted: so these have signs. */
static int64_t memory_held, memory_peak;

static inline void memory_take(size_t bytes)
{
    memory_held += (int64_t)bytes;
    memory_peak = memory_held > memory_peak ? memory_held : memory_peak;
}

#if defined FUZZ_ENGINE && !defined FUZZ_PLAIN

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static void memory_on_malloc(const volatile void *p, size_t bytes)
{
    memory_take(p ? bytes : 0);
}

static void memory_on_free(const volatile void *p)
{
    memory_held -= p ? (int64_t)__sanitizer_get_allocated_size(p) : 0;
}

__attribute__((constructor)) static void memory_count(void)
{
    __sanitizer_install_malloc_and_free_hooks(memory_on_malloc, memory_on_free);
}

#else

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_reallocarray(void *p, size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t most);
void __real_free(void *p);

static inline void *memory_taken(void *p)
{
    memory_take(malloc_usable_size(p));
    return p;
}

#define MEMORY_WRAP(type, name, parameters, arguments)                                                                 \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return memory_taken(__real_##name arguments);                                                                  \
    }
MEMORY_WRAP(void *, malloc, (size_t bytes), (bytes))
MEMORY_WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
MEMORY_WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
MEMORY_WRAP(char *, strdup, (const char *text), (text))
MEMORY_WRAP(char *, strndup, (const char *text, size_t most), (text, most))

/* Both blocks are there while one is copied. */
#define MEMORY_WRAP_AGAIN(name, parameters, arguments)                                                                 \
    void *__wrap_##name parameters;                                                                                    \
    void *__wrap_##name parameters                                                                                     \
    {                                                                                                                  \
        int64_t before = (int64_t)malloc_usable_size(p);                                                               \
        void *q = __real_##name arguments;                                                                             \
                                                                                                                       \
        memory_take(malloc_usable_size(q));                                                                            \
        memory_held -= q ? before : 0;                                                                                 \
        return q;                                                                                                      \
    }
MEMORY_WRAP_AGAIN(realloc, (void *p, size_t bytes), (p, bytes))
MEMORY_WRAP_AGAIN(reallocarray, (void *p, size_t count, size_t bytes), (p, count, bytes))

void __wrap_free(void *p);
void __wrap_free(void *p)
{
    memory_held -= (int64_t)malloc_usable_size(p);
    __real_free(p);
}

#endif

/* From here on peaks count. Returns what is held now. */
static inline int64_t memory_begin(void)
{
    memory_peak = memory_held;
    return memory_held;
}

/* The most that was held since, above that. */
static inline uint64_t memory_grown(int64_t begin)
{
    return (uint64_t)(memory_peak - begin);
}

#endif
