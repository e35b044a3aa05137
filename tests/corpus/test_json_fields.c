/*
 * test_json_fields.c: records of JSON lines with all their oddities give the text and the id that they must, or the
 * reason; the same whole and in parts, cut anywhere, on every CPU level that this machine has.
 *
 * With arguments TEXT ID FILE it is the other side of test_json_python.py: FILE holds records, each after its length in
 * four bytes; for each it prints a line: the text and the id in hexadecimal, or the number of the problem.
 */
#include "base/bytes.h"
#include "json_cases.h"
#include "json_frozen.h"

#define LONGEST ((size_t)1 << 20)

static struct fenced fence;

/* ---- Frozen cases ----------------------------------------------------------------------------------------------- */

static void expect_same(const char *record, const struct outcome *got, const struct outcome *want, const char *how)
{
    if (!outcome_same(got, want))
        T_FAIL("%.100s, %s: problem %d, byte %" PRIu64 ", \"%s\", text \"%.60s\", id \"%.60s\" instead of problem %d, "
               "byte %" PRIu64 ", \"%s\", text \"%.60s\", id \"%.60s\"",
               record, how, (int)got->problem, got->byte, got->message, got->text ? got->text : "-",
               got->id ? got->id : "-", (int)want->problem, want->byte, want->message, want->text ? want->text : "-",
               want->id ? want->id : "-");
}

/* On every level, whole and in parts: two parts at each place, and single bytes. *out is what the last level gave. */
static void run_record(struct outcome *out, const char *record, size_t bytes, const char *path, const char *id_path)
{
    const struct json_kernels *row;
    struct record_fields fields = { 0 };
    struct record record_of;
    size_t *each = malloc((bytes + 1) * sizeof *each), step = bytes > 1000 && getenv("LEAT_TEST_QUICK") ? 61 : 1;
    int usable;

    if (!each)
        exit(1);
    T_OK(record_want_texts(&fields, path, id_path, &t_err));
    T_OK(record_make(&record_of, &fields, &t_err));
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; (row = json_kernels_row(i, &usable)); i++) {
        struct outcome cut;

        if (!usable)
            continue;
        fields.paths.kernels = row;
        outcome_free(out);
        outcome_whole(out, &record_of, &fence, record, bytes);
        for (size_t at = 0; at <= bytes; at++)
            each[at] = at;
        for (size_t at = 0; at <= bytes; at += step) {
            outcome_cut(&cut, &record_of, &fence, record, bytes, &at, 1);
            expect_same(record, &cut, out, row->name);
            outcome_free(&cut);
        }
        outcome_cut(&cut, &record_of, &fence, record, bytes, each, bytes + 1);
        expect_same(record, &cut, out, "single bytes");
        outcome_free(&cut);
    }
    record_free(&record_of);
    record_fields_free(&fields);
    free(each);
}

static void check_frozen(void)
{
    struct outcome o;

    for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; i++) {
        const struct text_case *c = &text_cases[i];

        run_record(&o, c->record, strlen(c->record), "text", "id");
        T_EQ(o.status, c->text ? LEAT_OK : LEAT_E_TEXT);
        T_EQ(o.problem, c->problem);
        T_EQ(o.byte, c->byte);
        if (c->text)
            T_STR(o.text, c->text);
        else
            T_CONTAINS(o.message, c->message);
        outcome_free(&o);
    }
    for (size_t i = 0; i < sizeof id_cases / sizeof id_cases[0]; i++) {
        const struct id_case *c = &id_cases[i];

        run_record(&o, c->record, strlen(c->record), c->path, c->id_path);
        T_STR(o.text, c->text);
        T_EQ(o.has_id, c->id != NULL);
        T_STR(o.id, c->id ? c->id : "");
        outcome_free(&o);
    }
    run_record(&o, "{\"text\":\"a\\u0000b\\u0000\"}", 25, "text", "id");
    T_EQ(o.text_bytes, 4);
    T_CHECK(o.text && memcmp(o.text, "a\0b", 4) == 0);
    outcome_free(&o);
    run_record(&o, "{\"te\0xt\":1}", 11, "text", "id"); /* a zero byte is a control character */
    T_EQ(o.byte, 5);
    outcome_free(&o);
}

/* ---- Limits ----------------------------------------------------------------------------------------------------- */

static char *made; /* LONGEST bytes */

static size_t repeat(size_t at, const char *part, size_t times)
{
    size_t bytes = strlen(part);

    for (; times > 0; times--, at += bytes)
        memcpy(made + at, part, bytes);
    return at;
}

