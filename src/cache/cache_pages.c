/*
 * cache_pages.c: the token file with holes, and what is known about its pages.
 *
 * The map has a byte per page, not a bit: processes that share it write single bytes, and none of these is lost. It is
 * read and written by calls, not mapped, so that a file that somebody cuts off is an error, and no SIGBUS.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache_inside.h"

#define AT_ONCE    16u                 /* pages that are found together */
#define FULL_BYTES ((uint64_t)8 << 20) /* to be freed on a full disk */
#define FULL_TRIES 50u                 /* ten a second */

uint64_t cache_page_bytes(const struct cache *c, uint64_t page, uint64_t count)
{
    uint64_t left = c->header.token_file_bytes - page * PAGE;

    return left < count * PAGE ? left : count * PAGE;
}

bool cache_all_known(const struct cache *c, uint64_t page, uint64_t end)
{
    for (; page < end; page++)
        if (!cache_bit(c->known, page))
            return false;
    return true;
}

/* ---- Opening ---- */

static enum leat_status open_whole(struct cache *c, struct leat_error *err)
{
    uint64_t size = 0;
    enum leat_status s = own_file_open(&c->tokens_fd, &size, c->paths[PATH_TOKENS], OWN_FILE_READ, err);

    if (s == LEAT_OK && size != c->header.token_file_bytes) {
        file_close(&c->tokens_fd);
        return status_set(err, LEAT_E_TRUNCATED,
                          "%s has %llu bytes, but should have %llu: it was changed; remove its folder in the "
                          "cache to fetch it again",
                          c->paths[PATH_TOKENS], (unsigned long long)size,
                          (unsigned long long)c->header.token_file_bytes);
    }
    c->whole = s == LEAT_OK;
    return s;
}

static enum leat_status open_partial(struct cache *c, struct leat_error *err)
{
    size_t words = (size_t)bytes_divide_up(c->pages, 64) + 1;
    enum leat_status s = cache_open_file(&c->tokens_fd, c->paths[PATH_TOKENS_PARTIAL], err);

    c->regions = cache_regions(c->pages);

    if (s == LEAT_OK)
        s = file_truncate(c->tokens_fd, c->header.token_file_bytes, c->paths[PATH_TOKENS_PARTIAL], err);
    if (s == LEAT_OK)
        s = cache_open_file(&c->map_fd, c->paths[PATH_MAP], err);
    if (s == LEAT_OK)
        s = file_truncate(c->map_fd, c->regions.at + c->regions.count * sizeof(struct region), c->paths[PATH_MAP], err);
    if (s != LEAT_OK)
        return s;
    c->held = calloc((size_t)c->regions.count + 1, sizeof *c->held);
    c->known = calloc(words, sizeof *c->known);
    c->asked = calloc(words, sizeof *c->asked);
    return c->known && c->asked && c->held ? LEAT_OK : status_no_memory(err, words * sizeof *c->known);
}

