/*
 * test_foreign_faults.c: whichever allocation or system call fails while a file of another tool is opened and read, its
 * documents found and its samples planned, while it is adopted, or while what was adopted is read: an error that says
 * so, and nothing left allocated or open; or the answers of the undisturbed run.
 */
#include "base/bytes.h"
#include "each_call.h"
#include "pieces_of.h"
#include "small.h"

#define TOKENS    3000u
#define DOCUMENTS 100u
#define END       7u

static char work[560];
static uint8_t made[10 * TOKENS];
static size_t made_bytes;

/* ---- The files ---- */

static void put(uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        made[made_bytes++] = (uint8_t)(value >> 8 * i);
}

static void end_file(const char *name)
{
    t_write(t_path(work, name), made, made_bytes);
    made_bytes = 0;
}

/* Every document has 30 tokens, and ends with END. */
static void put_tokens(unsigned width)
{
    for (uint64_t i = 0; i < TOKENS; i++)
        put(i % 30 == 29 ? END : 100 + i, width);
}

static void write_files(void)
{
    put_tokens(2);
    end_file("raw");
    put_tokens(4);
    end_file("wide");
    for (uint64_t i = 0; i < TOKENS; i++)
        put(i % 3 == 0, 1);
    end_file("mask");
    put(20240520, 4);
    put(1, 4);
    put(TOKENS, 4);
    for (unsigned i = 3; i < 256; i++)
        put(0, 4);
    put_tokens(2);
    end_file("llmc");
    put(278895051, 4);
    put(1, 4);
    put(TOKENS, 4);
    put(2, 4);
    for (unsigned i = 4; i < 256; i++)
        put(0, 4);
    for (uint64_t i = 0; i < TOKENS; i++)
        put(i % 30 == 0 ? END : 100 + i, 2);
    end_file("nemo.bin");
    for (uint64_t d = 0; d < DOCUMENTS; d++)
        put(1024 + 60 * d, 4);
    end_file("nemo.bos.idx");
    put(2 * TOKENS, 8);
    put(2, 4);
    put_tokens(2);
    end_file("a.pbin");
    put_tokens(2);
    end_file("a.ds");
    for (uint64_t d = 1; d <= DOCUMENTS; d++)
        put(30 * d, 8);
    end_file("a.ds.index");
    for (uint64_t i = 0; i < TOKENS; i++)
        put(i % 5 == 0, 1);
    end_file("a.ds.loss");
    put_tokens(2);
    end_file("m.bin");
    memcpy(made, "MMIDIDX\0\0", 9);
    made_bytes = 9;
    put(1, 8);
    put(8, 1);
    put(DOCUMENTS, 8);
    put(DOCUMENTS + 1, 8);
    for (uint64_t d = 0; d < DOCUMENTS; d++)
        put(30, 4);
    for (uint64_t d = 0; d < DOCUMENTS; d++)
        put(60 * d, 8);
    for (uint64_t d = 0; d <= DOCUMENTS; d++)
        put(d, 8);
    end_file("m.idx");
}

/* Without what runs leave: documents that were found, and unfinished indexes. */
static void prepare(void)
{
    clear_folder(work);
    make_folder(with(work, "/elsewhere"));
    write_files();
}

/* A name with the folder, as in "raw:%/raw". */
static const char *full_name(const char *name)
{
    const char *at = strchr(name, '%');

    return t_text("%.*s%s%s", (int)(at - name), name, work, at + 1);
}

/* ---- What is done with them ---- */

static enum leat_status ask(const struct leat_dataset *d, uint64_t *answer, struct leat_error *err)
{
    static uint32_t ids[TOKENS];
    static uint8_t mask[TOKENS];
    uint64_t starts[DOCUMENTS + 1], document, count;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = leat_dataset_read_u32(d, 0, TOKENS, ids, err);

    each_call_answer(answer, ids, sizeof ids);
    leat_dataset_info(d, &info);
    if (s == LEAT_OK && info.documents == DOCUMENTS)
        s = leat_dataset_starts(d, 0, DOCUMENTS + 1, starts, err);
    if (s == LEAT_OK && info.documents == DOCUMENTS) {
        each_call_answer(answer, starts, sizeof starts);
        s = leat_dataset_documents_in(d, 1234, 1000, &document, &count, err);
        each_call_number(answer, document + 1000 * count);
    }
    if (s == LEAT_OK && info.stores_mask) {
        s = leat_dataset_mask(d, 0, TOKENS, mask, err);
        each_call_answer(answer, mask, sizeof mask);
    }
    return s == LEAT_OK ? leat_dataset_verify(d, NULL, NULL, err) : s;
}

