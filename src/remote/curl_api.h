/*
 * curl_api.h: libcurl's functions, found when they are first needed. Linking with it would load some 30 libraries into
 * every program that uses leat, also into those that never see a URL.
 */
#ifndef LEAT_REMOTE_CURL_API_H
#define LEAT_REMOTE_CURL_API_H

#include "leat.h"

#ifdef LEAT_HAVE_CURL
#include <curl/curl.h>

#define CURL_FUNCTIONS(each)                                                                                           \
    each(global_init) each(easy_init) each(easy_cleanup) each(easy_setopt) each(easy_getinfo) each(easy_strerror)      \
        each(multi_init) each(multi_cleanup) each(multi_add_handle) each(multi_remove_handle) each(multi_perform)      \
            each(multi_poll) each(multi_wakeup) each(multi_info_read) each(multi_setopt) each(slist_append)            \
                each(slist_free_all)

/* Without parentheses these would be the macros that check types, which only fit calls by name. */
#define CURL_MEMBER(name) __typeof__(&(curl_##name)) name;
struct curl_api {
    void *library;
    CURL_FUNCTIONS(CURL_MEMBER)
};
#endif

struct curl_api;

/* Loads the library, which stays loaded. LEAT_E_UNSUPPORTED, with what to install, if it is missing or older than
 * 7.68, or if this build was made without its headers. */
enum leat_status curl_api_open(struct curl_api *api, struct leat_error *err);

#endif
