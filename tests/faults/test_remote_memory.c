/*
 * test_remote_memory.c: whichever allocation fails while a client of servers is opened, or asks for objects, lists of
 * buckets, uploads and keys: LEAT_E_NO_MEMORY with a sentence, nothing left allocated or open, and the same client does
 * the same afterwards as if nothing had happened.
 */
#include <stdarg.h>

#include "remote/remote.h"
#include "remote/upload.h"
#include "support/fault.h"
#include "support/small_server.h"
#include "t.h"

#define OBJECT "hello"

static struct small_server server;
static char said[4096]; /* what came of the work */

/* ---- What the server answers ------------------------------------------------------------------------------------ */

static bool asks(const char *request, const char *what)
{
    const char *end = strstr(request, " HTTP/");

    return memmem(request, (size_t)(end + 1 - request), what, strlen(what)) != NULL;
}

static void give_object(const char *request, char *out)
{
    const char *range = strcasestr(request, "\r\nRange: bytes=");
    unsigned first = 0, last = 4;
    char more[128], body[16];

    if (range)
        (void)sscanf(range + 15, "%u-%u", &first, &last);
    last = last < 4 ? last : 4;
    snprintf(more, sizeof more, "ETag: \"e\"\r\nContent-Range: bytes %u-%u/5\r\n", first, last);
    snprintf(body, sizeof body, "%.*s", (int)(last + 1 - first), &OBJECT[first]);
    small_server_say(out, "206 Partial Content", more, body);
}

/* "000000-" and the MD5 of "hello" */
#define BLOCK "MDAwMDAwLTVkNDE0MDJhYmM0YjJhNzZiOTcxOWQ5MTEwMTdjNTky"

static const struct {
    const char *asked, *status, *more, *body;
} answers[] = {
    { "continuation-token=more", "200 OK", "",
      "<ListBucketResult><Contents><Key>p/2</Key><Size>7</Size></Contents></ListBucketResult>" },
    { "comp=list&marker=more", "200 OK", "",
      "<EnumerationResults><Blobs><Blob><Name>p/2</Name><Properties><Content-Length>7</Content-Length></Properties>"
      "</Blob></Blobs><NextMarker /></EnumerationResults>" },
    { "comp=list&", "200 OK", "",
      "<EnumerationResults><Blobs><Blob><Name>p/1</Name><Properties><Content-Length>5</Content-Length>"
      "<Etag>e</Etag></Properties></Blob></Blobs><NextMarker>more</NextMarker></EnumerationResults>" },
    { "/new?blocklisttype=", "404 Not Found", "", "" },
    { "blocklisttype=", "200 OK", "",
      "<BlockList><UncommittedBlocks><Block><Name>" BLOCK "</Name><Size>5</Size></Block></UncommittedBlocks>"
      "</BlockList>" },
    { "comp=block", "201 Created", "", "" },
    { "list-type=2", "200 OK", "",
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>"
      "<Contents><Key>p/1</Key><Size>5</Size><ETag>&quot;e&quot;</ETag></Contents></ListBucketResult>" },
    { "prefix=found&uploads=", "200 OK", "",
      "<ListMultipartUploadsResult><Upload><Key>found</Key><UploadId>f</UploadId></Upload>"
      "</ListMultipartUploadsResult>" },
    { "key-marker=swept", "200 OK", "",
      "<ListMultipartUploadsResult><Upload><Key>swept/2</Key><UploadId>2</UploadId></Upload>"
      "</ListMultipartUploadsResult>" },
    { "prefix=swept&uploads=", "200 OK", "",
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>swept/1</NextKeyMarker>"
      "<NextUploadIdMarker>1</NextUploadIdMarker><Upload><Key>swept/1</Key><UploadId>1</UploadId></Upload>"
      "</ListMultipartUploadsResult>" },
    { "uploads=", "200 OK", "",
      "<InitiateMultipartUploadResult><UploadId>n</UploadId></InitiateMultipartUploadResult>" },
    { "part-number-marker=0&", "200 OK", "",
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker><Part>"
      "<PartNumber>1</PartNumber><ETag>\"5d41402abc4b2a76b9719d911017c592\"</ETag></Part></ListPartsResult>" },
    { "part-number-marker=1&", "200 OK", "", "<ListPartsResult></ListPartsResult>" },
    { "partNumber=", "200 OK", "ETag: \"5d41402abc4b2a76b9719d911017c592\"\r\n", "" },
    { "DELETE ", "204 No Content", "", "" },
    { "uploadId=n", "200 OK", "", "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>" },
    { "POST /sts", "200 OK", "",
      "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
      "<AccessKeyId>i</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
      "<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
      "</AssumeRoleWithWebIdentityResponse>" },
    { "PUT /latest/api/token", "200 OK", "", "session" },
    { "/security-credentials/ ", "200 OK", "", "role\n" },
    { "/security-credentials/role ", "200 OK", "",
      "{\"AccessKeyId\": \"i\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", "
      "\"Expiration\": \"2100-01-01T00:00:00Z\"}" },
    { "/computeMetadata/", "200 OK", "", "{\"access_token\": \"t\", \"expires_in\": 3600}" },
    { "/moved ", "302 Found", "Location: /b/object\r\n", "" },
};

