/*
 * fuzz_plan.c: hostile text as a plan, and, from the line "leat changes 1" on, as changes of it.
 *
 * Every source of it, whatever its name, is one of a few datasets that are only numbers of tokens, huge ones among
 * them. Whatever the text is, the call returns, with a sentence if it fails. A plan that opens has a text that makes
 * the same plan; its samples lie inside their datasets; the inverse finds them; what is shown at a position is the
 * sample of its number; a state of it is taken by it.
 */
#include "fuzz.h"
#include "order/sampler.h"
#include "pieces_of.h"
#include "plan/plan.h"
#include "support/fake_dataset.h"

static struct leat_dataset *datasets[6];

static void begin(void)
{
    if (datasets[0])
        return;
    datasets[0] = fake_dataset((uint64_t[]) { 1000 }, 1);
    datasets[1] = fake_dataset((uint64_t[]) { 100000, 7, 0, 30000 }, 4);
    datasets[2] = fake_dataset((uint64_t[]) { (uint64_t)1 << 61 }, 1);
    datasets[3] = fake_dataset((uint64_t[]) { (uint64_t)1 << 48, (uint64_t)1 << 40 }, 2);
    datasets[4] = fake_dataset((uint64_t[]) { 0 }, 1);
    datasets[5] = fake_dataset((uint64_t[]) { 33, 17, 2, 1 }, 4);
}

static struct leat_plan *open_plan(const char *text, size_t bytes)
{
    struct leat_error err = { .message = "" };
    struct plan_rules rules = { .seed = 0 };
    const char *changes = memmem(text, bytes, "\nleat changes 1\n", strlen("\nleat changes 1\n"));
    size_t first = changes ? (size_t)(changes - text) + 1 : bytes; /* of their text */
    struct leat_plan *plan = NULL;
    enum leat_status s = plan_rules_read(&rules, text, first, "input", &err);

    if (s == LEAT_OK && changes)
        s = plan_change_check(&rules, &err);
    if (s == LEAT_OK && changes)
        s = plan_rules_read_changes(&rules, text + first, bytes - first, "input", &err);
    for (size_t i = 0; s == LEAT_OK && i < rules.source_count; i++)
        rules.sources[i].dataset = datasets[(unsigned char)rules.sources[i].name[0] % 6];
    if (s == LEAT_OK && rules.split_count > 0) { /* needs documents, which these have not */
        plan_rules_free(&rules);
        return NULL;
    }
    if (s == LEAT_OK)
        s = plan_open_rules(&plan, &rules, NULL, &err);
    else
        plan_rules_free(&rules);
    FUZZ_CHECK((s == LEAT_OK) == (plan != NULL));
    /* unsupported: names that may hold a key */
    FUZZ_CHECK(s == LEAT_OK || ((s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED) && err.message[0]));
    return plan;
}

static uint32_t note_sample(void *context, const struct leat_sample *sample)
{
    uint64_t *n = context;

    if (sample->number == *n)
        *n = LEAT_NONE;
    return *n == LEAT_NONE;
}

/* The inverse of windows finds the block; that of documents, all samples that show the first token. */
static void check_inverse(const struct leat_plan *plan, const struct leat_sample *x)
{
    uint64_t n = x->number;
    struct sampler_found found;

    if (plan->order->blocks) {
        if (plan->end == LEAT_MAX_SAMPLES && n >= LEAT_MAX_SAMPLES / 2)
            return; /* at the end of numbers a block may be cut */
        FUZZ_CHECK(sampler_find(plan->derived, x->source, x->epoch, x->block, &found));
        FUZZ_CHECK(found.n + x->slice * found.step == n);
    } else if (x->length > 0 && x->epoch < 100) {
        FUZZ_CHECK(leat_plan_trace(plan,
                                   &(struct leat_trace) { sizeof(struct leat_trace), x->source, x->token, 1,
                                                          x->epoch + 1, 0, n + 1 },
                                   note_sample, &n, NULL) == LEAT_OK);
        FUZZ_CHECK(n == LEAT_NONE);
    }
}

