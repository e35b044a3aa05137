/* chart.c: see chart.h. */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "page.h"

/* ---- The frame ---- */

#define CHART_WIDTH 480 /* units of the SVG: about pixels on a phone */

/* An axis from `low` to `high`; a logarithmic one starts at 1 or above 0. */
struct chart_axis {
    double low, high, step; /* step: between ticks; of a logarithmic one the factor */
    int log;
    double from, to; /* in the SVG: where low and high are */
};

#define TICKS     5     /* about so many */
#define MIN_VALUE 1e-12 /* of axes: what a file says must not make ticks without end */
#define MAX_VALUE 1e30

/* A number in three digits or so, with k M G T: "1.5M", "0.25". Returned by value, for printf. */
struct chart_number {
    char text[24];
};

static struct chart_number chart_number(double value)
{
    static const char units[] = " kMGTPE";
    struct chart_number n;
    double size = fabs(value);
    unsigned k = 0;

    while (size >= 999.5 && units[k + 1]) {
        size /= 1000;
        value /= 1000;
        k++;
    }
    snprintf(n.text, sizeof n.text, "%.3g%.*s", value, k > 0, units + k);
    return n;
}

/* 1, 2 or 5 times a power of ten, not below `step`. */
static double round_step(double step)
{
    static const double digits[] = { 1, 2, 5, 10 };
    double power = pow(10, floor(log10(step)));
    unsigned i = 0;

    while (digits[i] * power < step * (1 - 1e-9) && i < 3)
        i++;
    return digits[i] * power;
}

/* An axis with round ticks that has room for all from `low` to `high`. */
static struct chart_axis chart_axis(double low, double high, int log, double from, double to)
{
    struct chart_axis a = { .log = log, .from = from, .to = to };

    high = high > 0 ? fmin(high, MAX_VALUE) : 1;
    if (log) {
        double decades;

        a.low = pow(10, floor(log10(fmax(low, MIN_VALUE))));
        a.high = pow(10, ceil(log10(high)));
        a.high = a.high > a.low ? a.high : 10 * a.low;
        decades = round(log10(a.high / a.low));
        a.step = pow(10, ceil(decades / (TICKS + 2)));
        return a;
    }
    a.low = 0;
    a.step = round_step(fmax(high, MIN_VALUE) / TICKS);
    a.high = a.step * ceil(fmax(high, MIN_VALUE) / a.step - 1e-9);
    return a;
}

static double chart_at(const struct chart_axis *a, double value)
{
    double share;

    if (a->log)
        share = value > a->low ? log(value / a->low) / log(a->high / a->low) : 0;
    else
        share = value > a->low ? (value - a->low) / (a->high - a->low) : 0;
    share = share < 1 ? share : 1;
    return a->from + share * (a->to - a->from);
}

/* The tick after `tick`; the first one is `low`. */
static double chart_next(const struct chart_axis *a, double tick)
{
    return a->log ? tick * a->step : tick + a->step;
}

static void chart_open(FILE *out, const char *title, int height)
{
    fprintf(out, "<figure><svg role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\"><title>", CHART_WIDTH, height,
            CHART_WIDTH + CHART_WIDTH / 4);
    page_string(out, title);
    fputs("</title>\n", out);
}

static void chart_close(FILE *out)
{
    fputs("</svg></figure>\n", out);
}

static void put_line(FILE *out, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>\n", x1, y1, x2, y2);
}

/* Ticks and their numbers: below the data, with lines up to `top`; and left of it, with lines to `right`. */
static void chart_axis_below(FILE *out, const struct chart_axis *a, double bottom, double top, const char *unit)
{
    for (double tick = a->low; tick <= a->high * (1 + 1e-9); tick = chart_next(a, tick)) {
        double x = chart_at(a, tick);

        put_line(out, x, top, x, bottom);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, bottom + 15,
                chart_number(tick).text);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (a->from + a->to) / 2, bottom + 32);
    page_string(out, unit);
    fputs("</text>\n", out);
}

static void chart_axis_left(FILE *out, const struct chart_axis *a, double left, double right, const char *unit)
{
    for (double tick = a->low; tick <= a->high * (1 + 1e-9); tick = chart_next(a, tick)) {
        double y = chart_at(a, tick);

        put_line(out, left, y, right, y);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 5, y + 4,
                chart_number(tick).text);
    }
    fprintf(out, "<text x=\"2\" y=\"12\">");
    page_string(out, unit);
    fputs("</text>\n", out);
}

/* ---- Bars, columns and lines ---- */

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
    size_t longest = 5;
    struct chart_axis x;

    for (size_t i = 0; i < count; i++) {
        most = bars[i].value > most ? bars[i].value : most;
        longest = strlen(bars[i].shown) > longest ? strlen(bars[i].shown) : longest;
    }
    x = chart_axis(0, most, 0, 8, RIGHT - 10 - 7 * (double)longest); /* numbers stand at the ends of bars */
    chart_open(out, title, (int)(bottom + BELOW));
    chart_axis_below(out, &x, bottom, 4, unit);
    for (size_t i = 0; i < count; i++) {
        double y = 8 + 34 * (double)i, end = chart_at(&x, bars[i].value);

        fprintf(out, "<text x=\"10\" y=\"%.1f\">", y + 12);
        put_label(out, bars[i].label, bars[i].label_bytes);
        fprintf(out,
                "</text><rect x=\"8\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"var(--accent)\"/>"
                "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                y + 16, end - 8, end + 4, y + 26, bars[i].shown[0] ? bars[i].shown : chart_number(bars[i].value).text);
    }
    chart_close(out);
}

/* The number of a column: powers of two are known by their digits, unless these are too many. */
static struct chart_number column_number(double value)
{
    struct chart_number n;

    if (value >= 1e4)
        return chart_number(value);
    snprintf(n.text, sizeof n.text, "%g", value);
    return n;
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
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"var(--accent)\"/>\n", x + 1,
                    top < bottom - 1 ? top : bottom - 1, wide - 2, top < bottom - 1 ? bottom - top : 1);
        if (k % every == 0)
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, bottom + 15,
                    column_number(column_first(c, k)).text);
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
