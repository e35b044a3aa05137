/*
 * test_other_runs.c: datasets, and files that parts of a run leave for each other, which do not belong together, are
 * refused by name, and nothing is written: of two runs, with other values or inputs, splits, masks or documents. So are
 * masks of begin and end tokens that leat cannot write, and records that no part wrote, whatever their sums say.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "arrange/shuffle_record.h"
#include "arrange/sorting/parcels.h"
#include "leat_pack.h"
#include "support/craft.h"
#include "t.h"

#define MANY ((uint64_t)1 << 61)

static const char *folder;

static const char *file(const char *name)
{
    static char paths[64][600]; /* more than any test keeps */
    static unsigned next;
    char *to = paths[next++ % 64];

    snprintf(to, sizeof paths[0], "%s/%s", folder, name);
    return to;
}

static void write_bytes(const char *name, const char *suffix, const struct craft_text *text)
{
    char path[640];
    FILE *f;

    snprintf(path, sizeof path, "%s%s", file(name), suffix);
    f = fopen(path, "wb");
    T_CHECK(f && fwrite(text->bytes, 1, text->count, f) == text->count && fclose(f) == 0);
}

static void write_crafted(struct craft *c, const char *name)
{
    craft_index(c);
    write_bytes(name, ".tokens", &c->tokens);
    write_bytes(name, ".leat", &c->index);
    craft_free(c);
}

/* What a dataset of `documents` documents says of itself; NULL: nothing. */
struct said {
    const char *by, *id, *share, *cut, *input;
    unsigned id_bytes, inputs, documents;
    int mask;
};

static void write_dataset(const char *name, const struct said *said)
{
    struct craft c;

    craft_begin(&c, 300, 256, LEAT_NONE);
    c.store_ids = said->id != NULL;
    c.store_hashes = 1;
    c.store_mask = said->mask;
    for (unsigned i = 0; i < said->inputs; i++)
        craft_input(&c, said->input ? said->input : "in.jsonl", 10, 0, 0);
    if (said->by)
        craft_pair(&c, "leat.by.ids", said->by);
    if (said->share)
        craft_pair(&c, "leat.part", said->share);
    if (said->cut)
        craft_pair(&c, "leat.part.cut", said->cut);
    for (unsigned i = 0; i < said->documents; i++) {
        uint8_t hash[16] = { 1, 2, 3 };
        struct leat_origin o = { LEAT_NONE, LEAT_NONE, LEAT_NONE, said->id, said->id ? said->id_bytes : 0, hash };

        craft_text_document(&c, "mill", &o);
    }
    write_crafted(&c, name);
}

static enum leat_status merge(const char *a, const char *b, int in_place)
{
    const char *parts[] = { file(a), file(b ? b : "") };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.in_place = (uint32_t)in_place;
    return leat_merge(file("never"), parts, b ? 2 : 1, &o, NULL, &t_err);
}

static void refuse(enum leat_status s, uint64_t files, enum leat_status status, const char *what)
{
    T_EQ(s, status);
    T_CONTAINS(t_err.message, what);
    T_EQ(t_files(folder), files);
}

/* ---- What is to be divided by values ---- */

static void test_values(void)
{
    const char *outputs[] = { file("made") };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    uint64_t files;

    write_dataset("lang", &(struct said) { .by = "lang", .id = "en\0id", .id_bytes = 5, .documents = 2 });
    write_dataset("site", &(struct said) { .by = "site", .id = "en\0id", .id_bytes = 5, .documents = 2 });
    write_dataset("none", &(struct said) { .id = "en\0id", .id_bytes = 5, .documents = 2 });
    write_dataset("bare", &(struct said) { .by = "lang", .id = "id", .id_bytes = 2, .documents = 2 });
    files = t_files(folder);
    refuse(merge("lang", "site", 0), files, LEAT_E_INCOMPATIBLE,
           "the documents of one are to be divided by \"lang\", those of the other by \"site\"");
    refuse(merge("lang", "none", 0), files, LEAT_E_INCOMPATIBLE, "by \"lang\", those of the other are not");
    refuse(merge("none", "site", 0), files, LEAT_E_INCOMPATIBLE, "by \"site\", those of the other are not");
    refuse(merge("bare", NULL, 0), files, LEAT_E_RECORD, "document 0 has no value to divide it by");
    refuse(merge("lang", NULL, 1), files, LEAT_E_UNSUPPORTED, "what is divided by lang cannot be joined in place");
    refuse(leat_part_counts(file("counts"), file("lang"), NULL, 1, 1, &o, &t_err), files, LEAT_E_ARGUMENT,
           "the documents of ");
    T_CONTAINS(t_err.message, "/lang are to be divided by values: merge all parts for that");
    refuse(leat_part_arrange(outputs, file("lang"), NULL, 1, 1, &o, NULL, &t_err), files, LEAT_E_ARGUMENT,
           "are to be divided by values: merge all parts for that");
}

