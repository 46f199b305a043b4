// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See preview.h. Kitty's protocol takes RGB bytes in base64, in pieces of 4096 letters between
// ESC _ G and ESC \. Elsewhere a character cell is two pixels, one above the other: an upper half
// block whose foreground is the upper and whose background is the lower one.
#include "apps/cli/session/preview.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct cli_preview {
    cli_show how;
    uint32_t width, height;             // of the picture
    uint32_t small_width, small_height; // of the preview
    uint8_t *pixels;                    // of the preview, RGB
    uint64_t *sums;                     // of its row in work
    uint32_t *counts;                   // of pixels in each sum
    uint32_t row;                       // in work
};

// --- where and how ------------------------------------------------------------------------------

static bool has_kitty_graphics(void)
{
    const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");
    if (getenv("TMUX") != NULL) return false; // it hands the outer terminal's variables on
    if (term != NULL && (strcmp(term, "xterm-kitty") == 0 || strcmp(term, "xterm-ghostty") == 0))
        return true;
    if (program != NULL && (strcasecmp(program, "ghostty") == 0 || strcmp(program, "WezTerm") == 0))
        return true;
    return getenv("KITTY_WINDOW_ID") != NULL;
}

cli_show cli_show_choose(const cli_settings *settings)
{
    if (settings->picture.show != CLI_SHOW_AUTO) return (cli_show)settings->picture.show;
    if (!isatty(STDOUT_FILENO)) return CLI_SHOW_NOT;
    return has_kitty_graphics() ? CLI_SHOW_KITTY : CLI_SHOW_BLOCKS;
}

bool cli_show_options_agree(const cli_settings *settings, bool only)
{
    if (settings->picture.show == CLI_SHOW_NOT) return true;
    bool stream = settings->output != NULL && strcmp(settings->output, "-") == 0;
    if (stream || settings->json) {
        cli_say("--show and %s cannot both go to standard output",
                stream ? "the result" : "the lines of --json");
        return false;
    }
    if (!only || cli_show_choose(settings) != CLI_SHOW_NOT) return true;
    cli_say("standard output is no terminal: name a file by -o, or say how to draw, as in "
            "--show=blocks");
    return false;
}

// The largest preview that the terminal shows whole, in pixels of the preview. Cells of a terminal
// that does not say its size in pixels are taken for 8 x 16.
static void find_room(cli_show how, uint32_t *width, uint32_t *height)
{
    struct winsize size = {0};
    bool terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    uint32_t columns = terminal ? size.ws_col : 80;
    uint32_t rows = terminal && size.ws_row > 4 ? size.ws_row - 3u : 1u << 14; // text below
    *width = columns;
    *height = rows * 2;
    if (how != CLI_SHOW_KITTY) return;
    bool sized = terminal && size.ws_xpixel > 0 && size.ws_row > 0;
    *width = sized ? size.ws_xpixel : columns * 8;
    *height = sized ? rows * (size.ws_ypixel / size.ws_row) : rows * 16;
}

// --- averaging ----------------------------------------------------------------------------------

cli_preview *cli_preview_open(cli_show how, uint32_t width, uint32_t height)
{
    uint32_t most_width, most_height;
    cli_preview *preview = calloc(1, sizeof *preview);
    if (preview == NULL) return NULL;
    find_room(how, &most_width, &most_height);
    double scale = 1;
    if (width > most_width) scale = (double)most_width / width;
    if (height * scale > most_height) scale = (double)most_height / height;
    uint32_t w = (uint32_t)(width * scale), h = (uint32_t)(height * scale);
    *preview = (cli_preview){.how = how,
                             .width = width,
                             .height = height,
                             .small_width = w > 0 ? w : 1,
                             .small_height = h > 0 ? h : 1};
    preview->pixels = calloc((size_t)preview->small_width * preview->small_height, 3);
    preview->sums = calloc(preview->small_width, 3 * sizeof(uint64_t));
    preview->counts = calloc(preview->small_width, sizeof(uint32_t));
    if (preview->pixels != NULL && preview->sums != NULL && preview->counts != NULL) return preview;
    cli_preview_free(preview);
    return NULL;
}

void cli_preview_free(cli_preview *preview)
{
    if (preview == NULL) return;
    free(preview->pixels);
    free(preview->sums);
    free(preview->counts);
    free(preview);
}

static void clear_sums(cli_preview *preview)
{
    memset(preview->sums, 0, (size_t)preview->small_width * 3 * sizeof *preview->sums);
    memset(preview->counts, 0, preview->small_width * sizeof *preview->counts);
}

static void finish_row(cli_preview *preview)
{
    uint32_t w = preview->small_width;
    uint8_t *dst = preview->pixels + (size_t)preview->row * w * 3;
    for (uint32_t x = 0; x < w; x++)
        for (int c = 0; c < 3 && preview->counts[x] > 0; c++)
            dst[3 * x + (uint32_t)c] = (uint8_t)(preview->sums[3 * x + (uint32_t)c] /
                                                 preview->counts[x]);
    clear_sums(preview);
}

