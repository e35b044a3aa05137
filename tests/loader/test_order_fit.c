/*
 * test_order_fit.c: loaders deliver rows of whole documents: every number of every output, computed here from the
 * pieces and the tokens' definition, by all engines, from any position and for any number of ranks; also with pieces
 * that are aligned, rows that begin with context, and unshifted labels. Over whole epochs each prediction inside a
 * document comes once an epoch, none across documents. Damage masks the rows with a piece on the damaged page.
 */
#include "loading.h"
#include "pieces_of.h"

#define BATCH    8u
#define LONGEST  70u
#define WIDEST   (9 * LONGEST) /* with the last token of each piece among the inputs, and gaps after it */
#define NUMBERS  (BATCH * WIDEST)
#define MAX_SEQS (NUMBERS + 1)
#define PAD      0 /* these datasets have no end token */

static const char *folder;
static const uint64_t tokens_of[] = { 6000, 1500, 9000 }; /* of a, b, c */
static struct loading_starts starts[3];
static uint8_t *shown[3]; /* of each token: how often it was predicted */
static struct leat_plan_info info;
static uint64_t gaps, contexts;

struct outputs {
    int64_t inputs[NUMBERS], labels[NUMBERS], positions[NUMBERS], documents[NUMBERS];
    uint8_t loss[NUMBERS], attention[NUMBERS];
    int32_t sequences[MAX_SEQS];
};

static unsigned dataset_of(const struct leat_piece *p)
{
    return p->source == 0 ? 0 : 1 + p->part;
}

/* One place of a row that a piece has at its token `i`, or in its gap. */
static void check_place(const struct leat_piece *p, uint32_t i, uint32_t number, const struct outputs *o, uint64_t at,
                        uint32_t unshifted)
{
    uint64_t token = p->offset + i, context = starts[dataset_of(p)].bits[p->offset] ? 0 : info.overlap;
    uint32_t labelled = i + !unshifted; /* the piece's token that is this place's label */
    int64_t label = counting_token(p->offset + labelled, 2);

    if ((labelled == 0 && p->at > 0) || (context > 0 && labelled <= context) || labelled >= p->count)
        label = -100;
    T_EQ(o->inputs[at], i < p->count ? counting_token(token, 2) : PAD);
    T_EQ(o->labels[at], label);
    T_EQ(o->loss[at], label != -100);
    T_EQ(o->attention[at], 1);
    T_EQ(o->positions[at], i);
    T_EQ(o->documents[at], number);
    gaps += labelled >= p->count;
    contexts += i < context;
    if (label == -100 || labelled == 0)
        return;
    T_CHECK(!starts[dataset_of(p)].bits[p->offset + labelled]); /* no prediction across documents */
    shown[dataset_of(p)][p->offset + labelled]++;
}

static void check_row(const struct leat_plan *plan, const struct leat_batch *b, uint32_t row, const struct outputs *o,
                      uint32_t unshifted, uint32_t *sequences)
{
    uint64_t at = (uint64_t)row * b->length, count = 0;
    struct leat_piece pieces[LONGEST];
    uint32_t i = 0, length = b->lengths[row];

    if (!(b->flags[row] & LEAT_ROW_PADDED))
        T_OK(pieces_of(plan, b->samples[row].number, pieces, LONGEST, &count, &t_err));
    for (uint32_t k = 0; k < count && b->flags[row] == 0; k++) {
        if (!unshifted)
            T_EQ(pieces[k].at, i);
        T_EQ(o->sequences[(*sequences)++], at + i);
        for (uint32_t c = 0; c + !unshifted < pieces[k].count || (info.align > 0 && i % info.align > 0); c++)
            check_place(&pieces[k], c, k, o, at + i++, unshifted);
    }
    if (b->flags[row] & LEAT_ROW_PADDED)
        T_EQ(length, 0);
    else if (b->flags[row] == 0)
        T_EQ(length, i);
    else if (!unshifted)
        T_EQ(length, b->samples[row].length);
    if (b->flags[row] != 0) /* without documents */
        T_EQ(o->sequences[(*sequences)++], at);
    if (b->lengths[row] > 0 && b->lengths[row] < b->length)
        T_EQ(o->sequences[(*sequences)++], at + b->lengths[row]);
    for (; i < b->length; i++) {
        T_EQ(o->labels[at + i], -100);
        T_EQ(o->loss[at + i], 0);
        if (i >= b->lengths[row])
            T_EQ(o->attention[at + i], b->lengths[row] == 0);
    }
}

