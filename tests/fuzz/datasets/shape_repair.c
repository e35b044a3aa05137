/* shape_repair.c: see shape_build.h. Each repair makes one section what FORMAT.md asks of it. */
#include <string.h>

#include "shape_build.h"

static void repair_starts(struct build *b, const struct piece *p)
{
    uint64_t fixed = (b->end != LEAT_NONE) + (b->begin != LEAT_NONE), n = p->bytes / 8, before = 0;

    if (b->loose)
        fixed = 0;
    if (n == 0 || (n - 1) * fixed > b->tokens)
        return;
    set(b, p, 0, 0);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t start = get(b, p, i), max = b->tokens - (n - 1 - i) * fixed;

        start = start < before + fixed ? before + fixed : start;
        before = i + 1 == n ? b->tokens : min(start, max);
        set(b, p, i, before);
    }
}

static void repair_borders(struct build *b, const struct piece *starts)
{
    for (uint64_t i = 0; starts && i + 1 < starts->bytes / 8; i++) {
        uint64_t first = get(b, starts, i), end = get(b, starts, i + 1);

        if (first >= end || end > b->tokens)
            continue;
        if (b->begin != LEAT_NONE)
            put_token(b, first, b->begin);
        if (b->end != LEAT_NONE)
            put_token(b, end - 1, b->end);
    }
}

static void repair_directory(struct build *b, const struct piece *starts, const struct piece *p)
{
    uint64_t document = 0, n = starts ? starts->bytes / 8 : 0;

    for (uint64_t cell = 0; cell < p->bytes / 8; cell++) {
        while (document + 1 < n && get(b, starts, document) < cell * (FORMAT_CELL_BYTES / b->width))
            document++;
        set(b, p, cell, document);
    }
}

static void repair_pages(struct build *b, const struct piece *p)
{
    struct hash128 sum = { 0, 0 };

    b->kernels->pages(&sum, b->token_bytes, (size_t)b->token_size, 0, NULL);
    checksum_store(b->header + AT_TOKEN_SUM, sum);
    for (uint64_t page = 0; p && page < p->bytes / 4; page++) {
        uint64_t at = page * FORMAT_PAGE_BYTES, count = min(b->token_size - at, FORMAT_PAGE_BYTES);

        bytes_store32(b->index + p->offset + 4 * page, (uint32_t)b->kernels->hash(b->token_bytes + at, count).low);
    }
}

/* Returns whether they are in order. */
static bool repair_origins(struct build *b, const struct piece *p, uint64_t inputs)
{
    uint64_t before[2] = { 0, 0 };
    bool ordered = true;

    for (uint64_t i = 0; i < p->bytes / FORMAT_ORIGIN_BYTES; i++) {
        uint64_t offset = get(b, p, 2 * i), input = get(b, p, 2 * i + 1);

        if (input != LEAT_NONE)
            input = inputs > 0 ? input % inputs : LEAT_NONE;
        set(b, p, 2 * i + 1, input);
        ordered = ordered && (input > before[0] || (input == before[0] && offset >= before[1]));
        before[0] = input;
        before[1] = offset;
    }
    return ordered;
}

/* An input's record: path offset, path bytes, bytes, documents, tokens, rejects, hash. */
static void repair_inputs(struct build *b, const struct piece *p, uint64_t paths)
{
    const struct piece *origins = find(b, FORMAT_ORIGINS), *starts = find(b, FORMAT_DOCUMENTS);
    uint64_t n = p->bytes / 64, at = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t bytes = min(get(b, p, 8 * i + 1), paths - at);

        set(b, p, 8 * i, at);
        set(b, p, 8 * i + 1, i + 1 == n ? paths - at : bytes);
        at += bytes;
        set(b, p, 8 * i + 3, 0);
        set(b, p, 8 * i + 4, 0);
    }
    for (uint64_t i = 0; origins && starts && i < origins->bytes / 16 && i + 1 < starts->bytes / 8; i++) {
        uint64_t input = get(b, origins, 2 * i + 1);

        if (input >= n)
            continue;
        set(b, p, 8 * input + 3, get(b, p, 8 * input + 3) + 1);
        set(b, p, 8 * input + 4, get(b, p, 8 * input + 4) + get(b, starts, i + 1) - get(b, starts, i));
    }
}

