/*
 * file_kind.h: what a file probably is if it is not UTF-8 text: by its first bytes, or by its suffix. So that a Parquet
 * file or a text in UTF-16 is refused with the way out, instead of becoming tokens or being passed over.
 */
#ifndef LEAT_BASE_FILE_KIND_H
#define LEAT_BASE_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

enum file_class {
    FILE_CORPUS,     /* it may well hold texts to train on */
    FILE_COMPRESSED, /* so may this, and leat can read it; only its name does not say so */
    FILE_TOKENS,     /* packed already, by another program or by leat */
    FILE_OTHER,
    FILE_BINARY /* of no known kind */
};

struct file_kind {
    const char *name; /* "a Parquet file" */
    const char *cure; /* what to do with it, as an imperative: "convert it to JSON lines" */
    enum file_class what;
    const char *suffixes; /* of its files, separated by blanks; "": none */
    const char *magic;    /* its first bytes, from `offset` on; NULL: known by its suffix only */
    uint8_t magic_bytes;
    uint16_t offset;
};

#define FILE_KIND_HEAD ((size_t)4096) /* so many first bytes are looked at */

/* What the first bytes of a file say (`bytes` < FILE_KIND_HEAD: it has no more); NULL: it may be UTF-8 text. */
const struct file_kind *file_kind_of_bytes(const uint8_t *head, size_t bytes);

/* What the suffix of a file says that is not text; NULL: nothing. */
const struct file_kind *file_kind_of_name(const char *path);

/* What a file is: by its suffix if `by_name`, else by its first bytes; *kind NULL: it may be UTF-8 text. */
enum leat_status file_kind_look(const char *path, bool by_name, const struct file_kind **kind, struct leat_error *err);

/* Whether a file begins as JSON lines do: with an object's first name. */
bool file_kind_is_jsonl(const char *path);

#endif
