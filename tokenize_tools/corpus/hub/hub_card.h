/*
 * hub_card.h: the configurations that the README.md of a folder from the Hugging Face Hub lists, in the YAML between
 * the lines --- at its start. A configuration has splits, and each split has patterns of files.
 */
#ifndef LEAT_TOKENIZE_TOOLS_HUB_CARD_H
#define LEAT_TOKENIZE_TOOLS_HUB_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

#define HUB_CARD_BYTES ((size_t)4 << 20) /* most bytes of a README.md that are read */

struct hub_card_split {
    char *name;
    char **patterns; /* hub_glob.h */
    size_t count;
};

struct hub_card_config {
    char *name;
    char *data_dir; /* folder in which patterns, or names, are looked up; NULL for the folder itself */
    struct hub_card_split *splits;
    size_t count;
    bool by_names; /* true if it has no data_files, so that names of files say the splits */
};

struct hub_card {
    struct hub_card_config *configs; /* in the order of README.md */
    size_t count;
};

/*
 * Reads at most the first HUB_CARD_BYTES of the README.md that is called `name`. Returns LEAT_E_ARGUMENT for
 * configurations that cannot be understood, and LEAT_E_UNSUPPORTED for all configurations in a build without libyaml.
 */
enum leat_status hub_card_read(struct hub_card *card, const char *name, const char *text, size_t bytes,
                               struct leat_error *err);
void hub_card_free(struct hub_card *card);

#endif
