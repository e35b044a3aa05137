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

/* FORM of enum byte_form, and what decompressor_name is called. */
#define DECOMPRESSORS(each) each(ZSTD, zstd) each(GZIP, gzip) each(XZ, xz) each(BZIP2, bzip2) each(LZ4, lz4)

/* The outcome of a step. After STEP_MORE, which may have given no text, it is called again. */
enum decompressor_step {
    STEP_MORE,
    STEP_BORDER, /* the input is right after a frame or member, and all its text was given */
    STEP_END
};

struct decompressor {
    const char *name, *suffix;
    const char *member; /* what such a file is made of: "a zstd frame" */
    size_t head; /* a file without its suffix must have at least this many bytes to be of this form; RAW_HEAD at most */

    /* Whether these first bytes (of which an input may have fewer than RAW_HEAD) are of this form. */
    bool (*begins)(const uint8_t *head, size_t bytes);

    /* For an input at its start or, if `behind`, right after a border. On success *out goes to the
     * functions below, and is the caller's until `close`. LEAT_E_UNSUPPORTED, with the libraries that are missing, if
     * the build cannot do it; `path` is the input's, for that sentence. */
    enum leat_status (*open)(void **out, const char *path, bool behind, struct leat_error *err);
    void (*close)(void *state); /* NULL is fine */

    /* Bytes of its window, above all: what it uses now, and what it may come to use (`max`). NULL: they are few. */
    size_t (*memory)(const void *state, bool max);

    /* One step; *got bytes of text are in `buf`, also if it fails. `room` is not 0. */
    enum leat_status (*step)(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                             enum decompressor_step *step, struct leat_error *err);

    /* Finds members by their headers, for several threads to decompress; NULL: it cannot be done. */
    member_finder *find;
};

#define DECOMPRESSOR_DECLARE(form, name) extern const struct decompressor decompressor_##name;
DECOMPRESSORS(DECOMPRESSOR_DECLARE)

/* What the rows have in common. Whether first bytes agree with a magic, as far as there are any. */
bool decompressor_magic(const uint8_t *head, size_t bytes, const uint8_t magic[RAW_HEAD]);

/* Between members: sets *begun if the next one begins, with its magic in the buffer still, or *step to STEP_END. */
enum leat_status decompressor_begin(const struct decompressor *d, struct raw_input *in, bool *begun,
                                    enum decompressor_step *step, struct leat_error *err);

/* The sentences for data that is not what it should be, data that stops, and a build without the library. */
enum leat_status decompressor_broken(const struct decompressor *d, const struct raw_input *in, const char *why,
                                     struct leat_error *err);
enum leat_status decompressor_cut_off(const struct decompressor *d, const struct raw_input *in, struct leat_error *err);
enum leat_status decompressor_missing(const struct decompressor *d, const char *path, const char *libraries,
                                      const char *cure, struct leat_error *err);

/* ---- First bytes ------------------------------------------------------------------------------------------------- */

/* What an input is by its first bytes, where four of them or its name do not tell. */

/* The four bytes behind the skippable frames that zstd and lz4 have in common; *bytes is 0 if the input does not begin
 * with one, if what follows cannot be seen yet, or behind more than 1,024 of them. */
enum leat_status first_bytes_behind(struct raw_input *in, uint8_t head[RAW_HEAD], size_t *bytes,
                                    struct leat_error *err);

/* Says what an input is that is named like files of `d` and does not begin like them; returns the status, or that of a
 * failure to read. */
enum leat_status first_bytes_misnamed(struct raw_input *in, const char *path, const struct decompressor *d,
                                      struct leat_error *err);

/* ---- Text in steps ----------------------------------------------------------------------------------------------- */

/*
 * Text in steps of a fixed size, for decompressors of which the amount of text that they give of broken data depends on
 * how much they get at once. The step in which a defect is found is dropped, and all others are given: so what is read
 * of a broken file does not depend on buffers, and neither does a dataset.
 */

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
    const struct decompressor *of;
    enum leat_status (*begin)(void *state, struct raw_input *in, bool *begun, enum decompressor_step *what,
                              struct leat_error *err);
    enum leat_status (*decode)(void *state, struct raw_input *in, struct leat_error *err);
};

/* `used` bytes of the buffer were used, `added` bytes came to the step, and the member ended with them or not. */
void text_step_add(struct text_step *t, struct raw_input *in, size_t used, size_t added, bool ended);

/* Where text goes. */
struct text_step_room {
    void *buf;
    size_t room, got;
};

/* The `step` of a decompressor. */
enum leat_status text_step_run(struct text_step *t, const struct text_step_calls *calls, void *state,
                               struct raw_input *in, struct text_step_room *out, enum decompressor_step *what,
                               struct leat_error *err);

#endif
