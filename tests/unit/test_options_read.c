/*
 * test_options_read.c: a caller's struct from an older or a newer header is read and filled as base/options.h says:
 * what it lacks has its default, what it has beyond this library must be 0, and nothing beyond its size is written. A
 * struct that no _INIT macro began is refused by each call that takes one, by its name (those of packing are in
 * tests/pack). The library's version is that of its header.
 */
#include "base/options.h"

#include "leat_pack.h"
#include "private.h"
#include "support/fake_dataset.h"
#include "t.h"

struct now {
    size_t size;
    uint64_t a, b;
    uint32_t c, reserved;
    struct {
        uint64_t e, reserved[2];
    } inside;
};
#define NOW_INIT                                                                                                       \
    {                                                                                                                  \
        sizeof(struct now), 1, 2, 3, 0,                                                                                \
        {                                                                                                              \
            4,                                                                                                         \
            {                                                                                                          \
                0, 0                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
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
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(now, reserved),
                                                        OPTIONS_RESERVED(now, inside.reserved),
                                                        { 0, 0 } };

    *all = (struct now)NOW_INIT;
    return options_read(all, sizeof *all, reserved, given, "now", &t_err);
}

static void check_read(void)
{
    struct now all, same = { sizeof same, 7, 8, 9, 0, { 10, { 0, 0 } } };
    struct before old = { sizeof old, 7 };
    struct later later = { { sizeof later, 7, 8, 9, 0, { 10, { 0, 0 } } }, 0 };

    T_OK(read_it(&all, NULL));
    T_CHECK(all.size == sizeof all && all.a == 1 && all.b == 2 && all.c == 3);
    T_OK(read_it(&all, &same));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 8 && all.c == 9);
    T_OK(read_it(&all, &old));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 2 && all.c == 3);
    T_OK(read_it(&all, &later));
    T_CHECK(all.size == sizeof all && all.a == 7 && all.b == 8 && all.c == 9);
    later.d = (uint64_t)1 << 56; /* its last byte alone */
    T_REFUSED(read_it(&all, &later), LEAT_E_UNSUPPORTED, "struct now");
    same.reserved = 1;
    T_STATUS(read_it(&all, &same), LEAT_E_UNSUPPORTED);
    same.reserved = 0;
    same.inside.reserved[1] = (uint64_t)1 << 63; /* the last one's last byte alone */
    T_STATUS(read_it(&all, &same), LEAT_E_UNSUPPORTED);
    same.inside.reserved[1] = 0;
    T_OK(read_it(&all, &same));
    T_EQ(all.inside.e, 10);
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
    struct now full = { 99, 1, 2, 3, 0, { 4, { 0, 0 } } };
    struct {
        struct before one;
        uint64_t after;
    } old = { { sizeof(struct before), 7 }, 8 };
    struct now same = { sizeof same, 7, 7, 7, 0, { 7, { 7, 7 } } };
    struct later later = { { sizeof later, 7, 7, 7, 7, { 7, { 7, 7 } } }, 7 };

    options_fill(&old.one, &full, sizeof full);
    T_CHECK(old.one.size == sizeof(struct before) && old.one.a == 1 && old.after == 8);
    options_fill(&same, &full, sizeof full);
    T_CHECK(same.size == sizeof same && same.a == 1 && same.b == 2 && same.c == 3);
    options_fill(&later, &full, sizeof full);
    T_CHECK(later.now.size == sizeof later && later.now.a == 1 && later.now.c == 3 && later.d == 7);
    same = (struct now) { 0, 7, 7, 7, 7, { 7, { 7, 7 } } }; /* a size that was never set */
    options_fill(&same, &full, sizeof full);
    T_CHECK(same.size == 0 && same.a == 7 && same.c == 7);
}

/* ---- Each call ---- */

#define REFUSED(what, call)                                                                                            \
    do {                                                                                                               \
        t_err.message[0] = '\0';                                                                                       \
        T_STATUS(call, LEAT_E_ARGUMENT);                                                                               \
        T_CONTAINS(t_err.message, "struct " what " has no size: begin it with its _INIT macro");                       \
    } while (0)

static const char *const name = "no such file";
static uint64_t zeros[512];
static void *const none = zeros;

