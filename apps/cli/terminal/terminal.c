// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See terminal.h.
#include "apps/cli/terminal/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static bool status_shown;

int cli_terminal_columns(FILE *stream)
{
    struct winsize size;
    int descriptor = fileno(stream);
    if (!isatty(descriptor)) return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

void cli_print_clean(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++) {
        // U+0080 .. U+009F are control characters too: two bytes in UTF-8.
        bool wide = p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
        bool control = (*p < 0x20 && *p != '\n') || *p == 0x7f || wide;
        fputc(control ? '?' : *p, out);
        if (wide) p++;
    }
}

void cli_say(const char *format, ...)
{
    va_list list;
    char *text = NULL;
    va_start(list, format);
    int length = vasprintf(&text, format, list);
    va_end(list);
    flockfile(stderr); // a line stays one where other threads, such as the server's, write too
    cli_status_clear();
    fputs("zenith: ", stderr);
    cli_print_clean(stderr, length < 0 ? "out of memory" : text);
    fputc('\n', stderr);
    funlockfile(stderr);
    if (length >= 0) free(text);
}

void cli_status_show(const char *text)
{
    fputc('\r', stderr);
    cli_print_clean(stderr, text);
    fputs("\033[K", stderr); // erase to the end of the line: the last text may have been longer
    fflush(stderr);
    status_shown = true;
}

void cli_status_clear(void)
{
    if (!status_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    status_shown = false;
}

int cli_text_columns(const char *text)
{
    int columns = 0;
    for (; *text != 0; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static int print_word(FILE *out, const char *word, size_t length, int column, int indent, int width)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    bool first = column <= indent;
    if (!first && column + 1 + columns > width) {
        fprintf(out, "\n%*s", indent, "");
        column = indent;
        first = true;
    }
    if (!first) fputc(' ', out);
    fwrite(word, 1, length, out);
    return column + columns + !first;
}

void cli_print_wrapped(FILE *out, const char *text, int column, int indent, int width)
{
    if (column < indent) fprintf(out, "%*s", indent - column, "");
    if (column < indent) column = indent;
    while (*text != 0) {
        if (*text == '\n') {
            fputc('\n', out);
            text++;
            if (*text != '\n' && *text != 0) fprintf(out, "%*s", indent, "");
            column = indent;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (length > 0) column = print_word(out, text, length, column, indent, width);
        text += length;
        while (*text == ' ') text++;
    }
    fputc('\n', out);
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
