/*
 * test_uploads.c: what a server answers about an upload in parts is believed only if S3 could have said it: lists of
 * uploads and parts that are cut off or lead nowhere, ids and etags that are none, and a completion whose answer is 200
 * and says in its body that it failed. So when uploads are swept, of which a server may list none.
 */
#include "remote/upload.h"
#include "support/small_server.h"
#include "t.h"

#define MD5                "5d41402abc4b2a76b9719d911017c592" /* of "hello" */
#define STRANGE            "the server's answer is not valid for S3"
#define PARTS              3u

#define NONE               "<ListMultipartUploadsResult></ListMultipartUploadsResult>"
#define FOUND(key, id)     "<ListMultipartUploadsResult>" UPLOAD(key, id) "</ListMultipartUploadsResult>"
#define UPLOAD(key, id)    "<Upload><Key>" key "</Key><UploadId>" id "</UploadId></Upload>"
#define BEGUN(id)          "<InitiateMultipartUploadResult>" id "</InitiateMultipartUploadResult>"
#define LISTED(parts)      "<ListPartsResult>" parts "</ListPartsResult>"
#define PART(number, etag) "<Part><PartNumber>" number "</PartNumber><ETag>" etag "</ETag></Part>"
#define MORE(marker)       "<IsTruncated>true</IsTruncated><NextPartNumberMarker>" marker "</NextPartNumberMarker>"
#define SIXTEEN(x)         x x x x x x x x x x x x x x x x
#define LONGEST_ID         SIXTEEN(SIXTEEN("0123"))

/* The object to be uploaded has the name of its row; what the server answers to questions for its uploads, its parts,
 * and to a beginning; what comes of it: an error's sentence, or the id and the parts that are there. */
static const struct row {
    const char *name, *uploads, *parts, *begun, *sentence, *id, *there;
} rows[] = {
    { "new", NONE, "", BEGUN("<UploadId>n</UploadId>"), NULL, "n", "" },
    { "other", FOUND("other2", "o"), "", BEGUN("<UploadId>n</UploadId>"), NULL, "n", "" },
    { "longest", NONE, "", BEGUN("<UploadId>" LONGEST_ID "</UploadId>"), NULL, LONGEST_ID, "" },
    { "too_long", NONE, "", BEGUN("<UploadId>" LONGEST_ID "4</UploadId>"), STRANGE, NULL, NULL },
    { "no_id", NONE, "", BEGUN(""), STRANGE, NULL, NULL },
    { "empty_id", NONE, "", BEGUN("<UploadId></UploadId>"), STRANGE, NULL, NULL },
    { "no_answer", NONE, "", "", STRANGE, NULL, NULL },
    { "last", "<ListMultipartUploadsResult>" UPLOAD("last", "1") UPLOAD("last", "2") "</ListMultipartUploadsResult>",
      LISTED(""), "", NULL, "2", "" },
    { "id_first",
      "<ListMultipartUploadsResult><Upload><UploadId>o</UploadId><Key>id_first2</Key></Upload>"
      "<Upload><UploadId>u</UploadId><Key>id_first</Key></Upload></ListMultipartUploadsResult>",
      LISTED(""), "", NULL, "u", "" },
    { "empty_found", FOUND("empty_found", ""), "", "", STRANGE, NULL, NULL },
    { "cut_uploads", "<ListMultipartUploadsResult>" UPLOAD("cut_uploads", "1"), "", "", STRANGE, NULL, NULL },
    { "parts", FOUND("parts", "u"), LISTED(PART("2", "&quot;" MD5 "&quot;") PART("3", MD5)), "", NULL, "u", "23" },
    { "strange_parts", FOUND("strange_parts", "u"), /* each of these parts is sent again */
      LISTED(PART("0", MD5) PART("4", MD5) PART("1x", MD5) PART("1", "\"" MD5 "-2\"") PART("2", "x" MD5 "x")
                 PART("3", SIXTEEN(MD5))),
      "", NULL, "u", "" },
    { "cut_parts", FOUND("cut_parts", "u"), "<ListPartsResult>" PART("2", MD5), "", STRANGE, NULL, NULL },
    { "no_parts", FOUND("no_parts", "u"), "", "", STRANGE, NULL, NULL },
    { "circle", FOUND("circle", "u"), LISTED(MORE("1")), "", STRANGE, NULL, NULL },
    { "nowhere", FOUND("nowhere", "u"), LISTED(MORE("x")), "", STRANGE, NULL, NULL },
};

