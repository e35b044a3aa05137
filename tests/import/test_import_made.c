/*
 * test_import_made.c: shards of streaming and chunks of litdata, made by hand with one sample each: ids of each type,
 * below zero and above the vocabulary, in arrays with and without a head; and what is refused, with its sentence.
 */
#include <stdarg.h>
#include <zstd.h>

#include "leat_pack.h"
#include "t.h"

#define TEXT(bytes) bytes, sizeof(bytes) - 1

enum kind {
    MDS,    /* one column; `leaf` is its encoding */
    ITEM,   /* of litdata: one leaf of a dict or none */
    TOKENS, /* of its TokensLoader */
};

static const struct made {
    enum kind kind;
    const char *leaf, *sample;
    size_t size;
    const char *outcome; /* the ids, or what is said */
    uint64_t vocabulary; /* 0: 100 */
} rows[] = {
    /* types, and ids that are none */
    { MDS, "ndarray:uint8", TEXT("\4\3\1\2\377"), "1 2 255", 256 },
    { MDS, "ndarray:uint8", TEXT("\4\3\1\2\377"), "token 2 of document 0 is 255, and the vocabulary has 100 entries",
      0 },
    { MDS, "ndarray:int8", TEXT("\4\3\1\2\143"), "1 2 99", 0 },
    { MDS, "ndarray:int8", TEXT("\4\3\1\2\377"), "token 2 of document 0 is -1, and an id is never negative", 256 },
    { MDS, "ndarray:int16", TEXT("\4\2\1\0\0\200"), "token 1 of document 0 is -32768, and an id is never", 65536 },
    { MDS, "ndarray:int32", TEXT("\4\1\377\377\377\377"), "token 0 of document 0 is -1, and an id is never",
      1ull << 32 },
    { MDS, "ndarray:int32", TEXT("\4\1\377\377\377\177"), "2147483647", 1ull << 32 },
    { MDS, "ndarray:uint32", TEXT("\4\1\377\377\377\377"), "4294967295", 1ull << 32 },
    { MDS, "ndarray:int64", TEXT("\4\1\376\377\377\377\377\377\377\377"), "token 0 of document 0 is -2, and an id", 0 },
    { MDS, "ndarray:int64", TEXT("\4\1\7\0\0\0\1\0\0\0"), "is 4294967303, and the vocabulary has 100 entries", 0 },
    { MDS, "ndarray:uint64", TEXT("\4\1\0\0\0\0\0\0\0\200"), "is 9223372036854775808, and the vocabulary has", 0 },
    { MDS, "ndarray:uint64", TEXT("\4\1\7\0\0\0\0\0\0\0"), "7", 0 },
    { MDS, "ndarray", TEXT("\41\5\2\0\7\0\0\0\11\0\0\0"), "7 9", 0 }, /* int32, and a length of two bytes */
    { MDS, "ndarray", TEXT("\20\4\1\7\0"), "7", 0 },
    /* heads */
    { MDS, "ndarray", TEXT(""), "its array has no type or shape", 0 },
    { MDS, "ndarray", TEXT("\20"), "its array has no type or shape", 0 },
    { MDS, "ndarray", TEXT("\22\4\1\7\0"), "its array is not of integers", 0 },
    { MDS, "ndarray:uint8", TEXT("\5\1"), "its array is shorter than its shape", 0 },
    { MDS, "ndarray:uint8", TEXT("\4\2\7"), "its array is not as long as its shape says", 0 },
    { MDS, "ndarray:uint16", TEXT("\4\1\7\0\0"), "its array is not as long as its shape says", 0 },
    { MDS, "ndarray:uint8", TEXT("\10\1\1\7"), "is an array of 2 axes, not a list of ids", 0 },
    { MDS, "ndarray:uint8:2,2", TEXT("\1\2\3\4"), "its column holds arrays of uint8:2,2, not lists of integers", 0 },
    { MDS, "ndarray:float32", TEXT("\4\1\0\0\0\0"), "its column holds arrays of float32, not lists of integers", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\1\0\0\0\1\0\0\0\2\0\0\0\7\0\11\0"), "7 9", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\4\0\0\0\0\0\0\0\7"), "7", 0 }, /* a scalar */
    { ITEM, "[\"numpy\"]", TEXT("\1\0\0\0\1\0\0\0\3\0\0\0\7\0\11\0"), "not as long as its shape says", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\1\0\0\0\1\0\0"), "its tensor has no type or shape", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\1\0\0\0\1\0\0\0\2\0"), "its tensor is shorter than its shape", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\10\0\0\0\1\0\0\0\0\0\0\0"), "its tensor is not of integers", 0 },
    { ITEM, "[\"numpy\"]", TEXT("\1\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0\7\0"), "is a tensor of 2 axes, not a list of ids",
      0 },
    { ITEM, "[\"tensor\"]", TEXT("\0\0\0\24\0\0\0\1\0\0\0\2\7\0\11\0"), "7 9", 0 },
    { ITEM, "[\"tensor\"]", TEXT("\0\0\0\23\0\0\0\1\0\0\0\1\1"), "its tensor is not of integers", 0 },
    { TOKENS, "[\"no_header_numpy:4\"]", TEXT("\7"), "7", 0 }, /* the smallest chunk */
    /* what an index may not say */
    { ITEM, "[5]", TEXT(""), "\"data_format\" is missing or not a list of strings", 0 },
    { TOKENS, "[\"tensor\"]", TEXT(""), "\"data_format\" is missing or not one list of ids, as TokensLoader has it",
      0 },
    { ITEM, "[\"no_header_numpy:4x\"]", TEXT("\7"), "no column holds lists of integers", 0 },
    { ITEM, "[\"no_header_numpy:12345\"]", TEXT("\7"), "no column holds lists of integers", 0 },
};

