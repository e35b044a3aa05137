/* golden_contents.h: what is in the datasets of golden.h, for golden.c alone: the contents of the valid ones, and those
 * that an invalid one has besides its defect. */
#ifndef LEAT_TESTS_GOLDEN_CONTENTS_H
#define LEAT_TESTS_GOLDEN_CONTENTS_H

#include <stdlib.h>

#include "craft.h"

static void no_documents(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
}

static void text_u16(struct craft *c)
{
    struct leat_origin first = { .input = 0, .offset = 0 }, second = { .input = 0, .offset = 6 };

    craft_begin(c, 257, 256, LEAT_NONE);
    craft_tokenizer(c, "bytes", "", NULL);
    craft_input(c, "mill.txt", 13, 0, 0);
    craft_text_document(c, "water", &first);
    craft_text_document(c, "stones", &second);
}

static void wide_u32(struct craft *c)
{
    static const uint32_t ids[] = { 0, 69998, 65535, 65536, 69999 };

    craft_begin(c, 70000, 69999, LEAT_NONE);
    craft_document(c, ids, 5, NULL);
    craft_document(c, ids + 2, 2, NULL);
}

/* The largest vocabulary of each width: nothing to check of the ids. */
static void full_u16(struct craft *c)
{
    static const uint32_t ids[] = { 0, 65535, 65534 };

    craft_begin(c, 65536, LEAT_NONE, LEAT_NONE);
    craft_document(c, ids, 3, NULL);
}

static void full_u32(struct craft *c)
{
    static const uint32_t ids[] = { 0, UINT32_MAX, 65536 };

    craft_begin(c, (uint64_t)1 << 32, LEAT_NONE, LEAT_NONE);
    craft_document(c, ids, 3, NULL);
}

/* At the begin, between and at the end; no end token, so that they have no token at all. */
static void empty_documents(struct craft *c)
{
    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    for (int i = 0; i < 12; i++)
        craft_text_document(c, i == 2 ? "water" : i == 3 ? "wheel" : i == 7 ? "!" : "", NULL);
}

static void only_empty_documents(struct craft *c)
{
    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    for (int i = 0; i < 3; i++)
        craft_document(c, NULL, 0, NULL);
}

static uint32_t mixed(uint32_t i, uint32_t limit)
{
    return (uint32_t)((i * (uint64_t)2654435761u >> 7) % limit);
}

static void long_document(struct craft *c, uint32_t count, uint32_t limit, const struct leat_origin *origin)
{
    uint32_t *ids = malloc(count * sizeof *ids);

    for (uint32_t i = 0; i < count; i++)
        ids[i] = mixed(i, limit);
    craft_document(c, ids, count, origin);
    free(ids);
}

static void one_long_document(struct craft *c)
{
    craft_begin(c, 50000, LEAT_NONE, LEAT_NONE);
    long_document(c, 7 * 2048 + 5, 50000, NULL);
}

/* More than a chunk of the directory, documents that end at its edge, and chunks in which none begins. */
static void chunks_u16(struct craft *c)
{
    craft_begin(c, 100, 99, LEAT_NONE);
    long_document(c, 32767, 1, NULL); /* with its end token exactly a chunk */
    craft_document(c, NULL, 0, NULL);
    long_document(c, 32800, 1, NULL);
    craft_document(c, NULL, 0, NULL);
}

static void two_chunks(struct craft *c)
{
    craft_begin(c, 100, 99, LEAT_NONE);
    long_document(c, 32767, 1, NULL);
    craft_document(c, NULL, 0, NULL);
}

static void everything(struct craft *c, uint64_t vocabulary)
{
    struct leat_origin a = { .input = 0, .offset = 0, .line = 1, .id = "a", .id_bytes = 1 };
    struct leat_origin b = { .input = 0, .offset = 21, .line = 2 };
    struct leat_origin e = { .input = 1, .offset = 7, .line = LEAT_NONE, .id = "b7", .id_bytes = 2 };

    craft_begin(c, vocabulary, vocabulary - 1, vocabulary - 2);
    c->store_lines = c->store_ids = 1;
    c->created = 1700000000;
    craft_tokenizer(c, "t.json", "gpt2", "{\"a\":1}");
    craft_input(c, "in/a.jsonl", 40, 0, 0);
    craft_input(c, "in/b.jsonl.zst", 33, 2, 0x5a);
    craft_pair(c, "a", "");
    craft_pair(c, "b", "two\nlines");
    craft_text_document(c, "leat", &a);
    craft_text_document(c, "", &b);
    craft_text_document(c, "mill", &e);
    craft_text_document(c, "stream", NULL);
}

