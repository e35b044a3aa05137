/*
 * test_order_fit_begin.c: rows of whole documents where what continues a document begins with the begin token: over an
 * epoch, the sequences of all batches are those of a second reading, which knows nothing of rows: it cuts the tokens of
 * each document, puts begin tokens before the cuts, and compares inputs, labels, positions, document ids and the loss
 * mask. With alignment, overlap and unshifted labels, for several ranks, and resumed. Each token of a document but its
 * first is a label once. The rows are those of the plan without begin tokens but for these, and its state is refused.
 */
#include "loading.h"
#include "one_document.h"

#define BEGIN     7u
#define DOCUMENTS 200u
#define BATCH     6u
#define NUMBERS   (BATCH * 400u)
#define MOST      20000u /* sequences */

static char name[700];
static const struct leat_dataset *dataset;

static void write_dataset(void)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint16_t ids[400];
    uint64_t at = 0;

    options.vocabulary = 65536;
    options.begin_token = BEGIN;
    T_OK(leat_writer_open(&w, name, &options, &t_err));
    for (uint64_t d = 0; d < DOCUMENTS; d++) {
        uint64_t length = counting_length(d, d % 5 == 0 ? 120 : 12);

        for (uint64_t i = 0; i < length; i++)
            ids[i] = (uint16_t)counting_token(at++, 2);
        T_OK(add_one_document(w, ids, 2, NULL, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* ---- Sequences, as hashes of their inputs and labels ---- */

struct sequences {
    uint64_t hashes[MOST];
    size_t count;
    uint64_t learned, put; /* labels that count; begin tokens that no document has there */
};

static void add(struct sequences *s, const int64_t *inputs, const int64_t *labels, uint64_t count)
{
    uint64_t hash = count;

    for (uint64_t i = 0; i < count; i++) {
        hash = counting_mix(hash ^ (uint64_t)inputs[i]) + (uint64_t)labels[i];
        s->learned += labels[i] != -100;
    }
    T_CHECK(s->count < MOST);
    s->hashes[s->count++] = hash;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void same(struct sequences *a, struct sequences *b)
{
    qsort(a->hashes, a->count, sizeof a->hashes[0], compare);
    qsort(b->hashes, b->count, sizeof b->hashes[0], compare);
    T_EQ(a->count, b->count);
    T_EQ(a->learned, b->learned);
    T_CHECK(memcmp(a->hashes, b->hashes, a->count * sizeof a->hashes[0]) == 0);
}

/* The second reading. */
static void expect(struct sequences *s, uint64_t length, uint64_t overlap)
{
    *s = (struct sequences) { .count = 0 };
    for (uint64_t d = 0; d < DOCUMENTS; d++) {
        uint64_t first, tokens;
        uint32_t ids[500];

        T_OK(leat_dataset_document(dataset, d, &first, &tokens, &t_err));
        T_OK(leat_dataset_read_u32(dataset, first, tokens, ids, &t_err));
        T_EQ(ids[0], BEGIN);
        for (uint64_t at = 0; at + 1 + (at > 0 ? overlap : 0) < tokens; at += length - overlap) {
            uint64_t count = tokens - 1 - at < length ? tokens - 1 - at : length;
            int64_t inputs[500], labels[500];

            for (uint64_t i = 0; i < count; i++) {
                inputs[i] = i == 0 ? (int64_t)BEGIN : (int64_t)ids[at + i];
                labels[i] = at > 0 && i < overlap ? -100 : (int64_t)ids[at + i + 1];
            }
            add(s, inputs, labels, count);
            s->put += at > 0;
        }
    }
}

/* ---- What loaders give ---- */

struct outputs {
    int64_t inputs[NUMBERS], labels[NUMBERS], positions[NUMBERS], documents[NUMBERS];
    int32_t sequences[NUMBERS + 1];
    uint8_t loss[NUMBERS];
};

/* A sequence of a batch, places [begin, end), of which the last ones may be a gap; all of padding: none. */
static void take_sequence(struct sequences *s, const struct outputs *o, uint32_t begin, uint32_t end, int64_t number,
                          uint32_t unshifted)
{
    uint32_t wrong = 0, last = end;

    while (last > begin && o->labels[last - 1] == -100)
        last--;
    if (last == begin)
        return;
    for (uint32_t i = begin; i < end; i++)
        wrong += o->positions[i] != i - begin || o->documents[i] != number || o->loss[i] != (o->labels[i] != -100);
    T_EQ(wrong, 0);
    add(s, o->inputs + begin, o->labels + begin + unshifted, last - begin - unshifted);
}

static void take_batch(struct sequences *s, const struct leat_batch *b, const struct outputs *o, uint32_t unshifted)
{
    int64_t number = 0;

    for (uint32_t k = 0; k < b->sequences; k++) {
        uint32_t begin = (uint32_t)o->sequences[k], end = (uint32_t)o->sequences[k + 1];

        number = begin % b->length == 0 ? 0 : number + 1;
        take_sequence(s, o, begin, end, number, unshifted);
    }
}

/* A rank's batches from a state on; *state becomes that of its third batch, where it stops, if wanted. */
static void deliver(struct sequences *s, const struct leat_plan *plan, struct leat_loader_options o, char *state)
{
    static struct outputs out;
    struct leat_outputs w = LEAT_OUTPUTS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t batches = 0;

    o.batch = BATCH;
    o.last = LEAT_LAST_PADDED;
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
    w.unshifted = o.outputs.unshifted;
    w.inputs = out.inputs;
    w.labels = out.labels;
    w.position_ids = out.positions;
    w.document_ids = out.documents;
    w.loss_mask = out.loss;
    w.cu_seqlens = out.sequences;
    w.cu_seqlens_room = NUMBERS + 1;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK && (!state || batches < 3)) {
        T_CHECK((uint64_t)b->rows * b->length <= NUMBERS);
        T_OK(leat_batch_write(b, &w, NULL, &t_err));
        take_batch(s, b, &out, o.outputs.unshifted);
        if (state)
            T_OK(leat_batch_state(b, state, &t_err));
        batches++;
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

static struct leat_plan *open_plan(unsigned length, const char *more, bool begin)
{
    char text[1500];

    snprintf(text, sizeof text, "source %s\nseq-len %u\nseed 5\norder fit\nepochs 1\n%s\nbegin %u\n", name, length,
             more, begin);
    return loading_plan(text);
}

static void check_ranks(const struct leat_plan *plan, struct sequences *wanted)
{
    static struct sequences got;
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    char state[LEAT_PLAN_STATE_BYTES];

    for (o.outputs.unshifted = 0; o.outputs.unshifted < 2; o.outputs.unshifted++)
        for (o.ranks.world = 1; o.ranks.world <= 3; o.ranks.world++) {
            got = (struct sequences) { .count = 0 };
            for (o.ranks.rank = 0; o.ranks.rank < o.ranks.world; o.ranks.rank++)
                deliver(&got, plan, o, NULL);
            same(&got, wanted);
        }
    got = (struct sequences) { .count = 0 };
    o = (struct leat_loader_options)LEAT_LOADER_OPTIONS_INIT;
    deliver(&got, plan, o, state);
    o.state = state;
    o.state_bytes = strlen(state);
    o.ranks.world = 2;
    for (o.ranks.rank = 0; o.ranks.rank < 2; o.ranks.rank++)
        deliver(&got, plan, o, NULL);
    same(&got, wanted);
}

/* The rows of both plans differ in begin tokens alone, and so do their states. */
static void check_plain(const struct leat_plan *plan, const struct leat_plan *plain, uint64_t put)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    uint64_t literals = 0, tokens = 0;

    leat_plan_info(plan, &info);
    for (uint64_t n = 0; n < info.samples; n++) {
        struct leat_stretch row[400], was[400];
        struct leat_sample x, y;
        uint64_t count, before, at = 0;

        T_OK(leat_plan_sample(plan, n, &x, &t_err));
        T_OK(leat_plan_sample(plain, n, &y, &t_err));
        T_CHECK(memcmp(&x, &y, sizeof x) == 0);
        T_OK(leat_plan_row(plan, &x, row, 400, &count, &t_err));
        T_OK(leat_plan_row(plain, &y, was, 400, &before, &t_err));
        for (uint64_t i = 0; i < before; i++, at++) {
            T_CHECK(at < count && row[at].begins && row[at].at == was[i].at);
            if (row[at].literal) {
                T_EQ(row[at].token, BEGIN);
                T_EQ(row[at].document, was[i].document);
                T_EQ(row[at].inputs, 1);
                was[i].token++;
                was[i].offset++;
                was[i].at++;
                was[i].count--;
                was[i].inputs--;
                was[i].begins = 0;
                at++;
                literals++;
            }
            T_CHECK(memcmp(&row[at], &was[i], sizeof was[i]) == 0);
            tokens += row[at].count;
        }
        T_EQ(at, count);
    }
    T_EQ(literals, put);
    T_CHECK(literals > 100 && tokens > 1000);
    state.position = 5;
    T_OK(leat_plan_state_save(plan, &state, text, &t_err));
    T_OK(leat_plan_state_load(plan, text, strlen(text), &state, &t_err));
    T_REFUSED(leat_plan_state_load(plain, text, strlen(text), &state, &t_err), LEAT_E_CHECKPOINT,
              "its begin is 1, but the plan's is 0");
    T_OK(leat_plan_state_save(plain, &state, text, &t_err));
    T_REFUSED(leat_plan_state_load(plan, text, strlen(text), &state, &t_err), LEAT_E_CHECKPOINT,
              "its begin is 0, but the plan's is 1");
}

int main(void)
{
    static const struct {
        unsigned length, overlap;
        const char *more;
    } ways[] = { { 16, 0, "" },          { 16, 0, "align 8" },
                 { 16, 5, "overlap 5" }, { 24, 7, "align 8\noverlap 7\nmax-per-row 3" },
                 { 3, 2, "overlap 2" },  { 1, 0, "" } };
    static struct sequences wanted;
    struct leat_plan *plan, *plain;
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;

    snprintf(name, sizeof name, "%s/d", t_folder());
    write_dataset();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        plan = open_plan(ways[i].length, ways[i].more, true);
        plain = open_plan(ways[i].length, ways[i].more, false);
        T_OK(leat_plan_source_info(plan, 0, &source, &t_err));
        dataset = source.dataset;
        leat_dataset_info(dataset, &info);
        expect(&wanted, ways[i].length, ways[i].overlap);
        T_EQ(wanted.learned, info.tokens - DOCUMENTS);
        check_ranks(plan, &wanted);
        check_plain(plan, plain, wanted.put);
        leat_plan_close(plan);
        leat_plan_close(plain);
    }
    return t_end();
}
