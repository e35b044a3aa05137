/*
 * test_run_pushed_faults.c: a run whose parts are pushed, with and without a split, and one that appends, killed before
 * and after its 1st, 2nd, 3rd, ... system call, and with each call and allocation failing: its folder is the dataset of
 * an undisturbed run (or what it was), or none; what fails says so and leaves nothing; the same run again completes it,
 * and nothing is left of what died.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "leat_pack.h"
#include "one_text.h"
#include "support/fault.h"
#include "t.h"

static const char *folder;
static char output[600];
static uint8_t identity[2][16]; /* of commit_run(): of the run's folder, and of its split's */
static uint8_t longer[2][16];   /* of append_run() after it */
static const struct leat_split valid = { "valid", "0.4" };
static uint64_t each = 1; /* pieces of a part: 2 if the run is split */

/* What a driver keeps of its tasks; a child fills it. */
static struct kept {
    struct leat_run_piece pieces[4], appended[4];
    uint32_t complete;
} * kept;

static enum leat_status create_as(struct leat_run **run, uint32_t append, struct leat_error *err)
{
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;

    pack.threads = 1;
    pack.end_token = 256;
    pack.splits = &valid;
    pack.split_count = each - 1;
    o.tokenizer = "bytes";
    o.from = folder; /* what getcwd() allocates is not counted */
    o.append = append;
    o.pack = &pack;
    return leat_run_create(run, output, &o, err);
}

static enum leat_status create(struct leat_run **run, struct leat_error *err)
{
    return create_as(run, 0, err);
}

static enum leat_status make_part(struct leat_run *run, const char *key, struct leat_run_piece *pieces,
                                  struct leat_error *err)
{
    static const char *const texts[] = { "0", "1", "2", "3", "4", "5" }; /* the split gets some of them */
    struct leat_packer *p = NULL;
    enum leat_status s = leat_run_push(&p, run, key, NULL, err);

    for (unsigned i = 0; s == LEAT_OK && i < 6; i++)
        s = add_one_text(p, texts[i], 1, NULL, 0, NULL, err);
    if (s == LEAT_OK)
        s = leat_run_finish(p, pieces, each, NULL, err);
    if (s != LEAT_OK)
        leat_packer_abandon(p);
    return s;
}

static enum leat_status commit_run(struct leat_error *err)
{
    struct leat_run *run;
    enum leat_status s = create(&run, err);

    kept->complete = 0;
    if (s == LEAT_OK)
        s = make_part(run, "alpha", &kept->pieces[each], err);
    if (s == LEAT_OK)
        s = make_part(run, "b", &kept->pieces[0], err);
    if (s == LEAT_OK) {
        kept->complete = 1;
        s = leat_run_commit(run, kept->pieces, 2 * each, err);
    }
    leat_run_close(run);
    return s;
}

static enum leat_status abort_run(struct leat_error *err)
{
    struct leat_run *run;
    enum leat_status s = create(&run, err);

    if (s == LEAT_OK)
        s = make_part(run, "a", &kept->pieces[0], err);
    if (s == LEAT_OK)
        s = leat_run_abort(run, err);
    leat_run_close(run);
    return s;
}

static enum leat_status append_run(struct leat_error *err)
{
    struct leat_run *run;
    enum leat_status s = create_as(&run, 1, err);

    kept->complete = 0;
    if (s == LEAT_OK)
        s = make_part(run, "alpha", &kept->appended[each], err);
    if (s == LEAT_OK)
        s = make_part(run, "c", &kept->appended[0], err);
    if (s == LEAT_OK) {
        kept->complete = 1;
        s = leat_run_commit(run, kept->appended, 2 * each, err);
    }
    leat_run_close(run);
    return s;
}

static enum leat_status abort_append(struct leat_error *err)
{
    struct leat_run *run;
    enum leat_status s = create_as(&run, 1, err);

