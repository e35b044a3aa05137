/*
 * test_error_names.c: what an error names: for each public call that takes a path, failures in all that it reads and
 * writes, with the file as it was given and the offset where one is known; for options, records and columns the field.
 * And that the next error keeps nothing of the one before. A program had to look for these in the sentence.
 */
#include <sys/resource.h>

#include "leat_pack.h"
#include "small.h"
#include "support/small_server.h"

#define ANY (UINT64_MAX - 1) /* an offset that is not looked at, but must be there */

struct row {
    enum leat_status (*call)(const char *given);
    const char *given;
    enum leat_status status;
    const char *file; /* NULL: none */
    uint64_t offset;
    const char *field; /* NULL: none */
};

static struct leat_tokenizer *tokenizer;
static const char packed[] = "out/d", *output = packed;

/* ---- Calls ---- */

static enum leat_status open_it(const char *given)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, given, NULL, &t_err);

    leat_dataset_close(d);
    return s;
}

static enum leat_status open_odd(const char *given)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    o.online = 2;
    return leat_dataset_open(&d, given, &o, &t_err);
}

static enum leat_status verify(const char *given)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, given, NULL, &t_err);

    if (s == LEAT_OK)
        s = leat_dataset_verify(d, NULL, NULL, &t_err);
    leat_dataset_close(d);
    return s;
}

static enum leat_status read_far(const char *given)
{
    struct leat_dataset *d;
    uint16_t ids[2];
    enum leat_status s;

    T_OK(leat_dataset_open(&d, given, NULL, &t_err));
    s = leat_dataset_read(d, 1u << 30, 2, ids, &t_err);
    leat_dataset_close(d);
    return s;
}

static enum leat_status write_it(const char *given)
{
    struct small small = { .seed = 3 };
    struct leat_writer *w;
    enum leat_status s;

    snprintf(small.name, sizeof small.name, "%s", given);
    s = small_open(&small, &w, &t_err);
    leat_writer_abandon(w);
    return s;
}

static enum leat_status write_odd(const char *given)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 10;
    o.end_token = 10;
    return leat_writer_open(&w, given, &o, &t_err);
}

static enum leat_status resume(const char *given)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = SMALL_VOCABULARY;
    return leat_writer_resume(&w, given, &o, NULL, NULL, &t_err);
}

/* A file that may have no more than a few bytes. */
static enum leat_status write_full(const char *given)
{
    struct rlimit before, few = { 100, 100 };
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    uint16_t ids[1000] = { 0 };
    struct leat_writer *w;
    enum leat_status s;

    o.vocabulary = SMALL_VOCABULARY;
    getrlimit(RLIMIT_FSIZE, &before);
    few.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    T_OK(leat_writer_open(&w, given, &o, &t_err));
    setrlimit(RLIMIT_FSIZE, &few);
    s = leat_writer_append(w, ids, 2, NULL, 1000, &t_err);
    if (s == LEAT_OK)
        s = leat_writer_end_document(w, NULL, &t_err);
    if (s == LEAT_OK)
        s = leat_writer_checkpoint(w, NULL, 0, &t_err);
    setrlimit(RLIMIT_FSIZE, &before);
    leat_writer_abandon(w);
    return s;
}

static enum leat_status plan_lines(const char *given)
{
    struct leat_plan *p;
    enum leat_status s = leat_plan_parse(&p, given, strlen(given), "my.plan", NULL, &t_err);

    leat_plan_close(p);
    return s;
}

static enum leat_status plan_options(const char *given)
{
    struct leat_plan *p;
    enum leat_status s = leat_plan_parse(&p, given, strlen(given), NULL, NULL, &t_err);

    leat_plan_close(p);
    return s;
}

static enum leat_status load(const char *given)
{
    static const char text[] = "source good\nseq-len 64\n";
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;
    struct leat_plan *p;
    enum leat_status s;

    T_OK(leat_plan_parse(&p, text, strlen(text), NULL, NULL, &t_err));
    o.batch = 1;
    o.io.threads = 0;
    if (strcmp(given, "slots") == 0)
        o.io.slots = 1;
    else if (strcmp(given, "rank") == 0)
        o.ranks.rank = 7;
    else if (strcmp(given, "device") == 0)
        o.device.name = "moon";
    else
        o.stats_file = given;
    s = leat_loader_open(&l, p, &o, &t_err);
    leat_loader_close(l);
    leat_plan_close(p);
    return s;
}

static enum leat_status tokenize(const char *given)
{
    struct leat_tokenizer *t;
    enum leat_status s = leat_tokenizer_open(&t, given, NULL, &t_err);

