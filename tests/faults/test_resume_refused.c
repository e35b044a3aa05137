/*
 * test_resume_refused.c: what does not fit a stopped run is refused and named: other options, a damaged checkpoint or
 * one of another version, a spill that is damaged, too short or gone, a second writer. A refusal changes nothing: the
 * run can still be resumed.
 */
#include <sys/wait.h>

#include "checksum/checksum.h"
#include "small.h"

static const char *folder;
static char work[560];
static struct small fresh, reference;

#define STOPPED ((uint64_t)30) /* documents at the checkpoint: some pages of tokens */

static struct leat_writer *stopped_at_checkpoint(void)
{
    uint64_t done = STOPPED;
    struct leat_writer *w;

    clear_folder(work);
    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    T_OK(small_documents(w, fresh.seed, 0, done, &t_err));
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
    T_OK(small_documents(w, fresh.seed, done, done + 5, &t_err));
    return w;
}

static void resume_refused(const struct leat_writer_options *o, enum leat_status status, const char *sentence)
{
    struct leat_writer *w;
    void *note = &w;
    size_t note_bytes;

    memset(&t_err, 0, sizeof t_err);
    T_STATUS(leat_writer_resume(&w, fresh.name, o, &note, &note_bytes, &t_err), status);
    T_CHECK(!w && !note);
    T_CONTAINS(t_err.message, sentence);
    if (status != LEAT_E_STOPPED)
        T_CONTAINS(t_err.message, folder);
}

static void resumes_all_the_same(void)
{
    T_EQ(small_resume(&fresh), LEAT_OK);
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
}

