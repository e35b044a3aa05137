/*
 * hub_model.h: fetches files of a model on the Hugging Face Hub into the cache of the Hub's own client, in its
 * layout: blobs/ETAG has the bytes, snapshots/COMMIT/NAME is a link to them, refs/REVISION names the commit. So a
 * file is fetched once, by whichever program. A file gets its name when it is complete, so two programs may fetch it
 * at once.
 */
#ifndef LEAT_TOKENIZER_HUB_MODEL_H
#define LEAT_TOKENIZER_HUB_MODEL_H

#include <stddef.h>

#include "corpus/fetch/hub_tree.h"
#include "locate.h"

struct hub_model {
    struct remote *remote;
    char *id;                    /* present name of the model on the Hub, ORG/NAME */
    char commit[HUB_COMMIT + 1]; /* commit of the revision */
    char **names;                /* names of its files, except those in folders */
    size_t count;
    struct locate_stop stop;
};

/* Asks the Hub about "ORG/NAME" or "ORG/NAME@REVISION". `stop` may be NULL. hub_model_close() must follow, also
 * after a failure. */
enum leat_status hub_model_open(struct hub_model *m, const char *id, const struct locate_stop *stop,
                                struct leat_error *err);
void hub_model_close(struct hub_model *m);

/* Fetches a file of this name, unless it is in the snapshot. `folder` is the model's folder,
 * CACHE/models--ORG--NAME. */
enum leat_status hub_model_fetch(const struct hub_model *m, const char *folder, const char *name,
                                 struct leat_error *err);

/* Writes the commit of a revision to refs/REVISION. */
enum leat_status hub_model_note(const struct hub_model *m, const char *folder, const char *revision,
                                struct leat_error *err);

#endif
