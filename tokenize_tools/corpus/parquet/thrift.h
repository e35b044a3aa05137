/*
 * thrift.h: reads a struct of Thrift's compact protocol, field by field, through a window. A failure stays: all later
 * calls return zeros and no field, so that code goes through a struct and looks at the status once, at its end.
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

#define WINDOW_BYTES ((size_t)TINY_OR(32, 16 << 10))

/* A stretch of a file that is read piece by piece, for data of any length that is parsed byte by byte. */
struct window {
    const struct parquet_source *source;
    uint64_t end;        /* end of the stretch */
    uint64_t likely_end; /* a piece that begins before this place ends there at the latest; 0: no such place */
    uint64_t at;         /* place of bytes[0] in the file */
    size_t held;         /* bytes in the window */
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
    uint64_t at;      /* place of the next byte */
    const char *what; /* name of the struct for messages: "the footer" */
    enum leat_status status;
    struct leat_error *err; /* error that gets the status; may be NULL */
};

struct thrift_field {
    int32_t id; /* number of the field; 0 before the first one */
    enum thrift_type type;
    uint32_t seen; /* bit n is set if field n came, for n below 32 */
};

/* Goes to the next field of a struct, whose value must then be taken or skipped. Returns false at the end. */
bool thrift_next(struct thrift *t, struct thrift_field *f);

/* Fails, at the end of a struct, unless it had these fields, a bit for each. */
void thrift_need(struct thrift *t, struct thrift_field f, uint32_t fields);

/* Takes an integer of any width; thrift_count() fails if it is negative. */
int64_t thrift_integer(struct thrift *t, struct thrift_field f);
uint64_t thrift_count(struct thrift *t, struct thrift_field f);
bool thrift_bool(struct thrift *t, struct thrift_field f);

/* Takes bytes, copies the first `room` of them to `out`, and returns the number of all. */
uint64_t thrift_bytes(struct thrift *t, struct thrift_field f, void *out, size_t room);

/* Takes the head of a list of `type`. Returns the number of its elements, each of which must then be taken. */
uint64_t thrift_list(struct thrift *t, struct thrift_field f, enum thrift_type type);

/* Returns true if the field is a struct, whose fields come next. */
bool thrift_struct(struct thrift *t, struct thrift_field f);

/* Skips a value. */
void thrift_skip(struct thrift *t, struct thrift_field f);

/* Fails with LEAT_E_TEXT, unless a call has failed before. Returns the status. */
enum leat_status thrift_broken(struct thrift *t, const char *why);

#endif
