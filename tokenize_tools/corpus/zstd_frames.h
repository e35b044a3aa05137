/* zstd_frames.h: the text of zstd frames, one after another, of any window that libzstd can read. */
#ifndef LEAT_TOKENIZE_TOOLS_ZSTD_FRAMES_H
#define LEAT_TOKENIZE_TOOLS_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder_step.h"
#include "leat.h"
#include "raw_input.h"

struct zstd_frames;

/* Whether these first bytes (of which an input may have fewer than RAW_HEAD) begin a frame or a skippable frame. */
bool zstd_frames_begin(const uint8_t *head, size_t bytes);

/* On success *out is the caller's until zstd_frames_close(). */
enum leat_status zstd_frames_open(struct zstd_frames **out, struct leat_error *err);
void zstd_frames_close(struct zstd_frames *z); /* NULL is fine */

/* Bytes that libzstd has allocated: the window above all, which is used only as far as there is text. */
size_t zstd_frames_memory(const struct zstd_frames *z);

/* One step; *got bytes of text are in `buf`, also if it fails. `room` is not 0. */
enum leat_status zstd_frames_step(struct zstd_frames *z, struct raw_input *in, void *buf, size_t room, size_t *got,
                                  enum decoder_step *step, struct leat_error *err);

#endif
