/*
 * fuzz_chat.c: any bytes as a chat template and a conversation: the template is taken or refused with a reason; the
 * rendered text is UTF-8 with a mark for each byte, the same with more memory, and rendering keeps to its memory and to
 * its steps, and stops when it is asked to.
 *
 * The record is also rendered by chat_template_apply(), its members as the template's variables.
 *
 * The input is a byte for the memory, the template, a zero byte, and a record whose "messages" are the conversation,
 * and whose "tools" are its tools, if they are an array.
 *
 *   make fuzz FUZZ=chat FUZZ_SECONDS=3600
 */
#include <stdbool.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "chat/chat_template.h"
#include "corpus/json/json_scan.h"
#include "fuzz.h"

#if defined FUZZ_ENGINE && !defined FUZZ_PLAIN
#include "memory.h"
#else /* one fuzzer of all in a program can count */
static inline int64_t memory_begin(void)
{
    return 0;
}

static inline uint64_t memory_grown(int64_t begin)
{
    (void)begin;
    return 0;
}
#endif

#define MAX_ASKED  400u  /* times that it is asked whether to stop, in as many steps as there may be */
#define SLACK      4096u /* of one block that is allocated over the limit's last bytes */
#define ANY_MEMORY ((size_t)64 << 20)

struct asking {
    unsigned asked, stop_at; /* 0: never */
};

static uint32_t ask(void *context)
{
    struct asking *a = context;

    a->asked++;
    FUZZ_CHECK(a->asked < MAX_ASKED && (a->stop_at == 0 || a->asked <= a->stop_at));
    return a->asked == a->stop_at;
}

static enum leat_status render(const struct chat_template *t, const struct chat_record *record, size_t max_bytes,
                               unsigned stop_at, struct buffer *text, struct buffer *marks, bool *too_big)
{
    struct leat_error err = { 0 };
    struct asking asking = { 0, stop_at };
    const struct chat_limits limits = { max_bytes, ask, &asking };
    int64_t begin = memory_begin();
    enum leat_status s = chat_template_render(t, record, &limits, text, marks, too_big, &err);

    FUZZ_CHECK(memory_grown(begin) <= max_bytes + max_bytes / 64 + SLACK);
    FUZZ_CHECK(s == LEAT_OK || (err.status == s && err.message[0]));
    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_TEXT || s == LEAT_E_STOPPED);
    FUZZ_CHECK((s == LEAT_E_STOPPED) == (stop_at > 0 && asking.asked == stop_at));
    return s;
}

static void check_text(const struct buffer *text, const struct buffer *marks)
{
    FUZZ_CHECK(text->size == marks->size);
    FUZZ_CHECK(text->size == 0 || utf8_valid_prefix(text->bytes, text->size) == text->size);
    for (size_t i = 0; i < marks->size; i++)
        FUZZ_CHECK(marks->bytes[i] <= (CHAT_BYTE_DATA | CHAT_BYTE_LEARNED));
}

/* The array that a member of the record is; false: it is none, or the record is no object of UTF-8. */
static bool find(const char *member, const char *record, size_t bytes, struct json_fields *fields,
                 struct chat_source *found)
{
    struct json_scan scan;
    struct leat_error err;
    uint64_t byte;

    FUZZ_CHECK(json_fields_prepare(fields, member, "id", NULL) == LEAT_OK);
    json_scan_begin(&scan, fields);
    json_scan_feed(&scan, record, bytes);
    if (json_scan_end(&scan, &byte, &err) == JSON_MALFORMED || !json_scan_is_object(&scan) ||
        scan.place[JSON_TEXT].kind != JSON_KIND_ARRAY || utf8_valid_prefix((const uint8_t *)record, bytes) < bytes)
        return false;
    found->at = record + scan.place[JSON_TEXT].begin;
    found->bytes = bytes - (size_t)scan.place[JSON_TEXT].begin;
    return true;
}

/* With the members of the record as variables. */
static void check_applying(const struct chat_template *t, struct chat_record *record, const char *bytes, size_t size,
                           size_t max_bytes)
{
    struct buffer text = { 0 }, generated = { 0 };
    struct asking asking = { 0 };
    const struct chat_limits limits = { max_bytes, ask, &asking };
    const uint32_t *places;
    struct leat_error err = { 0 };
    bool too_big;
    enum leat_status s;

    record->variables = (struct chat_source) { bytes, size, true };
    s = chat_template_apply(t, record, &limits, &text, &generated, &too_big, &err);
    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_TEXT && err.status == s && err.message[0]));
    FUZZ_CHECK(text.size == 0 || utf8_valid_prefix(text.bytes, text.size) == text.size);
    places = (const uint32_t *)(const void *)generated.bytes;
    FUZZ_CHECK(generated.size % (2 * sizeof *places) == 0);
    for (size_t i = 0; i < generated.size / sizeof *places; i += 2)
        FUZZ_CHECK(places[i] <= places[i + 1]);
    buffer_free(&text);
    buffer_free(&generated);
}

static void check_rendering(const struct chat_template *t, const char *bytes, size_t size, size_t max_bytes)
{
    struct buffer text = { 0 }, marks = { 0 }, again = { 0 }, again_marks = { 0 };
    struct chat_record record = { 0 };
    struct json_fields fields;
    bool too_big, ever = false;

    if (!find("messages", bytes, size, &fields, &record.messages))
        return;
    find("tools", bytes, size, &fields, &record.tools);
    record.unescape = fields.kernels->unescape;
    check_applying(t, &record, bytes, size, max_bytes);
    render(t, &record, ANY_MEMORY, 1, &again, &again_marks, &too_big);
    if (render(t, &record, max_bytes, 0, &text, &marks, &too_big) == LEAT_OK) {
        check_text(&text, &marks);
        FUZZ_CHECK(render(t, &record, ANY_MEMORY, 0, &again, &again_marks, &ever) == LEAT_OK && !ever);
        FUZZ_CHECK(text.size == again.size &&
                   (text.size == 0 || (memcmp(text.bytes, again.bytes, text.size) == 0 &&
                                       memcmp(marks.bytes, again_marks.bytes, text.size) == 0)));
    }
    buffer_free(&text);
    buffer_free(&marks);
    buffer_free(&again);
    buffer_free(&again_marks);
}

FUZZ_TARGET(chat)
{
    static const struct chat_global globals[] = { { "bos_token", "<s>" }, { "eos_token", "</s>" } };
    const uint8_t *end = size > 0 ? memchr(data + 1, 0, size - 1) : NULL;
    struct chat_template *t = NULL;
    struct leat_error err = { 0 };
    enum leat_status s;
    size_t bytes, left;
    char *record;

    if (!end)
        return 0;
    bytes = (size_t)(end - data) - 1;
    left = size - bytes - 2;
    s = chat_template_make(&t, (const char *)data + 1, bytes, globals, 2, &err);
    FUZZ_CHECK((s == LEAT_OK) == (t != NULL));
    if (s != LEAT_OK) {
        FUZZ_CHECK(s == LEAT_E_UNSUPPORTED && err.message[0]);
        return 0;
    }
    record = malloc(left + 1); /* the byte after it is read, and is none of JSON's */
    FUZZ_CHECK(record);
    memcpy(record, end + 1, left);
    record[left] = '\n';
    check_rendering(t, record, left, ((size_t)data[0] + 1) << 16);
    free(record);
    chat_template_free(t);
    return 0;
}
