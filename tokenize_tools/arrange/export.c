/*
 * export.c: leat_export(): writes a dataset as files of another tool. (Opening such files in place belongs to
 * src/dataset/, importing them to leat's Python package.)
 *
 * Each format is a row of a table: the names of its files, what fits into them, and functions that write everything
 * but the tokens. The tokens are copied in one way for all formats, in chunks, in the order in which they are
 * stored. Pages that have a hash are checked first, since nobody could check them in the copy.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "leat_pack.h"
#include "private.h"

/* A file that gets its name when all are complete. */
struct export_file {
    char *path, *partial; /* PATH.partial: see own_file_begin() */
    int fd;
    bool named;
    uint64_t bytes; /* written */
    bool none;      /* true if it gets no name because it would be empty; then an old file of that name is removed */
    uint8_t *buffer;
    size_t used;
};

#define EXPORT_FILES 4u

struct exporting {
    const struct export_format *format;
    const struct leat_dataset *dataset;
    struct leat_info info;
    uint32_t width;     /* bytes per token in the output */
    uint64_t sequences; /* Megatron's, counted */
    struct export_file files[EXPORT_FILES];
    struct leat_export_options options;
};

struct export_format {
    const char *name;
    /* Suffixes of the files' names. The first file has the tokens. Programs open them only if the last file exists. The
     * output's name may already end in the first suffix, or in `base` (may be NULL). */
    const char *suffixes[EXPORT_FILES];
    const char *base;
    bool documents;      /* true if the format records documents */
    unsigned mask;       /* number of the file that has the mask, which exists only with a mask; 0: no such file */
    uint64_t max_tokens; /* 0: no limit */
    uint64_t max_id;     /* greatest id of 4 bytes; 0: no limit */
    uint32_t width;      /* bytes per id, if the format has one width only; 0: 2 or 4 */
    /* Writes the bytes before the tokens; may be NULL. */
    enum leat_status (*head)(struct exporting *e, struct export_file *f, struct leat_error *err);
    /* Writes the file with suffix `number`, above 0. */
    enum leat_status (*other)(struct exporting *e, unsigned number, struct export_file *f, struct leat_error *err);
};

/* ---- Files that get their names together ---- */

#define BUFFER_BYTES TINY_OR((size_t)16, (size_t)64 << 10)

static enum leat_status check_free(const struct export_file *f, bool replace, struct leat_error *err)
{
    struct file_identity there;
    enum leat_status s = own_file_check_name(f->path, err);

    if (s == LEAT_OK)
        s = file_identify(f->path, &there, err);
    if (s == LEAT_OK && there.exists && !replace)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, f->path,
                               "%s already exists: choose another name or replace it", f->path);
    return s;
}

static enum leat_status begin_file(struct export_file *f, const char *base, size_t length, const char *suffix,
                                   bool replace, struct leat_error *err)
{
    enum leat_status s;

    f->fd = -1;
    f->path = path_append(base, length, suffix, NULL);
    f->partial = path_append(base, length, suffix, ".partial", NULL);
    f->buffer = malloc(BUFFER_BYTES);
    if (!f->path || !f->partial || !f->buffer)
        return status_no_memory(err, BUFFER_BYTES);
    s = check_free(f, replace, err);
    return s == LEAT_OK ? own_file_begin(&f->fd, f->partial, err) : s;
}

static enum leat_status flush(struct export_file *f, struct leat_error *err)
{
    enum leat_status s = file_write_at(f->fd, f->bytes, f->buffer, f->used, f->partial, err);

    f->bytes += f->used;
    f->used = 0;
    return s;
}

static enum leat_status put_bytes(struct export_file *f, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (count > BUFFER_BYTES - f->used)
        s = flush(f, err);
    if (s == LEAT_OK && count > BUFFER_BYTES) {
        s = file_write_at(f->fd, f->bytes, bytes, count, f->partial, err);
        f->bytes += count;
        return s;
    }
    memcpy(f->buffer + f->used, bytes, count);
    f->used += count;
    return s;
}

