/*
 * test_every_truncation.c: an index or a token file cut at any length, or longer than it should be, does not open, and
 * says that it is not whole. The bytes behind a cut are not there to be read (run under AddressSanitizer).
 */
#include "support/damage.h"
#include "t.h"

/* A copy of exactly that length, so that reading beyond it faults. */
static void *cut_copy(const struct craft_text *t, uint64_t count)
{
    uint8_t *copy = malloc(count ? count : 1);

    memset(copy, 0, count ? count : 1);
    memcpy(copy, t->bytes, count < t->count ? count : t->count);
    return copy;
}

static void check(enum leat_status s, enum leat_status want, const char *what, uint64_t count)
{
    if (s != want)
        T_FAIL("%s of %" PRIu64 " bytes: %s instead of %s: %s", what, count, leat_status_name(s),
               leat_status_name(want), t_err.message);
}

static void cut_index(const struct craft *c, uint64_t count)
{
    void *copy = cut_copy(&c->index, count);
    enum leat_status s = damage_outcome(copy, count, c->tokens.bytes, c->tokens.count, &t_err);

    check(s, count < 8 ? LEAT_E_NOT_LEAT : LEAT_E_TRUNCATED, "an index", count);
    free(copy);
}

static void cut_tokens(const struct craft *c, uint64_t count)
{
    void *copy = cut_copy(&c->tokens, count);
    enum leat_status s = damage_outcome(c->index.bytes, c->index.count, copy, count, &t_err);

    check(s, LEAT_E_TRUNCATED, "a token file", count);
    free(copy);
}

static void write_file(const char *path, const struct craft_text *t, uint64_t count)
{
    FILE *f = fopen(path, "wb");

    if (!f || (t->count > 0 && fwrite(t->bytes, (size_t)t->count, 1, f) != 1) || fflush(f) != 0 ||
        ftruncate(fileno(f), (off_t)count) != 0 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void cut_files(const struct craft *c, const char *folder, uint64_t index_bytes, uint64_t token_bytes)
{
    struct leat_dataset *d;

    write_file(t_path(folder, "d.leat"), &c->index, index_bytes);
    write_file(t_path(folder, "d.tokens"), &c->tokens, token_bytes);
    check(leat_dataset_open(&d, t_path(folder, "d"), NULL, &t_err),
          index_bytes < 8 ? LEAT_E_NOT_LEAT : LEAT_E_TRUNCATED, "files", index_bytes + token_bytes);
    T_CHECK(d == NULL);
}

int main(void)
{
    static const uint64_t more[] = { 1, 2, 3, 4, 63, 64, 65, 4096, 65536, 1000000 };
    const char *folder = t_folder();
    uint64_t random = t_seed();

    for (uint64_t vocabulary = 5000; vocabulary <= 100000; vocabulary += 95000) {
        struct craft c;

        damage_dataset(&c, vocabulary);
        T_OK(damage_outcome(c.index.bytes, c.index.count, c.tokens.bytes, c.tokens.count, &t_err));
        for (uint64_t count = 0; count < c.index.count; count++)
            cut_index(&c, count);
        for (uint64_t count = 0; count < c.tokens.count; count++)
            cut_tokens(&c, count);
        for (unsigned i = 0; i < sizeof more / sizeof more[0]; i++) {
            cut_index(&c, c.index.count + more[i]);
            cut_tokens(&c, c.tokens.count + more[i]);
            cut_files(&c, folder, c.index.count + more[i], c.tokens.count);
            cut_files(&c, folder, c.index.count, c.tokens.count + more[i]);
        }
        for (unsigned i = 0; i < 50; i++) {
            cut_files(&c, folder, t_below(&random, c.index.count), c.tokens.count);
            cut_files(&c, folder, c.index.count, t_below(&random, c.tokens.count));
        }
        cut_files(&c, folder, 0, 0);
        craft_free(&c);
    }
    return t_end();
}
