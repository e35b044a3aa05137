/*
 * assemble.c: see assemble.h. The vocabulary is read for the ids of the added tokens, then the file is written from top
 * to bottom.
 *
 * Which added tokens transformers 5.23.0 makes of tokenizer_config.json, special_tokens_map.json and added_tokens.json
 * (tokenization_utils_base.py, tokenization_utils_tokenizers.py): first those that files list, by their ids, in
 * "added_tokens_decoder" of the configuration; without it, in added_tokens.json. Then the tokens with a name
 * (bos_token, ...), then "extra_special_tokens". Each gets the id that its text has in the vocabulary, else the next
 * free one, whatever id a file gives it. special_tokens_map.json counts before the configuration, but only without
 * "added_tokens_decoder". Qwen2Tokenizer adds its special tokens once more in the end, without what files say of them.
 */
#include "assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "load.h"
#include "tokenizer/containers/string_map.h"

/* transformers' names of tokens, in its order */
enum named { NAMED_BOS, NAMED_EOS, NAMED_UNK, NAMED_SEP, NAMED_PAD, NAMED_CLS, NAMED_MASK, NAMED_COUNT };
static const char *const names[NAMED_COUNT] = { "bos_token", "eos_token", "unk_token", "sep_token",
                                                "pad_token", "cls_token", "mask_token" };

struct token {
    struct jsontree_text text;
    uint32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    bool undecided;  /* nothing says `normalized`: it is, unless the token is special */
    bool given;      /* by a file, not only by the class */
    uint32_t before; /* the last one with the same text, or JSONTREE_NONE */
};

struct assembling {
    const struct assemble_source *source;
    struct leat_error *err;
    enum leat_status status; /* the first failure; what comes after it does nothing */
    struct buffer *json;
    struct string_map ids;           /* the vocabulary */
    struct token named[NAMED_COUNT]; /* text.bytes NULL: none */
    struct token *tokens;            /* added; of a text given twice, the last counts */
    struct string_map texts;         /* theirs; value: the last one's place */
    uint32_t token_count, listed;    /* so many of them come from lists */
    struct string_map extra; /* texts of lists of extra special tokens, but for one of the old name in the map */
    uint32_t next_id;
    bool again; /* special tokens are being added once more */
};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Sets the status, unless one is set. */
static void wrong(struct assembling *a, enum leat_status status, const struct jsontree *j, uint32_t node,
                  const char *what)
{
    uint64_t at = jsontree_at(j, node);

    if (a->status == LEAT_OK)
        a->status = status_set_at(a->err, status, j->path, at, "%s: %s (byte %" PRIu64 ")", j->path, what, at);
}

static void put_bytes(struct assembling *a, const void *bytes, size_t size)
{
    if (a->status == LEAT_OK)
        a->status = buffer_append(a->json, bytes, size, a->err);
}

static void put_json(struct assembling *a, const char *json)
{
    put_bytes(a, json, strlen(json));
}

static void put_string(struct assembling *a, struct jsontree_text t)
{
    uint32_t plain = 0;
    char escape[8];

    put_json(a, "\"");
    for (uint32_t i = 0; i < t.length; i++)
        if (t.bytes[i] < 0x20 || t.bytes[i] == '"' || t.bytes[i] == '\\') {
            put_bytes(a, t.bytes + plain, i - plain);
            snprintf(escape, sizeof escape, "\\u%04x", t.bytes[i]);
            put_json(a, escape);
            plain = i + 1;
        }
    if (t.length > 0) /* a token that is missing has no bytes */
        put_bytes(a, t.bytes + plain, t.length - plain);
    put_json(a, "\"");
}

static void put_id(struct assembling *a, uint32_t id)
{
    char number[16];

    snprintf(number, sizeof number, "%u", (unsigned)id);
    put_json(a, number);
}

/* ---- The vocabulary ---------------------------------------------------------------------------------------------- */

