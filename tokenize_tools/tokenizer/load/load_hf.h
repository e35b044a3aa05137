/*
 * load_hf.h: the state of one load of a tokenizer.json, and functions that read typed members, for all its files.
 *
 * The rules are those of Hugging Face's tokenizers 0.23.3 (tests/tokenizer_files/test_load_hf*.c has them one by one):
 * which members are required, which may be null, what a missing one means. leat is stricter in three points: one id
 * stands for one token; ids end at SPEC_MAX_ID; a list has at most LOAD_HF_COMPONENTS components.
 */
#ifndef LEAT_TOKENIZER_LOAD_HF_H
#define LEAT_TOKENIZER_LOAD_HF_H

#include "base/jsontree.h"
#include "base/status.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/unicode/unicode.h"

/* Limit of normalizers, pre-tokenizers and decoders, for each list, counted after all Sequences are taken apart,
 * since every text goes through all of them. */
#define LOAD_HF_COMPONENTS 1024u

struct load_hf {
    struct tokenizer_spec *spec;
    const struct jsontree *j;
    struct leat_error *err;
    const char *place;             /* name of the part that is read, for messages: "normalizer Strip" */
    char model_place[80];          /* `place` while the model is read */
    struct string_map vocab;       /* ids of the model's tokens, as the file writes them */
    struct byte_alphabet alphabet; /* filled in by load_hf_token_room() */
    const char *fields;            /* names of the elements of a component that is an array, with spaces between */
};

/* Says that the file is broken at a node: "PATH: PLACE: SENTENCE (byte N)". Returns LEAT_E_VOCABULARY. */
enum leat_status load_hf_wrong(struct load_hf *h, uint32_t node, const char *format, ...) STATUS_PRINTF(3, 4);

/* Says that the file needs something that leat does not do. Returns LEAT_E_UNSUPPORTED. */
enum leat_status load_hf_refuse(struct load_hf *h, uint32_t node, const char *format, ...) STATUS_PRINTF(3, 4);

/* Rules for missing members. A member that exists must have the right type. */
enum load_hf_need {
    LOAD_HF_REQUIRED, /* it must exist */
    LOAD_HF_DEFAULT,  /* it may be missing */
    LOAD_HF_OPTION    /* it may be missing or null */
};

/* Returns the value of a member of a component, which may be an array of all its members; JSONTREE_NONE if it is
 * missing. */
uint32_t load_hf_member(const struct load_hf *h, uint32_t component, const char *name);

/* Returns true if a member is given twice. The last one counts, except where the reference refuses that. */
bool load_hf_twice(const struct jsontree *j, uint32_t object, const char *name);

/* Returns true if a node is this name: a string, or {"NAME": null}, as serde reads it. */
bool load_hf_names(const struct jsontree *j, uint32_t node, const char *name);

/* Sets *choice to the place of a member's value among several names, which NULL ends. Leaves it if the member is
 * missing. */
enum leat_status load_hf_choice(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                const char *const *names, unsigned *choice);

/* Sets *value to a member's value. Leaves it if the member is missing (or null). */
enum leat_status load_hf_bool(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                              bool *value);

/* Sets *node to a string, or to JSONTREE_NONE if it is missing (or null). */
enum leat_status load_hf_string(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                uint32_t *node);

/* Copies a required string into the spec; with `one_character`, it must have exactly one. */
enum leat_status load_hf_text(struct load_hf *h, uint32_t object, const char *name, bool one_character,
                              struct spec_string *out);

/* Reads a required whole number; one of more than 32 bits becomes the greatest of 32. */
enum leat_status load_hf_number(struct load_hf *h, uint32_t object, const char *name, uint32_t *value);

/* Copies a string for messages, cut to fit, as base/show.h shows it. Returns `room`. */
const char *load_hf_show(const struct jsontree *j, uint32_t node, char room[80]);

/* Reads "vocab", from tokens to ids, into h->vocab, for kinds of models (struct model_kind) that have this member.
 * Other kinds fill h->vocab themselves, since added tokens are looked up there. */
enum leat_status load_hf_vocabulary(struct load_hf *h, uint32_t model);

/* Copies the tokens of h->vocab into the spec, in the file's order, decoded to bytes if the pipeline maps bytes. */
enum leat_status load_hf_tokens(struct load_hf *h);

/* Makes room in the spec for `count` tokens, whose texts in the file have `bytes` bytes together. */
enum leat_status load_hf_token_room(struct load_hf *h, size_t count, uint64_t bytes);

/* Adds a token to the spec, decoded. There must be room. */
void load_hf_put_token(struct load_hf *h, struct jsontree_text text, uint32_t id);

/* Reads "unk_token", which may be missing, into unknown_text, and into spec->unknown if the vocabulary has it. Called
 * after "vocab" was read. */
enum leat_status load_hf_unknown(struct load_hf *h, uint32_t model);

/* Reads a prefix or suffix of tokens, decoded like their texts in the spec. */
enum leat_status load_hf_affix(struct load_hf *h, uint32_t model, const char *name, enum load_hf_need need,
                               struct spec_string *out);

/* Read the parts of the pipeline. `node` is the value of the member of that name, an object. */
enum leat_status load_hf_normalizer(struct load_hf *h, uint32_t node);
enum leat_status load_hf_pre_tokenizer(struct load_hf *h, uint32_t node);
enum leat_status load_hf_decoder(struct load_hf *h, uint32_t node);

#endif
