/*
 * test_plan_change.c: a changed plan is the plan that was written so from the start, by options and by the text of
 * changes; it does not need the plan that it came from, whose datasets it shares; what is wrong is refused, with the
 * nearest sample for a change; a line of a text that is wrong is named. test_twin.sh compares random changes with a
 * second implementation.
 */
#include "plan_made.h"

static struct leat_plan *changed(const struct leat_plan *plan, const char *text)
{
    struct leat_plan *out;

    T_OK(leat_plan_change_parse(&out, plan, text, strlen(text), NULL, NULL, &t_err));
    return out;
}

/* A plan of lines separated by ';' changed by such lines has the text of a third plan; the first one is closed. */
static void check(const char *before, const char *changes, const char *after)
{
    char lines[3][2048];
    const char *given[3] = { before, changes, after };
    struct leat_plan *plan, *other, *out;
    char *text, *wanted;

    for (unsigned i = 0; i < 3; i++) {
        char *to = lines[i];

        for (const char *from = given[i]; *from; from++)
            if (*from == '/')
                to += snprintf(to, (size_t)(lines[i] + sizeof lines[i] - to), "%s/", folder);
            else
                *to++ = *from == ';' ? '\n' : *from;
        *to = '\0';
    }
    plan = parse("%s", lines[0]);
    out = changed(plan, lines[1]);
    other = parse("%s", lines[2]);
    leat_plan_close(plan);
    text = text_of(out);
    wanted = text_of(other);
    T_STR(text, wanted);
    for (uint64_t n = 0; n < 300; n += 7) {
        struct leat_sample x, y;
        enum leat_status s = leat_plan_sample(out, n, &x, NULL);

        T_EQ(leat_plan_sample(other, n, &y, NULL), s);
        if (s == LEAT_OK)
            T_EQ(memcmp(&x, &y, sizeof x), 0);
    }
    free(text);
    free(wanted);
    leat_plan_close(out);
    leat_plan_close(other);
}

#define PLAN "source /a:1;source /b:2;seed 3;"

static void test_equal(void)
{
    check(PLAN "seq-len 8", "at 50:3,1", PLAN "seq-len 8;at 50:3,1");
    check(PLAN "seq-len 8", "at 50:,1", PLAN "seq-len 8;at 50:1,1");
    check(PLAN "seq-len 8", "at 50:0", PLAN "seq-len 8;at 50:0,2");
    check(PLAN "seq-len 8;at 20:5;at 60:1,1", "at 50", PLAN "seq-len 8;at 20:5;at 50:5,0");
    check(PLAN "seq-len 8;at 20:5;at 50:1,7", "at 50:,2", PLAN "seq-len 8;at 20:5;at 50:1,2");
    check(PLAN "seq-len 8", "source /c:0.5:2;at 50",
          "source /a:1;source /b:2;source /c:0:2;seed 3;seq-len 8;at 50:1,2,0.5");
    check(PLAN "seq-len 8", "source /c;at 50:,,4;at 70:1",
          "source /a:1;source /b:2;source /c:0;seed 3;seq-len 8;at 50:1,2,4;at 70:1,2,4");
    check(PLAN "seq-len 8;skip 3:60", "at 0:4,1", "source /a:4;source /b:1;seed 3;seq-len 8;skip 3:60");
    check(PLAN "seq-len 8;base-len 16", "at 64:len=16;at 70:2,2:len=8",
          PLAN "seq-len 8;base-len 16;at 64:1,2:len=16;at 70:2,2:len=8");
    check(PLAN "seq-len 8;base-len 16;at 32:2,2:len=16", "at 32:1", PLAN "seq-len 8;base-len 16;at 32:1,2:len=16");
    check(PLAN "seq-len 16;order fit", "at 9:len=30", PLAN "seq-len 16;order fit;at 9:1,2:len=30");
    check(PLAN "seq-len 16;order fit", "source /c;fit 2:whole=1,min-length=2;at 50:,,4",
          "source /a:1;source /b:2;source /c:0;seed 3;seq-len 16;order fit;fit 2:min-length=2,whole;at 50:1,2,4");
    check(PLAN "seq-len 16;order fit", "at 0:len=30", PLAN "seq-len 30;order fit");
}

static void refuse(const struct leat_plan *plan, const char *text, const char *why)
{
    struct leat_plan *out = NULL;

    T_REFUSED(leat_plan_change_parse(&out, plan, text, strlen(text), "run.changes", NULL, &t_err), LEAT_E_ARGUMENT,
              why);
    T_CHECK(out == NULL);
}

static void test_refused(void)
{
    struct leat_plan *plan = parse("source %s/a:1\nsource %s/b:1\nseq-len 8\nbase-len 16\n", folder, folder);
    struct leat_plan_change change = LEAT_PLAN_CHANGE_INIT;
    struct leat_plan *out, *documents;

#define FIRST "leat changes 1\n"
    refuse(plan, FIRST "at 50:1,2\n", "multiple of 32 samples later; the nearest is sample 64");
    refuse(plan, FIRST "at 64:1,2,3\n",
           "run.changes, line 2: the change at sample 64 has more weights than the 2 sources");
    refuse(plan, FIRST "at 64:0,0\n", "no source has a weight from sample 64 on");
    refuse(plan, FIRST "at x\n", "line 2: \"x\" is not N, N:WEIGHTS or N:WEIGHTS:len=L");
    refuse(plan, FIRST "at 64:1:len=\n", "has no length");
    refuse(plan, FIRST "at 64:len=5\n", "the sequence length 5 does not divide the base length 16");
    refuse(plan, FIRST "at 64:1,none\n", "is not a decimal number");
    refuse(plan, FIRST "at 1152921504606846976\n", "below 2^60");
    refuse(plan, FIRST "seed 5\n",
           "unknown key \"seed\"; a line of changes starts with source, fit, where, repeat, chosen or at");
    refuse(plan, FIRST "fit 1:whole=1\n",
           "line 2: source 1 has its rules from the start: a change gives them to sources");
    refuse(plan, FIRST "source c\n", "a source is added without a change");
    refuse(plan, "leat changes 2\n", "unknown version of a text of changes");
    refuse(plan, "leat plan 1\n", "not a text of changes: its first line is not \"leat changes 1\"");
    refuse(plan, "", "not a text of changes: it is empty");
    change.at = 64;
    change.source_count = 1u << 20;
    T_REFUSED(leat_plan_change(&out, plan, &change, 1, NULL, &t_err), LEAT_E_ARGUMENT, "more than 65536 sources");
    T_EQ(leat_plan_change_place(plan, 0), 0);
    T_EQ(leat_plan_change_place(plan, 1), 32);
    T_EQ(leat_plan_change_place(plan, 64), 64);
    out = changed(plan, "at 64:len=16\nat 100:len=8");
    T_EQ(leat_plan_change_place(out, 65), 65);
    T_EQ(leat_plan_change_place(out, 101), 132);
    leat_plan_close(out);
    out = changed(plan, "at 32:1,2\nat 64:1");
    T_EQ(leat_plan_change_place(out, 33), 64);
    leat_plan_close(out);
    T_OK(leat_plan_reorder(&documents, plan, LEAT_ORDER_DOCUMENTS, 0, &t_err));
    refuse(documents, FIRST "at 64:1,2\n", "a plan of order documents has no changes");
    leat_plan_close(documents);
    leat_plan_close(plan);
}

int main(void)
{
    folder = t_folder();
    write_dataset("a", 300, 40, 1);
    write_dataset("b", 200, 60, 2);
    write_dataset("c", 100, 60, 3);
    test_equal();
    test_refused();
    return t_end();
}
