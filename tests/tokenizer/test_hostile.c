/*
 * test_hostile.c: texts made to be slow or large: much of one letter, of spaces, of newlines, of combining marks, of
 * letters and bytes without an order; whole and in parts, with the memory that takes. That the program ends within the
 * runner's time is what it shows of speed: what takes quadratic time would take days; LEAT_TEST_MIB=64 for texts that
 * long. What needs more memory than allowed is refused with the reason, and the encoder goes on; and windows of any
 * length cut a text the same way.
 */
#include <stdbool.h>

#include "leat_pack.h"
#include "support/peak.h"
#include "t.h"
#include "vectors.h"
#include "vocabularies.h"

#include "base/buffer.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/split/pretokenizer.h"

static uint64_t drawn; /* what draws texts and vocabularies */

/* Of many, make check tries one in `of`, which each run draws. */
static bool tried(unsigned of)
{
    return t_below(&drawn, t_step(of)) == 0;
}

static char *text; /* text_bytes and a NUL */
static size_t text_bytes;

static void make_text(size_t mib)
{
    text_bytes = mib << 20;
    free(text);
    text = malloc(text_bytes + 1);
    if (!text) {
        T_FAIL("no memory");
        exit(1);
    }
    text[text_bytes] = '\0';
}

/* A built-in, a file of the vectors' folder, or one by its path. It is kept until the next: large ones take a while. */
static struct leat_tokenizer *open_tokenizer(const char *name)
{
    static struct leat_tokenizer *t;
    static char last[1024];

    if (strcmp(name, last) == 0)
        return t;
    snprintf(last, sizeof last, "%s", name);
    leat_tokenizer_close(t);
    t = NULL;
    if (!*name)
        return NULL;
    T_OK(leat_tokenizer_open(
        &t, t_text("%s%s", strchr(name, '/') || !strchr(name, '.') ? "" : VECTORS_FOLDER "/", name), NULL, &t_err));
    return t;
}

/* ---- Texts ---- */

/* Each fills `text`, repeat() with as many units as fit whole, and returns its bytes. */
static size_t repeat(const char *unit)
{
    size_t length = strlen(unit), size = text_bytes / length * length;

    for (size_t at = 0; at < size; at += length)
        memcpy(text + at, unit, length);
    return size;
}

static size_t letters(uint64_t *random)
{
    for (size_t i = 0; i < text_bytes; i++)
        text[i] = (char)('a' + t_below(random, 26));
    return text_bytes;
}

static size_t any_bytes(uint64_t *random)
{
    for (size_t i = 0; i < text_bytes; i++)
        text[i] = (char)t_random(random);
    return text_bytes;
}

/* ---- Large ---- */

/* Memory that an encoder may take for a stretch that cannot be cut, and for all else. */
#define EACH_BYTE 24
#define ALL_ELSE  ((uint64_t)24 << 20)

