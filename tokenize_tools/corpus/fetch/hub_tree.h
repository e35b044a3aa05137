/*
 * hub_tree.h: asks the Hugging Face Hub about a repository: which commit a revision is, and which files lie below a
 * folder. A branch may move on while a run reads it, and the Hub keeps each commit, so a name is *pinned* first:
 * hf://datasets/ORG/NAME@main/x becomes hf://datasets/ORG/NAME@COMMIT/x, and that name is read and recorded.
 */
#ifndef LEAT_CORPUS_HUB_TREE_H
#define LEAT_CORPUS_HUB_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "remote/remote.h"

#define HUB_COMMIT 40u /* hexadecimal digits */

/* The meaning of names up to their paths: "hf://datasets/NAME" is "hf://datasets/ORG/NAME@COMMIT". */
struct hub_pins {
    struct hub_pin {
        char *from, *to;
    } * items;
    size_t count;
};

enum leat_status hub_pins_add(struct hub_pins *pins, const char *from, const char *to, struct leat_error *err);
void hub_pins_free(struct hub_pins *pins);

/* Write and read pins as text, with a line "FROM TO" each that starts with the text `before`. Reading skips other
 * lines. */
enum leat_status hub_pins_write(const struct hub_pins *pins, const char *before, struct buffer *text,
                                struct leat_error *err);
enum leat_status hub_pins_read(struct hub_pins *pins, const char *before, const char *text, struct leat_error *err);

/* Sets *pinned to the URL with its commit; asks the Hub, unless a pin or the URL has the commit. If there is no
 * ORG/NAME and the name has no revision, ORG is a repository without an organization, and NAME belongs to the path.
 * Returns LEAT_E_NO_FILE with a list of revisions if there is no such revision. */
enum leat_status hub_pin(struct remote *r, struct hub_pins *pins, const char *url, char **pinned,
                         struct leat_error *err);

/* Calls `take` for each file below a folder of the Hub, in the Hub's order, with the file's etag. */
enum leat_status hub_list(struct remote *r, const struct url *folder, remote_take *take, void *context,
                          struct leat_error *err);

/* Reads one page of such a list. Every byte may be hostile. */
enum leat_status hub_list_read(const void *json, size_t bytes, const struct url *folder, remote_take *take,
                               void *context, struct leat_error *err);

/* Reads the Hub's answer about a revision: its commit, and the present name ORG/NAME of the repository. The caller
 * frees *id. Every byte may be hostile. */
enum leat_status hub_revision_read(const void *json, size_t bytes, const struct url *url, char commit[HUB_COMMIT + 1],
                                   char **id, struct leat_error *err);

/* Asks the Hub for ENDPOINT/api/REPOSITORY followed by `what`, such as "/revision/main". `text` gets the answer. */
enum leat_status hub_ask(struct remote *r, const struct url *url, const char *what, struct buffer *text,
                         struct leat_error *err);

/* Makes a call of the API: `before`, such as "/revision/", and the encoded revision of the URL. */
enum leat_status hub_call(char **call, const char *before, const struct url *url, struct leat_error *err);

#endif
