/* pack_facts.h: the options of a run that stand in the metadata of its dataset, and whether a finished dataset is
 * what a run would make: then resuming it has nothing left to do. */
#ifndef LEAT_PACK_FACTS_H
#define LEAT_PACK_FACTS_H

#include <stdbool.h>

#include "corpus/inputs.h"
#include "corpus/record/column_spec.h"
#include "corpus/record/judge.h"
#include "damage/damage_list.h"
#include "leat_pack.h"

struct pack_fact {
    const char *key, *value; /* value is NULL if the key must not be there */
};

#define PACK_FACTS 24
struct pack_facts {
    struct pack_fact of[PACK_FACTS];
    char part[32], max_length[16];
    char keep[JUDGE_KEEP_BYTES];     /* all conditions, one per line */
    char columns[COLUMN_SPEC_BYTES]; /* all columns, one per line */
};

/* Returns true if a run with these options stores a mask. */
bool pack_facts_mask(const struct leat_pack_options *o);

/* Collects the options that decide the bytes, in addition to the inputs and the facts in the header; the options'
 * texts must outlive them. `by` is the field whose values stand before the documents' ids; NULL: none. */
void pack_facts_make(struct pack_facts *facts, const struct leat_pack_options *o, const char *by);

/* The key for the commits that were read of names on the Hugging Face Hub: a line "NAME NAME@COMMIT" each, the names
 * up to their paths. leat_merge() compares them, and a run that has ended keeps to them. */
#define PACK_HUB "leat.hub"

/* Returns what the metadata of a dataset say for a key; the caller frees it. NULL: nothing, or there is no dataset. */
char *pack_facts_value(const char *name, const char *key);

/* Adds the pins of a dataset, if it exists; `index` is its file. */
enum leat_status pack_facts_pins(struct hub_pins *pins, const char *index, struct leat_error *err);

/* Facts that a finished dataset has about the run that made it. */
struct pack_past {
    uint64_t inputs;            /* number of inputs; 0: a program declares them */
    uint64_t rejects;           /* number of rejected records of its inputs */
    struct damage_list damaged; /* inputs that were cut off or broken, according to the dataset */
};
void pack_past_free(struct pack_past *past); /* a zeroed struct is fine */

/* The stages of a run's datasets: made in one pass; packed, but still to be arranged; made by arranging. */
enum pack_stage { PACK_WHOLE, PACK_PACKED, PACK_ARRANGED };

/*
 * Returns true if the dataset has these facts, inputs, tokenizer and tokens, and was shuffled, deduplicated and
 * split as the options say if it is PACK_ARRANGED, and not at all otherwise. `inputs` is NULL if a program declares
 * them, so that they are not known before, or if they are those of a part of a run, which are not compared again.
 * *past, which is all zero at first, is set.
 */
bool pack_facts_fit(const struct leat_dataset *d, const struct leat_pack_options *o, const struct input_list *inputs,
                    enum pack_stage stage, bool in_run, struct pack_past *past);

/* Copies to the report of a run that has nothing left to do what the dataset says of the run that made it. */
void pack_past_report(const struct pack_past *past, struct leat_pack_report *report);

/* Reports the inputs that were cut off or broken, if the options have a function for that. */
void pack_facts_notice(const struct damage_list *damaged, const struct leat_pack_options *options);

#endif
