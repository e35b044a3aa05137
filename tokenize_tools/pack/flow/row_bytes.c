/* row_bytes.c: see row_bytes.h. */
#include "row_bytes.h"

#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/wide.h"

#define HEAD_BYTES   4u
#define FOOTER_BYTES TINY_OR((uint64_t)256, (uint64_t)256 << 10) /* asked for at once: most are smaller */

void row_bytes_begin(struct row_bytes *b, const struct input *in, const struct input_stop *stop)
{
    *b = (struct row_bytes) { .input = in, .stop = stop, .fd = -1 };
}

static void close_stretches(struct row_stretches *s)
{
    while (s->count > 0)
        fetch_close(s->of[--s->count].fetch);
}

void row_bytes_close(struct row_bytes *b)
{
    file_close(&b->fd);
    close_stretches(&b->ahead[0]);
    close_stretches(&b->ahead[1]);
    fetch_close(b->other);
    b->other = NULL;
}

static enum leat_status add(struct row_stretches *s, struct fetch_thing *thing, uint64_t begin, uint64_t bytes,
                            uint64_t window, struct leat_error *err)
{
    struct row_stretch *one = &s->of[s->count];
    enum leat_status status = fetch_open_stretch(&one->fetch, thing, begin, begin + bytes, window, err);

    one->begin = begin;
    one->end = begin + bytes;
    s->count += status == LEAT_OK;
    return status;
}

/* The head says that it is Parquet, the end where everything is. */
static enum leat_status open_thing(struct row_bytes *b, struct leat_error *err)
{
    uint64_t size = b->input->size, footer = FOOTER_BYTES < size ? FOOTER_BYTES : size;
    struct row_stretches *s = &b->ahead[0];
    enum leat_status status = LEAT_OK;

    s->group = LEAT_NONE;
    if (footer < size)
        status = add(s, b->input->thing, 0, HEAD_BYTES, HEAD_BYTES, err);
    return status == LEAT_OK ? add(s, b->input->thing, size - footer, footer, 2 * footer, err) : status;
}

enum leat_status row_bytes_open(struct row_bytes *b, const struct input *in, const struct input_stop *stop,
                                struct leat_error *err)
{
    uint64_t size;
    enum leat_status s;

    row_bytes_begin(b, in, stop);
    if (in->thing)
        return open_thing(b, err);
    s = file_open_read(&b->fd, &size, in->path, err);
    if (s == LEAT_OK && size != in->size)
        s = status_set(err, LEAT_E_ARGUMENT, "%s has changed since packing began", in->path);
    return s;
}

/* Columns are read row by row, side by side: each gets the share of memory that it has of the group's bytes. */
static enum leat_status announce(struct row_stretches *s, struct fetch_thing *thing, const struct parquet_file *file,
                                 uint64_t group, struct leat_error *err)
{
    uint64_t window = fetch_thing_window(thing) / 2, begin, bytes, all = 0;
    enum leat_status status = LEAT_OK;

    close_stretches(s);
    s->group = group;
    for (unsigned i = 0; i < parquet_stretches(file); i++) {
        parquet_stretch(file, group, i, &begin, &bytes);
        all += bytes;
    }
    for (unsigned i = 0; status == LEAT_OK && i < parquet_stretches(file); i++) {
        parquet_stretch(file, group, i, &begin, &bytes);
        if (bytes > 0)
            status = add(s, thing, begin, bytes, (uint64_t)((wide_u128)window * bytes / all), err);
    }
    return status;
}

enum leat_status row_bytes_announce(struct row_bytes *b, const struct parquet_file *file, uint64_t group, uint64_t stop,
                                    struct leat_error *err)
{
    struct row_stretches *now = &b->ahead[0], *next = &b->ahead[1];
    enum leat_status s = LEAT_OK;

    if (next->count > 0 && next->group == group) {
        close_stretches(now);
        *now = *next;
        next->count = 0;
    }
    if (now->count == 0 || now->group != group)
        s = announce(now, b->input->thing, file, group, err);
    if (s == LEAT_OK && group + 1 < stop && (next->count == 0 || next->group != group + 1))
        s = announce(next, b->input->thing, file, group + 1, err);
    return s;
}

/* The fetch that has a place in its stretch; where a stretch reaches into the next one, that one's. */
static struct fetch *find(const struct row_bytes *b, uint64_t offset)
{
    const struct row_stretch *found = NULL;

    for (unsigned i = 0; i < 2; i++)
        for (unsigned c = 0; c < b->ahead[i].count; c++) {
            const struct row_stretch *s = &b->ahead[i].of[c];

            if (offset >= s->begin && offset < s->end && (!found || s->begin > found->begin))
                found = s;
        }
    return found ? found->fetch : NULL;
}

bool row_bytes_stopped(void *row_bytes)
{
    const struct row_bytes *b = row_bytes;

    return b->stop && b->stop->asked && b->stop->asked(b->stop->context);
}

enum leat_status row_bytes_read(void *row_bytes, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    struct row_bytes *b = row_bytes;
    struct fetch *from;
    enum leat_status s = LEAT_OK;

    if (!b->input->thing)
        return file_read_at(b->fd, offset, out, count, b->input->path, err);
    from = find(b, offset);
    if (!from && !b->other)
        s = fetch_open(&b->other, b->input->thing, err);
    return s == LEAT_OK ? fetch_read_all(from ? from : b->other, offset, out, (size_t)count, b->stop, err) : s;
}
