/*
 * test_cat_text.c: `leat cat` shows the text that was encoded, by the tokenizer that the dataset keeps: documents
 * longer than a block, parts of documents, characters cut in two, and a vocabulary whose text depends on neighbours.
 * What the vocabulary "bytes" shows is as it was before there were others.
 */
#include <unistd.h>

#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

#define LONG_PIECES 30000u /* more ids than `leat cat` reads at once */

/* As SentencePiece has it: a mark for the space, which is nothing before the first token; characters made of bytes. */
static const char by_neighbours[] =
    "{\"version\":\"1.0\",\"decoder\":{\"type\":\"Sequence\",\"decoders\":["
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xe2\x96\x81\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},"
    "{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]},"
    "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"\xe2\x96\x81\":0,\"a\":1,\"\xe2\x96\x81"
    "a\":2,\"<0xC3>\":3,\"<0xA9>\":4},\"merges\":[\"\xe2\x96\x81 a\"]}}";

static const char *folder;

/* What a command prints; its exit code must be this one. */
static const char *run(int code, const char *arguments, const char *name, size_t *bytes)
{
    static char out[1 << 20];
    const char *build = getenv("LEAT_BUILD");
    char command[2048];
    FILE *pipe;

    snprintf(command, sizeof command, "%s/leat cat %s %s 2>&1", build ? build : "build", t_path(folder, name),
             arguments);
    pipe = popen(command, "r");
    if (!pipe) {
        T_FAIL("cannot run %s", command);
        exit(1);
    }
    *bytes = fread(out, 1, sizeof out - 1, pipe);
    out[*bytes] = '\0';
    if (pclose(pipe) != code << 8)
        T_FAIL("%s: not exit code %d: %s", command, code, out);
    return out;
}

#define SHOWS(arguments, name, wanted)                                                                                 \
    do {                                                                                                               \
        size_t s_bytes;                                                                                                \
        T_STR(run(0, arguments, name, &s_bytes), wanted);                                                              \
    } while (0)

static struct leat_writer *begin(const char *name, const struct leat_tokenizer *t, uint64_t end_token)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_stored_tokenizer stored;
    struct leat_writer *w;

    leat_tokenizer_info(t, &info);
    leat_tokenizer_stored(t, &stored);
    options.vocabulary = info.vocabulary;
    options.end_token = end_token;
    options.tokenizer = &stored;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    return w;
}

static void add_text(struct leat_writer *w, struct leat_encoder *e, const char *text)
{
    const uint32_t *ids;
    uint64_t count;

    T_OK(leat_encoder_encode(e, text, strlen(text), &ids, &count, &t_err));
    T_OK(add_one_document(w, ids, 4, NULL, count, NULL, &t_err));
}

/* A text whose tokens hold parts of characters, longer than a block of ids. */
static char *long_text(void)
{
    char *text = malloc(LONG_PIECES * 24), *to = text;

    for (unsigned i = 0; i < LONG_PIECES; i++)
        to += snprintf(to, 24, " %x\xf0\x9f\xa7%c%s", i * 7919u, 0x80 + (int)(i % 64), i % 5 ? "" : "\n");
    return text;
}

