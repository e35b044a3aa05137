/*
 * make_seeds.c: the first inputs of the fuzzers, from datasets and checkpoints that the writer makes. `make fuzz-seeds`
 * runs it into build/fuzz/seeds/<name>/; `make fuzz-minimize` then keeps what adds coverage under tests/fuzz/corpus/.
 */
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "datasets/shape.h"
#include "fuzz.h"
#include "tokenizer/vectors.h"

/* Places in a description (shape.h). */
#define FIXED    28
#define TABLE    180
#define SECTIONS (TABLE + 32 * 11) /* of the dataset "rich" */
/* Where the description stands in an input of fuzz_verify.c. */
#define VERIFY_AT 33

static const char *out_folder;

static void must(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(1);
    }
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    uint8_t *bytes;

    must(f && fstat(fileno(f), &st) == 0, path);
    *size = (size_t)st.st_size;
    bytes = malloc(*size + 1);
    must(bytes && fread(bytes, 1, *size, f) == *size, path);
    fclose(f);
    return bytes;
}

static void put_seed(const char *fuzzer, const char *name, const void *bytes, size_t size)
{
    char path[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", out_folder, fuzzer);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", out_folder, fuzzer, name);
    f = fopen(path, "wb");
    must(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, path);
}

static void must_ok(enum leat_status s, const struct leat_error *err)
{
    if (s != LEAT_OK) {
        fprintf(stderr, "make_seeds: %s\n", err->message);
        exit(1);
    }
}

/* ---- Datasets ---- */

/* One kind of dataset a row. */
struct kind {
    const char *name;
    uint64_t vocabulary, end, begin;
    unsigned documents, longest, inputs;
    int lines, ids, tokenizer, metadata, shuffled, hashes;
};

static const struct kind kinds[] = {
    { "empty", 300, LEAT_NONE, LEAT_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "one", 300, 299, LEAT_NONE, 1, 5, 1, 0, 0, 0, 0, 0, 1 },
    { "plain", 300, LEAT_NONE, LEAT_NONE, 6, 9, 2, 0, 0, 0, 0, 0, 0 },
    { "wide", 100000, 99999, 0, 5, 9, 2, 1, 1, 1, 2, 0, 0 },
    { "rich", 65536, 7, 8, 8, 12, 3, 1, 1, 2, 3, 0, 1 },
    { "shuffled", 50, 49, LEAT_NONE, 8, 6, 3, 0, 1, 1, 0, 1, 1 },
    { "pages", 65535, 0, LEAT_NONE, 3, 3000, 1, 1, 0, 0, 0, 0, 0 },
    { "tiny documents", 4, LEAT_NONE, LEAT_NONE, 40, 1, 1, 0, 0, 0, 8, 0, 0 },
};

/* Some are the beginning of others; bytes on both sides of 128. */
static const char *const keys[] = { "k", "k2", "a", "k\x7f", "k\xc3\xa9", "key", "k22", "\xc3\xa9" };

static void write_dataset(const char *name, const struct kind *k, const char *note)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer builtin = { "gpt2", "", NULL, 0 }, file = { "t.json", "llama3", "{}\n", 3 };
    uint64_t random = k->documents;
    struct leat_error err;
    struct leat_writer *w;

    options.vocabulary = k->vocabulary;
    options.end_token = k->end;
    options.begin_token = k->begin;
    options.store_lines = k->lines;
    options.store_ids = k->ids;
    options.store_hashes = k->hashes;
    options.tokenizer = k->tokenizer == 0 ? NULL : k->tokenizer == 1 ? &builtin : &file;
    options.force = 1;
    must_ok(leat_writer_open(&w, name, &options, &err), &err);
    for (unsigned i = 0; i < k->inputs; i++)
        must_ok(leat_writer_add_input(w, i % 2 ? "b" : "in/a.jsonl", NULL, &err), &err);
    for (int i = 0; i < k->metadata; i++)
        must_ok(leat_writer_set_metadata(w, keys[i], i % 3 ? "value" : "", &err), &err);
    for (unsigned i = 0; i < k->documents; i++) {
        struct leat_origin origin = { .line = i + 1,
                                      .id = "doc-17",
                                      .id_bytes = i % 7,
                                      .text_hash = (const uint8_t *)"sixteen bytes or more" + i % 3 };
        uint64_t count = fuzz_up_to(&random, k->longest);
        uint32_t ids[4096];

        origin.input = k->inputs == 0 ? LEAT_NONE : k->shuffled ? (i * 7) % k->inputs : i * k->inputs / k->documents;
        origin.offset = k->shuffled ? fuzz_up_to(&random, 999) : i * 100;
        for (uint64_t n = 0; n < count; n++)
            ids[n] = (uint32_t)fuzz_up_to(&random, k->longest > 100 ? 3 : k->vocabulary - 1);
        must_ok(leat_writer_add_u32(w, ids, count, &origin, &err), &err);
    }
    if (note) {
        must_ok(leat_writer_checkpoint(w, note, strlen(note), &err), &err);
        leat_writer_suspend(w);
    } else {
        must_ok(leat_writer_finish(w, NULL, &err), &err);
    }
}

