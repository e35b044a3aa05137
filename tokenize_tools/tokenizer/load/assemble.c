/*
 * assemble.c: see assemble.h. The class (assemble_class.c) says which stations the pipeline has. The vocabulary is read
 * for the ids of the added tokens (assemble_added.c), then the file is written from top to bottom.
 */
#include "assemble.h"

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

/* ---- Writing ---- */

void assemble_wrong(struct assembling *a, enum leat_status status, const struct jsontree *j, uint32_t node,
                    const char *what)
{
    uint64_t at = jsontree_at(j, node);

    if (a->status == LEAT_OK)
        a->status = status_set_at(a->err, status, at, "%s: %s (byte %llu)", j->path, what, (unsigned long long)at);
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

/* ---- The vocabulary ---- */

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
        a->status = count > SPEC_MAX_ID ? status_set(a->err, LEAT_E_VOCABULARY, "%s has too many tokens: %llu",
                                                     a->source->path, (unsigned long long)count)
                                        : status_no_memory(a->err, count * 32);
}

static void note_token(struct assembling *a, struct jsontree_text t, uint64_t id)
{
    bool found;

    if (a->status == LEAT_OK)
        a->ids.entries[string_map_add(&a->ids, string_map_hash(&a->ids, t.bytes, t.length), t.bytes, t.length, &found)]
            .value = (uint32_t)id;
}

/* A token a line; its id is the line's number. Of a token given twice, the later line counts. */
static void read_words(struct assembling *a)
{
    const uint8_t *p = a->source->bytes, *end = p + a->source->size;
    size_t valid = utf8_valid_prefix(p, a->source->size);
    struct jsontree_text line;
    uint64_t count = 0;

    if (valid < a->source->size) {
        a->status =
            status_set_at(a->err, LEAT_E_VOCABULARY, valid, "%s is not valid UTF-8 (byte %zu)", a->source->path, valid);
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

/* ---- The model of pieces ---- */

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
    snprintf(text, room, "%s%llue%d", score < 0 ? "-" : "", (unsigned long long)all, exponent);
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
    unsigned long long bits;
    char text[40];

    memcpy(&bits, &score, sizeof bits);
    if (as_bits)
        snprintf(text, sizeof text, "%llu", bits);
    else
        write_score(score, text);
    assemble_put(a, text);
}

static void put_pieces(struct assembling *a)
{
    bool as_bits = !can_write_scores(a);

    assemble_put(a, ",\"model\":{\"type\":\"Unigram\",\"byte_fallback\":false,\"unk_id\":");
    assemble_put_id(a, a->unknown);
    assemble_put_extra(a);
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

/* ---- The file ---- */

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
        a->status = status_set(a->err, LEAT_E_NO_FILE, "%s needs the file merges.txt beside it", source->path);
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
