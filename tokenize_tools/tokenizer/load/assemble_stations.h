/*
 * assemble_stations.h: what several classes that convert a sentencepiece model make of it: tokens of its vocabulary,
 * and stations of the pipeline.
 */
#ifndef LEAT_TOKENIZER_ASSEMBLE_STATIONS_H
#define LEAT_TOKENIZER_ASSEMBLE_STATIONS_H

#include "assemble.h"

#define ASSEMBLE_REPLACE(of, by) "{\"type\":\"Replace\",\"pattern\":{" of "},\"content\":\"" by "\"}"
#define ASSEMBLE_ONE_SPACE       ASSEMBLE_REPLACE("\"Regex\":\" {2,}\"", " ")

/* Add the next token: this text; the token with this name, which must be there. */
void assemble_add_piece(struct assembling *a, struct jsontree_text text, double score);
void assemble_add_piece_named(struct assembling *a, enum assemble_named n);

/* Whether the model has a map of characters; then appends it as a normalizer. */
bool assemble_has_map(const struct assembling *a);
void assemble_put_charsmap(struct assembling *a);

/* Appends a Sequence: `before`, with a comma at its end; the map, if there is one; `after`. */
void assemble_put_normalizers(struct assembling *a, const char *before, const char *after);

/* Appends the pre-tokenizers before Metaspace, with a comma; then the decoder. `without`: the scheme without
 * add_prefix_space; NULL: the class does not ask for that. */
void assemble_put_metaspace(struct assembling *a, const char *before, const char *without);

#endif
