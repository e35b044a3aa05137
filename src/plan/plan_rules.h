/*
 * plan_rules.h: the rules of a plan before any dataset is opened: its options or its text, checked one by one, in
 * memory of their own. plan_text.c reads rules from a plan's text and prints them; leat_plan_open() fills them from
 * options.
 */
#ifndef LEAT_PLAN_RULES_H
#define LEAT_PLAN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "leat.h"
#include "order/decimal.h"
#include "order/fim.h"
#include "order/skips.h"
#include "plan_bans.h"

struct choice;

#define PLAN_MAX_SOURCES 65536u
#define PLAN_MAX_LENGTH  ((uint64_t)1 << 30)

/* Characters of a text that a sentence shows, for "%.*s". */
#define PLAN_SHOWN 100
static inline int plan_rules_shown(size_t length)
{
    return length < PLAN_SHOWN ? (int)length : PLAN_SHOWN;
}

/* The additions of a plan of the order megatron, in megatron-core's own words: its split, the number of samples to
 * build for, the surplus of blended sources. */
#define PLAN_MEGATRON_SEED 1234u /* Megatron's seed, if a text does not give one */

struct plan_megatron {
    struct decimal ratios[3]; /* parts of the split: train, valid, test */
    unsigned ratio_count;     /* 0: no split */
    uint64_t samples;         /* 0: not given */
    struct decimal surplus;
    bool has_surplus; /* it was given */
};

/* The options of a plan of rows of whole documents; each is 0 if not given. */
enum plan_fit_option {
    PLAN_FIT_MAX_PER_ROW, /* most pieces of a row */
    PLAN_FIT_MIN_LENGTH,  /* shorter documents are left out; in tokens */
    PLAN_FIT_MAX_LENGTH,  /* longer documents are left out; in tokens */
    PLAN_FIT_CUT_LENGTH,  /* only this many first tokens of longer documents are used */
    PLAN_FIT_ALIGN,       /* pieces begin at multiples of it in a row */
    PLAN_FIT_OVERLAP,     /* predictions that the rows of a long document repeat */
    PLAN_FIT_BEGIN,       /* 1: rows that continue a document begin with the begin token */
    PLAN_FIT_WHOLE,       /* 1: documents longer than a row are left out */
    PLAN_FIT_OPTIONS
};
extern const char *const plan_fit_names[PLAN_FIT_OPTIONS]; /* the names of the options in a plan's text */

struct plan_opened; /* plan_source.h */

struct plan_source_rule {
    char *name;
    const struct leat_dataset *dataset; /* the caller's open dataset; NULL: opened by name */
    struct plan_opened *opened;         /* the dataset that another plan has open and shares; or NULL */
    struct decimal weight;              /* weight; 1 if none was given */
    bool weighted;                      /* one was */
    bool has_namesake;                  /* an earlier source has this name; set if the plan has bans */
    uint64_t epochs;                    /* 0: no limit */
    uint64_t fit[PLAN_FIT_OPTIONS];     /* its own rules; 0: the plan's */
    char *where, *repeat;               /* which documents are chosen, and how often; NULL: not given */
    struct choice *choice;              /* the choice that another plan has made and shares; or NULL */
    uint64_t sum;                       /* sum of the choice, if has_sum */
    bool has_sum;
};

struct plan_phase_rule {
    uint64_t begin;
    uint64_t seq_len; /* 0: as before */
    struct decimal *weights;
    size_t weight_count;
};

struct plan_split_rule {
    char *name;
    struct decimal fraction;
};

/* Options of documents in batches by tokens (docs/ORDER.md). If MAX_TOKENS is 0, there are no such batches;
 * otherwise the other options have values, too. */
enum plan_by_tokens {
    PLAN_MAX_TOKENS, /* rows times tokens of the longest row of a batch */
    PLAN_MAX_ROWS,   /* most rows of a batch */
    PLAN_POOL,       /* samples that are put together by length */
    PLAN_BY_TOKENS
};
#define PLAN_TOKENS_VERSION 1u
#define PLAN_USUAL_POOL     4096u
#define PLAN_MAX_POOL       ((uint64_t)1 << 20)
extern const char *const plan_tokens_names[PLAN_BY_TOKENS]; /* the names of the options in a plan's text */

