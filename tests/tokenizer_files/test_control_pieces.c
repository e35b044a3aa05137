/*
 * test_control_pieces.c: decoding control pieces of a tokenizer.model gives their names, where sentencepiece's decode
 * drops them (tests/conformance/ids_decided.py tries the same ids there): the text of a dataset shows its boundaries.
 * And text that spells such a name never becomes the piece, as there, even where special strings are asked for.
 */
#include "leat_pack.h"
#include "made_sentencepiece.h"

static const struct made_piece pieces[] = {
    { "<unk>", UNKNOWN, 0 },
    { "<s>", CONTROL, 0 },
    { "</s>", CONTROL, 0 },
    { "<c>", CONTROL, 0 },
    { "\xe2\x96\x81"
      "a",
      USER_DEFINED, 0 },
    { "b", NORMAL, 0 },
    { "\xe2\x96\x81"
      "<c",
      USER_DEFINED, 0 },
};

static void test_decode(struct leat_encoder *e)
{
    static const struct {
        uint32_t ids[4];
        uint64_t count;
        const char *text;
    } rows[] = {
        { { 2 }, 1, "</s>" },
        { { 3 }, 1, "<c>" },
        { { 4 }, 1, "a" },        /* the mark at the beginning goes */
        { { 1, 4 }, 2, "<s> a" }, /* this one is not at the beginning any more */
        { { 4, 3, 4, 2 }, 4, "a<c> a</s>" },
        { { 4, 2, 1, 4 }, 4, "a</s><s> a" },
        { { 0, 3, 5 }, 3, " \xe2\x81\x87 <c>b" }, /* the unknown piece has a form of its own, there too */
    };
    const char *text;
    uint64_t bytes;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        T_OK(leat_encoder_decode(e, rows[i].ids, rows[i].count, &text, &bytes, &t_err));
        if (bytes != strlen(rows[i].text) || memcmp(text, rows[i].text, (size_t)bytes) != 0)
            T_FAIL("row %zu: \"%s\" instead of \"%s\"", i, text, rows[i].text);
    }
}

/* Whether one of the ids of `text` is `id`. */
static bool encodes_to(struct leat_encoder *e, const char *text, uint32_t id)
{
    const uint32_t *ids;
    uint64_t count;
    bool found = false;

    T_OK(leat_encoder_encode(e, text, strlen(text), &ids, &count, &t_err));
    for (uint64_t i = 0; i < count; i++)
        found = found || ids[i] == id;
    return found;
}

static void test_names_in_text(struct leat_encoder *e)
{
    T_CHECK(!encodes_to(e, "<c>", 3) && encodes_to(e, "<c>", 6));
    T_CHECK(!encodes_to(e, "a<s>", 1) && encodes_to(e, "a<s>", 4));
}

int main(void)
{
    const char *path = t_path(t_folder(), "control.model");
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;

    write_model(path, pieces, sizeof pieces / sizeof pieces[0], bpe_model, sizeof bpe_model);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    for (int special = 0; special < 2; special++) {
        options.special = special;
        T_OK(leat_encoder_open(&e, t, &options, &t_err));
        test_decode(e);
        test_names_in_text(e);
        leat_encoder_close(e);
    }
    leat_tokenizer_close(t);
    return t_end();
}
