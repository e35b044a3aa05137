/* curl_api.c: see curl_api.h. */
#include "curl_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

#ifdef LEAT_HAVE_CURL
#define LIBRARY "libcurl.so.4"

/* Debian's second library differs only in who does TLS. */
static void *load(void)
{
    static const char *const names[] = { LIBRARY, "libcurl-gnutls.so.4" };
    void *library = NULL;

    for (unsigned i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

static const char *find_all(struct curl_api *api)
{
    void *function;

    /* POSIX lets a function be called through dlsym()'s pointer, but ISO C has no cast for it */
#define CURL_FIND(name)                                                                                                \
    function = dlsym(api->library, "curl_" #name);                                                                     \
    if (!function)                                                                                                     \
        return "curl_" #name;                                                                                          \
    memcpy(&api->name, &function, sizeof function);
    CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
    return NULL;
}

enum leat_status curl_api_open(struct curl_api *api, struct leat_error *err)
{
    const char *missing;
    CURLcode r;

    memset(api, 0, sizeof *api);
    api->library = load();
    if (!api->library)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "URLs need libcurl, and " LIBRARY " cannot be loaded (%.300s); install it (Debian, Ubuntu: "
                          "libcurl4)",
                          dlerror());
    missing = find_all(api);
    if (missing)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "URLs need libcurl 7.68 or newer: " LIBRARY " has no %s; install a newer one", missing);
    r = api->global_init(CURL_GLOBAL_DEFAULT); /* counted: it may be called by others, and again */
    if (r != CURLE_OK)
        return status_set(err, LEAT_E_UNSUPPORTED, "libcurl does not start: %s", api->easy_strerror(r));
    return LEAT_OK;
}
#else
enum leat_status curl_api_open(struct curl_api *api, struct leat_error *err)
{
    (void)api;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "URLs need libcurl, and this build of leat was made without it; install its headers (Debian, "
                      "Ubuntu: libcurl4-openssl-dev) and build again");
}
#endif
