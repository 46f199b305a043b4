// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Load on a server that runs, for k6: decodes arrive whether others are answered or not. Begin with what one core of docs/SERVER.md
// does, and raise RATE until `answered` is below it.
//
//     k6 run -e ADDRESS=http://127.0.0.1:8188 -e MODEL=taesd -e CHANNELS=4 -e SIDE=64 -e RATE=50 load.js
//
// It fails where an answer is neither a picture nor a refusal that says when to come again, or where the 99th percentile of
// pictures is above LIMIT milliseconds.
import { check } from 'k6';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';

const setting = (name, usual) => (__ENV[name] === undefined ? usual : __ENV[name]);
const address = setting('ADDRESS', 'http://127.0.0.1:8188');
const model = setting('MODEL', 'taesd');
const channels = Number(setting('CHANNELS', 4));
const side = Number(setting('SIDE', 64));
const rate = Number(setting('RATE', 50));
const limit = Number(setting('LIMIT', 1000));
const key = setting('KEY', '');

export const options = {
  scenarios: {
    decodes: { executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration: setting('DURATION', '60s'),
      preAllocatedVUs: 64, maxVUs: 512 },
  },
  thresholds: { checks: ['rate==1'], answered_ms: [`p(99)<${limit}`] },
};

const answered = new Counter('answered'), refused = new Counter('refused'), answered_ms = new Trend('answered_ms', true);

// A latent of numbers that look random, so that no picture is like the next.
function latent(seed) {
  const across = side / 8, values = new Float32Array(channels * across * across);
  for (let i = 0, state = seed + 1; i < values.length; i++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    values[i] = state / 1073741824 - 1;
  }
  return values.buffer;
}

export default function () {
  const across = side / 8;
  const shape = [1, channels, across, across].map((n) => `shape=${n}`).join('&');
  const headers = { 'Content-Type': 'tensor/binary', 'X-Request-Timeout-Ms': String(limit) };
  if (key) headers.Authorization = `Bearer ${key}`;
  const answer = http.post(`${address}/remote/${model}/decode?${shape}&dtype=float32&do_scaling=true&output_type=pt`,
    latent(__VU * 100000 + __ITER), { headers, responseType: 'binary' });
  check(answer, {
    'a picture, or a refusal': (a) => a.status === 200 || a.status === 504 || (a.status === 429 && a.headers['Retry-After'] !== undefined),
    'the picture is whole': (a) => a.status !== 200 || a.body.byteLength === side * side * 3 * 4,
  });
  if (answer.status === 200) {
    answered.add(1);
    answered_ms.add(answer.timings.duration);
  } else {
    refused.add(1);
  }
}
