// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/plot.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
    WIDTH = 960,
    HEIGHT = 640,
    LEFT = 80,
    RIGHT = 940,
    COLUMNS = 430, // points of a line: more could not be told apart
    GRID = 10,     // lines of a grid at most
};

typedef struct panel {
    const char *label;
    double top, bottom; // pixels
    bool logarithmic;
    double (*value)(const zn_history_point *point);
    const char *colour, *faint;
} panel;

typedef struct drawing {
    zn_writer *file;
    zenith_status status;
    zn_error *err;
    const panel *panel;
    double low, high;   // of the values, or of their logarithms
    double first, last; // steps
} drawing;

static double loss_of(const zn_history_point *point)
{
    return point->loss;
}

static double psnr_of(const zn_history_point *point)
{
    return point->psnr;
}

static const panel panels[] = {
    {"loss", 60, 320, true, loss_of, "#1f5fa8", "#b9d0ea"},
    {"PSNR, dB", 370, 590, false, psnr_of, "#a8481f", "#eccbb9"},
};

static void put(drawing *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(drawing *d, const char *format, ...)
{
    char text[512];
    va_list list;
    if (d->status != ZENITH_OK) return;
    va_start(list, format);
    size_t length = zn_text_format_list(text, sizeof text, format, list);
    va_end(list);
    d->status = zn_writer_write(d->file, text, length, d->err);
}

// --- scales -------------------------------------------------------------------------------------

// The value as it is drawn; NAN where it cannot be.
static double drawn(const drawing *d, const zn_history_point *point)
{
    double value = d->panel->value(point);
    if (!isfinite(value)) return NAN;
    if (!d->panel->logarithmic) return value;
    return value > 0 ? log10(value) : NAN;
}

static void widen(drawing *d, const zn_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        double value = drawn(d, &history->points[i]);
        if (isnan(value)) continue;
        d->low = fmin(d->low, value);
        d->high = fmax(d->high, value);
    }
}

static double x_of(const drawing *d, double step)
{
    double span = d->last > d->first ? d->last - d->first : 1;
    return LEFT + (step - d->first) / span * (RIGHT - LEFT);
}

static double y_of(const drawing *d, double value)
{
    double part = (value - d->low) / (d->high - d->low);
    return d->panel->bottom - part * (d->panel->bottom - d->panel->top);
}

// The next of 1, 2, 5, 10, 20 ... that divides a range into at most `most` parts.
static double nice_step(double range, int most)
{
    double unit = pow(10, floor(log10(range / most)));
    static const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (range / (unit * steps[i]) <= most) return unit * steps[i];
    return unit * 10;
}

// --- parts --------------------------------------------------------------------------------------

static void draw_level(drawing *d, double value, double shown)
{
    double y = y_of(d, value);
    put(d, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y, RIGHT, y);
    put(d, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 8, y + 4, shown);
}

// Of a logarithmic axis over a small range: round values.
static void draw_values(drawing *d)
{
    double low = pow(10, d->low), high = pow(10, d->high), step = nice_step(high - low, GRID);
    for (double v = ceil(low / step) * step; v <= high; v += step) draw_level(d, log10(v), v);
}

// Of a logarithmic axis: 1, 2 and 5 times the powers of ten, or the powers alone where there are
// many.
static void draw_decades(drawing *d)
{
    bool few = d->high - d->low < 3;
    static const double times[] = {1, 2, 5};
    for (double power = floor(d->low); power <= d->high; power++) {
        for (int i = 0; i < (few ? 3 : 1); i++) {
            double value = power + log10(times[i]);
            if (value >= d->low && value <= d->high)
                draw_level(d, value, times[i] * pow(10, power));
        }
    }
}