static void other_options(void)
{
    static const struct leat_stored_tokenizer other = { "other.json", "", NULL, 0 };
    static const uint8_t fingerprint[16] = { 1 };
    struct leat_writer_options right = small_options(&fresh), o;

    leat_writer_suspend(stopped_at_checkpoint());
    o = right;
    o.vocabulary = 301;
    resume_refused(&o, LEAT_E_CHECKPOINT, "its vocabulary size was 300 and now is 301");
    o = right;
    o.end_token = 7;
    resume_refused(&o, LEAT_E_CHECKPOINT, "its end-of-document token was 0 and now is 7");
    o.end_token = LEAT_NONE;
    resume_refused(&o, LEAT_E_CHECKPOINT, "its end-of-document token was 0 and now is none");
    o = right;
    o.begin_token = LEAT_NONE;
    resume_refused(&o, LEAT_E_CHECKPOINT, "its begin token was 1 and now is none");
    o = right;
    o.store_lines = 0;
    resume_refused(&o, LEAT_E_CHECKPOINT, "line numbers");
    o = right;
    o.store_ids = 0;
    resume_refused(&o, LEAT_E_CHECKPOINT, "ids");
    o = right;
    o.store_hashes = 0;
    resume_refused(&o, LEAT_E_CHECKPOINT, "text hashes");
    o = right;
    o.tokenizer = &other;
    resume_refused(&o, LEAT_E_CHECKPOINT, "another tokenizer");
    o.tokenizer = NULL;
    resume_refused(&o, LEAT_E_CHECKPOINT, "another tokenizer");
    o = right;
    o.fingerprint = fingerprint;
    resume_refused(&o, LEAT_E_CHECKPOINT, "another tokenizer");
    o = right;
    o.vocabulary = 0;
    memset(&t_err, 0, sizeof t_err);
    T_STATUS(leat_writer_resume(&(struct leat_writer *) { NULL }, fresh.name, &o, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    resumes_all_the_same();
}

/* Each byte, and each length. */
static void damaged_checkpoint(void)
{
    struct leat_writer_options o = small_options(&fresh);
    const char *path = with(fresh.name, ".partial.checkpoint");
    uint8_t *bytes;
    size_t size;

    leat_writer_suspend(stopped_at_checkpoint());
    bytes = file_bytes(path, &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1 << i % 8);
        t_write(path, bytes, size);
        resume_refused(&o, LEAT_E_CHECKPOINT, "damaged");
        bytes[i] ^= (uint8_t)(1 << i % 8);
        t_write(path, bytes, i);
        resume_refused(&o, LEAT_E_CHECKPOINT, "damaged");
    }
    t_write(path, bytes, size);
    free(bytes);
    resumes_all_the_same();
}

/* Numbers changed and the checksum made to fit: an error, or a writer; never a crash. */
static void forged_checkpoint(uint64_t *random)
{
    struct leat_writer_options o = small_options(&fresh);
    const char *path = with(fresh.name, ".partial.checkpoint");
    uint8_t *bytes;
    size_t size;

    leat_writer_suspend(stopped_at_checkpoint());
    bytes = file_bytes(path, &size);
    for (size_t i = 8; i + 24 <= size; i++) {
        uint64_t was, now = t_below(random, 2) ? t_random(random) : t_below(random, 100000);
        struct leat_writer *w;
        void *note = NULL;
        size_t note_bytes;

        memcpy(&was, bytes + i, 8);
        now >>= t_below(random, 64);
        memcpy(bytes + i, &now, 8);
        checksum_store(bytes + size - 16, checksum_kernels()->hash(bytes, size - 16));
        t_write(path, bytes, size);
        if (leat_writer_resume(&w, fresh.name, &o, &note, &note_bytes, &t_err) == LEAT_OK)
            leat_writer_suspend(w);
        else
            T_EQ(t_err.status, LEAT_E_CHECKPOINT);
        leat_writer_free_note(note);
        memcpy(bytes + i, &was, 8);
    }
    free(bytes);
}

static const char *const spill_names[] = { ".partial.tokens",  ".partial.documents", ".partial.directory",
                                           ".partial.pages",   ".partial.origins",   ".partial.lines",
                                           ".partial.id-ends", ".partial.ids",       ".partial.hashes" };
#define SPILL_NAMES (sizeof spill_names / sizeof *spill_names)

static void short_spills(void)
{
    struct leat_writer_options o = small_options(&fresh);

    leat_writer_suspend(stopped_at_checkpoint());
    for (size_t i = 0; i < SPILL_NAMES; i++) {
        uint8_t *bytes;
        size_t size;
        const char *path = with(fresh.name, spill_names[i]);

        bytes = file_bytes(path, &size);
        if (size == 0) { /* hashes of pages, of which no frame is full */
            T_CHECK(strcmp(spill_names[i], ".partial.pages") == 0);
            free(bytes);
            continue;
        }
        t_write(path, bytes, size - 1); /* all are of the checkpoint's length now, or become so */
        if (i == 0)
            t_write(path, bytes, 100);
        resume_refused(&o, LEAT_E_CHECKPOINT, path);
        unlink(path);
        resume_refused(&o, LEAT_E_CHECKPOINT, path);
        t_write(path, bytes, size);
        free(bytes);
    }
    resumes_all_the_same();
}

/* A bit here and there in each, before the checkpoint's end and after it. */
static void damaged_spills(void)
{
    struct leat_writer_options o = small_options(&fresh);
    uint64_t tried = 0;

    leat_writer_suspend(stopped_at_checkpoint());
    for (size_t i = 0; i < SPILL_NAMES; i++) {
        uint8_t *bytes, *then;
        size_t size, then_size;
        const char *path = with(fresh.name, spill_names[i]);

        bytes = file_bytes(path, &size);
        for (size_t at = 0; at < size; at += at + 1 == size || at + 101 < size ? 101 : size - 1 - at) {
            bytes[at] ^= (uint8_t)(1 << at % 8);
            t_write(path, bytes, size);
            memset(&t_err, 0, sizeof t_err);
            resume_refused(&o, LEAT_E_CHECKPOINT, "is damaged: it is not what it was at the checkpoint");
            T_CONTAINS(t_err.message, path);
            T_EQ(t_err.hint, LEAT_HINT_REPLACE);
            then = file_bytes(path, &then_size);
            T_CHECK(then_size == size && memcmp(then, bytes, size) == 0);
            free(then);
            bytes[at] ^= (uint8_t)(1 << at % 8);
            tried++;
        }
        t_write(path, bytes, size);
        free(bytes);
    }
    T_CHECK(tried > 50);
    resumes_all_the_same();
}

/* What the version before this one wrote, by its magic. */
static void other_version(void)
{
    struct leat_writer_options o = small_options(&fresh);
    uint8_t *bytes, version;
    const char *path = with(fresh.name, ".partial.checkpoint");
    size_t size;

    leat_writer_suspend(stopped_at_checkpoint());
    bytes = file_bytes(path, &size);
    version = bytes[7];
    bytes[7] = '2';
    checksum_store(bytes + size - 16, checksum_kernels()->hash(bytes, size - 16));
    t_write(path, bytes, size);
    resume_refused(&o, LEAT_E_CHECKPOINT,
                   "was made by another version of leat: resume with that version, or start over");
    bytes[7] = version;
    checksum_store(bytes + size - 16, checksum_kernels()->hash(bytes, size - 16));
    t_write(path, bytes, size);
    free(bytes);
    resumes_all_the_same();
}

static uint64_t told_done, told_total;

static uint32_t stop_reading(void *context, uint64_t done, uint64_t total)
{
    T_CHECK(context == &told_done);
    told_done = done;
    told_total = total;
    return 1;
}

/* Reading back what was written can be stopped, and then begun again. */
static void stopped_while_reading(void)
{
    struct leat_writer_options o = small_options(&fresh);

    leat_writer_suspend(stopped_at_checkpoint());
    o.progress = stop_reading;
    o.context = &told_done;
    resume_refused(&o, LEAT_E_STOPPED, "");
    T_CHECK(told_done > 0 && told_done < told_total);
    resumes_all_the_same();
}

/* ---- Who may write ---- */

static void second_writer(void)
{
    struct leat_writer_options o = small_options(&fresh);
    struct leat_writer *w = stopped_at_checkpoint(), *other;
    pid_t child = fork();
    int status;

    if (child == 0) {
        t_failures = 0;
        o.force = fresh.replace = 1;
        T_REFUSED(small_open(&fresh, &other, &t_err), LEAT_E_BUSY, with(fresh.name, ".leat"));
        resume_refused(&o, LEAT_E_BUSY, "another process is writing");
        leat_writer_abandon(w); /* only frees, in a child */
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    T_STATUS(small_open(&fresh, &other, &t_err), LEAT_E_BUSY);
    resume_refused(&o, LEAT_E_BUSY, "this process is writing");
    T_OK(small_documents(w, fresh.seed, STOPPED + 5, SMALL_DOCUMENTS, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
}

static void what_is_in_the_way(void)
{
    struct leat_writer_options o = small_options(&fresh);
    struct leat_writer *w;

    leat_writer_suspend(stopped_at_checkpoint());
    T_REFUSED(small_open(&fresh, &w, &t_err), LEAT_E_EXISTS, "checkpoint");
    T_CHECK(!w);
    resumes_all_the_same();
    T_REFUSED(small_open(&fresh, &w, &t_err), LEAT_E_EXISTS, "already exists");
    resume_refused(&o, LEAT_E_EXISTS, "already exists");
    T_STR(listing(work), "d.leat d.tokens");
    T_CHECK(same_dataset(fresh.name, reference.name));
    unlink(with(fresh.name, ".leat"));
    T_REFUSED(small_open(&fresh, &w, &t_err), LEAT_E_EXISTS, "without an index");
    T_CHECK(same_file(with(fresh.name, ".tokens"), with(reference.name, ".tokens")));
    clear_folder(work);
    leat_writer_suspend(stopped_at_checkpoint()); /* that, in the way of what would be found at the end only */
    t_write(with(fresh.name, ".tokens"), "foreign", 7);
    resume_refused(&o, LEAT_E_EXISTS, "without an index");
    T_EQ(t_err.hint, LEAT_HINT_REPLACE);
    fresh.replace = true;
    resumes_all_the_same();
    fresh.replace = false;
    clear_folder(work);
    resume_refused(&o, LEAT_E_CHECKPOINT, "no stopped run");
    T_STR(listing(work), "");
}

/* ---- What a checkpoint is not ---- */

static void odd_moments(void)
{
    struct leat_writer_options o = small_options(&fresh);
    uint64_t done = STOPPED;
    struct leat_writer *w;
    uint32_t id = 2;

    clear_folder(work); /* suspended without one: nothing is kept */
    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    leat_writer_suspend(w);
    T_STR(listing(work), "");

    w = stopped_at_checkpoint(); /* not inside a document; and that is not for good */
    T_OK(leat_writer_append(w, &id, 4, NULL, 1, &t_err));
    T_STATUS(leat_writer_checkpoint(w, &done, sizeof done, &t_err), LEAT_E_STATE);
    T_STATUS(leat_writer_finish(w, NULL, &t_err), LEAT_E_STATE);
    leat_writer_suspend(w);
    T_OK(leat_writer_resume(&w, fresh.name, &o, NULL, NULL, &t_err)); /* a note that is not wanted */
    T_EQ(leat_writer_documents(w), done);
    leat_writer_suspend(w);
    resumes_all_the_same();

    leat_writer_abandon(stopped_at_checkpoint());
    T_STR(listing(work), "");
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(fresh.name, sizeof fresh.name, "%s/d", work);
    snprintf(reference.name, sizeof reference.name, "%s/reference", folder);
    fresh.seed = reference.seed = random;
    reference.replace = true;
    small_write(&reference);
    other_options();
    damaged_checkpoint();
    forged_checkpoint(&random);
    short_spills();
    damaged_spills();
    other_version();
    stopped_while_reading();
    second_writer();
    what_is_in_the_way();
    odd_moments();
    return t_end();
}
