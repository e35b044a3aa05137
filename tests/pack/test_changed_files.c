/*
 * test_changed_files.c: files that a run finds otherwise than it may: a compressed input that was cut anywhere gives
 * what was readable and a word about it; a run that its program stops can go on; none goes on with an input, a
 * checkpoint or a file of rejects that is not what it left, and says which. (What changes while a run reads it is in
 * tests/faults/test_pack_cut.c.)
 */
#include <zstd.h>

#include "base/bytes.h"
#include "leat_pack.h"
#include "t.h"

#define TEXT_BYTES ((size_t)3 << 20) /* some units */

static const char *folder;
static struct leat_tokenizer *tokenizer;
static char *text;

static struct leat_pack_options options(int resume)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 1;
    o.resume = resume;
    return o;
}

/* ---- Cut before it was found ---- */

/* At a frame's end nothing tells that there were more. */
static void check_cut(const char *name, const uint8_t *bytes, size_t count, bool whole)
{
    struct leat_pack_options o = options(0);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    const char *input;

    t_write(t_path(folder, name), bytes, count);
    input = t_path(folder, name);
    o.force = 1;
    o.max_rejects = LEAT_NONE;
    T_OK(leat_pack(t_path(folder, "cut"), &input, 1, &o, &report, &t_err));
    if ((report.damaged_inputs == 0) != whole)
        T_FAIL("%s of %zu bytes: %llu damaged", name, count, (unsigned long long)report.damaged_inputs);
    if (!whole)
        T_CONTAINS(report.damage, "in the middle of a zstd frame");
}

static void test_cut(void)
{
    static const char line[] = "{\"text\": \"a leat drives a mill\"}\n";
    uint8_t bytes[400];
    size_t frame = ZSTD_compress(bytes, sizeof bytes, line, sizeof line - 1, 1);

    memcpy(bytes + frame, bytes, frame);
    for (size_t count = 1; count <= 2 * frame; count++) {
        check_cut("c.jsonl.zst", bytes, count, count % frame == 0);
        check_cut("c.txt.zst", bytes, count, count % frame == 0);
    }
}

/* ---- Changed before a run goes on ---- */

/* A run over more than a unit, of which the first holds what is refused. */
static void stop_run(const char *output, const char *input)
{
    struct leat_pack_options o = options(0);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;

    o.max_rejects = 0;
    T_STATUS(leat_pack(t_path(folder, output), &input, 1, &o, &report, &t_err), LEAT_E_REJECTS);
    T_CHECK(report.resumable);
}

static void resume_refused(const char *output, const char *input, enum leat_status status, const char *what)
{
    struct leat_pack_options o = options(1);

    o.max_rejects = LEAT_NONE;
    T_REFUSED(leat_pack(t_path(folder, output), &input, 1, &o, NULL, &t_err), status, what);
}

static size_t make_lines(void)
{
    size_t used = (size_t)snprintf(text, TEXT_BYTES, "no record\n");

    while (used + 100 < TEXT_BYTES)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "{\"id\": %zu, \"text\": \"a leat drives a mill\"}\n",
                                 used);
    return used;
}

/* Size and time are all that a run looks at: in a file of the same, there may be less text. */
static void test_less_text(void)
{
    size_t room = ZSTD_compressBound(TEXT_BYTES), size = make_lines(), packed_size, less;
    uint8_t *packed = malloc(room);
    struct stat st;
    const char *input = t_text("%s/i.jsonl.zst", folder);

    T_CHECK(packed != NULL);
    packed_size = ZSTD_compress(packed, room, text, size, 1);
    t_write(t_path(folder, "i.jsonl.zst"), packed, packed_size);
    T_CHECK(stat(input, &st) == 0);
    stop_run("less", input);
    less = ZSTD_compress(packed, room, text, 1000, 1);
    bytes_store32(packed + less, 0x184d2a50); /* a frame that is passed over */
    bytes_store32(packed + less + 4, (uint32_t)(packed_size - less - 8));
    t_write(t_path(folder, "i.jsonl.zst"), packed, packed_size);
    T_CHECK(utimensat(AT_FDCWD, input, (struct timespec[]) { st.st_atim, st.st_mtim }, 0) == 0);
    resume_refused("less", input, LEAT_E_CHECKPOINT, "i.jsonl.zst is shorter than when the killed run read it");
    free(packed);
}

