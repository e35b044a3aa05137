/*
 * fake_entry.c: the stand-in driver's door: finding functions, counting calls, making the n-th fail, and what happens
 * where a rule is broken. See fake_control.h.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

#define VISIBLE __attribute__((visibility("default")))

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
struct fake_options fake_options = { .devices = 2 };

static _Thread_local int exempted, may_wait;
static _Thread_local cuda_capture_mode capture_mode; /* 0: CUDA_CAPTURE_GLOBAL, as CUDA has it */
static atomic_bool counting, down, started;
static atomic_uint offence_count;
static char last_offence[400];
static atomic_int owner; /* the process that has started it */

/* With the lock: */
static uint64_t fail_at, call_count;
static int fail_result;
static bool fail_all;
static const char *failed_name;
static bool fail_result_seen; /* since it was told to fail: also after that was taken back */

/* ---- Offences ---- */

void fake_offence(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_offence, sizeof last_offence, format, args);
    va_end(args);
    atomic_fetch_add(&offence_count, 1);
    if (atomic_load(&counting))
        return;
    fprintf(stderr, "stand-in driver: %s\n", last_offence);
    abort();
}

static unsigned offences(bool count)
{
    atomic_store(&counting, count);
    return atomic_exchange(&offence_count, 0);
}

static const char *offence(void)
{
    return last_offence;
}

bool fake_is_exempt(void)
{
    return exempted > 0;
}

bool fake_is_relaxed(void)
{
    return capture_mode == CUDA_CAPTURE_RELAXED;
}

bool fake_has_failed(void)
{
    return failed_name != NULL || fail_result_seen;
}

/* ---- The table ---- */

struct entry {
    const char *symbol;
    int since;
    void *function;
    atomic_uint_fast64_t calls;
};

/* ISO C has no cast from a function to an object; POSIX has, and so have all machines with a driver. */
#define FAKE_ROW(member, symbol, since, parameters) { #symbol, since, __extension__(void *) fake_##member, 0 },
static struct entry table[] = { CUDA_DRIVER_ENTRIES(FAKE_ROW) CUDA_EXTRA_ENTRIES(FAKE_ROW) };

static struct entry *find(const char *symbol)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].symbol, symbol) == 0)
            return &table[i];
    return NULL;
}

VISIBLE cuda_result cuGetProcAddress_v2(const char *symbol, void **function, int version, cuda_flags64 flags,
                                        cuda_query_result *found);
VISIBLE cuda_result cuGetProcAddress_v2(const char *symbol, void **function, int version, cuda_flags64 flags,
                                        cuda_query_result *found)
{
    struct entry *e = find(symbol);

    if (found)
        *found = e ? 0 : 1;
    *function = NULL;
    if (flags != CUDA_LEGACY_STREAM)
        fake_offence("%s was asked for with other flags than those of the legacy stream", symbol);
    if (!e || version != e->since || (fake_options.version && fake_options.version < version))
        return CUDA_NOT_FOUND;
    *function = e->function;
    return CUDA_OK;
}

static uint64_t calls(const char *symbol)
{
    uint64_t all = 0;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!symbol || strcmp(symbol, table[i].symbol) == 0)
            all += atomic_load(&table[i].calls);
    return all;
}

/* ---- At each call ---- */

static bool is_child(void)
{
    return atomic_load(&started) && atomic_load(&owner) != getpid();
}

