/*
 * test_long_texts.c: texts that a thread's own encoder has no room for, under a small bound on memory: files that go
 * through part by part, texts that a program gives, a word that cannot be cut, and texts that a normalizer makes many
 * times longer. They get the ids that leat_encoder_encode() gives, in 32 bits, too, with one thread and with several
 * that share what encodes them. One that is refused, be it in its middle, leaves nothing behind, in the dataset or in
 * the encoder; nor in what a piece of work keeps, where several files are one.
 */
#include <sys/wait.h>
#include <zstd.h>

#include "leat_pack.h"
#include "one_text.h"
#include "t.h"

#define MOST   ((size_t)12 << 20)
#define PERIOD 4095               /* so that texts are small when compressed; whole ligatures */
#define ROOM   ((size_t)14 << 20) /* for the ids of a text */

enum content { NONE, WORDS, ONE_WORD, MALFORMED_LATE, LIGATURES };

enum way { PLAIN, COMPRESSED, GIVEN };

static const char *folder;
static struct leat_tokenizer *tokenizer;

struct row {
    enum content content;
    size_t bytes;
    int refused;
};

/* What each file holds, in the order of their names. */
#define FILES 11
static const struct set {
    const char *tokenizer; /* NULL: of the file that is made here */
    uint64_t memory;
    struct row rows[FILES];
} sets[] = {
    /* a word of 12 MiB cannot be merged in a quarter of the memory */
    { "cl100k_base",
      (uint64_t)160 << 20,
      { { WORDS, 100, 0 },
        { ONE_WORD, 150000, 0 },
        { MALFORMED_LATE, 3 << 20, 1 },
        { WORDS, 3 << 20, 0 },
        { ONE_WORD, MOST, 1 },
        { ONE_WORD, 600000, 0 },
        { MALFORMED_LATE, 2 << 20, 1 },
        { WORDS, 2 << 20, 0 } } },
    /* 22 ids for each byte: more than a thread's own encoder has room for where the text itself is not long yet; where
     * that begins, and where a text is long, depends on what the process holds, and on the threads */
    { NULL,
      (uint64_t)112 << 20,
      { { LIGATURES, 6000, 0 },
        { LIGATURES, 10200, 0 },
        { LIGATURES, 15000, 0 },
        { LIGATURES, 24000, 0 },
        { LIGATURES, 42000, 0 },
        { LIGATURES, 72000, 0 },
        { LIGATURES, 123000, 0 },
        { LIGATURES, 210000, 0 },
        { LIGATURES, 360000, 0 },
        { LIGATURES, 600000, 0 },
        { WORDS, 100, 0 } } },
};

static void make(char *text, const struct row *row)
{
    uint64_t random = row->bytes;

    for (size_t i = 0; i < row->bytes && i < PERIOD; i++)
        if (row->content == LIGATURES)
            text[i] = "\xef\xb7\xba"[i % 3]; /* four words, of 33 bytes */
        else
            text[i] = (char)(row->content != ONE_WORD && t_below(&random, 6) == 0 ? ' ' : 'a' + t_below(&random, 26));
    for (size_t i = PERIOD; i < row->bytes; i += PERIOD)
        memcpy(text + i, text, row->bytes - i < PERIOD ? row->bytes - i : PERIOD);
    if (row->content == MALFORMED_LATE)
        text[row->bytes - row->bytes / 8] = '\xff';
}

/* Compressed ones are small, and are all read as one piece of work. */
static size_t write_files(const struct set *set, int compressed, char *text, const char **names)
{
    static char paths[FILES][600], packed[1 << 16];
    size_t count = 0;

    for (; count < FILES && set->rows[count].content != NONE; count++) {
        make(text, &set->rows[count]);
        snprintf(paths[count], sizeof paths[count], "%s/%02zu.txt%s", folder, count, compressed ? ".zst" : "");
        if (compressed)
            t_write(paths[count], packed, ZSTD_compress(packed, sizeof packed, text, set->rows[count].bytes, 1));
        else
            t_write(paths[count], text, set->rows[count].bytes);
        names[count] = paths[count];
    }
    return count;
}

/* What each text that is not refused gives alone. */
static struct {
    uint64_t sum, count;
} wanted[FILES];

static uint64_t sum_of(const uint32_t *ids, uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum = (sum ^ ids[i]) * 0x100000001b3u;
    return sum;
}

static void encode_each(const struct set *set, char *text)
{
    struct leat_encoder *e;

    T_OK(leat_encoder_open(&e, tokenizer, NULL, &t_err));
    for (size_t i = 0; i < FILES && set->rows[i].content != NONE; i++) {
        const uint32_t *ids;

        if (set->rows[i].refused)
            continue;
        make(text, &set->rows[i]);
        T_OK(leat_encoder_encode(e, text, set->rows[i].bytes, &ids, &wanted[i].count, &t_err));
        wanted[i].sum = sum_of(ids, wanted[i].count);
    }
    leat_encoder_close(e);
}

