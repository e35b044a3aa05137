/*
 * model_names.c: see model_names.h. OpenAI's rows follow tiktoken 0.14.0 (tiktoken/model.py). The first row that fits
 * is taken, so a row stands before those that its name begins with.
 */
#include "model_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct model_name rows[] = {
    { "gptoss", "o200k_harmony", NULL },
    { "gpt5", "o200k_base", NULL },
    { "gpt45", "o200k_base", NULL },
    { "gpt41", "o200k_base", NULL },
    { "gpt4o", "o200k_base", NULL },
    { "gpt4", "cl100k_base", NULL },
    { "gpt35", "cl100k_base", NULL },
    { "gpt2", "gpt2", NULL },
    { "chatgpt4o", "o200k_base", NULL },
    { "o1", "o200k_base", NULL },
    { "o3", "o200k_base", NULL },
    { "o4mini", "o200k_base", NULL },
    { "textembedding", "cl100k_base", NULL },
    { "textdavinci003", "p50k_base", NULL },
    { "textdavinci002", "p50k_base", NULL },
    { "textdavinci001", "gpt2", NULL },
    { "davinci002", "cl100k_base", NULL },
    { "babbage002", "cl100k_base", NULL },
    { "llama4", NULL, "meta-llama/Llama-4-Scout-17B-16E" },
    { "llama33", NULL, "meta-llama/Llama-3.3-70B-Instruct" },
    { "llama32", NULL, "meta-llama/Llama-3.2-1B" },
    { "llama31", NULL, "meta-llama/Llama-3.1-8B" },
    { "llama3", NULL, "meta-llama/Meta-Llama-3-8B" },
    { "llama2", NULL, "meta-llama/Llama-2-7b-hf" },
    { "qwen3", NULL, "Qwen/Qwen3-8B-Base" },
    { "qwen25", NULL, "Qwen/Qwen2.5-7B" },
    { "qwen2", NULL, "Qwen/Qwen2-7B" },
    { "gemma3", NULL, "google/gemma-3-4b-pt" },
    { "gemma2", NULL, "google/gemma-2-9b" },
    { "deepseekv3", NULL, "deepseek-ai/DeepSeek-V3" },
    { "mistralnemo", NULL, "mistralai/Mistral-Nemo-Base-2407" },
    { "kimik2", NULL, "moonshotai/Kimi-K2-Base" },
    { "phi4", NULL, "microsoft/phi-4" },
    { "olmo2", NULL, "allenai/OLMo-2-1124-7B" },
    { "smollm2", NULL, "HuggingFaceTB/SmolLM2-1.7B" },
    { "starcoder2", NULL, "bigcode/starcoder2-7b" },
};

static bool separates(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ' || c == ':';
}

static bool fits(const char *name, const char *row)
{
    for (; *row; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;

        if (separates(c))
            continue;
        if (c != *row)
            return false;
        row++;
    }
    return *name == '\0' || separates(*name);
}

const struct model_name *model_name_find(const char *name)
{
    if (strchr(name, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (fits(name, rows[i].name))
            return &rows[i];
    return NULL;
}
