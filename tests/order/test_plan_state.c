/*
 * test_plan_state.c: a state is small, and reads back; a plan with another past is refused with the first difference
 * named; later phases, skips, bans and sources are accepted; a state that was cut or changed at any byte is no
 * state. So it is for a plan of rows of whole documents, with its options and the version of its rule.
 */
#include <stdarg.h>

#include "documents.h"
#include "fit/fit.h"
#include "plan/plan.h"
#include "support/fake_dataset.h"

static struct leat_dataset *data[202]; /* the last two have documents, and the last a begin token in each */

/* A plan of lines separated by ';', whose sources s0, s1, ... are data[0], data[1], ... */
static struct leat_plan *make(const char *lines)
{
    struct plan_rules rules = { .seed = 0 };
    struct leat_plan *plan = NULL;
    size_t length = strlen(lines) + 32;
    char *text = malloc(length);

    snprintf(text, length, "leat plan 1\n%s\n", lines);
    for (char *at = text; (at = strchr(at, ';'));)
        *at = '\n';
    T_OK(plan_rules_read(&rules, text, strlen(text), "plan", &t_err));
    for (size_t i = 0; i < rules.source_count; i++)
        rules.sources[i].dataset = data[strtoul(rules.sources[i].name + 1, NULL, 10)];
    T_OK(plan_open_rules(&plan, &rules, NULL, &t_err));
    free(text);
    return plan;
}

static void save(const char *lines, uint64_t position, char *text)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct leat_plan *plan = make(lines);

    state.position = position;
    state.damaged = 3;
    T_OK(leat_plan_state_save(plan, &state, text, &t_err));
    T_CHECK(strlen(text) < LEAT_PLAN_STATE_BYTES);
    leat_plan_close(plan);
}

static enum leat_status load(const char *lines, const char *text, struct leat_plan_state *state)
{
    struct leat_plan *plan = make(lines);
    enum leat_status s = leat_plan_state_load(plan, text, strlen(text), state, &t_err);

    leat_plan_close(plan);
    return s;
}

static void accept(const char *before, uint64_t position, const char *after)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];

    save(before, position, text);
    T_OK(load(after, text, &state));
    T_EQ(state.position, position);
    T_EQ(state.damaged, 3);
}

static void refuse(const char *before, uint64_t position, const char *after, const char *why)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];

    save(before, position, text);
    T_REFUSED(load(after, text, &state), LEAT_E_CHECKPOINT, why);
    T_EQ(state.position, 0);
}

#define PLAN "seq-len 8;base-len 16;seed 5;source s0:1;source s1:2"

