/* column.c: reads a column from page to page. */
#include "column.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "page.h"

/* ---- A page, from the file to its values ------------------------------------------------------------------------- */

/* Reads a page from the file to its values. */

#define ENCODING_RLE 3u

enum leat_status column_broken(const struct column *c, const char *why, struct leat_error *err)
{
    return status_set_at(err, LEAT_E_TEXT, c->file->source.name, c->page.offset,
                         "%s: the page at byte %llu, in %s, is broken: %s", c->file->source.name,
                         (unsigned long long)c->page.offset, c->name, why);
}

static bool is_packed(const struct column *c)
{
    return c->codec->unpack && !c->page.plain;
}

/* ---- Memory ---- */

/* Counts the memory that a page needs: `bytes` in the block `to`, and `more` in another block. If that is too much,
 * the page goes to files, or the result is LEAT_E_NO_MEMORY. */
static enum leat_status reckon(struct column *c, const struct block *to, const struct block *other, uint64_t more,
                               struct leat_error *err)
{
    struct column_memory *m = c->memory;
    uint64_t packed = is_packed(c) ? c->page.packed : 0;

    m->needs = column_memory_all(m) - block_memory(other) - block_memory(&m->packed);
    m->needs -= block_is_lent(to) ? 0 : block_memory(to);
    m->needs += block_room(to, (size_t)c->page.bytes) + block_room(other, (size_t)more) +
                block_room(&m->packed, (size_t)packed);
    m->maps = m->needs > m->limit && m->may_map;
    m->outgrew = m->needs > m->limit && !m->may_map;
    if (!m->outgrew)
        return LEAT_OK;
    return status_set_at(err, LEAT_E_NO_MEMORY, c->file->source.name, c->page.offset,
                         "%s: the page at byte %llu, in %s, which has %llu bytes when it is decompressed, is too large "
                         "for the memory that is left",
                         c->file->source.name, (unsigned long long)c->page.offset, c->name,
                         (unsigned long long)c->page.bytes);
}

static enum leat_status fit(struct column *c, struct block *b, uint64_t size, struct leat_error *err)
{
    enum leat_status s;

    c->memory->held -= block_memory(b);
    s = c->memory->maps ? block_fit_mapped(b, (size_t)size, c->window->source, err) : block_fit(b, (size_t)size, err);
    c->memory->held += block_memory(b);
    return s;
}

/* ---- Bytes ---- */

static enum leat_status stopped(const struct column *c, struct leat_error *err)
{
    return status_set(err, LEAT_E_STOPPED, "reading %s was stopped", c->file->source.name);
}

static enum leat_status read_body(struct column *c, const struct block *to, struct leat_error *err)
{
    const struct page *p = &c->page;
    enum leat_status s = LEAT_OK;
    uint32_t crc = 0;

    for (size_t at = 0, part; s == LEAT_OK && at < p->packed; at += part) {
        part = (size_t)p->packed - at;
        part = to->mapped && part > BLOCK_STRETCH ? BLOCK_STRETCH : part;
        s = window_copy(c->window, p->body + at, to->bytes + at, part, err);
        if (s == LEAT_OK && p->has_crc)
            crc = crc32_of(crc, to->bytes + at, part);
        block_rest(to);
        if (s == LEAT_OK && to->mapped && parquet_stopped(c->window->source))
            s = stopped(c, err);
    }
    if (s != LEAT_OK || !p->has_crc || crc == p->crc)
        return s;
    return status_set_at(err, LEAT_E_CHECKSUM, c->file->source.name, p->offset,
                         "%s: the page at byte %llu, in %s, does not match its checksum: the file is damaged",
                         c->file->source.name, (unsigned long long)p->offset, c->name);
}

