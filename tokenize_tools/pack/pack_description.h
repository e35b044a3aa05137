/* pack_description.h: NAME.partial.run, which describes in lines of text what a run packs and how. So a run that is
 * to be resumed can be told from another, and the difference named. */
#ifndef LEAT_PACK_DESCRIPTION_H
#define LEAT_PACK_DESCRIPTION_H

#include "base/buffer.h"
#include "pack/flow/pack_setup.h"
#include "pack_chat.h"

/* Makes the text for a run, whose options went through pack_options_default(). `chat` is NULL if it has no
 * conversations. */
enum leat_status pack_description_make(struct buffer *text, const struct leat_pack_options *options,
                                       const struct pack_chat *chat, const struct input_list *inputs,
                                       struct leat_error *err);

/* Adds the pins of names on the Hugging Face Hub that the file has, if it exists: the run goes on with these
 * commits. */
enum leat_status pack_description_pins(struct hub_pins *pins, const char *path, struct leat_error *err);

/* Writes it, durably. */
enum leat_status pack_description_write(const char *path, const struct buffer *text, struct leat_error *err);

/*
 * Describes the first line that differs (`then` in the file); returns LEAT_E_CHECKPOINT. `run` is the name by which
 * the caller knows the run: its output, or the file that its parts share. `inputs` is the text of
 * input_changes_say() if the line is about inputs; else "".
 */
typedef enum leat_status pack_description_say(const char *run, const char *then, const char *now, const char *inputs,
                                              struct leat_error *err);
pack_description_say pack_description_say_difference;

/* Returns LEAT_E_CHECKPOINT, with the difference, if the file has another text. */
enum leat_status pack_description_compare(const char *path, const struct buffer *text, const char *run,
                                          pack_description_say *say, struct leat_error *err);

#endif
