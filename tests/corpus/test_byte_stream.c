/*
 * test_byte_stream.c: what holds for a stream of bytes of any form: positions and the hash of the file, marks from
 * which another stream goes on with the same text, positions, marks and hash; pipes that give a few bytes at a time;
 * what cannot be opened.
 */
#include <sys/wait.h>
#include <zstd.h>

#include "checksum/checksum.h"
#include "stream_cases.h"

static const char *folder;
static uint64_t random_state;

/* ---- Files ------------------------------------------------------------------------------------------------------ */

/* The page sum by its definition, with whole pages and the last one. */
static void sum_plainly(const uint8_t *bytes, size_t count, uint8_t sum[16])
{
    struct hash128 all = { 0, 0 };

    for (size_t at = 0; at < count; at += CHECKSUM_PAGE) {
        size_t part = count - at < CHECKSUM_PAGE ? count - at : CHECKSUM_PAGE;
        struct hash128 h = checksum_kernels()->hash(bytes + at, part);
        uint8_t tagged[24];

        checksum_store(tagged, h);
        bytes_store64(tagged + 16, at / CHECKSUM_PAGE);
        checksum_add(&all, checksum_kernels()->hash(tagged, sizeof tagged));
    }
    checksum_store(sum, all);
}

/* zstd: frames of different sizes; *borders are the places behind each of them. */
static void make_zstd(struct blob *file, const struct blob *text, struct blob *borders)
{
    size_t at = 0;

    while (at < text->size) {
        size_t part = 1 + t_below(&random_state, 9000), room, done;
        uint8_t *bytes;

        if (part > text->size - at)
            part = text->size - at;
        room = ZSTD_compressBound(part);
        bytes = malloc(room);
        if (!bytes)
            exit(1);
        done = ZSTD_compress(bytes, room, text->bytes + at, part, 3);
        T_CHECK(!ZSTD_isError(done));
        blob_add(file, bytes, done);
        free(bytes);
        at += part;
        blob_add(borders, &(uint64_t[2]) { file->size, at }, 2 * sizeof(uint64_t));
    }
}

/* CRC-32, bit by bit. */
static uint32_t crc_plainly(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* gzip: members of stored blocks. */
static void make_gzip(struct blob *file, const struct blob *text, struct blob *borders)
{
    static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
    size_t at = 0;

    while (at < text->size) {
        size_t part = 1 + t_below(&random_state, 9000);
        uint8_t block[5], tail[8];

        if (part > text->size - at)
            part = text->size - at;
        block[0] = 1;
        block[1] = (uint8_t)part;
        block[2] = (uint8_t)(part >> 8);
        block[3] = (uint8_t)~block[1];
        block[4] = (uint8_t)~block[2];
        bytes_store32(tail, crc_plainly(text->bytes + at, part));
        bytes_store32(tail + 4, (uint32_t)part);
        blob_add(file, head, sizeof head);
        blob_add(file, block, sizeof block);
        blob_add(file, text->bytes + at, part);
        blob_add(file, tail, sizeof tail);
        at += part;
        blob_add(borders, &(uint64_t[2]) { file->size, at }, 2 * sizeof(uint64_t));
    }
}

#if defined(LEAT_HAVE_LZMA) || defined(LEAT_HAVE_BZ2) || defined(LEAT_HAVE_LZ4)
/* Members of different sizes, each by `press`, which returns its size. */
static void make_members(struct blob *file, const struct blob *text, struct blob *borders,
                         size_t (*press)(uint8_t *text, size_t bytes, uint8_t *out, size_t room))
{
    static uint8_t out[20000];

    for (size_t at = 0; at < text->size;) {
        size_t part = 1 + t_below(&random_state, 9000);

        part = part < text->size - at ? part : text->size - at;
        blob_add(file, out, press(text->bytes + at, part, out, sizeof out));
        at += part;
        blob_add(borders, &(uint64_t[2]) { file->size, at }, 2 * sizeof(uint64_t));
    }
}
#endif

#ifdef LEAT_HAVE_LZMA
#include <lzma.h>

static size_t press_xz(uint8_t *text, size_t bytes, uint8_t *out, size_t room)
{
    size_t size = 0;

    T_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, text, bytes, out, &size, room), LZMA_OK);
    return size;
}

