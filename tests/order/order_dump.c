/*
 * order_dump.c: answers questions about plans, one a line on stdin, for programs that compare the answers with others:
 *
 *   data NAME TOKENS[+TOKENS...]     a source of datasets that have only a number of tokens
 *   docs NAME LENGTH,LENGTHxCOUNT,...+...   a source of written datasets with documents of these lengths; after "b:",
 *                                    "e:" or "be:", with begin tokens, end tokens or both
 *   line LINE                        a line of the plan's text, whose sources are called as above
 *   open                             prints "open SAMPLES POSITIONS" (0: no end), or "refused MESSAGE"
 *   change N L W,W,... NAME:W:E:K:M:F ...    changes the plan from sample N on, and prints as open does: its length (0:
 *                                    as before), its weights ("-": as before), and sources to add, with their limits of
 *                                    epochs, and their rules max-per-row, max-length and whole (0: none)
 *   sample N                         prints "source epoch window part offset length", or "none"
 *   position P                       the same of a position, with n before it
 *   find SOURCE EPOCH BLOCK          prints the samples that show the block
 *   row N, row-at P                  of an order of documents: prints "source epoch document part offset tokens";
 *                                    row-at takes a position, and prints n first
 *   in-batch N                       prints the number of the sample's row in its batch by tokens
 *   pieces N                         of order fit: prints "source epoch row places", then of each piece
 *                                    " document.offset.tokens"
 *   window N                         of order megatron: prints "source epoch row", then of each piece " token.tokens"
 *   stretches N                      prints the tokens of a row as it is shown: their numbers in the source's dataset,
 *                                    or "=ID" of a literal one; with ' after those that are only labels
 *   shown SOURCE FIRST COUNT EPOCHS UNTIL    prints the samples that show one of these tokens, in rising order
 *   state P DAMAGED                  prints the identities of the datasets ("ID,ID ID": two sources), then the state,
 *                                    with | for newlines and before it
 *   banned SOURCE DOCUMENT N         prints whether the document is banned in sample N, 1 or 0
 *   number P, skipped N              prints n(p); prints "p(n) skipped"
 *   end                              forgets everything
 *   permute N SEED SOURCE EPOCH I    prints P(I)
 *   blend W,W,... K                  prints "source draw"
 *   share W C,C,...                  deals rows of these costs to W ranks: prints "rank.cost" of each
 *   deal P B W                       the same of the rows of the global batch of B at position P
 */
#include "documents.h"
#include "order/deal.h"
#include "order/sampler.h"
#include "pieces_of.h"
#include "plan/plan.h"
#include "support/fake_dataset.h"
#include "t.h"

#define SOURCES 64
#define TEXT    (1 << 20)

static struct {
    char names[SOURCES][32];
    struct leat_dataset *data[SOURCES], *written[SOURCES];
    unsigned count;
    char text[TEXT];
    size_t length; /* of the text */
    struct leat_plan *plan;
    const char *folder;
} now;

/* The dataset of a source of this name. */
static const struct leat_dataset *data_of(const char *name)
{
    for (unsigned k = 0; k < now.count; k++)
        if (strcmp(name, now.names[k]) == 0)
            return now.data[k];
    return NULL;
}

static void print_end(enum leat_status s)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    if (s != LEAT_OK) {
        printf("refused %s\n", t_err.message);
        return;
    }
    leat_plan_info(now.plan, &info);
    printf("open %" PRIu64 " %" PRIu64 "\n", info.samples == LEAT_NONE ? 0 : info.samples,
           info.samples == LEAT_NONE ? 0 : info.positions);
}

