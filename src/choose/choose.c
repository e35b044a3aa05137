/*
 * choose.c: makes a choice in one pass over the columns.
 *
 * A *test* is a step of the condition or of the calculation that compares a field with one value, or asks whether the
 * field exists. The tests decide about a document. All values that a column's type can have are numbered in ascending
 * order (column_place()). A test of numbers therefore becomes two places in this order, which are found once by binary
 * search. A test of texts becomes a table with the result of the comparison for each text of the category. So a
 * document costs a few comparisons of integers. The results of its tests are bits that select its count from a table;
 * an entry of the table is filled by evaluating the rule when its set of results is first seen. The rule is evaluated
 * document by document only if it calculates with fields, or has very many tests.
 */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/bytes.h"
#include "base/grow.h"
#include "base/search.h"
#include "base/status.h"
#include "column/column.h"
#include "condition/condition.h"

#define AT_ONCE    (16 * CHOOSE_BLOCK) /* documents that are looked at together */
#define TABLE_BITS 12u                 /* most tests whose results select a count from the table */
#define UNKNOWN    UINT16_MAX          /* in the table: the rule was not evaluated yet */
#define MAX_TOKENS ((uint64_t)1 << 60)

/* A column that the rule names. */
struct field {
    const char *name;
    struct leat_column *column; /* of the part that is looked at */
    struct leat_column_info info;
    uint64_t first, last; /* places of the type's finite numbers */
    uint8_t *values;      /* values of the documents that are looked at */
};

/* A step that compares a field with one value, or asks whether the field exists. */
struct test {
    const struct condition_step *step;
    uint32_t field;
    /* For numbers: places before less_end have values below the number, and places from more_begin on have values above
     * it. Neither can be after the last place: `less_all` says that all values are below the number, and `more_none`
     * that none is above it. */
    uint64_t less_end, more_begin;
    bool less_all, more_none;
    int8_t *orders; /* for a category: the order of each text */
};

struct choosing {
    struct choice *choice;
    const struct leat_dataset *d;
    const char *name;
    struct condition *where, *repeat; /* `where` NULL: all documents; `repeat` NULL: each once */
    struct field *fields;
    struct test *tests;
    size_t field_count, field_room, test_count, test_room;
    bool calculates;   /* the rule adds or multiplies fields */
    uint16_t *table;   /* counts by the results of tests; NULL: too many tests, or `calculates` */
    uint64_t results;  /* results for which the table is filled */
    uint64_t document; /* place of a document among those that are looked at */
    uint64_t *starts;
    uint64_t *sums; /* hash of each block's counts */
    struct leat_error *err;
};

/* ---- The rule ---------------------------------------------------------------------------------------------------- */

static enum leat_status read_rule(const struct choice_rule *rule, struct condition **where, struct condition **repeat,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *where = *repeat = NULL;
    if (rule->where && *rule->where)
        s = condition_read(where, rule->where, "where", err);
    if (s == LEAT_OK && rule->repeat && *rule->repeat)
        s = condition_read_number(repeat, rule->repeat, "repeat", err);
    if (s == LEAT_OK && !*where && !*repeat)
        s = status_argument(err, "where", "a choice has neither a condition nor a repeat: give one of them");
    return s;
}

enum leat_status choice_check(const struct choice_rule *rule, struct leat_error *err)
{
    struct condition *where, *repeat;
    enum leat_status s = read_rule(rule, &where, &repeat, err);

    free(where);
    free(repeat);
    return s;
}

static enum leat_status find_field(struct choosing *x, const char *name, uint32_t *number)
{
    enum leat_status s = LEAT_OK;

    for (*number = 0; *number < x->field_count; ++*number)
        if (strcmp(x->fields[*number].name, name) == 0)
            return LEAT_OK;
    s = GROW(x->fields, x->field_count + 1, x->field_room, x->err);
    if (s != LEAT_OK)
        return s;
    x->fields[x->field_count++] = (struct field) { .name = name, .values = malloc((size_t)AT_ONCE * 8) };
    return x->fields[*number].values ? LEAT_OK : status_no_memory(x->err, (uint64_t)AT_ONCE * 8);
}

