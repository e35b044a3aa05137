/*
 * test_foreign.c: files of other tools are opened in place: Megatron's, raw ones, llm.c's, Modalities', datatrove's, of
 * 2 and 4 bytes per token. Each gives the tokens and documents that were written, by reading, by verifying and by
 * loaders of all engines, alone and beside leat's own in one plan and one list. What such files lack is said when it is
 * asked for; headers and indexes that lie are refused by name, as is a negative id when it is met. A file that is cut
 * under a loader is an error. Documents found by their end token are kept in a side file, which counts as long as the
 * file stays as it is, and are found again without one. The identity of a dataset follows its content, not its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "dataset/dataset.h"
#include "dataset/part_megatron.h"
#include "loading.h"

#define TOKENS 60000u
#define MEAN   60u
#define END    7u /* what documents of raw files end with here */

typedef unsigned long long ull;

static char folder[512], path[700];
static uint64_t starts[TOKENS + 1], documents;

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, uint64_t count)
{
    int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0666);

    T_CHECK(fd >= 0 && write(fd, bytes, count) == (ssize_t)count);
    close(fd);
}

static void patch(const char *name, uint64_t at, const void *bytes, uint64_t count)
{
    int fd = open(in_folder(name), O_WRONLY);

    T_CHECK(fd >= 0 && pwrite(fd, bytes, count, (off_t)at) == (ssize_t)count);
    close(fd);
}

static void patch64(const char *name, uint64_t at, uint64_t value)
{
    uint8_t bytes[8];

    bytes_store64(bytes, value);
    patch(name, at, bytes, 8);
}

static void patch32(const char *name, uint64_t at, uint32_t value)
{
    uint8_t bytes[4];

    bytes_store32(bytes, value);
    patch(name, at, bytes, 4);
}

/* ---- The files ---- */

static uint8_t *out;
static uint64_t out_bytes;

static void put(uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[out_bytes++] = (uint8_t)(value >> 8 * i);
}

static void put_tokens(unsigned width)
{
    for (uint64_t i = 0; i < TOKENS; i++)
        put(counting_token(i, width), width);
}

static void end_file(const char *name)
{
    write_bytes(name, out, out_bytes);
    out_bytes = 0;
}

/* Every third document is two sequences, the second of which may be empty. */
static void write_megatron(const char *prefix, unsigned width)
{
    uint64_t sequences = documents + (documents + 2) / 3, at = 0;
    char name[100];

    put_tokens(width);
    snprintf(name, sizeof name, "%s.bin", prefix);
    end_file(name);
    memcpy(out, "MMIDIDX\0\0", 9);
    out_bytes = 9;
    put(1, 8);
    put(width == 2 ? 8 : 4, 1);
    put(sequences, 8);
    put(documents + 1, 8);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t d = 0; d < documents; d++) {
            uint64_t length = starts[d + 1] - starts[d], first = d % 3 == 0 ? length - length / 7 : length;

            put(pass == 0 ? first : starts[d] * width, pass == 0 ? 4 : 8);
            if (d % 3 == 0)
                put(pass == 0 ? length - first : (starts[d] + first) * width, pass == 0 ? 4 : 8);
        }
    for (uint64_t d = 0; d <= documents; d++) {
        put(at, 8);
        at += 1 + (d % 3 == 0);
    }
    snprintf(name, sizeof name, "%s.idx", prefix);
    end_file(name);
}

static void write_flat(unsigned width)
{
    put_tokens(width);
    end_file("raw.npy");
    put(width == 2 ? 20240520 : 20240801, 4);
    put(width == 2 ? 1 : 7, 4);
    put(TOKENS, 4);
    for (unsigned i = 3; i < 256; i++)
        put(0, 4);
    put_tokens(width);
    end_file("llmc.bin");
    put((uint64_t)TOKENS * width, 8);
    put(width, 4);
    put_tokens(width);
    put(0x4e2e2e2e28, 5); /* a pickle, which nothing reads */
    end_file("a.pbin");
    put_tokens(width);
    end_file("a.ds");
    for (uint64_t d = 1; d <= documents; d++)
        put(starts[d], 8);
    end_file("a.ds.index");
}