static uint32_t find_text(const struct string_map *map, struct jsontree_text t)
{
    return string_map_find(map, string_map_hash(map, t.bytes, t.length), t.bytes, t.length);
}

static struct string_map_entry *entry_of(struct string_map *map, struct jsontree_text t, bool *found)
{
    return &map->entries[string_map_add(map, string_map_hash(map, t.bytes, t.length), t.bytes, t.length, found)];
}

static void read_pairs(struct assembling *a, const struct jsontree *j)
{
    uint64_t id, count = j->nodes[0].length;
    bool found;

    if (count > SPEC_MAX_ID)
        a->status = status_set_in(a->err, LEAT_E_VOCABULARY, a->source->path, "%s has too many tokens: %" PRIu64,
                                  a->source->path, count);
    else if (!string_map_init(&a->ids, (uint32_t)count))
        a->status = status_no_memory(a->err, count * 32);
    for (uint32_t k = 1; a->status == LEAT_OK && k < jsontree_next(j, 0); k = jsontree_next(j, k + 1)) {
        if (!jsontree_u64(j, k + 1, &id) || id > SPEC_MAX_ID)
            wrong(a, LEAT_E_VOCABULARY, j, k, "the id of a token must be a whole number up to 16777215");
        else
            entry_of(&a->ids, jsontree_string(j, k), &found)->value = (uint32_t)id;
    }
}

/* ---- Added tokens ------------------------------------------------------------------------------------------------ */

static void flag(struct assembling *a, const struct jsontree *j, uint32_t object, const char *name, bool *value)
{
    uint32_t node = jsontree_member(j, object, name);
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_NULL : j->nodes[node].kind;

    if (kind == JSONTREE_TRUE || kind == JSONTREE_FALSE)
        *value = kind == JSONTREE_TRUE;
    else if (kind != JSONTREE_NULL)
        wrong(a, LEAT_E_VOCABULARY, j, node, "a flag of a token is neither true nor false");
}

/* A token as text or as an object; `special`: what it is if it does not say. */
static struct token token_of(struct assembling *a, const struct jsontree *j, uint32_t node, bool special)
{
    struct token t = { .special = special, .given = true };
    uint32_t content = j->nodes[node].kind == JSONTREE_OBJECT ? jsontree_member(j, node, "content") : node;

    if (content == JSONTREE_NONE || j->nodes[content].kind != JSONTREE_STRING) {
        wrong(a, LEAT_E_VOCABULARY, j, node, "a token is neither a string nor an object with \"content\"");
        return t;
    }
    t.text = jsontree_string(j, content);
    if (content == node) {
        t.special = true;
        return t;
    }
    flag(a, j, node, "special", &t.special);
    t.undecided = jsontree_member(j, node, "normalized") == JSONTREE_NONE;
    flag(a, j, node, "single_word", &t.single_word);
    flag(a, j, node, "lstrip", &t.lstrip);
    flag(a, j, node, "rstrip", &t.rstrip);
    flag(a, j, node, "normalized", &t.normalized);
    return t;
}

/* `a` was added, `b` not yet. */
static bool same_flags(const struct token *a, const struct token *b)
{
    return a->single_word == b->single_word && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
           a->normalized == (b->undecided ? !b->special : b->normalized) && a->special == b->special;
}

/* Adds a token of a list; one that was given twice is there twice, and the later flags count. */
static void add_listed_token(struct assembling *a, struct token t)
{
    struct string_map_entry *known;
    uint32_t entry;
    bool found;

    if (a->status != LEAT_OK || t.text.length == 0)
        return;
    t.normalized = t.undecided ? !t.special : t.normalized;
    entry = find_text(&a->ids, t.text);
    known = entry_of(&a->texts, t.text, &found);
    t.before = found ? known->value : JSONTREE_NONE;
    if (found)
        t.id = a->tokens[t.before].id;
    else
        t.id = entry != STRING_MAP_NONE ? a->ids.entries[entry].value : a->next_id++;
    known->value = a->token_count;
    a->tokens[a->token_count++] = t;
}

