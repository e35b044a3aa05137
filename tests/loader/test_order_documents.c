/*
 * test_order_documents.c: the order of documents, told three times: by leat_plan_samples() and leat_plan_pieces(), by
 * leat_plan_trace() from every document and from random tokens, and by what loaders really deliver, for all ranks, with
 * skips, and after each state. All are compared with a list of the documents that is made here by going through the
 * datasets. Documents without tokens, of one token, and longer than a row; lists; splits; both directions of time.
 */
#include "one_document.h"
#include "order/permute.h"
#include "pieces_of.h"
#include "t.h"

#define SOURCES 3u
#define ROOM    4000u
#define LENGTH  20u

static const char *folder;

/* Tokens of a dataset count up, modulo 2^16, from its seed on. */
static void write_dataset(const char *name, uint64_t documents, uint64_t below, uint16_t first)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint64_t random = first + 1;
    uint16_t ids[200], next = first;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    for (uint64_t i = 0; i < documents; i++) {
        uint64_t length = t_below(&random, 4) == 0 ? t_below(&random, 3) : t_below(&random, below);

        for (uint64_t k = 0; k < length; k++)
            ids[k] = next++;
        T_OK(add_one_document(w, ids, 2, NULL, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* ---- All documents of a plan, by going through its datasets ---- */

struct document {
    uint32_t source, part;
    uint64_t number, token, tokens, offset; /* number and token in the source */
};

struct all {
    struct leat_plan *plan;
    struct document documents[ROOM];
    uint64_t count, samples;
    bool sequential;
    uint64_t seed;
};

/* The first token from a tenth of a dataset on at which a document begins. */
static uint64_t border(const struct leat_dataset *d, const struct leat_part *part, uint64_t tenths)
{
    uint64_t wish = part->tokens * tenths / 10, first, count;

    for (uint64_t i = 0; i < part->documents && wish > 0; i++) {
        T_OK(leat_dataset_document(d, part->first_document + i, &first, &count, &t_err));
        if (first - part->first_token >= wish)
            return first - part->first_token;
    }
    return wish > 0 ? part->tokens : 0;
}

static void list_part(struct all *a, uint32_t source, const struct leat_dataset *d, uint32_t number, uint64_t from,
                      uint64_t to)
{
    struct leat_part part = LEAT_PART_INIT;
    uint64_t begin, end;

    T_OK(leat_dataset_part(d, number, &part, &t_err));
    begin = border(d, &part, from);
    end = border(d, &part, to);
    for (uint64_t i = 0; i < part.documents; i++) {
        struct document x = { source, number, part.first_document + i, 0, 0, 0 };

        T_OK(leat_dataset_document(d, x.number, &x.token, &x.tokens, &t_err));
        x.offset = x.token - part.first_token;
        if ((to < 10 || from > 0) && (x.offset < begin || x.offset >= end))
            continue;
        T_CHECK(a->count < ROOM);
        a->documents[a->count++] = x;
    }
}

/* A plan of all three sources; `from` and `to` in tenths. */
static void open_plan(struct all *a, const char *order, uint64_t epochs, uint64_t from, uint64_t to, const char *more)
{
    char text[2000], use[100] = "";

    memset(a, 0, sizeof *a);
    a->sequential = strcmp(order, "documents") != 0;
    a->seed = 77;
    if (to < 10 || from > 0)
        snprintf(use, sizeof use, "split x=0.%u,y=0.%u\nuse %s\n", (unsigned)(from ? from : to),
                 (unsigned)(from ? to - from : 10 - to), from ? "y" : "x");
    snprintf(text, sizeof text,
             "source %s/a:3\nsource @%s/list\nsource %s/c:0.5\nseq-len %u\nseed 77\norder %s\n"
             "epochs %u\n%s%s",
             folder, folder, folder, LENGTH, order, (unsigned)epochs, use, more);
    T_OK(leat_plan_parse(&a->plan, text, strlen(text), NULL, NULL, &t_err));
    for (uint32_t i = 0; i < SOURCES; i++) {
        struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_info d = LEAT_INFO_INIT;

        T_OK(leat_plan_source_info(a->plan, i, &info, &t_err));
        leat_dataset_info(info.dataset, &d);
        for (uint32_t k = 0; k < d.parts; k++)
            list_part(a, i, info.dataset, k, from, to);
    }
    a->samples = a->count * epochs;
}

static const struct document *document_of(const struct all *a, uint64_t n)
{
    struct permute p = permute_make(a->count, a->seed, UINT32_MAX);
    uint64_t i = n % a->count;

    return &a->documents[a->sequential ? i : permute_forward(&p, n / a->count, i)];
}

static uint64_t row_tokens(const struct document *d)
{
    return d->tokens < LENGTH + 1 ? d->tokens : LENGTH + 1;
}

/* ---- Samples and pieces ---- */

static void check_sample(const struct all *a, const struct leat_sample *x)
{
    const struct document *d = document_of(a, x->number);
    struct leat_piece piece, none;
    uint64_t count;

    T_EQ(x->epoch, x->number / a->count);
    T_EQ(x->source, d->source);
    T_EQ(x->part, d->part);
    T_EQ(x->block, d->number);
    T_EQ(x->token, d->token);
    T_EQ(x->offset, d->offset);
    T_EQ(x->tokens, row_tokens(d));
    T_EQ(x->length, d->tokens ? row_tokens(d) - 1 : 0);
    T_EQ(x->pieces, 1);
    T_OK(pieces_of(a->plan, x->number, &none, 0, &count, &t_err));
    T_EQ(count, 1);
    T_OK(pieces_of(a->plan, x->number, &piece, 1, &count, &t_err));
    T_EQ(count, 1);
    T_EQ(piece.source, d->source);
    T_EQ(piece.part, d->part);
    T_EQ(piece.token, d->token);
    T_EQ(piece.offset, d->offset);
    T_EQ(piece.document, d->number);
    T_EQ(piece.count, row_tokens(d));
    T_EQ(piece.at, 0);
}

static void check_samples(const struct all *a)
{
    struct leat_sample some[7], one;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t got = 0;

    leat_plan_info(a->plan, &info);
    T_EQ(info.samples, a->samples);
    T_EQ(info.max_seq_len, LENGTH);
    for (uint64_t n = 0; n < a->samples; n += got) {
        T_OK(leat_plan_samples(a->plan, n, 7, some, &got, &t_err));
        T_EQ(got, a->samples - n < 7 ? a->samples - n : 7);
        for (uint64_t i = 0; i < got; i++) {
            T_EQ(some[i].number, n + i);
            check_sample(a, &some[i]);
            T_OK(leat_plan_sample(a->plan, n + i, &one, &t_err));
            T_CHECK(memcmp(&one, &some[i], sizeof one) == 0);
        }
    }
    T_STATUS(leat_plan_sample(a->plan, a->samples, &one, &t_err), LEAT_E_RANGE);
}

/* ---- The way back ---- */

static uint32_t count_sample(void *context, const struct leat_sample *x)
{
    ((uint8_t *)context)[x->number]++;
    return 0;
}

/* Which samples show one of these tokens: by trace, in two stretches, and by going through all samples. */
static void check_trace(const struct all *a, uint32_t source, uint64_t first, uint64_t count, uint64_t epochs,
                        uint64_t until)
{
    uint8_t *found = calloc(a->samples, 1);
    uint64_t wrong = 0, border = (until < a->samples ? until : a->samples) / 2;

    T_OK(leat_plan_trace(a->plan,
                         &(struct leat_trace) { sizeof(struct leat_trace), source, first, count, epochs, 0, border },
                         count_sample, found, &t_err));
    T_OK(leat_plan_trace(
        a->plan, &(struct leat_trace) { sizeof(struct leat_trace), source, first, count, epochs, border, until },
        count_sample, found, &t_err));
    for (uint64_t n = 0; n < a->samples; n++) {
        const struct document *d = document_of(a, n);
        uint64_t inputs = d->tokens ? row_tokens(d) - 1 : 0;
        bool shows = d->source == source && n / a->count < epochs && n < until && d->token < first + count &&
                     d->token + inputs > first && inputs > 0 && count > 0;

        wrong += found[n] != shows;
    }
    T_EQ(wrong, 0);
    free(found);
}

static void check_traces(const struct all *a, uint64_t *random)
{
    for (uint64_t i = 0; i < a->count; i += 1 + t_below(random, 8))
        check_trace(a, a->documents[i].source, a->documents[i].token, a->documents[i].tokens, LEAT_NONE, LEAT_NONE);
    for (unsigned i = 0; i < 60; i++) {
        struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
        uint32_t source = (uint32_t)t_below(random, SOURCES);
        struct leat_info d = LEAT_INFO_INIT;
        uint64_t first;

        T_OK(leat_plan_source_info(a->plan, source, &info, &t_err));
        leat_dataset_info(info.dataset, &d);
        first = t_below(random, d.tokens);
        check_trace(a, source, first, t_below(random, i % 2 ? 30 : d.tokens - first), 1 + t_below(random, 3),
                    t_below(random, 2 * a->samples));
    }
}

/* ---- What loaders deliver ---- */

static uint32_t stored(const struct leat_batch *b, uint32_t row, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)leat_batch_row(b, row) + 2 * i;

    return p[0] | (uint32_t)p[1] << 8;
}

/* Rows [first, first + rows) of the plan's positions, longest first, equals in their order. */
static void check_batch(const struct all *a, const struct leat_batch *b, uint64_t first, uint32_t rows)
{
    uint8_t shown[64] = { 0 };

    T_EQ(b->rows, rows);
    for (uint32_t row = 0; row < b->rows && row < rows; row++) {
        const struct leat_sample *x = &b->samples[row];
        struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
        uint64_t position = leat_plan_position(a->plan, x->number, NULL);
        uint32_t ids[LENGTH + 1] = { 0 };

        check_sample(a, x);
        T_CHECK(position >= first && position < first + rows && !shown[position - first]++);
        T_CHECK(row == 0 || x->length < x[-1].length || (x->length == x[-1].length && x->number > x[-1].number));
        T_EQ(b->lengths[row], x->length);
        T_OK(leat_plan_source_info(a->plan, x->source, &info, &t_err));
        T_OK(leat_dataset_read_u32(info.dataset, x->token, x->tokens, ids, &t_err));
        for (uint64_t i = 0; i < x->tokens; i++)
            T_EQ(stored(b, row, i), ids[i]);
    }
}

/* All batches of a rank from a position or state on; the state after batch `keep` goes to `text`. */
static void take(const struct all *a, uint32_t batch, uint32_t rank, uint32_t world, const char *state, uint64_t from,
                 uint64_t keep, char *text)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t each = batch / world;

    leat_plan_info(a->plan, &info);
    o.batch = batch;
    o.ranks.rank = rank;
    o.ranks.world = world;
    o.state = state;
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
    T_OK(leat_loader_open(&l, a->plan, &o, &t_err));
    for (uint64_t k = 0; leat_loader_next(l, &b, &t_err) == LEAT_OK; k++, from += batch) {
        uint64_t first = from + rank * each, left = info.positions > first ? info.positions - first : 0;

        T_EQ(b->position, from);
        check_batch(a, b, first, (uint32_t)(left < each ? left : each));
        T_EQ(b->sequences >= b->rows, 1); /* a row is one document, and padding after it one more stretch */
        if (k == keep)
            T_OK(leat_batch_state(b, text, &t_err));
        leat_batch_release(b, NULL);
    }
    T_EQ(t_err.status, LEAT_E_END);
    T_CHECK(from + rank * each >= info.positions || from >= info.positions);
    leat_loader_close(l);
}

static void check_loaders(const struct all *a)
{
    char state[LEAT_PLAN_STATE_BYTES], other[LEAT_PLAN_STATE_BYTES];
    struct leat_plan_state s = LEAT_PLAN_STATE_INIT;
    struct leat_plan *windows;

    take(a, 7, 0, 1, NULL, 0, 9, state);
    T_OK(leat_plan_state_load(a->plan, state, strlen(state), &s, &t_err));
    T_EQ(s.position, 70);
    take(a, 5, 0, 1, state, 70, LEAT_NONE, NULL); /* another batch from there on */
    for (uint32_t rank = 0; rank < 3; rank++)
        take(a, 12, rank, 3, NULL, 0, LEAT_NONE, NULL);
    /* the order is in the state */
    T_OK(leat_plan_reorder(&windows, a->plan, LEAT_ORDER_SHUFFLED, 0, &t_err));
    T_REFUSED(leat_plan_state_load(windows, state, strlen(state), &s, &t_err), LEAT_E_CHECKPOINT,
              "its order is documents");
    s.position = 3;
    T_OK(leat_plan_state_save(windows, &s, other, &t_err));
    T_STATUS(leat_plan_state_load(a->plan, other, strlen(other), &s, &t_err), LEAT_E_CHECKPOINT);
    leat_plan_close(windows);
}

/* ---- All together ---- */

static void all(uint64_t *random)
{
    static const struct {
        const char *order, *more;
        uint64_t epochs, from, to;
    } plans[] = {
        { "documents", "", 2, 0, 10 },
        { "documents-sequential", "", 2, 0, 10 },
        { "documents", "", 3, 0, 7 },
        { "documents", "skip 3:11\nskip 60:61\n", 2, 7, 10 },
        { "documents-sequential", "skip 0:1\nskip 100:140\n", 1, 4, 10 },
    };
    static struct all a;

    for (size_t i = 0; i < sizeof plans / sizeof plans[0] && !t_failures; i++) {
        open_plan(&a, plans[i].order, plans[i].epochs, plans[i].from, plans[i].to, plans[i].more);
        T_CHECK(a.count > 100);
        if (!plans[i].more[0])
            check_samples(&a);
        check_traces(&a, random);
        check_loaders(&a);
        leat_plan_close(a.plan);
        if (t_failures)
            T_FAIL("in plan %u", (unsigned)i);
    }
}

static void refused(void)
{
    struct leat_plan *plan;
    char text[900];

    snprintf(text, sizeof text, "source %s/a\nseq-len 4\norder documents\nat 8:1\n", folder);
    T_REFUSED(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err), LEAT_E_ARGUMENT,
              "order documents has no phases");
    snprintf(text, sizeof text, "source %s/a\nseq-len 1000000\norder documents\n",
             folder); /* no block, and none needed */
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    leat_plan_close(plan);
    snprintf(text, sizeof text, "source %s/none\nseq-len 4\norder documents\n", folder);
    write_dataset("none", 0, 1, 0);
    T_REFUSED(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err), LEAT_E_ARGUMENT,
              "needs 1 to 2^48 documents");
}

int main(void)
{
    uint64_t random = t_seed();
    FILE *list;

    folder = t_folder();
    write_dataset("a", 300, 60, 0);
    write_dataset("b0", 150, 40, 20000);
    write_dataset("b1", 9, 100, 30000);
    write_dataset("b2", 200, 30, 40000);
    write_dataset("c", 100, 90, 50000);
    list = fopen(t_path(folder, "list"), "w");
    fprintf(list, "b0\nb1\nb2\n");
    fclose(list);
    all(&random);
    refused();
    return t_end();
}
