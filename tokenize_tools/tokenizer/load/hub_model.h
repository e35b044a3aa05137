/*
 * hub_model.h: files of a model on the Hugging Face Hub, fetched into the cache that the Hub's own client has, as it
 * does: blobs/ETAG has the bytes, snapshots/COMMIT/NAME is a link to them, refs/REVISION names the commit. So a file is
 * fetched once, by whichever program. Each file gets its name when it is whole; who fetches at the same moment makes
 * the same file.
 */
#ifndef LEAT_TOKENIZER_HUB_MODEL_H
#define LEAT_TOKENIZER_HUB_MODEL_H

#include <stddef.h>

#include "corpus/fetch/hub_tree.h"
#include "locate.h"

struct hub_model {
    struct remote *remote;
    char *id;                    /* ORG/NAME, as the Hub knows it now */
    char commit[HUB_COMMIT + 1]; /* of the revision */
    char **names;                /* of its files, but for those in folders */
    size_t count;
    struct locate_stop stop;
};

/* Asks the Hub about "ORG/NAME" or "ORG/NAME@REVISION". `stop` may be NULL. hub_model_close() also after a failure. */
enum leat_status hub_model_open(struct hub_model *m, const char *id, const struct locate_stop *stop,
                                struct leat_error *err);
void hub_model_close(struct hub_model *m);

/* Sees to it that a file of this name is in the snapshot: `folder` is the model's, CACHE/models--ORG--NAME. */
enum leat_status hub_model_fetch(const struct hub_model *m, const char *folder, const char *name,
                                 struct leat_error *err);

/* Notes which commit a revision is. */
enum leat_status hub_model_note(const struct hub_model *m, const char *folder, const char *revision,
                                struct leat_error *err);

#endif
