/*
 * test_plan_refused.c: each mistake in a plan is refused with its line and remedy; and so are datasets that do not fit
 * together, and options that say nothing or too much.
 */
#include "pieces_of.h"
#include "plan_made.h"

static void refuse(const char *lines, const char *part)
{
    struct leat_plan *plan = (struct leat_plan *)1;
    static char text[8192];
    enum leat_status s;
    size_t at = 0;

    for (; *lines; lines++) /* % stands for the folder */
        if (*lines == '%')
            at += (size_t)snprintf(text + at, sizeof text - at, "%s", folder);
        else
            text[at++] = *lines;
    text[at] = '\0';
    s = leat_plan_parse(&plan, text, at, "my.plan", NULL, &t_err);
    if (s != LEAT_E_ARGUMENT || plan || !strstr(t_err.message, part))
        T_FAIL("%s: %s, \"%s\", without \"%s\"", text, leat_status_name(s), t_err.message, part);
}

static void test_refusals(void)
{
    static const struct {
        const char *lines, *part;
    } mistakes[] = {
        { "", "not a plan: it is empty" },
        { "leat plans 1\n", "its first line is not \"leat plan 1\"" },
        { "leat plan 2\n", "unknown version" },
        { "leat plan 1\n", "needs a source" },
        { "leat plan 1\nsource %/a\n", "needs a sequence length" },
        { "leat plan 1\n\nsorce x", "my.plan, line 3: unknown key \"sorce\"; a line of a plan starts with" },
        { "leat plan 1\nseed", "line 2: seed has no value" },
        { "leat plan 1\nseed 1\nseed 2", "line 3: seed is given twice" },
        { "leat plan 1\nseed 18446744073709551616", "line 2: \"18446744073709551616\" is not a whole number" },
        { "leat plan 1\nseq-len 5x", "is not a whole number" },
        { "leat plan 1\norder random", "unknown order \"random\"; the orders are shuffled, sequential" },
        { "leat plan 1\nsource :1", "no name" },
        { "leat plan 1\nsource x:0.5:0.5", "the limit of epochs is not a whole number" },
        { "leat plan 1\nsource x:1:0", "the limit of epochs" },
        { "leat plan 1\nat 5:1234567890123456789012", "more than 18 digits" },
        { "leat plan 1\nat 5", "line 2: \"5\" is not N:WEIGHTS" },
        { "leat plan 1\nat 5:1,x", "the weight \"x\" is not a decimal number" },
        { "leat plan 1\nat 5:1:l=3", "has no length" },
        { "leat plan 1\nat 5:1e31", "beyond 10^30" },
        { "leat plan 1\nskip 5", "is not A:B" },
        { "leat plan 1\nskip 5:5", "line 2: the skip from sample 5 to 5 is empty" },
        { "leat plan 1\nskip 0:1152921504606846977", "below 2^60" },
        { "leat plan 1\nban 5:x", "line 2: \"5:x\" is not START:NAME:DOCUMENTS, such as 5000:web:3,7,10-19" },
        { "leat plan 1\nban x:a:5", "\"x:a:5\" is not START:NAME:DOCUMENTS" },
        { "leat plan 1\nban 5::5", "is not START:NAME:DOCUMENTS" },
        { "leat plan 1\nban 5:a:", "\"\" is not a document's number, or a range of them such as 10-19" },
        { "leat plan 1\nban 5:a:1,,2", "\"\" is not a document's number" },
        { "leat plan 1\nban 5:a:7-3", "\"7-3\" is not a document's number" },
        { "leat plan 1\nban 5:a:18446744073709551615", "is not a document's number" },
        { "leat plan 1\nban 1152921504606846976:a:1", "below 2^60" },
        { "leat plan 1\nsource %/a\nseq-len 4\nban 5:b:1",
          "\"b\" are banned, but the plan has no source of this name" },
        { "leat plan 1\nsource %/a\nseq-len 4\nban 5:%/a:1-999999", "document 999999 of " },
        { "leat plan 1\nsource %/a\nseq-len 4\nban 5:%/a:1-999999", "it has 300 documents, numbered from 0" },
        { "leat plan 1\nstop last", "\"last\" is not all or first" },
        { "leat plan 1\nsource %/a\nseq-len 4\nstop first", "no source is ever spent: limit the epochs" },
        { "leat plan 1\nsource %/a\nseq-len 4\nepochs 1\norder documents\nstop first",
          "a plan of order documents does not stop with its first spent source" },
        { "leat plan 1\nsource %/a:1:1\nsource %/b:1\nseq-len 4\nstop first\nat 1000000:0,1",
          "where the first source is spent; start it before" },
        { "leat plan 1\nsplit a", "is not NAME=FRACTION" },
        { "leat plan 1\nsplit a=x", "has no decimal number after its =" },
        { "leat plan 1\nsplit a=1.5", "above 0 and at most 1" },
        { "leat plan 1\nsplit a=0", "above 0 and at most 1" },
        { "leat plan 1\nsplit a=.5,a=.2", "two splits are called \"a\"" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5,b=.6\nuse a", "add up to more than 1" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5", "the plan does not say which range of the split to use" },
        { "leat plan 1\nsource %/a\nseq-len 4\nuse a", "but the split is missing" },
        { "leat plan 1\nfim 0.5,0.5,1,2", "is not RATE,SPM,PREFIX,MIDDLE,SUFFIX" },
        { "leat plan 1\nfim 0.5,0.5,1,2,3,4", "line 2: \"0.5,0.5,1,2,3,4\" is not RATE,SPM,PREFIX,MIDDLE,SUFFIX" },
        { "leat plan 1\nfim 0.5,0.5,1,2,x", "is not RATE,SPM,PREFIX,MIDDLE,SUFFIX" },
        { "leat plan 1\nfim 0.5,0.5,1,2,4294967296", "is not RATE,SPM,PREFIX,MIDDLE,SUFFIX" },
        { "leat plan 1\nfim 1.1,0.5,1,2,3", "line 2: the rate of fim, \"1.1\", is not a decimal from 0 to 1" },
        { "leat plan 1\nfim 0.5,-1,1,2,3", "the spm of fim, \"-1\"" },
        { "leat plan 1\nfim 1e-19,0.5,1,2,3", "with at most 18 places" },
        { "leat plan 1\nfim 0.5,0.5,1,2,1", "prefix, middle and suffix must be different tokens" },
        { "leat plan 1\nfim 1,1,1,2,3\nfim 1,1,1,2,3", "line 3: fim is given twice" },
        { "leat plan 1\nsource %/a\nseq-len 4\nfim 1,1,1,2,65536", "65536 is not a token of" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nbegin 1",
          "/a has no begin token that rows could begin with; pack its texts with one, or leave begin out" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nbegin 2",
          "begin is 1 for begin tokens or 0 for none, not 2" },
        { "leat plan 1\nsource %/a\nseq-len 4\nbegin 1", "begin is for rows of whole documents" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nwhole 2",
          "whole is 1 for documents that are never cut or 0" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nwhole 1\ncut-length 9", "but cut-length cuts them" },
        { "leat plan 1\nsource %/a\nseq-len 4\nfit 0:whole=1",
          "whole is for rows of whole documents, but the plan's order is shuffled" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder documents\nfit 0:max-per-row=1",
          "max-per-row is for rows of whole documents, but the plan's order is documents" },
        { "leat plan 1\nfit 0:whole=1", "line 2: no source 0: the plan has 0 up to here, numbered from 0" },
        { "leat plan 1\nsource %/a\nfit 1:whole=1\nsource %/b", "line 3: no source 1: the plan has 1 up to here" },
        { "leat plan 1\nsource %/a\nfit whole=1", "is not N:RULE=VALUE,..., where N is the number of a source" },
        { "leat plan 1\nsource %/a\nfit 0:", "unknown rule \"\"; the rules of a source are max-per-row, min-length, " },
        { "leat plan 1\nsource %/a\nfit 0:longest=3", "unknown rule \"longest\"" },
        { "leat plan 1\nsource %/a\nfit 0:max-length=0",
          "\"max-length=0\" is not RULE=VALUE with a whole number of at" },
        { "leat plan 1\nsource %/a\nfit 0:max-length", "\"max-length\" is not RULE=VALUE" },
        { "leat plan 1\nsource %/a\nfit 0:max-length=x", "\"max-length=x\" is not RULE=VALUE" },
        { "leat plan 1\nsource %/a\nfit 0:whole=1,whole=1", "whole is given twice" },
        { "leat plan 1\nsource %/a\nfit 0:whole=1\nfit 0:max-length=3", "the rules of source 0 are given twice" },
        { "leat plan 1\nsource %/a\nfit 0:align=4",
          "align counts for all sources of a plan: give it to the plan, not to source 0, " },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nfit 0:whole=2",
          "whole is 1 for documents that are never cut" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nfit 0:whole=1\ncut-length 3", "but cut-length cuts them" },
        { "leat plan 1\nsource %/a\nseq-len 4\norder fit\nfit 0:whole=1,min-length=6",
          "/a has a weight, but it has no document of at least two tokens that its rules keep and a row holds whole" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5\nuse b", "unknown range" },
        { "leat plan 1\nsource %/a\nseq-len 0", "needs a sequence length" },
        { "leat plan 1\nsource %/a\nseq-len 2000000000", "not between 1 and 2^30" },
        { "leat plan 1\nsource %/a\nseq-len 2147483648\nbase-len 16", "of 2147483648 is not between 1 and 2^30" },
        { "leat plan 1\nsource %/a\nseq-len 3\nbase-len 4", "does not divide" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1:len=3", "does not divide" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1\nat 9:2", "not after the phase before it" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 0:1", "not after the phase before it" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1,2", "has 2 weights for 1 source" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:0", "no source has a weight from sample 9 on" },
        { "leat plan 1\nsource %/a:0\nseq-len 4", "no source has a weight from sample 0 on" },
        { "leat plan 1\nsource %/a:1e-9\nsource %/b:1e9\nseq-len 4", "too fine" },
        { "leat plan 1\nsource %/short\nseq-len 4", "has a weight, but no block of 4 tokens" },
        { "leat plan 1\nsource %/a\nsource %/short:0\nseq-len 4\nat 9:1,1", "has a weight, but no block" },
        { "leat plan 1\nsource %/a\nseq-len 64\nsplit a=0.9995,b=0.0005\nuse b",
          "its range \"b\" of the split has no block of 64 tokens and one more: it has 0 tokens in 1 dataset; give the "
          "range a larger fraction than 0.0005, or use a shorter length" },
        { "leat plan 1\nsource %/short\nseq-len 4\nsplit a=.9\nuse a",
          "no block of 4 tokens and one more: the range of it that is used has" },
        { "leat plan 1\nsource %/a\nseq-len 64\norder documents\nsplit a=0.9995,b=0.0005\nuse b",
          "and the plan has 0: none starts in the range \"b\" of the split; give it a larger fraction than 0.0005" },
        { "leat plan 1\nsource %/a\nseq-len 4\nbase-len 16\nat 65:1", "the nearest is sample 64" },
        { "leat plan 1\nsource %/a\nseq-len 1024\norder fit\nat 576460752303423488:1:len=128",
          "epochs when the phase at sample 576460752303423488 starts: too many to count rows of another length" },
        { "leat plan 1\nsource %/a\nseq-len 4\nskip 5:9\nskip 1:6", "overlap" },
        { "leat plan 1\nsource %/a:1:1\nseq-len 4\nat 1000000:1", "the plan ends at sample" },
    };
    struct leat_plan *plan;

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        refuse(mistakes[i].lines, mistakes[i].part);
    T_REFUSED(leat_plan_parse(&plan, "skip 9", 6, NULL, NULL, &t_err), LEAT_E_ARGUMENT, "skip: \"9\" is not A:B");
    T_EQ(t_err.offset, 0);
    T_STATUS(leat_plan_parse(&plan, "skip 9", 6, NULL, NULL, NULL), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_parse(&plan, "source nothing\nseq-len 4", 24, NULL, NULL, &t_err), LEAT_E_NO_FILE);
}

/* The same by the plan's text. */
static void test_too_many_lines(void)
{
    static char text[65537 * sizeof "source a" + 100];
    struct leat_plan *plan;
    size_t at = (size_t)snprintf(text, sizeof text, "leat plan 1\nseq-len 4\n");

    for (unsigned i = 0; i < 65537; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "source a\n");
    T_REFUSED(leat_plan_parse(&plan, text, at, "my.plan", NULL, &t_err), LEAT_E_ARGUMENT, "my.plan, line 65539: ");
    T_CONTAINS(t_err.message, "more than 65536 sources");
}

/* Bans count again for each further source of their name. A plan of 220 KB with 20,000 sources of one name and 3,000
 * bans took 4.8 GB of memory and minutes; now the text says whether they are too many before any source is opened. */
static void test_too_many_bans(void)
{
    static char text[258 * sizeof "source a" + 1024 * sizeof "2000," + 100];

    for (unsigned sources = 257; sources <= 258; sources++) {
        size_t at = (size_t)snprintf(text, sizeof text, "leat plan 1\nseq-len 4\n");
        struct leat_plan *plan;

        for (unsigned i = 0; i < sources; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "source a\n");
        at += (size_t)snprintf(text + at, sizeof text - at, "ban 0:a:0");
        for (unsigned i = 1; i < 1024; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, ",%u", 2 * i);
        if (sources == 257) /* 262,144 more than the text has: then the sources are opened */
            T_STATUS(leat_plan_parse(&plan, text, at, "my.plan", NULL, &t_err), LEAT_E_NO_FILE);
        else
            T_REFUSED(leat_plan_parse(&plan, text, at, "my.plan", NULL, &t_err), LEAT_E_ARGUMENT,
                      "a plan has at most 262144 in addition; name the source once");
    }
}

/* More sources, or phases of so many sources, than a plan can have. */
static void test_too_many(void)
{
    static struct leat_plan_source sources[65537];
    static struct leat_plan_phase phases[256];
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_plan *plan;

    T_OK(leat_dataset_open(&d, t_path(folder, "a"), NULL, &t_err));
    for (unsigned i = 0; i < 65537; i++)
        sources[i] = (struct leat_plan_source) { .size = sizeof *sources, .name = "a", .weight = "1", .dataset = d };
    for (unsigned i = 0; i < 256; i++)
        phases[i] = (struct leat_plan_phase) { .size = sizeof *phases, .begin = 16 * (i + 1), .weights = "1" };
    o.sources = sources;
    o.source_count = 65537;
    o.seq_len = 16;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT, "more than 65536 sources");
    o.source_count = UINT64_MAX; /* more than the array has: none of it is looked at */
    o.sources = NULL;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT, "more than 65536 sources");
    o.sources = sources;
    o.source_count = 32767;
    o.order = LEAT_ORDER_MEGATRON;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT,
              "32767 sources are too many: Megatron takes at most 32766");
    o.order = LEAT_ORDER_SHUFFLED;
    o.source_count = 65536;
    o.phases = phases;
    o.phase_count = 256;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT,
              "257 phases of 65536 sources are too many; the limit is 256");
    leat_dataset_close(d);
}

