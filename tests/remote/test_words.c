/*
 * test_words.c: what users and servers write, and what the room of objects on servers makes of it, word by word: where
 * requests go, URLs, the lines and the bodies of answers, XML, etags. Without a network.
 */
#include "remote/answer.h"
#include "remote/azure.h"
#include "remote/carrier.h"
#include "remote/digest.h"
#include "remote/keys.h"
#include "remote/remote.h"
#include "remote/text.h"
#include "remote/url.h"
#include "remote/xml.h"
#include "t.h"

static void test_addresses(void)
{
    static const struct {
        const char *url, *endpoint, *region, *address, *host;
    } rows[] = {
        { "s3://bucket/a b/c", NULL, "us-east-1", "https://bucket.s3.us-east-1.amazonaws.com/a%20b/c",
          "bucket.s3.us-east-1.amazonaws.com" },
        { "s3://bucket", NULL, "cn-north-1", "https://bucket.s3.cn-north-1.amazonaws.com.cn/",
          "bucket.s3.cn-north-1.amazonaws.com.cn" },
        { "s3://a.bucket/k", NULL, "us-east-1", "https://s3.us-east-1.amazonaws.com/a.bucket/k",
          "s3.us-east-1.amazonaws.com" },
        { "s3://Bucket", NULL, "us-east-1", "https://s3.us-east-1.amazonaws.com/Bucket", "s3.us-east-1.amazonaws.com" },
        { "gs://bucket/k", NULL, "us-east-1", "https://storage.googleapis.com/bucket/k", "storage.googleapis.com" },
        { "s3://bucket/k", "http://h:9/base//", "us-east-1", "http://h:9/base/bucket/k", "h:9" },
        { "https://h/p?a=b#c", "http://h:9", "us-east-1", "https://h/p?a=b", NULL },
        { "az://c/k?#%", "http://h:9/account/", "", "http://h:9/account/c/k%3F%23%25", "h:9" },
        { "hf://datasets/o/n/a b/c?", NULL, "", "https://huggingface.co/datasets/o/n/resolve/main/a%20b/c%3F",
          "huggingface.co" },
        { "hf://datasets/o/n@v 1/c@2", "http://h:9/hub/", "", NULL, NULL },
        { "hf://datasets/o/n@v%00/c", NULL, "", NULL, NULL }, /* it was read as @v */
        { "hf://datasets/o/n@v%201/c@2", "http://h:9/hub/", "", "http://h:9/hub/datasets/o/n/resolve/v%201/c%402",
          "h:9" },
        { "hf://datasets/n@refs/convert/parquet/c", NULL, "",
          "https://huggingface.co/datasets/n/resolve/refs%2Fconvert%2Fparquet/c", "huggingface.co" },
        { "hf://o/n@refs%2fpr%2F7/c", NULL, "", "https://huggingface.co/o/n/resolve/refs%2Fpr%2F7/c",
          "huggingface.co" },
        { "hf://models/o/n/c@x", NULL, "", "https://huggingface.co/o/n/resolve/main/c%40x", "huggingface.co" },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address a;
        struct url u;

        if (!rows[i].address) {
            T_STATUS(url_parse(&u, rows[i].url, &t_err), LEAT_E_ARGUMENT);
            continue;
        }
        T_OK(url_parse(&u, rows[i].url, &t_err));
        T_OK(address_make(&a, &u, rows[i].endpoint, rows[i].region, &t_err));
        T_STR(a.url, rows[i].address);
        if (rows[i].host)
            T_STR(a.host, rows[i].host);
        T_CHECK(rows[i].host || !a.host);
        address_free(&a);
        url_free(&u);
    }
}

