/*
 * test_scanners.c: every hand-made scanner cuts as the general path does with the same expression, on random strings
 * of nasty characters; windows cut anywhere change nothing; long runs take time in proportion; a pathological pattern
 * is given up; what cannot be translated is refused with its place.
 */
#include "t.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "nasty.h"
#include "tokenizer/split/split.h"

/* Others in each run. */
#define STRINGS (t_every() ? 150000 : 8000)
#define WINDOWS (t_every() ? 30000 : 10000)
#define STEPS   3

static void show(const char *what, const char *row, const uint8_t *text, size_t length, size_t at)
{
    char hex[3 * 80 + 1] = "";

    for (size_t i = 0; i < length && i < 80; i++)
        snprintf(hex + 3 * i, 4, "%02x ", text[i]);
    T_FAIL("%s, %s: different at byte %zu of %zu: %s", what, row, at, length, hex);
}

/* All ends of a text at once, asked for in batches of random sizes. */
static size_t scan_whole(const struct scanner *s, const uint8_t *text, size_t length, uint32_t *ends, uint64_t *state)
{
    struct scan_window window = { text, length, true };
    size_t at = 0, count = 0, n, room;

    do {
        room = 1 + t_below(state, 64);
        n = scan_next(s, &window, &at, ends + count, room);
        count += n;
    } while (n == room);
    T_EQ(at, length);
    return count;
}

/* The same in windows of random sizes, which double where nothing is certain. */
static size_t scan_windows(const struct scanner *s, const uint8_t *text, size_t length, uint32_t *ends, uint64_t *state)
{
    size_t from = 0, count = 0, size = 1 + t_below(state, 100);

    for (;;) {
        size_t to = length - from > size ? from + size : length, at = 0, n;

        while (to < length && (text[to] & 0xc0) == 0x80)
            to++;
        n = scan_next(s, &(struct scan_window) { text + from, to - from, to == length }, &at, ends + count, NASTY_MAX);
        for (size_t i = 0; i < n; i++)
            ends[count + i] += (uint32_t)from;
        count += n;
        from += at;
        if (to == length)
            return count;
        size = n ? 1 + t_below(state, 100) : 2 * size;
    }
}

static void check_windows(const struct scanner *s, uint64_t seed)
{
    static uint32_t whole[NASTY_MAX], windows[NASTY_MAX];
    static uint8_t memory[NASTY_MAX];
    const uint8_t *text;
    uint64_t state = seed;

    for (int i = 0; i < WINDOWS && t_failures < 10; i++) {
        size_t length = nasty_text(memory, &text, t_below(&state, 50) ? 30 : 600, &state),
               a = scan_whole(s, text, length, whole, &state), b = scan_windows(s, text, length, windows, &state),
               at = 0;

        while (at < a && at < b && whole[at] == windows[at])
            at++;
        if (at < a || at < b)
            show(s->family->name, s->row->name, text, length, at < a ? whole[at] : windows[at]);
    }
}

#ifdef LEAT_HAVE_PCRE2

/* Steps of the general path, one inside the pretokens of the other; each pretoken between matches is a pretoken,
 * too. */
struct general {
    struct splitter steps[STEPS];
    struct pattern *patterns[STEPS];
    struct pattern_run *runs[STEPS];
    size_t count;
};

static void general_ends(struct general *g, size_t step, const uint8_t *text, size_t from, size_t length,
                         uint32_t *ends, size_t *count)
{
    struct split_run run = { 0 };
    struct split_pretoken pretokens[SPLIT_ROOM];
    enum pattern_result result;
    size_t n;

    run.pattern_run = g->runs[step];
    T_EQ(split_begin(&run, &g->steps[step], &(struct scan_window) { text + from, length, true }), PATTERN_DONE);
    do {
        result = split_next(&run, pretokens, &n);
        for (size_t i = 0; i < n; i++)
            if (step + 1 < g->count && step + 1 < STEPS)
                general_ends(g, step + 1, text, from + pretokens[i].begin, pretokens[i].end - pretokens[i].begin, ends,
                             count);
            else
                ends[(*count)++] = (uint32_t)(from + pretokens[i].end);
    } while (result == PATTERN_MORE);
    T_EQ(result, PATTERN_DONE);
}

