/*
 * test_documents_in.c: finding the documents of a window, on shapes that hurt, against a plain search through all; and
 * the number of reads it takes, which must not grow with the documents.
 */
#include "base/tiny.h"
#include "dataset/dataset.h"
#include "support/craft.h"
#include "t.h"

/* ---- Shapes: the length of document n, or -1 after the last ---- */

#define CELL 32768 /* tokens of two bytes in 64 KiB */

static int64_t one_token_documents(uint64_t n)
{
    return n < 70000 ? 1 : -1;
}

static int64_t many_empty_at_begin(uint64_t n)
{
    return n < 5000 ? 0 : n < 5010 ? 10 : -1;
}

static int64_t many_empty_between(uint64_t n)
{
    return n == 0 ? 100 : n < 5000 ? 0 : n < 5003 ? 40000 : -1;
}

static int64_t many_empty_at_end(uint64_t n)
{
    return n < 3 ? 20000 : n < 4000 ? 0 : -1;
}

static int64_t empty_at_cell_edges(uint64_t n)
{
    return n >= 3000 ? -1 : n % 1000 == 0 ? CELL : 0;
}

static int64_t end_at_cell_edges(uint64_t n)
{
    static const int64_t lengths[] = { CELL, CELL - 1, 1, CELL + 1, CELL - 1, 2 * CELL, 0, 1, CELL - 1, CELL };

    return n < 10 ? lengths[n] : -1;
}

static int64_t one_document_over_cells(uint64_t n)
{
    return n == 0 ? 5 * CELL + 17 : -1;
}

static int64_t one_token(uint64_t n)
{
    return n == 0 ? 1 : -1;
}

static int64_t mostly_empty(uint64_t n)
{
    return n >= 60000 ? -1 : n % 17 == 0 ? (int64_t)(n % 5) : 0;
}

static int64_t short_and_long(uint64_t n)
{
    return n >= 3000 ? -1 : n % 500 == 499 ? 50000 : (int64_t)(n * 7 % 13);
}

static const struct {
    const char *name;
    int64_t (*length)(uint64_t n);
} shapes[] = {
    { "one_token_documents", one_token_documents },
    { "many_empty_at_begin", many_empty_at_begin },
    { "many_empty_between", many_empty_between },
    { "many_empty_at_end", many_empty_at_end },
    { "empty_at_cell_edges", empty_at_cell_edges },
    { "end_at_cell_edges", end_at_cell_edges },
    { "one_document_over_cells", one_document_over_cells },
    { "one_token", one_token },
    { "mostly_empty", mostly_empty },
    { "short_and_long", short_and_long },
};

/* ---- */

static struct leat_dataset *make(struct craft *c, int64_t (*length)(uint64_t n), uint64_t vocabulary)
{
    static const uint32_t zeros[6 * CELL];
    struct leat_dataset *d;
    struct part part;

    craft_begin(c, vocabulary, LEAT_NONE, LEAT_NONE);
    for (uint64_t n = 0; length(n) >= 0; n++)
        craft_document(c, zeros, (uint64_t)length(n), NULL);
    craft_index(c);
    T_OK(part_open_memory(&part, c->index.bytes, c->index.count, c->tokens.bytes, c->tokens.count, &t_err));
    T_OK(dataset_of_part(&d, &part, &t_err));
    return d;
}

static uint64_t start_of(const struct craft *c, uint64_t document)
{
    return craft_load64(c->parts[CRAFT_DOCUMENTS].bytes + 8 * document);
}

/* holder[t]: the document that holds token t, by walking through all. */
static uint64_t *holders(const struct craft *c)
{
    uint64_t tokens = c->tokens.count / c->width;
    uint64_t *holder = malloc((tokens + 1) * sizeof *holder);

    for (uint64_t n = 0; n < c->documents; n++)
        for (uint64_t t = start_of(c, n); t < start_of(c, n + 1); t++)
            holder[t] = n;
    return holder;
}

