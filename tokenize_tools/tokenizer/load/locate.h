/*
 * locate.h: from what the user wrote (-t SPEC) to the bytes of a vocabulary. Tried in this order:
 *
 *   1. a built-in name (builtin.h); write ./NAME for a file or folder called so
 *   2. a path to a file, of any name: its contents say what it is
 *   3. a path to a folder: the first of tokenizer.json, tekken.json, tokenizer.model, spiece.model,
 *      sentencepiece.bpe.model, sentencepiece.model, spm.model, the only tokenizer.model.*, the only *.tiktoken,
 *      tiktoken.model, vocab.json with merges.txt, vocab.txt; each plain or, if that is not there, with .zst
 *   4. a Hugging Face model id, "org/name" or "name", perhaps with "@revision" (default: main), in the local hub cache:
 *      HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub; there
 *      models--org--name/refs/REVISION names the folder under snapshots/
 *   5. "org/name" on the Hugging Face Hub: the file that counts, and those that are read beside it, are fetched into
 *      that cache (hub_model.h)
 *
 * The environment is read at the call.
 */
#ifndef LEAT_TOKENIZER_LOCATE_H
#define LEAT_TOKENIZER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

/* Files in the same folder that are read, too; merges.txt only for vocab.json, config.json then and for the *.model of
 * a folder. */
enum located_beside { BESIDE_CONFIG, BESIDE_MODEL, BESIDE_MAP, BESIDE_ADDED, BESIDE_MERGES, BESIDES };

struct located_file {
    char *path;     /* NULL: it is missing */
    uint8_t *bytes; /* decompressed */
    uint64_t size;
};

struct located {
    const char *builtin; /* the built-in's name (constant memory), and nothing else is set; or NULL */
    char *path;          /* of the file */
    const char *name;    /* what a dataset calls it; in `path`, or constant memory */
    uint8_t *stored;     /* its bytes as they are */
    uint64_t stored_size;
    uint8_t *plain; /* decompressed; the same memory as `stored` if that is not compressed */
    uint64_t plain_size;
    struct located_file beside[BESIDES];
    bool by_folder; /* the folder was named, or a model's id: not the file */
};

/* Asked some ten times per second while files come from the Hub; nonzero ends that with LEAT_E_STOPPED. `why` is said
 * once, when the Hub is to be waited for; else it is NULL. */
struct locate_stop {
    uint32_t (*asked)(void *context, const char *why); /* NULL: never */
    void *context;
};

/*
 * `stop` NULL: nothing stops it. Returns LEAT_E_NO_FILE if nothing has that name (the sentence says where it looked,
 * and which built-in is nearest), LEAT_E_PERMISSION if the Hub does not give it to the user, LEAT_E_VOCABULARY for a
 * damaged compressed file, what reading files returns, or LEAT_E_NO_MEMORY. On failure *out holds nothing.
 */
enum leat_status locate(struct located *out, const char *spec, const struct locate_stop *stop, struct leat_error *err);

/* Returns true if the file has this name, perhaps with .zst. */
bool located_is(const struct located *l, const char *name);

/* Frees what is in it; a zeroed or freed one is fine. */
void located_free(struct located *l);

#endif
