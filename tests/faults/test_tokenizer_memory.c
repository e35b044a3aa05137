/*
 * test_tokenizer_memory.c: whichever allocation fails while a tokenizer is opened, a text encoded, whole or in parts, or
 * ids decoded: an error that says so and nothing left allocated, or the ids of the undisturbed run. After a failed call
 * the encoder goes on.
 */
#include <errno.h>

#include "leat_pack.h"
#include "support/fault.h"
#include "t.h"
#include "tokenizer/vectors.h"

/* One for each way through loading, normalizing, cutting, merging and decoding. */
static const char *const names[] = {
    "bytes",
    VECTORS_FOLDER "/ignore_merges.json",
    VECTORS_FOLDER "/nfc.json",
    VECTORS_FOLDER "/digits.json",
    VECTORS_FOLDER "/prepend_replace.json",
    VECTORS_FOLDER "/split_spaces.json",
    VECTORS_FOLDER "/metaspace_first.json",
    VECTORS_FOLDER "/added.json",
    VECTORS_FOLDER "/word_suffix.json",
    VECTORS_FOLDER "/piece_fallback.model",
    VECTORS_FOLDER "/piece_unknown.model",
};

/* Beyond the inline buffers: what needs repair, what NFC changes, a long piece, added tokens. */
static char text[6000];

static void make_text(void)
{
    static const char part[] =
        "Hello <mask> cafe\xcc\x81 \xff 123 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80  Word\n\n<s>";
    size_t at = 0;

    while (at + sizeof part < 3000) {
        memcpy(text + at, part, sizeof part - 1);
        at += sizeof part - 1;
    }
    memset(text + at, 'e', sizeof text - 1 - at);
}

static struct leat_tokenizer *tokenizer;
static struct leat_encoder *encoder;

static void close_both(void)
{
    leat_encoder_close(encoder);
    leat_tokenizer_close(tokenizer);
    encoder = NULL;
    tokenizer = NULL;
}

static uint64_t hash_of(uint64_t hash, const void *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* Encodes in parts, which are cut inside characters too; *hash is of the ids. */
static enum leat_status use_parts(uint64_t *hash, struct leat_error *err)
{
    enum leat_status s = leat_encoder_begin(encoder, err);
    uint64_t count, used, bytes = strlen(text);
    const uint32_t *ids;

    *hash = 1;
    for (uint64_t at = 0; s == LEAT_OK && at < bytes; at += used) {
        s = leat_encoder_part(encoder, text + at, bytes - at < 997 ? bytes - at : 997, &used, &ids, &count, err);
        if (s == LEAT_OK)
            *hash = hash_of(*hash, ids, count * sizeof *ids);
    }
    if (s == LEAT_OK && (s = leat_encoder_end(encoder, &ids, &count, err)) == LEAT_OK)
        *hash = hash_of(*hash, ids, count * sizeof *ids);
    return s;
}

/* Encodes, whole and in parts, and decodes; *hash is of the answers. */
static enum leat_status use(uint64_t *hash, struct leat_error *err)
{
    uint64_t in_parts;
    const uint32_t *ids;
    uint64_t count, bytes;
    const char *back;
    enum leat_status s = use_parts(&in_parts, err);

    if (s == LEAT_OK)
        s = leat_encoder_encode(encoder, text, strlen(text), &ids, &count, err);
    if (s != LEAT_OK)
        return s;
    *hash = hash_of(1, ids, count * sizeof *ids);
    T_EQ(*hash, in_parts);
    s = leat_encoder_decode(encoder, ids, count, &back, &bytes, err);
    if (s == LEAT_OK)
        *hash = hash_of(*hash, back, bytes);
    return s;
}

static enum leat_status open_and_use(const char *name, uint64_t *hash, struct leat_error *err)
{
    enum leat_status s = leat_tokenizer_open(&tokenizer, name, NULL, err);

    if (s != LEAT_OK) {
        T_CHECK(!tokenizer);
        return s;
    }
    s = leat_encoder_open(&encoder, tokenizer, NULL, err);
    if (s != LEAT_OK) {
        T_CHECK(!encoder);
        return s;
    }
    return use(hash, err);
}

/* Allocation n fails, alone or with all after it. Returns whether there was an n-th. */
static int check(const char *name, uint64_t n, enum fault_mode mode, uint64_t want)
{
    long before = fault_allocations();
    struct leat_error err = { 0 };
    uint64_t hash = 0, calls;
    enum leat_status s;

    fault_arm(FAULT_MEMORY, mode, n, ENOMEM);
    s = open_and_use(name, &hash, &err);
    calls = fault_disarm();
    if (s == LEAT_OK) {
        T_EQ(hash, want);
    } else if (s != LEAT_E_NO_MEMORY || err.status != s || !strstr(err.message, "memory")) {
        T_FAIL("%s, allocation %" PRIu64 ": %s, \"%s\"", name, n, leat_status_name(s), err.message);
    }
    if (s != LEAT_OK && encoder) {
        T_OK(use(&hash, &t_err));
        T_EQ(hash, want);
    }
    close_both();
    if (fault_allocations() != before)
        T_FAIL("%s, allocation %" PRIu64 ": %ld allocations are left", name, n, fault_allocations() - before);
    return calls >= n;
}

/* Opening with allocation n failing; false: there was no n-th. */
static bool fails(const char *name, uint64_t n)
{
    long before = fault_allocations();
    struct leat_error err = { 0 };
    uint64_t calls;
    enum leat_status s;

    fault_arm(FAULT_MEMORY, FAULT_ONCE, n, ENOMEM);
    s = leat_tokenizer_open(&tokenizer, name, NULL, &err);
    calls = fault_disarm();
    if (s != LEAT_OK && (s != LEAT_E_NO_MEMORY || err.status != s || tokenizer))
        T_FAIL("%s, allocation %" PRIu64 ": %s, \"%s\"", name, n, leat_status_name(s), err.message);
    leat_tokenizer_close(tokenizer);
    tokenizer = NULL;
    T_EQ(fault_allocations(), before);
    return calls >= n;
}

int main(void)
{
    make_text();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t want = 0, n;

        T_OK(open_and_use(names[i], &want, &t_err));
        close_both();
        for (n = 1; check(names[i], n, FAULT_ONCE, want) && n < 100000; n++)
            ;
        for (n = 1; check(names[i], n, FAULT_FROM_THEN_ON, want) && n < 100000; n++)
            ;
        T_CHECK(n > 10);
    }
    /* one that is built in takes long to open, and is as the others once it is */
    for (uint64_t n = 1; fails("gpt2", n); n++)
        ;
    return t_end();
}
