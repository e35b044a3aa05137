/* test_options.c: every way to write an option is understood, and every mistake gets a sentence that helps. */
#include "cli/options.h"

#include "cli/units.h"
#include "t.h"

struct values {
    bool json, force;
    const char *output;
    uint64_t threads, memory;
    unsigned progress;
    struct option_list sources;
    uint64_t first, last;
};

static bool parse_range(void *field, const char *text, const char **why)
{
    uint64_t *pair = field; /* first, then last */

    return units_parse_range(text, &pair[0], &pair[1], NULL, why);
}

static const char *const modes[] = { "auto", "never", "always", NULL };

static const struct option_row rows[] = {
    { .name = "json", .type = OPTION_FLAG, .field = offsetof(struct values, json), .help = "print JSON" },
    { .name = "force", .letter = 'f', .type = OPTION_FLAG, .field = offsetof(struct values, force), .help = "replace" },
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = offsetof(struct values, output),
      .value = "NAME",
      .help = "where to" },
    { .name = "threads",
      .letter = 'j',
      .type = OPTION_COUNT,
      .field = offsetof(struct values, threads),
      .value = "N",
      .standard = "all cores",
      .help = "how many threads",
      .min = 1,
      .max = 64 },
    { .name = "memory",
      .type = OPTION_SIZE,
      .field = offsetof(struct values, memory),
      .value = "SIZE",
      .standard = "2GiB",
      .help = "bound on memory" },
    { .name = "progress",
      .type = OPTION_CHOICE,
      .field = offsetof(struct values, progress),
      .value = "MODE",
      .help = "a bar",
      .choices = modes },
    { .name = "source",
      .type = OPTION_LIST,
      .field = offsetof(struct values, sources),
      .value = "NAME",
      .help = "repeatable" },
    { .name = "tokens",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct values, first),
      .value = "A:B",
      .help = "a range",
      .parse = parse_range },
    OPTIONS_END
};

static const struct option_row strict_rows[] = { { .name = "output",
                                                   .letter = 'o',
                                                   .type = OPTION_TEXT,
                                                   .field = offsetof(struct values, output),
                                                   .value = "NAME",
                                                   .help = "where to",
                                                   .required = true },
                                                 OPTIONS_END };

#define MAX_ARGUMENTS 16

static struct values v;
static struct options_parsed parsed;

/* Parses "leat test" and the given arguments, up to NULL. */
static enum options_outcome parse(const struct option_row *table, const char *const *arguments)
{
    static char command[] = "test";
    char *argv[MAX_ARGUMENTS];
    int argc = 0;

    options_free(&parsed);
    option_list_free(&v.sources);
    memset(&v, 0, sizeof v);
    argv[argc++] = command;
    for (; *arguments && argc < MAX_ARGUMENTS; arguments++)
        argv[argc++] = (char *)(uintptr_t)*arguments; /* the parser does not write to them */
    return options_parse("leat test", table, &v, argc, argv, &parsed);
}

#define ARGUMENTS(...)                                                                                                 \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

/* The arguments are wrong, and the message holds both pieces. */
static void check_wrong(const char *const *arguments, const char *piece, const char *other)
{
    T_EQ(parse(rows, arguments), OPTIONS_WRONG);
    if (!strstr(parsed.message, piece) || !strstr(parsed.message, other))
        fprintf(stderr, "message: %s\n", parsed.message);
    T_CHECK(strstr(parsed.message, piece) != NULL);
    T_CHECK(strstr(parsed.message, other) != NULL);
    T_CHECK(strstr(parsed.message, "leat test --help") != NULL);
}

static void test_forms(void)
{
    T_EQ(parse(rows, ARGUMENTS("--output", "x", "--threads=8", "a", "-f", "b")), OPTIONS_READY);
    T_STR(v.output, "x");
    T_EQ(v.threads, 8);
    T_CHECK(v.force && !v.json);
    T_EQ(parsed.count, 2);
    T_STR(parsed.words[0], "a");
    T_STR(parsed.words[1], "b");
    T_EQ(parse(rows, ARGUMENTS("-oy", "-fj", "4")), OPTIONS_READY);
    T_STR(v.output, "y");
    T_CHECK(v.force && v.threads == 4);
    T_EQ(parse(rows, ARGUMENTS("-o", "z", "-", "--", "--json", "-x")), OPTIONS_READY);
    T_CHECK(!v.json && parsed.count == 3);
    T_STR(parsed.words[0], "-");
    T_STR(parsed.words[1], "--json");
    T_STR(parsed.words[2], "-x");
    T_EQ(parse(rows, ARGUMENTS("--output=", "--threads", "2", "--threads", "3")), OPTIONS_READY);
    T_STR(v.output, "");
    T_EQ(v.threads, 3);
    T_EQ(parse(rows, ARGUMENTS("--output", "-5", "--output=--json")), OPTIONS_READY);
    T_STR(v.output, "--json");
    T_CHECK(!v.json);
}

static void test_types(void)
{
    T_EQ(parse(rows, ARGUMENTS("--memory", "1.5GiB", "--progress", "never", "--tokens", "2:9")), OPTIONS_READY);
    T_EQ(v.memory, (uint64_t)3 << 29);
    T_EQ(v.progress, 1);
    T_CHECK(v.first == 2 && v.last == 9);
    T_EQ(parse(rows, ARGUMENTS("--source", "a", "x", "--source=b", "--source", "c:2")), OPTIONS_READY);
    T_EQ(v.sources.count, 3);
    T_STR(v.sources.items[0], "a");
    T_STR(v.sources.items[2], "c:2");
    T_EQ(parsed.count, 1);
}

