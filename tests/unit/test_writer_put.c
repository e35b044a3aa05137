/*
 * test_writer_put.c: what several threads write side by side has the bytes of what one thread writes in turn: in
 * random stretches, of documents without tokens, with one, and with many pages; put in random orders; between documents
 * that are added alone or in chunks; with checkpoints between, resumed or not; through the page cache or past it, from
 * some byte on, in ids of two and of four bytes. And what leat_writer_put() refuses.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "one_document.h"
#include "private.h"
#include "t.h"

#define DOCUMENTS 3000u
#define THREADS   4u
#define STRETCHES 64u /* placed before threads put them */

/* A corpus in memory. */
struct corpus {
    uint16_t *ids;
    uint64_t lengths[DOCUMENTS], starts[DOCUMENTS];
    struct leat_origin origins[DOCUMENTS];
    char names[DOCUMENTS][16];
    uint8_t hashes[DOCUMENTS][16];
};

static uint64_t random_length(uint64_t *random)
{
    switch (t_below(random, 40)) {
    case 0:
        return t_below(random, 20000);
    case 1:
    case 2:
        return 2048 - t_below(random, 3); /* about a page */
    default:
        return t_below(random, 4);
    }
}

static struct corpus *make_corpus(uint64_t *random)
{
    struct corpus *c = calloc(1, sizeof *c);
    uint64_t total = 0;

    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        c->starts[i] = total;
        c->lengths[i] = i == DOCUMENTS / 2 ? 1000000 : random_length(random); /* one that many frames hold */
        total += c->lengths[i];
        snprintf(c->names[i], sizeof c->names[i], "%" PRIu64, t_below(random, 1000000));
        for (unsigned k = 0; k < 16; k++)
            c->hashes[i][k] = (uint8_t)t_random(random);
        c->origins[i] = (struct leat_origin) { .input = i / 1000,
                                               .offset = i % 1000 * 10,
                                               .line = t_below(random, 9) == 0 ? LEAT_NONE : i % 1000 + 1,
                                               .id = c->names[i],
                                               .id_bytes = t_below(random, 4) == 0 ? 0 : strlen(c->names[i]),
                                               .text_hash = c->hashes[i] };
    }
    c->ids = malloc(total * 2 + 2);
    for (uint64_t i = 0; i < total; i++)
        c->ids[i] = (uint16_t)t_below(random, 1000);
    return c;
}

static uint64_t vocabulary = 1000, direct_from;

static struct leat_writer *open_writer(const char *name, bool resume)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = vocabulary;
    o.end_token = 999;
    o.begin_token = 1;
    o.force = 1;
    o.store_lines = o.store_ids = o.store_hashes = 1;
    if (resume) {
        T_OK(leat_writer_resume(&w, name, &o, NULL, NULL, &t_err));
        leat_writer_write_direct(w, direct_from);
        return w;
    }
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    leat_writer_write_direct(w, direct_from);
    for (unsigned i = 0; i < DOCUMENTS / 1000; i++)
        T_OK(leat_writer_add_input(w, "an input", NULL, &t_err));
    return w;
}

