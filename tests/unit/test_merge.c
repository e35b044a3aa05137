/*
 * test_merge.c: leat_merge(): everything that documents, inputs and metadata of the parts become in the merged dataset;
 * parts that are lists; what cannot be merged; stopping half way. test_merge_crafted.c has parts that the writer would
 * not have written.
 */
#include "merge_parts.h"
#include "one_document.h"

/* ---- Everything of the parts is there ---- */

static void compare_document(const struct leat_dataset *a, uint64_t i, const struct leat_dataset *b, uint64_t j,
                             uint64_t first_input, int lines, int ids)
{
    uint64_t first_a, count_a, first_b, count_b, bytes_a, bytes_b;
    uint32_t tokens_a[16], tokens_b[16];
    struct leat_origin x, y;
    char id_a[64], id_b[64];

    T_OK(leat_dataset_document(a, i, &first_a, &count_a, &t_err));
    T_OK(leat_dataset_document(b, j, &first_b, &count_b, &t_err));
    T_EQ(count_a, count_b);
    T_OK(leat_dataset_read_u32(a, first_a, count_a, tokens_a, &t_err));
    T_OK(leat_dataset_read_u32(b, first_b, count_a, tokens_b, &t_err));
    T_CHECK(memcmp(tokens_a, tokens_b, count_a * 4) == 0);
    T_OK(leat_dataset_origins(a, i, 1, &x, &t_err));
    T_OK(leat_dataset_origins(b, j, 1, &y, &t_err));
    T_EQ(x.input == LEAT_NONE ? LEAT_NONE : x.input + first_input, y.input);
    T_EQ(x.offset, y.offset);
    if (lines)
        T_EQ(x.line, y.line);
    if (ids) {
        T_OK(leat_dataset_ids(a, i, 1, id_a, sizeof id_a, &bytes_a, &t_err));
        T_OK(leat_dataset_ids(b, j, 1, id_b, sizeof id_b, &bytes_b, &t_err));
        T_EQ(bytes_a, bytes_b);
        T_STR(id_a, id_b);
    }
}

static void compare_inputs(const struct leat_dataset *a, const struct leat_dataset *b, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct leat_input x = LEAT_INPUT_INIT, y = LEAT_INPUT_INIT;
        char path_a[64], path_b[64];

        T_OK(leat_dataset_input(a, i, &x, &t_err));
        T_OK(leat_dataset_input(b, first + i, &y, &t_err));
        T_CHECK(memcmp(&x, &y, sizeof x) == 0);
        T_OK(leat_dataset_input_path(a, i, path_a, sizeof path_a, NULL, &t_err));
        T_OK(leat_dataset_input_path(b, first + i, path_b, sizeof path_b, NULL, &t_err));
        T_STR(path_a, path_b);
    }
}

/* Nobody changes it meanwhile: without the lease, which is asked for again at each of very many reads. */
static struct leat_dataset *open_to_compare(const char *name)
{
    struct leat_open_options options = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    options.access = LEAT_ACCESS_TRUSTED;
    T_OK(leat_dataset_open(&d, t_path(folder, name), &options, &t_err));
    return d;
}

/* That `name` is the parts one after another. */
static void compare(const char *name, const char *const *parts, size_t count)
{
    struct leat_info whole = LEAT_INFO_INIT, info = LEAT_INFO_INIT;
    struct leat_dataset *b = open_to_compare(name);
    uint64_t document = 0, input = 0, tokens = 0;

    leat_dataset_info(b, &whole);
    for (size_t p = 0; p < count; p++) {
        struct leat_dataset *a = open_to_compare(parts[p]);

        leat_dataset_info(a, &info);
        T_CHECK(info.stores_lines <= whole.stores_lines && info.stores_ids <= whole.stores_ids);
        for (uint64_t i = 0; i < info.documents; i++)
            compare_document(a, i, b, document + i, input, (int)info.stores_lines, (int)info.stores_ids);
        compare_inputs(a, b, input, info.inputs);
        document += info.documents;
        input += info.inputs;
        tokens += info.tokens;
        leat_dataset_close(a);
    }
    T_EQ(whole.documents, document);
    T_EQ(whole.inputs, input);
    T_EQ(whole.tokens, tokens);
    T_EQ(whole.parts, 1);
    T_OK(leat_dataset_verify(b, NULL, NULL, &t_err));
    leat_dataset_close(b);
}

