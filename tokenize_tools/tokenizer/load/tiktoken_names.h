/*
 * tiktoken_names.h: what a *.tiktoken file does not hold: the pattern that cuts text into pretokens, and the special
 * tokens. A table of the published vocabularies, by name.
 */
#ifndef LEAT_TOKENIZER_TIKTOKEN_NAMES_H
#define LEAT_TOKENIZER_TIKTOKEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tiktoken_special {
    const char *text; /* with a %u: one token for each id from `id` to `last`, numbered from `first` */
    uint32_t id, last, first;
};

struct tiktoken_name {
    const char *name;
    const char *file; /* the name its publisher gave the file, if that is not NAME.tiktoken */
    uint64_t print;   /* XXH3 of the published file, if many files have its name (tokenizer.model); 0: none */
    const char *pattern;
    uint32_t ranks; /* tokens in the published file */
    bool nfc;       /* its reference normalizes the text before tiktoken sees it */
    const struct tiktoken_special *special;
    size_t special_count;
};

/* A row by its name, whatever its case; NULL if there is none. */
const struct tiktoken_name *tiktoken_name_find(const char *name);

/* Finds the row for a file by its path: its name without .zst, and without .tiktoken. NULL if no row fits. */
const struct tiktoken_name *tiktoken_name_of_file(const char *path);

/* Finds the row whose published file has these bytes. NULL if none has. */
const struct tiktoken_name *tiktoken_name_of_bytes(const void *bytes, size_t size);

/* The names, with commas between: for sentences. Constant memory. */
const char *tiktoken_name_list(void);

#endif
