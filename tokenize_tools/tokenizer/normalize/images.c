/*
 * images.c: normalizes by images. A character is simple if it becomes 1 to 15 bytes, and neither it nor anything
 * that it becomes can move past another character when a form of Unicode sorts marks. So marks that the normalizers
 * remove after the sorting do not count. Simple characters are written one after another, 64 bytes at a time if few
 * are ASCII; characters with an empty image are skipped. Between them stand runs of other characters, which go
 * through the normalizers; nothing moves across either end of a run. A character with an empty image does not end a
 * run: others may move past it, or it may keep them from moving. If a chunk ends in a run, the run may go on, and is
 * held back from its last character that begins something new.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/bytes64.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/split/split_words.h"
#include "tokenizer/unicode/unicode.h"

/* End of the characters that are remembered. */
#define IMAGES 0x10000u

/* The number of an image, or IS_GONE plus its length: the numbers between IS_GONE and IS_LONG are images in `of`. */
enum {
    NOT_KNOWN,
    IS_GONE,                             /* nothing remains of it */
    IS_LONG = IS_GONE + IMAGE_SHORT + 1, /* simple, in `longs` */
    BEGINS_NEW,                          /* no character moves to before it */
    MAY_MOVE
};

/* Bytes of text between two checks of the room. */
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
    bool simple = bytes <= IMAGE_SHORT || (bytes <= IMAGE_LONG && c >= 0x80 && c < IMAGES);

    if (s != LEAT_OK)
        return s;
    *image = (struct image) { .number = bytes == 0 ? IS_GONE : MAY_MOVE };
    if (bytes == 0 || !begins_new(n->images, c) || !begins_new(n->images, unicode_decode(text, &length)))
        return LEAT_OK;
    for (size_t at = 0; at < bytes; at += length)
        simple = begins_new(n->images, unicode_decode(text + at, &length)) && simple;
    image->number = !simple ? BEGINS_NEW : bytes <= IMAGE_SHORT ? (uint8_t)(IS_GONE + bytes) : IS_LONG;
    if (image->number < IS_LONG)
        memcpy(image->bytes, text, bytes);
    if (image->number == IS_LONG) {
        n->images->longs[c].length = (uint8_t)bytes;
        memcpy(n->images->longs[c].bytes, text, bytes);
    }
    return LEAT_OK;
}

/* Finds the image of the character at text[0], which has `bytes` bytes. */
static inline enum leat_status image_at(const struct normalizing *n, const uint8_t *text, size_t *length,
                                        struct image *image)
{
    uint32_t c = unicode_decode(text, length);
    struct image *known = &n->images->of[c < IMAGES ? c : 0];

    if (c < IMAGES && known->number != NOT_KNOWN) {
        *image = *known;
        return LEAT_OK;
    }
    if (c < IMAGES) {
        enum leat_status s = find_image(n, c, known);

        *image = *known;
        return s;
    }
    *image = (struct image) { .number = BEGINS_NEW };
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
        n->images->same_ascii = n->images->same_ascii && image.number == IS_GONE + 1 && image.bytes[0] == c;
        n->images->lower_ascii = n->images->lower_ascii && image.number == IS_GONE + 1 && image.bytes[0] == small;
    }
    return s;
}

enum leat_status images_make(struct images *i, const struct tokenizer_spec *spec, struct bound *bound,
                             images_normalize *normalize, void *context, struct leat_error *err)
{
    const struct normalizing n = { i, normalize, context, err };

    *i = (struct images) { .out.bound = bound, .held.text.bound = bound };
    /* calloc() takes untouched memory from the system, so characters that never come cost nothing */
    i->of = calloc(IMAGES, sizeof *i->of);
    i->longs = calloc(IMAGES, sizeof *i->longs);
    if (!i->of || !i->longs)
        return status_no_memory(err, IMAGES * (sizeof *i->of + sizeof *i->longs));
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
    free(i->longs);
    buffer_free(&i->out);
    held_free(&i->held);
    *i = (struct images) { .of = NULL };
}

/* ---- Texts ---- */

/* Writes printable ASCII, eight bytes at a time, as far as there is room. Returns how much. */
static size_t put_ascii(struct images *i, const uint8_t *text, size_t bytes)
{
    uint8_t *to = i->out.bytes + i->out.size;
    size_t at = 0;

    if (!i->same_ascii && !i->lower_ascii)
        return 0;
    for (; bytes - at >= 8; at += 8) {
        uint64_t word = bytes_load64(text + at), large;

        if ((word | (word + BYTES_EACH(1)) | ~(word + BYTES_EACH(0x60))) & BYTES_EACH(0x80))
            break;
        large = (word + BYTES_EACH(0x80 - 'A')) & ~(word + BYTES_EACH(0x80 - 'Z' - 1)) & BYTES_EACH(0x80);
        bytes_store64(to + at, i->lower_ascii ? word | large >> 2 : word);
    }
    i->out.size += at;
    return at;
}

static inline bool is_simple(uint8_t number)
{
    return number > IS_GONE && number <= IS_LONG;
}

