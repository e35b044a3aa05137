/*
 * fit_write.c: leat_dataset_fit(): writes the side files of a dataset's parts. The sorted list is made window by
 * window, each with a pass over the documents' starts, so memory does not grow with it. A file gets its name when it is
 * complete and on disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "fit_side.h"

typedef unsigned long long ull;

#define WINDOW (TINY_OR((uint64_t)1, (uint64_t)128 << 10) * FIT_SIDE_PAGE / 4) /* documents: whole pages, 128 MiB */

static enum leat_status write_list(struct fit_sort *x, int fd, uint64_t offset, uint8_t *sums, const char *path,
                                   struct leat_error *err)
{
    uint64_t room = x->documents < WINDOW ? x->documents : WINDOW;
    uint32_t *list = malloc((size_t)(room + 1) * sizeof *list);
    enum leat_status s = list ? LEAT_OK : status_no_memory(err, room * sizeof *list);

    for (uint64_t first = 0, here; s == LEAT_OK && first < x->documents; first += here) {
        here = x->documents - first < room ? x->documents - first : room;
        s = fit_sort_list(x, first, here, list, err);
        for (uint64_t i = 0; BYTES_BIG_ENDIAN && i < here; i++)
            list[i] = bytes_le32(list[i]);
        if (s != LEAT_OK)
            break;
        fit_side_hash(sums + 8 * fit_side_pages(first), list, 4 * here);
        s = file_write_at(fd, offset + 4 * first, list, 4 * here, path, err);
    }
    free(list);
    return s;
}

/* Another thread or process that makes this file is waited for: all who call for it get it. */
static enum leat_status begin(int *fd, const struct fit_sort *x, const char *partial, struct leat_error *err)
{
    static const struct timespec moment = { 0, 10000000 };
    struct leat_error why;
    enum leat_status s;

    while ((s = own_file_begin(fd, partial, &why)) == LEAT_E_BUSY) {
        if (x->progress && x->progress(x->context, 0, 8 * x->total))
            return status_set(err, LEAT_E_STOPPED, "stopped");
        nanosleep(&moment, NULL);
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

static enum leat_status write_file(struct fit_sort *x, const struct leat_part *part, int fd, const char *path,
                                   struct leat_error *err)
{
    enum leat_status s = fit_sort_count(x, err);
    uint8_t *sums, *head;
    uint64_t bytes;

    if (s != LEAT_OK)
        return s;
    bytes = fit_side_head_bytes(part->documents, x->run_count);
    head = fit_side_head(part, x->runs, x->run_count, &sums);
    s = head ? write_list(x, fd, bytes, sums, path, err) : status_no_memory(err, bytes);
    if (s == LEAT_OK) {
        fit_side_seal(head, bytes);
        s = file_write_at(fd, 0, head, bytes, path, err);
    }
    free(head);
    return s == LEAT_OK ? file_sync(fd, path, err) : s;
}

/* Writes under another name, which becomes `path` at the end. */
static enum leat_status replace(struct fit_sort *x, const struct leat_part *part, const char *path,
                                struct leat_error *err)
{
    char *partial = path_append(path, strlen(path), ".partial", NULL);
    enum leat_status s;
    int fd = -1;

    if (!partial)
        return status_no_memory(err, strlen(path));
    s = begin(&fd, x, partial, err);
    if (s == LEAT_OK) {
        s = write_file(x, part, fd, partial, err);
        if (s == LEAT_OK)
            s = file_rename(partial, path, true, err);
        if (s != LEAT_OK)
            file_remove(partial, NULL);
        else
            s = file_sync_folder(path, err);
    }
    file_close(&fd);
    free(partial);
    return s;
}

static enum leat_status fit_part(const struct leat_dataset *d, const struct leat_fit_options *o, uint64_t number,
                                 struct leat_error *err)
{
    struct leat_part part = LEAT_PART_INIT;
    struct fit_range all;
    struct fit_sort x = {
        .dataset = d, .ranges = &all, .range_count = 1, .progress = o->progress, .context = o->context
    };
    enum leat_status s = leat_dataset_part(d, number, &part, err);
    char *path = s == LEAT_OK ? fit_side_path(d, &part) : NULL;

    if (s == LEAT_OK && !path)
        s = status_no_memory(err, strlen(part.name));
    if (s == LEAT_OK && part.documents > UINT32_MAX)
        s = status_set(err, LEAT_E_UNSUPPORTED, "%.300s has %llu documents; a file of documents by length holds 2^32",
                       part.name, (ull)part.documents);
    if (s == LEAT_OK && own_file_is_url(path))
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "%s cannot be written beside a URL: copy the dataset with `leat pull` first", path);
    if (s == LEAT_OK)
        s = own_file_check_name(path, err);
    if (s == LEAT_OK) {
        all = (struct fit_range) { part.first_document, part.first_document + part.documents };
        x.base = part.first_document;
        x.total = part.documents * (1 + bytes_divide_up(part.documents, WINDOW));
        s = replace(&x, &part, path, err);
    }
    fit_sort_free(&x);
    free(path);
    return s;
}

enum leat_status leat_dataset_fit(const struct leat_dataset *d, const struct leat_fit_options *options,
                                  struct leat_error *err)
{
    struct leat_fit_options o = LEAT_FIT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_fit_options", err);

    if (s == LEAT_OK)
        s = leat_dataset_starts(d, 0, 0, NULL, err);
    leat_dataset_info(d, &info);
    for (uint64_t i = 0; s == LEAT_OK && i < info.parts; i++)
        s = fit_part(d, &o, i, err);
    return s;
}
