/* answer.h: what came of a request: the answer to a range, and the sentence for an answer that says no. */
#ifndef LEAT_REMOTE_ANSWER_H
#define LEAT_REMOTE_ANSWER_H

#include "remote.h"

/* Reads a decimal number of at most 18 digits. */
bool answer_number(const char *text, size_t length, uint64_t *value);

/* Returns true if the etag is the wanted one, as far as both are known. */
bool answer_same_version(const struct transfer *t);

/* Copies S3's word for what went wrong ("SlowDown"), or "". */
#define ANSWER_CODE 64u
void answer_code(const struct transfer *t, char code[ANSWER_CODE]);

/* Fills `err` for an answer that is final and not what was asked for. `signed_by_key`: the request had a signature
 * or a token. `hub` is the Hub's address, for sentences that lead to a page of it; NULL: the usual one. */
enum leat_status answer_failed(const struct transfer *t, bool signed_by_key, const char *hub, struct leat_error *err);

#endif
