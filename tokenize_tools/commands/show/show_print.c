/* show_print.c: prints rows as text. */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/grow.h"
#include "base/show.h"
#include "base/status.h"
#include "base/utf8.h"
#include "cli/units.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Places of a line ---- */

/* The number of columns of a terminal that a character takes. Terminals differ on rare characters: they agree on the
 * letters of CJK, on marks that stand on the letter before them, and on most emoji. */

/* Rising ranges of characters that take two places: East Asian Width W and F, in whole blocks. */
static const struct {
    uint32_t first, last;
} wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
    { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff01, 0xff60 },
    { 0xffe0, 0xffe6 },   { 0x16fe0, 0x1b2ff }, { 0x1f300, 0x1f320 }, { 0x1f32d, 0x1f393 }, { 0x1f3a0, 0x1f3ca },
    { 0x1f3e0, 0x1f3f0 }, { 0x1f400, 0x1f4fc }, { 0x1f500, 0x1f53d }, { 0x1f550, 0x1f567 }, { 0x1f5fb, 0x1f64f },
    { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f7e0, 0x1f7eb }, { 0x1f90c, 0x1f9ff }, { 0x1fa70, 0x1faff },
    { 0x20000, 0x3fffd },
};

/* Returns true for marks, and for characters that join letters. (A spacing mark would take a place; the tables do
 * not tell them apart.) Other characters that are never seen are escaped. */
static bool joins(uint32_t c)
{
    return unicode_class(&unicode_classes[UNICODE_RUST], c) & UNICODE_M || c == 0x200c || c == 0x200d;
}

/* Returns the places that a character takes, as show_step() gives it. */
static unsigned show_width(const char *shown, size_t bytes)
{
    size_t size;
    uint32_t c;

    if (utf8_valid_prefix((const uint8_t *)shown, bytes) < bytes || bytes == 0)
        return (unsigned)bytes;
    c = unicode_decode((const uint8_t *)shown, &size);
    if (size < bytes)
        return (unsigned)bytes; /* an escape */
    if (joins(c))
        return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && c >= wide[i].first; i++)
        if (c <= wide[i].last)
            return 2;
    return 1;
}

bool show_needs_base(const struct show_token *t)
{
    const char *text = t->bytes > 0 ? t->text : (const char *)t->last;
    uint64_t bytes = t->bytes > 0 ? t->bytes : t->last_bytes;
    char shown[SHOW_MOST];
    size_t length;

    if (bytes == 0 || text[0] == '\n' || text[0] == '\t')
        return false;
    show_step(text, (size_t)bytes, shown, &length);
    return show_width(shown, length) == 0;
}

/* ---- Titles, of pages too ---- */

static void put_range(FILE *out, const char *what, uint64_t first, uint64_t count)
{
    fprintf(out, "%s %" PRIu64 ":%" PRIu64, what, first, first + count);
}

/* Writes which tokens these are, and where they come from. */
static void put_origin(FILE *out, show_put *put, const struct show_stretch *x)
{
    if (x->document != LEAT_NONE)
        fprintf(out, "document %" PRIu64, x->document);
    else
        fputs("documents not known", out);
    if (x->source) {
        fputs(" of ", out);
        put(out, x->source, strlen(x->source));
    }
    if (x->literal)
        fputs(", put in", out);
    if (x->first > 0)
        fprintf(out, " from its token %" PRIu64 " on", x->first);
    if (x->origin.path) {
        fputs(", ", out);
        put(out, x->origin.path, x->origin.path_bytes);
        fprintf(out, ":%" PRIu64, x->origin.at.offset);
    }
    if (x->origin.id) {
        fputs(", id ", out);
        put(out, x->origin.id, x->origin.id_bytes);
    }
}

/* Returns how many places of a stretch count. */
static uint64_t counting(const struct show_row *row, const struct show_stretch *x)
{
    uint64_t n = 0;

    for (uint64_t i = x->at; i < x->at + x->places; i++)
        n += show_counts(row, i) > 0;
    return n;
}