static void general_make(struct general *g, const struct scan_spelling *spelling, enum scan_dialect dialect)
{
    for (g->count = 0; g->count < STEPS && spelling->texts[g->count]; g->count++) {
        const char *text = spelling->texts[g->count];

        T_OK(pattern_compile(&g->patterns[g->count], text, strlen(text), dialect, &t_err));
        g->steps[g->count] = (struct splitter) { .matcher = SPLIT_BY_PATTERN };
        g->runs[g->count] = pattern_run_new(g->patterns[g->count]);
        T_CHECK(g->runs[g->count] != NULL);
    }
}

static void general_free(struct general *g)
{
    for (size_t i = 0; i < g->count; i++) {
        pattern_run_free(g->runs[i]);
        pattern_free(g->patterns[i]);
    }
}

static void check_against_general(const struct scan_family *family, const struct scan_spelling *spelling,
                                  enum scan_dialect dialect, uint64_t seed, int strings)
{
    static uint32_t want[NASTY_MAX], got[NASTY_MAX];
    static uint8_t memory[NASTY_MAX];
    const uint8_t *text;
    uint64_t state = seed;
    struct general g = { 0 };
    struct scanner s;

    T_CHECK(scanner_named(&s, family->name, dialect));
    general_make(&g, spelling, dialect);
    for (int i = 0; i < strings && t_failures < 10; i++) {
        size_t length = nasty_text(memory, &text, t_below(&state, 50) ? 30 : 600, &state), wanted = 0, count, at = 0;

        general_ends(&g, 0, text, 0, length, want, &wanted);
        for (s.row = family->rows; s.row->name; s.row++) {
            if (s.row->needs > cpu_level())
                continue;
            count = scan_whole(&s, text, length, got, &state);
            for (at = 0; at < wanted && at < count && want[at] == got[at];)
                at++;
            if (at < wanted || at < count)
                show(family->name, s.row->name, text, length, at < wanted ? want[at] : got[at]);
        }
    }
    general_free(&g);
}

#endif

static void check_families(uint64_t seed)
{
    const struct scan_family *family;
    struct scanner s;

    for (size_t i = 0; (family = scan_family_number(i)) != NULL; i++)
        for (const struct scan_spelling *spelling = family->spellings; spelling->texts[0]; spelling++)
            for (int d = 0; d < SCAN_DIALECTS; d++) {
                size_t bytes[STEPS], count = 0;

                if (!(spelling->dialects & 1u << d))
                    continue;
                for (; count < STEPS && spelling->texts[count]; count++)
                    bytes[count] = strlen(spelling->texts[count]);
                T_EQ(scanner_find(&s, spelling->texts, bytes, count, (enum scan_dialect)d, false), true);
                T_EQ(scanner_find(&s, spelling->texts, bytes, count, (enum scan_dialect)d, true), !family->leaves_gaps);
                T_STR(s.family->name, family->name);
                bytes[0]--;
                T_EQ(scanner_find(&s, spelling->texts, bytes, count, (enum scan_dialect)d, false), false);
                bytes[0]++;
                scanner_find(&s, spelling->texts, bytes, count, (enum scan_dialect)d, false);
#ifdef LEAT_HAVE_PCRE2
                /* the first spelling gets most of the strings, shared by the dialects */
                check_against_general(family, spelling, (enum scan_dialect)d, seed + i,
                                      spelling == family->spellings ? STRINGS / 2 : STRINGS / 20);
#endif
                check_windows(&s, seed + i);
            }
}

/* Runs of one or two characters, 1 MiB long, whole and in windows: pretokens cover the text, and time does not grow
 * with the square (with that, the test would not end in time). */
