/*
 * search_splits.c: decides which split of a folder from the Hugging Face Hub each input belongs to
 * (hub/hub_splits.h), and chooses among the splits. A dataset that trains a model and also holds what the model is
 * tested with is worth nothing, and nobody sees that: so inputs of several splits, or some of a split and some of
 * none, are refused without a choice.
 *
 * Each folder that was named is looked at alone, with its README.md, from its own path on, as datasets looks at one.
 * Inputs that then belong to no split are looked at together with the files that were named, from the folder on that
 * all of these have in common: what a shell makes of a pattern for all in a folder is as much of a trap as the
 * folder. If nothing names a split, everything is of the split train, as for datasets.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "hub/hub_splits.h"
#include "search.h"

#define SHOWN_BYTES   2048 /* more than a sentence takes */
#define SHOWN_ENTRIES 4u   /* splits, or configurations */
#define SHOWN_FILES   3u
#define SHOWN_NAME    36
#define SHOWN_FOLDER  100
#define IMPLIED       "train"

struct splitting {
    struct search *search;
    const char **names;       /* names of all inputs below their folders */
    const char **paths;       /* paths of all inputs, which are all absolute or all relative */
    char **joined;            /* paths that had to be made; NULL for others */
    bool *settled;            /* inputs of folders that have splits */
    struct hub_splits splits; /* splits; the last one may have the inputs of no split, with a NULL name */
    bool said;                /* true if a name or a README.md says which split an input belongs to */
    bool one;                 /* true if only one folder was named */
};

/* ---- README.md ---- */

static enum leat_status read_stream(struct buffer *text, const char *path, struct fetch_object *object,
                                    const struct input_stop *stop, struct leat_error *err)
{
    struct byte_stream *stream;
    enum leat_status s = byte_stream_open_stoppable(&stream, path, path, object, NULL, stop, err);
    size_t got = 1;

    if (s != LEAT_OK)
        return s;
    while (s == LEAT_OK && got > 0 && text->size < HUB_CARD_BYTES) {
        s = buffer_reserve(text, 1 << 16, err);
        if (s == LEAT_OK)
            s = byte_stream_read(stream, text->bytes + text->size, 1 << 16, &got, err);
        text->size += s == LEAT_OK ? got : 0;
    }
    byte_stream_close(stream);
    return s;
}

/* Reads an object by a client of its own, since the client of the inputs must find all of them before it reads. */
static enum leat_status read_object(struct buffer *text, const char *url, const struct input_stop *stop,
                                    struct leat_error *err)
{
    struct fetch_object *object = NULL;
    struct fetcher *fetcher;
    enum leat_status s = fetcher_open(&fetcher, err);

    if (s != LEAT_OK)
        return s;
    s = fetch_object_new(&object, fetcher, url, err);
    if (s == LEAT_OK)
        s = fetch_look_up(fetcher, &object, 1, stop, err);
    if (s == LEAT_OK)
        s = read_stream(text, url, object, stop, err);
    fetcher_close(fetcher);
    fetch_object_free(object);
    return s;
}

static enum leat_status read_card(struct hub_card *card, const struct search_root *root, const struct input_stop *stop,
                                  struct leat_error *err)
{
    char *path = search_join(root->path, strlen(root->path), "README.md");
    struct buffer text = { 0 };
    enum leat_status s;

    if (!path)
        return status_no_memory(err, strlen(root->path));
    s = fetch_is_url(path) ? read_object(&text, path, stop, err) : read_stream(&text, path, NULL, stop, err);
    if (s == LEAT_OK)
        s = hub_card_read(card, path, (const char *)text.bytes, text.size < HUB_CARD_BYTES ? text.size : HUB_CARD_BYTES,
                          err);
    buffer_free(&text);
    free(path);
    return s;
}

/* ---- Sentences ---- */

struct shown {
    char text[SHOWN_BYTES];
    size_t used, entries;
};

