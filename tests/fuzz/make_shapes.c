/*
 * make_shapes.c: the files of hostile datasets, for tests in other languages: what the fuzzer of datasets has stored
 * (shape.h), and random changes of it, nearly all with checksums that fit. python/tests/test_hostile.py opens them.
 *
 *   make_shapes FOLDER CHANGED SEED DESCRIPTION...    FOLDER/N.leat and FOLDER/N.tokens: all, then CHANGED changed ones
 */
#include "datasets/shape.h"
#include "fuzz.h"

#define REPAIRED 180u /* of 255: all that is wrong is in what was changed */

struct text {
    uint8_t *bytes;
    size_t size;
};

static void must(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(1);
    }
}

static struct text read_text(const char *path)
{
    struct text t = { malloc(65536), 0 };
    FILE *f = fopen(path, "rb");

    must(f && t.bytes, path);
    t.size = fread(t.bytes, 1, 65536, f);
    must(fclose(f) == 0, path);
    return t;
}

static void write_file(const char *folder, uint64_t number, const char *suffix, const uint8_t *bytes, uint64_t size)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/%llu%s", folder, (unsigned long long)number, suffix);
    f = fopen(path, "wb");
    must(f && (size == 0 || fwrite(bytes, 1, (size_t)size, f) == size) && fclose(f) == 0, path);
}

static void expand(const char *folder, uint64_t number, const struct text *t)
{
    struct shape s;

    if (shape_expand(&s, t->bytes, t->size) < 0)
        return;
    write_file(folder, number, ".leat", s.index, s.index_bytes);
    write_file(folder, number, ".tokens", s.tokens, s.token_bytes);
    shape_free(&s);
}

/* A few bytes are set to values that are often at a limit. */
static void change(struct text *t, uint64_t *random)
{
    static const uint8_t values[] = { 0, 1, 2, 7, 0x7f, 0x80, 0xff, 0xfe };

    for (uint64_t n = fuzz_up_to(random, 4) + 1; n > 0; n--) {
        uint8_t *at = &t->bytes[fuzz_up_to(random, t->size - 1)];

        *at = fuzz_up_to(random, 1) ? values[fuzz_up_to(random, sizeof values - 1)] : (uint8_t)fuzz_random(random);
    }
    if (fuzz_up_to(random, 255) < REPAIRED) {
        unsigned repairs = SHAPE_ALL & ~(1u << fuzz_up_to(random, 13));

        repairs |= SHAPE_SUMS | SHAPE_IDENTITY | SHAPE_CHECKSUM | SHAPE_LAYOUT;
        t->bytes[0] = (uint8_t)repairs;
        t->bytes[1] = (uint8_t)(repairs >> 8);
    }
}

int main(int argc, char **argv)
{
    uint64_t changed, random, number = 0;

    if (argc < 5)
        return fprintf(stderr, "usage: make_shapes FOLDER CHANGED SEED DESCRIPTION...\n"), 2;
    changed = strtoull(argv[2], NULL, 10);
    random = strtoull(argv[3], NULL, 10);
    for (int i = 4; i < argc; i++) {
        struct text t = read_text(argv[i]);

        expand(argv[1], number++, &t);
        free(t.bytes);
    }
    for (; changed > 0; changed--) {
        struct text t = read_text(argv[4 + fuzz_up_to(&random, (uint64_t)argc - 5)]);

        if (t.size > 0)
            change(&t, &random);
        expand(argv[1], number++, &t);
        free(t.bytes);
    }
    return 0;
}
