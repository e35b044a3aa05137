/*
 * builtin.c: the built-ins. Each is a row: its name, and the compressed *.tiktoken that it is read from, with the
 * list of the merge that makes each token. p50k is r50k with some more lines, which are appended before the file is
 * read. "bytes" has no file; it is made here. load_tiktoken.c reads the files, with the special tokens and the
 * pattern of its own row of that name.
 */
#include "builtin.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/status.h"
#include "load.h"
#include "whole_file.h"

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/*
 * The compressed vocabularies, and for each a list of which merge makes each token (spec->splits). `make splits` writes
 * these lists and test_splits.c checks them; without them, finding it out takes half of the time of loading.
 *
 * The assembler puts the files into the object (.incbin), so no generated source of megabytes is needed. Paths are
 * relative to the folder that make runs in. Symbols are aligned, because some machines (s390x) require that for data
 * that code refers to.
 */
#define EMBED(symbol, file)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 16\n"                                                                                             \
            ".globl " symbol "\n"                                                                                      \
            ".hidden " symbol "\n" symbol ":\n"                                                                        \
            ".incbin \"tokenize_tools/tokenizer/load/data/" file "\"\n"                                                \
            "1:\n"                                                                                                     \
            ".balign 16\n"                                                                                             \
            ".globl " symbol "_bytes\n"                                                                                \
            ".hidden " symbol "_bytes\n" symbol "_bytes:\n"                                                            \
            ".quad 1b - " symbol "\n"                                                                                  \
            ".popsection\n")

EMBED("builtin_r50k", "r50k_base.tiktoken.zst");
EMBED("builtin_cl100k", "cl100k_base.tiktoken.zst");
EMBED("builtin_o200k", "o200k_base.tiktoken.zst");
EMBED("builtin_r50k_splits", "r50k_base.splits.zst");
EMBED("builtin_cl100k_splits", "cl100k_base.splits.zst");
EMBED("builtin_o200k_splits", "o200k_base.splits.zst");

extern const unsigned char builtin_r50k[];
extern const uint64_t builtin_r50k_bytes;
extern const unsigned char builtin_r50k_splits[];
extern const uint64_t builtin_r50k_splits_bytes;
extern const unsigned char builtin_cl100k[];
extern const uint64_t builtin_cl100k_bytes;
extern const unsigned char builtin_cl100k_splits[];
extern const uint64_t builtin_cl100k_splits_bytes;
extern const unsigned char builtin_o200k[];
extern const uint64_t builtin_o200k_bytes;
extern const unsigned char builtin_o200k_splits[];
extern const uint64_t builtin_o200k_splits_bytes;

/* ---- Built-ins --------------------------------------------------------------------------------------------------- */

#define BYTES_END_ID 256u

/* p50k_base.tiktoken is r50k_base.tiktoken, byte for byte, followed by the runs of 2 to 25 spaces. */
#define P50K_FIRST_ID 50257u
#define P50K_SPACES   24u
#define P50K_LINE_MAX 48u /* a line's base64, space, rank and newline */

struct row {
    const char *name;
    const unsigned char *zstd; /* compressed vocabulary; NULL: it is made, not read */
    const uint64_t *bytes;
    const unsigned char *splits; /* list of merges; NULL: found out when loaded */
    const uint64_t *splits_bytes;
    bool spaces; /* true for p50k, which has runs of spaces */
};

static const struct row rows[] = {
    { "bytes", NULL, NULL, NULL, NULL, false },
    { "gpt2", builtin_r50k, &builtin_r50k_bytes, builtin_r50k_splits, &builtin_r50k_splits_bytes, false },
    { "p50k_base", builtin_r50k, &builtin_r50k_bytes, NULL, NULL, true },
    { "p50k_edit", builtin_r50k, &builtin_r50k_bytes, NULL, NULL, true },
    { "cl100k_base", builtin_cl100k, &builtin_cl100k_bytes, builtin_cl100k_splits, &builtin_cl100k_splits_bytes,
      false },
    { "o200k_base", builtin_o200k, &builtin_o200k_bytes, builtin_o200k_splits, &builtin_o200k_splits_bytes, false },
    { "o200k_harmony", builtin_o200k, &builtin_o200k_bytes, builtin_o200k_splits, &builtin_o200k_splits_bytes, false },
};

#define ROWS  (sizeof rows / sizeof rows[0])
#define ALIAS "r50k_base" /* tiktoken's other name for gpt2; datasets keep "gpt2" */

static const struct row *find_builtin(const char *name)
{
    if (strcmp(name, ALIAS) == 0)
        name = "gpt2";
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i].name) == 0)
            return &rows[i];
    return NULL;
}

const char *builtin_find(const char *name)
{
    const struct row *row = find_builtin(name);

    return row ? row->name : NULL;
}

const char *builtin_list(void)
{
    return "bytes, gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony";
}

/* Returns the next digit of a text, or 0. */
static char next_digit(const char **text)
{
    *text += strcspn(*text, "0123456789");
    return **text ? *(*text)++ : '\0';
}

/* Returns true if both names have equal numbers. A different number is not a typing error: gpt4 is another model
 * than gpt2. */
static bool same_numbers(const char *a, const char *b)
{
    char one;

    while ((one = next_digit(&a)) == next_digit(&b))
        if (one == '\0')
            return true;
    return false;
}

