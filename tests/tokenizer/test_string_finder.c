/*
 * test_string_finder.c: the finder of added tokens against looking for every string at every place: one first byte, a
 * few, which are looked for in blocks, and many; strings that begin with each other; matches at all places of a block,
 * across two, and at the end of the text, which is where its memory ends. Long strings take no longer than short ones:
 * in quadratic time the last tests would take days.
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
    size_t start = 0, end = 0, count = 0;
    uint32_t number = 0, want = 0;
    bool found = true;

    for (;;) {
        T_OK(string_finder_next(f, &search, &found, &start, &end, &number, &t_err));
        if (!found)
            break;
        T_CHECK(start >= search.from);
        for (size_t at = search.from; at < start; at++)
            T_EQ(plain_match(s, text, bytes, at, &want), 0);
        T_EQ(plain_match(s, text, bytes, start, &want), end);
        T_EQ(number, want);
        search.from = below(4) ? end : start + 1 + below(bytes - start);
        if (t_failures > 0 || count++ > bytes)
            break;
    }
    string_search_free(&search);
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

/* ---- Long strings ---- */

static struct string_finder *finder_of(const char *const *texts, const size_t *lengths, size_t count)
{
    struct string_finder *f;

    T_OK(string_finder_make(&f, &t_err));
    for (uint32_t i = 0; i < count; i++)
        T_OK(string_finder_add(f, (const uint8_t *)texts[i], lengths[i], i, &t_err));
    T_OK(string_finder_end(f, &t_err));
    return f;
}

/* How many strings lie in the text, one after the other, and the number of the last. */
static size_t count_all(const struct string_finder *f, const char *text, size_t bytes, uint32_t *number)
{
    struct string_search search = { .text = (const uint8_t *)text, .bytes = bytes };
    size_t start, end = 0, count = 0;
    bool found;

    for (;; count++) {
        T_OK(string_finder_next(f, &search, &found, &start, &end, number, &t_err));
        if (!found)
            break;
        search.from = end;
    }
    string_search_free(&search);
    return count;
}

/* Many "a" and a "b", alone and with a string that it begins with. */
static void long_strings(void)
{
    size_t length = (size_t)1 << 20, bytes = 4 * length, one = 1;
    char *text = malloc(bytes), *string = malloc(length);
    const char *texts[] = { string, "a" };
    size_t lengths[] = { length, one };
    struct string_finder *f;
    uint32_t number = 7;

    memset(text, 'a', bytes);
    memset(string, 'a', length);
    string[length - 1] = 'b';
    f = finder_of(texts, lengths, 1);
    T_EQ(count_all(f, text, bytes, &number), 0);
    text[bytes - 1] = 'b';
    T_EQ(count_all(f, text, bytes, &number), 1);
    T_EQ(number, 0);
    string_finder_free(f);
    f = finder_of(texts, lengths, 2);
    T_EQ(count_all(f, text, bytes, &number), bytes - length + 1);
    T_EQ(number, 0);
    text[bytes - 1] = 'a';
    T_EQ(count_all(f, text, bytes, &number), bytes);
    T_EQ(number, 1);
    string_finder_free(f);
    free(text);
    free(string);
}

/* Against looking at all places: random strings of two letters, some of them long ends and beginnings of others. */
static void random_long_strings(void)
{
    char all[1500], text[4000];
    const char *texts[6];
    size_t lengths[6], count = 0;
    struct string_search search = { .text = (const uint8_t *)text, .bytes = sizeof text };
    struct string_finder *f;

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = i % 500 < 100 + below(100) ? 'a' : below(30) ? 'a' : 'b';
    while (count < 6) {
        size_t same = 0;

        texts[count] = all + below(1000);
        lengths[count] = 1 + below(count % 2 ? 10 : 500);
        for (size_t i = 0; i < count; i++)
            same += lengths[i] == lengths[count] && memcmp(texts[i], texts[count], lengths[i]) == 0;
        count += same == 0;
    }
    for (size_t i = 0, from = 0; i < sizeof text; i++, from++)
        text[i] = all[from = below(300) ? from % sizeof all : below(sizeof all)];
    f = finder_of(texts, lengths, count);
    for (size_t at = 0; at < sizeof text; at++) {
        size_t longest = 0, end;
        uint32_t number = 0, want = 0;

        for (uint32_t i = 0; i < count; i++)
            if (lengths[i] > longest && lengths[i] <= sizeof text - at &&
                memcmp(text + at, texts[i], lengths[i]) == 0) {
                longest = lengths[i];
                want = i;
            }
        T_OK(string_finder_at(f, &search, at, &end, &number, &t_err));
        T_EQ(end, longest ? at + longest : 0);
        T_EQ(number, want);
    }
    string_search_free(&search);
    string_finder_free(f);
}

int main(void)
{
    random_state = t_seed();
    long_strings();
    for (int i = 0; i < 50; i++)
        random_long_strings();
    for (size_t round = 0; round < 600; round++) {
        struct string_finder *f;
        struct strings s;

        make_strings(&s, 1 + below(round % 3 == 0 ? 1 : round % 3 == 1 ? 8 : 16));
        T_OK(string_finder_make(&f, &t_err));
        for (uint32_t i = 0; i < s.count; i++)
            T_OK(string_finder_add(f, s.bytes[i], s.length[i], i, &t_err));
        T_OK(string_finder_end(f, &t_err));
        for (int i = 0; i < 40; i++)
            random_text(f, &s, 1 + below(100));
        string_finder_free(f);
    }
    return t_end();
}
