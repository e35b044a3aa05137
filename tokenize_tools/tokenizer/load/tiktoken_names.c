/*
 * tiktoken_names.c: see tiktoken_names.h. OpenAI's rows are those of tiktoken 0.14.0 (tiktoken_ext/openai_public.py),
 * letter for letter; the others those of their publishers' tokenizer code.
 */
#include "tiktoken_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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
/* the two on which Llama 3 and 3.1 agree; the others are in tokenizer_config.json */
static const struct tiktoken_special llama3_special[] = {
    { .text = "<|begin_of_text|>", .id = 128000 },
    { .text = "<|end_of_text|>", .id = 128001 },
};
static const struct tiktoken_special qwen_special[] = {
    { .text = "<|endoftext|>", .id = 151643 },
    { .text = "<|im_start|>", .id = 151644 },
    { .text = "<|im_end|>", .id = 151645 },
    { .text = "<|extra_%u|>", .id = 151646, .last = 151850, .first = 0 },
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
    { .name = "llama3", .pattern = LLAMA3, .ranks = 128000, SPECIAL(llama3_special) },
    { .name = "qwen", .pattern = QWEN, .ranks = 151643, .nfc = true, SPECIAL(qwen_special) },
    { .name = "kimi", .file = "tiktoken.model", .pattern = KIMI, .ranks = 163584 },
};

#define NAMES (sizeof names / sizeof names[0])

const struct tiktoken_name *tiktoken_name_find(const char *name)
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

const struct tiktoken_name *tiktoken_name_of_file(const char *path)
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

const char *tiktoken_name_list(void)
{
    return "gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, qwen, kimi";
}
