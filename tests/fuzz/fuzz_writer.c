/*
 * fuzz_writer.c: any sequence of writer calls, with odd arguments among them.
 *
 * The input chooses the options, then call after call: documents whole and in pieces, in two and four bytes an id, ids
 * that are too large, origins that do not exist, inputs, metadata, checkpoints, suspending and resuming, a second
 * writer in the way, finishing. Each call must return what a plain model says it must; a writer that has failed stays
 * failed and can be resumed at its last checkpoint; and in the end the dataset must verify, read back as the model has
 * it, and be the same to the byte as when the model's documents are written straight through.
 */
#include <stdbool.h>

#include "files.h"
#include "one_document.h"
#include "writer_model.h"

static struct {
    struct fuzz_bytes in;
    struct leat_writer_options options;
    struct leat_stored_tokenizer tokenizer;
    uint8_t fingerprint[16];
    struct leat_writer *w; /* NULL: none is open */
    struct model now, saved;
    bool has_saved;
    uint64_t saved_note;
    enum leat_status failed;
    bool finished; /* there is a dataset; its content is in `done` */
    struct model done;
    struct leat_writer_options done_options;
} f;

static uint32_t ids32[65536];
static uint16_t ids16[65536];

/* ---- Options ---- */

static void choose_options(void)
{
    static const uint64_t vocabularies[] = { 1, 2, 300, 65535, 65536, 65537, 100000, (uint64_t)1 << 32 };
    static const char file[] = "a tokenizer's file";
    uint8_t choice = fuzz_u8(&f.in), stored = fuzz_u8(&f.in);
    uint64_t vocabulary = fuzz_number(&f.in), end = fuzz_number(&f.in), begin = fuzz_number(&f.in);

    f.options = (struct leat_writer_options)LEAT_WRITER_OPTIONS_INIT;
    f.options.vocabulary = vocabulary < 8 ? vocabularies[vocabulary] : vocabulary;
    if (choice & 1)
        f.options.end_token = end;
    if (choice & 2)
        f.options.begin_token = begin;
    f.options.store_lines = (choice & 4) != 0;
    f.options.store_ids = (choice & 8) != 0;
    f.options.store_hashes = (choice & 64) != 0;
    f.options.force = (choice & 16) != 0;
    f.options.created = choice & 32 ? 1700000000 : 0;
    f.tokenizer = (struct leat_stored_tokenizer) { "name", stored & 4 ? "pattern" : NULL, NULL, 0 };
    if (stored & 2)
        f.tokenizer.file = file;
    if (stored & 2 || (stored & 16 && stored & 32))
        f.tokenizer.file_bytes = stored & 8 ? sizeof file : 0;
    if (stored & 64 && stored & 128)
        f.tokenizer.name = "";
    f.options.tokenizer = stored & 1 ? &f.tokenizer : NULL;
    memset(f.fingerprint, stored, sizeof f.fingerprint);
    f.options.fingerprint = stored & 16 ? f.fingerprint : NULL;
}

static bool options_make_sense(void)
{
    const struct leat_writer_options *o = &f.options;
    const struct leat_stored_tokenizer *t = o->tokenizer;

    return o->vocabulary > 0 && o->vocabulary <= (uint64_t)1 << 32 &&
           (o->end_token == LEAT_NONE || o->end_token < o->vocabulary) &&
           (o->begin_token == LEAT_NONE || o->begin_token < o->vocabulary) &&
           (!t || (t->name[0] && (t->file || t->file_bytes == 0)));
}

/* ---- What any call must return ---- */

/* `s` is what the call returned; `want` what it must, unless the writer has failed. True: it was done. */
static bool returned(enum leat_status s, enum leat_status want)
{
    if (f.failed != LEAT_OK)
        want = f.failed;
    FUZZ_CHECK(s == want);
    return s == LEAT_OK;
}

/* ---- Documents ---- */

static uint64_t take_text(char text[MODEL_TEXT])
{
    uint64_t bytes = fuzz_u8(&f.in) % MODEL_TEXT;

    memset(text, 0, MODEL_TEXT);
    for (uint64_t i = 0; i < bytes; i++)
        text[i] = (char)fuzz_u8(&f.in);
    return bytes;
}

