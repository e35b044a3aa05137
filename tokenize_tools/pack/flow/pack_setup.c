/*
 * pack_setup.c: divides the memory that the bound allows. One share is for a pretoken that cannot be cut: it depends
 * on nothing but the bound, since what is rejected for it must not differ from machine to machine. The memory that
 * the process holds already (above all the vocabulary), that the writer and each thread's encoder need, and that
 * fetching ahead takes, is subtracted. Most of the rest is for units on their way, and some stays free for memory
 * that malloc() does not give back.
 */
#include "pack_setup.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/tiny.h"
#include "tokenizer/pipeline/encoder_valid.h"

#define MIB         ((uint64_t)1 << 20)
#define UNIT_MAX    TINY_OR(16384, MIB)
#define UNIT_LEAST  TINY_OR(8192, 128 << 10) /* smallest unit with which all threads are kept */
#define UNIT_MIN    TINY_OR(4096, 64 << 10)
#define LONG_MAX    TINY_OR(8192, 16 * MIB)
#define WHOLE_BYTES TINY_OR(32768, 4 * MIB) /* constant, so that what is rejected for it does not depend on the bound */
#define WRITER_COST (24 * MIB)              /* leat_writer_open() says 20 */

/* The memory of a thread: an encoder, a stack and what malloc() keeps for it; and so many times the text of a unit,
 * for the buffers of the units that it works on. */
#define THREAD_COST  (2 * MIB)
#define THREAD_UNITS 6

/* The share of the bound for a stretch that cannot be cut: a quarter. */
#define PRETOKEN_SHARE 4

/*
 * The part of a thread's memory for pretokens that rendering a conversation may take. As much again is for its text
 * and ids; the rest is for the thread's two encoders. A conversation that needs more, one at a time, may take the
 * share of the bound for pretokens, but at most LONG_CHAT_MAX. So what is rejected for it depends on nothing but the
 * bound, and from 2 GiB on not even on that.
 */
#define CHAT_SHARE(bytes) ((bytes) / 8 * 3)
#define LONG_CHAT_MAX     (512 * MIB)

/*
 * The memory of a renderer, which is a process of its own: what it does not share with the others, and what a
 * conversation may take in any case. There is one renderer for each thread, and one for a conversation that needs
 * more.
 */
#define RENDERER_COST  (20 * MIB)
#define RENDERER_LEAST (4 * MIB)

/*
 * A rendered text may have RENDERED_TIMES times the bytes of the longest record. TEXT_COST bytes of memory are for
 * each of its bytes: text and marks, ids and their ends in lists that double, all of them twice if it is encoded
 * apart.
 */
#define RENDERED_TIMES 2u
#define TEXT_COST      32u

/* The share of the units' memory that one span of a compressed input may take, so that several are there at once. */
#define SPAN_SHARE 8

/*
 * The share, in percent, of the memory left that decompressing one input may take, beside the units of inputs after
 * it and the threads' pretokens; and the least that it may take: decompressors of zstd must accept windows of 8 MiB
 * (RFC 8878).
 */
#define WINDOW_PERCENT 42
#define WINDOW_MIN     (9 * MIB)

/* Memory for ranges of objects on servers: an eighth of the bound, but at most FETCH_ALL, for all together; between
 * FETCH_MIN and FETCH_MAX for each; and FETCH_COST for the client with its connections. */
#define FETCH_SHARE 8
#define FETCH_ALL   (256 * MIB)
#define FETCH_MAX   (128 * MIB)
#define FETCH_MIN   TINY_OR(2048, MIB / 4)
#define FETCH_COST  (12 * MIB)

/* Memory for a text of one byte while it is encoded: the text, ids in 32 bits (a list that doubles), in the stored
 * width (another), and its share of records. */
#define COST_A_BYTE 20

/* Returns the memory that a run takes before units and pretokens. */
static uint64_t fixed_cost(const struct pack_setup *s, unsigned threads, uint64_t unit_bytes)
{
    uint64_t renderer = s->chat ? RENDERER_COST + RENDERER_LEAST : 0;

    return s->held + WRITER_COST + ((s->splits ? 2 * threads : threads) + 1) * renderer +
           threads * (THREAD_COST + THREAD_UNITS * unit_bytes);
}

static uint64_t at_most(uint64_t bytes, uint64_t most)
{
    return bytes < most ? bytes : most;
}

