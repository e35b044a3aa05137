/* text.h: joining texts, and writing them as URLs have them. */
#ifndef LEAT_REMOTE_TEXT_H
#define LEAT_REMOTE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

/* Sets *out to a new string of the given ones, the last being NULL; the caller frees it. NULL on failure. */
enum leat_status text_join(char **out, struct leat_error *err, ...);

/* Copies text[0..length) to a new string. */
enum leat_status text_copy(char **out, const char *text, size_t length, struct leat_error *err);

/* Sets *out to a new string in which all characters but letters, digits and -._~ (and / if `path`) are %XX, as
 * signatures demand. */
enum leat_status text_encode(char **out, const char *text, bool path, struct leat_error *err);

bool text_begins(const char *text, const char *with);

/* Sets *text to what a small file holds, without white space at its end. */
enum leat_status text_read(char **text, const char *path, struct leat_error *err);

/* Zeroes a secret, and frees it; NULL is fine. */
void text_forget(char *secret);

/* Functions in place of free() and realloc() that zero the memory which they give back. */
void text_wipe(void *memory);
void *text_resize(void *memory, size_t bytes);

#endif
