/* test_parts_calls.c: how the parts of a text are begun, ended, refused and begun anew. */
#include "leat_pack.h"
#include "t.h"

static void test_calls(void)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t count, used;

    options.reject_invalid = 1;
    T_OK(leat_tokenizer_open(&t, "gpt2", NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, &options, &t_err));
    T_STATUS(leat_encoder_part(e, "a", 1, &used, &ids, &count, &t_err), LEAT_E_STATE);
    T_STATUS(leat_encoder_end(e, &ids, &count, &t_err), LEAT_E_STATE);
    T_OK(leat_encoder_begin(e, &t_err)); /* an empty text */
    T_OK(leat_encoder_part(e, NULL, 0, &used, &ids, &count, &t_err));
    T_EQ(count + used, 0);
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    T_EQ(count, 0);
    T_CHECK(ids);
    T_STATUS(leat_encoder_end(e, &ids, &count, &t_err), LEAT_E_STATE);
    T_OK(leat_encoder_begin(e, &t_err)); /* malformed at 7 */
    T_OK(leat_encoder_part(e, "Hello \xc3", 7, &used, &ids, &count, &t_err));
    T_EQ(used, 7);
    T_STATUS(leat_encoder_part(e, " you", 4, &used, &ids, &count, &t_err), LEAT_E_TEXT);
    T_EQ(t_err.offset, 6);
    T_EQ(used, 0);
    T_STATUS(leat_encoder_part(e, "you", 3, &used, &ids, &count, &t_err), LEAT_E_STATE);
    T_OK(leat_encoder_begin(e, &t_err)); /* not ended, and begun anew */
    T_OK(leat_encoder_part(e, "zzz", 3, &used, &ids, &count, &t_err));
    T_OK(leat_encoder_begin(e, &t_err));
    T_OK(leat_encoder_part(e, "Hello", 5, &used, &ids, &count, &t_err));
    T_EQ(count, 0);
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    T_EQ(count, 1);
    T_OK(leat_encoder_begin(e, &t_err)); /* given up for a whole text */
    T_OK(leat_encoder_part(e, "zzz", 3, &used, &ids, &count, &t_err));
    T_OK(leat_encoder_encode(e, "Hello", 5, &ids, &count, &t_err));
    T_EQ(count, 1);
    T_STATUS(leat_encoder_end(e, &ids, &count, &t_err), LEAT_E_STATE);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

/* An empty part within a character; parts after a text of many ids, whose memory is given back. */
static void test_odd_parts(void)
{
    enum { MANY = 5 << 20 };
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t count, used;
    char *many = malloc(2 * MANY);

    T_OK(leat_tokenizer_open(&t, "gpt2", NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    T_OK(leat_encoder_begin(e, &t_err));
    T_OK(leat_encoder_part(e, "\xe2\x82", 2, &used, &ids, &count, &t_err));
    T_OK(leat_encoder_part(e, NULL, 0, &used, &ids, &count, &t_err));
    T_EQ(count, 0);
    T_OK(leat_encoder_part(e, "\xac", 1, &used, &ids, &count, &t_err));
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    T_CHECK(count == 1 && ids[0] == 26391); /* a euro sign */
    for (size_t i = 0; i < MANY; i++)
        memcpy(many + 2 * i, " a", 2);
    T_OK(leat_encoder_encode(e, many, 2 * (uint64_t)MANY, &ids, &count, &t_err));
    T_CHECK(count == MANY && ids[0] == 257 && ids[MANY - 1] == 257);
    T_OK(leat_encoder_begin(e, &t_err));
    T_OK(leat_encoder_part(e, " a a", 4, &used, &ids, &count, &t_err));
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    T_CHECK(count > 0 && ids[count - 1] == 257);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    free(many);
}

int main(void)
{
    test_calls();
    test_odd_parts();
    return t_end();
}
