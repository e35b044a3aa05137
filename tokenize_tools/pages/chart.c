/* chart.c: see chart.h. */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "chart_frame.h"
#include "page.h"

#define LEFT        46.0 /* room for numbers beside the data */
#define RIGHT       (CHART_WIDTH - 22.0)
#define BELOW       40.0 /* room for numbers and the unit below */
#define LABEL_BYTES 60u  /* of a bar's label: about the chart's width */

/* The end of a label that is too long says more than its beginning: the paths of files. */
static void put_label(FILE *out, const char *label, size_t bytes)
{
    size_t from = bytes > LABEL_BYTES ? bytes - LABEL_BYTES : 0;

    while (from > 0 && from < bytes && ((unsigned char)label[from] & 0xc0) == 0x80)
        from++;
    if (from > 0)
        fputs("\u2026", out);
    page_text(out, label + from, bytes - from);
}

void chart_bars(FILE *out, const char *title, const char *unit, const struct chart_bar *bars, size_t count)
{
    double most = 0, bottom = 8 + 34 * (double)count;
    struct chart_axis x;

    for (size_t i = 0; i < count; i++)
        most = bars[i].value > most ? bars[i].value : most;
    x = chart_axis(0, most, 0, 8, RIGHT - 50); /* numbers stand at the ends of bars */
    chart_open(out, title, (int)(bottom + BELOW));
    chart_axis_below(out, &x, bottom, 4, unit);
    for (size_t i = 0; i < count; i++) {
        double y = 8 + 34 * (double)i, end = chart_at(&x, bars[i].value);

        fprintf(out, "<text x=\"10\" y=\"%.1f\">", y + 12);
        put_label(out, bars[i].label, bars[i].label_bytes);
        fprintf(out,
                "</text><rect x=\"8\" y=\"%.1f\" width=\"%.1f\" height=\"12\" %s/>"
                "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                y + 16, end - 8, chart_fill(bars[i].series), end + 4, y + 26, chart_number(bars[i].value).text);
    }
    chart_close(out);
}

/* Where column k begins, in the axis's numbers. */
static double column_first(const struct chart_columns *c, size_t k)
{
    if (c->first > 0)
        return c->first * exp2((double)k);
    return k == 0 ? 0 : exp2((double)k - 1);
}

void chart_columns(FILE *out, const struct chart_columns *c)
{
    double most = 0, bottom = 210, wide = (RIGHT - LEFT) / (double)(c->count > 0 ? c->count : 1);
    size_t every = 1 + c->count * 36 / (size_t)(RIGHT - LEFT); /* a number is 36 wide */
    struct chart_axis y;

    for (size_t k = 0; k < c->count; k++)
        most = c->counts[k] > most ? c->counts[k] : most;
    y = chart_axis(0, most, 0, bottom, 24);
    chart_open(out, c->title, (int)(bottom + BELOW));
    chart_axis_left(out, &y, LEFT, RIGHT, c->of);
    for (size_t k = 0; k < c->count; k++) {
        double x = LEFT + wide * (double)k, top = chart_at(&y, c->counts[k]);

        if (c->counts[k] > 0) /* few is not none */
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x + 1,
                    top < bottom - 1 ? top : bottom - 1, wide - 2, top < bottom - 1 ? bottom - top : 1, chart_fill(0));
        if (k % every == 0)
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, bottom + 15,
                    chart_number(column_first(c, k)).text);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, bottom + 32);
    page_string(out, c->unit);
    fputs("</text>\n", out);
    chart_close(out);
}

/* The mark at a point. */
static void put_mark(FILE *out, double x, double y)
{
    fprintf(out,
            "<path transform=\"translate(%.1f %.1f)\" d=\"M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z\" "
            "fill=\"var(--page)\" stroke=\"var(--accent)\" stroke-width=\"1.5\" stroke-linejoin=\"round\"/>\n",
            x, y);
}

static void put_points(FILE *out, const struct chart_line *line, const struct chart_axis *x, const struct chart_axis *y)
{
    fputs("<polyline fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"2\" points=\"", out);
    for (size_t i = 0; i < line->count; i++)
        fprintf(out, "%.1f,%.1f ", chart_at(x, line->x[i]), chart_at(y, line->y[i]));
    fputs("\"/>\n", out);
    if (line->count <= 32) /* marks of more would hide the line */
        for (size_t i = 0; i < line->count; i++)
            put_mark(out, chart_at(x, line->x[i]), chart_at(y, line->y[i]));
}

/* The range of the values of an axis that can be shown there. */
static void widen(double *low, double *high, const double *values, size_t count, int log)
{
    for (size_t i = 0; i < count; i++) {
        if (log && values[i] <= 0)
            continue;
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

void chart_line(FILE *out, const struct chart_line *c)
{
    double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = 0, bottom = 230;
    struct chart_axis x, y;

    widen(&x_low, &x_high, c->x, c->count, c->log_x);
    widen(&y_low, &y_high, c->y, c->count, c->log_y);
    x = chart_axis(isfinite(x_low) ? x_low : 1, x_high, c->log_x, LEFT, RIGHT);
    y = chart_axis(isfinite(y_low) ? y_low : 1, y_high, c->log_y, bottom, 24);
    chart_open(out, c->title, (int)(bottom + BELOW));
    chart_axis_left(out, &y, LEFT, RIGHT, c->y_unit);
    chart_axis_below(out, &x, bottom, 24, c->x_unit);
    put_points(out, c, &x, &y);
    chart_close(out);
}