static void test_urls(void)
{
    static const char *const wrong[][2] = { { "ftp://h/x", "ftp://h/x is not a URL" },
                                            { "https://h/a b", "https://...: not a URL that leat takes" },
                                            { "https://h/a\x7f", "https://...: not a URL that leat takes" },
                                            { "s3://b\n/x", "s3://...: not the name of a bucket" },
                                            { "az://c@host/x", "the host of an account is like" },
                                            { "az://c@a.blob.core.windows.net:1/x", "the host of an account is like" },
                                            { "az://.blob.core.windows.net/c/x", "the host of an account is like" },
                                            { "az://a.blob.core.windows.net", "no bucket; write az://" },
                                            { "abfss://@a.dfs.core.windows.net/x", "no bucket; write abfss://" } };
    static const char *const azure[][4] = {
        /* container, key, host */
        { "az://c/k/l", "c", "k/l", NULL },
        { "azure://c", "c", "", NULL },
        { "abfs://c/", "c", "", NULL },
        { "abfss://c@a.dfs.core.windows.net/k@.x", "c", "k@.x", "a.blob.core.windows.net" },
        { "az://c@a.blob.core.chinacloudapi.cn/k", "c", "k", "a.blob.core.chinacloudapi.cn" },
        { "az://a.blob.core.windows.net/c/k", "c", "k", "a.blob.core.windows.net" },
        { "az://a.z1.dfs.storage.azure.net/c", "c", "", "a.z1.blob.storage.azure.net" },
    };
    struct url u;

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        T_REFUSED(url_parse(&u, wrong[i][0], &t_err), LEAT_E_ARGUMENT, wrong[i][1]);
        T_CHECK(!u.text);
    }
    for (unsigned i = 0; i < sizeof azure / sizeof *azure; i++) {
        T_OK(url_parse(&u, azure[i][0], &t_err));
        T_STR(u.bucket, azure[i][1]);
        T_STR(u.key, azure[i][2]);
        T_CHECK(u.host ? azure[i][3] && strcmp(u.host, azure[i][3]) == 0 : !azure[i][3]);
        T_CHECK(u.scheme == URL_AZURE && url_in_bucket(&u));
        url_free(&u);
    }
    T_OK(url_parse(&u, "s3://b/\n", &t_err)); /* keys may have them, as files */
    T_STR(u.key, "\n");
    url_free(&u);
}

/* Variables are about one account: another one gets neither its key nor its endpoint. */
static void test_azure(void)
{
    static const struct {
        const char *url, *account, *endpoint, *goes;
        bool keys;
    } rows[] = {
        { "az://c/k", "a", NULL, "https://a.blob.core.windows.net", true },
        { "az://c/k", "a", "http://h/a", "http://h/a", true },
        { "az://c@a.blob.core.windows.net/k", "a", "http://h/a", "http://h/a", true },
        { "az://c@a.blob.core.windows.net/k", NULL, NULL, "https://a.blob.core.windows.net", true },
        { "az://c@ab.blob.core.windows.net/k", "a", "http://h/a", "https://ab.blob.core.windows.net", false },
        { "az://c@b.dfs.core.windows.net/k", "a", NULL, "https://b.blob.core.windows.net", false },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct environment e = { .values = {
                                     [SETTING_AZURE_KEY] = strdup("QUFB"), [SETTING_AZURE_SAS] = strdup("?sig=x") } };
        struct credentials c;
        char *endpoint;
        struct url u;

        e.values[SETTING_AZURE_ACCOUNT] = rows[i].account ? strdup(rows[i].account) : NULL;
        e.values[SETTING_AZURE_ENDPOINT] = rows[i].endpoint ? strdup(rows[i].endpoint) : NULL;
        T_OK(azure_settle(&e, &t_err));
        T_OK(url_parse(&u, rows[i].url, &t_err));
        T_OK(azure_endpoint(&endpoint, &e, &u, &t_err));
        T_STR(endpoint, rows[i].goes);
        c = azure_keys(&e, &u);
        T_CHECK((c.secret != NULL) == rows[i].keys && !c.token && !c.query);
        free(e.values[SETTING_AZURE_KEY]);
        e.values[SETTING_AZURE_KEY] = NULL;
        c = azure_keys(&e, &u);
        T_CHECK(!c.secret && (c.query ? rows[i].keys && strcmp(c.query, "sig=x") == 0 : !rows[i].keys));
        free(endpoint);
        url_free(&u);
        environment_free(&e);
    }
}

