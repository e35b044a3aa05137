/*
 * test_shrinks_after_open.c: files that are cut, overwritten, removed or renamed under an open dataset give errors, not
 * SIGBUS, and the right tokens wherever the bytes are still there. test_leases.c has who waits for whom.
 */
#include <sys/mman.h>

#include "cut_copy.h"

/* ---- Every call on what is left ---- */

/* Cuts while this process makes the calls that give the leases back. */
static void cut(const struct leat_dataset *d, const char *suffix, off_t length, off_t length_then)
{
    struct cutter c = start_cutter(suffix, length, length_then);
    uint64_t start;
    uint16_t id;

    let_go(&c);
    while (!is_through(&c, 1)) {
        leat_dataset_read(d, 0, 1, &id, NULL);
        leat_dataset_starts(d, 0, 1, &start, NULL);
    }
    wait_for(&c);
}

static void is_error_or_ok(enum leat_status s)
{
    T_CHECK(s == LEAT_OK || s == LEAT_E_TRUNCATED || s == LEAT_E_DOCUMENTS || s == LEAT_E_RECORD ||
            s == LEAT_E_NOT_FOUND || s == LEAT_E_CHECKSUM);
    if (s != LEAT_OK)
        T_CHECK(t_err.status == s && t_err.message[0] != '\0');
}

/* The token file has its first `length` bytes still; after them nothing, or zeros. */
static void check_cut_tokens(const struct leat_dataset *d, uint64_t length, bool regrown)
{
    for (uint64_t first = 0; first < token_count; first += 1000) {
        uint64_t count = token_count - first < 1000 ? token_count - first : 1000;
        bool whole = 2 * (first + count) <= length;
        uint16_t ids[1000];
        enum leat_status s = leat_dataset_read(d, first, count, ids, &t_err);

        T_EQ(s, whole || regrown ? LEAT_OK : LEAT_E_TRUNCATED);
        if (s == LEAT_OK && whole)
            T_CHECK(memcmp(ids, tokens + first, count * 2) == 0);
        s = leat_dataset_verify_range(d, first, count, &t_err);
        if (!whole)
            T_EQ(s, regrown ? LEAT_E_CHECKSUM : LEAT_E_TRUNCATED);
        else
            T_CHECK(s == LEAT_OK || s == (regrown ? LEAT_E_CHECKSUM : LEAT_E_TRUNCATED)); /* of its last page */
    }
}

static void ask_everything(const struct leat_dataset *d)
{
    uint64_t a, b, starts[100];
    struct leat_stored_tokenizer *tokenizer;
    struct leat_input input = LEAT_INPUT_INIT;
    struct leat_metadata *metadata = NULL;
    struct leat_origin origin;
    char text[64];

    for (uint64_t k = 0; k < DOCUMENTS; k += 97) {
        is_error_or_ok(leat_dataset_document(d, k, &a, &b, &t_err));
        is_error_or_ok(leat_dataset_starts(d, k < DOCUMENTS - 100 ? k : 0, 100, starts, &t_err));
        is_error_or_ok(leat_dataset_documents_in(d, 50 * k, 2000, &a, &b, &t_err));
        is_error_or_ok(leat_dataset_origins(d, k, 1, &origin, &t_err));
        is_error_or_ok(leat_dataset_ids(d, k, 1, text, sizeof text, &a, &t_err));
        is_error_or_ok(leat_dataset_find_origin(d, 0, k, &a, &t_err));
    }
    is_error_or_ok(leat_dataset_find_id(d, "another", 7, &a, &t_err));
    is_error_or_ok(leat_dataset_find_input(d, "input", &a, &t_err));
    is_error_or_ok(leat_dataset_input(d, 0, &input, &t_err));
    is_error_or_ok(leat_dataset_input_path(d, 0, text, sizeof text, &a, &t_err));
    is_error_or_ok(leat_dataset_metadata(d, 0, &metadata, &t_err));
    leat_metadata_free(metadata);
    T_STATUS(leat_dataset_tokenizer(d, &tokenizer, &t_err), LEAT_E_NOT_FOUND);
}

static void one_cut(enum leat_access access, const char *suffix, off_t size, off_t length, bool regrow)
{
    struct leat_dataset *d = open_copy(access);
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    bool of_tokens = strcmp(suffix, ".tokens") == 0;
    struct leat_view view;
    enum leat_status s;

    check_tokens(d, token_count - 4096, 4096);
    cut(d, suffix, length, regrow ? size : length);
    T_CHECK(!mapped(d, suffix));
    if (of_tokens) {
        check_cut_tokens(d, (uint64_t)length, regrow);
        T_STATUS(leat_dataset_view(d, 0, 1, &view, &t_err), LEAT_E_NOT_MAPPED);
    } else {
        check_all_tokens(d);
    }
    ask_everything(d);
    s = leat_dataset_verify(d, NULL, &report, &t_err);
    if (regrow)
        T_CHECK(s != LEAT_OK && s != LEAT_E_TRUNCATED);
    else
        T_EQ(s, LEAT_E_TRUNCATED);
    T_CONTAINS(t_err.message, name);
    leat_dataset_close(d);
}

