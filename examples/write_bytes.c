/*
 * write_bytes.c: writes a dataset of bytes: write_bytes NAME FILE...
 *
 * Each paragraph of the files (blank lines lie between them) becomes a document: one token a byte, and the end token
 * 256 after it. The dataset also keeps where each paragraph came from, and an id such as "mill.txt#3" for it.
 */
#define _POSIX_C_SOURCE 200809L /* getline */

#include <inttypes.h>
#include <leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_TOKEN 256

/* Appends the bytes of `line` as tokens to the document that is open. */
static enum leat_status add_bytes(struct leat_writer *w, const char *line, size_t length, struct leat_error *err)
{
    uint16_t ids[512];
    enum leat_status s = LEAT_OK;

    for (size_t done = 0, n; s == LEAT_OK && done < length; done += n) {
        for (n = 0; n < 512 && done + n < length; n++)
            ids[n] = (unsigned char)line[done + n];
        s = leat_writer_append(w, ids, 2, NULL, n, err);
    }
    return s;
}

/* Writes the paragraphs of one file; `err` says what went wrong, if anything did. */
static enum leat_status add_file(struct leat_writer *w, const char *path, FILE *file, struct leat_error *err)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct leat_origin origin = { .line = LEAT_NONE };
    struct leat_input facts = LEAT_INPUT_INIT;
    uint64_t offset = 0, number = 0, paragraphs = 0;
    enum leat_status s = leat_writer_add_input(w, path, &origin.input, err);
    char *line = NULL, id[300];
    size_t capacity = 0;
    ssize_t length;

    do {
        length = s == LEAT_OK ? getline(&line, &capacity, file) : -1;
        number++;
        if (length > 0 && line[0] != '\n') {
            if (origin.line == LEAT_NONE) { /* a paragraph begins */
                origin.line = number;
                origin.offset = offset;
            }
            s = add_bytes(w, line, (size_t)length, err);
        } else if (s == LEAT_OK && origin.line != LEAT_NONE) { /* it has ended */
            snprintf(id, sizeof id, "%.255s#%" PRIu64, base, paragraphs++);
            origin.id = id;
            origin.id_bytes = strlen(id);
            s = leat_writer_end_document(w, &origin, err);
            origin.line = LEAT_NONE;
        }
        offset += length > 0 ? (uint64_t)length : 0;
    } while (length > 0);
    facts.bytes = offset;
    free(line);
    return s == LEAT_OK ? leat_writer_set_input(w, origin.input, &facts, err) : s;
}

int main(int argc, char **argv)
{
    struct leat_stored_tokenizer bytes = { .name = "bytes", .pattern = "" };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = LEAT_OK;
    struct leat_error err;
    struct leat_writer *w;

    if (argc < 3)
        return fprintf(stderr, "usage: %s NAME FILE...\n", argv[0]), 2;
    options.vocabulary = END_TOKEN + 1;
    options.end_token = END_TOKEN;
    options.tokenizer = &bytes;
    options.force = options.store_lines = options.store_ids = 1;
    if (leat_writer_open(&w, argv[1], &options, &err) != LEAT_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    for (int i = 2; s == LEAT_OK && i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");

        if (!file)
            return perror(argv[i]), leat_writer_abandon(w), 1;
        s = add_file(w, argv[i], file, &err);
        fclose(file);
    }
    if (s != LEAT_OK || leat_writer_finish(w, &info, &err) != LEAT_OK)
        return fprintf(stderr, "%s\n", err.message), leat_writer_abandon(w), 1;
    printf("%" PRIu64 " documents, %" PRIu64 " tokens in %s.tokens and %s.leat\n", info.documents, info.tokens, argv[1],
           argv[1]);
    return 0;
}
