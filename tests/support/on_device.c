/* on_device.c: see on_device.h. The linker sends the calls of a test here, and gives the library's own as
 * __real_<call>. */
#include "on_device.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/options.h"
#include "loader/loader.h"
#include "loader/loader_values.h"

#define BORDER    256 /* after each buffer on the device; must stay as it is */
#define ALIGN     256 /* of each buffer */
#define UNTOUCHED 0xa5
#define PARTS     (ROWS_OUTPUT_COUNT + 1 + LOADER_COLUMNS) /* outputs that are made, places, columns */

enum leat_status __real_leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                         const struct leat_loader_options *options, struct leat_error *err);
enum leat_status __wrap_leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                         const struct leat_loader_options *options, struct leat_error *err);
void __real_leat_loader_close(struct leat_loader *loader);
void __wrap_leat_loader_close(struct leat_loader *loader);
enum leat_status __real_leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                         void *stream, struct leat_error *err);
enum leat_status __wrap_leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                         void *stream, struct leat_error *err);
enum leat_status __real_leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                          struct leat_error *err);
enum leat_status __wrap_leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                          struct leat_error *err);
void __real_leat_batch_release(const struct leat_batch *batch, void *stream);
void __wrap_leat_batch_release(const struct leat_batch *batch, void *stream);

/* What was borrowed and brought to the host, until its batch is released. */
struct borrowed {
    const struct leat_batch *batch;
    void *parts[PARTS];
    void *columns[LOADER_COLUMNS]; /* as the outputs have them */
    struct borrowed *next;
};
static struct borrowed *all_borrowed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void stop(const char *what)
{
    fprintf(stderr, "%s:%d: on the device: %s\n", __FILE__, __LINE__, what);
    abort();
}

static void must(cuda_result r, const char *what)
{
    if (r != CUDA_OK)
        stop(what);
}

static struct on_device *device(void)
{
    const char *why;
    struct on_device *d = on_device(&why);

    if (!d) {
        fprintf(stderr, "skipped: %s\n", why);
        exit(77);
    }
    return d;
}

struct on_device *on_device_of_loaders(void)
{
    return device();
}

static struct leat_loader *loader_of(const struct leat_batch *batch)
{
    return ((const struct loader_slot *)(const void *)batch)->loader;
}

/* The library leaves the thread's contexts as they were. */
static unsigned depth(struct on_device *d)
{
    return d->fake ? d->fake->depth() : 0;
}

/* ---- Opening and closing ---- */

enum leat_status __wrap_leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                         const struct leat_loader_options *options, struct leat_error *err)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct on_device *d = device();
    unsigned before = depth(d);
    enum leat_status s;

    s = options_read(&o, sizeof o, NULL, options, "leat_loader_options", err);
    if (s != LEAT_OK)
        return s;
    if (!o.device.name) {
        o.device.name = d->name;
        o.device.driver = d->driver_name;
    }
    if (d->fake)
        d->fake->allow_waiting(1);
    s = __real_leat_loader_open(out, plan, &o, err);
    if (d->fake)
        d->fake->allow_waiting(-1);
    if (depth(d) != before)
        stop("opening has changed the thread's contexts");
    return s;
}

static void forget(const struct leat_loader *loader, const struct leat_batch *batch)
{
    pthread_mutex_lock(&lock);
    for (struct borrowed **at = &all_borrowed; *at;) {
        struct borrowed *b = *at;

        if (b->batch != batch && loader_of(b->batch) != loader) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        for (unsigned i = 0; i < PARTS; i++)
            free(b->parts[i]);
        free(b);
    }
    pthread_mutex_unlock(&lock);
}

void __wrap_leat_loader_close(struct leat_loader *loader)
{
    struct on_device *d;

    if (!loader || loader_forked(loader)) {
        __real_leat_loader_close(loader);
        return;
    }
    d = device();
    forget(loader, NULL);
    if (d->fake)
        d->fake->allow_waiting(1);
    __real_leat_loader_close(loader);
    if (d->fake)
        d->fake->allow_waiting(-1);
}

/* ---- Outputs ---- */

