/* show_page.c: prints rows as a page. A token's numbers are its title, and stand in a table that opens. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "show.h"

#define TABLE_PLACES ((uint64_t)1 << 15) /* number of places in the table of all rows, each of which takes 150 bytes */

static const char page_style[] =
    ".flow{font:.95rem/1.75 ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;white-space:pre-wrap;"
    "margin:.3rem 0 .8rem}"
    ".flow>span{unicode-bidi:isolate;border-left:1px solid var(--line);padding:.1em 0}"
    ".a{background:var(--shade1)}.b{background:var(--shade2)}"
    ".i{color:var(--soft);text-decoration:underline dotted}.i.a{background:var(--idle1)}.i.b{background:var(--idle2)}"
    ".s{background:var(--special);color:var(--on-special);border-radius:.2em;padding:.1em .25em;font-weight:600}"
    ".l{color:var(--soft);border:1px dashed var(--soft)}.w{color:var(--byte)}.p{color:var(--soft)}"
    "section{border-top:2px solid var(--line);margin-top:1rem}section h2{font-size:1rem;margin:.3rem 0}"
    ".border{color:var(--soft);font-size:.9rem;margin:-.4rem 0 .6rem}"
    ".beside{display:flex;flex-wrap:wrap;gap:1.5rem}.beside>section{flex:1 1 22rem;min-width:0}"
    "td.mono{white-space:pre-wrap}"
    "#key{background:var(--box);padding:.5rem .8rem;font-size:.9rem;margin-top:1.5rem}#key span{padding:.1em .3em}";

/* Explains the signs. This comes last, since the text comes first. */
static void put_key(const struct show_out *o)
{
    fputs("<p id=\"key\" class=\"flow\"><span class=\"a\">a token</span><span class=\"b\">the next</span> "
          "<span class=\"s\">special token</span> <span class=\"a\"><span class=\"w\">\\x0d</span></span> a control "
          "character or a byte that is no character, <span class=\"p\">" SHOW_PART
          "</span> what a token has of the character before it, \u21b5 a newline, \u21e5 a tab, " SHOW_BASE
          " below a mark without its letter",
          o->page.out);
    if (o->learned)
        fputs("; <span class=\"a\" style=\"box-shadow:inset 0 -.5em var(--learned)\">learned</span>, the higher the "
              "more it counts",
              o->page.out);
    else if (!o->beside)
        fputs("; <span class=\"i a\">its label</span><span class=\"i b\"> has no loss</span>; <span class=\"l\">\u2192 "
              "label</span> that is not the next token",
              o->page.out);
    fputs("</p>\n", o->page.out);
}

static enum leat_status begin(struct show_out *o, const char *title, struct leat_error *err)
{
    enum leat_status s = page_open(&o->page, o->path, title, page_style, err);

    if (s != LEAT_OK)
        return s;
    if (o->beside)
        fputs("<div class=\"beside\">\n", o->page.out);
    return LEAT_OK;
}

/* Writes one character, or its escape: escapes of page_text() get a class, and `end` comes after a newline. */
static size_t put_character(FILE *out, const char *text, size_t bytes, const char *end)
{
    size_t size = 1, most = (unsigned char)text[0] < 0x80 ? 1 : bytes;

    if (text[0] == '\n' || text[0] == '\t') {
        fprintf(out, "%s%s", text[0] == '\n' ? "\u21b5" : "\u21e5", text[0] == '\n' ? end : "");
        return 1;
    }
    while (size < most && ((unsigned char)text[size] & 0xc0) == 0x80)
        size++;
    if (page_shows(text, size)) {
        page_text(out, text, size);
        return size;
    }
    fputs("<span class=\"w\">", out);
    page_text(out, text, size);
    fputs("</span>", out);
    return size;
}

static void put_text(FILE *out, const struct show_token *t, const char *end)
{
    if (t->continues)
        fputs("<span class=\"p\">" SHOW_PART "</span>", out);
    if (show_needs_base(t))
        fputs(SHOW_BASE, out);
    for (uint64_t at = 0; at < t->bytes;)
        at += put_character(out, t->text + at, (size_t)(t->bytes - at), end);
    if (t->last_bytes > 0)
        put_character(out, (const char *)t->last, t->last_bytes, end);
}

