// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// lcms2 behind zn_colour. Each transform has an lcms context of its own, with plug-ins for memory
// (zn_alloc, counted) and for locks (none: a transform belongs to one thread).
//
// A profile is hostile input and lcms does not survive every failed allocation, so while a
// transform is built our allocator never tells it of one: it jumps back to zn_colour_open, which
// ends the context and frees whatever blocks are left; they are kept in a list for that. No memory
// is then ZENITH_OUT_OF_MEMORY (the same picture must not get other colours because memory was
// short), more than MAX_MEMORY makes the profile an unreadable one.
//
// Invariants
//   1. No global state of lcms is set: no error handler, no plug-in outside our context.
//   2. A transform exists only for a profile whose colour space is that of the samples.
//   3. `armed` is set only while zn_colour_open, with `back`, is on the stack.
#include "src/format/image/colour.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <lcms2.h>
#include <lcms2_plugin.h>

#define MAX_MEMORY ((size_t)256 << 20)

typedef struct block {
    struct block *next, *prev; // a ring
    size_t size;
} block;
enum { HEAD = ZN_ALIGN }; // room for a block in front of what lcms gets, keeping its alignment
_Static_assert(sizeof(block) <= HEAD, "the head of a block fits");

struct zn_colour {
    cmsContext context;
    cmsHTRANSFORM transform;
    block ring; // of what lcms holds
    size_t held;
    jmp_buf back;
    bool armed, out_of_memory;
};

// --- plug-ins

static void *allocation_failed(zn_colour *colour, bool out_of_memory)
{
    if (!colour) return NULL;
    if (out_of_memory) colour->out_of_memory = true;
    if (colour->armed) longjmp(colour->back, 1);
    return NULL;
}

// The context's user pointer is the zn_colour; for the very first block there is no context yet.
static void *plugin_malloc(cmsContext context, cmsUInt32Number bytes)
{
    zn_colour *colour = cmsGetContextUserData(context);
    if (colour && bytes > MAX_MEMORY - colour->held) return allocation_failed(colour, false);
    block *made = zn_alloc((size_t)bytes + HEAD);
    if (!made) return allocation_failed(colour, true);
    *made = (block){made, made, bytes};
    if (colour) {
        colour->held += bytes;
        made->next = colour->ring.next;
        made->prev = &colour->ring;
        made->next->prev = made;
        made->prev->next = made;
    }
    return (uint8_t *)made + HEAD;
}

static block *block_of(void *memory)
{
    return (block *)(void *)((uint8_t *)memory - HEAD);
}

static void plugin_free(cmsContext context, void *memory)
{
    if (!memory) return;
    zn_colour *colour = cmsGetContextUserData(context);
    block *old = block_of(memory);
    if (colour && old->next != old) colour->held -= old->size;
    old->next->prev = old->prev;
    old->prev->next = old->next;
    zn_free(old);
}

static void *plugin_realloc(cmsContext context, void *memory, cmsUInt32Number bytes)
{
    void *grown = plugin_malloc(context, bytes);
    if (!grown || !memory) return grown;
    size_t old = block_of(memory)->size;
    memcpy(grown, memory, old < bytes ? old : bytes);
    plugin_free(context, memory);
    return grown;
}

static void *no_lock_create(cmsContext context)
{
    return cmsGetContextUserData(context); // anything but NULL
}

static void no_lock_free(cmsContext context, void *lock)
{
    (void)context;
    (void)lock;
}

static cmsBool no_lock_lock(cmsContext context, void *lock)
{
    (void)context;
    (void)lock;
    return TRUE;
}

static void no_lock_unlock(cmsContext context, void *lock)
{
    (void)context;
    (void)lock;
}

static zenith_status context_open(zn_colour *colour, zn_error *err)
{
    enum { EXPECTED_VERSION = 2000 }; // what is used here exists since 2.0
    cmsPluginMutex locks = {
        .base = {cmsPluginMagicNumber, EXPECTED_VERSION, cmsPluginMutexSig, NULL},
        .CreateMutexPtr = no_lock_create,
        .DestroyMutexPtr = no_lock_free,
        .LockMutexPtr = no_lock_lock,
        .UnlockMutexPtr = no_lock_unlock,
    };
    cmsPluginMemHandler memory = {
        .base = {cmsPluginMagicNumber, EXPECTED_VERSION, cmsPluginMemHandlerSig, &locks.base},
        .MallocPtr = plugin_malloc,
        .FreePtr = plugin_free,
        .ReallocPtr = plugin_realloc,
    };
    colour->ring.next = colour->ring.prev = &colour->ring;
    colour->context = cmsCreateContext(&memory, colour);
    if (colour->context) return ZENITH_OK;
    return zn_fail(err, ZENITH_OUT_OF_MEMORY, "lcms2 found no memory left.");
}

// --- profiles

