/*
 * test_loader_changed.c: rows that the plan changes (fill-in-the-middle, begin tokens): what a loader makes of them is
 * what leat_plan_row() says (tests/order compares that with a twin), number by number, worked out here from the tokens
 * one by one: in each order, by each engine, whole and in slices, from sources with a mask and without, with labels
 * ahead, all that takes the loss of a label, documents that are banned from a sample on, unshifted labels, borrowed and
 * narrow outputs. The rows do not depend on the ranks nor on where a run resumes, and are those of the plan
 * without fill-in-the-middle if the rate is 0.
 */
#include "gather/gather.h"
#include "loader/loader.h"
#include "loading.h"
#include "one_document.h"

#define LENGTH    48u
#define ROWS      8u
#define AHEAD     2u
#define DOCUMENTS 300u
#define MOST      4096u /* tokens of a row */
#define BEGIN     7u
#define END       9u
#define IGNORED   (-7)

static const char *const orders[] = { "order shuffled",
                                      "order sequential\nbase-len 96",
                                      "order documents",
                                      "order fit",
                                      "order fit\nalign 8",
                                      "order fit\noverlap 5",
                                      "order megatron",
                                      "order fit\nbegin 1",
                                      "order fit\nalign 8\noverlap 5\nbegin 1" };
#define ORDERS (sizeof orders / sizeof orders[0])

/* ---- The dataset ---- */

static const char *names[2];                     /* with a mask and without */
static uint16_t document_of[2][202 * DOCUMENTS]; /* of each token */

