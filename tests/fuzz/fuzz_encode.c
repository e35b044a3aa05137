/*
 * fuzz_encode.c: encoding any text with tokenizers of every family, and decoding the ids, and any ids. The first byte
 * chooses the tokenizer, the second whether special strings are tokens, and the parts. Ids are of the vocabulary; where
 * no text is changed, decoding gives it back, repaired; the ids are those of a fresh encoder, of short windows
 * (src/base/tiny.h), of parts, and of pieces alone.
 */
#include "fuzz.h"

#include "base/buffer.h"
#include "leat_pack.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/split/pretokenizer.h"

#define FOLDER "tests/tokenizer/vectors/"
#define MOST   8192

/* `exact`: bytes in, the same bytes out, for no part changes the text. */
static struct row {
    const char *name;
    int exact;
    struct leat_tokenizer *tokenizer;
    struct leat_encoder *used[2]; /* by `special` */
    uint64_t vocabulary;
    struct opened_spec opened;
    struct pretokenizer *pretokenizer;
    struct pretokenizer_scratch *windows, *whole; /* its segments in short windows, and in one */
} rows[] = {
    { .name = "bytes", .exact = 1 },
    { .name = "gpt2", .exact = 1 },
    { .name = "cl100k_base", .exact = 1 },
    { .name = FOLDER "ignore_merges.json", .exact = 1 },
    { .name = FOLDER "nfc.json" },
    { .name = FOLDER "three_splits.json", .exact = 1 },
    { .name = FOLDER "prefix_space.json" },
    { .name = FOLDER "digits.json", .exact = 1 },
    { .name = FOLDER "prepend_replace.json" },
    { .name = FOLDER "split_spaces.json" },
    { .name = FOLDER "metaspace_always.json" },
    { .name = FOLDER "metaspace_first.json" },
    { .name = FOLDER "metaspace_never.json" },
    { .name = FOLDER "added.json" },
    { .name = FOLDER "word_suffix.json" },
    { .name = FOLDER "piece_fallback.model" },
    { .name = FOLDER "piece_unknown.model" },
    { .name = FOLDER "unigram.json" },
    { .name = FOLDER "wordpiece.json" },
    { .name = FOLDER "unigram_whole.json" },
    { .name = FOLDER "piece_unigram.model" },
};

#define ROWS (sizeof rows / sizeof rows[0])

static void close_all(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        leat_encoder_close(rows[i].used[0]);
        leat_encoder_close(rows[i].used[1]);
        leat_tokenizer_close(rows[i].tokenizer);
        pretokenizer_scratch_free(rows[i].windows);
        pretokenizer_scratch_free(rows[i].whole);
        pretokenizer_free(rows[i].pretokenizer);
        spec_close(&rows[i].opened);
    }
}

static struct leat_encoder *new_encoder(const struct row *row, int special)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_encoder *e;

    options.special = special;
    FUZZ_CHECK(leat_encoder_open(&e, row->tokenizer, &options, NULL) == LEAT_OK);
    return e;
}

static void open_row(struct row *row)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    static int registered;

    if (row->tokenizer)
        return;
    if (!registered)
        atexit(close_all);
    registered = 1;
    FUZZ_CHECK(leat_tokenizer_open(&row->tokenizer, row->name, NULL, NULL) == LEAT_OK);
    leat_tokenizer_info(row->tokenizer, &info);
    row->vocabulary = info.vocabulary;
    row->used[0] = new_encoder(row, 0);
    row->used[1] = new_encoder(row, 1);
    FUZZ_CHECK(spec_open(&row->opened, row->name, NULL, NULL) == LEAT_OK);
    FUZZ_CHECK(pretokenizer_make(&row->pretokenizer, row->opened.spec, NULL) == LEAT_OK);
    FUZZ_CHECK(pretokenizer_scratch_make(&row->windows, row->pretokenizer, NULL, NULL) == LEAT_OK);
    FUZZ_CHECK(pretokenizer_scratch_make(&row->whole, row->pretokenizer, NULL, NULL) == LEAT_OK);
    pretokenizer_scratch_window(row->windows, 48);
    pretokenizer_scratch_window(row->whole, SIZE_MAX);
}

