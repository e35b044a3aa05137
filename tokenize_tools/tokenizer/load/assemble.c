/*
 * assemble.c: see assemble.h. The class (assemble_class.c) says which stations the pipeline has. The vocabulary is read
 * for the ids of the added tokens, then the file is written from top to bottom.
 */
#include "assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "load.h"
#include "load_hf.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/unicode/unicode.h"

static bool is_called(const char *path, const char *wanted)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(wanted);

    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || strcmp(name + length, ".zst") == 0);
}

bool assemble_is_part(const char *path)
{
    return is_called(path, "vocab.txt") || is_called(path, "vocab.json");
}

bool assemble_is_model(const char *path)
{
    size_t length = strlen(path);

    length -= length > 4 && strcmp(path + length - 4, ".zst") == 0 ? 4 : 0;
    return length > 6 && memcmp(path + length - 6, ".model", 6) == 0;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

void assemble_wrong(struct assembling *a, enum leat_status status, const struct jsontree *j, uint32_t node,
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

void assemble_put(struct assembling *a, const char *json)
{
    put_bytes(a, json, strlen(json));
}

void assemble_put_string(struct assembling *a, struct jsontree_text t)
{
    uint32_t plain = 0;
    char escape[8];

    assemble_put(a, "\"");
    for (uint32_t i = 0; i < t.length; i++)
        if (t.bytes[i] < 0x20 || t.bytes[i] == '"' || t.bytes[i] == '\\') {
            put_bytes(a, t.bytes + plain, i - plain);
            snprintf(escape, sizeof escape, "\\u%04x", t.bytes[i]);
            assemble_put(a, escape);
            plain = i + 1;
        }
    if (t.length > 0) /* a token that is missing has no bytes */
        put_bytes(a, t.bytes + plain, t.length - plain);
    assemble_put(a, "\"");
}

void assemble_put_id(struct assembling *a, uint32_t id)
{
    char number[16];

    snprintf(number, sizeof number, "%u", (unsigned)id);
    assemble_put(a, number);
}

/* ---- The vocabulary ---------------------------------------------------------------------------------------------- */

/* Lines as Rust's BufRead::lines() has them; false: no more. */
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

/* White space at the end of a line is no part of the token. */
static void trim(struct jsontree_text *t)
{
    size_t bytes;

    while (t->length > 0) {
        size_t before = utf8_before(t->bytes, t->length);

        if (!(char_tests(unicode_decode(t->bytes + before, &bytes)) & CHAR_WHITESPACE))
            break;
        t->length = (uint32_t)before;
    }
}

static void make_map(struct assembling *a, uint64_t count)
{
    if (a->status == LEAT_OK && (count > SPEC_MAX_ID || !string_map_init(&a->ids, (uint32_t)count)))
        a->status = count > SPEC_MAX_ID ? status_set_in(a->err, LEAT_E_VOCABULARY, a->source->path,
                                                        "%s has too many tokens: %" PRIu64, a->source->path, count)
                                        : status_no_memory(a->err, count * 32);
}

static void note_token(struct assembling *a, struct jsontree_text t, uint64_t id)
{
    bool found;

    if (a->status == LEAT_OK)
        a->ids.entries[string_map_add(&a->ids, string_map_hash(&a->ids, t.bytes, t.length), t.bytes, t.length, &found)]
            .value = (uint32_t)id;
}

/* One token per line; its id is the number of the line. If a token is given twice, the later line counts. */
static void read_words(struct assembling *a)
{
    const uint8_t *p = a->source->bytes, *end = p + a->source->size;
    size_t valid = utf8_valid_prefix(p, a->source->size);
    struct jsontree_text line;
    uint64_t count = 0;

    if (valid < a->source->size) {
        a->status = status_set_at(a->err, LEAT_E_VOCABULARY, a->source->path, valid, "%s is not valid UTF-8 (byte %zu)",
                                  a->source->path, valid);
        return;
    }
    while (next_line(&p, end, &line))
        count++;
    make_map(a, count);
    p = a->source->bytes;
    for (uint32_t id = 0; a->status == LEAT_OK && next_line(&p, end, &line); id++) {
        trim(&line);
        note_token(a, line, id);
    }
}

static void read_pairs(struct assembling *a, const struct jsontree *j)
{
    uint64_t id;

    make_map(a, j->nodes[0].length);
    for (uint32_t k = 1; a->status == LEAT_OK && k < jsontree_next(j, 0); k = jsontree_next(j, k + 1)) {
        if (!jsontree_u64(j, k + 1, &id) || id > SPEC_MAX_ID)
            assemble_wrong(a, LEAT_E_VOCABULARY, j, k, "the id of a token must be a whole number up to 16777215");
        else
            note_token(a, jsontree_string(j, k), id);
    }
}

/* ---- The model of pieces ----------------------------------------------------------------------------------------- */

static void read_pieces(struct assembling *a)
{
    const struct load_source source = { .path = a->source->path, .bytes = a->source->bytes, .size = a->source->size };

    a->model = spec_new();
    if (!a->model)
        a->status = status_no_memory(a->err, sizeof *a->model);
    if (a->status == LEAT_OK)
        a->status = load_sentencepiece(a->model, &source, a->err);
    if (a->status != LEAT_OK)
        return;
    a->piece_room = a->model->token_count + ASSEMBLE_MAX_COUNT + NAMED_COUNT;
    a->pieces = malloc(a->piece_room * sizeof *a->pieces);
    if (!a->pieces || !string_map_init(&a->ids, a->piece_room))
        a->status = status_no_memory(a->err, a->piece_room * sizeof *a->pieces);
    else
        a->kind->vocabulary(a);
}

/* The last digits of a number with so many digits, changed by `step`, are read as `score`. */
static bool is_read_as(char *text, size_t room, double score, int digits, int step)
{
    char plain[40];
    double again;
    uint64_t all;
    int exponent;

    snprintf(plain, sizeof plain, "%.*e", digits - 1, score < 0 ? -score : score);
    exponent = (int)strtol(strchr(plain, 'e') + 1, NULL, 10) - (digits - 1);
    memmove(plain + 1, plain + 2, strlen(plain + 1)); /* the point */
    all = strtoull(plain, NULL, 10) + (uint64_t)(int64_t)step;
    snprintf(text, room, "%s%" PRIu64 "e%d", score < 0 ? "-" : "", all, exponent);
    return json_number((const uint8_t *)text, (uint32_t)strlen(text), &again) && again == score;
}

/* Writes a score so that it is read as this double. The reference does not read numbers to the nearest one, so there
 * are doubles, one in a hundred between 3.6 and 4, that no text is read as: false. */
static bool write_score(double score, char text[40])
{
    bool good = score == 0;

    snprintf(text, 40, "0");
    for (int digits = 9; !good && digits <= 19; digits++)
        for (int step = 0; !good && step < (digits < 17 ? 1 : 200); step++)
            good = is_read_as(text, 40, score, digits, step & 1 ? step / 2 + 1 : -(step / 2));
    return good;
}

static bool can_write_scores(const struct assembling *a)
{
    char text[40];
    uint32_t i = 0;

    while (i < a->piece_count && write_score(a->pieces[i].score, text))
        i++;
    return i == a->piece_count;
}

static void put_score(struct assembling *a, double score, bool as_bits)
{
    uint64_t bits;
    char text[40];

    memcpy(&bits, &score, sizeof bits);
    if (as_bits)
        snprintf(text, sizeof text, "%" PRIu64, bits);
    else
        write_score(score, text);
    assemble_put(a, text);
}

static void put_pieces(struct assembling *a)
{
    bool as_bits = !can_write_scores(a);

    assemble_put(a, ",\"model\":{\"type\":\"Unigram\",\"byte_fallback\":false,\"unk_id\":");
    assemble_put_id(a, a->unknown);
    assemble_put(a, as_bits ? ",\"" LOAD_HF_SCORE_BITS "\":true,\"vocab\":[" : ",\"vocab\":[");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->piece_count; i++) {
        assemble_put(a, i ? ",[" : "[");
        assemble_put_string(a, a->pieces[i].text);
        assemble_put(a, ",");
        put_score(a, a->pieces[i].score, as_bits);
        assemble_put(a, "]");
    }
    assemble_put(a, "]}}");
}

/* ---- Added tokens ------------------------------------------------------------------------------------------------ */

/*
 * The added tokens that transformers 5.23.0 makes of tokenizer_config.json, special_tokens_map.json and
 * added_tokens.json (tokenization_utils_base.py, tokenization_utils_tokenizers.py):
 *
 * First those that files list: "added_tokens_decoder" of the configuration, by their ids; without it,
 * added_tokens.json. Then the tokens with a name (bos_token, ...), then "extra_special_tokens". Each gets the id that
 * its text has in the vocabulary, else the next free one, whatever id a file gives it. special_tokens_map.json counts
 * before the configuration, but only without "added_tokens_decoder".
 */

static const char *const names[NAMED_COUNT] = { "bos_token", "eos_token", "unk_token", "sep_token",
                                                "pad_token", "cls_token", "mask_token" };

static void flag(struct assembling *a, const struct jsontree *j, uint32_t object, const char *name, bool *value)
{
    uint32_t node = jsontree_member(j, object, name);
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_NULL : j->nodes[node].kind;

    if (kind == JSONTREE_TRUE || kind == JSONTREE_FALSE)
        *value = kind == JSONTREE_TRUE;
    else if (kind != JSONTREE_NULL)
        assemble_wrong(a, LEAT_E_VOCABULARY, j, node, "a flag of a token is neither true nor false");
}

/* A token as text or as an object; `special`: what it is if it does not say. */
static struct assemble_token token_of(struct assembling *a, const struct jsontree *j, uint32_t node, bool special)
{
    struct assemble_token t = { .special = special, .given = true };
    uint32_t content = j->nodes[node].kind == JSONTREE_OBJECT ? jsontree_member(j, node, "content") : node;

    if (content == JSONTREE_NONE || j->nodes[content].kind != JSONTREE_STRING) {
        assemble_wrong(a, LEAT_E_VOCABULARY, j, node, "a token is neither a string nor an object with \"content\"");
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
static bool same_flags(const struct assemble_token *a, const struct assemble_token *b)
{
    return a->single_word == b->single_word && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
           a->normalized == (b->undecided ? !b->special : b->normalized) && a->special == b->special;
}

/* Adds a token of a list; one that was given twice is there twice, and the later flags count. */
static void add(struct assembling *a, struct assemble_token t)
{
    uint32_t entry, known;
    bool found;

    if (a->status != LEAT_OK || t.text.length == 0)
        return;
    t.normalized = t.undecided ? !t.special : t.normalized;
    entry =
        string_map_find(&a->ids, string_map_hash(&a->ids, t.text.bytes, t.text.length), t.text.bytes, t.text.length);
    known = string_map_add(&a->texts, string_map_hash(&a->texts, t.text.bytes, t.text.length), t.text.bytes,
                           t.text.length, &found);
    t.before = found ? a->texts.entries[known].value : JSONTREE_NONE;
    if (found)
        t.id = a->tokens[t.before].id;
    else
        t.id = entry != STRING_MAP_NONE ? a->ids.entries[entry].value : a->next_id++;
    a->texts.entries[known].value = a->token_count;
    a->tokens[a->token_count++] = t;
}

/* Adds a special token, unless a list has its text, or the same token had another name already. */
static void add_new(struct assembling *a, struct assemble_token t)
{
    uint32_t known = string_map_find(&a->texts, string_map_hash(&a->texts, t.text.bytes, t.text.length), t.text.bytes,
                                     t.text.length);
    uint32_t i = known == STRING_MAP_NONE ? JSONTREE_NONE : a->texts.entries[known].value;

    if (a->again) {
        add(a, (struct assemble_token) { .text = t.text, .special = true });
        return;
    }
    for (; i != JSONTREE_NONE; i = a->tokens[i].before)
        if (i < a->listed || same_flags(&a->tokens[i], &t))
            return;
    add(a, t);
}

/* ---- Tokens with a name ------------------------------------------------------------------------------------------ */

static const struct jsontree *map_of(const struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    bool listed = config && jsontree_member(config, 0, "added_tokens_decoder") != JSONTREE_NONE;

    return listed ? NULL : a->source->map;
}

/* Fills `named`. */
static void assemble_names(struct assembling *a)
{
    const struct jsontree *trees[] = { map_of(a), a->source->config };

    for (unsigned n = 0; n < NAMED_COUNT; n++) {
        if (a->kind->named[n])
            a->named[n] = (struct assemble_token) { .text = assemble_text_of(a->kind->named[n]),
                                                    .special = true,
                                                    .lstrip = n == NAMED_MASK && a->kind->strips_before_mask,
                                                    .normalized = n == NAMED_MASK && a->kind->normalized_mask };
        for (unsigned k = 0; k < 2; k++) {
            uint32_t node = trees[k] ? jsontree_member(trees[k], 0, names[n]) : JSONTREE_NONE;

            if (node == JSONTREE_NONE)
                continue;
            a->named[n] = (struct assemble_token) { 0 };
            if (trees[k]->nodes[node].kind != JSONTREE_NULL)
                a->named[n] = token_of(a, trees[k], node, trees[k] == a->source->map);
            if (n == NAMED_MASK && trees[k]->nodes[node].kind == JSONTREE_STRING) {
                a->named[n].lstrip = a->kind->strips_before_mask;
                a->named[n].normalized = a->kind->normalized_mask;
            }
            break;
        }
    }
}

static bool is_named(const struct assembling *a, struct jsontree_text text, bool given)
{
    for (unsigned n = 0; n < NAMED_COUNT; n++)
        if (a->named[n].text.bytes && (a->named[n].given || !given) && assemble_same(a->named[n].text, text))
            return true;
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
        struct assemble_token t;

        if (!is_own_name(j, k) || (kind != JSONTREE_STRING && kind != JSONTREE_OBJECT))
            continue;
        if (kind == JSONTREE_OBJECT && j == a->source->config)
            assemble_wrong(a, LEAT_E_UNSUPPORTED, j, k, "a token of another name, as an object, is not supported");
        t = token_of(a, j, k + 1, true);
        add_new(a, t);
    }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* A list of extra special tokens, or JSONTREE_NONE. */
static uint32_t find_list(struct assembling *a, const struct jsontree *j, const char *key)
{
    uint32_t node = j ? jsontree_member(j, 0, key) : JSONTREE_NONE;

    if (node == JSONTREE_NONE || j->nodes[node].kind == JSONTREE_NULL || j->nodes[node].length == 0)
        return JSONTREE_NONE;
    if (j->nodes[node].kind != JSONTREE_ARRAY)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, j, node, "extra special tokens that are not a list are not supported");
    return node;
}

/* Reads the list with this name; false: no such list. `noted`: is_extra() knows its tokens. */
static bool read_extra(struct assembling *a, const struct jsontree *j, const char *key, bool noted)
{
    uint32_t list = find_list(a, j, key);
    bool found;

    for (uint32_t k = list + 1; list != JSONTREE_NONE && a->status == LEAT_OK && k < jsontree_next(j, list);
         k = jsontree_next(j, k)) {
        struct assemble_token t = token_of(a, j, k, j == a->source->map);

        a->extra[a->extra_count++] = t;
        if (noted && a->status == LEAT_OK)
            string_map_add(&a->extra_texts, string_map_hash(&a->extra_texts, t.text.bytes, t.text.length), t.text.bytes,
                           t.text.length, &found);
    }
    return list != JSONTREE_NONE;
}

/* "extra_special_tokens", which the configuration and the map may have both, or its old name: in the configuration
 * where it has no new one, in the map where there is no other list, and the class makes none itself. */
static void read_extras(struct assembling *a)
{
    static const char new_name[] = "extra_special_tokens", old_name[] = "additional_special_tokens";
    bool found = read_extra(a, a->source->config, new_name, true) || read_extra(a, a->source->config, old_name, true);

    found |= read_extra(a, map_of(a), new_name, true);
    if (!found && !a->kind->extra)
        read_extra(a, map_of(a), old_name, false);
}

/* Whether the configuration mentions extra tokens, even an empty list. */
static bool lists_extra(const struct assembling *a)
{
    const struct jsontree *config = a->source->config;

    return config && (jsontree_member(config, 0, "extra_special_tokens") != JSONTREE_NONE ||
                      jsontree_member(config, 0, "additional_special_tokens") != JSONTREE_NONE);
}

void assemble_add_extra(struct assembling *a, struct jsontree_text text, bool special)
{
    a->extra[a->extra_count++] = (struct assemble_token) { .text = text, .special = special };
}

void assemble_add_reserved(struct assembling *a)
{
    const struct tokenizer_spec *m = a->model;

    for (uint32_t i = 0; i < m->token_count; i++)
        if (m->tokens[i].type == SPEC_CONTROL || m->tokens[i].type == SPEC_USER_DEFINED)
            assemble_add_extra(a, (struct jsontree_text) { spec_token_bytes(m, &m->tokens[i]), m->tokens[i].length },
                               m->tokens[i].type == SPEC_CONTROL);
}

static void add_extra(struct assembling *a)
{
    if (a->kind->extra && a->extra_count == 0 && !lists_extra(a))
        a->kind->extra(a);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->extra_count; i++)
        add_new(a, a->extra[i]);
}

/* Whether a list has it, but for one of the old name in the map. */
static bool is_extra(const struct assembling *a, struct jsontree_text t)
{
    return string_map_find(&a->extra_texts, string_map_hash(&a->extra_texts, t.bytes, t.length), t.bytes, t.length) !=
           STRING_MAP_NONE;
}

struct listed {
    uint64_t id;
    struct assemble_token token;
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
        bool special = is_named(a, t, true) || is_extra(a, t);

        to->token = (struct assemble_token) { .text = t, .special = special, .normalized = !special };
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
        assemble_wrong(a, LEAT_E_VOCABULARY, j, list, "the added tokens are not an object");
        return;
    }
    all = calloc((size_t)j->nodes[list].length + 1, sizeof *all);
    if (!all)
        a->status = status_no_memory(a->err, j->nodes[list].length * sizeof *all);
    for (uint32_t k = list + 1; a->status == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k + 1))
        if (!read_listed(a, j, k, decoder, &all[count++]))
            assemble_wrong(a, LEAT_E_VOCABULARY, j, k, "an added token is not a text with an id");
    if (count > 0)
        qsort(all, count, sizeof *all, by_id);
    for (uint32_t i = 0; i < count; i++) {
        all[i].token.special |= is_named(a, all[i].token.text, false);
        add(a, all[i].token);
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
    add_extra(a);
}