static void check_plans(void)
{
    struct leat_dataset *d = fake_dataset((uint64_t[]) { 1000 }, 1), *list;
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    struct leat_column_writer *column;
    struct leat_loader *loader;
    struct leat_plan *plan;

    REFUSED("leat_open_options", leat_dataset_open_list(&list, &name, 1, none, &t_err));
    REFUSED("leat_verify_options", leat_dataset_verify(d, none, NULL, &t_err));
    REFUSED("leat_fit_options", leat_dataset_fit(d, none, &t_err));
    REFUSED("leat_column_options", leat_column_writer_open(&column, d, none, &t_err));
    REFUSED("leat_plan_options", leat_plan_open(&plan, none, &t_err));
    o.seq_len = 10;
    o.sources = none;
    o.source_count = 1;
    REFUSED("leat_plan_source", leat_plan_open(&plan, &o, &t_err));
    source.name = "fake";
    source.dataset = d;
    o.sources = &source;
    o.phases = none;
    o.phase_count = 1;
    REFUSED("leat_plan_phase", leat_plan_open(&plan, &o, &t_err));
    o.phase_count = 0;
    o.fit.reserved[2] = 1;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_UNSUPPORTED);
    o.fit.reserved[2] = 0;
    o.fit.whole = 2;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    o.fit.whole = 0;
    o.megatron.reserved[0] = 1;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_UNSUPPORTED);
    o.megatron.reserved[0] = 0;
    o.documents.reserved[3] = 1;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_UNSUPPORTED);
    o.documents.reserved[3] = 0;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    REFUSED("leat_trace", leat_plan_trace(plan, none, NULL, NULL, &t_err));
    REFUSED("leat_plan_state", leat_plan_state_save(plan, none, text, &t_err));
    REFUSED("leat_loader_options", leat_loader_open(&loader, plan, none, &t_err));
    for (int i = 0; i < 7; i++) {
        struct leat_loader_options l = LEAT_LOADER_OPTIONS_INIT;

        l.batch = 1;
        l.ranks.reserved[0] = i == 1;
        l.io.reserved[2] = i == 2;
        l.device.reserved[3] = i == 3;
        l.outputs.reserved[3] = i == 4;
        l.slice.reserved_flags = i == 5;
        l.slice.reserved[1] = i == 6;
        l.ranks.reserved_flags = i == 0;
        T_STATUS(leat_loader_open(&loader, plan, &l, &t_err), LEAT_E_UNSUPPORTED);
    }
    leat_plan_close(plan);
    fake_dataset_free(d);
}

static void check_writer(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    const char *path = t_path(t_folder(), "data");
    struct leat_writer *w;
    struct leat_place place;

    REFUSED("leat_writer_options", leat_writer_open(&w, path, none, &t_err));
    o.vocabulary = 10;
    T_OK(leat_writer_open(&w, path, &o, &t_err));
    T_OK(leat_writer_add_input(w, "in", NULL, &t_err));
    REFUSED("leat_input", leat_writer_set_input(w, 0, none, &t_err));
    REFUSED("leat_documents", leat_writer_place(w, none, &place, &t_err));
    REFUSED("leat_documents", leat_writer_put(w, none, &place, &t_err));
    leat_writer_abandon(w);
}

static void check_files(void)
{
    REFUSED("leat_adopt_options", leat_adopt(name, none, NULL, &t_err));
    REFUSED("leat_pull_options", leat_pull(name, name, none, NULL, &t_err));
    REFUSED("leat_push_options", leat_push(name, name, none, NULL, &t_err));
    REFUSED("leat_merge_options", leat_merge(name, &name, 1, none, NULL, &t_err));
    REFUSED("leat_merge_report", leat_merge(name, &name, 1, NULL, none, &t_err));
}

/* What has a size, and asks for what there is not. */
static void check_values(void)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    o.online = 2;
    T_REFUSED(leat_dataset_open_list(&d, &name, 1, &o, &t_err), LEAT_E_ARGUMENT, "online must be 0 or 1, not 2");
    T_STATUS(leat_adopt(NULL, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STR(t_err.message, "leat_adopt: missing name");
}

/* ---- The version ---- */

static void check_version(void)
{
    T_EQ(leat_version_number(), LEAT_VERSION_NUMBER);
    T_STR(leat_version(), LEAT_VERSION);
    T_STR(t_text("%u.%u.%u", leat_version_number() / 1000000, leat_version_number() / 1000 % 1000,
                 leat_version_number() % 1000),
          LEAT_VERSION);
}

int main(void)
{
    check_version();
    check_read();
    check_sizes();
    check_fill();
    check_plans();
    check_writer();
    check_files();
    check_values();
    return t_end();
}