static void test_changes(void)
{
    accept(PLAN, 0, PLAN);
    accept(PLAN, 1000, PLAN);
    /* what comes later may change */
    accept(PLAN, 1000, PLAN ";at 1024:1,1");
    accept(PLAN ";at 2048:3,1", 1000, PLAN ";at 1024:1,1:len=16;at 1030:0,1");
    accept(PLAN ";at 1024:3,1", 1024, PLAN ";at 1024:1,3");
    accept(PLAN, 1000, PLAN ";source s2:0;at 1024:1,1,1");
    accept(PLAN, 1000, PLAN ";skip 1000:2000");
    accept(PLAN ";skip 10:20;skip 1010:1100", 1000, PLAN ";skip 10:20;skip 1010:1300");
    accept("seq-len 8;base-len 16;seed 5;source s0:10;source s1:20", 1000, PLAN);
    /* the past may not */
    refuse(PLAN, 1000, "seq-len 8;base-len 16;seed 6;source s0:1;source s1:2", "its seed is 5, but the plan's is 6");
    refuse(PLAN, 1000, "seq-len 8;base-len 24;seed 5;source s0:1;source s1:2", "its base length is 16");
    refuse(PLAN, 1000, "seq-len 16;base-len 16;seed 5;source s0:1;source s1:2", "phase 0 (here from sample 0 on)");
    refuse(PLAN, 1000, PLAN ";order sequential", "its order is shuffled");
    refuse(PLAN, 1000, "seq-len 8;base-len 16;seed 5;source s0:1;source s1:3", "phase 0");
    refuse(PLAN, 1000, "seq-len 8;base-len 16;seed 5;source s0:1;source s2:2", "source 1 (here s2)");
    refuse(PLAN, 1000, "seq-len 8;base-len 16;seed 5;source s0:1;source s1:2:9", "source 1");
    refuse(PLAN, 1000, "seq-len 8;base-len 16;seed 5;source s0:1", "it has 2 sources, but the plan has 1");
    refuse(PLAN, 1000, PLAN ";source s2:1", "2 sources have a weight up to its position, but 3 in the plan");
    refuse(PLAN, 1000, PLAN ";skip 999:1001", "0 samples before its position were skipped, but the plan skips 2");
    refuse(PLAN ";skip 10:20", 1000, PLAN ";skip 11:21",
           "10 samples before its position were skipped, but the plan skips 10, or different ones");
    refuse(PLAN, 1000, PLAN ";at 960:1,1",
           "1 phases start before its position, but 2 in the plan, where a change must begin at its position");
    refuse(PLAN ";at 960:1,1", 1000, PLAN, "2 phases start before its position, but 1 in the plan;");
    refuse(PLAN ";at 960:1,2", 1000, PLAN ";at 960:1,1", "phase 1 (here from sample 960 on)");
    refuse(PLAN ";at 960:1,2", 1000, PLAN ";at 992:1,2", "phase 1");
    refuse(PLAN, 1000, PLAN ";epochs 1", "source 0");
    /* what ends the plan later is no part of the past */
    accept(PLAN ";epochs 1;stop first", 1000, PLAN ";epochs 1");
    refuse("seq-len 8;epochs 1;source s0;source s1:3", 20000, "seq-len 8;epochs 1;source s0;source s1:3;stop first",
           "its position is 20000, but the plan ends at 16");
    refuse(PLAN ";epochs 1", 100, "seq-len 8;base-len 16;seed 5;source s0:1:1;source s1:2:2", "source 1");
}

#define FIT     "seq-len 16;seed 5;order fit;epochs 2;source s200"
#define BEGUN   "seq-len 16;seed 5;order fit;epochs 2;source s201"
#define OPTIONS ";max-per-row 3;min-length 2;align 4"

static void test_options(void)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct leat_plan *plan = make(FIT OPTIONS), *again;
    char text[LEAT_PLAN_STATE_BYTES], *version, *check;

    accept(FIT OPTIONS, 7, FIT OPTIONS);
    refuse(FIT OPTIONS, 7, FIT ";max-per-row 3;min-length 3;align 4", "its min-length is 2, but the plan's is 3");
    refuse(FIT OPTIONS, 7, FIT ";max-per-row 3;min-length 2;align 8", "its align is 4, but the plan's is 8");
    refuse(FIT OPTIONS, 7, FIT, "its max-per-row is 3, but the plan's is 0");
    refuse(FIT, 7, FIT OPTIONS, "its max-per-row is 0, but the plan's is 3");
    refuse(BEGUN, 7, BEGUN ";begin 1", "its begin is 0, but the plan's is 1");
    refuse(BEGUN ";begin 1", 7, BEGUN, "its begin is 1, but the plan's is 0");
    /* the same plan, made of another one */
    save(FIT OPTIONS, 7, text);
    T_OK(leat_plan_reorder(&again, plan, LEAT_ORDER_FIT, 0, &t_err));
    T_OK(leat_plan_state_load(again, text, strlen(text), &state, &t_err));
    T_EQ(state.position, 7);
    leat_plan_close(again);
    leat_plan_close(plan);
    /* of a library whose rows were made by another rule */
    save(FIT, 7, text);
    version = strstr(text, ",fit=");
    check = strstr(text, "check ");
    T_CHECK(version && version[5] == '0' + FIT_VERSION && version[6] == '\n' && check);
    version[5] = '9';
    snprintf(check, 30, "check %016llx\n",
             (unsigned long long)checksum_kernels()->hash(text, (size_t)(check - text)).low);
    T_REFUSED(load(FIT, text, &state), LEAT_E_CHECKPOINT, "its rule is fit 9, but this library's is fit 1;");
}