/* Options of windows that are read in stretches (docs/ORDER.md). If STRETCH is 0, there are none; otherwise the other
 * options have values, too. */
enum plan_stretches {
    PLAN_STRETCH, /* bytes of a stretch */
    PLAN_MIX,     /* stretches whose windows are shuffled together */
    PLAN_LANES,   /* streams that take turns */
    PLAN_STRETCHES
};
#define PLAN_USUAL_MIX 64u
#define PLAN_MAX_LANES 65536u
extern const char *const plan_stretches_names[PLAN_STRETCHES]; /* the names of the options in a plan's text */

/* Fill-in-the-middle. */
enum plan_fim_id { PLAN_FIM_PREFIX, PLAN_FIM_MIDDLE, PLAN_FIM_SUFFIX, PLAN_FIM_IDS };

struct plan_fim {
    bool given;
    struct decimal rate, spm;
    struct fim_rule rule; /* both in units */
    uint32_t ids[PLAN_FIM_IDS];
};

struct plan_rules {
    uint64_t seed, seq_len, base_len, epochs;
    uint64_t fit[PLAN_FIT_OPTIONS], by_tokens[PLAN_BY_TOKENS], stretches[PLAN_STRETCHES];
    uint32_t order; /* number */
    uint32_t stop;  /* enum leat_stop */
    struct plan_source_rule *sources;
    struct plan_phase_rule *phases; /* the phases after the first */
    struct plan_split_rule *splits;
    struct skips_range *skips;
    struct plan_ban_rule *bans;
    size_t source_count, phase_count, split_count, skip_count, ban_count;
    size_t source_room, phase_room, split_room, skip_room, ban_room;
    char *use; /* NULL: not given */
    struct plan_megatron megatron;
    struct plan_fim fim;
};

/* Fails with LEAT_E_ARGUMENT because there are more than PLAN_MAX_SOURCES sources. */
enum leat_status plan_rules_say_sources(struct leat_error *err);

/* Rules begin as all zeros; each call adds a row. Texts need no NUL at their end. */
struct plan_source_text {
    const char *name, *weight; /* `weight` is NULL if none is given */
    size_t name_length, weight_length;
    uint64_t epochs;
    const struct leat_dataset *dataset;
};
enum leat_status plan_rules_add_source(struct plan_rules *r, const struct plan_source_text *text,
                                       struct leat_error *err);
/* Gives a source its own rules of rows of whole documents; a field of 0 is not given. */
enum leat_status plan_rules_set_fit(struct plan_rules *r, size_t source, const uint64_t *fit, struct leat_error *err);

/* Choose documents of a source: text[0..length) is its condition, or how often each is repeated. */
enum leat_status plan_rules_set_where(struct plan_rules *r, size_t source, const char *text, size_t length,
                                      struct leat_error *err);
enum leat_status plan_rules_set_repeat(struct plan_rules *r, size_t source, const char *text, size_t length,
                                       struct leat_error *err);

/* Returns the rule that counts for a source: its own, or the plan's. */
static inline uint64_t plan_rules_fit(const struct plan_rules *r, size_t source, enum plan_fit_option option)
{
    return r->sources[source].fit[option] > 0 ? r->sources[source].fit[option] : r->fit[option];
}

/* Adds a phase. `weights` are decimals separated by commas. */
enum leat_status plan_rules_add_phase(struct plan_rules *r, uint64_t begin, const char *weights, size_t weights_length,
                                      uint64_t seq_len, struct leat_error *err);
enum leat_status plan_rules_add_skip(struct plan_rules *r, uint64_t first, uint64_t end, struct leat_error *err);
/* NAME=FRACTION,... or Megatron's */
enum leat_status plan_rules_set_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err);
enum leat_status plan_rules_set_use(struct plan_rules *r, const char *name, size_t length, struct leat_error *err);

/* The texts of fill-in-the-middle: two decimals, and the ids. */
struct plan_fim_text {
    const char *rate, *spm;
    size_t rate_length, spm_length;
    uint32_t ids[PLAN_FIM_IDS];
};
enum leat_status plan_rules_set_fim(struct plan_rules *r, const struct plan_fim_text *text, struct leat_error *err);

