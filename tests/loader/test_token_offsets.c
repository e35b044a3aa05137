/*
 * test_token_offsets.c: tokens may begin at any byte of their file and end before it does: datasets, views, verifying,
 * and loaders with all engines give what plain reads give there. Pages and their hashes count from the first token.
 * Without hashes, documents or an index, whoever asks for these is told. Ids that are not below the vocabulary size, in
 * pages whose hashes fit, end a loader that verifies, or mask their rows.
 */
#include "base/bytes.h"
#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "loader/loader_fields.h"
#include "loading.h"
#include "page_cache.h"
#include "support/on_device.h"

#define TOKENS 300000u
#define MEAN   60u

enum missing { NOTHING, HASHES, DIRECTORY, DOCUMENTS, ALL };

static char folder[512], index_name[600], inside[600]; /* the tokens lie in this file */
static unsigned width;
static uint64_t offset;
static bool hashless; /* what was opened last */

/* As a program of tests/device/, where loaders are what is looked at: the rest knows nothing of devices. */
static bool of_device(void)
{
    return on_device_of_loaders && !t_every();
}

static uint8_t noise(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 13);
}

/* The tokens of the dataset, with other bytes before and after. */
static void write_inside(uint64_t after)
{
    uint64_t bytes = TOKENS * (uint64_t)width;
    uint8_t *all = malloc(offset + bytes + after);
    int fd;

    for (uint64_t i = 0; i < offset + bytes + after; i++)
        all[i] = noise(i);
    fd = open(t_text("%s.tokens", index_name), O_RDONLY);
    T_CHECK(read(fd, all + offset, bytes) == (ssize_t)bytes);
    close(fd);
    fd = open(inside, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    T_CHECK(write(fd, all, offset + bytes + after) == (ssize_t)(offset + bytes + after));
    close(fd);
    free(all);
}

static void flip(uint64_t token)
{
    t_flip(inside, offset + token * width);
}

/* A kind with nothing but starts: all else is found by halving. */
static uint64_t all_starts[TOKENS + 1], all_documents;

static void make_starts(void)
{
    uint64_t at = 0;

    for (all_documents = 0; at < TOKENS; all_documents++) {
        all_starts[all_documents] = at;
        at += counting_length(all_documents, MEAN);
    }
    all_starts[all_documents] = TOKENS;
}

static enum leat_status copy_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                    struct leat_error *err)
{
    (void)err;
    T_CHECK(bytes_inside(first, count, p->documents + 1));
    memcpy(starts, all_starts + first, 8 * count);
    return LEAT_OK;
}

static struct part_kind bare;

static const enum leat_apart aparts[] = { LEAT_APART_NEVER, LEAT_APART_ALWAYS, LEAT_APART_AUTO };

static struct leat_dataset *open_inside(enum leat_access access, enum missing missing)
{
    struct leat_dataset *d = NULL;
    struct part p;

    T_OK(part_open_at(&p, index_name, inside, offset, TOKENS * (uint64_t)width, access, &t_err));
    T_EQ(p.documents, all_documents);
    if (missing == HASHES || missing == ALL)
        p.hashes = (struct part_extent) { NULL, 0, 0 };
    if (missing == DOCUMENTS || missing == ALL)
        p.documents = LEAT_NONE;
    if (missing >= DIRECTORY) {
        bare = (struct part_kind) { .close = p.kind->close, .starts = copy_starts };
        p.kind = &bare;
        p.index = NULL;
        p.lookup = (struct part_extent) { NULL, 0, 0 };
        p.inputs = 0;
    }
    hashless = !p.hashes.file;
    T_OK(dataset_of_part(&d, &p, &t_err));
    return d;
}

/* ---- Datasets ---- */