static void check_nesting(void)
{
    struct outcome o;

    for (size_t depth = JSON_RECORD_DEPTH - 1; depth <= JSON_RECORD_DEPTH; depth++) { /* besides the object around it */
        size_t at = repeat(0, "{\"a\":", 1);

        at = repeat(at, "[", depth);
        at = repeat(at, "]", depth);
        at = repeat(at, ",\"text\":\"x\"}", 1);
        run_record(&o, made, at, "text", "id");
        T_EQ(o.status, depth < JSON_RECORD_DEPTH ? LEAT_OK : LEAT_E_TEXT);
        if (depth == JSON_RECORD_DEPTH) {
            T_CONTAINS(o.message, "nested deeper than 1024 at byte 1029");
            T_EQ(o.byte, 1029);
        }
        outcome_free(&o);
        at = repeat(0, "{\"a\":", depth + 1);
        at = repeat(at, "\"x\"", 1);
        at = repeat(at, "}", depth + 1);
        run_record(&o, made, at, "a.a.a", "id");
        T_EQ(o.problem, depth < JSON_RECORD_DEPTH ? RECORD_NO_STRING : RECORD_MALFORMED);
        outcome_free(&o);
    }
}

/* An id of `parts` times `part`, of `bytes` bytes when unescaped, alone and cut in the middle. */
static void check_id(const char *part, size_t parts, size_t bytes)
{
    size_t at = repeat(0, "{\"id\":", 1), middle;
    bool digits = part[0] == '1';
    struct record_fields fields = { 0 };
    struct record record;
    struct outcome whole, cut;

    at = repeat(at, "\"", digits ? 0 : 1);
    at = repeat(at, part, parts);
    at = repeat(at, "\"", digits ? 0 : 1);
    at = repeat(at, ",\"text\":\"x\"}", 1);
    middle = at / 2;
    T_OK(record_want_texts(&fields, "text", "id", &t_err));
    T_OK(record_make(&record, &fields, &t_err));
    outcome_whole(&whole, &record, &fence, made, at);
    T_EQ(whole.problem, bytes > RECORD_ID_BYTES ? RECORD_ID_TOO_LONG : RECORD_FINE);
    if (bytes > RECORD_ID_BYTES)
        T_CONTAINS(whole.message, "the id \"id\" is longer than 64 KiB");
    else
        T_EQ(whole.id_bytes, bytes);
    for (unsigned i = 0; i < 2; i++) {
        outcome_cut(&cut, &record, &fence, made, at, &middle, 1);
        expect_same("a long id", &cut, &whole, "cut");
        outcome_free(&cut);
    }
    outcome_free(&whole);
    record_free(&record);
    record_fields_free(&fields);
}

static void check_ids(void)
{
    check_id("i", RECORD_ID_BYTES, RECORD_ID_BYTES);
    check_id("i", RECORD_ID_BYTES + 1, RECORD_ID_BYTES + 1);
    check_id("\\n", RECORD_ID_BYTES, RECORD_ID_BYTES);
    check_id("\\n", RECORD_ID_BYTES + 1, RECORD_ID_BYTES + 1);
    check_id("\\u0041", RECORD_ID_BYTES, RECORD_ID_BYTES);
    check_id("\\u0041", RECORD_ID_BYTES + 1, RECORD_ID_BYTES + 1);
    check_id("\\u00e9", RECORD_ID_BYTES / 2, RECORD_ID_BYTES);
    check_id("\\u07ff", RECORD_ID_BYTES / 2 + 1, RECORD_ID_BYTES + 2);
    check_id("\\u0800", RECORD_ID_BYTES / 3, RECORD_ID_BYTES - RECORD_ID_BYTES % 3);
    check_id("\\u4e2d", RECORD_ID_BYTES / 3 + 1, RECORD_ID_BYTES - RECORD_ID_BYTES % 3 + 3);
    check_id("\\ud83d\\ude00", RECORD_ID_BYTES / 4, RECORD_ID_BYTES);
    check_id("\\ud83d\\ude00", RECORD_ID_BYTES / 4 + 1, RECORD_ID_BYTES + 4);
    check_id("i\\n", RECORD_ID_BYTES / 2, RECORD_ID_BYTES);
    check_id("\\ni", RECORD_ID_BYTES / 2 + 1, RECORD_ID_BYTES + 2);
    check_id("ij\\ud83d\\ude00ij", RECORD_ID_BYTES / 8, RECORD_ID_BYTES);
    check_id("ij\\ud83d\\ude00ij", RECORD_ID_BYTES / 8 + 1, RECORD_ID_BYTES + 8);
    check_id("1", RECORD_ID_BYTES, RECORD_ID_BYTES);
    check_id("1", RECORD_ID_BYTES + 1, RECORD_ID_BYTES + 1);
    check_id("i", 8 * RECORD_ID_BYTES, 8 * RECORD_ID_BYTES);
}