static void write_in_turn(const char *name, const struct corpus *c)
{
    struct leat_writer *w = open_writer(name, false);

    for (uint64_t i = 0; i < DOCUMENTS; i++)
        T_OK(add_one_document(w, c->ids + c->starts[i], 2, NULL, c->lengths[i], &c->origins[i], &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Several at once, of any number, with lines that count from elsewhere. */
static void write_in_batches(const char *name, struct corpus *c, uint64_t *random)
{
    struct leat_writer *w = open_writer(name, false);
    struct leat_documents d = LEAT_DOCUMENTS_INIT;

    d.id_width = 2;
    for (uint64_t i = 0; i < DOCUMENTS; i += d.count) {
        d.ids = c->ids + c->starts[i];
        d.lengths = c->lengths + i;
        d.origins = c->origins + i;
        d.count = t_below(random, 2) ? t_below(random, 5) : t_below(random, 500);
        if (d.count > DOCUMENTS - i)
            d.count = DOCUMENTS - i;
        d.first_line = t_below(random, 2);
        for (uint64_t k = i; k < i + d.count; k++)
            c->origins[k].line -= c->origins[k].line == LEAT_NONE ? 0 : d.first_line;
        T_OK(leat_writer_add(w, &d, &t_err));
        for (uint64_t k = i; k < i + d.count; k++)
            c->origins[k].line += c->origins[k].line == LEAT_NONE ? 0 : d.first_line;
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* ---- Side by side ---- */

struct stretch {
    struct leat_documents documents;
    struct leat_place place;
};

struct putting {
    struct leat_writer *w;
    struct stretch stretches[STRETCHES];
    unsigned count;
    atomic_uint next;
};

static void *put_all(void *context)
{
    struct putting *p = context;
    unsigned i;

    while ((i = atomic_fetch_add(&p->next, 1)) < p->count)
        T_OK(leat_writer_put(p->w, &p->stretches[i].documents, &p->stretches[i].place, &t_err));
    return NULL;
}

static void shuffle(struct putting *p, uint64_t *random)
{
    for (unsigned i = p->count; i > 1; i--) {
        unsigned k = (unsigned)t_below(random, i);
        struct stretch s = p->stretches[k];

        p->stretches[k] = p->stretches[i - 1];
        p->stretches[i - 1] = s;
    }
}

/* Threads put what was placed; a checkpoint meanwhile waits for them. */
static void put_side_by_side(struct putting *p, bool checkpoint, uint64_t *random)
{
    pthread_t threads[THREADS];

    shuffle(p, random);
    atomic_store(&p->next, 0);
    for (unsigned i = 0; i < THREADS; i++)
        T_CHECK(pthread_create(&threads[i], NULL, put_all, p) == 0);
    if (checkpoint)
        T_OK(leat_writer_checkpoint(p->w, "note", 4, &t_err));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    p->count = 0;
}

/* Adds a document alone, whole or in two chunks. */
static void add_one(struct leat_writer *w, const struct corpus *c, uint64_t i, uint64_t *random)
{
    const uint16_t *ids = c->ids + c->starts[i];
    uint64_t cut = t_below(random, c->lengths[i] + 1);

    if (t_below(random, 2) == 0) {
        T_OK(add_one_document(w, ids, 2, NULL, c->lengths[i], &c->origins[i], &t_err));
        return;
    }
    T_OK(leat_writer_append(w, ids, 2, NULL, cut, &t_err));
    T_OK(leat_writer_append(w, ids + cut, 2, NULL, c->lengths[i] - cut, &t_err));
    T_OK(leat_writer_end_document(w, &c->origins[i], &t_err));
}

/* Returns how many bytes went past the page cache. */
static uint64_t write_side_by_side(const char *name, const struct corpus *c, uint64_t *random)
{
    struct putting p = { .w = open_writer(name, false) };
    uint64_t direct = 0;

    for (uint64_t i = 0, count; i < DOCUMENTS; i += count) {
        struct stretch *s = &p.stretches[p.count];

        count = t_below(random, 30);
        count = count < DOCUMENTS - i ? count : DOCUMENTS - i;
        if (t_below(random, 10) == 0 && count > 0) {
            count = 1;
            add_one(p.w, c, i, random);
            continue;
        }
        s->documents = (struct leat_documents) { .size = sizeof s->documents,
                                                 .ids = c->ids + c->starts[i],
                                                 .lengths = c->lengths + i,
                                                 .origins = c->origins + i,
                                                 .count = count,
                                                 .id_width = 2 };
        T_OK(leat_writer_place(p.w, &s->documents, &s->place, &t_err));
        T_EQ(s->place.document, i);
        if (++p.count == STRETCHES)
            put_side_by_side(&p, t_below(random, 2) == 0, random);
        if (p.count == 0 && t_below(random, 3) == 0) {
            T_OK(leat_writer_checkpoint(p.w, "note", 4, &t_err));
            direct += leat_writer_direct_bytes(p.w);
            leat_writer_suspend(p.w);
            p.w = open_writer(name, true);
            T_EQ(leat_writer_documents(p.w), i + count);
        }
    }
    put_side_by_side(&p, false, random);
    T_OK(leat_writer_prepare(p.w, &t_err));
    direct += leat_writer_direct_bytes(p.w);
    T_OK(leat_writer_finish(p.w, NULL, &t_err));
    return direct;
}

/* Whether the file system takes direct writes. */
static bool can_write_directly(const char *path)
{
    int fd, direct;
    bool can;

    T_OK(file_create(&fd, path, &t_err));
    direct = file_open_direct(fd, path);
    can = direct >= 0;
    file_close(&fd);
    file_close(&direct);
    if (!can)
        fprintf(stderr, "no direct writes here: all goes through the page cache\n");
    return can;
}

/* ---- Comparing ---- */

static void compare_files(const char *a, const char *b, const char *suffix)
{
    char path[2][4096];
    uint8_t *bytes[2];
    uint64_t size[2];
    int fd;

    for (unsigned i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s%s", i == 0 ? a : b, suffix);
        T_OK(file_open_read(&fd, &size[i], path[i], &t_err));
        bytes[i] = malloc(size[i] + 1);
        T_OK(file_read_at(fd, 0, bytes[i], size[i], path[i], &t_err));
        file_close(&fd);
    }
    T_EQ(size[0], size[1]);
    T_CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- What is refused ---- */

static void check_refusals(const char *name)
{
    uint16_t ids[] = { 5, 1000 };
    uint64_t lengths[] = { 1, 1 };
    struct leat_origin nowhere[] = { { .input = LEAT_NONE }, { .input = 3 } };
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_place place;
    struct leat_writer *w = open_writer(name, false);

    T_STATUS(leat_writer_place(w, &d, &place, &t_err), LEAT_E_ARGUMENT);
    d.id_width = 2;
    d.ids = ids;
    d.count = 2;
    T_STATUS(leat_writer_place(w, &d, &place, &t_err), LEAT_E_ARGUMENT);
    d.lengths = lengths;
    T_OK(leat_writer_append(w, ids, 2, NULL, 1, &t_err));
    T_STATUS(leat_writer_place(w, &d, &place, &t_err), LEAT_E_STATE);
    T_STATUS(leat_writer_add(w, &d, &t_err), LEAT_E_STATE);
    T_OK(leat_writer_end_document(w, NULL, &t_err));
    T_REFUSED(leat_writer_add(w, &d, &t_err), LEAT_E_TOKEN, "token id 1000, token 0 of document 2,");
    d.origins = nowhere;
    ids[1] = 6;
    T_REFUSED(leat_writer_add(w, &d, &t_err), LEAT_E_ARGUMENT, "document 2 names input 3 as its origin");
    d.origins = NULL;
    ids[1] = 1000;
    T_EQ(leat_writer_documents(w), 1); /* nothing of either is written */
    d.reserved = 1;                    /* was passed over */
    T_STATUS(leat_writer_place(w, &d, &place, &t_err), LEAT_E_UNSUPPORTED);
    d.reserved = 0;
    T_OK(leat_writer_place(w, &d, &place, &t_err));
    T_REFUSED(leat_writer_put(w, &d, &place, &t_err), LEAT_E_TOKEN, "token id 1000, token 0 of document 2,");
    T_STATUS(leat_writer_finish(w, NULL, &t_err), LEAT_E_TOKEN);
    leat_writer_abandon(w);

    w = open_writer(name, false);
    ids[1] = 6;
    d.origins = nowhere;
    T_OK(leat_writer_place(w, &d, &place, &t_err));
    T_STATUS(leat_writer_put(w, &d, &place, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_writer_checkpoint(w, NULL, 0, &t_err), LEAT_E_ARGUMENT);
    leat_writer_abandon(w);
}

int main(void)
{
    uint64_t random = t_seed();
    const char *folder = t_disk_folder(), *turn = t_path(folder, "turn"), *side = t_path(folder, "side");

    /* through the page cache; all past it; from the second frame on, or the third */
    static const uint64_t from[] = { 0, 1, 1, (1 << 20) + 1, 2 << 20 };
    bool can = can_write_directly(t_path(folder, "probe"));

    for (unsigned i = 0; i < 10; i++) {
        struct corpus *c = make_corpus(&random);
        uint64_t direct;

        vocabulary = i < 5 ? 1000 : 70000;
        direct_from = 0;
        write_in_turn(turn, c);
        write_in_batches(side, c, &random);
        compare_files(turn, side, ".tokens");
        compare_files(turn, side, ".leat");
        direct_from = from[i % 5];
        direct = write_side_by_side(side, c, &random);
        T_EQ(direct > 0, can && direct_from > 0);
        compare_files(turn, side, ".tokens");
        compare_files(turn, side, ".leat");
        free(c->ids);
        free(c);
    }
    vocabulary = 1000;
    check_refusals(side);
    return t_end();
}
