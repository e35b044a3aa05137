/* writer_inputs.c: inputs and metadata: small, kept in memory until the dataset is finished. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/options.h"
#include "base/status.h"
#include "writer.h"

enum leat_status writer_push_input(struct leat_writer *w, const char *path, const struct records_input *record,
                                   struct leat_error *err)
{
    enum leat_status s = GROW(w->inputs, w->input_count + 1, w->input_room, err);
    struct writer_input *input;

    if (s != LEAT_OK)
        return s;
    input = &w->inputs[w->input_count];
    input->record = *record;
    input->path = strdup(path);
    if (!input->path)
        return status_no_memory(err, strlen(path) + 1);
    input->record.path_bytes = strlen(path);
    w->input_count++;
    return LEAT_OK;
}

enum leat_status leat_writer_add_input(struct leat_writer *w, const char *path, uint64_t *number,
                                       struct leat_error *err)
{
    struct records_input empty = { 0 };
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;

    if (s != LEAT_OK)
        return s;
    if (!path)
        return status_set(err, LEAT_E_ARGUMENT, "leat_writer_add_input: missing path");
    pthread_mutex_lock(&w->mutex);
    s = writer_push_input(w, path, &empty, &why);
    pthread_mutex_unlock(&w->mutex);
    if (s == LEAT_OK && number)
        *number = w->input_count - 1;
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_set_input(struct leat_writer *w, uint64_t number, const struct leat_input *input,
                                       struct leat_error *err)
{
    struct leat_input full = LEAT_INPUT_INIT;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (!input)
        return status_set(err, LEAT_E_ARGUMENT, "leat_writer_set_input: missing values");
    if (number >= w->input_count)
        return status_set(err, LEAT_E_ARGUMENT, "leat_writer_set_input: no input %llu, only %llu inputs",
                          (unsigned long long)number, (unsigned long long)w->input_count);
    s = options_read(&full, sizeof full, NULL, input, "leat_input", err);
    if (s != LEAT_OK)
        return s;
    pthread_mutex_lock(&w->mutex);
    w->inputs[number].record.bytes = full.bytes;
    w->inputs[number].record.rejects = full.rejects;
    memcpy(w->inputs[number].record.hash, full.hash, sizeof full.hash);
    pthread_mutex_unlock(&w->mutex);
    return LEAT_OK;
}

void writer_free_inputs(struct leat_writer *w)
{
    for (uint64_t i = 0; i < w->input_count; i++)
        free(w->inputs[i].path);
    free(w->inputs);
    for (uint64_t i = 0; i < w->pair_count; i++) {
        free(w->pairs[i].key);
        free(w->pairs[i].value);
    }
    free(w->pairs);
}

/* The position of the key, or where it belongs. */
static uint64_t find_key(const struct leat_writer *w, const char *key, bool *found)
{
    uint64_t i = 0;
    int order = 1;

    /* strcmp orders as the format does: by bytes, the shorter first */
    while (i < w->pair_count && (order = strcmp(key, w->pairs[i].key)) > 0)
        i++;
    *found = i < w->pair_count && order == 0;
    return i;
}

static void remove_pair(struct leat_writer *w, uint64_t i)
{
    free(w->pairs[i].key);
    free(w->pairs[i].value);
    w->pair_count--;
    memmove(&w->pairs[i], &w->pairs[i + 1], (w->pair_count - i) * sizeof w->pairs[0]);
}

static enum leat_status insert_pair(struct leat_writer *w, uint64_t i, const char *key, const char *value,
                                    struct leat_error *err)
{
    struct writer_pair pair = { strdup(key), strdup(value) };

    if (!pair.key || !pair.value || GROW(w->pairs, w->pair_count + 1, w->pair_room, NULL) != LEAT_OK) {
        free(pair.key);
        free(pair.value);
        return status_no_memory(err, strlen(key) + strlen(value));
    }
    memmove(&w->pairs[i + 1], &w->pairs[i], (w->pair_count - i) * sizeof w->pairs[0]);
    w->pairs[i] = pair;
    w->pair_count++;
    return LEAT_OK;
}

enum leat_status leat_writer_set_metadata(struct leat_writer *w, const char *key, const char *value,
                                          struct leat_error *err)
{
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;
    bool found;
    uint64_t i;
    char *copy;

    if (s != LEAT_OK)
        return s;
    if (!key || !*key)
        return status_set(err, LEAT_E_ARGUMENT, "leat_writer_set_metadata: a key must not be empty");
    i = find_key(w, key, &found);
    if (!found)
        return value ? writer_fail(w, insert_pair(w, i, key, value, &why), &why, err) : LEAT_OK;
    if (!value) {
        remove_pair(w, i);
        return LEAT_OK;
    }
    copy = strdup(value);
    if (!copy)
        return writer_fail(w, status_no_memory(&why, strlen(value) + 1), &why, err);
    free(w->pairs[i].value);
    w->pairs[i].value = copy;
    return LEAT_OK;
}
