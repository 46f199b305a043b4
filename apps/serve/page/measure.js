// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker: PSNR, SSIM and the error map of two pictures in RGBA, by the definitions of docs/EVALUATION.md.
const TAPS = 11, SIGMA = 1.5, C1 = 0.01 ** 2, C2 = 0.03 ** 2;

function psnr(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++)
    if (i % 4 !== 3) sum += (a[i] - b[i]) ** 2;
  return sum === 0 ? Infinity : 10 * Math.log10(255 ** 2 / (sum / (a.length / 4 * 3)));
}

function luma(rgba) {
  const out = new Float64Array(rgba.length / 4);
  for (let i = 0; i < out.length; i++)
    out[i] = (0.299 * rgba[4 * i] + 0.587 * rgba[4 * i + 1] + 0.114 * rgba[4 * i + 2]) / 255;
  return out;
}

function gaussian() {
  const window = Array.from({ length: TAPS }, (_, i) => Math.exp(-((i - (TAPS - 1) / 2) ** 2) / (2 * SIGMA ** 2)));
  const sum = window.reduce((a, b) => a + b);
  return window.map((value) => value / sum);
}

// Across, of row y: one number for each place where the window lies inside.
function across(window, width, y, value, out) {
  for (let x = 0; x + TAPS <= width; x++) {
    let sum = 0;
    for (let t = 0; t < TAPS; t++) sum += window[t] * value(y * width + x + t);
    out[x] = sum;
  }
}

// Five weighted means (a, b, aa, bb, ab) of each place; rows are kept as long as the window needs them.
function ssim(a, b, width, height) {
  if (width < TAPS || height < TAPS) return NaN;
  const window = gaussian(), places = width - TAPS + 1, rows = [];
  const values = [(i) => a[i], (i) => b[i], (i) => a[i] * a[i], (i) => b[i] * b[i], (i) => a[i] * b[i]];
  let sum = 0;
  for (let y = 0; y < height; y++) {
    const row = rows.length === TAPS ? rows.shift() : values.map(() => new Float64Array(places));
    values.forEach((value, k) => across(window, width, y, value, row[k]));
    rows.push(row);
    for (let x = 0; rows.length === TAPS && x < places; x++) {
      const m = [0, 0, 0, 0, 0];
      for (let t = 0; t < TAPS; t++)
        for (let k = 0; k < 5; k++) m[k] += window[t] * rows[t][k][x];
      const [ma, mb] = m, va = m[2] - ma * ma, vb = m[3] - mb * mb, cov = m[4] - ma * mb;
      sum += ((2 * ma * mb + C1) * (2 * cov + C2)) / ((ma * ma + mb * mb + C1) * (va + vb + C2));
    }
  }
  return sum / (places * (height - TAPS + 1));
}

// The largest difference of the three channels, and the level that all but one in 200 pixels stay below.
function differences(a, b) {
  const out = new Uint8Array(a.length / 4), counts = new Uint32Array(256);
  for (let i = 0; i < out.length; i++) {
    for (let c = 0; c < 3; c++) out[i] = Math.max(out[i], Math.abs(a[4 * i + c] - b[4 * i + c]));
    counts[out[i]]++;
  }
  let level = 255;
  for (let above = 0; level > 8; level--) {
    above += counts[level];
    if (above > out.length / 200) break;
  }
  return { out, level };
}

// Black, violet, orange, pale yellow: lighter is worse, also without colours.
const STOPS = [[0, 0, 4], [81, 18, 124], [183, 55, 121], [252, 137, 97], [252, 253, 191]];
function colour(part) {
  const place = Math.min(1, part) * (STOPS.length - 1), low = Math.min(STOPS.length - 2, Math.floor(place));
  return STOPS[low].map((value, c) => value + (STOPS[low + 1][c] - value) * (place - low));
}

function paint(count, part) {
  const table = Array.from({ length: 256 }, (_, i) => colour(i / 255)), out = new Uint8ClampedArray(4 * count);
  for (let i = 0; i < count; i++) {
    const rgb = table[Math.min(255, Math.round(255 * part(i)))];
    out.set(rgb, 4 * i);
    out[4 * i + 3] = 255;
  }
  return out;
}

self.onmessage = ({ data: { a, b, width, height } }) => {
  const { out, level } = differences(a, b);
  const map = paint(out.length, (i) => out[i] / level), ramp = paint(128, (i) => i / 127);
  self.postMessage({ psnr: psnr(a, b), ssim: ssim(luma(a), luma(b), width, height), map, ramp, level }, [map.buffer, ramp.buffer]);
};
