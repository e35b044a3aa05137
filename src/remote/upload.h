/*
 * upload.h: an object that is written to a bucket in parts: S3's multipart upload, or Azure's blocks (blocks.c). The
 * object exists when all parts are there and the upload is completed. Parts of an upload that was interrupted stay on
 * the server, and count if they are those that would be sent again.
 */
#ifndef LEAT_REMOTE_UPLOAD_H
#define LEAT_REMOTE_UPLOAD_H

#include "base/status.h"
#include "digest.h"
#include "remote.h"

#define UPLOAD_MAX_PARTS 10000u

struct upload_part {
    bool there; /* true: the part is on the server, with this MD5 */
    uint8_t md5[MD5_BYTES];
    char etag[MD5_ETAG]; /* etag in the server's form */
};

struct upload {
    struct remote *remote;
    const struct url *url;
    char *id, *encoded_id;
    struct upload_part *parts;
    uint64_t part_count;
};

/* Finds an upload of this object that was not completed, with its parts, or begins one of 1 to UPLOAD_MAX_PARTS
 * parts. Call upload_free() after a failure, too; it leaves the upload on the server. */
enum leat_status upload_begin(struct upload *u, struct remote *remote, const struct url *url, uint64_t parts,
                              struct leat_error *err);
void upload_free(struct upload *u);

/* Sets *query to the query of the request that puts a part (from 0 on) with this MD5; the caller frees it. */
enum leat_status upload_query(struct upload *u, uint64_t part, const uint8_t md5[MD5_BYTES], char **query,
                              struct leat_error *err);

/* Notes what the server answered to that request. Returns LEAT_E_IO for an invalid etag; blocks have none. */
enum leat_status upload_note(struct upload *u, uint64_t part, const char *etag, struct leat_error *err);

/* Makes the object of its parts. With `only_new`, returns LEAT_E_EXISTS if there is one already. */
enum leat_status upload_complete(struct upload *u, bool only_new, struct leat_error *err);

/* Removes the parts from the server; Azure does that by itself, after a week. */
enum leat_status upload_discard(struct upload *u, struct leat_error *err);

/* Removes uploads that were not completed, for objects below a URL s3://BUCKET/PREFIX for whose key `dead` is true.
 * If the server does not list uploads, or not for these keys, there are none to remove; nor are there on Azure. */
enum leat_status upload_sweep(struct remote *remote, const struct url *below,
                              bool (*dead)(void *context, const char *key), void *context, struct leat_error *err);

/* ---- blocks.c: uploads to Azure ---- */

enum leat_status blocks_find(struct upload *u, struct leat_error *err);
enum leat_status blocks_query(const struct upload *u, uint64_t part, char **query, struct leat_error *err);
enum leat_status blocks_complete(struct upload *u, bool only_new, struct leat_error *err);

/* Fills `err` for an answer that does not follow the protocol. */
static inline enum leat_status upload_strange(const struct url *url, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_IO, url->name, "%s: the server's answer is not valid for %s", url->name,
                         url->scheme == URL_AZURE ? "Azure" : "S3");
}

#endif
