/*
 * search_objects.c: finds the inputs that URLs stand for. Objects that are named are looked up at the end of the
 * search, many at once; the list of a prefix says all that has to be known. A name on the Hugging Face Hub is first
 * given its commit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "hub/hub_glob.h"
#include "search.h"

/* Adds an object, which belongs to the search from now on. */
static enum leat_status add_object(struct search *s, struct fetch_object *object, const struct record_format *format,
                                   struct leat_error *err)
{
    enum leat_status status = search_add(s, fetch_object_name(object), format, NULL, err);

    if (status == LEAT_OK)
        s->list->items[s->list->count - 1].object = object;
    else
        fetch_object_free(object);
    return status;
}

static void take_size(struct input_list *list, struct input *in)
{
    in->size = in->end = fetch_object_size(in->object);
    list->bytes += in->size;
}

/* ---- Below a prefix ---- */

/* Judges the first part of a name below the prefix that is not plain, and sets *part to it. */
static enum found_name judge_parts(const char *below, enum leat_pack_format format, const char **part)
{
    enum found_name kind;

    for (*part = below; (kind = found_name(*part, format)) == NAME_PLAIN; ++*part) {
        *part = strchr(*part, '/');
        if (!*part)
            break;
    }
    return kind;
}

/* Leaves out a folder whose name begins with _, once: the server lists all its objects one after another. */
static enum leat_status pass_marked(struct search *s, const char *name, const char *part,
                                    const struct fetch_object *object, struct leat_error *err)
{
    const char *slash = strchr(part, '/');
    enum leat_status status;
    char *folder;

    if (!slash)
        return search_pass_marked(s, name, found_name_is_note(part) || fetch_object_size(object) == 0, err);
    if (s->marked_last && strncmp(name, s->marked_last, strlen(s->marked_last)) == 0)
        return LEAT_OK;
    folder = strndup(name, (size_t)(slash - name) + 1);
    if (!folder)
        return status_no_memory(err, strlen(name));
    status = search_pass_marked(s, folder, false, err);
    free(folder);
    if (status == LEAT_OK)
        s->marked_last = s->list->skipped[s->list->skipped_count - 1].path;
    return status;
}

struct taking {
    struct search *search;
    const char *folder;
    const char *pattern; /* pattern of whole names; NULL if all objects below the folder count */
    bool card;           /* README.md is there */
};

/* Sets *passed to true if an object below a prefix is left out because of its name. */
static enum leat_status judge_name(struct search *s, const char *folder, const struct fetch_object *object,
                                   bool *passed, struct leat_error *err)
{
    const char *name = fetch_object_name(object), *part;
    size_t bytes = strlen(name), stem = strlen(folder);
    enum found_name kind = NAME_HIDDEN;
    enum leat_status status = LEAT_OK;

    if (bytes > stem) {
        status = found_names_refuse_table(name, stem, err);
        kind = judge_parts(name + stem, s->rules->options->format, &part);
    }
    /* names that end in / stand for folders without files */
    *passed = kind != NAME_PLAIN || name[bytes - 1] == '/';
    if (status == LEAT_OK && kind == NAME_MARKED && name[bytes - 1] != '/')
        status = pass_marked(s, name, part, object, err);
    return status;
}

static enum leat_status take_listed(void *context, struct fetch_object *object, struct leat_error *err)
{
    struct taking *t = context;
    struct search *s = t->search;
    const char *name = fetch_object_name(object);
    const struct record_format *format;
    const struct file_kind *corpus;
    bool passed = t->pattern && !hub_glob(t->pattern, name);
    enum leat_status status = passed ? LEAT_OK : judge_name(s, t->folder, object, &passed, err);

    t->card = t->card ||
              (strncmp(name, t->folder, strlen(t->folder)) == 0 && strcmp(name + strlen(t->folder), "README.md") == 0);
    if (status != LEAT_OK || passed) {
        fetch_object_free(object);
        return status;
    }
    if (search_is_patterned(s, name + strlen(t->folder))) {
        status = search_pass_patterned(s, name, err);
        fetch_object_free(object);
        return status;
    }
    format = input_judge_listed(name, s->rules, &corpus);
    if (!format) {
        status = search_leave_out(s, name, corpus, err);
        fetch_object_free(object);
        return status;
    }
    status = add_object(s, object, format, err);
    if (status == LEAT_OK)
        take_size(s->list, &s->list->items[s->list->count - 1]);
    return status;
}

/* Searches a prefix; `pattern` NULL means all of it. */
static enum leat_status search_prefix(struct search *s, const char *url, const char *pattern, struct leat_error *err)
{
    struct taking t = { .search = s, .folder = url, .pattern = pattern };
    size_t before = s->list->count;
    enum leat_status status;

    search_begin_folder(s, url);
    status = fetch_list(s->list->fetcher, url, &s->stop, take_listed, &t, err);
    if (status == LEAT_OK && pattern && s->list->count == before && s->unread_count == 0)
        return status_set_in(err, LEAT_E_NO_FILE, pattern,
                             "no file matches %s (* ? [ ] match within one name, ** any folders)", pattern);
    return status == LEAT_OK ? search_end_folder(s, url, before, t.card, err) : status;
}

/* ---- Named ---- */