static void add_row(cli_preview *preview, const uint8_t *src)
{
    for (uint32_t x = 0; x < preview->width; x++) {
        size_t to = (size_t)((uint64_t)x * preview->small_width / preview->width);
        for (size_t c = 0; c < 3; c++) preview->sums[3 * to + c] += src[3 * (size_t)x + c];
        preview->counts[to]++;
    }
}

void cli_preview_rows(cli_preview *preview, uint32_t y, uint32_t count, const uint8_t *rows)
{
    if (y == 0) clear_sums(preview); // of rows that come again
    for (uint32_t i = 0; i < count; i++) {
        uint64_t row = (uint64_t)(y + i) * preview->small_height / preview->height;
        preview->row = (uint32_t)row;
        add_row(preview, rows + (size_t)i * preview->width * 3);
        uint64_t next = (uint64_t)(y + i + 1) * preview->small_height / preview->height;
        if (next != row) finish_row(preview);
    }
}

// --- drawing ------------------------------------------------------------------------------------

static void print_blocks(const cli_preview *preview)
{
    size_t line = (size_t)preview->small_width * 3;
    for (uint32_t y = 0; y < preview->small_height; y += 2) {
        const uint8_t *upper = preview->pixels + y * line, *lower = upper + line;
        bool last = y + 1 == preview->small_height; // an odd one has no lower half
        for (uint32_t x = 0; x < preview->small_width; x++, upper += 3, lower += 3) {
            bool same = x > 0 && memcmp(upper, upper - 3, 3) == 0 &&
                        (last || memcmp(lower, lower - 3, 3) == 0);
            if (!same) printf("\033[38;2;%d;%d;%dm", upper[0], upper[1], upper[2]);
            if (!same && !last) printf("\033[48;2;%d;%d;%dm", lower[0], lower[1], lower[2]);
            fputs("▀", stdout);
        }
        fputs("\033[0m\n", stdout);
    }
}

static void put_base64(const uint8_t *bytes, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i + 2 < count; i += 3) { // pixels have three bytes, so nothing is left over
        uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) putchar(letters[three >> shift & 63]);
    }
}

static void print_kitty(const cli_preview *preview)
{
    enum { PIECE = 4096 / 4 * 3 };
    size_t all = (size_t)preview->small_width * preview->small_height * 3;
    for (size_t at = 0; at < all; at += PIECE) {
        size_t count = all - at < PIECE ? all - at : PIECE;
        fputs("\033_G", stdout);
        if (at == 0) // transmit and show, RGB, no answer
            printf("a=T,f=24,q=2,s=%u,v=%u,", (unsigned)preview->small_width,
                   (unsigned)preview->small_height);
        printf("m=%d;", at + count < all);
        put_base64(preview->pixels + at, count);
        fputs("\033\\", stdout);
    }
    fputc('\n', stdout);
}

void cli_preview_print(const cli_preview *preview, const char *caption)
{
    cli_status_clear();
    if (preview->how == CLI_SHOW_KITTY)
        print_kitty(preview);
    else
        print_blocks(preview);
    if (caption != NULL) {
        cli_print_clean(stdout, strcmp(caption, "-") == 0 ? "standard input" : caption);
        printf(", %ux%u\n", (unsigned)preview->width, (unsigned)preview->height);
    }
    fflush(stdout);
}

void cli_preview_go_back(const cli_preview *preview)
{
    struct winsize size = {0};
    uint32_t lines = (preview->small_height + 1) / 2;
    if (!isatty(STDOUT_FILENO)) return;
    cli_status_clear();
    if (preview->how == CLI_SHOW_KITTY) {
        const bool sized = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
                           size.ws_ypixel >= size.ws_row;
        const uint32_t cell = sized ? (uint32_t)(size.ws_ypixel / size.ws_row) : 16;
        lines = (preview->small_height + cell - 1) / cell;
    }
    printf("\033[%uA\r", (unsigned)lines);
    fflush(stdout);
}

// --- sink ---------------------------------------------------------------------------------------

// What is wanted of a row is at its beginning, so rows go on one by one.
static zenith_status cut_rows(const cli_sink *sink, uint32_t y, uint32_t count, uint8_t *rows)
{
    const cli_sink whole = {.target = sink->target, .preview = sink->preview};
    zenith_status status = ZENITH_OK;
    for (uint32_t i = 0; i < count && y + i < sink->height && status == ZENITH_OK; i++)
        status = cli_sink_rows((void *)(uintptr_t)&whole, y + i, 1,
                               rows + (size_t)i * sink->stride * 3);
    return status;
}

zenith_status cli_sink_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    const cli_sink *sink = cookie;
    if (sink->stride != 0) return cut_rows(sink, y, count, rows);
    if (sink->preview != NULL) cli_preview_rows(sink->preview, y, count, rows);
    return sink->target != NULL ? zenith_target_rows(sink->target, y, count, rows) : ZENITH_OK;
}

const char *cli_sink_error(const cli_sink *sink)
{
    return sink->target != NULL ? zenith_target_error(sink->target) : "";
}
