/*
 * test_charsmap_copy.c: what charsmap_copy() copies is what looking up each character gives, and it stops where it
 * must: random maps, of keys of one to three characters, and random texts of the same few characters. And one that goes
 * round in circles, so that not all is found out that keys go on with.
 */
#include "base/bytes.h"
#include "t.h"
#include "tokenizer/normalize/charsmap.h"

#define UNITS 8192u
#define KEYS  12
#define ROOM  256

static const char *const characters[] = { "a",      "b",      "c",      " ",      " ",      "\t",     "\u00e9",
                                          "\u0301", "\u044f", "\u0915", "\u093c", "\u4e2d", "\u2581", "\U0001f600",
                                          "e",      "e",      "x",      "\u03b1", "\u1161", "\u00a9" };
#define CHARACTERS (sizeof characters / sizeof characters[0])

static size_t length_of(const uint8_t *text)
{
    return *text < 0x80 ? 1 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;
}

static size_t put_random(uint64_t *random, char *to, uint64_t count)
{
    size_t bytes = 0;

    for (to[0] = 0; count > 0; count--) {
        const char *c = characters[t_below(random, CHARACTERS)];

        memcpy(to + bytes, c, strlen(c) + 1);
        bytes += strlen(c);
    }
    return bytes;
}

/* ---- A map ---- */

struct made {
    char keys[KEYS][16];
    uint32_t values[KEYS], units[UNITS];
    bool taken[UNITS];
    uint32_t next; /* bases are tried from here on */
};

/* Lays out the node at unit `at`, which the first `depth` bytes of a key lead to. */
static void lay_out(struct made *m, uint32_t at, const char *prefix, size_t depth)
{
    bool child[256] = { false };
    uint32_t base, value = 0;

    for (int i = 0; i < KEYS; i++)
        if (strncmp(m->keys[i], prefix, depth) == 0 && m->keys[i][0]) {
            uint8_t next = (uint8_t)m->keys[i][depth];

            child[next] = true;
            value = next == 0 ? m->values[i] : value;
        }
    for (base = m->next++;; base++) {
        bool free_here = true;

        for (uint32_t b = 0; b < 256; b++)
            free_here &= !child[b] || !m->taken[base ^ b];
        if (free_here)
            break;
    }
    m->units[at] |= (child[0] ? 0x100u : 0) | (at ^ base) << 10;
    for (uint32_t b = 0; b < 256; b++) {
        m->taken[base ^ b] |= child[b];
        if (child[b])
            m->units[base ^ b] = b > 0 ? b : value | 1u << 31;
    }
    for (uint32_t b = 1; b < 256; b++)
        if (child[b]) {
            char longer[16];

            memcpy(longer, prefix, depth);
            longer[depth] = (char)b;
            lay_out(m, base ^ b, longer, depth + 1);
        }
}

static struct charsmap *make_map(uint64_t *random)
{
    static uint8_t bytes[4 + 4 * UNITS + ROOM];
    static struct made m;
    struct charsmap *map;
    size_t pool = 0;

    memset(&m, 0, sizeof m);
    memset(bytes, 0, sizeof bytes);
    m.taken[0] = true;
    m.next = 1;
    for (int i = 0; i < KEYS; i++) {
        char to[16];
        size_t length = put_random(random, to, t_below(random, 3));

        put_random(random, m.keys[i], 1 + t_below(random, 3));
        for (int k = 0; k < i; k++)
            if (strcmp(m.keys[k], m.keys[i]) == 0)
                m.keys[i][0] = 0;
        m.values[i] = (uint32_t)pool;
        memcpy(bytes + 4 + sizeof m.units + pool, to, length + 1);
        pool += length + 1;
    }
    lay_out(&m, 0, "", 0);
    bytes_store32(bytes, sizeof m.units);
    for (size_t i = 0; i < UNITS; i++)
        bytes_store32(bytes + 4 + 4 * i, m.units[i]);
    T_OK(charsmap_create(&map, bytes, 4 + sizeof m.units + pool, &t_err));
    return map;
}

/* ---- A text ---- */

/* The next character or key, and what becomes of it, appended to `want`. */
static size_t look_up(const struct charsmap *map, const struct charsmap_text *t, const uint8_t *text, size_t bytes,
                      struct buffer *want, bool *after_space)
{
    const uint8_t *to = text;
    size_t to_bytes = 0, used = map ? charsmap_longest(map, text, bytes, &to, &to_bytes, NULL) : 0;

