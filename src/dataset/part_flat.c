/*
 * part_flat.c: files that are tokens, one after another, perhaps after a header: raw (nanoGPT's .bin, OLMo-core's
 * headerless .npy and the like), llm.c's .bin and that of NeMo AutoModel, Modalities' .pbin. None of them says where
 * documents begin in a way that leat uses (that of a .pbin is a Python pickle, which could run anything): they are
 * found by end= or begin= in the name, by the token that AutoModel's .bos.idx shows, or are not known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "part_foreign.h"

struct flat {
    struct file_map file, mask;
    struct part_found found;
};

/* The place of the tokens in the file. */
struct place {
    uint64_t offset, bytes;
    uint32_t width;
    uint64_t documents; /* number of documents that must be found; LEAT_NONE: any number */
};

/* Finds where the tokens lie. May set o->begin to what another file shows. */
typedef enum leat_status place_tokens(struct file_map *f, struct foreign_options *o, struct place *place,
                                      struct leat_error *err);

/* Fails with LEAT_E_MISMATCH if an index beside the file counts other documents than were found. */
static enum leat_status check_found(const struct part *p, const struct place *place, struct leat_error *err)
{
    if (place->documents == LEAT_NONE || place->documents == p->documents)
        return LEAT_OK;
    return status_set_at(err, LEAT_E_MISMATCH, p->data.file->path, 0,
                         "%s has token %" PRIu64 " at %" PRIu64 " places, but its .bos.idx has %" PRIu64
                         " entries: they do not belong together; use llmc:FILE?begin=ID, which ignores the .bos.idx",
                         p->data.file->path, p->begin_token, p->documents, place->documents);
}

static enum leat_status flat_open(struct part *p, place_tokens *find, bool dtype, enum leat_access access,
                                  struct leat_error *err)
{
    struct flat *flat = p->own = calloc(1, sizeof *flat);
    struct foreign_options o;
    struct place place = { .documents = LEAT_NONE };
    enum leat_status s;

    if (!flat)
        return status_no_memory(err, sizeof *flat);
    flat->file.fd = flat->mask.fd = flat->found.file.fd = -1;
    s = foreign_parse(&o, p, dtype, err);
    if (s == LEAT_OK)
        s = foreign_open_file(&flat->file, p->mounts, o.path, o.length, "", access, err);
    if (s == LEAT_OK)
        s = find(&flat->file, &o, &place, err);
    if (s == LEAT_OK)
        s = foreign_take(p, &flat->file, place.offset, place.bytes, place.width, err);
    if (s != LEAT_OK)
        return s;
    if (o.tokenizer && !(p->tokenizer = strndup(o.tokenizer, o.tokenizer_length)))
        return status_no_memory(err, o.tokenizer_length);
    p->end_token = o.end;
    p->begin_token = o.begin;
    if (o.mask)
        s = foreign_open_named_mask(&flat->mask, p, &o, access, err);
    if (s == LEAT_OK && (o.end != LEAT_NONE || o.begin != LEAT_NONE))
        s = part_found_open(&flat->found, p, access, err);
    if (s == LEAT_OK)
        s = check_found(p, &place, err);
    return s == LEAT_OK ? foreign_identify(p, err) : s;
}

static void flat_close(struct part *p)
{
    struct flat *flat = p->own;

    if (!flat)
        return;
    part_found_close(&flat->found);
    file_map_close(&flat->file);
    file_map_close(&flat->mask);
    free(flat);
}

static enum leat_status flat_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                    struct leat_error *err)
{
    return part_found_starts(&((struct flat *)p->own)->found, p, first, count, starts, err);
}

/* Fails for a file that has fewer bytes than a header, or than its header says. */
static enum leat_status too_short(const struct file_map *f, uint64_t needed, const char *what, struct leat_error *err)
{
    return status_set_at(err, LEAT_E_TRUNCATED, f->path, f->size,
                         "%s has %" PRIu64 " byte%s, but %s needs %" PRIu64 "; restore it from its source", f->path,
                         f->size, f->size == 1 ? "" : "s", what, needed);
}

/* ---- llm.c and NeMo AutoModel ---- */

#define LLMC_HEADER 1024u
#define LLMC_FACTS  16u /* bytes of the header that say something */

/* Returns the bytes per token that a header stands for, or 0 if it is not a known header. The magic number and the
 * version decide; AutoModel's header has the number itself. */
static uint32_t llmc_width(const uint8_t head[LLMC_FACTS])
{
    uint32_t magic = bytes_load32(head), version = bytes_load32(head + 4), said = bytes_load32(head + 12);

    if (magic == 278895051 && version == 1)
        return said == 2 || said == 4 ? said : 0;
    return magic == 20240520 && version == 1 ? 2 : magic == 20240801 && version == 7 ? 4 : 0;
}

