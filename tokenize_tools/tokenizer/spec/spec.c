/*
 * spec.c: tokens, their texts, scores and merges are arrays; the many small allocations come from blocks,
 * so loaders never free one of them, and spec_free() frees all. spec_finish() sorts tokens by id, so that binary search
 * finds an id, and checks what every loader must guarantee.
 */
#include "spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"

/* Size of the blocks from which small allocations are cut; larger ones get a block of their own. */
#define BLOCK_BYTES ((size_t)32768)

struct spec_block {
    struct spec_block *next;
    size_t used, room;
    max_align_t memory[];
};

struct tokenizer_spec *spec_new(void)
{
    struct tokenizer_spec *spec = calloc(1, sizeof *spec);

    if (!spec)
        return NULL;
    spec->unknown = SPEC_NONE;
    spec->around.before = spec->around.after = SPEC_NONE;
    return spec;
}

void spec_free(struct tokenizer_spec *spec)
{
    struct spec_block *b, *next;

    if (!spec)
        return;
    for (b = spec->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(spec->tokens);
    free((void *)(uintptr_t)spec->text);
    free(spec->scores);
    free(spec->merges);
    free(spec);
}

void *spec_alloc(struct tokenizer_spec *spec, size_t bytes)
{
    const size_t unit = sizeof(max_align_t);
    struct spec_block *b = spec->blocks;
    size_t room;
    void *p;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + unit - 1) / unit * unit;
    if (!b || b->room - b->used < bytes) {
        room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = calloc(1, sizeof *b + room);
        if (!b)
            return NULL;
        b->room = room;
        b->next = spec->blocks;
        spec->blocks = b;
    }
    p = (char *)b->memory + b->used;
    b->used += bytes;
    return p;
}

bool spec_copy(struct tokenizer_spec *spec, struct spec_string *out, const void *bytes, size_t length)
{
    uint8_t *copy;

    if (length >= UINT32_MAX)
        return false;
    copy = spec_alloc(spec, length + 1);
    if (!copy)
        return false;
    if (length > 0)
        memcpy(copy, bytes, length);
    *out = (struct spec_string) { copy, (uint32_t)length };
    return true;
}

struct wanted_id {
    const struct tokenizer_spec *spec;
    uint32_t id;
};

static bool token_before(const void *context, uint64_t place)
{
    const struct wanted_id *wanted = context;

    return wanted->spec->tokens[place].id < wanted->id;
}

static bool added_before(const void *context, uint64_t place)
{
    const struct wanted_id *wanted = context;

    return wanted->spec->added[place].id < wanted->id;
}

/* Most vocabularies have every id from 0 on, which is found at once: tracing masks asks for each token of a corpus. */
const struct spec_token *spec_find_id(const struct tokenizer_spec *spec, uint32_t id)
{
    uint64_t at = id;

    if (at >= spec->token_count || spec->tokens[at].id != id)
        at = search_first(0, spec->token_count, token_before, &(struct wanted_id) { spec, id });
    return at < spec->token_count && spec->tokens[at].id == id ? &spec->tokens[at] : NULL;
}

const struct spec_added *spec_find_added(const struct tokenizer_spec *spec, uint32_t id)
{
    uint64_t at = spec->added_count;

    if (at > 0 && id >= spec->added[0].id)
        at = search_first(0, spec->added_count, added_before, &(struct wanted_id) { spec, id });
    return at < spec->added_count && spec->added[at].id == id ? &spec->added[at] : NULL;
}

uint32_t spec_find_text(const struct tokenizer_spec *spec, const void *bytes, size_t length)
{
    for (uint32_t i = 0; i < spec->added_count; i++)
        if (spec->added[i].content.length == length && memcmp(spec->added[i].content.bytes, bytes, length) == 0)
            return spec->added[i].id;
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (spec->tokens[i].length == length && memcmp(spec_token_bytes(spec, &spec->tokens[i]), bytes, length) == 0)
            return spec->tokens[i].id;
    return SPEC_NONE;
}

