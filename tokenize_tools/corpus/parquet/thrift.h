/*
 * thrift.h: reads a struct of Thrift's compact protocol, field by field, through a window. Every failure stays: all
 * later calls give zeros and no further field, so that code goes through a struct and asks for the status once, at the
 * end of it.
 *
 *   struct thrift_field f = { 0 };
 *   while (thrift_next(t, &f))
 *       if (f.id == 3)
 *           rows = thrift_count(t, f);
 *       else
 *           thrift_skip(t, f);
 *   thrift_need(t, f, 1u << 3);
 */
#ifndef LEAT_PARQUET_THRIFT_H
#define LEAT_PARQUET_THRIFT_H

#include "base/tiny.h"
#include "parquet.h"

/* ---- A window of the file ---------------------------------------------------------------------------------------- */

/*
 * A stretch of a file that is read piece by piece: what is parsed byte by byte, whatever its length, goes through here.
 */

#define WINDOW_BYTES ((size_t)TINY_OR(32, 16 << 10))

struct window {
    const struct parquet_source *source;
    uint64_t end;        /* of the stretch: nothing from here on is read */
    uint64_t likely_end; /* what begins before it is read up to here at first; 0: up to the end */
    uint64_t at;         /* the place of bytes[0] */
    size_t held;         /* bytes in it */
    uint8_t bytes[WINDOW_BYTES];
};

/* Copies bytes from `offset` on, all of which lie before `end`. */
enum leat_status window_copy(struct window *w, uint64_t offset, void *out, size_t count, struct leat_error *err);

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID
};

struct thrift {
    struct window *window;
    uint64_t at;      /* the place of the next byte */
    const char *what; /* is read, for messages: "the footer" */
    enum leat_status status;
    struct leat_error *err; /* filled with the status; may be NULL */
};

struct thrift_field {
    int32_t id; /* 0 before the first one */
    enum thrift_type type;
    uint32_t seen; /* bit n: field n came, of those below 32 */
};

/* Goes to the next field of a struct; false at its end. Its value must then be taken or skipped. */
bool thrift_next(struct thrift *t, struct thrift_field *f);

/* At the end of a struct: fails unless it had these fields, a bit for each. */
void thrift_need(struct thrift *t, struct thrift_field f, uint32_t fields);

/* Takes an integer of any width; thrift_count() one that is not negative. */
int64_t thrift_integer(struct thrift *t, struct thrift_field f);
uint64_t thrift_count(struct thrift *t, struct thrift_field f);
bool thrift_bool(struct thrift *t, struct thrift_field f);

/* Takes bytes: their number; the first `room` of them go to `out`. */
uint64_t thrift_bytes(struct thrift *t, struct thrift_field f, void *out, size_t room);

/* Takes the head of a list of `type`: the number of its elements, each of which is to be taken. */
uint64_t thrift_list(struct thrift *t, struct thrift_field f, enum thrift_type type);

/* Whether the field is a struct, whose fields come next. */
bool thrift_struct(struct thrift *t, struct thrift_field f);

/* Passes over a value. */
void thrift_skip(struct thrift *t, struct thrift_field f);

/* Fails with LEAT_E_TEXT, unless it has failed already; returns the status. */
enum leat_status thrift_broken(struct thrift *t, const char *why);

#endif
