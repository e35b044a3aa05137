/*
 * test_pack_import.c: an import that is stopped at any place and goes on, as often as one likes, writes the bytes of
 * one that was not. With other sources or options it does not go on, nor with another version of a file: one of the
 * same size went on, and the dataset had the beginning of one version and the end of the other, without a word.
 *
 * An import that is finished has nothing left to do: with `resume` it was refused because its dataset is there, so that
 * a job that was queued again failed. A dataset that is not what was asked for is still refused.
 */
#include <fcntl.h>

#include "leat_pack.h"
#include "small.h"

#define FILES "tests/import/files/"
static char changing[600]; /* a copy of a file */
static const char *const sources[] = {
    FILES "mds/array", FILES "litdata/frames", FILES "litdata/items", FILES "arrow/saved", changing, FILES "mds/zstd"
};
#define SOURCES (sizeof sources / sizeof *sources)

static unsigned calls, stop_at;  /* of progress; 0: never */
static unsigned count = SOURCES; /* of the sources */
static uint64_t end = 256;
static uint32_t replaces = 1;

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    T_CHECK(done <= total);
    return ++calls == stop_at;
}

enum { START, RESUME };

static enum leat_status import(const char *name, unsigned stop, uint32_t resume, uint64_t *documents)
{
    struct leat_import_options o = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_import_report r = LEAT_IMPORT_REPORT_INIT;
    enum leat_status s;

    o.end_token = end;
    o.resume = resume;
    o.force = replaces;
    o.progress = on_progress;
    calls = 0;
    stop_at = stop;
    s = leat_import(name, sources, count, &o, &r, &t_err);
    if (s == LEAT_OK)
        *documents = r.documents + 1000 * r.files + 1000000 * r.ends_added;
    return s;
}

/* As if the file had been written anew. */
static void set_modified(long nanoseconds)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000000000, .tv_nsec = nanoseconds } };

    T_CHECK(utimensat(AT_FDCWD, changing, times, 0) == 0);
}

static bool is_finished(const char *name)
{
    const char *source = FILES "arrow/saved";
    struct leat_import_options o = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_import_report r = LEAT_IMPORT_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s;

    o.end_token = end;
    o.resume = 1;
    r.info = &info;
    s = leat_import(name, count == SOURCES ? sources : &source, count == SOURCES ? SOURCES : 1, &o, &r, &t_err);
    if (s == LEAT_OK) {
        T_EQ(r.was_finished, 1);
        T_EQ(r.ends_added, LEAT_NONE);
        T_EQ(info.documents, r.documents);
        T_EQ(info.inputs, r.files);
    } else {
        T_STATUS(s, LEAT_E_EXISTS);
    }
    return s == LEAT_OK;
}

/* A report may be that of the import before: where that was finished already, nothing was imported, without a word. */
static void check_again(const char *name)
{
    const char *source = FILES "arrow/saved";
    struct leat_import_options o = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_import_report r = LEAT_IMPORT_REPORT_INIT;
    struct leat_dataset *d;

    o.resume = 1;
    T_OK(leat_import(name, &source, 1, &o, &r, &t_err));
    T_EQ(r.was_finished, 0);
    T_OK(leat_import(name, &source, 1, &o, &r, &t_err));
    T_EQ(r.was_finished, 1);
    o.force = 1;
    T_OK(leat_import(name, &source, 1, &o, &r, &t_err));
    T_EQ(r.was_finished, 0);
    T_EQ(r.ends_added, 0);
    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    leat_dataset_close(d);
}

/* `name` is finished, of all sources. */
static void check_finished(const char *name)
{
    uint64_t got;

    replaces = 0;
    T_CHECK(is_finished(name));
    end = 300;
    T_CHECK(!is_finished(name));
    end = LEAT_NONE;
    T_CHECK(!is_finished(name));
    end = 256;
    count--;
    T_CHECK(!is_finished(name));
    count++;
    replaces = 1;
    T_STATUS(import(name, 9, START, &got), LEAT_E_STOPPED); /* a run that replaces it is not finished */
    T_CHECK(!is_finished(name));
    T_OK(import(name, 0, RESUME, &got));
    T_CHECK(is_finished(name));
}

int main(void)
{
    char whole[600], part[600], again[600];
    uint64_t wanted = 0, got = 0;
    unsigned all;

    snprintf(whole, sizeof whole, "%s/whole", t_folder());
    snprintf(part, sizeof part, "%s/part", t_folder());
    snprintf(again, sizeof again, "%s/again", t_folder());
    snprintf(changing, sizeof changing, "%s/changing.arrow", t_folder());
    copy_file(FILES "arrow/file.arrow", changing);
    set_modified(1);
    T_OK(import(whole, 0, RESUME, &wanted));
    all = calls;
    T_CHECK(all > 20);
    for (unsigned n = 1; n <= all; n++) { /* once */
        T_STATUS(import(part, n, START, &got), LEAT_E_STOPPED);
        T_OK(import(part, 0, RESUME, &got));
        T_EQ(got, wanted);
        T_CHECK(same_dataset(part, whole));
    }
    for (unsigned n = 1; n <= 3; n++) { /* again and again */
        unsigned stops = 1;

        T_STATUS(import(part, n, START, &got), LEAT_E_STOPPED);
        for (; import(part, n, RESUME, &got) == LEAT_E_STOPPED && stops < 2 * all; stops++)
            ;
        T_CHECK(stops > 2);
        T_CHECK(same_dataset(part, whole));
    }
    T_STATUS(import(part, 5, START, &got), LEAT_E_STOPPED);
    count--; /* other sources; then another option */
    T_STATUS(import(part, 0, RESUME, &got), LEAT_E_CHECKPOINT);
    T_CONTAINS(t_err.message, "part had other sources or options, or other versions of these files");
    count++;
    end = 300;
    T_STATUS(import(part, 0, RESUME, &got), LEAT_E_CHECKPOINT);
    end = 256;
    set_modified(2); /* another version of a file */
    T_STATUS(import(part, 0, RESUME, &got), LEAT_E_CHECKPOINT);
    set_modified(1);
    T_OK(import(part, 0, RESUME, &got));
    T_CHECK(same_dataset(part, whole));
    check_finished(part);
    check_again(again);
    return t_end();
}
