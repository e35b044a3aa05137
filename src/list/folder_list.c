/*
 * folder_list.c: writes and reads lists.
 *
 * The sum at the end is compared first, so that only bytes that were written are parsed. But whoever writes a list
 * can also write its sum, so the list is read as carefully as any file.
 */
#include "folder_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define FIRST_LINE  "leat list "
#define SPLIT_LINES FIRST_LINE "1\nsplit "
#define SUM_LINE    38u /* length of the file's last line, "sum ", 32 digits and a line feed; and of the NUL */

static enum leat_status damaged(const char *path, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_CHECKSUM, path, "%s is damaged: restore it from its source", path);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void folder_list_hex(char text[33], const uint8_t bytes[16])
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < 16; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[32] = '\0';
}

bool folder_list_bytes(const char *text, uint8_t bytes[16])
{
    for (unsigned i = 0; i < 16; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

bool folder_list_is(const char *path, size_t *folder)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(FOLDER_LIST);
    uint8_t run[16];

    *folder = (size_t)(name - path);
    return strncmp(name, FOLDER_LIST, length) == 0 &&
           (!name[length] ||
            (name[length] == '.' && strlen(name + length) == 33 && folder_list_bytes(name + length + 1, run)));
}

static bool read_hash(const char *text, struct hash128 *hash)
{
    uint8_t bytes[16];

    if (!folder_list_bytes(text, bytes))
        return false;
    *hash = checksum_load(bytes);
    return true;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void show_hash(char text[33], struct hash128 hash)
{
    uint8_t bytes[16];

    checksum_store(bytes, hash);
    folder_list_hex(text, bytes);
}

static int show_part(char *to, size_t room, const struct folder_part *part)
{
    char hash[33];

    show_hash(hash, part->checksum);
    return snprintf(to, room, "part %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", part->name, hash,
                    part->index_bytes, part->token_bytes, part->documents, part->tokens);
}

static enum leat_status add_part(struct buffer *text, const struct folder_part *part, struct leat_error *err)
{
    size_t length = (size_t)show_part(NULL, 0, part);
    enum leat_status s = buffer_reserve(text, length + 1, err);

    if (s == LEAT_OK)
        text->size += (size_t)show_part((char *)text->bytes + text->size, length + 1, part);
    return s;
}

static enum leat_status add_sum(struct buffer *text, struct leat_error *err)
{
    char line[SUM_LINE], hash[33];

    show_hash(hash, checksum_kernels()->hash(text->bytes, text->size));
    return buffer_append(text, line, (size_t)snprintf(line, sizeof line, "sum %s\n", hash), err);
}

enum leat_status folder_list_make_split(struct buffer *text, const char *split, struct leat_error *err)
{
    enum leat_status s = buffer_append(text, SPLIT_LINES, strlen(SPLIT_LINES), err);

    if (s == LEAT_OK)
        s = buffer_append(text, split, strlen(split), err);
    if (s == LEAT_OK)
        s = buffer_append(text, "\n", 1, err);
    return s == LEAT_OK ? add_sum(text, err) : s;
}

enum leat_status folder_list_make(struct buffer *text, const uint8_t run[16], const struct folder_part *parts,
                                  size_t count, struct leat_error *err)
{
    char line[120], hash[33];
    enum leat_status s;
    int length;

    folder_list_hex(hash, run);
    length = snprintf(line, sizeof line, FIRST_LINE "1\nrun %s\nparts %zu\n", hash, count);
    s = buffer_append(text, line, (size_t)length, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_part(text, &parts[i], err);
    return s == LEAT_OK ? add_sum(text, err) : s;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static enum leat_status check_sum(const char *text, size_t size, const char *path, struct leat_error *err)
{
    size_t before = size - (SUM_LINE - 1);
    struct hash128 stored;
    unsigned version;

    if (size > strlen(FIRST_LINE) && memcmp(text, FIRST_LINE, strlen(FIRST_LINE)) == 0 &&
        sscanf(text + strlen(FIRST_LINE), "%9u", &version) == 1 && version > 1)
        return status_set_in(err, LEAT_E_VERSION, path, "%s is of version %u, and this leat knows 1: use a newer leat",
                             path, version);
    if (size < SUM_LINE || memcmp(text + before, "sum ", 4) != 0 || text[size - 1] != '\n' ||
        !read_hash(text + before + 4, &stored) || !checksum_equal(stored, checksum_kernels()->hash(text, before)))
        return damaged(path, err);
    return LEAT_OK;
}

/* Returns true if the name stays in the folder, or in the folder of a split. */
static bool is_name(const char *name)
{
    const char *slash = strchr(name, '/'), *last = slash ? slash + 1 : name;

    return *name && *name != '.' && slash != name && *last && *last != '.' && !strchr(last, '/');
}

/* Reads "part NAME CHECKSUM INDEX_BYTES TOKEN_BYTES DOCUMENTS TOKENS". The numbers follow from the files that have
 * this checksum; they are for readers that do not open them. */
static bool read_part(struct folder_part *part, char *line)
{
    char *name = line + strlen("part "), *end = name + strcspn(name, " ");
    uint64_t *const numbers[] = { &part->index_bytes, &part->token_bytes, &part->documents, &part->tokens };
    int used = 0;

    if (strncmp(line, "part ", strlen("part ")) != 0 || *end != ' ' || strlen(end) < 34 || end[33] != ' ' ||
        !read_hash(end + 1, &part->checksum))
        return false;
    *end = '\0';
    if (!is_name(name))
        return false;
    part->name = name;
    end += 33;
    for (unsigned i = 0; i < 4; i++, end += used)
        if (end[0] != ' ' || end[1] < '0' || end[1] > '9' || sscanf(end, " %19" SCNu64 "%n", numbers[i], &used) != 1)
            return false; /* no number begins with a sign */
    return *end == '\0';
}

static enum leat_status read_lines(struct folder_list *l, const char *path, struct leat_error *err)
{
    char *line = l->text, *next;
    uint64_t parts = 0;
    char run[33] = "";
    int used = 0;
    size_t most;

    if (sscanf(line, FIRST_LINE "1\nrun %32[0-9a-f]\nparts %19" SCNu64 "\n%n", run, &parts, &used) != 2 || used == 0 ||
        parts == 0 || !folder_list_bytes(run, l->run))
        return damaged(path, err);
    line += used;
    most = strlen(line) / strlen("part N "); /* so no allocation is larger than the file justifies */
    l->parts = parts <= most ? calloc((size_t)parts, sizeof *l->parts) : NULL;
    if (!l->parts)
        return parts > most ? damaged(path, err) : status_no_memory(err, parts * sizeof *l->parts);
    for (; l->count < parts; l->count++, line = next + 1) {
        next = strchr(line, '\n');
        if (!next)
            return damaged(path, err);
        *next = '\0';
        if (!read_part(&l->parts[l->count], line))
            return damaged(path, err);
    }
    return *line == '\0' && folder_part_in(&l->parts[0], NULL) ? LEAT_OK : damaged(path, err);
}

/* "split NAME" */
static enum leat_status read_split(struct folder_list *l, const char *path, struct leat_error *err)
{
    char *name = l->text + strlen(SPLIT_LINES), *end = strchr(name, '\n');

    if (!end || end[1])
        return damaged(path, err);
    *end = '\0';
    l->split = name;
    return is_name(name) && !strchr(name, '/') ? LEAT_OK : damaged(path, err);
}

enum leat_status folder_list_read(struct folder_list *l, char *text, size_t size, const char *path,
                                  struct leat_error *err)
{
    enum leat_status s;

    *l = (struct folder_list) { .text = text };
    text[size] = '\0';
    s = memchr(text, '\0', size) ? damaged(path, err) : check_sum(text, size, path, err);
    if (s != LEAT_OK)
        return s;
    text[size - (SUM_LINE - 1)] = '\0';
    return strncmp(text, SPLIT_LINES, strlen(SPLIT_LINES)) == 0 ? read_split(l, path, err) : read_lines(l, path, err);
}

const char *folder_part_in(const struct folder_part *part, const char *split)
{
    const char *slash = strchr(part->name, '/');

    if (!slash || !split)
        return slash || split ? NULL : part->name;
    return strncmp(part->name, split, (size_t)(slash - part->name)) == 0 && !split[slash - part->name] ? slash + 1
                                                                                                       : NULL;
}

void folder_list_free(struct folder_list *l)
{
    free(l->parts);
    free(l->text);
    *l = (struct folder_list) { 0 };
}
