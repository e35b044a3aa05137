/*
 * chart_frame.h: what charts share: the place for the data, axes with ticks, and the mapping of numbers to it.
 */
#ifndef LEAT_PAGES_CHART_FRAME_H
#define LEAT_PAGES_CHART_FRAME_H

#include "chart.h"

#define CHART_WIDTH 480 /* units of the SVG: about pixels on a phone */

/* An axis from `low` to `high`; a logarithmic one starts at 1 or above 0. */
struct chart_axis {
    double low, high, step; /* step: between ticks; of a logarithmic one the factor */
    int log;
    double from, to; /* in the SVG: where low and high are */
};

/* An axis with round ticks that has room for all from `low` to `high`. */
struct chart_axis chart_axis(double low, double high, int log, double from, double to);
double chart_at(const struct chart_axis *a, double value);

void chart_open(FILE *out, const char *title, int height);
void chart_close(FILE *out);

/* Ticks and their numbers: below the data, with lines up to `top`; and left of it, with lines to `right`. */
void chart_axis_below(FILE *out, const struct chart_axis *a, double bottom, double top, const char *unit);
void chart_axis_left(FILE *out, const struct chart_axis *a, double left, double right, const char *unit);

/* The attributes of a series: how areas are filled, by chart_patterns(). */
const char *chart_fill(unsigned series);

#endif