/* An index beside the tokens of another tool, which says that it is all parts of a run. */
static void test_elsewhere(const char *tokens, uint64_t before, const char *what)
{
    struct craft c;
    uint64_t files;

    craft_begin(&c, 300, 256, LEAT_NONE);
    craft_elsewhere(&c, "before", before);
    memset(c.fingerprint, 1, sizeof c.fingerprint); /* without, it is to be adopted first */
    craft_token_file(&c, tokens);
    craft_pair(&c, "leat.part", "1/1");
    craft_text_document(&c, "water", NULL);
    craft_index(&c);
    write_bytes("beside", ".leat", &c.index);
    write_bytes(tokens, "", before ? &c.before : &c.tokens);
    if (before) {
        FILE *f = fopen(file(tokens), "ab");

        T_CHECK(f && fwrite(c.tokens.bytes, 1, c.tokens.count, f) == c.tokens.count && fclose(f) == 0);
    }
    craft_free(&c);
    files = t_files(folder);
    refuse(merge("beside", NULL, 1), files, LEAT_E_UNSUPPORTED, what);
    T_OK(merge("beside", NULL, 0));
    unlink(file("never.leat"));
    unlink(file("never.tokens"));
}

/* ---- Inputs of shares that were shuffled together ---- */

static void test_inputs(void)
{
    static const struct said shares[] = {
        { .share = "1/2", .cut = "all", .inputs = 2 },
        { .share = "2/2", .cut = "all", .inputs = 2 },
        { .share = "2/2", .cut = "all", .inputs = 1 },
        { .share = "2/2", .cut = "0", .inputs = 2 },
        { .share = "2/2", .cut = "all", .inputs = 2, .input = "other.jsonl" },
    };
    struct craft c;
    uint64_t files;

    for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++)
        write_dataset((const char *[]) { "one", "two", "fewer", "cut", "named" }[i], &shares[i]);
    craft_begin(&c, 300, 256, LEAT_NONE);
    c.store_hashes = 1;
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_pair(&c, "leat.part", "2/2");
    craft_pair(&c, "leat.part.cut", "all");
    c.parts[CRAFT_INPUT_PATHS].bytes[3] = '\0';
    write_crafted(&c, "zero");
    files = t_files(folder);
    refuse(merge("one", "fewer", 0), files, LEAT_E_INCOMPATIBLE, "/fewer list other inputs: they are of two runs");
    refuse(merge("one", "cut", 0), files, LEAT_E_INCOMPATIBLE, "/cut list other inputs: they are of two runs");
    refuse(merge("one", "named", 0), files, LEAT_E_INCOMPATIBLE, "/named list other inputs: they are of two runs");
    refuse(merge("one", "zero", 0), files, LEAT_E_UNSUPPORTED, "the path of one of its inputs holds a zero byte");
    T_OK(merge("one", "two", 0));
    unlink(file("never.leat"));
    unlink(file("never.tokens"));
}

/* ---- Masks ---- */

static void try_mask(unsigned token, uint8_t mask, bool empty)
{
    const char *part = file("masked");
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    struct craft c;
    uint64_t files;

    craft_begin(&c, 300, 299, 298);
    c.store_mask = 1;
    craft_text_document(&c, "water", NULL); /* tokens 0 to 6 */
    craft_text_document(&c, empty ? "" : "mill", NULL);
    c.parts[CRAFT_MASK].bytes[token] = mask;
    write_crafted(&c, "masked");
    files = t_files(folder);
    o.shuffle = 1;
    refuse(leat_merge(file("never"), &part, 1, &o, NULL, &t_err), files, LEAT_E_UNSUPPORTED,
           token < 7 ? "the mask of the begin or end token of document 0 is not that of the token next to it"
                     : "the mask of the begin or end token of document 1 is not that of the token next to it");
}

/* ---- Files of other parts ---- */

static void test_counts(void)
{
    static const struct leat_split one = { "a", "0.5" };
    struct leat_merge_options with = LEAT_MERGE_OPTIONS_INIT, without = LEAT_MERGE_OPTIONS_INIT;
    const char *counts[] = { file("counts-1"), file("counts-2") };
    uint64_t files;

    write_dataset("p1", &(struct said) { .share = "1/2", .documents = 3 });
    write_dataset("p2", &(struct said) { .share = "2/2", .documents = 4 });
    with.splits = &one;
    with.split_count = 1;
    with.shuffle = without.shuffle = 1;
    T_OK(leat_part_counts(counts[0], file("p1"), NULL, 2, 1, &with, &t_err));
    files = t_files(folder);
    refuse(leat_part_scatter(file("scattered-2"), file("p2"), counts, NULL, 2, 2, &without, &t_err), files,
           LEAT_E_MISMATCH, "/counts-1 is not of this run");
}

