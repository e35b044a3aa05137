/*
 * pattern_pcre.c: see pattern_pcre.h. Compiling translates the expression into one over symbols, and makes a table from
 * code points to symbols. A run translates a window of text into symbols, lets PCRE2 search these, and translates
 * places back to bytes. A match that touches the window's open end is not certain, so the window ends before it.
 * Without PCRE2 the second half of the file takes the place of the first, and refuses every expression.
 */
#include "pattern_pcre.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pattern_parse.h"
#include "pattern_symbols.h"

#ifdef LEAT_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* What one match may cost before the text is given up. Tokenizers' own expressions stay below a hundredth. */
#define MATCH_LIMIT     10000000u
#define HEAP_LIMIT_KIB  (64u << 10)
#define JIT_STACK_BYTES (8u << 20)

struct pattern {
    struct pattern_symbols symbols;
    pcre2_code *code;
    pcre2_match_context *limits;
    bool needs_all;
};

struct pattern_run {
    const struct pattern *pattern;
    pcre2_match_data *match;
    pcre2_match_context *limits; /* a copy of the pattern's, with this run's stack */
    pcre2_jit_stack *stack;      /* NULL without JIT */
    struct buffer symbols;       /* one a character of the window */
    size_t count;
    struct scan_window window;
    size_t at, at_byte;          /* where the next search begins: symbol and byte */
    size_t given;                /* spans were given up to this byte */
    size_t last_end;             /* symbol at which the last match ended, SIZE_MAX if none did */
    size_t certain;              /* pattern_certain() */
    size_t waiting, waiting_end; /* bytes of a match that is found but not yet given; waiting is SIZE_MAX if none */
};

static enum leat_status compile(struct pattern *p, const char *text, size_t length, struct leat_error *err)
{
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[128] = "";
    uint32_t jit = 0, behind = 0;

    p->code = pcre2_compile((PCRE2_SPTR)text, length, PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UCP | PCRE2_NEVER_UTF, &code,
                            &at, NULL);
    if (!p->code) {
        pcre2_get_error_message(code, why, sizeof why);
        return status_set(err, LEAT_E_UNSUPPORTED, "the tokenizer's pattern cannot be used: PCRE2: %s", (char *)why);
    }
    p->limits = pcre2_match_context_create(NULL);
    if (!p->limits)
        return status_no_memory(err, 1024);
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(p->limits, HEAP_LIMIT_KIB);
    pcre2_pattern_info(p->code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
    p->needs_all |= behind > 0;
    /* without JIT, or where memory may not be made executable, the interpreter does the same, slower */
    if (pcre2_config(PCRE2_CONFIG_JIT, &jit) == 0 && jit)
        pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    return LEAT_OK;
}

enum leat_status pattern_compile(struct pattern **out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                                 struct leat_error *err)
{
    struct pattern *p = calloc(1, sizeof *p);
    struct pattern_text text = { 0 };
    enum leat_status status;
    size_t length;
    char *written = NULL;

    *out = NULL;
    if (!p)
        return status_no_memory(err, sizeof *p);
    status = pattern_parse(&text, pattern, bytes, dialect, err);
    if (status == LEAT_OK)
        status = pattern_symbols_make(&p->symbols, &text, err);
    if (status == LEAT_OK && !(written = pattern_symbols_write(&p->symbols, &text, &length)))
        status = status_no_memory(err, text.length);
    p->needs_all = text.looks_behind;
    if (status == LEAT_OK)
        status = compile(p, written, length, err);
    free(written);
    pattern_text_free(&text);
    if (status != LEAT_OK)
        pattern_free(p);
    else
        *out = p;
    return status;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_match_context_free(p->limits);
    pcre2_code_free(p->code);
    pattern_symbols_free(&p->symbols);
    free(p);
}

bool pattern_needs_all(const struct pattern *p)
{
    return p->needs_all;
}

struct pattern_run *pattern_run_new(const struct pattern *p)
{
    struct pattern_run *run = calloc(1, sizeof *run);

    if (!run)
        return NULL;
    run->pattern = p;
    run->match = pcre2_match_data_create_from_pattern(p->code, NULL);
    run->limits = pcre2_match_context_copy(p->limits);
    if (!run->match || !run->limits) {
        pattern_run_free(run);
        return NULL;
    }
    run->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK_BYTES, NULL);
    if (run->stack)
        pcre2_jit_stack_assign(run->limits, NULL, run->stack);
    return run;
}

void pattern_run_free(struct pattern_run *run)
{
    if (!run)
        return;
    pcre2_match_data_free(run->match);
    pcre2_match_context_free(run->limits);
    pcre2_jit_stack_free(run->stack);
    buffer_free(&run->symbols);
    free(run);
}

void pattern_run_bound(struct pattern_run *run, struct bound *bound)
{
    run->symbols.bound = bound;
}

static void make_symbols(struct pattern_run *run)
{
    const struct pattern_symbols *table = &run->pattern->symbols;
    const uint8_t *p = run->window.text, *end = p + run->window.length, *low = table->blocks[table->index[0]];
    uint8_t *to = run->symbols.bytes;

    while (p < end) {
        size_t bytes;

        if (*p < 0x80)
            *to++ = low[*p++];
        else {
            *to++ = pattern_symbol(table, unicode_decode(p, &bytes));
            p += bytes;
        }
    }
    run->count = (size_t)(to - run->symbols.bytes);
}