static void test_content(void)
{
    static const char *const names[] = { "one", "two", "none", "three" };
    static const struct {
        uint64_t end, begin;
        int lines, ids;
    } ways[] = {
        { LEAT_NONE, LEAT_NONE, 0, 0 },
        { 999, LEAT_NONE, 1, 1 },
        { LEAT_NONE, 998, 1, 0 },
        { 999, 998, 0, 1 },
    };

    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
        for (uint64_t vocabulary = 1000; vocabulary <= 100000; vocabulary += 99000) {
            struct shape shape = { vocabulary, ways[k].end, ways[k].begin, ways[k].lines, ways[k].ids, NULL };
            struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
            struct leat_info info = LEAT_INFO_INIT, opened = LEAT_INFO_INIT;
            struct leat_dataset *d;

            write_part("one", &shape, t_times(9000), 1);
            shape.lines = !shape.lines; /* a part without them is merged with parts that have them */
            write_part("two", &shape, 1, 2);
            write_part("none", &shape, 0, 3);
            shape.lines = !shape.lines;
            shape.ids = !shape.ids;
            write_part("three", &shape, t_times(4500), 4);
            options.force = 1;
            options.created = 77;
            T_OK(merge("out", names, 4, &options, &info));
            compare("out", names, 4);
            d = open_one("out");
            leat_dataset_info(d, &opened);
            T_CHECK(memcmp(&info, &opened, sizeof info) == 0);
            T_EQ(info.created, 77);
            T_EQ(info.stores_lines, 1);
            T_EQ(info.stores_ids, 1);
            T_EQ(info.end_token, shape.end);
            T_EQ(info.begin_token, shape.begin);
            leat_dataset_close(d);
        }
}

static void test_nothing(void)
{
    static const char *const names[] = { "none", "none2" };
    struct leat_info info = LEAT_INFO_INIT;

    write_part("none", &plain, 0, 1);
    write_part("none2", &plain, 0, 2);
    T_OK(merge("nothing", names, 2, NULL, &info));
    T_EQ(info.documents, 0);
    T_EQ(info.tokens, 0);
    T_EQ(info.inputs, 4);
    T_OK(merge("nothing1", names, 1, NULL, NULL));
}

/* A folder, a list and a dataset, merged, are the datasets of them merged. */
static void test_lists(void)
{
    static const char *const flat[] = { "list/a", "list/b", "list/b", "list/a", "list/a" };
    static const char *const mixed[] = { "list", "@both.txt", "list/a.tokens" };
    FILE *f = fopen(t_path(folder, "both.txt"), "w");

    mkdir(t_path(folder, "list"), 0777);
    write_part("list/a", &plain, 10, 1);
    write_part("list/b", &plain, 20, 2);
    T_CHECK(f && fputs("list/b\n\nlist/a.leat\n", f) >= 0 && fclose(f) == 0);
    T_OK(merge("flat", flat, 5, NULL, NULL));
    T_OK(merge("mixed", mixed, 3, NULL, NULL));
    compare("mixed", flat, 5);
    {
        struct leat_dataset *a = open_one("flat"), *b = open_one("mixed");
        struct leat_info x = LEAT_INFO_INIT, y = LEAT_INFO_INIT;

        leat_dataset_info(a, &x);
        leat_dataset_info(b, &y);
        T_CHECK(memcmp(&x, &y, sizeof x) == 0);
        leat_dataset_close(a);
        leat_dataset_close(b);
    }
}

/* ---- What is stored besides ---- */

static void write_pairs(const char *name, const char *const *pairs)
{
    struct leat_writer *w = begin_part(name, &plain);

    for (; pairs[0]; pairs += 2)
        T_OK(leat_writer_set_metadata(w, pairs[0], pairs[1], &t_err));
    end_part(w);
}

