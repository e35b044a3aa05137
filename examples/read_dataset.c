/*
 * read_dataset.c: looks into a dataset: read_dataset NAME [FIRST COUNT]
 *
 * Prints its facts, its first tokens, and the documents that the tokens [FIRST, FIRST + COUNT) fall in, with the places
 * they came from: what a training program asks when it wants to know what a step saw. Ids and paths come from whoever
 * made the inputs, so leat_show() keeps what they hold from the terminal.
 */
#include <inttypes.h>
#include <leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 12

static enum leat_status print_tokens(const struct leat_dataset *d, uint64_t tokens, struct leat_error *err)
{
    uint64_t count = tokens < SHOWN ? tokens : SHOWN;
    uint32_t ids[SHOWN];
    enum leat_status s = leat_dataset_read_u32(d, 0, count, ids, err);

    if (s != LEAT_OK)
        return s;
    printf("first tokens:");
    for (uint64_t i = 0; i < count; i++)
        printf(" %" PRIu32, ids[i]);
    printf("\n");
    return LEAT_OK;
}

static enum leat_status print_document(const struct leat_dataset *d, uint64_t number, struct leat_error *err)
{
    struct leat_origin origin = { .input = LEAT_NONE };
    uint64_t first, count, bytes;
    char path[256], id[64], shown_path[6 * sizeof path], shown_id[6 * sizeof id];
    enum leat_status s = leat_dataset_document(d, number, &first, &count, err);

    if (s != LEAT_OK)
        return s;
    s = leat_dataset_origins(d, number, 1, &origin, err);
    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    if (origin.input == LEAT_NONE) { /* files of another tool do not record it */
        printf("document %" PRIu64 ": tokens %" PRIu64 " to %" PRIu64 ", from no recorded input\n", number, first,
               first + count);
        return LEAT_OK;
    }
    s = leat_dataset_ids(d, number, 1, id, sizeof id, &bytes, err);
    if (s == LEAT_OK)
        s = leat_dataset_input_path(d, origin.input, path, sizeof path, &bytes, err);
    if (s != LEAT_OK)
        return s;
    leat_show(shown_path, sizeof shown_path, path, strlen(path));
    leat_show(shown_id, sizeof shown_id, id, strlen(id));
    printf("document %" PRIu64 " (%s): tokens %" PRIu64 " to %" PRIu64 ", from byte %" PRIu64 " of %s\n", number,
           shown_id, first, first + count, origin.offset, shown_path);
    return LEAT_OK;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, count = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t document = 0, documents = 0;
    struct leat_dataset *d;
    struct leat_error err;
    enum leat_status s;

    if (argc < 2)
        return fprintf(stderr, "usage: %s NAME [FIRST COUNT]\n", argv[0]), 2;
    if (leat_dataset_open(&d, argv[1], NULL, &err) != LEAT_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    leat_dataset_info(d, &info);
    printf("%" PRIu64 " tokens of %" PRIu32 " bytes in %" PRIu64 " documents; ids below %" PRIu64 "\n", info.tokens,
           info.token_width, info.documents, info.vocabulary);

    s = print_tokens(d, info.tokens, &err);
    if (s == LEAT_OK && info.tokens > 0)
        s = leat_dataset_documents_in(d, first, count, &document, &documents, &err);
    for (uint64_t i = 0; s == LEAT_OK && i < documents; i++)
        s = print_document(d, document + i, &err);
    if (s != LEAT_OK)
        fprintf(stderr, "%s\n", err.message);
    leat_dataset_close(d);
    return s == LEAT_OK ? 0 : 1;
}
