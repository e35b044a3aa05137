/*
 * test_fit_side.c: plans of rows of whole documents show the same samples, and are searched backwards with the same
 * result, with side files as without, whole and with a split. A side file that is damaged at its head, cut, of another
 * dataset or a link is passed over, or named by a plan that cannot do without; a damaged page of its list makes its
 * rows an error. A file appears complete or not at all, in its dataset's folder, however many threads make it.
 */
#include <pthread.h>

#include "base/bytes.h"
#include "base/own_file.h"
#include "documents.h"
#include "fit/fit_lengths.h"
#include "fit/fit_side.h"
#include "pieces_of.h"
#include "plan/plan.h"

#define LENGTHS "4,9,0,1,300,17x20,2x600,2096,65,64,63,12x4+2,2,1,40x13,700,128,129,12x4,17+17x3,9,2"

static struct leat_dataset *dataset;
static char paths[3][700]; /* of the side files */

static struct leat_plan *open_plan(const char *split)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan = NULL;

    source.name = "data";
    source.dataset = dataset;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 30;
    o.epochs = 2;
    o.order = LEAT_ORDER_FIT;
    o.split = split;
    o.use = split ? "x" : NULL;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

/* Everything that a plan says, as numbers; returns how many. */
struct said {
    uint64_t numbers[20000], count;
};

static uint32_t say_sample(void *context, const struct leat_sample *sample)
{
    struct said *said = context;

    said->numbers[said->count++] = sample->number;
    return 0;
}

static void say(const struct leat_plan *plan, struct said *said)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_piece pieces[30];
    uint64_t count;

    said->count = 0;
    leat_plan_info(plan, &info);
    for (uint64_t n = 0; n < info.samples; n++) {
        T_OK(pieces_of(plan, n, pieces, 30, &count, &t_err));
        for (uint64_t i = 0; i < count; i++) {
            said->numbers[said->count++] = pieces[i].token;
            said->numbers[said->count++] = pieces[i].count;
        }
    }
    for (uint64_t token = 0; token < 3000; token += 50)
        T_OK(leat_plan_trace(plan, &(struct leat_trace) { sizeof(struct leat_trace), 0, token, 3, 2, 0, LEAT_NONE },
                             say_sample, said, &t_err));
}

static uint64_t used_lists(const struct leat_plan *plan)
{
    struct fit_lengths l;
    uint64_t count;

    T_OK(fit_lengths_make(&l, &plan->sources[0], "data", 1000, &t_err));
    count = l.list_count;
    fit_lengths_free(&l);
    return count;
}

/* Opens a plan again: it shows the same, with side files (3 lists) or without (1). */
static void check(const char *split, const struct said *wanted, uint64_t lists)
{
    static struct said said;
    struct leat_plan *plan = open_plan(split);

    T_EQ(used_lists(plan), lists);
    say(plan, &said);
    T_EQ(said.count, wanted->count);
    T_EQ(memcmp(said.numbers, wanted->numbers, said.count * sizeof said.numbers[0]), 0);
    leat_plan_close(plan);
}

static void change(const char *path, long at, uint8_t byte)
{
    t_patch(path, (uint64_t)at, &byte, 1);
}

static void refused(const struct said *wanted, const char *why)
{
    struct leat_plan *plan = open_plan(NULL);
    struct fit_lengths l;

    T_REFUSED(fit_lengths_make(&l, &plan->sources[0], "data", 5, &t_err), LEAT_E_UNSUPPORTED,
              "run `leat fit data` once");
    T_CONTAINS(t_err.message, why);
    fit_lengths_free(&l);
    leat_plan_close(plan);
    check(NULL, wanted, 1);
}

/* Changes a byte of the list of the first file: some rows are an error, the others as they were. */
static void count_wrong(const struct said *wanted, long at, uint8_t byte)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan *good, *plan;
    struct leat_piece pieces[30], right[30];
    const char *moved = t_path(t_folder(), "moved");
    uint64_t wrong = 0, count;

    T_OK(leat_dataset_fit(dataset, NULL, &t_err));
    check(NULL, wanted, 3);
    change(paths[0], at, byte);
    T_EQ(rename(paths[2], moved), 0);
    good = open_plan(NULL); /* in memory */
    T_EQ(rename(moved, paths[2]), 0);
    plan = open_plan(NULL);
    leat_plan_info(plan, &info);
    for (uint64_t n = 0; n < info.samples; n++) {
        enum leat_status s = pieces_of(plan, n, pieces, 30, &count, &t_err);

        T_CHECK(s == LEAT_OK || s == LEAT_E_DOCUMENTS);
        wrong += s != LEAT_OK;
        T_OK(pieces_of(good, n, right, 30, &count, &t_err));
        T_CHECK(s != LEAT_OK || memcmp(pieces, right, count * sizeof pieces[0]) == 0);
    }
    T_CHECK(wrong > 0 && wrong < info.samples);
    leat_plan_close(good);
    leat_plan_close(plan);
}