static void check_pairs(const char *name, const char *const *pairs)
{
    struct leat_dataset *d = open_one(name);
    struct leat_metadata *m;
    uint64_t i = 0;

    T_OK(leat_dataset_metadata(d, 0, &m, &t_err));
    for (; pairs[2 * i]; i++)
        if (i < m->count) {
            T_STR(m->pairs[i].key, pairs[2 * i]);
            T_STR(m->pairs[i].value, pairs[2 * i + 1]);
        }
    T_EQ(m->count, i);
    leat_metadata_free(m);
    leat_dataset_close(d);
}

static void test_metadata(void)
{
    static const char *const names[] = { "m1", "m2", "m3" };

    write_pairs("m1", (const char *const[]) { "all", "same", "differs", "x", "first", "1", "empty", "", NULL });
    write_pairs("m2", (const char *const[]) { "all", "same", "differs", "y", "empty", "", NULL });
    write_pairs("m3", (const char *const[]) { "all", "same", "differs", "x", "empty", "", NULL });
    T_OK(merge("m", names, 3, NULL, NULL));
    check_pairs("m", (const char *const[]) { "all", "same", "differs.1", "x", "differs.2", "y", "differs.3", "x",
                                             "empty", "", "first.1", "1", NULL });
    T_OK(merge("alone", names, 1, NULL, NULL));
    check_pairs("alone", (const char *const[]) { "all", "same", "differs", "x", "empty", "", "first", "1", NULL });
}

static void test_tokenizer(void)
{
    static const char *const names[] = { "t1", "t2", "t3" };
    struct leat_stored_tokenizer t = { .name = "t.model", .pattern = "gpt2", .file = "bytes", .file_bytes = 5 };
    struct leat_stored_tokenizer *stored;
    struct shape shape = plain;
    struct leat_dataset *d;

    shape.tokenizer = &t;
    write_part("t1", &shape, 3, 1);
    write_part("t2", &shape, 3, 2);
    T_OK(merge("t", names, 2, NULL, NULL));
    d = open_one("t");
    T_OK(leat_dataset_tokenizer(d, &stored, &t_err));
    T_STR(stored->name, "t.model");
    T_STR(stored->pattern, "gpt2");
    T_EQ(stored->file_bytes, 5);
    T_CHECK(memcmp(stored->file, "bytes", 5) == 0);
    leat_stored_tokenizer_free(stored);
    leat_dataset_close(d);
    compare("t", names, 2);

    t.file = "other";
    write_part("t3", &shape, 3, 3);
    T_REFUSED(merge("t4", names, 3, NULL, NULL), LEAT_E_INCOMPATIBLE, "tokenizer");
    T_CONTAINS(t_err.message, "/t1 and ");
    T_CONTAINS(t_err.message, "/t3 ");
}

/* ---- What does not work ---- */

static void refuse_shape(struct shape other, const char *what)
{
    static const char *const names[] = { "same", "same", "other" };
    uint64_t files;

    write_part("other", &other, 5, 1);
    files = t_files(folder);
    T_REFUSED(merge("never", names, 3, NULL, NULL), LEAT_E_INCOMPATIBLE, what);
    T_CONTAINS(t_err.message, "/same and ");
    T_CONTAINS(t_err.message, "/other ");
    T_EQ(t_files(folder), files);
}

static void test_incompatible(void)
{
    struct shape end = plain, begin = plain;

    write_part("same", &plain, 5, 1);
    refuse_shape((struct shape) { .vocabulary = 1001, .end = LEAT_NONE, .begin = LEAT_NONE }, "vocabulary");
    refuse_shape((struct shape) { .vocabulary = 70000, .end = LEAT_NONE, .begin = LEAT_NONE }, "vocabulary");
    end.end = 999;
    refuse_shape(end, "end-of-document token");
    begin.begin = 0;
    refuse_shape(begin, "begin token");
}

