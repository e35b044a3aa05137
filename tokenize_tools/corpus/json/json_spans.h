/*
 * json_spans.h: the member of a record that says which stretches of its text training learns: a list of lists of two
 * numbers, [[begin, end], ...], in characters (code points) of the text, in order and not overlapping. An
 * empty one stands for nothing.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_SPANS_H
#define LEAT_TOKENIZE_TOOLS_JSON_SPANS_H

#include "base/buffer.h"
#include "json_scan.h"
#include "leat_pack.h"

/* Appends them to `spans`, as struct leat_span, from a whole record; `field` was prepared as the text's. LEAT_E_TEXT
 * with the reason: the record is to be rejected. What is no valid object has no spans: it is rejected anyway. */
enum leat_status json_spans_find(struct buffer *spans, const struct json_fields *field, const char *record,
                                 size_t bytes, struct leat_error *err);

/* Turns spans in characters of a text, which is UTF-8, into spans in bytes. LEAT_E_TEXT if one ends after the text. */
enum leat_status json_spans_settle(struct leat_span *spans, size_t count, const char *text, size_t bytes,
                                   struct leat_error *err);

#endif
