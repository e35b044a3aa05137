/*
 * test_options_read.c: a caller's struct from an older or a newer header is read and filled as base/options.h says:
 * what it lacks has its default, what it has beyond this library must be 0, and nothing beyond its size is written.
 * The library's version is that of its header.
 */
#include "base/options.h"

#include <string.h>

#include "t.h"

struct now {
    size_t size;
    uint64_t a, b;
    uint32_t c, reserved;
};
#define NOW_INIT                                                                                                       \
    {                                                                                                                  \
        sizeof(struct now), 1, 2, 3, 0                                                                                 \
    }

/* The same when only `a` was there, and with a field that this library does not know. */
struct before {
    size_t size;
    uint64_t a;
};
struct later {
    struct now now;
    uint64_t d;
};

static enum leat_status read_it(struct now *all, const void *given)
{
    *all = (struct now)NOW_INIT;
    return options_read(all, sizeof *all, &all->reserved, given, "now", &t_err);
}

static void check_read(void)
{
    struct now all, same = { sizeof same, 7, 8, 9, 0 };
    struct before old = { sizeof old, 7 };
    struct later later = { { sizeof later, 7, 8, 9, 0 }, 0 };

    T_OK(read_it(&all, NULL));
    T_CHECK(all.size == sizeof all && all.a == 1 && all.b == 2 && all.c == 3);
    T_OK(read_it(&all, &same));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 8 && all.c == 9);
    T_OK(read_it(&all, &old));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 2 && all.c == 3);
    T_OK(read_it(&all, &later));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 8 && all.c == 9);
    later.d = (uint64_t)1 << 56; /* its last byte alone */
    T_STATUS(read_it(&all, &later), LEAT_E_UNSUPPORTED);
    T_CONTAINS(t_err.message, "struct now");
    same.reserved = 1;
    T_STATUS(read_it(&all, &same), LEAT_E_UNSUPPORTED);
}

static void check_sizes(void)
{
    static const size_t wrong[] = { 0, 1, sizeof(size_t) - 1, 4097, (size_t)-1 };
    struct now all, same = NOW_INIT;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        same.size = wrong[i];
        T_STATUS(read_it(&all, &same), LEAT_E_ARGUMENT);
    }
    same.size = sizeof(size_t); /* nothing but the size */
    T_OK(read_it(&all, &same));
    T_CHECK(all.a == 1 && all.b == 2 && all.c == 3);
}

static void check_fill(void)
{
    struct now full = { 99, 1, 2, 3, 0 };
    struct {
        struct before one;
        uint64_t after;
    } old = { { sizeof(struct before), 7 }, 8 };
    struct now same = { sizeof same, 7, 7, 7, 0 };
    struct later later = { { sizeof later, 7, 7, 7, 7 }, 7 };

    options_fill(&old.one, &full, sizeof full);
    T_CHECK(old.one.size == sizeof(struct before) && old.one.a == 1 && old.after == 8);
    options_fill(&same, &full, sizeof full);
    T_CHECK(same.size == sizeof same && same.a == 1 && same.b == 2 && same.c == 3);
    options_fill(&later, &full, sizeof full);
    T_CHECK(later.now.size == sizeof later && later.now.a == 1 && later.now.c == 3 && later.d == 7);
    same = (struct now) { 0, 7, 7, 7, 7 }; /* a size that was never set */
    options_fill(&same, &full, sizeof full);
    T_CHECK(same.size == 0 && same.a == 7 && same.c == 7);
}

static void check_library(void)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    char version[40];

    o.size = 1;
    T_STATUS(leat_dataset_verify(NULL, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "leat_verify_options");
    T_EQ(leat_version_number(), LEAT_VERSION_NUMBER);
    T_STR(leat_version(), LEAT_VERSION);
    snprintf(version, sizeof version, "%u.%u.%u", leat_version_number() / 1000000, leat_version_number() / 1000 % 1000,
             leat_version_number() % 1000);
    T_STR(version, LEAT_VERSION);
}

int main(void)
{
    check_library();
    check_read();
    check_sizes();
    check_fill();
    return t_end();
}