static const char *raw_name(unsigned width)
{
    static char name[800];

    snprintf(name, sizeof name, "raw:%s?dtype=u%u", in_folder("raw.npy"), 8 * width);
    return name;
}

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

static void check_documents(const struct leat_dataset *d)
{
    static uint64_t found[TOKENS + 1];
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t first, count, document, n, wrong = 0;

    leat_dataset_info(d, &info);
    T_EQ(info.documents, documents);
    T_OK(leat_dataset_starts(d, 0, documents + 1, found, &t_err));
    T_CHECK(memcmp(found, starts, 8 * (documents + 1)) == 0);
    for (uint64_t k = 0; k < documents; k += 37) {
        T_OK(leat_dataset_document(d, k, &first, &count, &t_err));
        if (count == 0)
            continue;
        T_OK(leat_dataset_documents_in(d, first, count, &document, &n, &t_err));
        wrong += first != starts[k] || count != starts[k + 1] - starts[k] || document != k || n != 1;
    }
    T_EQ(wrong, 0);
}

static void check_lacking(const struct leat_dataset *d)
{
    struct leat_stored_tokenizer *tokenizer;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_origin origin;

    T_STATUS(leat_dataset_verify_range(d, 0, 1, &t_err), LEAT_E_NOT_FOUND);
    T_STATUS(leat_dataset_origin(d, 0, &origin, &t_err), LEAT_E_NOT_FOUND);
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
        l.engine = e;
        l.threads = e & 1;
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

static struct leat_dataset *open_name(const char *name)
{
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    return d;
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
    if (has_documents)
        check_documents(d);
    check_lacking(d);
    load_all(both, 1, width);
    load_all(both, 2, width);
    leat_dataset_close(own);
    leat_dataset_close(d);
}

/* ---- What is refused ---- */

static void refuse(const char *name, enum leat_status status, const char *words)
{
    struct leat_dataset *d;

    T_STATUS(leat_dataset_open(&d, name, NULL, &t_err), status);
    T_CONTAINS(t_err.message, words);
}

static void check_megatron_lies(unsigned width)
{
    const uint64_t sequences = documents + (documents + 2) / 3, pointers = 34 + 4 * sequences,
                   entries = pointers + 8 * sequences;
    char prefix[700];
    struct leat_dataset *d;
    uint64_t first, count;

    snprintf(prefix, sizeof prefix, "%s", in_folder("m"));
    /* each lie alone: the files are written again before it */
#define LIE(change, status, words)                                                                                     \
    write_megatron("m", width);                                                                                        \
    change;                                                                                                            \
    refuse(prefix, status, words)
    LIE(patch("m.idx", 17, "\5", 1), LEAT_E_UNSUPPORTED, "its tokens are int64");
    LIE(patch("m.idx", 17, "\11", 1), LEAT_E_HEADER, "unknown type 9");
    LIE(patch("m.idx", 9, "\2", 1), LEAT_E_VERSION, "version 2");
    LIE(patch64("m.idx", 18, UINT64_MAX / 3), LEAT_E_TRUNCATED, "too few");
    LIE(patch64("m.idx", 26, UINT64_MAX), LEAT_E_TRUNCATED, "too few");
    LIE(patch64("m.idx", 26, 0), LEAT_E_HEADER, "no document index");
    LIE(patch64("m.idx", 26, documents), LEAT_E_HEADER, "bytes after its arrays");
    LIE(patch64("m.idx", entries, 1), LEAT_E_DOCUMENTS, "document index goes from sequence 1");
    LIE(patch64("m.idx", entries + 8 * documents, sequences - 1), LEAT_E_DOCUMENTS, "document index goes from");
    LIE(patch64("m.idx", entries - 8, 0), LEAT_E_MISMATCH, "do not belong together");
    LIE(T_CHECK(truncate(in_folder("m.bin"), (TOKENS - 1) * width) == 0), LEAT_E_TRUNCATED, "it is cut");
    LIE(T_CHECK(truncate(in_folder("m.bin"), TOKENS * width - 1) == 0), LEAT_E_TRUNCATED, "no multiple of");
    LIE(T_CHECK(truncate(in_folder("m.idx"), 33) == 0), LEAT_E_TRUNCATED, "at least 34");
    /* 32 bits of pointers: the last one, as far as opening looks */
    LIE(patch32("m.idx", entries - 4, UINT32_MAX), LEAT_E_DOCUMENTS, "its pointers wrap");
#undef LIE
    /* what opening does not see: met by who reads it, and by verifying */
    for (unsigned i = 0; i < 4; i++) {
        static const char *const words[4] = { "overlap or leave a gap", "does not fit into", "its pointers wrap",
                                              "document index is damaged" };

        write_megatron("m", width);
        if (i == 0)
            patch64("m.idx", pointers + 8 * 400, (starts[300] + 2) * width);
        else if (i == 1)
            patch32("m.idx", 34 + 4 * 400, UINT32_MAX - 5);
        else if (i == 2)
            patch32("m.idx", pointers + 8 * 400 + 4, UINT32_MAX);
        else
            patch64("m.idx", entries + 8 * 300, 1);
        d = open_name(prefix);
        T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_DOCUMENTS);
        T_CONTAINS(t_err.message, words[i]);
        if (i < 3) /* one entry alone does not look wrong */
            T_STATUS(leat_dataset_document(d, 300, &first, &count, &t_err), LEAT_E_DOCUMENTS);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        leat_dataset_close(d);
    }
    write_megatron("m", width);
    /* one mode per sequence may follow */
    memset(out, 0, sequences);
    patch("m.idx", entries + 8 * (documents + 1), out, sequences);
    d = open_name(prefix);
    check_documents(d);
    leat_dataset_close(d);
    write_megatron("m", width);
}

