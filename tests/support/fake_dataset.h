/*
 * fake_dataset.h: datasets that are only a number of tokens, of any size, without files: enough for everything in a
 * plan except splits and documents. For measurements and tests: ends the program without memory.
 */
#ifndef LEAT_BENCH_FAKE_DATASET_H
#define LEAT_BENCH_FAKE_DATASET_H

#include <stdlib.h>

#include "base/mounts.h"
#include "dataset/dataset.h"
#include "dataset/part.h"

static char fake_name[] = "fake";
static struct file_map fake_file = { .path = fake_name, .fd = -1 };
static struct mounts fake_mounts;

/* A list of `parts` datasets of these numbers of tokens. The caller's, until fake_dataset_free(). */
static inline struct leat_dataset *fake_dataset(const uint64_t *tokens, uint64_t parts)
{
    struct leat_dataset *d = calloc(1, sizeof *d);

    if (!d || !(d->parts = calloc((size_t)parts, sizeof *d->parts)))
        abort();
    d->part_count = parts;
    d->mounts = &fake_mounts;
    for (uint64_t i = 0; i < parts; i++) {
        struct part *p = &d->parts[i];

        p->kind = &part_leat;
        p->name = fake_name;
        p->kernels = checksum_kernels();
        p->tokens = tokens[i];
        p->vocabulary = 65536;
        p->end_token = p->begin_token = LEAT_NONE;
        p->token_width = 2;
        p->data.bytes = 2 * tokens[i];
        p->data.file = &fake_file;
        /* identities differ as those of real datasets do */
        p->identity = p->kernels->hash(&p->tokens, sizeof p->tokens);
        p->first_token = d->tokens;
        d->tokens += tokens[i];
    }
    return d;
}

/* "1000+20+7" */
static inline struct leat_dataset *fake_dataset_text(const char *text)
{
    uint64_t tokens[256], parts = 0;
    char *end;

    do {
        tokens[parts++] = strtoull(text, &end, 10);
        text = end + 1;
    } while (*end == '+' && parts < 256);
    return fake_dataset(tokens, parts);
}

static inline void fake_dataset_free(struct leat_dataset *d)
{
    free(d->parts);
    free(d);
}

#endif
