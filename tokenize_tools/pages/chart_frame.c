/* chart_frame.c: see chart_frame.h. */
#include "chart_frame.h"

#include <math.h>
#include <string.h>

#include "page.h"

#define TICKS     5     /* about so many */
#define MIN_VALUE 1e-12 /* of axes: what a file says must not make ticks without end */
#define MAX_VALUE 1e30

struct chart_number chart_number(double value)
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

struct chart_axis chart_axis(double low, double high, int log, double from, double to)
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

double chart_at(const struct chart_axis *a, double value)
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

void chart_open(FILE *out, const char *title, int height)
{
    fprintf(out, "<figure><svg role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\"><title>", CHART_WIDTH, height,
            CHART_WIDTH + CHART_WIDTH / 4);
    page_string(out, title);
    fputs("</title>\n", out);
}

void chart_close(FILE *out)
{
    fputs("</svg></figure>\n", out);
}

static void put_line(FILE *out, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>\n", x1, y1, x2, y2);
}

void chart_axis_below(FILE *out, const struct chart_axis *a, double bottom, double top, const char *unit)
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

void chart_axis_left(FILE *out, const struct chart_axis *a, double left, double right, const char *unit)
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

/* Plain, striped, dotted, lined, and plain in grey: also for paper without colours. */
void chart_patterns(FILE *out)
{
    fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
          "<pattern id=\"fill1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"3\" height=\"6\" fill=\"var(--accent2)\"/></pattern>"
          "<pattern id=\"fill2\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
          "<circle cx=\"3\" cy=\"3\" r=\"1.8\" fill=\"var(--accent3)\"/></pattern>"
          "<pattern id=\"fill3\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
          "<rect width=\"4\" height=\"1.5\" fill=\"var(--accent4)\"/></pattern></defs></svg>\n",
          out);
}

const char *chart_fill(unsigned series)
{
    static const char *const fills[CHART_SERIES] = { "fill=\"var(--accent)\"",
                                                     "fill=\"url(#fill1)\" stroke=\"var(--accent2)\"",
                                                     "fill=\"url(#fill2)\" stroke=\"var(--accent3)\"",
                                                     "fill=\"url(#fill3)\" stroke=\"var(--accent4)\"",
                                                     "fill=\"var(--soft)\"" };

    return fills[series % CHART_SERIES];
}
