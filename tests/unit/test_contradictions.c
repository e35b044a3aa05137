/*
 * test_contradictions.c: an index whose checksums are right, and whose numbers contradict each other in a way that no
 * single read of it shows: asking is refused with a sentence, and verifying says so. Nothing is read from outside of a
 * section or a file.
 */
#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "support/craft.h"
#include "t.h"

#define CELL      32768u /* tokens of two bytes that one entry of the directory is of */
#define DOCUMENTS 3000u

/* Documents of ten tokens, with ids, and a last one of four cells. */
static void make(struct craft *c)
{
    static const uint32_t zeros[4 * CELL];
    struct leat_origin origin = { .input = LEAT_NONE, .line = LEAT_NONE, .id = "document", .id_bytes = 8 };

    craft_begin(c, 1000, LEAT_NONE, LEAT_NONE);
    c->store_ids = 1;
    for (unsigned i = 0; i < DOCUMENTS; i++)
        craft_document(c, zeros, 10, &origin);
    craft_document(c, zeros, 4 * CELL, &origin);
    craft_index(c);
}

/* Entry `number` of a section of numbers is another one. */
static void put(struct craft *c, uint32_t kind, uint64_t number, uint64_t value)
{
    craft_store64(c->index.bytes + craft_place(c, kind) + 8 * number, value);
}

/* Opens it with all checksums right, for the file is used until the dataset is closed. */
static struct leat_dataset *repaired(struct craft *c)
{
    struct leat_dataset *d;
    struct part part;

    craft_repair(c, CRAFT_REPAIR_ALL);
    T_OK(part_open_memory(&part, c->index.bytes, c->index.count, c->tokens.bytes, c->tokens.count, &t_err));
    T_OK(dataset_of_part(&d, &part, &t_err));
    return d;
}

static void end(struct craft *c, struct leat_dataset *d)
{
    leat_dataset_close(d);
    craft_free(c);
}

/* A token lies in a document that comes before that of an earlier token. */
static void test_documents_fall(void)
{
    struct craft c;
    struct leat_dataset *d;
    uint64_t document, documents;

    make(&c);
    put(&c, CRAFT_DIRECTORY, 2, 2);
    put(&c, CRAFT_DIRECTORY, 3, 3);
    put(&c, CRAFT_DOCUMENTS, 1, 2 * CELL);
    put(&c, CRAFT_DOCUMENTS, 2, 3 * CELL);
    put(&c, CRAFT_DOCUMENTS, 3, 3 * CELL);
    d = repaired(&c);
    T_REFUSED(leat_dataset_documents_in(d, 29000, 2 * CELL, &document, &documents, &t_err), LEAT_E_DOCUMENTS,
              "contradict each other");
    end(&c, d);
}

/* A start is less than the one before it, which verifying has fetched with those before. */
static void test_starts_fall(uint64_t number)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;
    struct craft c;

    make(&c);
    put(&c, CRAFT_DOCUMENTS, number, 10 * number - 11);
    d = repaired(&c);
    o.threads = 5000; /* more than there can be */
    T_STATUS(leat_dataset_verify(d, &o, NULL, &t_err), LEAT_E_DOCUMENTS);
    end(&c, d);
}

static void test_ids(void)
{
    struct leat_origin origins[10];
    struct leat_dataset *d;
    struct craft c;
    uint64_t bytes;

    make(&c);
    put(&c, CRAFT_ID_ENDS, 4, 100);
    put(&c, CRAFT_ID_ENDS, 5, 120);
    put(&c, CRAFT_ID_ENDS, 6, 10);
    put(&c, CRAFT_ID_ENDS, 7, 12);
    d = repaired(&c);
    T_REFUSED(leat_dataset_ids(d, 5, 3, NULL, 0, &bytes, &t_err), LEAT_E_RECORD, "its id ends before it starts");
    T_REFUSED(leat_dataset_origins(d, 0, 10, origins, &t_err), LEAT_E_RECORD, "its id is outside the ids");
    end(&c, d);
}

/* What all readers of a section or a file rely on. */
static void test_outside(void)
{
    struct leat_dataset *d;
    uint64_t size;
    struct craft c;
    uint8_t byte;

    make(&c);
    d = repaired(&c);
    size = d->parts[0].index->header.sections[FORMAT_IDS].bytes;
    T_OK(part_section(&d->parts[0], FORMAT_IDS, size - 1, &byte, 1, &t_err));
    T_REFUSED(part_section(&d->parts[0], FORMAT_IDS, size, &byte, 1, &t_err), LEAT_E_SECTION,
              "outside its ids section");
    T_STATUS(part_section(&d->parts[0], FORMAT_IDS, UINT64_MAX, &byte, 2, &t_err), LEAT_E_SECTION);
    T_STATUS(part_section(&d->parts[0], FORMAT_LINES, 0, &byte, 1, &t_err), LEAT_E_SECTION); /* it is not there */
    T_STATUS(file_map_read(d->parts[0].data.file, c.tokens.count, &byte, 1, &t_err), LEAT_E_RANGE);
    T_STATUS(file_map_read(d->parts[0].data.file, UINT64_MAX, &byte, 2, &t_err), LEAT_E_RANGE);
    end(&c, d);
}

int main(void)
{
    test_documents_fall();
    for (uint64_t number = 2; number < DOCUMENTS; number++)
        if (number < 10 || number % 512 < 2)
            test_starts_fall(number);
    test_ids();
    test_outside();
    return t_end();
}
