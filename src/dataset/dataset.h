/*
 * dataset.h: the room of open datasets: from a name to tokens, documents and what is stored with them.
 *
 * A dataset is a list of parts joined end to end (struct leat_dataset). A part is one opened source of tokens with a
 * table of functions (part.h): wherever the tokens lie, all other code asks the part. How bytes of a kind are opened
 * and looked up belongs here; orders, rows, threads and writing do not.
 */
#ifndef LEAT_DATASET_H
#define LEAT_DATASET_H

#include "base/mounts.h"
#include "part.h"

struct leat_dataset {
    struct part *parts; /* at least one */
    uint64_t part_count;
    uint64_t tokens, inputs; /* sums over all parts */
    uint64_t documents;      /* sum over all parts; LEAT_NONE: some part does not know its own */
    uint64_t sequences;      /* sum over all parts, if their documents are known */
    struct mounts *mounts;   /* mounts where its files lie */
};

/* Part `number`, below part_count. */
static inline struct part *dataset_part(const struct leat_dataset *d, uint64_t number)
{
    return &d->parts[number];
}

/* Returns the part whose vocabulary, end token and tokenizer are the dataset's: the first of leat's own, else the
 * first that knows its end token, else the first. */
const struct part *dataset_facts(const struct leat_dataset *d);

/* Makes a dataset of one part that the caller has opened. Takes the part over, even on failure. */
enum leat_status dataset_of_part(struct leat_dataset **out, const struct part *part, struct leat_error *err);

/* Adds to `err`, which says that the dataset's files do not exist, which similar files do exist in that folder. */
void dataset_say_missing(const char *name, struct leat_error *err);

/* Reads where sequences start, which the order `megatron` puts together (info.sequences), as leat_dataset_starts()
 * does for documents. */
enum leat_status dataset_sequence_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
                                         uint64_t *starts, struct leat_error *err);

/* Return the part that holds this token, document or input, which the caller has checked to be below the dataset's
 * count. */
struct part *dataset_part_of_token(const struct leat_dataset *d, uint64_t token);
struct part *dataset_part_of_document(const struct leat_dataset *d, uint64_t document);
struct part *dataset_part_of_input(const struct leat_dataset *d, uint64_t input);

/* leat_dataset_document() for `count` documents in any order, with a result in each of first[] and counts[]. It checks
 * each file only once, so it is much faster than asking one by one. */
enum leat_status dataset_document_list(const struct leat_dataset *d, const uint64_t *numbers, uint64_t count,
                                       uint64_t *first, uint64_t *counts, struct leat_error *err);

/* Returns the path of a file beside a part, name[0..length) + suffix, as the name was given, as long as that is right.
 * The caller frees it; NULL: no memory. */
char *dataset_beside(const struct leat_dataset *d, const char *name, size_t length, const char *suffix);

/* Returns LEAT_E_NOT_FOUND unless all parts know their documents. */
enum leat_status dataset_need_documents(const struct leat_dataset *d, struct leat_error *err);

/* Returns LEAT_E_RANGE unless [first, first + count) lies below `size`. `what` is "token", "document", ... */
enum leat_status dataset_check_range(uint64_t first, uint64_t count, uint64_t size, const char *what,
                                     struct leat_error *err);

/* Checks a range of documents. Returns LEAT_E_NOT_FOUND if the documents are not known. */
enum leat_status dataset_check_documents(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                         struct leat_error *err);

#endif
