/* carrier_none.c: the carrier of a build without libcurl. */
#include "carrier.h"
#include "curl_api.h"

#ifndef LEAT_HAVE_CURL
static enum leat_status open_none(struct carrying **out, struct leat_error *err)
{
    *out = NULL;
    return curl_api_open(NULL, err);
}

static void close_none(struct carrying *c)
{
    (void)c;
}

/* Nothing can be opened, so the others are never called. */
const struct carrier carrier_library = { .open = open_none, .close = close_none };
#endif
