/*
 * test_order_vectors.c: the frozen vectors of docs/ORDER.md are what the library answers, whatever machine, compiler
 * and optimization it was built for: an order that changes is another version, never this one.
 */
#include "documents.h"
#include "order/deal.h"
#include "pieces_of.h"
#include "plan/plan.h"
#include "support/fake_dataset.h"
#include "t.h"

#define PAGE "docs/ORDER.md"

static struct {
    struct leat_plan *plan;
    struct leat_dataset *data[8];
    char names[8][16];
    bool written; /* the datasets are files with documents */
    unsigned count;
    unsigned vectors, rows, fits, windows, deals;
    const char *folder;
} now;

/* The numbers of a text, separated by anything else, in `values`; how many. */
static unsigned numbers(const char *text, uint64_t *values, unsigned max)
{
    unsigned count = 0;
    char *end;

    while (count < max && *(text += strcspn(text, "0123456789"))) {
        values[count++] = strtoull(text, &end, 10);
        text = end;
    }
    return count;
}

static void check_permute(const char *question, const char *answer)
{
    uint64_t q[4] = { 0 }, a[6] = { 0 }, count;
    struct permute p;

    T_EQ(numbers(question, q, 4), 4);
    p = permute_make(q[0], q[1], q[2]);
    count = q[0] < 5 ? q[0] : 5;
    T_EQ(numbers(answer, a, 6), count + 1);
    for (uint64_t i = 0; i <= count; i++) {
        uint64_t draw = i < count ? i : q[0] - 1;

        T_EQ(permute_forward(&p, q[3], draw), a[i]);
        T_EQ(permute_inverse(&p, q[3], a[i]), draw);
    }
}

static void check_blend(const char *question, const char *answer)
{
    uint64_t q[64] = { 0 }, a[128] = { 0 }, draw;
    unsigned count = numbers(question, q, 64) - 1, pairs = numbers(answer, a, 128) / 2;
    struct blend b;

    T_CHECK(pairs > 0);
    T_OK(blend_make(&b, q, count, &t_err));
    for (unsigned i = 0; i < pairs; i++) {
        T_EQ(blend_draw(&b, q[count] + i, &draw), a[2 * i]);
        T_EQ(draw, a[2 * i + 1]);
        T_EQ(blend_place(&b, (uint32_t)a[2 * i], draw), q[count] + i);
    }
    blend_free(&b);
}

static void check_deal(const char *question, const char *answer)
{
    uint64_t q[65] = { 0 }, a[64] = { 0 };
    unsigned count = numbers(question, q, 65) - 1;
    uint32_t ranks[64];

    T_EQ(numbers(answer, a, 64), count);
    T_OK(deal_rows(q, count, (uint32_t)q[count], ranks, &t_err));
    for (unsigned i = 0; i < count; i++)
        T_EQ(ranks[i], a[i]);
    now.deals++;
}

/* The seven words of a question: two decimals and five numbers. */
static void check_cut(const char *question, const char *answer)
{
    char rate[64], spm[64], form[8] = "";
    uint64_t seed, source, document, number, prefix = 0, end = 0;
    struct decimal share;
    struct fim_rule rule;
    struct permute numbers;
    struct fim_cut cut;
    const char *why;
    uint32_t tokens;

    T_EQ(sscanf(question, "%63s %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32, rate, spm, &seed,
                &source, &document, &number, &tokens),
         7);
    T_CHECK(decimal_parse(rate, strlen(rate), &share, &why) && decimal_to_units(share, &rule.rate));
    T_CHECK(decimal_parse(spm, strlen(spm), &share, &why) && decimal_to_units(share, &rule.spm));
    T_CHECK(sscanf(answer, "%7s %" SCNu64 " %" SCNu64, form, &prefix, &end) >= 1);
    numbers = fim_numbers(seed, source);
    T_EQ(fim_cut(&rule, &numbers, number, document, tokens, &cut), strcmp(form, "same") != 0);
    if (strcmp(form, "same") == 0)
        return;
    T_EQ(cut.spm, strcmp(form, "SPM") == 0);
    T_EQ(cut.prefix, prefix);
    T_EQ(cut.middle, end - prefix);
    T_EQ(cut.suffix, tokens - FIM_TOKENS - end);
}

