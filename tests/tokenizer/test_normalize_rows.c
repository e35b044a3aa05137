/*
 * test_normalize_rows.c: every row of normalize_prefix() finds the end that the plain row finds: with every code point
 * before and after marks, starters and jamo that it may meet, and in random texts; and reads nothing behind. The plain
 * row's answers are compared with the reference by tests/conformance/check_unicode.py.
 */
#include "nasty.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "tokenizer/unicode/normalize_blocks.h"

#define TEXTS 20000
#define ROOM  1024

/* Marks of class 1, 9, 220, 230 and 240, which compose or not; starters that compose with marks or with each other;
 * composed characters; and what never stays in NFC. */
static const uint32_t moving[] = {
    0x334, 0x338, 0x94d,  0x93c,  0x316,  0x323,  0x301,   0x302, 0x308, 0x653, 0x345,  0x3099,  0x1161, 0x11a8,
    0x9be, 0x9d7, 0xbbe,  0xdcf,  0x102e, 0x1b35, 0x1133e, 'a',   'e',   'q',   0xe9,   0xe2,    0x1ea1, 0x9c7,
    0xbc6, 0xdd9, 0x1025, 0x304b, 0x1100, 0xac00, 0xac01,  0x915, 0x958, 0x344, 0x212b, 0x2f802,
};

#define MOVING (sizeof moving / sizeof moving[0])

static void check(enum normalize_form form, const uint8_t *text, size_t size)
{
    const struct normal_row *row;
    size_t count = 0, wanted;

    while (normal_row(count + 1))
        count++;
    wanted = normal_row_prefix(normal_row(count), form, text, size);
    for (size_t i = 0; i < count; i++) {
        row = normal_row(i);
        if (row->needs <= cpu_level() && normal_row_prefix(row, form, text, size) != wanted)
            T_FAIL("%s, form %d: %zu instead of %zu of %zu bytes", row->name, (int)form,
                   normal_row_prefix(row, form, text, size), wanted, size);
    }
    if (normalize_prefix(form, text, size) != wanted)
        T_FAIL("form %d: not %zu of %zu bytes", (int)form, wanted, size);
}

/* Two characters at the end of a block and after it. */
static void check_pair(uint8_t *block, uint32_t first, uint32_t second)
{
    enum { BEFORE = 61, BYTES = 140 };
    size_t n = BEFORE;

    n += nasty_put(block + n, first);
    n += nasty_put(block + n, second);
    check(NORMALIZE_NFC, block, BYTES);
    memset(block + BEFORE, 'x', n - BEFORE);
}

static void every_character(void)
{
    static const uint32_t before[] = { 0x345, 0x301, 'e', 0x1100, 0x9c7 }, after[] = { 0x334, 0x323, 0x11a8 };
    uint8_t block[140];

    memset(block, 'x', sizeof block);
    for (uint32_t c = 0x80; c < 0x110000 && t_failures < 10; c++) {
        if (c == 0xd800)
            c = 0xe000;
        for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
            check_pair(block, before[i], c);
        for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
            check_pair(block, c, after[i]);
    }
}

static size_t fill(uint8_t *text, uint64_t *state)
{
    size_t n = 0, max = t_below(state, ROOM - 8), rare = 1 + t_below(state, 60);

    while (n < max) {
        uint32_t c = nasty[t_below(state, NASTY)];

        if (t_below(state, 3) == 0)
            c = (uint32_t)(0x4e00 + t_below(state, 0x5000));
        if (t_below(state, rare) == 0)
            c = moving[t_below(state, MOVING)];
        n += nasty_put(text + n, c);
    }
    return n;
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), texts = t_times(TEXTS);
    uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t state = t_seed();
    uint8_t made[ROOM];

    T_CHECK(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    for (size_t i = 0; i < texts && t_failures < 10; i++) {
        size_t n = fill(made, &state);
        const uint8_t *text = memcpy(memory + page - n, made, n);

        for (int form = 0; form < NORMALIZE_FORMS; form++)
            check((enum normalize_form)form, text, n);
    }
    every_character();
    return t_end();
}
