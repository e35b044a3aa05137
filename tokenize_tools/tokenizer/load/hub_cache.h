/* hub_cache.h: where Hugging Face's programs keep the files of models they have downloaded. */
#ifndef LEAT_TOKENIZER_HUB_CACHE_H
#define LEAT_TOKENIZER_HUB_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

/* Whether a string has the form of a model id: "name" or "org/name", perhaps with "@revision". */
bool hub_cache_is_id(const char *id);

/*
 * Finds the folder of the model's snapshot. LEAT_E_NO_FILE: the sentence says what was looked for and where; *folder is
 * then empty. `room` bytes at `folder`.
 */
enum leat_status hub_cache_find(char *folder, size_t room, const char *id, struct leat_error *err);

#endif
