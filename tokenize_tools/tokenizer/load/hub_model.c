/* hub_model.c: asks the Hub, and writes files into the cache under temporary names before they get their own. */
#include "hub_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsontree.h"
#include "base/path.h"
#include "base/random_words.h"
#include "base/status.h"
#include "remote/digest.h"
#include "remote/text.h"

#define MAX_BYTES ((uint64_t)1 << 30)

/* ---- Files on the Hub -------------------------------------------------------------------------------------------- */

static enum leat_status add_name(struct hub_model *m, struct jsontree_text text, struct leat_error *err)
{
    char **names;

    if (text.length == 0 || text.bytes[0] == '.' || memchr(text.bytes, '/', text.length) ||
        memchr(text.bytes, '\0', text.length))
        return LEAT_OK;
    names = reallocarray(m->names, m->count + 1, sizeof *names);
    if (!names)
        return status_no_memory(err, (m->count + 1) * sizeof *names);
    m->names = names;
    names[m->count] = strndup((const char *)text.bytes, text.length);
    if (!names[m->count])
        return status_no_memory(err, text.length);
    m->count++;
    return LEAT_OK;
}

/* Reads the names in "siblings": [{"rfilename": NAME}, ...]. */
static enum leat_status read_names(struct hub_model *m, const struct buffer *json, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = jsontree_parse(&j, json->bytes, json->size, m->id, err);
    uint32_t list, node;

    if (s != LEAT_OK)
        return s;
    list = jsontree_member(&j, 0, "siblings");
    node = list + 1;
    for (uint32_t i = 0;
         s == LEAT_OK && list != JSONTREE_NONE && j.nodes[list].kind == JSONTREE_ARRAY && i < j.nodes[list].length;
         i++, node = jsontree_next(&j, node)) {
        uint32_t name = jsontree_member(&j, node, "rfilename");

        if (name != JSONTREE_NONE && j.nodes[name].kind == JSONTREE_STRING)
            s = add_name(m, jsontree_string(&j, name), err);
    }
    jsontree_free(&j);
    return s;
}

static bool is_stopped(void *stop)
{
    const struct locate_stop *s = stop;

    return s->asked && s->asked(s->context, NULL) != 0;
}

static void tell_waits(void *stop, const char *why)
{
    const struct locate_stop *s = stop;

    if (s->asked)
        (void)s->asked(s->context, why); /* is_stopped() asks again */
}

enum leat_status hub_model_open(struct hub_model *m, const char *id, const struct locate_stop *stop,
                                struct leat_error *err)
{
    struct remote_options options = { .stop = is_stopped, .context = &m->stop, .waits = tell_waits };
    struct buffer json = { 0 };
    struct url url = { 0 };
    char *text = NULL, *what = NULL;
    enum leat_status s = text_join(&text, err, "hf://", id, NULL);

    *m = (struct hub_model) { .stop = stop ? *stop : (struct locate_stop) { 0 } };
    if (s == LEAT_OK)
        s = url_parse(&url, text, err);
    if (s == LEAT_OK)
        s = remote_open(&m->remote, &options, err);
    if (s == LEAT_OK)
        s = hub_call(&what, "/revision/", &url, err);
    if (s == LEAT_OK)
        s = hub_ask(m->remote, &url, what, &json, err);
    if (s == LEAT_OK)
        s = hub_revision_read(json.bytes, json.size, &url, m->commit, &m->id, err);
    if (s == LEAT_OK)
        s = read_names(m, &json, err);
    buffer_free(&json);
    url_free(&url);
    free(text);
    free(what);
    return s;
}

void hub_model_close(struct hub_model *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->names[i]);
    free(m->names);
    free(m->id);
    remote_close(m->remote);
    *m = (struct hub_model) { 0 };
}

/* ---- The cache --------------------------------------------------------------------------------------------------- */

/* Makes the folders that a path leads through. */
static enum leat_status make_folders(char *path, struct leat_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        int failed, why;

        *slash = '\0';
        failed = mkdir(path, 0777);
        why = errno;
        if (failed && why != EEXIST && access(path, F_OK) != 0) {
            status_set_os(err, why, path, "cannot make the folder %s of the Hugging Face cache", path);
            *slash = '/';
            return err ? err->status : LEAT_E_IO;
        }
        *slash = '/';
    }
    return LEAT_OK;
}

/* Writes a file. A file of this name always has all its bytes, whoever else makes it. */
static enum leat_status write_file(char *path, const void *bytes, uint64_t size, struct leat_error *err)
{
    enum leat_status s = make_folders(path, err);
    char number[24], *partial;
    uint64_t word;
    int fd = -1;

