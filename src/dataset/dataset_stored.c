/* dataset_stored.c: reads the tokenizer and the user's metadata that an index may store; a name may give the
 * tokenizer, too. Each is returned as one allocation. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "dataset.h"
#include "format/format.h"
#include "part_index.h"

/* ---- Hashes of texts --------------------------------------------------------------------------------------------- */

/* Reads the hashes of the documents' texts, which show which documents have equal texts. */

enum leat_status leat_dataset_text_hashes(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                          uint8_t (*hashes)[16], struct leat_error *err)
{
    enum leat_status s = dataset_check_documents(d, first, count, err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_document(d, first);
        uint64_t at = first - p->first_document, left = p->documents - at, here = count < left ? count : left;

        if (!part_has(p, FORMAT_TEXT_HASHES))
            return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK, p->name,
                                   "%s has no text hashes; pack its inputs again", p->name);
        s = part_section(p, FORMAT_TEXT_HASHES, FORMAT_HASH_BYTES * at, hashes, FORMAT_HASH_BYTES * here, err);
        hashes += here;
        first += here;
        count -= here;
    }
    return s;
}

/* ---- The mask ---------------------------------------------------------------------------------------------------- */

/* Reads the mask that an index may have beside the tokens. Whole pages are read each time, so that their hashes can
 * be checked: they are few, as a page has the mask of 4096 tokens. The mask of another tool's file has no hashes. */

static enum leat_status read_page(struct part *p, uint64_t page, uint8_t bytes[FORMAT_PAGE_BYTES],
                                  struct leat_error *err)
{
    uint64_t begin = page * FORMAT_PAGE_BYTES, left = p->tokens - begin;
    size_t count = left < FORMAT_PAGE_BYTES ? (size_t)left : FORMAT_PAGE_BYTES;
    enum leat_status s = part_section(p, FORMAT_MASK, begin, bytes, count, err);
    struct hash128 sum = { 0, 0 };
    uint32_t stored, found;

    if (s == LEAT_OK)
        s = part_section(p, FORMAT_MASK_PAGES, 4 * page, &stored, sizeof stored, err);
    if (s != LEAT_OK)
        return s;
    p->kernels->pages(&sum, bytes, count, page, &found);
    if (found == bytes_le32(stored))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_CHECKSUM, p->index->file.path, part_place(p, FORMAT_MASK)->offset + begin,
                         "%s: the mask of tokens %" PRIu64 " to %" PRIu64 " is damaged; %s", p->index->file.path, begin,
                         begin + count - 1, part_remedy(p, false));
}

/* Turns the truth values of another tool's mask into 0 and 255. */
static enum leat_status read_foreign(struct part *p, uint64_t first, uint64_t count, uint8_t *out,
                                     struct leat_error *err)
{
    enum leat_status s = file_map_read(p->mask.file, p->mask.offset + first, out, count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        if (out[i] > 1)
            return status_set_at(err, LEAT_E_TOKEN, p->mask.file->path, p->mask.offset + first + i,
                                 "byte %" PRIu64 " of %s is %u, but a mask has 0 or 1 for each token; restore the file "
                                 "from its source, or write it again",
                                 first + i, p->mask.file->path, out[i]);
        out[i] = out[i] ? UINT8_MAX : 0;
    }
    return s;
}

enum leat_status part_mask(struct part *p, uint64_t first, uint64_t count, uint8_t *out, struct leat_error *err)
{
    uint8_t bytes[FORMAT_PAGE_BYTES];
    enum leat_status s = LEAT_OK;

    if (p->mask.file)
        return read_foreign(p, first, count, out, err);
    if (!part_has(p, FORMAT_MASK)) {
        memset(out, UINT8_MAX, (size_t)count);
        return LEAT_OK;
    }
    for (uint64_t here; s == LEAT_OK && count > 0; first += here, out += here, count -= here) {
        uint64_t skip = first % FORMAT_PAGE_BYTES;

        here = count < FORMAT_PAGE_BYTES - skip ? count : FORMAT_PAGE_BYTES - skip;
        s = read_page(p, first / FORMAT_PAGE_BYTES, bytes, err);
        if (s == LEAT_OK)
            memcpy(out, bytes + skip, (size_t)here);
    }
    return s;
}

