/*
 * client.c: transfers under way. A transfer is carried, or waits for its next try; remote_wait() sends what is due
 * and lets the carrier work until one is done. The client has no thread: transfers move on only while somebody
 * waits.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "answer.h"
#include "azure.h"
#include "base/clock.h"
#include "base/random_words.h"
#include "base/status.h"
#include "base/tiny.h"
#include "digest.h"
#include "signature.h"
#include "text.h"
#include "url.h"

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Sends a transfer as a request: its address, its headers and their signature. */

#define FINISH_STALLS 15u /* putting an upload's parts together takes a server minutes, in silence */

static const char *const methods[] = {
    [TRANSFER_GET] = "GET", [TRANSFER_PUT] = "PUT", [TRANSFER_POST] = "POST", [TRANSFER_DELETE] = "DELETE"
};

/* Returns true if requests for `u` are signed, unless they go to a host that gets no key. */
static bool signs(const struct remote *r, const struct url *u)
{
    struct credentials c = keys_of(r, u);

    return (url_in_bucket(u) || url_in_hub(u)) && (c.secret || c.token || c.query);
}

static enum leat_status add_conditions(struct request *q, const struct transfer *t, struct leat_error *err)
{
    /* a file on the Hub has another etag where it is kept */
    bool strong = t->if_match && *t->if_match && !text_begins(t->if_match, "W/") && !url_in_hub(t->url);
    enum leat_status s = LEAT_OK;
    char range[64];

    if (t->count > 0) {
        (void)snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, t->first + t->received,
                       t->first + t->count - 1);
        s = request_add(q, "Range", range, err);
    }
    if (s == LEAT_OK && strong)
        s = request_add(q, "If-Match", t->if_match, err);
    if (s == LEAT_OK && t->only_new)
        s = request_add(q, "If-None-Match", "*", err);
    return s;
}

static enum leat_status add_signature(const struct remote *r, struct request *q, const struct transfer *t,
                                      const struct address *a, struct leat_error *err)
{
    struct credentials c = keys_of(r, t->url);
    char moment[SIGNATURE_TIME], payload[SHA256_HEX], authorization[SIGNATURE_AUTHORIZATION];
    uint8_t hash[SHA256_BYTES];
    struct signed_header headers[4] = { { "host", a->host },
                                        { "x-amz-content-sha256", payload },
                                        { "x-amz-date", moment },
                                        { "x-amz-security-token", c.token } };
    struct signature_request sr = { .method = q->method,
                                    .path = a->path,
                                    .query = t->query ? t->query : "",
                                    .headers = headers,
                                    .header_count = c.token ? 4 : 3,
                                    .payload = payload };
    enum leat_status s = LEAT_OK;

    if (!c.id)
        return request_add_token(q, c.token, err);
    signature_time(time(NULL) + (time_t)r->skew, moment);
    sha256_of(t->body_bytes ? t->body : "", t->body_bytes, hash);
    sha256_hex(hash, payload);
    if (!signature_make(&sr, &c, r->region, moment, authorization))
        return status_argument(err, "AWS_REGION", "AWS_ACCESS_KEY_ID or AWS_REGION is too long");
    for (size_t i = 0; i < sr.header_count && s == LEAT_OK; i++)
        s = request_add(q, headers[i].name, headers[i].value, err);
    if (s == LEAT_OK)
        s = request_add(q, "Authorization", authorization, err);
    return s;
}

static enum leat_status make_address(struct remote *r, const struct url *u, struct address *a, struct leat_error *err)
{
    char *endpoint;
    enum leat_status s;

    if (u->scheme != URL_AZURE)
        return address_make(a, u, keys_endpoint(r, u), r->region, err);
    *a = (struct address) { NULL, NULL, NULL };
    s = r->azure_settled ? LEAT_OK : azure_settle(&r->environment, err);
    r->azure_settled = s == LEAT_OK;
    if (s != LEAT_OK)
        return s;
    s = azure_endpoint(&endpoint, &r->environment, u, err);
    if (s == LEAT_OK)
        s = address_make(a, u, endpoint, r->region, err);
    free(endpoint);
    return s;
}

