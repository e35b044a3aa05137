/* spec_open.c: finds the format of a file by its first bytes, loads it, and looks at the files beside it. */
#include "spec_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"
#include "builtin.h"
#include "load.h"
#include "whole_file.h"

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

static enum leat_status load_json(struct tokenizer_spec *spec, enum load_format *format,
                                  const struct load_source *source, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = jsontree_parse(&j, source->bytes, source->size, source->path, err);

    if (s == LEAT_E_VOCABULARY)
        status_after(err, "; it was read as a tokenizer");
    if (s != LEAT_OK)
        return s;
    if (jsontree_member(&j, 0, "config") != JSONTREE_NONE && jsontree_member(&j, 0, "vocab") != JSONTREE_NONE) {
        *format = LOAD_TEKKEN;
        s = load_tekken(spec, &j, err);
    } else if (jsontree_member(&j, 0, "mergeable_ranks") != JSONTREE_NONE) {
        *format = LOAD_ENCODING;
        s = load_encoding(spec, &j, err);
    } else if (jsontree_member(&j, 0, "model") != JSONTREE_NONE) {
        *format = LOAD_TOKENIZER_JSON;
        s = load_hf(spec, &j, err);
    } else {
        s = status_set_in(
            err, LEAT_E_VOCABULARY, source->path,
            "%s is JSON, but neither a tokenizer.json (it has no \"model\") nor a tekken.json (no \"config\" "
            "and \"vocab\")",
            source->path);
    }
    jsontree_free(&j);
    return s;
}

static enum leat_status load_into(struct tokenizer_spec *spec, enum load_format *format,
                                  const struct load_source *source, struct leat_error *err)
{
    const uint8_t *p = load_after_mark(source), *end = source->bytes + source->size;

    while (p < end && load_is_space(*p))
        p++;
    if (p < end && load_is_tiktoken(p, end)) {
        *format = LOAD_TIKTOKEN;
        return load_tiktoken(spec, source, err);
    }
    if (source->pattern)
        return status_field(
            err,
            status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN, source->path,
                            "a pattern applies only to *.tiktoken files, and %s is not one; leave out the pattern %s",
                            source->path, source->pattern),
            "pattern");
    for (p = source->bytes; p < end && load_is_space(*p);)
        p++;
    if (p < end && (*p == '{' || *p == '['))
        return load_json(spec, format, source, err);
    if (source->size > 0 && source->bytes[0] == 0x0a) { /* the first byte is that of field 1 of ModelProto, a
                                                           vocabulary entry */
        *format = LOAD_SENTENCEPIECE;
        return load_sentencepiece(spec, source, err);
    }
    return status_set_in(
        err, LEAT_E_VOCABULARY, source->path,
        "%s has an unknown format: expected tokenizer.json, tekken.json, *.tiktoken or a sentencepiece "
        "model%s",
        source->path, source->size == 0 ? "; the file is empty" : "");
}

enum leat_status load_spec(struct tokenizer_spec **out, enum load_format *format, const struct load_source *source,
                           struct leat_error *err)
{
    struct tokenizer_spec *spec = spec_new();
    enum leat_status s;

    *out = NULL;
    if (!spec)
        return status_no_memory(err, sizeof *spec);
    s = load_into(spec, format, source, err);
    if (s == LEAT_OK)
        *out = spec;
    else
        spec_free(spec);
    return s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void identify(struct opened_spec *o, const struct jsontree *config)
{
    fingerprint(o->print, o->spec);
    end_token_find(&o->end, o->spec, o->print, config);
}

static enum leat_status open_builtin(struct opened_spec *o, const char *pattern, struct leat_error *err)
{
    enum leat_status s;

    if (pattern)
        return status_field(err,
                            status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN, NULL,
                                            "the built-in %s has its own pattern; leave out the pattern %s",
                                            o->at.builtin, pattern),
                            "pattern");
    s = builtin_load(&o->spec, o->at.builtin, err);
    if (s == LEAT_OK)
        identify(o, NULL);
    return s;
}