/* Adds a special token, unless a list has its text, or the same token had another name already. */
static void add_new(struct assembling *a, struct token t)
{
    uint32_t known = find_text(&a->texts, t.text);
    uint32_t i = known == STRING_MAP_NONE ? JSONTREE_NONE : a->texts.entries[known].value;

    if (a->again) {
        add_listed_token(a, (struct token) { .text = t.text, .special = true });
        return;
    }
    for (; i != JSONTREE_NONE; i = a->tokens[i].before)
        if (i < a->listed || same_flags(&a->tokens[i], &t))
            return;
    add_listed_token(a, t);
}

/* ---- Tokens with a name ------------------------------------------------------------------------------------------ */

static const struct jsontree *map_of(const struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    bool listed = config && jsontree_member(config, 0, "added_tokens_decoder") != JSONTREE_NONE;

    return listed ? NULL : a->source->map;
}

/* Fills `named`: the class has <|endoftext|> by some of the names, unless a file says otherwise. */
static void read_names(struct assembling *a)
{
    static const char end[] = "<|endoftext|>";
    const struct jsontree *trees[] = { map_of(a), a->source->config };

    for (unsigned n = 0; n < NAMED_COUNT; n++) {
        if (n == NAMED_EOS || n == NAMED_UNK || n == (a->source->qwen2 ? NAMED_PAD : NAMED_BOS))
            a->named[n] = (struct token) { .text = { (const uint8_t *)end, sizeof end - 1 }, .special = true };
        for (unsigned k = 0; k < 2; k++) {
            uint32_t node = trees[k] ? jsontree_member(trees[k], 0, names[n]) : JSONTREE_NONE;

            if (node == JSONTREE_NONE)
                continue;
            a->named[n] = (struct token) { 0 };
            if (trees[k]->nodes[node].kind != JSONTREE_NULL)
                a->named[n] = token_of(a, trees[k], node, trees[k] == a->source->map);
            break;
        }
    }
}

static bool is_named(const struct assembling *a, struct jsontree_text t, bool given)
{
    for (unsigned n = 0; n < NAMED_COUNT; n++) {
        const struct token *named = &a->named[n];

        if (named->text.bytes && (named->given || !given) && named->text.length == t.length &&
            memcmp(named->text.bytes, t.bytes, t.length) == 0)
            return true;
    }
    return false;
}

/* A member that names a token which most classes do not have, such as "image_token". */
static bool is_own_name(const struct jsontree *j, uint32_t key)
{
    struct jsontree_text t = jsontree_string(j, key);

    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (jsontree_is(j, key, names[n]))
            return false;
    return t.length > 6 && memcmp(t.bytes + t.length - 6, "_token", 6) == 0;
}

static void add_own_names(struct assembling *a, const struct jsontree *j)
{
    bool object = j && j->nodes[0].kind == JSONTREE_OBJECT;

    for (uint32_t k = 1; object && k < jsontree_next(j, 0); k = jsontree_next(j, k + 1)) {
        unsigned kind = j->nodes[k + 1].kind;

        if (!is_own_name(j, k) || (kind != JSONTREE_STRING && kind != JSONTREE_OBJECT))
            continue;
        if (kind == JSONTREE_OBJECT && j == a->source->config)
            wrong(a, LEAT_E_UNSUPPORTED, j, k, "a token of another name, as an object, is not supported");
        add_new(a, token_of(a, j, k + 1, true));
    }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Adds the tokens of a list of extra special tokens; or, with `note`, notes their texts. False: no such list. */
static bool read_extra(struct assembling *a, const struct jsontree *j, const char *key, bool note)
{
    uint32_t list = j ? jsontree_member(j, 0, key) : JSONTREE_NONE;
    bool found;

    if (list == JSONTREE_NONE || j->nodes[list].kind == JSONTREE_NULL || j->nodes[list].length == 0)
        return false;
    if (j->nodes[list].kind != JSONTREE_ARRAY)
        wrong(a, LEAT_E_UNSUPPORTED, j, list, "extra special tokens that are not a list are not supported");
    for (uint32_t k = list + 1; a->status == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k)) {
        struct token t = token_of(a, j, k, j == a->source->map);

        if (a->status != LEAT_OK)
            break;
        if (note)
            entry_of(&a->extra, t.text, &found);
        else
            add_new(a, t);
    }
    return true;
}

