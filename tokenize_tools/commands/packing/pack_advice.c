/*
 * pack_advice.c: see pack_advice.h. A part can make its files again, and they get the same bytes. It needs for that
 *
 *   .hashes      what it had packed, which it keeps until it has left its documents for others
 *   .same        the hashes of all parts, which go at the same time
 *   .counts      the .same of all
 *   .scattered   the .same and .counts of all
 *   .tokens      nothing
 *
 * The .same and .counts of all parts stay until all are finished. After damage to the .leat of a part, other parts may
 * have compared the wrong documents with theirs.
 */
#include "pack_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_damage(enum leat_status s)
{
    return s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH;
}

/* The name of the part's file in the message, from "part-" on; NULL: it names none. */
static const char *find_name(const struct pack_steps *s, const char *message, size_t *digits)
{
    char *begin = NULL;
    const char *at = asprintf(&begin, "%s/" RUN_PACKED "/part-", s->folder->path) > 0 ? strstr(message, begin) : NULL;

    if (at) {
        at += strlen(begin);
        *digits = strspn(at, "0123456789");
    }
    free(begin);
    return at && *digits > 0 && at[*digits] == '.' ? at - strlen("part-") : NULL;
}

static bool has_suffix(const char *name, const char *suffix)
{
    return strncmp(name + strcspn(name, "."), suffix, strlen(suffix)) == 0;
}

/* Of what is left of a part, others need these files, and it cannot make them alone. */
static const char *kept_files(const struct pack_steps *s, const char *name)
{
    bool counts = s->values->shuffle.given && !has_suffix(name, ".counts");

    if (s->values->dedup)
        return counts ? " but .same and .counts" : " but .same";
    return counts ? " but .counts" : "";
}

void pack_advice_add(const struct pack_steps *s, struct leat_error *err)
{
    size_t used = strlen(err->message), room = sizeof err->message - used, digits = 0;
    const char *name = is_damage(err->status) ? find_name(s, err->message, &digits) : NULL;
    int length = name ? (int)(strlen("part-") + digits) : 0;
    unsigned long number;
    unsigned hashes = 0;
    bool alone, all;
    char part[32];

    if (!name)
        return;
    snprintf(part, sizeof part, "%.*s", length, name);
    number = strtoul(part + strlen("part-"), NULL, 10);
    if (run_folder_count(s->folder, RUN_PACKED, ".hashes", &hashes, NULL) != LEAT_OK)
        return;
    alone = hashes == s->folder->parts && (has_suffix(name, ".same") || has_suffix(name, ".hashes"));
    all = !alone && (has_suffix(name, ".same") || (s->values->dedup && has_suffix(name, ".leat")));
    if (alone)
        snprintf(err->message + used, room, "; remove it, and pack part %lu again", number);
    else if (all)
        snprintf(err->message + used, room,
                 "; remove all files part-* of %s and the folders in it, and pack all parts again", s->folder->path);
    else
        snprintf(err->message + used, room,
                 "; remove the files %s.* of %s and the folders in it%s, and pack part %lu again", part,
                 s->folder->path, kept_files(s, name), number);
}
