// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See quality_report.h. One table of columns makes the text and the JSON.
#include "apps/cli/commands/lab/quality_report.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct column {
    const char *key;  // in JSON
    const char *head; // of the table; NULL: not shown
    size_t offset;    // of the double in zenith_quality
    int width, decimals;
    double unit;
    bool median; // of the pictures, rather than the mean: the first runs of a size are slower
} column;

#define AT(field) offsetof(zenith_quality, field)
static const column columns[] = {
    {"psnr", "PSNR", AT(psnr), 5, 2, 1, false},
    {"ssim", "SSIM", AT(ssim), 6, 4, 1, false},
    {"ms_ssim", "MS-SSIM", AT(ms_ssim), 7, 4, 1, false},
    {"squeezenet", "SqNet", AT(squeezenet), 6, 3, 1, false},
    {"gmsd", "GMSD", AT(gmsd), 6, 4, 1, false},
    {"hf", "HF", AT(hf), 5, 3, 1, false},
    {"hf_correlation", "HFcorr", AT(hf_correlation), 6, 3, 1, false},
    {"mesh4", "mesh4", AT(mesh4), 6, 2, 1, false},
    {"original_mesh4", NULL, AT(original_mesh4), 0, 0, 1, false},
    {"latent_distance", "latent", AT(latent_distance), 6, 3, 1, false},
    {"encode_ms", NULL, AT(encode_seconds), 0, 0, 1e3, true},
    {"decode_ms", "dec. ms", AT(decode_seconds), 7, 1, 1e3, true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static double value_of(const column *c, const zenith_quality *quality)
{
    double value;
    memcpy(&value, (const char *)quality + c->offset, sizeof value);
    return value * c->unit;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const column *c, const cli_quality_rows *rows)
{
    double *values = calloc(rows->count, sizeof *values), median = (double)NAN;
    for (size_t i = 0; values != NULL && i < rows->count; i++)
        values[i] = value_of(c, &rows->rows[i].quality);
    if (values != NULL && rows->count > 0) {
        qsort(values, rows->count, sizeof *values, compare_doubles);
        median = (values[(rows->count - 1) / 2] + values[rows->count / 2]) / 2;
    }
    free(values);
    return median;
}

// Over the pictures that have it: a small one lacks some measures.
static double mean_of(const column *c, const cli_quality_rows *rows)
{
    double sum = 0;
    size_t count = 0;
    if (c->median) return median_of(c, rows);
    for (size_t i = 0; i < rows->count; i++) {
        double value = value_of(c, &rows->rows[i].quality);
        if (isnan(value)) continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

// What the figures leave of a line.
static int room_for_names(void)
{
    int room = cli_terminal_columns(stdout);
    if (room < 80) room = 80;
    for (int k = 0; k < COLUMNS; k++)
        if (columns[k].head != NULL) room -= columns[k].width + 1;
    return room;
}

static int name_width(const cli_quality_rows *rows)
{
    int width = 4; // "mean"
    for (size_t i = 0; i < rows->count; i++) {
        int columns_wide = cli_text_columns(base_name(rows->rows[i].input));
        if (columns_wide > width) width = columns_wide;
    }
    return width < room_for_names() ? width : room_for_names();
}

// A name without room has a line of its own.
static void print_name(const char *name, int width)
{
    int used = cli_text_columns(name);
    cli_print_clean(stdout, name);
    if (used > width) putchar('\n');
    printf("%*s", used > width ? width : width - used, "");
}

static void print_value(const column *c, double value)
{
    if (isnan(value))
        printf(" %*s", c->width, "-");
    else
        printf(" %*.*f", c->width, c->decimals, value);
}

void cli_quality_print(const char *title, const cli_quality_rows *rows)
{
    const int width = name_width(rows);
    printf("%s\n\n%*s", title, width, "");
    for (int k = 0; k < COLUMNS; k++)
        if (columns[k].head != NULL) printf(" %*s", columns[k].width, columns[k].head);
    putchar('\n');
    for (size_t i = 0; i < rows->count; i++) {
        print_name(base_name(rows->rows[i].input), width);
        for (int k = 0; k < COLUMNS; k++)
            if (columns[k].head != NULL)
                print_value(&columns[k], value_of(&columns[k], &rows->rows[i].quality));
        putchar('\n');
    }
    print_name("mean", width);
    for (int k = 0; k < COLUMNS; k++)
        if (columns[k].head != NULL) print_value(&columns[k], mean_of(&columns[k], rows));
    putchar('\n');
    fflush(stdout);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_quality_json(const cli_quality_rows *rows)
{
    json_t *object = json_object(), *images = json_array();
    for (int k = 0; k < COLUMNS; k++)
        json_object_set_new(object, columns[k].key, number(mean_of(&columns[k], rows)));
    for (size_t i = 0; i < rows->count; i++) {
        json_t *image = json_object();
        json_object_set_new(image, "input", cli_json_text(rows->rows[i].input));
        for (int k = 0; k < COLUMNS; k++)
            json_object_set_new(image, columns[k].key,
                                number(value_of(&columns[k], &rows->rows[i].quality)));
        json_array_append_new(images, image);
    }
    json_object_set_new(object, "images", images);
    return object;
}
