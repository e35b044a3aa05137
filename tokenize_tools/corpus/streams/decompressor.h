/*
 * decompressor.h: the decompressors of byte_stream. A new one is a file with its table, and a row of DECOMPRESSORS:
 * then inputs with its suffix are found, and opened if their first bytes fit.
 */
#ifndef LEAT_TOKENIZE_TOOLS_DECOMPRESSOR_H
#define LEAT_TOKENIZE_TOOLS_DECOMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"
#include "leat.h"
#include "members.h"
#include "raw_input.h"

/* Each decompressor: its BYTE_FORM_* of enum byte_form, and its name in decompressor_NAME. */
#define DECOMPRESSORS(each) each(ZSTD, zstd) each(GZIP, gzip) each(XZ, xz) each(BZIP2, bzip2) each(LZ4, lz4)

/* The result of a step. After STEP_MORE, which may have given no text, the step is called again. */
enum decompressor_step {
    STEP_MORE,
    STEP_BORDER, /* the input is right after a frame or member, and all its text was given */
    STEP_END
};

struct decompressor {
    const char *name, *suffix;
    const char *member; /* name of a part of such a file: "a zstd frame" */
    size_t head;        /* least bytes of a file without the suffix that can have this form, at most RAW_HEAD */

    /* Returns true if these first bytes are of this form. An input may have fewer than RAW_HEAD. */
    bool (*begins)(const uint8_t *head, size_t bytes);

    /* Opens a state, the argument of the functions below, for an input at its start or, if `behind`, right after a
     * border. On success *out is the caller's until `close`. Returns LEAT_E_UNSUPPORTED, with the missing libraries and
     * the input's `path`, if the build has no such decompressor. */
    enum leat_status (*open)(void **out, const char *path, bool behind, struct leat_error *err);
    void (*close)(void *state); /* NULL is fine */

    /* Returns the bytes, mostly of its window, that the state uses now, or may come to use (`max`). NULL if they are
     * few. */
    size_t (*memory)(const void *state, bool max);

    /* Does one step. Writes *got bytes of text to `buf`, also if it fails. `room` is not 0. */
    enum leat_status (*step)(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                             enum decompressor_step *step, struct leat_error *err);

    /* finds members by their headers, for several threads to decompress; NULL if headers do not show them */
    member_finder *find;
};

#define DECOMPRESSOR_DECLARE(form, name) extern const struct decompressor decompressor_##name;
DECOMPRESSORS(DECOMPRESSOR_DECLARE)

/* Returns true if the first bytes, of which there may be fewer than RAW_HEAD, agree with a magic. */
bool decompressor_magic(const uint8_t *head, size_t bytes, const uint8_t magic[RAW_HEAD]);

/* Looks at the bytes after a member. Sets *begun if another one begins, and leaves its magic in the buffer; otherwise
 * sets *step to STEP_END. */
enum leat_status decompressor_begin(const struct decompressor *d, struct raw_input *in, bool *begun,
                                    enum decompressor_step *step, struct leat_error *err);

/* Fill the error and return its status for data that is broken, data that is cut off, and a build without a library. */
enum leat_status decompressor_broken(const struct decompressor *d, const struct raw_input *in, const char *why,
                                     struct leat_error *err);
enum leat_status decompressor_cut_off(const struct decompressor *d, const struct raw_input *in, struct leat_error *err);
enum leat_status decompressor_missing(const struct decompressor *d, const char *path, const char *libraries,
                                      const char *cure, struct leat_error *err);

/* ---- First bytes ------------------------------------------------------------------------------------------------- */

/* Reads the four bytes after the skippable frames that zstd and lz4 have in common. *bytes is 0 if the input does
 * not begin with such a frame, if the bytes after it have not come yet, or if there are more than 1,024 such frames. */
enum leat_status first_bytes_behind(struct raw_input *in, uint8_t head[RAW_HEAD], size_t *bytes,
                                    struct leat_error *err);

/* Fills the error about an input that has the suffix of `d` but does not begin like it. Returns its status, or that of
 * a failure to read. */
enum leat_status first_bytes_misnamed(struct raw_input *in, const char *path, const struct decompressor *d,
                                      struct leat_error *err);

/* ---- Text in steps ----------------------------------------------------------------------------------------------- */

#define TEXT_STEP TINY_OR((size_t)64, (size_t)4096)

/*
 * Text in steps of a fixed size, for decompressors whose text of broken data depends on how much data they get at once.
 * The step in which a defect is found is dropped, and all steps before it are given: so the text of a broken file, and
 * thus a dataset, does not depend on buffers.
 */
struct text_step {
    bool open;  /* true if a member has begun, and its end was not given */
    bool ended; /* true if the member ends with this step */
    bool ready; /* true if the step can be given */
    size_t filled, given;
    uint8_t text[TEXT_STEP];
};

/* The functions of a decompressor that gives text in steps. */
struct text_step_calls {
    const struct decompressor *of;

    /* Begins a member, as decompressor_begin() does. */
    enum leat_status (*begin)(void *state, struct raw_input *in, bool *begun, enum decompressor_step *what,
                              struct leat_error *err);

    /* Gives the bytes in the buffer, and the rest of the step's room, to its library, and calls text_step_add(). */
    enum leat_status (*decode)(void *state, struct raw_input *in, struct leat_error *err);
};

/* Records that `used` bytes of the buffer were used, that `added` bytes were added to the step, and whether the member
 * has ended. */
void text_step_add(struct text_step *t, struct raw_input *in, size_t used, size_t added, bool ended);

/* Room for text. */
struct text_step_room {
    void *buf;
    size_t room, got;
};

/* Does a step of a decompressor. */
enum leat_status text_step_run(struct text_step *t, const struct text_step_calls *calls, void *state,
                               struct raw_input *in, struct text_step_room *out, enum decompressor_step *what,
                               struct leat_error *err);

#endif
