/*
 * pack.h: the room of the packer, which turns text into a dataset: leat_pack() that of files, leat_packer_*() that of a
 * program. From top to bottom:
 *
 *   pack           leat_pack(): finds the inputs, then packs them in their order (pack_files.c), or also shuffles,
 *                  deduplicates or splits (pack_arranged.c)
 *   packer         leat_packer_*(); packer_judge has conditions on its rows
 *   pack_run       one run: its options, begin, resume, end and report
 *   flow/          a room of its own: the threads that cut inputs into units, encode them and have them written
 *   pack_output    units in their order to the writer and the file of rejects; checkpoints
 *
 * What may enter: what knows of a whole run. How units become ids belongs to flow/, how files are found and read and
 * records found to corpus/, how text becomes ids to tokenizer/, what happens to finished datasets to arrange/.
 *
 * Words: a *record* is one entry of an input that becomes a document: a JSON line, a row, or a whole text file. A
 * *reject* is a record that cannot be packed, with its reason: it is *rejected*, and the run goes on. What a caller
 * asks for and does not get is *refused*.
 */
#ifndef LEAT_PACK_PACK_H
#define LEAT_PACK_PACK_H

#include "arrange/splits/split_fractions.h"
#include "corpus/inputs.h"
#include "damage/damage_list.h"

/* Reads a caller's options, over the defaults in *o. */
enum leat_status pack_options_read(struct leat_pack_options *o, const struct leat_pack_options *given,
                                   struct leat_error *err);

/* Gives fields without names their usual ones. */
void pack_options_default(struct leat_pack_options *options);

/* Checks before any work that the first records of inputs have the fields. `whole` says that these are all inputs of
 * a run. */
enum leat_status pack_check_fields(struct input_list *inputs, const struct record_fields *fields,
                                   const struct record_judges *judges, bool allow_binary, bool whole,
                                   const struct input_stop *stop, struct leat_error *err);

/* Returns true if so many rejects are more than the limits allow: a number, and a share in millionths of all
 * records. */
bool pack_too_many(uint64_t rejects, uint64_t records, const struct leat_pack_options *options);

/* Returns true if these options may make a dataset of so many documents when conditions left out `kept_out` records. */
bool pack_may_be_empty(const struct leat_pack_options *options, uint64_t documents, uint64_t kept_out);

/* Lifts the limits that judge a whole run: rejects, and conditions that leave no document. */
void pack_lift_limits(struct leat_pack_options *options);

/* The functions and facts that a run in parts (run/) adds to packing one of them, or none (options->part is 0). */
struct pack_in_run {
    const char *from;   /* the folder that relative inputs are in; NULL: the current one */
    const char *shared; /* the description of the whole run, whose pins count (hub_tree.h), once it exists */
    /* Judges the inputs that were found, before any work: they must be those of the other parts. It may set what the
     * report says of them. */
    enum leat_status (*judge)(void *context, const struct leat_pack_options *options, struct input_list *inputs,
                              const struct input_stop *stop, struct leat_pack_report *report, struct leat_error *err);
    void *context;
    /* Called with the options' context before the dataset has its name, if inputs of the part were cut off or
     * broken. */
    enum leat_status (*damaged)(void *context, const struct damage_list *damaged, struct leat_error *err);
};

/* Does what leat_pack() does, for a run in parts (NULL: for none). In a run in parts, the dataset of a split is a
 * file of the part's name in a folder of the split's name beside it. */
enum leat_status pack_inputs(const char *output, const char *const *inputs, uint64_t count,
                             const struct leat_pack_options *options, const struct pack_in_run *in_run,
                             struct leat_pack_report *report, struct leat_error *err);

/*
 * Packs inputs to a dataset, in their order. The list belongs to it afterwards. `given` is the dataset that the
 * caller asked for, whose name the file of rejects has; NULL: the output. `values` is the name whose datasets by
 * value must not exist; NULL: they may.
 */
enum leat_status pack_files(const char *output, const char *given, const char *values, struct input_list *inputs,
                            const struct leat_pack_options *options, const struct pack_in_run *in_run,
                            struct leat_pack_report *report, struct leat_error *err);

/* A packer that makes a part of a run. The code that opens it finishes it, and is told when it is freed. The public
 * calls add documents and abandon it. */
struct packer_part {
    void (*freed)(struct packer_part *part);
    const char *given; /* dataset, by its absolute name, whose name the list of rejects has; NULL: the output */
    bool needs_hashes; /* true if documents of ids come with the hashes of their texts */
};
enum leat_status packer_open(struct leat_packer **out, const char *output, const struct leat_pack_options *options,
                             struct packer_part *part, struct leat_error *err);
struct packer_part *packer_part_of(const struct leat_packer *p); /* NULL if it is not a part */

/* Finishes the dataset, once. The packer then takes no more documents; leat_packer_abandon() or packer_free() frees
 * it. */
enum leat_status packer_complete(struct leat_packer *p, struct leat_pack_report *report, struct leat_error *err);
void packer_free(struct leat_packer *p);

/* Returns OUTPUT.split (NULL: OUTPUT) with a suffix, which the caller frees, or NULL if there is no memory. */
static inline char *pack_split_name(const char *output, const char *split, const char *suffix)
{
    return split_fractions_output(output, split, false, suffix);
}

/* Return true if the options ask for more than packing; and say what is wrong with these options, before hours of
 * work. */
bool pack_arranges(const struct leat_pack_options *options);
enum leat_status pack_arranged_check(const struct leat_pack_options *options, bool in_run, struct leat_error *err);

/* Packs to OUTPUT.partial.packed/all, and arranges that dataset as the options ask. The list belongs to it
 * afterwards. */
enum leat_status pack_arranged(const char *output, struct input_list *inputs, const struct leat_pack_options *options,
                               const struct pack_in_run *in_run, struct leat_pack_report *report,
                               struct leat_error *err);

/* Removes the files that such a run has left beside the output, unless another process uses them. */
void pack_arranged_forget(const char *output);

/*
 * Checks whether a run of the other kind (in one pass, or arranging) has left files that could be resumed. Returns
 * LEAT_E_EXISTS then, or LEAT_E_CHECKPOINT if this run is to resume. The second function removes these files, after
 * a run with `force`.
 */
enum leat_status pack_earlier_check(const char *output, const struct leat_pack_options *options,
                                    struct leat_error *err);
void pack_earlier_forget(const char *output, bool arranges);

/* Removes the files of a run that arranges, if they cannot be resumed, after a run in one pass without `force`. */
void pack_earlier_tidy(const char *output);

#endif
