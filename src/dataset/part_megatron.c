/*
 * part_megatron.c: a part that is Megatron's PREFIX.bin and PREFIX.idx (also GPT-NeoX's and NeMo's). Megatron's own
 * order of samples counts *sequences*, not documents; their lengths and the document index are read here.
 *
 * The index, little-endian, not aligned: "MMIDIDX\0\0"; u64 version, 1; u8 type of a token; u64 S; u64 D; at 34 i32
 * lengths[S] of sequences in tokens; i64 pointers[S], where each begins, in bytes; i64 documents[D], the first
 * sequence of each document, and S; perhaps i8 modes[S].
 *
 * Opening reads the header of the index and the ends of its arrays. Megatron looks up each sequence by its pointer;
 * leat takes a dataset for documents one after another. Both mean the same only if each sequence begins where the
 * one before it ends, so whenever starts of documents are read, all sequences that belong to them are checked for
 * that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "part_foreign.h"

#define SCHEME       "megatron"
#define HEADER_BYTES 34u

/* How many sequences, or entries of the document index, are fetched at once. */
#define AT_ONCE TINY_OR(3u, 512u)

static const uint8_t magic[9] = { 'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0 };

struct part_megatron {
    struct file_map index, tokens;
    uint64_t sequences;                             /* S; the part has D - 1 documents */
    uint64_t lengths_at, pointers_at, documents_at; /* where the arrays begin, in bytes from the start of the index */
};

/* ---- Opening ---- */

/* Returns PREFIX for any of the names by which the part may be opened. */
static const char *prefix_of(const char *name, size_t *length)
{
    if (foreign_has_scheme(name, SCHEME))
        name += strlen(SCHEME) + 1;
    *length = strlen(name);
    if (file_ends_with(name, *length, ".idx") || file_ends_with(name, *length, ".bin"))
        *length -= 4;
    return name;
}

enum leat_status megatron_peek(const char *prefix, size_t length, bool *is, struct leat_error *err)
{
    uint8_t first[sizeof magic];
    enum leat_status s = foreign_peek(prefix, length, ".idx", first, sizeof first, is, err);

    *is = *is && memcmp(first, magic, sizeof magic) == 0;
    return s;
}

static enum leat_status takes(const char *name, bool *takes, struct leat_error *err)
{
    size_t length;
    const char *prefix = prefix_of(name, &length);

    *takes = foreign_has_scheme(name, SCHEME);
    return *takes ? LEAT_OK : megatron_peek(prefix, length, takes, err);
}

/* The types of a token. `name` is NULL for an unknown type, and `width` 0 for a type that leat has no room for. */
struct token_type {
    const char *name;
    uint32_t width;
};

static struct token_type type_of(uint8_t code)
{
    static const struct token_type types[] = { { NULL, 0 },      { "uint8", 0 },   { "int8", 0 },
                                               { "int16", 0 },   { "int32", 4 },   { "int64", 0 },
                                               { "float64", 0 }, { "float32", 0 }, { "uint16", 2 } };

    return types[code < sizeof types / sizeof types[0] ? code : 0];
}

static enum leat_status read_header(struct part_megatron *m, uint8_t header[HEADER_BYTES], uint32_t *width,
                                    struct leat_error *err)
{
    const char *path = m->index.path;
    struct token_type type;
    enum leat_status s;

    if (m->index.size < HEADER_BYTES)
        return status_set_at(err, LEAT_E_TRUNCATED, path, m->index.size,
                             "%s has %" PRIu64
                             " bytes, but a Megatron index has at least %u; restore it from its source",
                             path, m->index.size, HEADER_BYTES);
    s = file_map_read(&m->index, 0, header, HEADER_BYTES, err);
    if (s != LEAT_OK)
        return s;
    if (memcmp(header, magic, sizeof magic) != 0)
        return status_set_at(err, LEAT_E_NOT_LEAT, path, 0,
                             "%s is not an index of Megatron: it does not begin with MMIDIDX (an older one, of "
                             "fairseq's lazy or cached kind, has to be written again)",
                             path);
    if (bytes_load64(header + 9) != 1)
        return status_set_at(err, LEAT_E_VERSION, path, 9,
                             "%s has version %" PRIu64 " of Megatron's index (2 and 3 are Fast-LLM's), and leat reads "
                             "version 1; convert it with the tool that wrote it",
                             path, bytes_load64(header + 9));
    type = type_of(header[17]);
    *width = type.width;
    if (!type.name)
        return status_set_at(err, LEAT_E_HEADER, path, 17,
                             "%s: unknown type %u of its tokens; restore it from its source", path, header[17]);
    if (type.width == 0)
        return status_set_at(err, LEAT_E_UNSUPPORTED, path, 17,
                             "%s: its tokens are %s, and leat reads uint16 and int32; write them as one of these", path,
                             type.name);
    return LEAT_OK;
}

/* Computes where the arrays lie. */
static enum leat_status place_arrays(struct part_megatron *m, const uint8_t header[HEADER_BYTES], uint64_t *entries,
                                     struct leat_error *err)
{
    uint64_t sequences = bytes_load64(header + 18), bytes, end;

    *entries = bytes_load64(header + 26);
    m->sequences = sequences;
    if (*entries == 0)
        return status_set_at(err, LEAT_E_HEADER, m->index.path, 26,
                             "%s has no document index; write it again with Megatron's tools", m->index.path);
    if (!bytes_multiply(sequences, 12, &m->documents_at) ||
        !bytes_add(m->documents_at, HEADER_BYTES, &m->documents_at) || !bytes_multiply(*entries, 8, &bytes) ||
        !bytes_add(m->documents_at, bytes, &end) || end > m->index.size)
        return status_set_at(err, LEAT_E_TRUNCATED, m->index.path, m->index.size,
                             "%s has %" PRIu64 " bytes, too few for the %" PRIu64 " sequences and %" PRIu64
                             " entries of the document index that its header says; restore it from its source",
                             m->index.path, m->index.size, sequences, *entries);
    if (m->index.size != end && m->index.size - end != sequences) /* the modes */
        return status_set_at(
            err, LEAT_E_HEADER, m->index.path, end,
            "%s has %" PRIu64
            " bytes after its arrays, which is neither none nor one per sequence; write it again with Megatron's tools",
            m->index.path, m->index.size - end);
    m->lengths_at = HEADER_BYTES;
    m->pointers_at = m->lengths_at + 4 * sequences;
    return LEAT_OK;
}

/* ---- Sequences ---- */

/* A pass over sequences in order. `at` is where number `next` begins, in bytes, by the lengths of those before it. */
struct walk {
    struct part *part;
    uint64_t next, at;
    uint64_t first, count, limit; /* sequences that were fetched, and where to stop fetching */
    uint64_t pointers[AT_ONCE];
    uint32_t lengths[AT_ONCE];
};

static enum leat_status fetch(struct walk *w, struct leat_error *err)
{
    struct part_megatron *m = w->part->own;
    uint64_t left = w->limit - w->next;
    enum leat_status s;

    if (w->next - w->first < w->count)
        return LEAT_OK;
    w->first = w->next;
    w->count = left < AT_ONCE ? left : AT_ONCE;
    s = file_map_read(&m->index, m->pointers_at + 8 * w->first, w->pointers, 8 * w->count, err);
    return s == LEAT_OK ? file_map_read(&m->index, m->lengths_at + 4 * w->first, w->lengths, 4 * w->count, err) : s;
}

/* Fails because sequence w->next does not begin at w->at, where it should. */
static enum leat_status wrong_pointer(const struct walk *w, uint64_t pointer, struct leat_error *err)
{
    const struct part_megatron *m = w->part->own;
    uint64_t off = w->at - pointer;

    if (off != 0 && (off & UINT32_MAX) == 0)
        return status_set_at(err, LEAT_E_DOCUMENTS, m->index.path, m->pointers_at + 8 * w->next,
                             "%s: its pointers wrap: sequence %" PRIu64 " begins at byte %" PRIu64
                             ", and the index says %" PRId64 ", as writers of 32-bit pointers do in large files; write "
                             "the index again with a current version of Megatron",
                             m->index.path, w->next, w->at, pointer);
    return status_set_at(
        err, LEAT_E_DOCUMENTS, m->index.path, m->pointers_at + 8 * w->next,
        "%s: sequence %" PRIu64 " begins at byte %" PRId64 ", but the one before it ends at byte %" PRIu64
        ": they overlap or leave a gap, so this is not a text in order; write it again with Megatron's tools",
        m->index.path, w->next, pointer, w->at);
}

/* Checks where sequence w->next begins. With `at_end`, w->next is the number of sequences. */
static enum leat_status check_begin(struct walk *w, struct leat_error *err)
{
    const struct part_megatron *m = w->part->own;
    uint64_t pointer;
    enum leat_status s;

    if (w->next == m->sequences) {
        if (w->at == w->part->data.bytes)
            return LEAT_OK;
        return status_set_at(err, LEAT_E_DOCUMENTS, m->index.path, m->pointers_at,
                             "%s: its sequences end at byte %" PRIu64 " of %" PRIu64
                             "; restore both files from their source",
                             m->index.path, w->at, w->part->data.bytes);
    }
    s = fetch(w, err);
    if (s != LEAT_OK)
        return s;
    pointer = bytes_le64(w->pointers[w->next - w->first]);
    return pointer == w->at ? LEAT_OK : wrong_pointer(w, pointer, err);
}

/* Goes past sequence w->next, whose beginning has been checked. */
static enum leat_status pass(struct walk *w, struct leat_error *err)
{
    const struct part_megatron *m = w->part->own;
    uint32_t length = bytes_le32(w->lengths[w->next - w->first]);
    uint64_t bytes = (uint64_t)length * w->part->token_width;

    if (length > INT32_MAX || !bytes_inside(w->at, bytes, w->part->data.bytes))
        return status_set_at(
            err, LEAT_E_DOCUMENTS, m->index.path, m->lengths_at + 4 * w->next,
            "%s: sequence %" PRIu64
            " has a length of %d tokens, which does not fit into %s; restore both files from their source",
            m->index.path, w->next, (int)(int32_t)length, m->tokens.path);
    w->at += bytes;
    w->next++;
    return LEAT_OK;
}

/* Begins a pass at sequence `first`, where the one before it ends; sequences up to `last` will be looked at. */
static enum leat_status begin_walk(struct walk *w, struct part *p, uint64_t first, uint64_t last,
                                   struct leat_error *err)
{
    const struct part_megatron *m = p->own;
    enum leat_status s;

    w->part = p;
    w->next = w->at = w->first = w->count = 0;
    w->limit = last < m->sequences ? last + 1 : m->sequences;
    if (first == 0)
        return LEAT_OK;
    w->next = first - 1;
    s = fetch(w, err);
    if (s != LEAT_OK)
        return s;
    w->at = bytes_le64(w->pointers[0]);
    if (w->at > p->data.bytes || w->at % p->token_width != 0)
        return status_set_at(err, LEAT_E_DOCUMENTS, m->index.path, m->pointers_at + 8 * w->next,
                             "%s: sequence %" PRIu64 " begins at byte %" PRId64
                             ", where no token of %s begins; write the index again with Megatron's tools",
                             m->index.path, w->next, w->at, m->tokens.path);
    return pass(w, err);
}

/* ---- Documents ---- */

static enum leat_status read_entries(struct part *p, uint64_t first, uint64_t count, uint64_t *entries,
                                     struct leat_error *err)
{
    struct part_megatron *m = p->own;
    enum leat_status s = file_map_read(&m->index, m->documents_at + 8 * first, entries, 8 * count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        entries[i] = bytes_le64(entries[i]);
        if (entries[i] > m->sequences || (i > 0 && entries[i] < entries[i - 1]))
            return status_set_at(err, LEAT_E_DOCUMENTS, m->index.path, m->documents_at + 8 * (first + i),
                                 "%s: document %" PRIu64 " begins with sequence %" PRId64
                                 ", which is %s: its document index is damaged, as by a faulty merge; write it again "
                                 "with Megatron's tools",
                                 m->index.path, first + i, entries[i],
                                 entries[i] > m->sequences ? "beyond the last one" : "before the previous one's");
    }
    return s;
}

static enum leat_status starts_of(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct walk *w,
                                  struct leat_error *err)
{
    enum leat_status s = read_entries(p, first, count, starts, err);

    if (s == LEAT_OK)
        s = begin_walk(w, p, starts[0], starts[count - 1], err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        while (s == LEAT_OK && w->next < starts[i]) {
            s = check_begin(w, err);
            if (s == LEAT_OK)
                s = pass(w, err);
        }
        if (s == LEAT_OK)
            s = check_begin(w, err);
        starts[i] = w->at / p->token_width;
    }
    return s;
}

/* Reads the starts. A pass begins anew for each stretch, with the last document of the stretch before, so that
 * nothing between them is left out. */
static enum leat_status starts(struct part *p, uint64_t first, uint64_t count, uint64_t *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct walk w;

    for (uint64_t done = 0; s == LEAT_OK && done < count;) {
        uint64_t from = done > 0 ? done - 1 : 0, left = count - from, here = left < AT_ONCE ? left : AT_ONCE;

        s = starts_of(p, first + from, here, out + from, &w, err);
        done = from + here;
    }
    return s;
}

static enum leat_status sequence_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *out,
                                        struct leat_error *err)
{
    struct walk w;
    enum leat_status s = begin_walk(&w, p, first, first + count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        s = check_begin(&w, err);
        out[i] = w.at / p->token_width;
        if (s == LEAT_OK && i + 1 < count)
            s = pass(&w, err);
    }
    return s;
}

