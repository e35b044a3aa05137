/*
 * info.h: what `leat info` shows of a dataset, as text and as JSON: facts, the lengths of documents, the
 * histogram of a column.
 *
 * The room tokenize_tools/commands/info/ is `leat info`. What may enter: code that only this command needs.
 */
#ifndef LEAT_INFO_INFO_H
#define LEAT_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "damage/damage_list.h"
#include "leat_pack.h"
#include "mask/learned.h"

/* ---- Lengths of documents ---------------------------------------------------------------------------------------- */

/*
 * Counts the documents of a dataset by length, in buckets that double: exactly for up to HISTOGRAM_EXACT documents,
 * beyond that from runs of documents at equal distances.
 */

#define HISTOGRAM_EXACT ((uint64_t)1 << 26) /* the most documents whose starts are all read: 512 MiB */
#define HISTOGRAM_RUN   256u                /* documents per run of the sample */
#define HISTOGRAM_RUNS  4096u               /* runs of the sample */
#define HISTOGRAM_BUCKETS                                                                                              \
    65 /* bucket 0 counts documents of 0 tokens, bucket k from 1 to 64 those
                                                 of 2^(k-1) to 2^k - 1 tokens */

struct length_histogram {
    bool sampled;
    uint64_t documents; /* counted */
    uint64_t tokens;    /* of these */
    uint64_t shortest, longest;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Counts the documents; nothing if documents are not known. */
enum leat_status length_histogram_count(struct length_histogram *h, const struct leat_dataset *d,
                                        struct leat_error *err);

/* Returns the mean number of tokens per document; 0 if there is none. */
double length_histogram_mean(const struct length_histogram *h);

/* Returns the least and greatest length that bucket `k` counts. */
uint64_t length_histogram_min(unsigned k);
uint64_t length_histogram_max(unsigned k);

/* Sets the first and the last bucket that is not empty; returns false if all are empty. */
bool length_histogram_range(const struct length_histogram *h, unsigned *first, unsigned *last);

/* ---- Histogram of a column --------------------------------------------------------------------------------------- */

/* Counts documents and tokens by the values of a column per document: numbers in bins, a text in a bin of its own. */

struct column_bin {
    double from;      /* least number; -infinity in the first bin */
    const char *text; /* of a category, else NULL */
    uint64_t text_bytes;
    uint64_t documents, tokens;
};

struct column_histogram {
    struct leat_column *column;
    struct leat_column_info about;
    struct column_bin *bins; /* of numbers ascending, of texts the most frequent first */
    size_t count;
    struct column_bin nan;  /* documents whose value is NaN */
    uint64_t valued;        /* documents with another value */
    double least, greatest; /* of these; 0 if there are none */
};

/* Counts the documents of a dataset by its column `name`. column_histogram_free() must follow, on failure, too. */
enum leat_status column_histogram_count(struct column_histogram *h, const struct leat_dataset *d, const char *name,
                                        struct leat_error *err);
void column_histogram_free(struct column_histogram *h); /* zeros are fine */

/* Shows it to people, and as the member "histogram". */
void column_histogram_print(const struct column_histogram *h, const char *dataset);
void column_histogram_json(struct json *j, const struct column_histogram *h);

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

/* Everything that is shown except the long lists, which are read while they are printed. */
struct info_facts {
    const char *name;
    const struct leat_dataset *d;
    struct leat_info info;
    struct leat_stored_tokenizer *tokenizer; /* NULL: none stored */
    struct leat_columns *columns;
    struct length_histogram lengths;
    struct column_histogram by; /* of --by, else zeros */
    struct damage_list damaged; /* of all parts */
    char learned[LEARNED_TEXT]; /* sum over the parts; "" unless each of them says it */
    uint64_t counted;           /* parts that say it */
    bool chat;                  /* a part has conversations */
};

#endif