static cmsColorSpaceSignature space_of(zn_pixel_layout layout)
{
    switch (layout) {
    case ZN_PIXEL_GREY:
    case ZN_PIXEL_GREY_ALPHA:
        return cmsSigGrayData;
    case ZN_PIXEL_CMYK:
        return cmsSigCmykData;
    default:
        return cmsSigRgbData;
    }
}

static cmsUInt32Number samples_format(zn_pixel_layout layout, int sample_bits)
{
    bool alpha = zn_pixel_has_alpha(layout);
    unsigned channels = zn_pixel_channels(layout) - alpha;
    unsigned kind = channels == 1 ? PT_GRAY : channels == 3 ? PT_RGB : PT_CMYK;
    return COLORSPACE_SH(kind) | EXTRA_SH(alpha ? 1u : 0u) | CHANNELS_SH(channels) |
           BYTES_SH(sample_bits == 16 ? 2u : 1u);
}

static void keep_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e) *text = '?';
}

static void describe(cmsHPROFILE profile, char name[32])
{
    name[0] = 0;
    cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", name, 32);
    name[31] = 0;
    keep_printable(name);
    if (!name[0]) zn_text_format(name, 32, "unnamed profile");
}

// NULL when there is no profile to apply; `name` then says why.
static cmsHPROFILE profile_from_icc(cmsContext context, const zn_colour_claim *claim,
                                    zn_pixel_layout layout, char name[32])
{
    cmsHPROFILE profile = NULL;
    if (claim->icc && claim->icc_size <= UINT32_MAX)
        profile = cmsOpenProfileFromMemTHR(context, claim->icc, (cmsUInt32Number)claim->icc_size);
    if (!profile) {
        zn_text_format(name, 32, "unreadable profile ignored");
        return NULL;
    }
    if (cmsGetColorSpace(profile) != space_of(layout)) {
        cmsCloseProfile(profile);
        zn_text_format(name, 32, "mismatched profile ignored");
        return NULL;
    }
    describe(profile, name);
    return profile;
}

static bool near(const double a[2], double x, double y)
{
    return fabs(a[0] - x) < 0.005 && fabs(a[1] - y) < 0.005;
}

// Whether gAMA and cHRM only say "sRGB" in other words. 5 %, libpng's threshold, separates 1/2.2
// (written by programs that mean sRGB) from 1/1.8 and 1.
static bool claim_is_srgb(const zn_colour_claim *claim)
{
    if (claim->srgb_curve) return false;
    if (claim->srgb || claim->gamma <= 0) return true;
    if (fabs(claim->gamma * 2.2 - 1) > 0.05) return false;
    return !claim->has_primaries ||
           (near(claim->white, 0.3127, 0.3290) && near(claim->red, 0.64, 0.33) &&
            near(claim->green, 0.30, 0.60) && near(claim->blue, 0.15, 0.06));
}

static cmsToneCurve *claimed_curve(cmsContext context, const zn_colour_claim *claim)
{
    // IEC 61966-2-1 as lcms's type 4: (a x + b)^g from d on, c x below
    static const double srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    if (claim->srgb_curve) return cmsBuildParametricToneCurve(context, 4, srgb);
    if (claim->gamma < 0.05 || claim->gamma > 20) return NULL;
    return cmsBuildGamma(context, 1 / claim->gamma);
}

static cmsHPROFILE profile_from_curve(cmsContext context, const zn_colour_claim *claim,
                                      zn_pixel_layout layout, char name[32])
{
    zn_text_format(name, 32, "%s",
                   claim->srgb_curve      ? "cICP"
                   : claim->has_primaries ? "gAMA and cHRM"
                                          : "gAMA");
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
    if (claim->has_primaries) {
        white = (cmsCIExyY){claim->white[0], claim->white[1], 1};
        primaries = (cmsCIExyYTRIPLE){{claim->red[0], claim->red[1], 1},
                                      {claim->green[0], claim->green[1], 1},
                                      {claim->blue[0], claim->blue[1], 1}};
    }
    cmsHPROFILE profile = NULL;
    cmsToneCurve *curve = claimed_curve(context, claim);
    if (curve) {
        cmsToneCurve *curves[3] = {curve, curve, curve};
        profile = space_of(layout) == cmsSigGrayData
                      ? cmsCreateGrayProfileTHR(context, &white, curve)
                      : cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
        cmsFreeToneCurve(curve);
    }
    if (!profile) zn_text_format(name, 32, "unreadable gAMA, cHRM ignored");
    return profile;
}

static cmsHTRANSFORM transform_to_srgb(cmsContext context, cmsHPROFILE profile,
                                       zn_pixel_layout layout, int sample_bits)
{
    cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(context);
    if (!srgb) return NULL;
    // By default lcms replaces a 16-bit pipeline by a table of 33^3 points, 6/255 off in the test
    // with Display P3; its 8-bit ways are exact for matrix profiles.
    cmsUInt32Number flags = sample_bits == 16 ? cmsFLAGS_NOOPTIMIZE : 0;
    cmsHTRANSFORM transform = cmsCreateTransformTHR(
        context, profile, samples_format(layout, sample_bits), srgb,
        sample_bits == 16 ? TYPE_RGB_16 : TYPE_RGB_8, INTENT_PERCEPTUAL, flags);
    cmsCloseProfile(srgb);
    return transform;
}

