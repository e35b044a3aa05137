/*
 * test_nth_call_fails.c: each scenario runs with its 1st, 2nd, 3rd, ... allocation or system call failing, that one
 * alone or it and all after it: a status and a sentence with a path or a cause; no allocation, descriptor, lease or
 * unfinished file left, after suspend a checkpoint that leads to the same bytes; success only with the answers of the
 * undisturbed run. Short and interrupted transfers do not show. The seed draws the calls; make check-every tries all.
 */
#include "nth_scenarios.h"
#include "one_document.h"

/* ---- What must hold ---- */

/* How a failed writer is ended. */
enum ending { ABANDON, ABANDON_WHILE_FAILING, SUSPEND, ENDINGS };

struct trial {
    const struct scenario *scenario;
    enum fault_kind kind;
    enum fault_mode mode;
    uint64_t n;
    enum ending ending;
    bool had_writer; /* the call that failed left it open */
    int failures;    /* of the program before it */
};

static void describe(const struct trial *t, enum leat_status s, const struct leat_error *err)
{
    static const char *const endings[] = { "abandoned", "abandoned while failing", "suspended" };

    fprintf(stderr, "  in \"%s\", %s %" PRIu64 " failing %s (%s), then %s; status %s: %s; files: %s\n",
            t->scenario->what, t->kind == FAULT_MEMORY ? "allocation" : "system call", t->n,
            t->mode == FAULT_ONCE ? "once" : "from then on", fault_failed() ? fault_failed() : "none",
            endings[t->ending], leat_status_name(s), s == LEAT_OK ? "" : err->message, listing(work));
}

/* Calls without which nothing can be right: when one fails, success is a lie. */
static bool is_needed(const struct scenario *s, const char *call)
{
    static const char *const calls[] = { "malloc", "calloc", "realloc",   "strdup", "pread", "pwrite",  "ftruncate",
                                         "fsync",  "rename", "renameat2", "link",   "flock", "opendir", "readdir" };

    if (s->lacks & FAULT_NO_RENAMEAT2 && call && (strcmp(call, "fsync") == 0 || strcmp(call, "malloc") == 0))
        return false; /* syncing inside a rename is for power cuts only, and is done once more after it */
    if (call && strcmp(call, "pread") == 0 && (strstr(s->what, "arrange") || strstr(s->what, "merge")))
        return false; /* one of a dataset is tried once more, and what comes of it is compared */
    for (size_t i = 0; call && !s->abandons && i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(call, calls[i]) == 0)
            return true;
    return false;
}

static void check_sentence(enum leat_status s, const struct leat_error *err)
{
    T_EQ(err->status, s);
    T_CHECK(s == LEAT_E_NO_MEMORY || err->os_error != 0);
    T_CHECK(strstr(err->message, folder) || strstr(err->message, "no memory"));
}

static bool resumable(void)
{
    return access(with(fresh.name, ".partial.checkpoint"), F_OK) == 0;
}

/* After a failed writer was ended. */
static void check_left(const struct trial *t)
{
    const char *left = listing(work);
    bool whole = same_dataset(fresh.name, reference.name);
    bool untouched = t->scenario->replaces && same_dataset(fresh.name, old.name);
    /* perhaps another's, who alone may remove it */
    bool lock_left = fault_failed() && strcmp(fault_failed(), "flock") == 0;
    /* the writer was ended while everything failed, by us or by the call that failed */
    bool helpless = t->mode == FAULT_FROM_THEN_ON && (t->ending == ABANDON_WHILE_FAILING || !t->had_writer);

    if (access(with(fresh.name, ".leat"), F_OK) == 0) /* never one that opens and is not whole */
        T_CHECK(untouched || (whole && helpless));
    if (helpless)
        return; /* nothing could be removed */
    if ((t->ending == SUSPEND || !t->had_writer) && resumable())
        return;
    if (t->scenario->abandons && fault_failed() && strcmp(fault_failed(), "unlink") == 0)
        return;
    if (untouched && lock_left)
        T_STR(left, "d.leat d.partial.lock d.tokens");
    else if (untouched)
        T_STR(left, "d.leat d.tokens");
    else if (lock_left)
        T_STR(left, "d.partial.lock");
    else if (t->scenario->replaces && strcmp(left, "") != 0) /* the old index is gone, the new tokens not there */
        T_CHECK(strcmp(left, "d.tokens") == 0 && same_file(with(fresh.name, ".tokens"), with(old.name, ".tokens")));
    else
        T_STR(left, "");
}

