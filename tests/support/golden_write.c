/* golden_write.c: see golden.h. The same content through the library's writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

static char *copy_text(const uint8_t *bytes, uint64_t count)
{
    char *text = malloc(count + 1);

    memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

static enum leat_status write_inputs(struct leat_writer *w, const struct craft *c)
{
    const uint8_t *paths = c->parts[CRAFT_INPUT_PATHS].bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < c->inputs; i++) {
        const uint8_t *r = c->parts[CRAFT_INPUTS].bytes + 64 * i;
        struct leat_input input = LEAT_INPUT_INIT;
        char *path = copy_text(paths + craft_load64(r), craft_load64(r + 8));

        input.bytes = craft_load64(r + 16);
        input.rejects = craft_load64(r + 40);
        memcpy(input.hash, r + 48, 16);
        s = leat_writer_add_input(w, path, NULL, NULL);
        if (s == LEAT_OK)
            s = leat_writer_set_input(w, i, &input, NULL);
        free(path);
    }
    return s;
}

static enum leat_status write_document(struct leat_writer *w, const struct craft *c, uint64_t number)
{
    const uint8_t *starts = c->parts[CRAFT_DOCUMENTS].bytes + 8 * number;
    const uint8_t *origins = c->parts[CRAFT_ORIGINS].bytes + 16 * number;
    const uint8_t *id_ends = c->parts[CRAFT_ID_ENDS].bytes + 8 * number;
    uint64_t from = craft_load64(starts) + (c->begin_token != LEAT_NONE);
    uint64_t to = craft_load64(starts + 8) - (c->end_token != LEAT_NONE);
    uint64_t id = number > 0 ? craft_load64(id_ends - 8) : 0;
    struct leat_origin o = { .input = craft_load64(origins + 8),
                             .offset = craft_load64(origins),
                             .line = craft_load64(c->parts[CRAFT_LINES].bytes + 8 * number),
                             .id = c->parts[CRAFT_IDS].bytes ? (const char *)c->parts[CRAFT_IDS].bytes + id : "",
                             .id_bytes = craft_load64(id_ends) - id,
                             .text_hash = c->parts[CRAFT_TEXT_HASHES].bytes + 16 * number };
    uint32_t *ids = malloc((to - from + 1) * sizeof *ids);
    enum leat_status s;

    for (uint64_t i = from; i < to; i++) {
        const uint8_t *at = c->tokens.bytes + i * c->width;

        ids[i - from] = c->width == 2 ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : craft_load32(at);
    }
    s = leat_writer_add_masked(w, ids, 4, c->store_mask ? c->parts[CRAFT_MASK].bytes + from : NULL, to - from, &o,
                               NULL);
    free(ids);
    return s;
}

static enum leat_status write_metadata(struct leat_writer *w, const struct craft *c)
{
    const uint8_t *at = c->parts[CRAFT_METADATA].bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < c->pairs; i++) {
        uint64_t key_bytes = craft_load64(at), value_bytes = craft_load64(at + 8);
        char *key = copy_text(at + 16, key_bytes), *value = copy_text(at + 16 + key_bytes, value_bytes);

        s = leat_writer_set_metadata(w, key, value, NULL);
        free(key);
        free(value);
        at += 16 + key_bytes + value_bytes;
    }
    return s;
}

/* The file of the other tool is there. */
static bool adopt(const struct golden *g, const char *path)
{
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    char name[1200];

    snprintf(name, sizeof name, "llmc:%s.bin", path);
    options.vocabulary = g->craft.vocabulary;
    options.end_token = g->craft.end_token;
    options.output = path;
    return leat_adopt(name, &options, NULL, NULL) == LEAT_OK;
}

bool golden_write_tokens(const struct golden *g, const char *path)
{
    const struct craft *c = &g->craft;
    char name[1200];
    FILE *f;

    snprintf(name, sizeof name, "%s.%s", path, golden_suffix(g));
    f = fopen(name, "wb");
    return f && fwrite(c->before.bytes, 1, c->before.count, f) == c->before.count &&
           fwrite(c->tokens.bytes, 1, c->tokens.count, f) == c->tokens.count && fclose(f) == 0;
}

bool golden_write(const struct golden *g, const char *path)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer tokenizer = { 0 };
    const struct craft *c = &g->craft;
    const uint8_t *t = c->parts[CRAFT_TOKENIZER].bytes;
    char *name = NULL, *pattern = NULL;
    struct leat_writer *w = NULL;
    enum leat_status s;

    if (c->ignorable || c->other_count > 0)
        return false;
    if (c->before.count > 0)
        return golden_write_tokens(g, path) && adopt(g, path);
    options.vocabulary = c->vocabulary;
    options.end_token = c->end_token;
    options.begin_token = c->begin_token;
    options.created = c->created;
    options.store_lines = c->store_lines;
    options.store_ids = c->store_ids;
    options.store_hashes = c->store_hashes;
    options.store_mask = (uint32_t)c->store_mask;
    if (t) {
        tokenizer.name = name = copy_text(t + 32, craft_load64(t));
        tokenizer.pattern = pattern = copy_text(t + 32 + craft_load64(t), craft_load64(t + 8));
        tokenizer.file_bytes = craft_load64(t + 16);
        tokenizer.file = tokenizer.file_bytes ? t + 32 + craft_load64(t) + craft_load64(t + 8) : NULL;
        options.tokenizer = &tokenizer;
    }
    s = leat_writer_open(&w, path, &options, NULL);
    if (s == LEAT_OK)
        s = write_inputs(w, c);
    for (uint64_t i = 0; s == LEAT_OK && i < c->documents; i++)
        s = write_document(w, c, i);
    if (s == LEAT_OK)
        s = write_metadata(w, c);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, NULL, NULL);
    free(name);
    free(pattern);
    return s == LEAT_OK;
}
