/* keys.c: decides which keys count, and when new ones are asked for. keys.h says where keys come from. */
#include "keys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "azure.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/jsontree.h"
#include "base/status.h"
#include "client.h"
#include "text.h"
#include "xml.h"

/* ---- One question ------------------------------------------------------------------------------------------------ */

/* Makes one request to a provider of keys, and reads its answer. */

#define TRIES   3u
#define TURN_MS 100

static const char *const methods[] = { [TRANSFER_GET] = "GET", [TRANSFER_PUT] = "PUT", [TRANSFER_POST] = "POST" };

/* Makes one attempt, and waits for its end. */
static enum leat_status ask_once(const struct remote *r, struct carrying *c, const struct keys_question *q,
                                 struct transfer *t, enum carried *how, struct leat_error *err)
{
    struct request request = { .method = methods[q->method],
                               .url = q->url,
                               .stall_seconds = q->seconds,
                               .near = q->near,
                               .certificates = environment_certificates(&r->environment, q->aws) };
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
            return status_set(err, LEAT_E_STOPPED, "%s: the request was stopped", q->what);
        }
        if (clock_ns() > end) { /* ends an answer whose bytes come one by one */
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
    if ((how == CARRIED && (t->code == 404 || t->code == q->none)) || how == CARRIED_UNREACHABLE)
        return status_set(err, LEAT_E_NO_FILE, "%s: none found", q->what);
    if (how != CARRIED)
        return status_set(err, LEAT_E_IO, "%s: no answer%s", q->what, remedy);
    if (t->code == 200)
        return LEAT_OK;
    return status_set(err, t->code >= 500 ? LEAT_E_IO : LEAT_E_PERMISSION,
                      "%s: the server answered with HTTP status %ld%s", q->what, t->code, remedy);
}

/*
 * Asks a question, and gives the answer's text, which the caller forgets. Returns LEAT_E_NO_FILE if there is no
 * answer, or its code is 404, and LEAT_E_STOPPED if the client's options ask to stop, or after remote_give_up().
 * Messages show nothing of the question but `what`.
 */
static enum leat_status keys_ask(const struct remote *r, const struct keys_question *q, char **answer,
                                 struct leat_error *err)
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

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* The places that give temporary keys (keys.h). */

#define NEAR_SECONDS  1u
#define FAR_SECONDS   5u
#define INSTANCE      "http://169.254.169.254"
#define CONTAINER     "http://169.254.170.2"
#define GOOGLE        "metadata.google.internal"
#define GOOGLE_PATH   "/computeMetadata/v1/instance/service-accounts/default/token"
#define INSTANCE_KEYS "/latest/meta-data/iam/security-credentials/"

/* Reads a time like "2026-01-31T12:00:00Z"; 0 if the text is no time. */
static int64_t read_time(const char *text)
{
    struct tm utc = { 0 };

    return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) ? (int64_t)timegm(&utc) : 0;
}

static enum leat_status incomplete(const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_PERMISSION, "%s: the answer has no keys", what);
}

/* Replaces LEAT_E_NO_FILE by `missing`, also in the error, where a variable says that there are keys: a caller would
 * take LEAT_E_NO_FILE for an object that does not exist. */
static enum leat_status rather(enum leat_status missing, enum leat_status s, struct leat_error *err)
{
    if (s == LEAT_E_NO_FILE && err)
        err->status = missing;
    return s == LEAT_E_NO_FILE ? missing : s;
}

/* Parses an answer in JSON. forget_answer() frees the tree and the answer. */
static enum leat_status read_answer(struct jsontree *j, const char *answer, const char *what, struct leat_error *err)
{
    enum leat_status s = jsontree_parse(j, (const uint8_t *)answer, strlen(answer), what, err);

    return s == LEAT_E_VOCABULARY ? incomplete(what, err) : s;
}

static void forget_answer(struct jsontree *j, char *answer)
{
    jsontree_free(j);
    text_forget(answer);
}

/* Reads when the keys expire, as the last step of reading an answer. Frees `expires`. */
static enum leat_status take_expiry(struct keys *k, char *expires, const char *what, enum leat_status s,
                                    struct leat_error *err)
{
    k->expires = read_time(expires);
    free(expires);
    if (s == LEAT_OK && !(k->id && k->secret && k->token && k->expires))
        s = incomplete(what, err);
    return s;
}

