/* machine.c: see machine.h. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "cli/units.h"

#if defined(__clang__)
#define COMPILER_NAME "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER_NAME "gcc " __VERSION__
#else
#define COMPILER_NAME "unknown compiler"
#endif

/* Copies the value of the first line of /proc/cpuinfo that begins with `key`. */
static bool cpuinfo_value(const char *key, char *out, size_t capacity)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char text[512];
    bool found = false;

    while (f && !found && fgets(text, sizeof text, f)) {
        const char *value = strchr(text, ':');

        if (!value || strncmp(text, key, strlen(key)) != 0)
            continue;
        value += 1 + strspn(value + 1, " ");
        snprintf(out, capacity, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

uint64_t machine_memory(void)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    char text[64];

    if (f && fgets(text, sizeof text, f) && text[0] >= '0' && text[0] <= '9') {
        uint64_t limit = strtoull(text, NULL, 10);

        if (limit > 0 && limit < memory)
            memory = limit;
    }
    if (f)
        fclose(f);
    return memory;
}

struct machine {
    char cpu[96];
    unsigned cores;
    uint64_t memory;
    char kernel[160];
};

static struct machine describe(void)
{
    struct machine m = { .cores = thread_cpus(), .memory = machine_memory() };
    struct utsname names;

    memset(&names, 0, sizeof names);
    uname(&names);
    if (!cpuinfo_value("model name", m.cpu, sizeof m.cpu) && !cpuinfo_value("Model", m.cpu, sizeof m.cpu))
        snprintf(m.cpu, sizeof m.cpu, "%s", names.machine);
    snprintf(m.kernel, sizeof m.kernel, "%.60s %.90s", names.sysname, names.release);
    return m;
}

void machine_print(void)
{
    struct machine m = describe();

    printf("machine: %s, %u core%s, %s memory, %s, %s, %s\n", m.cpu, m.cores, m.cores == 1 ? "" : "s",
           units_bytes(m.memory).text, m.kernel, COMPILER_NAME, units_date((uint64_t)time(NULL)).text);
}

void machine_json_begin(struct json *j)
{
    json_begin(j, stdout);
    json_open_object(j, NULL);
}

void machine_json_end(struct json *j)
{
    struct machine m = describe();

    json_open_object(j, "machine");
    json_string(j, "cpu", m.cpu);
    json_u64(j, "cores", m.cores);
    json_u64(j, "memory", m.memory);
    json_string(j, "kernel", m.kernel);
    json_string(j, "compiler", COMPILER_NAME);
    json_string(j, "date", units_date((uint64_t)time(NULL)).text);
    json_close_object(j);
    json_close_object(j);
    json_end(j);
}

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double machine_cpu_seconds(void)
{
    return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double machine_thread_seconds(void)
{
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
}

double machine_memory_mib(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    unsigned long long kib, total = 0;
    char line[256];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1 || sscanf(line, "VmPTE: %llu", &kib) == 1)
            total += kib;
    if (f)
        fclose(f);
    return (double)total / 1024;
}
