/*
 * test_loader_slices.c: the slices of all ranks put together are the row: all outputs, in all orders, with masks, for 1
 * to 16 ranks and each layout, also of rows that are dealt to ranks and of batches by tokens. So are labels ahead,
 * against a loop over the datasets' tokens. Bytes fall to those that are needed; a damaged page masks the slices that
 * have it; what cannot be cut is refused. On the host, and as tests/device/test_loader_slices on a device.
 */
#include "gather/gather.h"
#include "one_document.h"
#include "pieces_of.h"
#include "rows/rows_outputs.h"
#include "support/files.h"

#define BATCH   4u
#define AHEAD   3u
#define END     499 /* rows are padded with it */
#define TOKENS  9000u
#define NUMBERS ((BATCH + 1) * 400u) /* of an output */

static const char *folder;
static struct leat_dataset *datasets[2]; /* with a mask and without */
static char names[2][700];
static uint32_t *tokens_of[2], *documents_of[2];
static uint8_t *masks_of[2];

/* ---- Datasets ---- */

static void write_dataset(unsigned number, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_writer *w;
    uint32_t ids[60];
    uint8_t mask[60];

    o.vocabulary = 500;
    o.end_token = END;
    o.store_mask = number == 0;
    snprintf(names[number], sizeof names[number], "%s/%u", folder, number);
    T_OK(leat_writer_open(&w, names[number], &o, &t_err));
    while (leat_writer_tokens(w) < TOKENS) {
        uint64_t count = t_below(random, t_below(random, 3) ? 20 : 60);

        for (uint64_t i = 0; i < count; i++) {
            ids[i] = (uint32_t)t_below(random, 499);
            mask[i] = t_below(random, 4) ? (uint8_t)t_random(random) : 0;
        }
        T_OK(add_one_document(w, ids, 4, number == 0 ? mask : NULL, count, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&datasets[number], names[number], NULL, &t_err));
    leat_dataset_info(datasets[number], &info);
    tokens_of[number] = calloc(info.tokens, 4);
    documents_of[number] = calloc(info.tokens, 4);
    masks_of[number] = calloc(info.tokens, 1);
    T_OK(leat_dataset_read_u32(datasets[number], 0, info.tokens, tokens_of[number], &t_err));
    T_OK(leat_dataset_mask(datasets[number], 0, info.tokens, masks_of[number], &t_err));
    for (uint64_t d = 0; d < info.documents; d++) {
        uint64_t first, count;

        T_OK(leat_dataset_document(datasets[number], d, &first, &count, &t_err));
        for (uint64_t i = 0; i < count; i++)
            documents_of[number][first + i] = (uint32_t)d;
    }
}

/* Which dataset a source is: all plans here name them in this order. */
static struct leat_plan *open_plan(uint64_t length, const char *more)
{
    struct leat_plan *plan;
    const char *text = t_text("source %s\nsource %s\nseq-len %" PRIu64 "\n%s", names[0], names[1], length, more);

    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    return plan;
}

/* ---- Outputs ---- */

struct made {
    int64_t inputs[NUMBERS], labels[NUMBERS], positions[NUMBERS], documents[NUMBERS], ahead[AHEAD][NUMBERS];
    uint8_t loss[NUMBERS], attention[NUMBERS];
    float weights[NUMBERS];
    int32_t sequences[NUMBERS + 1];
    uint64_t rows, length;
};

/* All outputs of a batch, and of a row more. */
static void make(const struct leat_batch *b, uint32_t mask_first, uint64_t more, struct made *m)
{
    static int64_t ahead[AHEAD * NUMBERS];
    struct leat_outputs o = LEAT_OUTPUTS_INIT;

    o.mask_first = mask_first;
    m->rows = o.rows = b->rows + 1;
    m->length = o.length = b->length + more;
    o.inputs = m->inputs;
    o.labels = m->labels;
    o.position_ids = m->positions;
    o.document_ids = m->documents;
    o.loss_mask = m->loss;
    o.attention_mask = m->attention;
    o.loss_weights = m->weights;
    o.cu_seqlens = m->sequences;
    o.cu_seqlens_room = NUMBERS + 1;
    o.ahead_labels = b->ahead > 0 ? ahead : NULL;
    T_CHECK(o.rows * o.length <= NUMBERS);
    T_OK(leat_batch_write(b, &o, NULL, &t_err));
    for (uint64_t k = 0; k < b->ahead; k++)
        memcpy(m->ahead[k], ahead + k * o.rows * o.length, o.rows * o.length * sizeof *ahead);
}

/* How many numbers of place `a` of one differ from those of place `b` of the other. */
static unsigned differ(const struct made *x, uint64_t a, const struct made *y, uint64_t b, uint64_t ahead)
{
    unsigned n = x->inputs[a] != y->inputs[b];

    n += x->labels[a] != y->labels[b];
    n += x->positions[a] != y->positions[b];
    n += x->documents[a] != y->documents[b];
    n += x->loss[a] != y->loss[b];
    n += x->attention[a] != y->attention[b];
    n += memcmp(&x->weights[a], &y->weights[b], sizeof *x->weights) != 0;
    for (uint64_t k = 0; k < ahead; k++)
        n += x->ahead[k][a] != y->ahead[k][b];
    return n;
}

static struct leat_loader *open_loader(const struct leat_plan *plan, struct leat_loader_options o)
{
    struct leat_loader *l;

    o.outputs.wanted |= LEAT_OUTPUT_POSITION_IDS;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    return l;
}

static struct leat_loader_options options(uint32_t ahead)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = BATCH;
    o.last = LEAT_LAST_PADDED;
    o.outputs.ahead = ahead;
    o.io.threads = 0;
    return o;
}

