/*
 * pushing.h: runs of tests whose parts are pushed, in one folder, and the datasets of the folders of their splits.
 */
#ifndef LEAT_TESTS_PUSHING_H
#define LEAT_TESTS_PUSHING_H

#include "leat_pack.h"
#include "one_text.h"
#include "support/files.h"
#include "t.h"

static const char *folder;
static uint32_t append; /* of the runs that are created now */

static const char *in_folder(const char *name)
{
    return t_path(folder, name);
}

/* Creates a run, or returns NULL if it is refused. */
static struct leat_run *create_as(const char *name, struct leat_pack_options pack)
{
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct leat_run *run;

    pack.threads = 1;
    o.tokenizer = "bytes";
    o.append = append;
    o.pack = &pack;
    return leat_run_create(&run, in_folder(name), &o, &t_err) == LEAT_OK ? run : NULL;
}

static struct leat_packer *push(struct leat_run *run, const char *key)
{
    struct leat_packer *p;

    T_OK(leat_run_push(&p, run, key, NULL, &t_err));
    return p;
}

/* Adds documents of a part, whose texts say its key. */
static void add(struct leat_packer *p, const char *key, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        char text[200], id[150];
        struct leat_origin origin = { .input = LEAT_NONE, .line = LEAT_NONE, .id = id };

        origin.id_bytes = (uint64_t)snprintf(id, sizeof id, "%s-%u", key, i);
        T_OK(add_one_text(p, text, (uint64_t)snprintf(text, sizeof text, "document %u of %s", i, key), NULL, 0, &origin,
                          &t_err));
    }
}

/* Packs the documents of a part without a run. */
static void pack_alone(const char *key, unsigned documents)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_tokenizer *tokenizer;
    struct leat_packer *p;

    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = 1;
    T_OK(leat_packer_open(&p, in_folder("alone"), &o, &t_err));
    add(p, key, 0, documents);
    T_OK(leat_packer_finish(p, NULL, &t_err));
    leat_tokenizer_close(tokenizer);
}

/* Returns the folder of a run, or of one of its splits. */
static const char *place_of(const char *name, const char *split)
{
    return in_folder(t_text("%s%s%s", name, *split ? "/" : "", split));
}

/* Returns the path of a piece, KEY.ATTEMPT in its folder. */
static const char *path_of(const char *name, const struct leat_run_piece *piece, const char *suffix)
{
    return t_text("%s/%s.%016" PRIx64 "%s", place_of(name, piece->split), piece->key, piece->attempt, suffix);
}

static enum leat_status open_it(const char *name, const char *split)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, place_of(name, split), NULL, &t_err);

    leat_dataset_close(d);
    return s;
}

/* Checks that the folder is the dataset of `count` pieces, each `step` behind the one before. */
static void check_dataset(const char *name, const struct leat_run_piece *pieces, unsigned step, unsigned count)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, place_of(name, pieces->split), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.parts, count);
    for (unsigned i = 0; i < count; i++, pieces += step) {
        struct leat_part part = LEAT_PART_INIT;

        T_OK(leat_dataset_part(d, i, &part, &t_err));
        T_STR(part.name, path_of(name, pieces, ""));
        T_CHECK(memcmp(part.identity, pieces->identity, 16) == 0);
        T_EQ(part.documents, pieces->documents);
    }
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_dataset_close(d);
}

#endif
