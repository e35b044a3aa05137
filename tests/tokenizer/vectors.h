/*
 * vectors.h: reads tests/tokenizer/vectors/: texts, and what the reference packages make of them (tiktoken 0.14.0,
 * tokenizers 0.23.3, sentencepiece 0.2.3, mistral-common 1.13.1). Every id is theirs. The files are:
 *
 *   texts.txt       a text a line, with \n, \r, \t, \\ and \xNN; texts are bytes, and some are not UTF-8
 *   NAME.json       a made-up tokenizer.json; NAME.model one of sentencepiece; tekken.json one of mistral-common
 *   NAME.ids        for text N (from 0): "N ids" (special strings are text), "Ns ids" (they are tokens; if that
 *                   differs), "Nd text" (what the ids of the first line decode to, if that is not the text, repaired)
 */
#ifndef LEAT_TESTS_VECTORS_H
#define LEAT_TESTS_VECTORS_H

#include "t.h"

#define VECTORS_FOLDER "tests/tokenizer/vectors"
#define VECTORS_TEXTS  128

struct vectors_text {
    char *bytes;
    size_t size;
};

/* The bytes of one file, with a NUL behind; ends the program if it cannot be read. Freed by free(). */
static inline char *vectors_file(const char *name, size_t *size)
{
    char path[256];
    FILE *f;
    char *bytes = NULL;
    long end = -1;

    snprintf(path, sizeof path, "%s/%s", VECTORS_FOLDER, name);
    f = fopen(path, "rb");
    if (f && fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)end + 1);
    if (!bytes || fread(bytes, 1, (size_t)end, f) != (size_t)end) {
        perror(path);
        exit(1);
    }
    fclose(f);
    bytes[end] = '\0';
    *size = (size_t)end;
    return bytes;
}

/* Undoes \n, \r, \t, \\ and \xNN in place; returns the length. */
static inline size_t vectors_unescape(char *text)
{
    char *out = text, digits[3] = { 0 };

    for (const char *in = text; *in; in++) {
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        in++;
        if (*in == 'x') {
            memcpy(digits, in + 1, 2);
            *out++ = (char)strtoul(digits, NULL, 16);
            in += 2;
        } else {
            *out++ = (char)(*in == 'n' ? '\n' : *in == 'r' ? '\r' : *in == 't' ? '\t' : *in);
        }
    }
    return (size_t)(out - text);
}

/* The texts, which lie in *memory, the caller's to free; returns their number. */
static inline size_t vectors_texts(struct vectors_text texts[VECTORS_TEXTS], char **memory)
{
    size_t size, count = 0;
    char *line = *memory = vectors_file("texts.txt", &size);

    for (char *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (count == VECTORS_TEXTS)
            break;
        texts[count++] = (struct vectors_text) { line, vectors_unescape(line) };
    }
    return count;
}

#endif