/* A description with one thing wrong a row: bytes of it that are set to something else. */
static const struct {
    const char *name;
    unsigned repairs;
    struct {
        unsigned at, value;
    } bytes[5];
} defects[] = {
    { "index cut in its header", SHAPE_ALL, { { 9, 8 } } },
    { "index cut in its magic", SHAPE_ALL, { { 8, 0xfc }, { 9, 0x7f } } },
    { "index cut", SHAPE_ALL, { { 8, 3 } } },
    { "index longer", SHAPE_ALL, { { 8, 8 }, { 9, 0x80 } } },
    { "tokens cut", SHAPE_ALL, { { 10, 2 } } },
    { "tokens longer", SHAPE_ALL, { { 10, 2 }, { 11, 0x80 } } },
    { "reserved byte", SHAPE_ALL, { { 16, 0xff }, { 17, 1 }, { 18, 1 } } },
    { "reserved byte after the table", SHAPE_ALL, { { 16, 0xe8 }, { 17, 0xf }, { 18, 1 } } },
    { "reserved byte in an entry", SHAPE_ALL, { { 16, 0x3f }, { 17, 2 }, { 18, 1 } } },
    { "byte in an unused entry", SHAPE_ALL, { { 16, 0xb7 }, { 17, 0xf }, { 18, 1 } } },
    { "byte after everything", SHAPE_ALL | SHAPE_POKE_LAST, { { 16, 8 }, { 17, 16 }, { 18, 1 } } },
    { "wrong start", SHAPE_ALL | SHAPE_POKE_FIRST, { { 16, 0x10 }, { 17, 0x10 }, { 18, 3 } } },
    { "wrong path", SHAPE_ALL | SHAPE_POKE_FIRST, { { 16, 0xc0 }, { 17, 0x10 }, { 18, 3 } } },
    { "loose starts", SHAPE_ALL, { { 2, SHAPE_LOOSE }, { SECTIONS + 56, 255 }, { SECTIONS + 48, 255 } } },
    { "feature", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 16, 1 } } },
    { "version", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 8, 2 } } },
    { "header size", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 12, 2 } } },
    { "index size", SHAPE_ALL & ~SHAPE_LAYOUT, { { FIXED + 55, 0x41 } } },
    { "token file size", SHAPE_ALL & ~SHAPE_LAYOUT, { { FIXED + 63, 0x41 } } },
    { "vocabulary", SHAPE_ALL, { { FIXED + 85, 1 } } },
    { "no vocabulary", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 80, 0 }, { FIXED + 81, 0 }, { FIXED + 82, 0 } } },
    { "width", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 104, 8 } } },
    { "end token", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 92, 1 } } },
    { "begin token", SHAPE_ALL & ~SHAPE_HEAD, { { FIXED + 100, 1 }, { FIXED + 101, 0 } } },
    { "documents", SHAPE_ALL & ~SHAPE_COUNTS, { { FIXED + 76, 1 } } },
    { "no documents", SHAPE_ALL & ~SHAPE_COUNTS, { { FIXED + 72, 0 } } },
    { "sections", SHAPE_ALL, { { FIXED + 108, 56 } } },
    { "one section less", SHAPE_ALL, { { FIXED + 108, 10 } } },
    { "end of the last section", SHAPE_ALL, { { 8, 0x40 }, { 9, 0xc0 } } },
    { "directory", SHAPE_ALL & ~SHAPE_DIRECTORY, { { 0, 0 } } },
    { "falling starts", SHAPE_ALL & ~SHAPE_STARTS, { { SECTIONS + 8, 255 } } },
    { "unknown section", SHAPE_ALL, { { TABLE + 320, 20 } } },
    { "unknown section to be understood", SHAPE_ALL, { { TABLE + 320, 20 }, { TABLE + 324, 1 } } },
    { "column", SHAPE_ALL, { { TABLE + 288, 12 }, { TABLE + 320, 12 } } },
};

