/*
 * test_merged_columns.c: whichever allocation or system call fails while datasets with columns are merged and shuffled:
 * an error that says so, nothing left allocated or open; or the columns of an undisturbed run. The process is killed
 * before and after each call. After all of this the dataset is there with all of its columns, or it is not there; what
 * else is left is in nobody's way, and merging again removes it.
 */
#include <signal.h>
#include <sys/wait.h>

#include "each_call.h"
#include "leat_pack.h"
#include "one_document.h"
#include "support/files.h"

#define DOCUMENTS 15u

static const char *folder, *name;
static const char *parts[2];
static uint64_t files;    /* in the folder, without the merged dataset */
static uint64_t expected; /* answer of an undisturbed run */
static bool made;         /* true if the last run merged without an error */

static void attach(const struct leat_dataset *d, const char *column, uint32_t type, uint32_t at, uint64_t count)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_column_writer *w;
    uint16_t value;

    o.name = column;
    o.type = type;
    o.at = at;
    T_OK(leat_column_writer_open(&w, d, &o, &t_err));
    for (uint64_t i = 0; i < count; i++) {
        value = (uint16_t)(type == LEAT_COLUMN_CATEGORY ? i % 2 : 7 * i);
        T_OK(leat_column_writer_add(w, &value, 1, LEAT_COLUMN_U16, &t_err));
    }
    if (type == LEAT_COLUMN_CATEGORY)
        T_OK(leat_column_writer_texts(w, "ende", (uint64_t[]) { 2, 4 }, 2, &t_err));
    T_OK(leat_column_writer_finish(w, &t_err));
}

static void write_part(const char *part)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_writer *w;

    o.vocabulary = 1000;
    T_OK(leat_writer_open(&w, part, &o, &t_err));
    for (unsigned i = 0; i < DOCUMENTS; i++)
        T_OK(add_one_document(w, (uint16_t[]) { 1, 2, 3 }, 2, NULL, 1 + i % 3, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&d, part, NULL, &t_err));
    attach(d, "lang", LEAT_COLUMN_CATEGORY, LEAT_COLUMN_DOCUMENT, DOCUMENTS);
    attach(d, "teacher", LEAT_COLUMN_I32, LEAT_COLUMN_TOKEN, 2 * DOCUMENTS);
    leat_dataset_close(d);
}

static enum leat_status merge(struct leat_error *err)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.shuffle = 1;
    o.threads = 1;
    o.force = 1; /* a dataset that is there after a kill */
    return leat_merge(name, parts, 2, &o, NULL, err);
}

/* Reads both columns. Returns LEAT_E_NO_FILE if there is no dataset. */
static enum leat_status read_columns(uint64_t *answer, struct leat_error *err)
{
    static const char *const columns[] = { "lang", "teacher" };
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    for (unsigned i = 0; s == LEAT_OK && i < 2; i++) {
        struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
        uint8_t out[16 * DOCUMENTS];
        struct leat_column *c;

        s = leat_column_open(&c, d, columns[i], err);
        if (s != LEAT_OK)
            break;
        leat_column_info(c, &info);
        T_CHECK(info.bytes <= sizeof out);
        s = leat_column_read(c, 0, info.entries, out, err);
        each_call_answer(answer, out, info.bytes);
        leat_column_close(c);
    }
    leat_dataset_close(d);
    return s;
}

static enum leat_status merge_and_read(const char *subject, uint64_t *answer, struct leat_error *err)
{
    enum leat_status s = merge(err);

    (void)subject;
    made = s == LEAT_OK;
    return s == LEAT_OK ? read_columns(answer, err) : s;
}

static void remove_merged(void)
{
    static const char *const suffixes[] = { ".leat",           ".tokens",
                                            ".lang.column",    ".lang.column-index",
                                            ".teacher.column", ".teacher.column-index" };

    for (unsigned i = 0; i < 6; i++)
        unlink(t_text("%s%s", name, suffixes[i]));
    T_EQ(t_files(folder), files);
}

/* Checks that the last run left the dataset with its columns, or none, and that merging again removes what else it
 * left. */
static void check_left(void)
{
    uint64_t answer = 0;
    enum leat_status s = read_columns(&answer, &t_err);

    T_CHECK(s == LEAT_OK ? answer == expected : s == LEAT_E_NO_FILE && !made);
    answer = 0;
    T_OK(merge_and_read(name, &answer, &t_err));
    T_EQ(answer, expected);
    T_EQ(t_files(folder), files + 6);
    remove_merged();
    made = false;
}

static bool kill_at(enum fault_mode mode, uint64_t n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        _exit(merge(NULL) == LEAT_OK ? 0 : 1);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    T_CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return WIFSIGNALED(status);
}

static void check_kills(enum fault_mode mode)
{
    unsigned missing = 0, there = 0;
    bool killed = true;

    for (uint64_t n = 1; killed && !t_failures; n++) {
        bool is_there;

        killed = kill_at(mode, n);
        is_there = access(t_text("%s.leat", name), F_OK) == 0;
        missing += !is_there;
        there += is_there;
        made = !killed;
        check_left();
    }
    T_CHECK(missing > 20 && there > 1);
}

int main(void)
{
    folder = t_folder();
    name = t_path(folder, "d");
    parts[0] = t_path(folder, "p0");
    parts[1] = t_path(folder, "p1");
    write_part(parts[0]);
    write_part(parts[1]);
    files = t_files(folder);
    T_OK(merge_and_read(name, &expected, &t_err));
    each_call_fails(&(struct each_call) { merge_and_read, name, check_left, false, 60 });
    check_left();
    check_kills(FAULT_KILL_BEFORE);
    check_kills(FAULT_KILL_AFTER);
    return t_end();
}
