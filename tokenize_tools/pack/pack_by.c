/* pack_by.c: see pack_by.h. */
#include "pack_by.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrange/splits/by_stage.h"
#include "base/file.h"
#include "base/status.h"
#include "pack.h"
#include "pack_facts.h"

/* ---- Values, while documents are packed -------------------------------------------------------------------------- */

/* Checks, before hours of work, that the run can give its datasets their names. */
static enum leat_status check_free(const struct pack_output *o, const char *value, struct leat_error *err)
{
    struct file_identity there;
    struct by_name name;
    enum leat_status s;
    char *path;

    by_name_make(&name, value, false);
    path = pack_split_name(o->by_output, name.text, ".leat");
    s = path ? file_identify(path, &there, err) : status_no_memory(err, strlen(value));
    if (s == LEAT_OK && there.exists)
        s = status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, path,
                            "%s already exists; choose another name or replace it", path);
    free(path);
    return s;
}

enum leat_status pack_by_count(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    uint64_t before = leat_writer_documents(o->writer);
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        const char *value = documents_string(&u->docs, u->docs.items[i].id);
        bool is_new;
        size_t at;

        s = by_values_add(&o->values, value, o->field, before + i + 1, &at, &is_new, err);
        if (s == LEAT_OK && is_new && o->by_output)
            s = check_free(o, value, err);
    }
    return s;
}

bool pack_by_load(struct pack_output *o, const uint8_t *at, const uint8_t *end)
{
    bool is_new;
    size_t place;

    while (at < end) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));

        if (!zero || by_values_add(&o->values, (const char *)at, o->field, 0, &place, &is_new, NULL) != LEAT_OK)
            return false;
        at = zero + 1;
    }
    return true;
}

/* ---- Values that are found --------------------------------------------------------------------------------------- */

/* The datasets that a run by values has made. They are found by their names and by their metadata, which say which
 * run they belong to, and how many there must be. */

struct found {
    char *name; /* without .leat */
    struct leat_metadata *metadata;
    struct leat_info info;
    struct pack_past past;
};

struct look {
    const char *output;
    const struct leat_pack_options *options;
    const struct input_list *inputs;
    struct found *items;
    size_t count;
};

static const char *metadata_of(const struct found *f, const char *key)
{
    for (uint64_t i = 0; i < f->metadata->count; i++)
        if (strcmp(f->metadata->pairs[i].key, key) == 0)
            return f->metadata->pairs[i].value;
    return NULL;
}

static void free_found(struct look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        leat_metadata_free(l->items[i].metadata);
        pack_past_free(&l->items[i].past);
        free(l->items[i].name);
    }
    free(l->items);
}

/* Returns the part of its name after "OUT.". */
static const char *value_part(const struct look *l, const struct found *f)
{
    return f->name + file_dataset_length(l->output, strlen(l->output)) + 1;
}

/* Returns true if the dataset is OUT.VALUE or OUT.VALUE.SPLIT. It does not belong to a run whose output is OUT.X,
 * since the text for a value has no periods. */
static bool is_named_by_value(const struct look *l, const struct found *f)
{
    const char *value = value_part(l, f);
    const char *split = metadata_of(f, "leat.split");
    size_t length = strlen(value), end = split ? strlen(split) + 1 : 0;

    return length > end && (!split || (value[length - end] == '.' && strcmp(value + length - end + 1, split) == 0)) &&
           !memchr(value, '.', length - end);
}

/* Fills f->metadata if the dataset is one that this run makes. */
static void look_at(const struct look *l, struct found *f)
{
    struct leat_dataset *d;

    if (leat_dataset_open(&d, f->name, NULL, NULL) != LEAT_OK)
        return;
    leat_dataset_info(d, &f->info);
    if (pack_facts_fit(d, l->options, l->inputs, PACK_ARRANGED, false, &f->past))
        leat_dataset_metadata(d, 0, &f->metadata, NULL);
    leat_dataset_close(d);
    if (f->metadata && metadata_of(f, BY_METADATA_VALUE) && metadata_of(f, BY_METADATA_VALUES) &&
        is_named_by_value(l, f))
        return;
    if (f->metadata)
        leat_metadata_free(f->metadata);
    f->metadata = NULL;
}

/* Adds a file of the output's folder, OUT.VALUE.leat, if it is of the run. */
static enum leat_status add_found(struct look *l, const char *file, struct leat_error *err)
{
    const char *slash = strrchr(l->output, '/');
    size_t folder = slash ? (size_t)(slash - l->output) + 1 : 0, size = folder + strlen(file) + 1;
    struct found f = { .name = malloc(size), .info = LEAT_INFO_INIT }, *items;

    if (!f.name)
        return status_no_memory(err, size);
    snprintf(f.name, size, "%.*s%.*s", (int)folder, l->output, (int)file_dataset_length(file, strlen(file)), file);
    look_at(l, &f);
    if (!f.metadata) {
        pack_past_free(&f.past);
        free(f.name);
        return LEAT_OK;
    }
    items = reallocarray(l->items, l->count + 1, sizeof *items);
    if (items)
        l->items = items;
    else
        leat_metadata_free(f.metadata);
    if (!items) {
        pack_past_free(&f.past);
        free(f.name);
        return status_no_memory(err, (l->count + 1) * sizeof f);
    }
    items[l->count++] = f;
    return LEAT_OK;
}