/* Limits the memory that a conversation may take for rendering it, and again for its text and ids. */
static void limit_rendering(struct pack_setup *s, struct render_limits *limits, uint64_t bytes)
{
    limits->memory = bytes > RENDERER_LEAST ? bytes : RENDERER_LEAST;
    limits->max_bytes = at_most(bytes / TEXT_COST, s->max_rendered);
    limits->stop = pack_setup_stop;
    limits->context = s;
}

/* Returns the memory left for units and pretokens; 0 if there is none. */
static uint64_t left_over(const struct pack_setup *s)
{
    uint64_t fixed = fixed_cost(s, s->threads, s->unit_bytes) + s->bound / PRETOKEN_SHARE;

    return s->bound > fixed ? s->bound - fixed : 0;
}

/* Returns the part of the memory left that all units may take. */
static uint64_t flight_of(uint64_t left)
{
    return left / 2 + left / 8;
}

/* Returns true if all threads can work. For each, there must be memory for a unit that it encodes, and for one that
 * waits. */
static bool all_can_work(const struct pack_setup *s)
{
    return s->unit_bytes * COST_A_BYTE * 2 * s->threads <= flight_of(left_over(s));
}

/* Returns the least bound, in MiB, that leaves so much memory. */
static uint64_t least_mib(const struct pack_setup *s, unsigned threads, uint64_t unit_bytes, uint64_t left)
{
    return (fixed_cost(s, threads, unit_bytes) + left) / (PRETOKEN_SHARE - 1) * PRETOKEN_SHARE / MIB + 1;
}

/* Chooses the size of units. Many threads are kept with smaller units, as long as encoding one takes much longer
 * than passing it on; with a small bound, fewer threads are better than tiny units. */
static void choose_units(struct pack_setup *s)
{
    s->unit_bytes = UNIT_MAX;
    while (s->unit_bytes > UNIT_LEAST && !all_can_work(s))
        s->unit_bytes /= 2;
    while (s->threads > 1 && !all_can_work(s))
        s->threads--;
    while (s->unit_bytes > UNIT_MIN && !all_can_work(s))
        s->unit_bytes /= 2;
}

/* Returns the memory that fetching takes. The number of objects that are fetched at once is the number of open lanes,
 * or the number of all objects if that is smaller. */
static uint64_t fetch_cost(struct pack_setup *s)
{
    uint64_t objects = 0, all = s->bound / FETCH_SHARE < FETCH_ALL ? s->bound / FETCH_SHARE : FETCH_ALL;

    for (size_t i = 0; i < s->inputs.count; i++)
        objects += s->inputs.items[i].object != NULL;
    if (objects == 0)
        return 0;
    if (objects > s->threads + 1) /* several readers fetch parts of a table, at most one for each thread */
        objects = s->threads + 1;
    for (size_t i = 0; i < s->inputs.count && objects <= s->threads; i++)
        if (s->inputs.items[i].object && s->inputs.items[i].format->rows)
            objects = s->threads + 1;
    s->fetch_bytes = all / objects < FETCH_MAX ? all / objects : FETCH_MAX;
    if (s->fetch_bytes < FETCH_MIN)
        s->fetch_bytes = FETCH_MIN;
    return FETCH_COST + objects * s->fetch_bytes;
}

enum leat_status pack_setup_fetching(struct pack_setup *s, struct leat_error *err)
{
    enum leat_status status;

    if (!s->inputs.fetcher)
        return LEAT_OK;
    s->threads = s->threads_asked;
    status = pack_setup_memory(s, s->bound, err);
    fetcher_window(s->inputs.fetcher, s->fetch_bytes);
    return status;
}

/* Refuses the bound, and names everything that `held` consists of. */
static enum leat_status refuse_memory(const struct pack_setup *s, uint64_t mib, struct leat_error *err)
{
    bool small = s->bound < MIB;

    return status_field(
        err,
        status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_MEMORY, NULL,
                        "%.1f %s of memory%s is too little for the tokenizer%s%s and the texts of one thread; allow at "
                        "least %llu MiB",
                        (double)s->bound / (double)(small ? 1024 : MIB), small ? "KiB" : "MiB",
                        s->grouped ? ", which the control group leaves," : "",
                        s->inputs.fetcher ? ", what is read ahead from servers" : "",
                        s->chat            ? ", a whole conversation, processes that render them"
                        : s->whole_records ? ", a whole record with its mask"
                                           : "",
                        (unsigned long long)mib),
        "memory");
}

