/*
 * inflater.h: the two libraries that can inflate, as one table: raw deflate data and CRC-32, nothing of gzip. The build
 * compiles one of them: inflater_isal.c if it has isa-l (LEAT_HAVE_ISAL), else inflater_zlib.c if it has zlib, else
 * inflater_none.c. Both libraries give the same text for every file that is right or cut off; for broken data isa-l may
 * give more text before it sees the defect.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INFLATER_H
#define LEAT_TOKENIZE_TOOLS_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;

enum inflater_result {
    INFLATER_MORE,   /* input or room is used up */
    INFLATER_END,    /* the deflate data has ended, and all of its text has been given */
    INFLATER_BROKEN, /* the data is broken, and the text before that place has been given */
    INFLATER_NO_MEMORY
};

struct inflater_library {
    const char *name; /* name for messages; NULL if this build cannot inflate, and no other member is set */

    struct inflater *(*open)(void); /* returns NULL if there is no memory */
    void (*close)(struct inflater *inflater);

    /* Begins new deflate data. */
    void (*reset)(struct inflater *inflater);

    /*
     * Inflates from *in and *in_bytes to *out and *room, and moves all four. At INFLATER_END *in is right after the
     * data, up to eight bytes before its value at the call. `last` says that no input follows.
     */
    enum inflater_result (*run)(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                size_t *room, bool last);

    /* Continues the CRC-32 of gzip: `crc` is that of the bytes before, or 0. `count` is at most 1 GiB, as much as run()
     * gives. */
    uint32_t (*crc)(uint32_t crc, const uint8_t *bytes, size_t count);
};

extern const struct inflater_library inflater_library;

#endif
