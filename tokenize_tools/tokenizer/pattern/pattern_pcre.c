/*
 * pattern_pcre.c: compiling makes a table from code points to symbols, and translates the expression into one over
 * symbols. A run translates a window of text into symbols, lets PCRE2 search these, and translates places back to
 * bytes. A match that touches the window's open end is not certain, so the window ends before it.
 *
 * Sets tell few of the 4,352 blocks of 256 code points apart; blocks that are alike in all sets are one kind. In a
 * block of each kind all code points start as one symbol, and each set splits the symbols that it cuts through. Kinds
 * come first since a file may have a thousand expressions.
 *
 * How long a match takes is decided by expression and text, and PCRE2's own limit does not bound it: it counts anew at
 * each place where a match may begin, and not how many characters a repetition passes over. So matches are looked for
 * twice. First nearby, with so few steps and so little text (NEAR_STEPS, NEAR) that nothing can take long: nearly all
 * end here. The others are looked for by a second form of the expression that calls us before each of its items, and is
 * slower for it: there each step is counted, and the text's store of steps is what bounds them.
 *
 * Without PCRE2, the functions at the end refuse every expression.
 */
#include "pattern_pcre.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "pattern_parse.h"

#ifdef LEAT_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The steps that a text may take before it is given up: at first, and more per byte. A step takes some 5 ns, 25 without
 * JIT. Published expressions take less than a hundredth on ordinary text; some of them, which look at all digits that
 * follow each three, take nearly all steps for 100,000 digits in a row. */
#define STEPS_FIRST    ((uint64_t)TINY_OR(20000, 10000000))
#define STEPS_BYTE     TINY_OR(500u, 50000u)
#define HEAP_LIMIT_KIB TINY_OR(1u << 10, 64u << 10)

/* Symbols that the first search for a match sees, and the steps it may take from each of them. */
#define NEAR            ((size_t)TINY_OR(8, 512))
#define NEAR_STEPS      64u
#define JIT_STACK_BYTES (1u << 20)

/* Steps, or searches that are not counted, between two questions whether to stop. */
#define STOP_STEPS    65536u
#define STOP_SEARCHES 256u

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

#define SYMBOLS_MAX 256
#define BLOCKS      (PATTERN_SET_POINTS / 256)
#define BLOCK_WORDS 4
#define PLACES      8192 /* more places than blocks, a power of two */

/* The classes of characters that an expression's sets tell apart, each one byte. */
struct symbols {
    uint16_t index[PATTERN_SET_POINTS / 256]; /* block of 256 code points -> its table */
    uint8_t (*blocks)[256];
    unsigned count; /* symbols, at most 256 */
};

/* Kinds of blocks. */
struct kinds {
    uint16_t of[BLOCKS], before[BLOCKS]; /* kind of each block, by all sets so far, and by the sets before the last
                                            one */
    uint16_t first[BLOCKS];              /* a block of each kind: its first */
    uint16_t places[PLACES];             /* hash table of kinds: the kind's first block plus 1; 0: free */
    unsigned count;
};

static uint8_t symbol_of(const struct symbols *s, uint32_t c)
{
    return s->blocks[s->index[c >> 8]][c & 255];
}

static size_t place_of(const uint64_t *words, unsigned kind)
{
    uint64_t h = kind + 1;

    for (unsigned i = 0; i < BLOCK_WORDS; i++)
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h % PLACES;
}

/* Splits kinds by one set. */
static void split_kinds(struct kinds *k, const struct pattern_set *set)
{
    memcpy(k->before, k->of, sizeof k->of);
    memset(k->places, 0, sizeof k->places);
    k->count = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        const uint64_t *words = set->words + b * BLOCK_WORDS;
        size_t place = place_of(words, k->before[b]), same;

        for (; k->places[place] > 0; place = (place + 1) % PLACES) {
            same = k->places[place] - 1u;
            if (k->before[same] == k->before[b] &&
                memcmp(set->words + same * BLOCK_WORDS, words, BLOCK_WORDS * sizeof *words) == 0)
                break;
        }
        if (k->places[place] == 0) {
            k->places[place] = (uint16_t)(b + 1);
            k->first[k->count] = (uint16_t)b;
            k->of[b] = (uint16_t)k->count++;
        } else {
            k->of[b] = k->of[k->places[place] - 1u];
        }
    }
}

