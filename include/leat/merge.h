/* merge.h: joins datasets, and deduplicates, splits and shuffles them. */
#ifndef LEAT_PUBLIC_MERGE_H
#define LEAT_PUBLIC_MERGE_H

#include "pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Joining and arranging datasets ----------------------------------------------------------------------------- */

struct leat_merge_report {
    size_t size;
    uint64_t documents;    /* documents of all parts */
    uint64_t deduplicated; /* documents left out because an earlier one has equal text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    struct leat_info *info;   /* facts of `output`, or NULL */
    uint64_t datasets;        /* datasets that were joined: each one of a folder or a list counts */
    uint64_t first_share, last_share, shares; /* the consecutive parts of a run of `shares` parts that were joined,
                                               * while others are missing; 0: the output is whole, or of no such run */
    uint64_t parts;           /* names that were given, without those that were passed over */
};
#define LEAT_MERGE_REPORT_INIT { sizeof(struct leat_merge_report), 0, 0, NULL, NULL, 0, 0, 0, 0, 0 }

struct leat_merge_options {
    size_t size;
    uint32_t force;    /* replace existing datasets that have the outputs' names */
    uint32_t allow_empty; /* make the dataset also if `keep` has left no document to any part of the run */
    uint64_t created;  /* see struct leat_writer_options */
    uint32_t shuffle;  /* put the documents of each output into an order that `seed` chooses */
    uint32_t dedup;    /* 1: keep only the first of documents with equal texts */
    uint64_t seed;
    const struct leat_split *splits; /* NULL: none */
    uint64_t split_count;
    uint32_t reserved; /* 0 */
    uint32_t threads; /* threads: one arranges; the others, at most four, read ahead, sort and write; 0: one per CPU
                       * that the process may run on */
    uint64_t memory;  /* limit for sorting, in bytes; 0: 2 GiB, or what control groups leave for it; less than 64 KiB
                         counts as 64 KiB */
    /* If not NULL: called now and then with the token bytes done: those that were read; with `dedup` those that were
     * compared before, which `total` has once they are known; with `shuffle` those that were written after. Nonzero
     * stops leat_merge(), which then leaves no files and returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    void (*output)(void *context, const struct leat_by_output *output); /* see struct leat_pack_options */
    /* If not NULL: called from the calling thread for each dataset that is left out although it was named. */
    void (*notice)(void *context, const struct leat_pack_notice *notice);
};
#define LEAT_MERGE_OPTIONS_INIT                                                                                        \
    { sizeof(struct leat_merge_options), 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/*
 * Joins datasets into a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list. What
 * a shell makes of a pattern (c.*) works: the two files of a part count as one name, and what leat writes beside a
 * dataset (rejects, files of a run that has not ended) is passed over, as is c itself, if it is no share of a run, but
 * c.1 is. LEAT_E_EXISTS: a file of the output is among them.
 * Metadata on which all datasets agree is kept. Where they differ, the value of dataset i (from 1; each one of a list
 * counts) is kept as "KEY.i". LEAT_E_UNSUPPORTED: a path or metadata has a zero byte, or a "KEY.i" is already a key.
 *
 * Parts of one run (`leat pack --part I/N`, as their metadata "leat.part" says) become what the whole run would have
 * written, byte by byte; an input that was cut between two of them is one again. They are put in the order of their
 * numbers, must have no gaps, and must have read the same commits of the Hugging Face Hub ("leat.hub"):
 * LEAT_E_INCOMPATIBLE names what is missing or differs. Consecutive ones may be joined first, but not shuffled or
 * deduplicated. An input counts as cut if a part's metadata "leat.part.cut" is "1". All parts of a run with `keep` that
 * have no document: LEAT_E_EMPTY, unless `allow_empty`; parts that were split are not judged, since the others may have
 * the documents.
 *
 * All parts of a run with `by` become one dataset for each value, as leat_pack() says, each with a name that follows
 * `output` and a dot; report->info then has the sums of documents, tokens and bytes of all, and report->splits nothing.
 * Some of its parts are joined as ever.
 *
 * Then, in this order, as the options ask for:
 *   dedup    keeps only the first of documents with the same text: the same stored hash, and the same tokens.
 *   splits   sends each document to one output by its text alone. The fractions divide [0, 1) into intervals, one after
 *            another; the high half of the text's hash, as a fraction of 2^64, lies in one of them, or after them all,
 *            which is `output`. All outputs list all inputs.
 *   shuffle  orders the documents of each output by key, then by n. Document n, counted from 0 as it would be without
 *            shuffling, has the key XXH3-64, with `seed`, of n as 8 little-endian bytes.
 * The metadata "leat.dedup" ("1"), "leat.splits" ("NAME=FRACTION,..."), "leat.split" (NAME; not in the rest) and
 * "leat.shuffle" (the seed) record this. dedup and splits need text hashes in all parts, else LEAT_E_NOT_FOUND.
 *
 * The bytes depend only on the parts and these options, not on `memory` and `threads`. Memory in addition to that:
 * 16 MiB, about 8 MiB per output, and 100 bytes and the path per input. What does not fit goes to files without names
 * on the disk of `output`: for shuffling, as much as the documents take. Several outputs are all complete before the
 * first one gets its name; if one then cannot get its name, the message says which outputs are finished. `report` (may
 * be NULL) is filled on success. Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two
 * parts disagree on, and LEAT_E_ARGUMENT what is wrong with a split. Pages of tokens that are read are compared with
 * their hashes, and indexes with their sums: LEAT_E_CHECKSUM and the like, as of leat_dataset_verify().
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                                     const struct leat_merge_options *options,
                                     struct leat_merge_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
