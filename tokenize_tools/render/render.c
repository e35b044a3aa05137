/* render.c: see render.h. */
#include "render.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/utf8.h"
#include "mask/learned.h"

#define PROTOCOL     "3"
#define TICK_MS      50
#define NS_PER_MS    UINT64_C(1000000)
#define START_NS     (UINT64_C(60000) * NS_PER_MS) /* time in which a process must answer at all */
#define GATHERED     ((size_t)16 << 10)            /* bytes up to which a field is sent with others */
#define FRAME_FIELDS 4u
#define REASON_BYTES 4096u
#define MAX_FRAME    ((size_t)64 << 20) /* the limit that render.py has, too */

struct renderer {
    const struct leat_renderers *calls;
    const struct render_limits *limits;
    int fd;
    uint64_t wait_ns; /* for a frame */
    struct buffer out, in, stretches;
    char version[64];
};

struct field {
    const char *bytes;
    size_t size;
};

/* ---- Frames ---- */

static enum leat_status put_number(struct buffer *b, size_t number, struct leat_error *err)
{
    uint8_t bytes[4];

    if (number > MAX_FRAME)
        return status_set(err, LEAT_E_TEXT, "the conversation is too long to be rendered");
    bytes_store32(bytes, (uint32_t)number);
    return buffer_append(b, bytes, sizeof bytes, err);
}

static enum leat_status put_field(struct buffer *b, const void *bytes, size_t size, struct leat_error *err)
{
    enum leat_status s = put_number(b, size, err);

    return s == LEAT_OK && size > 0 ? buffer_append(b, bytes, size, err) : s;
}

static enum leat_status put_decimal(struct buffer *b, uint64_t number, struct leat_error *err)
{
    char digits[24];

    return put_field(b, digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), err);
}

enum leat_status render_plan_add(struct render_plan *plan, const void *bytes, size_t size, struct leat_error *err)
{
    plan->count++;
    return put_field(&plan->fields, bytes, size, err);
}

/* Waits until the connection can be read or written. */
static enum leat_status wait_for(const struct renderer *r, short events, uint64_t until, struct leat_error *err)
{
    for (;;) {
        struct pollfd p = { .fd = r->fd, .events = events };
        int ready;

        if (r->limits->stop && r->limits->stop(r->limits->context))
            return status_set(err, LEAT_E_STOPPED, "rendering was stopped");
        ready = poll(&p, 1, TICK_MS);
        if (ready > 0)
            return LEAT_OK;
        if (ready < 0 && errno != EINTR)
            return status_set_os(err, errno, NULL, "waiting for the process that renders conversations");
        if (clock_ns() >= until)
            return status_set(err, LEAT_E_AGAIN, "the process that renders conversations does not answer");
    }
}

static enum leat_status ended(struct leat_error *err)
{
    return status_set(err, LEAT_E_DEVICE, "the process that renders conversations has ended");
}

static bool is_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static enum leat_status send_all(const struct renderer *r, const void *bytes, size_t size, struct leat_error *err)
{
    uint64_t until = clock_ns() + r->wait_ns;

    for (size_t done = 0; done < size;) {
        ssize_t sent = send(r->fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && is_later(errno)) {
            enum leat_status s = wait_for(r, POLLOUT, until, err);

            if (s != LEAT_OK)
                return s;
        } else if (sent < 0) {
            return ended(err);
        } else {
            done += (size_t)sent;
        }
    }
    return LEAT_OK;
}

static enum leat_status send_head(const struct renderer *r, size_t bytes, size_t fields, struct leat_error *err)
{
    uint8_t head[8];

    if (bytes > MAX_FRAME - 4)
        return status_set(err, LEAT_E_TEXT, "the conversation is too long to be rendered");
    bytes_store32(head, (uint32_t)bytes + 4);
    bytes_store32(head + 4, (uint32_t)fields);
    return send_all(r, head, sizeof head, err);
}