enum leat_status leat_dataset_mask(const struct leat_dataset *d, uint64_t first, uint64_t count, uint8_t *out,
                                   struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_token(d, first);
        uint64_t at = first - p->first_token, left = p->tokens - at, here = count < left ? count : left;

        s = part_mask(p, at, here, out, err);
        out += here;
        first += here;
        count -= here;
    }
    return s;
}

/* ---- Tokenizer and metadata -------------------------------------------------------------------------------------- */

/* Copies name and pattern, each with a NUL, and the bytes of the file into the memory after the struct. */
static enum leat_status fill_tokenizer(struct leat_stored_tokenizer *t, const struct records_tokenizer *sizes,
                                       struct part *p, struct leat_error *err)
{
    char *name = (char *)(t + 1), *pattern = name + sizes->name_bytes + 1, *file = pattern + sizes->pattern_bytes + 1;
    uint64_t at = FORMAT_TOKENIZER_BYTES;
    enum leat_status s = part_section(p, FORMAT_TOKENIZER, at, name, sizes->name_bytes, err);

    at += sizes->name_bytes;
    if (s == LEAT_OK)
        s = part_section(p, FORMAT_TOKENIZER, at, pattern, sizes->pattern_bytes, err);
    at += sizes->pattern_bytes;
    if (s == LEAT_OK && sizes->is_file)
        s = part_section(p, FORMAT_TOKENIZER, at, file, sizes->file_bytes, err);
    name[sizes->name_bytes] = pattern[sizes->pattern_bytes] = '\0';
    *t = (struct leat_stored_tokenizer) { name, pattern, sizes->is_file ? file : NULL, sizes->file_bytes };
    /* callers get strings, which end at a NUL inside */
    if (s == LEAT_OK && (strlen(name) != sizes->name_bytes || strlen(pattern) != sizes->pattern_bytes))
        s = status_set_at(err, LEAT_E_RECORD, p->index->file.path,
                          p->index->header.sections[FORMAT_TOKENIZER].offset + FORMAT_TOKENIZER_BYTES,
                          "%s: the name in its tokenizer section contains a zero byte; write the dataset again",
                          p->index->file.path);
    return s;
}

#define MAX_NAMED_BYTES ((uint64_t)1 << 30) /* limit of a tokenizer's file */

/* Reads the tokenizer that a name gives (tokenizer=SPEC): a file if there is one of this name, else a built-in. A
 * built-in's name has no /, and the caller may or may not know it. */
static enum leat_status read_named(const struct part *p, struct leat_stored_tokenizer **tokenizer,
                                   struct leat_error *err)
{
    const char *slash = strrchr(p->tokenizer, '/'), *base = slash ? slash + 1 : p->tokenizer;
    bool is_file = access(p->tokenizer, F_OK) == 0;
    size_t name_bytes = strlen(base) + 1;
    struct leat_stored_tokenizer *t = NULL;
    uint64_t size = 0;
    char *name;
    int fd = -1;
    enum leat_status s = is_file || slash ? file_open_read(&fd, &size, p->tokenizer, err) : LEAT_OK;

    if (s == LEAT_OK && size > MAX_NAMED_BYTES)
        s = status_set_in(err, LEAT_E_UNSUPPORTED, p->tokenizer, "%s is too large for a tokenizer's file",
                          p->tokenizer);
    if (s == LEAT_OK) {
        t = malloc(sizeof *t + name_bytes + (size_t)size);
        s = t ? LEAT_OK : status_no_memory(err, size);
    }
    if (t) {
        name = memcpy(t + 1, base, name_bytes);
        *t = (struct leat_stored_tokenizer) { name, "", is_file ? name + name_bytes : NULL, size };
        s = is_file ? file_read_at(fd, 0, name + name_bytes, size, p->tokenizer, err) : LEAT_OK;
    }
    file_close(&fd);
    if (s != LEAT_OK)
        free(t);
    else
        *tokenizer = t;
    return s;
}

enum leat_status leat_dataset_tokenizer(const struct leat_dataset *d, struct leat_stored_tokenizer **tokenizer,
                                        struct leat_error *err)
{
    struct part *p = &d->parts[0];
    const struct format_place *section;
    uint8_t fixed[FORMAT_TOKENIZER_BYTES];
    struct leat_stored_tokenizer *t;
    struct records_tokenizer sizes;
    enum leat_status s;