static void print_shown(struct shown *shown, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_shown(struct shown *shown, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(shown->text + shown->used, sizeof shown->text - shown->used, format, values);
    va_end(values);
    shown->used += strlen(shown->text + shown->used);
}

/* Begins an entry, unless the sentence has enough. */
static bool put_entry(struct shown *shown, const char *name, size_t files)
{
    if (++shown->entries > SHOWN_ENTRIES)
        return false;
    print_shown(shown, "%s%.*s%s (%zu file%s: ", shown->entries > 1 ? ", " : "", SHOWN_NAME, name,
                strlen(name) > SHOWN_NAME ? "..." : "", files, files == 1 ? "" : "s");
    return true;
}

/* Writes a name; of a long one, its end, which tells more than its start. */
static void put_name(struct shown *shown, const char *before, const char *name)
{
    size_t bytes = strlen(name);

    print_shown(shown, "%s%s%s", before, bytes > SHOWN_NAME ? "..." : "",
                bytes > SHOWN_NAME ? name + bytes - SHOWN_NAME : name);
}

static void put_end(struct shown *shown, const char *what)
{
    if (shown->entries > SHOWN_ENTRIES)
        print_shown(shown, " and %zu more %s", shown->entries - SHOWN_ENTRIES, what);
}

/* Writes splits, like "train (12 files: a, b, c and 9 more), test (1 file: d), no split (1 file: e)". */
static const char *put_splits(struct shown *shown, const struct splitting *p)
{
    *shown = (struct shown) { .used = 0 };
    for (size_t i = 0; i < p->splits.count; i++) {
        const struct hub_split *split = &p->splits.items[i];

        if (!put_entry(shown, split->name ? split->name : "no split", split->count))
            continue;
        for (size_t k = 0; k < split->count && k < SHOWN_FILES; k++)
            put_name(shown, k > 0 ? ", " : "", p->names[split->files[k]]);
        if (split->count > SHOWN_FILES)
            print_shown(shown, " and %zu more", split->count - SHOWN_FILES);
        print_shown(shown, ")");
    }
    put_end(shown, "splits");
    return shown->text;
}

/* Writes the subject of a sentence: one folder, or all inputs. */
static void say_whose(const struct splitting *p, char whose[SHOWN_FOLDER + 32])
{
    if (p->one)
        snprintf(whose, SHOWN_FOLDER + 32, "the files of the folder %.*s", SHOWN_FOLDER, p->search->roots[0].path);
    else
        snprintf(whose, SHOWN_FOLDER + 32, "the inputs");
}

static enum leat_status refuse_several(const struct splitting *p, struct leat_error *err)
{
    char whose[SHOWN_FOLDER + 32];
    struct shown shown;

    say_whose(p, whose);
    return status_field(
        err,
        status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_SPLIT, NULL,
                        "%s do not all belong to one split: %s; name a narrower folder, or choose a split or all "
                        "files",
                        whose, put_splits(&shown, p)),
        "split_of");
}

static enum leat_status refuse_missing(const struct splitting *p, struct leat_error *err)
{
    const char *wanted = p->search->rules->options->split_of;
    char whose[SHOWN_FOLDER + 32];
    struct shown shown;

    say_whose(p, whose);
    if (!p->said)
        return status_argument(
            err, "split_of",
            "%s have no split \"%.*s\": no name says which split a file belongs to, so all are of the "
            "split train",
            whose, SHOWN_NAME, wanted);
    return status_argument(err, "split_of", "%s have no split \"%.*s\", but these: %s", whose, SHOWN_NAME, wanted,
                           put_splits(&shown, p));
}

static enum leat_status refuse_configs(const struct search_root *root, const struct hub_card *card,
                                       const size_t *counts, struct leat_error *err)
{
    struct shown shown = { .used = 0 };

    for (size_t i = 0; i < card->count; i++) {
        const struct hub_card_config *c = &card->configs[i];
        const char *where = c->count > 0 && c->splits[0].count > 0 ? c->splits[0].patterns[0] : c->data_dir;

        if (counts[i] == 0 || !put_entry(&shown, c->name, counts[i]))
            continue;
        put_name(&shown, "", where ? where : "all");
        print_shown(&shown, ")");
    }
    put_end(&shown, "configurations");
    return status_field(
        err,
        status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_SPLIT_ALL, NULL,
                        "the folder %.*s has several configurations, as its README.md lists them: %s; name the "
                        "folder of one of them, or take all files",
                        SHOWN_FOLDER, root->path, shown.text),
        "split_of");
}

/* ---- Splits ---- */

/* Adds splits that were found among some inputs, whose numbers are `at`. */
static enum leat_status merge(struct splitting *p, const struct hub_splits *of, const size_t *at,
                              struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < of->count; i++)
        for (size_t k = 0; s == LEAT_OK && k < of->items[i].count; k++)
            s = hub_splits_add(&p->splits, of->items[i].name, strlen(of->items[i].name), at[of->items[i].files[k]],
                               err);
    return s;
}

/* Returns the length of the part of inputs' paths that names their folder. */
static size_t below(const char *folder)
{
    size_t bytes = strlen(folder);

    return bytes + (bytes > 0 && folder[bytes - 1] != '/');
}

static enum leat_status split_root(struct splitting *p, const struct search_root *root, size_t *at,
                                   struct leat_error *err)
{
    struct hub_splits of = { 0 };
    struct hub_card card = { 0 };
    size_t *configs = NULL;
    enum leat_status s = root->card ? read_card(&card, root, &p->search->stop, err) : LEAT_OK;

