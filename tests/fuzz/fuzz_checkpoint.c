/*
 * fuzz_checkpoint.c: leat_writer_resume() of a NAME.partial.checkpoint that holds hostile bytes.
 *
 * The input is a byte of repairs and options, a byte for what is done with a writer that opens, then the checkpoint. A
 * mutator would never get past its hash, nor past lengths that must agree with counts: two repairs set them. The files
 * beside it are there, each of the same length. Whatever the checkpoint says, resuming fails cleanly (and keeps it), or
 * gives a writer on which every call returns, whose dataset, where it can be finished at all, opens or is refused.
 */
#include <stdbool.h>

#include "base/bytes.h"
#include "checksum/checksum.h"
#include "files.h"
#include "format/format.h"
#include "one_document.h"
#include "writer/writer.h"

/* The first byte. */
enum {
    REPAIR_HASH = 1,    /* the last 16 bytes, which the input then does not have */
    REPAIR_RULES = 2,   /* what must be as in the options */
    REPAIR_LENGTHS = 4, /* lengths of files, from the counts, which are made small */
    WIDE = 8,
    LINES = 16,
    IDS = 32,
    END = 64,
    HASHES = 128
};

/* The second byte. */
enum { ADD = 1, APPEND = 2, CHECKPOINT = 4, AGAIN = 8, FINISH = 16, ABANDON = 32, INPUT = 64 };

/* Offsets in a checkpoint. check_layout() sees whether they still are right: once they were not, for two versions, and
 * nothing was fuzzed but the first check. */
enum {
    AT_RULES = 8,
    AT_TOKENIZER = 64,
    AT_TOKENS = 96,
    AT_DOCUMENTS = 104,
    AT_VALUES = 152, /* not 0: values are kept */
    AT_SPILLS = 160,
    SPILL_SIZE = 24, /* length and sum */
    FIXED = AT_SPILLS + SPILL_COUNT * SPILL_SIZE,
    EMPTY = FIXED + 3 * 8 + 16 /* no inputs, no metadata, no note; the hash */
};

/* Of the files beside it. */
#define LENGTH 65536

static const char *const spills[SPILL_COUNT] = { "tokens",  "documents", "directory", "pages", "origins",    "lines",
                                                 "id-ends", "ids",       "hashes",    "mask",  "mask-pages", "values" };
static uint8_t magic[8]; /* as this library writes it */

static void make_files(const uint8_t *checkpoint, size_t size)
{
    char name[64];

    for (size_t i = 0; i < SPILL_COUNT; i++) {
        snprintf(name, sizeof name, "d.partial.%s", spills[i]);
        if (truncate(files_path(name), LENGTH) != 0) {
            files_write(name, "", 0);
            FUZZ_CHECK(truncate(files_path(name), LENGTH) == 0);
        }
    }
    files_write("d.partial.checkpoint", checkpoint, size);
}

static struct leat_writer_options options_of(uint8_t choices)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = choices & WIDE ? 100000 : 300;
    o.end_token = choices & END ? 7 : LEAT_NONE;
    o.store_lines = (choices & LINES) != 0;
    o.store_ids = (choices & IDS) != 0;
    o.store_hashes = (choices & HASHES) != 0;
    o.store_mask = o.store_lines && !o.store_ids; /* the byte has no bit left */
    o.force = 1;
    return o;
}

static void repair_rules(uint8_t *c, const struct leat_writer_options *o)
{
    memcpy(c, magic, sizeof magic);
    bytes_store64(c + AT_RULES, o->vocabulary);
    bytes_store64(c + AT_RULES + 8, o->end_token);
    bytes_store64(c + AT_RULES + 16, o->begin_token);
    bytes_store64(c + AT_RULES + 24, (uint64_t)o->store_lines);
    bytes_store64(c + AT_RULES + 32, (uint64_t)o->store_ids);
    bytes_store64(c + AT_RULES + 40, (uint64_t)o->store_hashes);
    bytes_store64(c + AT_RULES + 48, (uint64_t)o->store_mask);
    memset(c + AT_TOKENIZER, 0, 16);
    checksum_store(c + AT_TOKENIZER + 16, checksum_kernels()->hash("", 0));
}

