/*
 * images.c: see images.h.
 *
 * A character is simple if it becomes one to seven bytes, and neither it nor anything that it becomes can move past
 * another character when a form of Unicode sorts marks. So marks that the normalizers remove after the sorting do not
 * count. Simple characters are written one after another. Between them stand runs of others, which go through the
 * normalizers; both ends of a run are places where nothing moves across. Where a chunk ends in a run, the run may go
 * on, and is held back from its last character that begins something new.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/unicode/unicode.h"

/* Characters from here on are not remembered. */
#define IMAGES 0x10000u

/* Lengths of images that are not simple. */
#define SIMPLE_MAX 7
#define BEGINS_NEW 8 /* nothing moves to before the character */
#define MAY_MOVE   9

/* Bytes of text between two looks at the room. */
#define BLOCK ((size_t)1024)

bool images_can(const struct tokenizer_spec *spec)
{
    unsigned forms = 0;

    for (uint32_t i = 0; i < spec->normalizer_count; i++)
        switch (spec->normalizers[i].kind) {
        case SPEC_NORM_NFD:
        case SPEC_NORM_NFKD:
            forms++;
            break;
        case SPEC_NORM_LOWERCASE:
        case SPEC_NORM_STRIP_ACCENTS:
        case SPEC_NORM_CLEAN:
        case SPEC_NORM_SPACE_HAN:
        case SPEC_NORM_NONSPACING:
            break;
        default:
            return false;
        }
    return spec->normalizer_count > 0 && forms <= 1;
}

/* ---- Characters ---- */

struct normalizing {
    struct images *images;
    images_normalize *run;
    void *context;
    struct leat_error *err;
};

static bool begins_new(const struct images *i, uint32_t c)
{
    return !i->reorders || normalize_boundary_before(i->form, c);
}

static enum leat_status find_image(const struct normalizing *n, uint32_t c, struct image *image)
{
    uint8_t character[4];
    const uint8_t *text = character;
    size_t bytes = utf8_encode(character, c), length;
    enum leat_status s = n->run(n->context, &text, &bytes, n->err);
    bool simple = bytes <= SIMPLE_MAX;

    if (s != LEAT_OK)
        return s;
    *image = (struct image) { .length = MAY_MOVE };
    if (bytes == 0 || !begins_new(n->images, c) || !begins_new(n->images, unicode_decode(text, &length)))
        return LEAT_OK;
    for (size_t at = 0; at < bytes; at += length)
        simple = begins_new(n->images, unicode_decode(text + at, &length)) && simple;
    image->length = simple ? (uint8_t)bytes : BEGINS_NEW;
    if (simple)
        memcpy(image->bytes, text, bytes);
    return LEAT_OK;
}

/* The image of the character at text[0], which has so many bytes. */
static inline enum leat_status image_at(const struct normalizing *n, const uint8_t *text, size_t *length,
                                        struct image *image)
{
    uint32_t c = unicode_decode(text, length);
    struct image *known = &n->images->of[c < IMAGES ? c : 0];

    if (c < IMAGES && known->length > 0) {
        *image = *known;
        return LEAT_OK;
    }
    if (c < IMAGES) {
        enum leat_status s = find_image(n, c, known);

        *image = *known;
        return s;
    }
    *image = (struct image) { .length = BEGINS_NEW };
    return begins_new(n->images, c) ? LEAT_OK : find_image(n, c, image);
}

static enum leat_status look_at_ascii(const struct normalizing *n)
{
    enum leat_status s = LEAT_OK;

    n->images->same_ascii = n->images->lower_ascii = true;
    for (uint8_t c = ' '; s == LEAT_OK && c < 0x7f; c++) {
        uint8_t small = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        struct image image;
        size_t length;

        s = image_at(n, &c, &length, &image);
        n->images->same_ascii = n->images->same_ascii && image.length == 1 && image.bytes[0] == c;
        n->images->lower_ascii = n->images->lower_ascii && image.length == 1 && image.bytes[0] == small;
    }
    return s;
}

enum leat_status images_make(struct images *i, const struct tokenizer_spec *spec, struct bound *bound,
                             images_normalize *normalize, void *context, struct leat_error *err)
{
    const struct normalizing n = { i, normalize, context, err };

    *i = (struct images) { .out.bound = bound, .held.text.bound = bound };
    /* from the system, so that characters that never come cost nothing */
    i->of = calloc(IMAGES, sizeof *i->of);
    if (!i->of)
        return status_no_memory(err, IMAGES * sizeof *i->of);
    for (uint32_t k = 0; k < spec->normalizer_count; k++)
        if (spec->normalizers[k].kind == SPEC_NORM_NFD || spec->normalizers[k].kind == SPEC_NORM_NFKD) {
            i->reorders = true;
            i->form = spec->normalizers[k].kind == SPEC_NORM_NFD ? NORMALIZE_NFD : NORMALIZE_NFKD;
        }
    return look_at_ascii(&n);
}

