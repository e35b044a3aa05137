/*
 * fuzz_dataset.c: an index and a token file of hostile bytes, in memory, expanded by shape.h: opening, every read call,
 * verifying. No call crashes, hangs or leaks, each returns a status that speaks of the dataset, and every number that
 * comes out can be used. What verify accepts agrees with a plain scan; with any one bit of it flipped, opening or
 * verifying refuses it, and names the page if it is one of tokens.
 */
#include <stdbool.h>

#include "base/bytes.h"
#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "datasets/shape.h"
#include "fuzz.h"

/* What is done besides: bits of the description's third byte. */
#define ACT_JOIN 1u /* the dataset twice, as a list */
#define ACT_STOP 2u /* verifying is stopped by the progress call */
#define ACT_FLIP 4u /* a bit is flipped and must be found */

/* All documents are looked at up to so many; else that many of them. */
#define MAX_DOCUMENTS 64u

/* ---- Opening ---- */

static struct leat_dataset *open_parts(const struct shape *s, unsigned count, struct leat_error *err)
{
    struct leat_dataset *d = NULL;
    struct part part;

    if (part_open_memory(&part, s->index, s->index_bytes, s->tokens, s->token_bytes, err) != LEAT_OK)
        return NULL;
    FUZZ_CHECK(dataset_of_part(&d, &part, err) == LEAT_OK);
    if (count == 2) {
        struct part *both = calloc(2, sizeof *both);

        FUZZ_CHECK(both && part_open_memory(&both[1], s->index, s->index_bytes, s->tokens, s->token_bytes, err) == 0);
        both[0] = d->parts[0];
        both[1].first_token = d->tokens;
        both[1].first_document = d->documents;
        both[1].first_input = d->inputs;
        free(d->parts);
        d->parts = both;
        d->part_count = 2;
        d->tokens *= 2;
        d->documents *= 2;
        d->inputs *= 2;
    }
    return d;
}

/* A call on bytes in memory: it may find damage or a request that is out of range, but no failure of the machine. */
static bool fine(enum leat_status s, const struct leat_error *err)
{
    if (s == LEAT_OK)
        return true;
    FUZZ_CHECK(s == LEAT_E_RANGE || s == LEAT_E_NOT_FOUND || s == LEAT_E_ARGUMENT || s == LEAT_E_STOPPED ||
               (s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH));
    FUZZ_CHECK(err->status == s && memchr(err->message, '\0', sizeof err->message) && err->message[0]);
    return false;
}

/* ---- Whatever the bytes are ---- */

static uint64_t id_at(const uint8_t *ids, uint64_t width, uint64_t i)
{
    return width == 2 ? bytes_load16(ids + 2 * i) : bytes_load32(ids + 4 * i);
}

/* A number to ask for: mostly one that exists, now and then the one after, or any. */
static uint64_t ask(uint64_t *random, uint64_t count)
{
    switch (fuzz_up_to(random, 15)) {
    case 0:
        return fuzz_random(random);
    case 1:
        return count;
    case 2:
        return UINT64_MAX - fuzz_up_to(random, 3);
    default:
        return count > 0 ? fuzz_up_to(random, count - 1) : 0;
    }
}

static void read_tokens(const struct leat_dataset *d, uint64_t *random)
{
    uint64_t first = ask(random, d->tokens), left = first < d->tokens ? d->tokens - first : 0;
    uint64_t count = fuzz_up_to(random, left < 2500 ? left : 2500), width = d->parts[0].token_width;
    uint8_t *narrow = malloc((size_t)(count * width) + 1);
    uint32_t *wide = malloc((size_t)count * 4 + 1);
    struct leat_view view = { 0 };
    struct leat_error err;
    enum leat_status s = leat_dataset_read(d, first, count, narrow, &err), t;

    FUZZ_CHECK(s == (first <= d->tokens ? LEAT_OK : LEAT_E_RANGE));
    t = leat_dataset_read_u32(d, first, count, wide, &err);
    FUZZ_CHECK(t == s);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        FUZZ_CHECK(wide[i] == id_at(narrow, width, i));
    t = leat_dataset_view(d, first, count, &view, &err);
    FUZZ_CHECK(t == s || t == LEAT_E_RANGE);
    if (t == LEAT_OK)
        FUZZ_CHECK(view.count == count && (count == 0 || memcmp(view.tokens, narrow, (size_t)(count * width)) == 0));
    leat_view_release(&view);
    fine(leat_dataset_verify_range(d, first, count, &err), &err);
    FUZZ_CHECK(leat_dataset_read(d, first, ask(random, 0) | (uint64_t)1 << 60, narrow, &err) == LEAT_E_RANGE);
    free(narrow);
    free(wide);
}

