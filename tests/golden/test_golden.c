/*
 * test_golden.c: the files of tests/golden/ are what make_golden makes; the library's writer gives the same bytes for
 * the same content; and opening and verifying each gives the status and the sentence of expected.txt.
 *
 * test_golden --print prints what expected.txt should be, to be read before it is kept.
 */
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/golden.h"
#include "t.h"

#define FOLDER "tests/golden"

/* NULL: there is no such file. */
static uint8_t *read_file(const char *path, uint64_t *count)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    uint8_t *bytes;

    *count = 0;
    if (!f)
        return NULL;
    if (fstat(fileno(f), &st) != 0)
        exit(1);
    *count = (uint64_t)st.st_size;
    bytes = malloc(*count + 1);
    bytes[*count] = '\0';
    if (*count > 0 && fread(bytes, *count, 1, f) != 1)
        exit(1);
    fclose(f);
    return bytes;
}

/* The file is `before`, then `text`. */
static void compare(const char *path, const struct craft_text *before, const struct craft_text *text)
{
    uint64_t count, at = 0, want = before->count + text->count;
    uint8_t *bytes = read_file(path, &count);

    if (!bytes) {
        T_FAIL("%s is missing: make golden", path);
        return;
    }
    while (at < count && at < want &&
           bytes[at] == (at < before->count ? before->bytes[at] : text->bytes[at - before->count]))
        at++;
    if (count != want || at < count)
        T_FAIL("%s differs at byte %" PRIu64 " (it has %" PRIu64 " bytes, and should have %" PRIu64 ")", path, at,
               count, want);
    free(bytes);
}

static void compare_files(const char *name, const struct golden *g)
{
    static const struct craft_text nothing;
    char path[1100];

    snprintf(path, sizeof path, "%s.leat", name);
    compare(path, &nothing, &g->craft.index);
    snprintf(path, sizeof path, "%s.%s", name, golden_suffix(g));
    if (g->no_tokens)
        T_CHECK(access(path, F_OK) != 0);
    else
        compare(path, &g->craft.before, &g->craft.tokens);
}

static void compare_written(const struct golden *g, const char *folder)
{
    char name[1024];

    snprintf(name, sizeof name, "%s/%s", folder, g->name);
    if (golden_write(g, name))
        compare_files(name, g);
    else
        T_CHECK(strstr(g->name, "unknown") != NULL);
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
static void say_outcome(const struct golden *g, const char *name)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_error err = { 0 };
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, &err);
    const char *stage = "open";

    if (s == LEAT_OK) {
        stage = "verify";
        s = leat_dataset_verify(d, NULL, &report, &err);
        if (s == LEAT_OK)
            T_EQ(report.bytes, g->craft.index.count + g->craft.tokens.count);
        T_EQ(s == LEAT_OK, report.damaged_pages + report.damaged_others == 0);
        leat_dataset_close(d);
    } else {
        T_CHECK(d == NULL);
    }
    say("%s/%s: %s\n", g->folder, g->name, s == LEAT_OK ? "valid" : stage);
    if (s != LEAT_OK)
        say("    %s: %s\n", leat_status_name(s), err.message);
    T_EQ(s, s == LEAT_OK ? LEAT_OK : err.status);
    T_EQ(s == LEAT_OK, strcmp(g->folder, "valid") == 0);
}

static void compare_said(void)
{
    uint64_t count, at = 0, line = 1, begin = 0;
    uint8_t *bytes = read_file(FOLDER "/expected.txt", &count);
    const char *want = bytes ? (const char *)bytes : "";

    for (; want[at] && want[at] == said[at]; at++)
        if (want[at] == '\n') {
            line++;
            begin = at + 1;
        }
    if (want[at] != said[at])
        T_FAIL("expected.txt line %" PRIu64 ":\n  %.*s\nbut the outcome is\n  %.*s", line,
               (int)strcspn(want + begin, "\n"), want + begin, (int)strcspn(said + begin, "\n"), said + begin);
    free(bytes);
}

int main(int argc, char **argv)
{
    const char *folder = t_folder();

    for (unsigned i = 0; i < golden_count(); i++) {
        struct golden g;
        char name[1024];

        golden_make(&g, i);
        snprintf(name, sizeof name, FOLDER "/%s/%s", g.folder, g.name);
        compare_files(name, &g);
        if (strcmp(g.folder, "valid") == 0)
            compare_written(&g, folder);
        say_outcome(&g, name);
        craft_free(&g.craft);
    }
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        fputs(said, stdout);
    else
        compare_said();
    return t_end();
}
