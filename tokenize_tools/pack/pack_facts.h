/*
 * pack_facts.h: what of a run's options stands in the metadata of its dataset, and whether a finished dataset is what a
 * run would make: then resuming it has nothing left to do.
 */
#ifndef LEAT_PACK_FACTS_H
#define LEAT_PACK_FACTS_H

#include <stdbool.h>

#include "corpus/inputs.h"
#include "corpus/record/judge.h"
#include "damage/damage_list.h"
#include "leat_pack.h"

struct pack_fact {
    const char *key, *value; /* NULL: it must not be there */
};

#define PACK_FACTS 17
struct pack_facts {
    struct pack_fact of[PACK_FACTS];
    char part[32];
    char keep[JUDGE_KEEP_BYTES]; /* all conditions, a line each */
};

/* What decides the bytes, in addition to the inputs and what the header says; the options' texts must outlive it.
 * `by`: the field whose values stand before the documents' ids; NULL: none do. */
void pack_facts_make(struct pack_facts *facts, const struct leat_pack_options *o, const char *by);

/* Which commits were read of what was named on the Hugging Face Hub: a line "NAME NAME@COMMIT" each, the names up to
 * their paths. leat_merge() compares them, and a run that has come to its end keeps to them. */
#define PACK_HUB "leat.hub"

/* Adds the pins that a dataset has, if there is one: INDEX is its file. */
enum leat_status pack_facts_pins(struct hub_pins *pins, const char *index, struct leat_error *err);

/* What a finished dataset says of the run that made it. */
struct pack_past {
    uint64_t inputs;            /* 0: a program declares them */
    uint64_t rejects;           /* records of its inputs */
    struct damage_list damaged; /* inputs that were cut off or broken, as the dataset says it */
};
void pack_past_free(struct pack_past *past); /* all zero is fine */

/* What a dataset is of a run: what it makes in one pass; what it packs to be arranged; what it makes of that. */
enum pack_stage { PACK_WHOLE, PACK_PACKED, PACK_ARRANGED };

/*
 * Returns true if the dataset has these facts, inputs, tokenizer and tokens, and, if it is the arranged one, was
 * shuffled, deduplicated and split as the options say; else not at all. `inputs` NULL: those that a program
 * declares, which are not known beforehand, or those of a part of a run, which are not compared again. *past is
 * filled anew; all zero at first.
 */
bool pack_facts_fit(const struct leat_dataset *d, const struct leat_pack_options *o, const struct input_list *inputs,
                    enum pack_stage stage, bool in_run, struct pack_past *past);

/* Puts into the report of a run that has nothing left to do what the dataset says of the one that made it. */
void pack_past_report(const struct pack_past *past, struct leat_pack_report *report);

/* Reports the inputs that were cut off or broken, if the options have a function for that. */
void pack_facts_notice(const struct damage_list *damaged, const struct leat_pack_options *options);

#endif
