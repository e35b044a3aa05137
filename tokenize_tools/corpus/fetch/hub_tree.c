/* hub_tree.c: reads answers of the Hub, which are JSON. Nothing in them is believed before it is checked. */
#include "hub_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontree.h"
#include "base/status.h"
#include "base/tiny.h"
#include "remote/text.h"

#define MAX_EMPTY TINY_OR(3u, 10000u) /* limit of pages in a row that have only folders */

static enum leat_status broken(const struct url *url, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_IO, url->name, "%s: the answer of the Hub is not what its API says", url->name);
}

static enum leat_status parse(struct jsontree *j, const void *json, size_t bytes, const struct url *url,
                              struct leat_error *err)
{
    enum leat_status s = jsontree_parse(j, bytes ? json : "", bytes, url->name, err);

    return s == LEAT_E_VOCABULARY ? broken(url, err) : s;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

enum leat_status hub_call(char **call, const char *before, const struct url *url, struct leat_error *err)
{
    char *revision;
    enum leat_status s = text_encode(&revision, url->revision ? url->revision : HUB_MAIN, false, err);

    *call = NULL;
    if (s == LEAT_OK)
        s = text_join(call, err, before, revision, NULL);
    free(revision);
    return s;
}

static enum leat_status ask_hub(struct remote *r, struct transfer *t, const char *what, struct leat_error *err)
{
    char *call;
    enum leat_status s = text_join(&call, err, "/api/", t->url->bucket, what, NULL);

    if (s != LEAT_OK)
        return s;
    t->call = call;
    s = remote_run(r, t, err);
    t->call = NULL;
    free(call);
    return s;
}

enum leat_status hub_ask(struct remote *r, const struct url *url, const char *what, struct buffer *text,
                         struct leat_error *err)
{
    struct transfer t = { .url = url };
    enum leat_status s = ask_hub(r, &t, what, err);

    *text = t.text;
    t.text = (struct buffer) { 0 };
    transfer_free(&t);
    return s;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Makes the etag that the Hub gives a file, in quotes: the hash of its bytes for a file that it keeps elsewhere,
 * else git's hash. */
static enum leat_status make_etag(char **etag, const struct jsontree *j, uint32_t entry, struct leat_error *err)
{
    uint32_t lfs = jsontree_member(j, entry, "lfs");
    bool elsewhere = lfs != JSONTREE_NONE && j->nodes[lfs].kind == JSONTREE_OBJECT;
    char *sum;
    enum leat_status s = jsontree_copy(&sum, j, elsewhere ? lfs : entry, "oid", err);

