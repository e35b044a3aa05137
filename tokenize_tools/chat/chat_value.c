/* chat_value.c: see chat_value.h. */
#include "chat_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "chat_number.h"

/* ---- Memory ---- */

#define BLOCK_BYTES ((size_t)64 << 10)
#define LARGE_BYTES ((size_t)4 << 20) /* malloc() has such blocks from the system, and gives them back at once */

struct chat_block {
    struct chat_block *next;
    size_t used, room;
    max_align_t bytes[];
};

void *chat_arena_get(struct chat_arena *a, size_t bytes, struct leat_error *err)
{
    struct chat_block *b = a->blocks;
    size_t room;

    bytes = (bytes + 15) / 16 * 16;
    if (b && b->room - b->used >= bytes) {
        b->used += bytes;
        return (char *)b->bytes + b->used - bytes;
    }
    room = a->bytes < LARGE_BYTES || a->max_bytes - a->bytes < LARGE_BYTES ? BLOCK_BYTES : LARGE_BYTES;
    room = bytes > room ? bytes : room;
    if (room > a->max_bytes || a->bytes > a->max_bytes - room) {
        a->full = true;
        status_set(err, LEAT_E_TEXT, "rendering this conversation needs more than %zu MiB", a->max_bytes >> 20);
        return NULL;
    }
    b = calloc(1, sizeof *b + room);
    if (!b) {
        status_no_memory(err, room);
        return NULL;
    }
    *b = (struct chat_block) { .next = a->blocks, .used = bytes, .room = room };
    a->blocks = b;
    a->bytes += room;
    return b->bytes;
}

void chat_arena_free(struct chat_arena *a)
{
    while (a->blocks) {
        struct chat_block *next = a->blocks->next;

        free(a->blocks);
        a->blocks = next;
    }
    a->bytes = 0;
}

/* ---- Strings ---- */

bool chat_string_equal(struct chat_string a, struct chat_string b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if ((a.codes[i] & CHAT_CODE) != (b.codes[i] & CHAT_CODE))
            return false;
    return true;
}

bool chat_string_is(struct chat_string s, const char *ascii)
{
    size_t i = 0;

    for (; i < s.count && ascii[i]; i++)
        if ((s.codes[i] & CHAT_CODE) != (unsigned char)ascii[i])
            return false;
    return i == s.count && !ascii[i];
}

/* Knuth, Morris and Pratt: a character of the string is looked at twice at most, whatever the part repeats. */
enum leat_status chat_search_make(struct chat_arena *a, struct chat_string part, struct chat_search *out,
                                  struct leat_error *err)
{
    uint32_t *border = chat_arena_get(a, part.count * sizeof *border, err);
    size_t k = 0;

    if (!border)
        return err->status;
    for (size_t i = 1; i < part.count; i++) {
        while (k > 0 && (part.codes[k] ^ part.codes[i]) & CHAT_CODE)
            k = border[k - 1];
        k += ((part.codes[k] ^ part.codes[i]) & CHAT_CODE) == 0;
        border[i] = (uint32_t)k;
    }
    *out = (struct chat_search) { part, border };
    return LEAT_OK;
}

size_t chat_search_find(const struct chat_search *search, struct chat_string s, size_t from)
{
    struct chat_string part = search->part;
    size_t k = 0;

    if (part.count == 0)
        return from <= s.count ? from : SIZE_MAX;
    for (size_t i = from; i < s.count; i++) {
        while (k > 0 && (part.codes[k] ^ s.codes[i]) & CHAT_CODE)
            k = search->border[k - 1];
        k += ((part.codes[k] ^ s.codes[i]) & CHAT_CODE) == 0;
        if (k == part.count)
            return i + 1 - k;
    }
    return SIZE_MAX;
}

bool chat_is_space(uint32_t code)
{
    code &= CHAT_CODE;
    return (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x20) || code == 0x85 || code == 0xa0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
           code == 0x205f || code == 0x3000;
}

uint32_t chat_take_code(const unsigned char **at)
{
    const unsigned char *p = *at;
    unsigned more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
    uint32_t code = more == 0 ? *p : *p & (0x3fu >> more);

    for (unsigned i = 1; i <= more; i++)
        code = code << 6 | (p[i] & 0x3f);
    *at += 1 + more;
    return code;
}

enum leat_status chat_string_make(struct chat_arena *a, const char *bytes, size_t count, uint32_t marks,
                                  struct chat_string *out, struct leat_error *err)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + count;
    uint32_t *codes = chat_arena_get(a, count * sizeof *codes, err);
    size_t n = 0;

    if (!codes)
        return err->status;
    while (at < end)
        codes[n++] = chat_take_code(&at) | marks;
    *out = (struct chat_string) { codes, n };
    return LEAT_OK;
}

