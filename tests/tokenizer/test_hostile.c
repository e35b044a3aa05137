/*
 * test_hostile.c: texts made to be slow or large: much of one letter, of spaces, of newlines, of combining marks, of
 * letters and bytes without an order. That the program ends within the runner's time is what it shows of speed: what
 * takes quadratic time would take days. A piece that needs more memory than allowed is refused with the reason, and the
 * encoder goes on; and windows of any length cut a text the same way.
 */
#include <stdbool.h>

#include "leat_pack.h"
#include "t.h"
#include "vectors.h"

#include "tokenize_tools/tokenizer/pretokenizer.h"
#include "tokenize_tools/tokenizer/spec_open.h"
#include "tokenize_tools/tokenizer/utf8.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SLOW 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

static char *text; /* text_bytes and a NUL */
static size_t text_bytes;

/* MiB of each text; LEAT_TEST_MIB=64 takes some minutes. gcc says nothing of its undefined behaviour sanitizer, which
 * is fast enough. */
static void make_text(void)
{
    const char *mib = getenv("LEAT_TEST_MIB");

    text_bytes = (size_t)(mib ? strtoul(mib, NULL, 10) : SLOW ? 1 : 4) << 20;
    text = malloc(text_bytes + 1);
    if (!text || text_bytes == 0) {
        T_FAIL("no memory, or LEAT_TEST_MIB is no number");
        exit(1);
    }
    text[text_bytes] = '\0';
}

static struct leat_tokenizer *open_tokenizer(const char *name)
{
    char path[256];
    struct leat_tokenizer *t;

    snprintf(path, sizeof path, "%s/%s", VECTORS_FOLDER, name);
    T_OK(leat_tokenizer_open(&t, strchr(name, '.') ? path : name, NULL, &t_err));
    return t;
}

/* ---- Texts ---- */

/* `unit` again and again, whole. Returns the length. */
static size_t repeat(const char *unit)
{
    size_t length = strlen(unit), size = text_bytes / length * length;

    for (size_t at = 0; at < size; at += length)
        memcpy(text + at, unit, length);
    return size;
}

static size_t random_letters(uint64_t *random)
{
    for (size_t i = 0; i < text_bytes; i++)
        text[i] = (char)('a' + t_below(random, 26));
    return text_bytes;
}

static size_t random_bytes(uint64_t *random)
{
    for (size_t i = 0; i < text_bytes; i++)
        text[i] = (char)t_random(random);
    return text_bytes;
}

/* ---- Large ---- */

/* `exact`: what comes back must be what went in, repaired. */
static void check_large(const char *name, const char *what, size_t size, bool exact)
{
    struct leat_tokenizer *t = open_tokenizer(name);
    struct buffer want = { 0 };
    struct leat_encoder *e;
    const uint32_t *ids;
    const char *back;
    uint64_t count, bytes;

    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    if (leat_encoder_encode(e, text, size, &ids, &count, &t_err) != LEAT_OK) {
        T_FAIL("%s, %s: %s", name, what, t_err.message);
    } else if (exact) {
        T_OK(utf8_repair(&want, (const uint8_t *)text, size, NULL, &t_err));
        T_OK(leat_encoder_decode(e, ids, count, &back, &bytes, &t_err));
        if (bytes != want.size || memcmp(back, want.bytes, want.size) != 0)
            T_FAIL("%s, %s: decoding does not give the text back", name, what);
    }
    buffer_free(&want);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

static void test_large(uint64_t seed)
{
    static const struct {
        const char *tokenizer, *unit;
        bool exact;
    } rows[] = {
        { "gpt2", "x", true },
        { "cl100k_base", " ", true },
        { "o200k_base", "\n", true },
        { "o200k_base", "aB", true },
        { "ignore_merges.json", " \n", true },
        { "nfc.json", "\xcc\x81\xcc\xa3", false }, /* U+0301 U+0323: must change places */
        { "three_splits.json", "\xe4\xb8\xad", true },
        { "prepend_replace.json", "a", false },
        { "prepend_replace.json", "e he", false },
        { "split_spaces.json", " ", false },
        { "metaspace_first.json", "\xe4\xb8\xad", false }, /* unknown */
        { "word_suffix.json", "l", false },
        { "added.json", "</s>", false },
        { "added.json", "<|endoftext|> ", true },
        { "piece_fallback.model", "aa", false },
        { "piece_unknown.model", " ", false },
    };
    uint64_t random = seed;
    size_t size;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size = repeat(rows[i].unit);
        check_large(rows[i].tokenizer, rows[i].unit, size, rows[i].exact);
    }
    size = random_letters(&random);
    check_large("cl100k_base", "letters", size, true);
    check_large("prepend_replace.json", "letters", size, false);
    size = random_bytes(&random);
    check_large("o200k_base", "bytes", size, true);
    check_large("nfc.json", "bytes", size, false);
}

