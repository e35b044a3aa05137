/* search.c: the list of inputs that a search fills, and what each part of the search asks. */
#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/memory.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"

enum leat_status search_check_stop(struct search *s, struct leat_error *err)
{
    bool stopped = s->tries->ended || s->stop.asked(s->stop.context);

    return stopped ? status_set(err, LEAT_E_STOPPED, "looking for inputs was stopped") : LEAT_OK;
}

char *search_join(const char *folder, size_t length, const char *name)
{
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s%s%s", (int)length, folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

/* Adds an input, and takes over `place`, whose first `before` bytes are not a part of its name. */
static enum leat_status add_input(struct input_list *list, char *place, size_t before,
                                  const struct record_format *format, const struct stat *st, struct leat_error *err)
{
    enum leat_status s = place ? GROW(list->items, list->count + 1, list->room, err) : status_no_memory(err, before);
    struct input *in;

    if (s != LEAT_OK) {
        free(place);
        return s;
    }
    in = &list->items[list->count++];
    *in = (struct input) {
        .place = place, .path = place + before, .format = format, .compressed = byte_stream_stem(place) < strlen(place)
    };
    if (st) {
        in->size = in->end = (uint64_t)st->st_size;
        in->device = st->st_dev;
        in->inode = st->st_ino;
        in->modified_s = st->st_mtim.tv_sec;
        in->modified_ns = st->st_mtim.tv_nsec;
    }
    list->bytes += in->size;
    return LEAT_OK;
}

#define ASK_EACH 4096u /* names between two checks of memory, which is a system call */

/* Fails while names are still being found if they take too much memory: a server, or the owner of a folder, decides
 * how many there are. */
static enum leat_status check_memory(const struct search *s, struct leat_error *err)
{
    size_t names = s->list->count;

    if (s->rules->memory == 0 || names == 0 || names % ASK_EACH != 0 || memory_resident() <= s->rules->memory)
        return LEAT_OK;
    return status_field(err,
                        status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_MEMORY, NULL,
                                        "the names of more than %zu inputs take all of %" PRIu64
                                        " MiB of memory; allow more, or pack fewer at once",
                                        names, s->rules->memory >> 20),
                        "memory");
}

enum leat_status search_add(struct search *s, const char *path, const struct record_format *format,
                            const struct stat *st, struct leat_error *err)
{
    enum leat_status status;

    if ((s->lists > 0 || s->links > 0) && ++s->indirect > SEARCH_IN_LIST)
        return status_in_file(
            err,
            status_argument(err, "inputs",
                            "%s: lists and links name more than %u inputs; do they name each other again and again?",
                            path, SEARCH_IN_LIST),
            path);
    status = check_memory(s, err);
    return status == LEAT_OK ? add_input(s->list, strdup(path), s->before, format, st, err) : status;
}

enum leat_status search_skip(struct search *s, const char *path, enum leat_skip_reason reason, const char **kept,
                             struct leat_error *err)
{
    struct input_list *list = s->list;
    enum leat_status status = GROW(list->skipped, list->skipped_count + 1, list->skipped_room, err);
    char *copy = status == LEAT_OK ? strdup(path + s->before) : NULL;

    if (!copy)
        return status == LEAT_OK ? status_no_memory(err, strlen(path)) : status;
    list->skipped[list->skipped_count++] = (struct input_skipped) { .path = copy, .reason = reason };
    if (kept)
        *kept = copy;
    return LEAT_OK;
}