/* With the fault gone the same dataset can be made, and nothing else stays. */
static void make_again(const struct trial *t)
{
    bool whole = same_dataset(fresh.name, reference.name);

    if (resumable()) {
        fresh.replace = t->scenario->replaces;
        T_STATUS(small_resume(&fresh), whole ? LEAT_E_EXISTS : LEAT_OK);
    } else {
        fresh.replace = true;
        small_write(&fresh);
    }
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
}

static void check_success(const struct scenario *s, uint64_t undisturbed)
{
    T_CHECK(!is_needed(s, fault_failed()));
    if (s->reads)
        T_EQ(answers, undisturbed);
    else if (s->writes)
        T_CHECK(same_dataset(fresh.name, reference.name));
}

/* A failed writer says so again, whatever is asked of it, until it is ended. */
static void check_stays_failed(enum leat_status s)
{
    struct leat_error again;

    if (s != LEAT_E_IO && s != LEAT_E_NO_SPACE && s != LEAT_E_NO_MEMORY)
        return;
    T_EQ(add_one_document(writer, NULL, 4, NULL, 0, NULL, &again), s);
    T_EQ(leat_writer_checkpoint(writer, NULL, 0, &again), s);
}

static void end_writer(struct trial *t, enum leat_status s)
{
    if (t->ending != ABANDON_WHILE_FAILING)
        fault_disarm();
    t->had_writer = writer != NULL;
    if (writer)
        check_stays_failed(s);
    if (t->ending == SUSPEND)
        leat_writer_suspend(writer);
    else
        leat_writer_abandon(writer);
    fault_disarm();
}

static void one_trial(struct trial *t, uint64_t undisturbed)
{
    const struct scenario *scenario = t->scenario;
    struct leat_error err = { 0 };
    enum leat_status s;
    long allocations;
    unsigned files;

    t->failures = t_failures;
    clear_folder(work);
    if (scenario->prepare)
        scenario->prepare();
    writer = NULL;
    fresh.replace = scenario->replaces;
    allocations = fault_allocations();
    files = fault_open_files();
    all_fail = t->mode == FAULT_FROM_THEN_ON;
    fault_arm(t->kind, t->mode, t->n, t->mode == FAULT_ONCE ? EIO : ENOSPC);
    s = scenario->run(&err);
    if (s == LEAT_OK) {
        fault_disarm();
        check_success(scenario, undisturbed);
    } else {
        check_sentence(s, &err);
        end_writer(t, s);
    }
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    if (scenario->reads)
        T_CHECK(no_lease(with(folder, "/list/x.tokens")) && no_lease(with(folder, "/list/x.leat")));
    if (s != LEAT_OK && !scenario->reads)
        check_left(t);
    if (t_failures > t->failures)
        describe(t, s, &err);
    if (s != LEAT_OK && scenario->writes && is_small(scenario)) {
        make_again(t);
        if (t_failures > t->failures)
            describe(t, s, &err);
    }
}

/* Counts the calls of a scenario that nothing disturbs; *undisturbed gets its answers. */
static uint64_t calls_of(const struct scenario *scenario, enum fault_kind kind, enum fault_mode mode,
                         uint64_t *undisturbed)
{
    clear_folder(work);
    if (scenario->prepare)
        scenario->prepare();
    fresh.replace = scenario->replaces;
    fault_arm(kind, mode, 1, EIO);
    T_OK(scenario->run(&t_err));
    *undisturbed = answers;
    return fault_disarm();
}

#define ENDS  6 /* the first calls, and the last: two of three of them are tried */
#define TRIED 3 /* of those between */

static uint64_t next_call(uint64_t n, uint64_t calls)
{
    uint64_t end = calls > ENDS ? calls - ENDS : 0;

    if (t_every())
        return n + 1;
    if (n < ENDS || n >= end)
        return n + 1 + t_below(&drawn, 2);
    n += 1 + t_below(&drawn, 2 * calls / TRIED);
    return n < end ? n : end;
}

static void fail_each_call(const struct scenario *scenario, enum fault_kind kind)
{
    bool each_ending = scenario->writes && is_small(scenario);
    uint64_t undisturbed, calls = calls_of(scenario, kind, FAULT_COUNT, &undisturbed);
    struct trial t = { .scenario = scenario, .kind = kind };

    if (scenario->writes && !is_small(scenario)) /* its bytes are the reference of its own trials */
        copy_dataset(fresh.name, reference.name);
    T_CHECK(calls > 10);
    for (t.n = 1; t.n <= calls; t.n = next_call(t.n, calls)) {
        for (t.ending = ABANDON; t.ending < ENDINGS; t.ending++) {
            if (t.ending != ABANDON && !each_ending)
                continue;
            t.mode = FAULT_ONCE;
            one_trial(&t, undisturbed);
            t.mode = FAULT_FROM_THEN_ON;
            if (scenario->run != write_much)
                one_trial(&t, undisturbed);
        }
        if (t_failures > 20)
            exit(1);
    }
    fprintf(stderr, "%s: %" PRIu64 " %s\n", scenario->what, calls,
            kind == FAULT_MEMORY ? "allocations" : "system calls");
}

