/*
 * test_checksum.c: every row of the checksum kernels that this CPU has, against FORMAT.md's definitions written out
 * plainly (support/craft.c), at every length around page edges, in buffers that end or begin at a page that must not be
 * touched; and the published values of XXH3-128.
 */
#include <sys/mman.h>

#include "checksum/checksum.h"
#include "leat_read.h"
#include "support/cpu_limit.h"
#include "support/craft.h"
#include "t.h"

#define LONGEST (3 * CHECKSUM_PAGE + 64)

/* Room between two pages that fault. */
static uint8_t *room;
static size_t room_bytes;

static void make_room(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all;

    room_bytes = (LONGEST + page - 1) / page * page;
    all = mmap(NULL, room_bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) != 0 ||
        mprotect(all + page + room_bytes, page, PROT_NONE) != 0) {
        perror("guard pages");
        exit(1);
    }
    room = all + page;
}

static uint8_t *at_end(size_t count)
{
    return room + room_bytes - count;
}

static void fill(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(t_random(&seed) >> 56);
}

static struct hash128 plain_hash(const void *bytes, size_t count)
{
    uint8_t hash[16];

    craft_hash(hash, bytes, count);
    return checksum_load(hash);
}

static void check_hash(const struct checksum_kernels *k, const uint8_t *bytes, size_t count)
{
    struct leat_read_hash other;

    if (!checksum_equal(k->hash(bytes, count), plain_hash(bytes, count)))
        T_FAIL("%s: the hash of %zu bytes is wrong", k->name, count);
    other = leat_read_hash(bytes, count);
    if (!checksum_equal((struct hash128) { other.low, other.high }, plain_hash(bytes, count)))
        T_FAIL("leat_read.h: the hash of %zu bytes is wrong", count);
}

/* The sum over a string cut at a page, so that both halves and their page numbers count. */
static void check_pages(const struct checksum_kernels *k, const uint8_t *bytes, size_t count, uint64_t *random)
{
    size_t pages = (count + CHECKSUM_PAGE - 1) / CHECKSUM_PAGE, cut = pages ? t_below(random, pages) : 0;
    struct hash128 sum = { 0, 0 };
    uint32_t found[5] = { 0 };
    uint8_t want[16];

    craft_page_sum(want, bytes, count);
    found[pages] = 0xabcdef01;
    k->pages(&sum, bytes + cut * CHECKSUM_PAGE, count - cut * CHECKSUM_PAGE, cut, found + cut);
    k->pages(&sum, bytes, cut * CHECKSUM_PAGE, 0, found);
    if (!checksum_equal(sum, checksum_load(want)))
        T_FAIL("%s: the page sum of %zu bytes is wrong", k->name, count);
    for (size_t i = 0; i < pages; i++) {
        size_t left = count - i * CHECKSUM_PAGE;
        struct hash128 h = plain_hash(bytes + i * CHECKSUM_PAGE, left < CHECKSUM_PAGE ? left : CHECKSUM_PAGE);

        T_EQ(found[i], (uint32_t)h.low);
    }
    T_EQ(found[pages], 0xabcdef01); /* no hash more than there are pages */
    sum = (struct hash128) { 0, 0 };
    k->pages(&sum, bytes, count, 0, NULL);
    T_CHECK(checksum_equal(sum, checksum_load(want)));
}

static void check_max(const struct checksum_kernels *k, const uint8_t *bytes, size_t bytes_count)
{
    size_t n = bytes_count / 2;
    uint32_t want = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;

        want = id > want ? id : want;
    }
    T_EQ(k->max16(bytes, n), want);
    n = bytes_count / 4;
    want = 0;
    for (size_t i = 0; i < n; i++)
        want = craft_load32(bytes + 4 * i) > want ? craft_load32(bytes + 4 * i) : want;
    T_EQ(k->max32(bytes, n), want);
}

/* The greatest id at each place in turn, with one that is greater just outside on both sides. */
static void check_max_places(const struct checksum_kernels *k, size_t count)
{
    uint8_t *bytes = room + 4;

    for (size_t i = 0; i < count; i++) {
        memset(room, 0xff, 4 * count + 8);
        memset(bytes, 0, 4 * count);
        craft_store32(bytes + 4 * i, 0x80000001);
        T_EQ(k->max32(bytes, count), 0x80000001);
        T_EQ(k->max16(bytes, 2 * count), 0x8000);
    }
}