static void test_hashes(void)
{
    const char *parts[] = { file("p1"), file("p2") }, *hashes[] = { file("hashes-1"), file("hashes-2") };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT, wrong = o;
    uint64_t files;

    for (unsigned p = 0; p < 2; p++)
        T_OK(leat_part_hashes(hashes[p], parts[p], 2, &o, &t_err));
    parts[1] = file("p1");
    T_EQ(mkdir(file("list"), 0777), 0);
    for (unsigned i = 0; i < 2; i++)
        write_dataset(i ? "list/a" : "list/b", &(struct said) { .documents = 2 });
    wrong.size = 3;
    files = t_files(folder);
    refuse(leat_part_duplicates(file("same-1"), parts, hashes, 2, 1, &o, &t_err), files, LEAT_E_MISMATCH,
           "/p1 does not have the documents whose hashes are in ");
    refuse(leat_part_hashes(file("hashes"), file("list"), 2, &o, &t_err), files, LEAT_E_ARGUMENT,
           "/list is a list: the steps of a part are for one dataset each");
    refuse(leat_part_hashes(file("hashes"), file("p1"), 2, &wrong, &t_err), files, LEAT_E_ARGUMENT,
           "leat_merge_options");
    refuse(leat_part_duplicates(file("same-1"), parts, hashes, 2, 1, &wrong, &t_err), files, LEAT_E_ARGUMENT,
           "leat_merge_options");
}

static enum leat_status shuffle(const char *first, const char *second)
{
    const char *outputs[] = { file("never") }, *files[] = { file(first), file(second) };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.shuffle = 1;
    return leat_part_shuffle(outputs, files, 2, 1, &o, NULL, &t_err);
}

/* A file of parcels whose only record is this one; its sums are right. */
static void write_parcels(const char *name, const struct shuffle_record *r)
{
    struct parcels_writer w;
    uint64_t sizes[2] = { r ? sizeof *r : 0 };

    T_OK(parcels_begin(&w, file(name), sizes, 2, 1 << 20, &t_err));
    if (r)
        T_OK(parcels_put(&w, 0, r, sizeof *r, &t_err));
    T_OK(parcels_finish(&w, &t_err));
    parcels_end(&w);
}

static void test_scattered(void)
{
    static const struct shuffle_record records[] = {
        { .tokens = 1, .input = LEAT_NONE },
        { .tokens = MANY, .input = LEAT_NONE },
        { .id_bytes = 1, .input = LEAT_NONE },
        { .id_bytes = MANY, .input = LEAT_NONE },
        { .input = 1 },
    };
    const struct shuffle_record sound = { .input = 0 };
    uint64_t files;

    write_dataset("s1", &(struct said) { .share = "1/2", .cut = "0", .inputs = 1 });
    write_dataset("s2", &(struct said) { .share = "2/2", .cut = "0", .inputs = 1 });
    write_dataset("m2", &(struct said) { .share = "2/2", .cut = "0", .inputs = 1, .mask = 1 });
    write_dataset("s1of3", &(struct said) { .share = "1/3", .cut = "0", .inputs = 1 });
    write_dataset("s2of3", &(struct said) { .share = "2/3", .cut = "0", .inputs = 1 });
    write_parcels("s1", NULL);
    write_parcels("s2", NULL);
    files = t_files(folder);
    refuse(shuffle("s1of3", "s2of3"), files, LEAT_E_MISMATCH, "/s1of3 and the others are not of the parts of one run");
    refuse(shuffle("p1", "p2"), files, LEAT_E_MISMATCH, "/p1 and the others are not of the parts of one run");
    refuse(shuffle("s1", "m2"), files, LEAT_E_MISMATCH, "/s1 and the others store a mask: their parts cannot be");
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
        write_parcels("s2", &records[i]);
        refuse(shuffle("s1", "s2"), files, LEAT_E_CHECKSUM, "/s2");
    }
    write_parcels("s2", &sound);
    T_OK(shuffle("s1", "s2"));
}

int main(void)
{
    folder = t_folder();
    test_values();
    test_elsewhere("tokens.bin", 0,
                   "/beside cannot be joined in place: its tokens are in a file of another tool; merge");
    test_elsewhere("other.tokens", 6, "its token file has another size than its index says; merge without that");
    test_inputs();
    try_mask(0, 7, false);
    try_mask(6, 7, false);
    try_mask(7, 7, true);
    try_mask(8, 7, true);
    test_counts();
    test_hashes();
    test_scattered();
    return t_end();
}
