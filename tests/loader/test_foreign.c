/*
 * test_foreign.c: files of other tools are opened in place (Megatron's, raw ones, llm.c's, Modalities', datatrove's):
 * each gives the tokens and documents that were written, by reading, verifying and loaders of all engines, alone and
 * beside leat's own. What such files lack is said when it is asked for; a file that is cut under a loader is an error;
 * the identity follows the content. test_foreign_refused.c has files that lie.
 */
#include "foreign_files.h"
#include "taken.h"

/* ---- What they give ---- */

static void check_tokens(const struct leat_dataset *d, unsigned width)
{
    static uint32_t ids[TOKENS];
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t wrong = 0;

    leat_dataset_info(d, &info);
    T_EQ(info.tokens, TOKENS);
    T_EQ(info.token_width, width);
    T_EQ(info.foreign_parts, 1);
    T_EQ(info.vocabulary, width == 2 ? 65536 : (uint64_t)1 << 31);
    T_OK(leat_dataset_read_u32(d, 0, TOKENS, ids, &t_err));
    for (uint64_t i = 0; i < TOKENS; i++)
        wrong += ids[i] != counting_token(i, width);
    T_EQ(wrong, 0);
}

static void check_lacking(const struct leat_dataset *d)
{
    struct leat_stored_tokenizer *tokenizer;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_origin origin;

    T_STATUS(leat_dataset_verify_range(d, 0, 1, &t_err), LEAT_E_NOT_FOUND);
    T_STATUS(leat_dataset_origins(d, 0, 1, &origin, &t_err), LEAT_E_NOT_FOUND);
    T_STATUS(leat_dataset_tokenizer(d, &tokenizer, &t_err), LEAT_E_NOT_FOUND);
    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    T_EQ(report.unhashed_parts, 1);
}

static void load_all(const struct leat_dataset *const *d, unsigned count, unsigned width)
{
    struct leat_plan_source sources[2] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct loading w = { .width = width, .mean = MEAN };

    for (unsigned i = 0; i < count; i++)
        sources[i] =
            (struct leat_plan_source) { .size = sizeof sources[i], .name = "s", .weight = "1", .dataset = d[i] };
    o.sources = sources;
    o.source_count = count;
    o.seq_len = 700;
    T_OK(leat_plan_open(&w.plan, &o, &t_err));
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++) {
        struct leat_loader_options l = LEAT_LOADER_OPTIONS_INIT;
        const struct leat_batch *b;
        struct leat_loader *loader;

        l.batch = 5;
        l.io.engine = e;
        l.io.threads = loading_threads[e % LOADING_THREADS];
        T_OK(leat_loader_open(&loader, w.plan, &l, &t_err));
        for (uint64_t k = 0; k < 6; k++) {
            T_OK(leat_loader_next(loader, &b, &t_err));
            loading_check(&w, b, k * l.batch);
            leat_batch_release(b, NULL);
        }
        leat_loader_close(loader);
    }
    leat_plan_close(w.plan);
}

/* Rows know where documents begin in them as they do of a dataset of leat's own with the same documents. */
static void check_rows(const struct leat_dataset *d, const struct leat_dataset *own)
{
    const struct leat_dataset *both[2] = { d, own };
    struct leat_loader_options l = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct taken taken[2];

    source.name = "s";
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 700;
    o.epochs = 1;
    l.batch = 5;
    l.last = LEAT_LAST_PADDED;
    for (unsigned i = 0; i < 2; i++) {
        struct loading w = { .plan = NULL };

        source.dataset = both[i];
        T_OK(leat_plan_open(&w.plan, &o, &t_err));
        taken[i] = taken_run(&w, l, UINT64_MAX);
        leat_plan_close(w.plan);
    }
    T_EQ(taken[0].batches, (TOKENS / 700 + 4) / 5);
    T_CHECK(taken_equal(&taken[0], &taken[1]));
}

static void check_name(const char *name, const char *kind, unsigned width, bool has_documents)
{
    struct leat_dataset *d = open_name(name), *own = open_name(in_folder(width == 2 ? "own2" : "own4"));
    const struct leat_dataset *both[2] = { d, own };
    struct leat_part part = LEAT_PART_INIT;

    if (!d)
        return;
    T_OK(leat_dataset_part(d, 0, &part, &t_err));
    T_STR(part.kind, kind);
    check_tokens(d, width);
    if (has_documents) {
        check_documents(d);
        check_rows(d, own);
    }
    check_lacking(d);
    load_all(both, 1, width);
    load_all(both, 2, width);
    leat_dataset_close(own);
    leat_dataset_close(d);
}

/* ---- Masks ---- */

