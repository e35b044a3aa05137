/*
 * test_verify_borders.c: verifying by one thread and by several says the same, to the letter, of datasets whose
 * documents begin and end at, just before and just after the borders between the pieces that a thread takes (16 MiB),
 * the cells of the directory (64 KiB) and the pages; sound ones and ones with damage there. What must be said of a
 * damaged page is computed here.
 */
#include "border_subject.h"

static uint64_t drawn; /* which borders */

/* ---- What is said of it ---- */

struct outcome {
    enum leat_status status;
    struct leat_verify_report report;
    struct leat_error err;
};

static struct outcome verify_by(const struct subject *s, unsigned threads)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct outcome o;
    struct leat_dataset *d;

    memset(&o, 0, sizeof o);
    o.report.size = sizeof o.report;
    options.threads = threads;
    T_OK(leat_dataset_open(&d, s->name, NULL, &t_err));
    o.status = leat_dataset_verify(d, &options, &o.report, &o.err);
    leat_dataset_close(d);
    return o;
}

/* The outcome, which must be the same for every number of threads. */
static struct outcome verify(const struct subject *s, const char *what)
{
    static const unsigned threads[] = { 2, 7 }; /* two only by make check-every */
    struct outcome one = verify_by(s, 1);

    for (size_t i = t_every() ? 0 : 1; i < sizeof threads / sizeof threads[0]; i++) {
        struct outcome o = verify_by(s, threads[i]);

        if (o.status != one.status || memcmp(&o.report, &one.report, sizeof o.report) != 0 ||
            strcmp(o.err.message, one.err.message) != 0)
            T_FAIL("%s, %s: %u threads say %s, %" PRIu64 " pages, %" PRIu64 " others, \"%s\"; one says %s, %" PRIu64
                   " pages, %" PRIu64 " others, \"%s\"",
                   strrchr(s->name, '/'), what, threads[i], leat_status_name(o.status), o.report.damaged_pages,
                   o.report.damaged_others, o.err.message, leat_status_name(one.status), one.report.damaged_pages,
                   one.report.damaged_others, one.err.message);
    }
    return one;
}

/* ---- Damage ---- */

static void put(int fd, uint64_t offset, const void *bytes, uint64_t count)
{
    T_EQ(pwrite(fd, bytes, count, (off_t)offset), count);
}

/*
 * Changes `count` bytes of the index or of the tokens, verifies, and changes them back. `repair`: of what craft.h can
 * repair, so that only rules are broken, not checksums.
 */
static struct outcome damage(struct subject *s, int in_index, uint64_t offset, const void *bytes, uint64_t count,
                             unsigned repair, const char *what)
{
    struct craft_text *text = in_index ? &s->files.index : &s->files.tokens;
    uint64_t place = craft_place(&s->files, CRAFT_PAGES), page = 4 * (offset / PAGE_BYTES);
    uint8_t before[8], header[PAGE_BYTES], hash[4];
    struct outcome o;

    memcpy(before, text->bytes + offset, count);
    memcpy(header, s->files.index.bytes, sizeof header);
    if (repair & CRAFT_REPAIR_TOKENS)
        memcpy(hash, s->files.index.bytes + place + page, sizeof hash);
    memcpy(text->bytes + offset, bytes, count);
    craft_repair(&s->files, repair);
    put(in_index ? s->index : s->tokens, offset, bytes, count);
    put(s->index, 0, s->files.index.bytes, sizeof header);
    if (repair & CRAFT_REPAIR_TOKENS)
        put(s->index, place + page, s->files.index.bytes + place + page, sizeof hash);
    o = verify(s, what);
    memcpy(text->bytes + offset, before, count);
    memcpy(s->files.index.bytes, header, sizeof header);
    put(in_index ? s->index : s->tokens, offset, before, count);
    put(s->index, 0, header, sizeof header);
    if (repair & CRAFT_REPAIR_TOKENS) {
        memcpy(s->files.index.bytes + place + page, hash, sizeof hash);
        put(s->index, place + page, hash, sizeof hash);
    }
    return o;
}