static void everything_u16(struct craft *c)
{
    everything(c, 300);
}

static void everything_u32(struct craft *c)
{
    everything(c, 100277);
}

/* Hashes of texts: one of a document that has none, and between sections that no version-1 reader knows. */
static void text_hashes(struct craft *c)
{
    static const uint8_t one[16] = { 1, 2, 3, 0xff }, two[16] = { [15] = 0x80 };
    struct leat_origin o = { .input = 0, .line = LEAT_NONE, .text_hash = one };

    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_hashes = 1;
    craft_input(c, "a.jsonl", 70, 0, 0);
    craft_text_document(c, "leat", &o);
    o.offset = 20;
    craft_text_document(c, "leat", &o);
    craft_text_document(c, "from nowhere", NULL);
    o.offset = 40;
    o.text_hash = two;
    craft_text_document(c, "mill", &o);
}

static void text_hashes_among_unknown(struct craft *c)
{
    text_hashes(c);
    craft_other(c, CRAFT_COLUMN, 0, "column", 6);
    craft_other(c, CRAFT_COLUMN, 0, "column 2", 8);
    craft_other(c, 14, 0, "next", 4);
}

static void text_hashes_of_nothing(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_hashes = 1;
}

/* Of one document, some ids are to be learned; of the others all, and of one without ids. More than a page in all. */
static void mask(struct craft *c)
{
    static const uint8_t some[4] = { 0, 1, 255, 0 };
    static uint8_t many[5000];
    static uint32_t ids[5000];

    for (unsigned i = 0; i < 5000; i++) {
        ids[i] = i % 256;
        many[i] = (uint8_t)(i % 3);
    }
    craft_begin(c, 300, 299, 298);
    c->store_mask = 1;
    c->mask = some;
    craft_text_document(c, "leat", NULL);
    craft_text_document(c, "mill", NULL);
    craft_text_document(c, "", NULL);
    c->mask = many;
    craft_document(c, ids, 5000, NULL);
}

static void mask_of_nothing(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_mask = 1;
}

static void without_mask(struct craft *c)
{
    mask(c);
    c->without = 1u << CRAFT_MASK;
}

/* Origins that fall: the ordered flag is not set. */
static void shuffled(struct craft *c)
{
    struct leat_origin o = { .input = 1, .offset = 30 };

    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    craft_input(c, "a", 0, 0, 0);
    craft_input(c, "b", 0, 0, 0);
    craft_text_document(c, "one", &o);
    o.offset = 10;
    craft_text_document(c, "two", &o);
    o = (struct leat_origin) { .input = 0, .offset = 20 };
    craft_text_document(c, "three", &o);
}

/* What a later version may add without harm. */
static void unknown_ignorable(struct craft *c)
{
    text_u16(c);
    c->ignorable = (uint64_t)1 << 63 | 1;
    craft_other(c, CRAFT_COLUMN, 0, "column", 6);
    craft_other(c, CRAFT_COLUMN, 0, "", 0);
    craft_other(c, 77, 4, "what is this?", 13);
}

/* In a file of llm.c. */
static void elsewhere(struct craft *c)
{
    static const uint32_t header[256] = { 20240520, 1, 2600 };
    uint8_t before[sizeof header];

    craft_begin(c, 50257, 50256, LEAT_NONE);
    for (unsigned i = 0; i < 256; i++)
        craft_store32(before + 4 * i, header[i]);
    craft_elsewhere(c, before, sizeof before);
    long_document(c, 2500, 50256, NULL);
    craft_text_document(c, "stream", NULL);
    long_document(c, 91, 50256, NULL);
}

static void elsewhere_without_section(struct craft *c)
{
    elsewhere(c);
    c->without = 1u << CRAFT_TOKEN_FILE;
}

static void three_pages(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    long_document(c, 3000, 299, NULL);
    long_document(c, 1200, 299, NULL);
    long_document(c, 99, 299, NULL);
}

static void without_origins(struct craft *c)
{
    everything_u16(c);
    c->without = 1u << CRAFT_ORIGINS;
}

static void without_id_ends(struct craft *c)
{
    everything_u16(c);
    c->without = 1u << CRAFT_ID_ENDS;
}

/* A patch's place: the header or, later in the table, a section's bytes or its entry in the section table. */

#endif
