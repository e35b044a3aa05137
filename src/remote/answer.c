/* answer.c: reads an answer's head and body. Nothing in them is believed before it is checked. */
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

/* Makes the sentences for answers that refuse. A message of a server is not repeated: it may quote the request with
 * its key. */

void answer_code(const struct transfer *t, char code[ANSWER_CODE])
{
    uint8_t problem[TRANSFER_ERROR_BODY]; /* a copy, since texts are decoded in place */
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
#define ENTRA_KEYS "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
#define NO_KEYS    "the server requires credentials, and none were found: set "

/* What the error codes of S3 and Azure mean for the user. */
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
    { "ResourceNotFound", LEAT_E_NO_FILE, "this does not exist, or needs " AZURE_KEYS ", or " ENTRA_KEYS },
    { "NoAuthenticationInformation", LEAT_E_PERMISSION, NO_KEYS AZURE_KEYS ", or " ENTRA_KEYS },
    { "PublicAccessNotPermitted", LEAT_E_PERMISSION, NO_KEYS AZURE_KEYS ", or " ENTRA_KEYS },
    { "InvalidAuthenticationInfo", LEAT_E_PERMISSION,
      "the server does not accept the token of Entra ID: check AZURE_TENANT_ID and AZURE_CLIENT_ID" },
    { "AuthenticationFailed", LEAT_E_PERMISSION,
      "the server does not accept the signature; check " AZURE_KEYS ", and whether the token has expired" },
    { "AuthorizationPermissionMismatch", LEAT_E_PERMISSION,
      "the SAS token does not permit this, or the identity lacks a role: Storage Blob Data Reader, to write "
      "Contributor" },
    { "AuthorizationResourceTypeMismatch", LEAT_E_PERMISSION,
      "the SAS token does not permit this: it needs the resource types container and object" },
    { "KeyBasedAuthenticationNotPermitted", LEAT_E_PERMISSION,
      "the account takes no keys: set " ENTRA_KEYS ", or AZURE_STORAGE_SAS_TOKEN to a token of a user delegation" },
    { "BlobArchived", LEAT_E_UNSUPPORTED, "it is in the archive tier; rehydrate it first" },
    { "LeaseIdMissing", LEAT_E_BUSY, "another program holds a lease on it" },
    { "InvalidBlobOrBlock", LEAT_E_STATE,
      "blocks of another program's upload are in the way; choose another name, or wait a week until they expire" },
};

/* Says that the object has changed. The hint tells this apart from a dataset whose two files do not match, which is
 * damage. */
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
                                 t->url->scheme == URL_AZURE ? AZURE_KEYS ", or " ENTRA_KEYS
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

/* Says that a repository is missing or not visible: the Hub gives the same answer for both. */
static enum leat_status no_repository(const struct transfer *t, bool has_token, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_NO_FILE, t->url->name,
                         has_token
                             ? "%s: there is no repository %s, or the token (HF_TOKEN, or of `hf auth login`) may "
                               "not read it"
                             : "%s: there is no repository %s, or it is not public: check its name, or set "
                               "HF_TOKEN to a token that may read it",
                         t->url->name, t->url->bucket);
}

/* Fills `err` for an answer of the Hub. `hub` is the address of its pages for people. */
static enum leat_status by_hub(const struct transfer *t, bool has_token, const char *hub, struct leat_error *err)
{
    const char *name = t->url->name, *word = t->answer.error;
    const char *page = text_begins(t->url->bucket, "models/") ? t->url->bucket + strlen("models/") : t->url->bucket;

