/* test_grow.c: an array that grows keeps its items, doubles, and stays as it was where memory is refused. */
#include "base/grow.h"
#include "t.h"

struct item {
    uint64_t number;
    char more[40];
};

static void test_items(void)
{
    struct item *items = NULL;
    size_t room = 0, moves = 0;
    struct leat_error err;

    for (uint64_t i = 0; i < 10000; i++) {
        size_t before = room;

        T_EQ(GROW(items, i + 1, room, &err), LEAT_OK);
        T_CHECK(room > i);
        T_CHECK(room == before || room >= 2 * before);
        moves += room != before;
        items[i].number = 3 * i;
    }
    T_CHECK(moves <= 14);
    for (uint64_t i = 0; i < 10000; i++)
        T_EQ(items[i].number, 3 * i);
    T_EQ(GROW(items, 100000, room, NULL), LEAT_OK);
    T_CHECK(room >= 100000);
    T_EQ(items[9999].number, 29997);
    free(items);
}

static void test_refused(void)
{
    static const uint64_t counts[] = { UINT64_MAX, UINT64_MAX / sizeof(struct item),
                                       UINT64_MAX / sizeof(struct item) + 2, (UINT64_C(1) << 62) };
    struct item *items = NULL, *before;
    size_t room = 0, room_before;
    struct leat_error err;

    T_EQ(GROW(items, 3, room, &err), LEAT_OK);
    items[2].number = 7;
    before = items;
    room_before = room;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        T_EQ(GROW(items, counts[i], room, &err), LEAT_E_NO_MEMORY);
        T_EQ(err.status, LEAT_E_NO_MEMORY);
        T_EQ(GROW(items, counts[i], room, NULL), LEAT_E_NO_MEMORY);
        T_CHECK(items == before);
        T_EQ(room, room_before);
    }
    T_EQ(items[2].number, 7);
    free(items);
}

int main(void)
{
    test_items();
    test_refused();
    return t_end();
}