static enum leat_status read_name(const char *name, uint64_t *answer, struct leat_error *err)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;
    enum leat_status s;

    o.access = LEAT_ACCESS_READ;
    o.retry_seconds = LEAT_RETRY_NEVER;
    s = leat_dataset_open(&d, full_name(name), &o, err);
    if (s == LEAT_OK)
        s = ask(d, answer, err);
    else
        T_CHECK(d == NULL);
    leat_dataset_close(d);
    return s;
}

/* Rows of documents, and of Megatron's. */
static enum leat_status plan_name(const char *name, uint64_t *answer, struct leat_error *err)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    enum leat_status s = LEAT_OK;
    struct leat_piece pieces[40];
    struct leat_plan *plan;
    uint64_t count;

    source.name = full_name(name);
    open.access = LEAT_ACCESS_READ;
    open.retry_seconds = LEAT_RETRY_NEVER;
    o.open = &open;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 70;
    for (unsigned i = 0; s == LEAT_OK && i < 2; i++) {
        o.order = i == 0 ? LEAT_ORDER_DOCUMENTS : LEAT_ORDER_MEGATRON;
        s = leat_plan_open(&plan, &o, err);
        for (uint64_t n = 0; s == LEAT_OK && n < 20; n++) {
            s = pieces_of(plan, n, pieces, 40, &count, err);
            if (s == LEAT_OK)
                each_call_answer(answer, pieces, count * sizeof pieces[0]);
        }
        leat_plan_close(plan);
    }
    return s;
}

static uint32_t stop(void *context, uint64_t done, uint64_t total)
{
    return *(const bool *)context && done > 0 && total > 0;
}

/* The index lies beside the file if `output` is NULL. */
static enum leat_status adopt(const char *name, const char *output, bool stopped, uint64_t *answer,
                              struct leat_error *err)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    char index[1200] = "";
    enum leat_status s;

    o.output = output;
    o.progress = stop;
    o.context = &stopped;
    o.index = index;
    o.index_capacity = sizeof index;
    o.end_token = END;
    s = leat_adopt(full_name(name), &o, &info, err);
    if (s == LEAT_OK)
        T_EQ(access(index, F_OK), 0);
    each_call_answer(answer, info.identity, sizeof info.identity);
    each_call_number(answer, info.tokens + 10000 * info.documents);
    return s;
}

static enum leat_status adopt_name(const char *name, uint64_t *answer, struct leat_error *err)
{
    return adopt(name, NULL, false, answer, err);
}

/* Stopped, which keeps what was done if that can be kept, and then to the end. */
static enum leat_status adopt_again(const char *name, uint64_t *answer, struct leat_error *err)
{
    uint64_t none;
    enum leat_status s;
    const char *output = t_text("%s/elsewhere/index", work);

    s = adopt(name, output, true, &none, err);
    return s == LEAT_E_STOPPED ? adopt(name, output, false, answer, err) : s;
}

static const char *const names[] = {
    "raw:%/raw?dtype=u16",
    "raw:%/raw?dtype=u16&end=7&mask=mask",
    "raw:%/wide?dtype=u32&begin=100&tokenizer=some",
    "llmc:%/llmc?end=7",
    "%/llmc",
    "%/nemo.bin",
    "pbin:%/a.pbin?end=7",
    "%/a.pbin",
    "%/a.ds",
    "megatron:%/m",
    "%/m.idx",
};

/* With an index of leat's, which says where the tokens are. */
static void prepare_adopted(void)
{
    uint64_t answer = 0;

    prepare();
    T_OK(adopt_name("%/a.ds", &answer, &t_err));
}

int main(void)
{
    static const char *const adopted[] = { "raw:%/raw?dtype=u16&mask=mask", "%/a.ds", "megatron:%/m" };

    snprintf(work, sizeof work, "%s/work", t_folder());
    make_folder(work);
    T_CHECK(setenv("LEAT_RETRY_SECONDS", "0", 1) == 0); /* what fails is an error at once, as with the options above */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        each_call_fails(&(struct each_call) { .run = read_name, .subject = names[i], .prepare = prepare });
    each_call_fails(&(struct each_call) { .run = plan_name, .subject = "megatron:%/m", .prepare = prepare });
    each_call_fails(
        &(struct each_call) { .run = plan_name, .subject = "raw:%/raw?dtype=u16&end=7", .prepare = prepare });
    for (size_t i = 0; i < sizeof adopted / sizeof adopted[0]; i++)
        each_call_fails(&(struct each_call) { .run = adopt_name, .subject = adopted[i], .prepare = prepare });
    each_call_fails(
        &(struct each_call) { .run = adopt_again, .subject = "raw:%/raw?dtype=u16&end=7", .prepare = prepare });
    each_call_fails(&(struct each_call) { .run = read_name, .subject = "%/a.ds.leat", .prepare = prepare_adopted });
    return t_end();
}
