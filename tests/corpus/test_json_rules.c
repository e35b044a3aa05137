/*
 * test_json_rules.c: what is read of JSON besides texts and ids, of cases at the limits: conditions on fields, with
 * quotes in quotes and numbers that are too long to be numbers; spans of a mask; values that choose a dataset; messages
 * and tools; and what a file that is one array, or one object after another, should have where it
 * is broken. Files that Python makes are in tests/pack.
 */
#include "base/buffer.h"
#include "condition/decimal.h"
#include "corpus/json/json_records.h"
#include "corpus/record/conversation.h"
#include "corpus/record/judge.h"
#include "t.h"

/* begin, `count` times `part`, end; the caller frees it. */
static char *repeat(const char *begin, const char *part, size_t count, const char *end)
{
    size_t bytes = strlen(part), at = strlen(begin);
    char *all = malloc(at + count * bytes + strlen(end) + 1);

    if (!all)
        exit(1);
    memcpy(all, begin, at);
    for (; count > 0; count--, at += bytes)
        memcpy(all + at, part, bytes);
    memcpy(all + at, end, strlen(end) + 1);
    return all;
}

/* ---- Judging ---- */

/* What judges say of a record, as `options` ask; the spans are the caller's. */
static enum leat_status judge(const struct leat_pack_options *options, const char *json, struct verdict *v,
                              struct buffer *spans)
{
    struct leat_pack_options o = *options;
    struct record_fields fields = { 0 };
    struct record_judges judges = { { NULL } };
    struct record r = { 0 };
    enum leat_status s;

    o.text = o.id = o.messages = "text";
    o.tools = "";
    v->spans = spans;
    v->kept_out = false;
    v->by_bytes = 0;
    s = judges_prepare(&judges, &fields, &o, &t_err);
    if (s == LEAT_OK)
        s = record_make(&r, &fields, &t_err);
    if (s == LEAT_OK)
        s = record_read(&r, json, strlen(json), &t_err);
    if (s == LEAT_OK)
        s = judges_judge(&judges, &r, v, &t_err);
    record_free(&r);
    judges_free(&judges);
    record_fields_free(&fields);
    return s;
}

/* ---- Conditions ---- */

static void check_condition(const char *condition, const char *record, bool holds)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    static struct verdict v;

    o.keep = &condition;
    o.keep_count = 1;
    if (judge(&o, record, &v, NULL) != LEAT_OK)
        T_FAIL("%s: %s", condition, t_err.message);
    else if (v.kept_out == holds)
        T_FAIL("%s %s for %s", condition, holds ? "does not hold" : "holds", record);
}

static void test_conditions(void)
{
    static const struct {
        const char *condition, *record;
        bool holds;
    } cases[] = {
        { "t = 'say \"x\"'", "{\"t\":\"say \\\"x\\\"\"}", true },
        { "t = 'say \"x\"'", "{\"t\":\"say x\"}", false },
        { "t = 'it\\'s'", "{\"t\":\"it's\"}", true },
        { "t = ' a '", "{\"t\":\" a \"}", true },
        { "t = a  \t ", "{\"t\":\"a\"}", true },
        { "t exists \t", "{\"t\":\"a\"}", true },
        { "t = 1e999999999999999", "{\"t\":1e999999999999999}", true },
        { "t < 1e999999999999999", "{\"t\":5}", true },
        { "t > 5", "{\"t\":1e9999999999999999}", false }, /* 16 digits: nobody knows how much that is */
        { "t != 5", "{\"t\":1e9999999999999999}", false },
        { "t < 5", "{\"t\":-1E-9999999999999999}", false },
        { "t.u = 5", "{\"t\":{\"u\":5}, \"u\":6}", true },
        { "t.u = 5", "{\"t\":{\"u\":5}, \"t\":{}}", false }, /* the last one counts */
        { "t.u exists", "{\"t\":{\"u\":5}, \"t\":[]}", false },
        { "t exists", "{\"t\":[{\"t\":null}]}", true },
        { "t exists", "{\"t\":null}", false },
    };
    char *digits = repeat("", "1", 1001, ""), *condition = repeat("t > ", "1", 1001, "");
    char *record = repeat("{\"t\":", "2", 1001, "}"), *text = repeat("{\"t\":\"", "2", 1001, "\"}");
    char *most = repeat("{\"t\":", "2", 1000, "}");
    struct decimal d;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_condition(cases[i].condition, cases[i].record, cases[i].holds);
    check_condition("t > 5", most, true);
    check_condition("t > 5", record, false); /* with one digit more, it is not compared as a number */
    check_condition(condition, record, false);
    check_condition(condition, text, true); /* and such a value is compared with strings */
    T_CHECK(decimal_read(&d, digits, 1000) && d.count == 1000);
    T_CHECK(!decimal_read(&d, digits, 1001));
    T_CHECK(!decimal_read(&d, "1.", 2));
    T_CHECK(decimal_read(&d, "1e123456789012345", 17) && d.exponent == 123456789012346);
    T_CHECK(!decimal_read(&d, "1e1234567890123456", 18));
    free(digits);
    free(condition);
    free(record);
    free(text);
    free(most);
}

