/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets; and its manual. It stands on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * So far it joins finished datasets. Tokenizers and the packer of text are not there yet.
 */
#ifndef LEAT_PACK_H
#define LEAT_PACK_H

#include "leat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct leat_merge_options {
    size_t size;
    int replace;      /* an existing dataset of the output's name is replaced */
    uint64_t created; /* as in struct leat_writer_options */
    /* If not NULL: called now and then with the token bytes done; nonzero stops, nothing is left behind, and
     * leat_merge() returns LEAT_E_STATE. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_MERGE_OPTIONS_INIT { .size = sizeof(struct leat_merge_options) }

/*
 * Joins datasets to a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list.
 * Metadata on which all datasets agree is kept; where they differ, the value of dataset i (from 1, those of a list one by
 * one) is kept as "KEY.i". A path or metadata with a zero byte, or a "KEY.i" that is a key already: LEAT_E_UNSUPPORTED.
 * Memory does not grow with the parts, but for 100 bytes and the path of each input. `info` may be NULL.
 * Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two parts disagree on.
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, size_t count,
                                     const struct leat_merge_options *options, struct leat_info *info,
                                     struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