static void write_dataset(unsigned number)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint16_t ids[200];
    uint8_t mask[200];
    uint64_t at = 0;

    options.vocabulary = 65536;
    options.begin_token = BEGIN;
    options.end_token = END;
    options.store_mask = number == 0;
    T_OK(leat_writer_open(&w, names[number], &options, &t_err));
    for (uint64_t d = 0; d < DOCUMENTS; d++) {
        uint64_t length = counting_length(d, d % 10 == 0 ? 90 : 15);

        for (uint64_t i = 0; i < length; i++, at++) {
            ids[i] = (uint16_t)counting_token(at, 2);
            mask[i] = at % 3 == 0 ? 0 : (uint8_t)counting_mix(at + 1);
        }
        for (uint64_t i = leat_writer_tokens(w); i < leat_writer_tokens(w) + length + 2; i++)
            document_of[number][i] = (uint16_t)d;
        T_OK(add_one_document(w, ids, 2, number == 0 ? mask : NULL, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* ---- Bans: ranges of documents of a source, from a sample on; they may overlap ---- */

#define BANS 40u
static struct {
    uint64_t source, start, first, last;
} bans[BANS];
static uint64_t banned; /* tokens whose loss was taken so */

static const char *ban_lines(uint64_t *random)
{
    const char *lines = "";

    for (unsigned i = 0; i < BANS; i++) {
        bans[i].source = t_below(random, 2);
        bans[i].start = t_below(random, 3) * t_below(random, 60);
        bans[i].first = t_below(random, DOCUMENTS - 10);
        bans[i].last = bans[i].first + t_below(random, 4) * t_below(random, 4);
        lines = t_text("%sban %" PRIu64 ":%s:%" PRIu64 "-%" PRIu64 "\n", lines, bans[i].start, names[bans[i].source],
                       bans[i].first, bans[i].last);
    }
    return lines;
}

static bool is_banned(uint64_t source, uint64_t document, uint64_t number)
{
    bool found = false;

    for (unsigned i = 0; i < BANS; i++)
        found |= bans[i].source == source && bans[i].first <= document && document <= bans[i].last &&
                 bans[i].start <= number;
    banned += found;
    return found;
}

/* ---- What a row must be ---- */

struct token {
    uint32_t id;
    uint8_t weight;
    bool begins; /* what the row has of a document */
};

struct expected {
    int64_t inputs, labels, ahead[AHEAD], positions, documents;
    float weights;
};

static bool starts_document(uint64_t source, uint64_t token)
{
    return token == 0 || document_of[source][token] != document_of[source][token - 1];
}
/* The label that token `label` of a chain is to a place: `after` of its tokens come from beyond the row. */
static int64_t label_of(const struct token *chain, uint64_t count, uint64_t place, uint64_t label, bool mask_first)
{
    if (label >= count || chain[label].weight == 0)
        return IGNORED;
    for (uint64_t i = place + 1; i <= label && mask_first; i++)
        if (chain[i].begins)
            return IGNORED;
    return chain[label].id;
}

/* Fills in places of a row from the tokens of a chain, of which `count` may be labels; returns how many places. */
static uint64_t put_chain(const struct token *chain, uint64_t count, uint64_t places, bool unshifted, bool mask_first,
                          struct expected *e, int64_t *document)
{
    uint64_t begin = 0;

    for (uint64_t i = 0; i < places; i++) {
        uint64_t label = unshifted ? i : i + 1;

        if (i < count && chain[i].begins && i > 0) {
            begin = i;
            ++*document;
        }
        e[i].inputs = i < count ? chain[i].id : END;
        e[i].positions = (int64_t)(i - begin);
        e[i].documents = *document;
        e[i].labels = label_of(chain, count, label > 0 ? label - 1 : 0, label, mask_first);
        if (unshifted && i == 0 && *document > 0) /* a document of its own, which nothing predicts */
            e[i].labels = IGNORED;
        e[i].weights = e[i].labels == IGNORED ? 0.0f : (float)chain[label].weight / 255.0f;
        for (unsigned j = 0; j < AHEAD; j++)
            e[i].ahead[j] = label_of(chain, count, i, i + 2 + j, mask_first);
    }
    ++*document;
    return places;
}

struct wanted {
    struct leat_plan *plan;
    const struct leat_dataset *datasets[2];
    struct leat_plan_info info;
    bool bans, fit, beyond, unshifted, mask_first, mask_row_first, mask_begin;
};

/* Reads tokens that a sample shows. */
static void read_tokens(const struct wanted *w, const struct leat_sample *x, uint64_t first, uint64_t count,
                        struct token *to)
{
    const struct leat_dataset *d = w->datasets[x->source];
    static uint32_t ids[MOST];
    static uint8_t mask[MOST];

    T_OK(leat_dataset_read_u32(d, first, count, ids, &t_err));
    T_OK(leat_dataset_mask(d, first, count, mask, &t_err));
    for (uint64_t i = 0; i < count; i++) {
        if (w->bans && is_banned(x->source, document_of[x->source][first + i], x->number))
            mask[i] = 0;
        to[i] = (struct token) { ids[i], mask[i], starts_document(x->source, first + i) };
    }
}

static uint64_t begins, seconds; /* tokens whose loss was taken as begin tokens, or as a row's second one */

/* Takes the loss of tokens [from, to) of a chain, of which token 0 is the row's `first`-th. */
static void take_loss(const struct wanted *w, struct token *chain, uint64_t from, uint64_t to, uint64_t first)
{
    for (uint64_t i = from; i < to; i++) {
        bool begin = w->mask_begin && chain[i].id == BEGIN, second = w->mask_row_first && first + i == 1;

        begins += begin;
        seconds += second;
        if (begin || second)
            chain[i].weight = 0;
    }
}

/* The whole row of a sample; returns its places. */
static uint64_t expect_row(const struct wanted *w, const struct leat_sample *x, struct expected *e)
{
    static struct token chain[MOST];
    static struct leat_stretch row[MOST];
    static struct leat_piece pieces[MOST];
    const struct leat_dataset *d = w->datasets[x->source];
    const struct leat_stretch *t = row;
    uint64_t stretches, at = 0, tokens = 0, shown = 0, context, more;
    int64_t document = 0;

    T_OK(leat_plan_pieces(w->plan, x, 1, pieces, &t_err));
    T_OK(leat_plan_row(w->plan, x, row, MOST, &stretches, &t_err));
    T_CHECK(stretches <= MOST);
    for (uint32_t k = 0; k < x->pieces; k++) {
        const struct leat_piece *p = &pieces[k];
        uint64_t first = tokens, start = p->token, places;

        if (w->info.overlap > 0)
            T_OK(leat_dataset_starts(d, p->document, 1, &start, &t_err));
        context = start < p->token ? p->token + w->info.overlap + 1 : 0;
        for (; tokens < first + p->count; tokens += t++->count) {
            if (t->literal)
                chain[tokens] =
                    (struct token) { (uint32_t)t->token,
                                     w->bans && is_banned(x->source, t->document, x->number) ? 0 : 255, false };
            else
                read_tokens(w, x, t->token, t->count, chain + tokens);
            for (uint32_t i = 0; i < t->count && !t->literal; i++)
                if (t->token + i < context)
                    chain[tokens + i].weight = 0;
        }
        for (uint64_t i = 0; i < p->count; i++) /* by place: tokens have moved */
            chain[first + i].begins = i == 0 || starts_document(x->source, p->token + i);
        take_loss(w, chain, first, tokens, w->fit ? shown : 0);
        shown += p->count;
        if (!w->fit)
            continue;
        places = p->count - !w->unshifted;
        places += w->info.align > 0 ? (w->info.align - places % w->info.align) % w->info.align : 0;
        at += put_chain(chain, p->count, places, w->unshifted, w->mask_first || w->unshifted, e + at, &document);
        tokens = 0;
    }
    T_EQ((uint64_t)(t - row), stretches);
    if (w->fit || tokens == 0)
        return at;
    more = 0;
    if (w->beyond && !t[-1].literal && t[-1].token + t[-1].count == pieces[0].token + pieces[0].count) {
        struct leat_info info = LEAT_INFO_INIT;
        uint64_t end = pieces[0].token + pieces[0].count;

        leat_dataset_info(d, &info);
        more = info.tokens - end < AHEAD ? info.tokens - end : AHEAD;
        read_tokens(w, x, end, more, chain + tokens);
        take_loss(w, chain, tokens, tokens + more, 0);
    }
    /* labels of the places themselves do not reach beyond */
    return put_chain(chain, tokens + more, tokens - !w->unshifted, w->unshifted, w->mask_first, e, &document);
}

/* ---- What it is ---- */

static uint64_t place_of(const struct leat_loader_slice *s, uint64_t i, uint64_t whole)
{
    uint64_t chunk = whole / (2 * s->count);

    if (s->layout == LEAT_SLICE_CONTIGUOUS || s->count == 1)
        return s->rank * (whole / s->count) + i;
    return i < chunk ? s->rank * chunk + i : (2 * s->count - 1 - s->rank) * chunk + i - chunk;
}

static int64_t number_at(const struct leat_outputs *o, const void *numbers, uint64_t at)
{
    return o->number_bytes == 4 ? ((const int32_t *)numbers)[at] : ((const int64_t *)numbers)[at];
}

static void check_batch(const struct wanted *w, const struct leat_batch *b, const struct leat_outputs *o,
                        unsigned ahead, const struct leat_loader_slice *slice)
{
    static struct expected e[MOST];
    uint64_t wrong = 0;

    for (uint64_t row = 0; row < b->rows; row++) {
        uint64_t places = expect_row(w, &b->samples[row], e);

        for (uint64_t i = 0; i < b->length; i++) {
            uint64_t place = place_of(slice, i, b->whole_length), at = row * b->length + i;

            if (place >= places) {
                wrong += number_at(o, o->inputs, at) != END || number_at(o, o->labels, at) != IGNORED ||
                         o->loss_weights[at] != 0.0f;
                continue;
            }
            wrong += number_at(o, o->inputs, at) != e[place].inputs || number_at(o, o->labels, at) != e[place].labels ||
                     number_at(o, o->position_ids, at) != e[place].positions ||
                     number_at(o, o->document_ids, at) != e[place].documents ||
                     o->loss_weights[at] != e[place].weights || o->loss_mask[at] != (e[place].weights > 0.0f);
            for (unsigned j = 0; j < ahead; j++)
                wrong +=
                    number_at(o, o->ahead_labels, (j * (uint64_t)b->rows + row) * b->length + i) != e[place].ahead[j];
        }
    }
    T_EQ(wrong, 0);
}

#define WANTED                                                                                                         \
    (LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS | LEAT_OUTPUT_LOSS_MASK | LEAT_OUTPUT_POSITION_IDS |                      \
     LEAT_OUTPUT_DOCUMENT_IDS | LEAT_OUTPUT_LOSS_WEIGHTS)

static void write_outputs(const struct leat_batch *b, struct leat_outputs *o, bool ahead)
{
    static int64_t inputs[ROWS * MOST], labels[ROWS * MOST], positions[ROWS * MOST], documents[ROWS * MOST];
    static int64_t next[AHEAD * ROWS * MOST];
    static uint8_t loss[ROWS * MOST];
    static float weights[ROWS * MOST];

    o->inputs = inputs;
    o->labels = labels;
    o->position_ids = positions;
    o->document_ids = documents;
    o->loss_mask = loss;
    o->loss_weights = weights;
    o->ahead_labels = ahead ? next : NULL;
    T_OK(leat_batch_write(b, o, NULL, &t_err));
}

/* The loader's batches, all of them, from a position on. */
static void check_loader(const struct wanted *w, struct leat_loader_options *o)
{
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t batches = 0;

    o->outputs.wanted = WANTED | (o->outputs.ahead > 0 ? LEAT_OUTPUT_AHEAD_LABELS : 0);
    o->outputs.unshifted = w->unshifted;
    o->outputs.mask_first = w->mask_first;
    o->outputs.mask_row_first = w->mask_row_first;
    o->outputs.mask_begin = w->mask_begin;
    o->outputs.ignore_index = IGNORED;
    T_OK(leat_loader_open(&l, w->plan, o, &t_err));
    for (; batches < 12 && leat_loader_next(l, &b, &t_err) == LEAT_OK; batches++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.number_bytes = o->outputs.number_bytes;
        out.unshifted = w->unshifted;
        out.mask_first = w->mask_first;
        if (o->outputs.borrow)
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        else
            write_outputs(b, &out, o->outputs.ahead > 0);
        check_batch(w, b, &out, o->outputs.ahead, &o->slice);
        leat_batch_release(b, NULL);
    }
    T_CHECK(batches > 3);
    leat_loader_close(l);
}

static struct leat_plan *plan_of(const char *order, const char *rate, const char *more)
{
    return loading_plan(t_text("source %s\nsource %s\nseq-len %u\nseed 3\n%s\n%s%s", names[0], names[1], LENGTH, order,
                               *rate ? t_text("fim %s,0.5,100,200,300\n", rate) : "", more));
}

static void check_order(const char *order, const char *rate, const char *more)
{
    static const enum leat_apart aparts[] = { LEAT_APART_AUTO, LEAT_APART_ALWAYS, LEAT_APART_NEVER };
    struct wanted w = { .plan = plan_of(order, rate, more), .info = LEAT_PLAN_INFO_INIT, .bans = *more };

    leat_plan_info(w.plan, &w.info);
    for (unsigned i = 0; i < 2; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;

        T_OK(leat_plan_source_info(w.plan, i, &source, &t_err));
        w.datasets[i] = source.dataset;
    }
    w.fit = w.info.order == LEAT_ORDER_FIT;
    w.beyond = w.info.order <= LEAT_ORDER_SEQUENTIAL;
    for (unsigned how = 0; how < 24; how++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        uint64_t slices = how % 4 == 3 ? 4 : 1 + how % 4 % 2;

        o.batch = ROWS;
        o.last = LEAT_LAST_DROPPED;
        w.mask_first = how / 4 % 2;
        w.mask_row_first = how % 5 > 2;
        w.mask_begin = how % 7 > 3;
        w.unshifted = how >= 16 && slices == 1;
        o.slice.count = slices;
        o.slice.rank = how / 4 % slices;
        o.slice.layout = how % 8 < 4 ? LEAT_SLICE_ZIGZAG : LEAT_SLICE_CONTIGUOUS;
        o.outputs.ahead = how >= 8 && !w.unshifted ? AHEAD : 0;
        o.outputs.borrow = how % 3 == 2;
        o.outputs.number_bytes = how % 5 < 2 ? 4 : 8;
        o.io.engine = (enum leat_engine)(how % GATHER_ENGINE_COUNT);
        o.io.apart = aparts[how / 2 % 3];
        if (w.info.order == LEAT_ORDER_MEGATRON && how == 0)
            o.batch = 4; /* it ends soon */
        check_loader(&w, &o);
    }
    leat_plan_close(w.plan);
}

/* ---- Ranks, resuming, a rate of 0 ---- */

/* A hash of the inputs of each position [from, from + count), taken by so many ranks. */
static void take(const struct leat_plan *plan, uint64_t world, uint64_t from, uint64_t count, uint64_t *hashes)
{
    static int64_t inputs[64 * MOST];

    for (uint64_t rank = 0; rank < world; rank++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        const struct leat_batch *b;
        struct leat_loader *l;

        o.batch = count;
        o.position = from;
        o.last = LEAT_LAST_PADDED;
        o.ranks.rank = rank;
        o.ranks.world = world;
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        T_OK(leat_loader_next(l, &b, &t_err));
        for (uint64_t row = 0; row < b->rows; row++) {
            struct leat_outputs out = LEAT_OUTPUTS_INIT;
            uint64_t position = leat_plan_position(plan, b->samples[row].number, NULL);

            out.inputs = inputs;
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
            hashes[position] = position;
            for (uint64_t i = 0; i < b->lengths[row]; i++)
                hashes[position] = counting_mix(hashes[position] ^ (uint64_t)inputs[row * b->length + i]);
        }
        leat_batch_release(b, NULL);
        leat_loader_close(l);
    }
}

static void check_ranks(const char *order)
{
    struct leat_plan *plan = plan_of(order, "0.8", ""), *same = plan_of(order, "0", "");
    struct leat_plan *plain = plan_of(order, "", "");
    static uint64_t one[64], other[64], without[64];
    const uint64_t count = 40;
    uint64_t changed = 0;

    take(plan, 1, 0, count, one);
    for (uint64_t world = 2; world <= 8; world++) {
        if (count % world != 0)
            continue;
        memset(other, 0, sizeof other);
        take(plan, world, 0, count, other);
        T_CHECK(memcmp(one, other, count * sizeof *one) == 0);
    }
    memset(other, 0, sizeof other); /* resumed, by three ranks */
    take(plan, 3, 10, 30, other);
    T_CHECK(memcmp(one + 10, other + 10, 30 * sizeof *one) == 0);
    take(plain, 1, 0, count, without);
    take(same, 1, 0, count, other);
    T_CHECK(memcmp(without, other, count * sizeof *other) == 0);
    for (uint64_t i = 0; i < count; i++)
        changed += one[i] != without[i];
    T_CHECK(changed > count / 4);
    leat_plan_close(plan);
    leat_plan_close(same);
    leat_plan_close(plain);
}

int main(void)
{
    const char *folder = t_folder(), *lines;
    uint64_t random = t_seed();

    for (unsigned i = 0; i < 2; i++) {
        names[i] = t_text("%s/%u", folder, i);
        write_dataset(i);
    }
    lines = ban_lines(&random);
    for (size_t i = 0; i < ORDERS; i++) {
        check_order(orders[i], "0.8", i % 2 ? lines : "");
        check_order(orders[i], "", i % 2 ? "" : lines);
        check_ranks(orders[i]);
    }
    T_CHECK(begins > 1000 && seconds > 1000 && banned > 1000);
    return t_end();
}
