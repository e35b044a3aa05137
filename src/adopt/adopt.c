/*
 * adopt.c: leat_adopt().
 *
 * One pass over the tokens hashes their pages and checks that ids are in the vocabulary; its progress is saved from
 * time to time (struct adopt_state). Then the writer makes the index, from the documents that the part knows; the
 * writer only learns that the tokens lie elsewhere.
 *
 * The room src/adopt/ writes indexes for tokens that lie in files of other tools. Reading such files belongs to
 * src/dataset/, the bytes of an index to src/writer/.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mounts.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "checksum/checksum.h"
#include "column/column_files.h"
#include "dataset/part.h"
#include "dataset/part_index.h"
#include "leat.h"
#include "writer/writer.h"

/* ---- How documents end ------------------------------------------------------------------------------------------- */

/* The end token of files that are adopted. If a file does not record its documents, the end token divides it into
 * documents. If it does, each document must end with this token. */

/* Returns SCHEME:NAME?KEYS with end= added to the keys. */
static char *with_end(const struct part_kind *kind, const char *name, uint64_t end_token)
{
    size_t scheme = part_scheme_length(name, strlen(name)), size = strlen(name) + 50;
    char *full = malloc(size);

    if (full)
        snprintf(full, size, "%s%s%s%cend=%" PRIu64, scheme > 0 ? "" : kind->name, scheme > 0 ? "" : ":", name,
                 scheme > 0 && strchr(name, '?') ? '&' : '?', end_token);
    return full;
}

/* Opens `name` as if the name said the end token (LEAT_NONE: none), if names of that kind can say it. If `beside` is
 * true, tokens that already have an index are opened, too, without looking at it. */
static enum leat_status adopt_open(struct part *p, const char *name, uint64_t end_token, bool beside,
                                   struct mounts *mounts, struct leat_error *err)
{
    const struct leat_open_options how = { .access = LEAT_ACCESS_READ };
    enum leat_status s = beside ? part_open_beside(p, name, &how, mounts, err) : part_open(p, name, &how, mounts, err);
    const struct part_kind *kind = p->kind;
    char *full;

    if (s != LEAT_OK || end_token == LEAT_NONE || !kind->finds_documents || p->documents != LEAT_NONE)
        return s;
    full = with_end(kind, p->name, end_token);
    part_close(p);
    s = full ? part_open(p, full, &how, mounts, err) : status_no_memory(err, strlen(name));
    free(full);
    return s;
}

/* Sets *end_token to that of the part, or to the one that is given. Returns LEAT_E_ARGUMENT if they differ. */
static enum leat_status adopt_take_end(uint64_t given, const struct part *p, uint64_t *end_token,
                                       struct leat_error *err)
{
    *end_token = given != LEAT_NONE ? given : p->end_token;
    if (p->end_token == LEAT_NONE || *end_token == p->end_token)
        return LEAT_OK;
    return status_in_file(err,
                          status_argument(err, "end_token",
                                          "%s says that its documents end with token %" PRIu64
                                          ", and the end token given is %" PRIu64,
                                          p->name, p->end_token, given),
                          p->name);
}

#define STARTS 256u

/* The progress of checking the ends of documents while tokens are read. */
struct adopt_ends {
    uint64_t token;    /* the end token; LEAT_NONE: nothing is checked */
    uint64_t document; /* the first document that is not checked yet */
    uint64_t first, count;
    uint64_t starts[STARTS + 1]; /* starts of `count` documents from `first` on, and the end of the last one */
};

/* Begins at the document that holds token `token`. */
static enum leat_status adopt_ends_begin(struct adopt_ends *e, struct part *p, uint64_t token, struct leat_error *err)
{
    if (e->token == LEAT_NONE || token == 0 || token >= p->tokens)
        return LEAT_OK;
    return part_document_at(p, token, &e->document, err);
}

static enum leat_status load_starts(struct adopt_ends *e, struct part *p, struct leat_error *err)
{
    uint64_t left = p->documents - e->document;

    if (e->count > 0 && e->document >= e->first && e->document - e->first < e->count)
        return LEAT_OK;
    e->first = e->document;
    e->count = left < STARTS ? left : STARTS;
    return part_starts(p, e->first, e->count + 1, e->starts, err);
}