/* ---- Slices put together ---- */

/* Adds the places of [begin, end) of a row that are the slice's. */
static void cut(const struct leat_loader_slice *s, uint64_t begin, uint64_t end, uint64_t *places, uint64_t *count)
{
    uint64_t chunks = s->layout == LEAT_SLICE_CONTIGUOUS ? s->count : 2 * s->count, chunk = (end - begin) / chunks;

    T_EQ((end - begin) % chunks, 0);
    for (uint64_t i = 0; i < end - begin; i++)
        if (i / chunk == s->rank || (chunks > s->count && i / chunk == chunks - 1 - s->rank))
            places[(*count)++] = begin + i;
}

/* A row's places in the slice: of zigzag-documents, stretch by stretch of cu_seqlens. */
static uint64_t places_of(const struct leat_loader_slice *s, const struct made *whole, uint64_t row, uint64_t *places)
{
    uint64_t count = 0, from = row * whole->length, to = from + whole->length;

    if (s->layout != LEAT_SLICE_ZIGZAG_DOCUMENTS) {
        cut(s, 0, whole->length, places, &count);
        return count;
    }
    for (uint64_t k = 0; (uint64_t)whole->sequences[k] < to; k++)
        if ((uint64_t)whole->sequences[k] >= from)
            cut(s, (uint64_t)whole->sequences[k] - from, (uint64_t)whole->sequences[k + 1] - from, places, &count);
    return count;
}

static void check_slice(const struct leat_batch *w, const struct leat_batch *b, const struct leat_loader_slice *s,
                        const struct made *whole, uint32_t mask_first)
{
    static struct made part;
    uint64_t wrong = 0, places[400], lengths = 0;

    make(b, mask_first, 0, &part);
    T_EQ(b->rows, w->rows);
    T_EQ(b->length * s->count, w->whole_length);
    T_EQ(b->whole_length, w->whole_length);
    T_EQ(b->sequences, w->sequences);
    T_EQ(b->max_seqlen, w->max_seqlen);
    T_EQ(b->cursor, w->cursor);
    T_CHECK(!b->tokens && leat_batch_row(b, 0) && !leat_batch_row(b, b->rows));
    T_CHECK(memcmp(part.sequences, whole->sequences, sizeof part.sequences) == 0);
    for (uint64_t row = 0; row < part.rows; row++) {
        uint64_t count = places_of(s, whole, row, places);

        T_EQ(count, b->length);
        lengths = 0;
        for (uint64_t i = 0; i < count && i < part.length; i++) {
            wrong += differ(&part, row * part.length + i, whole, row * whole->length + places[i], b->ahead) > 0;
            lengths += row < b->rows && places[i] < w->lengths[row];
        }
        if (row < b->rows) {
            T_EQ(b->lengths[row], lengths);
            T_EQ(b->flags[row], w->flags[row]);
        }
    }
    T_EQ(wrong, 0);
}

