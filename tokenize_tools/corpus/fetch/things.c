/* things.c: finding things on servers: looked up by their URLs, many at once, or listed below a prefix. */
#include <stdlib.h>
#include <string.h>

#include "base/file_kind.h"
#include "base/status.h"
#include "base/tiny.h"
#include "fetcher.h"
#include "remote/text.h"

#define AT_ONCE TINY_OR(3u, 32u) /* look-ups under way */

bool fetch_is_url(const char *name)
{
    return url_is(name);
}

bool fetch_thing_is_folder(const struct fetch_thing *thing)
{
    const struct url *u = &thing->url;

    return url_in_bucket(u) ? !*u->key || u->key[strlen(u->key) - 1] == '/' : u->name[strlen(u->name) - 1] == '/';
}

bool fetch_thing_known(const struct fetch_thing *thing)
{
    return thing->known;
}

const char *fetch_thing_name(const struct fetch_thing *thing)
{
    return thing->url.name;
}

uint64_t fetch_thing_size(const struct fetch_thing *thing)
{
    return thing->object.size;
}

uint64_t fetch_thing_window(const struct fetch_thing *thing)
{
    return thing->by->window;
}

const char *fetch_thing_etag(const struct fetch_thing *thing)
{
    return thing->object.etag;
}

enum leat_status fetch_thing_new(struct fetch_thing **out, struct fetcher *f, const char *url, struct leat_error *err)
{
    struct fetch_thing *thing = calloc(1, sizeof *thing);
    enum leat_status s;

    *out = NULL;
    if (!thing)
        return status_no_memory(err, sizeof *thing);
    thing->by = f;
    s = url_parse(&thing->url, url, err);
    if (s == LEAT_OK)
        *out = thing;
    else
        free(thing);
    return s;
}

void fetch_thing_free(struct fetch_thing *thing)
{
    if (!thing)
        return;
    url_free(&thing->url);
    free(thing->head);
    free(thing);
}

/* An etag becomes a line of a file; one that does not fit there counts as missing. */
static void keep_etag(struct fetch_thing *thing, const char *etag)
{
    size_t length = strlen(etag);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)etag[i] < ' ' || etag[i] == 0x7f)
            length = 0;
    if (length >= sizeof thing->object.etag)
        length = 0;
    memcpy(thing->object.etag, etag, length);
    thing->object.etag[length] = '\0';
    thing->known = true;
}

/* ---- Looking up ------------------------------------------------------------------------------------------------- */

/* A request for the first bytes of a thing: its answer says how long the thing is, and the bytes what it is. */
struct look_up {
    struct transfer transfer;
    struct fetch_thing *thing;
    uint8_t head[FILE_KIND_HEAD];
};

static enum leat_status begin(struct fetcher *f, struct look_up *l, struct fetch_thing *thing, struct leat_error *err)
{
    transfer_free(&l->transfer);
    l->thing = thing;
    l->transfer =
        (struct transfer) { .url = &thing->url, .count = sizeof l->head, .up_to = true, .out = l->head, .context = l };
    return remote_begin(f->remote, &l->transfer, err);
}

static enum leat_status take_answer(struct look_up *l, struct leat_error *err)
{
    const struct transfer *t = &l->transfer;
    bool empty = t->status != LEAT_OK && t->code == 416; /* there is no first byte */

    if (t->status != LEAT_OK && !empty) {
        if (err)
            *err = t->error;
        return t->status;
    }
    l->thing->object.size = empty ? 0 : t->answer.size;
    if (l->thing->object.size == UINT64_MAX)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s: the server does not say how long it is", l->thing->url.name);
    keep_etag(l->thing, t->answer.etag);
    l->thing->head = malloc(t->received + 1);
    if (!l->thing->head)
        return status_no_memory(err, t->received + 1);
    memcpy(l->thing->head, l->head, t->received);
    l->thing->head_bytes = t->received;
    return LEAT_OK;
}

static struct fetch_thing *next_unknown(struct fetch_thing *const *things, size_t count, size_t *at)
{
    while (*at < count && things[*at]->known)
        ++*at;
    return *at < count ? things[(*at)++] : NULL;
}

enum leat_status fetch_look_up(struct fetcher *f, struct fetch_thing *const *things, size_t count,
                               const struct input_stop *stop, struct leat_error *err)
{
    struct look_up all[AT_ONCE] = { { .thing = NULL } };
    struct fetch_thing *thing = NULL;
    struct transfer *done = NULL;
    enum leat_status s = LEAT_OK;
    size_t at = 0;

    f->stop = stop;
    for (unsigned i = 0; s == LEAT_OK && i < AT_ONCE && (thing = next_unknown(things, count, &at)); i++)
        s = begin(f, &all[i], thing, err);
    while (s == LEAT_OK) {
        s = remote_wait(f->remote, &done, err);
        if (s != LEAT_OK || !done)
            break;
        s = take_answer(done->context, err);
        if (s == LEAT_OK && (thing = next_unknown(things, count, &at)))
            s = begin(f, done->context, thing, err);
    }
    if (s != LEAT_OK)
        remote_abandon(f->remote);
    for (unsigned i = 0; i < AT_ONCE; i++)
        transfer_free(&all[i].transfer);
    f->stop = NULL;
    return s;
}

void fetch_head(struct fetch_thing *thing, void *out, size_t room, size_t *got)
{
    *got = thing->head_bytes < room ? thing->head_bytes : room;
    if (*got > 0)
        memcpy(out, thing->head, *got);
    free(thing->head); /* there may be many things */
    thing->head = NULL;
    thing->head_bytes = 0;
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
    struct fetch_thing *thing = NULL;
    char *url;
    /* its URL up to the key */
    size_t stem = strlen(l->folder->text) - strlen(l->folder->key);
    char *before = NULL;
    enum leat_status s = text_copy(&before, l->folder->text, stem, err);

    if (s != LEAT_OK)
        return s;
    s = text_join(&url, err, before, stem > 0 && before[stem - 1] == '/' ? "" : "/", key, NULL);
    free(before);
    if (s == LEAT_OK)
        s = fetch_thing_new(&thing, l->f, url, err);
    free(url);
    if (s != LEAT_OK)
        return s;
    thing->object.size = size;
    keep_etag(thing, etag);
    return l->take(l->context, thing, err);
}

enum leat_status fetch_list(struct fetcher *f, const char *url, const struct input_stop *stop, fetch_take *take,
                            void *context, struct leat_error *err)
{
    struct url folder;
    struct listing l = { f, &folder, take, context };
    enum leat_status s = url_parse(&folder, url, err);

    if (s != LEAT_OK)
        return s;
    f->stop = stop;
    s = remote_list(f->remote, &folder, take_listed, &l, err);
    f->stop = NULL;
    url_free(&folder);
    return s;
}