static enum leat_status lacks_end(const struct adopt_ends *e, const struct part *p, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_TOKEN, p->name,
                         "document %" PRIu64 " of %s does not end with token %" PRIu64
                         ": give the end token that its tokenizer has, or none",
                         e->document, p->name, e->token);
}

/* Checks documents that end in `count` tokens from `first` on. Returns LEAT_E_TOKEN if one does not end with the end
 * token. */
static enum leat_status adopt_ends_check(struct adopt_ends *e, struct part *p, uint64_t first, const uint8_t *bytes,
                                         uint64_t count, struct leat_error *err)
{
    for (; e->document < p->documents; e->document++) {
        enum leat_status s = load_starts(e, p, err);
        const uint64_t *at = &e->starts[e->document - e->first];
        uint64_t id;

        if (s != LEAT_OK)
            return s;
        if (at[1] > first + count)
            return LEAT_OK;
        if (at[1] == at[0] || at[1] <= first) /* documents that end before `first` have been checked; an index may
                                                 change meanwhile */
            return lacks_end(e, p, err);
        id = p->token_width == 2 ? bytes_load16(bytes + 2 * (at[1] - 1 - first))
                                 : bytes_load32(bytes + 4 * (at[1] - 1 - first));
        if (id != e->token)
            return lacks_end(e, p, err);
    }
    return LEAT_OK;
}

/* ---- What was hashed --------------------------------------------------------------------------------------------- */

/*
 * Progress that an adoption saves in NAME.partial.adopt, so that it continues after it was killed. The file has two
 * slots of 80 bytes, of which the newer valid one counts, and from byte 4096 on the page hashes as they will stand
 * in the index.
 */

struct adopt_state {
    const char *path; /* the caller's */
    int fd;
    struct hash128 facts; /* hash of the facts of the file that is adopted */
    uint64_t number;      /* number of the last slot that was saved */
    uint64_t pages;
    struct hash128 sum;      /* page sum of the pages so far */
    struct hash128 hash_sum; /* sum of their hashes, as they were added */
};

#define SLOT_BYTES 80u
#define HASHES_AT  4096u

static const uint8_t magic[8] = { 'l', 'e', 'a', 't', 'a', 'd', 'p', '2' };

/* Makes a slot. It has a magic, the number, pages, facts, sum, hash sum, and the low half of the XXH3-128 of these
 * 72 bytes. */
static void store_slot(const struct adopt_state *a, uint8_t slot[SLOT_BYTES])
{
    memcpy(slot, magic, sizeof magic);
    bytes_store64(slot + 8, a->number);
    bytes_store64(slot + 16, a->pages);
    checksum_store(slot + 24, a->facts);
    checksum_store(slot + 40, a->sum);
    checksum_store(slot + 56, a->hash_sum);
    bytes_store64(slot + 72, checksum_kernels()->hash(slot, 72).low);
}

/* Takes a slot if it is valid, has the same facts, and is newer. */
static void take_slot(struct adopt_state *a, const uint8_t slot[SLOT_BYTES], uint64_t size)
{
    uint64_t number = bytes_load64(slot + 8), pages = bytes_load64(slot + 16), bytes, end;

    if (memcmp(slot, magic, sizeof magic) != 0 || bytes_load64(slot + 72) != checksum_kernels()->hash(slot, 72).low ||
        !checksum_equal(checksum_load(slot + 24), a->facts) || number <= a->number ||
        !bytes_multiply(pages, 4, &bytes) || !bytes_add(bytes, HASHES_AT, &end) || end > size)
        return;
    a->number = number;
    a->pages = pages;
    a->sum = checksum_load(slot + 40);
    a->hash_sum = checksum_load(slot + 56);
}

/* Opens the file that an earlier run left if its facts are the same; otherwise an empty file. */
static enum leat_status adopt_state_open(struct adopt_state *a, const char *path, struct hash128 facts,
                                         struct leat_error *err)
{
    uint8_t slots[2][SLOT_BYTES];
    enum leat_status s;
    uint64_t size = 0;