static void check_reads(const struct leat_dataset *d)
{
    static const uint64_t firsts[] = { 0, 1, 2047, 2048, 4095, 100001, TOKENS - 5000 };
    static uint32_t found[5000];
    struct leat_view view;

    for (unsigned i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        uint64_t first = firsts[i], wrong = 0;
        enum leat_status s;

        T_OK(leat_dataset_read_u32(d, first, 5000, found, &t_err));
        for (uint64_t k = 0; k < 5000; k++)
            wrong += found[k] != counting_token(first + k, width);
        T_EQ(wrong, 0);
        s = leat_dataset_view(d, first, 5000, &view, &t_err);
        if (s != LEAT_OK) {
            T_EQ(s, LEAT_E_NOT_MAPPED);
            continue;
        }
        T_EQ(offset % width, 0);
        for (uint64_t k = 0; k < 5000; k++)
            wrong += (width == 2 ? ((const uint16_t *)view.tokens)[k] : ((const uint32_t *)view.tokens)[k]) !=
                     counting_token(first + k, width);
        T_EQ(wrong, 0);
        leat_view_release(&view);
    }
    T_STATUS(leat_dataset_read_u32(d, TOKENS - 1, 2, found, &t_err), LEAT_E_RANGE);
    if (offset % width != 0)
        T_STATUS(leat_dataset_view(d, 0, 1, &view, &t_err), LEAT_E_NOT_MAPPED);
}

static void check_documents(const struct leat_dataset *d)
{
    struct loading_starts all = loading_starts(TOKENS, MEAN);
    uint64_t document, documents, at, count;

    for (uint64_t token = 0; token < TOKENS; token += 997) {
        T_OK(leat_dataset_documents_in(d, token, 1, &document, &documents, &t_err));
        T_OK(leat_dataset_document(d, document, &at, &count, &t_err));
        T_CHECK(all.bits[at] && at <= token && token < at + count);
    }
    free(all.bits);
}

static void check_sound(const struct leat_dataset *d, enum missing missing)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    bool hashes = missing != HASHES && missing != ALL;

    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    T_EQ(report.damaged_pages + report.damaged_others, 0);
    T_CHECK(report.bytes >= TOKENS * (uint64_t)width);
    T_EQ(report.unhashed_parts, !hashes);
    T_STATUS(leat_dataset_verify_range(d, 0, TOKENS, &t_err), hashes ? LEAT_OK : LEAT_E_NOT_FOUND);
}

static enum leat_status open_plan(struct leat_plan **plan, const struct leat_dataset *const *d, unsigned count,
                                  uint64_t seq_len, enum leat_order order)
{
    struct leat_plan_source sources[3] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;

    for (unsigned i = 0; i < count; i++) {
        sources[i].name = "inside";
        sources[i].dataset = d[i];
        sources[i].weight = "1";
    }
    o.sources = sources;
    o.source_count = count;
    o.seq_len = seq_len;
    o.order = order;
    return leat_plan_open(plan, &o, &t_err);
}

static struct loading plan_of(const struct leat_dataset *d, uint64_t seq_len)
{
    struct loading w = { .width = width, .mean = MEAN };

    T_OK(open_plan(&w.plan, &d, 1, seq_len, LEAT_ORDER_SHUFFLED));
    return w;
}

