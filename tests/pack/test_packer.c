/*
 * test_packer.c: leat_packer_*(): texts in Arrow's layout, single ones and ids, with origins, threads and units of any
 * size, come out as leat_encoder_encode() and leat_writer_add() make them, byte for byte; checkpoints with a note;
 * texts refused; calls that make no sense, and what a packer does not do. Runs threads.
 */
#include <sys/wait.h>

#include "corpus/record_format.h"
#include "leat_pack.h"
#include "one_text.h"
#include "t.h"

static const char *folder;
static struct leat_tokenizer *tokenizer;

/* Texts one after another, as Arrow has them. */
struct column {
    char data[1 << 16];
    int32_t ends32[600];
    int64_t ends64[600];
    struct leat_origin origins[600];
    char ids[600][16];
    uint64_t count;
};

static void fill(struct column *c, uint64_t count, uint64_t *seed)
{
    static const char *const words[] = { "water", " mill",         "\n",           " 1234", "\xc3\xa9t\xc3\xa9",
                                         " the",  "<|endoftext|>", "\xe6\xb0\xb4", "  ",    "x" };
    size_t used = 0;

    c->count = count;
    c->ends32[0] = 0;
    c->ends64[0] = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t pieces = t_below(seed, 12);

        for (uint64_t j = 0; j < pieces; j++) {
            const char *word = words[t_below(seed, sizeof words / sizeof words[0])];

            memcpy(c->data + used, word, strlen(word));
            used += strlen(word);
        }
        c->ends32[i + 1] = (int32_t)used;
        c->ends64[i + 1] = (int64_t)used;
        snprintf(c->ids[i], sizeof c->ids[i], "id%llu", (unsigned long long)i);
        c->origins[i] = (struct leat_origin) { .input = i % 3 == 0 ? LEAT_NONE : i % 2,
                                               .offset = 7 * i,
                                               .line = i % 5 == 0 ? LEAT_NONE : i,
                                               .id = c->ids[i],
                                               .id_bytes = strlen(c->ids[i]) };
    }
}

static struct leat_pack_options options_with(unsigned threads)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 50256;
    o.threads = threads;
    o.force = 1;
    return o;
}

