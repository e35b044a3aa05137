/* credentials.h: who asks: an access key's id and secret, and for temporary ones a token. */
#ifndef LEAT_REMOTE_CREDENTIALS_H
#define LEAT_REMOTE_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

/* Strings are another's, which zeroes and frees them. */
struct credentials {
    const char *id, *secret;
    const char *token; /* NULL: none */
};

#endif