static void check_loader(const struct loading *w, struct leat_loader_options o, uint64_t batches)
{
    const struct leat_batch *b;
    struct leat_loader *l;
    char text[512] = "";

    o.io.slots = 2; /* more would never be filled again, and to make them takes longer than all else here */
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    while (leat_loader_notice(l, text, sizeof text) && !strstr(text, "have no hashes"))
        ;
    T_EQ(strstr(text, "have no hashes") != NULL, hashless && o.io.verify);
    for (uint64_t k = 0; k < batches; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        T_EQ(b->damaged, 0);
        loading_check(w, b, k * o.batch);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

static void check_missing(const struct leat_dataset *d, enum missing missing)
{
    struct leat_stored_tokenizer *tokenizer;
    struct leat_metadata *metadata;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_origin origin;
    uint64_t a, b;
    uint8_t hash[16];
    char text[10];

    leat_dataset_info(d, &info);
    T_EQ(info.tokens, TOKENS);
    if (missing == DOCUMENTS || missing == ALL) {
        T_EQ(info.documents, LEAT_NONE);
        T_REFUSED(leat_dataset_document(d, 0, &a, &b, &t_err), LEAT_E_NOT_FOUND,
                  "does not record where its documents start");
        T_STATUS(leat_dataset_starts(d, 0, 1, &a, &t_err), LEAT_E_NOT_FOUND);
        T_STATUS(leat_dataset_documents_in(d, 0, 1, &a, &b, &t_err), LEAT_E_NOT_FOUND);
        for (enum leat_order order = LEAT_ORDER_DOCUMENTS; order <= LEAT_ORDER_DOCUMENTS_SEQUENTIAL; order++) {
            struct leat_plan *plan = NULL, *again = NULL;

            T_REFUSED(open_plan(&plan, &d, 1, 1000, order), LEAT_E_NOT_FOUND,
                      "does not record where its documents start");
            T_CHECK(plan == NULL);
            T_OK(open_plan(&plan, &d, 1, 1000, LEAT_ORDER_SHUFFLED));
            T_REFUSED(leat_plan_reorder(&again, plan, order, 0, &t_err), LEAT_E_NOT_FOUND,
                      "does not record where its documents start");
            leat_plan_close(plan);
        }
        {
            struct loading w = plan_of(d, 1000);
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            struct leat_loader *l;

            o.batch = 5;
            o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
            T_REFUSED(leat_loader_open(&l, w.plan, &o, &t_err), LEAT_E_NOT_FOUND,
                      "does not record where its documents start");
            leat_plan_close(w.plan);
        }
        T_STATUS(leat_dataset_ids(d, 0, 1, text, sizeof text, &a, &t_err), LEAT_E_NOT_FOUND);
    }
    if (missing >= DIRECTORY) {
        T_STATUS(leat_dataset_origins(d, 0, 1, &origin, &t_err), LEAT_E_NOT_FOUND);
        T_STATUS(leat_dataset_text_hashes(d, 0, 1, &hash, &t_err), LEAT_E_NOT_FOUND);
        T_EQ(info.inputs + info.stores_ids + info.stores_lines + info.index_bytes, 0);
        T_STATUS(leat_dataset_tokenizer(d, &tokenizer, &t_err), LEAT_E_NOT_FOUND);
        T_STATUS(leat_dataset_find_id(d, "a", 1, &a, &t_err), LEAT_E_NOT_FOUND);
        T_STATUS(leat_dataset_find_input(d, "a", &a, &t_err), LEAT_E_NOT_FOUND);
        T_OK(leat_dataset_metadata(d, 0, &metadata, &t_err));
        T_EQ(metadata->count, 0);
        leat_metadata_free(metadata);
    }
}

/* ---- Loaders ---- */

/* A mapped file cannot be pushed out of memory. */
static void check_engines(const struct leat_dataset *d, bool mapped, uint64_t seq_len, unsigned engines)
{
    struct loading w = plan_of(d, seq_len);

    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < engines; e++)
        for (unsigned i = 0; i < (mapped ? 6 : 4); i++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            int before = t_failures;

            o.batch = seq_len > 10000 ? 2 : 5;
            o.io.engine = e;
            o.io.threads = loading_threads[i % LOADING_THREADS];
            o.io.verify = i & 1;
            o.io.apart = aparts[i >> 1];
            if (i >> 1 & 1 && !mapped)
                page_cache_drop(inside);
            check_loader(&w, o, seq_len > 10000 ? 2 : 4);
            if (t_failures > before)
                T_FAIL("offset %u, width %u, %u tokens, engine %s, %u threads, verify %u, apart %u", (unsigned)offset,
                       width, (unsigned)seq_len, loader_engines[e], o.io.threads, o.io.verify, o.io.apart);
        }
    leat_plan_close(w.plan);
}

/* Rows of three sources in each batch: tokens that begin at an odd byte, at a page, and in the middle of one. */
static void check_mixed(uint64_t seq_len, bool cold)
{
    static const uint64_t offsets[3] = { 1001, 3 * 4096, 4096 + 512 };
    struct leat_dataset *d[3];
    struct loading w = { .width = width, .mean = MEAN };
    char files[3][600];

    for (unsigned i = 0; i < 3; i++) {
        snprintf(inside, sizeof inside, "%s/inside%u", folder, i);
        memcpy(files[i], inside, sizeof inside);
        offset = offsets[i];
        write_inside(i == 1 ? 0 : 5000);
        d[i] = open_inside(cold ? LEAT_ACCESS_READ : LEAT_ACCESS_TRUSTED, NOTHING);
    }
    T_OK(open_plan(&w.plan, (const struct leat_dataset *const *)d, 3, seq_len, LEAT_ORDER_SHUFFLED));
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++)
        for (unsigned i = 0; i < (cold ? 8 : 12); i++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            int before = t_failures;

            o.batch = 7;
            o.io.engine = e;
            o.io.threads = loading_threads[i % LOADING_THREADS];
            o.io.verify = i >> 1 & 1;
            o.io.apart = aparts[i >> 2];
            for (unsigned k = 0; cold && k < 3; k++)
                page_cache_drop(files[k]);
            check_loader(&w, o, 4);
            if (t_failures > before)
                T_FAIL("mixed offsets, width %u, %u tokens, engine %s, %u threads, verify %u, apart %u", width,
                       (unsigned)seq_len, loader_engines[e], o.io.threads, o.io.verify, o.io.apart);
        }
    leat_plan_close(w.plan);
    for (unsigned i = 0; i < 3; i++)
        leat_dataset_close(d[i]);
    snprintf(inside, sizeof inside, "%s/inside", folder);
}

