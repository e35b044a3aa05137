/* keys.c: see keys.h: which keys count, and when new ones are asked for. */
#include "keys.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/status.h"
#include "client.h"
#include "text.h"

#define EARLY    300 /* seconds before they expire, and a request takes a while */
#define AGAIN_NS ((uint64_t)30000000000)

static enum keys_owner owner_of(const struct url *u)
{
    return u->scheme == URL_GS ? KEYS_GOOGLE : KEYS_AWS;
}

void keys_free(struct keys *k)
{
    text_forget(k->id);
    text_forget(k->secret);
    text_forget(k->token);
    memset(k, 0, sizeof *k);
}

struct credentials keys_of(const struct remote *r, const struct url *u)
{
    char *const *values = r->environment.values;
    const struct keys *k = &r->keys[owner_of(u)];

    if (values[SETTING_ID]) /* HMAC keys of Google have no token */
        return (struct credentials) { values[SETTING_ID], values[SETTING_SECRET],
                                      u->scheme == URL_GS ? NULL : values[SETTING_TOKEN] };
    return (struct credentials) { k->id, k->secret, k->token };
}

static enum leat_status ask_places(struct remote *r, enum keys_owner owner, struct keys *k, struct leat_error *err)
{
    enum leat_status s = LEAT_E_NO_FILE;

    if (owner == KEYS_GOOGLE)
        return keys_google(r, k, err);
    for (unsigned i = 0; keys_places[i] && s == LEAT_E_NO_FILE; i++)
        s = keys_places[i](r, k, err);
    return s;
}

enum leat_status keys_prepare(struct remote *r, const struct url *u, struct leat_error *err)
{
    struct keys *k = &r->keys[owner_of(u)], got = { .asked = true };
    int64_t now = (int64_t)time(NULL);
    enum leat_status s;

    if (!url_in_bucket(u) || r->environment.values[SETTING_ID] || (k->asked && !k->token) ||
        (k->asked && (now < k->expires - EARLY || clock_ns() < k->again)))
        return LEAT_OK;
    s = ask_places(r, owner_of(u), &got, err);
    if (s == LEAT_OK || (s == LEAT_E_NO_FILE && !k->token)) {
        keys_free(k);
        *k = got;
        k->again = now < k->expires - EARLY ? 0 : clock_ns() + AGAIN_NS;
        return LEAT_OK;
    }
    keys_free(&got);
    if (s == LEAT_E_NO_FILE) /* for a caller that would be a thing that does not exist */
        s = status_set(err, LEAT_E_PERMISSION, "%s: the keys have expired, and there are no new ones any more",
                       u->name);
    k->again = clock_ns() + AGAIN_NS;
    return k->token && now < k->expires ? LEAT_OK : s; /* what is left of them is used */
}

bool keys_expired(struct remote *r, const struct url *u)
{
    struct keys *k = &r->keys[owner_of(u)];

    if (r->environment.values[SETTING_ID] || !k->token)
        return false;
    k->expires = 0;
    k->again = 0;
    return true;
}
