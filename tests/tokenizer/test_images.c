/*
 * test_images.c: normalizers that go by character (normalize/images.h) give what they give one after another: for each
 * list of them, random texts of marks of all classes, characters that become none or many, that get spaces, controls,
 * Hangul, ASCII in long stretches, and any other character; at once, and in parts, where nothing may depend on the cut.
 */
#include "t.h"

#include "base/utf8.h"
#include "tokenizer/normalize/normalizer.h"

static uint64_t state;

/* No kind is 0, which ends a list. */
static const enum spec_normalizer_kind lists[][6] = {
    { SPEC_NORM_CLEAN, SPEC_NORM_SPACE_HAN, SPEC_NORM_NFD, SPEC_NORM_NONSPACING, SPEC_NORM_LOWERCASE },
    { SPEC_NORM_CLEAN, SPEC_NORM_SPACE_HAN },
    { SPEC_NORM_LOWERCASE },
    { SPEC_NORM_NFD },
    { SPEC_NORM_NFKD, SPEC_NORM_LOWERCASE },
    { SPEC_NORM_NFKD, SPEC_NORM_STRIP_ACCENTS, SPEC_NORM_CLEAN },
    { SPEC_NORM_STRIP_ACCENTS, SPEC_NORM_LOWERCASE, SPEC_NORM_NFD },
    { SPEC_NORM_LOWERCASE, SPEC_NORM_NFD, SPEC_NORM_NONSPACING, SPEC_NORM_SPACE_HAN },
};

static const char *const bits[] = { "a",          "E",          "The Quick Brown Fox ",
                                    "\u00e9",     "e\u0301",    "\u0323",
                                    "\u0301",     "\u302e",     "\u0345",
                                    "\u0344",     "\u0130",     "\ufb01",
                                    "\u4e2d",     "\uac01",     "\u1100",
                                    "\u1161",     "\x01",       "\u200d",
                                    "\n",         "\u0e31",     "\u0f73",
                                    "\u1e9b",     "\ufb1d",     "\U0001d165",
                                    "\U0001d15e", "\U0001f600", "\u0416",
                                    "\u0439",     "\U0002f81a", "\u3000",
                                    "~",          "\u16ff" };

static size_t make_text(uint8_t *text, unsigned count)
{
    size_t n = 0;

    for (; count > 0; count--) {
        const char *bit = bits[t_below(&state, sizeof bits / sizeof bits[0])];
        uint32_t c = (uint32_t)t_below(&state, t_below(&state, 2) ? 0x3000 : 0x20000);

        if (t_below(&state, 4) == 0 && (c < 0xd800 || c > 0xdfff)) {
            n += utf8_encode(text + n, t_below(&state, 50) == 0 ? 0 : c); /* NUL: four bytes are not taken for it */
            continue;
        }
        memcpy(text + n, bit, strlen(bit));
        n += strlen(bit);
    }
    return n;
}

/* Normalizes a text, cut into parts at random if `parts`. */
static size_t normalize(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t *text, size_t bytes,
                        bool parts, uint8_t *out)
{
    size_t size = 0, at = 0;
    bool last = false;

    while (!last) {
        size_t some = parts && bytes > at ? 1 + t_below(&state, bytes - at) : bytes - at;
        const uint8_t *part = text + at;

        while (at + some < bytes && (text[at + some] & 0xc0) == 0x80)
            some++;
        at += some;
        last = at == bytes && (!parts || t_below(&state, 2));
        T_OK(normalizer_run(n, s, &part, &some, last, &t_err));
        memcpy(out + size, part, some);
        size += some;
    }
    normalizer_scratch_trim(s);
    return size;
}

static void compare(const struct normalizer *n, struct normalizer_scratch *fast, struct normalizer_scratch *plain,
                    unsigned list, bool parts)
{
    static uint8_t text[4096], a[1 << 16], b[1 << 16];
    size_t bytes = make_text(text, (unsigned)t_below(&state, t_below(&state, 8) == 0 ? 150 : 10));
    size_t want = normalize(n, plain, text, bytes, false, b), got = normalize(n, fast, text, bytes, parts, a);

    if (got != want || memcmp(a, b, got) != 0)
        T_FAIL("list %u, %s: %zu bytes instead of %zu, of: %.*s", list, parts ? "in parts" : "at once", got, want,
               (int)bytes, (const char *)text);
}

int main(void)
{
    state = t_seed();
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct spec_normalizer steps[6] = { { .kind = lists[i][0] } };
        struct tokenizer_spec spec = { .normalizers = steps, .normalizer_count = 1 };
        struct normalizer_scratch fast, plain;
        struct pattern_steps counted = { .left = 0 };
        struct normalizer *n;

        for (; lists[i][spec.normalizer_count]; spec.normalizer_count++)
            steps[spec.normalizer_count].kind = lists[i][spec.normalizer_count];
        T_OK(normalizer_make(&n, &spec, &t_err));
        T_OK(normalizer_scratch_make(&fast, n, NULL, &counted, &t_err));
        T_OK(normalizer_scratch_make(&plain, n, NULL, &counted, &t_err));
        T_CHECK(fast.images.of != NULL);
        images_free(&plain.images);
        for (int k = 0; k < 12000; k++) {
            pattern_steps_begin(&counted);
            compare(n, &fast, &plain, i, k % 2);
        }
        normalizer_scratch_free(&fast);
        normalizer_scratch_free(&plain);
        normalizer_free(n);
    }
    return t_end();
}
