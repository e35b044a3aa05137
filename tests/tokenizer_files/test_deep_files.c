/*
 * test_deep_files.c: how deep and how long a tokenizer's file is does not decide how much stack its use takes: files
 * are opened, and texts encoded and decoded, on a thread with a small stack, as those of host programs have.
 */
#include <pthread.h>

#include "leat_pack.h"
#include "t.h"

#include "base/jsontree.h"
#include "tokenizer/load/load_hf.h"

#define STACK_BYTES ((size_t)256 << 10)

static char file[1 << 20];
static size_t file_bytes;

static void add(const char *text)
{
    size_t bytes = strlen(text);

    if (file_bytes + bytes > sizeof file) {
        T_FAIL("the file is too long");
        exit(1);
    }
    memcpy(file + file_bytes, text, bytes);
    file_bytes += bytes;
}

static void add_times(const char *text, unsigned times)
{
    while (times-- > 0)
        add(text);
}

/* A tokenizer.json whose tokens are the letters a and b and the digits 1 and 2, with a member. */
static void begin_file(const char *member)
{
    file_bytes = 0;
    add("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"1\":2,\"2\":3,\"ab\":4},\"merges\":[[\"a\",\"b\"]]},"
        "\"");
    add(member);
    add("\":");
}

/* ---- On a thread with a small stack ---- */

struct work {
    const char *text;
    enum leat_status opened, encoded;
    struct leat_error err;
    uint32_t ids[16];
    uint64_t count;
};

static void *run(void *context)
{
    struct work *w = context;
    struct leat_stored_tokenizer stored = { "made.json", "", file, file_bytes };
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    const char *back;
    uint64_t bytes;

    w->opened = leat_tokenizer_open_stored(&t, &stored, &w->err);
    if (w->opened != LEAT_OK)
        return NULL;
    w->encoded = leat_encoder_open(&e, t, NULL, &w->err);
    if (w->encoded == LEAT_OK) {
        w->encoded = leat_encoder_encode(e, w->text, strlen(w->text), &ids, &w->count, &w->err);
        if (w->encoded == LEAT_OK && w->count <= 16)
            memcpy(w->ids, ids, w->count * sizeof *ids);
        if (w->encoded == LEAT_OK)
            w->encoded = leat_encoder_decode(e, w->ids, w->count < 16 ? w->count : 0, &back, &bytes, &w->err);
        leat_encoder_close(e);
    }
    leat_tokenizer_close(t);
    return NULL;
}

static struct work work(const char *text)
{
    struct work w = { .text = text };
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    T_CHECK(pthread_create(&thread, &attributes, run, &w) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return w;
}

/* The file opens, and the text becomes these ids. */
static void check_ids(const char *what, const char *text, const uint32_t *ids, uint64_t count)
{
    struct work w = work(text);

    if (w.opened != LEAT_OK || w.encoded != LEAT_OK)
        T_FAIL("%s: %s", what, w.err.message);
    else if (w.count != count || memcmp(w.ids, ids, count * sizeof *ids) != 0)
        T_FAIL("%s: other ids", what);
}

static void check_refused(const char *what, const char *why)
{
    struct work w = work("ab");

    if (w.opened == LEAT_OK || !strstr(w.err.message, why))
        T_FAIL("%s: not refused with \"%s\": %s", what, why, w.opened == LEAT_OK ? "opened" : w.err.message);
}

/* ---- Files ---- */

static const uint32_t cut[] = { 4, 2, 3, 4 }; /* of "ab12ab" */

static void long_sequence(const char *member, const char *list, const char *component, unsigned times)
{
    begin_file(member);
    add("{\"type\":\"Sequence\",\"");
    add(list);
    add("\":[");
    add(component);
    for (unsigned i = 1; i < times; i++) {
        add(",");
        add(component);
    }
    add("]}}");
}

#define DIGITS "{\"type\":\"Digits\",\"individual_digits\":true}"
#define SPLIT                                                                                                          \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[0-9]|[a-z]+\"},"                                                    \
    "\"behavior\":\"Isolated\",\"invert\":false}"
#define LOWER "{\"type\":\"Lowercase\"}"
#define FUSE  "{\"type\":\"Fuse\"}"

static void check_long(void)
{
    static const struct {
        const char *member, *list, *component;
    } all[] = { { "pre_tokenizer", "pretokenizers", DIGITS },
                { "pre_tokenizer", "pretokenizers", SPLIT },
                { "normalizer", "normalizers", LOWER },
                { "decoder", "decoders", FUSE } };
    struct work w;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        long_sequence(all[i].member, all[i].list, all[i].component, 1000);
        check_ids(all[i].component, "ab12ab", cut, 4);
        if (strcmp(all[i].component, SPLIT) == 0) /* which takes a millisecond each */
            continue;
        long_sequence(all[i].member, all[i].list, all[i].component, LOAD_HF_COMPONENTS);
        check_ids(all[i].component, "ab12ab", cut, 4);
        long_sequence(all[i].member, all[i].list, all[i].component, LOAD_HF_COMPONENTS + 1);
        w = work("ab");
        T_STATUS(w.opened, LEAT_E_UNSUPPORTED);
        check_refused(all[i].component, "more than 1024");
    }
}

