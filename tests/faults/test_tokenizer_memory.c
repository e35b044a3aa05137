/*
 * test_tokenizer_memory.c: whichever allocation fails while a tokenizer is opened, a text encoded, whole or in parts,
 * or ids decoded: an error that says so and nothing left allocated, or the ids of the undisturbed run. After a failed
 * call the encoder goes on.
 */
#include "each_call.h"
#include "leat_pack.h"
#include "tokenizer/vectors.h"
#include "tokenizer_files/made_sentencepiece.h"
#include "tokenizer_files/small_charsmap.h"

/* One for each way through loading, normalizing, cutting, merging and decoding. */
static const char *const names[] = {
    "bytes",
    "gpt2",
    VECTORS_FOLDER "/ignore_merges.json",
    VECTORS_FOLDER "/nfc.json",
    VECTORS_FOLDER "/digits.json",
    VECTORS_FOLDER "/prepend_replace.json",
    VECTORS_FOLDER "/split_spaces.json",
    VECTORS_FOLDER "/metaspace_first.json",
    VECTORS_FOLDER "/added.json",
    VECTORS_FOLDER "/word_suffix.json",
    VECTORS_FOLDER "/prefix_space.json",
    VECTORS_FOLDER "/three_splits.json",
    VECTORS_FOLDER "/metaspace_never.json",
    VECTORS_FOLDER "/tekken.json",
    VECTORS_FOLDER "/piece_fallback.model",
    VECTORS_FOLDER "/piece_unknown.model",
    VECTORS_FOLDER "/unigram.json",
    VECTORS_FOLDER "/wordpiece.json",
    VECTORS_FOLDER "/piece_unigram.model",
};

/* Files that are only opened, one for each way through loading that no published vocabulary of this size takes: their
 * patterns have all that is written with memory of its own. */
#define MODEL "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}"
static const struct made_file {
    const char *name, *content, *pattern;
} made[] = {
    { "t.tiktoken", "YQ== 0\nYg== 1\n", "kimi" },
    { "p50k.tiktoken", "YQ== 0\nYg== 1\n", "p50k_edit" },
    { "regex.json",
      "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?i:k)+.x|[[:alpha:]&&[^s]]$\"},\"content\":"
      "\"y\"},"
      "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:[k-s&&[^x]]+)|\\\\b\\\\w+|.|\\\\n$\"},"
      "\"behavior\":\"Isolated\",\"invert\":false}," MODEL "}",
      NULL },
};

/* Beyond the inline buffers: what needs repair, what NFC changes, a long piece, added tokens. */
static char text[6000];

static void make_text(void)
{
    static const char part[] =
        "Hello <mask> cafe\xcc\x81 \xff 123 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80  Word\n\n<s>";
    size_t at = 0;

    while (at + sizeof part < 3000) {
        memcpy(text + at, part, sizeof part - 1);
        at += sizeof part - 1;
    }
    memset(text + at, 'e', sizeof text - 1 - at);
}

static struct leat_tokenizer *tokenizer;
static struct leat_encoder *encoder;

static void close_both(void)
{
    leat_encoder_close(encoder);
    leat_tokenizer_close(tokenizer);
    encoder = NULL;
    tokenizer = NULL;
}

/* Encodes in parts, which are cut inside characters too; *hash is of the ids. */
static enum leat_status use_parts(uint64_t *hash, struct leat_error *err)
{
    enum leat_status s = leat_encoder_begin(encoder, err);
    uint64_t count, used, bytes = strlen(text);
    const uint32_t *ids;

    *hash = 1;
    for (uint64_t at = 0; s == LEAT_OK && at < bytes; at += used) {
        s = leat_encoder_part(encoder, text + at, bytes - at < 997 ? bytes - at : 997, &used, &ids, &count, err);
        if (s == LEAT_OK)
            each_call_answer(hash, ids, count * sizeof *ids);
    }
    if (s == LEAT_OK && (s = leat_encoder_end(encoder, &ids, &count, err)) == LEAT_OK)
        each_call_answer(hash, ids, count * sizeof *ids);
    return s;
}

/* Encodes, whole and in parts, and decodes; *hash is of the answers. */
static enum leat_status use(uint64_t *hash, struct leat_error *err)
{
    uint64_t in_parts;
    const uint32_t *ids;
    uint64_t count, bytes;
    const char *back;
    enum leat_status s = use_parts(&in_parts, err);

    if (s == LEAT_OK)
        s = leat_encoder_encode(encoder, text, strlen(text), &ids, &count, err);
    if (s != LEAT_OK)
        return s;
    *hash = 1;
    each_call_answer(hash, ids, count * sizeof *ids);
    T_EQ(*hash, in_parts);
    s = leat_encoder_decode(encoder, ids, count, &back, &bytes, err);
    if (s == LEAT_OK)
        each_call_answer(hash, back, bytes);
    return s;
}