static enum leat_status put_number(struct export_file *f, uint64_t value, unsigned bytes, struct leat_error *err)
{
    value = bytes_le64(value); /* the low bytes come first */
    return put_bytes(f, &value, bytes, err);
}

static enum leat_status name_all(struct export_file *files, unsigned count, bool replace, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = count; s == LEAT_OK && replace && i-- > 1;)
        s = file_remove(files[i].path, err);
    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        if (files[i].none)
            continue;
        s = file_rename(files[i].partial, files[i].path, replace, err);
        files[i].named = s == LEAT_OK;
        if (s == LEAT_OK)
            s = file_sync_folder(files[i].path, err);
    }
    return s;
}

static enum leat_status name_files(struct export_file *files, unsigned count, bool replace, struct leat_error *err)
{
    enum leat_status s = name_all(files, count, replace, err);

    /* all or nothing */
    for (unsigned i = count; s != LEAT_OK && i-- > 0;)
        if (files[i].named)
            file_remove(files[i].path, NULL);
    return s;
}

static void close_file(struct export_file *f)
{
    if (f->fd >= 0 && !f->named)
        file_remove(f->partial, NULL);
    file_close(&f->fd);
    free(f->path);
    free(f->partial);
    free(f->buffer);
}

#define CHUNK_TOKENS   TINY_OR((uint64_t)100, (uint64_t)256 << 10)
#define STARTS_AT_ONCE TINY_OR((uint64_t)3, (uint64_t)4096)

/* Calls `take` with stretches of the documents' starts, in order: `count` documents, whose starts and the end of the
 * last one are starts[0..count]. */
typedef enum leat_status take_starts(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                     struct leat_error *err);
static enum leat_status each_start(struct exporting *e, struct export_file *f, take_starts *take,
                                   struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < e->info.documents;) {
        uint64_t left = e->info.documents - done, here = left < STARTS_AT_ONCE ? left : STARTS_AT_ONCE;

        s = leat_dataset_starts(e->dataset, done, here + 1, starts, err);
        if (s == LEAT_OK)
            s = take(e, f, starts, here, err);
        done += here;
    }
    return s;
}

/* ---- Megatron: PREFIX.bin and PREFIX.idx ---- */

#define MEGATRON_INT32  4u /* its codes for types of tokens; it has none for u32 */
#define MEGATRON_UINT16 8u
#define MAX_SEQUENCE    TINY_OR((uint64_t)50, (uint64_t)INT32_MAX) /* a longer document becomes several sequences */

static uint64_t sequences_of(uint64_t tokens)
{
    return tokens == 0 ? 1 : bytes_divide_up(tokens, MAX_SEQUENCE);
}

static enum leat_status count_sequences(struct exporting *e, struct export_file *f, const uint64_t *starts,
                                        uint64_t count, struct leat_error *err)
{
    (void)f;
    (void)err;
    for (uint64_t i = 0; i < count; i++)
        e->sequences += sequences_of(starts[i + 1] - starts[i]);
    return LEAT_OK;
}

static enum leat_status put_lengths(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    (void)e;
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t at = starts[i], end = starts[i + 1], n = sequences_of(end - at); s == LEAT_OK && n > 0; n--) {
            uint64_t here = end - at < MAX_SEQUENCE ? end - at : MAX_SEQUENCE;

            s = put_number(f, here, 4, err);
            at += here;
        }
    return s;
}

static enum leat_status put_pointers(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < count; i++)
        for (uint64_t n = 0; s == LEAT_OK && n < sequences_of(starts[i + 1] - starts[i]); n++)
            s = put_number(f, (starts[i] + n * MAX_SEQUENCE) * e->width, 8, err);
    return s;
}

/* Writes the document index: each document ends where this number of sequences ends. */
static enum leat_status put_documents(struct exporting *e, struct export_file *f, const uint64_t *starts,
                                      uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        e->sequences += sequences_of(starts[i + 1] - starts[i]);
        s = put_number(f, e->sequences, 8, err);
    }
    return s;
}