/* A connection string stands for all other variables. */
static void test_azure_strings(void)
{
    static const struct {
        const char *text, *account, *sas, *endpoint;
    } rows[] = {
        { "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=QUFB;EndpointSuffix=core.windows.net", "a", NULL,
          "https://a.blob.core.windows.net" },
        { "accountname=a;accountkey=QUFB==;", "a", NULL, NULL },
        { "BlobEndpoint=https://h/;SharedAccessSignature=?sv=1&sig=a=", NULL, "sv=1&sig=a=", "https://h/" },
        { "UseDevelopmentStorage=true;", "devstoreaccount1", NULL, "http://127.0.0.1:10000/devstoreaccount1" },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct environment e = { .values = { [SETTING_AZURE] = strdup(rows[i].text),
                                             [SETTING_AZURE_ACCOUNT] = strdup("other"),
                                             [SETTING_AZURE_SAS] = strdup("other") } };
        enum leat_status s = azure_settle(&e, &t_err);
        const char *wanted[] = { rows[i].account, rows[i].sas, rows[i].endpoint };
        const char *got[] = { e.values[SETTING_AZURE_ACCOUNT], e.values[SETTING_AZURE_SAS],
                              e.values[SETTING_AZURE_ENDPOINT] };

        if (i == 1)
            T_CHECK(s == LEAT_E_ARGUMENT && strstr(t_err.message, "AZURE_STORAGE_KEY is not a key"));
        else
            T_CHECK(s == LEAT_OK);
        for (unsigned j = 0; j < 3; j++)
            T_CHECK(wanted[j] ? got[j] && strcmp(got[j], wanted[j]) == 0 : !got[j]);
        environment_free(&e);
    }
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

static void test_head(void)
{
    static const struct {
        const char *line;
        uint64_t size, first;
        const char *etag;
    } rows[] = {
        { "Content-Length: 12", 12, 0, "" },
        { "Content-Length: 12a", UINT64_MAX, 0, "" },
        { "Content-Length:", UINT64_MAX, 0, "" },
        { "Content-Length: 1234567890123456789", UINT64_MAX, 0, "" },
        { "Content-Range: bytes 3-4/9", 9, 3, "" },
        { "Content-Range: lines 3-4/9", UINT64_MAX, 0, "" },
        { "Content-Range: bytes 3-4", UINT64_MAX, 0, "" },
        { "Content-Range: bytes 3-9/9", 9, 0, "" },
        { "ETag: \"e\"", UINT64_MAX, 0, "\"e\"" },
        { "X-Linked-Etag: \"e\"", UINT64_MAX, 0, "\"e\"" },
        { "ETag: \"\x1b[2J\"", UINT64_MAX, 0, "" }, /* it becomes a line of files */
        { "x-amz-bucket-region: a.region.of.more.than.31.letters", UINT64_MAX, 0, "" },
    };
    struct transfer t = { .answer = { .size = UINT64_MAX } };
    char line[8 + TRANSFER_ETAG];

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        t = (struct transfer) { .answer = { .size = UINT64_MAX } };
        T_CHECK(answer_line(&t, rows[i].line, strlen(rows[i].line)));
        if (t.answer.size != rows[i].size || t.answer.first != rows[i].first ||
            strcmp(t.answer.etag, rows[i].etag) != 0 || *t.answer.region)
            T_FAIL("%s: %" PRIu64 " %" PRIu64 " %s", rows[i].line, t.answer.size, t.answer.first, t.answer.etag);
        T_EQ(t.answer.bytes_of_range, rows[i].first > 0);
    }
    for (size_t length = TRANSFER_ETAG - 1; length <= TRANSFER_ETAG; length++) {
        memcpy(line, "ETag: ", 6);
        memset(line + 6, 'e', length);
        T_CHECK(answer_line(&t, line, 6 + length));
        T_EQ(strlen(t.answer.etag), length < TRANSFER_ETAG ? length : 0); /* longer ones count as missing */
    }
}