static void disturb_transfers(const struct scenario *scenario)
{
    uint64_t undisturbed, answers_then;

    calls_of(scenario, FAULT_SYSTEM, FAULT_COUNT, &undisturbed);
    for (enum fault_mode mode = FAULT_SHORT; mode <= FAULT_INTERRUPT; mode++) {
        calls_of(scenario, FAULT_SYSTEM, mode, &answers_then);
        T_EQ(answers_then, undisturbed);
        if (scenario->writes)
            T_CHECK(same_dataset(fresh.name, reference.name));
    }
}

/* A name that is taken stays what it is, however the file system renames. */
static void keep_what_is_there(void)
{
    static const unsigned kinds[] = { 0, FAULT_NO_RENAMEAT2, FAULT_NO_RENAMEAT2 | FAULT_NO_LINKS };
    const char *from = with(folder, "/from"), *to = with(folder, "/to");

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        t_write(from, "from", 4);
        t_write(to, "to", 2);
        fault_file_system(kinds[i]);
        T_STATUS(file_rename(from, to, false, &t_err), LEAT_E_EXISTS);
        fault_file_system(0);
        T_CHECK(access(from, F_OK) == 0 && !same_file(from, to));
    }
}

/* A dataset in memory: nothing of it is left where there is none for it. */
static void open_in_memory(void)
{
    size_t index_bytes, token_bytes;
    uint8_t *index = file_bytes(with(folder, "/p1.leat"), &index_bytes);
    uint8_t *tokens = file_bytes(with(folder, "/p1.tokens"), &token_bytes);
    enum leat_status s = LEAT_E_NO_MEMORY;
    unsigned failed = 0;

    for (uint64_t n = 1; s != LEAT_OK; n++) {
        long allocations = fault_allocations();
        struct leat_dataset *d = NULL;
        struct part part;

        fault_arm(FAULT_MEMORY, FAULT_ONCE, n, ENOMEM);
        s = part_open_memory(&part, index, index_bytes, tokens, token_bytes, &t_err);
        if (s == LEAT_OK)
            s = dataset_of_part(&d, &part, &t_err);
        fault_disarm();
        T_CHECK((s == LEAT_OK) == (d != NULL) && (s == LEAT_OK || s == LEAT_E_NO_MEMORY));
        leat_dataset_close(d);
        T_EQ(fault_allocations(), allocations);
        failed += s != LEAT_OK;
    }
    T_CHECK(failed >= 5);
    free(index);
    free(tokens);
}

static void prepare_all(void)
{
    static struct small part;

    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    make_folder(with(folder, "/list"));
    snprintf(fresh.name, sizeof fresh.name, "%s/d", work);
    snprintf(old.name, sizeof old.name, "%s/old", folder);
    snprintf(reference.name, sizeof reference.name, "%s/reference", folder);
    fresh.seed = reference.seed = t_seed();
    drawn = t_draw();
    old.seed = fresh.seed + 1;
    reference.replace = true;
    small_write(&old);
    for (unsigned i = 0; i < 5; i++) {
        static const char *const names[] = { "/list/x", "/list/y", "/p1", "/p2", "/p3" };

        part.seed = fresh.seed + 2 + i;
        snprintf(part.name, sizeof part.name, "%s%s", folder, names[i]);
        small_write(&part);
    }
    write_many(with(folder, "/many"));
    t_write(with(folder, "/list.txt"), "# two\nlist/y\nlist/x.leat\n", 25);
}

int main(int argc, char **argv)
{
    folder = memory_folder();
    prepare_all();
    keep_what_is_there();
    open_in_memory();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];

        if (argc > 1 && strcmp(argv[1], s->what) != 0)
            continue;
        small_write(&reference);
        fault_file_system(s->lacks);
        if (s->reads) {
            read_name = t_text("%s%s%s", s->reads[0] == '@' ? "@" : "", folder, s->reads + (s->reads[0] == '@'));
            read_access = s->access;
        }
        fail_each_call(s, FAULT_MEMORY);
        fail_each_call(s, FAULT_SYSTEM);
        disturb_transfers(s);
        fault_file_system(0);
    }
    return t_end();
}
