/*
 * test_pack_fuse.c: packing on a file system whose 1st, 2nd, 3rd, ... call fails, lies or does half of what it should
 * (tests/support/fuse_disk.h): an error with a sentence and no dataset, or all bytes; resumed, the bytes of an
 * undisturbed run with nothing left beside them. What fails of the inputs for a while is tried again, until the run is
 * stopped; another file under the name of one that was opened is never read in its place. make check-every tries all
 * calls. Needs root and /dev/fuse.
 */
#include <fcntl.h>

#include "base/file.h"
#include "packing.h"
#include "support/fuse_disk.h"

static struct packing p;
static struct fuse_disk disk;
static char behind[600], inputs[600];
static struct small old;
static bool all; /* calls are tried, not some, which are drawn */
static uint64_t drawn;

struct fault {
    const char *what;
    enum fuse_disk_fault kind;
    bool and_after;
    int error;
};

static const struct fault faults[] = {
    { "fails once", FUSE_DISK_FAILS, false, EIO },
    { "fails from then on", FUSE_DISK_FAILS, true, EIO },
    { "finds no room from then on", FUSE_DISK_FAILS, true, ENOSPC },
    { "is done but fails", FUSE_DISK_LIES, false, EIO },
    { "does half", FUSE_DISK_HALF, false, 0 },
};

/* A file system for the output or for the inputs, and what is disturbed of it. */
struct phase {
    const char *what;
    bool is_input, by_folder, direct; /* of inputs: the folder is given; past the page cache */
    bool later;                       /* the kernel writes when it likes */
    bool replaces, arrange;           /* an older dataset; shuffled and deduplicated, in a second pass */
    bool once;                        /* with the first fault only */
    unsigned lacks, calls;            /* kinds of calls: unknown; disturbed */
    unsigned tried;                   /* calls of each third */
};

#define CHANGING (FUSE_DISK_ALL & ~(FUSE_DISK_READING & ~FUSE_DISK_READ))
#define NAMING   (FUSE_DISK_RENAME | FUSE_DISK_SYNC_NAMES)

static const struct phase phases[] = {
    { "written at once", .calls = CHANGING, .tried = 1 },
    { "written later", .calls = CHANGING, .later = true, .tried = 3 },
    { "replaced", .calls = CHANGING, .later = true, .replaces = true, .tried = 2 },
    { "names", .calls = NAMING, .later = true, .tried = 4 },
    { "names replaced", .calls = NAMING, .later = true, .replaces = true, .tried = 4 },
    { "arranged", .calls = CHANGING, .later = true, .arrange = true, .tried = 2 },
    { "arranged, removing", .calls = FUSE_DISK_REMOVE, .later = true, .arrange = true, .once = true, .tried = 6 },
    { "what is read of the output", .calls = FUSE_DISK_READING, .later = true, .tried = 2 },
    { "renaming cannot refuse", .calls = NAMING, .later = true, .lacks = FUSE_DISK_RENAME, .tried = 4 },
    { "inputs", .is_input = true, .calls = FUSE_DISK_READING, .tried = 2 },
    { "inputs past the page cache", .is_input = true, .direct = true, .calls = FUSE_DISK_READING, .tried = 2 },
    { "a folder of inputs", .is_input = true, .by_folder = true, .calls = FUSE_DISK_READING, .tried = 2 },
};

/* Between the first and the last calls `tried`; of those, and of the last as many, every second or so. */
static unsigned long next_call(unsigned long n, unsigned long calls, unsigned tried)
{
    unsigned long step = calls / tried;

    if (all)
        return n + 1;
    if (n < tried || n + tried >= calls || step == 0)
        return n + 1 + t_below(&drawn, 3);
    return n + step < calls - tried ? n + step : calls - tried;
}

static enum leat_status run(struct leat_error *err)
{
    struct leat_pack_report report;

    return packing_pack(&p, &(struct packing_run) { .name = p.name, .force = p.replaces != NULL }, &report, err);
}

/* Nothing is there, or what is replaced. */
static void prepare(void)
{
    clear_folder(p.work);
    if (p.replaces)
        copy_dataset(p.replaces, p.name);
}

