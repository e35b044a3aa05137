/*
 * fuzz_fit.c: plans of rows of whole documents that find a hostile NAME.fit.
 *
 * The side file is that of a dataset of 700 documents. The first byte says how it is repaired after each further pair
 * of two bytes and one has changed a byte of it, or after it was cut: the hashes of the list's pages, and then that of
 * the head. Without repairs, a plan shows the rows that it shows without the file and finds the same samples of a
 * document, or it fails: never other rows. With repairs the file may say anything, and whatever a plan makes of it
 * stays inside the dataset.
 */
#include "base/bytes.h"
#include "files.h"
#include "fit/fit_side.h"
#include "one_document.h"
#include "pieces_of.h"

/* The first byte. */
enum { CUT = 1, REPAIR_HEAD = 2, REPAIR_PAGES = 4 };

#define DOCUMENTS 700u
#define LENGTH    24u
#define TOKENS    6000u
#define ROOM      16384u
#define TRACED    40u

static uint8_t side[ROOM];
static size_t side_size;
static uint64_t list; /* where the list begins */
static struct leat_dataset *dataset;
static struct leat_plan *right; /* without the file */
static uint64_t samples;

static struct leat_plan *open_plan(void)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan = NULL;
    struct leat_error err;

    source.name = "data";
    source.dataset = dataset;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = LENGTH;
    o.epochs = 1;
    o.order = LEAT_ORDER_FIT;
    return leat_plan_open(&plan, &o, &err) == LEAT_OK ? plan : NULL;
}

static void write_dataset(const char *name)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    struct leat_error err;
    uint16_t ids[90] = { 0 };
    uint64_t state = 7;

    options.vocabulary = 10;
    FUZZ_CHECK(leat_writer_open(&w, name, &options, &err) == LEAT_OK);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        uint64_t count = i % 70 == 69 ? 40 + fuzz_up_to(&state, 40) : fuzz_up_to(&state, 9);

        FUZZ_CHECK(add_one_document(w, ids, 2, NULL, count, NULL, &err) == LEAT_OK);
    }
    FUZZ_CHECK(leat_writer_finish(w, NULL, &err) == LEAT_OK);
}

static void begin(void)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_error err;
    FILE *f;

    write_dataset(files_path("data"));
    FUZZ_CHECK(leat_dataset_open(&dataset, files_path("data"), NULL, &err) == LEAT_OK);
    right = open_plan();
    FUZZ_CHECK(right != NULL);
    leat_plan_info(right, &info);
    samples = info.samples;
    FUZZ_CHECK(leat_dataset_fit(dataset, NULL, &err) == LEAT_OK);
    f = fopen(files_path("data.fit"), "rb");
    side_size = f ? fread(side, 1, ROOM, f) : 0;
    FUZZ_CHECK(f && side_size > 0 && side_size < ROOM);
    fclose(f);
    list = fit_side_head_bytes(DOCUMENTS, bytes_load64(side + 48));
}

/* Returns its size. */
static size_t change(struct fuzz_bytes *in, uint8_t repairs, uint8_t *changed)
{
    size_t size = repairs & CUT ? fuzz_u16(in) % (side_size + 1) : side_size;

    memcpy(changed, side, side_size);
    while (in->left >= 3) {
        size_t at = fuzz_u16(in) % side_size;

        changed[at] ^= fuzz_u8(in);
    }
    if (repairs & REPAIR_PAGES)
        fit_side_hash(changed + list - 8 * fit_side_pages(DOCUMENTS), changed + list, 4 * DOCUMENTS);
    if (repairs & (REPAIR_HEAD | REPAIR_PAGES))
        fit_side_seal(changed, list);
    return size;
}

static void look_at_rows(const struct leat_plan *plan, int any)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_piece pieces[LENGTH], wanted[LENGTH];
    struct leat_error err;
    uint64_t count, wanted_count;

    leat_plan_info(plan, &info);
    FUZZ_CHECK(any || info.samples == samples);
    for (uint64_t n = 0; n < info.samples; n++) {
        enum leat_status s = pieces_of(plan, n, pieces, LENGTH, &count, &err);

        FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_DOCUMENTS || (any && s == LEAT_E_RANGE));
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
            FUZZ_CHECK(pieces[i].count <= LENGTH + 1 && pieces[i].token < TOKENS &&
                       pieces[i].token + pieces[i].count <= TOKENS);
        if (any || s != LEAT_OK)
            continue;
        FUZZ_CHECK(pieces_of(right, n, wanted, LENGTH, &wanted_count, &err) == LEAT_OK);
        FUZZ_CHECK(count == wanted_count && memcmp(pieces, wanted, count * sizeof pieces[0]) == 0);
    }
}

struct found {
    uint64_t numbers[TRACED], count;
};

static uint32_t on_sample(void *context, const struct leat_sample *sample)
{
    struct found *found = context;

    if (found->count < TRACED)
        found->numbers[found->count++] = sample->number;
    return 0;
}

static void look_back(const struct leat_plan *plan, int any)
{
    struct leat_error err;

    for (uint64_t document = 3; document < DOCUMENTS; document += 97) {
        struct found found = { .count = 0 }, wanted = { .count = 0 };
        uint64_t start;

        FUZZ_CHECK(leat_dataset_starts(dataset, document, 1, &start, &err) == LEAT_OK);
        if (leat_plan_trace(plan, &(struct leat_trace) { sizeof(struct leat_trace), 0, start, 1, 1, 0, LEAT_NONE },
                            on_sample, &found, &err) != LEAT_OK ||
            any)
            continue;
        FUZZ_CHECK(leat_plan_trace(right,
                                   &(struct leat_trace) { sizeof(struct leat_trace), 0, start, 1, 1, 0, LEAT_NONE },
                                   on_sample, &wanted, &err) == LEAT_OK);
        FUZZ_CHECK(found.count == wanted.count &&
                   memcmp(found.numbers, wanted.numbers, found.count * sizeof found.numbers[0]) == 0);
    }
}

FUZZ_TARGET(fit)
{
    struct fuzz_bytes in = { data, size };
    uint8_t changed[ROOM], repairs = fuzz_u8(&in);
    struct leat_plan *plan;
    size_t count;

    if (files_begin())
        begin();
    count = change(&in, repairs, changed);
    files_write("data.fit", changed, count);
    plan = open_plan();
    if (plan) {
        look_at_rows(plan, repairs & (REPAIR_HEAD | REPAIR_PAGES));
        look_back(plan, repairs & (REPAIR_HEAD | REPAIR_PAGES));
    }
    FUZZ_CHECK(plan || repairs & (REPAIR_HEAD | REPAIR_PAGES));
    leat_plan_close(plan);
    return 0;
}