static void answer(const char *request, char *out)
{
    if (strstr(request, "/elsewhere/s3/")) { /* of a signature */
        small_server_say(out, "301 Moved", "x-amz-bucket-region: us-west-2\r\n", "");
        return;
    }
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (asks(request, answers[i].asked)) {
            small_server_say(out, answers[i].status, answers[i].more, answers[i].body);
            return;
        }
    give_object(request, out);
}

/* ---- What is asked ---------------------------------------------------------------------------------------------- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t used = strlen(said);
    va_list values;

    va_start(values, format);
    vsnprintf(said + used, sizeof said - used, format, values);
    va_end(values);
}

static enum leat_status read_object(struct remote *r, const char *name, struct leat_error *err)
{
    struct remote_object object;
    char bytes[8] = "";
    struct url url;
    enum leat_status s = url_parse(&url, name, err);

    if (s == LEAT_OK)
        s = remote_stat(r, &url, &object, err);
    if (s == LEAT_OK)
        s = remote_read(r, &url, &object, 1, bytes, object.size - 1, err);
    url_free(&url);
    say("%s %s;", name, bytes);
    return s;
}

static enum leat_status read_in_bucket(struct remote *r, struct leat_error *err)
{
    return read_object(r, "s3://b/object", err);
}

static enum leat_status read_of_google(struct remote *r, struct leat_error *err)
{
    return read_object(r, "gs://b/object", err);
}

static enum leat_status read_moved(struct remote *r, struct leat_error *err)
{
    char name[64];

    snprintf(name, sizeof name, "%s/moved", server.url);
    return read_object(r, name, err);
}

static enum leat_status look_at_dataset(struct remote *r, struct leat_error *err)
{
    struct url index = { 0 }, tokens = { 0 };
    uint8_t first[2] = { 0 };
    struct remote_look looks[2] = { { .url = &index, .first = &first[0], .count = 1 },
                                    { .url = &tokens, .first = &first[1], .count = 1 } };
    enum leat_status s = url_dataset("s3://b/data.leat", &index, &tokens, err);

    if (s == LEAT_OK)
        s = remote_look(r, looks, 2, err);
    if (s == LEAT_OK)
        say("%s %s %c%c;", index.name, tokens.name, first[0], first[1]);
    url_free(&index);
    url_free(&tokens);
    return s;
}

static enum leat_status take(void *context, const char *key, uint64_t size, const char *etag, struct leat_error *err)
{
    (void)context, (void)err;
    say("%s %u %s;", key, (unsigned)size, etag);
    return LEAT_OK;
}

static enum leat_status list_below(struct remote *r, const char *name, struct leat_error *err)
{
    struct url url;
    enum leat_status s = url_parse(&url, name, err);

    if (s == LEAT_OK)
        s = remote_list(r, &url, take, NULL, err);
    url_free(&url);
    return s;
}

static enum leat_status list(struct remote *r, struct leat_error *err)
{
    return list_below(r, "s3://b/p", err);
}

static enum leat_status list_of_azure(struct remote *r, struct leat_error *err)
{
    return list_below(r, "abfss://b@a.dfs.core.windows.net/p", err);
}

static enum leat_status read_of_azure(struct remote *r, struct leat_error *err)
{
    return read_object(r, "az://b/object", err);
}

static enum leat_status send_part(struct remote *r, struct upload *u, struct leat_error *err)
{
    struct transfer t = { .method = TRANSFER_PUT, .url = u->url, .body = OBJECT, .body_bytes = strlen(OBJECT) };
    char *query;
    enum leat_status s = upload_query(u, 0, (const uint8_t[MD5_BYTES]) { 0 }, &query, err);

    if (s != LEAT_OK)
        return s;
    t.query = query;
    s = remote_run(r, &t, err);
    if (s == LEAT_OK)
        s = upload_note(u, 0, t.answer.etag, err);
    transfer_free(&t);
    free(query);
    return s;
}

static enum leat_status upload(struct remote *r, const char *name, bool found, struct leat_error *err)
{
    struct upload u = { 0 };
    struct url url;
    enum leat_status s = url_parse(&url, name, err);

    if (s == LEAT_OK)
        s = upload_begin(&u, r, &url, 1, err);
    if (s == LEAT_OK)
        say("%s %s %u;", name, u.id ? u.id : "", u.parts[0].there);
    if (s == LEAT_OK && !found)
        s = send_part(r, &u, err);
    if (s == LEAT_OK)
        s = found ? upload_discard(&u, err) : upload_complete(&u, true, err);
    upload_free(&u);
    url_free(&url);
    return s;
}

static enum leat_status upload_new(struct remote *r, struct leat_error *err)
{
    return upload(r, "s3://b/new", false, err);
}

static enum leat_status upload_found(struct remote *r, struct leat_error *err)
{
    return upload(r, "s3://b/found", true, err);
}

static enum leat_status blocks_new(struct remote *r, struct leat_error *err)
{
    return upload(r, "az://b/new", false, err);
}

static enum leat_status blocks_found(struct remote *r, struct leat_error *err)
{
    return upload(r, "az://b/found", true, err);
}

static bool is_dead(void *context, const char *key)
{
    (void)context;
    say("%s;", key);
    return true;
}

static enum leat_status sweep(struct remote *r, struct leat_error *err)
{
    struct url url;
    enum leat_status s = url_parse(&url, "s3://b/swept", err);

    if (s == LEAT_OK)
        s = upload_sweep(r, &url, is_dead, NULL, err);
    url_free(&url);
    return s;
}

/* ---- Each allocation fails -------------------------------------------------------------------------------------- */