/* A flipped bit: its page, counted from the first token, is named where there are hashes; else it is what is read. */
static void check_damage(enum missing missing)
{
    uint64_t token = 7 * (4096 / width) + 3;
    struct leat_dataset *d;
    uint32_t found;

    flip(token);
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        const struct leat_batch *b;
        struct leat_loader *l;
        enum leat_status s = LEAT_OK;
        struct loading w;

        d = open_inside(LEAT_ACCESS_LEASED, missing);
        w = plan_of(d, 1000);
        o.batch = 10;
        o.io.engine = e;
        T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
        for (uint64_t k = 0; s == LEAT_OK && k < TOKENS / 10000; k++)
            if ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK)
                leat_batch_release(b, NULL);
        T_EQ(s, missing == HASHES ? LEAT_OK : LEAT_E_CHECKSUM);
        if (s == LEAT_E_CHECKSUM)
            T_CONTAINS(t_err.message, "page 7 of");
        leat_loader_close(l);
        leat_plan_close(w.plan);
        leat_dataset_close(d);
    }
    d = open_inside(LEAT_ACCESS_LEASED, missing);
    T_OK(leat_dataset_read_u32(d, token, 1, &found, &t_err));
    T_EQ(found, counting_token(token, width) ^ 0x40);
    if (missing == NOTHING) {
        struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;

        T_STATUS(leat_dataset_verify(d, NULL, &report, &t_err), LEAT_E_CHECKSUM);
        T_EQ(report.damaged_pages, 1);
        T_EQ(report.page, 7);
        T_STATUS(leat_dataset_verify_range(d, token, 1, &t_err), LEAT_E_CHECKSUM);
        T_EQ(t_err.offset, offset + 7 * 4096);
        T_OK(leat_dataset_verify_range(d, token + 4096, 1, &t_err));
    }
    leat_dataset_close(d);
    flip(token);
}