/* What the Hub says of lists, limits and files that are kept elsewhere. */
static void test_hub_head(void)
{
    static const struct {
        const char *line, *next;
        bool more;
        uint32_t exhausted;
    } rows[] = {
        { "Link: <https://h/p?a=b&c=d>; rel=\"next\"", "a=b&c=d", true, 0 },
        { "Link: <https://h/p?a=b>; rel=\"prev\"", "", false, 0 },
        { "Link: <https://h/p?a>; rel=\"prev\", <https://h/p?b>; rel=\"next\"", "b", true, 0 },
        { "Link: <https://h/p>; rel=\"next\"", "", true, 0 },
        { "Link: <https://h/p?a; rel=\"next\"", "", false, 0 },
        { "Link: <https://h/p?a b>; rel=\"next\"", "", true, 0 },
        { "Link: https://h/p?a; rel=\"next\"", "", false, 0 },
        { "RateLimit: \"api\";r=0;t=55", "", false, 56 },
        { "RateLimit: \"api\"; r=0; t=55", "", false, 56 },
        { "RateLimit: \"api\";r=10;t=55", "", false, 0 },
        { "RateLimit: \"api\";r=05;t=55", "", false, 0 },
        { "RateLimit: \"api\";r=0;t=x", "", false, 0 },
        { "RateLimit: \"api\";r=0;t=999999999999", "", false, UINT32_MAX },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct transfer t = { .answer = { .size = UINT64_MAX } };

        T_CHECK(answer_line(&t, rows[i].line, strlen(rows[i].line)));
        T_STR(t.answer.next, rows[i].next);
        T_CHECK(t.answer.more == rows[i].more && t.answer.exhausted == rows[i].exhausted);
    }
}

/* An answer that is no range has at most 16 MiB. */
static void test_body(void)
{
    static uint8_t bytes[(4 << 20) + 1];
    struct transfer t = { .code = 200 };

    for (unsigned i = 0; i < 3; i++)
        T_CHECK(answer_bytes(&t, bytes, sizeof bytes - 1));
    T_CHECK(!answer_bytes(&t, bytes, sizeof bytes));
    T_CHECK(answer_bytes(&t, bytes, sizeof bytes - 1));
    T_EQ(t.text.size, (uint64_t)16 << 20);
    T_CHECK(!answer_bytes(&t, bytes, 1) && !t.no_memory);
    transfer_free(&t);
}

static void test_refusals(void)
{
    static const struct {
        long code;
        unsigned tries;
        const char *body, *sentence;
    } rows[] = {
        { 418, 0, "", "s3://b/k: the server answered 418" },
        { 418, 2, "", "s3://b/k: the server answered 418" }, /* once; it was busy before */
        { 418, 0, "<Error><Code>Teapot</Code></Error>", "s3://b/k: the server answered 418 (Teapot)" },
        { 418, 0, "<Error><Code>a key: SECRET</Code></Error>", "s3://b/k: the server answered 418" },
        { 418, 0, "<Error><Code>&#27;</Code></Error>", "s3://b/k: the server answered 418" },
        { 403, 0, "<Error><Code>ExpiredToken</Code></Error>",
          "s3://b/k: the credentials have expired; get new ones and run this again" },
    };
    struct url u;

    T_OK(url_parse(&u, "s3://b/k", &t_err));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct transfer t = { .url = &u, .code = rows[i].code, .tries = rows[i].tries };

        T_CHECK(answer_bytes(&t, rows[i].body, strlen(rows[i].body)));
        T_CHECK(answer_failed(&t, true, NULL, &t_err) != LEAT_OK);
        T_STR(t_err.message, rows[i].sentence);
    }
    url_free(&u);
}

/* ---- XML -------------------------------------------------------------------------------------------------------- */

/* The text of <a>, or NULL if that is broken. */
static const char *text_of(const char *inner, char *out, size_t room)
{
    struct xml_text text;
    struct xml x;
    char *whole;

    T_OK(text_join(&whole, &t_err, "<a>", inner, "</a>", NULL));
    xml_begin(&x, whole, strlen(whole));
    if (xml_next(&x, &text))
        snprintf(out, room, "%.*s", (int)text.bytes, text.at);
    else
        out = NULL;
    T_CHECK(!xml_next(&x, &text) && x.broken == !out);
    free(whole);
    return out;
}

