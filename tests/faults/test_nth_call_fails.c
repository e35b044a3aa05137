/*
 * test_nth_call_fails.c: whatever call fails, an error comes back, or the call was not needed and all is right.
 *
 * Each scenario first runs undisturbed, then again and again with its 1st, 2nd, 3rd, ... allocation or system call
 * failing: that one alone, or it and all after it. Each time: a status and a sentence with a path or a cause in it; no
 * allocation, no file descriptor and no lease left; no finished-looking file that is not whole; after abandon no file
 * at all, after suspend a checkpoint that leads to the same bytes; and success only with the bytes or answers of the
 * undisturbed run. Short and interrupted transfers must not show at all.
 *
 * Some of the calls are tried, which the seed draws; all of them by make check-every.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "dataset/dataset.h"
#include "leat_pack.h"
#include "own_mounts.h"
#include "small.h"
#include "support/fault.h"

static const char *folder;
static uint64_t drawn;                     /* state of what draws calls */
static char work[560];                     /* where scenarios write */
static struct small fresh, old, reference; /* work/d; an older dataset, and what work/d must become, elsewhere */

/* What a scenario's run leaves open when a call failed. */
static struct leat_writer *writer;

/* ---- Writing ---- */

static enum leat_status write_straight(struct leat_error *err)
{
    enum leat_status s;

    if ((s = small_open(&fresh, &writer, err)) != LEAT_OK || (s = small_begin(writer, err)) != LEAT_OK ||
        (s = small_documents(writer, fresh.seed, 0, SMALL_DOCUMENTS, err)) != LEAT_OK ||
        (s = leat_writer_finish(writer, NULL, err)) != LEAT_OK)
        return s;
    writer = NULL;
    return LEAT_OK;
}

/* More than the writer's buffers hold, so that it also writes between open and finish; and a tokenizer's file that is
 * more than is copied at once. */
static enum leat_status write_much(struct leat_error *err)
{
    static const char large[(1 << 20) + 5];
    static const struct leat_stored_tokenizer tokenizer = { "large.json", NULL, large, sizeof large };
    struct leat_writer_options options = small_options(&fresh);
    uint32_t ids[60];
    enum leat_status s;

    for (unsigned i = 0; i < 60; i++)
        ids[i] = i;
    options.tokenizer = &tokenizer;
    if ((s = leat_writer_open(&writer, fresh.name, &options, err)) != LEAT_OK ||
        (s = small_begin(writer, err)) != LEAT_OK)
        return s;
    for (uint64_t k = 0; s == LEAT_OK && k < 40000; k++) {
        struct leat_origin o = { .offset = k, .line = k, .id = "document", .id_bytes = 8 };

        s = leat_writer_add_u32(writer, ids, 60, &o, err);
    }
    if (s == LEAT_OK)
        s = leat_writer_finish(writer, NULL, err);
    if (s == LEAT_OK)
        writer = NULL;
    return s;
}

static enum leat_status write_part(uint64_t from, uint64_t to, struct leat_error *err)
{
    enum leat_status s = small_documents(writer, fresh.seed, from, to, err);

    return s == LEAT_OK ? leat_writer_checkpoint(writer, &to, sizeof to, err) : s;
}

static enum leat_status write_and_resume(struct leat_error *err)
{
    struct leat_writer_options o = small_options(&fresh);
    enum leat_status s;
    size_t note_bytes;
    void *note;

    if ((s = small_open(&fresh, &writer, err)) != LEAT_OK || (s = small_begin(writer, err)) != LEAT_OK ||
        (s = write_part(0, 10, err)) != LEAT_OK || (s = write_part(10, 25, err)) != LEAT_OK ||
        (s = small_documents(writer, fresh.seed, 25, 30, err)) != LEAT_OK)
        return s;
    leat_writer_suspend(writer);
    writer = NULL;
    s = leat_writer_resume(&writer, fresh.name, &o, &note, &note_bytes, err);
    if (s != LEAT_OK) {
        T_CHECK(!note && !writer);
        return s;
    }
    leat_writer_free_note(note);
    if ((s = small_documents(writer, fresh.seed, 25, SMALL_DOCUMENTS, err)) != LEAT_OK ||
        (s = leat_writer_finish(writer, NULL, err)) != LEAT_OK)
        return s;
    writer = NULL;
    return LEAT_OK;
}

static enum leat_status write_and_abandon(struct leat_error *err)
{
    enum leat_status s;

    if ((s = small_open(&fresh, &writer, err)) == LEAT_OK && (s = small_begin(writer, err)) == LEAT_OK)
        s = write_part(0, 10, err);
    leat_writer_abandon(writer);
    writer = NULL;
    return s;
}

static enum leat_status merge(struct leat_error *err)
{
    const char *parts[3] = { with(folder, "/p1"), with(folder, "/p2"), with(folder, "/p3") };

    return leat_merge(fresh.name, parts, 3, NULL, NULL, err);
}

