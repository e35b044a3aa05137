/*
 * input_judge.h: decides whether a file is packed, and in which format: by its name, and by its first bytes if a user
 * named it or its name does not say. Every file of a folder that is left out is counted.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_JUDGE_H
#define LEAT_TOKENIZE_TOOLS_INPUT_JUDGE_H

#include "base/file_kind.h"
#include "corpus/streams/raw_input.h"
#include "leat_pack.h"
#include "record_format.h"

struct own_outputs;
struct hub_pins;

/* How inputs are searched. */
struct input_rules {
    const struct leat_pack_options *options;
    const char *from;              /* the folder that relative words start from; NULL for the current one */
    const struct hub_pins *pins;   /* pins of an earlier run of these inputs, or NULL */
    const struct own_outputs *own; /* files that are never inputs */
    struct input_stop stop;        /* asked while inputs are searched */
    uint64_t memory;               /* bytes that the search may take; 0: any number */
};

struct mounts; /* says how a read that fails is retried (base/mounts.h) */

/* Judges a file that a user named, and sets its *format. Opens a file with a known suffix only if `look`. Returns
 * LEAT_E_ARGUMENT for an unknown suffix, LEAT_E_UNSUPPORTED for a file that is not text. */
enum leat_status input_judge_given(const char *path, bool look, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, struct leat_error *err);

/* Judges an object on a server that a user named, by its name alone. Returns false if its first bytes must decide, by
 * input_judge_head(). */
bool input_judge_by_name(const char *name, bool look, const struct input_rules *rules,
                         const struct record_format **format);
enum leat_status input_judge_head(const char *name, const uint8_t *head, size_t bytes,
                                  const struct record_format **format, struct leat_error *err);

/* Judges an object below a prefix, as input_judge_found() does, but by its name alone. */
const struct record_format *input_judge_listed(const char *name, const struct input_rules *rules,
                                               const struct file_kind **corpus);

/* Judges a file of a folder: sets *format, to NULL if the file is left out. *corpus says what a file is that is left
 * out though it may hold texts to train on; otherwise it is NULL. A file that is left out need not be readable; but a
 * file server that fails is an error, since it may hold the texts. */
enum leat_status input_judge_found(const char *path, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, const struct file_kind **corpus,
                                   struct leat_error *err);

#endif