static enum leat_status takes_llmc(const char *name, bool *takes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint8_t head[LLMC_FACTS];

    *takes = foreign_has_scheme(name, part_llmc.name);
    if (!*takes) {
        s = foreign_peek(name, strlen(name), "", head, sizeof head, takes, err);
        *takes = *takes && llmc_width(head) > 0;
    }
    return s;
}

/*
 * AutoModel's FILE.bos.idx has an i32 for each begin token in FILE.bin. Its writer puts the byte at which the document
 * begins there, and adds the number of tokens to it for a begin token in its middle; its reader takes all of them for
 * numbers of tokens. So only two things are certain: the first one, which is the first token's, shows which token
 * begins documents, and there are as many of them as entries. Where they are is found as by begin= in the name.
 */
static enum leat_status place_begins(struct file_map *f, struct foreign_options *o, struct place *place,
                                     struct leat_error *err)
{
    size_t length = file_ends_with(o->path, o->length, ".bin") ? o->length - 4 : o->length;
    struct file_map index = { .fd = -1 };
    uint8_t entry[4], token[4] = { 0 };
    uint32_t first;
    bool there;
    enum leat_status s = foreign_peek(o->path, length, ".bos.idx", NULL, 0, &there, err);

    if (s != LEAT_OK || !there)
        return s;
    s = foreign_open_file(&index, f->mounts, o->path, length, ".bos.idx", LEAT_ACCESS_READ, err);
    if (s == LEAT_OK && (index.size == 0 || index.size % sizeof entry != 0))
        s = status_set_at(err, LEAT_E_TRUNCATED, index.path, index.size,
                          "%s has %" PRIu64 " bytes, not 4 for each document: restore it from its source, or use "
                          "llmc:FILE?begin=ID, which ignores it",
                          index.path, index.size);
    if (s == LEAT_OK)
        s = file_map_read(&index, 0, entry, sizeof entry, err);
    if (s == LEAT_OK && place->bytes > 0)
        s = file_map_read(f, place->offset, token, place->width, err);
    if (s == LEAT_OK) {
        first = bytes_load32(entry);
        o->begin = bytes_load32(token);
        place->documents = index.size / sizeof entry;
        if ((first != LLMC_HEADER && first != 0) || o->begin >= FOREIGN_VOCABULARY)
            s = status_set_at(err, LEAT_E_DOCUMENTS, index.path, 0,
                              "%s begins with %u, not with %u, where the first token is: which token begins documents "
                              "is not certain; use llmc:FILE?begin=ID, which ignores it",
                              index.path, (unsigned)first, LLMC_HEADER);
    }
    file_map_close(&index);
    return s;
}

/* Finds the tokens of llm.c's file. Its count has 32 bits, and llm.c itself reads no file whose count is not exact;
 * in a larger file the count has wrapped. */
static enum leat_status place_llmc(struct file_map *f, struct foreign_options *o, struct place *place,
                                   struct leat_error *err)
{
    uint8_t head[LLMC_FACTS];
    uint64_t count, tokens;
    enum leat_status s;

    if (f->size < LLMC_HEADER)
        return too_short(f, LLMC_HEADER, "the header of llm.c", err);
    s = file_map_read(f, 0, head, sizeof head, err);
    if (s != LEAT_OK)
        return s;
    *place = (struct place) { LLMC_HEADER, f->size - LLMC_HEADER, llmc_width(head), LEAT_NONE };
    if (place->width == 0)
        return status_set_at(err, LEAT_E_NOT_LEAT, f->path, 0,
                             "%s is not a token file of llm.c or NeMo AutoModel, as its first %u bytes show; if it has "
                             "no header, use raw:FILE?dtype=u16",
                             f->path, LLMC_FACTS);
    count = bytes_load32(head + 8);
    tokens = place->bytes / place->width;
    if ((tokens & UINT32_MAX) == count && place->bytes % place->width == 0)
        return o->end == LEAT_NONE && o->begin == LEAT_NONE ? place_begins(f, o, place, err) : LEAT_OK;
    if ((tokens & UINT32_MAX) == count)
        return status_set_at(err, LEAT_E_TRUNCATED, f->path, f->size,
                             "%s: its last token has only %" PRIu64
                             " of %u bytes: it is cut; restore it from its source",
                             f->path, place->bytes % place->width, (unsigned)place->width);
    if (tokens < count)
        return too_short(f, LLMC_HEADER + count * place->width, "its header", err);
    return status_set_at(err, LEAT_E_HEADER, f->path, 8,
                         "%s: its header says %" PRIu64 " tokens, but there are bytes for %" PRIu64
                         "; restore it from its source",
                         f->path, count, tokens);
}