static void check_sample(const struct leat_plan *plan, uint64_t n)
{
    struct leat_part part = LEAT_PART_INIT;
    struct leat_sample x, again;
    struct leat_piece piece;
    uint64_t got, position;
    uint32_t skipped;

    if (leat_plan_sample(plan, n, &x, NULL) != LEAT_OK)
        return;
    FUZZ_CHECK(x.source < plan->rules.source_count && x.epoch < plan->end);
    FUZZ_CHECK(!plan->order->blocks || (x.block < plan->sources[x.source].blocks && x.length > 0));
    FUZZ_CHECK(leat_dataset_part(plan->sources[x.source].dataset, x.part, &part, NULL) == LEAT_OK);
    FUZZ_CHECK(x.offset + x.tokens <= part.tokens && x.length == x.tokens - (x.tokens > 0));
    FUZZ_CHECK(pieces_of(plan, n, &piece, 1, &got, NULL) == LEAT_OK && got == 1);
    FUZZ_CHECK(piece.token == x.token && piece.count == x.tokens && piece.at == 0);
    FUZZ_CHECK(x.token == part.first_token + x.offset);
    check_inverse(plan, &x);
    position = leat_plan_position(plan, n, &skipped);
    FUZZ_CHECK(leat_plan_samples(plan, position, 1, &again, &got, NULL) == LEAT_OK);
    if (!skipped)
        FUZZ_CHECK(got == 1 && memcmp(&x, &again, sizeof x) == 0);
}

static void check_plan(const struct leat_plan *plan, uint64_t random)
{
    uint64_t bytes, max = 0;
    struct leat_plan *again;
    char *text, *second;

    FUZZ_CHECK(leat_plan_text(plan, NULL, 0, &bytes, NULL) == LEAT_OK);
    text = malloc((size_t)bytes + 1);
    second = malloc((size_t)bytes + 1);
    FUZZ_CHECK(text && second && leat_plan_text(plan, text, (size_t)bytes + 1, &bytes, NULL) == LEAT_OK);
    again = open_plan(text, (size_t)bytes);
    FUZZ_CHECK(again && leat_plan_text(again, second, (size_t)bytes + 1, &bytes, NULL) == LEAT_OK);
    FUZZ_CHECK(strcmp(text, second) == 0);
    for (unsigned i = 0; i < 24; i++) {
        uint64_t n = i < 4 ? i : random % plan->end >> (i % 12 * 5);

        check_sample(plan, n);
        max = n > max ? n : max;
        random = random * 6364136223846793005u + 1442695040888963407u;
    }
    for (size_t i = 0; i <= plan->rules.phase_count && i < 50; i++) {
        check_sample(plan, plan_phase_begin(plan, i));
        if (i > 0)
            check_sample(plan, plan_phase_begin(plan, i) - 1);
    }
    check_sample(plan, plan->end - 1);
    leat_plan_close(again);
    free(text);
    free(second);
}

static void check_state(const struct leat_plan *plan, uint64_t position)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT, back = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];

    state.position = position;
    if (leat_plan_state_save(plan, &state, text, NULL) != LEAT_OK)
        return;
    FUZZ_CHECK(strlen(text) < sizeof text - 1);
    FUZZ_CHECK(leat_plan_state_load(plan, text, strlen(text), &back, NULL) == LEAT_OK);
    FUZZ_CHECK(back.position == position);
}

FUZZ_TARGET(plan)
{
    uint64_t random = 88172645463325252u;
    struct leat_plan *plan;

    begin();
    plan = open_plan((const char *)data, size);
    if (!plan)
        return 0;
    for (size_t i = 0; i < size; i++)
        random = (random ^ data[i]) * 1099511628211u;
    check_plan(plan, random);
    check_state(plan, 0);
    check_state(plan, random % 5000);
    leat_plan_close(plan);
    return 0;
}