static void test_fewer_rejects(const char *input)
{
    stop_run("few", input);
    t_write(t_path(folder, "few.rejects.jsonl"), "{", 1);
    resume_refused("few", input, LEAT_E_CHECKPOINT, "few.rejects.jsonl is shorter than the killed run left it");
    T_CHECK(access(t_path(folder, "few.partial.rejects"), F_OK) != 0); /* what is refused stays as it is */
}

/* ---- Stopped by its program ---- */

struct told {
    unsigned checks, calls; /* while what was written is read back; after that */
    int check_wish, wish;   /* what the program says to these */
    uint64_t before, last;
};

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct told *told = context;

    if (strcmp(p->bound, "checking") == 0) {
        T_EQ(told->calls, 0);
        T_CHECK(p->bytes > 0 && p->bytes <= p->total_bytes && p->bytes_before == 0);
        told->checks++;
        return (uint32_t)told->check_wish;
    }
    if (told->calls++ == 0)
        T_EQ(p->bytes, p->bytes_before); /* before anything is done */
    else
        T_EQ(p->bytes_before, told->before);
    T_CHECK(p->bytes >= told->last && p->bytes <= p->total_bytes && p->bound);
    told->before = p->bytes_before;
    told->last = p->bytes;
    return (uint32_t)told->wish;
}

/* A resumed run asks its program while it reads back what was written, and again before it does anything: stopped then,
 * it can be resumed, to the bytes of one that went through. */
static void test_stopped_again(const char *input)
{
    struct leat_pack_options o = options(1);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_info through = LEAT_INFO_INIT, resumed = LEAT_INFO_INIT;
    struct told told = { .check_wish = 1 };
    struct leat_dataset *d;

    stop_run("again", input);
    o.max_rejects = LEAT_NONE;
    o.progress = on_progress;
    o.context = &told;
    T_STATUS(leat_pack(t_path(folder, "again"), &input, 1, &o, &report, &t_err), LEAT_E_STOPPED);
    T_CHECK(told.checks == 1 && told.calls == 0 && report.resumable);
    told = (struct told) { .wish = 1 };
    T_STATUS(leat_pack(t_path(folder, "again"), &input, 1, &o, &report, &t_err), LEAT_E_STOPPED);
    T_CHECK(told.checks > 0 && told.calls == 1 && told.before > 0 && report.resumable);
    told = (struct told) { .wish = 0 };
    T_OK(leat_pack(t_path(folder, "again"), &input, 1, &o, &report, &t_err));
    T_CHECK(told.calls > 0 && told.before > 0);
    o.resume = 0;
    o.progress = NULL;
    T_OK(leat_pack(t_path(folder, "through"), &input, 1, &o, &report, &t_err));
    T_OK(leat_dataset_open(&d, t_path(folder, "again"), NULL, &t_err));
    leat_dataset_info(d, &resumed);
    leat_dataset_close(d);
    T_OK(leat_dataset_open(&d, t_path(folder, "through"), NULL, &t_err));
    leat_dataset_info(d, &through);
    leat_dataset_close(d);
    T_CHECK(memcmp(resumed.identity, through.identity, sizeof through.identity) == 0);
}

/* ---- Notes of others ---- */

/* Puts another note into the checkpoint of a run, of which `change` gets a copy; all else stays. */
static void change_note(const char *output, uint64_t (*change)(uint8_t *note, uint64_t bytes))
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_stored_tokenizer stored;
    struct leat_writer *writer;
    size_t bytes;
    void *note;

    leat_tokenizer_info(tokenizer, &info);
    leat_tokenizer_stored(tokenizer, &stored);
    w.vocabulary = info.vocabulary;
    w.fingerprint = info.fingerprint;
    w.tokenizer = &stored;
    w.end_token = 256;
    w.store_hashes = w.store_lines = w.store_ids = 1;
    T_OK(leat_writer_resume(&writer, t_path(folder, output), &w, &note, &bytes, &t_err));
    T_OK(leat_writer_checkpoint(writer, note, (size_t)change(note, bytes), &t_err));
    leat_writer_free_note(note);
    leat_writer_suspend(writer);
}

