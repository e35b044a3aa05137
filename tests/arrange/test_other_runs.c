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
    return t_path(folder, name);
}

static void write_bytes(const char *name, const char *suffix, const struct craft_text *text)
{
    FILE *f;

    f = fopen(t_text("%s%s", file(name), suffix), "wb");
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
    const char *by, *id, *share;
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
    for (unsigned i = 0; i < said->documents; i++) {
        uint8_t hash[16] = { 1, 2, 3 };
        struct leat_origin o = { LEAT_NONE, LEAT_NONE, LEAT_NONE, said->id, said->id ? said->id_bytes : 0, hash };

        craft_text_document(&c, "mill", &o);
    }
    write_crafted(&c, name);
}

static enum leat_status merge(const char *a, const char *b)
{
    const char *parts[] = { file(a), file(b ? b : "") };

    return leat_merge(file("never"), parts, b ? 2 : 1, NULL, NULL, &t_err);
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
    refuse(merge("lang", "site"), files, LEAT_E_INCOMPATIBLE,
           "the documents of one are to be divided by \"lang\", those of the other by \"site\"");
    refuse(merge("lang", "none"), files, LEAT_E_INCOMPATIBLE, "by \"lang\", those of the other are not");
    refuse(merge("none", "site"), files, LEAT_E_INCOMPATIBLE, "by \"site\", those of the other are not");
    refuse(merge("bare", NULL), files, LEAT_E_RECORD, "document 0 has no value to divide it by");
}

/* ---- Inputs ---- */

static void test_inputs(void)
{
    struct craft c;
    uint64_t files;

    write_dataset("one", &(struct said) { .share = "1/2", .inputs = 2 });
    craft_begin(&c, 300, 256, LEAT_NONE);
    c.store_hashes = 1;
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_input(&c, "in.jsonl", 10, 0, 0);
    craft_pair(&c, "leat.part", "2/2");
    craft_pair(&c, "leat.part.cut", "1");
    c.parts[CRAFT_INPUT_PATHS].bytes[3] = '\0';
    write_crafted(&c, "zero");
    files = t_files(folder);
    refuse(merge("one", "zero"), files, LEAT_E_UNSUPPORTED, "the path of one of its inputs holds a zero byte");
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
    test_inputs();
    try_mask(0, 7, false);
    try_mask(6, 7, false);
    try_mask(7, 7, true);
    try_mask(8, 7, true);
    return t_end();
}