    *etag = NULL;
    if (s == LEAT_OK)
        s = text_join(etag, err, sum ? "\"" : "", sum ? sum : "", sum ? "\"" : "", NULL);
    free(sum);
    return s;
}

/* Returns true if a path lies below the folder's, which may end in /. */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    while (length > 0 && folder[length - 1] == '/')
        length--;
    return strlen(path) <= REMOTE_KEY && *path && *path != '/' &&
           (length == 0 || (strncmp(path, folder, length) == 0 && path[length] == '/'));
}

static enum leat_status take_entry(const struct jsontree *j, uint32_t entry, const struct url *folder,
                                   remote_take *take, void *context, struct leat_error *err)
{
    uint32_t type = jsontree_member(j, entry, "type"), length = jsontree_member(j, entry, "size");
    char *path = NULL, *etag = NULL;
    enum leat_status s;
    uint64_t size = 0;

    if (type == JSONTREE_NONE || j->nodes[type].kind != JSONTREE_STRING)
        return broken(folder, err);
    if (!jsontree_is(j, type, "file")) /* a directory is skipped, since its files follow */
        return LEAT_OK;
    s = jsontree_copy(&path, j, entry, "path", err);
    if (s == LEAT_OK)
        s = make_etag(&etag, j, entry, err);
    if (s == LEAT_OK && (!path || length == JSONTREE_NONE || !jsontree_u64(j, length, &size) || size > INT64_MAX ||
                         !is_below(path, folder->key)))
        s = broken(folder, err);
    if (s == LEAT_OK)
        s = take(context, path, size, etag, err);
    free(path);
    free(etag);
    return s;
}

enum leat_status hub_list_read(const void *json, size_t bytes, const struct url *folder, remote_take *take,
                               void *context, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = parse(&j, json, bytes, folder, err);

    if (s != LEAT_OK)
        return s;
    if (j.nodes[0].kind != JSONTREE_ARRAY)
        s = broken(folder, err);
    for (uint32_t i = 0, node = 1; s == LEAT_OK && i < j.nodes[0].length; i++, node = jsontree_next(&j, node))
        s = take_entry(&j, node, folder, take, context, err);
    jsontree_free(&j);
    return s;
}

/* Lists one page, and sets `query` to that of the next page, or to "" after the last. */
static enum leat_status list_page(struct remote *r, struct remote_listing *l, const char *what,
                                  char query[TRANSFER_NEXT], struct leat_error *err)
{
    struct transfer t = { .url = l->url, .query = query };
    enum leat_status s = ask_hub(r, &t, what, err);

    if (s == LEAT_OK && t.answer.more && !*t.answer.next)
        s = broken(l->url, err);
    if (s == LEAT_OK)
        s = hub_list_read(t.text.bytes, t.text.size, l->url, remote_take_once, l, err);
    memcpy(query, t.answer.next, TRANSFER_NEXT);
    transfer_free(&t);
    return s;
}

/* "/tree/REVISION/PATH" */
static enum leat_status make_tree_call(char **what, const struct url *folder, struct leat_error *err)
{
    size_t length = strlen(folder->key);
    char *revision = NULL, *key = NULL, *path = NULL;
    enum leat_status s = hub_call(&revision, "/tree/", folder, err);

    while (length > 0 && folder->key[length - 1] == '/')
        length--;
    if (s == LEAT_OK)
        s = text_copy(&key, folder->key, length, err);
    if (s == LEAT_OK)
        s = text_encode(&path, key, false, err);
    if (s == LEAT_OK)
        s = text_join(what, err, revision, length > 0 ? "/" : "", path, NULL);
    free(revision);
    free(key);
    free(path);
    return s;
}

enum leat_status hub_list(struct remote *r, const struct url *folder, remote_take *take, void *context,
                          struct leat_error *err)
{
    struct remote_listing l = { .remote = r, .url = folder, .take = take, .context = context };
    char query[TRANSFER_NEXT] = "recursive=true&expand=false", *what = NULL;
    enum leat_status s = make_tree_call(&what, folder, err);
    unsigned empty = 0;

    while (s == LEAT_OK && *query) {
        uint64_t before = l.objects;

        s = list_page(r, &l, what, query, err);
        empty = l.objects == before ? empty + 1 : 0;
        if (s == LEAT_OK && empty == MAX_EMPTY)
            s = broken(folder, err);
    }
    free(what);
    return s;
}

/* ---- Revisions --------------------------------------------------------------------------------------------------- */

static bool is_commit(const char *text)
{
    return strlen(text) == HUB_COMMIT && strspn(text, "0123456789abcdef") == HUB_COMMIT;
}

enum leat_status hub_revision_read(const void *json, size_t bytes, const struct url *url, char commit[HUB_COMMIT + 1],
                                   char **id, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = parse(&j, json, bytes, url, err);
    char *sha = NULL;

    *id = NULL;
    if (s != LEAT_OK)
        return s;
    s = jsontree_copy(&sha, &j, 0, "sha", err);
    if (s == LEAT_OK)
        s = jsontree_copy(id, &j, 0, "id", err);
    if (s == LEAT_OK && (!sha || !is_commit(sha) || !*id))
        s = broken(url, err);
    if (s == LEAT_OK)
        memcpy(commit, sha, HUB_COMMIT + 1);
    jsontree_free(&j);
    free(sha);
    if (s != LEAT_OK) {
        free(*id);
        *id = NULL;
    }
    return s;
}

/* Adds the names of some revisions to the sentence, except those that cannot be shown. */
static void name_some(const struct jsontree *j, const char *list, const char *member, unsigned *named,
                      struct leat_error *err)
{
    uint32_t array = jsontree_member(j, 0, list);
    uint32_t count = array != JSONTREE_NONE && j->nodes[array].kind == JSONTREE_ARRAY ? j->nodes[array].length : 0;

