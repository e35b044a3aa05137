/*
 * load_tiktoken.c: reads *.tiktoken files, which have a line for each token: its bytes in base64, a space, and its
 * rank, which is its id.
 *
 * The pattern and the special tokens come from a table of the published vocabularies: the row that --pattern names,
 * else that of the file's name, else the row whose published file has these bytes. The row's special tokens belong to
 * the published vocabulary, so they are taken only if the file has as many ranks. A file that has the published name
 * and another number of ranks is refused, since it is cut off or another file; with --pattern it is taken as a user's
 * own vocabulary, without special tokens.
 *
 * An encoding of a program's own (load_encoding()) brings all of this along.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/big.h"
#include "base/status.h"
#include "load.h"
#include "tokenizer/containers/string_map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- Published vocabularies -------------------------------------------------------------------------------------- */

/* A special token of a published vocabulary, or several with numbers in their names. */

struct tiktoken_special {
    const char *text; /* text of the token; with a %u, there is one token for each id from `id` to `last`, numbered
                         from `first` */
    uint32_t id, last, first;
};

struct tiktoken_name {
    const char *name;
    const char *file; /* name that the publisher gave the file, if that is not NAME.tiktoken */
    uint64_t print;   /* XXH3 of the published file, if many files have its name (tokenizer.model); 0: not given */
    const char *pattern;
    uint32_t ranks; /* tokens in the published file */
    bool nfc;       /* true if its reference normalizes the text before tiktoken sees it */
    const struct tiktoken_special *special;
    size_t special_count;
};

/* The rows of published vocabularies. OpenAI's are those of tiktoken 0.14.0 (tiktoken_ext/openai_public.py), letter
 * for letter; the others are those of their publishers' tokenizer code. */

