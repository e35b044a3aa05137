/*
 * batch.h: documents on their way to a writer, collected until there are enough for a thread of the crew to put them.
 * The last document may be open: its ids are there, its end is not. What does not fit is the caller's to give to the
 * writer directly, document by document.
 */
#ifndef LEAT_ARRANGE_BATCH_H
#define LEAT_ARRANGE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tiny.h"
#include "leat.h"
#include "sorting/helpers.h"

/* Ids that still lie in the level 2 cache of the core that collects them are copied and hashed by another one: 128 KiB
 * to 1 MiB of ids took the same time. */
#define BATCH_BYTES     TINY_OR((size_t)32, (size_t)256 << 10)
#define BATCH_DOCUMENTS TINY_OR((size_t)3, (size_t)1024)
#define BATCH_TEXTS     TINY_OR((size_t)16, (size_t)64 << 10) /* bytes of the documents' ids */

struct crew;

struct batch {
    struct batch *next;
    struct crew *crew; /* the crew's, as is: */
    struct job job;
    struct leat_writer *writer;
    struct leat_place place;
    uint32_t width;
    uint64_t count;            /* documents that have ended */
    size_t bytes, open, texts; /* of all ids; those of the open document; of texts */
    uint64_t lengths[BATCH_DOCUMENTS];
    struct leat_origin origins[BATCH_DOCUMENTS];
    uint8_t hashes[BATCH_DOCUMENTS][16];
    char text[BATCH_TEXTS];
    bool masked; /* `mask` has a byte for each id */
    uint8_t mask[BATCH_BYTES / 2];
    _Alignas(8) uint8_t ids[BATCH_BYTES];
};

void batch_begin(struct batch *b, struct leat_writer *writer, uint32_t width);

/* Adds ids to the open document, and their mask: of all ids of a batch, or of none (NULL). False: no room, and nothing
 * is added. */
bool batch_append(struct batch *b, const void *ids, const uint8_t *mask, uint64_t bytes);

/* Ends the open document, which may have no ids; false likewise. */
bool batch_end_document(struct batch *b, const struct leat_origin *origin);

/* Moves the open document's ids from the end of `from` to `to`, which has begun. */
void batch_move_open(struct batch *to, struct batch *from);

/* What leat_writer_place() and leat_writer_put() take. */
struct leat_documents batch_documents(const struct batch *b);

#endif