static void damage(const struct said *wanted)
{
    struct stat st;

    change(paths[0], 80 + 3, 1); /* a run's length */
    refused(wanted, "is damaged");
    T_OK(leat_dataset_fit(dataset, NULL, &t_err));
    T_EQ(stat(paths[0], &st), 0);
    T_EQ(truncate(paths[0], st.st_size - 1), 0);
    refused(wanted, "is too short or too long");
    T_EQ(truncate(paths[0], 79), 0);
    refused(wanted, "0.fit is too short)");
    T_EQ(rename(paths[1], paths[0]), 0);
    refused(wanted, "was made from another dataset");
    T_OK(leat_dataset_fit(dataset, NULL, &t_err));
    T_EQ(rename(paths[2], t_path(t_folder(), "moved")), 0);
    refused(wanted, "No such file");
    T_EQ(symlink(t_path(t_folder(), "moved"), paths[2]), 0);
    refused(wanted, "symbolic link");
    T_OK(leat_dataset_fit(dataset, NULL, &t_err)); /* replaces the link */
    T_EQ(stat(paths[0], &st), 0);
    count_wrong(wanted, (long)st.st_size - 4, 0); /* the longest document */
    /* its list begins with those of 0, 1, 2, 2, ... tokens: the second of two is another of them */
    count_wrong(wanted, (long)st.st_size - 4 * 633 + 4 * 3, 99);
}

static uint32_t stop(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    return done > total / 2;
}

static uint32_t stop_at_once(void *context, uint64_t done, uint64_t total)
{
    *(uint64_t *)context = done;
    return total > 0;
}

