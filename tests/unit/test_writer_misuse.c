/*
 * test_writer_misuse.c: calls of a writer that make no sense are refused, and what it has written stays whole. A
 * tokenizer's file, an input and metadata that are larger than what is copied at once come back as they were. A writer
 * whose lock file was removed, or whose files others wrote to, fails; tokens without an index are a killed run's only
 * if NAME.partial.leat is an index of so many; a writer with a relative name writes in the folder where it was opened.
 */
#include <sys/wait.h>

#include "one_document.h"
#include "private.h"
#include "support/files.h"
#include "t.h"

#define LARGE ((size_t)3 << 20)

static const char *folder;
static char large[LARGE + 1];

static struct leat_writer *begin(const char *name, const struct leat_stored_tokenizer *tokenizer)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 1000;
    o.tokenizer = tokenizer;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    return w;
}

static void test_lengths(void)
{
    struct leat_stored_tokenizer tokenizer = { .name = "t", .file = large, .file_bytes = UINT64_MAX - 3 };
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 1000;
    o.tokenizer = &tokenizer;
    T_STATUS(leat_writer_open(&w, t_path(folder, "lengths"), &o, &t_err), LEAT_E_NO_MEMORY);
    T_CHECK(!w);
}

static void test_prepared(void)
{
    struct leat_writer *w = begin("prepared", NULL);
    const uint16_t ids[3] = { 1, 2, 3 };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_input input = LEAT_INPUT_INIT;

    T_OK(leat_writer_add_input(w, "input", NULL, &t_err));
    T_STATUS(leat_writer_set_input(w, 0, NULL, &t_err), LEAT_E_ARGUMENT);
    T_REFUSED(leat_writer_set_input(w, 1, &input, &t_err), LEAT_E_ARGUMENT, "no input 1, only 1 inputs");
    input.size = 3;
    T_REFUSED(leat_writer_set_input(w, 0, &input, &t_err), LEAT_E_ARGUMENT, "leat_input");
    T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
    T_OK(leat_writer_prepare(w, &t_err));
    T_REFUSED(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err), LEAT_E_STATE, "it can only be finished");
    T_STATUS(leat_writer_prepare(w, &t_err), LEAT_E_STATE);
    T_OK(leat_writer_finish(w, &info, &t_err));
    T_EQ(info.tokens, 3);
}

static const char *in_folder(const char *name, const char *suffix)
{
    return t_text("%s/%s%s", folder, name, suffix);
}

/* Another writer of the same name, after an operator removed the lock file of the first. */
static struct leat_writer *take_over(const char *name)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    const uint16_t ids[2] = { 8, 9 };
    struct leat_writer *other;

    o.vocabulary = 1000;
    o.force = 1;
    T_STATUS(leat_writer_open(&other, t_path(folder, name), &o, &t_err), LEAT_E_BUSY);
    T_EQ(unlink(in_folder(name, ".partial.lock")), 0);
    T_OK(leat_writer_open(&other, t_path(folder, name), &o, &t_err));
    T_OK(add_one_document(other, ids, 2, NULL, 2, NULL, &t_err));
    return other;
}

/* Both went on in the same files: the first, which had been stopped, gave names to those of the other. */
static void test_taken_over(void)
{
    const uint16_t ids[3] = { 1, 2, 3 };

    for (int way = 0; way < 4; way++) {
        struct leat_writer *w = begin("taken", NULL), *other;
        struct leat_info info = LEAT_INFO_INIT;
        struct leat_dataset *d;

        T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
        if (way != 1)
            T_OK(leat_writer_checkpoint(w, NULL, 0, &t_err));
        if (way == 2)
            T_OK(leat_writer_prepare(w, &t_err));
        other = take_over("taken");
        if (way == 0)
            T_STATUS(leat_writer_checkpoint(w, NULL, 0, &t_err), LEAT_E_BUSY);
        else if (way < 3)
            T_STATUS(leat_writer_finish(w, NULL, &t_err), LEAT_E_BUSY);
        if (way < 3)
            T_CONTAINS(t_err.message, "so another process may be writing the same files");
        if (way == 1)
            leat_writer_abandon(w);
        else
            leat_writer_suspend(w);
        T_EQ(access(in_folder("taken", ".partial.lock"), F_OK), 0);
        T_OK(leat_writer_checkpoint(other, NULL, 0, &t_err));
        T_OK(leat_writer_finish(other, &info, &t_err));
        T_EQ(info.tokens, 2);
        T_OK(leat_dataset_open(&d, t_path(folder, "taken"), NULL, &t_err));
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
        T_EQ(unlink(in_folder("taken", ".tokens")), 0);
        T_EQ(unlink(in_folder("taken", ".leat")), 0);
    }
}

/* Somebody else wrote into a file that becomes a section of the index: zeros got a valid checksum. */
static void test_other_bytes(void)
{
    static const char *const files[] = { ".partial.ids", ".partial.documents", ".partial.origins" };
    const uint8_t zeros[64] = { 0 };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
        struct leat_origin origin = { .input = 0, .line = LEAT_NONE, .id = "document", .id_bytes = 8 };
        const uint16_t ids[3] = { 1, 2, 3 };
        struct leat_writer *w;
        int fd;

        o.vocabulary = 1000;
        o.store_ids = 1;
        T_OK(leat_writer_open(&w, t_path(folder, "bytes"), &o, &t_err));
        T_OK(leat_writer_add_input(w, "input", NULL, &t_err));
        for (origin.offset = 1; origin.offset <= 20000; origin.offset++)
            T_OK(add_one_document(w, ids, 2, NULL, 3, &origin, &t_err));
        fd = open(in_folder("bytes", files[i]), O_WRONLY);
        T_CHECK(fd >= 0 && pwrite(fd, zeros, sizeof zeros, 4096) == (ssize_t)sizeof zeros);
        close(fd);
        T_REFUSED(leat_writer_finish(w, NULL, &t_err), LEAT_E_CHECKSUM, "does not hold what was written to it");
        leat_writer_abandon(w);
    }
}