/* What the server answers to the completion of an upload of this name. */
static const struct completion {
    const char *name, *answer;
    enum leat_status status;
} completions[] = {
    { "done", "  <CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>", LEAT_OK },
    { "failed", "<Error><Code>InternalError</Code></Error>", LEAT_E_IO },
    { "cut", "<CompleteMultipartUploadResult><ETag>x</ETag>", LEAT_E_IO },
    { "silence", "", LEAT_E_IO },
};

#define UPLOADS(text) "<ListMultipartUploadsResult>" text "</ListMultipartUploadsResult>"
#define NEXT(key, id) CUT "<NextKeyMarker>" key "</NextKeyMarker><NextUploadIdMarker>" id "</NextUploadIdMarker>"
#define CUT           "<IsTruncated>true</IsTruncated>"

/* A prefix; what the server answers to questions for uploads below it, and to the removing of one; what comes of it,
 * and the keys that were asked about. */
static const struct sweep {
    const char *name, *first, *second, *code, *removed;
    enum leat_status status;
    const char *seen;
} sweeps[] = {
    { "sw_none", NONE, "", "200 OK", "", LEAT_OK, "" },
    { "sw_unknown", "", "", "501 Not Implemented", "", LEAT_OK, "" },
    { "sw_denied", "", "", "403 Forbidden", "", LEAT_OK, "" },
    { "sw_pages", UPLOADS(UPLOAD("sw_pages/a", "1+") NEXT("sw_pages/a", "1+")), UPLOADS(UPLOAD("sw_pages/b", "2")),
      "200 OK", "204 No Content", LEAT_OK, "sw_pages/a sw_pages/b " },
    { "sw_other", UPLOADS(UPLOAD("sw_/a", "1") UPLOAD("sw_other/keep", "2")), "", "200 OK", "", LEAT_OK,
      "sw_other/keep " },
    { "sw_gone", UPLOADS(UPLOAD("sw_gone/a", "1")), "", "200 OK", "404 Not Found", LEAT_OK, "sw_gone/a " },
    { "sw_stays", UPLOADS(UPLOAD("sw_stays/a", "1")), "", "200 OK", "403 Forbidden", LEAT_OK, "sw_stays/a " },
    { "sw_circle", UPLOADS(NEXT("k", "1")), UPLOADS(NEXT("k", "1")), "200 OK", "", LEAT_E_IO, "" },
    { "sw_nowhere", UPLOADS(CUT), "", "200 OK", "", LEAT_E_IO, "" },
    { "sw_cut", "<ListMultipartUploadsResult>" UPLOAD("sw_cut/a", "1"), "", "200 OK", "204 No Content", LEAT_E_IO,
      "sw_cut/a " },
    { "sw_order", UPLOADS("<Upload><UploadId>1</UploadId><Key>sw_order/a</Key></Upload>"), "", "200 OK",
      "204 No Content", LEAT_OK, "sw_order/a " },
    { "sw_id", UPLOADS(UPLOAD("sw_id/a", LONGEST_ID "0")), "", "200 OK", "", LEAT_E_IO, "" },
    { "sw_no_id", UPLOADS(UPLOAD("sw_no_id/a", "")), "", "200 OK", "", LEAT_E_IO, "" },
    { "sw_no_key", UPLOADS("<Upload><UploadId>1</UploadId></Upload>"), "", "200 OK", "", LEAT_E_IO, "" },
};

static bool asks(const char *request, const char *method, const char *what)
{
    const char *end = strstr(request, " HTTP/");

    return strncmp(request, method, strlen(method)) == 0 &&
           memmem(request, (size_t)(end + 1 - request), what, strlen(what)) != NULL;
}

static bool answer_sweep(const char *request, char *out)
{
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
        const struct sweep *w = &sweeps[i];
        const char *first = t_text("?prefix=%s&uploads=", w->name);
        const char *second = t_text("&prefix=%s&upload-id-marker=1", w->name);
        const char *one = t_text("/b/%s/", w->name);

        if (asks(request, "GET ", first) || asks(request, "GET ", second))
            small_server_say(out, w->code, "", asks(request, "GET ", first) ? w->first : w->second);
        else if (asks(request, "DELETE ", one))
            small_server_say(out, w->removed, "", "");
        else
            continue;
        return true;
    }
    return false;
}

