/* pack_wishes.h: the fields that a run looks for in the first records of its inputs, before any work. */
#ifndef LEAT_PACK_WISHES_H
#define LEAT_PACK_WISHES_H

#include "corpus/inputs.h"
#include "leat_pack.h"

/* Of the text or conversation, the mask, the value that chooses a dataset, and the id if it has not its usual name. To
 * be freed after a failure, too. */
enum leat_status pack_wishes_make(struct field_wishes *wishes, const struct leat_pack_options *options,
                                  struct leat_error *err);
void pack_wishes_free(struct field_wishes *wishes);

/* Looks at all inputs of a run, of which this process may pack a share. */
enum leat_status pack_wishes_check(struct input_list *inputs, const struct leat_pack_options *options,
                                   struct leat_error *err);

#endif
