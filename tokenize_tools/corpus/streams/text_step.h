/*
 * text_step.h: text in steps of a fixed size, for decompressors of which the amount of text that they give of broken
 * data depends on how much they get at once. The step in which a defect is found is dropped, and all others are given:
 * so what is read of a broken file does not depend on buffers, and neither does a dataset.
 */
#ifndef LEAT_TOKENIZE_TOOLS_TEXT_STEP_H
#define LEAT_TOKENIZE_TOOLS_TEXT_STEP_H

#include "base/tiny.h"
#include "decompressor.h"

#define TEXT_STEP TINY_OR((size_t)64, (size_t)4096)

struct text_step {
    bool open;  /* a member has begun, and its end was not given */
    bool ended; /* it has ended, with this step */
    bool ready; /* the step can be given */
    size_t filled, given;
    uint8_t text[TEXT_STEP];
};

/* What a decompressor adds. Between members: begins one, as decompressor_begin() does. And gives what is in the buffer,
 * and the rest of the step's room, to its library, and calls text_step_add(). */
struct text_step_calls {
    enum leat_status (*begin)(void *state, struct raw_input *in, bool *begun, enum decompressor_step *what,
                              struct leat_error *err);
    enum leat_status (*decode)(void *state, struct raw_input *in, struct leat_error *err);
};

/* `used` bytes of the buffer were used, `added` bytes came to the step, and the member ended with them or not. */
void text_step_add(struct text_step *t, struct raw_input *in, size_t used, size_t added, bool ended);

/* The `step` of a decompressor. */
enum leat_status text_step_run(struct text_step *t, const struct decompressor *d, const struct text_step_calls *calls,
                               void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                               enum decompressor_step *what, struct leat_error *err);

#endif