/* What is wrong in them, with and without many documents and long tokens. */
static void defect_seeds(const uint8_t *index, size_t index_size, const uint8_t *tokens, size_t token_size)
{
    char seed[100];

    for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++)
        for (unsigned more = 0; more < 2; more++) {
            size_t size;
            uint8_t *bytes = shape_describe(index, index_size, tokens, token_size, defects[i].repairs, 4, &size);

            must(bytes != NULL, "memory");
            if (more) {
                bytes[3] = 130;
                bytes[4] = 255;
                bytes[5] = SHAPE_LONG;
                bytes[7] = 0x48;
            }
            for (unsigned n = 0; n < 5; n++)
                if (defects[i].bytes[n].at > 0 && defects[i].bytes[n].at < size)
                    bytes[defects[i].bytes[n].at] = (uint8_t)defects[i].bytes[n].value;
            snprintf(seed, sizeof seed, "seed-%s%s", defects[i].name, more ? "-long" : "");
            put_seed("dataset", seed, bytes, size);
            free(bytes);
        }
}

/*
 * 208 documents that begin in the first of three cells, but for number 129, which is moved behind chunk 2, whose
 * directory entry says 50: then the document found for a token there lies before those of earlier tokens.
 */
static void contradicting_seeds(const uint8_t *index, size_t index_size, const uint8_t *tokens, size_t token_size)
{
    static const uint8_t fixed[] = {
        [3] = 100,                                /* step */
        [4] = 200,   [5] = SHAPE_LONG,            /* more documents */
        [7] = 0xa0,                               /* tokens */
        [16] = 0x0a, [17] = 0x14,      [18] = 1,  /* start 129, its third byte */
        [19] = 0xd0, [20] = 0x16,      [21] = 50, /* entry 2 of the directory */
        [27] = 0,
    };
    char seed[100];

    for (unsigned i = 0; i < 64; i++) {
        size_t size;
        uint8_t *bytes = shape_describe(index, index_size, tokens, token_size, SHAPE_ALL, 4, &size);

        must(bytes != NULL, "memory");
        memcpy(bytes + 3, fixed + 3, sizeof fixed - 3);
        bytes[12] = (uint8_t)i;
        snprintf(seed, sizeof seed, "seed-contradicting-%u", i);
        put_seed("dataset", seed, bytes, size);
        free(bytes);
    }
}

/* Each kind of dataset as it is, and with each kind of change; see fuzz_verify.c. */
static void verify_seeds(const char *name, const uint8_t *description, size_t size)
{
    uint8_t *bytes = calloc(1, VERIFY_AT + size);
    char seed[100];

    must(bytes != NULL, "memory");
    memcpy(bytes + VERIFY_AT, description, size);
    for (unsigned what = 0; what < 11; what++)
        for (unsigned how = 0; how < 9; how++) {
            uint64_t random = 10 * how + what;

            bytes[0] = (uint8_t)(what == 0 ? (1u << how) / 2 : 0);
            for (unsigned i = 1; i < 9; i++)
                bytes[i] = (uint8_t)fuzz_random(&random);
            bytes[1] = (uint8_t)what;
            bytes[5] = (uint8_t)how;
            snprintf(seed, sizeof seed, "seed-%s-%u-%u", name, what, how);
            put_seed("verify", seed, bytes, VERIFY_AT + size);
        }
    memcpy(bytes, "\0\5\0\20\0\0z\0", 9);
    for (unsigned section = 0; section < 12; section++) { /* byte 16 becomes a z: of metadata, its first key's first */
        bytes[2] = (uint8_t)section;
        snprintf(seed, sizeof seed, "seed-%s-z-%u", name, section);
        put_seed("verify", seed, bytes, VERIFY_AT + size);
    }
    free(bytes);
}

