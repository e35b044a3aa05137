/*
 * test_lookup_batch.c: threads of a model that looks tokens up share what they have met (models/lookup_batch.h): what
 * one has looked up, none looks up again, but those of another model do; and each piece has the ids that it has alone,
 * also where threads add the same pieces at the same time, where their memory is too small to share, and where it is
 * full. The model is one whose ids are a function of a piece's bytes and the model's number; it counts how often it is
 * asked.
 */
#include <pthread.h>

#include "t.h"
#include "tokenizer/models/lookup_batch.h"

#ifndef TINY
#define TINY false
#endif
#define PIECES  20000u
#define THREADS 4u
#define MAX     (PRETOKEN_MAX + 8) /* bytes of a piece */
#define MOST    40u                /* ids: more than a cache keeps */

static uint8_t text[PIECES * MAX + PRETOKEN_AHEAD];
static uint32_t ends[PIECES], bytes_of_all;

static uint32_t mixed(uint32_t number)
{
    number = (number ^ number >> 15) * 0x2c1b3c6du;
    return (number ^ number >> 12) * 0x297a2d39u >> 4;
}

/* No two are the same, and each is followed by others that begin as it does. */
static void make_pieces(uint64_t seed)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t bytes = 4 + (uint32_t)t_below(&seed, i % 50 ? 20 : MAX - 4);

        for (uint32_t k = 0; k < bytes; k++)
            text[at + k] = k < 4 ? (uint8_t)('0' + (i >> 4 * k & 15)) : (uint8_t)t_below(&seed, 256);
        ends[i] = at += bytes;
    }
    bytes_of_all = at;
}

struct numbered {
    struct model model;
    uint32_t number;
};

static size_t ids_of(const struct numbered *m, const uint8_t *piece, size_t bytes, uint32_t ids[MOST])
{
    uint32_t hash = m->number;
    size_t count;

    for (size_t i = 0; i < bytes; i++)
        hash = mixed(hash + piece[i]);
    count = hash % 8 ? 1 + hash % 3 : 1 + hash / 8 % MOST;
    for (size_t i = 0; i < count; i++)
        ids[i] = mixed(hash + (uint32_t)i) >> (hash % 101 ? 8 : 4); /* some do not fit a cache */
    return count;
}

struct worker {
    const struct numbered *m;
    uint64_t random;
    size_t asked, first;
};

static enum leat_status look_up(const void *context, void *scratch, const uint8_t *piece, size_t bytes,
                                struct id_list *out, bool *apart, struct leat_error *err)
{
    struct worker *w = scratch;
    uint32_t ids[MOST];
    size_t count = ids_of(context, piece, bytes, ids);
    enum leat_status s = id_list_reserve(out, count, err);

    (void)apart;
    if (s != LEAT_OK)
        return s;
    memcpy(out->ids + out->count, ids, count * sizeof *ids);
    out->count += count;
    w->asked++;
    return LEAT_OK;
}

static void check(const struct numbered *m, uint32_t first, uint32_t count, const struct id_list *got)
{
    uint32_t want[MOST];
    size_t at = 0;

    for (uint32_t i = first; i < first + count; i++) {
        uint32_t begin = i > 0 ? ends[i - 1] : 0;
        size_t more = ids_of(m, text + begin, ends[i] - begin, want);

        if (at + more > got->count || memcmp(got->ids + at, want, more * sizeof *want) != 0) {
            T_FAIL("piece %u has other ids", i);
            return;
        }
        at += more;
    }
    T_EQ(at, got->count);
}

/* Encodes all pieces twice, from `first` on, in runs of random lengths. */
static void *encode(void *context)
{
    struct worker *w = context;
    const struct lookup_way way = { .one = look_up, .context = w->m, .scratch = w };
    struct id_list out = { 0 };
    struct lookup_batch *l;

    w->asked = 0;
    T_OK(lookup_batch_make(&l, NULL, pretoken_cache_large(SIZE_MAX / 2), &t_err));
    for (uint32_t done = 0, run; done < 2 * PIECES && t_failures < 10; done += run) {
        uint32_t at = (uint32_t)(w->first + done) % PIECES;
        struct model_pretokens p = { text, sizeof text, at > 0 ? ends[at - 1] : 0, ends + at, 0 };

        run = 1 + (uint32_t)t_below(&w->random, 5000);
        run = run < PIECES - at ? run : PIECES - at;
        run = run < 2 * PIECES - done ? run : 2 * PIECES - done;
        p.count = run;
        out.count = 0;
        T_OK(lookup_batch_encode(l, &w->m->model, &way, &p, &out, &t_err));
        check(w->m, at, run, &out);
    }
    lookup_batch_free(l);
    id_list_free(&out);
    return NULL;
}

static size_t encode_alone(const struct numbered *m, uint64_t random)
{
    struct worker w = { .m = m, .random = random };

    encode(&w);
    return w.asked;
}

static void encode_together(const struct numbered *m, uint64_t random)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker) { .m = m, .random = random + i, .first = i * PIECES / THREADS / 2 };
        T_EQ(pthread_create(&threads[i], NULL, encode, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        T_EQ(pthread_join(threads[i], NULL), 0);
}

static struct numbered make(uint32_t number, size_t max_bytes)
{
    struct numbered m = { .number = number };

    T_OK(word_store_make(&m.model.words, &t_err));
    word_store_share(&m.model, max_bytes);
    return m;
}

/* How many pieces no cache keeps: too many ids, or too large ones. Long pieces may have any. */
static size_t count_unkept(const struct numbered *m)
{
    size_t unkept = 0;

    for (uint32_t i = 0, begin = 0; i < PIECES; begin = ends[i++]) {
        uint32_t ids[MOST], most = 0;
        size_t count = ids_of(m, text + begin, ends[i] - begin, ids);

        for (size_t k = 0; k < count; k++)
            most = ids[k] > most ? ids[k] : most;
        unkept += ends[i] - begin <= PRETOKEN_MAX && (count > PRETOKEN_IDS || most > PRETOKEN_ID_MASK);
    }
    return unkept;
}

int main(void)
{
    uint64_t seed = t_seed();
    struct numbered first, second, small;

    make_pieces(seed);
    first = make(1, (size_t)192 << 20);
    second = make(2, (size_t)192 << 20);
    small = make(3, 1000);
    T_CHECK(bytes_of_all > 1 << 18); /* so much that there is something to share */
    T_CHECK(encode_alone(&first, seed) >= PIECES);
    if (!TINY) /* but for a few whose lines are full */
        T_CHECK(encode_alone(&first, seed) <= 2 * count_unkept(&first) + PIECES / 200);
    T_CHECK(encode_alone(&second, seed) >= PIECES);
    T_CHECK(encode_alone(&small, seed) >= PIECES && encode_alone(&small, seed) >= PIECES);
    word_store_free(second.model.words);
    second = make(2, (size_t)192 << 20);
    encode_together(&first, seed);
    encode_together(&second, seed);
    encode_together(&small, seed);
    word_store_free(first.model.words);
    word_store_free(second.model.words);
    word_store_free(small.model.words);
    return t_end();
}
