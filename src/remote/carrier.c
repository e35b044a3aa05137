/* carrier.c: carries requests by libcurl, or none in a build without it. */
#include "carrier.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "text.h"

enum leat_status request_add(struct request *q, const char *name, const char *value, struct leat_error *err)
{
    enum leat_status s = text_join(&q->headers[q->header_count], err, name, ": ", value, NULL);

    q->header_count += s == LEAT_OK;
    return s;
}

enum leat_status request_add_token(struct request *q, const char *token, struct leat_error *err)
{
    char *value;
    enum leat_status s = text_join(&value, err, "Bearer ", token, NULL);

    if (s == LEAT_OK) {
        s = request_add(q, "Authorization", value, err);
        text_forget(value);
    }
    return s;
}

#ifdef LEAT_HAVE_CURL
#include <curl/curl.h>

/* ---- libcurl's functions ----------------------------------------------------------------------------------------- */

/* The functions of libcurl, which are found when they are first needed. Linking with libcurl would load some 30
 * libraries into every program that uses leat, also into those that never see a URL. */
#define CURL_FUNCTIONS(each)                                                                                           \
    each(global_init_mem) each(easy_init) each(easy_cleanup) each(easy_setopt) each(easy_getinfo) each(easy_strerror)  \
        each(multi_init) each(multi_cleanup) each(multi_add_handle) each(multi_remove_handle) each(multi_perform)      \
            each(multi_poll) each(multi_wakeup) each(multi_info_read) each(multi_setopt) each(slist_append)            \
                each(slist_free_all)

/* The parentheses keep these from being the macros that check types, which only fit calls by name. */
#define CURL_MEMBER(name) __typeof__(&(curl_##name)) name;
struct curl_api {
    void *library;
    CURL_FUNCTIONS(CURL_MEMBER)
};

#define LIBRARY "libcurl.so.4"

/* Loads libcurl. Debian's second library of it differs only in its TLS. */
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

/* Keeps this library loaded: libcurl goes on to call these functions, also if the program has closed the library
 * that has them. */
static void stay_loaded(void)
{
    static const char here;
    Dl_info own;

    if (dladdr(&here, &own) != 0 && own.dli_fname)
        (void)dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Loads the library, which stays loaded. LEAT_E_UNSUPPORTED, with what to install, if it is missing or older than
 * 7.68. */
static enum leat_status curl_api_open(struct curl_api *api, struct leat_error *err)
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
    stay_loaded();
    /* libcurl copies requests and answers, with the tokens and keys in them, so memory that it frees is zeroed.
     * Initialization is counted: others may have called it, with their own functions for memory, and may call it
     * again. */
    r = api->global_init_mem(CURL_GLOBAL_DEFAULT, malloc, text_wipe, text_resize, strdup, calloc);
    if (r != CURLE_OK)
        return status_set(err, LEAT_E_UNSUPPORTED, "libcurl does not start: %s", api->easy_strerror(r));
    return LEAT_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

#define CONNECT_SECONDS  10
#define STALL_RATE       1024L /* bytes per second */
#define BULK_BUFFER      (256L << 10)
#define KEPT_CONNECTIONS 96L

struct carrying {
    struct curl_api api;
    CURLM *multi;
};

struct attempt {
    CURL *easy;
    struct curl_slist *headers;
};

static enum leat_status open_curl(struct carrying **out, struct leat_error *err)
{
    struct carrying *c = calloc(1, sizeof *c);
    enum leat_status s;

    *out = NULL;
    if (!c)
        return status_no_memory(err, sizeof *c);
    s = curl_api_open(&c->api, err);
    if (s == LEAT_OK) {
        c->multi = c->api.multi_init();
        if (!c->multi)
            s = status_no_memory(err, 0);
        else
            (void)c->api.multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
    }
    if (s != LEAT_OK)
        free(c);
    else
        *out = c;
    return s;
}

static void close_curl(struct carrying *c)
{
    if (c)
        (void)c->api.multi_cleanup(c->multi);
    free(c);
}

/* ---- Attempts --------------------------------------------------------------------------------------------------- */

static size_t on_header(char *line, size_t one, size_t bytes, void *transfer)
{
    return answer_line(transfer, line, one * bytes) ? one * bytes : 0;
}

static size_t on_bytes(char *data, size_t one, size_t bytes, void *transfer)
{
    return answer_bytes(transfer, data, one * bytes) ? one * bytes : 0;
}

static void end_attempt(struct carrying *c, struct transfer *t)
{
    struct attempt *a = t->attempt;

    if (!a)
        return;
    if (a->easy) {
        (void)c->api.multi_remove_handle(c->multi, a->easy);
        c->api.easy_cleanup(a->easy);
    }
    for (struct curl_slist *h = a->headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data));
    c->api.slist_free_all(a->headers);
    free(a);
    t->attempt = NULL;
}