/* Each node of a file is a token once, or twice if the class adds them again; so may be each piece. */
static size_t most_tokens(const struct assembling *a)
{
    const struct assemble_source *s = a->source;

    return 2 * ((size_t)NAMED_COUNT + (s->config ? s->config->count : 0) + (s->map ? s->map->count : 0) +
                (s->added ? s->added->count : 0)) +
           a->piece_room;
}

/* Fills `tokens`. */
static void assemble_added(struct assembling *a)
{
    size_t most = most_tokens(a);

    a->tokens = calloc(most, sizeof *a->tokens);
    a->extra = calloc(most, sizeof *a->extra);
    if (!a->tokens || !a->extra || most > UINT32_MAX / 2 || !string_map_init(&a->texts, (uint32_t)most) ||
        !string_map_init(&a->extra_texts, (uint32_t)most)) {
        a->status = status_no_memory(a->err, most * sizeof *a->tokens);
        return;
    }
    read_extras(a);
    add_listed(a);
    a->listed = a->token_count;
    add_special(a);
    a->again = a->kind->adds_again;
    if (a->again)
        add_special(a);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_added(struct assembling *a)
{
    static const char *const flags[] = { "\"single_word\":", ",\"lstrip\":", ",\"rstrip\":", ",\"normalized\":",
                                         ",\"special\":" };

    assemble_put(a, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->token_count; i++) {
        const struct assemble_token *t = &a->tokens[i];
        const bool values[] = { t->single_word, t->lstrip, t->rstrip, t->normalized, t->special };

        assemble_put(a, i ? ",{\"id\":" : "{\"id\":");
        assemble_put_id(a, t->id);
        assemble_put(a, ",\"content\":");
        assemble_put_string(a, t->text);
        assemble_put(a, ",");
        for (unsigned k = 0; k < 5; k++) {
            assemble_put(a, flags[k]);
            assemble_put(a, values[k] ? "true" : "false");
        }
        assemble_put(a, "}");
    }
    assemble_put(a, "],");
}

static void put_words(struct assembling *a)
{
    assemble_put(a, ",\"model\":{\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\","
                    "\"max_input_chars_per_word\":100,\"unk_token\":");
    assemble_named_id(a, NAMED_UNK);
    assemble_put_string(a, a->named[NAMED_UNK].text);
    assemble_put(a, ",\"vocab\":{");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->ids.count; i++) {
        const struct string_map_entry *e = &a->ids.entries[i];

        assemble_put(a, i ? "," : "");
        assemble_put_string(a, (struct jsontree_text) { e->bytes, e->length });
        assemble_put(a, ":");
        assemble_put_id(a, e->value);
    }
    assemble_put(a, "}}}");
}

