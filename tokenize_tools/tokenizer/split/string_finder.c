/*
 * string_finder.c: finds strings by a trie, walked from each place whose first byte begins a string. A text without
 * such bytes is passed at the speed of a table look-up; a few different first bytes are looked for by vectors, a
 * single one by memchr(). If there are long strings, which a text could be made to nearly hold at each place, all of
 * them are found by an automaton.
 */
#include "string_finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"
#include "few_bytes.h"
#include "tokenizer/containers/trie.h"

/* ---- Long strings ------------------------------------------------------------------------------------------------ */

/*
 * Finds the longest string that begins at each place of a text, in time that grows with the text only, however long the
 * strings are and whatever they have in common. Trying each place by itself took 21 s for one string of 100,000 "a" and
 * a "b" in 100 KB of "a".
 *
 * Aho and Corasick's automaton, made of the strings read backwards, goes through a stretch of text backwards. When it
 * has read text[at], it knows which strings end there if they are read backwards; these are the strings that begin
 * there. Each of its states knows the longest of them.
 *
 * Forwards, it would find which strings end at a place. But of two strings that overlap, the one that begins first is
 * wanted, and of those that begin there the longest: that takes a look ahead, again for each match.
 */

/* Places that are looked at at a time, or as many as the longest string has bytes. The automaton begins that far
 * after the stretch. */
#define STRETCH ((size_t)TINY_OR(8, 1 << 16))

/* A node of the trie as a state: the bytes that were read last are a beginning of a string, the longest that they
 * end with. */
struct state {
    uint32_t shorter; /* the longest proper end of it that is such a beginning, too */
    uint32_t longest; /* the longest end of it that is a string; TRIE_ROOT if there is none */
    uint32_t length;
};

struct string_ahead {
    struct trie trie; /* the strings backwards */
    struct state *states;
    size_t longest;
};

static uint32_t state_after(const struct string_ahead *a, uint32_t state, uint8_t byte)
{
    uint32_t next;

    while ((next = trie_child(&a->trie, state, byte)) == TRIE_NONE && state != TRIE_ROOT)
        state = a->states[state].shorter;
    return next;
}

/* Links the states. Nodes further from the root come later, so the states that a state leads to are done already. */
static void link_states(struct string_ahead *a)
{
    for (uint32_t i = 0; i < a->trie.count; i++) {
        const struct trie_node *n = &a->trie.nodes[i];

        for (uint32_t k = n->first; k < n->first + n->count; k++) {
            const struct trie_node *child = &a->trie.nodes[k];
            struct state *s = &a->states[k];

            s->length = a->states[i].length + 1;
            s->shorter = i == TRIE_ROOT ? TRIE_ROOT : state_after(a, a->states[i].shorter, child->byte);
            s->longest = child->number != TRIE_NO_NUMBER ? k : a->states[s->shorter].longest;
        }
    }
}

static enum leat_status add_backwards(struct string_ahead *a, const uint8_t *text, size_t bytes, uint32_t number,
                                      uint8_t *room, struct leat_error *err)
{
    uint32_t known;

    for (size_t i = 0; i < bytes; i++)
        room[i] = text[bytes - 1 - i];
    return trie_add(&a->trie, room, bytes, number, &known, err);
}

static void string_ahead_free(struct string_ahead *a)
{
    if (!a)
        return;
    trie_free(&a->trie);
    free(a->states);
    free(a);
}

/* A string among others in a text, one after the other, none empty. */
struct finder_string {
    size_t end;
    uint32_t number;
};

static enum leat_status string_ahead_make(struct string_ahead **out, const struct buffer *text,
                                          const struct finder_string *strings, size_t count, struct leat_error *err)
{
    struct string_ahead *a = calloc(1, sizeof *a);
    uint8_t *room = malloc(text->size);
    enum leat_status s = a && room ? LEAT_OK : status_no_memory(err, text->size);

    *out = NULL;
    for (size_t i = 0, begin = 0; s == LEAT_OK && i < count; begin = strings[i++].end) {
        s = add_backwards(a, text->bytes + begin, strings[i].end - begin, strings[i].number, room, err);
        if (strings[i].end - begin > a->longest)
            a->longest = strings[i].end - begin;
    }
    free(room);
    if (s == LEAT_OK)
        s = trie_seal(&a->trie, err);
    if (s == LEAT_OK && !(a->states = calloc(a->trie.count, sizeof *a->states)))
        s = status_no_memory(err, a->trie.count * sizeof *a->states);
    if (s != LEAT_OK) {
        string_ahead_free(a);
        return s;
    }
    link_states(a);
    *out = a;
    return LEAT_OK;
}

