/*
 * test_every_bit_flip.c: no single bit of an index or a token file can change without notice: header, section table,
 * every section, the padding between them, every token. All in memory, and a sample of them through real files.
 * LEAT_TEST_QUICK=1 in the environment: one bit of each byte, for emulators.
 */
#include "support/damage.h"
#include "t.h"

static const char *place_of(const struct craft *c, uint64_t at)
{
    if (at < 512)
        return "the header's fields";
    if (at < 4096)
        return "the section table";
    for (uint64_t entry = 512; entry < 512 + 64 * (uint64_t)craft_load32(c->index.bytes + 108); entry += 64) {
        uint64_t offset = craft_load64(c->index.bytes + entry + 8), bytes = craft_load64(c->index.bytes + entry + 16);

        if (at >= offset && at < offset + bytes) {
            return t_text("section %u", craft_load32(c->index.bytes + entry));
        }
    }
    return "the padding";
}

static uint64_t flip_all(struct craft *c, uint8_t *bytes, uint64_t count, int is_index)
{
    unsigned step = getenv("LEAT_TEST_QUICK") ? 8 : 1;
    uint64_t flips = 0;

    for (uint64_t at = 0; at < count; at++)
        for (unsigned bit = step > 1 ? at % 8 : 0; bit < 8; bit += step, flips++) {
            struct leat_error err = { 0 };
            enum leat_status s;

            bytes[at] ^= (uint8_t)(1u << bit);
            s = damage_outcome(c->index.bytes, c->index.count, c->tokens.bytes, c->tokens.count, &err);
            bytes[at] ^= (uint8_t)(1u << bit);
            if (s == LEAT_OK)
                T_FAIL("bit %u of byte %" PRIu64 " of the %s (%s) flips without notice", bit, at,
                       is_index ? "index" : "token file", is_index ? place_of(c, at) : "a token");
            /* a program's mistake or a lack of memory would be the wrong thing to say */
            else if (s < LEAT_E_NOT_LEAT || s > LEAT_E_MISMATCH || s != err.status || err.message[0] == '\0')
                T_FAIL("bit %u of byte %" PRIu64 ": %s: %s", bit, at, leat_status_name(s), err.message);
        }
    return flips;
}

/* Through the calls that everybody uses. */
static void flip_some_in_files(struct craft *c, const char *folder, uint64_t *random)
{
    for (unsigned i = 0; i < 100; i++) {
        struct craft_text *t = i % 3 ? &c->index : &c->tokens;
        uint64_t at = t_below(random, t->count);
        uint8_t mask = (uint8_t)(1u << t_below(random, 8));
        struct leat_dataset *d;
        enum leat_status s;

        t->bytes[at] ^= mask;
        t_write(t_path(folder, "d.leat"), c->index.bytes, c->index.count);
        t_write(t_path(folder, "d.tokens"), c->tokens.bytes, c->tokens.count);
        t->bytes[at] ^= mask;
        s = leat_dataset_open(&d, t_path(folder, "d"), NULL, &t_err);
        if (s == LEAT_OK)
            s = leat_dataset_verify(d, NULL, NULL, &t_err);
        leat_dataset_close(d);
        if (s == LEAT_OK)
            T_FAIL("byte %" PRIu64 " of the %s ^ %u: not noticed", at, t == &c->index ? "index" : "token file", mask);
    }
}

int main(void)
{
    const char *folder = t_folder();
    uint64_t random = t_seed();

    for (uint64_t vocabulary = 5000; vocabulary <= 100000; vocabulary += 95000) {
        uint64_t flips;
        struct craft c;

        damage_dataset(&c, vocabulary);
        T_OK(damage_outcome(c.index.bytes, c.index.count, c.tokens.bytes, c.tokens.count, &t_err));
        flips = flip_all(&c, c.index.bytes, c.index.count, 1);
        flips += flip_all(&c, c.tokens.bytes, c.tokens.count, 0);
        fprintf(stderr, "%" PRIu64 " bits of a dataset of width %" PRIu64 "\n", flips, c.width);
        flip_some_in_files(&c, folder, &random);
        craft_free(&c);
    }
    return t_end();
}
