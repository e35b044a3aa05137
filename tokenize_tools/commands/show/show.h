/*
 * show.h: the tokens that a model sees at each place of a row, and the forms in which `leat show` prints them.
 *
 * The room tokenize_tools/show/ makes rows (of samples, of stretches of a dataset, of texts) and prints them; each
 * form of output is a row of a table. Numbers come from the loader itself, so that what is shown is what a program
 * gets. What may enter: code that only `leat show` needs.
 */
#ifndef LEAT_SHOW_SHOW_H
#define LEAT_SHOW_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/commands.h"
#include "pages/page.h"

/* The meaning of ids: a tokenizer, and the tokens that a tokenizer may not know. */
struct show_words {
    struct leat_tokenizer *tokenizer; /* NULL: none is stored; ids are shown as numbers */
    uint64_t end, begin;              /* end and begin token of the dataset; LEAT_NONE: none */
};

/* Opens the words of a dataset: the tokenizer `spec`, with the pattern of --pattern or NULL; or the one that it
 * stores, if `spec` is NULL. */
enum leat_status show_words_open(struct show_words *w, const struct leat_dataset *d, const char *spec,
                                 const char *pattern, struct leat_error *err);
void show_words_close(struct show_words *w);

struct show_token {
    const char *text; /* any bytes */
    uint64_t bytes;
    bool special;      /* true if `text` is a name */
    bool bytewise;     /* true if tokens are strings of bytes, none of which is a name of a byte */
    bool continues;    /* true if its first bytes belong to a character that an earlier token has; `text` lacks them */
    uint8_t last[4];   /* a character after `text` that this token begins and later ones complete */
    size_t last_bytes; /* bytes of that character; 0: there is none */
    char name[32];     /* room for one */
};
void show_token_find(const struct show_words *w, int64_t id, struct show_token *t); /* by itself */

/* Consecutive places of one document. */
struct show_stretch {
    uint64_t at, places;
    uint64_t gap;       /* number of places at its end that are padding before the next document */
    const char *source; /* name of the source; NULL if no plan is shown */
    uint32_t number;    /* of the source */
    uint64_t document;  /* LEAT_NONE: not known */
    uint64_t first;     /* number of the first of its tokens in the document */
    bool literal;       /* true for a token that the plan puts into the document; then `first` means nothing */
    struct commands_origin origin;
    const struct show_words *words;
};

/* The places of a row. */
struct show_row {
    const char *title;                /* title of a row that is not a sample; else NULL */
    const struct leat_sample *sample; /* sample, to which the next three members belong; NULL: not a sample */
    uint64_t position, row;           /* row: number in the batch, or in the rank's part of it */
    uint64_t text_bytes;              /* bytes of a text that was encoded; LEAT_NONE: not a text */
    uint64_t length, filled;          /* number of places; and of places before the padding */
    const int64_t *ids;               /* of each place */
    const int64_t *labels;            /* label of each place; this and the next two are NULL if not known */
    const int64_t *positions;         /* position of each token in its document, or in the row */
    const uint8_t *loss;              /* 1 if the label counts */
    const uint8_t *learned;           /* weight of each token itself, in 255ths, with --learned; else NULL */
    struct show_stretch *stretches;
    size_t count, room;
};

/* Adds a stretch. Returns NULL on failure, with `err` filled. */
struct show_stretch *show_row_add(struct show_row *row, const struct show_stretch *like, struct leat_error *err);
/* Adds the documents of a stretch, whose tokens in the dataset `d` begin with `token`. */
enum leat_status show_row_add_documents(struct show_row *row, const struct leat_dataset *d, uint64_t token,
                                        const struct show_stretch *like, struct leat_error *err);
void show_row_clear(struct show_row *row); /* frees the stretches; the row can be filled again */

/* Returns true if the label of a place counts and is not the token at the next place. */
bool show_other_label(const struct show_row *row, uint64_t place);

/* Returns how much a place is shown to count, in 255ths: all or nothing by its label's loss, or as its token with
 * --learned. */
uint8_t show_counts(const struct show_row *row, uint64_t place);

/* Reads the tokens of a stretch in order. A character of which several tokens have a part is given to the first of
 * them. */
struct show_reader {
    const struct show_row *row;
    const struct show_words *words;
    uint64_t next, end; /* places of the row: the next one, and the end */
    uint64_t owed;      /* number of bytes of the next tokens that belong to an earlier character */
};
void show_reader_begin(struct show_reader *r, const struct show_row *row, const struct show_stretch *x);
void show_reader_next(struct show_reader *r, struct show_token *t);

/* Gets the label of the place that was read last. The label of the document's last place here follows its text
 * there. */
void show_reader_label(struct show_reader *r, struct show_token *t);

/* Write the heading of a row, the line below a stretch, and the line for a row's padding. `put` writes text of any
 * bytes safely to `out`. */
typedef void show_put(FILE *out, const char *text, uint64_t bytes);
void show_put_heading(FILE *out, show_put *put, const struct show_row *row);
void show_put_border(FILE *out, show_put *put, const struct show_row *row, const struct show_stretch *x);
void show_put_padding(FILE *out, const struct show_row *row);

/* Where rows go. */
struct show_out;
struct show_form {
    enum leat_status (*begin)(struct show_out *o, const char *title, struct leat_error *err);
    void (*row)(struct show_out *o, const struct show_row *row);
    enum leat_status (*end)(struct show_out *o, int failed, struct leat_error *err);
};
struct show_out {
    const struct show_form *form;
    const char *path; /* of a page */
    struct page page;
    bool colour;                 /* in a terminal */
    bool learned;                /* true if rows have `learned` */
    bool numbers;                /* true if ids are printed, as there is no tokenizer */
    bool beside;                 /* true if rows are of one text, and stand side by side */
    uint64_t rows, places;       /* so far */
    struct show_column *columns; /* columns of show_as_columns, which allocates and frees `column_room` of them */
    size_t column_count, column_room;
    unsigned column_places;  /* width of each column; asked once, as a window may change while it is filled */
    enum leat_status status; /* of a row */
    struct leat_error err;
};
extern const struct show_form show_as_text, show_as_columns, show_as_page, show_as_json;

/* ---- Text ---- */

/* Marks without colours: before a token; before a token whose label does not count; around a name. */
#define SHOW_MARK      "\u2502"
#define SHOW_MARK_IDLE "\u250a"
#define SHOW_NAME_OPEN "\u27e6"
#define SHOW_NAME_END  "\u27e7"
#define SHOW_NEWLINE   "\u21b5"
#define SHOW_TAB       "\u21e5"
#define SHOW_BASE      "\u25cc"
#define SHOW_PART      "\u21e0" /* shown for the part of a token that belongs to an earlier character */

/* Styles of a terminal with 256 colours. */
struct show_styles {
    const char *shades[2], *idle_shades[2], *special, *heading, *soft, *plain;
    const char *learned_shades[2][4]; /* by weight */
};
extern const struct show_styles show_styles;

/* Returns the width of each of so many columns side by side; 0 if it is too small. */
unsigned show_columns_places(size_t count);

/* Returns true if a token begins with a character that takes no place. Without SHOW_BASE before it, it would stand
 * on the token before, or not be seen at all. */
bool show_needs_base(const struct show_token *t);

#endif