/* Makes the address of a call of the Hub's API: ENDPOINT/api/... */
static enum leat_status call_address(struct remote *r, struct transfer *t, struct address *a, struct leat_error *err)
{
    const char *endpoint = r->environment.values[SETTING_HUB_ENDPOINT];
    size_t bytes = strlen(endpoint ? endpoint : HUB_ENDPOINT);
    char *base = NULL;
    enum leat_status s;

    if (!t->call)
        return LEAT_OK;
    text_forget(a->url);
    a->url = NULL;
    s = text_copy(&base, endpoint ? endpoint : HUB_ENDPOINT, bytes, err);
    while (s == LEAT_OK && bytes > 0 && base[bytes - 1] == '/')
        base[--bytes] = '\0';
    if (s == LEAT_OK)
        s = text_join(&a->url, err, base, t->call, NULL);
    free(base);
    return s;
}

static enum leat_status send_to(struct remote *r, struct transfer *t, const struct address *a, struct leat_error *err)
{
    struct request q = { .method = methods[t->method], .stall_seconds = r->options.stall_seconds };
    struct credentials c = t->withheld ? (struct credentials) { .id = NULL } : keys_of(r, t->url);
    bool azure = t->url->scheme == URL_AZURE;
    const char *query = t->query && !t->redirected ? t->query : ""; /* the address of a redirect has the query */
    const char *sas = c.query ? c.query : "";
    enum leat_status s;
    char *url;

    if (azure && c.token && !keys_may_be_sent(a->url))
        return status_argument(err, "AZURE_STORAGE_ENDPOINT",
                               "AZURE_STORAGE_ENDPOINT must be https://, or http:// of this machine, for a token of "
                               "Entra ID");
    q.certificates = environment_certificates(&r->environment, t->url->scheme == URL_S3);
    if (t->method == TRANSFER_POST)
        q.stall_seconds *= FINISH_STALLS;
    s = text_join(&url, err, t->redirected ? t->redirected : a->url, *query || *sas ? "?" : "", query,
                  *query && *sas ? "&" : "", sas, NULL);
    if (s != LEAT_OK)
        return s;
    q.url = url;
    s = request_add(&q, "User-Agent", "leat/" LEAT_VERSION, err);
    if (s == LEAT_OK)
        s = add_conditions(&q, t, err);
    if (s == LEAT_OK && azure)
        s = azure_headers(&q, t, a, &c, time(NULL) + (time_t)r->skew, err);
    else if (s == LEAT_OK && signs(r, t->url) && !t->withheld)
        s = add_signature(r, &q, t, a, err);
    if (s == LEAT_OK)
        s = carrier_library.begin(r->carrying, t, &q, err);
    while (q.header_count > 0)
        text_forget(q.headers[--q.header_count]);
    text_forget(url);
    return s;
}

/* Returns true if a variable's value means yes to the Hub's own client. */
static bool is_true(const char *value)
{
    static const char *const words[] = { "1", "on", "yes", "true" };
    unsigned i = 0;

    while (value && i < sizeof words / sizeof *words && strcasecmp(value, words[i]) != 0)
        i++;
    return value && i < sizeof words / sizeof *words;
}

static enum leat_status check_online(const struct remote *r, const struct url *u, struct leat_error *err)
{
    if (!url_in_hub(u) || !is_true(r->environment.values[SETTING_HUB_OFFLINE]))
        return LEAT_OK;
    return status_set_in(err, LEAT_E_UNSUPPORTED, u->name,
                         "%s: the environment says to stay offline (HF_HUB_OFFLINE): unset it, or use what is on this "
                         "machine",
                         u->name);
}

/* Sends a transfer's next attempt. */
static enum leat_status client_send(struct remote *r, struct transfer *t, struct leat_error *err)
{
    struct address a;
    enum leat_status s = make_address(r, t->url, &a, err);

    if (s == LEAT_OK)
        s = check_online(r, t->url, err);
    if (s == LEAT_OK)
        s = call_address(r, t, &a, err);
    t->withheld = s == LEAT_OK && !keys_may_go(r, t->url, t->redirected ? t->redirected : a.url);
    if (s == LEAT_OK && !t->withheld)
        s = keys_prepare(r, t->url, err);
    t->secure = s == LEAT_OK && text_begins(a.url, "https://");

