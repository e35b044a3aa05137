/*
 * decompressor.h: the decompressors behind byte_stream. A new one is a file with its table, and a row of DECOMPRESSORS:
 * by that inputs are found by its suffix, and opened by their first bytes.
 */
#ifndef LEAT_TOKENIZE_TOOLS_DECOMPRESSOR_H
#define LEAT_TOKENIZE_TOOLS_DECOMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "raw_input.h"

/* FORM of enum byte_form, and what decompressor_name is called. */
#define DECOMPRESSORS(each) each(ZSTD, zstd) each(GZIP, gzip)

/* What a step has come to; after STEP_MORE, which may have given no text, it is called again. */
enum decompressor_step {
    STEP_MORE,
    STEP_BORDER, /* the input is right after a frame or member, and all its text was given */
    STEP_END
};

struct decompressor {
    const char *name, *suffix;
    size_t head; /* at least so many first bytes must be there for a file that is not called so; RAW_HEAD at most */

    /* Whether these first bytes (of which an input may have fewer than RAW_HEAD) are of this form. */
    bool (*begins)(const uint8_t *head, size_t bytes);

    /* For an input at its start or, if `behind`, right after a border. On success *out goes to the
     * functions below, and is the caller's until `close`. LEAT_E_UNSUPPORTED, with the libraries that are missing, if
     * the build cannot do it; `path` is the input's, for that sentence. */
    enum leat_status (*open)(void **out, const char *path, bool behind, struct leat_error *err);
    void (*close)(void *state); /* NULL is fine */

    /* Bytes of its window, above all, which is used only as far as there is text. NULL: they are few. */
    size_t (*memory)(const void *state);

    /* One step; *got bytes of text are in `buf`, also if it fails. `room` is not 0. */
    enum leat_status (*step)(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                             enum decompressor_step *step, struct leat_error *err);
};

#define DECOMPRESSOR_DECLARE(form, name) extern const struct decompressor decompressor_##name;
DECOMPRESSORS(DECOMPRESSOR_DECLARE)

#endif