static void dataset_seeds(const char *folder)
{
    static const unsigned repairs[] = { SHAPE_ALL, SHAPE_SUMS | SHAPE_IDENTITY | SHAPE_CHECKSUM,
                                        SHAPE_ALL & ~(SHAPE_STARTS | SHAPE_TOKENS | SHAPE_INPUTS | SHAPE_DIRECTORY),
                                        0 };
    char name[500], path[600], seed[100];

    snprintf(name, sizeof name, "%s/d", folder);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t index_size, token_size, size;
        uint8_t *index, *tokens;

        write_dataset(name, &kinds[i], NULL);
        snprintf(path, sizeof path, "%s.leat", name);
        index = read_file(path, &index_size);
        snprintf(path, sizeof path, "%s.tokens", name);
        tokens = read_file(path, &token_size);
        for (unsigned r = 0; r < sizeof repairs / sizeof repairs[0]; r++)
            for (unsigned act = 0; act < 8; act++) {
                uint8_t *bytes = shape_describe(index, index_size, tokens, token_size, repairs[r], act, &size);

                must(bytes != NULL, "memory");
                snprintf(seed, sizeof seed, "seed-%s-%u-%u", kinds[i].name, r, act);
                put_seed("dataset", seed, bytes, size);
                if (r == 0 && act == 0)
                    verify_seeds(kinds[i].name, bytes, size);
                /* the same with many documents, and with tokens enough for several cells */
                bytes[3] = (uint8_t)(act / 2);
                bytes[4] = (uint8_t)(20 + 30 * act);
                bytes[5] = SHAPE_LONG;
                bytes[7] = (uint8_t)(act == 6 ? 0x90 : act == 4 ? 0x42 : 4 * act);
                snprintf(seed, sizeof seed, "seed-%s-%u-%u-run", kinds[i].name, r, act);
                if (act % 2 == 0)
                    put_seed("dataset", seed, bytes, size);
                if (r == 0 && act == 4) {
                    snprintf(seed, sizeof seed, "%s-run", kinds[i].name);
                    verify_seeds(seed, bytes, size);
                }
                free(bytes);
            }
        if (strcmp(kinds[i].name, "rich") == 0) {
            defect_seeds(index, index_size, tokens, token_size);
            contradicting_seeds(index, index_size, tokens, token_size);
        }
        free(index);
        free(tokens);
    }
}

/* ---- Checkpoints, lists ---- */

static void checkpoint_seeds(const char *folder)
{
    char name[500], path[600], seed[100];

    snprintf(name, sizeof name, "%s/d", folder);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size;
        uint8_t *bytes, *input;

        write_dataset(name, &kinds[i], "note");
        snprintf(path, sizeof path, "%s.partial.checkpoint", name);
        bytes = read_file(path, &size);
        input = malloc(size + 2);
        must(input != NULL, "memory");
        memcpy(input + 2, bytes, size);
        for (unsigned n = 0; n < 8; n++) {
            input[0] = (uint8_t)(n | (kinds[i].vocabulary > 65536 ? 8 : 0) | (kinds[i].lines ? 16 : 0) |
                                 (kinds[i].ids ? 32 : 0) | (kinds[i].hashes ? 128 : 0));
            input[1] = (uint8_t)(n * 37 + i);
            snprintf(seed, sizeof seed, "seed-%s-%u", kinds[i].name, n);
            put_seed("checkpoint", seed, input, n & 1 ? size - 14 : size + 2);
        }
        free(bytes);
        free(input);
    }
}

static void list_seeds(void)
{
    static const char *const lists[] = {
        "a\nb\n",
        "b.leat\r\n#c\n\na.tokens \t\n",
        "a\nc",
        "a\nd\n",
        "d\ne",
        "a\nf",
        "g\na",
        "x\n",
        "y",
        "z\n",
        "",
        "\n \n# \n",
        "./a\n../a\n",
        "/\n",
        ".leat\n.tokens",
        "a\n\na\na.leat.leat\n",
    };
    char seed[100], text[100];

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        snprintf(seed, sizeof seed, "seed-%zu", i);
        snprintf(text, sizeof text, "%c%s", (char)('0' + i % 3), lists[i]);
        put_seed("list", seed, text, strlen(text));
    }
    put_seed("list", "seed-zero", "0a\na\0b\n", 7);
}

