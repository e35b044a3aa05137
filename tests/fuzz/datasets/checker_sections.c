/* checker_sections.c: the rules of FORMAT.md for tokens, documents and records, chapters 1 and 4; see checker.h. */
#include <stdbool.h>
#include <stddef.h>

#include "checker.h"

/* Number i of a section of u64s. */
static uint64_t at(const struct checker *c, enum checker_kind kind, uint64_t i)
{
    return checker_u64(c->known[kind].bytes + 8 * i);
}

static uint64_t token(const struct checker *c, uint64_t i)
{
    return checker_number(c->token_file + i * c->width, c->width);
}

/* ---- Documents and tokens ---- */

static const char *check_documents(const struct checker *c)
{
    uint64_t least = (c->end_token != CHECKER_NONE) + (c->begin_token != CHECKER_NONE);

    if (at(c, CHECKER_DOCUMENTS, 0) != 0 || at(c, CHECKER_DOCUMENTS, c->documents) != c->tokens)
        return "the first document starts at 0, the last one ends at T";
    for (uint64_t d = 0; d < c->documents; d++)
        if (at(c, CHECKER_DOCUMENTS, d + 1) < at(c, CHECKER_DOCUMENTS, d))
            return "no start is below the previous one";
    for (uint64_t d = 0; d < c->documents; d++) {
        uint64_t start = at(c, CHECKER_DOCUMENTS, d), end = at(c, CHECKER_DOCUMENTS, d + 1);

        if (end - start < least)
            return "each document has its begin and end token";
        if (c->begin_token != CHECKER_NONE && token(c, start) != c->begin_token)
            return "each document starts with the begin token";
        if (c->end_token != CHECKER_NONE && token(c, end - 1) != c->end_token)
            return "each document ends with the end token";
    }
    return NULL;
}

static const char *check_tokens(const struct checker *c)
{
    for (uint64_t i = 0; i < c->tokens; i++)
        if (token(c, i) >= c->vocabulary)
            return "every token is below the vocabulary size";
    for (uint64_t page = 0; page < c->known[CHECKER_PAGES].entries; page++)
        if (checker_u32(c->known[CHECKER_PAGES].bytes + 4 * page) !=
            checker_page_hash(c->token_file, c->token_file_size, page))
            return "every page of tokens has its page hash";
    return NULL;
}

/* Counted anew for each entry from where the one before it stopped: the starts have been checked to rise. */
static const char *check_directory(const struct checker *c)
{
    uint64_t below = 0;

    for (uint64_t cell = 0; cell < c->known[CHECKER_DIRECTORY].entries; cell++) {
        while (below < c->documents && at(c, CHECKER_DOCUMENTS, below) < cell * CHECKER_CELL / c->width)
            below++;
        if (at(c, CHECKER_DIRECTORY, cell) != below)
            return "a directory entry is the number of documents that start before its cell";
    }
    return NULL;
}

/* ---- Inputs, origins and what else documents have ---- */

static const char *check_origins(const struct checker *c)
{
    bool ordered = (c->known[CHECKER_ORIGINS].flags & 2) != 0;

    for (uint64_t d = 0; d < c->documents; d++) {
        uint64_t offset = at(c, CHECKER_ORIGINS, 2 * d), input = at(c, CHECKER_ORIGINS, 2 * d + 1);

        if (input >= c->inputs && input != CHECKER_NONE)
            return "an origin's input is below I, or NONE";
        if (ordered && d > 0) {
            uint64_t before = at(c, CHECKER_ORIGINS, 2 * d - 1);

            if (input < before || (input == before && offset < at(c, CHECKER_ORIGINS, 2 * d - 2)))
                return "origins that are said never to decrease do not";
        }
    }
    return NULL;
}

static const char *check_input(const struct checker *c, uint64_t number)
{
    const uint8_t *record = c->known[CHECKER_INPUTS].bytes + 64 * number;
    uint64_t documents = 0, tokens = 0;

    for (uint64_t d = 0; d < c->documents; d++)
        if (at(c, CHECKER_ORIGINS, 2 * d + 1) == number) {
            documents++;
            tokens += at(c, CHECKER_DOCUMENTS, d + 1) - at(c, CHECKER_DOCUMENTS, d);
        }
    if (checker_u64(record + 24) != documents || checker_u64(record + 32) != tokens)
        return "an input counts the documents that name it, and their tokens";
    return NULL;
}

