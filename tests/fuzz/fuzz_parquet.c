/*
 * fuzz_parquet.c: any bytes as a Parquet file: refused with a sentence, or read; nothing beyond the file is read,
 * memory keeps to its limit, and the rows from any row on are those that follow it when reading from the start; pages
 * in mapped memory, of which some inputs have all, hold the same; and pages that are lent keep what they hold.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "base/status.h"
#include "corpus/parquet/parquet.h"
#include "fuzz.h"

#define MAX_MEMORY ((uint64_t)4 << 20)
#define MAX_ROWS   2000u /* that are read: a run of one value can have any number of them */

static const struct parquet_want wants[] = {
    { .path = "text", .use = PARQUET_TEXT, .optional = true },
    { .path = "id", .use = PARQUET_ID, .optional = true },
    { .path = "a.b", .use = PARQUET_ID, .optional = true },
    { .path = "id", .use = PARQUET_VALUE, .optional = true },
    { .path = "a.b", .use = PARQUET_EXISTS, .optional = true },
    { .path = "score", .use = PARQUET_VALUE, .optional = true },
    { .path = "messages", .use = PARQUET_JSON, .optional = true, .max_bytes = 300 },
};

struct bytes {
    const uint8_t *data;
    size_t size;
};

static enum leat_status read_bytes(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    const struct bytes *b = context;

    (void)err;
    FUZZ_CHECK(offset <= b->size && count <= b->size - offset);
    memcpy(out, b->data + offset, (size_t)count);
    return LEAT_OK;
}

static enum leat_status map_memory(const char *beside, size_t size, void **memory, struct leat_error *err)
{
    (void)beside;
    *memory =
        size > MAX_MEMORY ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *memory == MAP_FAILED ? status_set(err, LEAT_E_NO_SPACE, "no room for %zu bytes", size) : LEAT_OK;
}

static uint64_t hash(uint64_t sum, const struct parquet_value *v)
{
    sum = sum * 31 + (v->bytes ? v->size : UINT64_MAX - 1);
    for (size_t i = 0; v->bytes && v->size < SIZE_MAX && i < v->size; i++)
        sum = sum * 31 + v->bytes[i];
    return sum;
}

/* Pages that are lent, while others are read. */
struct lent {
    struct parquet_loan *loan;
    struct parquet_value value;
    uint64_t sum;
};
#define LENT 3

static bool give_back(struct lent *lent)
{
    bool any = lent->loan;

    FUZZ_CHECK(!any || hash(0, &lent->value) == lent->sum);
    parquet_loan_release(lent->loan);
    lent->loan = NULL;
    return any;
}

static void lend(struct lent *lent, struct parquet_reader *r, const struct parquet_value *value)
{
    give_back(lent);
    *lent = (struct lent) { parquet_reader_lend(r, 0, value, 1), *value, hash(0, value) };
}

/* Reads up to row `end`; *sums[row]: of its values. Returns the row that it came to. */
static uint64_t read_rows(const struct parquet_file *file, uint64_t group, uint64_t row, uint64_t end, bool map,
                          uint64_t *sums)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS];
    struct leat_error err = { 0 };
    struct lent lent[LENT] = { { .loan = NULL } };
    atomic_uint_least64_t left = 0;
    struct parquet_reader *r;
    bool found = true;

    FUZZ_CHECK(parquet_reader_open(&r, file, NULL, group, row, &err) == LEAT_OK);
    parquet_reader_lends(r, &left);
    parquet_reader_limit(r, map ? 0 : MAX_MEMORY, map);
    while (found && row < end) {
        enum leat_status s = parquet_reader_next(r, values, &found, &err);

        FUZZ_CHECK(s == LEAT_OK || (!found && err.message[0] && err.status == s));
        FUZZ_CHECK(parquet_reader_memory(r) + left <= MAX_MEMORY);
        if (s == LEAT_E_NO_MEMORY) { /* without loans there may be room */
            bool any = false;

            for (size_t i = 0; i < LENT; i++)
                any |= give_back(&lent[i]);
            found = any;
            if (any)
                continue;
        }
        FUZZ_CHECK(s != LEAT_E_NO_MEMORY ||
                   (!map && parquet_reader_outgrew(r) && parquet_reader_needs(r) > MAX_MEMORY));
        if (!found)
            break;
        sums[row] = 0;
        for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
            sums[row] = hash(sums[row], &values[i]);
        lend(&lent[row % LENT], r, &values[0]);
        row++;
        FUZZ_CHECK(parquet_reader_row(r) == row);
    }
    parquet_reader_close(r);
    for (size_t i = 0; i < LENT; i++)
        give_back(&lent[i]);
    FUZZ_CHECK(left == 0);
    return row;
}

static void check_group(const struct parquet_file *file, uint64_t group, uint64_t *random)
{
    static uint64_t all[MAX_ROWS], rest[MAX_ROWS];
    uint64_t rows = parquet_group(file, group)->rows, end = rows < MAX_ROWS ? rows : MAX_ROWS, came, from;
    bool map;

    came = read_rows(file, group, 0, end, false, all);
    if (came == 0)
        return;
    from = fuzz_up_to(random, came - 1);
    map = fuzz_up_to(random, 15) == 0;
    /* pages that are passed over are not looked into, so reading may come further, not less far */
    FUZZ_CHECK(read_rows(file, group, from, came, map, rest) == came);
    for (uint64_t row = from; row < came; row++)
        FUZZ_CHECK(all[row] == rest[row]);
}

FUZZ_TARGET(parquet)
{
    struct bytes bytes = { data, size };
    struct parquet_source source = {
        .read = read_bytes, .context = &bytes, .size = size, .name = "the input", .map = map_memory
    };
    uint64_t random = size;
    struct leat_error err = { 0 };
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, &source, wants, sizeof wants / sizeof *wants, &err);

    for (size_t i = 0; i < size; i++)
        random = random * 31 + data[i];
    FUZZ_CHECK(s == LEAT_OK || (err.message[0] && !file));
    for (uint64_t g = 0; file && g < parquet_groups(file) && g < 20; g++)
        check_group(file, g, &random);
    parquet_close(file);
    return 0;
}