/* Returns the nearest name; of several that are equally near, the first one if all have equal ranks. */
const char *builtin_nearest(const char *name)
{
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    bool several = false;

    for (size_t i = 0; i <= ROWS; i++) {
        const char *candidate = i < ROWS ? rows[i].name : ALIAS;
        size_t far = nearest_distance(name, candidate);

        if (!same_numbers(name, candidate) || !nearest_is_near(name, candidate, far) || far > distance)
            continue;
        if (far == distance) {
            several = several || find_builtin(candidate)->zstd != find_builtin(best)->zstd ||
                      find_builtin(candidate)->spaces != find_builtin(best)->spaces;
            continue;
        }
        best = candidate;
        distance = far;
        several = false;
    }
    return several ? NULL : best;
}

static enum leat_status make_bytes(struct tokenizer_spec *spec, struct leat_error *err)
{
    static const char end[] = "<|endoftext|>";
    uint8_t *text = malloc(256);

    spec->model = SPEC_BYTES;
    spec->reference = SPEC_TIKTOKEN;
    spec->dialect = SPEC_RUST;
    spec->byte_level = true;
    spec->text = text;
    spec->tokens = malloc(256 * sizeof *spec->tokens);
    spec->added = spec_alloc(spec, sizeof *spec->added);
    if (!text || !spec->tokens || !spec->added || !spec_copy(spec, &spec->added[0].content, end, sizeof end - 1))
        return status_no_memory(err, 256 * (1 + sizeof *spec->tokens));
    for (uint32_t b = 0; b < 256; b++) {
        text[b] = (uint8_t)b;
        spec->tokens[b] = (struct spec_token) { .id = b, .offset = b, .length = 1, .type = SPEC_NORMAL };
    }
    spec->token_count = 256;
    spec->text_bytes = 256;
    spec->added[0].id = BYTES_END_ID;
    spec->added[0].special = true;
    spec->added_count = 1;
    return spec_finish(spec, "bytes", err);
}

/* Reads which merge makes each token. A list of another length belongs to another vocabulary, because `make splits` has
 * not been run yet: then the merges are found out as for any other file. */
static enum leat_status unpack_splits(struct tokenizer_spec *spec, const struct row *row, struct leat_error *err)
{
    uint8_t *bytes, *splits;
    uint64_t size;
    enum leat_status s;

    if (!row->splits)
        return LEAT_OK;
    s = whole_file_unzstd(&bytes, &size, row->splits, *row->splits_bytes, row->name, err);
    if (s != LEAT_OK)
        return s;
    if (size == spec->token_count) {
        splits = spec_alloc(spec, (size_t)size);
        if (splits)
            memcpy(splits, bytes, (size_t)size);
        else
            s = status_no_memory(err, size);
        spec->splits = splits;
    }
    free(bytes);
    return s;
}

/* Appends p50k's lines to r50k's. On failure *bytes stays the caller's. */
static enum leat_status add_spaces(uint8_t **bytes, uint64_t *size, struct leat_error *err)
{
    size_t room = (size_t)*size + (size_t)P50K_SPACES * P50K_LINE_MAX;
    uint8_t *more = realloc(*bytes, room);

    if (!more)
        return status_no_memory(err, room);
    *bytes = more;
    for (uint32_t i = 0; i < P50K_SPACES; i++) {
        static const char *const ends[] = { "", "IA==", "ICA=" };
        char *line = (char *)more + *size;
        uint32_t spaces = i + 2, used = 0;

        for (; used < spaces / 3 * 4; used += 4)
            memcpy(line + used, "ICAg", 4);
        *size += used + (uint32_t)snprintf(line + used, room - *size - used, "%s %u\n", ends[spaces % 3],
                                           (unsigned)(P50K_FIRST_ID + i));
    }
    return LEAT_OK;
}

static enum leat_status unpack(struct tokenizer_spec *spec, const struct row *row, struct leat_error *err)
{
    struct load_source source = { .pattern = row->name };
    char path[64];
    uint8_t *bytes;
    uint64_t size;
    enum leat_status s;

    snprintf(path, sizeof path, "the built-in %s", row->name);
    source.path = path;
    s = whole_file_unzstd(&bytes, &size, row->zstd, *row->bytes, path, err);
    if (s != LEAT_OK)
        return s;
    if (row->spaces)
        s = add_spaces(&bytes, &size, err);
    source.bytes = bytes;
    source.size = size;
    if (s == LEAT_OK)
        s = load_tiktoken(spec, &source, err);
    free(bytes);
    return s == LEAT_OK ? unpack_splits(spec, row, err) : s;
}

enum leat_status builtin_load(struct tokenizer_spec **out, const char *name, struct leat_error *err)
{
    const struct row *row = find_builtin(name);
    struct tokenizer_spec *spec;
    enum leat_status s;

    *out = NULL;
    if (!row) {
        const char *nearest = builtin_nearest(name);

        return status_set(err, LEAT_E_NOT_FOUND, "unknown built-in tokenizer %s%s%s%s; this version has %s", name,
                          nearest ? " (nearest: " : "", nearest ? nearest : "", nearest ? ")" : "", builtin_list());
    }
    spec = spec_new();
    if (!spec)
        return status_no_memory(err, sizeof *spec);
    s = row->zstd ? unpack(spec, row, err) : make_bytes(spec, err);
    if (s == LEAT_OK)
        *out = spec;
    else
        spec_free(spec);
    return s;
}
