/*
 * test_leases.c: a process that wants to cut a mapped file waits until the reader's next call, or until its views are
 * released, or the dataset is closed; then the reader goes on by reading, with the right tokens wherever the bytes are
 * still there. A child of the reader reads without the leases. Several threads may read while that happens (run this
 * under the thread sanitizer too).
 */
#include <pthread.h>

#include "cut_copy.h"

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

int main(void)
{
    uint64_t random = t_seed();

    begin_cuts(&random);
    if (!has_leases()) {
        free(tokens);
        return t_failures ? 1 : t_skip("no read lease can be had here");
    }
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
