/*
 * test_inputs_memory.c: whichever allocation or system call fails while inputs are found and looked at, or their splits
 * are found by README.md and by names, a table with a
 * nested column is read, conditions are prepared, or frames are decompressed ahead: an error with a sentence, or the
 * same result as without it (a file that is left out need not be readable, and what cannot be decompressed ahead is
 * decompressed in turn); nothing stays allocated or open, and afterwards all is as before.
 */
#include <stdarg.h>
#include <zstd.h>

#include "base/buffer.h"
#include "corpus/first_text.h"
#include "corpus/inputs.h"
#include "corpus/own_outputs.h"
#include "corpus/parquet/parquet.h"
#include "corpus/record/judge.h"
#include "corpus/streams/byte_stream.h"
#include "each_call.h"
#include "pack/packer_judge.h"

static char said[20000]; /* what came of the work */
static size_t used;
static const char *folder;
static struct table {
    uint8_t bytes[20000];
    size_t count;
} nested, texts;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    used += (size_t)vsnprintf(said + used, sizeof said - used, format, values);
    va_end(values);
}

/* ---- Inputs ----------------------------------------------------------------------------------------------------- */

static enum leat_status look(struct input_list *list, struct leat_error *err)
{
    const struct input *first;
    char text[20];
    size_t repeated;
    enum leat_status s = inputs_count_repeated(list, &repeated, &first, err);

    for (size_t i = 0; s == LEAT_OK && i < list->count; i++) {
        s = first_text(&list->items[i], "text", NULL, text, sizeof text, err);
        if (s == LEAT_OK)
            say("%s: %s;", list->items[i].path, text);
    }
    for (size_t i = 0; s == LEAT_OK && i < list->skipped_count; i++)
        say("%s skipped;", list->skipped[i].path);
    if (s == LEAT_OK)
        say("%zu repeated", repeated);
    return s;
}

static enum leat_status find_inputs(struct leat_error *err)
{
    static const char *const words[] = { "in", "@lists/list", "in/[ab]*" };
    struct own_outputs own = { 0 };
    static const struct leat_pack_options options = LEAT_PACK_OPTIONS_INIT;
    struct input_rules rules = { .options = &options, .own = &own };
    struct input_list list;
    enum leat_status s = own_outputs_add(&own, "in/out", err);

    if (s == LEAT_OK)
        s = inputs_find(&list, words, 3, &rules, err);
    own_outputs_free(&own);
    if (s != LEAT_OK)
        return s;
    s = look(&list, err);
    inputs_free(&list);
    return s;
}

static enum leat_status find_splits(struct leat_error *err)
{
    static const char *const words[] = { "hub", "names", "in/a.jsonl" };
    struct own_outputs own = { 0 };
    const struct leat_pack_options options = { .size = sizeof options, .split_of = "train" };
    struct input_rules rules = { .options = &options, .own = &own };
    struct input_list list;
    enum leat_status s = inputs_find(&list, words, 3, &rules, err);

    if (s != LEAT_OK)
        return s;
    for (size_t i = 0; i < list.count; i++)
        say("%s;", list.items[i].path);
    for (size_t i = 0; i < list.skipped_count; i++)
        say("%s skipped;", list.skipped[i].path);
    for (size_t i = 0; i < list.split_count; i++)
        say("%s %zu %d;", list.splits[i].name ? list.splits[i].name : "none", list.splits[i].inputs,
            list.splits[i].packed);
    inputs_free(&list);
    return LEAT_OK;
}

/* ---- A table ---------------------------------------------------------------------------------------------------- */

static enum leat_status read_table(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    const struct table *t = context;

    (void)err;
    memcpy(out, t->bytes + offset, count);
    return LEAT_OK;
}

static enum leat_status read_group(const struct parquet_file *file, uint64_t group, struct leat_error *err)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS];
    struct parquet_reader *r;
    bool found = true;
    enum leat_status s = parquet_reader_open(&r, file, NULL, group, 1, err);

    while (s == LEAT_OK && found) {
        s = parquet_reader_next(r, values, &found, err);
        if (s == LEAT_OK && found)
            say("%.*s;", (int)values[0].size, values[0].bytes ? (const char *)values[0].bytes : "");
    }
    parquet_reader_close(r);
    return s;
}

