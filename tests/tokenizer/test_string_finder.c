/*
 * test_string_finder.c: the finder of added tokens against looking for every string at every place: one first byte, a
 * few, which are looked for in blocks, and many; strings that begin with each other; matches at all places of a block,
 * across two, and at the end of the text, which is where its memory ends.
 */
#include "t.h"
#include "tokenizer/split/string_finder.h"

#define MOST 40

static uint64_t random_state;

static size_t below(size_t n)
{
    return (size_t)t_below(&random_state, n);
}

struct strings {
    uint8_t bytes[MOST][8];
    size_t length[MOST], count;
};

/* Of so many first bytes, then of a few others that texts are full of; no two the same. */
static void make_strings(struct strings *s, size_t firsts)
{
    for (s->count = 0; s->count < firsts + below(MOST - firsts);) {
        uint8_t *bytes = s->bytes[s->count];
        size_t length = 1 + below(8), same = 0;

        bytes[0] = (uint8_t)("\n<[\xe2\t{|@#$%^&*()"[s->count < firsts ? s->count : below(firsts)]);
        for (size_t i = 1; i < length; i++)
            bytes[i] = (uint8_t)("\n<ab"[below(4)]);
        for (size_t i = 0; i < s->count; i++)
            same += s->length[i] == length && memcmp(s->bytes[i], bytes, length) == 0;
        s->length[s->count] = length;
        s->count += same == 0;
    }
}

/* The longest of those that begin here; its end, or 0. */
static size_t plain_match(const struct strings *s, const uint8_t *text, size_t bytes, size_t at, uint32_t *number)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < s->count; i++)
        if (s->length[i] > longest && s->length[i] <= bytes - at && memcmp(text + at, s->bytes[i], s->length[i]) == 0) {
            longest = s->length[i];
            *number = i;
        }
    return longest > 0 ? at + longest : 0;
}

static void compare(const struct string_finder *f, const struct strings *s, const uint8_t *text, size_t bytes)
{
    struct string_search search = { .text = text, .bytes = bytes };
    size_t start, end, found = 0;
    uint32_t number = 0, want = 0;

    while (string_finder_next(f, &search, &start, &end, &number)) {
        T_CHECK(start >= search.from);
        for (size_t at = search.from; at < start; at++)
            T_EQ(plain_match(s, text, bytes, at, &want), 0);
        T_EQ(plain_match(s, text, bytes, start, &want), end);
        T_EQ(number, want);
        search.from = below(4) ? end : start + 1 + below(bytes - start);
        if (t_failures > 0 || found++ > bytes)
            return;
    }
    for (size_t at = search.from; at < bytes; at++)
        T_EQ(plain_match(s, text, bytes, at, &want), 0);
}

/* Mostly letters, with strings among them; in memory that ends with it. */
static void random_text(const struct string_finder *f, const struct strings *s, size_t rare)
{
    size_t bytes = below(below(3) ? 300 : 70), at = 0;
    uint8_t *text = malloc(bytes + !bytes);

    while (at < bytes) {
        size_t which = below(s->count);

        if (below(rare) == 0 && s->length[which] <= bytes - at) {
            memcpy(text + at, s->bytes[which], s->length[which]);
            at += s->length[which];
        } else {
            text[at++] = (uint8_t)("abc<\n"[below(below(20) ? 3 : 5)]);
        }
    }
    compare(f, s, text, bytes);
    free(text);
}

int main(void)
{
    random_state = t_seed();
    for (size_t round = 0; round < 600; round++) {
        struct string_finder *f;
        struct strings s;

        make_strings(&s, 1 + below(round % 3 == 0 ? 1 : round % 3 == 1 ? 8 : 16));
        T_OK(string_finder_make(&f, &t_err));
        for (uint32_t i = 0; i < s.count; i++)
            T_OK(string_finder_add(f, s.bytes[i], s.length[i], i, &t_err));
        for (int i = 0; i < 40; i++)
            random_text(f, &s, 1 + below(100));
        string_finder_free(f);
    }
    return t_end();
}