/* With so little memory that runs are sorted and buckets filled in files. */
static enum leat_status arrange(struct leat_error *err)
{
    const char *parts[2] = { with(folder, "/p1"), with(folder, "/many") };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.shuffle = o.dedup = 1;
    o.memory = 1;
    return leat_merge(fresh.name, parts, 2, &o, NULL, err);
}

/* Tiny documents, each text twice: more than are sorted at once. */
static void write_many(const char *name)
{
    struct small many = { .replace = false };
    struct leat_writer *w;

    snprintf(many.name, sizeof many.name, "%s", name);
    T_OK(small_open(&many, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    for (uint32_t i = 0; i < 2600; i++) {
        uint32_t hash[4] = { 1 + i / 2, 2, 3, i / 2 * 2654435761u };
        struct leat_origin o = {
            .offset = i, .line = i, .id = "id", .id_bytes = i % 3, .text_hash = (const uint8_t *)hash
        };

        T_OK(leat_writer_add_u32(w, hash + 1, i % 3, &o, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void copy_old(void)
{
    copy_dataset(old.name, fresh.name);
}

/* ---- Reading: every answer goes into one number ---- */

static uint64_t answers;
static bool all_fail; /* every call from now on */
static const char *read_name;
static enum leat_access read_access;

static void answer(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        answers = (answers ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

static void answer_number(uint64_t number)
{
    answer(&number, sizeof number);
}

/* Whether the system would let somebody open the token file for writing now: nobody holds a lease. Past the wrapped
 * calls. */
static bool no_lease(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);

    if (fd >= 0)
        syscall(SYS_close, fd);
    return fd >= 0;
}

static enum leat_status read_tokens(const struct leat_dataset *d, const struct leat_info *info, struct leat_error *err)
{
    uint32_t *ids = malloc(info->tokens * 4);
    uint16_t narrow[700];
    struct leat_view view;
    enum leat_status s = ids ? LEAT_OK : LEAT_E_NO_MEMORY;

    if (!ids) {
        *err = (struct leat_error) { .status = s, .message = "no memory in the test" };
        return s;
    }
    s = leat_dataset_read_u32(d, 0, info->tokens, ids, err);
    if (s == LEAT_OK)
        answer(ids, info->tokens * 4);
    free(ids);
    if (s == LEAT_OK)
        s = leat_dataset_read(d, 333, 700, narrow, err);
    if (s != LEAT_OK)
        return s;
    answer(narrow, sizeof narrow);
    s = leat_dataset_view(d, 1000, 700, &view, err);
    if (s == LEAT_OK) {
        answer(view.tokens, 1400);
        leat_view_release(&view);
    } else if (s == LEAT_E_NOT_MAPPED) {
        struct leat_part part = LEAT_PART_INIT;

        T_OK(leat_dataset_part(d, 0, &part, &t_err));
        /* what is not mapped must not keep others waiting; giving a lease back may be what fails */
        T_CHECK(all_fail || no_lease(with(part.name, ".tokens")));
        s = leat_dataset_read(d, 1000, 700, narrow, err);
        answer(narrow, sizeof narrow);
    }
    return s;
}

static enum leat_status read_documents(const struct leat_dataset *d, struct leat_error *err)
{
    uint64_t starts[20], first, count, document, documents;
    enum leat_status s;

    if ((s = leat_dataset_starts(d, 5, 20, starts, err)) != LEAT_OK ||
        (s = leat_dataset_document(d, 17, &first, &count, err)) != LEAT_OK ||
        (s = leat_dataset_documents_in(d, 100, 4000, &document, &documents, err)) != LEAT_OK)
        return s;
    answer(starts, sizeof starts);
    answer_number(first + count);
    answer_number(document + 1000 * documents);
    return leat_dataset_verify_range(d, 3000, 2000, err);
}

static enum leat_status read_origins(const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_input input = LEAT_INPUT_INIT;
    uint64_t number, document, same, bytes;
    struct leat_origin origin;
    enum leat_status s;
    char text[64];

    if ((s = leat_dataset_input(d, 1, &input, err)) != LEAT_OK ||
        (s = leat_dataset_input_path(d, 1, text, sizeof text, &bytes, err)) != LEAT_OK ||
        (s = leat_dataset_find_input(d, text, &number, err)) != LEAT_OK ||
        (s = leat_dataset_find_origin(d, 1, 2750, &document, err)) != LEAT_OK ||
        (s = leat_dataset_origin(d, document, &origin, err)) != LEAT_OK ||
        (s = leat_dataset_id(d, 28, text, sizeof text, &bytes, err)) != LEAT_OK ||
        (s = leat_dataset_find_id(d, text, bytes, &same, err)) != LEAT_OK)
        return s;
    answer_number(input.bytes + input.documents + input.tokens);
    answer_number(number + 10 * document + 1000 * same);
    answer_number(origin.line);
    return LEAT_OK;
}

static enum leat_status read_stored(const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_stored_tokenizer *tokenizer;
    struct leat_metadata *metadata;
    enum leat_status s = leat_dataset_tokenizer(d, &tokenizer, err);

    if (s != LEAT_OK)
        return s;
    answer(tokenizer->file, tokenizer->file_bytes);
    leat_stored_tokenizer_free(tokenizer);
    s = leat_dataset_metadata(d, 0, &metadata, err);
    if (s != LEAT_OK)
        return s;
    answer(metadata->pairs[1].value, metadata->pairs[1].value_bytes);
    leat_metadata_free(metadata);
    return LEAT_OK;
}

static enum leat_status read_verify(const struct leat_dataset *d, unsigned threads, struct leat_error *err)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    enum leat_status s;

    o.threads = threads;
    s = leat_dataset_verify(d, &o, &report, err);
    answer_number(report.bytes);
    return s;
}

static enum leat_status read_everything(struct leat_error *err)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    enum leat_status s;

    answers = 0;
    o.access = read_access;
    s = leat_dataset_open(&d, read_name, &o, err);
    if (s != LEAT_OK) {
        T_CHECK(!d);
        return s;
    }
    leat_dataset_info(d, &info);
    answer_number(info.tokens);
    if ((s = read_tokens(d, &info, err)) == LEAT_OK && (s = read_documents(d, err)) == LEAT_OK &&
        (s = read_origins(d, err)) == LEAT_OK && (s = read_stored(d, err)) == LEAT_OK &&
        (s = read_verify(d, 1, err)) == LEAT_OK)
        s = read_verify(d, 4, err);
    leat_dataset_close(d);
    return s;
}

/* ---- Scenarios ---- */

struct scenario {
    const char *what;
    void (*prepare)(void); /* after work/ was emptied */
    enum leat_status (*run)(struct leat_error *err);
    bool writes, replaces, abandons;
    unsigned lacks;    /* of the file system */
    const char *reads; /* the name to open, after the folder's */
    enum leat_access access;
};

static const struct scenario scenarios[] = {
    { .what = "write", .run = write_straight, .writes = true },
    { .what = "write where renaming cannot refuse",
      .run = write_straight,
      .writes = true,
      .lacks = FAULT_NO_RENAMEAT2 },
    { .what = "write, suspend, resume", .run = write_and_resume, .writes = true },
    { .what = "write, suspend, resume where renaming cannot refuse",
      .run = write_and_resume,
      .writes = true,
      .lacks = FAULT_NO_RENAMEAT2 },
    { .what = "write where files have one name only",
      .run = write_straight,
      .writes = true,
      .lacks = FAULT_NO_RENAMEAT2 | FAULT_NO_LINKS },
    { .what = "replace", .prepare = copy_old, .run = write_straight, .writes = true, .replaces = true },
    { .what = "replace with checkpoints",
      .prepare = copy_old,
      .run = write_and_resume,
      .writes = true,
      .replaces = true },
    { .what = "write much", .run = write_much, .writes = true },
    { .what = "abandon", .run = write_and_abandon, .abandons = true },
    { .what = "merge", .run = merge, .writes = true },
    { .what = "arrange", .run = arrange, .writes = true },
    { .what = "arrange where files need names", .run = arrange, .writes = true, .lacks = FAULT_NO_UNNAMED },
    { .what = "read", .run = read_everything, .reads = "/list/x", .access = LEAT_ACCESS_LEASED },
    { .what = "read on trust", .run = read_everything, .reads = "/list/x", .access = LEAT_ACCESS_TRUSTED },
    { .what = "read unmapped", .run = read_everything, .reads = "/list/x", .access = LEAT_ACCESS_READ },
    { .what = "read a folder", .run = read_everything, .reads = "/list", .access = LEAT_ACCESS_LEASED },
    { .what = "read a list", .run = read_everything, .reads = "@/list.txt", .access = LEAT_ACCESS_LEASED },
};

/* Whether it makes the dataset of small.h. */
static bool is_small(const struct scenario *s)
{
    return s->run == write_straight || s->run == write_and_resume;
}

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
    T_EQ(leat_writer_add_u32(writer, NULL, 0, NULL, &again), s);
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

#define ENDS  10 /* the first calls, and the last: each of them is tried */
#define TRIED 25 /* of those between */

static uint64_t next_call(uint64_t n, uint64_t calls)
{
    uint64_t end = calls > ENDS ? calls - ENDS : 0;

    if (t_every() || n < ENDS || n >= end)
        return n + 1;
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
        put_file(from, "from", 4);
        put_file(to, "to", 2);
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
    fresh.seed = reference.seed = drawn = t_seed();
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
    put_file(with(folder, "/list.txt"), "# two\nlist/y\nlist/x.leat\n", 25);
}

int main(int argc, char **argv)
{
    static char name[700];

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
            snprintf(name, sizeof name, "%s%s%s", s->reads[0] == '@' ? "@" : "", folder,
                     s->reads + (s->reads[0] == '@'));
            read_name = name;
            read_access = s->access;
        }
        fail_each_call(s, FAULT_MEMORY);
        fail_each_call(s, FAULT_SYSTEM);
        disturb_transfers(s);
        fault_file_system(0);
    }
    return t_end();
}