void show_put_border(FILE *out, show_put *put, const struct show_row *row, const struct show_stretch *x)
{
    put_origin(out, put, x);
    if (!row->loss) {
        fprintf(out, "; %s", units_counted(x->places, "token").text);
        return;
    }
    put_range(out, "; places", x->at, x->places);
    if (row->positions && x->places > 0)
        put_range(out, ", positions", (uint64_t)row->positions[x->at], x->places);
    fprintf(out, ", %" PRIu64 " %s", counting(row, x), row->learned ? "learned" : "with loss");
    if (x->gap > 0)
        fprintf(out, ", the last %" PRIu64 " padding", x->gap);
}

void show_put_padding(FILE *out, const struct show_row *row)
{
    put_range(out, "padding: places", row->filled, row->length - row->filled);
}

void show_put_heading(FILE *out, show_put *put, const struct show_row *row)
{
    if (row->title)
        put(out, row->title, strlen(row->title));
    else
        fprintf(out, "sample %" PRIu64 ": position %" PRIu64 ", row %" PRIu64 ", epoch %" PRIu64, row->sample->number,
                row->position, row->row, row->sample->epoch);
    if (row->text_bytes == LEAT_NONE || row->text_bytes == 0 || row->length == 0)
        return;
    fprintf(out, ": %s, %.2f tokens per byte, %.2f bytes per token", units_counted(row->length, "token").text,
            (double)row->length / (double)row->text_bytes, (double)row->text_bytes / (double)row->length);
}

/* ---- Rows, one below the other ---- */

/*
 * Rows as text. On a terminal with colours tokens have two alternating shades; elsewhere a mark stands before each.
 * Everything that comes from data goes through cli_put(), so that no text can send a terminal a command, end a line or
 * turn its direction.
 */

/* Dark letters on light shades, so that both kinds of background will do. */
const struct show_styles show_styles = {
    .shades = { "\033[38;5;16;48;5;153m", "\033[38;5;16;48;5;222m" },
    .idle_shades = { "\033[38;5;240;48;5;254m", "\033[38;5;240;48;5;250m" },
    .special = "\033[1;38;5;231;48;5;54m",
    .heading = "\033[1m",
    .soft = "\033[38;5;244m",
    .plain = "\033[0m",
    .learned_shades = { { "\033[38;5;16;48;5;194m", "\033[38;5;16;48;5;157m", "\033[38;5;16;48;5;120m",
                          "\033[38;5;16;48;5;83m" },
                        { "\033[38;5;16;48;5;193m", "\033[38;5;16;48;5;156m", "\033[38;5;16;48;5;119m",
                          "\033[38;5;16;48;5;76m" } },
};

/* Marks before a learned token, by its weight. */
static const char *const learned_marks[] = { "\u258f", "\u258e", "\u258d", "\u258c",
                                             "\u258b", "\u258a", "\u2589", "\u2588" };

/* Return the mark of a place, and its shade. */
static const char *mark_of(const struct show_row *row, uint64_t place)
{
    unsigned counts = show_counts(row, place);

    return counts == 0    ? SHOW_MARK_IDLE
           : row->learned ? learned_marks[counts < 16 ? 0 : (8 * counts + 127) / 255 - 1]
                          : SHOW_MARK;
}

static const char *shade_of(const struct show_row *row, uint64_t place)
{
    unsigned counts = show_counts(row, place);

    return counts == 0    ? show_styles.idle_shades[place % 2]
           : row->learned ? show_styles.learned_shades[place % 2][counts < 32 ? 0 : (4 * counts + 127) / 255 - 1]
                          : show_styles.shades[place % 2];
}

#define RULE "\u2514\u2500" /* begins a line about what stands above it */

static void style(const struct show_out *o, const char *codes)
{
    if (o->colour)
        fputs(codes, stdout);
}

/* Prints the text of a token. A newline is shown and then printed; no shade reaches beyond it. */
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