/* Replaces the file's bytes by those made of several files, which a dataset stores. */
static void replace_bytes(struct located *at, struct buffer *json)
{
    if (at->plain != at->stored)
        free(at->plain);
    free(at->stored);
    at->stored = at->plain = json->bytes;
    at->stored_size = at->plain_size = json->size;
    *json = (struct buffer) { 0 };
}

/* Appends to a sentence how a tokenizer.json is made of the folder that a file lies in. */
static enum leat_status by_transformers(const struct located *at, enum leat_status s, struct leat_error *err)
{
    const char *slash = strrchr(at->path, '/');
    int length = slash ? (int)(slash - at->path) : 1;
    const char *folder = slash ? at->path : ".";

    status_after(err,
                 "; let transformers write a tokenizer.json: "
                 "AutoTokenizer.from_pretrained(\"%.*s\").save_pretrained(\"%.*s\")",
                 length, folder, length, folder);
    return s;
}

/* Makes an encoding, which a dataset can store, of a *.tiktoken whose special tokens only tokenizer_config.json has. */
static enum leat_status with_specials(struct opened_spec *o, struct load_source *source, struct leat_error *err)
{
    const uint8_t *ranks = load_after_mark(source);
    struct buffer json = { 0 };
    enum leat_status s =
        assemble_encoding(&json, o->spec, ranks, source->size - (uint64_t)(ranks - source->bytes), err);

    if (s == LEAT_OK) {
        replace_bytes(&o->at, &json);
        *source = (struct load_source) { .path = o->at.path, .bytes = o->at.plain, .size = o->at.plain_size };
        spec_free(o->spec);
        s = load_spec(&o->spec, &o->format, source, err);
    }
    buffer_free(&json);
    return s;
}

/* ---- Classes of transformers ------------------------------------------------------------------------------------- */

/* Reads a member that names a class or a type of models, without Fast, between spaces; "" if there is no such
 * member. */
static void read_name(const struct jsontree *j, const char *key, char name[80])
{
    uint32_t node = j->nodes ? jsontree_member(j, 0, key) : JSONTREE_NONE;
    struct jsontree_text t;

    name[0] = '\0';
    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_STRING)
        return;
    t = jsontree_string(j, node);
    if (t.length > 4 && memcmp(t.bytes + t.length - 4, "Fast", 4) == 0)
        t.length -= 4;
    snprintf(name, 80, " %.*s ", (int)(t.length < 76 ? t.length : 76), (const char *)t.bytes);
}

/* Finds the tokenizer's class. The tokenizer's configuration names it; if not, the model's configuration names its
 * class or the model's type. */
static void class_name(const struct jsontree trees[BESIDES], char name[80])
{
    read_name(&trees[BESIDE_CONFIG], "tokenizer_class", name);
    if (!name[0])
        read_name(&trees[BESIDE_MODEL], "tokenizer_class", name);
    if (!name[0])
        read_name(&trees[BESIDE_MODEL], "model_type", name);
}

static bool is_in(const char *name, const char *names)
{
    return name[0] && !strchr(name + 1, ' ')[1] && strstr(names, name);
}

/* Makes a tokenizer.json of vocab.json and merges.txt: GPT2Tokenizer's, if no file beside them names a class. A
 * dataset stores the file that is made. */
static enum leat_status assemble_parts(struct located *at, const struct jsontree trees[BESIDES], struct leat_error *err)
{
    const struct jsontree *config = &trees[BESIDE_CONFIG], *map = &trees[BESIDE_MAP], *added = &trees[BESIDE_ADDED];
    struct buffer json = { 0 };
    enum leat_status s;
    char name[80];

