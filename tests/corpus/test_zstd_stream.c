/*
 * test_zstd_stream.c: byte_stream over zstd: frames of all kinds, every length that a file can be cut to, every bit
 * that can be wrong; and as much memory as it may have. What is delivered before an error is compared with libzstd fed
 * byte by byte, which stops as late as can be.
 */
#include <zstd.h>

#include "stream_cases.h"

static char path[600];
static uint64_t drawn;
static unsigned step; /* every step-th length and bit is tried */

/* ---- Making ----------------------------------------------------------------------------------------------------- */

struct frame_kind {
    int level, window_log; /* 0: as the level has it */
    bool checksum, size, flushes;
};

static void add_frame(struct blob *out, const struct blob *text, struct frame_kind kind)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(text->size) + 4096, done = 0, code;
    uint8_t *bytes = malloc(room);
    ZSTD_outBuffer to = { bytes, room, 0 };

    if (!c || !bytes)
        exit(1);
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, kind.level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, kind.checksum);
    ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, kind.size);
    if (kind.window_log)
        ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, kind.window_log);
    if (kind.size)
        ZSTD_CCtx_setPledgedSrcSize(c, text->size);
    while (kind.flushes && text->size - done > 300) { /* many small blocks */
        ZSTD_inBuffer from = { text->bytes, done + 300, done };

        ZSTD_compressStream2(c, &to, &from, ZSTD_e_flush);
        done = from.pos;
    }
    do {
        ZSTD_inBuffer from = { text->bytes, text->size, done };

        code = ZSTD_compressStream2(c, &to, &from, ZSTD_e_end);
        done = from.pos;
    } while (code != 0 && !ZSTD_isError(code));
    if (ZSTD_isError(code))
        T_FAIL("%s", ZSTD_getErrorName(code));
    blob_add(out, bytes, to.pos);
    free(bytes);
    ZSTD_freeCCtx(c);
}

static void add_skippable(struct blob *out, unsigned number, uint32_t bytes)
{
    uint8_t head[8];

    bytes_store32(head, 0x184d2a50u + number);
    bytes_store32(head + 4, bytes);
    blob_add(out, head, 8);
    for (; bytes > 0; bytes--)
        blob_add(out, "s", 1);
}

/* ---- Expectation ------------------------------------------------------------------------------------------------ */

/* libzstd fed byte by byte. */
static enum leat_status plainly(const struct blob *file, struct blob *out)
{
    static uint8_t buf[1 << 17];
    ZSTD_DCtx *d = ZSTD_createDCtx();
    enum leat_status s = LEAT_OK;
    size_t code = 0;

    if (!d)
        exit(1);
    ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 31);
    for (size_t i = 0; i < file->size && s == LEAT_OK; i++) {
        ZSTD_inBuffer from = { file->bytes + i, 1, 0 };
        ZSTD_outBuffer to;

        do {
            to = (ZSTD_outBuffer) { buf, sizeof buf, 0 };
            code = ZSTD_decompressStream(d, &to, &from);
            blob_add(out, buf, to.pos);
        } while (!ZSTD_isError(code) && (from.pos == 0 || to.pos == sizeof buf));
        if (ZSTD_isError(code))
            s = LEAT_E_TEXT;
    }
    ZSTD_freeDCtx(d);
    return s == LEAT_OK && (code != 0 || file->size == 0) ? LEAT_E_TRUNCATED : s;
}

/* libzstd does not judge a magic number that is cut short, leat does. And a damaged header before the first text may
 * ask for a dictionary, which libzstd calls damage. */
static bool same_status(enum leat_status got, enum leat_status plain, const struct blob *file, const struct blob *want)
{
    bool asks = got == LEAT_E_UNSUPPORTED && plain == LEAT_E_TEXT && want->size == 0;

    return got == plain || asks || (plain == LEAT_E_TRUNCATED && got == LEAT_E_TEXT && file->size > 0);
}