/* Fills both arrays; returns the count. Every id is below the vocabulary but, now and then, one. */
static uint64_t take_ids(bool narrow, bool *good)
{
    uint8_t shape = fuzz_u8(&f.in);
    /* few are long, for they take long */
    uint64_t count = fuzz_number(&f.in) % (shape / 16 == 15 ? 65536 : 600), first = fuzz_number(&f.in),
             step = fuzz_u8(&f.in);
    uint64_t limit = narrow && f.options.vocabulary > 65536 ? 65536 : f.options.vocabulary;

    if (f.now.token_count + count + 2 > MODEL_TOKENS)
        count = 0;
    for (uint64_t i = 0; i < count; i++) {
        ids32[i] = (uint32_t)((first + i * step) % limit);
        ids16[i] = (uint16_t)ids32[i];
    }
    *good = true;
    if (shape % 16 == 0 && count > 0 && f.options.vocabulary < (narrow ? 65536 : UINT32_MAX)) {
        uint64_t at = first % count;

        ids32[at] = (uint32_t)(f.options.vocabulary + step) & (narrow ? 0xffff : UINT32_MAX);
        ids16[at] = (uint16_t)ids32[at];
        *good = ids32[at] < f.options.vocabulary;
    }
    return count;
}

/* NULL: the call gets none. */
static struct leat_origin *take_origin(struct leat_origin *o, char id[MODEL_TEXT], bool *good)
{
    uint8_t choice = fuzz_u8(&f.in);

    *good = true;
    if (choice % 8 == 0)
        return NULL;
    *o = (struct leat_origin) { .input = LEAT_NONE, .offset = fuzz_number(&f.in), .line = fuzz_number(&f.in) };
    if (choice % 8 > 1)
        o->input = choice % 8 == 2     ? fuzz_number(&f.in)
                   : f.now.input_count ? choice / 8 % f.now.input_count
                                       : LEAT_NONE;
    o->id_bytes = take_text(id);
    o->id = choice & 64 ? id : NULL;
    *good = o->input == LEAT_NONE || o->input < f.now.input_count;
    return o;
}

static void put_ids(uint64_t count)
{
    if (!f.now.document_open)
        model_put(&f.now, f.options.begin_token);
    f.now.document_open = 1;
    for (uint64_t i = 0; i < count; i++)
        model_put(&f.now, ids32[i]);
}

static bool room_for_document(void)
{
    return f.now.document_count < MODEL_DOCUMENTS && f.now.token_count + 4 <= MODEL_TOKENS;
}

static void end_document(const struct leat_origin *origin)
{
    put_ids(0);
    model_put(&f.now, f.options.end_token);
    model_end_document(&f.now, origin, &f.options);
}

static void add(bool narrow)
{
    bool good_ids, good_origin;
    uint64_t count = take_ids(narrow, &good_ids);
    struct leat_origin buffer, *origin;
    char id[MODEL_TEXT];
    enum leat_status s, want = LEAT_OK;

    origin = take_origin(&buffer, id, &good_origin);
    if (!room_for_document())
        return;
    s = narrow ? add_one_document(f.w, ids16, 2, NULL, count, origin, NULL)
               : add_one_document(f.w, ids32, 4, NULL, count, origin, NULL);
    if (f.now.document_open)
        want = LEAT_E_STATE;
    else if (!good_origin)
        want = LEAT_E_ARGUMENT;
    else if (!good_ids)
        want = LEAT_E_TOKEN;
    if (!returned(s, want))
        return;
    put_ids(count);
    end_document(origin);
}

static void append(bool narrow)
{
    bool good;
    uint64_t count = take_ids(narrow, &good);
    enum leat_status s;

    if (!room_for_document())
        return;
    s = narrow ? leat_writer_append(f.w, ids16, 2, NULL, count, NULL)
               : leat_writer_append(f.w, ids32, 4, NULL, count, NULL);
    if (returned(s, good ? LEAT_OK : LEAT_E_TOKEN))
        put_ids(count);
    else
        f.failed = s; /* a part of the document may be written */
}

static void end(void)
{
    struct leat_origin buffer, *origin;
    char id[MODEL_TEXT];
    bool good;

    origin = take_origin(&buffer, id, &good);
    if (!room_for_document())
        return;
    if (returned(leat_writer_end_document(f.w, origin, NULL), good ? LEAT_OK : LEAT_E_ARGUMENT))
        end_document(origin);
}