/* Reads the answer of containers and instances. */
static enum leat_status take_json(struct keys *k, char *answer, const char *what, struct leat_error *err)
{
    char *expires = NULL;
    const struct {
        const char *name;
        char **to;
    } members[] = {
        { "Expiration", &expires }, { "AccessKeyId", &k->id }, { "SecretAccessKey", &k->secret }, { "Token", &k->token }
    };
    struct jsontree j;
    enum leat_status s = read_answer(&j, answer, what, err);

    for (unsigned i = 0; i < sizeof members / sizeof *members && s == LEAT_OK; i++)
        s = jsontree_copy(members[i].to, &j, 0, members[i].name, err);
    forget_answer(&j, answer);
    return take_expiry(k, expires, what, s, err);
}

/* ---- Web identity: STS ------------------------------------------------------------------------------------------- */

#define STS "the keys of AWS_ROLE_ARN by AWS_WEB_IDENTITY_TOKEN_FILE"

static enum leat_status take_xml(struct keys *k, char *answer, struct leat_error *err)
{
#define CREDENTIALS "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/"
    char *expires = NULL;
    enum leat_status s = LEAT_OK;
    struct xml_text text;
    struct xml x;

    xml_begin(&x, answer, strlen(answer));
    while (s == LEAT_OK && xml_next(&x, &text)) {
        char **to = xml_is(&x, CREDENTIALS "AccessKeyId")       ? &k->id
                    : xml_is(&x, CREDENTIALS "SecretAccessKey") ? &k->secret
                    : xml_is(&x, CREDENTIALS "SessionToken")    ? &k->token
                    : xml_is(&x, CREDENTIALS "Expiration")      ? &expires
                                                                : NULL;

        if (to && !*to)
            s = text_copy(to, text.at, text.bytes, err);
    }
    text_forget(answer);
    return take_expiry(k, expires, STS, s, err);
#undef CREDENTIALS
}

static enum leat_status make_body(char **body, const struct remote *r, struct leat_error *err)
{
    char *const *values = r->environment.values, *parts[3] = { NULL }, *token = NULL;
    const char *session = values[SETTING_ROLE_SESSION];
    enum leat_status s = text_read(&token, values[SETTING_ROLE_FILE], err);

    if (s == LEAT_OK)
        s = text_encode(&parts[0], values[SETTING_ROLE], false, err);
    if (s == LEAT_OK)
        s = text_encode(&parts[1], session ? session : "leat", false, err);
    if (s == LEAT_OK)
        s = text_encode(&parts[2], token, false, err);
    if (s == LEAT_OK)
        s = text_join(body, err, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=", parts[0],
                      "&RoleSessionName=", parts[1], "&WebIdentityToken=", parts[2], NULL);
    for (unsigned i = 0; i < 3; i++)
        text_forget(parts[i]);
    text_forget(token);
    return s;
}

static enum leat_status from_web_identity(struct remote *r, struct keys *k, struct leat_error *err)
{
    char form[] = "Content-Type: application/x-www-form-urlencoded";
    const char *endpoint = r->environment.values[SETTING_STS], *china = text_begins(r->region, "cn-") ? ".cn" : "";
    struct keys_question q = {
        .what = STS, .method = TRANSFER_POST, .headers = { form }, .seconds = FAR_SECONDS, .aws = true
    };
    char *url = NULL, *body = NULL, *answer;
    enum leat_status s;

    if (!r->environment.values[SETTING_ROLE] || !r->environment.values[SETTING_ROLE_FILE])
        return LEAT_E_NO_FILE;
    s = rather(LEAT_E_ARGUMENT, make_body(&body, r, err), err);
    if (s == LEAT_OK && endpoint)
        s = text_join(&url, err, endpoint, NULL);
    else if (s == LEAT_OK)
        s = text_join(&url, err, "https://sts.", r->region, ".amazonaws.com", china, "/", NULL);
    q.url = url;
    q.body = body;
    if (s == LEAT_OK) {
        s = keys_ask(r, &q, &answer, err);
        s = s == LEAT_OK ? take_xml(k, answer, err) : rather(LEAT_E_IO, s, err);
    }
    text_forget(body);
    free(url);
    return s;
}

