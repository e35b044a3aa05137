/*
 * limits_compute.c: measures the ceilings of computing over bytes: copying, widening 16-bit tokens to 64 bits, XXH3
 * in each level of memory, what a loader does to verify pages, and zstd decompression.
 *
 * The compressed text must be like real text: words are drawn by how common they are, and half of them depend on the
 * word before, so that zstd compresses them about as well as a language.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "bench/measure/bare_loops.h"
#include "checksum/checksum.h"
#include "limits.h"

#define L2_BYTES    ((size_t)128 << 10) /* half of the smallest level 2 cache in use */
#define L2_TIMES    2048u
#define CHUNK_BYTES ((size_t)256 << 10) /* bytes of a file that are hashed while they are still in the level 2 cache */
#define MAX_TEXT    ((size_t)64 << 20)
#define TEXT_SEED   20240501u
#define ZSTD_LEVEL  3

/* ---- Memory ---- */

/* Sets [*first, *first + *count) to the share of thread `index` in `all`, in multiples of 64. */
static void share(size_t all, unsigned threads, unsigned index, size_t *first, size_t *count)
{
    size_t each = all / threads / 64 * 64;

    *first = each * index;
    *count = index + 1 == threads ? all - *first : each;
}

static void copy_share(void *context, unsigned index)
{
    struct limits_case *c = context;
    size_t first, count;

    share(c->limits->buffer_bytes, c->threads, index, &first, &count);
    memcpy(c->limits->to + first, c->limits->from + first, count);
}

static bool run_copy(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    work->bytes = c->limits->buffer_bytes;
    return contest_threads(c->threads, copy_share, c) || limits_refuse(work, "cannot start a thread", 0);
}

static void widen_share(void *context, unsigned index)
{
    struct limits_case *c = context;
    size_t first, count;

    share(c->limits->buffer_bytes / sizeof(int64_t), c->threads, index, &first, &count);
    bare_loops()->widen((int64_t *)(void *)c->limits->to + first, (uint16_t *)(void *)c->limits->from + first, count);
}

static bool run_widen(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    work->bytes = c->limits->buffer_bytes;
    work->items = c->limits->buffer_bytes / sizeof(int64_t);
    snprintf(work->note, sizeof work->note, "bytes written; %s", bare_loops()->name);
    return contest_threads(c->threads, widen_share, c) || limits_refuse(work, "cannot start a thread", 0);
}

bool limits_memory(struct limits_group *g, struct limits *l)
{
    struct limits_case one = { .limits = l, .threads = 1 };
    struct limits_case all = { .limits = l, .threads = l->cores };

    g->title = "memory";
    g->key = "memory";
    limits_add(g, "memcpy, 1 thread", NULL, one, run_copy);
    if (l->cores > 1)
        limits_add(g, "memcpy, all threads", NULL, all, run_copy);
    limits_add(g, "widen u16 to i64, 1 thread", "token", one, run_widen);
    if (l->cores > 1)
        limits_add(g, "widen u16 to i64, all threads", "token", all, run_widen);
    return true;
}

/* ---- XXH3 ---- */

/* A sum of all results, so that no compiler omits the work. */
static volatile uint64_t sink;

/* Hashes with the case's hash, whose bits are its `depth`: 64 or 128. */
static uint64_t hash(const struct limits_case *c, const void *bytes, size_t count)
{
    return c->depth == 64 ? bare_loops()->xxh64(bytes, count) : bare_loops()->xxh128(bytes, count);
}

static void note_kernel(struct contest_work *work)
{
    snprintf(work->note, sizeof work->note, "%s", bare_loops()->name);
}

static bool run_hash_l2(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    uint64_t sum = 0;

    for (unsigned i = 0; i < L2_TIMES; i++)
        sum += hash(c, c->limits->from, L2_BYTES);
    sink = sum;
    work->bytes = (uint64_t)L2_BYTES * L2_TIMES;
    note_kernel(work);
    return true;
}

static bool run_hash_memory(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    sink = hash(c, c->limits->from, c->limits->buffer_bytes);
    work->bytes = c->limits->buffer_bytes;
    note_kernel(work);
    return true;
}

static bool run_hash_file(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    uint64_t sum = 0;

    for (uint64_t at = 0; at + CHUNK_BYTES <= c->limits->hot_bytes; at += CHUNK_BYTES) {
        if (pread(c->limits->file, c->limits->to, CHUNK_BYTES, (off_t)at) != (ssize_t)CHUNK_BYTES)
            return limits_refuse(work, "reading the test file failed", errno);
        sum += hash(c, c->limits->to, CHUNK_BYTES);
        work->bytes += CHUNK_BYTES;
    }
    sink = sum;
    note_kernel(work);
    return true;
}

/* Verifies pages by libleat's kernels: their hashes, and with a depth of 1 also that each id is below the vocabulary
 * size. */
static bool run_verify_pages(void *context, struct contest_work *work)
{
    const struct limits_case *c = context;
    const struct checksum_kernels *k = checksum_kernels();
    uint64_t sum = 0;

    for (uint64_t at = 0; at + CHECKSUM_PAGE <= c->limits->buffer_bytes; at += CHECKSUM_PAGE) {
        sum += k->hash(c->limits->from + at, CHECKSUM_PAGE).low;
        if (c->depth == 1)
            sum += k->max16(c->limits->from + at, CHECKSUM_PAGE / 2);
        work->bytes += CHECKSUM_PAGE;
    }
    sink = sum;
    snprintf(work->note, sizeof work->note, "%s", k->name);
    return true;
}

