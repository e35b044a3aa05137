/*
 * chart.h: charts as SVG, written into a page: axes with units, ticks at round numbers. Widths are those of a
 * phone, and grow with the page. Labels may hold any bytes.
 */
#ifndef LEAT_PAGES_CHART_H
#define LEAT_PAGES_CHART_H

#include <stddef.h>
#include <stdio.h>

/* A bar: its label stands above it, what it shows at its end. */
struct chart_bar {
    const char *label;
    size_t label_bytes;
    double value;
    char shown[32]; /* at its end, with a unit; "": the value */
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

/* A line through points; both axes may be logarithmic. */
struct chart_line {
    const char *title, *x_unit, *y_unit;
    int log_x, log_y;
    const double *x, *y; /* x rises */
    size_t count;
};
void chart_line(FILE *out, const struct chart_line *c);

#endif
