/*
 * hub_card.h: the configurations that the README.md of a folder from the Hugging Face Hub lists, in the YAML between
 * the lines --- at its start: which files belong to which split of which configuration.
 */
#ifndef LEAT_TOKENIZE_TOOLS_HUB_CARD_H
#define LEAT_TOKENIZE_TOOLS_HUB_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

#define HUB_CARD_BYTES ((size_t)4 << 20) /* as much of a README.md is read */

struct hub_card_split {
    char *name;
    char **patterns; /* hub_glob.h */
    size_t count;
};

struct hub_card_config {
    char *name;
    char *data_dir; /* where the patterns begin, or where names are looked at; NULL: in the folder */
    struct hub_card_split *splits;
    size_t count;
    bool by_names; /* it has no data_files: names say the splits */
};

struct hub_card {
    struct hub_card_config *configs; /* in their order */
    size_t count;                    /* 0: it lists none */
};

/*
 * Reads the first HUB_CARD_BYTES, at most, of the README.md that is called `name`. LEAT_E_ARGUMENT for configurations
 * that cannot be understood; LEAT_E_UNSUPPORTED for any, without libyaml.
 */
enum leat_status hub_card_read(struct hub_card *card, const char *name, const char *text, size_t bytes,
                               struct leat_error *err);
void hub_card_free(struct hub_card *card);

#endif