static uint64_t cut_short(uint8_t *note, uint64_t bytes)
{
    (void)note;
    return bytes < 5 ? bytes : 5;
}

static uint64_t other_magic(uint8_t *note, uint64_t bytes)
{
    note[0]++;
    return bytes;
}

/* The number of paths is behind the position. */
static uint64_t more_paths(uint8_t *note, uint64_t bytes)
{
    bytes_store64(note + bytes - 8, 7);
    return bytes;
}

static void test_notes(const char *input)
{
    static uint64_t (*const changes[])(uint8_t *, uint64_t) = { cut_short, other_magic, more_paths };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *output = t_text("note%zu", i);

        stop_run(output, input);
        change_note(output, changes[i]);
        resume_refused(output, input, LEAT_E_CHECKPOINT, "was not made by the packer");
    }
}

/* A program's note is behind the paths of its inputs, each with a zero byte: here neither is left. */
static uint64_t open_path(uint8_t *note, uint64_t bytes)
{
    T_CHECK(memcmp(note + bytes - 6, "path\0n", 6) == 0);
    return bytes - 2;
}

static void test_program_note(void)
{
    struct leat_pack_options o = options(0);
    struct leat_packer *p;

    T_OK(leat_packer_open(&p, t_path(folder, "p"), &o, &t_err));
    T_OK(leat_packer_add_input(p, "path", NULL, &t_err));
    T_OK(leat_packer_checkpoint(p, "n", 1, &t_err));
    leat_packer_suspend(p);
    change_note("p", open_path);
    o.resume = 1;
    T_REFUSED(leat_packer_open(&p, t_path(folder, "p"), &o, &t_err), LEAT_E_CHECKPOINT, "was not made by the packer");
    T_CHECK(!p);
}

/* ---- Not damage at all ---- */

/* What is not there was empty, and names may hold anything. */
static void test_odd_but_right(void)
{
    struct leat_pack_options o = options(0);
    struct leat_packer *p;
    const char *inputs[] = { t_path(folder, "a\nb\\c.jsonl") };

    T_OK(leat_packer_open(&p, t_path(folder, "q"), &o, &t_err));
    T_OK(leat_packer_checkpoint(p, "n", 1, &t_err));
    leat_packer_suspend(p);
    T_CHECK(unlink(t_path(folder, "q.partial.rejects")) == 0);
    o.resume = 1;
    T_OK(leat_packer_open(&p, t_path(folder, "q"), &o, &t_err));
    T_OK(leat_packer_finish(p, NULL, &t_err));

    t_write_text(inputs[0], "{\"text\": \"x\"}\n");
    o.resume = 0;
    T_OK(leat_pack(t_path(folder, "odd.tokens"), inputs, 1, &o, NULL, &t_err));
    T_CHECK(access(t_path(folder, "odd.leat"), F_OK) == 0);

    inputs[0] = t_path(folder, "empty");
    T_CHECK(mkdir(inputs[0], 0777) == 0);
    o.format = LEAT_PACK_JSONL;
    T_REFUSED(leat_pack(t_path(folder, "none"), inputs, 1, &o, NULL, &t_err), LEAT_E_NOT_FOUND, "has no files");
}

int main(void)
{
    const char *input;

    folder = t_folder();
    text = malloc(TEXT_BYTES);
    T_CHECK(text != NULL);
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    test_cut();
    test_less_text();
    input = t_path(folder, "i.jsonl");
    t_write(input, text, make_lines());
    test_fewer_rejects(input);
    test_stopped_again(input);
    test_notes(input);
    test_program_note();
    test_odd_but_right();
    leat_tokenizer_close(tokenizer);
    free(text);
    return t_end();
}
