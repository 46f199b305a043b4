#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of tests/format/images and what each must become as sRGB.

    tools/goldens/make_test_images.py            (needs Pillow >= 10 and numpy)

Every case is a crafted file and either the RGB that Pillow and ImageCms (or, where Pillow has no 16 bits, plain
arithmetic) make of it, or the status with which it must be refused. cases.txt lists them; tests/format/test_image.c
reads that list. The goldens of resize/ are Pillow's Image.resize. Seeds of the fuzzers are copies of the small files.
"""
import io
import pathlib
import shutil
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("numpy", "PIL", most=0)

import numpy as np
from PIL import Image, ImageCms, ImageOps

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/format/images"
CORPUS = ROOT / "tests/fuzz/corpus"
W, H = 24, 16
CASES = []
FACTS = "width height orientation bits channels alpha icc applied animated streamed"


def case(name, data, expected, options="-", colour="sRGB", **facts):
    """expected: an RGB array or picture, or the name of a status."""
    (OUT / name).write_bytes(data)
    if isinstance(expected, str):
        CASES.append(f"{name} {expected} {options}")
        return
    expected = np.asarray(expected, np.uint8)
    known = dict(width=expected.shape[1], height=expected.shape[0], orientation=1, bits=8, channels=3, alpha=0, icc=0,
                 applied=0, animated=0, streamed=1)
    assert set(facts) <= set(known), facts
    known.update(facts)
    Image.fromarray(expected).save(OUT / "expected" / f"{name}{'' if options == '-' else '.' + options}.ppm")
    CASES.append(f"{name} OK {options} {' '.join(str(known[f]) for f in FACTS.split())} {colour}")


# --- pictures -----------------------------------------------------------------------------------------------------

def picture(w=W, h=H):
    """No symmetry, all hues, dark and light: a wrong turn, channel or curve shows."""
    y, x = np.mgrid[0:h, 0:w].astype(float)
    u, v = x / (w - 1), y / (h - 1)
    rgb = np.stack([255 * u, 255 * v, 255 * (1 - u) * (1 - v) + 60 * u * v], -1)
    rgb[: h // 4, : w // 4] = (250, 40, 20)
    return np.clip(rgb + 0.5, 0, 255).astype(np.uint8)


def smooth(w=W, h=H):
    """For lossy formats: what a decoder does at edges is not the subject."""
    y, x = np.mgrid[0:h, 0:w].astype(float)
    return np.stack([40 + 8 * x, 30 + 12 * y, 220 - 4 * x - 5 * y], -1).clip(0, 255).astype(np.uint8)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def opened(data, mode="RGB"):
    return Image.open(io.BytesIO(data)).convert(mode)


def over(rgba, background=(255, 255, 255)):
    image = rgba if isinstance(rgba, Image.Image) else Image.fromarray(rgba, "RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, (*background, 255)), image).convert("RGB")


# --- profiles, written by hand ------------------------------------------------------------------------------------

def tag_xyz(x, y, z):
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(v * 65536) for v in (x, y, z)))


def tag_curve(gamma=None, table=None):
    if table is None:
        return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))
    return b"curv\0\0\0\0" + struct.pack(">I", len(table)) + np.asarray(table).astype(">u2").tobytes()


def tag_text(text):
    raw = text.encode() + b"\0"
    return b"desc\0\0\0\0" + struct.pack(">I", len(raw)) + raw + bytes(4 + 4 + 2 + 1 + 67)


def profile(kind, space, pcs, tags):
    head_size, table = 128, struct.pack(">I", len(tags))
    at, body = head_size + 4 + 12 * len(tags), b""
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += name.encode() + struct.pack(">II", at + len(body), len(data))
        body += data
    size = at + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"\0\0\0\0", 0x02400000, kind, space, pcs)
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    head += struct.pack(">3i", 63190, 65536, 54061) + bytes(48)
    assert len(head) == head_size
    return head + table + body


def srgb_to_linear(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(v):
    v = np.clip(v, 0, 1)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)


SRGB_CURVE = tag_curve(table=np.round(srgb_to_linear(np.linspace(0, 1, 256)) * 65535))
SRGB_MATRIX = [(0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410)]
P3_MATRIX = [(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)]
ADOBE_MATRIX = [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)]
PROPHOTO_MATRIX = [(0.79767, 0.28804, 0.0), (0.13519, 0.71188, 0.0), (0.03134, 0.00009, 0.82491)]


def rgb_profile(name, matrix, curve):
    tags = {"desc": tag_text(name), "cprt": b"text\0\0\0\0none\0", "wtpt": tag_xyz(0.9642, 1, 0.8249)}
    for channel, column in zip("rgb", matrix):
        tags[channel + "XYZ"] = tag_xyz(*column)
        tags[channel + "TRC"] = curve
    return profile(b"mntr", b"RGB ", b"XYZ ", tags)


def grey_profile(name, gamma):
    return profile(b"mntr", b"GRAY", b"XYZ ", {"desc": tag_text(name), "cprt": b"text\0\0\0\0none\0",
                                               "wtpt": tag_xyz(0.9642, 1, 0.8249), "kTRC": tag_curve(gamma)})


def cmyk_profile():
    """Inks that multiply, each a little impure, as a table of 3^4 points in Lab."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 3)] * 4, indexing="ij"), -1).reshape(-1, 4)
    inks = np.array([(0.05, 0.55, 0.85), (0.80, 0.10, 0.45), (0.95, 0.85, 0.08), (0.05, 0.05, 0.05)])
    linear = np.prod(1 - grid[:, :, None] * (1 - inks[None]), 1)
    xyz = linear @ np.array(SRGB_MATRIX) / (0.9642, 1, 0.8249)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], -1)
    coded = np.stack([lab[:, 0] * 652.8, (lab[:, 1] + 128) * 256, (lab[:, 2] + 128) * 256], -1)
    table = b"mft2\0\0\0\0" + bytes([4, 3, 3, 0]) + struct.pack(">9i", *(65536 * np.eye(3, dtype=int)).ravel())
    table += struct.pack(">HH", 2, 2) + struct.pack(">HH", 0, 65535) * 4
    table += np.round(coded).astype(">u2").tobytes() + struct.pack(">HH", 0, 65535) * 3
    return profile(b"prtr", b"CMYK", b"Lab ", {"desc": tag_text("Test inks"), "cprt": b"text\0\0\0\0none\0",
                                               "wtpt": tag_xyz(0.9642, 1, 0.8249), "A2B0": table})