/* Variables as "NAME=value"; @ is the server's URL, # the server without http://, ~ the test's folder. */
#define KEYS  "AWS_ACCESS_KEY_ID=i", "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=t", "AWS_ENDPOINT_URL=@"

#define AZURE "AZURE_STORAGE_ACCOUNT=a", "AZURE_STORAGE_ENDPOINT=@/a"

static const struct scenario {
    const char *name;
    enum leat_status (*work)(struct remote *r, struct leat_error *err);
    const char *expected;
    const char *variables[6];
} scenarios[] = {
    { "an object", read_in_bucket, "s3://b/object ello;", { KEYS } },
    { "an object of another region", read_in_bucket, "s3://b/object ello;", { KEYS, "AWS_REGION=elsewhere" } },
    { "an object elsewhere", read_moved, NULL, { "AWS_EC2_METADATA_DISABLED=true" } },
    { "two objects", look_at_dataset, "s3://b/data.leat s3://b/data.tokens hh;", { KEYS } },
    { "a list",
      list,
      "p/1 5 \"e\";p/2 7 ;",
      { "AWS_PROFILE=p", "AWS_CONFIG_FILE=~/config", "AWS_SHARED_CREDENTIALS_FILE=~/credentials",
        "AWS_ENDPOINT_URL=@" } },
    { "an upload", upload_new, "s3://b/new n 0;", { KEYS } },
    { "an upload that goes on", upload_found, "s3://b/found f 1;", { KEYS } },
    { "uploads that are swept", sweep, "swept/1;swept/2;", { KEYS } },
    { "keys by web identity",
      read_in_bucket,
      "s3://b/object ello;",
      { "AWS_ROLE_ARN=r", "AWS_WEB_IDENTITY_TOKEN_FILE=~/token", "AWS_ENDPOINT_URL_STS=@/sts", "AWS_ENDPOINT_URL=@" } },
    { "keys of a container",
      read_in_bucket,
      "s3://b/object ello;",
      { "AWS_CONTAINER_CREDENTIALS_FULL_URI=@/security-credentials/role",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=~/token", "AWS_ENDPOINT_URL=@" } },
    { "keys of an instance",
      read_in_bucket,
      "s3://b/object ello;",
      { "AWS_EC2_METADATA_SERVICE_ENDPOINT=@", "AWS_ENDPOINT_URL=@" } },
    { "a token of Google", read_of_google, "gs://b/object ello;", { "GCE_METADATA_HOST=#", "AWS_ENDPOINT_URL=@" } },
    { "an object of Azure", read_of_azure, "az://b/object ello;", { AZURE, "AZURE_STORAGE_KEY=QUFB" } },
    { "a list of Azure", list_of_azure, "p/1 5 \"e\";p/2 7 ;", { AZURE, "AZURE_STORAGE_SAS_TOKEN=?sig=x" } },
    { "an upload to Azure",
      blocks_new,
      "az://b/new  0;",
      { "AZURE_STORAGE_CONNECTION_STRING=AccountName=a;AccountKey=QUFB;BlobEndpoint=@/a" } },
    { "an upload to Azure that goes on", blocks_found, "az://b/found  1;", { AZURE, "AZURE_STORAGE_KEY=QUFB" } },
};

static void set_variables(const struct scenario *c, const char *folder)
{
    clearenv();
    for (const char *const *v = c->variables; *v; v++) {
        const char *value = strchr(*v, '=') + 1, *rest = strpbrk(value, "@#~");
        char name[64], whole[600];

        snprintf(name, sizeof name, "%.*s", (int)(value - 1 - *v), *v);
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)strcspn(value, "@#~"), value,
                 !rest          ? ""
                 : *rest == '@' ? server.url
                 : *rest == '#' ? server.url + strlen("http://")
                                : folder,
                 rest ? rest + 1 : "");
        setenv(name, whole, 1);
    }
}

