/* show_row.c: makes rows, and reads the tokens at their places. */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "base/utf8.h"

/* ---- What ids mean ---- */

static enum leat_status open_stored(struct show_words *w, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_stored_tokenizer *t;
    enum leat_status s = leat_dataset_tokenizer(d, &t, err);

    if (s == LEAT_E_NOT_FOUND)
        return LEAT_OK;
    if (s == LEAT_OK) {
        s = leat_tokenizer_open_stored(&w->tokenizer, t, err);
        leat_stored_tokenizer_free(t);
    }
    return s;
}

enum leat_status show_words_open(struct show_words *w, const struct leat_dataset *d, const char *spec,
                                 const char *pattern, struct leat_error *err)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;

    options.pattern = pattern;
    leat_dataset_info(d, &info);
    *w = (struct show_words) { .end = info.end_token, .begin = info.begin_token };
    return spec ? leat_tokenizer_open(&w->tokenizer, spec, &options, err) : open_stored(w, d, err);
}

void show_words_close(struct show_words *w)
{
    leat_tokenizer_close(w->tokenizer);
    w->tokenizer = NULL;
}

void show_token_find(const struct show_words *w, int64_t id, struct show_token *t)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    const char *role = (uint64_t)id == w->end ? "end " : (uint64_t)id == w->begin ? "begin " : "";

    if (w->tokenizer && leat_tokenizer_token(w->tokenizer, (uint32_t)id, &token, NULL) == LEAT_OK) {
        *t = (struct show_token) {
            .text = token.text, .bytes = token.bytes, .special = token.special, .bytewise = token.bytewise
        };
        return;
    }
    /* An id without a text is shown by its number. */
    *t = (struct show_token) { .special = true };
    t->bytes = (uint64_t)snprintf(t->name, sizeof t->name, "%s%" PRId64, role, id);
    t->text = t->name;
}

/* ---- The stretches of a row ---- */

struct show_stretch *show_row_add(struct show_row *row, const struct show_stretch *like, struct leat_error *err)
{
    if (GROW(row->stretches, row->count + 1, row->room, err) != LEAT_OK)
        return NULL;
    row->stretches[row->count] = *like;
    return &row->stretches[row->count++];
}

void show_row_clear(struct show_row *row)
{
    for (size_t i = 0; i < row->count; i++)
        commands_origin_free(&row->stretches[i].origin);
    free(row->stretches);
    row->stretches = NULL;
    row->count = row->room = 0;
}

/* Adds the part of document `number` that lies in tokens [token, end). */
static enum leat_status add_document(struct show_row *row, const struct leat_dataset *d, uint64_t number,
                                     uint64_t token, uint64_t end, const struct show_stretch *like,
                                     struct leat_error *err)
{
    uint64_t begin, count, from, to;
    enum leat_status s = leat_dataset_document(d, number, &begin, &count, err);
    struct show_stretch *x;

    if (s != LEAT_OK || count == 0)
        return s;
    from = begin > token ? begin : token;
    to = begin + count < end ? begin + count : end;
    x = show_row_add(row, like, err);
    if (!x)
        return err->status;
    x->at += from - token;
    x->places = to - from;
    x->document = number;
    x->first = from - begin;
    return commands_origin(d, number, &x->origin, err);
}

enum leat_status show_row_add_documents(struct show_row *row, const struct leat_dataset *d, uint64_t token,
                                        const struct show_stretch *like, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t first, count = 0;
    enum leat_status s = LEAT_OK;

    leat_dataset_info(d, &info);
    if (like->places == 0)
        return LEAT_OK;
    if (info.documents == LEAT_NONE)
        return show_row_add(row, like, err) ? LEAT_OK : err->status;
    s = leat_dataset_documents_in(d, token, like->places, &first, &count, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_document(row, d, first + i, token, token + like->places, like, err);
    return s;
}

bool show_other_label(const struct show_row *row, uint64_t place)
{
    return row->labels && row->loss[place] && (place + 1 == row->filled || row->labels[place] != row->ids[place + 1]);
}

uint8_t show_counts(const struct show_row *row, uint64_t place)
{
    return row->learned ? row->learned[place] : !row->loss || row->loss[place] ? UINT8_MAX : 0;
}

/* ---- The tokens of a stretch ---- */

/*
 * Reading the tokens of a stretch, one after another. If several tokens have parts of a character, the token with
 * its first byte gets the character, and later ones only what follows it. Bytes that make no character stay where
 * they are.
 */

/* Returns the byte for which sentencepiece has such a name, as <0xE5>; 0 if it is another token, or a byte of ASCII,
 * which is never a part of a character. */
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

/* Returns the bytes of a text that a token stands for; `named` has room for one. */
static const uint8_t *text_of(const struct show_token *t, uint8_t *named, uint64_t *bytes)
{
    *named = named_byte(t);
    *bytes = *named ? 1 : t->bytes;
    return *named ? named : (const uint8_t *)t->text;
}

/* Gets the token at a place of the stretch; after the last place, its label, if that is shown. Returns false if
 * there is none, or it is special. */
static bool find_ahead(const struct show_reader *r, uint64_t place, struct show_token *t)
{
    if (place > r->end || (place == r->end && !show_other_label(r->row, place - 1)))
        return false;
    show_token_find(r->words, place < r->end ? r->row->ids[place] : r->row->labels[place - 1], t);
    return !t->special;
}

/* Returns true if the tokens that come next complete the character of which the first `bytes` are known; then sets
 * *size to all of its bytes. */
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
static void take_own_text(struct show_reader *r, struct show_token *t)
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
        return; /* it is no part of a character, so its name is shown */
    t->text = named ? "" : t->text + taken;
    t->bytes = bytes - taken - open;
}

void show_reader_next(struct show_reader *r, struct show_token *t)
{
    show_token_find(r->words, r->row->ids[r->next++], t);
    take_own_text(r, t);
}

void show_reader_label(struct show_reader *r, struct show_token *t)
{
    uint64_t next = r->next;

    show_token_find(r->words, r->row->labels[next - 1], t);
    if (next < r->end)
        return;
    r->next = r->end + 1; /* nothing completes what it begins */
    take_own_text(r, t);
    r->next = next;
    r->owed = 0;
}
