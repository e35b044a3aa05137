/*
 * show_print.c: rows as text. On a terminal with colours tokens have two alternating shades; elsewhere a mark stands
 * before each. Everything that comes from data goes through cli_put(), so that no text can send a terminal a command,
 * end a line or turn its direction. See show.h.
 */
#include <stdio.h>

#include "show.h"

/* Dark letters on light shades, so that both kinds of background will do. */
const struct show_styles show_styles = {
    .shades = { "\033[38;5;16;48;5;153m", "\033[38;5;16;48;5;222m" },
    .idle_shades = { "\033[38;5;240;48;5;254m", "\033[38;5;240;48;5;250m" },
    .special = "\033[1;38;5;231;48;5;54m",
    .heading = "\033[1m",
    .soft = "\033[38;5;244m",
    .plain = "\033[0m",
};

#define RULE "\u2500\u2500"

static void style(const struct show_out *o, const char *codes)
{
    if (o->colour)
        fputs(codes, stdout);
}

/* The text of a token. A newline is shown and made; no shade reaches beyond it. */
static void put_bytes(const struct show_out *o, const char *text, uint64_t bytes, const char *shade)
{
    for (uint64_t at = 0, end; at < bytes; at = end + 1) {
        end = at;
        while (end < bytes && text[end] != '\n' && text[end] != '\t')
            end++;
        style(o, shade);
        cli_put(text + at, end - at);
        if (end < bytes)
            fputs(text[end] == '\t' ? SHOW_TAB : SHOW_NEWLINE, stdout);
        style(o, show_styles.plain);
        if (end < bytes && text[end] == '\n')
            putchar('\n');
    }
}

/* Whether a token ends the line that is printed. */
static bool put_token(const struct show_out *o, const struct show_token *t, const char *shade)
{
    shade = t->special ? show_styles.special : shade;
    if (t->special && !o->colour)
        fputs(SHOW_NAME_OPEN, stdout);
    style(o, shade);
    if (t->continues)
        fputs(SHOW_PART, stdout);
    if (show_needs_base(t))
        fputs(SHOW_BASE, stdout);
    put_bytes(o, t->text, t->bytes, shade);
    put_bytes(o, (const char *)t->last, t->last_bytes, shade);
    style(o, show_styles.plain);
    if (t->special && !o->colour)
        fputs(SHOW_NAME_END, stdout);
    return !t->special && t->last_bytes == 0 && t->bytes > 0 && t->text[t->bytes - 1] == '\n';
}

#define LINE_COLUMNS 100

/* Without a tokenizer: numbers, in lines of some width. */
static void put_ids(const struct show_out *o, const struct show_row *row, const struct show_stretch *x)
{
    int column = 0;

    for (uint64_t i = x->at; i < x->at + x->places && !cli_stdout_failed(); i++) {
        bool counts = !row->loss || row->loss[i];
        char label[32] = "";

        if (show_other_label(row, i))
            snprintf(label, sizeof label, "\u2192%lld", (long long)row->labels[i]);
        style(o, counts ? show_styles.plain : show_styles.soft);
        column += printf("%s%lld%s", counts || o->colour ? "" : SHOW_MARK_IDLE, (long long)row->ids[i], label);
        style(o, show_styles.plain);
        if (i + 1 < x->at + x->places)
            putchar(column < LINE_COLUMNS ? ' ' : '\n');
        column = column < LINE_COLUMNS ? column + 1 : 0;
    }
    if (x->places > 0)
        putchar('\n');
}

static void put_stretch(const struct show_out *o, const struct show_row *row, const struct show_stretch *x)
{
    struct show_reader reader;
    struct show_token t;
    bool ended = true;

    show_reader_begin(&reader, row, x);
    for (uint64_t i = x->at; i < x->at + x->places && !cli_stdout_failed(); i++) {
        bool counts = !row->loss || row->loss[i];
        const char *shade = counts ? show_styles.shades[i % 2] : show_styles.idle_shades[i % 2];

        if (!o->colour)
            fputs(counts ? SHOW_MARK : SHOW_MARK_IDLE, stdout);
        show_reader_next(&reader, &t);
        ended = put_token(o, &t, shade);
        if (show_other_label(row, i)) {
            style(o, show_styles.soft);
            fputs(o->colour ? "\u2192" : SHOW_MARK "\u2192", stdout);
            show_reader_label(&reader, &t);
            ended = put_token(o, &t, show_styles.soft);
        }
    }
    if (!ended)
        putchar('\n');
}

static void put(FILE *out, const char *text, uint64_t bytes)
{
    (void)out;
    cli_put(text, bytes);
}

static enum leat_status begin(struct show_out *o, const char *title, struct leat_error *err)
{
    (void)o;
    (void)title;
    (void)err;
    return LEAT_OK;
}

void show_print_legend(const struct show_out *o)
{
    if (o->rows == 0 && !o->colour)
        printf(SHOW_MARK " begins a token, " SHOW_MARK_IDLE " one whose label has no loss, " SHOW_PART
                         " what a token has of the character before it; " SHOW_NAME_OPEN "..." SHOW_NAME_END
                         " is a special token, " SHOW_NEWLINE " a newline, " SHOW_TAB
                         " a tab, \\x0d a control character or a byte that is no character\n\n");
}

void show_print_heading(const struct show_out *o, const struct show_row *row)
{
    style(o, show_styles.heading);
    show_put_heading(stdout, put, row);
    style(o, show_styles.plain);
    putchar('\n');
}

static void print_row(struct show_out *o, const struct show_row *row)
{
    if (row->count == 0 || row->stretches[0].words->tokenizer)
        show_print_legend(o);
    else if (o->rows == 0)
        printf("the dataset stores no tokenizer, so ids are shown%s%s; --tokenizer names one\n\n",
               o->colour ? "" : ", after " SHOW_MARK_IDLE, o->colour ? "" : " where the label has no loss");
    if (o->rows++ > 0)
        putchar('\n');
    show_print_heading(o, row);
    for (size_t i = 0; i < row->count; i++) {
        if (row->text_bytes == LEAT_NONE) {
            style(o, show_styles.soft);
            fputs(RULE " ", stdout);
            show_put_border(stdout, put, row, &row->stretches[i]);
            style(o, show_styles.plain);
            putchar('\n');
        }
        if (row->stretches[i].words->tokenizer)
            put_stretch(o, row, &row->stretches[i]);
        else
            put_ids(o, row, &row->stretches[i]);
    }
    if (row->filled < row->length) {
        style(o, show_styles.soft);
        fputs(RULE " ", stdout);
        show_put_padding(stdout, row);
        style(o, show_styles.plain);
        putchar('\n');
    }
}

static enum leat_status end(struct show_out *o, int failed, struct leat_error *err)
{
    (void)o;
    (void)failed;
    (void)err;
    return LEAT_OK;
}

const struct show_form show_as_text = { .begin = begin, .row = print_row, .end = end };
