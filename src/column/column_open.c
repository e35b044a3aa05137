/*
 * column_open.c: opens and reads columns. Opening costs the same however long the column is: it reads the header of the
 * index, and the texts of a category. The hashes of pages are read where pages are; a hash that is damaged makes its
 * page look damaged, and verifying compares their sum.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/utf8.h"
#include "column.h"
#include "format/format.h"

#define REMEDY "restore it, or attach the column again"

/* ---- The header -------------------------------------------------------------------------------------------------- */

static const char magic[8] = { 'l', 'e', 'a', 't', 'c', 'o', 'l', 's' };

bool column_header_size(struct column_header *h)
{
    h->entry_bytes = h->width * column_type_bytes(h->type);
    if (!bytes_multiply(h->entries, h->entry_bytes, &h->bytes) || h->bytes > FORMAT_MAX_BYTES)
        return false;
    h->pages = bytes_divide_up(h->bytes, CHECKSUM_PAGE);
    return true;
}

void column_header_store(uint8_t out[COLUMN_HEADER], const struct column_header *h)
{
    memset(out, 0, COLUMN_HEADER);
    memcpy(out, magic, sizeof magic);
    bytes_store32(out + 8, 1);
    bytes_store32(out + 12, h->type);
    bytes_store32(out + 16, h->width);
    bytes_store32(out + 20, h->at);
    bytes_store64(out + 24, h->entries);
    memcpy(out + 32, h->identity, 16);
    checksum_store(out + 48, h->sum);
    checksum_store(out + 64, h->hashes);
    bytes_store64(out + 80, h->texts);
    bytes_store64(out + 88, h->text_bytes);
    checksum_store(out + 96, h->text_hash);
    checksum_store(out + 112, checksum_kernels()->hash(out, 112));
}

/* Returns true if the fields of a header can go together. */
static bool is_consistent(struct column_header *h)
{
    bool category = h->type == LEAT_COLUMN_CATEGORY;

    if (!column_type_is_stored(h->type) || h->width < 1 || h->width > LEAT_COLUMN_MAX_WIDTH ||
        h->at > LEAT_COLUMN_DOCUMENT || (category && h->at != LEAT_COLUMN_DOCUMENT) || !column_header_size(h))
        return false;
    return category ? h->texts <= LEAT_COLUMN_MAX_TEXTS && h->text_bytes >= 4 * h->texts &&
                          h->text_bytes - 4 * h->texts <= COLUMN_MAX_TEXT
                    : h->texts == 0 && h->text_bytes == 0;
}

enum leat_status column_header_load(struct column_header *h, const uint8_t in[COLUMN_HEADER], const struct part *p,
                                    const char *path, struct leat_error *err)
{
    uint8_t identity[16];

    if (memcmp(in, magic, sizeof magic) != 0)
        return status_set_in(err, LEAT_E_NOT_LEAT, path, "%s is not the index of a column; " REMEDY, path);
    if (!checksum_equal(checksum_load(in + 112), checksum_kernels()->hash(in, 112)))
        return status_set_in(err, LEAT_E_CHECKSUM, path, "%s is damaged: its checksum does not match; " REMEDY, path);
    if (bytes_load32(in + 8) != 1)
        return status_set_in(err, LEAT_E_VERSION, path,
                             "%s has version %" PRIu32 ", which this version of leat does not know; use a newer one",
                             path, bytes_load32(in + 8));
    *h = (struct column_header) {
        .type = bytes_load32(in + 12),
        .width = bytes_load32(in + 16),
        .at = bytes_load32(in + 20),
        .entries = bytes_load64(in + 24),
        .sum = checksum_load(in + 48),
        .hashes = checksum_load(in + 64),
        .texts = bytes_load64(in + 80),
        .text_bytes = bytes_load64(in + 88),
        .text_hash = checksum_load(in + 96),
    };
    memcpy(h->identity, in + 32, 16);
    if (!is_consistent(h))
        return status_set_in(err, LEAT_E_HEADER, path, "%s contradicts itself; " REMEDY, path);
    checksum_store(identity, p->identity);
    if (memcmp(h->identity, identity, sizeof identity) != 0 ||
        h->entries != (h->at == LEAT_COLUMN_TOKEN ? p->tokens : p->documents))
        return status_set_in(err, LEAT_E_MISMATCH, path,
                             "%s belongs to another dataset than %s is now: move the column away, or attach it again",
                             path, p->name);
    return LEAT_OK;
}

