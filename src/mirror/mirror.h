/*
 * mirror.h: the room of whole datasets that go from a server to a disk and back: leat_pull() and leat_push(). What
 * copies, compares and resumes leat's own two files belongs here; requests belong to remote/, opening to dataset/.
 */
#ifndef LEAT_MIRROR_H
#define LEAT_MIRROR_H

#include <stdbool.h>

#include "base/tiny.h"
#include "format/format.h"
#include "leat.h"
#include "remote/remote.h"
#include "writer/writer.h"

#define MIRROR_PIECE           TINY_OR((uint64_t)8192, (uint64_t)64 << 20) /* of a section, in memory */
#define MIRROR_CONNECTIONS     8u
#define MIRROR_MAX_CONNECTIONS 64u /* each with a range in memory */

/* A file here, and whether its reader is to stop. */
struct mirror_file {
    int fd;
    const char *path;
    bool (*stop)(void *context);
    void *context;
};

enum leat_status mirror_stopped(struct leat_error *err);

/* Whether a section has the sum that the header says. */
enum leat_status mirror_section_is_right(const struct mirror_file *f, const struct format_place *place, bool *right,
                                         struct leat_error *err);

/* How many zeros follow a section. */
uint64_t mirror_padding(const struct format_header *h, const struct format_place *place);

/* A dataset on its way from a server. */
struct pull {
    struct leat_pull_options options;
    struct leat_pull_report report;
    struct remote *remote;
    struct url index_url, tokens_url;
    struct remote_object index, tokens; /* as the server has them */
    struct writer_names names;
    int lock, index_fd, tokens_fd; /* the files are NAME.partial.leat and NAME.partial.tokens */
    const struct checksum_kernels *kernels;
    uint8_t page[FORMAT_HEADER_BYTES]; /* the first of the index */
    struct format_header header;
    uint64_t done; /* bytes of both files that are here */
};

/* Counts bytes that are here now; LEAT_E_STOPPED if the caller wants to stop. */
enum leat_status pull_advance(struct pull *p, uint64_t bytes, struct leat_error *err);

/* Whether the caller wants to stop; the context is a struct pull. */
bool pull_wants_stop(void *context);

/* Brings the sections of the index that are not here yet, and checks them. */
enum leat_status pull_index(struct pull *p, struct leat_error *err);

/* Brings the pages of tokens that are not here yet, and checks them. */
enum leat_status pull_tokens(struct pull *p, struct leat_error *err);

#endif
