/*
 * test_rooms.c: how the rooms of bytes and of ids grow and shrink: near the bound they count what is needed and no
 * more, what does not fit is refused and leaves all as it was, and a large room that is hardly in use is given back.
 *
 * Near the bound each byte that was appended moved all before it: the allocation grew by exactly what was needed. A
 * list that had room for one id only, since the bound left no more, looked for ever for room for two.
 */
#include <stdbool.h>

#include "t.h"

#include "base/buffer.h"
#include "tokenizer/containers/id_list.h"

/* From 1024 ids on: half as many more would be over the bound, one more is not; then not even one. */
static void test_ids_near_bound(void)
{
    struct bound bound = { .max = 4 * (1024 + 1025) };
    struct id_list list = { .bound = &bound };

    for (uint32_t i = 0; i < 1025; i++)
        T_OK(id_list_append(&list, i, &t_err));
    T_EQ(list.room, 1025);
    T_EQ(bound.held, 4 * 1025);
    T_REFUSED(id_list_append(&list, 1025, &t_err), LEAT_E_PRETOKEN, "cannot be cut");
    T_EQ(list.count, 1025);
    for (uint32_t i = 0; i < 1025; i++)
        T_EQ(list.ids[i], i);
    id_list_free(&list);
    T_EQ(bound.held, 0);
}

/* One id at a time, each in a list that has no room for more. */
static void test_ids_under_bound(void)
{
    struct bound bound = { .max = 4 * (2 + 3) };
    struct id_list list = { .bound = &bound };

    for (uint32_t i = 0; i < 3; i++) {
        T_OK(id_list_append(&list, i, &t_err));
        T_EQ(list.room, i + 1);
        T_EQ(bound.held, 4 * (i + 1));
    }
    T_STATUS(id_list_append(&list, 3, &t_err), LEAT_E_PRETOKEN);
    T_EQ(list.count, 3);
    T_EQ(list.ids[2], 2);
    id_list_free(&list);
    T_EQ(bound.held, 0);
}

/* Appended one at a time up to the bound, what is there already moves a few times only. */
static void test_growth_near_bound(uint64_t max)
{
    struct bound bound = { .max = max };
    struct id_list list = { .bound = &bound };
    struct buffer b = { .bound = &bound };
    unsigned growths = 0;
    uint64_t before = 0;

    for (; id_list_append(&list, (uint32_t)list.count, &t_err) == LEAT_OK; before = list.allocated)
        growths += list.allocated != before;
    T_CHECK(growths < 20 && list.count >= max / 8);
    for (uint32_t i = 0; i < list.count; i++)
        T_EQ(list.ids[i], i);
    id_list_free(&list);
    growths = 0;
    for (before = 0; buffer_append(&b, "x", 1, &t_err) == LEAT_OK; before = b.allocated)
        growths += b.allocated != before;
    T_CHECK(growths < 20 && b.size >= max / 2);
    buffer_free(&b);
    T_EQ(bound.held, 0);
}

/* Not below a megabyte, and not while more than a quarter is in use. */
static void test_trim(void)
{
    static uint8_t bytes[(1 << 20) + 1];
    struct bound bound = { .max = 1 << 26 };
    struct buffer b = { .bound = &bound };

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    T_OK(buffer_append(&b, bytes, 1 << 20, &t_err));
    b.size = 10;
    buffer_trim(&b);
    T_EQ(b.room, 1 << 20);
    T_OK(buffer_append(&b, bytes + 10, sizeof bytes - 10, &t_err));
    T_CHECK(b.room > 1 << 20 && bound.held == b.room);
    buffer_trim(&b);
    T_CHECK(b.room > 1 << 20);
    b.size = 1000;
    buffer_trim(&b);
    T_CHECK(b.room == 1000 && b.size == 1000 && bound.held == 1000);
    T_CHECK(memcmp(b.bytes, bytes, 1000) == 0);
    T_OK(buffer_append(&b, bytes + 1000, sizeof bytes - 1000, &t_err));
    T_CHECK(memcmp(b.bytes, bytes, sizeof bytes) == 0);
    b.size = 0;
    buffer_trim(&b);
    T_CHECK(b.room == 0 && bound.held == 0);
    buffer_free(&b);
}

int main(void)
{
    test_ids_near_bound();
    test_ids_under_bound();
    for (uint64_t max = 1 << 20; max < 2 << 20; max += 150000)
        test_growth_near_bound(max);
    test_trim();
    return t_end();
}