P3 = rgb_profile("Display P3", P3_MATRIX, SRGB_CURVE)
ADOBE = rgb_profile("Adobe-like RGB", ADOBE_MATRIX, tag_curve(2.19921875))
PROPHOTO = rgb_profile("ProPhoto-like RGB", PROPHOTO_MATRIX, tag_curve(1.8))
SWAPPED = rgb_profile("Red and green swapped", [SRGB_MATRIX[1], SRGB_MATRIX[0], SRGB_MATRIX[2]], SRGB_CURVE)
GREY = grey_profile("Grey gamma 1.0", 1.0)
CMYK = cmyk_profile()


def to_srgb(image, icc):
    return ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(icc)), ImageCms.createProfile("sRGB"),
                                     renderingIntent=ImageCms.Intent.PERCEPTUAL, outputMode="RGB")


# --- PNG, written by hand -----------------------------------------------------------------------------------------

def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(samples, bits):
    """[h][w * channels] samples to bytes per row."""
    if bits == 16:
        return [row.astype(">u2").tobytes() for row in samples]
    if bits == 8:
        return [row.astype(np.uint8).tobytes() for row in samples]
    return [np.packbits((row[:, None] >> np.arange(bits - 1, -1, -1) & 1).astype(np.uint8).ravel()).tobytes()
            for row in samples]