    t->code = 0;
    t->answer = (struct answer) { .size = UINT64_MAX };
    t->text.size = 0;
    t->problem_bytes = t->unkept_bytes = t->head_bytes = 0;
    t->checked = t->refused = t->no_memory = t->too_long = false;
    if (s == LEAT_OK)
        s = send_to(r, t, &a, err);
    address_free(&a);
    if (s == LEAT_OK) {
        t->next = r->under_way;
        r->under_way = t;
        r->counts.requests++;
    }
    return s;
}

/* ---- Judging answers --------------------------------------------------------------------------------------------- */

/* Decides what an attempt came to: done, failed, or to be tried again, and when. */

#define SECOND        ((uint64_t)1000000000)
#define FIRST_WAIT    (SECOND / 10)
#define MAX_WAIT      (20 * SECOND)
#define LONG_WAIT     (2 * SECOND)      /* worth a word */
#define MAX_ASKED     TINY_OR(1u, 300u) /* seconds that a server can ask for, summed over all tries of a transfer */
#define UNKNOWN_TRIES 4u /* tries for a server that has never answered, within a second: mostly it does not exist */
#define MAX_REDIRECTS 10u
#define AZURE_SKEW    600 /* seconds; Azure refuses 15 minutes, with the word that means a wrong key */

/* Returns a random waiting time, at least half of a limit that doubles with each try, so that clients that failed
 * together do not come back together. The default number of tries takes longer than the restart of a server. */
