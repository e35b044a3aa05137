/*
 * test_golden.c: opening and verifying each dataset of tests/golden/ gives the status and the sentence of expected.txt,
 * the reader of one file (leat_read.h) says what the library says, and the library's writer gives the same bytes for
 * the same content. --print prints what expected.txt should be. The
 * files are frozen: valid ones, and ones with one defect each, with every checksum repaired that would hide it behind
 * "damaged".
 */
#include <stdarg.h>

#include "support/arranged.h"
#include "support/files.h"
#include "support/read_again.h"

#define FOLDER "tests/golden"

/* The tokens lie in a file of llm.c. */
static void compare_adopted(const char *golden, const char *written)
{
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    const char *name = t_text("llmc:%s.bin", written);

    T_CHECK(copy_file(with(golden, ".bin"), with(written, ".bin")));
    T_OK(leat_dataset_open(&d, golden, NULL, &t_err));
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    options.vocabulary = info.vocabulary;
    options.end_token = info.end_token;
    options.output = written;
    T_OK(leat_adopt(name, &options, NULL, &t_err));
    if (!same_file(with(golden, ".leat"), with(written, ".leat")))
        T_FAIL("%s is adopted otherwise", golden);
}

static void compare_written(const char *golden)
{
    const char *written = t_path(t_folder(), strrchr(golden, '/') + 1);

    if (strstr(golden, "unknown")) /* the writer knows no such section */
        return;
    if (strstr(golden, "elsewhere")) {
        compare_adopted(golden, written);
        return;
    }
    arranged_again(written, golden);
    if (!same_dataset(golden, written))
        T_FAIL("%s, written again, is another one", golden);
}

static char said[200000];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t used = strlen(said);
    va_list args;

    va_start(args, format);
    vsnprintf(said + used, sizeof said - used, format, args);
    va_end(args);
}

/* What opening and verifying gives, in the form of expected.txt. */
static void say_outcome(const char *name)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_error err = { 0 };
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, &err);
    bool opened = s == LEAT_OK;
    const char *differs;

    T_EQ(opened, d != NULL);
    if (opened) {
        s = leat_dataset_verify(d, NULL, &report, &err);
        T_EQ(s == LEAT_OK, report.damaged_pages + report.damaged_others == 0 && report.bytes > 0);
    }
    differs = read_again(name, d, s, s == LEAT_OK, UINT64_MAX);
    if (differs)
        T_FAIL("%s: leat_read.h says otherwise: %s", name, differs);
    leat_dataset_close(d);
    say("%s: %s\n", name + strlen(FOLDER "/"), s == LEAT_OK ? "valid" : opened ? "verify" : "open");
    if (s != LEAT_OK)
        say("    %s: %s\n", leat_status_name(s), err.message);
    T_EQ(s, s == LEAT_OK ? LEAT_OK : err.status);
    T_EQ(s == LEAT_OK, strncmp(name, FOLDER "/valid/", strlen(FOLDER "/valid/")) == 0);
}

static void compare_said(const char *want)
{
    uint64_t at = 0, line = 1, begin = 0;

    for (; want[at] && want[at] == said[at]; at++)
        if (want[at] == '\n') {
            line++;
            begin = at + 1;
        }
    if (want[at] != said[at])
        T_FAIL("expected.txt line %" PRIu64 ":\n  %.*s\nbut the outcome is\n  %.*s", line,
               (int)strcspn(want + begin, "\n"), want + begin, (int)strcspn(said + begin, "\n"), said + begin);
}

int main(int argc, char **argv)
{
    uint64_t datasets[2] = { 0, 0 };
    size_t size;
    char *expected = (char *)file_bytes(FOLDER "/expected.txt", &size);

    for (const char *line = expected ? expected : ""; *line; line += strcspn(line, "\n") + 1) {
        char name[1000];

        if (*line == ' ')
            continue;
        snprintf(name, sizeof name, FOLDER "/%.*s", (int)strcspn(line, ":"), line);
        datasets[*line == 'v']++;
        if (*line == 'v')
            compare_written(name);
        say_outcome(name);
    }
    T_EQ(t_files(FOLDER "/valid"), 2 + 2 * datasets[1]); /* none is without a line */
    T_CHECK(t_files(FOLDER "/invalid") <= 2 + 2 * datasets[0] && datasets[0] > 100);
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        fputs(said, stdout);
    else
        compare_said(expected ? expected : "");
    free(expected);
    return t_end();
}
