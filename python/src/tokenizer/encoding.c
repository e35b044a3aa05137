/*
 * encoding.c: has a tokenizer's encoders, and encodes texts by several threads.
 *
 * Many texts are cut into stretches of about 64 KiB, which the threads take one after the other. The thread that has
 * encoded the next stretch in order appends its ids to the result, and then those of the following stretches that
 * are ready. So the memory in which a stretch is encoded is used again while the CPU's cache has it. The calling
 * thread waits, and lets signal handlers run (pause.h). A text that cannot be encoded ends the work: the first one
 * in the order of the texts is reported, whatever the threads.
 */
#include "tokenizer.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/pause.h"

#define STRETCH_BYTES ((uint64_t)64 << 10)
#define STRETCH_TEXTS 4096
#define ALONE_BYTES                                                                                                    \
    ((uint64_t)256 << 10)          /* bytes that are encoded before a second thread has begun, which takes 3 to 20 ms */
#define MANY_IDS ((size_t)1 << 20) /* a larger memory for ids is freed after each stretch */
#define TOGETHER 256               /* most texts that an encoder gets at a time */
#define IN_CHUNKS_BYTES                                                                                                \
    ((uint64_t)2 << 20) /* bytes above which a text is encoded in chunks, so that it can be stopped between them */

/* ---- Encoders between two texts ---- */

static _Thread_local const atomic_bool *stop_flag;

bool text_encoders_stopped(enum leat_status status)
{
    return status == LEAT_E_STOPPED && PyErr_Occurred();
}

/* Returns 1 if the encoder should stop. Handlers run in the main thread only; in other threads this finds nothing,
 * which is fine. */
static uint32_t stop(void *context)
{
    PyGILState_STATE state;
    uint32_t raised;

    (void)context;
    if (stop_flag)
        return atomic_load(stop_flag);
    state = PyGILState_Ensure();
    raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return raised;
}

enum leat_status text_encoders_take(struct text_encoders *pool, const struct leat_tokenizer *t, bool special,
                                    struct leat_encoder **out, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;

    if (pool->count[special] > 0) {
        *out = pool->waiting[special][--pool->count[special]];
        return LEAT_OK;
    }
    options.special = special;
    options.stop = stop;
    return leat_encoder_open(out, t, &options, err);
}

void text_encoders_give(struct text_encoders *pool, bool special, struct leat_encoder *e)
{
    if (pool->count[special] < TEXT_POOL_MAX)
        pool->waiting[special][pool->count[special]++] = e;
    else
        leat_encoder_close(e);
}

void text_encoders_free(struct text_encoders *pool)
{
    for (unsigned special = 0; special < 2; special++)
        while (pool->count[special] > 0)
            leat_encoder_close(pool->waiting[special][--pool->count[special]]);
}

/* ---- Many texts ---- */

struct stretch {
    size_t first, count;
};

struct ready {
    struct text_ids ids; /* has no memory if there are no ids */
    bool encoded;
};

struct job {
    const struct text_view *texts;
    struct text_batch_result *result;
    struct stretch *stretches;
    size_t stretch_count;
    struct worker *workers;
    unsigned worker_count;
    atomic_size_t next;
    struct pause_work call; /* the work of the job; `stop` is set if it was interrupted */
    bool paused;            /* true if the caller's thread waits for the job */
    pthread_mutex_t lock;   /* guards all members below */
    size_t in_order;        /* number of stretches whose ids are in the result */
    struct ready *ready;    /* stretches that were encoded before their turn */
    bool failed;
    size_t failed_text;
    struct leat_error err;
};

struct worker {
    struct job *job;
    struct leat_encoder *encoder;
    struct text_ids ids; /* ids of the stretch that the worker encodes */
    pthread_t thread;
};

/* ---- A thread's work ---- */

static void fail(struct job *job, size_t text, const struct leat_error *err)
{
    pthread_mutex_lock(&job->lock);
    if (!job->failed || text < job->failed_text) {
        job->failed = true;
        job->failed_text = text;
        job->err = *err;
    }
    pthread_mutex_unlock(&job->lock);
    /* No further stretch is begun. Those that were begun go to their end, since they may have an earlier failure. */
    atomic_store(&job->next, job->stretch_count);
}

static enum leat_status encode_in_chunks(struct job *job, struct leat_encoder *e, struct text_view text,
                                         struct text_ids *out, struct leat_error *err)
{
    const uint32_t *ids;
    uint64_t count, used;
    enum leat_status s = leat_encoder_begin(e, err);