    *a = (struct adopt_state) { .path = path, .fd = -1, .facts = facts };
    s = own_file_open(&a->fd, &size, path, OWN_FILE_WRITE, err);
    if (s == LEAT_E_NO_FILE)
        return file_create(&a->fd, path, err);
    if (s != LEAT_OK || size < HASHES_AT)
        return s;
    s = file_read_at(a->fd, 0, slots, sizeof slots, path, err);
    for (unsigned i = 0; s == LEAT_OK && i < 2; i++)
        take_slot(a, slots[i], size);
    /* Slots with other facts must not count any more: the hashes that they count are overwritten from now on. */
    if (s == LEAT_OK && a->number == 0)
        s = file_truncate(a->fd, 0, path, err);
    return s;
}

/* Appends the hashes of at most 1024 pages, little-endian; the caller adds them to the sum. */
static enum leat_status adopt_state_add(struct adopt_state *a, const uint32_t *hashes, uint64_t pages,
                                        struct leat_error *err)
{
    enum leat_status s = file_write_at(a->fd, HASHES_AT + 4 * a->pages, hashes, 4 * pages, a->path, err);

    checksum_kernels()->pages(&a->hash_sum, hashes, (size_t)(4 * pages), a->pages, NULL);
    a->pages += pages;
    return s;
}

/* Saves the state, from which a later run goes on. The hashes are synced before the slot, so that a valid slot has
 * its hashes. */
static enum leat_status adopt_state_save(struct adopt_state *a, struct leat_error *err)
{
    enum leat_status s = file_sync(a->fd, a->path, err);
    uint8_t slot[SLOT_BYTES];

    if (s != LEAT_OK)
        return s;
    a->number++;
    store_slot(a, slot);
    s = file_write_at(a->fd, (a->number % 2) * SLOT_BYTES, slot, sizeof slot, a->path, err);
    return s == LEAT_OK ? file_sync(a->fd, a->path, err) : s;
}

/* Reads back the hashes of pages [page, page + pages), which were added at once, and adds their own hash to
 * *hash_sum. */
static enum leat_status adopt_state_read(const struct adopt_state *a, uint64_t page, uint8_t *hashes, uint64_t pages,
                                         struct hash128 *hash_sum, struct leat_error *err)
{
    enum leat_status s = file_read_at(a->fd, HASHES_AT + 4 * page, hashes, 4 * pages, a->path, err);

    if (s == LEAT_OK)
        checksum_kernels()->pages(hash_sum, hashes, (size_t)(4 * pages), page, NULL);
    return s;
}

/* ---- leat_adopt() ------------------------------------------------------------------------------------------------ */

#define CHUNK_PAGES    TINY_OR(2u, 256u) /* 1 MiB */
#define SAVE_CHUNKS    TINY_OR(3u, 512u)
#define STARTS_AT_ONCE TINY_OR(3u, 512u)
#define FACTS          11u

struct adopt {
    struct part part;
    struct mounts mounts; /* of the part */
    uint64_t done;        /* bytes of the part that are done */
    struct leat_writer *writer;
    struct adopt_state state;
    bool begun; /* true if the state could be opened */
    struct leat_adopt_options options;
    char *token_path;
    uint64_t end_token;
    struct adopt_ends ends; /* ends of documents that are to be checked */
};

static const enum writer_spill spills[] = { SPILL_DOCUMENTS, SPILL_DIRECTORY, SPILL_PAGES,
                                            SPILL_ORIGINS,   SPILL_MASK,      SPILL_MASK_PAGES };

#define SPILLS (sizeof spills / sizeof spills[0])

/* ---- What is adopted ---- */

static enum leat_status has_index(const struct adopt *a, struct leat_error *err)
{
    const struct part *p = &a->part;

    if (!(p->index->header.must_understand & FORMAT_ELSEWHERE))
        return status_in_file(err, status_argument(err, "name", "%s already has an index of leat", p->name), p->name);
    if (a->options.force)
        return status_in_file(
            err,
            status_argument(
                err, "name",
                "%s already has an index, %s, which does not say which tool wrote %s: give the name of that "
                "file instead",
                p->name, p->index->file.path, p->data.file->path),
            p->name);
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, p->name, "%s already has an index, %s: replace it",
                           p->name, p->index->file.path);
}

static enum leat_status check_part(const struct adopt *a, struct leat_error *err)
{
    const struct part *p = &a->part;
    enum leat_status s;

