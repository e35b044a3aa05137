/*
 * test_packer_keep.c: conditions of a packer on the values of rows: random rows and conditions leave the documents,
 * and count the others, that leat_pack() of the same rows in JSON does; floats are compared as the shortest decimals;
 * texts and ids; a checkpoint; a dataset of nothing; a run whose parts are pushed; mistakes.
 */
#include "leat_pack.h"
#include "one_text.h"
#include "t.h"

#define ROWS   60u
#define FIELDS 3u

static const char *folder;
static struct leat_tokenizer *tokenizer;

static struct leat_pack_options options_with(const char *const *keep, uint64_t count)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 2;
    o.force = 1;
    o.keep = keep;
    o.keep_count = count;
    return o;
}

/* ---- Random rows ---- */

struct row {
    struct leat_value values[FIELDS];
    char json[FIELDS][64]; /* empty: the row has no such member */
};

static const char *const paths[FIELDS] = { "a", "m.b", "c" };

static void set_text(struct leat_value *v, char json[64], uint32_t kind, const char *text, const char *as_json)
{
    *v = (struct leat_value) { .kind = kind, .bytes = strlen(text), .as.text = text };
    snprintf(json, 64, "%s", as_json);
}

static void make_value(struct leat_value *v, char json[64], uint64_t *seed)
{
    static const char *const strings[][2] = { { "en", "\"en\"" },
                                              { "de", "\"de\"" },
                                              { "", "\"\"" },
                                              { "e\xc3\xa9", "\"e\\u00e9\"" },
                                              { "1", "\"1\"" },
                                              { "a\"b", "\"a\\\"b\"" },
                                              { "\xe6\xb0\xb4", "\"\xe6\xb0\xb4\"" } };
    static const char *const decimals[] = { "1e3", "0.10", "-0", "3", "18446744073709551616", "2.5" };
    static const char *const others[] = { "true", "false", "[1]", "{\"x\": 3}" };
    size_t i;

    *v = (struct leat_value) { .kind = (uint32_t)t_below(seed, LEAT_VALUE_FLOAT + 1) };
    switch (v->kind) {
    case LEAT_VALUE_NULL:
        snprintf(json, 64, "%s", t_below(seed, 2) ? "null" : "");
        break;
    case LEAT_VALUE_OTHER:
        snprintf(json, 64, "%s", others[t_below(seed, 4)]);
        break;
    case LEAT_VALUE_STRING:
        i = t_below(seed, sizeof strings / sizeof *strings);
        set_text(v, json, v->kind, strings[i][0], strings[i][1]);
        break;
    case LEAT_VALUE_DECIMAL:
        i = t_below(seed, sizeof decimals / sizeof *decimals);
        set_text(v, json, v->kind, decimals[i], decimals[i]);
        break;
    case LEAT_VALUE_INT64:
        v->as.int64 = t_below(seed, 4) ? (int64_t)t_below(seed, 7) - 3 : INT64_MIN;
        snprintf(json, 64, "%" PRId64, v->as.int64);
        break;
    case LEAT_VALUE_UINT64:
        v->as.uint64 = t_below(seed, 4) ? t_below(seed, 4) : UINT64_MAX;
        snprintf(json, 64, "%" PRIu64, v->as.uint64);
        break;
    default: /* whose shortest decimal is exact */
        v->as.number = ((double)t_below(seed, 49) - 24) / 8;
        snprintf(json, 64, "%.4f", v->as.number);
    }
}

static void write_row(FILE *f, const struct row *r, unsigned number)
{
    fprintf(f, "{\"text\": \"row %u\"", number);
    for (unsigned i = 0; i < FIELDS; i++)
        if (r->json[i][0])
            fprintf(f, i == 1 ? ", \"m\": {\"b\": %s}" : i == 0 ? ", \"a\": %s" : ", \"c\": %s", r->json[i]);
    fputs("}\n", f);
}

