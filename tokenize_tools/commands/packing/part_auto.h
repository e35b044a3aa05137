/* part_auto.h: finds which part of a run this process packs, as the system that started it says in the environment. */
#ifndef LEAT_TOKENIZE_TOOLS_PART_AUTO_H
#define LEAT_TOKENIZE_TOOLS_PART_AUTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for `why` if every variable of the table is set. */
#define PART_AUTO_WHY 2048

/* Sets *part, from 1, to what the environment says plus `plus`. Returns false, with a sentence in `why`, if no
 * system names a part, two of them disagree, or it is not one of `parts`. */
bool part_auto_find(uint64_t parts, uint64_t plus, uint64_t *part, char *why, size_t room);

#endif