static const char *check_inputs(const struct checker *c)
{
    uint64_t end = 0;

    for (uint64_t i = 0; i < c->inputs; i++) {
        uint64_t start = at(c, CHECKER_INPUTS, 8 * i), size = at(c, CHECKER_INPUTS, 8 * i + 1);
        const char *broken = check_input(c, i);

        if (broken)
            return broken;
        if (start != end || size > c->known[CHECKER_PATHS].size - end)
            return "a path starts where the previous one ends";
        end += size;
    }
    return end == c->known[CHECKER_PATHS].size ? NULL : "the last path ends the section";
}

static const char *check_lines(const struct checker *c)
{
    for (uint64_t d = 0; d < c->known[CHECKER_LINES].entries; d++)
        if (at(c, CHECKER_LINES, d) == 0)
            return "lines count from 1";
    return NULL;
}

static const char *check_ids(const struct checker *c)
{
    uint64_t end = 0;

    for (uint64_t d = 0; d < c->known[CHECKER_ID_ENDS].entries; d++) {
        if (at(c, CHECKER_ID_ENDS, d) < end)
            return "id ends never decrease";
        end = at(c, CHECKER_ID_ENDS, d);
    }
    return end == c->known[CHECKER_IDS].size ? NULL : "the last id ends with the ids";
}

/* ---- Tokenizer and metadata ---- */

static const char *check_tokenizer(const struct checker *c)
{
    const struct checker_section *s = &c->known[CHECKER_TOKENIZER];
    uint64_t sizes[3], left = s->size - 32, form;

    if (!s->bytes)
        return NULL;
    if (s->size < 32)
        return "a tokenizer record has 32 bytes before its strings";
    for (unsigned i = 0; i < 3; i++) {
        sizes[i] = at(c, CHECKER_TOKENIZER, i);
        if (sizes[i] > left)
            return "the tokenizer's strings fill its section";
        left -= sizes[i];
    }
    form = at(c, CHECKER_TOKENIZER, 3);
    if (left != 0)
        return "the tokenizer's strings fill its section";
    if (form != 1 && form != 2)
        return "a tokenizer's form is 1 or 2";
    if (sizes[0] < 1 || (form == 1 && sizes[2] != 0))
        return "a tokenizer has a name, and a built-in one no file";
    if (memchr(s->bytes + 32, 0, (size_t)(sizes[0] + sizes[1])))
        return "a tokenizer's name and pattern have no zero byte";
    return NULL;
}

/* Whether key a comes before key b. */
static bool comes_before(const uint8_t *a, uint64_t a_size, const uint8_t *b, uint64_t b_size)
{
    for (uint64_t i = 0; i < a_size && i < b_size; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return a_size < b_size;
}

static const char *check_metadata(const struct checker *c)
{
    const struct checker_section *s = &c->known[CHECKER_METADATA];
    const uint8_t *before = NULL;
    uint64_t before_size = 0, pairs = 0;

    for (uint64_t from = 0; from < s->size; pairs++) {
        uint64_t left = s->size - from, key, value;

        if (left < 16)
            return "metadata pairs fill the section";
        key = checker_u64(s->bytes + from);
        value = checker_u64(s->bytes + from + 8);
        left -= 16;
        if (key < 1 || key > left || value > left - key)
            return "a metadata key has at least 1 byte, and pairs fill the section";
        if (before && !comes_before(before, before_size, s->bytes + from + 16, key))
            return "metadata keys increase";
        before = s->bytes + from + 16;
        before_size = key;
        from += 16 + key + value;
    }
    return pairs == s->entries ? NULL : "metadata has as many pairs as its entry says";
}

const char *checker_sections(struct checker *c)
{
    static const char *(*const checks[])(const struct checker *c) = {
        check_documents, check_tokens, check_directory, check_origins,  check_inputs,
        check_lines,     check_ids,    check_tokenizer, check_metadata,
    };
    const char *broken = NULL;

    c->inputs = c->known[CHECKER_INPUTS].entries;
    for (unsigned i = 0; i < sizeof checks / sizeof checks[0] && !broken; i++)
        broken = checks[i](c);
    return broken;
}