/* "extra_special_tokens", which the configuration and the map may have both, or its old name: in the configuration
 * where it has no new one, in the map where there is no other list. */
static void read_extras(struct assembling *a, bool note)
{
    static const char new_name[] = "extra_special_tokens", old_name[] = "additional_special_tokens";
    bool found = read_extra(a, a->source->config, new_name, note) || read_extra(a, a->source->config, old_name, note);

    found |= read_extra(a, map_of(a), new_name, note);
    if (!found && !note)
        read_extra(a, map_of(a), old_name, false);
}

struct listed {
    uint64_t id;
    struct token token;
};

static int by_id(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

/* The ids are keys ("163584": {...}) or values ("<x>": 163584); they decide on the order only. */
static bool read_listed(struct assembling *a, const struct jsontree *j, uint32_t key, bool decoder, struct listed *to)
{
    struct jsontree_text t = jsontree_string(j, key);
    uint32_t digits = 0;

    if (!decoder) {
        bool special = is_named(a, t, true) || find_text(&a->extra, t) != STRING_MAP_NONE;

        to->token = (struct token) { .text = t, .special = special, .normalized = !special };
        return jsontree_u64(j, key + 1, &to->id);
    }
    for (to->id = 0; digits < t.length && t.bytes[digits] >= '0' && t.bytes[digits] <= '9'; digits++)
        to->id = to->id * 10 + (t.bytes[digits] - '0');
    if (digits == 0 || digits > 9 || digits < t.length || j->nodes[key + 1].kind != JSONTREE_OBJECT)
        return false;
    to->token = token_of(a, j, key + 1, false);
    return true;
}

static void add_listed(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    uint32_t list = config ? jsontree_member(config, 0, "added_tokens_decoder") : JSONTREE_NONE;
    bool decoder = list != JSONTREE_NONE;
    const struct jsontree *j = decoder ? config : a->source->added;
    struct listed *all;
    uint32_t count = 0;

    if (!j)
        return;
    list = decoder ? list : 0;
    if (j->nodes[list].kind != JSONTREE_OBJECT) {
        wrong(a, LEAT_E_VOCABULARY, j, list, "the added tokens are not an object");
        return;
    }
    all = calloc((size_t)j->nodes[list].length + 1, sizeof *all);
    if (!all)
        a->status = status_no_memory(a->err, j->nodes[list].length * sizeof *all);
    for (uint32_t k = list + 1; a->status == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k + 1))
        if (!read_listed(a, j, k, decoder, &all[count++]))
            wrong(a, LEAT_E_VOCABULARY, j, k, "an added token is not a text with an id");
    if (count > 0)
        qsort(all, count, sizeof *all, by_id);
    for (uint32_t i = 0; i < count; i++) {
        all[i].token.special |= is_named(a, all[i].token.text, false);
        add_listed_token(a, all[i].token);
    }
    free(all);
}

static void add_special(struct assembling *a)
{
    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (a->named[n].text.bytes) {
            a->named[n].special = true;
            add_new(a, a->named[n]);
        }
    add_own_names(a, map_of(a));
    add_own_names(a, a->source->config);
    read_extras(a, false);
}