static void test_builtin(const char *spec)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    struct leat_writer *w;
    char *text = long_text();
    const char *shown;
    size_t bytes;

    T_OK(leat_tokenizer_open(&t, spec, NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    leat_tokenizer_info(t, &info);
    w = begin(spec, t, info.end_token);
    add_text(w, e, "first");
    add_text(w, e, "");
    add_text(w, e, "with a newline\n");
    add_text(w, e, text);
    T_OK(leat_writer_finish(w, NULL, &t_err));
    SHOWS("--document 0", spec, "first");
    SHOWS("--document 0 --text", spec, "first");
    SHOWS("--document 0:3", spec, "first\n\nwith a newline\n");
    shown = run(0, "--document 3", spec, &bytes);
    T_EQ(bytes, strlen(text));
    T_CHECK(strcmp(shown, text) == 0);
    shown = run(0, "--tokens :", spec, &bytes);
    T_EQ(bytes, strlen(text) + strlen("firstwith a newline\n"));
    T_CHECK(strncmp(shown, "firstwith a newline\n ", 21) == 0);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    free(text);
}

static void test_neighbours(void)
{
    static const uint32_t document[] = { 2, 2, 0, 3, 4, 1 }; /* "a a \u00e9a" */
    const char *path = t_path(folder, "tokenizer.json");
    FILE *file = fopen(path, "w");
    struct leat_tokenizer *t;
    struct leat_writer *w;

    if (!file || fputs(by_neighbours, file) < 0 || fclose(file) != 0) {
        T_FAIL("cannot write %s", path);
        exit(1);
    }
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    w = begin("neighbours", t, LEAT_NONE);
    T_OK(add_one_document(w, document, 4, NULL, 6, NULL, &t_err));
    T_OK(add_one_document(w, NULL, 4, NULL, 0, NULL, &t_err));
    T_OK(add_one_document(w, document, 4, NULL, 1, NULL, &t_err));
    for (unsigned i = 0; i < LONG_PIECES; i++)
        T_OK(leat_writer_append(w, document + 3, 4, NULL, 2, &t_err));
    T_OK(leat_writer_end_document(w, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    remove(path); /* the dataset has all it needs */
    SHOWS("--document 0", "neighbours",
          "a a \xc3\xa9"
          "a");
    SHOWS("--document 0:3", "neighbours",
          "a a \xc3\xa9"
          "a\n\na\n");
    SHOWS("--tokens 0:3", "neighbours", "a a ");
    SHOWS("--tokens 1:2", "neighbours", "a"); /* a part is a text of its own */
    SHOWS("--tokens 3:4", "neighbours", "\xef\xbf\xbd");
    for (unsigned k = 0; k < 2; k++) { /* no character is cut where a block of ids ends */
        size_t bytes;
        const char *shown = run(0, k ? "--tokens 7:" : "--document 3", "neighbours", &bytes);

        T_EQ(bytes, 2 * LONG_PIECES);
        T_CHECK(strstr(shown, "\xef\xbf\xbd") == NULL);
    }
    leat_tokenizer_close(t);
}

/* Ids that are no bytes have no text; without a tokenizer, or with one that is broken, the way out is named. */
static void test_others(void)
{
    static const uint32_t marked[] = { 'a', 256, 'b', 256, '\n' };
    struct leat_stored_tokenizer broken = { .name = "x.json", .pattern = "", .file = "{", .file_bytes = 1 };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_writer *w;
    size_t bytes;

    T_OK(leat_tokenizer_open(&t, "bytes", NULL, &t_err));
    w = begin("marked", t, LEAT_NONE);
    T_OK(add_one_document(w, marked, 4, NULL, 5, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    SHOWS("--document 0", "marked", "ab\n");
    SHOWS("--document 0 --ids", "marked", "97 256 98 256 10\n");
    SHOWS("--tokens 1:4 --ids", "marked", "256 98 256\n");
    leat_tokenizer_close(t);
    for (unsigned k = 0; k < 2; k++) {
        const char *name = k ? "broken" : "none";

        options.vocabulary = 256;
        options.tokenizer = k ? &broken : NULL;
        T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
        T_OK(add_one_document(w, marked, 4, NULL, 1, NULL, &t_err));
        T_OK(leat_writer_finish(w, NULL, &t_err));
        T_CONTAINS(run(1, "--document 0", name, &bytes), "use --ids");
        T_CONTAINS(run(1, "--document 0", name, &bytes), name);
        SHOWS("--document 0 --ids", name, "97\n");
    }
}

int main(void)
{
    char leat[512];

    snprintf(leat, sizeof leat, "%s/leat", getenv("LEAT_BUILD") ? getenv("LEAT_BUILD") : "build");
    if (access(leat, X_OK) != 0)
        return t_skip("there is no leat command");
    folder = t_folder();
    test_builtin("bytes");
    test_builtin("gpt2");
    test_builtin("o200k_base");
    test_neighbours();
    test_others();
    return t_end();
}