int spec_named_byte(const uint8_t *text, size_t length)
{
    int high, low;

    if (length != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>')
        return -1;
    high = bytes_hex_digit(text[3]);
    low = bytes_hex_digit(text[4]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool spec_maps_bytes(const struct tokenizer_spec *spec, uint32_t from)
{
    for (uint32_t i = from; i < spec->normalizer_count; i++)
        if (spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL)
            return true;
    for (uint32_t i = 0; i < spec->pre_tokenizer_count; i++)
        if (spec->pre_tokenizers[i].kind == SPEC_PRE_BYTE_LEVEL)
            return true;
    return false;
}

/* ---- Finishing ---- */

struct sorting {
    struct spec_token token;
    const uint8_t *bytes;
};

static int compare_tokens(const void *left, const void *right)
{
    const struct sorting *a = left, *b = right;

    return (a->token.id > b->token.id) - (a->token.id < b->token.id);
}

/* Returns true if tokens are sorted by id, as in nearly all files: then there is nothing to do. */
static bool in_order(const struct tokenizer_spec *spec)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];

        if (t->offset != end || (i > 0 && t->id <= t[-1].id))
            return false;
        end += t->length;
    }
    return true;
}

static enum leat_status sort_tokens(struct tokenizer_spec *spec, struct leat_error *err)
{
    uint64_t count = spec->token_count, end = 0;
    struct sorting *sorted;
    uint8_t *text;

    if (spec->scores || in_order(spec)) /* the tokens of sentencepiece, which have scores, have their places as ids */
        return LEAT_OK;
    sorted = malloc(count * sizeof *sorted);
    text = malloc(spec->text_bytes ? spec->text_bytes : 1);
    if (!sorted || !text) {
        free(sorted);
        free(text);
        return status_no_memory(err, count * sizeof *sorted + spec->text_bytes);
    }
    for (uint64_t i = 0; i < count; i++) {
        sorted[i].token = spec->tokens[i];
        sorted[i].bytes = spec_token_bytes(spec, &spec->tokens[i]);
    }
    qsort(sorted, count, sizeof *sorted, compare_tokens);
    for (uint64_t i = 0; i < count; i++) {
        struct spec_token *t = &spec->tokens[i];

        *t = sorted[i].token;
        t->offset = (uint32_t)end;
        if (t->length > 0)
            memcpy(text + end, sorted[i].bytes, t->length);
        end += t->length;
    }
    free(sorted);
    free((void *)(uintptr_t)spec->text);
    spec->text = text;
    spec->text_bytes = end;
    return LEAT_OK;
}

static int compare_added(const void *left, const void *right)
{
    const struct spec_added *a = left, *b = right;
    uint32_t shorter = a->content.length < b->content.length ? a->content.length : b->content.length;
    int order;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    order = memcmp(a->content.bytes, b->content.bytes, shorter);
    return order ? order : (a->content.length > b->content.length) - (a->content.length < b->content.length);
}

enum leat_status spec_finish(struct tokenizer_spec *spec, const char *path, struct leat_error *err)
{
    enum leat_status s = sort_tokens(spec, err);
    uint32_t highest = 0;

    if (s != LEAT_OK)
        return s;
    for (uint32_t i = 1; i < spec->token_count; i++)
        if (spec->tokens[i].id == spec->tokens[i - 1].id)
            return status_set_in(err, LEAT_E_VOCABULARY, path, "%s is damaged: two tokens have the id %u", path,
                                 (unsigned)spec->tokens[i].id);
    if (spec->added_count > 0)
        qsort(spec->added, spec->added_count, sizeof *spec->added, compare_added);
    if (spec->token_count > 0)
        highest = spec->tokens[spec->token_count - 1].id + 1;
    if (spec->added_count > 0 && spec->added[spec->added_count - 1].id >= highest)
        highest = spec->added[spec->added_count - 1].id + 1;
    spec->vocabulary_size = highest;
    return LEAT_OK;
}

bool charsmap_check(const struct spec_string *blob)
{
    uint32_t trie;

    if (blob->length <= 4)
        return false;
    trie = bytes_load32(blob->bytes);
    /* a trie of no units has no root to start from; the last string must end, so that none runs out of the blob */
    return trie >= 4 && trie % 4 == 0 && trie < blob->length - 4 && blob->bytes[blob->length - 1] == 0;
}