static enum leat_status open_and_use(const char *name, uint64_t *hash, struct leat_error *err)
{
    enum leat_status s = leat_tokenizer_open(&tokenizer, name, NULL, err);

    if (s != LEAT_OK) {
        T_CHECK(!tokenizer);
        return s;
    }
    s = leat_encoder_open(&encoder, tokenizer, NULL, err);
    if (s != LEAT_OK) {
        T_CHECK(!encoder);
        return s;
    }
    return use(hash, err);
}

/* Allocation n fails, alone or with all after it. Returns whether there was an n-th. */
static int check(const char *name, uint64_t n, enum fault_mode mode, uint64_t want)
{
    long before = fault_allocations();
    struct leat_error err = { 0 };
    uint64_t hash = 0, calls;
    enum leat_status s;

    fault_arm(FAULT_MEMORY, mode, n, ENOMEM);
    s = open_and_use(name, &hash, &err);
    calls = fault_disarm();
    if (s == LEAT_OK) {
        T_EQ(hash, want);
    } else if (s != LEAT_E_NO_MEMORY || err.status != s || !strstr(err.message, "memory")) {
        T_FAIL("%s, allocation %" PRIu64 ": %s, \"%s\"", name, n, leat_status_name(s), err.message);
    }
    if (s != LEAT_OK && encoder) {
        T_OK(use(&hash, &t_err));
        T_EQ(hash, want);
    }
    close_both();
    if (fault_allocations() != before)
        T_FAIL("%s, allocation %" PRIu64 ": %ld allocations are left", name, n, fault_allocations() - before);
    return calls >= n;
}

static const char *pattern; /* of what open_only() opens */

static enum leat_status open_only(const char *path, uint64_t *answer, struct leat_error *err)
{
    struct leat_tokenizer_options o = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    enum leat_status s;

    (void)answer;
    o.pattern = pattern;
    s = leat_tokenizer_open(&t, path, &o, err);
    T_CHECK((s == LEAT_OK) == (t != NULL));
    if (s != LEAT_OK && s != LEAT_E_NO_MEMORY) {
        T_STATUS(s, LEAT_E_IO);
        T_EQ(err->os_error, EIO);
    }
    leat_tokenizer_close(t);
    return s;
}

/* Opens a file again and again while each allocation of that fails, and for a model each call of the system. */
static void check_file(const char *path, const char *its_pattern)
{
    const struct each_call c = { .run = open_only, .subject = path, .memory_only = !strstr(path, ".model") };

    pattern = its_pattern;
    each_call_fails(&c);
}

/* Field `number` of a ModelProto: a message of which field 2 is the map. */
static size_t put_charsmap(uint8_t *to, unsigned number)
{
    uint8_t map[SMALL_CHARSMAP_ROOM];
    size_t bytes = small_charsmap(map);

    map[bytes++] = '\0'; /* of its last text */
    to[0] = (uint8_t)(number << 3 | 2);
    to[1] = (uint8_t)((bytes + 3) | 0x80);
    to[2] = (uint8_t)((bytes + 3) >> 7);
    to[3] = 2 << 3 | 2;
    to[4] = (uint8_t)(bytes | 0x80);
    to[5] = (uint8_t)(bytes >> 7);
    memcpy(to + 6, map, bytes);
    return bytes + 6;
}

/* A model that maps characters before and after. */
static void check_maps(const char *path)
{
    static const struct made_piece pieces[] = {
        { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -1 }, { "b", NORMAL, -2 }, { "c", UNUSED, -3 }
    };
    uint8_t more[2 * SMALL_CHARSMAP_ROOM];
    size_t used = sizeof bpe_model;

    memcpy(more, bpe_model, used);
    used += put_charsmap(more + used, 3); /* normalizer_spec */
    used += put_charsmap(more + used, 5); /* denormalizer_spec */
    write_model(path, pieces, sizeof pieces / sizeof pieces[0], more, used);
    check_file(path, NULL);
}

/* Strings with escapes, more than a file of its size mostly has values, and an added token longer than others. */
static void check_many_strings(const char *path)
{
    enum { STRINGS = 300, LONG = 300 };
    static char json[8192];
    size_t used = (size_t)snprintf(json, sizeof json, "{\"truncation\":{\"more\":[\"\"");

    for (int i = 0; i < STRINGS; i++)
        used += (size_t)snprintf(json + used, sizeof json - used, ",\"\\n\"");
    snprintf(json + used, sizeof json - used,
             "],\"max_length\":1,\"strategy\":\"OnlyFirst\",\"stride\":0},\"added_tokens\":[{\"id\":3,\"content\":\"%0*"
             "d\",\"single_word\":false,\"lstrip\":false,"
             "\"rstrip\":false,\"normalized\":false,\"special\":false}]," MODEL "}",
             LONG, 0);
    t_write_text(path, json);
    check_file(path, NULL);
}

