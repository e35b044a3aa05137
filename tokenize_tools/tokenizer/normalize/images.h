/*
 * images.h: does several normalizers at once, if they go character by character: the normalizers find the *image* of a
 * character, its result, when it first comes, and the thread remembers it.
 *
 * This works for BertNormalizer and its parts, Lowercase, StripAccents, NFD and NFKD, as long as the results have no
 * characters that the form of Unicode may reorder. Other characters go through the normalizers, in runs.
 */
#ifndef LEAT_TOKENIZER_IMAGES_H
#define LEAT_TOKENIZER_IMAGES_H

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"
#include "tokenizer/unicode/normalize_unicode.h"

/* The image of a character. */
#define IMAGE_SHORT 7
#define IMAGE_LONG  15
struct image {
    uint8_t number; /* kind or length of the image, see images.c */
    uint8_t bytes[IMAGE_SHORT];
};
struct image_long {
    uint8_t length;
    uint8_t bytes[IMAGE_LONG];
};

/* A thread's memory. */
struct images {
    struct image *of; /* images by character; NULL if normalizers do not go by character */
    struct image_long *longs;
    bool reorders;            /* true if one of the normalizers is a form of Unicode */
    enum normalize_form form; /* this form */
    bool same_ascii;          /* true if printable ASCII does not change */
    bool lower_ascii;         /* true if printable ASCII becomes small letters */
    struct buffer out;
    struct held held;
};

/* Returns true if a spec's normalizers go by character. */
bool images_can(const struct tokenizer_spec *spec);

/* Runs the normalizers on a whole text, and sets *text and *bytes to the result. */
typedef enum leat_status images_normalize(void *context, const uint8_t **text, size_t *bytes, struct leat_error *err);

/* Makes a thread's memory, which `bound` counts unless it is NULL. */
enum leat_status images_make(struct images *i, const struct tokenizer_spec *spec, struct bound *bound,
                             images_normalize *normalize, void *context, struct leat_error *err);
void images_free(struct images *i);

/* Normalizes a text or a chunk of it, as normalizer_run() does. */
enum leat_status images_run(struct images *i, images_normalize *normalize, void *context, const uint8_t **text,
                            size_t *bytes, bool last, struct leat_error *err);

#endif