static const char *folder;

static void store(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(t_path(folder, name), "wb");

    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        perror(name);
        exit(1);
    }
}

__attribute__((format(printf, 1, 2))) static void index_is(const char *format, ...)
{
    char text[2000];
    va_list args;

    va_start(args, format);
    store("index.json", text, (size_t)vsnprintf(text, sizeof text, format, args));
    va_end(args);
}

static size_t put32(uint8_t *to, size_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return 4;
}

/* A file of one sample; returns its size. */
static size_t write_shard(enum kind kind, const void *sample, size_t size)
{
    size_t head = kind == TOKENS ? 0 : 4, used;
    uint8_t bytes[200];

    used = put32(bytes, 1);
    used += put32(bytes + used, 12);
    used += put32(bytes + used, 12 + head + size);
    if (head > 0)
        used += put32(bytes + used, size);
    memcpy(bytes + used, sample, size);
    store("f", bytes, used + size);
    return used + size;
}

#define SHARD                                                                                                          \
    "{\"column_names\": [%s], \"column_encodings\": [\"%s\"], \"column_sizes\": [%s], \"format\": \"mds\", "           \
    "\"raw_data\": {\"basename\": \"%s\", \"bytes\": %llu}, \"zip_data\": {\"basename\": \"f\"}, \"samples\": %u}"
#define CHUNK                                                                                                          \
    "{\"chunks\": [{\"filename\": \"f\", \"chunk_bytes\": %zu, \"chunk_size\": 1}], \"config\": {\"data_format\": "    \
    "%s, "                                                                                                             \
    "\"item_loader\": \"%s\"%s}}"

