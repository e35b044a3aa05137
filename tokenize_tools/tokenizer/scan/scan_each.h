/*
 * scan_each.h: a function for each family, and the table of them, by enum scan_number. Part of scan.c and of
 * scan_blocks.c, which first define how a function runs a rule, and the name of the table:
 *
 *     SCAN_INLINE size_t run(const struct scan_rule *rule, const struct unicode_classes *classes,
 *                            const struct scan_window *window, size_t *at, uint32_t *ends, size_t room)
 *     #define SCAN_FUNCTIONS
 */
#include "scan_cl100k.h"
#include "scan_deepseek.h"
#include "scan_gpt2.h"
#include "scan_o200k.h"

#define SCAN_FUNCTION(number, name)                                                                                    \
    static size_t name(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,            \
                       uint32_t *ends, size_t room)                                                                    \
    {                                                                                                                  \
        return run(&scan_##name, classes, window, at, ends, room);                                                     \
    }
SCAN_FAMILIES(SCAN_FUNCTION)

#define SCAN_ENTRY(number, name) [SCAN_##number] = name,
scan_function *const SCAN_FUNCTIONS[SCAN_NUMBERS] = { SCAN_FAMILIES(SCAN_ENTRY) };