static void put_token(FILE *out, struct show_reader *r)
{
    const struct show_row *row = r->row;
    uint64_t place = r->next;
    unsigned counts = show_counts(row, place);
    struct show_token t;

    show_reader_next(r, &t);
    fprintf(out, "<span class=\"%s%s\" title=\"place %" PRIu64 ", id %" PRId64, counts ? "" : "i ",
            t.special   ? "s"
            : place % 2 ? "b"
                        : "a",
            place, row->ids[place]);
    if (row->positions)
        fprintf(out, ", position %" PRId64, row->positions[place]);
    if (row->labels && counts)
        fprintf(out, ", label %" PRId64, row->labels[place]);
    if (t.continues)
        fputs(", with a part of the character before it", out);
    if (row->learned)
        fprintf(out, ", %s\" style=\"box-shadow:inset 0 -%.2fem var(--learned)\">", counts ? "learned" : "not learned",
                0.5 * counts / UINT8_MAX);
    else
        fprintf(out, "%s\">", counts ? "" : ", no loss");
    put_text(out, &t, "\n");
    fputs("</span>", out);
    if (!show_other_label(row, place))
        return;
    show_reader_label(r, &t);
    fputs("<span class=\"l\">\u2192 ", out);
    put_text(out, &t, ""); /* a line break here would cut the box in two */
    fputs("</span>", out);
}

static void put_cells(FILE *out, const struct show_row *row, uint64_t place, const struct show_token *t)
{
    fprintf(out,
            "<tr><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRId64
            "</td><td class=\"mono\"><span class=\"%c\">",
            place, row->ids[place],
            t->special  ? 's'
            : place % 2 ? 'b'
                        : 'a');
    put_text(out, t, "\n");
    fputs("</span></td>", out);
    if (row->labels)
        fprintf(out, "<td class=\"n\">%" PRId64 "</td><td class=\"n\">%d</td>", row->labels[place], row->loss[place]);
    if (row->positions)
        fprintf(out, "<td class=\"n\">%" PRId64 "</td>", row->positions[place]);
    fputs("</tr>\n", out);
}

static void put_table(struct show_out *o, const struct show_row *row)
{
    FILE *out = o->page.out;
    struct show_reader reader;
    struct show_token t;

    o->places += row->filled;
    if (o->places > TABLE_PLACES) {
        fputs("<p class=\"soft\">The page has no table of these places: there are too many. --json has all "
              "numbers.</p>\n",
              out);
        return;
    }
    fprintf(out,
            "<details><summary>%s as a table</summary><div class=\"wide\"><table>\n<tr><th class=\"n\">place</th>"
            "<th class=\"n\">id</th><th>token</th>",
            units_counted(row->filled, "place").text);
    if (row->labels)
        fputs("<th class=\"n\">label</th><th class=\"n\">loss</th>", out);
    fprintf(out, "%s</tr>\n", row->positions ? "<th class=\"n\">position</th>" : "");
    for (size_t n = 0; n < row->count; n++) {
        show_reader_begin(&reader, row, &row->stretches[n]);
        for (uint64_t i = 0; i < row->stretches[n].places; i++) {
            show_reader_next(&reader, &t);
            put_cells(out, row, row->stretches[n].at + i, &t);
        }
    }
    fputs("</table></div></details>\n", out);
}

/* Writes the row's heading, then each of its texts with a line below that says what it is. */
static void put_row(struct show_out *o, const struct show_row *row)
{
    FILE *out = o->page.out;
    struct show_reader reader;

    fputs("<section>\n<h2>", out);
    show_put_heading(out, page_text, row);
    fputs("</h2>\n", out);
    for (size_t n = 0; n < row->count; n++) {
        const struct show_stretch *x = &row->stretches[n];

        fputs("<div class=\"flow\">", out);
        show_reader_begin(&reader, row, x);
        for (uint64_t i = 0; i < x->places; i++)
            put_token(out, &reader);
        fputs("</div>\n", out);
        if (row->text_bytes == LEAT_NONE) {
            fputs("<p class=\"border\">", out);
            show_put_border(out, page_text, row, x);
            fputs("</p>\n", out);
        }
    }
    if (row->filled < row->length) {
        fputs("<p class=\"border\">", out);
        show_put_padding(out, row);
        fputs("</p>\n", out);
    }
    put_table(o, row);
    fputs("</section>\n", out);
    o->rows++;
}

static enum leat_status end(struct show_out *o, int failed, struct leat_error *err)
{
    enum leat_status s;

    if (o->beside)
        fputs("</div>\n", o->page.out);
    put_key(o);
    s = page_close(&o->page, failed, err);
    if (s == LEAT_OK && o->page.bytes > 0)
        cli_say("%s: %s, %s.", o->path, units_counted(o->rows, o->beside ? "tokenizer" : "row").text,
                units_bytes(o->page.bytes).text);
    return s;
}

const struct show_form show_as_page = { .begin = begin, .row = put_row, .end = end };