static void check(uint64_t vocabulary, const char *outcome)
{
    struct leat_import_options o = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    const char *made = t_path(folder, "made");
    char text[200] = "";
    uint32_t ids[10];

    o.force = 1;
    o.vocabulary = vocabulary > 0 ? vocabulary : 100;
    if (leat_import(made, &folder, 1, &o, NULL, &t_err) != LEAT_OK) {
        T_CONTAINS(t_err.message, outcome);
        T_CONTAINS(t_err.message, folder);
        return;
    }
    T_OK(leat_dataset_open(&d, made, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_CHECK(info.documents == 1 && info.tokens < 10);
    T_OK(leat_dataset_read_u32(d, 0, info.tokens, ids, &t_err));
    for (uint64_t i = 0; i < info.tokens; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i > 0 ? " " : "", (unsigned)ids[i]);
    T_STR(text, outcome);
    leat_dataset_close(d);
}

static void test_row(const struct made *row)
{
    size_t size = write_shard(row->kind, row->sample, row->size);

    if (row->kind == MDS)
        index_is("{\"shards\": [" SHARD "]}", "\"tokens\"", row->leaf, "null", "f", (unsigned long long)size, 1);
    else
        index_is(CHUNK, size, row->leaf, row->kind == TOKENS ? "TokensLoader" : "PyTreeLoader", "");
    check(row->vocabulary, row->outcome);
}

/* The numbers that litdata has for types: of its tables _TORCH_DTYPES_MAPPING and _NUMPY_DTYPES_MAPPING. */
static void test_numbers(void)
{
    static const char *const torch[] = { [11] = "u1", [12] = "i1", [13] = "i2", [14] = "i2", [15] = "i4",
                                         [16] = "i4", [17] = "i8", [18] = "i8", [20] = "u2" };
    static const char *const numpy[] = { "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8" };

    for (unsigned i = 0; i < 50; i++) {
        unsigned number = i / 2;
        const char *is = i % 2 ? number < 21 ? torch[number] : NULL : number < 8 ? numpy[number] : NULL;
        const char *says = !is            ? "no column holds lists of integers"
                           : is[1] == '1' ? "120 0 0 0 0 0 0 0"
                           : is[1] == '2' ? "120 0 0 0"
                           : is[1] == '4' ? "120 0"
                                          : "120";
        char leaf[40];

        snprintf(leaf, sizeof leaf, "[\"no_header_%s:%u\"]", i % 2 ? "tensor" : "numpy", number);
        index_is(CHUNK, write_shard(TOKENS, "\170\0\0\0\0\0\0\0", 8), leaf, "TokensLoader", "");
        check(200, says);
        if (is && is[0] == 'i') { /* signed */
            write_shard(TOKENS, "\377\377\377\377\377\377\377\377", 8);
            check(200, "is -1, and an id is never negative");
        }
    }
}

static void test_indexes(void)
{
    static const char compressed[] = ", \"compression\": \"zstd\"";
    size_t size = write_shard(ITEM, "\7\0", 2);

    index_is(CHUNK, size, "[\"no_header_numpy:5\"]", "PyTreeLoader", ", \"encryption\": {\"algorithm\": \"fernet\"}");
    check(0, "index.json: the dataset is encrypted, which leat does not read");
    index_is(CHUNK, size, "[\"no_header_numpy:5\"]", "PyTreeLoader", ", \"data_spec\": \"[1, {\\\"type\\\": 5}]\"");
    check(0, "7");
    index_is(CHUNK, size, "[\"no_header_numpy:5\"]", "PyTreeLoader", ", \"data_spec\": \"[2]\"");
    check(0, "7");
    index_is(CHUNK, size, "[\"json\"]", "PyTreeLoader",
             ", \"compression\": \"zstd\", \"compression_level\": \"sample\", \"data_spec\": \"[1, {\\\"type\\\": "
             "\\\"builtins.dict\\\", \\\"context\\\": \\\"[\\\\\\\"input_ids\\\\\\\"]\\\"}]\"");
    check(0, "its items are Python lists in compressed chunks, which leat does not read");
    index_is(CHUNK, size, "[\"no_header_numpy:5\"]", "PyTreeLoader", compressed);
    check(0, "f is not compressed in a way that leat reads");
    size = write_shard(MDS, "\4\1\7", 3);
    index_is("{\"shards\": [" SHARD "]}", "5", "ndarray:uint8", "null", "f", (unsigned long long)size, 1);
    check(0, "\"column_names\" is missing or not a list of strings");
    index_is("{\"shards\": [" SHARD "]}", "\"tokens\"", "ndarray:uint8", "\"x\"", "f", (unsigned long long)size, 1);
    check(0, "\"column_sizes\" is missing or not a list of numbers and null");
    index_is("{\"shards\": [" SHARD ", " SHARD "]}", "\"a\"", "ndarray:uint8", "null", "f", (unsigned long long)size, 1,
             "\"a\", \"b\"", "ndarray:uint8", "null", "f", (unsigned long long)size, 1);
    check(0, "index.json: shard 1 has other columns than the first one; import them apart");
}

/* Sizes that lie: of what a file becomes, and of what is in it. */
static void test_sizes(void)
{
    static const unsigned long long sizes[] = { 18, 20, 0, 5000000000 };
    static const char plain[] = "\1\0\0\0\14\0\0\0\23\0\0\0\3\0\0\0\4\1\7";
    char packed[200], said[100];

    store("f", packed, ZSTD_compress(packed, sizeof packed, plain, 19, 1));
    index_is("{\"shards\": [" SHARD "]}", "\"a\"", "ndarray:uint8", "null", "none", 19ull, 1);
    check(0, "7");
    for (unsigned i = 0; i < 4; i++) {
        index_is("{\"shards\": [" SHARD "]}", "\"a\"", "ndarray:uint8", "null", "none", sizes[i], 1);
        snprintf(said, sizeof said, "f does not become %llu bytes when it is decompressed, as its index says",
                 sizes[i]);
        check(0, said);
    }
    store("f", "\1\0", 2);
    index_is("{\"shards\": [" SHARD "]}", "\"a\"", "ndarray:uint8", "null", "f", 2ull, 1);
    check(0, "f is cut or damaged: it has 2 bytes, and bytes 0 to 4 are needed");
    store("f", "\350\3\0\0", 4);
    index_is("{\"shards\": [" SHARD "]}", "\"a\"", "ndarray:uint8", "null", "f", 4ull, 1000);
    check(0, "f is cut or damaged: it has no room for the places of 1000 samples");
}

int main(void)
{
    folder = t_folder();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        test_row(&rows[i]);
    test_numbers();
    test_indexes();
    test_sizes();
    return t_end();
}