/* Mask and tokens are read together, verified, and adopted: then they are sections of the index. */
static void check_masked(const char *name, const char *index, const uint8_t *mask)
{
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d = open_name(name);
    static uint8_t found[TOKENS];

    for (unsigned pass = 0; pass < 2; pass++) {
        leat_dataset_info(d, &info);
        T_EQ(info.stores_mask, 1);
        T_OK(leat_dataset_mask(d, 0, TOKENS, found, &t_err));
        for (uint64_t i = 0; i < TOKENS; i++)
            if (found[i] != (mask[i] ? 255 : 0))
                T_FAIL("%s: the mask of token %llu is %u", name, (unsigned long long)i, found[i]);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
        if (pass == 0)
            T_OK(leat_adopt(name, &options, NULL, &t_err));
        if (pass == 0)
            d = open_name(in_folder(index));
    }
    T_CHECK(unlink(in_folder(index)) == 0);
}

/* The same tokens with another mask, or none, are another dataset. */
static void check_masked_identity(void)
{
    struct leat_info a = LEAT_INFO_INIT, b = LEAT_INFO_INIT;
    struct leat_dataset *d = open_name(in_folder("a.ds"));

    leat_dataset_info(d, &a);
    leat_dataset_close(d);
    patch("a.ds.loss", 1, "\1", 1);
    d = open_name(in_folder("a.ds"));
    leat_dataset_info(d, &b);
    leat_dataset_close(d);
    T_CHECK(memcmp(a.identity, b.identity, 16) != 0);
    patch("a.ds.loss", 1, "\0", 1);
}

static void check_masks(void)
{
    static uint8_t mask[TOKENS];
    struct leat_dataset *d;

    for (uint64_t i = 0; i < TOKENS; i++)
        mask[i] = i % 7 < 3;
    mask[1] = 0;
    write_bytes("a.ds.loss", mask, TOKENS);
    check_masked(in_folder("a.ds"), "a.ds.leat", mask);
    check_masked_identity();
    check_masked(t_text("raw:%s?dtype=u16&mask=a.ds.loss&end=%u", in_folder("raw.npy"), END), "raw.npy.leat", mask);
    leat_dataset_close(open_name(t_text("raw:%s?dtype=u16&mask=%s", in_folder("raw.npy"), in_folder("a.ds.loss"))));

    patch("a.ds.loss", 50000, "\2", 1);
    d = open_name(in_folder("a.ds"));
    T_OK(leat_dataset_mask(d, 0, 50000, mask, &t_err));
    T_REFUSED(leat_dataset_mask(d, 0, TOKENS, mask, &t_err), LEAT_E_TOKEN, "byte 50000 of");
    T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_TOKEN);
    leat_dataset_close(d);
    T_CHECK(truncate(in_folder("a.ds.loss"), TOKENS - 1) == 0);
    refuse(in_folder("a.ds"), LEAT_E_MISMATCH, "a mask has one for each token");
    refuse(t_text("datatrove:%s?mask=x", in_folder("a.ds")), LEAT_E_ARGUMENT, "without mask=");
    T_CHECK(unlink(in_folder("a.ds.loss")) == 0);
}

/* llm.c counts in 32 bits: what is beyond 2 GiB, or 2^32 tokens, is there all the same. A sparse file. */
static void check_large_llmc(void)
{
    const uint64_t tokens = ((uint64_t)1 << 32) + 5;
    uint8_t head[12];
    struct leat_dataset *d;
    struct leat_info info = LEAT_INFO_INIT;
    uint32_t last[2];

    bytes_store32(head, 20240520);
    bytes_store32(head + 4, 1);
    bytes_store32(head + 8, 5);
    write_bytes("large.bin", head, sizeof head);
    if (truncate(in_folder("large.bin"), (off_t)(1024 + 2 * tokens)) != 0) {
        T_CHECK(errno == EFBIG || errno == ENOSPC);
        return;
    }
    patch("large.bin", 1024 + 2 * (tokens - 1), "\x34\x12", 2);
    d = open_name(in_folder("large.bin"));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, tokens);
    T_OK(leat_dataset_read_u32(d, tokens - 2, 2, last, &t_err));
    T_EQ(last[0], 0);
    T_EQ(last[1], 0x1234);
    leat_dataset_close(d);
    unlink(in_folder("large.bin"));
}

/* ---- Ids below 0 ---- */

static enum leat_status load_until(struct leat_dataset *d, enum leat_engine engine, uint32_t verify)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options l = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *loader;
    struct leat_plan *plan;
    enum leat_status s = LEAT_OK;

    source.name = "s";
    source.weight = "1";
    source.dataset = d;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 700;
    o.epochs = 1;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    l.batch = 5;
    l.io.engine = engine;
    l.io.verify = verify;
    T_OK(leat_loader_open(&loader, plan, &l, &t_err));
    while ((s = leat_loader_next(loader, &b, &t_err)) == LEAT_OK)
        leat_batch_release(b, NULL);
    leat_loader_close(loader);
    leat_plan_close(plan);
    return s;
}

