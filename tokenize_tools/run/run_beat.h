/*
 * run_beat.h: the sign of life of a process that packs a part of a run: a small file in the run's folder that a
 * thread of its own writes every BEAT_SECONDS, so that long calls do not look like death. Its age says more than a
 * lock could: a machine that has vanished keeps its locks on some file servers, and others have none.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_BEAT_H
#define LEAT_TOKENIZE_TOOLS_RUN_BEAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

#define BEAT_SECONDS 5
#define BEAT_DEAD    30 /* seconds without a sign of life after which a process counts as dead */

enum beat_state { BEAT_RUNNING, BEAT_STOPPED, BEAT_FAILED };

struct beat_facts {
    uint64_t bytes, total_bytes; /* bytes of the part's inputs */
    uint64_t tokens, documents, rejects;
    double tokens_per_s, bytes_per_s;                 /* of this process */
    uint64_t kept_bytes, kept_tokens, kept_documents; /* counts at the last checkpoint, which are all that is left
                                                         when the process is killed */
};

/* Replaces the counts by those that are kept, since the process has ended. */
void beat_facts_keep(struct beat_facts *facts);

#define BEAT_REASON 512

struct run_beat {
    pthread_t thread;
    pthread_mutex_t lock, writing; /* the first guards facts and damage, the second the file */
    pthread_cond_t wake;
    int fd;
    char *path;
    bool started, ended;
    struct beat_facts facts;
    uint32_t advice;          /* hint of the error if the part failed */
    char damage[BEAT_REASON]; /* damage of the part's inputs; "": none */
};

/*
 * Begins to write the file `path`, which belongs to the beat (NULL: no file is written). The file is locked until
 * run_beat_done(), run_beat_damaged() or run_beat_failed(). Returns LEAT_E_BUSY while another process packs the
 * part, whose sign of life stays. After a failure nothing needs to end.
 */
enum leat_status run_beat_begin(struct run_beat *b, char *path, struct leat_error *err);
void run_beat_update(struct run_beat *b, const struct beat_facts *facts);

/* Notes durably, before the part has its dataset, that its inputs are damaged: the part is not done, until somebody
 * accepts the damage. The next processes keep this note in the file. */
enum leat_status run_beat_mark(struct run_beat *b, const struct leat_error *why, struct leat_error *err);

/* Ends the beat of a part that is done. It needs no file, since it has its dataset. The functions below keep the
 * file, which says how the process ended. */
void run_beat_done(struct run_beat *b);

/* Ends the beat of a part that has its dataset, but not all of its inputs, as run_beat_mark() says: it failed. */
void run_beat_damaged(struct run_beat *b, const struct leat_error *why);

/* Ends the beat of a process that failed or was stopped: what is kept is left of the part. If the part already has a
 * dataset, the file is removed instead. */
void run_beat_failed(struct run_beat *b, const struct leat_error *why);
void run_beat_keep(struct run_beat *b, uint64_t bytes, uint64_t tokens, uint64_t documents);

/* The content of a file. */
struct beat_read {
    enum beat_state state;
    struct beat_facts facts;
    char host[65], reason[BEAT_REASON], damage[BEAT_REASON];
    uint64_t pid, advice;
    int64_t changed; /* time of the last change, in seconds by the file server's clock */
};
bool run_beat_read(const char *path, struct beat_read *beat);

#endif
