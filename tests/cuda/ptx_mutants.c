/*
 * ptx_mutants.c: ptx_mutants FOLDER N SEED: changes N random lines of the kernels' PTX, one at a time: the offset of an
 * address, a predicate's sign, a type, a register, a comparison, a constant, a jump; or leaves an instruction out. Each
 * runs through the jobs of ptx_tried.h until one comes out wrong. A change that none sees is printed, and its text goes
 * to FOLDER/LINE.ptx: another way to write the same, or a job that is missing; tests/cuda/ptx_mutants.sh looks at it.
 * What the machine cannot even read (a register of another width) is drawn again, as ptxas would refuse it.
 */
#include <ctype.h>

#include "device/cuda_image.h"
#include "ptx_tried.h"
#include "t.h"

#define MAX_LINES 8192
#define MAX_LINE  256

static struct {
    const char *text;
    size_t length;
} lines[MAX_LINES];

static size_t find_lines(void)
{
    size_t count = 0;

    for (const char *at = cuda_image_ptx; *at && count < MAX_LINES; at += *at == '\n') {
        size_t length = strcspn(at, "\n");

        if (at[0] == '\t' && (isalpha((unsigned char)at[1]) || at[1] == '@') && length < MAX_LINE) {
            lines[count].text = at;
            lines[count++].length = length;
        }
        at += length;
    }
    return count;
}

/* Puts `with` in place of `length` bytes at `at`; a line has room for it. */
static bool put(char *line, char *at, size_t length, const char *with)
{
    size_t more = strlen(with), rest = strlen(at + length) + 1;

    if ((size_t)(at - line) + more + rest > MAX_LINE)
        return false;
    memmove(at + more, at + length, rest);
    memcpy(at, with, more);
    return true;
}

/* ---- Changes: each of a line, or false if it has nothing to change ---- */

static bool change_offset(char *line, uint64_t *random)
{
    static const int by[] = { -16, -8, -4, -2, -1, 1, 2, 4, 8, 16 };
    char *open = strchr(line, '['), *plus = strchr(line, '+'), with[32];
    long offset = plus ? strtol(plus + 1, NULL, 10) : 0;
    char *end = open ? strchr(open, ']') : NULL;

    if (!end)
        return false;
    if (!plus)
        plus = end;
    snprintf(with, sizeof with, "+%ld", offset + by[t_below(random, sizeof by / sizeof by[0])]);
    return put(line, plus, (size_t)(end - plus), with);
}

static bool change_predicate(char *line, uint64_t *random)
{
    (void)random;
    return line[1] == '@' && (line[2] == '!' ? put(line, line + 2, 1, "") : put(line, line + 2, 0, "!"));
}

/* Another of `count` words in place of the last one that is a part of the line's first word. */
static bool change_word(char *line, const char *const *words, unsigned count, uint64_t *random)
{
    char *end = line + 1 + strcspn(line + 1, " \t"), *place = NULL;
    unsigned which = 0, other = (unsigned)t_below(random, count);

    for (char *at = strchr(line, '.'); at && at < end; at = strchr(at + 1, '.'))
        for (unsigned i = 0; i < count; i++)
            if (strncmp(at + 1, words[i], strlen(words[i])) == 0 && strchr(". \t", at[1 + strlen(words[i])])) {
                place = at + 1;
                which = i;
            }
    return place && other != which && put(line, place, strlen(words[which]), words[other]);
}

/* Whether the sign decides what is done, not only the width. */
static bool has_sign(const char *line)
{
    static const char *const names[] = { "setp.l", "setp.g", "shr.", "cvt.", "mul.wide.", "min.", "div." };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(line, names[i]))
            return true;
    return false;
}

/* Of two lines that differ in one type: b32 and u32 are one width. */
static bool same_width(const char *a, const char *b)
{
    while (*a == *b)
        a++, b++;
    return strchr("bsu", *a) && strchr("bsu", *b);
}

static bool change_type(char *line, uint64_t *random)
{
    static const char *const widths[] = { "u8",  "u16", "u32", "u64", "b8",  "b16",
                                          "b32", "b64", "s8",  "s16", "s32", "s64" };
    static const char *const signs[] = { "u16", "s16", "u32", "s32", "u64", "s64" };
    char old[MAX_LINE];

    snprintf(old, sizeof old, "%s", line);
    if (has_sign(line))
        return change_word(line, signs, sizeof signs / sizeof signs[0], random);
    return change_word(line, widths, sizeof widths / sizeof widths[0], random) && !same_width(old, line);
}

