/* normalize_blocks.c: the quick check by blocks; compiled once for each CPU level. */
#include "normalize_blocks.h"

#include "char_boxes.h"
#include "normalize_boxes.h"

#define BLOCK  64
#define BEHIND 3 /* bytes read after a block, so that a character there is whole */

#define TABLES (sizeof normalize_boxes / sizeof normalize_boxes[0])

/* Returns the first bytes of characters in a block that may be other than inert. Half of the blocks of multilingual
 * text that are not ASCII have none, and need no boxes. */
BYTES_INLINE uint64_t block_asks(bytes64 b, const uint8_t *text, enum normalize_form form)
{
#if BYTES64_VECTORS
    struct char_halves halves;
    char_codes codes;

    if (form != NORMALIZE_NFC)
        return bytes64_from(b, 0xc0);
    codes = bytes64_and(bytes64_lookup(normalize_firsts[0], bytes64_high_half(b)),
                        bytes64_lookup(normalize_firsts[1], bytes64_low_half(b)));
    if (!bytes64_any(codes))
        return 0;
    halves = char_halves_load(text);
    codes = char_boxes(&halves, normalize_boxes[0]);
    for (unsigned i = 1; i < TABLES; i++)
        codes = bytes64_or(codes, char_boxes(&halves, normalize_boxes[i]));
    return bytes64_from(codes, 1);
#else
    (void)text;
    (void)form;
    return bytes64_from(b, 0xc0);
#endif
}

bool LEVEL_NAME(normalize_blocks)(struct normal_check *k, size_t *at)
{
    for (; k->size - *at >= BLOCK + BEHIND; *at += BLOCK) {
        bytes64 b = bytes64_load(k->text + *at);
        uint64_t asks = bytes64_high(b);

        if (asks)
            asks = block_asks(b, k->text + *at, k->form);
        for (; asks; asks &= asks - 1) {
            size_t place = *at + bits_lowest(asks), bytes;

            if (!k->inert[k->text[place]] && !normal_stays(k, place, &bytes)) {
                *at = place;
                return false;
            }
        }
    }
    return true;
}