static void check_flat_lies(unsigned width)
{
    char name[800];

    refuse("raw:no?dtype=u8", LEAT_E_ARGUMENT, "unknown dtype");
    refuse("raw:no?size=2", LEAT_E_ARGUMENT, "unknown key \"size\"");
    refuse("raw:no?dtype=u16&end=x", LEAT_E_ARGUMENT, "not the id of a token");
    refuse("raw:no?dtype=u16&end=1&begin=2", LEAT_E_ARGUMENT, "give one");
    refuse("raw:?dtype=u16", LEAT_E_ARGUMENT, "names no file");
    refuse("llmc:no?dtype=u16", LEAT_E_ARGUMENT, "unknown key \"dtype\"");
    snprintf(name, sizeof name, "raw:%s", in_folder("raw.npy"));
    refuse(name, LEAT_E_ARGUMENT, "add ?dtype=u16 or ?dtype=u32");
    snprintf(name, sizeof name, "raw:%s?dtype=u16&end=65536", in_folder("raw.npy"));
    refuse(name, LEAT_E_ARGUMENT, "at most 65535");
    snprintf(name, sizeof name, "raw:%s?dtype=u16", in_folder("llmc.bin"));
    refuse(name, LEAT_E_UNSUPPORTED, "use llmc:FILE");
    write_bytes("odd.npy", "\x93NUMPY..", 8);
    snprintf(name, sizeof name, "raw:%s?dtype=u16", in_folder("odd.npy"));
    refuse(name, LEAT_E_UNSUPPORTED, "header of NumPy");
    write_bytes("odd.npy", "abc", 3);
    refuse(name, LEAT_E_TRUNCATED, "no multiple of 2");
    write_bytes("odd.npy", "", 0);
    leat_dataset_close(open_name(name));

    snprintf(name, sizeof name, "llmc:%s", in_folder("raw.npy"));
    refuse(name, LEAT_E_NOT_LEAT, "not a token file of llm.c");
    patch32("llmc.bin", 8, TOKENS + 1);
    refuse(in_folder("llmc.bin"), LEAT_E_TRUNCATED, "its header needs");
    T_CHECK(truncate(in_folder("llmc.bin"), 1024 + TOKENS * width + 1) == 0);
    patch32("llmc.bin", 8, TOKENS);
    refuse(in_folder("llmc.bin"), LEAT_E_TRUNCATED, "its last token has only 1 of");
    T_CHECK(truncate(in_folder("llmc.bin"), 1024 + TOKENS * width) == 0);
    patch32("llmc.bin", 8, TOKENS - 1);
    refuse(in_folder("llmc.bin"), LEAT_E_HEADER, "there are bytes for 60000");
    patch64("a.pbin", 0, (uint64_t)TOKENS * width + 6);
    refuse(in_folder("a.pbin"), LEAT_E_TRUNCATED, "its header says");
    patch32("a.pbin", 8, 1);
    refuse(in_folder("a.pbin"), LEAT_E_UNSUPPORTED, "tokens of 1 bytes");
    patch64("a.ds.index", 8 * (documents - 1), TOKENS + 1);
    refuse(in_folder("a.ds"), LEAT_E_TRUNCATED, "fits neither");
    T_CHECK(truncate(in_folder("a.ds.index"), 9) == 0);
    refuse(in_folder("a.ds"), LEAT_E_TRUNCATED, "no multiple of 8");
    write_flat(width);
    patch64("a.ds.index", 8 * 100, TOKENS + 5);
    {
        struct leat_dataset *d = open_name(in_folder("a.ds"));

        T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_DOCUMENTS);
        T_CONTAINS(t_err.message, "document 100 ends at token 60005, beyond");
        leat_dataset_close(d);
    }
    write_flat(width);
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
    char name[900];
    size_t used;

    for (uint64_t i = 0; i < TOKENS; i++)
        mask[i] = i % 7 < 3;
    mask[1] = 0;
    write_bytes("a.ds.loss", mask, TOKENS);
    snprintf(name, sizeof name, "%s", in_folder("a.ds"));
    check_masked(name, "a.ds.leat", mask);
    check_masked_identity();
    snprintf(name, sizeof name, "raw:%s?dtype=u16&mask=a.ds.loss&end=%u", in_folder("raw.npy"), END);
    check_masked(name, "raw.npy.leat", mask);
    used = (size_t)snprintf(name, sizeof name, "raw:%s?dtype=u16&mask=", in_folder("raw.npy"));
    snprintf(name + used, sizeof name - used, "%s", in_folder("a.ds.loss"));
    leat_dataset_close(open_name(name));

    patch("a.ds.loss", 50000, "\2", 1);
    d = open_name(in_folder("a.ds"));
    T_OK(leat_dataset_mask(d, 0, 50000, mask, &t_err));
    T_STATUS(leat_dataset_mask(d, 0, TOKENS, mask, &t_err), LEAT_E_TOKEN);
    T_CONTAINS(t_err.message, "byte 50000 of");
    T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_TOKEN);
    leat_dataset_close(d);
    T_CHECK(truncate(in_folder("a.ds.loss"), TOKENS - 1) == 0);
    refuse(in_folder("a.ds"), LEAT_E_MISMATCH, "a mask has one for each token");
    snprintf(name, sizeof name, "datatrove:%s?mask=x", in_folder("a.ds"));
    refuse(name, LEAT_E_ARGUMENT, "without mask=");
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
    l.engine = engine;
    l.verify = verify;
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
    T_STATUS(leat_dataset_read_u32(d, 29991, 10, ids, &t_err), LEAT_E_TOKEN);
    T_CONTAINS(t_err.message, "token 30000 of");
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

