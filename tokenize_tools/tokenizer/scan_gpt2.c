/*
 * scan_gpt2.c: the scanner of GPT-2, r50k and p50k:
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * tiktoken's own spelling (possessive, with \s++$) cuts at the same places.
 */
#include "scan_text.h"

/* The end of the run that begins with the character at p, which is not white space. */
SCAN_INLINE const uint8_t *run_of(const struct scan_text *t, const uint8_t *p, unsigned class, size_t bytes)
{
    if (class & UNICODE_L)
        return scan_letters(t, p + bytes, UNICODE_L, 0, 0x20);
    if (class & UNICODE_N)
        return scan_run(t, p + bytes, UNICODE_N);
    return scan_run_without(t, p + bytes, UNICODE_SPACE | UNICODE_L | UNICODE_N);
}

SCAN_INLINE const uint8_t *piece(const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *e;
    size_t bytes;
    unsigned class;

    if (*p == ' ' && t->end - p > 1) {
        class = scan_class(t, p + 1, &bytes);
        if (!(class & UNICODE_SPACE))
            return run_of(t, p + 1, class, bytes);
    }
    class = scan_class(t, p, &bytes);
    if (class & UNICODE_SPACE)
        return scan_space(t, p, SCAN_SPACE_PLAIN);
    if (*p == '\'' && (e = scan_contraction(t, p, false)) != NULL)
        return e;
    return run_of(t, p, class, bytes);
}

static size_t run(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                  size_t room)
{
    SCAN_LOOP(piece(&t, p));
}

extern const struct scan_row scan_rows_gpt2[];
const struct scan_row scan_rows_gpt2[] = {
    { "plain", CPU_PLAIN, run },
};