/* Splits symbols by one set. Members of a symbol that lies partly outside get a new one. */
static bool split(const struct symbols *s, const struct kinds *k, uint32_t *sizes, unsigned *count,
                  const struct pattern_set *set)
{
    uint32_t inside[SYMBOLS_MAX] = { 0 };
    uint8_t becomes[SYMBOLS_MAX];

    for (unsigned i = 0; i < k->count; i++)
        for (uint32_t c = 0; c < 256; c++)
            inside[s->blocks[i][c]] += pattern_set_has(set, k->first[i] * 256u + c);
    for (unsigned i = 0, old = *count; i < old; i++) {
        becomes[i] = (uint8_t)i;
        if (inside[i] == 0 || inside[i] == sizes[i])
            continue;
        if (*count == SYMBOLS_MAX)
            return false;
        becomes[i] = (uint8_t)*count;
        sizes[*count] = inside[i];
        sizes[i] -= inside[i];
        (*count)++;
    }
    for (unsigned i = 0; i < k->count; i++)
        for (uint32_t c = 0; c < 256; c++)
            if (pattern_set_has(set, k->first[i] * 256u + c))
                s->blocks[i][c] = becomes[s->blocks[i][c]];
    return true;
}

/* Makes the table of symbols. Returns LEAT_E_UNSUPPORTED if there are more than 256. out->blocks must be freed, on
 * failure too. */
static enum leat_status make_table(struct symbols *out, const struct pattern_text *text, struct leat_error *err)
{
    uint32_t sizes[SYMBOLS_MAX];
    struct kinds *k = calloc(1, sizeof *k);
    enum leat_status status = LEAT_OK;

    *out = (struct symbols) { .count = 1 };
    if (!k)
        return status_no_memory(err, sizeof *k);
    k->count = 1;
    for (size_t i = 0; i < text->set_count; i++)
        split_kinds(k, text->sets[i]);
    memcpy(out->index, k->of, sizeof out->index);
    out->blocks = calloc(k->count, sizeof *out->blocks);
    if (!out->blocks)
        status = status_no_memory(err, k->count * sizeof *out->blocks);
    sizes[0] = k->count * 256;
    for (size_t i = 0; i < text->set_count && status == LEAT_OK; i++)
        if (!split(out, k, sizes, &out->count, text->sets[i]))
            status = status_set(err, LEAT_E_UNSUPPORTED,
                                "the tokenizer's pattern cannot be used: its classes distinguish more than %d kinds of "
                                "characters",
                                SYMBOLS_MAX);
    free(k);
    return status;
}

