/*
 * test_encoder_threads.c: one tokenizer, an encoder for each thread: all get the same ids at the same time; also where
 * they share what they have met, which grows meanwhile: each thread encodes the same documents in an order of its own,
 * and the ids are those of an encoder with too little memory to share anything.
 */
#include <pthread.h>

#include "leat_pack.h"
#include "t.h"
#include "vectors.h"

static struct leat_tokenizer *open_tokenizer(const char *name)
{
    struct leat_tokenizer *t;

    T_OK(leat_tokenizer_open(&t, strchr(name, '.') ? t_text("%s/%s", VECTORS_FOLDER, name) : name, NULL, &t_err));
    return t;
}

struct worker {
    const struct leat_tokenizer *tokenizer;
    uint64_t hash; /* of all ids */
};

static void *encode_texts(void *context)
{
    struct vectors_text texts[VECTORS_TEXTS];
    struct worker *w = context;
    struct leat_encoder *e;
    char *memory;
    size_t count = vectors_texts(texts, &memory);

    T_OK(leat_encoder_open(&e, w->tokenizer, NULL, NULL));
    for (size_t i = 0; i < 4 * count; i++) {
        const uint32_t *ids;
        uint64_t id_count;

        T_OK(leat_encoder_encode(e, texts[i % count].bytes, texts[i % count].size, &ids, &id_count, NULL));
        for (uint64_t n = 0; n < id_count; n++)
            w->hash = (w->hash ^ ids[n]) * 0x100000001b3u;
    }
    leat_encoder_close(e);
    free(memory);
    return NULL;
}

/* ---- Much text, so that threads share words ---- */

#define DOCUMENTS 96
#define BYTES     32768
#define MET       30000 /* words that a text may have */
#define SHARERS   4

static char documents[DOCUMENTS][BYTES];

static uint64_t mixed(uint64_t number)
{
    number = (number ^ number >> 31) * 0x7fb5d329728ea185u;
    return (number ^ number >> 27) * 0x81dadef4bc2dd44du >> 8;
}

/* Of letters, of characters of two and three bytes, of signs; one in thirty longer than what caches keep. */
static size_t put_word(char *to, uint64_t number)
{
    static const char *const parts[] = { "e",  "t",  "an", "ing",      "qu", "\xd0\xb6", "\xe4\xb8\xad",
                                         "--", "!?", "7",  "\xc3\xa9", "_x", "Str",      "\xe0\xb8\x81" };
    uint64_t random = mixed(number), count = 1 + random % (number % 30 ? 6 : 40);
    size_t bytes = 0;

    for (uint64_t i = 0; i < count; i++) {
        const char *part = parts[mixed(random + i) % (number % 3 ? sizeof parts / sizeof parts[0] : 5)];

        memcpy(to + bytes, part, strlen(part));
        bytes += strlen(part);
    }
    to[bytes] = ' ';
    return bytes + 1;
}

static void make_documents(uint64_t seed)
{
    for (size_t d = 0; d < DOCUMENTS; d++) {
        size_t bytes = 0;

        for (uint64_t i = 0; bytes + 256 < BYTES; i++)
            bytes += put_word(documents[d] + bytes, mixed(seed + d * BYTES + i) % (i % 4 ? MET / 20 : MET));
        memset(documents[d] + bytes, ' ', BYTES - bytes);
    }
}

struct sharer {
    const struct leat_tokenizer *tokenizer;
    uint64_t max_bytes, hashes[DOCUMENTS];
    size_t first;
};

static void *encode_documents(void *context)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct sharer *s = context;
    struct leat_encoder *e;

    options.max_bytes = s->max_bytes;
    T_OK(leat_encoder_open(&e, s->tokenizer, &options, &t_err));
    for (size_t i = 0; i < 2 * DOCUMENTS; i++) {
        size_t d = (s->first + i * 5) % DOCUMENTS;
        const uint32_t *ids;
        uint64_t count, hash = 0;

        T_OK(leat_encoder_encode(e, documents[d], BYTES, &ids, &count, &t_err));
        for (uint64_t n = 0; n < count; n++)
            hash = (hash ^ ids[n]) * 0x100000001b3u;
        T_CHECK(i < DOCUMENTS || s->hashes[d] == hash);
        s->hashes[d] = hash;
    }
    leat_encoder_close(e);
    return NULL;
}

static void share_words(const char *name)
{
    struct leat_tokenizer *alone = open_tokenizer(name), *t = open_tokenizer(name);
    struct sharer want = { .tokenizer = alone, .max_bytes = 4 << 20 }, sharers[SHARERS];
    pthread_t threads[SHARERS];

    encode_documents(&want);
    for (size_t i = 0; i < SHARERS; i++) {
        sharers[i] = (struct sharer) { .tokenizer = t, .first = i * DOCUMENTS / SHARERS };
        T_EQ(pthread_create(&threads[i], NULL, encode_documents, &sharers[i]), 0);
    }
    for (size_t i = 0; i < SHARERS; i++) {
        T_EQ(pthread_join(threads[i], NULL), 0);
        for (size_t d = 0; d < DOCUMENTS; d++)
            if (sharers[i].hashes[d] != want.hashes[d])
                T_FAIL("%s: document %zu has other ids in thread %zu", name, d, i);
    }
    leat_tokenizer_close(alone);
    leat_tokenizer_close(t);
}

int main(void)
{
    static const char *const names[] = { "o200k_base", "nfc.json", "split_spaces.json", "word_suffix.json",
                                         "piece_fallback.model" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct leat_tokenizer *t = open_tokenizer(names[i]);
        struct worker workers[3] = { { .tokenizer = t }, { .tokenizer = t }, { .tokenizer = t } };
        pthread_t threads[2];

        for (size_t n = 0; n < 2; n++)
            T_EQ(pthread_create(&threads[n], NULL, encode_texts, &workers[n]), 0);
        encode_texts(&workers[2]);
        for (size_t n = 0; n < 2; n++)
            T_EQ(pthread_join(threads[n], NULL), 0);
        T_EQ(workers[0].hash, workers[2].hash);
        T_EQ(workers[1].hash, workers[2].hash);
        leat_tokenizer_close(t);
    }
    make_documents(t_seed());
    share_words("gpt2");
    share_words("o200k_base");
    share_words("piece_fallback.model");
    share_words("piece_unigram.model");
    share_words("piece_unknown.model");
    share_words("unigram.json");
    share_words("wordpiece.json");
    return t_end();
}
