/* test_progress.c: the line of progress fits its screen, whatever the numbers, and cannot move the cursor. */
#include "cli/progress.h"

#include <string.h>

#include "t.h"

static char line[1024];

static size_t make(uint64_t done, uint64_t total, double seconds, const char *detail, unsigned columns)
{
    static const struct progress p = { .label = "verify", .unit = PROGRESS_BYTES, .terminal = true };

    return progress_line(&p, done, total, seconds, detail, columns, line, sizeof line);
}

/* Characters, not bytes. */
static size_t shown(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

int main(void)
{
    T_EQ(make(1 << 30, (uint64_t)4 << 30, 1, NULL, 100), strlen(line));
    T_STR(line, "verify  [##########------------------------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    /* the bar took all room that was left, and changed its width each time that a number beside it got longer */
    make(1 << 30, (uint64_t)4 << 30, 1, NULL, 80);
    T_STR(line, "verify  [#####---------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, NULL, 90);
    T_STR(line, "verify  [#####---------------]   25 %  1.0 GiB of 4.0 GiB  1.07 GB/s  3.0 s left");
    make(1 << 30, (uint64_t)4 << 30, 1, "12 rejects", 200);
    T_CHECK(strstr(line, "  12 rejects") != NULL);
    make(0, 0, 0, NULL, 80);
    T_STR(line, "verify  0 bytes");
    make(10, 5, 1, NULL, 80); /* more than all: shown as all */
    T_CHECK(strstr(line, "100 %") != NULL);
    make(1, 2, 1, "a\nb\x1b[2J\x7f", 200);
    T_CHECK(strpbrk(line, "\n\x1b\x7f") == NULL);
    for (unsigned columns = 0; columns < 160; columns++) {
        make(UINT64_MAX / 2, UINT64_MAX, 1e-9, "na\xc3\xafve na\xc3\xafve", columns);
        T_CHECK(shown(line) <= columns);
        T_CHECK(strlen(line) == 0 || (unsigned char)line[strlen(line) - 1] != 0xc3);
    }
    return t_end();
}
