/*
 * test_mirror.c: leat_pull() and leat_push() refuse what they are asked wrongly, before any request; datasets whose
 * every page and section is right, though the sum of their pages is not, are neither brought nor sent, while sections
 * that this version does not know come along. Datasets are made by hand and lie on a server of the test's.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "remote/digest.h"
#include "support/craft.h"
#include "support/small_server.h"
#include "t.h"

static const char *folder;

static const char *in_folder(const char *name)
{
    return t_path(folder, name);
}

/* ---- What is there ---------------------------------------------------------------------------------------------- */

enum { RIGHT, WRONG_SUM, ELSEWHERE, KINDS };
static const char *const names[KINDS] = { "right", "wrong-sum", "elsewhere" };
static struct craft made[KINDS];

static void make(unsigned kind)
{
    struct craft *c = &made[kind];

    craft_begin(c, 300, LEAT_NONE, LEAT_NONE);
    if (kind == ELSEWHERE) {
        craft_elsewhere(c, "head", 4);
        craft_token_file(c, "elsewhere.bin");
    }
    craft_text_document(c, "some text", NULL);
    craft_other(c, 1000, 0, "a section of a later version", 28);
    craft_index(c);
    if (kind == WRONG_SUM) {
        c->index.bytes[128] ^= 1;
        craft_repair(c, CRAFT_REPAIR_IDENTITY | CRAFT_REPAIR_HEADER);
    }
}

static void answer(const char *request, char *out)
{
    const char *range = strcasestr(request, "\r\nRange: bytes=");
    unsigned long first = 0, last = 0;
    char path[64], etag[MD5_ETAG];
    uint8_t hash[MD5_BYTES];

    for (unsigned i = 0; i < 2 * KINDS; i++) {
        const struct craft_text *t = i % 2 ? &made[i / 2].tokens : &made[i / 2].index;

        snprintf(path, sizeof path, "GET /b/%s.%s ", names[i / 2], i % 2 ? "tokens" : "leat");
        if (strncmp(request, path, strlen(path)) != 0 || !range || sscanf(range + 15, "%lu-%lu", &first, &last) != 2)
            continue;
        last = last < t->count ? last : t->count - 1;
        md5_of(t->bytes, t->count, hash);
        md5_etag(hash, 0, etag);
        small_server_give(
            out, "206 Partial Content",
            t_text("ETag: %s\r\nContent-Range: bytes %lu-%lu/%lu\r\n", etag, first, last, (unsigned long)t->count),
            t->bytes + first, last + 1 - first);
        return;
    }
    small_server_say(out, "404 Not Found", "", "");
}

/* ---- What is here ----------------------------------------------------------------------------------------------- */

