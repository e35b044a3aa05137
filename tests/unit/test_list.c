/*
 * test_list.c: several datasets opened as one: a folder, a list in a file; the order of names, what cannot be joined
 * and why; tokens, documents and inputs numbered through, against arrays joined by hand.
 */
#include <sys/resource.h>

#include "base/bytes.h"
#include "dataset/dataset.h"
#include "one_document.h"
#include "t.h"

static const char *folder;

static const char *in_folder(const char *name)
{
    return t_path(folder, name);
}

/* ---- Parts, and the same joined by hand ---- */

#define MOST 2000

static struct {
    uint32_t tokens[MOST];
    uint64_t starts[MOST], offsets[MOST], inputs[MOST]; /* of documents */
    char paths[MOST][32];
    uint64_t token_count, document_count, input_count;
} joined;

static struct leat_writer_options plain_options(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 5000;
    return o;
}

/* Documents of these lengths, from two inputs in turn; their tokens and offsets tell the part. */
static void make_part(const char *path, unsigned part, const char *lengths, const struct leat_writer_options *options)
{
    struct leat_writer *w;

    T_OK(leat_writer_open(&w, path, options, &t_err));
    if (*lengths) {
        for (unsigned i = 0; i < 2; i++) {
            T_OK(leat_writer_add_input(w, t_text("in-%u-%u", part, i), NULL, &t_err));
        }
    }
    for (unsigned i = 0; lengths[i]; i++) {
        struct leat_origin o = { .input = i % 2, .offset = 1000 * part + i, .line = LEAT_NONE };
        uint32_t ids[10];

        for (unsigned k = 0; k < 10; k++)
            ids[k] = 100 * part + 10 * i + k;
        T_OK(add_one_document(w, ids, 4, NULL, (uint64_t)(lengths[i] - '0'), &o, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void join_part(unsigned part, const char *lengths)
{
    for (unsigned i = 0; lengths[i]; i++) {
        joined.starts[joined.document_count] = joined.token_count;
        joined.offsets[joined.document_count] = 1000 * part + i;
        joined.inputs[joined.document_count++] = joined.input_count + i % 2;
        for (unsigned k = 0; k < (unsigned)(lengths[i] - '0'); k++)
            joined.tokens[joined.token_count++] = 100 * part + 10 * i + k;
    }
    joined.starts[joined.document_count] = joined.token_count;
    for (unsigned i = 0; *lengths && i < 2; i++)
        snprintf(joined.paths[joined.input_count++], 32, "in-%u-%u", part, i);
}

static const struct {
    const char *name, *lengths;
} parts[] = {
    /* in the order of their names as bytes, with no documents or no tokens at the begin, in between and at the end */
    { "a", "" },    { "a-1", "00" }, { "a.b", "312" }, { "b", "" },
    { "c10", "0" }, { "c9", "9" },   { "d", "0070" },  { "\xc3\xa9", "00" },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static void make_parts(void)
{
    struct leat_writer_options o = plain_options();

    memset(&joined, 0, sizeof joined);
    for (unsigned i = 0; i < PARTS; i++) {
        /* made last to first, so that the folder's own order is another one */
        make_part(in_folder(parts[PARTS - 1 - i].name), PARTS - 1 - i, parts[PARTS - 1 - i].lengths, &o);
        join_part(i, parts[i].lengths);
    }
}

/* ---- Comparing ---- */

static void documents_by_hand(uint64_t first, uint64_t count, uint64_t *from, uint64_t *to)
{
    *from = LEAT_NONE;
    *to = 0;
    for (uint64_t i = 0; i < joined.document_count; i++) {
        if (joined.starts[i + 1] <= first || joined.starts[i] >= first + count ||
            joined.starts[i] == joined.starts[i + 1])
            continue;
        *from = *from == LEAT_NONE ? i : *from;
        *to = i;
    }
}

static void compare_tokens(const struct leat_dataset *d)
{
    uint64_t total = joined.token_count;
    uint32_t ids[MOST];

    for (uint64_t first = 0; first < total; first++)
        for (uint64_t count = 1; count <= total - first; count += 1 + count / 8) {
            uint64_t from, to, document, documents;

            T_OK(leat_dataset_read_u32(d, first, count, ids, &t_err));
            T_CHECK(memcmp(ids, joined.tokens + first, 4 * count) == 0);
            documents_by_hand(first, count, &from, &to);
            T_OK(leat_dataset_documents_in(d, first, count, &document, &documents, &t_err));
            T_EQ(document, from);
            T_EQ(documents, to - from + 1);
            T_OK(leat_dataset_verify_range(d, first, count, &t_err));
        }
    T_STATUS(leat_dataset_read_u32(d, total, 1, ids, &t_err), LEAT_E_RANGE);
    T_REFUSED(leat_dataset_read_u32(d, 2, UINT64_MAX, ids, &t_err), LEAT_E_RANGE,
              "18446744073709551615 tokens from number 2 are out of range");
}

static void compare_documents(const struct leat_dataset *d)
{
    uint64_t count = joined.document_count, starts[MOST];

    for (uint64_t first = 0; first <= count; first++)
        for (uint64_t n = 0; n <= count + 1 - first; n += 1 + n / 4) {
            memset(starts, 0xee, sizeof starts);
            T_OK(leat_dataset_starts(d, first, n, starts, &t_err));
            T_CHECK(memcmp(starts, joined.starts + first, 8 * n) == 0);
            T_EQ(starts[n], 0xeeeeeeeeeeeeeeee);
        }
    T_STATUS(leat_dataset_starts(d, count + 1, 1, starts, &t_err), LEAT_E_RANGE);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at, tokens, found;
        struct leat_origin o;

        T_OK(leat_dataset_document(d, i, &at, &tokens, &t_err));
        T_EQ(at, joined.starts[i]);
        T_EQ(at + tokens, joined.starts[i + 1]);
        T_OK(leat_dataset_origins(d, i, 1, &o, &t_err));
        T_EQ(o.offset, joined.offsets[i]);
        T_EQ(o.input, joined.inputs[i]);
        T_OK(leat_dataset_find_origin(d, o.input, o.offset, &found, &t_err));
        T_EQ(joined.inputs[found], o.input);
        T_EQ(joined.offsets[found], o.offset);
    }
    T_STATUS(leat_dataset_document(d, count, starts, starts + 1, &t_err), LEAT_E_RANGE);
}

/* Documents in any order, some more than once, looked up together. */
static void compare_document_lists(const struct leat_dataset *d)
{
    uint64_t numbers[MOST] = { 0 }, first[MOST], counts[MOST], n = joined.document_count, random = 7;

    for (uint64_t i = 0; i < n; i++)
        numbers[i] = t_below(&random, n);
    T_OK(dataset_document_list(d, numbers, n, first, counts, &t_err));
    for (uint64_t i = 0; i < n; i++) {
        T_EQ(first[i], joined.starts[numbers[i]]);
        T_EQ(first[i] + counts[i], joined.starts[numbers[i] + 1]);
    }
    T_OK(dataset_document_list(d, NULL, 0, NULL, NULL, &t_err));
    numbers[n / 2] = n;
    T_REFUSED(dataset_document_list(d, numbers, n, first, counts, &t_err), LEAT_E_RANGE, "no document");
}

static void compare_inputs(const struct leat_dataset *d)
{
    struct leat_input input = LEAT_INPUT_INIT;
    char path[64];

    for (uint64_t i = 0; i < joined.input_count; i++) {
        uint64_t documents = 0, found;

        for (uint64_t k = 0; k < joined.document_count; k++)
            documents += joined.inputs[k] == i;
        T_OK(leat_dataset_input(d, i, &input, &t_err));
        T_EQ(input.documents, documents);
        T_OK(leat_dataset_input_path(d, i, path, sizeof path, NULL, &t_err));
        T_STR(path, joined.paths[i]);
        T_OK(leat_dataset_find_input(d, path, &found, &t_err));
        T_STR(joined.paths[found], path);
        T_CHECK(found <= i);
    }
    T_STATUS(leat_dataset_input(d, joined.input_count, &input, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_input_path(d, joined.input_count, path, 1, NULL, &t_err), LEAT_E_RANGE);
}

static struct leat_dataset *open_joined(const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, joined.token_count);
    T_EQ(info.documents, joined.document_count);
    T_EQ(info.inputs, joined.input_count);
    return d;
}

static void check_part_facts(const struct leat_dataset *d)
{
    uint64_t tokens = 0, documents = 0, inputs = 0;
    struct leat_part part = LEAT_PART_INIT;

    for (unsigned i = 0; i < PARTS; i++) {
        T_OK(leat_dataset_part(d, i, &part, &t_err));
        T_STR(strrchr(part.name, '/') + 1, parts[i].name);
        T_EQ(part.first_token, tokens);
        T_EQ(part.first_document, documents);
        T_EQ(part.first_input, inputs);
        tokens += part.tokens;
        documents += part.documents;
        inputs += part.inputs;
        T_EQ(part.documents, strlen(parts[i].lengths));
    }
    T_STATUS(leat_dataset_part(d, PARTS, &part, &t_err), LEAT_E_RANGE);
}

static void check_folder(void)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_view view;

    /* none of these is a finished dataset that shows */
    t_write(in_folder("b.partial.leat"), "", 0);
    t_write(in_folder(".hidden.leat"), "x", 1);
    t_write(in_folder(".leat"), "x", 1);
    t_write(in_folder("notes.txt"), "x", 1);
    t_write(in_folder("other.tokens"), "x", 1);
    d = open_joined(folder);
    check_part_facts(d);
    compare_tokens(d);
    compare_documents(d);
    compare_document_lists(d);
    compare_inputs(d);
    leat_dataset_info(d, &info);
    T_EQ(info.parts, PARTS);
    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    T_EQ(report.bytes, info.token_bytes + info.index_bytes);
    T_STATUS(leat_dataset_view(d, 0, joined.token_count, &view, &t_err),
             BYTES_BIG_ENDIAN ? LEAT_E_UNSUPPORTED : LEAT_E_RANGE);
    leat_dataset_close(d);
}

/* ---- Lists in files ---- */

static void check_list_file(void)
{
    struct leat_dataset *d;
    char text[4096];

    /* in any order, with comments, empty lines, CRLF, spaces behind, suffixes, an absolute name, no last newline */
    memset(&joined, 0, sizeof joined);
    join_part(6, parts[6].lengths);
    join_part(2, parts[2].lengths);
    join_part(2, parts[2].lengths);
    join_part(0, parts[0].lengths);
    join_part(5, parts[5].lengths);
    snprintf(text, sizeof text, "# a comment\r\n\r\nd.leat\r\n   \t\n%s/a.b \t\n\n#a.b\na.b.tokens\na\nc9", folder);
    t_write(in_folder("some.list"), text, strlen(text));
    snprintf(text, sizeof text, "@%s", in_folder("some.list"));
    d = open_joined(text);
    compare_tokens(d);
    compare_documents(d);
    compare_document_lists(d);
    compare_inputs(d);
    leat_dataset_close(d);

    /* a list without a folder in its name: relative names count from where we are */
    if (chdir(folder) != 0)
        exit(1);
    d = open_joined("@some.list");
    leat_dataset_close(d);
    if (chdir("/") != 0)
        exit(1);
}

/* Names in the order given: a dataset, a folder with its own order, a list. */
static void check_names(void)
{
    struct leat_open_options unknown = LEAT_OPEN_OPTIONS_INIT;
    char some[1100], all[1100], names[2][1100];
    const char *list[] = { names[0], all, some, names[1] };
    struct leat_dataset *d;

    memset(&joined, 0, sizeof joined);
    snprintf(names[0], sizeof names[0], "%s/d.leat", folder);
    join_part(6, parts[6].lengths);
    snprintf(all, sizeof all, "%s", folder);
    for (unsigned i = 0; i < PARTS; i++)
        join_part(i, parts[i].lengths);
    snprintf(some, sizeof some, "@%s", in_folder("short.list"));
    t_write(in_folder("short.list"), "c9\na.b\n", 7);
    join_part(5, parts[5].lengths);
    join_part(2, parts[2].lengths);
    snprintf(names[1], sizeof names[1], "%s/a-1.tokens", folder);
    join_part(1, parts[1].lengths);
    T_OK(leat_dataset_open_list(&d, list, 4, NULL, &t_err));
    compare_tokens(d);
    compare_documents(d);
    compare_document_lists(d);
    compare_inputs(d);
    leat_dataset_close(d);

    /* an empty folder among others is one all the same */
    snprintf(all, sizeof all, "%s", in_folder("nothing"));
    T_EQ(mkdir(all, 0777), 0);
    unknown.access = (enum leat_access)7;
    T_REFUSED(leat_dataset_open_list(&d, list, 4, &unknown, &t_err), LEAT_E_ARGUMENT, "unknown access mode 7");
    T_REFUSED(leat_dataset_open_list(&d, list, 4, NULL, &t_err), LEAT_E_NO_FILE, "holds no dataset");
    t_write(in_folder("short.list"), "#\n", 2);
    T_STATUS(leat_dataset_open_list(&d, list + 2, 2, NULL, &t_err), LEAT_E_NO_FILE);
    list[1] = "";
    T_STATUS(leat_dataset_open_list(&d, list, 4, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_dataset_open_list(&d, list, 0, NULL, &t_err), LEAT_E_ARGUMENT);
}

/* As many parts as files can be open, within reason. */
static void check_long_list(void)
{
    struct rlimit limit = { 0, 0 };
    char name[1100], text[20000] = "";
    unsigned count = 400;
    struct leat_dataset *d;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 2000 ? limit.rlim_max : 2000;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * count + 50)
        count = 20;
    memset(&joined, 0, sizeof joined);
    for (unsigned i = 0; i < count; i++) {
        unsigned part = i % 5 == 0 ? 4 : i % 7 == 0 ? 0 : i % 3 == 0 ? 1 : i % 11 == 0 ? 2 : 5;

        if (joined.token_count + 10 > 500)
            part = 3;
        join_part(part, parts[part].lengths);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", parts[part].name);
    }
    t_write(in_folder("long.list"), text, strlen(text));
    snprintf(name, sizeof name, "@%s", in_folder("long.list"));
    d = open_joined(name);
    compare_tokens(d);
    compare_documents(d);
    compare_document_lists(d);
    compare_inputs(d);
    leat_dataset_close(d);
}

/* ---- What cannot be opened ---- */

static void refused(const char *list, size_t count, enum leat_status status, const char *why)
{
    struct leat_dataset *d = (struct leat_dataset *)&joined;

    t_write(in_folder("bad.list"), list, count);
    T_STATUS(leat_dataset_open(&d, t_text("@%s", in_folder("bad.list")), NULL, &t_err), status);
    T_CHECK(d == NULL);
    T_CONTAINS(t_err.message, why);
    T_EQ(t_err.status, status);
}

static void check_refused(void)
{
    struct leat_dataset *d;
    char name[1100];

    refused("", 0, LEAT_E_NO_FILE, "names no dataset");
    refused("# nothing\n\n  \n", 14, LEAT_E_NO_FILE, "names no dataset");
    refused("a\nnot-there\n", 12, LEAT_E_NO_FILE, "not-there.leat");
    refused("a\nb\0c\n", 6, LEAT_E_ARGUMENT, "zero byte at byte 2");
    refused("other.tokens\n", 13, LEAT_E_NO_FILE, "other.leat");
    snprintf(name, sizeof name, "@%s", in_folder("no.list"));
    T_REFUSED(leat_dataset_open(&d, name, NULL, &t_err), LEAT_E_NO_FILE, "no.list");
    snprintf(name, sizeof name, "%s", in_folder("empty"));
    T_EQ(mkdir(name, 0777), 0);
    T_REFUSED(leat_dataset_open(&d, name, NULL, &t_err), LEAT_E_NO_FILE, "holds no dataset");
    T_STATUS(leat_dataset_open(&d, "", NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_dataset_open(&d, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
}

static void check_incompatible(void)
{
    struct leat_stored_tokenizer t = { "one", "", NULL, 0 };
    struct leat_writer_options o = plain_options();

    o.vocabulary = 5001;
    make_part(in_folder("empty/vocabulary"), 0, "1", &o);
    refused("a\nempty/vocabulary\n", 19, LEAT_E_INCOMPATIBLE, "their vocabulary size is 5000 and 5001");
    o = plain_options();
    o.end_token = 7;
    make_part(in_folder("empty/end-7"), 0, "1", &o);
    o.end_token = 8;
    make_part(in_folder("empty/end-8"), 0, "1", &o);
    refused("a\nempty/end-7\n", 14, LEAT_E_INCOMPATIBLE, "only the second has one (end-of-document token)");
    refused("empty/end-7\na\n", 14, LEAT_E_INCOMPATIBLE, "only the first has one (end-of-document token)");
    refused("empty/end-7\nempty/end-8\n", 24, LEAT_E_INCOMPATIBLE, "their end-of-document token is 7 and 8");
    o = plain_options();
    o.begin_token = 7;
    make_part(in_folder("empty/begin"), 0, "1", &o);
    refused("a\nempty/begin\n", 14, LEAT_E_INCOMPATIBLE, "only the second has one (begin token)");
    o = plain_options();
    o.tokenizer = &t;
    make_part(in_folder("empty/one"), 0, "1", &o);
    refused("a\nb\nempty/one\n", 14, LEAT_E_INCOMPATIBLE, "they differ in their tokenizer's fingerprint; pack both");
    T_CONTAINS(t_err.message, "empty/one cannot be joined");
}

int main(void)
{
    folder = t_folder();
    make_parts();
    check_folder();
    check_list_file();
    check_names();
    check_long_list();
    check_refused();
    check_incompatible();
    return t_end();
}