static void check_negative(void)
{
    char names[2][700];
    const char *const list[2] = { names[0], names[1] };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint32_t ids[10];

    write_megatron("m", 4);
    patch32("m.bin", 4 * 30000, (uint32_t)-3);
    d = open_name(in_folder("m"));
    T_OK(leat_dataset_read_u32(d, 29990, 10, ids, &t_err));
    T_REFUSED(leat_dataset_read_u32(d, 29991, 10, ids, &t_err), LEAT_E_TOKEN, "token 30000 of");
    T_CONTAINS(t_err.message, "is -3");
    T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_TOKEN);
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++) {
        T_EQ(load_until(d, e, 1), LEAT_E_TOKEN);
        T_CONTAINS(t_err.message, "token 30000 of");
        T_EQ(load_until(d, e, 0), LEAT_E_END);
    }
    leat_dataset_close(d);
    write_megatron("m", 4);
    /* in a list, what leat's own knows counts for all */
    snprintf(names[0], sizeof names[0], "%s", in_folder("m"));
    snprintf(names[1], sizeof names[1], "%s", in_folder("own4"));
    T_OK(leat_dataset_open_list(&d, list, 2, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.vocabulary, (uint64_t)1 << 20);
    leat_dataset_close(d);
}

/* ---- A file that shrinks ---- */

static void check_shrinking(void)
{
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++) {
        struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
        struct leat_dataset *d;

        write_megatron("m", 2);
        o.access = LEAT_ACCESS_READ;
        T_OK(leat_dataset_open(&d, in_folder("m"), &o, &t_err));
        T_CHECK(truncate(in_folder("m.bin"), 1000) == 0);
        T_EQ(load_until(d, e, 1), LEAT_E_TRUNCATED);
        leat_dataset_close(d);
    }
    write_megatron("m", 2);
}

/* ---- Joined, and named ---- */

/* As long as a file's name can be: NAME.leat would be too long. */
static void check_long_name(void)
{
    const char *name = t_text("%s/%0250d.pbin", folder, 0);

    T_EQ(link(in_folder("a.pbin"), name), 0);
    leat_dataset_close(open_name(name));
    T_EQ(unlink(name), 0);
}

static void check_joined(void)
{
    const char *names[] = { in_folder("m"), in_folder("own2"), raw_name(2) };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    T_OK(leat_dataset_open_list(&d, names, 2, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, 2 * TOKENS);
    T_EQ(info.documents, 2 * documents);
    T_EQ(info.foreign_parts, 1);
    leat_dataset_close(d);
    t_write_text(in_folder("list"), t_text("m\nraw:raw.npy?dtype=u16\nllmc:llmc.bin\nmegatron:%s\n", in_folder("m")));
    d = open_name(t_text("@%s", in_folder("list")));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, 4 * TOKENS);
    T_EQ(info.documents, LEAT_NONE);
    T_EQ(info.foreign_parts, 4);
    leat_dataset_close(d);
    /* end tokens that are known and differ */
    names[1] = t_text("%s&end=3", raw_name(2));
    names[2] = t_text("%s&end=4", raw_name(2));
    T_OK(leat_dataset_open_list(&d, names, 2, NULL, &t_err));
    leat_dataset_close(d);
    T_REFUSED(leat_dataset_open_list(&d, names, 3, NULL, &t_err), LEAT_E_INCOMPATIBLE,
              "end-of-document token is 3 and 4");
    names[1] = t_text("%s&begin=3", raw_name(2));
    names[2] = t_text("%s&begin=4", raw_name(2));
    T_REFUSED(leat_dataset_open_list(&d, names, 3, NULL, &t_err), LEAT_E_INCOMPATIBLE, "begin token is 3 and 4");
    names[2] = in_folder("own2");
    T_STATUS(leat_dataset_open_list(&d, names, 3, NULL, &t_err), LEAT_E_INCOMPATIBLE);
}

static void check_identity(void)
{
    struct leat_info a = LEAT_INFO_INIT, b = LEAT_INFO_INIT;
    struct leat_dataset *d = open_name(in_folder("m"));

    leat_dataset_info(d, &a);
    leat_dataset_close(d);
    write_megatron("n", 2);
    d = open_name(in_folder("n.idx"));
    leat_dataset_info(d, &b);
    T_CHECK(memcmp(a.identity, b.identity, 16) == 0);
    leat_dataset_close(d);
    patch("n.bin", 2 * TOKENS - 1, "\xfe", 1);
    d = open_name(in_folder("n.bin"));
    leat_dataset_info(d, &b);
    T_CHECK(memcmp(a.identity, b.identity, 16) != 0);
    leat_dataset_close(d);
}

int main(void)
{
    begin_foreign();
    for (unsigned width = 2; width <= 4; width += 2) {
        loading_write(in_folder(width == 2 ? "own2" : "own4"), TOKENS, width, MEAN);
        write_megatron("m", width);
        write_flat(width);
        check_name(in_folder("m"), "megatron", width, true);
        check_name(raw_name(width), "raw", width, false);
        check_name(in_folder("llmc.bin"), "llmc", width, false);
        check_name(in_folder("a.pbin"), "pbin", width, false);
        check_name(in_folder("a.ds"), "datatrove", width, true);
    }
    check_negative();
    write_megatron("m", 2);
    write_flat(2);
    check_masks();
    check_long_name();
    check_joined();
    check_shrinking();
    check_identity();
    check_large_llmc();
    free(out);
    return t_end();
}
