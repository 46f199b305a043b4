// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// First a formatter of the printf kind. The idea: every conversion first makes its body (digits or
// characters) and a sign, and one function pads and appends them, so width and alignment behave the
// same everywhere. Doubles are printed exactly: the binary value is split into an integer of up to
// 1024 bits, divided down by 10^9, and a fraction that fits 128 bits even when scaled by 10^18.
#include "src/base/text.h"

#include <math.h>
#include <string.h>

enum {
    MAX_DECIMALS = 18,    // 2^53 * 10^18 fits 128 bits
    INTEGER_DIGITS = 309, // of the largest double
    BODY_SIZE = INTEGER_DIGITS + 1 + MAX_DECIMALS + 1,
    LIMBS = 33, // of 32 bits: 2^1024, and one more that stays zero
};

__extension__ typedef unsigned __int128 uint128;

// Where the text goes. `length` never passes size - 1.
typedef struct sink {
    char *dst;
    size_t size;
    size_t length;
} sink;

// One conversion, as the format says it. precision -1: not given.
struct spec {
    bool left, zeros;
    int width, precision;
    int size; // of an integer argument: 0 int, 1 long, 2 long long, 3 size_t
    char conversion;
};

static void put(sink *out, const char *text, size_t length)
{
    size_t room = out->size - 1 - out->length;
    if (length > room) length = room;
    memcpy(out->dst + out->length, text, length);
    out->length += length;
}

static void put_repeated(sink *out, char c, size_t count)
{
    for (; count > 0 && out->length < out->size - 1; count--) put(out, &c, 1);
}

static void put_padded(sink *out, const struct spec *spec, const char *sign, const char *body,
                       size_t length, bool zeros)
{
    size_t whole = strlen(sign) + length;
    size_t padding = (size_t)spec->width > whole ? (size_t)spec->width - whole : 0;
    if (!spec->left && !zeros) put_repeated(out, ' ', padding);
    put(out, sign, strlen(sign));
    if (!spec->left && zeros) put_repeated(out, '0', padding);
    put(out, body, length);
    if (spec->left) put_repeated(out, ' ', padding);
}

// Digits of value from the end of a buffer backwards; returns the first.
static char *digits_before(char *end, uint64_t value, unsigned base)
{
    do {
        *--end = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    return end;
}

static void put_unsigned(sink *out, const struct spec *spec, const char *sign, uint64_t value)
{
    char body[20], *end = body + sizeof body;
    char *begin = digits_before(end, value, spec->conversion == 'x' ? 16 : 10);
    put_padded(out, spec, sign, begin, (size_t)(end - begin), spec->zeros);
}

static void put_signed(sink *out, const struct spec *spec, int64_t value)
{
    // Negated as unsigned, so that the smallest number does not overflow.
    put_unsigned(out, spec, value < 0 ? "-" : "",
                 value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

// Decimal digits of mantissa * 2^exponent (exponent >= 0, the value a finite double) before `end`.
static char *big_integer_before(char *end, uint64_t mantissa, int exponent)
{
    uint32_t limb[LIMBS] = {0};
    uint128 low = (uint128)mantissa << (exponent % 32);
    for (int i = 0; i < 3; i++) limb[exponent / 32 + i] = (uint32_t)(low >> (32 * i));
    int top = exponent / 32 + 2;
    while (true) {
        uint64_t rest = 0;
        for (int i = top; i >= 0; i--) {
            rest = rest << 32 | limb[i];
            limb[i] = (uint32_t)(rest / 1000000000u);
            rest %= 1000000000u;
        }
        while (top >= 0 && limb[top] == 0) top--;
        char *begin = digits_before(end, rest, 10);
        if (top < 0) return begin;
        while (begin > end - 9) *--begin = '0';
        end = begin;
    }
}

// |value| with that many decimals, rounded half to even, into `body`; returns the length.
static size_t format_fixed(char body[BODY_SIZE], double value, int decimals)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
    exponent -= 53; // value = mantissa * 2^exponent
    uint64_t power = 1;
    for (int i = 0; i < decimals; i++) power *= 10;

    uint64_t whole = mantissa, fraction = 0;
    if (exponent < 0) {
        // From exponent -128 on the value is under 2^-75, and even 10^18 times that rounds to zero.
        int shift = exponent < -127 ? 127 : -exponent;
        whole = shift > 63 ? 0 : mantissa >> shift;
        uint128 scaled = (uint128)(shift > 63 ? mantissa : mantissa - (whole << shift)) * power;
        if (exponent < -127) scaled = 0;
        fraction = (uint64_t)(scaled >> shift);
        uint128 rest = scaled - ((uint128)fraction << shift), half = (uint128)1 << (shift - 1);
        bool odd = (decimals > 0 ? fraction : whole) & 1;
        if (rest > half || (rest == half && odd)) fraction++;
        if (fraction >= power) {
            fraction -= power;
            whole++;
        }
        exponent = 0;
    }
    char digits[INTEGER_DIGITS + 9], *end = digits + sizeof digits;
    char *begin = big_integer_before(end, whole, exponent);
    size_t length = (size_t)(end - begin);
    memcpy(body, begin, length);
    if (decimals > 0) {
        body[length++] = '.';
        length += (size_t)decimals;
        char *place = digits_before(body + length, fraction, 10);
        while (place > body + length - decimals) *--place = '0';
    }
    return length;
}

static void put_double(sink *out, const struct spec *spec, double value)
{
    const char *sign = signbit(value) ? "-" : "";
    if (isnan(value)) {
        put_padded(out, spec, "", "nan", 3, false);
        return;
    }
    if (isinf(value)) {
        put_padded(out, spec, sign, "inf", 3, false);
        return;
    }
    char body[BODY_SIZE];
    int decimals = spec->precision < 0 ? 6 : spec->precision;
    if (decimals > MAX_DECIMALS) decimals = MAX_DECIMALS;
    size_t length = format_fixed(body, fabs(value), decimals);
    if (spec->conversion == 'g' && decimals > 0) {
        while (body[length - 1] == '0') length--;
        if (body[length - 1] == '.') length--;
    }
    put_padded(out, spec, sign, body, length, spec->zeros);
}

static void put_text(sink *out, const struct spec *spec, const char *text)
{
    if (!text) text = "(null)";
    size_t length = spec->precision < 0 ? strlen(text) : strnlen(text, (size_t)spec->precision);
    put_padded(out, spec, "", text, length, false);
}

// A number in the format, or one taken from the arguments for '*'.
static const char *parse_number(const char *at, int *number, va_list *list)
{
    if (*at == '*') {
        *number = va_arg(*list, int);
        return at + 1;
    }
    int value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value < 100000) value = value * 10 + (*at - '0');
    }
    *number = value;
    return at;
}