static void make_xz(struct blob *file, const struct blob *text, struct blob *borders)
{
    make_members(file, text, borders, press_xz);
}
#endif

#ifdef LEAT_HAVE_BZ2
#include <bzlib.h>

static size_t press_bzip2(uint8_t *text, size_t bytes, uint8_t *out, size_t room)
{
    unsigned size = (unsigned)room;

    T_EQ(BZ2_bzBuffToBuffCompress((char *)out, &size, (char *)text, (unsigned)bytes, 1, 0, 0), BZ_OK);
    return size;
}

static void make_bzip2(struct blob *file, const struct blob *text, struct blob *borders)
{
    make_members(file, text, borders, press_bzip2);
}
#endif

#ifdef LEAT_HAVE_LZ4
#include <lz4frame.h>

static size_t press_lz4(uint8_t *text, size_t bytes, uint8_t *out, size_t room)
{
    size_t size = LZ4F_compressFrame(out, room, text, bytes, NULL);

    T_CHECK(!LZ4F_isError(size));
    return size;
}

static void make_lz4(struct blob *file, const struct blob *text, struct blob *borders)
{
    make_members(file, text, borders, press_lz4);
}
#endif

static void make_plain(struct blob *file, const struct blob *text, struct blob *borders)
{
    blob_add(file, text->bytes, text->size);
    for (uint64_t at = CHECKSUM_PAGE; at <= text->size; at += CHECKSUM_PAGE)
        blob_add(borders, &(uint64_t[2]) { at, at }, 2 * sizeof at);
}

static const struct form {
    const char *name;
    enum byte_form form;
    void (*make)(struct blob *file, const struct blob *text, struct blob *borders);
} forms[] = {
    { "text.jsonl", BYTE_FORM_PLAIN, make_plain }, { "text.zst", BYTE_FORM_ZSTD, make_zstd },
#ifdef LEAT_HAVE_LZMA
    { "text.xz", BYTE_FORM_XZ, make_xz },
#endif
#ifdef LEAT_HAVE_BZ2
    { "text.bz2", BYTE_FORM_BZIP2, make_bzip2 },
#endif
#ifdef LEAT_HAVE_LZ4
    { "text.lz4", BYTE_FORM_LZ4, make_lz4 },
#endif
    { "text.gz", BYTE_FORM_GZIP, make_gzip },
};
#define FORMS (sizeof forms / sizeof forms[0])

/* ---- Marks and hashes ------------------------------------------------------------------------------------------- */

/* The last border at or before `at`. */
static struct byte_mark mark_plainly(const struct blob *file, const struct blob *borders, uint64_t at)
{
    struct byte_mark mark = { .raw_offset = 0 };

    for (size_t i = 0; i < borders->size; i += 2 * sizeof(uint64_t)) {
        uint64_t border[2];

        memcpy(border, borders->bytes + i, sizeof border);
        if (border[1] > at)
            break;
        mark.raw_offset = border[0];
        mark.text_offset = border[1];
    }
    sum_plainly(file->bytes, (size_t)(mark.raw_offset - mark.raw_offset % CHECKSUM_PAGE), mark.sum);
    return mark;
}

static void check_hash(const struct byte_stream *s, const struct blob *file)
{
    uint8_t hash[16], want[16];

    byte_stream_hash(s, hash);
    sum_plainly(file->bytes, (size_t)byte_stream_raw_position(s), want);
    T_CHECK(memcmp(hash, want, 16) == 0);
}