    leat_tokenizer_close(t);
    return s;
}

static enum leat_status tokenize_odd(const char *given)
{
    struct leat_tokenizer_options o = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_tokenizer *t;

    o.pattern = "none";
    return leat_tokenizer_open(&t, given, &o, &t_err);
}

static enum leat_status pack_with(const char *given, struct leat_pack_options *o)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;

    o->tokenizer = tokenizer;
    o->threads = 1;
    o->max_rejects = 0;
    o->force = output == packed; /* over what a failed run has left */
    return leat_pack(output, &given, 1, o, &report, &t_err);
}

static enum leat_status pack(const char *given)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    return pack_with(given, &o);
}

static enum leat_status pack_body(const char *given)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.text = "body.text";
    return pack_with(given, &o);
}

static enum leat_status pack_by(const char *given)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.by = "language";
    return pack_with(given, &o);
}

static enum leat_status pack_keep(const char *given)
{
    static const char *const keep[] = { "a ~ b" };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.keep = keep;
    o.keep_count = 1;
    return pack_with(given, &o);
}

static enum leat_status pack_split(const char *given)
{
    static const struct leat_split split = { "a b", "0.5" };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.splits = &split;
    o.split_count = 1;
    return pack_with(given, &o);
}

static enum leat_status pack_to(const char *given)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    enum leat_status s;

    output = given;
    s = pack_with("texts.jsonl", &o);
    output = packed;
    return s;
}

static enum leat_status push_texts(const char *given)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_packer *p;

    o.tokenizer = tokenizer;
    return leat_packer_open(&p, given, &o, &t_err);
}

static enum leat_status merge(const char *given)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;

    return leat_merge("out/merged", &given, 1, NULL, &report, &t_err);
}

static enum leat_status merge_to(const char *given)
{
    const char *part = "good";
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;

    return leat_merge(given, &part, 1, NULL, &report, &t_err);
}

static enum leat_status export_to(const char *given)
{
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;
    const char *name = "good";

    o.to = "megatron";
    return leat_export(given, &name, 1, &o, NULL, &t_err);
}

static enum leat_status export_odd(const char *given)
{
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;

    o.to = "paper";
    return leat_export("out/e", &given, 1, &o, NULL, &t_err);
}

static enum leat_status adopt(const char *given)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;

    o.vocabulary = 1000;
    return leat_adopt(given, &o, NULL, &t_err);
}

static enum leat_status pull(const char *given)
{
    struct leat_pull_report report = LEAT_PULL_REPORT_INIT;

    return leat_pull(given, "out/pulled", NULL, &report, &t_err);
}

static enum leat_status push(const char *given)
{
    struct leat_push_report report = LEAT_PUSH_REPORT_INIT;

    return leat_push(given, "s3://bucket/name", NULL, &report, &t_err);
}

static enum leat_status push_odd(const char *given)
{
    struct leat_push_report report = LEAT_PUSH_REPORT_INIT;

    return leat_push("good", given, NULL, &report, &t_err);
}

/* ---- Files ---- */

/* Makes TO of FROM with a byte changed (at SIZE_MAX: none), cut to `size` bytes (SIZE_MAX: not). */
static void spoil(const char *from, const char *to, size_t at, size_t size)
{
    size_t bytes;
    uint8_t *all = file_bytes(from, &bytes);

    if (at < bytes)
        all[at] ^= 0x40;
    t_write(to, all, size < bytes ? size : bytes);
    free(all);
}

static void spoil_dataset(const char *to, bool index, size_t at, size_t size)
{
    char path[2][64];

    snprintf(path[0], sizeof path[0], "%s.leat", to);
    snprintf(path[1], sizeof path[1], "%s.tokens", to);
    spoil("good.leat", path[0], index ? at : SIZE_MAX, index ? size : SIZE_MAX);
    spoil("good.tokens", path[1], index ? SIZE_MAX : at, index ? SIZE_MAX : size);
}

