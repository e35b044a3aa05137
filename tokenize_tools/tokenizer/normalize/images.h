/*
 * images.h: normalizers that go character by character, all of them at once: what becomes of a character is found out
 * by the normalizers when it first comes, and remembered by the thread.
 *
 * This holds for BertNormalizer and its parts, Lowercase, StripAccents, NFD and NFKD, as long as nothing remains that
 * the form of Unicode may reorder. Other characters go through the normalizers, in runs.
 */
#ifndef LEAT_TOKENIZER_IMAGES_H
#define LEAT_TOKENIZER_IMAGES_H

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"
#include "tokenizer/unicode/normalize_unicode.h"

/* What becomes of a character. */
#define IMAGE_SHORT 7
#define IMAGE_LONG  15
struct image {
    uint8_t number; /* what is known of it, see images.c */
    uint8_t bytes[IMAGE_SHORT];
};
struct image_long {
    uint8_t length;
    uint8_t bytes[IMAGE_LONG];
};

/* A thread's memory. */
struct images {
    struct image *of; /* by character; NULL: normalizers do not go by character */
    struct image_long *longs;
    bool reorders; /* one of them is a form of Unicode, */
    enum normalize_form form;
    bool same_ascii, lower_ascii; /* printable ASCII remains, or becomes small letters */
    struct buffer out;
    struct held held;
};

/* Whether a spec's normalizers go by character. */
bool images_can(const struct tokenizer_spec *spec);

/* Runs the normalizers on a whole text: *text and *bytes become the result. */
typedef enum leat_status images_normalize(void *context, const uint8_t **text, size_t *bytes, struct leat_error *err);

/* `bound` may be NULL. */
enum leat_status images_make(struct images *i, const struct tokenizer_spec *spec, struct bound *bound,
                             images_normalize *normalize, void *context, struct leat_error *err);
void images_free(struct images *i);

/* As normalizer_run(). */
enum leat_status images_run(struct images *i, images_normalize *normalize, void *context, const uint8_t **text,
                            size_t *bytes, bool last, struct leat_error *err);

#endif