static enum leat_status open_llmc(struct part *p, enum leat_access access, struct leat_error *err)
{
    return flat_open(p, place_llmc, false, access, err);
}

/* ---- Modalities ---- */

#define PBIN_HEADER 12u

static enum leat_status takes_pbin(const char *name, bool *takes, struct leat_error *err)
{
    uint8_t head[PBIN_HEADER];

    *takes = foreign_has_scheme(name, part_pbin.name);
    if (*takes || !file_ends_with(name, strlen(name), ".pbin"))
        return LEAT_OK;
    return foreign_peek(name, strlen(name), "", head, sizeof head, takes, err);
}

static enum leat_status place_pbin(struct file_map *f, struct foreign_options *o, struct place *place,
                                   struct leat_error *err)
{
    uint8_t head[PBIN_HEADER];
    enum leat_status s;

    (void)o;
    if (f->size < PBIN_HEADER)
        return too_short(f, PBIN_HEADER, "the header of Modalities", err);
    s = file_map_read(f, 0, head, sizeof head, err);
    if (s != LEAT_OK)
        return s;
    *place = (struct place) { PBIN_HEADER, bytes_load64(head), bytes_load32(head + 8), LEAT_NONE };
    if (place->width != 1 && place->width != 2 && place->width != 4)
        return status_set_at(err, LEAT_E_HEADER, f->path, 8,
                             "%s is not a .pbin file of Modalities: its header says %u bytes per token", f->path,
                             (unsigned)place->width);
    if (place->width == 1)
        return status_set_at(err, LEAT_E_UNSUPPORTED, f->path, 8,
                             "%s has tokens of 1 byte, and leat reads 2 and 4; write it again with another size",
                             f->path);
    if (!bytes_inside(PBIN_HEADER, place->bytes, f->size))
        return status_set_at(err, LEAT_E_TRUNCATED, f->path, f->size,
                             "%s has %" PRIu64 " bytes, but its header says %" PRIu64
                             " of tokens; restore it from its source",
                             f->path, f->size, place->bytes);
    return LEAT_OK;
}

static enum leat_status open_pbin(struct part *p, enum leat_access access, struct leat_error *err)
{
    return flat_open(p, place_pbin, false, access, err);
}

/* ---- Without a header ---- */

static enum leat_status takes_raw(const char *name, bool *takes, struct leat_error *err)
{
    (void)err;
    *takes = foreign_has_scheme(name, part_raw.name);
    return LEAT_OK;
}

/* Finds the tokens of a raw file, whose name says what it holds. A file with a header that says otherwise is
 * refused, since the header would be read as tokens. */
static enum leat_status place_raw(struct file_map *f, struct foreign_options *o, struct place *place,
                                  struct leat_error *err)
{
    static const uint8_t numpy[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };
    uint8_t head[LLMC_FACTS] = { 0 };
    uint64_t count = f->size < sizeof head ? f->size : sizeof head;
    enum leat_status s;

    if (o->width == 0)
        return status_in_file(err,
                              status_argument(err, "name",
                                              "%s: unknown size of a token: add ?dtype=u16 or ?dtype=u32 to the name",
                                              f->path),
                              f->path);
    if (o->width == 2 && ((o->end != LEAT_NONE && o->end > 65535) || (o->begin != LEAT_NONE && o->begin > 65535)))
        return status_in_file(err,
                              status_argument(err, "name", "%s: ids of 2 bytes are at most 65535, not %" PRIu64,
                                              f->path, o->end != LEAT_NONE ? o->end : o->begin),
                              f->path);
    s = file_map_read(f, 0, head, count, err);
    if (s != LEAT_OK)
        return s;
    if (memcmp(head, numpy, sizeof numpy) == 0)
        return status_set_at(err, LEAT_E_UNSUPPORTED, f->path, 0,
                             "%s begins with a header of NumPy, which would be read as tokens; write the array without "
                             "it (ndarray.tofile)",
                             f->path);
    if (llmc_width(head) > 0)
        return status_set_at(
            err, LEAT_E_UNSUPPORTED, f->path, 0,
            "%s begins with a header of llm.c or NeMo AutoModel, which would be read as tokens; use llmc:FILE",
            f->path);
    *place = (struct place) { 0, f->size, o->width, LEAT_NONE };
    return LEAT_OK;
}

static enum leat_status open_raw(struct part *p, enum leat_access access, struct leat_error *err)
{
    return flat_open(p, place_raw, true, access, err);
}

#define FLAT(kind)                                                                                                     \
    .name = #kind, .finds_documents = true, .takes = takes_##kind, .open = open_##kind, .close = flat_close,           \
    .starts = flat_starts

const struct part_kind part_raw = { FLAT(raw) };
const struct part_kind part_llmc = { FLAT(llmc) };
const struct part_kind part_pbin = { FLAT(pbin) };
