/*
 * run_append.c: a run whose parts follow those of the dataset that is in its folder. Its plan says which list that
 * is; its commit keeps this list under a second name before it writes the longer one. No part that the list names
 * changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "run_pushed.h"

/* ---- The list that the parts follow ------------------------------------------------------------------------------ */

void pushed_base_text(char text[PUSHED_BASE], const struct folder_list *list)
{
    folder_list_hex(text, list->run);
    snprintf(text + 32, PUSHED_BASE - 32, " %zu", list->count);
}

enum leat_status pushed_base(const struct run_place *place, const struct run_plan *plan, const struct folder_list *list,
                             bool committed, size_t *before, struct leat_error *err)
{
    uint8_t run[16];
    char again[PUSHED_BASE];
    struct folder_list base = { .count = 0 };

    *before = 0;
    if (!plan->base)
        return LEAT_OK;
    if (sscanf(plan->base, "%*32[0-9a-f] %19zu", &base.count) == 1 && folder_list_bytes(plan->base, run))
        memcpy(base.run, run, sizeof run);
    pushed_base_text(again, &base);
    if (base.count == 0 || strcmp(again, plan->base) != 0)
        return status_set_in(err, LEAT_E_UNSUPPORTED, place->path,
                             "the plan of the run in %s says of the list that it appends to what this version cannot "
                             "read",
                             place->path);
    *before = base.count;
    if (committed ? list->count > base.count
                  : list->count == base.count && memcmp(list->run, base.run, sizeof base.run) == 0)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_STATE, place->path,
                         "the dataset in %s is not the one any more that this run appends to: begin the run again",
                         place->path);
}

/* ---- What fits to it --------------------------------------------------------------------------------------------- */

static enum leat_status say_differs(const struct run_place *place, const char *what, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_INCOMPATIBLE, place->path,
                         "the dataset in %s has %s than this run: append to it with the same, or choose "
                         "another folder",
                         place->path, what);
}

bool pushed_has_split(const struct folder_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (folder_part_in(&list->parts[i], name))
            return true;
    return false;
}

/* Returns true if the list has parts of these splits, and of no others. */
static bool has_splits(const struct folder_list *list, const struct leat_pack_options *pack)
{
    for (uint64_t i = 0; i < pack->split_count; i++)
        if (!pushed_has_split(list, pack->splits[i].name))
            return false;
    for (size_t i = 0; i < list->count; i++) {
        bool known = folder_part_in(&list->parts[i], NULL);

        for (uint64_t k = 0; !known && k < pack->split_count; k++)
            known = folder_part_in(&list->parts[i], pack->splits[k].name);
        if (!known)
            return false;
    }
    return true;
}

enum leat_status pushed_check_base(const struct run_place *place, const struct folder_list *list,
                                   const struct leat_pack_options *pack, struct leat_error *err)
{
    struct leat_tokenizer_info tokenizer = LEAT_TOKENIZER_INFO_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d = NULL;
    char *path = run_place_file(place, list->parts[0].name, NULL);
    enum leat_status s = path ? leat_dataset_open(&d, path, NULL, err) : status_no_memory(err, 0);

    free(path);
    if (s != LEAT_OK)
        return s;
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    leat_tokenizer_info(pack->tokenizer, &tokenizer);
    if (memcmp(info.fingerprint, tokenizer.fingerprint, sizeof info.fingerprint) != 0)
        return say_differs(place, "another tokenizer", err);
    if (info.end_token != pack->end_token)
        return say_differs(place, "another end-of-document token", err);
    if (info.begin_token != pack->begin_token)
        return say_differs(place, "another begin token", err);
    return has_splits(list, pack) ? LEAT_OK : say_differs(place, "other splits", err);
}

enum leat_status pushed_keep_list(struct run_place *place, const struct folder_list *list, const struct buffer *text,
                                  const char *part, struct leat_error *err)
{
    const struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    char *paths[2] = { run_place_file(place, list->parts[0].name, NULL), run_place_file(place, part, NULL) };
    char name[sizeof FOLDER_LIST + 33];
    struct leat_dataset *d = NULL;
    struct leat_error why;
    enum leat_status s = paths[0] && paths[1] ? leat_dataset_open_list(&d, (const char *const *)paths, 2, &how, &why)
                                              : status_no_memory(&why, 0);

    leat_dataset_close(d);
    free(paths[0]);
    free(paths[1]);
    memcpy(name, FOLDER_LIST ".", sizeof FOLDER_LIST);
    folder_list_hex(name + sizeof FOLDER_LIST, list->run);
    if (s == LEAT_OK)
        s = run_place_write(place, name, text->bytes, text->size, false, &why);
    if (s == LEAT_E_EXISTS) /* an earlier commit, which did not end, has made it */
        s = LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* ---- Lists that are swept ---------------------------------------------------------------------------------------- */

/* Returns true if this list grew from the earlier one by appending parts. */
static bool grew_from(const struct folder_list *list, const struct folder_list *earlier)
{
    if (memcmp(list->run, earlier->run, sizeof list->run) == 0 || earlier->count >= list->count)
        return false;
    for (size_t i = 0; i < earlier->count; i++)
        if (strcmp(list->parts[i].name, earlier->parts[i].name) != 0)
            return false;
    return true;
}

enum leat_status pushed_sweep_list(struct run_place *place, const struct folder_list *list, const char *file,
                                   struct leat_error *err)
{
    struct folder_list earlier;
    struct buffer text = { 0 };
    struct leat_error why;
    size_t folder;
    enum leat_status s;

    if (strncmp(file, FOLDER_LIST ".", sizeof FOLDER_LIST) != 0)
        return LEAT_OK;
    if (strcmp(file + sizeof FOLDER_LIST, "partial") == 0 ||
        (strlen(file + sizeof FOLDER_LIST) == 40 && strcmp(file + sizeof FOLDER_LIST + 32, ".partial") == 0))
        return run_place_remove(place, file, err);
    if (!folder_list_is(file, &folder))
        return LEAT_OK;
    s = run_place_read_list(place, file, &earlier, &text, &why);
    if (s == LEAT_OK && earlier.count > 0 && !grew_from(list, &earlier))
        s = run_place_remove(place, file, &why);
    if (s == LEAT_E_CHECKSUM || s == LEAT_E_VERSION) /* a list of another version cannot be judged here */
        s = LEAT_OK;
    folder_list_free(&earlier);
    buffer_free(&text);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}