    if (used == 0)
        used = to_bytes = length_of(text);
    for (size_t i = 0; i < to_bytes; i++) {
        if (!(t->single && *after_space && to[i] == ' '))
            T_OK(buffer_append(want, &to[i], 1, &t_err));
        *after_space = to[i] == ' ';
    }
    return used;
}

static void check_text(const struct charsmap *map, uint64_t *random)
{
    char characters_of[ROOM];
    const uint8_t *text = (const uint8_t *)characters_of;
    size_t bytes = put_random(random, characters_of, t_below(random, 40));
    uint8_t out[ROOM + 8];
    struct charsmap_text t = { .text = text, .to = out, .single = t_below(random, 2) };
    struct buffer want = { 0 };
    bool after_space = false;

    while (t.at < bytes) {
        size_t from = t.at, end = from + t_below(random, bytes - from + 1);

        charsmap_copy(map, CHARSMAP_LONGEST, &t, end, bytes);
        T_CHECK(t.at <= end);
        while (from < t.at) {
            T_CHECK(memcmp(text + from, "\u2581", 3) != 0);
            from += look_up(map, &t, text + from, bytes - from, &want, &after_space);
        }
        T_EQ(from, t.at);
        T_EQ((size_t)(t.to - out), want.size);
        T_CHECK(want.size == 0 || memcmp(out, want.bytes, want.size) == 0);
        T_CHECK(t.after_space == after_space);
        if (t.at < bytes && want.size < ROOM - 32) {
            t.at += look_up(map, &t, text + t.at, bytes - t.at, &want, &after_space);
            if (want.size > 0)
                memcpy(out, want.bytes, want.size);
            t.to = out + want.size;
            t.after_space = after_space;
        } else {
            break;
        }
    }
    buffer_free(&want);
}

static void put_unit(uint32_t *units, uint32_t at, uint32_t label, bool value, uint32_t base)
{
    units[at] = label | (value ? 0x100u : 0) | (at ^ base) << 10;
}

/* From each of a few characters, a node that any byte but A9 leads back to itself; and the key "z\u00e9". */
static void test_circles(void)
{
    enum { CIRCLE = 256, ROOT = 512, Z = 768, Z_C3 = 769, VALUE = 1000, ALL = 1024 };
    static uint8_t bytes[4 + 4 * ALL + 2];
    static uint32_t units[ALL];
    const uint8_t *text = (const uint8_t *)"z\u00e9", *to;
    struct charsmap *map;
    size_t size;
    uint8_t out[16];
    struct charsmap_text t = { .text = text, .to = out };

    units[0] = ROOT << 10;
    for (uint32_t b = 1; b < 9; b++)
        put_unit(units, ROOT ^ b, b, false, CIRCLE);
    for (uint32_t b = 1; b < 256; b++)
        if (b != 0xa9)
            put_unit(units, CIRCLE ^ b, b, false, CIRCLE);
    put_unit(units, ROOT ^ 'z', 'z', false, Z);
    put_unit(units, Z ^ 0xc3, 0xc3, false, Z_C3);
    put_unit(units, Z_C3 ^ 0xa9, 0xa9, true, VALUE);
    units[VALUE] = 1u << 31;
    bytes_store32(bytes, sizeof units);
    for (size_t i = 0; i < ALL; i++)
        bytes_store32(bytes + 4 + 4 * i, units[i]);
    bytes[4 + 4 * ALL] = '!';
    T_OK(charsmap_create(&map, bytes, sizeof bytes, &t_err));
    T_EQ(charsmap_longest(map, text, 3, &to, &size, NULL), 3);
    T_CHECK(size == 1 && *to == '!');
    charsmap_copy(map, CHARSMAP_LONGEST, &t, 3, 3);
    T_EQ(t.at, 0);
    charsmap_free(map);
}

int main(void)
{
    uint64_t random = t_seed();

    for (unsigned i = 0; i < t_times(150); i++) {
        struct charsmap *map = i % 10 ? make_map(&random) : NULL;

        for (unsigned k = 0; k < 200; k++)
            check_text(map, &random);
        charsmap_free(map);
    }
    test_circles();
    return t_end();
}
