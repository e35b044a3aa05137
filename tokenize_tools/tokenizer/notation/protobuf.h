/*
 * protobuf.h: a reader of the wire format of protocol buffers, as far as messages in files need it. It walks over the
 * fields of one message without allocating; a nested message is a field whose bytes are walked in turn. Any bytes are
 * safe: malformed ones end the walk with a reason.
 */
#ifndef LEAT_TOKENIZER_PROTOBUF_H
#define LEAT_TOKENIZER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf_field {
    uint32_t number;
    enum protobuf_type type;
    uint64_t value;       /* bits of a number */
    const uint8_t *bytes; /* contents of PROTOBUF_BYTES */
    uint64_t length;
    const uint8_t *at; /* start of the field */
};

struct protobuf {
    const uint8_t *p, *end;
    const char *problem; /* reason why the walk ended early, at `p`; else NULL */
};

struct protobuf protobuf_begin(const void *bytes, uint64_t length);

/* Gets the next field. Returns false at the end, or at a problem. Groups (deprecated, nested by tags) are a problem. */
bool protobuf_next(struct protobuf *m, struct protobuf_field *field);

/* Returns the 32 bits of a PROTOBUF_FIXED32 as a float. */
float protobuf_float(const struct protobuf_field *field);

#endif