bool column_texts_are_valid(const uint8_t *area, uint64_t bytes, uint64_t count)
{
    uint64_t last = 0, text_bytes = bytes - 4 * count;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t end = bytes_load32(area + 4 * i);

        if (end < last || end > text_bytes ||
            utf8_valid_prefix(area + 4 * count + last, (size_t)(end - last)) != end - last)
            return false;
        last = end;
    }
    return last == text_bytes;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool can_have_columns(const struct part *p)
{
    return p->index && !p->foreign && !own_file_is_url(p->name);
}

enum leat_status column_check_part(const struct leat_dataset *d, uint64_t number, struct leat_error *err)
{
    const struct part *p = dataset_part(d, number);

    if (own_file_is_url(p->name))
        return status_set_in(err, LEAT_E_UNSUPPORTED, p->name,
                             "%s is on a server, where datasets have no columns: copy it with `leat pull` first",
                             p->name);
    if (!can_have_columns(p))
        return status_set_in(err, LEAT_E_UNSUPPORTED, p->name,
                             "%s is a file of another tool, which cannot have columns: use `leat adopt` first",
                             p->name);
    return LEAT_OK;
}

enum leat_status column_search_part(struct column_folder *folder, const struct leat_dataset *d, uint64_t part,
                                    struct column_names *found, struct leat_error *err)
{
    const struct part *p = dataset_part(d, part);
    char *name;
    enum leat_status s;

    *found = (struct column_names) { .count = 0 };
    if (!can_have_columns(p))
        return LEAT_OK;
    name = column_path(d, p, NULL, "");
    s = name ? column_folder_find(folder, found, name, err) : status_no_memory(err, strlen(p->name));
    free(name);
    return s;
}

/* Says that a column is missing, and which one was probably meant. */
static enum leat_status no_column(const struct leat_dataset *d, uint64_t part, const char *name, struct leat_error *err)
{
    const char *dataset = dataset_part(d, part)->name, *best = NULL;
    struct column_folder folder = { .path = NULL };
    struct column_names found;
    struct leat_error why;
    size_t least = SIZE_MAX;

    status_set_in(&why, LEAT_E_NOT_FOUND, dataset, "%.300s has no column %.100s", dataset, name);
    if (column_search_part(&folder, d, part, &found, NULL) == LEAT_OK)
        for (size_t i = 0; i < found.count; i++) {
            size_t distance = nearest_distance(name, found.names[i]);

            if (distance < least) {
                least = distance;
                best = found.names[i];
            }
        }
    if (best && nearest_is_near(name, best, least))
        status_after(&why, "; did you mean %s?", best);
    else if (best)
        status_after(&why, "; it has %s%s", best, found.count > 1 ? " and others" : "");
    else
        status_after(&why, ", nor any other");
    column_names_free(&found);
    column_folder_free(&folder);
    if (err)
        *err = why;
    return LEAT_E_NOT_FOUND;
}

enum leat_status leat_dataset_refuse_columns(const struct leat_dataset *d, const char *what, struct leat_error *err)
{
    struct column_folder folder = { .path = NULL };
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < d->part_count; i++) {
        struct column_names found;

        s = column_search_part(&folder, d, i, &found, err);
        if (s == LEAT_OK)
            s = column_names_refuse(&found, dataset_part(d, i)->name, what, err);
        column_names_free(&found);
    }
    column_folder_free(&folder);
    return s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Returns the access that the dataset's own files have. */
static enum leat_access access_of(const struct part *p)
{
    const struct file_map *tokens = p->data.file;

