/* protobuf.c: reads varints and the bytes after them. */
#include "protobuf.h"

#include <string.h>

#include "base/bytes.h"

#define HIGHEST_FIELD 0x1fffffffu

struct protobuf protobuf_begin(const void *bytes, uint64_t length)
{
    const uint8_t *p = bytes;

    return (struct protobuf) { .p = p, .end = p + length };
}

static bool problem(struct protobuf *m, const char *what)
{
    m->problem = what;
    return false;
}

/* Reads a number of at most ten bytes with seven bits each, lowest first. */
static bool varint(struct protobuf *m, uint64_t *value)
{
    const uint8_t *p = m->p;
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == m->end)
            return problem(m, "a number ends early");
        v |= (uint64_t)(*p & 0x7f) << (shift < 63 ? shift : 63);
        if (*p++ < 0x80) {
            if (shift == 63 && p[-1] > 1)
                break;
            m->p = p;
            *value = v;
            return true;
        }
    }
    return problem(m, "a number of more than 64 bits");
}

static bool take_bytes(struct protobuf *m, uint64_t length, const uint8_t **bytes)
{
    if ((uint64_t)(m->end - m->p) < length)
        return problem(m, "a field extends past the end of its message");
    *bytes = m->p;
    m->p += length;
    return true;
}

bool protobuf_next(struct protobuf *m, struct protobuf_field *field)
{
    const uint8_t *bytes = NULL;
    uint64_t tag;

    if (m->problem || m->p == m->end)
        return false;
    *field = (struct protobuf_field) { .at = m->p };
    if (!varint(m, &tag))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > HIGHEST_FIELD)
        return problem(m, "a field number outside 1 to 2^29-1");
    field->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case PROTOBUF_VARINT:
        field->type = PROTOBUF_VARINT;
        return varint(m, &field->value);
    case PROTOBUF_FIXED64:
        field->type = PROTOBUF_FIXED64;
        if (!take_bytes(m, 8, &bytes))
            return false;
        field->value = bytes_load64(bytes);
        return true;
    case PROTOBUF_FIXED32:
        field->type = PROTOBUF_FIXED32;
        if (!take_bytes(m, 4, &bytes))
            return false;
        field->value = bytes_load32(bytes);
        return true;
    case PROTOBUF_BYTES:
        field->type = PROTOBUF_BYTES;
        return varint(m, &field->length) && take_bytes(m, field->length, &field->bytes);
    default:
        return problem(m, "a field of unknown type");
    }
}

float protobuf_float(const struct protobuf_field *field)
{
    uint32_t bits = (uint32_t)field->value;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}