/* Finds the fields and the tests of a condition, and numbers its steps. A step that is a test gets the number of the
 * test; any other step gets the number of its field. */
static enum leat_status add_tests(struct choosing *x, struct condition *c)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; s == LEAT_OK && c && i < c->count; i++) {
        struct condition_step *step = &c->steps[i];
        uint32_t field;

        if (!step->field)
            continue;
        s = find_field(x, step->field, &field);
        step->number = field;
        x->calculates = x->calculates || step->operation == CONDITION_NUMBER;
        if (s != LEAT_OK || step->operation == CONDITION_NUMBER)
            continue;
        s = GROW(x->tests, x->test_count + 1, x->test_room, x->err);
        step->number = (uint32_t)x->test_count;
        if (s == LEAT_OK)
            x->tests[x->test_count++] = (struct test) { .step = step, .field = field };
    }
    return s;
}

/* ---- The columns of a part --------------------------------------------------------------------------------------- */

struct wanted {
    uint32_t type;
    const struct decimal *number;
    bool or_equal; /* the places that come before include those of equal values */
};

SEARCH_INLINE bool comes_before(const void *context, uint64_t place)
{
    const struct wanted *w = context;
    struct decimal d;
    uint8_t value[8];
    char text[48];
    int order;

    column_at_place(value, place, w->type);
    column_decimal(text, value, w->type);
    decimal_read(&d, text, strlen(text));
    order = decimal_compare(&d, w->number);
    return order < 0 || (w->or_equal && order == 0);
}

static void find_places(const struct choosing *x, struct test *t)
{
    const struct field *f = &x->fields[t->field];
    struct decimal number;
    struct wanted w = { f->info.type, &number, false };

    decimal_read(&number, t->step->text, t->step->bytes);
    t->less_end = search_first(f->first, f->last, comes_before, &w);
    t->less_all = t->less_end == f->last && comes_before(&w, f->last);
    w.or_equal = true;
    t->more_begin = search_first(t->less_end, f->last, comes_before, &w);
    t->more_none = t->more_begin == f->last && comes_before(&w, f->last);
}

static enum leat_status compare_texts(const struct choosing *x, struct test *t)
{
    const struct field *f = &x->fields[t->field];
    enum leat_status s = LEAT_OK;

    free(t->orders);
    t->orders = malloc((size_t)f->info.texts + 1);
    if (!t->orders)
        return status_no_memory(x->err, f->info.texts);
    for (uint64_t i = 0; s == LEAT_OK && i < f->info.texts; i++) {
        uint64_t bytes;
        const char *text;
        int order;

        s = leat_column_text(f->column, i, &text, &bytes, x->err);
        if (s != LEAT_OK)
            return s;
        order = memcmp(text, t->step->text, bytes < t->step->bytes ? (size_t)bytes : t->step->bytes);
        if (order == 0)
            order = (bytes > t->step->bytes) - (bytes < t->step->bytes);
        t->orders[i] = (int8_t)((order > 0) - (order < 0));
    }
    return s;
}

static void close_columns(struct choosing *x)
{
    for (size_t i = 0; i < x->field_count; i++) {
        leat_column_close(x->fields[i].column);
        x->fields[i].column = NULL;
    }
}

/* Opens the columns of a part, and prepares the tests for them. */
static enum leat_status open_columns(struct choosing *x, uint64_t part)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < x->field_count; i++) {
        struct field *f = &x->fields[i];

