/*
 * pretokenizer_make.c: makes steps from a spec's list of pre-tokenizers: a splitter, a change of the text, or both.
 *
 * make_steps() goes through the list. At each place it first looks for a hand-made scanner that does the work of
 * several expressions in a row (DeepSeek's three), then of two, then of one; only what has none becomes a step of its
 * own kind. What cannot change anything becomes no step: ByteLevel after the expressions, or splitting at spaces when
 * none are left. If steps follow ByteLevel, the text is mapped to its alphabet for them, and pretokens are mapped back
 * at the end, unless the model's tokens are letters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pretokenizer_internal.h"

static const enum split_behavior behaviors[] = {
    [SPEC_REMOVED] = SPLIT_REMOVED,
    [SPEC_ISOLATED] = SPLIT_ISOLATED,
    [SPEC_MERGED_WITH_PREVIOUS] = SPLIT_MERGED_WITH_PREVIOUS,
    [SPEC_MERGED_WITH_NEXT] = SPLIT_MERGED_WITH_NEXT,
    [SPEC_CONTIGUOUS] = SPLIT_CONTIGUOUS,
};

static enum scan_dialect dialect_of(const struct tokenizer_spec *spec)
{
    return spec->dialect == SPEC_ONIGURUMA ? SCAN_ONIGURUMA : SCAN_RUST;
}

static bool is_expression(const struct spec_pre_tokenizer *pre)
{
    return pre->kind == SPEC_PRE_SPLIT && pre->pattern.regex;
}

static bool keeps_all(const struct spec_pre_tokenizer *pre)
{
    return is_expression(pre) && pre->behavior == SPEC_ISOLATED && !pre->invert;
}

/* Looks for a scanner that does what `count` steps from this one on do. */
static bool find_scanner(const struct tokenizer_spec *spec, uint32_t at, uint32_t count, struct splitter *out)
{
    const struct spec_pre_tokenizer *pre = &spec->pre_tokenizers[at];
    bool matches_only = count == 1 && is_expression(pre) && pre->behavior == SPEC_REMOVED && pre->invert;
    const char *texts[3];
    size_t bytes[3];

    if (count > 3 || count > spec->pre_tokenizer_count - at)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!keeps_all(&pre[i]) && !matches_only)
            return false;
        texts[i] = (const char *)pre[i].pattern.text.bytes;
        bytes[i] = pre[i].pattern.text.length;
    }
    *out = (struct splitter) { .matcher = SPLIT_BY_SCANNER, .behavior = SPLIT_ISOLATED };
    return scanner_find(&out->scanner, texts, bytes, count, dialect_of(spec), matches_only);
}

static enum leat_status make_split(struct step *step, const struct spec_pre_tokenizer *pre,
                                   const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct splitter *s = &step->splitter;
    enum leat_status status;

    step->splits = true;
    *s = (struct splitter) { .matcher = SPLIT_BY_STRING,
                             .behavior = behaviors[pre->behavior],
                             .invert = pre->invert,
                             .string = pre->pattern.text.bytes,
                             .string_bytes = pre->pattern.text.length };
    if (!pre->pattern.regex)
        return LEAT_OK;
    s->matcher = SPLIT_BY_PATTERN;
    status = pattern_compile(&step->pattern, (const char *)pre->pattern.text.bytes, pre->pattern.text.length,
                             dialect_of(spec), err);
    if (status == LEAT_OK || status == LEAT_E_NO_MEMORY ||
        spec->dialect != SPEC_ONIGURUMA) /* else the file's only one */
        return status;
    return status_before(err, status, "pre_tokenizer Split");
}

static void make_byte_level(struct step *step, const struct spec_pre_tokenizer *pre)
{
    step->change = pre->add_prefix_space ? CHANGE_PREFIX : CHANGE_NOTHING;
    if (!pre->use_regex)
        return;
    step->splits = true;
    step->splitter = (struct splitter) { .matcher = SPLIT_BY_SCANNER, .behavior = SPLIT_ISOLATED };
    scanner_named(&step->splitter.scanner, "gpt2", SCAN_ONIGURUMA);
}

static void make_metaspace(struct step *step, const struct spec_pre_tokenizer *pre)
{
    step->change = CHANGE_METASPACE;
    step->spec = pre;
    step->splits = pre->split;
    step->splitter = (struct splitter) { .matcher = SPLIT_BY_STRING,
                                         .behavior = SPLIT_MERGED_WITH_NEXT,
                                         .string = pre->replacement.bytes,
                                         .string_bytes = pre->replacement.length };
}

static enum leat_status make_step(struct step *step, const struct tokenizer_spec *spec, uint32_t at,
                                  struct leat_error *err)
{
    const struct spec_pre_tokenizer *pre = &spec->pre_tokenizers[at];