static uint64_t wait_before(struct transfer *t)
{
    uint64_t limit = FIRST_WAIT << (t->tries < 16 ? t->tries - 1 : 15), word;
    uint32_t wanted = t->answer.exhausted > t->answer.retry_after ? t->answer.exhausted : t->answer.retry_after;
    uint32_t left = MAX_ASKED - t->asked, asked = wanted < left ? wanted : left;

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

/* Forgets where a file is kept, which may have changed. Another transfer may have learned the new address meanwhile. */
static void forget_moved(struct transfer *t)
{
    if (t->redirected && t->moved && *t->moved && strcmp(*t->moved, t->redirected) == 0) {
        text_forget(*t->moved);
        *t->moved = NULL;
    }
    text_forget(t->redirected);
    t->redirected = NULL;
}

static bool retry(struct remote *r, struct transfer *t, uint32_t max_tries, const char *why)
{
    char code[ANSWER_CODE], tries[48] = "once";
    uint64_t tenths;

    forget_moved(t); /* another server may have the file */
    if (++t->tries < max_tries)
        return again(r, t, wait_before(t));
    if (t->answer.compressed && t->code >= 200 && t->code < 300)
        why = "the server compresses its answers (Content-Encoding), which leat did not ask for";
    tenths = (clock_ns() - t->began) / (SECOND / 10);
    if (t->tries > 1)
        (void)snprintf(tries, sizeof tries, "%u times in %" PRIu64 ".%" PRIu64 " s", t->tries, tenths / 10,
                       tenths % 10);
    answer_code(t, code);
    if (t->code >= 300 && !*why)
        return fail(t,
                    status_set_in(&t->error, LEAT_E_IO, t->url->name, "%s: the server answered %ld%s%s, %s; try later",
                                  t->url->name, t->code, *code ? " " : "", code, tries));
    return fail(t, status_set_in(&t->error, LEAT_E_IO, t->url->name, "%s: %s, %s", t->url->name,
                                 *why ? why : "the connection broke in the middle of the answer", tries));
}

static bool is_later(const struct transfer *t)
{
    char code[ANSWER_CODE];

    if (t->code == 408 || t->code == 429 || t->code == 500 || (t->code >= 502 && t->code <= 504))
        return true;
    answer_code(t, code);
    return strcmp(code, "RequestTimeout") == 0 || strcmp(code, "SlowDown") == 0 ||
           strcmp(code, "Md5Mismatch") == 0 || /* Azure's word for a body that was damaged on its way */
           (t->code == 409 && strcmp(code, "ConditionalRequestConflict") == 0);
}

static bool is_expired(const char *code)
{
    return strcmp(code, "ExpiredToken") == 0 || strcmp(code, "TokenRefreshRequired") == 0 ||
           strcmp(code, "InvalidAuthenticationInfo") == 0; /* Azure's word for a wrong token of Entra ID */
}

/* Keeps what the Hub says of a file when it redirects: its etag, and where it is kept. */
static void keep_moved(struct transfer *t)
{
    if (*t->answer.etag)
        memcpy(t->version, t->answer.etag, sizeof t->version);
    if (!t->moved)
        return;
    text_forget(*t->moved);
    if (text_join(t->moved, NULL, t->redirected, NULL) != LEAT_OK)
        *t->moved = NULL; /* the next transfer asks again */
}

/* Forgets the address that the Hub gave, which is valid for some time only. Returns true if that may help. */
static bool asks_hub_again(struct transfer *t)
{
    if (!t->redirected || t->moved_tried || t->code < 400)
        return false;
    t->moved_tried = true;
    forget_moved(t);
    return true;
}

/* Changes what the next request needs (clock, keys, region, address), and returns true if that may help. */
static bool adapts(struct remote *r, struct transfer *t)
{
    char code[ANSWER_CODE];
    int64_t skew = t->answer.date - (int64_t)time(NULL);

    if (t->redirected && t->code >= 300 && t->code < 400 && t->redirects < MAX_REDIRECTS && answer_same_version(t)) {
        t->redirects++;
        if (url_in_hub(t->url))
            keep_moved(t);
        return true;
    }
    if (url_in_hub(t->url))
        return asks_hub_again(t);
    if (!signs(r, t->url) || t->withheld || t->code < 300)
        return false;
    answer_code(t, code);
    if ((strcmp(code, "RequestTimeTooSkewed") == 0 ||
         (strcmp(code, "AuthenticationFailed") == 0 && (skew < -AZURE_SKEW || skew > AZURE_SKEW))) &&
        t->answer.date && !t->skew_tried) {
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

/* Returns true for an answer about an empty object. It has no range of bytes, so some servers answer with 416,
 * others with the whole. */
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
                          : fail(t, status_set_in(&t->error, LEAT_E_UNSUPPORTED, t->url->name,
                                                  "%s: the server's answer is empty", t->url->name));
    if (good && !*why)
        return fail(t, LEAT_OK);
    if (is_later(t))
        return retry(r, t, r->options.max_tries, "");
    if (adapts(r, t))
        return again(r, t, 0);
    return fail(t, answer_failed(t, signs(r, t->url), r->environment.values[SETTING_HUB_ENDPOINT], &t->error));
}

/*
 * Returns true if all bytes that were asked for have come, whatever happened to the connection after that: there is
 * nothing left to ask for. (libcurl also gives up a slow connection at the moment in which the last byte comes;
 * lines without end may follow.)
 */
static bool has_all(const struct transfer *t)
{
    return t->code >= 200 && t->code < 300 && t->count > 0 && t->checked && !t->refused && t->received == t->count;
}

/* Returns true if certificates play a part: neither the URL nor its endpoint is http://. */
static bool is_secure(const struct remote *r, const struct url *u)
{
    const char *endpoint = u->scheme == URL_HTTPS ? NULL : keys_endpoint(r, u);

    return u->scheme != URL_HTTP && !(endpoint && text_begins(endpoint, "http://"));
}

/* Judges an attempt: it is done with t->status, or will be tried again at t->not_before. */
static bool client_is_done(struct remote *r, struct transfer *t, enum carried how, const char *why)
{
    uint32_t max_tries = r->options.max_tries;

    r->counts.bytes += t->count ? 0 : t->text.size;
    r->answered |= how == CARRIED;
    if (t->no_memory)
        return fail(t, status_no_memory(&t->error, t->text.size));
    if (url_in_hub(t->url) && t->redirected && t->code < 300 && *t->version)
        memcpy(t->answer.etag, t->version, sizeof t->answer.etag);
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
        return fail(t,
                    status_set_in(&t->error, LEAT_E_IO, t->url->name, "%s: %s%s", t->url->name, why,
                                  is_secure(r, t->url)
                                      ? "; if it is about certificates, install the system's (ca-certificates), or let "
                                        "SSL_CERT_FILE name a file of them"
                                      : ""));
    }
}

/* ---- Transfers under way ----------------------------------------------------------------------------------------- */

#define STANDARD_TRIES  10u
#define STANDARD_STALL  20u
#define STANDARD_REGION "us-east-1"
#define STANDARD_LISTED ((uint64_t)1000000)
#define TURN_MS         100 /* milliseconds that a caller which wants to stop may have to wait */
#define MILLISECOND     ((uint64_t)1000000)

static enum leat_status read_settings(struct remote *r, struct leat_error *err)
{
    const struct environment *e = &r->environment;
    const char *tries = e->values[SETTING_ATTEMPTS], *region = e->values[SETTING_REGION];
    const char *listed = e->values[SETTING_LISTED];
    uint64_t number = 0;

    r->max_listed = STANDARD_LISTED;
    if (listed && (!answer_number(listed, strlen(listed), &r->max_listed) || r->max_listed == 0))
        return status_argument(err, "LEAT_MAX_LISTED", "LEAT_MAX_LISTED must be a number above 0");
    if (!r->options.stall_seconds)
        r->options.stall_seconds = STANDARD_STALL;
    if (!r->options.max_tries && tries &&
        (!answer_number(tries, strlen(tries), &number) || number == 0 || number > 1000))
        return status_argument(err, "AWS_MAX_ATTEMPTS", "AWS_MAX_ATTEMPTS must be a number from 1 to 1000");
    if (!r->options.max_tries)
        r->options.max_tries = number ? (uint32_t)number : STANDARD_TRIES;
    if (e->values[SETTING_ID] && !e->values[SETTING_SECRET])
        return status_argument(err, "AWS_SECRET_ACCESS_KEY",
                               "the AWS access key id has no secret key; set AWS_SECRET_ACCESS_KEY");
    if (e->foreign && !e->by_variables)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "the AWS profile gets its keys by %s, which leat does not support; set AWS_ACCESS_KEY_ID and "
                          "the others to what `aws configure export-credentials` prints",
                          e->foreign);
    if (!region)
        region = STANDARD_REGION;
    if (strlen(region) >= sizeof r->region || !address_is_region(region))
        return status_argument(err, "AWS_REGION", "AWS_REGION is not the name of a region, such as us-east-1");
    memcpy(r->region, region, strlen(region) + 1);
    return LEAT_OK;
}

