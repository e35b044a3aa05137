/*
 * documents.h: sources of written datasets with documents of given lengths, for tests of the orders that show
 * documents.
 */
#ifndef LEAT_TESTS_DOCUMENTS_H
#define LEAT_TESTS_DOCUMENTS_H

#include "one_document.h"
#include "t.h"

/* "5,0,3x1000": lengths, each of one document or of so many; up to `*text`'s next '+' or its end. */
static void documents_write(const char *path, const char **text)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static const uint16_t ids[4096];
    struct leat_writer *w;
    char *end;

    options.vocabulary = 65536;
    options.force = 1;
    T_OK(leat_writer_open(&w, path, &options, &t_err));
    while (**text && **text != '+') {
        uint64_t length = strtoull(*text, &end, 10), count = *end == 'x' ? strtoull(end + 1, &end, 10) : 1;

        T_CHECK(end > *text && length <= sizeof ids / sizeof ids[0]);
        while (count-- > 0)
            T_OK(add_one_document(w, ids, 2, NULL, length, NULL, &t_err));
        *text = *end == ',' ? end + 1 : end;
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A list of one dataset or more, with '+' between them, in a folder of the caller's. */
static struct leat_dataset *documents_dataset(const char *folder, unsigned number, const char *text)
{
    char paths[16][600];
    const char *names[16];
    struct leat_dataset *d = NULL;
    uint64_t count = 0;

    for (;; text++) {
        T_CHECK(count < 16);
        snprintf(paths[count], sizeof paths[0], "%s/documents%u.%u", folder, number, (unsigned)count);
        names[count] = paths[count];
        documents_write(paths[count++], &text);
        if (*text != '+')
            break;
    }
    T_OK(leat_dataset_open_list(&d, names, count, NULL, &t_err));
    return d;
}

#endif