    class_name(trees, name);
    if (name[0] && !is_in(name, " GPT2Tokenizer gpt2 gpt_neo gptj Qwen2Tokenizer qwen2 qwen2_moe qwen3 qwen3_moe "))
        return by_transformers(at,
                               status_set_in(err, LEAT_E_UNSUPPORTED, at->path,
                                             "%s: the files of the tokenizer%.*s are not supported", at->path,
                                             (int)strlen(name) - 1, name),
                               err);
    s = assemble(&json,
                 &(struct assemble_source) {
                     .path = at->path,
                     .bytes = at->plain,
                     .size = at->plain_size,
                     .merges = at->beside[BESIDE_MERGES].bytes,
                     .merges_size = at->beside[BESIDE_MERGES].size,
                     .config = config->nodes ? config : NULL,
                     .map = map->nodes ? map : NULL,
                     .added = added->nodes ? added : NULL,
                     .qwen2 = is_in(name, " Qwen2Tokenizer qwen2 qwen2_moe qwen3 qwen3_moe "),
                 },
                 err);
    if (s == LEAT_OK) {
        replace_bytes(at, &json);
        at->name = "tokenizer.json";
    }
    buffer_free(&json);
    return s;
}

/* Classes that encode texts with other ids than the sentencepiece model that they convert. */
static const struct {
    const char *names; /* the class, and the types of models that name the class by themselves, each between spaces */
    const char *types; /* the types of models beside which the class may be named; NULL for any type */
    bool slow;         /* true if it has no tokenizer.json */
} other_ids[] = {
    { " LlamaTokenizer ", " llama ", false },
    { " GemmaTokenizer gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 ",
      " gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 ", false },
    { " T5Tokenizer t5 mt5 switch_transformers ", " t5 mt5 switch_transformers ", false },
    { " AlbertTokenizer albert ", " albert ", false },
    { " DebertaV2Tokenizer deberta-v2 ", " deberta-v2 ", false },
    { " XLMRobertaTokenizer xlm-roberta ", NULL, false },
    { " CamembertTokenizer camembert ", NULL, false },
    { " MBartTokenizer mbart ", NULL, false },
    { " MBart50Tokenizer mbart50 ", NULL, false },
    { " NllbTokenizer nllb-moe ", NULL, false },
    { " XGLMTokenizer xglm ", NULL, false },
    { " BarthezTokenizer barthez ", NULL, false },
    { " PegasusTokenizer pegasus ", NULL, false },
    { " SeamlessM4TTokenizer seamless_m4t seamless_m4t_v2 ", NULL, false },
    { " MLukeTokenizer mluke ", NULL, false },
    { " LayoutXLMTokenizer layoutxlm ", NULL, false },
    { " PLBartTokenizer plbart ", NULL, true },
    { " BartphoTokenizer bartpho ", NULL, true },
    { " M2M100Tokenizer m2m_100 ", NULL, true },
    { " Speech2TextTokenizer speech_to_text ", NULL, true },
    { " ErnieMTokenizer ernie_m ", NULL, true },
    { " XLMProphetNetTokenizer xlm-prophetnet ", NULL, true },
};

static enum leat_status check_ids(const struct opened_spec *o, const struct jsontree trees[BESIDES],
                                  struct leat_error *err)
{
    char name[80], type[80];

    class_name(trees, name);
    read_name(&trees[BESIDE_MODEL], "model_type", type);
    for (size_t i = 0; i < sizeof other_ids / sizeof other_ids[0]; i++) {
        enum leat_status s;

        if (!is_in(name, other_ids[i].names) || (type[0] && other_ids[i].types && !is_in(type, other_ids[i].types)))
            continue;
        s = status_set_in(err, LEAT_E_UNSUPPORTED, o->at.path,
                          "%s: the ids of a %.*s are not those of its sentencepiece model; name the file itself for "
                          "sentencepiece's ids",
                          o->at.path, (int)strcspn(other_ids[i].names + 1, " "), other_ids[i].names + 1);
        if (!other_ids[i].slow)
            return by_transformers(&o->at, s, err);
        status_after(err, "; its class has no tokenizer.json: encode with transformers and pack the ids");
        return s;
    }
    return LEAT_OK;
}

/* Returns the file that names the tokens with special roles, as transformers has it: special_tokens_map.json, but
 * not beside a configuration that lists all added tokens. */
