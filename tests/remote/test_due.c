/*
 * test_due.c: a transfer that is to be tried again at once is: the client does not wait while one is due.
 *
 * Seen before: a request that a server had sent elsewhere lay for 100 ms before it was sent there.
 */
#include "base/clock.h"
#include "remote/client.h"
#include "support/small_server.h"
#include "t.h"

static void answer(const char *request, char *out)
{
    bool moved = strncmp(request, "GET /moved", 10) == 0;

    small_server_say(out, moved ? "302 Found" : "200 OK", moved ? "Location: /here\r\n" : "", moved ? "" : "h");
}

static unsigned waits;

/* Is asked before each wait. */
static bool nothing_is_due(void *client)
{
    struct remote *r = *(struct remote **)client;

    waits++;
    for (const struct transfer *t = r->waiting; t; t = t->next)
        T_CHECK(t->not_before > clock_ns());
    return false;
}

int main(void)
{
    struct remote *r = NULL;
    struct remote_options options = { .stop = nothing_is_due, .context = &r };
    struct remote_object object;
    struct small_server server;
    struct leat_error err;
    char name[64];
    struct url url;

    small_server_open(&server, answer);
    snprintf(name, sizeof name, "%s/moved", server.url);
    T_OK(url_parse(&url, name, &t_err));
    if (remote_open(&r, &options, &err) == LEAT_E_UNSUPPORTED)
        return t_skip(err.message);
    T_OK(remote_stat(r, &url, &object, &t_err));
    T_EQ(object.size, 1);
    T_CHECK(waits > 0);
    remote_close(r);
    url_free(&url);
    small_server_close(&server);
    return t_end();
}