/* ---- Container --------------------------------------------------------------------------------------------------- */

#define CONTAINERS "the keys of this container (AWS_CONTAINER_CREDENTIALS_*)"

bool keys_may_be_sent(const char *url)
{
    static const char *const near[] = { "http://127.0.0.1",      "http://localhost",      "http://169.254.170.2",
                                        "http://169.254.170.23", "http://[fd00:ec2::23]", "http://[::1]" };

    for (unsigned i = 0; i < sizeof near / sizeof *near && !strchr(url, '@'); i++) /* no @ may stand in it, since the
                                                                                      text before it would be no host */
        if (text_begins(url, near[i]) && strchr(":/", url[strlen(near[i])]))
            return true;
    return text_begins(url, "https://");
}

static enum leat_status from_container(struct remote *r, struct keys *k, struct leat_error *err)
{
    char *const *values = r->environment.values;
    const char *path = values[SETTING_CONTAINER_PATH], *full = values[SETTING_CONTAINER_URL];
    struct keys_question q = { .what = CONTAINERS, .near = true, .seconds = 2 * NEAR_SECONDS };
    char *url = NULL, *token = NULL, *answer;
    enum leat_status s;

    if (!path && !full)
        return LEAT_E_NO_FILE;
    s = text_join(&url, err, path ? CONTAINER : "", path ? path : full, NULL);
    if (s == LEAT_OK && !keys_may_be_sent(url))
        s = status_argument(err, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                            "AWS_CONTAINER_CREDENTIALS_FULL_URI must be https://, or http:// of this machine");
    if (s == LEAT_OK && values[SETTING_CONTAINER_TOKEN_FILE])
        s = text_read(&token, values[SETTING_CONTAINER_TOKEN_FILE], err);
    else if (s == LEAT_OK && values[SETTING_CONTAINER_TOKEN])
        s = text_join(&token, err, values[SETTING_CONTAINER_TOKEN], NULL);
    if (s == LEAT_OK && token)
        s = text_join(&q.headers[0], err, "Authorization: ", token, NULL);
    q.url = url;
    if (s == LEAT_OK)
        s = keys_ask(r, &q, &answer, err);
    if (s == LEAT_OK)
        s = take_json(k, answer, CONTAINERS, err);
    text_forget(q.headers[0]);
    text_forget(token);
    free(url);
    return rather(LEAT_E_IO, s, err);
}

/* ---- Instance ---------------------------------------------------------------------------------------------------- */

#define INSTANCES "the keys of this instance (EC2's metadata)"

/* Returns true if the machine is known to be of another maker: then no request is made, which would take a second. */
static bool is_other_machine(const char *maker)
{
    static const char *const paths[] = { "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/bios_version",
                                         "/sys/class/dmi/id/bios_vendor" };
    char text[128];
    bool known = false;

    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

        file_close(&fd);
        text[got > 0 ? got : 0] = '\0';
        known |= i == 0 && got > 0;
        if (strcasestr(text, maker))
            return false;
    }
    return known;
}

/* Asks the metadata for path + name. */
static enum leat_status ask_instance(const struct remote *r, const char *path, const char *name, char *header, bool put,
                                     char **answer, struct leat_error *err)
{
    struct keys_question q = { .what = INSTANCES,
                               .remedy = "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or, for public buckets, "
                                         "AWS_EC2_METADATA_DISABLED=true",
                               .method = put ? TRANSFER_PUT : TRANSFER_GET,
                               .headers = { header },
                               .near = true,
                               .seconds = NEAR_SECONDS };
    const char *base = r->environment.values[SETTING_INSTANCE];
    char *url;
    enum leat_status s = text_join(&url, err, base ? base : INSTANCE, path, name, NULL);

    q.url = url;
    if (s == LEAT_OK)
        s = keys_ask(r, &q, answer, err);
    free(url);
    return s;
}

