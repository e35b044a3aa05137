/* arrow_texts.h: all texts of a column of an Arrow stream, where they are: without an object or a copy for any of
 * them. */
#ifndef LEAT_PYTHON_ARROW_TEXTS_H
#define LEAT_PYTHON_ARROW_TEXTS_H

#include "text/text.h"

struct arrow_texts;

/* Reads the whole stream of `capsules` (arrow_stream.h) and keeps its arrays. A missing text is an error. -1 with an
 * exception. */
int arrow_texts_read(struct arrow_texts **out, PyObject *capsules, const char *column);
const struct text_view *arrow_texts_views(const struct arrow_texts *texts, size_t *count);
/* The GIL must be held. */
void arrow_texts_free(struct arrow_texts *texts);

#endif