static uint64_t length_at(const uint8_t *c, enum writer_spill spill)
{
    return bytes_load64(c + AT_SPILLS + spill * SPILL_SIZE);
}

/* With the sum of a file of zeros. */
static void put_length(uint8_t *c, enum writer_spill spill, uint64_t length)
{
    static const uint8_t zeros[LENGTH];
    struct hash128 sum = { 0, 0 };

    checksum_kernels()->pages(&sum, zeros, length < LENGTH ? length : LENGTH, 0, NULL);
    bytes_store64(c + AT_SPILLS + spill * SPILL_SIZE, length);
    checksum_store(c + AT_SPILLS + spill * SPILL_SIZE + 8, sum);
}

static void repair_lengths(uint8_t *c, const struct leat_writer_options *o)
{
    uint64_t width = format_width(o->vocabulary), tokens = bytes_load64(c + AT_TOKENS) % (LENGTH / 4);
    uint64_t documents = bytes_load64(c + AT_DOCUMENTS) % (LENGTH / 16), frame = writer_spill_frame(SPILL_TOKENS);

    bytes_store64(c + AT_TOKENS, tokens);
    bytes_store64(c + AT_DOCUMENTS, documents);
    put_length(c, SPILL_TOKENS, tokens * width);
    put_length(c, SPILL_DOCUMENTS, 8 * documents);
    put_length(c, SPILL_DIRECTORY, length_at(c, SPILL_DIRECTORY) % (LENGTH / 8) * 8);
    put_length(c, SPILL_PAGES, tokens * width / frame * (frame / FORMAT_PAGE_BYTES * 4));
    put_length(c, SPILL_ORIGINS, FORMAT_ORIGIN_BYTES * documents);
    put_length(c, SPILL_LINES, o->store_lines ? 8 * documents : 0);
    put_length(c, SPILL_ID_ENDS, o->store_ids ? 8 * documents : 0);
    put_length(c, SPILL_IDS, o->store_ids ? length_at(c, SPILL_IDS) % (LENGTH + 1) : 0);
    put_length(c, SPILL_HASHES, o->store_hashes ? FORMAT_HASH_BYTES * documents : 0);
    put_length(c, SPILL_MASK, o->store_mask ? tokens : 0);
    put_length(c, SPILL_VALUES, bytes_load64(c + AT_VALUES) ? length_at(c, SPILL_VALUES) % (LENGTH + 1) : 0);
    put_length(c, SPILL_MASK_PAGES, length_at(c, SPILL_MASK) / frame * (frame / FORMAT_PAGE_BYTES * 4));
}

/* A checkpoint of nothing, as the library writes it: it has the size that the offsets say, and can be resumed when all
 * that they reach has been written over. */
static void check_layout(void)
{
    struct leat_writer_options o = options_of(0);
    uint8_t c[EMPTY + 1];
    struct leat_writer *w;
    struct leat_error err;
    FILE *f;

    FUZZ_CHECK(leat_writer_open(&w, files_path("d"), &o, &err) == LEAT_OK);
    FUZZ_CHECK(leat_writer_checkpoint(w, "", 0, &err) == LEAT_OK);
    leat_writer_suspend(w);
    f = fopen(files_path("d.partial.checkpoint"), "rb");
    FUZZ_CHECK(f && fread(c, 1, sizeof c, f) == EMPTY);
    fclose(f);
    memcpy(magic, c, sizeof magic);
    memset(c, 0, FIXED);
    bytes_store64(c + AT_TOKENS, 100);
    bytes_store64(c + AT_DOCUMENTS, 10);
    repair_rules(c, &o);
    repair_lengths(c, &o);
    checksum_store(c + EMPTY - 16, checksum_kernels()->hash(c, EMPTY - 16));
    make_files(c, EMPTY);
    FUZZ_CHECK(leat_writer_resume(&w, files_path("d"), &o, NULL, NULL, &err) == LEAT_OK);
    leat_writer_abandon(w);
}

