/* unit_stream.h: how a lane reads units from a stream, for the kinds that do: unit_block.c, where it is made,
 * unit_array.c and unit_csv.c. */
#ifndef LEAT_PACK_UNIT_STREAM_H
#define LEAT_PACK_UNIT_STREAM_H

#include "lane.h"
#include "steps.h"

/* Cuts a unit by `cut`, which sets u->length, and updates the counts of the lane's stream. */
typedef enum leat_status unit_stream_cutter(struct lane *l, struct unit *u, struct leat_error *err);
enum leat_status unit_stream_cut(struct lane *l, struct unit *u, unit_stream_cutter *cut, struct leat_error *err);

/* Appends text to `to`. *got is 0 if the stream has ended; then the unit ends the input. */
enum leat_status unit_stream_read(struct lane *l, struct unit *u, struct buffer *to, size_t room, size_t *got,
                                  struct leat_error *err);

/* Returns how much to read next, so that the unit grows to its usual size, and then on in steps. */
static inline size_t unit_stream_room(const struct lane *l, const struct unit *u)
{
    return u->text.size < l->setup->unit_bytes ? (size_t)l->setup->unit_bytes - u->text.size : LONG_CHUNK;
}

/* Gives the text from `end` on to the next unit. */
enum leat_status unit_stream_carry(struct lane *l, struct buffer *text, size_t end, struct leat_error *err);

/* Makes the unit end the input. `damage` (NULL: none) is where it could be read no further, `reason` as for
 * unit_end_stream(). */
enum leat_status unit_stream_end(struct lane *l, struct unit *u, const struct leat_error *damage, const char *reason,
                                 struct leat_error *err);

/* unit_array.c: fills `err` and the reason for an input that ends inside of its array, or of an object. */
#define UNIT_ARRAY_REASON 160
void unit_array_open(const struct lane *l, char reason[UNIT_ARRAY_REASON], struct leat_error *err);

/* unit_csv.c: fills both for an input that ends inside of a record's quotes. Returns false if it does not. */
bool unit_csv_open(const struct lane *l, char reason[UNIT_ARRAY_REASON], struct leat_error *err);

#endif
