/*
 * by_column.c: the histogram of a column, for `leat info --by`. The bounds of bins are short decimals at even
 * distances. They are made from a sample of the values, without its outermost hundredths, so that one extreme value
 * does not push all others into one bin: the first and the last bin are open. A second pass counts all documents.
 *
 * A value is compared with a bound that is rounded to the column's type: 0.7 as f32 is below 0.7 as double, but whoever
 * chooses documents of at least 0.7 means it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "info.h"

#define BLOCK         65536u /* documents that are read at once; also values of the sample */
#define STEPS         16     /* bins between the sample's outermost hundredths, about */
#define BINS          64u    /* limit of bins; STEPS leads to fewer */
#define SHOWN_TEXTS   20u
#define COLUMNS_WIDTH 16u /* of a bar of numbers; texts need room for themselves */
#define TEXTS_WIDTH   8u
#define TEXT_BYTES    18u /* the most bytes of a text on its line */

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Returns the significant bits of the numbers of a type. */
static int bits_of(uint32_t type)
{
    return type == LEAT_COLUMN_F16 ? 11 : type == LEAT_COLUMN_BF16 ? 8 : type == LEAT_COLUMN_F32 ? 24 : 53;
}

static double rounded(double value, int bits)
{
    int exponent;
    double fraction = frexp(value, &exponent);

    return isfinite(value) ? ldexp(rint(ldexp(fraction, bits)), exponent - bits) : value;
}

static double half(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? fraction ? (double)NAN : (double)INFINITY
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction | 1024, (int)exponent - 25);

    return bits >> 15 ? -value : value;
}

