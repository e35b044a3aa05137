/*
 * assemble.c: the vocabulary is read for the ids of the added tokens, then the file is written from top
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

#include "base/json.h"
#include "base/status.h"
#include "load.h"
#include "tokenizer/containers/string_map.h"

/* The names of tokens in transformers, in its order. */
enum named { NAMED_BOS, NAMED_EOS, NAMED_UNK, NAMED_SEP, NAMED_PAD, NAMED_CLS, NAMED_MASK, NAMED_COUNT };
static const char *const names[NAMED_COUNT] = { "bos_token", "eos_token", "unk_token", "sep_token",
                                                "pad_token", "cls_token", "mask_token" };

struct token {
    struct jsontree_text text;
    uint32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    bool undecided;  /* true if nothing says `normalized`: it is true then, unless the token is special */
    bool given;      /* true if a file names it, false if only the class does */
    uint32_t before; /* the earlier token with this text, or JSONTREE_NONE */
};

struct assembling {
    const struct assemble_source *source;
    struct leat_error *err;
    enum leat_status status; /* the first failure; after it, calls do nothing */
    struct json json;
    struct string_map ids;           /* the vocabulary */
    struct token named[NAMED_COUNT]; /* text.bytes NULL: none */
    struct token *tokens;            /* added tokens; of a text given twice, the last one counts */
    struct string_map texts;         /* texts of the tokens; value: index of the last token with the text */
    uint32_t token_count, listed;    /* number of the tokens that come from lists */
    struct string_map extra; /* texts in lists of extra special tokens, without those of a list under the old name in
                                the map */
    uint32_t next_id;
    bool again; /* true while special tokens are added once more */
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

static void put_string(struct assembling *a, const char *key, struct jsontree_text t)
{
    json_bytes(&a->json, key, t.bytes, t.length);
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

/* Returns the token that a node describes, as text or as an object. `special` is used if it does not say whether it
 * is special. */
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

/* Compares the flags of `a`, which was added, and `b`, which was not yet. */
static bool same_flags(const struct token *a, const struct token *b)
{
    return a->single_word == b->single_word && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
           a->normalized == (b->undecided ? !b->special : b->normalized) && a->special == b->special;
}

/* Adds a token of a list. A token that is given twice is there twice, and its later flags count. */
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

/* Adds a special token, unless a list has its text, or the token had another name already. */
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

/* Fills `named`. The class gives <|endoftext|> some of the names, unless a file says otherwise. */
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

/* Returns true for a member that names a token which most classes do not have, such as "image_token". */
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

/* Adds the tokens of a list of extra special tokens, or with `note` only notes their texts. Returns false if there
 * is no such list. */
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

/* Reads "extra_special_tokens", which both the configuration and the map may have. The old name counts in the
 * configuration if the new one is missing, and in the map if there is no other list. */
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

/* Reads added tokens by id. The ids are keys ("163584": {...}) or values ("<x>": 163584), and decide only on the
 * order. */
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

/* Fills `tokens`. Each node of a file becomes at most two tokens. */
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

/* Returns an option of tokenizer_config.json that is true or false. A missing option is false, and so is null if
 * `null` allows it. */
static bool option(struct assembling *a, const char *name, bool null)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, name) : JSONTREE_NONE;
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_FALSE : config->nodes[node].kind;

    if (kind > JSONTREE_TRUE || (kind == JSONTREE_NULL && !null))
        wrong(a, LEAT_E_VOCABULARY, config, node, "an option of the tokenizer must be true or false");
    return kind == JSONTREE_TRUE;
}

/* Writes a piece of the template: KIND is SpecialToken, or Sequence for a text. */
static void put_piece(struct assembling *a, const char *kind, struct jsontree_text id, unsigned type)
{
    json_open_object(&a->json, NULL);
    json_open_object(&a->json, kind);
    put_string(a, "id", id);
    json_u64(&a->json, "type_id", type);
    json_close_object(&a->json);
    json_close_object(&a->json);
}

/* Writes a token of the template into the list of its tokens. */
static void put_listed(struct assembling *a, struct jsontree_text t)
{
    uint32_t place = t.bytes ? find_text(&a->texts, t) : STRING_MAP_NONE;
    struct json *j = &a->json;

    if (place == STRING_MAP_NONE) {
        if (a->status == LEAT_OK)
            a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                                      "%s: tokenizer_config.json removes a token that stands around texts, which is "
                                      "not supported",
                                      a->source->path);
        return;
    }
    json_key(j, t.bytes, t.length);
    json_open_object(j, NULL);
    put_string(a, "id", t);
    json_open_array(j, "ids");
    json_u64(j, NULL, a->tokens[a->texts.entries[place].value].id);
    json_close_array(j);
    json_open_array(j, "tokens");
    put_string(a, NULL, t);
    json_close_array(j);
    json_close_object(j);
}