static void read_documents(const struct leat_dataset *d, uint64_t *random)
{
    uint64_t number = ask(random, d->documents), first, count, starts[8], bytes, found;
    uint64_t from = ask(random, d->tokens), width = ask(random, d->tokens);
    struct leat_origin o;
    struct leat_error err;
    char id[24];

    if (fine(leat_dataset_document(d, number, &first, &count, &err), &err))
        FUZZ_CHECK(number < d->documents && bytes_inside(first, count, d->tokens));
    if (fine(dataset_document_list(d, &number, 1, &starts[0], &starts[1], &err), &err))
        FUZZ_CHECK(starts[0] == first && starts[1] == count);
    if (fine(leat_dataset_starts(d, number, 1 + fuzz_up_to(random, 7), starts, &err), &err))
        FUZZ_CHECK(starts[0] <= d->tokens);
    if (fine(leat_dataset_documents_in(d, from, width, &first, &count, &err), &err))
        FUZZ_CHECK(width > 0 && bytes_inside(from, width, d->tokens) && count > 0 &&
                   bytes_inside(first, count, d->documents));
    if (fine(leat_dataset_origins(d, number, 1, &o, &err), &err)) {
        FUZZ_CHECK(o.input == LEAT_NONE || o.input < d->inputs);
        FUZZ_CHECK(!o.id);
        if (o.input != LEAT_NONE && fine(leat_dataset_find_origin(d, o.input, o.offset, &found, &err), &err))
            FUZZ_CHECK(found < d->documents);
    }
    if (fine(leat_dataset_ids(d, number, 1, id, sizeof id, &bytes, &err), &err)) {
        FUZZ_CHECK(id[bytes < sizeof id ? bytes : sizeof id - 1] == '\0');
        if (bytes < sizeof id && fine(leat_dataset_find_id(d, id, bytes, &found, &err), &err))
            FUZZ_CHECK(found < d->documents);
    }
    fine(leat_dataset_ids(d, number, 1, NULL, 0, &bytes, &err), &err);
    FUZZ_CHECK(!fine(leat_dataset_find_id(d, "an id that no seed has", 22, &found, &err), &err));
    fine(leat_dataset_find_origin(d, ask(random, d->inputs), fuzz_random(random), &found, &err), &err);
}

static void read_inputs(const struct leat_dataset *d, uint64_t *random)
{
    uint64_t number = ask(random, d->inputs), bytes, found;
    struct leat_input input = LEAT_INPUT_INIT;
    struct leat_error err;
    char path[16];

    if (fine(leat_dataset_input(d, number, &input, &err), &err))
        FUZZ_CHECK(number < d->inputs && input.path_bytes <= d->parts[0].index->file.size);
    if (fine(leat_dataset_input_path(d, number, path, sizeof path, &bytes, &err), &err)) {
        FUZZ_CHECK(bytes == input.path_bytes);
        if (fine(leat_dataset_find_input(d, path, &found, &err), &err))
            FUZZ_CHECK(found < d->inputs);
    }
    fine(leat_dataset_input_path(d, number, NULL, 0, NULL, &err), &err);
}

static void read_stored(const struct leat_dataset *d, uint64_t *random)
{
    struct leat_stored_tokenizer *t;
    struct leat_metadata *m;
    struct leat_error err;

    if (fine(leat_dataset_tokenizer(d, &t, &err), &err))
        FUZZ_CHECK(strlen(t->name) + strlen(t->pattern) + t->file_bytes <= d->parts[0].index->file.size &&
                   (t->file || t->file_bytes == 0));
    leat_stored_tokenizer_free(t);
    if (fine(leat_dataset_metadata(d, ask(random, d->part_count), &m, &err), &err))
        for (uint64_t i = 0; i < m->count; i++)
            FUZZ_CHECK(m->pairs[i].key[m->pairs[i].key_bytes] == '\0' && m->pairs[i].key_bytes > 0 &&
                       m->pairs[i].value[m->pairs[i].value_bytes] == '\0');
    leat_metadata_free(m);
}