/* Decompresses the bytes after the levels, which are stored as they are. */
static enum leat_status unpack(struct column *c, const struct block *to, struct leat_error *err)
{
    const struct page *p = &c->page;
    const struct block *packed = &c->memory->packed;
    size_t levels = (size_t)(p->repetitions + p->definitions);
    const struct codec_page body = { .in = packed->bytes + levels,
                                     .bytes = (size_t)p->packed - levels,
                                     .out = to->bytes + levels,
                                     .room = (size_t)p->bytes - levels,
                                     .packed = to->mapped ? packed : NULL,
                                     .all = to,
                                     .source = c->window->source };
    const char *why = NULL;

    block_copy(to, 0, packed->bytes, levels, packed);
    if (body.room > 0)
        why = c->codec->unpack(c->codec_state, &body);
    block_rest(packed);
    block_rest(to);
    if (why == codec_no_memory)
        return status_no_memory(err, p->bytes);
    if (why && to->mapped && parquet_stopped(c->window->source))
        return stopped(c, err);
    return why ? column_broken(c, why, err) : LEAT_OK;
}

/* Reads the page to `to`, and decompresses it. */
static enum leat_status load_bytes(struct column *c, struct block *to, struct leat_error *err)
{
    const struct page *p = &c->page;
    enum leat_status s = fit(c, to, p->bytes, err);

    if (s == LEAT_OK)
        s = fit(c, &c->memory->packed, is_packed(c) ? p->packed : 0, err);
    if (s != LEAT_OK)
        return s;
    if (!is_packed(c))
        return p->packed == p->bytes ? read_body(c, to, err)
                                     : column_broken(c, "it is not compressed, but has two sizes", err);
    s = read_body(c, &c->memory->packed, err);
    return s == LEAT_OK ? unpack(c, to, err) : s;
}

/* ---- Pages ---- */

/* Finds the places of values of different lengths. */
static const char *find_places(struct column *c)
{
    uint32_t *places = (uint32_t *)(void *)c->places.bytes;
    const uint8_t *at = c->dictionary.bytes, *end = c->dictionary.end;

    for (uint32_t i = 0; i < c->dictionary.count; i++) {
        if (end - at < 4 || (uint64_t)(end - at - 4) < bytes_load32(at))
            return "the values of the dictionary end too early";
        places[i] = (uint32_t)(at - c->dictionary.bytes);
        at += 4 + bytes_load32(at);
        column_used(c, 4 + sizeof *places);
    }
    c->dictionary.places = places;
    return NULL;
}

/* Loads `c->page`, a page of data or a dictionary. */
static enum leat_status column_load_dictionary(struct column *c, struct leat_error *err)
{
    const struct page *p = &c->page;
    bool apart = c->what->type == PARQUET_BYTE_ARRAY;
    uint64_t smallest = apart ? 4 : c->what->type_bytes, places = apart ? p->values * sizeof(uint32_t) : 0;
    const char *why = NULL;
    enum leat_status s;

    if (c->values.dictionary)
        return column_broken(c, "it is a second dictionary", err);
    if (p->encoding != 0 && p->encoding != 2)
        return column_broken(c, "the dictionary has an unknown encoding", err);
    if (p->values * smallest > p->bytes)
        return column_broken(c, "the dictionary has more values than bytes", err);
    s = reckon(c, &c->dictionary_bytes, &c->places, places, err);
    if (s == LEAT_OK)
        s = fit(c, &c->places, places, err);
    if (s == LEAT_OK)
        s = load_bytes(c, &c->dictionary_bytes, err);
    if (s != LEAT_OK)
        return s;
    c->dictionary = (struct dictionary) { .bytes = c->dictionary_bytes.bytes,
                                          .end = c->dictionary_bytes.bytes + p->bytes,
                                          .count = (uint32_t)p->values };
    c->values.dictionary = &c->dictionary;
    if (apart)
        why = find_places(c);
    return why ? column_broken(c, why, err) : LEAT_OK;
}

static unsigned width_of(uint32_t max)
{
    unsigned width = 0;

    for (; max > 0; max >>= 1)
        width++;
    return width;
}

/* Finds the levels of a page at *at; pages of the second kind say how many bytes they have. Returns what is wrong
 * with them, or NULL. */
