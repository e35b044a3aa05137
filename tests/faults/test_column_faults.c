/*
 * test_column_faults.c: whichever allocation or system call fails while a column is attached: an error that says so,
 * nothing left allocated, open or in the folder, and the dataset without the column; or the column as in an undisturbed
 * run. The process is killed before and after each call: the column is there and complete, or it is not there, and
 * attaching it again works. A column that is replaced is the old one, the new one, or gone. All of this holds for a
 * column that is attached in parts, and committed: until it is there, all parts are.
 */
#include <signal.h>
#include <sys/wait.h>

#include "each_call.h"
#include "one_document.h"
#include "support/files.h"

#define DOCUMENTS 1100u

static const char *folder, *name;
static uint32_t values[DOCUMENTS];
static uint64_t files; /* in the folder, without columns */

static void write_dataset(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 1000;
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    for (unsigned i = 0; i < DOCUMENTS; i++)
        T_OK(add_one_document(w, (uint16_t[]) { 1, 2 }, 2, NULL, 2, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Attaches the column, or with `parts` a part of it. */
static enum leat_status attach_part(uint64_t part, uint64_t parts, uint32_t first, uint32_t force,
                                    struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_column_writer *w = NULL;
    uint64_t begin = 0, count = DOCUMENTS;
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    o.name = "score";
    o.type = LEAT_COLUMN_U32;
    o.at = LEAT_COLUMN_DOCUMENT;
    o.force = force;
    o.part = part;
    o.parts = parts;
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        values[i] = first + i;
    if (s == LEAT_OK && parts > 0)
        s = leat_column_range(d, part, parts, &begin, &count, err);
    if (s == LEAT_OK)
        s = leat_column_writer_open(&w, d, &o, err);
    if (s == LEAT_OK)
        s = leat_column_writer_add(w, values + begin, count, LEAT_COLUMN_U32, err);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(w, err);
    if (s != LEAT_OK)
        leat_column_writer_abandon(w);
    leat_dataset_close(d);
    return s;
}

static enum leat_status attach(uint32_t first, uint32_t force, struct leat_error *err)
{
    return attach_part(0, 0, first, force, err);
}

/* Attaches the column in two parts. */
static enum leat_status attach_parts(uint32_t first, uint32_t force, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status s = attach_part(0, 2, first, force, err);

    if (s == LEAT_OK)
        s = attach_part(1, 2, first, force, err);
    if (s == LEAT_OK)
        s = leat_dataset_open(&d, name, NULL, err);
    if (s != LEAT_OK)
        return s;
    s = leat_column_commit(d, "score", 2, force, err);
    leat_dataset_close(d);
    return s;
}

/* Returns the first value of the column, after checking the others, or LEAT_NONE if there is no column. */
static uint64_t first_value(struct leat_error *err, enum leat_status *status)
{
    uint8_t out[4 * DOCUMENTS];
    struct leat_column *c = NULL;
    struct leat_dataset *d;
    uint64_t first = LEAT_NONE;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    if (s == LEAT_OK)
        s = leat_column_open(&c, d, "score", err);
    if (s == LEAT_OK)
        s = leat_column_read(c, 0, DOCUMENTS, out, err);
    for (uint32_t i = 0; s == LEAT_OK && i < DOCUMENTS; i++) {
        uint32_t value = (uint32_t)out[4 * i] | (uint32_t)out[4 * i + 1] << 8;

        first = i == 0 ? value : first;
        T_EQ(value, (first + i) & 0xffff);
    }
    leat_column_close(c);
    leat_dataset_close(d);
    *status = s;
    return first;
}

static void remove_column(void)
{
    static const char *const suffixes[] = { "", ".0-of-2", ".1-of-2" };

    for (unsigned i = 0; i < 12; i++)
        unlink(t_text("%s.score.column%s%s%s", name, i & 1 ? "-index" : "", suffixes[i / 4], i & 2 ? ".partial" : ""));
    T_EQ(t_files(folder), files);
}

/* ---- Failures ---- */

static enum leat_status attach_and_read(const char *subject, uint64_t *answer, struct leat_error *err)
{
    enum leat_status s = attach(5, 0, err);

    (void)subject;
    if (s == LEAT_OK)
        each_call_number(answer, first_value(err, &s));
    return s;
}

static enum leat_status attach_parts_and_read(const char *subject, uint64_t *answer, struct leat_error *err)
{
    enum leat_status s = attach_parts(5, 0, err);

    (void)subject;
    if (s == LEAT_OK)
        each_call_number(answer, first_value(err, &s));
    return s;
}

/* ---- Kills ---- */

typedef enum leat_status attach_way(uint32_t first, uint32_t force, struct leat_error *err);

static bool kill_at(attach_way *way, enum fault_mode mode, uint64_t n, uint32_t first, uint32_t force)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        _exit(way(first, force, NULL) == LEAT_OK ? 0 : 1);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    T_CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return WIFSIGNALED(status);
}

static void check_kills(attach_way *way, enum fault_mode mode)
{
    unsigned missing = 0, old = 0, fresh = 0;
    enum leat_status s;

    for (uint64_t n = 1; !t_failures; n++) {
        bool killed;
        uint64_t found;

        remove_column();
        killed = kill_at(way, mode, n, 7, 0);
        found = first_value(&t_err, &s);
        T_CHECK(s == LEAT_OK ? found == 7 : s == LEAT_E_NOT_FOUND && killed);
        T_OK(way(8, s == LEAT_OK || way == attach_parts, &t_err)); /* leftovers are in nobody's way */
        T_EQ(t_files(folder), files + 2);
        T_OK(way(100, 1, &t_err));
        kill_at(way, mode, n, 200, 1);
        found = first_value(&t_err, &s);
        T_CHECK(s == LEAT_OK ? found == 100 || found == 200 : s == LEAT_E_NOT_FOUND);
        missing += s != LEAT_OK;
        old += found == 100;
        fresh += found == 200;
        T_OK(way(9, 1, &t_err));
        T_EQ(t_files(folder), files + 2);
        if (!killed && found == 200)
            break;
    }
    T_CHECK(missing > 0 && old > 0 && fresh > 0);
}

int main(void)
{
    folder = t_folder();
    name = t_path(folder, "d");
    write_dataset();
    files = t_files(folder);
    each_call_fails(&(struct each_call) { attach_and_read, name, remove_column, false, 20 });
    each_call_fails(&(struct each_call) { attach_parts_and_read, name, remove_column, false, 40 });
    check_kills(attach, FAULT_KILL_BEFORE);
    check_kills(attach, FAULT_KILL_AFTER);
    check_kills(attach_parts, FAULT_KILL_BEFORE);
    check_kills(attach_parts, FAULT_KILL_AFTER);
    return t_end();
}
