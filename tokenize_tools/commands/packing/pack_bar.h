/*
 * pack_bar.h: what a run of packing shows while it goes, and says when it ends.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_BAR_H
#define LEAT_TOKENIZE_TOOLS_PACK_BAR_H

#include "cli/progress.h"
#include "commands/common/by_outputs.h"
#include "pack_notices.h"
#include "pack_options.h"
#include "runs/run_beat.h"

/* Which inputs were cut off or broken, in a line; "": none. */
#define PACK_DAMAGE 700
void pack_bar_damage(const struct pack_notices *n, char *text, size_t room);

/* Says on stderr which inputs were cut off or broken, if any were; and how the run that has failed by that goes on. */
void pack_bar_say_damage(const struct pack_values *v, const struct pack_notices *n);
void pack_bar_say_accept(const struct pack_values *v, const struct pack_notices *n);

/* Prints the message of a failed run and how to go on; returns the exit code. */
int pack_bar_say_failed(const struct pack_values *values, const struct pack_notices *n,
                        const struct leat_pack_report *report, const struct leat_error *err);

enum pack_phase { PACK_PACKING, PACK_CHECKING, PACK_ARRANGING };

/* A bar or lines, and notices: the functions and their context for leat_pack_options. */
struct pack_bar {
    struct progress progress;
    struct pack_notices notices;
    struct by_outputs outputs;
    enum pack_phase phase;
    double began;
    bool started;
    uint64_t tokens_before, text_before; /* of a run that is resumed */
    struct run_beat *beat;               /* NULL: none */
};
void pack_bar_begin(struct pack_bar *bar, const struct pack_values *values, struct leat_pack_options *options);
void pack_bar_end(struct pack_bar *bar); /* the notices stay, until: */
void pack_bar_free(struct pack_bar *bar);

/* CPU time of packing that went into work for one thread at a time, of all of it. */
double pack_serial_share(const struct leat_pack_report *report);

/* The share of their time for which threads waited for one compressed input (its name is in the report). */
double pack_stream_share(const struct leat_pack_report *report);

/* Bytes of text that the run packed itself, without those of one that it went on with. */
uint64_t pack_bar_text(const struct pack_bar *bar, const struct leat_pack_report *report);

#endif