static struct outcome damage64(struct subject *s, uint64_t offset, uint64_t value, unsigned repair, const char *what)
{
    uint8_t bytes[8];

    craft_store64(bytes, value);
    return damage(s, 1, offset, bytes, sizeof bytes, repair, what);
}

#define RULES_ONLY (CRAFT_REPAIR_SUMS | CRAFT_REPAIR_IDENTITY | CRAFT_REPAIR_HEADER)

/* A byte of tokens: the page is named, with its documents. */
static void damage_tokens(struct subject *s, uint64_t offset)
{
    uint64_t in_page = PAGE_BYTES / s->width, page = offset / PAGE_BYTES;
    uint8_t byte = s->files.tokens.bytes[offset] ^ 1;
    struct outcome o = damage(s, 0, offset, &byte, 1, 0, "a byte of tokens");
    uint64_t first = document_of(s, page * in_page), last = document_of(s, page * in_page + in_page - 1);
    char documents[64];

    T_EQ(o.status, LEAT_E_CHECKSUM);
    T_EQ(o.report.damaged_pages, 1);
    T_EQ(o.report.part, 0);
    T_EQ(o.report.page, page);
    T_EQ(o.report.first_document, first);
    T_EQ(o.report.documents, last - first + 1);
    if (first == last)
        snprintf(documents, sizeof documents, "document %" PRIu64, first);
    else
        snprintf(documents, sizeof documents, "documents %" PRIu64 " to %" PRIu64, first, last);
    T_CONTAINS(o.err.message, t_text("page %" PRIu64 " of %s.tokens (tokens %" PRIu64 " to %" PRIu64 ", %s) ", page,
                                     s->name, page * in_page, page * in_page + in_page - 1, documents));
    T_EQ(o.err.offset, page * PAGE_BYTES);
}

/* The last token of a document is no end token any more, and all hashes are right. */
static void damage_end_token(struct subject *s, uint64_t document)
{
    uint64_t token = s->starts[document + 1] - 1;
    uint8_t zero[4] = { 0 };
    struct outcome o = damage(s, 0, token * s->width, zero, s->width, CRAFT_REPAIR_TOKENS | RULES_ONLY, "an end token");

    T_EQ(o.status, LEAT_E_TOKEN);
    T_EQ(o.report.damaged_pages, 0);
    T_EQ(o.report.damaged_others, 1);
    T_CONTAINS(o.err.message, t_text("document %" PRIu64 " of ", document));
    T_CONTAINS(o.err.message, "does not end with the end-of-document token");
    T_EQ(o.err.offset, token * s->width);
}

static void damage_begin_token(struct subject *s, uint64_t document)
{
    uint64_t token = s->starts[document];
    uint8_t zero[4] = { 0 };
    struct outcome o =
        damage(s, 0, token * s->width, zero, s->width, CRAFT_REPAIR_TOKENS | RULES_ONLY, "a begin token");

    T_EQ(o.status, LEAT_E_TOKEN);
    T_EQ(o.report.damaged_others, 1);
    T_CONTAINS(o.err.message, t_text("document %" PRIu64 " of ", document));
    T_CONTAINS(o.err.message, "does not start with the begin token");
}

/* An id that is not below the vocabulary size. */
static void damage_id(struct subject *s, uint64_t token)
{
    uint8_t large[4] = { 0xff, 0xff, 0xff, 0 };
    struct outcome o = damage(s, 0, token * s->width, large, s->width, CRAFT_REPAIR_TOKENS | RULES_ONLY, "an id");

    T_EQ(o.status, LEAT_E_TOKEN);
    T_EQ(o.report.damaged_pages, 0);
    T_CONTAINS(o.err.message, t_text("token %" PRIu64 " of ", token));
    T_EQ(o.err.offset, token * s->width);
}