static enum leat_status megatron_other(struct exporting *e, unsigned number, struct export_file *f,
                                       struct leat_error *err)
{
    enum leat_status s;

    (void)number;
    e->sequences = 0;
    s = each_start(e, f, count_sequences, err);
    if (s == LEAT_OK)
        s = put_bytes(f, "MMIDIDX\0\0\1\0\0\0\0\0\0", 17, err); /* and version 1 */
    if (s == LEAT_OK)
        s = put_number(f, e->width == 2 ? MEGATRON_UINT16 : MEGATRON_INT32, 1, err);
    if (s == LEAT_OK)
        s = put_number(f, e->sequences, 8, err);
    if (s == LEAT_OK)
        s = put_number(f, e->info.documents + 1, 8, err);
    if (s == LEAT_OK)
        s = each_start(e, f, put_lengths, err);
    if (s == LEAT_OK)
        s = each_start(e, f, put_pointers, err);
    e->sequences = 0;
    if (s == LEAT_OK)
        s = put_number(f, 0, 8, err);
    return s == LEAT_OK ? each_start(e, f, put_documents, err) : s;
}

static const struct export_format export_megatron = { .name = "megatron",
                                                      .suffixes = { ".bin", ".idx" },
                                                      .base = ".idx",
                                                      .documents = true,
                                                      .max_id = INT32_MAX,
                                                      .other = megatron_other };

/* ---- Bare tokens: nanoGPT, OLMo-core ---- */

static const struct export_format export_raw = { .name = "raw", .suffixes = { "" } };
static const struct export_format export_nanogpt = { .name = "nanogpt", .suffixes = { "" }, .width = 2 };

/* ---- llm.c ---- */

#define LLMC_HEADER_NUMBERS 256u

static enum leat_status llmc_head(struct exporting *e, struct export_file *f, struct leat_error *err)
{
    const uint64_t head[3] = { e->width == 2 ? 20240520 : 20240801, e->width == 2 ? 1 : 7, e->info.tokens };
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < LLMC_HEADER_NUMBERS; i++)
        s = put_number(f, i < 3 ? head[i] : 0, 4, err);
    return s;
}

static const struct export_format export_llmc = {
    .name = "llmc", .suffixes = { "" }, .max_tokens = INT32_MAX, .head = llmc_head
};

/* ---- datatrove: FILE.ds, its mask, and where documents end; the tokenizer's name is not known ---- */

#define DATATROVE_LOSS 2u

static enum leat_status put_loss(struct exporting *e, struct export_file *f, struct leat_error *err)
{
    uint8_t mask[4096];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < e->info.tokens;) {
        uint64_t left = e->info.tokens - done, here = left < sizeof mask ? left : sizeof mask;

        s = leat_dataset_mask(e->dataset, done, here, mask, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            if (mask[i] > 0 && mask[i] < UINT8_MAX)
                return status_set(err, LEAT_E_UNSUPPORTED,
                                  "token %" PRIu64
                                  " has a weight of %u/255, and files of datatrove only say whether a token "
                                  "is learned",
                                  (done + i), mask[i]);
            mask[i] = mask[i] > 0;
        }
        if (s == LEAT_OK)
            s = put_bytes(f, mask, (size_t)here, err);
        done += here;
    }
    return s;
}

static enum leat_status put_ends(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                 struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    (void)e;
    for (uint64_t i = 1; s == LEAT_OK && i <= count; i++)
        s = put_number(f, starts[i], 8, err);
    return s;
}

static enum leat_status datatrove_other(struct exporting *e, unsigned number, struct export_file *f,
                                        struct leat_error *err)
{
    char text[100], millions[32];

