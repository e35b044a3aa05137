/* answer.c: see answer.h. What an answer's head and body say; nothing in them is believed before it is checked. */
#include "answer.h"
#include "azure.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/status.h"
#include "carrier.h"
#include "text.h"
#include "url.h"
#include "xml.h"

/* ---- Answers that say no ----------------------------------------------------------------------------------------- */

/*
 * The sentences for answers that say no. A message of a server is not repeated: it may quote the request with its key.
 */

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

#define AZURE_KEYS "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or AZURE_STORAGE_SAS_TOKEN"
#define NO_KEYS    "the server requires credentials, and none were found: set "

/* What the codes of S3 and Azure mean for the user. */
static const struct {
    const char *code;
    enum leat_status status;
    const char *sentence;
} words[] = {
    { "NoSuchBucket", LEAT_E_NO_FILE, "the bucket does not exist" },
    { "NoSuchUpload", LEAT_E_STATE, "this upload was ended meanwhile; start again" },
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
    { "ContainerNotFound", LEAT_E_NO_FILE, "the container does not exist" },
    { "ResourceNotFound", LEAT_E_NO_FILE, "this does not exist, or needs " AZURE_KEYS },
    { "NoAuthenticationInformation", LEAT_E_PERMISSION, NO_KEYS AZURE_KEYS },
    { "PublicAccessNotPermitted", LEAT_E_PERMISSION, NO_KEYS AZURE_KEYS },
    { "AuthenticationFailed", LEAT_E_PERMISSION,
      "the server does not accept the signature; check " AZURE_KEYS ", and whether the token has expired" },
    { "AuthorizationPermissionMismatch", LEAT_E_PERMISSION, "the SAS token does not permit this" },
    { "AuthorizationResourceTypeMismatch", LEAT_E_PERMISSION,
      "the SAS token does not permit this: it needs the resource types container and object" },
    { "KeyBasedAuthenticationNotPermitted", LEAT_E_PERMISSION,
      "the account takes no keys: set AZURE_STORAGE_SAS_TOKEN to a token of a user delegation" },
    { "BlobArchived", LEAT_E_UNSUPPORTED, "it is in the archive tier; rehydrate it first" },
    { "LeaseIdMissing", LEAT_E_BUSY, "another program holds a lease on it" },
    { "InvalidBlobOrBlock", LEAT_E_STATE,
      "blocks of another program's upload are in the way; choose another name, or wait a week until they expire" },
};

/* The hint tells it apart from a dataset whose two files do not match, which is damage. */
static enum leat_status has_changed(const struct transfer *t, struct leat_error *err)
{
    return status_set_hint(err, LEAT_E_MISMATCH, LEAT_HINT_AGAIN, t->url->name,
                           "%s has changed while it was read; start again", t->url->name);
}

static enum leat_status by_code(const struct transfer *t, bool signed_by_key, struct leat_error *err)
{
    const char *name = t->url->name;

    switch (t->code) {
    case 401:
    case 403:
        if (url_in_bucket(t->url) && !signed_by_key)
            return status_set_in(err, LEAT_E_PERMISSION, name, "%s: " NO_KEYS "%s", name,
                                 t->url->scheme == URL_AZURE ? AZURE_KEYS
                                                             : "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give "
                                                               "this machine a role");
        return status_set_in(err, LEAT_E_PERMISSION, name, "%s: the server denies access (%ld)", name, t->code);
    case 404:
    case 410:
        return status_set_in(err, LEAT_E_NO_FILE, name, "%s does not exist", name);
    case 409:
    case 412:
        if (t->only_new)
            return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, name,
                                   "%s already exists; choose another name or replace it", name);
        return has_changed(t, err);
    case 416:
        return status_set_hint(err, LEAT_E_TRUNCATED, LEAT_HINT_AGAIN, name, "%s is shorter than it was; start again",
                               name);
    default:
        if (t->code >= 300 && t->code < 400 && t->redirects > 0)
            return status_set_in(err, LEAT_E_UNSUPPORTED, name, "%s: too many redirects (%ld, after %u)", name, t->code,
                                 t->redirects);
        if (t->code >= 300 && t->code < 400)
            return status_set_in(err, LEAT_E_UNSUPPORTED, name,
                                 "%s: the server redirects to another address (%ld); use that one", name, t->code);
        return status_set_in(err, LEAT_E_IO, name, "%s: the server answered %ld", name, t->code);
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
        return status_set_in(err, LEAT_E_UNSUPPORTED, t->url->name,
                             "%s: the server sent other bytes than requested: it does not serve parts of files",
                             t->url->name);
    if (good)
        return status_set_in(err, LEAT_E_IO, t->url->name, "%s: the server's answer is too long", t->url->name);
    answer_code(t, code);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(code, words[i].code) == 0)
            return status_set_in(err, words[i].status, t->url->name, "%s: %s", t->url->name, words[i].sentence);
    s = by_code(t, signed_by_key, err);
    if (*code && err)
        status_after(err, " (%s)", code);
    return s;
}