/* Decoding must give back the text as far as it is valid, with U+FFFD for the rest. */
static void check_back(const char *back, uint64_t bytes, const char *text, size_t size)
{
    struct buffer want = { 0 };

    FUZZ_CHECK(buffer_append_repaired(&want, (const uint8_t *)text, size, NULL, NULL) == LEAT_OK);
    FUZZ_CHECK(want.size == bytes && (bytes == 0 || memcmp(want.bytes, back, bytes) == 0));
    buffer_free(&want);
}

/* Encodes with the row's own encoder and a fresh one; returns the ids, to be freed. */
static uint32_t *encode(const struct row *row, int special, const char *text, size_t size, uint64_t *count)
{
    struct leat_encoder *fresh = new_encoder(row, special);
    const uint32_t *ids, *again;
    uint64_t again_count;
    uint32_t *kept;

    FUZZ_CHECK(leat_encoder_encode(row->used[special], text, size, &ids, count, NULL) == LEAT_OK);
    FUZZ_CHECK(leat_encoder_encode(fresh, text, size, &again, &again_count, NULL) == LEAT_OK);
    FUZZ_CHECK(*count == again_count && (*count == 0 || memcmp(ids, again, *count * sizeof *ids) == 0));
    for (uint64_t i = 0; i < *count; i++)
        FUZZ_CHECK(ids[i] < row->vocabulary);
    kept = malloc(*count * sizeof *ids + 1);
    FUZZ_CHECK(kept);
    if (*count > 0)
        memcpy(kept, ids, *count * sizeof *ids);
    leat_encoder_close(fresh);
    return kept;
}

/* The ids of all parts together must be those of the whole. */
static void check_parts(const struct row *row, int special, unsigned choice, const char *text, size_t size,
                        const uint32_t *want, uint64_t want_count)
{
    struct leat_encoder *e = row->used[special];
    uint64_t count, done = 0, used;
    const uint32_t *ids;

    FUZZ_CHECK(leat_encoder_begin(e, NULL) == LEAT_OK);
    for (size_t at = 0, n; at < size; at += used) {
        n = 1 + (choice * (at + 7) / 5) % (choice % 8 ? 1 + choice : 4000);
        n = n < size - at ? n : size - at;
        FUZZ_CHECK(leat_encoder_part(e, text + at, n, &used, &ids, &count, NULL) == LEAT_OK);
        FUZZ_CHECK(used > 0 && used <= n && count <= want_count - done);
        FUZZ_CHECK(count == 0 || memcmp(ids, want + done, count * sizeof *ids) == 0);
        done += count;
    }
    FUZZ_CHECK(leat_encoder_end(e, &ids, &count, NULL) == LEAT_OK);
    FUZZ_CHECK(done + count == want_count);
    FUZZ_CHECK(count == 0 || memcmp(ids, want + done, count * sizeof *ids) == 0);
}

#define PIECES 16

/* Pieces of the text that are encoded together must have the ids that each has alone. */
static void check_together(const struct row *row, int special, unsigned choice, const char *text, size_t size)
{
    struct leat_text pieces[PIECES];
    uint64_t counts[PIECES], count, n = 0, done;
    const uint32_t *ids, *alone;
    uint32_t *kept;

    for (size_t at = 0, length; n < PIECES; at += length) {
        length = (choice + 1) * (n + 3) % (size / 3 + 2);
        length = length < size - at ? length : size - at;
        pieces[n++] = (struct leat_text) { text + at, length };
    }
    for (uint64_t first = 0; first < n; first += done) {
        uint64_t all = 0;

        FUZZ_CHECK(leat_encoder_encode_texts(row->used[special], pieces + first, n - first, &done, &ids, counts,
                                             NULL) == LEAT_OK);
        FUZZ_CHECK(done >= 1 && done <= n - first);
        for (uint64_t i = 0; i < done; i++)
            all += counts[i];
        kept = malloc(all * sizeof *kept + 1);
        FUZZ_CHECK(kept);
        if (all > 0)
            memcpy(kept, ids, all * sizeof *kept);
        all = 0;
        for (uint64_t i = 0; i < done; i++) {
            FUZZ_CHECK(leat_encoder_encode(row->used[special], pieces[first + i].text, pieces[first + i].bytes, &alone,
                                           &count, NULL) == LEAT_OK);
            FUZZ_CHECK(count == counts[i] && (count == 0 || memcmp(alone, kept + all, count * sizeof *kept) == 0));
            all += count;
        }
        free(kept);
    }
}