/* The values of the fields that the packer asks for. */
static bool judge(struct leat_packer *p, const struct row *r)
{
    struct leat_value values[8];
    const struct leat_field *fields;
    uint64_t count;
    uint32_t keep;

    leat_packer_fields(p, &fields, &count);
    for (uint64_t i = 0; i < count; i++) {
        unsigned at = 0;

        while (strcmp(paths[at], fields[i].path) != 0)
            at++;
        values[i] = r->values[at];
    }
    T_OK(leat_packer_judge(p, values, &keep, &t_err));
    return keep != 0;
}

static void check_same(const char *a, const char *b)
{
    T_CHECK(system(t_text("cmp '%s.tokens' '%s.tokens'", a, b)) == 0);
}

static void check_rows(const char *const *keep, uint64_t count, uint64_t *seed)
{
    static struct row rows[ROWS];
    const char *input = t_path(folder, "rows.jsonl"), *a = t_path(folder, "a"), *b = t_path(folder, "b");
    struct leat_pack_options o = options_with(keep, count);
    struct leat_pack_report files = LEAT_PACK_REPORT_INIT, report = LEAT_PACK_REPORT_INIT;
    struct leat_packer *p;
    FILE *f = fopen(input, "w");
    uint64_t kept_out = 0;

    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned j = 0; j < FIELDS; j++)
            make_value(&rows[i].values[j], rows[i].json[j], seed);
        write_row(f, &rows[i], i);
    }
    fclose(f);
    o.allow_empty = 1;
    T_OK(leat_pack(a, &input, 1, &o, &files, &t_err));
    T_OK(leat_packer_open(&p, b, &o, &t_err));
    for (unsigned i = 0; i < ROWS; i++) {
        char text[32];

        if (judge(p, &rows[i]))
            T_OK(add_one_text(p, text, (uint64_t)snprintf(text, sizeof text, "row %u", i), NULL, 0, NULL, &t_err));
        else
            kept_out++;
        if (kept_out == 7) {
            T_OK(leat_packer_keep_out(p, kept_out, &t_err));
            kept_out = 0;
        }
    }
    T_OK(leat_packer_keep_out(p, kept_out, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.kept_out, files.kept_out);
    T_EQ(report.documents, files.documents);
    T_EQ(report.documents + report.kept_out, ROWS);
    check_same(a, b);
}

static void test_rows(uint64_t *seed)
{
    static const char *const values[] = {
        "= en",   "!= en", "> d",  "<= 'e\\u00e9'",          "= \"1\"", "= 1", "< 2.5", "exists", ">= 1e3",
        "!= 0.1", "= 0",   "> -1", "<= 18446744073709551615"
    };
    char texts[3][64];
    const char *keep[3];

    for (unsigned round = 0; round < 120; round++) {
        uint64_t count = 1 + t_below(seed, 2);

        for (uint64_t i = 0; i < count; i++) {
            snprintf(texts[i], sizeof texts[i], "%s %s", paths[t_below(seed, FIELDS)],
                     values[t_below(seed, sizeof values / sizeof *values)]);
            keep[i] = texts[i];
        }
        check_rows(keep, count, seed);
    }
}

/* A field that is compared and asked for is two of them; one that is compared twice is one. */
static void test_fields(void)
{
    static const char *const keep[] = { "x >= 1", "x exists", "x < 5", "y = a" };
    struct leat_pack_options o = options_with(keep, 4);
    const struct leat_field *fields;
    struct leat_packer *p;
    uint64_t count;

    T_OK(leat_packer_open(&p, t_path(folder, "fields"), &o, &t_err));
    leat_packer_fields(p, &fields, &count);
    T_EQ(count, 3);
    T_CHECK(strcmp(fields[0].path, "x") == 0 && fields[0].compared);
    T_CHECK(strcmp(fields[1].path, "x") == 0 && !fields[1].compared);
    T_CHECK(strcmp(fields[2].path, "y") == 0 && fields[2].compared);
    leat_packer_abandon(p);
    o.keep_count = 0;
    T_OK(leat_packer_open(&p, t_path(folder, "fields"), &o, &t_err));
    leat_packer_fields(p, &fields, &count);
    T_EQ(count, 0);
    leat_packer_abandon(p);
}

