/*
 * inflater.h: the two libraries that can inflate, with one small interface: raw deflate data and CRC-32, nothing of
 * gzip. inflater_isal.c is compiled to something where the build has isa-l (LEAT_HAVE_ISAL), inflater_zlib.c where it
 * has zlib and not isa-l, inflater_none.c where it has neither. Both libraries give the same text of every file that is
 * right or cut off; of broken data isa-l may give more before it sees the defect.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INFLATER_H
#define LEAT_TOKENIZE_TOOLS_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;

enum inflater_result {
    INFLATER_MORE,   /* input is used up, or room is */
    INFLATER_END,    /* of the deflate data, and all of its text has been given */
    INFLATER_BROKEN, /* what came before it has been given */
    INFLATER_NO_MEMORY
};

/* Its name for messages: "isa-l", "zlib"; NULL: this build has no inflater. */
const char *inflater_name(void);

/* NULL: no memory. */
struct inflater *inflater_open(void);
void inflater_close(struct inflater *inflater); /* NULL is fine */

/* For new deflate data. */
void inflater_reset(struct inflater *inflater);

/*
 * From *in and *in_bytes, which it moves, into *out and *room, the same. At INFLATER_END *in is right after the
 * data, which may be up to eight bytes back from where it stood before the call. `last`: no input follows this.
 */
enum inflater_result inflater_run(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                  size_t *room, bool last);

/* The CRC-32 of gzip, of `crc`'s bytes followed by these, no more than one inflater_run() gives: 1 GiB; 0 begins. */
uint32_t inflater_crc(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
