/* scan_plain.c: the scalar rows of all families: they define the right answer. */
#include "scan_families.h"

#define SCAN_FUNCTION(family)                                                                                          \
    scan_function scan_##family##_plain;                                                                               \
    size_t scan_##family##_plain(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,  \
                                 uint32_t *ends, size_t room)                                                          \
    {                                                                                                                  \
        struct scan_text t = scan_text(classes, window);                                                               \
        const uint8_t *p = window->text + *at, *e;                                                                     \
        size_t count = 0;                                                                                              \
                                                                                                                       \
        while (count < room && p < t.end && (e = SCAN_PRETOKEN_##family(&t, p)) != NULL && e <= t.certain) {           \
            ends[count++] = (uint32_t)(e - window->text);                                                              \
            p = e;                                                                                                     \
        }                                                                                                              \
        *at = (size_t)(p - window->text);                                                                              \
        return count;                                                                                                  \
    }

SCAN_FAMILIES(SCAN_FUNCTION)