/* Returns true if a token ends the line that is printed. */
static bool put_token(const struct show_out *o, const struct show_token *t, const char *shade)
{
    bool named = t->special && (!o->colour || o->learned); /* whose shade says whether it is learned */

    shade = t->special && !o->learned ? show_styles.special : shade;
    if (named)
        fputs(SHOW_NAME_OPEN, stdout);
    style(o, shade);
    if (t->continues)
        fputs(SHOW_PART, stdout);
    if (show_needs_base(t))
        fputs(SHOW_BASE, stdout);
    put_bytes(o, t->text, t->bytes, shade);
    put_bytes(o, (const char *)t->last, t->last_bytes, shade);
    style(o, show_styles.plain);
    if (named)
        fputs(SHOW_NAME_END, stdout);
    return !t->special && t->last_bytes == 0 && t->bytes > 0 && t->text[t->bytes - 1] == '\n';
}

#define LINE_COLUMNS 100

/* Prints numbers, if there is no tokenizer, in lines of some width. */
static void put_ids(const struct show_out *o, const struct show_row *row, const struct show_stretch *x)
{
    int column = 0;

    for (uint64_t i = x->at; i < x->at + x->places && !cli_stdout_failed(); i++) {
        bool counts = show_counts(row, i) > 0;
        char label[32] = "";

        if (show_other_label(row, i))
            snprintf(label, sizeof label, "\u2192%" PRId64, row->labels[i]);
        style(o, counts ? show_styles.plain : show_styles.soft);
        column += printf("%s%" PRId64 "%s", counts || o->colour ? "" : SHOW_MARK_IDLE, row->ids[i], label);
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
        if (!o->colour)
            fputs(mark_of(row, i), stdout);
        show_reader_next(&reader, &t);
        ended = put_token(o, &t, shade_of(row, i));
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

static void put_text(FILE *out, const char *text, uint64_t bytes)
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

/* Prints the meaning of the marks below the last row; with colours there are none. */
static void show_print_legend(const struct show_out *o)
{
    if (o->rows > 0 && !o->colour)
        printf("\n%s, " SHOW_PART " what a token has of the character before it; " SHOW_NAME_OPEN "..." SHOW_NAME_END
               " is a special token, " SHOW_NEWLINE " a newline, " SHOW_TAB
               " a tab, \\x0d a control character or a byte that is no character\n",
               o->learned ? "\u2588 begins a token that is learned, \u258c one that counts half, " SHOW_MARK_IDLE
                            " one that is not learned"
                          : SHOW_MARK " begins a token, " SHOW_MARK_IDLE " one whose label has no loss");
}

static void show_print_heading(const struct show_out *o, const struct show_row *row)
{
    style(o, show_styles.heading);
    show_put_heading(stdout, put_text, row);
    style(o, show_styles.plain);
    putchar('\n');
}

/* Prints the row's heading, then each of its texts with a line below that says what it is. */
static void print_row(struct show_out *o, const struct show_row *row)
{
    if (o->rows++ > 0)
        putchar('\n');
    show_print_heading(o, row);
    for (size_t i = 0; i < row->count; i++) {
        o->numbers = !row->stretches[i].words->tokenizer;
        if (o->numbers)
            put_ids(o, row, &row->stretches[i]);
        else
            put_stretch(o, row, &row->stretches[i]);
        if (row->text_bytes == LEAT_NONE) {
            style(o, show_styles.soft);
            fputs(RULE " ", stdout);
            show_put_border(stdout, put_text, row, &row->stretches[i]);
            style(o, show_styles.plain);
            putchar('\n');
        }
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
    (void)err;
    if (failed)
        return LEAT_OK;
    if (!o->numbers)
        show_print_legend(o);
    else
        printf("\nthe dataset stores no tokenizer, so ids are shown%s%s; --tokenizer names one\n",
               o->colour ? "" : ", after " SHOW_MARK_IDLE,
               o->colour    ? ""
               : o->learned ? " where they are not learned"
                            : " where the label has no loss");
    return LEAT_OK;
}

const struct show_form show_as_text = { .begin = begin, .row = print_row, .end = end };

/* ---- Columns, side by side ---- */

/*
 * One text as several tokenizers cut it, side by side. Each has a column, in which the text's lines begin at the
 * same height. A row becomes cells (lines of its column) when it comes; all are printed at the end. Shades and marks
 * are those of show_print.c.
 */

#define USUAL_PLACES 100u /* width of a line if the output is no terminal */
#define LEAST_PLACES 18u  /* of a column */
#define BETWEEN      2u

struct cell {
    size_t end; /* end of its bytes, which begin where the last cell ends */
    unsigned width;
    bool last; /* true if the text's line ends here */
};

struct show_column {
    struct buffer bytes; /* of all cells */
    struct cell *cells;
    size_t count, room;
    unsigned width; /* width of the present cell */
    size_t next;    /* while printing */
    char *name;
};

unsigned show_columns_places(size_t count)
{
    struct winsize size;
    unsigned all = cli_stdout_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
                       ? size.ws_col
                       : USUAL_PLACES;
    unsigned gaps = count > 1 && count < all ? (unsigned)(count - 1) * BETWEEN : 0;

    if (count < 2 || count >= all || gaps >= all || (all - gaps) / count < LEAST_PLACES)
        return 0;
    return (all - gaps) / (unsigned)count;
}

/* ---- Filling ---- */

/* The state while a row is put. The first error stays. */
struct filling {
    struct show_column *column;
    unsigned places;
    bool colour;
    const char *shade;
    enum leat_status status;
    struct leat_error *err;
};

static void fill_column(struct filling *f, const char *text, size_t bytes)
{
    if (f->status == LEAT_OK)
        f->status = buffer_append(&f->column->bytes, text, bytes, f->err);
}

static void fill_style(struct filling *f, const char *codes)
{
    if (f->colour)
        fill_column(f, codes, strlen(codes));
}

static void end_cell(struct filling *f, bool last)
{
    struct show_column *c = f->column;

    fill_style(f, show_styles.plain);
    if (f->status == LEAT_OK)
        f->status = GROW(c->cells, c->count + 1, c->room, f->err);
    if (f->status != LEAT_OK)
        return;
    c->cells[c->count++] = (struct cell) { c->bytes.size, c->width, last };
    c->width = 0;
}

/* Puts one character, or what is shown for it. */
static void put_shown(struct filling *f, const char *shown, size_t bytes)
{
    unsigned width = show_width(shown, bytes);

    if (f->column->width + width > f->places) {
        end_cell(f, false);
        fill_style(f, f->shade);
    }
    fill_column(f, shown, bytes);
    f->column->width += width;
}

static void put_mark(struct filling *f, const char *mark)
{
    if (!f->colour)
        put_shown(f, mark, strlen(mark));
}

static void fill_bytes(struct filling *f, const char *text, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes && f->status == LEAT_OK;) {
        char shown[SHOW_MOST];
        size_t length;

        if (text[at] == '\n' || text[at] == '\t') {
            const char *mark = text[at] == '\n' ? SHOW_NEWLINE : SHOW_TAB;

            put_shown(f, mark, strlen(mark));
            if (text[at++] == '\n') {
                end_cell(f, true);
                fill_style(f, f->shade);
            }
            continue;
        }
        at += show_step(text + at, (size_t)(bytes - at), shown, &length);
        put_shown(f, shown, length);
    }
}

static void fill_token(struct filling *f, const struct show_token *t, uint64_t place)
{
    f->shade = t->special ? show_styles.special : show_styles.shades[place % 2];
    put_mark(f, SHOW_MARK);
    if (t->special)
        put_mark(f, SHOW_NAME_OPEN);
    fill_style(f, f->shade);
    if (t->continues)
        put_shown(f, SHOW_PART, strlen(SHOW_PART));
    if (show_needs_base(t))
        put_shown(f, SHOW_BASE, strlen(SHOW_BASE));
    fill_bytes(f, t->text, t->bytes);
    fill_bytes(f, (const char *)t->last, t->last_bytes);
    fill_style(f, show_styles.plain);
    if (t->special)
        put_mark(f, SHOW_NAME_END);
}

static enum leat_status begin_columns(struct show_out *o, const char *title, struct leat_error *err)
{
    (void)title;
    o->columns = calloc(o->column_room, sizeof *o->columns);
    return o->columns ? LEAT_OK : status_no_memory(err, o->column_room * sizeof *o->columns);
}

static enum leat_status fill_row(struct show_out *o, const struct show_row *row, struct leat_error *err)
{
    struct show_column *c = &o->columns[o->column_count++];
    struct filling f = { c, o->column_places, o->colour, "", LEAT_OK, err };
    struct show_reader reader;

    c->name = strdup(row->title);
    if (!c->name)
        return status_no_memory(err, strlen(row->title));
    show_reader_begin(&reader, row, &row->stretches[0]);
    for (uint64_t i = 0; i < row->filled && f.status == LEAT_OK; i++) {
        struct show_token t;

        show_reader_next(&reader, &t);
        fill_token(&f, &t, i);
    }
    if (c->width > 0)
        end_cell(&f, true);
    return f.status;
}

static void take_row(struct show_out *o, const struct show_row *row)
{
    struct leat_error err;

    show_print_heading(o, row);
    o->rows++;
    if (o->status == LEAT_OK && (o->status = fill_row(o, row, &err)) != LEAT_OK)
        o->err = err;
}

/* ---- Printing ---- */

static void put_blanks(unsigned count)
{
    printf("%*s", (int)count, "");
}

static void print_names(const struct show_out *o)
{
    fputs(o->colour ? show_styles.heading : "", stdout);
    for (size_t i = 0; i < o->column_count; i++) {
        const char *name = o->columns[i].name;
        size_t bytes = strlen(name), length;
        unsigned width = 0;
        char shown[SHOW_MOST];

        for (size_t at = 0; at < bytes;) {
            at += show_step(name + at, bytes - at, shown, &length);
            if (width + show_width(shown, length) > o->column_places)
                break;
            fwrite(shown, 1, length, stdout);
            width += show_width(shown, length);
        }
        if (i + 1 < o->column_count)
            put_blanks(o->column_places - width + BETWEEN);
    }
    fputs(o->colour ? show_styles.plain : "", stdout);
    putchar('\n');
}

/* Prints the next cell of a column. Returns true if the text's line ends with it. */
static bool print_cell(struct show_column *c, unsigned *width)
{
    size_t first = c->next > 0 ? c->cells[c->next - 1].end : 0;

    fwrite(c->bytes.bytes + first, 1, c->cells[c->next].end - first, stdout);
    *width = c->cells[c->next].width;
    return c->cells[c->next++].last;
}

/* Prints a line of the text: as many cells as the longest column has for it. */
static void print_line(struct show_out *o, bool *done)
{
    bool all = false;

    memset(done, 0, o->column_count * sizeof *done);
    while (!all) {
        unsigned blanks = 0;

        all = true;
        for (size_t i = 0; i < o->column_count; i++) {
            struct show_column *c = &o->columns[i];
            unsigned width = 0;

            done[i] = done[i] || c->next == c->count;
            if (!done[i]) {
                put_blanks(blanks);
                blanks = 0;
                done[i] = print_cell(c, &width);
            }
            blanks += o->column_places - width + BETWEEN;
            all = all && done[i];
        }
        putchar('\n');
    }
}

static void print_all(struct show_out *o, bool *done)
{
    bool more = true;

    putchar('\n');
    print_names(o);
    while (more && !cli_stdout_failed()) {
        more = false;
        for (size_t i = 0; i < o->column_count; i++)
            more = more || o->columns[i].next < o->columns[i].count;
        if (more)
            print_line(o, done);
    }
}

static enum leat_status end_columns(struct show_out *o, int failed, struct leat_error *err)
{
    bool *done = calloc(o->column_room, sizeof *done);
    enum leat_status s = o->status;

    if (s != LEAT_OK)
        *err = o->err;
    else if (!done)
        s = status_no_memory(err, o->column_room);
    if (s == LEAT_OK && !failed) {
        print_all(o, done);
        show_print_legend(o);
    }
    for (size_t i = 0; i < o->column_count; i++) {
        buffer_free(&o->columns[i].bytes);
        free(o->columns[i].cells);
        free(o->columns[i].name);
    }
    free(o->columns);
    free(done);
    return s;
}

const struct show_form show_as_columns = { .begin = begin_columns, .row = take_row, .end = end_columns };