/* Goes on from the mark of text position `at`, and finds the same as a stream that was not interrupted. */
static void check_mark(const char *path, const struct blob *file, const struct blob *text, const struct blob *borders,
                       size_t at)
{
    struct byte_mark mark, again, want = mark_plainly(file, borders, at);
    struct blob got = { 0 };
    struct byte_stream *s;
    uint8_t *buf = malloc(at + 1);
    size_t some;

    T_OK(byte_stream_open(&s, path, &t_err));
    T_OK(byte_stream_read(s, buf, at, &some, &t_err));
    T_EQ(some, at);
    T_EQ(byte_stream_text_position(s), at);
    check_hash(s, file);
    byte_stream_mark(s, &mark);
    byte_stream_close(s);
    free(buf);
    /* where the border is just passed, it may be noticed only with the next read */
    if (mark.text_offset != want.text_offset && at == want.text_offset)
        want = mark_plainly(file, borders, at - 1);
    T_EQ(mark.raw_offset, want.raw_offset);
    T_EQ(mark.text_offset, want.text_offset);
    T_CHECK(memcmp(mark.sum, want.sum, 16) == 0);

    T_OK(byte_stream_open_at(&s, path, &mark, &t_err));
    byte_stream_mark(s, &again);
    T_CHECK(memcmp(&again, &mark, sizeof mark) == 0);
    T_EQ(byte_stream_raw_position(s), mark.raw_offset);
    T_EQ(byte_stream_text_position(s), mark.text_offset);
    check_hash(s, file);
    T_EQ(drain(s, &got, 3000, &t_err), LEAT_OK);
    T_CHECK(got.size == text->size - mark.text_offset &&
            (got.size == 0 || memcmp(got.bytes, text->bytes + mark.text_offset, got.size) == 0));
    T_EQ(byte_stream_raw_position(s), file->size);
    check_hash(s, file);
    byte_stream_mark(s, &again);
    want = mark_plainly(file, borders, text->size);
    T_CHECK(memcmp(&again, &want, sizeof want) == 0);
    byte_stream_close(s);
    blob_free(&got);
}

static void check_form(const struct form *f)
{
    struct blob file = { 0 }, text = { 0 }, borders = { 0 }, got = { 0 };
    const char *path = t_path(folder, f->name);
    struct byte_stream *s;

    make_text(&text, 50000, &random_state);
    f->make(&file, &text, &borders);
    t_write(path, file.bytes, file.size);
    T_OK(byte_stream_open(&s, path, &t_err));
    T_EQ(byte_stream_form(s), f->form);
    T_EQ(byte_stream_size(s), file.size);
    T_STR(byte_stream_name(s), path);
    T_EQ(drain(s, &got, 777, &t_err), LEAT_OK);
    T_CHECK(blob_same(&got, &text));
    T_EQ(byte_stream_raw_position(s), file.size);
    check_hash(s, &file);
    byte_stream_close(s);
    for (size_t i = 0; i < 300; i++)
        check_mark(path, &file, &text, &borders, i < 20 ? i : (size_t)t_below(&random_state, text.size + 1));
    check_mark(path, &file, &text, &borders, text.size);
    for (size_t i = 0; i < borders.size; i += 2 * sizeof(uint64_t)) {
        uint64_t border[2];

        memcpy(border, borders.bytes + i, sizeof border);
        check_mark(path, &file, &text, &borders, (size_t)border[1]);
        check_mark(path, &file, &text, &borders, (size_t)border[1] - 1);
    }
    blob_free(&got);
    blob_free(&borders);
    blob_free(&text);
    blob_free(&file);
}

/* ---- Pipes ------------------------------------------------------------------------------------------------------ */

/* A process that writes the file in small parts to a pipe. */
static pid_t feed(int *reading, const struct blob *file)
{
    int ends[2];
    pid_t pid;

    if (pipe(ends) != 0 || (pid = fork()) < 0)
        exit(1);
    if (pid == 0) {
        close(ends[0]);
        for (size_t at = 0; at < file->size;) {
            size_t part = 1 + t_below(&random_state, t_below(&random_state, 2) ? 3 : 2000);

            if (part > file->size - at)
                part = file->size - at;
            if (write(ends[1], file->bytes + at, part) != (ssize_t)part)
                _exit(1);
            at += part;
        }
        _exit(0);
    }
    close(ends[1]);
    *reading = ends[0];
    return pid;
}

