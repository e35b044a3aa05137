/*
 * test_splits.c: the lists that say which merge makes each token of a built-in vocabulary (spec->splits) lead to the
 * merges that follow from the vocabulary alone; and those that live_merges.c leaves out change no token: every
 * token's text, merged with all merges that there are, comes to what it comes to with the live ones.
 */
#include "t.h"

#include "tokenizer/bpe/bpe.h"
#include "tokenizer/bpe/vocabulary_map.h"
#include "tokenizer/load/builtin.h"

static struct merge_table *table_of_all(const struct tokenizer_spec *spec, const struct vocabulary_map *map)
{
    size_t count = 0, room = 1 << 16;
    struct merge *list = malloc(room * sizeof *list);
    struct merge_table *table;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        const uint8_t *text = spec_token_bytes(spec, &spec->tokens[i]);

        for (uint32_t k = 1; k < spec->tokens[i].length; k++) {
            uint32_t left = vocabulary_map_find(map, text, k);
            uint32_t right = vocabulary_map_find(map, text + k, spec->tokens[i].length - k);

            if (left == SPEC_NONE || right == SPEC_NONE)
                continue;
            if (count == room)
                list = realloc(list, (room *= 2) * sizeof *list);
            list[count++] = (struct merge) { left, right, i, i };
        }
    }
    T_OK(merge_table_make(&table, list, count, &t_err));
    free(list);
    return table;
}

static size_t merged(uint32_t *symbols, const struct merge_table *table, const struct vocabulary_map *map,
                     const uint8_t *text, size_t bytes)
{
    static struct merge_scratch scratch;
    size_t count = bytes;

    for (size_t i = 0; i < bytes; i++)
        symbols[i] = vocabulary_map_find(map, text + i, 1);
    T_OK(merge_symbols(table, &scratch, symbols, &count, &t_err));
    return count;
}

static void test_live(const struct tokenizer_spec *spec, const struct merge *list, size_t count)
{
    struct merge_table *all, *live;
    struct vocabulary_map map;
    uint32_t a[256], b[256];

    T_OK(vocabulary_map_make(&map, spec, &t_err));
    all = table_of_all(spec, &map);
    T_OK(merge_table_make(&live, list, count, &t_err));
    for (uint32_t i = 0; i + 1 < spec->token_count; i++) {
        /* the token's text and the next one's, so that some text is no token's */
        size_t bytes = spec->tokens[i].length + (size_t)spec->tokens[i + 1].length, n;

        if (bytes > 256)
            continue;
        n = merged(a, all, &map, spec_token_bytes(spec, &spec->tokens[i]), bytes);
        T_EQ(merged(b, live, &map, spec_token_bytes(spec, &spec->tokens[i]), bytes), n);
        T_CHECK(memcmp(a, b, n * sizeof *a) == 0);
    }
    merge_table_free(all);
    merge_table_free(live);
    vocabulary_map_free(&map);
}

static void test_builtin(const char *name)
{
    struct merge *with, *without;
    struct tokenizer_spec *spec;
    size_t with_count, without_count;

    T_OK(builtin_load(&spec, name, &t_err));
    if (!spec->splits)
        T_FAIL("%s has no list of splits: run `make splits`", name);
    T_OK(bpe_list_merges(&with, &with_count, spec, &t_err));
    spec->splits = NULL;
    T_OK(bpe_list_merges(&without, &without_count, spec, &t_err));
    T_EQ(with_count, without_count);
    T_CHECK(memcmp(with, without, with_count * sizeof *with) == 0);
    if (strcmp(name, "gpt2") == 0)
        test_live(spec, without, without_count);
    free(with);
    free(without);
    spec_free(spec);
}

int main(void)
{
    struct tokenizer_spec *none;

    T_STATUS(builtin_load(&none, "gpt-2", &t_err), LEAT_E_NOT_FOUND);
    T_CHECK(!none);
    T_CONTAINS(t_err.message, "unknown built-in tokenizer gpt-2 (nearest: gpt2); this version has ");
    test_builtin("gpt2");
    test_builtin("cl100k_base");
    test_builtin("o200k_base");
    return t_end();
}