static const char *find_levels(struct rle *levels, const struct page *p, uint32_t max, uint64_t encoding,
                               uint64_t bytes, const uint8_t **at, const uint8_t *end)
{
    if (p->kind == PAGE_DATA && max > 0) {
        if (encoding != ENCODING_RLE)
            return "its levels are in the old encoding BIT_PACKED, which leat does not read";
        if (end - *at < 4)
            return "its levels end too early";
        bytes = bytes_load32(*at);
        *at += 4;
        if (bytes > (uint64_t)(end - *at))
            return "its levels end too early";
    }
    rle_open(levels, *at, (size_t)bytes, width_of(max));
    *at += bytes;
    return NULL;
}

/* Finds levels and values in the bytes of the page. Returns what is wrong with it, or NULL. */
static const char *begin_data(struct column *c)
{
    const struct page *p = &c->page;
    const uint8_t *at = c->bytes.bytes, *end = at + p->bytes;
    const char *why =
        find_levels(&c->repetitions, p, c->what->max_repetition, p->repetition_encoding, p->repetitions, &at, end);

    if (!why)
        why = find_levels(&c->definitions, p, c->what->max_definition, p->level_encoding, p->definitions, &at, end);
    if (why)
        return why;
    c->values.at = at;
    c->values.end = end;
    why = values_encoding(&c->values, p->encoding);
    if (!why)
        why = c->values.encoding->open(&c->values);
    return why ? why : column_repeat(c);
}

static enum leat_status column_load_data(struct column *c, struct leat_error *err)
{
    const char *why = values_encoding(&c->values, c->page.encoding);
    uint64_t held = !why && c->values.encoding->holds ? c->page.bytes + c->what->type_bytes : 0;
    enum leat_status s = why ? column_broken(c, why, err) : reckon(c, &c->bytes, &c->held, held, err);

    if (s == LEAT_OK)
        s = fit(c, &c->held, held, err);
    if (s == LEAT_OK)
        s = load_bytes(c, &c->bytes, err);
    if (s != LEAT_OK)
        return s;
    why = begin_data(c);
    return why ? column_broken(c, why, err) : LEAT_OK;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

#define AROUND ((size_t)64 << 10)

enum leat_status column_open(struct column *c, const struct parquet_file *file, const struct parquet_source *source,
                             const struct column_place *at, struct column_memory *memory, struct leat_error *err)
{
    const struct parquet_chunk *chunk = parquet_chunk(file, at->group, at->number);

    c->file = file;
    c->what = &file->columns[at->number];
    c->memory = memory;
    if (!c->what->exists)
        return LEAT_OK;
    c->codec = chunk->codec;
    c->next = chunk->offset;
    c->left = chunk->values;
    c->pass = at->row;
    c->values.type = c->what->type;
    c->values.type_bytes = c->what->type_bytes;
    c->values.unread = c->what->form == PARQUET_UNREAD;
    c->values.page = &c->bytes;
    c->values.held = &c->held;
    snprintf(c->name, sizeof c->name, "the column %.150s of row group %" PRIu64, c->what->path, at->group);
    c->window = calloc(1, sizeof *c->window);
    if (!c->window)
        return status_no_memory(err, sizeof *c->window);
    c->window->source = source;
    c->window->end = file->data_end;
    if (bytes_inside(chunk->offset, chunk->bytes, file->data_end))
        c->window->likely_end = chunk->offset + chunk->bytes;
    if (c->codec->open && !(c->codec_state = c->codec->open()))
        return status_no_memory(err, (uint64_t)1 << 17);
    return LEAT_OK;
}

void column_close(struct column *c)
{
    if (c->codec_state)
        c->codec->close(c->codec_state);
    free(c->window);
    block_free(&c->bytes);
    block_free(&c->held);
    block_free(&c->dictionary_bytes);
    block_free(&c->places);
}

void column_rest(const struct column *c)
{
    block_rest(&c->bytes);
    block_rest(&c->held);
    block_rest(&c->dictionary_bytes);
    block_rest(&c->places);
}

/* Counts used bytes, with some more, since the kernel reads some around them. */
void column_used(struct column *c, size_t bytes)
{
    if (!c->bytes.mapped && !c->dictionary_bytes.mapped)
        return;
    c->used += bytes + (c->dictionary_bytes.mapped ? AROUND : 0);
    if (c->used < BLOCK_STRETCH)
        return;
    column_rest(c);
    c->used = 0;
}

/* Reads the header of the next page with values. Dictionaries before it are loaded. */
static enum leat_status look_ahead(struct column *c, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && !c->ahead) {
        struct page *p = &c->page;

