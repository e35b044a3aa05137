/*
 * merge_parts.h: the parts of a merge: the finished datasets that are arranged anew, opened, checked against each other
 * and laid out one by one (a name that stands for a list gives several).
 *
 * This room is what leat_merge() does with them: it joins, deduplicates, splits and shuffles, in bounded memory.
 *
 *   merge              the whole, document by document
 *   merge_parts        what goes in: names, the parts, shares of a run; document_reader reads it in order
 *   outputs            what comes out: one dataset per split, and the rest
 *   join_facts         what documents do not carry themselves: inputs, metadata
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
    const char **items; /* of those given: a part each */
    size_t count;
    struct merge_name *sorted; /* all that were given, by the part that they are of */
    size_t given;
};

/* What is left of the names: a part once, in the order given. LEAT_E_EXISTS: the output is among them.
 * merge_names_free() also after a failure. */
enum leat_status merge_names_take(struct merge_names *n, const char *output, const char *const *given, size_t count,
                                  const struct leat_merge_options *options, struct leat_error *err);
void merge_names_free(struct merge_names *n);

/* ---- Parts ---- */

/* Which shares of a run a dataset holds: one, or several that were merged. */
struct shares {
    uint64_t first, last, of; /* from 1; of 0: the dataset is not a share */
};

/* One dataset. Its numbers count within the list that it was opened with. */
struct merge_part {
    const struct leat_dataset *dataset;
    const char *name; /* the dataset's */
    uint64_t first_token, tokens;
    uint64_t first_document, documents;
    uint64_t first_input, inputs;
    bool hashes;                 /* of texts are stored */
    uint64_t first_as_output;    /* the number of its first input in the output */
    struct shares shares;        /* of a run */
    struct leat_metadata *pairs; /* its metadata */
};

struct merge_parts {
    struct leat_dataset **opened;
    size_t opened_count;
    struct merge_part *items;
    size_t count, room;
    struct leat_info first;                    /* of the first part; what all must agree on */
    uint64_t documents, token_bytes, id_bytes; /* of all */
    bool mask;               /* at least one has a mask: the outputs have one; tokens of the others have 255 */
    bool lines, ids, hashes; /* stored by one part at least */
    struct shares shares;    /* of all, if they are shares of one run that are not complete; else of 0 */
    bool whole_run;          /* they are all shares of one run */
};

/* What `names` stand for. On failure too merge_parts_close() must follow. */
enum leat_status merge_parts_open(struct merge_parts *s, const char *const *names, size_t count,
                                  struct leat_error *err);
void merge_parts_close(struct merge_parts *s);

/* Returns LEAT_E_NOT_FOUND unless all documents have a place for a hash; `what` names what needs them. */
enum leat_status merge_parts_need_hashes(const struct merge_parts *s, const char *what, struct leat_error *err);

/* Compares the pages of tokens [first, first + count) with their hashes, as far as the part has any: what is written of
 * them gets new ones, which would be right for damaged tokens, too. LEAT_E_CHECKSUM. */
enum leat_status merge_part_check(const struct merge_part *s, uint64_t first, uint64_t count, struct leat_error *err);

/* The same for what leat's own parts have in their indexes. `pace` may stop it. */
enum leat_status merge_parts_check_indexes(const struct merge_parts *s, struct pace *pace, struct leat_error *err);

/* The value of a key in a part's metadata, or NULL. */
const char *merge_parts_metadata(const struct merge_part *s, const char *key);

/* ---- Shares of a run ---- */

/* What the metadata of a dataset says of its share; unchanged if that is nothing. */
void shares_parse(struct shares *shares, const struct leat_metadata *pairs);

/* Sets the shares of each part and of all, and puts shares in their order; LEAT_E_INCOMPATIBLE if some are missing,
 * there twice, of another run, or read another commit of the Hugging Face Hub. */
enum leat_status shares_check(struct merge_parts *s, struct leat_error *err);

/* The metadata key that says which share a dataset is; its value of at most SHARES_TEXT characters. */
#define SHARES_KEY  "leat.part"
#define SHARES_TEXT 72

/* The key that says whether a share starts inside its first input, which the share before it lists too: "1" or "0". */
#define SHARES_CUT_KEY "leat.part.cut"
/* The key that says which commits of the Hugging Face Hub were read (pack/pack_facts.h): a line "NAME NAME@COMMIT"
 * each. */
#define SHARES_HUB_KEY "leat.hub"

bool shares_begin_inside(const struct merge_part *s);

void shares_print(char text[SHARES_TEXT], const struct shares *shares);

/* ---- Progress ---- */

/* Calls the caller's function from time to time with how much is done; it may stop the work. */

#define PACE_BYTES TINY_OR((uint64_t)64, (uint64_t)1 << 20) /* between two calls */
#define PACE_STEPS 4096u

struct pace {
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done, total, bytes; /* bytes of tokens; `bytes`: since the last call */
    unsigned steps;              /* likewise */
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

/* After some work: `bytes` of tokens, which may be none. */
static inline enum leat_status pace_step(struct pace *p, uint64_t bytes, struct leat_error *err)
{
    p->bytes += bytes;
    p->steps++;
    return p->bytes >= PACE_BYTES || p->steps >= PACE_STEPS ? pace_call(p, err) : LEAT_OK;
}

#endif
