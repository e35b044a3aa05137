/*
 * test_mask.c: masks of tokens: what is put comes back, for one document after another, for documents that several
 * calls place, in chunks and across a checkpoint, with begin and end token; datasets without a mask have 255, also in
 * one list with others; a damaged page is an error where it is read; the identity depends on the mask.
 */
#include "one_document.h"
#include "private.h"
#include "t.h"

#define MOST 20000u

static const char *folder;
static uint8_t want[MOST];
static uint64_t wanted;
static uint32_t ids[MOST];

static void expect(uint8_t byte)
{
    want[wanted++] = byte;
}

static void expect_document(const uint8_t *mask, uint64_t count)
{
    expect(mask && count > 0 ? mask[0] : 255);
    for (uint64_t i = 0; i < count; i++)
        expect(mask ? mask[i] : 255);
    expect(mask && count > 0 ? mask[count - 1] : 255);
}

static struct leat_writer_options options_of(uint32_t store_mask)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 1000;
    o.end_token = 999;
    o.begin_token = 998;
    o.store_mask = store_mask;
    return o;
}

static void put_together(struct leat_writer *w, const uint8_t *mask)
{
    const uint64_t lengths[] = { 3, 0, 5000, 1 };
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_place place;

    d.ids = ids;
    d.id_width = 4;
    d.lengths = lengths;
    d.count = 4;
    d.mask = mask;
    T_OK(leat_writer_place(w, &d, &place, &t_err));
    T_OK(leat_writer_put(w, &d, &place, &t_err));
    for (unsigned i = 0; i < 4; i++) {
        expect_document(mask, lengths[i]);
        if (mask)
            mask += lengths[i];
    }
}

static void write_masked(const char *name, uint64_t *random)
{
    struct leat_writer_options o = options_of(1);
    uint8_t *mask = malloc(MOST);
    struct leat_writer *w;

    wanted = 0;
    for (unsigned i = 0; i < MOST; i++)
        mask[i] = (uint8_t)t_below(random, 3);
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    for (uint64_t count = 0; count < 40; count++) {
        T_OK(add_one_document(w, ids, 4, mask + count, count, NULL, &t_err));
        expect_document(mask + count, count);
    }
    put_together(w, mask + 7);
    T_OK(leat_writer_checkpoint(w, NULL, 0, &t_err));
    T_OK(add_one_document(w, ids, 4, NULL, 100, NULL, &t_err));
    leat_writer_suspend(w);
    o.store_mask = 0;
    T_REFUSED(leat_writer_resume(&w, name, &o, NULL, NULL, &t_err), LEAT_E_CHECKPOINT, "mask");
    o.store_mask = 1;
    T_OK(leat_writer_resume(&w, name, &o, NULL, NULL, &t_err));
    put_together(w, NULL);
    T_OK(leat_writer_append(w, ids, 4, NULL, 10, &t_err));
    T_OK(leat_writer_append(w, ids, 4, NULL, 4, &t_err));
    T_OK(leat_writer_end_document(w, NULL, &t_err));
    T_OK(leat_writer_end_document(w, NULL, &t_err));
    expect_document(NULL, 14);
    expect_document(NULL, 0);
    T_REFUSED(add_one_document(w, ids, 3, mask, 1, NULL, &t_err), LEAT_E_ARGUMENT, "ids have 2 or 4 bytes, not 3");
    t_err.message[0] = '\0';
    T_REFUSED(leat_writer_append(w, ids, 3, mask, 1, &t_err), LEAT_E_ARGUMENT, "ids have 2 or 4 bytes, not 3");
    T_OK(leat_writer_finish(w, NULL, &t_err));
    free(mask);
}

