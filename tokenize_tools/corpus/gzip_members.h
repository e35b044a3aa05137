/* gzip_members.h: the text of gzip members (RFC 1952), one after another, by whichever inflater the build has. */
#ifndef LEAT_TOKENIZE_TOOLS_GZIP_MEMBERS_H
#define LEAT_TOKENIZE_TOOLS_GZIP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder_step.h"
#include "leat.h"
#include "raw_input.h"

struct gzip_members;

/* Whether these first bytes (of which an input may have fewer than RAW_HEAD) begin a member. */
bool gzip_members_begin(const uint8_t *head, size_t bytes);

/* For an input that stands at its begin or, if `behind`, right behind a member. On success *out is the caller's until
 * gzip_members_close(). LEAT_E_UNSUPPORTED, with the libraries that are missing, if the build has no inflater; `name`
 * is the input's, for that sentence. */
enum leat_status gzip_members_open(struct gzip_members **out, const char *name, bool behind, struct leat_error *err);
void gzip_members_close(struct gzip_members *g); /* NULL is fine */

/* One step; *got bytes of text are in `buf`, also if it fails. `room` is not 0. */
enum leat_status gzip_members_step(struct gzip_members *g, struct raw_input *in, void *buf, size_t room, size_t *got,
                                   enum decoder_step *step, struct leat_error *err);

#endif
