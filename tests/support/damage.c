/* damage.c: see damage.h. */
#include "damage.h"

#include <string.h>

#include "dataset/dataset.h"

void damage_dataset(struct craft *c, uint64_t vocabulary)
{
    static const uint64_t lengths[] = { 3000, 0, 1, 1077, 40 };
    static const uint8_t hashes[] = "a hash of a text, or some";
    struct leat_origin o = { .input = 0, .line = 1 };
    uint32_t ids[3000];

    craft_begin(c, vocabulary, vocabulary - 1, vocabulary - 2);
    c->store_lines = c->store_ids = c->store_hashes = 1;
    c->created = 1234567890;
    craft_tokenizer(c, "tokens.json", "gpt2", "{\"vocab\":{}}");
    craft_input(c, "first.jsonl.gz", 1000, 1, 0x11);
    craft_input(c, "second.jsonl", 2000, 0, 0x22);
    craft_pair(c, "key", "value");
    craft_pair(c, "other", "");
    for (uint32_t i = 0; i < 3000; i++)
        ids[i] = (uint32_t)(i * 2654435761u % (vocabulary - 2));
    for (unsigned i = 0; i < 5; i++) {
        o.id = i % 2 ? "an-id" : NULL;
        o.id_bytes = i % 2 ? 5 : 0;
        o.text_hash = i == 2 ? NULL : hashes + i;
        craft_document(c, ids, c->width == 2 ? lengths[i] : lengths[i] / 2, i == 4 ? NULL : &o);
        o.offset += 100;
        o.line++;
        o.input = i >= 1;
    }
    craft_other(c, 1000, 0, "of a later version", 18);
    craft_index(c);
}

enum leat_status damage_outcome(const void *index, uint64_t index_bytes, const void *tokens, uint64_t token_bytes,
                                struct leat_error *err)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;
    struct part part;
    enum leat_status s = part_open_memory(&part, index, index_bytes, tokens, token_bytes, err);

    options.threads = 1;
    if (s == LEAT_OK)
        s = dataset_of_part(&d, &part, err);
    if (s != LEAT_OK)
        return s;
    s = leat_dataset_verify(d, &options, NULL, err);
    leat_dataset_close(d);
    return s;
}
