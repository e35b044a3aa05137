/*
 * test_parquet_damage.c: small files whose pages have checksums, cut off at every byte and with every bit flipped, read
 * in memory and in files: an error with a sentence, or the values that were written, and never a read beyond the file.
 * (What an integer means is said in the footer, which has no checksum: three bits there make unsigned ids signed or
 * wider.)
 */
#include "parquet_files.h"

static void check_cuts(struct buffer *bytes, const char *name)
{
    struct buffer got = { 0 }, part;

    for (size_t size = 0; size < bytes->size; size++) {
        part = (struct buffer) { .size = size };
        part.bytes = malloc(size ? size : 1); /* to the byte: a read beyond it is seen */
        memcpy(part.bytes, bytes->bytes, size);
        got.size = 0;
        if (read_all(&got, &part, size % 2 ? MAPPED : UNLIMITED, &t_err) == LEAT_OK)
            T_FAIL("%s: its first %zu bytes are taken for a file", name, size);
        free(part.bytes);
    }
    buffer_free(&got);
}

/* In files, by make check: a bit of each byte. */
static unsigned check_flips(struct buffer *bytes, const char *name, const struct buffer *want, enum memory limit)
{
    const size_t step = limit == MAPPED && !t_every() ? 7 : 1;
    struct buffer got = { 0 };
    unsigned others = 0;

    for (size_t bit = 0; bit < 8 * bytes->size; bit += step) {
        enum leat_status s;

        bytes->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        got.size = 0;
        s = read_all(&got, bytes, limit, &t_err);
        if (s == LEAT_OK && !same_bytes(&got, want)) {
            others++;
            fprintf(stderr, "%s: bit %zu of byte %zu changes values\n", name, bit % 8, bit / 8);
        }
        if (s != LEAT_OK)
            T_CHECK(t_err.message[0]);
        bytes->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_free(&got);
    return others;
}

int main(void)
{
    static const struct {
        const char *name;
        unsigned others; /* bits that may change values */
    } files[] = { { "plain", 0 }, { "dictionary_2_snappy", 0 }, { "delta", 0 }, { "required", 0 }, { "split", 3 } };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buffer bytes = load(files[i].name, ".parquet"), want = expected(files[i].name);
        unsigned others;

        check_cuts(&bytes, files[i].name);
        T_EQ(check_flips(&bytes, files[i].name, &want, UNLIMITED), files[i].others);
        others = check_flips(&bytes, files[i].name, &want, MAPPED);
        T_CHECK(t_every() ? others == files[i].others : others <= files[i].others);
        buffer_free(&bytes);
        buffer_free(&want);
    }
    return t_end();
}