/* ---- Documents that are found ---- */

static uint64_t side_time(void)
{
    struct stat st;

    return stat(in_folder("found.bin.documents"), &st) == 0
               ? (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_ino
               : 0;
}

/* The documents that a plain loop finds. */
static void check_found(const char *key, uint32_t id, unsigned width, uint64_t random)
{
    bool is_end = strcmp(key, "end") == 0;
    static uint32_t ids[TOKENS];
    static uint64_t found[TOKENS + 1];
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t count = 0, tokens = 3000 + t_below(&random, 200), expected[4000] = { 0 };
    struct leat_dataset *d;
    char name[800];

    for (uint64_t i = 0; i < tokens; i++) {
        ids[i] = t_below(&random, 40) == 0 ? id : (uint32_t)t_below(&random, 50000);
        put(ids[i], width);
    }
    for (uint64_t i = 1; i < tokens; i++)
        if (ids[is_end ? i - 1 : i] == id)
            expected[++count] = i;
    expected[++count] = tokens;
    end_file("found.bin");
    snprintf(name, sizeof name, "raw:%s?dtype=u%u&%s=%u", in_folder("found.bin"), 8 * width, key, id);
    for (unsigned i = 0; i < 2; i++) { /* made, and used */
        d = open_name(name);
        leat_dataset_info(d, &info);
        T_EQ(info.documents, count);
        T_EQ(is_end ? info.end_token : info.begin_token, id);
        T_OK(leat_dataset_starts(d, 0, count + 1, found, &t_err));
        T_CHECK(memcmp(found, expected, 8 * (count + 1)) == 0);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
}

static void check_side_file(void)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint64_t made, first, count;
    char name[800];

    unlink(in_folder("found.bin.documents"));
    for (unsigned i = 0; i < 9; i++)
        put(i % 3 == 2 ? END : 1, 2);
    end_file("found.bin");
    T_CHECK(utimensat(AT_FDCWD, in_folder("found.bin"), (const struct timespec[2]) { { 1, 2 }, { 3, 4 } }, 0) == 0);
    snprintf(name, sizeof name, "raw:%s?dtype=u16&end=%u", in_folder("found.bin"), END);
    leat_dataset_close(open_name(name));
    made = side_time();
    T_CHECK(made > 0);
    leat_dataset_close(open_name(name));
    T_EQ(side_time(), made);
    /* another modification time, with other content of this size */
    patch("found.bin", 0, "\7", 1);
    d = open_name(name);
    leat_dataset_info(d, &info);
    T_EQ(info.documents, 4);
    leat_dataset_close(d);
    T_CHECK(side_time() != made);
    /* damage of the header, the size, the ends: made again */
    for (unsigned i = 0; i < 3; i++) {
        if (i < 2)
            patch64("found.bin.documents", i == 0 ? 72 : 112 + 8 * 4, 3);
        else
            T_CHECK(truncate(in_folder("found.bin.documents"), 100) == 0);
        d = open_name(name);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        T_EQ(first + count, 9);
        leat_dataset_close(d);
    }
    /* damage between: seen by the hash of the starts, whatever the value */
    for (unsigned i = 0; i < 2; i++) {
        made = side_time();
        patch64("found.bin.documents", 112 + 8 * 2, i == 0 ? 100 : 2);
        d = open_name(name);
        T_CHECK(side_time() != made);
        T_OK(leat_dataset_document(d, 2, &first, &count, &t_err));
        T_EQ(first, 3);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
    /* what a killed process left is taken over; what another process writes stays, and the result is in memory */
    for (unsigned i = 0; i < 2; i++) {
        int fd;

        unlink(in_folder("found.bin.documents"));
        write_bytes("found.bin.documents.partial", name, sizeof name);
        fd = open(in_folder("found.bin.documents.partial"), O_RDONLY);
        T_CHECK(i == 0 || flock(fd, LOCK_EX | LOCK_NB) == 0);
        d = open_name(name);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        T_EQ(first, 6);
        leat_dataset_close(d);
        T_CHECK((side_time() > 0) == (i == 0));
        T_CHECK((access(in_folder("found.bin.documents.partial"), F_OK) != 0) == (i == 0));
        close(fd);
        unlink(in_folder("found.bin.documents.partial"));
    }
    /* a name that is taken by a folder: in memory */
    unlink(in_folder("found.bin.documents"));
    T_CHECK(mkdir(in_folder("found.bin.documents"), 0777) == 0);
    d = open_name(name);
    T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
    T_EQ(first, 6);
    leat_dataset_close(d);
    T_CHECK(rmdir(in_folder("found.bin.documents")) == 0);
}

/* ---- Joined, and named ---- */

static void check_joined(void)
{
    const char *names[3];
    char text[3][800], list[2000];
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    for (unsigned i = 0; i < 3; i++)
        names[i] = text[i];
    snprintf(text[0], sizeof text[0], "%s", in_folder("m"));
    snprintf(text[1], sizeof text[1], "%s", in_folder("own2"));
    snprintf(text[2], sizeof text[2], "%s", raw_name(2));
    T_OK(leat_dataset_open_list(&d, names, 2, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, 2 * TOKENS);
    T_EQ(info.documents, 2 * documents);
    T_EQ(info.foreign_parts, 1);
    leat_dataset_close(d);
    snprintf(list, sizeof list, "m\nraw:raw.npy?dtype=u16\nllmc:llmc.bin\nmegatron:%s\n", in_folder("m"));
    write_bytes("list", list, strlen(list));
    snprintf(text[0], sizeof text[0], "@%s", in_folder("list"));
    d = open_name(text[0]);
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, 4 * TOKENS);
    T_EQ(info.documents, LEAT_NONE);
    T_EQ(info.foreign_parts, 4);
    leat_dataset_close(d);
    /* end tokens that are known and differ */
    snprintf(text[0], sizeof text[0], "%s", in_folder("m"));
    snprintf(text[1], sizeof text[1], "%s&end=3", raw_name(2));
    snprintf(text[2], sizeof text[2], "%s&end=4", raw_name(2));
    T_OK(leat_dataset_open_list(&d, names, 2, NULL, &t_err));
    leat_dataset_close(d);
    T_STATUS(leat_dataset_open_list(&d, names, 3, NULL, &t_err), LEAT_E_INCOMPATIBLE);
    T_CONTAINS(t_err.message, "end-of-document token is 3 and 4");
    snprintf(text[1], sizeof text[1], "%s&begin=3", raw_name(2));
    snprintf(text[2], sizeof text[2], "%s&begin=4", raw_name(2));
    T_STATUS(leat_dataset_open_list(&d, names, 3, NULL, &t_err), LEAT_E_INCOMPATIBLE);
    T_CONTAINS(t_err.message, "begin token is 3 and 4");
    snprintf(text[2], sizeof text[2], "%s", in_folder("own2"));
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
    uint64_t seed = t_seed();

    snprintf(folder, sizeof folder, "%s", t_folder());
    out = malloc((size_t)40 * TOKENS);
    for (uint64_t at = 0; at < TOKENS; documents++) {
        starts[documents] = at;
        at += counting_length(documents, MEAN);
    }
    starts[documents] = TOKENS;
    for (unsigned width = 2; width <= 4; width += 2) {
        loading_write(in_folder(width == 2 ? "own2" : "own4"), TOKENS, width, MEAN);
        write_megatron("m", width);
        write_flat(width);
        check_name(in_folder("m"), "megatron", width, true);
        check_name(raw_name(width), "raw", width, false);
        check_name(in_folder("llmc.bin"), "llmc", width, false);
        check_name(in_folder("a.pbin"), "pbin", width, false);
        check_name(in_folder("a.ds"), "datatrove", width, true);
        check_megatron_lies(width);
        check_flat_lies(width);
        check_found("end", END, width, seed + width);
        check_found("begin", END, width, seed - width);
    }
    check_negative();
    write_megatron("m", 2);
    write_flat(2);
    check_masks();
    check_joined();
    check_shrinking();
    check_identity();
    check_side_file();
    check_large_llmc();
    free(out);
    return t_end();
}