/* ---- Bounded memory ---- */

static void check_bound(const char *name)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t = open_tokenizer(name);
    struct leat_encoder *e, *other;
    const uint32_t *ids, *want;
    uint64_t count, want_count;

    options.most_bytes = 1 << 18;
    T_OK(leat_encoder_open(&e, t, &options, &t_err));
    T_OK(leat_encoder_open(&other, t, NULL, &t_err));
    T_STATUS(leat_encoder_encode(e, text, text_bytes, &ids, &count, &t_err), LEAT_E_PIECE);
    T_CONTAINS(t_err.message, "a stretch of");
    T_CONTAINS(t_err.message, "cannot be cut");
    T_CONTAINS(t_err.message, "the bound of 256 KiB");
    T_OK(leat_encoder_encode(e, "hello world, hello", 18, &ids, &count, &t_err));
    T_OK(leat_encoder_encode(other, "hello world, hello", 18, &want, &want_count, &t_err));
    T_CHECK(count == want_count && memcmp(ids, want, count * sizeof *ids) == 0);
    leat_encoder_close(e);
    leat_encoder_close(other);
    leat_tokenizer_close(t);
}

static void test_bound(uint64_t seed)
{
    uint64_t random = seed;

    random_letters(&random);
    check_bound("gpt2");
    check_bound("ignore_merges.json");
    check_bound("word_suffix.json");
    repeat("a"); /* "aa" is a piece: no cut is safe */
    check_bound("piece_fallback.model");
}

/* ---- Windows ---- */

/* Pieces end to end, each with its length before it. */
static enum leat_status keep_piece(void *context, const uint8_t *piece, size_t bytes, bool last, struct leat_error *err)
{
    struct buffer *pieces = context;

    T_CHECK(last);
    T_OK(buffer_append(pieces, &bytes, sizeof bytes, err));
    T_OK(buffer_append(pieces, piece, bytes, err));
    return LEAT_OK;
}

static void cut(const struct pretokenizer *p, size_t window, const struct buffer *repaired, struct buffer *pieces)
{
    struct pretokenizer_scratch *s;

    T_OK(pretokenizer_scratch_make(&s, p, NULL, &t_err));
    pretokenizer_scratch_window(s, window);
    T_OK(pretokenizer_run(p, s, repaired->bytes, repaired->size, true, true, keep_piece, pieces, &t_err));
    pretokenizer_scratch_free(s);
}

/* All texts in a row, a line each. */
static void join_texts(struct buffer *all)
{
    struct vectors_text texts[VECTORS_TEXTS];
    char *memory;
    size_t count = vectors_texts(texts, &memory);

    for (size_t i = 0; i < count; i++) {
        T_OK(utf8_repair(all, (const uint8_t *)texts[i].bytes, texts[i].size, NULL, &t_err));
        T_OK(buffer_append(all, "\n", 1, &t_err));
    }
    free(memory);
}

static void test_windows(void)
{
    static const char *const names[] = {
        "gpt2",        "cl100k_base",       "o200k_base",        "ignore_merges.json",
        "nfc.json",    "three_splits.json", "prefix_space.json", "metaspace_first.json",
        "digits.json", "word_suffix.json",  "split_spaces.json"
    };
    struct buffer all = { 0 };

    join_texts(&all);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pretokenizer *p;
        struct buffer whole = { 0 };
        struct opened_spec o;
        char path[256];

        snprintf(path, sizeof path, "%s/%s", VECTORS_FOLDER, names[i]);
        T_OK(spec_open(&o, strchr(names[i], '.') ? path : names[i], NULL, &t_err));
        T_OK(pretokenizer_make(&p, o.spec, &t_err));
        cut(p, SIZE_MAX, &all, &whole);
        for (size_t window = 4; window < 100; window += window < 20 ? 1 : 13) {
            struct buffer pieces = { 0 };

            cut(p, window, &all, &pieces);
            if (pieces.size != whole.size || memcmp(pieces.bytes, whole.bytes, whole.size) != 0)
                T_FAIL("%s: windows of %zu bytes cut in another way than a whole one", names[i], window);
            buffer_free(&pieces);
        }
        buffer_free(&whole);
        pretokenizer_free(p);
        spec_close(&o);
    }
    buffer_free(&all);
}

int main(void)
{
    uint64_t seed = t_seed();

    make_text();
    test_windows();
    test_bound(seed);
    test_large(seed);
    free(text);
    return t_end();
}
