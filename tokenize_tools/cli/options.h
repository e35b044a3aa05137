/*
 * options.h: command lines read by a table. A row says what an option is called, what it takes, where its value goes
 * and what the help says; parser, --help, manual pages and shell completion all read the same rows.
 *
 * Understood: --name VALUE, --name=VALUE, -o VALUE, -oVALUE, flags joined as -ab, words anywhere between the options,
 * `-` as a word, and `--` after which everything is a word. Names are not abbreviated. An option given twice: the last
 * one counts, but a list keeps them all, and what may be given only once is refused. --help and -h are always there;
 * `all` may follow them.
 */
#ifndef LEAT_CLI_OPTIONS_H
#define LEAT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,    /* bool: true when given */
    OPTION_SWITCH,  /* uint32_t: 1 when given */
    OPTION_TEXT,    /* const char *: points into argv */
    OPTION_COUNT,   /* uint64_t: a number, K M G Ki Mi Gi understood, between `min` and `max` */
    OPTION_COUNT32, /* uint32_t: such a number, whose `max` says that it fits */
    OPTION_SIZE,    /* uint64_t: the same in bytes; a B may follow */
    OPTION_CHOICE,  /* unsigned: the position of the word in `choices` */
    OPTION_LIST,    /* struct option_list, or such a pair of the library's options: all of them */
    OPTION_CUSTOM   /* anything: `parse` reads it */
};

/* Values in the order given; they point into argv. Zero at first; freed by option_list_free(). */
struct option_list {
    const char **items;
    uint64_t count;
};

struct option_row {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_type type;
    size_t field;         /* offset of the value in the caller's struct of values */
    const char *value;    /* what --help calls the value ("SIZE"); NULL for a flag */
    const char *preset;   /* the default, as it would be given, which options_preset() sets; NULL: none */
    const char *standard; /* the default, as --help shows it; NULL: `preset`, or nothing to show */
    const char *help;     /* a sentence, without a stop: two lines of --help, with the default */
    const char *more;     /* whole sentences that follow in the manual page; NULL: none */
    const char *group;    /* a heading above this row, for it and those that follow; NULL: as the row before */
    bool rare;            /* --help only names it, --help all says what it does */
    bool required;
    bool shared; /* the parts of a run (`leat pack --run`) have it by its plan alone */
    bool length; /* tokens per row: people hear what K and M are, since most lengths are powers of 1024 */
    bool once;   /* its value is a list, of which a second one would replace the first: it is wrong to give it twice */
    const char *needs;    /* options that it needs: "step,world" both, "step|samples" one of them; NULL: none */
    const char *excludes; /* options that cannot be given with it, "text|tokenizer"; NULL: none */
    uint64_t min, max;    /* bounds of a number; most 0: none */
    const char *const *choices;
    /* For completion only: the value may be one of these words, and it is the path of a file or begins with one. */
    const char *const *offered;
    bool path;
    /* OPTION_CUSTOM: reads `text` into the field; on failure false, and *why as in units_parse(). */
    bool (*parse)(void *field, const char *text, const char **why);
};

#define OPTIONS_END                                                                                                    \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

/* A row that many tables have; the struct of values has a bool of its name. */
#define OPTIONS_JSON(values, text)                                                                                     \
    {                                                                                                                  \
        .name = "json", .type = OPTION_FLAG, .field = offsetof(values, json), .help = text                             \
    }

enum options_outcome {
    OPTIONS_READY,
    OPTIONS_HELP,     /* --help was given */
    OPTIONS_HELP_ALL, /* --help all */
    OPTIONS_WRONG     /* `message` says what */
};

#define OPTIONS_ROWS 128 /* of a table, at most */

struct options_parsed {
    const char **words; /* what is not an option, in order; points into argv */
    size_t count;
    bool given[OPTIONS_ROWS]; /* of each row of the table */
    char message[512];
};

/*
 * Reads argv[1..argc) by `rows` into `values`, which the caller has filled with the defaults. `command` ("leat info")
 * stands in messages. options_free() releases `parsed`, whatever the outcome.
 */
enum options_outcome options_parse(const char *command, const struct option_row *rows, void *values, int argc,
                                   char **argv, struct options_parsed *parsed);
void options_free(struct options_parsed *parsed);

/* Sets the options that were not given, and have a preset, to that. */
void options_preset(const struct option_row *rows, void *values, const struct options_parsed *parsed);
void option_list_free(struct option_list *list);

/* Says how many tokens a length with K or M has, and how many with Ki or Mi. `text` may be a list with commas. */
void options_say_lengths(const char *option, const char *text);

/* Returns the default that --help shows, or NULL. */
const char *option_standard(const struct option_row *row);

/* Returns true if the table has rows that only --help all explains. */
bool options_have_rare(const struct option_row *rows);

/* The options part of --help: one row each, aligned, wrapped at OPTIONS_COLUMNS, and the names of the rare ones. With
 * `all` those too, below headings. `command` ("leat info") is whose. */
#define OPTIONS_COLUMNS 80
void options_print(FILE *out, const char *command, const struct option_row *rows, bool all);

/* Prints a text wrapped at OPTIONS_COLUMNS, further lines indented by `indent`; `column` is where the cursor is. */
void options_wrap(FILE *out, const char *text, unsigned indent, unsigned column);

/* Search for the known word nearest to a mistyped one: zero but for `word`, then one try for each candidate. */
struct options_nearest {
    const char *word;
    const char *best;
    size_t distance; /* of `best` */
};
void options_nearest_try(struct options_nearest *n, const char *candidate);

/* "; did you mean --threads?" for a near one, nothing for a far one; `dashes` stands before it. */
struct options_advice {
    char text[128];
};
struct options_advice options_nearest_advice(const struct options_nearest *n, const char *dashes);

#endif
