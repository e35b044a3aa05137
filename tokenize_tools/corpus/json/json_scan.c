/*
 * json_scan.c: scans by states. A state says what is expected next, so it also names what is missing where a record
 * is wrong. Each step takes as many bytes as it can; kernels take the insides of strings. The objects on the way to
 * a member are always the outermost ones, so one number says how far the paths were followed, and the node of each
 * such object says which paths these are.
 */
#include "json_scan.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

/* ---- States ------------------------------------------------------------------------------------------------------ */

enum json_scan_state {
    STATE_VALUE,
    STATE_VALUE_OR_END, /* at the start of an array */
    STATE_NAME,
    STATE_NAME_OR_END, /* at the start of an object */
    STATE_COLON,
    STATE_AFTER, /* a value */
    STATE_STRING,
    STATE_ESCAPE, /* after a backslash */
    STATE_HEX,    /* digits of \u */
    STATE_MINUS,  /* inside a number, after a minus, and so on */
    STATE_ZERO,
    STATE_INTEGER,
    STATE_POINT,
    STATE_FRACTION,
    STATE_E,
    STATE_E_SIGN,
    STATE_EXPONENT,
    STATE_WORD
};

/* Returns true if the innermost open bracket, at depth 1 or deeper, is an object. */
static bool in_object(const struct json_scan *scan)
{
    return scan->is_object[(scan->depth - 1) / 64] >> (scan->depth - 1) % 64 & 1;
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

/* Says what is wrong with a record that is not valid JSON, and names kinds of values. */

static const char *expected(const struct json_scan *scan)
{
    switch (scan->state) {
    case STATE_NAME:
    case STATE_NAME_OR_END:
        return "a member's name";
    case STATE_COLON:
        return "a colon";
    case STATE_AFTER:
        return scan->depth == 0 ? "the end of the record" : in_object(scan) ? "a comma or }" : "a comma or ]";
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

/* Returns true if a record ends between tokens, as JSON that is laid out over several lines does; a line that was
 * cut off usually ends within its text. */
static bool between_tokens(const struct json_scan *scan)
{
    return scan->depth > 0 && scan->state < STATE_STRING;
}

static enum json_problem malformed(const struct json_scan *scan, uint64_t *byte, struct leat_error *err)
{
    *byte = scan->position + 1;
    if (scan->bad && scan->depth == JSON_RECORD_DEPTH && scan->state <= STATE_VALUE_OR_END)
        status_set(err, LEAT_E_TEXT, "not valid JSON: it is nested deeper than %d at byte %" PRIu64, JSON_RECORD_DEPTH,
                   *byte);
    else if (scan->bad)
        status_set(err, LEAT_E_TEXT, "not valid JSON: %s is expected at byte %" PRIu64, expected(scan), *byte);
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

/* ---- Scanning ---------------------------------------------------------------------------------------------------- */

/* A chunk that is being fed. */
struct chunk {
    const char *begin, *at, *end;
    uint64_t position; /* place of the chunk's first byte */
};

static uint64_t place_of(const struct chunk *p)
{
    return p->position + (uint64_t)(p->at - p->begin);
}

void json_scan_begin(struct json_scan *scan, const struct json_paths *paths, struct json_place *places)
{
    static const struct json_node nothing = { .name = "", .place = JSON_NO_PLACE };

    memset(scan, 0, offsetof(struct json_scan, is_object));
    scan->kernels = paths->count > 0 ? paths->kernels : json_kernels();
    scan->nodes = paths->count > 0 ? paths->nodes : &nothing;
    scan->places = places;
    for (uint32_t i = 0; i < paths->places; i++)
        places[i] = (struct json_place) { .kind = JSON_KIND_NONE };
    scan->state = STATE_VALUE;
}

/* ---- Members' names --------------------------------------------------------------------------------------------- */

/* Adds bytes to a name that is not in one chunk. Of a name that is longer than any wanted name, keeps only that it
 * is longer. */
static void keep_name(struct json_scan *scan, const char *bytes, size_t count)
{
    if (count <= sizeof scan->name && scan->name_bytes <= sizeof scan->name - count)
        memcpy(scan->name + scan->name_bytes, bytes, count);
    else
        count = sizeof scan->name + 1 - scan->name_bytes;
    scan->name_bytes += count;
}

/* Drops the places of an earlier member of this name, and of members inside it. */
static void forget(struct json_scan *scan, uint32_t node)
{
    const struct json_node *n = &scan->nodes[node];

    if (n->place != JSON_NO_PLACE)
        scan->places[n->place].kind = JSON_KIND_NONE;
    for (uint32_t child = n->child; child != 0; child = scan->nodes[child].next)
        forget(scan, child);
}

/* Sets what the value of this member is to the paths. */
static void set_role(struct json_scan *scan, const char *name, size_t bytes)
{
    char plain[JSON_RAW_NAME_BYTES];
    uint32_t node = scan->nodes[scan->way[scan->depth - 1]].child;

    if (bytes > sizeof plain)
        return;
    if (scan->escaped) {
        bytes = (size_t)(scan->kernels->unescape(plain, name, name + bytes) - plain);
        name = plain;
    }
    while (node != 0 && (scan->nodes[node].name_bytes != bytes || memcmp(name, scan->nodes[node].name, bytes) != 0))
        node = scan->nodes[node].next;
    scan->role = node;
    if (node != 0)
        forget(scan, node);
}

static void end_name(struct json_scan *scan, const struct chunk *p)
{
    scan->state = STATE_COLON;
    if (scan->on_way != scan->depth)
        return;
    if (scan->begin >= p->position) {
        const char *name = p->begin + (scan->begin - p->position);

        set_role(scan, name, (size_t)(p->at - name));
        return;
    }
    keep_name(scan, p->begin, (size_t)(p->at - p->begin));
    set_role(scan, scan->name, scan->name_bytes);
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

/* Returns the place of the value that is open or begins, or NULL if it is not wanted. */
static struct json_place *wanted(const struct json_scan *scan)
{
    uint32_t place = scan->nodes[scan->role].place;

    return place != JSON_NO_PLACE ? &scan->places[place] : NULL;
}

static void begin_value(struct json_scan *scan, enum json_kind kind, uint64_t begin)
{
    struct json_place *place = wanted(scan);

    scan->kind = kind;
    scan->begin = begin;
    scan->is_name = false;
    if (scan->depth == 0)
        scan->root = kind;
    if (place)
        *place = (struct json_place) { .kind = kind, .begin = begin };
}

/* Notes how far an open string or number has come. */
static void measure_value(struct json_scan *scan, uint64_t end)
{
    struct json_place *place = wanted(scan);

    if (!place)
        return;
    place->bytes = end - scan->begin;
    place->escaped = scan->escaped && scan->kind == JSON_KIND_STRING;
}

/* Ends a string, number or word at `end`. */
static void end_value(struct json_scan *scan, uint64_t end)
{
    measure_value(scan, end);
    scan->role = 0;
    scan->state = STATE_AFTER;
}

static bool open_container(struct json_scan *scan, bool object, uint64_t begin)
{
    const struct json_node *node = &scan->nodes[scan->role];
    uint64_t bit = UINT64_C(1) << scan->depth % 64;

    if (scan->depth == JSON_RECORD_DEPTH)
        return false;
    begin_value(scan, object ? JSON_KIND_OBJECT : JSON_KIND_ARRAY, begin);
    if (object)
        scan->is_object[scan->depth / 64] |= bit;
    else
        scan->is_object[scan->depth / 64] &= ~bit;
    scan->depth++;
    if (object && (scan->depth == 1 || (scan->role != 0 && node->child != 0))) {
        scan->way[scan->depth - 1] = scan->role;
        scan->on_way = scan->depth;
    } else if (node->place != JSON_NO_PLACE) {
        scan->held = node->place;
        scan->held_depth = scan->depth;
    }
    scan->role = 0;
    scan->state = object ? STATE_NAME_OR_END : STATE_VALUE_OR_END;
    return true;
}

/* Closes an array or object, whose last byte is before `end`. */
static void close_container(struct json_scan *scan, uint64_t end)
{
    uint32_t place = JSON_NO_PLACE;

    if (scan->on_way == scan->depth) {
        place = scan->nodes[scan->way[scan->depth - 1]].place;
        scan->on_way--;
    } else if (scan->held_depth == scan->depth) {
        place = scan->held;
        scan->held_depth = 0;
    }
    if (place != JSON_NO_PLACE)
        scan->places[place].bytes = end - scan->places[place].begin;
    scan->depth--;
    scan->state = STATE_AFTER;
}

static void begin_string(struct json_scan *scan, const struct chunk *p, bool name)
{
    scan->escaped = false;
    scan->name_bytes = 0;
    if (!name)
        begin_value(scan, JSON_KIND_STRING, place_of(p) + 1);
    scan->begin = place_of(p) + 1;
    scan->is_name = name;
    scan->state = STATE_STRING;
}

/* Returns the word that a value's first character begins. */
static enum json_kind word_kind(char c)
{
    switch (c) {
    case 't':
        return JSON_KIND_TRUE;
    case 'f':
        return JSON_KIND_FALSE;
    case 'n':
        return JSON_KIND_NULL;
    case 'N':
        return JSON_KIND_NAN;
    case 'I':
        return JSON_KIND_INFINITY;
    default:
        return JSON_KIND_NONE;
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------
 * Each takes at least one byte, or changes the state; false: the byte at p->at is wrong. */

static bool step_value(struct json_scan *scan, struct chunk *p)
{
    char c = *p->at;
    uint64_t place = place_of(p);

    if (c == '"') {
        begin_string(scan, p, false);
    } else if (c == '{' || c == '[') {
        if (!open_container(scan, c == '{', place))
            return false;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        begin_value(scan, JSON_KIND_NUMBER, place);
        scan->state = c == '-' ? STATE_MINUS : c == '0' ? STATE_ZERO : STATE_INTEGER;
    } else if (word_kind(c) != JSON_KIND_NONE) {
        begin_value(scan, word_kind(c), place);
        scan->state = STATE_WORD;
        scan->seen = 1;
    } else if (c == ']' && scan->state == STATE_VALUE_OR_END) {
        close_container(scan, place_of(p) + 1);
    } else {
        return false;
    }
    p->at++;
    return true;
}

static bool step_name(struct json_scan *scan, struct chunk *p)
{
    if (*p->at == '"')
        begin_string(scan, p, true);
    else if (*p->at == '}' && scan->state == STATE_NAME_OR_END)
        close_container(scan, place_of(p) + 1);
    else
        return false;
    p->at++;
    return true;
}

static bool step_after(struct json_scan *scan, struct chunk *p)
{
    bool object;

    if (scan->depth == 0)
        return false;
    object = in_object(scan);
    if (*p->at == ',')
        scan->state = object ? STATE_NAME : STATE_VALUE;
    else if (*p->at == (object ? '}' : ']'))
        close_container(scan, place_of(p) + 1);
    else
        return false;
    p->at++;
    return true;
}

static bool step_string(struct json_scan *scan, struct chunk *p)
{
    p->at = scan->kernels->pass(p->at, p->end, &scan->escaped);
    if (p->at == p->end)
        return true;
    if (*p->at == '"') {
        if (scan->is_name)
            end_name(scan, p);
        else
            end_value(scan, place_of(p));
    } else if (*p->at == '\\') {
        scan->escaped = true;
        scan->state = STATE_ESCAPE;
    } else {
        return false;
    }
    p->at++;
    return true;
}

static bool step_escape(struct json_scan *scan, struct chunk *p)
{
    char c = *p->at;

    if (scan->state == STATE_HEX) {
        if (!json_is_hex(c))
            return false;
        if (++scan->seen == 4)
            scan->state = STATE_STRING;
    } else if (c == 'u') {
        scan->state = STATE_HEX;
        scan->seen = 0;
    } else if (json_escape_meaning(c)) {
        scan->state = STATE_STRING;
    } else {
        return false;
    }
    p->at++;
    return true;
}

/* Returns true if a number may end in this state. */
static bool is_whole_number(unsigned state)
{
    return state == STATE_ZERO || state == STATE_INTEGER || state == STATE_FRACTION || state == STATE_EXPONENT;
}

static bool step_number(struct json_scan *scan, struct chunk *p)
{
    char c = *p->at;
    bool digit = c >= '0' && c <= '9';

    switch (scan->state) {
    case STATE_MINUS:
        if (c == 'I') {
            scan->state = STATE_WORD;
            scan->seen = 0;
            scan->kind = JSON_KIND_INFINITY;
            if (wanted(scan))
                wanted(scan)->kind = JSON_KIND_INFINITY;
            return true;
        }
        scan->state = c == '0' ? STATE_ZERO : STATE_INTEGER;
        break;
    case STATE_ZERO:
    case STATE_INTEGER:
        if (digit && scan->state == STATE_INTEGER)
            break;
        scan->state = c == '.' ? STATE_POINT : (c | 0x20) == 'e' ? STATE_E : STATE_AFTER;
        digit = c == '.' || (c | 0x20) == 'e';
        break;
    case STATE_POINT:
        scan->state = STATE_FRACTION;
        break;
    case STATE_FRACTION:
        if (!digit)
            scan->state = (c | 0x20) == 'e' ? STATE_E : STATE_AFTER;
        digit = digit || (c | 0x20) == 'e';
        break;
    case STATE_E:
        scan->state = c == '+' || c == '-' ? STATE_E_SIGN : STATE_EXPONENT;
        digit = digit || c == '+' || c == '-';
        break;
    default: /* STATE_E_SIGN, STATE_EXPONENT */
        if (!digit && scan->state == STATE_EXPONENT)
            scan->state = STATE_AFTER;
        else
            scan->state = STATE_EXPONENT;
    }
    if (scan->state == STATE_AFTER) { /* this byte is the expected one */
        end_value(scan, place_of(p));
        return true;
    }
    p->at += digit;
    return digit;
}

static bool step_word(struct json_scan *scan, struct chunk *p)
{
    const char *word = json_scan_kind(scan->kind);

    if (*p->at != word[scan->seen])
        return false;
    p->at++;
    if (word[++scan->seen] == '\0') {
        scan->has_nan |= scan->kind == JSON_KIND_NAN || scan->kind == JSON_KIND_INFINITY;
        end_value(scan, place_of(p));
    }
    return true;
}

static bool step_in_json(struct json_scan *scan, struct chunk *p)
{
    if (scan->state <= STATE_AFTER) {
        while (p->at < p->end && json_is_space(*p->at))
            p->at++;
        if (p->at == p->end)
            return true;
    }
    switch (scan->state) {
    case STATE_VALUE:
    case STATE_VALUE_OR_END:
        return step_value(scan, p);
    case STATE_NAME:
    case STATE_NAME_OR_END:
        return step_name(scan, p);
    case STATE_COLON:
        if (*p->at != ':')
            return false;
        p->at++;
        scan->state = STATE_VALUE;
        return true;
    case STATE_AFTER:
        return step_after(scan, p);
    case STATE_STRING:
        return step_string(scan, p);
    case STATE_ESCAPE:
    case STATE_HEX:
        return step_escape(scan, p);
    case STATE_WORD:
        return step_word(scan, p);
    default:
        return step_number(scan, p);
    }
}

bool json_scan_feed(struct json_scan *scan, const char *bytes, size_t count)
{
    struct chunk p = { bytes, bytes, bytes + count, scan->position };

    if (scan->bad)
        return false;
    while (p.at < p.end)
        if (!step_in_json(scan, &p)) {
            scan->bad = true;
            scan->position = scan->state == STATE_WORD ? scan->begin : place_of(&p);
            return false;
        }
    scan->position += count;
    if (scan->state >= STATE_STRING && !scan->is_name)
        measure_value(scan, scan->position);
    if (scan->state >= STATE_STRING && scan->is_name) {
        uint64_t from = scan->begin > p.position ? scan->begin - p.position : 0;

        keep_name(scan, bytes + from, count - (size_t)from);
    }
    return true;
}

/* ---- The end ---------------------------------------------------------------------------------------------------- */

enum json_problem json_scan_end(struct json_scan *scan, uint64_t *byte, struct leat_error *err)
{
    if (!scan->bad && is_whole_number(scan->state))
        end_value(scan, scan->position);
    if (!scan->bad && scan->state == STATE_WORD) { /* a word that is cut off is no value */
        scan->bad = true;
        scan->position = scan->begin;
    }
    if (scan->bad || scan->state != STATE_AFTER || scan->depth > 0)
        return malformed(scan, byte, err);
    *byte = 0;
    if (scan->root == JSON_KIND_OBJECT)
        return JSON_FINE;
    status_set(err, LEAT_E_TEXT, "the record is %s, not an object", json_scan_kind(scan->root));
    return JSON_NO_OBJECT;
}

bool json_scan_is_whole(const struct json_scan *scan)
{
    return scan->state == STATE_AFTER && scan->depth == 0;
}

enum json_kind json_kind_of(const char *text, size_t bytes)
{
    static const struct json_paths nothing;
    struct json_scan scan; /* not zeroed, since its large arrays need no zeros */
    uint64_t byte;

    json_scan_begin(&scan, &nothing, NULL);
    json_scan_feed(&scan, text, bytes);
    return json_scan_end(&scan, &byte, NULL) == JSON_MALFORMED ? JSON_KIND_NONE : scan.root;
}
