/*
 * test_spans.c: streams that other threads decompress for, against the same files read in turn: the same text, error,
 * place, hash and marks, whatever is wrong with the file and whoever comes first. The other threads' work is done now
 * and then between two reads, so that a seed decides all; and by two real threads.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <zstd.h>

#include "corpus/streams/inflater.h"
#include "stream_cases.h"

#define FRAME ((size_t)4 << 10)
#define MARKS 8u

static char path[600];
static unsigned ready, failed; /* spans that were decompressed between two reads */

/* ---- Files ---- */

static void add_frame(struct blob *file, const struct blob *text, uint64_t *random)
{
    size_t room = ZSTD_compressBound(text->size), code;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    uint8_t *bytes = malloc(room);

    if (!c || !bytes)
        exit(1);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, (int)t_below(random, 2));
    ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, (int)t_below(random, 2));
    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 10 + (int)t_below(random, 8));
    code = ZSTD_compress2(c, bytes, room, text->bytes ? (void *)text->bytes : "", text->size);
    if (ZSTD_isError(code))
        T_FAIL("%s", ZSTD_getErrorName(code));
    blob_add(file, bytes, code);
    free(bytes);
    ZSTD_freeCCtx(c);
}

static void add_skippable(struct blob *file, uint64_t *random)
{
    uint8_t head[8];
    uint32_t bytes = (uint32_t)t_below(random, 40);

    bytes_store32(head, 0x184d2a50u + (uint32_t)t_below(random, 16));
    bytes_store32(head + 4, bytes);
    blob_add(file, head, sizeof head);
    for (; bytes > 0; bytes--)
        blob_add(file, "s", 1);
}