    if (p->index)
        return has_index(a, err);
    if (p->tokenizer && !a->options.tokenizer)
        return status_in_file(
            err,
            status_argument(err, "tokenizer",
                            "%s names a tokenizer, which an index stores whole: give it as tokenizer, too", p->name),
            p->name);
    if (p->token_width == 2 && format_width(p->vocabulary) > 2)
        return status_in_file(
            err,
            status_argument(err, "vocabulary",
                            "ids in %s have 2 bytes, but the given vocabulary has %" PRIu64
                            " entries, for which an index needs ids of 4 bytes: give the tokenizer that made these ids",
                            p->data.file->path, p->vocabulary),
            p->data.file->path);
    s = part_need_documents(p, err);
    if (s == LEAT_OK && part_sequences(p) != p->documents)
        return status_set_in(err, LEAT_E_UNSUPPORTED, p->name,
                             "documents of %s have several sequences, which leat's index does not record: adopting it "
                             "would change the samples of the order megatron; use it as it is",
                             p->name);
    return s;
}

/* Hashes everything that the hashes and the index depend on. A program can set a file's time of modification, but
 * not its time of change (ctime). */
static enum leat_status facts_of(const struct adopt *a, struct hash128 *facts, struct leat_error *err)
{
    const struct part *p = &a->part;
    uint64_t numbers[FACTS] = { p->data.offset, p->data.bytes, p->token_width, p->vocabulary, a->end_token };
    struct file_map *files[2] = { p->data.file, p->mask.file };
    uint8_t bytes[sizeof numbers + 16];
    enum leat_status s;
    struct stat st;

    for (unsigned i = 0; i < 2 && files[i]; i++) {
        s = file_map_stat(files[i], &st, err);
        if (s != LEAT_OK)
            return s;
        numbers[5 + 3 * i] = (uint64_t)st.st_size;
        numbers[6 + 3 * i] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
        numbers[7 + 3 * i] = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
    }
    for (unsigned i = 0; i < FACTS; i++)
        bytes_store64(bytes + (size_t)8 * i, numbers[i]);
    checksum_store(bytes + sizeof numbers, p->identity);
    *facts = p->kernels->hash(bytes, sizeof bytes);
    return LEAT_OK;
}

/* Returns the NAME of the index by default: the path of the file with the tokens; a Megatron file loses its .bin. */
static char *usual_name(const struct part *p)
{
    const char *path = p->data.file->path;
    size_t length = strlen(path);

    if (strcmp(p->kind->name, "megatron") == 0 && file_ends_with(path, length, ".bin"))
        length -= 4;
    return strndup(path, length);
}

/* Finds the path of the tokens for the index: a bare name if both are in one folder, so that they can be moved
 * together. */
static enum leat_status find_token_path(struct adopt *a, const char *index, struct leat_error *err)
{
    const char *path = a->part.data.file->path, *slash = strrchr(path, '/');
    char *of_tokens = file_folder(path), *of_index = file_folder(index);
    struct file_identity one, other;
    enum leat_status s = of_tokens && of_index ? LEAT_OK : status_no_memory(err, strlen(path));

    if (s == LEAT_OK)
        s = file_identify(of_tokens, &one, err);
    if (s == LEAT_OK)
        s = file_identify(of_index, &other, err);
    if (s == LEAT_OK && file_same(one, other))
        a->token_path = strdup(slash ? slash + 1 : path);
    else if (s == LEAT_OK)
        a->token_path = realpath(path, NULL);
    if (s == LEAT_OK && !a->token_path)
        s = status_set_os(err, errno, path, "cannot find the absolute path of %s", path);
    free(of_tokens);
    free(of_index);
    return s;
}

static enum leat_status find_token_path_again(struct adopt *a, const char *index, struct leat_error *err)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    do
        s = find_token_path(a, index, &why);
    while (s != LEAT_OK && mounts_again(&a->mounts, &tries, file_path_is_remote(why.file), &s, &why));
    if (s == LEAT_OK)
        mounts_worked(&a->mounts, &tries);
    else if (err)
        *err = why;
    return s;
}

/* ---- The pass ---- */

