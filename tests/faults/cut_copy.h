/*
 * cut_copy.h: what test_shrinks_after_open.c and test_leases.c share: a dataset that stays whole, a copy of it, and a
 * process that cuts the copy's files while they are open here.
 */
#ifndef LEAT_TESTS_FAULTS_CUT_COPY_H
#define LEAT_TESTS_FAULTS_CUT_COPY_H

#include <poll.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "one_document.h"
#include "small.h"

#define DOCUMENTS 2000
#define LONGEST   200

static const char *folder;
static char original[600], name[600]; /* the dataset that stays whole, and the copy that is cut */
static uint16_t *tokens;              /* what is in them */
static uint64_t token_count;

/* ---- The dataset ---- */

static inline void write_original(uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    tokens = malloc(DOCUMENTS * LONGEST * sizeof *tokens);
    o.vocabulary = 50000;
    o.store_ids = o.store_lines = o.store_hashes = 1;
    T_OK(leat_writer_open(&w, original, &o, &t_err));
    T_OK(leat_writer_add_input(w, "input", NULL, &t_err));
    T_OK(leat_writer_set_metadata(w, "key", "value", &t_err));
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        struct leat_origin origin = { .offset = i,
                                      .line = i,
                                      .id = "identifier",
                                      .id_bytes = 10,
                                      .text_hash = (const uint8_t *)"hash of a text, never 0" };
        uint64_t count = t_below(random, LONGEST);

        for (uint64_t j = 0; j < count; j++) /* never 0, which is what a file regrows with */
            tokens[token_count + j] = (uint16_t)(1 + t_below(random, 49999));
        T_OK(add_one_document(w, tokens + token_count, 2, NULL, count, &origin, &t_err));
        token_count += count;
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static inline struct leat_dataset *open_copy(enum leat_access access)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    unlink(with(name, ".tokens"));
    unlink(with(name, ".leat"));
    copy_dataset(original, name);
    o.access = access;
    T_OK(leat_dataset_open(&d, name, &o, &t_err));
    return d;
}

static inline struct file_map *map_of(struct leat_dataset *d, const char *suffix)
{
    return strcmp(suffix, ".tokens") == 0 ? dataset_part(d, 0)->data.file : &dataset_part(d, 0)->index->file;
}

static inline bool mapped(struct leat_dataset *d, const char *suffix)
{
    const struct file_map *f = map_of(d, suffix);

    return f->bytes && !(atomic_load(&f->state) & FILE_MAP_RETIRED);
}

static inline void check_tokens(const struct leat_dataset *d, uint64_t first, uint64_t count)
{
    uint16_t ids[4096];

    T_OK(leat_dataset_read(d, first, count, ids, &t_err));
    T_CHECK(memcmp(ids, tokens + first, count * 2) == 0);
}

static inline void check_all_tokens(const struct leat_dataset *d)
{
    for (uint64_t first = 0; first < token_count; first += 4096)
        check_tokens(d, first, token_count - first < 4096 ? token_count - first : 4096);
}

/* ---- The process that cuts ---- */

struct cutter {
    pid_t process;
    int go, done; /* pipes: a byte lets it begin; it writes one when it is through */
};

/* Cuts name + suffix to `length` bytes, then to `length_then`. */
static inline struct cutter start_cutter(const char *suffix, off_t length, off_t length_then)
{
    const char *path = with(name, suffix);
    struct cutter c;
    int go[2], done[2];

    if (pipe(go) != 0 || pipe(done) != 0 || (c.process = fork()) < 0) {
        perror("start_cutter");
        exit(1);
    }
    if (c.process == 0) {
        char byte;

        close(go[1]);
        _exit(read(go[0], &byte, 1) != 1 || truncate(path, length) != 0 || truncate(path, length_then) != 0 ||
              write(done[1], "", 1) != 1);
    }
    close(go[0]);
    close(done[1]);
    c.go = go[1];
    c.done = done[0];
    return c;
}

static inline void let_go(const struct cutter *c)
{
    T_CHECK(write(c->go, "", 1) == 1);
}

static inline bool is_through(const struct cutter *c, int milliseconds)
{
    struct pollfd p = { .fd = c->done, .events = POLLIN };

    return poll(&p, 1, milliseconds) == 1;
}

static inline void wait_for(const struct cutter *c)
{
    int status;

    T_CHECK(waitpid(c->process, &status, 0) == c->process && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(c->go);
    close(c->done);
}

static inline bool has_leases(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    bool leased = mapped(d, ".tokens") && mapped(d, ".leat");

    leat_dataset_close(d);
    return leased;
}

/* Writes the one that stays whole; `tokens` is freed by the caller. */
static inline void begin_cuts(uint64_t *random)
{
    folder = t_folder();
    snprintf(original, sizeof original, "%s/original", folder);
    snprintf(name, sizeof name, "%s/d", folder);
    write_original(random);
}

#endif
