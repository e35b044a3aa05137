/*
 * documents.h: sources of written datasets with documents of given lengths, for tests of the orders that show
 * documents.
 */
#ifndef LEAT_TESTS_DOCUMENTS_H
#define LEAT_TESTS_DOCUMENTS_H

#include <stdbool.h>

#include "one_document.h"
#include "t.h"

/* "5,0,3x1000": lengths, each of one document or of so many; up to `*text`'s next '+' or its end. A begin and an end
 * token count as tokens. */
static void documents_write(const char *path, bool begin, bool end, const char **text)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static const uint16_t ids[4096];
    unsigned marks = begin + end;
    struct leat_writer *w;
    char *after;

    options.vocabulary = 65536;
    options.begin_token = begin ? 2 : LEAT_NONE;
    options.end_token = end ? 1 : LEAT_NONE;
    options.force = 1;
    T_OK(leat_writer_open(&w, path, &options, &t_err));
    while (**text && **text != '+') {
        uint64_t length = strtoull(*text, &after, 10), count = *after == 'x' ? strtoull(after + 1, &after, 10) : 1;

        T_CHECK(after > *text && length >= marks && length <= sizeof ids / sizeof ids[0]);
        while (count-- > 0)
            T_OK(add_one_document(w, ids, 2, NULL, length - marks, NULL, &t_err));
        *text = *after == ',' ? after + 1 : after;
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A list of one dataset or more, with '+' between them, in a folder of the caller's; after "b:", "e:" or "be:" its
 * documents have a begin token, an end token or both. */
static struct leat_dataset *documents_dataset(const char *folder, unsigned number, const char *text)
{
    char paths[16][600];
    const char *names[16];
    struct leat_dataset *d = NULL;
    bool begin = *text == 'b', end = text[begin] == 'e';
    uint64_t count = 0;

    text += begin + end + (text[begin + end] == ':');
    for (;; text++) {
        T_CHECK(count < 16);
        snprintf(paths[count], sizeof paths[0], "%s/documents%u.%u", folder, number, (unsigned)count);
        names[count] = paths[count];
        documents_write(paths[count++], begin, end, &text);
        if (*text != '+')
            break;
    }
    T_OK(leat_dataset_open_list(&d, names, count, NULL, &t_err));
    return d;
}

#endif
