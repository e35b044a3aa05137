/*
 * test_refused_names.c: names that opening and writing refuse, and missing arguments: at once, with a status and a
 * sentence, and nothing written. And a name that both a dataset and a folder have.
 */
#include "one_document.h"
#include "t.h"

static const char *folder;

static void write_one(const char *name, uint16_t token)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    options.vocabulary = 1000;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    T_OK(add_one_document(w, &token, 2, NULL, 1, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void refuse_to_write(const char *name)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w = (void *)&options;
    uint64_t before = t_files(folder);

    options.vocabulary = 1000;
    options.force = 1;
    T_STATUS(leat_writer_open(&w, name, &options, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(!w && t_err.message[0]);
    w = (void *)&options;
    T_STATUS(leat_writer_resume(&w, name, &options, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(!w && t_err.message[0]);
    T_EQ(t_files(folder), before);
}

static void refuse_to_open(const char *name, enum leat_status status, const char *why)
{
    struct leat_dataset *d = (void *)&status;

    T_STATUS(leat_dataset_open(&d, name, NULL, &t_err), status);
    T_CHECK(!d);
    T_CONTAINS(t_err.message, why);
    T_STATUS(leat_dataset_open(&d, name, NULL, NULL), status); /* no `err` is fine */
}

static void test_writing(void)
{
    static const char *const names[] = { "x.partial", "x.partial.leat", "x.partial.tokens", ".", "..", "a/",
                                         "a/.",       "a/..",           "a/.leat",          "" };

    mkdir(t_path(folder, "a"), 0777);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        refuse_to_write(t_path(folder, names[i]));
    refuse_to_write("");
    refuse_to_write(".");
    refuse_to_write("..");
    refuse_to_write(NULL);
}

static void test_opening(void)
{
    write_one("whole", 5);
    T_EQ(link(t_path(folder, "whole.leat"), t_path(folder, "whole.partial.leat")), 0);
    T_EQ(link(t_path(folder, "whole.tokens"), t_path(folder, "whole.partial.tokens")), 0);
    refuse_to_open(t_path(folder, "whole.partial"), LEAT_E_ARGUMENT, ".partial");
    refuse_to_open(t_path(folder, "whole.partial.leat"), LEAT_E_ARGUMENT, ".partial");
    refuse_to_open(t_path(folder, "whole.partial.tokens"), LEAT_E_ARGUMENT, ".partial");
    refuse_to_open("", LEAT_E_ARGUMENT, "empty");
    refuse_to_open(NULL, LEAT_E_ARGUMENT, "name");
    unlink(t_path(folder, "whole.partial.leat"));
    unlink(t_path(folder, "whole.partial.tokens"));
}

/* What is there instead of a dataset is named. */
static void test_instead(void)
{
    t_write_text(t_path(folder, "array.npy"), "\x93NUMPY");
    refuse_to_open(t_path(folder, "array.npy"), LEAT_E_NO_FILE,
                   "array.npy is a NumPy array by its name: if it holds bare token ids, as OLMo-core's .npy does, "
                   "raw:FILE?dtype=u16 (or u32) reads it");
}

/* Nobody writes into these pipes: opening them must not wait. */
static void test_pipes(void)
{
    T_EQ(mkfifo(t_path(folder, "p.leat"), 0666), 0);
    T_EQ(link(t_path(folder, "whole.tokens"), t_path(folder, "p.tokens")), 0);
    refuse_to_open(t_path(folder, "p"), LEAT_E_IO, "p.leat is not a regular file");
    T_EQ(mkfifo(t_path(folder, "q.tokens"), 0666), 0);
    T_EQ(link(t_path(folder, "whole.leat"), t_path(folder, "q.leat")), 0);
    refuse_to_open(t_path(folder, "q"), LEAT_E_IO, "q.tokens is not a regular file");
    refuse_to_open(t_text("@%s/p.leat", folder), LEAT_E_IO, "p.leat is not a regular file");
    mkdir(t_path(folder, "d.leat"), 0777);
    refuse_to_open(t_path(folder, "d"), LEAT_E_IO, "d.leat is not a regular file");
}

static void check_first(const char *name, uint32_t token, uint64_t documents)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint32_t first;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, documents);
    T_OK(leat_dataset_read_u32(d, 0, 1, &first, &t_err));
    T_EQ(first, token);
    leat_dataset_close(d);
}

static void test_folder_beside(void)
{
    mkdir(t_path(folder, "both"), 0777);
    write_one("both/1", 7);
    write_one("both/2", 8);
    check_first(t_path(folder, "both"), 7, 2);
    write_one("both", 9);
    check_first(t_path(folder, "both"), 9, 1);
    check_first(t_path(folder, "both.leat"), 9, 1);
    check_first(t_path(folder, "both/"), 7, 2);
}

static void test_missing(void)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_writer *w;
    uint64_t number = 5;

    options.vocabulary = 1000;
    T_OK(leat_writer_open(&w, t_path(folder, "missing"), &options, &t_err));
    T_STATUS(leat_writer_add_input(w, NULL, &number, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_writer_set_metadata(w, NULL, "value", &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_writer_set_metadata(w, "", "value", &t_err), LEAT_E_ARGUMENT);
    T_EQ(number, 5);
    T_OK(leat_writer_finish(w, NULL, &t_err)); /* none of these makes the writer fail */
    T_OK(leat_dataset_open(&d, t_path(folder, "missing"), NULL, &t_err));
    T_STATUS(leat_dataset_find_input(d, NULL, &number, &t_err), LEAT_E_ARGUMENT);
    T_EQ(number, 5);
    leat_dataset_close(d);
    T_STATUS(leat_writer_open(&w, t_path(folder, "missing2"), NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(!w);
}

int main(void)
{
    folder = t_folder();
    test_writing();
    test_opening();
    test_instead();
    test_pipes();
    test_folder_beside();
    test_missing();
    return t_end();
}
