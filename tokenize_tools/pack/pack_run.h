/*
 * pack_run.h: what packing files and packing a program's texts have in common: options, names, start or resume, the
 * end, the report.
 */
#ifndef LEAT_PACK_RUN_H
#define LEAT_PACK_RUN_H

#include "pack.h"
#include "pack/flow/flow.h"
#include "pack_chat.h"
#include "pack_facts.h"
#include "pack_output.h"

/* The bound on memory if none is given; whole GiB that the process holds already, as a large program may, come to
 * it. */
#define PACK_GIB          ((uint64_t)1 << 30)
#define PACK_USUAL_MEMORY (2 * PACK_GIB)

struct pack_run {
    struct leat_pack_options options;
    struct pack_setup setup;
    const struct record_judges *judges; /* of the setup, or of a program's rows */
    struct pack_output output;
    struct leat_tokenizer_info tokenizer;
    char *name;  /* of the dataset, without .leat */
    char *given; /* the one that the caller asked for, which is made of it: by its name go rejects and sentences */
    char *description_path, *checkpoint_path, *index_path;
    struct pack_chat chat;
    struct buffer description; /* pack_description.h */
    struct lane_start start;   /* where the inputs go on */
    void *note;                /* of the checkpoint that was resumed; the program's own part of it: */
    const void *own_note;
    size_t own_note_bytes;
    bool takes_texts;                 /* of a program, not files */
    const struct pack_in_run *in_run; /* it is a part of a run in parts; else NULL */
    bool replacing;  /* resuming was refused: a stopped run replaces the dataset, and force was not given */
    bool stores_all; /* lines and ids, whatever the inputs */
    bool pushed;     /* a part of a run whose commit judges the whole */
    bool finished;   /* there was nothing left to do: the dataset is the one of `found` */
    struct leat_info found;
    struct pack_past past;          /* of that one */
    struct leat_pack_serial serial; /* but for place_ns, which the output has */
    struct leat_pack_stream stream;
    uint64_t units, lock_ns; /* as the flow counts them */
    uint64_t direct_bytes;   /* of tokens */
};

/* Everything that does not depend on inputs; `given` is the dataset that the caller asked for, whose name the
 * file of rejects has (NULL: the output). pack_run_free() also after a failure. */
enum leat_status pack_run_init(struct pack_run *r, const char *output, const char *given,
                               const struct leat_pack_options *options, struct leat_error *err);
void pack_run_free(struct pack_run *r);

/* Asks the caller whether to stop, before the flow does: for setup.stop. */
bool pack_run_ask(void *options);

/* Gives a notice that a file server is waited for; on the calling thread. */
void pack_run_say_waits(void *options, const char *why);

/* Makes the run ready for conversations, which its options ask for; setup.stop must be set. */
enum leat_status pack_run_take_chat(struct pack_run *r, struct leat_error *err);

/* Opens the output, new or where a run was stopped; the setup's inputs and the description must be complete. */
enum leat_status pack_run_begin(struct pack_run *r, struct leat_error *err);

/* Tells the run of which this is a part of damaged inputs, if there are any. */
enum leat_status pack_run_say_damaged(const struct pack_run *r, const struct damage_list *damaged,
                                      struct leat_error *err);

/* All is written: finishes the dataset. */
enum leat_status pack_run_finish(struct pack_run *r, struct leat_info *info, struct leat_error *err);

/* After a failure with this status, and the report of it: ends the writer, keeping what can be resumed; or keeping
 * nothing. *err: it changes if the rejects could not be listed. */
void pack_run_keep(struct pack_run *r, enum leat_status status, struct leat_pack_report *report,
                   struct leat_error *err);
void pack_run_abandon(struct pack_run *r);

/* Removes what a killed writer left beside a dataset that it had finished. */
void pack_run_tidy(const char *name);

/* Returns the most memory that the process has had; 0: not known. */
uint64_t pack_run_peak_memory(void);

void pack_run_report(const struct pack_run *r, const struct leat_info *info, struct leat_pack_report *report);

#endif
