/* make_seeds_datasets.c: see make_seeds.h. The first inputs from datasets that the writer makes: descriptions of them
 * (shape.h), with one defect or none, and checkpoints. */
#include "datasets/shape.h"
#include "fuzz.h"
#include "make_seeds.h"

/* Places in a description (shape.h). */
#define FIXED    28
#define TABLE    180
#define SECTIONS (TABLE + 32 * 11) /* of the dataset "rich" */
/* Where the description stands in an input of fuzz_verify.c. */
#define VERIFY_AT 33

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

void dataset_seeds(const char *folder)
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

/* ---- Checkpoints ---- */

void checkpoint_seeds(const char *folder)
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
