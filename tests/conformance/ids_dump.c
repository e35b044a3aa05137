/*
 * ids_dump.c: what check_ids.py compares with the references, through the public header alone.
 *
 *     ids_dump TOKENIZER SPECIAL [PATTERN]
 *
 * SPECIAL is 0 or 1: whether strings of special tokens become these tokens. Reads requests from the standard input: a
 * byte 'e' and a text to encode, 'p' and one to encode in parts of all sizes, 'd' and ids to decode, or 'f' for the
 * file that a dataset stores, each with its bytes counted before it (four bytes, little-endian, as are ids). Answers
 * each with a status (four bytes; 0: well) and ids, bytes or a sentence, counted likewise. Exits 3 if the tokenizer is
 * refused, saying why on the standard output.
 */
#include <leat_pack.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint32_t value)
{
    uint8_t bytes[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24) };

    fwrite(bytes, 1, 4, stdout);
}

static void refuse(const struct leat_error *err)
{
    size_t bytes = strlen(err->message);

    put32(1);
    put32((uint32_t)bytes);
    fwrite(err->message, 1, bytes, stdout);
}

static void encode(struct leat_encoder *e, const uint8_t *text, uint32_t bytes)
{
    struct leat_error err;
    const uint32_t *ids;
    uint64_t count;

    if (leat_encoder_encode(e, (const char *)text, bytes, &ids, &count, &err) != LEAT_OK) {
        refuse(&err);
        return;
    }
    put32(0);
    put32((uint32_t)(4 * count));
    for (uint64_t i = 0; i < count; i++)
        put32(ids[i]);
}

struct ids {
    uint32_t *ids;
    size_t count, room;
};

static void add(struct ids *to, const uint32_t *ids, uint64_t count)
{
    if (to->count + count > to->room)
        to->ids = realloc(to->ids, (to->room = 2 * (to->count + count)) * sizeof *ids);
    if (count > 0 && !to->ids)
        exit(1);
    for (uint64_t i = 0; i < count; i++)
        to->ids[to->count++] = ids[i];
}

/* Each part lies in memory of its own, so that valgrind sees a byte too far. */
static enum leat_status encode_part(struct leat_encoder *e, const char *text, uint32_t bytes, uint64_t *used,
                                    struct ids *out, struct leat_error *err)
{
    char *copy = malloc(bytes);
    const uint32_t *ids;
    enum leat_status s;
    uint64_t count;

    if (!copy)
        exit(1);
    memcpy(copy, text, bytes);
    s = leat_encoder_part(e, copy, bytes, used, &ids, &count, err);
    free(copy);
    if (s == LEAT_OK)
        add(out, ids, count);
    return s;
}

/* The sizes follow from the text's: mostly single bytes, mostly a few, or more. */
static void encode_parts(struct leat_encoder *e, const char *text, uint32_t bytes)
{
    static const uint32_t most[] = { 1, 3, 17, 300 };
    uint32_t random = bytes * 2654435761u, max = most[random >> 30];
    struct ids out = { NULL, 0, 0 };
    struct leat_error err;
    const uint32_t *ids;
    uint64_t count, used;
    enum leat_status s = leat_encoder_begin(e, &err);

    for (uint32_t at = 0; s == LEAT_OK && at < bytes; at += (uint32_t)used) {
        uint32_t part = 1 + (random >> 8) % max;

        random = random * 1664525 + 1013904223;
        s = encode_part(e, text + at, part < bytes - at ? part : bytes - at, &used, &out, &err);
    }
    if (s == LEAT_OK)
        s = leat_encoder_end(e, &ids, &count, &err);
    if (s == LEAT_OK) {
        add(&out, ids, count);
        put32(0);
        put32((uint32_t)(4 * out.count));
        for (size_t i = 0; i < out.count; i++)
            put32(out.ids[i]);
    } else {
        refuse(&err);
    }
    free(out.ids);
}

static void decode(struct leat_encoder *e, uint8_t *payload, uint32_t bytes)
{
    struct leat_error err;
    uint32_t *ids = malloc((size_t)bytes + 4);
    const char *text;
    uint64_t length;

    if (!ids)
        exit(1);
    for (uint32_t i = 0; i < bytes / 4; i++)
        ids[i] = load32(payload + (size_t)4 * i);
    if (leat_encoder_decode(e, ids, bytes / 4, &text, &length, &err) != LEAT_OK) {
        refuse(&err);
    } else {
        put32(0);
        put32((uint32_t)length);
        fwrite(text, 1, length, stdout);
    }
    free(ids);
}

static void give_file(const struct leat_tokenizer *t)
{
    struct leat_stored_tokenizer stored = { 0 };

    leat_tokenizer_stored(t, &stored);
    put32(0);
    put32((uint32_t)stored.file_bytes);
    fwrite(stored.file, 1, stored.file_bytes, stdout);
}

static void answer_all(const struct leat_tokenizer *t, struct leat_encoder *e)
{
    uint8_t head[5], *payload = NULL;
    size_t room = 0;

    while (fread(head, 1, 5, stdin) == 5) {
        uint32_t bytes = load32(head + 1);

        if (bytes >= room) {
            free(payload);
            payload = malloc(room = 2 * (size_t)bytes + 256);
        }
        if (!payload || fread(payload, 1, bytes, stdin) != bytes)
            exit(1);
        if (head[0] == 'e')
            encode(e, payload, bytes);
        else if (head[0] == 'p')
            encode_parts(e, (const char *)payload, bytes);
        else if (head[0] == 'f')
            give_file(t);
        else
            decode(e, payload, bytes);
    }
    free(payload);
}

int main(int argc, char **argv)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_encoder_options how = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    struct leat_error err;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "see the head of ids_dump.c\n");
        return 2;
    }
    options.pattern = argc > 3 ? argv[3] : NULL;
    how.special = *argv[2] == '1';
    if (leat_tokenizer_open(&t, argv[1], &options, &err) != LEAT_OK) {
        printf("%s\n", err.message);
        return 3;
    }
    if (leat_encoder_open(&e, t, &how, &err) != LEAT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    answer_all(t, e);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    return 0;
}