enum leat_status chat_string_ascii(struct chat_arena *a, const char *ascii, struct chat_string *out,
                                   struct leat_error *err)
{
    return chat_string_make(a, ascii, strlen(ascii), 0, out, err);
}

enum leat_status chat_text_add(struct chat_arena *a, struct chat_text *t, struct chat_string s, struct leat_error *err)
{
    if (s.count > t->room - t->count) {
        size_t room = 2 * (t->count + s.count) + 64;
        uint32_t *codes = chat_arena_get(a, room * sizeof *codes, err);

        if (!codes)
            return err->status;
        if (t->count > 0)
            memcpy(codes, t->codes, t->count * sizeof *codes);
        t->codes = codes;
        t->room = room;
    }
    if (s.count > 0)
        memcpy(t->codes + t->count, s.codes, s.count * sizeof *s.codes);
    t->count += s.count;
    return LEAT_OK;
}

/* ---- Values ---- */

const char *chat_kind_name(enum chat_kind kind)
{
    static const char *const names[] = { "undefined",   "none",     "a boolean", "a number", "a number beyond 64 bits",
                                         "a number",    "a string", "a list",    "a dict",   "an iterator",
                                         "a namespace", "a loop",   "a macro",   "a method", "a function",
                                         "nothing" };

    return names[kind];
}

bool chat_truth(const struct chat_value *v)
{
    switch (v->kind) {
    case CHAT_UNDEFINED:
    case CHAT_NONE:
        return false;
    case CHAT_BOOL:
        return v->truth;
    case CHAT_INT:
        return v->number != 0;
    case CHAT_FLOAT:
        return v->real != 0;
    case CHAT_STRING:
        return v->string.count > 0;
    case CHAT_LIST:
        return v->list.count > 0;
    case CHAT_DICT:
        return v->dict->count > 0;
    default:
        return true;
    }
}

#define EQUAL_DEPTH 200u
#define EQUAL_STEPS 1000000u /* values that are compared */

/* How far a comparison is. */
struct equality {
    unsigned depth, steps;
};

static int values_equal(struct equality *e, const struct chat_value *a, const struct chat_value *b);

static int dicts_equal(struct equality *e, const struct chat_dict *a, const struct chat_dict *b)
{
    int equal = a->count == b->count;

    for (size_t i = 0; equal == 1 && a != b && i < a->count; i++) {
        const struct chat_value *other = chat_dict_find(b, a->pairs[i].key);

        e->steps += (unsigned)(a->pairs[i].key.count / 64);
        equal = other ? values_equal(e, &a->pairs[i].value, other) : 0;
    }
    return equal;
}

static int lists_equal(struct equality *e, const struct chat_value *a, const struct chat_value *b)
{
    int equal = a->list.count == b->list.count;

    for (size_t i = 0; equal == 1 && a->list.items != b->list.items && i < a->list.count; i++)
        equal = values_equal(e, &a->list.items[i], &b->list.items[i]);
    return equal;
}

static int values_equal(struct equality *e, const struct chat_value *a, const struct chat_value *b)
{
    int equal;

    if (++e->steps > EQUAL_STEPS || e->depth == EQUAL_DEPTH)
        return -1;
    if (chat_is_number(a) && chat_is_number(b))
        return chat_number_order(a, b) == 0;
    if (a->kind != b->kind)
        return a->kind == CHAT_FLOAT || b->kind == CHAT_FLOAT ? -(a->kind == CHAT_BIG || b->kind == CHAT_BIG) : 0;
    switch (a->kind) {
    case CHAT_UNDEFINED:
    case CHAT_NONE:
        return true;
    case CHAT_BIG:
    case CHAT_STRING:
        e->steps += (unsigned)(a->string.count < EQUAL_STEPS ? a->string.count / 64 : EQUAL_STEPS);
        return chat_string_equal(a->string, b->string);
    case CHAT_LIST:
        if (a->flags == CHAT_VIEW && b->flags == CHAT_VIEW)
            return -1; /* those of keys and items are sets */
        if (a->flags != b->flags)
            return false;
        __attribute__((fallthrough));
    case CHAT_DICT:
        e->depth++;
        equal = a->kind == CHAT_LIST ? lists_equal(e, a, b) : dicts_equal(e, a->dict, b->dict);
        e->depth--;
        return equal;
    case CHAT_MACRO:
        return a->macro.node == b->macro.node && a->macro.scope == b->macro.scope ? -1 : false;
    case CHAT_METHOD:
        return -1;
    default: /* the same thing: pointers share a place */
        return a->dict == b->dict;
    }
}

int chat_equal(const struct chat_value *a, const struct chat_value *b, unsigned *steps)
{
    struct equality e = { 0, 0 };
    int equal = values_equal(&e, a, b);

    *steps = e.steps;
    return equal;
}