static enum leat_status receive(struct renderer *r, void *to, size_t size, uint64_t until, struct leat_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = recv(r->fd, (char *)to + done, size - done, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && !is_later(errno)))
            return ended(err);
        if (got > 0) {
            done += (size_t)got;
        } else {
            enum leat_status s = wait_for(r, POLLIN, until, err);

            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

static enum leat_status nonsense(struct leat_error *err)
{
    return status_set(err, LEAT_E_DEVICE, "what the process that renders conversations says is no answer");
}

/* Finds the fields of the frame in r->in, and sets *count to their number. */
static enum leat_status find_fields(const struct renderer *r, struct field fields[FRAME_FIELDS], uint32_t *count,
                                    struct leat_error *err)
{
    const char *bytes = (const char *)r->in.bytes;
    size_t at = 4, size = r->in.size;

    *count = bytes_load32(bytes);
    if (*count == 0 || *count > FRAME_FIELDS)
        return nonsense(err);
    for (uint32_t i = 0; i < *count; i++) {
        if (size - at < 4)
            return nonsense(err);
        fields[i] = (struct field) { bytes + at + 4, bytes_load32(bytes + at) };
        at += 4;
        if (size - at < fields[i].size)
            return nonsense(err);
        at += fields[i].size;
    }
    return at == size ? LEAT_OK : nonsense(err);
}

static enum leat_status receive_frame(struct renderer *r, struct field fields[FRAME_FIELDS], uint32_t *count,
                                      struct leat_error *err)
{
    uint64_t until = clock_ns() + r->wait_ns;
    uint8_t head[4];
    size_t size;
    enum leat_status s = receive(r, head, sizeof head, until, err);

    if (s != LEAT_OK)
        return s;
    size = bytes_load32(head);
    if (size < 4 || size > 3 * r->limits->max_bytes + REASON_BYTES)
        return nonsense(err);
    r->in.size = 0;
    s = buffer_reserve(&r->in, size + 1, err); /* and the 0 after a reason */
    if (s == LEAT_OK)
        s = receive(r, r->in.bytes, size, until, err);
    if (s != LEAT_OK)
        return s;
    r->in.size = size;
    r->in.bytes[size] = 0;
    return find_fields(r, fields, count, err);
}

static bool is(const struct field *f, const char *text)
{
    return f->size == strlen(text) && memcmp(f->bytes, text, f->size) == 0;
}

/* ---- Processes ---- */

static enum leat_status send_start(struct renderer *r, const struct render_plan *plan, struct leat_error *err)
{
    struct buffer own = { 0 };
    enum leat_status s = put_field(&own, PROTOCOL, strlen(PROTOCOL), err);

    if (s == LEAT_OK)
        s = put_decimal(&own, r->limits->seconds, err);
    if (s == LEAT_OK)
        s = put_decimal(&own, r->limits->memory, err);
    if (s == LEAT_OK)
        s = put_decimal(&own, r->limits->max_bytes, err);
    if (s == LEAT_OK)
        s = send_head(r, own.size + plan->fields.size, plan->count + 4, err);
    if (s == LEAT_OK)
        s = send_all(r, own.bytes, own.size, err);
    if (s == LEAT_OK)
        s = send_all(r, plan->fields.bytes, plan->fields.size, err);
    buffer_free(&own);
    return s;
}

/* Reports why the process cannot render; `why` is the rest of the frame. */
static enum leat_status refused(const struct field *what, const struct field *why, struct leat_error *err)
{
    if (is(what, "jinja2"))
        return status_argument(err, "chat",
                               "chat templates are rendered by jinja2 3.1.6 or newer, which this Python does not have "
                               "(%.200s): pip install 'jinja2>=3.1.6'",
                               why->bytes);
    if (is(what, "package"))
        return status_argument(
            err, "chat",
            "chat templates are rendered by the Python package of leat %s, and this Python has %s%s: "
            "install it (`pip install '.[chat]'` in leat's sources, or its wheel)",
            leat_version(), why->size > 0 ? "version " : "none", why->bytes);
    if (is(what, "date"))
        return status_field(
            err,
            status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_CHAT_DATE, NULL,
                            "the chat template calls strftime_now(), so that the same inputs would not give the "
                            "same bytes tomorrow: give the date that it writes"),
            "chat_date");
    if (is(what, "learn"))
        return status_argument(err, "learn", "%s", why->bytes);
    if (is(what, "template"))
        return status_set(err, LEAT_E_UNSUPPORTED, "the chat template cannot be used: %s", why->bytes);
    return status_argument(err, "chat", "the Python package of leat is of another version: install that of leat %s",
                           leat_version());
}