static const struct jsontree *naming(const struct jsontree trees[BESIDES])
{
    const struct jsontree *config = &trees[BESIDE_CONFIG], *map = &trees[BESIDE_MAP];
    bool listed = config->nodes && jsontree_member(config, 0, "added_tokens_decoder") != JSONTREE_NONE;

    if (map->nodes && !listed && jsontree_member(map, 0, "eos_token") != JSONTREE_NONE)
        return map;
    return config->nodes ? config : NULL;
}

/* Checks a token that transformers adds to a sentencepiece model: the model must have it, under that id if one is
 * given. `content` is the token, or an object that has it. */
static enum leat_status check_piece(const struct opened_spec *o, const struct jsontree *j, uint32_t content, bool any,
                                    uint64_t id, struct leat_error *err)
{
    struct jsontree_text t;
    uint32_t found;

    if (j->nodes[content].kind == JSONTREE_OBJECT)
        content = jsontree_member(j, content, "content");
    if (content == JSONTREE_NONE || j->nodes[content].kind != JSONTREE_STRING)
        return status_set_at(err, LEAT_E_VOCABULARY, j->path, 0,
                             "%s: an added token is neither a string nor an object with "
                             "\"content\"",
                             j->path);
    t = jsontree_string(j, content);
    found = spec_find_text(o->spec, t.bytes, t.length);
    if (found != SPEC_NONE && (any || found == id))
        return LEAT_OK;
    return by_transformers(
        &o->at,
        status_set_in(err, LEAT_E_UNSUPPORTED, j->path,
                      "%s adds the token %.*s, which %s %s; name the file itself for sentencepiece's ids", j->path,
                      (int)(t.length < 100 ? t.length : 100), (const char *)t.bytes, o->at.path,
                      found == SPEC_NONE ? "lacks" : "has with another id"),
        err);
}

/* Checks the tokens of an object from ids to tokens ("added_tokens_decoder"), or from tokens to ids
 * (added_tokens.json). */
static enum leat_status check_object(const struct opened_spec *o, const struct jsontree *j, uint32_t node, bool by_id,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (j->nodes[node].kind != JSONTREE_OBJECT)
        return status_set_at(err, LEAT_E_VOCABULARY, j->path, 0, "%s: added tokens must be an object", j->path);
    for (uint32_t k = node + 1; s == LEAT_OK && k < jsontree_next(j, node); k = jsontree_next(j, k + 1)) {
        struct jsontree_text key = jsontree_string(j, k);
        uint64_t id = 0;
        char number[24];

        if (by_id) {
            snprintf(number, sizeof number, "%.*s", key.length < 20 ? (int)key.length : 20, (const char *)key.bytes);
            id = strtoull(number, NULL, 10);
        } else if (!jsontree_u64(j, k + 1, &id)) {
            return status_set_at(err, LEAT_E_VOCABULARY, j->path, jsontree_at(j, k + 1),
                                 "%s: an id must be a whole number", j->path);
        }
        s = check_piece(o, j, by_id ? k + 1 : k, false, id, err);
    }
    return s;
}

/* Refuses tokens that a folder adds to its sentencepiece model and the model lacks, since leat would not encode
 * them. */
static enum leat_status check_added(const struct opened_spec *o, const struct jsontree trees[BESIDES],
                                    struct leat_error *err)
{
    static const char *const lists[] = { "additional_special_tokens", "extra_special_tokens" };
    const struct jsontree *config = &trees[BESIDE_CONFIG], *added = &trees[BESIDE_ADDED];
    uint32_t node = config->nodes ? jsontree_member(config, 0, "added_tokens_decoder") : JSONTREE_NONE;
    enum leat_status s = LEAT_OK;

    if (node != JSONTREE_NONE)
        s = check_object(o, config, node, true, err);
    else if (added->nodes)
        s = check_object(o, added, 0, false, err);
    for (unsigned i = 0; config->nodes && i < 2; i++) {
        node = jsontree_member(config, 0, lists[i]);
        if (node == JSONTREE_NONE || config->nodes[node].kind != JSONTREE_ARRAY)
            continue;
        for (uint32_t k = node + 1; s == LEAT_OK && k < jsontree_next(config, node); k = jsontree_next(config, k))
            s = check_piece(o, config, k, true, 0, err);
    }
    return s;
}