static void put_template(struct assembling *a)
{
    static const struct jsontree_text first = { (const uint8_t *)"A", 1 }, second = { (const uint8_t *)"B", 1 };
    bool before = option(a, "add_bos_token", true), after = option(a, "add_eos_token", true);
    struct jsontree_text bos = a->named[NAMED_BOS].text, eos = a->named[NAMED_EOS].text;
    struct json *j = &a->json;

    json_open_object(j, "post_processor");
    json_string(j, "type", "TemplateProcessing");
    json_open_array(j, "single");
    if (before)
        put_piece(a, "SpecialToken", bos, 0);
    put_piece(a, "Sequence", first, 0);
    if (after)
        put_piece(a, "SpecialToken", eos, 0);
    json_close_array(j);
    json_open_array(j, "pair");
    put_piece(a, "Sequence", first, 0);
    put_piece(a, "Sequence", second, 1);
    json_close_array(j);
    json_open_object(j, "special_tokens");
    if (before)
        put_listed(a, bos);
    if (after)
        put_listed(a, eos);
    json_close_object(j);
    json_close_object(j);
}

static void put_byte_level(struct assembling *a, const char *key, bool prefix_space, bool use_regex)
{
    json_open_object(&a->json, key);
    json_string(&a->json, "type", "ByteLevel");
    json_bool(&a->json, "add_prefix_space", prefix_space);
    json_bool(&a->json, "trim_offsets", true);
    json_bool(&a->json, "use_regex", use_regex);
    json_close_object(&a->json);
}

#define QWEN2_PATTERN                                                                                                  \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"                \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static void put_pipeline(struct assembling *a)
{
    bool qwen2 = a->source->qwen2, space = option(a, "add_prefix_space", qwen2);
    struct json *j = &a->json;

    if (qwen2) {
        json_open_object(j, "normalizer");
        json_string(j, "type", "NFC");
        json_close_object(j);
        json_open_object(j, "pre_tokenizer");
        json_string(j, "type", "Sequence");
        json_open_array(j, "pretokenizers");
        json_open_object(j, NULL);
        json_string(j, "type", "Split");
        json_open_object(j, "pattern");
        json_string(j, "Regex", QWEN2_PATTERN);
        json_close_object(j);
        json_string(j, "behavior", "Isolated");
        json_bool(j, "invert", false);
        json_close_object(j);
        put_byte_level(a, NULL, space, false);
        json_close_array(j);
        json_close_object(j);
    } else {
        put_byte_level(a, "pre_tokenizer", space, true);
    }
    put_byte_level(a, "decoder", true, true);
    put_template(a);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_added(struct assembling *a)
{
    struct json *j = &a->json;

    json_string(j, "version", "1.0");
    json_null(j, "truncation");
    json_null(j, "padding");
    json_open_array(j, "added_tokens");
    for (uint32_t i = 0; i < a->token_count; i++) {
        const struct token *t = &a->tokens[i];

        json_open_object(j, NULL);
        json_u64(j, "id", t->id);
        put_string(a, "content", t->text);
        json_bool(j, "single_word", t->single_word);
        json_bool(j, "lstrip", t->lstrip);
        json_bool(j, "rstrip", t->rstrip);
        json_bool(j, "normalized", t->normalized);
        json_bool(j, "special", t->special);
        json_close_object(j);
    }
    json_close_array(j);
}

/* Takes the next line, as Rust's BufRead::lines() divides the text. Returns false after the last one. */
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
    struct json *j = &a->json;

    json_open_object(j, "model");
    json_string(j, "type", "BPE");
    json_null(j, "dropout");
    json_null(j, "unk_token");
    json_bool(j, "fuse_unk", false);
    json_string(j, "continuing_subword_prefix", "");
    json_string(j, "end_of_word_suffix", "");
    json_bool(j, "byte_fallback", false);
    json_bool(j, "ignore_merges", false);
    json_value(j, "vocab", a->source->bytes, a->source->size);
    json_open_array(j, "merges");
    while (next_line(&p, end, &line))
        if (line.length < 8 || memcmp(line.bytes, "#version", 8) != 0)
            put_string(a, NULL, line);
    json_close_array(j);
    json_close_object(j);
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
    struct assembling a = { .source = source, .err = err };
    struct jsontree j = { 0 };

    json_begin_in(&a.json, json, err);
    a.json.verbatim = true;

    read_names(&a);
    if (a.status == LEAT_OK)
        read_level(&a, &j);
    a.next_id = a.ids.count;
    if (a.status == LEAT_OK)
        add_all(&a);
    if (a.status == LEAT_OK) {
        json_open_object(&a.json, NULL);
        put_added(&a);
        put_pipeline(&a);
        put_model(&a);
        json_close_object(&a.json);
    }
    jsontree_free(&j);
    string_map_free(&a.ids);
    string_map_free(&a.texts);
    string_map_free(&a.extra);
    free(a.tokens);
    return a.status == LEAT_OK ? a.json.status : a.status;
}

enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err)
{
    const struct spec_string *pattern = &spec->pre_tokenizers[0].pattern.text;
    struct json j;

    json_begin_in(&j, json, err);
    j.verbatim = true;
    json_open_object(&j, NULL);
    json_bytes(&j, "pat_str", pattern->bytes, pattern->length);
    if (spec->normalizer_count)
        json_bool(&j, "nfc", true);
    json_open_object(&j, "special_tokens");
    for (uint32_t i = 0; i < spec->added_count; i++) {
        json_key(&j, spec->added[i].content.bytes, spec->added[i].content.length);
        json_u64(&j, NULL, spec->added[i].id);
    }
    json_close_object(&j);
    json_bytes(&j, "mergeable_ranks", ranks, size);
    json_close_object(&j);
    return j.status;
}
