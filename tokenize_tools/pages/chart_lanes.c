/* chart_lanes.c: times one after the other, in lanes; see chart.h. */
#include "chart_frame.h"
#include "page.h"

#define TOP    30.0 /* room for a lane's name above its bar */
#define HEIGHT 22.0
#define ROW    18.0 /* of a legend */

static const char *fill(const struct chart_part *p)
{
    return p->idle ? "fill=\"none\" stroke=\"var(--soft)\" stroke-dasharray=\"3 3\"" : chart_fill(p->series);
}

static double of_lane(const struct chart_lane *lane)
{
    double sum = 0;

    for (size_t i = 0; i < lane->count; i++)
        sum += lane->parts[i].value;
    return sum;
}

static void put_lane(FILE *out, const struct chart_lane *lane, const struct chart_axis *x, double y)
{
    double at = 0;

    fprintf(out, "<text x=\"8\" y=\"%.1f\">", y - 6);
    page_string(out, lane->name);
    fputs("</text>\n", out);
    for (size_t i = 0; i < lane->count; i++) {
        double from = chart_at(x, at);

        at += lane->parts[i].value;
        if (lane->parts[i].value > 0)
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", from, y,
                    chart_at(x, at) - from, HEIGHT, fill(&lane->parts[i]));
    }
}

static void put_legend(FILE *out, const struct chart_lane *lane, double *y, const char *unit)
{
    for (size_t i = 0; i < lane->count; i++) {
        const struct chart_part *p = &lane->parts[i];

        if (!(p->value > 0))
            continue;
        fprintf(out, "<rect x=\"8\" y=\"%.1f\" width=\"24\" height=\"11\" %s/><text x=\"40\" y=\"%.1f\">", *y - 10,
                fill(p), *y);
        page_string(out, lane->name);
        fputs(": ", out);
        page_string(out, p->name);
        fprintf(out, ", %s ", chart_number(p->value).text);
        page_string(out, unit);
        fputs("</text>\n", out);
        *y += ROW;
    }
}

void chart_lanes(FILE *out, const char *title, const char *unit, const struct chart_lane *lanes, size_t count)
{
    double longest = 0, bottom = (TOP + HEIGHT) * (double)count + 8, y = bottom + 52, legend = 0;
    struct chart_axis x;

    for (size_t i = 0; i < count; i++) {
        longest = of_lane(&lanes[i]) > longest ? of_lane(&lanes[i]) : longest;
        for (size_t k = 0; k < lanes[i].count; k++)
            legend += lanes[i].parts[k].value > 0 ? ROW : 0;
    }
    x = chart_axis(0, longest, 0, 8, CHART_WIDTH - 22.0);
    chart_open(out, title, (int)(bottom + 40 + legend));
    chart_axis_below(out, &x, bottom, 8, unit);
    for (size_t i = 0; i < count; i++)
        put_lane(out, &lanes[i], &x, TOP + (TOP + HEIGHT) * (double)i);
    for (size_t i = 0; i < count; i++)
        put_legend(out, &lanes[i], &y, unit);
    chart_close(out);
}