static cuda_result counted(const char *symbol)
{
    struct entry *e = find(symbol);
    cuda_result r = CUDA_OK;

    atomic_fetch_add(&e->calls, 1);
    pthread_mutex_lock(&fake_lock);
    call_count++;
    if (fail_at && (call_count == fail_at || (fail_all && call_count > fail_at))) {
        if (!failed_name)
            failed_name = e->symbol;
        fail_result_seen = true;
        r = fail_result;
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_enter(const char *symbol, unsigned kind)
{
    cuda_context current;
    cuda_result r;

    if (is_child()) {
        if (strcmp(symbol, "cuInit") != 0)
            fake_offence("%s was called in a child of the process that had started the driver", symbol);
        return CUDA_NOT_INITIALIZED;
    }
    if (atomic_load(&down))
        return CUDA_DEINITIALIZED;
    if (!atomic_load(&started) && !(kind & FAKE_EARLY))
        return CUDA_NOT_INITIALIZED;
    if (exempted == 0) {
        r = counted(symbol);
        if (r != CUDA_OK)
            return r;
        if (kind & FAKE_WAITS && fake_options.strict && may_wait == 0)
            fake_offence("%s, which waits for the device, was called in a steady step", symbol);
    }
    if (kind & FAKE_UNSAFE && !fake_is_relaxed() && fake_capture_forbids()) {
        fake_offence("%s was called while a stream is captured, by a thread that is not relaxed about it", symbol);
        return CUDA_CAPTURE_UNSUPPORTED;
    }
    current = fake_current();
    if (kind & FAKE_CONTEXT && !current)
        return CUDA_INVALID_CONTEXT;
    return kind & FAKE_CONTEXT ? current->broken : CUDA_OK;
}

/* ---- Small calls ---- */

cuda_result fake_init(unsigned flags)
{
    cuda_result r = fake_enter("cuInit", FAKE_EARLY);

    if (r != CUDA_OK || flags != 0)
        return r != CUDA_OK ? r : CUDA_INVALID_VALUE;
    if (fake_options.devices == 0)
        return CUDA_NO_DEVICE;
    atomic_store(&owner, getpid());
    atomic_store(&started, true);
    return CUDA_OK;
}

cuda_result fake_driver_version(int *version)
{
    cuda_result r = fake_enter("cuDriverGetVersion", FAKE_EARLY);

    *version = fake_options.version ? fake_options.version : 13000;
    return r;
}

static const struct {
    int result;
    const char *name, *words;
} names[] = { { CUDA_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
              { CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
              { CUDA_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
              { CUDA_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down" },
              { CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
              { CUDA_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
              { CUDA_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
              { CUDA_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
              { 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
              { 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" } };

cuda_result fake_error_name(cuda_result error, const char **text)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].result == error) {
            *text = names[i].name;
            return CUDA_OK;
        }
    *text = NULL;
    return CUDA_INVALID_VALUE;
}

cuda_result fake_error_string(cuda_result error, const char **text)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].result == error) {
            *text = names[i].words;
            return CUDA_OK;
        }
    *text = NULL;
    return CUDA_INVALID_VALUE;
}

cuda_result fake_capture_mode(cuda_capture_mode *mode)
{
    cuda_result r = fake_enter("cuThreadExchangeStreamCaptureMode", FAKE_ANY);
    cuda_capture_mode before = capture_mode;

    if (r != CUDA_OK)
        return r;
    capture_mode = *mode;
    *mode = before;
    return CUDA_OK;
}

/* ---- Control ---- */

static void configure(const struct fake_options *options)
{
    pthread_mutex_lock(&fake_lock);
    fake_options = *options;
    pthread_mutex_unlock(&fake_lock);
}

static void exempt(int more)
{
    exempted += more;
}

static void allow_waiting(int more)
{
    may_wait += more;
}

static uint64_t fail_call(uint64_t n, int result, bool all)
{
    uint64_t before;

    pthread_mutex_lock(&fake_lock);
    before = call_count;
    call_count = 0;
    fail_at = n;
    fail_result = result;
    fail_all = all;
    failed_name = NULL;
    fail_result_seen = fail_result_seen && n == 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        atomic_store(&table[i].calls, 0);
    pthread_mutex_unlock(&fake_lock);
    return before;
}

static const char *failed_call(void)
{
    const char *name;

    pthread_mutex_lock(&fake_lock);
    name = failed_name;
    pthread_mutex_unlock(&fake_lock);
    return name;
}

bool fake_is_down(void)
{
    return atomic_load(&down);
}

/* With the driver ends the work of its devices: afterwards none touches memory, which the host may take away. */
static void shut_down(void)
{
    pthread_mutex_lock(&fake_lock);
    atomic_store(&down, true);
    for (unsigned i = 0; i < FAKE_DEVICES; i++)
        fake_streams_await(&fake_contexts[i]);
    pthread_mutex_unlock(&fake_lock);
}

static unsigned live(void)
{
    unsigned contexts = 0, all;

    pthread_mutex_lock(&fake_lock);
    for (unsigned i = 0; i < FAKE_DEVICES; i++)
        contexts += fake_contexts[i].retained;
    all = contexts + fake_memory_live() + fake_streams_live() + fake_modules_live();
    pthread_mutex_unlock(&fake_lock);
    return all;
}

extern unsigned fake_depth(void);
extern void fake_fail_work(uint64_t n, int result);

VISIBLE const struct fake_control *fake_control(void)
{
    static const struct fake_control control = { configure,           exempt,         allow_waiting, fail_call,
                                                 failed_call,         fake_fail_work, shut_down,     calls,
                                                 fake_depth,          live,           offences,      offence,
                                                 fake_ptx_kernels_run };

    return &control;
}

/* What is left at the end of the process was forgotten. */
__attribute__((destructor)) static void end(void)
{
    if (!atomic_load(&started) || is_child() || atomic_load(&down) || !fake_options.strict || live() == 0)
        return;
    fprintf(stderr,
            "stand-in driver: %u things were not given back (%u of memory, %u streams and events, %u modules)\n",
            live(), fake_memory_live(), fake_streams_live(), fake_modules_live());
    _exit(86);
}
