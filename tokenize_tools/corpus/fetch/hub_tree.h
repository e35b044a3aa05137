/*
 * hub_tree.h: what the Hugging Face Hub says of a repository, by its API: which commit a revision is, and which files
 * lie below a folder. A branch may move on while a run reads it, and the Hub keeps each commit, so a name is *pinned*
 * first: hf://datasets/ORG/NAME@main/x becomes hf://datasets/ORG/NAME@COMMIT/x, and that is what is read and recorded.
 */
#ifndef LEAT_CORPUS_HUB_TREE_H
#define LEAT_CORPUS_HUB_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "remote/remote.h"

#define HUB_COMMIT 40u /* hexadecimal digits */

/* What names up to their paths mean, as they were written: "hf://datasets/NAME" is "hf://datasets/ORG/NAME@COMMIT". */
struct hub_pins {
    struct hub_pin {
        char *from, *to;
    } * items;
    size_t count;
};

enum leat_status hub_pins_add(struct hub_pins *pins, const char *from, const char *to, struct leat_error *err);
void hub_pins_free(struct hub_pins *pins);

/* Pins as text, a line each: what is `before` them all, "FROM TO". Other lines, which a file of others may have, are
 * passed over. */
enum leat_status hub_pins_write(const struct hub_pins *pins, const char *before, struct buffer *text,
                                struct leat_error *err);
enum leat_status hub_pins_read(struct hub_pins *pins, const char *before, const char *text, struct leat_error *err);

/* Sets *pinned to the URL with its commit; asks the Hub, unless a pin says it or the URL itself. If there is no
 * ORG/NAME and the name has no revision, ORG is a repository without an organization, and NAME belongs to the path.
 * LEAT_E_NO_FILE with the revisions that there are. */
enum leat_status hub_pin(struct remote *r, struct hub_pins *pins, const char *url, char **pinned,
                         struct leat_error *err);

/* Calls `take` for each file below a folder of the Hub, in its order, with the etag that the Hub gives the file. */
enum leat_status hub_list(struct remote *r, const struct url *folder, remote_take *take, void *context,
                          struct leat_error *err);

/* Reads one page of such a list. Every byte may be hostile. */
enum leat_status hub_list_read(const void *json, size_t bytes, const struct url *folder, remote_take *take,
                               void *context, struct leat_error *err);

/* Reads what the Hub says of a revision: its commit, and as which repository it is known now, ORG/NAME (*id is the
 * caller's). Likewise. */
enum leat_status hub_revision_read(const void *json, size_t bytes, const struct url *url, char commit[HUB_COMMIT + 1],
                                   char **id, struct leat_error *err);

/* Asks the Hub for what is below ENDPOINT/api/REPOSITORY: "/revision/main". `text` is the answer. */
enum leat_status hub_ask(struct remote *r, const struct url *url, const char *what, struct buffer *text,
                         struct leat_error *err);

/* The revision of a URL as the API takes it, encoded, after "/revision/" or the like. */
enum leat_status hub_call(char **call, const char *before, const struct url *url, struct leat_error *err);

#endif