static void write_plain(const char *name)
{
    struct leat_writer_options o = options_of(0);
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_place place;
    struct leat_writer *w;
    const uint64_t length = 1;
    const uint8_t mask = 0;

    T_OK(leat_writer_open(&w, name, &o, &t_err));
    T_STATUS(add_one_document(w, ids, 4, &mask, 1, NULL, &t_err), LEAT_E_ARGUMENT);
    t_err.message[0] = '\0';
    T_REFUSED(leat_writer_append(w, ids, 4, &mask, 1, &t_err), LEAT_E_ARGUMENT, "a mask, but this dataset stores none");
    d.ids = ids;
    d.id_width = 4;
    d.lengths = &length;
    d.count = 1;
    d.mask = &mask;
    T_REFUSED(leat_writer_place(w, &d, &place, &t_err), LEAT_E_ARGUMENT, "stores none");
    T_OK(add_one_document(w, ids, 4, NULL, 5000, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Every start with lengths up to two pages, in steps. */
static void compare(const struct leat_dataset *d, uint64_t tokens)
{
    static uint8_t got[MOST];

    for (uint64_t first = 0; first <= tokens; first += 1 + first / 7)
        for (uint64_t count = 0; count <= tokens - first; count = 2 * count + 1) {
            T_OK(leat_dataset_mask(d, first, count, got, &t_err));
            T_CHECK(memcmp(got, want + first, count) == 0);
        }
    T_STATUS(leat_dataset_mask(d, tokens, 1, got, &t_err), LEAT_E_RANGE);
}

static struct leat_info info_of(const struct leat_dataset *d)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(d, &info);
    return info;
}

static void test_list(const char *masked, const char *plain)
{
    const char *const names[] = { masked, plain };
    struct leat_dataset *d;

    T_OK(leat_dataset_open_list(&d, names, 2, NULL, &t_err));
    T_EQ(info_of(d).stores_mask, 1);
    T_EQ(info_of(d).tokens, wanted + 5002);
    memset(want + wanted, 255, 5002);
    compare(d, wanted + 5002);
    leat_dataset_close(d);
}

static void test_damage(const char *name)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_dataset *d;
    uint8_t got[10];
    uint64_t size;
    FILE *f;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    leat_dataset_close(d);
    f = fopen(t_text("%s.leat", name), "r+b");
    fseek(f, 0, SEEK_END);
    size = (uint64_t)ftell(f);
    /* the mask's pages end the file; the last bytes before them are the mask's */
    fseek(f, (long)(size - 4 * ((wanted + 4095) / 4096) - 70), SEEK_SET);
    fputc(77, f);
    fclose(f);
    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    T_OK(leat_dataset_mask(d, 0, 10, got, &t_err));
    T_REFUSED(leat_dataset_mask(d, wanted - 10, 10, got, &t_err), LEAT_E_CHECKSUM, "mask of tokens");
    T_REFUSED(leat_dataset_verify(d, NULL, &report, &t_err), LEAT_E_CHECKSUM, "mask section");
    leat_dataset_close(d);
}

int main(void)
{
    uint64_t random = t_seed();
    char masked[700], plain[700], other[700];
    struct leat_dataset *d, *e;

    folder = t_folder();
    snprintf(masked, sizeof masked, "%s/masked", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(plain, sizeof plain, "%s/plain", folder);
    for (unsigned i = 0; i < MOST; i++)
        ids[i] = i % 900;
    write_masked(other, &random);
    write_masked(masked, &random);
    write_plain(plain);
    T_OK(leat_dataset_open(&d, masked, NULL, &t_err));
    T_OK(leat_dataset_open(&e, other, NULL, &t_err));
    T_EQ(info_of(d).stores_mask, 1);
    T_EQ(info_of(d).tokens, wanted);
    T_EQ(info_of(e).tokens, wanted);
    T_CHECK(memcmp(info_of(d).identity, info_of(e).identity, 16) != 0);
    compare(d, wanted);
    leat_dataset_close(d);
    leat_dataset_close(e);
    T_OK(leat_dataset_open(&d, plain, NULL, &t_err));
    T_EQ(info_of(d).stores_mask, 0);
    leat_dataset_close(d);
    test_list(masked, plain);
    test_damage(masked);
    return t_end();
}
