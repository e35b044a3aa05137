/*
 * test_shrinks_after_open.c: files that are cut, overwritten, removed or renamed under an open dataset give errors, not
 * SIGBUS. A process that wants to cut a mapped file waits until the reader's next call, or until its views are
 * released; then the reader goes on by reading, with the right tokens wherever the bytes are still there. Several
 * threads may read while that happens (run this under the thread sanitizer too).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "small.h"

#define DOCUMENTS 2000
#define LONGEST   200

static const char *folder;
static char original[600], name[600]; /* the dataset that stays whole, and the copy that is cut */
static uint16_t *tokens;              /* what is in them */
static uint64_t token_count;

/* ---- The dataset ---- */

static void write_original(uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    tokens = malloc(DOCUMENTS * LONGEST * sizeof *tokens);
    o.vocabulary = 50000;
    o.store_ids = o.store_lines = o.store_hashes = 1;
    T_OK(leat_writer_open(&w, original, &o, &t_err));
    T_OK(leat_writer_add_input(w, "input", NULL, &t_err));
    T_OK(leat_writer_set_metadata(w, "key", "value", &t_err));
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        struct leat_origin origin = { .offset = i,
                                      .line = i,
                                      .id = "identifier",
                                      .id_bytes = 10,
                                      .text_hash = (const uint8_t *)"hash of a text, never 0" };
        uint64_t count = t_below(random, LONGEST);

        for (uint64_t j = 0; j < count; j++) /* never 0, which is what a file regrows with */
            tokens[token_count + j] = (uint16_t)(1 + t_below(random, 49999));
        T_OK(leat_writer_add_u16(w, tokens + token_count, count, &origin, &t_err));
        token_count += count;
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static struct leat_dataset *open_copy(enum leat_access access)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;

    unlink(with(name, ".tokens"));
    unlink(with(name, ".leat"));
    copy_dataset(original, name);
    o.access = access;
    T_OK(leat_dataset_open(&d, name, &o, &t_err));
    return d;
}

static struct file_map *map_of(struct leat_dataset *d, const char *suffix)
{
    return strcmp(suffix, ".tokens") == 0 ? dataset_part(d, 0)->data.file : &dataset_part(d, 0)->index->file;
}

static bool mapped(struct leat_dataset *d, const char *suffix)
{
    const struct file_map *f = map_of(d, suffix);

    return f->bytes && !(atomic_load(&f->state) & FILE_MAP_RETIRED);
}

static void check_tokens(const struct leat_dataset *d, uint64_t first, uint64_t count)
{
    uint16_t ids[4096];

    T_OK(leat_dataset_read(d, first, count, ids, &t_err));
    T_CHECK(memcmp(ids, tokens + first, count * 2) == 0);
}

static void check_all_tokens(const struct leat_dataset *d)
{
    for (uint64_t first = 0; first < token_count; first += 4096)
        check_tokens(d, first, token_count - first < 4096 ? token_count - first : 4096);
}

/* ---- The process that cuts ---- */

struct cutter {
    pid_t process;
    int go, done; /* pipes: a byte lets it begin; it writes one when it is through */
};

/* Cuts name + suffix to `length` bytes, then to `length_then`. */
static struct cutter start_cutter(const char *suffix, off_t length, off_t length_then)
{
    const char *path = with(name, suffix);
    struct cutter c;
    int go[2], done[2];

    if (pipe(go) != 0 || pipe(done) != 0 || (c.process = fork()) < 0) {
        perror("start_cutter");
        exit(1);
    }
    if (c.process == 0) {
        char byte;

        close(go[1]);
        _exit(read(go[0], &byte, 1) != 1 || truncate(path, length) != 0 || truncate(path, length_then) != 0 ||
              write(done[1], "", 1) != 1);
    }
    close(go[0]);
    close(done[1]);
    c.go = go[1];
    c.done = done[0];
    return c;
}

static void let_go(const struct cutter *c)
{
    T_CHECK(write(c->go, "", 1) == 1);
}

static bool is_through(const struct cutter *c, int milliseconds)
{
    struct pollfd p = { .fd = c->done, .events = POLLIN };

    return poll(&p, 1, milliseconds) == 1;
}

static void wait_for(const struct cutter *c)
{
    int status;

    T_CHECK(waitpid(c->process, &status, 0) == c->process && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(c->go);
    close(c->done);
}

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

/* ---- Every call on what is left ---- */

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
        is_error_or_ok(leat_dataset_origin(d, k, &origin, &t_err));
        is_error_or_ok(leat_dataset_id(d, k, text, sizeof text, &a, &t_err));
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

/* On trust, what is still there can be read. */
static void cut_on_trust(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_TRUSTED);

    cut(d, ".tokens", 4096 * 10, 4096 * 10);
    check_tokens(d, 0, 4096);
    check_tokens(d, 4096 * 5 - 100, 100);
    T_CHECK(mapped(d, ".tokens"));
    leat_dataset_close(d);
}

/* ---- Who waits for whom ---- */

/* Until the kernel has called the lease back: then the cutter waits for us. */
static void wait_for_call_back(struct leat_dataset *d, const char *suffix)
{
    while (fcntl(map_of(d, suffix)->fd, F_GETLEASE) == F_RDLCK)
        usleep(1000);
}

static void cutter_waits_for_a_call(const char *suffix)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    struct cutter c = start_cutter(suffix, 4096 * 3, 4096 * 3);
    uint64_t first, count;

    let_go(&c);
    wait_for_call_back(d, suffix);
    T_CHECK(!is_through(&c, 50));
    T_CHECK(mapped(d, suffix));
    check_tokens(d, 0, 10);
    T_OK(leat_dataset_document(d, 0, &first, &count, &t_err));
    T_CHECK(atomic_load(&map_of(d, suffix)->unmapped));
    wait_for(&c);
    leat_dataset_close(d);
}