    while (s == LEAT_OK && text.bytes > 0 && !atomic_load(&job->call.stop)) {
        s = leat_encoder_part(e, text.at, text.bytes, &used, &ids, &count, err);
        if (s == LEAT_OK)
            s = text_ids_append(out, ids, count, err);
        if (s == LEAT_OK) {
            text.at += used;
            text.bytes -= used;
        }
    }
    if (s == LEAT_OK && !atomic_load(&job->call.stop)) {
        s = leat_encoder_end(e, &ids, &count, err);
        if (s == LEAT_OK)
            s = text_ids_append(out, ids, count, err);
    }
    return s;
}

static enum leat_status encode_long(struct job *job, struct leat_encoder *e, size_t i, struct text_ids *out,
                                    struct leat_error *err)
{
    size_t before = out->count;
    enum leat_status s = encode_in_chunks(job, e, job->texts[i], out, err);

    job->result->counts[i] = out->count - before;
    job->result->specials[i] = leat_encoder_special_strings(e);
    return s;
}

/* Encodes one or more of `count` texts from `first` on, and sets *done to their number. If it fails, the first of
 * these texts is the cause. */
static enum leat_status encode_texts(struct job *job, struct leat_encoder *e, size_t first, size_t count, size_t *done,
                                     struct text_ids *out, struct leat_error *err)
{
    struct leat_text texts[TOGETHER];
    uint64_t *counts = job->result->counts + first, encoded, all = 0;
    const uint32_t *ids;
    enum leat_status s;
    size_t n = 0;

    for (; n < count && n < TOGETHER && job->texts[first + n].bytes <= IN_CHUNKS_BYTES; n++)
        texts[n] = (struct leat_text) { job->texts[first + n].at, job->texts[first + n].bytes };
    *done = 1;
    if (n == 0)
        return encode_long(job, e, first, out, err);
    s = leat_encoder_encode_texts(e, texts, n, &encoded, &ids, counts, err);
    if (s != LEAT_OK)
        return s;
    *done = (size_t)encoded;
    for (size_t i = 0; i < *done; i++) {
        all += counts[i];
        job->result->specials[first + i] = *done == 1 ? leat_encoder_special_strings(e) : 0;
    }
    return text_ids_append(out, ids, all, err);
}

/* Appends the ids of a stretch to the result, or keeps them until their turn comes. */
static enum leat_status deliver(struct job *job, size_t n, struct text_ids *ids, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    pthread_mutex_lock(&job->lock);
    if (n > job->in_order) {
        job->ready[n] = (struct ready) { *ids, true };
        *ids = (struct text_ids) { 0 };
    } else {
        s = many_ids_append(&job->result->ids, ids->at, ids->count, err);
        for (n = ++job->in_order; s == LEAT_OK && job->ready[n].encoded; n = ++job->in_order) {
            s = many_ids_append(&job->result->ids, job->ready[n].ids.at, job->ready[n].ids.count, err);
            text_ids_free(&job->ready[n].ids);
        }
    }
    pthread_mutex_unlock(&job->lock);
    ids->count = 0;
    if (ids->room > MANY_IDS)
        text_ids_free(ids);
    return s;
}

static void encode_stretches(struct worker *w)
{
    struct job *job = w->job;
    struct leat_error err;
    size_t n;

    stop_flag = job->paused ? &job->call.stop : NULL;
    while ((n = atomic_fetch_add(&job->next, 1)) < job->stretch_count) {
        const struct stretch *s = &job->stretches[n];
        size_t done;

        for (size_t i = 0; i < s->count && !atomic_load(&job->call.stop); i += done)
            if (encode_texts(job, w->encoder, s->first + i, s->count - i, &done, &w->ids, &err) != LEAT_OK) {
                fail(job, s->first + i, &err);
                return;
            }
        if (deliver(job, n, &w->ids, &err) != LEAT_OK) {
            fail(job, s->first, &err);
            return;
        }
    }
}

static void *run_worker(void *context)
{
    encode_stretches(context);
    return NULL;
}

/* ---- All of them ---- */

