/* push.h: a dataset on its way to a server, for the files of leat_push(). */
#ifndef LEAT_MIRROR_PUSH_H
#define LEAT_MIRROR_PUSH_H

#include "mirror.h"

struct push {
    struct leat_push_options options;
    struct leat_push_report report;
    struct remote *remote;
    const struct checksum_kernels *kernels;
    struct format_header header;
    char *index_path, *tokens_path;
    int index_fd, tokens_fd;
    struct url index_url, tokens_url;
    uint64_t done; /* bytes of both files that are there */
};

/* Counts bytes that are there now; LEAT_E_STOPPED if the caller wants to stop. */
enum leat_status push_advance(struct push *p, uint64_t bytes, struct leat_error *err);

/* One of the two files. */
struct push_file {
    struct push *push;
    int fd;
    const char *path;
    const struct url *url;
    uint64_t bytes;
    bool tokens; /* the pages' hashes are compared before they are sent */
};

/* Sends a file; the thing exists when all of it is there. */
enum leat_status push_file(struct push_file *f, struct leat_error *err);

#endif
