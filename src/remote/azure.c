/* azure.c: signs requests to Azure. A signature ("Shared Key") is the HMAC of the request's method, some of its
 * headers, its path after the account's name, and its query, each in the form in which the service writes them. */
#include "azure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/status.h"
#include "client.h"
#include "digest.h"
#include "text.h"

#define VERSION  "2021-12-02"
#define SUFFIX   "core.windows.net"
#define MAX_KEY  256u /* bytes */
#define KEY_ROOM BASE64_ROOM(BASE64_TEXT(MAX_KEY))

/* ---- The account ------------------------------------------------------------------------------------------------- */

/* The meaning of "UseDevelopmentStorage=true": the emulator on this machine, whose account everybody knows. */
#define EMULATOR                                                                                                       \
    "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTO"  \
    "tr/KBHBeksoGMGw==;BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1"

/* Sets *value to the value of a name, whatever its case, in NAME=VALUE;...; NULL if the name is missing. */
static enum leat_status take_member(char **value, const char *text, const char *name, struct leat_error *err)
{
    *value = NULL;
    for (const char *at = text; *at; at += strcspn(at, ";"), at += *at == ';') {
        size_t length = strcspn(at, "=;");

        if (length == strlen(name) && strncasecmp(at, name, length) == 0 && at[length] == '=')
            return text_copy(value, at + length + 1, strcspn(at + length + 1, ";"), err);
    }
    return LEAT_OK;
}

/* Sets *endpoint to the endpoint that is named, or one made of the account's name. */
static enum leat_status take_endpoint(char **endpoint, const char *text, const char *account, struct leat_error *err)
{
    char *protocol = NULL, *suffix = NULL;
    enum leat_status s = take_member(endpoint, text, "BlobEndpoint", err);

    if (s == LEAT_OK)
        s = take_member(&protocol, text, "DefaultEndpointsProtocol", err);
    if (s == LEAT_OK)
        s = take_member(&suffix, text, "EndpointSuffix", err);
    if (s == LEAT_OK && !*endpoint && account && (protocol || suffix))
        s = text_join(endpoint, err, protocol ? protocol : "https", "://", account, ".blob.", suffix ? suffix : SUFFIX,
                      NULL);
    free(protocol);
    free(suffix);
    return s;
}

static enum leat_status take_string(struct environment *e, struct leat_error *err)
{
    static const char *const names[] = { "AccountName", "AccountKey", "SharedAccessSignature" };
    const char *text = e->values[SETTING_AZURE];
    enum leat_status s = LEAT_OK;

    if (strncasecmp(text, "UseDevelopmentStorage=true", strlen("UseDevelopmentStorage=true")) == 0)
        text = EMULATOR;
    for (unsigned i = SETTING_AZURE_ACCOUNT; i <= SETTING_AZURE_ENDPOINT; i++) {
        text_forget(e->values[i]);
        e->values[i] = NULL;
    }
    for (unsigned i = 0; i < 3 && s == LEAT_OK; i++)
        s = take_member(&e->values[SETTING_AZURE_ACCOUNT + i], text, names[i], err);
    if (s == LEAT_OK)
        s = take_endpoint(&e->values[SETTING_AZURE_ENDPOINT], text, e->values[SETTING_AZURE_ACCOUNT], err);
    if (s == LEAT_OK && !e->values[SETTING_AZURE_ACCOUNT] && !e->values[SETTING_AZURE_ENDPOINT])
        return status_argument(
            err, "AZURE_STORAGE_CONNECTION_STRING",
            "AZURE_STORAGE_CONNECTION_STRING names no account: it has AccountName=...;AccountKey=...");
    return s;
}

static bool read_key(const char *text, uint8_t key[KEY_ROOM], size_t *bytes)
{
    return strlen(text) < BASE64_TEXT(MAX_KEY) && base64_decode(key, bytes, (const uint8_t *)text, strlen(text)) &&
           *bytes > 0;
}

enum leat_status azure_settle(struct environment *e, struct leat_error *err)
{
    char **values = e->values, *sas;
    uint8_t key[KEY_ROOM];
    enum leat_status s = values[SETTING_AZURE] ? take_string(e, err) : LEAT_OK;
    size_t bytes;

