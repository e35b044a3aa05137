/*
 * json_keep.h: conditions on the fields of a JSON record: "lang = en", "score >= 3", "meta.url exists". A record is
 * kept if all hold.
 *
 *   FIELD = VALUE    also == (the same), != < <= > >=. A VALUE that is a JSON number is compared with numbers, exactly
 *                    as decimal numbers; any other, in quotes or bare, with strings, by their bytes after unescaping.
 *                    Quotes are double ones, as in JSON, or single ones; a bare VALUE begins with none of " ' = < >
 *   FIELD exists     it is there, and not null
 *
 * A condition does not hold for a field that is missing or of another type (also with !=), nor for a number of more
 * than JSON_KEEP_NUMBER characters.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_KEEP_H
#define LEAT_TOKENIZE_TOOLS_JSON_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_scan.h"

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* JSON numbers, compared exactly: 1e3 equals 1000.0, and no digit is lost. */

#define JSON_DECIMAL_DIGITS 1000

/* 0.d1d2d3... times ten to the exponent, without zeros at either end; no digits: zero. */
struct json_decimal {
    bool negative;
    int64_t exponent;
    size_t count;
    char digits[JSON_DECIMAL_DIGITS];
};

/* False if the text is no JSON number, is longer than JSON_DECIMAL_DIGITS, or its exponent has more than 15 digits. */
bool json_decimal_read(struct json_decimal *d, const char *text, size_t bytes);

/* Less than 0, 0 or more than 0, as a is less than, equal to or greater than b. */
int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b);

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

#define JSON_KEEP_NUMBER ((size_t)1000)
#define JSON_KEEP_BYTES  ((size_t)4000) /* of all conditions, at most */

struct json_keep;

/* LEAT_E_ARGUMENT, with a sentence, for a condition that is wrong. On success *out is the caller's until
 * json_keep_free(); constant from then on. */
enum leat_status json_keep_prepare(struct json_keep **out, const char *const *conditions, size_t count,
                                   struct leat_error *err);
void json_keep_free(struct json_keep *k); /* NULL is fine */

/* Whether a record is kept: also one that is no valid object, which will be rejected. */
bool json_keep_holds(const struct json_keep *k, const char *record, size_t bytes);

/* ---- For a row of a table ---- */

size_t json_keep_count(const struct json_keep *k);

/* The field of condition `number`, and whether its values are compared, not only looked for. */
const char *json_keep_field(const struct json_keep *k, size_t number);
bool json_keep_compares(const struct json_keep *k, size_t number);

/* Whether it holds for a value that is not null: a number in decimal, or a string. */
bool json_keep_value_holds(const struct json_keep *k, size_t number, bool is_number, const char *bytes, size_t count);

/* ---- For a record that comes in chunks: it is scanned once for each pair of conditions ---- */

/* The fields of pair `pair`, as the text and the id of a scan; NULL: there are no more pairs. */
const struct json_fields *json_keep_pair(const struct json_keep *k, size_t pair);

/* How many of the value's bytes decide condition `number` (0 or 1) of the pair. */
size_t json_keep_bytes(const struct json_keep *k, size_t pair, unsigned number, const struct json_place *place);

/* Whether it holds for these bytes of the value. */
bool json_keep_place_holds(const struct json_keep *k, size_t pair, unsigned number, const struct json_place *place,
                           const char *bytes, size_t count);

#endif
