/* records.c: see records.h. */
#include "records.h"

#include <string.h>

#include "base/bytes.h"

void records_store_input(uint8_t out[64], const struct records_input *input)
{
    bytes_store64(out, input->path_offset);
    bytes_store64(out + 8, input->path_bytes);
    bytes_store64(out + 16, input->bytes);
    bytes_store64(out + 24, input->documents);
    bytes_store64(out + 32, input->tokens);
    bytes_store64(out + 40, input->rejects);
    memcpy(out + 48, input->hash, 16);
}

void records_load_input(struct records_input *input, const uint8_t in[64])
{
    input->path_offset = bytes_load64(in);
    input->path_bytes = bytes_load64(in + 8);
    input->bytes = bytes_load64(in + 16);
    input->documents = bytes_load64(in + 24);
    input->tokens = bytes_load64(in + 32);
    input->rejects = bytes_load64(in + 40);
    memcpy(input->hash, in + 48, 16);
}

void records_store_tokenizer(uint8_t out[32], const struct records_tokenizer *t)
{
    bytes_store64(out, t->name_bytes);
    bytes_store64(out + 8, t->pattern_bytes);
    bytes_store64(out + 16, t->file_bytes);
    bytes_store64(out + 24, t->is_file ? 2 : 1);
}

bool records_load_tokenizer(struct records_tokenizer *t, const uint8_t in[32], uint64_t section_bytes)
{
    uint64_t form = bytes_load64(in + 24), sum;

    t->name_bytes = bytes_load64(in);
    t->pattern_bytes = bytes_load64(in + 8);
    t->file_bytes = bytes_load64(in + 16);
    t->is_file = form == 2;
    return (form == 1 || form == 2) && (t->is_file || t->file_bytes == 0) && t->name_bytes > 0 &&
           bytes_add(t->name_bytes, t->pattern_bytes, &sum) && bytes_add(sum, t->file_bytes, &sum) &&
           bytes_add(sum, 32, &sum) && sum == section_bytes;
}

/* As memcmp over the common length, then by length. */
static int compare(const char *a, uint64_t a_bytes, const char *b, uint64_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);

    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

bool records_next_pair(struct leat_metadata_pair *pair, const uint8_t *text, uint64_t bytes, uint64_t *at)
{
    struct leat_metadata_pair next;
    uint64_t left;

    if (!bytes_inside(*at, 16, bytes))
        return false;
    next.key_bytes = bytes_load64(text + *at);
    next.value_bytes = bytes_load64(text + *at + 8);
    *at += 16;
    left = bytes - *at;
    if (next.key_bytes == 0 || next.key_bytes > left || next.value_bytes > left - next.key_bytes)
        return false;
    next.key = (const char *)text + *at;
    next.value = next.key + next.key_bytes;
    *at += next.key_bytes + next.value_bytes;
    if (pair->key && compare(pair->key, pair->key_bytes, next.key, next.key_bytes) >= 0)
        return false;
    *pair = next;
    return true;
}
