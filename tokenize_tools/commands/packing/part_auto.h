/* part_auto.h: which part of a run this process packs, as the system that started it says in the environment. */
#ifndef LEAT_TOKENIZE_TOOLS_PART_AUTO_H
#define LEAT_TOKENIZE_TOOLS_PART_AUTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for `why`, with every variable of the table set. */
#define PART_AUTO_WHY 2048

/*
 * Sets *part, from 1, to what the environment says plus `plus`. False, and `why` is a sentence, if no system says it,
 * two of them disagree, or it is not one of `parts`.
 */
bool part_auto_find(uint64_t parts, uint64_t plus, uint64_t *part, char *why, size_t room);

#endif