static void disturb_one(const struct phase *phase, const struct fault *f, unsigned long n)
{
    struct leat_error err = { 0 };
    int failures = t_failures;
    enum leat_status s;

    prepare();
    fuse_disk_arm(&disk, phase->calls, f->kind, n, f->and_after, f->error);
    s = run(&err);
    fuse_disk_disarm(&disk);
    packing_check(&p, s, &err);
    packing_go_on(&p);
    if (t_failures > failures)
        fprintf(stderr, "  %s: call %lu (%s) %s; status %s: %s\n", phase->what, n,
                fuse_disk_hit(&disk) ? fuse_disk_hit(&disk) : "none", f->what, leat_status_name(s),
                s == LEAT_OK ? "" : err.message);
    if (t_failures > 20)
        exit(1);
}

static bool mount_phase(const struct phase *phase)
{
    if (!fuse_disk_mount(&disk, phase->is_input ? inputs : behind, phase->is_input ? p.inputs[PACKING_INPUTS] : p.work,
                         phase->later))
        return false;
    atomic_store(&disk.board->lacks, phase->lacks);
    atomic_store(&disk.board->direct, phase->direct);
    p.by_folder = phase->by_folder;
    p.arrange = phase->arrange;
    snprintf(p.reference, sizeof p.reference, "%.500s/%s", p.folder, phase->arrange ? "arranged" : "reference");
    p.replaces = phase->replaces ? old.name : NULL;
    return true;
}

static void disturb_each(const struct phase *phase, const struct fault *f)
{
    unsigned long count;

    T_CHECK(mount_phase(phase));
    /* what the kernel remembers is wrong where a call was done and said it was not */
    atomic_store(&disk.board->remember, phase->calls != FUSE_DISK_READING && f->kind != FUSE_DISK_LIES);
    prepare();
    fuse_disk_arm(&disk, phase->calls, FUSE_DISK_FAILS, 0, false, 0);
    T_OK(run(&t_err));
    count = fuse_disk_disarm(&disk);
    T_CHECK(packing_whole(&p));
    fprintf(stderr, "%s, %s: %lu calls\n", phase->what, f->what, count);
    for (unsigned long n = 1; n <= count; n = next_call(n, count, phase->tried))
        disturb_one(phase, f, n);
    clear_folder(p.work);
    fuse_disk_unmount(&disk);
}

/* Files that are said to be longer than they are: never what was not there, and no dataset without a word. */
static void lying_sizes(const struct phase *phase)
{
    static const long lies[] = { 1, 4096, 100000 };

    for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct leat_error err = { 0 };
        enum leat_status s;

        T_CHECK(mount_phase(phase));
        clear_folder(p.work);
        atomic_store(&disk.board->size_lie, lies[i]);
        s = run(&err);
        fprintf(stderr, "%s, %ld bytes longer: %s\n", phase->what, lies[i], s == LEAT_OK ? "ok" : err.message);
        T_CHECK(s != LEAT_OK);
        packing_check(&p, s, &err);
        clear_folder(p.work);
        fuse_disk_unmount(&disk);
    }
}

static void pack_parts(const char *const *names)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = p.inputs[0];

    o.tokenizer = p.tokenizer;
    o.end_token = 256;
    o.parts = 2;
    for (o.part = 1; o.part <= o.parts; o.part++)
        T_OK(leat_pack(names[o.part - 1], &input, 1, &o, NULL, &t_err));
}

/* Packing and merging where renaming cannot refuse. */
static void no_second_names(void)
{
    const struct phase phase = { "no second names", .later = true, .lacks = FUSE_DISK_RENAME };
    char parts[2][600], out[600];
    const char *names[] = { parts[0], parts[1] };

    T_CHECK(mount_phase(&phase));
    clear_folder(p.work);
    fuse_disk_arm(&disk, FUSE_DISK_LINK, FUSE_DISK_FAILS, 0, false, 0);
    for (unsigned i = 0; i < 2; i++)
        snprintf(parts[i], sizeof parts[i], "%.500s/part-%u", p.work, i + 1);
    pack_parts(names);
    T_STATUS(file_rename(with(names[0], ".leat"), with(names[1], ".leat"), false, &t_err), LEAT_E_EXISTS);
    snprintf(out, sizeof out, "%.500s/out", p.work);
    T_OK(leat_merge(out, names, 2, NULL, NULL, &t_err));
    T_EQ(fuse_disk_disarm(&disk), 0);
    T_OK(verified(out));
    clear_folder(p.work);
    fuse_disk_unmount(&disk);
}

