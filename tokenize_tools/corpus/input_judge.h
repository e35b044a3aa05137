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

/* What the options say about inputs. */
struct input_rules {
    enum leat_pack_format format;
    bool skip_unknown, allow_binary, follow_links;
    const char *const *include; /* patterns: only files of folders that match one of them are taken; none: all */
    const char *const *exclude; /* and of these, not what matches one of these */
    size_t include_count, exclude_count;
    const char *from;            /* the folder from which relative words count; NULL: the current one */
    const char *split_of;        /* the split of Hugging Face folders to be taken, or "all"; NULL: there is only one */
    const struct hub_pins *pins; /* of an earlier run of the same inputs; NULL: no earlier run */
    const struct own_outputs *own; /* never inputs */
    struct input_stop stop;        /* asked while inputs are looked for; asked NULL: never */
    uint64_t memory;               /* bytes that the process may take while they are; 0: any number */
};

struct mounts; /* how a read that fails is tried again (base/mounts.h) */

/* Judges a file that a user named, and sets its *format. Opens a file with a known suffix only if `look`.
 * LEAT_E_ARGUMENT for an unknown suffix, LEAT_E_UNSUPPORTED for a file that is not text. */
enum leat_status input_judge_given(const char *path, bool look, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, struct leat_error *err);

/* The same for an object on a server, by its name alone; false: its first bytes decide, by input_judge_head(). */
bool input_judge_by_name(const char *name, bool look, const struct input_rules *rules,
                         const struct record_format **format);
enum leat_status input_judge_head(const char *name, const uint8_t *head, size_t bytes,
                                  const struct record_format **format, struct leat_error *err);

/* Judges an object below a prefix, as below, but by its name alone. */
const struct record_format *input_judge_listed(const char *name, const struct input_rules *rules,
                                               const struct file_kind **corpus);

/* Judges a file of a folder: sets its format, or NULL if it is left out. *corpus then says what it is, if it may hold
 * texts to train on; else it is NULL. What is left out need not be readable, but a file server that fails is an error:
 * it may be what holds the texts. */
enum leat_status input_judge_found(const char *path, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, const struct file_kind **corpus,
                                   struct leat_error *err);

#endif
