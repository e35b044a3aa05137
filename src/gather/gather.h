/*
 * gather.h: the room that brings tokens from files into memory: the engines that read them, the choice among these, the
 * page cache. Other ways to read a file's bytes belong here; which tokens are wanted, and what is made of them, do not.
 * This header is for users of the room; gather_engine.h is for the engines.
 *
 * A *job* is the rows of one batch; a *piece* is a stretch of consecutive tokens of one part, and its place in a row. A
 * job is begun, so that engines can work ahead, and finished piece by piece. Several jobs may be begun, and are
 * finished in that order, all by one thread. Further threads, the *crew*, may do beforehand what finishing would; what
 * a thread has for itself is its *hand*. While a piece is slow, gather_finish() returns, so that the caller can begin
 * further jobs and come back: nothing here calls its user.
 *
 * Tokens may begin anywhere in their file. Offsets of pieces, and the pages that are verified, count from the first
 * token; only code that touches the file adds its offset.
 *
 * Each piece is read by the engine of its file. What an engine cannot do (a map was lost, a read came back short) is
 * done again by the last resort, plain reads, which find the reason: so errors come from one place.
 *
 * A file may be a cached copy of a remote one, with holes. Beginning a job announces its pages, which are then fetched
 * in the background; finishing a piece waits for those that are still missing, and only then an engine reads them.
 *
 * An *engine* is one way to read pieces. (sentencepiece's pieces are tokens here.)
 */
#ifndef LEAT_GATHER_H
#define LEAT_GATHER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "dataset/dataset.h"
#include "leat.h"

#define GATHER_PAGE         ((uint64_t)FORMAT_PAGE_BYTES)
#define GATHER_SCRATCH      ((uint64_t)1 << 20)   /* largest stretch read around a piece at once */
#define GATHER_REGION       ((uint64_t)512 << 10) /* bytes of a map whose page tables are filled at once */
#define GATHER_BITMAPS      ((uint64_t)16 << 20)  /* limit for bitmaps of verified pages: 512 GiB of tokens */
#define GATHER_PATIENCE_NS  5000000u              /* of one wait for pages of a server */
#define GATHER_MAX          64u                   /* stretches of memory that spans lie in */
#define GATHER_ANNOUNCED    512u                  /* blocks of hashes: those of 32 GiB of tokens */

#define GATHER_ENGINE_COUNT (LEAT_ENGINE_URING + 1) /* with AUTO; the tables of gather.c have a row each */

/* The engine that reads what another could not, or says why that fails. */
#define GATHER_LAST_RESORT LEAT_ENGINE_PREAD

struct gather_file {
    struct part *part;
    struct file_map *map;   /* the part's token file; never one in memory */
    uint64_t offset, bytes; /* of its tokens */
    bool verify;            /* its pages have hashes to verify */
    /* Bits that several threads set: */
    atomic_uint_fast64_t *verified;  /* one per page; NULL: pages are checked whenever they are read */
    atomic_uint_fast64_t *populated; /* one per region of the map; NULL: none is populated */
    enum leat_engine engine;         /* in use; never AUTO */
    bool network;                    /* its file system is */
    bool doubted;     /* io_uring may bring wrong bytes of it: it is on FUSE, or on overlayfs, which may hide FUSE */
    bool hot;         /* all of it is in memory, as far as known */
    bool warm_wanted; /* cold, but fits: a background thread reads all of it, so read through the page cache */
    double resident;  /* share in memory at the last look */
    int direct;       /* the same file with O_DIRECT; -1: none */
    bool direct_tried;
    bool expects_random; /* the kernel was advised not to read ahead */
    bool lost_map;       /* it was mapped, but no longer is */
    bool has_holes;      /* it is a cached copy that has not arrived completely: pages are waited for */
};

enum gather_state { GATHER_TO_DO, GATHER_WAITING, GATHER_DONE };

struct gather_engine; /* gather_engine.h */

