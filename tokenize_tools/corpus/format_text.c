/* format_text.c: a text that is one document as a whole. */
#include "record_format.h"

const struct record_format format_text = { .suffixes = { ".txt", ".md" }, .whole = true };