/* The greatest id of the dataset, the first token that has it, and which pages do. */
static uint32_t find_greatest(uint64_t *token, bool *in_page)
{
    uint32_t greatest = 0;

    for (uint64_t i = 0; i < TOKENS; i++)
        if (counting_token(i, width) > greatest)
            greatest = counting_token(*token = i, width);
    for (uint64_t i = 0; i < TOKENS; i++)
        in_page[i * width / 4096] |= counting_token(i, width) == greatest;
    return greatest;
}

/* Whether a sample has a token of such a page. */
static bool touches(const struct loading *w, uint64_t position, const bool *in_page)
{
    struct leat_sample x;
    uint64_t got;
    bool is = false;

    T_OK(leat_plan_samples(w->plan, position, 1, &x, &got, &t_err));
    for (uint64_t page = x.offset * width / 4096; page <= (x.offset + x.length) * width / 4096; page++)
        is |= in_page[page];
    return is;
}

/* Takes 30 batches of 10 rows. The rows that touch `in_page` end the loader, are masked, or, without `verify`, are like
 * all others. */
static void load_greatest(const struct loading *w, struct leat_loader_options o, const bool *in_page, const char *why)
{
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s = LEAT_OK;
    uint64_t k = 0;

    o.batch = 10;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (; k < TOKENS / 10000 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
        loading_check(w, b, k * o.batch);
        for (uint32_t row = 0; row < b->rows; row++)
            T_EQ((b->flags[row] & LEAT_ROW_DAMAGED) != 0, o.io.verify && touches(w, k * o.batch + row, in_page));
        leat_batch_release(b, NULL);
    }
    if (o.io.verify && o.on_damage == LEAT_ON_DAMAGE_ERROR) {
        bool due = false;

        T_EQ(s, LEAT_E_TOKEN);
        T_CONTAINS(t_err.message, why);
        for (uint32_t row = 0; row < o.batch; row++)
            due |= touches(w, k * o.batch + row, in_page);
        T_CHECK(due);
    } else {
        T_EQ(k, TOKENS / 10000);
    }
    leat_loader_close(l);
}

/* A vocabulary that ends below the greatest id. */
static void check_ids(void)
{
    static bool in_page[TOKENS * 4 / 4096 + 1];
    struct leat_dataset *d = open_inside(LEAT_ACCESS_LEASED, NOTHING);
    struct part *p = dataset_part(d, 0);
    uint64_t token = 0, document = 0;
    struct loading w = { .width = width, .mean = MEAN };
    char why[800];

    memset(in_page, 0, sizeof in_page);
    p->vocabulary = find_greatest(&token, in_page);
    T_OK(part_document_at(p, token, &document, &t_err));
    snprintf(why, sizeof why,
             "token %llu of %s (document %llu) is %llu, not below the vocabulary size %llu; write the dataset again",
             (unsigned long long)token, inside, (unsigned long long)document, (unsigned long long)p->vocabulary,
             (unsigned long long)p->vocabulary);
    T_OK(open_plan(&w.plan, (const struct leat_dataset *const *)&d, 1, 1000, LEAT_ORDER_SEQUENTIAL));
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++)
        for (unsigned i = 0; i < 6; i++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            int before = t_failures;

            o.io.engine = e;
            o.io.threads = loading_threads[(e + i) % LOADING_THREADS];
            o.io.apart = i & 1 ? LEAT_APART_ALWAYS : LEAT_APART_AUTO;
            o.io.verify = i < 4;
            o.on_damage = i & 2 ? LEAT_ON_DAMAGE_MASK : LEAT_ON_DAMAGE_ERROR;
            if (i & 1)
                page_cache_drop(inside);
            load_greatest(&w, o, in_page, why);
            if (t_failures > before)
                T_FAIL("width %u, engine %s, %u threads, apart %u, verify %u, on_damage %u", width, loader_engines[e],
                       o.io.threads, o.io.apart, o.io.verify, o.on_damage);
        }
    leat_plan_close(w.plan);
    leat_dataset_close(d);
}