/* The inputs keep their paths, which are in the dataset. */
static void move_inputs(void)
{
    T_CHECK(rename(p.inputs[PACKING_INPUTS], inputs) == 0);
    make_folder(p.inputs[PACKING_INPUTS]);
}

/* ---- Inputs on a file server that comes back ---- */

static unsigned asked, noticed; /* calls of progress() that saw a failure; notices that it is waited for */
static bool stop_when_told;     /* the run is, by the first of these */
static const char *replaced_by; /* at the first notice, this takes the place of the input; NULL: nothing */
static char replaced_path[700];

static uint32_t on_progress(void *context, const struct leat_pack_progress *now)
{
    (void)context;
    (void)now;
    if (!fuse_disk_hit(&disk))
        return 0;
    asked++;
    return stop_when_told && (noticed > 0 || asked == 100);
}

/* What the run itself waits for: a failure that on_progress() sees may be of what the kernel reads ahead in vain. */
static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    (void)context;
    if (notice->kind != LEAT_NOTICE_WAITING || !strstr(notice->message, "/inputs") ||
        !strstr(notice->message, "leat tries again, for "))
        return;
    if (replaced_by && noticed == 0) {
        T_CHECK(rename(replaced_by, replaced_path) == 0);
        fuse_disk_disarm(&disk);
    }
    noticed++;
}

static enum leat_status pack_one(const char *name, const char *input)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;

    o.tokenizer = p.tokenizer;
    o.end_token = 256;
    o.max_rejects = LEAT_NONE;
    o.force = 1;
    o.progress = on_progress;
    o.notice = on_notice;
    noticed = 0;
    return leat_pack(name, &input, 1, &o, &report, &t_err);
}

/* What comes through a pipe to those that read LIST_NAME: names of inputs; empty: there is no pipe. */
#define LIST_FD   250
#define LIST_NAME "@/dev/fd/250"
static char listed[2000];

static bool direct;     /* inputs are read past the page cache: the kernel reads nothing ahead */
static bool only_reads; /* failed, if anything did: the kernel may have read ahead in vain */

static unsigned long mounted_fails(unsigned calls, unsigned long n, unsigned long times, int error, const char *name,
                                   const char *input, enum leat_status *s)
{
    unsigned long counted;

    int ends[2] = { -1, -1 };

    T_CHECK(fuse_disk_mount(&disk, inputs, p.inputs[PACKING_INPUTS], false));
    atomic_store(&disk.board->direct, direct);
    if (listed[0]) {
        T_CHECK(pipe(ends) == 0 && write(ends[1], listed, strlen(listed)) == (ssize_t)strlen(listed));
        close(ends[1]);
        T_CHECK(ends[0] == LIST_FD || (dup2(ends[0], LIST_FD) == LIST_FD && close(ends[0]) == 0));
    }
    fuse_disk_arm(&disk, calls, FUSE_DISK_FAILS, n, false, error);
    atomic_store(&disk.board->times, times);
    asked = 0;
    *s = pack_one(name, input);
    only_reads = !fuse_disk_hit(&disk) || strcmp(fuse_disk_hit(&disk), "read") == 0;
    counted = fuse_disk_disarm(&disk);
    if (listed[0])
        close(LIST_FD);
    fuse_disk_unmount(&disk);
    return counted;
}

#define FOREVER 1000000u

static void report(const char *what, const char *input, unsigned long n, enum leat_status s)
{
    fprintf(stderr, "  %s: %s, call %lu: %s: %s\n", input, what, n, leat_status_name(s),
            s == LEAT_OK ? "" : t_err.message);
}

