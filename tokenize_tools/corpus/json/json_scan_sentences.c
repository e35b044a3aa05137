/*
 * json_scan_sentences.c: says what is wrong with a record that is not valid JSON, and names kinds of values.
 */
#include "base/status.h"
#include "json_scan_state.h"

static const char *expected(const struct json_scan *scan)
{
    switch (scan->state) {
    case STATE_NAME:
    case STATE_NAME_OR_END:
        return "a member's name";
    case STATE_COLON:
        return "a colon";
    case STATE_AFTER:
        return scan->depth == 0 ? "the end of the record" : json_scan_in_object(scan) ? "a comma or }" : "a comma or ]";
    case STATE_STRING:
        return scan->bad ? "the escape of a control character" : "the quote after a string";
    case STATE_ESCAPE:
        return "an escape's letter";
    case STATE_HEX:
        return "one of the four digits of \\u";
    case STATE_VALUE:
    case STATE_VALUE_OR_END:
    case STATE_WORD:
        return scan->depth == 0 ? "an object ({)" : "a value";
    default:
        return "a digit";
    }
}

/* JSON that is laid out over several lines ends so; a line that was cut off usually ends within its text. */
static bool between_tokens(const struct json_scan *scan)
{
    return scan->depth > 0 && scan->state < STATE_STRING;
}

enum json_problem json_scan_malformed(const struct json_scan *scan, uint64_t *byte, struct leat_error *err)
{
    *byte = scan->position + 1;
    if (scan->bad && scan->depth == JSON_RECORD_DEPTH && scan->state <= STATE_VALUE_OR_END)
        status_set(err, LEAT_E_TEXT, "not valid JSON: it is nested deeper than %d at byte %llu", JSON_RECORD_DEPTH,
                   (unsigned long long)*byte);
    else if (scan->bad)
        status_set(err, LEAT_E_TEXT, "not valid JSON: %s is expected at byte %llu", expected(scan),
                   (unsigned long long)*byte);
    else
        status_set(err, LEAT_E_TEXT, "not valid JSON: it ends where %s is expected%s", expected(scan),
                   between_tokens(scan) ? "; a record is a whole object in one line" : "");
    return JSON_MALFORMED;
}

const char *json_scan_kind(enum json_kind kind)
{
    switch (kind) {
    case JSON_KIND_STRING:
        return "a string";
    case JSON_KIND_NUMBER:
        return "a number";
    case JSON_KIND_OBJECT:
        return "an object";
    case JSON_KIND_ARRAY:
        return "an array";
    case JSON_KIND_TRUE:
        return "true";
    case JSON_KIND_FALSE:
        return "false";
    case JSON_KIND_NULL:
        return "null";
    case JSON_KIND_NAN:
        return "NaN";
    default:
        return "Infinity";
    }
}