static void make_files(void)
{
    struct small small = { .name = "good", .seed = 3 };

    mkdir("out", 0777);
    mkdir("empty", 0777);
    mkdir("many", 0777);
    small_write(&small);
    spoil_dataset("magic", true, 0, SIZE_MAX);
    spoil_dataset("header", true, 100, SIZE_MAX);
    spoil_dataset("short", true, SIZE_MAX, 5000);
    spoil_dataset("few", false, SIZE_MAX, 1000);
    spoil_dataset("page", false, 4096 + 7, SIZE_MAX);
    spoil_dataset("nothing", true, SIZE_MAX, 0);
    T_CHECK(copy_file("good.leat", "half.leat"));
    T_CHECK(copy_file("good.leat", "many/a.leat") && copy_file("good.tokens", "many/a.tokens"));
    T_CHECK(copy_file("magic.leat", "many/b.leat") && copy_file("good.tokens", "many/b.tokens"));
    t_write_text("list", "good\nmissing\n");
    t_write("zero", "good\nb\0d\n", 9);
    t_write_text("texts.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n");
    t_write_text("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 5}\n");
    t_write_text("broken.jsonl", "{\"text\": \"a\"\n");
    t_write_text("odd.xyz", "text");
    t_write_text("names.txt", "missing.jsonl\n");
    t_write_text("short.parquet", "PAR1");
    t_write_text("fake.parquet", "PAR1 and something that is not the footer of a PAR1 file PAR1");
    t_write_text("tokenizer.json", "{\"model\": {\"type\": \"BPE\",\n");
    t_write_text("other.json", "{\"no\": 1}");
    t_write_text("ranks.tiktoken", "YQ== 0\nnot a line\n");
    t_write_text("r.bin", "odd");
    t_write_text("r50k.bin", "even");
    t_write_text("page.html", "not statistics");
    T_CHECK(copy_file("good.leat", "out/there.leat") && copy_file("good.tokens", "out/there.tokens"));
}

/* ---- What is named ---- */

