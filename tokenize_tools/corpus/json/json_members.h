/* json_members.h: the names of the members that JSON records have, for a sentence that lists them. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_MEMBERS_H
#define LEAT_TOKENIZE_TOOLS_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_MEMBERS     64  /* most members that are kept */
#define JSON_MEMBER_NAME 256 /* bytes of a path, with a zero byte; members with longer paths are left out */

struct json_members {
    unsigned count, more; /* members that are kept, and that are left out */
    char names[JSON_MEMBERS][JSON_MEMBER_NAME];
    bool dotted
        [JSON_MEMBERS]; /* true if a name has a dot of its own, so that the path as a field means another member */
};

/* Adds the paths of a record's members, in their order, except objects with members of their own. The record is a valid
 * object. A path is added once. Returns false if the record has no members. */
bool json_members_add(struct json_members *m, const char *record, size_t bytes);

#endif