static void read_facts(const struct leat_dataset *d, uint64_t *random)
{
    struct leat_info info = LEAT_INFO_INIT, shorter = { .size = offsetof(struct leat_info, parts) };
    struct leat_part part = LEAT_PART_INIT;
    struct leat_error err;
    uint64_t number = ask(random, d->part_count);

    leat_dataset_info(d, &info);
    leat_dataset_info(d, &shorter);
    FUZZ_CHECK(info.tokens == d->tokens && info.token_bytes == info.tokens * info.token_width);
    FUZZ_CHECK(info.vocabulary > 0 && (info.end_token == LEAT_NONE || info.end_token < info.vocabulary));
    FUZZ_CHECK(shorter.tokens == info.tokens && shorter.parts == 0 && info.parts == d->part_count);
    if (fine(leat_dataset_part(d, number, &part, &err), &err))
        FUZZ_CHECK(number < d->part_count && part.tokens * d->part_count == d->tokens);
}

/* ---- What verify accepts ---- */

/* All starts; freed by the caller. */
static uint64_t *all_starts(const struct leat_dataset *d)
{
    uint64_t *starts = malloc((size_t)(d->documents + 1) * sizeof *starts);
    struct leat_error err;

    FUZZ_CHECK(starts && leat_dataset_starts(d, 0, d->documents + 1, starts, &err) == LEAT_OK);
    FUZZ_CHECK(starts[0] == 0 && starts[d->documents] == d->tokens);
    for (uint64_t i = 0; i < d->documents; i++)
        FUZZ_CHECK(starts[i] <= starts[i + 1]);
    return starts;
}

static void check_tokens(const struct leat_dataset *d, const uint64_t *starts)
{
    const struct format_header *h = &d->parts[0].index->header;
    uint64_t fixed = (h->end_token != LEAT_NONE) + (h->begin_token != LEAT_NONE);
    uint64_t width = h->token_width, step = d->tokens > 8192 ? 5 : 1;
    uint8_t *ids = malloc((size_t)(d->tokens * width) + 1);
    struct leat_error err;

    FUZZ_CHECK(ids && leat_dataset_read(d, 0, d->tokens, ids, &err) == LEAT_OK);
    for (uint64_t i = 0; i < d->tokens; i += step)
        FUZZ_CHECK(id_at(ids, width, i) < h->vocabulary);
    for (uint64_t i = 0; i < d->documents; i++) {
        FUZZ_CHECK(starts[i + 1] - starts[i] >= fixed);
        if (h->begin_token != LEAT_NONE)
            FUZZ_CHECK(id_at(ids, width, starts[i]) == h->begin_token);
        if (h->end_token != LEAT_NONE)
            FUZZ_CHECK(id_at(ids, width, starts[i + 1] - 1) == h->end_token);
    }
    FUZZ_CHECK(leat_dataset_verify_range(d, 0, d->tokens, &err) == LEAT_OK);
    free(ids);
}

/* The documents of a range, by a scan over all. */
static void check_documents_in(const struct leat_dataset *d, const uint64_t *starts, uint64_t first, uint64_t count)
{
    uint64_t from = 0, to = d->documents - 1, document, documents;
    struct leat_error err;

    while (starts[from + 1] <= first)
        from++;
    while (starts[to] >= first + count)
        to--;
    while (starts[to] == starts[to + 1]) /* without a token */
        to--;
    FUZZ_CHECK(leat_dataset_documents_in(d, first, count, &document, &documents, &err) == LEAT_OK);
    FUZZ_CHECK(document == from && documents == to - from + 1);
}

/* The last document of this input with the greatest offset that is not beyond this one. */
static uint64_t scan_origins(const struct leat_origin *origins, uint64_t count, struct leat_origin wanted)
{
    uint64_t best = LEAT_NONE;

    for (uint64_t i = 0; i < count; i++)
        if (origins[i].input == wanted.input && origins[i].offset <= wanted.offset &&
            (best == LEAT_NONE || origins[i].offset >= origins[best].offset))
            best = i;
    return best;
}