/* Checks the ends of all arrays. They show at once if files are cut or mixed up, or if a writer's numbers wrapped. */
static enum leat_status check_ends(struct part *p, struct leat_error *err)
{
    struct part_megatron *m = p->own;
    uint64_t ends[2], said = 0;
    enum leat_status s = read_entries(p, 0, 1, &ends[0], err);
    struct walk w;

    if (s == LEAT_OK)
        s = read_entries(p, p->documents, 1, &ends[1], err);
    if (s == LEAT_OK && (ends[0] != 0 || ends[1] != m->sequences))
        return status_set_at(err, LEAT_E_DOCUMENTS, m->index.path, m->documents_at,
                             "%s: its document index goes from sequence %" PRIu64 " to %" PRIu64
                             ", and there are %" PRIu64
                             ": it is damaged, as by a faulty merge; write it again with Megatron's tools",
                             m->index.path, ends[0], ends[1], m->sequences);
    if (s != LEAT_OK || m->sequences == 0)
        return s != LEAT_OK || p->data.bytes == 0 ? s : check_begin(&(struct walk) { .part = p }, err);
    s = begin_walk(&w, p, 0, 0, err);
    if (s == LEAT_OK)
        s = check_begin(&w, err);
    if (s != LEAT_OK)
        return s;
    w = (struct walk) { .part = p, .next = m->sequences - 1, .limit = m->sequences };
    s = fetch(&w, err);
    if (s != LEAT_OK)
        return s;
    said = bytes_le64(w.pointers[0]) + (uint64_t)bytes_le32(w.lengths[0]) * p->token_width;
    if (said == p->data.bytes)
        return LEAT_OK;
    if (((said - p->data.bytes) & UINT32_MAX) == 0) {
        w.at = p->data.bytes - (uint64_t)bytes_le32(w.lengths[0]) * p->token_width;
        return wrong_pointer(&w, bytes_le64(w.pointers[0]), err);
    }
    return status_set_at(err, said > p->data.bytes ? LEAT_E_TRUNCATED : LEAT_E_MISMATCH, m->tokens.path, p->data.bytes,
                         "%s has %" PRIu64 " bytes, but %s says that its last sequence ends at byte %" PRId64
                         ": %s; restore both from their source",
                         m->tokens.path, p->data.bytes, m->index.path, said,
                         said > p->data.bytes ? "it is cut" : "they do not belong together");
}