    if (s != LEAT_OK)
        return s;
    random_words(&word, 1);
    snprintf(number, sizeof number, "%016" PRIx64, word);
    partial = path_append(path, strlen(path), ".", number, ".incomplete", NULL); /* the Hub's client uses this name,
                                                                                    too */
    if (!partial)
        return status_no_memory(err, strlen(path));
    s = file_create(&fd, partial, err);
    if (s == LEAT_OK)
        s = file_write_at(fd, 0, bytes, size, partial, err);
    if (s == LEAT_OK)
        s = file_sync(fd, partial, err);
    file_close(&fd);
    if (s == LEAT_OK)
        s = file_rename(partial, path, true, err);
    if (s != LEAT_OK)
        (void)unlink(partial);
    free(partial);
    return s;
}

/* Sets `name` to the etag without quotes and prefix, by which the Hub's client calls the blob. Returns false if that
 * is no hash. */
static bool blob_name(char name[SHA256_HEX], const char *etag)
{
    size_t length;

    etag += text_begins(etag, "W/") ? 2 : 0;
    etag += *etag == '"';
    length = strspn(etag, "0123456789abcdef");
    if ((length != HUB_COMMIT && length != SHA256_HEX - 1) || strcmp(etag + length, "\"") != 0)
        return false;
    snprintf(name, SHA256_HEX, "%.*s", (int)length, etag);
    return true;
}

static bool is_sum_of(const char *name, const void *bytes, uint64_t size)
{
    uint8_t sum[SHA256_BYTES];
    char hex[SHA256_HEX];

    if (strlen(name) != SHA256_HEX - 1) /* git's */
        return true;
    sha256_of(bytes, size, sum);
    sha256_hex(sum, hex);
    return strcmp(hex, name) == 0;
}

static enum leat_status fetch_blob(const struct hub_model *m, const struct url *url, const struct remote_object *object,
                                   const char *sum, char *path, struct leat_error *err)
{
    uint8_t *bytes = NULL;
    enum leat_status s = LEAT_OK;

    if (object->size > MAX_BYTES)
        return status_set_in(err, LEAT_E_UNSUPPORTED, url->name, "%s is larger than any tokenizer: %" PRIu64 " bytes",
                             url->name, object->size);
    bytes = malloc((size_t)object->size + 1);
    if (!bytes)
        return status_no_memory(err, object->size);
    s = remote_read(m->remote, url, object, 0, bytes, object->size, err);
    if (s == LEAT_OK && !is_sum_of(sum, bytes, object->size))
        s = status_set_in(err, LEAT_E_IO, url->name, "%s: the bytes are not those that the Hub has a sum of; try again",
                          url->name);
    if (s == LEAT_OK)
        s = write_file(path, bytes, object->size, err);
    free(bytes);
    return s;
}

/* Fetches the blob of a file, and makes a link to it under the file's name. */
static enum leat_status fetch_file(const struct hub_model *m, const struct url *url, const char *folder, char *link,
                                   struct leat_error *err)
{
    char sum[SHA256_HEX], *blob = NULL, *target = NULL;
    struct remote_object object;
    enum leat_status s = remote_stat(m->remote, url, &object, err);

    if (s == LEAT_OK && !blob_name(sum, object.etag))
        s = status_set_in(err, LEAT_E_IO, url->name, "%s: the Hub does not say which version it is", url->name);
    if (s == LEAT_OK)
        s = text_join(&blob, err, folder, "/blobs/", sum, NULL);
    if (s == LEAT_OK)
        s = text_join(&target, err, "../../blobs/", sum, NULL);
    if (s == LEAT_OK && access(blob, F_OK) != 0)
        s = fetch_blob(m, url, &object, sum, blob, err);
    if (s == LEAT_OK)
        s = make_folders(link, err);
    if (s == LEAT_OK && symlink(target, link) != 0 && errno != EEXIST)
        s = status_set_os(err, errno, link, "cannot make the link %s in the Hugging Face cache", link);
    free(blob);
    free(target);
    return s;
}

enum leat_status hub_model_fetch(const struct hub_model *m, const char *folder, const char *name,
                                 struct leat_error *err)
{
    char *link = NULL, *text = NULL;
    struct url url = { 0 };
    enum leat_status s = text_join(&link, err, folder, "/snapshots/", m->commit, "/", name, NULL);

    if (s == LEAT_OK && access(link, F_OK) != 0) {
        s = text_join(&text, err, "hf://", m->id, "@", m->commit, "/", name, NULL);
        if (s == LEAT_OK)
            s = url_parse(&url, text, err);
        if (s == LEAT_OK)
            s = fetch_file(m, &url, folder, link, err);
    }
    url_free(&url);
    free(text);
    free(link);
    return s;
}

enum leat_status hub_model_note(const struct hub_model *m, const char *folder, const char *revision,
                                struct leat_error *err)
{
    char *path;
    enum leat_status s = LEAT_OK;

    if (strcmp(revision, m->commit) == 0)
        return LEAT_OK;
    s = text_join(&path, err, folder, "/refs/", revision, NULL);
    if (s == LEAT_OK)
        s = write_file(path, m->commit, HUB_COMMIT, err);
    free(path);
    return s;
}