static double single(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Returns value i of those that a column stores. */
static double value_at(const uint8_t *values, uint64_t i, uint32_t type)
{
    switch (type) {
    case LEAT_COLUMN_U8:
        return values[i];
    case LEAT_COLUMN_U32:
        return bytes_load32(values + 4 * i);
    case LEAT_COLUMN_I32:
        return (int32_t)bytes_load32(values + 4 * i);
    case LEAT_COLUMN_I64:
        return (double)(int64_t)bytes_load64(values + 8 * i);
    case LEAT_COLUMN_F16:
        return half(bytes_load16(values + 2 * i));
    case LEAT_COLUMN_BF16:
        return single((uint32_t)bytes_load16(values + 2 * i) << 16);
    case LEAT_COLUMN_F32:
        return single(bytes_load32(values + 4 * i));
    default: /* u16, category */
        return bytes_load16(values + 2 * i);
    }
}

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Adds bins from a bound of at most `low` to one of at most `high`, which are multiples of 1, 2 or 5 times a power of
 * ten. */
static void add_bounds(struct column_histogram *h, double low, double high)
{
    static const double factors[] = { 1, 2, 5, 10 };
    double step = high > low ? (high / STEPS - low / STEPS) : 1, power;
    char text[400];
    size_t f = 0;
    int exponent;

    if (h->about.type < LEAT_COLUMN_F16 && step < 1)
        step = 1;
    exponent = (int)floor(log10(step));
    power = pow(10, exponent);
    while (f < 3 && factors[f] * power < step)
        f++;
    for (double k = floor(low / (factors[f] * power)); h->count < BINS; k++) {
        double from;

        snprintf(text, sizeof text, "%.0fe%d", k * factors[f], exponent);
        from = strtod(text, NULL); /* the nearest number to a short decimal, such as 0.3 */
        if (!isfinite(from) || (h->count > 1 && (from > high || from <= h->bins[h->count - 1].from)))
            return;
        h->bins[h->count++].from = from + 0.0; /* no -0 */
    }
}

/* Makes the bins of numbers; the first one has what is below the others. */
static void make_bounds(struct column_histogram *h, double *sample, uint64_t count)
{
    qsort(sample, (size_t)count, sizeof *sample, compare_values);
    h->bins[0].from = -(double)INFINITY;
    h->count = 1;
    if (count > 0)
        add_bounds(h, sample[count / 100], sample[count - 1 - count / 100]);
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

struct pass {
    struct column_histogram *h;
    const struct leat_dataset *d;
    uint8_t *values;  /* of a block */
    uint64_t *starts; /* of its documents */
    double *sample;   /* finite values at even distances */
    uint64_t sampled, every;
    double bounds[BINS]; /* rounded to the column's type */
};

static void sample_value(struct pass *p, double value)
{
    struct column_histogram *h = p->h;

    if (isnan(value))
        return;
    h->least = h->valued == 0 || value < h->least ? value : h->least;
    h->greatest = h->valued == 0 || value > h->greatest ? value : h->greatest;
    if (h->valued++ % p->every == 0 && isfinite(value))
        p->sample[p->sampled++] = value;
}

static void count_value(struct pass *p, double value, uint64_t tokens)
{
    struct column_histogram *h = p->h;
    struct column_bin *bin = &h->nan;
    size_t first = 0, end = h->count;

    if (h->about.type == LEAT_COLUMN_CATEGORY)
        bin = &h->bins[(size_t)value];
    else if (!isnan(value)) {
        while (end - first > 1) {
            size_t middle = first + (end - first) / 2;

            if (value >= p->bounds[middle])
                first = middle;
            else
                end = middle;
        }
        bin = &h->bins[first];
    }
    bin->documents++;
    bin->tokens += tokens;
}

/* Goes through all documents: to sample values, or to count. */
static enum leat_status go_through(struct pass *p, bool sampling, struct leat_error *err)
{
    const struct leat_column_info *about = &p->h->about;
    enum leat_status s = LEAT_OK;

    for (uint64_t first = 0, count; s == LEAT_OK && first < about->entries; first += count) {
        count = about->entries - first < BLOCK ? about->entries - first : BLOCK;
        s = leat_column_read(p->h->column, first, count, p->values, err);
        if (s == LEAT_OK && !sampling)
            s = leat_dataset_starts(p->d, first, count + 1, p->starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            double value = value_at(p->values, i, about->type);

            if (sampling)
                sample_value(p, value);
            else if (about->type == LEAT_COLUMN_CATEGORY && value >= (double)about->texts)
                s = status_set(err, LEAT_E_RECORD,
                               "%.100s: document %" PRIu64 " has text %.0f, but there are %" PRIu64
                               "; attach the column again",
                               about->name, first + i, value, about->texts);
            else
                count_value(p, value, p->starts[i + 1] - p->starts[i]);
        }
    }
    return s;
}

static enum leat_status count_numbers(struct pass *p, struct leat_error *err)
{
    enum leat_status s;

    p->every = bytes_divide_up(p->h->about.entries, BLOCK);
    s = go_through(p, true, err);
    if (s != LEAT_OK)
        return s;
    make_bounds(p->h, p->sample, p->sampled);
    for (size_t i = 0; i < p->h->count; i++)
        p->bounds[i] = rounded(p->h->bins[i].from, bits_of(p->h->about.type));
    return go_through(p, false, err);
}

/* Compares two texts for the order of lines: the most frequent one first. */
static int compare_bins(const void *a, const void *b)
{
    const struct column_bin *x = a, *y = b;
    uint64_t bytes = x->text_bytes < y->text_bytes ? x->text_bytes : y->text_bytes;
    int order = (x->documents < y->documents) - (x->documents > y->documents);

    if (order == 0)
        order = memcmp(x->text, y->text, (size_t)bytes);
    return order != 0 ? order : (x->text_bytes > y->text_bytes) - (x->text_bytes < y->text_bytes);
}

static enum leat_status count_texts(struct pass *p, struct leat_error *err)
{
    struct column_histogram *h = p->h;
    enum leat_status s = LEAT_OK;

    h->count = (size_t)h->about.texts;
    for (size_t i = 0; s == LEAT_OK && i < h->count; i++)
        s = leat_column_text(h->column, i, &h->bins[i].text, &h->bins[i].text_bytes, err);
    if (s == LEAT_OK)
        s = go_through(p, false, err);
    if (s == LEAT_OK && h->count > 0)
        qsort(h->bins, h->count, sizeof *h->bins, compare_bins);
    return s;
}

enum leat_status column_histogram_count(struct column_histogram *h, const struct leat_dataset *d, const char *name,
                                        struct leat_error *err)
{
    struct pass p = { .h = h, .d = d };
    enum leat_status s = leat_column_open(&h->column, d, name, err);
    bool texts;

    if (s != LEAT_OK)
        return s;
    h->about = (struct leat_column_info)LEAT_COLUMN_INFO_INIT;
    leat_column_info(h->column, &h->about);
    if (h->about.at != LEAT_COLUMN_DOCUMENT || h->about.width != 1)
        return status_argument(err, "by", "column %.100s has %s; --by needs one with one value per document", name,
                               h->about.at == LEAT_COLUMN_DOCUMENT ? "several values per entry" : "values per token");
    texts = h->about.type == LEAT_COLUMN_CATEGORY;
    h->bins = calloc(texts ? (size_t)h->about.texts + 1 : BINS, sizeof *h->bins);
    p.values = malloc(BLOCK * sizeof(uint64_t));
    p.starts = malloc((BLOCK + 1) * sizeof *p.starts);
    p.sample = malloc(BLOCK * sizeof *p.sample);
    if (!h->bins || !p.values || !p.starts || !p.sample)
        s = status_no_memory(err, BLOCK * sizeof *p.sample);
    else
        s = texts ? count_texts(&p, err) : count_numbers(&p, err);
    free(p.values);
    free(p.starts);
    free(p.sample);
    return s;
}

void column_histogram_free(struct column_histogram *h)
{
    free(h->bins);
    leat_column_close(h->column);
}

/* Adds up all bins. */
static struct column_bin sum_of(const struct column_histogram *h)
{
    struct column_bin all = h->nan;

    for (size_t i = 0; i < h->count; i++) {
        all.documents += h->bins[i].documents;
        all.tokens += h->bins[i].tokens;
    }
    return all;
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

/* Writes the shortest decimal that is `value` in numbers of so many bits. */
static void show_number(char text[32], double value, int bits)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (rounded(strtod(text, NULL), bits) == value) /* infinity, too */
            break;
    }
    if (fabs(value) < 1e15 && value == floor(value))
        snprintf(text, 32, "%.0f", value);
}

/* Prints a bar of documents, then numbers of documents and tokens with their shares. */
static void print_bar(uint64_t documents, uint64_t most, unsigned width, const struct column_bin *left,
                      const struct column_bin *all)
{
    static const char bar[] = "################";
    unsigned length = (unsigned)((double)documents / (double)most * width + 0.5);

    if (documents > 0 && length == 0)
        length = 1; /* a small count must not look like none */
    printf("%-*.*s %13s %7s %18s %7s", (int)width, (int)length, bar, units_count(left->documents).text,
           units_share(left->documents, all->documents).text, units_count(left->tokens).text,
           units_share(left->tokens, all->tokens).text);
}

static void print_texts(const struct column_histogram *h, const struct column_bin *all)
{
    uint64_t most = h->count > 0 && h->bins[0].documents > 0 ? h->bins[0].documents : 1;

    printf("  %-*s %21s %26s  text\n", (int)TEXTS_WIDTH, "", "documents", "tokens");
    for (size_t i = 0; i < h->count && i < SHOWN_TEXTS; i++) {
        const struct column_bin *bin = &h->bins[i];
        uint64_t bytes = bin->text_bytes;

        if (bytes > TEXT_BYTES) /* cut, at the beginning of a character */
            for (bytes = TEXT_BYTES - 3; bytes > 0 && ((uint8_t)bin->text[bytes] & 0xc0) == 0x80;)
                bytes--;
        printf("  ");
        print_bar(bin->documents, most, TEXTS_WIDTH, bin, all);
        printf("  ");
        cli_put(bin->text, bytes);
        printf("%s\n", bytes < bin->text_bytes ? "..." : "");
    }
    if (h->count > SHOWN_TEXTS)
        printf("  ... and %s more (--json has them all)\n", units_count(h->count - SHOWN_TEXTS).text);
}

static void print_numbers(const struct column_histogram *h, const struct column_bin *all)
{
    struct column_bin left = { .documents = all->documents - h->nan.documents, .tokens = all->tokens - h->nan.tokens };
    uint64_t most = 1;
    char text[32];

    for (size_t i = 0; i < h->count; i++)
        most = h->bins[i].documents > most ? h->bins[i].documents : most;
    printf("  %10s %-*s %21s %26s\n", "at least", (int)COLUMNS_WIDTH, "", "leaves documents", "tokens");
    for (size_t i = 0; i < h->count; i++) {
        const struct column_bin *bin = &h->bins[i];

        if (i > 0 || bin->documents > 0) {
            show_number(text, i > 0 ? bin->from : h->least, i > 0 ? 53 : bits_of(h->about.type));
            printf("  %10s ", text);
            print_bar(bin->documents, most, COLUMNS_WIDTH, &left, all);
            printf("\n");
        }
        left.documents -= bin->documents;
        left.tokens -= bin->tokens;
    }
}

void column_histogram_print(const struct column_histogram *h, const char *dataset)
{
    struct column_bin all = sum_of(h);
    char least[32], greatest[32];

    cli_say("%s by %s (%s)", dataset, h->about.name, leat_column_type_name(h->about.type));
    if (h->about.type == LEAT_COLUMN_CATEGORY) {
        print_texts(h, &all);
        return;
    }
    show_number(least, h->least, bits_of(h->about.type));
    show_number(greatest, h->greatest, bits_of(h->about.type));
    if (h->valued > 0)
        printf("  from %s to %s\n", least, greatest);
    if (h->nan.documents > 0)
        printf("  NaN, which no threshold leaves: %s with %s\n", units_counted(h->nan.documents, "document").text,
               units_counted(h->nan.tokens, "token").text);
    if (h->valued > 0)
        print_numbers(h, &all);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_counts(struct json *j, const struct column_bin *bin)
{
    json_u64(j, "documents", bin->documents);
    json_u64(j, "tokens", bin->tokens);
}

void column_histogram_json(struct json *j, const struct column_histogram *h)
{
    bool texts = h->about.type == LEAT_COLUMN_CATEGORY;
    struct column_bin left = sum_of(h);

    left.documents -= h->nan.documents;
    left.tokens -= h->nan.tokens;
    json_open_object(j, "histogram");
    json_string(j, "column", h->about.name);
    json_double(j, "least", h->valued > 0 ? h->least : (double)NAN);
    json_double(j, "greatest", h->valued > 0 ? h->greatest : (double)NAN);
    json_open_object(j, "nan");
    json_counts(j, &h->nan);
    json_close_object(j);
    json_open_array(j, "bins");
    for (size_t i = 0; i < h->count; i++) {
        const struct column_bin *bin = &h->bins[i];

        json_open_object(j, NULL);
        if (texts)
            json_bytes(j, "text", bin->text, (size_t)bin->text_bytes);
        else
            json_null(j, "text");
        json_double(j, "from", texts ? (double)NAN : bin->from);
        json_counts(j, bin);
        json_u64_or_null(j, "documents_left", texts ? LEAT_NONE : left.documents);
        json_u64_or_null(j, "tokens_left", texts ? LEAT_NONE : left.tokens);
        json_close_object(j);
        left.documents -= bin->documents;
        left.tokens -= bin->tokens;
    }
    json_close_array(j);
    json_close_object(j);
}
