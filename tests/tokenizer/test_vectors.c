/*
 * test_vectors.c: every kind of tokenizer against frozen answers of the reference packages: the built-in ones and
 * small made-up ones, one a family; encoding with special strings as text and as tokens, and decoding.
 */
#include "leat_pack.h"
#include "t.h"
#include "vectors.h"

#include <stdbool.h>

#include "base/buffer.h"

/* `file` NULL: a built-in. The answers are in NAME.ids. */
static const struct {
    const char *name, *file;
} rows[] = {
    { "bytes", NULL },
    { "gpt2", NULL },
    { "cl100k_base", NULL },
    { "o200k_base", NULL },
    { "ignore_merges", "ignore_merges.json" },
    { "nfc", "nfc.json" },
    { "three_splits", "three_splits.json" },
    { "prefix_space", "prefix_space.json" },
    { "digits", "digits.json" },
    { "fixed_length", "fixed_length.json" },
    { "scripts", "scripts.json" },
    { "prepend_replace", "prepend_replace.json" },
    { "split_spaces", "split_spaces.json" },
    { "metaspace_always", "metaspace_always.json" },
    { "metaspace_first", "metaspace_first.json" },
    { "metaspace_never", "metaspace_never.json" },
    { "added", "added.json" },
    { "word_suffix", "word_suffix.json" },
    { "tekken", "tekken.json" },
    { "piece_fallback", "piece_fallback.model" },
    { "piece_unknown", "piece_unknown.model" },
    { "unigram", "unigram.json" },
    { "wordpiece", "wordpiece.json" },
    { "unigram_whole", "unigram_whole.json" },
    { "piece_unigram", "piece_unigram.model" },
};

static struct vectors_text texts[VECTORS_TEXTS];
static size_t text_count;

/* ---- Comparing ---- */

static void show_ids(const uint32_t *ids, uint64_t count, const char *what)
{
    fprintf(stderr, "    %s:", what);
    for (uint64_t i = 0; i < count && i < 60; i++)
        fprintf(stderr, " %u", ids[i]);
    fputc('\n', stderr);
}

/* What the reference makes of a text. */
#define MAX_IDS 4096
struct answer {
    uint32_t plain[MAX_IDS], special[MAX_IDS]; /* with special strings as text, and as tokens */
    uint64_t plain_count, special_count;
    struct vectors_text back;
};

static void check_ids(struct leat_encoder *e, const char *name, size_t number, const uint32_t *want,
                      uint64_t want_count)
{
    const uint32_t *ids;
    uint64_t count;

    if (leat_encoder_encode(e, texts[number].bytes, texts[number].size, &ids, &count, &t_err) != LEAT_OK) {
        T_FAIL("%s, text %zu: %s", name, number, t_err.message);
        return;
    }
    if (count == want_count && memcmp(ids, want, count * sizeof *ids) == 0)
        return;
    T_FAIL("%s, text %zu", name, number);
    show_ids(ids, count, "is");
    show_ids(want, want_count, "must be");
}

/* What references decode to is valid UTF-8, so that ours is repaired first. */
static void check_back(struct leat_encoder *e, const char *name, size_t number, const struct answer *a)
{
    struct buffer got = { 0 }, want = { 0 };
    const char *text;
    uint64_t bytes;

    T_OK(leat_encoder_decode(e, a->plain, a->plain_count, &text, &bytes, &t_err));
    T_OK(buffer_append_repaired(&got, (const uint8_t *)text, (size_t)bytes, NULL, &t_err));
    T_OK(buffer_append_repaired(&want, (const uint8_t *)a->back.bytes, a->back.size, NULL, &t_err));
    if (got.size != want.size || (got.size > 0 && memcmp(got.bytes, want.bytes, got.size) != 0))
        T_FAIL("%s, text %zu decodes to \"%.*s\", not to \"%.*s\"", name, number, (int)got.size,
               (const char *)got.bytes, (int)want.size, (const char *)want.bytes);
    buffer_free(&got);
    buffer_free(&want);
}

/* ---- Reading answers ---- */

static uint64_t parse_ids(const char *line, uint32_t ids[MAX_IDS])
{
    uint64_t count = 0;
    char *end;

    for (const char *at = line; *at == ' ' && count < MAX_IDS; at = end)
        ids[count++] = (uint32_t)strtoul(at + 1, &end, 10);
    return count;
}

/* Cuts off a line; returns what follows its number. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    *end = '\0';
    *at = end + 1;
    return line + strspn(line, "0123456789");
}

/* The lines of text `number`: its ids, then perhaps one with "s" and one with "d". */
static bool read_answer(char **at, size_t number, struct answer *a)
{
    if (number >= text_count || strtoul(*at, NULL, 10) != number)
        return false;
    a->plain_count = a->special_count = parse_ids(next_line(at), a->plain);
    memcpy(a->special, a->plain, sizeof a->special);
    a->back = texts[number];
    while (**at) {
        char kind = (*at)[strspn(*at, "0123456789")], *line;

        if (kind != 's' && kind != 'd')
            break;
        line = next_line(at) + 1;
        if (kind == 's')
            a->special_count = parse_ids(line, a->special);
        else
            a->back = (struct vectors_text) { line + 1, vectors_unescape(line + 1) };
    }
    return true;
}

/* ---- A tokenizer ---- */

static void check_answers(const char *name, struct leat_encoder *plain, struct leat_encoder *special)
{
    static struct answer a;
    char file[100], *lines, *at;
    size_t size, number = 0;

    snprintf(file, sizeof file, "%s.ids", name);
    at = lines = vectors_file(file, &size);
    for (; *at && read_answer(&at, number, &a); number++) {
        check_ids(plain, name, number, a.plain, a.plain_count);
        check_ids(special, name, number, a.special, a.special_count);
        check_back(plain, name, number, &a);
    }
    T_EQ(number, text_count);
    free(lines);
}

static void check_tokenizer(const char *name, const char *file)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_encoder *plain, *special;
    struct leat_tokenizer *t;

    T_OK(leat_tokenizer_open(&t, file ? t_text("%s/%s", VECTORS_FOLDER, file ? file : "") : name, NULL, &t_err));
    T_OK(leat_encoder_open(&plain, t, NULL, &t_err));
    options.special = 1;
    T_OK(leat_encoder_open(&special, t, &options, &t_err));
    check_answers(name, plain, special);
    leat_encoder_close(plain);
    leat_encoder_close(special);
    leat_tokenizer_close(t);
}

int main(void)
{
    char *memory;

    text_count = vectors_texts(texts, &memory);
    T_CHECK(text_count >= 40);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_tokenizer(rows[i].name, rows[i].file);
    free(memory);
    return t_end();
}
