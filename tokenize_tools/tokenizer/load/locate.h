/*
 * locate.h: finds the bytes of the vocabulary that the user named (-t SPEC). A name is, in this order:
 *
 *   1. a built-in name (builtin.h); write ./NAME for a file or folder called so
 *   2. a path to a file, of any name: its contents say what it is
 *   3. a path to a folder: the first of tokenizer.json, tekken.json, tokenizer.model, spiece.model,
 *      sentencepiece.bpe.model, sentencepiece.model, spm.model, the only tokenizer.model.*, the only *.tiktoken,
 *      tiktoken.model, vocab.json with merges.txt, vocab.txt; each plain or, if that is not there, with .zst
 *   4. a Hugging Face model id, "org/name" or "name", perhaps with "@revision" (default: main), in the local hub cache:
 *      HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub; there
 *      models--org--name/refs/REVISION names the folder under snapshots/
 *   5. "org/name" on the Hugging Face Hub: the vocabulary, and the files that are read beside it, are fetched into that
 *      cache (hub_model.h)
 *
 * The environment is read at the call.
 */
#ifndef LEAT_TOKENIZER_LOCATE_H
#define LEAT_TOKENIZER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

/* Files beside the vocabulary that are read, too. merges.txt is read for vocab.json only; config.json for vocab.json,
 * and for the *.model of a folder. */
enum located_beside { BESIDE_CONFIG, BESIDE_MODEL, BESIDE_MAP, BESIDE_ADDED, BESIDE_MERGES, BESIDES };

struct located_file {
    char *path;     /* path; NULL if the file is missing */
    uint8_t *bytes; /* decompressed */
    uint64_t size;
};

struct located {
    const char *builtin; /* name of a built-in (constant memory), without other members; or NULL */
    char *path;          /* path of the file */
    const char *name;    /* name of the tokenizer in a dataset; lies in `path`, or in constant memory */
    uint8_t *stored;     /* bytes of the file */
    uint64_t stored_size;
    uint8_t *plain; /* decompressed bytes; the memory of `stored` if the file is not compressed */
    uint64_t plain_size;
    struct located_file beside[BESIDES];
    bool by_folder; /* true if the user named the folder or a model's id, not the file */
};

/* A user's way to stop fetching from the Hub. */
struct locate_stop {
    /* Called about ten times per second; a nonzero result ends fetching with LEAT_E_STOPPED. `why` is NULL, except once
     * when the Hub must be waited for. May be NULL. */
    uint32_t (*asked)(void *context, const char *why);
    void *context;
};

/*
 * Finds a vocabulary, and reads it. `stop` may be NULL. Returns LEAT_E_NO_FILE if nothing has that name (the error says
 * where it looked, and which built-in is nearest), LEAT_E_PERMISSION if the user may not read it on the Hub,
 * LEAT_E_VOCABULARY for a damaged compressed file, a status of reading files, or LEAT_E_NO_MEMORY. On failure *out
 * holds nothing.
 */
enum leat_status locate(struct located *out, const char *spec, const struct locate_stop *stop, struct leat_error *err);

/* Returns true if the file has this name, perhaps with .zst. */
bool located_is(const struct located *l, const char *name);

/* Frees its contents; a zeroed or freed struct is fine. */
void located_free(struct located *l);

#endif
