/*
 * test_plan_memory.c: whichever allocation or system call fails while a plan of any order is loaded, asked, and opened
 * in another order, or while documents are sorted into a file: an error that says so, and nothing left allocated or
 * open; or the answers of the undisturbed run. Indexes are mapped, or read.
 */
#include "base/bytes.h"
#include "each_call.h"
#include "one_document.h"
#include "pieces_of.h"
#include "small.h"

static const char *folder;
static enum leat_access access_mode;

/* Documents of 0 to 100 tokens. */
static void write_dataset(const char *name, uint64_t documents)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static const uint16_t ids[101];
    struct leat_writer *w;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    for (uint64_t i = 0; i < documents; i++)
        T_OK(add_one_document(w, ids, 2, NULL, i * 37 % 101, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Two documents of 2^20 tokens and more, which are a hole in datatrove's file. */
static void write_long(const char *name)
{
    const char *path = t_path(folder, name), *index = with(path, ".index");
    uint8_t ends[16];

    bytes_store64(ends, (1 << 20) + 5);
    bytes_store64(ends + 8, (1 << 21) + 5);
    t_write(index, ends, sizeof ends);
    t_write(path, "", 0);
    T_EQ(truncate(path, 2 * ((1 << 21) + 5)), 0);
}

static uint32_t found(void *answer, const struct leat_sample *sample)
{
    each_call_number(answer, sample->number);
    return 0;
}

static enum leat_status ask(const struct leat_plan *plan, uint64_t *answer, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct leat_sample samples[64];
    struct leat_piece pieces[64];
    uint64_t got;

    for (uint64_t first = 0; s == LEAT_OK && first < 640; first += 64) {
        s = leat_plan_samples(plan, first, 64, samples, &got, err);
        for (uint64_t i = 0; s == LEAT_OK && i < got; i++)
            each_call_number(answer, samples[i].token ^ (uint64_t)samples[i].source << 32);
    }
    for (uint64_t n = 6; s == LEAT_OK && n < 26; n++) {
        s = pieces_of(plan, n, pieces, 64, &got, err);
        for (uint64_t i = 0; s == LEAT_OK && i < got; i++)
            each_call_number(answer, pieces[i].token ^ (uint64_t)pieces[i].count << 32);
    }
    return s == LEAT_OK
               ? leat_plan_trace(plan, &(struct leat_trace) { sizeof(struct leat_trace), 0, 100, 300, 2, 0, 100 },
                                 found, answer, err)
               : s;
}

static enum leat_status run(const char *path, uint64_t *answer, struct leat_error *err)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct leat_plan *plan;
    enum leat_status s;

    open.access = access_mode;
    open.retry_seconds = LEAT_RETRY_NEVER;
    s = leat_plan_load(&plan, path, &open, err);
    if (s == LEAT_OK)
        s = ask(plan, answer, err);
    else
        T_CHECK(plan == NULL);
    if (s == LEAT_OK && !strstr(path, "megatron")) { /* whose split is another one */
        struct leat_plan *again;

        s = leat_plan_reorder(&again, plan, LEAT_ORDER_SHUFFLED, 16, err);
        if (s == LEAT_OK)
            s = ask(again, answer, err);
        leat_plan_close(again);
    }
    leat_plan_close(plan);
    return s;
}

static enum leat_status fit(const char *name, uint64_t *answer, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    if (s == LEAT_OK)
        s = leat_dataset_fit(d, NULL, err);
    leat_dataset_close(d);
    each_call_number(answer, access(with(name, ".fit"), F_OK) == 0);
    return s;
}

static void remove_list(void)
{
    unlink(t_path(folder, "a.fit"));
}

/* %s: the folder. `read`: indexes are only read, because sorting documents takes long. */
static const struct {
    bool read;
    const char *lines;
} plans[] = {
    { false, "source %s/a:0.5\nsource %s/b:0.2:3\nsource %s/a:1\nseq-len 16\nbase-len 32\nat 640:1,1:len=32\n"
             "at 1280:1,2,3\nskip 5:6\nsplit x=0.8,y=0.2\nuse x\n" },
    { false, "source %s/a\nsource %s/b\nseq-len 30\norder documents\nepochs 2\n" },
    { true, "source %s/a:1\nsource %s/b:2\nseq-len 40\norder fit\nalign 4\nmin-length 3\nat 9:3,1:len=60\n"
            "at 20:1,0:len=40\nsplit x=0.8,y=0.2\nuse x\n" },
    { false, "source %s/fitted\nseq-len 40\norder fit\nepochs 3\n" }, /* with a list beside it */
    { true, "source %s/long.ds\nseq-len 65536\norder fit\nepochs 1\n" },
    { false, "source %s/a:1\nsource %s/b:2\nseq-len 30\norder megatron\nsplit 8,1,1\nsamples 90\n" },
};

int main(void)
{
    struct leat_dataset *d;

    folder = t_folder();
    write_dataset("a", 50);
    write_dataset("b", 17);
    write_dataset("fitted", 50);
    write_long("long.ds");
    each_call_fails(&(struct each_call) { .run = fit, .subject = t_text("%s/a", folder), .prepare = remove_list });
    remove_list();
    T_OK(leat_dataset_open(&d, t_path(folder, "fitted"), NULL, &t_err));
    T_OK(leat_dataset_fit(d, NULL, &t_err));
    leat_dataset_close(d);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        const char *path = t_path(folder, strstr(plans[i].lines, "megatron") ? "megatron.plan" : "other.plan");
        struct each_call c = { .run = run, .subject = path };
        FILE *f = fopen(path, "w");

        fprintf(f, "leat plan 1\n");
        for (const char *from = plans[i].lines; *from; from++)
            if (from[0] == '%')
                fputs(folder, f), from++;
            else
                fputc(*from, f);
        fclose(f);
        for (unsigned k = plans[i].read; k < 2; k++) {
            access_mode = k == 0 ? LEAT_ACCESS_LEASED : LEAT_ACCESS_READ;
            each_call_fails(&c);
        }
    }
    return t_end();
}
