/* import_source.c: the files of a source, and which of its columns holds ids; see import.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/status.h"
#include "import.h"

/* A name from an index stays in the folder of the index, whoever wrote it. */
static bool leads_out(const char *name)
{
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0))
            return true;
    }
    return name[0] == '/' || name[0] == 0;
}

static enum leat_status make_room(struct import_source *s, struct leat_error *err)
{
    uint64_t room = s->file_room ? 2 * s->file_room : 64;
    struct import_file *more;

    if (s->file_count < s->file_room)
        return LEAT_OK;
    more = realloc(s->files, room * sizeof *more);
    if (!more)
        return status_no_memory(err, room * sizeof *more);
    s->files = more;
    s->file_room = room;
    return LEAT_OK;
}

enum leat_status import_add_file(struct import_source *s, const char *folder, const char *name,
                                 struct import_file **file, struct leat_error *err)
{
    size_t size = (folder ? strlen(folder) : 0) + strlen(name) + 2;
    enum leat_status status = make_room(s, err);
    struct import_file *f;
    struct stat st;
    int fd = -1;

    if (status == LEAT_OK && folder && leads_out(name))
        return status_set(err, LEAT_E_HEADER, "%s names a file \"%.200s\", which is not inside its folder", s->path,
                          name);
    if (status != LEAT_OK)
        return status;
    f = &s->files[s->file_count];
    *f = (struct import_file) { .path = malloc(size), .plain = LEAT_NONE, .documents = LEAT_NONE };
    if (!f->path)
        return status_no_memory(err, size);
    snprintf(f->path, size, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    s->file_count++;
    *file = f;
    status = file_open_read(&fd, &f->size, f->path, err);
    if (status == LEAT_OK && fstat(fd, &st) != 0)
        status = status_set_os(err, errno, "cannot look at %s", f->path);
    if (status == LEAT_OK) {
        f->modified_s = st.st_mtim.tv_sec;
        f->modified_ns = st.st_mtim.tv_nsec;
    }
    file_close(&fd);
    return status;
}

/* ---- Columns ---- */

static bool is_called(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(wanted, name, length) == 0;
}

/* Labels that are one class for each document are no mask. */
static void note_mask(struct import_columns *c, uint64_t number, const void *name, size_t length, bool holds_ids)
{
    static const char *const masks[] = { "labels", "assistant_masks", "completion_mask", "loss_mask" };

    for (size_t i = holds_ids ? 0 : 1; i < sizeof masks / sizeof *masks; i++) {
        if (is_called(name, length, masks[i])) {
            c->mask = masks[i];
            c->mask_number = number;
        }
    }
}

void import_column(struct import_columns *c, const struct import_source *s, uint64_t number, const void *name,
                   size_t length, bool holds_ids)
{
    const char *wanted = s->options->column;
    size_t used = strlen(c->names);
    unsigned rank = 1;

    if (wanted && is_called(name, length, wanted)) {
        c->asked = true;
        rank = 4;
    } else if (is_called(name, length, "input_ids")) {
        rank = 3;
    } else if (is_called(name, length, "tokens")) {
        rank = 2;
    }
    if (rank < 4) /* the wanted column may be called like a mask itself */
        note_mask(c, number, name, length, holds_ids);
    if (!holds_ids)
        return;
    if (length > 0)
        snprintf(c->names + used, sizeof c->names - used, "%s%.*s", used > 0 ? ", " : "",
                 (int)(length < sizeof c->names ? length : sizeof c->names), (const char *)name);
    c->count++;
    if (wanted && rank < 4)
        return;
    if (rank > 1 && rank == c->rank)
        c->twice = true;
    if (rank > c->rank) {
        c->rank = rank;
        c->chosen = number;
        c->twice = false;
    }
}

enum leat_status import_column_chosen(const struct import_columns *c, struct import_source *s, struct leat_error *err)
{
    const char *wanted = s->options->column;

    if (c->twice)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s: the column \"%s\" appears twice; write a file that has it once",
                          s->path,
                          c->rank == 4   ? wanted
                          : c->rank == 3 ? "input_ids"
                                         : "tokens");
    if (c->chosen != LEAT_NONE && (c->rank > 1 || c->count == 1)) {
        s->mask = c->mask && c->mask_number != c->chosen ? c->mask : NULL;
        return LEAT_OK;
    }
    if (wanted && c->asked)
        return status_set(err, LEAT_E_ARGUMENT, "%s: the column \"%s\" does not hold lists of integers", s->path,
                          wanted);
    if (wanted && c->count > 0 && !*c->names)
        return status_set(err, LEAT_E_NOT_FOUND, "%s has no column \"%s\": its leaves have no names; leave column out",
                          s->path, wanted);
    if (wanted)
        return status_set(err, LEAT_E_NOT_FOUND, "%s has no column \"%s\"; columns that can hold ids: %s", s->path,
                          wanted, c->count > 0 ? c->names : "none");
    if (c->count == 0)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s: no column holds lists of integers (one inside another column, a dict or struct, is not "
                          "read): if it has texts, pack these",
                          s->path);
    if (!*c->names)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s: several leaves can hold ids, and they have no names; write items that are a dict of "
                          "leaves",
                          s->path);
    return status_set(err, LEAT_E_ARGUMENT, "%s: several columns can hold ids; name one of them: %s", s->path,
                      c->names);
}