/* The old plan is closed: the new one must not need it. */
static void change_plan(char *text)
{
    struct leat_plan_change change = LEAT_PLAN_CHANGE_INIT;
    struct leat_plan_source sources[4];
    struct leat_plan *changed;
    char *rest = text, *word = strsep(&rest, " ");
    enum leat_status s;

    change.at = strtoull(word, NULL, 10);
    change.seq_len = strtoull(strsep(&rest, " "), NULL, 10);
    word = strsep(&rest, " ");
    change.weights = strcmp(word, "-") == 0 ? NULL : word;
    for (; (word = strsep(&rest, " ")) && *word; change.source_count++) {
        struct leat_plan_source *source = &sources[change.source_count];

        *source = (struct leat_plan_source)LEAT_PLAN_SOURCE_INIT;
        source->name = strsep(&word, ":");
        source->weight = strsep(&word, ":");
        source->epochs = strtoull(strsep(&word, ":"), NULL, 10);
        source->fit.max_per_row = strtoull(strsep(&word, ":"), NULL, 10);
        source->fit.max_length = strtoull(strsep(&word, ":"), NULL, 10);
        source->fit.whole = (uint32_t)strtoul(word, NULL, 10);
        source->dataset = data_of(source->name);
    }
    change.sources = sources;
    s = leat_plan_change(&changed, now.plan, &change, 1, NULL, &t_err);
    if (s == LEAT_OK) {
        leat_plan_close(now.plan);
        now.plan = changed;
    }
    print_end(s);
}

static void open_plan(void)
{
    struct plan_rules rules = { .seed = 0 };
    enum leat_status s = plan_rules_read(&rules, now.text, strlen(now.text), "plan", &t_err);

    for (size_t i = 0; i < rules.source_count; i++)
        rules.sources[i].dataset = data_of(rules.sources[i].name);
    if (s == LEAT_OK)
        s = plan_open_rules(&now.plan, &rules, NULL, &t_err);
    else
        plan_rules_free(&rules);
    print_end(s);
}

static void print_sample(const struct leat_sample *x)
{
    printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", x->source, x->epoch, x->window,
           x->part, x->offset, x->length);
}

static void find_block(uint32_t source, uint64_t epoch, uint64_t block)
{
    struct sampler_found found = { .n = 0 };

    if (!sampler_find(now.plan->derived, source, epoch, block, &found))
        found.slices = 0;
    printf("found");
    for (uint64_t i = 0; i < found.slices; i++)
        printf(" %" PRIu64, found.n + i * found.step);
    printf("\n");
}

/* The one piece of a row, which is the sample as well. */
static void print_row(const struct leat_sample *x)
{
    struct leat_piece piece;
    uint64_t count;

    T_OK(pieces_of(now.plan, x->number, &piece, 1, &count, &t_err));
    T_EQ(count, 1);
    T_EQ(x->pieces, 1);
    T_EQ(piece.source, x->source);
    T_EQ(piece.part, x->part);
    T_EQ(piece.document, x->window);
    T_EQ(piece.document, x->block);
    T_EQ(piece.token, x->token);
    T_EQ(piece.offset, x->offset);
    T_EQ(piece.count, x->tokens);
    T_EQ(piece.at, 0);
    T_EQ(x->length, x->tokens > 0 ? x->tokens - 1 : 0);
    printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", piece.source, x->epoch,
           piece.document, piece.part, piece.offset, piece.count);
}

static void print_pieces(const struct leat_sample *x)
{
    struct leat_piece *pieces = calloc(x->pieces, sizeof *pieces);
    uint32_t at = 0, align = (uint32_t)now.plan->rules.fit[PLAN_FIT_ALIGN];
    uint64_t count;

    T_OK(pieces_of(now.plan, x->number, pieces, x->pieces, &count, &t_err));
    T_EQ(count, x->pieces);
    T_EQ(x->tokens, x->length + x->pieces);
    T_EQ(x->token, pieces[0].token);
    T_EQ(x->offset, pieces[0].offset);
    T_EQ(x->part, pieces[0].part);
    printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32, x->source, x->epoch, x->block, x->length);
    for (uint64_t i = 0; i < count; i++) {
        T_EQ(pieces[i].at, at);
        T_EQ(pieces[i].source, x->source);
        at += pieces[i].count - 1;
        if (align > 0)
            at = (at + align - 1) / align * align;
        printf(" %" PRIu64 ".%" PRIu64 ".%" PRIu32, pieces[i].document, pieces[i].offset, pieces[i].count);
    }
    T_EQ(at, x->length);
    printf("\n");
    free(pieces);
}

