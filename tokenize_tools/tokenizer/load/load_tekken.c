/*
 * load_tekken.c: reads Mistral's tekken.json, as mistral-common 1.13.1 does. read_config() finds how many special
 * tokens there are; these have the first ids. read_vocabulary() cuts the vocabulary to what default_vocab_size leaves
 * for it; an entry's id is its place plus the number of special tokens. read_specials() takes the file's special
 * tokens, or those of an old version, and names the rest of their ids.
 *
 * The text goes through tiktoken with config.pattern; special tokens are found in it only on request.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/big.h"
#include "base/status.h"
#include "load.h"
#include "tokenizer/containers/string_map.h"

struct tekken {
    struct tokenizer_spec *spec;
    const struct jsontree *j;
    struct leat_error *err;
    uint32_t config, specials; /* nodes */
    uint32_t special_count, token_count;
    struct string_map seen;
};

static enum leat_status wrong(struct tekken *t, uint32_t node, const char *what)
{
    uint64_t at = jsontree_at(t->j, node);

    return status_set_at(t->err, LEAT_E_VOCABULARY, t->j->path, at, "%s: %s (byte %" PRIu64 ")", t->j->path, what, at);
}

/* Reads a member of config that is a number of tokens. */
static enum leat_status config_number(struct tekken *t, const char *name, uint32_t *value)
{
    uint32_t node = jsontree_member(t->j, t->config, name);
    uint64_t number;
    char what[128];

    if (node == JSONTREE_NONE || !jsontree_u64(t->j, node, &number) || number > SPEC_MAX_ID) {
        snprintf(what, sizeof what, "\"config\" must have a whole number \"%s\" of at most %u", name,
                 (unsigned)SPEC_MAX_ID);
        return wrong(t, node == JSONTREE_NONE ? t->config : node, what);
    }
    *value = (uint32_t)number;
    return LEAT_OK;
}

/* Returns true for versions without a list of special tokens, which use the list of early releases of
 * mistral-common. */
static bool old_version(const struct tekken *t)
{
    static const char *const old[] = { "v1", "v2", "v3", "v7" };
    uint32_t version = jsontree_member(t->j, t->config, "version");

    for (size_t i = 0; version != JSONTREE_NONE && i < sizeof old / sizeof old[0]; i++)
        if (jsontree_is(t->j, version, old[i]))
            return true;
    return false;
}

static enum leat_status read_config(struct tekken *t)
{
    uint32_t vocab = jsontree_member(t->j, 0, "vocab"), version, size, pattern;
    struct spec_pre_tokenizer *split;
    struct jsontree_text text;
    enum leat_status s;

    t->config = jsontree_member(t->j, 0, "config");
    if (t->config == JSONTREE_NONE || t->j->nodes[t->config].kind != JSONTREE_OBJECT || vocab == JSONTREE_NONE ||
        t->j->nodes[vocab].kind != JSONTREE_ARRAY)
        return wrong(t, 0, "a tekken.json must have an object \"config\" and an array \"vocab\"");
    version = jsontree_member(t->j, t->config, "version");
    if (version == JSONTREE_NONE || t->j->nodes[version].kind != JSONTREE_STRING)
        return wrong(t, t->config, "\"config\" must have a string \"version\"");
    s = config_number(t, "default_vocab_size", &size);
    if (s == LEAT_OK)
        s = config_number(t, "default_num_special_tokens", &t->special_count);
    if (s != LEAT_OK)
        return s;
    if (size < t->special_count || size - t->special_count > t->j->nodes[vocab].length)
        return wrong(t, t->config,
                     "\"default_vocab_size\" is below the number of special tokens or above the number of tokens");
    t->token_count = size - t->special_count;
    pattern = jsontree_member(t->j, t->config, "pattern");
    if (pattern == JSONTREE_NONE || t->j->nodes[pattern].kind != JSONTREE_STRING)
        return wrong(t, t->config, "\"config\" must have a string \"pattern\"");
    text = jsontree_string(t->j, pattern);
    t->spec->pre_tokenizers = split = spec_alloc(t->spec, sizeof *split);
    if (!split || !spec_copy(t->spec, &split->pattern.text, text.bytes, text.length))
        return status_no_memory(t->err, sizeof *split + text.length);
    split->kind = SPEC_PRE_SPLIT;
    split->pattern.regex = split->invert = true;
    split->behavior = SPEC_REMOVED;
    t->spec->pre_tokenizer_count = 1;
    return LEAT_OK;
}

