/*
 * test_patterns.c: each thing that can stand in a tokenizer's expression matches where tiktoken and tokenizers match,
 * in one text of odd characters; what cannot be done alike is refused. The answers in patterns.txt are those of the
 * references; make check-conformance asks them about more.
 */
#include "t.h"

#include "tokenizer/pattern/pattern_pcre.h"

#define CASES "tests/tokenizer/patterns.txt"
#define MOST  512 /* bytes of the text and of a pattern */

static uint8_t text[MOST];
static size_t text_bytes;

static size_t from_hex(const char *hex, uint8_t *to)
{
    size_t n = 0;
    unsigned byte;

    for (; n < MOST && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        to[n++] = (uint8_t)byte;
    return n;
}

/* The matches in the text, as patterns.txt has them. */
static void find(const struct pattern *pattern, char *found)
{
    struct pattern_run *run = pattern_run_new(pattern);
    struct pattern_span spans[7]; /* few, so that it is called again */
    enum pattern_result r;
    size_t count;

    T_CHECK(run != NULL);
    memset(found, '.', text_bytes);
    found[text_bytes] = '\0';
    T_EQ(pattern_begin(run, &(struct scan_window) { text, text_bytes, true }, false), PATTERN_DONE);
    do {
        r = pattern_next(run, spans, 7, &count);
        for (size_t i = 0; i < count; i++)
            if (spans[i].match && spans[i].end > spans[i].begin) {
                memset(found + spans[i].begin, 'm', spans[i].end - spans[i].begin);
                found[spans[i].begin] = 'b';
            }
    } while (r == PATTERN_MORE);
    T_EQ(r, PATTERN_DONE);
    pattern_run_free(run);
}

static void check_case(const char *kind, const uint8_t *pattern, size_t bytes, const char *matches)
{
    bool refused = strncmp(kind, "refused-", 8) == 0;
    enum scan_dialect dialect = strcmp(kind + (refused ? 8 : 0), "rust") == 0 ? SCAN_RUST : SCAN_ONIGURUMA;
    char found[MOST + 1];
    struct pattern *p;
    enum leat_status s = pattern_compile(&p, (const char *)pattern, bytes, dialect, &t_err);

    if (refused) {
        T_STATUS(s, LEAT_E_UNSUPPORTED);
        return;
    }
    T_OK(s);
    find(p, found);
    if (strcmp(found, matches) != 0)
        T_FAIL("%s %.*s:\n  %s, wanted\n  %s", kind, (int)bytes, (const char *)pattern, found, matches);
    pattern_free(p);
}

int main(void)
{
    char line[4 * MOST], kind[32], hex[2 * MOST + 1], matches[MOST + 1];
    FILE *cases = fopen(CASES, "r");
    unsigned count = 0;

#ifndef LEAT_HAVE_PCRE2
    return t_skip("built without PCRE2");
#endif
    T_CHECK(cases != NULL);
    while (fgets(line, sizeof line, cases)) {
        uint8_t pattern[MOST];
        int words;

        matches[0] = hex[0] = '\0';
        words = line[0] == '#' ? 0 : sscanf(line, "%31s %1024s %512s", kind, hex, matches);
        if (words == 0)
            continue;
        if (strcmp(kind, "text") == 0)
            text_bytes = from_hex(hex, text);
        else
            check_case(kind, pattern, from_hex(hex, pattern), matches);
        count++;
    }
    fclose(cases);
    T_CHECK(count > 500);
    return t_end();
}