    if (s != LEAT_OK)
        return s;
    sas = values[SETTING_AZURE_SAS];
    if (sas && *sas == '?') /* the portal gives SAS tokens with a leading ? */
        memmove(sas, sas + 1, strlen(sas));
    if (sas && strpbrk(sas, " \t\r\n#?"))
        return status_argument(err, "AZURE_STORAGE_SAS_TOKEN",
                               "AZURE_STORAGE_SAS_TOKEN is not a token like sv=...&sig=...");
    if (values[SETTING_AZURE_KEY] && !read_key(values[SETTING_AZURE_KEY], key, &bytes))
        s = status_argument(err, "AZURE_STORAGE_KEY", "AZURE_STORAGE_KEY is not a key of an account, which is base64");
    explicit_bzero(key, sizeof key);
    if (s == LEAT_OK && values[SETTING_AZURE_ENDPOINT] && !address_is_endpoint(values[SETTING_AZURE_ENDPOINT]))
        return status_argument(err, "AZURE_STORAGE_ENDPOINT",
                               "AZURE_STORAGE_ENDPOINT (or BlobEndpoint of AZURE_STORAGE_CONNECTION_STRING) must be "
                               "https://HOST or http://HOST, without a user, a password or a ?");
    return s;
}

/* Returns true if the variables are about the account of a URL. */
static bool is_theirs(const struct environment *e, const struct url *u)
{
    const char *account = e->values[SETTING_AZURE_ACCOUNT];

    return !u->host || !account || (strncmp(u->host, account, strlen(account)) == 0 && u->host[strlen(account)] == '.');
}

struct credentials azure_keys(const struct environment *e, const struct url *u)
{
    char *const *values = e->values;

    if (!is_theirs(e, u))
        return (struct credentials) { .query = NULL };
    if (values[SETTING_AZURE_KEY])
        return (struct credentials) { .id = values[SETTING_AZURE_ACCOUNT], .secret = values[SETTING_AZURE_KEY] };
    return (struct credentials) { .query = values[SETTING_AZURE_SAS] };
}

const char *azure_named(const struct environment *e, const struct url *u)
{
    return is_theirs(e, u) ? e->values[SETTING_AZURE_ENDPOINT] : NULL;
}

enum leat_status azure_endpoint(char **endpoint, const struct environment *e, const struct url *u,
                                struct leat_error *err)
{
    const char *account = e->values[SETTING_AZURE_ACCOUNT], *named = azure_named(e, u);

    *endpoint = NULL;
    if (named)
        return text_join(endpoint, err, named, NULL);
    if (u->host)
        return text_join(endpoint, err, "https://", u->host, NULL);
    if (account)
        return text_join(endpoint, err, "https://", account, ".blob." SUFFIX, NULL);
    return status_argument(err, "AZURE_STORAGE_ACCOUNT",
                           "%s: of which account? Set AZURE_STORAGE_ACCOUNT, or write "
                           "az://CONTAINER@ACCOUNT.blob." SUFFIX "/NAME",
                           u->name);
}

enum leat_status remote_azure_server(char **server, const struct url *url, struct leat_error *err)
{
    struct environment e;
    enum leat_status s = environment_read(&e, err);

    *server = NULL;
    if (s == LEAT_OK)
        s = azure_settle(&e, err);
    if (s == LEAT_OK)
        s = azure_endpoint(server, &e, url, err);
    environment_free(&e);
    return s;
}

/* ---- Signing ----------------------------------------------------------------------------------------------------- */

/* Returns the value of a header, or "" if it is missing. */
static const char *value_of(const struct request *q, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < q->header_count; i++)
        if (strncmp(q->headers[i], name, length) == 0 && q->headers[i][length] == ':')
            return q->headers[i] + length + 2;
    return "";
}

/* Writes a line "name:value" for each header x-ms-..., which were added in the order of their names. */
static enum leat_status write_headers(char **out, const struct request *q, struct leat_error *err)
{
    size_t bytes = 1;
    char *to;

    for (size_t i = 0; i < q->header_count; i++)
        bytes += strlen(q->headers[i]);
    *out = to = malloc(bytes);
    if (!to)
        return status_no_memory(err, bytes);
    for (size_t i = 0; i < q->header_count; i++)
        if (text_begins(q->headers[i], "x-ms-")) {
            size_t name = strcspn(q->headers[i], ":") + 1;

            to = (char *)mempcpy(to, q->headers[i], name);
            to = stpcpy(to, q->headers[i] + name + 1);
            *to++ = '\n'; /* replaces the space after the colon */
        }
    *to = '\0';
    return LEAT_OK;
}

/* Writes a line "name:value" for each member of the query, decoded. Members are sorted, as in all queries here. */
static enum leat_status write_query(char **out, const char *query, struct leat_error *err)
{
    char *to = *out = malloc(strlen(query) + 2);
    bool named = false;