        f->info = (struct leat_column_info)LEAT_COLUMN_INFO_INIT;
        s = column_open_part(&f->column, x->d, part, f->name, x->err);
        if (s != LEAT_OK)
            break;
        leat_column_info(f->column, &f->info);
        column_finite_places(f->info.type, &f->first, &f->last);
        if (f->info.at != LEAT_COLUMN_DOCUMENT || f->info.width != 1)
            s = status_argument(x->err, "where",
                                "the column %s of %.300s has %s: documents are chosen by a column of one value per "
                                "document",
                                f->name, dataset_part(x->d, part)->name,
                                f->info.at != LEAT_COLUMN_DOCUMENT ? "a value per token"
                                                                   : "several values per document");
    }
    for (size_t i = 0; s == LEAT_OK && i < x->test_count; i++) {
        struct test *t = &x->tests[i];

        if (t->step->is_number && x->fields[t->field].info.type != LEAT_COLUMN_CATEGORY)
            find_places(x, t);
        else if (t->step->text && x->fields[t->field].info.type == LEAT_COLUMN_CATEGORY)
            s = compare_texts(x, t);
    }
    return s;
}

/* Reads the values of `count` documents. */
static enum leat_status read_values(struct choosing *x, uint64_t first, uint64_t count)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < x->field_count; i++) {
        struct field *f = &x->fields[i];

        s = leat_column_read(f->column, first, count, f->values, x->err);
        for (uint64_t k = 0; s == LEAT_OK && f->info.type == LEAT_COLUMN_CATEGORY && k < count; k++)
            if (bytes_load16(f->values + 2 * k) >= f->info.texts)
                s = status_set(x->err, LEAT_E_RECORD,
                               "the column %s has text %u for document %" PRIu64 ", but there are %" PRIu64
                               "; attach the column again",
                               f->name, bytes_load16(f->values + 2 * k), first + k, f->info.texts);
    }
    return s;
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

/* Compares a document's value with the test's value. Returns false if the document has no value of the test's kind. */
static bool compare(const struct choosing *x, const struct test *t, uint64_t document, int *order)
{
    const struct field *f = &x->fields[t->field];
    const uint8_t *value = f->values + document * f->info.entry_bytes;
    uint64_t place;

    *order = 0;
    if (f->info.type == LEAT_COLUMN_CATEGORY) {
        if (t->step->text && !t->step->is_number)
            *order = t->orders[bytes_load16(value)];
        return !t->step->is_number;
    }
    place = column_place(value, f->info.type);
    if (place + 1 < f->first || (place > f->last && place - f->last > 1)) /* NaN lies beyond infinity */
        return false;
    if (place < t->less_end || (t->less_all && place <= f->last))
        *order = -1;
    else if (place > f->last || (place >= t->more_begin && !t->more_none))
        *order = 1;
    return !t->step->text || t->step->is_number;
}

static bool holds(const struct choosing *x, const struct test *t, uint64_t document)
{
    int order;
    bool there = compare(x, t, document, &order);

    return there && (t->step->operation == CONDITION_EXISTS || t->step->sign & (order < 0 ? 1 : order == 0 ? 2 : 4));
}

/* Gets what a step of a condition asks for. A number comes from the document. A test's result is a bit of x->results
 * while the table is filled; without a table it comes from the document. */
static bool get(const void *of, const struct condition_step *step, struct decimal *number, int *order)
{
    const struct choosing *x = of;
    int unused;

    if (step->operation == CONDITION_NUMBER) {
        const struct field *f = &x->fields[step->number];
        char text[48];

        return f->info.type != LEAT_COLUMN_CATEGORY &&
               column_decimal(text, f->values + x->document * f->info.entry_bytes, f->info.type) &&
               decimal_read(number, text, strlen(text));
    }
    if (!x->table)
        return compare(x, &x->tests[step->number], x->document, order ? order : &unused);
    if (order)
        *order = step->sign & 2 ? 0 : step->sign & 1 ? -1 : 1;
    return x->results >> step->number & 1;
}

