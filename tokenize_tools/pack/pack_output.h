/*
 * pack_output.h: the end of the packer's way: units, in order, become documents of a dataset, rejects and counts; and
 * checkpoints, from which a killed run goes on.
 */
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

/* Where the dataset written so far ends in the inputs, and what was counted up to there. Plain numbers: a checkpoint's
 * note holds them. */
struct pack_position {
    uint64_t input, offset;    /* what comes next */
    struct byte_mark mark;     /* for a stream: a place not after it */
    uint64_t declared;         /* inputs that the writer knows */
    uint64_t lines;            /* line ends of the input before `offset` */
    uint64_t input_rejects;    /* of that input */
    uint64_t input_taken;      /* whether a record of it became a document, or was kept out */
    struct hash128 sum;        /* of its pages so far */
    uint64_t reject_bytes;     /* of the file of rejects */
    struct hash128 reject_sum; /* of these */
    uint64_t rejects, text_bytes, special_strings, damaged_inputs;
    uint64_t replaced;   /* malformed parts of the texts, in place of which U+FFFD was packed */
    uint64_t not_json;   /* documents whose record has a NaN or an infinity */
    uint64_t damaged;    /* whether the input counts as damaged */
    uint64_t kept_out;   /* records for which a condition of the run does not hold */
    uint64_t lost;       /* of the rejects, rows that follow one that could not be read */
    uint64_t row_groups; /* of Parquet files */
    uint64_t disk_bytes; /* of all inputs, for progress */
};

struct pack_replaced {
    uint64_t input, count;
};

/* An input each of whose records was rejected. */
struct pack_rejected {
    uint64_t input, count;
    uint64_t reason; /* where that of the first begins in `reasons` */
};

struct pack_output {
    const struct pack_setup *setup;
    struct leat_writer *writer;
    struct reject_file rejects;
    char *rejects_given;   /* the list's name as the caller gave it, right as long as the process is in this folder: */
    struct folder *folder; /* NULL: rejects.path is the caller's */
    char reason[160];      /* of the first of this run; "": none */
    char reason_field[sizeof((struct leat_error *)0)->field]; /* of its record, because of which it is; "": none */
    uint64_t reason_input;                                    /* the input that it is in */
    struct pack_position at;
    bool checkpoints;            /* false: nothing could be resumed */
    uint64_t text_at_checkpoint; /* at.text_bytes then */
    double checkpoint_time;
    uint64_t spent_ns[PACK_STEP_COUNT]; /* writing: in turn */
    _Atomic uint64_t put_ns;            /* writing, side by side */
    bool numbers_lines;                 /* documents of a program have their own line numbers */
    char **paths;                       /* of inputs that a program declared: at.declared of them */
    const char *description_path;       /* NAME.partial.run, made durable before the first checkpoint: */
    const struct buffer *description;
    bool described;
    bool resumable;   /* there is a checkpoint */
    const void *note; /* a program's own, after leat's in the next checkpoint */
    size_t note_bytes;
    char damage[512];              /* what is wrong with the first damaged input, */
    struct damage_list damages;    /* and what the dataset will say of all: at.damaged_inputs of them */
    struct by_values values;       /* that documents carry */
    const char *field, *by_output; /* of these; the names of their datasets follow it: not taken. NULL: not looked */
    struct pack_replaced *replaced_in; /* the inputs that at.replaced counts, as they come */
    size_t replaced_inputs;
    struct pack_rejected *rejected_in; /* as they come; not those that count as damaged */
    size_t rejected_inputs, rejected_room;
    struct buffer reasons; /* of these, each with a zero byte; the first is empty, for those that do not fit */
    /* why the first record of the current input was rejected; "": none was */
    char input_reason[sizeof((struct leat_error *)NULL)->message];
    /* what others may look at while the run goes on; written by one thread, read by another */
    _Atomic uint64_t seen_disk_bytes, seen_text_bytes, seen_tokens, seen_documents, seen_rejects;
    _Atomic uint64_t kept_disk_bytes, kept_tokens, kept_documents; /* at the last checkpoint */
};

/* For a flow, whose units the output takes. LEAT_E_REJECTS: more records were rejected than may be. */
struct flow_output pack_output_flow(struct pack_output *o);

/* Brings the counts for progress, `seen_...`, up to date. */
void pack_output_show(struct pack_output *o);

/* Notes that what is there now is at a checkpoint. */
void pack_output_kept(struct pack_output *o);

/* Makes all so far durable. */
enum leat_status pack_output_checkpoint(struct pack_output *o, struct leat_error *err);

/* After the last unit: whether too many records were rejected. */
enum leat_status pack_output_judge(const struct pack_output *o, struct leat_error *err);

/* Fills *err with the same, of so many records, if the rejects could not be listed: `why`. */
void pack_output_say_unlisted(const struct pack_output *o, uint64_t records, const struct leat_error *why,
                              struct leat_error *err);

/*
 * The note of a checkpoint: the position, the paths of inputs that a program declared, the values that documents carry,
 * and the program's own note.
 * Loading sets o->at and o->paths; *own and *own_bytes are the program's part of `note`. False if it is not such a
 * note, or there is no memory.
 */
bool pack_output_load_note(struct pack_output *o, const void *note, size_t bytes, const void **own, size_t *own_bytes);

/* Reports the inputs that were damaged, those of which each record was rejected, and, of a run that has `ended` well,
 * those of which text was replaced, if the options have a function for it. */
void pack_output_notice(const struct pack_output *o, const struct leat_pack_options *options, bool ended);

/* Frees what the output itself holds; the writer must have been ended. */
void pack_output_free(struct pack_output *o);

#endif
