/* test_bytes.c: loads and stores at every alignment, and sums, products and ranges at the edges of 64 bits. */
#include "base/bytes.h"
#include "t.h"

static void check_loads(void)
{
    uint8_t bytes[32];

    for (unsigned at = 0; at < 9; at++) {
        memset(bytes, 0xee, sizeof bytes);
        for (unsigned i = 0; i < 8; i++)
            bytes[at + i] = (uint8_t)(0x81 + i);
        T_EQ(bytes_load16(bytes + at), 0x8281);
        T_EQ(bytes_load32(bytes + at), 0x84838281);
        T_EQ(bytes_load64(bytes + at), 0x8887868584838281);
        bytes_store32(bytes + at + 8, 0x84838281);
        T_CHECK(memcmp(bytes + at, bytes + at + 8, 4) == 0 && bytes[at + 12] == 0xee);
        bytes_store64(bytes + at + 8, 0x8887868584838281);
        T_CHECK(memcmp(bytes + at, bytes + at + 8, 8) == 0 && bytes[at + 16] == 0xee);
    }
    T_EQ(bytes_swap16(0x0102), 0x0201);
    T_EQ(bytes_swap32(0x01020304), 0x04030201);
    T_EQ(bytes_swap64(0x0102030405060708), 0x0807060504030201);
    T_EQ(bytes_le64(bytes_le64(0x1122334455667788)), 0x1122334455667788);
    T_EQ(bytes_le32(bytes_le32(0x11223344)), 0x11223344);
    T_EQ(bytes_le16(bytes_le16(0x1122)), 0x1122);
    memcpy(bytes, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
    {
        uint64_t raw;

        memcpy(&raw, bytes, 8);
        T_EQ(bytes_le64(raw), 0x1122334455667788);
    }
}

static void check_sums(void)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      3,
                                      0xffffffff,
                                      0x100000000,
                                      0x100000001,
                                      (uint64_t)1 << 62,
                                      (uint64_t)1 << 63,
                                      ((uint64_t)1 << 63) + 1,
                                      UINT64_MAX - 1,
                                      UINT64_MAX };
    enum { COUNT = sizeof edges / sizeof edges[0] };

    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++) {
            uint64_t a = edges[i], b = edges[j], r;
            unsigned __int128 sum = (unsigned __int128)a + b, product = (unsigned __int128)a * b;

            T_EQ(bytes_add(a, b, &r), sum <= UINT64_MAX);
            T_EQ(r, (uint64_t)sum);
            T_EQ(bytes_multiply(a, b, &r), product <= UINT64_MAX);
            T_EQ(r, (uint64_t)product);
            if (b > 0)
                T_EQ(bytes_divide_up(a, b), (uint64_t)(((unsigned __int128)a + b - 1) / b));
            for (unsigned k = 0; k < COUNT; k++)
                T_EQ(bytes_inside(a, b, edges[k]), sum <= edges[k]);
        }
}

static void check_zero(void)
{
    uint8_t bytes[100] = { 0 };

    T_CHECK(bytes_all_zero(bytes, 100));
    T_CHECK(bytes_all_zero(bytes, 0));
    for (unsigned i = 0; i < 100; i++) {
        bytes[i] = (uint8_t)(1u << i % 8);
        T_CHECK(!bytes_all_zero(bytes, 100));
        T_CHECK(bytes_all_zero(bytes, i));
        T_CHECK(!bytes_all_zero(bytes + i, 1));
        bytes[i] = 0;
    }
}

int main(void)
{
    check_loads();
    check_sums();
    check_zero();
    return t_end();
}
