/*
 * make_seeds.c: the first inputs of the fuzzers, from datasets and checkpoints that the writer makes. `make fuzz-seeds`
 * runs it into build/fuzz/seeds/<name>/; `make fuzz-minimize` then keeps what adds coverage, in tests/fuzz/corpus/.
 */
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "fuzz.h"
#include "make_seeds.h"
#include "tokenizer/vectors.h"

static const char *out_folder;

void must(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(1);
    }
}

uint8_t *read_file(const char *path, size_t *size)
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

void put_seed(const char *fuzzer, const char *name, const void *bytes, size_t size)
{
    char path[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", out_folder, fuzzer);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", out_folder, fuzzer, name);
    f = fopen(path, "wb");
    must(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, path);
}

void must_ok(enum leat_status s, const struct leat_error *err)
{
    if (s != LEAT_OK) {
        fprintf(stderr, "make_seeds: %s\n", err->message);
        exit(1);
    }
}

/* ---- Lists, calls of the writer ---- */

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
        ("# all\nseed 5\nseq-len 16\nbase-len 64\norder sequential\nepochs 2\nsource a:0.5\nsource b:1e-3:3\nsource f\n"
         "at 6400:1,2:len=32\nat 6528:0,0,.1\nskip 7:9\nskip 100:105\n"),
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