#define MIX FIT ";source s201"

/* Rules of single sources are part of the past from the first sample on that depends on them. */
static void test_rules_of_sources(void)
{
    char text[LEAT_PLAN_STATE_BYTES];

    accept(MIX ";fit 1:max-length=9,whole=1", 7, MIX ";fit 1:whole,max-length=9");
    accept(MIX ";max-length 9", 7, MIX ";max-length 9;fit 0:max-length=9");
    accept(FIT, 7, FIT ";source s201:0;fit 1:whole=1;at 9:1,1");
    refuse(FIT, 10, FIT ";source s201:0;fit 1:whole=1;at 9:1,1",
           "1 sources have a weight up to its position, but 2 in the plan");
    refuse(MIX ";fit 1:whole=1", 7, MIX, "up to its position, sources have rules of their own, but not in the plan");
    refuse(MIX, 7, MIX ";fit 1:whole=1",
           "up to its position, sources have no rules of their own, but they do in the plan");
    refuse(MIX ";fit 1:whole=1", 7, MIX ";fit 1:whole=1,max-length=9", "source 1 (here s201) has other datasets, ");
    refuse(MIX ";fit 1:max-per-row=1", 7, MIX ";fit 0:max-per-row=1", "source 0 (here s200) has other datasets, ");
    refuse(FIT ";whole 1", 7, FIT, "its whole is 1, but the plan's is 0");
    save(MIX ";max-length 9", 7, text);
    T_CHECK(strstr(text, ",fit=1\n"));
    save(MIX ";max-length 9;fit 1:max-length=8", 7, text);
    T_CHECK(strstr(text, ",fit=2\n"));
}

/* Of banned documents, what starts before the end of the past counts, in whatever lines. */
static void test_bans(void)
{
    static const char bans[] = FIT ";ban 3:s200:1,4-6;ban 9:s200:5-8";

    accept(bans, 0, FIT);
    accept(bans, 3, FIT ";ban 3:s200:2");
    accept(bans, 9, FIT ";ban 3:s200:4-6;ban 3:s200:1;ban 5:s200:4,6");
    accept(bans, 9, FIT ";ban 3:s200:4-6,1;ban 9:s200:70");
    accept(bans, 20, FIT ";ban 9:s200:5-8;ban 20:s200:0-72;ban 3:s200:1,4,5,6");
    accept(FIT ";skip 2:5;ban 7:s200:4", 4, FIT ";skip 2:5;ban 9:s200:3");
    refuse(FIT ";skip 2:5;ban 6:s200:4", 4, FIT ";skip 2:5;ban 6:s200:3",
           "the documents that were banned before its position, which is sample 7, are others in the plan");
    refuse(bans, 4, FIT, "are others in the plan");
    refuse(bans, 4, FIT ";ban 3:s200:1,4-7", "are others in the plan");
    refuse(bans, 4, FIT ";ban 2:s200:1,4-6", "are others in the plan");
    refuse(FIT, 4, bans, "are others in the plan");
    refuse(bans, 20, FIT ";ban 3:s200:1,4-6;ban 9:s200:7", "are others in the plan");
}

struct printer {
    char *text;
    size_t length, room;
};

static void print(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    p->length += (size_t)vsnprintf(p->text + p->length, p->room - p->length, format, args);
    va_end(args);
}

