/*
 * test_utf8_rows.c: every row of utf8_valid_prefix() finds the end that the plain row finds: in well-formed text, in
 * text with a byte changed, inserted or cut off at any place, in random bytes near each border; and reads nothing
 * behind.
 */
#include "nasty.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"

#define TEXTS 20000
#define ROOM  1024

/* Bytes at the borders of what may stand first or second. */
static const uint8_t borders[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                   0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff };

static void check(const uint8_t *text, size_t size)
{
    size_t wanted = utf8_valid_prefix_plain(text, size);
    const struct utf8_row *row;

    for (size_t i = 0; (row = utf8_row(i)) != NULL; i++)
        if (row->needs <= cpu_level() && row->valid_prefix(text, size) != wanted)
            T_FAIL("%s: %zu instead of %zu of %zu bytes", row->name, row->valid_prefix(text, size), wanted, size);
    if (utf8_valid_prefix(text, size) != wanted)
        T_FAIL("%zu instead of %zu of %zu bytes", utf8_valid_prefix(text, size), wanted, size);
}

static size_t fill(uint8_t *text, uint64_t *state)
{
    size_t n = 0, max = t_below(state, ROOM - 8), ascii = t_below(state, 3);

    while (n < max) {
        uint32_t c = t_below(state, 3) < ascii ? 'a' : nasty[t_below(state, NASTY)];

        if (t_below(state, 8) == 0)
            do
                c = (uint32_t)t_below(state, 0x110000);
            while (c >= 0xd800 && c < 0xe000);
        for (size_t times = t_below(state, 10) ? 1 : t_below(state, 150); times > 0 && n < max; times--)
            n += nasty_put(text + n, c);
    }
    return n;
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), texts = t_times(TEXTS);
    uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *text;
    uint64_t state = t_seed();
    uint8_t made[ROOM];

    T_CHECK(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    for (size_t i = 0; i < texts && t_failures < 10; i++) {
        size_t n = fill(made, &state), changes = t_below(&state, 3);

        text = memcpy(memory + page - n, made, n);
        T_EQ(utf8_valid_prefix_plain(text, n), n);
        check(text, n);
        for (; n > 0 && changes > 0; changes--)
            text[t_below(&state, n)] = borders[t_below(&state, sizeof borders)];
        check(text, n);
        /* cut at either end */
        for (size_t k = 0; k < 5 && k <= n; k++)
            check(text + k, n - k);
    }
    /* every first and second byte, and two more, at every place of a block */
    text = memory + page - 70;
    for (unsigned first = 0x80; first < 0x100; first++)
        for (unsigned second = 0; second < sizeof borders; second++)
            for (size_t at = 0; at < 66; at++) {
                memset(text, 'a', 70);
                text[at] = (uint8_t)first;
                text[at + 1] = borders[second];
                text[at + 2] = 0x80;
                check(text, 70);
                text[at + 3] = 0xbf;
                check(text, 70);
            }
    return t_end();
}