static void check_origins(const struct leat_dataset *d, const uint64_t *starts, uint64_t *random)
{
    struct leat_origin *origins = malloc((size_t)d->documents * sizeof *origins + 1);
    uint64_t id_bytes = 0, all_ids = 0, found;
    struct leat_error err;

    for (uint64_t i = 0; i < d->documents; i++) {
        FUZZ_CHECK(leat_dataset_origins(d, i, 1, &origins[i], &err) == LEAT_OK);
        FUZZ_CHECK(origins[i].input == LEAT_NONE || origins[i].input < d->inputs);
        id_bytes += origins[i].id_bytes;
    }
    for (uint64_t i = 0; i < d->part_count; i++)
        all_ids += d->parts[i].index->header.sections[FORMAT_IDS].bytes;
    FUZZ_CHECK(id_bytes == all_ids);
    for (unsigned i = 0; i < 4 && d->documents > 0; i++) {
        struct leat_origin wanted = origins[fuzz_up_to(random, d->documents - 1)];

        if (wanted.input == LEAT_NONE)
            continue;
        if (wanted.offset < UINT64_MAX - 2)
            wanted.offset += fuzz_up_to(random, 2);
        FUZZ_CHECK(leat_dataset_find_origin(d, wanted.input, wanted.offset, &found, &err) == LEAT_OK);
        FUZZ_CHECK(found == scan_origins(origins, d->documents, wanted));
    }
    for (uint64_t n = 0; n < d->inputs && n < MAX_DOCUMENTS; n++) {
        struct leat_input input = LEAT_INPUT_INIT;
        uint64_t documents = 0, tokens = 0;

        FUZZ_CHECK(leat_dataset_input(d, n, &input, &err) == LEAT_OK);
        for (uint64_t i = 0; i < d->documents; i++) {
            documents += origins[i].input == n;
            tokens += origins[i].input == n ? starts[i + 1] - starts[i] : 0;
        }
        FUZZ_CHECK(input.documents == documents && input.tokens == tokens);
    }
    free(origins);
}

/* The document's id, allocated to the byte. */
static char *id_of(const struct leat_dataset *d, uint64_t document, uint64_t *bytes)
{
    struct leat_error err;
    char *id;

    FUZZ_CHECK(leat_dataset_ids(d, document, 1, NULL, 0, bytes, &err) == LEAT_OK);
    id = malloc((size_t)*bytes + 1);
    FUZZ_CHECK(id && leat_dataset_ids(d, document, 1, id, (size_t)*bytes + 1, bytes, &err) == LEAT_OK);
    FUZZ_CHECK(id[*bytes] == '\0');
    return id;
}

static void check_id(const struct leat_dataset *d, uint64_t document)
{
    uint64_t bytes, other_bytes, found = LEAT_NONE;
    char *id = id_of(d, document, &bytes);
    struct leat_error err;
    bool stored = d->parts[0].index->header.sections[FORMAT_IDS].present;

    FUZZ_CHECK(leat_dataset_find_id(d, id, bytes, &found, &err) == (stored ? LEAT_OK : LEAT_E_NOT_FOUND));
    for (uint64_t i = 0; stored && i <= found; i++) {
        char *other = id_of(d, i, &other_bytes);

        FUZZ_CHECK((other_bytes == bytes && memcmp(id, other, (size_t)bytes) == 0) == (i == found));
        free(other);
    }
    free(id);
}

static void check_input_paths(const struct leat_dataset *d)
{
    uint64_t bytes, other_bytes, found, total = 0;
    char path[512], other[512];
    struct leat_error err;

    for (uint64_t i = 0; i < d->inputs && i < MAX_DOCUMENTS; i++) {
        FUZZ_CHECK(leat_dataset_input_path(d, i, path, sizeof path, &bytes, &err) == LEAT_OK);
        total += bytes;
        if (bytes != strlen(path))
            continue; /* too long for us, or with a NUL inside: no string finds it */
        FUZZ_CHECK(leat_dataset_find_input(d, path, &found, &err) == LEAT_OK && found <= i);
        FUZZ_CHECK(leat_dataset_input_path(d, found, other, sizeof other, &other_bytes, &err) == LEAT_OK);
        FUZZ_CHECK(other_bytes == bytes && memcmp(path, other, (size_t)bytes) == 0);
    }
    if (d->part_count == 1 && d->inputs <= MAX_DOCUMENTS)
        FUZZ_CHECK(total == d->parts[0].index->header.sections[FORMAT_INPUT_PATHS].bytes);
}

static void check_stored(const struct leat_dataset *d)
{
    struct leat_stored_tokenizer *t;
    struct leat_metadata *m;
    struct leat_error err;
    enum leat_status s = leat_dataset_tokenizer(d, &t, &err);

    FUZZ_CHECK(s == (d->parts[0].index->header.sections[FORMAT_TOKENIZER].present ? LEAT_OK : LEAT_E_NOT_FOUND));
    leat_stored_tokenizer_free(t);
    for (uint64_t part = 0; part < d->part_count; part++) {
        FUZZ_CHECK(leat_dataset_metadata(d, part, &m, &err) == LEAT_OK);
        FUZZ_CHECK(m->count == d->parts[0].index->header.sections[FORMAT_METADATA].entries);
        for (uint64_t i = 1; i < m->count; i++) {
            const struct leat_metadata_pair *a = &m->pairs[i - 1], *b = &m->pairs[i];
            /* both end in a NUL, so the one that is a prefix of the other is the less */
            int order = memcmp(a->key, b->key, (size_t)(a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes));

            FUZZ_CHECK(order < 0 || (order == 0 && a->key_bytes < b->key_bytes));
        }
        leat_metadata_free(m);
    }
}