/* ---- Answers to ranges ------------------------------------------------------------------------------------------- */

#define MAX_HEAD  ((size_t)256 << 10)
#define MAX_MOVED ((size_t)64 << 10) /* of the page that says where else the object is */
#define MAX_TEXT  ((size_t)16 << 20) /* of an answer that is not a range: lists have at most 1,000 entries */

/* ---- The head --------------------------------------------------------------------------------------------------- */

bool answer_number(const char *text, size_t length, uint64_t *value)
{
    uint64_t number = 0;

    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    *value = number;
    return true;
}

/* "bytes 0-99/1234", or with a * for what is not known. Of several such lines the last one counts, and it alone. */
static void take_range(struct answer *a, const char *text, size_t length)
{
    const char *dash = memchr(text, '-', length), *slash = memchr(text, '/', length), *end = text + length;
    uint64_t last;

    a->bytes_of_range = false;
    a->first = 0;
    if (length < 6 || strncasecmp(text, "bytes ", 6) != 0 || !slash)
        return;
    if (answer_number(slash + 1, (size_t)(end - slash - 1), &a->size) && dash && dash < slash)
        a->bytes_of_range = answer_number(text + 6, (size_t)(dash - text - 6), &a->first) &&
                            answer_number(dash + 1, (size_t)(slash - dash - 1), &last) && last < a->size &&
                            a->first <= last;
    if (!a->bytes_of_range)
        a->first = 0;
}

static void copy_value(char *out, size_t room, const char *text, size_t length)
{
    if (length >= room || memchr(text, '\0', length))
        length = 0;
    memcpy(out, text, length);
    out[length] = '\0';
}

/* It becomes a line of files; one with control characters counts as missing. */
static void take_etag(struct answer *a, const char *text, size_t length)
{
    copy_value(a->etag, sizeof a->etag, text, length);
    for (size_t i = 0; a->etag[i]; i++)
        if ((unsigned char)a->etag[i] < ' ' || a->etag[i] == 0x7f)
            a->etag[0] = '\0';
}

/* It becomes a part of a host's name. */
static void take_region(struct answer *a, const char *text, size_t length)
{
    copy_value(a->region, sizeof a->region, text, length);
    if (!address_is_region(a->region))
        a->region[0] = '\0';
}

/* "Fri, 24 May 2013 00:00:00 GMT" */
static int64_t read_date(const char *text, size_t length)
{
    char date[40];
    struct tm utc = { 0 };

    copy_value(date, sizeof date, text, length);
    return strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &utc) ? (int64_t)timegm(&utc) : 0;
}

static bool is_compression(const char *text, size_t length)
{
    char coding[16];

    copy_value(coding, sizeof coding, text, length);
    return strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "deflate") == 0 || strcasecmp(coding, "br") == 0 ||
           strcasecmp(coding, "zstd") == 0;
}