static void print_window(const struct leat_sample *x)
{
    struct leat_piece *pieces = calloc(x->pieces, sizeof *pieces);
    uint64_t count;
    uint32_t at = 0;

    T_OK(pieces_of(now.plan, x->number, pieces, x->pieces, &count, &t_err));
    T_EQ(count, x->pieces);
    T_EQ(x->tokens, x->length + 1);
    T_EQ(x->token, pieces[0].token);
    T_EQ(x->offset, pieces[0].offset);
    T_EQ(x->part, pieces[0].part);
    T_EQ(x->block, x->window);
    printf("%" PRIu32 " %" PRIu64 " %" PRIu64, x->source, x->epoch, x->window);
    for (uint64_t i = 0; i < count; i++) {
        T_EQ(pieces[i].at, at);
        T_EQ(pieces[i].source, x->source);
        T_EQ(pieces[i].offset, pieces[i].token - now.plan->sources[x->source].parts[pieces[i].part].list_token);
        at += pieces[i].count;
        printf(" %" PRIu64 ".%" PRIu32, pieces[i].token, pieces[i].count);
    }
    T_EQ(at, x->tokens);
    printf("\n");
    free(pieces);
}

static void print_stretch(const struct leat_stretch *t)
{
    if (t->literal)
        T_EQ(t->count, 1);
    for (uint32_t i = 0; i < t->count; i++)
        printf(" %s%" PRIu64 "%s", t->literal ? "=" : "", t->token + i, i < t->inputs ? "" : "'");
}

/* Checks each field of a row's stretches against its pieces, too. */
static void print_stretches(const struct leat_sample *x)
{
    struct leat_piece *pieces = calloc((size_t)x->pieces + 1, sizeof *pieces), *p = pieces;
    struct leat_stretch *all;
    uint64_t count, again, inputs = 0;
    uint32_t done = 0; /* of the piece */

    T_OK(leat_plan_pieces(now.plan, x, 1, pieces, &t_err));
    T_OK(leat_plan_row(now.plan, x, NULL, 0, &count, &t_err));
    all = calloc((size_t)count + 1, sizeof *all);
    T_OK(leat_plan_row(now.plan, x, all, count, &again, &t_err));
    T_EQ(again, count);
    printf("stretches");
    for (uint64_t i = 0; i < count; i++) {
        for (; done == p->count && p + 1 < pieces + x->pieces; done = 0)
            p++;
        T_EQ(all[i].at, p->at + done);
        T_EQ(all[i].source, x->source);
        T_EQ(all[i].part, p->part);
        if (!all[i].literal)
            T_EQ(all[i].offset + p->token, p->offset + all[i].token);
        if (all[i].literal || all[i].document != LEAT_NONE) {
            uint64_t first, tokens;

            T_OK(leat_dataset_document(now.plan->sources[x->source].dataset, all[i].document, &first, &tokens, &t_err));
            T_EQ(all[i].begins, done == 0 || p->token + done == first);
            T_CHECK(all[i].literal || (all[i].token >= first && all[i].token + all[i].count <= first + tokens));
        }
        done += all[i].count;
        inputs += all[i].inputs;
        T_CHECK(done <= p->count);
        print_stretch(&all[i]);
    }
    T_CHECK(inputs <= x->length);
    printf("\n");
    free(pieces);
    free(all);
}

static struct {
    uint64_t samples[TEXT / 8];
    size_t count;
} shown;

