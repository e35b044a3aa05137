/*
 * test_halves_of_different_runs.c: the token file of one run beside the index of another. Where sizes, or the first or
 * last page, differ, opening says so; where only pages in between differ, reading cannot know, and verifying says so.
 *
 * Opening never makes such a dataset itself: one that raced with a replacement paired the old index with the new tokens
 * if both had the same size, first and last page.
 */
#include "one_document.h"
#include "small.h"
#include "support/fault.h"

#define PAGES          5u
#define TOKENS_IN_PAGE 2048u
#define TOKENS         (PAGES * TOKENS_IN_PAGE)

static char a[600], b[600], mixed[600];

static void write_run(const char *name, const uint16_t *tokens, uint64_t count, uint64_t vocabulary)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = vocabulary;
    o.force = 1;
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    for (uint64_t at = 0; at < count; at += 100)
        T_OK(add_one_document(w, tokens + at, 2, NULL, count - at < 100 ? count - at : 100, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void mix(void)
{
    copy_file(with(a, ".tokens"), with(mixed, ".tokens"));
    copy_file(with(b, ".leat"), with(mixed, ".leat"));
}

static enum leat_status open_mixed(enum leat_access access)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;
    enum leat_status s;

    o.access = access;
    s = leat_dataset_open(&d, mixed, &o, &t_err);
    leat_dataset_close(d);
    return s;
}

static void refused_at_open(enum leat_status status, const char *sentence)
{
    mix();
    for (enum leat_access access = LEAT_ACCESS_LEASED; access <= LEAT_ACCESS_READ; access++) {
        memset(&t_err, 0, sizeof t_err);
        T_STATUS(open_mixed(access), status);
        T_EQ(t_err.status, status);
        T_CONTAINS(t_err.message, sentence);
        T_CONTAINS(t_err.message, mixed);
    }
}

/* One page in the middle is another. */
static void found_by_verifying(unsigned page)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_dataset *d;
    char place[32];

    mix();
    snprintf(place, sizeof place, "page %u of ", page);
    T_OK(leat_dataset_open(&d, mixed, NULL, &t_err));
    T_REFUSED(leat_dataset_verify(d, NULL, &report, &t_err), LEAT_E_CHECKSUM, place);
    T_CONTAINS(t_err.message, with(mixed, ".tokens"));
    T_EQ(report.damaged_pages, 1);
    T_EQ(report.part, 0);
    T_EQ(report.page, page);
    T_EQ(report.first_document, page * TOKENS_IN_PAGE / 100);
    T_REFUSED(leat_dataset_verify_range(d, page * TOKENS_IN_PAGE, 1, &t_err), LEAT_E_CHECKSUM, place);
    T_OK(leat_dataset_verify_range(d, (page - 1) * TOKENS_IN_PAGE, TOKENS_IN_PAGE, &t_err));
    T_OK(leat_dataset_verify_range(d, (page + 1) * TOKENS_IN_PAGE, TOKENS_IN_PAGE, &t_err));
    leat_dataset_close(d);
}

/* ---- Opening while the dataset is replaced ---- */

static struct {
    const uint16_t *tokens[2]; /* what it is replaced by, in turn */
    unsigned times, done;
} replacing;

/* Opening reads the index before it opens the tokens. */
static void replace_it(int fd)
{
    (void)fd;
    fault_watch_reads(NULL);
    write_run(a, replacing.tokens[replacing.done % 2], TOKENS, 1000);
    if (++replacing.done < replacing.times)
        fault_watch_reads(replace_it);
}

static enum leat_status open_replaced(struct leat_dataset **d, unsigned times)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    enum leat_status s;

    o.access = LEAT_ACCESS_READ;
    replacing.times = times;
    replacing.done = 0;
    fault_watch_reads(replace_it);
    s = leat_dataset_open(d, a, &o, &t_err);
    fault_watch_reads(NULL);
    return s;
}

static void never_made_by_opening(const uint16_t *tokens, const uint16_t *others)
{
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_dataset *d;
    uint16_t read[TOKENS];

    replacing.tokens[0] = others;
    replacing.tokens[1] = tokens;
    for (unsigned times = 1; times <= 3; times++) {
        write_run(a, tokens, TOKENS, 1000);
        T_OK(open_replaced(&d, times));
        T_EQ(replacing.done, times);
        T_OK(leat_dataset_read(d, 0, TOKENS, read, &t_err));
        T_CHECK(memcmp(read, times % 2 ? others : tokens, sizeof read) == 0);
        T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
        leat_dataset_close(d);
    }
    T_REFUSED(open_replaced(&d, 1000), LEAT_E_MISMATCH, "was replaced each of the");
    T_CHECK(d == NULL && replacing.done < 1000);
}

int main(void)
{
    const char *folder = t_folder();
    uint64_t random = t_seed();
    uint16_t tokens[TOKENS + 100], others[TOKENS + 100];

    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    snprintf(mixed, sizeof mixed, "%s/mixed", folder);
    for (unsigned i = 0; i < TOKENS + 100; i++)
        tokens[i] = (uint16_t)t_below(&random, 1000);
    write_run(a, tokens, TOKENS, 1000);
    for (unsigned page = 0; page < PAGES; page++) {
        memcpy(others, tokens, sizeof tokens);
        others[page * TOKENS_IN_PAGE + t_below(&random, TOKENS_IN_PAGE)] ^= 1;
        write_run(b, others, TOKENS, 1000);
        if (page == 0 || page == PAGES - 1)
            refused_at_open(LEAT_E_MISMATCH, "do not belong together");
        else
            found_by_verifying(page);
    }
    memcpy(others, tokens, sizeof tokens);
    others[TOKENS / 2] ^= 1;
    never_made_by_opening(tokens, others);
    write_run(a, tokens, TOKENS, 1000);
    for (unsigned i = 0; i < TOKENS; i++)
        others[i] = (uint16_t)t_below(&random, 1000);
    write_run(b, others, TOKENS, 1000);
    refused_at_open(LEAT_E_MISMATCH, "do not belong together");
    write_run(b, tokens, TOKENS + 1, 1000);
    refused_at_open(LEAT_E_TRUNCATED, "do not belong together");
    write_run(b, tokens, TOKENS - 1, 1000);
    refused_at_open(LEAT_E_TRUNCATED, "do not belong together");
    write_run(b, tokens, TOKENS, 70000); /* four bytes a token */
    refused_at_open(LEAT_E_TRUNCATED, "do not belong together");
    write_run(b, tokens, TOKENS, 1000); /* and the same again is the same */
    mix();
    T_EQ(verified(mixed), LEAT_OK);
    return t_end();
}