/* A source whose epochs end behind the last sample that has a number: the plan is one without end. */
static void test_end_of_numbers(void)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan *plan = parse("source %s/a\nseq-len 16\n", folder);

    T_OK(leat_plan_source_info(plan, 0, &source, &t_err));
    leat_plan_close(plan);
    plan = parse("source %s/a:0:%" PRIu64 "\nsource %s/b:1\nseq-len 16\nat 1600000:1,0\n", folder,
                 LEAT_MAX_SAMPLES / source.blocks, folder);
    leat_plan_info(plan, &info);
    T_EQ(info.samples, LEAT_NONE);
    leat_plan_close(plan);
}

/* A dataset without documents, with other options than those of write_dataset(). */
static void write_other(const char *name, uint64_t vocabulary, uint64_t end, uint64_t begin, const char *tokenizer)
{
    struct leat_stored_tokenizer stored = { .name = tokenizer };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    options.vocabulary = vocabulary;
    options.end_token = end;
    options.begin_token = begin;
    options.tokenizer = tokenizer ? &stored : NULL;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Tokens of all sources must mean the same. */
static void test_agreement(void)
{
    static const struct {
        const char *name, *differ;
    } others[] = {
        { "fewer", "/fewer cannot be in one plan: they differ in their vocabulary size" },
        { "end", "/end cannot be in one plan: they differ in their end-of-document token" },
        { "begin", "/begin cannot be in one plan: they differ in their begin token" },
        { "known", "/known cannot be in one plan: they differ in their tokenizer's fingerprint; pack" },
    };

    write_other("fewer", 65535, LEAT_NONE, LEAT_NONE, NULL);
    write_other("end", 65536, 5, LEAT_NONE, NULL);
    write_other("begin", 65536, LEAT_NONE, 5, NULL);
    write_other("known", 65536, LEAT_NONE, LEAT_NONE, "known");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct leat_plan_source sources[] = { source_of("a", NULL, 0), source_of(others[i].name, "0", 0) };
        struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
        struct leat_plan *plan;

        options.sources = sources;
        options.source_count = 2;
        options.seq_len = 4;
        T_REFUSED(leat_plan_open(&plan, &options, &t_err), LEAT_E_INCOMPATIBLE, others[i].differ);
        T_CHECK(plan == NULL);
        options.order = i % 2 > 0 ? LEAT_ORDER_FIT : LEAT_ORDER_DOCUMENTS; /* ends are in the index */
        if (i != 1 && i != 2)
            T_REFUSED(leat_plan_open(&plan, &options, &t_err), LEAT_E_INCOMPATIBLE, others[i].differ);
        else
            T_OK(leat_plan_open(&plan, &options, &t_err));
        leat_plan_close(plan);
    }
}

