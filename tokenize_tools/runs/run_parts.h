/* run_parts.h: where the parts of a run stand, by what is in its folder. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PARTS_H
#define LEAT_TOKENIZE_TOOLS_RUN_PARTS_H

#include "run_beat.h"
#include "run_folder.h"

/* The last four are left: nobody packs them now. */
enum part_state { PART_DONE, PART_RUNNING, PART_DEAD, PART_STOPPED, PART_FAILED, PART_MISSING, PART_STATES };
extern const char *const part_states[];

struct run_part {
    enum part_state state;
    struct beat_read beat; /* not of parts that are done or missing, but for the tokens and documents */
    double age;            /* seconds since the sign of life */
};

struct run_parts {
    struct run_part *items; /* part n is items[n - 1] */
    unsigned count[PART_STATES];
    uint64_t tokens, documents; /* so far */
    double tokens_per_s;        /* of what runs now */
    double share;               /* of the work that is done; below 1 until all parts are */
    double seconds_left;        /* at this rate; negative: nothing runs */
};

/* A share of what is not finished, which never looks finished: everything may be packed, and be left to split. */
static inline double run_parts_unfinished(double share)
{
    return share < 0.999 ? share : 0.999;
}

/* Freed by run_parts_free(). */
enum leat_status run_parts_find(struct run_parts *p, const struct run_folder *r, struct leat_error *err);
void run_parts_free(struct run_parts *p);

/* The numbers of the parts that are left, as `sbatch --array` takes them: "3,7-9"; those that run too, if
 * `running`. The caller frees it. NULL: no memory. */
char *run_parts_left(const struct run_parts *p, unsigned parts, bool running);

/* The error of a command that would use parts while they are joined in place. */
void run_parts_say_joining(const struct run_folder *r);

/* The error of a process that finds another one packing its part: which one, and since when it is silent. */
void run_parts_say_busy(const struct run_folder *r, unsigned part);

/* Whether all parts are done, or `path` is no run's folder; else CLI_FAILED, after a message with the others. */
int run_parts_check(const char *path);

#endif
