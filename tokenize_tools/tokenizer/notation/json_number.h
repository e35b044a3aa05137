/*
 * json_number.h: numbers in a tokenizer.json, as the reference reads them.
 *
 * The room notation/ reads what vocabulary files are written in, besides JSON (base/jsontree.h): its numbers, protobuf.
 * What a file says with it is the business of load/.
 */
#ifndef LEAT_TOKENIZER_JSON_NUMBER_H
#define LEAT_TOKENIZER_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads a number as the reference does. serde_json without its feature "float_roundtrip" takes the digits as a whole
 * number, and multiplies or divides it by a power of ten: the result may be one step off the nearest double. This
 * matters for scores that are nearly equal. Returns false if the number is out of range, as in the reference.
 */
bool json_number(const uint8_t *text, uint32_t length, double *out);

#endif