enum leat_status remote_open(struct remote **out, const struct remote_options *options, struct leat_error *err)
{
    struct remote *r = calloc(1, sizeof *r);
    enum leat_status s;

    *out = NULL;
    if (!r)
        return status_no_memory(err, sizeof *r);
    if (options)
        r->options = *options;
    s = environment_read(&r->environment, err);
    if (s == LEAT_OK)
        s = read_settings(r, err);
    if (s == LEAT_OK)
        s = carrier_library.open(&r->carrying, err);
    if (s == LEAT_OK)
        *out = r;
    else
        remote_close(r);
    return s;
}

void remote_close(struct remote *r)
{
    if (!r)
        return;
    carrier_library.close(r->carrying);
    environment_free(&r->environment);
    for (unsigned i = 0; i < KEYS_OWNERS; i++)
        keys_free(&r->keys[i]);
    free(r);
}

enum leat_status remote_check_listed(const struct remote *r, uint64_t objects, const struct url *url,
                                     struct leat_error *err)
{
    if (objects <= r->max_listed)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_UNSUPPORTED, url->name,
                         "%s: the server lists more than %" PRIu64 " objects; name a folder with fewer, or set "
                         "LEAT_MAX_LISTED to how many may be listed",
                         url->name, r->max_listed);
}