static void take_header(struct transfer *t, const char *name, size_t name_length, const char *value, size_t length)
{
    struct answer *a = &t->answer;
    uint64_t number;

#define IS(wanted) (name_length == strlen(wanted) && strncasecmp(name, wanted, name_length) == 0)
    if (IS("etag"))
        take_etag(a, value, length);
    else if (IS("content-length") && a->size == UINT64_MAX && answer_number(value, length, &number))
        a->size = number;
    else if (IS("content-range"))
        take_range(a, value, length);
    else if (IS("content-encoding"))
        a->compressed = a->compressed || is_compression(value, length);
    else if (IS(AZURE_MADE_OF))
        copy_value(a->made_of, sizeof a->made_of, value, length);
    else if (IS("x-amz-bucket-region"))
        take_region(a, value, length);
    else if (IS("retry-after") && answer_number(value, length, &number))
        a->retry_after = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    else if (IS("date"))
        a->date = read_date(value, length);
#undef IS
}

static void take_line(struct transfer *t, const char *line, size_t bytes)
{
    const char *colon = memchr(line, ':', bytes), *value;
    uint64_t code;

    while (bytes > 0 && strchr("\r\n \t", line[bytes - 1]))
        bytes--;
    if (bytes >= 12 && strncmp(line, "HTTP/", 5) == 0) { /* also after a 100 Continue */
        const char *space = memchr(line, ' ', bytes);

        t->answer = (struct answer) { .size = UINT64_MAX };
        t->code = space && line + bytes - space >= 4 && answer_number(space + 1, 3, &code) ? (long)code : 0;
        return;
    }
    if (!colon || colon >= line + bytes)
        return;
    for (value = colon + 1; value < line + bytes && (*value == ' ' || *value == '\t');)
        value++;
    take_header(t, line, (size_t)(colon - line), value, (size_t)(line + bytes - value));
}

bool answer_line(struct transfer *t, const char *line, size_t bytes)
{
    t->too_long = bytes > MAX_HEAD - t->head_bytes;
    if (t->too_long)
        return false;
    t->head_bytes += bytes;
    take_line(t, line, bytes);
    return true;
}

void answer_redirect(struct transfer *t, const char *url)
{
    bool secure = t->url->scheme != URL_HTTP;

    text_forget(t->redirected);
    t->redirected = NULL;
    if (url && !url_in_bucket(t->url) && (text_begins(url, "https://") || (!secure && text_begins(url, "http://"))))
        t->no_memory |= text_join(&t->redirected, NULL, url, NULL) != LEAT_OK;
}

/* ---- The body --------------------------------------------------------------------------------------------------- */

/* Whether the answer is the range that the transfer wants next, by its code and head. */
static bool answer_is_range(const struct transfer *t)
{
    const struct answer *a = &t->answer;

    if (t->code == 206)
        return a->bytes_of_range && a->first == t->first + t->received;
    return t->code == 200 && t->first == 0 && t->received == 0 && a->size == t->count;
}

/* Whether more of it is worth reading: libcurl says only at its end where else the object is. */
static bool keep_problem(struct transfer *t, const void *bytes, size_t count)
{
    size_t room = sizeof t->problem - t->problem_bytes, most = t->code / 100 == 3 ? MAX_MOVED : sizeof t->problem;

    t->unkept_bytes += count > room ? count - room : 0;
    if (count > room)
        count = room;
    memcpy(t->problem + t->problem_bytes, bytes, count);
    t->problem_bytes += count;
    return t->problem_bytes + t->unkept_bytes < most;
}

bool answer_bytes(struct transfer *t, const void *bytes, size_t count)
{
    if (t->code < 200 || t->code > 299)
        return keep_problem(t, bytes, count);
    if (t->count == 0 && count > MAX_TEXT - t->text.size)
        return false;
    if (t->count == 0) {
        t->no_memory = buffer_append(&t->text, bytes, count, NULL) != LEAT_OK;
        return !t->no_memory;
    }
    if (!t->checked) {
        t->checked = true;
        if (t->up_to && t->answer.size > t->first && t->answer.size - t->first < t->count)
            t->count = t->answer.size - t->first;
        t->refused = !answer_is_range(t) || !answer_same_version(t);
    }
    if (t->refused || count > t->count - t->received)
        return false;
    memcpy(t->out + t->received, bytes, count);
    t->received += count;
    return true;
}

bool answer_same_version(const struct transfer *t)
{
    return !t->if_match || !*t->if_match || !*t->answer.etag || strcmp(t->if_match, t->answer.etag) == 0;
}