struct gather_piece {
    uint32_t file; /* number */
    uint32_t state;
    uint64_t offset, bytes; /* of the file's tokens */
    uint8_t *to;
    uint8_t *span; /* page-aligned memory for the whole pages around it, which contains `to`; NULL: none. Set to NULL if
                    * the file's tokens do not begin at a page. */
    const struct gather_engine *engine; /* its file's when the job was begun */
    uint64_t unread;                    /* of a waiting piece: bytes whose read has not come back */
    uint32_t in_flight;                 /* its reads, even if it no longer waits for them */
    bool held;                          /* of a cached copy: its pages are not evicted */
    uint64_t unheld_ns;                 /* waited for that */
    bool cached;                        /* it was read from memory when the job was begun */
    bool shared;                        /* with the crew, if its job is offered */
    bool announced;                     /* to the reader, who looks at no other piece */
    bool left;                          /* by the crew, or the reader: it could not do it */
};

struct gather_job {
    struct gather_piece *pieces;
    uint32_t count;
    /* For the engines: */
    uint32_t waiting;   /* pieces that wait */
    uint32_t next;      /* the first piece whose reads were not all sent */
    uint64_t next_at;   /* and how many bytes of it were */
    uint32_t in_flight; /* reads */
    struct gather_job *later;
    uint32_t announced;   /* pieces that the reader reads (engine_advise.c) */
    uint64_t number_read; /* of the jobs given to it */
    /* For the crew: */
    bool offered, awaited;
    bool cold;       /* some file of a piece that is shared is not in memory */
    uint64_t number; /* of the jobs offered */
};

struct gather_uring;
struct gather_reader;
struct gate;
struct warm;
struct crew;
struct mounts_guest;

struct gather_counters {
    atomic_uint_fast64_t bytes, reads, hits, storage_ns;
    atomic_uint max_in_flight;
};

/* A file whose maps a hand has entered: their bytes, NULL: not mapped, or no longer; of its tokens, of its index. */
struct gather_entered {
    const uint8_t *inside, *index_inside;
    bool asked, asked_index;
};

/* A stretch of a file's tokens. */
struct gather_stretch {
    uint32_t file;
    uint64_t begin, end;
};

/* What a thread that reads pieces has for itself. */
struct gather_hand {
    struct gather *gather;
    uint8_t *scratch;               /* GATHER_SCRATCH + 2 pages, page-aligned */
    struct gather_entered *entered; /* one for each file */
    uint32_t *inside_of;            /* the numbers of those that it has entered */
    uint32_t inside_count;
    struct mounts_guest *guests; /* one for each source; of a thread that attends */
    /* What it did; only its thread writes here. */
    atomic_uint_fast64_t read_bytes, pages_verified;
    atomic_uint_fast64_t copied;  /* bytes of pieces that the CPU copied, in this library or in the kernel */
    atomic_uint_fast64_t busy_ns; /* of the crew: with pieces */
};

/* What all hands did together. */
struct gather_done {
    uint64_t read_bytes, pages_verified, copied, crew_ns;
};

/* The memory for spans: `count` stretches one after another, page-aligned. */
struct gather_memory {
    uint8_t *base; /* NULL: no piece has a span */
    size_t stride;
    unsigned count;
};

