/*
 * options.h: command lines that are read by a table. A row says what an option is called, what it takes, where its
 * value goes and what the help says; parser, --help, manual pages and shell completion all read the same rows.
 *
 * These forms are understood: --name VALUE, --name=VALUE, -o VALUE, -oVALUE, flags joined as -ab, words anywhere
 * between the options, `-` as a word, and `--` after which everything is a word. Names are not abbreviated. If an
 * option is given twice, the last one counts; but a list keeps all values, and an option that may be given only once
 * is refused. --help and -h are always there; `all` may follow them.
 */
#ifndef LEAT_CLI_OPTIONS_H
#define LEAT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,    /* bool: true if it is given */
    OPTION_SWITCH,  /* uint32_t: 1 if it is given */
    OPTION_TEXT,    /* const char *: points into argv */
    OPTION_COUNT,   /* uint64_t: a number between `min` and `max`; K M G Ki Mi Gi are understood */
    OPTION_COUNT32, /* uint32_t: such a number, whose `max` says that it fits */
    OPTION_SIZE,    /* uint64_t: such a number of bytes; a B may follow */
    OPTION_CHOICE,  /* unsigned: the position of the word in `choices` */
    OPTION_LIST,    /* struct option_list, or such a pair of the library's options: all values */
    OPTION_CUSTOM   /* any type: `parse` reads it */
};

/* Values in the order given; they point into argv. Zero at first; freed by option_list_free(). */
struct option_list {
    const char **items;
    uint64_t count;
};

struct option_row {
    const char *name; /* name without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_type type;
    size_t field;         /* offset of the value in the caller's struct of values */
    const char *value;    /* what --help calls the value ("SIZE"); NULL for a flag */
    const char *preset;   /* the default, as it would be given, which options_preset() sets; NULL: none */
    const char *standard; /* the default, as --help shows it; NULL: `preset` is shown, or nothing */
    const char *help;     /* a sentence, without a full stop: at most two lines of --help, with the default */
    const char *more;     /* whole sentences that follow in the manual page; NULL: none */
    const char *group;    /* a heading above this row, for it and the rows that follow; NULL: that of the row before */
    bool rare;            /* true if --help only names it, and --help all says what it does */
    bool required;
    bool shared;       /* true if the parts of a run (`leat pack --run`) have it by its plan alone */
    bool length;       /* true for tokens per row: then K and M are explained, since most lengths are powers of 1024 */
    bool once;         /* true if its value is a list, which a second one would replace: giving it twice is an error */
    const char *needs; /* options that it needs: "step,world" both, "step|samples" one of them; NULL: none */
    const char *excludes; /* options that cannot be given with it, "text|tokenizer"; NULL: none */
    uint64_t min, max;    /* bounds of a number; `max` 0: none */
    const char *const *choices;
    /* These are for completion only: the value may be one of these words, and it is the path of a file or begins
     * with one. */
    const char *const *offered;
    bool path;
    /* Reads `text` into the field of OPTION_CUSTOM. On failure returns false, with *why as in units_parse(). */
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

#define OPTIONS_ROWS 128 /* the most rows of a table */

struct options_parsed {
    const char **words; /* the words that are not options, in order; they point into argv */
    size_t count;
    bool given[OPTIONS_ROWS]; /* true for each row of the table whose option was given */
    char message[512];
};

/* Reads argv[1..argc) by `rows` into `values`, which the caller has filled with the defaults. `command` ("leat
 * info") stands in messages. options_free() releases `parsed`, whatever the outcome. */
enum options_outcome options_parse(const char *command, const struct option_row *rows, void *values, int argc,
                                   char **argv, struct options_parsed *parsed);
void options_free(struct options_parsed *parsed);

/* Sets the options that were not given to their presets, if they have one. */
void options_preset(const struct option_row *rows, void *values, const struct options_parsed *parsed);
void option_list_free(struct option_list *list);

/* Explains how many tokens a length with K or M has, and how many with Ki or Mi. `text` may be a list with commas. */
void options_say_lengths(const char *option, const char *text);

/* Returns the default that --help shows, or NULL. */
const char *option_standard(const struct option_row *row);

/* Returns true if the table has rows that only --help all explains. */
bool options_have_rare(const struct option_row *rows);

/*
 * Prints the options part of --help: one row each, aligned, wrapped at OPTIONS_COLUMNS, and the names of the rare
 * ones. With `all`, the rare rows are printed in full, too, below headings. `command` ("leat info") is the command
 * that has them.
 */
#define OPTIONS_COLUMNS 80
void options_print(FILE *out, const char *command, const struct option_row *rows, bool all);

/* Prints a text wrapped at OPTIONS_COLUMNS, further lines indented by `indent`; `column` is where the cursor is. */
void options_wrap(FILE *out, const char *text, unsigned indent, unsigned column);

/* The search for the known word nearest to a mistyped one. All members but `word` are zero at first; each candidate
 * is then tried once. */
struct options_nearest {
    const char *word;
    const char *best;
    size_t distance; /* of `best` */
};
void options_nearest_try(struct options_nearest *n, const char *candidate);

/* Returns "; did you mean --threads?" for a near word, "" for a far one; `dashes` stands before it. */
struct options_advice {
    char text[128];
};
struct options_advice options_nearest_advice(const struct options_nearest *n, const char *dashes);

#endif