/* Hashes that are not there, and documents that do not begin at the first token. */
static void check_lies(void)
{
    struct leat_dataset *d = open_inside(LEAT_ACCESS_READ, DIRECTORY);
    struct part *p = dataset_part(d, 0);
    uint64_t pages = (TOKENS * (uint64_t)width + 4095) / 4096, document;
    uint8_t hash[4];

    T_OK(part_hashes(p, pages - 1, 1, hash, &t_err));
    T_STATUS(part_hashes(p, pages, 1, hash, &t_err), LEAT_E_SECTION);
    all_starts[0] = 1;
    T_STATUS(part_document_at(p, 0, &document, &t_err), LEAT_E_DOCUMENTS);
    all_starts[0] = 0;
    T_OK(part_document_at(p, 0, &document, &t_err));
    T_EQ(document, 0);
    leat_dataset_close(d);
}

static void check_dataset(const struct leat_dataset *d, enum missing missing)
{
    check_reads(d);
    check_sound(d, missing);
    check_missing(d, missing);
    if (missing <= DIRECTORY)
        check_documents(d);
}

static void check_offset(uint64_t at, uint64_t after)
{
    enum missing most = of_device() ? HASHES : ALL;

    offset = at;
    write_inside(after);
    for (unsigned i = 0; i < 2 * (most + 1); i++) {
        enum missing missing = i / 2;
        bool mapped = i % 2;
        struct leat_dataset *d = open_inside(mapped ? LEAT_ACCESS_TRUSTED : LEAT_ACCESS_READ, missing);

        if (!of_device())
            check_dataset(d, missing);
        if (missing == NOTHING || (missing == HASHES && (width == 2 || t_every()))) {
            check_engines(d, mapped, 5000, GATHER_ENGINE_COUNT);
            /* longer than a read of the ring, which is the same without hashes, and goes to a device as all others */
            if ((missing == NOTHING && !(of_device() && width == 4)) || t_every())
                check_engines(d, mapped, 400000 / width, GATHER_ENGINE_COUNT);
        } else if (missing == ALL || t_every()) { /* engines know nothing of documents, and of hashes not by width */
            check_engines(d, mapped, 1000, t_every() ? GATHER_ENGINE_COUNT : LEAT_ENGINE_AUTO + 1);
        }
        leat_dataset_close(d);
    }
    check_damage(NOTHING);
    check_ids();
    if (of_device())
        return;
    check_damage(HASHES);
    check_damage(DOCUMENTS);
    check_lies();
}

/* What does not fit into the file is refused. */
static void check_ends(void)
{
    struct part p;

    offset = 1000;
    write_inside(0);
    T_STATUS(part_open_at(&p, index_name, inside, 1001, TOKENS * (uint64_t)width, LEAT_ACCESS_READ, &t_err),
             LEAT_E_TRUNCATED);
    T_STATUS(part_open_at(&p, index_name, inside, UINT64_MAX, TOKENS * (uint64_t)width, LEAT_ACCESS_READ, &t_err),
             LEAT_E_TRUNCATED);
    T_STATUS(part_open_at(&p, index_name, inside, 1000, TOKENS * (uint64_t)width - 1, LEAT_ACCESS_READ, &t_err),
             LEAT_E_TRUNCATED);
    T_STATUS(part_open_at(&p, index_name, inside, 998, TOKENS * (uint64_t)width, LEAT_ACCESS_READ, &t_err),
             LEAT_E_MISMATCH);
}

int main(void)
{
    make_starts();
    snprintf(folder, sizeof folder, "%s", t_disk_folder());
    snprintf(inside, sizeof inside, "%s/inside", folder);
    for (width = 2; width <= 4; width += 2) {
        snprintf(index_name, sizeof index_name, "%s/d%u", folder, width);
        loading_write(index_name, TOKENS, width, MEAN);
        check_offset(width == 2 ? 1000 : 1001, 5000);
        check_offset(width == 2 ? 3 * 4096 : 4096 + 512, 0);
        check_ends();
        check_mixed(1000, false);
        check_mixed(5000, true);
    }
    return t_end();
}
