/*
 * packing.h: what the tests of packing on real file systems share: a small corpus of all kinds of inputs, runs over it,
 * and what must be true after a run that was disturbed. Programs that use it are linked with the library of small
 * pieces (src/base/tiny.h), so that the corpus crosses units, long records and checkpoints.
 */
#ifndef LEAT_TESTS_DISKS_PACKING_H
#define LEAT_TESTS_DISKS_PACKING_H

#include <zstd.h>

#include "faults/own_mounts.h"
#include "faults/small.h"
#include "leat_pack.h"

#define PACKING_INPUTS 5u

struct packing {
    const char *folder;                   /* of the test; memory if that can be had */
    char inputs[PACKING_INPUTS + 1][600]; /* the last one is the folder that holds the others */
    char reference[600];                  /* the dataset of an undisturbed run */
    char name[600];                       /* the dataset that is written */
    char work[560];                       /* its folder */
    struct leat_tokenizer *tokenizer;
    bool by_folder;       /* the folder is given, and not the files */
    bool arrange;         /* shuffled and deduplicated: a second pass */
    const char *replaces; /* an older dataset, which runs replace; or NULL */
};

/* ---- The corpus ---- */

static inline size_t packing_record(char *to, uint64_t *random, uint64_t number)
{
    uint64_t bytes = number == 9 || number == 20 ? 20000 : t_below(random, 900);
    size_t used;

    if (number % 11 == 5)
        return (size_t)snprintf(to, 64, "{\"text\": \"no end %llu\n", (unsigned long long)number);
    used = (size_t)snprintf(to, 64, "{\"id\": \"d%llu\", \"text\": \"", (unsigned long long)number);
    for (uint64_t i = 0; i < bytes; i++)
        to[used++] = (char)('a' + t_below(random, 4));
    memcpy(to + used, "\"}\n", 3);
    return used + 3;
}

static inline size_t packing_lines(char *to, size_t room, uint64_t *random)
{
    size_t used = 0;

    for (uint64_t i = 0; used + 25000 < room; i++)
        used += packing_record(to + used, random, i);
    return used;
}

static inline void packing_input(struct packing *p, unsigned number, const char *file, const void *bytes, size_t size)
{
    snprintf(p->inputs[number], sizeof p->inputs[0], "%.500s/%s", p->inputs[PACKING_INPUTS], file);
    t_write(p->inputs[number], bytes, size);
}

static inline void packing_corpus(struct packing *p, uint64_t seed)
{
    static char text[160000], packed[200000];
    uint64_t random = seed;
    size_t size = packing_lines(text, sizeof text, &random), packed_size;

    snprintf(p->inputs[PACKING_INPUTS], sizeof p->inputs[0], "%.500s/inputs", p->folder);
    make_folder(p->inputs[PACKING_INPUTS]);
    packing_input(p, 0, "a.jsonl", text, size);
    packing_input(p, 1, "b.txt", text, 300);
    size = packing_lines(text, 70000, &random);
    packed_size = ZSTD_compress(packed, sizeof packed, text, size / 2, 1);
    packed_size +=
        ZSTD_compress(packed + packed_size, sizeof packed - packed_size, text + size / 2, size - size / 2, 1);
    packing_input(p, 2, "c.jsonl.zst", packed, packed_size);
    packing_input(p, 3, "d.txt", text, 30000);
    packing_input(p, 4, "e.txt", text, 0);
}

/* ---- Runs ---- */

struct packing_run {
    const char *name;
    bool resume, force;
    bool direct; /* past the page cache */
};

static inline enum leat_status packing_pack(const struct packing *p, const struct packing_run *run,
                                            struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *inputs[PACKING_INPUTS];

    for (unsigned i = 0; i < PACKING_INPUTS; i++)
        inputs[i] = p->inputs[p->by_folder ? PACKING_INPUTS : i];
    o.tokenizer = p->tokenizer;
    o.end_token = 256;
    o.threads = 1;
    o.memory = UINT64_C(4) << 30; /* a sanitizer takes much of it */
    o.max_rejects = LEAT_NONE;
    o.resume = run->resume;
    o.force = run->force;
    o.write = run->direct ? LEAT_WRITE_DIRECT : LEAT_WRITE_CACHED;
    o.shuffle = o.dedup = p->arrange;
    *report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    return leat_pack(run->name, inputs, p->by_folder ? 1 : PACKING_INPUTS, &o, report, err);
}

/* The corpus and its dataset; the folder that runs write to, which the caller may mount something at. */
static inline void packing_begin(struct packing *p)
{
    struct leat_pack_report report;

    memset(p, 0, sizeof *p);
    p->folder = memory_folder();
    snprintf(p->reference, sizeof p->reference, "%.500s/reference", p->folder);
    snprintf(p->work, sizeof p->work, "%.500s/work", p->folder);
    snprintf(p->name, sizeof p->name, "%.550s/d", p->work);
    make_folder(p->work);
    packing_corpus(p, t_seed());
    T_OK(leat_tokenizer_open(&p->tokenizer, "bytes", NULL, &t_err));
    T_OK(packing_pack(p, &(struct packing_run) { .name = p->reference }, &report, &t_err));
}

static inline void packing_end(struct packing *p)
{
    leat_tokenizer_close(p->tokenizer);
}

/* ---- What must be true ---- */

static inline bool packing_whole(const struct packing *p)
{
    return same_dataset(p->name, p->reference) &&
           same_file(with(p->name, ".rejects.jsonl"), with(p->reference, ".rejects.jsonl"));
}

/* After a run that was disturbed: success only with all bytes; else a sentence, and no dataset that is not whole. */
static inline void packing_check(const struct packing *p, enum leat_status s, const struct leat_error *err)
{
    if (s == LEAT_OK) {
        T_CHECK(packing_whole(p));
    } else {
        T_EQ(err->status, s);
        T_CHECK(err->message[0] != '\0');
    }
    if (access(with(p->name, ".leat"), F_OK) == 0 && access(with(p->name, ".tokens"), F_OK) == 0)
        T_CHECK(same_dataset(p->name, p->reference) || (p->replaces && same_dataset(p->name, p->replaces)));
}

/* What a run left, to its end, with nothing in the way any more. */
static inline void packing_go_on(const struct packing *p)
{
    struct leat_pack_report report;
    struct leat_error why = { 0 };
    struct packing_run run = { .name = p->name, .resume = true, .force = p->replaces != NULL };
    enum leat_status s = packing_pack(p, &run, &report, &why);

    if (s != LEAT_OK)
        T_FAIL("resuming: %s: %s; files: %s", leat_status_name(s), why.message, listing(p->work));
    T_CHECK(packing_whole(p));
    T_STR(listing(p->work), "d.leat d.rejects.jsonl d.tokens");
}

#endif
