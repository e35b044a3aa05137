/*
 * test_writer_memory.c: memory does not grow with the number of documents: millions of tiny ones are written, verified,
 * merged and arranged anew, each in a process of its own, whose peak leaves no room for four bytes a document.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

#define MANY     2500000u
#define WITH_IDS 1200000u

static const char *folder;

struct work {
    const char *name, *output;
    uint64_t documents;
    int ids;
};

static void write_many(const struct work *work)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    uint64_t input;
    struct leat_writer *w;

    options.vocabulary = 1000;
    options.store_ids = options.store_lines = options.store_hashes = work->ids;
    T_OK(leat_writer_open(&w, work->name, &options, &t_err));
    T_OK(leat_writer_add_input(w, "input", &input, &t_err));
    for (uint64_t i = 0; i < work->documents; i++) {
        struct leat_origin o = { .input = input, .offset = i, .line = i + 1 };
        uint64_t text = i % 4 == 3 ? i - 1 : i, random = text, hash[2]; /* a quarter of the texts comes twice */
        uint16_t token = (uint16_t)(text % 1000);
        char id[24];

        if (work->ids) {
            hash[0] = t_random(&random);
            hash[1] = t_random(&random);
            o.text_hash = (const uint8_t *)hash;
            o.id_bytes = (uint64_t)snprintf(id, sizeof id, "%" PRIu64, i);
            o.id = id;
        }
        T_OK(add_one_document(w, &token, 2, NULL, text / 2 % 2, &o, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void verify_many(const struct work *work)
{
    struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;

    options.threads = 2;
    T_OK(leat_dataset_open(&d, work->name, &how, &t_err));
    T_OK(leat_dataset_verify(d, &options, NULL, &t_err));
    leat_dataset_close(d);
}

static void merge_many(const struct work *work)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;

    report.info = &info;
    T_OK(leat_merge(work->output, &work->name, 1, NULL, &report, &t_err));
    T_EQ(info.documents, work->documents);
}

/* Everything at once, with 8 MiB to do it in. */
static void arrange_many(const struct work *work)
{
    static const struct leat_split splits[] = { { "half", "0.5" } };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT, half = LEAT_INFO_INIT;

    o.force = o.shuffle = o.dedup = 1;
    o.splits = splits;
    o.split_count = 1;
    o.memory = (uint64_t)8 << 20;
    report.splits = &half;
    report.info = &info;
    T_OK(leat_merge(work->output, &work->name, 1, &o, &report, &t_err));
    T_EQ(report.documents, work->documents);
    T_EQ(report.deduplicated, work->documents / 4);
    T_EQ(info.documents + half.documents, work->documents - work->documents / 4);
    T_CHECK(half.documents > work->documents / 3 && info.documents > work->documents / 3);
}

static long peak_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Does it in a new process, and looks at its peak. */
static void in_process(void (*run)(const struct work *work), const char *what, const struct work *work, long most_kib)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        long before = peak_kib(), grown;

        run(work);
        grown = peak_kib() - before;
        fprintf(stderr, "%s of %" PRIu64 " documents: %ld KiB\n", what, work->documents, grown);
        if (grown >= most_kib)
            T_FAIL("%s of %" PRIu64 " documents took %ld KiB of memory", what, work->documents, grown);
        _exit(t_end());
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* A file that somebody has open for writing is read and not mapped (LEAT_ACCESS_LEASED): what the kernel keeps of a
 * mapped file would count as memory. */
static int hold(const char *name, const char *ending)
{
    int fd;

    fd = open(t_text("%s%s", name, ending), O_RDWR);
    T_CHECK(fd >= 0);
    return fd;
}

static void remove_dataset(const char *name)
{
    T_EQ(unlink(t_text("%s.leat", name)), 0);
    T_EQ(unlink(t_text("%s.tokens", name)), 0);
}

int main(void)
{
    struct work many = { .documents = MANY }, with_ids = { .documents = WITH_IDS, .ids = 1 };
    int index, tokens;
    const char *asked;

    if (T_SANITIZED)
        return t_skip("a sanitizer's own memory grows");
    asked = getenv("LEAT_TEST_QUICK");
    if (asked && asked[0])
        return t_skip("takes seconds, and an emulator's memory is not ours");
    folder = t_folder();
    many.name = t_path(folder, "many");
    with_ids.name = t_path(folder, "ids");
    with_ids.output = t_path(folder, "merged");
    in_process(write_many, "writing", &many, 8 << 10);
    in_process(verify_many, "verifying", &many, 8 << 10);
    remove_dataset(many.name);
    in_process(write_many, "writing with ids", &with_ids, 8 << 10);
    in_process(verify_many, "verifying with ids", &with_ids, 6 << 10);
    index = hold(with_ids.name, ".leat");
    tokens = hold(with_ids.name, ".tokens");
    in_process(merge_many, "merging with ids", &with_ids, 12 << 10);
    in_process(arrange_many, "shuffling, deduplicating and splitting", &with_ids, 20 << 10);
    close(index);
    close(tokens);
    remove_dataset(with_ids.name);
    remove_dataset(with_ids.output);
    return t_end();
}
