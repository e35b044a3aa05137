/*
 * tiktoken_names.c: see tiktoken_names.h. OpenAI's rows are those of tiktoken 0.14.0 (tiktoken_ext/openai_public.py),
 * letter for letter; the others those of their publishers' tokenizer code.
 */
#include "tiktoken_names.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

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
/* the two on which Llama 3 and 3.1 agree; the others are in tokenizer_config.json */
static const struct tiktoken_special llama3_special[] = {
    { .text = "<|begin_of_text|>", .id = 128000 },
    { .text = "<|end_of_text|>", .id = 128001 },
};
/* those before Llama 4's many for chats, images and reasoning */
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

const struct tiktoken_name *tiktoken_name_of_bytes(const void *bytes, size_t size)
{
    uint64_t print = XXH3_64bits(bytes, size);

    for (size_t i = 0; i < NAMES; i++)
        if (names[i].print && names[i].print == print)
            return &names[i];
    return NULL;
}

const char *tiktoken_name_list(void)
{
    return "gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, "
           "llama4, qwen, qwen3_5, kimi";
}