static enum leat_status receive_start(struct renderer *r, struct leat_error *err)
{
    struct field fields[FRAME_FIELDS];
    uint32_t count = 0;
    enum leat_status s = receive_frame(r, fields, &count, err);

    if (s != LEAT_OK)
        return s;
    if (count != 4)
        return nonsense(err);
    if (!is(&fields[0], PROTOCOL) || !is(&fields[1], "0"))
        return refused(&fields[2], &fields[3], err);
    if (fields[3].size >= sizeof r->version)
        return nonsense(err);
    memcpy(r->version, fields[3].bytes, fields[3].size);
    return LEAT_OK;
}

enum leat_status renderer_open(struct renderer **out, const struct leat_renderers *calls,
                               const struct render_plan *plan, const struct render_limits *limits,
                               struct leat_error *err)
{
    struct renderer *r = calloc(1, sizeof *r);
    enum leat_status s;

    *out = NULL;
    if (!r)
        return status_no_memory(err, sizeof *r);
    r->calls = calls;
    r->limits = limits;
    r->wait_ns = START_NS;
    r->fd = -1;
    s = calls->open(calls->context, &r->fd, err);
    if (s == LEAT_OK)
        s = send_start(r, plan, err);
    if (s == LEAT_OK || s == LEAT_E_DEVICE) /* it may have said why it ended */
        s = receive_start(r, err);
    if (s == LEAT_E_AGAIN)
        s = status_set(err, LEAT_E_UNSUPPORTED, "reading the chat template takes longer than a minute");
    if (s == LEAT_E_DEVICE)
        s = status_set(err, LEAT_E_IO, "the process that renders conversations does not start; see what it printed");
    if (s != LEAT_OK) {
        renderer_close(r);
        return s;
    }
    r->wait_ns = (uint64_t)limits->seconds * 1000 * NS_PER_MS;
    *out = r;
    return LEAT_OK;
}

void renderer_close(struct renderer *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        r->calls->close(r->calls->context, r->fd);
    buffer_free(&r->out);
    buffer_free(&r->in);
    buffer_free(&r->stretches);
    free(r);
}

const char *renderer_version(const struct renderer *r)
{
    return r->version;
}

/* ---- Conversations ---- */

/* Sends a field: a short one together with those before it; a long one from where it is. */
static enum leat_status send_field(struct renderer *r, const char *bytes, size_t size, struct leat_error *err)
{
    enum leat_status s;

    if (size <= GATHERED)
        return put_field(&r->out, bytes, size, err);
    s = put_number(&r->out, size, err);
    if (s == LEAT_OK)
        s = send_all(r, r->out.bytes, r->out.size, err);
    r->out.size = 0;
    return s == LEAT_OK ? send_all(r, bytes, size, err) : s;
}

static size_t write_turns(char text[32], const struct render_request *request)
{
    return request->turns > 0 ? (size_t)snprintf(text, 32, "%u %u", request->first, request->turns) : 0;
}

enum leat_status renderer_ask(struct renderer *r, const struct render_request *requests, size_t count,
                              struct leat_error *err)
{
    size_t bytes = 12 * count;
    char turns[32];
    enum leat_status s;