/* ---- Tokens ---- */

static enum leat_status read_token(struct tekken *t, uint32_t node, uint32_t number, uint8_t *text)
{
    struct tokenizer_spec *spec = t->spec;
    uint32_t rank = jsontree_member(t->j, node, "rank"), bytes = jsontree_member(t->j, node, "token_bytes");
    struct jsontree_text base64;
    uint64_t value;
    size_t length;
    bool found;

    if (rank == JSONTREE_NONE || bytes == JSONTREE_NONE || t->j->nodes[bytes].kind != JSONTREE_STRING)
        return wrong(t, node, "an entry of \"vocab\" must have a \"rank\" and a string \"token_bytes\"");
    if (!jsontree_u64(t->j, rank, &value) || value != number)
        return wrong(t, rank, "the ranks of \"vocab\" must be 0, 1, 2, ... in order");
    base64 = jsontree_string(t->j, bytes);
    if (!base64_decode(text + spec->text_bytes, &length, base64.bytes, base64.length))
        return wrong(t, bytes, "\"token_bytes\" is not base64");
    if (number < 256 && (length != 1 || text[spec->text_bytes] != number))
        return wrong(t, bytes, "the first 256 tokens must be the bytes 0 to 255");
    string_map_add(&t->seen, string_map_hash(&t->seen, text + spec->text_bytes, length), text + spec->text_bytes,
                   (uint32_t)length, &found);
    if (found)
        return wrong(t, bytes, "this token appears twice in the file");
    spec->tokens[number] = (struct spec_token) { .id = number + t->special_count,
                                                 .offset = (uint32_t)spec->text_bytes,
                                                 .length = (uint32_t)length,
                                                 .type = SPEC_NORMAL };
    spec->text_bytes += length;
    return LEAT_OK;
}

static enum leat_status read_vocabulary(struct tekken *t)
{
    uint32_t vocab = jsontree_member(t->j, 0, "vocab"), number = 0;
    uint8_t *text = big_alloc(BASE64_ROOM(t->j->size));
    enum leat_status s;

    t->spec->text = text;
    t->spec->tokens = big_alloc(((size_t)t->token_count + 1) * sizeof *t->spec->tokens);
    if (!text || !t->spec->tokens || !string_map_init(&t->seen, t->token_count))
        return status_no_memory(t->err, t->j->size + t->token_count * 48u);
    for (uint32_t k = vocab + 1; number < t->token_count; k = jsontree_next(t->j, k)) {
        s = read_token(t, k, number, text);
        if (s != LEAT_OK)
            return s;
        t->spec->token_count = ++number;
    }
    return LEAT_OK;
}

/* ---- Special tokens ---- */

/* Adds a special token. Refuses a content given twice, and an id given twice or beyond their number, since either
 * would be ambiguous. */
static enum leat_status add_special(struct tekken *t, uint32_t node, uint32_t id, const void *text, size_t length,
                                    bool *taken, struct string_map *contents)
{
    struct spec_added *a = &t->spec->added[t->spec->added_count];
    bool found;

    if (id >= t->special_count || taken[id])
        return wrong(t, node,
                     "the ranks of \"special_tokens\" must differ, and be below \"default_num_special_tokens\"");
    taken[id] = true;
    if (!spec_copy(t->spec, &a->content, text, length))
        return status_no_memory(t->err, length);
    a->id = id;
    a->special = true;
    string_map_add(contents, string_map_hash(contents, a->content.bytes, a->content.length), a->content.bytes,
                   a->content.length, &found);
    if (found || length == 0)
        return wrong(t, node, "a special token is empty or appears twice in the file");
    t->spec->added_count++;
    return LEAT_OK;
}

static enum leat_status add_listed(struct tekken *t, bool *taken, struct string_map *contents)
{
    const struct jsontree_node *nodes = t->j->nodes;
    enum leat_status s;

