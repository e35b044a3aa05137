/*
 * survey.c: see info.h. Tokens are read in stretches, all of a small dataset and stretches at equal distances of a
 * large one. Of each, ids are counted, and without special tokens decoded to count bytes and scripts.
 */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "corpus/document_input.h"
#include "tokenizer/pattern/pattern_set.h"

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

#define STRETCH 16384u
#define HASHES  65536u /* read at once */

/* The work on tokens. */
struct reading {
    struct survey *s;
    const struct leat_dataset *d;
    struct leat_encoder *decoder;
    uint8_t *table;
    uint32_t ids[STRETCH];
};

static enum leat_status open_tokenizer(struct reading *r, struct leat_error *err)
{
    struct leat_stored_tokenizer *t;
    enum leat_status s = leat_dataset_tokenizer(r->d, &t, err);

    if (s == LEAT_E_NOT_FOUND)
        return LEAT_OK;
    if (s == LEAT_OK) {
        s = leat_tokenizer_open_stored(&r->s->tokenizer, t, err);
        leat_stored_tokenizer_free(t);
    }
    if (s == LEAT_OK)
        s = leat_encoder_open(&r->decoder, r->s->tokenizer, NULL, err);
    if (s != LEAT_OK)
        return s;
    r->table = survey_script_table();
    return r->table ? LEAT_OK : status_no_memory(err, 0x110000);
}

/* Which ids have no text: special tokens, the dataset's own, and those that the tokenizer does not have. */
static void find_special(struct survey *s, const struct leat_info *info)
{
    for (uint64_t id = 0; id < s->vocabulary; id++) {
        struct leat_token token = LEAT_TOKEN_INIT;

        s->special[id] = id == info->end_token || id == info->begin_token ||
                         leat_tokenizer_token(s->tokenizer, (uint32_t)id, &token, NULL) != LEAT_OK || token.special;
    }
}

static enum leat_status count_stretch(struct reading *r, uint64_t first, size_t count, struct leat_error *err)
{
    struct survey *s = r->s;
    size_t kept = 0;
    uint64_t bytes;
    const char *text;
    enum leat_status status = leat_dataset_read_u32(r->d, first, count, r->ids, err);

    for (size_t i = 0; status == LEAT_OK && i < count; i++) {
        uint32_t id = r->ids[i];

        if (id >= s->vocabulary)
            return status_set(err, LEAT_E_TOKEN, "token %" PRIu64 " is %lu, beyond the vocabulary; verify the dataset",
                              (first + i), (unsigned long)id);
        s->counts[id]++;
        if (r->decoder && !s->special[id])
            r->ids[kept++] = id;
    }
    s->read += count;
    if (status != LEAT_OK || !r->decoder)
        return status;
    status = leat_encoder_decode(r->decoder, r->ids, kept, &text, &bytes, err);
    if (status == LEAT_OK) {
        s->text_tokens += kept;
        s->text_bytes += bytes;
        survey_count_scripts(s, r->table, text, bytes);
    }
    return status;
}

static enum leat_status count_tokens(struct reading *r, uint64_t tokens, struct leat_error *err)
{
    uint64_t stretches = tokens <= SURVEY_TOKENS ? (tokens + STRETCH - 1) / STRETCH : SURVEY_TOKENS / STRETCH;
    uint64_t distance = tokens <= SURVEY_TOKENS ? STRETCH : tokens / stretches;
    enum leat_status s = LEAT_OK;

    r->s->sampled = tokens > SURVEY_TOKENS;
    for (uint64_t i = 0; s == LEAT_OK && i < stretches; i++) {
        uint64_t left = tokens - i * distance;

        s = count_stretch(r, i * distance, (size_t)(left < STRETCH ? left : STRETCH), err);
    }
    return s;
}

static enum leat_status read_tokens(struct survey *s, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct reading *r;
    enum leat_status status;

    leat_dataset_info(d, &info);
    if (info.vocabulary > SURVEY_VOCABULARY)
        return LEAT_OK;
    r = calloc(1, sizeof *r);
    s->counts = calloc((size_t)info.vocabulary, sizeof *s->counts);
    s->special = calloc((size_t)info.vocabulary, sizeof *s->special);
    if (!r || !s->counts || !s->special) {
        free(r);
        return status_no_memory(err, info.vocabulary * sizeof *s->counts);
    }
    s->vocabulary = info.vocabulary;
    r->s = s;
    r->d = d;
    status = open_tokenizer(r, err);
    if (status == LEAT_OK && s->tokenizer)
        find_special(s, &info);
    if (status == LEAT_OK)
        status = count_tokens(r, info.tokens, err);
    for (uint64_t id = 0; id < s->vocabulary; id++)
        s->used += s->counts[id] > 0;
    leat_encoder_close(r->decoder);
    free(r->table);
    free(r);
    return status;
}

/* ---- Texts that are there more than once ---- */

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

static enum leat_status read_hashes(struct survey *s, const struct leat_dataset *d, struct leat_error *err)
{
    static const uint8_t unknown[16];
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status status = LEAT_OK;
    uint8_t(*hashes)[16];

