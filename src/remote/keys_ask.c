/* keys_ask.c: one question to who gives keys, and what its answer says. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "client.h"
#include "text.h"

#define TRIES   3u
#define TURN_MS 100

static const char *const methods[] = { [TRANSFER_GET] = "GET", [TRANSFER_PUT] = "PUT", [TRANSFER_POST] = "POST" };

/* One attempt, to its end. */
static enum leat_status ask_once(const struct remote *r, struct carrying *c, const struct keys_question *q,
                                 struct transfer *t, enum carried *how, struct leat_error *err)
{
    struct request request = {
        .method = methods[q->method], .url = q->url, .stall_seconds = q->seconds, .near = q->near
    };
    uint64_t end = clock_ns() + (uint64_t)4 * q->seconds * 1000000000;
    const char *why;
    enum leat_status s;

    for (unsigned i = 0; i < 2 && q->headers[i]; i++)
        request.headers[request.header_count++] = q->headers[i];
    t->code = 0;
    t->text.size = 0;
    t->no_memory = false;
    s = carrier_library.begin(c, t, &request, err);
    while (s == LEAT_OK && !carrier_library.ended(c, how, &why)) {
        if (atomic_load(&r->given_up) || (r->options.stop && r->options.stop(r->options.context))) {
            carrier_library.cancel(c, t);
            return status_set(err, LEAT_E_STOPPED, "%s: the question was stopped", q->what);
        }
        if (clock_ns() > end) { /* bytes that come one by one */
            carrier_library.cancel(c, t);
            *how = CARRIED_PARTLY;
            break;
        }
        carrier_library.run(c, TURN_MS);
    }
    return s;
}

static enum leat_status judge(const struct keys_question *q, const struct transfer *t, enum carried how,
                              struct leat_error *err)
{
    const char *remedy = q->remedy ? q->remedy : "";

    if (t->no_memory)
        return status_no_memory(err, t->text.size);
    if ((how == CARRIED && t->code == 404) || how == CARRIED_UNREACHABLE)
        return status_set(err, LEAT_E_NO_FILE, "%s: none found", q->what);
    if (how != CARRIED)
        return status_set(err, LEAT_E_IO, "%s: no answer%s", q->what, remedy);
    if (t->code == 200)
        return LEAT_OK;
    return status_set(err, t->code >= 500 ? LEAT_E_IO : LEAT_E_PERMISSION,
                      "%s: the server answered with HTTP status %ld%s", q->what, t->code, remedy);
}

enum leat_status keys_ask(const struct remote *r, const struct keys_question *q, char **answer, struct leat_error *err)
{
    char nothing[] = "";
    struct url url = { .scheme = URL_HTTPS, .text = nothing, .name = nothing };
    struct transfer t = {
        .method = q->method, .url = &url, .body = q->body ? q->body : "", .body_bytes = q->body ? strlen(q->body) : 0
    };
    struct carrying *c = NULL;
    enum carried how = CARRIED;
    enum leat_status s = carrier_library.open(&c, err), ended = LEAT_E_IO;

    *answer = NULL;
    for (unsigned i = 0; i < TRIES && s == LEAT_OK && ended == LEAT_E_IO; i++) {
        s = ask_once(r, c, q, &t, &how, err);
        ended = s == LEAT_OK ? judge(q, &t, how, err) : s;
    }
    if (ended == LEAT_OK)
        ended = text_copy(answer, t.text.size ? (const char *)t.text.bytes : "", t.text.size, err);
    if (t.text.size)
        explicit_bzero(t.text.bytes, t.text.size);
    transfer_free(&t);
    carrier_library.close(c);
    return s == LEAT_OK ? ended : s;
}

enum leat_status keys_member(char **value, const char *json, const char *name, struct leat_error *err)
{
    size_t length = strlen(name), bytes = 0;
    const char *at = json;
    bool text;

    *value = NULL;
    while ((at = strstr(at, name)) && (at == json || at[-1] != '"' || at[length] != '"'))
        at += length;
    if (!at)
        return LEAT_OK;
    at += length + 1;
    at += strspn(at, " \t\r\n:");
    text = *at == '"';
    at += text;
    *value = calloc(1, strlen(at) + 1);
    if (!*value)
        return status_no_memory(err, strlen(at) + 1);
    for (; *at && (text ? *at != '"' : *at >= '0' && *at <= '9'); at++)
        if (*at != '\\') /* "\/" is the only one that keys may have */
            (*value)[bytes++] = *at;
    return LEAT_OK;
}