static uint64_t hash_of(uint64_t hash, const uint32_t *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ ids[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

/* In parts of random lengths: the same ids, in memory as it may be. */
static void check_parts(struct leat_encoder *e, const char *name, const char *what, size_t size, uint64_t want)
{
    uint64_t random = size, begin = peak_begin(), hash = 0, count, used, peak;
    double seconds = peak_seconds();
    const uint32_t *ids;

    T_OK(leat_encoder_begin(e, &t_err));
    for (size_t at = 0; at < size; at += used) {
        size_t n = 1 + t_below(&random, (size_t)1 << t_below(&random, 22));

        T_OK(leat_encoder_part(e, text + at, n < size - at ? n : size - at, &used, &ids, &count, &t_err));
        hash = hash_of(hash, ids, count);
    }
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    if (hash_of(hash, ids, count) != want)
        T_FAIL("%s, %s: in parts it is another", name, what);
    peak = peak_bytes(begin);
    if (peak > (uint64_t)EACH_BYTE * size + ALL_ELSE)
        T_FAIL("%s, %s: %" PRIu64 " MiB of memory for %zu MiB", name, what, peak >> 20, size >> 20);
    printf("%-32.32s %-8.8s %7.1f MB/s, %5.1f times its size of memory\n",
           strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
           *what > ' ' && *what < 0x7f ? what
           : *what == ' '              ? "spaces"
           : *what == '\n'             ? "newlines"
                                       : "others",
           (double)size / 1e6 / (peak_seconds() - seconds), (double)peak / (double)size);
}

/* `exact`: what comes back must be what went in, repaired. */
static void check_large(const char *name, const char *what, size_t size, bool exact)
{
    struct leat_tokenizer *t = open_tokenizer(name);
    struct buffer want = { 0 };
    struct leat_encoder *e;
    const uint32_t *ids;
    const char *back;
    uint64_t count, bytes, hash;

    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    if (leat_encoder_encode(e, text, size, &ids, &count, &t_err) != LEAT_OK) {
        T_FAIL("%s, %s: %s", name, what, t_err.message);
    } else {
        hash = hash_of(0, ids, count);
        if (exact) {
            T_OK(buffer_append_repaired(&want, (const uint8_t *)text, size, NULL, &t_err));
            T_OK(leat_encoder_decode(e, ids, count, &back, &bytes, &t_err));
            if (bytes != want.size || memcmp(back, want.bytes, want.size) != 0)
                T_FAIL("%s, %s: decoding does not give the text back", name, what);
        }
        leat_encoder_close(e);
        T_OK(leat_encoder_open(&e, t, NULL, &t_err));
        check_parts(e, name, what, size, hash);
    }
    buffer_free(&want);
    leat_encoder_close(e);
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
        { "unigram.json", "a", false },
        { "unigram_whole.json", "\xf0\x9f\x99\x82", false }, /* unknown */
        { "piece_unigram.model", "ab", false },
    };
    uint64_t random = seed;
    size_t size;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!tried(2))
            continue;
        size = repeat(rows[i].unit);
        check_large(rows[i].tokenizer, rows[i].unit, size, rows[i].exact);
    }
    size = letters(&random);
    if (tried(2))
        check_large("gpt2", "letters", size, true);
    if (tried(2))
        check_large("cl100k_base", "letters", size, true);
    if (tried(2))
        check_large("prepend_replace.json", "letters", size, false);
    size = any_bytes(&random);
    check_large("o200k_base", "bytes", size, true);
    check_large("nfc.json", "bytes", size, false);
}

/* Five texts through published vocabularies, where they are at hand; by make check through one of them, which each run
 * draws, two: what a long text costs depends on its pretokens and models, which are those of the files above. */
static void test_published(uint64_t seed)
{
    static const char *const names[] = { "llama3_1.tokenizer.json.zst", "qwen2_5.tokenizer.json.zst",
                                         "mistral_v1.tokenizer.json.zst", "gemma2.tokenizer.json.zst" };
    static const char *const units[] = { "a", " ", "\n", "\xcc\x81" };
    uint64_t random = seed;
    size_t only = t_below(&drawn, sizeof names / sizeof names[0]),
           unit = t_below(&drawn, sizeof units / sizeof units[0]);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[1024];

        if ((!t_every() && i != only) || !vocabulary_path(names[i]))
            continue;
        snprintf(path, sizeof path, "%s", vocabulary_path(names[i]));
        for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
            size_t size;

            if (!t_every() && k != unit)
                continue;
            size = repeat(units[k]);
            check_large(path, units[k], size, false);
        }
        check_large(path, "letters", letters(&random), false);
    }
}

/* ---- Bounded memory ---- */

static void check_bound(const char *name)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t = open_tokenizer(name);
    struct leat_encoder *e, *other;
    const uint32_t *ids, *want;
    uint64_t count, want_count;

    options.max_bytes = 1 << 18;
    T_OK(leat_encoder_open(&e, t, &options, &t_err));
    T_OK(leat_encoder_open(&other, t, NULL, &t_err));
    T_REFUSED(leat_encoder_encode(e, text, text_bytes, &ids, &count, &t_err), LEAT_E_PRETOKEN, "a stretch of");
    T_CONTAINS(t_err.message, "cannot be cut");
    T_CONTAINS(t_err.message, "the limit of 256 KiB");
    T_OK(leat_encoder_encode(e, "hello world, hello", 18, &ids, &count, &t_err));
    T_OK(leat_encoder_encode(other, "hello world, hello", 18, &want, &want_count, &t_err));
    T_CHECK(count == want_count && memcmp(ids, want, count * sizeof *ids) == 0);
    leat_encoder_close(e);
    leat_encoder_close(other);
}

