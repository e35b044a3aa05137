/*
 * test_large_document.c: a document of any size goes through an encoder in parts with a bound on its memory, and
 * decodes to what it was. It is made of words as it goes, never there as a whole. LEAT_TEST_MIB=1024 for one of a
 * gigabyte; a word after the program's name for the tokenizers only whose names have it.
 */
#include "t.h"
#include "leat_pack.h"
#include "support/peak.h"
#include "vectors.h"
#include "vocabularies.h"

#define MOST       ((uint64_t)16 << 20) /* max_bytes: less than a whole document of the smallest size takes */
#define PART_BYTES ((size_t)3 << 19)
#define ALLOWED    (MOST + ((uint64_t)8 << 20)) /* with the program's own buffers, and what the allocator keeps */

static const char *const words[] = {
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "was",
    "on",
    "are",
    "with",
    "they",
    "at",
    "house",
    "river",
    "people",
    "government",
    "time",
    "1987",
    "3.14",
    "its",
    "don't",
    "we'll",
    "light",
    "music",
    "mountain",
    "language",
    "caf\xc3\xa9",
    "na\xc3\xafve",
    "\xe4\xb8\xad\xe6\x96\x87",
    "internationalization",
};
static const char *const ends[] = { " ",   " ",     " ",  " ",  " ",  " ",   " ",   ", ", ". ",
                                    ".\n", ".\n\n", "; ", " (", ") ", " \"", "\" ", "  " };

#define COUNT(list) (sizeof list / sizeof list[0])

/* Where the making of the text stands; two that begin alike give the same bytes. */
struct source {
    uint64_t random;
    char rest[64];
    size_t rest_bytes;
};

static void fill(struct source *s, char *out, size_t bytes)
{
    while (bytes > 0) {
        size_t n;

        if (s->rest_bytes == 0)
            s->rest_bytes = (size_t)snprintf(s->rest, sizeof s->rest, "%s%s", words[t_below(&s->random, COUNT(words))],
                                             ends[t_below(&s->random, COUNT(ends))]);
        n = s->rest_bytes < bytes ? s->rest_bytes : bytes;
        memcpy(out, s->rest, n);
        memmove(s->rest, s->rest + n, s->rest_bytes - n);
        s->rest_bytes -= n;
        out += n;
        bytes -= n;
    }
}

/* What ids decode to, compared with the text. */
struct check {
    struct leat_encoder *decoder;
    struct source source;
    char *text;
    uint64_t ids, bytes;
};

static void check_ids(struct check *c, const uint32_t *ids, uint64_t count)
{
    c->ids += count;
    for (uint64_t at = 0, n; c->decoder && at < count && t_failures == 0; at += n) {
        const char *text;
        uint64_t bytes;

        n = count - at < 4096 ? count - at : 4096;
        T_OK(leat_encoder_decode(c->decoder, ids + at, n, &text, &bytes, &t_err));
        if (bytes > PART_BYTES) {
            T_FAIL("%" PRIu64 " ids decode to %" PRIu64 " bytes", n, bytes);
            return;
        }
        fill(&c->source, c->text, bytes);
        if (memcmp(text, c->text, bytes) != 0)
            T_FAIL("from byte %" PRIu64 " on it does not decode to what it was", c->bytes);
        c->bytes += bytes;
    }
}

static void encode_document(struct leat_encoder *e, char *part, uint64_t bytes, uint64_t seed, struct check *c)
{
    struct source source = { .random = seed };
    const uint32_t *ids;
    uint64_t count, used;

    T_OK(leat_encoder_begin(e, &t_err));
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < PART_BYTES ? bytes - done : PART_BYTES;
        fill(&source, part, n);
        for (uint64_t at = 0; at < n; at += used) {
            T_OK(leat_encoder_part(e, part + at, n - at, &used, &ids, &count, &t_err));
            check_ids(c, ids, count);
        }
    }
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    check_ids(c, ids, count);
}

static void check_document(const char *name, int exact, uint64_t bytes, uint64_t seed)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct check c = { .source = { .random = seed } };
    char *part = malloc(PART_BYTES);
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    uint64_t begin, peak;
    double seconds;

    c.text = malloc(PART_BYTES);
    if (!part || !c.text)
        exit(1);
    options.max_bytes = MOST;
    T_OK(leat_tokenizer_open(&t, name, NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, &options, &t_err));
    if (exact)
        T_OK(leat_encoder_open(&c.decoder, t, NULL, &t_err));
    begin = peak_begin();
    seconds = peak_seconds();
    encode_document(e, part, bytes, seed, &c);
    seconds = peak_seconds() - seconds;
    peak = peak_bytes(begin);
    if (exact)
        T_EQ(c.bytes, bytes);
    T_CHECK(c.ids > bytes / 20);
    if (peak > ALLOWED)
        T_FAIL("%s: %" PRIu64 " bytes of memory for a bound of %" PRIu64, name, peak, MOST);
    printf("%-60s %7.1f MB/s with making%s, %5.1f MiB of memory\n", name, (double)bytes / 1e6 / seconds,
           exact ? " and decoding" : "", (double)peak / 1048576);
    fflush(stdout);
    leat_encoder_close(e);
    leat_encoder_close(c.decoder);
    leat_tokenizer_close(t);
    free(part);
    free(c.text);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        int exact;
    } rows[] = { { "gpt2", 1 },
                 { "bytes", 1 },
                 { VECTORS_FOLDER "/nfc.json", 0 },
                 { VECTORS_FOLDER "/prepend_replace.json", 0 },
                 { VECTORS_FOLDER "/metaspace_first.json", 0 },
                 { VECTORS_FOLDER "/added.json", 0 },
                 { VECTORS_FOLDER "/piece_fallback.model", 0 } };
    static const char *const published[] = { "llama3_1.tokenizer.json.zst", "mistral_v1.tokenizer.json.zst",
                                             "gemma2.tokenizer.json.zst" };
    uint64_t seed = t_seed(), bytes = (uint64_t)peak_mib(T_SANITIZED ? 1 : 2) << 20;

    for (size_t i = 0; i < COUNT(rows); i++)
        if (strstr(rows[i].name, only))
            check_document(rows[i].name, rows[i].exact, bytes, seed);
    for (size_t i = 0; i < COUNT(published); i++)
        if (strstr(published[i], only) && vocabulary_path(published[i]))
            check_document(vocabulary_path(published[i]), 0, bytes, seed);
    return t_end();
}
