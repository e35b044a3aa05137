/*
 * unicode_dump.c: what leat's Unicode functions say, for check_unicode.py to compare with the reference libraries.
 *
 *   unicode_dump classes              the class of each code point in each edition, u16
 *   unicode_dump chars                the character tests of each code point, u8
 *   unicode_dump FORM|lower|repair    from standard input, text by text, to standard output; FORM is nfc, nfd, ...
 *   unicode_dump longest|graphemes MAP
 *                                     the same through the charsmap of that file
 *
 * Texts are preceded by their length, u32; numbers are little-endian. `repair` puts the length of the valid prefix,
 * u32, before each result. Normal forms are also made piece by piece, cut at each boundary, and must come out the same.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/unicode/normalize_unicode.h"
#include "tokenizer/unicode/unicode.h"

static void fail(const char *what)
{
    fprintf(stderr, "unicode_dump: %s\n", what);
    exit(1);
}

static void ok(enum leat_status s, const struct leat_error *err)
{
    if (s != LEAT_OK)
        fail(err->message);
}

static void put(const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, stdout) != size)
        fail("cannot write");
}

static void dump_classes(void)
{
    for (int e = 0; e < UNICODE_EDITIONS; e++)
        for (uint32_t c = 0; c < 0x110000; c++) {
            uint16_t word = bytes_le16(unicode_class(&unicode_classes[e], c));

            put(&word, 2);
        }
}

static void dump_chars(void)
{
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint8_t word = char_tests(c);

        put(&word, 1);
    }
}

static void read_file(struct buffer *b, FILE *file)
{
    struct leat_error err;
    size_t got;

    do {
        ok(buffer_reserve(b, 1 << 16, &err), &err);
        got = fread(b->bytes + b->size, 1, b->room - b->size, file);
        b->size += got;
    } while (got > 0);
}

/* ---- Normal forms ---- */

static void check_pieces(enum normalize_form form, const uint8_t *text, size_t size, const struct buffer *whole)
{
    struct buffer out = { .size = 0 };
    struct leat_error err;
    size_t from = 0, same, bytes;

    for (size_t at = 0; at < size; at += bytes)
        if (normalize_boundary_before(form, unicode_decode(text + at, &bytes))) {
            ok(normalize_append(&out, form, text + from, at - from, &err), &err);
            from = at;
        }
    ok(normalize_append(&out, form, text + from, size - from, &err), &err);
    if (out.size != whole->size || (out.size && memcmp(out.bytes, whole->bytes, out.size) != 0))
        fail("pieces are normalized to other text than the whole");
    same = normalize_prefix(form, text, size);
    if (same > out.size || (same && memcmp(text, out.bytes, same) != 0) || (same == size && out.size != size))
        fail("the quick check is wrong");
    buffer_free(&out);
}

/* ---- Texts ---- */

struct job {
    const char *what;
    int form; /* or -1 */
    struct charsmap *map;
};

static void run(const struct job *job, struct buffer *out, const uint8_t *text, size_t size)
{
    struct leat_error err;
    enum charsmap_mode mode = strcmp(job->what, "longest") == 0 ? CHARSMAP_LONGEST : CHARSMAP_GRAPHEMES;

    if (job->form >= 0) {
        ok(normalize_append(out, (enum normalize_form)job->form, text, size, &err), &err);
        check_pieces((enum normalize_form)job->form, text, size, out);
    } else if (strcmp(job->what, "lower") == 0) {
        size_t same = lowercase_prefix(text, size);

        ok(lowercase_append(out, text, size, &err), &err);
        if (same > out->size || (same && memcmp(out->bytes, text, same) != 0) || (same == size && out->size != size))
            fail("lowercase_prefix() is wrong");
    } else if (strcmp(job->what, "repair") == 0) {
        uint8_t prefix[4];
        uint64_t replaced;

        bytes_store32(prefix, (uint32_t)utf8_valid_prefix(text, size));
        ok(buffer_append(out, prefix, 4, &err), &err);
        ok(buffer_append_repaired(out, text, size, &replaced, &err), &err);
        if ((replaced == 0) != (bytes_load32(prefix) == size) ||
            utf8_valid_prefix(out->bytes + 4, out->size - 4) != out->size - 4)
            fail("what is repaired is not valid");
    } else {
        size_t same = charsmap_prefix(job->map, mode, text, size);

        ok(charsmap_append(out, job->map, mode, text, size, &err), &err);
        if (same > out->size || (same && memcmp(out->bytes, text, same) != 0) || (same == size && out->size != size))
            fail("charsmap_prefix() is wrong");
    }
}

static void run_all(const struct job *job)
{
    struct buffer in = { .size = 0 }, out = { .size = 0 };
    size_t at = 0;

    read_file(&in, stdin);
    while (at < in.size) {
        size_t size = bytes_load32(in.bytes + at);
        uint8_t length[4];
        /* a block of its own, so that a sanitizer sees every byte read beyond */
        uint8_t *text = malloc(size ? size : 1);

        if (!text)
            fail("no memory");
        memcpy(text, in.bytes + at + 4, size);
        out.size = 0;
        run(job, &out, text, size);
        bytes_store32(length, (uint32_t)out.size);
        put(length, 4);
        put(out.bytes, out.size);
        free(text);
        at += 4 + size;
    }
    buffer_free(&in);
    buffer_free(&out);
}

static struct charsmap *read_map(const char *path)
{
    struct buffer b = { .size = 0 };
    FILE *file = fopen(path, "rb");
    struct charsmap *map;
    struct leat_error err;

    if (!file)
        fail("cannot open the charsmap");
    read_file(&b, file);
    fclose(file);
    ok(charsmap_create(&map, b.bytes, b.size, &err), &err);
    buffer_free(&b);
    return map;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = { "nfc", "nfd", "nfkc", "nfkd" };
    struct job job = { argc > 1 ? argv[1] : "", -1, NULL };

    for (int i = 0; i < 4; i++)
        if (strcmp(job.what, forms[i]) == 0)
            job.form = i;
    if (strcmp(job.what, "classes") == 0) {
        dump_classes();
    } else if (strcmp(job.what, "chars") == 0) {
        dump_chars();
    } else if (job.form >= 0 || strcmp(job.what, "lower") == 0 || strcmp(job.what, "repair") == 0) {
        run_all(&job);
    } else if (argc == 3 && (strcmp(job.what, "longest") == 0 || strcmp(job.what, "graphemes") == 0)) {
        job.map = read_map(argv[2]);
        run_all(&job);
        charsmap_free(job.map);
    } else {
        fail("say what to dump; see the head of unicode_dump.c");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
