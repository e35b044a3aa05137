/*
 * test_corpus_faults.c: whichever allocation or system call fails while an input is opened, read, and gone on with from
 * a mark, or a record is pushed: an error that says so, nothing left allocated or open, and never a text that is
 * shorter without an error. Short and interrupted reads change nothing.
 */
#include <zstd.h>

#include "corpus/document_input.h"
#include "corpus/record/record.h"
#include "corpus/stream_cases.h"
#include "corpus/streams/inflater.h"
#include "support/fault.h"

static struct blob text, want;
static const char *path;

/* Reads half, makes a mark, goes on from there in another stream; the text comes to `got`, which has room. */
static enum leat_status use_stream(struct blob *got, struct leat_error *err)
{
    struct byte_stream *s;
    struct byte_mark mark;
    enum leat_status status = byte_stream_open(&s, path, err);
    size_t some = 1;

    got->size = 0;
    if (status != LEAT_OK) {
        T_CHECK(!s);
        return status;
    }
    status = byte_stream_read(s, got->bytes, text.size / 2, &some, err);
    byte_stream_mark(s, &mark);
    byte_stream_close(s);
    if (status != LEAT_OK)
        return status;
    got->size = (size_t)mark.text_offset;
    status = byte_stream_open_at(&s, path, &mark, err);
    while (status == LEAT_OK && some > 0) {
        status = byte_stream_read(s, got->bytes + got->size, 10000, &some, err);
        got->size += some;
    }
    byte_stream_close(s);
    return status;
}

/* The texts of all documents, one behind another. */
static enum leat_status use_kind(enum document_kind kind, struct blob *got, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status status = document_input_open(&in, path, kind, "text", err);
    const char *document;
    bool found = true;
    size_t bytes;

    got->size = 0;
    if (status != LEAT_OK) {
        T_CHECK(!in);
        return status;
    }
    while (status == LEAT_OK && found) {
        status = document_input_next(in, &document, &bytes, &found, err);
        if (status == LEAT_OK && found) {
            memcpy(got->bytes + got->size, document, bytes);
            got->size += bytes;
        }
    }
    document_input_close(in);
    return status;
}

static enum leat_status use_documents(struct blob *got, struct leat_error *err)
{
    return use_kind(DOCUMENT_JSONL, got, err);
}

static enum leat_status use_whole(struct blob *got, struct leat_error *err)
{
    return use_kind(DOCUMENT_WHOLE, got, err);
}

/* A record in parts, whose text is given as it lies there. */
static enum leat_status use_record(struct blob *got, struct leat_error *err)
{
    static const char begin[] = "{\"id\":1,\"text\":\"", end[] = "\"}";
    struct record_fields fields = { 0 };
    struct record record = { 0 };
    enum leat_status status = record_want_texts(&fields, "text", "id", err);

    if (status == LEAT_OK)
        status = record_make(&record, &fields, err);
    if (status == LEAT_OK) {
        record_begin(&record);
        record_feed(&record, begin, sizeof begin - 1);
        for (unsigned i = 0; i < 5; i++)
            record_feed(&record, (const char *)want.bytes, 100);
        record_feed(&record, end, sizeof end - 1);
        status = record_end(&record, err);
    }
    if (status == LEAT_OK) {
        T_EQ(record_value(&record, fields.text)->bytes, 500);
        T_EQ(record_value(&record, fields.text)->begin, sizeof begin - 1);
        for (size_t i = 0; i < 5; i++)
            memcpy(got->bytes + i * 100, want.bytes, 100);
        got->size = 500;
    }
    record_free(&record);
    record_fields_free(&fields);
    return status;
}

typedef enum leat_status use_function(struct blob *got, struct leat_error *err);

static void check_right(const char *name, const struct blob *got, const struct blob *right)
{
    if (!blob_same(got, right))
        T_FAIL("%s: %zu bytes instead of %zu", name, got->size, right->size);
}

/* Call n fails. Returns whether there was an n-th. */
static bool check_call(const char *name, use_function *use, struct blob *got, const struct blob *right,
                       enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    long before = fault_allocations();
    unsigned files = fault_open_files();
    struct leat_error err = { 0 };
    enum leat_status s, expected = kind == FAULT_MEMORY ? LEAT_E_NO_MEMORY : LEAT_E_IO;
    uint64_t calls;

    fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
    s = use(got, &err);
    calls = fault_disarm();
    if (s == LEAT_OK)
        check_right(name, got, right);
    else if (s != expected || err.status != s || !err.message[0])
        T_FAIL("%s, call %" PRIu64 " (%s): %s, \"%s\"", name, n, fault_failed() ? fault_failed() : "none",
               leat_status_name(s), err.message);
    if (s == LEAT_OK && calls >= n && kind == FAULT_SYSTEM && strcmp(fault_failed(), "close") != 0)
        T_FAIL("%s: call %" PRIu64 " (%s) failed, and nothing said so", name, n, fault_failed());
    T_EQ(fault_allocations(), before);
    T_EQ(fault_open_files(), files);
    return calls >= n;
}