/* The tokens are of one document more than the planted index says. */
static void test_planted(void)
{
    static const char *const planted[] = { "", "of others" };
    struct leat_writer *w = begin("less", NULL);
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    const uint16_t ids[3] = { 1, 2, 3 };

    o.vocabulary = 1000;
    T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    for (unsigned i = 0; i < 3; i++) {
        t_write_text(in_folder("mine", ".tokens"), "tokens");
        if (i < 2)
            t_write_text(in_folder("mine", ".partial.leat"), planted[i]);
        else
            T_CHECK(copy_file(t_path(folder, "less.leat"), in_folder("mine", ".partial.leat")));
        t_write_text(in_folder("mine", ".tokens"), i < 2 ? "tokens" : "tokens of mine");
        T_REFUSED(leat_writer_open(&w, t_path(folder, "mine"), &o, &t_err), LEAT_E_EXISTS,
                  "mine.tokens already exists, without an index");
        T_EQ(access(in_folder("mine", ".tokens"), F_OK), 0);
    }
    t_write_text(in_folder("mine", ".tokens"), "tokens"); /* as long as that index says */
    T_OK(leat_writer_open(&w, t_path(folder, "mine"), &o, &t_err));
    T_CHECK(access(in_folder("mine", ".tokens"), F_OK) != 0);
    leat_writer_abandon(w);
}

/* The parent's goes on. */
static void test_child(void)
{
    struct leat_writer *w = begin("child", NULL);
    const uint16_t ids[3] = { 1, 2, 3 };
    struct leat_info info = LEAT_INFO_INIT;
    int status;
    pid_t child;

    T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
    child = fork();
    if (child == 0) {
        T_REFUSED(leat_writer_finish(w, NULL, &t_err), LEAT_E_FORKED, "it does not work after fork");
        leat_writer_abandon(w);
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
    T_OK(leat_writer_finish(w, &info, &t_err));
    T_EQ(info.tokens, 6);
}

/* What it leaves, in the folder and in the one where the process is. */
static void left(const char *home, const char *away, uint64_t files)
{
    T_EQ(t_files(home), files + 2);
    T_EQ(t_files(away), 2);
}

static void test_other_folder(void)
{
    const uint16_t ids[3] = { 1, 2, 3 };
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_writer *w;
    char home[600], away[600];

    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(away, sizeof away, "%s/away", folder);
    T_CHECK(mkdir(home, 0777) == 0 && mkdir(away, 0777) == 0);
    o.vocabulary = 1000;
    for (int end = 0; end < 3; end++) { /* abandoned, suspended, finished */
        T_CHECK(chdir(home) == 0);
        T_OK(end < 2 ? leat_writer_open(&w, "x", &o, &t_err) : leat_writer_resume(&w, "x", &o, NULL, NULL, &t_err));
        T_CHECK(chdir(away) == 0);
        T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
        if (end < 2)
            T_OK(leat_writer_checkpoint(w, "note", 4, &t_err));
        if (end == 0)
            leat_writer_abandon(w);
        else if (end == 1)
            leat_writer_suspend(w);
        else
            T_OK(leat_writer_finish(w, &info, &t_err));
        left(home, away, end == 0 ? 0 : end == 1 ? 6 : 2);
    }
    T_EQ(info.tokens, 6);
    T_CHECK(chdir(home) == 0);
    T_REFUSED(leat_writer_open(&w, "x", &o, &t_err), LEAT_E_EXISTS, "x.leat already exists");
    T_CHECK(t_err.message[0] == 'x');
    T_CHECK(chdir("/") == 0);
}

static void test_large(void)
{
    struct leat_stored_tokenizer tokenizer = { .name = "t", .file = large, .file_bytes = LARGE }, *stored;
    struct leat_writer *w;
    struct leat_metadata *metadata;
    struct leat_dataset *d;
    uint64_t bytes;
    char *path;

    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + i % 17);
    w = begin("large", &tokenizer);
    T_OK(leat_writer_add_input(w, large, NULL, &t_err));
    T_OK(leat_writer_set_metadata(w, "key", large, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&d, t_path(folder, "large"), NULL, &t_err));
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    T_OK(leat_dataset_tokenizer(d, &stored, &t_err));
    T_CHECK(stored->file_bytes == LARGE && memcmp(stored->file, large, LARGE) == 0);
    leat_stored_tokenizer_free(stored);
    T_OK(leat_dataset_metadata(d, 0, &metadata, &t_err));
    T_CHECK(metadata->pairs[0].value_bytes == LARGE && memcmp(metadata->pairs[0].value, large, LARGE) == 0);
    leat_metadata_free(metadata);
    path = malloc(LARGE + 1);
    T_OK(leat_dataset_input_path(d, 0, path, LARGE + 1, &bytes, &t_err));
    T_CHECK(bytes == LARGE && memcmp(path, large, LARGE) == 0);
    free(path);
    leat_dataset_close(d);
}

int main(void)
{
    folder = t_folder();
    test_lengths();
    test_prepared();
    test_planted();
    test_child();
    test_large();
    test_taken_over();
    test_other_bytes();
    test_other_folder();
    return t_end();
}
