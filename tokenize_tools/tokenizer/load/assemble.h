/*
 * assemble.h: one tokenizer.json of the files that came before it: vocab.txt, or vocab.json with merges.txt, and what
 * lies beside them. It is the file that the same class of transformers 5.23.0 makes of them (but for pairs of texts),
 * so it encodes as that class does; a dataset stores it, and needs no other. Classes that are not in the table are
 * refused.
 */
#ifndef LEAT_TOKENIZER_ASSEMBLE_H
#define LEAT_TOKENIZER_ASSEMBLE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "jsontree.h"
#include "leat.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/spec/spec.h"

/* Whether a path's last part, perhaps with .zst, is vocab.txt or vocab.json. */
bool assemble_is_part(const char *path);

struct assemble_source {
    const char *path; /* of the vocabulary */
    const uint8_t *bytes;
    uint64_t size;
    const uint8_t *merges; /* merges.txt; NULL: missing */
    uint64_t merges_size;
    /* Objects; NULL: missing. tokenizer_config.json, config.json, special_tokens_map.json, added_tokens.json */
    const struct jsontree *config, *model, *map, *added;
};

/* Appends the file to *json, which the caller frees. Returns LEAT_E_VOCABULARY, LEAT_E_UNSUPPORTED (an unknown class),
 * LEAT_E_NO_FILE (merges.txt is missing) or LEAT_E_NO_MEMORY. */
enum leat_status assemble(struct buffer *json, const struct assemble_source *source, struct leat_error *err);

/* Appends an encoding (load_encoding()) that says what a loaded *.tiktoken, of which these are the lines, and its
 * special tokens say. */
enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err);

/* ---- For the files of assemble*.c ---- */

/* transformers' names of tokens, in its order; after them, what a class calls by other names. */
enum assemble_named { NAMED_BOS, NAMED_EOS, NAMED_UNK, NAMED_SEP, NAMED_PAD, NAMED_CLS, NAMED_MASK, NAMED_COUNT };

struct assemble_token {
    struct jsontree_text text;
    uint32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    bool undecided;  /* nothing says `normalized`: it is, unless the token is special */
    bool given;      /* by a file, not only by the class */
    uint32_t before; /* the last one with the same text, or JSONTREE_NONE */
};

struct assembling;

struct assemble_class {
    const char *names; /* classes, without Fast, and types of models, each between spaces */
    bool words;        /* vocab.txt: WordPiece; else vocab.json: byte-level BPE */
    bool adds_again;   /* in the end it adds its special tokens once more, without what files say of them */
    const char *named[NAMED_COUNT];         /* NULL: it has none */
    void (*pipeline)(struct assembling *a); /* appends its sections */
};

struct assembling {
    const struct assemble_source *source;
    const struct assemble_class *kind;
    struct leat_error *err;
    enum leat_status status; /* the first failure; what comes after it does nothing */
    struct buffer *json;
    bool words, again;                        /* the file is vocab.txt; `adds_again` is being done */
    struct string_map ids;                    /* the vocabulary */
    struct assemble_token named[NAMED_COUNT]; /* text.bytes NULL: none */
    struct assemble_token *tokens;            /* added; of a text given twice, the last counts */
    struct string_map texts;                  /* theirs; value: the last one's place */
    uint32_t token_count, listed;             /* so many of them come from lists */
    uint32_t next_id;
};

/* Sets `kind`. */
void assemble_find_class(struct assembling *a);

/* Fills `named` and `tokens`. */
void assemble_added(struct assembling *a);

/* Sets the status, unless one is set. */
void assemble_wrong(struct assembling *a, enum leat_status status, const struct jsontree *j, uint32_t node,
                    const char *what);

/* The id of a token with a name, which must be there. */
uint32_t assemble_named_id(struct assembling *a, enum assemble_named n);

/* Append to the JSON: as it stands, an id, a string. */
void assemble_put(struct assembling *a, const char *json);
void assemble_put_id(struct assembling *a, uint32_t id);
void assemble_put_string(struct assembling *a, struct jsontree_text text);

#endif