    if (number == DATATROVE_LOSS)
        return put_loss(e, f, err);
    if (number > DATATROVE_LOSS)
        return each_start(e, f, put_ends, err);
    /* This is rounded as datatrove does; only the character before the last digit depends on the locale. */
    snprintf(millions, sizeof millions, "%.1f", (double)e->info.tokens / 1e6);
    snprintf(text, sizeof text, "Unknown Tokenizer|%u\n%" PRIu64 "\n%.*s.%c M", e->width, e->info.tokens,
             (int)strspn(millions, "0123456789"), millions, millions[strlen(millions) - 1]);
    return put_bytes(f, text, strlen(text), err);
}

static const struct export_format export_datatrove = { .name = "datatrove",
                                                       .suffixes = { ".ds", ".ds.metadata", ".ds.loss", ".ds.index" },
                                                       .documents = true,
                                                       .mask = DATATROVE_LOSS,
                                                       .other = datatrove_other };

/* ---- The table ---- */

static const struct export_format *const formats[] = { &export_megatron, &export_raw, &export_nanogpt, &export_llmc,
                                                       &export_datatrove };

/* ---- Limits of the format ---- */

static enum leat_status check(struct exporting *e, const char *output, struct leat_error *err)
{
    const struct export_format *format = e->format;
    const struct leat_info *info = &e->info;

    if (e->options.number_bytes != 0 && e->options.number_bytes != 2 && e->options.number_bytes != 4)
        return status_argument(err, "number_bytes", "leat_export: number_bytes is %u, not 0, 2 or 4",
                               (unsigned)e->options.number_bytes);
    if (format->width > 0 && e->width != format->width)
        return status_in_file(err,
                              status_argument(err, "number_bytes", "%s: files of %s have ids of %u bytes, not %u",
                                              output, format->name, (unsigned)format->width, (unsigned)e->width),
                              output);
    if (format->documents && info->documents == LEAT_NONE)
        return status_set_in(
            err, LEAT_E_NOT_FOUND, output,
            "%s: files of %s record documents, and where those of the dataset start is not known: give "
            "its end token, or use another format",
            output, format->name);
    if (format->max_tokens > 0 && info->tokens > format->max_tokens)
        return status_set_in(err, LEAT_E_UNSUPPORTED, output,
                             "%s: a file of %s holds at most %" PRIu64 " tokens, and the dataset has %" PRIu64
                             "; use another format",
                             output, format->name, format->max_tokens, info->tokens);
    return LEAT_OK;
}

/* Returns the greatest id that fits into the output. */
static uint64_t max_id(const struct exporting *e)
{
    if (e->width == 2)
        return UINT16_MAX;
    return e->format->max_id > 0 ? e->format->max_id : UINT32_MAX;
}

static enum leat_status check_ids(const struct exporting *e, const uint32_t *ids, uint64_t first, uint64_t count,
                                  struct leat_error *err)
{
    uint64_t most = max_id(e);

    for (uint64_t i = 0; i < count; i++)
        if (ids[i] > most)
            return status_set(err, LEAT_E_UNSUPPORTED,
                              "token %" PRIu64 " is %u, but ids of %u bytes in files of %s are at most %" PRIu64
                              "; use %sanother format",
                              (first + i), (unsigned)ids[i], (unsigned)e->width, e->format->name, most,
                              e->width == 2 && e->format->width == 0 ? "more bytes per id, or " : "");
    return LEAT_OK;
}

/* ---- Tokens ---- */

/* Converts ids, in place, to little-endian ones of the output's width. */
static void encode(uint32_t *ids, uint64_t count, uint32_t width)
{
    uint8_t *to = (uint8_t *)ids;

    for (uint64_t i = 0; i < count; i++) {
        uint16_t low = bytes_le16((uint16_t)ids[i]);
        uint32_t whole = bytes_le32(ids[i]);

        memcpy(to + i * width, width == 2 ? (void *)&low : (void *)&whole, width);
    }
}

static enum leat_status copy_chunk(struct exporting *e, uint64_t first, uint64_t count, uint32_t *ids,
                                   struct leat_error *err)
{
    enum leat_status s = leat_dataset_verify_range(e->dataset, first, count, err);