static const struct row rows[] = {
    /* opening: what is missing has the name as it was given, whatever it may have meant */
    { open_it, "missing", LEAT_E_NO_FILE, "missing", LEAT_NONE, NULL },
    { open_it, "./missing.leat", LEAT_E_NO_FILE, "./missing.leat", LEAT_NONE, NULL },
    { open_it, "half", LEAT_E_NO_FILE, "half.tokens", LEAT_NONE, NULL },
    { open_it, "half.tokens", LEAT_E_NO_FILE, "half.tokens", LEAT_NONE, NULL },
    { open_it, "nothing", LEAT_E_NOT_LEAT, "nothing.leat", 0, NULL },
    { open_it, "magic", LEAT_E_NOT_LEAT, "magic.leat", 0, NULL },
    { open_it, "./header", LEAT_E_CHECKSUM, "./header.leat", ANY, NULL },
    { open_it, "short.tokens", LEAT_E_TRUNCATED, "short.leat", 5000, NULL },
    { open_it, "few", LEAT_E_TRUNCATED, "few.tokens", 1000, NULL },
    { open_it, "many", LEAT_E_NOT_LEAT, "many/b.leat", 0, NULL },
    { open_it, "empty/", LEAT_E_NO_FILE, "empty/", LEAT_NONE, NULL },
    { open_it, "@list", LEAT_E_NO_FILE, "missing", LEAT_NONE, NULL },
    { open_it, "@zero", LEAT_E_ARGUMENT, "zero", 5, "name" },
    { open_it, "@none", LEAT_E_NO_FILE, "none", LEAT_NONE, NULL },
    { open_it, "", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "name" },
    { open_it, "good.partial", LEAT_E_ARGUMENT, "good.partial", LEAT_NONE, "name" },
    { open_it, "raw:r.bin?dtype=u17", LEAT_E_ARGUMENT, "raw:r.bin?dtype=u17", LEAT_NONE, "name" },
    { open_it, "raw:r.bin?dtype=u16", LEAT_E_TRUNCATED, "r.bin", 3, NULL },
    { open_it, "raw:none.bin?dtype=u16", LEAT_E_NO_FILE, "none.bin", LEAT_NONE, NULL },
    { open_it, "http://user:secret@host/name", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "name" },
    { open_odd, "good", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "online" },
    { verify, "./page", LEAT_E_CHECKSUM, "./page.tokens", 4096, NULL },
    { read_far, "good", LEAT_E_RANGE, NULL, LEAT_NONE, NULL },
    /* writing */
    { write_it, "good", LEAT_E_EXISTS, "good.leat", LEAT_NONE, NULL },
    { write_it, "none/d", LEAT_E_NO_FILE, "none/d.leat", LEAT_NONE, NULL },
    { write_it, "a.partial", LEAT_E_ARGUMENT, "a.partial", LEAT_NONE, "name" },
    { write_it, "s3://bucket/d", LEAT_E_UNSUPPORTED, "s3://bucket/d", LEAT_NONE, NULL },
    { write_odd, "out/odd", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "end_token" },
    { write_full, "out/full", LEAT_E_NO_SPACE, "out/full.partial.tokens", LEAT_NONE, NULL },
    { resume, "out/none", LEAT_E_CHECKPOINT, "out/none.leat", LEAT_NONE, NULL },
    { resume, "good", LEAT_E_EXISTS, "good.leat", LEAT_NONE, NULL },
    /* plans and loaders */
    { plan_lines, "leat plan 1\nsource good\nseq-len x\n", LEAT_E_ARGUMENT, "my.plan", 24, "seq_len" },
    { plan_lines, "leat plan 1\nsource missing\nseq-len 8\n", LEAT_E_NO_FILE, "missing", LEAT_NONE, NULL },
    { plan_options, "source good\nseq-len 8\nskip 3:1\n", LEAT_E_ARGUMENT, NULL, 22, "skips" },
    { plan_options, "source good\nseq-len 0\n", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "seq_len" },
    { plan_options, "source good\nseq-len 8\nmin-length 3\n", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "min_length" },
    { plan_options, "source good:0\nseq-len 8\n", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "sources" },
    { plan_options, "source good\nseq-len 1000000\n", LEAT_E_ARGUMENT, "good", LEAT_NONE, "sources" },
    { plan_options, "source few\nseq-len 8\n", LEAT_E_TRUNCATED, "few.tokens", 1000, NULL },
    { load, "slots", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "slots" },
    { load, "rank", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "rank" },
    { load, "device", LEAT_E_UNSUPPORTED, NULL, LEAT_NONE, "device" },
    { load, "page.html", LEAT_E_ARGUMENT, "page.html", LEAT_NONE, "stats_file" },
    { load, "none/stats", LEAT_E_NO_FILE, "none/stats", LEAT_NONE, NULL },
    /* tokenizers */
    { tokenize, "none.json", LEAT_E_NO_FILE, "none.json", LEAT_NONE, NULL },
    { tokenize, "./tokenizer.json", LEAT_E_VOCABULARY, "./tokenizer.json", 26, NULL },
    { tokenize, "other.json", LEAT_E_VOCABULARY, "other.json", LEAT_NONE, NULL },
    { tokenize, "empty", LEAT_E_NO_FILE, "empty", LEAT_NONE, NULL },
    { tokenize, "", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "spec" },
    { tokenize_odd, "gpt2", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "pattern" },
    { tokenize_odd, "other.json", LEAT_E_ARGUMENT, "other.json", LEAT_NONE, "pattern" },
    /* packing: inputs, their records and fields, the output */
    { pack, "missing.jsonl", LEAT_E_NO_FILE, "missing.jsonl", LEAT_NONE, NULL },
    { pack, "@names.txt", LEAT_E_NO_FILE, "missing.jsonl", LEAT_NONE, NULL },
    { pack, "@none.txt", LEAT_E_NO_FILE, "none.txt", LEAT_NONE, NULL },
    { pack, "none*.jsonl", LEAT_E_NO_FILE, "none*.jsonl", LEAT_NONE, NULL },
    { pack, "empty", LEAT_E_NOT_FOUND, "empty", LEAT_NONE, NULL },
    { pack, "odd.xyz", LEAT_E_ARGUMENT, "odd.xyz", LEAT_NONE, "format" },
    { pack, "bad.jsonl", LEAT_E_REJECTS, "bad.jsonl", LEAT_NONE, "text" },
    { pack, "broken.jsonl", LEAT_E_REJECTS, "broken.jsonl", LEAT_NONE, NULL },
    { pack, "short.parquet", LEAT_E_REJECTS, "short.parquet", LEAT_NONE, NULL },
    { pack, "fake.parquet", LEAT_E_REJECTS, "fake.parquet", LEAT_NONE, NULL },
    { pack, "http://user:secret@host/a.jsonl", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "inputs" },
    { pack_body, "texts.jsonl", LEAT_E_NOT_FOUND, "texts.jsonl", LEAT_NONE, "body.text" },
    { pack_by, "texts.jsonl", LEAT_E_NOT_FOUND, "texts.jsonl", LEAT_NONE, "language" },
    { pack_keep, "texts.jsonl", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "keep" },
    { pack_split, "texts.jsonl", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "splits" },
    { pack_to, "out/there", LEAT_E_EXISTS, "out/there.leat", LEAT_NONE, NULL },
    { pack_to, "none/d", LEAT_E_NO_FILE, "none/d.leat", LEAT_NONE, NULL },
    { push_texts, "out/there", LEAT_E_EXISTS, "out/there.leat", LEAT_NONE, NULL },
    /* datasets to others */
    { merge, "missing", LEAT_E_NO_FILE, "missing", LEAT_NONE, NULL },
    { merge, "few", LEAT_E_TRUNCATED, "few.tokens", 1000, NULL },
    { merge_to, "out/there", LEAT_E_EXISTS, "out/there.leat", LEAT_NONE, NULL },
    { export_to, "none/e", LEAT_E_NO_FILE, "none/e.bin.partial", LEAT_NONE, NULL },
    { export_odd, "good", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "to" },
    { adopt, "good", LEAT_E_ARGUMENT, "good", LEAT_NONE, "name" },
    { adopt, "raw:none.bin?dtype=u16", LEAT_E_NO_FILE, "none.bin", LEAT_NONE, NULL },
    { push, "missing", LEAT_E_NO_FILE, "missing", LEAT_NONE, NULL },
    { push_odd, "file://host/name", LEAT_E_ARGUMENT, NULL, LEAT_NONE, "url" },
    { push_odd, "https://host/name", LEAT_E_ARGUMENT, "https://host/name", LEAT_NONE, "url" },
};

