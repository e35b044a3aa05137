/*
 * test_progress.c: the line of progress fits its screen, whatever the numbers, and cannot move the cursor; in a log it
 * is a line at a time, and none after the end.
 */
#include "cli/progress.h"

#include "t.h"

static char line[1024];

static size_t make(uint64_t done, uint64_t total, double seconds, const char *detail, unsigned columns)
{
    static const struct progress p = { .label = "verify", .unit = PROGRESS_BYTES, .terminal = true };

    return progress_line(&p, &(struct progress_now) { done, total, seconds, detail }, columns, line, sizeof line);
}

/* Characters, not bytes. */
static size_t shown(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* What stands in the log after an update, whatever the clock says. */
static long logged(struct progress *p)
{
    p->next = 0;
    progress_update(p, 5, 10, NULL);
    fflush(stderr);
    return lseek(STDERR_FILENO, 0, SEEK_CUR);
}

static void test_log(void)
{
    struct progress p;
    long early, first, second, ended, never;
    FILE *log = tmpfile();
    int kept = dup(STDERR_FILENO);

    fflush(stderr);
    T_CHECK(log && kept >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    progress_begin(&p, PROGRESS_AUTO, "verify", PROGRESS_COUNT);
    progress_update(&p, 5, 10, NULL);
    early = lseek(STDERR_FILENO, 0, SEEK_CUR);
    first = logged(&p);
    second = logged(&p);
    progress_end(&p);
    ended = logged(&p);
    progress_begin(&p, PROGRESS_NEVER, "verify", PROGRESS_COUNT);
    never = logged(&p);
    T_CHECK(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    fclose(log);
    T_EQ(early, 0); /* it is too soon */
    T_CHECK(first > 20 && second > first);
    T_EQ(ended, second);
    T_EQ(never, second);
}

/* Other work has a label of its own, which no screen is too narrow for: as a detail it was the first to go, and reading
 * back what a run had packed looked like packing. */
static void test_again(void)
{
    struct progress p = { .label = "pack", .unit = PROGRESS_BYTES, .terminal = true };

    progress_again(&p, "reading back tokens");
    progress_line(&p, &(struct progress_now) { 1 << 30, (uint64_t)4 << 30, 1, NULL }, 79, line, sizeof line);
    T_STR(line, "reading back tokens  [##--------]   25 %  1.0 GiB of 4.0 GiB  3.0 s left");
}

int main(void)
{
    test_again();
    T_EQ(make(1 << 30, (uint64_t)4 << 30, 1, NULL, 100), strlen(line));
    T_STR(line, "verify  [##########------------------------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    /* the bar took all room that was left, and changed its width each time that a number beside it got longer */
    make(1 << 30, (uint64_t)4 << 30, 1, NULL, 80);
    T_STR(line, "verify  [#####---------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, NULL, 90);
    T_STR(line, "verify  [#####---------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, "12 rejects", 200);
    T_CHECK(strstr(line, "  12 rejects") != NULL);
    /* a detail that did not fit once took the bar's place, and was cut: its last part, the stage, goes first, then the
     * rest of it, the rate and the amounts */
    make(1 << 30, (uint64_t)4 << 30, 1, "9.5 M tokens/s  encoding", 90);
    T_STR(line, "verify  [##--------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left  9.5 M tokens/s");
    make(1 << 30, (uint64_t)4 << 30, 1, "9.5 M tokens/s  encoding", 80);
    T_STR(line, "verify  [#####---------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, "9.5 M tokens/s  encoding", 60);
    T_STR(line, "verify  [##--------]   25 %  1.0 GiB of 4.0 GiB  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, "9.5 M tokens/s  encoding", 40);
    T_STR(line, "verify  [##--------]   25 %  3.0 s left");
    make((uint64_t)3 << 30, (uint64_t)4 << 30, 1, NULL, 100);
    T_CONTAINS(line, "  <1 s left");
    make(0, 0, 0, NULL, 80);
    T_STR(line, "verify  0 bytes");
    make(10, 5, 1, NULL, 80); /* more than all: shown as all */
    T_CHECK(strstr(line, "100 %") != NULL);
    make(1, 2, 1, "a\nb\x1b[2J\x7f\xc2\x9b\xe2\x80\xae", 200);
    T_CONTAINS(line, "a\\x0ab\\x1b[2J\\x7f\\u009b\\u202e");
    for (unsigned columns = 0; columns < 160; columns++) {
        make(UINT64_MAX / 2, UINT64_MAX, 1e-9, "na\xc3\xafve na\xc3\xafve", columns);
        T_CHECK(shown(line) <= columns);
        T_CHECK(strlen(line) == 0 || (unsigned char)line[strlen(line) - 1] != 0xc3);
    }
    test_log();
    return t_end();
}
