/*
 * test_pack_arranged.c: leat_pack() refuses an input without a name, and with splits what cannot become of them, before
 * it reads anything, and leaves nothing behind. A run that had come to its end is known as such, however its fractions
 * are written. And one that loses its lock says so.
 */
#include "leat_pack.h"
#include "t.h"

static const char *folder;
static struct leat_tokenizer *tokenizer;

static void write_input(const char *path)
{
    FILE *f = fopen(path, "w");

    for (int i = 0; f && i < 40; i++)
        fprintf(f, "{\"text\": \"document %d\"}\n", i);
    T_CHECK(f && fclose(f) == 0);
}

static enum leat_status pack(const char *output, const struct leat_split *splits, size_t count, int resume,
                             struct leat_pack_report *report)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, "in.jsonl");

    o.tokenizer = tokenizer;
    o.threads = 1;
    o.splits = splits;
    o.split_count = count;
    o.resume = resume;
    return leat_pack(t_path(folder, output), &input, 1, &o, report, &t_err);
}

static void refuse(const struct leat_split *splits, size_t count, enum leat_status status, const char *what)
{
    uint64_t before = t_files(folder);

    for (int resume = 0; resume < 2; resume++) {
        T_REFUSED(pack("new", splits, count, resume, NULL), status, what);
        T_EQ(t_files(folder), before);
    }
}

static void test_no_name(void)
{
    const char *const inputs[] = { t_path(folder, "in.jsonl"), NULL };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    T_REFUSED(leat_pack(t_path(folder, "new"), inputs, 2, &o, NULL, &t_err), LEAT_E_ARGUMENT, "input 1 is NULL");
    T_STATUS(leat_pack(t_path(folder, "new"), NULL, 1, &o, NULL, &t_err), LEAT_E_ARGUMENT);
}

/* Removes the lock file of the first pass as soon as it is there. */
static uint32_t remove_lock(void *context, const struct leat_pack_progress *p)
{
    (void)p;
    if (unlink(t_path(folder, "lost.partial.packed/all.partial.lock")) == 0)
        *(unsigned *)context += 1;
    return 0;
}

/* Of a lock that was lost it was said that another process was writing the output. */
static void test_lost_lock(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, "in.jsonl");
    unsigned removed = 0;

    o.tokenizer = tokenizer;
    o.shuffle = 1;
    o.progress = remove_lock;
    o.context = &removed;
    T_STATUS(leat_pack(t_path(folder, "lost"), &input, 1, &o, NULL, &t_err), LEAT_E_BUSY);
    T_EQ(removed, 1);
    T_CONTAINS(t_err.message, "all.partial.lock was removed while this process was writing");
}

int main(void)
{
    static const struct leat_split good[] = { { "a", "0.25" }, { "b", "0.5" } };
    static const struct leat_split same[] = { { "a", ".250" }, { "b", "0.50" } };
    static const struct leat_split other[] = { { "a", "0.26" }, { "b", "0.5" } };
    struct leat_info infos[2] = { LEAT_INFO_INIT, LEAT_INFO_INIT };
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;

    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    write_input(t_path(folder, "in.jsonl"));
    refuse((const struct leat_split[]) { { "a/b", "0.1" } }, 1, LEAT_E_ARGUMENT, "invalid split name");
    refuse((const struct leat_split[]) { { "packed", "0.1" } }, 1, LEAT_E_ARGUMENT, "invalid split name");
    refuse((const struct leat_split[]) { { "a", "1.5" } }, 1, LEAT_E_ARGUMENT, "the fraction of split a is");
    refuse((const struct leat_split[]) { { "a", "0.6" }, { "b", "0.6" } }, 2, LEAT_E_ARGUMENT, "add up to more than 1");
    refuse(NULL, 1, LEAT_E_ARGUMENT, "splits is NULL");
    test_no_name();

    report.splits = infos;
    T_OK(pack("out", good, 2, 0, &report));
    T_EQ(report.documents + infos[0].documents + infos[1].documents, 40);
    T_OK(pack("out", good, 2, 1, &report));
    T_EQ(report.was_finished, 1);
    T_OK(pack("out", same, 2, 1, &report));
    T_EQ(report.was_finished, 1);
    T_STATUS(pack("out", other, 2, 1, &report), LEAT_E_EXISTS);

    /* one of the outputs has a name that is taken */
    T_OK(pack("new.b", NULL, 0, 0, NULL));
    refuse(good, 2, LEAT_E_EXISTS, "new.b.leat already exists");
    test_lost_lock();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