/* Sets *count to a calculation's result. Returns false unless it is a whole number from 0 to 255. */
static bool whole_count(const struct decimal *d, uint16_t *count)
{
    *count = 0;
    if (d->count == 0)
        return true;
    if (d->negative || d->exponent > 3 || d->exponent < (int64_t)d->count)
        return false;
    for (int64_t i = 0; i < d->exponent; i++)
        *count = (uint16_t)(*count * 10 + (i < (int64_t)d->count ? d->digits[i] - '0' : 0));
    return *count <= CHOOSE_MAX_COUNT;
}

/* Evaluates the rule. */
static enum leat_status evaluate(const struct choosing *x, uint64_t document, uint16_t *count)
{
    struct decimal number;

    *count = !x->where || condition_holds(x->where, get, x);
    if (*count == 0 || !x->repeat)
        return LEAT_OK;
    if (!condition_number(x->repeat, get, x, &number))
        return status_argument(x->err, "repeat", "repeat has no number for document %" PRIu64 " of %.300s", document,
                               x->name);
    if (whole_count(&number, count))
        return LEAT_OK;
    return status_argument(x->err, "repeat",
                           "repeat is %s for document %" PRIu64 " of %.300s: it must be a whole number from 0 to %u",
                           number.negative                           ? "below 0"
                           : number.exponent < (int64_t)number.count ? "no whole number"
                                                                     : "too large",
                           document, x->name, CHOOSE_MAX_COUNT);
}

/* Finds the counts of `count` documents. `first` is the number of the first one in the dataset. */
static enum leat_status find_counts(struct choosing *x, uint64_t first, uint64_t count)
{
    uint16_t found = 0;
    enum leat_status s = LEAT_OK;

    for (x->document = 0; s == LEAT_OK && x->document < count; x->document++) {
        if (x->table) {
            x->results = 0;
            for (size_t i = 0; i < x->test_count; i++)
                x->results |= (uint64_t)holds(x, &x->tests[i], x->document) << i;
            found = x->table[x->results];
        }
        if (!x->table || found == UNKNOWN)
            s = evaluate(x, first + x->document, &found);
        if (x->table && s == LEAT_OK)
            x->table[x->results] = found;
        x->choice->counts[first + x->document] = (uint8_t)found;
    }
    return s;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Adds blocks of `count` documents from `first` on, whose counts and starts are known. */
static bool add_blocks(struct choosing *x, uint64_t first, uint64_t count)
{
    struct choice *c = x->choice;

    for (uint64_t i = 0; i < count; i++) {
        uint8_t copies = c->counts[first + i];
        uint64_t tokens;

        if (i % CHOOSE_BLOCK == 0) {
            uint64_t here = count - i < CHOOSE_BLOCK ? count - i : CHOOSE_BLOCK;

            c->blocks[c->block_count] = (struct choice_block) { first + i, c->documents, c->tokens };
            bytes_store64(&x->sums[c->block_count++],
                          checksum_kernels()->hash(c->counts + first + i, (size_t)here).low);
        }
        c->documents += copies;
        if (!bytes_multiply(x->starts[i + 1] - x->starts[i], copies, &tokens) || tokens > MAX_TOKENS - c->tokens)
            return false;
        c->tokens += tokens;
    }
    return true;
}

static enum leat_status choose_part(struct choosing *x, const struct part *p, uint64_t first)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here; s == LEAT_OK && at < p->documents; at += here) {
        here = p->documents - at < AT_ONCE ? p->documents - at : AT_ONCE;
        s = read_values(x, at, here);
        if (s == LEAT_OK)
            s = find_counts(x, first + at, here);
        if (s == LEAT_OK)
            s = leat_dataset_starts(x->d, first + at, here + 1, x->starts, x->err);
        if (s == LEAT_OK && !add_blocks(x, first + at, here))
            s = status_argument(x->err, "repeat", "the chosen documents of %.300s have more than 2^60 tokens", x->name);
    }
    return s;
}

