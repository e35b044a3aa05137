/* peak.h: how much memory this process has had at most since it asked last, where Linux tells. */
#ifndef LEAT_TESTS_PEAK_H
#define LEAT_TESTS_PEAK_H

#include "t.h"

/* Bytes of a line of /proc/self/status; 0 if that is not there. */
static inline uint64_t peak_status(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoull(line + strlen(name), NULL, 10);
    if (f)
        fclose(f);
    return kib << 10;
}

/* Begins to measure: returns what is in use now, or 0 if peak_bytes() cannot be told from here. */
static inline uint64_t peak_begin(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    int ok = f && fputs("5", f) >= 0;

    if (f)
        ok = fclose(f) == 0 && ok;
    return ok && !T_SANITIZED ? peak_status("VmRSS:") : 0;
}

/* The most there was since peak_begin() returned `begin`, above that; 0 if not known. */
static inline uint64_t peak_bytes(uint64_t begin)
{
    uint64_t max = begin ? peak_status("VmHWM:") : 0;

    return max > begin ? max - begin : 0;
}

/* Seconds of this process's own, for figures to look at. */
static inline double peak_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* MiB of text that a test is to use: LEAT_TEST_MIB or the usual. */
static inline size_t peak_mib(size_t usual)
{
    const char *mib = getenv("LEAT_TEST_MIB");
    size_t n = mib ? (size_t)strtoull(mib, NULL, 10) : usual;

    return n > 0 ? n : usual;
}

#endif