static void put_merges(struct assembling *a)
{
    const uint8_t *p = a->source->merges, *end = p + a->source->merges_size;
    struct jsontree_text line;
    const char *comma = "";

    assemble_put(a, ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"fuse_unk\":false,"
                    "\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"\",\"byte_fallback\":false,"
                    "\"ignore_merges\":false,\"vocab\":");
    put_bytes(a, a->source->bytes, a->source->size);
    assemble_put(a, ",\"merges\":[");
    while (a->status == LEAT_OK && next_line(&p, end, &line)) {
        if (line.length >= 8 && memcmp(line.bytes, "#version", 8) == 0)
            continue;
        assemble_put(a, comma);
        assemble_put_string(a, line);
        comma = ",";
    }
    assemble_put(a, "]}}");
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
        assemble_wrong(a, LEAT_E_VOCABULARY, j, 0, "a vocabulary must be an object of tokens and ids");
    if (a->status == LEAT_OK)
        read_pairs(a, j);
}

enum leat_status assemble(struct buffer *json, const struct assemble_source *source, struct leat_error *err)
{
    struct assembling a = { .source = source, .err = err, .json = json, .words = is_called(source->path, "vocab.txt") };
    struct jsontree j = { 0 };

    assemble_find_class(&a);
    if (a.status == LEAT_OK)
        assemble_names(&a);
    if (a.status == LEAT_OK && a.kind->vocabulary)
        read_pieces(&a);
    else if (a.status == LEAT_OK && a.words)
        read_words(&a);
    else if (a.status == LEAT_OK)
        read_level(&a, &j);
    a.next_id = a.pieces ? a.piece_count : a.ids.count;
    if (a.status == LEAT_OK)
        assemble_added(&a);
    if (a.status == LEAT_OK) {
        put_added(&a);
        a.kind->pipeline(&a);
        if (a.kind->merges)
            assemble_put_merges(&a);
        else
            a.pieces ? put_pieces(&a) : a.words ? put_words(&a) : put_merges(&a);
    }
    jsontree_free(&j);
    spec_free(a.model);
    free(a.pieces);
    string_map_free(&a.ids);
    string_map_free(&a.texts);
    string_map_free(&a.extra_texts);
    free(a.tokens);
    free(a.extra);
    return a.status;
}

enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err)
{
    const struct spec_string *pattern = &spec->pre_tokenizers[0].pattern.text;
    struct assembling a = { .err = err, .json = json };

    assemble_put(&a, "{\"pat_str\":");
    assemble_put_string(&a, (struct jsontree_text) { pattern->bytes, pattern->length });
    assemble_put(&a, spec->normalizer_count ? ",\"nfc\":true,\"special_tokens\":{" : ",\"special_tokens\":{");
    for (uint32_t i = 0; i < spec->added_count; i++) {
        const struct spec_added *added = &spec->added[i];

        assemble_put(&a, i ? "," : "");
        assemble_put_string(&a, (struct jsontree_text) { added->content.bytes, added->content.length });
        assemble_put(&a, ":");
        assemble_put_id(&a, added->id);
    }
    assemble_put(&a, "},\"mergeable_ranks\":");
    assemble_put_string(&a, (struct jsontree_text) { ranks, (uint32_t)size });
    assemble_put(&a, "}");
    return a.status;
}