static enum leat_status make_room(struct choosing *x)
{
    uint64_t blocks = 1, documents = 0;

    for (uint64_t i = 0; i < x->d->part_count; i++) {
        blocks += bytes_divide_up(dataset_part(x->d, i)->documents, CHOOSE_BLOCK);
        documents += dataset_part(x->d, i)->documents;
    }
    x->choice->counts = big_alloc((size_t)documents + 1);
    x->choice->blocks = malloc((size_t)blocks * sizeof *x->choice->blocks);
    x->sums = malloc((size_t)blocks * sizeof *x->sums);
    x->starts = malloc((AT_ONCE + 1) * sizeof *x->starts);
    if (!x->calculates && x->test_count <= TABLE_BITS) {
        x->table = malloc(sizeof *x->table << x->test_count);
        if (x->table)
            memset(x->table, 0xff, sizeof *x->table << x->test_count);
    }
    if (!x->choice->counts || !x->choice->blocks || !x->sums || !x->starts ||
        (!x->table && !x->calculates && x->test_count <= TABLE_BITS))
        return status_no_memory(x->err, documents + blocks * sizeof *x->choice->blocks);
    return LEAT_OK;
}

static enum leat_status choose(struct choosing *x, const struct choice_rule *rule)
{
    struct choice *c = x->choice;
    enum leat_status s = read_rule(rule, &x->where, &x->repeat, x->err);
    uint64_t first = 0;

    if (s == LEAT_OK)
        s = dataset_need_documents(x->d, x->err);
    if (s == LEAT_OK)
        s = add_tests(x, x->where);
    if (s == LEAT_OK)
        s = add_tests(x, x->repeat);
    if (s == LEAT_OK)
        s = make_room(x);
    for (uint64_t i = 0; s == LEAT_OK && i < x->d->part_count; i++) {
        const struct part *p = dataset_part(x->d, i);

        s = open_columns(x, i);
        if (s == LEAT_OK)
            s = choose_part(x, p, first);
        close_columns(x);
        first += p->documents;
    }
    if (s != LEAT_OK)
        return s;
    c->blocks[c->block_count] = (struct choice_block) { first, c->documents, c->tokens };
    c->sum = checksum_kernels()->hash(x->sums, (size_t)c->block_count * sizeof *x->sums).low;
    if (c->documents > 0)
        return LEAT_OK;
    return status_in_file(x->err,
                          status_argument(x->err, "where", "%.300s has no document that %.200s chooses", x->name,
                                          x->where ? rule->where : rule->repeat),
                          x->name);
}

enum leat_status choice_make(struct choice **out, const struct leat_dataset *d, const char *name,
                             const struct choice_rule *rule, struct leat_error *err)
{
    struct choosing x = { .d = d, .name = name, .err = err };
    enum leat_status s;

    *out = x.choice = calloc(1, sizeof *x.choice);
    if (!x.choice)
        return status_no_memory(err, sizeof *x.choice);
    atomic_init(&x.choice->owners, 1);
    x.choice->dataset = d;
    s = choose(&x, rule);
    for (size_t i = 0; i < x.field_count; i++)
        free(x.fields[i].values);
    for (size_t i = 0; i < x.test_count; i++)
        free(x.tests[i].orders);
    free(x.fields);
    free(x.tests);
    free(x.table);
    free(x.starts);
    free(x.sums);
    free(x.where);
    free(x.repeat);
    if (s != LEAT_OK) {
        choice_drop(*out);
        *out = NULL;
    }
    return s;
}

struct choice *choice_share(struct choice *c)
{
    if (c)
        atomic_fetch_add(&c->owners, 1);
    return c;
}

void choice_drop(struct choice *c)
{
    if (!c || atomic_fetch_sub(&c->owners, 1) > 1)
        return;
    free(c->counts);
    free(c->blocks);
    free(c);
}
