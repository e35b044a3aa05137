/*
 * scan_each.h: a function for each family, and the table of them, by enum scan_number. Part of scan.c and of
 * scan_blocks.c, which define before what a function does with a rule:
 *
 *     SCAN_INLINE size_t run(const struct scan_rule *rule, const struct unicode_classes *classes,
 *                            const struct scan_window *window, size_t *at, uint32_t *ends, size_t room)
 *     #define SCAN_FUNCTIONS  the name of the table
 */
#include "scan_cl100k.h"
#include "scan_deepseek.h"
#include "scan_gpt2.h"
#include "scan_o200k.h"

static size_t gpt2(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                   size_t room)
{
    return run(&scan_gpt2, classes, window, at, ends, room);
}

static size_t cl100k(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                     uint32_t *ends, size_t room)
{
    return run(&scan_cl100k, classes, window, at, ends, room);
}

static size_t llama3(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                     uint32_t *ends, size_t room)
{
    return run(&scan_llama3, classes, window, at, ends, room);
}

static size_t qwen2(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                    size_t room)
{
    return run(&scan_qwen2, classes, window, at, ends, room);
}

static size_t qwen35(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                     uint32_t *ends, size_t room)
{
    return run(&scan_qwen35, classes, window, at, ends, room);
}

static size_t o200k(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                    size_t room)
{
    return run(&scan_o200k, classes, window, at, ends, room);
}

static size_t tekken(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                     uint32_t *ends, size_t room)
{
    return run(&scan_tekken, classes, window, at, ends, room);
}

static size_t kimi(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                   size_t room)
{
    return run(&scan_kimi, classes, window, at, ends, room);
}

static size_t deepseek(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                       uint32_t *ends, size_t room)
{
    return run(&scan_deepseek, classes, window, at, ends, room);
}

scan_function *const SCAN_FUNCTIONS[SCAN_NUMBERS] = {
    [SCAN_GPT2] = gpt2,     [SCAN_CL100K] = cl100k, [SCAN_LLAMA3] = llama3,
    [SCAN_QWEN2] = qwen2,   [SCAN_QWEN35] = qwen35, [SCAN_O200K] = o200k,
    [SCAN_TEKKEN] = tekken, [SCAN_KIMI] = kimi,     [SCAN_DEEPSEEK] = deepseek,
};
