/*
 * ranges_counted.c: a library that NVTX loads in place of a profiler ($NVTX_INJECTION64_PATH), and that counts domains
 * and ranges instead of showing them: see test_ranges.c. Names are put down by one thread at a time, the loader's.
 */
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#endif
#endif

#include "ranges_counted.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED struct ranges_counted ranges_counted;

#if defined(HAVE_NVTX)
static _Thread_local unsigned depth;
static char the_domain;

static nvtxDomainHandle_t domain_create(const char *name)
{
    atomic_fetch_add(strcmp(name, "leat") == 0 ? &ranges_counted.domains : &ranges_counted.others, 1);
    return (nvtxDomainHandle_t)(void *)&the_domain;
}

static void check_domain(nvtxDomainHandle_t domain)
{
    if ((void *)domain != &the_domain ||
        atomic_load(&ranges_counted.domains) == atomic_load(&ranges_counted.domains_gone))
        atomic_fetch_add(&ranges_counted.others, 1);
}

static void domain_destroy(nvtxDomainHandle_t domain)
{
    check_domain(domain);
    atomic_fetch_add(&ranges_counted.domains_gone, 1);
}

static void keep_name(const char *name)
{
    unsigned count = atomic_load(&ranges_counted.names_count);

    for (unsigned i = 0; i < count; i++)
        if (strcmp(ranges_counted.names[i], name) == 0)
            return;
    if (count == RANGES_NAMES || strlen(name) >= sizeof ranges_counted.names[0])
        return;
    memcpy(ranges_counted.names[count], name, strlen(name) + 1);
    atomic_store(&ranges_counted.names_count, count + 1);
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    check_domain(domain);
    if (a->version != NVTX_VERSION || a->size != NVTX_EVENT_ATTRIB_STRUCT_SIZE) /* a profiler would pass it over */
        atomic_fetch_add(&ranges_counted.others, 1);
    if (a->messageType == NVTX_MESSAGE_TYPE_ASCII)
        keep_name(a->message.ascii);
    atomic_fetch_add(&ranges_counted.pushes, 1);
    atomic_fetch_add(&ranges_counted.open, 1);
    return (int)depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
    check_domain(domain);
    atomic_fetch_add(&ranges_counted.pops, 1);
    atomic_fetch_add(&ranges_counted.open, -1);
    if (depth == 0) {
        atomic_fetch_add(&ranges_counted.unbalanced, 1);
        return -1;
    }
    return (int)--depth;
}

/* What NVTX calls first; 1: all is well. */
EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t find);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t find)
{
    const NvtxExportTableCallbacks *callbacks = find(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned count = 0;

    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &count) ||
        count <= NVTX_CBID_CORE2_DomainDestroy)
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
    *table[NVTX_CBID_CORE2_DomainDestroy] = (NvtxFunctionPointer)domain_destroy;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
#endif
