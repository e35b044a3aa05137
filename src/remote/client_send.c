/* client_send.c: a transfer as a request: its address, its headers and their signature. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "address.h"
#include "base/clock.h"
#include "base/status.h"
#include "client.h"
#include "sha256.h"
#include "signature.h"
#include "text.h"

#define FINISH_STALLS 15u /* putting an upload's parts together takes a server minutes, in silence */

static const char *const methods[] = {
    [TRANSFER_GET] = "GET", [TRANSFER_PUT] = "PUT", [TRANSFER_POST] = "POST", [TRANSFER_DELETE] = "DELETE"
};

bool client_signs(const struct remote *r, const struct url *u)
{
    return url_in_bucket(u) && (keys_of(r, u).id || keys_of(r, u).token);
}

static enum leat_status add(struct request *q, const char *name, const char *value, struct leat_error *err)
{
    enum leat_status s = text_join(&q->headers[q->header_count], err, name, ": ", value, NULL);

    q->header_count += s == LEAT_OK;
    return s;
}

static void free_headers(struct request *q)
{
    while (q->header_count > 0)
        text_forget(q->headers[--q->header_count]);
}

static enum leat_status add_conditions(struct request *q, const struct transfer *t, struct leat_error *err)
{
    bool strong = t->if_match && *t->if_match && !text_begins(t->if_match, "W/");
    enum leat_status s = LEAT_OK;
    char range[64];

    if (t->count > 0) {
        (void)snprintf(range, sizeof range, "bytes=%llu-%llu", (unsigned long long)(t->first + t->received),
                       (unsigned long long)(t->first + t->count - 1));
        s = add(q, "Range", range, err);
    }
    if (s == LEAT_OK && strong)
        s = add(q, "If-Match", t->if_match, err);
    if (s == LEAT_OK && t->only_new)
        s = add(q, "If-None-Match", "*", err);
    return s;
}

/* Google's, in place of a signature. */
static enum leat_status add_token(struct request *q, const char *token, struct leat_error *err)
{
    char *value;
    enum leat_status s = text_join(&value, err, "Bearer ", token, NULL);

    if (s == LEAT_OK) {
        s = add(q, "Authorization", value, err);
        text_forget(value);
    }
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
        return add_token(q, c.token, err);
    signature_time(time(NULL) + (time_t)r->skew, moment);
    sha256_of(t->body_bytes ? t->body : "", t->body_bytes, hash);
    sha256_hex(hash, payload);
    if (!signature_make(&sr, &c, r->region, moment, authorization))
        return status_set(err, LEAT_E_ARGUMENT, "AWS_ACCESS_KEY_ID or AWS_REGION is too long to be one");
    for (size_t i = 0; i < sr.header_count && s == LEAT_OK; i++)
        s = add(q, headers[i].name, headers[i].value, err);
    if (s == LEAT_OK)
        s = add(q, "Authorization", authorization, err);
    return s;
}

static enum leat_status send_to(struct remote *r, struct transfer *t, const struct address *a, struct leat_error *err)
{
    struct request q = { .method = methods[t->method], .stall_seconds = r->options.stall_seconds };
    enum leat_status s;
    char *url;

    if (t->method == TRANSFER_POST)
        q.stall_seconds *= FINISH_STALLS;
    s = text_join(&url, err, t->redirected ? t->redirected : a->url, t->query ? "?" : "", t->query ? t->query : "",
                  NULL);
    if (s != LEAT_OK)
        return s;
    q.url = url;
    s = add(&q, "User-Agent", "leat/" LEAT_VERSION, err);
    if (s == LEAT_OK)
        s = add_conditions(&q, t, err);
    if (s == LEAT_OK && client_signs(r, t->url))
        s = add_signature(r, &q, t, a, err);
    if (s == LEAT_OK)
        s = carrier_library.begin(r->carrying, t, &q, err);
    free_headers(&q);
    text_forget(url);
    return s;
}

enum leat_status client_send(struct remote *r, struct transfer *t, struct leat_error *err)
{
    struct address a;
    enum leat_status s = address_make(&a, t->url, r->environment.values[SETTING_ENDPOINT], r->region, err);

    if (s == LEAT_OK)
        s = keys_prepare(r, t->url, err);

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