    for (size_t i = 0; i < root->count; i++) {
        p->names[root->first + i] = p->search->list->items[root->first + i].place + below(root->path);
        at[i] = root->first + i;
    }
    if (s == LEAT_OK)
        s = hub_splits_find(&of, p->names + root->first, root->count, &card, &configs, &p->search->stop, err);
    if (s == LEAT_OK && configs)
        s = refuse_configs(root, &card, configs, err);
    if (s == LEAT_OK)
        s = merge(p, &of, at, err);
    for (size_t i = 0; s == LEAT_OK && of.count > 0 && i < root->count; i++)
        p->settled[root->first + i] = p->said = true;
    free(configs);
    hub_splits_free(&of);
    hub_card_free(&card);
    return s;
}

static bool is_relative(const char *path)
{
    return path[0] != '/' && strcmp(path, "-") != 0 && !fetch_is_url(path);
}

/* Makes all paths absolute if some are, since folders above the others may also say which split they belong to. */
static enum leat_status make_paths(struct splitting *p, struct leat_error *err)
{
    const struct input_list *list = p->search->list;
    bool relative = false, absolute = false;
    char *here = NULL;

    for (size_t i = 0; i < list->count; i++) {
        p->paths[i] = list->items[i].place;
        relative = relative || is_relative(p->paths[i]);
        absolute = absolute || p->paths[i][0] == '/';
    }
    if (relative && absolute)
        here = getcwd(NULL, 0);
    for (size_t i = 0; here && i < list->count; i++)
        if (is_relative(p->paths[i])) {
            p->joined[i] = search_join(here, strlen(here), p->paths[i]);
            if (!p->joined[i]) {
                free(here);
                return status_no_memory(err, strlen(p->paths[i]));
            }
            p->paths[i] = p->joined[i];
        }
    free(here);
    return LEAT_OK;
}

/* Returns the length of the folder, with its /, that path[0..bytes) is in. */
static size_t folder_of(const char *path, size_t bytes)
{
    while (bytes > 0 && path[bytes - 1] == '/')
        bytes--;
    while (bytes > 0 && path[bytes - 1] != '/')
        bytes--;
    return bytes;
}

/* Returns the length of the folder that all named inputs have in common. */
static size_t common_folder(const struct splitting *p)
{
    const struct search *s = p->search;
    const char *first = NULL;
    size_t common = 0, root = 0;

    for (size_t i = 0; i < s->list->count;) {
        bool of_root = root < s->root_count && s->roots[root].first == i;
        const char *path = p->paths[i], *own = s->list->items[i].place;
        size_t bytes = strlen(path) - (of_root ? strlen(own + strlen(s->roots[root].path)) : 0), same = 0;

        i += of_root ? s->roots[root++].count : 1;
        if (strcmp(path, "-") == 0)
            continue;
        bytes = folder_of(path, bytes);
        while (first && same < common && same < bytes && first[same] == path[same])
            same++;
        while (same > 0 && first[same - 1] != '/')
            same--;
        common = first ? same : bytes;
        first = first ? first : path;
    }
    return common;
}

/* Finds the splits of inputs that no folder has settled by their names, if more than one folder was named. */
static enum leat_status split_rest(struct splitting *p, size_t *at, struct leat_error *err)
{
    const struct search *s = p->search;
    const char **names = calloc(s->list->count, sizeof *names);
    enum leat_status status = names ? LEAT_OK : status_no_memory(err, s->list->count * sizeof *names);
    size_t count = 0, folder;
    struct hub_splits of = { 0 };

    if (status == LEAT_OK)
        status = make_paths(p, err);
    folder = status == LEAT_OK ? common_folder(p) : 0;
    for (size_t i = 0; status == LEAT_OK && i < s->list->count; i++) {
        if (!p->one)
            p->names[i] = strcmp(p->paths[i], "-") == 0 ? p->paths[i] : p->paths[i] + folder;
        names[count] = p->names[i];
        at[count] = i;
        count += !p->settled[i];
    }
    if (status == LEAT_OK && !p->one)
        status = hub_splits_by_names(&of, names, count, &s->stop, err);
    p->said = p->said || of.count > 0;
    if (status == LEAT_OK && of.count > 0)
        status = merge(p, &of, at, err);
    for (size_t i = 0; status == LEAT_OK && of.count == 0 && i < count; i++)
        status = hub_splits_add(&p->splits, IMPLIED, strlen(IMPLIED), at[i], err);
    hub_splits_free(&of);
    free(names);
    return status;
}