enum leat_status cache_pages_open(struct cache *c, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = open_whole(c, &why);

    if (s == LEAT_E_NO_FILE) {
        struct leat_error again;

        s = open_partial(c, &why);
        /* who fills it may have given it its name in between; then the new file is not the one that is shared */
        if (s == LEAT_OK && own_file_open(&c->fill_fd, NULL, c->paths[PATH_TOKENS], OWN_FILE_READ, &again) == LEAT_OK) {
            file_close(&c->fill_fd);
            cache_pages_close(c);
            s = open_whole(c, &why);
        }
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

void cache_pages_close(struct cache *c)
{
    file_close(&c->tokens_fd);
    file_close(&c->map_fd);
    free(c->known);
    free(c->asked);
    free(c->held);
    c->known = c->asked = NULL;
    c->held = NULL;
}

/* ---- Checking ---- */

enum leat_status cache_check(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count, uint64_t *wrong,
                             struct hash128 *sum, struct leat_error *err)
{
    const struct format_place *place = &c->header.sections[FORMAT_PAGES];
    uint32_t stored[64], computed[64];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        struct hash128 part = { 0, 0 };

        here = count - done < 64 ? count - done : 64;
        *wrong = page + done;
        s = file_read_at(c->index_fd, place->offset + *wrong * sizeof *stored, stored, here * sizeof *stored,
                         c->paths[PATH_INDEX], err);
        if (s != LEAT_OK)
            return s;
        c->kernels->pages(&part, bytes + done * PAGE, (size_t)cache_page_bytes(c, *wrong, here), *wrong, computed);
        for (uint64_t i = 0; i < here; i++, ++*wrong)
            if (bytes_le32(stored[i]) != computed[i])
                return LEAT_OK;
        if (sum)
            checksum_add(sum, part);
    }
    *wrong = page + count;
    return s;
}

/* ---- Finding ---- */

/* Makes those of some pages known that are right in the file. One that is not there, cannot be read, or is wrong, is
 * fetched. */
static enum leat_status look_at(struct cache *c, uint64_t page, uint64_t count, uint8_t *room, struct leat_error *err)
{
    uint64_t end = page + count, wrong;
    enum leat_status s;

    if (file_read_at(c->tokens_fd, page * PAGE, room, cache_page_bytes(c, page, count), c->paths[PATH_TOKENS_PARTIAL],
                     NULL) != LEAT_OK)
        return LEAT_OK;
    for (uint64_t at = page; at < end; at = wrong + 1) {
        s = cache_check(c, room + (at - page) * PAGE, at, end - at, &wrong, NULL, err);
        if (s != LEAT_OK)
            return s;
        for (uint64_t right = at; right < wrong; right++)
            cache_set(c->known, right);
    }
    return LEAT_OK;
}

enum leat_status cache_find(struct cache *c, uint64_t page, uint64_t end, struct leat_error *err)
{
    uint8_t marks[AT_ONCE], *room = NULL;
    enum leat_status s = LEAT_OK;

    for (uint64_t count; s == LEAT_OK && page < end; page += count) {
        count = end - page < AT_ONCE ? end - page : AT_ONCE;
        if (file_read_at(c->map_fd, page, marks, count, c->paths[PATH_MAP], NULL) != LEAT_OK)
            continue; /* somebody cut it off: nothing is known to be here */
        for (uint64_t first = 0, last; s == LEAT_OK && first < count; first = last + 1) {
            for (last = first; last < count && marks[last] == 1 && !cache_bit(c->known, page + last); last++)
                ;
            if (last == first)
                continue;
            if (!room && !(room = malloc(AT_ONCE * PAGE)))
                return status_no_memory(err, AT_ONCE * PAGE);
            s = look_at(c, page + first, last - first, room, err);
        }
    }
    free(room);
    return s;
}

/* ---- Writing ---- */

/* Writes held pages to the file and the map. */
static enum leat_status write_pages(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count,
                                    struct leat_error *err)
{
    uint8_t marks[64];
    enum leat_status s = file_write_at(c->tokens_fd, page * PAGE, bytes, cache_page_bytes(c, page, count),
                                       c->paths[PATH_TOKENS_PARTIAL], err);

    memset(marks, 1, sizeof marks);
    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        here = count - done < sizeof marks ? count - done : sizeof marks;
        s = file_write_at(c->map_fd, page + done, marks, here, c->paths[PATH_MAP], err);
    }
    return s;
}

/* On a full disk, what was used longest ago goes. As long as a process copies the rest, it holds all of the file; it
 * gives that back when it meets the full disk, too. */
static enum leat_status write_to_full(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count,
                                      struct leat_error *err)
{
    uint64_t size = cache_page_bytes(c, page, count), freed;
    enum leat_status s = LEAT_E_NO_SPACE;

    cache_fill_yield(c, err);
    for (unsigned i = 0; i < FULL_TRIES; i++) {
        bool held = cache_is_held(c->tokens_fd);

        if (cache_evict(c, size > FULL_BYTES ? size : FULL_BYTES, &freed, NULL) == LEAT_OK && freed > 0)
            s = write_pages(c, bytes, page, count, err);
        if (s != LEAT_E_NO_SPACE || !held || atomic_load(&c->stop))
            return s;
        (void)nanosleep(&(struct timespec) { 0, 100000000 }, NULL);
    }
    return s;
}

enum leat_status cache_put(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count, struct leat_error *err)
{
    uint64_t size = cache_page_bytes(c, page, count);
    enum leat_status s = cache_may_write(c, count * PAGE, err);

    if (s == LEAT_OK)
        s = cache_hold(c, page * PAGE, size, 0, NULL, err);
    if (s != LEAT_OK)
        return s;
    s = write_pages(c, bytes, page, count, err);
    if (s == LEAT_E_NO_SPACE)
        s = write_to_full(c, bytes, page, count, err);
    if (s != LEAT_OK)
        status_before(err, s, CACHE_FULL);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        cache_set(c->known, page + i);
    (void)cache_release(c, page * PAGE, size, NULL);
    return s;
}
