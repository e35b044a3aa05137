/* json_members.h: the names of the members that JSON records have, for a sentence that lists them. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_MEMBERS_H
#define LEAT_TOKENIZE_TOOLS_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_MEMBERS     64  /* are kept at most */
#define JSON_MEMBER_NAME 256 /* bytes of a path, with a zero byte; longer ones are left out */

struct json_members {
    unsigned count, more; /* kept; left out */
    char names[JSON_MEMBERS][JSON_MEMBER_NAME];
    bool dotted[JSON_MEMBERS]; /* a name has a dot of its own: as a field, the path means another member */
};

/* Adds the members of a record, which is a valid object, in their order: paths of those that are no objects, or empty
 * ones. A path that is there is not added again. False: it has none. */
bool json_members_add(struct json_members *m, const char *record, size_t bytes);

#endif