/* "\xNN" */
static size_t write_symbol(char *to, unsigned symbol)
{
    static const char digits[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = 'x';
    to[2] = digits[symbol >> 4];
    to[3] = digits[symbol & 15];
    return 4;
}

/* Writes a class of the symbols in `has`, as ranges, and returns its length. An empty class matches nothing. */
static size_t write_class(char *to, const bool has[SYMBOLS_MAX])
{
    static const char nothing[] = "[^\\x00-\\xff]";
    size_t n = 0;

    to[n++] = '[';
    for (unsigned first = 0, last; first < SYMBOLS_MAX; first = last + 1) {
        last = first;
        if (!has[first])
            continue;
        while (last + 1 < SYMBOLS_MAX && has[last + 1])
            last++;
        n += write_symbol(to + n, first);
        if (last > first) {
            to[n++] = '-';
            n += write_symbol(to + n, last);
        }
    }
    if (n == 1) {
        memcpy(to, nothing, sizeof nothing - 1);
        return sizeof nothing - 1;
    }
    to[n++] = ']';
    return n;
}

/* Finds the symbols of each set; number `sets` has the symbols that were seen. One code point decides for its
 * symbol; it lies in the first of equal blocks. */
static void find_symbols(bool *has, const struct symbols *s, const struct pattern_text *text)
{
    bool *seen = has + text->set_count * SYMBOLS_MAX;
    size_t blocks = 0;

    for (uint32_t b = 0; b < PATTERN_SET_POINTS / 256; b++) {
        if (s->index[b] < blocks)
            continue;
        blocks++;
        for (uint32_t c = b * 256; c < (b + 1) * 256; c++) {
            uint8_t symbol = symbol_of(s, c);

            for (size_t i = 0; !seen[symbol] && i < text->set_count; i++)
                has[i * SYMBOLS_MAX + symbol] = pattern_set_has(text->sets[i], c);
            seen[symbol] = true;
        }
    }
}

/* Returns the expression over bytes, in which each marker is a class of symbols. Returns NULL without memory; free()
 * it. */
static char *write_over_symbols(const struct symbols *s, const struct pattern_text *text, size_t *length)
{
    const uint8_t *bytes = text->text.bytes;
    size_t size = text->text.size, markers = 0, n = 0, room;
    bool *has = calloc(text->set_count + 1, SYMBOLS_MAX * sizeof *has);
    char *out;

    if (has)
        find_symbols(has, s, text);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == PATTERN_MARKER)
            markers++, i += 2;
    room = size + markers * (SYMBOLS_MAX * 5 + 16) + 1;
    out = has ? malloc(room) : NULL;
    for (size_t i = 0; out && i < size; i++)
        if (bytes[i] == PATTERN_MARKER) {
            n += write_class(out + n, has + (size_t)(bytes[i + 1] << 8 | bytes[i + 2]) * SYMBOLS_MAX);
            i += 2;
        } else {
            out[n++] = (char)bytes[i];
        }
    if (out)
        out[n] = 0;
    *length = n;
    free(has);
    return out;
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

struct pattern {
    struct symbols symbols;
    pcre2_code *code, *counted; /* the expression, and its second form, which calls count_step() at each step */
    pcre2_match_context *limits, *counted_limits;
    bool needs_all;
};

struct pattern_run {
    const struct pattern *pattern;
    pcre2_match_data *match;
    pcre2_match_context *limits, *counted_limits; /* copies of the pattern's limits, with this run's stack, and this
                                                     run */
    pcre2_jit_stack *stack;                       /* NULL without JIT */
    struct pattern_steps *steps;                  /* perhaps its own: */
    struct pattern_steps own;
    uint64_t taken;    /* steps of a search that are counted */
    size_t reached;    /* symbol that the search had reached at its last step */
    uint64_t ask_at;   /* steps at which to ask whether to stop */
    unsigned searches; /* searches since the last question that were not counted */
    bool stopped;
    struct buffer symbols; /* a byte for each character of the window */
    size_t count;
    struct scan_window window;
    size_t at, at_byte;          /* place at which the next search begins, in symbols and in bytes */
    size_t given;                /* spans were given up to this byte */
    size_t last_end;             /* symbol at which the last match ended, SIZE_MAX if none did */
    size_t certain;              /* pattern_certain() */
    size_t waiting, waiting_end; /* bytes of a match that is found but not yet given; waiting is SIZE_MAX if none */
};

static enum leat_status compile_form(pcre2_code **out, const char *text, size_t length, uint32_t options,
                                     struct leat_error *err)
{
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[128] = "";

    *out = pcre2_compile((PCRE2_SPTR)text, length, PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UCP | PCRE2_NEVER_UTF | options,
                         &code, &at, NULL);
    if (*out)
        return LEAT_OK;
    pcre2_get_error_message(code, why, sizeof why);
    return status_set(err, LEAT_E_UNSUPPORTED, "the tokenizer's pattern cannot be used: PCRE2: %s", (char *)why);
}

/*
 * Returns true for expressions whose machine code would be too large: it takes up to 20 times as much as what it is
 * made of. An expression of 14 bytes, (?:ab?){0,900}, took 0.9 MB and 14 ms. Expressions that repetitions make that
 * large are interpreted; all of real tokenizers are far below.
 */
static bool is_large(const struct pattern *p, size_t length)
{
    size_t bytes = 0;

    pcre2_pattern_info(p->counted, PCRE2_INFO_SIZE, &bytes);
    return bytes > 4096 + 16 * length;
}

static enum leat_status compile(struct pattern *p, const char *text, size_t length, struct leat_error *err)
{
    uint32_t jit = 0, behind = 0;
    enum leat_status s = compile_form(&p->code, text, length, 0, err);

    if (s == LEAT_OK)
        s = compile_form(&p->counted, text, length, PCRE2_AUTO_CALLOUT, err);
    if (s != LEAT_OK)
        return s;
    p->limits = pcre2_match_context_create(NULL);
    p->counted_limits = pcre2_match_context_create(NULL);
    if (!p->limits || !p->counted_limits)
        return status_no_memory(err, 1024);
    pcre2_set_match_limit(p->limits, NEAR_STEPS);
    pcre2_set_match_limit(p->counted_limits, UINT32_MAX);
    pcre2_set_depth_limit(p->counted_limits, UINT32_MAX);
    pcre2_set_heap_limit(p->counted_limits, HEAP_LIMIT_KIB);
    pcre2_pattern_info(p->code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
    p->needs_all |= behind > 0;
    /* the interpreter is slower, but works without JIT, and if memory must not be made executable */
    if (pcre2_config(PCRE2_CONFIG_JIT, &jit) == 0 && jit && !is_large(p, length)) {
        pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
        pcre2_jit_compile(p->counted, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    }
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
        status = make_table(&p->symbols, &text, err);
    if (status == LEAT_OK && !(written = write_over_symbols(&p->symbols, &text, &length)))
        status = status_no_memory(err, text.text.size);
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
    pcre2_match_context_free(p->counted_limits);
    pcre2_code_free(p->code);
    pcre2_code_free(p->counted);
    free(p->symbols.blocks);
    free(p);
}

bool pattern_needs_all(const struct pattern *p)
{
    return p->needs_all;
}

void pattern_steps_begin(struct pattern_steps *s)
{
    s->left = STEPS_FIRST;
    s->written = s->may_write = 0;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static bool asks_to_stop(struct pattern_run *run)
{
    const struct pattern_steps *s = run->steps;

    run->ask_at = run->taken + STOP_STEPS;
    run->stopped = s->stop && s->stop(s->context);
    return run->stopped;
}

/* Counts a step; called before each item of the expression that is tried in a counted search. */
static int count_step(pcre2_callout_block *block, void *context)
{
    struct pattern_run *run = context;
    size_t at = block->current_position, moved = at > run->reached ? at - run->reached : run->reached - at;

    run->reached = at;
    run->taken += 1 + moved / 8;
    if (run->taken > run->steps->left)
        return PCRE2_ERROR_MATCHLIMIT;
    return run->taken >= run->ask_at && asks_to_stop(run) ? PCRE2_ERROR_CALLOUT : 0;
}

struct pattern_run *pattern_run_new(const struct pattern *p)
{
    struct pattern_run *run = calloc(1, sizeof *run);

    if (!run)
        return NULL;
    run->pattern = p;
    run->steps = &run->own;
    run->match = pcre2_match_data_create_from_pattern(p->code, NULL);
    run->limits = pcre2_match_context_copy(p->limits);
    run->counted_limits = pcre2_match_context_copy(p->counted_limits);
    if (!run->match || !run->limits || !run->counted_limits) {
        pattern_run_free(run);
        return NULL;
    }
    pcre2_set_callout(run->counted_limits, count_step, run);
    run->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK_BYTES, NULL);
    if (run->stack) {
        pcre2_jit_stack_assign(run->limits, NULL, run->stack);
        pcre2_jit_stack_assign(run->counted_limits, NULL, run->stack);
    }
    return run;
}

void pattern_run_free(struct pattern_run *run)
{
    if (!run)
        return;
    pcre2_match_data_free(run->match);
    pcre2_match_context_free(run->limits);
    pcre2_match_context_free(run->counted_limits);
    pcre2_jit_stack_free(run->stack);
    buffer_free(&run->symbols);
    free(run);
}

void pattern_run_bound(struct pattern_run *run, struct bound *bound)
{
    run->symbols.bound = bound;
}

static enum leat_status refuse(const struct pattern_run *run, size_t bytes, struct leat_error *err)
{
    const struct bound *b = run->symbols.bound;

    return b && b->max - b->held < bytes ? bound_refuse(b, bytes, err) : status_no_memory(err, bytes);
}

void pattern_run_steps(struct pattern_run *run, struct pattern_steps *steps)
{
    run->steps = steps ? steps : &run->own;
}

static void make_symbols(struct pattern_run *run)
{
    const struct symbols *table = &run->pattern->symbols;
    const uint8_t *p = run->window.text, *end = p + run->window.length, *low = table->blocks[table->index[0]];
    uint8_t *to = run->symbols.bytes;

    while (p < end) {
        size_t bytes;

        if (*p < 0x80)
            *to++ = low[*p++];
        else {
            *to++ = symbol_of(table, unicode_decode(p, &bytes));
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
    if (run->steps == &run->own)
        pattern_steps_begin(run->steps);
    run->window = *window;
    run->at = run->at_byte = run->given = run->certain = 0;
    run->last_end = after_match ? 0 : SIZE_MAX;
    run->waiting = SIZE_MAX;
    make_symbols(run);
    return PATTERN_DONE;
}

/* Returns the byte at which symbol number `symbol` begins; never before the one asked for last. */
static size_t byte_of(struct pattern_run *run, size_t symbol)
{
    const uint8_t *text = run->window.text;

    for (; run->at < symbol; run->at++) {
        uint8_t c = text[run->at_byte];

        run->at_byte += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    }
    return run->at_byte;
}

/* Notes that the window has no further match that is certain; the next match begins at this symbol or later. */
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

static const uint8_t *subject_of(const struct pattern_run *run)
{
    static const uint8_t none[1];

    return run->symbols.bytes ? run->symbols.bytes : none;
}

/* Returns true if a search ended because it took long, before it reached the window's end: then nothing is known. */
static bool ended_early(int rc)
{
    return rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT ||
           rc == PCRE2_ERROR_JIT_STACKLIMIT;
}

/* Searches, and counts steps. Steps are charged for what is certain: a match that the window's open end leaves open
 * is looked for again in the next window, and a text must not be refused for how it is cut. */
static int search_counted(struct pattern_run *run, size_t from, PCRE2_SIZE found[2])
{
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(run->pattern->counted, NULL);
    uint32_t options = run->window.final ? 0 : PCRE2_PARTIAL_HARD;
    int rc;

    if (!match)
        return PCRE2_ERROR_NOMEMORY;
    run->taken = 0;
    run->reached = from;
    run->ask_at = STOP_STEPS;
    rc = pcre2_match(run->pattern->counted, subject_of(run), run->count, from, options, match, run->counted_limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(run->pattern->counted, subject_of(run), run->count, from, options | PCRE2_NO_JIT, match,
                         run->counted_limits);
    memcpy(found, pcre2_get_ovector_pointer(match), 2 * sizeof *found);
    pcre2_match_data_free(match); /* frees the interpreter's memory, too */
    if (rc >= 0 || (rc == PCRE2_ERROR_NOMATCH && run->window.final)) {
        run->steps->left -= run->taken;
        run->steps->taken += run->taken;
    }
    return rc;
}

/* Finds the next match, as pcre2_match() has it for the whole window. */
static int search(struct pattern_run *run, size_t from, PCRE2_SIZE found[2])
{
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(run->match);

    run->stopped = false;
    for (;;) {
        bool whole = run->count - from <= NEAR;
        size_t end = whole ? run->count : from + NEAR;
        int rc;

        if (++run->searches % STOP_SEARCHES == 0 && asks_to_stop(run))
            return PCRE2_ERROR_CALLOUT;
        rc = pcre2_match(run->pattern->code, subject_of(run), end, from,
                         whole && run->window.final ? 0 : PCRE2_PARTIAL_HARD, run->match, run->limits);

        if (ended_early(rc))
            return search_counted(run, from, found);
        if (!whole && (rc == PCRE2_ERROR_PARTIAL || (rc >= 0 && places[1] >= end)))
            return search_counted(run, places[0], found);
        if (whole || rc != PCRE2_ERROR_NOMATCH) {
            memcpy(found, places, 2 * sizeof *found);
            return rc;
        }
        from = end;
    }
}

/* Finds the next match that counts and puts its bytes in `waiting`. Returns PATTERN_DONE if there is none (in a
 * final window), or none that is certain. */
static enum pattern_result find_match(struct pattern_run *run)
{
    size_t from = run->at;

    while (from <= run->count) {
        PCRE2_SIZE found[2];
        int rc = search(run, from, found);

        if (rc == PCRE2_ERROR_NOMATCH || rc == PCRE2_ERROR_PARTIAL)
            return nothing_certain(run, rc == PCRE2_ERROR_PARTIAL ? found[0] : run->count);
        if (rc < 0)
            return rc == PCRE2_ERROR_NOMEMORY ? PATTERN_NO_MEMORY : run->stopped ? PATTERN_STOPPED : PATTERN_GAVE_UP;
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

/* Adds the steps that text earns which has been passed, up to the steps that a text has at first. */
static void earn_steps(struct pattern_run *run, size_t bytes)
{
    struct pattern_steps *s = run->steps;
    uint64_t more = (uint64_t)bytes * STEPS_BYTE;

    s->left = s->left < STEPS_FIRST && more < STEPS_FIRST - s->left ? s->left + more : STEPS_FIRST;
}

enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count)
{
    *count = 0;
    while (*count < room) {
        if (run->waiting == SIZE_MAX) {
            size_t before = run->given;
            enum pattern_result result = find_match(run);

            if (result == PATTERN_MORE)
                earn_steps(run, run->waiting_end - before);

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

#else /* without PCRE2 */

void pattern_steps_begin(struct pattern_steps *s)
{
    s->left = s->written = s->may_write = 0;
}

void pattern_run_steps(struct pattern_run *run, struct pattern_steps *steps)
{
    (void)run;
    (void)steps;
}

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

static enum leat_status refuse(const struct pattern_run *run, size_t bytes, struct leat_error *err)
{
    (void)run;
    return status_no_memory(err, bytes);
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

enum leat_status pattern_status(const struct pattern_run *run, enum pattern_result r, size_t bytes,
                                struct leat_error *err)
{
    if (r == PATTERN_GAVE_UP)
        return status_set(err, LEAT_E_TEXT, "the tokenizer's regular expression takes too many steps on this text");
    if (r == PATTERN_STOPPED)
        return status_set(err, LEAT_E_STOPPED, "the work was stopped");
    return r == PATTERN_NO_MEMORY ? refuse(run, bytes, err) : LEAT_OK;
}