    leat_dataset_info(d, &info);
    if (!info.stores_hashes || info.documents > SURVEY_HASHES)
        return LEAT_OK;
    hashes = malloc((size_t)info.documents * sizeof *hashes + 1);
    if (!hashes)
        return status_no_memory(err, info.documents * sizeof *hashes);
    for (uint64_t done = 0, part; status == LEAT_OK && done < info.documents; done += part) {
        part = info.documents - done < HASHES ? info.documents - done : HASHES;
        status = leat_dataset_text_hashes(d, done, part, hashes + done, err);
    }
    if (status == LEAT_OK) {
        s->hashes = true;
        qsort(hashes, (size_t)info.documents, sizeof *hashes, compare_hashes);
        for (uint64_t i = 1; i < info.documents; i++)
            s->repeated += memcmp(hashes[i - 1], hashes[i], 16) == 0 && memcmp(hashes[i], unknown, 16) != 0;
    }
    free(hashes);
    return status == LEAT_E_NOT_FOUND ? LEAT_OK : status; /* one of a list stores none */
}

/* ---- Rejects ---- */

static enum leat_status count_reason(struct survey *s, const char *text, size_t bytes, struct leat_error *err)
{
    const char *colon = memchr(text, ':', bytes);
    size_t length = colon ? (size_t)(colon - text) : bytes;
    unsigned i = 0;

    while (i < s->reason_count && (strlen(s->reasons[i].text) != length || memcmp(s->reasons[i].text, text, length)))
        i++;
    if (i == SURVEY_REASONS) {
        s->other_reasons++;
        return LEAT_OK;
    }
    if (i == s->reason_count) {
        s->reasons[i].text = strndup(text, length);
        if (!s->reasons[i].text)
            return status_no_memory(err, length);
        s->reason_count++;
    }
    s->reasons[i].count++;
    return LEAT_OK;
}

/* Those of one part: its file of rejects, where it is still there. What cannot be read of it stays unknown. */
static enum leat_status read_reasons(struct survey *s, const char *name, struct leat_error *err)
{
    char path[4096];
    struct document_input *in;
    enum leat_status status;
    bool found = true;

    if ((size_t)snprintf(path, sizeof path, "%s.rejects.jsonl", name) >= sizeof path)
        return LEAT_OK;
    status = document_input_open(&in, path, DOCUMENT_JSONL, "reason", err);
    if (status == LEAT_E_NO_FILE)
        return LEAT_OK;
    while (status == LEAT_OK && found) {
        const char *text;
        size_t bytes;

        status = document_input_next(in, &text, &bytes, &found, err);
        if (status == LEAT_OK && found)
            status = count_reason(s, text, bytes, err);
    }
    document_input_close(in);
    return status == LEAT_E_NO_MEMORY ? status : LEAT_OK;
}

static enum leat_status read_rejects(struct survey *s, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status status = LEAT_OK;

    leat_dataset_info(d, &info);
    for (uint64_t i = 0; status == LEAT_OK && i < info.inputs; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        status = leat_dataset_input(d, i, &input, err);
        s->rejects += status == LEAT_OK ? input.rejects : 0;
    }
    for (uint64_t i = 0; status == LEAT_OK && s->rejects > 0 && i < info.parts; i++) {
        struct leat_part part = LEAT_PART_INIT;

        status = leat_dataset_part(d, i, &part, err);
        if (status == LEAT_OK)
            status = read_reasons(s, part.name, err);
    }
    return status;
}

enum leat_status survey_read(struct survey *s, const struct leat_dataset *d, struct leat_error *err)
{
    enum leat_status status = read_tokens(s, d, err);

    if (status == LEAT_OK)
        status = read_hashes(s, d, err);
    return status == LEAT_OK ? read_rejects(s, d, err) : status;
}

void survey_free(struct survey *s)
{
    for (unsigned i = 0; i < s->reason_count; i++)
        free(s->reasons[i].text);
    free(s->counts);
    free(s->special);
    leat_tokenizer_close(s->tokenizer);
    *s = (struct survey) { 0 };
}

/* ---- Scripts ---- */

/*
 * In which scripts a text is written. The table is made of the same properties that \p{...} in a tokenizer's
 * expressions has.
 */

#define SHARED 255u /* by several scripts, as digits, blanks and punctuation */

/* As people write them; the property has small letters. */
static const char *const names[] = {
    "Latin",    "Cyrillic", "Greek",     "Arabic",    "Hebrew",        "Devanagari", "Bengali",  "Tamil",
    "Telugu",   "Kannada",  "Malayalam", "Gujarati",  "Gurmukhi",      "Sinhala",    "Thai",     "Lao",
    "Khmer",    "Myanmar",  "Han",       "Hiragana",  "Katakana",      "Hangul",     "Bopomofo", "Georgian",
    "Armenian", "Ethiopic", "Tibetan",   "Mongolian", "other scripts",
};
#define NAMES ((unsigned)(sizeof names / sizeof *names))

const char *survey_script(unsigned number)
{
    return number < NAMES ? names[number] : NULL;
}