static void check_work(const struct scenario *c, struct remote *r)
{
    struct leat_error err = { .message = "" };
    enum leat_status s;

    said[0] = '\0';
    s = c->work(r, &err);
    if (s != LEAT_OK || (c->expected && strcmp(said, c->expected) != 0))
        T_FAIL("%s: %s: %s; %s", c->name, leat_status_name(s), err.message, said);
}

static void check_failure(const struct scenario *c, const char *what, uint64_t n, enum leat_status s,
                          const struct leat_error *err)
{
    if (s != LEAT_E_NO_MEMORY || err->status != s || !err->message[0])
        T_FAIL("%s: %s, allocation %u (%s): %s: %s", c->name, what, (unsigned)n, fault_failed(), leat_status_name(s),
               err->message);
}

typedef void one_failure(const struct scenario *c, enum fault_mode mode, uint64_t n);

static void fail_opening(const struct scenario *c, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { .message = "" };
    struct remote *r;
    enum leat_status s;

    fault_arm(FAULT_MEMORY, mode, n, ENOMEM);
    s = remote_open(&r, NULL, &err);
    fault_disarm();
    if (fault_failed())
        check_failure(c, "opening", n, s, &err);
    T_EQ(s == LEAT_OK, r != NULL);
    remote_close(r);
}

static void fail_work(const struct scenario *c, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { .message = "" };
    struct remote *r;
    enum leat_status s;

    T_OK(remote_open(&r, NULL, &t_err));
    fault_arm(FAULT_MEMORY, mode, n, ENOMEM);
    s = c->work(r, &err);
    fault_disarm();
    if (fault_failed())
        check_failure(c, "work", n, s, &err);
    check_work(c, r);
    remote_close(r);
}

/* Each allocation fails in turn; how many there are. */
static unsigned fail_each(const struct scenario *c, enum fault_mode mode, one_failure *fail)
{
    long allocations = fault_allocations();
    unsigned files = fault_open_files();

    for (uint64_t n = 1;; n++) {
        fail(c, mode, n);
        T_EQ(fault_allocations(), allocations);
        T_EQ(fault_open_files(), files);
        if (!fault_failed() || t_failures)
            return (unsigned)n - 1;
    }
}

int main(void)
{
    const char *folder = t_folder();
    struct leat_error err;
    struct remote *r;

    small_server_open(&server, answer);
    t_write_text(t_path(folder, "token"), "t\n");
    t_write_text(t_path(folder, "config"), "[profile p]\nregion = us-west-2\n");
    t_write_text(t_path(folder, "credentials"), "[p]\naws_access_key_id = i\naws_secret_access_key = s\n");
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const struct scenario *c = &scenarios[i];
        unsigned opening = 0, work = 0;

        set_variables(c, folder);
        if (remote_open(&r, NULL, &err) == LEAT_E_UNSUPPORTED) /* what libcurl keeps for good comes with the first */
            return t_skip(err.message);
        check_work(c, r);
        remote_close(r);
        for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_FROM_THEN_ON; mode++) {
            opening += fail_each(c, mode, fail_opening);
            work += fail_each(c, mode, fail_work);
        }
        fprintf(stderr, "%s: %u failures of opening, %u of work\n", c->name, opening, work);
        T_CHECK(opening >= 4 && work > 20);
    }
    small_server_close(&server);
    return t_end();
}