        s = page_read(p, c->window, c->next, c->name, err);
        if (s == LEAT_OK && (p->kind == PAGE_DATA || p->kind == PAGE_DATA_2) && p->values > c->left)
            s = column_broken(c, "it has more values than its row group", err);
        if (s == LEAT_OK && p->kind == PAGE_DICTIONARY && !c->values.unread)
            s = column_load_dictionary(c, err);
        if (s != LEAT_OK)
            return s;
        c->ahead = (p->kind == PAGE_DATA || p->kind == PAGE_DATA_2) && p->values > 0;
        if (!c->ahead)
            c->next = p->body + p->packed;
    }
    return s;
}

/* Passes the page that is ahead, which was loaded or skipped. */
static void go_on(struct column *c)
{
    c->ahead = false;
    c->next = c->page.body + c->page.packed;
    c->left -= c->page.values;
}

/* Goes to a page with values to take; skips a page if all of its values are to be skipped. */
static enum leat_status next_page(struct column *c, struct leat_error *err)
{
    enum leat_status s = look_ahead(c, err);

    if (s == LEAT_OK && c->page.values <= c->pass) {
        c->pass -= c->page.values;
        go_on(c);
        return LEAT_OK;
    }
    if (s == LEAT_OK)
        s = column_load_data(c, err);
    if (s != LEAT_OK)
        return s;
    c->here = c->page.values;
    go_on(c);
    return LEAT_OK;
}

enum leat_status column_load(struct column *c, struct leat_error *err)
{
    struct column_entry entry;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && c->what->exists && (c->here == 0 || c->pass > 0)) {
        if (c->here == 0) {
            s = next_page(c, err);
            continue;
        }
        s = column_next(c, &entry, err);
        c->pass--;
    }
    return s;
}

/* Returns what is wrong after the last value of a page, such as bytes that are left over, or NULL. */
static const char *end_of_page(const struct column *c)
{
    if (c->values.encoding->uses_all && c->values.at < c->values.end)
        return "bytes follow its values";
    if (c->page.kind == PAGE_DATA_2 && c->what->max_definition > 0 && !rle_ended(&c->definitions))
        return "it has more definition levels than values";
    if (c->page.kind == PAGE_DATA_2 && c->what->max_repetition > 0 && !rle_ended(&c->repetitions))
        return "it has more repetition levels than values";
    return NULL;
}

const char *column_repeat(struct column *c)
{
    c->repetition = 0;
    if (c->what->max_repetition == 0)
        return NULL;
    if (!rle_next(&c->repetitions, &c->repetition))
        return "its repetition levels end too early";
    return c->repetition > c->what->max_repetition ? "it has an impossible repetition level" : NULL;
}

enum leat_status column_next(struct column *c, struct column_entry *entry, struct leat_error *err)
{
    uint32_t level = c->what->max_definition;
    const char *why = NULL;

    *entry = (struct column_entry) { .repetition = c->repetition };
    if (!c->what->exists)
        return LEAT_OK;
    if (level > 0 && !rle_next(&c->definitions, &level))
        why = "its definition levels end too early";
    else if (level > c->what->max_definition)
        why = "it has an impossible definition level";
    else if (level == c->what->max_definition)
        why = c->values.encoding->next(&c->values, &entry->value);
    entry->definition = level;
    column_used(c, entry->value.size + 4);
    c->here--;
    if (!why)
        why = c->here == 0 ? end_of_page(c) : column_repeat(c);
    return why ? column_broken(c, why, err) : LEAT_OK;
}