#define GPT2 "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K                                                                                                         \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"      \
    "\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define O200K                                                                                                          \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                                   \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                                   \
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define LLAMA3                                                                                                         \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"           \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN                                                                                                           \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"                \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN3_5                                                                                                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"                                       \
    " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define KIMI                                                                                                           \
    "[\\p{Han}]+|"                                                                                                     \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*"                                         \
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                        \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+"                                         \
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                        \
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const struct tiktoken_special r50k_special[] = { { .text = "<|endoftext|>", .id = 50256 } };
static const struct tiktoken_special p50k_edit_special[] = {
    { .text = "<|endoftext|>", .id = 50256 },
    { .text = "<|fim_prefix|>", .id = 50281 },
    { .text = "<|fim_middle|>", .id = 50282 },
    { .text = "<|fim_suffix|>", .id = 50283 },
};
static const struct tiktoken_special cl100k_special[] = {
    { .text = "<|endoftext|>", .id = 100257 },   { .text = "<|fim_prefix|>", .id = 100258 },
    { .text = "<|fim_middle|>", .id = 100259 },  { .text = "<|fim_suffix|>", .id = 100260 },
    { .text = "<|endofprompt|>", .id = 100276 },
};
static const struct tiktoken_special o200k_special[] = {
    { .text = "<|endoftext|>", .id = 199999 },
    { .text = "<|endofprompt|>", .id = 200018 },
};
/* in the reference, the id 200018 has two texts, and both are found */
static const struct tiktoken_special harmony_special[] = {
    { .text = "<|startoftext|>", .id = 199998 },
    { .text = "<|endoftext|>", .id = 199999 },
    { .text = "<|reserved_%u|>", .id = 200000, .last = 200001, .first = 200000 },
    { .text = "<|return|>", .id = 200002 },
    { .text = "<|constrain|>", .id = 200003 },
    { .text = "<|reserved_200004|>", .id = 200004 },
    { .text = "<|channel|>", .id = 200005 },
    { .text = "<|start|>", .id = 200006 },
    { .text = "<|end|>", .id = 200007 },
    { .text = "<|message|>", .id = 200008 },
    { .text = "<|reserved_%u|>", .id = 200009, .last = 200011, .first = 200009 },
    { .text = "<|call|>", .id = 200012 },
    { .text = "<|reserved_%u|>", .id = 200013, .last = 201087, .first = 200013 },
    { .text = "<|endofprompt|>", .id = 200018 },
};
/* the two tokens on which Llama 3 and 3.1 agree; the others are in tokenizer_config.json */
static const struct tiktoken_special llama3_special[] = {
    { .text = "<|begin_of_text|>", .id = 128000 },
    { .text = "<|end_of_text|>", .id = 128001 },
};
/* the tokens before Llama 4's many tokens for chats, images and reasoning */
static const struct tiktoken_special llama4_special[] = {
    { .text = "<|begin_of_text|>", .id = 200000 }, { .text = "<|end_of_text|>", .id = 200001 },
    { .text = "<|fim_prefix|>", .id = 200002 },    { .text = "<|fim_middle|>", .id = 200003 },
    { .text = "<|fim_suffix|>", .id = 200004 },
};
static const struct tiktoken_special qwen_special[] = {
    { .text = "<|endoftext|>", .id = 151643 },
    { .text = "<|im_start|>", .id = 151644 },
    { .text = "<|im_end|>", .id = 151645 },
    { .text = "<|extra_%u|>", .id = 151646, .last = 151850, .first = 0 },
};
/* also Qwen 3.6 */
static const struct tiktoken_special qwen3_5_special[] = {
    { .text = "<|endoftext|>", .id = 248044 },
    { .text = "<|im_start|>", .id = 248045 },
    { .text = "<|im_end|>", .id = 248046 },
    { .text = "<|object_ref_start|>", .id = 248047 },
    { .text = "<|object_ref_end|>", .id = 248048 },
    { .text = "<|box_start|>", .id = 248049 },
    { .text = "<|box_end|>", .id = 248050 },
    { .text = "<|quad_start|>", .id = 248051 },
    { .text = "<|quad_end|>", .id = 248052 },
    { .text = "<|vision_start|>", .id = 248053 },
    { .text = "<|vision_end|>", .id = 248054 },
    { .text = "<|vision_pad|>", .id = 248055 },
    { .text = "<|image_pad|>", .id = 248056 },
    { .text = "<|video_pad|>", .id = 248057 },
    { .text = "<tool_call>", .id = 248058 },
    { .text = "</tool_call>", .id = 248059 },
    { .text = "<|fim_prefix|>", .id = 248060 },
    { .text = "<|fim_middle|>", .id = 248061 },
    { .text = "<|fim_suffix|>", .id = 248062 },
    { .text = "<|fim_pad|>", .id = 248063 },
    { .text = "<|repo_name|>", .id = 248064 },
    { .text = "<|file_sep|>", .id = 248065 },
    { .text = "<tool_response>", .id = 248066 },
    { .text = "</tool_response>", .id = 248067 },
    { .text = "<think>", .id = 248068 },
    { .text = "</think>", .id = 248069 },
    { .text = "<|audio_start|>", .id = 248070 },
    { .text = "<|audio_end|>", .id = 248071 },
    { .text = "<tts_pad>", .id = 248072 },
    { .text = "<tts_text_bos>", .id = 248073 },
    { .text = "<tts_text_eod>", .id = 248074 },
    { .text = "<tts_text_bos_single>", .id = 248075 },
    { .text = "<|audio_pad|>", .id = 248076 },
};

#define SPECIAL(list) .special = list, .special_count = sizeof list / sizeof list[0]

static const struct tiktoken_name names[] = {
    { .name = "gpt2", .pattern = GPT2, .ranks = 50256, SPECIAL(r50k_special) },
    { .name = "r50k_base", .pattern = GPT2, .ranks = 50256, SPECIAL(r50k_special) },
    { .name = "p50k_base", .pattern = GPT2, .ranks = 50280, SPECIAL(r50k_special) },
    { .name = "p50k_edit", .pattern = GPT2, .ranks = 50280, SPECIAL(p50k_edit_special) },
    { .name = "cl100k_base", .pattern = CL100K, .ranks = 100256, SPECIAL(cl100k_special) },
    { .name = "o200k_base", .pattern = O200K, .ranks = 199998, SPECIAL(o200k_special) },
    { .name = "o200k_harmony", .pattern = O200K, .ranks = 199998, SPECIAL(harmony_special) },
    { .name = "llama3",
      .print = UINT64_C(0xe7339703bb9e9d7b),
      .pattern = LLAMA3,
      .ranks = 128000,
      SPECIAL(llama3_special) },
    { .name = "llama4",
      .print = UINT64_C(0xd2fc82dae9636e64),
      .pattern = O200K,
      .ranks = 200000,
      SPECIAL(llama4_special) },
    { .name = "qwen", .pattern = QWEN, .ranks = 151643, .nfc = true, SPECIAL(qwen_special) },
    { .name = "qwen3_5",
      .file = "qwen3_6.tiktoken",
      .pattern = QWEN3_5,
      .ranks = 248044,
      .nfc = true,
      SPECIAL(qwen3_5_special) },
    { .name = "kimi", .file = "tiktoken.model", .pattern = KIMI, .ranks = 163584 },
};

