/*
 * pack_description.h: NAME.partial.run, which says in lines of text what a run packs and how, so that one that is to be
 * resumed can be told from another, and the difference named.
 */
#ifndef LEAT_PACK_DESCRIPTION_H
#define LEAT_PACK_DESCRIPTION_H

#include "base/buffer.h"
#include "pack/flow/pack_setup.h"
#include "pack_chat.h"

/* The text for a run, whose options have pack_options_default(). `chat` NULL: it has no conversations. */
enum leat_status pack_description_make(struct buffer *text, const struct leat_pack_options *options,
                                       const struct pack_chat *chat, const struct input_list *inputs,
                                       struct leat_error *err);

/* Adds the pins of names on the Hugging Face Hub that the file has, if it exists: the run goes on with these commits.
 */
enum leat_status pack_description_pins(struct hub_pins *pins, const char *path, struct leat_error *err);

/* Writes it, durably. */
enum leat_status pack_description_write(const char *path, const struct buffer *text, struct leat_error *err);

/* Says how the first line that differs, `then` in the file, does; returns LEAT_E_CHECKPOINT. `run` is what the caller
 * knows the run by: its output, or the file that its parts share. `inputs` is what input_changes_say() writes, where
 * the line is about inputs; else "". */
typedef enum leat_status pack_description_say(const char *run, const char *then, const char *now, const char *inputs,
                                              struct leat_error *err);
pack_description_say pack_description_say_difference;

/* LEAT_E_CHECKPOINT, with the difference, if the file says something else. */
enum leat_status pack_description_compare(const char *path, const struct buffer *text, const char *run,
                                          pack_description_say *say, struct leat_error *err);

#endif