/* Pretokens end to end, each with its length before it. */
static enum leat_status keep_pretoken(void *context, const uint8_t *pretoken, size_t bytes, bool last,
                                      struct leat_error *err)
{
    struct buffer *pretokens = context;

    FUZZ_CHECK(last);
    FUZZ_CHECK(buffer_append(pretokens, &bytes, sizeof bytes, err) == LEAT_OK);
    FUZZ_CHECK(buffer_append(pretokens, pretoken, bytes, err) == LEAT_OK);
    return LEAT_OK;
}

static void check_windows(const struct row *row, const char *text, size_t size)
{
    struct buffer repaired = { 0 }, windows = { 0 }, whole = { 0 };
    struct text_chunk all = { .first = 1, .last = true };
    enum leat_status s, t;

    FUZZ_CHECK(buffer_append_repaired(&repaired, (const uint8_t *)text, size, NULL, NULL) == LEAT_OK);
    all.text = repaired.bytes;
    all.bytes = repaired.size;
    s = pretokenizer_run(row->pretokenizer, row->windows, &all, keep_pretoken, &windows, NULL);
    t = pretokenizer_run(row->pretokenizer, row->whole, &all, keep_pretoken, &whole, NULL);
    FUZZ_CHECK(s == LEAT_OK && t == LEAT_OK && windows.size == whole.size);
    FUZZ_CHECK(windows.size == 0 || memcmp(windows.bytes, whole.bytes, windows.size) == 0);
    buffer_free(&repaired);
    buffer_free(&windows);
    buffer_free(&whole);
}

/* The text's own bytes as ids: most exist, some do not. */
static void decode_any(const struct row *row, const char *text, size_t size)
{
    uint32_t ids[64];
    const char *back;
    uint64_t bytes;
    enum leat_status s;

    for (size_t i = 0; i < 64; i++)
        ids[i] = i < size ? (uint8_t)text[i] * (i % 3 + 1u) : 0;
    s = leat_encoder_decode(row->used[0], ids, size < 64 ? size : 64, &back, &bytes, NULL);
    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_RANGE);
    ids[0] = (uint32_t)row->vocabulary;
    FUZZ_CHECK(leat_encoder_decode(row->used[0], ids, 1, &back, &bytes, NULL) == LEAT_E_RANGE);
}

FUZZ_TARGET(encode)
{
    const char *text = (const char *)data + 2, *back;
    uint64_t count, bytes;
    struct row *row;
    uint32_t *ids;
    int special;

    if (size < 2 || size > MOST)
        return -1;
    row = &rows[data[0] % ROWS];
    special = data[1] & 1;
    size -= 2;
    open_row(row);
    ids = encode(row, special, text, size, &count);
    FUZZ_CHECK(leat_encoder_decode(row->used[special], ids, count, &back, &bytes, NULL) == LEAT_OK);
    if (row->exact)
        check_back(back, bytes, text, size);
    check_windows(row, text, size);
    check_parts(row, special, data[1] >> 1, text, size, ids, count);
    check_together(row, special, data[1] >> 1, text, size);
    decode_any(row, text, size);
    free(ids);
    return 0;
}