/* The finished dataset: the files that the checkpoint spoke of were hostile too, so it may be refused. */
static void look(void)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_error err;
    uint64_t first, count;

    options.threads = 1;
    if (leat_dataset_open(&d, files_path("d"), NULL, &err) == LEAT_OK) {
        leat_dataset_verify(d, &options, NULL, &err);
        leat_dataset_documents_in(d, 0, 1, &first, &count, &err);
        leat_dataset_close(d);
    }
    files_remove("d.leat");
    files_remove("d.tokens");
}

/* Returns NULL once the writer has ended. */
static struct leat_writer *use(struct leat_writer *w, const struct leat_writer_options *options, uint8_t acts)
{
    static const uint32_t ids[40] = { 1, 2, 3 };
    struct leat_origin origin = { .line = 1, .id = "id", .id_bytes = 2, .text_hash = (const uint8_t *)ids };
    struct leat_error err;
    size_t note_bytes;
    void *note;

    if (acts & INPUT)
        FUZZ_CHECK(leat_writer_add_input(w, "another", &origin.input, &err) == LEAT_OK);
    else
        origin.input = LEAT_NONE;
    for (unsigned i = 0; i < 40 && (acts & ADD); i++)
        FUZZ_CHECK(add_one_document(w, ids, 4, NULL, i, &origin, &err) == LEAT_OK);
    if (acts & APPEND)
        FUZZ_CHECK(leat_writer_append(w, ids, 4, NULL, 40, &err) == LEAT_OK &&
                   leat_writer_end_document(w, &origin, &err) == LEAT_OK);
    if (acts & CHECKPOINT)
        FUZZ_CHECK(leat_writer_checkpoint(w, "note", 4, &err) == LEAT_OK);
    if (acts & AGAIN) {
        leat_writer_suspend(w);
        FUZZ_CHECK(leat_writer_resume(&w, files_path("d"), options, &note, &note_bytes, &err) == LEAT_OK);
        FUZZ_CHECK(!(acts & CHECKPOINT) || (note_bytes == 4 && memcmp(note, "note", 4) == 0));
        leat_writer_free_note(note);
    }
    if (acts & FINISH && leat_writer_finish(w, NULL, &err) == LEAT_OK) {
        look();
        return NULL;
    }
    return w;
}

FUZZ_TARGET(checkpoint)
{
    struct leat_writer_options options;
    struct leat_error err = { 0 };
    struct leat_writer *w;
    size_t count, note_bytes = 0;
    void *note = NULL;
    enum leat_status s;
    uint8_t *c;

    if (size < 2 || size > 16384)
        return -1;
    if (files_begin())
        check_layout();
    options = options_of(data[0]);
    count = size - 2 + (data[0] & REPAIR_HASH ? 16 : 0);
    c = malloc(count + 1);
    FUZZ_CHECK(c);
    memcpy(c, data + 2, size - 2);
    if (data[0] & REPAIR_RULES && count >= FIXED + 16)
        repair_rules(c, &options);
    if (data[0] & REPAIR_LENGTHS && count >= FIXED + 16)
        repair_lengths(c, &options);
    if (data[0] & REPAIR_HASH)
        checksum_store(c + count - 16, checksum_kernels()->hash(c, count - 16));
    make_files(c, count);
    free(c);
    s = leat_writer_resume(&w, files_path("d"), &options, &note, &note_bytes, &err);
    FUZZ_CHECK((s == LEAT_OK) == (w != NULL));
    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_CHECKPOINT && err.status == s && err.message[0]));
    FUZZ_CHECK(s == LEAT_OK || (!note && note_bytes == 0));
    FUZZ_CHECK(access(files_path("d.partial.checkpoint"), F_OK) == 0);
    leat_writer_free_note(note);
    if (w)
        w = use(w, &options, data[1]);
    if (data[1] & ABANDON)
        leat_writer_abandon(w);
    else
        leat_writer_suspend(w);
    FUZZ_CHECK(access(files_path("d.partial.lock"), F_OK) != 0);
    return 0;
}
