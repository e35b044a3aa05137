/* charsmap_places.c: where in a text stands what a map makes of it, in the reference, which keeps the place of each
 * character: only as far as that of the text's first one. */
#include <string.h>

#include "base/utf8.h"
#include "charsmap_internal.h"
#include "tokenizer/unicode/unicode.h"

/* A character that is written: it stands at the next place, and passes it and others, or at the one before. */
struct placed {
    size_t bytes;   /* 0: none yet */
    int64_t passes; /* places */
};

struct placing {
    struct charsmap_places *p;
    struct placed last; /* which what is removed after it may still change */
    size_t bytes;       /* at the first places */
};

static void place_last(struct placing *l)
{
    uint64_t at = l->last.passes > 0 || l->p->passed == 0 ? l->p->passed : l->p->passed - 1;

    if (l->last.bytes == 0 || l->p->done)
        return;
    l->p->done = at >= l->p->first && (l->last.passes > 0 || l->p->passed > 0);
    if (!l->p->done)
        l->bytes += l->last.bytes;
    l->p->passed += (uint64_t)l->last.passes;
    l->last.bytes = 0;
}

static void place(struct placing *l, size_t bytes, int64_t passes)
{
    place_last(l);
    l->last = (struct placed) { bytes, passes };
}

/* A key of `from` characters and what replaces it. */
static void place_key(struct placing *l, const uint8_t *to, size_t from)
{
    size_t bytes = strlen((const char *)to), count = utf8_characters(to, bytes), size;

    for (size_t i = 0; i < count; i++, to += size) {
        unicode_decode(to, &size);
        place(l, size, i >= from ? 0 : i + 1 == count ? (int64_t)(from - i) : 1);
    }
    if (count == 0 && l->last.bytes > 0)
        l->last.passes += (int64_t)from;
}

size_t charsmap_first(const struct charsmap *map, const uint8_t *text, size_t size, bool last, size_t used,
                      struct charsmap_places *p)
{
    struct charsmap_walk w = { .map = map, .text = text, .size = size, .open = !last, .one = true };
    struct placing l = { .p = p };
    size_t from = w.at + 1;

    while (!p->done && w.at < used && w.at != from) {
        size_t key, bytes;

        from = w.at;
        key = charsmap_next(&w);
        for (size_t at = from; at < w.at && !p->done; at += bytes) {
            unicode_decode(text + at, &bytes);
            place(&l, bytes, 1);
        }
        if (key > 0)
            place_key(&l, map->pool + w.value, utf8_characters(text + w.at, key));
        w.at += key;
    }
    p->open = !p->done && l.last.bytes > 0;
    place_last(&l);
    return l.bytes;
}
