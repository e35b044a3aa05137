/*
 * show.h: text from files (names, ids, metadata, what a sentence quotes) as people may see it, on a terminal or in a
 * log. What would send a terminal a command, end the line or change the order in which text is shown becomes an escape:
 * control characters (C0, DEL, C1), line and paragraph separators, marks of direction, what nobody sees (U+200B, tags),
 * and bytes that are not UTF-8.
 * All output for people goes through here; files, pipes that want exact bytes, and JSON do not. Of a URL, secrets are
 * hidden in all of these.
 */
#ifndef LEAT_BASE_SHOW_H
#define LEAT_BASE_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOW_MOST 10 /* most bytes that one step gives: \U000e0041 */

/* Returns the code point of a well-formed character of two bytes or more if it must not be shown as it is, else 0. */
uint32_t show_hidden(const uint8_t *character, size_t bytes);

/* Returns the next character or malformed byte of a text that is not empty, shown: writes at most SHOW_MOST bytes to
 * `out`, without a NUL, and sets *length to their number. Returns how many bytes of the text these are. */
size_t show_step(const char *text, size_t bytes, char *out, size_t *length);

/* Shows a whole text, as far as it fits in `room` with its NUL; no escape or character is cut. Returns the length that
 * all of it needs, without the NUL. The two may not overlap. */
size_t show_text(char *out, size_t room, const char *text, size_t bytes);

/*
 * Leaves out of a name, or of a sentence with names in it, what nobody is to see of a URL: user and password, and what
 * follows the ? or # of one that begins with http:// or https://, as it may be a signature. In its own place. All names
 * that people or programs get to see go through here.
 */
void show_hide(char *text, bool sentence);

/* Shows a sentence in its own place, as far as it fits in `room`, with URLs as show_hide() leaves them. */
void show_in_place(char *text, size_t room);

#endif
