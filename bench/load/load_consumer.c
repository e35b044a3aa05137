/* load_consumer.c: see load_consumer.h. */
#include "load_consumer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/device/cuda_counted.h"
#include "bench/measure/clocks.h"

struct load_hash {
    XXH3_state_t state;
};

/* ---- Memory ---- */

static enum leat_status make_buffers(struct load_consumer *c, uint64_t numbers, uint64_t length, struct leat_error *err)
{
    size_t bytes = (size_t)(numbers * 8 / 64 * 64 + 64);
    bool hashes = c->v->checksum || c->v->dump;

    c->inputs = aligned_alloc(64, bytes);
    c->labels = aligned_alloc(64, bytes);
    c->positions = aligned_alloc(64, bytes);
    c->cu_seqlens_room = numbers + 1;
    c->sequences = c->v->output == LOAD_PACKED ? calloc(c->cu_seqlens_room, sizeof *c->sequences) : NULL;
    c->row = malloc((size_t)(length + 1) * 8);
    c->hash = hashes ? aligned_alloc(64, sizeof *c->hash) : NULL;
    if (!c->inputs || !c->labels || !c->positions || !c->row || (c->v->output == LOAD_PACKED && !c->sequences) ||
        (hashes && !c->hash))
        return status_no_memory(err, 3 * bytes);
    memset(c->inputs, 0, bytes);
    memset(c->labels, 0, bytes);
    memset(c->positions, 0, bytes);
    c->hashing = hashes;
    if (hashes)
        XXH3_64bits_reset(&c->hash->state);
    return LEAT_OK;
}

static enum leat_status open_device(struct load_consumer *c, uint64_t numbers, struct leat_error *err)
{
    enum leat_status s;

    if (!load_device_is_gpu(c->v->device))
        return LEAT_OK;
    cuda_counted_begin();
    s = load_device_open(&c->device, c->v->device, c->v->driver, err);
    c->on_device = s == LEAT_OK;
    for (unsigned i = 0; s == LEAT_OK && i < 4; i++)
        s = load_device_allocate(&c->device, &c->there[i],
                                 i < 3 ? (size_t)numbers * 8 : c->cu_seqlens_room * sizeof *c->sequences, err);
    return s;
}

enum leat_status load_consumer_open(struct load_consumer *c, const struct load_values *v, uint64_t rows,
                                    uint64_t length, struct leat_error *err)
{
    uint64_t numbers = rows * (length + 1);
    enum leat_status s;

    c->v = v;
    s = make_buffers(c, numbers, length, err);
    return s == LEAT_OK ? open_device(c, numbers, err) : s;
}

void load_consumer_close(struct load_consumer *c)
{
    for (unsigned i = 0; c->on_device && i < 4; i++)
        load_device_free(&c->device, c->there[i]);
    if (c->on_device)
        load_device_close(&c->device);
    free(c->inputs);
    free(c->labels);
    free(c->positions);
    free(c->sequences);
    free(c->row);
    free(c->hash);
}

/* ---- Rows as stored ---- */

static void put_token(uint8_t *to, unsigned width, uint64_t token)
{
    for (unsigned i = 0; i < width; i++)
        to[i] = (uint8_t)(token >> 8 * i);
}

static uint64_t number_at(const void *numbers, unsigned bytes, uint64_t at)
{
    return bytes == 8 ? (uint64_t)((const int64_t *)numbers)[at] : (uint32_t)((const int32_t *)numbers)[at];
}

void load_consumer_hash_row(struct load_consumer *c, const void *tokens, size_t bytes)
{
    XXH3_64bits_update(&c->hash->state, tokens, bytes);
    if (c->dump)
        fwrite(tokens, 1, bytes, c->dump); /* errors are looked for at the end */
}

/* Rows of L + 1 tokens as stored; of outputs they are rebuilt from all inputs and the last label. */
static void hash_rows(struct load_consumer *c, const struct leat_batch *b, const struct leat_outputs *o)
{
    uint64_t began = clock_ns();
    double cpu = clocks_process();
    unsigned width = b->token_width;

    for (uint32_t row = 0; row < b->rows; row++) {
        uint64_t length = b->lengths[row], at = row * (o ? o->length : 0);
        const uint8_t *tokens = leat_batch_row(b, row);

        if (length == 0) /* a document of no token or one: nothing is learnt from it */
            continue;
        if (o) {
            for (uint64_t i = 0; i < length; i++)
                put_token(c->row + i * width, width, number_at(o->inputs, o->number_bytes, at + i));
            put_token(c->row + length * width, width, number_at(o->labels, o->number_bytes, at + length - 1));
            tokens = c->row;
        }
        if (!(b->flags[row] & LEAT_ROW_PADDED))
            load_consumer_hash_row(c, tokens, (size_t)(length + 1) * width);
    }
    c->aside_ns += clock_ns() - began;
    c->aside_cpu += clocks_process() - cpu;
}

/* Brings the numbers that the checksum is made of to the host; its time is not counted. */
static enum leat_status bring(struct load_consumer *c, struct leat_outputs *o, uint64_t numbers, struct leat_error *err)
{
    uint64_t began = clock_ns();
    double cpu = clocks_process();
    enum leat_status s = load_device_bring(&c->device, c->inputs, o->inputs, numbers * o->number_bytes, err);

    if (s == LEAT_OK)
        s = load_device_bring(&c->device, c->labels, o->labels, numbers * o->number_bytes, err);
    o->inputs = c->inputs;
    o->labels = c->labels;
    c->aside_ns += clock_ns() - began;
    c->aside_cpu += clocks_process() - cpu;
    return s;
}

void load_consumer_hash(struct load_consumer *c, const struct leat_batch *b)
{
    if (c->hashing)
        hash_rows(c, b, NULL);
}

uint64_t load_consumer_checksum(const struct load_consumer *c)
{
    return c->hash ? XXH3_64bits_digest(&c->hash->state) : 0;
}

enum leat_status load_consumer_take(struct load_consumer *c, const struct leat_batch *b, uint64_t *bytes,
                                    struct leat_error *err)
{
    const struct load_values *v = c->v;
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    uint64_t numbers = (uint64_t)b->rows * b->length;
    enum leat_status s = LEAT_OK;

    *bytes = (uint64_t)b->rows * b->width * b->token_width;
    if (v->output != LOAD_TOKENS) {
        o.number_bytes = v->output == LOAD_I64 ? 8 : 4;
        o.length = b->length;
        o.inputs = c->on_device ? c->there[0] : c->inputs;
        o.labels = c->on_device ? c->there[1] : c->labels;
        if (v->output == LOAD_PACKED) {
            o.position_ids = c->on_device ? c->there[2] : c->positions;
            o.cu_seqlens = c->on_device ? c->there[3] : c->sequences;
            o.cu_seqlens_room = b->sequences + 1;
        }
        *bytes = numbers * o.number_bytes * (v->output == LOAD_PACKED ? 3 : 2);
        s = v->borrow ? leat_batch_borrow(b, &o, c->device.stream, err)
                      : leat_batch_write(b, &o, c->device.stream, err);
        if (s == LEAT_OK && c->on_device && c->hashing)
            s = bring(c, &o, numbers, err);
    }
    if (s == LEAT_OK && c->hashing)
        hash_rows(c, b, v->output == LOAD_TOKENS ? NULL : &o);
    return s;
}
