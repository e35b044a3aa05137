/*
 * test_gzip_stream.c: byte_stream over gzip: members of all kinds, every length that a file can be cut to, bits that
 * are wrong, what may follow the last member. Built three times (tests/corpus/corpus.mk): with the inflater of the
 * build, with zlib, and with none. What is delivered before an error is compared with zlib fed byte by byte.
 */
#include "corpus/parquet/page.h"
#include "corpus/streams/inflater.h"
#include "stream_cases.h"

static char path[600];

#if defined(LEAT_TEST_ZLIB)
#include <zlib.h>

static uint64_t drawn;
static unsigned step; /* every step-th length and bit is tried */

/* ---- Making ----------------------------------------------------------------------------------------------------- */

struct member_kind {
    int level, strategy;
    bool extra, name, comment, header_sum, flushes;
};

static void deflate_text(struct blob *out, const struct blob *text, const struct member_kind *kind)
{
    z_stream z = { 0 };
    uint8_t buf[4096];
    int code;

    if (deflateInit2(&z, kind->level, Z_DEFLATED, -15, 8, kind->strategy) != Z_OK)
        exit(1);
    z.next_in = text->bytes;
    do {
        size_t left = text->size - (size_t)(z.next_in - text->bytes);

        z.avail_in = (uInt)(kind->flushes && left > 100 ? 100 : left);
        do {
            z.next_out = buf;
            z.avail_out = sizeof buf;
            code = deflate(&z, z.avail_in == left ? Z_FINISH : Z_FULL_FLUSH);
            blob_add(out, buf, sizeof buf - z.avail_out);
        } while (z.avail_out == 0);
    } while (code != Z_STREAM_END);
    deflateEnd(&z);
}

static void add_member(struct blob *out, const struct blob *text, const struct member_kind *kind)
{
    size_t begin = out->size;
    uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 0, 255 }, tail[8];

    head[3] = (uint8_t)(kind->header_sum * 2 + kind->extra * 4 + kind->name * 8 + kind->comment * 16);
    blob_add(out, head, sizeof head);
    if (kind->extra)
        blob_add(out,
                 "\x05\x00"
                 "extra",
                 7);
    if (kind->name)
        blob_add(out, "a name.txt", 11);
    if (kind->comment)
        blob_add(out, "", 1);
    if (kind->header_sum) {
        uint32_t sum = (uint32_t)crc32(0, out->bytes + begin, (uInt)(out->size - begin));

        tail[0] = (uint8_t)sum;
        tail[1] = (uint8_t)(sum >> 8);
        blob_add(out, tail, 2);
    }
    deflate_text(out, text, kind);
    bytes_store32(tail, (uint32_t)crc32(crc32(0, NULL, 0), text->bytes, (uInt)text->size));
    bytes_store32(tail + 4, (uint32_t)text->size);
    blob_add(out, tail, 8);
}