enum pattern_result pattern_begin(struct pattern_run *run, const struct scan_window *window, bool after_match)
{
    if (run->pattern->needs_all && !window->final)
        return PATTERN_GAVE_UP;
    buffer_trim(&run->symbols);
    if (buffer_reserve(&run->symbols, window->length, NULL) != LEAT_OK)
        return PATTERN_NO_MEMORY;
    run->window = *window;
    run->at = run->at_byte = run->given = run->certain = 0;
    run->last_end = after_match ? 0 : SIZE_MAX;
    run->waiting = SIZE_MAX;
    make_symbols(run);
    return PATTERN_DONE;
}

/* The byte at which symbol number `symbol` begins; never before the one asked for last. */
static size_t byte_of(struct pattern_run *run, size_t symbol)
{
    const uint8_t *text = run->window.text;

    for (; run->at < symbol; run->at++) {
        uint8_t c = text[run->at_byte];

        run->at_byte += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    }
    return run->at_byte;
}

/* No further match is certain in the window, but that none begins before this symbol. */
static enum pattern_result nothing_certain(struct pattern_run *run, size_t symbol)
{
    if (!run->window.final)
        run->certain = byte_of(run, symbol);
    return PATTERN_DONE;
}

size_t pattern_certain(const struct pattern_run *run)
{
    return run->certain;
}

/* Finds the next match that counts and puts its bytes in `waiting`. PATTERN_DONE: there is none (if the window is
 * final), or none that is certain. */
static enum pattern_result find(struct pattern_run *run)
{
    static const uint8_t none[1];
    const uint8_t *subject = run->symbols.bytes ? run->symbols.bytes : none;
    uint32_t options = run->window.final ? 0 : PCRE2_PARTIAL_HARD;
    size_t from = run->at;

    while (from <= run->count) {
        const PCRE2_SIZE *found;
        int rc = pcre2_match(run->pattern->code, subject, run->count, from, options, run->match, run->limits);

        if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
            rc = pcre2_match(run->pattern->code, subject, run->count, from, options | PCRE2_NO_JIT, run->match,
                             run->limits);
        found = pcre2_get_ovector_pointer(run->match);
        if (rc == PCRE2_ERROR_NOMATCH || rc == PCRE2_ERROR_PARTIAL)
            return nothing_certain(run, rc == PCRE2_ERROR_PARTIAL ? found[0] : run->count);
        if (rc == PCRE2_ERROR_NOMEMORY)
            return PATTERN_NO_MEMORY;
        if (rc < 0)
            return PATTERN_GAVE_UP;
        if (!run->window.final && found[1] >= run->count)
            return nothing_certain(run, found[0]);
        if (found[0] == found[1] && found[0] == run->last_end) {
            from++; /* an empty match right after a match does not count */
            continue;
        }
        run->waiting = byte_of(run, found[0]);
        run->waiting_end = byte_of(run, found[1]);
        run->last_end = found[1];
        return PATTERN_MORE;
    }
    return PATTERN_DONE;
}

enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count)
{
    *count = 0;
    while (*count < room) {
        if (run->waiting == SIZE_MAX) {
            enum pattern_result result = find(run);

            if (result == PATTERN_DONE && run->window.final && run->given < run->window.length) {
                spans[(*count)++] = (struct pattern_span) { (uint32_t)run->given, (uint32_t)run->window.length, false };
                run->given = run->window.length;
                run->at = run->count + 1;
            }
            if (result != PATTERN_MORE)
                return result;
        }
        if (run->given < run->waiting) {
            spans[(*count)++] = (struct pattern_span) { (uint32_t)run->given, (uint32_t)run->waiting, false };
            run->given = run->waiting;
            continue;
        }
        spans[(*count)++] = (struct pattern_span) { (uint32_t)run->waiting, (uint32_t)run->waiting_end, true };
        run->given = run->waiting_end;
        run->waiting = SIZE_MAX;
    }
    return PATTERN_MORE;
}

#else

enum leat_status pattern_compile(struct pattern **out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                                 struct leat_error *err)
{
    (void)dialect;
    *out = NULL;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "the tokenizer's pattern (\"%.*s\") needs PCRE2, which this build of leat lacks; install "
                      "libpcre2-dev and rebuild",
                      bytes < 200 ? (int)bytes : 200, pattern);
}

void pattern_free(struct pattern *p)
{
    (void)p;
}

bool pattern_needs_all(const struct pattern *p)
{
    (void)p;
    return true;
}

struct pattern_run *pattern_run_new(const struct pattern *p)
{
    (void)p;
    return NULL;
}

void pattern_run_free(struct pattern_run *run)
{
    (void)run;
}

void pattern_run_bound(struct pattern_run *run, struct bound *bound)
{
    (void)run;
    (void)bound;
}

size_t pattern_certain(const struct pattern_run *run)
{
    (void)run;
    return 0;
}

enum pattern_result pattern_begin(struct pattern_run *run, const struct scan_window *window, bool after_match)
{
    (void)run;
    (void)window;
    (void)after_match;
    return PATTERN_GAVE_UP;
}

enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count)
{
    (void)run;
    (void)spans;
    (void)room;
    *count = 0;
    return PATTERN_GAVE_UP;
}

#endif
