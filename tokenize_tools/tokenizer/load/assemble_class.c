/*
 * assemble_class.c: the classes of transformers 5.23.0 whose files assemble.c puts together: a row for each, with its
 * names, its tokens and the stations of its pipeline. A class whose tokenizer is that of another stands in its row.
 */
#include <stdio.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"

/* "NAME": and an option of tokenizer_config.json: true, false, or null where the class takes it. */
static void put_option(struct assembling *a, const char *name, const char *option, const char *otherwise, bool null)
{
    static const char *const words[] = { "null", "false", "true" };
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_NULL : config->nodes[node].kind;

    if (node != JSONTREE_NONE && (kind > JSONTREE_TRUE || (kind == JSONTREE_NULL && !null)))
        assemble_wrong(a, LEAT_E_VOCABULARY, config, node, "an option of the tokenizer must be true or false");
    assemble_put(a, name);
    assemble_put(a, kind == JSONTREE_NULL ? otherwise : kind <= JSONTREE_TRUE ? words[kind] : "");
}

/* The id of a token; the class puts it around texts, so it must be there. */
static uint32_t id_around(struct assembling *a, struct jsontree_text t)
{
    uint32_t place = t.bytes
                         ? string_map_find(&a->texts, string_map_hash(&a->texts, t.bytes, t.length), t.bytes, t.length)
                         : STRING_MAP_NONE;

    if (place != STRING_MAP_NONE)
        return a->tokens[a->texts.entries[place].value].id;
    if (t.bytes)
        place = string_map_find(&a->ids, string_map_hash(&a->ids, t.bytes, t.length), t.bytes, t.length);
    if (place != STRING_MAP_NONE)
        return a->ids.entries[place].value;
    if (a->kind->unknown_around)
        return a->unknown;
    if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: tokenizer_config.json removes a token that stands around texts, which is not "
                               "supported",
                               a->source->path);
    return 0;
}

uint32_t assemble_named_id(struct assembling *a, enum assemble_named n)
{
    return id_around(a, a->named[n].text);
}

void assemble_put_around(struct assembling *a, const struct jsontree_text around[3])
{
    const char *comma = "";

    assemble_put(a, "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[");
    for (unsigned i = 0; i < 3; i++) {
        if (i == 1)
            assemble_put(a, "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}");
        if (!around[i].bytes)
            continue;
        assemble_put(a, i > 0 ? ",{\"SpecialToken\":{\"id\":" : "{\"SpecialToken\":{\"id\":");
        assemble_put_string(a, around[i]);
        assemble_put(a, i > 0 ? ",\"type_id\":0}}" : ",\"type_id\":0}},");
    }
    assemble_put(a, "],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1"
                    "}}],\"special_tokens\":{");
    for (unsigned i = 0; i < 3; i++) {
        if (!around[i].bytes)
            continue;
        assemble_put(a, comma);
        assemble_put_string(a, around[i]);
        assemble_put(a, ":{\"id\":");
        assemble_put_string(a, around[i]);
        assemble_put(a, ",\"ids\":[");
        assemble_put_id(a, id_around(a, around[i]));
        assemble_put(a, "],\"tokens\":[");
        assemble_put_string(a, around[i]);
        assemble_put(a, "]}");
        comma = ",";
    }
    assemble_put(a, "}}");
}

void assemble_put_template(struct assembling *a, enum assemble_named before, enum assemble_named after)
{
    struct jsontree_text around[3] = { { NULL, 0 } };

    if (before != NAMED_COUNT)
        around[0] = a->named[before].text;
    if (after != NAMED_COUNT)
        around[1] = a->named[after].text;
    assemble_put_around(a, around);
}

struct jsontree_text assemble_option(struct assembling *a, const char *option, const char *otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;

    if (node == JSONTREE_NONE || config->nodes[node].kind == JSONTREE_NULL)
        return (struct jsontree_text) { (const uint8_t *)otherwise, (uint32_t)strlen(otherwise) };
    if (config->nodes[node].kind != JSONTREE_STRING)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, config, node,
                       "an option that names a token, and is not a string, is not supported");
    return jsontree_string(config, node);
}

static void bert(struct assembling *a)
{
    put_option(a, "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":",
               "tokenize_chinese_chars", "true", false);
    put_option(a, ",\"strip_accents\":", "strip_accents", "null", true);
    put_option(a, ",\"lowercase\":", "do_lower_case", "true", false);
    assemble_put(a, "},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},");
    assemble_put_template(a, NAMED_CLS, NAMED_SEP);
}

#define DECODER                                                                                                        \
    "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"

bool assemble_flag(struct assembling *a, const char *option, bool otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;

    if (node == JSONTREE_NONE)
        return otherwise;
    if (config->nodes[node].kind > JSONTREE_TRUE)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, config, node,
                       "an option of the tokenizer other than true, false or null is not supported");
    return config->nodes[node].kind == JSONTREE_TRUE;
}

enum assemble_named assemble_if_asked(struct assembling *a, const char *option, enum assemble_named n)
{
    return assemble_flag(a, option, false) ? n : NAMED_COUNT;
}

static void gpt2(struct assembling *a)
{
    put_option(a, "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":", "add_prefix_space", "false",
               false);
    assemble_put(a, ",\"trim_offsets\":true,\"use_regex\":true}," DECODER);
    assemble_put_template(a, assemble_if_asked(a, "add_bos_token", NAMED_BOS),
                          assemble_if_asked(a, "add_eos_token", NAMED_EOS));
}

