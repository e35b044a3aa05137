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
    T_STATUS(id_list_append(&list, 1025, &t_err), LEAT_E_PRETOKEN);
    T_CONTAINS(t_err.message, "cannot be cut");
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

/* What once decided what is refused, as numbers only; the room grows to all that is needed near the bound. */
struct once {
    uint64_t unit, least, used, room; /* bytes of one; the others count such */
    bool doubles;
    struct bound *bound;
};

static bool once_reserve(struct once *o, uint64_t more)
{
    uint64_t room = o->room < o->least ? o->least : o->room;

    if (o->room - o->used >= more)
        return true;
    while (room < o->used + more)
        room += o->doubles ? room : room / 2;
    if (!bound_take(o->bound, room * o->unit)) {
        room = o->used + more;
        if (!bound_take(o->bound, room * o->unit))
            return false;
    }
    bound_give(o->bound, o->room * o->unit);
    o->room = room;
    return true;
}

/* Appended one at a time up to the bound, what is there already moves a few times only; as much fits as ever. */
static void test_growth_near_bound(uint64_t max)
{
    struct bound bound = { .max = max }, then = bound;
    struct id_list list = { .bound = &bound };
    struct buffer b = { .bound = &bound };
    struct once ids = { .unit = 4, .least = 1024, .bound = &then };
    struct once bytes = { .unit = 1, .least = 64, .doubles = true, .bound = &then };
    unsigned growths = 0;
    uint64_t before = 0;

    for (; id_list_append(&list, (uint32_t)list.count, &t_err) == LEAT_OK; before = list.allocated)
        growths += list.allocated != before;
    for (; once_reserve(&ids, 1); ids.used++)
        continue;
    T_EQ(list.count, ids.used);
    T_CHECK(growths < 20);
    for (uint32_t i = 0; i < list.count; i++)
        T_EQ(list.ids[i], i);
    id_list_free(&list);
    then = bound;

    growths = 0;
    for (before = 0; buffer_append(&b, "x", 1, &t_err) == LEAT_OK; before = b.allocated)
        growths += b.allocated != before;
    for (; once_reserve(&bytes, 1); bytes.used++)
        continue;
    T_EQ(b.size, bytes.used);
    T_CHECK(growths < 20);
    buffer_free(&b);
}

/* Gives the same to real and model; false if what is refused or counted differs. */
static bool both(struct once *o, struct buffer *b, struct id_list *list, uint64_t more)
{
    bool fits = once_reserve(o, more);
    enum leat_status s = list ? id_list_reserve(list, more, &t_err) : buffer_reserve(b, more, &t_err);
    const struct bound *bound = list ? list->bound : b->bound;

    T_CHECK((s == LEAT_OK) == fits && bound->held == o->bound->held);
    if ((s == LEAT_OK) != fits || bound->held != o->bound->held)
        return false;
    if (!fits)
        return true;
    o->used += more;
    if (list)
        memset(list->ids + list->count, 1, more * sizeof *list->ids);
    else
        memset(b->bytes + b->size, 1, more);
    *(list ? &list->count : &b->size) += more;
    return true;
}

/* Bytes and ids that share a bound, as an encoder's do, and are given back now and then. */
static uint64_t mixed(uint64_t *random)
{
    struct bound bound = { .max = 8192 + t_below(random, 30000) }, then = bound;
    struct buffer bytes[2] = { { .bound = &bound }, { .bound = &bound } };
    struct id_list list = { .bound = &bound };
    struct once ids = { .unit = 4, .least = 1024, .bound = &then }, once[2];
    uint64_t refused = 0;
    bool same = true;

    for (unsigned i = 0; i < 2; i++)
        once[i] = (struct once) { .unit = 1, .least = 64, .doubles = true, .bound = &then };
    for (unsigned i = 0; same && i < 2000; i++) {
        uint64_t of = t_below(random, 3), more = t_below(random, 8) ? 1 + t_below(random, 9) : 900;
        uint64_t before = bound.held;

        same = of == 2 ? both(&ids, NULL, &list, more) : both(&once[of], &bytes[of], NULL, more);
        refused += bound.held == before && of < 2 && bytes[of].room - bytes[of].size < more;
        if (of < 2 && t_below(random, 200) == 0) {
            buffer_free(&bytes[of]);
            bound_give(&then, once[of].room);
            once[of].used = once[of].room = 0;
        }
    }
    buffer_free(&bytes[0]);
    buffer_free(&bytes[1]);
    id_list_free(&list);
    T_EQ(bound.held, 0);
    return refused;
}

static void test_refusals(void)
{
    uint64_t random = t_seed(), refused = 0;

    for (unsigned turn = 0; turn < 200; turn++)
        refused += mixed(&random);
    T_CHECK(refused > 1000);
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
    test_refusals();
    test_trim();
    return t_end();
}
