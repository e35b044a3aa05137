/* backend_host.c: the host as a device: batches stay where they were gathered, and kernels run when called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "base/status.h"

struct backend {
    const struct rows_kernels *kernels;
    uint8_t *ring;
    size_t stride, slot_bytes;
};

static bool serves(const char *device)
{
    return strcmp(device, "host") == 0;
}

static enum leat_status open_host(struct backend **out, const char *device, const char *driver, struct leat_error *err)
{
    *out = NULL;
    if (driver)
        return status_argument(err, "driver", "driver \"%.300s\" is for a GPU, but the device is \"%s\"", driver,
                               device);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return status_no_memory(err, sizeof **out);
    (*out)->kernels = rows_kernels();
    return LEAT_OK;
}

static void close_host(struct backend *b)
{
    free(b);
}

static uint64_t room(struct backend *b)
{
    (void)b;
    return UINT64_MAX;
}

static enum leat_status allocate_ring(struct backend *b, struct backend_memory *m, int node, struct leat_error *err)
{
    m->stride = m->slot_bytes + m->output_bytes;
    m->bytes = m->stride * m->slots;
    m->host = backend_map(m->bytes, node, &m->huge_pages);
    if (!m->host)
        return status_no_memory(err, m->bytes);
    b->ring = m->host;
    b->stride = m->stride;
    b->slot_bytes = m->slot_bytes;
    return LEAT_OK;
}

static void free_ring(struct backend *b, struct backend_memory *m)
{
    backend_unmap(m->host, m->bytes);
    m->host = NULL;
    b->ring = NULL;
}

static void forget(struct backend *b, struct backend_memory *m)
{
    free_ring(b, m);
    close_host(b);
}

static void attach(struct backend *b)
{
    (void)b;
}

static enum leat_status send(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err)
{
    (void)b;
    (void)slot;
    (void)bytes;
    (void)err;
    return LEAT_OK;
}

static enum leat_status copy_on_host(struct backend *b, unsigned slot, size_t at, uint8_t *to, uint64_t bytes,
                                     void *stream, struct leat_error *err)
{
    (void)stream;
    (void)err;
    memcpy(to, b->ring + slot * b->stride + at, (size_t)bytes);
    return LEAT_OK;
}

static enum leat_status fill_on_host(struct backend *b, unsigned slot, const struct rows_job *job,
                                     const struct backend_values *values, unsigned value_count, void *stream,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    rows_fill(b->kernels, job);
    for (unsigned i = 0; s == LEAT_OK && i < value_count; i++)
        s = backend_copy_values(b, slot, &values[i], copy_on_host, stream, err);
    return s;
}

static enum leat_status prepare(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err)
{
    return fill_on_host(b, slot, job, NULL, 0, NULL, err);
}

static enum leat_status await(struct backend *b, unsigned slot, void *stream, struct leat_error *err)
{
    (void)b;
    (void)slot;
    (void)stream;
    (void)err;
    return LEAT_OK;
}

static void release(struct backend *b, unsigned slot, void *stream)
{
    (void)b;
    (void)slot;
    (void)stream;
}

static enum leat_status idle(struct backend *b, unsigned slot, struct leat_error *err)
{
    (void)b;
    (void)slot;
    (void)err;
    return LEAT_OK;
}

static uint8_t *outputs(struct backend *b, unsigned slot)
{
    return b->ring + slot * b->stride + b->slot_bytes;
}

static int node(struct backend *b)
{
    (void)b;
    return -1;
}

static void describe(struct backend *b, char *text, size_t capacity)
{
    snprintf(text, capacity, "host, %s", b->kernels->name);
}

const struct backend_ops backend_host = { .name = "host",
                                          .serves = serves,
                                          .open = open_host,
                                          .close = close_host,
                                          .forget = forget,
                                          .room = room,
                                          .node = node,
                                          .allocate_ring = allocate_ring,
                                          .free_ring = free_ring,
                                          .attach = attach,
                                          .send = send,
                                          .fill = fill_on_host,
                                          .prepare = prepare,
                                          .await = await,
                                          .release = release,
                                          .idle = idle,
                                          .outputs = outputs,
                                          .describe = describe };
