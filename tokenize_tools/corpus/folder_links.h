/*
 * folder_links.h: whether a symbolic link in a folder of inputs leads out of the folder. A folder that somebody else
 * has packed up may hold a link to any file of this machine.
 */
#ifndef LEAT_TOKENIZE_TOOLS_FOLDER_LINKS_H
#define LEAT_TOKENIZE_TOOLS_FOLDER_LINKS_H

#include <stdbool.h>

#include "leat.h"

/* The folder; its real path is found out at the first link. */
struct folder_links {
    const char *folder;
    char *real;
};

/* Sets *leaves for a link that exists and leads somewhere. In the cache of the Hugging Face Hub, whose snapshots are
 * folders of links, the blobs of the same repository belong to the folder. */
enum leat_status folder_links_leaves(struct folder_links *links, const char *path, bool *leaves,
                                     struct leat_error *err);
void folder_links_free(struct folder_links *links);

#endif
