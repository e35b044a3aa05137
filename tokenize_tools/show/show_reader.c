/*
 * show_reader.c: the tokens of a stretch, one after another, with characters that several tokens have a part of: the
 * token with the first byte gives the character, and of those after it only what follows the character is theirs. Bytes
 * that make no character stay where they are. See show.h.
 */
#include <string.h>

#include "base/utf8.h"
#include "show.h"

/* The byte for which sentencepiece has such a name, <0xE5>; 0: it is another one, or of ASCII, which is no part. */
static uint8_t named_byte(const struct show_token *t)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *high, *low;

    if (t->special || t->bytewise || t->bytes != 6 || memcmp(t->text, "<0x", 3) != 0 || t->text[5] != '>')
        return 0;
    high = memchr(digits + 8, t->text[3], 8);
    low = memchr(digits, t->text[4], 16);
    return high && low ? (uint8_t)(16 * (high - digits) + (low - digits)) : 0;
}

/* The bytes of a text that a token stands for; `named` has room for one. */
static const uint8_t *text_of(const struct show_token *t, uint8_t *named, uint64_t *bytes)
{
    *named = named_byte(t);
    *bytes = *named ? 1 : t->bytes;
    return *named ? named : (const uint8_t *)t->text;
}

/* The token at a place of the stretch or, after its last one, the label of that, if it is shown; false: there is none,
 * or it is special. */
static bool find_ahead(const struct show_reader *r, uint64_t place, struct show_token *t)
{
    if (place > r->end || (place == r->end && !show_other_label(r->row, place - 1)))
        return false;
    show_token_find(r->words, place < r->end ? r->row->ids[place] : r->row->labels[place - 1], t);
    return !t->special;
}

/* Whether the tokens that come next complete the character of which the first `bytes` are known: then sets *size to all
 * of its bytes. */
static bool complete(const struct show_reader *r, uint8_t character[4], size_t bytes, size_t *size)
{
    struct show_token t;

    *size = character[0] < 0xe0 ? 2 : character[0] < 0xf0 ? 3 : 4;
    for (uint64_t i = r->next; bytes < *size && find_ahead(r, i, &t); i++) {
        const uint8_t *text;
        uint64_t more;
        uint8_t named;

        text = text_of(&t, &named, &more);
        more = more < *size - bytes ? more : *size - bytes;
        memcpy(character + bytes, text, (size_t)more);
        bytes += (size_t)more;
    }
    return bytes == *size && utf8_valid_prefix(character, *size) == *size;
}

void show_reader_begin(struct show_reader *r, const struct show_row *row, const struct show_stretch *x)
{
    *r = (struct show_reader) { .row = row, .words = x->words, .next = x->at, .end = x->at + x->places };
}

/* Gives what of the token's text is its own. */
static void take(struct show_reader *r, struct show_token *t)
{
    const uint8_t *text;
    uint64_t bytes, taken;
    size_t open = 0, size;
    uint8_t named;

    if (t->special)
        return;
    text = text_of(t, &named, &bytes);
    taken = bytes < r->owed ? bytes : r->owed;
    r->owed -= taken;
    t->continues = taken > 0;
    if (r->owed == 0)
        open = utf8_open_end(text + taken, (size_t)(bytes - taken));
    memcpy(t->last, text + bytes - open, open);
    if (open > 0 && complete(r, t->last, open, &size)) {
        t->last_bytes = size;
        r->owed = size - open;
    } else {
        open = 0;
    }
    if (named && taken + open == 0)
        return; /* it is no part of a character: its name is shown */
    t->text = named ? "" : t->text + taken;
    t->bytes = bytes - taken - open;
}

void show_reader_next(struct show_reader *r, struct show_token *t)
{
    show_token_find(r->words, r->row->ids[r->next++], t);
    take(r, t);
}

void show_reader_label(struct show_reader *r, struct show_token *t)
{
    uint64_t next = r->next;

    show_token_find(r->words, r->row->labels[next - 1], t);
    if (next < r->end)
        return;
    r->next = r->end + 1; /* nothing completes what it begins */
    take(r, t);
    r->next = next;
    r->owed = 0;
}
