/*
 * test_json.c: what the JSON writer writes is read back by Python's json module as the same values, whatever bytes the
 * strings hold. Without python3 only the fixed examples are checked.
 */
#include "base/json.h"

#include <math.h>

#include "t.h"

#define STRINGS 4000
#define LONGEST 40
#define DOUBLES 4000

static uint64_t state; /* of the random numbers */

/* Runs `write` on a writer and compares what came out. */
static void check(void (*write)(struct json *), const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct json j;

    T_CHECK(out != NULL);
    if (!out)
        return;
    json_begin(&j, out);
    write(&j);
    json_end(&j);
    fclose(out);
    T_STR(text, expected);
    free(text);
}

static void write_nested(struct json *j)
{
    json_open_object(j, NULL);
    json_u64(j, "a", UINT64_MAX);
    json_open_array(j, "c");
    json_bool(j, NULL, true);
    json_bool(j, NULL, false);
    json_null(j, NULL);
    json_open_object(j, NULL);
    json_close_object(j);
    json_open_array(j, NULL);
    json_close_array(j);
    json_close_array(j);
    json_string(j, "d", NULL);
    json_u64_or_null(j, "e", UINT64_MAX);
    json_u64_or_null(j, "f", 0);
    json_close_object(j);
}

static void write_strings(struct json *j)
{
    json_open_array(j, NULL);
    json_string(j, NULL, "");
    json_string(j, NULL, "\"\\/\b\f\n\r\t\x01\x1f\x7f");
    json_bytes(j, NULL, "a\0b", 3);
    json_string(j, NULL, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    json_string(j, NULL, "\xff\xc0\xaf\xed\xa0\x80\xe2\x82");
    json_close_array(j);
}

static void write_doubles(struct json *j)
{
    json_open_array(j, NULL);
    json_double(j, NULL, 0.1);
    json_double(j, NULL, 1);
    json_double(j, NULL, -0.0);
    json_double(j, NULL, 1e300);
    json_double(j, NULL, 1.0 / 3);
    json_double(j, NULL, NAN);
    json_double(j, NULL, -INFINITY);
    json_close_array(j);
}

static void test_examples(void)
{
    check(write_nested, "{\"a\": 18446744073709551615, \"c\": [true, false, null, {}, []], "
                        "\"d\": null, \"e\": null, \"f\": 0}\n");
    check(write_strings, "[\"\", \"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\", \"a\\u0000b\", "
                         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\", \"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]\n");
    check(write_doubles, "[0.1, 1.0, -0.0, 1e+300, 0.3333333333333333, null, null]\n");
}

/* What libraries write: into a buffer, without blanks, and where it is asked for with the bytes as they are. */
static void test_buffer(void)
{
    struct buffer text = { 0 };
    struct json j;

    json_begin_in(&j, &text, &t_err);
    json_open_object(&j, NULL);
    json_key(&j, "a\0\"", 3);
    json_string(&j, NULL, "\x7f\xff");
    json_value(&j, "b", "[1]", 3);
    j.verbatim = true;
    json_string(&j, "c", "\n\x01\x7f\xff");
    json_close_object(&j);
    json_end(&j);
    json_null(&j, NULL);
    T_STATUS(j.status, LEAT_OK);
    T_OK(buffer_append(&text, "", 1, &t_err));
    T_STR((const char *)text.bytes, "{\"a\\u0000\\\"\":\"\\u007f\xef\xbf\xbd\",\"b\":[1],"
                                    "\"c\":\"\\n\\u0001\x7f\xff\"}\nnull");
    buffer_free(&text);
}

/* Bytes that are nearly UTF-8: lead and continuation bytes in the wrong company. */
static size_t random_bytes(uint8_t *out)
{
    static const uint8_t awkward[] = { 0x00, 0x22, 0x5c, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf,
                                       0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff, 0x8f, 0x90 };
    size_t count = t_random(&state) % LONGEST;

    for (size_t i = 0; i < count; i++)
        out[i] = t_random(&state) % 4 ? awkward[t_random(&state) % sizeof awkward] : (uint8_t)t_random(&state);
    return count;
}

/* A list of pairs: the string, and its bytes as hexadecimal digits. */
static void write_random(struct json *j)
{
    uint8_t bytes[LONGEST];
    char digits[2 * LONGEST + 1];

    json_open_object(j, NULL);
    json_open_array(j, "strings");
    for (int n = 0; n < STRINGS; n++) {
        size_t count = random_bytes(bytes);

        digits[0] = '\0';
        for (size_t i = 0; i < count; i++)
            snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
        json_open_array(j, NULL);
        json_bytes(j, NULL, bytes, count);
        json_string(j, NULL, digits);
        json_close_array(j);
    }
    json_close_array(j);
    json_open_array(j, "doubles");
    for (int n = 0; n < DOUBLES; n++) {
        uint64_t bits = t_random(&state);
        double value;

        memcpy(&value, &bits, sizeof value);
        snprintf(digits, sizeof digits, "%a", value);
        json_open_array(j, NULL);
        json_double(j, NULL, value);
        json_string(j, NULL, isfinite(value) ? digits : NULL);
        json_close_array(j);
    }
    json_close_array(j);
    json_close_object(j);
}

static const char script[] =
    "import json, sys\n"
    "d = json.load(open(sys.argv[1], 'rb'))\n"
    "bad = [p for p in d['strings'] if p[0] != bytes.fromhex(p[1]).decode('utf-8', 'replace')]\n"
    "bad += [p for p in d['doubles'] if p[0] != (None if p[1] is None else float.fromhex(p[1]))]\n"
    "print('differs:', bad[0]) if bad else None\n"
    "sys.exit(1 if bad else 0)\n";

static void write_file(int fd, const char *text)
{
    FILE *out = fdopen(fd, "w");

    T_CHECK(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void test_against_python(void)
{
    char data[] = "/tmp/leat_test_json_XXXXXX", program[] = "/tmp/leat_test_script_XXXXXX";
    int data_fd = mkstemp(data), program_fd = mkstemp(program);
    FILE *out = data_fd >= 0 ? fdopen(data_fd, "w") : NULL;
    struct json j;

    T_CHECK(out && program_fd >= 0);
    if (out && program_fd >= 0) {
        json_begin(&j, out);
        write_random(&j);
        json_end(&j);
        T_EQ(fclose(out), 0);
        write_file(program_fd, script);
        T_EQ(system(t_text("python3 %s %s", program, data)), 0);
    }
    unlink(data);
    unlink(program);
}

int main(void)
{
    state = t_seed();
    test_examples();
    test_buffer();
    if (system("python3 -c 'import json' >/dev/null 2>&1") == 0)
        test_against_python();
    else
        fprintf(stderr, "python3 was not found: random values are not compared\n");
    return t_end();
}
