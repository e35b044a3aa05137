/* unit_stream.h: how a lane reads units from a stream, for the kinds that do: unit_block.c, unit_array.c and
 * unit_csv.c. */
#ifndef LEAT_PACK_UNIT_STREAM_H
#define LEAT_PACK_UNIT_STREAM_H

#include "lane.h"
#include "steps.h"

/* Begins to cut a unit. Returns how many bytes of the input have been read, for unit_stream_count(). */
uint64_t unit_stream_begin(struct lane *l, struct unit *u);

/* Counts what has been read since then for a unit that is cut. */
void unit_stream_count(struct lane *l, struct unit *u, uint64_t before);

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

/* Returns what an input of JSON without lines is called in sentences. */
#define UNIT_STREAM_REASON 160
const char *unit_stream_layout(const struct lane *l);

#endif
