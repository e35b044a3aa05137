#include "part_foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"

bool foreign_has_scheme(const char *name, const char *scheme)
{
    size_t length = strlen(scheme);

    return strncmp(name, scheme, length) == 0 && name[length] == ':';
}

enum leat_status foreign_open_file(struct file_map *f, struct mounts *mounts, const char *path, size_t length,
                                   const char *suffix, enum leat_access access, struct leat_error *err)
{
    char *joined = path_append(path, length, suffix, NULL);
    enum leat_status s = joined ? file_map_open(f, mounts, joined, access, err) : status_no_memory(err, length);

    free(joined);
    return s;
}

enum leat_status foreign_peek(const char *path, size_t length, const char *suffix, void *out, size_t count, bool *there,
                              struct leat_error *err)
{
    char *joined = path_append(path, length, suffix, NULL);
    enum leat_status s = LEAT_OK;
    struct stat st;
    uint64_t size;
    int fd = -1;

    *there = false;
    if (!joined)
        return status_no_memory(err, length);
    if (stat(joined, &st) != 0) {
        /* the file may exist, and would be a mask, or decide what NAME means */
        if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
            s = status_set_os(err, errno, joined, "cannot look at %s", joined);
    } else if (S_ISREG(st.st_mode) && count == 0) {
        *there = true; /* it is not opened, which would ask a file server once more */
    } else if (S_ISREG(st.st_mode)) {
        s = file_open_read(&fd, &size, joined, err);
        if (s == LEAT_OK && count > 0 && size >= count)
            s = file_read_at(fd, 0, out, count, joined, err);
        *there = s == LEAT_OK && size >= count;
    }
    file_close(&fd);
    free(joined);
    return s;
}

enum leat_status foreign_take(struct part *p, struct file_map *file, uint64_t offset, uint64_t bytes, uint32_t width,
                              struct leat_error *err)
{
    if (bytes % width != 0)
        return status_set_at(err, LEAT_E_TRUNCATED, file->path, offset + bytes,
                             "%s holds %" PRIu64 " bytes of tokens, not a multiple of %u: it is cut, or its ids have "
                             "another size; restore it from its source",
                             file->path, bytes, (unsigned)width);
    p->foreign = true;
    p->data = (struct part_extent) { file, offset, bytes };
    p->token_width = width;
    p->tokens = bytes / width;
    p->vocabulary = width == 2 ? 65536 : FOREIGN_VOCABULARY;
    p->documents = p->end_token = p->begin_token = LEAT_NONE;
    return LEAT_OK;
}

/* ---- Masks ---- */

enum leat_status foreign_open_mask(struct file_map *f, struct part *p, const char *path, size_t length,
                                   const char *suffix, enum leat_access access, struct leat_error *err)
{
    enum leat_status s = foreign_open_file(f, p->mounts, path, length, suffix, access, err);

    if (s == LEAT_OK && f->size != p->tokens)
        return status_set_at(err, LEAT_E_MISMATCH, f->path, f->size,
                             "%s has %" PRIu64 " bytes, but a mask has one for each token, and %s has %" PRIu64
                             " tokens; restore both from their source",
                             f->path, f->size, p->data.file->path, p->tokens);
    if (s == LEAT_OK)
        p->mask = (struct part_extent) { f, 0, f->size };
    return s;
}

enum leat_status foreign_open_named_mask(struct file_map *f, struct part *p, const struct foreign_options *o,
                                         enum leat_access access, struct leat_error *err)
{
    size_t folder = o->length, room = o->length + o->mask_length + 1;
    char *path = malloc(room);
    enum leat_status s;

    if (!path)
        return status_no_memory(err, room);
    while (folder > 0 && o->path[folder - 1] != '/')
        folder--;
    if (o->mask[0] == '/')
        folder = 0;
    snprintf(path, room, "%.*s%.*s", (int)folder, o->path, (int)o->mask_length, o->mask);
    s = foreign_open_mask(f, p, path, strlen(path), "", access, err);
    free(path);
    return s;
}

/* ---- Names ---- */

static bool is_key(const char *text, size_t length, const char *key)
{
    return strlen(key) == length && memcmp(text, key, length) == 0;
}

/* Reads an id. The whole text must be a decimal number below FOREIGN_VOCABULARY. */
static bool parse_id(const char *text, size_t length, uint64_t *id)
{
    *id = 0;
    if (length == 0 || length > 10)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *id = 10 * *id + (uint64_t)(text[i] - '0');
    }
    return *id < FOREIGN_VOCABULARY;
}