    if (s == LEAT_OK || s == LEAT_E_NOT_FOUND) /* LEAT_E_NOT_FOUND means that no hashes are stored */
        s = leat_dataset_read_u32(e->dataset, first, count, ids, err);
    if (s == LEAT_OK && e->info.vocabulary - 1 > max_id(e))
        s = check_ids(e, ids, first, count, err);
    if (s != LEAT_OK)
        return s;
    encode(ids, count, e->width);
    return put_bytes(&e->files[0], ids, (size_t)(count * e->width), err);
}

/* Copies one part. Parts are copied one by one because only some of them may have hashes. */
static enum leat_status copy_part(struct exporting *e, uint64_t number, uint32_t *ids, struct leat_error *err)
{
    const struct leat_export_options *o = &e->options;
    struct leat_part part = LEAT_PART_INIT;
    enum leat_status s = leat_dataset_part(e->dataset, number, &part, err);

    for (uint64_t done = 0; s == LEAT_OK && done < part.tokens;) {
        uint64_t left = part.tokens - done, here = left < CHUNK_TOKENS ? left : CHUNK_TOKENS;

        s = copy_chunk(e, part.first_token + done, here, ids, err);
        done += here;
        if (s == LEAT_OK && o->progress &&
            o->progress(o->context, (part.first_token + done) * e->width, e->info.tokens * e->width) != 0)
            s = status_set(err, LEAT_E_STOPPED, "exporting was stopped");
    }
    return s;
}

static enum leat_status copy_tokens(struct exporting *e, struct leat_error *err)
{
    uint32_t *ids = file_buffer(CHUNK_TOKENS * sizeof *ids);
    enum leat_status s = ids ? LEAT_OK : status_no_memory(err, CHUNK_TOKENS * sizeof *ids);

    if (s == LEAT_OK && e->format->head)
        s = e->format->head(e, &e->files[0], err);
    for (uint64_t i = 0; s == LEAT_OK && i < e->info.parts; i++)
        s = copy_part(e, i, ids, err);
    free(ids);
    return s;
}

/* ---- All files ---- */

static unsigned count_files(const struct export_format *format)
{
    unsigned count = 0;

    while (count < EXPORT_FILES && format->suffixes[count])
        count++;
    return count;
}

/* Returns the length of the output's name without suffixes that the format adds. */
static size_t base_length(const struct export_format *format, const char *output)
{
    size_t length = strlen(output);
    const char *const cut[] = { format->suffixes[0], format->base };

    for (unsigned i = 0; i < 2; i++)
        if (cut[i] && cut[i][0] && file_ends_with(output, length, cut[i]))
            return length - strlen(cut[i]);
    return length;
}

/* Refuses an output that would replace a file of the dataset that is exported, or any index. */
static enum leat_status check_no_source(const struct exporting *e, const char *path, struct leat_error *err)
{
    struct file_identity output, own;
    enum leat_status s = file_identify(path, &output, err);
    bool same = file_ends_with(path, strlen(path), ".leat");

    for (uint64_t i = 0; s == LEAT_OK && output.exists && !same && i < e->info.parts; i++) {
        struct leat_part part = LEAT_PART_INIT;

        s = leat_dataset_part(e->dataset, i, &part, err);
        if (s == LEAT_OK)
            s = file_identify(part.token_path, &own, err);
        same = s == LEAT_OK && file_same(output, own);
    }
    if (s == LEAT_OK && same)
        s = status_in_file(
            err,
            status_argument(err, "output", "%s is a file of a dataset: choose another name for what is exported", path),
            path);
    return s;
}

static enum leat_status begin_files(struct exporting *e, const char *output, struct leat_error *err)
{
    size_t length = base_length(e->format, output);
    enum leat_status s = LEAT_OK;