/* The phase's, whatever the rows hold; a batch of padding alone has that of the plan's last row. */
static uint32_t length_of(const struct leat_plan *plan, const struct leat_batch *b, uint32_t unshifted)
{
    uint32_t length = (uint32_t)info.seq_len;
    struct leat_sample last;
    uint64_t got;

    if (b->flags[0] & LEAT_ROW_PADDED) {
        length = info.phases > 1 ? LONGEST : length;
        T_OK(leat_plan_samples(plan, info.positions - 1, 1, &last, &got, &t_err));
        return unshifted && last.tokens > length ? last.tokens : length;
    }

    for (uint32_t row = 0; row < b->rows && !(b->flags[row] & LEAT_ROW_PADDED); row++)
        length = info.phases > 1 && b->samples[row].number >= 120 ? LONGEST
                 : length == LONGEST                              ? LONGEST
                                                                  : (uint32_t)info.seq_len;
    for (uint32_t row = 0; row < b->rows && unshifted; row++)
        length = b->lengths[row] > length ? b->lengths[row] : length;
    return length;
}

/* One rank's batches from a position on; returns damaged rows. `state`: of the middle, if wanted. */
static uint64_t deliver(const struct leat_plan *plan, struct leat_loader_options o, uint32_t unshifted, char *state)
{
    static struct outputs out;
    struct leat_outputs w = LEAT_OUTPUTS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t damaged = 0;
    enum leat_status s;

    leat_plan_info(plan, &info);
    o.batch = BATCH;
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
    w.unshifted = unshifted;
    w.inputs = out.inputs;
    w.labels = out.labels;
    w.position_ids = out.positions;
    w.document_ids = out.documents;
    w.loss_mask = out.loss;
    w.attention_mask = out.attention;
    w.cu_seqlens = out.sequences;
    w.cu_seqlens_room = MAX_SEQS;
    o.outputs.unshifted = unshifted;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_CHECK(leat_loader_max_length(l) <= WIDEST);
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        uint32_t sequences = 0;

        T_CHECK(b->tokens == NULL);
        T_OK(leat_batch_write(b, &w, NULL, &t_err));
        T_EQ(b->length, length_of(plan, b, unshifted));
        for (uint32_t row = 0; row < b->rows; row++)
            check_row(plan, b, row, &out, unshifted, &sequences);
        damaged += b->damaged_rows;
        if (state && b->position == 40)
            T_OK(leat_batch_state(b, state, &t_err));
        leat_batch_release(b, NULL);
    }
    T_EQ(s, LEAT_E_END);
    leat_loader_close(l);
    return damaged;
}

/* Every prediction was shown `times` times since the last call. */
static void check_shown(unsigned times)
{
    for (unsigned d = 0; d < 3; d++) {
        uint64_t wrong = 0;

        for (uint64_t at = 1; at < tokens_of[d]; at++)
            wrong += shown[d][at] != (starts[d].bits[at] ? 0 : times);
        T_EQ(wrong, 0);
        memset(shown[d], 0, tokens_of[d] + 1);
    }
}

static struct leat_plan *open_plan(unsigned length, const char *more)
{
    struct leat_open_options trusted = LEAT_OPEN_OPTIONS_INIT;
    struct leat_plan *plan;
    const char *text =
        t_text("source %s/a:3\nsource @%s/list\nseq-len %u\nseed 5\norder fit\n%s", folder, folder, length, more);

    trusted.access = LEAT_ACCESS_TRUSTED;
    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, &trusted, &t_err));
    return plan;
}

static void ranks(const struct leat_plan *plan, uint32_t world, uint32_t unshifted)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.ranks.world = world;
    o.last = LEAT_LAST_PADDED;
    for (o.ranks.rank = 0; o.ranks.rank < world; o.ranks.rank++)
        T_EQ(deliver(plan, o, unshifted, NULL), 0);
}

static void resumed(const struct leat_plan *plan)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    char state[LEAT_PLAN_STATE_BYTES];
    struct leat_sample x;
    uint64_t got;

    o.last = LEAT_LAST_PADDED;
    deliver(plan, o, 0, state);
    memset(shown[0], 0, tokens_of[0] + 1);
    memset(shown[1], 0, tokens_of[1] + 1);
    memset(shown[2], 0, tokens_of[2] + 1);
    o.state = state;
    o.state_bytes = strlen(state);
    o.ranks.world = 2;
    for (o.ranks.rank = 0; o.ranks.rank < 2; o.ranks.rank++)
        deliver(plan, o, 0, NULL);
    for (uint64_t position = 0; position < 48; position++) { /* the rows before */
        struct leat_piece pieces[LONGEST];

        T_OK(leat_plan_samples(plan, position, 1, &x, &got, &t_err));
        T_OK(pieces_of(plan, x.number, pieces, LONGEST, &got, &t_err));
        for (uint64_t k = 0; k < got; k++)
            for (uint32_t c = 1; c < pieces[k].count; c++)
                shown[dataset_of(&pieces[k])][pieces[k].offset + c]++;
    }
    check_shown(2);
}