static enum leat_status read_column(struct table *t, const char *column, enum parquet_use use, struct leat_error *err)
{
    struct parquet_source source = { .read = read_table, .context = t, .size = t->count, .name = "table" };
    struct parquet_want want = { .path = column, .use = use };
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, &source, &want, 1, err);

    for (uint64_t g = 0; s == LEAT_OK && g < parquet_groups(file); g++)
        s = read_group(file, g, err);
    parquet_close(file);
    return s;
}

static enum leat_status read_nested(struct leat_error *err)
{
    return read_column(&nested, "messages", PARQUET_JSON, err);
}

static enum leat_status read_texts(struct leat_error *err)
{
    return read_column(&texts, "text", PARQUET_TEXT, err);
}

/* ---- Conditions ------------------------------------------------------------------------------------------------- */

static enum leat_status prepare_conditions(struct leat_error *err)
{
    static const char *const conditions[] = { "a = \"x\"", "b != 'y'", "c = z", "d > 5", "e exists" };
    static const char record[] = "{\"a\":\"x\",\"b\":\"z\",\"c\":\"z\",\"d\":6,\"e\":[]}";
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct record_fields fields = { 0 };
    struct record_judges judges = { { NULL } };
    struct record r = { 0 };
    enum leat_status s;

    o.text = o.id = "a";
    o.tools = "";
    o.keep = conditions;
    o.keep_count = 5;
    s = judges_prepare(&judges, &fields, &o, err);
    if (s == LEAT_OK)
        s = record_make(&r, &fields, err);
    if (s == LEAT_OK)
        s = record_read(&r, record, sizeof record - 1, err);
    if (s == LEAT_OK)
        say("%d", !judges_keep_out(&judges, &r));
    record_free(&r);
    judges_free(&judges);
    record_fields_free(&fields);
    return s;
}

static enum leat_status judge_values(struct leat_error *err)
{
    static const char *const conditions[] = { "a = 0.5", "b >= 1" };
    const struct leat_value values[] = { { .kind = LEAT_VALUE_DOUBLE, .as.number = 0.5 },
                                         { .kind = LEAT_VALUE_INT64, .as.int64 = 1 } };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct packer_judge judge = { .rows = 0 };
    uint32_t keep = 0;
    enum leat_status s;

    o.keep = conditions;
    o.keep_count = 2;
    s = packer_judge_open(&judge, &o, err);
    if (s == LEAT_OK)
        s = packer_judge_row(&judge, values, &keep, err);
    if (s == LEAT_OK)
        say("%d", (int)keep);
    packer_judge_free(&judge);
    return s;
}

/* ---- Frames ----------------------------------------------------------------------------------------------------- */

static void help(struct spans *spans)
{
    struct span *span;
    enum spans_work work = SPANS_LOOK;

    while (spans && work != SPANS_NOTHING) {
        work = spans_claim(spans, 1 << 20, &span);
        if (work == SPANS_LOOK)
            spans_look(spans);
        if (work == SPANS_DECOMPRESS)
            spans_decompress(spans, span);
    }
}

static enum leat_status read_frames(struct leat_error *err)
{
    struct byte_stream *stream;
    char text[10000];
    size_t got = 1;
    enum leat_status s = byte_stream_open(&stream, "frames.zst", err);

    if (s != LEAT_OK)
        return s;
    byte_stream_share(stream, 1 << 16);
    while (s == LEAT_OK && got > 0) {
        help(byte_stream_spans(stream));
        s = byte_stream_read(stream, text, 777, &got, err);
        if (s == LEAT_OK)
            say("%.*s", (int)got, text);
    }
    byte_stream_close(stream);
    return s;
}

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

static enum leat_status read_made(const char *name, struct leat_error *err)
{
    struct byte_stream *stream;
    char text[2000];
    size_t got = 1;
    enum leat_status s = byte_stream_open(&stream, name, err);

    while (s == LEAT_OK && got > 0) {
        s = byte_stream_read(stream, text, sizeof text, &got, err);
        if (s == LEAT_OK)
            say("%.*s", (int)got, text);
    }
    byte_stream_close(stream);
    return s;
}

static enum leat_status read_xz(struct leat_error *err)
{
    return read_made("made.xz", err);
}

static enum leat_status read_bzip2(struct leat_error *err)
{
    return read_made("made.bz2", err);
}

static enum leat_status read_lz4(struct leat_error *err)
{
    return read_made("made.lz4", err);
}

