/*
 * writer_checkpoint.h: the file NAME.partial.checkpoint, between who writes it (writer_checkpoint.c) and who reads it
 * (writer_resume.c).
 *
 * Little-endian: magic, with the version as its last byte; what must be the same in a resumed run; counts; the lengths
 * and sums of the spills; inputs; metadata; the caller's note; XXH3-128 of everything before. It is private to this
 * version of the library, which refuses that of another one.
 */
#ifndef LEAT_WRITER_WRITER_CHECKPOINT_H
#define LEAT_WRITER_WRITER_CHECKPOINT_H

#include "writer.h"

#define CHECKPOINT_MAGIC_BYTES 8u
extern const uint8_t checkpoint_magic[CHECKPOINT_MAGIC_BYTES];

/* What must be the same in a resumed run; after these come the fingerprint and the hash of the tokenizer. */
struct checkpoint_rule {
    const char *what;
    uint64_t value;
};
#define CHECKPOINT_RULES 7u
void checkpoint_rules(const struct leat_writer *w, struct checkpoint_rule rules[CHECKPOINT_RULES]);
struct hash128 checkpoint_tokenizer(const struct leat_writer *w);

#endif
