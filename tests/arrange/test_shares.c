/*
 * test_shares.c: parts of one run (`leat pack --part I/N`) merged are byte by byte what the run over everything writes,
 * also when inputs are cut between parts, when some are joined first, and when they are shuffled, deduplicated or split
 * while they are merged. Parts that are missing, misplaced, twice or of another run are refused by name.
 */
#include "one_document.h"
#include "support/arranged.h"
#include "support/files.h"

#define VOCABULARY 300u
#define INPUTS     6u
#define RECORDS    700u
#define PARTS      9u

static const char *folder;

/* A corpus: records of inputs, each a document or a reject; a share of it is a range of records. */
static struct {
    struct record {
        unsigned input;
        uint64_t offset;
        int rejected;
    } records[RECORDS];
    const char *paths[INPUTS];
    uint64_t sizes[INPUTS];
    uint8_t page_hash[RECORDS][16]; /* as if each record began a page */
} corpus;

static void add128(uint8_t sum[16], const uint8_t more[16])
{
    unsigned carry = 0;

    for (unsigned i = 0; i < 16; i++) {
        carry += (unsigned)sum[i] + more[i];
        sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* Inputs 2 and 3 are the same file, named twice in a row; input 4 holds nothing but one record. */
static void make_corpus(uint64_t *random)
{
    static const unsigned begins[INPUTS + 1] = { 0, 300, 320, 420, 520, 521, RECORDS };
    static const char *const paths[INPUTS] = { "a.jsonl", "b.jsonl", "twice.jsonl", "twice.jsonl", "c", "d.jsonl" };

    for (unsigned i = 0; i < INPUTS; i++) {
        corpus.paths[i] = paths[i];
        corpus.sizes[i] = 10 * (begins[i + 1] - begins[i]);
        for (unsigned r = begins[i]; r < begins[i + 1]; r++) {
            corpus.records[r] = (struct record) { i, 10 * (r - begins[i]), t_below(random, 9) == 0 };
            for (unsigned k = 0; k < 16; k++)
                corpus.page_hash[r][k] = (uint8_t)t_random(random);
        }
    }
}

/* Whether a share that begins there begins inside an input. */
static const char *cut_at(unsigned from, unsigned to)
{
    return from > 0 && from < to && corpus.records[from].input == corpus.records[from - 1].input ? "1" : "0";
}

/* Records [from, to) as the run over them writes them. `share` may be NULL. */
static void write_range(const char *name, unsigned from, unsigned to, const char *share)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_input input = LEAT_INPUT_INIT;
    unsigned last = INPUTS;
    uint64_t number = 0;
    struct leat_writer *w;

    o.vocabulary = VOCABULARY;
    o.end_token = 7;
    o.store_lines = o.store_hashes = 1;
    o.force = 1;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    for (unsigned r = from; r < to; r++) {
        const struct record *record = &corpus.records[r];
        uint8_t hash[16] = { (uint8_t)(r % 150), 9, 9 };
        struct leat_origin origin = { .offset = record->offset, .line = r, .text_hash = hash };
        uint16_t ids[3] = { (uint16_t)(r % VOCABULARY), 1, 2 };

        memcpy(hash + 8, corpus.page_hash[r % 150], 8);
        if (record->input != last) {
            last = record->input;
            T_OK(leat_writer_add_input(w, corpus.paths[last], &number, &t_err));
            input = (struct leat_input)LEAT_INPUT_INIT;
            input.bytes = corpus.sizes[last];
        }
        input.rejects += (uint64_t)record->rejected;
        add128(input.hash, corpus.page_hash[r]);
        T_OK(leat_writer_set_input(w, number, &input, &t_err));
        origin.input = number;
        if (!record->rejected)
            T_OK(add_one_document(w, ids, 2, NULL, r % 4, &origin, &t_err));
    }
    T_OK(leat_writer_set_metadata(w, "options", "the same", &t_err));
    T_OK(leat_writer_set_metadata(w, "leat.part", share, &t_err));
    T_OK(leat_writer_set_metadata(w, "leat.part.cut", share ? cut_at(from, to) : NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static char names[PARTS + 4][600];

static const char *keep(unsigned slot, const char *name)
{
    snprintf(names[slot], sizeof names[0], "%s/%s", folder, name);
    return names[slot];
}

/* Part i of `of`, cut at these records. */
static void write_parts(const unsigned *cuts, unsigned of, const char **parts)
{
    for (unsigned i = 0; i < of; i++) {
        const char *name = t_text("part%u", i + 1);

        write_range(name, cuts[i], cuts[i + 1], t_text("%u/%u", i + 1, of));
        parts[i] = keep(i, name);
    }
}

static enum leat_status merge(const char *output, const char *const *parts, size_t count)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.force = 1;
    return leat_merge(t_path(folder, output), parts, count, &o, NULL, &t_err);
}

static void check_share(const char *name, const char *share)
{
    struct leat_metadata *m;
    struct leat_dataset *d;
    const char *value = "none";

    T_OK(leat_dataset_open(&d, t_path(folder, name), NULL, &t_err));
    T_OK(leat_dataset_metadata(d, 0, &m, &t_err));
    for (uint64_t i = 0; i < m->count; i++)
        if (strcmp(m->pairs[i].key, "leat.part") == 0)
            value = m->pairs[i].value;
    T_STR(value, share);
    leat_metadata_free(m);
    leat_dataset_close(d);
}

/* ---- Whole ---- */

/* Cuts at inputs' borders (300, 420 between the twins, 520, 521), within them, several in one, and parts of nothing. */
static void test_cuts(uint64_t *random)
{
    static const unsigned cuts[][PARTS + 1] = {
        { 0, 10, 20, 30, 299, 300, 301, 420, 521, RECORDS },
        { 0, 300, 320, 420, 520, 521, RECORDS, RECORDS, RECORDS, RECORDS },
        { 0, 0, 0, 310, 330, 400, 421, 519, 520, RECORDS },
        { 0, 1, 2, 321, 419, 420, 421, 522, 523, RECORDS },
    };

    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0] + 6; i++) {
        unsigned own[PARTS + 1] = { 0 };
        const char *parts[PARTS];

        for (unsigned k = 1; k < PARTS; k++)
            own[k] = own[k - 1] + (unsigned)t_below(random, (RECORDS - own[k - 1]) / 2);
        own[PARTS] = RECORDS;
        write_parts(i < sizeof cuts / sizeof cuts[0] ? cuts[i] : own, PARTS, parts);
        T_OK(merge("merged", parts, PARTS));
        T_CHECK(same_dataset(t_path(folder, "merged"), t_path(folder, "whole")));
        check_share("merged", "none");
    }
}

/* The first and last ones joined, then all; what is joined says which parts it holds. */
static void test_steps(void)
{
    static const unsigned cuts[] = { 0, 100, 200, 310, 450, RECORDS };
    const char *parts[5], *joined[3];

    write_parts(cuts, 5, parts);
    T_OK(merge("first", parts, 3));
    check_share("first", "1-3/5");
    T_OK(merge("middle", parts + 3, 1));
    check_share("middle", "4/5");
    joined[0] = keep(PARTS, "first");
    joined[1] = keep(PARTS + 1, "middle");
    joined[2] = parts[4];
    T_OK(merge("merged", joined, 3));
    T_CHECK(same_dataset(t_path(folder, "merged"), t_path(folder, "whole")));
    T_OK(merge("last", joined + 1, 2));
    check_share("last", "4-5/5");
    joined[1] = keep(PARTS + 2, "last");
    T_OK(merge("merged", joined, 2));
    T_CHECK(same_dataset(t_path(folder, "merged"), t_path(folder, "whole")));
    T_OK(merge("middle", parts + 1, 3));
    check_share("middle", "2-4/5");
    write_range("alone", 0, RECORDS, "1/1");
    joined[0] = keep(PARTS + 3, "alone");
    T_OK(merge("merged", joined, 1));
    T_CHECK(same_dataset(t_path(folder, "merged"), t_path(folder, "whole")));
}

/* Arranged while merged, or after: the same. */
static void test_arranged(void)
{
    static const unsigned cuts[] = { 0, 100, 200, 310, 450, RECORDS };
    static const struct leat_split splits[] = { { "valid", "0.25" } };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *parts[5], *whole = keep(PARTS, "whole");

    write_parts(cuts, 5, parts);
    o.force = 1;
    o.shuffle = o.dedup = 1;
    o.seed = 12;
    o.splits = splits;
    o.split_count = 1;
    T_OK(leat_merge(t_path(folder, "a"), parts, 5, &o, NULL, &t_err));
    T_OK(leat_merge(t_path(folder, "b"), &whole, 1, &o, NULL, &t_err));
    T_CHECK(same_dataset(t_path(folder, "a"), t_path(folder, "b")));
    T_CHECK(same_dataset(t_path(folder, "a.valid"), t_path(folder, "b.valid")));
}

/* In whatever order the parts are named. */
static void test_any_order(uint64_t *random)
{
    static const unsigned cuts[] = { 0, 100, 200, 310, 450, RECORDS };
    const char *parts[5], *last;

    write_parts(cuts, 5, parts);
    for (int i = 0; i < 8; i++) {
        for (size_t k = 5; i > 0 && k > 1; k--) {
            size_t other = (size_t)t_below(random, k);

            last = parts[k - 1];
            parts[k - 1] = parts[other];
            parts[other] = last;
        }
        T_OK(merge("merged", parts, 5));
        T_CHECK(same_dataset(t_path(folder, "merged"), t_path(folder, "whole")));
    }
}

/* ---- Refused ---- */

static void refuse(const char *const *parts, size_t count, const char *what)
{
    T_REFUSED(merge("never", parts, count), LEAT_E_INCOMPATIBLE, what);
}

static void test_refused(void)
{
    static const unsigned cuts[] = { 0, 100, 200, 310, 450, RECORDS };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *p[5], *some[5];

    write_parts(cuts, 5, p);
    refuse((const char *[]) { p[0], p[2] }, 2, "share 2/5 is missing between");
    refuse((const char *[]) { p[0], p[1], p[4] }, 3, "share 3/5 is missing between");
    refuse((const char *[]) { p[4], p[0], p[1] }, 3, "share 3/5 is missing between");
    refuse((const char *[]) { p[1], p[0], p[1] }, 3, "(share 2/5 of a run) is named twice: give each share once");
    T_OK(merge("1-2", p, 2));
    some[0] = keep(PARTS, "1-2");
    refuse((const char *[]) { p[1], some[0] }, 2, "(share 1-2/5 of a run) and ");
    refuse((const char *[]) { some[0], p[1] }, 2, "(share 2/5) overlap: give each share once");
    write_range("other", 0, 5, "3/6");
    write_range("none", 0, 5, NULL);
    write_range("text", 0, 5, "2 of 3");
    some[1] = keep(PARTS + 1, "other");
    refuse((const char *[]) { p[1], some[1] }, 2, "of another run");
    some[1] = keep(PARTS + 1, "none");
    refuse((const char *[]) { p[0], some[1] }, 2, "is not; merge the shares of the run");
    some[2] = keep(PARTS + 2, "text");
    T_OK(merge("text2", some + 1, 2)); /* metadata like any other */
    check_share("text2", "none");

    o.force = 1;
    o.shuffle = 1;
    T_REFUSED(leat_merge(t_path(folder, "never"), p, 3, &o, NULL, &t_err), LEAT_E_INCOMPATIBLE,
              "only share 1-3/5 of a run, and shuffling needs all shares");
    o.shuffle = 0;
    o.dedup = 1;
    T_REFUSED(leat_merge(t_path(folder, "never"), p, 3, &o, NULL, &t_err), LEAT_E_INCOMPATIBLE,
              "deduplication needs all shares");
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    make_corpus(&random);
    write_range("whole", 0, RECORDS, NULL);
    test_cuts(&random);
    test_steps();
    test_any_order(&random);
    test_arranged();
    test_refused();
    return t_end();
}