/* Goes through the stretch of the text that begins at this place. Strings that begin in it end before text[from]. */
static enum leat_status go_through(const struct string_ahead *a, struct string_search *search, size_t at,
                                   struct leat_error *err)
{
    struct string_places *p = &search->places;
    size_t room = a->longest > STRETCH ? a->longest : STRETCH, bytes = search->bytes;
    size_t count = bytes - at < room ? bytes - at : room;
    size_t from = bytes - at - count < a->longest ? bytes : at + count + a->longest;
    uint32_t state = TRIE_ROOT, *places;
    enum leat_status s;

    p->places.size = p->begin = p->end = 0;
    s = buffer_reserve(&p->places, count * sizeof *places, err);
    if (s != LEAT_OK)
        return s;
    places = (uint32_t *)(void *)p->places.bytes;
    while (from > at) {
        state = state_after(a, state, search->text[--from]);
        if (from < at + count)
            places[from - at] = a->states[state].longest;
    }
    p->begin = at;
    p->end = at + count;
    return LEAT_OK;
}

/* Finds the longest string that begins at text[at], at < bytes: its end and its number. *end is 0 if there is none. */
static enum leat_status string_ahead_at(const struct string_ahead *a, struct string_search *search, size_t at,
                                        size_t *end, uint32_t *number, struct leat_error *err)
{
    const struct string_places *p = &search->places;
    uint32_t found;

    if (at < p->begin || at >= p->end) {
        enum leat_status s = go_through(a, search, at, err);

        if (s != LEAT_OK)
            return s;
    }
    found = ((const uint32_t *)(const void *)p->places.bytes)[at - p->begin];
    *end = found != TRIE_ROOT ? at + a->states[found].length : 0;
    if (found != TRIE_ROOT)
        *number = a->trie.nodes[found].number;
    return LEAT_OK;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* Bytes of a string above which the automaton is used: of shorter strings, at most this many bytes are looked at for
 * a place. */
#define LONG ((size_t)TINY_OR(4, 256))

struct string_finder {
    struct trie trie;
    uint32_t roots[256]; /* child of the root for each byte */
    uint8_t begins[256]; /* 1 for bytes that have a child */
    unsigned firsts;     /* number of such bytes; if they are at most FEW_BYTES, blocks are searched for them */
    struct few_bytes few;
    few_bytes_function *find_few;
    size_t longest;
    struct string_ahead *ahead; /* automaton; NULL if no string is long */
    struct buffer texts;        /* all strings, until string_finder_end() */
    struct finder_string *strings;
    size_t count, room;
};

enum leat_status string_finder_make(struct string_finder **out, struct leat_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? LEAT_OK : status_no_memory(err, sizeof **out);
}

static void forget_texts(struct string_finder *f)
{
    buffer_free(&f->texts);
    free(f->strings);
    f->strings = NULL;
    f->count = f->room = 0;
}

void string_finder_free(struct string_finder *f)
{
    if (!f)
        return;
    forget_texts(f);
    string_ahead_free(f->ahead);
    trie_free(&f->trie);
    free(f);
}

static enum leat_status keep_text(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                  struct leat_error *err)
{
    enum leat_status s = buffer_append(&f->texts, text, bytes, err);

    if (s == LEAT_OK)
        s = GROW(f->strings, f->count + 1, f->room, err);
    if (s == LEAT_OK)
        f->strings[f->count++] = (struct finder_string) { f->texts.size, number };
    return s;
}

enum leat_status string_finder_add(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                   struct leat_error *err)
{
    uint32_t known;
    enum leat_status s;

    if (bytes == 0)
        return LEAT_OK;
    s = trie_add(&f->trie, text, bytes, number, &known, err);
    if (s == LEAT_OK && known != TRIE_NO_NUMBER)
        s = status_set(err, LEAT_E_UNSUPPORTED, "two added tokens have the same text \"%.*s\", which is not supported",
                       (int)(bytes < 60 ? bytes : 60), (const char *)text);
    if (s != LEAT_OK)
        return s;
    if (!f->begins[text[0]]) {
        f->begins[text[0]] = 1;
        f->firsts++;
        few_bytes_add(&f->few, text[0]);
    }
    if (bytes > f->longest)
        f->longest = bytes;
    return keep_text(f, text, bytes, number, err);
}

enum leat_status string_finder_end(struct string_finder *f, struct leat_error *err)
{
    enum leat_status s = trie_seal(&f->trie, err);

    f->find_few = few_bytes_finder();
    for (unsigned byte = 0; s == LEAT_OK && byte < 256; byte++)
        f->roots[byte] = trie_child(&f->trie, TRIE_ROOT, (uint8_t)byte);
    if (s == LEAT_OK && f->longest > LONG)
        s = string_ahead_make(&f->ahead, &f->texts, f->strings, f->count, err);
    forget_texts(f);
    return s;
}

/* Returns the end of the longest string that begins at text[at], or 0. */
static size_t match_at(const struct string_finder *f, const uint8_t *text, size_t bytes, size_t at, uint32_t *number)
{
    uint32_t node = f->roots[text[at]];
    size_t end = 0;

    while (node != TRIE_NONE) {
        const struct trie_node *n = &f->trie.nodes[node];

        at++;
        if (n->number != TRIE_NO_NUMBER) {
            end = at;
            *number = n->number;
        }
        node = at < bytes && n->count > 0 ? trie_child(&f->trie, node, text[at]) : TRIE_NONE;
    }
    return end;
}

/* Returns the place of the next byte with which a string begins, or `bytes`. */
static size_t next_first(const struct string_finder *f, const uint8_t *text, size_t bytes, size_t at)
{
    if (f->firsts == 1) {
        const uint8_t *found = memchr(text + at, f->few.bytes[0], bytes - at);

        return found ? (size_t)(found - text) : bytes;
    }
    while (bytes - at >= 4 &&
           !(f->begins[text[at]] | f->begins[text[at + 1]] | f->begins[text[at + 2]] | f->begins[text[at + 3]]))
        at += 4;
    while (at < bytes && !f->begins[text[at]])
        at++;
    return at;
}

/* Searches the block that begins at s->block; bytes before s->from do not count. */
static uint64_t firsts_from(const struct string_search *s)
{
    return s->from > s->block ? s->firsts & ~(uint64_t)0 << (s->from - s->block) : s->firsts;
}

/* Searches all whole blocks from s->from on; returns false, with *start after them, if no match begins in any. */
static bool find_in_blocks(const struct string_finder *f, struct string_search *s, size_t *start, size_t *end,
                           uint32_t *number)
{
    if (s->from < s->block || s->from - s->block >= FEW_BYTES_BLOCK || s->firsts == 0) {
        s->block = s->from;
        s->firsts = f->find_few(&f->few, s->text, s->bytes, &s->block);
    }
    while (s->firsts) {
        for (uint64_t firsts = firsts_from(s); firsts; firsts &= firsts - 1) {
            *start = s->block + (size_t)__builtin_ctzll(firsts);
            *end = match_at(f, s->text, s->bytes, *start, number);
            if (*end > 0)
                return true;
        }
        s->block += FEW_BYTES_BLOCK;
        s->firsts = f->find_few(&f->few, s->text, s->bytes, &s->block);
    }
    *start = s->block;
    return false;
}

/* Finds short strings: places whose first byte begins a string are tried one by one. */
static bool find_short(const struct string_finder *f, struct string_search *s, size_t *start, size_t *end,
                       uint32_t *number)
{
    size_t at = s->from;

    if (f->firsts > 1 && f->firsts <= FEW_BYTES && at <= s->bytes) {
        if (find_in_blocks(f, s, start, end, number))
            return true;
        at = *start > at ? *start : at;
    }
    for (; f->firsts > 0 && at < s->bytes && (at = next_first(f, s->text, s->bytes, at)) < s->bytes; at++) {
        *end = match_at(f, s->text, s->bytes, at, number);
        if (*end > 0) {
            *start = at;
            return true;
        }
    }
    return false;
}

enum leat_status string_finder_at(const struct string_finder *f, struct string_search *s, size_t at, size_t *end,
                                  uint32_t *number, struct leat_error *err)
{
    if (f->ahead && f->begins[s->text[at]])
        return string_ahead_at(f->ahead, s, at, end, number, err);
    *end = match_at(f, s->text, s->bytes, at, number);
    return LEAT_OK;
}

enum leat_status string_finder_next(const struct string_finder *f, struct string_search *s, bool *found, size_t *start,
                                    size_t *end, uint32_t *number, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    *found = false;
    if (!f->ahead) {
        *found = find_short(f, s, start, end, number);
        return LEAT_OK;
    }
    for (size_t at = s->from; status == LEAT_OK && at < s->bytes; at = *start + 1) {
        *start = next_first(f, s->text, s->bytes, at);
        if (*start == s->bytes)
            break;
        status = string_finder_at(f, s, *start, end, number, err);
        *found = status == LEAT_OK && *end > 0;
        if (*found)
            break;
    }
    return status;
}

size_t string_finder_longest(const struct string_finder *f)
{
    return f->longest;
}