    if (length == 0 || output[length - 1] == '/')
        return status_in_file(
            err, status_argument(err, "output", "invalid output \"%.200s\": it must end in a file name", output),
            output);
    for (unsigned i = 0; s == LEAT_OK && i < count_files(e->format); i++)
        s = begin_file(&e->files[i], output, length, e->format->suffixes[i], e->options.force, err);
    for (unsigned i = 0; s == LEAT_OK && i < count_files(e->format); i++)
        s = check_no_source(e, e->files[i].path, err);
    e->files[e->format->mask].none = e->format->mask > 0 && !e->info.stores_mask;
    return s;
}

static enum leat_status write_files(struct exporting *e, struct leat_error *err)
{
    unsigned count = count_files(e->format);
    enum leat_status s = copy_tokens(e, err);

    for (unsigned i = 1; s == LEAT_OK && i < count; i++)
        s = e->files[i].none ? LEAT_OK : e->format->other(e, i, &e->files[i], err);
    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        struct export_file *f = &e->files[i];

        s = flush(f, err);
        if (s == LEAT_OK)
            s = file_sync(f->fd, f->partial, err);
    }
    return s == LEAT_OK ? name_files(e->files, count, e->options.force, err) : s;
}

static enum leat_status export_dataset(struct exporting *e, const char *output, const char *const *names,
                                       uint64_t count, struct leat_error *err)
{
    struct leat_dataset *dataset;
    enum leat_status s = leat_dataset_open_list(&dataset, names, count, NULL, err);

    if (s != LEAT_OK)
        return s;
    e->dataset = dataset;
    s = leat_dataset_refuse_columns(dataset, "exporting", err);
    leat_dataset_info(dataset, &e->info);
    e->width = e->format->width > 0 ? e->format->width : e->info.token_width;
    if (e->options.number_bytes > 0)
        e->width = e->options.number_bytes;
    if (s == LEAT_OK)
        s = check(e, output, err);
    if (s == LEAT_OK && e->info.stores_mask && e->format->mask == 0)
        s = status_set_in(err, LEAT_E_UNSUPPORTED, names[0],
                          "%.300s stores a mask, which files of %s do not hold; export to datatrove", names[0],
                          e->format->name);
    if (s == LEAT_OK)
        s = begin_files(e, output, err);
    if (s == LEAT_OK)
        s = write_files(e, err);
    leat_dataset_close(dataset);
    return s;
}

enum leat_status leat_export(const char *output, const char *const *names, uint64_t count,
                             const struct leat_export_options *options, struct leat_export_report *report,
                             struct leat_error *err)
{
    struct leat_export_report full = LEAT_EXPORT_REPORT_INIT;
    struct exporting e = { .info = LEAT_INFO_INIT, .options = LEAT_EXPORT_OPTIONS_INIT };
    enum leat_status s;

    if (!output || !names || count == 0)
        return status_argument(err, !output ? "output" : "names", "leat_export: missing output or names");
    s = options_read(&full, sizeof full, NULL, report, "leat_export_report", err);
    if (s == LEAT_OK)
        s = options_read(&e.options, sizeof e.options, NULL, options, "leat_export_options", err);
    if (s == LEAT_OK)
        s = own_file_check_local(output, err);
    if (s != LEAT_OK)
        return s;
    for (unsigned i = 0; e.options.to && i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, e.options.to) == 0)
            e.format = formats[i];
    if (!e.format)
        return status_argument(err, "to", "unknown format \"%.50s\": use megatron, raw, nanogpt, llmc or datatrove",
                               e.options.to ? e.options.to : "");
    for (unsigned i = 0; i < EXPORT_FILES; i++)
        e.files[i].fd = -1;
    s = export_dataset(&e, output, names, count, err);
    full.documents = e.info.documents;
    full.tokens = e.info.tokens;
    full.end_token = e.info.end_token;
    full.number_bytes = e.width;
    for (unsigned i = 0; i < EXPORT_FILES; i++) {
        full.bytes += e.files[i].bytes;
        close_file(&e.files[i]);
    }
    if (s == LEAT_OK && report)
        options_fill(report, &full, sizeof full);
    return s;
}
