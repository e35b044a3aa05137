/*
 * fuzz_state.c: hostile text as the state of a run.
 *
 * The first byte chooses one of a few plans, and whether the text's last line, a hash of all before it, is put right,
 * so that what comes before it is read at all. The text is the rest of the input; or a state of the plan at a position
 * that the next two bytes give, in which each further pair of two bytes and one changes a byte. The call returns; a
 * state that is taken lies inside the plan, and saving it gives a state that is taken too.
 */
#include "checksum/checksum.h"
#include "fuzz.h"
#include "support/fake_dataset.h"

#define PLANS 3

static struct leat_plan *plans[PLANS];

static void begin(void)
{
    static const char *const weights[] = { "1,1", "1,2" };
    struct leat_dataset *d;

    if (plans[0])
        return;
    d = fake_dataset((uint64_t[]) { 100000 }, 1);
    for (unsigned i = 0; i < PLANS; i++) {
        struct leat_plan_source sources[2] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
        struct leat_plan_phase phases[2] = { LEAT_PLAN_PHASE_INIT, LEAT_PLAN_PHASE_INIT };
        struct leat_plan_range skip = { 50, 60 };
        struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;

        for (unsigned k = 0; k < 2; k++) {
            sources[k].name = "fake";
            sources[k].dataset = d;
            phases[k].begin = 1000 * (k + 1);
            phases[k].weights = weights[k];
        }
        o.sources = sources;
        o.source_count = 1 + (i > 0);
        o.seq_len = 64;
        o.phases = phases;
        o.phase_count = i > 0 ? 2 : 0;
        o.skips = &skip;
        o.skip_count = i == 2;
        o.epochs = i == 2 ? 3 : 0;
        FUZZ_CHECK(leat_plan_open(&plans[i], &o, NULL) == LEAT_OK);
    }
}

/* The hash of all before "check " in its place. */
static void put_right(char *text, size_t size)
{
    static const char key[] = "check ";

    for (size_t at = size < 23 ? 0 : size - 23; at + 22 <= size; at++)
        if (memcmp(text + at, key, 6) == 0) {
            char hash[17];

            snprintf(hash, sizeof hash, "%016llx", (unsigned long long)checksum_kernels()->hash(text, at).low);
            memcpy(text + at + 6, hash, 16);
            return;
        }
}

/* A true state, a few bytes of it changed; its length. */
static size_t change_state(const struct leat_plan *plan, const uint8_t *data, size_t size, char *text)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct fuzz_bytes in = { data, size };
    size_t length;

    state.position = fuzz_u16(&in) % 4000;
    if (leat_plan_state_save(plan, &state, text, NULL) != LEAT_OK)
        return 0;
    length = strlen(text);
    while (in.left >= 3) {
        size_t at = fuzz_u16(&in) % length;

        text[at] = (char)(text[at] ^ fuzz_u8(&in));
    }
    return length;
}

FUZZ_TARGET(state)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT, back = LEAT_PLAN_STATE_INIT;
    struct leat_error err = { .message = "" };
    char saved[LEAT_PLAN_STATE_BYTES], *text;
    const struct leat_plan *plan;
    enum leat_status s;
    size_t bytes;

    begin();
    if (size == 0)
        return 0;
    plan = plans[data[0] / 2 % PLANS];
    text = malloc(size + LEAT_PLAN_STATE_BYTES);
    FUZZ_CHECK(text != NULL);
    bytes = data[0] & 128 ? change_state(plan, data + 1, size - 1, text) : size - 1;
    if (!(data[0] & 128))
        memcpy(text, data + 1, bytes);
    if (data[0] & 1)
        put_right(text, bytes);
    s = leat_plan_state_load(plan, text, bytes, &state, &err);
    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_CHECKPOINT && err.message[0]));
    if (s == LEAT_OK) {
        FUZZ_CHECK(leat_plan_state_save(plan, &state, saved, NULL) == LEAT_OK);
        FUZZ_CHECK(leat_plan_state_load(plan, saved, strlen(saved), &back, NULL) == LEAT_OK);
        FUZZ_CHECK(back.position == state.position && back.damaged == state.damaged && back.skipped == state.skipped);
    }
    free(text);
    return 0;
}