static void draw_grid(drawing *d)
{
    const panel *p = d->panel;
    double step = nice_step(d->high - d->low, GRID);
    if (p->logarithmic && d->high - d->low < 1)
        draw_values(d);
    else if (p->logarithmic)
        draw_decades(d);
    else
        for (double v = ceil(d->low / step) * step; v <= d->high; v += step) draw_level(d, v, v);
    step = fmax(1, nice_step(fmax(1, d->last - d->first), GRID));
    for (double s = ceil(d->first / step) * step; s <= d->last; s += step) {
        double x = x_of(d, s);
        put(d, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x, p->top,
            x, p->bottom);
        put(d, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n", x, p->bottom + 16,
            s);
    }
    put(d, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", LEFT,
        p->top, RIGHT - LEFT, p->bottom - p->top);
    put(d, "<text class=\"name\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT, p->top - 8, p->label);
}

// The mean of the values of each column of pixels; smoothed, of a running mean of them that forgets
// in about a thirtieth of the run.
static void draw_line(drawing *d, const zn_history *history, bool smoothed)
{
    const panel *p = d->panel;
    size_t count = history->count, columns = count < COLUMNS ? count : COLUMNS;
    double mean = NAN, pace = 1 / fmax(1, (double)columns / 30);
    bool drawing_now = false;
    put(d, "<path class=\"line\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
        smoothed ? p->colour : p->faint, smoothed ? "2" : "1");
    for (size_t c = 0; c < columns; c++) {
        size_t begin = c * count / columns, end = (c + 1) * count / columns, n = 0;
        double sum = 0, step = 0;
        for (size_t i = begin; i < end; i++) {
            double value = drawn(d, &history->points[i]);
            if (isnan(value)) continue;
            sum += value;
            step += (double)history->points[i].step;
            n++;
        }
        if (n == 0) continue;
        double value = sum / (double)n;
        mean = isnan(mean) ? value : mean + pace * (value - mean);
        put(d, "%s%.1f %.1f", drawing_now ? " L" : "M", x_of(d, step / (double)n),
            y_of(d, smoothed ? mean : value));
        drawing_now = true;
    }
    put(d, drawing_now ? "\"/>\n" : "M0 0\"/>\n");
}

static void draw_dots(drawing *d, const zn_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        double value = drawn(d, &history->points[i]);
        if (isnan(value)) continue;
        put(d, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
            x_of(d, (double)history->points[i].step), y_of(d, value), d->panel->colour);
    }
}

// What lines and dots are, right above the panel.
static void draw_legend(drawing *d, const zn_history *dots)
{
    const panel *p = d->panel;
    const double y = p->top - 8;
    put(d,
        "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">pale: each step; line: running "
        "mean%s</text>\n",
        RIGHT, y, dots->count ? "; dots: validation pictures" : "");
}

static void draw_panel(drawing *d, const panel *p, const zn_training_log *log)
{
    d->panel = p;
    d->low = INFINITY;
    d->high = -INFINITY;
    widen(d, &log->steps);
    widen(d, &log->validation);
    if (!(d->low <= d->high)) d->low = d->high = 0; // nothing to draw yet
    double room = fmax((d->high - d->low) * 0.05, 0.05);
    d->low -= room;
    d->high += room;
    draw_grid(d);
    draw_line(d, &log->steps, false);
    draw_line(d, &log->steps, true);
    draw_dots(d, &log->validation);
    draw_legend(d, &log->validation);
}

static void put_clean(drawing *d, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"' || c < 0x20 || c > 0x7e)
            put(d, "&#%d;", c < 0x20 ? 0xfffd : c);
        else
            put(d, "%c", c);
    }
}

static void draw_head(drawing *d, const char *title)
{
    put(d,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"#444\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    put(d,
        "<style>.grid{stroke:#e4e4e4}.frame{fill:none;stroke:#999}.line{fill:none;stroke-linejoin:"
        "round}.name{font-size:14px;font-weight:bold}</style>\n");
    put(d, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH, HEIGHT);
    put(d, "<text class=\"name\" x=\"%d\" y=\"28\">", LEFT);
    put_clean(d, title);
    put(d, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n",
        (LEFT + RIGHT) / 2, HEIGHT - 14);
}

zenith_status zn_plot_write(const char *path, const char *title, const zn_training_log *log,
                            zn_error *err)
{
    drawing d = {.err = err, .first = 0, .last = 1};
    const zn_history *steps = &log->steps;
    if (steps->count) {
        d.first = (double)steps->points[0].step;
        d.last = fmax((double)steps->points[steps->count - 1].step, d.first + 1);
    }
    ZN_TRY(zn_writer_open(path, &d.file, err));
    draw_head(&d, title);
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) draw_panel(&d, &panels[i], log);
    put(&d, "</svg>\n");
    if (d.status == ZENITH_OK) return zn_writer_commit(d.file, err);
    zn_writer_discard(d.file);
    return d.status;
}