void images_free(struct images *i)
{
    free(i->of);
    buffer_free(&i->out);
    held_free(&i->held);
    *i = (struct images) { .of = NULL };
}

/* ---- Texts ---- */

#define EACH(byte) (0x0101010101010101u * (byte))

/* Writes printable ASCII, eight bytes at a time, as far as there is room; returns how much. */
static size_t put_ascii(struct images *i, const uint8_t *text, size_t bytes)
{
    uint8_t *to = i->out.bytes + i->out.size;
    size_t at = 0;

    if (!i->same_ascii && !i->lower_ascii)
        return 0;
    for (; bytes - at >= 8; at += 8) {
        uint64_t word = bytes_load64(text + at), large;

        if ((word | (word + EACH(1)) | ~(word + EACH(0x60))) & EACH(0x80))
            break;
        large = (word + EACH(0x80 - 'A')) & ~(word + EACH(0x80 - 'Z' - 1)) & EACH(0x80);
        bytes_store64(to + at, i->lower_ascii ? word | large >> 2 : word);
    }
    i->out.size += at;
    return at;
}

/* The run of characters that are not simple, from `at` on: its end, or, if the run may go on, where it begins anew for
 * the last time. */
static enum leat_status find_run(const struct normalizing *n, const uint8_t *text, size_t bytes, size_t at, bool last,
                                 size_t *end)
{
    size_t anew = at, length, begin = at;
    enum leat_status s = LEAT_OK;
    struct image image;

    for (; at < bytes; at += length) {
        s = image_at(n, text + at, &length, &image);
        if (s != LEAT_OK || image.length <= SIMPLE_MAX)
            break;
        anew = image.length == BEGINS_NEW && at > begin ? at : anew;
    }
    *end = at < bytes || last ? at : anew;
    return s;
}

static enum leat_status put_run(const struct normalizing *n, const uint8_t *text, size_t bytes)
{
    enum leat_status s = n->run(n->context, &text, &bytes, n->err);

    return s == LEAT_OK ? buffer_append(&n->images->out, text, bytes, n->err) : s;
}

/* Writes simple characters up to a block's end or another character; moves *at. */
static enum leat_status put_simple(const struct normalizing *n, const uint8_t *text, size_t bytes, size_t *at)
{
    size_t end = bytes - *at < BLOCK ? bytes : *at + BLOCK, length;
    struct buffer *out = &n->images->out;
    enum leat_status s = buffer_reserve(out, 8 * BLOCK, n->err);
    struct image image;

    while (s == LEAT_OK && *at < end) {
        *at += put_ascii(n->images, text + *at, end - *at);
        if (*at == end)
            break;
        s = image_at(n, text + *at, &length, &image);
        if (s != LEAT_OK || image.length > SIMPLE_MAX)
            break;
        memcpy(out->bytes + out->size, image.bytes, SIMPLE_MAX);
        out->size += image.length;
        *at += length;
    }
    return s;
}

static enum leat_status put_all(const struct normalizing *n, const uint8_t *text, size_t bytes, bool last, size_t *used)
{
    enum leat_status s = LEAT_OK;
    size_t at = 0, end;

    while (s == LEAT_OK && at < bytes) {
        size_t begin = at;

        s = put_simple(n, text, bytes, &at);
        if (s != LEAT_OK || at > begin)
            continue;
        s = find_run(n, text, bytes, at, last, &end);
        if (s == LEAT_OK && end > at)
            s = put_run(n, text + at, end - at);
        if (end == at)
            break;
        at = end;
    }
    *used = at;
    return s;
}

enum leat_status images_run(struct images *i, images_normalize *normalize, void *context, const uint8_t **text,
                            size_t *bytes, bool last, struct leat_error *err)
{
    const struct normalizing n = { i, normalize, context, err };
    bool ready;
    size_t used;
    enum leat_status s = held_join(&i->held, text, bytes, last, &ready, err);

    i->out.size = 0;
    if (s == LEAT_OK && ready && *bytes > 0) {
        s = put_all(&n, *text, *bytes, last, &used);
        if (s == LEAT_OK)
            s = held_keep(&i->held, *text, *bytes, used, err);
    }
    *text = i->out.bytes ? i->out.bytes : (const uint8_t *)"";
    *bytes = i->out.size;
    return s;
}