/* It named the byte at which reading stopped, not where the file ends now. */
static void says_where(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_READ);
    uint16_t token;

    cut(d, ".tokens", 4100, 4100);
    T_REFUSED(leat_dataset_read(d, token_count - 1, 1, &token, &t_err), LEAT_E_TRUNCATED,
              "ends at byte 4100, but was longer");
    T_EQ(t_err.offset, 4100);
    leat_dataset_close(d);
}

static void cuts(enum leat_access access)
{
    static const char *const suffixes[] = { ".tokens", ".leat" };

    for (unsigned i = 0; i < 2; i++) {
        struct stat st;
        off_t lengths[10];

        T_CHECK(stat(with(original, suffixes[i]), &st) == 0);
        memcpy(lengths,
               (off_t[]) { 0, 1, 4095, 4096, 4097, 8192, st.st_size / 2, st.st_size / 2 + 1, st.st_size - 2,
                           st.st_size - 1 },
               sizeof lengths);
        for (unsigned j = 0; j < 10; j++) {
            one_cut(access, suffixes[i], st.st_size, lengths[j], false);
            one_cut(access, suffixes[i], st.st_size, lengths[j], true);
        }
    }
}

/* Whether this kernel reads pages of a map without touching them: since Linux 5.14. */
static bool tells_what_is_there(void)
{
    bool tells = false;
#if defined(MADV_POPULATE_READ)
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    tells = page != MAP_FAILED && madvise(page, 4096, MADV_POPULATE_READ) == 0;
    munmap(page, 4096);
#endif
    return tells;
}

/* On trust, what is still there can be read, and be viewed. */
static void cut_on_trust(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_TRUSTED);
    struct leat_view view;

    cut(d, ".tokens", 4096 * 10, 4096 * 10);
    T_OK(leat_dataset_view(d, 0, 4096, &view, &t_err));
    T_CHECK(memcmp(view.tokens, tokens, 8192) == 0);
    leat_view_release(&view);
    if (tells_what_is_there()) {
        T_REFUSED(leat_dataset_view(d, 4096 * 25, 10, &view, &t_err), LEAT_E_NOT_MAPPED,
                  "the disk does not deliver tokens 102400 to 102410 of ");
        T_EQ(t_err.hint, LEAT_HINT_READ);
    }
    check_tokens(d, 0, 4096);
    check_tokens(d, 4096 * 5 - 100, 100);
    T_CHECK(mapped(d, ".tokens"));
    leat_dataset_close(d);
}

/* ---- Others with the files ---- */

static void somebody_writes_already(void)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d = open_copy(LEAT_ACCESS_READ);
    struct leat_view view;
    int fd;

    leat_dataset_close(d);
    fd = open(with(name, ".tokens"), O_RDWR | O_CLOEXEC);
    T_OK(leat_dataset_open(&d, name, &o, &t_err));
    T_STATUS(leat_dataset_view(d, 0, 1, &view, &t_err), LEAT_E_NOT_MAPPED);
    check_all_tokens(d);
    T_CHECK(ftruncate(fd, 4096) == 0); /* no lease: nobody waits */
    check_cut_tokens(d, 4096, false);
    close(fd);
    leat_dataset_close(d);
}

/* An empty token file is not mapped: whoever wants to write it must not wait for us. */
static void empty_file_is_not_held(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_writer *w;
    int fd;

    o.vocabulary = 10;
    T_OK(leat_writer_open(&w, t_path(folder, "empty"), &o, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&d, t_path(folder, "empty"), NULL, &t_err));
    fd = open(t_path(folder, "empty.tokens"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    T_CHECK(fd >= 0);
    close(fd);
    leat_dataset_close(d);
}

static void names_change(enum leat_access access)
{
    struct leat_dataset *d = open_copy(access);

    T_CHECK(rename(with(name, ".tokens"), with(name, ".moved")) == 0);
    check_all_tokens(d);
    T_CHECK(unlink(with(name, ".moved")) == 0 && unlink(with(name, ".leat")) == 0);
    check_all_tokens(d);
    copy_file(with(original, ".leat"), with(name, ".tokens")); /* another file of that name */
    check_all_tokens(d);
    ask_everything(d);
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_dataset_close(d);
}

int main(void)
{
    uint64_t random = t_seed();

    begin_cuts(&random);
    says_where();
    cuts(LEAT_ACCESS_READ);
    cut_on_trust();
    somebody_writes_already();
    empty_file_is_not_held();
    for (enum leat_access access = LEAT_ACCESS_LEASED; access <= LEAT_ACCESS_READ; access++)
        names_change(access);
    if (!has_leases()) {
        free(tokens);
        return t_failures ? 1 : t_skip("no read lease can be had here: the rest passed");
    }
    cuts(LEAT_ACCESS_LEASED);
    free(tokens);
    return t_end();
}