/* Compares all slices with whole rows, batch by batch. */
static void compare(const struct leat_plan *plan, struct leat_loader_options o, uint64_t count,
                    enum leat_slice_layout layout, uint64_t batches)
{
    static struct made whole;
    struct leat_loader *l = open_loader(plan, o), *slices[16];
    const struct leat_batch *w, *b;
    uint64_t taken = 0;

    o.slice.count = count;
    o.slice.layout = layout;
    for (o.slice.rank = 0; o.slice.rank < count; o.slice.rank++) {
        slices[o.slice.rank] = open_loader(plan, o);
        T_EQ(leat_loader_max_length(slices[o.slice.rank]), (leat_loader_max_length(l) + count - 1) / count);
    }
    for (; taken < batches && leat_loader_next(l, &w, &t_err) == LEAT_OK; taken++) {
        uint32_t mask_first = taken % 2;

        make(w, mask_first, 0, &whole);
        for (o.slice.rank = 0; o.slice.rank < count; o.slice.rank++) {
            T_OK(leat_loader_next(slices[o.slice.rank], &b, &t_err));
            check_slice(w, b, &o.slice, &whole, mask_first);
            leat_batch_release(b, NULL);
        }
        leat_batch_release(w, NULL);
    }
    T_CHECK(taken > 0);
    for (uint64_t i = 0; i < count; i++) {
        if (taken < batches)
            T_STATUS(leat_loader_next(slices[i], &b, &t_err), LEAT_E_END);
        leat_loader_close(slices[i]);
    }
    leat_loader_close(l);
}

/* Of rows of two lengths in a batch; `unit`: a multiple of what lengths must be multiples of. */
static void slices_of(uint64_t count, bool all)
{
    uint64_t unit = 2 * count, length = unit * (48 / unit + 1);
    struct leat_loader_options o = options(count % 3);
    struct leat_plan *plan;

    plan = open_plan(length, t_text("seed %" PRIu64 "\nbase-len %" PRIu64 "\nat 32:1,2:len=%" PRIu64 "\n", count,
                                    2 * length, 2 * length));
    o.position = 30; /* the first batch has rows of both lengths */
    compare(plan, o, count, LEAT_SLICE_CONTIGUOUS, 3);
    compare(plan, o, count, LEAT_SLICE_ZIGZAG, 3);
    leat_plan_close(plan);
    plan = open_plan(length, t_text("order fit\nalign %" PRIu64 "\nat 32:1,2:len=%" PRIu64 "\n%s", unit, 2 * length,
                                    count % 2 ? "overlap 5\n" : ""));
    compare(plan, o, count, LEAT_SLICE_ZIGZAG_DOCUMENTS, 3);
    compare(plan, o, count, LEAT_SLICE_ZIGZAG, 2);
    leat_plan_close(plan);
    if (!all)
        return;
    static const char *const orders[] = { "order sequential\nepochs 1\nsplit train=0.97,valid=0.03\nuse valid\n",
                                          "order fit\nepochs 1\nmin-length 5\nmax-length 50\nmax-per-row 4\n",
                                          "order megatron\nsplit 8,1,1\nuse valid\nsamples 20\n" };
    for (unsigned i = 0; i < 3; i++) {
        plan = open_plan(length, orders[i]);
        o.position = 0;
        o.ranks.world = i + 1;
        o.batch = BATCH * o.ranks.world;
        o.ranks.rank = i;
        o.ranks.balance = i == 1 ? LEAT_BALANCE_ATTENTION : LEAT_BALANCE_NONE;
        compare(plan, o, count, LEAT_SLICE_CONTIGUOUS, i == 0 ? UINT64_MAX : 4);
        compare(plan, o, count, LEAT_SLICE_ZIGZAG, 4);
        leat_plan_close(plan);
    }
}

/* Rows of documents are padded to a length that can be cut: compared with a loader of one slice of the same padding.
 * `batch` is 0 for batches by tokens. */