def png(array, bits, kind, before=b"", after=b"", interlaced=False, size=None):
    array = np.asarray(array)
    h, w = array.shape[:2]
    flat = array.reshape(h, w, -1)
    passes = [flat]
    if interlaced:
        starts = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
        passes = [flat[y::dy, x::dx] for y, x, dy, dx in starts]
    raw = b"".join(b"\0" + row for p in passes if p.size for row in packed(p.reshape(p.shape[0], -1), bits))
    head = struct.pack(">IIBBBBB", *(size or (w, h)), bits, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + chunk(b"IDAT", zlib.compress(raw, 9)) + after +
            chunk(b"IEND", b""))


def iccp(icc):
    return chunk(b"iCCP", b"test\0\0" + zlib.compress(icc))


# --- cases --------------------------------------------------------------------------------------------------------

def orientations():
    base = Image.fromarray(smooth())
    for turn in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = turn
        for kind, name in (("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp")):
            if kind != "JPEG" and turn not in (2, 6, 7):
                continue
            options = dict(quality=92) if kind == "JPEG" else dict(lossless=True) if kind == "WEBP" else {}
            data = saved(base, kind, exif=exif.tobytes(), **options)
            expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
            case(f"orientation_{turn}.{name}", data, expected, orientation=turn,
                 streamed=int(turn <= 2 and kind != "WEBP"))
    exif = Image.Exif()
    exif[0x0112] = 6
    case("orientation_late.png", png(picture(), 8, 2, after=chunk(b"eXIf", exif.tobytes()[6:])),
         np.rot90(picture(), -1), orientation=6, streamed=0)
    data = saved(base, "JPEG", exif=exif.tobytes())
    case("orientation_kept.jpg", data, opened(data), options="as-stored")
    broken = exif.tobytes()[:10] + b"\xff" * 12
    data = saved(base, "JPEG", exif=broken)
    case("orientation_broken.jpg", data, opened(data))


def profiles():
    rgb = Image.fromarray(smooth())
    for label, icc, name in (("p3", P3, "Display P3"), ("adobe", ADOBE, "Adobe-like RGB"),
                             ("prophoto", PROPHOTO, "ProPhoto-like RGB"), ("swapped", SWAPPED, "Red and green swapped")):
        known = dict(icc=1, applied=1, colour=name)
        data = saved(rgb, "JPEG", quality=95, icc_profile=icc)
        case(f"icc_{label}.jpg", data, to_srgb(opened(data), icc), **known)
        case(f"icc_{label}.png", png(picture(), 8, 2, iccp(icc)), to_srgb(Image.fromarray(picture()), icc), **known)
    data = saved(rgb, "WEBP", lossless=True, icc_profile=P3)
    case("icc_p3.webp", data, to_srgb(rgb, P3), icc=1, applied=1, streamed=0, colour="Display P3")
    case("icc_p3_alpha.png", png(rgba(), 8, 6, iccp(P3)),
         over(np.dstack([np.asarray(to_srgb(Image.fromarray(rgba()[..., :3]), P3)), rgba()[..., 3]])), channels=4,
         alpha=1, icc=1, applied=1, colour="Display P3")
    deep = picture().astype(np.uint16) * 257 // 3 + 9000
    linear = srgb_to_linear(deep / 65535) @ np.array(P3_MATRIX) @ np.linalg.inv(np.array(SRGB_MATRIX))
    case("icc_p3_16.png", png(deep, 16, 2, iccp(P3)), np.round(linear_to_srgb(linear) * 255), bits=16, icc=1, applied=1,
         colour="Display P3")
    grey = picture()[..., 0]
    case("icc_grey.png", png(grey, 8, 0, iccp(GREY)), to_srgb(Image.fromarray(grey), GREY), channels=1, icc=1,
         applied=1, colour="Grey gamma 1.0")
    data = saved(Image.fromarray(smooth()[..., 0]), "JPEG", quality=95, icc_profile=GREY)
    case("icc_grey.jpg", data, to_srgb(opened(data, "L"), GREY), channels=1, icc=1, applied=1, colour="Grey gamma 1.0")
    case("icc_mismatched.png", png(grey, 8, 0, iccp(P3)), np.dstack([grey] * 3), channels=1, icc=1,
         colour="mismatched profile ignored")
    data = saved(rgb, "JPEG", icc_profile=GREY)
    case("icc_mismatched.jpg", data, opened(data), icc=1, colour="mismatched profile ignored")
    data = saved(rgb, "JPEG", icc_profile=P3[:200])
    case("icc_broken.jpg", data, opened(data), icc=1, colour="unreadable profile ignored")
    case("icc_broken.png", png(picture(), 8, 2, iccp(b"no profile at all" * 10)), picture(), icc=1,
         colour="unreadable profile ignored")
    case("icc_ignored.png", png(picture(), 8, 2, iccp(SWAPPED)), picture(), options="no-profile", icc=1)
    long = rgb_profile("Long profile", P3_MATRIX, tag_curve(table=np.round(srgb_to_linear(np.linspace(0, 1, 1024)) * 65535)))
    long += bytes(70000 - len(long))
    long = struct.pack(">I", len(long)) + long[4:]
    data = saved(rgb, "JPEG", quality=95, icc_profile=long)
    case("icc_two_chunks.jpg", data, to_srgb(opened(data), long), icc=1, applied=1, colour="Long profile")


