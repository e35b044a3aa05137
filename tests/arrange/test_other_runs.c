/*
 * test_other_runs.c: datasets that do not belong together are refused by name, and nothing is written: of two runs,
 * with other values or inputs. So are masks of begin and end tokens that leat cannot write.
 */
#include "leat_pack.h"
#include "support/craft.h"
#include "t.h"

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
    const char *by, *id, *share, *cut;
    unsigned id_bytes, inputs, documents;
};

static void write_dataset(const char *name, const struct said *said)
{
    struct craft c;

    craft_begin(&c, 300, 256, LEAT_NONE);
    c.store_ids = said->id != NULL;
    c.store_hashes = 1;
    for (unsigned i = 0; i < said->inputs; i++)
        craft_input(&c, "in.jsonl", 10, 0, 0);
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

/* ---- Inputs ---- */

static void test_inputs(void)
{
    struct craft c;
    uint64_t files;

    write_dataset("one", &(struct said) { .share = "1/2", .cut = "0", .inputs = 2 });
    write_dataset("all", &(struct said) { .share = "2/2", .cut = "all", .inputs = 2 });
    craft_begin(&c, 300, 256, LEAT_NONE);
    c.store_hashes = 1;
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_pair(&c, "leat.part", "2/2");
    craft_pair(&c, "leat.part.cut", "1");
    c.parts[CRAFT_INPUT_PATHS].bytes[3] = '\0';
    write_crafted(&c, "zero");
    files = t_files(folder);
    refuse(merge("one", "all", 0), files, LEAT_E_INCOMPATIBLE, "/all was shuffled together with the other parts");
    refuse(merge("one", "zero", 0), files, LEAT_E_UNSUPPORTED, "the path of one of its inputs holds a zero byte");
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
    return t_end();
}