static void slices_of_documents(uint64_t count, uint64_t batch, const char *more)
{
    struct leat_plan *plan = open_plan(37, more);
    struct leat_loader_options whole_rows = options(2), o;
    static struct made whole, part;
    const struct leat_batch *w, *b;
    struct leat_loader *l;

    whole_rows.batch = batch;
    l = open_loader(plan, whole_rows);
    o = whole_rows;
    o.slice.count = count;
    o.slice.layout = LEAT_SLICE_ZIGZAG;
    for (o.slice.rank = 0; o.slice.rank < count; o.slice.rank++) {
        struct leat_loader *s = open_loader(plan, o);
        uint64_t places[400], wrong = 0;

        leat_loader_close(l);
        l = open_loader(plan, whole_rows);
        for (unsigned k = 0; k < 12; k++) {
            T_OK(leat_loader_next(l, &w, &t_err));
            T_OK(leat_loader_next(s, &b, &t_err));
            T_EQ(b->whole_length, (w->length + 2 * count - 1) / (2 * count) * (2 * count));
            make(w, k % 2, b->whole_length - w->length, &whole);
            make(b, k % 2, 0, &part);
            T_CHECK(memcmp(part.sequences, whole.sequences, sizeof part.sequences) == 0);
            for (uint64_t row = 0; row < part.rows; row++) {
                T_EQ(places_of(&o.slice, &whole, row, places), part.length);
                for (uint64_t i = 0; i < part.length; i++)
                    wrong += differ(&part, row * part.length + i, &whole, row * whole.length + places[i], 2) > 0;
            }
            leat_batch_release(b, NULL);
            leat_batch_release(w, NULL);
        }
        T_EQ(wrong, 0);
        leat_loader_close(s);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
}

/* ---- Labels ahead ---- */

/* What a plan uses of a source, in its tokens. */
struct used {
    uint64_t begin, end;
};

static uint64_t ends; /* labels ahead that lie beyond it */

/* A length of windows whose last one ends so near to the end of what is used of a source that labels ahead end. */
static uint64_t length_to_end(const char *more)
{
    struct leat_plan_source_info info[2] = { LEAT_PLAN_SOURCE_INFO_INIT, LEAT_PLAN_SOURCE_INFO_INIT };
    struct leat_plan *plan = open_plan(40, more);
    uint64_t length = 9;

    T_OK(leat_plan_source_info(plan, 0, &info[0], &t_err));
    T_OK(leat_plan_source_info(plan, 1, &info[1], &t_err));
    leat_plan_close(plan);
    while ((info[0].tokens - 1) % length >= AHEAD && (info[1].tokens - 1) % length >= AHEAD)
        length++;
    T_CHECK(length < 390);
    return length;
}

/* The label `k` tokens after that of a piece's token `i`: piece by piece of the row, and of windows beyond it. */
static int64_t expect_ahead(const struct leat_piece *pieces, uint64_t count, uint64_t at, uint64_t i, uint64_t k,
                            const struct used *used, bool own, bool windows, uint32_t mask_first)
{
    const struct leat_piece *p = &pieces[at];
    uint64_t left = i + 1 + k, source = p->source, token, from = p->token + i;

    for (; left >= p->count && !own && at + 1 < count; p = &pieces[++at])
        left -= p->count;
    token = p->token + left;
    ends += windows && token >= used[source].end;
    if (left >= p->count && (!windows || token >= used[source].end))
        return -100;
    T_CHECK(!windows || (token >= used[source].begin && token < used[source].end));
    /* a piece begins a document, too */
    if (mask_first && (documents_of[source][token] != documents_of[source][from] || p->token > from || token < from))
        return -100;
    return masks_of[source][token] ? (int64_t)tokens_of[source][token] : -100;
}

static uint64_t check_ahead(const struct leat_plan *plan, const struct leat_batch *b, const struct made *m,
                            const struct used *used, bool own, bool windows, uint32_t mask_first)
{
    struct leat_piece pieces[400];
    uint64_t count, wrong = 0, labels = 0;

    for (uint64_t row = 0; row < b->rows; row++) {
        uint64_t place = row * m->length, end = place + m->length;

        count = 0;
        if (b->flags[row] == 0)
            T_OK(pieces_of(plan, b->samples[row].number, pieces, 400, &count, &t_err));
        for (uint64_t at = 0; at < count; at++)
            for (uint64_t i = 0; i + (own || at + 1 == count) < pieces[at].count; i++, place++)
                for (uint64_t k = 0; k <= b->ahead; k++) {
                    int64_t label = expect_ahead(pieces, count, at, i, k, used, own, windows && k > 0, mask_first);

                    wrong += (k > 0 ? m->ahead[k - 1] : m->labels)[place] != label;
                    labels += k > 0 && label >= 0;
                }
        for (; place < end; place++)
            for (uint64_t k = 0; k < b->ahead; k++)
                wrong += m->ahead[k][place] != -100;
    }
    T_EQ(wrong, 0);
    return labels;
}

/* A loader with labels ahead, against one without, and the labels against the datasets. */
static void ahead_of(const char *more, bool own, bool windows)
{
    static struct made plain, with;
    struct leat_plan *plan = open_plan(windows ? length_to_end(more) : 40, more);
    struct leat_loader *l = open_loader(plan, options(0)), *a = open_loader(plan, options(AHEAD));
    struct used used[2];
    const struct leat_batch *x, *b;
    uint64_t labels = 0;

    ends = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_info whole = LEAT_INFO_INIT;

        T_OK(leat_plan_source_info(plan, i, &info, &t_err));
        leat_dataset_info(datasets[i], &whole);
        used[i] = strstr(more, "use valid") ? (struct used) { whole.tokens - info.tokens, whole.tokens }
                                            : (struct used) { 0, info.tokens };
    }
    for (uint32_t k = 0; leat_loader_next(l, &x, &t_err) == LEAT_OK; k++) {
        uint64_t wrong = 0;

        T_OK(leat_loader_next(a, &b, &t_err));
        T_EQ(b->ahead, AHEAD);
        T_EQ(b->sequences, x->sequences);
        T_EQ(b->max_seqlen, x->max_seqlen);
        make(x, k % 2, k % 3, &plain);
        make(b, k % 2, k % 3, &with);
        T_CHECK(memcmp(plain.sequences, with.sequences, sizeof plain.sequences) == 0);
        for (uint64_t i = 0; i < plain.rows * plain.length; i++)
            wrong += differ(&plain, i, &with, i, 0) > 0;
        T_EQ(wrong, 0);
        labels += check_ahead(plan, b, &with, used, own, windows, k % 2 || own);
        leat_batch_release(x, NULL);
        leat_batch_release(b, NULL);
    }
    T_STATUS(leat_loader_next(a, &b, &t_err), LEAT_E_END);
    T_CHECK(labels > 100 && (!windows || ends > 0));
    leat_loader_close(l);
    leat_loader_close(a);
    leat_plan_close(plan);
}