/* The pieces of many samples at once are those of each. */
static void together(const struct leat_plan *plan)
{
    static struct leat_sample samples[150];
    static struct leat_piece all[150 * LONGEST];
    const struct leat_piece *next = all;
    uint64_t got, count;

    T_OK(leat_plan_samples(plan, 5, 150, samples, &got, &t_err));
    T_EQ(got, 150);
    T_OK(leat_plan_pieces(plan, samples, got, all, &t_err));
    for (uint64_t i = 0; i < got; i++, next += count) {
        struct leat_piece one[LONGEST];

        T_OK(pieces_of(plan, samples[i].number, one, LONGEST, &count, &t_err));
        T_EQ(count, samples[i].pieces);
        for (uint64_t k = 0; k < count; k++) {
            T_EQ(next[k].token, one[k].token);
            T_EQ(next[k].document, one[k].document);
            T_EQ(next[k].part, one[k].part);
            T_EQ(next[k].source, samples[i].source);
            T_EQ(next[k].at, one[k].at);
            T_EQ(next[k].count, one[k].count);
        }
    }
    samples[1].pieces--; /* as if of another plan */
    T_STATUS(leat_plan_pieces(plan, samples, got, all, &t_err), LEAT_E_ARGUMENT);
    samples[1].pieces++;
    samples[2].block = UINT64_MAX;
    T_STATUS(leat_plan_pieces(plan, samples, got, all, &t_err), LEAT_E_ARGUMENT);
}

static void damage(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan;
    uint64_t damaged;

    t_flip(t_path(folder, "c.tokens"), 9000);
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    plan = open_plan(48, "epochs 1");
    damaged = deliver(plan, o, 0, NULL);
    T_CHECK(damaged > 10 && damaged < 200);
    leat_plan_close(plan);
}

int main(void)
{
    static const char *const names[] = { "a", "b", "c" };
    static const char *const ways[] = { "epochs 1\nalign 8", "epochs 1\noverlap 5", "epochs 1\nalign 8\noverlap 15" };
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan;
    FILE *list;

    info = (struct leat_plan_info)LEAT_PLAN_INFO_INIT;

    folder = t_folder();
    for (unsigned i = 0; i < 3; i++) {
        loading_write(t_text("%s/%s", folder, names[i]), tokens_of[i], 2, 17);
        starts[i] = loading_starts(tokens_of[i], 17);
        starts[i].bits[tokens_of[i]] = 0;
        shown[i] = calloc(tokens_of[i] + 1, 1);
    }
    list = fopen(t_path(folder, "list"), "w");
    fprintf(list, "b\nc\n");
    fclose(list);

    plan = open_plan(48, "epochs 2");
    for (uint32_t world = 1; world <= 8; world *= t_every() ? 2 : 8) {
        for (uint32_t unshifted = 0; unshifted < 2; unshifted++) {
            ranks(plan, world, unshifted);
            check_shown(2);
        }
    }
    resumed(plan);
    leat_plan_close(plan);

    T_EQ(gaps + contexts, 0);
    for (unsigned way = 0; way < 3; way++) {
        plan = open_plan(way == 0 ? 48 : 16, ways[way]);
        for (uint32_t unshifted = 0; unshifted < 2; unshifted++) {
            ranks(plan, 2, unshifted);
            check_shown(1);
            T_CHECK((gaps > 500) == (way != 1) && (contexts > 500) == (way != 0));
            gaps = contexts = 0;
        }
        leat_plan_close(plan);
    }

    plan = open_plan(48, "epochs 3\nat 120:1,1:len=70\nskip 30:33\n");
    together(plan);
    o.last = LEAT_LAST_PADDED;
    for (enum leat_engine e = LEAT_ENGINE_MAP; e <= LEAT_ENGINE_URING; e++) {
        o.io.engine = e;
        o.io.apart = e % 2 ? LEAT_APART_ALWAYS : LEAT_APART_AUTO;
        o.io.threads = loading_threads[e % LOADING_THREADS];
        deliver(plan, o, e == LEAT_ENGINE_PREAD, NULL);
    }
    leat_plan_close(plan);
    damage();
    for (unsigned i = 0; i < 3; i++) {
        free(starts[i].bits);
        free(shown[i]);
    }
    return t_end();
}