static enum leat_status open_prefix(struct part *p, enum leat_access access, struct leat_error *err)
{
    struct part_megatron *m = p->own = calloc(1, sizeof *m);
    uint8_t header[HEADER_BYTES];
    uint64_t entries = 0;
    uint32_t width = 0;
    size_t length;
    const char *prefix = prefix_of(p->name, &length);
    enum leat_status s;

    if (!m)
        return status_no_memory(err, sizeof *m);
    m->index.fd = m->tokens.fd = -1;
    s = foreign_open_file(&m->index, p->mounts, prefix, length, ".idx", access, err);
    if (s == LEAT_OK)
        s = foreign_open_file(&m->tokens, p->mounts, prefix, length, ".bin", access, err);
    if (s == LEAT_E_NO_FILE && m->index.fd >= 0)
        status_after(err, "; %.*s.idx needs it: restore both from their source", (int)(length < 300 ? length : 300),
                     prefix);
    if (s == LEAT_OK)
        s = read_header(m, header, &width, err);
    if (s == LEAT_OK)
        s = place_arrays(m, header, &entries, err);
    if (s != LEAT_OK)
        return s;
    s = foreign_take(p, &m->tokens, 0, m->tokens.size, width, err);
    if (s != LEAT_OK)
        return s;
    p->documents = entries - 1;
    p->sequences = m->sequences;
    p->lookup = (struct part_extent) { &m->index, 0, m->index.size };
    s = check_ends(p, err);
    return s == LEAT_OK ? foreign_identify(p, err) : s;
}

static void close_prefix(struct part *p)
{
    struct part_megatron *m = p->own;

    if (!m)
        return;
    file_map_close(&m->index);
    file_map_close(&m->tokens);
    free(m);
}

const struct part_kind part_megatron = { .name = SCHEME,
                                         .takes = takes,
                                         .open = open_prefix,
                                         .close = close_prefix,
                                         .starts = starts,
                                         .sequence_starts = sequence_starts };