static void all_ahead(void)
{
    ahead_of("epochs 1\nseed 2\n", false, true);
    ahead_of("epochs 1\norder sequential\nsplit train=0.9,valid=0.1\nuse train\n", false, true);
    ahead_of("epochs 1\nsplit train=0.9,valid=0.1\nuse valid\n", false, true);
    ahead_of("epochs 1\norder documents\n", false, false);
    ahead_of("epochs 1\norder fit\nseed 9\n", true, false);
    ahead_of("order megatron\nsamples 60\n", false, false);
}

/* ---- Borrowed, bytes, damage ---- */

static void borrowed(void)
{
    struct leat_plan *plan = open_plan(48, "seed 4\n");
    struct leat_loader_options o = options(2);
    static struct made m;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.slice = (struct leat_loader_slice) { 1, 3, LEAT_SLICE_ZIGZAG, 0, { 0, 0 } };
    o.outputs.borrow = 1;
    o.outputs.wanted = LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_AHEAD_LABELS | LEAT_OUTPUT_CU_SEQLENS;
    o.outputs.cu_seqlens_room = NUMBERS;
    o.io.threads = 1;
    l = open_loader(plan, o);
    for (unsigned k = 0; k < 20; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;
        uint64_t at;

        T_OK(leat_loader_next(l, &b, &t_err));
        make(b, 0, 0, &m);
        T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        at = out.rows * out.length;
        T_CHECK(memcmp(out.inputs, m.inputs, at * 8) == 0);
        T_CHECK(memcmp(out.ahead_labels, m.ahead[0], at * 8) == 0);
        T_CHECK(memcmp((const int64_t *)out.ahead_labels + at, m.ahead[1], at * 8) == 0);
        T_CHECK(memcmp(out.cu_seqlens, m.sequences, b->sequences * 4) == 0);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
}

/* Each rank reads its places, and after each end the tokens that labels need; by every engine. */
static void bytes(void)
{
    struct leat_plan *plan = open_plan(1600, "epochs 1\norder sequential\n");
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    leat_plan_info(plan, &info);
    for (enum leat_engine engine = LEAT_ENGINE_AUTO; engine < GATHER_ENGINE_COUNT; engine++)
        for (uint64_t rank = 0; rank < 8; rank++) {
            struct leat_loader_options o = options(0);
            struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
            const struct leat_batch *b;
            struct leat_loader *l;

            o.io.engine = engine;
            o.slice = (struct leat_loader_slice) { rank, 8, LEAT_SLICE_ZIGZAG, 0, { 0, 0 } };
            o.last = LEAT_LAST_SHORT;
            T_OK(leat_loader_open(&l, plan, &o, &t_err));
            while (leat_loader_next(l, &b, &t_err) == LEAT_OK)
                leat_batch_release(b, NULL);
            leat_loader_stats(l, &stats);
            T_EQ(stats.io.bytes, info.samples * (200 + (rank < 7 ? 2 : 1)) * 2);
            T_EQ(stats.io.copied_bytes, stats.io.bytes);
            T_EQ(stats.io.reads, info.samples * (rank < 7 ? 2 : 1));
            if (stats.device.ring_bytes > 0) /* with the mask, and what is said of rows and segments */
                T_CHECK(stats.device.sent_bytes >= stats.io.bytes / 2 * 3 &&
                        stats.device.sent_bytes < stats.io.bytes / 2 * 3 + info.samples * 150 + stats.batches * 400);
            else
                T_EQ(stats.device.sent_bytes, 0);
            leat_loader_close(l);
        }
    leat_plan_close(plan);
}

/* Page 1 of a dataset: rows whose slice has a token of it are masked, and keep their documents; others are as ever. */
static void damage(void)
{
    struct leat_loader_options o = options(0);
    static struct made whole, part;
    struct leat_plan *plan, *clean = open_plan(480, "epochs 1\norder sequential\n");
    const char *copy = t_path(folder, "bad"),
               *text = t_text("source %s\nsource %s\nseq-len 480\nepochs 1\norder sequential\n", copy, names[1]);
    uint64_t damaged = 0, others = 0;

    T_CHECK(copy_file(with(names[0], ".leat"), with(copy, ".leat")));
    T_CHECK(copy_file(with(names[0], ".tokens"), with(copy, ".tokens")));
    t_patch(with(copy, ".tokens"), 4096 + 100, "\xff\xff", 2);
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    o.batch = 1;
    for (o.slice.rank = 0, o.slice.count = 4; o.slice.rank < 4; o.slice.rank++) {
        struct leat_loader *l = open_loader(clean, o), *bad = open_loader(plan, o);
        const struct leat_batch *b, *x;

        while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
            uint64_t first = b->samples[0].token + o.slice.rank * 120, wrong = 0;
            bool hit = b->samples[0].source == 0 && first < 4096 && first + 121 > 2048;

            T_OK(leat_loader_next(bad, &x, &t_err));
            make(b, 0, 0, &whole);
            make(x, 0, 0, &part);
            T_EQ(x->flags[0], hit ? LEAT_ROW_DAMAGED : 0);
            T_EQ(x->damaged_rows, hit);
            for (uint64_t i = 0; i < part.length && hit; i++) {
                wrong += part.inputs[i] != END || part.labels[i] != -100 || part.loss[i] || part.weights[i] != 0;
                wrong += part.positions[i] != whole.positions[i] || part.documents[i] != whole.documents[i];
            }
            for (uint64_t i = 0; i < part.length && !hit; i++)
                wrong += differ(&part, i, &whole, i, 0) > 0;
            T_EQ(wrong, 0);
            damaged += hit;
            others += !hit;
            leat_batch_release(b, NULL);
            leat_batch_release(x, NULL);
        }
        leat_loader_close(l);
        leat_loader_close(bad);
    }
    T_CHECK(damaged > 10 && others > 50);
    leat_plan_close(plan);
    leat_plan_close(clean);
}

