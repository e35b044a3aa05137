/* cuda_image.c: embeds the kernels. The assembler puts the files into the object; paths are relative to the folder
 * where make runs, and LEAT_CUDA_FATBIN comes from the Makefile. */
#include "cuda_image.h"

#include <stddef.h>

#define EMBED(symbol, file)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 16\n"                                                                                             \
            ".globl " symbol "\n"                                                                                      \
            ".hidden " symbol "\n" symbol ":\n"                                                                        \
            ".incbin \"" file "\"\n"                                                                                   \
            ".byte 0\n"                                                                                                \
            ".balign 16\n"                                                                                             \
            ".popsection\n")

EMBED("cuda_image_ptx", "src/device/cuda_kernels.ptx");

#if defined(LEAT_CUDA_FATBIN)
EMBED("cuda_image_machine_code", LEAT_CUDA_FATBIN);
extern const char cuda_image_machine_code[];

const void *cuda_image_fatbin(void)
{
    return cuda_image_machine_code;
}
#else
const void *cuda_image_fatbin(void)
{
    return NULL;
}
#endif