static void check_sample(const char *question, const char *answer)
{
    uint64_t q = 0, a[6] = { 0 };
    struct leat_sample x;

    T_EQ(numbers(question, &q, 1), 1);
    T_EQ(numbers(answer, a, 6), 6);
    T_OK(leat_plan_sample(now.plan, q, &x, &t_err));
    T_EQ(x.source, a[0]);
    T_EQ(x.epoch, a[1]);
    T_EQ(x.window, a[2]);
    T_EQ(x.part, a[3]);
    T_EQ(x.offset, a[4]);
    T_EQ(x.length, a[5]);
}

static void check_row(const char *question, const char *answer)
{
    uint64_t q = 0, a[6] = { 0 }, count;
    struct leat_sample x;
    struct leat_piece piece;

    T_EQ(numbers(question, &q, 1), 1);
    T_EQ(numbers(answer, a, 6), 6);
    T_OK(leat_plan_sample(now.plan, q, &x, &t_err));
    T_OK(pieces_of(now.plan, q, &piece, 1, &count, &t_err));
    T_EQ(count, 1);
    T_EQ(piece.source, a[0]);
    T_EQ(x.epoch, a[1]);
    T_EQ(piece.document, a[2]);
    T_EQ(piece.part, a[3]);
    T_EQ(piece.offset, a[4]);
    T_EQ(piece.count, a[5]);
}

/* The sample of this number, and its pieces. */
static uint64_t ask_pieces(const char *question, struct leat_sample *x, struct leat_piece pieces[20])
{
    uint64_t q = 0, count = 0;

    T_EQ(numbers(question, &q, 1), 1);
    T_OK(leat_plan_sample(now.plan, q, x, &t_err));
    T_OK(pieces_of(now.plan, q, pieces, 20, &count, &t_err));
    T_EQ(count, x->pieces);
    return count;
}

static void check_pieces(const char *question, const char *answer)
{
    uint64_t a[64] = { 0 };
    unsigned given = numbers(answer, a, 64);
    struct leat_sample x;
    struct leat_piece pieces[20];
    uint64_t count = ask_pieces(question, &x, pieces), align = now.plan->rules.fit[PLAN_FIT_ALIGN];
    uint64_t at = 0;

    T_EQ(x.source, a[0]);
    T_EQ(x.epoch, a[1]);
    T_EQ(x.block, a[2]);
    T_EQ(x.length, a[3]);
    T_EQ(4 + 3 * count, given);
    T_EQ(x.token, pieces[0].token);
    T_EQ(x.offset, pieces[0].offset);
    T_EQ(x.tokens, x.length + x.pieces);
    for (uint64_t i = 0; i < count && 4 + 3 * count == given; i++) {
        T_EQ(pieces[i].document, a[4 + 3 * i]);
        T_EQ(pieces[i].offset, a[5 + 3 * i]);
        T_EQ(pieces[i].count, a[6 + 3 * i]);
        T_EQ(pieces[i].at, at);
        at += pieces[i].count - 1;
        at = align > 0 ? (at + align - 1) / align * align : at;
    }
}

static void check_window(const char *question, const char *answer)
{
    uint64_t a[64] = { 0 };
    unsigned given = numbers(answer, a, 64);
    struct leat_sample x;
    struct leat_piece pieces[20];
    uint64_t count = ask_pieces(question, &x, pieces);
    uint32_t at = 0;

    T_EQ(x.source, a[0]);
    T_EQ(x.epoch, a[1]);
    T_EQ(x.window, a[2]);
    T_EQ(3 + 2 * count, given);
    for (uint64_t i = 0; i < count && 3 + 2 * count == given; i++) {
        T_EQ(pieces[i].token, a[3 + 2 * i]);
        T_EQ(pieces[i].count, a[4 + 2 * i]);
        T_EQ(pieces[i].at, at);
        at += pieces[i].count;
    }
}