/* Options that no text could hold, and a source that there is not. */
static void test_wrong_options(void)
{
    struct leat_plan_source source = source_of("a", NULL, 0);
    struct leat_plan_phase phase = LEAT_PLAN_PHASE_INIT;
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_piece piece;
    uint64_t count = 99;
    struct leat_plan *plan, *again;

    options.sources = &source;
    options.source_count = 1;
    options.seq_len = 4;
    options.order = (enum leat_order)7;
    T_REFUSED(leat_plan_open(&plan, &options, &t_err), LEAT_E_ARGUMENT, "unknown order 7");
    options.order = LEAT_ORDER_SHUFFLED;
    phase.begin = 9;
    options.phases = &phase;
    options.phase_count = 1;
    T_REFUSED(leat_plan_open(&plan, &options, &t_err), LEAT_E_ARGUMENT, "phase 0 of the plan has no weights");
    options.phase_count = 0;
    options.epochs = 1;
    T_OK(leat_plan_open(&plan, &options, &t_err));
    T_STATUS(pieces_of(plan, 1 << 30, &piece, 1, &count, &t_err), LEAT_E_RANGE);
    T_EQ(count, 99); /* as after any failure */
    T_OK(leat_plan_source_info(plan, 0, &info, &t_err));
    again = plan; /* set to NULL */
    T_REFUSED(leat_plan_reorder(&again, plan, (enum leat_order)7, 0, &t_err), LEAT_E_ARGUMENT, "unknown order 7");
    T_CHECK(again == NULL);
    T_REFUSED(leat_plan_source_info(plan, 1, &info, &t_err), LEAT_E_RANGE,
              "no source 1: the plan has 1, numbered from 0");
    leat_plan_close(plan);
}

