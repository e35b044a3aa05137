/*
 * assemble.h: one tokenizer.json of the files that came before it: vocab.txt, or vocab.json with merges.txt, or a
 * sentencepiece model that the class converts, and what lies beside them. It is the file that the same class of
 * transformers 5.23.0 makes of them (but for pairs of texts), so it encodes as that class does; a dataset stores it,
 * and needs no other. Classes that are not in the tables are refused, but for sentencepiece models, which load.h reads.
 *
 * To add a class: a row in assemble_class.c, with a function that writes its stations, and rows in test_assemble.c and
 * tests/conformance/check_folders.py, or in folders_pieces.py if it converts a sentencepiece model.
 */
#ifndef LEAT_TOKENIZER_ASSEMBLE_H
#define LEAT_TOKENIZER_ASSEMBLE_H

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "leat.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/notation/jsontree.h"
#include "tokenizer/spec/spec.h"

/* Whether a path's last part, perhaps with .zst, is vocab.txt or vocab.json. */
bool assemble_is_part(const char *path);

/* Whether it is *.model, perhaps with .zst. */
bool assemble_is_model(const char *path);

struct assemble_source {
    const char *path; /* of the vocabulary */
    const uint8_t *bytes;
    uint64_t size;
    const uint8_t *merges; /* merges.txt; NULL: missing */
    uint64_t merges_size;
    /* Objects; NULL: missing. tokenizer_config.json, config.json, special_tokens_map.json, added_tokens.json */
    const struct jsontree *config, *model, *map, *added;
};

/* Whether a class of the tables converts this sentencepiece model. */
bool assemble_converts(const struct assemble_source *source);

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
    const char *names;       /* classes, without Fast, and types of models, each between spaces */
    const char *beside;      /* types of models that do not name the class, but may stand beside its name; or NULL */
    const char *file;        /* the name that it looks for, of a sentencepiece model; else NULL */
    bool words;              /* vocab.txt: WordPiece; else vocab.json: byte-level BPE */
    bool adds_again;         /* in the end it adds its special tokens once more, without what files say of them */
    bool strips_before_mask; /* a mask that is given as a string takes the white space before it */
    bool normalized_mask;    /* and is looked for in normalized text */
    bool merges;         /* of a sentencepiece model: BPE, with the merges that follow from the order of its tokens */
    bool bytes;          /* such a BPE writes unknown characters as bytes */
    bool unknown_around; /* a token around texts that is nowhere is the unknown one */
    const char *named[NAMED_COUNT];           /* NULL: it has none */
    void (*vocabulary)(struct assembling *a); /* of a sentencepiece model: makes the tokens, sets `unknown`; of BPE,
                                               * SPEC_NONE there means that the model has no unknown token */
    void (*extra)(struct assembling *a);      /* of one: adds extra special tokens if no file lists any */
    void (*pipeline)(struct assembling *a);   /* appends its sections */
};

#define ASSEMBLE_MAX_COUNT 10000 /* of the tokens that an option counts, or a class adds */

/* A token of a model that is made of a sentencepiece model. */
struct assemble_piece {
    struct jsontree_text text;
    double score;
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
    struct assemble_token *extra;             /* those of lists of extra special tokens */
    struct string_map extra_texts;
    uint32_t extra_count;
    uint32_t next_id;
    /* Of a sentencepiece model: it, and the tokens that the class makes of it. */
    struct tokenizer_spec *model;
    struct assemble_piece *pieces;
    uint32_t piece_count, piece_room, unknown;
};

/* Appends the BPE model, and the end of the file. */
void assemble_put_merges(struct assembling *a);

static inline struct jsontree_text assemble_text_of(const char *text)
{
    return (struct jsontree_text) { (const uint8_t *)text, (uint32_t)strlen(text) };
}

static inline bool assemble_same(struct jsontree_text a, struct jsontree_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Sets `kind`. */
void assemble_find_class(struct assembling *a);

/* Puts a token of the class into `extra`. */
void assemble_add_extra(struct assembling *a, struct jsontree_text text, bool special);

/* Adds the control and user-defined tokens of the sentencepiece model as such. */
void assemble_add_reserved(struct assembling *a);

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
