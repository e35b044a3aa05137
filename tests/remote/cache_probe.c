/*
 * cache_probe.c: batches of a dataset, which may be a URL, for test_cache.py:
 *
 *   cache_probe NAME ENGINE ACCESS BATCHES [THREADS [WAIT]]
 *
 * prints the hash of each batch, then the statistics about the server; 0 batches: to the end. WAIT: "wait" waits until
 * the cache is complete, "notice" for a notice, which it prints first, and "fork" leaves a child behind, whose number
 * it prints; "online" opens only what the server has; "child" lets a child open the loader; "closed" closes the
 * loader, says so, and keeps the dataset open until its input ends; "narrow" has a ring of two slots, so that little is
 * held at once; "view" looks at the first tokens in their map, and opens no loader; "ordered" takes batches from the
 * first token on, and waits until something has come into the cache. ACCESS: 0 leased, 1 trusted, 2 read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "checksum/checksum.h"
#include "leat.h"

#define SEQ_LEN 512
#define ROWS    8
#define NARROW  2

static uint64_t hash_of(const struct leat_batch *b)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < b->rows; r++) {
        const uint8_t *row = (const uint8_t *)b->tokens + (size_t)r * b->width * b->token_width;

        sum = sum * 31 + checksum_kernels()->hash(row, (size_t)(b->lengths[r] + 1) * b->token_width).low;
    }
    return sum;
}

/* Memory in blocks so large that each has a mapping of its own. */
static unsigned long long mapped(void)
{
#ifdef __GLIBC__
    return mallinfo2().hblkhd;
#else
    return 0;
#endif
}

/* A copy that was complete when it was opened is a file like any other: of 0 bytes in the cache, 0 are here. */
static void print_stats(const struct leat_loader *l)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;

    leat_loader_stats(l, &s);
    printf("engine %s requests %llu bytes %llu share %.3f complete %d evicted %llu mapped %llu\n", s.io.engine,
           (unsigned long long)s.remote.requests, (unsigned long long)s.remote.bytes, s.remote.share,
           s.remote.cached_bytes == s.remote.cache_bytes, (unsigned long long)s.remote.evicted_bytes, mapped());
}

static void print_notices(struct leat_loader *l)
{
    char text[800];

    while (leat_loader_notice(l, text, sizeof text))
        fprintf(stderr, "notice: %s\n", text);
    leat_loader_stats_line(l, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

static void wait_for_cache(const struct leat_loader *l)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    const struct timespec t = { 0, 10000000 };

    do {
        nanosleep(&t, NULL);
        leat_loader_stats(l, &s);
    } while (!s.remote.cache_failed && (s.remote.cached_bytes < s.remote.cache_bytes || s.remote.caching));
}

/* Until it is being filled, and has something. */
static void wait_for_bytes(const struct leat_loader *l)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    const struct timespec t = { 0, 10000000 };

    while (leat_loader_stats(l, &s), !s.remote.caching || s.remote.cached_bytes == 0)
        nanosleep(&t, NULL);
}

static void wait_for_notice(struct leat_loader *l)
{
    const struct timespec t = { 0, 10000000 };
    char text[800];

    while (!leat_loader_notice(l, text, sizeof text))
        nanosleep(&t, NULL);
    fprintf(stderr, "notice: %s\n", text);
}

/* The child has all descriptors, and does nothing. */
static void leave_child(const struct leat_loader *l)
{
    const struct timespec t = { 0, 10000000 };
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    pid_t child;

    while (!s.remote.caching) { /* it has the lock */
        nanosleep(&t, NULL);
        leat_loader_stats(l, &s);
    }
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    fprintf(stderr, "child %d\n", (int)child);
}

static enum leat_status take(struct leat_loader *l, uint64_t batches, struct leat_error *err)
{
    const struct leat_batch *b;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && (batches == 0 || i < batches); i++) {
        s = leat_loader_next(l, &b, err);
        if (s != LEAT_OK)
            break;
        printf("%016llx\n", (unsigned long long)hash_of(b));
        fflush(stdout);
        leat_batch_release(b, NULL);
    }
    return s == LEAT_E_END ? LEAT_OK : s;
}

static enum leat_status wait_for_child(void)
{
    int code = 1;

    wait(&code);
    return code == 0 ? LEAT_OK : LEAT_E_FORKED; /* the child has said why */
}

static enum leat_status view_first(const char *name, const struct leat_open_options *open, struct leat_error *err)
{
    struct leat_dataset *d;
    struct leat_view view;
    enum leat_status s = leat_dataset_open(&d, name, open, err);

    if (s == LEAT_OK)
        s = leat_dataset_view(d, 0, 10, &view, err);
    if (s == LEAT_OK)
        leat_view_release(&view);
    leat_dataset_close(d);
    return s;
}

static enum leat_status run(char **words, uint32_t threads, const char *mode, struct leat_error *err)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options how = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan = NULL;
    struct leat_loader *l = NULL;
    enum leat_status s;

    open.access = (enum leat_access)strtoul(words[2], NULL, 10);
    open.online = strcmp(mode, "online") == 0;
    options.order = strcmp(mode, "ordered") == 0 ? LEAT_ORDER_SEQUENTIAL : LEAT_ORDER_SHUFFLED;
    if (strcmp(mode, "view") == 0)
        return view_first(words[0], &open, err);
    source.name = words[0];
    options.sources = &source;
    options.source_count = 1;
    options.seq_len = SEQ_LEN;
    options.epochs = 1;
    options.open = &open;
    how.batch = ROWS;
    how.io.engine = (enum leat_engine)strtoul(words[1], NULL, 10);
    how.io.threads = threads;
    how.io.slots = strcmp(mode, "narrow") == 0 ? NARROW : 0;
    how.io.apart = LEAT_APART_NEVER;
    s = leat_plan_open(&plan, &options, err);
    if (s == LEAT_OK && strcmp(mode, "child") == 0 && fork() > 0)
        return wait_for_child();
    if (s == LEAT_OK)
        s = leat_loader_open(&l, plan, &how, err);
    if (s == LEAT_OK)
        s = take(l, strtoull(words[3], NULL, 10), err);
    if (s == LEAT_OK && strcmp(mode, "wait") == 0)
        wait_for_cache(l);
    if (s == LEAT_OK && strcmp(mode, "ordered") == 0)
        wait_for_bytes(l);
    if (s == LEAT_OK && strcmp(mode, "notice") == 0)
        wait_for_notice(l);
    if (s == LEAT_OK && strcmp(mode, "fork") == 0)
        leave_child(l);
    if (l)
        print_notices(l);
    if (l)
        print_stats(l);
    leat_loader_close(l);
    if (s == LEAT_OK && strcmp(mode, "closed") == 0) {
        fprintf(stderr, "closed\n");
        (void)getchar();
    }
    leat_plan_close(plan);
    return s;
}

int main(int argc, char **argv)
{
    struct leat_error err = { 0 };
    enum leat_status s;

    if (argc < 5)
        return 2;
    s = run(argv + 1, argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 1, argc > 6 ? argv[6] : "", &err);
    if (s != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(s), err.message);
    return s != LEAT_OK;
}
