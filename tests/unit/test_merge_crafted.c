/*
 * test_merge_crafted.c: leat_merge() of parts that the writer would not have written: documents without their begin or
 * end token, and zero bytes in paths and metadata, are refused with a sentence, and nothing is left behind.
 */
#include "merge_parts.h"
#include "support/craft.h"

/* As it was crafted, with one byte of its tokens or of a section changed. */
static void write_crafted(struct craft *c, uint8_t *byte, uint8_t value)
{
    *byte = value;
    craft_repair(c, CRAFT_REPAIR_ALL);
    t_write(t_path(folder, "crafted.tokens"), c->tokens.bytes, c->tokens.count);
    t_write(t_path(folder, "crafted.leat"), c->index.bytes, c->index.count);
}

static void refuse_crafted(enum leat_status status, const char *what)
{
    static const char *const names[] = { "crafted" };
    struct leat_merge_options shuffle = LEAT_MERGE_OPTIONS_INIT;
    uint64_t files = t_files(folder);

    shuffle.shuffle = 1;
    for (int i = 0; i < 2; i++) {
        T_REFUSED(merge("never", names, 1, i ? &shuffle : NULL, NULL), status, what);
        T_CONTAINS(t_err.message, "/crafted");
    }
    T_EQ(t_files(folder), files);
}

/* One that were passed over as if it were there would take a token of the text with it. */
static void test_lost_tokens(void)
{
    static const char lost[] = "lacks its begin or end token";
    struct craft c;
    uint8_t *starts;

    craft_begin(&c, 300, 299, 298);
    craft_text_document(&c, "water", NULL); /* tokens 0 to 6 */
    craft_text_document(&c, "mill", NULL);  /* 7 to 12 */
    craft_index(&c);
    write_crafted(&c, c.tokens.bytes, c.tokens.bytes[0]);
    T_OK(merge("uncrafted", (const char *const[]) { "crafted" }, 1, NULL, NULL));
    write_crafted(&c, &c.tokens.bytes[2 * 7], 'x'); /* 298 is 0x12a: now 0x178 */
    refuse_crafted(LEAT_E_TOKEN, lost);
    T_CONTAINS(t_err.message, "at token 7 ");
    write_crafted(&c, &c.tokens.bytes[2 * 7], 298 & 0xff);
    write_crafted(&c, &c.tokens.bytes[2 * 6], 'x');
    refuse_crafted(LEAT_E_TOKEN, lost);
    write_crafted(&c, &c.tokens.bytes[2 * 6], 299 & 0xff);
    starts = c.index.bytes + craft_place(&c, CRAFT_DOCUMENTS);
    write_crafted(&c, starts + 8, 1); /* the first document has one token: too few for both */
    refuse_crafted(LEAT_E_TOKEN, lost);
    T_CONTAINS(t_err.message, "at token 0 ");
    craft_free(&c);
}

static void test_zero_bytes(void)
{
    struct craft c;

    craft_begin(&c, 300, 299, LEAT_NONE);
    craft_input(&c, "mill.txt", 13, 0, 0);
    craft_pair(&c, "key", "value");
    craft_text_document(&c, "water", NULL);
    craft_index(&c);
    write_crafted(&c, &c.index.bytes[craft_place(&c, CRAFT_INPUT_PATHS) + 4], '\0');
    refuse_crafted(LEAT_E_UNSUPPORTED, "cannot be merged: the path of one of its inputs holds a zero byte");
    write_crafted(&c, &c.index.bytes[craft_place(&c, CRAFT_INPUT_PATHS) + 4], '.');
    for (uint64_t at = 16; at < 24; at++) { /* behind two lengths, the key, then the value */
        uint8_t *byte = &c.index.bytes[craft_place(&c, CRAFT_METADATA) + at], was = *byte;

        write_crafted(&c, byte, '\0');
        refuse_crafted(LEAT_E_UNSUPPORTED, "cannot be merged: its metadata hold a zero byte");
        *byte = was;
    }
    craft_free(&c);
}

int main(void)
{
    folder = t_folder();
    test_lost_tokens();
    test_zero_bytes();
    return t_end();
}