#define NAMES (sizeof names / sizeof names[0])

/* Returns the row of a name, whatever its case, or NULL. */
static const struct tiktoken_name *tiktoken_name_find(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcasecmp(name, names[i].name) == 0)
            return &names[i];
    return NULL;
}

/* Cuts an ending off, whatever its case. */
static void cut(char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);

    if (length > tail && strcasecmp(text + length - tail, ending) == 0)
        text[length - tail] = '\0';
}

/* Finds the row for a file by its path: the name of the file without .zst, and without .tiktoken. NULL if no row
 * fits. */
static const struct tiktoken_name *tiktoken_name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char base[128];

    if (snprintf(base, sizeof base, "%s", slash ? slash + 1 : path) >= (int)sizeof base)
        return NULL;
    cut(base, ".zst");
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].file && strcasecmp(base, names[i].file) == 0)
            return &names[i];
    cut(base, ".tiktoken");
    return tiktoken_name_find(base);
}

/* Finds the row whose published file has these bytes. NULL if none has. */
static const struct tiktoken_name *tiktoken_name_of_bytes(const void *bytes, size_t size)
{
    uint64_t print = XXH3_64bits(bytes, size);

    for (size_t i = 0; i < NAMES; i++)
        if (names[i].print && names[i].print == print)
            return &names[i];
    return NULL;
}

/* Returns the names, separated by commas, for sentences. Constant memory. */
static const char *tiktoken_name_list(void)
{
    return "gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, "
           "llama4, qwen, qwen3_5, kimi";
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

struct reader {
    struct tokenizer_spec *spec;
    const struct load_source *source;
    struct leat_error *err;
    uint64_t line;
};

static enum leat_status wrong(struct reader *r, const uint8_t *at, const char *what)
{
    uint64_t offset = (uint64_t)(at - r->source->bytes);

    return status_set_at(r->err, LEAT_E_VOCABULARY, r->source->path, offset,
                         "%s, line %" PRIu64 ": %s (byte %" PRIu64 ")", r->source->path, r->line, what, offset);
}

const uint8_t *load_after_mark(const struct load_source *source)
{
    bool marked = source->size >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0;

    return source->bytes + (marked ? 3 : 0);
}

bool load_is_tiktoken(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *begin = p;

    while (p < end && ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '+' ||
                       *p == '/' || *p == '='))
        p++;
    if (p == begin || p == end || (*p != ' ' && *p != '\t'))
        return false;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    p += p < end && *p == '+';
    return p < end && *p >= '0' && *p <= '9';
}

static void add_token(struct tokenizer_spec *spec, uint64_t id, size_t bytes)
{
    spec->tokens[spec->token_count++] = (struct spec_token) {
        .id = (uint32_t)id, .offset = (uint32_t)spec->text_bytes, .length = (uint32_t)bytes, .type = SPEC_NORMAL
    };
    spec->text_bytes += bytes;
}

/* Returns the place for the next token's bytes. */
static uint8_t *room_for_token(const struct tokenizer_spec *spec)
{
    return (uint8_t *)(uintptr_t)spec->text + spec->text_bytes;
}