static void test_xml(void)
{
    static const char *const right[][2] = {
        { "a&amp;b&lt;&gt;&quot;&apos;", "a&b<>\"'" },
        { "&#65;&#x42;", "AB" },
        { "&#xe9;&#233;", "\xc3\xa9\xc3\xa9" },
        { "&#x7ff;", "\xdf\xbf" },
        { "&#x800;&#8364;", "\xe0\xa0\x80\xe2\x82\xac" },
        { "&#xffff;", "\xef\xbf\xbf" },
        { "&#x10000;", "\xf0\x90\x80\x80" },
        { "&#x1F600;", "\xf0\x9f\x98\x80" },
        { "&#x10ffff;", "\xf4\x8f\xbf\xbf" },
    };
    static const char *const wrong[] = { "&",     "&;",    "&nbsp;",     "&#;",      "&#x;",     "&#0;",
                                         "&#3a;", "&#xg;", "&#x110000;", "&#xd800;", "&#xdfff;", "&#x000000041;",
                                         "<b",    "</b>",  "<!DOCTYPE>" };
    char out[64];
    struct xml_text text;
    struct xml x;

    for (unsigned i = 0; i < sizeof right / sizeof *right; i++)
        T_STR(text_of(right[i][0], out, sizeof out), right[i][1]);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (text_of(wrong[i], out, sizeof out))
            T_FAIL("%s is read as \"%s\"", wrong[i], out);
    memcpy(out, "<a><b", 5);
    xml_begin(&x, out, 5);
    T_CHECK(!xml_next(&x, &text) && x.broken); /* it was cut off in a tag */
}

static enum leat_status take(void *context, const char *key, uint64_t size, const char *etag, struct leat_error *err)
{
    (void)err;
    snprintf(context, 2000, "%zu %" PRIu64 " %s", strlen(key), size, etag);
    return LEAT_OK;
}

/* A list of one object, whose key and etag have so many letters. */
static enum leat_status list_one(unsigned key, unsigned etag, char said[2000])
{
    char xml[4000], *next;
    int bytes = snprintf(xml, sizeof xml,
                         "<ListBucketResult><Contents><ETag>%0*d</ETag><Key>k%0*d</Key><Size>5</Size></Contents>"
                         "</ListBucketResult>",
                         (int)etag, 0, (int)key - 1, 0);
    struct url u;
    enum leat_status s;

    T_OK(url_parse(&u, "s3://b/k", &t_err));
    said[0] = '\0';
    s = remote_list_read(xml, (size_t)bytes, &u, take, said, &next, &t_err);
    T_CHECK(!next);
    url_free(&u);
    return s;
}

/* An etag that is too long counts as missing; a key that is too long is none that S3 would give. */
static void test_lists(void)
{
    char said[2000];

    T_OK(list_one(1024, 3, said));
    T_STR(said, "1024 5 000");
    T_OK(list_one(2, TRANSFER_ETAG - 1, said));
    T_EQ(strlen(said), 4 + TRANSFER_ETAG - 1);
    T_OK(list_one(2, TRANSFER_ETAG, said));
    T_STR(said, "2 5 ");
    T_REFUSED(list_one(1500, 3, said), LEAT_E_IO, "s3://b/k: the server's list is not valid for S3");
    T_STR(said, "");
}

/* ---- Etags ------------------------------------------------------------------------------------------------------ */

static void test_etags(void)
{
    static const char right[] = "5d41402abc4b2a76b9719d911017c592";
    static const char *const wrong[] = { "", "\"\"", "\"5d41402abc4b2a76b9719d911017c592-3\"",
                                         "\"5d41402abc4b2a76b9719d911017c59-\"", "x5d41402abc4b2a76b9719d911017c59" };
    uint8_t hash[MD5_BYTES], wanted[MD5_BYTES];
    char quoted[MD5_ETAG];

    md5_of("hello", 5, wanted);
    md5_etag(wanted, 0, quoted);
    T_CHECK(md5_of_etag(right, hash) && memcmp(hash, wanted, sizeof hash) == 0);
    T_CHECK(md5_of_etag(quoted, hash) && memcmp(hash, wanted, sizeof hash) == 0);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        T_CHECK(!md5_of_etag(wrong[i], hash));
}

int main(void)
{
    test_addresses();
    test_urls();
    test_azure();
    test_azure_strings();
    test_head();
    test_hub_head();
    test_body();
    test_refusals();
    test_xml();
    test_lists();
    test_etags();
    return t_end();
}