/* Asks for the role, whose name is the first line, and for its keys. */
static enum leat_status ask_role(const struct remote *r, char *header, struct keys *k, struct leat_error *err)
{
    char *role = NULL, *answer = NULL;
    enum leat_status s = ask_instance(r, INSTANCE_KEYS, "", header, false, &role, err);

    if (s != LEAT_OK)
        return s;
    role[strcspn(role, "\r\n")] = '\0';
    s = ask_instance(r, INSTANCE_KEYS, role, header, false, &answer, err);
    if (s == LEAT_OK)
        s = take_json(k, answer, INSTANCES, err);
    free(role);
    return s;
}

static enum leat_status from_instance(struct remote *r, struct keys *k, struct leat_error *err)
{
    char lifetime[] = "X-aws-ec2-metadata-token-ttl-seconds: 21600";
    const char *base = r->environment.values[SETTING_INSTANCE], *no = r->environment.values[SETTING_NO_INSTANCE];
    char *token = NULL, *header = NULL;
    enum leat_status s;

    if ((no && strcasecmp(no, "true") == 0) || (!base && is_other_machine("amazon")))
        return LEAT_E_NO_FILE;
    s = ask_instance(r, "/latest/api/token", "", lifetime, true, &token, err);
    if (s == LEAT_E_IO && !base)
        s = LEAT_E_NO_FILE; /* no answer means that this is not an instance */
    if (s == LEAT_OK)
        s = text_join(&header, err, "X-aws-ec2-metadata-token: ", token, NULL);
    if (s == LEAT_OK)
        s = ask_role(r, header, k, err);
    text_forget(token);
    text_forget(header);
    return s;
}

/* ---- Google ------------------------------------------------------------------------------------------------------ */

/* Reads seconds, which some places write as a string; false if there are none, or more than `most`. */
static bool read_seconds(const struct jsontree *j, const char *name, uint64_t most, uint64_t *seconds)
{
    uint32_t node = jsontree_member(j, 0, name);
    struct jsontree_text text;

    if (node == JSONTREE_NONE)
        return false;
    if (j->nodes[node].kind != JSONTREE_STRING)
        return jsontree_u64(j, node, seconds) && *seconds < most;
    text = jsontree_string(j, node);
    return answer_number((const char *)text.bytes, text.length, seconds) && *seconds < most;
}

/* Takes a token that stands alone; frees the answer. */
static enum leat_status take_token(struct keys *k, char *answer, const char *what, struct leat_error *err)
{
    uint64_t seconds;
    struct jsontree j;
    enum leat_status s = read_answer(&j, answer, what, err);

    if (s == LEAT_OK)
        s = jsontree_copy(&k->token, &j, 0, "access_token", err);
    if (s == LEAT_OK && read_seconds(&j, "expires_in", (uint64_t)1 << 32, &seconds))
        k->expires = (int64_t)time(NULL) + (int64_t)seconds;
    else if (s == LEAT_OK &&
             read_seconds(&j, "expires_on", (uint64_t)1 << 40, &seconds)) /* services of Azure write it */
        k->expires = (int64_t)seconds;
    forget_answer(&j, answer);
    return s == LEAT_OK && !(k->token && k->expires) ? incomplete(what, err) : s;
}

static enum leat_status from_google(struct remote *r, struct keys *k, struct leat_error *err)
{
    char flavor[] = "Metadata-Flavor: Google";
    const char *host = r->environment.values[SETTING_GOOGLE];
    struct keys_question q = { .what = "the token of this machine's service account (Google's metadata)",
                               .remedy = "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to HMAC keys",
                               .headers = { flavor },
                               .near = true,
                               .seconds = NEAR_SECONDS };
    char *url, *answer = NULL;
    enum leat_status s;

    if (!host && is_other_machine("google"))
        return LEAT_E_NO_FILE;
    s = text_join(&url, err, "http://", host ? host : GOOGLE, GOOGLE_PATH, NULL);
    q.url = url;
    if (s == LEAT_OK)
        s = keys_ask(r, &q, &answer, err);
    free(url);
    if (s != LEAT_OK)
        return s == LEAT_E_IO && !host ? LEAT_E_NO_FILE : s;
    return take_token(k, answer, q.what, err);
}