/* Reads a line, whose first character is not a space. */
static enum leat_status read_line(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *token, *rank;
    uint64_t id = 0;
    size_t bytes;

    for (token = p; p < end && !load_is_space(*p);)
        p++;
    if (!base64_decode(room_for_token(r->spec), &bytes, token, (size_t)(p - token)))
        return wrong(r, token, "the token is not base64");
    while (p < end && load_is_space(*p))
        p++;
    p += p < end && *p == '+'; /* Python's int() takes it */
    for (rank = p; p < end && *p >= '0' && *p <= '9' && id <= SPEC_MAX_ID; p++)
        id = id * 10 + (*p - '0');
    if (p == rank)
        return wrong(r, p, "missing rank after the token");
    if (id > SPEC_MAX_ID)
        return wrong(r, rank, "ranks above 16777215 are not supported");
    while (p < end && load_is_space(*p))
        p++;
    if (p != end)
        return wrong(r, p, "unexpected text after the rank");
    add_token(r->spec, id, bytes);
    return LEAT_OK;
}

/* Reads a line in the form of all published files: a token, a space, a rank, a newline. Returns the start of the
 * next line. If the line has another form, returns NULL, and changes nothing. */
static const uint8_t *read_plain_line(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    /* an empty line must not be searched to the end of the file */
    const uint8_t *space = *p > ' ' ? memchr(p, ' ', (size_t)(end - p)) : NULL, *rank;
    uint64_t id = 0;
    size_t bytes;

    if (!space || !base64_decode(room_for_token(r->spec), &bytes, p, (size_t)(space - p)))
        return NULL;
    for (p = rank = space + 1; p < end && *p >= '0' && *p <= '9' && id <= SPEC_MAX_ID; p++)
        id = id * 10 + (*p - '0');
    if (p == rank || p == end || *p != '\n' || id > SPEC_MAX_ID)
        return NULL;
    add_token(r->spec, id, bytes);
    return p + 1;
}

/* Reads a line of any form, without its end. */
static enum leat_status read_any_line(struct reader *r, const uint8_t *p, const uint8_t *newline)
{
    while (p < newline && load_is_space(*p))
        p++;
    return p < newline ? read_line(r, p, newline) : LEAT_OK;
}

static enum leat_status read_lines(struct reader *r)
{
    const uint8_t *p = load_after_mark(r->source), *end = r->source->bytes + r->source->size, *next;
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && p < end; p = next) {
        const uint8_t *newline = p;

        r->line++;
        if ((next = read_plain_line(r, p, end)) != NULL)
            continue;
        while (newline < end && *newline != '\n' && *newline != '\r')
            newline++;
        s = read_any_line(r, p, newline);
        next = newline + (end - newline > 1 && newline[0] == '\r' && newline[1] == '\n' ? 2 : 1);
    }
    if (s != LEAT_OK)
        return s;
    return r->spec->token_count > 0 ? LEAT_OK : wrong(r, r->source->bytes, "the file has no tokens");
}

/* Drops repeated tokens: the later rank counts, as in a Python dictionary. Works in steps, so that the memory of the
 * map is there when it is needed. */
static enum leat_status drop_repeated(struct reader *r)
{
    struct tokenizer_spec *spec = r->spec;
    struct string_map seen;
    uint64_t hashes[32];
    uint32_t kept = 0;

    if (!string_map_init(&seen, spec->token_count))
        return status_no_memory(r->err, (uint64_t)spec->token_count * 32);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        uint32_t entry;
        bool found;

        for (uint32_t k = 0; i % 32 == 0 && k < 32 && i + k < spec->token_count; k++) {
            hashes[k] = string_map_hash(&seen, spec_token_bytes(spec, &t[k]), t[k].length);
            string_map_prefetch(&seen, hashes[k]);
        }
        entry = string_map_add(&seen, hashes[i % 32], spec_token_bytes(spec, t), t->length, &found);
        spec->tokens[entry] = *t; /* an entry for each text, in order, which is never after the token that is read */
        kept += !found;
    }
    spec->token_count = kept;
    string_map_free(&seen);
    return LEAT_OK;
}

/* ---- Pattern and special tokens ---------------------------------------------------------------------------------- */

static enum leat_status find_name(struct reader *r, const struct tiktoken_name **name)
{
    const struct load_source *source = r->source;

