/* files.h: whole files, for tests that compare, copy and change them. */
#ifndef LEAT_TESTS_SUPPORT_FILES_H
#define LEAT_TESTS_SUPPORT_FILES_H

#include "t.h"

/* The file's bytes in one allocation, and a zero after them; NULL if there is none. */
static inline uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes;
    struct stat st;

    *size = 0;
    if (!f)
        return NULL;
    if (fstat(fileno(f), &st) != 0 || !(bytes = malloc((size_t)st.st_size + 1)) ||
        fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    *size = (size_t)st.st_size;
    bytes[*size] = '\0';
    return bytes;
}

/* Both are there, with the same bytes. */
static inline bool same_file(const char *a, const char *b)
{
    size_t x_bytes, y_bytes;
    uint8_t *x = file_bytes(a, &x_bytes), *y = file_bytes(b, &y_bytes);
    bool same = x && y && x_bytes == y_bytes && memcmp(x, y, x_bytes) == 0;

    free(x);
    free(y);
    return same;
}

/* False: there is none. */
static inline bool copy_file(const char *from, const char *to)
{
    size_t size;
    uint8_t *bytes = file_bytes(from, &size);

    if (!bytes)
        return false;
    t_write(to, bytes, size);
    free(bytes);
    return true;
}

static inline const char *with(const char *name, const char *suffix)
{
    return t_text("%s%s", name, suffix);
}

static inline bool same_dataset(const char *a, const char *b)
{
    return same_file(with(a, ".tokens"), with(b, ".tokens")) && same_file(with(a, ".leat"), with(b, ".leat"));
}

#endif