/* Notes that the input added last is judged by its first bytes. */
static enum leat_status note_look(struct search *s, struct leat_error *err)
{
    enum leat_status status = GROW(s->looks, s->look_count + 1, s->look_room, err);

    if (status == LEAT_OK)
        s->looks[s->look_count++] = s->list->count - 1;
    return status;
}

static enum leat_status search_object(struct search *s, const char *url, struct leat_error *err)
{
    const struct record_format *format = NULL;
    struct fetch_object *object;
    enum leat_status status = fetch_object_new(&object, s->list->fetcher, url, err);

    if (status != LEAT_OK)
        return status;
    if (fetch_object_is_folder(object)) {
        fetch_object_free(object);
        return search_prefix(s, url, NULL, err);
    }
    if (input_judge_by_name(fetch_object_name(object), s->depth == 0, s->rules, &format))
        return add_object(s, object, format, err);
    status = add_object(s, object, format, err);
    return status == LEAT_OK ? note_look(s, err) : status;
}

/* Searches a pattern on the Hub: lists the folder before the first name in it with a * ? or [. A pattern that ends
 * in / means all files below the folders that it matches. */
static enum leat_status search_pattern(struct search *s, const char *url, size_t special, struct leat_error *err)
{
    bool folders = url[strlen(url) - 1] == '/';
    enum leat_status status;
    char *folder, *pattern;

    while (url[special - 1] != '/')
        special--;
    folder = strndup(url, special);
    pattern = folders ? search_join(url, strlen(url), "**") : strdup(url);
    if (folder && pattern)
        status = search_prefix(s, folder, pattern, err);
    else
        status = status_no_memory(err, strlen(url));
    free(folder);
    free(pattern);
    return status;
}

/* Searches a name on the Hub, with its commit. Without a path it means the whole repository. */
static enum leat_status search_pinned(struct search *s, const char *url, struct leat_error *err)
{
    size_t special = strcspn(url, "*?["), bytes = strlen(url);
    const char *name = strchr(strchr(url, '@'), '/'); /* a pinned name has its commit */
    enum leat_status status;
    char *folder;

    if (special < bytes && name)
        return search_pattern(s, url, special, err);
    if (name && url[bytes - 1] != '/')
        return search_object(s, url, err);
    folder = search_join(url, bytes, "");
    status = folder ? search_prefix(s, folder, NULL, err) : status_no_memory(err, bytes);
    free(folder);
    return status;
}

/* Returns true if a URL is that of a page of the Hub for browsers, which is HTML. */
static bool is_page_of_hub(const char *url)
{
    static const char host[] = "https://huggingface.co/", other[] = "https://hf.co/";
    bool is = strncmp(url, host, sizeof host - 1) == 0 || strncmp(url, other, sizeof other - 1) == 0;

    return is && !strstr(url, "/resolve/") && !strstr(url, "/raw/");
}

enum leat_status search_url(struct search *s, const char *url, struct leat_error *err)
{
    enum leat_status status = s->list->fetcher ? LEAT_OK : fetcher_open(&s->list->fetcher, err);
    char *pinned;

    if (is_page_of_hub(url))
        return status_argument(err, "inputs",
                               "%.*s is a page of the Hugging Face Hub, not a file; write "
                               "hf://datasets/ORG/NAME[@REVISION]/PATH",
                               (int)strcspn(url, "?#"), url);
    if (status != LEAT_OK || !fetch_is_moving(url))
        return status == LEAT_OK ? search_object(s, url, err) : status;
    status = fetch_pin(s->list->fetcher, &s->list->pins, url, &s->stop, &pinned, err);
    if (status == LEAT_OK)
        status = search_pinned(s, pinned, err);
    free(pinned);
    return status;
}

/* Looks up the objects that were named and not listed. */
static enum leat_status look_up(struct search *s, struct leat_error *err)
{
    struct input_list *list = s->list;
    struct fetch_object **objects = calloc(list->count, sizeof *objects);
    bool *known = calloc(list->count, sizeof *known);
    enum leat_status status = LEAT_OK;
    size_t count = 0;

    if (!objects || !known)
        status = status_no_memory(err, list->count * sizeof *objects);
    for (size_t i = 0; status == LEAT_OK && i < list->count; i++)
        if (list->items[i].object) {
            known[i] = fetch_object_known(list->items[i].object);
            objects[count++] = list->items[i].object;
        }
    if (status == LEAT_OK)
        status = fetch_look_up(list->fetcher, objects, count, &s->stop, err);
    for (size_t i = 0; status == LEAT_OK && i < list->count; i++)
        if (list->items[i].object && !known[i])
            take_size(list, &list->items[i]);
    free(objects);
    free(known);
    return status;
}

enum leat_status search_end_urls(struct search *s, struct leat_error *err)
{
    enum leat_status status = s->list->fetcher ? look_up(s, err) : LEAT_OK;
    uint8_t head[FILE_KIND_HEAD];
    size_t bytes;

    for (size_t i = 0; status == LEAT_OK && i < s->look_count; i++) {
        struct input *in = &s->list->items[s->looks[i]];

        fetch_head(in->object, head, sizeof head, &bytes);
        status = input_judge_head(in->path, head, bytes, &in->format, err);
    }
    return status;
}
