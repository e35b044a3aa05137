/* pack_output.h: the end of the packer's work: units, in order, become documents of a dataset, rejects and counts;
 * and checkpoints, from which a killed run goes on. */
#ifndef LEAT_PACK_OUTPUT_H
#define LEAT_PACK_OUTPUT_H

#include <stdatomic.h>

#include "arrange/splits/by_values.h"
#include "base/file.h"
#include "damage/damage_list.h"
#include "pack/flow/flow.h"
#include "pack/flow/pack_setup.h"
#include "pack/flow/unit.h"
#include "reject_file.h"

/* The place in the inputs where the dataset written so far ends, and the counts up to there. All are plain numbers,
 * which a checkpoint's note holds. */
struct pack_position {
    uint64_t input, offset;    /* what comes next */
    struct byte_mark mark;     /* a place not after it, at which a stream can begin */
    uint64_t declared;         /* number of inputs that the writer knows */
    uint64_t lines;            /* number of line ends of the input before `offset` */
    uint64_t input_rejects;    /* of that input */
    uint64_t input_taken;      /* 1 if a record of the input became a document, or was kept out */
    struct hash128 sum;        /* sum of the input's pages so far */
    uint64_t reject_bytes;     /* bytes of the file of rejects */
    struct hash128 reject_sum; /* of these */
    uint64_t rejects, text_bytes, damaged_inputs;
    uint64_t replaced;   /* number of malformed parts of the texts, each of which was packed as U+FFFD */
    uint64_t damaged;    /* 1 if the input counts as damaged */
    uint64_t lost;       /* number of rejects that are rows after one that could not be read */
    uint64_t row_groups; /* of Parquet files */
    uint64_t counts[COUNTS];
    uint64_t learned_by_role[LEARNED_ROLES]; /* tokens of conversations */
    uint64_t disk_bytes;                     /* bytes of all inputs on disk, for progress */
};

struct pack_replaced {
    uint64_t input, count;
};

/* An input all of whose records were rejected. */
struct pack_rejected {
    uint64_t input, count;
    uint64_t reason; /* place in `reasons` of the reason for the first one */
};

struct pack_output {
    const struct pack_setup *setup;
    struct leat_writer *writer;
    struct reject_file rejects;
    char *rejects_given;   /* the list's name as the caller gave it, which is right as long as the process is in this
                              folder: */
    struct folder *folder; /* NULL: rejects.path is the caller's */
    char reason[160];      /* reason for the first reject of this run; "": there was none */
    char reason_field[sizeof((struct leat_error *)0)->field]; /* field of its record that is the reason; "": none */
    uint64_t reason_input;                                    /* input of its record */
    struct pack_position at;
    bool checkpoints;            /* false if no checkpoint could be resumed */
    uint64_t text_at_checkpoint; /* at.text_bytes then */
    double checkpoint_time;
    uint64_t spent_ns[PACK_STEP_COUNT]; /* writing: in turn */
    _Atomic uint64_t put_ns;            /* time of writing by several threads at once */
    bool numbers_lines;                 /* true if documents of a program have their own line numbers */
    char **paths;                       /* paths of the at.declared inputs that a program has declared */
    const char *description_path;       /* NAME.partial.run, which is made durable, with the text below, before the
                                           first checkpoint */
    const struct buffer *description;
    bool described;
    bool resumable;   /* true if there is a checkpoint */
    const void *note; /* a program's own note, which stands after leat's in the next checkpoint */
    size_t note_bytes;
    char damage[512];                  /* error of the first damaged input */
    struct damage_list damages;        /* the at.damaged_inputs inputs that the dataset will list as damaged */
    struct by_values values;           /* that documents carry */
    const char *field, *by_output;     /* field of these values; name that the names of their datasets begin with, which
                                      must not be taken (NULL: this is not checked) */
    struct pack_replaced *replaced_in; /* the inputs that at.replaced counts, in their order */
    size_t replaced_inputs;
    struct pack_rejected *rejected_in; /* such inputs in their order, without those that count as damaged */
    size_t rejected_inputs, rejected_room;
    struct buffer reasons; /* reasons of these inputs, each with a zero byte; the first one is empty, for reasons
                              that do not fit */
    /* reason for the first reject of the current input; "": there was none */
    char input_reason[sizeof((struct leat_error *)NULL)->message];
    /* Counts that others may look at while the run goes on; one thread writes them, and another reads them. */
    _Atomic uint64_t seen_disk_bytes, seen_text_bytes, seen_tokens, seen_documents, seen_rejects;
    _Atomic uint64_t kept_disk_bytes, kept_tokens, kept_documents; /* counts at the last checkpoint */
};

/* Updates the counts for progress, `seen_...`. */
void pack_output_show(struct pack_output *o);

/* Notes that the present counts are those of a checkpoint. */
void pack_output_kept(struct pack_output *o);

/* Makes everything up to now durable. */
enum leat_status pack_output_checkpoint(struct pack_output *o, struct leat_error *err);

/* Judges, after the last unit, whether too many records were rejected. */
enum leat_status pack_output_judge(const struct pack_output *o, struct leat_error *err);

/* Fills *err with an error about too many rejects of so many records, if the rejects could not be listed; `why` is
 * the reason. */
void pack_output_say_unlisted(const struct pack_output *o, uint64_t records, const struct leat_error *why,
                              struct leat_error *err);

/*
 * The note of a checkpoint: the position, the paths of inputs that a program declared, the values that documents
 * carry, and the program's own note. Loading sets o->at and o->paths; *own and *own_bytes become the program's part
 * of `note`. It returns false if this is no such note, or there is no memory.
 */
bool pack_output_load_note(struct pack_output *o, const void *note, size_t bytes, const void **own, size_t *own_bytes);

/* Reports the inputs that were damaged, the inputs all of whose records were rejected, and, if the run has `ended`
 * well, the inputs of which text was replaced, if the options have a function for it. */
void pack_output_notice(const struct pack_output *o, const struct leat_pack_options *options, bool ended);

/* Frees the output's own memory; the writer must have ended before. */
void pack_output_free(struct pack_output *o);

#endif
