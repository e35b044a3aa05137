/*
 * survey.h: what the tokens of a dataset are: how often each id occurs, how many bytes they stand for, in which scripts
 * the text is written, which texts are there more than once, and why records were rejected.
 *
 * The room tokenize_tools/info/ is `leat info`: what a dataset holds, as text, JSON, and a page. What may enter: code
 * that only this command needs.
 */
#ifndef LEAT_INFO_SURVEY_H
#define LEAT_INFO_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "leat_pack.h"

#define SURVEY_SCRIPTS    32                  /* at most; the last one is all others */
#define SURVEY_REASONS    32                  /* different reasons of rejects that are told apart */
#define SURVEY_VOCABULARY ((uint64_t)1 << 24) /* ids of larger vocabularies are not counted */
#define SURVEY_TOKENS     ((uint64_t)1 << 24) /* of larger datasets a sample of so many is read */
#define SURVEY_HASHES     ((uint64_t)1 << 24) /* documents whose texts are compared: 256 MiB */

struct survey_reason {
    char *text; /* owned; up to its first colon */
    uint64_t count;
};

struct survey {
    uint64_t read;    /* tokens that were looked at */
    bool sampled;     /* not all */
    uint64_t *counts; /* of each id below `vocabulary`; NULL: not counted */
    uint64_t vocabulary, used;
    struct leat_tokenizer *tokenizer; /* NULL: none is stored, so that the next five are not known */
    bool *special;                    /* of each id */
    uint64_t text_tokens, text_bytes;
    uint64_t characters; /* of scripts: without what all scripts share, as digits and punctuation */
    uint64_t scripts[SURVEY_SCRIPTS];
    bool hashes;       /* texts were compared */
    uint64_t repeated; /* documents whose text came before */
    struct survey_reason reasons[SURVEY_REASONS];
    unsigned reason_count;
    uint64_t other_reasons; /* records with further ones */
    uint64_t rejects;       /* of all inputs */
};

/* The name of a script; NULL: there is none with this number. */
const char *survey_script(unsigned number);

/* Reads all that a survey has. survey_free() frees it, also after a failure. */
enum leat_status survey_read(struct survey *s, const struct leat_dataset *d, struct leat_error *err);
void survey_free(struct survey *s);

/* A table from each character to its script, which the caller frees; NULL: no memory. And counts those of a text. */
uint8_t *survey_script_table(void);
void survey_count_scripts(struct survey *s, const uint8_t *table, const char *text, uint64_t bytes);

#endif