/* Options that make sense, then any calls. */
static void writer_seeds(void)
{
    uint64_t random = 1;

    for (unsigned i = 0; i < 64; i++) {
        uint8_t bytes[300];
        char seed[100];

        for (unsigned n = 0; n < sizeof bytes; n++)
            bytes[n] = (uint8_t)fuzz_random(&random);
        bytes[2] &= 0x3f;                 /* a tokenizer that makes sense */
        bytes[3] = (uint8_t)(i % 8);      /* vocabulary */
        bytes[4] = bytes[5] = 0;          /* end and begin token */
        bytes[1] = (uint8_t)(i / 2 % 64); /* options */
        if (i % 4 == 0)
            for (unsigned n = 8; n < 16; n++)
                bytes[n] = 255; /* many short documents */
        snprintf(seed, sizeof seed, "seed-%u", i);
        put_seed("writer", seed, bytes, 40 + 4 * i);
    }
}

/* ---- Tokenizers ---- */

/* The made-up vocabularies of tests/tokenizer/vectors/; make_seeds runs at the top of the tree. */
static const char *const vocabularies[] = {
    "ignore_merges.json",   "nfc.json",
    "three_splits.json",    "prefix_space.json",
    "digits.json",          "prepend_replace.json",
    "split_spaces.json",    "metaspace_always.json",
    "metaspace_first.json", "added.json",
    "word_suffix.json",     "piece_fallback.model",
    "piece_unknown.model",  "unigram.json",
    "piece_unigram.model",  "wordpiece.json",
};

/* Small files that load, a part each, and what a mutator would not find. */
static const char *const json_files[] = {
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}",
    "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[{\"id\":3,\"content\":\"<s>\","
    "\"single_word\":false,\"lstrip\":true,\"rstrip\":true,\"normalized\":true,\"special\":true}],\"normalizer\":"
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Lowercase\"},{\"type\":\"Strip\","
    "\"strip_left\":true,\"strip_right\":true},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+\"},\"content\":"
    "\"b\"}]},\"model\":{\"type\":\"BPE\",\"unk_token\":\"a\",\"fuse_unk\":true,\"byte_fallback\":true,"
    "\"ignore_merges\":true,\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"<0x41>\":4},\"merges\":[[\"a\",\"b\"]]}}",
    "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
    "{\"type\":\"Punctuation\",\"behavior\":\"Removed\"},{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?<=a)b|c?\"},"
    "\"behavior\":\"MergedWithPrevious\",\"invert\":true},{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
    "\"trim_offsets\":true,\"use_regex\":true}]},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
    "\"trim_offsets\":true},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"\\u0120\":3},"
    "\"merges\":[\"a b\"]}}",
    "{\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"},"
    "\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \","
    "\"start\":1,\"stop\":0}]},\"model\":{\"vocab\":{\"a\":0,\"b</w>\":1},\"merges\":[],\"end_of_word_suffix\":"
    "\"</w>\",\"continuing_subword_prefix\":\"##\"}}",
    "{\"config\":{\"pattern\":\"[a-z]+|.\",\"num_vocab_tokens\":2,\"default_vocab_size\":3,"
    "\"default_num_special_tokens\":1,\"version\":\"v3\"},\"vocab\":[{\"rank\":0,\"token_bytes\":\"AA==\",\"token_"
    "str\":"
    "null},{\"rank\":1,\"token_bytes\":\"AQ==\",\"token_str\":\"x\"}],\"special_tokens\":[{\"rank\":0,\"token_str\":"
    "\"<unk>\",\"is_control\":true}]}",
};

static void load_seeds(void)
{
    char path[600], seed[100];

    for (size_t i = 0; i < sizeof vocabularies / sizeof vocabularies[0]; i++) {
        size_t size;
        uint8_t *bytes;

        snprintf(path, sizeof path, "tests/tokenizer/vectors/%s", vocabularies[i]);
        bytes = read_file(path, &size);
        snprintf(seed, sizeof seed, "seed-%s", vocabularies[i]);
        put_seed(strstr(seed, ".json") ? "load_json" : "load_sentencepiece", seed, bytes, size);
        free(bytes);
    }
    for (size_t i = 0; i < sizeof json_files / sizeof json_files[0]; i++) {
        snprintf(seed, sizeof seed, "seed-%zu", i);
        put_seed("load_json", seed, json_files[i], strlen(json_files[i]));
    }
}

