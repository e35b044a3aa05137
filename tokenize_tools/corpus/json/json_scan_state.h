/*
 * json_scan_state.h: what the scanner of JSON records expects next: for the scanner, and for the sentence on a record
 * that is wrong.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_SCAN_STATE_H
#define LEAT_TOKENIZE_TOOLS_JSON_SCAN_STATE_H

#include "json_scan.h"

enum json_scan_state {
    STATE_VALUE,
    STATE_VALUE_OR_END, /* of an array */
    STATE_NAME,
    STATE_NAME_OR_END, /* of an object */
    STATE_COLON,
    STATE_AFTER, /* a value */
    STATE_STRING,
    STATE_ESCAPE, /* after a backslash */
    STATE_HEX,    /* digits of \u */
    STATE_MINUS,  /* after a minus, and so on */
    STATE_ZERO,
    STATE_INTEGER,
    STATE_POINT,
    STATE_FRACTION,
    STATE_E,
    STATE_E_SIGN,
    STATE_EXPONENT,
    STATE_WORD
};

/* Whether what is open, at depth 1 or deeper, is an object. */
static inline bool json_scan_in_object(const struct json_scan *scan)
{
    return scan->is_object[(scan->depth - 1) / 64] >> (scan->depth - 1) % 64 & 1;
}

/* The sentence on a record that is not valid JSON, and its wrong byte. */
enum json_problem json_scan_malformed(const struct json_scan *scan, uint64_t *byte, struct leat_error *err);

#endif