static enum leat_status read_gzip(struct leat_error *err)
{
    return read_made("made.gz", err);
}

/* ---- Each fails ------------------------------------------------------------------------------------------------- */

static const struct scenario {
    const char *name;
    enum leat_status (*work)(struct leat_error *err);
    bool files;     /* system calls fail, too */
    unsigned least; /* so many calls there are */
} scenarios[] = { { "inputs", find_inputs, true, 50 },
                  { "splits", find_splits, true, 30 },
                  { "a nested column", read_nested, false, 50 },
                  { "pages in gzip", read_texts, false, 9 },
                  { "conditions", prepare_conditions, false, 9 },
                  { "values", judge_values, false, 9 },
                  { "frames", read_frames, true, 9 },
                  { "xz", read_xz, true, 3 },
                  { "bzip2", read_bzip2, true, 3 },
                  { "lz4", read_lz4, true, 3 },
                  { "gzip", read_gzip, true, 3 } };

static const struct scenario *now;

static enum leat_status run(const char *subject, uint64_t *answer, struct leat_error *err)
{
    enum leat_status s;

    (void)subject;
    used = 0;
    said[0] = '\0';
    s = now->work(err);
    each_call_answer(answer, said, strlen(said));
    return s;
}

static void try(const struct scenario *c)
{
    struct leat_error err = { .message = "" };
    uint64_t answer = 0;

    now = c;
    if (run(c->name, &answer, &err) != LEAT_E_UNSUPPORTED || !strstr(err.message, "which this build cannot read"))
        each_call_fails(
            &(struct each_call) { .run = run, .subject = c->name, .memory_only = !c->files, .least = c->least });
}

static void load(const char *path, struct table *to)
{
    FILE *f = fopen(path, "rb");

    to->count = f ? fread(to->bytes, 1, sizeof to->bytes, f) : 0;
    if (to->count == 0 || fclose(f) != 0)
        exit(1);
}

static void copy(const char *from, const char *to)
{
    static struct table file;

    load(from, &file);
    t_write(t_path(folder, to), file.bytes, file.count);
}

static void make_files(void)
{
    static const char *const folders[] = { "in", "in/deeper", "in/_marked", "lists", "hub", "names" };
    static char text[1500], frames[20000];
    size_t size = 0;

    load("tests/parquet/files/nested_group.parquet", &nested);
    load("tests/parquet/files/gzip.parquet", &texts);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(t_path(folder, folders[i]), 0700) != 0)
            exit(1);
    copy("tests/parquet/files/plain.parquet", "in/b.parquet");
    copy("tests/corpus/made/one.xz", "made.xz");
    copy("tests/corpus/made/one.bz2", "made.bz2");
    copy("tests/corpus/made/one.lz4", "made.lz4");
    if (chdir(folder) != 0 || symlink("../e.txt", "in/e.txt") != 0 || symlink("a.jsonl", "in/f.jsonl") != 0)
        exit(1);
    t_write("in/a.jsonl", "{\"text\":\"a\"}\n", 13);
    t_write("in/c.dat", "c", 1);
    t_write("in/deeper/d.txt", "d", 1);
    t_write("in/out.rejects.jsonl", "{}\n", 3);
    t_write("e.txt", "e", 1);
    t_write("lists/list", "../in/a.jsonl\n", 14);
    t_write("hub/README.md",
            "---\nconfigs:\n- config_name: a\n  data_files:\n  - {split: train, path: '[ab]*'}\n"
            "  - {split: test, path: c*}\n- config_name: b\n  data_dir: x\n---\n",
            141);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const names[] = { "hub/a.jsonl", "hub/c.jsonl", "names/train-1.jsonl", "names/dev-1.jsonl" };

        t_write(names[i], "{\"text\":\"a\"}\n", 13);
    }
    t_write("made.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3\xcb\x48\xcd\xc9\xc9\7\0\x86\xa6\x10\x36\5\0\0\0", 25);
    for (unsigned i = 0; i < 6; i++) {
        memset(text, 'a' + (int)i, sizeof text);
        size += ZSTD_compress(frames + size, sizeof frames - size, text, sizeof text, 1);
    }
    t_write("frames.zst", frames, size);
}

int main(void)
{
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0); /* what fails is an error at once */
    folder = t_folder();
    make_files();
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        try(&scenarios[i]);
    return t_end();
}