/* Names around the greatest length, plain and escaped, and paths that are refused. */
static void check_paths(void)
{
    struct record_fields fields = { 0 };
    char path[300], many[100];
    struct outcome o;

    for (size_t bytes = JSON_NAME_BYTES - 1; bytes <= JSON_NAME_BYTES + 1; bytes++) {
        memset(path, 'n', bytes);
        path[bytes] = '\0';
        T_STATUS(record_want_texts(&fields, path, NULL, &t_err), bytes <= JSON_NAME_BYTES ? LEAT_OK : LEAT_E_ARGUMENT);
        record_fields_free(&fields);
        if (bytes > JSON_NAME_BYTES)
            break;
        for (unsigned escaped = 0; escaped < 2; escaped++)
            for (size_t more = 0; more < 2; more++) { /* a name that is longer by one is another one */
                size_t at = repeat(0, "{\"", 1);

                at = repeat(at, escaped ? "\\u006e" : "n", bytes + more);
                at = repeat(at, "\":\"x\"}", 1);
                run_record(&o, made, at, path, NULL);
                T_EQ(o.problem, more ? RECORD_NO_FIELD : RECORD_FINE);
                outcome_free(&o);
            }
    }
    memset(many, '.', sizeof many);
    many[JSON_PATH_NAMES - 1] = '\0';
    T_OK(record_want_texts(&fields, "text", many, &t_err));
    record_fields_free(&fields);
    many[JSON_PATH_NAMES - 1] = '.';
    many[JSON_PATH_NAMES] = '\0';
    T_STATUS(record_want_texts(&fields, "text", many, &t_err), LEAT_E_ARGUMENT);
    record_fields_free(&fields);
}

/* ---- Random records --------------------------------------------------------------------------------------------- */

static size_t random_string(uint64_t *random, size_t at)
{
    static const char *const parts[] = { "a",
                                         "word ",
                                         "\\n",
                                         "\\\"",
                                         "\\\\",
                                         "\\u00e9",
                                         "\\u4e2d\\u6587",
                                         "\\ud83d",
                                         "\\ude00",
                                         "\xc3\xa9",
                                         "\\u0000",
                                         "in the middle of a longer run of text " };
    uint64_t kinds = 1 + t_below(random, sizeof parts / sizeof parts[0]);

    at = repeat(at, "\"", 1);
    for (uint64_t n = t_below(random, t_below(random, 4) ? 6 : 60); n > 0; n--)
        at = repeat(at, parts[t_below(random, kinds)], 1);
    return repeat(at, "\"", 1);
}

static size_t random_value(uint64_t *random, size_t at, unsigned depth)
{
    static const char *const words[] = { "true", "null", "0", "-1.5e3", "false", "17" };
    static const char *const names[] = { "\"text\":", "\"id\":", "\"m\":", "\"\\u0074ext\" : " };
    uint64_t kind = t_below(random, depth < 4 ? 5 : 2);

    if (depth == 0)
        kind = 4;
    if (kind == 0)
        return repeat(at, words[t_below(random, 6)], 1);
    if (kind < 3)
        return random_string(random, at);
    at = repeat(at, kind == 3 ? "[" : "{", 1);
    for (uint64_t n = t_below(random, 5); n > 0; n--) {
        at = repeat(at, kind == 3 ? "" : names[t_below(random, 4)], 1);
        at = random_value(random, at, depth + 1);
        at = repeat(at, n > 1 ? ", " : "", 1);
    }
    return repeat(at, kind == 3 ? "]" : "}", 1);
}

static void check_random(uint64_t *random)
{
    static const char any[] = "\"\\{}[]:,u0\n \x01x";

    for (unsigned i = 0; i < t_times(1500); i++) {
        size_t bytes = random_value(random, 0, 0), limit = 400;
        struct outcome o;

        if (bytes > limit) /* each is cut at each place: long ones take the square of their length */
            bytes = i % 50 ? limit : bytes > 4 * limit ? 4 * limit : bytes;
        for (uint64_t n = t_below(random, 3); n > 0 && bytes > 0; n--)
            made[t_below(random, bytes)] = any[t_below(random, sizeof any - 1)];
        run_record(&o, made, bytes, i % 3 ? "text" : "m.text", i % 2 ? "id" : "m");
        outcome_free(&o);
    }
}

/* ---- Kernels alone ---------------------------------------------------------------------------------------------- */

