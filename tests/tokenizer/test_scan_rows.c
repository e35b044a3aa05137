/*
 * test_scan_rows.c: every row of every family of scanners cuts as the plain one: random texts of nasty characters with
 * long runs, cut into two windows at every place; every code point between others; and no byte is read behind a text.
 */
#include "nasty.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tokenizer/scan/scan.h"

#define TEXTS 3000
#define CUT   5 /* of so many texts, one is cut at every place */

static uint64_t state;

static void show(const struct scanner *s, const char *how, const uint8_t *text, size_t length, size_t at)
{
    char hex[3 * 120 + 1] = "";

    for (size_t i = 0; i < length && i < 120; i++)
        snprintf(hex + 3 * i, 4, "%02x ", text[i]);
    T_FAIL("%s, %s, %s: different at byte %zu of %zu: %s", s->family->name, s->row->name, how, at, length, hex);
}

/* Ends from `from` on, in a window that begins there; in batches of random sizes. Returns how many; *used: up to
 * where. */
static size_t scan_window(const struct scanner *s, const uint8_t *text, size_t from, size_t to, bool final,
                          uint32_t *ends, size_t *used)
{
    struct scan_window window = { text + from, to - from, final };
    size_t at = 0, count = 0, n, room;

    do {
        room = 1 + t_below(&state, t_below(&state, 2) ? 300 : 20);
        n = scan_next(s, &window, &at, ends + count, room);
        for (size_t i = 0; i < n; i++)
            ends[count + i] += (uint32_t)from;
        count += n;
    } while (n == room);
    *used = from + at;
    return count;
}

static bool same(const struct scanner *s, const char *how, const uint8_t *text, size_t length, const uint32_t *want,
                 size_t wanted, const uint32_t *got, size_t count)
{
    for (size_t i = 0; i < wanted || i < count; i++)
        if (i >= wanted || i >= count || want[i] != got[i]) {
            show(s, how, text, length, i < wanted ? want[i] : got[i]);
            return false;
        }
    return true;
}

/* One row over one text, whole and, if `cuts`, as two windows that meet at any place. */
static void check_row(const struct scanner *s, const uint8_t *text, size_t length, const uint32_t *want, size_t wanted,
                      bool cuts)
{
    static uint32_t got[NASTY_MAX];
    size_t used, count = scan_window(s, text, 0, length, true, got, &used);

    T_EQ(used, length);
    if (!same(s, "whole", text, length, want, wanted, got, count))
        return;
    for (size_t at = 0; cuts && at < length; at++) {
        if ((text[at] & 0xc0) == 0x80)
            continue;
        count = scan_window(s, text, 0, at, false, got, &used);
        if (used > at || (count > 0 && got[count - 1] != used))
            T_FAIL("%s, %s: at %zu in a window of %zu", s->family->name, s->row->name, used, at);
        count += scan_window(s, text, used, length, true, got + count, &used);
        if (!same(s, "two windows", text, length, want, wanted, got, count))
            return;
    }
}

static void check_text(const uint8_t *text, size_t length, bool cuts)
{
    static uint32_t want[NASTY_MAX];
    const struct scan_family *family;
    struct scanner s;
    size_t wanted, used;

    for (size_t i = 0; (family = scan_family_number(i)) != NULL; i++) {
        T_CHECK(scanner_named(&s, family->name, t_below(&state, 2) ? SCAN_RUST : SCAN_ONIGURUMA));
        for (s.row = family->rows; s.row[1].name; s.row++)
            ;
        T_STR(s.row->name, "plain");
        wanted = scan_window(&s, text, 0, length, true, want, &used);
        for (s.row = family->rows; s.row->name && t_failures < 10; s.row++)
            if (s.row->needs <= cpu_level())
                check_row(&s, text, length, want, wanted, cuts);
    }
}

/* Memory that ends where a page begins that cannot be read. */
static uint8_t *guarded(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (bytes + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    T_CHECK(memory != MAP_FAILED && mprotect(memory + size, page, PROT_NONE) == 0);
    return memory + size - bytes;
}

static void check_random_texts(uint8_t *memory)
{
    int texts = (int)t_times(TEXTS);

    for (int i = 0; i < texts && t_failures < 10; i++) {
        const uint8_t *text;
        bool cuts = i % CUT == 0;
        size_t length = nasty_text(memory, &text, cuts ? 60 : 600, &state);

        check_text(text, length, cuts);
    }
}

/* Every code point, with others about it that make its class show. */
static void check_code_points(uint8_t *memory)
{
    static const char before[] = " \n1a'.A\t/", behind[] = "a 1.B\n";
    uint32_t step = getenv("LEAT_TEST_QUICK") ? 13 : 1;

    for (uint32_t c = 0; c < 0x110000 && t_failures < 10;) {
        size_t n = 0;

        for (; n + 16 < NASTY_MAX && c < 0x110000; c += c >= 0x30000 ? 97 * step : step) {
            if (c >= 0xd800 && c < 0xe000)
                continue;
            memory[n++] = (uint8_t)before[t_below(&state, sizeof before - 1)];
            n += nasty_put(memory + n, c);
            if (t_below(&state, 2))
                memory[n++] = (uint8_t)behind[t_below(&state, sizeof behind - 1)];
        }
        memmove(memory + NASTY_MAX - n, memory, n);
        check_text(memory + NASTY_MAX - n, n, false);
    }
}

int main(void)
{
    uint8_t *memory = guarded(NASTY_MAX);

    state = t_seed();
    check_random_texts(memory);
    check_code_points(memory);
    return t_end();
}
