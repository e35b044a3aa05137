/*
 * builtin_data.c: the assembler puts files into the object (.incbin), so no generated source of megabytes is needed.
 * Paths are relative to the folder that make runs in. Symbols are aligned, because some machines (s390x) require that
 * for data that code refers to.
 */
#include "builtin_data.h"

#define EMBED(symbol, file)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 16\n"                                                                                             \
            ".globl " symbol "\n"                                                                                      \
            ".hidden " symbol "\n" symbol ":\n"                                                                        \
            ".incbin \"tokenize_tools/tokenizer/load/data/" file "\"\n"                                                \
            "1:\n"                                                                                                     \
            ".balign 16\n"                                                                                             \
            ".globl " symbol "_bytes\n"                                                                                \
            ".hidden " symbol "_bytes\n" symbol "_bytes:\n"                                                            \
            ".quad 1b - " symbol "\n"                                                                                  \
            ".popsection\n")

EMBED("builtin_r50k", "r50k_base.tiktoken.zst");
EMBED("builtin_cl100k", "cl100k_base.tiktoken.zst");
EMBED("builtin_o200k", "o200k_base.tiktoken.zst");
EMBED("builtin_r50k_splits", "r50k_base.splits.zst");
EMBED("builtin_cl100k_splits", "cl100k_base.splits.zst");
EMBED("builtin_o200k_splits", "o200k_base.splits.zst");