/* ---- Spans ---- */

static void test_spans(void)
{
    static const struct {
        const char *record, *spans; /* or what is said */
    } cases[] = {
        { "{\"m\":[]}", "" },
        { "{\"m\": [ [ 0 , 2 ] , [2,5]\n]}", "0-2 2-5 " },
        { "{}", "the record has no \"m\" that says what is learned" },
        { "{\"m\":[[0,2],[1,5]]}", "is not a list of [begin, end] places in the text, in order and apart" },
        { "{\"m\":[[0,2.0]]}", "is not a list of [begin, end]" },
        { "{\"m\":[[0,1e1]]}", "is not a list of [begin, end]" },
        { "{\"m\":[[0,99999999999]]}", "is not a list of [begin, end]" },
        { "{\"m\":{\"a\":[0,2]}}", "is not a list of [begin, end]" },
    };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    static struct verdict v;

    o.mask_field = "m";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer found = { 0 };
        struct leat_span span;
        char text[100] = "";

        if (judge(&o, cases[i].record, &v, &found) != LEAT_OK) {
            T_CONTAINS(t_err.message, cases[i].spans);
            T_CHECK(cases[i].spans[0]);
            T_EQ(found.size, 0);
        } else {
            for (size_t at = 0; at < found.size; at += sizeof span) {
                memcpy(&span, found.bytes + at, sizeof span);
                snprintf(text + strlen(text), sizeof text - strlen(text), "%d-%d ", (int)span.begin, (int)span.end);
            }
            T_STR(text, cases[i].spans);
        }
        buffer_free(&found);
    }
}

/* ---- What chooses a dataset ---- */

static void test_by(void)
{
    static const struct {
        const char *begin, *part;
        size_t count;
        const char *end, *says; /* NULL: it is taken */
    } cases[] = {
        { "{\"b\":\"", "x", JUDGE_BY_BYTES, "\"}", NULL },
        { "{\"b\":\"", "x", JUDGE_BY_BYTES + 1, "\"}", "\"b\" is longer than 1024 bytes: it is to choose a dataset" },
        { "{\"b\":\"", "\\u0041", JUDGE_BY_BYTES, "\"}", NULL },
        { "{\"b\":\"", "\\u0041", JUDGE_BY_BYTES + 1, "\"}", "\"b\" is longer than 1024 bytes" },
        { "{\"b\":", "1", RECORD_RAW_BYTES * JUDGE_BY_BYTES + 1, "}", "\"b\" is longer than 1024 bytes" },
        { "{\"b\":\"", "\\u0000", 1, "\"}", "\"b\" has a zero byte" },
        { "{\"b\":", "[", 1, "]}", "not a string, a number, true or false" },
        { "{\"a\":", "1", 1, "}", "the record has no \"b\" to choose its dataset by" },
        { "{\"b\":", "null", 1, "}", "\"b\" is null, not a string, a number, true or false" },
    };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    static struct verdict v;

    o.by = "b";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *record = repeat(cases[i].begin, cases[i].part, cases[i].count, cases[i].end);
        enum leat_status s = judge(&o, record, &v, NULL);

        T_STATUS(s, cases[i].says ? LEAT_E_TEXT : LEAT_OK);
        if (cases[i].says)
            T_CONTAINS(t_err.message, cases[i].says);
        else
            T_EQ(v.by_bytes, JUDGE_BY_BYTES);
        free(record);
    }
}