static uint32_t add_shown(void *context, const struct leat_sample *x)
{
    (void)context;
    T_CHECK(shown.count < TEXT / 8);
    shown.samples[shown.count++] = x->number;
    return shown.count == TEXT / 8;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print_shown(const uint64_t n[5])
{
    shown.count = 0;
    T_OK(leat_plan_trace(now.plan, &(struct leat_trace) { sizeof(struct leat_trace), n[0], n[1], n[2], n[3], 0, n[4] },
                         add_shown, NULL, &t_err));
    qsort(shown.samples, shown.count, sizeof shown.samples[0], compare);
    printf("shown");
    for (size_t i = 0; i < shown.count; i++)
        printf(" %" PRIu64, shown.samples[i]);
    printf("\n");
}

static void print_state(uint64_t position, uint64_t damaged)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];

    for (size_t i = 0; i < now.plan->rules.source_count; i++)
        for (uint32_t k = 0; k < now.plan->sources[i].part_count; k++) {
            printf("%s", k > 0 ? "," : i > 0 ? " " : "");
            for (unsigned b = 0; b < 16; b++)
                printf("%02x", now.plan->sources[i].parts[k].identity[b]);
        }
    state.position = position;
    state.damaged = damaged;
    T_OK(leat_plan_state_save(now.plan, &state, text, &t_err));
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? '|' : *c;
    printf("|%s\n", text);
}

static void forget(void)
{
    leat_plan_close(now.plan);
    for (unsigned i = 0; i < now.count; i++) {
        if (now.written[i])
            leat_dataset_close(now.written[i]);
        else
            fake_dataset_free(now.data[i]);
        now.written[i] = NULL;
    }
    now.plan = NULL;
    now.count = 0;
    now.length = (size_t)snprintf(now.text, TEXT, "leat plan 1\n");
}

static void draw_blend(const char *text, uint64_t k)
{
    uint64_t weights[256], draw;
    uint32_t count = 0, source;
    struct blend b;

    for (char *end; *text && count < 256; text = *end ? end + 1 : end)
        weights[count++] = strtoull(text, &end, 10);
    T_OK(blend_make(&b, weights, count, &t_err));
    source = blend_draw(&b, k, &draw);
    printf("%" PRIu32 " %" PRIu64 "\n", source, draw);
    blend_free(&b);
}

#define MOST_ROWS 4096u

static void print_dealt(const uint32_t *ranks, const uint64_t *costs, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        printf("%s%" PRIu32 ".%" PRIu64, i > 0 ? " " : "", ranks[i], costs[i]);
    printf("\n");
}

static void deal_batch(enum leat_balance how, uint64_t position, uint64_t batch, uint64_t world)
{
    uint32_t ranks[MOST_ROWS];
    uint64_t costs[MOST_ROWS];

    T_CHECK(batch <= MOST_ROWS);
    T_OK(leat_plan_deal(now.plan, how, position, batch, world, ranks, costs, &t_err));
    print_dealt(ranks, costs, batch);
}

static void share_costs(uint32_t world, const char *text)
{
    uint32_t ranks[MOST_ROWS], count = 0;
    uint64_t costs[MOST_ROWS];

    for (char *end; *text && count < MOST_ROWS; text = *end ? end + 1 : end)
        costs[count++] = strtoull(text, &end, 10);
    T_OK(deal_rows(costs, count, world, ranks, &t_err));
    print_dealt(ranks, costs, count);
}

