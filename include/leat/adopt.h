/* adopt.h: writes an index for tokens of another tool. */
#ifndef LEAT_PUBLIC_ADOPT_H
#define LEAT_PUBLIC_ADOPT_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files of other tools --------------------------------------------------------------------------------------- */

struct leat_adopt_options {
    size_t size;
    const char *output; /* path of the tokens' file that OUTPUT.leat names; NULL: as found (Megatron's without .bin) */
    const struct leat_stored_tokenizer *tokenizer; /* tokenizer to store in the index, which needs `vocabulary` too;
                                                    * NULL: none */
    uint64_t vocabulary; /* ids must be below it; 0: not known */
    uint64_t created;    /* see struct leat_writer_options */
    uint32_t force;      /* replace an existing index */
    uint32_t reserved;   /* 0 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_adopt() (LEAT_E_STOPPED). Also called
     * while a file system that fails is tried again, as by leat_dataset_open(); total is 0 before a file is open. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    const uint8_t *fingerprint; /* 16 bytes; NULL: a hash of the stored tokenizer */
    uint64_t end_token; /* token that ends each document: documents are found by it, as by end= in the name, or, where
                         * the files record documents, each is checked to end with it. LEAT_NONE: as the name says */
    char *index;        /* if not NULL: gets the path of the index, with a NUL, cut to index_capacity bytes */
    uint64_t index_capacity;
};
#define LEAT_ADOPT_OPTIONS_INIT                                                                                        \
    { sizeof(struct leat_adopt_options), NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, LEAT_NONE, NULL, 0 }

/*
 * Writes an index for one dataset of another tool, which stays where it is: documents, a hash of each page, tokenizer.
 * Afterwards the dataset is leat's own, under the name of the index: hashes are checked, by loaders too. Reads all
 * tokens once. A run that was stopped or killed goes on when it is called again; what it has done is kept in
 * OUTPUT.partial.adopt, and used if the file's size and its times of modification and change (ctime) are unchanged.
 * Fills *info (may be NULL). Returns LEAT_E_NOT_FOUND unless documents are known; LEAT_E_TOKEN for an id that is not
 * below the vocabulary size, or a document without the end token; LEAT_E_ARGUMENT for an end token that the name
 * contradicts, or a vocabulary of more than 65,536 entries for ids of 2 bytes; LEAT_E_ARGUMENT if there is an index
 * already; LEAT_E_EXISTS, _BUSY; LEAT_E_MISMATCH if the file changed meanwhile; or as leat_dataset_open() and
 * leat_writer_open().
 */
LEAT_API enum leat_status leat_adopt(const char *name, const struct leat_adopt_options *options,
                                     struct leat_info *info, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
