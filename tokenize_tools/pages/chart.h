/*
 * chart.h: charts as SVG, written into a page: axes with units, ticks at round numbers, series that differ by pattern
 * and not by colour alone. Widths are those of a phone, and grow with the page. Labels may hold any bytes.
 */
#ifndef LEAT_PAGES_CHART_H
#define LEAT_PAGES_CHART_H

#include <stddef.h>
#include <stdio.h>

#define CHART_SERIES 5u /* that can be told apart */

/* A number in three digits or so, with k M G T: "1.5M", "0.25". Returned by value, for printf. */
struct chart_number {
    char text[24];
};
struct chart_number chart_number(double value);

/* What the areas of charts are filled with: once in a page, before its charts. */
void chart_patterns(FILE *out);

/* A bar: its label stands above it, what it shows at its end. */
struct chart_bar {
    const char *label;
    size_t label_bytes;
    double value;
    unsigned series; /* how it is filled */
    char shown[32];  /* at its end, with a unit; "": the value */
};

/* Lying bars from 0, one below the other. `unit` stands at the axis; it and `title` are the caller's own words. */
void chart_bars(FILE *out, const char *title, const char *unit, const struct chart_bar *bars, size_t count);

/* A histogram whose buckets double: column k counts what is from `first` * 2^k on, or 0 before 1 if `first` is 0. */
struct chart_columns {
    const char *title, *of, *unit; /* of: what is counted; unit: of the axis below */
    double first;                  /* where the first column begins: 0 or a power of 2 */
    const double *counts;
    size_t count;
};
void chart_columns(FILE *out, const struct chart_columns *c);

/* A line through points, and perhaps a dashed one beside it; both axes may be logarithmic. */
struct chart_line {
    const char *title, *x_unit, *y_unit;
    int log_x, log_y;
    const double *x, *y; /* x rises */
    size_t count;
    const double *beside; /* y of the dashed line; NULL: none */
};
void chart_line(FILE *out, const struct chart_line *c);

/* Times one after the other from 0, in lanes one below the other that share an axis: a time line. The legend has the
 * numbers. */
struct chart_part {
    const char *name;
    double value;    /* 0 or more */
    unsigned series; /* how it is filled */
    int idle;        /* an outline instead */
    char shown[32];  /* in the legend, with a unit; "": the value */
};
struct chart_lane {
    const char *name;
    const struct chart_part *parts;
    size_t count;
};
void chart_lanes(FILE *out, const char *title, const char *unit, const struct chart_lane *lanes, size_t count);

#endif