static void answer(const char *word, char *rest)
{
    uint64_t n[5] = { 0 }, got;
    struct leat_sample x;
    uint32_t skipped;

    if (strcmp(word, "data") == 0 || strcmp(word, "docs") == 0) {
        char *space = strchr(rest, ' ');

        snprintf(now.names[now.count], sizeof now.names[0], "%.*s", (int)(space - rest), rest);
        if (strcmp(word, "docs") == 0)
            now.written[now.count] = now.data[now.count] = documents_dataset(now.folder, now.count, space + 1);
        else
            now.data[now.count] = fake_dataset_text(space + 1);
        now.count++;
        return;
    }
    if (strcmp(word, "line") == 0) {
        now.length += (size_t)snprintf(now.text + now.length, TEXT - now.length, "%s\n", rest);
        return;
    }
    if (strcmp(word, "change") == 0) {
        change_plan(rest);
        return;
    }
    if (strcmp(word, "blend") == 0) {
        draw_blend(rest, strtoull(strchr(rest, ' '), NULL, 10));
        return;
    }
    sscanf(rest, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &n[0], &n[1], &n[2], &n[3], &n[4]);
    if (strcmp(word, "open") == 0) {
        open_plan();
    } else if (strcmp(word, "sample") == 0) {
        if (leat_plan_sample(now.plan, n[0], &x, &t_err) == LEAT_OK)
            print_sample(&x);
        else
            puts("none");
    } else if (strcmp(word, "row") == 0) {
        if (leat_plan_sample(now.plan, n[0], &x, &t_err) == LEAT_OK)
            print_row(&x);
        else
            puts("none");
    } else if (strcmp(word, "in-batch") == 0) {
        T_OK(leat_plan_sample(now.plan, n[0], &x, &t_err));
        printf("%" PRIu32 "\n", x.slice);
    } else if (strcmp(word, "pieces") == 0) {
        if (leat_plan_sample(now.plan, n[0], &x, &t_err) == LEAT_OK)
            print_pieces(&x);
        else
            puts("none");
    } else if (strcmp(word, "window") == 0) {
        if (leat_plan_sample(now.plan, n[0], &x, &t_err) == LEAT_OK)
            print_window(&x);
        else
            puts("none");
    } else if (strcmp(word, "stretches") == 0) {
        T_OK(leat_plan_sample(now.plan, n[0], &x, &t_err));
        print_stretches(&x);
    } else if (strcmp(word, "position") == 0 || strcmp(word, "row-at") == 0) {
        T_OK(leat_plan_samples(now.plan, n[0], 1, &x, &got, &t_err));
        if (got == 1) {
            printf("%" PRIu64 " ", x.number);
            (strcmp(word, "position") == 0 ? print_sample : print_row)(&x);
        } else {
            puts("none");
        }
    } else if (strcmp(word, "find") == 0) {
        find_block((uint32_t)n[0], n[1], n[2]);
    } else if (strcmp(word, "shown") == 0) {
        print_shown(n);
    } else if (strcmp(word, "state") == 0) {
        print_state(n[0], n[1]);
    } else if (strcmp(word, "banned") == 0) {
        printf("%" PRIu32 "\n", leat_plan_banned(now.plan, n[0], n[1], n[2]));
    } else if (strcmp(word, "number") == 0) {
        printf("%" PRIu64 "\n", leat_plan_number(now.plan, n[0]));
    } else if (strcmp(word, "skipped") == 0) {
        got = leat_plan_position(now.plan, n[0], &skipped);
        printf("%" PRIu64 " %d\n", got, skipped);
    } else if (strcmp(word, "deal") == 0) {
        deal_batch(LEAT_BALANCE_ATTENTION, n[0], n[1], n[2]);
    } else if (strcmp(word, "lanes") == 0) {
        deal_batch(LEAT_BALANCE_LANES, n[0], n[1], n[2]);
    } else if (strcmp(word, "share") == 0) {
        share_costs((uint32_t)n[0], strchr(rest, ' ') + 1);
    } else if (strcmp(word, "permute") == 0) {
        struct permute p = permute_make(n[0], n[1], n[2]);

        printf("%" PRIu64 "\n", permute_forward(&p, n[3], n[4]));
    } else if (strcmp(word, "end") == 0) {
        forget();
    } else {
        T_FAIL("no question begins with %s", word);
    }
}

int main(void)
{
    static char line[TEXT];

    now.folder = t_folder();
    forget();
    while (fgets(line, sizeof line, stdin)) {
        char *space = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (space)
            *space = '\0';
        answer(line, space ? space + 1 : line + strlen(line));
    }
    return t_end();
}