    if (s == LEAT_OK)
        s = make_part(run, "alpha", &kept->appended[0], err);
    if (s == LEAT_OK)
        s = leat_run_abort(run, err);
    leat_run_close(run);
    return s;
}

static uint64_t open_folder(const char *path, uint8_t found[16], enum leat_status *s)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    *s = leat_dataset_open(&d, path, NULL, &t_err);
    if (*s == LEAT_OK) {
        leat_dataset_info(d, &info);
        memcpy(found, info.identity, 16);
    }
    leat_dataset_close(d);
    return info.documents;
}

/* With its split; `most`: the documents of both after parts were appended. */
static enum leat_status open_any(uint64_t most, uint8_t found[2][16])
{
    enum leat_status s, split;
    uint64_t documents = open_folder(output, found[0], &s), others = 0;

    memset(found[1], 0, 16);
    if (each > 1) {
        others = open_folder(t_path(output, "valid"), found[1], &split);
        T_CHECK((s == LEAT_OK) == (split == LEAT_OK));
    }
    T_CHECK(documents + others == (s == LEAT_OK ? 12 : 0) || (s == LEAT_OK && documents + others == most));
    T_CHECK(s != LEAT_OK || (others > 0) == (each > 1));
    return s;
}

static enum leat_status open_output(uint8_t found[2][16])
{
    return open_any(12, found);
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        unlink(t_path(path, e->d_name));
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void remove_output(void)
{
    remove_folder(t_text("%s/valid", output));
    remove_folder(output);
}

/* Plan and list, the files of so many parts, and earlier lists. */
static void check_files(uint64_t parts, uint64_t earlier)
{
    T_EQ(t_files(output), 4 + 2 * parts + earlier + (each > 1));
    if (each > 1)
        T_EQ(t_files(t_path(output, "valid")), 3 + 2 * parts);
}

/* ---- What must hold after ---- */

static void check_commit(void)
{
    struct leat_run *run;
    uint8_t found[2][16];

    if (open_output(found) == LEAT_OK) {
        T_CHECK(kept->complete && memcmp(found, identity, sizeof found) == 0);
        T_OK(leat_run_open(&run, output, &t_err)); /* a driver that does not know whether it has committed */
        T_OK(leat_run_commit(run, kept->pieces, 2 * each, &t_err));
        leat_run_close(run);
    } else
        T_OK(commit_run(&t_err));
    T_OK(open_output(found));
    T_CHECK(memcmp(found, identity, sizeof found) == 0);
    check_files(2, 0);
    remove_output();
    T_EQ(t_files(folder), 2);
}

static void check_abort(void)
{
    uint8_t found[2][16];

    T_CHECK(open_output(found) != LEAT_OK);
    T_OK(abort_run(&t_err)); /* the next run, which fails too */
    T_EQ(t_files(folder), 2);
}

/* The dataset to which others append. */
static void prepare_append(void)
{
    T_OK(commit_run(&t_err));
}

/* The folder is the dataset before, and nothing else. */
static void check_as_before(void)
{
    uint8_t found[2][16];

    T_OK(open_output(found));
    T_CHECK(memcmp(found, identity, sizeof found) == 0);
    T_EQ(t_files(output), 7 + (each > 1)); /* without a plan */
    if (each > 1)
        T_EQ(t_files(t_path(output, "valid")), 7);
    remove_output();
    T_EQ(t_files(folder), 2);
}

static void check_append(void)
{
    static unsigned turn;
    struct leat_run *run;
    char earlier[700];
    uint8_t found[2][16];
    enum leat_status s;

    T_OK(open_any(24, found));
    if (memcmp(found, longer, sizeof found) == 0) {
        T_CHECK(kept->complete);
        T_OK(leat_run_open(&run, output, &t_err));
        T_OK(leat_run_commit(run, kept->appended, 2 * each, &t_err));
        leat_run_close(run);
    } else {
        T_CHECK(memcmp(found, identity, sizeof found) == 0);
        if (turn++ % 2) { /* a driver that gives up */
            T_OK(create_as(&run, 1, &t_err));
            T_OK(leat_run_abort(run, &t_err));
            leat_run_close(run);
            check_as_before();
            return;
        }
        T_OK(append_run(&t_err));
    }
    T_OK(open_any(24, found));
    T_CHECK(memcmp(found, longer, sizeof found) == 0);
    snprintf(earlier, sizeof earlier, "%s/leat-run.list.", output);
    for (unsigned i = 0; i < 16; i++)
        snprintf(earlier + strlen(earlier), 3, "%02x", kept->pieces[0].run[i]);
    (void)open_folder(earlier, found[0], &s);
    T_CHECK(s == LEAT_OK && memcmp(found[0], identity[0], 16) == 0);
    check_files(4, 1);
    remove_output();
    T_EQ(t_files(folder), 2);
}

static void check_abort_append(void)
{
    uint8_t found[2][16];

    T_OK(open_output(found));
    T_CHECK(memcmp(found, identity, sizeof found) == 0);
    T_OK(abort_append(&t_err));
    check_as_before();
}

static const struct {
    enum leat_status (*run)(struct leat_error *err);
    void (*check)(void);
    void (*prepare)(void);
} subjects[] = { { commit_run, check_commit, NULL },
                 { abort_run, check_abort, NULL },
                 { append_run, check_append, prepare_append },
                 { abort_append, check_abort_append, prepare_append } };

#define SUBJECTS (sizeof subjects / sizeof subjects[0])

/* ---- Disturbing ---- */

/* Whether the process was killed. */
static bool kill_at(unsigned subject, enum fault_mode mode, uint64_t n)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        _exit(subjects[subject].run(&t_err) != LEAT_OK);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    T_CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* Whether a call has failed. */
static bool fail_at(unsigned subject, enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { .message = "" };
    long allocations = fault_allocations();
    unsigned files = fault_open_files();
    enum leat_status s;

    fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
    s = subjects[subject].run(&err);
    fault_disarm();
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    T_CHECK(s == LEAT_OK || (err.status == s && err.message[0] && fault_failed()));
    return fault_failed();
}

static void disturb(unsigned subject, enum fault_kind kind, enum fault_mode mode, uint64_t *draw)
{
    bool kills = mode == FAULT_KILL_BEFORE || mode == FAULT_KILL_AFTER;
    unsigned tries = 0;

    uint64_t step = t_step(12 * each); /* with a split each makes twice as many calls */

    for (uint64_t n = 1 + t_below(draw, step);; n += 1 + t_below(draw, 2 * step - 1), tries++) {
        bool disturbed;

        if (subjects[subject].prepare)
            subjects[subject].prepare();
        disturbed = kills ? kill_at(subject, mode, n) : fail_at(subject, kind, mode, n);
        if (!disturbed)
            break;
        subjects[subject].check();
        if (t_failures > 0) {
            fprintf(stderr, "subject %u, kind %d, mode %d, call %" PRIu64 " (%s)\n", subject, kind, mode, n,
                    fault_failed() ? fault_failed() : "killed");
            exit(1);
        }
    }
    T_CHECK(tries > 5);
    remove_output();
}

/* ---- An attempt under which its run ends ---- */

static struct leat_run *other;

/* It is finished while each of its calls fails, after its run was committed without it. */
static bool fail_late(enum fault_kind kind, uint64_t n)
{
    struct leat_run_piece pieces[2], late[2];
    struct leat_error err = { .message = "" };
    struct leat_packer *p;
    enum leat_status s;

    T_OK(create(&other, &t_err));
    T_OK(make_part(other, "a", &pieces[0], &t_err));
    T_OK(leat_run_push(&p, other, "a", NULL, &t_err));
    T_OK(add_one_text(p, "text", 4, NULL, 0, NULL, &t_err));
    T_OK(leat_run_commit(other, pieces, each, &t_err));
    fault_arm(kind, FAULT_ONCE, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
    s = leat_run_finish(p, late, each, NULL, &err);
    fault_disarm();
    T_CHECK(s != LEAT_OK && err.message[0]);
    if (!fault_failed())
        T_EQ(s, LEAT_E_STATE);
    leat_packer_abandon(p);
    if (fault_failed()) /* perhaps it was the removing */
        T_OK(leat_run_commit(other, pieces, each, &t_err));
    check_files(1, 0);
    leat_run_close(other);
    remove_output();
    return fault_failed();
}

/* ---- An abort that fails ---- */

/* Called again, it ends what was begun. Whether a call has failed. */
static bool fail_abort(enum fault_kind kind, enum fault_mode mode, uint64_t n, bool opened)
{
    struct leat_error err = { .message = "" };
    struct leat_run_piece pieces[2];
    struct leat_run *run;
    enum leat_status s;

    T_OK(create(&run, &t_err));
    T_OK(make_part(run, "a", pieces, &t_err));
    fault_arm(kind, mode, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
    s = leat_run_abort(run, &err);
    fault_disarm();
    T_CHECK(s == LEAT_OK || err.message[0]);
    if (s != LEAT_OK && opened) { /* by who knows only the folder */
        leat_run_close(run);
        s = leat_run_open(&run, output, &t_err);
        T_CHECK(s == LEAT_OK || s == LEAT_E_NO_FILE);
    }
    if (run)
        T_OK(leat_run_abort(run, &t_err));
    else if (access(output, F_OK) == 0) /* only the folder was left, which is no run's now */
        T_EQ(rmdir(output), 0);
    T_EQ(t_files(folder), 2);
    leat_run_close(run);
    if (t_failures > 0) {
        fprintf(stderr, "kind %d, mode %d, call %" PRIu64 " (%s)\n", kind, mode, n, fault_failed());
        exit(1);
    }
    return fault_failed();
}

static void disturb_all(uint64_t *draw)
{
    T_OK(commit_run(&t_err));
    T_OK(open_output(identity));
    check_commit();
    T_OK(commit_run(&t_err));
    T_OK(append_run(&t_err));
    T_OK(open_any(24, longer));
    check_append();
    for (unsigned i = 0; i < SUBJECTS; i++) {
        disturb(i, FAULT_SYSTEM, FAULT_KILL_BEFORE, draw);
        disturb(i, FAULT_SYSTEM, FAULT_KILL_AFTER, draw);
        disturb(i, FAULT_SYSTEM, FAULT_ONCE, draw);
        disturb(i, FAULT_SYSTEM, FAULT_FROM_THEN_ON, draw);
        disturb(i, FAULT_MEMORY, FAULT_ONCE, draw);
        disturb(i, FAULT_MEMORY, FAULT_FROM_THEN_ON, draw);
    }
    for (uint64_t n = 1; fail_abort(FAULT_SYSTEM, FAULT_ONCE, n, n % 2); n++)
        ;
    for (uint64_t n = 1; fail_abort(FAULT_SYSTEM, FAULT_FROM_THEN_ON, n, n % 2); n++)
        ;
    for (uint64_t n = 1; fail_abort(FAULT_MEMORY, FAULT_ONCE, n, n % 2); n++)
        ;
    for (uint64_t n = 1; fail_late(FAULT_SYSTEM, n); n += t_step(3))
        ;
    for (uint64_t n = 1; fail_late(FAULT_MEMORY, n); n += t_step(3))
        ;
}

int main(void)
{
    uint64_t draw = t_draw();

    folder = t_folder();
    snprintf(output, sizeof output, "%s/run", folder);
    kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T_CHECK(kept != MAP_FAILED);
    for (each = 1; each <= 2; each++)
        disturb_all(&draw);
    return t_end();
}
