/* damage_lines.h: inputs that were cut off or broken, as `leat pack` and `leat info` say it, for people and as JSON. */
#ifndef LEAT_COMMANDS_DAMAGE_LINES_H
#define LEAT_COMMANDS_DAMAGE_LINES_H

#include "cli/json.h"
#include "damage/damage_list.h"

#define DAMAGE_LINE  700 /* bytes of a line */
#define DAMAGE_SHOWN 20  /* lines are shown at most; JSON has all */

/* Of an input that was read to its end. */
#define DAMAGE_MISSING "what should follow is missing"

/* "2 inputs were cut off or broken, and packed as far as they were readable". */
void damage_say_all(const struct damage_list *l, char *text, size_t room);

/* "a.gz, at byte 1,200: it ends in the middle of a gzip member; what should follow is missing"; of one that an older
 * version did not name, its sentence. */
void damage_say_one(const struct damage *d, char *text, size_t room);

/* The member `damaged`. */
void damage_json(const struct damage_list *l, struct json *j);

#endif