/* ---- Azure: Entra ID --------------------------------------------------------------------------------------------- */

#define ENTRA   "https://login.microsoftonline.com"
#define STORAGE "https%3A%2F%2Fstorage.azure.com"
#define ASSERTION                                                                                                      \
    "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion"
#define IDENTITY_PATH "/metadata/identity/oauth2/token"

/* HOST/TENANT/oauth2/v2.0/token */
static enum leat_status entra_url(char **url, const struct remote *r, struct leat_error *err)
{
    const char *host = r->environment.values[SETTING_ENTRA_HOST];
    char *base = NULL, *tenant = NULL;
    enum leat_status s = text_encode(&tenant, r->environment.values[SETTING_ENTRA_TENANT], false, err);

    if (s == LEAT_OK) /* some variables name the server without https:// */
        s = text_join(&base, err, host && !strstr(host, "://") ? "https://" : "", host ? host : ENTRA, NULL);
    for (size_t length = s == LEAT_OK ? strlen(base) : 0; length > 0 && base[length - 1] == '/';)
        base[--length] = '\0';
    if (s == LEAT_OK)
        s = text_join(url, err, base, "/", tenant, "/oauth2/v2.0/token", NULL);
    if (s == LEAT_OK && !keys_may_be_sent(*url))
        s = status_argument(err, "AZURE_AUTHORITY_HOST",
                            "AZURE_AUTHORITY_HOST must be https://, or http:// of this machine");
    free(base);
    free(tenant);
    return s;
}

/* Asks Entra ID for a token. `proof` shows who the client is, and is the member `name` of the question. */
static enum leat_status ask_entra(struct remote *r, struct keys *k, const char *what, const char *name,
                                  const char *proof, struct leat_error *err)
{
    char form[] = "Content-Type: application/x-www-form-urlencoded";
    struct keys_question q = { .what = what, .method = TRANSFER_POST, .headers = { form }, .seconds = FAR_SECONDS };
    char *url = NULL, *client = NULL, *shown = NULL, *body = NULL, *answer;
    enum leat_status s = entra_url(&url, r, err);

    if (s == LEAT_OK)
        s = text_encode(&client, r->environment.values[SETTING_ENTRA_CLIENT], false, err);
    if (s == LEAT_OK)
        s = text_encode(&shown, proof, false, err);
    if (s == LEAT_OK)
        s = text_join(&body, err, "grant_type=client_credentials&scope=" STORAGE "%2F.default&client_id=", client, "&",
                      name, "=", shown, NULL);
    q.url = url;
    q.body = body;
    if (s == LEAT_OK) {
        s = keys_ask(r, &q, &answer, err);
        s = s == LEAT_OK ? take_token(k, answer, what, err) : rather(LEAT_E_IO, s, err);
    }
    text_forget(body);
    text_forget(shown);
    free(client);
    free(url);
    return s;
}

static bool has_client(const struct remote *r)
{
    return r->environment.values[SETTING_ENTRA_TENANT] && r->environment.values[SETTING_ENTRA_CLIENT];
}

static enum leat_status from_entra_secret(struct remote *r, struct keys *k, struct leat_error *err)
{
    const char *secret = r->environment.values[SETTING_ENTRA_SECRET];

    if (!has_client(r) || !secret)
        return LEAT_E_NO_FILE;
    return ask_entra(r, k, "the token of AZURE_CLIENT_ID by AZURE_CLIENT_SECRET", "client_secret", secret, err);
}

static enum leat_status from_entra_file(struct remote *r, struct keys *k, struct leat_error *err)
{
    const char *path = r->environment.values[SETTING_ENTRA_FILE];
    char *token = NULL;
    enum leat_status s;

    if (!has_client(r) || !path)
        return LEAT_E_NO_FILE;
    s = rather(LEAT_E_ARGUMENT, text_read(&token, path, err), err); /* the file is written anew from time to time */
    if (s == LEAT_OK)
        s = ask_entra(r, k, "the token of AZURE_CLIENT_ID by AZURE_FEDERATED_TOKEN_FILE", ASSERTION, token, err);
    text_forget(token);
    return s;
}

