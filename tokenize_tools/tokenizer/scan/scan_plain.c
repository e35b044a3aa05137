/* scan_plain.c: the scalar rows of all families: they define the right answer. */
#include "scan_families.h"

#define SCAN_FUNCTION(family)                                                                                          \
    scan_function scan_##family##_plain;                                                                               \
    size_t scan_##family##_plain(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,  \
                                 uint32_t *ends, size_t room)                                                          \
    {                                                                                                                  \
        SCAN_LOOP(SCAN_PRETOKEN_##family(&t, p));                                                                      \
    }

SCAN_FAMILIES(SCAN_FUNCTION)