/* Writes the line of fill-in-the-middle in a plan's text, without its key; "none" if it is not given. */
#define PLAN_FIM_TEXT (2 * DECIMAL_TEXT + 40)
const char *plan_rules_fim_text(const struct plan_rules *r, char text[PLAN_FIM_TEXT]);

/* Completes the rules, as the last call: fills in defaults, sorts the skips, and checks what can be checked without
 * datasets. */
enum leat_status plan_rules_finish(struct plan_rules *r, struct leat_error *err);

/* Copies sources, seed, split and limit of epochs to rules of another order and length. It leaves out what counts
 * samples: phases, skips, and bans that do not start at sample 0. `datasets` are the sources' open datasets. */
enum leat_status plan_rules_reorder(struct plan_rules *to, const struct plan_rules *from,
                                    const struct leat_dataset *const *datasets, uint32_t order, uint64_t seq_len,
                                    struct leat_error *err);

/* The changes of a plan from a sample on. */
struct plan_change {
    uint64_t at;
    const char *weights; /* fields separated by commas, as of a phase; a source whose field is empty or missing keeps
                            its weight */
    size_t weights_length;
    uint64_t seq_len; /* 0: as before */
    size_t added;     /* first number of the sources that were added for this change, and have their weights from
                         `at` on */
};

/* Changes rules from a sample on. Phases that begin later are dropped. plan_change_check() says whether the order
 * has phases. */
enum leat_status plan_rules_change(struct plan_rules *r, const struct plan_change *change, struct leat_error *err);
enum leat_status plan_change_check(const struct plan_rules *rules, struct leat_error *err);

/* Returns the range of the split that is used; NULL: no split. */
const struct plan_split_rule *plan_rules_used(const struct plan_rules *r);

/* Computes where the used range begins and ends, in units of 10^-18. */
void plan_rules_part(const struct plan_rules *r, uint64_t *begin, uint64_t *end);

void plan_rules_free(struct plan_rules *r);

/* Reads a plan's text, line by line (docs/ORDER.md, "Plan text"); `label` is that of leat_plan_parse(). Does not
 * finish the rules. */
enum leat_status plan_rules_read(struct plan_rules *r, const char *text, size_t bytes, const char *label,
                                 struct leat_error *err);

/* Reads the text of changes (docs/ORDER.md, "Changes"), which it adds to rules. */
enum leat_status plan_rules_read_changes(struct plan_rules *r, const char *text, size_t bytes, const char *label,
                                         struct leat_error *err);

/* Reads lines of a plan's text that must all be bans, blank, or comments. */
enum leat_status plan_rules_read_bans(struct plan_rules *r, const char *text, size_t bytes, struct leat_error *err);

/* Reads a number in digits; returns false if it is no such number, or not below 2^64. */
static inline bool plan_rules_number(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || !bytes_multiply(*value, 10, value) ||
            !bytes_add(*value, (uint64_t)(text[i] - '0'), value))
            return false;
    return length > 0;
}

/* Writes the text of finished rules, at most capacity - 1 bytes of it and a NUL. Returns its whole length. */
uint64_t plan_rules_print(const struct plan_rules *r, char *text, size_t capacity);

/* ---- plan_megatron.c ---- */

/* Returns true if the text of a split is one of Megatron's: numbers without names. */
bool plan_megatron_is_split(const char *text, size_t length);
enum leat_status plan_megatron_set_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err);
enum leat_status plan_megatron_set_surplus(struct plan_rules *r, const char *text, size_t length,
                                           struct leat_error *err);

/* Checks the rules of a plan of order megatron, and fills in defaults. For a plan of another order, checks that none
 * of these options is given. */
enum leat_status plan_megatron_finish(struct plan_rules *r, struct leat_error *err);
enum leat_status plan_megatron_refuse(const struct plan_rules *r, struct leat_error *err);

/* Returns the number of the split's range that is used: 0 train, 1 valid, 2 test. */
unsigned plan_megatron_used(const struct plan_rules *r);

/* Returns true if Megatron makes a BlendedDataset: of several sources, or of one that has a weight and a split. */
bool plan_megatron_blends(const struct plan_rules *r);

#endif