struct gather {
    struct gather_stretch advice; /* what the kernel is to be advised of: pieces that follow in a file are one */
    uint64_t announced[GATHER_ANNOUNCED]; /* blocks of hashes that were lately, by a hash of their numbers */
    struct gather_file *files;
    uint32_t file_count, source_count;
    uint32_t unhashed;    /* of the files: their pages have no hashes */
    uint32_t *first_file; /* of each source */
    enum leat_engine wanted;
    bool verify, threaded;
    bool unaligned;               /* some file's tokens do not begin at a page */
    bool has_holes;               /* some file has */
    bool attended;                /* the thread that gathers attends */
    bool server_failed;           /* it, or a mount, did not answer: that is no damage */
    struct gather_hand hand;      /* of the thread that begins and finishes jobs */
    uint64_t max_bytes;           /* of a piece */
    struct crew *crew;            /* NULL: one thread does all */
    struct gather_reader *reader; /* NULL: not started */
    struct gather_hand reader_hand;
    struct gate *gate; /* where the thread that gathers is woken; NULL: its user waits in no other way */
    bool reader_refused;
    struct gather_uring *uring; /* NULL: not opened */
    bool uring_refused;
    int uring_error;
    struct warm *warm;           /* NULL: nothing to warm */
    uint64_t mapped_bytes;       /* of the files that are copied from maps */
    uint64_t looked_ns, looks;   /* time of the last look at files, number of looks */
    struct gather_memory memory; /* set by the user, before the first job */
    bool memory_is_written;      /* gather_close() could not wait for all reads into it: never free it */
    struct gather_counters counters;
    atomic_uint in_use[GATHER_ENGINE_COUNT]; /* files of each engine */
    atomic_uint lost_maps; /* of leases that were called back, not of those that a parent of this process has */
    atomic_bool uring_is_refused;
    atomic_bool uring_unregistered; /* it could not register memory */
};

/* Opens all parts of all sources of a plan. `max_bytes`: the largest piece. gather_close() is fine after a failure. */
enum leat_status gather_open(struct gather *g, const struct leat_plan *plan, enum leat_engine wanted, bool verify,
                             bool threaded, uint64_t max_bytes, struct leat_error *err);
void gather_close(struct gather *g);

/* Takes over what `from`, which is about to be closed, has counted, and which pages of the same files it has
 * verified. */
void gather_follow(struct gather *g, struct gather *from);

/* Starts further threads that read pieces of the jobs begun, on the CPUs of a NUMA node (-1: on any). Returns 0, or an
 * errno. */
int gather_share(struct gather *g, unsigned threads, int node);

/* Of the thread that gathers: its waits for file systems that fail end when `stop` is set and gather_wake() called; and
 * gather_finish() returns sooner when somebody opens the gate. gather_stop() ends that. */
void gather_attend(struct gather *g, const atomic_bool *stop, struct gate *gate);
void gather_wake(const struct gather *g);

/* The mounts of a file (base/mounts.h); NULL: those of the file before it, or it has none. */
struct mounts *gather_mounts(const struct gather *g, uint32_t file);

/* Whether sleeping threads of these are woken: the user has little that is finished. */
void gather_hurry(struct gather *g, bool hurry);

/* The last call of the thread that gathers: waits for all reads in flight, and ends the further threads. */
void gather_stop(struct gather *g);

/* In a child after fork, before gather_close(): its threads and reads are the parent's. */
void gather_forget(struct gather *g);

struct gather_done gather_done(const struct gather *g);

/* Whether gather_is_direct() can be true for a file of a loader with this engine. */
bool gather_may_be_direct(enum leat_engine engine);

/* Whether it helps to begin jobs early. */
bool gather_works_ahead(const struct gather *g);

/* Whether a piece of this file that has a span would be written there by the disk itself, past the page cache. */
bool gather_is_direct(struct gather *g, uint32_t file);

/* Says that a piece will be needed in a later job: what a server has of it is fetched ahead. Only its file, offset and
 * bytes count. */
void gather_announce(struct gather *g, const struct gather_piece *p);

void gather_begin(struct gather *g, struct gather_job *job);

/* Finishes one piece of the oldest job begun; pieces in any order. LEAT_E_AGAIN: it takes long; begin further jobs, if
 * any, and call again. Another error does not touch the other pieces. Call gather_end() after the last one, and before
 * gather_close() for each job that was begun. */
enum leat_status gather_finish(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);
void gather_end(struct gather *g, struct gather_job *job);

/* Looks at the files again from time to time, and chooses their engines. */
void gather_look(struct gather *g, uint64_t now_ns);

#endif
