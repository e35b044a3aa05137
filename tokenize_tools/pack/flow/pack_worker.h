/* pack_worker.h: a thread's own memory while it turns units into ids. A unit's kind (unit_kinds.h) decides how, in
 * the steps that kinds have in common (steps.h). */
#ifndef LEAT_PACK_WORKER_H
#define LEAT_PACK_WORKER_H

#include "base/buffer.h"
#include "pack_setup.h"
#include "unit.h"

struct chat_queue;

struct pack_worker {
    struct pack_setup *setup;
    struct leat_encoder *encoder;
    struct buffer text;                /* bytes that encoding a unit has read itself */
    struct buffer pair;                /* a prompt and its completion */
    struct buffer repaired;            /* copy of a text whose malformed UTF-8 has been replaced */
    struct buffer narrow;              /* ids on their way to a spool */
    struct buffer ends;                /* uint64_t's: the ends of the ids of a text with a mask, in its bytes */
    struct leat_encoder *chat_encoder; /* encoder for conversations, which finds special tokens; NULL: the run has
                                          none */
    struct buffer chat_ids;
    struct chat_queue *chats;  /* conversations that wait to be rendered; NULL: there was none */
    struct renderer *renderer; /* NULL: not started */
    struct renderer *splitter; /* renderer for conversations that are too long; NULL: not started */
    struct record record;      /* that is read */
    struct verdict verdict;    /* of it */

    /* The first bytes, after repair, of a text that the encoder refused in long_text_encode(); none if it was
     * rejected for another reason. */
    char refused[REJECT_SAMPLE];
    size_t refused_bytes;
};

enum leat_status pack_worker_make(struct pack_worker *w, struct pack_setup *setup, struct leat_error *err);
void pack_worker_free(struct pack_worker *w);

/* Does all that a unit needs until it can be written. `fd` is the open file of its lane, or -1. Failures are stored
 * in the unit. */
void pack_worker_run(struct pack_worker *w, struct unit *u, int fd);

#endif