/* The addresses of columns are moved to `columns`, where they can be changed. */
static void parts_of(struct leat_outputs *o, const struct leat_batch *batch, void *columns[LOADER_COLUMNS],
                     void **pointers[PARTS], size_t bytes[PARTS])
{
    const struct loader_values *x = loader_of(batch)->shape.values;
    size_t numbers = (o->rows ? o->rows : batch->rows) * (o->length ? o->length : batch->length);

#define PART(field, name, kind, documents)                                                                             \
    pointers[ROWS_OUTPUT_##name] = (void **)(void *)&o->field;                                                         \
    bytes[ROWS_OUTPUT_##name] = rows_output_bytes(kind, numbers, o->number_bytes, o->cu_seqlens_room, batch->ahead);
    ROWS_OUTPUTS(PART, PART)
#undef PART
    pointers[ROWS_OUTPUT_COUNT] = (void **)(void *)&o->places;
    bytes[ROWS_OUTPUT_COUNT] = 8 * numbers;
    for (unsigned k = 0; k < LOADER_COLUMNS; k++) {
        bool has = x && k < x->count - x->first_column;

        columns[k] = has && o->columns ? o->columns[k] : NULL;
        pointers[ROWS_OUTPUT_COUNT + 1 + k] = &columns[k];
        bytes[ROWS_OUTPUT_COUNT + 1 + k] = has ? numbers * x->each[x->first_column + k].bytes : 0;
    }
    if (o->columns)
        o->columns = columns;
}

static void bring(struct on_device *d, void *to, const void *from, size_t bytes, cuda_stream stream)
{
    must(d->extra.copy_to_host(to, (uintptr_t)from, bytes, stream), "copying to the host");
    must(d->driver.stream_synchronize(stream), "waiting for a copy");
}

/* Outputs of the device with borders before and after each, in one piece of its memory: filling and bringing back each
 * by itself took half of the time of some tests. */
struct lent {
    cuda_pointer memory;
    size_t at[PARTS], bytes;
};

/* What the outputs are brought back to, with the lock. It is kept: clearing new memory took longer than all else. */
static struct {
    uint8_t *bytes;
    size_t room;
} back;

static void lend(struct on_device *d, struct lent *l, void **hosts[PARTS], const size_t bytes[PARTS],
                 cuda_stream stream)
{
    l->bytes = BORDER;
    for (unsigned i = 0; i < PARTS; i++) {
        l->at[i] = l->bytes;
        if (*hosts[i])
            l->bytes += (bytes[i] + BORDER + ALIGN - 1) / ALIGN * ALIGN;
    }
    must(d->driver.memory_allocate(&l->memory, l->bytes), "allocating the outputs");
    must(d->extra.set_bytes(l->memory, UNTOUCHED, l->bytes, stream), "filling the outputs");
}

static void give_back(struct on_device *d, struct lent *l, void **hosts[PARTS], const size_t bytes[PARTS], bool written,
                      cuda_stream stream)
{
    pthread_mutex_lock(&lock);
    if (l->bytes > back.room) {
        free(back.bytes);
        back.bytes = malloc(back.room = l->bytes);
        if (!back.bytes)
            stop("no memory");
    }
    bring(d, back.bytes, (const void *)(uintptr_t)l->memory, l->bytes, stream);
    must(d->driver.memory_free(l->memory), "freeing the outputs");
    for (unsigned i = 0; i < PARTS; i++)
        if (*hosts[i]) {
            if (written)
                memcpy(*hosts[i], back.bytes + l->at[i], bytes[i]);
            memset(back.bytes + l->at[i], UNTOUCHED, bytes[i]);
        }
    if (back.bytes[0] != UNTOUCHED || memcmp(back.bytes, back.bytes + 1, l->bytes - 1) != 0)
        stop("something is written beside an output");
    pthread_mutex_unlock(&lock);
}

enum leat_status __wrap_leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                         void *given, struct leat_error *err)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT, host;
    void **pointers[PARTS], **hosts[PARTS], *columns[LOADER_COLUMNS], *of_host[LOADER_COLUMNS];
    struct on_device *d;
    struct lent lent;
    size_t bytes[PARTS];
    cuda_stream stream;
    enum leat_status s;
    unsigned before;

    (void)given;
    if (loader_forked(loader_of(batch)))
        return __real_leat_batch_write(batch, outputs, NULL, err);
    d = device();
    s = options_read(&o, sizeof o, NULL, outputs, "leat_outputs", err);
    if (s != LEAT_OK)
        return s;
    host = o;
    parts_of(&o, batch, columns, pointers, bytes);
    parts_of(&host, batch, of_host, hosts, bytes);
    on_device_begin(d);
    must(d->driver.stream_create(&stream, CUDA_STREAM_NON_BLOCKING, 0), "making a stream");
    lend(d, &lent, hosts, bytes, stream);
    for (unsigned i = 0; i < PARTS; i++)
        if (*hosts[i])
            *pointers[i] = (void *)(uintptr_t)(lent.memory + lent.at[i]);
    on_device_end(d);
    before = depth(d);
    s = __real_leat_batch_write(batch, &o, stream, err);
    if (depth(d) != before)
        stop("writing has changed the thread's contexts");
    on_device_begin(d);
    give_back(d, &lent, hosts, bytes, s == LEAT_OK, stream);
    must(d->driver.stream_destroy(stream), "destroying a stream");
    on_device_end(d);
    return s;
}

enum leat_status __wrap_leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *given,
                                          struct leat_error *err)
{
    struct on_device *d;
    struct borrowed *b;
    void **pointers[PARTS];
    size_t bytes[PARTS];
    cuda_stream stream;
    enum leat_status s;

    (void)given;
    if (loader_forked(loader_of(batch)))
        return __real_leat_batch_borrow(batch, outputs, NULL, err);
    d = device();
    on_device_begin(d);
    must(d->driver.stream_create(&stream, CUDA_STREAM_NON_BLOCKING, 0), "making a stream");
    on_device_end(d);
    s = __real_leat_batch_borrow(batch, outputs, stream, err);
    on_device_begin(d);
    if (s == LEAT_OK) {
        b = calloc(1, sizeof *b);
        if (!b)
            stop("no memory");
        b->batch = batch;
        parts_of(outputs, batch, b->columns, pointers, bytes);
        for (unsigned i = 0; i < PARTS; i++)
            if (*pointers[i]) {
                b->parts[i] = malloc(bytes[i]);
                if (!b->parts[i])
                    stop("no memory");
                bring(d, b->parts[i], *pointers[i], bytes[i], stream);
                *pointers[i] = b->parts[i];
            }
        pthread_mutex_lock(&lock);
        b->next = all_borrowed;
        all_borrowed = b;
        pthread_mutex_unlock(&lock);
    }
    must(d->driver.stream_destroy(stream), "destroying a stream");
    on_device_end(d);
    return s;
}

/* On the default stream, which is as good as any: what was borrowed is on the host by now. */
void __wrap_leat_batch_release(const struct leat_batch *batch, void *given)
{
    (void)given;
    if (!loader_forked(loader_of(batch)))
        forget(NULL, batch);
    __real_leat_batch_release(batch, NULL);
}