/* [TEXT, ID] */
static void put_pair(struct assembling *a, enum assemble_named n)
{
    assemble_put(a, "[");
    assemble_put_string(a, a->named[n].text);
    assemble_put(a, ",");
    assemble_put_id(a, assemble_named_id(a, n));
    assemble_put(a, "]");
}

/* The post-processor changes offsets, too: no white space belongs to a token. */
static void roberta(struct assembling *a)
{
    put_option(a, "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":", "add_prefix_space", "false",
               false);
    assemble_put(a, ",\"trim_offsets\":true,\"use_regex\":true}," DECODER
                    "\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":");
    put_pair(a, NAMED_SEP);
    assemble_put(a, ",\"cls\":");
    put_pair(a, NAMED_CLS);
    put_option(a, ",\"trim_offsets\":", "trim_offsets", "true", false);
    put_option(a, ",\"add_prefix_space\":", "add_prefix_space", "false", false);
    assemble_put(a, "}");
}

static void qwen2(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"
                    "\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
                    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"
                    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false},"
                    "{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"use_regex\":false");
    put_option(a, ",\"add_prefix_space\":", "add_prefix_space", "false", true);
    assemble_put(a, "}]}," DECODER);
    assemble_put_template(a, assemble_if_asked(a, "add_bos_token", NAMED_BOS),
                          assemble_if_asked(a, "add_eos_token", NAMED_EOS));
}

#define END "<|endoftext|>"

static const struct assemble_class classes[] = {
    { .names = " BertTokenizer DistilBertTokenizer ElectraTokenizer MobileBertTokenizer SqueezeBertTokenizer "
               "ConvBertTokenizer LayoutLMTokenizer LxmertTokenizer bert distilbert electra mobilebert squeezebert "
               "convbert layoutlm lxmert ",
      .words = true,
      .named = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
      .pipeline = bert },
    { .names = " GPT2Tokenizer gpt2 gpt_neo gptj ", .named = { END, END, END }, .pipeline = gpt2 },
    { .names = " RobertaTokenizer BartTokenizer LongformerTokenizer LEDTokenizer MvpTokenizer roberta bart longformer ",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .pipeline = roberta },
    { .names = " Qwen2Tokenizer qwen2 qwen2_moe qwen3 qwen3_moe ",
      .named = { NULL, END, END, NULL, END },
      .adds_again = true,
      .pipeline = qwen2 },
};

/* A member that names a class or a type of models, without Fast, between spaces; "": there is none. */
static void read_name(const struct jsontree *tree, const char *key, char name[80])
{
    uint32_t node = tree ? jsontree_member(tree, 0, key) : JSONTREE_NONE;
    struct jsontree_text t;

    name[0] = '\0';
    if (node == JSONTREE_NONE || tree->nodes[node].kind != JSONTREE_STRING)
        return;
    t = jsontree_string(tree, node);
    if (t.length > 4 && memcmp(t.bytes + t.length - 4, "Fast", 4) == 0)
        t.length -= 4;
    snprintf(name, 80, " %.*s ", (int)(t.length < 76 ? t.length : 76), (const char *)t.bytes);
}

static bool is_in(const char *name, const char *names)
{
    return name[0] && !strchr(name + 1, ' ')[1] && strstr(names, name);
}

/* The class that converts a sentencepiece model: the one that is named, if it is the one of the model's type, too; of
 * other pairs transformers takes what this table does not have. */
static const struct assemble_class *converter(const struct assemble_source *s)
{
    const char *slash = strrchr(s->path, '/'), *file = slash ? slash + 1 : s->path;
    char name[80], type[80];

    read_name(s->config, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "tokenizer_class", name);
    read_name(s->model, "model_type", type);
    for (unsigned i = 0; i < 2; i++)
        for (const struct assemble_class *c = i ? assemble_merge_classes : assemble_piece_classes; c->names; c++)
            if (is_in(name[0] ? name : type, c->names) &&
                (!type[0] || is_in(type, c->names) || (c->beside && is_in(type, c->beside))) &&
                strncmp(file, c->file, strlen(c->file)) == 0)
                return c;
    return NULL;
}

bool assemble_converts(const struct assemble_source *source)
{
    return converter(source) != NULL;
}

/* The class that the configuration names, else the model's configuration: its class, its type of model. */
static void class_name(const struct assemble_source *s, char name[80])
{
    read_name(s->config, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "model_type", name);
}

void assemble_find_class(struct assembling *a)
{
    char name[80];

    a->kind = converter(a->source);
    class_name(a->source, name);
    for (size_t i = 0; !a->kind && i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].words == a->words && is_in(name, classes[i].names))
            a->kind = &classes[i];
    if (a->kind)
        return;
    a->status = status_set(
        a->err, LEAT_E_UNSUPPORTED,
        "%s alone does not say how text is encoded: %s%.*s%s. leat reads it for the classes BertTokenizer (vocab.txt), "
        "GPT2Tokenizer, RobertaTokenizer and Qwen2Tokenizer (vocab.json), if tokenizer_config.json beside it names one "
        "as \"tokenizer_class\"; for others, let transformers write a tokenizer.json: save_pretrained()",
        a->source->path, name[0] ? "the tokenizer " : "no file beside it names a tokenizer",
        name[0] ? (int)strlen(name) - 2 : 0, name + 1, name[0] ? " is not known" : "");
}