static bool add_headers(struct carrying *c, struct attempt *a, const struct request *r)
{
    /* keeps libcurl from adding these headers to a request with a body */
    static const char *const none[] = { "Expect:", "Content-Type:" };

    for (size_t i = 0; i < r->header_count + 2; i++) {
        struct curl_slist *more = c->api.slist_append(a->headers, i < 2 ? none[i] : r->headers[i - 2]);

        if (!more)
            return false;
        a->headers = more;
    }
    return true;
}

static bool set_all(struct carrying *c, struct transfer *t, const struct request *r)
{
    CURL *e = t->attempt->easy;
    CURLcode bad = CURLE_OK;

#define SET(option, value) bad = bad == CURLE_OK ? c->api.easy_setopt(e, CURLOPT_##option, value) : bad
    SET(URL, r->url);
    SET(PATH_AS_IS, 1L);
    SET(NOSIGNAL, 1L);
    SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CONNECTTIMEOUT, r->stall_seconds < CONNECT_SECONDS ? (long)r->stall_seconds : CONNECT_SECONDS);
    if (r->near)
        SET(NOPROXY, "*");
    if (r->certificates)
        SET(CAINFO, r->certificates);
    SET(LOW_SPEED_LIMIT, STALL_RATE);
    SET(LOW_SPEED_TIME, (long)r->stall_seconds);
    SET(HTTPHEADER, t->attempt->headers);
    SET(HEADERFUNCTION, on_header);
    SET(HEADERDATA, (void *)t);
    SET(WRITEFUNCTION, on_bytes);
    SET(WRITEDATA, (void *)t);
    SET(PRIVATE, (void *)t);
    if (t->count >= (uint64_t)BULK_BUFFER) /* a buffer for large ranges; libcurl's own 16 KiB are right for others */
        SET(BUFFERSIZE, BULK_BUFFER);
    if (t->method == TRANSFER_PUT || t->method == TRANSFER_POST) {
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)t->body_bytes);
        SET(POSTFIELDS, t->body_bytes ? t->body : "");
    }
    SET(CUSTOMREQUEST, r->method);
#undef SET
    return bad == CURLE_OK;
}

static enum leat_status begin_curl(struct carrying *c, struct transfer *t, const struct request *r,
                                   struct leat_error *err)
{
    struct attempt *a = t->attempt = calloc(1, sizeof *a);

    if (!a)
        return status_no_memory(err, sizeof *a);
    a->easy = c->api.easy_init();
    if (!a->easy || !add_headers(c, a, r) || !set_all(c, t, r) ||
        c->api.multi_add_handle(c->multi, a->easy) != CURLM_OK) {
        end_attempt(c, t);
        return status_set(err, LEAT_E_NO_MEMORY, "libcurl does not take a request: out of memory");
    }
    return LEAT_OK;
}

static void run_curl(struct carrying *c, int milliseconds)
{
    int running = 0;

    if (c->api.multi_perform(c->multi, &running) == CURLM_OK && running > 0)
        (void)c->api.multi_poll(c->multi, NULL, 0, milliseconds, NULL);
}

static void wake_curl(struct carrying *c)
{
    (void)c->api.multi_wakeup(c->multi);
}

static enum carried judge(CURLcode r, const struct transfer *t)
{
    switch (r) {
    case CURLE_OK:
        return CARRIED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return CARRIED_UNREACHABLE;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_NOT_BUILT_IN:
    case CURLE_UNKNOWN_OPTION:
    case CURLE_OUT_OF_MEMORY:
        return CARRIED_HOPELESS;
    case CURLE_WRITE_ERROR: /* the transfer has refused the answer, and its code says why */
        return t->code >= 200 ? CARRIED : CARRIED_PARTLY;
    default:
        return CARRIED_PARTLY;
    }
}

static struct transfer *ended_curl(struct carrying *c, enum carried *how, const char **why)
{
    struct transfer *t;
    char *redirected = NULL;
    int left;
    CURLMsg *m;

    do
        m = c->api.multi_info_read(c->multi, &left);
    while (m && m->msg != CURLMSG_DONE);
    if (!m)
        return NULL;
    *why = m->data.result == CURLE_OK ? "" : c->api.easy_strerror(m->data.result);
    (void)c->api.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
    (void)c->api.easy_getinfo(m->easy_handle, CURLINFO_REDIRECT_URL, &redirected);
    *how = judge(m->data.result, t);
    answer_redirect(t, redirected);
    end_attempt(c, t);
    return t;
}

const struct carrier carrier_library = { .open = open_curl,
                                         .close = close_curl,
                                         .begin = begin_curl,
                                         .cancel = end_attempt,
                                         .run = run_curl,
                                         .wake = wake_curl,
                                         .ended = ended_curl };
#else
static enum leat_status open_none(struct carrying **out, struct leat_error *err)
{
    *out = NULL;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "URLs need libcurl, and this build of leat was made without it; install its headers (Debian, "
                      "Ubuntu: libcurl4-openssl-dev) and build again");
}

static void close_none(struct carrying *c)
{
    (void)c;
}

/* The table without libcurl: nothing can be opened, so its other functions are never called. */
const struct carrier carrier_library = { .open = open_none, .close = close_none };
#endif
