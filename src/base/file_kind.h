/*
 * file_kind.h: says what a file probably is if it is not UTF-8 text, by its first bytes or its suffix. So a Parquet
 * file or a text in UTF-16 is refused, and the error says what to do, instead of becoming tokens or being skipped.
 */
#ifndef LEAT_BASE_FILE_KIND_H
#define LEAT_BASE_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

enum file_class {
    FILE_CORPUS,     /* may hold texts to train on */
    FILE_PARQUET,    /* may hold texts, and leat can read it */
    FILE_COMPRESSED, /* may hold texts, and leat can read it, but its name does not say so */
    FILE_TOKENS,     /* already packed, by leat or another program */
    FILE_OTHER,
    FILE_BINARY /* bytes of an unknown kind */
};

struct file_kind {
    const char *name; /* "a Parquet file" */
    const char *cure; /* remedy, as an imperative: "convert it to JSON lines" */
    enum file_class what;
    const char *suffixes; /* suffixes of such files, separated by spaces; "": none */
    const char *magic;    /* its bytes at `offset`; NULL: only the suffix decides */
    uint8_t magic_bytes;
    uint16_t offset;
};

#define FILE_KIND_HEAD ((size_t)4096) /* number of first bytes that are examined */

/* Returns the kind of a file by its first bytes; if these are fewer than FILE_KIND_HEAD, it has no more. Returns
 * NULL if it may be UTF-8 text. */
const struct file_kind *file_kind_of_bytes(const uint8_t *head, size_t bytes);

/* Returns true if four bytes are the magic number of a frame without text, which may stand before frames of zstd and
 * lz4. */
bool file_kind_skippable(const uint8_t magic[4]);

/* Returns the kind of a file by its suffix; NULL if the suffix does not say it. */
const struct file_kind *file_kind_of_name(const char *path);

struct mounts;

/* Sets *kind to the kind of a file: by its suffix if `by_name` and that says it, else by its first bytes; to NULL if
 * it may be UTF-8 text. A file server that fails is tried again as `mounts` says (NULL: once; base/mounts.h). */
enum leat_status file_kind_look(const char *path, bool by_name, struct mounts *mounts, const struct file_kind **kind,
                                struct leat_error *err);

/* Checks whether a file begins like JSON lines: with the first name of an object. */
enum leat_status file_kind_is_jsonl(const char *path, struct mounts *mounts, bool *is, struct leat_error *err);

#endif
