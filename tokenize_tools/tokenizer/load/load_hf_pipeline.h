/*
 * load_hf_pipeline.h: what the readers of a tokenizer.json's normalizers, pre-tokenizers and decoders share.
 */
#ifndef LEAT_TOKENIZER_LOAD_HF_PIPELINE_H
#define LEAT_TOKENIZER_LOAD_HF_PIPELINE_H

#include "load_hf.h"

/* One of the three lists. */
struct load_hf_family {
    const char *name, *sequence;    /* "normalizer"; the member that holds the parts of a Sequence */
    const struct load_hf_row *rows; /* in the order in which the reference tries them */
    size_t row_count;
};

/*
 * A type that leat supports. If the file has none, or one that the reference does not know, it takes the first row that
 * can be read: `fields` are its members in order, with which it may also be written as an array. Where "type" is the
 * first of them, it must be that of the row; where `fields` is NULL, too, and there the component is no array.
 */
struct load_hf_row {
    const char *type;
    unsigned kind;
    enum leat_status (*read)(struct load_hf *h, uint32_t node, unsigned kind); /* NULL: a Sequence */
    const char *fields;
    const char *tag; /* the type under which the reference knows it, if that is another */
};

/* Reads a component by its row, or each part of a Sequence, and of the Sequences in it. `count` is what the rows'
 * readers count. */
enum leat_status load_hf_components(struct load_hf *h, const struct load_hf_family *f, uint32_t node, uint32_t *count);

/* Room in the spec for what all components in a value become, entries of `bytes`; NULL: *s says why. */
void *load_hf_component_room(struct load_hf *h, uint32_t node, size_t bytes, enum leat_status *s);

/* The member "pattern", {"String": "..."} or {"Regex": "..."}; and that of a Replace. */
enum leat_status load_hf_replaced(struct load_hf *h, uint32_t object, struct spec_pattern *out);

#endif