static void close_plan(void)
{
    leat_plan_close(now.plan);
    while (now.count > 0)
        (now.written ? leat_dataset_close : fake_dataset_free)(now.data[--now.count]);
    now.plan = NULL;
}

/* NAME=TOKENS ... | LINE; LINE; ... or, if `written`, NAME=LENGTHS ... */
static void open_plan(char *question, bool written)
{
    struct plan_rules rules = { .seed = 0 };
    char text[1024], *bar = strchr(question, '|'), *save;

    close_plan();
    now.written = written;
    *bar = '\0';
    for (char *word = strtok_r(question, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');

        *equals = '\0';
        snprintf(now.names[now.count], sizeof now.names[0], "%s", word);
        now.data[now.count] =
            written ? documents_dataset(now.folder, now.count, equals + 1) : fake_dataset_text(equals + 1);
        now.count++;
    }
    snprintf(text, sizeof text, "leat plan 1\n%s\n", bar + 1);
    for (char *at = text; (at = strchr(at, ';'));)
        *at = '\n';
    T_OK(plan_rules_read(&rules, text, strlen(text), "vector", &t_err));
    for (size_t i = 0; i < rules.source_count; i++)
        for (unsigned k = 0; k < now.count; k++)
            if (strcmp(rules.sources[i].name, now.names[k]) == 0)
                rules.sources[i].dataset = now.data[k];
    T_OK(plan_open_rules(&now.plan, &rules, NULL, &t_err));
}

static void check_line(char *line)
{
    char *question = strchr(line, ' ') + 1, *answer = strchr(line, ':');
    int failures = t_failures;

    now.vectors++;
    now.rows += strncmp(line, "row ", 4) == 0;
    now.fits += strncmp(line, "pieces ", 7) == 0;
    now.windows += strncmp(line, "window ", 7) == 0;
    if (strncmp(line, "plan ", 5) == 0 || strncmp(line, "documents ", 10) == 0 || strncmp(line, "fit ", 4) == 0 ||
        strncmp(line, "megatron ", 9) == 0) {
        open_plan(question, *line != 'p');
        return;
    }
    if (strncmp(line, "ends ", 5) == 0) {
        struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

        leat_plan_info(now.plan, &info);
        T_EQ(info.samples == LEAT_NONE ? LEAT_MAX_SAMPLES : info.samples, strtoull(question, NULL, 10));
        return;
    }
    *answer++ = '\0';
    if (strncmp(line, "permute ", 8) == 0)
        check_permute(question, answer);
    else if (strncmp(line, "blend ", 6) == 0)
        check_blend(question, answer);
    else if (strncmp(line, "deal ", 5) == 0)
        check_deal(question, answer);
    else if (strncmp(line, "cut ", 4) == 0)
        check_cut(question, answer);
    else if (strncmp(line, "pieces ", 7) == 0)
        check_pieces(question, answer);
    else if (strncmp(line, "window ", 7) == 0)
        check_window(question, answer);
    else if (strncmp(line, "row ", 4) == 0)
        check_row(question, answer);
    else
        check_sample(question, answer);
    if (t_failures > failures)
        fprintf(stderr, "  at %s\n", line);
}

int main(void)
{
    FILE *page = fopen(PAGE, "r");
    static char line[4096];
    int inside = 0;

    now.folder = t_folder();
    if (!page) {
        perror(PAGE);
        return 1;
    }
    while (fgets(line, sizeof line, page)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "```", 3) == 0)
            inside = strcmp(line, "```vectors") == 0;
        else if (inside)
            check_line(line);
    }
    fclose(page);
    close_plan();
    T_CHECK(now.vectors > 50 && now.rows > 40 && now.fits > 40 && now.windows > 40 && now.deals > 5);
    return t_end();
}
