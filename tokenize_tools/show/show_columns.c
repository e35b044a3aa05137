/*
 * show_columns.c: one text as several tokenizers cut it, side by side: a column for each, in which the text's lines
 * begin at the same height. A row becomes cells (lines of its column) when it comes; all are printed at the end. Shades
 * and marks are those of show_print.c.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/show.h"
#include "base/status.h"
#include "show.h"

#define USUAL_PLACES 100u /* of a line where the output is no terminal */
#define LEAST_PLACES 18u  /* of a column */
#define BETWEEN      2u

struct cell {
    size_t end; /* of its bytes, which begin where the last cell's end */
    unsigned width;
    bool last; /* the text's line ends here */
};

struct show_column {
    struct buffer bytes; /* of all cells */
    struct cell *cells;
    size_t count, room;
    unsigned width; /* of the one in progress */
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

/* What goes on while a row is put: the first error stays. */
struct filling {
    struct show_column *column;
    unsigned places;
    bool colour;
    const char *shade;
    enum leat_status status;
    struct leat_error *err;
};

static void put(struct filling *f, const char *text, size_t bytes)
{
    if (f->status == LEAT_OK)
        f->status = buffer_append(&f->column->bytes, text, bytes, f->err);
}

static void style(struct filling *f, const char *codes)
{
    if (f->colour)
        put(f, codes, strlen(codes));
}

static void end_cell(struct filling *f, bool last)
{
    struct show_column *c = f->column;

    style(f, show_styles.plain);
    if (f->status == LEAT_OK && c->count == c->room) {
        size_t room = 2 * c->room + 64;
        struct cell *more = reallocarray(c->cells, room, sizeof *more);

        if (!more) {
            f->status = status_no_memory(f->err, room * sizeof *more);
            return;
        }
        c->cells = more;
        c->room = room;
    }
    if (f->status != LEAT_OK)
        return;
    c->cells[c->count++] = (struct cell) { c->bytes.size, c->width, last };
    c->width = 0;
}

/* One character, or what is shown for it. */
static void put_shown(struct filling *f, const char *shown, size_t bytes)
{
    unsigned width = show_width(shown, bytes);

    if (f->column->width + width > f->places) {
        end_cell(f, false);
        style(f, f->shade);
    }
    put(f, shown, bytes);
    f->column->width += width;
}

static void put_mark(struct filling *f, const char *mark)
{
    if (!f->colour)
        put_shown(f, mark, strlen(mark));
}

static void put_bytes(struct filling *f, const char *text, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes && f->status == LEAT_OK;) {
        char shown[SHOW_MOST];
        size_t length;

        if (text[at] == '\n' || text[at] == '\t') {
            const char *mark = text[at] == '\n' ? SHOW_NEWLINE : SHOW_TAB;

            put_shown(f, mark, strlen(mark));
            if (text[at++] == '\n') {
                end_cell(f, true);
                style(f, f->shade);
            }
            continue;
        }
        at += show_step(text + at, (size_t)(bytes - at), shown, &length);
        put_shown(f, shown, length);
    }
}

static void put_token(struct filling *f, const struct show_token *t, uint64_t place)
{
    f->shade = t->special ? show_styles.special : show_styles.shades[place % 2];
    put_mark(f, SHOW_MARK);
    if (t->special)
        put_mark(f, SHOW_NAME_OPEN);
    style(f, f->shade);
    if (t->continues)
        put_shown(f, SHOW_PART, strlen(SHOW_PART));
    if (show_needs_base(t))
        put_shown(f, SHOW_BASE, strlen(SHOW_BASE));
    put_bytes(f, t->text, t->bytes);
    put_bytes(f, (const char *)t->last, t->last_bytes);
    style(f, show_styles.plain);
    if (t->special)
        put_mark(f, SHOW_NAME_END);
}

static enum leat_status begin(struct show_out *o, const char *title, struct leat_error *err)
{
    (void)title;
    o->columns = calloc(o->column_room, sizeof *o->columns);
    return o->columns ? LEAT_OK : status_no_memory(err, o->column_room * sizeof *o->columns);
}

static enum leat_status fill(struct show_out *o, const struct show_row *row, struct leat_error *err)
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
        put_token(&f, &t, i);
    }
    if (c->width > 0)
        end_cell(&f, true);
    return f.status;
}

static void take_row(struct show_out *o, const struct show_row *row)
{
    struct leat_error err;

    show_print_legend(o);
    show_print_heading(o, row);
    o->rows++;
    if (o->status == LEAT_OK && (o->status = fill(o, row, &err)) != LEAT_OK)
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

/* The next cell of a column; whether the text's line ends with it. */
static bool print_cell(struct show_column *c, unsigned *width)
{
    size_t first = c->next > 0 ? c->cells[c->next - 1].end : 0;

    fwrite(c->bytes.bytes + first, 1, c->cells[c->next].end - first, stdout);
    *width = c->cells[c->next].width;
    return c->cells[c->next++].last;
}

/* A line of the text: as many cells as the longest column has of it. */
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

static enum leat_status end(struct show_out *o, int failed, struct leat_error *err)
{
    bool *done = calloc(o->column_room, sizeof *done);
    enum leat_status s = o->status;

    if (s != LEAT_OK)
        *err = o->err;
    else if (!done)
        s = status_no_memory(err, o->column_room);
    if (s == LEAT_OK && !failed)
        print_all(o, done);
    for (size_t i = 0; i < o->column_count; i++) {
        buffer_free(&o->columns[i].bytes);
        free(o->columns[i].cells);
        free(o->columns[i].name);
    }
    free(o->columns);
    free(done);
    return s;
}

const struct show_form show_as_columns = { .begin = begin, .row = take_row, .end = end };
