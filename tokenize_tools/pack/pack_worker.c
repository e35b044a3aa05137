/* pack_worker.c: see pack_worker.h. */
#include "pack_worker.h"

#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/utf8.h"
#include "corpus/lines.h"

/* A thread's buffers are given back beyond this, so that one long record does not stay in memory. */
#define KEEP_BYTES ((size_t)4 << 20)

enum leat_status pack_worker_make(struct pack_worker *w, struct pack_setup *setup, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;

    memset(w, 0, sizeof *w);
    w->setup = setup;
    options.special = setup->special;
    options.most_bytes = setup->piece_bytes;
    return leat_encoder_open(&w->encoder, setup->tokenizer, &options, err);
}

void pack_worker_free(struct pack_worker *w)
{
    leat_encoder_close(w->encoder);
    buffer_free(&w->text);
    buffer_free(&w->repaired);
    buffer_free(&w->narrow);
    memset(w, 0, sizeof *w);
}

uint64_t pack_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum leat_status encode_block(struct pack_worker *w, struct unit *u, struct leat_error *err)
{
    char *text = (char *)u->text.bytes;
    enum leat_status s;

    u->newlines = lines_count(text, u->text.size); /* before scanning, which writes over the text */
    s = unit_scan(w, u, text, u->text.size, u->offset, err);
    return s == LEAT_OK ? unit_encode(w, u, text, err) : s;
}

static enum leat_status encode_record(struct pack_worker *w, struct unit *u, struct leat_error *err)
{
    u->newlines = 1;
    return long_record_encode(w, u, u->record.fd, 0, u->record.bytes, u->offset, 0, err);
}

/* Texts of a program: whether they are UTF-8 has not been looked at. */
static enum leat_status encode_given(struct pack_worker *w, struct unit *u, struct leat_error *err)
{
    const char *text = u->text.bytes ? (const char *)u->text.bytes : ""; /* where all of them are empty */
    size_t kept = 0;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->document_count; i++) {
        struct unit_document *d = &u->documents[i];
        const uint8_t *bytes = (const uint8_t *)text + d->text.begin;
        size_t valid = utf8_valid_prefix(bytes, d->text.bytes);
        struct leat_error why;

        d->malformed = valid < d->text.bytes;
        if (d->malformed && w->setup->reject_invalid) {
            unit_say_malformed(valid, &why);
            s = unit_refuse(u, d, why.message, bytes, d->text.bytes, err);
        } else {
            u->documents[kept++] = *d;
        }
    }
    u->document_count = kept;
    return s == LEAT_OK ? unit_encode(w, u, text, err) : s;
}

static enum leat_status run(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    switch (u->kind) {
    case UNIT_RANGE:
    case UNIT_COUNT:
        return unit_read_range(w, u, fd, err);
    case UNIT_BLOCK:
        return encode_block(w, u, err);
    case UNIT_RECORD:
        return encode_record(w, u, err);
    case UNIT_FILES:
        return unit_read_files(w, u, err);
    case UNIT_TEXTS:
        return encode_given(w, u, err);
    case UNIT_IDS:
    case UNIT_INPUT:
        break;
    }
    return LEAT_OK;
}

static void give_back(struct buffer *b)
{
    if (b->room > KEEP_BYTES)
        buffer_free(b);
}

void pack_worker_run(struct pack_worker *w, struct unit *u, int fd)
{
    uint64_t began = pack_cpu_ns(), others = u->spent_ns[STAGE_READ] + u->spent_ns[STAGE_SCAN];

    if (u->status == LEAT_OK)
        u->status = run(w, u, fd, &u->error);
    others = u->spent_ns[STAGE_READ] + u->spent_ns[STAGE_SCAN] - others;
    u->spent_ns[STAGE_ENCODE] += pack_cpu_ns() - began - others;
    buffer_free(&u->text); /* what waits to be written holds ids only */
    spool_close(&u->record);
    give_back(&w->text);
    give_back(&w->repaired);
    give_back(&w->narrow);
}