    *tokenizer = NULL;
    if (p->tokenizer)
        return read_named(p, tokenizer, err);
    if (!part_has(p, FORMAT_TOKENIZER))
        return status_set_in(err, LEAT_E_NOT_FOUND, p->name, "%s stores no tokenizer", p->name);
    section = &p->index->header.sections[FORMAT_TOKENIZER];
    s = section->bytes >= sizeof fixed ? part_section(p, FORMAT_TOKENIZER, 0, fixed, sizeof fixed, err) : LEAT_OK;
    if (s != LEAT_OK)
        return s;
    if (section->bytes < sizeof fixed || !records_load_tokenizer(&sizes, fixed, section->bytes))
        return status_set_at(err, LEAT_E_RECORD, p->index->file.path, section->offset,
                             "%s: the tokenizer section is inconsistent; verify the dataset, or write it again",
                             p->index->file.path);
    t = section->bytes < SIZE_MAX / 2 ? malloc(sizeof *t + (size_t)section->bytes + 2) : NULL;
    if (!t)
        return status_no_memory(err, section->bytes);
    s = fill_tokenizer(t, &sizes, p, err);
    if (s != LEAT_OK) {
        free(t);
        return s;
    }
    *tokenizer = t;
    return LEAT_OK;
}

void leat_stored_tokenizer_free(struct leat_stored_tokenizer *tokenizer)
{
    free(tokenizer);
}

/* Makes pairs from the raw section. Copies their texts, each with a NUL, into the memory after the struct. */
static enum leat_status fill_metadata(struct leat_metadata *m, uint64_t count, const uint8_t *raw, uint64_t bytes,
                                      const struct part *p, struct leat_error *err)
{
    struct leat_metadata_pair pair = { 0 };
    struct leat_metadata_pair *pairs = (struct leat_metadata_pair *)(m + 1);
    char *text = (char *)&pairs[count];
    uint64_t at = 0;

    m->count = count;
    m->pairs = pairs;
    for (uint64_t i = 0; i < count; i++) {
        if (!records_next_pair(&pair, raw, bytes, &at) || (i + 1 == count && at != bytes))
            return status_set_at(
                err, LEAT_E_RECORD, p->index->file.path, p->index->header.sections[FORMAT_METADATA].offset + at,
                "%s: pair %" PRIu64 " of its metadata is invalid; verify the dataset, or write it again",
                p->index->file.path, i);
        pairs[i] = pair;
        pairs[i].key = memcpy(text, pair.key, (size_t)pair.key_bytes);
        text += pair.key_bytes;
        *text++ = '\0';
        pairs[i].value = memcpy(text, pair.value, (size_t)pair.value_bytes);
        text += pair.value_bytes;
        *text++ = '\0';
    }
    return LEAT_OK;
}

enum leat_status leat_dataset_metadata(const struct leat_dataset *d, uint64_t part, struct leat_metadata **metadata,
                                       struct leat_error *err)
{
    enum leat_status s = dataset_check_range(part, 1, d->part_count, "part", err);
    static const struct format_place none;
    const struct format_place *section;
    struct leat_metadata *m = NULL;
    uint8_t *raw = NULL;
    struct part *p;
    uint64_t bytes;

    *metadata = NULL;
    if (s != LEAT_OK)
        return s;
    p = &d->parts[part];
    section = p->index ? &p->index->header.sections[FORMAT_METADATA] : &none;
    bytes = section->present ? section->bytes : 0;
    /* a pair takes at least 16 bytes of the section, so more entries than that are impossible */
    if (section->entries > bytes / 16 || (section->entries == 0) != (bytes == 0) || bytes > SIZE_MAX / 8)
        return status_set_at(
            err, LEAT_E_RECORD, p->index->file.path, section->offset,
            "%s: the number of its metadata pairs does not match their size; verify the dataset, or write it again",
            p->index->file.path);
    m = malloc(sizeof *m + (size_t)section->entries * (sizeof m->pairs[0] + 2) + (size_t)bytes);
    raw = malloc((size_t)bytes + 1);
    s = m && raw ? LEAT_OK : status_no_memory(err, bytes);
    if (s == LEAT_OK && bytes > 0)
        s = part_section(p, FORMAT_METADATA, 0, raw, bytes, err);
    if (s == LEAT_OK)
        s = fill_metadata(m, section->entries, raw, bytes, p, err);
    free(raw);
    if (s != LEAT_OK) {
        free(m);
        return s;
    }
    *metadata = m;
    return LEAT_OK;
}

void leat_metadata_free(struct leat_metadata *metadata)
{
    free(metadata);
}