enum leat_status pack_setup_memory(struct pack_setup *s, uint64_t bound, struct leat_error *err)
{
    uint64_t min = 4 * UNIT_MIN * COST_A_BYTE, left;

    s->bound = bound;
    s->whole_bytes = WHOLE_BYTES;
    s->threads_asked = s->threads;
    s->held = memory_resident() + fetch_cost(s) + (s->whole_records ? WHOLE_BYTES * COST_A_BYTE : 0);
    choose_units(s);
    left = left_over(s);
    if (left < min)
        return refuse_memory(s, least_mib(s, 1, UNIT_MIN, min), err);
    s->flight_bytes = flight_of(left);
    s->span_bytes = s->flight_bytes / SPAN_SHARE;
    s->unit_cost = s->unit_bytes * COST_A_BYTE / 2;
    s->long_bytes = s->flight_bytes / s->threads / COST_A_BYTE / 2;
    if (s->long_bytes > LONG_MAX)
        s->long_bytes = LONG_MAX;
    if (s->long_bytes < s->unit_bytes)
        s->long_bytes = s->unit_bytes;
    s->ahead_bytes = 2 * (s->long_bytes + s->unit_bytes);
    s->window_bytes = left / 100 * WINDOW_PERCENT;
    if (s->window_bytes < WINDOW_MIN)
        s->window_bytes = WINDOW_MIN;
    s->word_bytes = left / 10;
    s->pretoken_bytes = left / 10 / s->threads; /* a quarter of this is for the thread's own cache of pretokens */
    if (s->tokenizer)
        tokenizer_share(s->tokenizer, s->word_bytes);
    s->long_pretoken_bytes = bound / PRETOKEN_SHARE;
    s->long_chat_bytes = at_most(s->long_pretoken_bytes, LONG_CHAT_MAX);
    s->max_rendered = RENDERED_TIMES * s->whole_bytes;
    limit_rendering(s, &s->render_limits, CHAT_SHARE(s->pretoken_bytes));
    limit_rendering(s, &s->long_render_limits, s->long_chat_bytes);
    return LEAT_OK;
}

enum leat_status pack_setup_check_stop(const struct pack_setup *s, const char *name, struct leat_error *err)
{
    return s->stop.asked(s->stop.context) ? status_set(err, LEAT_E_STOPPED, "reading %s was stopped", name) : LEAT_OK;
}

enum leat_status pack_setup_refuse(const struct pack_setup *s, const char *name, uint64_t needs, const char *what,
                                   struct leat_error *err)
{
    uint64_t left = (needs / WINDOW_PERCENT + 1) * 100;

    return status_set_hint(
        err, LEAT_E_NO_MEMORY, LEAT_HINT_MEMORY, name,
        "%s needs %.1f MiB of memory to be decompressed (%s), which is too much for %.1f MiB in all; "
        "allow at least %llu MiB",
        name, (double)needs / (double)MIB, what, (double)s->bound / (double)MIB,
        (unsigned long long)least_mib(s, s->threads_asked, UNIT_MAX, left));
}

enum leat_status pack_setup_refuse_stream(const struct pack_setup *s, const struct byte_stream *stream,
                                          struct leat_error *err)
{
    char what[64];

    snprintf(what, sizeof what, "its %s window", byte_stream_decompressor(byte_stream_form(stream))->name);
    return pack_setup_refuse(s, byte_stream_name(stream), byte_stream_max_memory(stream), what, err);
}

uint32_t pack_setup_stop(void *setup)
{
    const struct pack_setup *s = setup;

    return s->stop.asked(s->stop.context);
}

static enum leat_status long_encoder(struct pack_setup *s, struct leat_encoder **kept, bool special, uint64_t max_bytes,
                                     struct leat_encoder **out, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status status = LEAT_OK;

    options.special = special;
    options.max_bytes = max_bytes;
    options.stop = pack_setup_stop;
    options.stop_context = s;
    if (!*kept) {
        status = leat_encoder_open(kept, s->tokenizer, &options, err);
        if (status == LEAT_OK)
            encoder_valid(*kept);
    }
    *out = *kept;
    return status;
}

enum leat_status pack_setup_long_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err)
{
    return long_encoder(s, &s->long_encoder, s->special, s->chat ? s->long_chat_bytes / 2 : s->long_pretoken_bytes, out,
                        err);
}

enum leat_status pack_setup_long_chat_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err)
{
    return long_encoder(s, &s->long_chat_encoder, true, s->long_chat_bytes / 2, out, err);
}