/* Orders datasets by value, with the rest after its splits. */
static int by_value(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    const char *split_x = metadata_of(x, "leat.split"), *split_y = metadata_of(y, "leat.split");
    int order = strcmp(metadata_of(x, BY_METADATA_VALUE), metadata_of(y, BY_METADATA_VALUE));

    if (order == 0 && (!split_x || !split_y))
        return !split_x - !split_y;
    return order == 0 ? strcmp(split_x, split_y) : order;
}

static enum leat_status find_all(struct look *l, struct leat_error *err)
{
    const char *slash = strrchr(l->output, '/'), *base = slash ? slash + 1 : l->output;
    size_t length = file_dataset_length(base, strlen(base));
    char *folder = file_folder(l->output);
    DIR *d = folder ? opendir(folder) : NULL;
    enum leat_status s = folder ? LEAT_OK : status_no_memory(err, strlen(l->output));
    const char *name;

    if (folder && !d)
        s = status_set_os(err, errno, folder, "cannot read the folder %s", folder);
    while (folder_next(d, folder, &name, &s, err))
        if (strncmp(name, base, length) == 0 && name[length] == '.' &&
            file_ends_with(name + length, strlen(name + length), ".leat"))
            s = add_found(l, name, err);
    if (d)
        closedir(d);
    free(folder);
    if (l->count > 0)
        qsort(l->items, l->count, sizeof *l->items, by_value);
    return s;
}

static void report_all(const struct look *l, struct leat_pack_report *report)
{
    const struct leat_pack_options *o = l->options;

    report->values = l->count / (o->split_count + 1);
    report->was_finished = 1;
    report->documents = report->tokens = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct found *f = &l->items[i];
        struct leat_by_output output = { f->name, metadata_of(f, BY_METADATA_VALUE), metadata_of(f, "leat.split"),
                                         &f->info };

        pack_past_report(&f->past, report); /* each dataset lists all inputs, so this is the same each time */
        if (i == 0)
            pack_facts_notice(&f->past.damaged, o);
        report->documents += f->info.documents;
        report->tokens += f->info.tokens;
        if (metadata_of(f, LEARNED_KEY))
            learned_join(report->learned, metadata_of(f, LEARNED_KEY));
        if (o->output)
            o->output(o->context, &output);
    }
}

enum leat_status pack_by_look(const char *output, const struct leat_pack_options *options,
                              const struct input_list *inputs, struct leat_pack_report *report, bool *ended,
                              struct leat_error *err)
{
    struct look l = { .output = output, .options = options, .inputs = inputs };
    enum leat_status s = find_all(&l, err);

    *ended = s == LEAT_OK && l.count > 0 &&
             l.count == strtoull(metadata_of(&l.items[0], BY_METADATA_VALUES), NULL, 10) * (options->split_count + 1);
    if (*ended) {
        report_all(&l, report);
        by_stage_clear(output);
    }
    free_found(&l);
    return s;
}

enum leat_status pack_by_pins(struct hub_pins *pins, const char *output, const struct leat_pack_options *options,
                              struct leat_error *err)
{
    struct look l = { .output = output, .options = options };
    enum leat_status s = find_all(&l, err);
    const char *text = s == LEAT_OK && l.count > 0 ? metadata_of(&l.items[0], PACK_HUB) : NULL;

    if (text)
        s = hub_pins_read(pins, "", text, err);
    free_found(&l);
    return s;
}

/* Returns true if the packed dataset, which is still to be divided, belongs to this run. */
static bool packed_by(const struct look *l, const char *packed)
{
    struct leat_dataset *d;
    struct pack_past past = { 0 };
    bool fits = false;

    if (leat_dataset_open(&d, packed, NULL, NULL) == LEAT_OK) {
        fits = pack_facts_fit(d, l->options, l->inputs, PACK_PACKED, false, &past);
        leat_dataset_close(d);
    }
    pack_past_free(&past);
    return fits;
}

/* Removes all datasets. Their indexes go back into the folder that they came from, so that a removal that is stopped
 * halfway is recognized: leaving the folder removes them, and the tokens that have no index any more. */
static enum leat_status remove_all(const struct look *l, struct leat_error *err)
{
    struct by_stage stage;
    enum leat_status s = by_stage_open(&stage, l->output, err);

    for (size_t i = 0; s == LEAT_OK && i < l->count; i++)
        s = by_stage_take_back(&stage, value_part(l, &l->items[i]), err);
    by_stage_close(&stage);
    return s;
}

enum leat_status pack_by_remove(const char *output, const char *packed, const struct leat_pack_options *options,
                                const struct input_list *inputs, struct leat_error *err)
{
    struct look l = { .output = output, .options = options, .inputs = inputs };
    enum leat_status s = packed_by(&l, packed) ? find_all(&l, err) : LEAT_OK;

    if (s == LEAT_OK && l.count > 0)
        s = remove_all(&l, err);
    free_found(&l);
    return s;
}
