/* remote.h: copies datasets to servers and back. */
#ifndef LEAT_PUBLIC_REMOTE_H
#define LEAT_PUBLIC_REMOTE_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Datasets on servers ---------------------------------------------------------------------------------------- */

struct leat_pull_options {
    size_t size;
    uint32_t force;       /* replace an existing dataset */
    uint32_t connections; /* connections at once, at most 64, each with 8 MiB of memory; 0: 8 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_pull() (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_PULL_OPTIONS_INIT { sizeof(struct leat_pull_options), 0, 0, NULL, NULL }

struct leat_pull_report {
    size_t size;
    uint64_t bytes;     /* bytes of both files */
    uint64_t kept;      /* bytes of these that an earlier call had brought */
    uint64_t tokens;
    uint64_t documents;
    uint64_t requests;
    uint64_t retries;   /* requests that were tries after the first */
};
#define LEAT_PULL_REPORT_INIT { sizeof(struct leat_pull_report), 0, 0, 0, 0, 0, 0 }

/*
 * Copies a dataset of leat's own from a server to this machine: URL.leat and URL.tokens to NAME.leat and NAME.tokens.
 * `url` is s3://BUCKET/NAME, gs://BUCKET/NAME, az://CONTAINER/NAME, hf://datasets/ORG/REPOSITORY/NAME, https://... or
 * http://..., with or without one of the suffixes; a query stays behind the suffix. Keys, region and endpoint come from
 * the usual variables and files of AWS's tools, for az:// from those of Azure's, for hf:// from those of the Hub's
 * (docs/object-storage.md); none is in a message. Every page and section is checked by its hash when it arrives.
 *
 * Until all is here and durable, no dataset of this name exists. What a call that failed, was stopped or killed has
 * brought stays in NAME.partial.tokens and NAME.partial.leat, and the next call goes on from there.
 *
 * Fills *report (may be NULL), also after a failure. Returns LEAT_E_NO_FILE; LEAT_E_PERMISSION (keys); LEAT_E_MISMATCH
 * if the dataset changes on the server meanwhile; LEAT_E_CHECKSUM for damage; LEAT_E_IO for a server or network that
 * fails many times; LEAT_E_UNSUPPORTED without libcurl, for a server that does not serve ranges, and for an adopted
 * dataset; LEAT_E_EXISTS, _BUSY, _NO_SPACE, _STOPPED; or what opening a dataset returns.
 */
LEAT_API enum leat_status leat_pull(const char *url, const char *name, const struct leat_pull_options *options,
                                    struct leat_pull_report *report, struct leat_error *err);

struct leat_push_options {
    size_t size;
    uint32_t force;       /* replace a dataset that is there: its index is removed first */
    uint32_t connections; /* connections at once, at most 64, each with a part in memory (16 MiB, more beyond 156
                           * GiB); 0: 8 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_push() (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_PUSH_OPTIONS_INIT { sizeof(struct leat_push_options), 0, 0, NULL, NULL }

struct leat_push_report {
    size_t size;
    uint64_t bytes;     /* bytes of both files */
    uint64_t kept;      /* bytes of these that an earlier call had sent */
    uint64_t tokens;
    uint64_t documents;
    uint64_t requests;
    uint64_t retries;   /* requests that were tries after the first */
};
#define LEAT_PUSH_REPORT_INIT { sizeof(struct leat_push_report), 0, 0, 0, 0, 0, 0 }

/*
 * Copies a dataset of leat's own to a bucket, s3://BUCKET/NAME, gs://BUCKET/NAME or az://CONTAINER/NAME: NAME.tokens
 * first, then NAME.leat, in uploads of several parts; each exists when it is whole. The pages are checked by their
 * hashes before they are sent, and the server checks what arrives by the SHA-256 in each request's signature (Azure: by
 * its MD5). What a call that failed, was
 * stopped or killed has sent stays on the server, and the next call does not send it again. Nothing is replaced without
 * `force`, also if it appears meanwhile, where the server knows If-None-Match.
 *
 * Fills *report (may be NULL), also after a failure. Returns LEAT_E_EXISTS; LEAT_E_CHECKSUM for damage here;
 * LEAT_E_PERMISSION (keys); LEAT_E_IO for a server or network that fails many times; LEAT_E_UNSUPPORTED without libcurl
 * and for what is not a dataset of leat's own on this machine (adopted, other tools' files, a list, a URL);
 * LEAT_E_STOPPED; or what opening a dataset returns.
 */
LEAT_API enum leat_status leat_push(const char *name, const char *url, const struct leat_push_options *options,
                                    struct leat_push_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
