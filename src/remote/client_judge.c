/* client_judge.c: what an attempt came to: done, failed, or to be tried again, and when. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "base/clock.h"
#include "base/random_words.h"
#include "base/status.h"
#include "base/tiny.h"
#include "client.h"
#include "text.h"

#define SECOND        ((uint64_t)1000000000)
#define FIRST_WAIT    (SECOND / 10)
#define MAX_WAIT      (20 * SECOND)
#define MAX_ASKED     TINY_OR(1u, 300u) /* seconds that a server can ask for, in all tries of a transfer together */
#define UNKNOWN_TRIES 4u /* of a server that has never answered: it does not exist, mostly; within a second */
#define MAX_REDIRECTS 10u

/* A random time, so that clients that failed together do not come back together; at least half of a limit that
 * doubles, so that the standard tries together outlast the restart of a server. */
static uint64_t wait_before(struct transfer *t)
{
    uint64_t limit = FIRST_WAIT << (t->tries < 16 ? t->tries - 1 : 15), word;
    uint32_t left = MAX_ASKED - t->asked, asked = t->answer.retry_after < left ? t->answer.retry_after : left;

    if (limit > MAX_WAIT)
        limit = MAX_WAIT;
    random_words(&word, 1);
    t->asked += asked;
    return asked * SECOND + limit / 2 + word % (limit / 2);
}

static bool fail(struct transfer *t, enum leat_status s)
{
    t->status = s;
    return true;
}

static bool again(struct remote *r, struct transfer *t, uint64_t wait)
{
    t->not_before = clock_ns() + wait;
    r->counts.retries++;
    return false;
}

static bool retry(struct remote *r, struct transfer *t, uint32_t max_tries, const char *why)
{
    char code[ANSWER_CODE], tries[48] = "once";
    uint64_t tenths;

    if (++t->tries < max_tries)
        return again(r, t, wait_before(t));
    if (t->answer.compressed && t->code >= 200 && t->code < 300)
        why = "the server compresses its answers (Content-Encoding), which leat did not ask for";
    tenths = (clock_ns() - t->began) / (SECOND / 10);
    if (t->tries > 1)
        (void)snprintf(tries, sizeof tries, "%u times in %llu.%llu s", t->tries, (unsigned long long)tenths / 10,
                       (unsigned long long)tenths % 10);
    answer_code(t, code);
    if (t->code >= 300 && !*why)
        return fail(t, status_set(&t->error, LEAT_E_IO, "%s: the server answered %ld%s%s, %s; try later", t->url->name,
                                  t->code, *code ? " " : "", code, tries));
    return fail(t, status_set(&t->error, LEAT_E_IO, "%s: %s, %s", t->url->name,
                              *why ? why : "the connection ended in the middle of the answer", tries));
}

static bool is_later(const struct transfer *t)
{
    char code[ANSWER_CODE];

    if (t->code == 408 || t->code == 429 || t->code == 500 || (t->code >= 502 && t->code <= 504))
        return true;
    answer_code(t, code);
    return strcmp(code, "RequestTimeout") == 0 || strcmp(code, "SlowDown") == 0 ||
           (t->code == 409 && strcmp(code, "ConditionalRequestConflict") == 0);
}

static bool is_expired(const char *code)
{
    return strcmp(code, "ExpiredToken") == 0 || strcmp(code, "TokenRefreshRequired") == 0;
}

/* What has to change in the next request, if that helps: clock, keys, region, address. */
static bool adapts(struct remote *r, struct transfer *t)
{
    char code[ANSWER_CODE];
    int64_t skew = t->answer.date - (int64_t)time(NULL);

    if (t->redirected && t->code >= 300 && t->code < 400 && t->redirects < MAX_REDIRECTS) {
        t->redirects++;
        return true;
    }
    if (!client_signs(r, t->url) || t->code < 300)
        return false;
    answer_code(t, code);
    if (strcmp(code, "RequestTimeTooSkewed") == 0 && t->answer.date && !t->skew_tried) {
        t->skew_tried = true;
        r->skew = skew;
        return true;
    }
    if (is_expired(code) && !t->keys_tried && keys_expired(r, t->url)) {
        t->keys_tried = true;
        return true;
    }
    if (*t->answer.region && strcmp(t->answer.region, r->region) != 0 && !t->region_tried &&
        (t->code == 301 || t->code == 307 || t->code == 400 || t->code == 403)) {
        t->region_tried = true;
        memcpy(r->region, t->answer.region, sizeof r->region);
        return true;
    }
    return false;
}

/* What has no bytes at all has no range of them either: some servers then answer with 416, some with the whole. */
static bool is_empty(const struct transfer *t)
{
    return t->code == 200 && t->up_to && t->first == 0 && !t->checked && t->answer.size == 0;
}

static bool judge_answer(struct remote *r, struct transfer *t, const char *why)
{
    bool good = t->code >= 200 && t->code < 300 && !t->refused;

    if (good && !*why && is_empty(t))
        return fail(t, LEAT_OK);
    if (good && t->count > 0 && t->received < t->count && !t->too_long)
        return t->checked ? retry(r, t, r->options.max_tries, why)
                          : fail(t, status_set(&t->error, LEAT_E_UNSUPPORTED, "%s: the server's answer is empty",
                                               t->url->name));
    if (good && !*why)
        return fail(t, LEAT_OK);
    if (is_later(t))
        return retry(r, t, r->options.max_tries, "");
    if (adapts(r, t))
        return again(r, t, 0);
    return fail(t, answer_failed(t, client_signs(r, t->url), &t->error));
}

/* All bytes that were asked for have come, whatever happened to the connection after that (libcurl also gives up one
 * that was slow in the very moment in which the last byte comes; lines without end may follow): there is nothing left
 * to ask for. */
static bool has_all(const struct transfer *t)
{
    return t->code >= 200 && t->code < 300 && t->count > 0 && t->checked && !t->refused && t->received == t->count;
}

/* Whether certificates play a part: not with http://, also of an endpoint for buckets. */
static bool is_secure(const struct remote *r, const struct url *u)
{
    const char *endpoint = r->environment.values[SETTING_ENDPOINT];

    return u->scheme != URL_HTTP && !(endpoint && url_in_bucket(u) && text_begins(endpoint, "http://"));
}

bool client_is_done(struct remote *r, struct transfer *t, enum carried how, const char *why)
{
    uint32_t max_tries = r->options.max_tries;

    r->counts.bytes += t->count ? 0 : t->text.size;
    r->answered |= how == CARRIED;
    if (t->no_memory)
        return fail(t, status_no_memory(&t->error, t->text.size));
    if (has_all(t))
        return fail(t, LEAT_OK);
    if (t->too_long)
        why = "the server's answer is too long";
    switch (how) {
    case CARRIED:
        return judge_answer(r, t, why);
    case CARRIED_PARTLY:
        return retry(r, t, max_tries, why);
    case CARRIED_UNREACHABLE:
        return retry(r, t, r->answered || max_tries < UNKNOWN_TRIES ? max_tries : UNKNOWN_TRIES, why);
    default:
        return fail(t, status_set(&t->error, LEAT_E_IO, "%s: %s%s", t->url->name, why,
                                  is_secure(r, t->url)
                                      ? "; if it is about certificates, install the system's (ca-certificates)"
                                      : ""));
    }
}