/* Hundreds of sources and phases: still small, and the difference is found among a few. */
static void test_many(void)
{
    static char lines[100000], other[100000], text[LEAT_PLAN_STATE_BYTES];
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct printer p = { lines, 0, sizeof lines };

    print(&p, "seq-len 8;seed 1");
    for (unsigned i = 0; i < 200; i++)
        print(&p, ";source s%u:%u", i, 1 + i % 7);
    for (unsigned i = 1; i < 300; i++) {
        print(&p, ";at %u:", 10 * i);
        for (unsigned k = 0; k < 30; k++)
            print(&p, "%s%u", k ? "," : "", 1 + (k + i) % 5);
    }
    save(lines, 5000, text);
    T_OK(load(lines, text, &state));
    snprintf(other, sizeof other, "%s", lines);
    memcpy(strstr(other, "source s77:"), "source s78:", 11);
    T_REFUSED(load(other, text, &state), LEAT_E_CHECKPOINT, "one of the sources 75 to 77");
    snprintf(other, sizeof other, "%s", lines);
    memcpy(strstr(other, ";at 1500:"), ";at 1501:", 9);
    T_REFUSED(load(other, text, &state), LEAT_E_CHECKPOINT, "one of the phases 150 to 15");
}

static void damage(const char *lines, uint64_t position)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    struct leat_plan *plan = make(lines);
    size_t length;

    save(lines, position, text);
    length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        T_STATUS(leat_plan_state_load(plan, text, i, &state, &t_err), LEAT_E_CHECKPOINT);
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            T_STATUS(leat_plan_state_load(plan, text, length, &state, &t_err), LEAT_E_CHECKPOINT);
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    }
    T_OK(leat_plan_state_load(plan, text, length, &state, &t_err));
    leat_plan_close(plan);
}

static void test_damage(void)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    struct leat_plan *plan;

    damage(PLAN, 1000);
    damage(FIT OPTIONS, 7);
    damage(FIT ";whole 1", 7);
    damage(FIT ";ban 2:s200:1", 7);
    /* beyond the plan's end: where the other one went on, and where there is none to go on in */
    refuse("seq-len 8;source s0:1", 20000, "seq-len 8;source s0:1:1", "its position is 20000, but the plan ends at 12");
    plan = make("seq-len 8;epochs 1;source s0:1");
    state.position = 1u << 30;
    T_STATUS(leat_plan_state_save(plan, &state, text, &t_err), LEAT_E_RANGE);
    leat_plan_close(plan);
}

/* Where a run stands between and behind skips. */
static void test_positions(void)
{
    static const uint64_t positions[] = { 0, 9, 10, 11, 89, 90, 91, 500 };
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];

    for (unsigned i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        save(PLAN ";skip 10:20;skip 100:200", positions[i], text);
        T_OK(load(PLAN ";skip 10:20;skip 100:200", text, &state));
        T_EQ(state.position, positions[i]);
        T_EQ(state.skipped, positions[i] <= 10 ? 0 : positions[i] <= 90 ? 10 : 110);
    }
}

/* Skips up to the last sample there can be end a plan: it said that it had no end. */
static void test_end_by_skips(void)
{
    struct leat_plan *plan = make(PLAN ";skip 5:10;skip 12:1152921504606846976");
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_sample samples[20];
    uint64_t got;

    leat_plan_info(plan, &info);
    T_OK(leat_plan_samples(plan, 0, 20, samples, &got, &t_err));
    T_EQ(got, 7);
    T_EQ(info.positions, 7);
    T_EQ(info.samples, LEAT_NONE);
    leat_plan_close(plan);
    plan = make(PLAN ";skip 5:10;skip 12:1152921504606846975");
    leat_plan_info(plan, &info);
    T_EQ(info.positions, LEAT_NONE);
    leat_plan_close(plan);
}

int main(void)
{
    for (unsigned i = 0; i < 200; i++)
        data[i] = fake_dataset((uint64_t[]) { 100000 + i, 500 }, 2);
    data[200] = documents_dataset(t_folder(), 0, "5x30,9x20,3x10,1x5,12x8");
    data[201] = documents_dataset(t_folder(), 1, "b:5x30,9x20,3x10,1x5,12x8");
    test_changes();
    test_options();
    test_rules_of_sources();
    test_bans();
    test_many();
    test_damage();
    test_positions();
    test_end_by_skips();
    for (unsigned i = 0; i < 200; i++)
        fake_dataset_free(data[i]);
    leat_dataset_close(data[200]);
    leat_dataset_close(data[201]);
    return t_end();
}
