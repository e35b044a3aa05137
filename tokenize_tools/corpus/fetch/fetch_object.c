/* fetch_object.c: finds objects on servers: many at once by their URLs, or in lists of what lies below a prefix. */
#include <stdlib.h>
#include <string.h>

#include "base/file_kind.h"
#include "base/status.h"
#include "base/tiny.h"
#include "fetcher.h"
#include "hub_tree.h"
#include "remote/text.h"

#define AT_ONCE TINY_OR(3u, 32u) /* look-ups under way */

bool fetch_is_url(const char *name)
{
    return url_is(name);
}

bool fetch_object_is_folder(const struct fetch_object *object)
{
    const struct url *u = &object->url;

    return u->key ? !*u->key || u->key[strlen(u->key) - 1] == '/' : u->name[strlen(u->name) - 1] == '/';
}

bool fetch_object_known(const struct fetch_object *object)
{
    return object->known;
}

const char *fetch_object_name(const struct fetch_object *object)
{
    return object->url.name;
}

uint64_t fetch_object_size(const struct fetch_object *object)
{
    return object->found.size;
}

uint64_t fetch_object_window(const struct fetch_object *object)
{
    return object->by->window;
}

const char *fetch_object_etag(const struct fetch_object *object)
{
    return object->found.etag;
}

enum leat_status fetch_object_new(struct fetch_object **out, struct fetcher *f, const char *url, struct leat_error *err)
{
    struct fetch_object *object = calloc(1, sizeof *object);
    enum leat_status s;

    *out = NULL;
    if (!object)
        return status_no_memory(err, sizeof *object);
    object->by = f;
    s = status_field(err, url_parse(&object->url, url, err), "inputs");
    if (s == LEAT_OK)
        *out = object;
    else
        free(object);
    return s;
}

void fetch_object_free(struct fetch_object *object)
{
    if (!object)
        return;
    url_free(&object->url);
    text_forget(object->moved);
    free(object->head);
    free(object);
}

/* Keeps an etag, which becomes a line of a file. An etag that does not fit there counts as missing. */
static void keep_etag(struct fetch_object *object, const char *etag)
{
    size_t length = strlen(etag);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)etag[i] < ' ' || etag[i] == 0x7f)
            length = 0;
    if (length >= sizeof object->found.etag)
        length = 0;
    memcpy(object->found.etag, etag, length);
    object->found.etag[length] = '\0';
    object->known = true;
}

/* ---- Looking up ------------------------------------------------------------------------------------------------- */

/* A request for the first bytes of an object: its answer says how long the object is, and the bytes what it is. */
struct look_up {
    struct transfer transfer;
    struct fetch_object *object;
    uint8_t head[FILE_KIND_HEAD];
};

static enum leat_status begin_look_up(struct fetcher *f, struct look_up *l, struct fetch_object *object,
                                      struct leat_error *err)
{
    transfer_free(&l->transfer);
    l->object = object;
    l->transfer = (struct transfer) { .url = &object->url,
                                      .count = sizeof l->head,
                                      .up_to = true,
                                      .out = l->head,
                                      .moved = &object->moved,
                                      .context = l };
    return remote_begin(f->remote, &l->transfer, err);
}

static enum leat_status take_answer(struct look_up *l, struct leat_error *err)
{
    const struct transfer *t = &l->transfer;
    bool empty = t->status != LEAT_OK && t->code == 416; /* the object has no first byte */

    if (t->status != LEAT_OK && !empty) {
        if (err)
            *err = t->error;
        return t->status;
    }
    l->object->found.size = empty ? 0 : t->answer.size;
    if (l->object->found.size == UINT64_MAX)
        return status_set_in(err, LEAT_E_UNSUPPORTED, l->object->url.name, "%s: the server does not say how long it is",
                             l->object->url.name);
    keep_etag(l->object, t->answer.etag);
    l->object->head = malloc(t->received + 1);
    if (!l->object->head)
        return status_no_memory(err, t->received + 1);
    memcpy(l->object->head, l->head, t->received);
    l->object->head_bytes = t->received;
    return LEAT_OK;
}