/* Fills `tokens`: each node of a file is a token at most twice. */
static void add_all(struct assembling *a)
{
    const struct assemble_source *s = a->source;
    size_t most = 2 * ((size_t)NAMED_COUNT + (s->config ? s->config->count : 0) + (s->map ? s->map->count : 0) +
                       (s->added ? s->added->count : 0));

    a->tokens = calloc(most, sizeof *a->tokens);
    if (!a->tokens || most > UINT32_MAX / 2 || !string_map_init(&a->texts, (uint32_t)most) ||
        !string_map_init(&a->extra, (uint32_t)most)) {
        a->status = status_no_memory(a->err, most * sizeof *a->tokens);
        return;
    }
    read_extras(a, true);
    add_listed(a);
    a->listed = a->token_count;
    add_special(a);
    a->again = s->qwen2;
    if (a->again)
        add_special(a);
}

/* ---- The pipeline ------------------------------------------------------------------------------------------------ */

/* Returns an option of tokenizer_config.json that is true or false; false if it is missing, or null and `null`. */
static bool option(struct assembling *a, const char *name, bool null)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, name) : JSONTREE_NONE;
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_FALSE : config->nodes[node].kind;

    if (kind > JSONTREE_TRUE || (kind == JSONTREE_NULL && !null))
        wrong(a, LEAT_E_VOCABULARY, config, node, "an option of the tokenizer must be true or false");
    return kind == JSONTREE_TRUE;
}

/* Appends a token that stands around texts: into the template, or into the list of its tokens. */
static void put_around(struct assembling *a, struct jsontree_text t, bool listed)
{
    uint32_t place = t.bytes ? find_text(&a->texts, t) : STRING_MAP_NONE;

    if (place == STRING_MAP_NONE) {
        if (a->status == LEAT_OK)
            a->status =
                status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                              "%s: tokenizer_config.json removes a token that stands around texts, which is not "
                              "supported",
                              a->source->path);
        return;
    }
    put_json(a, listed ? "" : "{\"SpecialToken\":{\"id\":");
    put_string(a, t);
    put_json(a, listed ? ":{\"id\":" : ",\"type_id\":0}}");
    if (!listed)
        return;
    put_string(a, t);
    put_json(a, ",\"ids\":[");
    put_id(a, a->tokens[a->texts.entries[place].value].id);
    put_json(a, "],\"tokens\":[");
    put_string(a, t);
    put_json(a, "]}");
}

static void put_template(struct assembling *a)
{
    bool before = option(a, "add_bos_token", true), after = option(a, "add_eos_token", true);
    struct jsontree_text bos = a->named[NAMED_BOS].text, eos = a->named[NAMED_EOS].text;

    put_json(a, "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[");
    if (before)
        put_around(a, bos, false);
    put_json(a,
             before ? ",{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}" : "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}");
    put_json(a, after ? "," : "");
    if (after)
        put_around(a, eos, false);
    put_json(a, "],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],"
                "\"special_tokens\":{");
    if (before)
        put_around(a, bos, true);
    put_json(a, before && after ? "," : "");
    if (after)
        put_around(a, eos, true);
    put_json(a, "}}");
}

#define QWEN2                                                                                                          \
    "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"                  \
    "\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"                                        \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"                       \
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false},"                       \
    "{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"use_regex\":false,\"add_prefix_space\":"