static void test_arguments(void)
{
    static const char *const names[] = { "same" }, *const absent[] = { "same", "absent" };
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    const char *part = t_path(folder, "same"), *missing = NULL;
    uint64_t files;

    write_part("same", &plain, 5, 1);
    files = t_files(folder);
    T_STATUS(leat_merge(NULL, &part, 1, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_merge(t_path(folder, "never"), NULL, 1, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_merge(t_path(folder, "never"), &part, 0, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_merge(t_path(folder, "never"), &missing, 1, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(merge("never.partial", names, 1, NULL, NULL), LEAT_E_ARGUMENT);
    T_STATUS(merge("", names, 1, NULL, NULL), LEAT_E_ARGUMENT);
    T_STATUS(merge("..", names, 1, NULL, NULL), LEAT_E_ARGUMENT);
    T_STATUS(merge("never", absent, 2, NULL, NULL), LEAT_E_NO_FILE);
    T_STATUS(merge("absent/never", names, 1, NULL, NULL), LEAT_E_NO_FILE);
    T_EQ(t_files(folder), files);
    T_OK(merge("there", names, 1, NULL, NULL));
    T_STATUS(merge("there", names, 1, NULL, NULL), LEAT_E_EXISTS);
    options.force = 1;
    T_OK(merge("there", names, 1, &options, NULL));
    T_OK(merge("same", names, 1, &options, NULL)); /* over its own part */
    compare("there", names, 1);
}

/* Metadata that differ are kept as KEY.1, KEY.2, ...: unless that is a key already, of any part. */
static void test_taken_keys(void)
{
    static const char *const names[] = { "k1", "k2" };

    write_pairs("k1", (const char *const[]) { "about", "x", NULL });
    write_pairs("k2", (const char *const[]) { "about", "y", "about.1", "z", NULL });
    T_REFUSED(merge("never", names, 2, NULL, NULL), LEAT_E_UNSUPPORTED,
              "about.1, which is for the value of part 1, is already in use");
    write_pairs("k2", (const char *const[]) { "about", "x", "about.1", "z", NULL });
    T_OK(merge("k", names, 2, NULL, NULL));
    check_pairs("k", (const char *const[]) { "about", "x", "about.1.2", "z", NULL });
}

/* ---- Stopping ---- */

struct stop {
    uint64_t after, calls, last, total;
};

static uint32_t count_calls(void *context, uint64_t done, uint64_t total)
{
    struct stop *s = context;

    T_CHECK(done >= s->last && done <= total);
    s->last = done;
    s->total = total;
    return s->calls++ == s->after ? 7 : 0;
}

static void test_stop(void)
{
    static const char *const names[] = { "long", "long" };
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    struct leat_writer *w = begin_part("long", &plain);
    struct stop all = { .after = UINT64_MAX };
    uint64_t count = t_times(1200000), files; /* asked for each MiB, it stops at some places */
    uint16_t *ids = calloc(count, 2);

    T_OK(add_one_document(w, ids, 2, NULL, count, NULL, &t_err));
    free(ids);
    end_part(w);
    options.force = 1;
    options.progress = count_calls;
    options.context = &all;
    T_OK(merge("stopped", names, 2, &options, NULL));
    T_CHECK(all.calls >= 4);
    T_EQ(all.last, 2 * 2 * count);
    T_EQ(all.total, 2 * 2 * count);
    files = t_files(folder);
    for (uint64_t i = 0; i < all.calls; i++) {
        struct stop s = { .after = i };

        options.context = &s;
        T_STATUS(merge("stopped2", names, 2, &options, NULL), LEAT_E_STOPPED);
        T_EQ(s.calls, i + 1);
        T_EQ(t_files(folder), files);
        s = (struct stop) { .after = i };
        T_STATUS(merge("stopped", names, 2, &options, NULL), LEAT_E_STOPPED); /* the older one stays */
        T_EQ(t_files(folder), files);
    }
    {
        struct leat_dataset *d = open_one("stopped");

        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
}

int main(void)
{
    folder = t_folder();
    test_content();
    test_nothing();
    test_lists();
    test_metadata();
    test_tokenizer();
    test_incompatible();
    test_arguments();
    test_taken_keys();
    test_stop();
    return t_end();
}