static bool holds(const char *name, const struct craft_text *wanted)
{
    FILE *f = fopen(in_folder(name), "rb");
    uint8_t bytes[8192];
    size_t count = f ? fread(bytes, 1, sizeof bytes, f) : 0;

    if (f)
        fclose(f);
    return f && count == wanted->count && memcmp(bytes, wanted->bytes, count) == 0;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static void refuses(enum leat_status s, enum leat_status wanted, const char *why)
{
    T_STATUS(s, wanted);
    T_EQ(t_err.status, wanted);
    T_CONTAINS(t_err.message, why);
    t_err = (struct leat_error) { .message = "" }; /* what is said next is not of this call */
}

static void test_arguments(void)
{
    struct leat_pull_options pull = LEAT_PULL_OPTIONS_INIT;
    struct leat_push_options push = LEAT_PUSH_OPTIONS_INIT;

    refuses(leat_pull(NULL, "x", NULL, NULL, &t_err), LEAT_E_ARGUMENT, "leat_pull: the URL or the name is NULL");
    refuses(leat_pull("s3://b/x", NULL, NULL, NULL, &t_err), LEAT_E_ARGUMENT, "the URL or the name is NULL");
    refuses(leat_push(NULL, "s3://b/x", NULL, NULL, &t_err), LEAT_E_ARGUMENT, "leat_push: the name or the URL is NULL");
    refuses(leat_push("x", NULL, NULL, NULL, &t_err), LEAT_E_ARGUMENT, "the name or the URL is NULL");
    refuses(leat_pull("/tmp/x", "x", NULL, NULL, &t_err), LEAT_E_ARGUMENT, "/tmp/x is not a URL");
    refuses(leat_push("x", "/tmp/x", NULL, NULL, &t_err), LEAT_E_ARGUMENT, "/tmp/x is not a URL");
    refuses(leat_push("s3://b/x", "s3://b/y", NULL, NULL, &t_err), LEAT_E_UNSUPPORTED, "s3://b/x is a URL: only what");
    pull.connections = push.connections = 65;
    refuses(leat_pull("s3://b/x", "x", &pull, NULL, &t_err), LEAT_E_ARGUMENT, "at most 64 connections");
    refuses(leat_push("x", "s3://b/x", &push, NULL, &t_err), LEAT_E_ARGUMENT, "at most 64 connections");
    pull.size = push.size = 3;
    refuses(leat_pull("s3://b/x", "x", &pull, NULL, &t_err), LEAT_E_ARGUMENT, "leat_pull_options");
    refuses(leat_push("x", "s3://b/x", &push, NULL, &t_err), LEAT_E_ARGUMENT, "leat_push_options");
}

static void test_pulls(void)
{
    struct leat_pull_report report = LEAT_PULL_REPORT_INIT;
    struct leat_dataset *d;

    T_OK(leat_pull("s3://b/right", in_folder("right"), NULL, &report, &t_err));
    T_CHECK(holds("right.leat", &made[RIGHT].index) && holds("right.tokens", &made[RIGHT].tokens));
    T_EQ(report.bytes, made[RIGHT].index.count + made[RIGHT].tokens.count);
    T_EQ(report.tokens, 9);
    T_OK(leat_dataset_open(&d, in_folder("right"), NULL, &t_err));
    leat_dataset_close(d);
    refuses(leat_pull("s3://b/wrong-sum", in_folder("wrong-sum"), NULL, NULL, &t_err), LEAT_E_CHECKSUM,
            "s3://b/wrong-sum.tokens: the sum of all pages is wrong; verify the dataset where it was made");
    refuses(leat_pull("s3://b/elsewhere", in_folder("elsewhere"), NULL, NULL, &t_err), LEAT_E_UNSUPPORTED,
            "s3://b/elsewhere.leat is an index for tokens in another tool's file");
    T_CHECK(access(in_folder("wrong-sum.leat"), F_OK) != 0 && access(in_folder("elsewhere.leat"), F_OK) != 0);
    /* what is in the way */
    t_write(in_folder("written.partial.checkpoint"), "", 0);
    refuses(leat_pull("s3://b/right", in_folder("written"), NULL, NULL, &t_err), LEAT_E_EXISTS,
            "written.partial.checkpoint is an unfinished dataset that is written here");
    T_CHECK(mkdir(in_folder("way.partial.tokens"), 0700) == 0);
    refuses(leat_pull("s3://b/right", in_folder("way"), NULL, NULL, &t_err), LEAT_E_EXISTS,
            "way.partial.tokens is a folder, where leat writes a file");
    T_CHECK(mkdir(in_folder("way2.tokens"), 0700) == 0);
    refuses(leat_pull("s3://b/right", in_folder("way2"), NULL, NULL, &t_err), LEAT_E_EXISTS, "way2.tokens is a folder");
}

static void test_pushes(void)
{
    struct leat_push_options replace = LEAT_PUSH_OPTIONS_INIT;

    replace.force = 1;
    t_write(in_folder("wrong-sum.leat"), made[WRONG_SUM].index.bytes, made[WRONG_SUM].index.count);
    t_write(in_folder("wrong-sum.tokens"), made[WRONG_SUM].tokens.bytes, made[WRONG_SUM].tokens.count);
    refuses(leat_push(in_folder("wrong-sum"), "s3://b/new", NULL, NULL, &t_err), LEAT_E_CHECKSUM,
            "wrong-sum.tokens is damaged: the sum of its page hashes does not match its index");
    refuses(leat_push(in_folder("wrong-sum"), "s3://b/wrong-sum", &replace, NULL, &t_err), LEAT_E_CHECKSUM,
            "wrong-sum.tokens is damaged: the sum of its page hashes"); /* these very tokens are there */
    t_write(in_folder("elsewhere.leat"), made[ELSEWHERE].index.bytes, made[ELSEWHERE].index.count);
    refuses(leat_push(in_folder("elsewhere"), "s3://b/new", NULL, NULL, &t_err), LEAT_E_UNSUPPORTED,
            "elsewhere.leat is an index for tokens in another tool's file, which cannot be pushed");
}

/* That there are no keys where a variable says that there are is not that the dataset does not exist. */
static void test_keys(const char *server)
{
    const char *url = t_text("%s/none", server);

    setenv("AWS_ACCESS_KEY_ID", "", 1);
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url, 1);
    refuses(leat_pull("s3://b/right", in_folder("keys"), NULL, NULL, &t_err), LEAT_E_IO,
            "the keys of this container (AWS_CONTAINER_CREDENTIALS_*): none found");
    setenv("AWS_ROLE_ARN", "r", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", in_folder("no-token"), 1);
    refuses(leat_pull("s3://b/right", in_folder("keys"), NULL, NULL, &t_err), LEAT_E_ARGUMENT, "no-token");
    t_write(in_folder("no-token"), "t", 1);
    setenv("AWS_ENDPOINT_URL_STS", url, 1);
    refuses(leat_pull("s3://b/right", in_folder("keys"), NULL, NULL, &t_err), LEAT_E_IO,
            "the keys of AWS_ROLE_ARN by AWS_WEB_IDENTITY_TOKEN_FILE: none found");
}

int main(void)
{
    struct small_server server;

    folder = t_folder();
    for (unsigned i = 0; i < KINDS; i++)
        make(i);
    small_server_open(&server, answer);
    small_server_settle(&server);
    test_arguments();
    if (leat_pull("s3://b/none", in_folder("none"), NULL, NULL, &t_err) == LEAT_E_UNSUPPORTED)
        return t_skip(t_err.message);
    test_pulls();
    test_pushes();
    test_keys(server.url);
    small_server_close(&server);
    for (unsigned i = 0; i < KINDS; i++)
        craft_free(&made[i]);
    return t_end();
}
