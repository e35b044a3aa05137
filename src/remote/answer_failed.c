/* answer_failed.c: the sentences for answers that say no. A message of a server is not repeated: it may quote the
 * request with its key. */
#include <string.h>

#include "answer.h"
#include "base/status.h"
#include "xml.h"

void answer_code(const struct transfer *t, char code[ANSWER_CODE])
{
    uint8_t problem[TRANSFER_ERROR_BODY]; /* texts are decoded in place */
    struct xml_text text;
    struct xml x;

    code[0] = '\0';
    memcpy(problem, t->problem, sizeof problem);
    xml_begin(&x, problem, t->problem_bytes);
    while (xml_next(&x, &text))
        if (xml_is(&x, "Error/Code") && text.bytes < ANSWER_CODE) {
            memcpy(code, text.at, text.bytes);
            code[text.bytes] = '\0';
        }
    if (strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.") != strlen(code))
        code[0] = '\0';
}

/* What S3's words mean for the one who reads them. */
static const struct {
    const char *code;
    enum leat_status status;
    const char *sentence;
} words[] = {
    { "NoSuchBucket", LEAT_E_NO_FILE, "the bucket does not exist" },
    { "NoSuchUpload", LEAT_E_STATE, "somebody ended this upload meanwhile; start again" },
    { "ExpiredToken", LEAT_E_PERMISSION, "the credentials have expired; get new ones and run this again" },
    { "TokenRefreshRequired", LEAT_E_PERMISSION, "the credentials have expired; get new ones and run this again" },
    { "InvalidToken", LEAT_E_PERMISSION, "the session token (AWS_SESSION_TOKEN) does not belong to the access key" },
    { "InvalidAccessKeyId", LEAT_E_PERMISSION,
      "the server does not know this access key; check AWS_ACCESS_KEY_ID, AWS_PROFILE and AWS_ENDPOINT_URL" },
    { "SignatureDoesNotMatch", LEAT_E_PERMISSION,
      "the server does not accept the signature; check AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL" },
    { "RequestTimeTooSkewed", LEAT_E_PERMISSION, "the clock of this machine or of the server is wrong" },
    { "AuthorizationHeaderMalformed", LEAT_E_PERMISSION, "the bucket is in another region; set AWS_REGION" },
    { "PermanentRedirect", LEAT_E_PERMISSION, "the bucket is in another region; set AWS_REGION" },
};

/* By the hint it is told from a dataset whose two files do not match, which is damage. */
static enum leat_status has_changed(const struct transfer *t, struct leat_error *err)
{
    return status_set_hint(err, LEAT_E_MISMATCH, LEAT_HINT_AGAIN, "%s has changed while it was read; start again",
                           t->url->name);
}

static enum leat_status by_code(const struct transfer *t, bool signed_by_key, struct leat_error *err)
{
    const char *name = t->url->name;

    switch (t->code) {
    case 401:
    case 403:
        if (url_in_bucket(t->url) && !signed_by_key)
            return status_set(err, LEAT_E_PERMISSION,
                              "%s: the server wants credentials, and none were found: set AWS_ACCESS_KEY_ID and "
                              "AWS_SECRET_ACCESS_KEY, or give this machine a role",
                              name);
        return status_set(err, LEAT_E_PERMISSION, "%s: the server does not allow that (%ld)", name, t->code);
    case 404:
    case 410:
        return status_set(err, LEAT_E_NO_FILE, "%s does not exist", name);
    case 409:
    case 412:
        if (t->only_new)
            return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                                   "%s already exists; choose another name or replace it", name);
        return has_changed(t, err);
    case 416:
        return status_set_hint(err, LEAT_E_TRUNCATED, LEAT_HINT_AGAIN, "%s is shorter than it was; start again", name);
    default:
        if (t->code >= 300 && t->code < 400 && t->redirects > 0)
            return status_set(err, LEAT_E_UNSUPPORTED,
                              "%s: the server sends to another address again and again (%ld, after %u times)", name,
                              t->code, t->redirects);
        if (t->code >= 300 && t->code < 400)
            return status_set(err, LEAT_E_UNSUPPORTED, "%s: the server sends to another address (%ld); give that one",
                              name, t->code);
        return status_set(err, LEAT_E_IO, "%s: the server answered %ld", name, t->code);
    }
}

enum leat_status answer_failed(const struct transfer *t, bool signed_by_key, struct leat_error *err)
{
    bool good = t->code >= 200 && t->code < 300, range = good && t->count > 0 && !t->too_long;
    char code[ANSWER_CODE];
    enum leat_status s;

    if (range && !answer_same_version(t))
        return has_changed(t, err);
    if (range)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s: the server gives other bytes than those asked for: it does "
                          "not serve parts of files",
                          t->url->name);
    if (good)
        return status_set(err, LEAT_E_IO, "%s: the server's answer is too long", t->url->name);
    answer_code(t, code);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(code, words[i].code) == 0)
            return status_set(err, words[i].status, "%s: %s", t->url->name, words[i].sentence);
    s = by_code(t, signed_by_key, err);
    if (*code && err)
        status_after(err, " (%s)", code);
    return s;
}