/* ---- Conversations ---- */

static void check_chat(const char *json, size_t bytes, const char *says)
{
    struct record_fields fields = { 0 };
    struct conversation found = { .own = NULL };
    struct record r;
    enum leat_status s;

    T_OK(conversation_want(&fields, "m", "id", &t_err));
    T_OK(conversation_want_tools(&fields, "t", false, &t_err));
    T_OK(record_make(&r, &fields, &t_err));
    T_OK(record_read(&r, json, bytes, &t_err));
    s = conversation_take(&found, &r, &t_err);
    T_STATUS(s, says ? LEAT_E_TEXT : LEAT_OK);
    if (says)
        T_CONTAINS(t_err.message, says);
    conversation_free(&found);
    record_free(&r);
    record_fields_free(&fields);
}

static void test_chat(void)
{
    static const struct {
        const char *record, *says;
    } cases[] = {
        { "{\"m\":[],\"t\":\" [1] \"}", NULL },
        { "{\"m\":[],\"t\":\" null\"}", NULL },
        { "{\"m\":[],\"t\":\"{]\"}", "\"t\" is a string, but not JSON: it should hold the list of tools" },
        { "{\"m\":[],\"t\":5}", "\"t\" is a number, not a list of tools" },
        { "{\"m\":5}", "\"m\" is a number, not an array of messages" },
        { "{\"m\":[],\"t\":\"[1], 2\"}", "\"t\" is a string, but not JSON: it should hold the list of tools" },
        { "{\"m\":[\"\xff\"]}", "\"m\" is not valid UTF-8" },
        { "{\"m\":[],\"t\":\"[\\\"\xff\\\"]\"}", "\"t\" is not valid UTF-8" },
        { "{\"m\":[],\"other\":\"\xff\"}", NULL },
    };
    char *most = repeat("{\"m\":[],\"id\":\"", "i", RECORD_ID_BYTES, "\"}");
    char *more = repeat("{\"m\":[],\"id\":\"", "i", RECORD_ID_BYTES + 1, "\"}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_chat(cases[i].record, strlen(cases[i].record), cases[i].says);
    check_chat(most, strlen(most), NULL);
    check_chat(more, strlen(more), "the id \"id\" is longer than 64 KiB");
    free(most);
    free(more);
}

/* What a renderer gets is a value from its first byte to its last, whatever brackets its strings hold. */
static void test_chat_parts(void)
{
    static const char json[] = "{ \"m\" : [ {\"content\":\"]}\"}, [] ] , \"t\":[{\"m\":[]}] , \"o\":{} }";
    struct record_fields fields = { 0 };
    struct conversation c;
    struct record r;

    T_OK(conversation_want(&fields, "m", "id", &t_err));
    T_OK(conversation_want_tools(&fields, "t", false, &t_err));
    T_OK(record_make(&r, &fields, &t_err));
    T_OK(record_read(&r, json, sizeof json - 1, &t_err));
    T_OK(conversation_take(&c, &r, &t_err));
    T_EQ(c.messages.bytes, strlen("[ {\"content\":\"]}\"}, [] ]"));
    T_CHECK(memcmp(c.messages.at, "[ {\"content\":\"]}\"}, [] ]", c.messages.bytes) == 0);
    T_EQ(c.tools.bytes, strlen("[{\"m\":[]}]"));
    T_CHECK(memcmp(c.tools.at, "[{\"m\":[]}]", c.tools.bytes) == 0);
    conversation_free(&c);
    record_free(&r);
    record_fields_free(&fields);
}

/* ---- Records that lie in no lines ---- */

static void check_records(enum json_layout layout, const char *bytes, unsigned records, enum json_records_found last,
                          size_t position, const char *expected)
{
    enum json_records_found found = JSON_RECORDS_RECORD;
    struct json_records r;

    json_records_begin(&r, layout, 0);
    for (unsigned i = 0; i <= records; i++) {
        T_EQ(found, JSON_RECORDS_RECORD);
        found = json_records_next(&r, bytes + r.position, strlen(bytes) - (size_t)r.position);
    }
    if (found != last || r.position != position || strcmp(json_records_expected(&r), expected) != 0)
        T_FAIL("%.40s: after %u records %d at byte %d, where %s is expected", bytes, records, (int)found,
               (int)r.position, json_records_expected(&r));
}

static void test_arrays(void)
{
    /* deeper than records may be, where brackets are counted only: the record ends where it does */
    char *deep = repeat("[", "[{\"a\":", 1000, "5"), *closed = repeat(deep, "}]", 1000, "}]");

    check_records(JSON_ARRAY, "\xef\xbb\xbfx", 0, JSON_RECORDS_BROKEN, 3, "[");
    check_records(JSON_ARRAY, " ", 0, JSON_RECORDS_MORE, 1, "[");
    check_records(JSON_ARRAY, "[ ,", 0, JSON_RECORDS_BROKEN, 2, "an object ({) or ]");
    check_records(JSON_ARRAY, "[", 0, JSON_RECORDS_MORE, 1, "an object ({) or ]");
    check_records(JSON_ARRAY, "[{},}", 1, JSON_RECORDS_BROKEN, 4, "an object ({)");
    check_records(JSON_ARRAY, "[{}{", 1, JSON_RECORDS_BROKEN, 3, "a comma or ]");
    check_records(JSON_ARRAY, "[{}]{", 1, JSON_RECORDS_BROKEN, 4, "the end of the file");
    check_records(JSON_ARRAY, "[{\"a\":[}]", 0, JSON_RECORDS_BROKEN, 7, "the bracket that closes another one");
    check_records(JSON_ARRAY, "[\"a\\\"", 0, JSON_RECORDS_MORE, 5, "the quote after a string");
    check_records(JSON_ARRAY, "[12", 0, JSON_RECORDS_MORE, 3, "a comma or ]");
    check_records(JSON_ARRAY, closed, 1, JSON_RECORDS_BROKEN, strlen(closed) - 2, "a comma or ]");
    free(deep);
    free(closed);
}

static void test_objects(void)
{
    check_records(JSON_OBJECTS, "\xef\xbb\xbf{}{\n}\n", 2, JSON_RECORDS_MORE, 9, "an object ({)");
    check_records(JSON_OBJECTS, "{} ,{}", 1, JSON_RECORDS_BROKEN, 3, "an object ({)");
    check_records(JSON_OBJECTS, "{}]", 1, JSON_RECORDS_BROKEN, 2, "an object ({)");
    check_records(JSON_OBJECTS, "{}12{}\"a\"[]5\"b\"", 7, JSON_RECORDS_MORE, 15, "an object ({)");
    check_records(JSON_OBJECTS, "{\"a\":[}", 0, JSON_RECORDS_BROKEN, 6, "the bracket that closes another one");
    check_records(JSON_OBJECTS, "{} {\"", 1, JSON_RECORDS_MORE, 5, "the quote after a string");
}

int main(void)
{
    test_conditions();
    test_spans();
    test_by();
    test_chat();
    test_chat_parts();
    test_arrays();
    test_objects();
    return t_end();
}