static const struct member_kind kinds[] = {
    { 6, Z_DEFAULT_STRATEGY, false, true, false, false, false },
    { 1, Z_HUFFMAN_ONLY, true, false, false, true, false },
    { 9, Z_FIXED, true, true, true, true, false },
    { 0, Z_DEFAULT_STRATEGY, 0, 0, 0, 0, false },
    { 6, Z_DEFAULT_STRATEGY, 0, 0, true, 0, true },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Members, each second one empty, and all of their text. */
static void make_file(struct blob *file, struct blob *text, size_t bytes, uint64_t *random)
{
    struct blob part = { 0 };

    for (unsigned i = 0; i < KINDS; i++) {
        part.size = 0;
        make_text(&part, bytes + t_below(random, bytes), random);
        add_member(file, &part, &kinds[i]);
        blob_add(text, part.bytes, part.size);
        part.size = 0;
        add_member(file, &part, &kinds[KINDS - 1 - i]);
    }
    blob_free(&part);
}

/* ---- Expectation ------------------------------------------------------------------------------------------------ */

/* zlib, fed byte by byte; what follows a member may be another one, or zeros. */
static enum leat_status plainly(const struct blob *file, struct blob *out)
{
    z_stream z = { 0 };
    uint8_t buf[1 << 16];
    bool between = false;
    size_t i = 0;
    int code = Z_OK;

    if (inflateInit2(&z, 15 + 16) != Z_OK)
        exit(1);
    while (i < file->size) {
        if (between && file->bytes[i] == 0)
            break;
        if (between)
            inflateReset(&z);
        between = false;
        z.next_in = file->bytes + i;
        z.avail_in = 1;
        do {
            z.next_out = buf;
            z.avail_out = sizeof buf;
            code = inflate(&z, Z_NO_FLUSH);
            blob_add(out, buf, sizeof buf - z.avail_out);
        } while (code == Z_OK && z.avail_out == 0);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            break;
        between = code == Z_STREAM_END;
        i++;
    }
    inflateEnd(&z);
    while (between && i < file->size && file->bytes[i] == 0)
        i++;
    if (i < file->size)
        return LEAT_E_TEXT;
    return between ? LEAT_OK : LEAT_E_TRUNCATED;
}

/* Of broken data, isa-l gives what it takes for text until it sees the defect, and zlib sees some of them earlier. */
static bool same_text(const struct blob *got, const struct blob *want, enum leat_status s)
{
    struct blob a = *got, b = *want;

    if (s == LEAT_E_TEXT && strcmp(inflater_library.name, "isa-l") == 0)
        a.size = b.size = a.size < b.size ? a.size : b.size;
    return blob_same(&a, &b);
}

/* `whole`, if not NULL, is what the text was before the file was damaged: isa-l does not mind a wrong table of codes
 * that are not used, and the text is right then. */
static void check_damaged(const struct blob *file, const struct blob *want, enum leat_status status, size_t piece,
                          const struct blob *whole)
{
    struct leat_error err = { 0 };
    struct blob got = { 0 };
    enum leat_status s;

    t_write(path, file->bytes, file->size);
    s = read_stream(path, &got, piece, &err);
    if (whole && s == LEAT_OK && strcmp(inflater_library.name, "isa-l") == 0) {
        status = s;
        want = whole;
    }
    if (s != status)
        T_FAIL("%zu bytes: %s instead of %s: %s", file->size, leat_status_name(s), leat_status_name(status),
               err.message);
    if (s != LEAT_OK)
        T_CONTAINS(err.message, path);
    if (!same_text(&got, want, s))
        T_FAIL("%zu bytes (%s): %zu bytes of text instead of %zu", file->size, leat_status_name(s), got.size,
               want->size);
    blob_free(&got);
}

static void check_file(const struct blob *file, const struct blob *want, enum leat_status status, size_t piece)
{
    check_damaged(file, want, status, piece, NULL);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

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

    make_file(&file, &text, 500, random);
    for (size_t size = 2 + t_below(&drawn, step); size < file.size; size += step) {
        struct blob cut = { file.bytes, size, 0 }, want = { 0 };
        enum leat_status s = plainly(&cut, &want);

        check_file(&cut, &want, s, 1 + t_below(random, 2000));
        blob_free(&want);
    }
    blob_free(&file);
    blob_free(&text);
}

/* Each bit wrong in turn, or some of them. */
static void check_broken(uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 }, want = { 0 };

    make_file(&file, &text, 150, random);
    for (size_t bit = 16 + t_below(&drawn, step); bit < 8 * file.size; bit += step) {
        enum leat_status s;

        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        want.size = 0;
        s = plainly(&file, &want);
        check_damaged(&file, &want, s, 1 + t_below(random, 2000), &text);
        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    blob_free(&want);
    blob_free(&file);
    blob_free(&text);
}

static void check_behind(uint64_t *random)
{
    static const struct {
        const char *bytes;
        size_t count;
        enum leat_status status;
    } tails[] = {
        { "\0", 1, LEAT_OK },
        { "\0\0\0\0\0\0\0\0\0\0\0\0", 12, LEAT_OK },
        { "\0\0\0x", 4, LEAT_E_TEXT },
        { "\0\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 21, LEAT_E_TEXT }, /* gzip(1) stops there too */
        { "g", 1, LEAT_E_TEXT },
        { "garbage that is longer than a header", 36, LEAT_E_TEXT },
        { "\n", 1, LEAT_E_TEXT },
        { "\x1f", 1, LEAT_E_TRUNCATED },
        { "\x1f\x8b", 2, LEAT_E_TRUNCATED },
        { "\x1f\x8c", 2, LEAT_E_TEXT },
        { "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20, LEAT_OK },
        { "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0\0\0", 22, LEAT_OK },
    };
    struct blob file = { 0 }, text = { 0 }, zeros = { 0 };

    make_file(&file, &text, 300, random);
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        size_t size = file.size;

        blob_add(&file, tails[i].bytes, tails[i].count);
        check_file(&file, &text, tails[i].status, 1 + t_below(random, 5000));
        file.size = size;
    }
    for (size_t i = 0; i < 700000; i += 1000)
        blob_add(&zeros, (char[1000]) { 0 }, 1000);
    blob_add(&file, zeros.bytes, zeros.size); /* more than one block */
    check_file(&file, &text, LEAT_OK, 5000);
    file.bytes[file.size - 1] = 1;
    check_file(&file, &text, LEAT_E_TEXT, 5000);
    blob_free(&zeros);
    blob_free(&file);
    blob_free(&text);
}

/* A window of 32 KiB that reaches back over the borders of blocks and buffers, and text that repeats for long. */
static void check_far_matches(uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 }, part = { 0 };

    for (unsigned i = 0; i < 32768 - 300; i++)
        blob_add(&part, &(char) { (char)t_random(random) }, 1);
    for (unsigned i = 0; i < 30; i++) {
        blob_add(&text, part.bytes, part.size);
        for (unsigned n = 0; n < 20000; n++)
            blob_add(&text, "z", 1);
        blob_add(&text, part.bytes, 200);
        if (i == 3) { /* some windows are enough for few bytes at a time: isa-l moves one in each call */
            add_member(&file, &text, &kinds[0]);
            check_file(&file, &text, LEAT_OK, 10);
            file.size = 0;
        }
    }
    add_member(&file, &text, &kinds[0]);
    check_file(&file, &text, LEAT_OK, 100);
    check_file(&file, &text, LEAT_OK, 10000);
    check_file(&file, &text, LEAT_OK, 1 << 20);
    blob_free(&file);
    blob_free(&text);
    blob_free(&part);
}

/* Blocks of deflate data that are not compressed, none of them the last. */
static void add_stored(struct blob *out, const struct blob *text)
{
    uint8_t head[5] = { 0 };

    for (size_t at = 0, part; at < text->size; at += part) {
        part = text->size - at < 60000 ? text->size - at : 60000;
        bytes_store32(head + 1, (uint32_t)part | ~(uint32_t)part << 16);
        blob_add(out, head, sizeof head);
        blob_add(out, text->bytes + at, part);
    }
}

/*
 * Matches that are defects, in the first call and in a later one: isa-l counted their length as text, of whatever lay
 * in its buffer, unless it was fed few bytes at a time, so that a run that was resumed gave other text. And the place
 * that was named depended on how much text was read at once, by up to 256 KiB, so that an index did.
 */
static void check_defect(const char *bits, unsigned before, bool singly, uint64_t *random)
{
    struct blob file = { 0 }, text = { 0 }, want = { 0 };
    uint8_t block[200] = { 0 };

    for (unsigned i = 0; i < before; i++)
        blob_add(&text, &(char) { (char)('a' + t_below(random, 26)) }, 1);
    for (unsigned i = 0; bits[i]; i++)
        block[i / 8] |= (uint8_t)((bits[i] - '0') << i % 8);
    blob_add(&file, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    add_stored(&file, &text);
    blob_add(&file, block, sizeof block);
    blob_add(&text, "a", 1);
    T_EQ(plainly(&file, &want), LEAT_E_TEXT);
    T_CHECK(blob_same(&want, &text));
    t_write(path, file.bytes, file.size);
    for (size_t piece = before > 60000 ? 100 : singly ? 1 : 10; piece <= 100000; piece *= 10) {
        struct leat_error err = { 0 };
        struct blob got = { 0 };

        T_EQ(read_stream(path, &got, piece, &err), LEAT_E_TEXT);
        if (!blob_same(&got, &text))
            T_FAIL("%u bytes before, pieces of %zu: %zu bytes of text", before, piece, got.size);
        T_EQ(err.offset, file.size - sizeof block + (strlen(bits) + 7) / 8); /* what is packed of a file says it */
        blob_free(&got);
    }
    blob_free(&file);
    blob_free(&text);
    blob_free(&want);
}

static void check_defects(uint64_t *random)
{
    /* the last block, of fixed codes: an "a", three bytes from somewhere; and behind it what nobody looks at */
    static const char too_far[] = "11010010001000000111101"
                                  "1111111111111"; /* from 32768 bytes before */
    static const char no_distance[] = "11010010001000000111110";
    /* byte by byte, of which each takes as long as 32 KiB: none before it, and some; more are tried in larger pieces */
    const unsigned some = 1 + (unsigned)t_below(&drawn, 4), more = 1 + (unsigned)t_below(&drawn, 9);

    for (unsigned i = 0; i <= 4; i++)
        check_defect(too_far, 5000 * i, i == 0 || i == some || t_every(), random);
    for (unsigned i = 0; i <= 6; i++)
        check_defect(no_distance, 10000 * i, i == 0 || i == 1 + some % 3 || t_every(), random);
    for (unsigned i = 1; i <= 10; i++) /* beyond what is read at once, and another one of them */
        if (i == 10 || i == more || t_every())
            check_defect(no_distance, 100000 * i, false, random);
}

static int check_inflater(void)
{
    uint64_t random = t_seed();

    drawn = t_draw();
    step = t_step(T_SANITIZED ? 5 : 3);
    check_whole(&random);
    check_cut(&random);
    check_broken(&random);
    check_behind(&random);
    check_far_matches(&random);
    check_defects(&random);
    return t_end();
}

#else

static int check_inflater(void)
{
    return t_skip("the test makes its files with zlib (zlib1g-dev)");
}

#endif

/* Names and first bytes have to agree, with any inflater. */
static void check_names(const char *folder)
{
    struct byte_stream *s;
    struct leat_error err;
    char name[600];

    snprintf(name, sizeof name, "%s/plain.gz", folder);
    t_write(name, "text", 4);
    T_STATUS(byte_stream_open(&s, name, &err), LEAT_E_TEXT);
    T_CONTAINS(err.message, "is named .gz, but does not start like a gzip file");
    T_CHECK(!s);
    for (size_t bytes = 0; inflater_library.name && bytes <= 10; bytes++) {
        struct blob got = { 0 };

        t_write(name, "\x1f\x8b\x08\0\0\0\0\0\0\x03", bytes);
        T_STATUS(read_stream(name, &got, 10, &err), LEAT_E_TRUNCATED);
        T_CONTAINS(err.message, "plain.gz ends in the middle of a gzip member");
        T_EQ(err.offset, bytes);
        T_EQ(got.size, 0);
    }
    snprintf(name, sizeof name, "%s/gzip.jsonl", folder);
    t_write(name, "\x1f\x8b", 2);
    if (inflater_library.name) {
        T_OK(byte_stream_open(&s, name, &t_err));
        T_EQ(byte_stream_form(s), BYTE_FORM_GZIP);
        byte_stream_close(s);
    } else {
        T_STATUS(byte_stream_open(&s, name, &err), LEAT_E_UNSUPPORTED);
        T_CONTAINS(err.message, "it has neither isa-l (libisal-dev) nor zlib (zlib1g-dev)");
        T_CHECK(!s);
    }
}

/* Of pages of Parquet, for which no inflater is needed. */
static void check_sum(void)
{
    T_EQ(crc32_of(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
    T_EQ(crc32_of(crc32_of(0, (const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5), 0xcbf43926);
    T_EQ(crc32_of(7, (const uint8_t *)"", 0), 7);
}

int main(void)
{
    const char *folder = t_folder();

    memory_file(path, folder);
    fprintf(stderr, "inflater: %s\n", inflater_library.name ? inflater_library.name : "none");
    check_names(folder);
    check_sum();
    return inflater_library.name && !t_failures ? check_inflater() : t_end();
}