static void check_long_runs(void)
{
    static const uint32_t runs[][2] = {
        { 'x', 'x' },       { ' ', ' ' },       { '\n', '\n' },   { ' ', '\n' },     { '1', '1' },   { '!', '!' },
        { 'A', 'A' },       { 0x4e00, 0x4e00 }, { 0x301, 0x301 }, { 0x301, 'A' },    { '\'', '\'' }, { '/', '\n' },
        { 0x3042, 0x30fb }, { 0, 0 },           { 'A', 'a' },     { 0x1c5, 0x2b0 },  { ' ', '\'' },  { 0x2003, 0x85 },
        { 0x4e00, 'A' },    { 0xe000, ' ' },    { '\'', 's' },    { 0xac00, 0x301 },
    };
    size_t max = 1 << 20;
    uint8_t *text = malloc(max + 8);
    uint32_t *ends = malloc((max + 8) * sizeof *ends);
    const struct scan_family *family;
    uint64_t state = 1;
    struct scanner s;

    T_CHECK(text && ends);
    for (size_t i = 0; (family = scan_family_number(i)) != NULL; i++)
        for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
            size_t n = 0, count, at = 0;

            /* half of the one, then turns */
            while (n < max / 2)
                n += nasty_put(text + n, runs[r][0]);
            while (n < max)
                n += nasty_put(text + n, runs[r][n & 1]);
            T_CHECK(scanner_named(&s, family->name, SCAN_RUST));
            count = scan_whole(&s, text, n, ends, &state);
            T_CHECK(count > 0 && ends[count - 1] == n);
            /* a window that is not final gives the same as far as it goes, or nothing */
            if (scan_next(&s, &(struct scan_window) { text, n, false }, &at, ends + count, 1) == 1)
                T_EQ(ends[count], ends[0]);
        }
    free(text);
    free(ends);
}

#ifdef LEAT_HAVE_PCRE2

/* How many characters an expression matches: counted in the references, tiktoken 0.14 and tokenizers 0.23. */
static const struct {
    const char *pattern;
    int dialect; /* of enum scan_dialect, or -1: both */
    unsigned count;
} properties[] = {
    { "\\p{Hiragana}", -1, 381 },
    { "\\p{hira}", -1, 381 },
    { "\\p{Latin}", -1, 1487 },
    { "\\p{Cyrillic}", -1, 508 },
    { "\\p{Script=Katakana}", SCAN_RUST, 321 },
    { "\\p{sc=Kana}", SCAN_RUST, 321 },
    { "\\p{Common}", -1, 9053 },
    { "\\p{Mn}", -1, 2020 },
    { "\\p{Nonspacing_Mark}", -1, 2020 },
    { "\\p{Nl}", -1, 236 },
    { "\\p{Pd}", -1, 27 },
    { "\\p{Currency Symbol}", -1, 63 },
    { "\\p{Cf}", -1, 170 },
    { "\\p{Cn}", -1, 819533 },
    { "\\P{Assigned}", -1, 819533 },
    { "\\p{Co}", -1, 137468 },
    { "\\p{Alphabetic}", -1, 142759 },
    { "\\p{Uppercase}", -1, 1978 },
    { "\\p{Lower}", -1, 2569 },
    { "\\p{Emoji}", -1, 1431 },
    { "\\p{Extended_Pictographic}", -1, 3537 },
    { "\\p{Ideographic}", -1, 106477 },
    { "[[:alpha:]]", SCAN_ONIGURUMA, 142759 },
    { "[[:alpha:]]", SCAN_RUST, 52 },
    { "[[:alnum:]]", SCAN_ONIGURUMA, 143519 },
    { "[[:upper:]]", SCAN_ONIGURUMA, 1978 },
    { "[[:lower:]]", SCAN_ONIGURUMA, 2569 },
    { "[[:graph:]]", SCAN_ONIGURUMA, 292447 },
    { "[[:print:]]", SCAN_ONIGURUMA, 292464 },
};

static unsigned count_matches(const char *text, enum scan_dialect dialect, const struct scan_window *window)
{
    struct pattern_span spans[64];
    struct pattern *pattern;
    struct pattern_run *run;
    enum pattern_result more;
    unsigned count = 0;
    size_t n;

    T_OK(pattern_compile(&pattern, text, strlen(text), dialect, &t_err));
    run = pattern_run_new(pattern);
    T_EQ(pattern_begin(run, window, false), PATTERN_DONE);
    do {
        more = pattern_next(run, spans, 64, &n);
        for (size_t i = 0; i < n; i++)
            count += spans[i].match;
    } while (more == PATTERN_MORE);
    pattern_run_free(run);
    pattern_free(pattern);
    return count;
}

