/* pack_notices.h: keeps what a run of `leat pack` reports about files, for stderr, the summary and --json. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_NOTICES_H
#define LEAT_TOKENIZE_TOOLS_PACK_NOTICES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/json.h"
#include "damage/damage_list.h"
#include "leat_pack.h"

struct pack_notice {
    char *path;
    uint64_t count;
    uint32_t reason; /* as in struct leat_pack_notice */
};

/* Notices of one kind, as many as there is memory for; the report has their number. All zero at first. */
struct pack_notice_list {
    struct pack_notice *items;
    size_t count;
};

struct pack_notices {
    struct pack_notice_list skipped, replaced, repeated, splits;
    struct damage_list damaged;
    bool skipped_said;
};

void pack_notices_add(struct pack_notices *n, const struct leat_pack_notice *notice);
void pack_notices_free(struct pack_notices *n);

/* Warns that `count` inputs repeat earlier ones; `first` is the first of them. */
void pack_notices_warn_repeated(uint64_t count, const char *first);

/* Warns that there is no document: a dataset of nothing is one, but hardly what was meant. What was rejected is named
 * elsewhere. */
void pack_notices_warn_empty(const struct leat_pack_report *report, uint64_t inputs);

/* Names some of the files that are left out on stderr, and inputs that are named again; does so once. */
void pack_notices_say_skipped(struct pack_notices *n);

/* Prints sentences of the summary: what was replaced, what is not JSON. */
void pack_notices_print(const struct pack_notices *n, const struct leat_pack_report *report);

/* Writes an item of the list hub_splits; `name` "" or NULL: of no split. */
void pack_notices_split_json(struct json *j, const char *name, uint64_t inputs, bool packed);

/* Writes members of the summary's object. */
void pack_notices_json(struct json *j, const struct pack_notices *n, const struct leat_pack_report *report);

#endif