    if (source->pattern) {
        *name = tiktoken_name_find(source->pattern);
        return *name ? LEAT_OK
                     : status_field(r->err,
                                    status_set_hint(r->err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN, NULL,
                                                    "unknown pattern %s; choose one of %s", source->pattern,
                                                    tiktoken_name_list()),
                                    "pattern");
    }
    *name = tiktoken_name_of_file(source->path);
    if (!*name)
        *name = tiktoken_name_of_bytes(source->bytes, source->size);
    if (!*name)
        return status_field(
            r->err,
            status_set_hint(r->err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN, source->path,
                            "%s: neither the file nor its name says which pattern splits text; choose one of %s",
                            source->path, tiktoken_name_list()),
            "pattern");
    if ((*name)->ranks != r->spec->token_count)
        return status_set_hint(r->err, LEAT_E_VOCABULARY, LEAT_HINT_PATTERN, source->path,
                               "%s has %u tokens, but the published %s has %u: is the file complete? To take it as "
                               "it is, without special tokens, name the pattern %s",
                               source->path, (unsigned)r->spec->token_count, (*name)->name, (unsigned)(*name)->ranks,
                               (*name)->name);
    return LEAT_OK;
}

static enum leat_status add_special(struct reader *r, uint32_t id, const void *text, size_t length)
{
    struct spec_added *a = &r->spec->added[r->spec->added_count];

    if (!spec_copy(r->spec, &a->content, text, length))
        return status_no_memory(r->err, length);
    a->id = id;
    a->special = true;
    r->spec->added_count++;
    return LEAT_OK;
}

static enum leat_status add_row_specials(struct reader *r, const struct tiktoken_name *name)
{
    size_t count = 0;
    enum leat_status s;
    char text[64];

