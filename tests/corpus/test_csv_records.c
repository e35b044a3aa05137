/*
 * test_csv_records.c: records of CSV and TSV give the fields that they must, or the reason; the same whole and in
 * parts, cut at each place; and a quote that does not end costs one record.
 *
 * With arguments DELIMITER COLUMNS FILE it is the other side of test_csv_python.py: FILE holds texts of tables, each
 * after its length in four bytes, whose columns are called c0, c1 ...; for each it prints a line: the records, with a
 * space after each: its fields in hexadecimal, each after a point, or the letter x for one that is rejected.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "corpus/csv/csv_header.h"
#include "t.h"

#define COLUMNS 8

struct table {
    struct record_fields fields;
    struct record record;
    uint32_t wants[COLUMNS];
    unsigned columns;
    char delimiter;
};

static void make(struct table *t, char delimiter, unsigned columns)
{
    static const char names[COLUMNS][3] = { "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7" };

    *t = (struct table) { .delimiter = delimiter, .columns = columns };
    for (unsigned i = 0; i < columns; i++) {
        struct record_want want = { .path = names[i], .use = RECORD_VALUE, .needed = true };

        T_OK(record_want(&t->fields, &want, &t->wants[i], &t_err));
    }
    T_OK(record_make(&t->record, &t->fields, &t_err));
}

static void drop(struct table *t)
{
    record_free(&t->record);
    record_fields_free(&t->fields);
}

static void put(struct buffer *out, const char *text)
{
    T_OK(buffer_append(out, text, strlen(text), &t_err));
}

/* A record becomes its words. */
static void put_record(struct table *t, const char *text, size_t bytes, struct buffer *out)
{
    char *copy = malloc(bytes + 1);

    memcpy(copy, text, bytes);
    if (csv_read(&t->record, copy, bytes, &t_err) != LEAT_OK)
        put(out, "x");
    for (unsigned i = 0; t->record.problem == RECORD_FINE && i < t->columns; i++) {
        const struct record_value *v = record_value(&t->record, t->wants[i]);

        put(out, ".");
        for (size_t k = 0; k < v->held; k++) {
            put(out, t_text("%02x", (unsigned char)v->at[k]));
        }
    }
    put(out, " ");
    free(copy);
}

/* All records but the header; what lies after byte `cut` of the text comes later. */
static void put_table(struct table *t, const char *text, size_t bytes, size_t cut, struct buffer *out)
{
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, have = cut < mark ? mark : cut;
    struct csv_header *header;
    struct csv_records r;
    enum csv_found found;

    T_OK(csv_header_read(&header, &t->fields, "table", t->delimiter, text, bytes, true, &t_err));
    t->record.header = header;
    csv_records_begin(&r, t->delimiter, mark);
    for (;;) {
        found = csv_records_next(&r, text + r.position, have - (size_t)r.position);
        if (found == CSV_MORE && have < bytes) {
            have = bytes;
            continue;
        }
        if (found == CSV_MORE && !csv_records_in_record(&r))
            break;
        if (header && r.record != csv_header_at(header)) {
            if (csv_records_in_quotes(&r))
                put(out, "x ");
            else
                put_record(t, text + r.record, (size_t)(r.position - r.record), out);
        }
        if (found == CSV_MORE)
            break;
    }
    T_OK(buffer_append(out, "", 1, &t_err));
    csv_header_free(header);
}

/* The same however the text is cut in two. */
static const char *words_of(struct table *t, const char *text, size_t bytes, struct buffer *out)
{
    struct buffer again = { 0 };

    out->size = 0;
    put_table(t, text, bytes, bytes, out);
    for (size_t cut = 0; cut < bytes && bytes < 100; cut++) {
        again.size = 0;
        put_table(t, text, bytes, cut, &again);
        if (strcmp((char *)again.bytes, (char *)out->bytes) != 0)
            T_FAIL("%.*s: cut at %zu: %s instead of %s", (int)bytes, text, cut, (char *)again.bytes,
                   (char *)out->bytes);
    }
    buffer_free(&again);
    return (char *)out->bytes;
}