/* Short documents, more than fit a page of any section. */
static void add_many(void)
{
    uint64_t documents = 2 * fuzz_u8(&f.in);

    ids32[0] = ids32[1] = 0;
    for (uint64_t i = 0; i < documents && room_for_document(); i++) {
        struct leat_origin origin = { LEAT_NONE, i, i, "many", i % 5, i % 3 ? (const uint8_t *)ids16 : NULL };

        if (!returned(add_one_document(f.w, ids32, 4, NULL, i % 3, &origin, NULL),
                      f.now.document_open ? LEAT_E_STATE : LEAT_OK))
            return;
        put_ids(i % 3);
        end_document(&origin);
    }
}

/* ---- Inputs and metadata ---- */

static void add_input(void)
{
    uint64_t number = LEAT_NONE;
    char path[MODEL_TEXT];

    take_text(path);
    if (f.now.input_count == MODEL_INPUTS || !returned(leat_writer_add_input(f.w, path, &number, NULL), LEAT_OK))
        return;
    FUZZ_CHECK(number == f.now.input_count);
    f.now.inputs[number] = (struct model_input) { .bytes = 0 };
    memcpy(f.now.inputs[number].path, path, sizeof path);
    f.now.input_count++;
}

static void set_input(void)
{
    uint64_t number = fuzz_number(&f.in);
    struct leat_input input = { .size = sizeof input, .path_bytes = 9, .documents = 9, .tokens = 9 };

    input.bytes = fuzz_number(&f.in);
    input.rejects = fuzz_number(&f.in);
    memset(input.hash, fuzz_u8(&f.in), sizeof input.hash);
    if (!returned(leat_writer_set_input(f.w, number, &input, NULL),
                  number < f.now.input_count ? LEAT_OK : LEAT_E_ARGUMENT))
        return;
    f.now.inputs[number].bytes = input.bytes;
    f.now.inputs[number].rejects = input.rejects;
    memcpy(f.now.inputs[number].hash, input.hash, sizeof input.hash);
}

static void set_metadata(void)
{
    char key[MODEL_TEXT], value[MODEL_TEXT];
    bool remove = fuzz_u8(&f.in) % 4 == 0;

    take_text(key);
    take_text(value);
    if (f.now.pair_count < MODEL_PAIRS &&
        returned(leat_writer_set_metadata(f.w, key, remove ? NULL : value, NULL), *key ? LEAT_OK : LEAT_E_ARGUMENT))
        model_set_pair(&f.now, key, remove ? NULL : value);
}

/* ---- Checkpoints ---- */

static void checkpoint(void)
{
    uint64_t note = fuzz_number(&f.in);

    if (!returned(leat_writer_checkpoint(f.w, &note, sizeof note, NULL), f.now.document_open ? LEAT_E_STATE : LEAT_OK))
        return;
    model_copy(&f.saved, &f.now);
    f.saved_note = note;
    f.has_saved = true;
}

static void suspend(void)
{
    leat_writer_suspend(f.w);
    f.w = NULL;
    f.failed = LEAT_OK;
}

static void resume(void)
{
    enum leat_status s, want = f.has_saved ? LEAT_OK : LEAT_E_CHECKPOINT;
    uint64_t got = 0;
    size_t bytes = 0;
    void *note;

    if (f.w)
        suspend();
    s = leat_writer_resume(&f.w, files_path("d"), &f.options, &note, &bytes, NULL);
    if (f.finished && !f.options.force)
        want = LEAT_E_EXISTS;
    FUZZ_CHECK(s == want && (s == LEAT_OK) == (f.w != NULL));
    if (s != LEAT_OK)
        return;
    FUZZ_CHECK(bytes == sizeof got);
    memcpy(&got, note, sizeof got);
    FUZZ_CHECK(got == f.saved_note);
    leat_writer_free_note(note);
    model_copy(&f.now, &f.saved);
}

/* With options that differ: nothing may change. */
static void resume_wrongly(void)
{
    struct leat_writer_options other = f.options;
    struct leat_writer *w;

    other.store_ids = !other.store_ids;
    if (f.w || !f.has_saved || (f.finished && !f.options.force))
        return;
    FUZZ_CHECK(leat_writer_resume(&w, files_path("d"), &other, NULL, NULL, NULL) == LEAT_E_CHECKPOINT && !w);
}

/* ---- Opening and ending ---- */