def png_colour_chunks():
    gamma = lambda g: chunk(b"gAMA", struct.pack(">I", round(100000 * g)))
    primaries = lambda *v: chunk(b"cHRM", struct.pack(">8I", *(round(100000 * x) for x in v)))
    adobe = primaries(0.3127, 0.3290, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06)
    srgb = primaries(0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)
    eighteen = rgb_profile("x", SRGB_MATRIX, tag_curve(1.8))
    rgb = Image.fromarray(picture())
    case("gama_1_8.png", png(picture(), 8, 2, gamma(1 / 1.8)), to_srgb(rgb, eighteen), applied=1, colour="gAMA")
    case("gama_chrm.png", png(picture(), 8, 2, gamma(1 / 2.19921875) + adobe), to_srgb(rgb, ADOBE), applied=1,
         colour="gAMA and cHRM")
    case("gama_grey.png", png(picture()[..., 1], 8, 0, gamma(1 / 1.0)),
         to_srgb(Image.fromarray(picture()[..., 1]), GREY), channels=1, applied=1, colour="gAMA")
    case("gama_is_srgb.png", png(picture(), 8, 2, gamma(0.45455) + srgb), picture())
    case("srgb_wins.png", png(picture(), 8, 2, chunk(b"sRGB", b"\0") + gamma(1.0) + adobe), picture())
    case("iccp_wins.png", png(picture(), 8, 2, iccp(ADOBE) + gamma(1.0)), to_srgb(rgb, ADOBE), icc=1, applied=1,
         colour="Adobe-like RGB")
    cicp = lambda *v: chunk(b"cICP", bytes(v))
    case("cicp_p3.png", png(picture(), 8, 2, cicp(12, 13, 0, 1) + gamma(1.0)), to_srgb(rgb, P3), applied=1, colour="cICP")
    case("cicp_grey.png", png(picture()[..., 0], 8, 0, cicp(12, 13, 0, 1)), np.dstack([picture()[..., 0]] * 3),
         channels=1, applied=1, colour="cICP")
    case("cicp_srgb.png", png(picture(), 8, 2, cicp(1, 13, 0, 1) + gamma(1.0)), picture())
    case("cicp_and_iccp.png", png(picture(), 8, 2, cicp(9, 16, 0, 1) + iccp(ADOBE)), to_srgb(rgb, ADOBE), icc=1,
         applied=1, colour="Adobe-like RGB")
    case("cicp_pq.png", png(picture(), 8, 2, cicp(9, 16, 0, 1)), "UNSUPPORTED")
    case("chrm_alone.png", png(picture(), 8, 2, adobe), picture())