/* Gets a token for the identity of the service that runs the program, else of the machine. */
static enum leat_status from_identity(struct remote *r, struct keys *k, struct leat_error *err)
{
    char *const *values = r->environment.values;
    const char *host = values[SETTING_IDENTITY_HOST], *id = values[SETTING_ENTRA_CLIENT];
    bool service = values[SETTING_IDENTITY_URL] && values[SETTING_IDENTITY_HEADER], named = service || host;
    struct keys_question q = { .what = "the token of this machine's managed identity (Azure's metadata)",
                               .remedy = "; set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN",
                               .near = true,
                               .none = 400, /* the machine has no identity */
                               .seconds = NEAR_SECONDS };
    char *url = NULL, *client = NULL, *answer = NULL;
    enum leat_status s;

    if (!named && is_other_machine("microsoft"))
        return LEAT_E_NO_FILE;
    s = text_encode(&client, id ? id : "", false, err);
    if (s == LEAT_OK)
        s = text_join(&url, err,
                      service ? values[SETTING_IDENTITY_URL]
                      : host  ? host
                              : INSTANCE,
                      service ? "?api-version=2019-08-01" : IDENTITY_PATH "?api-version=2018-02-01",
                      "&resource=" STORAGE, id ? "&client_id=" : "", client, NULL);
    if (s == LEAT_OK)
        s = text_join(&q.headers[0], err, service ? "X-IDENTITY-HEADER: " : "Metadata: true",
                      service ? values[SETTING_IDENTITY_HEADER] : "", NULL);
    q.url = url;
    if (s == LEAT_OK)
        s = keys_ask(r, &q, &answer, err);
    text_forget(q.headers[0]);
    free(client);
    free(url);
    if (s != LEAT_OK)
        return s == LEAT_E_IO && !named ? LEAT_E_NO_FILE : s; /* no answer means that this is not Azure */
    return take_token(k, answer, q.what, err);
}

keys_place *const keys_places[KEYS_OWNERS][4] = {
    [KEYS_AWS] = { from_web_identity, from_container, from_instance },
    [KEYS_GOOGLE] = { from_google },
    [KEYS_AZURE] = { from_entra_secret, from_entra_file, from_identity },
};

/* ---- Which keys count -------------------------------------------------------------------------------------------- */

#define EARLY    300 /* seconds before keys expire at which new ones are asked for, as a request takes a while */
#define AGAIN_NS ((uint64_t)30000000000)

static enum keys_owner owner_of(const struct url *u)
{
    return url_in_hub(u)            ? KEYS_HUB
           : u->scheme == URL_GS    ? KEYS_GOOGLE
           : u->scheme == URL_AZURE ? KEYS_AZURE
                                    : KEYS_AWS;
}

/* Returns true if the variables have keys for the URL: then none are asked for. */
static bool has_own(const struct remote *r, const struct url *u)
{
    struct credentials c;

    if (u->scheme != URL_AZURE)
        return r->environment.values[SETTING_ID] != NULL;
    c = azure_keys(&r->environment, u);
    return c.secret || c.query;
}

/*
 * The table of which host gets which secret: keys and tokens go to the server of the endpoint that the user's variable
 * names, or, where none is named, to these hosts by https://. A name that begins with a dot stands for all hosts that
 * end so. No redirect, list or answer adds one. A new cloud is a new name here and in SECURITY.md, which shows this
 * table; tests/remote/test_secrets.py has each row.
 */
static const struct {
    enum url_scheme scheme;
    bool bare; /* Google's token, which counts if there are no keys, and goes to no endpoint */
    const char *hosts[6];
} secrets[] = {
    { URL_S3, false, { ".amazonaws.com", ".amazonaws.com.cn" } },
    { URL_GS, false, { "storage.googleapis.com" } }, /* HMAC keys */
    { URL_GS, true, { ".googleapis.com" } },
    { URL_AZURE,
      false,
      { ".blob.core.windows.net", ".blob.core.chinacloudapi.cn", ".blob.core.usgovcloudapi.net",
        ".blob.storage.azure.net", ".blob.fabric.microsoft.com" } },
    { URL_HF, false, { "huggingface.co" } },
};