static void mark(uint8_t *table, struct pattern_set *set, const char *name, uint8_t number)
{
    pattern_set_clear(set);
    if (!pattern_set_property(set, name))
        return;
    for (uint32_t c = 0; c < PATTERN_SET_POINTS; c++) {
        if (set->words[c / 64] == 0) {
            c |= 63;
            continue;
        }
        if (pattern_set_has(set, c))
            table[c] = number;
    }
}

uint8_t *survey_script_table(void)
{
    struct pattern_set *set = malloc(sizeof *set);
    uint8_t *table = malloc(PATTERN_SET_POINTS);

    for (uint32_t c = 0; set && table && c < PATTERN_SET_POINTS; c++)
        table[c] = (uint8_t)(NAMES - 1);
    for (unsigned i = 0; set && table && i + 1 < NAMES; i++) {
        char small[16];
        size_t n = 0;

        for (; names[i][n]; n++)
            small[n] = (char)(names[i][n] | 0x20);
        small[n] = '\0';
        mark(table, set, small, (uint8_t)i);
    }
    if (set && table) {
        mark(table, set, "common", SHARED);
        mark(table, set, "inherited", SHARED);
        mark(table, set, "cn", SHARED); /* and what is no character yet */
    }
    free(set);
    if (!set) {
        free(table);
        return NULL;
    }
    return table;
}

void survey_count_scripts(struct survey *s, const uint8_t *table, const char *text, uint64_t bytes)
{
    const uint8_t *p = (const uint8_t *)text;

    for (uint64_t at = 0, end; at < bytes; at = end + 1) { /* past a byte that is malformed */
        end = at + utf8_valid_prefix(p + at, (size_t)(bytes - at));
        while (at < end) {
            size_t size;
            uint8_t script = table[unicode_decode(p + at, &size)];

            at += size;
            if (script == SHARED)
                continue;
            s->scripts[script]++;
            s->characters++;
        }
    }
}

/* ---- Lengths of documents ---------------------------------------------------------------------------------------- */

#define BLOCK_DOCUMENTS 65536u /* starts read at once: half a MiB */

static unsigned bucket_of(uint64_t length)
{
    unsigned k = 0;

    for (; length > 0; length >>= 1)
        k++;
    return k;
}

static void count_lengths(struct length_histogram *h, const uint64_t *starts, uint64_t documents)
{
    for (uint64_t i = 0; i < documents; i++) {
        uint64_t length = starts[i + 1] - starts[i];

        h->buckets[bucket_of(length)]++;
        if (length < h->shortest)
            h->shortest = length;
        if (length > h->longest)
            h->longest = length;
    }
    h->documents += documents;
    h->tokens += starts[documents] - starts[0];
}

/* Documents [first, first + count), in blocks of what `starts` holds. */
static enum leat_status count_run(struct length_histogram *h, const struct leat_dataset *d, uint64_t first,
                                  uint64_t count, uint64_t *starts, struct leat_error *err)
{
    while (count > 0) {
        uint64_t part = count < BLOCK_DOCUMENTS ? count : BLOCK_DOCUMENTS;
        enum leat_status s = leat_dataset_starts(d, first, part + 1, starts, err);

        if (s != LEAT_OK)
            return s;
        count_lengths(h, starts, part);
        first += part;
        count -= part;
    }
    return LEAT_OK;
}

enum leat_status length_histogram_count(struct length_histogram *h, const struct leat_dataset *d,
                                        struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t *starts = malloc((BLOCK_DOCUMENTS + 1) * sizeof *starts);
    enum leat_status s = LEAT_OK;
    uint64_t stride;

    if (!starts)
        return status_no_memory(err, (BLOCK_DOCUMENTS + 1) * sizeof *starts);
    memset(h, 0, sizeof *h);
    h->shortest = UINT64_MAX;
    leat_dataset_info(d, &info);
    if (info.documents == LEAT_NONE)
        info.documents = 0;
    /* runs of a sample must not overlap */
    h->sampled = info.documents > HISTOGRAM_EXACT && info.documents >= (uint64_t)HISTOGRAM_RUN * HISTOGRAM_RUNS;
    if (h->sampled) {
        stride = info.documents / HISTOGRAM_RUNS;
        for (uint64_t run = 0; run < HISTOGRAM_RUNS && s == LEAT_OK; run++)
            s = count_run(h, d, run * stride, HISTOGRAM_RUN, starts, err);
    } else {
        s = count_run(h, d, 0, info.documents, starts, err);
    }
    if (h->documents == 0)
        h->shortest = 0;
    free(starts);
    return s;
}

double length_histogram_mean(const struct length_histogram *h)
{
    return h->documents > 0 ? (double)h->tokens / (double)h->documents : 0;
}

uint64_t length_histogram_min(unsigned k)
{
    return k == 0 ? 0 : (uint64_t)1 << (k - 1);
}

uint64_t length_histogram_max(unsigned k)
{
    return k == 0 ? 0 : UINT64_MAX >> (64 - k);
}

bool length_histogram_range(const struct length_histogram *h, unsigned *first, unsigned *last)
{
    bool any = false;

    for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
        if (h->buckets[k] > 0) {
            *first = any ? *first : k;
            *last = k;
            any = true;
        }
    return any;
}