static void check_window(const struct leat_dataset *d, const uint64_t *holder, uint64_t first, uint64_t count)
{
    uint64_t document, documents;

    T_OK(leat_dataset_documents_in(d, first, count, &document, &documents, &t_err));
    if (document != holder[first] || document + documents - 1 != holder[first + count - 1])
        T_FAIL("tokens %" PRIu64 " to %" PRIu64 " lie in documents %" PRIu64 " to %" PRIu64 ", not %" PRIu64
               " to %" PRIu64,
               first, first + count - 1, holder[first], holder[first + count - 1], document, document + documents - 1);
}

/* Windows of one token near every edge, and random ones. */
static void check_windows(const struct leat_dataset *d, const struct craft *c, uint64_t *random)
{
    uint64_t tokens = c->tokens.count / c->width, *holder = holders(c), cell = 65536 / c->width;

    for (uint64_t t = 0; t < tokens; t++)
        if (t < 20 || t + 20 > tokens || t % cell < 3 || t % cell > cell - 3 || t_below(random, 37) == 0)
            check_window(d, holder, t, 1);
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t first = t_below(random, tokens), count = 1 + t_below(random, tokens - first);

        check_window(d, holder, first, i % 2 ? count : 1 + t_below(random, count < 3000 ? count : 3000));
    }
    free(holder);
}

/* ---- Reads ---- */

/* System calls that read, as the kernel counts them; -1 where it does not tell. */
static int64_t reads_so_far(void)
{
    int fd = open("/proc/self/io", O_RDONLY);
    char text[512] = "";
    const char *at;

    if (fd < 0)
        return -1;
    if (read(fd, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    close(fd);
    at = strstr(text, "syscr: ");
    return at ? strtoll(at + 7, NULL, 10) : -1;
}

/* The most reads that one call took. */
static int64_t max_reads(const char *name, uint64_t tokens, uint64_t *random)
{
    struct leat_open_options options = { .size = sizeof options, .access = LEAT_ACCESS_READ };
    struct leat_dataset *d;
    int64_t max = 0, own;

    own = reads_so_far();
    own = reads_so_far() - own;
    T_OK(leat_dataset_open(&d, name, &options, &t_err));
    for (unsigned i = 0; i < 300; i++) {
        uint64_t first = t_below(random, tokens), count = 1 + t_below(random, tokens - first), document, documents;
        int64_t before = reads_so_far(), took;

        T_OK(leat_dataset_documents_in(d, first, count, &document, &documents, &t_err));
        took = reads_so_far() - before - own;
        max = took > max ? took : max;
    }
    leat_dataset_close(d);
    return max;
}

/* A read of the directory, and one of the starts, for each end of the window; more only where a cell has more than
 * 512 documents: one for each halving of them. */
static void check_reads(const struct craft *c, const char *shape, const char *folder, uint64_t *random)
{
    uint64_t in_cell = 1, bound = 4;
    int64_t max;

    for (uint64_t from = 0, to = 0; from < c->documents; from++) {
        while (to < c->documents && start_of(c, to) / (65536 / c->width) <= start_of(c, from) / (65536 / c->width))
            to++;
        in_cell = to - from > in_cell ? to - from : in_cell;
    }
    for (; in_cell > TINY_OR(2, 500); in_cell = in_cell / 2 + 1)
        bound += 2;
    t_write(t_path(folder, "d.leat"), c->index.bytes, c->index.count);
    t_write(t_path(folder, "d.tokens"), c->tokens.bytes, c->tokens.count);
    max = max_reads(t_path(folder, "d"), c->tokens.count / c->width, random);
    if (max > (int64_t)bound)
        T_FAIL("%s: a call took %" PRId64 " reads, and %" PRIu64 " are enough", shape, max, bound);
    fprintf(stderr, "%s: %" PRIu64 " documents, at most %" PRId64 " reads\n", shape, c->documents, max);
}

int main(void)
{
    const char *folder = t_folder();
    uint64_t random = t_seed();

    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (uint64_t vocabulary = 10; vocabulary <= 70000; vocabulary += 69990) {
            struct leat_dataset *d;
            struct craft c;

            d = make(&c, shapes[i].length, vocabulary);
            check_windows(d, &c, &random);
            leat_dataset_close(d);
            if (reads_so_far() >= 0)
                check_reads(&c, shapes[i].name, folder, &random);
            craft_free(&c);
        }
    return t_end();
}
