/* npy.c: see npy.h. The header of a file is a text, a Python dict of three keys; the numbers follow it. */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

#define HEADER_MAX 65536u

static enum leat_status not_read(const struct npy *f, const char *why, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_ARGUMENT, f->path, "%.300s: %s", f->path, why);
}

/* Returns what follows the key in the header, without blanks; NULL: it has no such key. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);

    if (!at)
        return NULL;
    at += strlen(key);
    return at + strspn(at, ": ");
}

static enum leat_status read_descr(struct npy *f, const char *text, struct leat_error *err)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        { "b1", LEAT_COLUMN_U8 },  { "u1", LEAT_COLUMN_U8 },  { "u2", LEAT_COLUMN_U16 }, { "u4", LEAT_COLUMN_U32 },
        { "u8", LEAT_COLUMN_U64 }, { "i1", LEAT_COLUMN_I8 },  { "i2", LEAT_COLUMN_I16 }, { "i4", LEAT_COLUMN_I32 },
        { "i8", LEAT_COLUMN_I64 }, { "f2", LEAT_COLUMN_F16 }, { "f4", LEAT_COLUMN_F32 }, { "f8", LEAT_COLUMN_F64 },
    };
    const char *end = text ? strchr(text + (*text == '\''), '\'') : NULL;

    for (size_t i = 0; end && *text == '\'' && strchr("<>|=", text[1]) && i < sizeof types / sizeof *types; i++)
        if (end == text + 4 && strncmp(text + 2, types[i].name, 2) == 0) {
            f->type = types[i].type;
            f->bytes = (uint32_t)(types[i].name[1] - '0');
            f->swapped = f->bytes > 1 && (text[1] == '>') != BYTES_BIG_ENDIAN && text[1] != '=';
            return LEAT_OK;
        }
    return not_read(f, "its values are no numbers of 1 to 8 bytes; save them with such a dtype", err);
}

/* Reads "(n,)" or "(n, K)". */
static bool read_shape(struct npy *f, const char *text)
{
    char end[2];

    f->width = 1;
    if (!text)
        return false;
    return sscanf(text, "(%20" SCNu64 ",%1[)]", &f->rows, end) == 2 ||
           sscanf(text, "(%20" SCNu64 ", %20" SCNu64 "%1[)]", &f->rows, &f->width, end) == 3;
}

static enum leat_status read_header(struct npy *f, struct leat_error *err)
{
    uint8_t start[12] = { 0 };
    char header[HEADER_MAX + 1];
    uint64_t length, at, all;
    const char *fortran;
    enum leat_status s = f->size < sizeof start ? not_read(f, "not a .npy file", err)
                                                : file_read_at(f->fd, 0, start, sizeof start, f->path, err);

    if (s != LEAT_OK)
        return s;
    if (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
        return not_read(f, "not a .npy file of version 1 to 3", err);
    at = start[6] == 1 ? 10 : 12;
    length = start[6] == 1 ? bytes_load16(start + 8) : bytes_load32(start + 8);
    if (length > HEADER_MAX || !bytes_inside(at, length, f->size))
        return not_read(f, "its header is cut off or too long", err);
    s = file_read_at(f->fd, at, header, length, f->path, err);
    if (s != LEAT_OK)
        return s;
    header[length] = '\0';
    f->begin = at + length;
    s = read_descr(f, value_of(header, "'descr'"), err);
    if (s != LEAT_OK)
        return s;
    fortran = value_of(header, "'fortran_order'");
    if (!read_shape(f, value_of(header, "'shape'")))
        return not_read(f, "its shape is not (n,) or (n, K)", err);
    if (!fortran || (strncmp(fortran, "False", 5) != 0 && f->width > 1))
        return not_read(f, "its values are in Fortran's order: save numpy.ascontiguousarray() of them", err);
    if (!bytes_multiply(f->rows, f->width, &all) || !bytes_multiply(all, f->bytes, &all) || f->size - f->begin != all)
        return not_read(f, "its size is not that of its shape: it is cut off or damaged", err);
    return LEAT_OK;
}

enum leat_status npy_open(struct npy *f, const char *path, struct leat_error *err)
{
    enum leat_status s;

    *f = (struct npy) { .path = path, .fd = -1 };
    s = file_open_read(&f->fd, &f->size, path, err);
    return s == LEAT_OK ? read_header(f, err) : s;
}

void npy_close(struct npy *f)
{
    file_close(&f->fd);
}

enum leat_status npy_read(const struct npy *f, uint64_t row, uint64_t count, uint8_t *out, struct leat_error *err)
{
    uint64_t row_bytes = f->width * f->bytes;
    enum leat_status s = file_read_at(f->fd, f->begin + row * row_bytes, out, count * row_bytes, f->path, err);

    if (s == LEAT_OK && f->swapped)
        bytes_swap_each(out, count * f->width, f->bytes);
    return s;
}
