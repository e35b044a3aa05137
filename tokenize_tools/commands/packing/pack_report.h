/* pack_report.h: the messages of a run of `leat pack`: the bar while it packs; notices about files, which are kept
 * for stderr, the summary and --json; and after a failure how the run goes on. */
#ifndef LEAT_PACK_REPORT_H
#define LEAT_PACK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "cli/progress.h"
#include "commands/common/outputs.h"
#include "damage/damage_list.h"
#include "leat_pack.h"
#include "pack_options.h"

/* ---- Notices ----------------------------------------------------------------------------------------------------- */

struct pack_notice {
    char *path, *message; /* `message` is NULL if the notice has none */
    uint64_t count;
    uint32_t reason; /* as in struct leat_pack_notice */
};

/* Notices of one kind, as many as there is memory for; the report has their number. All members are zero at first. */
struct pack_notice_list {
    struct pack_notice *items;
    size_t count, room;
};

struct pack_notices {
    struct pack_notice_list skipped, replaced, repeated, splits, rejected;
    struct damage_list damaged;
    bool skipped_said;
};

void pack_notices_add(struct pack_notices *n, const struct leat_pack_notice *notice);
void pack_notices_free(struct pack_notices *n);

/* Warns that `count` inputs repeat earlier ones; `first` is the first of them. */
void pack_notices_warn_repeated(uint64_t count, const char *first);

/* Prints a notice at once if it is a warning; returns false if it is none. */
bool pack_notices_warn(const struct leat_pack_notice *notice);

/* Warns that there is no document: a dataset without documents was probably not meant. Rejects are named elsewhere. */
void pack_notices_warn_empty(const struct leat_pack_report *report, uint64_t inputs);

/* Names some of the files that are left out, and inputs that are named again, on stderr; with `all`, each of them on
 * a line of its own. Does so once. */
void pack_notices_say_skipped(struct pack_notices *n, bool all);

/* Prints sentences of the summary: what was replaced, and what is not JSON. */
void pack_notices_print(const struct pack_notices *n, const struct leat_pack_report *report);

/* Says how many documents were too long, and what became of them. */
void pack_notices_say_long(const struct leat_pack_report *report, const struct leat_pack_options *options);

/* Names inputs on stderr that gave no document, because each of their records was rejected: some of them, or `all`. */
void pack_notices_say_rejected(const struct pack_values *v, const struct pack_notices *n, bool all);
/* Says, after a run that ended well, how these inputs get into the dataset. */
void pack_notices_say_mended(const struct pack_values *v, const struct pack_notices *n);

/* Writes the list rejected_inputs. */
void pack_notices_rejected_json(struct json *j, const struct pack_notices *n);

/* Writes an item of the list hub_splits; `name` is "" or NULL for an input without a split. */
void pack_notices_split_json(struct json *j, const char *name, uint64_t inputs, bool packed);

/* Writes members of the summary's object. */
void pack_notices_json(struct json *j, const struct pack_notices *n, const struct leat_pack_report *report);

/* ---- The bar, and the end ---------------------------------------------------------------------------------------- */

/* Returns true if a run that has packed all fails because inputs were cut off or broken. */
bool pack_bar_damage_fails(const struct pack_values *v, const struct leat_pack_report *report);
/* Names the inputs on stderr that were cut off or broken, if any were; and says how a run that failed for that goes
 * on. */
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
    uint64_t tokens_before, text_before; /* counts of the run that is resumed */
};
void pack_bar_begin(struct pack_bar *bar, const struct pack_values *values, struct leat_pack_options *options);
void pack_bar_end(struct pack_bar *bar); /* the notices stay until the next function is called */
void pack_bar_free(struct pack_bar *bar);

/* Returns the share of the CPU time of packing that work for one thread at a time took. */
double pack_serial_share(const struct leat_pack_report *report);

/* Returns the share of their time for which threads waited for one compressed input (its name is in the report). */
double pack_stream_share(const struct leat_pack_report *report);

/* Returns the bytes of text that the run packed itself, without those of a run that it continued. */
uint64_t pack_bar_text(const struct pack_bar *bar, const struct leat_pack_report *report);

#endif