static void put_pipeline(struct assembling *a)
{
    bool qwen2 = a->source->qwen2;

    put_json(a, qwen2 ? QWEN2
                      : "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"use_regex\":true,"
                        "\"add_prefix_space\":");
    put_json(a, option(a, "add_prefix_space", qwen2) ? "true" : "false");
    put_json(a, qwen2 ? "}]}," : "},");
    put_json(
        a, "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},");
    put_template(a);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_added(struct assembling *a)
{
    static const char *const flags[] = { "\"single_word\":", ",\"lstrip\":", ",\"rstrip\":", ",\"normalized\":",
                                         ",\"special\":" };

    put_json(a, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->token_count; i++) {
        const struct token *t = &a->tokens[i];
        const bool values[] = { t->single_word, t->lstrip, t->rstrip, t->normalized, t->special };

        put_json(a, i ? ",{\"id\":" : "{\"id\":");
        put_id(a, t->id);
        put_json(a, ",\"content\":");
        put_string(a, t->text);
        put_json(a, ",");
        for (unsigned k = 0; k < 5; k++) {
            put_json(a, flags[k]);
            put_json(a, values[k] ? "true" : "false");
        }
        put_json(a, "}");
    }
    put_json(a, "],");
}

/* Takes the next of the lines that Rust's BufRead::lines() has; false: no more. */
static bool next_line(const uint8_t **p, const uint8_t *end, struct jsontree_text *line)
{
    const uint8_t *begin = *p, *newline = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;

    if (begin == end)
        return false;
    *p = newline ? newline + 1 : end;
    newline = newline ? newline : end;
    newline -= newline > begin && newline < end && newline[-1] == '\r';
    *line = (struct jsontree_text) { begin, (uint32_t)(newline - begin) };
    return true;
}

static void put_model(struct assembling *a)
{
    const uint8_t *p = a->source->merges, *end = p + a->source->merges_size;
    struct jsontree_text line;
    const char *comma = "";

    put_json(a, ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"fuse_unk\":false,"
                "\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"\",\"byte_fallback\":false,"
                "\"ignore_merges\":false,\"vocab\":");
    put_bytes(a, a->source->bytes, a->source->size);
    put_json(a, ",\"merges\":[");
    while (a->status == LEAT_OK && next_line(&p, end, &line)) {
        if (line.length >= 8 && memcmp(line.bytes, "#version", 8) == 0)
            continue;
        put_json(a, comma);
        put_string(a, line);
        comma = ",";
    }
    put_json(a, "]}}");
}

static void read_level(struct assembling *a, struct jsontree *j)
{
    const struct assemble_source *source = a->source;

    if (!source->merges)
        a->status =
            status_set_in(a->err, LEAT_E_NO_FILE, source->path, "%s needs the file merges.txt beside it", source->path);
    else
        a->status = jsontree_parse(j, source->bytes, source->size, source->path, a->err);
    if (a->status == LEAT_OK && j->nodes[0].kind != JSONTREE_OBJECT)
        wrong(a, LEAT_E_VOCABULARY, j, 0, "a vocabulary must be an object of tokens and ids");
    if (a->status == LEAT_OK)
        read_pairs(a, j);
}

enum leat_status assemble(struct buffer *json, const struct assemble_source *source, struct leat_error *err)
{
    struct assembling a = { .source = source, .err = err, .json = json };
    struct jsontree j = { 0 };

    read_names(&a);
    if (a.status == LEAT_OK)
        read_level(&a, &j);
    a.next_id = a.ids.count;
    if (a.status == LEAT_OK)
        add_all(&a);
    if (a.status == LEAT_OK) {
        put_added(&a);
        put_pipeline(&a);
        put_model(&a);
    }
    jsontree_free(&j);
    string_map_free(&a.ids);
    string_map_free(&a.texts);
    string_map_free(&a.extra);
    free(a.tokens);
    return a.status;
}

enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err)
{
    const struct spec_string *pattern = &spec->pre_tokenizers[0].pattern.text;
    struct assembling a = { .err = err, .json = json };

    put_json(&a, "{\"pat_str\":");
    put_string(&a, (struct jsontree_text) { pattern->bytes, pattern->length });
    put_json(&a, spec->normalizer_count ? ",\"nfc\":true,\"special_tokens\":{" : ",\"special_tokens\":{");
    for (uint32_t i = 0; i < spec->added_count; i++) {
        const struct spec_added *added = &spec->added[i];

        put_json(&a, i ? "," : "");
        put_string(&a, (struct jsontree_text) { added->content.bytes, added->content.length });
        put_json(&a, ":");
        put_id(&a, added->id);
    }
    put_json(&a, "},\"mergeable_ranks\":");
    put_string(&a, (struct jsontree_text) { ranks, (uint32_t)size });
    put_json(&a, "}");
    return a.status;
}
