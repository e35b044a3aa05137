/* ranges.c: see ranges.h. NVTX is a header that finds a profiler by itself, and keeps that as state of its own. */
#include "ranges.h"

#include <stddef.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#endif
#endif

#if defined(HAVE_NVTX)
/* A struct ranges is an NVTX domain, so that names do not mix with the program's. */
static nvtxDomainHandle_t domain_of(struct ranges *r)
{
    return (nvtxDomainHandle_t)(void *)r;
}

struct ranges *ranges_open(void)
{
    return (struct ranges *)(void *)nvtxDomainCreateA("leat");
}

void ranges_close(struct ranges *r)
{
    if (r)
        nvtxDomainDestroy(domain_of(r));
}

void ranges_begin(struct ranges *r, const char *name)
{
    nvtxEventAttributes_t a = { 0 };

    if (!r)
        return;
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = name;
    nvtxDomainRangePushEx(domain_of(r), &a);
}

void ranges_end(struct ranges *r)
{
    if (r)
        nvtxDomainRangePop(domain_of(r));
}
#else
struct ranges *ranges_open(void)
{
    return NULL;
}

void ranges_close(struct ranges *r)
{
    (void)r;
}

void ranges_begin(struct ranges *r, const char *name)
{
    (void)r;
    (void)name;
}

void ranges_end(struct ranges *r)
{
    (void)r;
}
#endif