    if (strcmp(word, "GatedRepo") == 0)
        return status_set_in(err, LEAT_E_PERMISSION, name,
                             "%.300s: this repository is gated: accept its terms at %s/%s, then %s", name, hub, page,
                             has_token ? "run this again; the token (HF_TOKEN, or of `hf auth login`) must be of that "
                                         "account and may have to be allowed to read gated repositories"
                                       : "set HF_TOKEN to a token of that account");
    if (strcmp(word, "RevisionNotFound") == 0)
        return status_set_in(err, LEAT_E_NO_FILE, name, "%s: unknown revision %s of %s", name,
                             t->url->revision ? t->url->revision : HUB_MAIN, t->url->bucket);
    if (t->answer.bad_token)
        return status_set_in(err, LEAT_E_PERMISSION, name,
                             "%s: the Hub does not accept the token; check HF_TOKEN, or run `hf auth login`", name);
    if (strcmp(word, "RepoNotFound") == 0 || (t->code == 401 && !*word))
        return no_repository(t, has_token, err);
    if (strcmp(word, "EntryNotFound") == 0 && t->call)
        return status_set_in(err, LEAT_E_NO_FILE, name, "%s does not exist in that revision", name);
    if (strcmp(word, "EntryNotFound") == 0)
        return status_set_in(err, LEAT_E_NO_FILE, name,
                             "%s does not exist in that revision; if it is a folder, let it end in /", name);
    return LEAT_OK;
}

enum leat_status answer_failed(const struct transfer *t, bool signed_by_key, const char *hub, struct leat_error *err)
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
    if (t->code >= 300 && t->code < 400 && !answer_same_version(t))
        return has_changed(t, err);
    s = url_in_hub(t->url) ? by_hub(t, signed_by_key, hub ? hub : HUB_ENDPOINT, err) : LEAT_OK;
    if (s != LEAT_OK)
        return s;
    if (t->withheld && url_in_bucket(t->url) && (t->code == 401 || t->code == 403)) /* the table in keys.c gives this
                                                                                       host no key */
        return status_set_in(err, LEAT_E_PERMISSION, t->url->name,
                             "%s: the server requires credentials, and leat sends none to this host; if it is yours, "
                             "%s",
                             t->url->name,
                             t->url->scheme == URL_AZURE ? "let AZURE_STORAGE_ENDPOINT name it"
                                                         : "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for it");
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
#define MAX_MOVED ((size_t)64 << 10) /* longest page that says where else the object is */
#define MAX_TEXT  ((size_t)16 << 20) /* longest answer that is not a range: lists have at most 1,000 entries */

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

/* Reads "bytes 0-99/1234", or with a * for what is not known. Of several such lines only the last one counts. */
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

/* Reads an etag, which becomes a line of files: one with control characters counts as missing. */
static void take_etag(struct answer *a, const char *text, size_t length)
{
    copy_value(a->etag, sizeof a->etag, text, length);
    for (size_t i = 0; a->etag[i]; i++)
        if ((unsigned char)a->etag[i] < ' ' || a->etag[i] == 0x7f)
            a->etag[0] = '\0';
}

/* Reads a region, which becomes a part of a host's name. */
static void take_region(struct answer *a, const char *text, size_t length)
{
    copy_value(a->region, sizeof a->region, text, length);
    if (!address_is_region(a->region))
        a->region[0] = '\0';
}

/* Reads a date like "Fri, 24 May 2013 00:00:00 GMT". */
static int64_t read_date(const char *text, size_t length)
{
    char date[40];
    struct tm utc = { 0 };

    copy_value(date, sizeof date, text, length);
    return strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &utc) ? (int64_t)timegm(&utc) : 0;
}