/* A document's start, by one and by much: as damage, and as a wrong rule. */
static void damage_start(struct subject *s, uint64_t document, int all)
{
    uint64_t at = craft_place(&s->files, CRAFT_DOCUMENTS) + 8 * document, start = s->starts[document];
    struct outcome o;

    for (int i = 0; i < (all ? 4 : 1); i++) {
        uint64_t wrong = i == 0 ? start + 1 : i == 1 ? start - 1 : i == 2 ? start ^ (uint64_t)1 << 40 : 0;

        if (wrong == start || document == 0 || document >= s->documents)
            continue;
        if (i == 0) {
            o = damage64(s, at, wrong, 0, "a document's start");
            T_EQ(o.status, LEAT_E_CHECKSUM);
            T_CONTAINS(o.err.message, "the documents section of ");
            T_EQ(o.report.damaged_pages, 0);
            T_EQ(o.report.part, LEAT_NONE);
        }
        o = damage64(s, at, wrong, RULES_ONLY, "a document's start with right sums");
        if (i >= 2)
            T_CHECK(o.status != LEAT_OK);
        T_EQ(o.report.damaged_pages, 0);
    }
}

static void damage_entry(struct subject *s, uint64_t cell, int all)
{
    uint64_t at = craft_place(&s->files, CRAFT_DIRECTORY) + 8 * cell, is = craft_load64(s->files.index.bytes + at);

    struct outcome o = damage64(s, at, is + 1, 0, "a directory entry");

    T_EQ(o.status, LEAT_E_CHECKSUM);
    T_CONTAINS(o.err.message, "the directory section of ");
    for (int i = 0; i < (all ? 3 : 1); i++) {
        uint64_t wrong = i == 0 ? is + 1 : i == 1 ? is - 1 : UINT64_MAX / 3;

        o = damage64(s, at, wrong, RULES_ONLY, "a directory entry with right sums");
        T_EQ(o.status, LEAT_E_DOCUMENTS);
        T_CONTAINS(o.err.message, t_text(": entry %" PRIu64 " of its directory", cell));
        T_EQ(o.err.offset, at);
    }
}

static void damage_origin(struct subject *s, uint64_t document)
{
    uint64_t at = craft_place(&s->files, CRAFT_ORIGINS) + 16 * document;
    struct outcome o = damage64(s, at + 8, 2, 0, "an origin");

    T_EQ(o.status, LEAT_E_CHECKSUM);
    T_CONTAINS(o.err.message, "the origins section of ");
    o = damage64(s, at + 8, 2, RULES_ONLY, "an origin with right sums");
    T_EQ(o.status, LEAT_E_RECORD);
    T_CONTAINS(o.err.message,
               t_text(": the origin of document %" PRIu64 " names an input that does not exist", document));
    T_EQ(o.err.offset, at);
}

/* An origin before the previous one: what shows only beside that one. */
static void damage_order(struct subject *s, uint64_t document)
{
    uint64_t at = craft_place(&s->files, CRAFT_ORIGINS) + 16 * document;
    struct outcome o = damage64(s, at, document - 2, RULES_ONLY, "the order of origins");

    T_EQ(o.status, LEAT_E_RECORD);
    T_CONTAINS(o.err.message, t_text(": the origin of document %" PRIu64 " lies before the previous one", document));
    T_EQ(o.err.offset, at);
}

/* ---- One dataset ---- */

