/*
 * outside.c: a program that was given nothing but an installed leat. Is C and C++. outside NAME writes two datasets,
 * joins them, and reads the result; and packs a text.
 */
#include <leat.h>
#include <leat_pack.h>
#include <stdio.h>
#include <string.h>

static struct leat_error err;

static int write_one(const char *name, const uint16_t *ids, uint64_t count)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_documents one = LEAT_DOCUMENTS_INIT;
    struct leat_writer *w;

    options.vocabulary = 100;
    options.end_token = 99;
    one.ids = ids;
    one.id_width = 2;
    one.lengths = &count;
    one.count = 1;
    return leat_writer_open(&w, name, &options, &err) == LEAT_OK && leat_writer_add(w, &one, &err) == LEAT_OK &&
           leat_writer_finish(w, NULL, &err) == LEAT_OK;
}

static int pack_text(const char *name, const char *output)
{
    struct leat_pack_options options = LEAT_PACK_OPTIONS_INIT;
    struct leat_tokenizer *tokenizer;
    FILE *f = fopen(name, "w");
    int packed;

    if (f == NULL || fputs("hello world\n", f) < 0 || fclose(f) != 0 ||
        leat_tokenizer_open(&tokenizer, "gpt2", NULL, &err) != LEAT_OK)
        return 0;
    options.tokenizer = tokenizer;
    packed = leat_pack(output, &name, 1, &options, NULL, &err) == LEAT_OK;
    leat_tokenizer_close(tokenizer);
    return packed;
}

int main(int argc, char **argv)
{
    static const uint16_t ids[] = { 1, 2, 3, 4 };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d = NULL;
    char a[4096], b[4096], joined[4096];
    const char *parts[2];
    uint32_t last = 0;

    if (argc != 2 || strcmp(leat_version(), LEAT_VERSION) != 0 || strcmp(leat_status_name(LEAT_OK), "ok") != 0) {
        printf("the library is not the one of this header\n");
        return 1;
    }
    snprintf(a, sizeof a, "%s.a", argv[1]);
    snprintf(b, sizeof b, "%s.b", argv[1]);
    snprintf(joined, sizeof joined, "%s.joined", argv[1]);
    parts[0] = a;
    parts[1] = b;
    if (!write_one(a, ids, 4) || !write_one(b, ids, 0) || leat_merge(joined, parts, 2, NULL, NULL, &err) != LEAT_OK ||
        leat_dataset_open(&d, joined, NULL, &err) != LEAT_OK ||
        leat_dataset_read_u32(d, 5, 1, &last, &err) != LEAT_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    if (last != 99) {
        printf("the last token is %u\n", (unsigned)last);
        return 1;
    }
    snprintf(a, sizeof a, "%s.txt", argv[1]);
    snprintf(b, sizeof b, "%s.packed", argv[1]);
    if (!pack_text(a, b)) {
        printf("%s\n", err.message);
        return 1;
    }
    printf("%s: %u tokens\n", leat_version(), (unsigned)info.tokens);
    return 0;
}
