/* page.c: reads headers of pages. Field numbers are those of parquet.thrift. */
#include "page.h"

#include <string.h>

#include "base/bytes.h"
#include "corpus/streams/inflater.h"
#include "thrift.h"

/* ---- Checksum ---------------------------------------------------------------------------------------------------- */

/* Computes CRC-32 by the library that inflates gzip; a build without one takes four bits at a time. */

#define MOST ((size_t)1 << 30) /* most bytes for the libraries at once */

static uint32_t by_nibbles(uint32_t crc, const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t count)
{
    uint32_t (*some)(uint32_t, const uint8_t *, size_t) = inflater_library.name ? inflater_library.crc : by_nibbles;

    for (; count > MOST; bytes += MOST, count -= MOST)
        crc = some(crc, bytes, MOST);
    return some(crc, bytes, count);
}

/* ---- Header ------------------------------------------------------------------------------------------------------ */

/* Reads the fields that depend on the kind; the first one is the number of values in all kinds. */
static void read_kind(struct thrift *t, struct thrift_field f, struct page *p, enum page_kind kind)
{
    struct thrift_field part = { 0 };
    bool second = kind == PAGE_DATA_2;

    if (!thrift_struct(t, f))
        return;
    while (thrift_next(t, &part))
        if (part.id == 1)
            p->values = thrift_count(t, part);
        else if (part.id == (second ? 4 : 2))
            p->encoding = thrift_count(t, part);
        else if (part.id == 3 && kind == PAGE_DATA)
            p->level_encoding = thrift_count(t, part);
        else if (part.id == 4 && kind == PAGE_DATA)
            p->repetition_encoding = thrift_count(t, part);
        else if (part.id == 5 && second)
            p->definitions = thrift_count(t, part);
        else if (part.id == 6 && second)
            p->repetitions = thrift_count(t, part);
        else if (part.id == 7 && second)
            p->plain = !thrift_bool(t, part);
        else
            thrift_skip(t, part);
    thrift_need(t, part, 1u << 1 | 1u << (second ? 4 : 2));
}

static bool fits(const struct page *p)
{
    return p->packed <= INT32_MAX && p->bytes <= INT32_MAX && p->values <= INT32_MAX &&
           (p->kind != PAGE_DATA_2 || (bytes_inside(p->definitions, p->repetitions, p->packed) &&
                                       bytes_inside(p->definitions, p->repetitions, p->bytes)));
}

enum leat_status page_read(struct page *p, struct window *w, uint64_t offset, const char *what, struct leat_error *err)
{
    struct thrift t = { .window = w, .at = offset, .what = what, .err = err };
    struct thrift_field f = { 0 };
    uint64_t told = UINT64_MAX;

    memset(p, 0, sizeof *p);
    p->offset = offset;
    while (thrift_next(&t, &f))
        switch (f.id) {
        case 1:
            p->kind = thrift_count(&t, f);
            break;
        case 2:
            p->bytes = thrift_count(&t, f);
            break;
        case 3:
            p->packed = thrift_count(&t, f);
            break;
        case 4:
            p->has_crc = true;
            p->crc = (uint32_t)thrift_integer(&t, f);
            break;
        case 5:
        case 7:
        case 8:
            told = f.id == 5 ? PAGE_DATA : f.id == 7 ? PAGE_DICTIONARY : PAGE_DATA_2;
            read_kind(&t, f, p, (enum page_kind)told);
            break;
        default:
            thrift_skip(&t, f);
        }
    thrift_need(&t, f, 1u << 1 | 1u << 2 | 1u << 3);
    p->body = t.at;
    if (!fits(p))
        thrift_broken(&t, "a page has an impossible size");
    if (told != p->kind && (p->kind == PAGE_DATA || p->kind == PAGE_DICTIONARY || p->kind == PAGE_DATA_2))
        thrift_broken(&t, "a page is not of the kind that it says");
    if (t.status == LEAT_OK && !bytes_inside(p->body, p->packed, w->end))
        thrift_broken(&t, "a page goes beyond the end of the data");
    return t.status;
}