static bool plain(const zn_colour_claim *claim, zn_pixel_layout layout)
{
    return !claim->has_icc && (layout == ZN_PIXEL_CMYK || claim_is_srgb(claim));
}

static void build(zn_colour *colour, const zn_colour_claim *claim, zn_pixel_layout layout,
                  int sample_bits, char name[32])
{
    cmsHPROFILE profile = claim->has_icc ? profile_from_icc(colour->context, claim, layout, name)
                                         : profile_from_curve(colour->context, claim, layout, name);
    if (!profile) return;
    cmsHTRANSFORM transform = transform_to_srgb(colour->context, profile, layout, sample_bits);
    cmsCloseProfile(profile);
    if (!transform) zn_text_format(name, 32, "unreadable profile ignored");
    colour->transform = transform;
}

// As build, coming back from a failed allocation too.
static zenith_status build_or_jump(zn_colour *colour, const zn_colour_claim *claim,
                                   zn_pixel_layout layout, int sample_bits, char name[32],
                                   zn_error *err)
{
    if (setjmp(colour->back) == 0) {
        colour->armed = true;
        build(colour, claim, layout, sample_bits, name);
    } else {
        zn_text_format(name, 32, "unreadable profile ignored");
    }
    colour->armed = false;
    if (!colour->out_of_memory) return ZENITH_OK;
    return zn_fail(err, ZENITH_OUT_OF_MEMORY,
                   "There is no memory left to read the picture's colour profile.");
}

zenith_status zn_colour_open(const zn_colour_claim *claim, zn_pixel_layout layout, int sample_bits,
                             zn_colour **out, char name[32], zn_error *err)
{
    *out = NULL;
    zn_text_format(name, 32, layout == ZN_PIXEL_CMYK ? "CMYK" : "sRGB");
    if (plain(claim, layout)) return ZENITH_OK;

    zn_colour *colour = zn_alloc_zero(sizeof *colour);
    if (!colour) return zn_fail_memory(err, sizeof *colour);
    zenith_status status = context_open(colour, err);
    if (status == ZENITH_OK) status = build_or_jump(colour, claim, layout, sample_bits, name, err);
    if (status == ZENITH_OK && colour->transform)
        *out = colour;
    else
        zn_colour_free(colour);
    return status;
}

void zn_colour_free(zn_colour *colour)
{
    if (!colour) return;
    if (colour->transform) cmsDeleteTransform(colour->transform);
    if (colour->context) cmsDeleteContext(colour->context);
    // left behind only after a jump
    for (block *b = colour->ring.next, *next; b && b != &colour->ring; b = next) {
        next = b->next;
        zn_free(b);
    }
    zn_free(colour);
}

// --- rows

// The rounding of Pillow's conversion: a*b/255 to nearest.
static unsigned mul_div_255(unsigned a, unsigned b)
{
    unsigned t = a * b + 128;
    return ((t >> 8) + t) >> 8;
}

static void plain_row_8(zn_pixel_layout layout, const uint8_t *src, uint8_t *dst, uint32_t width)
{
    unsigned step = zn_pixel_channels(layout);
    if (step == 3) {
        memcpy(dst, src, 3 * (size_t)width);
        return;
    }
    for (uint32_t x = 0; x < width; x++, src += step, dst += 3) {
        if (layout == ZN_PIXEL_CMYK) {
            unsigned light = 255u - src[3];
            for (int c = 0; c < 3; c++) dst[c] = (uint8_t)(light - mul_div_255(src[c], light));
        } else if (step < 3) {
            dst[0] = dst[1] = dst[2] = src[0];
        } else {
            memcpy(dst, src, 3);
        }
    }
}

// CMYK comes in 8 bits only.
static void plain_row_16(zn_pixel_layout layout, const uint16_t *src, uint16_t *dst, uint32_t width)
{
    unsigned step = zn_pixel_channels(layout);
    for (uint32_t x = 0; x < width; x++, src += step, dst += 3) {
        if (step < 3)
            dst[0] = dst[1] = dst[2] = src[0];
        else
            memcpy(dst, src, 3 * sizeof *src);
    }
}

void zn_colour_row(const zn_colour *colour, zn_pixel_layout layout, int sample_bits,
                   const void *src, void *dst, uint32_t width)
{
    if (colour)
        cmsDoTransform(colour->transform, src, dst, width);
    else if (sample_bits == 16)
        plain_row_16(layout, src, dst, width);
    else
        plain_row_8(layout, src, dst, width);
}
