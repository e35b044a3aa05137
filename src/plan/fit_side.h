/*
 * fit_side.h: the side file of a dataset, NAME.fit, which `leat fit` makes: its documents sorted by length
 * (fit_sort.h), so that a plan need not hold them in memory. It is derived from the dataset: a file that is missing or
 * of another dataset changes no sample.
 *
 * Its numbers are little-endian. A header of 80 bytes: "leatfits", then u64 each: version 1, the dataset's identity
 * (16 bytes), how many documents, tokens and runs it has, 0; XXH3-128 of these 64 bytes and all runs. Then the runs:
 * tokens of a document and number of documents, u64 each. Then the documents, u32, run by run.
 */
#ifndef LEAT_FIT_SIDE_H
#define LEAT_FIT_SIDE_H

#include "dataset/file_map.h"
#include "fit_sort.h"

struct fit_side {
    struct file_map file;
    char *path;
    struct fit_run *runs;
    uint64_t run_count, documents, list; /* list: where it begins in the file */
};

/* Opens the side file of a dataset's part. LEAT_E_NO_FILE: it has none; other failures: it cannot be used. After any
 * of them fit_side_close() still has to be called. */
enum leat_status fit_side_open(struct fit_side *side, const struct leat_part *part, struct leat_error *err);
void fit_side_close(struct fit_side *side);

/* Where the map has a place of the sorted list, between file_map_enter(), which gave `map`, and file_map_leave(). NULL:
 * it cannot be touched. */
const uint8_t *fit_side_place(struct fit_side *side, const uint8_t *map, uint64_t place);

/* The document at a place of the sorted list: a number in the part. `bytes` from fit_side_place(), or NULL to read
 * it. */
enum leat_status fit_side_document(struct fit_side *side, const uint8_t *bytes, uint64_t place, uint64_t *document,
                                   struct leat_error *err);

/* The path of a part's side file; the caller frees it. NULL: no memory. */
char *fit_side_path(const struct leat_part *part);

#define FIT_SIDE_HEADER 80u

/* Makes the header and the runs, as the file has them, the caller's; *bytes: how many. NULL: no memory. */
uint8_t *fit_side_head(const struct leat_part *part, const struct fit_run *runs, uint64_t run_count, uint64_t *bytes);

#endif
