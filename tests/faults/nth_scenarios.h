/* nth_scenarios.h: what test_nth_call_fails.c writes and reads while calls fail: scenarios, and the answers of what is
 * read in one number. */
#ifndef LEAT_TESTS_NTH_SCENARIOS_H
#define LEAT_TESTS_NTH_SCENARIOS_H

#include <sys/syscall.h>

#include "base/file.h"
#include "dataset/dataset.h"
#include "leat_pack.h"
#include "one_document.h"
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

        s = add_one_document(writer, ids, 4, NULL, 60, &o, err);
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

        T_OK(add_one_document(w, hash + 1, 4, NULL, i % 3, &o, &t_err));
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
        (s = leat_dataset_origins(d, document, 1, &origin, err)) != LEAT_OK ||
        (s = leat_dataset_ids(d, 28, 1, text, sizeof text, &bytes, err)) != LEAT_OK ||
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
    o.retry_seconds = LEAT_RETRY_NEVER; /* each failure counts */
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

#endif