void remote_count(const struct remote *r, struct remote_counts *counts)
{
    *counts = r->counts;
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

static void leave(struct transfer **list, const struct transfer *t)
{
    while (*list != t)
        list = &(*list)->next;
    *list = t->next;
}

enum leat_status remote_begin(struct remote *r, struct transfer *t, struct leat_error *err)
{
    t->status = LEAT_OK;
    t->received = t->not_before = 0;
    t->tries = t->redirects = t->asked = 0;
    t->began = clock_ns();
    t->skew_tried = t->region_tried = t->keys_tried = t->moved_tried = false;
    t->version[0] = '\0';
    if (t->moved && *t->moved && !t->redirected) {
        enum leat_status s = text_join(&t->redirected, err, *t->moved, NULL);

        if (s != LEAT_OK)
            return s;
    }
    return client_send(r, t, err);
}

/* Sends one transfer that is due. Returns false if none is; *until is how many milliseconds to wait at most. */
static bool send_due(struct remote *r, struct transfer **failed, int *until)
{
    uint64_t now = clock_ns();

    *until = TURN_MS;
    *failed = NULL;
    for (struct transfer **t = &r->waiting; *t; t = &(*t)->next) {
        struct transfer *due = *t;

        if (due->not_before <= now) {
            *t = due->next;
            due->status = client_send(r, due, &due->error);
            if (due->status != LEAT_OK)
                *failed = due;
            return true;
        }
        if (due->not_before - now < TURN_MS * MILLISECOND && (int)((due->not_before - now) / MILLISECOND) + 1 < *until)
            *until = (int)((due->not_before - now) / MILLISECOND) + 1;
    }
    return false;
}

static struct transfer *take_ended(struct remote *r)
{
    enum carried how;
    const char *why;
    struct transfer *t;

    while ((t = carrier_library.ended(r->carrying, &how, &why))) {
        leave(&r->under_way, t);
        if (client_is_done(r, t, how, why))
            return t;
        t->next = r->waiting;
        r->waiting = t;
    }
    return NULL;
}

/* Calls the option `waits`, once for each time that all transfers must wait. */
static void tell_waits(struct remote *r)
{
    const struct transfer *first = r->waiting;
    uint64_t now = clock_ns();
    char why[REMOTE_WAITS], answered[64] = "does not answer";

    if (!r->options.waits || r->under_way || !first)
        return;
    for (const struct transfer *t = first->next; t; t = t->next)
        if (t->not_before < first->not_before)
            first = t;
    if (first->not_before <= r->told || first->not_before < now + LONG_WAIT)
        return;
    r->told = first->not_before;
    if (first->code)
        (void)snprintf(answered, sizeof answered, "answered %ld%s", first->code,
                       first->code == 429 ? ", too many requests" : "");
    (void)snprintf(why, sizeof why, "%.1000s: the server %s; waiting %" PRIu64 " s, then it is asked again",
                   first->url->name, answered, (first->not_before - now) / SECOND);
    r->options.waits(r->options.context, why);
}

/* Waits for the time, since libcurl waits only for connections. */
static void pass_time(struct remote *r, int milliseconds)
{
    struct timespec time = { 0, (long)milliseconds * (long)MILLISECOND };

    if (r->under_way)
        carrier_library.run(r->carrying, milliseconds);
    else
        (void)nanosleep(&time, NULL);
}

void remote_wake(struct remote *r)
{
    atomic_store(&r->woken, true);
    carrier_library.wake(r->carrying);
}

void remote_give_up(struct remote *r)
{
    atomic_store(&r->given_up, true);
    remote_wake(r);
}

enum leat_status remote_wait(struct remote *r, struct transfer **done, struct leat_error *err)
{
    bool woken = false;
    int until;

    for (;;) {
        *done = take_ended(r);
        while (!*done && send_due(r, done, &until)) /* a transfer that has just ended may have to be tried again at
                                                       once */
            ;
        if (*done || (!r->under_way && !r->waiting))
            return LEAT_OK;
        if (r->options.stop && r->options.stop(r->options.context))
            return status_set(err, LEAT_E_STOPPED, "the transfer was stopped");
        if (woken)
            return LEAT_E_AGAIN;
        woken = atomic_exchange(&r->woken, false);
        tell_waits(r);
        pass_time(r, woken ? 0 : until); /* transfers under way move on in any case */
    }
}

void remote_abandon(struct remote *r)
{
    for (struct transfer *t = r->under_way; t; t = t->next)
        carrier_library.cancel(r->carrying, t);
    r->under_way = r->waiting = NULL;
}

static bool is_in(const struct transfer *list, const struct transfer *t)
{
    while (list && list != t)
        list = list->next;
    return list;
}

void remote_cancel(struct remote *r, struct transfer *t)
{
    if (is_in(r->under_way, t)) {
        carrier_library.cancel(r->carrying, t);
        leave(&r->under_way, t);
    } else if (is_in(r->waiting, t)) {
        leave(&r->waiting, t);
    }
}

enum leat_status remote_run(struct remote *r, struct transfer *t, struct leat_error *err)
{
    struct transfer *done;
    enum leat_status s = remote_begin(r, t, err);

    if (s == LEAT_OK)
        s = remote_wait(r, &done, err);
    if (s != LEAT_OK) {
        remote_abandon(r);
        return s;
    }
    if (t->status != LEAT_OK && err)
        *err = t->error;
    return t->status;
}