static void test_help_wins(void)
{
    T_EQ(parse(rows, ARGUMENTS("--help")), OPTIONS_HELP);
    T_EQ(parse(rows, ARGUMENTS("-h")), OPTIONS_HELP);
    T_EQ(parse(rows, ARGUMENTS("-h", "all")), OPTIONS_HELP_ALL);
    T_EQ(parse(rows, ARGUMENTS("--help", "alll")), OPTIONS_HELP);
    T_EQ(parse(rows, ARGUMENTS("a", "-fh")), OPTIONS_HELP);
    T_EQ(parse(strict_rows, ARGUMENTS("--help")), OPTIONS_HELP);
    T_EQ(parse(rows, ARGUMENTS("--", "--help")), OPTIONS_READY);
}

static void test_mistakes(void)
{
    check_wrong(ARGUMENTS("--thread", "4"), "unknown option --thread;", "did you mean --threads?");
    check_wrong(ARGUMENTS("--thread=4"), "unknown option --thread;", "did you mean --threads?");
    check_wrong(ARGUMENTS("--htreads=4"), "--htreads", "did you mean --threads?");
    check_wrong(ARGUMENTS("--mem", "4"), "--mem", "did you mean --memory?");
    check_wrong(ARGUMENTS("--hlep"), "--hlep", "did you mean --help?");
    check_wrong(ARGUMENTS("--zzzzzzzzzzzz"), "unknown option --zzzzzzzzzzzz (", "--help");
    check_wrong(ARGUMENTS("--seq-len", "9"), "unknown option --seq-len; lengths belong to plans", "leat.Plan");
    check_wrong(ARGUMENTS("--Json"), "--Json", "did you mean --json?");
    check_wrong(ARGUMENTS("-x"), "unknown option -x", "-o (--output)");
    check_wrong(ARGUMENTS("-fx"), "unknown option -x", "-h (--help)");
    check_wrong(ARGUMENTS("--json=yes"), "--json=yes", "takes no value");
    check_wrong(ARGUMENTS("--threads"), "--threads needs a value", "--threads N");
    check_wrong(ARGUMENTS("-o"), "--output needs a value", "--output NAME");
    check_wrong(ARGUMENTS("--output", "--json"), "--json follows", "--output=--json");
    check_wrong(ARGUMENTS("--output", "--threads=2"), "--threads=2 follows", "--output=--threads=2");
    check_wrong(ARGUMENTS("--output", "--", "x"), "needs a value", "-- follows");
    check_wrong(ARGUMENTS("--threads", "many"), "--threads: \"many\"", "not a number");
    check_wrong(ARGUMENTS("--threads", ""), "--threads: \"\"", "not a number");
    check_wrong(ARGUMENTS("--threads", "0"), "too small", "minimum is 1");
    check_wrong(ARGUMENTS("--threads", "65"), "too large", "maximum is 64");
    check_wrong(ARGUMENTS("--threads", "2B"), "\"2B\"", "not a number");
    check_wrong(ARGUMENTS("--memory", "1.3"), "--memory", "whole number");
    check_wrong(ARGUMENTS("--memory", "99999999T"), "--memory", "2^64");
    check_wrong(ARGUMENTS("--progress", "nevr"), "\"nevr\"", "did you mean never?");
    check_wrong(ARGUMENTS("--progress="), "--progress", "auto, never, always");
    check_wrong(ARGUMENTS("--tokens", "9:2"), "--tokens: \"9:2\"", "ends before");
    T_EQ(parse(strict_rows, ARGUMENTS("x")), OPTIONS_WRONG);
    T_CHECK(strstr(parsed.message, "--output NAME is missing") != NULL);
}

/* Arguments as long as a command line allows must not break the message. */
static void test_long_arguments(void)
{
    static char name[70000], value[70000];

    memset(name, 'x', sizeof name - 1);
    memcpy(name, "--", 2);
    memset(value, 'y', sizeof value - 1);
    T_EQ(parse(rows, ARGUMENTS(name)), OPTIONS_WRONG);
    T_EQ(parse(rows, ARGUMENTS("--threads", value)), OPTIONS_WRONG);
    T_EQ(parse(rows, ARGUMENTS("--progress", value)), OPTIONS_WRONG);
    T_EQ(parse(rows, ARGUMENTS("--tokens", value)), OPTIONS_WRONG);
    T_EQ(parse(rows, ARGUMENTS("--json=", value)), OPTIONS_WRONG);
    T_CHECK(strlen(parsed.message) < sizeof parsed.message);
}

/* Every option stands in the help with its default, no line is too wide, and the columns agree. */
static void test_help_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    T_CHECK(out != NULL);
    if (!out)
        return;
    options_print(out, "leat test", rows, true);
    fclose(out);
    for (const struct option_row *r = rows; r->name; r++)
        T_CHECK(strstr(text, r->name) != NULL && strstr(text, r->help) != NULL);
    T_CHECK(strstr(text, "--help") != NULL);
    T_CHECK(strstr(text, "(default: all cores)") != NULL);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        T_CHECK(strcspn(line, "\n") <= OPTIONS_COLUMNS);
        T_CHECK(strncmp(line, "  ", 2) == 0 || strncmp(line, "options:\n", 9) == 0);
    }
    free(text);
}

int main(void)
{
    test_forms();
    test_types();
    test_help_wins();
    test_mistakes();
    test_long_arguments();
    test_help_text();
    options_free(&parsed);
    option_list_free(&v.sources);
    return t_end();
}