    for (uint32_t i = 0, node = array + 1; i < count && *named < 8; i++, node = jsontree_next(j, node)) {
        char *name;

        if (jsontree_copy(&name, j, node, member, NULL) == LEAT_OK && name && strlen(name) < 60 &&
            strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/") == strlen(name))
            status_after(err, "%s%s", (*named)++ == 0 ? "; it has " : ", ", name);
        free(name);
    }
}

/* Says which revisions exist, after one was not found, if the Hub answers. */
static void name_revisions(struct remote *r, const struct url *url, struct leat_error *err)
{
    struct leat_error ignored;
    struct buffer text = { 0 };
    struct jsontree j;
    unsigned named = 0;

    if (hub_ask(r, url, "/refs", &text, &ignored) == LEAT_OK &&
        parse(&j, text.bytes, text.size, url, NULL) == LEAT_OK) {
        name_some(&j, "branches", "name", &named, err);
        name_some(&j, "converts", "ref", &named, err);
        name_some(&j, "tags", "name", &named, err);
        jsontree_free(&j);
    }
    buffer_free(&text);
}

/* Asks for the name of the repository with the commit of its revision. */
static enum leat_status ask_revision(struct remote *r, const struct url *url, char **to, struct leat_error *err)
{
    char commit[HUB_COMMIT + 1], *what = NULL, *id = NULL;
    const char *kind = text_begins(url->bucket, "datasets/") ? "datasets/" : "models/";
    struct transfer t = { .url = url, .query = "expand=sha" }; /* leaves out the names of all files */
    enum leat_status s = hub_call(&what, "/revision/", url, err);

    *to = NULL;
    if (s == LEAT_OK)
        s = ask_hub(r, &t, what, err);
    if (s == LEAT_E_NO_FILE && err && strcmp(t.answer.error, "RevisionNotFound") == 0)
        name_revisions(r, url, err);
    if (s == LEAT_OK)
        s = hub_revision_read(t.text.bytes, t.text.size, url, commit, &id, err);
    if (s == LEAT_OK)
        s = text_join(to, err, "hf://", kind, id, "@", commit, NULL);
    transfer_free(&t);
    free(what);
    free(id);
    return s;
}

/* Asks for ORG as a repository of its own, whose path begins with NAME. Returns LEAT_E_NO_FILE if there is none. */
static enum leat_status ask_without_organization(struct remote *r, const struct url *url, char **to,
                                                 struct leat_error *err)
{
    const char *slash = strrchr(url->bucket, '/');
    struct url alone = *url;
    struct leat_error ignored;
    char *found = NULL;
    enum leat_status s = LEAT_E_NO_FILE;

    if (url->revision || strchr(url->bucket, '/') == slash)
        return LEAT_E_NO_FILE;
    s = text_copy(&alone.bucket, url->bucket, (size_t)(slash - url->bucket), err);
    if (s == LEAT_OK && ask_revision(r, &alone, &found, &ignored) != LEAT_OK)
        s = LEAT_E_NO_FILE;
    if (s == LEAT_OK)
        s = text_join(to, err, found, slash, NULL);
    free(alone.bucket);
    free(found);
    return s;
}

enum leat_status hub_pins_add(struct hub_pins *pins, const char *from, const char *to, struct leat_error *err)
{
    struct hub_pin *items = reallocarray(pins->items, pins->count + 1, sizeof *items), pin = { 0 };
    enum leat_status s;

