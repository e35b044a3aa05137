/*
 * test_resume.c: a run that is stopped or killed any number of times, at any place, and resumed each time gives the
 * bytes of a run that was never stopped. test_resume_refused.c has what is refused.
 */
#include <sys/wait.h>

#include "one_document.h"
#include "small.h"

static const char *folder;
static char work[560];
static struct small fresh, reference;

/* What a run is made of; document k is a function of it. */
struct plan {
    uint64_t seed, vocabulary, documents, longest, end, begin;
    bool lines, ids;
};

static struct leat_writer_options plan_options(const struct plan *p)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = p->vocabulary;
    o.end_token = p->end;
    o.begin_token = p->begin;
    o.store_lines = p->lines;
    o.store_ids = p->ids;
    return o;
}

static void plan_document(struct leat_writer *w, const struct plan *p, uint64_t k)
{
    uint64_t random = p->seed + 7919 * k, count = t_below(&random, p->longest);
    struct leat_origin o = { .input = k * 3 / p->documents, .offset = t_below(&random, 1000) + 900 * k, .line = k };
    uint32_t *ids = malloc((count + 1) * sizeof *ids);
    const char *id = t_text("%" PRIx64, t_random(&random) >> t_below(&random, 60));

    o.id = id;
    o.id_bytes = strlen(id);
    for (uint64_t i = 0; i < count; i++)
        ids[i] = (uint32_t)t_below(&random, p->vocabulary);
    T_OK(add_one_document(w, ids, 4, NULL, count, &o, &t_err));
    free(ids);
}

/* Inputs and metadata come on the way, before document k. */
static void plan_before(struct leat_writer *w, const struct plan *p, uint64_t k)
{
    char text[32];

    if (k * 3 % p->documents < 3) {
        snprintf(text, sizeof text, "input-%" PRIu64, k * 3 / p->documents);
        T_OK(leat_writer_add_input(w, text, NULL, &t_err));
        T_OK(leat_writer_set_metadata(w, "last input", text, &t_err));
        T_OK(leat_writer_set_metadata(w, text, "seen", &t_err));
    }
}

static void plan_documents(struct leat_writer *w, const struct plan *p, uint64_t from, uint64_t to)
{
    for (uint64_t k = from; k < to; k++) {
        plan_before(w, p, k);
        plan_document(w, p, k);
    }
}

static void write_plan(const struct plan *p, const char *name)
{
    struct leat_writer_options o = plan_options(p);
    struct leat_writer *w;

    o.force = 1;
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    plan_documents(w, p, 0, p->documents);
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void checkpoint(struct leat_writer *w, uint64_t done)
{
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
}

/* The writer at its last checkpoint, or a new one; *done is where it is. */
static struct leat_writer *go_on(const struct plan *p, bool anew, uint64_t *done)
{
    struct leat_writer_options o = plan_options(p);
    struct leat_writer *w;
    size_t note_bytes;
    void *note;

    *done = 0;
    if (anew) {
        T_OK(leat_writer_open(&w, fresh.name, &o, &t_err));
        checkpoint(w, 0);
        return w;
    }
    T_OK(leat_writer_resume(&w, fresh.name, &o, &note, &note_bytes, &t_err));
    T_EQ(note_bytes, sizeof *done);
    memcpy(done, note, sizeof *done);
    leat_writer_free_note(note);
    T_EQ(leat_writer_documents(w), *done);
    return w;
}

/* Some documents, checkpoints now and then, and more documents that will be lost. */
static void write_some(struct leat_writer *w, const struct plan *p, uint64_t done, uint64_t *random)
{
    for (uint64_t rounds = t_below(random, 4); rounds > 0; rounds--) {
        uint64_t more = t_below(random, (p->documents - done) / 2 + 1);

        plan_documents(w, p, done, done + more);
        done += more;
        checkpoint(w, done);
    }
    plan_documents(w, p, done, done + t_below(random, p->documents - done + 1));
}

/* As a run leaves that was killed after its checkpoint. */
static void add_garbage(const char *what, uint64_t *random)
{
    const char *path = t_path(work, what);
    FILE *f = access(path, F_OK) == 0 ? fopen(path, "ab") : NULL;

    for (uint64_t bytes = t_below(random, 10000); f && bytes > 0; bytes--)
        fputc((int)t_below(random, 256), f);
    if (f)
        fclose(f);
}

static void add_garbage_everywhere(uint64_t *random)
{
    static const char *const suffixes[] = { "tokens", "documents", "directory", "pages", "origins",
                                            "lines",  "id-ends",   "ids",       "leat",  "checkpoint.new" };
    char name[64];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "d.partial.%s", suffixes[i]);
        if (t_below(random, 2))
            add_garbage(name, random);
    }
}

/* One leg of the run, in this process or in one that is killed. */
static void one_leg(const struct plan *p, bool anew, uint64_t *random)
{
    bool kill_it = t_below(random, 2);
    pid_t child = kill_it ? fork() : 0;
    struct leat_writer *w;
    uint64_t done;
    int status;

    if (child == 0) {
        w = go_on(p, anew, &done);
        write_some(w, p, done, random);
        if (kill_it)
            kill(getpid(), SIGKILL);
        leat_writer_suspend(w);
        return;
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    add_garbage_everywhere(random);
}

static void random_run(const struct plan *p, uint64_t *random)
{
    struct leat_writer *w;
    uint64_t legs = 1 + t_below(random, 4), done;
    int failures = t_failures;

    clear_folder(work);
    write_plan(p, reference.name);
    for (uint64_t leg = 0; leg < legs; leg++) {
        one_leg(p, leg == 0, random);
        t_random(random); /* a leg that was killed did not move it here */
    }
    w = go_on(p, false, &done);
    plan_documents(w, p, done, p->documents);
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_EQ(verified(fresh.name), LEAT_OK);
    T_STR(listing(work), "d.leat d.tokens");
    if (t_failures > failures)
        fprintf(stderr,
                "  plan: seed %" PRIu64 ", vocabulary %" PRIu64 ", %" PRIu64 " documents of up to %" PRIu64 "\n",
                p->seed, p->vocabulary, p->documents, p->longest);
}

static void random_runs(uint64_t *random)
{
    static const uint64_t vocabularies[] = { 100, 65536, 100000 };
    static const struct {
        uint64_t documents, longest;
        int runs;
    } shapes[] = { { 1, 10, 5 }, { 60, 3000, 40 }, { 5000, 3, 10 }, { 40, 200000, 6 }, { 60000, 2, 2 } };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int run = 0; run < shapes[i].runs; run++) {
            struct plan p = { .seed = t_random(random),
                              .vocabulary = vocabularies[t_below(random, 3)],
                              .documents = shapes[i].documents,
                              .longest = shapes[i].longest,
                              .lines = t_below(random, 2),
                              .ids = t_below(random, 2) };

            p.end = t_below(random, 2) ? p.vocabulary - 1 : LEAT_NONE;
            p.begin = t_below(random, 2) ? 0 : LEAT_NONE;
            random_run(&p, random);
        }
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(fresh.name, sizeof fresh.name, "%s/d", work);
    snprintf(reference.name, sizeof reference.name, "%s/reference", folder);
    random_runs(&random);
    return t_end();
}
