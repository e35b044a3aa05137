/*
 * make_splits.c: writes the lists of splits that the library carries beside its built-in vocabularies:
 *
 *   make splits        builds this and runs it over tokenize_tools/tokenizer/load/data
 *
 * test_splits.c fails if what lies there is not what follows from the vocabularies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "tokenizer/bpe/bpe.h"
#include "tokenizer/load/builtin.h"

/* How long the left part of each token is. Of a token that more than one merge might make it cannot be told. */
static int find_splits(uint8_t *splits, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct merge *list;
    size_t count;

    if (bpe_list_merges(&list, &count, spec, err) != LEAT_OK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t left = spec->tokens[list[i].left].length;

        if (left > UINT8_MAX || splits[list[i].result] != SPEC_NO_SPLIT) {
            snprintf(err->message, sizeof err->message, "token %u cannot be told", (unsigned)list[i].result);
            free(list);
            return 0;
        }
        splits[list[i].result] = (uint8_t)left;
    }
    free(list);
    return 1;
}

static int write_splits(const char *path, const uint8_t *splits, size_t count)
{
    size_t room = ZSTD_compressBound(count), size;
    void *packed = malloc(room);
    FILE *f = fopen(path, "wb");
    int ok = 0;

    size = packed ? ZSTD_compress(packed, room, splits, count, 19) : 0;
    if (f && size > 0 && !ZSTD_isError(size))
        ok = fwrite(packed, size, 1, f) == 1;
    ok = f && fclose(f) == 0 && ok;
    free(packed);
    return ok;
}

static int make(const char *folder, const char *name, const char *file)
{
    struct leat_error err = { .message = "" };
    struct tokenizer_spec *spec;
    uint8_t *splits = NULL;
    char path[1024];
    int ok = 0;

    snprintf(path, sizeof path, "%s/%s.splits.zst", folder, file);
    if (builtin_load(&spec, name, &err) == LEAT_OK) {
        spec->splits = NULL;
        splits = calloc(spec->token_count, 1);
        ok = splits && find_splits(splits, spec, &err) && write_splits(path, splits, spec->token_count);
        spec_free(spec);
    }
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, err.message);
    free(splits);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    return !(make(argv[1], "gpt2", "r50k_base") & make(argv[1], "cl100k_base", "cl100k_base") &
             make(argv[1], "o200k_base", "o200k_base"));
}