static void store16(uint8_t *to, size_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

/* A member with the text as it is; `said` is the length that its extra field says, less than the true one by `lie`. */
static void add_member(struct blob *file, const struct blob *text, bool bgzf, size_t lie)
{
    uint8_t head[18] = { 0x1f, 0x8b, 8, bgzf ? 4 : 0, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0 }, stored[5] = { 1 };
    uint8_t tail[8];
    size_t begin = file->size;

    blob_add(file, head, bgzf ? sizeof head : 10);
    store16(stored + 1, text->size);
    store16(stored + 3, ~text->size);
    blob_add(file, stored, sizeof stored);
    blob_add(file, text->bytes, text->size);
    bytes_store32(tail, inflater_library.crc(0, text->bytes, text->size));
    bytes_store32(tail + 4, (uint32_t)text->size);
    blob_add(file, tail, sizeof tail);
    if (bgzf)
        store16(file->bytes + begin + 16, file->size - begin - 1 - lie);
}

static void make_file(struct blob *file, bool gzip, uint64_t *random)
{
    struct blob text = { 0 };

    for (uint64_t count = 1 + t_below(random, 12); count > 0; count--) {
        bool large = t_below(random, 8) == 0, empty = t_below(random, 5) == 0;

        text.size = 0;
        make_text(&text, empty ? 0 : t_below(random, large ? 4 * FRAME : FRAME), random);
        if (gzip)
            add_member(file, &text, t_below(random, 8) > 0, t_below(random, 20) == 0 ? t_below(random, 300) : 0);
        else
            add_frame(file, &text, random);
        if (!gzip && t_below(random, 3) == 0)
            add_skippable(file, random);
    }
    blob_free(&text);
}

static void damage(struct blob *file, uint64_t *random)
{
    switch (t_below(random, 6)) {
    case 0:
        file->size = (size_t)t_below(random, file->size);
        break;
    case 1:
        file->bytes[t_below(random, file->size)] ^= (uint8_t)(1u << t_below(random, 8));
        break;
    case 2:
        blob_add(file, "garbage", 7);
        break;
    case 3:
        blob_add(file, "\0\0\0\0", 4);
        break;
    default: /* none */
        break;
    }
}

/* ---- Reading ---- */

/* What is known of a stream when it has ended, and where it could have begun again. */
struct seen {
    struct blob text;
    enum leat_status status;
    struct leat_error error;
    uint64_t raw;
    uint8_t hash[16];
    struct byte_mark marks[MARKS];
    unsigned mark_count;
};

/* How other threads take part: `most` bytes in a span, of which they may hold `room` at once. */
struct helping {
    uint64_t most, room;
    bool threads;
    struct spans *spans;
    atomic_bool ended;
};

/* One piece of work, if there is any. */
static bool help(struct helping *h)
{
    uint64_t held = spans_memory(h->spans);
    struct span *span;
    enum spans_work work = spans_claim(h->spans, h->room > held ? h->room - held : 0, &span);

    if (work == SPANS_LOOK)
        spans_look(h->spans);
    if (work == SPANS_DECOMPRESS)
        spans_decompress(h->spans, span);
    if (work == SPANS_DECOMPRESS && !h->threads)
        span->state == SPAN_READY ? ready++ : failed++;
    return work != SPANS_NOTHING;
}

static void *help_always(void *context)
{
    struct helping *h = context;

    while (!atomic_load(&h->ended))
        if (!help(h))
            sched_yield();
    spans_release(h->spans);
    return NULL;
}

static void read_all(struct byte_stream *s, struct helping *h, struct seen *seen, uint64_t *random)
{
    static uint8_t buf[3 * FRAME];
    size_t got = 1;

    while (got > 0) {
        while (h->spans && !h->threads && t_below(random, 3) > 0 && help(h))
            ;
        seen->status = byte_stream_read(s, buf, 1 + t_below(random, sizeof buf), &got, &seen->error);
        blob_add(&seen->text, buf, got);
        if (seen->mark_count < MARKS && t_below(random, 4) == 0) {
            byte_stream_mark(s, &seen->marks[seen->mark_count]);
            T_CHECK(seen->marks[seen->mark_count].text_offset <= byte_stream_text_position(s));
            seen->mark_count++;
        }
    }
    seen->raw = byte_stream_raw_position(s);
    byte_stream_hash(s, seen->hash);
}

/* Reads the file, from a mark (NULL: its start) on. */
static void look(struct seen *seen, const struct byte_mark *mark, const struct helping *how, uint64_t *random)
{
    struct helping h = { .most = how->most, .room = how->room, .threads = how->threads };
    struct byte_stream *s;
    pthread_t threads[2];

    memset(seen, 0, sizeof *seen);
    seen->status = mark ? byte_stream_open_at(&s, path, mark, &seen->error) : byte_stream_open(&s, path, &seen->error);
    if (seen->status != LEAT_OK)
        return;
    if (h.most > 0)
        byte_stream_share(s, h.most);
    h.spans = byte_stream_spans(s);
    for (unsigned i = 0; h.spans && h.threads && i < 2; i++) {
        spans_hold(h.spans);
        T_CHECK(pthread_create(&threads[i], NULL, help_always, &h) == 0);
    }
    read_all(s, &h, seen, random);
    byte_stream_close(s); /* under their hands */
    atomic_store(&h.ended, true);
    for (unsigned i = 0; h.spans && h.threads && i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void compare(const struct seen *a, const struct seen *b)
{
    T_EQ(a->status, b->status);
    if (a->status != LEAT_OK && b->status != LEAT_OK)
        T_STR(a->error.message, b->error.message);
    T_CHECK(blob_same(&a->text, &b->text));
    T_EQ(a->raw, b->raw);
    T_CHECK(memcmp(a->hash, b->hash, sizeof a->hash) == 0);
}

/* ---- Checking ---- */

static void check(const struct helping *how, bool gzip, uint64_t *random)
{
    struct helping alone = { 0 };
    struct blob file = { 0 };
    struct seen expected, seen, rest;
    int failures = t_failures;

    make_file(&file, gzip, random);
    damage(&file, random);
    t_write(path, file.bytes, file.size);
    look(&expected, NULL, &alone, random);
    look(&seen, NULL, how, random);
    compare(&seen, &expected);
    for (unsigned i = 0; i < seen.mark_count && failures == t_failures; i++) {
        struct blob tail = expected.text;

        if (tail.bytes)
            tail.bytes += seen.marks[i].text_offset;
        tail.size -= seen.marks[i].text_offset;
        look(&rest, &seen.marks[i], i % 2 ? how : &alone, random);
        T_CHECK(blob_same(&rest.text, &tail));
        T_CHECK(rest.raw == expected.raw && memcmp(rest.hash, expected.hash, sizeof rest.hash) == 0);
        blob_free(&rest.text);
    }
    blob_free(&seen.text);
    blob_free(&expected.text);
    blob_free(&file);
}

/* A stream gives what was decompressed ahead: the file has become something else meanwhile. */
static void check_ahead(uint64_t *random)
{
    struct helping h = { .most = 2 * FRAME, .room = 1 << 30 };
    struct blob file = { 0 }, text = { 0 }, got = { 0 };
    struct byte_stream *s;
    struct leat_error err;
    size_t first = 0;

    make_text(&text, FRAME, random);
    for (unsigned i = 0; i < 8; i++) {
        add_frame(&file, &text, random);
        first = i == 0 ? file.size : first;
    }
    t_write(path, file.bytes, file.size);
    T_OK(byte_stream_open(&s, path, &t_err));
    byte_stream_share(s, h.most);
    h.spans = byte_stream_spans(s);
    while (help(&h))
        ;
    memset(file.bytes + first, 0, file.size - first);
    t_write(path, file.bytes, file.size);
    T_STATUS(drain(s, &got, FRAME / 3, &err), LEAT_OK);
    T_EQ(got.size, 8 * FRAME);
    for (unsigned i = 0; i < 8 && got.size == 8 * FRAME; i++)
        T_CHECK(memcmp(got.bytes + i * FRAME, text.bytes, FRAME) == 0);
    byte_stream_close(s);
    blob_free(&file);
    blob_free(&text);
    blob_free(&got);
}

/* A member that says it ends earlier than it does, where its text looks like the next one: what was decompressed there
 * is passed over. */
static void check_lie(uint64_t *random)
{
    struct helping h = { .most = 64 << 10, .room = 1 << 30 };
    struct blob file = { 0 }, text = { 0 }, inner = { 0 }, word = { 0 }, got = { 0 };
    struct byte_stream *s;
    struct leat_error err;

    make_text(&text, 100, random);
    blob_add(&word, "word", 4);
    add_member(&inner, &word, true, 0);
    blob_add(&text, inner.bytes, inner.size);
    add_member(&file, &word, true, 0);
    add_member(&file, &text, true, inner.size + 8); /* it says that it ends before the member in its text */
    add_member(&file, &word, true, 0);
    t_write(path, file.bytes, file.size);
    T_OK(byte_stream_open(&s, path, &t_err));
    byte_stream_share(s, h.most);
    h.spans = byte_stream_spans(s);
    ready = 0;
    while (help(&h))
        ;
    T_EQ(ready, 1); /* what is in the text: the member around it is broken where it says that it ends */
    T_STATUS(drain(s, &got, 10, &err), LEAT_OK);
    T_CHECK(got.size == text.size + 8 && memcmp(got.bytes + 4, text.bytes, text.size) == 0 &&
            memcmp(got.bytes, "word", 4) == 0 && memcmp(got.bytes + 4 + text.size, "word", 4) == 0);
    byte_stream_close(s);
    blob_free(&inner);
    blob_free(&word);
    blob_free(&file);
    blob_free(&text);
    blob_free(&got);
}

/* One that is closed while some text of a span is still to come. */
static void check_closed(uint64_t *random)
{
    struct helping h = { .most = 2 * FRAME, .room = 1 << 30 };
    struct blob file = { 0 }, text = { 0 };
    struct byte_stream *s;
    uint8_t buf[FRAME + 1];
    size_t got;

    make_text(&text, FRAME, random);
    for (unsigned i = 0; i < 3; i++)
        add_frame(&file, &text, random);
    t_write(path, file.bytes, file.size);
    T_OK(byte_stream_open(&s, path, &t_err));
    byte_stream_share(s, h.most);
    h.spans = byte_stream_spans(s);
    while (help(&h))
        ;
    T_OK(byte_stream_read(s, buf, sizeof buf, &got, &t_err));
    T_CHECK(got == sizeof buf && buf[FRAME] == text.bytes[0]);
    T_CHECK(spans_memory(h.spans) > 0);
    byte_stream_close(s); /* a sanitizer sees what is not freed */
    blob_free(&file);
    blob_free(&text);
}

int main(void)
{
    uint64_t random = t_seed();
    const char *folder = t_folder();

    memory_file(path, folder);
    check_ahead(&random);
    check_closed(&random);
    if (inflater_library.name)
        check_lie(&random);
    for (unsigned i = 0; i < 600 && t_failures == 0; i++) {
        bool gzip = i % 2 && inflater_library.name;
        /* a member of bgzip counts as 64 KiB of text */
        struct helping how = { .most = gzip ? (64 << 10) * (1 + t_below(&random, 3)) : 1 + t_below(&random, 5 * FRAME),
                               .room = (t_below(&random, 4) + 1) << 20,
                               .threads = i % 5 == 0 };

        check(&how, gzip, &random);
    }
    T_CHECK(ready > 100 && failed > 5);
    return t_end();
}