/* Finds the end of the run of characters that are not simple, from `at` on. If the run may go on, finds where it
 * begins anew for the last time. */
static enum leat_status find_run(const struct normalizing *n, const uint8_t *text, size_t bytes, size_t at, bool last,
                                 size_t *end)
{
    size_t anew = at, length, begin = at;
    enum leat_status s = LEAT_OK;
    struct image image;

    for (; at < bytes; at += length) {
        s = image_at(n, text + at, &length, &image);
        if (s != LEAT_OK || is_simple(image.number))
            break;
        anew = image.number == BEGINS_NEW && at > begin ? at : anew;
    }
    *end = at < bytes || last ? at : anew;
    return s;
}

static enum leat_status put_run(const struct normalizing *n, const uint8_t *text, size_t bytes)
{
    enum leat_status s = n->run(n->context, &text, &bytes, n->err);

    return s == LEAT_OK ? buffer_append(&n->images->out, text, bytes, n->err) : s;
}

/* Writes all bytes that the image of a character may have. Returns how many it has. */
static inline size_t put_long(const struct image_long *image, uint8_t *to)
{
    memcpy(to, image->bytes, IMAGE_LONG);
    return image->length;
}

/* Bytes that are looked at together; least number of characters in them beyond ASCII; bytes that can be read after
 * them, for the end of the last character. */
#define DENSE_BYTES  64
#define DENSE_MIN    8
#define DENSE_BEHIND 3

/* How a character is read, by the upper half of its first byte, from a word of four bytes, the first one highest:
 * shifted down, it has six bits in each byte but the first. */
struct reading {
    uint32_t shift, low, middle, high;
};

static const struct reading readings[16] = { { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             { 24, 0x7f, 0, 0 },
                                             [0xc] = { 16, 0x3f, 0x7c0, 0 },
                                             [0xd] = { 16, 0x3f, 0x7c0, 0 },
                                             [0xe] = { 8, 0x3f, 0xfc0, 0xf000 } };

/*
 * Writes the simple characters that begin in text[0..DENSE_BYTES), as far as they are remembered, and returns how many
 * bytes they have; 0 if nearly all are ASCII. There is no branch on how many bytes a character has: where spaces stand
 * between words of other scripts, no CPU predicts it.
 */
static size_t put_dense(struct images *i, split_words_masks *masks, const uint8_t *text)
{
    const struct image *of = i->of; /* a copy, because a compiler must assume that the writes below may change it */
    uint8_t *to = i->out.bytes + i->out.size;
    struct split_words_block block;
    uint64_t starts;
    size_t at = 0;

    masks(text, &block);
    if (__builtin_popcountll(block.leads) < DENSE_MIN)
        return 0;
    for (starts = ~block.high | block.leads; starts; starts &= starts - 1) {
        uint32_t word, first;
        uint64_t image;

        at = (size_t)__builtin_ctzll(starts);
        word = bytes_swap32(bytes_load32(text + at));
        first = word >> 24;
        word >>= readings[first >> 4].shift;
        word = (word & readings[first >> 4].low) | (word >> 2 & readings[first >> 4].middle) |
               (word >> 4 & readings[first >> 4].high);
        image = bytes_load64(&of[word]);
        if (((image - IS_GONE) & 0xff) > IMAGE_SHORT || first >= 0xf0) {
            if ((uint8_t)image != IS_LONG) /* the image of NUL, looked up for four bytes, is not long */
                break;
            to += put_long(&i->longs[word], to);
            continue;
        }
        bytes_store64(to, image >> 8);
        to += (image & 0xff) - IS_GONE;
    }
    i->out.size = (size_t)(to - i->out.bytes);
    return starts ? at : at + 4 - readings[text[at] >> 4].shift / 8;
}

/* Writes simple characters up to a block's end or another kind of character, and moves *at there. */
static enum leat_status put_simple(const struct normalizing *n, const uint8_t *text, size_t bytes, size_t *at)
{
    size_t end = bytes - *at < BLOCK ? bytes : *at + BLOCK, length;
    split_words_masks *masks = split_words_block()->masks;
    struct buffer *out = &n->images->out;
    enum leat_status s = buffer_reserve(out, 8 * (BLOCK + DENSE_BYTES + DENSE_BEHIND), n->err);
    struct image image;
    uint8_t *to;

    while (s == LEAT_OK && *at < end) {
        *at += put_ascii(n->images, text + *at, end - *at);
        if (*at == end)
            break;
        if (text[*at] >= 0x80 && bytes - *at >= DENSE_BYTES + DENSE_BEHIND) {
            size_t begin = *at;

            *at += put_dense(n->images, masks, text + begin);
            if (*at > begin)
                continue;
        }
        s = image_at(n, text + *at, &length, &image);
        if (s != LEAT_OK || image.number > IS_LONG)
            break;
        to = out->bytes + out->size;
        if (image.number == IS_LONG) {
            out->size += put_long(&n->images->longs[unicode_decode(text + *at, &length)], to);
        } else {
            memcpy(to, image.bytes, IMAGE_SHORT);
            out->size += image.number - IS_GONE;
        }
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