static enum leat_status pass_chunk(struct adopt *a, uint8_t *bytes, uint64_t count, struct leat_error *err)
{
    struct part *p = &a->part;
    uint64_t at = a->state.pages * FORMAT_PAGE_BYTES, pages = bytes_divide_up(count, FORMAT_PAGE_BYTES);
    uint32_t hashes[CHUNK_PAGES];
    enum leat_status s = file_map_read(p->data.file, p->data.offset + at, bytes, count, err);

    if (s == LEAT_OK)
        s = part_check_ids(p, at / p->token_width, bytes, count / p->token_width, err);
    if (s == LEAT_OK && a->ends.token != LEAT_NONE)
        s = adopt_ends_check(&a->ends, p, at / p->token_width, bytes, count / p->token_width, err);
    if (s != LEAT_OK)
        return s;
    p->kernels->pages(&a->state.sum, bytes, (size_t)count, a->state.pages, hashes);
    for (uint64_t i = 0; i < pages; i++)
        hashes[i] = bytes_le32(hashes[i]);
    return adopt_state_add(&a->state, hashes, pages, err);
}

static uint32_t adopt_progress(void *adopt, const char *why)
{
    const struct adopt *a = adopt;
    const struct leat_adopt_options *o = &a->options;

    (void)why;
    return o->progress ? o->progress(o->context, a->done, a->part.data.bytes) : 0;
}

static enum leat_status tell(struct adopt *a, uint64_t done, struct leat_error *err)
{
    a->done = done;
    return adopt_progress(a, NULL)
               ? status_set(err, LEAT_E_STOPPED, "adopting was stopped; a later run goes on from there")
               : LEAT_OK;
}

static enum leat_status pass(struct adopt *a, struct leat_error *err)
{
    const size_t chunk = (size_t)CHUNK_PAGES * FORMAT_PAGE_BYTES;
    uint64_t all = a->part.data.bytes, done = a->state.pages * FORMAT_PAGE_BYTES, chunks = 0;
    uint8_t *bytes = file_buffer(chunk);
    enum leat_status s = bytes ? LEAT_OK : status_no_memory(err, chunk);

    while (s == LEAT_OK && done < all) {
        uint64_t here = all - done < chunk ? all - done : chunk;

        s = pass_chunk(a, bytes, here, err);
        done += here;
        if (s == LEAT_OK)
            s = tell(a, done, err);
        if (s == LEAT_E_STOPPED)
            adopt_state_save(&a->state, NULL);
        else if (s == LEAT_OK && ++chunks % SAVE_CHUNKS == 0)
            s = adopt_state_save(&a->state, err);
    }
    free(bytes);
    return s;
}

/* ---- The index ---- */

static enum leat_status put_documents(struct adopt *a, struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    struct leat_writer *w = a->writer;
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < a->part.documents;) {
        uint64_t left = a->part.documents - done, here = left < STARTS_AT_ONCE ? left : STARTS_AT_ONCE;

        s = part_starts(&a->part, done, here + 1, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            w->end.of[SPILL_TOKENS].at = starts[i + 1] * w->width;
            s = writer_put_document(w, &w->end, NULL, LEAT_NONE, err);
        }
        done += here;
    }
    return s;
}

static enum leat_status put_hashes(struct adopt *a, struct leat_error *err)
{
    struct sink_stream *to = &a->writer->end.of[SPILL_PAGES];
    uint8_t hashes[4 * CHUNK_PAGES];
    struct hash128 sum = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < a->state.pages;) {
        uint64_t left = a->state.pages - done, here = left < CHUNK_PAGES ? left : CHUNK_PAGES;

        s = adopt_state_read(&a->state, done, hashes, here, &sum, err);
        if (s == LEAT_OK)
            s = sink_stream_put(to, hashes, (size_t)(4 * here), err);
        done += here;
    }
    if (s == LEAT_OK && !checksum_equal(sum, a->state.hash_sum))
        return status_set_in(err, LEAT_E_CHECKPOINT, a->state.path, "%s is damaged: remove it, and adopt %s again",
                             a->state.path, a->part.name);
    return s;
}