static void check_file(const struct blob *file, const struct blob *want, enum leat_status status, size_t piece)
{
    struct leat_error err = { 0 };
    struct blob got = { 0 };
    enum leat_status s;

    t_write(path, file->bytes, file->size);
    s = read_stream(path, &got, piece, &err);
    if (!same_status(s, status, file, want))
        T_FAIL("%zu bytes: %s instead of %s: %s", file->size, leat_status_name(s), leat_status_name(status),
               err.message);
    if (s != LEAT_OK)
        T_CONTAINS(err.message, path);
    if (!blob_same(&got, want))
        T_FAIL("%zu bytes: %zu bytes of text instead of %zu", file->size, got.size, want->size);
    blob_free(&got);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static const struct frame_kind kinds[] = { { 3, 0, true, true, false },
                                           { 1, 0, false, false, false },
                                           { 19, 0, true, false, true },
                                           { -5, 10, true, false, true } };

/* Frames and skippable frames, one with an empty text, and all of their text. */
static void make_file(struct blob *file, struct blob *text, size_t bytes, uint64_t *random)
{
    struct blob part = { 0 };

    add_skippable(file, 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        part.size = 0;
        make_text(&part, bytes + t_below(random, bytes), random);
        add_frame(file, &part, kinds[i]);
        blob_add(text, part.bytes, part.size);
        part.size = 0;
        add_frame(file, &part, kinds[3 - i]);
        if (i % 2)
            add_skippable(file, 15 - i, 40 * i);
    }
    blob_free(&part);
}

static void check_whole(uint64_t *random)
{
    static const size_t pieces[] = { 1, 7, 100, 4096, 65537, 1 << 20 };

    for (unsigned i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct blob file = { 0 }, text = { 0 };

        make_file(&file, &text, i == 0 ? 3000 : 300000, random);
        check_file(&file, &text, LEAT_OK, pieces[i]);
        blob_free(&file);
        blob_free(&text);
    }
}

static void check_cut(uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 };

    make_file(&file, &text, 700, random);
    for (size_t size = 4 + t_below(&drawn, step); size < file.size; size += step) { /* shorter ones: check_names() */
        struct blob cut = { file.bytes, size, 0 }, want = { 0 };
        enum leat_status s = plainly(&cut, &want);

        check_file(&cut, &want, s, 1 + t_below(random, 2000));
        T_CHECK(s == LEAT_OK ? want.size <= text.size : s == LEAT_E_TRUNCATED);
        blob_free(&want);
    }
    blob_free(&file);
    blob_free(&text);
}

/* Each bit wrong in turn, or some of them, and garbage behind the end. */
static void check_broken(uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 }, want = { 0 };

    make_file(&file, &text, 200, random);
    for (size_t bit = t_below(&drawn, step); bit < 8 * file.size; bit += step) {
        enum leat_status s;

        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        want.size = 0;
        s = bit < 32 ? LEAT_E_TEXT : plainly(&file, &want); /* the first bytes are wanted by the name */
        if (bit >= 4 && s == LEAT_OK && want.size > 4 * text.size)
            T_FAIL("bit %zu gives much text", bit);
        if (bit >= 32)
            check_file(&file, &want, s, 1 + t_below(random, 2000));
        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t count = 1; count < 20; count++) {
        struct blob longer = { 0 };

        blob_add(&longer, file.bytes, file.size);
        blob_add(&longer, "garbage behind the end", count);
        check_file(&longer, &text, LEAT_E_TEXT, 1000);
        blob_free(&longer);
    }
    blob_free(&want);
    blob_free(&file);
    blob_free(&text);
}

/* As zstd --long=27 and more writes them, one block that is stored as it is; memory is used for what the text needs,
 * not for the window. */