static bool change_comparison(char *line, uint64_t *random)
{
    static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };

    return change_word(line, names, sizeof names / sizeof names[0], random);
}

/* Behind one of the `prefix`es in `from`, letters and a number: that number, other by up to three. */
static bool change_number(char *line, char *from, const char *prefix, uint64_t *random)
{
    char *places[12], *end, with[32];
    unsigned found = 0;
    long number, by = 1 + (long)t_below(random, 3);

    for (char *at = strstr(from, prefix); at && found < 12; at = strstr(at + 1, prefix)) {
        char *digits = at + strlen(prefix);

        digits += strspn(digits, "abcdefghijklmnopqrstuvwxyz-");
        if (isdigit((unsigned char)*digits))
            places[found++] = digits;
    }
    if (found == 0)
        return false;
    found = (unsigned)t_below(random, found);
    number = strtol(places[found], &end, 10);
    snprintf(with, sizeof with, "%ld", number >= by && t_below(random, 2) ? number - by : number + by);
    return put(line, places[found], (size_t)(end - places[found]), with);
}

static bool change_register(char *line, uint64_t *random)
{
    return change_number(line, line, "%", random);
}

static bool change_constant(char *line, uint64_t *random)
{
    char *comma = strrchr(line, ',');

    return comma && !strchr(comma, '[') && change_number(line, comma, ", ", random);
}

static bool change_jump(char *line, uint64_t *random)
{
    char *last = strrchr(line, '_');

    return last && strstr(line, "bra") && change_number(line, last, "_", random);
}

static bool leave_out(char *line, uint64_t *random)
{
    (void)random;
    line[0] = '\0';
    return true;
}

static const struct {
    const char *name;
    bool (*change)(char *line, uint64_t *random);
} kinds[] = {
    { "offset", change_offset },     { "predicate", change_predicate },
    { "type", change_type },         { "comparison", change_comparison },
    { "register", change_register }, { "constant", change_constant },
    { "jump", change_jump },         { "left out", leave_out },
};

/* ---- All of it ---- */

static char *changed_text(size_t line, const char *changed)
{
    const char *from = lines[line].text, *rest = from + lines[line].length;
    size_t room = strlen(cuda_image_ptx) + MAX_LINE;
    char *text = malloc(room);

    if (!text)
        abort();
    snprintf(text, room, "%.*s%s%s", (int)(from - cuda_image_ptx), cuda_image_ptx, changed, rest);
    return text;
}

static unsigned number_of(const char *line)
{
    unsigned number = 1;

    for (const char *at = cuda_image_ptx; at < line; at++)
        number += *at == '\n';
    return number;
}

/* Says which change it is that no job sees, and keeps its text. */
static void survives(const char *folder, size_t line, const char *changed, const char *kind, const char *text)
{
    unsigned number = number_of(lines[line].text);
    char path[600];
    FILE *f;

    printf("%u: %s: %.*s  ->  %s\n", number, kind, (int)lines[line].length, lines[line].text, changed);
    snprintf(path, sizeof path, "%s/%u.ptx", folder, number);
    f = fopen(path, "w");
    if (!f || fputs(text, f) == EOF || fclose(f) != 0)
        T_FAIL("cannot write %s", path);
}

int main(int argc, char **argv)
{
    uint64_t jobs = t_seed(), random = argc == 4 ? strtoull(argv[3], NULL, 10) : 1;
    unsigned long wanted = argc == 4 ? strtoul(argv[2], NULL, 10) : 0, tried = 0, survivors = 0;
    size_t count = find_lines();
    char changed[MAX_LINE], why[256];

    if (wanted == 0)
        return t_skip("call it with a folder, how many changes, and their seed");
    ptx_tried_make(&jobs);
    while (tried < wanted) {
        size_t line = (size_t)t_below(&random, count);
        unsigned kind = (unsigned)t_below(&random, sizeof kinds / sizeof kinds[0]);
        bool readable = false, right;
        char *text;

        snprintf(changed, sizeof changed, "%.*s", (int)lines[line].length, lines[line].text);
        if (!kinds[kind].change(changed, &random))
            continue;
        text = changed_text(line, changed);
        right = ptx_tried_text(text, &readable, why, sizeof why);
        tried += readable;
        survivors += right;
        if (right)
            survives(argv[1], line, changed, kinds[kind].name, text);
        free(text);
    }
    printf("%lu changes, %lu of them seen, %lu not\n", tried, tried - survivors, survivors);
    return t_end();
}