static void tiktoken_seeds(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t at = 0;

    for (unsigned b = 0; b < 256; b++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%c%c== %u\n", digits[b >> 2], digits[b << 4 & 63], b);
    at += (size_t)snprintf(text + at, sizeof text - at, "YWI= 256\nYWJhYg== 257\nIHQ= 258\n= 259\n");
    put_seed("load_tiktoken", "seed-bytes", text, at);
    put_seed("load_tiktoken", "seed-short", "YQ== 0\nYg== 1\r\nYWI= 2", 22);
    put_seed("load_tiktoken", "seed-wrong", "YQ= 0\nYg== -1\n\nYWI= 99999999999\n", 34);
}

/* Each text with one of the tokenizers. */
static void plan_seeds(void)
{
    static const char *const plans[] = {
        "source a\nseq-len 8\n",
        "# all\nseed 5\nseq-len 16\nbase-len 64\norder sequential\nepochs 2\nsource a:0.5\nsource b:1e-3:3\nsource f\n"
        "at 6400:1,2:len=32\nat 6528:0,0,.1\nskip 7:9\nskip 100:105\n",
        "source c:1\nsource d:0:4\nseq-len 1000000\nat 1099511627776:1,1\nseed 18446744073709551615",
        "source e:0\nsource a:7:1\nsource b:0.25:none\nseq-len 3\nbase-len 12\nskip 0:1152921504606846976\n",
        "source a\nsplit x=0.9,y=0.1\nuse y\nseq-len 4\n",
        "source x:1:1:2\nseq-len 4\norder shuffled\nat 5:1:len\n",
    };

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        char text[1024], seed[32];

        snprintf(text, sizeof text, "leat plan 1\n%s", plans[i]);
        snprintf(seed, sizeof seed, "seed-%zu", i);
        put_seed("plan", seed, text, strlen(text));
    }
}

/* States of no plan that the fuzzer has, but for the first lines: it puts the last line right. */
static void state_seeds(void)
{
    static const char *const counts[] = { "1 0123456789abcdef", "2 0123456789abcdef 0123456789abcdef",
                                          "3 0123456789abcdef 0123456789abcdef 0123456789abcdef" };

    for (unsigned i = 0; i < 6; i++) {
        char text[1024], seed[32];

        snprintf(text, sizeof text,
                 "%cleat state 1\nposition %u\nskipped 0\ndamaged 3\nrules permutation=1,blend=1,split=1\nbase-len "
                 "64\nseed 0\norder shuffled\nsources %s\nphases %s\nskips 0123456789abcdef\nfingerprint "
                 "0123456789abcdef0123456789abcdef\ncheck 0123456789abcdef\n",
                 (char)('0' + i), 700 * i, counts[i % 3], counts[i / 2]);
        snprintf(seed, sizeof seed, "seed-%u", i);
        put_seed("state", seed, text, strlen(text));
        put_seed("state", "seed-true", "\x81\x10\x01", 3);
        put_seed("state", "seed-changed", "\x83\x10\x05\x15\x01\x03", 6);
    }
}

static void fit_seeds(void)
{
    put_seed("fit", "seed-whole", "\0", 1);
    put_seed("fit", "seed-cut", "\1\x20\x02", 3);
    put_seed("fit", "seed-list", "\0\0\x04\1", 4);
    put_seed("fit", "seed-runs", "\2\x58\0\1", 4);
    put_seed("fit", "seed-pages", "\4\0\x04\x03\x04\x04\x03", 7);
}

static void adopt_seeds(void)
{
    put_seed("adopt", "seed-whole", "\0", 1);
    put_seed("adopt", "seed-cut", "\1\x20\x10", 3);
    put_seed("adopt", "seed-hash", "\0\x04\0\x01", 4);
    put_seed("adopt", "seed-pages", "\6\x21\0\x01\xc1\0\x01", 7);
}

static void encode_seeds(void)
{
    struct vectors_text texts[VECTORS_TEXTS];
    char *memory, seed[100];
    size_t count = vectors_texts(texts, &memory);

    for (size_t i = 0; i < count; i++) {
        uint8_t input[600] = { (uint8_t)(i % 17), (uint8_t)(i / 17 % 2) };
        size_t bytes = texts[i].size < 598 ? texts[i].size : 598;

        memcpy(input + 2, texts[i].bytes, bytes);
        snprintf(seed, sizeof seed, "seed-%zu", i);
        put_seed("encode", seed, input, bytes + 2);
    }
    free(memory);
}