/* ---- Refusals ---- */

static void refused(const struct leat_plan *plan, struct leat_loader_options o, const char *words)
{
    struct leat_loader *l;

    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, words);
    T_CHECK(!l);
}

#define REFUSED(plan, words, ...)                                                                                      \
    do {                                                                                                               \
        struct leat_loader_options o = options(0);                                                                     \
        __VA_ARGS__;                                                                                                   \
        refused(plan, o, words);                                                                                       \
    } while (0)
#define SLICE(rank, count, layout)                                                                                     \
    o.slice = (struct leat_loader_slice)                                                                               \
    {                                                                                                                  \
        rank, count, LEAT_SLICE_##layout, 0,                                                                           \
        {                                                                                                              \
            0, 0                                                                                                       \
        }                                                                                                              \
    }

static void refusals(void)
{
    struct leat_plan *windows = open_plan(100, ""), *fit = open_plan(96, "order fit\nalign 12\n");
    struct leat_plan *phases = open_plan(96, "order fit\nat 50:1,1:len=100\n");

    REFUSED(windows, "a multiple of 3: 99 or 102", SLICE(0, 3, CONTIGUOUS));
    REFUSED(windows, "a multiple of 16: 96 or 112", SLICE(0, 8, ZIGZAG));
    REFUSED(windows, "a multiple of 256: 256", SLICE(0, 128, ZIGZAG));
    REFUSED(phases, "rows of 100 places cannot be cut into 6", SLICE(0, 3, ZIGZAG));
    REFUSED(windows, "zigzag-documents need the order fit", SLICE(0, 2, ZIGZAG_DOCUMENTS));
    REFUSED(fit, "an `align` that is a multiple of 8", SLICE(0, 4, ZIGZAG_DOCUMENTS));
    REFUSED(windows, "no slice 4: there are 4", SLICE(4, 4, CONTIGUOUS));
    REFUSED(windows, "no slice 1: there are 0", SLICE(1, 0, CONTIGUOUS));
    REFUSED(windows, "at most 65536 slices", SLICE(0, 65537, CONTIGUOUS));
    REFUSED(windows, "unknown value 3 for slice_layout", o.slice.layout = (enum leat_slice_layout)3);
    REFUSED(windows, "at most 256 labels ahead, not 257", o.outputs.ahead = 257);
    REFUSED(windows, "`unshifted` outputs have no labels ahead", o.outputs.ahead = 1; o.outputs.unshifted = 1);
    REFUSED(windows, "cannot have `unshifted` labels", SLICE(0, 2, CONTIGUOUS); o.outputs.unshifted = 1);
    REFUSED(windows, "need `ahead`", o.outputs.wanted = LEAT_OUTPUT_AHEAD_LABELS);
    leat_plan_close(windows);
    leat_plan_close(fit);
    leat_plan_close(phases);
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    write_dataset(0, &random);
    write_dataset(1, &random);
    all_ahead();
    for (uint64_t count = 1; count <= 16; count++)
        slices_of(count, count == 2 || count == 3 || count == 8);
    slices_of_documents(3, BATCH, "order documents\nseed 8\n");
    slices_of_documents(3, 0, "order documents\nseed 8\nmax-tokens 150\nmax-rows 4\npool 300\n");
    slices_of_documents(5, 0, "order documents\nmax-tokens 76\nmax-rows 4\nfim 0.5,0.5,1,2,3\n");
    borrowed();
    bytes();
    damage();
    refusals();
    for (unsigned i = 0; i < 2; i++) {
        leat_dataset_close(datasets[i]);
        free(tokens_of[i]);
        free(documents_of[i]);
        free(masks_of[i]);
    }
    return t_end();
}
