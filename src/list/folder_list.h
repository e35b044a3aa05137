/*
 * folder_list.h: leat-run.list, which names the datasets of a folder that are its parts, in their order: those that
 * a run has pushed and committed (FORMAT.md, "A folder with a list"). Other files in the folder do not belong to it.
 * The list also names the parts of the folder's splits, whose own lists only say which split they are: so one file
 * decides.
 *
 * The room src/list/ has the format of this file, for libleat, which opens the folder, and libleat_pack, which
 * writes it. Nothing else enters.
 */
#ifndef LEAT_FOLDER_LIST_H
#define LEAT_FOLDER_LIST_H

#include "base/buffer.h"
#include "checksum/checksum.h"
#include "leat.h"

/* The name of the list by which a folder is opened. Older lists have the number of their run behind a dot. */
#define FOLDER_LIST "leat-run.list"

/* Returns true if a path is that of a list; *folder becomes the number of bytes before the name. */
bool folder_list_is(const char *path, size_t *folder);

/* A part that the list names. */
struct folder_part {
    const char *name;        /* path from the folder on: KEY.ATTEMPT, or SPLIT/KEY.ATTEMPT if it is a split's; a list
                                that was read owns it */
    struct hash128 checksum; /* checksum of the first page of its index, and thus of everything in both files */
    uint64_t index_bytes, token_bytes, documents, tokens;
};

struct folder_list {
    const char *split;         /* name of the split whose list this is: the list of the folder above has its parts;
                                  NULL: this list has them */
    uint8_t run[16];           /* number of the run that has committed it */
    struct folder_part *parts; /* at least one part; the first is the folder's own */
    size_t count;
    char *text;
};

/* Appends the bytes of the file to one text, and those of the list in the folder of a split to another. Names have
 * no blank and no slash but the one above, and do not begin with a dot. */
enum leat_status folder_list_make(struct buffer *text, const uint8_t run[16], const struct folder_part *parts,
                                  size_t count, struct leat_error *err);
enum leat_status folder_list_make_split(struct buffer *text, const char *split, struct leat_error *err);

/*
 * Reads a list of `size` bytes, all of which may be hostile, and takes the text over, which has room for a NUL.
 * `path` is for error messages. Returns LEAT_E_CHECKSUM if it is damaged, and LEAT_E_VERSION if a newer leat wrote
 * it. folder_list_free() must follow, on failure too.
 */
enum leat_status folder_list_read(struct folder_list *l, char *text, size_t size, const char *path,
                                  struct leat_error *err);
void folder_list_free(struct folder_list *l);

/* Returns the name of a part in the folder of a split (NULL: in the folder itself), or NULL if it is not there. */
const char *folder_part_in(const struct folder_part *part, const char *split);

/* Write 16 bytes as 32 digits and a NUL, and read them back. Reading returns false if there are other characters. */
void folder_list_hex(char text[33], const uint8_t bytes[16]);
bool folder_list_bytes(const char *text, uint8_t bytes[16]);

#endif
