/*
 * test_token_trace.c: which bytes of a text its tokens stand for (mask/token_trace.h): with a space before the text
 * that has no bytes, with added tokens and the white space beside them; and where a normalizer changed the text, the
 * byte from which on nothing is certain.
 */
#include "leat_pack.h"
#include "t.h"

#include "mask/token_trace.h"

#define ADDED(id, text, strip, normalized)                                                                             \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":" strip ",\"rstrip\":" strip             \
    ",\"normalized\":" normalized ",\"special\":false}"

static const char file[] = "{\"added_tokens\":[" ADDED("9", "<X>", "true", "false") "," ADDED(
    "10", "<N>", "false",
    "true") "],"
            "\"normalizer\":{\"type\":\"Lowercase\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":"
            "true,"
            "\"trim_offsets\":false},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"\\u0120\":2,\"\\u0120a\":"
            "3,"
            "\"\\u0120b\":4,\"\\u00c3\":5,\"\\u0142\":6},\"merges\":[\"\\u0120 a\",\"\\u0120 b\"]}}";

static const struct {
    const char *text;
    const char *ends; /* NULL: refused */
    unsigned long long from;
} rows[] = {
    { "ab", "1 2 ", 0 },
    { " ab", "2 3 ", 0 },
    { "ab<X>b", "1 2 5 6 ", 0 },
    { "b <X> ", "1 6 ", 0 },
    { "a <X>  b", "1 6 8 ", 0 }, /* the last space is of " b" */
    { "Ab", NULL, 0 },           /* is "ab" to the tokenizer */
    { "aB", NULL, 1 },           /* the second token is another one */
    { "b a B", NULL, 3 },        /* with the space before it */
    { "a B aaaaaaaa", NULL, 1 }, /* and when others follow it */
    { "a b aaaaaaaa", "1 3 5 6 7 8 9 10 11 12 ", 0 },
    { "<n>a", NULL, 0 },      /* is "<N>" as an added token */
    { "a <n>a", NULL, 2 },    /* with a space before it */
    { "a<X>  <n>", NULL, 6 }, /* after one that takes white space */
};

int main(void)
{
    const char *path = t_path(t_folder(), "tokenizer.json");
    FILE *f = fopen(path, "wb");
    struct leat_tokenizer *t;
    struct token_texts texts = { 0 };
    struct leat_encoder *e;

    T_CHECK(f && fputs(file, f) >= 0 && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    T_OK(token_texts_make(&texts, t, &t_err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char got[64] = "", wanted[64];
        const uint32_t *ids;
        uint64_t count, ends[16];
        enum leat_status s;

        T_OK(leat_encoder_encode(e, rows[i].text, strlen(rows[i].text), &ids, &count, &t_err));
        T_CHECK(count <= 16);
        s = token_trace(&texts, rows[i].text, strlen(rows[i].text), ids, count, ends, &t_err);
        T_EQ(s, rows[i].ends ? LEAT_OK : LEAT_E_TEXT);
        for (uint64_t k = 0; s == LEAT_OK && k < count; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%llu ", (unsigned long long)ends[k]);
        T_STR(got, rows[i].ends ? rows[i].ends : "");
        snprintf(wanted, sizeof wanted, "its characters from byte %llu on", rows[i].from);
        if (s != LEAT_OK)
            T_CONTAINS(t_err.message, wanted);
    }
    token_texts_free(&texts);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    return t_end();
}
