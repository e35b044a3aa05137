/* pack_sample.h: a run of leat_pack() over the first of its inputs, for a few seconds, into a temporary folder. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_SAMPLE_H
#define LEAT_TOKENIZE_TOOLS_PACK_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "leat_pack.h"
#include "pack_notices.h"

struct pack_sample {
    struct pack_notices notices; /* of damage; freed with the sample's files */
    char folder[512], name[600];
    uint64_t total_bytes;   /* of this run's share of the inputs, on disk */
    uint64_t dataset_bytes; /* of tokens and index; of a stopped one, without what does not grow with documents */
    struct leat_pack_report report;
    bool whole; /* it is all there is */
    double began, seconds;
};

/* Packs it, with any number of rejects, and neither shuffled, deduplicated nor split. pack_sample_remove() also after a
 * failure. LEAT_E_STOPPED: the user interrupted it. */
enum leat_status pack_sample_run(struct pack_sample *sample, const struct leat_pack_options *options,
                                 const char *const *words, size_t count, struct leat_error *err);

/* The first record that was rejected, as the file of rejects has it, cut to the room; "": none. */
void pack_sample_reject(const struct pack_sample *sample, char *line, size_t room);

void pack_sample_remove(struct pack_sample *sample);

#endif