static struct leat_packer *open_one(const char *condition, struct leat_pack_options *o)
{
    static char text[100];
    static const char *keep[1];
    struct leat_packer *p;

    snprintf(text, sizeof text, "%s", condition); /* not there any more when the dataset names it */
    keep[0] = text;
    *o = options_with(keep, 1);
    T_OK(leat_packer_open(&p, t_path(folder, "one"), o, &t_err));
    snprintf(text, sizeof text, "gone");
    return p;
}

static void test_floats(void)
{
    struct leat_pack_options o;
    struct leat_packer *p = open_one("x = 0.1", &o);
    struct leat_value v = { .kind = LEAT_VALUE_FLOAT, .as.number = (double)0.1f };
    uint32_t keep;

    T_OK(leat_packer_judge(p, &v, &keep, &t_err));
    T_EQ(keep, 1);
    v.kind = LEAT_VALUE_DOUBLE;
    T_OK(leat_packer_judge(p, &v, &keep, &t_err));
    T_EQ(keep, 0);
    v.as.number = 0.1;
    T_OK(leat_packer_judge(p, &v, &keep, &t_err));
    T_EQ(keep, 1);
    leat_packer_abandon(p);
}

/* The conditions that the dataset names. */
static void check_conditions(const char *path, const char *want)
{
    struct leat_metadata *m;
    struct leat_dataset *d;
    uint64_t i = 0;

    T_OK(leat_dataset_open(&d, path, NULL, &t_err));
    T_OK(leat_dataset_metadata(d, 0, &m, &t_err));
    while (i < m->count && strcmp(m->pairs[i].key, "leat.keep") != 0)
        i++;
    T_CHECK(i < m->count);
    if (i < m->count)
        T_STR(m->pairs[i].value, want);
    leat_metadata_free(m);
    leat_dataset_close(d);
}

