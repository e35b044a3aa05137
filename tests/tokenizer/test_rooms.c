/*
 * test_rooms.c: how the rooms of bytes and of ids grow and shrink: near the bound they take what is needed and no more,
 * what does not fit is refused and leaves all as it was, and a large room that is hardly in use is given back.
 */
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
    T_STATUS(id_list_append(&list, 1025, &t_err), LEAT_E_PIECE);
    T_CONTAINS(t_err.message, "cannot be cut");
    T_EQ(list.count, 1025);
    for (uint32_t i = 0; i < 1025; i++)
        T_EQ(list.ids[i], i);
    id_list_free(&list);
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
    test_trim();
    return t_end();
}