bool limits_hash(struct limits_group *g, struct limits *l)
{
    struct limits_case narrow = { .limits = l, .depth = 64 };
    struct limits_case wide = { .limits = l, .depth = 128 };
    struct limits_case ids = { .limits = l, .depth = 1 };

    g->title = "XXH3, 1 thread";
    g->key = "xxh3";
    limits_add(g, "XXH3-64, level 2 cache", NULL, narrow, run_hash_l2);
    limits_add(g, "XXH3-128, level 2 cache", NULL, wide, run_hash_l2);
    limits_add(g, "XXH3-64, memory", NULL, narrow, run_hash_memory);
    limits_add(g, "XXH3-128, memory", NULL, wide, run_hash_memory);
    limits_add(g, "XXH3-64, page cache by pread", NULL, narrow, run_hash_file);
    limits_add(g, "XXH3-128, page cache by pread", NULL, wide, run_hash_file);
    limits_add(g, "XXH3-128 of 4 KiB pages, memory", NULL, wide, run_verify_pages);
    limits_add(g, "the same, and the greatest 16-bit id", NULL, ids, run_verify_pages);
    return true;
}

/* ---- zstd ---- */

struct zstd {
    size_t text_bytes;
    char *text, *back; /* text_bytes each */
    void *packed;
    size_t packed_bytes;
    ZSTD_DCtx *context;
};

#define WORDS        30000u
#define WORD_LETTERS 12u

/* Makes a word of 2 to 10 letters. Rare words are longer, and letters are as uneven as in a language. */
static size_t make_word(char *out, unsigned rank, uint64_t *seed)
{
    static const char letters[] = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddllll"
                                  "cccuuummmwwffggyyppbbvvk";
    size_t length = 2 + (rank > 30) + (rank > 300) + contest_random(seed) % (rank > 1000 ? 7 : 3);

    for (size_t i = 0; i < length; i++)
        out[i] = letters[contest_random(seed) % (sizeof letters - 1)];
    return length;
}

/* Draws a word as often as its rank says (Zipf): the range is halved at random, so each doubling of ranks is about
 * as likely as the one before it. Half of the words depend on the word before, as in a language. */
static unsigned next_word(unsigned before, uint64_t *seed)
{
    uint64_t random = contest_random(seed);
    unsigned range = 2u << (random % 15);
    uint64_t of_pair = (uint64_t)before * 8 + (random >> 16) % 8;

    if (range > WORDS)
        range = WORDS;
    if ((random >> 40) % 2 == 0) {
        random = contest_random(&of_pair);
        range = 2u << (random % 15);
        range = range > WORDS ? WORDS : range;
    }
    return (unsigned)((random >> 20) % range);
}

static bool make_text(char *text, size_t bytes)
{
    char(*words)[WORD_LETTERS] = malloc(WORDS * sizeof *words);
    uint8_t *lengths = malloc(WORDS);
    uint64_t seed = TEXT_SEED;
    size_t used = 0;
    unsigned word = 0;

    for (unsigned i = 0; i < WORDS && words && lengths; i++)
        lengths[i] = (uint8_t)make_word(words[i], i, &seed);
    while (used + WORD_LETTERS + 2 < bytes && words && lengths) {
        uint64_t mark = contest_random(&seed) % 64;

        word = next_word(word, &seed);
        memcpy(text + used, words[word], lengths[word]);
        used += lengths[word];
        if (mark < 5)
            text[used++] = mark < 2 ? '.' : ',';
        text[used++] = mark == 0 ? '\n' : ' ';
    }
    memset(text + used, ' ', bytes - used);
    free(lengths);
    free(words);
    return used > 0;
}

static void free_zstd(void *extra)
{
    struct zstd *z = extra;

    ZSTD_freeDCtx(z->context);
    free(z->packed);
    free(z->back);
    free(z->text);
    free(z);
}

static bool run_zstd(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    struct zstd *z = c->extra;
    size_t got = ZSTD_decompressDCtx(z->context, z->back, z->text_bytes, z->packed, z->packed_bytes);

    if (ZSTD_isError(got) || got != z->text_bytes)
        return limits_refuse(work, "zstd returned another text", 0);
    work->bytes = z->text_bytes;
    snprintf(work->note, sizeof work->note, "bytes of text; compressed %.1f to 1",
             (double)z->text_bytes / (double)z->packed_bytes);
    return true;
}

bool limits_zstd(struct limits_group *g, struct limits *l)
{
    struct zstd *z = calloc(1, sizeof *z);
    size_t text_bytes = l->buffer_bytes < MAX_TEXT ? l->buffer_bytes : MAX_TEXT;
    size_t bound = ZSTD_compressBound(text_bytes);

    if (!z)
        return false;
    g->extra = z;
    g->release = free_zstd;
    g->title = "zstd, 1 thread";
    g->key = "zstd";
    z->text_bytes = text_bytes;
    z->text = malloc(text_bytes);
    z->back = malloc(text_bytes);
    z->packed = malloc(bound);
    z->context = ZSTD_createDCtx();
    if (!z->text || !z->back || !z->packed || !z->context || !make_text(z->text, text_bytes))
        return false;
    z->packed_bytes = ZSTD_compress(z->packed, bound, z->text, text_bytes, ZSTD_LEVEL);
    if (ZSTD_isError(z->packed_bytes))
        return false;
    limits_add(g, "zstd level 3, decompress text", NULL, (struct limits_case) { .limits = l, .extra = z }, run_zstd);
    return true;
}