static enum leat_status parse_pair(struct foreign_options *o, const char *text, size_t length, bool dtype,
                                   const char *name, struct leat_error *err)
{
    const char *equals = memchr(text, '=', length), *value = equals ? equals + 1 : text + length;
    size_t key = equals ? (size_t)(equals - text) : length, left = length - (size_t)(value - text);
    bool is_end = is_key(text, key, "end");

    if (dtype && is_key(text, key, "dtype")) {
        o->width = is_key(value, left, "u16") ? 2 : is_key(value, left, "u32") ? 4 : 0;
        if (o->width > 0)
            return LEAT_OK;
        return status_in_file(
            err,
            status_argument(err, "name",
                            "%.300s: unknown dtype \"%.*s\"; use u16, or u32, which reads files of int32 too", name,
                            (int)(left < 40 ? left : 40), value),
            name);
    }
    if (is_end || is_key(text, key, "begin")) {
        if (parse_id(value, left, is_end ? &o->end : &o->begin))
            return LEAT_OK;
        return status_in_file(err,
                              status_argument(err, "name", "%.300s: \"%.*s\" is not the id of a token", name,
                                              (int)(length < 40 ? length : 40), text),
                              name);
    }
    if (is_key(text, key, "tokenizer") && left > 0) {
        o->tokenizer = value;
        o->tokenizer_length = left;
        return LEAT_OK;
    }
    if (is_key(text, key, "mask") && left > 0) {
        o->mask = value;
        o->mask_length = left;
        return LEAT_OK;
    }
    return status_in_file(
        err,
        status_argument(err, "name",
                        "%.300s: unknown key \"%.*s\"; it may have %send=ID or begin=ID, tokenizer=SPEC, and mask=FILE",
                        name, (int)(key < 40 ? key : 40), text, dtype ? "dtype=u16|u32, " : ""),
        name);
}

enum leat_status foreign_parse(struct foreign_options *o, const struct part *p, bool dtype, struct leat_error *err)
{
    const char *name = p->name;
    size_t scheme = foreign_has_scheme(name, p->kind->name) ? strlen(p->kind->name) + 1 : 0;
    const char *at = scheme > 0 ? strrchr(name + scheme, '?') : NULL;
    enum leat_status s = LEAT_OK;

    *o = (struct foreign_options) { .path = name + scheme, .end = LEAT_NONE, .begin = LEAT_NONE };
    o->length = at ? (size_t)(at - o->path) : strlen(o->path);
    while (s == LEAT_OK && at && at[1]) {
        size_t length = strcspn(++at, "&");

        s = parse_pair(o, at, length, dtype, name, err);
        at += length;
        at = *at ? at : NULL;
    }
    if (s == LEAT_OK && o->length == 0)
        return status_in_file(err, status_argument(err, "name", "%.300s names no file", name), name);
    if (s == LEAT_OK && o->end != LEAT_NONE && o->begin != LEAT_NONE)
        return status_in_file(
            err, status_argument(err, "name", "%.300s: documents are found by end= or by begin=; give one", name),
            name);
    return s;
}

/* ---- Identity ---- */

/* Hashes of the first, middle and last page. */
static enum leat_status hash_pages(const struct part *p, const struct part_extent *x, uint8_t hashes[3 * 16],
                                   struct leat_error *err)
{
    uint64_t pages = bytes_divide_up(x->bytes, FORMAT_PAGE_BYTES);
    const uint64_t shown[3] = { 0, pages / 2, pages > 0 ? pages - 1 : 0 };
    uint8_t page[FORMAT_PAGE_BYTES];
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < 3 && pages > 0; i++) {
        uint64_t at = shown[i] * FORMAT_PAGE_BYTES, left = x->bytes - at;
        uint64_t count = left < sizeof page ? left : sizeof page;

        s = file_map_read(x->file, x->offset + at, page, count, err);
        if (s == LEAT_OK)
            checksum_store(hashes + (size_t)16 * i, p->kernels->hash(page, (size_t)count));
    }
    return s;
}

/* Computes the identity. Files that differ only in other pages have the same identity: a run resumes with them as if
 * nothing had changed. */
enum leat_status foreign_identify(struct part *p, struct leat_error *err)
{
    uint8_t facts[5 * 8 + 6 * 16] = { 0 };
    enum leat_status s;

    bytes_store64(facts, p->tokens);
    bytes_store64(facts + 8, p->documents);
    bytes_store64(facts + 16, p->end_token);
    bytes_store64(facts + 24, p->begin_token);
    bytes_store64(facts + 32, p->token_width);
    s = hash_pages(p, &p->data, facts + 40, err);
    if (s == LEAT_OK && p->mask.file)
        s = hash_pages(p, &p->mask, facts + 88, err);
    p->identity = p->kernels->hash(facts, p->mask.file ? sizeof facts : 88);
    return s;
}