    if (!to)
        return status_no_memory(err, strlen(query) + 2);
    if (*query)
        *to++ = '\n';
    for (; *query; query++) {
        if (*query == '%') {
            *to++ = (char)(bytes_hex_digit((uint8_t)query[1]) << 4 | bytes_hex_digit((uint8_t)query[2]));
            query += 2;
        } else {
            *to++ = (char)(*query == '&' ? '\n' : *query == '=' && !named ? ':' : *query);
            named = *query != '&' && (named || *query == '=');
        }
    }
    *to = '\0';
    return LEAT_OK;
}

/* Writes the request in the form that the service signs. */
static enum leat_status write_down(char **out, const struct request *q, const struct transfer *t,
                                   const struct address *a, const char *account, struct leat_error *err)
{
    char length[24] = "", *headers = NULL, *query = NULL;
    enum leat_status s = write_headers(&headers, q, err);

    *out = NULL;
    if (t->body_bytes > 0)
        (void)snprintf(length, sizeof length, "%zu", t->body_bytes);
    if (s == LEAT_OK)
        s = write_query(&query, t->query ? t->query : "", err);
    if (s == LEAT_OK) /* empty lines stand for headers that are not sent: encoding, language, type and dates */
        s = text_join(out, err, q->method, "\n\n\n", length, "\n", value_of(q, "Content-MD5"), "\n\n\n\n",
                      value_of(q, "If-Match"), "\n", value_of(q, "If-None-Match"), "\n\n", value_of(q, "Range"), "\n",
                      headers, "/", account, a->path, query, NULL);
    free(headers);
    free(query);
    return s;
}

static enum leat_status add_signature(struct request *q, const struct transfer *t, const struct address *a,
                                      const struct credentials *c, struct leat_error *err)
{
    const char *account = c->id ? c->id : t->url->host;
    uint8_t key[KEY_ROOM], hash[SHA256_BYTES];
    char signature[BASE64_TEXT(SHA256_BYTES)], *name = NULL, *text = NULL, *value = NULL;
    enum leat_status s;
    size_t bytes = 0;

    if (!account)
        return status_argument(err, "AZURE_STORAGE_ACCOUNT",
                               "AZURE_STORAGE_KEY is set; set AZURE_STORAGE_ACCOUNT, too");
    s = text_copy(&name, account, strcspn(account, "."), err);
    if (s == LEAT_OK)
        s = write_down(&text, q, t, a, name, err);
    if (s == LEAT_OK) {
        (void)read_key(c->secret, key, &bytes);
        sha256_hmac(key, bytes, text, strlen(text), hash);
        explicit_bzero(key, sizeof key);
        base64_encode(signature, hash, sizeof hash);
        s = text_join(&value, err, "SharedKey ", name, ":", signature, NULL);
    }
    if (s == LEAT_OK)
        s = request_add(q, "Authorization", value, err);
    text_forget(value);
    free(text);
    free(name);
    return s;
}

/* ---- Headers ----------------------------------------------------------------------------------------------------- */

/* Adds the MD5 of the body, which the server compares; and to an object that is made, the MD5s of its parts. */
static enum leat_status add_digests(struct request *q, const struct transfer *t, char made_of[MD5_ETAG],
                                    struct leat_error *err)
{
    char text[BASE64_TEXT(MD5_BYTES)];
    uint8_t md5[MD5_BYTES];

    md5_of(t->body_bytes ? t->body : "", t->body_bytes, md5);
    md5_etag(md5, 0, made_of);
    base64_encode(text, md5, sizeof md5);
    return request_add(q, "Content-MD5", text, err);
}

enum leat_status azure_headers(struct request *q, const struct transfer *t, const struct address *a,
                               const struct credentials *c, time_t moment, struct leat_error *err)
{
    char date[40] = "", body[MD5_ETAG] = "";
    bool whole = t->method == TRANSFER_PUT && !t->query;
    const char *made_of = whole ? body : t->made_of;
    enum leat_status s = LEAT_OK;
    struct tm utc;

    if (gmtime_r(&moment, &utc))
        (void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    if (t->method == TRANSFER_PUT)
        s = add_digests(q, t, body, err);
    if (s == LEAT_OK && whole)
        s = request_add(q, "x-ms-blob-type", "BlockBlob", err);
    if (s == LEAT_OK)
        s = request_add(q, "x-ms-date", date, err);
    if (s == LEAT_OK && made_of)
        s = request_add(q, AZURE_MADE_OF, made_of, err);
    if (s == LEAT_OK)
        s = request_add(q, "x-ms-version", VERSION, err);
    if (s == LEAT_OK && c->secret)
        return add_signature(q, t, a, c, err);
    return s == LEAT_OK && c->token ? request_add_token(q, c->token, err) : s;
}
