/* progress.c: see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/show.h"
#include "cli.h"
#include "units.h"

#define REDRAW_SECONDS 0.1
#define LOG_SECONDS    30.0
#define LINE_BYTES     1024
#define BAR_MAX        40u
#define BAR_MIN        10u

const char *const progress_modes[] = { "auto", "never", NULL };

static bool is_terminal(void)
{
    const char *kind = getenv("TERM");

    return isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

/* Asks for the width for each line, so that a resized window needs no signal handler. */
static unsigned screen_columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

void progress_begin(struct progress *p, enum progress_mode mode, const char *label, enum progress_unit unit)
{
    memset(p, 0, sizeof *p);
    p->label = label;
    p->unit = unit;
    p->silent = mode == PROGRESS_NEVER;
    p->terminal = !p->silent && is_terminal();
    p->began = cli_now();
    p->next = p->began + (p->terminal ? REDRAW_SECONDS : LOG_SECONDS);
}

/* Cuts a line to `columns`, at a whole UTF-8 character. Returns its bytes. */
static size_t fit(char *line, unsigned columns)
{
    size_t used = 0;
    unsigned shown = 0;

    for (; line[used]; used++) {
        unsigned char c = (unsigned char)line[used];

        if ((c & 0xc0) != 0x80 && ++shown > columns)
            break;
    }
    line[used] = '\0';
    return used;
}

/* The parts that a line leaves out, one after the other, until the rest and a bar fit the screen. */
enum shorter { WHOLE, NO_STAGE, NO_DETAIL, NO_RATE, NO_AMOUNT };

/* Returns the length of a detail without its last part, which says what is done at the moment. */
static size_t without_stage(const char *detail)
{
    size_t length = strlen(detail);

    while (length > 1 && !(detail[length - 1] == ' ' && detail[length - 2] == ' '))
        length--;
    return length > 1 ? length - 2 : 0;
}

/* Writes " 43 % 1.2 GiB of 3.4 GiB 2.1 GB/s 3 s left detail", without the label. */
static void numbers(const struct progress *p, const struct progress_now *now, enum shorter shorter, char *out,
                    size_t capacity)
{
    uint64_t done = now->done, total = now->total;
    double seconds = now->seconds;
    const char *detail = now->detail;
    struct units_text (*amount)(uint64_t) = p->unit == PROGRESS_BYTES ? units_bytes : units_count;
    double rate = seconds > 0 ? (double)(done - p->at_start) / seconds : 0;
    double left = rate > 0 && total > done ? (double)(total - done) / rate : 0;
    size_t used = 0, shown = !detail || shorter >= NO_DETAIL ? 0
                             : shorter == NO_STAGE           ? without_stage(detail)
                                                             : strlen(detail);

    if (total > 0)
        used += (size_t)snprintf(out, capacity, "%3.0f %%", 100.0 * (double)done / (double)total);
    if (total > 0 && shorter < NO_AMOUNT)
        used += (size_t)snprintf(out + used, capacity - used, "  %s of %s", amount(done).text, amount(total).text);
    if (total == 0)
        used += (size_t)snprintf(out, capacity, "%s", amount(done).text);
    if (rate > 0 && shorter < NO_RATE)
        used += (size_t)snprintf(out + used, capacity - used, "  %s",
                                 units_rate(rate, p->unit == PROGRESS_BYTES ? "B" : "").text);
    if (left > 0)
        used +=
            (size_t)snprintf(out + used, capacity - used, "  %s left", left < 1 ? "<1 s" : units_duration(left).text);
    if (shown > 0) {
        used += (size_t)snprintf(out + used, capacity - used, "  ");
        show_text(out + used, capacity - used, detail, shown);
    }
}

size_t progress_line(const struct progress *p, const struct progress_now *now, unsigned columns, char *out,
                     size_t capacity)
{
    struct progress_now capped = *now;
    uint64_t total = now->total;
    char text[LINE_BYTES];
    char bar[BAR_MAX + 5] = "";
    bool barred = p->terminal && total > 0;
    size_t taken, width, full;

    if (total > 0 && capped.done > total)
        capped.done = total;
    for (unsigned shorter = WHOLE;; shorter++) {
        numbers(p, &capped, (enum shorter)shorter, text, sizeof text);
        taken = strlen(p->label) + 2 + fit(text, LINE_BYTES) + 4; /* counts two gaps and the brackets of the bar, too */
        if (!p->terminal || shorter == NO_AMOUNT || taken + (barred ? BAR_MIN : 0) <= columns)
            break;
    }
    if (barred && taken + BAR_MIN <= columns) {
        for (width = BAR_MAX; taken + width > columns; width /= 2)
            ; /* goes in steps, so that the bar does not grow and shrink with each number beside it */
        full = (size_t)((double)capped.done / (double)total * (double)width);
        bar[0] = '[';
        memset(bar + 1, '#', full);
        memset(bar + 1 + full, '-', width - full);
        memcpy(bar + 1 + width, "]  ", 4);
    }
    snprintf(out, capacity, "%s  %s%s", p->label, bar, text);
    return fit(out, columns);
}

void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *detail)
{
    char line[LINE_BYTES];
    double now;
    size_t bytes;

    if (p->silent)
        return;
    if (!p->started) {
        p->started = true;
        p->at_start = done;
    }
    now = cli_now();
    if (now < p->next)
        return;
    p->next = now + (p->terminal ? REDRAW_SECONDS : LOG_SECONDS);
    /* The last column stays free: some terminals break the line when it is written. */
    bytes = progress_line(p, &(struct progress_now) { done, total, now - p->began, detail },
                          p->terminal ? screen_columns() - 1 : LINE_BYTES / 2, line, sizeof line);
    if (p->terminal) {
        fprintf(stderr, "\r%.*s\x1b[K", (int)bytes, line);
        p->drawn = true;
    } else {
        fprintf(stderr, "%.*s\n", (int)bytes, line);
    }
    fflush(stderr);
}

void progress_again(struct progress *p, const char *label)
{
    p->label = label;
    p->started = false;
    p->began = cli_now();
}

void progress_end(struct progress *p)
{
    if (p->drawn)
        fputs("\r\x1b[K", stderr);
    p->drawn = false;
    p->silent = true;
}
