/*
 * test_encoder_threads.c: one tokenizer, an encoder for each thread: all get the same ids at the same time.
 */
#include <pthread.h>

#include "leat_pack.h"
#include "t.h"
#include "vectors.h"

static struct leat_tokenizer *open_tokenizer(const char *name)
{
    char path[256];
    struct leat_tokenizer *t;

    snprintf(path, sizeof path, "%s/%s", VECTORS_FOLDER, name);
    T_OK(leat_tokenizer_open(&t, strchr(name, '.') ? path : name, NULL, &t_err));
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
    return t_end();
}