static void answer(const char *request, char *out)
{
    char prefix[64], path[64];

    if (answer_sweep(request, out))
        return;
    for (size_t i = 0; i < sizeof completions / sizeof *completions; i++) {
        snprintf(path, sizeof path, "/b/%s?uploadId=", completions[i].name);
        if (asks(request, "POST ", path)) {
            small_server_say(out, "200 OK", "", completions[i].answer);
            return;
        }
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(prefix, sizeof prefix, "?prefix=%s&uploads=", rows[i].name);
        snprintf(path, sizeof path, "/b/%s?", rows[i].name);
        if (asks(request, "GET ", prefix) || asks(request, "GET ", path) || asks(request, "POST ", path)) {
            small_server_say(out, "200 OK", "",
                             asks(request, "GET ", prefix) ? rows[i].uploads
                             : asks(request, "GET ", path) ? rows[i].parts
                                                           : rows[i].begun);
            return;
        }
    }
    small_server_say(out, "404 Not Found", "", "");
}

static void begin(struct remote *r, const struct row *row)
{
    char name[64], there[PARTS + 1];
    struct upload u;
    enum leat_status s;
    unsigned count = 0;
    struct url url;

    snprintf(name, sizeof name, "s3://b/%s", row->name);
    T_OK(url_parse(&url, name, &t_err));
    s = upload_begin(&u, r, &url, PARTS, &t_err);
    if (row->sentence && s != LEAT_E_IO)
        T_FAIL("%s: %s", name, leat_status_name(s));
    if (row->sentence)
        T_CONTAINS(t_err.message, row->sentence);
    if (!row->sentence && s != LEAT_OK)
        T_FAIL("%s: %s", name, t_err.message);
    for (unsigned i = 0; s == LEAT_OK && i < PARTS; i++)
        if (u.parts[i].there)
            there[count++] = (char)('1' + i);
    there[count] = '\0';
    if (s == LEAT_OK && !row->sentence && (strcmp(u.id, row->id) != 0 || strcmp(there, row->there) != 0))
        T_FAIL("%s: upload %s has parts %s", name, u.id, there);
    upload_free(&u);
    url_free(&url);
}

/* An etag that a server gives for a part goes back to it, in XML. */
static void note(struct upload *u)
{
    static const char *const wrong[] = { "", "x", "<" MD5, MD5 "&", SIXTEEN(MD5) };

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        t_err.message[0] = '\0';
        T_REFUSED(upload_note(u, 0, wrong[i], &t_err), LEAT_E_IO, STRANGE);
    }
    for (unsigned i = 0; i < PARTS; i++)
        T_OK(upload_note(u, i, i == 0 ? "\"no MD5\"" : "\"" MD5 "\"", &t_err));
    T_CHECK(!u->parts[0].there && u->parts[1].there);
}

static void complete(struct remote *r, const struct completion *c)
{
    struct upload_part parts[PARTS] = { { 0 } };
    char name[64], id[] = "u";
    struct url url;
    struct upload u = { .remote = r, .url = &url, .id = id, .encoded_id = id, .parts = parts, .part_count = PARTS };

    snprintf(name, sizeof name, "s3://b/%s", c->name);
    T_OK(url_parse(&url, name, &t_err));
    note(&u);
    T_STATUS(upload_complete(&u, false, &t_err), c->status);
    if (c->status != LEAT_OK)
        T_CONTAINS(t_err.message, "could not put the parts together; run the same command again");
    url_free(&url);
}

static bool see(void *seen, const char *key)
{
    snprintf((char *)seen + strlen(seen), 64, "%s ", key);
    return !strstr(key, "keep");
}

static void sweep(struct remote *r, const struct sweep *w)
{
    char name[64], seen[256] = "";
    enum leat_status s;
    struct url url;

    snprintf(name, sizeof name, "s3://b/%s", w->name);
    T_OK(url_parse(&url, name, &t_err));
    s = upload_sweep(r, &url, see, seen, &t_err);
    if (s != w->status || strcmp(seen, w->seen) != 0)
        T_FAIL("%s: %s, %s", name, s == LEAT_OK ? "swept" : t_err.message, seen);
    url_free(&url);
}

int main(void)
{
    struct remote_options options = { .max_tries = 1 };
    struct small_server server;
    struct remote *r;

    small_server_open(&server, answer);
    small_server_settle(&server);
    if (remote_open(&r, &options, &t_err) == LEAT_E_UNSUPPORTED)
        return t_skip(t_err.message);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        begin(r, &rows[i]);
    for (unsigned i = 0; i < sizeof completions / sizeof *completions; i++)
        complete(r, &completions[i]);
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        sweep(r, &sweeps[i]);
    remote_close(r);
    small_server_close(&server);
    return t_end();
}