// Reads what follows a '%'; returns the place after the conversion's letter.
static const char *parse_spec(const char *at, struct spec *out, va_list *list)
{
    *out = (struct spec){.precision = -1};
    for (; *at == '-' || *at == '0'; at++) {
        if (*at == '-') out->left = true;
        if (*at == '0') out->zeros = true;
    }
    at = parse_number(at, &out->width, list);
    if (out->width < 0) {
        out->left = true;
        out->width = out->width < -100000 ? 100000 : -out->width;
    }
    if (*at == '.') at = parse_number(at + 1, &out->precision, list);
    if (*at == 'z') {
        out->size = 3;
        at++;
    }
    for (; *at == 'l'; at++) out->size = out->size < 2 ? out->size + 1 : 2;
    out->conversion = *at;
    return *at ? at + 1 : at;
}

static int64_t next_signed(const struct spec *spec, va_list *list)
{
    switch (spec->size) {
    case 0:
        return va_arg(*list, int);
    case 1:
        return va_arg(*list, long);
    case 2:
        return va_arg(*list, long long);
    default:
        return va_arg(*list, ptrdiff_t);
    }
}

static uint64_t next_unsigned(const struct spec *spec, va_list *list)
{
    switch (spec->size) {
    case 0:
        return va_arg(*list, unsigned);
    case 1:
        return va_arg(*list, unsigned long);
    case 2:
        return va_arg(*list, unsigned long long);
    default:
        return va_arg(*list, size_t);
    }
}

// False for a conversion that we do not know: its argument cannot be skipped, so the rest is lost.
static bool put_conversion(sink *out, const struct spec *spec, va_list *list)
{
    char c;
    switch (spec->conversion) {
    case '%':
        put(out, "%", 1);
        return true;
    case 'c':
        c = (char)va_arg(*list, int);
        put_padded(out, spec, "", &c, 1, false);
        return true;
    case 's':
        put_text(out, spec, va_arg(*list, const char *));
        return true;
    case 'd':
    case 'i':
        put_signed(out, spec, next_signed(spec, list));
        return true;
    case 'u':
    case 'x':
        put_unsigned(out, spec, "", next_unsigned(spec, list));
        return true;
    case 'f':
    case 'g':
        put_double(out, spec, va_arg(*list, double));
        return true;
    default:
        return false;
    }
}

size_t zn_text_format_list(char *dst, size_t size, const char *format, va_list list)
{
    sink out = {.dst = dst, .size = size};
    va_list rest; // a va_list parameter may be an array type, whose address is not a va_list *
    va_copy(rest, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(&out, format, plain);
        format += plain;
        if (!*format) break;
        struct spec spec;
        const char *start = format;
        format = parse_spec(format + 1, &spec, &rest);
        if (!put_conversion(&out, &spec, &rest)) {
            put(&out, start, strlen(start));
            break;
        }
    }
    va_end(rest);
    dst[out.length] = '\0';
    return out.length;
}

size_t zn_text_format(char *dst, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t length = zn_text_format_list(dst, size, format, list);
    va_end(list);
    return length;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *tail_of(const char *text, size_t length)
{
    size_t whole = strlen(text);
    return whole >= length ? text + whole - length : NULL;
}

bool zn_text_ends_with(const char *text, const char *tail)
{
    const char *end = tail_of(text, strlen(tail));
    return end && strcmp(end, tail) == 0;
}

bool zn_text_ends_with_nocase(const char *text, const char *tail)
{
    const char *end = tail_of(text, strlen(tail));
    if (!end) return false;
    while (*tail && lower(*end) == lower(*tail)) end++, tail++;
    return *tail == '\0';
}

size_t zn_utf8_next(const char *text, size_t size, uint32_t *point)
{
    const uint8_t *bytes = (const uint8_t *)text;
    if (size == 0) return 0;
    // 0x80 to 0xbf continue a character, 0xc0 and 0xc1 would begin an overlong one.
    const uint8_t lead = bytes[0];
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return 0;
    const size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (more >= size) return 0;
    uint32_t code = more ? lead & (0x3fu >> more) : lead;
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
        return 0;
    *point = code;
    return 1 + more;
}

size_t zn_utf8_valid(const char *text, size_t size)
{
    size_t at = 0, length = 1;
    uint32_t point;
    while (at < size && length > 0) {
        length = (uint8_t)text[at] < 0x80 ? 1 : zn_utf8_next(text + at, size - at, &point);
        at += length;
    }
    return at;
}
