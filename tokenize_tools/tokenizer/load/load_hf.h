/*
 * load_hf.h: what the files of the tokenizer.json reader share: the state of one load, and typed members.
 *
 * The rules are those of Hugging Face's tokenizers 0.23.3, tried one by one (tests/tokenizer_files/test_load_hf*.c):
 * which members must be there, which may be null, what a missing one means. Where leat is stricter: one id stands for
 * one token; ids end at SPEC_MAX_ID; a list has at most LOAD_HF_COMPONENTS components.
 */
#ifndef LEAT_TOKENIZER_LOAD_HF_H
#define LEAT_TOKENIZER_LOAD_HF_H

#include "base/jsontree.h"
#include "base/status.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/unicode/unicode.h"

/* Normalizers, pre-tokenizers, decoders: of each kind at most so many, with all Sequences taken apart. Every text goes
 * through all of them. */
#define LOAD_HF_COMPONENTS 1024u

struct load_hf {
    struct tokenizer_spec *spec;
    const struct jsontree *j;
    struct leat_error *err;
    const char *place;             /* what is being read, for sentences: "normalizer Strip" */
    char model_place[80];          /* `place` while the model is read */
    struct string_map vocab;       /* the model's vocabulary as the file writes it, if it does; value: the id */
    struct byte_alphabet alphabet; /* load_hf_token_room() fills it in */
    const char *fields;            /* of a component that is an array: the names of its elements, spaces between them */
};

/* The file is broken at a node: "PATH: PLACE: SENTENCE (byte N)". Returns LEAT_E_VOCABULARY. */
enum leat_status load_hf_wrong(struct load_hf *h, uint32_t node, const char *format, ...) STATUS_PRINTF(3, 4);

/* The file needs something that leat does not do. Returns LEAT_E_UNSUPPORTED. */
enum leat_status load_hf_refuse(struct load_hf *h, uint32_t node, const char *format, ...) STATUS_PRINTF(3, 4);

/* Whether a member may be missing; a member that is there must have the right type. */
enum load_hf_need {
    LOAD_HF_REQUIRED, /* must be there */
    LOAD_HF_DEFAULT,  /* may be missing */
    LOAD_HF_OPTION    /* may be missing or null */
};

/* The value of a member of a component, which may be an array of all its members; JSONTREE_NONE if it is missing. */
uint32_t load_hf_member(const struct load_hf *h, uint32_t component, const char *name);

/* Whether a member is given twice: the last one counts, but where the reference demands that there is one. */
bool load_hf_twice(const struct jsontree *j, uint32_t object, const char *name);

/* Whether a node is this name of several that a value may have: a string, or {"NAME": null}, as serde has it. */
bool load_hf_names(const struct jsontree *j, uint32_t node, const char *name);

/* One of several names, NULL after the last: *choice is its place, and stays as it is if the member is missing. */
enum leat_status load_hf_choice(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                const char *const *names, unsigned *choice);

/* *value stays as it is if the member is missing (or null). */
enum leat_status load_hf_bool(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                              bool *value);

/* *node is the string, or JSONTREE_NONE. */
enum leat_status load_hf_string(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                uint32_t *node);

/* A required string, copied into the spec; with `one_character`, exactly one. */
enum leat_status load_hf_text(struct load_hf *h, uint32_t object, const char *name, bool one_character,
                              struct spec_string *out);

/* A required whole number; more than 32 bits are taken as the greatest of 32. */
enum leat_status load_hf_number(struct load_hf *h, uint32_t object, const char *name, uint32_t *value);

/* A string, for sentences: cut to what fits, and shown as base/show.h has it. Returns `room`. */
const char *load_hf_show(const struct jsontree *j, uint32_t node, char room[80]);

/* For the kinds of models (struct model_kind) whose sections have these members. Reads "vocab", from tokens to ids,
 * into h->vocab, and its tokens into the spec, in the file's order, decoded to bytes if the pipeline maps bytes. A kind
 * that reads its tokens by hand makes h->vocab itself, where added tokens are looked for. */
enum leat_status load_hf_vocabulary(struct load_hf *h, uint32_t model);
enum leat_status load_hf_tokens(struct load_hf *h);

/* The same by hand: makes room in the spec for so many tokens, whose texts in the file have so many bytes together, and
 * adds one, decoded. */
enum leat_status load_hf_token_room(struct load_hf *h, size_t count, uint64_t bytes);
void load_hf_put_token(struct load_hf *h, struct jsontree_text text, uint32_t id);

/* "unk_token", which may be missing: spec->unknown, if the vocabulary has it, and unknown_text. After "vocab". */
enum leat_status load_hf_unknown(struct load_hf *h, uint32_t model);

/* A prefix or suffix of tokens, in the same letters as their texts in the spec. */
enum leat_status load_hf_affix(struct load_hf *h, uint32_t model, const char *name, enum load_hf_need need,
                               struct spec_string *out);

/* The parts; `node` is the value of the member of that name, an object. */
enum leat_status load_hf_normalizer(struct load_hf *h, uint32_t node);
enum leat_status load_hf_pre_tokenizer(struct load_hf *h, uint32_t node);
enum leat_status load_hf_decoder(struct load_hf *h, uint32_t node);

#endif