static void check_pipe(const struct form *f, size_t bytes, bool standard)
{
    struct blob file = { 0 }, text = { 0 }, borders = { 0 }, got = { 0 };
    struct byte_stream *s;
    struct byte_mark mark;
    char path[100] = "-";
    int reading, status;
    pid_t pid;

    make_text(&text, bytes, &random_state);
    f->make(&file, &text, &borders);
    pid = feed(&reading, &file);
    if (standard)
        dup2(reading, STDIN_FILENO);
    else
        snprintf(path, sizeof path, "/proc/self/fd/%d", reading);
    T_OK(byte_stream_open(&s, path, &t_err));
    T_EQ(byte_stream_form(s), file.size > 0 ? f->form : BYTE_FORM_PLAIN);
    T_EQ(byte_stream_size(s), UINT64_MAX);
    T_STR(byte_stream_name(s), standard ? "standard input" : path);
    T_EQ(drain(s, &got, 5000, &t_err), LEAT_OK);
    T_CHECK(blob_same(&got, &text));
    T_EQ(byte_stream_raw_position(s), file.size);
    check_hash(s, &file);
    byte_stream_mark(s, &mark);
    byte_stream_close(s);
    if (standard)
        T_CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* is not ours to close */
    T_STATUS(byte_stream_open_at(&s, path, &mark, &t_err), LEAT_E_UNSUPPORTED);
    T_CHECK(!s);
    close(reading);
    T_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    blob_free(&got);
    blob_free(&borders);
    blob_free(&text);
    blob_free(&file);
}

/* read_some() does not wait for more than there is. */
static void check_some(void)
{
    struct byte_stream *s;
    char path[100], buf[100];
    size_t got;
    int ends[2];

    if (pipe(ends) != 0)
        exit(1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    T_CHECK(write(ends[1], "one line\n", 9) == 9);
    T_OK(byte_stream_open(&s, path, &t_err));
    T_OK(byte_stream_read_some(s, buf, sizeof buf, &got, &t_err));
    T_EQ(got, 4); /* the bytes that told the form */
    T_OK(byte_stream_read_some(s, buf, sizeof buf, &got, &t_err));
    T_EQ(got, 5);
    T_CHECK(write(ends[1], "two", 3) == 3);
    T_OK(byte_stream_read_some(s, buf, sizeof buf, &got, &t_err));
    T_EQ(got, 3);
    close(ends[1]);
    T_OK(byte_stream_read_some(s, buf, sizeof buf, &got, &t_err));
    T_EQ(got, 0);
    byte_stream_close(s);
    close(ends[0]);
}

/* ---- What cannot be --------------------------------------------------------------------------------------------- */

static void check_refused(void)
{
    struct byte_mark mark = { .raw_offset = 5000, .text_offset = 5000 };
    const char *path = t_path(folder, "short");
    struct byte_stream *s;
    struct blob got = { 0 };

    T_STATUS(byte_stream_open(&s, t_path(folder, "none"), &t_err), LEAT_E_NO_FILE);
    T_CHECK(!s);
    T_STATUS(byte_stream_open(&s, folder, &t_err), LEAT_E_IO);
    T_EQ(t_err.os_error, EISDIR);
    T_CHECK(!s);
    t_write(path, "short", 5);
    T_REFUSED(byte_stream_open_at(&s, path, &mark, &t_err), LEAT_E_TRUNCATED,
              "has 5 bytes, but reading has to resume at byte 5000");
    t_write(path, "", 0);
    T_EQ(read_stream(path, &got, 10, &t_err), LEAT_OK);
    T_EQ(got.size, 0);
    T_OK(byte_stream_open(&s, path, &t_err));
    byte_stream_mark(s, &mark);
    T_EQ(mark.raw_offset, 0);
    byte_stream_close(s);
    byte_stream_close(NULL);
}

int main(void)
{
    struct leat_error err;
    struct byte_stream *s;
    bool gzip;

    random_state = t_seed();
    folder = t_folder();
    t_write(t_path(folder, "x.gz"), "\x1f\x8b", 2);
    gzip = byte_stream_open(&s, t_path(folder, "x.gz"), &err) == LEAT_OK;
    byte_stream_close(s);
    for (unsigned i = 0; i < FORMS - !gzip; i++) {
        check_form(&forms[i]);
        check_pipe(&forms[i], 30000, false);
        check_pipe(&forms[i], 30000, true);
        for (size_t bytes = 1; bytes < 6; bytes++)
            check_pipe(&forms[i], bytes, false);
        check_pipe(&forms[i], 0, false);
    }
    check_some();
    check_refused();
    if (!gzip)
        fprintf(stderr, "no gzip: %s\n", err.message);
    return t_end();
}