static void check_windows(void)
{
    static const char text[] = "a text in a large window";

    for (unsigned log = 27; log <= (T_SANITIZED ? 28 : 31); log += 2) { /* what is taken, sanitizers mark */
        uint8_t head[9] = { 0x28, 0xb5, 0x2f, 0xfd, 0, (uint8_t)((log - 10) << 3), (sizeof text - 1) << 3 | 1, 0, 0 };
        struct blob file = { 0 }, want = { 0 };

        blob_add(&file, head, sizeof head);
        blob_add(&file, text, sizeof text - 1);
        blob_add(&want, text, sizeof text - 1);
        check_file(&file, &want, LEAT_OK, 10);
        blob_free(&file);
        blob_free(&want);
    }
}

/* A stream that needs more memory than it may have says so, and goes on where it was once it may have enough. */
static void check_memory(uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 }, got = { 0 };
    struct byte_stream *s;
    struct leat_error err;
    uint64_t little;

    make_text(&text, 1000000, random);
    add_frame(&file, &text, kinds[0]);
    t_write(path, file.bytes, file.size);
    T_OK(byte_stream_open(&s, path, &t_err));
    little = byte_stream_memory(s) + 100000;
    for (uint64_t limit = little; limit <= little + 300000; limit += 300000) {
        byte_stream_limit_memory(s, limit);
        T_STATUS(drain(s, &got, 5000, &err), LEAT_E_NO_MEMORY);
        T_CONTAINS(err.message, "the zstd data needs more than");
        T_CHECK(byte_stream_outgrew(s) && got.size < text.size);
        byte_stream_limit_memory(s, limit + 1); /* still too little: nothing comes */
        T_STATUS(drain(s, &got, 5000, &err), LEAT_E_NO_MEMORY);
        T_EQ(got.size, byte_stream_text_position(s));
    }
    byte_stream_limit_memory(s, byte_stream_max_memory(s));
    T_CHECK(!byte_stream_outgrew(s));
    T_STATUS(drain(s, &got, 5000, &err), LEAT_OK);
    T_CHECK(blob_same(&got, &text));
    byte_stream_close(s);
    blob_free(&got);
    blob_free(&file);
    blob_free(&text);
}

/* Names and first bytes have to agree. */
static void check_names(const char *folder)
{
    static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    char name[600];
    struct byte_stream *s;
    struct blob got = { 0 };
    struct leat_error err;

    snprintf(name, sizeof name, "%s/plain.zst", folder);
    for (size_t bytes = 0; bytes <= 4; bytes++) {
        t_write(name, "text", bytes);
        T_EQ(read_stream(name, &got, 10, &err), bytes == 0 ? LEAT_E_TRUNCATED : LEAT_E_TEXT);
        if (bytes > 0)
            T_CONTAINS(err.message, "is named .zst, but does not start like a zstd file");
        t_write(name, magic, bytes);
        T_STATUS(read_stream(name, &got, 10, &err), LEAT_E_TRUNCATED);
        T_CONTAINS(err.message, "plain.zst ends in the middle of a zstd frame");
        T_EQ(err.offset, bytes);
    }
    snprintf(name, sizeof name, "%s/zstd.jsonl", folder); /* without the ending, whole magics tell */
    t_write(name, magic, 3);
    T_OK(byte_stream_open(&s, name, &t_err));
    T_EQ(byte_stream_form(s), BYTE_FORM_PLAIN);
    byte_stream_close(s);
    t_write(name, magic, 4);
    T_OK(byte_stream_open(&s, name, &t_err));
    T_EQ(byte_stream_form(s), BYTE_FORM_ZSTD);
    byte_stream_close(s);
    T_EQ(got.size, 0);
    blob_free(&got);
}

int main(void)
{
    uint64_t random = t_seed();
    const char *folder = t_folder();

    drawn = t_draw();
    step = t_step(T_SANITIZED ? 5 : 3);
    memory_file(path, folder);
    check_whole(&random);
    check_cut(&random);
    check_broken(&random);
    check_windows();
    check_memory(&random);
    check_names(folder);
    return t_end();
}
