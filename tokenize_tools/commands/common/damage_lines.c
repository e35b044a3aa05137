/* damage_lines.c: see damage_lines.h. */
#include "damage_lines.h"

#include <stdio.h>

#include "cli/units.h"

static bool is_lost(const struct damage *d)
{
    return d->input && d->offset == 0;
}

/* Of what an older version wrote, which inputs these are is not known. */
void damage_say_all(const struct damage_list *l, char *text, size_t room)
{
    size_t named = 0, lost = 0;
    const char *others;

    for (size_t i = 0; i < l->count; i++) {
        named += l->items[i].input != NULL;
        lost += is_lost(&l->items[i]);
    }
    others = named < l->count ? "; of others, which ones was not recorded" : "";
    if (named == 0)
        snprintf(text, room,
                 "inputs were cut off or broken, and packed as far as they were readable; which ones was not recorded");
    else if (lost == named)
        snprintf(text, room, "%s %s cut off or broken, and nothing of %s could be read%s",
                 units_counted(named, "input").text, named == 1 ? "was" : "were", named == 1 ? "it" : "them", others);
    else if (lost > 0)
        snprintf(text, room, "%s were cut off or broken, and packed as far as they were readable, but %s not at all%s",
                 units_counted(named, "input").text, units_count(lost).text, others);
    else
        snprintf(text, room, "%s %s cut off or broken, and packed as far as %s readable%s",
                 units_counted(named, "input").text, named == 1 ? "was" : "were", named == 1 ? "it was" : "they were",
                 others);
}

/* What is known of the bytes after the damage. */
static void say_unread(const struct damage *d, char *text, size_t room)
{
    if (d->unread == LEAT_NONE)
        snprintf(text, room, "what follows was not read");
    else if (d->unread == 0)
        snprintf(text, room, DAMAGE_MISSING);
    else
        snprintf(text, room, "%s %s not read", units_counted(d->unread, "byte").text, d->unread == 1 ? "was" : "were");
}

void damage_say_one(const struct damage *d, char *text, size_t room)
{
    char unread[80];

    if (!d->input) {
        snprintf(text, room, "%s", d->reason);
        return;
    }
    say_unread(d, unread, sizeof unread);
    snprintf(text, room, "%.300s, at byte %s: %.250s; %s", d->input, units_count(d->offset).text, d->reason, unread);
}

void damage_json(const struct damage_list *l, struct json *j)
{
    json_open_array(j, "damaged");
    for (size_t i = 0; i < l->count; i++) {
        json_open_object(j, NULL);
        json_string(j, "input", l->items[i].input);
        json_u64_or_null(j, "offset", l->items[i].offset);
        json_string(j, "reason", l->items[i].reason);
        json_u64_or_null(j, "unread_bytes", l->items[i].unread);
        json_close_object(j);
    }
    json_close_array(j);
}