/* Writes the mask. The hashes of its pages come while it is flushed. */
static enum leat_status put_mask(struct adopt *a, struct leat_error *err)
{
    struct sink_stream *to = &a->writer->end.of[SPILL_MASK];
    uint8_t bytes[4096];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < a->part.tokens && a->part.mask.file;) {
        uint64_t left = a->part.tokens - done, here = left < sizeof bytes ? left : sizeof bytes;

        s = part_mask(&a->part, done, here, bytes, err);
        if (s == LEAT_OK)
            s = sink_stream_put(to, bytes, (size_t)here, err);
        done += here;
    }
    return s;
}

static enum leat_status make_index(struct adopt *a, struct leat_error *err)
{
    struct leat_writer *w = a->writer;
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < SPILLS; i++) {
        s = file_remove(w->names.partial[spills[i]], err); /* a killed run may have left one */
        if (s == LEAT_OK && writer_has_spill(w, spills[i]))
            s = sink_create(&w->spills[spills[i]], w->names.partial[spills[i]], writer_spill_frame(spills[i]), err);
        writer_begin_spill(w, spills[i], 0);
    }
    if (s == LEAT_OK)
        s = put_documents(a, err);
    if (s == LEAT_OK)
        s = put_hashes(a, err);
    if (s == LEAT_OK)
        s = put_mask(a, err);
    if (s == LEAT_OK)
        s = writer_end_streams(&w->end, err);
    for (unsigned i = 0; s == LEAT_OK && i < SPILLS; i++)
        if (writer_has_spill(w, spills[i]))
            s = sink_flush(&w->spills[spills[i]], spills[i] == SPILL_MASK, err);
    w->end.of[SPILL_MASK_PAGES].at = w->store_mask ? 4 * bytes_divide_up(a->part.tokens, FORMAT_PAGE_BYTES) : 0;
    w->spills[SPILL_TOKENS].complete = a->state.sum;
    return s == LEAT_OK ? writer_build_index(w, &w->header, err) : s;
}

/* ---- All ---- */

static enum leat_status check_way(const struct leat_writer *w, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = writer_check_names(&w->names, err);

    if (s == LEAT_OK)
        s = writer_look(&w->names, &found, err);
    if (s != LEAT_OK)
        return s;
    if (found.tokens || found.partial_tokens || found.checkpoint)
        return status_set_in(
            err, LEAT_E_EXISTS, found.tokens ? w->names.tokens : w->names.index,
            "%s is the name of a dataset of leat's own, finished or not: choose another name for the index",
            found.tokens ? w->names.tokens : w->names.index);
    if (found.index && !w->replace)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, w->names.index,
                               "%s already exists: choose another name or replace it", w->names.index);
    return LEAT_OK;
}

static enum leat_status open_writer(struct adopt *a, struct leat_error *err)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    char *usual = a->options.output ? NULL : usual_name(&a->part);
    enum leat_status s = LEAT_OK;

    if (!a->options.output && !usual)
        return status_no_memory(err, strlen(a->part.name));
    o.vocabulary = a->part.vocabulary;
    o.end_token = a->end_token;
    o.begin_token = a->part.begin_token;
    o.tokenizer = a->options.tokenizer;
    o.fingerprint = a->options.fingerprint;
    o.created = a->options.created;
    o.force = a->options.force;
    o.store_mask = a->part.mask.file != NULL;
    s = writer_new(&a->writer, a->options.output ? a->options.output : usual, &o, err);
    free(usual);
    if (s != LEAT_OK)
        return s;
    a->writer->width = a->part.token_width;
    s = writer_lock(&a->writer->lock, &a->writer->names, err);
    if (s == LEAT_OK)
        s = check_way(a->writer, err);
    if (s == LEAT_OK)
        s = find_token_path_again(a, a->writer->names.index, err);
    a->writer->elsewhere = a->token_path;
    a->writer->elsewhere_offset = a->part.data.offset;
    return s;
}

static enum leat_status name_index(struct adopt *a, struct leat_error *err)
{
    const struct writer_names *n = &a->writer->names;
    enum leat_status s = writer_check_own_lock(a->writer, err);

    if (s == LEAT_OK)
        s = file_rename(n->partial[FILE_INDEX], n->index, a->writer->replace, err);
    if (s == LEAT_OK)
        s = file_sync_folder(n->index, err);
    if (s == LEAT_OK && a->writer->replace)
        s = column_files_remove(n->name, err);
    if (s == LEAT_OK)
        file_remove(n->partial[FILE_ADOPT], NULL);
    return s;
}