/* What is refused has not taken more than the bound before, and what is not refused neither. */
static void check_bounded_peak(const char *name, size_t size)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t = open_tokenizer(name);
    bool refused = false;

    for (options.max_bytes = (uint64_t)1 << 20; options.max_bytes <= (uint64_t)64 << 20; options.max_bytes *= 4) {
        enum leat_status s = LEAT_OK;
        uint64_t count, used, begin, peak;
        struct leat_encoder *e;
        const uint32_t *ids;

        T_OK(leat_encoder_open(&e, t, &options, &t_err));
        T_OK(leat_encoder_encode(e, "some text", 9, &ids, &count, &t_err)); /* what every encoder has */
        begin = peak_begin();
        T_OK(leat_encoder_begin(e, &t_err));
        for (size_t at = 0; at < size && s == LEAT_OK; at += used)
            s = leat_encoder_part(e, text + at, size - at, &used, &ids, &count, &t_err);
        if (s == LEAT_OK)
            s = leat_encoder_end(e, &ids, &count, &t_err);
        if (s != LEAT_OK)
            T_EQ(s, LEAT_E_PRETOKEN);
        refused = refused || s != LEAT_OK;
        peak = peak_bytes(begin);
        if (peak > options.max_bytes + ((uint64_t)2 << 20))
            T_FAIL("%s: %" PRIu64 " KiB of memory for a bound of %" PRIu64 " KiB", name, peak >> 10,
                   options.max_bytes >> 10);
        leat_encoder_close(e);
    }
    T_CHECK(refused);
}

static void test_bound(uint64_t seed)
{
    uint64_t random = seed;

    letters(&random);
    check_bound("gpt2");
    check_bound("ignore_merges.json");
    check_bound("word_suffix.json");
    check_bounded_peak("gpt2", text_bytes);
    check_bounded_peak("nfc.json", text_bytes);
    repeat("a"); /* "aa" is a pretoken: no cut is safe */
    check_bound("piece_fallback.model");
    check_bounded_peak("piece_fallback.model", text_bytes);
}

/* ---- Windows ---- */

/* Pretokens end to end, each with its length before it. */
static enum leat_status keep_pretoken(void *context, const uint8_t *pretoken, size_t bytes, bool last,
                                      struct leat_error *err)
{
    struct buffer *pretokens = context;

    T_CHECK(last);
    T_OK(buffer_append(pretokens, &bytes, sizeof bytes, err));
    T_OK(buffer_append(pretokens, pretoken, bytes, err));
    return LEAT_OK;
}

static void cut(const struct pretokenizer *p, size_t window, const struct buffer *repaired, struct buffer *pretokens)
{
    const struct text_chunk all = { repaired->bytes, repaired->size, 1, true };
    struct pretokenizer_scratch *s;

    T_OK(pretokenizer_scratch_make(&s, p, NULL, &t_err));
    pretokenizer_scratch_window(s, window);
    T_OK(pretokenizer_run(p, s, &all, keep_pretoken, pretokens, &t_err));
    pretokenizer_scratch_free(s);
}

/* All texts in a row, a line each. */
static void join_texts(struct buffer *all)
{
    struct vectors_text texts[VECTORS_TEXTS];
    char *memory;
    size_t count = vectors_texts(texts, &memory);

    for (size_t i = 0; i < count; i++) {
        T_OK(buffer_append_repaired(all, (const uint8_t *)texts[i].bytes, texts[i].size, NULL, &t_err));
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

        T_OK(spec_open(&o, strchr(names[i], '.') ? t_text("%s/%s", VECTORS_FOLDER, names[i]) : names[i], NULL, &t_err));
        T_OK(pretokenizer_make(&p, o.spec, &t_err));
        cut(p, SIZE_MAX, &all, &whole);
        for (size_t window = 4; window < 100; window += window < 20 ? 1 : 13) {
            struct buffer pretokens = { 0 };

            cut(p, window, &all, &pretokens);
            if (pretokens.size != whole.size || memcmp(pretokens.bytes, whole.bytes, whole.size) != 0)
                T_FAIL("%s: windows of %zu bytes cut in another way than a whole one", names[i], window);
            buffer_free(&pretokens);
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

    drawn = t_draw();
    make_text(peak_mib(1));
    test_windows();
    test_bound(seed);
    test_large(seed);
    if (!T_SANITIZED)
        test_published(seed);
    open_tokenizer("");
    free(text);
    return t_end();
}
