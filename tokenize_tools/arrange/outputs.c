/* outputs.c: see outputs.h. */
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"

/* OUTPUT.split, where OUTPUT may have been given with the suffix of one of its files; or OUTPUT as it was given. */
static char *name_of(const char *output, const char *split)
{
    size_t length = strlen(output), room = length + strlen(split) + 2;
    char *name = malloc(room);

    if (name && *split)
        snprintf(name, room, "%.*s.%s", (int)file_dataset_length(output, length), output, split);
    else if (name)
        snprintf(name, room, "%s", output);
    return name;
}

static enum leat_status open_writer(struct outputs *o, const char *name, const char *split,
                                    const struct leat_writer_options *options, struct leat_error *err)
{
    struct output *item = &o->items[o->count];

    item->name = name_of(name, split);
    if (!item->name)
        return status_no_memory(err, strlen(name) + strlen(split) + 2);
    o->count++;
    return leat_writer_open(&item->writer, item->name, options, err);
}

enum leat_status outputs_open(struct outputs *o, const char *name, const struct sources *sources,
                              const struct leat_merge_options *options, struct leat_error *err)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer *tokenizer = NULL;
    enum leat_status s = leat_dataset_tokenizer(sources->opened[0], &tokenizer, err);

    *o = (struct outputs) { .width = sources->first.token_width };
    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    w.vocabulary = sources->first.vocabulary;
    w.end_token = sources->first.end_token;
    w.begin_token = sources->first.begin_token;
    w.fingerprint = sources->first.fingerprint;
    w.tokenizer = tokenizer;
    w.created = options->created;
    w.force = options->force;
    w.store_lines = sources->lines;
    w.store_ids = sources->ids;
    w.store_hashes = sources->hashes;
    o->items = calloc(options->split_count + 1, sizeof *o->items);
    s = o->items ? LEAT_OK : status_no_memory(err, (options->split_count + 1) * sizeof *o->items);
    for (size_t i = 0; s == LEAT_OK && i < options->split_count; i++)
        s = open_writer(o, name, options->splits[i].name, &w, err);
    if (s == LEAT_OK)
        s = open_writer(o, name, "", &w, err);
    leat_stored_tokenizer_free(tokenizer);
    return s;
}

enum leat_status outputs_append(struct outputs *o, size_t i, const void *ids, uint64_t count, struct leat_error *err)
{
    if (count == 0)
        return LEAT_OK;
    return o->width == 2 ? leat_writer_append_u16(o->items[i].writer, ids, count, err)
                         : leat_writer_append_u32(o->items[i].writer, ids, count, err);
}

enum leat_status outputs_end_document(struct outputs *o, size_t i, const struct leat_origin *origin,
                                      struct leat_error *err)
{
    return leat_writer_end_document(o->items[i].writer, origin, err);
}

enum leat_status outputs_add_input(struct outputs *o, const char *path, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_add_input(o->items[i].writer, path, NULL, err);
    return s;
}

enum leat_status outputs_set_input(struct outputs *o, uint64_t number, const struct leat_input *input,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_set_input(o->items[i].writer, number, input, err);
    return s;
}

enum leat_status outputs_set_metadata(struct outputs *o, const char *key, const char *value, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_set_metadata(o->items[i].writer, key, value, err);
    return s;
}

/* A failure after some outputs got their names: the caller must know that these exist. */
static void tell_finished(const struct outputs *o, size_t finished, struct leat_error *err)
{
    if (err && finished > 0)
        status_after(err, " (finished before that: %.200s%s%.200s)", o->items[0].name,
                     finished > 2    ? " to "
                     : finished == 2 ? " and "
                                     : "",
                     finished > 1 ? o->items[finished - 1].name : "");
}

enum leat_status outputs_finish(struct outputs *o, struct leat_info *splits, struct leat_info *info,
                                struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_prepare(o->items[i].writer, err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++) {
        struct leat_info *filled = i + 1 == o->count ? info : splits ? &splits[i] : NULL;

        s = leat_writer_finish(o->items[i].writer, filled, err);
        if (s == LEAT_OK)
            o->items[i].writer = NULL;
        else
            tell_finished(o, i, err);
    }
    return s;
}

void outputs_abandon(struct outputs *o)
{
    for (size_t i = 0; i < o->count; i++) {
        leat_writer_abandon(o->items[i].writer);
        free(o->items[i].name);
    }
    free(o->items);
    o->items = NULL;
    o->count = 0;
}
