/*
 * info.h: what `leat info` shows of a dataset, as text, as JSON, and as a page: facts, the lengths of documents, and a
 * survey of the tokens.
 *
 * The room tokenize_tools/commands/info/ is `leat info`. What may enter: code that only this command needs.
 */
#ifndef LEAT_INFO_INFO_H
#define LEAT_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "damage/damage_list.h"
#include "leat_pack.h"

/* ---- Survey ------------------------------------------------------------------------------------------------------ */

/* What the tokens of a dataset are: how often each id occurs, how many bytes they stand for, in which scripts the text
 * is written, which texts are there more than once, and why records were rejected. */

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

/* ---- Lengths of documents ---------------------------------------------------------------------------------------- */

/*
 * Counts the documents of a dataset by length, in buckets that double: exactly for up to HISTOGRAM_EXACT documents,
 * beyond that from runs of documents at equal distances.
 */

#define HISTOGRAM_EXACT   ((uint64_t)1 << 26) /* documents whose starts are all read: 512 MiB */
#define HISTOGRAM_RUN     256u                /* documents per run of the sample */
#define HISTOGRAM_RUNS    4096u               /* runs of the sample */
#define HISTOGRAM_BUCKETS 65                  /* 0 tokens; then 2^(k-1) to 2^k - 1 tokens for k from 1 to 64 */

struct length_histogram {
    bool sampled;
    uint64_t documents; /* counted */
    uint64_t tokens;    /* of these */
    uint64_t shortest, longest;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Counts nothing where the documents are not known. */
enum leat_status length_histogram_count(struct length_histogram *h, const struct leat_dataset *d,
                                        struct leat_error *err);

/* Tokens per document; 0 if there is none. */
double length_histogram_mean(const struct length_histogram *h);

/* The least and greatest length that bucket `k` counts. */
uint64_t length_histogram_min(unsigned k);
uint64_t length_histogram_max(unsigned k);

/* The first and the last bucket that is not empty; false if all are. */
bool length_histogram_range(const struct length_histogram *h, unsigned *first, unsigned *last);

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

/* Everything that is shown except the long lists, which are read while they are printed. */
struct info_facts {
    const char *name;
    const struct leat_dataset *d;
    struct leat_info info;
    struct leat_stored_tokenizer *tokenizer; /* NULL: none stored */
    struct length_histogram lengths;
    struct damage_list damaged; /* of all parts */
    struct survey *survey;      /* for the page */
};

/* Writes the page. */
enum leat_status info_page_write(const struct info_facts *f, const char *path, struct leat_error *err);

#endif