    if (!items)
        return status_no_memory(err, (pins->count + 1) * sizeof *items);
    pins->items = items;
    s = text_join(&pin.from, err, from, NULL);
    if (s == LEAT_OK)
        s = text_join(&pin.to, err, to, NULL);
    if (s == LEAT_OK)
        items[pins->count++] = pin;
    else
        free(pin.from);
    return s;
}

enum leat_status hub_pins_write(const struct hub_pins *pins, const char *before, struct buffer *text,
                                struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    char *line;

    for (size_t i = 0; s == LEAT_OK && i < pins->count; i++) {
        s = text_join(&line, err, before, pins->items[i].from, " ", pins->items[i].to, "\n", NULL);
        if (s == LEAT_OK)
            s = buffer_append(text, line, strlen(line), err);
        free(line);
    }
    return s;
}

/* Returns true if a name is that of a repository with its commit, without a path. The readers of pins need that. */
static bool is_pinned(const char *name)
{
    struct url u;
    bool is;

    if (!url_is(name) || url_parse(&u, name, NULL) != LEAT_OK)
        return false;
    is = url_in_hub(&u) && u.revision && is_commit(u.revision) && u.stem == strlen(name);
    url_free(&u);
    return is;
}

enum leat_status hub_pins_read(struct hub_pins *pins, const char *before, const char *text, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    char *copy = NULL, *rest, *line;

    s = text_join(&copy, err, text, NULL);
    rest = copy;
    while (s == LEAT_OK && (line = strsep(&rest, "\n"))) {
        char *from = line + strlen(before), *space = text_begins(line, before) ? strchr(from, ' ') : NULL;

        if (!space || !is_pinned(space + 1))
            continue;
        *space = '\0';
        s = hub_pins_add(pins, from, space + 1, err);
    }
    free(copy);
    return s;
}

void hub_pins_free(struct hub_pins *pins)
{
    for (size_t i = 0; i < pins->count; i++) {
        free(pins->items[i].from);
        free(pins->items[i].to);
    }
    free(pins->items);
    *pins = (struct hub_pins) { 0 };
}

static const char *find_pin(const struct hub_pins *pins, const char *from)
{
    for (size_t i = 0; i < pins->count; i++)
        if (strcmp(pins->items[i].from, from) == 0)
            return pins->items[i].to;
    return NULL;
}

/* Adds the pin of the part before the path. */
static enum leat_status make_pin(struct remote *r, struct hub_pins *pins, const struct url *u, const char *from,
                                 struct leat_error *err)
{
    char *to = NULL;
    struct leat_error why;
    enum leat_status s = ask_revision(r, u, &to, &why), alone;

    if (s == LEAT_E_NO_FILE) {
        alone = ask_without_organization(r, u, &to, err);
        if (alone != LEAT_E_NO_FILE)
            s = alone;
        else if (err)
            *err = why;
        if (s == LEAT_E_NO_FILE && err && text_begins(u->bucket, "models/") && !text_begins(from, "hf://models/"))
            status_after(err, "; a dataset is hf://datasets/%s", u->bucket + strlen("models/"));
    } else if (s != LEAT_OK && err) {
        *err = why;
    }
    if (s == LEAT_OK)
        s = hub_pins_add(pins, from, to, err);
    free(to);
    return s;
}

/* Pins a name that has its commit, without asking the Hub. */
static enum leat_status keep_commit(struct hub_pins *pins, const struct url *u, const char *from,
                                    struct leat_error *err)
{
    char *to = NULL;
    enum leat_status s = text_join(&to, err, "hf://", u->bucket, "@", u->revision, NULL);

    if (s == LEAT_OK)
        s = hub_pins_add(pins, from, to, err);
    free(to);
    return s;
}

enum leat_status hub_pin(struct remote *r, struct hub_pins *pins, const char *url, char **pinned,
                         struct leat_error *err)
{
    char *from = NULL;
    struct url u;
    enum leat_status s = url_parse(&u, url, err);

    *pinned = NULL;
    if (s != LEAT_OK)
        return s;
    s = text_copy(&from, url, u.stem, err);
    if (s == LEAT_OK && !find_pin(pins, from))
        s = u.revision && is_commit(u.revision) ? keep_commit(pins, &u, from, err) : make_pin(r, pins, &u, from, err);
    if (s == LEAT_OK)
        s = text_join(pinned, err, find_pin(pins, from), url + u.stem, NULL);
    free(from);
    url_free(&u);
    return s;
}
