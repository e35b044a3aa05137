/*
 * status.h: filling the caller's struct leat_error. Every failing path ends in one of these calls and returns what
 * they return, so that the status and the sentence never disagree.
 *
 * The room src/base/ has what every other room needs and knows no subject: bytes, files, threads, CPU levels, errors.
 * A file here includes leat.h and other files of the room, nothing else of leat.
 *
 * A *status* is the result of a call (enum leat_status). A *hint* is a number in struct leat_error: what the caller
 * could change; front ends spell it (--force, force=True).
 */
#ifndef LEAT_BASE_STATUS_H
#define LEAT_BASE_STATUS_H

#include <inttypes.h> /* PRIu64 and its kin, for what is formatted here */

#include "leat.h"

#if defined(__GNUC__)
#define STATUS_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define STATUS_PRINTF(at, first)
#endif

/* Fills `err` (may be NULL) with the status and a sentence; returns the status. This call and those below clear what
 * they are not given: offset, hint, file and field. */
enum leat_status status_set(struct leat_error *err, enum leat_status status, const char *format, ...)
    STATUS_PRINTF(3, 4);

/* Fills `err` with a status, a sentence, and the name of the file, as it was given, that it is about (NULL: none). */
enum leat_status status_set_in(struct leat_error *err, enum leat_status status, const char *file, const char *format,
                               ...) STATUS_PRINTF(4, 5);

/* Fills `err` with a byte offset in the file, too. */
enum leat_status status_set_at(struct leat_error *err, enum leat_status status, const char *file, uint64_t offset,
                               const char *format, ...) STATUS_PRINTF(5, 6);

/* Fills `err` with LEAT_E_ARGUMENT and the name, in the public header, of the option or parameter that is wrong;
 * NULL if it is not a single one. */
enum leat_status status_argument(struct leat_error *err, const char *field, const char *format, ...)
    STATUS_PRINTF(3, 4);

/*
 * status_set_in() with a hint at what the caller could change. The sentence ends with what to do in general ("%s
 * already exists; choose another name or replace it"): each front end appends its own words for the hint, in
 * parentheses. The other calls that fill `err` clear the hint; status_before() and status_after() keep it.
 */
enum leat_status status_set_hint(struct leat_error *err, enum leat_status status, enum leat_hint hint, const char *file,
                                 const char *format, ...) STATUS_PRINTF(5, 6);

/* Fills `err` for a failed system call on the file (NULL: on none): picks the status from `os_error` (an errno), and
 * appends its text and a remedy, if one is known, to the sentence. */
enum leat_status status_set_os(struct leat_error *err, int os_error, const char *file, const char *format, ...)
    STATUS_PRINTF(4, 5);

/* Names the file that a failed call was about, unless a file is named already: the code closest to the file knows
 * best. Returns `s`, which may be LEAT_OK. */
enum leat_status status_in_file(struct leat_error *err, enum leat_status s, const char *file);

/* Names the option, parameter, member or column that a failed call was about, unless one is named already. Returns `s`.
 */
enum leat_status status_field(struct leat_error *err, enum leat_status s, const char *field);

/* Puts words, cut to STATUS_BEFORE - 1 bytes, and ": " before the sentence of a call that has failed with `status`.
 * Returns the status. */
#define STATUS_BEFORE 512u
enum leat_status status_before(struct leat_error *err, enum leat_status status, const char *format, ...)
    STATUS_PRINTF(3, 4);

/* Appends words to the sentence; its status stays. `err` is not NULL. */
void status_after(struct leat_error *err, const char *format, ...) STATUS_PRINTF(2, 3);

/* The end of a sentence on two datasets that were packed with different tokenizers: how they differ, and what to do. */
#define STATUS_FINGERPRINT                                                                                             \
    "tokenizer's fingerprint; pack both with one tokenizer, or write one with the fingerprint of the other"

/* Fills `err` for a failed allocation of `bytes`. */
enum leat_status status_no_memory(struct leat_error *err, uint64_t bytes);

/* Fills `err` for a file of lines that has more than `max` bytes. The limit exists because whoever wrote the file
 * must not decide how much memory is taken. */
enum leat_status status_too_large(struct leat_error *err, const char *file, uint64_t max);

#endif