static void check_whole(const struct leat_dataset *d, uint64_t *random)
{
    uint64_t *starts = all_starts(d), step = 1 + d->documents / MAX_DOCUMENTS;
    struct leat_error err;

    check_tokens(d, starts);
    for (uint64_t i = 0; i < d->documents; i += step) {
        uint64_t first, count;

        FUZZ_CHECK(leat_dataset_document(d, i, &first, &count, &err) == LEAT_OK);
        FUZZ_CHECK(first == starts[i] && count == starts[i + 1] - starts[i]);
        if (i < 16)
            check_id(d, i);
    }
    for (unsigned i = 0; i < 8 && d->tokens > 0; i++) {
        uint64_t first = fuzz_up_to(random, d->tokens - 1);

        check_documents_in(d, starts, first, 1 + fuzz_up_to(random, d->tokens - first - 1));
    }
    check_origins(d, starts, random);
    check_input_paths(d);
    check_stored(d);
    free(starts);
}

/* ---- Verifying ---- */

static uint32_t stop_at(void *context, uint64_t done, uint64_t total)
{
    unsigned *calls = context;

    FUZZ_CHECK(done <= total);
    return (*calls)-- == 0;
}

static enum leat_status verify(const struct leat_dataset *d, struct leat_verify_report *report, unsigned *stop)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_error err;
    enum leat_status s;

    options.threads = 1;
    options.progress = stop ? stop_at : NULL;
    options.context = stop;
    s = leat_dataset_verify(d, &options, report, &err);
    fine(s, &err);
    FUZZ_CHECK(s == LEAT_OK || stop || report->damaged_pages + report->damaged_others > 0);
    FUZZ_CHECK((report->damaged_pages > 0) == (report->part != LEAT_NONE));
    if (report->first_document != LEAT_NONE)
        FUZZ_CHECK(bytes_inside(report->first_document, report->documents, d->documents) && report->documents > 0);
    return s;
}

/* The dataset is whole; with one bit of it flipped it must not be. */
static void check_flip(struct shape *s, uint64_t *random)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    uint64_t bit = fuzz_up_to(random, 8 * (s->index_bytes + s->token_bytes) - 1), at = bit / 8;
    bool in_tokens = at >= s->index_bytes;
    uint8_t *byte = in_tokens ? &s->tokens[at - s->index_bytes] : &s->index[at];
    struct leat_dataset *d;
    struct leat_error err;

    *byte ^= (uint8_t)(1u << bit % 8);
    d = open_parts(s, 1, &err);
    if (d) {
        FUZZ_CHECK(verify(d, &report, NULL) != LEAT_OK);
        if (in_tokens)
            FUZZ_CHECK(report.damaged_pages == 1 && report.page == (at - s->index_bytes) / FORMAT_PAGE_BYTES &&
                       report.first_document != LEAT_NONE);
        leat_dataset_close(d);
    }
    *byte ^= (uint8_t)(1u << bit % 8);
}

static void use(struct shape *s, struct leat_dataset *d)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    uint64_t random = s->seed;
    unsigned calls = (unsigned)fuzz_up_to(&random, 7);
    bool whole;

    whole = verify(d, &report, s->act & ACT_STOP ? &calls : NULL) == LEAT_OK;
    read_tokens(d, &random);
    read_documents(d, &random);
    read_inputs(d, &random);
    read_stored(d, &random);
    read_facts(d, &random);
    if (!whole)
        return;
    FUZZ_CHECK(report.bytes == d->part_count * (s->index_bytes + s->token_bytes));
    check_whole(d, &random);
    if (s->act & ACT_FLIP)
        check_flip(s, &random);
}

FUZZ_TARGET(dataset)
{
    struct leat_dataset *d;
    struct leat_error err = { 0 };
    struct shape s;

    if (shape_expand(&s, data, size) != 0)
        return -1;
    d = open_parts(&s, s.act & ACT_JOIN ? 2 : 1, &err);
    if (d)
        use(&s, d);
    else
        fine(err.status, &err);
    leat_dataset_close(d);
    shape_free(&s);
    return 0;
}