    if (!tokens || p->tokens == 0) /* an empty file is never mapped */
        return file_map_access(LEAT_ACCESS_LEASED);
    return !tokens->bytes ? LEAT_ACCESS_READ : tokens->leased ? LEAT_ACCESS_LEASED : LEAT_ACCESS_TRUSTED;
}

static enum leat_status open_file(struct file_map *f, const struct leat_dataset *d, const struct part *p,
                                  const struct leat_column *c, const char *suffix, struct leat_error *err)
{
    char *path = column_share_path(d, p, c->name, suffix, c->share);
    enum leat_status s =
        path ? file_map_open(f, d->mounts, path, access_of(p), err) : status_no_memory(err, strlen(c->name));

    free(path);
    return s;
}

static enum leat_status read_texts(struct leat_column *c, struct leat_error *err)
{
    const struct column_header *h = &c->header;
    const char *path = c->index.path;
    enum leat_status s;

    c->texts = malloc((size_t)h->text_bytes + 1);
    if (!c->texts)
        return status_no_memory(err, h->text_bytes);
    s = file_map_read(&c->index, COLUMN_HEADER + 4 * h->pages, c->texts, h->text_bytes, err);
    if (s == LEAT_OK && h->text_bytes > 0 &&
        !checksum_equal(h->text_hash, checksum_kernels()->hash(c->texts, (size_t)h->text_bytes)))
        s = status_set_in(err, LEAT_E_CHECKSUM, path, "the texts in %s are damaged; " REMEDY, path);
    if (s == LEAT_OK && !column_texts_are_valid(c->texts, h->text_bytes, h->texts))
        s = status_set_in(err, LEAT_E_RECORD, path, "the texts in %s are invalid; " REMEDY, path);
    return s;
}

static enum leat_status open_index(struct leat_column *c, const struct leat_dataset *d, const struct part *p,
                                   struct leat_error *err)
{
    enum leat_status s = open_file(&c->index, d, p, c, COLUMN_INDEX, err);
    uint8_t header[COLUMN_HEADER];

    if (s == LEAT_E_NO_FILE && c->share.count > 0)
        return status_set_in(err, LEAT_E_NOT_FOUND, p->name,
                             "%.300s: part %" PRIu64 " of %" PRIu64 " of column %s is missing; attach it first",
                             p->name, c->share.number, c->share.count, c->name);
    if (s == LEAT_E_NO_FILE)
        return no_column(d, c->part, c->name, err);
    if (s == LEAT_OK && c->index.size < sizeof header)
        s = status_set_in(err, LEAT_E_HEADER, c->index.path, "%s is too short; " REMEDY, c->index.path);
    if (s == LEAT_OK)
        s = file_map_read(&c->index, 0, header, sizeof header, err);
    if (s == LEAT_OK)
        s = column_header_load(&c->header, header, p, c->index.path, err);
    if (s == LEAT_OK && c->index.size != COLUMN_HEADER + 4 * c->header.pages + c->header.text_bytes)
        s = status_set_in(err, LEAT_E_HEADER, c->index.path, "%s is too short or too long; " REMEDY, c->index.path);
    return s == LEAT_OK ? read_texts(c, err) : s;
}

static enum leat_status open_values(struct leat_column *c, const struct leat_dataset *d, const struct part *p,
                                    struct leat_error *err)
{
    enum leat_status s = open_file(&c->values, d, p, c, COLUMN_VALUES, err);

    if (s == LEAT_E_NO_FILE) {
        char *path = column_share_path(d, p, c->name, COLUMN_VALUES, c->share);

        s = path
                ? status_set_in(err, LEAT_E_MISMATCH, path, "%s is missing, although its index is there; " REMEDY, path)
                : status_no_memory(err, 0);
        free(path);
    } else if (s == LEAT_OK && c->values.size != c->header.bytes)
        s = status_set_in(err, LEAT_E_MISMATCH, c->values.path,
                          "%s has %" PRIu64 " bytes instead of %" PRIu64 "; " REMEDY, c->values.path, c->values.size,
                          c->header.bytes);
    return s;
}