static void repair_ids(struct build *b, const struct piece *p, uint64_t ids)
{
    uint64_t n = p->bytes / 8, before = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t end = min(get(b, p, i), ids);

        before = i + 1 == n ? ids : end < before ? before : end;
        set(b, p, i, before);
    }
}

static void repair_tokenizer(struct build *b, const struct piece *p)
{
    uint64_t left = p->bytes - 32, name, pattern;
    bool file = get(b, p, 3) % 2 == 0;

    name = 1 + min(get(b, p, 0), left - 1);
    pattern = file ? min(get(b, p, 1), left - name) : left - name;
    set(b, p, 0, name);
    set(b, p, 1, pattern);
    set(b, p, 2, left - name - pattern);
    set(b, p, 3, file ? 2 : 1);
}

/* A size of at least `least` that fits into what is left: the one that is there, if it does. */
static uint64_t fitting(const uint8_t *at, uint64_t least, uint64_t left)
{
    uint64_t size = bytes_load64(at);

    if (size > left)
        size %= left + 1;
    return size < least ? least : size;
}

/*
 * A key that does not come after the one before it becomes that one, longer or with its last byte one higher: then a
 * change of one byte or size makes two keys equal.
 */
static void raise_key(uint8_t *key, uint64_t bytes, const uint8_t *before, uint64_t before_bytes)
{
    uint64_t common = min(bytes, before_bytes);
    int order = memcmp(before, key, (size_t)common);

    if (order < 0 || (order == 0 && before_bytes < bytes))
        return;
    memcpy(key, before, (size_t)common);
    for (uint64_t i = common; bytes <= before_bytes && i > 0 && ++key[i - 1] == 0; i--)
        ;
}

/* Returns the number of pairs. */
static uint64_t repair_metadata(struct build *b, const struct piece *p)
{
    uint64_t at = 0, count = 0, before_bytes = 0;
    const uint8_t *before = NULL;

    for (; p->bytes - at >= 17; count++) {
        uint8_t *pair = b->index + p->offset + at;
        uint64_t left = p->bytes - at - 16, key = fitting(pair, 1, left), value = fitting(pair + 8, 0, left - key);

        if (left - key - value < 17)
            value = left - key;
        bytes_store64(pair, key);
        bytes_store64(pair + 8, value);
        if (before)
            raise_key(pair + 16, key, before, before_bytes);
        before = pair + 16;
        before_bytes = key;
        at += 16 + key + value;
    }
    return count;
}

void shape_repair_contents(struct build *b, bool *ordered, uint64_t *pairs)
{
    struct piece *starts = find(b, FORMAT_DOCUMENTS), *directory = find(b, FORMAT_DIRECTORY), *p;
    struct piece *inputs = find(b, FORMAT_INPUTS), *paths = find(b, FORMAT_INPUT_PATHS);

    if (repairs(b, SHAPE_STARTS) && starts)
        repair_starts(b, starts);
    if (repairs(b, SHAPE_TOKENS))
        repair_borders(b, starts);
    if (repairs(b, SHAPE_DIRECTORY) && directory)
        repair_directory(b, starts, directory);
    if (repairs(b, SHAPE_PAGES))
        repair_pages(b, find(b, FORMAT_PAGES));
    if (repairs(b, SHAPE_ORIGINS) && (p = find(b, FORMAT_ORIGINS)))
        *ordered = repair_origins(b, p, inputs ? inputs->bytes / 64 : 0);
    if (repairs(b, SHAPE_INPUTS) && inputs)
        repair_inputs(b, inputs, paths ? paths->bytes : 0);
    if (repairs(b, SHAPE_IDS) && (p = find(b, FORMAT_ID_ENDS)))
        repair_ids(b, p, find(b, FORMAT_IDS) ? find(b, FORMAT_IDS)->bytes : 0);
    if (repairs(b, SHAPE_STORED) && (p = find(b, FORMAT_TOKENIZER)) && p->bytes > 32)
        repair_tokenizer(b, p);
    if (repairs(b, SHAPE_STORED) && (p = find(b, FORMAT_METADATA)))
        *pairs = repair_metadata(b, p);
}