/* Whatever call it is, and whatever reads: rows, ranges, long records, spans, the first look. */
static void comes_back(const char *input)
{
    static const int errors[] = { ESTALE, ETIMEDOUT, ENOTCONN };
    char once[700], again[700];
    unsigned long count;
    unsigned waited = 0;
    enum leat_status s;

    snprintf(once, sizeof once, "%.500s/once", p.folder);
    snprintf(again, sizeof again, "%.500s/again", p.folder);
    stop_when_told = false;
    count = mounted_fails(FUSE_DISK_READING, 0, 1, 0, once, input, &s);
    T_OK(s);
    for (unsigned long n = 1; n <= count; n = next_call(n, count, 8)) {
        /* the kernel reads what it read ahead in vain once more */
        mounted_fails(FUSE_DISK_READING, n, 5, errors[n % 3], again, input, &s);
        T_OK(s);
        T_CHECK(same_dataset(once, again));
        if (s != LEAT_OK || !same_dataset(once, again))
            report("comes back", input, n, s);
    }
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "86400", 1) == 0); /* a wait that is not ended outlasts the test */
    stop_when_told = true;
    for (unsigned long n = 1; n <= count; n = next_call(n, count, 8)) {
        mounted_fails(FUSE_DISK_READING, n, FOREVER, EIO, again, input, &s);
        if (s == LEAT_OK && only_reads && noticed == 0 && same_dataset(once, again))
            continue; /* nothing that it needed */
        waited++;
        T_STATUS(s, LEAT_E_STOPPED);
        T_CHECK(noticed > 0);
        if (s != LEAT_E_STOPPED)
            report("stopped", input, n, s);
    }
    T_CHECK(waited >= 4);
    stop_when_told = false;
    T_CHECK(unsetenv("LEAT_RETRY_SECONDS") == 0);
}

/* Another file under the name of one whose server has lost what was opened: as large, and as old. */
static void is_replaced(const char *input, const char *file)
{
    char other[700], kept[700], out[700];
    unsigned long count;
    enum leat_status s;
    struct stat st;

    snprintf(other, sizeof other, "%.500s/other", p.folder);
    snprintf(kept, sizeof kept, "%.500s/kept", p.folder);
    snprintf(out, sizeof out, "%.500s/again", p.folder);
    snprintf(replaced_path, sizeof replaced_path, "%.500s/%s", inputs, file);
    direct = true; /* else the last read may be of the first look, which has nothing to compare a replaced file with */
    count = mounted_fails(FUSE_DISK_READ, 0, 1, 0, out, input, &s);
    T_OK(s);
    copy_file(replaced_path, kept);
    copy_file(replaced_path, other);
    T_CHECK(stat(replaced_path, &st) == 0);
    T_CHECK(utimensat(AT_FDCWD, other, (const struct timespec[2]) { st.st_mtim, st.st_mtim }, 0) == 0);
    replaced_by = other;
    noticed = 0;
    for (unsigned long n = count; n > 0 && noticed == 0; n--) /* the last read that is made */
        mounted_fails(FUSE_DISK_READ, n, FOREVER, ESTALE, out, input, &s);
    T_STATUS(s, LEAT_E_MISMATCH);
    if (s == LEAT_E_MISMATCH)
        T_STR(t_err.file, input);
    replaced_by = NULL;
    direct = false;
    T_CHECK(rename(kept, replaced_path) == 0);
}

/* Without a second try, what is looked for in vain is an error with its name: never fewer inputs. glob() passed over
 * folders that could not be read, and a file without a known suffix was left out. */