static void open_writer(void)
{
    struct leat_writer *second;
    enum leat_status s, want = LEAT_OK;

    if (f.w) {
        FUZZ_CHECK(leat_writer_open(&second, files_path("d"), &f.options, NULL) == LEAT_E_BUSY && !second);
        return;
    }
    s = leat_writer_open(&f.w, files_path("d"), &f.options, NULL);
    if (!options_make_sense())
        want = LEAT_E_ARGUMENT;
    else if (!f.options.force && (f.finished || f.has_saved))
        want = LEAT_E_EXISTS;
    FUZZ_CHECK(s == want && (s == LEAT_OK) == (f.w != NULL));
    if (s != LEAT_OK)
        return;
    f.has_saved = false; /* replaced */
    f.now.token_count = f.now.document_count = f.now.input_count = f.now.pair_count = f.now.document_start = 0;
    f.now.document_open = 0;
}

static void look_at_finished(enum leat_access access)
{
    struct leat_open_options options = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    options.access = access;
    FUZZ_CHECK(leat_dataset_open(&d, files_path("d"), &options, NULL) == LEAT_OK);
    model_compare(&f.done, d, &f.done_options);
    leat_dataset_close(d);
}

static void finish(void)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = leat_writer_finish(f.w, &info, NULL);

    if (!returned(s, f.now.document_open ? LEAT_E_STATE : LEAT_OK))
        return;
    f.w = NULL;
    f.has_saved = false;
    f.finished = true;
    model_copy(&f.done, &f.now);
    f.done_options = f.options;
    FUZZ_CHECK(info.tokens == f.now.token_count && info.documents == f.now.document_count);
    if (f.in.left > 0)
        look_at_finished(LEAT_ACCESS_READ);
}

static void abandon(void)
{
    leat_writer_abandon(f.w);
    f.w = NULL;
    f.failed = LEAT_OK;
    f.has_saved = false;
}

static void step(void)
{
    uint8_t call = fuzz_u8(&f.in);

    if (!f.w && call % 4 == 0)
        resume();
    else if (!f.w && call % 4 == 1)
        resume_wrongly();
    else if (!f.w || call == 255)
        open_writer();
    else if (call < 96)
        add(call % 2);
    else if (call < 144)
        append(call % 2);
    else if (call < 176)
        end();
    else if (call < 192)
        add_input();
    else if (call < 200)
        set_input();
    else if (call < 216)
        set_metadata();
    else if (call < 232)
        checkpoint();
    else if (call < 242)
        resume();
    else if (call < 246)
        finish();
    else if (call < 250)
        suspend();
    else if (call < 251)
        abandon();
    else
        add_many();
    FUZZ_CHECK(!f.w || f.failed ||
               (leat_writer_tokens(f.w) == f.now.token_count && leat_writer_documents(f.w) == f.now.document_count));
}

/* ---- The end ---- */

static bool same_files(const char *a, const char *b)
{
    FILE *one = fopen(files_path(a), "rb"), *other = fopen(files_path(b), "rb");
    size_t x = 1, y = 1;
    static uint8_t p[65536], q[65536];
    bool same = one && other;

    while (same && x > 0) {
        x = fread(p, 1, sizeof p, one);
        y = fread(q, 1, sizeof q, other);
        same = x == y && memcmp(p, q, x) == 0;
    }
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    return same;
}

/* Whatever happened, the last finished dataset is there, whole, and the same as if written straight through. */
static void check_end(bool straight)
{
    if (f.w && f.failed == LEAT_OK) {
        if (f.now.document_open && room_for_document()) {
            FUZZ_CHECK(leat_writer_end_document(f.w, NULL, NULL) == LEAT_OK);
            end_document(NULL);
        }
        if (!f.now.document_open)
            finish();
    }
    if (f.w)
        abandon();
    if (!f.finished)
        return;
    look_at_finished(LEAT_ACCESS_LEASED);
    if (!straight)
        return;
    model_write(&f.done, files_path("straight"), &f.done_options);
    FUZZ_CHECK(same_files("d.leat", "straight.leat") && same_files("d.tokens", "straight.tokens"));
}

FUZZ_TARGET(writer)
{
    bool straight;

    if (size < 4 || size > 4096)
        return -1;
    files_begin();
    files_remove("");
    f.in = (struct fuzz_bytes) { data, size };
    f.w = NULL;
    f.failed = LEAT_OK;
    f.has_saved = f.finished = false;
    straight = fuzz_u8(&f.in) & 1;
    choose_options();
    open_writer();
    while (f.in.left > 0 && (f.w || options_make_sense()))
        step();
    check_end(straight);
    return 0;
}
