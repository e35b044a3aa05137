/*
 * merge_parts.h: the parts of a merge: the finished datasets that are arranged anew, opened, checked against each other
 * and laid out one by one (a name that stands for a list gives several).
 *
 * This room is what leat_merge() does with them: it joins, deduplicates, splits and shuffles, in bounded memory.
 *
 *   merge              the whole, document by document
 *   merge_parts        what goes in: names, the parts, shares of a run; document_reader reads it in order
 *   outputs            what comes out: one dataset per split, and the rest
 *   merge_columns      the columns of what comes out
 *   join_facts         inputs and metadata of all parts, as those of the output
 *   duplicates, shuffle   which documents go where
 *   divide             a dataset for each value of a field
 *   export             leat_export(): files of other tools
 *   splits/            one dataset of several: by the hash of a text, or by a value; the packer uses it, too
 *   sorting/           what does not fit in memory; keyed_hash, which tells texts apart that were made to have one
 *                      hash
 *
 * What may enter: what works on finished datasets through the public headers. Nothing here encodes or reads text.
 */
#ifndef LEAT_ARRANGE_MERGE_PARTS_H
#define LEAT_ARRANGE_MERGE_PARTS_H

#include <stdbool.h>

#include "base/status.h"
#include "base/tiny.h"
#include "leat_pack.h"

struct pace;

/* ---- Names: what a shell makes of a pattern, c.*: both files of each part, and whatever lies beside them ---- */

struct merge_names {
    const char **items; /* one name per part, in the order given */
    size_t count;
    struct merge_name *sorted; /* all names that were given, sorted by their part's name */
    size_t given;
};

/* Keeps one of the `given` names per part. Returns LEAT_E_EXISTS if the output is among them. merge_names_free() must
 * follow, on failure too. */
enum leat_status merge_names_take(struct merge_names *n, const char *output, const char *const *given, size_t count,
                                  const struct leat_merge_options *options, struct leat_error *err);
void merge_names_free(struct merge_names *n);

/* ---- Parts ---- */

/* Numbers of the shares of a run that a dataset holds: one share, or several that were merged. */
struct shares {
    uint64_t first, last, of; /* counted from 1; `of` is 0 if the dataset is not a share */
};

/* One dataset. Its numbers count within the list that it was opened with. */
struct merge_part {
    const struct leat_dataset *dataset;
    const char *name; /* the dataset's */
    uint64_t number;  /* in its list */
    uint64_t first_token, tokens;
    uint64_t first_document, documents;
    uint64_t first_input, inputs;
    bool hashes;                 /* true if hashes of texts are stored */
    uint64_t first_as_output;    /* number of the first input in the output */
    struct shares shares;        /* shares of a run that the dataset holds */
    struct leat_metadata *pairs; /* metadata */
};

struct merge_parts {
    struct leat_dataset **opened;
    size_t opened_count;
    struct merge_part *items;
    size_t count, room;
    struct leat_info first;                    /* facts of the first part, with which all parts must agree */
    uint64_t documents, token_bytes, id_bytes; /* sums over all parts */
    bool mask;               /* true if a part has a mask; then outputs have one, with 255 for tokens of other parts */
    bool lines, ids, hashes; /* true if at least one part stores them */
    struct shares shares;    /* `of` is 0 unless the parts are some of the shares of one run, but not all */
    bool whole_run;          /* true if the parts are all shares of one run */
    char **columns;          /* names of the columns that each part has, sorted */
    size_t column_count;
    uint64_t column_bytes; /* bytes of the columns of all parts */
};

/* Opens the datasets that `names` stand for. merge_parts_close() must follow, on failure too. */
enum leat_status merge_parts_open(struct merge_parts *s, const char *const *names, size_t count,
                                  struct leat_error *err);
void merge_parts_close(struct merge_parts *s);

/* Returns LEAT_E_NOT_FOUND unless all documents have a place for a hash; `what` names what needs them. */
enum leat_status merge_parts_need_hashes(const struct merge_parts *s, const char *what, struct leat_error *err);

/* Compares the pages of tokens [first, first + count) with their hashes, if the part has any, since the output's new
 * hashes would also match damaged tokens. Returns LEAT_E_CHECKSUM if they differ. */
enum leat_status merge_part_check(const struct merge_part *s, uint64_t first, uint64_t count, struct leat_error *err);

/* Compares the indexes of all parts with their hashes. `pace` may stop it. */
enum leat_status merge_parts_check_indexes(const struct merge_parts *s, struct pace *pace, struct leat_error *err);

/* Returns the value of a key in a part's metadata, or NULL. */
const char *merge_parts_metadata(const struct merge_part *s, const char *key);

/* ---- Shares of a run ---- */

/* Sets the shares of each part and of all, and sorts parts by their shares. Returns LEAT_E_INCOMPATIBLE if some are
 * missing, given twice, of another run, or read another commit of the Hugging Face Hub. */
enum leat_status shares_check(struct merge_parts *s, struct leat_error *err);

/* The metadata key that says which share a dataset is. Its value has at most SHARES_TEXT characters. */
#define SHARES_KEY  "leat.part"
#define SHARES_TEXT 72

/* The key that says whether a share starts inside its first input, which the share before it lists too: "1" or "0". */
#define SHARES_CUT_KEY "leat.part.cut"
/* The key that says which commits of the Hugging Face Hub were read (pack/pack_facts.h): a line "NAME NAME@COMMIT"
 * each. */
#define SHARES_HUB_KEY "leat.hub"

/* Returns true if the share starts inside its first input. */
bool shares_begin_inside(const struct merge_part *s);

void shares_print(char text[SHARES_TEXT], const struct shares *shares);

/* ---- Progress ---- */

#define PACE_BYTES TINY_OR((uint64_t)64, (uint64_t)1 << 20) /* bytes of tokens between two calls of `progress` */
#define PACE_STEPS 4096u

/* Calls the user's function from time to time with the bytes of tokens that are done. The function may stop the
 * work. */
struct pace {
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done, total;
    uint64_t bytes; /* bytes of tokens since the last call */
    unsigned steps; /* calls of pace_step() since the last call */
};

static inline enum leat_status pace_call(struct pace *p, struct leat_error *err)
{
    p->done += p->bytes;
    p->bytes = 0;
    p->steps = 0;
    if (p->progress && p->progress(p->context, p->done, p->total) != 0)
        return status_set(err, LEAT_E_STOPPED, "merging was stopped");
    return LEAT_OK;
}

/* Counts one step of work, with `bytes` of tokens (or 0), and calls `progress` if it is time. */
static inline enum leat_status pace_step(struct pace *p, uint64_t bytes, struct leat_error *err)
{
    p->bytes += bytes;
    p->steps++;
    return p->bytes >= PACE_BYTES || p->steps >= PACE_STEPS ? pace_call(p, err) : LEAT_OK;
}

#endif
