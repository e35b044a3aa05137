/*
 * test_due.c: a transfer that is to be tried again at once is: the client does not wait while one is due. What servers
 * ask to wait is waited for, up to a bound for all tries together: that shows in what the client plans, and takes no
 * time here. Whose bytes have all come is not tried again.
 */
#include "base/clock.h"
#include "remote/client.h"
#include "support/small_server.h"
#include "t.h"

#define SECOND ((uint64_t)1000000000)
#define LATER  10u  /* answers that say it */
#define ASKED  200u /* seconds */
#define MOST   300u

static void answer(const char *request, char *out)
{
    static unsigned later; /* in the server's process */
    bool moved = strncmp(request, "GET /moved", 10) == 0;

    if (strncmp(request, "GET /later", 10) == 0 && later++ < LATER) {
        small_server_say(out, "503 Service Unavailable", "Retry-After: 200\r\n", "");
        return;
    }
    if (strncmp(request, "GET /all", 8) == 0) { /* and no end after it */
        snprintf(out, SMALL_SERVER_ROOM,
                 "HTTP/1.1 206 Partial Content\r\nConnection: close\r\nContent-Range: bytes 0-0/1\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n");
        return;
    }
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

static unsigned planned;

/* Looks at how long a transfer is to wait, and lets it come at once. */
static bool look_at_plan(void *client)
{
    struct remote *r = *(struct remote **)client;
    struct transfer *t = r->waiting;
    uint64_t now = clock_ns();

    if (t && t->not_before > 0) {
        uint64_t before = planned * ASKED < MOST ? planned * ASKED : MOST;
        uint64_t wait = t->not_before > now ? t->not_before - now : 0;
        uint64_t own = (SECOND / 10) << planned; /* doubles, up to 20 s */

        own = own < 20 * SECOND ? own : 20 * SECOND;
        planned++;
        T_EQ(t->asked, planned * ASKED < MOST ? planned * ASKED : MOST);
        T_CHECK(wait <= (t->asked - before) * SECOND + own);
        T_CHECK(2 * wait >= (t->asked - before) * SECOND); /* of which 50 s can pass before this looks */
        t->not_before = 0;
    }
    return false;
}

static enum leat_status get(const struct small_server *server, const char *what, bool (*look)(void *client),
                            uint64_t retries)
{
    struct remote *r = NULL;
    struct remote_options options = { .stop = look, .context = &r, .max_tries = LATER + 1 };
    struct remote_object object;
    struct url url;

    T_OK(url_parse(&url, t_text("%s/%s", server->url, what), &t_err));
    if (remote_open(&r, &options, &t_err) == LEAT_E_UNSUPPORTED)
        return LEAT_E_UNSUPPORTED;
    T_OK(remote_stat(r, &url, &object, &t_err));
    T_EQ(object.size, 1);
    T_EQ(r->counts.retries, retries);
    remote_close(r);
    url_free(&url);
    return LEAT_OK;
}

int main(void)
{
    struct small_server server;

    small_server_open(&server, answer);
    if (get(&server, "moved", nothing_is_due, 1) == LEAT_E_UNSUPPORTED)
        return t_skip(t_err.message);
    T_CHECK(waits > 0);
    get(&server, "later", look_at_plan, LATER);
    T_EQ(planned, LATER);
    get(&server, "all", nothing_is_due, 0);
    small_server_close(&server);
    return t_end();
}
