/*
 * judge.h: judges decide about records by their fields: whether a record is kept out or rejected, which dataset it goes
 * to, and what of it is learned. A judge is a row of judges.c, and holds for every format. A new one, say for a
 * greatest length, is a file judge_NAME.c, its name and number here, and its row. Its option is a row of
 * pack/option_rows.h. If it filters, rows that a program gives are judged by it, too (pack/packer_judge.h), of
 * leat.Packer and leat.Run. It decides the bytes, so it stands in what a run is resumed by (pack/pack_description.c)
 * and in the metadata of the dataset (pack/pack_facts.c). Sentences about records that were kept out name --keep.
 *
 * The least that a judge does is to reject, with its reason: rejects are counted and listed already. A number of its
 * own is a row of enum pack_count below, which its verdict names; a member of struct leat_pack_report; and a row for it
 * in pack/pack_run.c, commands/packing/pack_report.c, and python/src/pack/pack.c, and in the Summary of
 * python/leat/packing.py.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JUDGE_H
#define LEAT_TOKENIZE_TOOLS_JUDGE_H

#include "base/buffer.h"
#include "leat_pack.h"
#include "record.h"

/* ---- What judges say --------------------------------------------------------------------------------------------- */

#define JUDGE_KEEP_BYTES ((size_t)4000) /* most bytes of all conditions */
#define JUDGE_BY_BYTES   ((size_t)1024) /* most bytes of a value that chooses a dataset */

/* What units count: the position of a checkpoint has the sums, which the report of the run gets. */
enum pack_count {
    COUNT_SPECIAL_STRINGS, /* strings of special tokens in texts */
    COUNT_NOT_JSON,        /* documents whose record has a NaN or an infinity */
    COUNT_TOO_LONG,        /* documents longer than the run allows */
    COUNT_KEPT_OUT,        /* records that a condition keeps out; what other judges keep out follows */
    COUNTS
};

struct verdict {
    bool kept_out;         /* true if the record is left out */
    enum pack_count count; /* then what it counts as */

    /* The value that chooses the record's dataset: a string, unescaped; or a number, true or false as in JSON. So 1
     * and "1" are one value, 1 and 1.0 are two. */
    size_t by_bytes;
    char by[RECORD_RAW_BYTES * JUDGE_BY_BYTES];

    struct buffer *spans;  /* gets the stretches to learn, as struct leat_span, in characters */
    double weight;         /* how much the record counts, from 0 to 1 */
    struct buffer *values; /* gets what columns have of the record, as column_spec.h says */
};

struct record_judge {
    bool (*asked)(const struct leat_pack_options *options); /* returns true if the options ask for this judge */
    const char *option;                                     /* name of that option, as in leat/pack.h */
    const char *needs; /* what the judge needs fields for, in the error about texts without fields */

    /* Reads the options, and wants the fields that it needs. Sets *self, the argument of judge() and free(), which may
     * be NULL after a failure. */
    enum leat_status (*prepare)(void **self, struct record_fields *fields, const struct leat_pack_options *options,
                                struct leat_error *err);

    /* Judges a record that is a valid object, or a row. Returns LEAT_E_TEXT with the reason if it is rejected. */
    enum leat_status (*judge)(void *self, const struct record *r, struct verdict *v, struct leat_error *err);
    void (*free)(void *self);
    bool filters; /* true if the judge can keep records out; the fields of such records do not count for an input */
};

/* The judges in their order: those that keep records out come first. */
enum { JUDGE_KEEP, JUDGE_BY, JUDGE_MASK, JUDGE_WEIGHT, JUDGE_COLUMNS, JUDGE_COUNT };
extern const struct record_judge judge_keep, judge_by, judge_mask, judge_weight, judge_columns;

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* The state of all judges, zeroed at first. It is constant once prepared, so any number of threads may use it. */
struct record_judges {
    void *self[JUDGE_COUNT];
};

/* Wants all fields that the options ask for, with their usual names filled in: the text or the conversation, the id,
 * and the fields of judges. judges_free() and record_fields_free() must follow, on failure too. */
enum leat_status judges_prepare(struct record_judges *j, struct record_fields *fields,
                                const struct leat_pack_options *options, struct leat_error *err);
void judges_free(struct record_judges *j);

/* Judges a record; v->spans and v->values must be set. Returns LEAT_E_TEXT if it is rejected. */
enum leat_status judges_judge(const struct record_judges *j, const struct record *r, struct verdict *v,
                              struct leat_error *err);

/* Wants only the fields that the judges need. */
enum leat_status judges_want(struct record_judges *j, struct record_fields *fields,
                             const struct leat_pack_options *options, struct leat_error *err);

/* Returns the first judge that the options ask for, and that, unless `filters`, cannot keep records out; or NULL. */
const struct record_judge *judges_asked(const struct leat_pack_options *options, bool filters);

/* Returns true if a record is kept out. */
bool judges_keep_out(const struct record_judges *j, const struct record *r);

/* ---- Single ones ------------------------------------------------------------------------------------------------- */

/* Turns spans in characters of a text, which is UTF-8, into spans in bytes. Returns LEAT_E_TEXT if one ends after the
 * text. */
enum leat_status judge_settle_spans(struct leat_span *spans, size_t count, const char *text, size_t bytes,
                                    struct leat_error *err);

/* Returns a field of conditions that no record so far has had, or only as null; NULL if there is none. */
const char *judge_keep_lacks(const struct record_judges *j);

#endif
