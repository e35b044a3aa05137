/*
 * test_char_cuts.c: cutting a batch's text, at every CPU level, against asking of each place whether it is safe. Which
 * pairs of characters are is drawn at random, so that one that is read wrongly is seen. Texts of all lengths around
 * those that are gone through at once, and of several stretches, of characters of one to four bytes, after and before
 * memory that cannot be read; pretokens short and long, fixed or not; and which parts of them may be orphans.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "t.h"
#include "tokenizer/bpe/pretoken_batch.h"

#define LONGEST 10000

static uint64_t random_state;
static uint8_t *page; /* of a few pages; those around them cannot be read */
static size_t page_bytes;
static struct char_cuts cuts[2]; /* the second of tokens that hold whole characters only */
static struct orphans orphans;
static struct pretoken_batch batch;

static size_t below(size_t n)
{
    return (size_t)t_below(&random_state, n);
}

static void make_page(void)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    page_bytes *= LONGEST / page_bytes + 1;
    page = mmap(NULL, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T_CHECK(page != MAP_FAILED);
    page += page_bytes;
    T_CHECK(mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0);
}

/* Half of all pairs may be cut, and of those that a token holds a part of most. */
static void make_cuts(struct char_cuts *c, bool partial)
{
    T_OK(char_cuts_begin(c, &t_err));
    for (size_t i = 0; i < (size_t)1 << (32 - c->shift); i++)
        c->pairs[i] = t_below(&random_state, (uint64_t)1 << 32) << 32 | t_below(&random_state, (uint64_t)1 << 32);
    for (size_t i = 0; partial && i < 256; i++)
        c->partial[i] = (uint64_t)1 << below(64) | (uint64_t)1 << below(64);
    c->has_partial = partial;
}

static size_t make_text(uint8_t *text, size_t max, size_t foreign)
{
    static const uint32_t begins[] = { 0x80, 0x400, 0x4e00, 0x1f300 };
    size_t bytes = 0;

    for (;;) {
        uint8_t c[4];
        uint32_t code = below(foreign) ? 0x20 + (uint32_t)below(95) : begins[below(4)] + (uint32_t)below(200);
        size_t length = utf8_encode(c, code);

        if (bytes + length > max)
            return bytes;
        memcpy(text + bytes, c, length);
        bytes += length;
    }
}

/* Where pretokens end, some of them fixed; the last may end behind the text. Returns how many there are. */
static uint32_t make_ends(const uint8_t *text, size_t bytes, uint32_t base, uint32_t *ends)
{
    uint32_t count = 0, rare = 2 + (uint32_t)below(20), fixed = 1 + (uint32_t)below(8);

    for (uint32_t at = 1; at < bytes; at++)
        if ((text[at] & 0xc0) != 0x80 && below(rare) == 0)
            ends[count++] = base + at;
    ends[count++] = base + (uint32_t)(bytes + (below(3) ? 0 : below(50)));
    for (uint32_t i = 0; i < count; i++)
        ends[i] |= below(fixed) ? 0 : MODEL_FIXED;
    return count;
}

/* Whether text[at] is to be cut before, in a pretoken from `begin` to `end`. `before`: where the character before
 * begins. */
static bool is_cut(const struct char_cuts *c, const uint8_t *text, uint32_t before, uint32_t at, uint32_t begin,
                   uint32_t end)
{
    unsigned length = char_cuts_length(text[at]);

    return c && text[at] >= 0xc0 && !(end & MODEL_FIXED) && (!c->long_only || end - begin > CHAR_CUTS_MIN) &&
           char_cuts_safe(c, char_cuts_load(text + before, at - before, at - before), text[at - 1],
                          char_cuts_load(text + at, length, length));
}

