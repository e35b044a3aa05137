/*
 * decoder_step.h: what the decompressors of byte_stream have in common. A call makes one step: it gives some text, or
 * passes the border of a frame or member, or neither (it has only used input) and is to be called again.
 */
#ifndef LEAT_TOKENIZE_TOOLS_DECODER_STEP_H
#define LEAT_TOKENIZE_TOOLS_DECODER_STEP_H

enum decoder_step {
    STEP_MORE,
    STEP_BORDER, /* the input stands right behind a frame or member, and all of its text has been given */
    STEP_END
};

#endif