    for (size_t i = 0; i < name->special_count; i++)
        count += name->special[i].last ? name->special[i].last - name->special[i].id + 1 : 1;
    r->spec->added = spec_alloc(r->spec, count * sizeof *r->spec->added);
    if (!r->spec->added)
        return status_no_memory(r->err, count * sizeof *r->spec->added);
    for (size_t i = 0; i < name->special_count; i++) {
        const struct tiktoken_special *special = &name->special[i];
        const char *number = strstr(special->text, "%u");

        for (uint32_t id = special->id; id <= (special->last ? special->last : special->id); id++) {
            if (number)
                snprintf(text, sizeof text, "%.*s%u%s", (int)(number - special->text), special->text,
                         (unsigned)(special->first + (id - special->id)), number + 2);
            else
                snprintf(text, sizeof text, "%s", special->text);
            s = add_special(r, id, text, strlen(text));
            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

static bool is_rank(const struct reader *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->spec->token_count; i++)
        if (r->spec->tokens[i].id == id)
            return true;
    return false;
}

/* Reads tokenizer_config.json: "added_tokens_decoder": { "163584": { "content": "[BOS]", ... }, ... } */
static enum leat_status add_config_specials(struct reader *r, uint32_t list)
{
    const struct jsontree *j = r->source->config;
    const struct jsontree_node *nodes = j->nodes;
    enum leat_status s;

    r->spec->added = spec_alloc(r->spec, nodes[list].length * sizeof *r->spec->added);
    if (!r->spec->added)
        return status_no_memory(r->err, nodes[list].length * sizeof *r->spec->added);
    for (uint32_t k = list + 1; k < jsontree_next(j, list); k = jsontree_next(j, k + 1)) {
        struct jsontree_text key = jsontree_string(j, k), t;
        uint32_t content = jsontree_member(j, k + 1, "content");
        uint64_t id = key.length == 0 || key.length > 8 ? SPEC_NONE : 0;

        for (uint32_t i = 0; id != SPEC_NONE && i < key.length; i++)
            id = key.bytes[i] >= '0' && key.bytes[i] <= '9' ? id * 10 + (key.bytes[i] - '0') : SPEC_NONE;
        if (id > SPEC_MAX_ID || content == JSONTREE_NONE || nodes[content].kind != JSONTREE_STRING)
            return status_set_at(
                r->err, LEAT_E_VOCABULARY, j->path, jsontree_at(j, k),
                "%s: an entry of \"added_tokens_decoder\" is not an id with a \"content\" (byte %" PRIu64 ")", j->path,
                jsontree_at(j, k));
        t = jsontree_string(j, content);
        if (t.length > 0 && !is_rank(r, id)) {
            s = add_special(r, (uint32_t)id, t.bytes, t.length);
            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

uint32_t load_specials_of(const struct jsontree *config)
{
    uint32_t list = config ? jsontree_member(config, 0, "added_tokens_decoder") : JSONTREE_NONE;

    return list != JSONTREE_NONE && config->nodes[list].kind == JSONTREE_OBJECT ? list : JSONTREE_NONE;
}

static enum leat_status add_specials(struct reader *r, const struct tiktoken_name *name)
{
    uint32_t list = load_specials_of(r->source->config);

    if (list != JSONTREE_NONE)
        return add_config_specials(r, list);
    return name->ranks == r->spec->token_count ? add_row_specials(r, name) : LEAT_OK;
}

/* Makes the pipeline. tiktoken encodes what the expression matches, and drops the text between matches. */
static enum leat_status make_pipeline(struct reader *r, const struct tiktoken_name *name)
{
    struct tokenizer_spec *spec = r->spec;

    spec->pre_tokenizers = spec_alloc(spec, sizeof *spec->pre_tokenizers);
    spec->normalizers = spec_alloc(spec, sizeof *spec->normalizers);
    if (!spec->pre_tokenizers || !spec->normalizers ||
        !spec_copy(spec, &spec->pre_tokenizers[0].pattern.text, name->pattern, strlen(name->pattern)))
        return status_no_memory(r->err, strlen(name->pattern) + 256);
    spec->pre_tokenizers[0].kind = SPEC_PRE_SPLIT;
    spec->pre_tokenizers[0].pattern.regex = true;
    spec->pre_tokenizers[0].behavior = SPEC_REMOVED;
    spec->pre_tokenizers[0].invert = true;
    spec->pre_tokenizer_count = 1;
    spec->normalizers[0].kind = SPEC_NORM_NFC;
    spec->normalizer_count = name->nfc ? 1 : 0;
    return LEAT_OK;
}

/* Makes room for the most tokens, and the most bytes in them, that the file can have. */
static enum leat_status make_room(struct reader *r)
{
    const struct load_source *source = r->source;
    uint64_t lines = 1;

    for (uint64_t i = 0; i < source->size; i++)
        lines += source->bytes[i] == '\n' || source->bytes[i] == '\r';
    if (source->size > JSONTREE_MAX_BYTES || lines > SPEC_MAX_ID)
        return status_set_in(r->err, LEAT_E_VOCABULARY, source->path,
                             "%s has too many lines for a vocabulary: %" PRIu64 " in %" PRIu64 " bytes", source->path,
                             lines, source->size);
    r->spec->tokens = big_alloc(lines * sizeof *r->spec->tokens);
    r->spec->text = big_alloc(BASE64_ROOM(source->size));
    if (!r->spec->tokens || !r->spec->text)
        return status_no_memory(r->err, lines * 64 + source->size);
    return LEAT_OK;
}

enum leat_status load_tiktoken(struct tokenizer_spec *spec, const struct load_source *source, struct leat_error *err)
{
    struct reader r = { .spec = spec, .source = source, .err = err };
    const struct tiktoken_name *name;
    enum leat_status s;

    spec->model = SPEC_RANKS;
    spec->reference = SPEC_TIKTOKEN;
    spec->dialect = SPEC_RUST;
    spec->byte_level = true;
    s = make_room(&r);
    if (s == LEAT_OK)
        s = read_lines(&r);
    if (s == LEAT_OK)
        s = drop_repeated(&r);
    if (s == LEAT_OK)
        s = find_name(&r, &name);
    if (s == LEAT_OK)
        s = make_pipeline(&r, name);
    if (s == LEAT_OK)
        s = add_specials(&r, name);
    if (s == LEAT_OK)
        s = spec_finish(spec, source->path, err);
    return s;
}

/* ---- Encodings of a program's own -------------------------------------------------------------------------------- */

static enum leat_status wrong_member(const struct jsontree *j, uint32_t node, const char *what, struct leat_error *err)
{
    uint64_t at = jsontree_at(j, node);

    return status_set_at(err, LEAT_E_VOCABULARY, j->path, at, "%s: %s (byte %" PRIu64 ")", j->path, what, at);
}

/* Adds each text once, since of several ids only one would be found. */
static enum leat_status add_listed(struct reader *r, const struct jsontree *j, uint32_t list)
{
    struct string_map seen = { 0 };
    enum leat_status s = LEAT_OK;

    r->spec->added = spec_alloc(r->spec, j->nodes[list].length * sizeof *r->spec->added);
    if (!r->spec->added || !string_map_init(&seen, j->nodes[list].length))
        s = status_no_memory(r->err, j->nodes[list].length * sizeof *r->spec->added);
    for (uint32_t k = list + 1; s == LEAT_OK && k < jsontree_next(j, list); k = jsontree_next(j, k + 1)) {
        struct jsontree_text text = jsontree_string(j, k);
        bool found = false;
        uint64_t id;

        if (!jsontree_u64(j, k + 1, &id) || id > SPEC_MAX_ID || text.length == 0)
            s = wrong_member(j, k, "a special token is empty, or its id is not a whole number up to 16777215", r->err);
        else
            string_map_add(&seen, string_map_hash(&seen, text.bytes, text.length), text.bytes, text.length, &found);
        if (found)
            s = wrong_member(j, k, "this special token appears twice", r->err);
        if (s == LEAT_OK)
            s = add_special(r, (uint32_t)id, text.bytes, text.length);
    }
    string_map_free(&seen);
    return s;
}

/* Checks that no id belongs to two tokens. tiktoken decodes such an id to the token that has it as its rank, and
 * encodes it from either. */
static enum leat_status check_apart(const struct reader *r)
{
    for (uint32_t i = 0; i < r->spec->added_count; i++)
        if (spec_find_id(r->spec, r->spec->added[i].id))
            return status_set_in(r->err, LEAT_E_VOCABULARY, r->source->path,
                                 "%s: the id %u is that of a special token and a rank too", r->source->path,
                                 (unsigned)r->spec->added[i].id);
    return LEAT_OK;
}

static enum leat_status read_encoding(struct reader *r, const struct jsontree *j, uint32_t specials,
                                      const char *pattern)
{
    uint32_t nfc = jsontree_member(j, 0, "nfc");
    const struct tiktoken_name name = { .pattern = pattern,
                                        .nfc = nfc != JSONTREE_NONE && j->nodes[nfc].kind == JSONTREE_TRUE };
    enum leat_status s = make_room(r);

    if (s == LEAT_OK)
        s = read_lines(r);
    if (s == LEAT_OK)
        s = drop_repeated(r);
    if (s == LEAT_OK)
        s = make_pipeline(r, &name);
    if (s == LEAT_OK)
        s = add_listed(r, j, specials);
    if (s == LEAT_OK)
        s = spec_finish(r->spec, j->path, r->err);
    return s == LEAT_OK ? check_apart(r) : s;
}

enum leat_status load_encoding(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err)
{
    uint32_t pattern = jsontree_member(j, 0, "pat_str"), ranks = jsontree_member(j, 0, "mergeable_ranks");
    uint32_t specials = jsontree_member(j, 0, "special_tokens");
    struct load_source source = { .path = j->path };
    struct reader r = { .spec = spec, .source = &source, .err = err };
    struct jsontree_text text;
    char *copy;

    if (pattern == JSONTREE_NONE || j->nodes[pattern].kind != JSONTREE_STRING || ranks == JSONTREE_NONE ||
        j->nodes[ranks].kind != JSONTREE_STRING || specials == JSONTREE_NONE ||
        j->nodes[specials].kind != JSONTREE_OBJECT)
        return wrong_member(j, 0,
                            "an encoding must have the strings \"pat_str\" and \"mergeable_ranks\" and the object "
                            "\"special_tokens\"",
                            err);
    text = jsontree_string(j, pattern);
    if (memchr(text.bytes, '\0', text.length))
        return wrong_member(j, pattern, "\"pat_str\" holds a NUL, which is not supported", err);
    copy = spec_alloc(spec, (size_t)text.length + 1);
    if (!copy)
        return status_no_memory(err, text.length);
    memcpy(copy, text.bytes, text.length);
    spec->model = SPEC_RANKS;
    spec->reference = SPEC_TIKTOKEN;
    spec->dialect = SPEC_RUST;
    spec->byte_level = true;
    text = jsontree_string(j, ranks);
    source.bytes = text.bytes;
    source.size = text.length;
    return read_encoding(&r, j, specials, copy);
}