static enum leat_status open_trees(struct opened_spec *o, const struct jsontree trees[BESIDES], const char *pattern,
                                   struct leat_error *err)
{
    const struct jsontree *config = trees[BESIDE_CONFIG].nodes ? &trees[BESIDE_CONFIG] : NULL;
    enum leat_status s = LEAT_OK;
    struct load_source source;

    if (located_is(&o->at, "vocab.json") && !pattern)
        s = assemble_parts(&o->at, trees, err);
    source = (struct load_source) {
        .path = o->at.path, .bytes = o->at.plain, .size = o->at.plain_size, .pattern = pattern, .config = config
    };
    if (s == LEAT_OK)
        s = load_spec(&o->spec, &o->format, &source, err);
    if (s == LEAT_OK && o->format == LOAD_TIKTOKEN && load_specials_of(config) != JSONTREE_NONE)
        s = with_specials(o, &source, err);
    if (s == LEAT_OK && o->format == LOAD_SENTENCEPIECE && o->at.by_folder)
        s = check_ids(o, trees, err);
    if (s == LEAT_OK && o->format == LOAD_SENTENCEPIECE && o->at.by_folder)
        s = check_added(o, trees, err);
    if (s == LEAT_OK)
        identify(o, naming(trees));
    return s;
}

static enum leat_status open_file(struct opened_spec *o, const char *pattern, struct leat_error *err)
{
    struct jsontree trees[BESIDES] = { 0 };
    enum leat_status s = LEAT_OK;

    if (located_is(&o->at, "vocab.txt") && !pattern)
        return by_transformers(
            &o->at,
            status_set_in(err, LEAT_E_UNSUPPORTED, o->at.path, "%s alone does not say how text is encoded", o->at.path),
            err);
    for (unsigned i = 0; s == LEAT_OK && i < BESIDE_MERGES; i++)
        if (o->at.beside[i].path)
            s = jsontree_parse(&trees[i], o->at.beside[i].bytes, o->at.beside[i].size, o->at.beside[i].path, err);
    if (s == LEAT_OK)
        s = open_trees(o, trees, pattern, err);
    for (unsigned i = 0; i < BESIDE_MERGES; i++)
        jsontree_free(&trees[i]);
    return s;
}

enum leat_status spec_open(struct opened_spec *out, const char *name, const char *pattern, struct leat_error *err)
{
    return spec_open_stoppable(out, name, pattern, NULL, err);
}

enum leat_status spec_open_stoppable(struct opened_spec *out, const char *name, const char *pattern,
                                     const struct locate_stop *stop, struct leat_error *err)
{
    enum leat_status s;

    *out = (struct opened_spec) { 0 };
    s = locate(&out->at, name, stop, err);
    if (s == LEAT_OK)
        s = out->at.builtin ? open_builtin(out, pattern, err) : open_file(out, pattern, err);
    if (s != LEAT_OK)
        spec_close(out);
    return s;
}

enum leat_status spec_open_stored(struct opened_spec *out, const uint8_t *bytes, uint64_t size, const char *path,
                                  const char *pattern, struct leat_error *err)
{
    struct load_source source = { .path = path, .bytes = bytes, .size = size, .pattern = pattern };
    uint8_t *plain = NULL;
    enum leat_status s = LEAT_OK;

    *out = (struct opened_spec) { 0 };
    if (whole_file_is_zstd(bytes, size)) {
        s = whole_file_unzstd(&plain, &source.size, bytes, size, path, err);
        source.bytes = plain;
    }
    if (s == LEAT_OK)
        s = load_spec(&out->spec, &out->format, &source, err);
    if (s == LEAT_OK)
        identify(out, NULL);
    free(plain);
    if (s != LEAT_OK)
        spec_close(out);
    return s;
}

void spec_close(struct opened_spec *o)
{
    spec_free(o->spec);
    located_free(&o->at);
    *o = (struct opened_spec) { 0 };
}
