/*
 * test_whole_pieces.c: a tokenizer.model of type Word or Character: a word, or a character, is a token as a whole or
 * unknown; ids as sentencepiece 0.2.3 gives them, for whole texts and for texts in parts. leat once refused both types.
 */
#include "leat_pack.h"
#include "made_sentencepiece.h"

#define MARK "\xe2\x96\x81"

/* model_type, byte_fallback if it is set; and a normalizer_spec that adds no spaces, and removes none */
#define SPACES "\x1a\x04\x18\x00\x20\x00"
static const char words[] = "\x12\x02\x18\x03" SPACES, characters[] = "\x12\x02\x18\x04" SPACES,
                  words_or_bytes[] = "\x12\x05\x18\x03\x98\x02\x01" SPACES;

static const struct made_piece pieces[] = {
    { "<unk>", UNKNOWN, 0 },    { "<s>", CONTROL, 0 },
    { "ab", NORMAL, 0 },        { MARK "ab", NORMAL, 0 },
    { MARK, NORMAL, 0 },        { "a", NORMAL, 0 },
    { "b", UNUSED, 0 },         { "\xe4\xbd\xa0", NORMAL, 0 },
    { "<u>", USER_DEFINED, 0 }, { MARK "a", USER_DEFINED, 0 },
    { "c", CONTROL, 0 },        { "c", NORMAL, 0 },
};
#define PIECES (sizeof pieces / sizeof pieces[0])

static void append(char got[256], const uint32_t *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        snprintf(got + strlen(got), 256 - strlen(got), "%s%u", *got ? " " : "", (unsigned)ids[i]);
}

/* All at once, and then in parts of each length. */
static void check(const struct leat_tokenizer *t, const char *text, const char *wanted)
{
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t count, used, size = strlen(text);

    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    for (uint64_t part = 1; part <= size; part++) {
        char whole[256] = "", parts[256] = "";

        T_OK(leat_encoder_encode(e, text, size, &ids, &count, &t_err));
        append(whole, ids, count);
        T_STR(whole, wanted);
        T_OK(leat_encoder_begin(e, &t_err));
        for (uint64_t at = 0; at < size; at += used) {
            uint64_t bytes = size - at < part ? size - at : part;

            T_OK(leat_encoder_part(e, text + at, bytes, &used, &ids, &count, &t_err));
            append(parts, ids, count);
        }
        T_OK(leat_encoder_end(e, &ids, &count, &t_err));
        append(parts, ids, count);
        T_STR(parts, wanted);
    }
    leat_encoder_close(e);
}

struct row {
    const char *text, *wanted;
};

static void check_rows(const char *type, size_t type_bytes, const struct made_piece *some, size_t count,
                       const struct row *rows)
{
    const char *path = t_path(t_folder(), "whole.model");
    struct leat_tokenizer *t;

    write_model(path, some, count, type, type_bytes);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    for (; rows->text; rows++)
        check(t, rows->text, rows->wanted);
    leat_tokenizer_close(t);
}

static void test_words(void)
{
    static const struct row rows[] = {
        { "ab ab", "2 3" },
        { "ab  ab", "2 4 3" },
        { " ab ", "3 4" },
        { "x ab", "0 3" },
        { "x y  z ab", "0 4 0 3" }, /* a run of unknown words is one token */
        { "abab", "0" },
        { "b ab", "0 3" },
        { "\xe4\xbd\xa0", "7" },
        { "<u>", "8" },
        { "<u>ab", "0" }, /* a user-defined token cuts no word */
        { "ab a<u> a", "2 0 9" },
        { "<s>", "0" },
        { "c", "11" },
        { MARK "ab" MARK, "3 4" },
        { "<unk> ab", "0 3" },
        { NULL, NULL },
    };

    check_rows(words, sizeof words - 1, pieces, PIECES, rows);
}

static void test_characters(void)
{
    static const struct row rows[] = {
        { "ab a", "5 0 9" },  { "a", "5" },      { "xyz", "0" },          { "x\xe4\xbd\xa0y\xe4\xbd\xa1", "0 7 0" },
        { "x<u>y", "0 8 0" }, /* it cuts a run of unknown characters */
        { "<s>", "0" },       { "cc", "11 11" }, { "  a" MARK, "4 9 4" }, { "b<u", "0" },
        { NULL, NULL },
    };

    check_rows(characters, sizeof characters - 1, pieces, PIECES, rows);
}

static void test_bytes(void)
{
    static const struct row rows[] = {
        { "ab x"
          "ab",
          "257 227 151 130 121 98 99" },
        { "ab ab", "257 258" },
        { "<0x41>", "61 49 121 53 50 63" },
        { NULL, NULL },
    };
    struct made_piece some[259] = { { "<unk>", UNKNOWN, 0 } };
    char names[256][8];

    for (unsigned b = 0; b < 256; b++) {
        snprintf(names[b], sizeof names[b], "<0x%02X>", b);
        some[1 + b] = (struct made_piece) { names[b], BYTE, 0 };
    }
    some[257] = (struct made_piece) { "ab", NORMAL, 0 };
    some[258] = (struct made_piece) { MARK "ab", NORMAL, 0 };
    check_rows(words_or_bytes, sizeof words_or_bytes - 1, some, 259, rows);
}

int main(void)
{
    test_words();
    test_characters();
    test_bytes();
    return t_end();
}
