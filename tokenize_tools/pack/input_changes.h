/* input_changes.h: says which inputs of a run are missing, new or changed, by the lines that describe two runs. */
#ifndef LEAT_INPUT_CHANGES_H
#define LEAT_INPUT_CHANGES_H

#include "base/buffer.h"

#define INPUT_CHANGES 560 /* bytes */

/*
 * Compares two texts of pack_description_make(). Writes "missing now: a, b; new: c; changed (size, time or etag): d
 * and 3 more", of at most ten names each and of as many as fit; "" if the texts have the same inputs, in whatever
 * order.
 */
enum leat_status input_changes_say(char text[INPUT_CHANGES], const struct buffer *then, const struct buffer *now,
                                   struct leat_error *err);

#endif