    for (size_t i = 0; i < count; i++)
        bytes += requests[i].messages_bytes + (requests[i].tools ? requests[i].tools_bytes : 0) +
                 write_turns(turns, &requests[i]);
    r->out.size = 0;
    s = send_head(r, bytes, 3 * count, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = send_field(r, requests[i].messages, requests[i].messages_bytes, err);
        if (s == LEAT_OK)
            s = send_field(r, requests[i].tools, requests[i].tools ? requests[i].tools_bytes : 0, err);
        if (s == LEAT_OK)
            s = send_field(r, turns, write_turns(turns, &requests[i]), err);
    }
    return s == LEAT_OK ? send_all(r, r->out.bytes, r->out.size, err) : s;
}

/* Returns true if a field is a text, with as many marks. */
static bool is_text(const struct renderer *r, const struct field *text, const struct field *marks)
{
    uint8_t all = 0;

    for (size_t i = 0; i < marks->size; i++)
        all |= (uint8_t)marks->bytes[i];
    return text->size <= r->limits->max_bytes && marks->size == text->size && all <= 1 &&
           utf8_valid_prefix((const uint8_t *)text->bytes, text->size) == text->size;
}

#define STRETCH_BYTES 32u

static double load_double(const uint8_t *bytes)
{
    uint64_t bits = bytes_load64(bytes);
    double number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool is_weight(double number)
{
    return number >= 0 && number <= 1;
}

/* Reads the stretches of a text of `text_bytes`. Returns LEAT_E_DEVICE if they are invalid. */
static enum leat_status read_stretches(struct renderer *r, const struct field *from, size_t text_bytes,
                                       struct leat_error *err)
{
    uint32_t before = 0;
    enum leat_status s = LEAT_OK;

    r->stretches.size = 0;
    if (from->size % STRETCH_BYTES != 0)
        return nonsense(err);
    for (size_t at = 0; s == LEAT_OK && at < from->size; at += STRETCH_BYTES) {
        const uint8_t *b = (const uint8_t *)from->bytes + at;
        struct render_stretch one = { bytes_load32(b),      bytes_load32(b + 4), bytes_load32(b + 8),
                                      bytes_load32(b + 12), load_double(b + 16), load_double(b + 24) };

        if (one.begin < before || one.end <= one.begin || one.end > text_bytes || one.role >= LEARNED_ROLES ||
            !is_weight(one.weight) || !is_weight(one.turn))
            return nonsense(err);
        before = one.end;
        s = buffer_append(&r->stretches, &one, sizeof one, err);
    }
    return s;
}

enum leat_status renderer_answer(struct renderer *r, struct render_answer *answer, struct leat_error *err)
{
    struct field fields[FRAME_FIELDS];
    uint32_t count = 0;
    enum leat_status s = receive_frame(r, fields, &count, err);

    if (s != LEAT_OK)
        return s;
    if (count < 2 || fields[0].size != 1)
        return nonsense(err);
    *answer = (struct render_answer) { .text = fields[1].bytes, .bytes = fields[1].size };
    if (count == 4 && is(&fields[0], "0") && is_text(r, &fields[1], &fields[2])) {
        answer->kind = RENDER_TEXT;
        answer->marks = (const uint8_t *)fields[2].bytes;
        s = read_stretches(r, &fields[3], fields[1].size, err);
        answer->stretches = (const struct render_stretch *)(const void *)r->stretches.bytes;
        answer->stretch_count = r->stretches.size / sizeof *answer->stretches;
        return s;
    }
    if (count != 2 || !(is(&fields[0], "1") || is(&fields[0], "2")))
        return nonsense(err);
    answer->kind = is(&fields[0], "1") ? RENDER_REJECTED : RENDER_TOO_BIG;
    return LEAT_OK;
}

void renderer_trim(struct renderer *r, size_t keep_bytes)
{
    if (r && r->in.room > keep_bytes)
        buffer_free(&r->in);
    if (r && r->out.room > keep_bytes)
        buffer_free(&r->out);
    if (r && r->stretches.room > keep_bytes)
        buffer_free(&r->stretches);
}
