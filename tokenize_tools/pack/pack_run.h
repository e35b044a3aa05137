/* pack_run.h: the parts that packing files and packing a program's texts have in common: options, names, starting or
 * resuming, the end, the report. */
#ifndef LEAT_PACK_RUN_H
#define LEAT_PACK_RUN_H

#include "pack.h"
#include "pack/flow/flow.h"
#include "pack_chat.h"
#include "pack_facts.h"
#include "pack_output.h"

/* The bound on memory if none is given. Whole GiB that the process holds already, as a large program may, are added. */
#define PACK_GIB          ((uint64_t)1 << 30)
#define PACK_USUAL_MEMORY (2 * PACK_GIB)

struct pack_run {
    struct leat_pack_options options;
    struct pack_setup setup;
    const struct record_judges *judges; /* judges of the setup, or of a program's rows */
    struct pack_output output;
    struct leat_tokenizer_info tokenizer;
    char *name;  /* name of the dataset, without .leat */
    char *given; /* name of the dataset that the caller asked for, and which this one becomes; rejects and errors use
                    it */
    char *description_path, *checkpoint_path, *index_path;
    struct pack_chat chat;
    struct buffer description; /* pack_description.h */
    struct lane_start start;   /* where the inputs go on */
    void *note;                /* note of the checkpoint that was resumed; the next members are the program's part of
                                  it */
    const void *own_note;
    size_t own_note_bytes;
    bool takes_texts;                 /* true if a program adds texts, false if there are files */
    const struct pack_in_run *in_run; /* what a run in parts adds; NULL: this is not a part of one */
    bool replacing;  /* true if resuming was refused since a stopped run replaces the dataset, and force was not
                        given */
    bool stores_all; /* true if lines and ids are stored, whatever the inputs */
    bool pushed;     /* a part of a run whose commit judges the whole */
    bool finished;   /* true if there was nothing left to do: `found` has the dataset's facts */
    struct leat_info found;
    struct pack_past past;          /* of that one */
    struct leat_pack_serial serial; /* all but place_ns, which the output has */
    struct leat_pack_stream stream;
    uint64_t units, lock_ns;    /* number of units, and waiting for the lock, as the flow counts them */
    uint64_t direct_bytes;      /* of tokens */
    char learned[LEARNED_TEXT]; /* see struct leat_pack_report */
};

/* Sets up everything that does not depend on inputs, by options that pack_options_read() has read. `given` is the
 * dataset that the caller asked for, whose name the file of rejects has (NULL: the output). pack_run_free() also after
 * a failure. */
enum leat_status pack_run_init(struct pack_run *r, const char *output, const char *given,
                               const struct leat_pack_options *options, struct leat_error *err);
void pack_run_free(struct pack_run *r);

/* Asks the caller whether to stop, before the flow does. It is for setup.stop. */
bool pack_run_ask(void *options);

/* Gives a notice, on the calling thread, that a file server is waited for. */
void pack_run_say_waits(void *options, const char *why);

/* Prepares the run for conversations, which its options ask for; setup.stop must be set. */
enum leat_status pack_run_take_chat(struct pack_run *r, struct leat_error *err);

/* Opens the output, new or where a run was stopped. The setup's inputs and the description must be complete. */
enum leat_status pack_run_begin(struct pack_run *r, struct leat_error *err);

/* Reports damaged inputs, if there are any, to the run of which this is a part. */
enum leat_status pack_run_say_damaged(const struct pack_run *r, const struct damage_list *damaged,
                                      struct leat_error *err);

/* Counts what training learns of what is packed so far, and gives notices of what looks wrong in it. */
void pack_run_look_back(struct pack_run *r);

/* Finishes the dataset once all is written. */
enum leat_status pack_run_finish(struct pack_run *r, struct leat_info *info, struct leat_error *err);

/* Ends the writer after a failure with this status, whose report is `report`, and keeps what can be resumed. The
 * other function keeps nothing. *err changes if the rejects could not be listed. */
void pack_run_keep(struct pack_run *r, enum leat_status status, struct leat_pack_report *report,
                   struct leat_error *err);
void pack_run_abandon(struct pack_run *r);

/* Removes files that a killed writer left beside a dataset that it had finished. */
void pack_run_tidy(const char *name);

/* Returns the most memory that the process has had; 0 if it is not known. */
uint64_t pack_run_peak_memory(void);

void pack_run_report(const struct pack_run *r, const struct leat_info *info, struct leat_pack_report *report);

#endif