static void test_cases(void)
{
    static const struct {
        char delimiter;
        const char *text, *words;
    } cases[] = {
        { ',', "c0,c1\na,b\n", ".61.62 " },
        { ',', "c0,c1\r\na,b\r\n\r\nc,\r\n", ".61.62 .63. " },
        { ',', "c0,c1\ra,b\rc,d", ".61.62 .63.64 " },
        { ',', "\xef\xbb\xbf\n\"c0\",c1\n\"a\"\"\n\",b", ".61220a.62 " },
        { ',', "c1,c0\na,b\n", ".62.61 " }, /* by their names */
        { ',', "c1,other,c0\na,x,b\n", ".62.61 " },
        { ',', "c0,c1\na\n,\na,b,c\na,b\n", "x .. x .61.62 " },
        { ',', "c0,c1\n\"a\"b,c\nd,e\n", "x .64.65 " },   /* broken: up to the end of the line */
        { ',', "c0,c1\n\"a\n\"b,c\nd,e\n", "x .64.65 " }, /* of that in which it breaks */
        { ',', "c0,c1\na\"b,\"c\"\n", ".612262.63 " },    /* a quote inside a field */
        { ',', "c0,c1\na,\"b\n", "x " },
        { '\t', "c0\tc1\n\"a\tb\"\tc,d\n", ".610962.632c64 " },
        { ',', "", "" },
        { ',', "\n\n", "" },
    };
    struct buffer out = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;

        make(&t, cases[i].delimiter, 2);
        T_STR(words_of(&t, cases[i].text, strlen(cases[i].text), &out), cases[i].words);
        drop(&t);
    }
    buffer_free(&out);
}

static void test_headers(void)
{
    static const char twice[] = "c0,c1,c0\n", none[] = "c0, c1,\"C1\"\n", broken[] = "c0,\"c1\"x\n";
    struct csv_header *header;
    struct table t;

    make(&t, ',', 2);
    T_REFUSED(csv_header_read(&header, &t.fields, "t.csv", ',', twice, sizeof twice - 1, true, &t_err),
              LEAT_E_UNSUPPORTED, "t.csv has two columns \"c0\"");
    T_REFUSED(csv_header_read(&header, &t.fields, "t.csv", ',', none, sizeof none - 1, true, &t_err), LEAT_E_NOT_FOUND,
              "t.csv: no column \"c1\" in the header; it has \"c0\", \" c1\", \"C1\"; did you mean \"");
    T_STATUS(csv_header_read(&header, &t.fields, "t.csv", ',', broken, sizeof broken - 1, true, &t_err),
             LEAT_E_UNSUPPORTED);
    T_OK(csv_header_read(&header, &t.fields, "t.csv", ',', "c0,c1", 5, false, &t_err));
    T_CHECK(!header); /* there may be more of it */
    drop(&t);
}

/* A quote that does not end, and where the next record begins. */
static void test_unclosed(void)
{
    size_t bytes = CSV_MAX_BYTES + 100;
    char *text = malloc(bytes);
    struct csv_records r;

    memset(text, 'a', bytes);
    memcpy(text, "x,\"b\r\n\"\"", 8);
    for (size_t cut = 1; cut < bytes; cut = 2 * cut + 1) {
        enum csv_found found;

        csv_records_begin(&r, ',', 0);
        found = csv_records_next(&r, text, cut);
        if (found == CSV_MORE)
            found = csv_records_next(&r, text + cut, bytes - cut);
        T_EQ(found, CSV_UNCLOSED);
        T_EQ(r.record, 0);
        T_EQ(r.quote, 2);
        T_EQ(csv_line(text + r.quote, bytes - 2), 3);
    }
    free(text);
}

static void answer(const char *delimiter, const char *columns, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t length[4];
    struct table t;
    struct buffer out = { 0 };

    T_CHECK(f != NULL);
    make(&t, delimiter[0], (unsigned)strtoul(columns, NULL, 10));
    while (f && fread(length, 1, 4, f) == 4) {
        size_t bytes = bytes_load32(length);
        char *text = malloc(bytes + 1);

        T_EQ(fread(text, 1, bytes, f), bytes);
        puts(words_of(&t, text, bytes, &out));
        free(text);
    }
    if (f)
        fclose(f);
    buffer_free(&out);
    drop(&t);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        answer(argv[1], argv[2], argv[3]);
        return t_end();
    }
    test_cases();
    test_headers();
    test_unclosed();
    return t_end();
}
