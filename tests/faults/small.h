/*
 * small.h: the small dataset that the programs of tests/faults/ write, break and compare: few documents, every kind of
 * section, a token file of some pages. Document k is a function of (seed, k), so that any run can write any part of it.
 */
#ifndef LEAT_TESTS_FAULTS_SMALL_H
#define LEAT_TESTS_FAULTS_SMALL_H

#include "one_document.h"
#include "support/files.h"

#define SMALL_VOCABULARY 300
#define SMALL_DOCUMENTS  40
#define SMALL_LONGEST    500

struct small {
    char name[600];
    uint64_t seed;
    bool replace;
};

static inline struct leat_writer_options small_options(const struct small *s)
{
    static const struct leat_stored_tokenizer tokenizer = { "small.json", "pattern", "a file's bytes", 14 };
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = SMALL_VOCABULARY;
    o.end_token = 0;
    o.begin_token = 1;
    o.tokenizer = &tokenizer;
    o.force = s->replace;
    o.store_lines = o.store_ids = o.store_hashes = 1;
    return o;
}

static inline enum leat_status small_open(const struct small *s, struct leat_writer **w, struct leat_error *err)
{
    struct leat_writer_options o = small_options(s);

    return leat_writer_open(w, s->name, &o, err);
}

/* Inputs and metadata: once, at the begin. */
static inline enum leat_status small_begin(struct leat_writer *w, struct leat_error *err)
{
    struct leat_input input = LEAT_INPUT_INIT;
    enum leat_status status;

    if ((status = leat_writer_add_input(w, "a.jsonl", NULL, err)) != LEAT_OK ||
        (status = leat_writer_add_input(w, "folder/b.jsonl.zst", NULL, err)) != LEAT_OK)
        return status;
    input.bytes = 123456;
    input.rejects = 3;
    memset(input.hash, 7, sizeof input.hash);
    if ((status = leat_writer_set_input(w, 1, &input, err)) != LEAT_OK ||
        (status = leat_writer_set_metadata(w, "licence", "none", err)) != LEAT_OK ||
        (status = leat_writer_set_metadata(w, "author", "nobody", err)) != LEAT_OK)
        return status;
    return leat_writer_set_metadata(w, "licence", "some", err);
}

/* The ids of document k, without begin and end token; returns how many. */
static inline uint64_t small_ids(uint64_t seed, uint64_t k, uint32_t ids[SMALL_LONGEST])
{
    uint64_t random = seed * 1000003 + k, count = k % 7 == 3 ? 0 : t_below(&random, SMALL_LONGEST);

    for (uint64_t i = 0; i < count; i++)
        ids[i] = (uint32_t)t_below(&random, SMALL_VOCABULARY);
    return count;
}

static inline enum leat_status small_document(struct leat_writer *w, uint64_t seed, uint64_t k, struct leat_error *err)
{
    uint32_t ids[SMALL_LONGEST];
    uint64_t count = small_ids(seed, k, ids);
    struct leat_origin o = { .input = k >= SMALL_DOCUMENTS / 2, .offset = 100 * k, .line = k + 1 };
    uint8_t hash[16] = { (uint8_t)k, 1, 2 };
    enum leat_status status;
    char id[32];

    snprintf(id, sizeof id, "id-%" PRIu64, k);
    o.id = id;
    o.id_bytes = k % 3 ? strlen(id) : 0;
    o.text_hash = k % 5 ? hash : NULL;
    if (k % 2)
        return add_one_document(w, ids, 4, NULL, count, &o, err);
    if ((status = leat_writer_append(w, ids, 4, NULL, count / 2, err)) != LEAT_OK ||
        (status = leat_writer_append(w, ids + count / 2, 4, NULL, count - count / 2, err)) != LEAT_OK)
        return status;
    return leat_writer_end_document(w, &o, err);
}

/* Documents [from, to). */
static inline enum leat_status small_documents(struct leat_writer *w, uint64_t seed, uint64_t from, uint64_t to,
                                               struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (uint64_t k = from; status == LEAT_OK && k < to; k++)
        status = small_document(w, seed, k, err);
    return status;
}

/* Writes the whole dataset; everything must go well. */
static inline void small_write(const struct small *s)
{
    struct leat_writer *w;

    T_OK(small_open(s, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    T_OK(small_documents(w, s->seed, 0, SMALL_DOCUMENTS, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Resumes, checks that the note is a number of documents, and writes the rest. Whatever fails but resuming, whose
 * status is returned, is a failure of the test. */
static inline enum leat_status small_resume(const struct small *s)
{
    struct leat_writer_options o = small_options(s);
    uint64_t done = LEAT_NONE;
    struct leat_writer *w;
    size_t note_bytes;
    void *note;
    enum leat_status status = leat_writer_resume(&w, s->name, &o, &note, &note_bytes, &t_err);

    if (status != LEAT_OK)
        return status;
    T_EQ(note_bytes, sizeof done);
    memcpy(&done, note, sizeof done);
    leat_writer_free_note(note);
    T_EQ(leat_writer_documents(w), done);
    T_OK(small_documents(w, s->seed, done, SMALL_DOCUMENTS, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    return LEAT_OK;
}

/* ---- Files ---- */

static inline void copy_dataset(const char *from, const char *to)
{
    copy_file(with(from, ".tokens"), with(to, ".tokens"));
    copy_file(with(from, ".leat"), with(to, ".leat"));
}

/* Opens and verifies: LEAT_OK, or the status of the call that failed. */
static inline enum leat_status verified(const char *name)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;
    enum leat_status status = leat_dataset_open(&d, name, NULL, &t_err);

    o.threads = 1;
    if (status == LEAT_OK)
        status = leat_dataset_verify(d, &o, NULL, &t_err);
    leat_dataset_close(d);
    return status;
}

static inline int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names in a folder, sorted, with a space between them. */
static inline const char *listing(const char *folder)
{
    static char names[64][64], text[4096];
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    while (dir && count < 64 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            snprintf(names[count++], sizeof names[0], "%.63s", entry->d_name);
    if (dir)
        closedir(dir);
    qsort(names, count, sizeof names[0], compare_texts);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", names[i]);
    return text;
}

static inline void make_folder(const char *folder)
{
    if (mkdir(folder, 0777) != 0) {
        perror(folder);
        exit(1);
    }
}

/* Removes the files in a folder. */
static inline void clear_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char path[1200];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);

        if (length >= (int)sizeof path || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            unlink(path) == 0)
            continue;
        clear_folder(path);
        rmdir(path);
    }
    if (dir)
        closedir(dir);
}

#endif
