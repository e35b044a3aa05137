/*
 * test_pack_schedules.c: whatever the order in which threads get on, they pack the bytes of one thread. They stop at
 * random before a lock and after it, for a moment or for longer, so that units end in every order: documents of one
 * byte, documents of many pages, units that end inside a page, frames that several of them fill. 60 runs, or
 * LEAT_TEST_SOAK=10000 of them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <zstd.h>

#include "leat_pack.h"
#include "own_mounts.h"
#include "small.h"

#define INPUTS    3
#define DOCUMENTS 150 /* of each */

/* A sanitizer of threads must see the locks themselves. */
#if defined(__SANITIZE_THREAD__)
#define DISTURB 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DISTURB 0
#endif
#endif
#ifndef DISTURB
#define DISTURB 1
#endif

#if DISTURB

static _Atomic uint64_t turns;
static _Atomic bool disturbed;

static void hesitate(void)
{
    uint64_t random = ++turns * 0x9e3779b97f4a7c15u;
    struct timespec moment = { 0, (long)(random >> 48) };

    if (!disturbed)
        return;
    random ^= random >> 29;
    random *= 0xbf58476d1ce4e5b9u;
    switch (random >> 56) {
    case 0:
        moment.tv_nsec *= 10;
        /* fall through */
    case 1:
    case 2:
    case 3:
        nanosleep(&moment, NULL);
        break;
    default:
        if (random >> 62 == 1)
            sched_yield();
    }
}

static int call(const char *name, pthread_mutex_t *m)
{
    int (*real)(pthread_mutex_t *);
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(&real, &symbol, sizeof symbol);
    return real(m);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    hesitate();
    return call("pthread_mutex_lock", m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    int r = call("pthread_mutex_unlock", m);

    hesitate();
    return r;
}

#endif

static const char *folder;
static char names[INPUTS][600];
static const char *inputs[INPUTS] = { names[0], names[1], names[2] };

static unsigned length_of(uint64_t *random)
{
    switch (t_below(random, 12)) {
    case 0:
        return (unsigned)t_below(random, 30000);
    case 1:
        return 2047 + (unsigned)t_below(random, 3); /* a page */
    default:
        return (unsigned)t_below(random, 3);
    }
}

/* Several threads decompress frames. */
static void compress_frames(const char *path)
{
    static char text[1 << 20], frame[ZSTD_COMPRESSBOUND(4096)];
    FILE *f = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text, f);

    f = freopen(path, "w", f);
    for (size_t at = 0; at < size; at += 4096)
        fwrite(frame, 1, ZSTD_compress(frame, sizeof frame, text + at, size - at < 4096 ? size - at : 4096, 1), f);
    fclose(f);
}

static void write_inputs(uint64_t *random)
{
    for (unsigned i = 0; i < INPUTS; i++) {
        FILE *f;

        snprintf(names[i], sizeof names[i], "%s/%u.jsonl%s", folder, i, i == INPUTS - 1 ? ".zst" : "");
        f = fopen(names[i], "w");
        for (unsigned k = 0; k < DOCUMENTS; k++) {
            fprintf(f, "{\"id\":\"%u\",\"text\":\"", k * 7919);
            for (unsigned left = length_of(random); left > 0; left--)
                fputc('a' + (int)t_below(random, 26), f);
            fputs("\"}\n", f);
        }
        fclose(f);
    }
    compress_frames(names[INPUTS - 1]);
}

static void pack(const char *name, const struct leat_tokenizer *tokenizer, unsigned threads)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = 1;
    o.threads = threads;
    T_OK(leat_pack(name, inputs, INPUTS, &o, NULL, &t_err));
}

int main(void)
{
    uint64_t random = t_seed();
    const char *soak = getenv("LEAT_TEST_SOAK");
    uint64_t runs = soak ? strtoull(soak, NULL, 0) : T_SANITIZED ? 20 : 60;
    struct leat_tokenizer *tokenizer;
    char alone[600], crowd[600];

    folder = memory_folder();
    snprintf(alone, sizeof alone, "%s/alone", folder);
    snprintf(crowd, sizeof crowd, "%s/crowd", folder);
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    for (uint64_t i = 0; i < runs && t_failures == 0; i++) {
        if (i % 10 == 0) {
            write_inputs(&random);
            pack(alone, tokenizer, 1);
        }
#if DISTURB
        disturbed = true;
#endif
        pack(crowd, tokenizer, 2 + (unsigned)t_below(&random, 7));
#if DISTURB
        disturbed = false;
#endif
        T_CHECK(same_dataset(alone, crowd));
        if (t_failures > 0)
            fprintf(stderr, "  in run %" PRIu64 "\n", i);
    }
    leat_tokenizer_close(tokenizer);
    return t_end();
}