/* Returns how much of an address says which server it is. */
static size_t server_length(const char *url)
{
    const char *host = strstr(url, "://");

    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

const char *keys_endpoint(const struct remote *r, const struct url *u)
{
    if (u->scheme == URL_AZURE)
        return azure_named(&r->environment, u);
    return r->environment.values[url_in_hub(u) ? SETTING_HUB_ENDPOINT : SETTING_ENDPOINT];
}

bool keys_may_go(const struct remote *r, const struct url *u, const char *to)
{
    const char *endpoint = keys_endpoint(r, u), *host;
    bool bare = u->scheme == URL_GS && !has_own(r, u), may = false;
    size_t length = server_length(to), before = strlen("https://");

    for (unsigned i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        if (secrets[i].scheme != u->scheme || secrets[i].bare != bare)
            continue;
        if (endpoint && !bare)
            return server_length(endpoint) == length && strncmp(endpoint, to, length) == 0;
        for (unsigned h = 0; text_begins(to, "https://") && (host = secrets[i].hosts[h]); h++)
            may = may || (file_ends_with(to, length, host) && (*host == '.' || length == before + strlen(host)));
    }
    return may;
}

void keys_free(struct keys *k)
{
    text_forget(k->id);
    text_forget(k->secret);
    text_forget(k->token);
    memset(k, 0, sizeof *k);
}

struct credentials keys_of(const struct remote *r, const struct url *u)
{
    char *const *values = r->environment.values;
    const struct keys *k = &r->keys[owner_of(u)];

    if (u->scheme == URL_AZURE && has_own(r, u))
        return azure_keys(&r->environment, u);
    if (url_in_hub(u) && values[SETTING_HUB_TOKEN])
        return (struct credentials) { .token = values[SETTING_HUB_TOKEN] };
    if (url_in_bucket(u) && u->scheme != URL_AZURE && values[SETTING_ID]) /* HMAC keys of Google have no token */
        return (struct credentials) { .id = values[SETTING_ID],
                                      .secret = values[SETTING_SECRET],
                                      .token = u->scheme == URL_GS ? NULL : values[SETTING_TOKEN] };
    return (struct credentials) { .id = k->id, .secret = k->secret, .token = k->token };
}

static enum leat_status ask_places(struct remote *r, enum keys_owner owner, struct keys *k, struct leat_error *err)
{
    enum leat_status s = LEAT_E_NO_FILE;

    for (unsigned i = 0; keys_places[owner][i] && s == LEAT_E_NO_FILE; i++)
        s = keys_places[owner][i](r, k, err);
    return s;
}

enum leat_status keys_prepare(struct remote *r, const struct url *u, struct leat_error *err)
{
    struct keys *k = &r->keys[owner_of(u)], got = { .asked = true };
    int64_t now = (int64_t)time(NULL);
    enum leat_status s;

    if (url_in_hub(u) && !k->asked && !r->environment.values[SETTING_HUB_TOKEN]) {
        k->asked = true;
        return environment_hub_token(&k->token, err);
    }
    if (!url_in_bucket(u) || has_own(r, u) || (k->asked && !k->token) ||
        (k->asked && (now < k->expires - EARLY || clock_ns() < k->again)))
        return LEAT_OK;
    s = ask_places(r, owner_of(u), &got, err);
    if (s == LEAT_OK || (s == LEAT_E_NO_FILE && !k->token)) {
        keys_free(k);
        *k = got;
        k->again = now < k->expires - EARLY ? 0 : clock_ns() + AGAIN_NS;
        return LEAT_OK;
    }
    keys_free(&got);
    if (s == LEAT_E_NO_FILE) /* to a caller, LEAT_E_NO_FILE would be an object that does not exist */
        s = status_set_in(err, LEAT_E_PERMISSION, u->name, "%s: the keys have expired, and no new ones are available",
                          u->name);
    k->again = clock_ns() + AGAIN_NS;
    return k->token && now < k->expires ? LEAT_OK : s; /* the keys are used until they expire */
}

bool keys_expired(struct remote *r, const struct url *u)
{
    struct keys *k = &r->keys[owner_of(u)];

    if (has_own(r, u) || !k->token)
        return false;
    k->expires = 0;
    k->again = 0;
    return true;
}
