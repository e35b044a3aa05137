/*
 * test_arranged.c: leat_merge() with every mix of dedup, splits and shuffle gives byte by byte what the plain second
 * implementation of tests/support/arranged.c gives, on random datasets, with any bound on memory and any number of
 * threads; progress goes on all the time, and to the end.
 */
#include "base/tiny.h"
#include "one_document.h"
#include "support/arranged.h"
#include "support/files.h"

/* Of what batches, runs and blocks of a few documents go through (test_arranged_tiny), less is enough to cross them as
 * often: there three documents are a batch, four runs are merged to one, and an id of more than 16 bytes is long. */
#define SOME    TINY_OR(250u, 900u)
#define MANY    TINY_OR(2000u, 12000u)
#define LONG_ID TINY_OR(5000u, 100000u)

static const char *folder;
static char long_id[LONG_ID];

/* ---- Random datasets ---- */

struct shape {
    uint64_t vocabulary, end, begin, longest, documents;
    int hashes; /* of texts that come again, and some that are not known */
    int unknown;
};

static void write_random(const char *name, const struct shape *shape, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    uint64_t inputs = 1 + t_below(random, 3);
    uint32_t *ids = malloc((shape->longest + 1) * sizeof *ids);
    struct leat_writer *w;

    o.vocabulary = shape->vocabulary;
    o.end_token = shape->end;
    o.begin_token = shape->begin;
    o.store_lines = t_below(random, 2) > 0;
    o.store_ids = t_below(random, 2) > 0;
    o.store_hashes = shape->hashes;
    o.force = 1;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    for (uint64_t i = 0; i < inputs; i++)
        T_OK(leat_writer_add_input(w, i % 2 ? "b" : "a", NULL, &t_err));
    for (uint64_t i = 0; i < shape->documents; i++) {
        uint64_t max = 1 + (t_below(random, 20) && shape->longest > 20 ? 20 : shape->longest);
        uint64_t count = t_below(random, max), which, same;
        struct leat_origin origin = { .offset = t_below(random, 1000), .line = i, .id = "some identifier or other" };
        uint8_t hash[16];

        origin.input = t_below(random, inputs + 1);
        origin.input = origin.input == inputs ? LEAT_NONE : origin.input;
        origin.id_bytes = t_below(random, 24);
        if (t_below(random, 200) == 0) {
            origin.id = long_id;
            origin.id_bytes = t_below(random, LONG_ID);
        }
        which = 1 + t_below(random, shape->documents + shape->documents / 2 + 1);
        memset(hash, 0, sizeof hash);
        for (unsigned k = 0; k < 8; k++) { /* one in ten has a low half of its own only */
            hash[k] = (uint8_t)(which >> 8 * k);
            hash[8 + k] = (uint8_t)((which - which % 10) * 0x9e3779b97f4a7c15u >> 8 * k);
        }
        origin.text_hash = shape->unknown && t_below(random, 10) == 0 ? NULL : hash;
        same = which * 7 + 1;
        if (t_below(random, 10)) /* documents with one hash have the same tokens, but some have not */
            count = t_below(&same, shape->longest < 20 ? shape->longest + 1 : 20);
        for (uint64_t k = 0; k < count; k++)
            ids[k] = (uint32_t)t_below(t_below(random, 1000) ? &same : random, shape->vocabulary);
        T_OK(add_one_document(w, ids, 4, NULL, count, t_below(random, 10) || !shape->unknown ? &origin : NULL, &t_err));
    }
    T_OK(leat_writer_set_metadata(w, "about", "random", &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    free(ids);
}

/* ---- One way to arrange ---- */

static const struct leat_split splits[] = { { "valid", "0.0500" },
                                            { "test", ".3" },
                                            { "tiny-1", "0.000000000000000001" } };
#define SPLITS     3u
#define SPLITS_ARE "valid=0.05,test=0.3,tiny-1=0.000000000000000001"

struct way {
    int dedup, shuffle;
    size_t splits;
    uint64_t seed;
};

/* The metadata that output `which` must have. */
static void pairs_of(const struct way *way, size_t which, const char *pairs[12])
{
    static char seed[24];
    size_t n = 0;

    pairs[n++] = "about";
    pairs[n++] = "random";
    snprintf(seed, sizeof seed, "%" PRIu64, way->seed);
    if (way->shuffle) {
        pairs[n++] = "leat.shuffle";
        pairs[n++] = seed;
    }
    if (way->dedup) {
        pairs[n++] = "leat.dedup";
        pairs[n++] = "1";
    }
    if (way->splits) {
        pairs[n++] = "leat.splits";
        pairs[n++] = SPLITS_ARE;
    }
    if (way->splits && which < way->splits) {
        pairs[n++] = "leat.split";
        pairs[n++] = splits[which].name;
    }
    pairs[n] = NULL;
}

static void name_of(char name[64], const char *output, const struct way *way, size_t which)
{
    snprintf(name, 64, "%s%s%s", output, which < way->splits ? "." : "", which < way->splits ? splits[which].name : "");
}

static uint64_t write_expected(const char *const *parts, size_t count, const struct way *way)
{
    struct arranged a = { .document_count = 0 };
    uint64_t dropped = 0;

    for (size_t i = 0; i < count; i++)
        arranged_load(&a, parts[i]);
    if (way->dedup)
        dropped = arranged_dedup(&a);
    for (size_t which = 0; which <= way->splits; which++) {
        const char *pairs[12];
        char name[64];

        name_of(name, "want", way, which);
        pairs_of(way, which, pairs);
        arranged_write(&a, t_path(folder, name), splits, way->splits, which, way->shuffle ? &way->seed : NULL, pairs);
    }
    arranged_free(&a);
    return dropped;
}

static void check_report(const struct leat_merge_report *report, const struct way *way, uint64_t documents,
                         uint64_t dropped, const struct leat_info *rest)
{
    uint64_t sum = rest->documents;

    T_EQ(report->documents, documents);
    T_EQ(report->deduplicated, dropped);
    for (size_t i = 0; i < way->splits; i++)
        sum += report->splits[i].documents;
    T_EQ(sum, documents - dropped);
}

/* What the merge has said of its progress. */
struct course {
    uint64_t done, total, jump; /* jump: the most from one call to the next */
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct course *c = context;

    T_CHECK(done >= c->done && (total == 0 || done <= total));
    c->jump = done - c->done > c->jump ? done - c->done : c->jump;
    c->done = done;
    c->total = total;
    return 0;
}

static void compare(const char *const *parts, size_t count, const struct way *way, uint64_t documents)
{
    static const uint64_t memories[] = { 1, 300000, 0 };
    static const uint32_t threads[] = { 5, 1, 2 };
    uint64_t dropped = write_expected(parts, count, way);

    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        struct leat_info infos[SPLITS] = { LEAT_INFO_INIT, LEAT_INFO_INIT, LEAT_INFO_INIT }, rest = LEAT_INFO_INIT;
        struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
        struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
        struct course course = { 0, 0, 0 };

        report.splits = infos;
        report.info = &rest;
        o.force = 1;
        o.dedup = way->dedup;
        o.shuffle = way->shuffle;
        o.seed = way->seed;
        o.splits = splits;
        o.split_count = way->splits;
        o.memory = memories[i];
        o.threads = threads[i];
        o.progress = on_progress;
        o.context = &course;
        T_OK(leat_merge(t_path(folder, i % 2 ? "got" : "got.leat"), parts, count, &o, &report, &t_err));
        check_report(&report, way, documents, dropped, &rest);
        /* a shuffle adds begin and end tokens at the end */
        T_CHECK(course.total - course.done <= (way->shuffle ? 8 * documents : 0));
        T_CHECK(documents < SOME || way->shuffle || course.jump <= course.total / TINY_OR(4u, 1u));
        for (size_t which = 0; which <= way->splits; which++) {
            char want[64], got[64];

            name_of(want, "want", way, which);
            name_of(got, "got", way, which);
            T_CHECK(same_dataset(t_path(folder, want), t_path(folder, got)));
        }
    }
}

/* ---- The mix ---- */

static void test_mix(uint64_t *random)
{
    static const struct shape shapes[] = {
        { 300, 299, LEAT_NONE, 300, SOME, 1, 0 }, { 70000, LEAT_NONE, LEAT_NONE, 300, SOME, 1, 0 },
        { 300, 299, 298, 200000, 60, 1, 0 }, /* documents larger than the bound */
        { 300, LEAT_NONE, 3, 4000, SOME, 1, 1 },  { 300, LEAT_NONE, LEAT_NONE, 0, SOME, 1, 0 },
        { 300, 299, LEAT_NONE, 100, 3, 1, 0 },    { 300, 299, LEAT_NONE, 300, SOME, 0, 0 },
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char paths[3][600];
        const char *parts[3];

        for (size_t k = 0; k < 3; k++) {
            const char *name = t_text("part%zu", k);

            write_random(name, &shapes[i], random);
            snprintf(paths[k], sizeof paths[k], "%s/%s", folder, name);
            parts[k] = paths[k];
        }
        for (unsigned mix = 0; mix < 8; mix++) {
            struct way way = { .dedup = mix & 1, .shuffle = mix >> 1 & 1, .splits = mix & 4 ? SPLITS : 0 };

            way.seed = mix == 2 ? 0 : t_random(random);
            if ((mix + i) % 2 && mix != 7) /* half of them are enough: most of the time is the disk's */
                continue;
            if ((!shapes[i].hashes && (mix & 5)) || (shapes[i].unknown && mix & 4))
                continue;
            compare(parts, mix == 3 ? 1 : 3, &way, shapes[i].documents * (mix == 3 ? 1 : 3));
        }
    }
}

/* Enough small documents that runs are merged to one, and buckets divided, with the least memory. */
static void test_many(uint64_t *random)
{
    struct shape shape = { 300, 299, LEAT_NONE, 30, MANY, 1, 0 };
    const char *part = strdup(t_path(folder, "many"));
    struct way way = { .dedup = 1, .shuffle = 1, .seed = 7 };

    write_random("many", &shape, random);
    compare(&part, 1, &way, shape.documents);
    free((char *)(uintptr_t)part);
}

/* A list and a folder are the datasets that they hold. */
static void test_list(uint64_t *random)
{
    struct shape shape = { 300, 299, LEAT_NONE, 300, 300, 1, 0 };
    struct way way = { .dedup = 1, .shuffle = 1, .splits = SPLITS, .seed = 3 };
    char list[600], in_folder[600];
    const char *parts[2] = { list, in_folder };
    FILE *f = fopen(t_path(folder, "list.txt"), "w");

    mkdir(t_path(folder, "sub"), 0777);
    write_random("one", &shape, random);
    write_random("two", &shape, random);
    write_random("sub/a", &shape, random);
    write_random("sub/b", &shape, random);
    T_CHECK(f && fputs("two\none\ntwo\n", f) >= 0 && fclose(f) == 0);
    snprintf(list, sizeof list, "@%s/list.txt", folder);
    snprintf(in_folder, sizeof in_folder, "%s/sub", folder);
    compare(parts, 2, &way, 5 * shape.documents);
}

/* Nothing but one dataset, three times. */
static void test_equal(uint64_t *random)
{
    struct shape shape = { 300, 299, LEAT_NONE, 300, SOME, 1, 0 };
    struct way way = { .dedup = 1 };
    const char *part = strdup(t_path(folder, "equal"));
    const char *parts[3] = { part, part, part };

    write_random("equal", &shape, random);
    compare(parts, 3, &way, 3 * shape.documents);
    way.shuffle = 1;
    compare(parts, 3, &way, 3 * shape.documents);
    free((char *)(uintptr_t)part);
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    memset(long_id, 'x', sizeof long_id);
    test_mix(&random);
    test_many(&random);
    test_list(&random);
    test_equal(&random);
    return t_end();
}