    for (uint32_t k = t->specials + 1; k < jsontree_next(t->j, t->specials); k = jsontree_next(t->j, k)) {
        uint32_t rank = jsontree_member(t->j, k, "rank"), string = jsontree_member(t->j, k, "token_str");
        struct jsontree_text text;
        uint64_t id;

        if (rank == JSONTREE_NONE || !jsontree_u64(t->j, rank, &id) || string == JSONTREE_NONE ||
            nodes[string].kind != JSONTREE_STRING)
            return wrong(t, k, "an entry of \"special_tokens\" must have a \"rank\" and a string \"token_str\"");
        text = jsontree_string(t->j, string);
        s = add_special(t, k, id < SPEC_NONE ? (uint32_t)id : SPEC_NONE, text.bytes, text.length, taken, contents);
        if (s != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

/* Adds the special tokens of an old version, whose files have no list. */
static enum leat_status add_old(struct tekken *t, bool *taken, struct string_map *contents)
{
    static const char *const old[] = {
        "<unk>",
        "<s>",
        "</s>",
        "[INST]",
        "[/INST]",
        "[AVAILABLE_TOOLS]",
        "[/AVAILABLE_TOOLS]",
        "[TOOL_RESULTS]",
        "[/TOOL_RESULTS]",
        "[TOOL_CALLS]",
        "[IMG]",
        "<pad>",
        "[IMG_BREAK]",
        "[IMG_END]",
        "[PREFIX]",
        "[MIDDLE]",
        "[SUFFIX]",
        "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]",
        "[TOOL_CONTENT]",
    };
    enum leat_status s;

    for (uint32_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        s = add_special(t, t->config, i, old[i], strlen(old[i]), taken, contents);
        if (s != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

/* Names the ids without an entry as mistral-common does. */
static enum leat_status add_fillers(struct tekken *t, uint32_t listed, bool *taken, struct string_map *contents)
{
    char text[32];
    enum leat_status s;

    for (uint32_t id = listed; id < t->special_count; id++) {
        int length = snprintf(text, sizeof text, "<SPECIAL_%u>", (unsigned)id);

        s = add_special(t, t->config, id, text, (size_t)length, taken, contents);
        if (s != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

static enum leat_status read_specials(struct tekken *t)
{
    struct string_map contents = { 0 };
    enum leat_status s = LEAT_OK;
    uint32_t listed = 20;
    bool *taken;

    t->specials = jsontree_member(t->j, 0, "special_tokens");
    if (t->specials != JSONTREE_NONE && t->j->nodes[t->specials].kind == JSONTREE_NULL)
        t->specials = JSONTREE_NONE;
    if (t->specials == JSONTREE_NONE && !old_version(t))
        return wrong(t, 0, "missing \"special_tokens\", which files after version v7 must have");
    if (t->specials != JSONTREE_NONE && t->j->nodes[t->specials].kind != JSONTREE_ARRAY)
        return wrong(t, t->specials, "\"special_tokens\" must be an array");
    if (t->specials != JSONTREE_NONE)
        listed = t->j->nodes[t->specials].length;
    if (listed > t->special_count)
        return wrong(t, t->config, "\"default_num_special_tokens\" is below the number of special tokens");
    taken = spec_alloc(t->spec, (size_t)t->special_count + 1);
    t->spec->added = spec_alloc(t->spec, t->special_count * sizeof *t->spec->added);
    if (!taken || !t->spec->added || !string_map_init(&contents, t->special_count + 1))
        s = status_no_memory(t->err, t->special_count * sizeof *t->spec->added);
    else
        s = t->specials != JSONTREE_NONE ? add_listed(t, taken, &contents) : add_old(t, taken, &contents);
    if (s == LEAT_OK)
        s = add_fillers(t, listed, taken, &contents);
    string_map_free(&contents);
    return s;
}

enum leat_status load_tekken(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err)
{
    struct tekken t = { .spec = spec, .j = j, .err = err };
    enum leat_status s;

    spec->model = SPEC_RANKS;
    spec->reference = SPEC_TIKTOKEN;
    spec->dialect = SPEC_RUST;
    spec->byte_level = true;
    s = read_config(&t);
    if (s == LEAT_OK)
        s = read_vocabulary(&t);
    if (s == LEAT_OK)
        s = read_specials(&t);
    if (s == LEAT_OK)
        s = spec_finish(spec, j->path, err);
    string_map_free(&t.seen);
    return s;
}