/* Runs all workers. The first one works here, on the thread of pause_run(). */
static void work_all(void *context)
{
    struct job *job = context;
    struct worker *w = job->workers;
    unsigned started = 1;

    while (started < job->worker_count && pthread_create(&w[started].thread, NULL, run_worker, &w[started]) == 0)
        started++;
    encode_stretches(&w[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(w[i].thread, NULL);
}

/* Runs the job, on this thread if there is little to do. Returns -1 if a signal handler has raised. */
static int run_job(struct job *job, uint64_t bytes)
{
    job->call = (struct pause_work) { .work = work_all, .context = job };
    job->paused = bytes > ALONE_BYTES;
    if (job->paused)
        return pause_run(&job->call);
    ARGS_UNLOCKED(encode_stretches(&job->workers[0]));
    return 0;
}

static uint64_t cut_stretches(struct job *job, size_t count)
{
    uint64_t bytes = 0, all = 0;

    for (size_t i = 0; i < count; i++) {
        struct stretch *last = job->stretch_count > 0 ? &job->stretches[job->stretch_count - 1] : NULL;

        if (!last || bytes >= STRETCH_BYTES || last->count >= STRETCH_TEXTS) {
            job->stretches[job->stretch_count++] = (struct stretch) { i, 1 };
            bytes = 0;
        } else {
            last->count++;
        }
        bytes += job->texts[i].bytes;
        all += job->texts[i].bytes;
    }
    return all;
}

static int raise_failure(struct job *job, size_t count)
{
    struct leat_error err = job->err;

    /* The sentence counts bytes from a text's beginning, so it must name the text. */
    if (count > 1)
        snprintf(err.message, sizeof err.message, "text %zu: %.*s", job->failed_text, (int)sizeof err.message - 40,
                 job->err.message);
    errors_raise(&err);
    return -1;
}

static bool allocate(struct job *job, size_t count)
{
    struct text_batch_result *r = job->result;

    job->stretches = calloc(count + 1, sizeof *job->stretches);
    job->ready = calloc(count + 2, sizeof *job->ready);
    r->counts = calloc(count + 1, sizeof *r->counts);
    r->specials = calloc(count + 1, sizeof *r->specials);
    return job->stretches && job->ready && r->counts && r->specials;
}

static void free_job(struct job *job)
{
    for (size_t i = 0; job->ready && i < job->stretch_count; i++)
        text_ids_free(&job->ready[i].ids);
    free(job->ready);
    free(job->stretches);
}

/* Runs the job with encoders of the pool; the caller holds the GIL. */
static int run_with_encoders(struct job *job, struct text_tokenizer *t, bool special, unsigned threads, uint64_t bytes)
{
    struct worker *workers = job->workers = calloc(threads, sizeof *workers);
    struct leat_error err;
    unsigned made = 0;
    int r = 0;

    if (!workers) {
        PyErr_NoMemory();
        return -1;
    }
    for (; made < threads; made++) {
        workers[made].job = job;
        if (text_encoders_take(&t->encoders, t->tokenizer, special, &workers[made].encoder, &err) != LEAT_OK)
            break;
    }
    if (made == 0) {
        errors_raise(&err);
        r = -1;
    } else {
        job->worker_count = made;
        r = run_job(job, bytes);
    }
    for (unsigned i = 0; i < made; i++) {
        text_encoders_give(&t->encoders, special, workers[i].encoder);
        text_ids_free(&workers[i].ids);
    }
    free(workers);
    return r;
}

int text_batch_run(struct text_tokenizer *t, const struct text_view *texts, size_t count, bool special,
                   unsigned threads, struct text_batch_result *result)
{
    struct job job = { .texts = texts, .result = result };
    uint64_t bytes;
    int r = -1;

    if (!allocate(&job, count))
        goto no_memory;
    bytes = cut_stretches(&job, count);
    if (bytes <= ALONE_BYTES || threads < 1)
        threads = 1;
    if (threads > job.stretch_count)
        threads = job.stretch_count > 0 ? (unsigned)job.stretch_count : 1;
    pthread_mutex_init(&job.lock, NULL);
    r = run_with_encoders(&job, t, special, threads, bytes);
    pthread_mutex_destroy(&job.lock);
    if (r == 0 && job.failed)
        r = text_encoders_stopped(job.err.status) ? -1 : raise_failure(&job, count);
    free_job(&job);
    if (r < 0)
        text_batch_free(result);
    return r;

no_memory:
    PyErr_NoMemory();
    free_job(&job);
    text_batch_free(result);
    return -1;
}

void text_batch_free(struct text_batch_result *result)
{
    many_ids_free(&result->ids);
    free(result->counts);
    free(result->specials);
    *result = (struct text_batch_result) { 0 };
}