static void never_fewer(const char *input)
{
    char once[700], again[700];
    unsigned long count;
    enum leat_status s;

    snprintf(once, sizeof once, "%.500s/once", p.folder);
    snprintf(again, sizeof again, "%.500s/again", p.folder);
    count = mounted_fails(FUSE_DISK_READING, 0, 1, 0, once, input, &s);
    T_OK(s);
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0);
    for (unsigned long n = 1; n <= count; n = next_call(n, count, 16))
        for (unsigned i = 0; i < 2; i++) { /* one call, or all from it on */
            mounted_fails(FUSE_DISK_READING, n, i == 0 ? 1 : FOREVER, EIO, again, input, &s);
            if (s == LEAT_OK ? !same_dataset(once, again) : s != LEAT_E_IO || !strstr(t_err.file, "/inputs"))
                T_FAIL("%s: call %lu of %lu fails: %s, %s: %s", input, n, count, leat_status_name(s),
                       s == LEAT_OK ? "fewer" : t_err.file, s == LEAT_OK ? "" : t_err.message);
        }
    T_CHECK(unsetenv("LEAT_RETRY_SECONDS") == 0);
}

static void searches_come_back(void)
{
    const char *folder = p.inputs[PACKING_INPUTS];
    char pattern[700], path[700];

    snprintf(pattern, sizeof pattern, "%.500s/*.[jp]*", folder);
    comes_back(pattern);
    never_fewer(pattern);
    snprintf(listed, sizeof listed, "%s/a.jsonl\n%s/*.parquet\n%s/c.jsonl.zst\n", folder, folder, folder);
    comes_back(LIST_NAME);
    never_fewer(LIST_NAME);
    listed[0] = '\0';
    snprintf(path, sizeof path, "%.500s/f.parquet", inputs);
    snprintf(pattern, sizeof pattern, "%.500s/f", inputs);
    T_CHECK(rename(path, pattern) == 0); /* its first bytes say what it is */
    comes_back(folder);
    never_fewer(folder);
    T_CHECK(rename(pattern, path) == 0);
}

static void inputs_come_back(void)
{
    static uint8_t bytes[100000];
    char path[700];
    size_t size;
    int fd = open("tests/parquet/files/many.parquet", O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

    T_CHECK(got > 0 && (size_t)got < sizeof bytes);
    close(fd);
    size = got > 0 ? (size_t)got : 0;
    snprintf(path, sizeof path, "%.500s/f.parquet", inputs);
    t_write(path, bytes, size);
    snprintf(path, sizeof path, "%.500s/f.parquet", p.inputs[PACKING_INPUTS]);
    comes_back(p.inputs[0]);
    comes_back(p.inputs[2]);
    comes_back(path);
    comes_back(p.inputs[PACKING_INPUTS]);
    is_replaced(p.inputs[0], "a.jsonl");
    is_replaced(p.inputs[2], "c.jsonl.zst");
    is_replaced(path, "f.parquet");
}

int main(int argc, char **argv)
{
    all = t_every();
    drawn = t_draw();
    packing_begin(&p);
    snprintf(behind, sizeof behind, "%.500s/behind", p.folder);
    snprintf(inputs, sizeof inputs, "%.500s/inputs-behind", p.folder);
    snprintf(old.name, sizeof old.name, "%.500s/old", p.folder);
    small_write(&old);
    snprintf(p.reference, sizeof p.reference, "%.500s/arranged", p.folder);
    p.arrange = true;
    T_OK(packing_pack(&p, &(struct packing_run) { .name = p.reference }, &(struct leat_pack_report) { 0 }, &t_err));
    make_folder(behind);
    if (!mount_phase(&phases[0]))
        return t_skip("mounting /dev/fuse is not allowed here");
    fuse_disk_unmount(&disk);
    no_second_names();
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0); /* inputs, too, are read once */
    for (unsigned i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        if (argc > 1 && strcmp(argv[1], phases[i].what) != 0)
            continue;
        if (phases[i].is_input && access(inputs, F_OK) != 0)
            move_inputs();
        for (unsigned k = 0; k < (phases[i].once ? 1 : sizeof faults / sizeof faults[0]); k++)
            if (!phases[i].later || faults[k].kind != FUSE_DISK_HALF) /* nobody is told of half a write that is late */
                disturb_each(&phases[i], &faults[k]);
        if (phases[i].is_input)
            lying_sizes(&phases[i]);
    }
    T_CHECK(unsetenv("LEAT_RETRY_SECONDS") == 0);
    if (access(inputs, F_OK) != 0)
        move_inputs();
    inputs_come_back();
    searches_come_back();
    packing_end(&p);
    return t_end();
}