static void check_use(const char *name, use_function *use)
{
    static const enum fault_mode calm[] = { FAULT_SHORT, FAULT_INTERRUPT };
    struct blob got = { malloc(4 * text.size), 0, 4 * text.size }, right = { malloc(4 * text.size), 0, 4 * text.size };
    uint64_t n = 1;

    if (!got.bytes || !right.bytes)
        exit(1);
    T_OK(use(&right, &t_err));
    for (unsigned kind = FAULT_MEMORY; kind <= FAULT_SYSTEM; kind++)
        for (unsigned mode = FAULT_ONCE; mode <= FAULT_FROM_THEN_ON; mode++)
            for (n = 1;
                 check_call(name, use, &got, &right, (enum fault_kind)kind, (enum fault_mode)mode, n) && n < 9999;)
                n++;
    for (unsigned i = 0; i < 2; i++) {
        fault_arm(FAULT_SYSTEM, calm[i], 1, EINTR);
        T_OK(use(&got, &t_err));
        fault_disarm();
        check_right(name, &got, &right);
    }
    blob_free(&got);
    blob_free(&right);
}

static void make_records(uint64_t *random)
{
    while (text.size < 400000) {
        struct blob part = { 0 };

        make_text(&part, 1 + t_below(random, 3000), random);
        blob_add(&text, "{\"text\":\"", 9);
        for (size_t i = 0; i < part.size; i++) {
            if (part.bytes[i] == '\n')
                blob_add(&text, "\\n", 2);
            else
                blob_add(&text, part.bytes + i, 1);
        }
        blob_add(&text, "\"}\n", 3);
        blob_free(&part);
    }
}

/* Two frames, so that there is a mark to go on from. */
static void make_zstd(struct blob *file)
{
    size_t room = ZSTD_compressBound(text.size);

    file->bytes = malloc(2 * room);
    if (!file->bytes)
        exit(1);
    file->size = ZSTD_compress(file->bytes, room, text.bytes, text.size / 3, 1);
    file->size +=
        ZSTD_compress(file->bytes + file->size, room, text.bytes + text.size / 3, text.size - text.size / 3, 1);
}

/* A member that holds the text as it is, in blocks of deflate data that are not compressed. */
static void make_gzip(struct blob *file)
{
    uint8_t head[5] = { 0 }, tail[8];

    file->size = 0;
    blob_add(file, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    for (size_t at = 0, part; at < text.size; at += part) {
        part = text.size - at < 60000 ? text.size - at : 60000;
        head[0] = at + part == text.size; /* the last */
        bytes_store32(head + 1, (uint32_t)part | ~(uint32_t)part << 16);
        blob_add(file, head, sizeof head);
        blob_add(file, text.bytes + at, part);
    }
    bytes_store32(tail, inflater_library.crc(0, text.bytes, text.size));
    bytes_store32(tail + 4, (uint32_t)text.size);
    blob_add(file, tail, sizeof tail);
}

/* A member of fixed codes, "aaaa" and so on, that ends in its data: what there is of it comes before the error. */
static enum leat_status use_cut_off(struct blob *got, struct leat_error *err)
{
    struct byte_stream *s;
    enum leat_status status = byte_stream_open(&s, path, err);
    size_t some = 1;

    got->size = 0;
    while (status == LEAT_OK && some > 0) {
        status = byte_stream_read(s, got->bytes + got->size, 100, &some, err);
        got->size += some;
    }
    byte_stream_close(s);
    return status == LEAT_E_TRUNCATED ? LEAT_OK : status;
}

int main(void)
{
    uint64_t random = t_seed();
    const char *folder = t_folder();
    struct blob file = { 0 };

    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0); /* what fails is an error at once */
    make_records(&random);
    make_text(&want, 1000, &random);
    for (size_t i = 0; i < want.size; i++)
        if (want.bytes[i] == '\n')
            want.bytes[i] = ' ';
    path = t_path(folder, "plain.jsonl");
    t_write(path, text.bytes, text.size);
    check_use("plain", use_stream);
    check_use("documents", use_documents);
    path = t_path(folder, "file.jsonl.zst");
    make_zstd(&file);
    t_write(path, file.bytes, file.size);
    check_use("zstd", use_stream);
    check_use("documents of zstd", use_documents);
    check_use("push", use_record);
    path = t_path(folder, "plain.txt");
    t_write(path, text.bytes, text.size);
    check_use("one document", use_whole);
    if (inflater_library.name) {
        path = t_path(folder, "file.jsonl.gz");
        make_gzip(&file);
        t_write(path, file.bytes, file.size);
        check_use("documents of gzip", use_documents);
        path = t_path(folder, "cut.gz");
        t_write(path, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4c\x4c", 14);
        check_use("gzip that is cut off", use_cut_off);
    }
    path = t_path(folder, "empty.gz");
    text.size = 10;
    t_write(path, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);
    if (use_stream(&(struct blob) { text.bytes, 0, text.size }, &t_err) == LEAT_OK)
        check_use("gzip", use_stream);
    blob_free(&file);
    blob_free(&text);
    blob_free(&want);
    return t_end();
}