static struct fetch_object *next_unknown(struct fetch_object *const *objects, size_t count, size_t *at)
{
    while (*at < count && objects[*at]->known)
        ++*at;
    return *at < count ? objects[(*at)++] : NULL;
}

enum leat_status fetch_look_up(struct fetcher *f, struct fetch_object *const *objects, size_t count,
                               const struct input_stop *stop, struct leat_error *err)
{
    struct look_up all[AT_ONCE] = { { .object = NULL } };
    struct fetch_object *object = NULL;
    struct transfer *done = NULL;
    enum leat_status s = LEAT_OK;
    size_t at = 0;

    f->stop = stop;
    for (unsigned i = 0; s == LEAT_OK && i < AT_ONCE && (object = next_unknown(objects, count, &at)); i++)
        s = begin_look_up(f, &all[i], object, err);
    while (s == LEAT_OK) {
        s = remote_wait(f->remote, &done, err);
        if (s != LEAT_OK || !done)
            break;
        s = take_answer(done->context, err);
        if (s == LEAT_OK && (object = next_unknown(objects, count, &at)))
            s = begin_look_up(f, done->context, object, err);
    }
    if (s != LEAT_OK)
        remote_abandon(f->remote);
    for (unsigned i = 0; i < AT_ONCE; i++)
        transfer_free(&all[i].transfer);
    f->stop = NULL;
    return s;
}

void fetch_head(struct fetch_object *object, void *out, size_t room, size_t *got)
{
    *got = object->head_bytes < room ? object->head_bytes : room;
    if (*got > 0)
        memcpy(out, object->head, *got);
    free(object->head); /* freed, because there may be many objects */
    object->head = NULL;
    object->head_bytes = 0;
}

/* ---- Pinning ---------------------------------------------------------------------------------------------------- */

bool fetch_is_moving(const char *name)
{
    return text_begins(name, "hf://");
}

enum leat_status fetch_pin(struct fetcher *f, struct hub_pins *pins, const char *url, const struct input_stop *stop,
                           char **pinned, struct leat_error *err)
{
    enum leat_status s;

    f->stop = stop;
    s = status_field(err, hub_pin(f->remote, pins, url, pinned, err), "inputs");
    f->stop = NULL;
    return s;
}

/* ---- Listing ---------------------------------------------------------------------------------------------------- */

struct listing {
    struct fetcher *f;
    const struct url *folder;
    fetch_take *take;
    void *context;
};

static enum leat_status take_listed(void *context, const char *key, uint64_t size, const char *etag,
                                    struct leat_error *err)
{
    const struct listing *l = context;
    struct fetch_object *object = NULL;
    char *url;
    /* the folder's URL up to its key */
    size_t stem = strlen(l->folder->text) - strlen(l->folder->key);
    char *before = NULL;
    enum leat_status s = text_copy(&before, l->folder->text, stem, err);

    if (s != LEAT_OK)
        return s;
    s = text_join(&url, err, before, stem > 0 && before[stem - 1] == '/' ? "" : "/", key, NULL);
    free(before);
    if (s == LEAT_OK)
        s = fetch_object_new(&object, l->f, url, err);
    free(url);
    if (s != LEAT_OK)
        return s;
    object->found.size = size;
    keep_etag(object, etag);
    return l->take(l->context, object, err);
}

enum leat_status fetch_list(struct fetcher *f, const char *url, const struct input_stop *stop, fetch_take *take,
                            void *context, struct leat_error *err)
{
    struct url folder;
    struct listing l = { f, &folder, take, context };
    enum leat_status s = status_field(err, url_parse(&folder, url, err), "inputs");

    if (s != LEAT_OK)
        return s;
    f->stop = stop;
    s = (url_in_hub(&folder) ? hub_list : remote_list)(f->remote, &folder, take_listed, &l, err);
    f->stop = NULL;
    url_free(&folder);
    return s;
}