/* Opens a column of the part `number`, or a share of it, whose tokens and documents are those of `p`. */
static enum leat_status open_column(struct leat_column **out, const struct leat_dataset *d, uint64_t number,
                                    const struct part *p, const char *name, struct column_share share,
                                    struct leat_error *err)
{
    enum leat_status s = column_check_part(d, number, err);
    struct leat_column *c;

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    if (!column_name_is_valid(name, strlen(name)))
        return no_column(d, number, name, err);
    c = calloc(1, sizeof *c);
    if (!c)
        return status_no_memory(err, sizeof *c);
    c->values.fd = c->index.fd = -1;
    c->part = number;
    c->share = share;
    c->name = strdup(name);
    s = c->name ? open_index(c, d, p, err) : status_no_memory(err, strlen(name));
    if (s == LEAT_OK)
        s = open_values(c, d, p, err);
    if (s != LEAT_OK) {
        column_close_part(c);
        return s;
    }
    c->bytes = *p;
    c->bytes.token_width = c->header.entry_bytes;
    c->bytes.data = (struct part_extent) { &c->values, 0, c->header.bytes };
    c->bytes.hashes = (struct part_extent) { &c->index, COLUMN_HEADER, 4 * c->header.pages };
    c->bytes.lookup = (struct part_extent) { NULL, 0, 0 };
    *out = c;
    return LEAT_OK;
}

enum leat_status column_open_part(struct leat_column **out, const struct leat_dataset *d, uint64_t part,
                                  const char *name, struct leat_error *err)
{
    return open_column(out, d, part, dataset_part(d, part), name, (struct column_share) { 0, 0 }, err);
}

enum leat_status column_open_share(struct leat_column **out, const struct leat_dataset *d, const char *name,
                                   struct column_share share, struct leat_error *err)
{
    struct part p = *dataset_part(d, 0);
    uint64_t first;
    enum leat_status s = column_share_entries(d, share, LEAT_COLUMN_TOKEN, &first, &p.tokens, err);

    if (s == LEAT_OK)
        s = column_share_entries(d, share, LEAT_COLUMN_DOCUMENT, &first, &p.documents, err);
    return s == LEAT_OK ? open_column(out, d, 0, &p, name, share, err) : s;
}

void column_close_part(struct leat_column *c)
{
    if (!c)
        return;
    file_map_close(&c->values);
    file_map_close(&c->index);
    free(c->name);
    free(c->texts);
    free(c);
}

void leat_column_info(const struct leat_column *c, struct leat_column_info *info)
{
    const struct column_header *h = &c->header;
    const struct leat_column_info full = { sizeof full, c->name, c->part,  h->entries, h->bytes,
                                           h->texts,    h->type, h->width, h->at,      h->entry_bytes };

    options_fill(info, &full, sizeof full);
}

/* ---- Listing ----------------------------------------------------------------------------------------------------- */

void leat_columns_free(struct leat_columns *columns)
{
    struct leat_column_info *items = columns ? (struct leat_column_info *)(uintptr_t)columns->columns : NULL;

    for (uint64_t i = 0; items && i < columns->count; i++)
        free((char *)(uintptr_t)items[i].name);
    free(items);
    free(columns);
}

/* A list while it is made. */
struct listing {
    struct leat_column_info *items;
    size_t count, room;
};

/* Adds the column; its name goes over to the list. */
static enum leat_status list_one(struct listing *l, const struct leat_dataset *d, uint64_t part, char **name,
                                 struct leat_error *err)
{
    struct leat_column *c;
    enum leat_status s = GROW(l->items, l->count + 1, l->room, err);

    if (s == LEAT_OK)
        s = column_open_part(&c, d, part, *name, err);
    if (s != LEAT_OK)
        return s;
    l->items[l->count].size = sizeof *l->items;
    leat_column_info(c, &l->items[l->count]);
    l->items[l->count++].name = *name;
    *name = NULL;
    column_close_part(c);
    return LEAT_OK;
}

