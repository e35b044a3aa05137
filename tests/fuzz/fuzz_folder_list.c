/*
 * fuzz_folder_list.c: any bytes as leat-run.list of a folder, and as the line of a piece. The first byte says whether
 * the list's last line, a sum of all before it, is put right, so that what comes before it is read at all. Whatever
 * they are, the calls return. A list that is taken is that of a split, or has parts with names that stay in the folder
 * or in that of a split; written again, it is taken again, and means the same. So does a piece.
 */
#include "fuzz.h"
#include "leat_pack.h"
#include "list/folder_list.h"

#define SUM 37u /* "sum ", 32 digits, a line's end */

/* Takes the place of the last line. */
static size_t put_right(char *text, size_t size)
{
    const struct hash128 hash = checksum_kernels()->hash(text, size > SUM ? size - SUM : 0);
    uint8_t bytes[16];
    char hex[33];

    if (size <= SUM)
        return size;
    checksum_store(bytes, hash);
    folder_list_hex(hex, bytes);
    snprintf(text + size - SUM, SUM + 1, "sum %s\n", hex);
    return size;
}

static void check_list(char *text, size_t size)
{
    struct leat_error err = { .message = "" };
    struct buffer again = { 0 };
    struct folder_list l, back;
    enum leat_status s = folder_list_read(&l, text, size, "list", &err);

    FUZZ_CHECK(s == LEAT_OK ||
               ((s == LEAT_E_CHECKSUM || s == LEAT_E_VERSION || s == LEAT_E_NO_MEMORY) && err.message[0]));
    FUZZ_CHECK(s != LEAT_OK || (l.count > 0) == !l.split);
    if (s == LEAT_OK) {
        char *copy;

        FUZZ_CHECK((l.split ? folder_list_make_split(&again, l.split, NULL)
                            : folder_list_make(&again, l.run, l.parts, l.count, NULL)) == LEAT_OK);
        copy = malloc(again.size + 1);
        FUZZ_CHECK(copy != NULL);
        memcpy(copy, again.bytes, again.size);
        FUZZ_CHECK(folder_list_read(&back, copy, again.size, "list", NULL) == LEAT_OK && back.count == l.count);
        FUZZ_CHECK(!l.split == !back.split && (!l.split || strcmp(l.split, back.split) == 0));
        for (size_t i = 0; i < l.count; i++) {
            const struct folder_part *a = &l.parts[i], *b = &back.parts[i];

            const char *last = strchr(a->name, '/') ? strchr(a->name, '/') + 1 : a->name;

            FUZZ_CHECK(a->name[0] != '/' && a->name[0] != '.' && strcmp(a->name, b->name) == 0);
            FUZZ_CHECK(last[0] && last[0] != '.' && !strchr(last, '/') && (i > 0 || last == a->name));
            FUZZ_CHECK(checksum_equal(a->checksum, b->checksum) && a->index_bytes == b->index_bytes &&
                       a->token_bytes == b->token_bytes && a->documents == b->documents && a->tokens == b->tokens);
        }
        folder_list_free(&back);
    }
    folder_list_free(&l);
    buffer_free(&again);
}

static void check_piece(const char *line)
{
    struct leat_run_piece piece, back;
    struct leat_error err = { .message = "" };
    char text[LEAT_RUN_PIECE_BYTES];
    enum leat_status s = leat_run_piece_read(&piece, line, &err);

    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_ARGUMENT && err.message[0]));
    if (s != LEAT_OK)
        return;
    leat_run_piece_text(&piece, text);
    FUZZ_CHECK(strlen(text) < sizeof text - 1);
    FUZZ_CHECK(leat_run_piece_read(&back, text, NULL) == LEAT_OK && memcmp(&piece, &back, sizeof piece) == 0);
}

FUZZ_TARGET(folder_list)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_piece(text);
    check_list(text, data[0] & 1 ? put_right(text, size - 1) : size - 1); /* which takes it */
    return 0;
}