/* `all`: every kind of damage at several places, else one of each kind. */
static void damage_at_border(struct subject *s, uint64_t border, int all)
{
    uint64_t offset = border * TASK_BYTES, cell = offset / CELL_BYTES, token = border * task_tokens(s);
    uint64_t before = document_of(s, token - 1), after = document_of(s, token);
    static const int64_t places[] = { -1, 0, -65536, -4097, -4096, 4095, 4096, 65536 };

    for (size_t i = 0; i < (all ? sizeof places / sizeof places[0] : 2); i++)
        damage_tokens(s, offset + (uint64_t)places[i]);
    damage_entry(s, cell, all);
    damage_start(s, after, all);
    damage_origin(s, after);
    damage_id(s, token);
    if (s->end != LEAT_NONE)
        damage_end_token(s, before);
    if (s->begin != LEAT_NONE) {
        damage_begin_token(s, after);
        damage_begin_token(s, document_of(s, token + PIECE_BYTES / s->width));
        damage_begin_token(s, document_of(s, token - PIECE_BYTES / s->width));
    }
    if (!all)
        return;
    damage_entry(s, cell - 1, 0);
    damage_entry(s, cell + 1, 0);
    damage_start(s, before, 0);
    damage_start(s, after + 1, 0);
    damage_id(s, token - 1);
    if (s->end != LEAT_NONE) {
        damage_end_token(s, after > 0 ? after - 1 : 0);
        damage_end_token(s, after);
    }
    if (s->begin != LEAT_NONE)
        damage_begin_token(s, before);
}

/* Where one piece of a section ends and the next begins. */
static void damage_sections(struct subject *s)
{
    uint64_t starts = TASK_BYTES / 8, origins = TASK_BYTES / 16;

    for (uint64_t i = starts - 1; i <= starts && i < s->documents; i++)
        damage_start(s, i, 0);
    for (uint64_t i = origins - 1; i <= origins && i < s->documents; i++) {
        damage_origin(s, i);
        damage_order(s, i);
    }
}

static void test(const char *name, uint64_t vocabulary, uint64_t end, uint64_t begin, void (*cuts)(struct subject *s))
{
    struct subject s = { .vocabulary = vocabulary, .end = end, .begin = begin, .width = vocabulary <= 65536 ? 2 : 4 };
    struct outcome o;
    uint64_t only;

    snprintf(s.name, sizeof s.name, "%s/%s", folder, name);
    s.room = 16;
    s.starts = calloc(s.room, sizeof *s.starts);
    cuts(&s);
    if (s.starts[s.documents] < token_count(&s))
        cut(&s, token_count(&s));
    write_subject(&s);
    o = verify(&s, "sound");
    T_EQ(o.status, LEAT_OK);
    T_EQ(o.report.damaged_pages + o.report.damaged_others, 0);
    T_EQ(o.report.bytes, s.files.index.count + s.files.tokens.count);
    /* at one of the borders, which each run draws; at all where the documents are short, and by make check-every */
    only = 1 + t_below(&drawn, BORDERS);
    for (uint64_t b = 1; b <= BORDERS && (!quick || cuts == cut_single_tokens); b++)
        if (b == only || cuts == cut_single_tokens || t_every())
            damage_at_border(&s, b, b == BORDERS && cuts == cut_single_tokens && !quick);
    damage_sections(&s);
    o = verify(&s, "sound again");
    T_EQ(o.status, LEAT_OK);
    close(s.index);
    close(s.tokens);
    craft_free(&s.files);
    free(s.starts);
    unlink(t_text("%s.tokens", s.name));
}

int main(void)
{
    const char *asked = getenv("LEAT_TEST_QUICK");

    quick = T_SANITIZED || (asked && asked[0]);
    drawn = t_draw();
    folder = t_disk_folder();
    test("single", 1000, 999, LEAT_NONE, cut_single_tokens);
    test("empty", 1000, LEAT_NONE, LEAT_NONE, cut_empty);
    if (!quick) {
        test("usual", 65535, LEAT_NONE, LEAT_NONE, cut_usual);
        test("before", 1000, 999, LEAT_NONE, cut_before);
        test("at", 1000, 999, 998, cut_at);
        test("after", 70000, 69999, LEAT_NONE, cut_after);
        test("long", 1000, 999, 998, cut_long);
    }
    return t_end();
}
