/*
 * test_packer_values.c: values that a program gives for columns: of several documents in one call, of ids of both
 * widths and of texts, with types that are converted; too few, too many and unfit ones, after which the packer goes on;
 * and packers that make no columns.
 */
#include "leat_pack.h"
#include "t.h"

static struct leat_tokenizer *tokenizer;
static const char *const names[] = { "score:f32:document", "w=x:u8x2:token", "lang:category:document" };

static struct leat_pack_options options_with(uint64_t columns)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 2;
    o.force = 1;
    o.column = names;
    o.column_count = columns;
    return o;
}

static void check_file(const char *dataset, const char *column, const void *wanted, size_t bytes)
{
    char path[600], have[256];
    FILE *file;

    snprintf(path, sizeof path, "%s.%s.column", dataset, column);
    file = fopen(path, "rb");
    T_CHECK(file != NULL);
    if (!file)
        return;
    T_EQ(fread(have, 1, sizeof have, file), bytes);
    T_CHECK(memcmp(have, wanted, bytes) == 0);
    fclose(file);
}

static void test_ids(const char *name)
{
    static const uint16_t narrow[] = { 1, 2, 3 };
    static const uint32_t wide[] = { 4, 5 };
    static const uint8_t mask[] = { 1, 0, 1 };
    static const uint64_t lengths[] = { 1, 2 }, length = 2, ends[] = { 2, 2 }, end = 2;
    static const int64_t scores[] = { 7, -8, 9 };
    static const double values[] = { 1, 2, 3, 4, 5, 255, 7, 8, 9, 10 };
    static const float want_scores[] = { 7, -8, 9 };
    static const uint8_t want_values[] = { 1, 2, 0, 0, 3, 4, 5, 255, 0, 0, 7, 8, 9, 10, 0, 0 };
    static const uint16_t want_numbers[] = { 0, 1, 2 }; /* "en", "", "de" */
    struct leat_column_values v[] = { { scores, NULL, 2, LEAT_COLUMN_I64, 0 },
                                      { values, NULL, 3, LEAT_COLUMN_F64, 0 },
                                      { "en", ends, 2, 0, 0 } };
    struct leat_documents two = LEAT_DOCUMENTS_INIT, one = LEAT_DOCUMENTS_INIT;
    struct leat_pack_options o = options_with(3);
    struct leat_packer *p;

    two.ids = narrow;
    two.id_width = 2;
    two.lengths = lengths;
    two.count = 2;
    one.ids = wide;
    one.id_width = 4;
    one.lengths = &length;
    one.count = 1;
    T_OK(leat_packer_open(&p, name, &o, &t_err));
    T_STATUS(leat_packer_add_ids(p, &two, &t_err), LEAT_E_ARGUMENT); /* without values */
    T_STATUS(leat_packer_put_values(p, v, 2, &t_err), LEAT_E_ARGUMENT);
    T_OK(leat_packer_put_values(p, v, 3, &t_err));
    T_STATUS(leat_packer_add_ids(p, &one, &t_err), LEAT_E_ARGUMENT); /* the values are of others */
    T_STATUS(leat_packer_add_ids(p, &two, &t_err), LEAT_E_ARGUMENT); /* and forgotten */
    T_OK(leat_packer_put_values(p, v, 3, &t_err));
    two.mask = mask; /* refused, since the packer was opened without masks */
    T_STATUS(leat_packer_add_ids(p, &two, &t_err), LEAT_E_ARGUMENT);
    two.mask = NULL;
    T_STATUS(leat_packer_add_ids(p, &two, &t_err), LEAT_E_ARGUMENT); /* forgotten, too */
    T_OK(leat_packer_put_values(p, v, 3, &t_err));
    T_OK(leat_packer_add_ids(p, &two, &t_err));
    v[0] = (struct leat_column_values) { scores + 2, NULL, 1, LEAT_COLUMN_I64, 0 };
    v[1] = (struct leat_column_values) { values + 6, NULL, 2, LEAT_COLUMN_F64, 0 };
    v[2] = (struct leat_column_values) { "de", &end, 1, 0, 0 };
    v[1].type = LEAT_COLUMN_CATEGORY;
    T_STATUS(leat_packer_put_values(p, v, 3, &t_err), LEAT_E_ARGUMENT);
    v[1].type = 99;
    T_STATUS(leat_packer_put_values(p, v, 3, &t_err), LEAT_E_ARGUMENT);
    v[1].type = LEAT_COLUMN_F64;
    v[2].ends = NULL;
    T_STATUS(leat_packer_put_values(p, v, 3, &t_err), LEAT_E_ARGUMENT);
    v[2].ends = &end;
    T_OK(leat_packer_put_values(p, v, 3, &t_err));
    T_OK(leat_packer_add_ids(p, &one, &t_err));
    T_OK(leat_packer_finish(p, NULL, &t_err));
    check_file(name, "score", want_scores, sizeof want_scores);
    check_file(name, "w", want_values, sizeof want_values);
    check_file(name, "lang", want_numbers, sizeof want_numbers);
}

static void test_texts(const char *name)
{
    static const uint64_t lengths[] = { 1, 2 };
    static const float scores[] = { 0.5f, 2 };
    struct leat_column_values v[] = { { scores, NULL, 2, LEAT_COLUMN_F32, 0 }, { "", NULL, 0, LEAT_COLUMN_U8, 0 } };
    struct leat_texts texts = LEAT_TEXTS_INIT;
    struct leat_pack_options o = options_with(1);
    struct leat_packer *p;

    texts.data = "abc";
    texts.lengths = lengths;
    texts.count = 2;
    T_OK(leat_packer_open(&p, name, &o, &t_err));
    T_OK(leat_packer_put_values(p, v, 1, &t_err));
    T_OK(leat_packer_add_texts(p, &texts, &t_err));
    T_OK(leat_packer_finish(p, NULL, &t_err));
    check_file(name, "score", scores, sizeof scores);

    o = options_with(2);
    T_OK(leat_packer_open(&p, name, &o, &t_err));
    T_OK(leat_packer_put_values(p, v, 2, &t_err));
    T_STATUS(leat_packer_add_texts(p, &texts, &t_err), LEAT_E_ARGUMENT);
    leat_packer_abandon(p);

    o = options_with(0);
    T_OK(leat_packer_open(&p, name, &o, &t_err));
    T_STATUS(leat_packer_put_values(p, v, 1, &t_err), LEAT_E_ARGUMENT);
    T_OK(leat_packer_put_values(p, NULL, 0, &t_err));
    T_OK(leat_packer_add_texts(p, &texts, &t_err));
    leat_packer_abandon(p);
}

int main(void)
{
    const char *name = t_path(t_folder(), "values");

    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    test_ids(name);
    test_texts(name);
    leat_tokenizer_close(tokenizer);
    return t_end();
}