/* Of another user: not for root, who may read all. */
static const struct row locked_rows[] = {
    { open_it, "locked", LEAT_E_PERMISSION, "locked.leat", LEAT_NONE, NULL },
    { pack, "locked.jsonl", LEAT_E_PERMISSION, "locked.jsonl", LEAT_NONE, NULL },
    { tokenize, "locked.json", LEAT_E_PERMISSION, "locked.json", LEAT_NONE, NULL },
    { write_it, "locked/d", LEAT_E_PERMISSION, "locked/d.partial.lock", LEAT_NONE, NULL },
};

static void look(const struct row *r)
{
    const char *file = r->file ? r->file : "", *field = r->field ? r->field : "";
    enum leat_status s;

    t_err = (struct leat_error) { .offset = 7, .file = "before", .field = "before", .reserved = { 1, 2, 3, 4 } };
    s = r->call(r->given);
    for (size_t i = 0; i < 4; i++)
        T_EQ(t_err.reserved[i], 0);
    if (s != r->status || strcmp(t_err.file, file) != 0 || strcmp(t_err.field, field) != 0 ||
        (r->offset == ANY ? t_err.offset == LEAT_NONE : t_err.offset != r->offset))
        T_FAIL("\"%s\": %s, file \"%s\", offset %" PRId64 ", field \"%s\" instead of %s, \"%s\", %" PRId64
               ", \"%s\" (%s)",
               r->given, leat_status_name(s), t_err.file, (int64_t)t_err.offset, t_err.field,
               leat_status_name(r->status), file, (int64_t)r->offset, field, t_err.message);
}

static void test_locked(void)
{
    static const char *const files[] = { "locked.leat", "locked.tokens", "locked.jsonl", "locked.json" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        t_write_text(files[i], "text");
        chmod(files[i], 0);
    }
    mkdir("locked", 0500);
    for (size_t i = 0; geteuid() != 0 && i < sizeof locked_rows / sizeof *locked_rows; i++)
        look(&locked_rows[i]);
    chmod("locked", 0700);
}

static void answer(const char *request, char *out)
{
    (void)request;
    small_server_say(out, "404 Not Found", "", "");
}

/* What follows the ? of a URL may be a key. */
static void test_server(void)
{
    struct small_server server;
    char url[100], file[100];
    struct row row = { open_it, url, LEAT_E_NO_FILE, file, LEAT_NONE, NULL };

    small_server_open(&server, answer);
    snprintf(url, sizeof url, "%s/none?key=secret", server.url);
    snprintf(file, sizeof file, "%s/none.leat", server.url);
    if (open_it(url) != LEAT_E_UNSUPPORTED) { /* this build has libcurl */
        look(&row);
        row.call = pull;
        look(&row);
    }
    small_server_close(&server);
}

/* What is too long is cut, between characters, and says so. */
static void test_long(void)
{
    char name[3000];

    for (size_t i = 0; i + 4 < sizeof name; i += 4)
        memcpy(name + i, "\xe2\x82\xac/", 5);
    T_CHECK(open_it(name) != LEAT_OK);
    T_CHECK(strlen(t_err.file) > sizeof t_err.file - 8 && strlen(t_err.file) < sizeof t_err.file);
    T_STR(t_err.file + strlen(t_err.file) - 4, "/...");
}

int main(void)
{
    if (chdir(t_folder()) != 0)
        return t_skip("no folder");
    setenv("LEAT_CACHE", "cache", 1);
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    make_files();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        look(&rows[i]);
    test_locked();
    test_server();
    test_long();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
