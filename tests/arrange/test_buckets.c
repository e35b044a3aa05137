/*
 * test_buckets.c: buckets that grow in turn give their bytes back, from any place, by cursors too, whether helpers
 * write them or not; and one that is let go leaves its place on the disk at once, where its blocks are large and the
 * file system can do that: the outputs need it. (Blocks of 20 KiB were freed one by one, each in half a ms.)
 */
#include "arrange/sorting/buckets.h"

#include "t.h"

#define COUNT 5
#define EACH  600000u

static uint8_t byte_of(size_t bucket, uint64_t at)
{
    return (uint8_t)(at * 7 + at / 251 + bucket * 31);
}

static void fill(struct buckets *s, uint64_t *random)
{
    uint64_t used[COUNT] = { 0 };
    uint8_t some[3000];

    for (size_t full = 0; full < COUNT;) {
        size_t i = (size_t)t_below(random, COUNT);
        uint64_t count = t_below(random, sizeof some + 1);

        if (used[i] == EACH)
            continue;
        count = count < EACH - used[i] ? count : EACH - used[i];
        for (uint64_t k = 0; k < count; k++)
            some[k] = byte_of(i, used[i] + k);
        T_OK(buckets_append(s, i, some, count, &t_err));
        used[i] += count;
        full += used[i] == EACH;
    }
    T_OK(buckets_seal(s, &t_err));
}

static void check_reads(const struct buckets *s, uint64_t *random)
{
    static uint8_t out[30000];

    for (unsigned n = 0; n < 200; n++) {
        size_t i = (size_t)t_below(random, COUNT);
        uint64_t count = t_below(random, sizeof out), at = t_below(random, EACH - count + 1), wrong = 0;

        T_OK(buckets_read(s, i, at, out, count, &t_err));
        for (uint64_t k = 0; k < count; k++)
            wrong += out[k] != byte_of(i, at + k);
        T_EQ(wrong, 0);
    }
}

static void check_cursor(const struct buckets *s, size_t bucket)
{
    struct bucket_cursor c;
    const void *bytes;
    uint64_t at = 0, wrong = 0;
    size_t count;

    T_OK(bucket_cursor_open(&c, s, bucket, &t_err));
    while (at < EACH) {
        size_t look = EACH - at < BUCKET_CURSOR_WHOLE ? (size_t)(EACH - at) : BUCKET_CURSOR_WHOLE;

        T_OK(bucket_cursor_look(&c, &bytes, look, &t_err));
        for (size_t k = 0; k < look; k++)
            wrong += ((const uint8_t *)bytes)[k] != byte_of(bucket, at + k);
        T_OK(bucket_cursor_take(&c, &bytes, &count, 1 + at % 5000, &t_err));
        T_CHECK(count > 0 && count <= EACH - at);
        for (size_t k = 0; k < count; k++)
            wrong += ((const uint8_t *)bytes)[k] != byte_of(bucket, at + k);
        at += count;
    }
    T_EQ(wrong, 0);
    bucket_cursor_close(&c);
}

/* Bytes that the file has on the disk. */
static uint64_t on_disk(const struct buckets *s)
{
    struct stat st;

    T_CHECK(fstat(s->fd, &st) == 0);
    return (uint64_t)st.st_blocks * 512;
}

/* Tried beyond the file's end, where there is nothing. */
static bool makes_holes(const struct buckets *s)
{
    return fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)1 << 30, BUCKETS_FREED) == 0;
}

static void check_file(const char *path, size_t block, struct helpers *helpers, uint64_t *random)
{
    struct buckets s;
    uint64_t full;

    T_OK(buckets_open(&s, path, COUNT, block, helpers, &t_err));
    fill(&s, random);
    check_reads(&s, random);
    for (size_t i = 0; i < COUNT; i++)
        check_cursor(&s, i);
    full = on_disk(&s);
    buckets_release(&s, 2);
    if (block < BUCKETS_FREED)
        T_EQ(on_disk(&s), full);
    else if (makes_holes(&s))
        T_CHECK(full - on_disk(&s) >= EACH / block * block);
    check_cursor(&s, 1); /* the others have theirs */
    check_cursor(&s, 3);
    buckets_close(&s);
}

int main(void)
{
    const char *path = t_path(t_folder(), "buckets");
    uint64_t random = t_seed();
    struct helpers helpers;
    struct buckets s;

    for (unsigned threads = 1; threads < 4; threads++) {
        helpers_begin(&helpers, threads);
        check_file(path, 8192, &helpers, &random);
        check_file(path, BUCKETS_FREED, &helpers, &random);
        helpers_end(&helpers);
    }
    T_OK(buckets_open(&s, path, COUNT, BUCKETS_IN_MEMORY, NULL, &t_err));
    fill(&s, &random);
    check_reads(&s, &random);
    check_cursor(&s, 4);
    buckets_close(&s);
    return t_end();
}