/* Finds the inputs of no split. */
static enum leat_status find_others(struct splitting *p, struct leat_error *err)
{
    size_t count = p->search->list->count;
    enum leat_status s = LEAT_OK;

    memset(p->settled, 0, count * sizeof *p->settled);
    for (size_t i = 0; i < p->splits.count; i++)
        for (size_t k = 0; k < p->splits.items[i].count; k++)
            p->settled[p->splits.items[i].files[k]] = true;
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        if (!p->settled[i])
            s = hub_splits_add(&p->splits, NULL, 0, i, err);
    return s;
}

/* ---- The choice ---- */

/* Returns the split that the rules name, or NULL if it does not exist. */
static const struct hub_split *chosen(const struct splitting *p)
{
    for (size_t i = 0; i < p->splits.count; i++)
        if (p->splits.items[i].name && strcmp(p->splits.items[i].name, p->search->rules->options->split_of) == 0)
            return &p->splits.items[i];
    return NULL;
}

/* Leaves out all inputs that are not of the split. */
static enum leat_status take_split(struct splitting *p, const struct hub_split *split, struct leat_error *err)
{
    struct input_list *list = p->search->list;
    enum leat_status s = LEAT_OK;
    size_t kept = 0;

    memset(p->settled, 0, list->count * sizeof *p->settled);
    for (size_t k = 0; k < split->count; k++)
        p->settled[split->files[k]] = true;
    for (size_t i = 0; i < list->count; i++) {
        struct input *in = &list->items[i];

        if (p->settled[i] || s != LEAT_OK) {
            list->items[kept++] = *in;
            continue;
        }
        s = search_skip(p->search, in->path, LEAT_SKIP_SPLIT, NULL, err);
        list->bytes -= in->size;
        fetch_object_free(in->object);
        free(in->place);
    }
    list->count = kept;
    return s;
}

/* Notes in the list which splits exist, and that `only` is taken, or all if it is NULL. */
static enum leat_status report(const struct splitting *p, const struct hub_split *only, struct leat_error *err)
{
    struct input_list *list = p->search->list;

    list->splits = calloc(p->splits.count, sizeof *list->splits);
    if (!list->splits)
        return status_no_memory(err, p->splits.count * sizeof *list->splits);
    for (size_t i = 0; i < p->splits.count; i++) {
        const struct hub_split *split = &p->splits.items[i];
        char *name = split->name ? strdup(split->name) : NULL;

        if (split->name && !name)
            return status_no_memory(err, strlen(split->name));
        list->splits[list->split_count++] = (struct input_split) { name, split->count, !only || split == only };
    }
    return LEAT_OK;
}

static enum leat_status choose(struct splitting *p, struct leat_error *err)
{
    const struct hub_split *only = p->search->rules->options->split_of ? chosen(p) : NULL;
    enum leat_status s;

    if (p->search->rules->options->split_of && !only)
        return refuse_missing(p, err);
    for (size_t i = 0; !only && i < p->splits.count; i++)
        if (p->splits.items[i].count < p->search->list->count)
            return refuse_several(p, err);
    s = p->said ? report(p, only, err) : LEAT_OK;
    return s == LEAT_OK && only ? take_split(p, only, err) : s;
}

enum leat_status search_splits(struct search *s, struct leat_error *err)
{
    size_t count = s->list->count, *at;
    struct splitting p = { .search = s };
    enum leat_status status = LEAT_OK;

    if (count == 0 || (s->rules->options->split_of && strcmp(s->rules->options->split_of, "all") == 0))
        return LEAT_OK;
    p.one = s->root_count == 1 && s->roots[0].count == count;
    p.names = calloc(count, sizeof *p.names);
    p.paths = calloc(count, sizeof *p.paths);
    p.joined = calloc(count, sizeof *p.joined);
    p.settled = calloc(count, sizeof *p.settled);
    at = calloc(count, sizeof *at);
    if (!p.names || !p.paths || !p.joined || !p.settled || !at)
        status = status_no_memory(err, count * sizeof *at);
    for (size_t i = 0; status == LEAT_OK && i < s->root_count; i++)
        status = split_root(&p, &s->roots[i], at, err);
    if (status == LEAT_OK)
        status = split_rest(&p, at, err);
    if (status == LEAT_OK)
        status = find_others(&p, err);
    if (status == LEAT_OK)
        status = choose(&p, err);
    hub_splits_free(&p.splits);
    for (size_t i = 0; p.joined && i < count; i++)
        free(p.joined[i]);
    free(at);
    free(p.settled);
    free(p.joined);
    free(p.paths);
    free(p.names);
    return status;
}
