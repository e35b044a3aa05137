/* thrift.c: reads bytes from the window, and numbers and fields from the bytes. */
#include "thrift.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* ---- A window of the file ---------------------------------------------------------------------------------------- */

/* Moves the window so that it begins with the byte at `offset`, which is before `end`. */
static enum leat_status window_move(struct window *w, uint64_t offset, struct leat_error *err)
{
    uint64_t left = (offset < w->likely_end && w->likely_end < w->end ? w->likely_end : w->end) - offset;
    size_t count = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
    enum leat_status s = w->source->read(w->source->context, offset, w->bytes, count, err);

    w->at = offset;
    w->held = s == LEAT_OK ? count : 0;
    return s;
}

enum leat_status window_copy(struct window *w, uint64_t offset, void *out, size_t count, struct leat_error *err)
{
    uint64_t from = offset - w->at;
    size_t here = 0;
    enum leat_status s = LEAT_OK;

    if (offset >= w->at && from < w->held) {
        here = count < w->held - (size_t)from ? count : w->held - (size_t)from;
        memcpy(out, w->bytes + from, here);
    }
    if (here < count)
        s = w->source->read(w->source->context, offset + here, (uint8_t *)out + here, count - here, err);
    return s;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

#define MAX_DEPTH 64u /* deepest nesting of values that are skipped */

enum leat_status thrift_broken(struct thrift *t, const char *why)
{
    if (t->status == LEAT_OK)
        t->status =
            status_set_at(t->err, LEAT_E_TEXT, t->window->source->name, t->at, "%s: %s is broken at byte %llu: %s",
                          t->window->source->name, t->what, (unsigned long long)t->at, why);
    return t->status;
}

static uint8_t next_byte(struct thrift *t)
{
    struct window *w = t->window;

    if (t->status != LEAT_OK)
        return 0;
    if (t->at - w->at >= w->held) {
        if (t->at >= w->end)
            thrift_broken(t, "it ends too early");
        else
            t->status = window_move(w, t->at, t->err);
        if (t->status != LEAT_OK)
            return 0;
    }
    return w->bytes[t->at++ - w->at];
}

static uint64_t varint(struct thrift *t)
{
    uint64_t value = 0;
    uint8_t byte;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        byte = next_byte(t);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    thrift_broken(t, "a number is too long");
    return 0;
}

static int64_t zigzag(struct thrift *t)
{
    uint64_t value = varint(t);

    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

bool thrift_next(struct thrift *t, struct thrift_field *f)
{
    uint8_t head = next_byte(t);

    if (head == THRIFT_STOP)
        return false;
    f->type = head & 15;
    if (head >> 4) {
        f->id += head >> 4;
    } else {
        int64_t id = zigzag(t);

        if (id < INT16_MIN || id > INT16_MAX)
            thrift_broken(t, "a field has an impossible number");
        else
            f->id = (int32_t)id;
    }
    if (f->id > INT16_MAX || f->type == THRIFT_STOP || f->type > THRIFT_UUID)
        thrift_broken(t, "a field has an unknown type or number");
    if (f->id >= 0 && f->id < 32) {
        if (f->seen >> f->id & 1)
            thrift_broken(t, "a field comes twice");
        f->seen |= 1u << f->id;
    }
    return t->status == LEAT_OK;
}

void thrift_need(struct thrift *t, struct thrift_field f, uint32_t fields)
{
    if ((f.seen & fields) != fields)
        thrift_broken(t, "a field is missing");
}

static bool check_type(struct thrift *t, bool right)
{
    if (!right)
        thrift_broken(t, "a field has the wrong type");
    return t->status == LEAT_OK;
}

int64_t thrift_integer(struct thrift *t, struct thrift_field f)
{
    if (!check_type(t, f.type >= THRIFT_I8 && f.type <= THRIFT_I64))
        return 0;
    return f.type == THRIFT_I8 ? (int8_t)next_byte(t) : zigzag(t);
}

uint64_t thrift_count(struct thrift *t, struct thrift_field f)
{
    int64_t value = thrift_integer(t, f);

    if (value < 0)
        thrift_broken(t, "a size or count is negative");
    return value < 0 ? 0 : (uint64_t)value;
}

bool thrift_bool(struct thrift *t, struct thrift_field f)
{
    return check_type(t, f.type == THRIFT_TRUE || f.type == THRIFT_FALSE) && f.type == THRIFT_TRUE;
}

static void pass(struct thrift *t, uint64_t count)
{
    if (t->status == LEAT_OK && !bytes_inside(t->at, count, t->window->end))
        thrift_broken(t, "it ends too early");
    if (t->status == LEAT_OK)
        t->at += count;
}

uint64_t thrift_bytes(struct thrift *t, struct thrift_field f, void *out, size_t room)
{
    uint64_t count, at;

    if (!check_type(t, f.type == THRIFT_BINARY))
        return 0;
    count = varint(t);
    at = t->at;
    pass(t, count);
    if (t->status == LEAT_OK && room > 0)
        t->status = window_copy(t->window, at, out, count < room ? (size_t)count : room, t->err);
    return t->status == LEAT_OK ? count : 0;
}

static uint64_t list_head(struct thrift *t, enum thrift_type *type)
{
    uint8_t head = next_byte(t);
    uint64_t count = head >> 4;

    *type = head & 15;
    if (count == 15)
        count = varint(t);
    if (count > 0 && (*type == THRIFT_STOP || *type > THRIFT_UUID))
        thrift_broken(t, "a list has elements of an unknown type");
    return t->status == LEAT_OK ? count : 0;
}

uint64_t thrift_list(struct thrift *t, struct thrift_field f, enum thrift_type type)
{
    enum thrift_type found;
    uint64_t count;

    if (!check_type(t, f.type == THRIFT_LIST))
        return 0;
    count = list_head(t, &found);
    return count > 0 && check_type(t, found == type) ? count : 0;
}

bool thrift_struct(struct thrift *t, struct thrift_field f)
{
    return check_type(t, f.type == THRIFT_STRUCT);
}

static void skip_value(struct thrift *t, enum thrift_type type, bool in_list, unsigned depth);

/* Skips the elements of a list. Each takes at least one byte, so a count that is too large ends with the window. */
static void skip_elements(struct thrift *t, uint64_t count, enum thrift_type a, enum thrift_type b, unsigned depth)
{
    for (; count > 0 && t->status == LEAT_OK; count--) {
        skip_value(t, a, true, depth);
        if (b != THRIFT_STOP)
            skip_value(t, b, true, depth);
    }
}

static void skip_map(struct thrift *t, unsigned depth)
{
    uint64_t count = varint(t);
    uint8_t types = count > 0 ? next_byte(t) : 0x33;

    if (types >> 4 == THRIFT_STOP || (types & 15) == THRIFT_STOP)
        thrift_broken(t, "a map has elements of an unknown type");
    skip_elements(t, count, types >> 4, types & 15, depth);
}

static void skip_value(struct thrift *t, enum thrift_type type, bool in_list, unsigned depth)
{
    struct thrift_field f = { 0 };
    enum thrift_type of;
    uint64_t count;

    if (depth == MAX_DEPTH) {
        thrift_broken(t, "it is nested too deep");
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE: /* the type of the field is also its value */
        pass(t, in_list);
        break;
    case THRIFT_I8:
        pass(t, 1);
        break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        varint(t);
        break;
    case THRIFT_DOUBLE:
        pass(t, 8);
        break;
    case THRIFT_UUID:
        pass(t, 16);
        break;
    case THRIFT_BINARY:
        pass(t, varint(t));
        break;
    case THRIFT_LIST:
    case THRIFT_SET:
        count = list_head(t, &of);
        skip_elements(t, count, of, THRIFT_STOP, depth + 1);
        break;
    case THRIFT_MAP:
        skip_map(t, depth + 1);
        break;
    case THRIFT_STRUCT:
        while (thrift_next(t, &f))
            skip_value(t, f.type, false, depth + 1);
        break;
    default:
        thrift_broken(t, "a value has an unknown type");
    }
}

void thrift_skip(struct thrift *t, struct thrift_field f)
{
    skip_value(t, f.type, false, 0);
}