enum leat_status leat_dataset_columns(const struct leat_dataset *d, struct leat_columns **columns,
                                      struct leat_error *err)
{
    struct column_folder folder = { .path = NULL };
    struct listing l = { .count = 0 };
    enum leat_status s = LEAT_OK;

    *columns = calloc(1, sizeof **columns);
    if (!*columns)
        return status_no_memory(err, sizeof **columns);
    for (uint64_t part = 0; s == LEAT_OK && part < d->part_count; part++) {
        struct column_names found;

        s = column_search_part(&folder, d, part, &found, err);
        for (size_t i = 0; s == LEAT_OK && i < found.count; i++)
            s = list_one(&l, d, part, &found.names[i], err);
        column_names_free(&found);
    }
    column_folder_free(&folder);
    **columns = (struct leat_columns) { l.count, l.items };
    if (s != LEAT_OK) {
        leat_columns_free(*columns);
        *columns = NULL;
    }
    return s;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of_pages(const struct leat_column *c, uint64_t page, uint64_t count)
{
    uint64_t left = c->header.bytes - page * CHECKSUM_PAGE;

    return left < count * CHECKSUM_PAGE ? left : count * CHECKSUM_PAGE;
}

/* Reads up to COLUMN_AT_ONCE pages, and compares each with its hash. Adds them to *sum. */
static enum leat_status read_pages(const struct leat_column *c, uint64_t page, uint64_t count, uint8_t *bytes,
                                   uint32_t stored[COLUMN_AT_ONCE], struct hash128 *sum, struct leat_error *err)
{
    struct file_map *values = (struct file_map *)(uintptr_t)&c->values; /* reading changes a lease only */
    struct file_map *index = (struct file_map *)(uintptr_t)&c->index;
    uint64_t size = bytes_of_pages(c, page, count);
    uint32_t found[COLUMN_AT_ONCE];
    enum leat_status s = file_map_read(values, page * CHECKSUM_PAGE, bytes, size, err);

    if (s == LEAT_OK)
        s = file_map_read(index, COLUMN_HEADER + 4 * page, stored, 4 * count, err);
    if (s != LEAT_OK)
        return s;
    checksum_kernels()->pages(sum, bytes, (size_t)size, page, found);
    for (uint64_t i = 0; i < count; i++)
        if (found[i] != bytes_le32(stored[i]))
            return status_set_at(err, LEAT_E_CHECKSUM, values->path, (page + i) * CHECKSUM_PAGE,
                                 "%s: page %" PRIu64 " is damaged (bytes %" PRIu64 " to %" PRIu64
                                 "): its hash does not match; " REMEDY,
                                 values->path, page + i, (page + i) * CHECKSUM_PAGE,
                                 page * CHECKSUM_PAGE + (i + 1 < count ? (i + 1) * CHECKSUM_PAGE : size) - 1);
    return LEAT_OK;
}

enum leat_status column_read_part(const struct leat_column *c, uint64_t first, uint64_t count, void *out,
                                  struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, c->header.entries, "value", err);
    uint64_t at = first * c->header.entry_bytes, end = (first + count) * c->header.entry_bytes;
    uint8_t bytes[COLUMN_AT_ONCE * CHECKSUM_PAGE], *write = out;
    uint32_t stored[COLUMN_AT_ONCE];
    struct hash128 sum = { 0, 0 };

    while (s == LEAT_OK && at < end) {
        uint64_t page = at / CHECKSUM_PAGE, skip = at % CHECKSUM_PAGE;
        uint64_t pages = bytes_divide_up(end - page * CHECKSUM_PAGE, CHECKSUM_PAGE), here;

        if (pages > COLUMN_AT_ONCE)
            pages = COLUMN_AT_ONCE;
        s = read_pages(c, page, pages, bytes, stored, &sum, err);
        here = bytes_of_pages(c, page, pages) - skip;
        if (here > end - at)
            here = end - at;
        if (s == LEAT_OK)
            memcpy(write, bytes + skip, (size_t)here);
        write += here;
        at += here;
    }
    return s;
}

