/*
 * info_damage.h: inputs that were cut off or broken, and packed only as far as they were readable: what `leat info`
 * shows first, in each of its forms.
 */
#ifndef LEAT_INFO_DAMAGE_H
#define LEAT_INFO_DAMAGE_H

#include <stdio.h>

#include "cli/json.h"
#include "damage/damage_list.h"

/* Those of all parts. On failure too damage_list_free() must follow. */
enum leat_status info_damage_read(struct damage_list *l, const struct leat_dataset *d, struct leat_error *err);

/* Lines below the dataset's name, of the first `most` inputs. */
void info_damage_print(const struct damage_list *l, int key_columns, size_t most);
void info_damage_page(const struct damage_list *l, FILE *out);
extern const char info_damage_style[]; /* of that section */

#endif
