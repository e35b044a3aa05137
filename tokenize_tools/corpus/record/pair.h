/*
 * pair.h: records that are a prompt and its completion: two texts, which become one, or two lists of messages, which
 * become a conversation; or Alpaca's three texts, with its prompt.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PAIR_H
#define LEAT_TOKENIZE_TOOLS_PAIR_H

#include "base/buffer.h"
#include "leat_pack.h"
#include "record.h"

/* Return the fields of a pair; NULL if the options do not ask for pairs. */
const char *pair_prompt(const struct leat_pack_options *o);
const char *pair_completion(const struct leat_pack_options *o);

/* Wants the completion as the text of each record, the prompt, and the id (or NULL). */
enum leat_status pair_want(struct record_fields *fields, const struct leat_pack_options *o, const char *id,
                           struct leat_error *err);

/* Appends what a checked record becomes, and sets *begin to where its completion begins there. Two lists of messages
 * become a list of both. The record stays as it is. */
enum leat_status pair_join(const struct record *r, struct buffer *to, size_t *begin, struct leat_error *err);

#endif