static unsigned files(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned count = 0;

    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

static void write_files(const char *folder)
{
    struct leat_fit_options o = LEAT_FIT_OPTIONS_INIT;
    unsigned before = files(folder);
    char partial[800];
    uint64_t done;
    int fd;

    o.progress = stop;
    T_STATUS(leat_dataset_fit(dataset, &o, &t_err), LEAT_E_STOPPED);
    T_EQ(files(folder), before);
    o.progress = stop_at_once;
    o.context = &done;
    T_STATUS(leat_dataset_fit(dataset, &o, &t_err), LEAT_E_STOPPED);
    T_CHECK(done > 0);
    T_EQ(files(folder), before);
    T_EQ(mkdir(paths[0], 0777), 0);
    T_STATUS(leat_dataset_fit(dataset, NULL, &t_err), LEAT_E_EXISTS);
    T_EQ(rmdir(paths[0]), 0);
    snprintf(partial, sizeof partial, "%s.partial", paths[0]);
    T_EQ(mkdir(partial, 0777), 0);
    T_REFUSED(leat_dataset_fit(dataset, NULL, &t_err), LEAT_E_EXISTS, partial);
    T_EQ(rmdir(partial), 0);
    /* while another one makes the file, it can be stopped, too, and leaves that file alone */
    T_OK(own_file_begin(&fd, partial, &t_err));
    T_STATUS(leat_dataset_fit(dataset, &o, &t_err), LEAT_E_STOPPED);
    T_EQ(done, 0);
    T_EQ(files(folder), before + 1);
    T_EQ(unlink(partial), 0);
    close(fd);
    T_OK(leat_dataset_fit(dataset, NULL, &t_err));
    T_EQ(files(folder), before + 3);
}

static void *make_often(void *statuses)
{
    for (unsigned i = 0; i < 100; i++)
        if (leat_dataset_fit(dataset, NULL, &t_err) != LEAT_OK)
            snprintf(statuses, sizeof t_err.message, "%s", t_err.message);
    return NULL;
}

static void several_at_once(const char *folder)
{
    char leftover[800], said[3][sizeof t_err.message] = { "", "", "" };
    unsigned before = files(folder);
    pthread_t threads[3];
    int fd;

    snprintf(leftover, sizeof leftover, "%s.partial", paths[0]);
    T_CHECK((fd = open(leftover, O_CREAT | O_RDWR, 0666)) >= 0);
    for (unsigned i = 0; i < 3; i++)
        T_EQ(pthread_create(&threads[i], NULL, make_often, said[i]), 0);
    for (unsigned i = 0; i < 3; i++) {
        T_EQ(pthread_join(threads[i], NULL), 0);
        T_STR(said[i], "");
    }
    close(fd);
    T_EQ(files(folder), before);
}

/* Opened by a relative name, and used in another folder. */
static void other_folder(const char *folder)
{
    struct leat_dataset *given = dataset;
    unsigned before = files(folder);
    struct leat_plan *plan;
    struct fit_lengths l;

    T_EQ(chdir(folder), 0);
    T_OK(leat_dataset_open(&dataset, "documents0.0", NULL, &t_err));
    T_EQ(chdir("/"), 0);
    T_EQ(unlink(paths[0]), 0);
    T_OK(leat_dataset_fit(dataset, NULL, &t_err));
    T_EQ(files(folder), before);
    plan = open_plan(NULL);
    T_OK(fit_lengths_make(&l, &plan->sources[0], "data", 5, &t_err)); /* more documents than without the file */
    fit_lengths_free(&l);
    leat_plan_close(plan);
    leat_dataset_close(dataset);
    dataset = given;
}

/* Documents of 2^20 tokens and more have no counter for their length. Those of datatrove's file, whose tokens are a
 * hole, by a name with a scheme: the list lies beside the file. */
static void long_documents(const char *folder)
{
    static const uint64_t lengths[] = { 3, 1048583, 5, 1048576, 1048583, 1048575, 3, 1048577 };
    static const struct fit_run runs[] = { { 3, 0, 2, 0 },       { 5, 2, 1, 0 },       { 1048575, 3, 1, 0 },
                                           { 1048576, 4, 1, 0 }, { 1048577, 5, 1, 0 }, { 1048583, 6, 2, 0 } };
    static const uint32_t sorted[] = { 0, 6, 2, 5, 3, 7, 1, 4 };
    char path[700];
    struct leat_dataset *d;
    struct fit_range all = { 0, 8 };
    uint32_t list[8];
    uint8_t ends[64];
    uint64_t end = 0;
    FILE *f;

    for (unsigned i = 0; i < 8; i++)
        bytes_store64(ends + 8 * i, end += lengths[i]);
    snprintf(path, sizeof path, "%s/long.ds.index", folder);
    T_CHECK((f = fopen(path, "w")) && fwrite(ends, 1, 64, f) == 64 && fclose(f) == 0);
    snprintf(path, sizeof path, "%s/long.ds", folder);
    T_CHECK((f = fopen(path, "w")) && ftruncate(fileno(f), (off_t)(2 * end)) == 0 && fclose(f) == 0);
    T_OK(leat_dataset_open(&d, t_text("datatrove:%s", path), NULL, &t_err));
    for (uint64_t window = 1; window <= 8; window++) {
        struct fit_sort x = { .dataset = d, .ranges = &all, .range_count = 1 };

        T_OK(fit_sort_count(&x, &t_err));
        T_EQ(x.documents, 8);
        T_EQ(x.run_count, sizeof runs / sizeof runs[0]);
        T_CHECK(memcmp(x.runs, runs, sizeof runs) == 0);
        for (uint64_t first = 0; first < 8; first += window)
            T_OK(fit_sort_list(&x, first, first + window < 8 ? window : 8 - first, list + first, &t_err));
        T_CHECK(memcmp(list, sorted, sizeof sorted) == 0);
        fit_sort_free(&x);
    }
    T_OK(leat_dataset_fit(d, NULL, &t_err));
    leat_dataset_close(d);
    snprintf(path, sizeof path, "%s/long.ds.fit", folder);
    T_EQ(access(path, R_OK), 0);
}

/* A file that somebody may write to gets no lease, and is read instead of mapped. */
static void read_files(const struct said *wanted)
{
    int writing[3];

    for (unsigned i = 0; i < 3; i++)
        T_CHECK((writing[i] = open(paths[i], O_RDWR)) >= 0);
    check(NULL, wanted, 3);
    for (unsigned i = 0; i < 3; i++)
        close(writing[i]);
}

int main(void)
{
    static const char split[] = "y=0.13,x=0.6,z=0.2";
    static struct said whole, part;
    const char *folder = t_folder();
    struct leat_plan *plan;

    dataset = documents_dataset(folder, 0, LENGTHS);
    for (unsigned i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/documents0.%u.fit", folder, i);
    plan = open_plan(NULL);
    say(plan, &whole);
    leat_plan_close(plan);
    plan = open_plan(split);
    say(plan, &part);
    leat_plan_close(plan);
    T_CHECK(whole.count > 500 && part.count > 200);
    check(NULL, &whole, 1);
    write_files(folder);
    check(NULL, &whole, 3);
    check(split, &part, 3);
    read_files(&whole);
    several_at_once(folder);
    check(NULL, &whole, 3);
    other_folder(folder);
    damage(&whole);
    long_documents(folder);
    leat_dataset_close(dataset);
    return t_end();
}
