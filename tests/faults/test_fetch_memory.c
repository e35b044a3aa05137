/*
 * test_fetch_memory.c: whichever allocation fails, or thread cannot be started, while objects on a server are found and
 * read: an error with a sentence, nothing left allocated or open, and the same inputs and bytes afterwards. Who waits
 * for a range of an object is told that there was no memory for it, though another thread asks for it.
 */
#include "corpus/fetch/fetch.h"
#include "corpus/inputs.h"
#include "corpus/streams/byte_stream.h"
#include "support/fault.h"
#include "support/small_server.h"
#include "t.h"

#define OBJECT "{\"text\":\"a text that has more than sixty-four bytes, so that its first ones are not all\"}\n"
#define TABLE  "PAR1, and what a table has"
#define BYTES  (sizeof OBJECT - 1)

static struct small_server server;
static char said[4096]; /* what came of the work */

static void answer(const char *request, char *out)
{
    const char *range = strcasestr(request, "\r\nRange: bytes="), *text = strstr(request, "/table") ? TABLE : OBJECT;
    unsigned bytes = (unsigned)strlen(text), first = 0, last = bytes - 1;
    char more[128], body[400];

    if (strstr(request, "list-type=2")) {
        snprintf(body, sizeof body,
                 "<ListBucketResult><Contents><Key>p/1.jsonl</Key><Size>%u</Size><ETag>\"e\x7f\"</ETag></Contents>"
                 "<Contents><Key>p/_x/2</Key><Size>5</Size></Contents></ListBucketResult>",
                 (unsigned)BYTES);
        small_server_say(out, "200 OK", "", body);
        return;
    }
    if (range)
        (void)sscanf(range + 15, "%u-%u", &first, &last);
    last = last < bytes - 1 ? last : bytes - 1;
    snprintf(more, sizeof more, "ETag: \"e\"\r\nContent-Range: bytes %u-%u/%u\r\n", first, last, bytes);
    snprintf(body, sizeof body, "%.*s", (int)(last + 1 - first), &text[first]);
    small_server_say(out, "206 Partial Content", more, body);
}

/* ---- The work --------------------------------------------------------------------------------------------------- */

static void say(const char *bytes, size_t count)
{
    snprintf(said + strlen(said), sizeof said - strlen(said), "%.*s|", (int)count, bytes);
}

/* As a file is read; and a stretch, as tables are. */
static enum leat_status read_object(const struct input *in, struct leat_error *err)
{
    struct byte_stream *stream;
    struct fetch *stretch;
    char bytes[BYTES + 10];
    size_t got = 0;
    enum leat_status s = byte_stream_open_stoppable(&stream, in->place, in->path, in->object, NULL, NULL, err);

    if (s == LEAT_OK)
        s = byte_stream_read(stream, bytes, sizeof bytes, &got, err);
    if (s == LEAT_OK)
        say(bytes, got);
    byte_stream_close(stream);
    if (s == LEAT_OK)
        s = fetch_open_stretch(&stretch, in->object, 2, 6, 1 << 16, err);
    if (s != LEAT_OK)
        return s;
    s = fetch_read_all(stretch, 2, bytes, 4, NULL, err);
    if (s == LEAT_OK)
        say(bytes, 4);
    fetch_close(stretch);
    return s;
}

static enum leat_status work(struct leat_error *err)
{
    static const char *const words[] = { "s3://b/p/", "s3://b/named.jsonl", "s3://b/table" };
    static const struct leat_pack_options options = LEAT_PACK_OPTIONS_INIT;
    struct input_rules rules = { .options = &options };
    struct input_list list;
    enum leat_status s = inputs_find(&list, words, 3, &rules, err);

    said[0] = '\0';
    if (s != LEAT_OK)
        return s;
    for (size_t i = 0; s == LEAT_OK && i < list.count; i++) {
        say(list.items[i].path, strlen(list.items[i].path));
        say(fetch_object_etag(list.items[i].object), 10);
        s = read_object(&list.items[i], err);
        say(fetch_object_etag(list.items[i].object), 10);
    }
    inputs_free(&list);
    return s;
}

static void check_work(const char *expected)
{
    struct leat_error err = { .message = "" };
    enum leat_status s = work(&err);

    if (s != LEAT_OK || strcmp(said, expected) != 0)
        T_FAIL("%s: %s; %s", leat_status_name(s), err.message, said);
}

/* A stretch that begins at the end, as a damaged table may name one, has nothing to ask for. */
static void check_empty_stretch(void)
{
    static const char *const word = "s3://b/named.jsonl";
    static const struct leat_pack_options options = LEAT_PACK_OPTIONS_INIT;
    struct input_rules rules = { .options = &options };
    struct input_list list;
    struct fetch *stretch;
    char bytes[4];
    size_t got;

    T_OK(inputs_find(&list, &word, 1, &rules, &t_err));
    T_OK(fetch_open_stretch(&stretch, list.items[0].object, BYTES, BYTES + 5, 1 << 16, &t_err));
    T_OK(fetch_read(stretch, BYTES, bytes, sizeof bytes, &got, NULL, &t_err));
    T_EQ(got, 0);
    T_OK(fetch_read_all(stretch, 2, bytes, 4, NULL, &t_err)); /* and what lies elsewhere is still there */
    T_CHECK(memcmp(bytes, "text", 4) == 0);
    fetch_close(stretch);
    inputs_free(&list);
}

/* Each in turn; how many there are. */
static unsigned fail_each(const char *expected, const char *call, enum fault_mode mode, enum leat_status status)
{
    long allocations = fault_allocations();
    unsigned files = fault_open_files();

    for (uint64_t n = 1;; n++) {
        struct leat_error err = { .message = "" };
        enum leat_status s;

        if (call)
            fault_arm_call(call, mode, n, EAGAIN);
        else
            fault_arm(FAULT_MEMORY, mode, n, ENOMEM);
        s = work(&err);
        fault_disarm();
        if (fault_failed() && (s != status || err.status != s || !err.message[0]))
            T_FAIL("%s %u: %s: %s", fault_failed(), (unsigned)n, leat_status_name(s), err.message);
        T_EQ(fault_allocations(), allocations);
        T_EQ(fault_open_files(), files);
        if (!fault_failed() || t_failures)
            return (unsigned)n - 1;
        check_work(expected);
    }
}

int main(void)
{
    /* the list's etag is no text, and counts as missing until the object is read */
    static const char expected[] = "s3://b/p/1.jsonl||" OBJECT "|text|\"e\"|"
                                   "s3://b/named.jsonl|\"e\"|" OBJECT "|text|\"e\"|"
                                   "s3://b/table|\"e\"|" TABLE "|R1, |\"e\"|";
    struct leat_error err;

    small_server_open(&server, answer);
    setenv("AWS_ACCESS_KEY_ID", "i", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
    setenv("AWS_ENDPOINT_URL", server.url, 1);
    if (work(&err) == LEAT_E_UNSUPPORTED) /* what libcurl keeps for good comes with the first */
        return t_skip(err.message);
    check_work(expected);
    check_empty_stretch();
    for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_FROM_THEN_ON; mode++) {
        unsigned memory = fail_each(expected, NULL, mode, LEAT_E_NO_MEMORY);
        unsigned threads = fail_each(expected, "pthread_create", mode, LEAT_E_IO);

        fprintf(stderr, "%u allocations, %u threads\n", memory, threads);
        T_CHECK(memory > 40 && threads == 1);
    }
    small_server_close(&server);
    return t_end();
}