    step->splits = true;
    switch (pre->kind) {
    case SPEC_PRE_BYTE_LEVEL:
        step->splits = false;
        make_byte_level(step, pre);
        break;
    case SPEC_PRE_SPLIT:
        return make_split(step, pre, spec, err);
    case SPEC_PRE_DIGITS:
        step->splitter = split_digits(pre->individual_digits);
        break;
    case SPEC_PRE_PUNCTUATION:
        step->splitter = split_punctuation(behaviors[pre->behavior]);
        break;
    case SPEC_PRE_WHITESPACE:
        step->splitter = split_whitespace_words();
        break;
    case SPEC_PRE_WHITESPACE_SPLIT:
        step->splitter = split_whitespace();
        break;
    case SPEC_PRE_METASPACE:
        make_metaspace(step, pre);
        break;
    case SPEC_PRE_SCRIPTS:
        step->splitter = split_scripts();
        break;
    }
    return LEAT_OK;
}

/* Gemma: splits at spaces after the normalizer has replaced all of them. Such a step does nothing, but as long as it
 * is there it makes one pretoken of each segment that must be seen whole. */
static bool never_matches(const struct tokenizer_spec *spec, const struct spec_pre_tokenizer *pre)
{
    const struct spec_string *string = &pre->pattern.text;
    const struct spec_normalizer *n;

    if (pre->kind != SPEC_PRE_SPLIT || pre->pattern.regex || pre->invert || spec->normalizer_count == 0)
        return false;
    n = &spec->normalizers[spec->normalizer_count - 1];
    return n->kind == SPEC_NORM_REPLACE && !n->pattern.regex && string->length == 1 && n->pattern.text.length == 1 &&
           n->pattern.text.bytes[0] == string->bytes[0] &&
           (n->content.length == 0 || !memchr(n->content.bytes, string->bytes[0], n->content.length));
}

static enum leat_status make_steps(struct pretokenizer *p, const struct tokenizer_spec *spec, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t at = spec->pre_tokenizer_count > 0 && never_matches(spec, spec->pre_tokenizers);
         s == LEAT_OK && at < spec->pre_tokenizer_count;) {
        struct step *step = &p->steps[p->count++];
        uint32_t together = 3;

        while (together > 0 && !find_scanner(spec, at, together, &step->splitter))
            together--;
        step->splits = together > 0;
        if (together == 0)
            s = make_step(step, spec, at, err);
        if (!step->splits && step->change == CHANGE_NOTHING)
            p->count--; /* ByteLevel after the expressions: bytes are what the model takes */
        at += together > 0 ? together : 1;
        if (spec->pre_tokenizers[at - 1].kind == SPEC_PRE_BYTE_LEVEL &&
            (at < spec->pre_tokenizer_count || !spec->byte_level)) {
            p->steps[p->count++].change = CHANGE_BYTES;
            p->unmaps = spec->byte_level;
        }
    }
    return s;
}

static bool only_words(const struct tokenizer_spec *spec)
{
    const struct spec_pre_tokenizer *pre = spec->pre_tokenizers;

    if (spec->pre_tokenizer_count == 0 || spec->pre_tokenizer_count > 2 || pre[0].kind != SPEC_PRE_WHITESPACE_SPLIT)
        return false;
    return spec->pre_tokenizer_count == 1 || (pre[1].kind == SPEC_PRE_PUNCTUATION && pre[1].behavior == SPEC_ISOLATED);
}

bool pretokenizer_only_spaces(const struct tokenizer_spec *spec)
{
    uint32_t count = spec->pre_tokenizer_count;
    const struct spec_pre_tokenizer *first = spec->pre_tokenizers, *last;

    if (count == 0 || count > 2)
        return false;
    last = first + count - 1;
    if (last->kind != SPEC_PRE_METASPACE || !last->split)
        return false;
    if (last->replacement.length != SPEC_MARK_BYTES || memcmp(last->replacement.bytes, SPEC_MARK, SPEC_MARK_BYTES) != 0)
        return false;
    /* where words get no mark, two of them would become one */
    return count == 1 || (first->kind == SPEC_PRE_WHITESPACE_SPLIT && last->prepend == SPEC_PREPEND_ALWAYS);
}

void pretokenizer_write_spaces(struct pretokenizer *p)
{
    p->spaces = true;
}

enum leat_status pretokenizer_make(struct pretokenizer **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct pretokenizer *p = calloc(1, sizeof *p);
    enum leat_status s;

    *out = NULL;
    if (p)
        p->steps = calloc(2 * (size_t)spec->pre_tokenizer_count + 1, sizeof *p->steps);
    if (!p || !p->steps) {
        free(p);
        return status_no_memory(err, spec->pre_tokenizer_count * sizeof *p->steps);
    }
    byte_alphabet_init(&p->alphabet);
    for (uint32_t i = 0; i < spec->normalizer_count; i++)
        p->unmaps = p->unmaps || (spec->byte_level && spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL);
    s = make_steps(p, spec, err);
    p->words = only_words(spec) && !p->unmaps;
    for (uint32_t i = 0; i < p->count; i++)
        p->steps[i].splitter.pattern = p->steps[i].pattern;
    if (s != LEAT_OK) {
        pretokenizer_free(p);
        return s;
    }
    *out = p;
    return LEAT_OK;
}

void pretokenizer_free(struct pretokenizer *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        pattern_free(p->steps[i].pattern);
    free(p->steps);
    free(p);
}