/* The same documents, one by one, without a packer. */
static void write_plainly(const struct column *c, const char *path)
{
    struct leat_dataset *d;
    struct leat_encoder *e;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t first, count, bytes;
    char id[32];

    T_OK(leat_dataset_open(&d, path, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_OK(leat_encoder_open(&e, tokenizer, NULL, &t_err));
    T_EQ(info.documents, c->count);
    T_EQ(info.inputs, 2);
    for (uint64_t i = 0; i < c->count && i < info.documents; i++) {
        struct leat_origin origin;
        uint32_t have[4096];
        const uint32_t *want;
        uint64_t want_count;

        T_OK(leat_dataset_document(d, i, &first, &count, &t_err));
        T_OK(leat_dataset_read_u32(d, first, count, have, &t_err));
        T_OK(leat_encoder_encode(e, c->data + c->ends64[i], (uint64_t)(c->ends64[i + 1] - c->ends64[i]), &want,
                                 &want_count, &t_err));
        T_EQ(count, want_count + 1);
        T_CHECK(memcmp(have, want, want_count * sizeof *want) == 0);
        T_EQ(have[count - 1], 50256);
        T_OK(leat_dataset_origins(d, i, 1, &origin, &t_err));
        T_EQ(origin.input, c->origins[i].input);
        T_EQ(origin.offset, c->origins[i].offset);
        T_EQ(origin.line, c->origins[i].line);
        T_OK(leat_dataset_ids(d, i, 1, id, sizeof id, &bytes, &t_err));
        T_STR(id, c->ids[i]);
    }
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_encoder_close(e);
    leat_dataset_close(d);
}

static void add_inputs(struct leat_packer *p)
{
    uint64_t number;

    T_OK(leat_packer_add_input(p, "table.parquet", &number, &t_err));
    T_EQ(number, 0);
    T_OK(leat_packer_add_input(p, "other.parquet", &number, &t_err));
    T_EQ(number, 1);
}

/* Half as one column, the rest one by one. */
static void pack_column(const struct column *c, const char *path, unsigned threads, int wide)
{
    struct leat_pack_options o = options_with(threads);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_texts t = LEAT_TEXTS_INIT;
    struct leat_packer *p;

    T_OK(leat_packer_open(&p, path, &o, &t_err));
    add_inputs(p);
    t.count = c->count / 2;
    t.data = c->data;
    t.offsets32 = wide ? NULL : c->ends32;
    t.offsets64 = wide ? c->ends64 : NULL;
    t.origins = c->origins;
    T_OK(leat_packer_add_texts(p, &t, &t_err));
    if (wide) { /* by their lengths */
        uint64_t lengths[2] = { 0 };
        struct leat_texts some = LEAT_TEXTS_INIT;

        for (uint64_t i = t.count; i < c->count && some.count < 2; i++)
            lengths[some.count++] = (uint64_t)(c->ends64[i + 1] - c->ends64[i]);
        some.data = c->data + c->ends64[t.count];
        some.lengths = lengths;
        some.origins = c->origins + t.count;
        T_OK(leat_packer_add_texts(p, &some, &t_err));
        t.count += some.count;
    }
    for (uint64_t i = t.count; i < c->count; i++)
        T_OK(add_one_text(p, c->data + c->ends64[i], (uint64_t)(c->ends64[i + 1] - c->ends64[i]), NULL, 0,
                          &c->origins[i], &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.documents, c->count);
    T_EQ(report.text_bytes, (uint64_t)c->ends64[c->count]);
}

static void same_files(const char *a, const char *b)
{
    for (int i = 0; i < 2; i++) {
        T_CHECK(system(t_text("cmp '%s%s' '%s%s'", a, i ? ".leat" : ".tokens", b, i ? ".leat" : ".tokens")) == 0);
    }
}

static void test_columns(uint64_t *seed)
{
    static struct column c;

    for (unsigned round = 0; round < 8; round++) {
        fill(&c, 1 + t_below(seed, 500), seed);
        pack_column(&c, t_path(folder, "a"), 1, 0);
        pack_column(&c, t_path(folder, "b"), 1 + (unsigned)t_below(seed, 4), 1);
        same_files(t_path(folder, "a"), t_path(folder, "b"));
        write_plainly(&c, t_path(folder, "b"));
    }
}

/* Suspended at every third text, and resumed by another packer: the same bytes, and the note comes back. */
static void test_resume(uint64_t *seed)
{
    static struct column c;
    struct leat_pack_options o = options_with(2);
    struct leat_packer *p;
    uint64_t next = 0, bytes;
    const void *note;

    fill(&c, 60, seed);
    pack_column(&c, t_path(folder, "whole"), 2, 0);
    o.force = 0;
    T_OK(leat_packer_open(&p, t_path(folder, "r"), &o, &t_err));
    leat_packer_note(p, &note, &bytes);
    T_EQ(bytes, 0);
    add_inputs(p);
    while (next < c.count) {
        for (uint64_t end = next + 3; next < end; next++)
            T_OK(add_one_text(p, c.data + c.ends64[next], (uint64_t)(c.ends64[next + 1] - c.ends64[next]), NULL, 0,
                              &c.origins[next], &t_err));
        T_OK(leat_packer_checkpoint(p, &next, sizeof next, &t_err));
        /* what comes after the checkpoint is lost */
        T_OK(add_one_text(p, "lost", 4, NULL, 0, NULL, &t_err));
        leat_packer_suspend(p);
        T_STATUS(leat_packer_open(&p, t_path(folder, "r"), &o, &t_err), LEAT_E_EXISTS);
        o.resume = 1;
        T_OK(leat_packer_open(&p, t_path(folder, "r"), &o, &t_err));
        o.resume = 0;
        leat_packer_note(p, &note, &bytes);
        T_EQ(bytes, sizeof next);
        memcpy(&next, note, sizeof next);
    }
    T_OK(leat_packer_finish(p, NULL, &t_err));
    same_files(t_path(folder, "whole"), t_path(folder, "r"));
}

/*
 * A packer made checkpoints by itself after 128 MiB of text, with which only the caller could have put a note: resumed
 * from one, it did not say how much it had, and the caller gave everything twice.
 */
static void test_no_checkpoint_without_a_note(void)
{
    enum { MIB = 1 << 20 };
    struct leat_pack_options o = options_with(2);
    struct leat_packer *p;
    struct leat_tokenizer *bytes;
    char *text = malloc(MIB);

    T_OK(leat_tokenizer_open(&bytes, "bytes", NULL, &t_err));
    o.tokenizer = bytes;
    o.end_token = LEAT_NONE;
    o.memory = 256 * MIB; /* so that little is on its way at the end */
    o.force = 0;
    T_CHECK(text != NULL);
    memset(text, 'x', MIB);
    T_OK(leat_packer_open(&p, t_path(folder, "long"), &o, &t_err));
    for (unsigned i = 0; i < 180; i++)
        T_OK(add_one_text(p, text, MIB, NULL, 0, NULL, &t_err));
    leat_packer_suspend(p);
    free(text);
    /* nothing is left that could be resumed */
    o.memory = (uint64_t)2048 * MIB; /* sanitizers keep what was freed */
    T_OK(leat_packer_open(&p, t_path(folder, "long"), &o, &t_err));
    leat_packer_abandon(p);
    leat_tokenizer_close(bytes);
}

static void test_rejects(void)
{
    struct leat_pack_options o = options_with(2);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_origin origin = { .input = 0, .offset = 12, .line = 3 };
    struct leat_packer *p;
    char line[512] = "";
    FILE *f;

    o.reject_invalid = 1;
    o.max_rejects = 1;
    T_OK(leat_packer_open(&p, t_path(folder, "x"), &o, &t_err));
    add_inputs(p);
    T_OK(add_one_text(p, "fine", 4, NULL, 0, &origin, &t_err));
    T_OK(add_one_text(p, "a\xff", 2, NULL, 0, &origin, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.documents, 1);
    T_EQ(report.rejects, 1);
    f = fopen(t_path(folder, "x.rejects.jsonl"), "r");
    T_CHECK(f && fgets(line, sizeof line, f));
    T_CONTAINS(line, "\"input\":\"table.parquet\",\"offset\":12,\"line\":3,");
    T_CONTAINS(line, "not valid UTF-8 at its byte 2");
    if (f)
        fclose(f);
    /* one too many ends it, at the latest at the end, and the packer says so from then on, with the caller's name */
    T_CHECK(chdir(folder) == 0 && unlink("x.rejects.jsonl") == 0);
    T_OK(leat_packer_open(&p, "x", &o, &t_err));
    for (int i = 0; i < 2; i++)
        T_OK(add_one_text(p, "\xff", 1, NULL, 0, NULL, &t_err));
    T_REFUSED(leat_packer_finish(p, NULL, &t_err), LEAT_E_REJECTS, "allowed; x.rejects.jsonl lists them");
    T_STATUS(add_one_text(p, "more", 4, NULL, 0, NULL, &t_err), LEAT_E_REJECTS);
    leat_packer_abandon(p);
    T_CHECK(access("x.rejects.jsonl", F_OK) == 0);
}

/* Ids that are too many are rejected with their place. The line had no offset, and 0 where no line is known. */
static void test_rejected_ids(void)
{
    struct leat_pack_options o = options_with(1);
    struct leat_origin origin = { .input = 0, .offset = 12 };
    const uint32_t ids[] = { 1, 2, 3, 4 };
    struct leat_packer *p;
    char line[512] = "";
    FILE *f;

    o.max_length = 3;
    o.max_rejects = 2;
    T_OK(leat_packer_open(&p, t_path(folder, "ids"), &o, &t_err));
    add_inputs(p);
    for (origin.line = 0; origin.line < 6; origin.line += 5)
        T_OK(add_one_of_ids(p, ids, NULL, 4, &origin, &t_err));
    T_OK(leat_packer_finish(p, NULL, &t_err));
    f = fopen(t_path(folder, "ids.rejects.jsonl"), "r");
    T_CHECK(f && fgets(line, sizeof line, f));
    T_CONTAINS(line, "\"input\":\"table.parquet\",\"offset\":12,\"line\":null,");
    T_CHECK(fgets(line, sizeof line, f));
    T_CONTAINS(line, "\"offset\":12,\"line\":5,");
    fclose(f);
}

/*
 * Where a run had come to its end, resuming it said no more than that the name exists already; and it removed the
 * refused records that the run had told.
 */
static void test_finished_already(void)
{
    struct leat_pack_options o = options_with(1);
    struct leat_packer *p;

    for (int with_input = 0; with_input < 2; with_input++) {
        const char *name = with_input ? "done.with" : "done";

        o.reject_invalid = 1;
        o.resume = 0;
        o.force = 1;
        T_OK(leat_packer_open(&p, t_path(folder, name), &o, &t_err));
        if (with_input)
            add_inputs(p);
        T_OK(add_one_text(p, "fine", 4, NULL, 0, NULL, &t_err));
        T_OK(add_one_text(p, "a\xff", 2, NULL, 0, NULL, &t_err));
        T_OK(leat_packer_finish(p, NULL, &t_err));
        o.resume = 1;
        o.force = 0;
        T_REFUSED(leat_packer_open(&p, t_path(folder, name), &o, &t_err), LEAT_E_EXISTS, "is finished already");
        T_CHECK(!p);
        T_CHECK(access(t_path(folder, with_input ? "done.with.rejects.jsonl" : "done.rejects.jsonl"), F_OK) == 0);
        /* of another run than that: the same */
        o.reject_invalid = 0;
        T_REFUSED(leat_packer_open(&p, t_path(folder, name), &o, &t_err), LEAT_E_EXISTS, "is finished already");
    }
}

/*
 * With a relative name all files lie in the folder where the packer was opened, also after the process has gone to
 * another one: the run was lost, and its files stayed.
 */
static void test_other_folder(void)
{
    struct leat_pack_options o = options_with(2);
    struct leat_packer *p;
    char home[600], away[600];

    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(away, sizeof away, "%s/away", folder);
    T_CHECK(mkdir(home, 0777) == 0 && mkdir(away, 0777) == 0);
    o.reject_invalid = 1;
    o.force = 0;
    for (int end = 0; end < 3; end++) { /* abandoned, suspended, finished */
        T_CHECK(chdir(home) == 0);
        o.resume = end == 2;
        T_OK(leat_packer_open(&p, "x", &o, &t_err));
        T_CHECK(chdir(away) == 0);
        T_OK(add_one_text(p, "fine", 4, NULL, 0, NULL, &t_err));
        T_OK(add_one_text(p, "a\xff", 2, NULL, 0, NULL, &t_err));
        T_OK(leat_packer_checkpoint(p, NULL, 0, &t_err));
        if (end == 0)
            leat_packer_abandon(p);
        else if (end == 1)
            leat_packer_suspend(p);
        else
            T_OK(leat_packer_finish(p, NULL, &t_err));
        if (end != 1)
            T_EQ(t_files(home), end == 0 ? 2 : 5);
        T_EQ(t_files(away), 2);
    }
    T_CHECK(access(t_path(home, "x.rejects.jsonl"), F_OK) == 0 && access(t_path(home, "x.leat"), F_OK) == 0);
    T_CHECK(chdir("/") == 0);
}

/* In a child of the process every call waited for threads that only the parent has. */
static void test_child(void)
{
    static const uint32_t ids[] = { 1 };
    struct leat_pack_options o = options_with(2);
    struct leat_texts none = LEAT_TEXTS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_packer *p;
    int status;
    pid_t child;

    for (int suspend = 0; suspend < 2; suspend++) {
        T_OK(leat_packer_open(&p, t_path(folder, "forked"), &o, &t_err));
        T_OK(add_one_text(p, "a", 1, NULL, 0, NULL, &t_err));
        T_OK(leat_packer_checkpoint(p, NULL, 0, &t_err));
        T_OK(add_one_text(p, "b", 1, NULL, 0, NULL, &t_err));
        child = fork();
        if (child == 0) {
            alarm(20);
            T_REFUSED(add_one_text(p, "c", 1, NULL, 0, NULL, &t_err), LEAT_E_FORKED, "after fork");
            T_STATUS(leat_packer_add_texts(p, &none, &t_err), LEAT_E_FORKED);
            T_STATUS(add_one_of_ids(p, ids, NULL, 1, NULL, &t_err), LEAT_E_FORKED);
            T_STATUS(leat_packer_add_input(p, "input", NULL, &t_err), LEAT_E_FORKED);
            T_STATUS(leat_packer_checkpoint(p, NULL, 0, &t_err), LEAT_E_FORKED);
            T_STATUS(leat_packer_finish(p, NULL, &t_err), LEAT_E_FORKED);
            (suspend ? leat_packer_suspend : leat_packer_abandon)(p);
            _exit(t_failures != 0);
        }
        T_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        T_OK(leat_packer_finish(p, &report, &t_err));
        T_EQ(report.documents, 2);
    }
}

/* They were taken and not done. */
static void test_no_arranging(void)
{
    static const struct leat_split splits[] = { { "valid", "0.1" } };

    for (int i = 0; i < 3; i++) {
        struct leat_pack_options o = options_with(1);
        struct leat_packer *p;

        o.shuffle = i == 0;
        o.dedup = i == 1;
        o.splits = i == 2 ? splits : NULL;
        o.split_count = i == 2;
        T_REFUSED(leat_packer_open(&p, t_path(folder, "arranged"), &o, &t_err), LEAT_E_ARGUMENT, "by merging it");
        T_CHECK(!p && access(t_path(folder, "arranged.partial.tokens"), F_OK) != 0);
    }
}

static void test_no_such_format(void)
{
    const char *standard_input = "-";
    struct leat_pack_options o = options_with(1);

    o.format = (enum leat_pack_format)RECORD_FORMAT_COUNT;
    T_REFUSED(leat_pack(t_path(folder, "format"), &standard_input, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT,
              "unknown input format");
}

static void test_ids_and_mistakes(void)
{
    static const uint32_t ids[] = { 1, 2, 50256 }, beyond[] = { 50257 };
    static const int32_t falling[] = { 0, 3, 2 };
    static const char big[(1 << 20) + 1];
    struct leat_pack_options o = options_with(1);
    struct leat_origin origin = { .input = 0 }, hashed = { .input = LEAT_NONE, .offset = LEAT_NONE, .line = LEAT_NONE };
    static const uint8_t hash[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    struct leat_texts t = LEAT_TEXTS_INIT;
    struct leat_dataset *d;
    struct leat_packer *p;
    uint64_t first, count;
    uint8_t stored[16];
    uint32_t have[8];

    T_OK(leat_packer_open(&p, t_path(folder, "i"), &o, &t_err));
    T_STATUS(add_one_of_ids(p, beyond, NULL, 1, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(add_one_text(p, "a", 1, NULL, 0, &origin, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_packer_add_input(p, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    t.count = 2;
    t.data = "abc";
    T_STATUS(leat_packer_add_texts(p, &t, &t_err), LEAT_E_ARGUMENT);
    t.offsets32 = falling;
    T_STATUS(leat_packer_add_texts(p, &t, &t_err), LEAT_E_ARGUMENT);
    t.lengths = &first;
    T_REFUSED(leat_packer_add_texts(p, &t, &t_err), LEAT_E_ARGUMENT, "exactly one of lengths, offsets32 and offsets64");
    T_REFUSED(leat_packer_checkpoint(p, big, sizeof big, &t_err), LEAT_E_ARGUMENT, "at most 1 MiB");
    T_OK(leat_packer_checkpoint(p, big, sizeof big - 1, &t_err));
    hashed.text_hash = hash;
    T_OK(add_one_of_ids(p, ids, NULL, 3, &hashed, &t_err));
    T_OK(add_one_text(p, "", 0, NULL, 0, NULL, &t_err));
    T_OK(add_one_of_ids(p, ids, NULL, 0, NULL, &t_err));
    T_OK(leat_packer_finish(p, NULL, &t_err));
    T_OK(leat_dataset_open(&d, t_path(folder, "i"), NULL, &t_err));
    T_OK(leat_dataset_document(d, 0, &first, &count, &t_err));
    T_EQ(count, 4);
    T_OK(leat_dataset_read_u32(d, 0, 6, have, &t_err));
    T_CHECK(memcmp(have, ids, sizeof ids) == 0);
    T_EQ(have[3], 50256);
    T_EQ(have[4], 50256);
    T_EQ(have[5], 50256);
    T_OK(leat_dataset_text_hashes(d, 0, 1, &stored, &t_err));
    T_CHECK(memcmp(stored, hash, sizeof hash) == 0);
    leat_dataset_close(d);

    o.tokenizer = NULL;
    T_STATUS(leat_packer_open(&p, t_path(folder, "n"), &o, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(!p);
    leat_packer_suspend(NULL);
    leat_packer_abandon(NULL);
}

/* Documents of ids, one by one and several at once, of either width. */
static void test_ids(uint64_t *seed)
{
    static const char *const names[] = { "one", "narrow", "wide" };
    uint16_t narrow[300];
    uint32_t wide[300];
    uint64_t lengths[9], total = 0;
    struct leat_origin origins[9];

    for (unsigned i = 0; i < 300; i++)
        wide[i] = narrow[i] = (uint16_t)t_below(seed, 50000);
    for (unsigned i = 0; i < 9; i++) {
        lengths[i] = t_below(seed, 4) ? t_below(seed, 30) : 0;
        origins[i] = (struct leat_origin) { .input = i % 2 ? LEAT_NONE : 1, .line = i % 3 ? 5 + i : LEAT_NONE };
        total += lengths[i];
    }
    T_CHECK(total <= 300);
    for (unsigned kind = 0; kind < 3; kind++) {
        struct leat_pack_options o = options_with(2);
        struct leat_documents d = LEAT_DOCUMENTS_INIT;
        struct leat_packer *p;

        T_OK(leat_packer_open(&p, t_path(folder, names[kind]), &o, &t_err));
        add_inputs(p);
        d.ids = kind == 1 ? (const void *)narrow : wide;
        d.id_width = kind == 1 ? 2 : 4;
        d.lengths = lengths;
        d.origins = origins;
        d.count = 9;
        for (uint64_t i = 0, at = 0; kind == 0 && i < 9; at += lengths[i++])
            T_OK(add_one_of_ids(p, wide + at, NULL, lengths[i], &origins[i], &t_err));
        if (kind > 0)
            T_OK(leat_packer_add_ids(p, &d, &t_err));
        d.id_width = 3;
        T_REFUSED(leat_packer_add_ids(p, &d, &t_err), LEAT_E_ARGUMENT, "ids have 2 or 4 bytes, not 3");
        T_OK(leat_packer_finish(p, NULL, &t_err));
        same_files(t_path(folder, names[0]), t_path(folder, names[kind]));
    }
}

/* leat_pack() with options that make no sense. */
static void test_wrong_options(void)
{
    const char *input = t_path(folder, "input.txt");
    struct leat_pack_options o = options_with(1);
    FILE *f = fopen(input, "w");

    T_CHECK(f && fputs("text", f) >= 0 && fclose(f) == 0);
    T_REFUSED(leat_pack(t_path(folder, "n"), NULL, 0, &o, NULL, &t_err), LEAT_E_ARGUMENT,
              "packing needs at least one input");
    T_REFUSED(leat_pack("", &input, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT, "needs an output and a tokenizer");
    for (uint32_t part = 0; part <= 3; part += 3) {
        o.part = part;
        o.parts = 2;
        T_REFUSED(leat_pack(t_path(folder, "n"), &input, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT,
                  "of 2: shares count from 1");
    }
    T_CHECK(access(t_path(folder, "n.leat"), F_OK) != 0 && access(t_path(folder, "n.partial.leat"), F_OK) != 0);
}

int main(void)
{
    uint64_t seed = t_seed();

    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "gpt2", NULL, &t_err));
    test_columns(&seed);
    test_ids(&seed);
    test_resume(&seed);
    test_no_checkpoint_without_a_note();
    test_rejects();
    test_rejected_ids();
    test_finished_already();
    test_other_folder();
    test_child();
    test_no_arranging();
    test_no_such_format();
    test_ids_and_mistakes();
    test_wrong_options();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