static void json_seeds(void)
{
    static const char *const records[] = {
        "\0{\"text\":\"a \\n\\u00e9\\ud83d\\ude00\\ud800\\\\\\\"/\",\"id\":-1.5e+7}",
        "\0 {\"id\":\"i\",\"\\u0074ext\":\"x\",\"b\":[1,0.5,true,false,null,{},[]]} ",
        "\1{\"a\":{\"b\":\"text that is longer than a block of sixty-four bytes, with \\\"quotes\\\" in it\",\"c\":5}}",
        "\2{\"\":{\"\":\"x\"},\"\":\"y\"}",
        "\3[\"text\"]",
        "\4{\"id\":\"both\"}",
    };

    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        char seed[100];

        snprintf(seed, sizeof seed, "seed-%zu", i);
        put_seed("json", seed, records[i], 1 + strlen(records[i] + 1));
    }
}

/* One member of gzip with everything that a header can have, and a block with codes of its own. */
static const uint8_t gzip_member[] = {
    0x1f, 0x8b, 0x08, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0x03, 0x00, 0x61, 0x62, 0x63, 0x6e, 0x61, 0x6d,
    0x65, 0x00, 0x63, 0x6f, 0x6d, 0x6d, 0x65, 0x6e, 0x74, 0x00, 0xf4, 0x6e, 0x65, 0x8e, 0x51, 0x0a, 0xc0, 0x30,
    0x08, 0x43, 0xff, 0x73, 0x0a, 0xaf, 0x56, 0x86, 0xa3, 0x65, 0x3a, 0x86, 0x38, 0x76, 0xfd, 0x81, 0x05, 0xdb,
    0x6e, 0x7f, 0x2f, 0x9a, 0x68, 0xaa, 0x70, 0x71, 0x92, 0x6b, 0x43, 0x0b, 0x82, 0xa1, 0x4f, 0x42, 0x78, 0x65,
    0xd2, 0x26, 0x42, 0x09, 0xfb, 0x53, 0x9c, 0x2d, 0x25, 0x00, 0x0d, 0x6b, 0x4e, 0xa6, 0x74, 0x58, 0x4f, 0x15,
    0xac, 0x8e, 0xfe, 0x28, 0x96, 0xb6, 0xc6, 0xee, 0xcf, 0xf1, 0x55, 0x8e, 0xd8, 0xd4, 0x2b, 0x49, 0x8f, 0xf6,
    0x6f, 0x3b, 0xe0, 0x05, 0x4f, 0x12, 0x3b, 0x5a, 0xe8, 0x00, 0x00, 0x00
};

static void byte_seeds(void)
{
    static const char text[] = "a text of a few words, a few of which are the same words";
    static const uint8_t skippable[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3 };
    uint8_t input[1000] = { 7 }, gzip[1 + 2 * sizeof gzip_member + 4] = { 1 };
    size_t bytes = 1;

    put_seed("bytes", "seed-plain", text, sizeof text - 1);
    bytes += ZSTD_compress(input + bytes, sizeof input - bytes, text, sizeof text - 1, 3);
    memcpy(input + bytes, skippable, sizeof skippable);
    bytes += sizeof skippable;
    bytes += ZSTD_compress(input + bytes, sizeof input - bytes, text, 5, 3);
    put_seed("bytes", "seed-zstd", input, bytes);
    memcpy(gzip + 1, gzip_member, sizeof gzip_member);
    memcpy(gzip + 1 + sizeof gzip_member, gzip_member, sizeof gzip_member);
    put_seed("bytes", "seed-gzip", gzip, sizeof gzip);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/leat-seeds-XXXXXX", command[100];

    if (argc != 2) {
        fputs("usage: make_seeds FOLDER\n", stderr);
        return 2;
    }
    out_folder = argv[1];
    must(mkdtemp(folder) != NULL, folder);
    dataset_seeds(folder);
    checkpoint_seeds(folder);
    list_seeds();
    writer_seeds();
    load_seeds();
    tiktoken_seeds();
    encode_seeds();
    json_seeds();
    byte_seeds();
    plan_seeds();
    state_seeds();
    adopt_seeds();
    fit_seeds();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
