/*
 * units.h: numbers as people write and read them. A number is read exactly or refused: there is no rounding, no
 * wrap-around, and nothing is ignored. K M G T P are powers of 1000, Ki Mi Gi Ti Pi powers of 1024, in upper or
 * lower case.
 */
#ifndef LEAT_CLI_UNITS_H
#define LEAT_CLI_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a whole text as a number: "12", "1.5G", "64Ki"; with `bytes` a B may follow ("2GiB", "512B"). A decimal must
 * come out whole ("1.5K" is 1500, "1.5" is refused). On failure returns false, and *why is the end of a sentence
 * that begins with the text ("is larger than 2^64 - 1"), in static memory.
 */
bool units_parse(const char *text, bool bytes, uint64_t *value, const char **why);

/* Reads text[0..length), which is not in bytes. Returns false, and leaves *why, if it is longer than any number. */
bool units_parse_part(const char *text, size_t length, uint64_t *value, const char **why);

/* Reads a range: "N" is the one number N; "A:B" is A to B - 1, either of which may be left out (`*last` is then
 * UINT64_MAX). Sets [*first, *last), and *single (may be NULL) to whether it was one number. */
bool units_parse_range(const char *text, uint64_t *first, uint64_t *last, bool *single, const char **why);

/* A printed number. It is returned by value, so that .text can stand among the arguments of printf. */
struct units_text {
    char text[48];
};

struct units_text units_bytes(uint64_t bytes);                     /* "3.2 GiB", "512 bytes" */
struct units_text units_count(uint64_t count);                     /* "1,234,567" */
struct units_text units_mean(double mean);                         /* "1,234.5", for means of counts, which are not
                                                                      negative */
struct units_text units_counted(uint64_t count, const char *noun); /* "1 document", "1,234 documents" */
struct units_text units_rate(double per_second, const char *what); /* "2.1 GB/s" for "B"; "35.0 M tokens/s" */
struct units_text units_duration(double seconds);                  /* "850 us", "3.2 s", "2 min 05 s", "3 h 10 min" */
struct units_text units_share(uint64_t part, uint64_t whole);      /* "43.0 %" */
struct units_text units_date(uint64_t seconds_since_1970);         /* "2024-05-01T12:00:00Z" */
struct units_text units_hex(const unsigned char *bytes, size_t count); /* at most 23 bytes */

#endif