static void check_documents(const struct leat_dataset *d, const struct set *set, size_t files)
{
    uint32_t *have = malloc(ROOM * sizeof *have);
    uint64_t document = 0;

    T_CHECK(have != NULL);
    for (size_t i = 0; i < files; i++) {
        uint64_t first, count;

        if (set->rows[i].refused)
            continue;
        T_OK(leat_dataset_document(d, document++, &first, &count, &t_err));
        T_EQ(count, wanted[i].count);
        T_CHECK(count <= ROOM);
        if (count != wanted[i].count || count > ROOM)
            continue;
        T_OK(leat_dataset_read_u32(d, first, count, have, &t_err));
        if (sum_of(have, count) != wanted[i].sum)
            T_FAIL("file %zu has other ids", i);
    }
    free(have);
}

/* As leat_pack() of the files, but the texts are given. */
static void give_texts(const char *output, const struct set *set, char *text, size_t files,
                       const struct leat_pack_options *o, struct leat_pack_report *report)
{
    struct leat_packer *p;

    T_OK(leat_packer_open(&p, output, o, &t_err));
    for (size_t i = 0; i < files; i++) {
        make(text, &set->rows[i]);
        T_OK(add_one_text(p, text, set->rows[i].bytes, NULL, 0, NULL, &t_err));
    }
    T_OK(leat_packer_finish(p, report, &t_err));
}

/* `given`: room to make the texts in, which are given; NULL: the files are packed. */
static void check(const struct set *set, const char *const *names, char *given, size_t files, unsigned threads)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    const char *output = t_path(folder, "out");
    struct leat_dataset *d;
    uint64_t refused = 0;

    for (size_t i = 0; i < files; i++)
        refused += (uint64_t)set->rows[i].refused;
    o.tokenizer = tokenizer;
    o.threads = threads;
    o.memory = set->memory;
    o.reject_invalid = 1;
    o.force = 1;
    o.max_rejects = LEAT_NONE;
    if (given)
        give_texts(output, set, given, files, &o, &report);
    else
        T_OK(leat_pack(output, names, files, &o, &report, &t_err));
    T_EQ(report.rejects, refused);
    T_EQ(report.documents, files - refused);
    T_OK(leat_dataset_open(&d, output, NULL, &t_err));
    check_documents(d, set, files);
    leat_dataset_close(d);
}

/* In a process of its own: what packing before it left in malloc()'s hands would count as memory that is taken. */
static void check_apart(const struct set *set, const char *const *names, char *given, size_t files, unsigned threads)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        check(set, names, given, files, threads);
        _exit(t_end());
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    T_EQ(status, 0);
}

/* Of bytes, each a token, that are not those of the byte-level way of writing them. */
static const char *made_tokenizer(void)
{
    char json[8192] = "{\"normalizer\":{\"type\":\"NFKC\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_"
                      "space\":false,\"trim_offsets\":true,"
                      "\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"merges\":[],"
                      "\"vocab\":{";
    const char *path = t_path(folder, "tokenizer.json");

    for (unsigned b = 0; b < 256; b++)
        snprintf(json + strlen(json), sizeof json - strlen(json), "\"<0x%02X>\":%u%s", b, b, b < 255 ? "," : "}}}");
    t_write(path, json, strlen(json));
    return path;
}

static void check_set(const struct set *set, char *text)
{
    T_OK(leat_tokenizer_open(&tokenizer, set->tokenizer ? set->tokenizer : made_tokenizer(), NULL, &t_err));
    encode_each(set, text);
    for (enum way way = PLAIN; way <= GIVEN; way++) {
        const char *names[FILES];
        size_t files = write_files(set, way == COMPRESSED, text, names);

        for (unsigned threads = 1; threads <= 2; threads++)
            check_apart(set, names, way == GIVEN ? text : NULL, files, threads);
    }
    leat_tokenizer_close(tokenizer);
}

int main(void)
{
    const char *asked;
    char *text;

    if (T_SANITIZED)
        return t_skip("a sanitizer takes memory of its own");
    asked = getenv("LEAT_TEST_QUICK");
    if (asked && asked[0])
        return t_skip("takes seconds, and an emulator's memory is not ours");
    text = malloc(MOST);
    T_CHECK(text != NULL);
    folder = t_folder();
    for (size_t i = sizeof sets / sizeof sets[0]; i-- > 0;) /* the one with little memory first */
        check_set(&sets[i], text);
    free(text);
    return t_end();
}