/* Sequences in Sequences, as deep as brackets may be, before and after which there is something else. */
static void nested(const char *member, const char *list, const char *component, unsigned depth)
{
    begin_file(member);
    for (unsigned i = 0; i < depth; i++) {
        add("{\"type\":\"Sequence\",\"");
        add(list);
        add("\":[");
    }
    add(component);
    for (unsigned i = 0; i < depth; i++) {
        add(",");
        add(component);
        add("]}");
    }
    add("}");
}

static void check_nested(void)
{
    unsigned max = (JSONTREE_MAX_DEPTH - 2) / 2; /* inside of the file, and around a component */

    nested("pre_tokenizer", "pretokenizers", DIGITS, max);
    check_ids("nested Digits", "ab12ab", cut, 4);
    nested("normalizer", "normalizers", LOWER, max);
    check_ids("nested Lowercase", "AB12ab", cut, 4);
    nested("decoder", "decoders", FUSE, max);
    check_ids("nested Fuse", "ab12ab", cut, 4);
    nested("pre_tokenizer", "pretokenizers", DIGITS, max + 1);
    check_refused("nested too deeply", "more than 127 nested brackets");
}

/* An expression: `opening` so many times, the middle, `closing` as often. */
static void expression(const char *opening, const char *middle, const char *closing, unsigned times)
{
    begin_file("pre_tokenizer");
    add("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"");
    add_times(opening, times);
    add(middle);
    add_times(closing, times);
    add("\"},\"behavior\":\"Isolated\",\"invert\":false}}");
}

static void check_expressions(void)
{
    static const struct {
        const char *opening, *middle, *closing;
    } all[] = { { "(", "1|2", ")" },
                { "(?=", "1|2", ")1|2" },
                { "(?:x|(?:", "1|2", "))" },
                { "[", "12", "]" },
                { "(?i)(", "1|2", "){1}" } };
    static const unsigned counts[] = { 10, 30, 60, 64, 65, 1000, 10000 };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            expression(all[i].opening, all[i].middle, all[i].closing, counts[k]);
            if (counts[k] <= 30)
                check_ids(all[i].opening, "ab12ab", cut, 4);
            else if (counts[k] > 65)
                check_refused(all[i].opening, "nested too deeply");
            else
                work("ab12ab");
        }
    /* Oniguruma repeats what is repeated: each goes around all before it */
    expression("", "1|2", "{1}", 100);
    check_ids("a hundred repetitions", "ab12ab", cut, 4);
    expression("", "1|2", "{1}", 100000);
    check_refused("100,000 repetitions", "nested too deeply");
}

int main(void)
{
    check_long();
    check_nested();
    check_expressions();
    return t_end();
}