/* After much text no memory for the large cache: the small one goes on, and nothing is tried again. */
static void check_cache(void)
{
    enum { BYTES = 1 << 20 };
    uint64_t count, other;
    const uint32_t *ids;
    char *much = malloc(BYTES);
    uint32_t *want;

    for (size_t i = 0; i < BYTES; i++)
        much[i] = text[i % strlen(text)];
    T_OK(leat_tokenizer_open(&tokenizer, VECTORS_FOLDER "/prefix_space.json", NULL, &t_err));
    T_OK(leat_encoder_open(&encoder, tokenizer, NULL, &t_err));
    T_OK(leat_encoder_encode(encoder, much, BYTES, &ids, &count, &t_err));
    want = malloc(count * sizeof *want);
    memcpy(want, ids, count * sizeof *want);
    leat_encoder_close(encoder);
    T_OK(leat_encoder_open(&encoder, tokenizer, NULL, &t_err));
    fault_arm(FAULT_SYSTEM, FAULT_FROM_THEN_ON, 1, ENOMEM);
    for (int times = 0; times < 2; times++) {
        T_OK(leat_encoder_encode(encoder, much, BYTES, &ids, &other, &t_err));
        T_CHECK(other == count && memcmp(ids, want, count * sizeof *want) == 0);
    }
    T_EQ(fault_disarm(), 1);
    T_CHECK(fault_failed() && strcmp(fault_failed(), "mmap") == 0);
    close_both();
    free(want);
    free(much);
}

/* Folders: a tokenizer.json is made of pairs, which do not come in the order of their ids; the others have models of
 * sentencepiece of type Unigram and of whole characters. */
static void check_folders(void)
{
    static const struct made_piece pieces[] = {
        { "<pad>", CONTROL, 0 }, { "</s>", CONTROL, 0 }, { "<unk>", UNKNOWN, 0 },
        { "a", NORMAL, -1 },     { "b", NORMAL, -2 },    { "ab", NORMAL, -3 },
    };
    static const struct {
        const char *config, *file, *content; /* NULL: the pieces */
        uint8_t type;                        /* then the model's */
    } folders[] = {
        { "{\"tokenizer_class\":\"GPT2Tokenizer\",\"added_tokens_decoder\":{\"9\":{\"content\":\"<x>\"}}}",
          "vocab.json", "{\"ab\":2,\"b\":1,\"a\":0}", 0 },
        { "{}", "spm.model", NULL, 1 },
        { "{}", "spm.model", NULL, 4 },
    };

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const uint8_t trainer[] = { 0x12, 0x02, 0x18, folders[i].type };
        const char *folder = t_folder();

        t_write_text(t_path(folder, "tokenizer_config.json"), folders[i].config);
        t_write_text(t_path(folder, "merges.txt"), "a b\n");
        if (folders[i].content)
            t_write_text(t_path(folder, folders[i].file), folders[i].content);
        else
            write_model(t_path(folder, folders[i].file), pieces, sizeof pieces / sizeof pieces[0], trainer,
                        sizeof trainer);
        check_file(folder, NULL);
    }
}

static void check_made(void)
{
    const char *folder = t_folder();

    t_write_text(t_path(folder, "tokenizer_config.json"), "{\"added_tokens_decoder\":{\"7\":{\"content\":\"[EOS]\"}}}");
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        t_write_text(t_path(folder, made[i].name), made[i].content);
        check_file(t_path(folder, made[i].name), made[i].pattern);
    }
    check_maps(t_path(folder, "m.model"));
    check_many_strings(t_path(folder, "many.json"));
}

int main(void)
{
    uint64_t drawn = t_draw();

    make_text();
    check_made();
    check_folders();
    check_cache();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t want = 0, n;

        T_OK(open_and_use(names[i], &want, &t_err));
        close_both();
        for (n = 1 + t_below(&drawn, t_step(4)); check(names[i], n, FAULT_ONCE, want) && n < 100000; n += t_step(4))
            ;
        for (n = 1 + t_below(&drawn, t_step(16)); check(names[i], n, FAULT_FROM_THEN_ON, want) && n < 100000;
             n += t_step(16))
            ;
        T_CHECK(n > 10);
    }
    return t_end();
}
