/* address.h: where the requests for a URL go: host and path, by the endpoint and the region. */
#ifndef LEAT_REMOTE_ADDRESS_H
#define LEAT_REMOTE_ADDRESS_H

#include <stdbool.h>

#include "url.h"

struct address {
    char *url;  /* without a query, if it is in a bucket */
    char *host; /* of the header Host, with its port */
    char *path; /* encoded; of what is in a bucket */
};

/* `endpoint` NULL: AWS's or Google's own. LEAT_E_ARGUMENT for an endpoint that is no URL. address_free() also after a
 * failure. */
enum leat_status address_make(struct address *a, const struct url *u, const char *endpoint, const char *region,
                              struct leat_error *err);

/* Whether a text may stand for a region in a host's name. */
bool address_is_region(const char *text);

void address_free(struct address *a);

#endif
