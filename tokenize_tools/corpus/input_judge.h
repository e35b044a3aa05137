/*
 * input_judge.h: whether a file that a search meets is packed, and as what: by its name, and by its first bytes where a
 * person named it or its name says nothing. A file of a folder is never left out without being counted.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_JUDGE_H
#define LEAT_TOKENIZE_TOOLS_INPUT_JUDGE_H

#include "base/file_kind.h"
#include "leat_pack.h"
#include "record_format.h"

/* What the options say of inputs. */
struct input_rules {
    enum leat_pack_format format;
    bool skip_unknown, allow_binary;
};

/* A file that a person named; one with a known suffix is only opened if `look`. *format is set on success; LEAT_E_ARGUMENT for an unknown suffix, LEAT_E_UNSUPPORTED for
 * what is not text. */
enum leat_status input_judge_given(const char *path, bool look, const struct input_rules *rules,
                                   const struct record_format **format, struct leat_error *err);

/* A file of a folder: its format, or NULL if it is left out; then *corpus says what it is if it may hold texts to train
 * on, else NULL. */
const struct record_format *input_judge_found(const char *path, const struct input_rules *rules,
                                              const struct file_kind **corpus);

#endif
