// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them, and elements by their id.

export const at = (id) => document.getElementById(id);

export function duration(seconds) {
  if (seconds < 0.00005) return "0 ms";
  if (seconds < 0.0095) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 99.5) return `${seconds.toFixed(seconds < 9.95 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

// Where a second digit would say too much.
export const about = (seconds) => (seconds < 0.95 ? duration(Number(seconds.toPrecision(1))) : seconds < 59.5 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);

export function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 999500) return `${(count / 1000).toFixed(count < 9950 ? 1 : 0)} kB`;
  if (count < 999.5e6) return `${(count / 1e6).toFixed(count < 9.95e6 ? 1 : 0)} MB`;
  return `${(count / 1e9).toFixed(2)} GB`;
}

export const whole = (count) => Math.round(count).toLocaleString("en");