static enum leat_status adopt(struct adopt *a, struct leat_error *err)
{
    struct hash128 before, after;
    enum leat_status s = check_part(a, err);

    if (s == LEAT_OK)
        s = adopt_take_end(a->options.end_token, &a->part, &a->end_token, err);
    a->ends.token = a->end_token == a->part.end_token ? LEAT_NONE : a->end_token;
    if (s == LEAT_OK)
        s = open_writer(a, err);
    if (s == LEAT_OK)
        s = facts_of(a, &before, err);
    if (s == LEAT_OK)
        s = adopt_state_open(&a->state, a->writer->names.partial[FILE_ADOPT], before, err);
    a->begun = s == LEAT_OK;
    if (s == LEAT_OK)
        s = adopt_ends_begin(&a->ends, &a->part, a->state.pages * FORMAT_PAGE_BYTES / a->part.token_width, err);
    if (s == LEAT_OK)
        s = pass(a, err);
    if (s == LEAT_OK)
        s = make_index(a, err);
    if (s == LEAT_OK)
        s = facts_of(a, &after, err);
    if (s == LEAT_OK && !checksum_equal(before, after))
        s = status_set_in(err, LEAT_E_MISMATCH, a->part.data.file->path,
                          "%s was changed while it was adopted: start over when it stays as it is",
                          a->part.data.file->path);
    return s == LEAT_OK ? name_index(a, err) : s;
}

/* Removes everything but the state, which a later run needs, whatever the result was. */
static void clean_up(struct adopt *a)
{
    struct leat_writer *w = a->writer;
    bool ours = w && w->lock >= 0 && !writer_lost_lock(w->lock, &w->names);

    if (ours && a->begun && a->state.number == 0) /* nothing was saved */
        file_remove(a->state.path, NULL);
    file_close(&a->state.fd);
    free(a->token_path);
    if (!w)
        return;
    for (unsigned i = 0; i < SPILLS && ours; i++)
        if (w->spills[spills[i]].fd >= 0)
            file_remove(w->names.partial[spills[i]], NULL);
    if (ours && w->spills[SPILL_ORIGINS].fd >= 0)
        file_remove(w->names.partial[FILE_INDEX], NULL);
    writer_unlock(&w->lock, &w->names);
    writer_free(w);
}

/* Opens the part again by adopt_open(). It may take as long as base/mounts.h allows. */
static enum leat_status open_again(struct adopt *a, const char *name, struct leat_error *err)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    a->mounts.opening = true;
    do
        s = adopt_open(&a->part, name, a->options.end_token, a->options.force != 0, &a->mounts, &why);
    while (s != LEAT_OK && mounts_again(&a->mounts, &tries, file_path_is_remote(why.file), &s, &why));
    a->mounts.opening = false;
    if (s == LEAT_OK)
        mounts_worked(&a->mounts, &tries);
    else if (err)
        *err = why;
    return s;
}

enum leat_status leat_adopt(const char *name, const struct leat_adopt_options *options, struct leat_info *info,
                            struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_adopt_options, reserved), { 0, 0 } };
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    struct adopt a = { .state = { .fd = -1 }, .options = LEAT_ADOPT_OPTIONS_INIT };
    enum leat_status s = options_read(&a.options, sizeof a.options, reserved, options, "leat_adopt_options", err);

    if (s == LEAT_OK && !name)
        s = status_argument(err, "name", "leat_adopt: missing name");
    if (s != LEAT_OK)
        return s;
    how.waiting = adopt_progress;
    how.waiting_context = &a;
    mounts_open(&a.mounts, &how);
    s = open_again(&a, name, err);
    if (s != LEAT_OK) {
        mounts_close(&a.mounts);
        return s;
    }
    if (a.options.vocabulary > 0)
        a.part.vocabulary = a.options.vocabulary;
    s = adopt(&a, err);
    if (s == LEAT_OK && info)
        format_info(&a.writer->header, info);
    if (s == LEAT_OK && a.options.index && a.options.index_capacity > 0)
        snprintf(a.options.index, (size_t)a.options.index_capacity, "%s", a.writer->names.index);
    clean_up(&a);
    part_close(&a.part);
    mounts_close(&a.mounts);
    return s;
}
