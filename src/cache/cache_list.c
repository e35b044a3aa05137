/* cache_list.c: the datasets below a URL that ends in /, as a folder of a disk has them. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "cache_inside.h"

#define SUFFIX ".leat"
#define RUN    "leat-run" /* of a run that was packed in parts */

struct listing {
    const struct url *url;
    cache_list_take *take;
    void *context;
    bool has_run;
};

/* Takes what opens: not what lies deeper, is hidden or not finished. */
static enum leat_status take_key(void *context, const char *key, uint64_t size, const char *etag,
                                 struct leat_error *err)
{
    struct listing *l = context;
    const char *name = key + strlen(l->url->key);
    size_t length = strlen(name), stem = length - strlen(SUFFIX), before = strlen(l->url->name);
    enum leat_status s;
    char *whole;

    (void)size, (void)etag;
    l->has_run |= strcmp(name, RUN) == 0;
    if (strchr(name, '/') || name[0] == '.' || !file_ends_with(name, length, SUFFIX) ||
        file_ends_with(name, stem, ".partial"))
        return LEAT_OK;
    whole = malloc(before + stem + 1);
    if (!whole)
        return status_no_memory(err, before + stem + 1);
    memcpy(whole, l->url->name, before);
    memcpy(whole + before, name, stem);
    whole[before + stem] = '\0';
    s = l->take(l->context, whole, err);
    free(whole);
    return s;
}

/* Reads the start of the run's plan. */
static enum leat_status read_run(struct remote *r, const struct url *folder, char *run, size_t room,
                                 struct leat_error *err)
{
    struct remote_object object;
    struct url url;
    enum leat_status s = url_beside(&url, folder, RUN, err);

    if (s == LEAT_OK)
        s = remote_stat(r, &url, &object, err);
    if (s == LEAT_OK)
        s = remote_read(r, &url, &object, 0, run, object.size < room - 1 ? object.size : room - 1, err);
    url_free(&url);
    return s;
}

enum leat_status cache_list(const char *folder, cache_list_take *take, void *context, char *run, size_t room,
                            struct leat_error *err)
{
    struct listing l = { .take = take, .context = context };
    struct remote *r = NULL;
    struct url url;
    enum leat_status s = url_parse(&url, folder, err);

    memset(run, 0, room);
    if (s != LEAT_OK)
        return s;
    l.url = &url;
    s = remote_open(&r, NULL, err);
    if (s == LEAT_OK)
        s = remote_list(r, &url, take_key, &l, err);
    if (s == LEAT_OK && l.has_run)
        s = read_run(r, &url, run, room, err);
    remote_close(r);
    url_free(&url);
    return s;
}