/* Whether what was cut off, and only that, is told from the orphans. `whole`: which begin where a pretoken does. */
static void compare_parts(const struct pretoken_kernels *k, const struct orphans *o, const uint8_t *whole)
{
    for (uint32_t i = 0; i < batch.count; i++) {
        const uint8_t *text = batch.text + batch.begins[i];
        bool want = o && !(whole[i] && whole[i + 1]) && orphan_maybe(o, text, batch.begins[i + 1] - batch.begins[i]);

        if (batch.parts[i] != want)
            T_FAIL("%s: pretoken %" PRIu32 " of %" PRIu32 ": %u", k->name, i, batch.count, batch.parts[i]);
    }
}

/* The text as one that a batch is filled with. */
static void compare(const struct pretoken_kernels *k, const struct char_cuts *c, const uint8_t *text, size_t bytes,
                    size_t room)
{
    uint32_t ends[LONGEST + 1], base = (uint32_t)below(1000), count = make_ends(text, bytes, base, ends), want = 0;
    uint32_t next = 0, fixed = 0, begin = 0;
    uint8_t whole[LONGEST + 1] = { 1 };
    const struct pretoken_cut all = { .cuts = c,
                                      .orphans = below(2) ? &orphans : NULL,
                                      .text = text,
                                      .bytes = (uint32_t)bytes,
                                      .room = room,
                                      .ends = ends,
                                      .last = ends + count,
                                      .base = base };

    batch.text = text;
    T_CHECK(k->cut(&all, &batch) == ends + count - 1);
    T_EQ(batch.begins[0], 0);
    for (uint32_t at = 1, before = 0; at <= bytes; at++) {
        uint32_t end = ends[next] - base;
        bool here = (end & ~MODEL_FIXED) == at;

        if (at < bytes && (text[at] & 0xc0) == 0x80)
            continue;
        if (here && end & MODEL_FIXED && (fixed >= batch.fixed_count || batch.fixed[fixed++] != want))
            T_FAIL("%s: pretoken %" PRIu32 " is fixed", k->name, want);
        if ((here || at == bytes || is_cut(c, text, before, at, begin, end)) && batch.begins[++want] != at) {
            T_FAIL("%s: of %zu bytes (%zu) a pretoken begins at %" PRIu32 ", not at %" PRIu32, k->name, bytes, room,
                   batch.begins[want], at);
            return;
        }
        if (batch.begins[want] == at)
            whole[want] = here || at == bytes;
        next += here && at < bytes;
        begin = here ? at : begin;
        before = at;
    }
    T_EQ(batch.count, want);
    T_EQ(batch.fixed_count, fixed);
    compare_parts(k, all.orphans, whole);
}

static void random_text(const struct pretoken_kernels *k)
{
    uint8_t text[LONGEST];
    size_t bytes = make_text(text, 1 + below(below(2) ? 200 : below(8) ? 600 : LONGEST), 1 + below(below(4) ? 6 : 40));
    size_t used = bytes, shown;
    struct char_cuts *c = &cuts[below(2)];

    if (bytes == 0)
        return;
    for (size_t back = below(2) ? below(100) : 0; back > 0 && used > 1; back--) /* more can be read */
        do
            used--;
        while (used > 1 && (text[used] & 0xc0) == 0x80);
    c->long_only = below(2);
    c = below(5) ? c : NULL;
    shown = bytes;
    memcpy(page, text, bytes);
    compare(k, c, page, used, shown);
    memcpy(page + page_bytes - bytes, text, bytes);
    compare(k, c, page + page_bytes - bytes, used, shown);
}

int main(void)
{
    const struct pretoken_kernels *k;
    int usable;

    random_state = t_seed();
    make_page();
    make_cuts(&cuts[0], true);
    make_cuts(&cuts[1], false);
    for (size_t i = 0; i < sizeof orphans.maybe / sizeof orphans.maybe[0]; i++)
        orphans.maybe[i] = (uint32_t)t_below(&random_state, (uint64_t)1 << 32);
    for (unsigned number = 0; (k = pretoken_kernels_row(number, &usable)) != NULL; number++)
        for (int i = 0; usable && i < (int)t_times(20000) && t_failures == 0; i++)
            random_text(k);
    char_cuts_free(&cuts[0]);
    char_cuts_free(&cuts[1]);
    return t_end();
}
