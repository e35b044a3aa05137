/* page.c: see page.h. The numbers are those of parquet.thrift. */
#include "page.h"

#include <string.h>

#include "base/bytes.h"
#include "thrift.h"

/* What depends on the kind: the first field is the number of values in all of them. */
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