/* A string unescaped one character at a time, by other means than json_string.h. */
static size_t unescape_slowly(const char *in, size_t bytes, char *out)
{
    size_t to = 0;

    for (size_t i = 0; i < bytes;) {
        static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        unsigned code = 0, low = 0;

        if (in[i] != '\\') {
            out[to++] = in[i++];
            continue;
        }
        if (in[i + 1] != 'u') {
            out[to++] = meant[strchr(letters, in[i + 1]) - letters];
            i += 2;
            continue;
        }
        sscanf(in + i + 2, "%4x", &code);
        i += 6;
        if (code / 0x400 == 0xd800 / 0x400 && i + 6 <= bytes && in[i] == '\\' && in[i + 1] == 'u') {
            sscanf(in + i + 2, "%4x", &low);
            if (low / 0x400 == 0xdc00 / 0x400) {
                code = 0x10000 + code % 0x400 * 0x400 + low % 0x400;
                i += 6;
            }
        }
        if (code / 0x800 == 0xd800 / 0x800)
            code = 0xfffd;
        if (code < 0x80) {
            out[to++] = (char)code;
        } else {
            unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

            out[to++] = (char)((0xff << (7 - more) & 0xff) | code >> 6 * more);
            while (more-- > 0)
                out[to++] = (char)(0x80 | (code >> 6 * more & 0x3f));
        }
    }
    return to;
}

static void check_unescape(const struct json_kernels *row, uint64_t *random)
{
    static char want[1 << 16], got[1 << 16];

    for (unsigned i = 0; i < t_times(3000); i++) {
        size_t bytes = random_string(random, 0) - 2, plain;
        const char *string = made + 1, *stop;
        bool escaped = false;
        char *copy;

        if (bytes + 200 > sizeof want)
            continue;
        plain = unescape_slowly(string, bytes, want);
        copy = fenced_copy(&fence, string, bytes);
        stop = row->pass(copy, copy + bytes, &escaped);
        T_EQ(stop - copy, bytes);
        T_EQ(escaped, memchr(string, '\\', bytes) != NULL);
        memset(got, 0x55, sizeof got);
        T_EQ(row->unescape(got + 100, copy, copy + bytes) - (got + 100), plain);
        T_CHECK(memcmp(got + 100, want, plain) == 0 && got[99] == 0x55 && got[100 + bytes] == 0x55);
        T_EQ(row->unescape(copy, copy, copy + bytes) - copy, plain);
        if (memcmp(copy, want, plain) != 0)
            T_FAIL("%s, in place: \"%.*s\"", row->name, (int)bytes, string);
    }
}

/* Each byte after a backslash, far from the end: where whole blocks are looked at. */
static void check_letters(const struct json_kernels *row)
{
    for (unsigned c = 1; c < 256; c++) {
        char text[160];
        bool escaped = false;
        const char *stop, *want = strchr("\"\\/bfnrtu", (int)c) ? text + sizeof text : text + 70;

        memset(text, 'a', sizeof text);
        text[70] = '\\';
        text[71] = (char)c;
        stop = row->pass(text, text + sizeof text, &escaped);
        if (stop != want)
            T_FAIL("%s: a backslash and 0x%02x: passed to %d, not %d", row->name, c, (int)(stop - text),
                   (int)(want - text));
    }
}

static void check_rows(uint64_t *random)
{
    const struct json_kernels *row;
    int usable;

    for (unsigned i = 0; (row = json_kernels_row(i, &usable)); i++) {
        fprintf(stderr, "row %s%s\n", row->name, usable ? "" : ": this CPU lacks it");
        if (usable) {
            check_unescape(row, random);
            check_letters(row);
        }
    }
}

/* ---- For test_json_python.py ------------------------------------------------------------------------------------ */

static void print_hex(const char *bytes, size_t count)
{
    putchar('"');
    for (size_t i = 0; i < count; i++)
        printf("%02x", (unsigned char)bytes[i]);
    putchar('"');
}

static int print_records(const char *text, const char *id, const char *path)
{
    struct record_fields fields = { 0 };
    struct record record;
    uint8_t length[4];
    FILE *f = fopen(path, "rb");

    T_OK(record_want_texts(&fields, text, id, &t_err));
    T_OK(record_make(&record, &fields, &t_err));
    while (f && fread(length, 1, 4, f) == 4) {
        size_t bytes = bytes_load32(length);
        struct outcome o;

        T_CHECK(bytes <= LONGEST && fread(made, 1, bytes, f) == bytes);
        outcome_whole(&o, &record, &fence, made, bytes);
        if (o.status == LEAT_OK) {
            print_hex(o.text, o.text_bytes);
            putchar(' ');
            if (o.has_id)
                print_hex(o.id, o.id_bytes);
            else
                printf("none");
            putchar('\n');
        } else {
            printf("%d\n", (int)o.problem);
        }
        outcome_free(&o);
    }
    record_free(&record);
    record_fields_free(&fields);
    return f && fclose(f) == 0 ? t_end() : 1;
}

int main(int argc, char **argv)
{
    uint64_t random;

    fenced_open(&fence, LONGEST);
    made = malloc(LONGEST);
    if (!made)
        return 1;
    if (argc == 4)
        return print_records(argv[1], argv[2], argv[3]);
    random = t_seed();
    check_frozen();
    check_nesting();
    check_ids();
    check_paths();
    check_rows(&random);
    check_random(&random);
    free(made);
    return t_end();
}