static void check_properties(void)
{
    uint8_t *text = malloc(0x110000u * 4);
    struct scan_window window = { .text = text, .final = true };

    T_CHECK(text != NULL);
    for (uint32_t c = 0; c < 0x110000; c++)
        if (c < 0xd800 || c >= 0xe000)
            window.length += utf8_encode(text + window.length, c);
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        for (int dialect = 0; dialect < 2; dialect++) {
            unsigned count;

            if (properties[i].dialect >= 0 && properties[i].dialect != dialect)
                continue;
            count = count_matches(properties[i].pattern, (enum scan_dialect)dialect, &window);
            if (count != properties[i].count)
                T_FAIL("%s, dialect %d: %u characters instead of %u", properties[i].pattern, dialect, count,
                       properties[i].count);
        }
    free(text);
}

static void check_refusals(uint64_t seed)
{
    static const struct {
        const char *pattern;
        enum scan_dialect dialect;
        const char *says;
    } refused[] = {
        { "a\\X", SCAN_ONIGURUMA, "\"\\X\" at byte 1" },
        { "(a)\\1", SCAN_RUST, "\"\\1\" at byte 3" },
        { "\\p{Klingon}", SCAN_RUST, "\"\\p{Klingon}\" at byte 0: unknown property" },
        { "\\p{Block=Greek}", SCAN_RUST, "unknown property" },
        { "\\p{Script=Greek}", SCAN_ONIGURUMA, "unknown property" },
        { "[[:latin:]]", SCAN_ONIGURUMA, "at byte 1: unknown class" },
        { "ab(?~c)", SCAN_ONIGURUMA, "\"(?~\" at byte 2" },
        { "(?i:ss)", SCAN_ONIGURUMA, "at byte 5: ignoring case" },
        { "(?i:(?:a|s)(?:[b]|s))", SCAN_ONIGURUMA, "at byte 18: ignoring case" },
        { "(?i)[\xc3\xa0-\xc3\xbc]", SCAN_RUST, "ignoring case" },
        { "a**", SCAN_RUST, "\"*\" at byte 2" },
        { "[a", SCAN_RUST, "unclosed character class" },
        { "(a", SCAN_RUST, "unclosed group" },
        { "a)", SCAN_ONIGURUMA, "unmatched )" },
        { "(?<=a+)b", SCAN_ONIGURUMA, "PCRE2" },
        { "\\", SCAN_RUST, "unfinished" },
        { "\\p{", SCAN_RUST, "unfinished" },
        { "[\\", SCAN_RUST, "unfinished" },
        { "(?", SCAN_RUST, "unclosed group" },
        { "\\x{110000}", SCAN_RUST, "not a code point" },
        { "[\\777]", SCAN_ONIGURUMA, "not a code point" },
        { "a\\c", SCAN_ONIGURUMA, "\"\\c\" at byte 1: unfinished escape" },
        { "a\\c\\", SCAN_ONIGURUMA, "\"\\c\\\" at byte 1: unfinished escape" },
        { "a\\C-\\M", SCAN_ONIGURUMA, "\"\\C-\\M\" at byte 1: unfinished escape" },
    };
    struct pattern *pattern;
    struct scanner s;
    const char *rich;

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *text = refused[i].pattern;

        T_REFUSED(pattern_compile(&pattern, text, strlen(text), refused[i].dialect, &t_err), LEAT_E_UNSUPPORTED,
                  refused[i].says);
        T_CHECK(pattern == NULL);
    }
    /* every prefix of a rich pattern is taken or refused, never read past its end: some of them in each run */
    T_CHECK(scanner_named(&s, "kimi", SCAN_RUST));
    rich = s.family->spellings->texts[0];
    for (size_t n = t_below(&seed, t_step(4)); n <= strlen(rich); n += t_step(4)) {
        char *copy = malloc(n ? n : 1);

        T_CHECK(copy != NULL);
        memcpy(copy, rich, n);
        if (pattern_compile(&pattern, copy, n, (enum scan_dialect)t_below(&seed, 2), &t_err) == LEAT_OK)
            pattern_free(pattern);
        free(copy);
    }
}