static void test_mistakes(void)
{
    static const uint32_t ids[] = { 1, 2 };
    struct leat_pack_options o;
    struct leat_packer *p = open_one("x = 1", &o);
    struct leat_value v = { .kind = LEAT_VALUE_INT64, .as.int64 = 1 };
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    uint32_t keep;

    T_REFUSED(add_one_text(p, "a", 1, NULL, 0, NULL, &t_err), LEAT_E_ARGUMENT, "this document came without any");
    T_REFUSED(add_one_of_ids(p, ids, NULL, 2, NULL, &t_err), LEAT_E_ARGUMENT, "this document came without any");
    T_REFUSED(leat_packer_judge(p, NULL, &keep, &t_err), LEAT_E_ARGUMENT, "this row has no values");
    v.kind = LEAT_VALUE_FLOAT + 1;
    T_REFUSED(leat_packer_judge(p, &v, &keep, &t_err), LEAT_E_ARGUMENT, "the value of x has the unknown kind 8");
    v.kind = LEAT_VALUE_INT64;
    T_OK(leat_packer_judge(p, &v, &keep, &t_err));
    T_OK(add_one_text(p, "a", 1, NULL, 0, NULL, &t_err));
    T_STATUS(add_one_text(p, "b", 1, NULL, 0, NULL, &t_err), LEAT_E_ARGUMENT);
    T_OK(leat_packer_judge(p, &v, &keep, &t_err));
    T_OK(leat_packer_keep_out(p, 3, &t_err));
    T_OK(add_one_of_ids(p, ids, NULL, 2, NULL, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.documents, 2);
    T_EQ(report.kept_out, 3);
    check_conditions(t_path(folder, "one"), "x = 1");
}

/* What was kept out before a checkpoint counts after it. */
static void test_checkpoint(void)
{
    static const char *const keep[] = { "x = 1" }, *const other[] = { "x = 2" };
    struct leat_pack_options o = options_with(keep, 1);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_value v = { .kind = LEAT_VALUE_INT64, .as.int64 = 1 };
    const char *path = t_path(folder, "checkpoint");
    struct leat_packer *p;
    uint32_t judged;

    T_OK(leat_packer_open(&p, path, &o, &t_err));
    T_OK(leat_packer_keep_out(p, 5, &t_err));
    T_OK(leat_packer_checkpoint(p, "note", 4, &t_err));
    T_OK(leat_packer_keep_out(p, 100, &t_err));
    leat_packer_suspend(p);
    o.resume = 1;
    o.keep = other;
    T_REFUSED(leat_packer_open(&p, path, &o, &t_err), LEAT_E_CHECKPOINT, "keep x = 1");
    o.keep = keep;
    T_OK(leat_packer_open(&p, path, &o, &t_err));
    T_OK(leat_packer_judge(p, &v, &judged, &t_err));
    T_OK(add_one_text(p, "a", 1, NULL, 0, NULL, &t_err));
    T_OK(leat_packer_keep_out(p, 1, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.kept_out, 6);
}

static void test_empty(void)
{
    struct leat_pack_options o;
    struct leat_packer *p = open_one("x = 1", &o);

    T_OK(leat_packer_finish(p, NULL, &t_err)); /* of no rows at all */
    p = open_one("x = 1", &o);
    T_OK(leat_packer_keep_out(p, 3, &t_err));
    T_REFUSED(leat_packer_finish(p, NULL, &t_err), LEAT_E_EMPTY,
              "no record has a field \"x\" that is not null: of the 3 records read, \"x = 1\" left out 3");
    leat_packer_abandon(p);
}

/* ---- Parts that are pushed ---- */

static struct leat_run_piece push(struct leat_run *run, const char *key, unsigned documents, uint64_t kept_out)
{
    struct leat_value v = { .kind = LEAT_VALUE_STRING, .bytes = 2, .as.text = "en" };
    struct leat_run_piece piece, back;
    char text[LEAT_RUN_PIECE_BYTES];
    struct leat_packer *p;
    uint32_t keep;

    T_OK(leat_run_push(&p, run, key, NULL, &t_err));
    for (unsigned i = 0; i < documents; i++) {
        T_OK(leat_packer_judge(p, &v, &keep, &t_err));
        T_OK(add_one_text(p, "a", 1, NULL, 0, NULL, &t_err));
    }
    T_OK(leat_packer_keep_out(p, kept_out, &t_err));
    T_OK(leat_run_finish(p, &piece, 1, NULL, &t_err));
    T_EQ(piece.kept_out, kept_out);
    leat_run_piece_text(&piece, text);
    T_OK(leat_run_piece_read(&back, text, &t_err));
    T_CHECK(memcmp(&piece, &back, sizeof piece) == 0);
    return piece;
}

static void test_run(void)
{
    static const char *const keep[] = { "lang = en" }, *const wrong[] = { "lang =" };
    struct leat_pack_options pack = options_with(wrong, 1);
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    const char *path = t_path(folder, "run");
    struct leat_run_piece pieces[2];
    struct leat_run *run;

    o.tokenizer = "bytes";
    o.pack = &pack;
    T_REFUSED(leat_run_create(&run, path, &o, &t_err), LEAT_E_ARGUMENT,
              "the condition \"lang =\" is wrong at character 7");
    pack.keep = keep;
    T_OK(leat_run_create(&run, path, &o, &t_err));
    pieces[0] = push(run, "a", 0, 2);
    T_REFUSED(leat_run_commit(run, pieces, 1, &t_err), LEAT_E_EMPTY, "left out 2 rows of all parts");
    pieces[1] = push(run, "b", 3, 4);
    T_OK(leat_run_commit(run, pieces, 2, &t_err));
    check_conditions(path, "lang = en");
    leat_run_close(run);
    pack.allow_empty = 1;
    T_OK(leat_run_create(&run, path, &o, &t_err));
    pieces[0] = push(run, "a", 0, 2);
    T_OK(leat_run_commit(run, pieces, 1, &t_err));
    leat_run_close(run);
}

int main(void)
{
    uint64_t seed = t_seed();

    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    test_rows(&seed);
    test_fields();
    test_floats();
    test_mistakes();
    test_checkpoint();
    test_empty();
    test_run();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