static void cutter_waits_for_a_view(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    struct cutter c = start_cutter(".tokens", 0, 0);
    struct leat_view one, two, refused;

    T_OK(leat_dataset_view(d, 0, token_count, &one, &t_err));
    T_OK(leat_dataset_view(d, 100, 50, &two, &t_err));
    let_go(&c);
    wait_for_call_back(d, ".tokens");
    check_tokens(d, 0, 4096);
    T_STATUS(leat_dataset_view(d, 0, 1, &refused, &t_err), LEAT_E_NOT_MAPPED);
    leat_view_release(&two);
    T_CHECK(!is_through(&c, 50));
    T_CHECK(memcmp(one.tokens, tokens, token_count * 2) == 0);
    check_all_tokens(d);
    leat_view_release(&one);
    T_CHECK(atomic_load(&dataset_part(d, 0)->data.file->unmapped));
    wait_for(&c);
    leat_dataset_close(d);
}

/* Closing lets go at once. */
static void cutter_waits_for_close(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    struct cutter c = start_cutter(".leat", 0, 0);

    let_go(&c);
    wait_for_call_back(d, ".leat");
    T_CHECK(!is_through(&c, 50));
    leat_dataset_close(d);
    wait_for(&c);
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

static void child_reads(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    struct leat_view view;
    pid_t child = fork();
    int status;

    if (child == 0) {
        t_failures = 0;
        check_all_tokens(d);
        T_STATUS(leat_dataset_view(d, 0, 1, &view, &t_err), LEAT_E_NOT_MAPPED);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    T_EQ(fcntl(dataset_part(d, 0)->data.file->fd, F_GETLEASE), F_RDLCK);
    T_EQ(fcntl(dataset_part(d, 0)->index->file.fd, F_GETLEASE), F_RDLCK);
    T_OK(leat_dataset_view(d, 0, token_count, &view, &t_err));
    T_CHECK(memcmp(view.tokens, tokens, token_count * 2) == 0);
    leat_view_release(&view);
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

/* ---- Threads ---- */

struct readers {
    struct leat_dataset *d;
    uint64_t left; /* tokens that the cut leaves */
    atomic_uint_fast64_t seed, reads;
    atomic_bool stop;
};

static void *read_on(void *context)
{
    struct readers *r = context;
    uint64_t random = atomic_fetch_add(&r->seed, 1), first, count;
    struct leat_error err;
    struct leat_view view;
    uint16_t ids[500];

    while (!atomic_load(&r->stop)) {
        enum leat_status s;

        count = 1 + t_below(&random, 500);
        first = t_below(&random, token_count - count);
        if (t_below(&random, 4) == 0) {
            s = leat_dataset_view(r->d, first, count, &view, &err);
            T_CHECK(s == LEAT_E_NOT_MAPPED || (s == LEAT_OK && memcmp(view.tokens, tokens + first, count * 2) == 0));
            if (s == LEAT_OK)
                leat_view_release(&view);
        } else {
            s = leat_dataset_read(r->d, first, count, ids, &err);
            T_CHECK(s == LEAT_OK ? memcmp(ids, tokens + first, count * 2) == 0
                                 : s == LEAT_E_TRUNCATED && first + count > r->left);
        }
        if (t_below(&random, 4) == 0)
            leat_dataset_document(r->d, t_below(&random, DOCUMENTS), &first, &count, NULL);
        atomic_fetch_add(&r->reads, 1);
    }
    return NULL;
}

static void wait_for_reads(struct readers *r, uint64_t more)
{
    uint64_t until = atomic_load(&r->reads) + more;

    while (atomic_load(&r->reads) < until)
        usleep(100);
}

static void threads_read_while_it_is_cut(uint64_t *random, const char *suffix)
{
    struct readers r = { .d = open_copy(LEAT_ACCESS_LEASED), .left = t_below(random, token_count) };
    off_t length = (off_t)(strcmp(suffix, ".tokens") == 0 ? 2 * r.left : t_below(random, 8192));
    struct cutter c = start_cutter(suffix, length, length); /* before there are threads */
    pthread_t ids[4];

    if (strcmp(suffix, ".tokens") != 0)
        r.left = token_count;
    atomic_store(&r.seed, *random);
    for (unsigned i = 0; i < 4; i++)
        T_CHECK(pthread_create(&ids[i], NULL, read_on, &r) == 0);
    wait_for_reads(&r, t_below(random, 200));
    let_go(&c);
    wait_for(&c);
    wait_for_reads(&r, 200);
    atomic_store(&r.stop, true);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    T_CHECK(!mapped(r.d, suffix));
    leat_dataset_close(r.d);
}

static bool has_leases(void)
{
    struct leat_dataset *d = open_copy(LEAT_ACCESS_LEASED);
    bool leased = mapped(d, ".tokens") && mapped(d, ".leat");

    leat_dataset_close(d);
    return leased;
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    snprintf(original, sizeof original, "%s/original", folder);
    snprintf(name, sizeof name, "%s/d", folder);
    write_original(&random);
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
    cutter_waits_for_a_call(".tokens");
    cutter_waits_for_a_call(".leat");
    cutter_waits_for_a_view();
    cutter_waits_for_close();
    child_reads();
    for (int i = 0; i < 10; i++)
        threads_read_while_it_is_cut(&random, i % 3 ? ".tokens" : ".leat");
    free(tokens);
    return t_end();
}