static void check_giving_up(void)
{
    static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacb";
    struct pattern_span spans[4];
    struct pattern *pattern;
    struct pattern_run *run;
    size_t count;

    T_OK(pattern_compile(&pattern, "(?:a|aa)+b", 10, SCAN_RUST, &t_err));
    run = pattern_run_new(pattern);
    T_CHECK(run != NULL);
    T_EQ(pattern_begin(run, &(struct scan_window) { (const uint8_t *)text, strlen(text), true }, false), PATTERN_DONE);
    T_EQ(pattern_next(run, spans, 4, &count), PATTERN_GAVE_UP);
    /* and it is of use for the next text */
    T_EQ(pattern_begin(run, &(struct scan_window) { (const uint8_t *)"cab", 3, true }, false), PATTERN_DONE);
    T_EQ(pattern_next(run, spans, 4, &count), PATTERN_DONE);
    T_EQ(count, 2);
    T_EQ(spans[1].begin, 1);
    T_EQ(spans[1].end, 3);
    pattern_run_free(run);
    pattern_free(pattern);
}

#else

static void check_refusals(uint64_t seed)
{
    struct pattern *pattern;

    (void)seed;
    T_REFUSED(pattern_compile(&pattern, "a+", 2, SCAN_RUST, &t_err), LEAT_E_UNSUPPORTED, "PCRE2");
    T_CHECK(pattern == NULL);
}

static void check_giving_up(void)
{
}

#endif

/* Pretokens as text, joined by '|'. */
static const char *pretokens_of(const struct splitter *s, const char *text)
{
    static char out[256];
    struct split_run run = { 0 };
    struct split_pretoken pretokens[SPLIT_ROOM];
    size_t count, n = 0;

    split_begin(&run, s, &(struct scan_window) { (const uint8_t *)text, strlen(text), true });
    T_EQ(split_next(&run, pretokens, &count), PATTERN_DONE);
    for (size_t i = 0; i < count; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", i ? "|" : "",
                              (int)(pretokens[i].end - pretokens[i].begin), text + pretokens[i].begin);
    out[n] = 0;
    return out;
}

/* What tokenizers 0.23.3 gives; check_scanners.py compares many more. */
static void check_behaviors(void)
{
    static const struct {
        enum split_behavior behavior;
        bool invert;
        const char *pretokens;
    } wanted[] = {
        { SPLIT_ISOLATED, false, "-|-|a|-|b|-|-" },           { SPLIT_REMOVED, false, "a|b" },
        { SPLIT_MERGED_WITH_PREVIOUS, false, "-|-|a-|b-|-" }, { SPLIT_MERGED_WITH_NEXT, false, "-|-a|-b|-|-" },
        { SPLIT_CONTIGUOUS, false, "--|a|-|b|--" },           { SPLIT_REMOVED, true, "-|-|-|-|-" },
        { SPLIT_MERGED_WITH_PREVIOUS, true, "-|-a|-b|-|-" },  { SPLIT_MERGED_WITH_NEXT, true, "-|-|a-|b-|-" },
    };
    struct splitter s = { .matcher = SPLIT_BY_STRING, .string = (const uint8_t *)"-", .string_bytes = 1 };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        s.behavior = wanted[i].behavior;
        s.invert = wanted[i].invert;
        T_STR(pretokens_of(&s, "--a-b--"), wanted[i].pretokens);
    }
    s = split_digits(true);
    T_STR(pretokens_of(&s, "a12b\xc2\xbd"), "a|1|2|b|\xc2\xbd");
    s = split_digits(false);
    T_STR(pretokens_of(&s, "a12b"), "a|12|b");
    s = split_punctuation(SPLIT_ISOLATED);
    T_STR(pretokens_of(&s, "a$$,b"), "a|$|$|,|b");
    s = split_whitespace();
    T_STR(pretokens_of(&s, " a, b  "), "a,|b");
    s = split_whitespace_words();
    T_STR(pretokens_of(&s, " a,, b_1  "), "a|,,|b_1");
}

int main(void)
{
    uint64_t seed = t_draw();

    check_behaviors();
    check_long_runs();
#ifdef LEAT_HAVE_PCRE2
    check_properties();
#endif
    check_refusals(seed);
    check_giving_up();
    check_families(seed);
    return t_end();
}