def cmyk():
    inks = np.dstack([255 - smooth(), (smooth()[..., 0] // 4)])
    image = Image.fromarray(inks, "CMYK")
    data = saved(image, "JPEG", quality=95)
    known = dict(channels=4, colour="CMYK")
    assert b"Adobe" in data
    case("cmyk_adobe.jpg", data, Image.open(io.BytesIO(data)).convert("RGB"), **known)
    at = data.index(b"\xff\xee")
    size = struct.unpack(">H", data[at + 2:at + 4])[0]
    plain = data[:at] + data[at + 2 + size:]
    case("cmyk_no_marker.jpg", plain, Image.open(io.BytesIO(plain)).convert("RGB"), **known)
    mark = data.index(b"Adobe") + 11
    ycck = data[:mark] + b"\2" + data[mark + 1:]
    case("ycck.jpg", ycck, Image.open(io.BytesIO(ycck)).convert("RGB"), **known)
    data = saved(image, "JPEG", quality=95, icc_profile=CMYK)
    case("cmyk_icc.jpg", data, to_srgb(Image.open(io.BytesIO(data)), CMYK), channels=4, icc=1, applied=1,
         colour="Test inks")
    data = saved(image, "JPEG", quality=95, icc_profile=P3)
    case("cmyk_mismatched.jpg", data, Image.open(io.BytesIO(data)).convert("RGB"), channels=4, icc=1,
         colour="mismatched profile ignored")


def rgba():
    y, x = np.mgrid[0:H, 0:W]
    return np.dstack([picture(), (x * 11 + y * 3).clip(0, 255)]).astype(np.uint8)


def png_kinds():
    rgb, grey, alpha = picture(), picture()[..., 0], rgba()[..., 3]
    deep = rgb.astype(np.uint16) * 257 ^ 0x55
    round8 = lambda v: (v.astype(np.uint32) * 255 + 32767) // 65535
    three = lambda g: np.dstack([g] * 3)
    case("rgb8.png", png(rgb, 8, 2), rgb)
    case("rgb16.png", png(deep, 16, 2), round8(deep), bits=16)
    case("rgb16_interlaced.png", png(deep, 16, 2, interlaced=True), round8(deep), bits=16, streamed=0)
    case("rgba8.png", png(rgba(), 8, 6), over(rgba()), channels=4, alpha=1)
    case("rgba8.png", png(rgba(), 8, 6), over(rgba(), (10, 200, 30)), options="green", channels=4, alpha=1)
    deep_alpha = np.dstack([deep, alpha.astype(np.uint16) * 257])
    case("rgba16.png", png(deep_alpha, 16, 6), over(round8(deep_alpha).astype(np.uint8)), bits=16, channels=4, alpha=1)
    case("grey8.png", png(grey, 8, 0), three(grey), channels=1)
    case("grey16.png", png(deep[..., 0], 16, 0), three(round8(deep[..., 0])), bits=16, channels=1)
    case("grey_alpha8.png", png(np.dstack([grey, alpha]), 8, 4), over(np.dstack([grey] * 3 + [alpha])), channels=2,
         alpha=1)
    both = np.dstack([deep[..., 0], alpha.astype(np.uint16) * 257])
    case("grey_alpha16.png", png(both, 16, 4), over(np.dstack([round8(both[..., 0])] * 3 + [alpha]).astype(np.uint8)),
         bits=16, channels=2, alpha=1)
    for bits in (1, 2, 4):
        few = (grey.astype(int) * ((1 << bits) - 1) + 127) // 255
        wide = three(few * 255 // ((1 << bits) - 1))
        case(f"grey{bits}.png", png(few, bits, 0), wide, bits=bits, channels=1)
    few = (grey.astype(int) * 3 + 127) // 255
    seen = np.dstack([three(few * 85), np.where(few == 1, 0, 255)]).astype(np.uint8)
    case("grey2_trns.png", png(few, 2, 0, chunk(b"tRNS", struct.pack(">H", 1))), over(seen), bits=2, channels=1, alpha=1)
    seen = np.dstack([three(grey), np.where(grey == grey[9, 9], 0, 255)]).astype(np.uint8)
    case("grey8_trns.png", png(grey, 8, 0, chunk(b"tRNS", struct.pack(">H", grey[9, 9]))), over(seen), channels=1,
         alpha=1)
    seen = np.dstack([three(round8(deep[..., 0])), np.where(deep[..., 0] == deep[9, 9, 0], 0, 255)]).astype(np.uint8)
    case("grey16_trns.png", png(deep[..., 0], 16, 0, chunk(b"tRNS", struct.pack(">H", deep[9, 9, 0]))), over(seen),
         bits=16, channels=1, alpha=1)
    seen = np.dstack([rgb, np.where((rgb == rgb[0, 0]).all(-1), 0, 255)]).astype(np.uint8)
    case("rgb8_trns.png", png(rgb, 8, 2, chunk(b"tRNS", struct.pack(">3H", *rgb[0, 0]))), over(seen), alpha=1)
    seen = np.dstack([round8(deep), np.where((deep == deep[0, 0]).all(-1), 0, 255)]).astype(np.uint8)
    case("rgb16_trns.png", png(deep, 16, 2, chunk(b"tRNS", struct.pack(">3H", *deep[0, 0]))), over(seen), bits=16,
         alpha=1)
    for bits in (1, 2, 4, 8):
        count = min(1 << bits, 40)
        palette = np.stack([np.linspace(0, 255, count), np.linspace(255, 30, count), np.arange(count) * 67 % 256],
                           -1).astype(np.uint8)
        index = np.arange(W * H).reshape(H, W) * 7 // 3 % count
        plte = chunk(b"PLTE", palette.tobytes())
        case(f"palette{bits}.png", png(index, bits, 3, plte), palette[index], bits=bits, channels=1)
        clear = np.full(count, 255, np.uint8)
        clear[:2] = (0, 128)
        case(f"palette{bits}_trns.png", png(index, bits, 3, plte + chunk(b"tRNS", clear[:2].tobytes())),
             over(np.dstack([palette[index], clear[index]])), bits=bits, channels=1, alpha=1)
    case("palette4_interlaced.png", png(index % 16, 4, 3, chunk(b"PLTE", palette[:16].tobytes()), interlaced=True),
         palette[index % 16], bits=4, channels=1, streamed=0)
    case("rgb8_interlaced.png", png(rgb, 8, 2, interlaced=True), rgb, streamed=0)
    case("one_pixel.png", png(rgb[:1, :1], 8, 2), rgb[:1, :1])


def jpeg_kinds():
    image = Image.fromarray(smooth(30, 21))
    for name, options, streamed in (("420", dict(subsampling=2), 1), ("422", dict(subsampling=1), 1),
                                    ("444", dict(subsampling=0), 1), ("progressive", dict(progressive=True), 0),
                                    ("rgb", dict(keep_rgb=True), 1), ("restart", dict(restart_marker_blocks=1), 1)):
        data = saved(image, "JPEG", quality=90, **options)
        case(f"jpeg_{name}.jpg", data, opened(data), streamed=streamed)
    data = saved(image.convert("L"), "JPEG", quality=90)
    case("jpeg_grey.jpg", data, opened(data), channels=1)
    data = saved(image.convert("L"), "JPEG", quality=90, progressive=True)
    case("jpeg_grey_progressive.jpg", data, opened(data), channels=1, streamed=0)
    case("jpeg_padded.jpg", data[:-2] + bytes(5) + data[-2:], opened(data), channels=1, streamed=0)
    case("jpeg_scans_3.jpg", scans(3), np.full((8, 8, 3), 128), channels=1, streamed=0)
    case("jpeg_scans_200.jpg", scans(200), "LIMIT")


def scans(count):
    """8 x 8 grey, progressive, `count` times the same empty first scan."""
    segment = lambda marker, data: bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data
    data = b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) + segment(0xC2, bytes([8, 0, 8, 0, 8, 1, 1, 0x11, 0]))
    data += segment(0xC4, b"\0" + bytes([1] + [0] * 15) + b"\0")
    return data + (segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + b"\x7f") * count + b"\xff\xd9"


def webp_kinds():
    image, clear = Image.fromarray(smooth(30, 21)), Image.fromarray(rgba(), "RGBA")
    for name, source, options, alpha in (("lossy", image, dict(quality=85), 0), ("lossless", image, dict(lossless=True), 0),
                                         ("alpha", clear, dict(quality=90), 1),
                                         ("lossless_alpha", clear, dict(lossless=True), 1)):
        data = saved(source, "WEBP", **options)
        shown = Image.open(io.BytesIO(data))
        case(f"webp_{name}.webp", data, over(shown.convert("RGBA")), channels=4 if alpha else 3, alpha=alpha, streamed=0)
    frames = [Image.fromarray(np.roll(smooth(), k, 1)) for k in range(3)]
    data = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    case("animated.webp", data, "UNSUPPORTED")
    case("animated.webp", data, frames[0], options="first", animated=1, streamed=0)
    data = saved(frames[0], "PNG", save_all=True, append_images=frames[1:])
    case("animated.png", data, "UNSUPPORTED")
    case("animated.png", data, frames[0], options="first", animated=1)
    one = chunk(b"acTL", struct.pack(">II", 1, 0))
    case("animated_one_frame.png", png(picture(), 8, 2, one), picture())


def pnm_kinds():
    rgb, grey = picture(), picture()[..., 0]
    deep = rgb.astype(np.uint16) * 257 ^ 0x55
    head = lambda kind, most: f"P{kind}\n# a comment\n{W} {H}\n{most}\n".encode()
    case("rgb8.ppm", head(6, 255) + rgb.tobytes(), rgb)
    case("grey8.pgm", head(5, 255) + grey.tobytes(), np.dstack([grey] * 3), channels=1)
    case("rgb16.ppm", head(6, 65535) + deep.astype(">u2").tobytes(), (deep.astype(int) * 255 + 32767) // 65535, bits=16)
    few = rgb.astype(int) * 100 // 255
    case("rgb100.ppm", head(6, 100) + few.astype(np.uint8).tobytes(), np.floor(few * 2.55 + 0.5))
    case("sample_above_maxval.ppm", head(6, 100) + rgb.tobytes(), "BAD_FILE")
    case("cut.ppm", head(6, 255) + rgb.tobytes()[:-1], "BAD_FILE")
    case("ascii.ppm", b"P3 1 1 255 1 2 3\n", "UNSUPPORTED")
    case("zero.ppm", b"P6 0 3 255\n", "BAD_FILE")
    case("maxval_zero.ppm", b"P6 1 1 0\n123", "BAD_FILE")


def broken():
    image = Image.fromarray(smooth(48, 48))
    whole = saved(image, "JPEG", quality=90)
    case("cut.jpg", whole[:len(whole) * 2 // 3], "BAD_FILE")
    case("cut_end_marker.jpg", whole[:-2], "BAD_FILE")
    case("early_end.jpg", whole[:len(whole) * 2 // 3] + b"\xff\xd9", "BAD_FILE")
    case("cut_header.jpg", whole[:100], "BAD_FILE")
    progressive = saved(image, "JPEG", quality=90, progressive=True)
    case("cut_progressive.jpg", progressive[:len(progressive) * 2 // 3], "BAD_FILE")
    at = whole.index(b"\xff\xc0")
    case("bomb.jpg", whole[:at + 5] + struct.pack(">HH", 65500, 65500) + whole[at + 9:], "LIMIT")
    case("zero.jpg", whole[:at + 5] + struct.pack(">HH", 0, 48) + whole[at + 9:], "BAD_FILE")
    whole = png(picture(), 8, 2)
    case("cut.png", whole[:len(whole) * 2 // 3], "BAD_FILE")
    case("cut_end.png", whole[:-12], "BAD_FILE")
    case("bad_checksum.png", whole[:-17] + bytes([whole[-17] ^ 1]) + whole[-16:], "BAD_FILE")
    case("short_rows.png", png(picture()[:9], 8, 2, size=(W, H)), "BAD_FILE")
    case("cut_interlaced.png", png(picture()[:9], 8, 2, size=(W, H), interlaced=True), "BAD_FILE")
    case("bomb.png", png(picture(), 8, 2, size=(60000, 60000)), "LIMIT")
    case("bomb_wide.png", png(picture(), 8, 2, size=(70000, 1)), "LIMIT")
    case("zero.png", png(picture(), 8, 2, size=(0, 16)), "BAD_FILE")
    case("palette_missing.png", png(picture()[..., 0] % 2, 1, 3), "BAD_FILE")
    for name, options in (("lossy", dict(quality=80)), ("lossless", dict(lossless=True))):
        whole = saved(image, "WEBP", **options)
        case(f"cut_{name}.webp", whole[:len(whole) * 2 // 3], "BAD_FILE")
        half = whole[:len(whole) // 4 * 2]  # a container that is whole around data that is not
        half = half[:4] + struct.pack("<I", len(half) - 8) + half[8:16] + struct.pack("<I", len(half) - 20) + half[20:]
        case(f"cut_inside_{name}.webp", half, "BAD_FILE")
    case("empty.bin", b"", "BAD_FILE")
    case("unknown.gif", b"GIF89a" + bytes(20), "UNSUPPORTED")


# --- resampling ---------------------------------------------------------------------------------------------------

def resize():
    folder = OUT / "resize"
    folder.mkdir()
    rng = np.random.default_rng(7)
    source = np.vstack([picture(37, 15), rng.integers(0, 256, (14, 37, 3), np.uint8)])
    Image.fromarray(source).save(folder / "source.ppm")
    for name, filter in (("bicubic", Image.Resampling.BICUBIC), ("lanczos", Image.Resampling.LANCZOS)):
        for size in ((37, 29), (16, 16), (5, 3), (1, 1), (61, 40), (37, 11), (20, 29), (74, 7), (3, 58), (36, 30)):
            # Across first, in two calls: before Pillow 13 one call did that, now it chooses the order by cost.
            across = Image.fromarray(source).resize((size[0], source.shape[0]), filter)
            across.resize(size, filter).save(folder / f"{name}_{size[0]}x{size[1]}.ppm")


def seeds():
    kinds = dict(jpeg="jpg", png="png", webp="webp", pnm="p[pg]m")
    for kind, extension in kinds.items():
        fill(kind, {p.name: p.read_bytes() for p in sorted(OUT.glob(f"*.{extension}"))})
    icc = dict(p3=P3, adobe=ADOBE, grey=GREY, cmyk=CMYK, swapped=SWAPPED, cut=P3[:200],
               srgb=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    fill("icc", {f"{k}_{n}.icc": bytes([n]) + v for k, v in icc.items() for n in (0, 2, 4, 9, 11)})
    exif = Image.Exif()
    exif[0x0112] = 6
    little = exif.tobytes()
    big = b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0"
    fill("exif", dict(little=little, big=big, bare=little[6:], cut=little[:-8], far=big[:10] + b"\xff" * 4 + big[14:]))


def fill(kind, files):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):  # what a fuzzer found once stays
            old.unlink()
    small = {name: data for name, data in files.items() if 0 < len(data) < 4096}
    step = max(1, -(-len(small) // 34))
    for name in list(small)[::step]:
        (folder / name).write_bytes(small[name])


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "expected").mkdir(parents=True)
    for make in (orientations, profiles, png_colour_chunks, cmyk, png_kinds, jpeg_kinds, webp_kinds, pnm_kinds, broken):
        make()
    head = ("# Made by tools/goldens/make_test_images.py: file, status, options;\n# where it is OK: " + FACTS + " colour\n")
    (OUT / "cases.txt").write_text(head + "\n".join(CASES) + "\n")
    resize()
    seeds()
    size = sum(p.stat().st_size for p in OUT.rglob("*") if p.is_file())
    print(f"{len(CASES)} cases, {size} bytes")


if __name__ == "__main__":
    main()