enum leat_status column_view_part(const struct leat_column *c, uint64_t first, uint64_t count, struct leat_view *view,
                                  struct leat_error *err)
{
    struct file_map *values = (struct file_map *)(uintptr_t)&c->values;
    enum leat_status s = dataset_check_range(first, count, c->header.entries, "value", err);
    const uint8_t *bytes;

    if (s != LEAT_OK)
        return s;
    if (BYTES_BIG_ENDIAN)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "views show little-endian bytes, but this machine is big-endian; call leat_column_read()");
    bytes = file_map_enter(values);
    if (!bytes)
        return status_set_in(err, LEAT_E_NOT_MAPPED, values->path,
                             "%s is not mapped; open the dataset with access \"trusted\"", values->path);
    view->tokens = bytes + first * c->header.entry_bytes;
    view->count = count;
    view->hold = values;
    return LEAT_OK;
}

enum leat_status leat_column_text(const struct leat_column *c, uint64_t number, const char **text, uint64_t *bytes,
                                  struct leat_error *err)
{
    enum leat_status s = dataset_check_range(number, 1, c->header.texts, "text", err);
    uint64_t begin = 0;

    if (s != LEAT_OK)
        return s;
    if (number > 0)
        begin = bytes_load32(c->texts + 4 * (number - 1));
    *text = (const char *)c->texts + 4 * c->header.texts + begin;
    *bytes = bytes_load32(c->texts + 4 * number) - begin;
    return LEAT_OK;
}

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

/* Returns LEAT_E_RECORD if a value of a category is not the number of a text. */
static enum leat_status check_texts(const struct leat_column *c, uint64_t page, const uint8_t *bytes, uint64_t size,
                                    struct leat_error *err)
{
    if (c->header.type != LEAT_COLUMN_CATEGORY)
        return LEAT_OK;
    for (uint64_t i = 0; i < size; i += 2)
        if (bytes_load16(bytes + i) >= c->header.texts)
            return status_set_at(
                err, LEAT_E_RECORD, c->values.path, page * CHECKSUM_PAGE + i,
                "%s: entry %" PRIu64 " has text %u, but there are %" PRIu64 "; attach the column again", c->values.path,
                (page * CHECKSUM_PAGE + i) / c->header.entry_bytes, bytes_load16(bytes + i), c->header.texts);
    return LEAT_OK;
}

enum leat_status column_verify(const struct leat_column *c, uint32_t (*progress)(void *context, uint64_t bytes),
                               void *context, struct leat_error *err)
{
    uint8_t bytes[COLUMN_AT_ONCE * CHECKSUM_PAGE];
    uint32_t stored[COLUMN_AT_ONCE];
    struct hash128 sum = { 0, 0 };
    struct page_sum hashes;
    enum leat_status s = LEAT_OK;

    page_sum_begin(&hashes, 0, sum);
    for (uint64_t page = 0, here; s == LEAT_OK && page < c->header.pages; page += here) {
        here = c->header.pages - page < COLUMN_AT_ONCE ? c->header.pages - page : COLUMN_AT_ONCE;
        s = read_pages(c, page, here, bytes, stored, &sum, err);
        if (s == LEAT_OK)
            s = check_texts(c, page, bytes, bytes_of_pages(c, page, here), err);
        page_sum_add(&hashes, stored, (size_t)(4 * here));
        if (s == LEAT_OK && progress(context, bytes_of_pages(c, page, here)) != 0)
            s = status_set(err, LEAT_E_STOPPED, "stopped");
    }
    if (s == LEAT_OK &&
        (!checksum_equal(sum, c->header.sum) || !checksum_equal(page_sum_now(&hashes), c->header.hashes)))
        s = status_set_in(err, LEAT_E_CHECKSUM, c->index.path,
                          "%s does not match its values, although each page's short hash does; " REMEDY, c->index.path);
    return s;
}
