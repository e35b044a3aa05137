/*
 * test_splits.c: fractions are read exactly and divide the hashes exactly where they say: the documents at the borders
 * of the intervals go to the right outputs; what is no fraction or name is refused. And several outputs come all or
 * none.
 */
#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

static const char *folder;

#define NO_HASH ((uint64_t)0x123456789) /* instead of a half: the text is not known */

/* A document for each high half; the low half is the other way about, so that nothing hangs on it. */
static void write_highs(const uint64_t *highs, uint64_t count)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 100;
    o.store_hashes = o.force = 1;
    T_OK(leat_writer_open(&w, t_path(folder, "d"), &o, &t_err));
    for (uint64_t i = 0; i < count; i++) {
        struct leat_origin origin = { .input = LEAT_NONE };
        uint8_t hash[16];

        for (unsigned k = 0; k < 8; k++) {
            hash[k] = (uint8_t)(~highs[i] >> 8 * k);
            hash[8 + k] = (uint8_t)(highs[i] >> 8 * k);
        }
        origin.text_hash = highs[i] == NO_HASH ? NULL : hash;
        T_OK(add_one_document(w, NULL, 2, NULL, 0, &origin, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static enum leat_status split(const struct leat_split *splits, size_t count, struct leat_info *infos)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    const char *part = t_path(folder, "d");

    report.splits = infos;
    o.force = 1;
    o.splits = splits;
    o.split_count = count;
    return leat_merge(t_path(folder, "out"), &part, 1, &o, &report, &t_err);
}

/* The documents with these high halves are in a split of this fraction, and the one above is not. */
static void check_border(const char *fraction, uint64_t last)
{
    const struct leat_split one = { "x", fraction };
    const uint64_t highs[] = { 0, last / 2, last, last + 1, UINT64_MAX };
    struct leat_info info = LEAT_INFO_INIT;

    write_highs(highs, 5);
    T_OK(split(&one, 1, &info));
    if (last == UINT64_MAX)
        T_EQ(info.documents, 5);
    else
        T_EQ(info.documents, 3);
}

static void test_borders(void)
{
    check_border("0.5", UINT64_MAX / 2);
    check_border(".25", UINT64_MAX / 4);
    check_border("00.0625000", UINT64_MAX / 16);
    check_border("1", UINT64_MAX);
    check_border("1.", UINT64_MAX);
    check_border("1.000", UINT64_MAX);
    /* computed with integers of any length: the greatest below fraction x 2^64 */
    check_border("0.1", 1844674407370955161u);
    check_border("0.3", 5534023222112865484u);
    check_border("0.333333333333333333", 6148914691236517199u);
    check_border("0.999999999999999999", 18446744073709551597u);
    check_border("0.000000000000000001", 18u);
}

/* Intervals follow each other, and their ends are those of the sums. */
static void test_sums(void)
{
    static const struct leat_split splits[] = { { "a", "0.1" }, { "b", "0.2" }, { "c", "0.7" } };
    static const uint64_t highs[] = { 1844674407370955161u, 1844674407370955162u, 5534023222112865484u,
                                      5534023222112865485u, UINT64_MAX };
    struct leat_info infos[3] = { LEAT_INFO_INIT, LEAT_INFO_INIT, LEAT_INFO_INIT };

    write_highs(highs, 5);
    T_OK(split(splits, 3, infos));
    T_EQ(infos[0].documents, 1);
    T_EQ(infos[1].documents, 2);
    T_EQ(infos[2].documents, 2);
}

static void refuse(const char *name, const char *fraction, const char *what)
{
    const struct leat_split one = { name, fraction };
    uint64_t before = t_files(folder);

    T_REFUSED(split(&one, 1, NULL), LEAT_E_ARGUMENT, what);
    T_EQ(t_files(folder), before);
}

static void test_refused(void)
{
    static const char *const wrong_fractions[] = {
        "",     "0",    "0.0",  "1.1",  "2",   "10",    "1.000000000000000001",
        "-0.1", "+0.1", "0.1 ", " 0.1", "1e0", "0.1.2", "0.0000000000000000001",
        ".",    "x",    "0,1",  "0.1\n"
    };
    static const char *const wrong_names[] = { "",       "a/b",    "..",      "a.b", "leat",
                                               "tokens", "packed", "partial", "a b", "\xc3\xa9" };
    struct leat_split many[70];

    for (size_t i = 0; i < sizeof wrong_fractions / sizeof wrong_fractions[0]; i++)
        refuse("x", wrong_fractions[i], "the fraction of split x is");
    for (size_t i = 0; i < sizeof wrong_names / sizeof wrong_names[0]; i++)
        refuse(wrong_names[i], "0.1", "invalid split name");
    refuse(NULL, "0.1", "invalid split name");
    refuse("x", NULL, "the fraction of split x is");
    for (size_t i = 0; i < 70; i++)
        many[i] = (struct leat_split) { "x", "0.01" };
    T_REFUSED(split(many, 2, NULL), LEAT_E_ARGUMENT, "two splits are called x");
    T_STATUS(split(many, 70, NULL), LEAT_E_ARGUMENT);
    T_STATUS(split(NULL, 1, NULL), LEAT_E_ARGUMENT);
    T_REFUSED(split((const struct leat_split[]) { { "a", "0.6" }, { "b", "0.400000000000000001" } }, 2, NULL),
              LEAT_E_ARGUMENT, "add up to more than 1");
    write_highs((const uint64_t[]) { 5, NO_HASH, 7 }, 3);
    T_REFUSED(split(&(const struct leat_split) { "x", "0.5" }, 1, NULL), LEAT_E_NOT_FOUND,
              "document 1 has no text hash");
    write_highs((const uint64_t[]) { 5, 7 }, 2);
}

/* A caller's struct without its size would be filled as if it had all fields. */
static void test_report_without_size(void)
{
    struct leat_merge_report report = { 0 };
    const char *part = t_path(folder, "d");

    T_REFUSED(leat_merge(t_path(folder, "unsized"), &part, 1, NULL, &report, &t_err), LEAT_E_ARGUMENT,
              "struct leat_merge_report has no size");
}

/* Puts a folder where an output's index will be, after all was found free: the outputs are locked. */
static uint32_t take_name(void *context, uint64_t done, uint64_t total)
{
    char lock[1024];

    (void)done;
    (void)total;
    snprintf(lock, sizeof lock, "%s/new.b.partial.lock", folder);
    if (access(lock, F_OK) == 0)
        mkdir(context, 0777);
    return 0;
}

/* What takes the name of an output is seen before any output gets its name, if it is there by then; else the message
 * says which outputs have theirs. */
static void test_all_or_none(void)
{
    static const struct leat_split splits[] = { { "a", "0.5" }, { "b", "0.25" } };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *taken = t_path(folder, "new.b.leat"), *part = t_path(folder, "d");
    uint64_t before;

    o.splits = splits;
    o.split_count = 2;
    mkdir(taken, 0777);
    before = t_files(folder);
    for (o.force = 0; o.force < 2; o.force++) {
        T_REFUSED(leat_merge(t_path(folder, "new"), &part, 1, &o, NULL, &t_err), LEAT_E_EXISTS,
                  "new.b.leat is a folder");
        T_EQ(t_files(folder), before);
    }
    rmdir(taken);
}

/* What takes the name is first seen when that is given: by then the first `finished` splits have theirs. */
static void test_finished(unsigned count, const char *taken_name, unsigned finished, const char *what)
{
    static const struct leat_split splits[] = { { "a", "0.25" }, { "b", "0.25" }, { "c", "0.25" } };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *part = t_path(folder, "d");
    char *taken = t_path(folder, taken_name);
    uint64_t before = t_files(folder);
    struct leat_dataset *d;

    o.splits = splits;
    o.split_count = count;
    o.force = 1;
    o.progress = take_name;
    o.context = taken;
    T_CHECK(leat_merge(t_path(folder, "new"), &part, 1, &o, NULL, &t_err) != LEAT_OK);
    T_CONTAINS(t_err.message, what);
    for (unsigned i = 0; i <= count; i++) {
        const char *made = t_text("%s/new%s%s", folder, i < count ? "." : "", i < count ? splits[i].name : "");

        T_EQ(leat_dataset_open(&d, made, NULL, NULL) == LEAT_OK, i < finished);
        if (i < finished)
            leat_dataset_close(d);
    }
    rmdir(taken);
    T_EQ(t_files(folder), before + 2 * finished); /* new.a.tokens, new.a.leat, ... */
    for (unsigned i = 0; i < finished; i++)
        for (unsigned k = 0; k < 2; k++)
            unlink(t_text("%s/new.%s.%s", folder, splits[i].name, k ? "leat" : "tokens"));
}

int main(void)
{
    folder = t_folder();
    test_borders();
    test_sums();
    test_refused();
    test_report_without_size();
    test_all_or_none();
    test_finished(2, "new.b.leat", 1, "/new.a)");
    test_finished(2, "new.leat", 2, "(finished before that: ");
    T_CONTAINS(t_err.message, "/new.a and ");
    T_CONTAINS(t_err.message, "/new.b)");
    test_finished(3, "new.leat", 3, "/new.a to ");
    T_CONTAINS(t_err.message, "/new.c)");
    return t_end();
}
