/*
 * test_pack_schedules.c: whatever the order in which threads get on, they pack the bytes of one thread. They stop at
 * random around locks and conditions, since the linker puts the functions below in the place of the library's calls
 * (tests/pack/pack.mk); in every third run the process is killed at such a place, and what resumes writes the same
 * bytes. Runs with bytes and with gpt2 take turns, 15 of them, or LEAT_TEST_SOAK (`make check-schedules`).
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <zstd.h>

#include "leat_pack.h"
#include "small.h"

#define INPUTS    4
#define DOCUMENTS 150   /* of each of lines */
#define LONG_TEXT 70000 /* bytes of the last input, which is one document */
#define MAX_KILLS 4

/* ---- Hesitating ---- */

static _Atomic uint64_t turns;
static uint64_t last_turn; /* in which the process is killed; 0: it is not */
static unsigned wild;      /* pauses come this many times twice as often */
static _Atomic bool disturbed;

static void pause_for(long ns)
{
    struct timespec moment = { 0, ns };

    nanosleep(&moment, NULL);
}

static void hesitate(void)
{
    uint64_t turn, random;

    if (!disturbed)
        return;
    turn = ++turns;
    if (turn == last_turn)
        kill(getpid(), SIGKILL);
    random = turn * 0x9e3779b97f4a7c15u;
    random ^= random >> 29;
    random *= 0xbf58476d1ce4e5b9u;
    if (random >> (48 + wild) == 0)
        pause_for(3000000);
    else if (random >> (52 + wild) == 0)
        pause_for((long)(random & 0x7ffff));
    else if (random >> (54 + wild) == 0)
        pause_for((long)(random & 0xffff));
    else if ((random & 31) == 0)
        sched_yield();
}

#define BEFORE(type, name, parameters, arguments)                                                                      \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        hesitate();                                                                                                    \
        return __real_##name arguments;                                                                                \
    }

BEFORE(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
BEFORE(int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
BEFORE(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
BEFORE(int, pthread_cond_signal, (pthread_cond_t * c), (c))
BEFORE(int, pthread_cond_broadcast, (pthread_cond_t * c), (c))

int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    int r = __real_pthread_mutex_unlock(m);

    hesitate();
    return r;
}

/* ---- What is packed ---- */

static const char *folder;
static char names[INPUTS][600];

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

static void put_letters(FILE *f, unsigned count, uint64_t *random)
{
    while (count-- > 0)
        fputc('a' + (int)t_below(random, 26), f);
}

static void write_inputs(uint64_t *random)
{
    static const char *const suffixes[INPUTS] = { "jsonl", "jsonl", "jsonl.zst", "txt" };

    for (unsigned i = 0; i < INPUTS; i++) {
        FILE *f;

        snprintf(names[i], sizeof names[i], "%s/%u.%s", folder, i, suffixes[i]);
        f = fopen(names[i], "w");
        if (i == INPUTS - 1)
            put_letters(f, LONG_TEXT, random);
        for (unsigned k = 0; i < INPUTS - 1 && k < DOCUMENTS; k++) {
            fprintf(f, "{\"id\":\"%u\",\"text\":\"", k * 7919);
            put_letters(f, length_of(random), random);
            fputs("\"}\n", f);
        }
        fclose(f);
    }
    compress_frames(names[2]);
}

/* ---- Packing ---- */

static const char *inputs[INPUTS] = { names[0], names[1], names[2], names[3] };
static const char *tokenizer;
static enum leat_write way;

/* Counted by processes that are killed. */
struct counts {
    uint64_t killed, resumed;
};
static struct counts *counts;

static bool met(uint64_t runs)
{
    return counts->killed > runs / 10 && counts->resumed > 0;
}

static uint32_t note_resumed(void *context, const struct leat_pack_progress *p)
{
    (void)context;
    counts->resumed += p->bytes_before > 0 && p->bytes == p->bytes_before;
    return 0;
}

static void pack(const char *name, unsigned threads, bool resume)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_tokenizer *t;

    T_OK(leat_tokenizer_open(&t, tokenizer, NULL, &t_err)); /* anew: it has met no words */
    o.tokenizer = t;
    o.end_token = 256;
    o.force = !resume;
    o.resume = resume;
    o.threads = threads;
    o.progress = note_resumed;
    o.write = way;
    T_OK(leat_pack(name, inputs, INPUTS, &o, NULL, &t_err));
    leat_tokenizer_close(t);
}

static void pack_disturbed(const char *name, unsigned threads, bool resume)
{
    turns = 0;
    disturbed = true;
    pack(name, threads, resume);
    disturbed = false;
}

/* In processes that are killed, the last one perhaps not. */
static void pack_killed(const char *name, uint64_t *random, uint64_t most_turns)
{
    unlink(with(name, ".tokens"));
    unlink(with(name, ".leat"));
    for (unsigned kills = 0; kills <= MAX_KILLS; kills++) {
        unsigned threads = 2 + (unsigned)t_below(random, 7);
        uint64_t end = 1 + t_below(random, most_turns);
        pid_t child = fork();
        int status = 0;

        if (child == 0) {
            last_turn = kills < MAX_KILLS ? end : 0;
            pack_disturbed(name, threads, true);
            _exit(t_failures > 0);
        }
        T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            T_EQ(WEXITSTATUS(status), 0);
            return;
        }
        T_EQ(WTERMSIG(status), SIGKILL);
        counts->killed++;
    }
}

int main(void)
{
    uint64_t random = t_seed(), most_turns = 1;
    const char *soak = getenv("LEAT_TEST_SOAK");
    uint64_t runs = soak ? strtoull(soak, NULL, 0) : T_SANITIZED ? 9 : 15;
    char alone[600], crowd[600];

    folder = t_disk_folder(); /* on a disk, if that is one: memory takes no direct writes */
    snprintf(alone, sizeof alone, "%s/alone", folder);
    snprintf(crowd, sizeof crowd, "%s/crowd", folder);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* and some more, where threads came to no place at which one could be killed or resumed */
    for (uint64_t i = 0; t_failures == 0 && (i < runs || (!met(runs) && i < 10 * runs)); i++) {
        way = LEAT_WRITE_CACHED;
        if (i % 5 == 0) {
            tokenizer = i / 5 % 2 ? "gpt2" : "bytes";
            write_inputs(&random);
            pack(alone, 1, false);
        }
        way = i % 2 ? LEAT_WRITE_DIRECT : LEAT_WRITE_CACHED;
        wild = (unsigned)t_below(&random, 4);
        if (i % 3 == 2) {
            pack_killed(crowd, &random, most_turns);
        } else {
            pack_disturbed(crowd, 2 + (unsigned)t_below(&random, 7), false);
            most_turns = turns;
        }
        T_CHECK(same_dataset(alone, crowd));
        if (t_failures > 0)
            fprintf(stderr, "  in run %" PRIu64 "\n", i);
    }
    fprintf(stderr, "%" PRIu64 " runs, %" PRIu64 " kills, %" PRIu64 " resumed\n", runs, counts->killed,
            counts->resumed);
    T_CHECK(t_failures > 0 || met(runs));
    return t_end();
}