/* A name whose end looks like a weight is printed so that it is read back as it is. */
static void test_names(void)
{
    struct leat_plan_source source;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan, *again;
    char *text;

    write_dataset("odd:3", 50, 100, 3);
    source = source_of("odd:3", "2", 0);
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 8;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    text = text_of(plan);
    T_CONTAINS(text, "/odd:3:2:none\n");
    T_OK(leat_plan_parse(&again, text, strlen(text), "again", NULL, &t_err));
    free(text);
    leat_plan_close(plan);
    leat_plan_close(again);
    /* Megatron's plan without weights is another one than with a weight of 1: its text could not say which it is */
    source.weight = NULL;
    o.order = LEAT_ORDER_MEGATRON;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT,
              "/odd:3 ends like a weight, but the source has none; rename it, or name it in an @list");
    o.order = LEAT_ORDER_SHUFFLED;
    source.name = "line\nbreak";
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT, "newline");
    source.name = NULL;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    o.source_count = 0;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(plan == NULL);
    leat_plan_close(NULL);
}

int main(void)
{
    folder = t_folder();
    write_dataset("a", 300, 90, 1);
    write_dataset("b", 200, 60, 2);
    write_dataset("short", 2, 3, 9);
    write_list();
    test_refusals();
    test_too_many();
    test_too_many_lines();
    test_too_many_bans();
    test_end_of_numbers();
    test_agreement();
    test_wrong_options();
    test_names();
    return t_end();
}