/* Reads the word for an error, which is compared, and shown in a sentence. */
static void take_error(struct answer *a, const char *text, size_t length)
{
    copy_value(a->error, sizeof a->error, text, length);
    if (strspn(a->error, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != strlen(a->error))
        a->error[0] = '\0';
}

/* Reads a rate like '"api";r=0;t=55', perhaps with spaces: no requests are left for 55 seconds. */
static void take_rate(struct answer *a, const char *text, size_t length)
{
    char rate[96], *to = rate;
    const char *left, *seconds;
    uint64_t number;

    copy_value(rate, sizeof rate, text, length);
    for (const char *at = rate; *at; at++)
        if (*at != ' ')
            *to++ = *at;
    *to = '\0';
    left = strstr(rate, ";r=");
    seconds = strstr(rate, ";t=");
    if (left && seconds && strcspn(left + 3, ";,") == 1 && left[3] == '0' &&
        answer_number(seconds + 3, strspn(seconds + 3, "0123456789"), &number))
        a->exhausted = number < UINT32_MAX ? (uint32_t)number + 1 : UINT32_MAX; /* rounded up, since the server
                                                                                   rounds down */
}

/* Returns true if a text can stand in an address unchanged, as a query has to. */
static bool is_query(const char *text)
{
    while ((unsigned char)*text > ' ' && (unsigned char)*text < 0x7f && *text != '#')
        text++;
    return !*text;
}

/* Reads a link like '<https://host/path?QUERY>; rel="next"', perhaps after others. Only its query is kept: where to
 * ask is known. */
static void take_link(struct answer *a, const char *text, size_t length)
{
    static const char next[] = "rel=\"next\"";
    const char *all = text + length, *close, *after, *query;

    for (; (text = memchr(text, '<', (size_t)(all - text))); text = after) {
        close = memchr(text, '>', (size_t)(all - text));
        after = close ? memchr(close, '<', (size_t)(all - close)) : NULL;
        after = after ? after : all;
        if (!close || !memmem(close, (size_t)(after - close), next, strlen(next)))
            continue;
        a->more = true;
        query = memchr(text, '?', (size_t)(close - text));
        copy_value(a->next, sizeof a->next, query ? query + 1 : "", query ? (size_t)(close - query - 1) : 0);
        if (!is_query(a->next))
            a->next[0] = '\0';
        return;
    }
}

static bool is_compression(const char *text, size_t length)
{
    char coding[16];

    copy_value(coding, sizeof coding, text, length);
    return strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "deflate") == 0 || strcasecmp(coding, "br") == 0 ||
           strcasecmp(coding, "zstd") == 0;
}

#define BAD_TOKEN "Invalid credentials in Authorization header"

static void take_header(struct transfer *t, const char *name, size_t name_length, const char *value, size_t length)
{
    struct answer *a = &t->answer;
    uint64_t number;

#define IS(wanted) (name_length == strlen(wanted) && strncasecmp(name, wanted, name_length) == 0)
    if (IS("etag") && !a->linked) {
        take_etag(a, value, length);
    } else if (IS("x-linked-etag")) {
        take_etag(a, value, length);
        a->linked = *a->etag;
    } else if (IS("x-error-code"))
        take_error(a, value, length);
    else if (IS("x-error-message"))
        a->bad_token = length == strlen(BAD_TOKEN) && strncmp(value, BAD_TOKEN, length) == 0;
    else if (IS("ratelimit"))
        take_rate(a, value, length);
    else if (IS("link"))
        take_link(a, value, length);
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
    if (bytes >= 12 && strncmp(line, "HTTP/", 5) == 0) { /* the head of an answer may follow a 100 Continue */
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
    if (url_in_hub(t->url) && !url)
        return; /* an object of the Hub stays where the Hub has sent the client */
    text_forget(t->redirected);
    t->redirected = NULL;
    if (url && !url_in_bucket(t->url) && (text_begins(url, "https://") || (!t->secure && text_begins(url, "http://"))))
        t->no_memory |= text_join(&t->redirected, NULL, url, NULL) != LEAT_OK;
}

/* ---- The body --------------------------------------------------------------------------------------------------- */

/* Returns true if the answer's code and head say that it is the range that the transfer wants next. */
static bool answer_is_range(const struct transfer *t)
{
    const struct answer *a = &t->answer;

    if (t->code == 206)
        return a->bytes_of_range && a->first == t->first + t->received;
    return t->code == 200 && t->first == 0 && t->received == 0 && a->size == t->count;
}

/* Returns true if more of an error's body is worth reading: libcurl says only at its end where else the object is. */
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

/* Returns an etag without its mark as weak, which the Hub adds to compressed answers: its etags stand for files. */
static const char *strong(const struct transfer *t, const char *etag)
{
    return url_in_hub(t->url) && text_begins(etag, "W/") ? etag + 2 : etag;
}

/* Returns true if the answer is about the version of the file that was asked for. The Hub redirects to a server that
 * gives the file another etag; in that case the Hub's own answer has named the version already. */
bool answer_same_version(const struct transfer *t)
{
    return !t->if_match || !*t->if_match || !*t->answer.etag ||
           (url_in_hub(t->url) && t->redirected && t->code >= 200 && t->code < 300) ||
           strcmp(strong(t, t->if_match), strong(t, t->answer.etag)) == 0;
}

void transfer_free(struct transfer *t)
{
    buffer_free(&t->text);
    text_forget(t->redirected);
    t->redirected = NULL;
}