static int edge(size_t count)
{
    size_t rest = count % CHECKSUM_PAGE;

    return count < 600 || rest < 20 || rest > CHECKSUM_PAGE - 20 || count % 97 == 0;
}

static void check_row(const struct checksum_kernels *k, uint64_t *random)
{
    fprintf(stderr, "row %s\n", k->name);
    for (size_t count = 0; count <= LONGEST; count++) {
        fill(at_end(count), count, count);
        if (edge(count)) {
            check_hash(k, at_end(count), count);
            check_pages(k, at_end(count), count, random);
        }
        check_max(k, at_end(count), count);
        if (edge(count)) {
            fill(room, count, count + 1);
            check_hash(k, room, count);
            check_pages(k, room, count, random);
            check_max(k, room, count);
        }
    }
    for (size_t count = 1; count <= 300; count += 13)
        check_max_places(k, count);
}

/* The self-test of the xxHash project: XXH3-128, seed 0, of the first bytes of its test buffer. */
static void check_published(const struct checksum_kernels *k)
{
    static const struct {
        size_t count;
        uint64_t low, high;
    } published[] = {
        { 0, 0x6001C324468D497F, 0x99AA06D3014798D8 },    { 1, 0xC44BDFF4074EECDB, 0xA6CD5E9392000F6A },
        { 6, 0x3E7039BDDA43CFC6, 0x082AFE0B8162D12A },    { 12, 0x061A192713F69AD9, 0x6E3EFD8FC7802B18 },
        { 24, 0x1E7044D28B1B901D, 0x0CE966E4678D3761 },   { 48, 0xF942219AED80F67B, 0xA002AC4E5478227E },
        { 81, 0x5E8BAFB9F95FB803, 0x4952F58181AB0042 },   { 222, 0xF1AEBD597CEC6B3A, 0x337E09641B948717 },
        { 403, 0xCDEB804D65C6DEA4, 0x1B6DE21E332DD73D },  { 512, 0x617E49599013CB6B, 0x18D2D110DCC9BCA1 },
        { 2048, 0xDD59E2C3A5F038E0, 0xF736557FD47073A5 }, { 2240, 0x6E73A90539CF2948, 0xCCB134FBFA7CE49D },
        { 2367, 0xCB37AEB9E5D361ED, 0xE89C0F6FF369B427 },
    };
    uint8_t buffer[2367];
    uint64_t state = 2654435761u;

    for (size_t i = 0; i < sizeof buffer; i++) {
        buffer[i] = (uint8_t)(state >> 56);
        state *= 11400714785074694797u;
    }
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        struct hash128 h = k->hash(buffer, published[i].count);

        T_EQ(h.low, published[i].low);
        T_EQ(h.high, published[i].high);
    }
}

static void check_numbers(void)
{
    struct hash128 sum = { UINT64_MAX, UINT64_MAX }, h;
    uint8_t bytes[16];

    checksum_add(&sum, (struct hash128) { 1, 0 });
    T_CHECK(sum.low == 0 && sum.high == 0);
    checksum_add(&sum, (struct hash128) { UINT64_MAX, 5 });
    checksum_add(&sum, (struct hash128) { 2, 7 });
    T_CHECK(sum.low == 1 && sum.high == 13);
    checksum_store(bytes, (struct hash128) { 0x0706050403020100, 0x0f0e0d0c0b0a0908 });
    for (unsigned i = 0; i < 16; i++)
        T_EQ(bytes[i], i);
    h = checksum_load(bytes);
    T_CHECK(h.low == 0x0706050403020100 && h.high == 0x0f0e0d0c0b0a0908);
}

int main(void)
{
    const struct checksum_kernels *k, *last = NULL;
    uint64_t random = t_seed();
    int usable;

    make_room();
    check_numbers();
    for (unsigned i = 0; (k = checksum_row(i, &usable)); i++) {
        if (usable) {
            check_published(k);
            check_row(k, &random);
        } else {
            fprintf(stderr, "row %s: this CPU lacks it\n", k->name);
        }
        last = k;
    }
    T_STR(last->name, "plain"); /* it ends every search */
    cpu_limit(CPU_PLAIN);
    T_STR(checksum_kernels()->name, "plain");
    return t_end();
}
